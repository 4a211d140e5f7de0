/* build_shared.c: calls every function of build_shared.tl through the header that masu wrote, in C and in C++. Ends
 * with 0 and prints nothing when all is as it should be. */
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

static net *n;

#define CHECK(what)                                                     \
    do {                                                                \
        if (!(what)) {                                                  \
            printf("line %d: %s: %s\n", __LINE__, #what, net_error(n)); \
            exit(1);                                                    \
        }                                                               \
    } while (0)
#define SAYS(status, call, text) CHECK((call) == (status) && strstr(net_error(n), text))

static masu_tensor f32_2(float *data, int64_t rows, int64_t columns) {
    int64_t shape[2];
    shape[0] = rows;
    shape[1] = columns;
    return masu_tensor_of(MASU_F32, data, 2, shape);
}

static masu_tensor f64_1(double *data, int64_t length) {
    return masu_tensor_of(MASU_F64, data, 1, &length);
}

static float at(const masu_tensor *t, int64_t i, int64_t j) {
    return ((const float *)t->data)[i * t->stride[0] + j * t->stride[1]];
}

static void handles(void) {
    float x[6] = {1, 2, 3, 4, 5, 6}, v = 0;
    int64_t steps = 0;
    masu_tensor view = f32_2(x, 2, 3), y = masu_tensor_wanted();
    net_Net *m = NULL, *copy = NULL, *both = NULL;
    net_Mode *mode = NULL;
    CHECK(net_Net_new(n, 3, 2, &m) == MASU_OK && net_Net_clone(m, &copy) == MASU_OK);
    CHECK(net_Net_learn(n, m, 1.0f, &steps) == MASU_OK && steps == 1);
    CHECK(net_Net_forward(n, m, &view, &y) == MASU_OK && y.shape[0] == 2 && y.shape[1] == 2 && at(&y, 0, 0) == 9);
    net_tensor_release(&y);
    CHECK(net_Net_forward(n, copy, &view, &y) == MASU_OK && at(&y, 0, 0) == 3);
    net_tensor_release(&y);
    /* What fails changes nothing, though the function had written before. */
    SAYS(MASU_ERR_INDEX_OUT_OF_RANGE, net_Net_break_off(n, m, 7, &v),
         "build_shared.tl:25:9: error: index 7 is out of range for length 3");
    CHECK(net_Net_forward(n, m, &view, &y) == MASU_OK && at(&y, 0, 0) == 9);
    net_tensor_release(&y);
    CHECK(net_join(n, m, copy, &both) == MASU_OK && net_Net_forward(n, both, &view, &y) == MASU_OK &&
          at(&y, 0, 0) == 12);
    net_tensor_release(&y);
    /* What the program keeps of an argument is its own. */
    CHECK(net_Net_remember(n, m, &view) == MASU_OK);
    x[0] = 50;
    CHECK(net_Net_remember(n, m, &view) == MASU_OK);
    x[0] = 60;
    CHECK(net_Net_recall(n, m, 0, &y) == MASU_OK && at(&y, 0, 0) == 1 && y.flags == MASU_TENSOR_READ_ONLY);
    net_tensor_release(&y);
    CHECK(net_Net_recall(n, m, 1, &y) == MASU_OK && at(&y, 0, 0) == 50 && at(&y, 1, 2) == 6);
    net_tensor_release(&y);
    SAYS(MASU_ERR_INDEX_OUT_OF_RANGE, net_Net_recall(n, m, 2, &y), "index 2 is out of range for a vector of length 2");
    CHECK(net_Net_part(n, m, 1, &y) == MASU_OK && y.rank == 1 && y.flags == MASU_TENSOR_READ_ONLY);
    net_tensor_release(&y);
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_Net_forward(n, NULL, &view, &y), "argument `self`: the handle is NULL");
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_degrees(n, (const net_Mode *)(const void *)m, &steps),
         "a `Mode` is wanted, the handle is a `Net`");
    CHECK(net_mode(n, 4, &mode) == MASU_OK && net_degrees(n, mode, &steps) == MASU_OK && steps == -4);
    net_Mode_drop(mode);
    net_Net_drop(m);
    net_Net_drop(copy);
    net_Net_drop(both);
    net_Net_drop(NULL);
}

static void views(void) {
    float x[6] = {1, 2, 3, 4, 5, 6}, out[12] = {0};
    unsigned char raw[sizeof(float) * 6 + 1];
    masu_tensor view = f32_2(x, 2, 3), turned = f32_2(x, 3, 2), odd = f32_2(x, 2, 3), back = f32_2(x, 2, 3),
                wide = f32_2(x, 1000, 3);
    masu_tensor y = masu_tensor_wanted(), to = f32_2(out, 2, 3), none = f32_2(NULL, 0, 3);
    turned.stride[0] = 1;
    turned.stride[1] = 3;
    CHECK(net_turned(n, &turned, &y) == MASU_OK && y.shape[0] == 2 && at(&y, 1, 0) == 4 && at(&y, 0, 2) == 3);
    net_tensor_release(&y);
    memcpy(raw + 1, x, sizeof x);
    odd.data = raw + 1;
    CHECK(net_identity(n, &odd, &y) == MASU_OK && at(&y, 1, 2) == 6);
    net_tensor_release(&y);
    back.data = x + 5;
    back.stride[0] = -3;
    back.stride[1] = -1;
    CHECK(net_identity(n, &back, &y) == MASU_OK && at(&y, 0, 0) == 6 && at(&y, 1, 2) == 1);
    net_tensor_release(&y);
    wide.stride[0] = 0;
    CHECK(net_identity(n, &wide, &y) == MASU_OK && y.shape[0] == 1000 && at(&y, 999, 1) == 2);
    net_tensor_release(&y);
    CHECK(net_identity(n, &none, &y) == MASU_OK && y.shape[0] == 0 && y.shape[1] == 3);
    net_tensor_release(&y);
    /* The result is its own memory, or the caller's. */
    CHECK(net_identity(n, &view, &y) == MASU_OK && y.data != (void *)x && y.owner && y.flags == 0);
    ((float *)y.data)[0] = 9;
    net_tensor_release(&y);
    CHECK(x[0] == 1 && net_identity(n, &view, &to) == MASU_OK && !to.owner && out[5] == 6);
    to.stride[0] = 1;
    to.stride[1] = 2;
    CHECK(net_identity(n, &view, &to) == MASU_OK && out[0] == 1 && out[1] == 4 && out[2] == 2 && out[5] == 6);
    to.stride[1] = 0;
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_identity(n, &view, &to), "result 0: its place cannot be");
    to = f32_2(out, 3, 2);
    SAYS(MASU_ERR_SHAPE_MISMATCH, net_identity(n, &view, &to),
         "shape [2, 3] does not fit into a place of shape [3, 2]");
    to = f32_2(out, 2, 3);
    to.flags = MASU_TENSOR_READ_ONLY;
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_identity(n, &view, &to), "its place is read-only");
    CHECK(net_identity(n, &view, &view) == MASU_OK && x[0] == 1 && x[5] == 6);
    CHECK(net_identity(n, &view, NULL) == MASU_OK);
    /* What cannot be a view. */
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_identity(n, NULL, &y), "argument `x`: a tensor is wanted, not nothing");
    view.rank = 9;
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_identity(n, &view, &y), "rank 9");
    view.rank = -1;
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_identity(n, &view, &y), "rank -1");
    view = f32_2(x, 2, -3);
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_identity(n, &view, &y), "cannot be");
    view = f32_2(x, INT64_MAX / 2, 3);
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_identity(n, &view, &y), "cannot be");
    view = f32_2(NULL, 2, 3);
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_identity(n, &view, &y), "cannot be");
    view = f32_2(x, 2, 3);
    view.device = 2;
    SAYS(MASU_ERR_UNSUPPORTED, net_identity(n, &view, &y), "device 2");
    view = f32_2(x, 2, 3);
    view.element = MASU_F64;
    SAYS(MASU_ERR_DTYPE_MISMATCH, net_identity(n, &view, &y), "elements of type f32 are wanted, these are f64");
    view = masu_tensor_of(MASU_F32, x, 1, view.shape);
    SAYS(MASU_ERR_SHAPE_MISMATCH, net_turned(n, &view, &y),
         "a tensor of 2 dimensions is wanted, this one has shape [2]");
}

static void written(void) {
    double d[6] = {1, 0, 2, 0, 3, 0};
    masu_tensor view = f64_1(d, 3);
    view.stride[0] = 2;
    CHECK(net_scale(n, &view, 2.5) == MASU_OK && d[0] == 2.5 && d[1] == 0 && d[4] == 7.5);
    CHECK(net_set(n, &view, 1, 8) == MASU_OK && d[0] == 77 && d[1] == 0 && d[2] == 8);
    d[0] = 1;
    SAYS(MASU_ERR_PANIC, net_set(n, &view, 12, 8), "build_shared.tl:40: set: panic: stopped at 9");
    SAYS(MASU_ERR_INDEX_OUT_OF_RANGE, net_set(n, &view, 3, 8), "build_shared.tl:43:5: error: index 3 is out of range");
    CHECK(d[0] == 1);
    SAYS(MASU_ERR_SHAPE_MISMATCH, net_longer(n, &view),
         "argument `x`: shape [6] does not fit into a place of shape [3]");
    masu_tensor beside = view;
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_both(n, &view, &beside), "argument `b`: the same memory as `a`");
    beside.data = (char *)view.data + 2 * masu_element_bytes(view.element); /* of every second element the next one */
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_both(n, &view, &beside), "the function writes to both");
    CHECK(d[0] == 1);
    view.stride[0] = 0;
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_scale(n, &view, 2), "its strides name an element twice");
    view.stride[0] = 1;
    view.flags = MASU_TENSOR_READ_ONLY;
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_scale(n, &view, 2), "it is read-only");
}

static void numbers_and_texts(void) {
    double d[3] = {1, 2, 3}, sum = 0;
    float mean = 0;
    int64_t length = 0, k[3] = {1, 2, INT64_MAX}, three = 3;
    unsigned char b[3] = {1, 0, 1};
    bool is = false;
    masu_string text;
    masu_tensor view = f64_1(d, 3), bools = masu_tensor_of(MASU_BOOL, b, 1, &three),
                whole = masu_tensor_of(MASU_I64, k, 1, &three), y = masu_tensor_wanted();
    CHECK(net_stats(n, &view, &sum, &mean, &length, &is) == MASU_OK && sum == 6 && mean == 2 && length == 3 && is);
    CHECK(net_stats(n, &view, NULL, NULL, NULL, &is) == MASU_OK);
    CHECK(net_greet(n, "W\xc3\xb6rld", 200, &text) == MASU_OK && strcmp(text.data, "W\xc3\xb6rld 200") == 0 &&
          text.length == 10);
    net_string_release(&text);
    CHECK(net_greet(n, "", 0, &text) == MASU_OK && strcmp(text.data, " 0") == 0);
    net_string_release(&text);
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_greet(n, "x", 256, &text), "argument `n`: 256 is not a number of type u8");
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_greet(n, "x", -1, &text), "-1 is not a number of type u8");
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_greet(n, "\xff", 1, &text), "a text is UTF-8");
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_greet(n, NULL, 1, &text), "a text is wanted, not nothing");
    CHECK(net_check(n, 3, &mean, &text) == MASU_OK && mean == 3 && strcmp(text.data, "fine") == 0);
    net_string_release(&text);
    SAYS(MASU_ERR_PANIC, net_check(n, -3, &mean, &text), "build_shared.tl:49: check: panic: -3 is not positive");
    CHECK(net_flip(n, &bools, &y) == MASU_OK && ((unsigned char *)y.data)[0] == 0 && ((unsigned char *)y.data)[1] == 1);
    net_tensor_release(&y);
    b[1] = 2;
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_flip(n, &bools, &y), "neither 0 nor 1");
    CHECK(net_count(n, &whole, &y) == MASU_OK && ((int64_t *)y.data)[1] == 3 && ((int64_t *)y.data)[2] == INT64_MIN);
    net_tensor_release(&y);
    CHECK(net_wide(n, 8, &length) == MASU_OK && length == 7);
    SAYS(MASU_ERR_OVERFLOW, net_wide(n, 0, &length), "a number of type u64 that an int64_t does not hold");
    CHECK(net_main_of(n, 5, 2, &length) == MASU_OK && length == 3);
    CHECK(net_odd(n, 5, 2.5f, 2, true, "x", &length, &mean) == MASU_OK && length == 7 && mean == 2.5f);
}

static void ends(void) {
    int64_t deep = 0;
    float x[2] = {-1, 2};
    int64_t two = 2;
    masu_tensor y = masu_tensor_wanted(), view = masu_tensor_of(MASU_F32, x, 1, &two);
    SAYS(MASU_ERR_PANIC, net_quit(n, 0), "quit: the program asked to end with status 0");
    SAYS(MASU_ERR_PANIC, net_quit(n, 3), "with status 3");
    CHECK(net_quit(n, 9) == MASU_OK);
    SAYS(MASU_ERR_STACK_OVERFLOW, net_deep(n, 1000000000, &deep), "build_shared.tl:55:");
    CHECK(net_deep(n, 100, &deep) == MASU_OK && deep == 100);
    CHECK(net_huge(n, 1000000, &y) != MASU_OK && strstr(net_error(n), "build_shared.tl:62:"));
    CHECK(net_constant(n, &y) == MASU_OK && y.shape[0] == 4 && ((float *)y.data)[3] == 2);
    net_tensor_release(&y);
    CHECK(net_slope(n, &view, &y) == MASU_OK && ((float *)y.data)[0] == 3 && ((float *)y.data)[1] == 12);
    net_tensor_release(&y);
    CHECK(net_relu(n, &view, &y) == MASU_OK && ((float *)y.data)[0] == 0 && ((float *)y.data)[1] == 2);
    net_tensor_release(&y);
}

/* Two instances know nothing of each other, and results outlive theirs. */
static void instances(void) {
    net *other = NULL;
    net_Net *m = NULL;
    int64_t steps;
    masu_tensor y = masu_tensor_wanted();
    masu_instance_options options;
    memset(&options, 0, sizeof options);
    CHECK(net_create(&options, &other) == MASU_ERR_INVALID_ARGUMENT && !other);
    options.struct_bytes = sizeof options;
    options.seed = 3;
    CHECK(net_create(&options, &other) == MASU_OK);
    CHECK(net_Net_new(other, 2, 2, &m) == MASU_OK);
    SAYS(MASU_ERR_INVALID_ARGUMENT, net_Net_learn(n, m, 1, &steps), "the handle belongs to another instance");
    CHECK(*net_error(other) == 0);
    CHECK(net_constant(other, &y) == MASU_OK);
    net_destroy(other);
    CHECK(((float *)y.data)[0] == 2);
    net_tensor_release(&y);
    net_Net_drop(m);
    CHECK(net_module.call(NULL, 0, NULL, NULL) == MASU_ERR_INVALID_ARGUMENT);
    CHECK(net_module.call(n, 9999, NULL, NULL) == MASU_ERR_INVALID_ARGUMENT &&
          strstr(net_error(n), "no function of number 9999"));
    CHECK(net_module.call(n, 0, NULL, NULL) == MASU_ERR_INVALID_ARGUMENT);
    net_destroy(NULL);
}

/* The table says what the program says. */
static void table(void) {
    const masu_function *f = &net_module.functions[0], *last = f + net_module.function_count - 1;
    CHECK(net_module.version == MASU_MODULE_VERSION && net_module.struct_bytes == sizeof net_module);
    CHECK(strcmp(net_module.name, "net") == 0 && strstr(net_module.source, "build_shared.tl"));
    CHECK(strcmp(f->name, "Net::new") == 0 && strcmp(f->c_name, "net_Net_new") == 0 && f->line == 14);
    CHECK(strcmp(f->documentation, "A net of n inputs and m outputs.") == 0);
    CHECK(strcmp(net_module.handle_types[0].documentation, "One linear layer\nof weights and a bias.") == 0);
    CHECK(f->parameter_count == 2 && f->parameters[1].kind == MASU_KIND_I64 && strcmp(f->parameters[1].name, "m") == 0);
    CHECK(f[1].parameters[1].rank == 2 && f[1].parameters[1].element == MASU_F32 && f[1].results[0].rank == 2);
    CHECK(strcmp(f[1].parameters[0].type, "&Net") == 0 && !f[1].parameters[0].is_written &&
          f[2].parameters[0].is_written);
    CHECK(strcmp(last->name, "odd") == 0 && last->is_tuple && last[-1].results[0].rank == -1);
    CHECK(strcmp(last->documentation,
                 "Ends */ no comment and begins /* none: \"quoted\" \\ %s ?\?/\n\nand a last line \\") == 0);
}

int main(void) {
    if (net_create(NULL, &n) != MASU_OK)
        return 1;
    table();
    handles();
    views();
    written();
    numbers_and_texts();
    ends();
    instances();
    net_destroy(n);
    return 0;
}
