/* halves.c: divides rows among two halves. See halves.h.
 *
 *     group    rows that are surely of one program (bonds.h); it changes sides whole
 *     lane     four sections: a group's bytes in each of them, and those of the lower half, are added and compared
 *              together
 *     border   a moment at which rows of the group and of others are born or die; net: how much the group's load grows
 *              there
 */
#include "planner/search/halves.h"

#include <string.h>

#include "base/meta.h"
#include "base/rng.h"
#include "planner/search/bonds.h"
#include "planner/search/front.h"

/* Costs are parts of ONE; loads are parts of WHOLE, which is the height. A border with rows of both halves costs
 * SHARED, and STRAINED more where both loads change: that could have been one program's moment. Each section costs the
 * load above its share, times a weight that grows from nothing to LAST_WEIGHT; it is as hot as FIRST_HEAT in the
 * beginning and LAST_HEAT in the end. */
#define ONE        (INT64_C(1) << 20)
#define WHOLE      (1 << 16)
#define SHARED     (2 * ONE)
#define STRAINED   (5 * ONE)
#define FIRST_HEAT (ONE * 3 / 2)
#define LAST_HEAT  (ONE * 2 / 5)

enum {
    LAST_WEIGHT = 100,
    SHARE_EVERY = 4,
    SHARE_STEP = WHOLE / 1024,
    MOST_MOVED = WHOLE / 24,
    LANES = 4,
    MOST_TOGETHER = 12,
    STOP_EVERY = 64,
    MOST_LOADS = 1 << 22
};

typedef int32_t lane __attribute__((vector_size(4 * LANES)));

typedef struct border {
    uint32_t moment;
    int64_t net;
} border;

struct masu__halves {
    const masu__plan_model *model;
    uint32_t moments;                  /* between sections, and the two ends, where every row may begin or end */
    uint32_t *at_start;                /* [moments + 1] into at: the items born or dead at a moment */
    uint32_t *at;                      /* [2 * items] */
    uint32_t *group_of;                /* per item */
    uint32_t *members_start, *members; /* the items of a group */
    uint32_t *borders_start;
    border *borders;
    uint32_t *first, *count; /* per group: the lanes it lives in */
    size_t *loads_start;     /* per group: into loads */
    lane *loads;             /* of each group */
    lane *mine, *room;       /* of the lower half; what it must have at least, lest the upper half exceed its share */
    uint32_t lanes, groups;
    uint32_t *counts[2]; /* per moment: groups of each half with a border there */
    int64_t *nets[2];
    bool *upper;          /* per group */
    int64_t *peaks;       /* per section: only while the peaks are found */
    int32_t share[2];     /* of the lower and the upper half; together WHOLE */
    int64_t weight, heat; /* now */
    masu__rng rng;
    void *memory;
    size_t memory_bytes;
};

/* ---- moments, groups, borders ---------------------------------------------------------------- */

static void lay_out(masu__halves *h, char *at, size_t loads) {
    char *begin = at;
    size_t n = h->model->item_count, moments = h->moments;
    h->loads = masu__plan_take(&at, loads, sizeof *h->loads);
    h->mine = masu__plan_take(&at, h->lanes, sizeof *h->mine);
    h->room = masu__plan_take(&at, h->lanes, sizeof *h->room);
    h->peaks = masu__plan_take(&at, moments, sizeof *h->peaks);
    h->nets[0] = masu__plan_take(&at, moments, sizeof *h->nets[0]);
    h->nets[1] = masu__plan_take(&at, moments, sizeof *h->nets[1]);
    h->borders = masu__plan_take(&at, 2 * n, sizeof *h->borders);
    h->loads_start = masu__plan_take(&at, n, sizeof *h->loads_start);
    h->counts[0] = masu__plan_take(&at, moments, sizeof *h->counts[0]);
    h->counts[1] = masu__plan_take(&at, moments, sizeof *h->counts[1]);
    h->at_start = masu__plan_take(&at, moments + 1, sizeof *h->at_start);
    h->at = masu__plan_take(&at, 2 * n, sizeof *h->at);
    h->group_of = masu__plan_take(&at, n, sizeof *h->group_of);
    h->members_start = masu__plan_take(&at, n + 1, sizeof *h->members_start);
    h->members = masu__plan_take(&at, n, sizeof *h->members);
    h->borders_start = masu__plan_take(&at, n + 1, sizeof *h->borders_start);
    h->first = masu__plan_take(&at, n, sizeof *h->first);
    h->count = masu__plan_take(&at, n, sizeof *h->count);
    h->upper = masu__plan_take(&at, n, sizeof *h->upper);
    h->memory_bytes = (size_t)(at - begin);
}

static void list_moments(masu__halves *h) {
    const masu__plan_model *m = h->model;
    memset(h->at_start, 0, (h->moments + 1) * sizeof *h->at_start);
    for (uint32_t i = 0; i < m->item_count; i++) {
        h->at_start[m->first[i] + 1]++;
        h->at_start[m->end[i] + 1]++;
    }
    for (uint32_t s = 0; s < h->moments; s++)
        h->at_start[s + 1] += h->at_start[s];
    for (uint32_t i = 0; i < m->item_count; i++) {
        h->at[h->at_start[m->first[i]]++] = i;
        h->at[h->at_start[m->end[i]]++] = i;
    }
    for (uint32_t s = h->moments; s > 0; s--)
        h->at_start[s] = h->at_start[s - 1];
    h->at_start[0] = 0;
}

static void list_members(masu__halves *h) {
    uint32_t n = h->model->item_count;
    h->groups = masu__bonds_find(h->model, h->at_start, h->at, h->group_of);
    memset(h->members_start, 0, (n + 1) * sizeof *h->members_start);
    for (uint32_t i = 0; i < n; i++)
        h->members_start[h->group_of[i] + 1]++;
    for (uint32_t g = 0; g < h->groups; g++)
        h->members_start[g + 1] += h->members_start[g];
    for (uint32_t i = 0; i < n; i++)
        h->members[h->members_start[h->group_of[i]]++] = i;
    for (uint32_t g = h->groups; g > 0; g--)
        h->members_start[g] = h->members_start[g - 1];
    h->members_start[0] = 0;
}

/* The moment's rows may all be the group's: nothing is shared there, whatever side it is on. */
static bool has_others(const masu__halves *h, uint32_t moment, uint32_t group) {
    for (uint32_t k = h->at_start[moment]; k < h->at_start[moment + 1]; k++)
        if (h->group_of[h->at[k]] != group)
            return true;
    return false;
}

/* A moment appears once in a group's borders. Short lists: groups have many members or few borders. */
static void add_border(masu__halves *h, uint32_t group, uint32_t moment, int64_t net, uint32_t *count) {
    if (moment == 0 || moment + 1 == h->moments || !has_others(h, moment, group))
        return;
    for (uint32_t k = h->borders_start[group]; k < *count; k++)
        if (h->borders[k].moment == moment) {
            h->borders[k].net += net;
            return;
        }
    h->borders[(*count)++] = (border){moment, net};
}

static void list_borders(masu__halves *h) {
    const masu__plan_model *m = h->model;
    uint32_t count = 0;
    size_t loads = 0;
    for (uint32_t g = 0; g < h->groups; g++) {
        uint32_t first = UINT32_MAX, end = 0;
        h->borders_start[g] = count;
        for (uint32_t k = h->members_start[g]; k < h->members_start[g + 1]; k++) {
            uint32_t item = h->members[k];
            add_border(h, g, m->first[item], m->size[item], &count);
            add_border(h, g, m->end[item], -m->size[item], &count);
            first = m->first[item] < first ? m->first[item] : first;
            end = m->end[item] > end ? m->end[item] : end;
        }
        h->first[g] = first / LANES;
        h->count[g] = (end + LANES - 1) / LANES - first / LANES;
        h->loads_start[g] = loads;
        loads += h->count[g];
    }
    h->borders_start[h->groups] = count;
}

/* No group lives longer than its members together. */
static size_t most_loads(const masu__plan_model *m) {
    size_t sum = 0;
    for (uint32_t i = 0; i < m->item_count; i++)
        sum += (m->end[i] - m->first[i]) / LANES + 2;
    return sum;
}

bool masu__halves_suit(const masu__plan_model *m) {
    return m->simple && m->item_count > 1 && m->section_count > 2 && most_loads(m) <= MOST_LOADS;
}

masu__halves *masu__halves_create(const masu__plan_model *model) {
    masu__halves *h = masu__meta_calloc(1, sizeof *h);
    if (!h)
        return NULL;
    size_t loads = most_loads(model);
    h->model = model;
    h->moments = model->section_count + 1;
    h->lanes = (model->section_count + LANES - 1) / LANES;
    lay_out(h, (char *)(uintptr_t)16, loads); /* only to count */
    h->memory = masu__meta_alloc(h->memory_bytes + 16);
    if (!h->memory) {
        masu__meta_free(h, sizeof *h);
        return NULL;
    }
    lay_out(h, (char *)(((uintptr_t)h->memory + 15) / 16 * 16), loads);
    list_moments(h);
    list_members(h);
    list_borders(h);
    return h;
}

void masu__halves_destroy(masu__halves *h) {
    if (!h)
        return;
    masu__meta_free(h->memory, h->memory_bytes + 16);
    masu__meta_free(h, sizeof *h);
}

uint32_t masu__halves_groups(const masu__halves *h) {
    return h->groups;
}

/* ---- what a change of sides costs ------------------------------------------------------------ */

static int64_t shared(const masu__halves *h, uint32_t moment) {
    if (h->counts[0][moment] == 0 || h->counts[1][moment] == 0)
        return 0;
    return h->nets[0][moment] != 0 && h->nets[1][moment] != 0 ? SHARED + STRAINED : SHARED;
}

static void move_border(masu__halves *h, const border *b, bool upper) {
    h->counts[!upper][b->moment]--;
    h->counts[upper][b->moment]++;
    h->nets[!upper][b->moment] -= b->net;
    h->nets[upper][b->moment] += b->net;
}

static lane positive(lane x) {
    return x & (x > 0);
}

static lane above(lane mine, lane room, int32_t share) {
    return positive(mine - share) + positive(room - mine);
}

/* The group goes to the other half; what that costs. Twice: as it was. */
static int64_t change(masu__halves *h, uint32_t group) {
    bool upper = !h->upper[group];
    int64_t cost = 0;
    for (uint32_t k = h->borders_start[group]; k < h->borders_start[group + 1]; k++) {
        const border *b = &h->borders[k];
        cost -= shared(h, b->moment);
        move_border(h, b, upper);
        cost += shared(h, b->moment);
    }
    const lane *loads = h->loads + h->loads_start[group], *room = h->room + h->first[group];
    lane *mine = h->mine + h->first[group], over = {0};
    for (uint32_t k = 0; k < h->count[group]; k++) {
        over -= above(mine[k], room[k], h->share[0]);
        mine[k] += upper ? -loads[k] : loads[k];
        over += above(mine[k], room[k], h->share[0]);
    }
    h->upper[group] = upper;
    return cost + h->weight * ((int64_t)over[0] + over[1] + over[2] + over[3]) * (ONE / WHOLE);
}

/* ---- annealing ------------------------------------------------------------------------------- */

/* Minus the logarithm to the base of two of a random number in (0, 1), in parts of ONE; straight between powers. */
static int64_t random_patience(masu__halves *h) {
    uint64_t x = masu__rng_next(&h->rng) | 1;
    int zeros = __builtin_clzll(x);
    return (zeros + 1) * ONE - (int64_t)((x << zeros & INT64_MAX) >> 43);
}

static uint32_t any(masu__halves *h, uint32_t count) {
    return (uint32_t)((masu__rng_next(&h->rng) >> 32) * count >> 32);
}

static unsigned add_group(unsigned count, uint32_t *groups, uint32_t group) {
    for (unsigned i = 0; i < count; i++)
        if (groups[i] == group)
            return count;
    groups[count] = group;
    return count + 1;
}

/* The groups of one random change of sides. */
static unsigned draw_change(masu__halves *h, uint32_t *groups) {
    uint32_t kind = any(h, 10), group = any(h, h->groups);
    uint32_t borders = h->borders_start[group + 1] - h->borders_start[group];
    unsigned count = 1;
    groups[0] = group;
    if (kind > 2 || borders == 0)
        return 1;
    uint32_t moment = h->borders[h->borders_start[group] + any(h, borders)].moment;
    uint32_t from = h->at_start[moment], to = h->at_start[moment + 1];
    if (kind > 0) /* another of the moment, too */
        return add_group(count, groups, h->group_of[h->at[from + any(h, to - from)]]);
    for (uint32_t k = from; k < to && to - from <= MOST_TOGETHER; k++) /* all of a moment follow the first */
        if (h->upper[h->group_of[h->at[k]]] == h->upper[group])
            count = add_group(count, groups, h->group_of[h->at[k]]);
    return count;
}

/* The halves change places from a moment on: what is born there or later. */
static int64_t change_later(masu__halves *h, uint32_t first) {
    int64_t cost = 0;
    for (uint32_t g = 0; g < h->groups; g++)
        if (h->first[g] >= first)
            cost += change(h, g);
    return cost;
}

static bool is_taken(masu__halves *h, int64_t cost) {
    return cost <= 0 || cost / 1024 * 1024 <= (random_patience(h) >> 10) * (h->heat >> 10);
}

/* One program may lie below before a moment and above behind it: no single row mends that. */
static void try_exchange(masu__halves *h) {
    uint32_t first = h->first[any(h, h->groups)];
    if (!is_taken(h, change_later(h, first)))
        change_later(h, first);
}

static void try_change(masu__halves *h) {
    uint32_t groups[MOST_TOGETHER + 1];
    unsigned count = draw_change(h, groups);
    int64_t cost = 0;
    for (unsigned i = 0; i < count; i++)
        cost += change(h, groups[i]);
    if (!is_taken(h, cost))
        while (count > 0)
            change(h, groups[--count]);
}

/* The loads of each group, in parts of WHOLE. */
static void set_loads(masu__halves *h, int64_t height) {
    const masu__plan_model *m = h->model;
    int32_t *room = (int32_t *)h->room;
    memset(h->room, 0, h->lanes * sizeof *h->room);
    for (uint32_t g = 0; g < h->groups; g++) {
        int32_t *loads = (int32_t *)(h->loads + h->loads_start[g]);
        memset(loads, 0, h->count[g] * sizeof *h->loads);
        for (uint32_t k = h->members_start[g]; k < h->members_start[g + 1]; k++) {
            uint32_t item = h->members[k];
            int32_t size = (int32_t)((double)m->size[item] / (double)height * WHOLE);
            for (uint32_t s = m->first[item]; s < m->end[item]; s++) {
                loads[s - h->first[g] * LANES] += size;
                room[s] += size;
            }
        }
    }
    for (uint32_t k = 0; k < h->lanes; k++)
        h->room[k] -= h->share[1];
}

/* Sides at random, or from left to right. */
static bool choose_sides(masu__halves *h, int64_t height, unsigned share, uint64_t seed, uint32_t width,
                         const masu__plan_stop *stop) {
    for (uint32_t g = 0; g < h->groups && width == 0; g++)
        h->upper[g] = any(h, 256) >= share;
    if (width == 0)
        return true;
    masu__front_problem front = {.model = h->model,
                                 .at_start = h->at_start,
                                 .at = h->at,
                                 .group_of = h->group_of,
                                 .groups = h->groups,
                                 .height = height,
                                 .share = height / 256 * share,
                                 .shared = SHARED,
                                 .strained = STRAINED,
                                 .weight = LAST_WEIGHT * ONE,
                                 .seed = seed,
                                 .width = width};
    return masu__front_divide(&front, stop, h->upper);
}

static void begin(masu__halves *h, int64_t height, unsigned share) {
    h->share[0] = (int32_t)(WHOLE / 256 * share);
    h->share[1] = WHOLE - h->share[0];
    set_loads(h, height);
    memset(h->mine, 0, h->lanes * sizeof *h->mine);
    for (int half = 0; half < 2; half++) {
        memset(h->counts[half], 0, h->moments * sizeof *h->counts[half]);
        memset(h->nets[half], 0, h->moments * sizeof *h->nets[half]);
    }
    for (uint32_t g = 0; g < h->groups; g++) {
        for (uint32_t k = h->borders_start[g]; k < h->borders_start[g + 1]; k++) {
            h->counts[h->upper[g]][h->borders[k].moment]++;
            h->nets[h->upper[g]][h->borders[k].moment] += h->borders[k].net;
        }
        for (uint32_t k = 0; !h->upper[g] && k < h->count[g]; k++)
            h->mine[h->first[g] + k] += h->loads[h->loads_start[g] + k];
    }
}

/* How far through the sweeps: the weight grows with the square of the way, the heat falls straight. */
static void set_heat(masu__halves *h, uint32_t sweep, uint32_t sweeps) {
    int64_t way = ONE * sweep / sweeps;
    h->weight = LAST_WEIGHT * way / ONE * way / ONE;
    h->heat = FIRST_HEAT - (FIRST_HEAT - LAST_HEAT) / ONE * way - (FIRST_HEAT - LAST_HEAT) % ONE * way / ONE;
}

/* The two peaks together, in bytes; INT64_MAX: all are on one side. */
static int64_t peaks(const masu__halves *h) {
    const masu__plan_model *m = h->model;
    int64_t most[2] = {0, 0};
    memset(h->peaks, 0, h->moments * sizeof *h->peaks);
    for (uint32_t i = 0; i < m->item_count; i++)
        for (uint32_t s = m->first[i]; !h->upper[h->group_of[i]] && s < m->end[i]; s++)
            h->peaks[s] += m->size[i];
    for (uint32_t s = 0; s < m->section_count; s++) {
        int64_t upper = m->load[s] - h->peaks[s];
        most[0] = h->peaks[s] > most[0] ? h->peaks[s] : most[0];
        most[1] = upper > most[1] ? upper : most[1];
    }
    return most[0] > 0 && most[1] > 0 ? most[0] + most[1] : INT64_MAX;
}

int64_t masu__halves_divide(masu__halves *h, int64_t height, unsigned share, uint64_t seed, uint32_t sweeps,
                            uint32_t width, const masu__plan_stop *stop, bool *upper) {
    masu__rng_seed(&h->rng, seed);
    if (!choose_sides(h, height, share, seed, width, stop))
        return INT64_MAX;
    begin(h, height, share);
    for (uint32_t sweep = width > 0 ? sweeps - sweeps / 4 : 0; sweep < sweeps; sweep++) {
        if (sweep % STOP_EVERY == 0 && stop->asked(stop->context))
            return INT64_MAX;
        set_heat(h, sweep, sweeps);
        if (sweep > sweeps / 4 && sweep % 2 == 0)
            try_exchange(h);
        for (uint32_t i = 0; i < h->groups; i++)
            try_change(h);
    }
    for (uint32_t i = 0; i < h->model->item_count; i++)
        upper[i] = h->upper[h->group_of[i]];
    return peaks(h);
}
