/* The readers of `masu plan`: what they refuse, where and with which words; what is fine; and the judge by
 * windows against the judge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "base/rng.h"
#include "tool/plan/plan_table.h"

#define BYTES(text) text, sizeof(text) - 1
#define HEAD        "id,lower,upper,size\n"

typedef struct bad_case {
    const char *place, *expected, *text;
    size_t length;
} bad_case;

static const bad_case bad_tables[] = {
    {"1:1", "a first line", BYTES("")},
    {"1:1", "a first line", BYTES("\r\n\n\r\n")},
    {"2:2", "text in UTF-8, found the byte 0x00", BYTES(HEAD "a\000b,0,1,4\n")},
    {"2:8", "text in UTF-8, found the byte 0x00", BYTES(HEAD "a,0,1,4\000\n")},
    {"2:1", "text in UTF-8, found the byte 0xFF", BYTES(HEAD "\377,0,1,4\n")},
    {"2:2", "text in UTF-8, found the byte 0xC3", BYTES(HEAD "a\303,0,1,4\n")},
    {"2:1", "text in UTF-8, found the byte 0xC0", BYTES(HEAD "\300\200,0,1,4\n")},
    {"1:9", "text in UTF-8, found the byte 0xED", BYTES("[{\"id\":\"\355\240\200\"}]")},
    {"2:7", "a whole number of bytes, not negative, found \"4?b\"", BYTES(HEAD "a,0,1,4\rb,0,1,4\n")},
    {"1:20", "a column named id", BYTES("id;lower;upper;size\na;0;1;4\n")},
    {"2:3", "an id, found \"\"", BYTES(HEAD "  \n")},
    {"2:1", "a closing quote", BYTES(HEAD "\"a,0,1,4\nb,0,1,4\n")},
    {"2:4", "the end of the field", BYTES(HEAD "\"a\"b,0,1,4\n")},
    {"2:3", "a whole number (a moment), found \"+1\"", BYTES(HEAD "a,+1,2,4\n")},
    {"2:3", "a whole number (a moment), found \"1.5\"", BYTES(HEAD "a,1.5,2,4\n")},
    {"2:3", "a whole number (a moment), found \"1e3\"", BYTES(HEAD "a,1e3,2000,4\n")},
    {"2:3", "a whole number (a moment), found \"\"", BYTES(HEAD "a,,1,4\n")},
    {"2:7", "a whole number of bytes, not negative, found \"0x10\"", BYTES(HEAD "a,0,1,0x10\n")},
    {"2:5", "a number between -2^63 and 2^63", BYTES(HEAD "a,0,9223372036854775808,4\n")},
    {"2:5", "an end below 2^63 - 1", BYTES("id,start,end,size\na,0,9223372036854775807,4\n")},
    {"1:20", "lower,upper or start,end, not both", BYTES("id,start,upper,size\na,0,1,4\n")},
    {"2:9", "an offset below 2^62", BYTES("id,lower,upper,size,offset\na,0,1,4,18446744073709551615\n")},
    {"2:9", "an alignment below 2^62", BYTES("id,lower,upper,size,alignment\na,0,1,4,9223372036854775808\n")},
    {"2:9", "a whole number of bytes, not negative", BYTES("id,lower,upper,size,uses\na,0,1,4,-1\n")},
    {"4:1", "sizes that add up to less than 2^62",
     BYTES(HEAD "a,0,1,2305843009213693951\nb,5,6,2305843009213693951\nc,7,8,9\n")},
    {"1:41", "each name once in a buffer", BYTES("[{\"id\":\"a\",\"lower\":0,\"upper\":2,\"size\":4,\"size\":8}]")},
    {"1:42", "an object", BYTES("[{\"id\":\"a\",\"lower\":0,\"upper\":2,\"size\":4},]")},
    {"1:41", "a string", BYTES("[{\"id\":\"a\",\"lower\":0,\"upper\":2,\"size\":4,}]")},
    {"1:39", "a whole number", BYTES("[{\"id\":\"a\",\"lower\":0,\"upper\":2,\"size\":1e2}]")},
    {"1:39", "a number between", BYTES("[{\"id\":\"a\",\"lower\":0,\"upper\":2,\"size\":18446744073709551615}]")},
    {"1:39", "a number", BYTES("[{\"id\":\"a\",\"lower\":0,\"upper\":2,\"size\":\"4\"}]")},
    {"1:8", "escapes of JSON", BYTES("[{\"id\":\"\\ud800\"}]")},
    {"1:8", "escapes of JSON", BYTES("[{\"id\":\"\\q\"}]")},
    {"1:8", "an id", BYTES("[{\"id\":\"\"}]")},
    {"1:8", "a number", BYTES("[{\"id\":null}]")},
    {"1:8", "a closing quote", BYTES("[{\"id\":\"a")},
    {"1:2", "lower and upper or start and end, not both", BYTES("[{\"id\":\"a\",\"start\":0,\"upper\":2,\"size\":4}]")},
    {"2:1", "an id that has not been used, found \"a\" again",
     BYTES("[{\"id\":\"a\",\"lower\":0,\"upper\":2,\"size\":4},\n{\"id\":\"a\",\"lower\":0,\"upper\":2,\"size\":4}]")},
    {"1:15", "each name once", BYTES("{\"buffers\":[],\"buffers\":[]}")},
    {"1:15", "each name once", BYTES("{\"capacity\":4,\"capacity\":5,\"buffers\":[]}")},
    {"1:13", "a capacity above 0", BYTES("{\"capacity\":0,\"buffers\":[]}")},
    {"1:13", "a whole number of bytes, not negative", BYTES("{\"capacity\":-1,\"buffers\":[]}")},
    {"1:19", "a number", BYTES("{\"buffers\":[],\"x\":tru}")},
    {"1:23", "a comma or }", BYTES("{\"buffers\":[],\"x\":truex}")},
    {"1:19", "a number", BYTES("{\"buffers\":[],\"x\":+-..e}")},
    {"1:2", "buffers before relations", BYTES("{\"relations\":[],\"buffers\":[]}")},
    {"1:92", "the id of a buffer above",
     BYTES("{\"buffers\":[{\"id\":\"a\",\"lower\":0,\"upper\":2,\"size\":4}],\"relations\":[{"
           "\"kind\":\"must_share\",\"a\":\"b\"}]}")},
};

static const bad_case bad_operators[] = {
    {"1:1", "a first line op,type,inputs,outputs", BYTES("")},
    {"2:10", "ids of buffers, found \"nobody\"", BYTES("op,type,inputs,outputs\n0,Relu,x,nobody\n")},
    {"2:7", "op,type,inputs,outputs", BYTES("op,type,inputs,outputs\n0,Relu\n")},
    {"2:11", "the end of the line", BYTES("op,type,inputs,outputs\n0,Relu,x,y,z\n")},
    {"2:8", "text in UTF-8", BYTES("op,type,inputs,outputs\n0,Relu,\000,y\n")},
    {"2:1", "y to live when operator a makes it, at moment 0; its life is 1 to 3",
     BYTES("op,type,inputs,outputs\na,Relu,x,y\n")},
    {"4:1", "x to live when operator c reads it, at moment 2; its life is 0 to 2",
     BYTES("op,type,inputs,outputs\na,Input,,x\nb,Relu,x,y\nc,Add,x y,\n")},
};

/* "in:PLACE: error: expected EXPECTED" begins the message. */
static void assert_complaint(const bad_case *c, masu__buffer *message) {
    char wanted[256];
    snprintf(wanted, sizeof wanted, "in:%s: error: expected %s", c->place, c->expected);
    const char *said = masu__buffer_text(message);
    if (strncmp(said, wanted, strlen(wanted)) != 0)
        fail_msg("%.*s: wanted \"%s\", said \"%s\"", (int)c->length, c->text, wanted, said);
    assert_true(strchr(said, '\n') == said + strlen(said) - 1);
    masu__buffer_destroy(message);
}

static void bad_tables_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_tables / sizeof *bad_tables; i++) {
        plan_table table;
        masu__buffer message = {0};
        const bad_case *c = &bad_tables[i];
        if (plan_parse("in", c->text, c->length, &table, &message))
            fail_msg("accepted: %s", c->text);
        assert_complaint(c, &message);
        plan_table_free(&table);
        assert_int_equal(masu__meta_live_bytes(), 0);
    }
}

static void bad_operators_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_operators / sizeof *bad_operators; i++) {
        plan_table table;
        plan_graph graph;
        masu__buffer message = {0};
        const bad_case *c = &bad_operators[i];
        assert_true(plan_parse("t", BYTES(HEAD "x,0,2,8\ny,1,3,8\n"), &table, &message));
        if (plan_parse_ops("in", c->text, c->length, &table, &graph, &message))
            fail_msg("accepted: %s", c->text);
        assert_complaint(c, &message);
        plan_table_free(&table);
        assert_int_equal(masu__meta_live_bytes(), 0);
    }
}

/* Prefix, a character many times, suffix. */
static void assert_long(const char *prefix, char filler, size_t count, const char *suffix, bad_case wanted) {
    size_t length = strlen(prefix) + count + strlen(suffix);
    char *text = malloc(length + 1);
    assert_non_null(text);
    snprintf(text, length + 1, "%s", prefix);
    memset(text + strlen(prefix), filler, count);
    memcpy(text + strlen(prefix) + count, suffix, strlen(suffix) + 1);
    plan_table table;
    masu__buffer message = {0};
    wanted.text = "(long)";
    wanted.length = 6;
    assert_false(plan_parse("in", text, length, &table, &message));
    assert_complaint(&wanted, &message);
    plan_table_free(&table);
    free(text);
}

static void huge_and_deep_files_are_refused(void **state) {
    (void)state;
    assert_long(HEAD, 'a', 3000000, ",0,1,x", (bad_case){.place = "2:3000006", .expected = "a whole number of bytes"});
    assert_long(HEAD, ',', 3000000, "", (bad_case){.place = "2:1", .expected = "an id"});
    assert_long("id,lower,upper,size", ',', 3000000, "\n",
                (bad_case){.place = "1:81", .expected = "at most 64 columns"});
    assert_long("{\"buffers\":[],\"x\":", '[', 3000000, "", (bad_case){.place = "1:84", .expected = "less nesting"});
    assert_long("[{\"id\":\"a\",\"lower\":", '9', 3000000, "}]",
                (bad_case){.place = "1:20", .expected = "a number between"});
}

typedef struct good_case {
    const char *id;
    masu_plan_row row;
    const char *text;
    size_t length;
} good_case;

static const good_case good_tables[] = {
    {"ä€😀", {.upper = 1, .size_bytes = 4}, BYTES(HEAD "ä€😀,0,1,4\n")},
    {"a", {.upper = 1}, BYTES(HEAD "a,0,1,0")},
    {"a, \"b\"", {.upper = 1, .size_bytes = 4}, BYTES(HEAD "\r\n\n\"a, \"\"b\"\"\",0,1,4\r\n")},
    {"a", {.upper = 1, .size_bytes = 4}, BYTES("\xEF\xBB\xBF" HEAD "  a , 0 ,\t1, 4 \n\n")},
    {"a",
     {.lower = INT64_MIN, .upper = 2, .size_bytes = 4},
     BYTES("[{\"id\":\"a\",\"lower\":-9223372036854775808,\"upper\":2,\"size\":4}]")},
    {"aA€\"\n\t",
     {.upper = 2, .size_bytes = 4},
     BYTES("[{\"id\":\"a\\u0041\\u20AC\\\"\\n\\t\",\"lower\":0,\"upper\":2,\"size\":4}]")},
    {"7",
     {.upper = 2, .size_bytes = 4},
     BYTES(" {\"x\":[1.5e-3,{\"y\":null}],\"buffers\":[{\"id\":7,\"start\":0,\"end\":1,\"size\":4}]}")},
};

static void good_tables_mean_what_they_say(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof good_tables / sizeof *good_tables; i++) {
        plan_table table;
        masu__buffer message = {0};
        const good_case *c = &good_tables[i];
        if (!plan_parse("in", c->text, c->length, &table, &message))
            fail_msg("%s: %s", c->text, masu__buffer_text(&message));
        assert_int_equal(table.count, 1);
        assert_string_equal(table.ids[0], c->id);
        assert_true(table.rows[0].lower == c->row.lower && table.rows[0].upper == c->row.upper);
        assert_int_equal(table.rows[0].size_bytes, c->row.size_bytes);
        plan_table_free(&table);
    }
}

/* ---- the judge by windows -------------------------------------------------------------------- */

enum { ROWS = 2000, RELATIONS = 40 };

/* Half of the plans are spoilt in one place: both judges see it, or neither. */
static void windows_judge_as_the_judge(void **state) {
    (void)state;
    static masu_plan_row rows[ROWS];
    static uint64_t offsets[ROWS];
    masu_plan_relation relations[RELATIONS];
    masu__rng rng;
    masu__rng_seed(&rng, 3);
    size_t verdicts[MASU_PLAN_VERDICT_COUNT] = {0};
    for (int round = 0; round < 60; round++) {
        masu_plan_problem problem = {rows, ROWS, relations, RELATIONS, 0};
        for (size_t i = 0; i < ROWS; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, 900);
            rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 64),
                                      .lower = lower,
                                      .upper = lower + 1 + (int64_t)masu__rng_below(&rng, 40)};
        }
        for (size_t i = 0; i < RELATIONS; i++)
            relations[i] = (masu_plan_relation){MASU_PLAN_MUST_NOT_SHARE, i, ROWS - 1 - i};
        masu_plan_options quick = {.only = 7, .threads = 1};
        masu_plan_result r;
        problem.relation_count = 0;
        assert_int_equal(masu_plan_find(&problem, &quick, offsets, &r), MASU_OK);
        problem.relation_count = round % 3 == 0 ? RELATIONS : 0;
        if (round % 2) {
            size_t spoilt = masu__rng_below(&rng, ROWS);
            offsets[spoilt] = masu__rng_below(&rng, r.height_bytes + 20);
        }
        plan_judgement by_windows;
        masu_plan_verdict verdict = masu_plan_check_problem(&problem, offsets, r.height_bytes, NULL, NULL);
        assert_int_equal(plan_judge_windows(&problem, offsets, r.height_bytes, &by_windows), MASU_OK);
        assert_int_equal(by_windows.verdict == MASU_PLAN_FINE, verdict == MASU_PLAN_FINE);
        verdicts[by_windows.verdict]++;
    }
    assert_true(verdicts[MASU_PLAN_FINE] > 10 && verdicts[MASU_PLAN_OVERLAP] > 5);
    assert_true(verdicts[MASU_PLAN_TOGETHER] > 5);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_tables_are_refused),          cmocka_unit_test(bad_operators_are_refused),
        cmocka_unit_test(huge_and_deep_files_are_refused), cmocka_unit_test(good_tables_mean_what_they_say),
        cmocka_unit_test(windows_judge_as_the_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
