/* test_string.c: strings, and numbers read out of them. */
#include "runtime_fixture.h"

#include <math.h>
#include <stdio.h>

#include "runtime/value/objects.h"

static void literals_are_copied(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    char text[] = "caf\xC3\xA9";
    tl_object *s = tl_string_literal(text, 5);
    text[0] = 'X';
    assert_int_equal(tl_string_len(s), 5);
    assert_string_equal(tl__string_bytes(s), "caf\xC3\xA9");
    tl_object *zero = tl_string_literal((void *)"a\0b", 3);
    assert_int_equal(tl_string_len(zero), 3);
    assert_memory_equal(tl__string_bytes(zero), "a\0b", 4);
    tl_object *empty = tl_string_literal(NULL, 0);
    assert_int_equal(tl_string_len(empty), 0);
    assert_int_equal(rt->live_objects, 3);
    tl_ptr_release(s);
    tl_ptr_release(zero);
    tl_ptr_release(empty);
    close_runtime(rt);
}

static void impossible_lengths_are_refused(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_null(tl_string_literal((void *)"x", -1));
    assert_raised(rt, MASU_ERR_OVERFLOW, "-1 bytes");
    assert_null(tl_string_literal((void *)"x", INT64_MAX));
    assert_raised(rt, MASU_ERR_OVERFLOW, "string of");
    close_runtime(rt);
}

static void concat_and_equality(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *a = make_string("box"), *b = make_string("es"), *c = make_string("boxes");
    tl_object *joined = tl_string_concat(a, b);
    assert_true(tl_string_equal(joined, c));
    assert_false(tl_string_equal(joined, a));
    assert_false(tl_string_equal(a, b));
    tl_object *self = tl_string_concat(a, a);
    assert_string_equal(tl__string_bytes(self), "boxbox");
    tl_object *with_nothing = tl_string_concat(NULL, a);
    assert_true(tl_string_equal(with_nothing, a));
    assert_true(tl_string_equal(NULL, NULL));
    assert_int_equal(a->count, 1);
    tl_object *all[] = {a, b, c, joined, self, with_nothing};
    for (int i = 0; i < 6; i++)
        tl_ptr_release(all[i]);
    close_runtime(rt);
}

/* Where the text lies changes as often as its length doubles; nobody else sees what is written behind its end. */
static void appending_moves_seldom(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *more = make_string("ab"), *s = NULL;
    int moves = 0;
    for (int i = 0; i < 10000; i++) {
        const tl_object *before = s;
        s = tl_string_append(s, more);
        moves += s != before;
    }
    assert_int_equal(tl_string_len(s), 20000);
    assert_in_range(moves, 2, 12);
    assert_true(tl_string_capacity(s) >= 20000);
    s->count++; /* somebody else holds it: it stays as it is */
    tl_object *longer = tl_string_append(s, more);
    assert_ptr_not_equal(longer, s);
    assert_int_equal(tl_string_len(s), 20000);
    assert_int_equal(tl_string_len(longer), 20002);
    longer = tl_string_append(longer, longer);
    assert_int_equal(tl_string_len(longer), 40004);
    assert_memory_equal(tl__string_bytes(longer) + 40000, "abab", 5);
    tl_ptr_release(longer);
    tl_ptr_release(s);
    tl_ptr_release(more);
    close_runtime(rt);
}

static void reserved_room_is_there(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *s = tl_string_reserve(make_string("abc"), 1000), *more = make_string("d");
    assert_true(tl_string_capacity(s) >= 1003);
    assert_string_equal(tl__string_bytes(s), "abc");
    assert_ptr_equal(tl_string_append(s, more), s);
    assert_null(tl_string_reserve(s, -1));
    assert_raised(rt, MASU_ERR_OVERFLOW, "-1 more bytes");
    tl_ptr_release(more);
    close_runtime(rt);
}

static void integers_are_read_as_rust_reads_them(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},  {"-17", -17}, {"+5", 5}, {"9223372036854775807", INT64_MAX}, {"-9223372036854775808", INT64_MIN},
        {"007", 7}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        tl_object *s = make_string(good[i].text);
        assert_int_equal(tl_string_to_i64(s), good[i].value);
        assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
        tl_ptr_release(s);
    }
    const char *bad[] = {"", " 1", "1 ", "1.5", "abc", "0x10", "-", "+", "1e3", "9223372036854775808"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tl_object *s = make_string(bad[i]);
        assert_int_equal(tl_string_to_i64(s), 0);
        assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, i == 9 ? "range of i64" : "is not an integer");
        tl_ptr_release(s);
    }
    tl_object *hidden = tl_string_literal((void *)"12\0003", 4);
    assert_int_equal(tl_string_to_i64(hidden), 0);
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "not an integer");
    tl_ptr_release(hidden);
    close_runtime(rt);
}

static void floats_are_read_as_rust_reads_them(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const struct {
        const char *text;
        double value;
    } good[] = {{"0.1", 0.1}, {"-2", -2.0},      {"1e-3", 1e-3},           {".5", 0.5},
                {"5.", 5.0},  {"inf", INFINITY}, {"-Infinity", -INFINITY}, {"1e999", INFINITY}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        tl_object *s = make_string(good[i].text);
        assert_true(tl_string_to_f64(s) == good[i].value);
        tl_ptr_release(s);
    }
    tl_object *nan = make_string("NaN");
    assert_true(isnan(tl_string_to_f64(nan)));
    tl_ptr_release(nan);
    assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
    const char *bad[] = {"", " 1", "1 ", "0x1p3", "nan(1)", "one", "1.5f", "--1", "infinit"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tl_object *s = make_string(bad[i]);
        assert_true(tl_string_to_f64(s) == 0.0);
        assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "is not a number");
        tl_ptr_release(s);
    }
    close_runtime(rt);
}

static void long_texts_are_cut_in_messages(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    char text[1001];
    memset(text, 'a', 1000);
    text[1000] = '\0';
    tl_object *s = make_string(text);
    tl_string_to_i64(s);
    assert_true(strlen(tl_runtime_error(rt)->text) < 100);
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "aaa...\" is not an integer");
    tl_ptr_release(s);
    close_runtime(rt);
}

static void join_many(void) {
    tl_frame *frame = tl_mem_function_enter(2);
    frame->slots[0] = tl_string_literal((void *)"", 0);
    for (int i = 0; i < 30; i++) {
        frame->slots[1] = tl_string_literal((void *)"part, ", 6);
        tl_object *joined = tl_string_concat(frame->slots[0], frame->slots[1]);
        tl_ptr_release(frame->slots[0]);
        tl_ptr_release(frame->slots[1]);
        frame->slots[0] = joined;
        frame->slots[1] = NULL;
    }
    frame->slots[1] = tl_string_literal((void *)"part, ", 6);
    for (int i = 0; i < 30; i++) {
        tl_object *s = frame->slots[0];
        frame->slots[0] = NULL;
        frame->slots[0] = tl_string_append(s, frame->slots[1]);
    }
    tl_mem_function_exit(frame);
}

/* The parts of a list, each in brackets. */
static void assert_parts(tl_object *list, const char *wanted) {
    char text[256] = "";
    const tl_vector *v = (const tl_vector *)list;
    assert_non_null(list);
    for (int64_t i = 0; i < v->length; i++) {
        tl_object *part = (tl_object *)(intptr_t)v->words[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "[%s]", tl__string_bytes(part));
    }
    assert_string_equal(text, wanted);
    tl_ptr_release(list);
}

static void texts_are_taken_apart(void **state) {
    (void)state;
    static const struct {
        const char *text, *words, *by_comma;
    } cases[] = {
        {"", "", "[]"},
        {"a", "[a]", "[a]"},
        {"  ", "", "[  ]"},
        {" ab  c\td\n", "[ab][c][d]", "[ ab  c\td\n]"},
        {"ab c", "[ab][c]", "[ab c]"},
        {",x,,yz,", "[,x,,yz,]", "[][x][][yz][]"},
        {"a\xC2\xA0"
         "b\xE2\x80\x83",
         "[a][b]",
         "[a\xC2\xA0"
         "b\xE2\x80\x83]"}, /* blanks of two and three bytes */
    };
    tl_runtime *rt = open_runtime(NULL);
    tl_object *comma = make_string(",");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_object *s = make_string(cases[i].text);
        assert_parts(tl_string_words(s), cases[i].words);
        assert_parts(tl_string_split(s, comma), cases[i].by_comma);
        tl_ptr_release(s);
    }
    tl_ptr_release(comma);
    close_runtime(rt);
}

static void every_failing_request_leaves_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_true(sweep_failures(rt, join_many) >= 61);
    close_runtime(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_copied),
        cmocka_unit_test(impossible_lengths_are_refused),
        cmocka_unit_test(concat_and_equality),
        cmocka_unit_test(appending_moves_seldom),
        cmocka_unit_test(reserved_room_is_there),
        cmocka_unit_test(integers_are_read_as_rust_reads_them),
        cmocka_unit_test(floats_are_read_as_rust_reads_them),
        cmocka_unit_test(long_texts_are_cut_in_messages),
        cmocka_unit_test(texts_are_taken_apart),
        cmocka_unit_test(every_failing_request_leaves_nothing),
    };
    return cmocka_run_group_tests_name("string", tests, NULL, NULL);
}
