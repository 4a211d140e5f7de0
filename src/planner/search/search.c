/* search.c: the exact search. See search.h. State and its undoing are in search_state.c. */
#include "planner/search/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/rng.h"
#include "planner/search/conflict.h"

typedef struct candidate {
    int64_t offset;
    uint32_t place; /* in the part's order */
} candidate;

/* One side of a split: sections [first, end) and its unplaced items in static order. */
typedef struct part {
    uint32_t first, end;
    size_t begin; /* of its items in the stack of numbers */
    uint32_t count;
    uint32_t level; /* of the tree: so many levels further up so many of its items are placed */
} part;

typedef struct ranked {
    double key[3];
    uint32_t item;
} ranked;

struct masu__plan_search {
    masu__search_state state;
    const masu__search_order *order;
    uint64_t seed; /* the order's, for this restart */
    double learn;  /* the order's, for each failure of a section */
    uint64_t steps, limit;
    uint32_t fullest;   /* section of the part with most to be placed; NONE: not known */
    uint64_t looked_at; /* items, since stop was asked */
    const masu__plan_stop *stop;
    masu__search_end end;
    masu__conflicts conflicts; /* what failed at each level */
    uint32_t level;            /* in the tree */
    bool jumps, jumped;        /* on the way up now; ever */
    uint32_t *numbers;         /* a stack of item numbers: the parts */
    size_t number_count, number_room;
    candidate *candidates; /* a stack */
    size_t candidate_count, candidate_room;
    ranked *ranks;
    bool out_of_memory;
};

static bool search_part(masu__plan_search *s, const part *p, int64_t offset, uint32_t place);

/* ---- stacks ---------------------------------------------------------------------------------- */

static bool stack_room(void **stack, size_t *room, size_t needed, size_t bytes) {
    if (needed <= *room)
        return true;
    size_t more = *room * 2 > needed ? *room * 2 : needed * 2;
    void *grown = masu__meta_realloc(*stack, *room * bytes, more * bytes);
    if (!grown)
        return false;
    *stack = grown;
    *room = more;
    return true;
}

static bool numbers_room(masu__plan_search *s, size_t more) {
    if (stack_room((void **)&s->numbers, &s->number_room, s->number_count + more, sizeof *s->numbers))
        return true;
    s->out_of_memory = true;
    return false;
}

static bool candidates_room(masu__plan_search *s, size_t more) {
    if (stack_room((void **)&s->candidates, &s->candidate_room, s->candidate_count + more, sizeof *s->candidates))
        return true;
    s->out_of_memory = true;
    return false;
}

/* ---- the static order ------------------------------------------------------------------------ */

static double noise_of(const masu__plan_search *s, uint32_t item) {
    if (s->order->noise <= 0)
        return 1;
    uint64_t x = (s->seed + item + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return 1 + s->order->noise * (double)(x >> 11) * 0x1p-53;
}

static double contention_of(const masu__plan_search *s, uint32_t item) {
    const masu__search_state *t = &s->state;
    double most = 0, coarse = s->order->coarse;
    const masu__plan_model *m = t->model;
    for (uint32_t k = m->piece_start[item]; k < m->piece_start[item + 1]; k++)
        for (uint32_t c = m->pieces[k].first; c < m->pieces[k].end; c++) {
            double rest = (double)t->rest[c] * (1 + s->learn * t->failures[c]);
            if (rest > most)
                most = rest;
        }
    return coarse > 0 ? (double)(int64_t)(most / (coarse * (double)t->capacity)) : most;
}

static double key_of(const masu__plan_search *s, char key, uint32_t item) {
    const masu__plan_model *m = s->state.model;
    double duration = (double)m->upper[item] - (double)m->lower[item];
    double size = (double)m->size[item];
    switch (key) {
    case 'T':
        return contention_of(s, item);
    case 'W':
        return duration * noise_of(s, item);
    case 'S':
        return (m->end[item] - m->first[item]) * noise_of(s, item);
    case 'A':
        return size * duration * noise_of(s, item);
    case 'Z':
        return size * noise_of(s, item);
    default:
        return 0;
    }
}

static int by_rank(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] > y->key[i] ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* Sorts the part's items, which lie on top of the stack. */
static void sort_part(masu__plan_search *s, const part *p) {
    uint32_t *items = s->numbers + p->begin;
    for (uint32_t i = 0; i < p->count; i++) {
        s->ranks[i].item = items[i];
        for (int k = 0; k < 3; k++)
            s->ranks[i].key[k] = key_of(s, s->order->keys[k], items[i]);
    }
    qsort(s->ranks, p->count, sizeof *s->ranks, by_rank);
    for (uint32_t i = 0; i < p->count; i++)
        items[i] = s->ranks[i].item;
}

/* ---- splitting ------------------------------------------------------------------------------- */

static bool is_border(const masu__search_state *t, uint32_t section) {
    return section + 1 == t->model->section_count || t->crossing[section] == 0;
}

static bool search_side(masu__plan_search *s, const part *p, uint32_t first, uint32_t end, int64_t offset) {
    const masu__search_state *t = &s->state;
    if (!numbers_room(s, p->count))
        return false;
    part side = {.first = first, .end = end, .begin = s->number_count, .level = s->level};
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t item = s->numbers[p->begin + i];
        if (t->lowest[item] != MASU__PLACED && t->model->first[item] >= first && t->model->end[item] <= end)
            s->numbers[side.begin + side.count++] = item;
    }
    if (side.count == 0)
        return true;
    s->number_count += side.count;
    sort_part(s, &side);
    bool found = search_part(s, &side, offset, 0);
    s->number_count -= side.count;
    return found;
}

/* All sides, from left to right. */
static bool search_split(masu__plan_search *s, const part *p, int64_t offset) {
    uint32_t first = p->first;
    for (uint32_t section = p->first; section < p->end; section++) {
        if (section + 1 < p->end && !is_border(&s->state, section))
            continue;
        if (!search_side(s, p, first, section + 1, offset))
            return false;
        first = section + 1;
    }
    return true;
}

static bool splits(const masu__plan_search *s, const part *p, uint32_t item) {
    const masu__plan_model *m = s->state.model;
    for (uint32_t section = m->first[item]; section + 1 < m->end[item]; section++)
        if (section + 1 < p->end && s->state.crossing[section] == 0)
            return true;
    return false;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* The items that may come next, at (offset, place) or behind; they go on top of the stack. *done: all
 * are placed. */
static uint32_t find_candidates(masu__plan_search *s, const part *p, int64_t offset, uint32_t place, bool *done) {
    const masu__search_state *t = &s->state;
    const uint32_t *items = s->numbers + p->begin;
    candidate *list = s->candidates + s->candidate_count;
    int64_t lowest_end = INT64_MAX;
    for (uint32_t i = 0; i < p->count; i++) {
        int64_t lowest = t->lowest[items[i]];
        if (lowest != MASU__PLACED && lowest + t->model->size[items[i]] < lowest_end)
            lowest_end = lowest + t->model->size[items[i]];
    }
    *done = lowest_end == INT64_MAX;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        int64_t lowest = t->lowest[items[i]];
        if (lowest >= lowest_end || lowest < offset || (lowest == offset && i < place) ||
            lowest != t->support[items[i]] || /* placed, dominated, passed over, raised */
            (t->twin[items[i]] != MASU__PLAN_NONE && t->lowest[t->twin[items[i]]] != MASU__PLACED))
            continue;
        list[count++] = (candidate){lowest, i};
    }
    return count;
}

/* The first of candidates [from, end) by offset and place goes to from. Most steps try only one. */
static candidate first_candidate(masu__plan_search *s, size_t from, size_t end) {
    candidate *list = s->candidates;
    size_t first = from;
    for (size_t i = from + 1; i < end; i++)
        if (list[i].offset < list[first].offset ||
            (list[i].offset == list[first].offset && list[i].place < list[first].place))
            first = i;
    candidate c = list[first];
    list[first] = list[from];
    list[from] = c;
    return c;
}

enum { LOOKS_UNASKED = 1 << 14 };

/* A step looks at each item of its part, if only shortly. */
static bool out_of_steps(masu__plan_search *s, const part *p) {
    s->looked_at += p->count;
    bool ask = s->steps % 256 == 0 || s->looked_at > LOOKS_UNASKED;
    s->looked_at = ask ? 0 : s->looked_at;
    if (s->steps >= s->limit)
        s->end = MASU__SEARCH_LIMIT;
    else if (ask && s->stop->asked(s->stop->context))
        s->end = MASU__SEARCH_STOPPED;
    s->steps++;
    return s->end != MASU__SEARCH_EXHAUSTED;
}

/* The decision whose changes are those since mark has failed. */
static void note_failure(masu__plan_search *s, size_t mark) {
    if (s->order->jumps && s->end == MASU__SEARCH_EXHAUSTED && !s->state.failed_memory) {
        s->jumps = !masu__conflict_step_up(&s->conflicts, s->level, mark, s->order->jumps == MASU__JUMPS_FAR);
        s->jumped |= s->jumps;
    }
}

static bool is_thinned(const masu__plan_search *s, const part *p) {
    return (s->level - p->level) * 4 > p->count;
}

/* The same part without what has been placed since: each step looks at all items of its part. */
static bool search_rest(masu__plan_search *s, const part *p, int64_t offset, uint32_t place) {
    part rest = *p;
    uint32_t new_place = 0;
    if (!numbers_room(s, p->count))
        return false;
    rest.begin = s->number_count;
    rest.count = 0;
    rest.level = s->level;
    for (uint32_t i = 0; i < p->count; i++)
        if (s->state.lowest[s->numbers[p->begin + i]] != MASU__PLACED) {
            new_place += i < place;
            s->numbers[rest.begin + rest.count++] = s->numbers[p->begin + i];
        }
    s->number_count += rest.count;
    bool found = search_part(s, &rest, offset, new_place);
    s->number_count -= rest.count;
    return found;
}

static bool try_candidate(masu__plan_search *s, const part *p, candidate c) {
    masu__search_state *t = &s->state;
    uint32_t item = s->numbers[p->begin + c.place];
    size_t mark = t->trail_count;
    uint32_t fullest = s->fullest;
    if (t->model->first[item] <= fullest && fullest < t->model->end[item])
        s->fullest = MASU__PLAN_NONE;
    if (masu__state_place(t, item) &&
        (!s->order->infers || masu__state_infer(t, s->numbers + p->begin, p->count, c.offset, c.place))) {
        bool found = splits(s, p, item) ? search_split(s, p, c.offset)
                     : is_thinned(s, p) ? search_rest(s, p, c.offset, c.place)
                                        : search_part(s, p, c.offset, c.place);
        if (found)
            return true;
    } else if (s->order->jumps)
        masu__conflict_of_culprit(&s->conflicts, s->level + 1);
    note_failure(s, mark);
    masu__state_undo(t, mark);
    s->fullest = fullest;
    s->out_of_memory |= t->failed_memory;
    return false;
}

/* The section with most to be placed; what has been placed since it was found lives elsewhere. */
static uint32_t fullest_section(masu__plan_search *s, const part *p) {
    if (s->fullest < p->first || s->fullest >= p->end) {
        s->fullest = p->first;
        for (uint32_t section = p->first; section < p->end; section++)
            if (s->state.rest[section] > s->state.rest[s->fullest])
                s->fullest = section;
    }
    return s->fullest;
}

/* The candidates on the stack from base on. */
static bool try_candidates(masu__plan_search *s, const part *p, size_t base) {
    uint32_t fullest = fullest_section(s, p);
    int64_t highest = s->state.capacity - s->state.rest[fullest]; /* or it would not have room */
    size_t end = s->candidate_count;
    bool tried = false;
    for (size_t i = base; i < end; i++) {
        candidate c = first_candidate(s, i, end);
        if (c.offset > highest)
            break;
        tried = true;
        if (try_candidate(s, p, c))
            return true;
        if (s->jumps || s->end != MASU__SEARCH_EXHAUSTED || s->out_of_memory)
            break;
    }
    if (!tried && s->order->jumps)
        masu__conflict_of_section(&s->conflicts, s->level, fullest);
    return false;
}

/* True: the part is placed. As deep as there are items. */
static bool search_part(masu__plan_search *s, const part *p, int64_t offset, uint32_t place) {
    if (out_of_steps(s, p) || !candidates_room(s, p->count))
        return false;
    bool done;
    uint32_t count = find_candidates(s, p, offset, place, &done);
    if (done)
        return true;
    size_t base = s->candidate_count;
    s->candidate_count += count;
    s->level++;
    if (s->order->jumps)
        masu__conflict_clear(&s->conflicts, s->level);
    bool found = try_candidates(s, p, base);
    s->jumps = false;
    s->level--;
    s->candidate_count = base;
    return found;
}

/* ---- entry points ---------------------------------------------------------------------------- */

masu__plan_search *masu__plan_search_create(const masu__plan_model *model, bool *too_large) {
    masu__plan_search *s = masu__meta_calloc(1, sizeof *s);
    *too_large = false;
    if (!s)
        return NULL;
    s->ranks = masu__meta_calloc(model->item_count + 1, sizeof *s->ranks);
    if (!s->ranks || !masu__state_open(&s->state, model, too_large) ||
        !masu__conflicts_open(&s->conflicts, &s->state)) {
        masu__plan_search_destroy(s);
        return NULL;
    }
    return s;
}

void masu__plan_search_destroy(masu__plan_search *s) {
    if (!s)
        return;
    if (s->ranks)
        masu__meta_free(s->ranks, (s->state.model_items + 1) * sizeof *s->ranks);
    masu__meta_free(s->numbers, s->number_room * sizeof *s->numbers);
    masu__meta_free(s->candidates, s->candidate_room * sizeof *s->candidates);
    masu__conflicts_close(&s->conflicts);
    masu__state_close(&s->state);
    masu__meta_free(s, sizeof *s);
}

/* One restart. */
static masu__search_end run_once(masu__plan_search *s, int64_t capacity) {
    const masu__plan_model *m = s->state.model;
    s->end = MASU__SEARCH_EXHAUSTED; /* unless something cuts it short */
    s->number_count = s->candidate_count = 0;
    s->level = 0;
    s->jumps = s->jumped = false;
    s->fullest = MASU__PLAN_NONE;
    if (!masu__state_reset(&s->state, capacity))
        return MASU__SEARCH_EXHAUSTED;
    part all = {.end = m->section_count, .count = m->item_count};
    if (!numbers_room(s, m->item_count))
        return MASU__SEARCH_STOPPED;
    for (uint32_t i = 0; i < m->item_count; i++)
        s->numbers[i] = i;
    s->number_count = m->item_count;
    bool found = search_split(s, &all, 0);
    if (s->out_of_memory)
        return MASU__SEARCH_STOPPED;
    MASU_HEAVY_ASSERT(masu__plan_search_valid(s));
    if (s->jumped && s->end == MASU__SEARCH_EXHAUSTED)
        s->end = MASU__SEARCH_LIMIT;
    return found ? MASU__SEARCH_FOUND : s->end;
}

/* Failures of long ago count less. */
static void weigh_failures(masu__plan_search *s) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < s->state.model->section_count; i++) {
        s->state.failures[i] /= 2;
        if (s->state.failures[i] > most)
            most = s->state.failures[i];
    }
    s->learn = s->order->learn / most;
}

masu__search_end masu__plan_search_run(masu__plan_search *s, int64_t capacity, const masu__search_order *order,
                                       uint64_t steps, const masu__plan_stop *stop) {
    unsigned restarts = order->restarts > 0 ? order->restarts : 1;
    s->order = order;
    s->steps = s->limit = 0;
    s->stop = stop;
    s->out_of_memory = false;
    memset(s->state.failures, 0, s->state.model->section_count * sizeof *s->state.failures);
    masu__search_end end = MASU__SEARCH_LIMIT;
    for (unsigned i = 0; i < restarts && end == MASU__SEARCH_LIMIT; i++) {
        weigh_failures(s);
        s->seed = order->seed + i * UINT64_C(0xD1B54A32D192ED03);
        s->limit = s->steps + steps / restarts;
        end = run_once(s, capacity);
    }
    return end;
}

const int64_t *masu__plan_search_offsets(const masu__plan_search *s) {
    return s->state.offsets;
}

uint64_t masu__plan_search_steps(const masu__plan_search *s) {
    return s->steps;
}

bool masu__plan_search_valid(const masu__plan_search *s) {
    return masu__state_valid(&s->state);
}
