/* Several memories: the most traffic into the fast one, against all divisions of tiny problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <masu/plan.h>

#include "base/rng.h"

enum { TINY = 7, LARGE = 3000 };

/* Each memory's part is a plan of its own. */
static void assert_right(const masu_plan_problem *problem, const masu_plan_memory *memories, size_t count,
                         const size_t *memory_of, const uint64_t *offsets) {
    masu_plan_row *rows = calloc(problem->count, sizeof *rows);
    uint64_t *places = calloc(problem->count, sizeof *places);
    assert_true(rows && places);
    for (size_t m = 0; m < count; m++) {
        size_t made = 0;
        for (size_t i = 0; i < problem->count; i++)
            if (memory_of[i] == m) {
                rows[made] = problem->rows[i];
                places[made++] = offsets[i];
            }
        uint64_t capacity = memories[m].capacity_bytes ? memories[m].capacity_bytes : UINT64_MAX;
        assert_int_equal(masu_plan_check(rows, made, places, capacity, NULL, NULL), MASU_PLAN_FINE);
    }
    free(rows);
    free(places);
}

static uint64_t traffic_of(const masu_plan_row *rows, const uint64_t *uses, size_t count, unsigned set) {
    uint64_t traffic = 0;
    for (size_t i = 0; i < count; i++)
        traffic += set >> i & 1 ? uses[i] * rows[i].size_bytes : 0;
    return traffic;
}

/* Every row of the set from `row` on at every offset: no code of the planner, so that it does not judge itself. */
static bool place_from(const masu_plan_row *rows, size_t count, unsigned set, uint64_t capacity, size_t row,
                       uint64_t *at) {
    while (row < count && !(set >> row & 1))
        row++;
    if (row == count)
        return true;
    for (at[row] = 0; at[row] + rows[row].size_bytes <= capacity; at[row]++) {
        bool right = !rows[row].is_fixed || at[row] == rows[row].fixed_offset;
        for (size_t i = 0; i < row && right; i++)
            right = !(set >> i & 1) || rows[i].upper <= rows[row].lower || rows[row].upper <= rows[i].lower ||
                    at[i] + rows[i].size_bytes <= at[row] || at[row] + rows[row].size_bytes <= at[i];
        if (right && place_from(rows, count, set, capacity, row + 1, at))
            return true;
    }
    return false;
}

static bool has_plan(const masu_plan_row *rows, size_t count, unsigned set, uint64_t capacity) {
    uint64_t at[TINY];
    return place_from(rows, count, set, capacity, 0, at);
}

static void the_fast_memory_serves_most(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 3);
    for (int round = 0; round < 60; round++) {
        masu_plan_row rows[TINY];
        uint64_t uses[TINY], offsets[TINY], best = 0;
        size_t memory_of[TINY], count = 2 + masu__rng_below(&rng, TINY - 1);
        for (size_t i = 0; i < count; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, 7);
            rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 6),
                                      .lower = lower,
                                      .upper = lower + 1 + (int64_t)masu__rng_below(&rng, 5),
                                      .is_fixed = masu__rng_below(&rng, 6) == 0};
            rows[i].fixed_offset = rows[i].is_fixed ? 7 * i : 0; /* never two in one place */
            uses[i] = 1 + masu__rng_below(&rng, 9);
        }
        masu_plan_memory memories[2] = {{3 + masu__rng_below(&rng, 10)}, {0}};
        for (unsigned set = 0; set < 1u << count; set++)
            if (traffic_of(rows, uses, count, set) > best && has_plan(rows, count, set, memories[0].capacity_bytes))
                best = traffic_of(rows, uses, count, set);
        masu_plan_problem problem = {.rows = rows, .count = count};
        masu_plan_result results[2];
        assert_int_equal(masu_plan_divide(&problem, uses, memories, 2, NULL, memory_of, offsets, results), MASU_OK);
        assert_right(&problem, memories, 2, memory_of, offsets);
        unsigned set = 0;
        for (size_t i = 0; i < count; i++)
            set |= (unsigned)(memory_of[i] == 0) << i;
        assert_int_equal(traffic_of(rows, uses, count, set), best);
    }
}

enum { SEVERAL = 18, MOMENTS = 12 };

/* The most traffic of any set that no moment overfills: no division serves more. */
static uint64_t most_by_load(const masu_plan_row *rows, const uint64_t *uses, size_t count, uint64_t capacity) {
    uint64_t best = 0;
    for (unsigned set = 0; set < 1u << count; set++) {
        uint64_t traffic = traffic_of(rows, uses, count, set);
        bool fits = traffic > best;
        for (int64_t moment = 0; fits && moment < MOMENTS; moment++) {
            uint64_t load = 0;
            for (size_t i = 0; i < count; i++)
                load += set >> i & 1 && rows[i].lower <= moment && moment < rows[i].upper ? rows[i].size_bytes : 0;
            fits = load <= capacity;
        }
        best = fits ? traffic : best;
    }
    return best;
}

/* Of more groups than all sets are asked of: no division may be far from what the load allows, and most are at it. */
static void more_groups_than_are_tried(void **state) {
    (void)state;
    enum { ROUNDS = 40 };
    masu__rng rng;
    masu__rng_seed(&rng, 23);
    uint64_t served = 0, possible = 0;
    int at_the_most = 0;
    for (int round = 0; round < ROUNDS; round++) {
        masu_plan_row rows[SEVERAL];
        uint64_t uses[SEVERAL], offsets[SEVERAL];
        size_t memory_of[SEVERAL], count = 15 + masu__rng_below(&rng, SEVERAL - 14);
        for (size_t i = 0; i < count; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, MOMENTS - 1);
            rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 9),
                                      .lower = lower,
                                      .upper = lower + 1 + (int64_t)masu__rng_below(&rng, (uint64_t)(MOMENTS - lower))};
            uses[i] = 1 + masu__rng_below(&rng, 20);
        }
        masu_plan_memory memories[2] = {{8 + masu__rng_below(&rng, 16)}, {0}};
        masu_plan_problem problem = {.rows = rows, .count = count};
        masu_plan_options options = {.step_limit = 20000, .threads = 1};
        masu_plan_result results[2];
        assert_int_equal(masu_plan_divide(&problem, uses, memories, 2, &options, memory_of, offsets, results), MASU_OK);
        assert_right(&problem, memories, 2, memory_of, offsets);
        unsigned set = 0;
        for (size_t i = 0; i < count; i++)
            set |= (unsigned)(memory_of[i] == 0) << i;
        uint64_t traffic = traffic_of(rows, uses, count, set);
        uint64_t most = most_by_load(rows, uses, count, memories[0].capacity_bytes);
        assert_true(traffic <= most && traffic * 100 >= most * 85);
        at_the_most += traffic == most;
        served += traffic;
        possible += most;
    }
    print_message("%d of %d at the most, %.2f %% of it in all\n", at_the_most, ROUNDS,
                  100.0 * (double)served / (double)possible);
    assert_true(served * 100 >= possible * 99 && at_the_most * 2 >= ROUNDS);
}

/* By traffic alone what is left would not fit: 8 bytes used often keep 8 idle ones out. */
static void what_is_left_must_fit(void **state) {
    (void)state;
    masu_plan_row rows[] = {{.size_bytes = 4, .upper = 2}, {.size_bytes = 8, .upper = 2}};
    uint64_t uses[] = {100, 1}, offsets[2];
    size_t memory_of[2];
    masu_plan_memory memories[] = {{8}, {4}};
    masu_plan_result results[2];
    masu_plan_problem problem = {.rows = rows, .count = 2};
    assert_int_equal(masu_plan_divide(&problem, uses, memories, 2, NULL, memory_of, offsets, results), MASU_OK);
    assert_int_equal(results[1].outcome, MASU_PLAN_OPTIMAL);
    assert_right(&problem, memories, 2, memory_of, offsets);
    assert_int_equal(memory_of[1], 0);
    memories[1].capacity_bytes = 3;
    assert_int_equal(masu_plan_divide(&problem, uses, memories, 2, NULL, memory_of, offsets, results), MASU_OK);
    assert_int_equal(results[1].outcome, MASU_PLAN_INFEASIBLE);
}

/* Both memories limited: where a division exists, one is found, and the fast memory serves as much as in the best
 * of those that leave what fits. */
static void both_are_limited(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 17);
    size_t possible = 0, found = 0, best_found = 0;
    for (int round = 0; round < 300; round++) {
        masu_plan_row rows[TINY];
        uint64_t uses[TINY], offsets[TINY], best = 0;
        size_t memory_of[TINY], count = 3 + masu__rng_below(&rng, TINY - 2);
        for (size_t i = 0; i < count; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, 6);
            rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 5),
                                      .lower = lower,
                                      .upper = lower + 1 + (int64_t)masu__rng_below(&rng, 4)};
            uses[i] = 1 + masu__rng_below(&rng, 9);
        }
        masu_plan_memory memories[2] = {{4 + masu__rng_below(&rng, 4)}, {5 + masu__rng_below(&rng, 5)}};
        bool exists = false;
        for (unsigned set = 0; set < 1u << count; set++)
            if (has_plan(rows, count, set, memories[0].capacity_bytes) &&
                has_plan(rows, count, ((1u << count) - 1) & ~set, memories[1].capacity_bytes)) {
                uint64_t traffic = traffic_of(rows, uses, count, set);
                best = traffic > best || !exists ? traffic : best;
                exists = true;
            }
        masu_plan_problem problem = {.rows = rows, .count = count};
        masu_plan_result results[2];
        assert_int_equal(masu_plan_divide(&problem, uses, memories, 2, NULL, memory_of, offsets, results), MASU_OK);
        bool fits = results[1].outcome == MASU_PLAN_OPTIMAL || results[1].outcome == MASU_PLAN_FEASIBLE;
        assert_true(exists || !fits);
        possible += exists;
        found += fits;
        unsigned set = 0;
        for (size_t i = 0; i < count; i++)
            set |= (unsigned)(memory_of[i] == 0) << i;
        best_found += fits && traffic_of(rows, uses, count, set) == best;
        if (fits)
            assert_right(&problem, memories, 2, memory_of, offsets);
    }
    assert_true(possible > 150 && possible < 300);
    assert_int_equal(found, possible);
    assert_int_equal(best_found, found);
}

typedef struct live {
    uint64_t uses, size;
} live;

static int by_uses(const void *a, const void *b) {
    const live *x = a, *y = b;
    return (x->uses > y->uses) - (x->uses < y->uses);
}

/* No division serves more from the first memory: stretches of time in which no row meets two moments that are looked
 * at, and at each the least used bytes that must be elsewhere. */
static uint64_t most_traffic(const masu_plan_row *rows, const uint64_t *uses, size_t count, uint64_t capacity) {
    static live alive[LARGE];
    static bool counted[LARGE];
    uint64_t most = 0, left_out = 0;
    memset(counted, 0, sizeof counted);
    for (size_t i = 0; i < count; i++)
        most += uses[i] * rows[i].size_bytes;
    for (int64_t moment = 0; moment < LARGE + 60; moment++) {
        size_t n = 0;
        uint64_t load = 0, here = 0;
        bool met = false;
        for (size_t i = 0; i < count; i++)
            if (rows[i].lower <= moment && moment < rows[i].upper) {
                met |= counted[i];
                load += rows[i].size_bytes;
                alive[n++] = (live){uses[i], rows[i].size_bytes};
            }
        if (met || load <= capacity)
            continue;
        qsort(alive, n, sizeof *alive, by_uses);
        uint64_t excess = load - capacity;
        for (size_t k = 0; k < n && excess > 0; k++) {
            uint64_t bytes = alive[k].size < excess ? alive[k].size : excess;
            here += bytes * alive[k].uses;
            excess -= bytes;
        }
        left_out += here;
        for (size_t i = 0; i < count; i++)
            counted[i] |= rows[i].lower <= moment && moment < rows[i].upper;
    }
    return most - left_out;
}

/* Too many for all sets: three memories, the fast one is nearly full where most is alive. */
static void many_rows(void **state) {
    (void)state;
    static masu_plan_row rows[LARGE];
    static uint64_t uses[LARGE], offsets[LARGE];
    static size_t memory_of[LARGE];
    masu__rng rng;
    uint64_t fast = 0, all = 0;
    masu__rng_seed(&rng, 11);
    for (int i = 0; i < LARGE; i++) {
        int64_t lower = (int64_t)masu__rng_below(&rng, LARGE);
        rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 1000),
                                  .lower = lower,
                                  .upper = lower + 1 + (int64_t)masu__rng_below(&rng, 60)};
        uses[i] = 1 + masu__rng_below(&rng, 20);
    }
    masu_plan_problem problem = {.rows = rows, .count = LARGE};
    masu_plan_memory memories[] = {{4096}, {8192}, {0}};
    masu_plan_options options = {.step_limit = 2000, .threads = 1, .time_limit_s = 4};
    masu_plan_result results[3];
    assert_int_equal(masu_plan_divide(&problem, uses, memories, 3, &options, memory_of, offsets, results), MASU_OK);
    assert_right(&problem, memories, 3, memory_of, offsets);
    for (int i = 0; i < LARGE; i++) {
        fast += memory_of[i] == 0 ? uses[i] * rows[i].size_bytes : 0;
        all += uses[i] * rows[i].size_bytes;
    }
    assert_true(fast * 100 > all * 35); /* 28 % of the bytes alive */
    uint64_t most = most_traffic(rows, uses, LARGE, memories[0].capacity_bytes);
    assert_true(fast <= most && fast * 100 > most * 60); /* a loose bound: half of the moments count */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fast_memory_serves_most),
        cmocka_unit_test(more_groups_than_are_tried),
        cmocka_unit_test(what_is_left_must_fit),
        cmocka_unit_test(both_are_limited),
        cmocka_unit_test(many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
