/* share.c: in-place results and views. See share.h.
 *
 *     input   ├────────┤              output may begin where its input ends: the two overlap in one
 *     output          ├──────┤        moment, in which they are the same bytes
 *
 * Groups are lists of rows with one offset; the model makes one item of each.
 */
#include "allocators/plan/share.h"

#include <stdlib.h>
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

static void begin_groups(groups *g, const masu_plan_problem *problem, const bool *merged,
                         uint32_t *numbers) {
    *g = (groups){problem, merged, numbers, numbers + problem->count, numbers + 2 * problem->count};
    for (uint32_t i = 0; i < problem->count; i++) {
        g->parent[i] = g->last[i] = i;
        g->next[i] = MASU__PLAN_NONE;
    }
}

masu_status masu__plan_share(const masu_plan_problem *problem, bool *merged) {
    masu__arena arena = {0};
    uint32_t *numbers = MASU_ARENA_ARRAY(&arena, uint32_t, 3 * problem->count + 1);
    if (!numbers)
        return MASU_ERR_OUT_OF_MEMORY;
    groups g;
    begin_groups(&g, problem, merged, numbers);
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

/* All pairs of a group: they live apart, or a relation that is taken is between the two, or ties are. */
static bool group_fits(groups *g, const groups *ties, uint32_t root) {
    const masu_plan_row *rows = g->problem->rows;
    for (uint32_t x = root; x != MASU__PLAN_NONE; x = g->next[x])
        for (uint32_t y = g->next[x]; y != MASU__PLAN_NONE; y = g->next[y]) {
            bool tied = root_of((groups *)ties, x) == root_of((groups *)ties, y);
            if (!tied && ((!live_apart(&rows[x], &rows[y]) &&
                           !related(g, x, y, g->problem->relation_count - 1)) ||
                          fixed_apart(&rows[x], &rows[y]) || must_be_apart(g->problem, x, y)))
                return false;
        }
    return true;
}

bool masu__plan_share_fits(const masu_plan_problem *problem, const bool *merged,
                           masu_status *status) {
    masu__arena arena = {0};
    uint32_t *numbers = MASU_ARENA_ARRAY(&arena, uint32_t, 6 * problem->count + 1);
    if (!numbers) {
        *status = MASU_ERR_OUT_OF_MEMORY;
        return false;
    }
    groups g, ties;
    begin_groups(&g, problem, merged, numbers);
    begin_groups(&ties, problem, merged, numbers + 3 * problem->count);
    for (size_t i = 0; i < problem->relation_count; i++) {
        const masu_plan_relation *r = &problem->relations[i];
        bool tie = r->kind == MASU_PLAN_MUST_SHARE;
        uint32_t a = root_of(&g, (uint32_t)r->a), b = root_of(&g, (uint32_t)r->b);
        if (a != b && (tie || merged[i]))
            join(&g, a, b);
        a = root_of(&ties, (uint32_t)r->a), b = root_of(&ties, (uint32_t)r->b);
        if (a != b && tie)
            join(&ties, a, b);
    }
    bool fits = true;
    for (uint32_t i = 0; i < problem->count && fits; i++)
        fits = g.parent[i] != i || group_fits(&g, &ties, i);
    masu__arena_destroy(&arena);
    return fits;
}

/* ---- the bound of all choices ---------------------------------------------------------------- */

typedef struct event {
    int64_t moment;
    int64_t bytes;
} event;

typedef struct event_list {
    event *events;
    size_t count;
} event_list;

static void add_stretch(event_list *list, int64_t lower, int64_t upper, int64_t bytes) {
    list->events[list->count++] = (event){lower, bytes};
    list->events[list->count++] = (event){upper, -bytes};
}

static void add_life(event_list *list, const masu_plan_row *row) {
    int64_t from = row->lower;
    for (size_t g = 0; g < row->gap_count; g++) {
        const masu_plan_gap *gap = &row->gaps[g];
        add_stretch(list, from, gap->lower, (int64_t)row->size_bytes);
        add_stretch(list, gap->lower, gap->upper, (int64_t)(gap->window_upper - gap->window_lower));
        from = gap->upper;
    }
    add_stretch(list, from, row->upper, (int64_t)row->size_bytes);
}

static int by_moment(const void *a, const void *b) {
    const event *x = a, *y = b;
    if (x->moment != y->moment)
        return x->moment < y->moment ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* What row b can save at most: once, its size or that of the largest it may share with, while
 * both live. In a group of rows with one offset all but one stand as b of a relation within the
 * group, so these savings cover sum - max. */
typedef struct saving {
    int64_t lower, upper, bytes;
} saving;

static void find_savings(const masu_plan_problem *problem, saving *savings) {
    for (size_t i = 0; i < problem->relation_count; i++) {
        const masu_plan_relation *r = &problem->relations[i];
        const masu_plan_row *a = &problem->rows[r->a], *b = &problem->rows[r->b];
        int64_t lower = a->lower > b->lower ? a->lower : b->lower;
        int64_t upper = a->upper < b->upper ? a->upper : b->upper;
        int64_t bytes = (int64_t)(a->size_bytes < b->size_bytes ? a->size_bytes : b->size_bytes);
        saving *s = &savings[r->b];
        if (r->kind != MASU_PLAN_MAY_SHARE || upper <= lower)
            continue;
        s->lower = s->bytes == 0 || lower < s->lower ? lower : s->lower;
        s->upper = s->bytes == 0 || upper > s->upper ? upper : s->upper;
        s->bytes = bytes > s->bytes ? bytes : s->bytes;
    }
}

static uint64_t largest_load(const masu_plan_problem *problem, const saving *savings,
                             event_list *list) {
    int64_t load = 0, most = 0;
    for (size_t i = 0; i < problem->count; i++) {
        add_life(list, &problem->rows[i]);
        if (savings[i].bytes > 0)
            add_stretch(list, savings[i].lower, savings[i].upper, -savings[i].bytes);
        if ((int64_t)problem->rows[i].size_bytes > most)
            most = (int64_t)problem->rows[i].size_bytes;
    }
    qsort(list->events, list->count, sizeof *list->events, by_moment);
    for (size_t i = 0; i < list->count; i++) {
        load += list->events[i].bytes;
        bool last = i + 1 == list->count || list->events[i + 1].moment != list->events[i].moment;
        if (last && load > most)
            most = load;
    }
    return (uint64_t)most;
}

/* Tied rows are one: with them, every group as large as it could be; loads only fall. */
static masu_status bound_of_ties(const masu_plan_problem *problem, masu__arena *arena,
                                 uint64_t *out) {
    masu__plan_model model;
    bool *all = MASU_ARENA_ARRAY(arena, bool, problem->relation_count + 1);
    masu_plan_row *rows = MASU_ARENA_ARRAY(arena, masu_plan_row, problem->count + 1);
    if (!all || !rows)
        return MASU_ERR_OUT_OF_MEMORY;
    memset(all, true, problem->relation_count * sizeof *all);
    memcpy(rows, problem->rows, problem->count * sizeof *rows);
    for (size_t i = 0; i < problem->count; i++)
        rows[i].is_fixed = false; /* where it is says nothing of what need not share with it */
    masu_plan_problem loose = *problem;
    loose.rows = rows;
    masu_status status = masu__plan_model_open(&loose, all, &model);
    if (status != MASU_OK)
        return status;
    *out = (uint64_t)model.bound;
    masu__plan_model_close(&model);
    return MASU_OK;
}

static masu_status bound_of_rows(const masu_plan_problem *problem, masu__arena *arena,
                                 uint64_t *out) {
    size_t most = 0;
    for (size_t i = 0; i < problem->count; i++)
        most += 4 + 4 * problem->rows[i].gap_count;
    event_list list = {MASU_ARENA_ARRAY(arena, event, most + 1), 0};
    saving *savings = MASU_ARENA_ARRAY(arena, saving, problem->count + 1);
    if (!list.events || !savings)
        return MASU_ERR_OUT_OF_MEMORY;
    find_savings(problem, savings);
    *out = largest_load(problem, savings, &list);
    return MASU_OK;
}

masu_status masu__plan_share_bound(const masu_plan_problem *problem, uint64_t *out) {
    masu__arena arena = {0};
    bool tied = false;
    for (size_t i = 0; i < problem->relation_count; i++)
        tied |= problem->relations[i].kind == MASU_PLAN_MUST_SHARE;
    masu_status status =
        tied ? bound_of_ties(problem, &arena, out) : bound_of_rows(problem, &arena, out);
    masu__arena_destroy(&arena);
    return status;
}
