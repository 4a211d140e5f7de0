/* repair.c: lowers a plan where it is highest. See repair.h. */
#include "planner/skyline/repair.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/rng.h"

/* An item near the highest place, with what is asked of it in each attempt. */
typedef struct standing {
    int64_t offset;
    uint32_t first, end, item;
} standing;

struct masu__repair {
    const masu__plan_model *model;
    int64_t *offsets;
    uint32_t *births, *first_of; /* as masu__plan_model_order_by_birth has them */
    uint32_t leaves;             /* a power of two; of both trees */
    uint32_t *latest;            /* over births: the latest end below */
    uint32_t *highest;           /* over items: the one below that ends highest; MASU__PLAN_NONE */
    uint32_t from, to;           /* the sections that `order` is about */
    standing *order;             /* [near_count] all that live there, by offset */
    standing *spare;             /* as many, for sorting */
    uint32_t near_count;
    uint32_t *items; /* those taken out */
    uint32_t item_count;
    bool *out;            /* per item */
    uint32_t *section_of; /* [sections + 1]: in the small problem; or the next not yet painted */
    int64_t *top;         /* [sections]: of what stays */
    int64_t height, target;
    unsigned failures; /* in a row, at this target */
    uint64_t placed;   /* items, in all ways of the last step */
    void *memory;      /* owns the arrays */
    size_t memory_bytes;
};

enum { DEPTHS = 6, WAYS = 8 };

static void lay_out(masu__repair *r, char *at) {
    char *begin = at;
    size_t n = r->model->item_count, s = (size_t)r->model->section_count + 1;
    r->offsets = masu__plan_take(&at, n, sizeof *r->offsets);
    r->births = masu__plan_take(&at, n, sizeof *r->births);
    r->first_of = masu__plan_take(&at, s, sizeof *r->first_of);
    r->latest = masu__plan_take(&at, 2 * (size_t)r->leaves, sizeof *r->latest);
    r->highest = masu__plan_take(&at, 2 * (size_t)r->leaves, sizeof *r->highest);
    r->order = masu__plan_take(&at, n, sizeof *r->order);
    r->spare = masu__plan_take(&at, n, sizeof *r->spare);
    r->items = masu__plan_take(&at, n, sizeof *r->items);
    r->out = masu__plan_take(&at, n, sizeof *r->out);
    r->section_of = masu__plan_take(&at, s, sizeof *r->section_of);
    r->top = masu__plan_take(&at, s, sizeof *r->top);
    r->memory_bytes = (size_t)(at - begin);
}

static void find_latest(masu__repair *r) {
    const masu__plan_model *m = r->model;
    masu__plan_model_order_by_birth(m, r->births, r->first_of);
    for (uint32_t k = 0; k < r->leaves; k++)
        r->latest[r->leaves + k] = k < m->item_count ? m->end[r->births[k]] : 0;
    for (uint32_t k = r->leaves - 1; k > 0; k--)
        r->latest[k] = r->latest[2 * k] > r->latest[2 * k + 1] ? r->latest[2 * k] : r->latest[2 * k + 1];
}

masu__repair *masu__repair_create(const masu__plan_model *model) {
    masu__repair *r = masu__meta_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->model = model;
    for (r->leaves = 1; r->leaves < model->item_count;)
        r->leaves *= 2;
    lay_out(r, (char *)(uintptr_t)16); /* only to count */
    r->memory = masu__meta_alloc(r->memory_bytes + 16);
    if (!r->memory) {
        masu__meta_free(r, sizeof *r);
        return NULL;
    }
    lay_out(r, r->memory);
    find_latest(r);
    return r;
}

void masu__repair_destroy(masu__repair *r) {
    if (!r)
        return;
    masu__meta_free(r->memory, r->memory_bytes + 16);
    masu__meta_free(r, sizeof *r);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b) {
    const standing *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static standing standing_of(const masu__repair *r, uint32_t item) {
    return (standing){r->offsets[item], r->model->first[item], r->model->end[item], item};
}

static int64_t end_of(const masu__repair *r, uint32_t item) {
    return r->offsets[item] + r->model->size[item];
}

/* Of equals the first. */
static void join_highest(masu__repair *r, uint32_t at) {
    uint32_t a = r->highest[2 * at], b = r->highest[2 * at + 1];
    r->highest[at] = b == MASU__PLAN_NONE || end_of(r, a) >= end_of(r, b) ? a : b;
}

static void find_highest(masu__repair *r) {
    for (uint32_t k = 0; k < r->leaves; k++)
        r->highest[r->leaves + k] = k < r->model->item_count ? k : MASU__PLAN_NONE;
    for (uint32_t k = r->leaves - 1; k > 0; k--)
        join_highest(r, k);
}

static uint32_t highest_item(const masu__repair *r) {
    return r->highest[1];
}

/* Not the bound at once: many places must be lowered, and each is easier when little is asked. */
static void set_target(masu__repair *r) {
    int64_t bound = r->model->bound;
    r->target = r->height - (r->height - bound) / 8;
    if (r->target >= r->height)
        r->target = r->height - 1;
    r->failures = 0;
}

void masu__repair_begin(masu__repair *r, const int64_t *offsets, int64_t height) {
    const masu__plan_model *m = r->model;
    memcpy(r->offsets, offsets, m->item_count * sizeof *offsets);
    memset(r->out, 0, m->item_count * sizeof *r->out);
    find_highest(r);
    r->height = height;
    set_target(r);
}

const int64_t *masu__repair_offsets(const masu__repair *r) {
    return r->offsets;
}

/* ---- who is near ----------------------------------------------------------------------------- */

/* All births below this node that live in [from, to) of the repair. */
static void gather_below(masu__repair *r, uint32_t at, uint32_t first, uint32_t leaves) {
    if (first >= r->first_of[r->to] || r->latest[at] <= r->from)
        return;
    if (leaves == 1) {
        r->order[r->near_count++] = standing_of(r, r->births[first]);
        return;
    }
    gather_below(r, 2 * at, first, leaves / 2);
    gather_below(r, 2 * at + 1, first + leaves / 2, leaves / 2);
}

enum { DIGIT = 11, DIGITS = 1 << DIGIT, FEW = 2048 };

/* Digit by digit: many are sorted several times as fast as by comparing. */
static void sort_many(masu__repair *r) {
    uint64_t all = 0;
    for (uint32_t k = 0; k < r->near_count; k++)
        all |= (uint64_t)r->order[k].offset;
    for (unsigned shift = 0; shift < 64 && all >> shift > 0; shift += DIGIT) {
        uint32_t count[DIGITS] = {0}, sum = 0;
        for (uint32_t k = 0; k < r->near_count; k++)
            count[(uint64_t)r->order[k].offset >> shift & (DIGITS - 1)]++;
        for (uint32_t d = 0; d < DIGITS; d++) {
            uint32_t here = count[d];
            count[d] = sum;
            sum += here;
        }
        for (uint32_t k = 0; k < r->near_count; k++)
            r->spare[count[(uint64_t)r->order[k].offset >> shift & (DIGITS - 1)]++] = r->order[k];
        standing *sorted = r->spare;
        r->spare = r->order;
        r->order = sorted;
    }
}

static void gather(masu__repair *r, uint32_t from, uint32_t to) {
    r->from = from;
    r->to = to;
    r->near_count = 0;
    gather_below(r, 1, 0, r->leaves);
    if (r->near_count < FEW)
        qsort(r->order, r->near_count, sizeof *r->order, by_offset);
    else
        sort_many(r);
}

/* ---- taking out ------------------------------------------------------------------------------ */

typedef struct pyramid {
    uint32_t from, to; /* sections */
    int64_t level;
    uint32_t place; /* of the first in order at or above the level */
} pyramid;

static uint32_t place_of_level(const masu__repair *r, int64_t level) {
    uint32_t low = 0, high = r->near_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->order[middle].offset < level)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* False: what is taken out reaches beyond what was gathered. */
static bool take_out(masu__repair *r, pyramid *p) {
    for (uint32_t k = p->place; k < r->near_count && p->from >= r->from && p->to <= r->to; k++) {
        const standing *s = &r->order[k];
        if (s->first >= p->to || s->end <= p->from)
            continue;
        p->from = s->first < p->from ? s->first : p->from;
        p->to = s->end > p->to ? s->end : p->to;
        r->items[r->item_count++] = s->item;
        r->out[s->item] = true;
    }
    return p->from >= r->from && p->to <= r->to;
}

static void forget_out(masu__repair *r) {
    for (uint32_t i = 0; i < r->item_count; i++)
        r->out[r->items[i]] = false;
    r->item_count = 0;
}

/* The floor, from the highest of what stays downwards: each section is painted once. Returns the
 * place of the lowest that ends above the target: it must come out as well; near_count: none. */
static uint32_t paint_floor(masu__repair *r, const pyramid *p) {
    uint32_t *next = r->section_of, left = p->to - p->from, lowest = r->near_count;
    for (uint32_t s = p->from; s <= p->to; s++)
        next[s] = s;
    for (uint32_t s = p->from; s < p->to; s++)
        r->top[s] = 0;
    for (uint32_t k = r->near_count; k-- > 0 && left > 0;) {
        const standing *it = &r->order[k];
        if (it->first >= p->to || it->end <= p->from || r->out[it->item])
            continue;
        uint32_t from = it->first > p->from ? it->first : p->from;
        uint32_t to = it->end < p->to ? it->end : p->to;
        int64_t top = end_of(r, it->item);
        if (top > r->target)
            lowest = k;
        for (uint32_t s = from; s < to; s++) {
            while (next[s] != s)
                s = next[s] = next[next[s]];
            if (s >= to)
                break;
            r->top[s] = top;
            next[s] = s + 1;
            left--;
        }
    }
    return lowest;
}

/* ---- the small problem ----------------------------------------------------------------------- */

typedef struct small {
    masu__plan_model model;
    int64_t *floor;
} small;

#define NEW(s, type, count) ((type *)masu__arena_alloc(&(s)->model.arena, ((size_t)(count) + 1) * sizeof(type), 16))

/* Sections in which no item taken out begins or ends are one with those before them. */
static void number_sections(masu__repair *r, const pyramid *p, masu__plan_model *m) {
    uint32_t *number = r->section_of;
    for (uint32_t s = p->from; s <= p->to; s++)
        number[s] = 0;
    for (uint32_t i = 0; i < r->item_count; i++) {
        number[r->model->first[r->items[i]]] = 1;
        number[r->model->end[r->items[i]]] = 1;
    }
    number[p->from] = number[p->to] = 1;
    uint32_t count = 0;
    for (uint32_t s = p->from; s <= p->to; s++) {
        count += number[s];
        number[s] = count - 1;
    }
    m->section_count = count - 1;
}

static bool small_open(masu__repair *r, const pyramid *p, small *s) {
    masu__plan_model *m = &s->model;
    *s = (small){0};
    number_sections(r, p, m);
    m->item_count = r->item_count;
    m->size = NEW(s, int64_t, m->item_count);
    m->alignment = NEW(s, int64_t, m->item_count);
    m->lower = NEW(s, int64_t, m->item_count);
    m->upper = NEW(s, int64_t, m->item_count);
    m->first = NEW(s, uint32_t, m->item_count);
    m->end = NEW(s, uint32_t, m->item_count);
    m->load = NEW(s, int64_t, m->section_count + 1);
    s->floor = NEW(s, int64_t, m->section_count + 1);
    return m->size && m->alignment && m->lower && m->upper && m->first && m->end && m->load && s->floor;
}

static void small_fill(const masu__repair *r, const pyramid *p, small *s) {
    masu__plan_model *m = &s->model;
    memset(m->load, 0, (m->section_count + 1) * sizeof *m->load);
    memset(s->floor, 0, (m->section_count + 1) * sizeof *s->floor);
    for (uint32_t i = 0; i < m->item_count; i++) {
        uint32_t item = r->items[i];
        m->size[i] = r->model->size[item];
        m->alignment[i] = r->model->alignment[item];
        m->lower[i] = r->model->lower[item];
        m->upper[i] = r->model->upper[item];
        m->first[i] = r->section_of[r->model->first[item]];
        m->end[i] = r->section_of[r->model->end[item]];
        m->load[m->first[i]] += m->size[i];
        m->load[m->end[i]] -= m->size[i];
    }
    for (uint32_t at = p->from; at < p->to; at++)
        if (r->top[at] > s->floor[r->section_of[at]])
            s->floor[r->section_of[at]] = r->top[at];
    int64_t load = 0;
    for (uint32_t at = 0; at < m->section_count; at++) {
        load += m->load[at];
        m->load[at] = s->floor[at] + load;
        m->bound = m->load[at] > m->bound ? m->load[at] : m->bound;
    }
}

/* A way that was often the best for many items, slightly changed. */
static masu__valley_way draw_good_way(masu__rng *rng) {
    static const double levels[] = {1, 2, 2, 4};
    return (masu__valley_way){.key = masu__rng_below(rng, 3) ? MASU__VALLEY_LONGEST : MASU__VALLEY_DURATION,
                              .coarse = masu__rng_below(rng, 2) ? 0.01 : 0.02,
                              .crowded = 1,
                              .noise = masu__rng_below(rng, 2) ? 0.02 : 0.1,
                              .among = masu__rng_below(rng, 2) ? 64 : 32,
                              .within = masu__rng_below(rng, 2) ? 0.7 : 1,
                              .calm = 0.9,
                              .touch = masu__rng_below(rng, 2) ? 0.3 : 0.6,
                              .level = levels[masu__rng_below(rng, 4)],
                              .demand = true};
}

static masu__valley_way draw_way(masu__rng *rng) {
    static const double coarse[] = {0.05, 0.02, 0.02, 0.01, 0.005, 0, 0.1, 0.01};
    static const double noise[] = {0.02, 0.1, 0.2, 0.5};
    static const double bonus[] = {0.2, 0.5, 0.7, 1};
    static const masu__valley_key keys[] = {MASU__VALLEY_DURATION, MASU__VALLEY_DURATION, MASU__VALLEY_LONGEST,
                                            MASU__VALLEY_AREA};
    masu__valley_way way = {.key = keys[masu__rng_below(rng, 4)],
                            .coarse = coarse[masu__rng_below(rng, 8)],
                            .noise = noise[masu__rng_below(rng, 4)]};
    if (way.coarse == 0)
        way.crowded = (double)masu__rng_below(rng, 12);
    if (masu__rng_below(rng, 4) > 0) {
        way.among = masu__rng_below(rng, 2) ? 16 : 48;
        way.calm = 0.95;
        way.within = masu__rng_below(rng, 2) ? 0.3 : 1;
        way.touch = way.level = bonus[masu__rng_below(rng, 4)];
    }
    way.demand = masu__rng_below(rng, 4) > 0;
    return way;
}

/* In many ways, until one is no higher than the target. Where most of time is to be placed again, each that
 * is lower helps, and the next must be lower still. */
static bool place_again(masu__repair *r, small *s, bool wide, masu__rng *rng, const masu__plan_stop *stop,
                        int64_t *offsets) {
    int64_t limit = (wide ? r->height - 1 : r->target) + 1;
    int64_t *lower = NEW(s, int64_t, r->item_count);
    masu__valley *valley = lower ? masu__valley_create(&s->model, s->floor) : NULL;
    bool placed = false;
    for (unsigned k = 0; valley && k < WAYS && !stop->asked(stop->context); k++) {
        masu__valley_way way = masu__rng_below(rng, 2) ? draw_good_way(rng) : draw_way(rng);
        r->placed += r->item_count;
        int64_t height = masu__valley_place(valley, &way, masu__rng_next(rng), limit, stop, lower);
        if (height == INT64_MAX)
            continue;
        placed = true;
        limit = height;
        memcpy(offsets, lower, r->item_count * sizeof *lower);
        if (height <= r->target)
            break;
    }
    masu__valley_destroy(valley);
    return placed;
}

/* ---- an attempt ------------------------------------------------------------------------------ */

/* Those taken out, to their new offsets. */
static void put_back(masu__repair *r, const int64_t *offsets) {
    for (uint32_t i = 0; i < r->item_count; i++)
        r->offsets[r->items[i]] = offsets[i];
    if (r->item_count > r->leaves / 16) {
        find_highest(r);
        return;
    }
    for (uint32_t i = 0; i < r->item_count; i++)
        for (uint32_t at = (r->items[i] + r->leaves) / 2; at > 0; at /= 2)
            join_highest(r, at);
}

/* The deeper and wider, the more often it has failed. */
static pyramid pyramid_over(const masu__repair *r, uint32_t item, masu__rng *rng) {
    static const double levels[DEPTHS] = {0.8, 0.65, 0.5, 0.3, 0.15, 0};
    const masu__plan_model *m = r->model;
    unsigned depth = r->failures < DEPTHS ? r->failures : (unsigned)masu__rng_below(rng, DEPTHS);
    int64_t level = (int64_t)((double)r->height * levels[depth]);
    level = level < r->offsets[item] ? level : r->offsets[item];
    return (pyramid){.from = m->first[item], .to = m->end[item], .level = level};
}

static bool try_take_out(masu__repair *r, pyramid *p) {
    uint32_t lower;
    p->place = place_of_level(r, p->level);
    if (!take_out(r, p))
        return false;
    while ((lower = paint_floor(r, p)) < r->near_count) {
        p->place = lower < p->place ? lower : p->place;
        forget_out(r);
        if (!take_out(r, p))
            return false;
    }
    return true;
}

/* Gathers from twice as far until nothing that is taken out reaches beyond. */
static void take_out_all(masu__repair *r, pyramid *p) {
    uint32_t sections = r->model->section_count;
    for (;;) {
        pyramid tried = *p;
        uint32_t margin = p->to - p->from;
        gather(r, p->from > margin ? p->from - margin : 0, sections - p->to > margin ? p->to + margin : sections);
        if (try_take_out(r, &tried)) {
            *p = tried;
            return;
        }
        forget_out(r);
        p->from = tried.from;
        p->to = tried.to;
    }
}

static void note_height(masu__repair *r) {
    int64_t height = end_of(r, highest_item(r));
    if (height < r->height) {
        r->height = height;
        if (height <= r->target)
            set_target(r);
    }
}

bool masu__repair_step(masu__repair *r, uint64_t seed, uint32_t most, const masu__plan_stop *stop, int64_t *height) {
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    int64_t before = r->height;
    r->placed = 1;
    pyramid p = pyramid_over(r, highest_item(r), &rng);
    take_out_all(r, &p);
    small s = {0};
    bool placed = false;
    if (r->item_count <= most && small_open(r, &p, &s)) {
        int64_t *offsets = NEW(&s, int64_t, r->item_count);
        small_fill(r, &p, &s);
        bool wide = p.to - p.from > r->model->section_count / 2 && r->height - r->model->bound < r->model->bound / 8;
        placed = offsets && s.model.bound <= r->target && place_again(r, &s, wide, &rng, stop, offsets);
        if (placed)
            put_back(r, offsets);
    }
    masu__arena_destroy(&s.model.arena);
    forget_out(r);
    r->failures = placed ? 0 : r->failures + 1;
    if (placed)
        note_height(r);
    else if (r->failures % (2 * DEPTHS) == 0)
        r->target += (r->height - r->target) / 2;
    *height = r->height;
    return r->height < before;
}

unsigned masu__repair_failures(const masu__repair *r) {
    return r->failures;
}

uint64_t masu__repair_items(const masu__repair *r) {
    return r->placed;
}

bool masu__repair_valid(const masu__repair *r) {
    int64_t highest = 0;
    for (uint32_t i = 0; i < r->model->item_count; i++) {
        if (r->out[i])
            return false;
        highest = end_of(r, i) > highest ? end_of(r, i) : highest;
    }
    return highest <= r->height && highest == end_of(r, highest_item(r));
}
