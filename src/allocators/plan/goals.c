/* goals.c: which heights to ask for, and for how long.
 *
 * To fit: the capacity itself, and after each round also a height below it, in turns the bound and
 * half way there, with half as many rounds: a lower plan answers the question as well, and sometimes a tighter one is found sooner. That also
 * keeps what was solved at one capacity from being lost at a larger one.
 *
 * To minimise: level by level, with twice the steps each: the bound (most problems reach it), then
 * the interval between the bound and the best plan by halves.
 */
#include "allocators/plan/solver.h"

enum { MOST_ROUNDS = 40, NOISE_AT_ONCE = 12, FINEST = 64, JIGSAWS = 6 };

/* Heights are multiples of unit: nothing lies between. */
static int64_t round_down(const masu__solver *s, int64_t height) {
    return height - height % s->model.unit;
}

static int64_t round_up(const masu__solver *s, int64_t height) {
    return round_down(s, height + s->model.unit - 1);
}

static bool reached(const masu__solver *s, int64_t capacity) {
    return s->best_height <= capacity || s->bound > capacity || s->given_up > capacity ||
           masu__solver_finished(s);
}

/* Many items leave time for little more than a placement or two. */
static bool is_small(const masu__solver *s) {
    return s->model.item_count <= 8192;
}

/* Too large for the search: what is highest is placed again, until time is over. */
static void keep_placing(masu__solver *s, int64_t capacity) {
    for (uint64_t round = 0; s->valley && !reached(s, capacity); round++) {
        masu__solver_repair(s, UINT32_MAX, capacity);
        masu__solver_noise(s, 1, s->options->seed + round * 1000);
    }
}

void masu__solver_fit(masu__solver *s, int64_t capacity) {
    masu__solver_heuristics(s);
    if (is_small(s))
        masu__solver_noise(s, s->best_height > capacity ? NOISE_AT_ONCE : 0, s->options->seed);
    for (unsigned round = 0; round < MOST_ROUNDS && !reached(s, capacity); round++) {
        masu__solver_portfolio(s, round_down(s, capacity), round, round + 1);
        if (!s->searchable)
            break;
        int64_t below = round_down(s, s->bound + (capacity - s->bound) / 2);
        int64_t target = round % 2 == 0 ? round_down(s, s->bound) : below;
        if (target < round_down(s, capacity) && !reached(s, capacity))
            masu__solver_portfolio(s, target, round / 2, round / 2 + 1);
    }
    keep_placing(s, capacity);
}

/* Halves the interval down to a share of it. A failure says little (a tight target is not always
 * harder than a loose one): the next level begins at the bound again. */
static void bisect(masu__solver *s, unsigned level) {
    int64_t low = s->bound, finest = (s->best_height - s->bound) / FINEST;
    while (!masu__solver_finished(s)) {
        int64_t target = round_up(s, low + (s->best_height - low) / 2);
        if (target >= s->best_height)
            target = round_up(s, s->best_height - 1) - s->model.unit;
        if (target <= low || target <= s->bound || s->best_height - low <= finest)
            return;
        if (masu__solver_portfolio(s, target, 2 * level, 2 * level + 2) != MASU__SEARCH_FOUND)
            low = target;
    }
}

void masu__solver_minimize(masu__solver *s) {
    masu__solver_heuristics(s);
    if (is_small(s))
        masu__solver_noise(s, NOISE_AT_ONCE, s->options->seed);
    masu__solver_jigsaw(s, 0, JIGSAWS);
    if (masu__solver_finished(s))
        return;
    for (unsigned level = 0; level < MOST_ROUNDS && !masu__solver_finished(s); level++) {
        masu__solver_portfolio(s, round_up(s, s->bound), 2 * level, 2 * level + 2);
        if (!s->searchable)
            break;
        bisect(s, level);
        masu__solver_jigsaw(s, JIGSAWS * (level + 1), JIGSAWS * (level + 2));
    }
    if (!s->searchable)
        keep_placing(s, s->bound);
}
