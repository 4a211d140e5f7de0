/* front.c: see front.h. A beam search over time. */
#include "planner/search/front.h"

#include <string.h>

#include "base/meta.h"

enum { WORD = 64, BUCKETS = 512, A_BUCKET = 8 /* parts of the cost of a shared moment */ };

typedef struct division {
    int64_t cost, mine; /* so far; bytes of the lower half now */
    uint64_t front;     /* a number for the sides of what lives now */
} division;

typedef struct beam {
    const masu__front_problem *p;
    uint32_t words, room, count;
    division *now;         /* [room] */
    uint64_t *bits;        /* [room * words]: the groups of the upper half */
    uint32_t *table;       /* [room * 4]: divisions by front; NONE */
    uint64_t *live;        /* [words]: groups that live now */
    uint32_t *first, *end; /* per group: sections */
    uint64_t *number;      /* per group: a random one */
    void *memory;
    size_t bytes;
} beam;

static void lay_out(beam *b, char *at) {
    char *begin = at;
    b->now = masu__plan_take(&at, b->room, sizeof *b->now);
    b->bits = masu__plan_take(&at, (size_t)b->room * b->words, sizeof *b->bits);
    b->table = masu__plan_take(&at, (size_t)b->room * 4, sizeof *b->table);
    b->live = masu__plan_take(&at, b->words, sizeof *b->live);
    b->first = masu__plan_take(&at, b->p->groups, sizeof *b->first);
    b->end = masu__plan_take(&at, b->p->groups, sizeof *b->end);
    b->number = masu__plan_take(&at, b->p->groups, sizeof *b->number);
    b->bytes = (size_t)(at - begin);
}

static uint64_t mixed(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static bool enter(beam *b, const masu__front_problem *p) {
    *b = (beam){.p = p, .words = (p->groups + WORD - 1) / WORD, .room = 2 * p->width};
    lay_out(b, (char *)(uintptr_t)16); /* only to count */
    b->memory = masu__meta_alloc(b->bytes + 16);
    if (!b->memory)
        return false;
    lay_out(b, (char *)(((uintptr_t)b->memory + 15) / 16 * 16));
    for (uint32_t g = 0; g < p->groups; g++) {
        b->first[g] = UINT32_MAX;
        b->end[g] = 0;
        b->number[g] = mixed(p->seed * 4096 + g);
    }
    for (uint32_t i = 0; i < p->model->item_count; i++) {
        uint32_t g = p->group_of[i], first = p->model->first[i], end = p->model->end[i];
        b->first[g] = first < b->first[g] ? first : b->first[g];
        b->end[g] = end > b->end[g] ? end : b->end[g];
    }
    memset(b->live, 0, b->words * sizeof *b->live);
    b->now[0] = (division){0};
    memset(b->bits, 0, b->words * sizeof *b->bits);
    b->count = 1;
    return true;
}

static bool is_upper(const uint64_t *bits, uint32_t group) {
    return bits[group / WORD] >> group % WORD & 1;
}

/* ---- the cheapest stay ----------------------------------------------------------------------- */

static int64_t rank(const beam *b, const division *d) {
    int64_t noise = (int64_t)(mixed(d->front ^ b->p->seed) >> 44) * b->p->shared >> 20; /* below shared */
    return d->cost + noise / 2;
}

/* The rank that at most width divisions stay below. */
static int64_t limit_of(const beam *b) {
    uint32_t counts[BUCKETS] = {0}, sum = 0, k = 0;
    int64_t least = INT64_MAX, step = b->p->shared / A_BUCKET;
    for (uint32_t i = 0; i < b->count; i++)
        least = rank(b, &b->now[i]) < least ? rank(b, &b->now[i]) : least;
    for (uint32_t i = 0; i < b->count; i++) {
        int64_t bucket = (rank(b, &b->now[i]) - least) / step;
        counts[bucket < BUCKETS - 1 ? bucket : BUCKETS - 1]++;
    }
    for (; k < BUCKETS && sum + counts[k] <= b->p->width; k++)
        sum += counts[k];
    k = k > 0 ? k : 1; /* width is never 0 */
    return least + k * step;
}

static void keep(beam *b, uint32_t from, uint32_t to) {
    b->now[to] = b->now[from];
    memmove(b->bits + (size_t)to * b->words, b->bits + (size_t)from * b->words, b->words * sizeof *b->bits);
}

/* Keeps the cheapest of each front, in their order, so that the same divisions come of it everywhere. */
static void merge(beam *b) {
    uint32_t size = 1, count = 0;
    while (size < 2 * b->count)
        size *= 2;
    for (uint32_t i = 0; i < size; i++)
        b->table[i] = MASU__PLAN_NONE;
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t k = (uint32_t)(b->now[i].front & (size - 1));
        while (b->table[k] != MASU__PLAN_NONE && b->now[b->table[k]].front != b->now[i].front)
            k = (k + 1) & (size - 1);
        if (b->table[k] == MASU__PLAN_NONE) {
            b->table[k] = count;
            keep(b, i, count++);
        } else if (b->now[i].cost < b->now[b->table[k]].cost) {
            keep(b, i, b->table[k]);
        }
    }
    b->count = count;
}

static void prune(beam *b) {
    merge(b);
    if (b->count <= b->p->width)
        return;
    int64_t limit = limit_of(b);
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->count && count < b->p->width; i++)
        if (rank(b, &b->now[i]) < limit)
            keep(b, i, count++);
    b->count = count;
}

/* ---- through time ---------------------------------------------------------------------------- */

/* The group may be on either side. The very first one is below: the halves are alike. */
static void branch(beam *b, uint32_t group, bool both) {
    b->live[group / WORD] |= UINT64_C(1) << group % WORD;
    if (!both)
        return;
    if (b->count > b->p->width)
        prune(b);
    for (uint32_t i = 0; i < b->count; i++) {
        uint64_t *bits = b->bits + (size_t)(b->count + i) * b->words;
        b->now[b->count + i] = b->now[i];
        b->now[b->count + i].front += b->number[group];
        memcpy(bits, b->bits + (size_t)i * b->words, b->words * sizeof *bits);
        bits[group / WORD] |= UINT64_C(1) << group % WORD;
    }
    b->count *= 2;
}

/* Counts deaths and births at the moment, and the load of the section behind it. */
static void pass(const beam *b, uint32_t moment, division *d, const uint64_t *bits) {
    const masu__front_problem *p = b->p;
    uint32_t counts[2] = {0, 0};
    int64_t nets[2] = {0, 0};
    for (uint32_t k = p->at_start[moment]; k < p->at_start[moment + 1]; k++) {
        uint32_t item = p->at[k];
        bool upper = is_upper(bits, p->group_of[item]);
        counts[upper]++;
        nets[upper] += p->model->first[item] == moment ? p->model->size[item] : -p->model->size[item];
    }
    d->mine += nets[0];
    if (moment > 0 && counts[0] > 0 && counts[1] > 0)
        d->cost += nets[0] != 0 && nets[1] != 0 ? p->shared + p->strained : p->shared;
    int64_t lower = d->mine - p->share, upper = p->model->load[moment] - d->mine - (p->height - p->share);
    int64_t over = (lower > 0 ? lower : 0) + (upper > 0 ? upper : 0);
    d->cost += (int64_t)((double)p->weight * (double)over / (double)p->height);
}

/* A group that is dead is not a part of the front any more. */
static void bury(beam *b, uint32_t moment) {
    for (uint32_t k = b->p->at_start[moment]; k < b->p->at_start[moment + 1]; k++) {
        uint32_t group = b->p->group_of[b->p->at[k]];
        if (b->end[group] != moment || !(b->live[group / WORD] >> group % WORD & 1))
            continue;
        b->live[group / WORD] &= ~(UINT64_C(1) << group % WORD);
        for (uint32_t i = 0; i < b->count; i++)
            if (is_upper(b->bits + (size_t)i * b->words, group))
                b->now[i].front -= b->number[group];
    }
}

static bool go_through(beam *b, const masu__plan_stop *stop) {
    const masu__front_problem *p = b->p;
    bool both = false;
    for (uint32_t moment = 0; moment < p->model->section_count; moment++) {
        if (stop->asked(stop->context))
            return false;
        for (uint32_t k = p->at_start[moment]; k < p->at_start[moment + 1]; k++) {
            uint32_t group = p->group_of[p->at[k]];
            if (b->first[group] != moment || (b->live[group / WORD] >> group % WORD & 1))
                continue;
            branch(b, group, both);
            both = true;
        }
        for (uint32_t i = 0; i < b->count; i++)
            pass(b, moment, &b->now[i], b->bits + (size_t)i * b->words);
        bury(b, moment);
        prune(b);
    }
    return true;
}

bool masu__front_divide(const masu__front_problem *problem, const masu__plan_stop *stop, bool *upper) {
    beam b;
    if (!enter(&b, problem))
        return false;
    bool done = go_through(&b, stop);
    uint32_t best = 0;
    for (uint32_t i = 1; i < b.count; i++)
        best = b.now[i].cost < b.now[best].cost ? i : best;
    for (uint32_t g = 0; g < problem->groups; g++)
        upper[g] = is_upper(b.bits + (size_t)best * b.words, g);
    masu__meta_free(b.memory, b.bytes + 16);
    return done;
}
