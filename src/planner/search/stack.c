/* stack.c: two halves planned apart, one on top of the other (halves.h).
 *
 *     ▼▼▼▼▼▼  the upper plan hangs from the ceiling: its ragged side is below
 *     ▲▲▲▲▲▲  the lower one lies on the floor
 *
 * Then everything sinks as far as it goes, the lowest first. Where offsets are aligned the upper plan is not turned.
 */
#include "planner/search/solver.h"

#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "planner/search/halves.h"

enum {
    FEWEST_ITEMS = 48,
    FEWEST_SECTIONS = 16,
    MOST_ITEMS = 4096,
    LARGE = 400, /* a whole round of orders takes long */
    SWEEPS = 1000,
    WIDTH = 2000,
    STEPS_A_HALF = 40000,
    CHANGES_A_STEP = 50, /* of sides, that take as long as a step of the search */
    LONGER = 6,          /* turns, after which both are longer */
    SHARES = 7,
    FAR = 4,
    MOST_IN_VAIN = 12 /* plans of halves that were no better; a bad division counts for some */
};
static const unsigned shares[SHARES] = {128, 128, 124, 128, 96, 126, 80}; /* parts of 256 */
static const double PART_OF_TIME = 0.3;

typedef struct stack {
    masu__solver *solver;
    masu__halves *halves;
    bool *upper;         /* per item */
    masu_plan_row *rows; /* of a half */
    uint64_t *offsets;
    int64_t *tops;   /* per section */
    uint32_t *order; /* items by offset */
} stack;

static void leave(stack *k) {
    size_t n = k->solver->model.item_count + 1;
    masu__halves_destroy(k->halves);
    masu__meta_free(k->upper, n * sizeof *k->upper);
    masu__meta_free(k->rows, n * sizeof *k->rows);
    masu__meta_free(k->offsets, n * sizeof *k->offsets);
    masu__meta_free(k->tops, ((size_t)k->solver->model.section_count + 1) * sizeof *k->tops);
    masu__meta_free(k->order, n * sizeof *k->order);
}

static bool enter(stack *k, masu__solver *s) {
    size_t n = s->model.item_count + 1;
    *k = (stack){.solver = s};
    k->halves = masu__halves_create(&s->model);
    k->upper = masu__meta_calloc(n, sizeof *k->upper);
    k->rows = masu__meta_calloc(n, sizeof *k->rows);
    k->offsets = masu__meta_calloc(n, sizeof *k->offsets);
    k->tops = masu__meta_calloc((size_t)s->model.section_count + 1, sizeof *k->tops);
    k->order = masu__meta_calloc(n, sizeof *k->order);
    return k->halves && k->upper && k->rows && k->offsets && k->tops && k->order;
}

static masu_plan_options options_of_half(const masu__solver *s, unsigned turn, int64_t capacity) {
    masu_plan_options options = *s->options;
    double left = options.time_limit_s - (masu__plan_now() - s->begin_s);
    options.goal = capacity > 0 ? MASU_PLAN_FIT : MASU_PLAN_MINIMIZE;
    options.improved = NULL;
    options.only = 0;
    options.step_limit = (uint64_t)STEPS_A_HALF << (turn / 8 < 5 ? turn / 8 : 5);
    options.time_limit_s = options.time_limit_s > 0 ? left * PART_OF_TIME + 1e-3 : 0;
    return options;
}

/* Its rows; the most of them that live at once. */
static int64_t rows_of_half(stack *k, bool upper, masu_plan_problem *half) {
    const masu__plan_model *m = &k->solver->model;
    int64_t peak = 0;
    *half = (masu_plan_problem){.rows = k->rows};
    memset(k->tops, 0, m->section_count * sizeof *k->tops);
    for (uint32_t i = 0; i < m->item_count; i++) {
        if (k->upper[i] != upper)
            continue;
        k->rows[half->count++] = (masu_plan_row){.size_bytes = (uint64_t)m->size[i],
                                                 .lower = m->first[i],
                                                 .upper = m->end[i],
                                                 .alignment_bytes = (uint64_t)m->alignment[i]};
        for (uint32_t s = m->first[i]; s < m->end[i]; s++)
            k->tops[s] += m->size[i];
    }
    for (uint32_t s = 0; s < m->section_count; s++)
        peak = k->tops[s] > peak ? k->tops[s] : peak;
    return peak;
}

/* Offsets of the items of one half, above the floor of a plan of their own: at most `spare` above its load where there
 * is something to spare, else as low as can be. Its height; INT64_MAX: none. */
static int64_t plan_half(stack *k, bool upper, unsigned turn, int64_t spare) {
    masu__solver *s = k->solver;
    masu_plan_problem half;
    masu_plan_result result;
    int64_t peak = rows_of_half(k, upper, &half);
    half.capacity_bytes = spare > 0 ? (uint64_t)(peak + spare) : 0;
    masu_plan_options options = options_of_half(s, turn, (int64_t)half.capacity_bytes);
    masu_status status = masu__plan_find_once(&half, &options, k->offsets, &result);
    s->out_of_memory |= status == MASU_ERR_OUT_OF_MEMORY;
    s->attempts++;
    if (status != MASU_OK || result.height_bytes == 0)
        return INT64_MAX;
    s->steps += result.steps;
    s->steps_granted += options.step_limit;
    for (uint32_t i = 0, at = 0; i < s->model.item_count; i++)
        if (k->upper[i] == upper)
            s->offsets[i] = (int64_t)k->offsets[at++];
    return (int64_t)result.height_bytes;
}

static int by_offset(const void *a, const void *b, void *offsets) {
    const int64_t *of = offsets;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (of[x] != of[y])
        return of[x] < of[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Everything goes down as far as it can, the lowest first. */
static void sink(stack *k) {
    const masu__plan_model *m = &k->solver->model;
    int64_t *offsets = k->solver->offsets;
    memset(k->tops, 0, m->section_count * sizeof *k->tops);
    for (uint32_t i = 0; i < m->item_count; i++)
        k->order[i] = i;
    qsort_r(k->order, m->item_count, sizeof *k->order, by_offset, offsets);
    for (uint32_t i = 0; i < m->item_count; i++) {
        uint32_t item = k->order[i];
        int64_t floor = 0;
        for (uint32_t s = m->first[item]; s < m->end[item]; s++)
            floor = k->tops[s] > floor ? k->tops[s] : floor;
        offsets[item] = masu__plan_align(floor, m->alignment[item]);
        for (uint32_t s = m->first[item]; s < m->end[item]; s++)
            k->tops[s] = offsets[item] + m->size[item];
    }
}

static void pile(stack *k, int64_t lower, int64_t upper) {
    masu__solver *s = k->solver;
    const masu__plan_model *m = &s->model;
    int64_t alignment = 1;
    for (uint32_t i = 0; i < m->item_count; i++)
        alignment = m->alignment[i] > alignment ? m->alignment[i] : alignment;
    lower = masu__plan_align(lower, alignment);
    for (uint32_t i = 0; i < m->item_count; i++)
        if (k->upper[i])
            s->offsets[i] = lower + (alignment > 1 ? s->offsets[i] : upper - s->offsets[i] - m->size[i]);
    sink(k);
    masu__solver_offer(s, s->offsets, masu__plan_model_height(m, s->offsets), "halves, one on the other");
}

/* One half, then the other; the first one may have half of what both can spare, the second one what is left. */
static void plan_both(stack *k, int64_t sum, int64_t goal, unsigned turn) {
    masu__solver *s = k->solver;
    masu_plan_problem half;
    bool first = turn % 2;
    int64_t peak = rows_of_half(k, !first, &half);
    int64_t one = plan_half(k, first, turn, (goal - sum) / 2);
    if (one == INT64_MAX || peak >= s->best_height - one || masu__solver_finished(s))
        return;
    int64_t two = plan_half(k, !first, turn, goal - one - peak);
    if (two < INT64_MAX)
        pile(k, first ? two : one, first ? one : two);
}

/* Divided for a height between the bound and what is wanted; planned only where that could be lower than the best plan
 * by half of what is wanted. How much of MOST_IN_VAIN that took if it was in vain; MOST_IN_VAIN: it is over. */
static unsigned take_turn(stack *k, int64_t wanted, unsigned turn) {
    static const int quarters[] = {0, 2, 1, 3};
    masu__solver *s = k->solver;
    masu__plan_stop stop = {masu__solver_stopped, s};
    uint32_t sweeps = (uint32_t)SWEEPS << (turn / LONGER < 4 ? turn / LONGER : 4);
    int64_t goal = wanted > s->bound ? wanted : s->bound;
    int64_t height = s->bound + (goal - s->bound) * quarters[turn / 2 % 4] / 4;
    uint32_t width = turn % 2 == 0 ? (uint32_t)WIDTH << (turn / LONGER < 4 ? turn / LONGER : 4) : 0;
    int64_t sum = masu__halves_divide(k->halves, height, shares[turn / 2 % SHARES],
                                      s->options->seed * UINT64_C(1000003) + turn, sweeps, width, &stop, k->upper);
    s->steps_granted += (uint64_t)sweeps * s->model.item_count / CHANGES_A_STEP;
    if (sum == INT64_MAX)
        return MOST_IN_VAIN;
    if (sum > s->best_height - (s->best_height - goal) / 2)
        return sum > s->bound + s->bound / FAR ? MOST_IN_VAIN / 3 : 0;
    plan_both(k, sum, goal, turn);
    return 1;
}

void masu__solver_halves(masu__solver *s, int64_t enough, unsigned from, unsigned to, bool early) {
    const masu__plan_model *m = &s->model;
    stack k;
    if (m->item_count < FEWEST_ITEMS || m->item_count > MOST_ITEMS || m->section_count < FEWEST_SECTIONS ||
        s->best_height <= enough || masu__solver_finished(s) || !masu__halves_suit(m) ||
        (early && m->item_count <= LARGE))
        return;
    bool entered = enter(&k, s);
    bool now = entered && early == (m->item_count > LARGE && masu__halves_groups(k.halves) < m->item_count / 4 * 3);
    s->out_of_memory |= !entered;
    for (unsigned turn = from, vain = 0; now && turn < to && vain < MOST_IN_VAIN; turn++) {
        int64_t before = s->best_height;
        if (before <= enough || masu__solver_finished(s))
            break;
        vain += take_turn(&k, enough, turn);
        vain = s->best_height < before ? 0 : vain;
    }
    leave(&k);
}
