/* plan.c: the planner's calls: check, solve, hand over. */
#include <masu/plan.h>

#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "planner/search/follow_hints.h"
#include "planner/search/solver.h"
#include "planner/share/alias.h"

masu_plan_options masu_plan_options_default(void) {
    return (masu_plan_options){.goal = MASU_PLAN_MINIMIZE, .time_limit_s = 10, .threads = 2};
}

void masu_plan_cancel(masu_plan_cancel_flag *flag) {
    __atomic_store_n(&flag->raised, 1, __ATOMIC_RELAXED);
}

static masu_status status_of(masu_plan_mistake mistake) {
    return mistake == MASU_PLAN_RIGHT       ? MASU_OK
           : mistake == MASU_PLAN_TOO_LARGE ? MASU_ERR_OVERFLOW
                                            : MASU_ERR_INVALID_ARGUMENT;
}

/* Rows tied to each other and to be kept apart at once, or fixed ones that collide: no search
 * would see it. */
static bool contradicts(const masu__solver *s) {
    const masu__plan_model *m = &s->model;
    for (uint32_t i = 0; i < m->apart_count; i++)
        if (m->apart[i].a == m->apart[i].b)
            return true;
    return m->contradiction;
}

static int by_birth(const void *a, const void *b) {
    const masu__plan_obstacle *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Each against those born during its life. */
static bool obstacles_collide(masu__solver *s) {
    uint32_t count = s->model.obstacle_count;
    size_t bytes = count * sizeof(masu__plan_obstacle);
    masu__plan_obstacle *sorted = count > 0 ? masu__meta_alloc(bytes) : NULL;
    bool collide = false;
    s->out_of_memory |= count > 0 && !sorted;
    if (!sorted)
        return false;
    memcpy(sorted, s->model.obstacles, bytes);
    qsort(sorted, count, sizeof *sorted, by_birth);
    for (uint32_t i = 0; i < count && !collide; i++)
        for (uint32_t j = i + 1; j < count && sorted[j].first < sorted[i].end && !collide; j++)
            collide = sorted[j].first < sorted[j].end && sorted[i].offset < sorted[j].offset + sorted[j].size &&
                      sorted[j].offset < sorted[i].offset + sorted[i].size;
    masu__meta_free(sorted, bytes);
    return collide;
}

static int64_t capacity_of(const masu_plan_problem *problem) {
    return problem->capacity_bytes > 0 && problem->capacity_bytes < (uint64_t)MASU__PLAN_MOST
               ? (int64_t)problem->capacity_bytes
               : MASU__PLAN_MOST;
}

/* All rows are fixed, and they meet in holes of their groups: there is nothing to look for, only to judge, and when
 * that is wrong, no plan is right. */
static void judge_fixed(masu__solver *s) {
    const masu_plan_problem *p = s->problem;
    uint64_t *offsets = masu__meta_calloc(p->count + 1, sizeof *offsets);
    s->out_of_memory |= !offsets;
    if (!offsets)
        return;
    masu__plan_model_rows(&s->model, p, s->offsets, offsets);
    int64_t height = masu__plan_model_height(&s->model, s->offsets);
    masu_plan_verdict verdict = masu_plan_check_problem(p, offsets, (uint64_t)height, NULL, NULL);
    if (verdict == MASU_PLAN_FINE)
        masu__solver_offer(s, s->offsets, height, "none");
    else if (verdict == MASU_PLAN_OVERLAP)
        s->bound = INT64_MAX;
    masu__meta_free(offsets, (p->count + 1) * sizeof *offsets);
}

static void run(masu__solver *s) {
    bool collide = obstacles_collide(s);
    if (contradicts(s) || (collide && !s->model.holes)) {
        s->bound = INT64_MAX;
        return;
    }
    if (collide) { /* holes of theirs may: where anything is to be placed nothing is known */
        if (s->model.item_count == 0)
            judge_fixed(s);
        return;
    }
    if (s->out_of_memory)
        return;
    if (s->model.item_count == 0) {
        masu__solver_offer(s, s->offsets, masu__plan_model_height(&s->model, s->offsets), "none");
        return;
    }
    if (s->bound > capacity_of(s->problem))
        return;
    if (s->options->only > 0 && masu__solver_only(s, s->options->only))
        return;
    if (s->options->goal == MASU_PLAN_FIT)
        masu__solver_fit(s, capacity_of(s->problem));
    else
        masu__solver_minimize(s);
}

masu_status masu__plan_find_merged(const masu_plan_problem *problem, const bool *merged,
                                   const masu_plan_options *options, uint64_t *offsets, masu_plan_result *result) {
    masu__solver s;
    masu_status status = masu__solver_open(&s, problem, merged, options);
    if (status != MASU_OK)
        return status;
    run(&s);
    if (s.out_of_memory) {
        masu__solver_close(&s);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    *result = masu__solver_result(&s);
    if (result->outcome != MASU_PLAN_INFEASIBLE)
        masu__plan_model_rows(&s.model, problem, s.best_offsets, offsets);
    masu__solver_close(&s);
    return MASU_OK;
}

static bool has_choices(const masu_plan_problem *problem) {
    for (size_t i = 0; i < problem->relation_count; i++)
        if (problem->relations[i].kind == MASU_PLAN_MAY_SHARE)
            return true;
    return false;
}

masu_status masu__plan_find_once(const masu_plan_problem *problem, const masu_plan_options *options, uint64_t *offsets,
                                 masu_plan_result *result) {
    masu_plan_options defaults = masu_plan_options_default();
    if (!problem || !result || (problem->count > 0 && (!problem->rows || !offsets)) ||
        (problem->relation_count > 0 && !problem->relations))
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = status_of(masu_plan_validate(problem, NULL));
    if (status != MASU_OK)
        return status;
    options = options ? options : &defaults;
    status = has_choices(problem) ? masu__plan_find_shared(problem, options, offsets, result)
                                  : masu__plan_find_merged(problem, NULL, options, offsets, result);
    if (status == MASU_OK)
        masu__plan_follow_hints(problem, options, offsets, result);
    return status;
}

/* ---- the last resort to fit ------------------------------------------------------------------------ */

static bool is_over(const masu_plan_options *o, double left_s) {
    return (o->cancel && __atomic_load_n(&o->cancel->raised, __ATOMIC_RELAXED)) || (o->time_limit_s > 0 && left_s <= 0);
}

/* The better plan of both, the higher bound, the work of both; judged by the capacity. */
static void take_better(const masu_plan_problem *p, const masu_plan_result *minimized, const uint64_t *lower,
                        uint64_t *offsets, masu_plan_result *result) {
    masu_plan_result both = *result;
    if (minimized->height_bytes > 0 && (both.height_bytes == 0 || minimized->height_bytes < both.height_bytes)) {
        both.height_bytes = minimized->height_bytes;
        both.order = minimized->order;
        memcpy(offsets, lower, p->count * sizeof *offsets);
    }
    if (minimized->lower_bound_bytes > both.lower_bound_bytes)
        both.lower_bound_bytes = minimized->lower_bound_bytes;
    bool fits = both.height_bytes > 0 && both.height_bytes <= p->capacity_bytes;
    both.outcome = both.lower_bound_bytes > p->capacity_bytes    ? MASU_PLAN_INFEASIBLE
                   : !fits                                       ? MASU_PLAN_UNKNOWN
                   : both.height_bytes <= both.lower_bound_bytes ? MASU_PLAN_OPTIMAL
                                                                 : MASU_PLAN_FEASIBLE;
    both.optimal = both.outcome == MASU_PLAN_OPTIMAL;
    both.height_bytes = both.outcome == MASU_PLAN_INFEASIBLE ? 0 : both.height_bytes;
    both.steps += minimized->steps;
    both.attempts += minimized->attempts;
    both.placements += minimized->placements;
    both.seconds += minimized->seconds;
    *result = both;
}

/* A number of steps that finds a plan without a capacity finds it with one: what a search for the capacity did not
 * find, the same call without one is asked for, with as many steps again. Where memory runs out the first answer
 * stays. */
static void minimize_instead(const masu_plan_problem *problem, const masu_plan_options *options, uint64_t *offsets,
                             masu_plan_result *result) {
    masu_plan_problem question = *problem;
    masu_plan_options mine = *options;
    masu_plan_result minimized;
    double left_s = options->time_limit_s - result->seconds;
    size_t bytes = (problem->count + 1) * sizeof *offsets;
    uint64_t *lower = is_over(options, left_s) ? NULL : masu__meta_calloc(1, bytes);
    if (!lower)
        return;
    question.capacity_bytes = 0;
    mine.goal = MASU_PLAN_MINIMIZE;
    mine.time_limit_s = options->time_limit_s > 0 ? left_s : 0;
    mine.improved = NULL;
    uint64_t before = result->height_bytes;
    if (masu__plan_find_once(&question, &mine, lower, &minimized) == MASU_OK) {
        take_better(problem, &minimized, lower, offsets, result);
        if (options->improved && result->height_bytes > 0 && (before == 0 || result->height_bytes < before))
            options->improved(options->context, result, offsets);
    }
    masu__meta_free(lower, bytes);
}

masu_status masu_plan_find(const masu_plan_problem *problem, const masu_plan_options *options, uint64_t *offsets,
                           masu_plan_result *result) {
    masu_status status = masu__plan_find_once(problem, options, offsets, result);
    if (status == MASU_OK && options && options->goal == MASU_PLAN_FIT && options->step_limit > 0 &&
        options->only == 0 && problem->capacity_bytes > 0 && result->outcome == MASU_PLAN_UNKNOWN)
        minimize_instead(problem, options, offsets, result);
    return status;
}

enum { STEPS_FOR_COMPILERS = 20 * 1000 };

masu_status masu_plan_solve(const masu_plan_row *rows, size_t count, uint64_t *offsets, masu_plan_result *result,
                            size_t *bad_row) {
    masu_plan_problem problem = {.rows = rows, .count = count};
    masu_plan_options options = {.step_limit = STEPS_FOR_COMPILERS, .threads = 1};
    if (count > 0 && !rows)
        return MASU_ERR_INVALID_ARGUMENT;
    size_t where;
    masu_status status = status_of(masu_plan_validate(&problem, &where));
    if (status != MASU_OK) {
        if (bad_row)
            *bad_row = where;
        return status;
    }
    return masu_plan_find(&problem, &options, offsets, result);
}

masu_status masu_plan_lower_bound(const masu_plan_row *rows, size_t count, uint64_t *out_bytes) {
    masu_plan_problem problem = {.rows = rows, .count = count};
    masu__plan_model model;
    if (!out_bytes || (!rows && count > 0))
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = status_of(masu_plan_validate(&problem, NULL));
    if (status == MASU_OK)
        status = masu__plan_model_open(&problem, NULL, &model);
    if (status != MASU_OK)
        return status;
    *out_bytes = (uint64_t)model.bound;
    masu__plan_model_close(&model);
    return MASU_OK;
}
