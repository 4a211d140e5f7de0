/* Sharing, order of execution and several memories: against enumeration where problems are tiny. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/plan.h>

#include "base/meta.h"
#include "base/rng.h"

enum { MOST = 64, MOST_OPS = 8 };

/* ---- sharing --------------------------------------------------------------------------------- */

static masu_plan_result plan(const masu_plan_problem *problem, uint64_t *offsets) {
    masu_plan_options options = {.step_limit = 50000};
    masu_plan_result r;
    assert_int_equal(masu_plan_find(problem, &options, offsets, &r), MASU_OK);
    assert_int_equal(masu_plan_check_problem(problem, offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    assert_true(r.lower_bound_bytes <= r.height_bytes);
    assert_int_equal(masu__meta_live_bytes(), 0);
    return r;
}

/* in → relu → relu → out: each takes over the one before. */
static void a_chain_needs_one_buffer(void **state) {
    (void)state;
    masu_plan_row rows[5];
    masu_plan_relation relations[4];
    uint64_t offsets[5];
    for (int i = 0; i < 5; i++)
        rows[i] = (masu_plan_row){.size_bytes = 100, .lower = i, .upper = i + 2};
    for (size_t i = 0; i < 4; i++)
        relations[i] = (masu_plan_relation){MASU_PLAN_MAY_SHARE, i, i + 1};
    masu_plan_problem problem = {rows, 5, relations, 0, 0};
    assert_int_equal(plan(&problem, offsets).height_bytes, 200);
    problem.relation_count = 4;
    masu_plan_result r = plan(&problem, offsets);
    assert_int_equal(r.height_bytes, 100);
    assert_int_equal(r.outcome, MASU_PLAN_OPTIMAL);
}

/* Both inputs of a sum die in it: its result can take over one, not both. */
static void a_sum_takes_over_one_input(void **state) {
    (void)state;
    const masu_plan_row rows[] = {{.size_bytes = 10, .lower = 0, .upper = 3},
                                  {.size_bytes = 10, .lower = 1, .upper = 3},
                                  {.size_bytes = 10, .lower = 2, .upper = 4}};
    const masu_plan_relation relations[] = {{MASU_PLAN_MAY_SHARE, 0, 2}, {MASU_PLAN_MAY_SHARE, 1, 2}};
    masu_plan_problem problem = {rows, 3, relations, 2, 0};
    uint64_t offsets[3];
    masu_plan_result r = plan(&problem, offsets);
    assert_int_equal(r.height_bytes, 20);
    assert_int_equal(r.outcome, MASU_PLAN_OPTIMAL);
}

/* Two results of one input: only one of them can have its place. */
static void two_heirs_do_not_meet(void **state) {
    (void)state;
    const masu_plan_row rows[] = {{.size_bytes = 10, .lower = 0, .upper = 3},
                                  {.size_bytes = 10, .lower = 2, .upper = 5},
                                  {.size_bytes = 10, .lower = 2, .upper = 5}};
    const masu_plan_relation relations[] = {{MASU_PLAN_MAY_SHARE, 0, 1}, {MASU_PLAN_MAY_SHARE, 0, 2}};
    masu_plan_problem problem = {rows, 3, relations, 2, 0};
    uint64_t offsets[3];
    assert_int_equal(plan(&problem, offsets).height_bytes, 20);
}

static void sharing_never_costs(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 3);
    for (int round = 0; round < 60; round++) {
        masu_plan_row rows[24];
        masu_plan_relation relations[24];
        uint64_t offsets[24];
        size_t related = 0;
        for (size_t i = 0; i < 24; i++) {
            int64_t lower = (int64_t)i;
            rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 3),
                                      .lower = lower,
                                      .upper = lower + 1 + (int64_t)masu__rng_below(&rng, 5)};
        }
        for (size_t a = 0; a < 24; a++)
            for (size_t b = a + 1; b < 24 && related < 24; b++)
                if (rows[a].upper - 1 == rows[b].lower && masu__rng_below(&rng, 2))
                    relations[related++] = (masu_plan_relation){MASU_PLAN_MAY_SHARE, a, b};
        masu_plan_problem problem = {rows, 24, relations, 0, 0};
        uint64_t apart = plan(&problem, offsets).height_bytes;
        problem.relation_count = related;
        assert_true(plan(&problem, offsets).height_bytes <= apart);
    }
}

/* ---- order of execution ---------------------------------------------------------------------- */

typedef struct drawn_graph {
    masu_plan_operator operators[MOST_OPS];
    size_t inputs[MOST_OPS][2], outputs[MOST_OPS];
    masu_plan_graph graph;
    masu_plan_row rows[MOST_OPS + 1];
} drawn_graph;

/* Operator k makes row k + 1 from one or two earlier rows; row 0 is the input. */
static void draw_graph(masu__rng *rng, drawn_graph *g, size_t count) {
    g->graph = (masu_plan_graph){g->operators, count};
    for (size_t k = 0; k < count; k++) {
        g->inputs[k][0] = masu__rng_below(rng, k + 1);
        g->inputs[k][1] = masu__rng_below(rng, k + 1);
        g->outputs[k] = k + 1;
        g->operators[k] = (masu_plan_operator){g->inputs[k], 1 + masu__rng_below(rng, 2), &g->outputs[k], 1};
    }
    for (size_t i = 0; i <= count; i++) {
        g->rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(rng, 20)};
        g->rows[i].lower = i == 0 ? 0 : (int64_t)i - 1;
        g->rows[i].upper = g->rows[i].lower + 1;
        for (size_t k = 0; k < count; k++)
            for (size_t j = 0; j < g->operators[k].input_count; j++)
                if (g->inputs[k][j] == i)
                    g->rows[i].upper = (int64_t)k + 1;
    }
}

static uint64_t peak_in(const drawn_graph *g, const size_t *order) {
    masu_plan_row rows[MOST_OPS + 1];
    uint64_t peak;
    size_t count = g->graph.count + 1;
    assert_int_equal(masu_plan_graph_lives(&g->graph, order, g->rows, count, rows), MASU_OK);
    assert_int_equal(masu_plan_lower_bound(rows, count, &peak), MASU_OK);
    return peak;
}

static bool in_order(const drawn_graph *g, const size_t *order) {
    for (size_t k = 0; k < g->graph.count; k++)
        for (size_t i = 0; i < g->operators[order[k]].input_count; i++) {
            size_t row = g->inputs[order[k]][i];
            bool made = row == 0;
            for (size_t j = 0; j < k; j++)
                made |= order[j] + 1 == row;
            if (!made)
                return false;
        }
    return true;
}

static void each_order(const drawn_graph *g, size_t *order, size_t at, uint64_t *best) {
    if (at == g->graph.count) {
        uint64_t peak = in_order(g, order) ? peak_in(g, order) : UINT64_MAX;
        *best = peak < *best ? peak : *best;
        return;
    }
    for (size_t i = at; i < g->graph.count; i++) {
        size_t keep = order[at];
        order[at] = order[i];
        order[i] = keep;
        each_order(g, order, at + 1, best);
        order[i] = order[at];
        order[at] = keep;
    }
}

static void the_best_order_is_found(void **state) {
    (void)state;
    static drawn_graph g;
    masu__rng rng;
    masu__rng_seed(&rng, 9);
    for (int round = 0; round < 60; round++) {
        size_t order[MOST_OPS], all[MOST_OPS];
        uint64_t best = UINT64_MAX, before, after;
        draw_graph(&rng, &g, 2 + masu__rng_below(&rng, 5));
        for (size_t k = 0; k < g.graph.count; k++)
            all[k] = k;
        assert_int_equal(masu_plan_reorder(&g.graph, g.rows, g.graph.count + 1, 0, order, &before, &after), MASU_OK);
        assert_true(in_order(&g, order));
        assert_true(before == peak_in(&g, NULL));
        assert_true(after == peak_in(&g, order));
        each_order(&g, all, 0, &best);
        assert_true(after == best);
        /* a beam of one is no proof, but never worse than what was there */
        assert_int_equal(masu_plan_reorder(&g.graph, g.rows, g.graph.count + 1, 1, order, NULL, &after), MASU_OK);
        assert_true(after <= before && after == peak_in(&g, order));
    }
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* More operators than a word has bits. The first hundred make something large, each of the others makes something small
 * of one of these: at once is best. */
static void many_operators_keep_to_what_they_read(void **state) {
    (void)state;
    enum { HALF = 100, ALL = 2 * HALF };
    static masu_plan_row rows[ALL + 1];
    static masu_plan_operator operators[ALL];
    static size_t numbers[ALL + 1], order[ALL], at[ALL];
    for (size_t k = 0; k <= ALL; k++)
        numbers[k] = k;
    rows[0] = (masu_plan_row){.size_bytes = 1, .lower = 0, .upper = HALF};
    for (size_t k = 0; k < HALF; k++) {
        rows[1 + k] = (masu_plan_row){.size_bytes = 100, .lower = (int64_t)k, .upper = (int64_t)(HALF + k + 1)};
        rows[1 + HALF + k] = (masu_plan_row){.size_bytes = 1, .lower = (int64_t)(HALF + k), .upper = ALL};
        operators[k] = (masu_plan_operator){&numbers[0], 1, &numbers[1 + k], 1};
        operators[HALF + k] = (masu_plan_operator){&numbers[1 + k], 1, &numbers[1 + HALF + k], 1};
    }
    for (size_t beam = 0; beam < 2; beam++) {
        uint64_t before, after;
        masu_plan_graph graph = {operators, ALL};
        assert_int_equal(masu_plan_reorder(&graph, rows, ALL + 1, beam, order, &before, &after), MASU_OK);
        assert_true(before >= 100 * HALF && after < 100 * 4);
        for (size_t k = 0; k < ALL; k++)
            at[order[k]] = k;
        for (size_t k = 0; k < HALF; k++)
            assert_true(at[k] < at[HALF + k]);
    }
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void wrong_graphs_are_refused(void **state) {
    (void)state;
    /* two make row 1: which of them its reader means, another order would decide */
    const size_t first = 0, twice = 1, last = 2;
    const masu_plan_operator makers[] = {{&first, 1, &twice, 1}, {&twice, 1, &last, 1}, {&first, 1, &twice, 1}};
    const masu_plan_row lives[] = {
        {.size_bytes = 1, .upper = 3}, {.size_bytes = 1, .upper = 3}, {.size_bytes = 1, .lower = 1, .upper = 3}};
    size_t run_in[3];
    assert_int_equal(masu_plan_reorder(&(masu_plan_graph){makers, 3}, lives, 3, 0, run_in, NULL, NULL),
                     MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_plan_reorder(&(masu_plan_graph){makers, 2}, lives, 3, 0, run_in, NULL, NULL), MASU_OK);
    static drawn_graph g;
    size_t order[MOST_OPS];
    masu__rng rng;
    masu__rng_seed(&rng, 9);
    draw_graph(&rng, &g, 4);
    g.inputs[0][0] = 4; /* made by the last */
    assert_int_equal(masu_plan_reorder(&g.graph, g.rows, 5, 0, order, NULL, NULL), MASU_ERR_INVALID_ARGUMENT);
    g.inputs[0][0] = 99;
    assert_int_equal(masu_plan_reorder(&g.graph, g.rows, 5, 0, order, NULL, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_plan_graph_lives(&g.graph, NULL, g.rows, 5, g.rows), MASU_ERR_INVALID_ARGUMENT);
}

/* ---- memories -------------------------------------------------------------------------------- */

static void check_division(const masu_plan_problem *problem, const size_t *memory_of, const uint64_t *offsets,
                           const masu_plan_memory *memories, const masu_plan_result *results, size_t count) {
    for (size_t m = 0; m < count; m++) {
        masu_plan_row rows[MOST];
        uint64_t mine[MOST];
        size_t n = 0;
        for (size_t i = 0; i < problem->count; i++)
            if (memory_of[i] == m) {
                mine[n] = offsets[i];
                rows[n++] = problem->rows[i];
            }
        assert_int_equal(masu_plan_check(rows, n, mine, results[m].height_bytes, NULL, NULL), MASU_PLAN_FINE);
        assert_true(memories[m].capacity_bytes == 0 || results[m].height_bytes <= memories[m].capacity_bytes);
    }
}

static void the_fast_memory_gets_the_traffic(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 13);
    masu_plan_row rows[MOST];
    uint64_t uses[MOST], offsets[MOST];
    size_t memory_of[MOST];
    masu_plan_result results[3];
    const masu_plan_memory memories[3] = {{200}, {600}, {0}};
    masu_plan_options options = {.step_limit = 3000, .threads = 1};
    for (int round = 0; round < 10; round++) {
        for (size_t i = 0; i < MOST; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, 40);
            rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 90),
                                      .lower = lower,
                                      .upper = lower + 1 + (int64_t)masu__rng_below(&rng, 20)};
            uses[i] = 1 + masu__rng_below(&rng, 30);
        }
        masu_plan_problem problem = {.rows = rows, .count = MOST};
        assert_int_equal(masu_plan_divide(&problem, uses, memories, 3, &options, memory_of, offsets, results), MASU_OK);
        check_division(&problem, memory_of, offsets, memories, results, 3);
        assert_true(results[0].height_bytes > 100);
    }
    /* the one that is used most goes to the fast memory */
    rows[0] = (masu_plan_row){.size_bytes = 150, .lower = 0, .upper = 4};
    rows[1] = (masu_plan_row){.size_bytes = 150, .lower = 0, .upper = 4};
    uses[0] = 1;
    uses[1] = 50;
    masu_plan_problem two = {.rows = rows, .count = 2};
    assert_int_equal(masu_plan_divide(&two, uses, memories, 2, &options, memory_of, offsets, results), MASU_OK);
    assert_true(memory_of[1] == 0 && memory_of[0] == 1);
    /* the last is too small: said, not hidden */
    const masu_plan_memory small[2] = {{100}, {140}};
    assert_int_equal(masu_plan_divide(&two, uses, small, 2, &options, memory_of, offsets, results), MASU_OK);
    assert_int_equal(results[1].outcome, MASU_PLAN_INFEASIBLE);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_needs_one_buffer), cmocka_unit_test(a_sum_takes_over_one_input),
        cmocka_unit_test(two_heirs_do_not_meet),    cmocka_unit_test(sharing_never_costs),
        cmocka_unit_test(the_best_order_is_found),  cmocka_unit_test(many_operators_keep_to_what_they_read),
        cmocka_unit_test(wrong_graphs_are_refused), cmocka_unit_test(the_fast_memory_gets_the_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
