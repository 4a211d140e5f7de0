/* share.c: what is done in place where values move: a choice for each share, and the methods of the other files for the
 * rows that the groups then are.
 *
 * Taking over saves bytes at one moment, and costs a choice: giver and taker are in one memory then, so that an operand
 * cannot be read from the slow memory while the result is written to the fast one. Few choices are all tried, and what
 * all of them prove is proven. Of more: all that is possible, none, and from the better one choice the other way while
 * that helps; the bound is that of relax.c.
 */
#include <string.h>
#include <time.h>

#include "base/meta.h"
#include "planner/moves/groups.h"

enum { FEW = 8, PASSES = 3, MOST_TRIED = 256 };

static const double LEAST_S = 0.02;

typedef struct chooser {
    masu__groups groups;
    const masu_moves_problem *problem;
    const masu_moves_options *options;
    masu_moves_plan best;
    bool has_plan;
    bool *wanted;
    double end_s; /* 0: none */
    masu_status status;
} chooser;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_late(const chooser *c) {
    return c->end_s > 0 && now() > c->end_s;
}

static bool has_plan(const masu_moves_plan *plan) {
    return plan->outcome == MASU_MOVES_OPTIMAL || plan->outcome == MASU_MOVES_FEASIBLE;
}

/* A share of the time that is left. */
static masu_moves_options options_of(const chooser *c, double share) {
    masu_moves_options options = *c->options;
    if (c->end_s > 0) {
        double left = (c->end_s - now()) * share;
        options.time_limit_s = left > LEAST_S ? left : LEAST_S;
    }
    return options;
}

/* Plans the rows that the groups make. *bound: what any plan with these costs at least; UINT64_MAX: there is none.
 * True: the plan is the best so far. */
static bool try_choice(chooser *c, double share, uint64_t *bound) {
    masu_moves_plan plan, spread;
    masu_moves_options options = options_of(c, share);
    *bound = 0;
    masu_status status = masu__moves_find_apart(&c->groups.merged, c->groups.alone, c->groups.alone_count, &options,
                                                &plan);
    if (status != MASU_OK) {
        c->status = status;
        return false;
    }
    *bound = plan.outcome == MASU_MOVES_INFEASIBLE ? UINT64_MAX : plan.lower_bound;
    c->best.attempts += plan.attempts;
    if (!has_plan(&plan) || (c->has_plan && plan.cost >= c->best.cost)) {
        masu_moves_free(&plan);
        return false;
    }
    status = masu__groups_spread(&c->groups, &plan, &spread);
    if (status != MASU_OK) {
        c->status = status;
        return false;
    }
    spread.attempts = c->best.attempts;
    spread.lower_bound = c->best.lower_bound;
    masu_moves_free(&c->best);
    c->best = spread;
    c->has_plan = true;
    return true;
}

static void raise_bound(chooser *c, uint64_t bound) {
    c->best.lower_bound = bound > c->best.lower_bound ? bound : c->best.lower_bound;
}

static bool is_settled(const chooser *c) {
    return c->status != MASU_OK || (c->has_plan && c->best.cost <= c->best.lower_bound);
}

/* The bound of the relaxed problem. True: it has no plan, so that nothing has. */
static bool relax(chooser *c, double share) {
    masu_moves_problem relaxed;
    masu_moves_plan plan;
    uint64_t constant;
    if (!masu__groups_relax(&c->groups, &relaxed, &constant)) {
        c->status = MASU_ERR_OUT_OF_MEMORY;
        return false;
    }
    masu_moves_options options = options_of(c, share);
    c->status = masu__moves_find_apart(&relaxed, NULL, 0, &options, &plan);
    bool never = c->status == MASU_OK && plan.outcome == MASU_MOVES_INFEASIBLE;
    if (c->status == MASU_OK)
        raise_bound(c, plan.lower_bound + constant);
    masu_moves_free(&plan);
    return never;
}

/* ---- few choices: all of them ------------------------------------------------------------------------- */

static void try_all(chooser *c, const uint32_t *free_shares, uint32_t count) {
    uint64_t least = UINT64_MAX;
    bool is_whole = true;
    for (uint32_t set = (1u << count); set-- > 0 && c->status == MASU_OK;) {
        uint64_t bound;
        for (uint32_t i = 0; i < count; i++)
            c->wanted[free_shares[i]] = set >> i & 1; /* all of them first */
        masu__groups_make(&c->groups, c->wanted);
        bool is_possible = memcmp(c->groups.done, c->wanted, c->problem->share_count * sizeof *c->wanted) == 0;
        if (!is_possible)
            continue; /* what is possible of it is a set of its own */
        try_choice(c, 1.0 / (set + 1), &bound);
        is_whole = is_whole && c->status == MASU_OK;
        least = bound < least ? bound : least;
        if (c->has_plan && c->best.cost <= c->best.lower_bound)
            return;
    }
    if (!is_whole)
        return;
    if (least == UINT64_MAX)
        c->best.outcome = MASU_MOVES_INFEASIBLE;
    else
        raise_bound(c, least);
}

/* ---- many ------------------------------------------------------------------------------------------------ */

/* One choice the other way, while that helps. */
static void climb(chooser *c, const uint32_t *free_shares, uint32_t count) {
    uint32_t tried = 0, since = 0;
    bool *wanted = MASU_ARENA_ARRAY(&c->groups.arena, bool, c->problem->share_count + 1);
    if (!wanted) {
        c->status = MASU_ERR_OUT_OF_MEMORY;
        return;
    }
    for (uint32_t i = 0; tried < MOST_TRIED && tried < PASSES * count && since < count; i = (i + 1) % count) {
        uint64_t bound;
        if (is_settled(c) || is_late(c))
            return;
        if (c->has_plan)
            memcpy(wanted, c->best.shared, c->problem->share_count * sizeof *wanted);
        wanted[free_shares[i]] = !wanted[free_shares[i]];
        tried++;
        masu__groups_make(&c->groups, wanted);
        since = try_choice(c, 0.1, &bound) ? 0 : since + 1;
    }
}

static void choose(chooser *c) {
    const masu_moves_problem *p = c->problem;
    uint32_t *free_shares = MASU_ARENA_ARRAY(&c->groups.arena, uint32_t, p->share_count + 1), count = 0;
    uint64_t bound;
    c->wanted = MASU_ARENA_ARRAY(&c->groups.arena, bool, p->share_count + 1);
    if (!free_shares || !c->wanted) {
        c->status = MASU_ERR_OUT_OF_MEMORY;
        return;
    }
    for (uint32_t i = 0; i < p->share_count; i++)
        if (c->groups.usable[i])
            free_shares[count++] = i;
    if (relax(c, 0.25)) {
        c->best.outcome = MASU_MOVES_INFEASIBLE;
        return;
    }
    if (c->status != MASU_OK)
        return;
    if (count <= FEW) {
        try_all(c, free_shares, count);
        return;
    }
    masu__groups_make(&c->groups, NULL);
    try_choice(c, 0.4, &bound);
    masu__groups_make(&c->groups, c->wanted); /* none */
    if (!is_settled(c))
        try_choice(c, 0.4, &bound);
    climb(c, free_shares, count);
}

masu_status masu_moves_find(const masu_moves_problem *problem, const masu_moves_options *options,
                            masu_moves_plan *plan) {
    masu_moves_options defaults = masu_moves_options_default();
    double begin = now();
    *plan = (masu_moves_plan){.outcome = MASU_MOVES_UNKNOWN, .greedy_cost = UINT64_MAX};
    if (masu_moves_validate(problem, NULL) != MASU_MOVES_RIGHT)
        return MASU_ERR_INVALID_ARGUMENT;
    options = options ? options : &defaults;
    if (problem->share_count == 0)
        return masu__moves_find_apart(problem, NULL, 0, options, plan);
    chooser c = {.problem = problem, .options = options, .best = *plan};
    c.end_s = options->time_limit_s > 0 ? begin + options->time_limit_s : 0;
    if (masu__groups_open(&c.groups, problem))
        choose(&c);
    else
        c.status = MASU_ERR_OUT_OF_MEMORY;
    masu__groups_close(&c.groups);
    if (c.status != MASU_OK) {
        masu_moves_free(&c.best);
        return c.status;
    }
    *plan = c.best;
    plan->seconds = now() - begin;
    if (c.has_plan)
        plan->outcome = plan->cost <= plan->lower_bound ? MASU_MOVES_OPTIMAL : MASU_MOVES_FEASIBLE;
    return MASU_OK;
}
