/* penalties.c: rows that had better not share bytes: the cheapest plan that fits.
 *
 *     all kept apart? ─ fits ─► nothing to pay        none kept apart? ─ cannot fit ─► infeasible
 *           │ no                                            │ fits
 *           ▼                                               ▼
 *     each row to where it pays least (moves) ─► all rows to all places, where both are few (least_cost.c): proven
 */
#include <string.h>

#include "base/rng.h"
#include "planner/search/solver.h"
#include "planner/share/alias.h"
#include "planner/share/least_cost.h"

enum {
    STEPS_TO_FIT = 20000,
    SHARE_TO_FIT = 4,
    MOST_ROWS = 1024,
    ROUNDS = 4096,
    IDLE_ROUNDS = 64,
    STEPS_TO_PROVE = 20 * 1000 * 1000
};
static const uint64_t MOST_COST = UINT64_C(1) << 62;

typedef struct payer {
    const masu_plan_problem *problem;
    const masu_plan_penalty *penalties;
    size_t count;
    const masu_plan_options *options;
    uint64_t *offsets; /* the caller's: the cheapest plan so far */
    masu_plan_result *result;
    masu_plan_price *price;
    double end_s; /* 0: none */
    masu__charges charges;
    masu__arena arena;
} payer;

uint64_t masu_plan_cost(const masu_plan_problem *problem, const masu_plan_penalty *penalties, size_t count,
                        const uint64_t *offsets) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        size_t a = penalties[i].a, b = penalties[i].b;
        if (masu__charges_overlap(&problem->rows[a], offsets[a], &problem->rows[b], offsets[b]))
            sum = masu__charges_add(sum, penalties[i].cost);
    }
    return sum;
}

static masu_status validate(const masu_plan_problem *problem, const masu_plan_penalty *penalties, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (penalties[i].a >= problem->count || penalties[i].b >= problem->count || penalties[i].a == penalties[i].b)
            return MASU_ERR_INVALID_ARGUMENT;
        if (__builtin_add_overflow(sum, penalties[i].cost, &sum) || sum > MOST_COST)
            return MASU_ERR_OVERFLOW;
    }
    return MASU_OK;
}

/* ---- plans that fit ----------------------------------------------------------------------------- */

/* A question among several has a share of the limits. */
static masu_status fit(const payer *p, const masu_plan_problem *problem, bool shared) {
    masu_plan_options options = *p->options;
    options.goal = MASU_PLAN_FIT;
    options.improved = NULL;
    if (p->end_s > 0) {
        double left = p->end_s - masu__plan_now();
        options.time_limit_s = left > 1e-3 ? left : 1e-3;
    }
    if (shared) {
        options.step_limit = options.step_limit > 0 && options.step_limit < STEPS_TO_FIT ? options.step_limit
                                                                                         : STEPS_TO_FIT;
        options.time_limit_s /= SHARE_TO_FIT;
    }
    return masu__plan_find_once(problem, &options, p->offsets, p->result);
}

static masu_status fit_apart(payer *p) {
    masu_plan_problem all = *p->problem;
    masu_plan_relation *relations = MASU_ARENA_ARRAY(&p->arena, masu_plan_relation, all.relation_count + p->count + 1);
    if (!relations)
        return MASU_ERR_OUT_OF_MEMORY;
    if (all.relation_count > 0)
        memcpy(relations, all.relations, all.relation_count * sizeof *relations);
    for (size_t i = 0; i < p->count; i++)
        if (p->penalties[i].cost > 0)
            relations[all.relation_count++] = (masu_plan_relation){MASU_PLAN_MUST_NOT_SHARE, p->penalties[i].a,
                                                                   p->penalties[i].b};
    all.relations = relations;
    return fit(p, &all, true);
}

static bool is_plan(const masu_plan_result *r) {
    return r->outcome == MASU_PLAN_OPTIMAL || r->outcome == MASU_PLAN_FEASIBLE;
}

/* The least penalty, once it is proven that not all rows can be kept apart. */
static uint64_t least_penalty(const payer *p) {
    uint64_t least = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->penalties[i].cost > 0 && (least == 0 || p->penalties[i].cost < least))
            least = p->penalties[i].cost;
    return least;
}

/* ---- moves -------------------------------------------------------------------------------------- */

static bool may_move(const payer *p, size_t row) {
    const masu_plan_row *r = &p->problem->rows[row];
    if (r->is_fixed || r->size_bytes == 0 || r->gap_count > 0)
        return false;
    for (size_t i = 0; i < p->problem->relation_count; i++) {
        const masu_plan_relation *x = &p->problem->relations[i];
        if (x->kind != MASU_PLAN_MUST_NOT_SHARE && (x->a == row || x->b == row))
            return false;
    }
    return true;
}

/* UINT64_MAX: it may not lie there. */
static uint64_t price_at(const payer *p, size_t row, uint64_t offset, uint64_t most) {
    const masu_plan_row *rows = p->problem->rows;
    uint64_t price = 0, capacity = p->problem->capacity_bytes > 0 ? p->problem->capacity_bytes : UINT64_MAX;
    if (rows[row].size_bytes > capacity || offset > capacity - rows[row].size_bytes)
        return UINT64_MAX;
    for (size_t other = 0; other < p->problem->count && price <= most; other++) {
        if (!masu__charges_overlap(&rows[row], offset, &rows[other], p->offsets[other]) || other == row)
            continue;
        if (masu__charges_apart(&p->charges, row, other))
            return UINT64_MAX;
        price += masu__charges_of(&p->charges, row, other);
    }
    return price;
}

/* To the cheapest place on the bottom or upon another row; among equals to any. True: it is cheaper now. */
static bool move(payer *p, size_t row, masu__rng *rng) {
    const masu_plan_row *rows = p->problem->rows;
    uint64_t alignment = rows[row].alignment_bytes ? rows[row].alignment_bytes : 1;
    uint64_t before = price_at(p, row, p->offsets[row], UINT64_MAX - 1), best = before, where = p->offsets[row];
    uint64_t equals = 1;
    if (before == 0)
        return false;
    for (size_t k = 0; k <= p->problem->count; k++) {
        uint64_t end = k < p->problem->count ? p->offsets[k] + rows[k].size_bytes : 0;
        uint64_t offset = (end + alignment - 1) & ~(alignment - 1);
        uint64_t price = k == row || offset == where ? UINT64_MAX : price_at(p, row, offset, best);
        if (price > best || price == UINT64_MAX)
            continue;
        equals = price < best ? 1 : equals + 1;
        if (price < best || masu__rng_below(rng, equals) == 0)
            where = offset;
        best = price;
    }
    p->offsets[row] = where;
    return best < before;
}

/* Rows that pay go elsewhere, in turns, until that has not helped for a while. Moves to a place of the same price are
 * what leads on, and cost nothing. */
static masu_status move_rows(payer *p) {
    masu__rng rng;
    size_t count = 0, *movable = MASU_ARENA_ARRAY(&p->arena, size_t, p->problem->count + 1);
    if (!movable)
        return MASU_ERR_OUT_OF_MEMORY;
    masu__rng_seed(&rng, p->options->seed);
    for (size_t i = 0; i < p->problem->count; i++)
        if (may_move(p, i))
            movable[count++] = i;
    for (unsigned round = 0, idle = 0; round < ROUNDS && idle < IDLE_ROUNDS; round++) {
        idle++;
        for (size_t i = 0; i < count; i++) {
            if (p->end_s > 0 && masu__plan_now() > p->end_s)
                return MASU_OK;
            idle = move(p, movable[i], &rng) ? 0 : idle;
        }
    }
    return MASU_OK;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static uint64_t height_of(const payer *p) {
    uint64_t height = 0;
    for (size_t i = 0; i < p->problem->count; i++) {
        uint64_t end = p->offsets[i] + p->problem->rows[i].size_bytes;
        height = end > height ? end : height;
    }
    return height;
}

/* From a plan that fits to a cheaper one. */
static masu_status pay_less(payer *p) {
    if (p->problem->count > MOST_ROWS)
        return MASU_OK;
    if (!masu__charges_open(&p->charges, &p->arena, p->problem, p->penalties, p->count))
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = move_rows(p);
    p->price->cost = masu_plan_cost(p->problem, p->penalties, p->count, p->offsets);
    uint64_t steps = p->options->step_limit > 0 ? p->options->step_limit : STEPS_TO_PROVE;
    masu__least_cost_end end = status != MASU_OK || p->price->cost <= p->price->lower_bound
                                   ? MASU__LEAST_COST_UNFIT
                                   : masu__plan_least_cost(&p->charges, steps, p->end_s, p->offsets, &p->price->cost);
    if (end == MASU__LEAST_COST_NO_MEMORY)
        return MASU_ERR_OUT_OF_MEMORY;
    if (end == MASU__LEAST_COST_PROVEN)
        p->price->lower_bound = p->price->cost;
    p->result->height_bytes = height_of(p);
    return status;
}

static masu_status find_cheapest(payer *p) {
    masu_status status = fit_apart(p);
    if (status != MASU_OK || is_plan(p->result))
        return status;
    if (p->result->outcome == MASU_PLAN_INFEASIBLE)
        p->price->lower_bound = least_penalty(p);
    status = fit(p, p->problem, false);
    if (status != MASU_OK || !is_plan(p->result))
        return status;
    p->price->cost = masu_plan_cost(p->problem, p->penalties, p->count, p->offsets);
    return p->price->cost > p->price->lower_bound ? pay_less(p) : MASU_OK;
}

masu_status masu_plan_find_cheapest(const masu_plan_problem *problem, const masu_plan_penalty *penalties, size_t count,
                                    const masu_plan_options *options, uint64_t *offsets, masu_plan_result *result,
                                    masu_plan_price *price) {
    masu_plan_options defaults = masu_plan_options_default();
    if (!problem || !price || !result || (count > 0 && !penalties) || (problem->count > 0 && !problem->rows))
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = validate(problem, penalties, count);
    if (status != MASU_OK)
        return status;
    masu_plan_price found = {0};
    payer p = {.problem = problem,
               .penalties = penalties,
               .count = count,
               .options = options ? options : &defaults,
               .offsets = offsets,
               .result = result,
               .price = &found};
    double begin_s = masu__plan_now();
    p.end_s = p.options->time_limit_s > 0 ? begin_s + p.options->time_limit_s : 0;
    status = find_cheapest(&p);
    masu__arena_destroy(&p.arena);
    if (status != MASU_OK)
        return status;
    found.optimal = is_plan(result) && found.cost <= found.lower_bound;
    result->seconds = masu__plan_now() - begin_s;
    *price = found;
    return MASU_OK;
}
