/* Groups: rows that must, may or must not share bytes, against all plans of tiny problems; and re-plans, reasons,
 * threads and cancellation on problems with everything in them. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <masu/plan.h>

#include "base/meta.h"
#include "base/rng.h"

enum { TINY = 5, MOST_RELATIONS = 4, MOST = 120 };

typedef struct drawn {
    masu_plan_row rows[MOST];
    masu_plan_gap gaps[MOST];
    masu_plan_relation relations[MOST_RELATIONS];
    masu_plan_problem problem;
} drawn;

static masu_plan_result find(const masu_plan_problem *problem, const masu_plan_options *options, uint64_t *offsets) {
    masu_plan_result result;
    assert_int_equal(masu_plan_find(problem, options, offsets, &result), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
    bool none = result.outcome == MASU_PLAN_UNKNOWN && result.height_bytes == 0;
    if (result.outcome != MASU_PLAN_INFEASIBLE && !none)
        assert_int_equal(masu_plan_check_problem(problem, offsets, result.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    return result;
}

/* ---- tiny problems --------------------------------------------------------------------------- */

typedef struct exhaustive {
    const masu_plan_problem *problem; /* each tie of ties written down */
    masu_plan_relation relations[MOST_RELATIONS + TINY * TINY];
    uint64_t offsets[TINY + 1], limit;
} exhaustive;

static bool prefix_is_right(exhaustive *e, size_t count) {
    masu_plan_problem part = {e->problem->rows, count, e->relations, 0, 0};
    for (size_t i = 0; i < e->problem->relation_count; i++)
        if (e->problem->relations[i].a < count && e->problem->relations[i].b < count)
            e->relations[part.relation_count++] = e->problem->relations[i];
    return masu_plan_check_problem(&part, e->offsets, e->limit, NULL, NULL) == MASU_PLAN_FINE;
}

static bool place_from(exhaustive *e, size_t row) {
    if (row >= TINY || row == e->problem->count)
        return true;
    for (uint64_t at = 0; at + e->problem->rows[row].size_bytes <= e->limit; at++) {
        e->offsets[row] = at;
        if (prefix_is_right(e, row + 1) && place_from(e, row + 1))
            return true;
    }
    return false;
}

/* Rows tied over others are tied. */
static masu_plan_problem close_ties(const masu_plan_problem *problem, masu_plan_relation *relations) {
    bool tied[TINY][TINY] = {0};
    masu_plan_problem closed = *problem;
    closed.relations = relations;
    for (size_t i = 0; i < problem->relation_count; i++) {
        const masu_plan_relation *r = &problem->relations[i];
        relations[i] = *r;
        if (r->kind == MASU_PLAN_MUST_SHARE)
            tied[r->a][r->b] = tied[r->b][r->a] = true;
    }
    for (size_t k = 0; k < TINY; k++)
        for (size_t i = 0; i < TINY; i++)
            for (size_t j = 0; j < TINY; j++)
                tied[i][j] |= tied[i][k] && tied[k][j];
    for (size_t i = 0; i < TINY; i++)
        for (size_t j = 0; j < i; j++)
            if (tied[i][j])
                relations[closed.relation_count++] = (masu_plan_relation){MASU_PLAN_MUST_SHARE, j, i};
    return closed;
}

/* UINT64_MAX: none up to 20. */
static uint64_t lowest_height(const masu_plan_problem *problem) {
    masu_plan_relation relations[MOST_RELATIONS + TINY * TINY];
    masu_plan_problem closed = close_ties(problem, relations);
    exhaustive e = {.problem = &closed};
    for (e.limit = 0; e.limit <= 20; e.limit++)
        if (place_from(&e, 0))
            return e.limit;
    return UINT64_MAX;
}

/* Lives that follow one another, as those of operators do: what may share is in place, or a view. */
static void draw_tiny(masu__rng *rng, drawn *d) {
    *d = (drawn){0};
    d->problem = (masu_plan_problem){.rows = d->rows, .relations = d->relations};
    d->problem.count = 2 + masu__rng_below(rng, TINY - 1);
    for (size_t i = 0; i < d->problem.count; i++) {
        int64_t lower = (int64_t)(i + masu__rng_below(rng, 2));
        d->rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(rng, 4),
                                     .lower = lower,
                                     .upper = lower + 2 + (int64_t)masu__rng_below(rng, 3)};
    }
    d->problem.relation_count = 1 + masu__rng_below(rng, MOST_RELATIONS - 1);
    for (size_t i = 0; i < d->problem.relation_count; i++) {
        size_t a = masu__rng_below(rng, d->problem.count - 1);
        size_t b = a + 1 + masu__rng_below(rng, d->problem.count - a - 1);
        uint64_t kind = masu__rng_below(rng, 4);
        d->relations[i] = (masu_plan_relation){kind == 0   ? MASU_PLAN_MUST_SHARE
                                               : kind == 1 ? MASU_PLAN_MUST_NOT_SHARE
                                                           : MASU_PLAN_MAY_SHARE,
                                               a, b};
    }
    if (masu__rng_below(rng, 4) == 0) {
        d->rows[0].is_fixed = true;
        d->rows[0].fixed_offset = masu__rng_below(rng, 4);
    }
}

/* With few choices every plan is the lowest, proven, and what is impossible is known to be: within a
 * compiler's number of steps. */
static void groups_against_all_plans(void **state) {
    (void)state;
    static drawn d;
    masu__rng rng;
    masu__rng_seed(&rng, 71);
    uint64_t offsets[MOST];
    masu_plan_options options = {.threads = 2, .step_limit = 20000};
    size_t lowest_found = 0, plans = 0, impossible = 0;
    for (int round = 0; round < 600; round++) {
        draw_tiny(&rng, &d);
        uint64_t lowest = lowest_height(&d.problem);
        masu_plan_result r = find(&d.problem, &options, offsets);
        if (lowest == UINT64_MAX) {
            assert_int_equal(r.outcome, MASU_PLAN_INFEASIBLE);
            impossible++;
            continue;
        }
        assert_int_not_equal(r.outcome, MASU_PLAN_INFEASIBLE);
        assert_true(r.lower_bound_bytes <= lowest && r.optimal);
        plans++;
        lowest_found += r.height_bytes == lowest;
    }
    assert_true(plans > 400 && impossible > 20);
    assert_int_equal(lowest_found, plans);
}

/* ---- reasons --------------------------------------------------------------------------------- */

static void add_gap_and_fix(masu__rng *rng, drawn *d) {
    for (size_t i = 0; i < d->problem.count; i++)
        if (masu__rng_below(rng, 2) && d->rows[i].upper - d->rows[i].lower > 2) {
            d->gaps[i] = (masu_plan_gap){
                .lower = d->rows[i].lower + 1, .upper = d->rows[i].lower + 2, .window_upper = masu__rng_below(rng, 2)};
            d->rows[i].gaps = &d->gaps[i];
            d->rows[i].gap_count = 1;
        }
    d->rows[0].is_fixed = masu__rng_below(rng, 2);
    d->rows[0].fixed_offset = d->rows[0].is_fixed ? masu__rng_below(rng, 3) : 0;
}

/* The chosen rows, and the relations among them. */
static masu_plan_problem part_of(const drawn *d, const size_t *rows, size_t count, size_t without, drawn *out) {
    size_t number[TINY];
    memset(number, 0xFF, sizeof number);
    out->problem = d->problem;
    out->problem.rows = out->rows;
    out->problem.relations = out->relations;
    out->problem.count = out->problem.relation_count = 0;
    for (size_t i = 0; i < count; i++)
        if (i != without) {
            number[rows[i]] = out->problem.count;
            out->rows[out->problem.count++] = d->rows[rows[i]];
        }
    for (size_t i = 0; i < d->problem.relation_count; i++) {
        const masu_plan_relation *r = &d->relations[i];
        if (number[r->a] != SIZE_MAX && number[r->b] != SIZE_MAX)
            out->relations[out->problem.relation_count++] = (masu_plan_relation){r->kind, number[r->a], number[r->b]};
    }
    return out->problem;
}

/* With gaps, windows, a fixed row and rows to be kept apart: the set cannot be placed, by all plans; without any one
 * of its rows it can. */
static void reasons_are_as_small_as_can_be(void **state) {
    (void)state;
    static drawn d, part;
    masu__rng rng;
    masu__rng_seed(&rng, 73);
    size_t reasons = 0;
    for (int round = 0; round < 250; round++) {
        draw_tiny(&rng, &d);
        for (size_t i = 0; i < d.problem.relation_count; i++)
            d.relations[i].kind = MASU_PLAN_MUST_NOT_SHARE;
        add_gap_and_fix(&rng, &d);
        uint64_t lowest = lowest_height(&d.problem);
        if (lowest == UINT64_MAX || lowest < 2)
            continue;
        d.problem.capacity_bytes = lowest - 1;
        masu_plan_options options = {.step_limit = 2000000};
        size_t rows[TINY], count;
        bool minimal;
        assert_int_equal(masu_plan_core(&d.problem, &options, rows, &count, &minimal), MASU_OK);
        assert_true(count > 0 && minimal);
        for (size_t without = 0; without <= count; without++) {
            masu_plan_problem problem = part_of(&d, rows, count, without, &part);
            assert_true((lowest_height(&problem) < lowest) == (without < count));
        }
        reasons++;
    }
    assert_true(reasons > 150);
}

/* ---- hints ----------------------------------------------------------------------------------- */

/* b at its hint lies in a's gap: only the gap lets it. */
static void hints_that_a_gap_makes_possible(void **state) {
    (void)state;
    masu_plan_gap gap = {.lower = 2, .upper = 6};
    masu_plan_row rows[] = {{.size_bytes = 16, .upper = 8, .gaps = &gap, .gap_count = 1, .has_hint = true},
                            {.size_bytes = 8, .lower = 2, .upper = 6, .has_hint = true, .hint_offset = 4},
                            {.size_bytes = 4, .lower = 2, .upper = 6, .has_hint = true, .hint_offset = 12}};
    masu_plan_problem problem = {.rows = rows, .count = 3};
    masu_plan_options options = {.step_limit = 5000, .threads = 1};
    uint64_t offsets[3];
    masu_plan_result r = find(&problem, &options, offsets);
    assert_int_equal(r.height_bytes, 16);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(offsets[i], rows[i].hint_offset);
}

static void draw_many(masu__rng *rng, drawn *d, bool all) {
    *d = (drawn){0};
    d->problem = (masu_plan_problem){.rows = d->rows, .count = MOST, .relations = d->relations};
    for (size_t i = 0; i < MOST; i++) {
        int64_t lower = (int64_t)masu__rng_below(rng, 80);
        d->rows[i] = (masu_plan_row){.size_bytes = 16 * (1 + masu__rng_below(rng, 40)),
                                     .lower = lower,
                                     .upper = lower + 4 + (int64_t)masu__rng_below(rng, 20),
                                     .alignment_bytes = 16};
        if (!all || i % 4 != 0)
            continue;
        d->gaps[i] = (masu_plan_gap){
            .lower = lower + 1, .upper = lower + 3, .window_upper = masu__rng_below(rng, 2) * 16};
        d->rows[i].gaps = &d->gaps[i];
        d->rows[i].gap_count = 1;
    }
    if (all) {
        d->relations[0] = (masu_plan_relation){MASU_PLAN_MUST_NOT_SHARE, 1, 2};
        d->relations[1] = (masu_plan_relation){MASU_PLAN_MUST_SHARE, 3, 5};
        d->problem.relation_count = 2;
    }
}

/* Whatever is in the problem: an unchanged one keeps every offset, and one of 120 rows changed keeps most. */
static void replans_stay_where_they_were(void **state) {
    (void)state;
    static drawn d;
    static uint64_t before[MOST], after[MOST];
    masu__rng rng;
    masu__rng_seed(&rng, 75);
    masu_plan_options options = {.step_limit = 5000, .threads = 1};
    size_t kept = 0, all = 0;
    for (int round = 0; round < 6; round++) {
        draw_many(&rng, &d, round % 2);
        masu_plan_result first = find(&d.problem, &options, before);
        for (size_t i = 0; i < MOST; i++) {
            d.rows[i].has_hint = true;
            d.rows[i].hint_offset = before[i];
        }
        options.seed = 1 + (uint64_t)round; /* what it would find by itself is another plan */
        assert_int_equal(find(&d.problem, &options, after).height_bytes, first.height_bytes);
        assert_memory_equal(before, after, sizeof before);
        d.rows[MOST / 2].size_bytes += 16;
        find(&d.problem, &options, after);
        for (size_t i = 0; i < MOST; i++)
            kept += after[i] == before[i];
        all += MOST;
    }
    assert_true(kept * 10 > all * 8);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void one_thread_or_two(void **state) {
    (void)state;
    static drawn d;
    static uint64_t one[MOST], two[MOST];
    masu__rng rng;
    masu__rng_seed(&rng, 77);
    for (int round = 0; round < 12; round++) {
        draw_many(&rng, &d, round % 3 == 2);
        masu_plan_options options = {.step_limit = 30000, .threads = 1, .seed = (uint64_t)round};
        masu_plan_result a = find(&d.problem, &options, one);
        options.threads = 2;
        masu_plan_result b = find(&d.problem, &options, two);
        assert_memory_equal(one, two, sizeof one);
        assert_true(a.height_bytes == b.height_bytes && a.outcome == b.outcome);
        assert_true(a.lower_bound_bytes == b.lower_bound_bytes);
    }
}

static void *cancel_soon(void *flag) {
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    masu_plan_cancel(flag);
    return NULL;
}

/* With choices, gaps and ties, wherever the planner is: its best plan comes back, and it is right. */
static void cancelled_anywhere(void **state) {
    (void)state;
    static drawn d;
    static uint64_t offsets[MOST];
    masu__rng rng;
    masu__rng_seed(&rng, 79);
    for (int round = 0; round < 8; round++) {
        draw_many(&rng, &d, round % 2);
        for (size_t i = 0; i < MOST_RELATIONS && round % 4 < 2; i++)
            d.relations[d.problem.relation_count++ % MOST_RELATIONS] = (masu_plan_relation){MASU_PLAN_MAY_SHARE,
                                                                                            10 + 2 * i, 11 + 2 * i};
        if (d.problem.relation_count > MOST_RELATIONS)
            d.problem.relation_count = MOST_RELATIONS;
        masu_plan_cancel_flag flag = {0};
        masu_plan_options options = {.cancel = &flag, .time_limit_s = 60};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &flag), 0);
        masu_plan_result r = find(&d.problem, &options, offsets);
        pthread_join(thread, NULL);
        assert_true(r.height_bytes > 0 && r.seconds < 30);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_against_all_plans),
        cmocka_unit_test(reasons_are_as_small_as_can_be),
        cmocka_unit_test(hints_that_a_gap_makes_possible),
        cmocka_unit_test(replans_stay_where_they_were),
        cmocka_unit_test(one_thread_or_two),
        cmocka_unit_test(cancelled_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
