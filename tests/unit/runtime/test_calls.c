/* test_calls.c: functions for callers in C, with functions written in C where compiled code is otherwise: every request
 * for memory fails once, of a call and of making an instance, and nothing is lost or changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "runtime/calls/calls.h"

/* struct Bag { t: Tensor }: add(x) puts another sum into it and yields it with a text. */
static const int64_t owned[] = {0};
static const tl_record bag_plan = {.word_count = 1, .owned_count = 1, .owned = owned};

static tl_tensor *word_of(tl_object *bag) {
    int64_t word = 0;
    tl_vec_get(bag, 0, &word);
    return (tl_tensor *)(uintptr_t)word;
}

static void make(void) {
    tl_frame *frame = tl_mem_function_enter(2);
    tl_tensor *x = tl_call_tensor(0);
    frame->slots[0] = x;
    tl_object *bag = tl_vec_new((void *)(uintptr_t)&bag_plan);
    frame->slots[0] = NULL;
    int64_t word = (int64_t)(uintptr_t)x;
    bag = tl_vec_push(bag, &word);
    tl_give_object(0, bag);
    tl_mem_function_exit(frame);
}

static void add(void) {
    tl_frame *frame = tl_mem_function_enter(4);
    tl_object *bag = tl_call_object(0);
    frame->slots[0] = bag;
    tl_tensor *x = tl_call_tensor(1);
    frame->slots[1] = x;
    tl_tensor *before = word_of(bag);
    frame->slots[2] = before;
    tl_tensor *sum = tl_tensor_add(before, x);
    frame->slots[3] = sum;
    tl_tensor_acquire(sum);
    int64_t word = (int64_t)(uintptr_t)sum;
    frame->slots[0] = NULL;
    bag = tl_vec_set(bag, 0, &word);
    frame->slots[0] = bag;
    tl_object *text = tl_text_i64(7, 0);
    frame->slots[0] = NULL;
    frame->slots[3] = NULL;
    tl_give_object(1, text);
    tl_give_object(2, bag);
    tl_give_tensor(0, sum);
    tl_tensor_release_safe(x);
    tl_tensor_release_safe(before);
    frame->slots[1] = frame->slots[2] = NULL;
    tl_mem_function_exit(frame);
}

static void entry(void) {
    if (tl_call_function() == 0)
        make();
    else
        add();
}

static const masu_parameter tensor_in[] = {{.name = "x", .type = "Tensor", .kind = MASU_KIND_TENSOR, .rank = -1}};
static const masu_parameter bag_out[] = {{.type = "Bag", .kind = MASU_KIND_HANDLE}};
static const masu_parameter add_in[] = {
    {.name = "self", .type = "&mut Bag", .kind = MASU_KIND_HANDLE, .is_written = true},
    {.name = "x", .type = "Tensor", .kind = MASU_KIND_TENSOR, .rank = -1}};
static const masu_parameter add_out[] = {{.type = "Tensor", .kind = MASU_KIND_TENSOR, .rank = -1},
                                         {.type = "String", .kind = MASU_KIND_TEXT}};
static const masu_function functions[] = {
    {.name = "make", .parameter_count = 1, .parameters = tensor_in, .result_count = 1, .results = bag_out},
    {.name = "add",
     .parameter_count = 2,
     .parameters = add_in,
     .result_count = 2,
     .results = add_out,
     .is_tuple = true},
};
static const masu_handle_type types[] = {{.name = "Bag"}};
static const masu_module module = {.name = "bags",
                                   .source = "bags.tl",
                                   .function_count = 2,
                                   .functions = functions,
                                   .handle_type_count = 1,
                                   .handle_types = types};

static void describe(const tl_error *error, masu__buffer *out) {
    masu__buffer_puts(out, error->text);
}

static masu_instance *instance_new(void) {
    masu_instance *i = NULL;
    assert_int_equal(tl_instance_create(&module, NULL, entry, describe, &i), MASU_OK);
    return i;
}

static masu_tensor view_of(float *x) {
    int64_t shape[] = {3};
    return masu_tensor_of(MASU_F32, x, 1, shape);
}

static masu_status make_bag(masu_instance *i, float *x, masu_handle **out) {
    masu_value argument = {.kind = MASU_KIND_TENSOR, .as.tensor = view_of(x)}, result = {0};
    masu_status status = tl_instance_call(i, 0, &argument, &result);
    if (status == MASU_OK)
        *out = result.as.handle;
    return status;
}

/* What the bag holds then; status otherwise. */
static masu_status add_to(masu_instance *i, masu_handle *bag, float *x, float *sum) {
    masu_value arguments[] = {{.kind = MASU_KIND_HANDLE, .as.handle = bag},
                              {.kind = MASU_KIND_TENSOR, .as.tensor = view_of(x)}};
    masu_value results[2] = {{0}};
    masu_status status = tl_instance_call(i, 1, arguments, results);
    if (status == MASU_OK) {
        *sum = ((float *)results[0].as.tensor.data)[0];
        assert_string_equal(results[1].as.text.data, "7");
        assert_true(results[0].as.tensor.flags & MASU_TENSOR_READ_ONLY);
    }
    tl_value_release(&results[0]);
    tl_value_release(&results[1]);
    return status;
}

static bool is_sound(masu_instance *i) {
    tl_runtime_enter(i->rt);
    bool sound = tl_runtime_valid(i->rt) && i->rt->registered == 0 && i->rt->frame == NULL;
    tl_runtime_leave(i->rt);
    return sound;
}

static void test_every_request_of_a_call_fails_once(void **state) {
    (void)state;
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
        float x[] = {1, 2, 3}, y[] = {10, 20, 30}, sum = 0;
        masu_handle *bag = NULL;
        masu_instance *i = instance_new();
        masu__fault_arm(nth);
        masu_status made = make_bag(i, x, &bag);
        masu_status added = made == MASU_OK ? add_to(i, bag, y, &sum) : made;
        fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_true(is_sound(i));
        if (fired) {
            assert_int_equal(added, MASU_ERR_OUT_OF_MEMORY);
            assert_non_null(strstr(tl_instance_error(i), "out of memory"));
        }
        x[0] = 99; /* what the bag holds is its own */
        if (made != MASU_OK)
            assert_int_equal(make_bag(i, (float[]){1, 2, 3}, &bag), MASU_OK);
        if (added != MASU_OK) /* the failed call has added nothing */
            assert_int_equal(add_to(i, bag, y, &sum), MASU_OK);
        assert_float_equal(sum, 11, 0);
        assert_true(nth < 1000);
        tl_handle_drop(bag);
        assert_true(is_sound(i));
        assert_int_equal(i->rt->tensors.live, 0);
        assert_int_equal(i->rt->live_objects, 0);
        tl_instance_destroy(i);
    }
}

static void test_every_request_of_an_instance_fails_once(void **state) {
    (void)state;
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
        masu_instance *i = NULL;
        uint64_t before = masu__meta_live_blocks();
        masu__fault_arm(nth);
        masu_status status = tl_instance_create(&module, NULL, entry, describe, &i);
        fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_true((status == MASU_OK) == (i != NULL));
        assert_true(fired || i); /* pools may do without what they asked for */
        if (i) {
            masu_handle *bag = NULL;
            assert_int_equal(make_bag(i, (float[]){1, 2, 3}, &bag), MASU_OK);
            tl_handle_drop(bag);
        } else {
            assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
        }
        tl_instance_destroy(i);
        assert_int_equal(masu__meta_live_blocks(), before);
        assert_true(nth < 1000);
    }
}

/* Handles and results may come back when the instance is gone; the last ends it. */
static void test_what_outlives_an_instance(void **state) {
    (void)state;
    float x[] = {1, 2, 3};
    uint64_t before = masu__meta_live_blocks();
    masu_handle *bag = NULL, *copy = NULL;
    masu_instance *i = instance_new();
    assert_int_equal(make_bag(i, x, &bag), MASU_OK);
    assert_int_equal(tl_handle_clone(bag, &copy), MASU_OK);
    tl_instance_destroy(i);
    tl_handle_drop(copy);
    assert_true(masu__meta_live_blocks() > before);
    tl_handle_drop(bag);
    assert_int_equal(masu__meta_live_blocks(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_request_of_a_call_fails_once),
        cmocka_unit_test(test_every_request_of_an_instance_fails_once),
        cmocka_unit_test(test_what_outlives_an_instance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
