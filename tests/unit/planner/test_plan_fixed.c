/* Rows whose offsets are given: contradictions are seen, and many are no burden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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
        assert_int_equal(masu_plan_check_problem(problem, offsets, result.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    return result.outcome;
}

static void fixed_rows_that_break_a_relation(void **state) {
    (void)state;
    masu_plan_row rows[] = {{.size_bytes = 4, .lower = 0, .upper = 2, .is_fixed = true, .fixed_offset = 0},
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
    assert_int_equal(masu_plan_check(rows, COUNT, offsets, result.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    assert_true(result.height_bytes < result.lower_bound_bytes * 5 / 4);
}

/* ---- tiny problems against all plans ---------------------------------------------------------- */

enum { TINY = 6, MOST = 400 };

/* Whether rows from i on can be placed at or below limit, by trying every offset. */
static bool place_from(const masu_plan_problem *p, uint64_t *offsets, uint64_t limit, size_t i) {
    if (i == p->count)
        return masu_plan_check_problem(p, offsets, limit, NULL, NULL) == MASU_PLAN_FINE;
    if (p->rows[i].is_fixed) {
        offsets[i] = p->rows[i].fixed_offset;
        return place_from(p, offsets, limit, i + 1);
    }
    for (uint64_t at = 0; at + p->rows[i].size_bytes <= limit; at++) {
        bool free = true;
        offsets[i] = at;
        for (size_t j = 0; j < i && free; j++)
            free = p->rows[i].upper <= p->rows[j].lower || p->rows[j].upper <= p->rows[i].lower ||
                   at + p->rows[i].size_bytes <= offsets[j] || offsets[j] + p->rows[j].size_bytes <= at;
        if (free && place_from(p, offsets, limit, i + 1))
            return true;
    }
    return false;
}

/* Half of the rows are fixed, anywhere: apart, or colliding. */
static void tiny_problems_around_fixed_rows(void **state) {
    (void)state;
    masu__rng rng;
    uint64_t offsets[TINY];
    int infeasible = 0, raised = 0;
    masu__rng_seed(&rng, 17);
    for (int round = 0; round < 1500; round++) {
        masu_plan_row rows[TINY];
        masu_plan_problem problem = {.rows = rows, .count = 2 + masu__rng_below(&rng, TINY - 1)};
        uint64_t lowest = 0, bound, load;
        for (size_t i = 0; i < problem.count; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, 6);
            rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 4),
                                      .lower = lower,
                                      .upper = lower + 1 + (int64_t)masu__rng_below(&rng, 4),
                                      .is_fixed = i % 2 == 1};
            rows[i].fixed_offset = rows[i].is_fixed ? masu__rng_below(&rng, 8) : 0;
        }
        while (lowest <= 24 && !place_from(&problem, offsets, lowest, 0))
            lowest++;
        masu_plan_result r;
        assert_int_equal(masu_plan_find(&problem, NULL, offsets, &r), MASU_OK);
        infeasible += lowest > 24;
        assert_int_equal(r.outcome, lowest > 24 ? MASU_PLAN_INFEASIBLE : MASU_PLAN_OPTIMAL);
        if (lowest > 24)
            continue;
        assert_int_equal(r.height_bytes, lowest);
        assert_int_equal(masu_plan_check_problem(&problem, offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
        assert_int_equal(masu_plan_lower_bound(rows, problem.count, &bound), MASU_OK);
        assert_true(bound <= lowest);
        for (size_t i = 0; i < problem.count; i++)
            rows[i].is_fixed = false;
        assert_int_equal(masu_plan_lower_bound(rows, problem.count, &load), MASU_OK);
        raised += bound > load && bound == lowest;
    }
    assert_true(infeasible > 50 && raised > 200);
}

/* ---- cut rectangles -------------------------------------------------------------------------- */

/* [0, time) × [0, height) in count pieces: every moment is full. offsets: where they lay. */
static void cut_rectangle(masu__rng *rng, size_t count, int64_t time, uint64_t height, masu_plan_row *rows,
                          uint64_t *offsets) {
    size_t made = 1;
    rows[0] = (masu_plan_row){.size_bytes = height, .upper = time};
    offsets[0] = 0;
    while (made < count) {
        size_t k = masu__rng_below(rng, made);
        masu_plan_row *row = &rows[k], other = *row;
        offsets[made] = offsets[k];
        if (masu__rng_below(rng, 2) && row->upper - row->lower > 1) {
            row->upper = other.lower = row->lower + 1 +
                                       (int64_t)masu__rng_below(rng, (uint64_t)(row->upper - row->lower - 1));
        } else if (row->size_bytes > 1) {
            row->size_bytes = 1 + masu__rng_below(rng, row->size_bytes - 1);
            other.size_bytes -= row->size_bytes;
            offsets[made] += row->size_bytes;
        } else {
            continue;
        }
        rows[made++] = other;
    }
}

/* Of a plan with nothing to spare, some rows stay: the others get back to its height. */
static void rows_of_a_full_plan_stay(void **state) {
    (void)state;
    static masu_plan_row rows[MOST];
    static uint64_t places[MOST], offsets[MOST];
    static const struct {
        size_t count;
        unsigned percent;
    } cases[] = {{60, 10}, {60, 30}, {60, 70}, {120, 30}, {120, 70}, {400, 70}};
    masu__rng rng;
    masu__rng_seed(&rng, 4);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int round = 0; round < 4; round++) {
            cut_rectangle(&rng, cases[c].count, 500, 1000, rows, places);
            for (size_t i = 0; i < cases[c].count; i++) {
                rows[i].is_fixed = masu__rng_below(&rng, 100) < cases[c].percent;
                rows[i].fixed_offset = rows[i].is_fixed ? places[i] : 0;
            }
            masu_plan_problem problem = {.rows = rows, .count = cases[c].count};
            masu_plan_options options = masu_plan_options_default();
            masu_plan_result r;
            options.time_limit_s = 0;
            options.step_limit = 200000;
            assert_int_equal(masu_plan_find(&problem, &options, offsets, &r), MASU_OK);
            assert_int_equal(masu_plan_check_problem(&problem, offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
            assert_int_equal(r.lower_bound_bytes, 1000);
            assert_in_range(r.height_bytes, 1000, 1020);
        }
}

/* Where a row fits nowhere between fixed ones, and where the rows of one moment together do not. */
static void fixed_rows_raise_the_bound(void **state) {
    (void)state;
    uint64_t bound;
    masu_plan_row tall[] = {
        {.size_bytes = 2, .upper = 4, .is_fixed = true, .fixed_offset = 3},
        {.size_bytes = 2, .lower = 6, .upper = 9, .is_fixed = true, .fixed_offset = 6},
        {.size_bytes = 4, .upper = 9},
    };
    assert_int_equal(masu_plan_lower_bound(tall, 3, &bound), MASU_OK);
    assert_int_equal(bound, 12); /* under neither, and 5 to 6 is too low */
    masu_plan_row many[] = {
        {.size_bytes = 2, .upper = 4, .is_fixed = true, .fixed_offset = 5},
        {.size_bytes = 3, .upper = 4},
        {.size_bytes = 3, .upper = 4},
        {.size_bytes = 4, .lower = 2, .upper = 4},
    };
    assert_int_equal(masu_plan_lower_bound(many, 4, &bound), MASU_OK);
    assert_int_equal(bound, 12); /* 10 bytes, 5 of room below */
    uint64_t offsets[4];
    masu_plan_result r;
    masu_plan_problem problem = {.rows = many, .count = 4};
    assert_int_equal(masu_plan_find(&problem, NULL, offsets, &r), MASU_OK);
    assert_int_equal(r.outcome, MASU_PLAN_OPTIMAL);
    assert_int_equal(r.height_bytes, 13); /* of 3, 3 and 4 only one goes below */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_rows_that_break_a_relation), cmocka_unit_test(many_rows_around_fixed_ones),
        cmocka_unit_test(tiny_problems_around_fixed_rows),  cmocka_unit_test(rows_of_a_full_plan_stay),
        cmocka_unit_test(fixed_rows_raise_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
