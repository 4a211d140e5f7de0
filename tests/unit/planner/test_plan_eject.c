/* Rows among fixed ones, in holes and apart: what the search that throws out finds, judged by the judge and by what the
 * problems were cut from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <masu/plan.h>

#include "base/meta.h"
#include "base/rng.h"
#include "planner/fixed/ejection.h"
#include "planner/fixed/untangle.h"

enum { MOST = 1000, UNIT = 64, HEIGHT = 1 << 20 };

typedef struct cut {
    masu_plan_row rows[MOST];
    masu_plan_problem problem;
} cut;

/* A rectangle cut into `count` by straight cuts; some stay where they were, the others lose a share of their size. */
static void cut_rectangle(cut *c, size_t count, double fixed, double smaller, uint64_t seed) {
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    memset(c, 0, sizeof *c);
    c->rows[0] = (masu_plan_row){.size_bytes = HEIGHT, .upper = 2 * (int64_t)count};
    for (size_t made = 1; made < count;) {
        masu_plan_row *row = &c->rows[masu__rng_below(&rng, made)], *half = &c->rows[made];
        *half = *row;
        if (masu__rng_below(&rng, 2) && row->upper - row->lower > 1) {
            int64_t at = row->lower + 1 + (int64_t)masu__rng_below(&rng, (uint64_t)(row->upper - row->lower - 1));
            row->upper = half->lower = at;
            made++;
        } else if (row->size_bytes > UNIT) {
            uint64_t below = UNIT * (1 + masu__rng_below(&rng, row->size_bytes / UNIT - 1));
            half->size_bytes -= below;
            half->fixed_offset += below;
            row->size_bytes = below;
            made++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        c->rows[i].alignment_bytes = UNIT;
        c->rows[i].is_fixed = masu__rng_uniform(&rng) < fixed;
        if (!c->rows[i].is_fixed && c->rows[i].size_bytes > UNIT)
            c->rows[i].size_bytes = (uint64_t)((double)c->rows[i].size_bytes * (1 - smaller)) / UNIT * UNIT + UNIT;
    }
    c->problem = (masu_plan_problem){.rows = c->rows, .count = count, .capacity_bytes = HEIGHT};
}

static masu_plan_result plan(const masu_plan_problem *problem, masu_plan_goal goal, uint64_t *offsets) {
    masu_plan_options options = {.goal = goal, .time_limit_s = 30, .threads = 1};
    masu_plan_result result;
    assert_int_equal(masu_plan_find(problem, &options, offsets, &result), MASU_OK);
    assert_int_equal(masu_plan_check_problem(problem, offsets, result.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    return result;
}

/* What the rectangle held fits into it again, and asking for the lowest comes no worse. */
static void cut_pieces_fit_around_fixed_ones(void **state) {
    (void)state;
    static cut c;
    static uint64_t offsets[MOST];
    static const struct {
        size_t count;
        double fixed, smaller;
    } kinds[] = {{50, 0.1, 0.05},  {200, 0.05, 0.2}, {200, 0.25, 0.05},
                 {400, 0.05, 0.1}, {400, 0.01, 0.3}, {1000, 0.1, 0.2}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            cut_rectangle(&c, kinds[k].count, kinds[k].fixed, kinds[k].smaller, seed);
            masu_plan_result fit = plan(&c.problem, MASU_PLAN_FIT, offsets);
            if (fit.height_bytes > HEIGHT)
                fail_msg("kind %zu, seed %d: %llu", k, (int)seed, (unsigned long long)fit.height_bytes);
            c.problem.capacity_bytes = 0;
            masu_plan_options options = {.goal = MASU_PLAN_MINIMIZE, .step_limit = 200000, .threads = 1};
            masu_plan_result least;
            assert_int_equal(masu_plan_find(&c.problem, &options, offsets, &least), MASU_OK);
            assert_true(least.height_bytes <= HEIGHT + HEIGHT / 20);
        }
}

/* Two views of one base keep its two ends, or one byte in its middle; what lies between is free, and holds a third
 * row. */
static void holes_between_tied_rows_are_used(void **state) {
    (void)state;
    const masu_plan_gap ends = {0, 4, 6, 8}, middle = {0, 4, 3, 5};
    masu_plan_row rows[] = {{.size_bytes = 8, .lower = 0, .upper = 5, .gaps = &ends, .gap_count = 1},
                            {.size_bytes = 2, .lower = 0, .upper = 4},
                            {.size_bytes = 4, .lower = 0, .upper = 4},
                            {.size_bytes = 1, .lower = 1, .upper = 2}};
    const masu_plan_relation tie = {MASU_PLAN_MUST_SHARE, 0, 1};
    masu_plan_problem problem = {.rows = rows, .count = 3, .relations = &tie, .relation_count = 1};
    uint64_t offsets[4];
    masu_plan_result result = plan(&problem, MASU_PLAN_MINIMIZE, offsets);
    assert_int_equal(result.height_bytes, 8);
    assert_true(result.optimal);
    rows[0].gaps = &middle; /* [0, 2) and [3, 5): between them one byte, behind them three */
    rows[2].size_bytes = 3;
    problem.count = 4;
    result = plan(&problem, MASU_PLAN_MINIMIZE, offsets);
    assert_int_equal(result.height_bytes, 8);
    assert_int_equal(offsets[3] - offsets[0], 2);
    assert_int_equal(offsets[2] - offsets[0], 5);
}

/* Below a window that does not begin at the row's offset another row fits that starts above it. */
static void windows_let_others_pass_below(void **state) {
    (void)state;
    const masu_plan_gap upper = {0, 2, 4, 6};
    const masu_plan_row rows[] = {{.size_bytes = 6, .lower = 0, .upper = 3, .gaps = &upper, .gap_count = 1},
                                  {.size_bytes = 4, .lower = 0, .upper = 2},
                                  {.size_bytes = 6, .lower = 3, .upper = 4}};
    const masu_plan_problem problem = {.rows = rows, .count = 3};
    uint64_t offsets[3];
    masu_plan_result result = plan(&problem, MASU_PLAN_MINIMIZE, offsets);
    assert_int_equal(result.height_bytes, 6);
    assert_true(result.optimal);
}

/* ---- the search itself ------------------------------------------------------------------------ */

static bool never(void *context) {
    (void)context;
    return false;
}

static bool at_once(void *context) {
    (void)context;
    return true;
}

static void ends_and_memory(void **state) {
    (void)state;
    static cut c;
    int64_t offsets[MOST];
    masu__plan_model model;
    bool too_large;
    const masu__plan_stop go_on = {never, NULL}, stop = {at_once, NULL};
    cut_rectangle(&c, 200, 0.1, 0.2, 5);
    assert_int_equal(masu__plan_model_open(&c.problem, NULL, &model), MASU_OK);
    for (uint64_t nth = 1;; nth++) {
        masu__fault_arm(nth);
        masu__ejection *e = masu__ejection_create(&model, &too_large);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_false(too_large);
        assert_int_equal(e == NULL, fired);
        if (!e)
            continue;
        assert_int_equal(masu__ejection_run(e, HEIGHT, 0, UINT64_MAX, &go_on, offsets), MASU__SEARCH_FOUND);
        assert_true(masu__ejection_valid(e));
        assert_true(masu__ejection_steps(e) >= model.item_count);
        assert_int_equal(masu__ejection_run(e, HEIGHT, 0, model.item_count - 1, &go_on, offsets), MASU__SEARCH_LIMIT);
        assert_int_equal(masu__ejection_run(e, HEIGHT, 0, UINT64_MAX, &stop, offsets), MASU__SEARCH_STOPPED);
        assert_int_equal(masu__ejection_run(e, UNIT, 0, UINT64_MAX, &go_on, offsets), MASU__SEARCH_EXHAUSTED);
        masu__ejection_destroy(e);
        break;
    }
    masu__plan_model_close(&model);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* Odd sizes, offsets and alignments of every kind, gaps with windows: each plan that is found is one for the judge. */
static void unlike_alignments(void **state) {
    (void)state;
    enum { ROWS = 12, ROUNDS = 300 };
    const masu__plan_stop go_on = {never, NULL};
    masu__rng rng;
    masu__rng_seed(&rng, 77);
    int found = 0, untangled = 0;
    for (int round = 0; round < ROUNDS; round++) {
        masu_plan_row rows[ROWS] = {0};
        masu_plan_gap gaps[ROWS];
        for (int i = 0; i < ROWS; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, 8);
            rows[i] = (masu_plan_row){.size_bytes = 2 + masu__rng_below(&rng, 9),
                                      .lower = lower,
                                      .upper = lower + 2 + (int64_t)masu__rng_below(&rng, 6),
                                      .alignment_bytes = (uint64_t)1 << masu__rng_below(&rng, 5),
                                      .is_fixed = i < 2};
            rows[i].fixed_offset = i < 2 ? rows[i].alignment_bytes + 32 * (uint64_t)i : 0;
            gaps[i] = (masu_plan_gap){lower, lower + 1, 1, 2};
            rows[i].gaps = &gaps[i];
            rows[i].gap_count = masu__rng_below(&rng, 2);
        }
        masu_plan_problem problem = {.rows = rows, .count = ROWS};
        masu__plan_model model;
        bool too_large;
        int64_t offsets[ROWS];
        uint64_t row_offsets[ROWS];
        assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
        masu__ejection *e = masu__ejection_create(&model, &too_large);
        assert_non_null(e);
        int64_t height = model.bound + (int64_t)masu__rng_below(&rng, 16);
        if (masu__ejection_run(e, height, (uint64_t)round, 2000, &go_on, offsets) == MASU__SEARCH_FOUND) {
            found++;
            masu__plan_model_rows(&model, &problem, offsets, row_offsets);
            assert_int_equal(masu_plan_check_problem(&problem, row_offsets, (uint64_t)height, NULL, NULL),
                             MASU_PLAN_FINE);
        }
        masu__untangle *u = masu__untangle_create(masu__ejection_clashes(e));
        assert_non_null(u);
        while (masu__ejection_run(e, height, (uint64_t)round, 2000, &go_on, offsets) != MASU__SEARCH_FOUND)
            height += height / 4;
        for (;; untangled++) {
            height = masu__plan_model_height(&model, offsets) - 1;
            if (height < model.bound ||
                masu__untangle_run(u, height, (uint64_t)round, 500, &go_on, offsets) != MASU__SEARCH_FOUND)
                break;
            assert_true(masu__untangle_valid(u));
            masu__plan_model_rows(&model, &problem, offsets, row_offsets);
            assert_int_equal(masu_plan_check_problem(&problem, row_offsets, (uint64_t)height, NULL, NULL),
                             MASU_PLAN_FINE);
        }
        masu__untangle_destroy(u);
        masu__ejection_destroy(e);
        masu__plan_model_close(&model);
    }
    assert_true(found > ROUNDS / 4 && untangled > ROUNDS / 4);
}

/* Overlaps made fewer: from a plan a fourth too high down to the height that was cut, the same way each time. */
static void overlaps_are_untangled(void **state) {
    (void)state;
    static cut c;
    static int64_t offsets[MOST], lower[MOST];
    masu__plan_model model;
    bool too_large;
    const masu__plan_stop go_on = {never, NULL}, stop = {at_once, NULL};
    cut_rectangle(&c, 200, 0.1, 0.1, 5);
    assert_int_equal(masu__plan_model_open(&c.problem, NULL, &model), MASU_OK);
    masu__ejection *e = masu__ejection_create(&model, &too_large);
    assert_non_null(e);
    assert_int_equal(masu__ejection_run(e, HEIGHT * 5 / 4, 0, UINT64_MAX, &go_on, offsets), MASU__SEARCH_FOUND);
    assert_true(masu__plan_model_height(&model, offsets) > HEIGHT);
    for (uint64_t nth = 1;; nth++) {
        masu__fault_arm(nth);
        masu__untangle *u = masu__untangle_create(masu__ejection_clashes(e));
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_int_equal(u == NULL, fired);
        if (!u)
            continue;
        uint64_t steps = 0;
        for (int again = 0; again < 2; again++) {
            memcpy(lower, offsets, sizeof lower);
            assert_int_equal(masu__untangle_run(u, HEIGHT, 3, 400000, &go_on, lower), MASU__SEARCH_FOUND);
            assert_true(masu__plan_model_height(&model, lower) <= HEIGHT && masu__untangle_valid(u));
            assert_true(again == 0 || masu__untangle_steps(u) == steps);
            steps = masu__untangle_steps(u);
        }
        memcpy(lower, offsets, sizeof lower);
        assert_int_equal(masu__untangle_run(u, HEIGHT, 3, steps - 1, &go_on, lower), MASU__SEARCH_LIMIT);
        memcpy(lower, offsets, sizeof lower);
        assert_int_equal(masu__untangle_run(u, HEIGHT, 3, UINT64_MAX, &stop, lower), MASU__SEARCH_STOPPED);
        memcpy(lower, offsets, sizeof lower);
        assert_int_equal(masu__untangle_run(u, UNIT, 3, UINT64_MAX, &go_on, lower), MASU__SEARCH_EXHAUSTED);
        masu__untangle_destroy(u);
        break;
    }
    masu__ejection_destroy(e);
    masu__plan_model_close(&model);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* Rows one after the other, and rows that all live at once: more than it looks at. */
static void what_is_too_large_is_left_to_others(void **state) {
    (void)state;
    enum { MANY = (1 << 15) + 1, CROWD = 3000 };
    static masu_plan_row rows[MANY];
    for (int crowd = 0; crowd < 2; crowd++) {
        masu_plan_problem problem = {.rows = rows, .count = crowd ? CROWD : MANY};
        for (size_t i = 0; i < problem.count; i++)
            rows[i] = (masu_plan_row){.size_bytes = 1, .lower = crowd ? 0 : (int64_t)i, .upper = (int64_t)i + 1};
        masu__plan_model model;
        bool too_large = false;
        assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
        assert_null(masu__ejection_create(&model, &too_large));
        assert_true(too_large);
        masu__plan_model_close(&model);
    }
    assert_int_equal(masu__meta_live_bytes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_pieces_fit_around_fixed_ones),
        cmocka_unit_test(holes_between_tied_rows_are_used),
        cmocka_unit_test(windows_let_others_pass_below),
        cmocka_unit_test(ends_and_memory),
        cmocka_unit_test(unlike_alignments),
        cmocka_unit_test(overlaps_are_untangled),
        cmocka_unit_test(what_is_too_large_is_left_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
