/* heuristics.c: plans at once: the valley heuristic with each key, and first fit for what it does
 * not know (obstacles, rows kept apart: first_fit.c). */
#include "allocators/plan/solver.h"

/* ---- valleys --------------------------------------------------------------------------------- */

static void try_valley(masu__solver *s, masu__valley_key key, double noise, uint64_t seed) {
    masu__plan_stop never = {masu__solver_stopped, s};
    int64_t height =
        masu__valley_place(s->valley, key, noise, seed, s->best_height, &never, s->offsets);
    s->placements++;
    s->steps_granted += s->model.item_count;
    if (height != INT64_MAX)
        masu__solver_offer(s, s->offsets, height, masu__valley_name(key));
}

void masu__solver_heuristics(masu__solver *s) {
    if (!s->valley) {
        masu__solver_first_fit(s);
        return;
    }
    /* the first two are the best for many items, where time may be short */
    static const struct {
        masu__valley_key key;
        double noise;
    } tries[] = {{MASU__VALLEY_DURATION, 0}, {MASU__VALLEY_AREA, 0.4},   {MASU__VALLEY_AREA, 0},
                 {MASU__VALLEY_LONGEST, 0},  {MASU__VALLEY_SECTIONS, 0}, {MASU__VALLEY_SQUARE, 0},
                 {MASU__VALLEY_SIZE, 0}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (i == 0 || !masu__solver_finished(s))
            try_valley(s, tries[i].key, tries[i].noise, s->options->seed);
}

void masu__solver_noise(masu__solver *s, uint32_t rounds, uint64_t seed) {
    static const double noises[] = {0.02, 0.1, 0.4};
    for (uint32_t round = 0; s->valley && round < rounds && !masu__solver_finished(s); round++)
        try_valley(s, (masu__valley_key)(round % 4), noises[round / 4 % 3], seed + round);
}

/* ---- one method ------------------------------------------------------------------------------ */

enum { FIRST_FIT = MASU__VALLEY_KEY_COUNT + 1 };

const char *masu_plan_method_name(unsigned number) {
    if (number >= 1 && number <= MASU__VALLEY_KEY_COUNT)
        return masu__valley_name((masu__valley_key)(number - 1));
    return number == FIRST_FIT ? "first fit by area" : NULL;
}

bool masu__solver_only(masu__solver *s, unsigned number) {
    if (!masu_plan_method_name(number))
        return false;
    if (number == FIRST_FIT || !s->valley)
        masu__solver_first_fit(s);
    else
        try_valley(s, (masu__valley_key)(number - 1), 0, 0);
    return true;
}
