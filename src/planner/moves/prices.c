/* prices.c: the bound. Each limited memory asks a price for a byte at a moment; rows choose their cheapest courses
 * alone.
 *
 *     Σ rows: cost with prices  −  Σ moments: price × capacity   <=   cost of every plan
 *
 * whatever the prices (Lagrange): a plan holds at most the capacity, so it pays at most what is taken off again. They
 * rise where more is held than there is room for and fall where there is room (subgradients, in steps that shrink; all
 * in whole parts, so that the bound is exact).
 */
#include <math.h>
#include <string.h>

#include "planner/moves/courses.h"

typedef __int128 wide;

typedef struct prices {
    masu__moves *m;
    int64_t *now[MASU_MOVES_MOST_MEMORIES];  /* per moment */
    wide value, best;                        /* in parts */
    int64_t *kept[MASU_MOVES_MOST_MEMORIES]; /* of the best value */
} prices;

static bool is_limited(const masu__moves *m, uint8_t k) {
    return m->limit[k] != INT64_MAX;
}

static void sum_up(prices *p, int64_t *const from[]) {
    for (uint8_t k = 0; k < p->m->memory_count; k++)
        for (uint32_t t = 0; t < p->m->moments; t++)
            p->m->before[k][t + 1] = p->m->before[k][t] + (from[k] ? from[k][t] : 0);
}

static bool prices_open(prices *p) {
    for (uint8_t k = 0; k < p->m->memory_count; k++) {
        if (!is_limited(p->m, k))
            continue;
        p->now[k] = MASU_ARENA_ARRAY(&p->m->arena, int64_t, p->m->moments + 1);
        p->kept[k] = MASU_ARENA_ARRAY(&p->m->arena, int64_t, p->m->moments + 1);
        if (!p->now[k] || !p->kept[k])
            return false;
    }
    return true;
}

/* Every row alone; what they hold together is in load. */
static bool choose(prices *p, bool *infeasible) {
    masu__moves *m = p->m;
    p->value = 0;
    for (size_t i = 0; i < m->problem->count; i++) {
        masu__ask ask = {i, false, MASU__MOVES_PRICE_ONE};
        int64_t value = masu__course_value(m, &ask);
        if (value >= MASU__MOVES_NEVER) {
            *infeasible = true;
            return true;
        }
        if (!masu__course_take(m, i, &m->courses[i]))
            return false;
        p->value += (wide)value * masu__moves_size(m, i);
        masu__loads_hold(m, &m->courses[i], masu__moves_size(m, i));
    }
    for (uint8_t k = 0; k < m->memory_count; k++)
        for (uint32_t t = 0; p->now[k] && t < m->moments; t++)
            p->value -= (wide)p->now[k][t] * m->limit[k];
    return true;
}

static double length_of_step(const prices *p) {
    double squares = 0;
    for (uint8_t k = 0; k < p->m->memory_count; k++)
        for (uint32_t t = 0; p->now[k] && t < p->m->moments; t++) {
            double over = (double)(p->m->load[k][t] - p->m->limit[k]);
            squares += over > 0 || p->now[k][t] > 0 ? over * over : 0;
        }
    return squares;
}

static void change(prices *p, double step) {
    const int64_t most = (int64_t)1 << 44;
    for (uint8_t k = 0; k < p->m->memory_count; k++)
        for (uint32_t t = 0; p->now[k] && t < p->m->moments; t++) {
            double next = (double)p->now[k][t] + step * (double)(p->m->load[k][t] - p->m->limit[k]);
            p->now[k][t] = next <= 0 ? 0 : next >= (double)most ? most : (int64_t)(next + 0.5);
        }
}

static void clear_loads(masu__moves *m) {
    for (uint8_t k = 0; k < m->memory_count; k++)
        memset(m->load[k], 0, (m->moments + 1) * sizeof *m->load[k]);
}

static void keep_best(prices *p) {
    if (p->value <= p->best)
        return;
    p->best = p->value;
    for (uint8_t k = 0; k < p->m->memory_count; k++)
        if (p->now[k])
            memcpy(p->kept[k], p->now[k], p->m->moments * sizeof *p->now[k]);
}

bool masu__prices_find(masu__moves *m, int64_t target, int rounds, int64_t *bound, bool *infeasible) {
    prices p = {.m = m, .best = -1};
    double pace = 1;
    int stuck = 0;
    if (!prices_open(&p))
        return false;
    for (int round = 0; round < rounds; round++) {
        clear_loads(m);
        sum_up(&p, p.now);
        if (!choose(&p, infeasible))
            return false;
        if (*infeasible)
            break;
        stuck = p.value > p.best ? 0 : stuck + 1;
        keep_best(&p);
        double squares = length_of_step(&p),
               goal = target == INT64_MAX ? (double)p.best * 1.05 + 1 : (double)target * MASU__MOVES_PRICE_ONE;
        if (squares == 0 || (target != INT64_MAX && p.best > (wide)(target - 1) * MASU__MOVES_PRICE_ONE) ||
            masu__moves_late(m))
            break;
        if (stuck >= 8) {
            pace /= 2;
            stuck = 0;
        }
        double gap = goal - (double)p.value;
        change(&p, pace * (gap > 0 ? gap : 1) / squares);
    }
    sum_up(&p, p.kept);
    clear_loads(m);
    for (size_t i = 0; i < m->problem->count; i++)
        m->courses[i].count = 0;
    if (!*infeasible && p.best > 0)
        *bound = (int64_t)((p.best + MASU__MOVES_PRICE_ONE - 1) / MASU__MOVES_PRICE_ONE);
    return true;
}
