/* The growing text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/meta.h"

static void appending_in_every_way(void **state) {
    (void)state;
    masu__buffer b = {0};
    assert_string_equal(masu__buffer_text(&b), "");
    masu__buffer_puts(&b, "a");
    masu__buffer_putc(&b, 'b');
    masu__buffer_append(&b, "cde", 2);
    masu__buffer_fill(&b, '-', 3);
    masu__buffer_printf(&b, "%d|%5.1f|%s", 7, 2.5, "x");
    assert_string_equal(masu__buffer_text(&b), "abcd---7|  2.5|x");
    masu__buffer_truncate(&b, 4);
    assert_string_equal(masu__buffer_text(&b), "abcd");
    masu__buffer_destroy(&b);
}

static void long_texts_grow(void **state) {
    (void)state;
    masu__buffer b = {0};
    for (int i = 0; i < 10000; i++)
        masu__buffer_printf(&b, "%04d,", i);
    assert_int_equal(b.length, 50000);
    assert_memory_equal(masu__buffer_text(&b) + 5 * 1234, "1234,", 5);
    assert_int_equal(strlen(masu__buffer_text(&b)), b.length);
    masu__buffer_destroy(&b);
}

static void pages_take_no_text_for_a_mark(void **state) {
    (void)state;
    masu__buffer b = {0};
    masu__buffer_html(&b, "<a b=\"c\">&'\xc3\xa9", 13);
    assert_string_equal(masu__buffer_text(&b), "&#60;a b=&#34;c&#34;&#62;&#38;&#39;\xc3\xa9");
    masu__buffer_destroy(&b);
}

static void json_strings_are_escaped(void **state) {
    (void)state;
    masu__buffer b = {0};
    masu__buffer_json_string(&b, "a\"b\\c\n\t\r\x01\xc3\xa9", 11);
    assert_string_equal(masu__buffer_text(&b), "\"a\\\"b\\\\c\\n\\t\\r\\u0001\xc3\xa9\"");
    masu__buffer_destroy(&b);
}

static const char *grouped(masu__buffer *b, uint64_t value) {
    masu__buffer_truncate(b, 0);
    masu__buffer_put_grouped(b, value);
    return masu__buffer_text(b);
}

static const char *bytes(masu__buffer *b, uint64_t value) {
    masu__buffer_truncate(b, 0);
    masu__buffer_put_bytes(b, value);
    return masu__buffer_text(b);
}

static void numbers_for_a_person(void **state) {
    (void)state;
    masu__buffer b = {0};
    assert_string_equal(grouped(&b, 0), "0");
    assert_string_equal(grouped(&b, 999), "999");
    assert_string_equal(grouped(&b, 13036), "13,036");
    assert_string_equal(grouped(&b, 1234567), "1,234,567");
    assert_string_equal(grouped(&b, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(bytes(&b, 1023), "1023 B");
    assert_string_equal(bytes(&b, 1024), "1.0 KiB");
    assert_string_equal(bytes(&b, 13036), "12.7 KiB");
    assert_string_equal(bytes(&b, (1 << 20) - 1), "1.0 MiB");
    assert_string_equal(bytes(&b, UINT64_MAX), "16.0 EiB");
    masu__buffer_destroy(&b);
}

static void failure_is_remembered_and_keeps_the_text(void **state) {
    (void)state;
    masu__buffer b = {0};
    masu__buffer_puts(&b, "kept");
    masu__fault_arm_repeat(1, true);
    masu__buffer_fill(&b, 'x', 100000);
    masu__fault_arm(0);
    masu__buffer_puts(&b, "more");
    assert_true(b.failed);
    assert_string_equal(masu__buffer_text(&b), "kept");
    size_t capacity = 1;
    assert_null(masu__buffer_take(&b, &capacity));
    assert_int_equal(capacity, 0);
    assert_false(b.failed);
}

static void take_hands_the_text_over(void **state) {
    (void)state;
    masu__buffer b = {0};
    masu__buffer_puts(&b, "mine");
    size_t capacity;
    char *text = masu__buffer_take(&b, &capacity);
    assert_string_equal(text, "mine");
    assert_string_equal(masu__buffer_text(&b), "");
    masu__meta_free(text, capacity);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appending_in_every_way),        cmocka_unit_test(long_texts_grow),
        cmocka_unit_test(pages_take_no_text_for_a_mark), cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(numbers_for_a_person),          cmocka_unit_test(failure_is_remembered_and_keeps_the_text),
        cmocka_unit_test(take_hands_the_text_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
