/* The recording: entries are found again, wrong ones are refused and change nothing; lives follow moves, resets and
 * strays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "base/rng.h"
#include "recording/recording.h"

static int begin(void **state) {
    static masu__recording r;
    *state = &r;
    return masu__recording_init(&r, "test") == MASU_OK ? 0 : -1;
}

static int end(void **state) {
    masu__recording_destroy(*state);
    return masu__meta_live_blocks() == 0 ? 0 : -1;
}

static uint32_t text(masu__recording *r, const char *word) {
    uint32_t index;
    assert_int_equal(masu__recording_string(r, word, strlen(word), &index), MASU_OK);
    return index;
}

static void add(masu__recording *r, unsigned kind, uint32_t pool, uint64_t address, uint64_t bytes) {
    masu__recorded_event e = {
        .kind = (uint8_t)kind, .pool = pool, .address = address, .bytes = bytes, .given_bytes = bytes};
    assert_int_equal(masu__recording_event(r, &e), MASU_OK);
}

static void equal_entries_are_one(void **state) {
    masu__recording *r = *state;
    assert_int_equal(text(r, ""), 0);
    for (int round = 0; round < 2; round++)
        for (unsigned i = 1; i < 1000; i++) {
            char word[16];
            snprintf(word, sizeof word, "word %u", i);
            assert_int_equal(text(r, word), i);
        }
    masu__recorded_place inner = {.file = 1, .function = 2, .line = 7};
    uint32_t first, second, other;
    assert_int_equal(masu__recording_place(r, inner, &first), MASU_OK);
    assert_int_equal(masu__recording_place(r, inner, &second), MASU_OK);
    assert_int_equal(first, second);
    inner.caller = first;
    assert_int_equal(masu__recording_place(r, inner, &other), MASU_OK);
    assert_int_equal(other, first + 1);
    uint16_t device, again;
    assert_int_equal(masu__recording_device(r, (masu__recorded_device){.number = 3}, &device), MASU_OK);
    assert_int_equal(masu__recording_device(r, (masu__recorded_device){.number = 3, .total_bytes = 9}, &again),
                     MASU_OK);
    assert_int_equal(device, again);
    assert_true(masu__recording_valid(r));
}

static void what_points_nowhere_is_refused(void **state) {
    masu__recording *r = *state;
    uint32_t index;
    uint16_t small;
    assert_int_equal(masu__recording_place(r, (masu__recorded_place){.caller = 1}, &index), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu__recording_pool(r, (masu__recorded_pool){.below = 1}, &index), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu__recording_stream(r, (masu__recorded_stream){.device = 1}, &small),
                     MASU_ERR_INVALID_ARGUMENT);
    masu__recorded_event wrong[] = {
        {.kind = MASU__RECORDED_KIND_COUNT},
        {.kind = MASU__RECORDED_ALLOC, .bytes = 2, .given_bytes = 1},
        {.kind = MASU__RECORDED_ALLOC, .bytes = 2, .given_bytes = 2, .address = UINT64_MAX},
        {.pool = 1},
        {.place = 1},
        {.thread = 1},
        {.text = 1},
        {.stream = 1},
        {.device = 1},
        {.alignment_log2 = 64},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(masu__recording_event(r, &wrong[i]), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu__recording_standing(r, &(masu__recorded_event){.kind = MASU__RECORDED_FREE}),
                     MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(r->event_count, 0);
    assert_true(masu__recording_valid(r));
}

static void what_stood_comes_first_and_time_never_falls(void **state) {
    masu__recording *r = *state;
    masu__recorded_event e = {.kind = MASU__RECORDED_ALLOC, .time_ns = 50, .address = 1};
    assert_int_equal(masu__recording_event(r, &e), MASU_OK);
    e.time_ns = 20;
    assert_int_equal(masu__recording_event(r, &e), MASU_OK);
    assert_int_equal(r->events[1].time_ns, 50);
    e.address = 7;
    assert_int_equal(masu__recording_standing(r, &e), MASU_OK);
    assert_int_equal(r->standing_count, 1);
    assert_int_equal(r->events[0].address, 7);
    assert_int_equal(r->events[0].time_ns, 0);
    assert_true(masu__recording_valid(r));
    r->events[2].pool = 9;
    assert_false(masu__recording_valid(r));
}

static void lives_follow_blocks(void **state) {
    masu__recording *r = *state;
    uint32_t a, b;
    assert_int_equal(masu__recording_pool(r, (masu__recorded_pool){.number = 1}, &a), MASU_OK);
    assert_int_equal(masu__recording_pool(r, (masu__recorded_pool){.number = 2}, &b), MASU_OK);
    add(r, MASU__RECORDED_ALLOC, a, 64, 10);  /* 0 */
    add(r, MASU__RECORDED_ALLOC, b, 64, 10);  /* 1: the same address of another pool */
    add(r, MASU__RECORDED_FREE, a, 64, 10);   /* 2 */
    add(r, MASU__RECORDED_FREE, a, 64, 10);   /* 3: stray */
    add(r, MASU__RECORDED_RESIZE, b, 64, 20); /* 4 */
    masu__recorded_event move = {.kind = MASU__RECORDED_MOVE, .pool = b, .address = 128, .other = 64};
    assert_int_equal(masu__recording_event(r, &move), MASU_OK); /* 5 */
    add(r, MASU__RECORDED_FREE, b, 64, 0);                      /* 6: stray: it has moved */
    add(r, MASU__RECORDED_ALLOC, b, 128, 1);                    /* 7: doubled */
    add(r, MASU__RECORDED_ALLOC, b, 256, 1);                    /* 8 */
    add(r, MASU__RECORDED_RESET, b, 0, 0);                      /* 9 */
    add(r, MASU__RECORDED_ALLOC, b, 256, 1);                    /* 10 */
    masu__lives lives;
    assert_int_equal(masu__lives_find(r, &lives), MASU_OK);
    const uint32_t none = MASU__LIVES_NONE;
    const uint32_t expected[] = {2, 7, 0, none, 1, 1, none, 9, 9, none, none};
    for (size_t i = 0; i < 11; i++)
        assert_int_equal(lives.of[i], expected[i]);
    assert_int_equal(lives.strays, 2);
    assert_int_equal(lives.doubled, 1);
    assert_int_equal(lives.live_at_end, 1);
    masu__lives_destroy(&lives);
}

/* Against a list that is searched from end to end. */
static void lives_agree_with_a_plain_search(void **state) {
    masu__recording *r = *state;
    enum { EVENTS = 6000 };
    static uint32_t expected[EVENTS];
    masu__rng rng;
    masu__rng_seed(&rng, 5);
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint64_t address = 64 * masu__rng_below(&rng, 900);
        uint32_t alloc = MASU__LIVES_NONE;
        for (uint32_t k = i; k-- > 0 && alloc == MASU__LIVES_NONE;)
            if (r->events[k].kind == MASU__RECORDED_ALLOC && r->events[k].address == address &&
                expected[k] == MASU__LIVES_NONE)
                alloc = k;
        expected[i] = alloc;
        if (alloc != MASU__LIVES_NONE)
            expected[alloc] = i;
        bool is_free = alloc != MASU__LIVES_NONE || masu__rng_below(&rng, 4) == 0;
        if (!is_free)
            expected[i] = MASU__LIVES_NONE;
        add(r, is_free ? MASU__RECORDED_FREE : MASU__RECORDED_ALLOC, 0, address, 64);
    }
    masu__lives lives;
    assert_int_equal(masu__lives_find(r, &lives), MASU_OK);
    assert_memory_equal(lives.of, expected, sizeof expected);
    masu__lives_destroy(&lives);
}

static void running_out_of_memory_changes_nothing(void **state) {
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        masu__recording r = {0};
        masu__fault_arm(nth);
        masu_status status = masu__recording_init(&r, "test");
        for (unsigned i = 0; i < 600 && status == MASU_OK; i++) {
            char word[16];
            uint32_t index;
            snprintf(word, sizeof word, "%u", i);
            status = masu__recording_string(&r, word, strlen(word), &index);
            if (status == MASU_OK)
                status = masu__recording_place(&r, (masu__recorded_place){.line = i}, &index);
            if (status == MASU_OK)
                status = masu__recording_event(&r, &(masu__recorded_event){.address = i, .place = index});
        }
        masu__lives lives = {0};
        if (status == MASU_OK)
            status = masu__lives_find(&r, &lives);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_int_equal(status, fired ? MASU_ERR_OUT_OF_MEMORY : MASU_OK);
        masu__lives_destroy(&lives);
        assert_true(!r.index || masu__recording_valid(&r));
        masu__recording_destroy(&r);
        if (!fired)
            break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_entries_are_one, begin, end),
        cmocka_unit_test_setup_teardown(what_points_nowhere_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(what_stood_comes_first_and_time_never_falls, begin, end),
        cmocka_unit_test_setup_teardown(lives_follow_blocks, begin, end),
        cmocka_unit_test_setup_teardown(lives_agree_with_a_plain_search, begin, end),
        cmocka_unit_test(running_out_of_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
