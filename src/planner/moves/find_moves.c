/* find_moves.c: the column of steps: greedy, prices, improvement, the frontier, all that is left; offsets for each.
 *
 * Where a plan's bytes fit at every moment but offsets cannot be found, the limit of that memory falls a little and the
 * work begins again: a plan that settles is kept, a cheaper one that does not is not.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/meta.h"
#include "planner/moves/courses.h"

enum { TIGHTENINGS = 12, FEW_TIGHTENINGS = 3, BOUND_ROUNDS = 300, BEAM = 300, MORE = 6, SETTLE_STEPS = 20000 };

static const double LEAST_S = 0.05;           /* that the planner has for offsets, late or not */
static const int64_t MOST = (int64_t)1 << 50; /* cost: in parts it stays below 2^62 */
static const size_t MOST_THINGS = (size_t)1 << 30;

masu_moves_options masu_moves_options_default(void) {
    return (masu_moves_options){.time_limit_s = 10};
}

/* ---- what is wrong ------------------------------------------------------------------------------- */

static masu_moves_mistake wrong(masu_moves_mistake mistake, size_t at, size_t *where) {
    if (where)
        *where = at;
    return mistake;
}

static bool memory_is_fine(const masu_moves_problem *p, size_t memory) {
    return memory == MASU_MOVES_ANY || memory < p->memory_count;
}

static bool row_is_fine(const masu_moves_problem *p, const masu_moves_row *r) {
    uint64_t alignment = r->alignment_bytes ? r->alignment_bytes : 1;
    if (r->size_bytes == 0 || r->lower >= r->upper || r->upper > p->moment_count || (alignment & (alignment - 1)) != 0)
        return false;
    if (!memory_is_fine(p, r->only) || !memory_is_fine(p, r->home) ||
        (r->only != MASU_MOVES_ANY && r->home != MASU_MOVES_ANY && r->only != r->home))
        return false;
    return !r->is_fixed || (r->only != MASU_MOVES_ANY && r->fixed_offset % alignment == 0);
}

static bool share_is_fine(const masu_moves_problem *p, const masu_moves_share *s) {
    if (s->giver >= p->count || s->taker >= p->count || s->giver == s->taker)
        return false;
    const masu_moves_row *giver = &p->rows[s->giver], *taker = &p->rows[s->taker];
    for (size_t i = 0; giver->lower == taker->lower && i < p->share_count; i++)
        if (p->shares[i].taker == s->giver)
            return false;
    bool meet = giver->lower <= taker->lower && giver->upper > taker->lower;
    return meet && giver->size_bytes == taker->size_bytes && (s->is_view || giver->upper == taker->lower + 1) &&
           !giver->is_fixed && !taker->is_fixed && taker->home == MASU_MOVES_ANY;
}

/* Σ bytes, and what all uses would cost in the dearest memory, with two moves of everything. */
static bool is_small_enough(const masu_moves_problem *p) {
    uint64_t bytes = 0, all = 0, cost = 1, one;
    for (size_t m = 0; m < p->memory_count; m++)
        cost = p->memories[m].cost > cost ? p->memories[m].cost : cost;
    for (size_t i = 0; i < p->count; i++)
        if (__builtin_add_overflow(bytes, p->rows[i].size_bytes, &bytes) || bytes > (uint64_t)MOST ||
            p->rows[i].alignment_bytes > (uint64_t)MOST ||
            (p->rows[i].is_fixed && p->rows[i].fixed_offset > (uint64_t)MOST))
            return false;
    all = 4 * bytes;
    for (size_t i = 0; i < p->use_count; i++)
        if (__builtin_mul_overflow(p->rows[p->uses[i].row].size_bytes, (uint64_t)p->uses[i].reads + p->uses[i].writes,
                                   &one) ||
            __builtin_add_overflow(all, one, &all))
            return false;
    for (size_t t = 0; p->channel_bytes && t < p->moment_count; t++)
        if (p->channel_bytes[t] > (uint64_t)MOST)
            return false;
    return !__builtin_mul_overflow(all, cost + p->move_cost, &all) && all <= (uint64_t)MOST;
}

masu_moves_mistake masu_moves_validate(const masu_moves_problem *p, size_t *where) {
    if (p->memory_count == 0 || p->memory_count > MASU_MOVES_MOST_MEMORIES || p->move_cost > MASU_MOVES_MOST_COST)
        return wrong(MASU_MOVES_BAD_MEMORY, 0, where);
    for (size_t m = 0; m < p->memory_count; m++)
        if (p->memories[m].cost > MASU_MOVES_MOST_COST)
            return wrong(MASU_MOVES_BAD_MEMORY, m, where);
    if (p->count > MOST_THINGS || p->use_count > MOST_THINGS || p->moment_count > MOST_THINGS)
        return wrong(MASU_MOVES_TOO_LARGE, 0, where);
    for (size_t i = 0; i < p->count; i++)
        if (!row_is_fine(p, &p->rows[i]))
            return wrong(MASU_MOVES_BAD_ROW, i, where);
    for (size_t i = 0; i < p->use_count; i++) {
        const masu_moves_use *u = &p->uses[i];
        if (u->row >= p->count || u->moment < p->rows[u->row].lower || u->moment >= p->rows[u->row].upper ||
            (u->reads == 0 && u->writes == 0))
            return wrong(MASU_MOVES_BAD_USE, i, where);
    }
    for (size_t i = 0; i < p->share_count; i++)
        if (!share_is_fine(p, &p->shares[i]))
            return wrong(MASU_MOVES_BAD_SHARE, i, where);
    return is_small_enough(p) ? MASU_MOVES_RIGHT : wrong(MASU_MOVES_TOO_LARGE, 0, where);
}

/* ---- tables ---------------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double masu__moves_time_left(const masu__moves *m) {
    double left = m->end_s > 0 ? m->end_s - now() : 0;
    return m->end_s > 0 && left < LEAST_S ? LEAST_S : left;
}

bool masu__moves_late(const masu__moves *m) {
    return m->end_s > 0 && now() > m->end_s;
}

static void make_states(masu__moves *m) {
    memset(m->state_of, MASU__MOVES_NONE, sizeof m->state_of);
    m->state_count = 0;
    for (uint8_t a = 0; a < m->memory_count; a++)
        m->states[m->state_count++] = (masu__state){
            {a, MASU__MOVES_NONE}, a, {MASU__MOVES_NONE, MASU__MOVES_NONE}}; /* state a is memory a */
    for (uint8_t a = 0; a < m->memory_count; a++)
        for (uint8_t b = (uint8_t)(a + 1); b < m->memory_count && !m->problem->stays; b++) {
            m->state_of[a][b] = m->state_of[b][a] = m->state_count;
            m->states[m->state_count++] = (masu__state){{a, b}, m->cost[a] <= m->cost[b] ? a : b, {b, a}};
        }
}

static bool list_uses(masu__moves *m) {
    const masu_moves_problem *p = m->problem;
    size_t total = 0;
    m->at = MASU_ARENA_ARRAY(&m->arena, size_t, p->count + 1);
    if (!m->at)
        return false;
    for (size_t i = 0; i < p->count; i++) {
        m->at[i] = total;
        total += p->rows[i].upper - p->rows[i].lower;
    }
    m->reads = MASU_ARENA_ARRAY(&m->arena, uint32_t, total + 1);
    m->writes = MASU_ARENA_ARRAY(&m->arena, uint32_t, total + 1);
    m->single = MASU_ARENA_ARRAY(&m->arena, bool, total + 1);
    if (!m->reads || !m->writes || !m->single)
        return false;
    for (size_t i = 0; i < p->use_count; i++) {
        size_t at = m->at[p->uses[i].row] + p->uses[i].moment - p->rows[p->uses[i].row].lower;
        m->reads[at] += p->uses[i].reads;
        m->writes[at] += p->uses[i].writes;
        m->single[at] |= p->uses[i].writes > 0;
    }
    return true;
}

static bool make_memories(masu__moves *m) {
    const masu_moves_problem *p = m->problem;
    for (uint8_t k = 0; k < m->memory_count; k++) {
        uint64_t capacity = p->memories[k].capacity_bytes;
        m->cost[k] = (int64_t)p->memories[k].cost * MASU__MOVES_PRICE_ONE;
        m->limit[k] = capacity == 0 || capacity > (uint64_t)MOST ? INT64_MAX : (int64_t)capacity;
        m->load[k] = MASU_ARENA_ARRAY(&m->arena, int64_t, m->moments + 1);
        m->before[k] = MASU_ARENA_ARRAY(&m->arena, int64_t, m->moments + 1);
        if (!m->load[k] || !m->before[k])
            return false;
    }
    if (!p->channel_bytes)
        return true;
    m->carried = MASU_ARENA_ARRAY(&m->arena, int64_t, m->moments + 1);
    for (uint32_t t = 0; m->carried && t < m->moments; t++)
        if (__builtin_add_overflow(m->carried[t], (int64_t)p->channel_bytes[t], &m->carried[t + 1]) ||
            m->carried[t + 1] > MOST * 2048)
            m->carried[t + 1] = MOST * 2048;
    return m->carried != NULL;
}

bool masu__moves_open(masu__moves *m, const masu_moves_problem *problem, const masu_moves_options *options) {
    uint32_t longest = 0;
    *m = (masu__moves){.problem = problem,
                       .options = options,
                       .moments = (uint32_t)problem->moment_count,
                       .memory_count = (uint8_t)problem->memory_count,
                       .stays = problem->stays};
    for (size_t i = 0; i < problem->count; i++)
        if (problem->rows[i].upper - problem->rows[i].lower > longest)
            longest = (uint32_t)(problem->rows[i].upper - problem->rows[i].lower);
    if (!make_memories(m))
        return false;
    make_states(m);
    m->courses = MASU_ARENA_ARRAY(&m->arena, masu__course, problem->count + 1);
    m->value = MASU_ARENA_ARRAY(&m->arena, int64_t, ((size_t)longest + 1) * m->state_count);
    m->steps = MASU_ARENA_ARRAY(&m->arena, masu__step, ((size_t)longest + 1) * m->state_count);
    m->finish = MASU_ARENA_ARRAY(&m->arena, int64_t, m->moments + 1);
    return list_uses(m) && m->courses && m->value && m->steps && m->finish;
}

void masu__moves_close(masu__moves *m) {
    for (size_t i = 0; m->courses && i < m->problem->count; i++)
        masu__meta_free(m->courses[i].stays, m->courses[i].room * sizeof *m->courses[i].stays);
    masu__meta_free(m->busy, m->busy_room * sizeof *m->busy);
    masu__arena_destroy(&m->arena);
}

/* ---- plans ------------------------------------------------------------------------------------------- */

/* The best plan so far, and who makes others. */
typedef struct finder {
    masu__moves m;
    masu_moves_plan *best;
    bool has_plan;
    masu_status status;
    int full;
} finder;

/* Offsets for the present courses; kept when they are the cheapest so far. */
static bool settle(void *context, bool *unsure) {
    finder *f = context;
    masu_moves_plan plan = {0};
    masu_status status = masu__moves_settle(&f->m, SETTLE_STEPS, &plan, &f->full, unsure);
    if (status != MASU_OK)
        f->status = status;
    if (status != MASU_OK || f->full >= 0) {
        masu_moves_free(&plan);
        return false;
    }
    if (f->has_plan && plan.cost >= f->best->cost) {
        masu_moves_free(&plan);
        return true;
    }
    plan.lower_bound = f->best->lower_bound;
    plan.greedy_cost = f->best->greedy_cost;
    masu_moves_free(f->best);
    *f->best = plan;
    f->has_plan = true;
    return true;
}

static void clear(masu__moves *m) {
    for (size_t i = 0; i < m->problem->count; i++)
        m->courses[i].count = 0;
    for (uint8_t k = 0; k < m->memory_count; k++)
        memset(m->load[k], 0, (m->moments + 1) * sizeof *m->load[k]);
    m->busy_count = 0;
    m->total = 0;
}

static bool is_optimal(const finder *f) {
    return f->has_plan && f->best->cost <= f->best->lower_bound;
}

/* Courses by a method, with limits that fall until offsets are found. */
static void with_limits(finder *f, bool (*lay)(masu__moves *), uint64_t rounds, masu__rng *rng, int tightenings) {
    masu__moves *m = &f->m;
    int64_t limits[MASU_MOVES_MOST_MEMORIES];
    memcpy(limits, m->limit, sizeof limits);
    for (int round = 0; round < tightenings && f->status == MASU_OK && !m->out_of_memory; round++) {
        bool unsure = false;
        clear(m);
        if (!lay(m))
            break;
        if (rounds > 0)
            masu__moves_improve(m, rng, rounds, (int64_t)f->best->lower_bound);
        if (settle(f, &unsure) || (f->has_plan && masu__moves_late(m)))
            break;
        int64_t less = f->full < 0 ? 0
                                   : limits[f->full] / 64 * (round + 1) + 1; /* in the end hardly anything is there */
        if (f->full < 0 || m->limit[f->full] <= less || m->limit[f->full] == INT64_MAX)
            break;
        m->limit[f->full] -= less;
    }
    memcpy(m->limit, limits, sizeof limits);
}

/* False: the channel has no time for one, also where it is laid `again`. */
static bool add_courses(masu__moves *m, bool again) {
    for (size_t i = 0; i < m->problem->count; i++)
        if (!masu__loads_add(m, i) && !(again && masu__moves_lay_row(m, i)))
            return false;
    return true;
}

/* The courses of the frontier, beside each other in the channel; those it has no time for are laid again. */
static bool lay_frontier(masu__moves *m) {
    int64_t bound = 0;
    bool found = false;
    if (!masu__moves_frontier(m, BEAM, 1, INT64_MAX, &bound, &found) || !found)
        return false;
    return add_courses(m, true);
}

/* One memory for life: moves are never dearer than that. */
static bool lay_staying(masu__moves *m) {
    m->stays = true;
    bool right = masu__moves_lay(m);
    m->stays = m->problem->stays;
    return right;
}

/* The bound of the frontier, and its plan. */
static void look_from_frontier(finder *f, uint32_t effort, int64_t *bound) {
    masu__moves *m = &f->m;
    bool found = false, unsure = false;
    clear(m);
    if (!masu__moves_frontier(m, 0, effort, f->has_plan ? (int64_t)f->best->cost : INT64_MAX, bound, &found))
        return;
    f->best->lower_bound = (uint64_t)*bound;
    if (found && add_courses(m, false))
        settle(f, &unsure);
}

static uint64_t rounds_of(const masu__moves *m) {
    if (m->options->rounds > 0)
        return m->options->rounds;
    uint64_t count = m->problem->count;
    return 200 + 40 * (count < 2000 ? count : 2000);
}

static void search(finder *f) {
    masu__moves *m = &f->m;
    masu__rng rng;
    int64_t bound = 0;
    bool infeasible = false;
    masu__rng_seed(&rng, m->options->seed);
    with_limits(f, masu__moves_greedy, 0, NULL, TIGHTENINGS);
    f->best->greedy_cost = f->has_plan ? f->best->cost : UINT64_MAX;
    clear(m);
    if (!masu__prices_find(m, f->has_plan ? (int64_t)f->best->cost : INT64_MAX,
                           m->options->greedy ? BOUND_ROUNDS / 4 : BOUND_ROUNDS, &bound, &infeasible)) {
        m->out_of_memory = true;
        return;
    }
    f->best->lower_bound = (uint64_t)bound;
    if (infeasible) {
        f->best->outcome = MASU_MOVES_INFEASIBLE;
        return;
    }
    if (m->options->greedy || is_optimal(f) || f->status != MASU_OK)
        return;
    if (!m->stays)
        with_limits(f, lay_staying, rounds_of(m) / 4, &rng, TIGHTENINGS);
    if (!is_optimal(f) && f->status == MASU_OK && !m->out_of_memory)
        with_limits(f, masu__moves_lay, rounds_of(m), &rng, TIGHTENINGS);
    if (!is_optimal(f) && f->status == MASU_OK && !m->out_of_memory)
        look_from_frontier(f, 1, &bound);
    if (!is_optimal(f) && f->status == MASU_OK && !m->out_of_memory)
        with_limits(f, lay_frontier, rounds_of(m), &rng, FEW_TIGHTENINGS);
    if (is_optimal(f) || f->status != MASU_OK || m->out_of_memory)
        return;
    if (m->end_s > 0 && !masu__moves_late(m))
        look_from_frontier(f, MORE, &bound);
    if (is_optimal(f) || f->status != MASU_OK || m->out_of_memory)
        return;
    clear(m);
    bool all = masu__moves_exhaust(m, f->has_plan ? (int64_t)f->best->cost : INT64_MAX, settle, f);
    if (all && f->status == MASU_OK && !m->out_of_memory) {
        if (f->has_plan)
            f->best->lower_bound = f->best->cost;
        else
            f->best->outcome = MASU_MOVES_INFEASIBLE;
    }
}

masu_status masu__moves_find_apart(const masu_moves_problem *problem, const masu__moves_alone *alone,
                                   size_t alone_count, const masu_moves_options *options, masu_moves_plan *plan) {
    double begin = now();
    *plan = (masu_moves_plan){.outcome = MASU_MOVES_UNKNOWN, .greedy_cost = UINT64_MAX};
    finder f = {.best = plan, .full = -1};
    if (masu__moves_open(&f.m, problem, options)) {
        for (size_t i = 0; i < alone_count; i++)
            f.m.single[f.m.at[alone[i].row] + alone[i].moment - problem->rows[alone[i].row].lower] = true;
        f.m.end_s = options->time_limit_s > 0 ? begin + options->time_limit_s : 0;
        search(&f);
    } else {
        f.m.out_of_memory = true;
    }
    if (f.m.out_of_memory && f.status == MASU_OK)
        f.status = MASU_ERR_OUT_OF_MEMORY;
    plan->attempts = f.m.attempts;
    plan->seconds = now() - begin;
    masu__moves_close(&f.m);
    if (f.status != MASU_OK) {
        masu_moves_free(plan);
        return f.status;
    }
    if (f.has_plan)
        plan->outcome = plan->cost <= plan->lower_bound ? MASU_MOVES_OPTIMAL : MASU_MOVES_FEASIBLE;
    return MASU_OK;
}

void masu_moves_free(masu_moves_plan *plan) {
    masu__meta_free(plan->places, plan->place_count * sizeof *plan->places);
    masu__meta_free(plan->moves, plan->move_count * sizeof *plan->moves);
    masu__meta_free(plan->shared, plan->share_count * sizeof *plan->shared);
    *plan = (masu_moves_plan){0};
}
