/* goals.c: which heights to ask for, and for how long.
 *
 * To fit: the capacity itself, and with each round also heights below it, down to the bound: a
 * lower plan answers the question as well, and sometimes a tighter one is found sooner. That also
 * keeps what was solved at one capacity from being lost at a larger one.
 *
 * To minimise: first the bound (for most problems it is reached), a few rounds. Then halve the
 * interval between what is not yet ruled out and the best plan, with more rounds each time the
 * interval closes; a failure only moves the lower end until the interval is closed.
 */
#include "allocators/plan/solver.h"

enum { MOST_ROUNDS = 40, BOUND_ROUNDS = 5, NOISE_AT_ONCE = 12, NOISE_LARGE = 64 };

/* Heights are multiples of unit: nothing lies between. */
static int64_t round_down(const masu__solver *s, int64_t height) {
    return height - height % s->model.unit;
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

/* One closing of the interval. */
static void halve(masu__solver *s, unsigned rounds) {
    int64_t low = s->bound - 1, unit = s->model.unit; /* nothing known at or below low */
    while (!masu__solver_finished(s)) {
        if (low < s->bound - 1)
            low = s->bound - 1;
        int64_t target = round_down(s, low + (s->best_height - low) / 2);
        if (target <= low)
            target = round_down(s, s->best_height - 1);
        if (target <= low || target < s->bound || s->best_height - low <= unit)
            return;
        if (masu__solver_portfolio(s, target, rounds > 3 ? rounds - 3 : 0, rounds) !=
            MASU__SEARCH_FOUND)
            low = target;
    }
}

void masu__solver_minimize(masu__solver *s) {
    masu__solver_heuristics(s);
    masu__solver_noise(s, NOISE_AT_ONCE, s->options->seed);
    if (masu__solver_finished(s))
        return;
    masu__solver_portfolio(s, s->bound + (s->model.unit - s->bound % s->model.unit) % s->model.unit,
                           0, BOUND_ROUNDS);
    if (!s->searchable) {
        masu__solver_noise(s, NOISE_LARGE, s->options->seed + NOISE_AT_ONCE);
        keep_placing(s, s->bound);
        return;
    }
    for (unsigned rounds = 2; rounds < MOST_ROUNDS && !masu__solver_finished(s); rounds++) {
        halve(s, rounds);
        if (!masu__solver_finished(s))
            masu__solver_portfolio(s, s->bound, BOUND_ROUNDS + rounds - 2,
                                   BOUND_ROUNDS + rounds - 1);
    }
}
