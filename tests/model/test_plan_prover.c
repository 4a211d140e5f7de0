/* Every claim of the planner against a prover that shares no code with it: tiny problems with everything in them, all
 * offsets tried, bytes painted moment by moment. What is called optimal, infeasible or a bound must be so, and what is
 * called a plan must be one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <masu/plan.h>

enum { ROWS = 5, TIME = 5, HEIGHT = 14, RELATIONS = 4, ROUNDS = 6000 };

typedef struct drawn {
    masu_plan_row rows[ROWS];
    masu_plan_gap gaps[ROWS];
    masu_plan_relation relations[RELATIONS];
    masu_plan_problem problem;
} drawn;

static uint64_t chance; /* of this file: not the project's generator */

static unsigned below(unsigned most) {
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((chance >> 33) % most);
}

static void draw_row(drawn *d, size_t i) {
    masu_plan_row *row = &d->rows[i];
    row->size_bytes = below(12) ? 1 + below(4) : 0;
    row->lower = below(TIME - 1);
    row->upper = row->lower + 1 + below((unsigned)(TIME - row->lower));
    row->alignment_bytes = below(3) ? 1 : 1u << below(3);
    if (below(6) == 0 && row->size_bytes > 0) {
        row->is_fixed = true;
        row->fixed_offset = row->alignment_bytes * below(3);
    }
    if (below(4) == 0) {
        row->has_hint = true;
        row->hint_offset = below(6);
    }
    bool window = row->size_bytes > 1 && below(2);
    int64_t length = row->upper - row->lower;
    if (below(2) || (!window && length == 1))
        return;
    masu_plan_gap *gap = &d->gaps[i];
    gap->lower = row->lower + below((unsigned)length);
    gap->upper = gap->lower + 1 + below((unsigned)(row->upper - gap->lower));
    if (!window && gap->upper - gap->lower == length)
        gap->upper--;
    if (window) {
        gap->window_lower = below((unsigned)row->size_bytes);
        gap->window_upper =
            gap->window_lower + 1 + below((unsigned)(row->size_bytes - gap->window_lower));
    }
    row->gaps = gap;
    row->gap_count = gap->upper > gap->lower;
}

static void draw(drawn *d) {
    memset(d, 0, sizeof *d);
    d->problem = (masu_plan_problem){.rows = d->rows, .relations = d->relations};
    d->problem.count = 2 + below(ROWS - 1);
    for (size_t i = 0; i < d->problem.count; i++)
        draw_row(d, i);
    d->problem.relation_count = below(RELATIONS + 1);
    for (size_t i = 0; i < d->problem.relation_count; i++) {
        size_t a = below((unsigned)d->problem.count), b = below((unsigned)d->problem.count - 1);
        d->relations[i] = (masu_plan_relation){(masu_plan_relation_kind)below(3), a, b + (b >= a)};
    }
    assert_int_equal(masu_plan_validate(&d->problem, NULL), MASU_PLAN_RIGHT);
}

/* ---- the prover ------------------------------------------------------------------------------- */

/* Bytes that a row keeps at a moment, a bit a byte of the arena. */
static uint32_t painted(const masu_plan_row *row, uint64_t offset, int64_t moment) {
    uint64_t from = 0, to = row->size_bytes;
    if (moment < row->lower || moment >= row->upper)
        return 0;
    for (size_t g = 0; g < row->gap_count; g++)
        if (row->gaps[g].lower <= moment && moment < row->gaps[g].upper) {
            from = row->gaps[g].window_lower;
            to = row->gaps[g].window_upper;
        }
    return ((UINT32_C(1) << (to - from)) - 1) << (offset + from);
}

static bool tied(const masu_plan_problem *p, size_t a, size_t b) {
    unsigned reached = 1u << a;
    for (size_t round = 0; round < ROWS; round++)
        for (size_t i = 0; i < p->relation_count; i++) {
            unsigned both = 1u << p->relations[i].a | 1u << p->relations[i].b;
            if (p->relations[i].kind == MASU_PLAN_MUST_SHARE && (reached & both))
                reached |= both;
        }
    return reached >> b & 1;
}

static bool pair_is_right(const masu_plan_problem *p, const uint64_t *at, size_t a, size_t b) {
    const masu_plan_row *x = &p->rows[a], *y = &p->rows[b];
    bool may = false;
    if (tied(p, a, b)) {
        if (at[a] != at[b])
            return false;
        may = true;
    }
    for (size_t i = 0; i < p->relation_count; i++) {
        const masu_plan_relation *r = &p->relations[i];
        if (!((r->a == a && r->b == b) || (r->a == b && r->b == a)))
            continue;
        may |= r->kind == MASU_PLAN_MAY_SHARE && at[a] == at[b];
        uint32_t all_x = ((UINT32_C(1) << x->size_bytes) - 1) << at[a];
        uint32_t all_y = ((UINT32_C(1) << y->size_bytes) - 1) << at[b];
        if (r->kind == MASU_PLAN_MUST_NOT_SHARE && (all_x & all_y))
            return false;
    }
    for (int64_t moment = 0; moment < 2 * TIME && !may; moment++)
        if (painted(x, at[a], moment) & painted(y, at[b], moment))
            return false;
    return true;
}

static bool plan_from(const masu_plan_problem *p, uint64_t *at, size_t row, uint64_t height) {
    if (row == p->count)
        return true;
    const masu_plan_row *r = &p->rows[row];
    for (at[row] = 0; at[row] + r->size_bytes <= height; at[row]++) {
        bool right = at[row] % (r->alignment_bytes ? r->alignment_bytes : 1) == 0 &&
                     (!r->is_fixed || at[row] == r->fixed_offset);
        for (size_t other = 0; right && other < row; other++)
            right = pair_is_right(p, at, other, row);
        if (right && plan_from(p, at, row + 1, height))
            return true;
    }
    return false;
}

/* HEIGHT + 1: none up to HEIGHT. */
static uint64_t lowest(const masu_plan_problem *p) {
    uint64_t at[ROWS], height = 0;
    while (height <= HEIGHT && !plan_from(p, at, 0, height))
        height++;
    return height;
}

static bool is_plan(const masu_plan_problem *p, const uint64_t *at, uint64_t height) {
    for (size_t i = 0; i < p->count; i++) {
        const masu_plan_row *r = &p->rows[i];
        if (at[i] + r->size_bytes > height || (r->is_fixed && at[i] != r->fixed_offset) ||
            at[i] % (r->alignment_bytes ? r->alignment_bytes : 1) != 0)
            return false;
        for (size_t j = 0; j < i; j++)
            if (!pair_is_right(p, at, i, j))
                return false;
    }
    return true;
}

/* ---- claims ------------------------------------------------------------------------------------ */

static masu_plan_result find(const masu_plan_problem *p, masu_plan_goal goal, uint64_t *at) {
    masu_plan_options options = {.goal = goal, .step_limit = 20000, .threads = 1};
    masu_plan_result r;
    assert_int_equal(masu_plan_find(p, &options, at, &r), MASU_OK);
    return r;
}

static bool claims_hold(const masu_plan_problem *p, const masu_plan_result *r, const uint64_t *at,
                        uint64_t best) {
    uint64_t capacity = p->capacity_bytes ? p->capacity_bytes : UINT64_MAX;
    bool none = best > HEIGHT;
    switch (r->outcome) {
    case MASU_PLAN_INFEASIBLE:
        return none || best > capacity;
    case MASU_PLAN_UNKNOWN:
        return r->height_bytes == 0 || is_plan(p, at, r->height_bytes);
    default:
        return is_plan(p, at, r->height_bytes) && r->height_bytes <= capacity &&
               (none || r->lower_bound_bytes <= best) &&
               r->optimal == (r->outcome == MASU_PLAN_OPTIMAL) &&
               (!r->optimal || none || r->height_bytes == best);
    }
}

static void claims_against_all_plans(void **state) {
    (void)state;
    drawn d;
    uint64_t at[ROWS];
    unsigned optimal = 0, infeasible = 0, plans = 0;
    chance = 20261129;
    for (int round = 0; round < ROUNDS; round++) {
        draw(&d);
        uint64_t best = lowest(&d.problem);
        masu_plan_result r = find(&d.problem, MASU_PLAN_MINIMIZE, at);
        bool right = claims_hold(&d.problem, &r, at, best);
        optimal += r.optimal;
        plans += r.outcome != MASU_PLAN_INFEASIBLE;
        for (int64_t off = -1; right && off <= 0; off++) {
            if ((int64_t)best + off <= 0 || best > HEIGHT)
                continue;
            d.problem.capacity_bytes = (uint64_t)((int64_t)best + off);
            masu_plan_result fit = find(&d.problem, MASU_PLAN_FIT, at);
            right = claims_hold(&d.problem, &fit, at, best);
            infeasible += fit.outcome == MASU_PLAN_INFEASIBLE;
        }
        if (!right)
            printf("round %d: outcome %d, height %llu, bound %llu, lowest %llu, capacity %llu\n",
                   round, r.outcome, (unsigned long long)r.height_bytes,
                   (unsigned long long)r.lower_bound_bytes, (unsigned long long)best,
                   (unsigned long long)d.problem.capacity_bytes);
        for (size_t i = 0; !right && i < d.problem.count; i++)
            printf("  row %zu: %lld..%lld, %llu bytes, alignment %llu, gap %lld..%lld keeps "
                   "%llu..%llu, %s at %llu\n",
                   i, (long long)d.rows[i].lower, (long long)d.rows[i].upper,
                   (unsigned long long)d.rows[i].size_bytes,
                   (unsigned long long)d.rows[i].alignment_bytes, (long long)d.gaps[i].lower,
                   (long long)d.gaps[i].upper, (unsigned long long)d.gaps[i].window_lower,
                   (unsigned long long)d.gaps[i].window_upper,
                   d.rows[i].is_fixed ? "fixed" : "found", (unsigned long long)at[i]);
        for (size_t i = 0; !right && i < d.problem.relation_count; i++)
            printf("  relation %d: %zu %zu\n", d.relations[i].kind, d.relations[i].a,
                   d.relations[i].b);
        assert_true(right);
    }
    printf("%u plans, %u optimal, %u capacities refused\n", plans, optimal, infeasible);
    assert_true(plans > ROUNDS / 2 && optimal * 10 > plans * 8 && infeasible > ROUNDS / 4);
}

/* Found by more rounds than a test has time for: rows alike but for a window over one's whole life are no twins; fixed
 * rows that meet only in a hole of their group leave nothing known; jigsaws are not for pieces with holes. */
static void found_by_long_runs(void **state) {
    (void)state;
    const masu_plan_gap whole = {2, 4, 0, 3}, late = {4, 5, 1, 2}, early = {2, 3, 2, 4};
    const masu_plan_row alike[] = {
        {.size_bytes = 5, .lower = 2, .upper = 4},
        {.size_bytes = 5, .lower = 2, .upper = 4, .gaps = &whole, .gap_count = 1}};
    const masu_plan_row hole[] = {
        {.size_bytes = 2,
         .lower = 3,
         .upper = 5,
         .is_fixed = true,
         .fixed_offset = 2,
         .gaps = &late,
         .gap_count = 1},
        {.size_bytes = 1, .lower = 2, .upper = 5, .is_fixed = true, .fixed_offset = 1},
        {.size_bytes = 4, .lower = 2, .upper = 5, .gaps = &early, .gap_count = 1},
        {.size_bytes = 4, .lower = 1, .upper = 3}};
    const masu_plan_relation relations[] = {{MASU_PLAN_MUST_NOT_SHARE, 1, 0},
                                            {MASU_PLAN_MAY_SHARE, 2, 1},
                                            {MASU_PLAN_MUST_SHARE, 0, 3},
                                            {MASU_PLAN_MAY_SHARE, 2, 0}};
    const masu_plan_problem problems[] = {{alike, 2, NULL, 0, 0}, {hole, 4, relations, 4, 0}};
    for (size_t i = 0; i < 2; i++) {
        uint64_t at[ROWS];
        masu_plan_result r = find(&problems[i], MASU_PLAN_MINIMIZE, at);
        assert_true(claims_hold(&problems[i], &r, at, lowest(&problems[i])));
        assert_true(i > 0 || (r.optimal && r.height_bytes == 8));
    }
}

/* Each memory's rows are a plan by themselves, ties stay in one memory, and every entry is written. */
static void divisions_are_plans(void **state) {
    (void)state;
    drawn d;
    chance = 4711;
    for (int round = 0; round < ROUNDS / 4; round++) {
        draw(&d);
        uint64_t uses[ROWS], at[ROWS], mine[ROWS];
        size_t memory_of[ROWS];
        masu_plan_result results[2];
        masu_plan_memory memories[2] = {{1 + below(9)}, {below(2) ? 0 : 1 + below(9)}};
        masu_plan_options options = {.step_limit = 20000, .threads = 1};
        for (size_t i = 0; i < d.problem.count; i++) {
            uses[i] = below(4);
            memory_of[i] = SIZE_MAX;
        }
        assert_int_equal(
            masu_plan_divide(&d.problem, uses, memories, 2, &options, memory_of, at, results),
            MASU_OK);
        if (results[1].outcome == MASU_PLAN_INFEASIBLE || results[1].outcome == MASU_PLAN_UNKNOWN)
            continue;
        for (size_t m = 0; m < 2; m++) {
            /* rows elsewhere are in the way of nothing here */
            masu_plan_row rows[ROWS];
            masu_plan_problem part = d.problem;
            memcpy(rows, d.rows, sizeof rows);
            memcpy(mine, at, sizeof mine);
            part.rows = rows;
            uint64_t height = memories[m].capacity_bytes ? memories[m].capacity_bytes : 25;
            for (size_t i = 0; i < part.count; i++) {
                assert_true(memory_of[i] < 2);
                for (size_t j = 0; j < i; j++)
                    assert_true(!tied(&d.problem, i, j) || memory_of[i] == memory_of[j]);
                if (memory_of[i] != m) {
                    rows[i] = (masu_plan_row){.upper = 1};
                    mine[i] = 0;
                }
            }
            for (size_t i = 0; i < part.count; i++)
                for (size_t j = 0; j < i; j++)
                    assert_true(memory_of[i] != m || memory_of[j] != m ||
                                pair_is_right(&part, mine, i, j));
            for (size_t i = 0; i < part.count; i++)
                assert_true(memory_of[i] != m ||
                            (mine[i] + rows[i].size_bytes <= height &&
                             (!rows[i].is_fixed || mine[i] == rows[i].fixed_offset)));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_against_all_plans),
        cmocka_unit_test(found_by_long_runs),
        cmocka_unit_test(divisions_are_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
