/* Hints: a plan made again stays where it was, as far as that costs no height. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <masu/plan.h>

#include "base/rng.h"

enum { MOST = 100 };

static const masu_plan_options quick = {.step_limit = 5000, .threads = 1};

static masu_plan_problem draw(masu__rng *rng, masu_plan_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int64_t lower = (int64_t)masu__rng_below(rng, 60);
        rows[i] = (masu_plan_row){.size_bytes = 16 * (1 + masu__rng_below(rng, 40)),
                                  .lower = lower,
                                  .upper = lower + 1 + (int64_t)masu__rng_below(rng, 25),
                                  .alignment_bytes = 16};
    }
    return (masu_plan_problem){.rows = rows, .count = count};
}

static masu_plan_result plan(const masu_plan_problem *problem, uint64_t *offsets) {
    masu_plan_result result;
    assert_int_equal(masu_plan_find(problem, &quick, offsets, &result), MASU_OK);
    assert_int_equal(masu_plan_check_problem(problem, offsets, result.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    return result;
}

static void hint(masu_plan_row *rows, size_t count, const uint64_t *offsets) {
    for (size_t i = 0; i < count; i++) {
        rows[i].has_hint = true;
        rows[i].hint_offset = offsets[i];
    }
}

static size_t count_followed(const masu_plan_row *rows, size_t count, const uint64_t *offsets) {
    size_t followed = 0;
    for (size_t i = 0; i < count; i++)
        followed += offsets[i] == rows[i].hint_offset;
    return followed;
}

static void the_same_problem_gets_the_same_plan(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 1);
    static masu_plan_row rows[MOST];
    uint64_t before[MOST], after[MOST];
    for (int round = 0; round < 10; round++) {
        size_t count = 1 + masu__rng_below(&rng, MOST);
        masu_plan_problem problem = draw(&rng, rows, count);
        masu_plan_result first = plan(&problem, before);
        /* turned upside down it is as good, and not what the planner would find by itself */
        for (size_t i = 0; i < count; i++)
            before[i] = first.height_bytes - before[i] - rows[i].size_bytes;
        hint(rows, count, before);
        assert_int_equal(plan(&problem, after).height_bytes, first.height_bytes);
        assert_memory_equal(before, after, count * sizeof *before);
    }
}

/* A tenth of the rows changes: most of the others stay, far more than without hints, and nothing is
 * lost. */
static void most_rows_stay_when_some_change(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 2);
    static masu_plan_row rows[MOST];
    uint64_t before[MOST], after[MOST], without[MOST];
    size_t followed = 0, by_chance = 0, all = 0;
    for (int round = 0; round < 4; round++) {
        masu_plan_problem problem = draw(&rng, rows, MOST);
        plan(&problem, before);
        for (size_t i = 0; i < MOST; i += 10)
            rows[i].size_bytes = 16 * (1 + masu__rng_below(&rng, 40));
        masu_plan_result plain = plan(&problem, without);
        hint(rows, MOST, before);
        masu_plan_result hinted = plan(&problem, after);
        assert_true(hinted.height_bytes <= plain.height_bytes);
        followed += count_followed(rows, MOST, after);
        by_chance += count_followed(rows, MOST, without);
        all += MOST;
    }
    assert_true(followed * 5 > all * 2);
    assert_true(followed > by_chance * 3 / 2);
}

/* Hints that cannot be followed do no harm: beyond the arena, not aligned, in each other's way, or
 * only to be had with a higher arena. */
static void bad_hints_do_no_harm(void **state) {
    (void)state;
    uint64_t offsets[3];
    masu_plan_row rows[3] = {
        {.size_bytes = 8, .lower = 0, .upper = 4, .has_hint = true, .hint_offset = UINT64_MAX},
        {.size_bytes = 8, .lower = 0, .upper = 4, .alignment_bytes = 8, .has_hint = true},
        {.size_bytes = 4, .lower = 2, .upper = 6, .has_hint = true, .hint_offset = 2},
    };
    masu_plan_problem problem = {.rows = rows, .count = 3};
    rows[1].hint_offset = 3;
    assert_int_equal(plan(&problem, offsets).height_bytes, 20);
    rows[0].hint_offset = rows[1].hint_offset = rows[2].hint_offset = 8;
    assert_int_equal(plan(&problem, offsets).height_bytes, 20);
    assert_int_equal(offsets[0], 8); /* the largest, and the first of its size */
    rows[0].hint_offset = 1000;
    assert_int_equal(plan(&problem, offsets).height_bytes, 20);
    rows[2].is_fixed = true;
    rows[2].fixed_offset = 16;
    rows[0].hint_offset = 8;
    rows[1].hint_offset = 8;
    assert_int_equal(plan(&problem, offsets).height_bytes, 20);
    assert_int_equal(offsets[0], 8);
    assert_int_equal(offsets[1], 0);
}

/* Rows that are tied lend their place to no others: of two with one hint, one follows it, and so do all the rest. */
static void ties_are_of_their_own_rows(void **state) {
    (void)state;
    enum { COUNT = 260 };
    masu__rng rng;
    masu__rng_seed(&rng, 7);
    static masu_plan_row rows[COUNT];
    uint64_t before[COUNT], after[COUNT];
    const masu_plan_relation tie = {MASU_PLAN_MUST_SHARE, COUNT - 2, COUNT - 1};
    masu_plan_problem problem = draw(&rng, rows, COUNT);
    for (size_t i = 0; i < 2; i++) {
        rows[i].lower = 0;
        rows[i].upper = 90;
        rows[i].size_bytes = 160;
        rows[COUNT - 1 - i].size_bytes = 320;
        rows[COUNT - 1 - i].lower = 100;
        rows[COUNT - 1 - i].upper = 110;
    }
    problem.relations = &tie;
    problem.relation_count = 1;
    masu_plan_result first = plan(&problem, before);
    for (size_t i = 0; i < COUNT; i++)
        before[i] = first.height_bytes - before[i] - rows[i].size_bytes;
    hint(rows, COUNT, before);
    rows[1].hint_offset = rows[0].hint_offset;
    assert_int_equal(plan(&problem, after).height_bytes, first.height_bytes);
    assert_int_equal(count_followed(rows, COUNT, after), COUNT - 1);
}

/* With relations, gaps and fixed rows: still a right plan of the same height. */
static void hints_and_everything_else(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 3);
    static masu_plan_row rows[24];
    uint64_t offsets[24];
    for (int round = 0; round < 40; round++) {
        masu_plan_problem problem = draw(&rng, rows, 24);
        masu_plan_relation relations[2] = {
            {MASU_PLAN_MUST_NOT_SHARE, 1, 2},
            {masu__rng_below(&rng, 2) ? MASU_PLAN_MUST_SHARE : MASU_PLAN_MUST_NOT_SHARE, 3, 4}};
        masu_plan_gap gap = {.lower = rows[5].lower + 1, .upper = rows[5].lower + 2};
        if (rows[5].upper > gap.upper) {
            rows[5].gaps = &gap;
            rows[5].gap_count = 1;
        }
        rows[6].is_fixed = true;
        problem.relations = relations;
        problem.relation_count = 2;
        uint64_t height = plan(&problem, offsets).height_bytes;
        for (size_t i = 0; i < 24; i++)
            offsets[i] = 16 * masu__rng_below(&rng, height / 16);
        hint(rows, 24, offsets);
        assert_true(plan(&problem, offsets).height_bytes <= height);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_problem_gets_the_same_plan),
        cmocka_unit_test(most_rows_stay_when_some_change),
        cmocka_unit_test(bad_hints_do_no_harm),
        cmocka_unit_test(ties_are_of_their_own_rows),
        cmocka_unit_test(hints_and_everything_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
