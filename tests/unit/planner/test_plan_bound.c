/* The lower bound with alignments: never above the optimum of tiny problems, found by enumeration, and
 * above the load where it must be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <masu/plan.h>

#include "base/meta.h"
#include "base/rng.h"

enum { TINY = 4 };

static uint64_t bound_of(const masu_plan_row *rows, size_t count) {
    uint64_t bound;
    assert_int_equal(masu_plan_lower_bound(rows, count, &bound), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
    return bound;
}

static uint64_t load_of(const masu_plan_row *rows, size_t count) {
    uint64_t most = 0;
    for (int64_t moment = 0; moment < 16; moment++) {
        uint64_t load = 0;
        for (size_t i = 0; i < count; i++)
            load += rows[i].lower <= moment && moment < rows[i].upper ? rows[i].size_bytes : 0;
        most = load > most ? load : most;
    }
    return most;
}

/* All offsets below the height, row by row. */
static bool fits(const masu_plan_row *rows, size_t count, size_t placed, uint64_t height, uint64_t *offsets) {
    if (placed == count)
        return true;
    for (uint64_t at = 0; at + rows[placed].size_bytes <= height; at += rows[placed].alignment_bytes) {
        offsets[placed] = at;
        if (masu_plan_check(rows, placed + 1, offsets, height, NULL, NULL) == MASU_PLAN_FINE &&
            fits(rows, count, placed + 1, height, offsets))
            return true;
    }
    return false;
}

static void no_plan_is_below_the_bound(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 12);
    unsigned above_load = 0;
    for (int round = 0; round < 1500; round++) {
        masu_plan_row rows[TINY];
        uint64_t offsets[TINY];
        size_t count = 1 + masu__rng_below(&rng, TINY);
        for (size_t i = 0; i < count; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, 4);
            rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 9),
                                      .lower = lower,
                                      .upper = lower + 1 + (int64_t)masu__rng_below(&rng, 4),
                                      .alignment_bytes = (uint64_t)1 << (round % 2 ? 2 : masu__rng_below(&rng, 4))};
        }
        uint64_t bound = bound_of(rows, count);
        assert_true(bound >= load_of(rows, count));
        assert_false(fits(rows, count, 0, bound - 1, offsets));
        above_load += bound > load_of(rows, count);
    }
    assert_true(above_load > 100);
}

static void aligned_rows_take_more_than_their_size(void **state) {
    (void)state;
    /* 5 takes 8, 3 takes 4, one of them is topmost */
    const masu_plan_row rows[] = {
        {.size_bytes = 5, .lower = 0, .upper = 2, .alignment_bytes = 4},
        {.size_bytes = 5, .lower = 1, .upper = 3, .alignment_bytes = 4},
        {.size_bytes = 5, .lower = 1, .upper = 2, .alignment_bytes = 8},
        {.size_bytes = 2, .lower = 0, .upper = 3, .alignment_bytes = 1},
    };
    uint64_t offsets[4];
    masu_plan_result r;
    assert_true(load_of(rows, 4) == 17);
    assert_true(bound_of(rows, 4) == 21);
    assert_int_equal(masu_plan_solve(rows, 4, offsets, &r, NULL), MASU_OK);
    assert_true(r.optimal && r.height_bytes == 21);
}

/* Bytes that gaps and windows leave are not counted, and neither is what hangs above an offset. */
static void gaps_and_windows_lower_it(void **state) {
    (void)state;
    const masu_plan_gap gap = {.lower = 1, .upper = 2}, kept = {1, 2, 5, 6};
    masu_plan_row rows[] = {
        {.size_bytes = 9, .lower = 0, .upper = 3, .alignment_bytes = 8},
        {.size_bytes = 9, .lower = 1, .upper = 2, .alignment_bytes = 8},
    };
    assert_true(bound_of(rows, 2) == 25);
    rows[0].gaps = &gap;
    rows[0].gap_count = 1;
    assert_true(bound_of(rows, 2) == 9);
    rows[0].gaps = &kept;
    assert_true(bound_of(rows, 2) == 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_plan_is_below_the_bound),
        cmocka_unit_test(aligned_rows_take_more_than_their_size),
        cmocka_unit_test(gaps_and_windows_lower_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
