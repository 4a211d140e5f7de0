/* untangle.c: overlaps, made fewer until there are none. See untangle.h. */
#include "planner/fixed/untangle.h"
#include "planner/fixed/sort_by_place.h"

#include <math.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/rng.h"

/* A bend of the sum: the slope changes by so much. */
typedef struct bend {
    double at, slope;
} bend;

struct masu__untangle {
    const masu__clashes *clashes;
    double *weight;   /* per pair; the same in both places of a pair */
    int64_t *offsets; /* the caller's */
    uint32_t *tangled, tangled_count;
    bend *bends;         /* of one item */
    int64_t *candidates; /* of one item, ascending: two for each end of a hat or obstacle, and 0 and the highest */
    int64_t height;
    uint64_t steps;
    masu__rng rng;
    masu__arena arena; /* owns the arrays */
};

/* A pair that overlaps grows by a fifth, the deepest of all twofold; what does not shrinks to 1. */
static const double least_growth = 0.2, depth_growth = 0.8, shrinking = 0.9, most_weight = 1e9;

enum { ASK_EVERY = 64 };

#define NEW(u, type, count) ((type *)masu__arena_calloc(&(u)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* ---- life ------------------------------------------------------------------------------------ */

masu__untangle *masu__untangle_create(const masu__clashes *clashes) {
    masu__untangle *u = masu__meta_calloc(1, sizeof *u);
    uint32_t n = clashes->model->item_count, most = 0;
    if (!u)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t meets = clashes->pair_start[i + 1] - clashes->pair_start[i] + clashes->hard_start[i + 1] -
                         clashes->hard_start[i];
        most = meets > most ? meets : most;
    }
    u->clashes = clashes;
    u->weight = NEW(u, double, clashes->pair_start[n]);
    u->tangled = NEW(u, uint32_t, n);
    u->bends = NEW(u, bend, 3 * (size_t)most);
    u->candidates = NEW(u, int64_t, 4 * (size_t)most + 2);
    if (u->weight && u->tangled && u->bends && u->candidates)
        return u;
    masu__untangle_destroy(u);
    return NULL;
}

void masu__untangle_destroy(masu__untangle *u) {
    if (!u)
        return;
    masu__arena_destroy(&u->arena);
    masu__meta_free(u, sizeof *u);
}

/* ---- the sum of hats ------------------------------------------------------------------------- */

MASU__SORT_BY_PLACE(sort_bends, bend, double)

/* The highest offset of an item, which may be below 0. */
static int64_t highest_of(const masu__untangle *u, uint32_t item) {
    int64_t highest = u->height - u->clashes->model->size[item];
    return highest < 0 ? -1 : highest & ~(u->clashes->model->alignment[item] - 1);
}

static uint32_t find_bends(masu__untangle *u, uint32_t item, int64_t highest) {
    const masu__clashes *c = u->clashes;
    uint32_t count = 0;
    for (uint32_t k = c->pair_start[item]; k < c->pair_start[item + 1]; k++) {
        int64_t from = u->offsets[c->pairs[k].other] + c->pairs[k].below;
        int64_t to = u->offsets[c->pairs[k].other] + c->pairs[k].above;
        if (to <= 0 || from >= highest)
            continue;
        u->bends[count++] = (bend){(double)from, u->weight[k]};
        u->bends[count++] = (bend){((double)from + (double)to) / 2, -2 * u->weight[k]};
        u->bends[count++] = (bend){(double)to, u->weight[k]};
    }
    sort_bends(u->bends, count);
    return count;
}

/* Nearly ascending ones come. */
static uint32_t add_candidate(masu__untangle *u, uint32_t count, int64_t offset, int64_t highest) {
    uint32_t at = count;
    if (offset < 0 || offset > highest)
        return count;
    for (; at > 0 && u->candidates[at - 1] > offset; at--)
        u->candidates[at] = u->candidates[at - 1];
    u->candidates[at] = offset;
    return count + 1;
}

/* Where a hat begins or ends, where obstacles do, and both ends. */
static uint32_t find_candidates(masu__untangle *u, uint32_t item, int64_t highest, uint32_t bend_count) {
    const masu__clashes *c = u->clashes;
    int64_t alignment = c->model->alignment[item];
    uint32_t count = add_candidate(u, 0, 0, highest), hard = c->hard_start[item];
    for (uint32_t k = 0; k < bend_count; k++) {
        for (; hard < c->hard_start[item + 1] && (double)c->hard[hard].from <= u->bends[k].at; hard++) {
            count = add_candidate(u, count, c->hard[hard].from & ~(alignment - 1), highest);
            count = add_candidate(u, count, masu__plan_align(c->hard[hard].to, alignment), highest);
        }
        int64_t at = (int64_t)u->bends[k].at;
        if (u->bends[k].slope > 0 && at >= 0) {
            count = add_candidate(u, count, at & ~(alignment - 1), highest);
            if (at % alignment != 0)
                count = add_candidate(u, count, masu__plan_align(at, alignment), highest);
        }
    }
    for (; hard < c->hard_start[item + 1]; hard++) {
        count = add_candidate(u, count, c->hard[hard].from & ~(alignment - 1), highest);
        count = add_candidate(u, count, masu__plan_align(c->hard[hard].to, alignment), highest);
    }
    return add_candidate(u, count, highest, highest);
}

/* The offset at which the item's overlaps weigh least, of equals one by chance; -1: obstacles allow none. */
static int64_t best_offset(masu__untangle *u, uint32_t item) {
    const masu__clashes *c = u->clashes;
    int64_t highest = highest_of(u, item), offset = -1;
    uint32_t bends = find_bends(u, item, highest), count = find_candidates(u, item, highest, bends);
    uint32_t hard = c->hard_start[item], equals = 0;
    double sum = 0, slope = 0, at = bends > 0 ? u->bends[0].at : 0, least = INFINITY;
    for (uint32_t k = 0, b = 0; k < count; k++) {
        int64_t here = u->candidates[k];
        for (; b < bends && u->bends[b].at <= (double)here; b++) {
            sum += slope * (u->bends[b].at - at);
            at = u->bends[b].at;
            slope += u->bends[b].slope;
        }
        for (; hard < c->hard_start[item + 1] && c->hard[hard].to <= here;)
            hard++;
        if ((k > 0 && here == u->candidates[k - 1]) || (hard < c->hard_start[item + 1] && c->hard[hard].from < here))
            continue;
        double weight = sum + slope * ((double)here - at);
        weight = weight < 0.5 ? 0 : weight;
        if (weight > least)
            continue;
        equals = weight < least ? 1 : equals + 1;
        least = weight;
        if (equals == 1 || masu__rng_below(&u->rng, equals) == 0)
            offset = here;
    }
    return offset;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* How far one of the two must move at least; at most 0: they do not overlap. */
static int64_t depth_of(const masu__untangle *u, uint32_t item, const masu__clash *p) {
    int64_t up = u->offsets[item] - u->offsets[p->other] - p->below;
    int64_t down = u->offsets[p->other] + p->above - u->offsets[item];
    return up < down ? up : down;
}

static bool is_tangled(const masu__untangle *u, uint32_t item) {
    const masu__clashes *c = u->clashes;
    for (uint32_t k = c->pair_start[item]; k < c->pair_start[item + 1]; k++)
        if (depth_of(u, item, &c->pairs[k]) > 0)
            return true;
    return false;
}

/* In an order by chance. */
static void find_tangled(masu__untangle *u) {
    u->tangled_count = 0;
    for (uint32_t i = 0; i < u->clashes->model->item_count; i++)
        if (is_tangled(u, i))
            u->tangled[u->tangled_count++] = i;
    for (uint32_t k = u->tangled_count; k > 1; k--) {
        uint32_t other = (uint32_t)masu__rng_below(&u->rng, k), item = u->tangled[k - 1];
        u->tangled[k - 1] = u->tangled[other];
        u->tangled[other] = item;
    }
}

static void weigh(masu__untangle *u) {
    const masu__clashes *c = u->clashes;
    int64_t deepest = INT64_MIN;
    for (uint32_t i = 0; i < c->model->item_count; i++)
        for (uint32_t k = c->pair_start[i]; k < c->pair_start[i + 1]; k++) {
            int64_t depth = depth_of(u, i, &c->pairs[k]);
            deepest = depth > deepest ? depth : deepest;
        }
    for (uint32_t i = 0; i < c->model->item_count; i++)
        for (uint32_t k = c->pair_start[i]; k < c->pair_start[i + 1]; k++) {
            int64_t depth = depth_of(u, i, &c->pairs[k]);
            double grown = depth > 0
                               ? u->weight[k] * (1 + least_growth + depth_growth * (double)depth / (double)deepest)
                               : u->weight[k] * shrinking;
            u->weight[k] = grown < 1 ? 1 : grown > most_weight ? most_weight : grown;
        }
}

/* Items that end above the height go to where they overlap least. False: one has no place. */
static bool begin(masu__untangle *u, int64_t height, uint64_t seed, int64_t *offsets) {
    const masu__clashes *c = u->clashes;
    u->height = height;
    u->offsets = offsets;
    u->steps = 0;
    masu__rng_seed(&u->rng, seed);
    for (uint32_t k = 0; k < c->pair_start[c->model->item_count]; k++)
        u->weight[k] = 1;
    for (uint32_t i = 0; i < c->model->item_count; i++) {
        if (offsets[i] <= highest_of(u, i))
            continue;
        offsets[i] = best_offset(u, i);
        if (offsets[i] < 0)
            return false;
    }
    return true;
}

masu__search_end masu__untangle_run(masu__untangle *u, int64_t height, uint64_t seed, uint64_t steps,
                                    const masu__plan_stop *stop, int64_t *offsets) {
    if (!begin(u, height, seed, offsets))
        return MASU__SEARCH_EXHAUSTED;
    for (;;) {
        find_tangled(u);
        if (u->tangled_count == 0)
            break;
        for (uint32_t k = 0; k < u->tangled_count; k++) {
            uint32_t item = u->tangled[k];
            if (!is_tangled(u, item))
                continue;
            if (u->steps++ >= steps)
                return MASU__SEARCH_LIMIT;
            if (u->steps % ASK_EVERY == 0 && stop->asked(stop->context))
                return MASU__SEARCH_STOPPED;
            offsets[item] = best_offset(u, item);
        }
        weigh(u);
    }
    MASU_HEAVY_ASSERT(masu__untangle_valid(u));
    return MASU__SEARCH_FOUND;
}

uint64_t masu__untangle_steps(const masu__untangle *u) {
    return u->steps;
}

bool masu__untangle_valid(const masu__untangle *u) {
    const masu__clashes *c = u->clashes;
    for (uint32_t i = 0; i < c->model->item_count; i++) {
        if (u->offsets[i] < 0 || u->offsets[i] > highest_of(u, i) || u->offsets[i] % c->model->alignment[i] != 0)
            return false;
        for (uint32_t k = c->hard_start[i]; k < c->hard_start[i + 1]; k++)
            if (c->hard[k].from < u->offsets[i] && u->offsets[i] < c->hard[k].to)
                return false;
    }
    return true;
}
