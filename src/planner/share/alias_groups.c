/* alias_groups.c: in-place results and views. See alias.h.
 *
 *     input   ├────────┤              output may begin where its input ends: the two overlap in one
 *     output          ├──────┤        moment, in which they are the same bytes
 *
 * Groups are lists of rows with one offset; the model makes one item of each.
 */
#include "planner/share/alias.h"

#include <stdlib.h>
#include <string.h>

#include "planner/model/model.h"

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

typedef struct kept {
    uint64_t from, to; /* to == from: nothing */
} kept;

static kept kept_at(const masu_plan_row *row, int64_t moment) {
    if (moment < row->lower || moment >= row->upper)
        return (kept){0, 0};
    for (size_t g = 0; g < row->gap_count; g++)
        if (row->gaps[g].lower <= moment && moment < row->gaps[g].upper)
            return (kept){row->gaps[g].window_lower, row->gaps[g].window_upper};
    return (kept){0, row->size_bytes};
}

static bool apart_at(const masu_plan_row *a, const masu_plan_row *b, int64_t moment) {
    kept x = kept_at(a, moment), y = kept_at(b, moment);
    return x.from >= x.to || y.from >= y.to || x.to <= y.from || y.to <= x.from;
}

static bool apart_when_changes(const masu_plan_row *a, const masu_plan_row *b, const masu_plan_row *changing) {
    for (size_t g = 0; g < changing->gap_count; g++)
        if (!apart_at(a, b, changing->gaps[g].lower) || !apart_at(a, b, changing->gaps[g].upper))
            return false;
    return apart_at(a, b, changing->lower);
}

/* Whether two rows may have one offset without a relation: no byte at the same moment. */
static bool live_apart(const masu_plan_row *a, const masu_plan_row *b) {
    return a->upper <= b->lower || b->upper <= a->lower || (apart_when_changes(a, b, a) && apart_when_changes(a, b, b));
}

static bool related(const groups *g, size_t a, size_t b, size_t upto) {
    for (size_t i = 0; i <= upto; i++) {
        const masu_plan_relation *r = &g->problem->relations[i];
        if (((r->a == a && r->b == b) || (r->a == b && r->b == a)) &&
            (r->kind == MASU_PLAN_MUST_SHARE || (r->kind == MASU_PLAN_MAY_SHARE && (i == upto || g->merged[i]))))
            return true;
    }
    return false;
}

static bool must_be_apart(const masu_plan_problem *p, size_t a, size_t b) {
    if (p->rows[a].size_bytes == 0 || p->rows[b].size_bytes == 0)
        return false;
    for (size_t i = 0; i < p->relation_count; i++)
        if (p->relations[i].kind == MASU_PLAN_MUST_NOT_SHARE &&
            ((p->relations[i].a == a && p->relations[i].b == b) || (p->relations[i].a == b && p->relations[i].b == a)))
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
            if ((!live_apart(&rows[x], &rows[y]) && !related(g, x, y, relation)) || fixed_apart(&rows[x], &rows[y]) ||
                must_be_apart(g->problem, x, y))
                return false;
    return true;
}

static void begin_groups(groups *g, const masu_plan_problem *problem, const bool *merged, uint32_t *numbers) {
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
            if (!tied && ((!live_apart(&rows[x], &rows[y]) && !related(g, x, y, g->problem->relation_count - 1)) ||
                          fixed_apart(&rows[x], &rows[y]) || must_be_apart(g->problem, x, y)))
                return false;
        }
    return true;
}

bool masu__plan_share_fits(const masu_plan_problem *problem, const bool *merged, masu_status *status) {
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

/* A bound for every choice: of the rows that ties and choices connect, those alive at a moment take at least as much
 * as the largest of them keeps then; rows that nothing connects take their sum. Where an offset is given, it counts.
 *
 *     bound = the largest, over all moments, of the sum over the connected of the largest kept
 */
typedef struct event {
    int64_t moment;
    uint32_t root;
    int64_t bytes; /* kept from now on; below 0: that is over */
} event;

static void add_stretch(event *events, size_t *count, uint32_t root, int64_t lower, int64_t upper, int64_t bytes) {
    if (upper <= lower || bytes <= 0)
        return;
    events[(*count)++] = (event){lower, root, bytes};
    events[(*count)++] = (event){upper, root, -bytes};
}

static void add_life(event *events, size_t *count, uint32_t root, const masu_plan_row *row) {
    int64_t from = row->lower;
    for (size_t g = 0; g < row->gap_count; g++) {
        const masu_plan_gap *gap = &row->gaps[g];
        add_stretch(events, count, root, from, gap->lower, (int64_t)row->size_bytes);
        add_stretch(events, count, root, gap->lower, gap->upper, (int64_t)(gap->window_upper - gap->window_lower));
        from = gap->upper;
    }
    add_stretch(events, count, root, from, row->upper, (int64_t)row->size_bytes);
}

/* By moment; what ends comes first. */
static int by_moment(const void *a, const void *b) {
    const event *x = a, *y = b;
    if (x->moment != y->moment)
        return x->moment < y->moment ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The present stretches of each group in a list: the largest is looked for when one ends. */
typedef struct present {
    int64_t bytes;
    uint32_t next;
} present;

static int64_t largest_of(const present *list, uint32_t at) {
    int64_t most = 0;
    for (; at != MASU__PLAN_NONE; at = list[at].next)
        most = list[at].bytes > most ? list[at].bytes : most;
    return most;
}

static int64_t largest_sum(const event *events, size_t count, uint32_t *head, present *list) {
    int64_t sum = 0, most = 0;
    uint32_t made = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *from = &head[events[i].root];
        sum -= largest_of(list, *from);
        if (events[i].bytes > 0) {
            list[made] = (present){events[i].bytes, *from};
            *from = made++;
        } else {
            uint32_t *at = from;
            while (list[*at].bytes != -events[i].bytes)
                at = &list[*at].next;
            *at = list[*at].next;
        }
        sum += largest_of(list, *from);
        most = sum > most ? sum : most;
    }
    return most;
}

static uint64_t largest_end(const masu_plan_problem *problem) {
    uint64_t most = 0;
    for (size_t i = 0; i < problem->count; i++) {
        const masu_plan_row *row = &problem->rows[i];
        uint64_t end = row->size_bytes;
        if (row->is_fixed)
            end += row->fixed_offset;
        most = end > most ? end : most;
    }
    return most;
}

/* The most that row b can save: once, its size or that of the largest it may share with, while
 * both live. In a group of rows with one offset all but one are b of a relation within the
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

/* Without ties and gaps, where connected rows are many, what each could save at most says more. */
static uint64_t load_less_savings(const masu_plan_problem *problem, const saving *savings, event *events) {
    int64_t load = 0, most = 0;
    size_t count = 0;
    for (size_t i = 0; i < problem->count; i++) {
        add_life(events, &count, 0, &problem->rows[i]);
        if (savings[i].bytes > 0) {
            events[count++] = (event){savings[i].lower, 0, -savings[i].bytes};
            events[count++] = (event){savings[i].upper, 0, savings[i].bytes};
        }
    }
    qsort(events, count, sizeof *events, by_moment);
    for (size_t i = 0; i < count; i++) {
        load += events[i].bytes;
        bool last = i + 1 == count || events[i + 1].moment != events[i].moment;
        most = last && load > most ? load : most;
    }
    return (uint64_t)most;
}

static bool has_ties_or_gaps(const masu_plan_problem *problem) {
    for (size_t i = 0; i < problem->relation_count; i++)
        if (problem->relations[i].kind == MASU_PLAN_MUST_SHARE)
            return true;
    for (size_t i = 0; i < problem->count; i++)
        if (problem->rows[i].gap_count > 0)
            return true;
    return false;
}

masu_status masu__plan_share_bound(const masu_plan_problem *problem, uint64_t *out) {
    masu__arena arena = {0};
    size_t most = 0, count = 0;
    for (size_t i = 0; i < problem->count; i++)
        most += 4 + 4 * problem->rows[i].gap_count;
    uint32_t *numbers = MASU_ARENA_ARRAY(&arena, uint32_t, 3 * problem->count + 1);
    uint32_t *head = MASU_ARENA_ARRAY(&arena, uint32_t, problem->count + 1);
    event *events = MASU_ARENA_ARRAY(&arena, event, most + 1);
    present *list = MASU_ARENA_ARRAY(&arena, present, most + 1);
    saving *savings = MASU_ARENA_ARRAY(&arena, saving, problem->count + 1);
    if (!numbers || !head || !events || !list || !savings) {
        masu__arena_destroy(&arena);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    groups g;
    begin_groups(&g, problem, NULL, numbers);
    for (size_t i = 0; i < problem->relation_count; i++) {
        const masu_plan_relation *r = &problem->relations[i];
        uint32_t a = root_of(&g, (uint32_t)r->a), b = root_of(&g, (uint32_t)r->b);
        if (r->kind != MASU_PLAN_MUST_NOT_SHARE && a != b)
            join(&g, a, b);
    }
    for (uint32_t i = 0; i < problem->count; i++) {
        head[i] = MASU__PLAN_NONE;
        add_life(events, &count, root_of(&g, i), &problem->rows[i]);
    }
    qsort(events, count, sizeof *events, by_moment);
    *out = (uint64_t)largest_sum(events, count, head, list);
    if (largest_end(problem) > *out)
        *out = largest_end(problem);
    find_savings(problem, savings);
    uint64_t less = has_ties_or_gaps(problem) ? 0 : load_less_savings(problem, savings, events);
    *out = less > *out ? less : *out;
    masu__arena_destroy(&arena);
    return MASU_OK;
}
