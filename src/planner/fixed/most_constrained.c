/* most_constrained.c: rows among obstacles, the one with least choice first. See most_constrained.h. */
#include "planner/fixed/most_constrained.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/rng.h"
#include "planner/fixed/obstacles.h"
#include "planner/model/alive.h"

/* A pass looks at each pair twice, at a few nanoseconds. */
#define MOST_PAIRS ((uint64_t)256 << 20)

enum { FEWEST_RANGES = 64, MOST_RANGES = 4 << 20, MORE_RANGES = 8, NOWHERE = UINT32_MAX };

/* Offsets from `low` to `high`, both included. */
typedef struct range {
    int64_t low, high;
} range;

typedef struct pair {
    uint32_t item;  /* that is kept apart */
    uint32_t apart; /* by this relation */
} pair;

struct masu__slots {
    const masu__plan_model *model;
    masu__alive alive;
    uint32_t *with;       /* room for those that live with an item */
    uint32_t *pair_start; /* [items + 1] into pairs: who is kept apart from an item */
    pair *pairs;
    uint32_t *range_start; /* [items + 1] into begin and ranges: the room of each item */
    uint32_t *begin_count, *range_count;
    range *begin, *ranges;                   /* before anything is placed; now */
    double *choice;                          /* per item: its offsets below the height */
    double *weight;                          /* per item: what its choice is divided by */
    double *blame;                           /* per item: grows with each pass in which it found no place */
    double *key;                             /* per item, of the heap: choice / weight */
    uint32_t *heap, *heap_place, heap_count; /* place NOWHERE: not in the heap */
    int64_t height;                          /* asked for */
    masu__arena arena;                       /* owns the arrays */
};

#define NEW(s, type, count) ((type *)masu__arena_calloc(&(s)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* ---- who is kept apart ----------------------------------------------------------------------- */

/* Who lives at the same time is looked up each time: lists of all pairs would be quadratic. */
static bool find_apart(masu__slots *s) {
    const masu__plan_model *m = s->model;
    s->pair_start = NEW(s, uint32_t, m->item_count + 1);
    s->pairs = NEW(s, pair, 2 * (size_t)m->apart_count);
    if (!s->pair_start || !s->pairs)
        return false;
    for (uint32_t r = 0; r < m->apart_count; r++) {
        s->pair_start[m->apart[r].a + 1]++;
        s->pair_start[m->apart[r].b + 1]++;
    }
    for (uint32_t i = 0; i < m->item_count; i++)
        s->pair_start[i + 1] += s->pair_start[i];
    for (uint32_t r = 0; r < m->apart_count; r++) {
        s->pairs[s->pair_start[m->apart[r].a]++] = (pair){m->apart[r].b, r};
        s->pairs[s->pair_start[m->apart[r].b]++] = (pair){m->apart[r].a, r};
    }
    for (uint32_t i = m->item_count; i > 0; i--)
        s->pair_start[i] = s->pair_start[i - 1];
    s->pair_start[0] = 0;
    return true;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static int64_t align_down(int64_t offset, int64_t alignment) {
    return offset & ~(alignment - 1);
}

/* The offsets that the blocks leave, the lowest `most` - 1 and the last; out may be NULL to count. */
static uint32_t leave(const masu__block *blocks, size_t count, int64_t alignment, uint32_t most, range *out) {
    uint32_t made = 0;
    int64_t low = 0;
    for (size_t i = 0; i <= count; i++) {
        int64_t high = i < count ? blocks[i].from : INT64_MAX;
        high = high < 0 ? -1 : align_down(high, alignment);
        if (low <= high && (i == count || made + 1 < most)) {
            if (out)
                out[made] = (range){low, high};
            made++;
        }
        if (i < count && masu__plan_align(blocks[i].to, alignment) > low)
            low = masu__plan_align(blocks[i].to, alignment);
    }
    return made;
}

static bool find_ranges(masu__slots *s, masu__obstacles *obstacles) {
    const masu__plan_model *m = s->model;
    uint32_t most = FEWEST_RANGES + MOST_RANGES / (m->item_count + 1);
    size_t count;
    for (uint32_t i = 0; i < m->item_count; i++) {
        const masu__block *blocks = masu__obstacles_blocks(obstacles, i, &count);
        if (count == SIZE_MAX)
            return false;
        s->begin_count[i] = leave(blocks, count, m->alignment[i], most, NULL);
        s->range_start[i + 1] = s->range_start[i] + s->begin_count[i] + MORE_RANGES;
    }
    s->begin = NEW(s, range, s->range_start[m->item_count]);
    s->ranges = NEW(s, range, s->range_start[m->item_count]);
    if (!s->begin || !s->ranges)
        return false;
    for (uint32_t i = 0; i < m->item_count; i++) {
        const masu__block *blocks = masu__obstacles_blocks(obstacles, i, &count);
        if (count == SIZE_MAX)
            return false;
        leave(blocks, count, m->alignment[i], most, s->begin + s->range_start[i]);
    }
    return true;
}

/* The first range that ends above `from`. */
static uint32_t first_above(const range *ranges, uint32_t count, int64_t from) {
    uint32_t low = 0;
    while (low < count) {
        uint32_t middle = low + (count - low) / 2;
        if (ranges[middle].high <= from)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Offsets of a range below the height, in bytes; one counts for a step of the alignment. */
static double choice_in(const masu__slots *s, uint32_t item, range r) {
    int64_t highest = s->height - s->model->size[item];
    int64_t high = r.high < highest ? r.high : highest;
    return r.low > highest ? 0 : (double)(high - r.low) + (double)s->model->alignment[item];
}

/* Takes the offsets between `from` and `to`, neither included, from an item. Where one range
 * becomes two and there is no room, the smaller is given up. False: nothing changed. */
static bool cut(masu__slots *s, uint32_t item, int64_t from, int64_t to) {
    range *ranges = s->ranges + s->range_start[item];
    uint32_t count = s->range_count[item], at = first_above(ranges, count, from), last;
    int64_t alignment = s->model->alignment[item];
    for (last = at; last < count && ranges[last].low < to; last++)
        continue;
    if (at == last)
        return false;
    range left = {ranges[at].low, from < 0 ? -1 : align_down(from, alignment)};
    range right = {masu__plan_align(to, alignment), ranges[last - 1].high};
    bool keeps_left = left.low <= left.high, keeps_right = right.low <= right.high;
    if (keeps_left && keeps_right && last - at == 1 && count == s->range_start[item + 1] - s->range_start[item]) {
        keeps_left = left.high - left.low > right.high - right.low && last < count;
        keeps_right = !keeps_left;
    }
    uint32_t made = (uint32_t)keeps_left + keeps_right;
    for (uint32_t k = at; k < last; k++)
        s->choice[item] -= choice_in(s, item, ranges[k]);
    s->choice[item] += keeps_left ? choice_in(s, item, left) : 0;
    s->choice[item] += keeps_right ? choice_in(s, item, right) : 0;
    if (made != last - at)
        memmove(ranges + at + made, ranges + last, (count - last) * sizeof *ranges);
    if (keeps_left)
        ranges[at] = left;
    if (keeps_right)
        ranges[at + keeps_left] = right;
    s->range_count[item] = count - (last - at) + made;
    return true;
}

/* ---- the heap: least choice first ------------------------------------------------------------ */

static bool before(const masu__slots *s, uint32_t a, uint32_t b) {
    return s->key[a] != s->key[b] ? s->key[a] < s->key[b] : a < b;
}

static void heap_put(masu__slots *s, uint32_t at, uint32_t item) {
    s->heap[at] = item;
    s->heap_place[item] = at;
}

static void heap_rise(masu__slots *s, uint32_t at) {
    uint32_t item = s->heap[at];
    for (; at > 0 && before(s, item, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap_put(s, at, s->heap[(at - 1) / 2]);
    heap_put(s, at, item);
}

static void heap_sink(masu__slots *s, uint32_t at) {
    uint32_t item = s->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->heap_count)
            break;
        if (child + 1 < s->heap_count && before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s, s->heap[child], item))
            break;
        heap_put(s, at, s->heap[child]);
        at = child;
    }
    heap_put(s, at, item);
}

static uint32_t heap_take(masu__slots *s) {
    uint32_t item = s->heap[0], last = s->heap[--s->heap_count];
    if (s->heap_count > 0) {
        heap_put(s, 0, last);
        heap_sink(s, 0);
    }
    s->heap_place[item] = NOWHERE;
    return item;
}

/* ---- a pass ---------------------------------------------------------------------------------- */

/* In steps of the alignment. */
static double key_of(const masu__slots *s, uint32_t item) {
    return s->choice[item] / (double)s->model->alignment[item] / s->weight[item];
}

static void rekey(masu__slots *s, uint32_t item) {
    double key = key_of(s, item);
    double old = s->key[item];
    s->key[item] = key;
    if (key < old)
        heap_rise(s, s->heap_place[item]);
    else if (key > old)
        heap_sink(s, s->heap_place[item]);
}

static void weigh(masu__slots *s, const masu__slots_way *way, uint64_t seed) {
    const masu__plan_model *m = s->model;
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    for (uint32_t i = 0; i < m->item_count; i++) {
        double weight = 1 + s->blame[i];
        if (way->by_size)
            weight *= (double)m->size[i];
        if (way->by_sections)
            weight *= (double)(m->end[i] - m->first[i]);
        if (way->noise > 0)
            weight *= 1 + way->noise * masu__rng_uniform(&rng);
        s->weight[i] = weight;
    }
}

static void begin(masu__slots *s) {
    const masu__plan_model *m = s->model;
    memcpy(s->ranges, s->begin, s->range_start[m->item_count] * sizeof *s->ranges);
    memcpy(s->range_count, s->begin_count, m->item_count * sizeof *s->range_count);
    s->heap_count = m->item_count;
    for (uint32_t i = 0; i < m->item_count; i++) {
        s->choice[i] = 0;
        for (uint32_t k = 0; k < s->range_count[i]; k++)
            s->choice[i] += choice_in(s, i, s->ranges[s->range_start[i] + k]);
        s->key[i] = key_of(s, i);
        heap_put(s, i, i);
    }
    for (uint32_t i = m->item_count / 2; i-- > 0;)
        heap_sink(s, i);
}

/* The tightest range below the height (or the lowest); where there is none, the lowest of all. */
static int64_t offset_for(const masu__slots *s, uint32_t item, bool lowest) {
    const range *ranges = s->ranges + s->range_start[item];
    int64_t highest = s->height - s->model->size[item], least = INT64_MAX, offset = ranges[0].low;
    for (uint32_t k = 0; k < s->range_count[item] && ranges[k].low <= highest && !lowest; k++) {
        int64_t high = ranges[k].high < highest ? ranges[k].high : highest;
        if (high - ranges[k].low < least) {
            least = high - ranges[k].low;
            offset = ranges[k].low;
        }
    }
    return offset;
}

static bool cut_pieces(masu__slots *s, uint32_t item, int64_t offset, uint32_t other) {
    const masu__plan_model *m = s->model;
    bool changed = false;
    for (uint32_t i = m->piece_start[item]; i < m->piece_start[item + 1]; i++)
        for (uint32_t j = m->piece_start[other]; j < m->piece_start[other + 1]; j++) {
            const masu__plan_piece *a = &m->pieces[i], *b = &m->pieces[j];
            if (a->first < b->end && b->first < a->end)
                changed |= cut(s, other, offset + a->base - b->base - b->height,
                               offset + a->base + a->height - b->base);
        }
    return changed;
}

static void cut_others(masu__slots *s, uint32_t item, int64_t offset) {
    const masu__plan_model *m = s->model;
    uint32_t count = masu__alive_with(&s->alive, item, s->with);
    for (uint32_t k = 0; k < count; k++)
        if (s->heap_place[s->with[k]] != NOWHERE && cut_pieces(s, item, offset, s->with[k]))
            rekey(s, s->with[k]);
    for (uint32_t k = s->pair_start[item]; k < s->pair_start[item + 1]; k++) {
        uint32_t other = s->pairs[k].item;
        const masu__plan_apart *apart = &m->apart[s->pairs[k].apart];
        bool is_a = apart->a == item;
        if (s->heap_place[other] != NOWHERE && cut(s, other, offset - (is_a ? apart->height_b : apart->height_a),
                                                   offset + (is_a ? apart->height_a : apart->height_b)))
            rekey(s, other);
    }
}

int64_t masu__slots_place(masu__slots *s, const masu__slots_way *way, uint64_t seed, int64_t height, int64_t limit,
                          const masu__plan_stop *stop, int64_t *offsets) {
    int64_t reached = 0;
    s->height = height;
    weigh(s, way, seed);
    begin(s);
    for (uint32_t placed = 0; s->heap_count > 0; placed++) {
        uint32_t item = heap_take(s);
        offsets[item] = offset_for(s, item, way->lowest);
        int64_t top = offsets[item] + s->model->size[item];
        if (top > height)
            s->blame[item] += 1;
        reached = top > reached ? top : reached;
        if (reached >= limit || (placed % 256 == 255 && stop->asked(stop->context)))
            return INT64_MAX;
        cut_others(s, item, offsets[item]);
    }
    return reached;
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool slots_arrays(masu__slots *s) {
    uint32_t n = s->model->item_count;
    s->with = NEW(s, uint32_t, n);
    s->range_start = NEW(s, uint32_t, n + 1);
    s->begin_count = NEW(s, uint32_t, n);
    s->range_count = NEW(s, uint32_t, n);
    s->choice = NEW(s, double, n);
    s->weight = NEW(s, double, n);
    s->blame = NEW(s, double, n);
    s->key = NEW(s, double, n);
    s->heap = NEW(s, uint32_t, n);
    s->heap_place = NEW(s, uint32_t, n);
    return s->with && s->range_start && s->begin_count && s->range_count && s->choice && s->weight && s->blame &&
           s->key && s->heap && s->heap_place;
}

masu__slots *masu__slots_create(const masu__plan_model *model, bool *too_large) {
    masu__arena arena = {0};
    masu__obstacles obstacles;
    masu__slots *s = MASU_ARENA_NEW(&arena, masu__slots);
    *too_large = false;
    if (!s)
        return NULL;
    *s = (masu__slots){.model = model, .arena = arena};
    bool right = masu__obstacles_open(&obstacles, model) && slots_arrays(s) && find_apart(s) &&
                 masu__alive_open(&s->alive, model, &s->arena);
    *too_large = right && masu__alive_pairs(&s->alive) > MOST_PAIRS;
    right = right && !*too_large && find_ranges(s, &obstacles);
    masu__obstacles_close(&obstacles);
    if (right)
        return s;
    masu__slots_destroy(s);
    return NULL;
}

void masu__slots_destroy(masu__slots *s) {
    if (!s)
        return;
    masu__arena arena = s->arena; /* s itself lies in it */
    masu__arena_destroy(&arena);
}
