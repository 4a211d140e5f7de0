/* best_set.c: which groups of rows a memory takes. See best_set.h. */
#include "planner/share/best_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/meta.h"

#define NEW(c, type, count) ((type *)masu__arena_calloc(&(c)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

bool masu__choice_open(masu__choice *c, const masu_plan_problem *problem, const masu__plan_model *m) {
    *c = (masu__choice){.problem = problem, .model = m};
    c->worth = NEW(c, double, m->item_count);
    c->area = NEW(c, double, m->item_count);
    c->allowed = NEW(c, bool, m->item_count);
    c->in = NEW(c, bool, m->item_count);
    c->has_fixed = NEW(c, bool, m->item_count);
    c->load = NEW(c, int64_t, m->section_count);
    c->order = NEW(c, uint32_t, m->item_count);
    c->out = NEW(c, uint32_t, m->item_count);
    if (!c->worth || !c->area || !c->allowed || !c->in || !c->has_fixed || !c->load || !c->order || !c->out)
        return false;
    for (uint32_t i = 0; i < m->item_count; i++)
        c->area[i] = (double)m->size[i] * ((double)m->upper[i] - (double)m->lower[i]);
    for (size_t r = 0; r < problem->count; r++)
        if (problem->rows[r].is_fixed && m->row_item[r] != MASU__PLAN_NONE)
            c->has_fixed[m->row_item[r]] = true;
    return true;
}

void masu__choice_close(masu__choice *c) {
    masu__arena_destroy(&c->arena);
}

void masu__choice_clear(masu__choice *c, int64_t capacity) {
    c->capacity = capacity;
    memset(c->in, 0, c->model->item_count * sizeof *c->in);
    memset(c->load, 0, c->model->section_count * sizeof *c->load);
}

/* ---- one item -------------------------------------------------------------------------------- */

static void add_load(masu__choice *c, uint32_t item, int sign) {
    const masu__plan_model *m = c->model;
    if (c->light && c->light[item])
        return;
    for (uint32_t k = m->piece_start[item]; k < m->piece_start[item + 1]; k++)
        for (uint32_t s = m->pieces[k].first; s < m->pieces[k].end; s++)
            c->load[s] += sign * (m->pieces[k].height - m->pieces[k].hole);
}

static bool live_together(const masu_plan_row *a, const masu_plan_row *b) {
    return a->lower < b->upper && b->lower < a->upper;
}

/* By whole lives. Rows with gaps, and those that a relation names, may lie on each other all the same: of few groups
 * plans tell, of many they are counted as if they did not. */
static bool may_meet(const masu__choice *c, const masu_plan_row *a, const masu_plan_row *b) {
    return c->model->item_count <= MASU__CHOICE_FEW &&
           (a->gap_count > 0 || b->gap_count > 0 || c->problem->relation_count > 0);
}

static bool fixed_rows_fit(const masu__choice *c, uint32_t item) {
    const masu_plan_problem *p = c->problem;
    const uint32_t *row_item = c->model->row_item;
    for (size_t a = 0; a < p->count; a++) {
        const masu_plan_row *row = &p->rows[a];
        if (!row->is_fixed || row_item[a] != item)
            continue;
        if (row->fixed_offset + row->size_bytes > (uint64_t)c->capacity)
            return false;
        for (size_t b = 0; b < p->count; b++) {
            const masu_plan_row *other = &p->rows[b];
            if (other->is_fixed && row_item[b] != MASU__PLAN_NONE && row_item[b] != item && c->in[row_item[b]] &&
                live_together(row, other) && !may_meet(c, row, other) &&
                row->fixed_offset < other->fixed_offset + other->size_bytes &&
                other->fixed_offset < row->fixed_offset + row->size_bytes)
                return false;
        }
    }
    return true;
}

bool masu__choice_fits(const masu__choice *c, uint32_t item) {
    const masu__plan_model *m = c->model;
    if (m->size[item] > c->capacity)
        return false;
    bool light = c->light && c->light[item];
    for (uint32_t k = m->piece_start[item]; !light && k < m->piece_start[item + 1]; k++)
        for (uint32_t s = m->pieces[k].first; s < m->pieces[k].end; s++)
            if (c->load[s] > c->capacity - (m->pieces[k].height - m->pieces[k].hole))
                return false;
    return !c->has_fixed[item] || fixed_rows_fit(c, item);
}

void masu__choice_add(masu__choice *c, uint32_t item) {
    c->in[item] = true;
    add_load(c, item, 1);
}

void masu__choice_remove(masu__choice *c, uint32_t item) {
    c->in[item] = false;
    add_load(c, item, -1);
}

double masu__choice_value(const masu__choice *c) {
    double value = 0;
    for (uint32_t i = 0; i < c->model->item_count; i++)
        value += c->in[i] ? c->worth[i] : 0;
    return value;
}

/* ---- rankings -------------------------------------------------------------------------------- */

typedef enum ranking { BY_ROOM, BY_WORTH, BY_BYTES, RANKINGS } ranking;

typedef struct ranked {
    const masu__choice *choice;
    ranking by;
} ranked;

static double rank_of(const ranked *r, uint32_t item) {
    double worth = r->choice->worth[item];
    return r->by == BY_ROOM    ? worth / r->choice->area[item]
           : r->by == BY_BYTES ? worth / (double)r->choice->model->size[item]
                               : worth;
}

static int by_rank(const void *a, const void *b, void *context) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double rank_x = rank_of(context, x), rank_y = rank_of(context, y);
    if (rank_x != rank_y)
        return rank_x > rank_y ? -1 : 1;
    return (x > y) - (x < y);
}

static void sort_items(masu__choice *c, ranking by) {
    ranked r = {c, by};
    for (uint32_t i = 0; i < c->model->item_count; i++)
        c->order[i] = i;
    if (c->model->item_count > 0)
        qsort_r(c->order, c->model->item_count, sizeof *c->order, by_rank, &r);
}

static void add_what_fits(masu__choice *c) {
    for (uint32_t k = 0; k < c->model->item_count; k++) {
        uint32_t item = c->order[k];
        if (c->allowed[item] && !c->in[item] && masu__choice_fits(c, item))
            masu__choice_add(c, item);
    }
}

/* ---- swaps ----------------------------------------------------------------------------------- */

/* The item in that brings least for its room among those that are in the way; NONE: fixed rows do. */
static uint32_t least_in_the_way(const masu__choice *c, uint32_t item) {
    const masu__plan_model *m = c->model;
    uint32_t least = MASU__PLAN_NONE;
    for (uint32_t i = 0; i < m->item_count; i++) {
        if (!c->in[i] || m->first[i] >= m->end[item] || m->first[item] >= m->end[i])
            continue;
        bool full = false;
        for (uint32_t s = m->first[i] > m->first[item] ? m->first[i] : m->first[item];
             s < m->end[i] && s < m->end[item] && !full; s++)
            full = c->load[s] > c->capacity - m->size[item];
        if (full && (least == MASU__PLAN_NONE || c->worth[i] < c->worth[least]))
            least = i;
    }
    return least;
}

/* The item comes in for those in its way, if that brings less. */
static bool swap_in(masu__choice *c, uint32_t item) {
    uint32_t count = 0;
    double lost = 0;
    while (!masu__choice_fits(c, item) && lost < c->worth[item]) {
        uint32_t least = least_in_the_way(c, item);
        if (least == MASU__PLAN_NONE)
            break;
        masu__choice_remove(c, least);
        lost += c->worth[least];
        c->out[count++] = least;
    }
    bool better = lost < c->worth[item] && masu__choice_fits(c, item);
    if (better)
        masu__choice_add(c, item);
    while (count > 0) /* the last to go is the first to come back, if there is room */
        if (masu__choice_fits(c, c->out[--count]))
            masu__choice_add(c, c->out[count]);
    return better;
}

enum { MOST_SWAP_ROUNDS = 8, MOST_SWAPPED = 4096 };

static void swap_for_more(masu__choice *c) {
    bool better = c->model->item_count <= MOST_SWAPPED;
    sort_items(c, BY_WORTH);
    for (int round = 0; better && round < MOST_SWAP_ROUNDS; round++) {
        better = false;
        for (uint32_t k = 0; k < c->model->item_count; k++) {
            uint32_t item = c->order[k];
            if (c->allowed[item] && !c->in[item])
                better |= swap_in(c, item);
        }
        add_what_fits(c);
    }
}

static void restore(masu__choice *c, const bool *set) {
    masu__choice_clear(c, c->capacity);
    for (uint32_t i = 0; i < c->model->item_count; i++)
        if (set[i])
            masu__choice_add(c, i);
}

void masu__choice_greedy(masu__choice *c) {
    double best = -1;
    size_t bytes = (size_t)c->model->item_count * sizeof(bool);
    bool *set = masu__meta_alloc(bytes + 1);
    for (ranking by = 0; by < RANKINGS; by++) {
        masu__choice_clear(c, c->capacity);
        sort_items(c, by);
        add_what_fits(c);
        swap_for_more(c);
        if (!set) /* no memory to compare: the first will do */
            return;
        if (masu__choice_value(c) > best) {
            best = masu__choice_value(c);
            memcpy(set, c->in, bytes);
        }
    }
    restore(c, set);
    masu__meta_free(set, bytes + 1);
}

/* ---- all sets -------------------------------------------------------------------------------- */

typedef struct set {
    double value;
    uint32_t members; /* a bit an item, by its place in the list */
} set;

static int by_value(const void *a, const void *b) {
    const set *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->members > y->members) - (x->members < y->members);
}

/* The sets that the load can hold, item by item. */
static void gather(masu__choice *c, uint32_t count, uint32_t at, set here, set *sets, uint32_t *made) {
    if (at == count) {
        sets[(*made)++] = here;
        return;
    }
    uint32_t item = c->order[at];
    if (masu__choice_fits(c, item)) {
        masu__choice_add(c, item);
        gather(c, count, at + 1, (set){here.value + c->worth[item], here.members | 1u << at}, sets, made);
        masu__choice_remove(c, item);
    }
    gather(c, count, at + 1, here, sets, made);
}

bool masu__choice_all(masu__choice *c, bool (*plan_exists)(void *context), void *context) {
    uint32_t count = 0, made = 0;
    size_t bytes = sizeof(set) << MASU__CHOICE_FEW;
    for (uint32_t i = 0; i < c->model->item_count; i++)
        if (c->allowed[i] && count < MASU__CHOICE_FEW)
            c->order[count++] = i;
    set *sets = masu__meta_alloc(bytes);
    masu__choice_clear(c, c->capacity);
    if (!sets)
        return false;
    bool exists = false;
    gather(c, count, 0, (set){0, 0}, sets, &made);
    qsort(sets, made, sizeof *sets, by_value);
    for (uint32_t k = 0; k < made && !exists; k++) {
        masu__choice_clear(c, c->capacity);
        for (uint32_t at = 0; at < count; at++)
            if (sets[k].members & 1u << at)
                masu__choice_add(c, c->order[at]);
        exists = plan_exists(context);
    }
    masu__meta_free(sets, bytes);
    if (!exists)
        masu__choice_clear(c, c->capacity);
    return exists;
}
