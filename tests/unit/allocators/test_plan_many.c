/* Many buffers: valleys and repair. Their plans pass the judge, are near the bound, and are the same for
 * any number of threads; repair takes nothing for granted about where a plan is high. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/plan.h>

#include "allocators/plan/repair.h"
#include "base/meta.h"
#include "base/rng.h"

enum { COUNT = 9000, SOME = 1500 };

static masu_plan_row rows[COUNT];
static uint64_t offsets[COUNT], again[COUNT];

/* Lengths are uniform, or grow by doubling. */
static void draw(size_t count, bool doubling, uint64_t alignment, uint64_t seed) {
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    for (size_t i = 0; i < count; i++) {
        int64_t lower = (int64_t)masu__rng_below(&rng, count);
        uint64_t length = doubling ? masu__rng_below(&rng, 50) << masu__rng_below(&rng, 7)
                                   : masu__rng_below(&rng, 100);
        rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 100000),
                                  .lower = lower,
                                  .upper = lower + 1 + (int64_t)length,
                                  .alignment_bytes = alignment};
    }
}

static masu_plan_result find(size_t count, unsigned threads, uint64_t steps, uint64_t *out) {
    masu_plan_problem problem = {.rows = rows, .count = count};
    masu_plan_options options = {.step_limit = steps, .threads = threads};
    masu_plan_result r;
    assert_int_equal(masu_plan_find(&problem, &options, out, &r), MASU_OK);
    assert_int_equal(masu_plan_check(rows, count, out, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    assert_int_equal(masu__meta_live_bytes(), 0);
    return r;
}

static void large_plans_are_near_the_bound(void **state) {
    (void)state;
    static const uint64_t alignments[] = {1, 64, 256}, most[] = {3, 10, 4};
    for (size_t k = 0; k < 3; k++) {
        draw(COUNT, k == 1, alignments[k], 40 + k);
        masu_plan_result r = find(COUNT, 1, 300000, offsets);
        assert_true(r.height_bytes <= r.lower_bound_bytes + r.lower_bound_bytes * most[k] / 100);
        masu_plan_result same = find(COUNT, 3, 300000, again);
        assert_true(same.height_bytes == r.height_bytes);
        assert_memory_equal(offsets, again, sizeof offsets);
    }
}

static bool never(void *context) {
    (void)context;
    return false;
}

/* From the worst plan there is, everything above everything: each step leaves a valid plan, and those
 * that help lower it. */
static void repair_lowers_any_plan(void **state) {
    (void)state;
    draw(SOME, false, 16, 77);
    masu_plan_problem problem = {.rows = rows, .count = SOME};
    masu__plan_model model;
    assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
    static int64_t stacked[SOME];
    int64_t height = 0, lower = 0;
    for (uint32_t i = 0; i < model.item_count; i++) {
        stacked[i] = masu__plan_align(height, model.alignment[i]);
        height = stacked[i] + model.size[i];
    }
    masu__repair *repair = masu__repair_create(&model);
    assert_non_null(repair);
    masu__repair_begin(repair, stacked, height);
    masu__plan_stop stop = {never, NULL};
    for (uint64_t step = 0; step < 40; step++) {
        bool helped = masu__repair_step(repair, step, UINT32_MAX, &stop, &lower);
        assert_true(masu__repair_valid(repair));
        assert_true(helped ? lower < height : lower == height);
        height = lower;
        masu__plan_model_rows(&model, &problem, masu__repair_offsets(repair), offsets);
        assert_int_equal(masu_plan_check(rows, SOME, offsets, (uint64_t)height, NULL, NULL),
                         MASU_PLAN_FINE);
    }
    assert_true(height < model.bound * 2);
    assert_false(masu__repair_step(repair, 1, 0, &stop, &lower)); /* nothing may be placed */
    masu__repair_destroy(repair);
    masu__plan_model_close(&model);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_plans_are_near_the_bound),
        cmocka_unit_test(repair_lowers_any_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
