/* Cheapest plans against a prover that shares no code with the planner: tiny problems with alignments, fixed rows, gaps
 * and relations, all offsets tried. What is called a plan must be one, its cost what is said, and a bound never more
 * than the cheapest. And the bound of rows that are kept apart: all ways to keep seven rows apart pair by pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <masu/plan.h>

enum { ROWS = 5, TIME = 5, HEIGHT = 10, PENALTIES = 6, RELATIONS = 2, ROUNDS = 12000 };

typedef struct drawn {
    masu_plan_row rows[ROWS];
    masu_plan_gap gaps[ROWS];
    masu_plan_penalty penalties[PENALTIES];
    size_t penalty_count;
    masu_plan_relation relations[RELATIONS];
    masu_plan_problem problem;
} drawn;

static uint64_t chance;

static unsigned below(unsigned most) {
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((chance >> 33) % most);
}

static void draw_pair(size_t count, size_t *a, size_t *b) {
    *a = below((unsigned)count);
    *b = below((unsigned)count - 1);
    *b += *b >= *a;
}

static void draw(drawn *d) {
    memset(d, 0, sizeof *d);
    d->problem = (masu_plan_problem){.rows = d->rows, .relations = d->relations};
    size_t count = d->problem.count = 2 + below(ROWS - 1);
    for (size_t i = 0; i < count; i++) {
        masu_plan_row *row = &d->rows[i];
        *row = (masu_plan_row){.size_bytes = below(12) ? 1 + below(4) : 0, .lower = below(TIME - 1)};
        row->upper = row->lower + 1 + below((unsigned)(TIME - row->lower));
        row->alignment_bytes = below(3) ? 0 : 1u << below(3);
        if (below(7) == 0) {
            row->is_fixed = true;
            row->fixed_offset = (row->alignment_bytes ? row->alignment_bytes : 1) * below(3);
        }
        if (row->upper - row->lower > 1 && below(10) == 0) {
            d->gaps[i] = (masu_plan_gap){.lower = row->lower, .upper = row->lower + 1};
            row->gaps = &d->gaps[i];
            row->gap_count = 1;
        }
    }
    d->penalty_count = below(PENALTIES + 1);
    for (size_t i = 0; i < d->penalty_count; i++) {
        draw_pair(count, &d->penalties[i].a, &d->penalties[i].b);
        d->penalties[i].cost = below(4);
    }
    d->problem.relation_count = below(3) ? 0 : below(RELATIONS + 1);
    for (size_t i = 0; i < d->problem.relation_count; i++) {
        d->relations[i].kind = (masu_plan_relation_kind)below(3);
        draw_pair(count, &d->relations[i].a, &d->relations[i].b);
    }
    d->problem.capacity_bytes = 2 + below(HEIGHT - 1);
}

/* ---- the prover --------------------------------------------------------------------------------- */

static bool alive(const masu_plan_row *row, int64_t moment) {
    bool in_gap = row->gap_count > 0 && row->gaps[0].lower <= moment && moment < row->gaps[0].upper;
    return row->lower <= moment && moment < row->upper && !in_gap;
}

static uint32_t bytes_of(const masu_plan_row *row, uint64_t offset) {
    return ((UINT32_C(1) << row->size_bytes) - 1) << offset;
}

static bool tied(const masu_plan_problem *p, size_t a, size_t b) {
    unsigned reached = 1u << a;
    for (size_t round = 0; round < ROWS; round++)
        for (size_t i = 0; i < p->relation_count; i++) {
            unsigned both = 1u << p->relations[i].a | 1u << p->relations[i].b;
            reached |= p->relations[i].kind == MASU_PLAN_MUST_SHARE && (reached & both) ? both : 0;
        }
    return reached >> b & 1;
}

static bool pair_is_right(const masu_plan_problem *p, const uint64_t *at, size_t a, size_t b) {
    bool together = bytes_of(&p->rows[a], at[a]) & bytes_of(&p->rows[b], at[b]), may = tied(p, a, b);
    if (may && at[a] != at[b])
        return false;
    for (size_t i = 0; i < p->relation_count; i++) {
        const masu_plan_relation *r = &p->relations[i];
        if (!((r->a == a && r->b == b) || (r->a == b && r->b == a)))
            continue;
        if (r->kind == MASU_PLAN_MUST_NOT_SHARE && together)
            return false;
        may |= r->kind == MASU_PLAN_MAY_SHARE && at[a] == at[b];
    }
    for (int64_t moment = 0; moment < 2 * TIME && together && !may; moment++)
        if (alive(&p->rows[a], moment) && alive(&p->rows[b], moment))
            return false;
    return true;
}

static uint64_t cost_of(const drawn *d, const uint64_t *at) {
    uint64_t cost = 0;
    for (size_t i = 0; i < d->penalty_count; i++)
        if (bytes_of(&d->rows[d->penalties[i].a], at[d->penalties[i].a]) &
            bytes_of(&d->rows[d->penalties[i].b], at[d->penalties[i].b]))
            cost += d->penalties[i].cost;
    return cost;
}

static bool row_is_right(const drawn *d, const uint64_t *at, size_t row) {
    const masu_plan_row *r = &d->rows[row];
    bool right = at[row] % (r->alignment_bytes ? r->alignment_bytes : 1) == 0 &&
                 (!r->is_fixed || at[row] == r->fixed_offset) && at[row] + r->size_bytes <= d->problem.capacity_bytes;
    for (size_t other = 0; other < row && right; other++)
        right = pair_is_right(&d->problem, at, other, row);
    return right;
}

static void cheapest_from(const drawn *d, uint64_t *at, size_t row, uint64_t *best) {
    if (row == d->problem.count) {
        uint64_t cost = cost_of(d, at);
        *best = cost < *best ? cost : *best;
        return;
    }
    for (at[row] = 0; at[row] <= d->problem.capacity_bytes && *best > 0; at[row]++)
        if (row_is_right(d, at, row))
            cheapest_from(d, at, row + 1, best);
}

/* ---- claims ------------------------------------------------------------------------------------- */

static bool claims_hold(const drawn *d, const masu_plan_result *r, const masu_plan_price *price, const uint64_t *at,
                        uint64_t best) {
    if (r->outcome == MASU_PLAN_INFEASIBLE)
        return best == UINT64_MAX;
    if (r->outcome == MASU_PLAN_UNKNOWN)
        return true;
    for (size_t row = 0; row < d->problem.count; row++)
        if (!row_is_right(d, at, row) || at[row] + d->rows[row].size_bytes > r->height_bytes)
            return false;
    return price->cost == cost_of(d, at) && price->cost >= best && price->lower_bound <= best &&
           price->optimal == (price->cost == price->lower_bound) && (!price->optimal || price->cost == best);
}

static void costs_against_all_plans(void **state) {
    (void)state;
    drawn d;
    uint64_t at[ROWS], scratch[ROWS];
    unsigned paid = 0, proven = 0, plans = 0;
    chance = 7;
    for (int round = 0; round < ROUNDS; round++) {
        draw(&d);
        uint64_t best = UINT64_MAX;
        cheapest_from(&d, scratch, 0, &best);
        masu_plan_options options = {.step_limit = 20000, .threads = 1};
        masu_plan_result r;
        masu_plan_price price;
        assert_int_equal(masu_plan_find_cheapest(&d.problem, d.penalties, d.penalty_count, &options, at, &r, &price),
                         MASU_OK);
        bool right = claims_hold(&d, &r, &price, at, best);
        if (!right)
            printf("round %d: outcome %d, cost %llu, bound %llu, cheapest %llu\n", round, r.outcome,
                   (unsigned long long)price.cost, (unsigned long long)price.lower_bound, (unsigned long long)best);
        assert_true(right);
        plans += best != UINT64_MAX;
        paid += best != UINT64_MAX && best > 0;
        proven += best != UINT64_MAX && price.optimal;
    }
    printf("%u plans, %u that must be paid for, %u proven\n", plans, paid, proven);
    assert_true(paid > 400 && plans > ROUNDS / 3 && proven * 100 > plans * 90);
}

/* Rows of one slot, two slots: the cheapest division into two, of which the middle of a search knows little. */
static void two_slots(void **state) {
    (void)state;
    enum { COUNT = 14 };
    masu_plan_row rows[COUNT];
    masu_plan_penalty penalties[COUNT * COUNT];
    uint64_t at[COUNT], best = UINT64_MAX;
    size_t count = 0;
    chance = 20;
    for (size_t i = 0; i < COUNT; i++)
        rows[i] = (masu_plan_row){
            .size_bytes = 32, .lower = (int64_t)i, .upper = (int64_t)i + 1, .alignment_bytes = 32};
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < i; j++)
            if (below(3))
                penalties[count++] = (masu_plan_penalty){i, j, 1 + below(5)};
    for (uint32_t side = 0; side < UINT32_C(1) << COUNT; side++) {
        uint64_t cost = 0;
        for (size_t i = 0; i < count; i++)
            cost += (side >> penalties[i].a & 1) == (side >> penalties[i].b & 1) ? penalties[i].cost : 0;
        best = cost < best ? cost : best;
    }
    masu_plan_problem problem = {.rows = rows, .count = COUNT, .capacity_bytes = 64};
    masu_plan_result r;
    masu_plan_price price;
    assert_int_equal(masu_plan_find_cheapest(&problem, penalties, count, NULL, at, &r, &price), MASU_OK);
    assert_true(price.optimal && price.cost == best && best > 0);
}

static void refused(void **state) {
    (void)state;
    masu_plan_row rows[] = {{.size_bytes = 1, .upper = 1}, {.size_bytes = 1, .lower = 1, .upper = 2}};
    masu_plan_problem problem = {.rows = rows, .count = 2, .capacity_bytes = 1};
    masu_plan_penalty self = {1, 1, 1}, far = {0, 2, 1}, dear[] = {{0, 1, UINT64_C(1) << 62}, {1, 0, 1}};
    masu_plan_result r;
    masu_plan_price price;
    uint64_t at[2];
    assert_int_equal(masu_plan_find_cheapest(&problem, &self, 1, NULL, at, &r, &price), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_plan_find_cheapest(&problem, &far, 1, NULL, at, &r, &price), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_plan_find_cheapest(&problem, dear, 2, NULL, at, &r, &price), MASU_ERR_OVERFLOW);
    assert_int_equal(masu_plan_find_cheapest(&problem, dear, 1, NULL, at, &r, &price), MASU_OK);
    assert_true(price.optimal && price.cost == dear[0].cost && r.height_bytes == 1);
}

/* ---- kept apart pair by pair ---------------------------------------------------------------------- */

/* Rows that never live together, kept apart along a circle of five and a star: the heaviest clique is the bound, and
 * alignment counts. */
static void cliques_are_bounds(void **state) {
    (void)state;
    enum { COUNT = 6 };
    const masu_plan_relation_kind apart = MASU_PLAN_MUST_NOT_SHARE;
    masu_plan_row rows[COUNT];
    masu_plan_relation relations[] = {{apart, 0, 1}, {apart, 1, 2}, {apart, 2, 3}, {apart, 3, 4},
                                      {apart, 4, 0}, {apart, 5, 0}, {apart, 5, 1}};
    for (size_t i = 0; i < COUNT; i++)
        rows[i] = (masu_plan_row){.size_bytes = 5, .lower = 2 * (int64_t)i, .upper = 2 * (int64_t)i + 1};
    masu_plan_problem problem = {.rows = rows, .count = COUNT, .relations = relations, .relation_count = 7};
    masu_plan_options options = {.step_limit = 20000, .threads = 1};
    uint64_t at[COUNT];
    masu_plan_result r;
    assert_int_equal(masu_plan_find(&problem, &options, at, &r), MASU_OK);
    assert_true(r.optimal && r.height_bytes == 15); /* 0, 1 and 5; a circle of five asks for three layers, too */
    for (size_t i = 0; i < COUNT; i++)
        rows[i].alignment_bytes = 4;
    assert_int_equal(masu_plan_find(&problem, &options, at, &r), MASU_OK);
    assert_true(r.optimal && r.height_bytes == 8 + 8 + 5);
    rows[5].is_fixed = true;
    rows[5].fixed_offset = 4;
    assert_int_equal(masu_plan_find(&problem, &options, at, &r), MASU_OK);
    assert_true(r.height_bytes == 12 + 8 + 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_against_all_plans),
        cmocka_unit_test(two_slots),
        cmocka_unit_test(refused),
        cmocka_unit_test(cliques_are_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
