/* share.c: in-place results and views. See share.h.
 *
 *     input   ├────────┤              output may begin where its input ends: the two overlap in one
 *     output          ├──────┤        moment, in which they are the same bytes
 *
 * Groups are lists of rows with one offset; the model makes one item of each.
 */
#include "allocators/plan/share.h"

#include <string.h>

#include "allocators/plan/model.h"

typedef struct groups {
    const masu_plan_problem *problem;
    const bool *merged;
    uint32_t *parent, *next, *last; /* per row: root, the next of its group, the last (of a root) */
} groups;

static uint32_t root_of(groups *g, uint32_t row) {
    while (g->parent[row] != row)
        row = g->parent[row] = g->parent[g->parent[row]];
    return row;
}

static void join(groups *g, uint32_t a, uint32_t b) {
    g->parent[b] = a;
    g->next[g->last[a]] = b;
    g->last[a] = g->last[b];
}

/* By their whole lives: gaps are no reason to join. */
static bool live_apart(const masu_plan_row *a, const masu_plan_row *b) {
    return a->upper <= b->lower || b->upper <= a->lower;
}

static bool related(const groups *g, size_t a, size_t b, size_t upto) {
    for (size_t i = 0; i <= upto; i++) {
        const masu_plan_relation *r = &g->problem->relations[i];
        if (((r->a == a && r->b == b) || (r->a == b && r->b == a)) &&
            (r->kind == MASU_PLAN_MUST_SHARE ||
             (r->kind == MASU_PLAN_MAY_SHARE && (i == upto || g->merged[i]))))
            return true;
    }
    return false;
}

static bool must_be_apart(const masu_plan_problem *p, size_t a, size_t b) {
    for (size_t i = 0; i < p->relation_count; i++)
        if (p->relations[i].kind == MASU_PLAN_MUST_NOT_SHARE &&
            ((p->relations[i].a == a && p->relations[i].b == b) ||
             (p->relations[i].a == b && p->relations[i].b == a)))
            return true;
    return false;
}

static bool fixed_apart(const masu_plan_row *a, const masu_plan_row *b) {
    return a->is_fixed && b->is_fixed && a->fixed_offset != b->fixed_offset;
}

static bool can_join(const groups *g, uint32_t a, uint32_t b, size_t relation) {
    const masu_plan_row *rows = g->problem->rows;
    for (uint32_t x = a; x != MASU__PLAN_NONE; x = g->next[x])
        for (uint32_t y = b; y != MASU__PLAN_NONE; y = g->next[y])
            if ((!live_apart(&rows[x], &rows[y]) && !related(g, x, y, relation)) ||
                fixed_apart(&rows[x], &rows[y]) || must_be_apart(g->problem, x, y))
                return false;
    return true;
}

masu_status masu__plan_share(const masu_plan_problem *problem, bool *merged) {
    masu__arena arena = {0};
    uint32_t *numbers = MASU_ARENA_ARRAY(&arena, uint32_t, 3 * problem->count + 1);
    if (!numbers)
        return MASU_ERR_OUT_OF_MEMORY;
    groups g = {problem, merged, numbers, numbers + problem->count, numbers + 2 * problem->count};
    for (uint32_t i = 0; i < problem->count; i++) {
        g.parent[i] = g.last[i] = i;
        g.next[i] = MASU__PLAN_NONE;
    }
    memset(merged, 0, problem->relation_count * sizeof *merged);
    for (int kind = MASU_PLAN_MUST_SHARE; kind <= MASU_PLAN_MAY_SHARE; kind++)
        for (size_t i = 0; i < problem->relation_count; i++) {
            const masu_plan_relation *r = &problem->relations[i];
            uint32_t a = root_of(&g, (uint32_t)r->a), b = root_of(&g, (uint32_t)r->b);
            if ((int)r->kind != kind || kind == MASU_PLAN_MUST_NOT_SHARE || a == b)
                continue;
            if (kind == MASU_PLAN_MUST_SHARE || can_join(&g, a, b, i)) {
                merged[i] = kind == MASU_PLAN_MAY_SHARE;
                join(&g, a, b);
            }
        }
    masu__arena_destroy(&arena);
    return MASU_OK;
}

masu_status masu__plan_share_bound(const masu_plan_problem *problem, uint64_t *out) {
    masu__plan_model model;
    masu__arena arena = {0};
    bool *all = MASU_ARENA_ARRAY(&arena, bool, problem->relation_count + 1);
    if (!all)
        return MASU_ERR_OUT_OF_MEMORY;
    memset(all, true, problem->relation_count * sizeof *all);
    /* every group as large as it could be, whether its rows may meet or not: loads only fall */
    masu_status status = masu__plan_model_open(problem, all, &model);
    masu__arena_destroy(&arena);
    if (status != MASU_OK)
        return status;
    *out = (uint64_t)model.bound;
    masu__plan_model_close(&model);
    return MASU_OK;
}
