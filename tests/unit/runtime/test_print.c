/* test_print.c: what programs see: scalars, characters, strings, tensors of every rank and type. */
#include "runtime_fixture.h"

#include <math.h>
#include <stdio.h>

#include "runtime/value/display.h"

typedef struct capture {
    tl_runtime *rt;
    FILE *file;
    char *text;
    size_t length;
} capture;

static void capture_open(capture *c) {
    c->file = open_memstream(&c->text, &c->length);
    assert_non_null(c->file);
    c->rt = open_runtime(&(tl_runtime_config){.out = c->file});
}

/* What was printed since the last look. */
static const char *printed(capture *c) {
    static char text[65536];
    fflush(c->file);
    assert_true(c->length < sizeof text);
    memcpy(text, c->text, c->length);
    text[c->length] = '\0';
    rewind(c->file);
    return text;
}

static void capture_close(capture *c) {
    close_runtime(c->rt);
    fclose(c->file);
    free(c->text);
}

static tl_tensor *make(tl_dtype dtype, int rank, const int64_t *shape) {
    tl_tensor *t = NULL;
    assert_int_equal(tl__tensor_new(dtype, rank, shape, &t), MASU_OK);
    return t;
}

/* Consumes t. */
static const char *shown(capture *c, tl_tensor *t) {
    tl_print_tensor(t);
    tl__tensor_drop(t);
    return printed(c);
}

static tl_tensor *floats(int rank, const int64_t *shape, const float *values) {
    tl_tensor *t = make(TL_F32, rank, shape);
    memcpy(t->data, values, t->storage->bytes);
    return t;
}

static void scalars(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    tl_print_i64(INT64_MIN);
    tl_print_bytes((void *)" ", 1);
    tl_print_u64(-1);
    assert_string_equal(printed(&c), "-9223372036854775808 18446744073709551615");
    tl_print_f32(0.1f);
    tl_print_bytes((void *)" ", 1);
    tl_print_f64(0.1f);
    assert_string_equal(printed(&c), "0.1 0.10000000149011612");
    tl_print_bool(true);
    tl_print_bool(false);
    assert_string_equal(printed(&c), "truefalse");
    tl_print_bytes(NULL, 0);
    tl_print_bytes((void *)"x", -1);
    assert_string_equal(printed(&c), "");
    capture_close(&c);
}

/* Every text of one and two bytes, and the borders of longer ones: what no character is written as is refused. */
static void texts_are_utf8_or_not(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is;
    } cases[] = {
        {"", true},
        {"ab\xC3\xA9 c", true},
        {"\xE0\xA0\x80", true},
        {"\xE0\x9F\xBF", false}, /* longer than it needs */
        {"\xED\x9F\xBF", true},
        {"\xED\xA0\x80", false}, /* half of a pair */
        {"\xEE\x80\x80", true},
        {"\xEF\xBF\xBF", true},
        {"\xE1\x80", false},
        {"\xE1\x80\x7F", false},
        {"\xE1\x80\xC0", false},
        {"\xF0\x90\x80\x80", true},
        {"\xF0\x8F\xBF\xBF", false},
        {"\xF4\x8F\xBF\xBF", true},
        {"\xF4\x90\x80\x80", false}, /* above all characters */
        {"\xF1\x80\x80", false},
        {"\xF1\x80\x80\x80"
         "a\x80",
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tl__is_utf8(cases[i].text, strlen(cases[i].text)), cases[i].is);
    for (int first = 0; first < 256; first++)
        for (int second = -1; second < 256; second++) {
            char text[2] = {(char)first, (char)second};
            bool is = second < 0 ? first < 0x80
                                 : (first < 0x80 && second < 0x80) ||
                                       (first >= 0xC2 && first <= 0xDF && second >= 0x80 && second <= 0xBF);
            assert_int_equal(tl__is_utf8(text, second < 0 ? 1 : 2), is);
        }
}

static void characters_are_utf8(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    const struct {
        int32_t character;
        const char *text;
    } cases[] = {{'A', "A"},
                 {0x7F, "\x7F"},
                 {0x80, "\xC2\x80"},
                 {0x7FF, "\xDF\xBF"},
                 {0x800, "\xE0\xA0\x80"},
                 {0x67A1, "\xE6\x9E\xA1"},
                 {0xFFFF, "\xEF\xBF\xBF"},
                 {0x10000, "\xF0\x90\x80\x80"},
                 {0x10FFFF, "\xF4\x8F\xBF\xBF"},
                 {0x110000, "\xEF\xBF\xBD"},
                 {0xD800, "\xEF\xBF\xBD"},
                 {-1, "\xEF\xBF\xBD"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_print_char(cases[i].character);
        assert_string_equal(printed(&c), cases[i].text);
    }
    capture_close(&c);
}

static void strings(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    tl_object *s = make_string("masu \xE6\x9E\xA1");
    tl_print_string(s);
    tl_print_string(NULL);
    assert_string_equal(printed(&c), "masu \xE6\x9E\xA1");
    tl_ptr_release(s);
    capture_close(&c);
}

static void rank_zero_is_a_scalar(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    assert_string_equal(shown(&c, floats(0, NULL, &(float){0.25f})), "0.25");
    assert_string_equal(shown(&c, floats(0, NULL, &(float){3.0f})), "3");
    tl_tensor *d = make(TL_F64, 0, NULL);
    *(double *)d->data = 0.1;
    assert_string_equal(shown(&c, d), "0.1");
    tl_tensor *i = make(TL_I64, 0, NULL);
    *(int64_t *)i->data = -12;
    assert_string_equal(shown(&c, i), "-12");
    tl_tensor *b = make(TL_BOOL, 0, NULL);
    *(uint8_t *)b->data = 1;
    assert_string_equal(shown(&c, b), "true");
    capture_close(&c);
}

static void one_dimension_stays_on_one_line(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    assert_string_equal(shown(&c, floats(1, (int64_t[]){3}, (float[]){1.0f, -2.5f, 10.125f})),
                        "[1.0000, -2.5000, 10.1250]");
    assert_string_equal(shown(&c, floats(1, (int64_t[]){3}, (float[]){NAN, INFINITY, -INFINITY})), "[NaN, inf, -inf]");
    tl_tensor *i = make(TL_I64, 1, (int64_t[]){2});
    memcpy(i->data, (int64_t[]){7, -100}, 16);
    assert_string_equal(shown(&c, i), "[7, -100]");
    tl_tensor *b = make(TL_BOOL, 1, (int64_t[]){2});
    memcpy(b->data, (uint8_t[]){0, 1}, 2);
    assert_string_equal(shown(&c, b), "[false, true]");
    assert_string_equal(shown(&c, make_vector(1)), "[0.0000]");
    capture_close(&c);
}

static void rows_are_aligned(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    assert_string_equal(shown(&c, floats(2, (int64_t[]){2, 2}, (float[]){0.1f, 0.2f, 0.3f, 0.4f})),
                        "[[0.1000, 0.2000],\n"
                        " [0.3000, 0.4000]]");
    assert_string_equal(shown(&c, floats(2, (int64_t[]){2, 2}, (float[]){1.0f, -2.5f, 10.0f, 0.0f})),
                        "[[ 1.0000, -2.5000],\n"
                        " [10.0000,  0.0000]]");
    tl_tensor *b = make(TL_BOOL, 2, (int64_t[]){1, 2});
    memcpy(b->data, (uint8_t[]){0, 1}, 2);
    assert_string_equal(shown(&c, b), "[[false,  true]]");
    capture_close(&c);
}

static void matrices_stand_apart(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    tl_tensor *t = make(TL_I64, 3, (int64_t[]){2, 2, 2});
    memcpy(t->data, (int64_t[]){1, 2, 3, 4, 5, 6, 7, 80}, 64);
    assert_string_equal(shown(&c, t),
                        "[[[ 1,  2],\n"
                        "  [ 3,  4]],\n"
                        "\n"
                        " [[ 5,  6],\n"
                        "  [ 7, 80]]]");
    t = make(TL_I64, 4, (int64_t[]){2, 1, 1, 1});
    memcpy(t->data, (int64_t[]){1, 2}, 16);
    assert_string_equal(shown(&c, t), "[[[[1]]],\n\n\n [[[2]]]]");
    capture_close(&c);
}

static void views_are_shown_in_their_own_order(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    tl_tensor *t = make_vector(6), *view = NULL;
    assert_int_equal(tl__tensor_view(t, &view), MASU_OK);
    view->rank = 2;
    memcpy(view->shape, (int64_t[]){3, 2}, 16);
    memcpy(view->stride, (int64_t[]){1, 3}, 16);
    tl__tensor_refresh(view);
    assert_string_equal(shown(&c, view), "[[0.0000, 3.0000],\n [1.0000, 4.0000],\n [2.0000, 5.0000]]");
    tl__tensor_drop(t);
    capture_close(&c);
}

static void without_elements(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    assert_string_equal(shown(&c, make(TL_F32, 1, (int64_t[]){0})), "[]");
    assert_string_equal(shown(&c, make(TL_F32, 2, (int64_t[]){3, 0})), "[]");
    capture_close(&c);
}

static tl_tensor *counting(int rank, const int64_t *shape) {
    tl_tensor *t = make(TL_I64, rank, shape);
    for (int64_t i = 0; i < t->elements; i++)
        ((int64_t *)t->data)[i] = i;
    return t;
}

static void more_than_a_thousand_are_summarised(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    const char *whole = shown(&c, counting(1, (int64_t[]){1000}));
    assert_null(strstr(whole, "..."));
    assert_non_null(strstr(whole, " 500, "));
    assert_string_equal(shown(&c, counting(1, (int64_t[]){1001})), "[0, 1, 2, ..., 998, 999, 1000]");
    assert_string_equal(shown(&c, counting(2, (int64_t[]){200, 6})),
                        "[[   0,    1,    2,    3,    4,    5],\n"
                        " [   6,    7,    8,    9,   10,   11],\n"
                        " [  12,   13,   14,   15,   16,   17],\n"
                        " ...,\n"
                        " [1182, 1183, 1184, 1185, 1186, 1187],\n"
                        " [1188, 1189, 1190, 1191, 1192, 1193],\n"
                        " [1194, 1195, 1196, 1197, 1198, 1199]]");
    assert_string_equal(shown(&c, counting(2, (int64_t[]){2, 600})),
                        "[[   0,    1,    2, ...,  597,  598,  599],\n"
                        " [ 600,  601,  602, ..., 1197, 1198, 1199]]");
    capture_close(&c);
}

static void there_must_be_a_tensor(void **state) {
    (void)state;
    capture c;
    capture_open(&c);
    tl_print_tensor(NULL);
    assert_raised(c.rt, MASU_ERR_INVALID_ARGUMENT, "no tensor");
    assert_string_equal(printed(&c), "");
    capture_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars),
        cmocka_unit_test(texts_are_utf8_or_not),
        cmocka_unit_test(characters_are_utf8),
        cmocka_unit_test(strings),
        cmocka_unit_test(rank_zero_is_a_scalar),
        cmocka_unit_test(one_dimension_stays_on_one_line),
        cmocka_unit_test(rows_are_aligned),
        cmocka_unit_test(matrices_stand_apart),
        cmocka_unit_test(views_are_shown_in_their_own_order),
        cmocka_unit_test(without_elements),
        cmocka_unit_test(more_than_a_thousand_are_summarised),
        cmocka_unit_test(there_must_be_a_tensor),
    };
    return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
