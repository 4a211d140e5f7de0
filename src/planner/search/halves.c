/* halves.c: divides rows among two halves. See halves.h. */
#include "planner/search/halves.h"

#include <string.h>

#include "base/meta.h"
#include "base/rng.h"

/* Loads are parts of ONE, which is the height. A moment with rows of both halves costs SHARED; each section costs what
 * is above its share, times a weight that grows from FIRST_WEIGHT by DOUBLINGS powers of two; it is as hot as
 * FIRST_HEAT in the beginning and LAST_HEAT in the end. */
#define ONE        (INT64_C(1) << 20)
#define SHARED     (3 * ONE)
#define FIRST_HEAT (2 * ONE)
#define LAST_HEAT  (ONE / 2)

enum { FIRST_WEIGHT = 10, DOUBLINGS = 4, MOST_TOGETHER = 12, STOP_EVERY = 64, MUCH_WORSE = 64 };

struct masu__halves {
    const masu__plan_model *model;
    uint32_t moments;     /* between sections, and the two ends, where every row may begin or end */
    uint32_t *at_start;   /* [moments + 1] into at: the items born or dead at a moment */
    uint32_t *at;         /* [2 * items] */
    uint32_t *counts[2];  /* per moment: items of each half that are born or die there */
    int64_t *size;        /* per item, in parts of ONE */
    int64_t *load, *mine; /* per section: of all, of the lower half */
    bool *upper, *best;   /* per item: now; where the peaks were lowest since the last beginning */
    int64_t best_sum;     /* of those peaks */
    int64_t share[2];     /* of the lower and the upper half; together ONE */
    int64_t weight, heat; /* now */
    masu__rng rng;
    void *memory;
    size_t memory_bytes;
};

static void lay_out(masu__halves *h, char *at) {
    char *begin = at;
    size_t n = h->model->item_count, moments = h->moments;
    h->size = masu__plan_take(&at, n, sizeof *h->size);
    h->load = masu__plan_take(&at, moments, sizeof *h->load);
    h->mine = masu__plan_take(&at, moments, sizeof *h->mine);
    h->at_start = masu__plan_take(&at, moments + 1, sizeof *h->at_start);
    h->at = masu__plan_take(&at, 2 * n, sizeof *h->at);
    h->counts[0] = masu__plan_take(&at, moments, sizeof *h->counts[0]);
    h->counts[1] = masu__plan_take(&at, moments, sizeof *h->counts[1]);
    h->upper = masu__plan_take(&at, n, sizeof *h->upper);
    h->best = masu__plan_take(&at, n, sizeof *h->best);
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

masu__halves *masu__halves_create(const masu__plan_model *model) {
    masu__halves *h = masu__meta_calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->model = model;
    h->moments = model->section_count + 1;
    lay_out(h, (char *)(uintptr_t)16); /* only to count */
    h->memory = masu__meta_alloc(h->memory_bytes + 16);
    if (!h->memory) {
        masu__meta_free(h, sizeof *h);
        return NULL;
    }
    lay_out(h, h->memory);
    list_moments(h);
    return h;
}

void masu__halves_destroy(masu__halves *h) {
    if (!h)
        return;
    masu__meta_free(h->memory, h->memory_bytes + 16);
    masu__meta_free(h, sizeof *h);
}

/* ---- what a change of sides costs ------------------------------------------------------------ */

static int64_t shared(const masu__halves *h, uint32_t moment) {
    bool inner = moment > 0 && moment + 1 < h->moments;
    return inner && h->counts[0][moment] > 0 && h->counts[1][moment] > 0 ? SHARED : 0;
}

static int64_t above(const masu__halves *h, int64_t load, int64_t mine) {
    int64_t lower = mine - h->share[0], upper = load - mine - h->share[1];
    return (lower > 0 ? lower : 0) + (upper > 0 ? upper : 0);
}

static void count_moment(masu__halves *h, uint32_t moment, bool upper) {
    h->counts[!upper][moment]--;
    h->counts[upper][moment]++;
}

/* The item goes to the other half; what that costs. Twice: as it was. */
static int64_t change(masu__halves *h, uint32_t item) {
    const masu__plan_model *m = h->model;
    uint32_t first = m->first[item], end = m->end[item];
    bool upper = !h->upper[item];
    int64_t more = upper ? -h->size[item] : h->size[item], cost = -shared(h, first) - shared(h, end), over = 0;
    count_moment(h, first, upper);
    count_moment(h, end, upper);
    cost += shared(h, first) + shared(h, end);
    for (uint32_t s = first; s < end; s++) {
        over -= above(h, h->load[s], h->mine[s]);
        h->mine[s] += more;
        over += above(h, h->load[s], h->mine[s]);
    }
    h->upper[item] = upper;
    return cost + h->weight * over;
}

/* ---- annealing ------------------------------------------------------------------------------- */

/* Minus the logarithm to the base of two of a random number in (0, 1), in parts of ONE; straight between powers. */
static int64_t random_patience(masu__halves *h) {
    uint64_t x = masu__rng_next(&h->rng) | 1;
    int zeros = __builtin_clzll(x);
    return (zeros + 1) * ONE - (int64_t)((x << zeros & INT64_MAX) >> 43);
}

/* The items of one random change of sides. */
static unsigned draw_change(masu__halves *h, uint32_t *items) {
    const masu__plan_model *m = h->model;
    uint64_t kind = masu__rng_below(&h->rng, 10);
    unsigned count = 1;
    items[0] = (uint32_t)masu__rng_below(&h->rng, m->item_count);
    uint32_t moment = masu__rng_next(&h->rng) & 1 ? m->first[items[0]] : m->end[items[0]];
    uint32_t from = h->at_start[moment], to = h->at_start[moment + 1];
    if (kind == 0 && to - from <= MOST_TOGETHER) { /* all of a moment follow the first */
        for (uint32_t k = from; k < to; k++)
            if (h->at[k] != items[0] && h->upper[h->at[k]] == h->upper[items[0]])
                items[count++] = h->at[k];
    } else if (kind < 3) { /* another of the moment, too */
        items[1] = h->at[from + masu__rng_below(&h->rng, to - from)];
        count += items[1] != items[0];
    }
    return count;
}

static void try_change(masu__halves *h) {
    uint32_t items[MOST_TOGETHER + 1];
    unsigned count = draw_change(h, items);
    int64_t cost = 0;
    for (unsigned i = 0; i < count; i++)
        cost += change(h, items[i]);
    if (cost > 0 && cost / 1024 * 1024 > (random_patience(h) >> 10) * (h->heat >> 10))
        while (count > 0)
            change(h, items[--count]);
}

static void begin(masu__halves *h, int64_t height, unsigned share, bool again) {
    const masu__plan_model *m = h->model;
    h->share[0] = ONE / 16 * share;
    h->share[1] = ONE - h->share[0];
    memset(h->mine, 0, h->moments * sizeof *h->mine);
    memset(h->counts[0], 0, h->moments * sizeof *h->counts[0]);
    memset(h->counts[1], 0, h->moments * sizeof *h->counts[1]);
    for (uint32_t s = 0; s < m->section_count; s++)
        h->load[s] = (int64_t)((double)m->load[s] / (double)height * (double)ONE);
    for (uint32_t i = 0; i < m->item_count; i++) {
        h->size[i] = (int64_t)((double)m->size[i] / (double)height * (double)ONE);
        h->upper[i] = again ? h->upper[i] : masu__rng_below(&h->rng, 16) >= share;
        h->counts[h->upper[i]][m->first[i]]++;
        h->counts[h->upper[i]][m->end[i]]++;
        for (uint32_t s = m->first[i]; !h->upper[i] && s < m->end[i]; s++)
            h->mine[s] += h->size[i];
    }
}

/* How far through the sweeps: the weight grows by powers of two, straight between them; the heat falls straight. */
static void set_heat(masu__halves *h, uint32_t sweep, uint32_t sweeps) {
    int64_t way = ONE * sweep / sweeps, power = way * DOUBLINGS / ONE, between = way * DOUBLINGS % ONE;
    h->weight = (FIRST_WEIGHT << power) + (FIRST_WEIGHT << power) * between / ONE;
    h->heat = FIRST_HEAT - (FIRST_HEAT - LAST_HEAT) / ONE * way - (FIRST_HEAT - LAST_HEAT) % ONE * way / ONE;
}

/* The two peaks together, in bytes; INT64_MAX: all are on one side. */
static int64_t peaks(const masu__halves *h) {
    const masu__plan_model *m = h->model;
    int64_t most[2] = {0, 0};
    memset(h->mine, 0, h->moments * sizeof *h->mine); /* in bytes now */
    for (uint32_t i = 0; i < m->item_count; i++)
        for (uint32_t s = m->first[i]; !h->upper[i] && s < m->end[i]; s++)
            h->mine[s] += m->size[i];
    for (uint32_t s = 0; s < m->section_count; s++) {
        int64_t upper = m->load[s] - h->mine[s];
        most[0] = h->mine[s] > most[0] ? h->mine[s] : most[0];
        most[1] = upper > most[1] ? upper : most[1];
    }
    return most[0] > 0 && most[1] > 0 ? most[0] + most[1] : INT64_MAX;
}

/* A division that became much worse is not warmed up again: the best one is. */
static int64_t keep_best(masu__halves *h, bool *upper) {
    size_t bytes = h->model->item_count * sizeof *upper;
    int64_t sum = peaks(h);
    memcpy(upper, h->upper, bytes);
    if (sum <= h->best_sum) {
        h->best_sum = sum;
        memcpy(h->best, h->upper, bytes);
    } else if (sum - h->best_sum > h->best_sum / MUCH_WORSE) {
        memcpy(h->upper, h->best, bytes);
    }
    return sum;
}

int64_t masu__halves_divide(masu__halves *h, int64_t height, unsigned share, uint64_t seed, uint32_t sweeps, bool again,
                            const masu__plan_stop *stop, bool *upper) {
    uint32_t n = h->model->item_count;
    masu__rng_seed(&h->rng, seed);
    h->best_sum = again ? h->best_sum : INT64_MAX;
    begin(h, height, share, again);
    for (uint32_t sweep = again ? sweeps / 2 : 0; sweep < sweeps; sweep++) {
        if (sweep % STOP_EVERY == 0 && stop->asked(stop->context))
            return INT64_MAX;
        set_heat(h, sweep, sweeps);
        for (uint32_t i = 0; i < n; i++)
            try_change(h);
    }
    return keep_best(h, upper);
}
