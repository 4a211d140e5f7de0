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
 *     stretches follow each other: next of s is its end, before of the stretch at next is s
 *     neighbours differ in height */
typedef struct stretch {
    int64_t height;
    uint32_t next, before;
} stretch;

/* A copy of an item, at its place in the order of births: what lives near it in time is near it in memory. */
typedef struct life {
    int64_t size, alignment;
    uint32_t first, end, item;
    float crowding; /* the largest load it lives through, over the bound */
} life;

struct masu__valley {
    const masu__plan_model *model;
    const int64_t *floor; /* may be NULL */
    life *lives;          /* by birth, then by death */
    uint32_t *first_of;   /* [section_count + 1]: the first in lives born in this section or later */
    float *keys;          /* per life */
    uint32_t *place_of;   /* per item: its place in lives */
    uint32_t leaves;      /* a power of two */
    node *tree;
    masu__demand demand;
    masu__demand_node *demand_nodes;
    stretch *skyline;              /* per section, where one begins */
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
    v->skyline = masu__plan_take(&at, s, sizeof *v->skyline);
    v->lives = masu__plan_take(&at, n, sizeof *v->lives);
    v->keys = masu__plan_take(&at, n, sizeof *v->keys);
    v->place_of = masu__plan_take(&at, n, sizeof *v->place_of);
    v->first_of = masu__plan_take(&at, s, sizeof *v->first_of);
    v->memory_bytes = (size_t)(at - begin);
}

/* Deaths within a birth, few or many, are sorted by counting: all by death first, and those then dealt to their
 * births. keys, place_of and the skyline lend the room: none is in use yet. */
static void order_by_life(masu__valley *v) {
    const masu__plan_model *m = v->model;
    uint32_t *by_death = (uint32_t *)v->keys, *by_birth = v->place_of, *count = (uint32_t *)v->skyline;
    masu__plan_model_order_by_birth(m, by_birth, v->first_of);
    memset(count, 0, ((size_t)m->section_count + 1) * sizeof *count);
    for (uint32_t i = 0; i < m->item_count; i++)
        count[m->end[i]]++;
    for (uint32_t s = 0, sum = 0; s <= m->section_count; s++) {
        uint32_t here = count[s];
        count[s] = sum;
        sum += here;
    }
    for (uint32_t k = 0; k < m->item_count; k++)
        by_death[count[m->end[by_birth[k]]]++] = by_birth[k];
    memcpy(count, v->first_of, ((size_t)m->section_count + 1) * sizeof *count);
    for (uint32_t k = 0; k < m->item_count; k++) {
        uint32_t item = by_death[k], place = count[m->first[item]]++;
        v->lives[place] = (life){m->size[item], m->alignment[item], m->first[item], m->end[item], item, 0};
    }
    for (uint32_t k = 0; k < m->item_count; k++)
        v->place_of[v->lives[k].item] = k;
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
    for (uint32_t k = 0; k < m->item_count; k++) {
        float crowding = 0;
        for (size_t l = v->lives[k].first + leaves, h = v->lives[k].end + leaves; l < h; l /= 2, h /= 2) {
            if (l & 1) {
                crowding = most[l] > crowding ? most[l] : crowding;
                l++;
            }
            if (h & 1) {
                --h;
                crowding = most[h] > crowding ? most[h] : crowding;
            }
        }
        v->lives[k].crowding = crowding;
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
        v->keys[v->place_of[i]] = (float)rough_log2(key_of(m, way->key, i) * factor);
    }
    for (uint32_t k = 0; way->crowded > 0 && k < m->item_count; k++)
        v->keys[k] += (float)(way->crowded * rough_log2((double)v->lives[k].crowding));
    float least = least_key(v);
    for (uint32_t k = 0; k < m->item_count; k++) {
        v->keys[k] -= least;
        most = v->keys[k] > most ? v->keys[k] : most;
    }
    most += (float)(2 * way->touch + 2 * way->level) + 1;
    for (uint32_t k = 0; way->coarse > 0 && k < m->item_count; k++)
        v->keys[k] += most * (float)(int)(v->lives[k].crowding / (float)way->coarse);
}

static void tree_fill(masu__valley *v) {
    const masu__plan_model *m = v->model;
    for (size_t k = 0; k < v->leaves; k++)
        v->tree[v->leaves + k] = k < m->item_count ? (node){v->lives[k].end, v->lives[k].end, v->keys[k]}
                                                   : (node){NOWHERE, 0, NO_KEY};
    for (size_t k = v->leaves - 1; k > 0; k--)
        tree_join(v->tree, k);
}

static void tree_remove(masu__valley *v, uint32_t place) {
    size_t at = (size_t)v->leaves + place;
    v->tree[at] = (node){NOWHERE, 0, NO_KEY};
    for (at /= 2; at > 0; at /= 2) {
        node was = v->tree[at], *now = &v->tree[at];
        tree_join(v->tree, at);
        if (now->earliest_end == was.earliest_end && now->latest_end == was.latest_end &&
            now->largest_key == was.largest_key)
            return;
    }
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
enum { PATIENCE = 96, PATIENCE_THOROUGH = 220 };

/* That an item lives where the demand is most and dies in time takes two conditions, which a node may meet by two
 * items: among long lives many nodes do. Behind so many others the demand is not asked. */
enum { VISITS = 1000, VISITS_THOROUGH = 600, VISITS_IN_A_HURRY = 200 };

/* Whether what lies below may hold a better one. */
static inline bool node_promises(const node *n, const query *q) {
    return n->largest_key > q->best_key && n->earliest_end <= q->end && n->latest_end > q->covered;
}

/* As deep as log2(items). */
static void tree_search(const masu__valley *v, query *q, size_t at, uint32_t from, uint32_t to) {
    if ((q->patience == 0 && q->best != NOWHERE) || q->visits == 0)
        return;
    q->patience -= q->patience > 0;
    q->visits--;
    if (to - from == 1) {
        q->best_key = v->tree[at].largest_key;
        q->best = from;
        return;
    }
    const node *left = &v->tree[2 * at], *right = left + 1;
    uint32_t middle = from + (to - from) / 2;
    bool in_left = q->from < middle && node_promises(left, q);
    bool in_right = middle < q->to && node_promises(right, q);
    bool left_first = left->largest_key >= right->largest_key;
    if (in_left && left_first)
        tree_search(v, q, 2 * at, from, middle);
    if (in_right && (!left_first || node_promises(right, q)))
        tree_search(v, q, 2 * at + 1, middle, to);
    if (in_left && !left_first && node_promises(left, q))
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
    const life *l = &v->lives[place];
    int64_t size = l->size, top = masu__plan_align(c->floor, l->alignment) + size;
    double worth = (double)v->keys[place];
    double slack = (l->end - l->first) * SLIVER;
    double before = (l->first - c->begin) / slack, behind = (c->end - l->end) / slack;
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
    uint32_t end = v->skyline[valley].next, before = v->skyline[valley].before;
    uint32_t length = v->lives[q->best].end - v->lives[q->best].first;
    if (length == end - valley) /* fits exactly */
        return q->best;
    uint32_t sliver = (uint32_t)(length * SLIVER) + 1;
    choice c = {.end = end,
                .covered = q->covered,
                .most_to = q->to,
                .least_key = (float)((double)q->best_key - way->within),
                .begin = valley,
                .floor = v->skyline[valley].height,
                .wall_before = before != NOWHERE ? v->skyline[before].height : INT64_MAX,
                .wall_behind = end < v->model->section_count ? v->skyline[end].height : INT64_MAX,
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

/* Appends the stretch [from, to) behind `behind` (NOWHERE: at the left edge), joined to it when
 * they are equally high. Returns the last stretch. */
static uint32_t skyline_append(masu__valley *v, uint32_t behind, uint32_t from, uint32_t to, int64_t height) {
    if (behind != NOWHERE && v->skyline[behind].height == height) {
        v->skyline[behind].next = to;
        return behind;
    }
    v->skyline[from] = (stretch){height, to, behind};
    return from;
}

/* Connects what follows at `to`, joined when equally high. */
static void skyline_close(masu__valley *v, uint32_t last, uint32_t to) {
    if (to == v->model->section_count)
        return;
    if (v->skyline[to].height == v->skyline[last].height) {
        v->skyline[last].next = to = v->skyline[to].next;
        if (to == v->model->section_count)
            return;
    }
    v->skyline[to].before = last;
}

/* [first, end) of the valley rises to top. Returns the first stretch of what the valley was, or the one it joined. */
static uint32_t skyline_place(masu__valley *v, uint32_t valley, uint32_t first, uint32_t end, int64_t top) {
    stretch was = v->skyline[valley];
    uint32_t last = was.before;
    if (first > valley)
        last = skyline_append(v, last, valley, first, was.height);
    last = skyline_append(v, last, first, end, top);
    uint32_t here = first > valley ? valley : last;
    if (end < was.next)
        last = skyline_append(v, last, end, was.next, was.height);
    skyline_close(v, last, was.next);
    return here;
}

/* The whole valley rises to its lower neighbour. Returns the stretch that it is part of then. */
static uint32_t skyline_raise(masu__valley *v, uint32_t valley) {
    uint32_t end = v->skyline[valley].next, before = v->skyline[valley].before;
    int64_t left = before != NOWHERE ? v->skyline[before].height : INT64_MAX;
    int64_t right = end < v->model->section_count ? v->skyline[end].height : INT64_MAX;
    MASU_DEBUG_ASSERT(left != INT64_MAX || right != INT64_MAX);
    uint32_t last = skyline_append(v, before, valley, end, left < right ? left : right);
    skyline_close(v, last, end);
    return last;
}

/* A valley near `at`: downhill, to the left first, so that left of a valley all is uphill. */
static uint32_t skyline_descend(const masu__valley *v, uint32_t at) {
    for (;;) {
        const stretch *here = &v->skyline[at];
        if (here->before != NOWHERE && v->skyline[here->before].height < here->height)
            at = here->before;
        else if (here->next < v->model->section_count && v->skyline[here->next].height < here->height)
            at = here->next;
        else
            return at;
    }
}

/* ---- placing --------------------------------------------------------------------------------- */

static void skyline_open(masu__valley *v) {
    const masu__plan_model *m = v->model;
    uint32_t last = NOWHERE;
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
    if (node_promises(&v->tree[over.at], q))
        tree_search(v, q, over.at, over.from, over.to);
}

/* The place of the next item, to the floor of the valley; NOWHERE: none lies within it. One that lives where the demand
 * is most, if there is one: elsewhere is room to waste. */
static uint32_t take_next(masu__valley *v, const masu__valley_way *way, uint32_t valley, uint32_t where) {
    uint32_t end = v->skyline[valley].next, from = v->first_of[valley];
    uint32_t patience = way->thorough ? PATIENCE_THOROUGH : PATIENCE;
    query q = {from, v->first_of[end], 0, end, NO_KEY, NOWHERE, patience, UINT32_MAX};
    if (way->demand) {
        uint32_t visits = way->among > 0 ? VISITS : way->thorough ? VISITS_THOROUGH : VISITS_IN_A_HURRY;
        query needed = {from, v->first_of[where + 1], where, end, NO_KEY, NOWHERE, patience, visits};
        find_best(v, &needed);
        q = needed.best != NOWHERE ? needed : q;
    }
    if (q.best == NOWHERE)
        find_best(v, &q);
    if (q.best == NOWHERE)
        return NOWHERE;
    if (way->among > 0 && v->lives[q.best].crowding >= way->calm)
        q.best = choose(v, way, valley, &q);
    tree_remove(v, q.best);
    return q.best;
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
    if (hurry) {
        way->among = 0;
        way->thorough = false;
    }
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
    for (uint32_t placed = 0, at = 0; placed < m->item_count;) {
        uint32_t valley = skyline_descend(v, at), where = 0;
        int64_t most = way.demand ? masu__demand_most(&v->demand, valley, v->skyline[valley].next, &where) : 0;
        uint32_t place = take_next(v, &way, valley, where);
        if (place == NOWHERE) {
            at = skyline_raise(v, valley);
            if (v->skyline[at].height + most >= limit)
                return INT64_MAX;
            continue;
        }
        const life *l = &v->lives[place];
        offsets[l->item] = masu__plan_align(v->skyline[valley].height, l->alignment);
        int64_t top = offsets[l->item] + l->size;
        if (top > height)
            height = top;
        placed++;
        if (height >= limit || !go_on(v, placed, stop, &way))
            return INT64_MAX;
        at = skyline_place(v, valley, l->first, l->end, top);
        if (way.demand)
            masu__demand_lower(&v->demand, l->first, l->end, l->size);
    }
    return height;
}
