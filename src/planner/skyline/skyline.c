/* skyline.c: fills the lowest valley of the skyline. See skyline.h. */
#include "planner/skyline/skyline.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/rng.h"
#include "planner/skyline/demand.h"

typedef struct node {
    uint32_t earliest_end, latest_end; /* of the items below not yet placed; UINT32_MAX, 0: none */
    float largest_key;                 /* NO_KEY: none */
} node;

#define NO_KEY (-1.0f) /* the keys of items are not below 0 */

/* A flat stretch of the skyline, found by the section in which it begins.
 *     stretches follow each other: next[s] is the end of s, before[next[s]] == s
 *     neighbours differ in height; each is once in the heap */
struct masu__valley {
    const masu__plan_model *model;
    const int64_t *floor; /* may be NULL */
    uint32_t *order;      /* items by birth, then by death */
    uint32_t *first_of;   /* [section_count + 1]: the first in order born in this section or later */
    float *keys;          /* per item */
    float *crowding;      /* per item: the largest load it lives through, over the bound */
    uint32_t leaves;      /* a power of two */
    node *tree;
    masu__demand demand;
    masu__demand_node *demand_nodes;
    int64_t *height;
    uint32_t *next, *before, *heap, *heap_position;
    uint32_t heap_count;
    const masu__valley_pace *pace; /* may be NULL */
    void *memory;                  /* owned: all arrays */
    size_t memory_bytes;
};

#define NOWHERE UINT32_MAX

/* ---- set-up ---------------------------------------------------------------------------------- */

static void lay_out(masu__valley *v, char *at) {
    char *begin = at;
    size_t n = v->model->item_count, s = (size_t)v->model->section_count + 1;
    v->tree = masu__plan_take(&at, 2 * (size_t)v->leaves, sizeof *v->tree);
    v->demand_nodes = masu__plan_take(&at, masu__demand_nodes(v->model->section_count), sizeof *v->demand_nodes);
    v->height = masu__plan_take(&at, s, sizeof *v->height);
    v->order = masu__plan_take(&at, n, sizeof *v->order);
    v->keys = masu__plan_take(&at, n, sizeof *v->keys);
    v->crowding = masu__plan_take(&at, n, sizeof *v->crowding);
    v->first_of = masu__plan_take(&at, s, sizeof *v->first_of);
    v->next = masu__plan_take(&at, s, sizeof *v->next);
    v->before = masu__plan_take(&at, s, sizeof *v->before);
    v->heap = masu__plan_take(&at, s, sizeof *v->heap);
    v->heap_position = masu__plan_take(&at, s, sizeof *v->heap_position);
    v->memory_bytes = (size_t)(at - begin);
}

/* By birth is there; deaths within a birth, few or many, are sorted by counting: all by death first, and
 * those then dealt to their births. keys and heap lend the room: neither is in use yet. */
static void order_by_life(masu__valley *v) {
    const masu__plan_model *m = v->model;
    uint32_t *by_death = (uint32_t *)v->keys, *count = v->heap;
    memset(count, 0, ((size_t)m->section_count + 1) * sizeof *count);
    for (uint32_t i = 0; i < m->item_count; i++)
        count[m->end[i]]++;
    for (uint32_t s = 0, sum = 0; s <= m->section_count; s++) {
        uint32_t here = count[s];
        count[s] = sum;
        sum += here;
    }
    for (uint32_t k = 0; k < m->item_count; k++)
        by_death[count[m->end[v->order[k]]]++] = v->order[k];
    memcpy(count, v->first_of, ((size_t)m->section_count + 1) * sizeof *count);
    for (uint32_t k = 0; k < m->item_count; k++)
        v->order[count[m->first[by_death[k]]]++] = by_death[k];
}

/* A tree of largest loads over the sections. */
static bool find_crowding(masu__valley *v) {
    const masu__plan_model *m = v->model;
    size_t leaves = 1;
    while (leaves < m->section_count)
        leaves *= 2;
    size_t bytes = 2 * leaves * sizeof(float);
    float *most = masu__meta_calloc(1, bytes);
    if (!most)
        return false;
    for (uint32_t s = 0; s < m->section_count; s++)
        most[leaves + s] = (float)((double)m->load[s] / (double)m->bound);
    for (size_t k = leaves - 1; k > 0; k--)
        most[k] = most[2 * k] > most[2 * k + 1] ? most[2 * k] : most[2 * k + 1];
    for (uint32_t i = 0; i < m->item_count; i++) {
        float crowding = 0;
        for (size_t l = m->first[i] + leaves, h = m->end[i] + leaves; l < h; l /= 2, h /= 2) {
            if (l & 1) {
                crowding = most[l] > crowding ? most[l] : crowding;
                l++;
            }
            if (h & 1) {
                --h;
                crowding = most[h] > crowding ? most[h] : crowding;
            }
        }
        v->crowding[i] = crowding;
    }
    masu__meta_free(most, bytes);
    return true;
}

masu__valley *masu__valley_create(const masu__plan_model *model, const int64_t *floor) {
    masu__valley *v = masu__meta_calloc(1, sizeof *v);
    if (!v)
        return NULL;
    v->model = model;
    v->floor = floor;
    v->leaves = 1;
    while (v->leaves < model->item_count)
        v->leaves *= 2;
    lay_out(v, (char *)(uintptr_t)16); /* only to count */
    v->memory = masu__meta_alloc(v->memory_bytes + 16);
    if (!v->memory) {
        masu__meta_free(v, sizeof *v);
        return NULL;
    }
    lay_out(v, v->memory);
    masu__plan_model_order_by_birth(v->model, v->order, v->first_of);
    order_by_life(v);
    if (!find_crowding(v)) {
        masu__valley_destroy(v);
        return NULL;
    }
    return v;
}

void masu__valley_destroy(masu__valley *v) {
    if (!v)
        return;
    masu__meta_free(v->memory, v->memory_bytes + 16);
    masu__meta_free(v, sizeof *v);
}

/* ---- the items not yet placed ---------------------------------------------------------------- */

static double key_of(const masu__plan_model *m, masu__valley_key key, uint32_t item) {
    double sections = m->end[item] - m->first[item];
    double duration = (double)m->upper[item] - (double)m->lower[item];
    double size = (double)m->size[item];
    switch (key) {
    case MASU__VALLEY_AREA:
        return size * duration;
    case MASU__VALLEY_SECTIONS:
        return size * sections;
    case MASU__VALLEY_SQUARE:
        return size * sections * sections;
    case MASU__VALLEY_SIZE:
        return size;
    case MASU__VALLEY_DURATION:
        return duration;
    default:
        return sections;
    }
}

static void tree_join(node *tree, size_t at) {
    const node *a = &tree[2 * at], *b = &tree[2 * at + 1];
    tree[at] = (node){a->earliest_end < b->earliest_end ? a->earliest_end : b->earliest_end,
                      a->latest_end > b->latest_end ? a->latest_end : b->latest_end,
                      a->largest_key > b->largest_key ? a->largest_key : b->largest_key};
}

/* The logarithm of a positive number: exact at powers of two, straight between them, the same on every machine. */
static double rough_log2(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (double)bits * 0x1p-52 - 1023;
}

static float least_key(const masu__valley *v) {
    float least = v->keys[0];
    for (uint32_t i = 1; i < v->model->item_count; i++)
        least = v->keys[i] < least ? v->keys[i] : least;
    return least;
}

static void find_keys(masu__valley *v, const masu__valley_way *way, uint64_t seed) {
    const masu__plan_model *m = v->model;
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    float most = 0;
    for (uint32_t i = 0; i < m->item_count; i++) {
        double factor = way->noise > 0 ? 1 + way->noise * masu__rng_uniform(&rng) : 1;
        v->keys[i] = (float)rough_log2(key_of(m, way->key, i) * factor);
        if (way->crowded > 0)
            v->keys[i] += (float)(way->crowded * rough_log2((double)v->crowding[i]));
    }
    float least = least_key(v);
    for (uint32_t i = 0; i < m->item_count; i++) {
        v->keys[i] -= least;
        most = v->keys[i] > most ? v->keys[i] : most;
    }
    most += (float)(2 * way->touch + 2 * way->level) + 1;
    for (uint32_t i = 0; way->coarse > 0 && i < m->item_count; i++)
        v->keys[i] += most * (float)(int)(v->crowding[i] / (float)way->coarse);
}

static void tree_fill(masu__valley *v) {
    const masu__plan_model *m = v->model;
    for (size_t k = 0; k < v->leaves; k++)
        v->tree[v->leaves + k] = k < m->item_count
                                     ? (node){m->end[v->order[k]], m->end[v->order[k]], v->keys[v->order[k]]}
                                     : (node){NOWHERE, 0, NO_KEY};
    for (size_t k = v->leaves - 1; k > 0; k--)
        tree_join(v->tree, k);
}

static void tree_remove(masu__valley *v, uint32_t place) {
    size_t at = (size_t)v->leaves + place;
    v->tree[at] = (node){NOWHERE, 0, NO_KEY};
    for (at /= 2; at > 0; at /= 2)
        tree_join(v->tree, at);
}

/* The smallest node with all of places [from, to), from < to, below it. */
typedef struct root {
    size_t at;
    uint32_t from, to;
} root;

static root root_over(const masu__valley *v, uint32_t from, uint32_t to) {
    unsigned up = from == to - 1 ? 0 : 32 - (unsigned)__builtin_clz(from ^ (to - 1));
    uint32_t first = from >> up << up;
    return (root){((size_t)v->leaves + from) >> up, first, first + (1u << up)};
}

typedef struct query {
    uint32_t from, to; /* places in order */
    uint32_t covered;  /* all must live in this section, if they are born before it */
    uint32_t end;      /* no item may end later */
    float best_key;
    uint32_t best;     /* a place; NOWHERE */
    uint32_t patience; /* nodes still to be looked at once there is a candidate */
    uint32_t visits;   /* and at all */
} query;

/* Where lives differ in everything, the last tenth of a per cent of a key would cost most of the
 * time. */
enum { PATIENCE = 96 };

/* That an item lives where the demand is most and dies in time takes two conditions, which a node may meet by two
 * items: among long lives many nodes do. Behind so many others the demand is not asked. */
enum { VISITS = 1000, VISITS_IN_A_HURRY = 200 };

/* As deep as log2(items). */
static void tree_search(const masu__valley *v, query *q, size_t at, uint32_t from, uint32_t to) {
    const node *here = &v->tree[at];
    if (to <= q->from || q->to <= from || here->earliest_end > q->end || here->latest_end <= q->covered ||
        here->largest_key <= q->best_key || (q->patience == 0 && q->best != NOWHERE) || q->visits == 0)
        return;
    q->patience -= q->patience > 0;
    q->visits--;
    if (to - from == 1) {
        q->best_key = here->largest_key;
        q->best = from;
        return;
    }
    uint32_t middle = from + (to - from) / 2;
    bool left_first = v->tree[2 * at].largest_key >= v->tree[2 * at + 1].largest_key;
    if (left_first)
        tree_search(v, q, 2 * at, from, middle);
    tree_search(v, q, 2 * at + 1, middle, to);
    if (!left_first)
        tree_search(v, q, 2 * at, from, middle);
}

/* ---- the choice among near ones --------------------------------------------------------------- */

typedef struct choice {
    uint32_t from, to, covered, end; /* as in query */
    uint32_t most_to;                /* no place from here on */
    float least_key;
    uint32_t left, visits; /* items and nodes still to be looked at */
    uint32_t begin;        /* the valley's walls, and their heights; INT64_MAX: the edge of time */
    int64_t floor, wall_before, wall_behind;
    const masu__valley_way *way;
    double best_worth;
    uint32_t best; /* a place */
} choice;

/* The rest between an item and a wall counts in full when it is this share of the item's life,
 * or more: something else will use it. */
static const double SLIVER = 0.2;

/* 1: ends at the wall's height; 0: its own height away from it. */
static double levelness(int64_t top, int64_t wall, int64_t size) {
    if (wall == INT64_MAX)
        return 0;
    double distance = (double)(top > wall ? top - wall : wall - top) / (double)size;
    return distance < 1 ? 1 - distance : 0;
}

static void choice_weigh(const masu__valley *v, choice *c, uint32_t place) {
    const masu__plan_model *m = v->model;
    uint32_t item = v->order[place];
    int64_t size = m->size[item], top = masu__plan_align(c->floor, m->alignment[item]) + size;
    double worth = (double)v->keys[item];
    double slack = (m->end[item] - m->first[item]) * SLIVER;
    double before = (m->first[item] - c->begin) / slack, behind = (c->end - m->end[item]) / slack;
    if (before < 1)
        worth += (1 - before) * (c->way->touch + c->way->level * levelness(top, c->wall_before, size));
    if (behind < 1)
        worth += (1 - behind) * (c->way->touch + c->way->level * levelness(top, c->wall_behind, size));
    if (worth > c->best_worth) {
        c->best_worth = worth;
        c->best = place;
    }
}

/* As deep as log2(items). */
static void choice_search(const masu__valley *v, choice *c, size_t at, uint32_t from, uint32_t to) {
    const node *here = &v->tree[at];
    if (to <= c->from || c->to <= from || here->earliest_end > c->end || here->latest_end <= c->covered ||
        here->largest_key < c->least_key || c->left == 0 || c->visits == 0)
        return;
    c->visits--;
    if (to - from == 1) {
        c->left--;
        choice_weigh(v, c, from);
        return;
    }
    uint32_t middle = from + (to - from) / 2;
    bool left_first = v->tree[2 * at].largest_key >= v->tree[2 * at + 1].largest_key;
    if (left_first)
        choice_search(v, c, 2 * at, from, middle);
    choice_search(v, c, 2 * at + 1, middle, to);
    if (!left_first)
        choice_search(v, c, 2 * at, from, middle);
}

enum { VISITS_A_CHOICE = 12 };

/* Looks at the items born at places [from, to). */
static void choice_among(const masu__valley *v, choice *c, uint32_t from, uint32_t to) {
    c->from = from;
    c->to = to < c->most_to ? to : c->most_to;
    c->left = c->way->among;
    c->visits = c->way->among * VISITS_A_CHOICE;
    if (c->from >= c->to)
        return;
    root over = root_over(v, c->from, c->to);
    choice_search(v, c, over.at, over.from, over.to);
}

/* Those near either wall first. */
static uint32_t choose(const masu__valley *v, const masu__valley_way *way, uint32_t valley, const query *q) {
    uint32_t end = v->next[valley], before = v->before[valley], longest = v->order[q->best];
    uint32_t length = v->model->end[longest] - v->model->first[longest];
    if (length == end - valley) /* fits exactly */
        return q->best;
    uint32_t sliver = (uint32_t)(length * SLIVER) + 1;
    choice c = {.end = end,
                .covered = q->covered,
                .most_to = q->to,
                .least_key = (float)((double)q->best_key - way->within),
                .begin = valley,
                .floor = v->height[valley],
                .wall_before = before != NOWHERE ? v->height[before] : INT64_MAX,
                .wall_behind = end < v->model->section_count ? v->height[end] : INT64_MAX,
                .way = way,
                .best_worth = -1,
                .best = q->best};
    if (sliver < end - valley)
        choice_among(v, &c, q->from, v->first_of[valley + sliver]);
    if (length + sliver < end - valley)
        choice_among(v, &c, v->first_of[end - length - sliver], v->first_of[end - length + 1]);
    choice_among(v, &c, q->from, q->to);
    return c.best;
}

/* ---- the skyline ----------------------------------------------------------------------------- */

static bool lower_than(const masu__valley *v, uint32_t a, uint32_t b) {
    return v->height[a] != v->height[b] ? v->height[a] < v->height[b] : a < b;
}

static void heap_put(masu__valley *v, uint32_t at, uint32_t stretch) {
    v->heap[at] = stretch;
    v->heap_position[stretch] = at;
}

static void heap_rise(masu__valley *v, uint32_t at) {
    uint32_t stretch = v->heap[at];
    for (; at > 0 && lower_than(v, stretch, v->heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap_put(v, at, v->heap[(at - 1) / 2]);
    heap_put(v, at, stretch);
}

static void heap_sink(masu__valley *v, uint32_t at) {
    uint32_t stretch = v->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= v->heap_count)
            break;
        if (child + 1 < v->heap_count && lower_than(v, v->heap[child + 1], v->heap[child]))
            child++;
        if (!lower_than(v, v->heap[child], stretch))
            break;
        heap_put(v, at, v->heap[child]);
        at = child;
    }
    heap_put(v, at, stretch);
}

static void heap_insert(masu__valley *v, uint32_t stretch) {
    heap_put(v, v->heap_count++, stretch);
    heap_rise(v, v->heap_count - 1);
}

static void heap_remove(masu__valley *v, uint32_t stretch) {
    uint32_t at = v->heap_position[stretch], last = v->heap[--v->heap_count];
    if (at == v->heap_count)
        return;
    heap_put(v, at, last);
    heap_rise(v, at);
    heap_sink(v, v->heap_position[last]);
}

/* Appends the stretch [from, to) behind `behind` (NOWHERE: at the left edge), joined to it when
 * they are equally high. Returns the last stretch. */
static uint32_t skyline_append(masu__valley *v, uint32_t behind, uint32_t from, uint32_t to, int64_t height) {
    uint32_t last = from;
    if (behind != NOWHERE && v->height[behind] == height) {
        last = behind;
    } else {
        v->height[from] = height;
        v->before[from] = behind;
        heap_insert(v, from);
    }
    v->next[last] = to;
    return last;
}

/* Connects what follows at `to`, joined when equally high. */
static void skyline_close(masu__valley *v, uint32_t last, uint32_t to) {
    if (to == v->model->section_count)
        return;
    if (v->height[to] == v->height[last]) {
        heap_remove(v, to);
        v->next[last] = v->next[to];
        if (v->next[to] < v->model->section_count)
            v->before[v->next[to]] = last;
    } else {
        v->before[to] = last;
    }
}

/* [first, end) of the valley rises to top. */
static void skyline_place(masu__valley *v, uint32_t valley, uint32_t first, uint32_t end, int64_t top) {
    uint32_t valley_end = v->next[valley], last = v->before[valley];
    int64_t floor = v->height[valley];
    heap_remove(v, valley);
    if (first > valley)
        last = skyline_append(v, last, valley, first, floor);
    last = skyline_append(v, last, first, end, top);
    if (end < valley_end)
        last = skyline_append(v, last, end, valley_end, floor);
    skyline_close(v, last, valley_end);
}

/* The whole valley rises to its lower neighbour. Returns its height. */
static int64_t skyline_raise(masu__valley *v, uint32_t valley) {
    uint32_t end = v->next[valley], before = v->before[valley];
    int64_t left = before != NOWHERE ? v->height[before] : INT64_MAX;
    int64_t right = end < v->model->section_count ? v->height[end] : INT64_MAX;
    MASU_DEBUG_ASSERT(left != INT64_MAX || right != INT64_MAX);
    heap_remove(v, valley);
    int64_t height = left < right ? left : right;
    uint32_t last = skyline_append(v, before, valley, end, height);
    skyline_close(v, last, end);
    return height;
}

/* ---- placing --------------------------------------------------------------------------------- */

static void skyline_open(masu__valley *v) {
    const masu__plan_model *m = v->model;
    uint32_t last = NOWHERE;
    v->heap_count = 0;
    for (uint32_t s = 0, end = 0; s < m->section_count; s = end) {
        int64_t height = v->floor ? v->floor[s] : 0;
        for (end = s + 1; end < m->section_count && (!v->floor || v->floor[end] == height);)
            end++;
        last = skyline_append(v, last, s, end, height);
    }
}

static void find_best(const masu__valley *v, query *q) {
    if (q->from == q->to)
        return;
    root over = root_over(v, q->from, q->to);
    tree_search(v, q, over.at, over.from, over.to);
}

/* The next item, to the floor of the valley; NOWHERE: none lies within it. One that lives where the demand
 * is most, if there is one: elsewhere is room to waste. */
static uint32_t take_next(masu__valley *v, const masu__valley_way *way, uint32_t valley, uint32_t where) {
    uint32_t end = v->next[valley], from = v->first_of[valley];
    query q = {from, v->first_of[end], 0, end, NO_KEY, NOWHERE, PATIENCE, UINT32_MAX};
    if (way->demand) {
        uint32_t visits = way->among > 0 ? VISITS : VISITS_IN_A_HURRY;
        query needed = {from, v->first_of[where + 1], where, end, NO_KEY, NOWHERE, PATIENCE, visits};
        find_best(v, &needed);
        q = needed.best != NOWHERE ? needed : q;
    }
    if (q.best == NOWHERE)
        find_best(v, &q);
    if (q.best == NOWHERE)
        return NOWHERE;
    if (way->among > 0 && v->crowding[v->order[q.best]] >= way->calm)
        q.best = choose(v, way, valley, &q);
    tree_remove(v, q.best);
    return v->order[q.best];
}

static void open_way(masu__valley *v, const masu__valley_way *way, uint64_t seed) {
    find_keys(v, way, seed);
    tree_fill(v);
    skyline_open(v);
    if (way->demand)
        masu__demand_open(&v->demand, v->demand_nodes, v->model->section_count, v->model->load, v->floor);
}

void masu__valley_set_pace(masu__valley *v, const masu__valley_pace *pace) {
    v->pace = pace;
}

/* Every 1024 items. False: no more. */
static bool go_on(const masu__valley *v, uint32_t placed, const masu__plan_stop *stop, masu__valley_way *way) {
    if (placed % 1024 != 0)
        return true;
    bool over = stop && stop->asked(stop->context);
    bool hurry = v->pace && v->pace->hurry(v->pace->context, v->model->item_count - placed, over);
    if (hurry)
        way->among = 0;
    return hurry || !over;
}

int64_t masu__valley_place(masu__valley *v, const masu__valley_way *how, uint64_t seed, int64_t limit,
                           const masu__plan_stop *stop, int64_t *offsets) {
    const masu__plan_model *m = v->model;
    masu__valley_way way = *how;
    int64_t height = 0;
    if (m->item_count == 0)
        return 0;
    open_way(v, &way, seed);
    if (v->pace && !go_on(v, 0, stop, &way))
        return INT64_MAX;
    for (uint32_t placed = 0; placed < m->item_count;) {
        uint32_t valley = v->heap[0], where = 0;
        int64_t most = way.demand ? masu__demand_most(&v->demand, valley, v->next[valley], &where) : 0;
        uint32_t item = take_next(v, &way, valley, where);
        if (item == NOWHERE) {
            if (skyline_raise(v, valley) + most >= limit)
                return INT64_MAX;
            continue;
        }
        offsets[item] = masu__plan_align(v->height[valley], m->alignment[item]);
        int64_t top = offsets[item] + m->size[item];
        if (top > height)
            height = top;
        placed++;
        if (height >= limit || !go_on(v, placed, stop, &way))
            return INT64_MAX;
        skyline_place(v, valley, m->first[item], m->end[item], top);
        if (way.demand)
            masu__demand_lower(&v->demand, m->first[item], m->end[item], m->size[item]);
    }
    return height;
}
