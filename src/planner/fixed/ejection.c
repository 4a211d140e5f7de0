/* ejection.c: the search that throws out what is in the way. See ejection.h. */
#include "planner/fixed/ejection.h"
#include "planner/fixed/sort_by_place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/rng.h"

enum { NOWHERE = UINT32_MAX, ASK_EVERY = 64 };

/* Why an offset may not be had: what lies there, or NOWHERE: nothing can be done about it. Neither end included. */
typedef struct forbidden {
    int64_t from, to;
    double weight;
    uint32_t item;
} forbidden;

typedef struct border {
    int64_t at;
    uint32_t of; /* in found */
} border;

struct masu__ejection {
    const masu__plan_model *model;
    masu__clashes clashes;
    double *worth;    /* per item: what it weighs at first */
    double *weight;   /* per item: now */
    int64_t *offsets; /* the caller's; of what is placed */
    bool *placed;
    uint32_t *waiting, waiting_count; /* a heap */
    forbidden *found;                 /* scratch, in no order */
    uint32_t found_count;
    border *begins, *ends; /* of found: by `from`, by `to` */
    int64_t *candidates;
    int64_t height;
    uint64_t steps;
    masu__rng rng;
    masu__arena arena; /* owns all arrays */
};

#define NEW(e, type, count) ((type *)masu__arena_calloc(&(e)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* ---- set-up ---------------------------------------------------------------------------------- */

static bool find_arrays(masu__ejection *e) {
    const masu__plan_model *m = e->model;
    uint32_t n = m->item_count, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t meets = e->clashes.pair_start[i + 1] - e->clashes.pair_start[i] + e->clashes.hard_start[i + 1] -
                         e->clashes.hard_start[i];
        most = meets > most ? meets : most;
    }
    e->worth = NEW(e, double, n);
    e->weight = NEW(e, double, n);
    e->placed = NEW(e, bool, n);
    e->waiting = NEW(e, uint32_t, n);
    e->found = NEW(e, forbidden, most);
    e->begins = NEW(e, border, most);
    e->ends = NEW(e, border, most);
    e->candidates = NEW(e, int64_t, 2 * (size_t)most + 2);
    if (!e->worth || !e->weight || !e->placed || !e->waiting || !e->found || !e->begins || !e->ends || !e->candidates)
        return false;
    for (uint32_t i = 0; i < n; i++)
        e->worth[i] = sqrt((double)m->size[i] * (m->end[i] - m->first[i]));
    return true;
}

masu__ejection *masu__ejection_create(const masu__plan_model *model, bool *too_large) {
    masu__ejection *e = masu__meta_calloc(1, sizeof *e);
    *too_large = false;
    if (!e)
        return NULL;
    e->model = model;
    if (masu__clashes_open(&e->clashes, model, &e->arena, too_large) && find_arrays(e))
        return e;
    masu__ejection_destroy(e);
    return NULL;
}

void masu__ejection_destroy(masu__ejection *e) {
    if (!e)
        return;
    masu__arena_destroy(&e->arena);
    masu__meta_free(e, sizeof *e);
}

/* ---- where an item may go -------------------------------------------------------------------- */

MASU__SORT_BY_PLACE(sort_borders, border, int64_t)

/* Everything that is in the item's way now. */
static void find_forbidden(masu__ejection *e, uint32_t item) {
    uint32_t count = 0;
    for (uint32_t k = e->clashes.hard_start[item]; k < e->clashes.hard_start[item + 1]; k++)
        e->found[count++] = (forbidden){e->clashes.hard[k].from, e->clashes.hard[k].to, INFINITY, NOWHERE};
    for (uint32_t k = e->clashes.pair_start[item]; k < e->clashes.pair_start[item + 1]; k++) {
        const masu__clash *p = &e->clashes.pairs[k];
        if (e->placed[p->other])
            e->found[count++] = (forbidden){e->offsets[p->other] + p->below, e->offsets[p->other] + p->above,
                                            e->weight[p->other], p->other};
    }
    e->found_count = count;
    for (uint32_t k = 0; k < count; k++) {
        e->begins[k] = (border){e->found[k].from, k};
        e->ends[k] = (border){e->found[k].to, k};
    }
    sort_borders(e->begins, count);
    sort_borders(e->ends, count);
}

/* Offsets at which the item touches something, ascending: in every plan in which nothing can be moved it does. */
static uint32_t find_candidates(masu__ejection *e, uint32_t item) {
    int64_t alignment = e->model->alignment[item], highest = e->height - e->model->size[item];
    uint32_t count = 0;
    if (highest < 0)
        return 0;
    highest &= ~(alignment - 1);
    e->candidates[count++] = 0;
    for (uint32_t begun = 0, ended = 0; begun < e->found_count || ended < e->found_count;) {
        int64_t up = ended < e->found_count ? masu__plan_align(e->ends[ended].at, alignment) : INT64_MAX;
        int64_t down = begun < e->found_count ? e->begins[begun].at & ~(alignment - 1) : INT64_MAX;
        int64_t next = up < down ? up : down;
        ended += next == up;
        begun += next == down;
        if (next >= 0 && next <= highest)
            e->candidates[count++] = next;
    }
    e->candidates[count++] = highest;
    return count;
}

/* The offset at which what would have to go weighs least, the lowest of those, and that weight; -1: none is allowed. */
static int64_t lightest(masu__ejection *e, uint32_t item, double *out_weight) {
    find_forbidden(e, item);
    uint32_t count = find_candidates(e, item), begun = 0, ended = 0, hard = 0;
    double weight = 0, least = INFINITY;
    int64_t offset = -1;
    for (uint32_t k = 0; k < count; k++) {
        int64_t at = e->candidates[k];
        for (; begun < e->found_count && e->begins[begun].at < at; begun++) {
            const forbidden *f = &e->found[e->begins[begun].of];
            hard += f->item == NOWHERE;
            weight += f->item == NOWHERE ? 0 : f->weight;
        }
        for (; ended < e->found_count && e->ends[ended].at <= at; ended++) {
            const forbidden *f = &e->found[e->ends[ended].of];
            hard -= f->item == NOWHERE;
            weight -= f->item == NOWHERE ? 0 : f->weight;
        }
        double here = begun == ended ? 0 : weight;
        if (hard == 0 && here < least) {
            least = here;
            offset = at;
        }
    }
    *out_weight = least;
    return offset;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* The waiting items are a heap, the heaviest first: no weight changes while an item waits. */
static void wait_for_place(masu__ejection *e, uint32_t item) {
    uint32_t at = e->waiting_count++;
    for (; at > 0 && e->weight[e->waiting[(at - 1) / 2]] < e->weight[item]; at = (at - 1) / 2)
        e->waiting[at] = e->waiting[(at - 1) / 2];
    e->waiting[at] = item;
    e->placed[item] = false;
}

static uint32_t next_waiting(masu__ejection *e) {
    uint32_t first = e->waiting[0], last = e->waiting[--e->waiting_count], at = 0;
    for (uint32_t child; (child = 2 * at + 1) < e->waiting_count; at = child) {
        if (child + 1 < e->waiting_count && e->weight[e->waiting[child + 1]] > e->weight[e->waiting[child]])
            child++;
        if (e->weight[e->waiting[child]] <= e->weight[last])
            break;
        e->waiting[at] = e->waiting[child];
    }
    e->waiting[at] = last;
    return first;
}

static void begin(masu__ejection *e, int64_t height, uint64_t seed, int64_t *offsets) {
    e->height = height;
    e->offsets = offsets;
    e->steps = 0;
    e->waiting_count = 0;
    masu__rng_seed(&e->rng, seed);
    for (uint32_t i = 0; i < e->model->item_count; i++) {
        e->weight[i] = e->worth[i] * (1 + masu__rng_uniform(&e->rng));
        wait_for_place(e, i);
    }
}

masu__search_end masu__ejection_run(masu__ejection *e, int64_t height, uint64_t seed, uint64_t steps,
                                    const masu__plan_stop *stop, int64_t *offsets) {
    begin(e, height, seed, offsets);
    while (e->waiting_count > 0) {
        if (e->steps++ >= steps)
            return MASU__SEARCH_LIMIT;
        if (e->steps % ASK_EVERY == 0 && stop->asked(stop->context))
            return MASU__SEARCH_STOPPED;
        uint32_t item = next_waiting(e);
        double weight;
        int64_t offset = lightest(e, item, &weight);
        if (offset < 0)
            return MASU__SEARCH_EXHAUSTED;
        for (uint32_t k = 0; k < e->found_count; k++)
            if (e->found[k].from < offset && offset < e->found[k].to && e->placed[e->found[k].item])
                wait_for_place(e, e->found[k].item);
        if (weight > 0)
            e->weight[item] += e->worth[item] * (0.5 + masu__rng_uniform(&e->rng));
        e->offsets[item] = offset;
        e->placed[item] = true;
    }
    MASU_HEAVY_ASSERT(masu__ejection_valid(e));
    return MASU__SEARCH_FOUND;
}

const masu__clashes *masu__ejection_clashes(const masu__ejection *e) {
    return &e->clashes;
}

uint64_t masu__ejection_steps(const masu__ejection *e) {
    return e->steps;
}

bool masu__ejection_valid(const masu__ejection *e) {
    for (uint32_t i = 0; i < e->model->item_count; i++) {
        if (!e->placed[i])
            continue;
        if (e->offsets[i] < 0 || e->offsets[i] + e->model->size[i] > e->height)
            return false;
        for (uint32_t k = e->clashes.pair_start[i]; k < e->clashes.pair_start[i + 1]; k++) {
            const masu__clash *p = &e->clashes.pairs[k];
            int64_t apart = e->offsets[i] - e->offsets[p->other];
            if (e->placed[p->other] && p->below < apart && apart < p->above)
                return false;
        }
    }
    return true;
}
