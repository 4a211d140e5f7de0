/* settle.c: the present courses as a plan: offsets for each memory's stays, found by the planner, and the moves in the
 * channel's order. */
#include <stdlib.h>
#include <string.h>

#include <masu/plan.h>

#include "base/meta.h"
#include "planner/moves/courses.h"

static size_t count_stays(const masu__moves *m, size_t *moves) {
    size_t stays = 0;
    *moves = 0;
    for (size_t i = 0; i < m->problem->count; i++)
        for (uint32_t s = 0; s < m->courses[i].count; s++) {
            stays++;
            *moves += m->courses[i].stays[s].begin < m->courses[i].stays[s].end;
        }
    return stays;
}

static void list_places(const masu__moves *m, masu_moves_plan *plan, size_t *first) {
    size_t at = 0;
    for (size_t i = 0; i < m->problem->count; i++) {
        first[i] = at;
        for (uint32_t s = 0; s < m->courses[i].count; s++) {
            const masu__stay *stay = &m->courses[i].stays[s];
            plan->places[at++] = (masu_moves_place){i, stay->memory, stay->lower, stay->upper, 0};
        }
    }
}

static int by_begin(const void *a, const void *b) {
    const masu_moves_move *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin) : (x->to > y->to) - (x->to < y->to);
}

/* In the order of the channel's stretches; without a limit, of moments. */
static void list_moves(const masu__moves *m, masu_moves_plan *plan, const size_t *first) {
    size_t at = 0;
    for (size_t k = 0; m->carried && k < m->busy_count; k++) {
        const masu__busy *busy = &m->busy[k];
        const masu__stay *stay = &m->courses[busy->row].stays[busy->stay];
        plan->moves[at++] = (masu_moves_move){first[busy->row] + stay->from, first[busy->row] + busy->stay, stay->begin,
                                              stay->end};
    }
    for (size_t i = 0; !m->carried && i < m->problem->count; i++)
        for (uint32_t s = 0; s < m->courses[i].count; s++) {
            const masu__stay *stay = &m->courses[i].stays[s];
            if (stay->begin < stay->end)
                plan->moves[at++] = (masu_moves_move){first[i] + stay->from, first[i] + s, stay->begin, stay->end};
        }
    if (!m->carried && at > 0)
        qsort(plan->moves, at, sizeof *plan->moves, by_begin);
}

/* One memory's places as rows of the planner. */
static masu_status settle_memory(const masu__moves *m, uint64_t steps, masu_moves_plan *plan, size_t memory,
                                 masu_plan_row *rows, size_t *places, uint64_t *offsets, bool *fits, bool *unsure) {
    const masu_moves_problem *p = m->problem;
    masu_plan_options options = {.goal = p->memories[memory].capacity_bytes ? MASU_PLAN_FIT : MASU_PLAN_MINIMIZE,
                                 .step_limit = steps,
                                 .threads = 1,
                                 .time_limit_s = masu__moves_time_left(m)};
    masu_plan_result result;
    size_t count = 0;
    for (size_t i = 0; i < plan->place_count; i++) {
        const masu_moves_place *place = &plan->places[i];
        const masu_moves_row *row = &p->rows[place->row];
        if (place->memory != memory)
            continue;
        places[count] = i;
        rows[count++] = (masu_plan_row){.size_bytes = row->size_bytes,
                                        .lower = (int64_t)place->lower,
                                        .upper = (int64_t)place->upper,
                                        .alignment_bytes = row->alignment_bytes,
                                        .is_fixed = row->is_fixed,
                                        .fixed_offset = row->fixed_offset};
    }
    masu_plan_problem problem = {.rows = rows, .count = count, .capacity_bytes = p->memories[memory].capacity_bytes};
    if (count == 0)
        return MASU_OK;
    masu_status status = masu_plan_find(&problem, &options, offsets, &result);
    if (status != MASU_OK)
        return status;
    *fits = result.outcome == MASU_PLAN_OPTIMAL || result.outcome == MASU_PLAN_FEASIBLE;
    *unsure |= result.outcome == MASU_PLAN_UNKNOWN;
    for (size_t i = 0; *fits && i < count; i++)
        plan->places[places[i]].offset = offsets[i];
    plan->heights[memory] = *fits ? result.height_bytes : 0;
    return MASU_OK;
}

masu_status masu__moves_settle(masu__moves *m, uint64_t steps, masu_moves_plan *plan, int *full, bool *unsure) {
    masu__arena_mark mark = masu__arena_get_mark(&m->arena);
    size_t moves, count = count_stays(m, &moves);
    *plan = (masu_moves_plan){
        .cost = (uint64_t)(m->total / MASU__MOVES_PRICE_ONE), .place_count = count, .move_count = moves};
    plan->places = count ? masu__meta_calloc(count, sizeof *plan->places) : NULL;
    plan->moves = moves ? masu__meta_calloc(moves, sizeof *plan->moves) : NULL;
    size_t *first = MASU_ARENA_ARRAY(&m->arena, size_t, m->problem->count + 1);
    masu_plan_row *rows = MASU_ARENA_ARRAY(&m->arena, masu_plan_row, count + 1);
    size_t *places = MASU_ARENA_ARRAY(&m->arena, size_t, count + 1);
    uint64_t *offsets = MASU_ARENA_ARRAY(&m->arena, uint64_t, count + 1);
    masu_status status = MASU_OK;
    *full = -1;
    if ((count > 0 && !plan->places) || (moves > 0 && !plan->moves) || !first || !rows || !places || !offsets) {
        plan->place_count = plan->places ? count : 0;
        plan->move_count = plan->moves ? moves : 0;
        status = MASU_ERR_OUT_OF_MEMORY;
    } else {
        list_places(m, plan, first);
        list_moves(m, plan, first);
    }
    for (size_t k = 0; status == MASU_OK && *full < 0 && k < m->memory_count; k++) {
        bool fits = true;
        status = settle_memory(m, steps, plan, k, rows, places, offsets, &fits, unsure);
        if (!fits)
            *full = (int)k;
    }
    masu__arena_release(&m->arena, mark);
    return status;
}
