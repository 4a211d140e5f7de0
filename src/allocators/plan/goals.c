/* goals.c: which heights to ask for, and for how long.
 *
 * To fit: the capacity itself, and with each round also heights below it, down to the bound: a
 * lower plan answers the question as well, and sometimes a tighter one is found sooner. That also
 * keeps what was solved at one capacity from being lost at a larger one.
 *
 * To minimise: level by level, with twice the steps each: the bound (most problems reach it), then
 * heights between the bound and the best plan, from above.
 */
#include "allocators/plan/solver.h"

enum { MOST_ROUNDS = 40, TARGETS = 12, NOISE_AT_ONCE = 12, NOISE_LARGE = 64 };

/* Heights are multiples of unit: nothing lies between. */
static int64_t round_down(const masu__solver *s, int64_t height) {
    return height - height % s->model.unit;
}

static int64_t round_up(const masu__solver *s, int64_t height) {
    return round_down(s, height + s->model.unit - 1);
}

static bool reached(const masu__solver *s, int64_t capacity) {
    return s->best_height <= capacity || s->bound > capacity || masu__solver_finished(s);
}

/* Too large for the search: the heuristic goes on with noise. */
static void keep_placing(masu__solver *s, int64_t capacity) {
    for (uint64_t round = 0; s->valley && !reached(s, capacity); round++)
        masu__solver_noise(s, 1, s->options->seed + round * 1000);
}

void masu__solver_fit(masu__solver *s, int64_t capacity) {
    masu__solver_heuristics(s);
    masu__solver_noise(s, s->best_height > capacity ? NOISE_AT_ONCE : 0, s->options->seed);
    for (unsigned round = 0; round < MOST_ROUNDS && !reached(s, capacity); round++) {
        masu__solver_portfolio(s, round_down(s, capacity), round, round + 1);
        if (!s->searchable)
            break;
        int64_t below = round_down(s, s->bound + (capacity - s->bound) / 2);
        if (round >= 2 && s->bound < below && !reached(s, capacity))
            masu__solver_portfolio(s, round_down(s, s->bound), round - 2, round - 1);
        if (round >= 3 && below < round_down(s, capacity) && !reached(s, capacity))
            masu__solver_portfolio(s, below, round - 3, round - 2);
    }
    keep_placing(s, capacity);
}

/* Targets in the interval, from the top; each success begins anew below it. A tight target is not
 * always harder than a loose one, so a failure does not end the level. */
static void descend(masu__solver *s, unsigned level) {
    for (int64_t k = TARGETS - 1; k > 0 && !masu__solver_finished(s); k--) {
        int64_t room = s->best_height - s->bound;
        int64_t target =
            round_down(s, s->bound + room / TARGETS * k + room % TARGETS * k / TARGETS);
        if (target <= s->bound || target >= s->best_height)
            continue;
        if (masu__solver_portfolio(s, target, level - 2, level) == MASU__SEARCH_FOUND)
            k = TARGETS;
    }
}

void masu__solver_minimize(masu__solver *s) {
    masu__solver_heuristics(s);
    masu__solver_noise(s, NOISE_AT_ONCE, s->options->seed);
    if (masu__solver_finished(s))
        return;
    for (unsigned level = 0; level < MOST_ROUNDS && !masu__solver_finished(s); level++) {
        masu__solver_portfolio(s, round_up(s, s->bound), level, level + 1);
        if (!s->searchable)
            break;
        if (level >= 3)
            descend(s, level);
    }
    if (!s->searchable) {
        masu__solver_noise(s, NOISE_LARGE, s->options->seed + NOISE_AT_ONCE);
        keep_placing(s, s->bound);
    }
}
