/* infeasible_core.c: why a problem is infeasible: a small set of rows that cannot be placed.
 *
 * When the load alone is too high, the rows alive at the worst moment, less what is not needed to
 * exceed the capacity. Otherwise rows are left out as long as the rest stays infeasible: halves
 * first, then single ones; each question is a search of its own, and only proofs count.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/model/model.h"
#include "planner/search/solver.h"

typedef struct core {
    const masu_plan_problem *problem;
    masu_plan_options options;
    double end_s;
    bool *in; /* per row */
    masu_plan_row *rows;
    masu_plan_relation *relations;
    uint32_t *number;
    uint64_t *offsets;
    size_t count; /* rows that are in */
    bool undecided;
    masu__arena arena;
} core;

static masu_plan_problem problem_of(core *c) {
    const masu_plan_problem *p = c->problem;
    masu_plan_problem part = {.rows = c->rows, .relations = c->relations, .capacity_bytes = p->capacity_bytes};
    for (size_t i = 0; i < p->count; i++) {
        c->number[i] = c->in[i] ? (uint32_t)part.count : MASU__PLAN_NONE;
        if (c->in[i])
            c->rows[part.count++] = p->rows[i];
    }
    for (size_t i = 0; i < p->relation_count; i++) {
        masu_plan_relation r = p->relations[i];
        if (c->number[r.a] != MASU__PLAN_NONE && c->number[r.b] != MASU__PLAN_NONE)
            c->relations[part.relation_count++] = (masu_plan_relation){r.kind, c->number[r.a], c->number[r.b]};
    }
    return part;
}

/* MASU_OK with *infeasible, or out of memory. Out of time: undecided, as good as feasible. */
static masu_status is_infeasible(core *c, bool *infeasible) {
    masu_plan_result result;
    masu_plan_problem part = problem_of(c);
    masu_plan_options options = c->options;
    double left = c->end_s - masu__plan_now();
    *infeasible = false;
    if (left <= 0) {
        c->undecided = true;
        return MASU_OK;
    }
    options.time_limit_s = left;
    options.step_limit = 400000;
    masu_status status = masu__plan_find_once(&part, &options, c->offsets, &result);
    *infeasible = status == MASU_OK && result.outcome == MASU_PLAN_INFEASIBLE;
    c->undecided |= status == MASU_OK && result.outcome == MASU_PLAN_UNKNOWN;
    return status;
}

typedef struct change {
    int64_t moment, bytes;
} change;

/* Deaths before births. */
static int by_moment(const void *a, const void *b) {
    const change *x = a, *y = b;
    if (x->moment != y->moment)
        return x->moment < y->moment ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The first moment at which most is alive, by whole lives. */
static masu_status find_worst_moment(core *c, int64_t *worst, uint64_t *most) {
    const masu_plan_problem *p = c->problem;
    change *changes = MASU_ARENA_ARRAY(&c->arena, change, 2 * p->count + 1);
    if (!changes)
        return MASU_ERR_OUT_OF_MEMORY;
    for (size_t i = 0; i < p->count; i++) {
        changes[2 * i] = (change){p->rows[i].lower, (int64_t)p->rows[i].size_bytes};
        changes[2 * i + 1] = (change){p->rows[i].upper, -(int64_t)p->rows[i].size_bytes};
    }
    qsort(changes, 2 * p->count, sizeof *changes, by_moment);
    int64_t load = 0; /* below 2^62: the problem is valid */
    for (size_t i = 0; i < 2 * p->count; i++) {
        load += changes[i].bytes;
        if (load > (int64_t)*most) {
            *most = (uint64_t)load;
            *worst = changes[i].moment;
        }
    }
    return MASU_OK;
}

/* Only what lives at the worst moment, if that is enough. */
static masu_status keep_worst_moment(core *c) {
    const masu_plan_problem *p = c->problem;
    int64_t worst = 0;
    uint64_t most = 0;
    if (find_worst_moment(c, &worst, &most) != MASU_OK)
        return MASU_ERR_OUT_OF_MEMORY;
    if (most <= p->capacity_bytes)
        return MASU_OK;
    for (size_t i = 0; i < p->count; i++)
        c->in[i] = p->rows[i].lower <= worst && worst < p->rows[i].upper;
    bool infeasible;
    masu_status status = is_infeasible(c, &infeasible);
    if (status == MASU_OK && !infeasible) /* gaps, sharing: the moment was not the reason */
        for (size_t i = 0; i < p->count; i++)
            c->in[i] = true;
    return status;
}

/* Takes out [from, from + length) of what is in; puts it back unless the rest is infeasible. */
static masu_status try_without(core *c, size_t from, size_t length, bool *removed) {
    bool *saved = MASU_ARENA_ARRAY(&c->arena, bool, c->problem->count + 1);
    if (!saved)
        return MASU_ERR_OUT_OF_MEMORY;
    memcpy(saved, c->in, c->problem->count * sizeof *saved);
    size_t at = 0;
    for (size_t i = 0; i < c->problem->count; i++)
        if (saved[i]) {
            if (at >= from && at < from + length)
                c->in[i] = false;
            at++;
        }
    masu_status status = is_infeasible(c, removed);
    if (status != MASU_OK || !*removed)
        memcpy(c->in, saved, c->problem->count * sizeof *saved);
    return status;
}

static size_t count_in(const core *c) {
    size_t count = 0;
    for (size_t i = 0; i < c->problem->count; i++)
        count += c->in[i];
    return count;
}

static masu_status shrink_by(core *c, size_t length, bool *any_removed) {
    for (size_t from = 0; from < count_in(c);) {
        bool removed;
        masu__arena_mark mark = masu__arena_get_mark(&c->arena);
        masu_status status = try_without(c, from, length, &removed);
        masu__arena_release(&c->arena, mark);
        if (status != MASU_OK)
            return status;
        *any_removed |= removed;
        from += removed ? 0 : length;
    }
    return MASU_OK;
}

/* A row that was needed may be superfluous once a tie has left with another: single rows are asked until none goes. */
static masu_status shrink(core *c) {
    masu_status status = MASU_OK;
    bool ties = c->problem->relation_count > 0, removed = true;
    for (size_t length = count_in(c) / 2; length > 1 && status == MASU_OK; length /= 2)
        status = shrink_by(c, length, &removed);
    for (removed = true; removed && status == MASU_OK && count_in(c) > 1;) {
        removed = false;
        c->undecided = false; /* the last round tells whether single rows are needed */
        status = shrink_by(c, 1, &removed);
        removed &= ties;
    }
    return status;
}

static bool core_open(core *c) {
    size_t n = c->problem->count + 1;
    c->in = MASU_ARENA_ARRAY(&c->arena, bool, n);
    c->rows = MASU_ARENA_ARRAY(&c->arena, masu_plan_row, n);
    c->number = MASU_ARENA_ARRAY(&c->arena, uint32_t, n);
    c->offsets = MASU_ARENA_ARRAY(&c->arena, uint64_t, n);
    c->relations = MASU_ARENA_ARRAY(&c->arena, masu_plan_relation, c->problem->relation_count + 1);
    return c->in && c->rows && c->number && c->offsets && c->relations;
}

static masu_status find_core(core *c) {
    bool infeasible;
    memset(c->in, true, c->problem->count * sizeof *c->in);
    masu_status status = is_infeasible(c, &infeasible);
    if (status != MASU_OK || !infeasible) {
        memset(c->in, false, c->problem->count * sizeof *c->in);
        return status;
    }
    status = keep_worst_moment(c);
    return status == MASU_OK ? shrink(c) : status;
}

masu_status masu_plan_core(const masu_plan_problem *problem, const masu_plan_options *options, size_t *rows,
                           size_t *count, bool *minimal) {
    core c = {.problem = problem, .options = options ? *options : masu_plan_options_default()};
    if (!problem || !rows || !count || problem->capacity_bytes == 0)
        return MASU_ERR_INVALID_ARGUMENT;
    c.options.goal = MASU_PLAN_FIT;
    c.options.improved = NULL;
    c.end_s = masu__plan_now() + (c.options.time_limit_s > 0 ? c.options.time_limit_s : 1e9);
    masu_status status = core_open(&c) ? find_core(&c) : MASU_ERR_OUT_OF_MEMORY;
    if (status == MASU_OK) {
        *count = 0;
        for (size_t i = 0; i < problem->count; i++)
            if (c.in[i])
                rows[(*count)++] = i;
        if (minimal)
            *minimal = !c.undecided;
    }
    masu__arena_destroy(&c.arena);
    return status;
}
