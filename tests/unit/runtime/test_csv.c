/* test_csv.c: records, fields and the numbers in them, without files and tensors around. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/files/csv.h"

/* All records, a line each: fields in brackets, those between quotes in parentheses; then what is wrong. */
static void assert_reads(const char *text, char separator, const char *wanted) {
    tl__csv c;
    char got[512] = "";
    tl__csv_begin(&c, text, strlen(text), separator);
    while (tl__csv_next(&c)) {
        for (size_t i = 0; i < c.count; i++) {
            const tl__csv_field *f = &c.fields[i];
            size_t at = strlen(got);
            snprintf(got + at, sizeof got - at, f->quoted ? "(%.*s)" : "[%.*s]", (int)f->length, f->text);
        }
        strcat(got, "\n");
    }
    strcat(got, c.words);
    assert_string_equal(got, wanted);
    tl__csv_end(&c);
}

static void records_and_fields(void **state) {
    (void)state;
    assert_reads("", ',', "");
    assert_reads("a,b\n1,2\n", ',', "[a][b]\n[1][2]\n");
    assert_reads("a\r\nb", ',', "[a]\n[b]\n");
    assert_reads("a\n\nb\n", ',', "[a]\n[b]\n");
    assert_reads(
        "\xEF\xBB\xBF"
        "a;b",
        ';', "[a][b]\n");
    assert_reads(",x,", ',', "[][x][]\n");
    assert_reads("\"a,\nb\",c", ',', "(a,\nb)[c]\n");
    assert_reads("\"\",\"a\"\"b\"", ',', "()(a\"\"b)\n");
}

/* Each says where: lines count from 1, those between quotes and empty ones too. */
static void what_is_wrong_has_a_place(void **state) {
    (void)state;
    assert_reads("a\n\"b\nc\"\n\nd\"e\n", ',',
                 "[a]\n(b\nc)\n"
                 "line 5, column 2: a quote within a field that does not begin with one");
    assert_reads("a\n\"b", ',', "[a]\nline 2, column 1: this quote is not closed");
    assert_reads("\"a\"b", ',', "line 1, column 4: behind the closing quote a field ends");
}

static void missing_is_not_empty(void **state) {
    (void)state;
    assert_true(tl__csv_is_missing(&(tl__csv_field){.text = ""}));
    assert_false(tl__csv_is_missing(&(tl__csv_field){.text = "", .quoted = true}));
    assert_false(tl__csv_is_missing(&(tl__csv_field){.text = "a", .length = 1}));
}

static void numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool real, whole;
        double value;
    } cases[] = {
        {"7", true, true, 7},
        {" \t-12\r", true, true, -12},
        {"0.1", true, false, 0.1},
        {"1e3", true, false, 1000},
        {"1.5 ", true, false, 1.5},
        {" 3", true, true, 3},
        {"", false, false, 0},
        {"  ", false, false, 0},
        {"1 2", false, false, 0},
        {"1x", false, false, 0},
        {"0x10", false, false, 0},
        {"--1", false, false, 0},
        {"123456789012345678901", true, false, 123456789012345678901.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* no byte beside the field is looked at */
        char around[64];
        snprintf(around, sizeof around, "9%s9", cases[i].text);
        tl__csv_field f = {.text = around + 1, .length = strlen(cases[i].text)};
        double real = 0;
        int64_t whole = 0;
        bool is_real = tl__csv_real(&f, &real), is_whole = tl__csv_whole(&f, &whole);
        if (is_real != cases[i].real || is_whole != cases[i].whole)
            fail_msg("\"%s\": real %d, whole %d", cases[i].text, is_real, is_whole);
        assert_true(!is_real || real == cases[i].value);
        assert_true(!is_whole || whole == (int64_t)cases[i].value);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_and_fields),
        cmocka_unit_test(what_is_wrong_has_a_place),
        cmocka_unit_test(missing_is_not_empty),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
