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

static masu_plan_result find(const masu_plan_problem *problem, const masu_plan_options *options,
                             uint64_t *offsets) {
    masu_plan_result result;
    assert_int_equal(masu_plan_find(problem, options, offsets, &result), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
    bool none = result.outcome == MASU_PLAN_UNKNOWN && result.height_bytes == 0;
    if (result.outcome != MASU_PLAN_INFEASIBLE && !none)
        assert_int_equal(masu_plan_check_problem(problem, offsets, result.height_bytes, NULL, NULL),
                         MASU_PLAN_FINE);
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
static masu_plan_problem close_ties(const masu_plan_problem *problem,
                                    masu_plan_relation *relations) {
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
                relations[closed.relation_count++] =
                    (masu_plan_relation){MASU_PLAN_MUST_SHARE, j, i};
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
        d->rows[i] =
            (masu_plan_row){.size_bytes = 1 + masu__rng_below(rng, 4),
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
}

/* With few choices every plan is the lowest, proven, and what is impossible is known to be. */
static void groups_against_all_plans(void **state) {
    (void)state;
    static drawn d;
    masu__rng rng;
    masu__rng_seed(&rng, 71);
    uint64_t offsets[MOST];
    masu_plan_options options = {.threads = 2, .step_limit = 2000000};
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_against_all_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
