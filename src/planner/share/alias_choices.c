/* alias_choices.c: which of the rows that may share do. A choice merges some of the relations; each choice is a problem
 * of its own, and the answer is the lowest of their plans.
 *
 *     up to 5 relations    every choice that fits: what all of them prove is proven
 *     more                 all that can be had, none, and from the better one on: one relation more or less, as
 *                          long as that helps. Proven only by the bound of all choices.
 */
#include <string.h>

#include "base/arena.h"
#include "planner/search/solver.h"
#include "planner/share/alias.h"

enum { ALL_CHOICES = 5, MOST_TRIES = 48, STEPS_A_TRY = 2000 };

typedef struct sharing {
    const masu_plan_problem *problem;
    const masu_plan_options *options;
    masu__arena arena;
    bool *merged, *best_merged;
    size_t *may; /* the relations that are choices */
    size_t may_count;
    uint64_t *offsets, *best_offsets;
    masu_plan_result best; /* height_bytes 0 with no plan: has_plan */
    bool has_plan;
    uint64_t bound;  /* of all choices */
    uint64_t lowest; /* of what the choices tried have proven */
    double begin_s;
    masu_status status;
} sharing;

/* Not before there is a plan: also a call that is cancelled at once gives one. */
static bool finished(const sharing *s) {
    const masu_plan_options *o = s->options;
    if (s->status == MASU_OK && !s->has_plan)
        return false;
    return s->status != MASU_OK || (s->has_plan && s->best.height_bytes <= s->bound) ||
           (o->cancel && __atomic_load_n(&o->cancel->raised, __ATOMIC_RELAXED)) ||
           (o->time_limit_s > 0 && masu__plan_now() - s->begin_s > o->time_limit_s);
}

/* Tries the choice merged with that part of the time that is left; true: it is the best so far. */
static bool try(sharing *s, double part, uint64_t step_limit) {
    masu_plan_options mine = *s->options;
    masu_plan_result result;
    double left = s->options->time_limit_s - (masu__plan_now() - s->begin_s);
    if (s->options->time_limit_s > 0)
        mine.time_limit_s = left > 1e-3 ? left * part : 1e-3;
    if (step_limit > 0 && (mine.step_limit == 0 || mine.step_limit > step_limit))
        mine.step_limit = step_limit;
    s->status = masu__plan_find_merged(s->problem, s->merged, &mine, s->offsets, &result);
    if (s->status != MASU_OK)
        return false;
    s->lowest = result.lower_bound_bytes < s->lowest ? result.lower_bound_bytes : s->lowest;
    bool plan = result.outcome != MASU_PLAN_INFEASIBLE &&
                !(result.outcome == MASU_PLAN_UNKNOWN && result.height_bytes == 0);
    if (s->has_plan && (!plan || result.height_bytes >= s->best.height_bytes))
        return false;
    s->best = result;
    s->has_plan = plan;
    if (!plan)
        return false;
    memcpy(s->best_offsets, s->offsets, s->problem->count * sizeof *s->offsets);
    memcpy(s->best_merged, s->merged, s->problem->relation_count * sizeof *s->merged);
    return true;
}

/* From the most merged down: what shares more is lower, mostly. Every choice has been looked at: true. */
static bool try_all(sharing *s) {
    for (unsigned choice = 1u << s->may_count; choice-- > 0;) {
        if (finished(s))
            return false;
        memset(s->merged, 0, s->problem->relation_count * sizeof *s->merged);
        for (size_t i = 0; i < s->may_count; i++)
            s->merged[s->may[i]] = choice >> i & 1;
        bool fits = masu__plan_share_fits(s->problem, s->merged, &s->status);
        if (s->status == MASU_OK && fits)
            try(s, 0.5, 0);
    }
    return s->status == MASU_OK;
}

static void try_some(sharing *s) {
    s->status = masu__plan_share(s->problem, s->merged);
    if (s->status == MASU_OK)
        try(s, 0.4, 0);
    memset(s->merged, 0, s->problem->relation_count * sizeof *s->merged);
    if (!finished(s))
        try(s, 0.5, 0);
    size_t since = 0;
    for (size_t k = 0, tries = 0; tries < MOST_TRIES && since < s->may_count && !finished(s); k++) {
        memcpy(s->merged, s->best_merged, s->problem->relation_count * sizeof *s->merged);
        bool *one = &s->merged[s->may[k % s->may_count]];
        *one = !*one;
        since++;
        if (!masu__plan_share_fits(s->problem, s->merged, &s->status) || s->status != MASU_OK)
            continue;
        tries++;
        if (try(s, 0.2, STEPS_A_TRY))
            since = 0;
    }
}

/* The proof for some choices is valid for all only up to the bound of all. */
static void conclude(sharing *s, bool all_tried, masu_plan_result *out) {
    uint64_t bound = all_tried && s->lowest > s->bound ? s->lowest : s->bound;
    uint64_t capacity = s->problem->capacity_bytes ? s->problem->capacity_bytes : UINT64_MAX;
    bool none = bound > capacity || bound >= (uint64_t)INT64_MAX;
    *out = s->best;
    out->lower_bound_bytes = bound;
    out->outcome = none                              ? MASU_PLAN_INFEASIBLE
                   : !s->has_plan                    ? MASU_PLAN_UNKNOWN
                   : s->best.height_bytes > capacity ? MASU_PLAN_UNKNOWN
                   : s->best.height_bytes <= bound   ? MASU_PLAN_OPTIMAL
                                                     : MASU_PLAN_FEASIBLE;
    out->optimal = out->outcome == MASU_PLAN_OPTIMAL;
    if (none || !s->has_plan)
        out->height_bytes = 0;
    out->seconds = masu__plan_now() - s->begin_s;
}

masu_status masu__plan_find_shared(const masu_plan_problem *problem, const masu_plan_options *options,
                                   uint64_t *offsets, masu_plan_result *result) {
    sharing s = {.problem = problem, .options = options, .lowest = UINT64_MAX, .begin_s = masu__plan_now()};
    s.merged = MASU_ARENA_ARRAY(&s.arena, bool, problem->relation_count + 1);
    s.best_merged = MASU_ARENA_ARRAY(&s.arena, bool, problem->relation_count + 1);
    s.may = MASU_ARENA_ARRAY(&s.arena, size_t, problem->relation_count + 1);
    s.offsets = MASU_ARENA_ARRAY(&s.arena, uint64_t, problem->count + 1);
    s.best_offsets = MASU_ARENA_ARRAY(&s.arena, uint64_t, problem->count + 1);
    bool room = s.merged && s.best_merged && s.may && s.offsets && s.best_offsets;
    s.status = room ? masu__plan_share_bound(problem, &s.bound) : MASU_ERR_OUT_OF_MEMORY;
    bool all = false;
    if (s.status == MASU_OK) {
        memset(s.best_merged, 0, problem->relation_count * sizeof *s.best_merged);
        memset(s.offsets, 0, problem->count * sizeof *s.offsets);
        memset(s.best_offsets, 0, problem->count * sizeof *s.best_offsets);
        for (size_t i = 0; i < problem->relation_count; i++)
            if (problem->relations[i].kind == MASU_PLAN_MAY_SHARE)
                s.may[s.may_count++] = i;
        if (s.may_count <= ALL_CHOICES)
            all = try_all(&s);
        else
            try_some(&s);
    }
    if (s.status == MASU_OK) {
        conclude(&s, all, result);
        if (result->outcome != MASU_PLAN_INFEASIBLE)
            memcpy(offsets, s.best_offsets, problem->count * sizeof *offsets);
    }
    masu__arena_destroy(&s.arena);
    return s.status;
}
