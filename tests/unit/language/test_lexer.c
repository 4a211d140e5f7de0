/* test_lexer.c: tokens, literals, places, and what is no token. */
#include "unit/language/front_testing.h"

#include <math.h>

typedef struct lexed {
    front f;
    token_list list;
} lexed;

static void lex(lexed *l, const char *text) {
    front_begin(&l->f, text, strlen(text));
    assert_int_equal(l->f.status, MASU_OK);
    assert_int_equal(lex_source(&l->f.file, &l->f.arena, &l->f.diagnostics, &l->list), MASU_OK);
}

/* Kinds in order, without the end. */
static void expect_kinds(const char *text, const token_kind *kinds, size_t count) {
    lexed l;
    lex(&l, text);
    assert_int_equal(l.f.diagnostics.error_count, 0);
    assert_int_equal(l.list.count, count + 1);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(l.list.tokens[i].kind, kinds[i]);
    assert_int_equal(l.list.tokens[count].kind, TOKEN_END);
    front_end(&l.f);
}
#define EXPECT(text, ...) \
    expect_kinds(text, (token_kind[]){__VA_ARGS__}, sizeof((token_kind[]){__VA_ARGS__}) / sizeof(token_kind))

static const literal *first_literal(const lexed *l, token_kind kind) {
    assert_int_equal(l->list.tokens[0].kind, kind);
    assert_int_equal(l->list.count, 2);
    return &l->list.literals[l->list.tokens[0].literal];
}

static void every_mark_and_keyword(void **state) {
    (void)state;
    /* Written apart, every token comes back as itself; its text is in the table of names. */
    masu__buffer text = {0};
    uint32_t expected[TOKEN_KIND_COUNT], count = 0;
    for (uint32_t kind = TOKEN_LEFT_PAREN; kind < TOKEN_KIND_COUNT; kind++) {
        const char *written = token_text((token_kind)kind);
        assert_int_equal(written[0], '`');
        masu__buffer_append(&text, written + 1, strlen(written) - 2);
        masu__buffer_putc(&text, ' ');
        expected[count++] = kind;
    }
    lexed l;
    lex(&l, masu__buffer_text(&text));
    assert_int_equal(l.list.count, count + 1);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(l.list.tokens[i].kind, expected[i]);
    front_end(&l.f);
    masu__buffer_destroy(&text);
}

static void longest_mark_wins(void **state) {
    (void)state;
    EXPECT("a<<=b", TOKEN_NAME, TOKEN_SHL_EQUAL, TOKEN_NAME);
    EXPECT("a<-b", TOKEN_NAME, TOKEN_LESS, TOKEN_MINUS, TOKEN_NAME);
    EXPECT("..=..", TOKEN_DOT_DOT_EQUAL, TOKEN_DOT_DOT);
    EXPECT("1..2", TOKEN_INT, TOKEN_DOT_DOT, TOKEN_INT);
    EXPECT("1.5..2.", TOKEN_FLOAT, TOKEN_DOT_DOT, TOKEN_FLOAT);
    EXPECT("1.max", TOKEN_INT, TOKEN_DOT, TOKEN_NAME);
    EXPECT("t.0.1.x", TOKEN_NAME, TOKEN_DOT, TOKEN_INT, TOKEN_DOT, TOKEN_INT, TOKEN_DOT, TOKEN_NAME);
    EXPECT("fnord fn", TOKEN_NAME, TOKEN_FN);
}

static void comments_leave_nothing(void **state) {
    (void)state;
    EXPECT("a // b\nc", TOKEN_NAME, TOKEN_NAME);
    EXPECT("a /* b /* c */ d */ e", TOKEN_NAME, TOKEN_NAME);
    expect_kinds("//", NULL, 0);
}

static void integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
        type_kind suffix;
    } cases[] = {
        {"0", 0, TYPE_VOID},
        {"1_000_000", 1000000, TYPE_VOID},
        {"0xFF", 255, TYPE_VOID},
        {"0b1010", 10, TYPE_VOID},
        {"0o17", 15, TYPE_VOID},
        {"42i32", 42, TYPE_I32},
        {"7usize", 7, TYPE_USIZE},
        {"0xFFu8", 255, TYPE_U8},
        {"18446744073709551615", UINT64_MAX, TYPE_VOID},
        {"0x_f_f_i64", 255, TYPE_I64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lexed l;
        lex(&l, cases[i].text);
        const literal *value = first_literal(&l, TOKEN_INT);
        assert_true(value->integer == cases[i].value);
        assert_int_equal(value->suffix, cases[i].suffix);
        assert_int_equal(l.f.diagnostics.error_count, 0);
        front_end(&l.f);
    }
}

static void floats(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
        type_kind suffix;
    } cases[] = {
        {"1.5", 1.5, TYPE_VOID},
        {"1e-4", 1e-4, TYPE_VOID},
        {"2.5E+3", 2500, TYPE_VOID},
        {"1_0.2_5", 10.25, TYPE_VOID},
        {"3f64", 3, TYPE_F64},
        {"1.0f32", 1, TYPE_F32},
        {"0.1", 0.1, TYPE_VOID},
        {"1e400", INFINITY, TYPE_VOID},
        {"5.", 5, TYPE_VOID},
        {"0.000000000000000000000000000000000000000000000000000000000000000000000000001e75", 1, TYPE_VOID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lexed l;
        lex(&l, cases[i].text);
        const literal *value = first_literal(&l, TOKEN_FLOAT);
        assert_true(value->floating == cases[i].value);
        assert_int_equal(value->suffix, cases[i].suffix);
        front_end(&l.f);
    }
}

static void characters_and_strings(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t point;
    } characters[] = {{"'a'", 'a'},         {"'\\n'", '\n'},           {"'\\''", '\''},
                      {"'\xC3\xA9'", 0xE9}, {"'\\u{1F600}'", 0x1F600}, {"'\\x41'", 'A'}};
    for (size_t i = 0; i < sizeof characters / sizeof characters[0]; i++) {
        lexed l;
        lex(&l, characters[i].text);
        assert_int_equal(first_literal(&l, TOKEN_CHAR)->integer, characters[i].point);
        assert_int_equal(l.f.diagnostics.error_count, 0);
        front_end(&l.f);
    }
    lexed l;
    lex(&l, "\"a\\tb\\\"c\\\\ \\u{e9}\\0z \\\n   joined\"");
    const literal *value = first_literal(&l, TOKEN_STRING);
    assert_int_equal(value->string.length, sizeof("a\tb\"c\\ \xC3\xA9\0z joined") - 1);
    assert_memory_equal(value->string.data, "a\tb\"c\\ \xC3\xA9\0z joined", value->string.length + 1);
    front_end(&l.f);
    EXPECT("'outer: loop", TOKEN_LABEL, TOKEN_COLON, TOKEN_LOOP);
}

static void names_of_many_scripts(void **state) {
    (void)state;
    EXPECT("\xCE\xB1 x\xE2\x82\x81 _ \xE6\x9E\xA1", TOKEN_NAME, TOKEN_NAME, TOKEN_NAME, TOKEN_NAME);
}

static void expect_errors(const char *text, const char *rendered) {
    lexed l;
    lex(&l, text);
    assert_string_equal(front_rendered(&l.f), rendered);
    front_end(&l.f);
}

static void what_is_no_token(void **state) {
    (void)state;
    expect_errors("a \xE2\x82\xAC b\n",
                  "t.tl:1:3: error: `\xE2\x82\xAC` does not belong to the language\na \xE2\x82\xAC b\n  ^\n");
    expect_errors("\xFF\xFE\x01 x",
                  "t.tl:1:1: error: these bytes are not UTF-8 without control characters, as a program is\n"
                  "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD x\n^~~\n");
    expect_errors("12abc",
                  "t.tl:1:3: error: `abc` is not a suffix of a number\n12abc\n  ^~~\n"
                  "t.tl:1:1: note: a number may end in i8 \xE2\x80\xA6 i64, u8 "
                  "\xE2\x80\xA6 u64, usize, f32 or f64\n12abc\n^~~~~\n");
    expect_errors("99999999999999999999",
                  "t.tl:1:1: error: this integer does not fit 64 bits\n99999999999999999999\n^~~~~~~~~~~~~~~~~~~~\n");
    expect_errors("0x", "t.tl:1:1: error: digits are missing after `0x`\n0x\n^~\n");
    expect_errors("1.5i32", "t.tl:1:1: error: a number with a fraction or an exponent is f32 or f64\n1.5i32\n^~~~~~\n");
    expect_errors("\"abc", "t.tl:1:1: error: this string is never closed: `\"` is missing\n\"abc\n^\n");
    expect_errors("x /* y /* z */",
                  "t.tl:1:3: error: this comment is never closed: `*/` is missing\nx /* y /* z */\n  ^~\n");
    expect_errors("''",
                  "t.tl:1:1: error: a character literal holds one character\n''\n^~\nnote: "
                  "texts are written in double quotes\n");
    expect_errors("'% b\nc", "t.tl:1:1: error: this character is never closed: `'` is missing\n'% b\n^~~~\n");
    expect_errors("\"\\q\"",
                  "t.tl:1:2: error: this escape is not known\n\"\\q\"\n ^~\n"
                  "note: escapes are \\n \\t \\r \\0 \\\\ \\\" \\' \\x41 \\u{1F600}\n");
}

/* Tabs stay tabs under a line, so that the caret stands right whatever a tab is worth. */
static void carets(void **state) {
    (void)state;
    expect_errors("\tx \xE2\x82\xAC",
                  "t.tl:1:4: error: `\xE2\x82\xAC` does not belong to the language\n\tx \xE2\x82\xAC\n\t  ^\n");
    expect_errors("\xC3\xA9 = \xE2\x82\xAC\r\nz",
                  "t.tl:1:5: error: `\xE2\x82\xAC` does not belong to the language\n\xC3\xA9 = \xE2\x82\xAC\n    ^\n");
}

static void long_lines_are_cut(void **state) {
    (void)state;
    char text[1001];
    memset(text, 'x', 1000);
    memcpy(text + 500, " \x01 ", 3);
    text[1000] = 0;
    lexed l;
    lex(&l, text);
    const char *rendered = front_rendered(&l.f);
    assert_int_equal(l.f.diagnostics.error_count, 1);
    assert_true(strlen(rendered) < 500);
    assert_non_null(strstr(rendered, "t.tl:1:502: error"));
    assert_non_null(strstr(rendered, "\n...xxx"));
    front_end(&l.f);
}

static void spans_cover_the_text(void **state) {
    (void)state;
    lexed l;
    lex(&l, "let x = 1.5; // end\n  foo(x)");
    const struct {
        uint32_t offset, length;
    } expected[] = {{0, 3}, {4, 1}, {6, 1}, {8, 3}, {11, 1}, {22, 3}, {25, 1}, {26, 1}, {27, 1}, {28, 0}};
    assert_int_equal(l.list.count, sizeof expected / sizeof expected[0]);
    for (uint32_t i = 0; i < l.list.count; i++) {
        assert_int_equal(l.list.tokens[i].offset, expected[i].offset);
        assert_int_equal(l.list.tokens[i].length, expected[i].length);
    }
    front_end(&l.f);
}

static void places(void **state) {
    (void)state;
    lexed l;
    lex(&l,
        "a\n\n\xC3\xA9"
        "b\nc");
    assert_int_equal(l.f.file.line_count, 4);
    source_place place = source_place_of(source_span_make(&l.f.file, 5, 1)); /* b */
    assert_int_equal(place.line, 3);
    assert_int_equal(place.column, 2);
    place = source_place_of((source_span){0});
    assert_int_equal(place.line, 0);
    uint32_t length;
    assert_memory_equal(source_line(&l.f.file, 4, &length), "c", 1);
    assert_int_equal(length, 1);
    front_end(&l.f);
}

static void any_bytes_lex(void **state) {
    (void)state;
    uint64_t seed = 0x1234567;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 2000; round++) {
        char bytes[64];
        size_t length = front_random(&seed) % sizeof bytes;
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)front_random(&seed);
        lexed l;
        front_begin(&l.f, bytes, length);
        assert_int_equal(lex_source(&l.f.file, &l.f.arena, &l.f.diagnostics, &l.list), MASU_OK);
        uint32_t end = 0;
        for (uint32_t i = 0; i < l.list.count; i++) {
            assert_true(l.list.tokens[i].offset >= end);
            end = l.list.tokens[i].offset + l.list.tokens[i].length;
            assert_true(end <= length);
            assert_int_equal(l.list.tokens[i].kind == TOKEN_END, i + 1 == l.list.count);
        }
        front_rendered(&l.f);
        front_end(&l.f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mark_and_keyword),
        cmocka_unit_test(longest_mark_wins),
        cmocka_unit_test(comments_leave_nothing),
        cmocka_unit_test(integers),
        cmocka_unit_test(floats),
        cmocka_unit_test(characters_and_strings),
        cmocka_unit_test(names_of_many_scripts),
        cmocka_unit_test(what_is_no_token),
        cmocka_unit_test(carets),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(spans_cover_the_text),
        cmocka_unit_test(places),
        cmocka_unit_test(any_bytes_lex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
