/* Rows that fit together without waste: what is joined, what is not, and how near rectangles that were cut into a
 * thousand pieces come to their height again, beside fixed pieces too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <masu/plan.h>

#include "base/meta.h"
#include "base/rng.h"
#include "planner/fixed/assembly.h"

enum { MOST = 3000, UNIT = 64, HEIGHT = 1 << 20 };

/* ---- joins ------------------------------------------------------------------------------------- */

typedef struct joined {
    masu__plan_model model;
    masu__assembly *assembly;
    uint32_t left;
    masu_plan_row blocks[MOST];
} joined;

static void join_rows(joined *j, const masu_plan_problem *problem, uint32_t guessed) {
    bool unfit;
    assert_int_equal(masu__plan_model_open(problem, NULL, &j->model), MASU_OK);
    j->assembly = masu__assembly_create(&j->model, &unfit);
    assert_non_null(j->assembly);
    j->left = masu__assembly_join(j->assembly, j->model.bound, guessed, 1);
    assert_true(masu__assembly_valid(j->assembly));
    masu__assembly_rows(j->assembly, j->blocks);
}

static void end_join(joined *j) {
    masu__assembly_destroy(j->assembly);
    masu__plan_model_close(&j->model);
}

/* Each block at its anchor, or on the floor: where the rows are then. */
static void place(joined *j, const masu_plan_problem *problem, uint64_t *offsets) {
    int64_t items[MOST];
    uint64_t blocks[MOST];
    for (uint32_t i = 0; i < j->left; i++)
        blocks[i] = j->blocks[i].is_fixed ? j->blocks[i].fixed_offset : 0;
    assert_true(masu__assembly_offsets(j->assembly, blocks, items));
    masu__plan_model_rows(&j->model, problem, items, offsets);
}

/*   bb|ddd      one line at moment 2: a pile of two meets a pile of three
 *   aa|ccc
 *   aa|eee   */
static void two_piles_at_a_line_are_one_block(void **state) {
    (void)state;
    static joined j;
    masu_plan_row rows[] = {{.size_bytes = 2, .lower = 0, .upper = 2},
                            {.size_bytes = 4, .lower = 0, .upper = 2},
                            {.size_bytes = 1, .lower = 2, .upper = 5},
                            {.size_bytes = 3, .lower = 2, .upper = 5},
                            {.size_bytes = 2, .lower = 2, .upper = 5}};
    masu_plan_problem problem = {.rows = rows, .count = 5};
    uint64_t offsets[5];
    join_rows(&j, &problem, 0);
    assert_int_equal(j.left, 1);
    assert_int_equal(j.blocks[0].size_bytes, 6);
    place(&j, &problem, offsets);
    assert_int_equal(masu_plan_check(rows, 5, offsets, 6, NULL, NULL), MASU_PLAN_FINE);
    end_join(&j);
}

/* A fixed row anywhere in a pile says in which orders the others lie, and a second one which are left. */
static void fixed_rows_decide_the_order(void **state) {
    (void)state;
    static joined j;
    uint64_t offsets[5];
    for (uint64_t at = 0; at < 3; at++) {
        masu_plan_row rows[] = {
            {.size_bytes = 2, .lower = 0, .upper = 2, .is_fixed = true, .fixed_offset = 4 * (at > 0)},
            {.size_bytes = 4, .lower = 0, .upper = 2},
            {.size_bytes = 1, .lower = 2, .upper = 5, .is_fixed = true, .fixed_offset = at},
            {.size_bytes = 3, .lower = 2, .upper = 5},
            {.size_bytes = 2, .lower = 2, .upper = 5}};
        masu_plan_problem problem = {.rows = rows, .count = 5};
        join_rows(&j, &problem, 0);
        if (at == 1) { /* nothing of one byte lies below the third row */
            assert_true(j.left > 1);
        } else {
            assert_int_equal(j.left, 1);
            place(&j, &problem, offsets);
            assert_int_equal(masu_plan_check(rows, 5, offsets, 6, NULL, NULL), MASU_PLAN_FINE);
        }
        end_join(&j);
    }
}

/* More children than all orders are looked at of: one of them fixed in the middle, and the other side of the line says
 * where the pile lies. */
static void large_piles_are_filled_round_a_fixed_row(void **state) {
    (void)state;
    static joined j;
    enum { CHILDREN = 12, SUM = CHILDREN * (CHILDREN + 1) / 2 };
    masu_plan_row rows[CHILDREN + 1];
    uint64_t offsets[CHILDREN + 1];
    for (size_t i = 0; i < CHILDREN; i++)
        rows[i] = (masu_plan_row){.size_bytes = i + 1, .upper = 2};
    rows[4].is_fixed = true;
    rows[4].fixed_offset = 20;
    rows[CHILDREN] = (masu_plan_row){.size_bytes = SUM, .lower = 2, .upper = 5, .is_fixed = true};
    masu_plan_problem problem = {.rows = rows, .count = CHILDREN + 1};
    join_rows(&j, &problem, 0);
    assert_int_equal(j.left, 1);
    place(&j, &problem, offsets);
    assert_int_equal(masu_plan_check(rows, CHILDREN + 1, offsets, SUM, NULL, NULL), MASU_PLAN_FINE);
    end_join(&j);
}

/* Two lines at one moment: without a guess nothing is joined, with one each line is. */
static void lines_that_share_a_moment_take_a_guess(void **state) {
    (void)state;
    static joined j;
    masu_plan_row rows[] = {{.size_bytes = 4, .lower = 0, .upper = 3},
                            {.size_bytes = 6, .lower = 1, .upper = 3},
                            {.size_bytes = 4, .lower = 3, .upper = 7},
                            {.size_bytes = 6, .lower = 3, .upper = 8}};
    masu_plan_problem problem = {.rows = rows, .count = 4};
    join_rows(&j, &problem, 0);
    assert_int_equal(j.left, 4);
    end_join(&j);
    join_rows(&j, &problem, 4);
    assert_int_equal(j.left, 2);
    assert_int_equal(j.blocks[0].size_bytes + j.blocks[1].size_bytes, 10);
    end_join(&j);
}

/* Four pieces round a fifth: no line goes through, and nothing is joined. */
static void a_pinwheel_stays_in_pieces(void **state) {
    (void)state;
    static joined j;
    masu_plan_row rows[] = {{.size_bytes = 1, .lower = 0, .upper = 2},
                            {.size_bytes = 2, .lower = 2, .upper = 3},
                            {.size_bytes = 1, .lower = 1, .upper = 3},
                            {.size_bytes = 2, .lower = 0, .upper = 1},
                            {.size_bytes = 1, .lower = 1, .upper = 2}};
    masu_plan_problem problem = {.rows = rows, .count = 5};
    join_rows(&j, &problem, 4096);
    assert_int_equal(j.left, 5);
    end_join(&j);
}

/* Gaps, rows apart, sizes that alignments do not divide: not for joining. */
static void what_does_not_suit_is_refused(void **state) {
    (void)state;
    masu_plan_gap gap = {1, 2, 0, 0};
    masu_plan_row gapped[] = {{.size_bytes = 2, .upper = 3, .gaps = &gap, .gap_count = 1},
                              {.size_bytes = 2, .lower = 3, .upper = 4}};
    masu_plan_row odd[] = {{.size_bytes = 3, .upper = 3, .alignment_bytes = 2},
                           {.size_bytes = 3, .lower = 3, .upper = 4}};
    masu_plan_row plain[] = {{.size_bytes = 3, .upper = 3}, {.size_bytes = 3, .lower = 3, .upper = 4}};
    masu_plan_relation apart = {MASU_PLAN_MUST_NOT_SHARE, 0, 1};
    const masu_plan_problem problems[] = {{.rows = gapped, .count = 2},
                                          {.rows = odd, .count = 2},
                                          {.rows = plain, .count = 2, .relations = &apart, .relation_count = 1}};
    for (size_t i = 0; i < 3; i++) {
        masu__plan_model model;
        bool unfit = false;
        assert_int_equal(masu__plan_model_open(&problems[i], NULL, &model), MASU_OK);
        assert_null(masu__assembly_create(&model, &unfit));
        assert_true(unfit);
        masu__plan_model_close(&model);
    }
}

/* ---- cut rectangles ----------------------------------------------------------------------------- */

static double area(const masu_plan_row *row) {
    return (double)row->size_bytes * (double)(row->upper - row->lower);
}

/* Straight cuts, of a piece drawn or of the largest of some drawn, across its longer side or nearly so. */
static void cut_rectangle(masu_plan_row *rows, size_t count, int64_t moments, double fixed, bool by_area,
                          uint64_t seed) {
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    memset(rows, 0, count * sizeof *rows);
    rows[0] = (masu_plan_row){.size_bytes = HEIGHT, .upper = moments};
    for (size_t made = 1; made < count;) {
        masu_plan_row *row = &rows[masu__rng_below(&rng, made)], *half = &rows[made];
        for (size_t k = 0; by_area && k < made; k++)
            row = area(&rows[k]) > area(row) ? &rows[k] : row;
        double length = (double)(row->upper - row->lower) / (double)moments, size = (double)row->size_bytes / HEIGHT;
        bool upright = length * (0.5 + masu__rng_uniform(&rng)) > size * (0.5 + masu__rng_uniform(&rng));
        double part = 0.2 + 0.6 * masu__rng_uniform(&rng);
        int64_t at = row->lower + 1 + (int64_t)(part * (double)(row->upper - row->lower - 2));
        uint64_t below = UNIT * (1 + (uint64_t)(part * (double)(row->size_bytes / UNIT)));
        *half = *row;
        if (upright ? at >= row->upper : below >= row->size_bytes)
            continue;
        if (upright)
            row->upper = half->lower = at;
        else {
            row->size_bytes = below;
            half->size_bytes -= below;
            half->fixed_offset += below;
        }
        made++;
    }
    for (size_t i = 0; i < count; i++)
        rows[i].is_fixed = masu__rng_uniform(&rng) < fixed;
}

/* Within a twentieth of the bound, which is the height it was cut from; without a clock. */
static void cut_rectangles_are_laid_again(void **state) {
    (void)state;
    static masu_plan_row rows[MOST];
    static uint64_t offsets[MOST];
    static const struct {
        size_t count;
        double fixed;
        bool by_area;
    } kinds[] = {{1000, 0, true},    {1000, 0.01, true}, {1000, 0.1, true}, {1000, 0.25, true},
                 {1000, 0.1, false}, {3000, 0, true},    {3000, 0.1, true}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            masu_plan_problem problem = {.rows = rows, .count = kinds[k].count};
            masu_plan_options options = {.step_limit = 400000, .threads = 1};
            masu_plan_result result;
            cut_rectangle(rows, kinds[k].count, 4 * (int64_t)kinds[k].count, kinds[k].fixed, kinds[k].by_area, seed);
            assert_int_equal(masu_plan_find(&problem, &options, offsets, &result), MASU_OK);
            assert_int_equal(masu_plan_check_problem(&problem, offsets, result.height_bytes, NULL, NULL),
                             MASU_PLAN_FINE);
            assert_int_equal(result.lower_bound_bytes, HEIGHT);
            if (result.height_bytes > HEIGHT + HEIGHT / 20)
                fail_msg("kind %zu, seed %d: %.1f %% above", k, (int)seed,
                         100 * ((double)result.height_bytes / HEIGHT - 1));
            problem.capacity_bytes = result.height_bytes; /* to fit is no harder than to find the lowest */
            options.goal = MASU_PLAN_FIT;
            assert_int_equal(masu_plan_find(&problem, &options, offsets, &result), MASU_OK);
            assert_true(result.outcome == MASU_PLAN_FEASIBLE || result.outcome == MASU_PLAN_OPTIMAL);
            assert_int_equal(masu__meta_live_bytes(), 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_piles_at_a_line_are_one_block),
        cmocka_unit_test(fixed_rows_decide_the_order),
        cmocka_unit_test(large_piles_are_filled_round_a_fixed_row),
        cmocka_unit_test(lines_that_share_a_moment_take_a_guess),
        cmocka_unit_test(a_pinwheel_stays_in_pieces),
        cmocka_unit_test(what_does_not_suit_is_refused),
        cmocka_unit_test(cut_rectangles_are_laid_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
