/* slots.c: rows among obstacles, whoever has least choice first. See slots.h. */
#include "allocators/plan/slots.h"

#include <stdlib.h>
#include <string.h>

#include "allocators/plan/obstacles.h"
#include "base/assert.h"
#include "base/rng.h"

#define MOST_PAIRS ((uint64_t)16 << 20)

enum { MORE_RANGES = 8, NOWHERE = UINT32_MAX };

/* Offsets from `low` to `high`, both included. */
typedef struct range {
    int64_t low, high;
} range;

typedef struct pair {
    uint32_t item;  /* that is met */
    uint32_t apart; /* relation + 1 that keeps them apart; 0: they live at the same time */
} pair;

struct masu__slots {
    const masu__plan_model *model;
    uint32_t *pair_start; /* [items + 1] into pairs */
    pair *pairs;
    uint32_t *range_start; /* [items + 1] into begin and ranges: the room of each item */
    uint32_t *begin_count, *range_count;
    range *begin, *ranges; /* before anything is placed; now */
    double *weight;        /* per item: what its choice is divided by */
    double *blame;         /* per item: grows with each pass in which it found no place */
    double *key;           /* per item, of the heap: choice / weight */
    uint32_t *heap, *heap_place, heap_count; /* place NOWHERE: not in the heap */
    int64_t height;                          /* asked for */
    masu__arena arena;                       /* owns the arrays */
};

#define NEW(s, type, count) \
    ((type *)masu__arena_calloc(&(s)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* ---- who meets whom -------------------------------------------------------------------------- */

static int by_birth(const void *a, const void *b, void *model) {
    const masu__plan_model *m = model;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (m->first[x] != m->first[y])
        return m->first[x] < m->first[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static bool pieces_meet(const masu__plan_model *m, uint32_t a, uint32_t b) {
    for (uint32_t i = m->piece_start[a]; i < m->piece_start[a + 1]; i++)
        for (uint32_t j = m->piece_start[b]; j < m->piece_start[b + 1]; j++)
            if (m->pieces[i].first < m->pieces[j].end && m->pieces[j].first < m->pieces[i].end)
                return true;
    return false;
}

/* Counts, and notes where there are pairs. */
static void add_pair(masu__slots *s, uint32_t a, uint32_t b, uint32_t apart) {
    if (s->pairs) {
        s->pairs[s->pair_start[a]++] = (pair){b, apart};
        s->pairs[s->pair_start[b]++] = (pair){a, apart};
    } else {
        s->pair_start[a + 1]++;
        s->pair_start[b + 1]++;
    }
}

/* False: too many. */
static bool each_pair(masu__slots *s, const uint32_t *order) {
    const masu__plan_model *m = s->model;
    uint64_t count = m->apart_count;
    for (uint32_t r = 0; r < m->apart_count && count <= MOST_PAIRS; r++)
        add_pair(s, m->apart[r].a, m->apart[r].b, r + 1);
    for (uint32_t i = 0; i < m->item_count; i++)
        for (uint32_t j = i + 1; j < m->item_count && m->first[order[j]] < m->end[order[i]]; j++) {
            if (!pieces_meet(m, order[i], order[j]))
                continue;
            if (++count > MOST_PAIRS)
                return false;
            add_pair(s, order[i], order[j], 0);
        }
    return count <= MOST_PAIRS;
}

static bool find_pairs(masu__slots *s, bool *too_large) {
    const masu__plan_model *m = s->model;
    uint32_t *order = NEW(s, uint32_t, m->item_count);
    s->pair_start = NEW(s, uint32_t, m->item_count + 1);
    if (!order || !s->pair_start)
        return false;
    for (uint32_t i = 0; i < m->item_count; i++)
        order[i] = i;
    qsort_r(order, m->item_count, sizeof *order, by_birth, (void *)m);
    *too_large = !each_pair(s, order);
    if (*too_large)
        return false;
    for (uint32_t i = 0; i < m->item_count; i++)
        s->pair_start[i + 1] += s->pair_start[i];
    s->pairs = NEW(s, pair, s->pair_start[m->item_count]);
    if (!s->pairs)
        return false;
    each_pair(s, order);
    for (uint32_t i = m->item_count; i > 0; i--)
        s->pair_start[i] = s->pair_start[i - 1];
    s->pair_start[0] = 0;
    return true;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static int64_t align_down(int64_t offset, int64_t alignment) {
    return offset & ~(alignment - 1);
}

/* What the blocks leave of all offsets; out may be NULL to count. */
static uint32_t leave(const masu__block *blocks, size_t count, int64_t alignment, range *out) {
    uint32_t made = 0;
    int64_t low = 0;
    for (size_t i = 0; i <= count; i++) {
        int64_t high = i < count ? blocks[i].from : INT64_MAX;
        high = high < 0 ? -1 : align_down(high, alignment);
        if (low <= high) {
            if (out)
                out[made] = (range){low, high};
            made++;
        }
        if (i < count && masu__plan_align(blocks[i].to, alignment) > low)
            low = masu__plan_align(blocks[i].to, alignment);
    }
    return made;
}

static bool find_ranges(masu__slots *s, masu__obstacles *obstacles, bool *too_large) {
    const masu__plan_model *m = s->model;
    size_t count;
    uint64_t total = 0;
    for (uint32_t i = 0; i < m->item_count; i++) {
        const masu__block *blocks = masu__obstacles_blocks(obstacles, i, &count);
        if (count == SIZE_MAX)
            return false;
        s->begin_count[i] = leave(blocks, count, m->alignment[i], NULL);
        total += s->begin_count[i] + MORE_RANGES;
        *too_large = total > MOST_PAIRS;
        if (*too_large)
            return false;
        s->range_start[i + 1] = (uint32_t)total;
    }
    s->begin = NEW(s, range, total);
    s->ranges = NEW(s, range, total);
    if (!s->begin || !s->ranges)
        return false;
    for (uint32_t i = 0; i < m->item_count; i++) {
        const masu__block *blocks = masu__obstacles_blocks(obstacles, i, &count);
        if (count == SIZE_MAX)
            return false;
        leave(blocks, count, m->alignment[i], s->begin + s->range_start[i]);
    }
    return true;
}

/* Takes the offsets between `from` and `to`, neither included, from an item. Where one range
 * becomes two and there is no room, the smaller is given up. False: nothing changed. */
static bool cut(masu__slots *s, uint32_t item, int64_t from, int64_t to) {
    range *ranges = s->ranges + s->range_start[item];
    uint32_t count = s->range_count[item], at = 0, last;
    int64_t alignment = s->model->alignment[item];
    while (at < count && ranges[at].high <= from)
        at++;
    for (last = at; last < count && ranges[last].low < to; last++)
        continue;
    if (at == last)
        return false;
    range left = {ranges[at].low, from < 0 ? -1 : align_down(from, alignment)};
    range right = {masu__plan_align(to, alignment), ranges[last - 1].high};
    bool keeps_left = left.low <= left.high, keeps_right = right.low <= right.high;
    if (keeps_left && keeps_right && last - at == 1 &&
        count == s->range_start[item + 1] - s->range_start[item]) {
        keeps_left = left.high - left.low > right.high - right.low && last < count;
        keeps_right = !keeps_left;
    }
    uint32_t made = (uint32_t)keeps_left + keeps_right;
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

/* Offsets below the height, in steps of the alignment. */
static double choice_of(const masu__slots *s, uint32_t item) {
    const masu__plan_model *m = s->model;
    const range *ranges = s->ranges + s->range_start[item];
    int64_t highest = s->height - m->size[item];
    double choice = 0;
    for (uint32_t k = 0; k < s->range_count[item] && ranges[k].low <= highest; k++) {
        int64_t high = ranges[k].high < highest ? ranges[k].high : highest;
        choice += (double)(high - ranges[k].low) + (double)m->alignment[item];
    }
    return choice / (double)m->alignment[item];
}

static void rekey(masu__slots *s, uint32_t item) {
    double key = choice_of(s, item) / s->weight[item];
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
        s->key[i] = choice_of(s, i) / s->weight[i];
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
    for (uint32_t k = s->pair_start[item]; k < s->pair_start[item + 1]; k++) {
        uint32_t other = s->pairs[k].item;
        bool changed;
        if (s->heap_place[other] == NOWHERE)
            continue;
        if (s->pairs[k].apart > 0) {
            const masu__plan_apart *apart = &m->apart[s->pairs[k].apart - 1];
            bool is_a = apart->a == item;
            changed = cut(s, other, offset - (is_a ? apart->height_b : apart->height_a),
                          offset + (is_a ? apart->height_a : apart->height_b));
        } else {
            changed = cut_pieces(s, item, offset, other);
        }
        if (changed)
            rekey(s, other);
    }
}

int64_t masu__slots_place(masu__slots *s, const masu__slots_way *way, uint64_t seed, int64_t height,
                          int64_t limit, const masu__plan_stop *stop, int64_t *offsets) {
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
    s->range_start = NEW(s, uint32_t, n + 1);
    s->begin_count = NEW(s, uint32_t, n);
    s->range_count = NEW(s, uint32_t, n);
    s->weight = NEW(s, double, n);
    s->blame = NEW(s, double, n);
    s->key = NEW(s, double, n);
    s->heap = NEW(s, uint32_t, n);
    s->heap_place = NEW(s, uint32_t, n);
    return s->range_start && s->begin_count && s->range_count && s->weight && s->blame && s->key &&
           s->heap && s->heap_place;
}

masu__slots *masu__slots_create(const masu__plan_model *model, bool *too_large) {
    masu__arena arena = {0};
    masu__obstacles obstacles;
    masu__slots *s = MASU_ARENA_NEW(&arena, masu__slots);
    *too_large = false;
    if (!s)
        return NULL;
    *s = (masu__slots){.model = model, .arena = arena};
    bool right = masu__obstacles_open(&obstacles, model) && slots_arrays(s) &&
                 find_pairs(s, too_large) && find_ranges(s, &obstacles, too_large);
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

bool masu__slots_valid(const masu__slots *s) {
    for (uint32_t i = 0; i < s->model->item_count; i++) {
        const range *ranges = s->ranges + s->range_start[i];
        uint32_t count = s->range_count[i];
        if (count == 0 || count > s->range_start[i + 1] - s->range_start[i])
            return false;
        for (uint32_t k = 0; k < count; k++)
            if (ranges[k].low > ranges[k].high || (k > 0 && ranges[k - 1].high >= ranges[k].low))
                return false;
    }
    return true;
}
