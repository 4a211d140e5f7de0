/* solver.c: what a run of the planner keeps, and when it ends. */
#include "planner/search/solver.h"

#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/meta.h"

double masu__plan_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool solver_memory(masu__solver *s) {
    size_t items = s->model.item_count + 1;
    s->offsets = masu__meta_calloc(items, sizeof *s->offsets);
    s->best_offsets = masu__meta_calloc(items, sizeof *s->best_offsets);
    if (s->options->improved) {
        s->row_offsets = masu__meta_calloc(s->problem->count + 1, sizeof *s->row_offsets);
        if (!s->row_offsets)
            return false;
    }
    const masu__plan_model *m = &s->model;
    if (m->obstacle_count == 0 && m->apart_count == 0 && m->item_count > 0) {
        s->valley = masu__valley_create(m, NULL);
        if (!s->valley)
            return false;
    }
    bool too_large = false;
    if (!m->simple)
        s->slots = masu__slots_create(m, &too_large);
    if (!m->simple && !s->slots && !too_large)
        return false;
    return s->offsets && s->best_offsets;
}

masu_status masu__solver_open(masu__solver *s, const masu_plan_problem *problem, const bool *merged,
                              const masu_plan_options *options) {
    *s = (masu__solver){.problem = problem,
                        .options = options,
                        .best_height = INT64_MAX,
                        .loose_height = INT64_MAX,
                        .best_name = "none",
                        .favourite = -1,
                        .begin_s = masu__plan_now()};
    masu_status status = masu__plan_model_open(problem, merged, &s->model);
    if (status != MASU_OK)
        return status;
    s->bound = s->model.bound;
    s->searchable = true; /* until the first search says otherwise */
    s->thread_count = options->threads ? options->threads : 2;
    if (s->thread_count > MASU__PLAN_MOST_THREADS)
        s->thread_count = MASU__PLAN_MOST_THREADS;
    if (!solver_memory(s)) {
        masu__solver_close(s);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    s->open_s = masu__plan_now() - s->begin_s;
    return MASU_OK;
}

void masu__solver_close(masu__solver *s) {
    size_t items = s->model.item_count + 1;
    for (unsigned i = 0; i < MASU__PLAN_MOST_THREADS; i++)
        masu__plan_search_destroy(s->searches[i]);
    masu__repair_destroy(s->repair);
    masu__valley_destroy(s->valley);
    masu__slots_destroy(s->slots);
    masu__corner_destroy(s->corner);
    masu__untangle_destroy(s->untangle);
    masu__loose_destroy(s->loose);
    masu__ejection_destroy(s->ejection);
    masu__meta_free(s->offsets, s->offsets ? items * sizeof *s->offsets : 0);
    masu__meta_free(s->best_offsets, s->best_offsets ? items * sizeof *s->best_offsets : 0);
    masu__meta_free(s->row_offsets, s->row_offsets ? (s->problem->count + 1) * sizeof *s->row_offsets : 0);
    masu__plan_model_close(&s->model);
}

bool masu__solver_stopped(void *context) {
    const masu__solver *s = context;
    const masu_plan_options *o = s->options;
    if (o->cancel && __atomic_load_n(&o->cancel->raised, __ATOMIC_RELAXED))
        return true;
    return o->time_limit_s > 0 && masu__plan_now() - s->begin_s > o->time_limit_s;
}

bool masu__solver_finished(const masu__solver *s) {
    return s->best_height <= s->bound || s->best_height <= s->given_up || s->out_of_memory ||
           (s->options->step_limit > 0 && s->steps_granted >= s->options->step_limit) ||
           masu__solver_stopped((void *)s);
}

void masu__solver_offer(masu__solver *s, const int64_t *offsets, int64_t height, const char *name) {
    height = height > s->model.fixed_end ? height : s->model.fixed_end; /* an empty fixed row is not an obstacle */
    if (height >= s->best_height)
        return;
    MASU_ASSERT(height >= s->model.bound);
    memcpy(s->best_offsets, offsets, s->model.item_count * sizeof *offsets);
    s->best_height = height;
    s->best_name = name;
    if (!s->options->improved)
        return;
    masu_plan_result so_far = masu__solver_result(s);
    masu__plan_model_rows(&s->model, s->problem, s->best_offsets, s->row_offsets);
    s->options->improved(s->options->context, &so_far, s->row_offsets);
}

static masu_plan_outcome outcome_of(const masu__solver *s) {
    int64_t capacity = s->problem->capacity_bytes > 0 && s->problem->capacity_bytes < (uint64_t)INT64_MAX
                           ? (int64_t)s->problem->capacity_bytes
                           : INT64_MAX;
    if (s->best_height <= s->bound && s->best_height <= capacity && s->best_height < INT64_MAX)
        return MASU_PLAN_OPTIMAL;
    if (s->bound > capacity || s->bound == INT64_MAX)
        return MASU_PLAN_INFEASIBLE;
    return s->best_height < INT64_MAX && s->best_height <= capacity ? MASU_PLAN_FEASIBLE : MASU_PLAN_UNKNOWN;
}

masu_plan_result masu__solver_result(const masu__solver *s) {
    masu_plan_outcome outcome = outcome_of(s);
    bool none = s->best_height == INT64_MAX;
    return (masu_plan_result){
        .height_bytes = outcome == MASU_PLAN_INFEASIBLE || none ? 0 : (uint64_t)s->best_height,
        .lower_bound_bytes = (uint64_t)s->bound,
        .optimal = outcome == MASU_PLAN_OPTIMAL,
        .outcome = outcome,
        .order = s->best_name,
        .steps = s->steps,
        .attempts = s->attempts,
        .placements = s->placements,
        .seconds = masu__plan_now() - s->begin_s,
    };
}
