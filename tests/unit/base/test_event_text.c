/* Events as lines of text: there and back, and nothing else is taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/trace.h>

#include "base/rng.h"

static void there_and_back(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 5);
    for (int i = 0; i < 2000; i++) {
        char line[MASU_EVENT_TEXT_BYTES];
        unsigned shift = i % 64;
        masu_event event = {
            .sequence = masu__rng_next(&rng) >> shift,
            .address = masu__rng_next(&rng) >> shift,
            .bytes = masu__rng_next(&rng) >> shift,
            .block_bytes = masu__rng_next(&rng) >> shift,
            .alignment_bytes = masu__rng_next(&rng) >> shift,
            .owner = masu__rng_next(&rng) >> shift,
            .pool = (uint32_t)masu__rng_next(&rng),
            .kind = (uint32_t)masu__rng_below(&rng, MASU_EVENT_KIND_COUNT),
        };
        masu_event read = {0};
        size_t length = masu_event_format(&event, line, sizeof line);
        assert_int_equal(length, strlen(line));
        assert_true(masu_event_parse(line, &read));
        assert_memory_equal(&event, &read, sizeof event);
    }
}

static void what_it_looks_like(void **state) {
    (void)state;
    char line[MASU_EVENT_TEXT_BYTES], little[8] = "x";
    masu_event event = {7, 4096, 100, 128, 64, 9, 3, MASU_EVENT_PIECE_CUT};
    size_t length = masu_event_format(&event, line, sizeof line);
    assert_int_equal(length, strlen(line));
    assert_string_equal(line, "7,piece-cut,3,4096,100,128,64,9");
    assert_int_equal(masu_event_format(&event, little, sizeof little), 0);
    assert_string_equal(little, "");
    assert_true(masu_event_parse("7,piece-cut,3,4096,100,128,64,9\r\n", &event));
}

static void nothing_else_is_an_event(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",
        "#",
        "7",
        "7,alloc",
        "7,alloc,3,4096,100,128,64",
        "7,alloc,3,4096,100,128,64,",
        "7,alloc,3,4096,100,128,64,9,1",
        "7,alloc,3,4096,100,128,64,9 ",
        "-7,alloc,3,4096,100,128,64,9",
        "7,allo,3,4096,100,128,64,9",
        "7,alloc ,3,4096,100,128,64,9",
        "7,,3,4096,100,128,64,9",
        "7,alloc,4294967296,4096,100,128,64,9",
        "7,alloc,3,18446744073709551616,100,128,64,9",
        "7,alloc,3,0x10,100,128,64,9",
        " 7,alloc,3,4096,100,128,64,9",
    };
    masu_event untouched = {.sequence = 77};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(masu_event_parse(wrong[i], &untouched));
    assert_int_equal(untouched.sequence, 77);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(what_it_looks_like),
        cmocka_unit_test(nothing_else_is_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
