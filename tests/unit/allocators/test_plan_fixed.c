/* Rows whose offsets are given: contradictions are seen, and many are no burden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <masu/plan.h>

#include "base/rng.h"

static masu_plan_outcome outcome_of(const masu_plan_problem *problem) {
    uint64_t offsets[2];
    masu_plan_result result;
    assert_int_equal(masu_plan_find(problem, NULL, offsets, &result), MASU_OK);
    if (result.outcome == MASU_PLAN_OPTIMAL)
        assert_int_equal(masu_plan_check_problem(problem, offsets, result.height_bytes, NULL, NULL),
                         MASU_PLAN_FINE);
    return result.outcome;
}

static void fixed_rows_that_break_a_relation(void **state) {
    (void)state;
    masu_plan_row rows[] = {
        {.size_bytes = 4, .lower = 0, .upper = 2, .is_fixed = true, .fixed_offset = 0},
        {.size_bytes = 4, .lower = 5, .upper = 9, .is_fixed = true, .fixed_offset = 2}};
    masu_plan_relation relation = {MASU_PLAN_MUST_SHARE, 0, 1};
    masu_plan_problem problem = {.rows = rows, .count = 2};
    assert_int_equal(outcome_of(&problem), MASU_PLAN_OPTIMAL);
    problem.relations = &relation;
    problem.relation_count = 1;
    assert_int_equal(outcome_of(&problem), MASU_PLAN_INFEASIBLE);
    relation.kind = MASU_PLAN_MUST_NOT_SHARE;
    assert_int_equal(outcome_of(&problem), MASU_PLAN_INFEASIBLE);
    rows[1].fixed_offset = 4;
    assert_int_equal(outcome_of(&problem), MASU_PLAN_OPTIMAL);
}

/* Ten thousand rows, each tenth fixed: a right plan, not a quadratic one. */
static void many_rows_around_fixed_ones(void **state) {
    (void)state;
    enum { COUNT = 10000 };
    static masu_plan_row rows[COUNT];
    static uint64_t offsets[COUNT];
    masu__rng rng;
    masu__rng_seed(&rng, 9);
    for (int i = 0; i < COUNT; i++) {
        int64_t lower = (int64_t)masu__rng_below(&rng, COUNT);
        rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 1000),
                                  .lower = lower,
                                  .upper = lower + 1 + (int64_t)masu__rng_below(&rng, 100),
                                  .alignment_bytes = 1u << masu__rng_below(&rng, 4)};
    }
    masu_plan_problem problem = {.rows = rows, .count = COUNT};
    masu_plan_options options = {.only = 1, .threads = 1};
    masu_plan_result result;
    assert_int_equal(masu_plan_find(&problem, &options, offsets, &result), MASU_OK);
    for (int i = 0; i < COUNT; i += 10) {
        rows[i].is_fixed = true;
        rows[i].fixed_offset = offsets[i];
    }
    assert_int_equal(masu_plan_find(&problem, &options, offsets, &result), MASU_OK);
    assert_int_equal(masu_plan_check(rows, COUNT, offsets, result.height_bytes, NULL, NULL),
                     MASU_PLAN_FINE);
    assert_true(result.height_bytes < result.lower_bound_bytes * 5 / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_rows_that_break_a_relation),
        cmocka_unit_test(many_rows_around_fixed_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
