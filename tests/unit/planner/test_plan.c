/* The planner and its judge: the planning half of row B23, small problems against exhaustive
 * search, random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/plan.h>

#include "base/meta.h"
#include "base/rng.h"

enum { MOST = 160 };

#define ROW(size, from, to, align) \
    ((masu_plan_row){.size_bytes = (size), .lower = (from), .upper = (to), .alignment_bytes = (align)})

/* Solves, has it judged, and checks what must hold of every plan. */
static masu_plan_result solve(const masu_plan_row *rows, size_t count) {
    static uint64_t offsets[MOST], again[MOST];
    masu_plan_result result, repeated;
    size_t a = 0, b = 0;
    assert_int_equal(masu_plan_solve(rows, count, offsets, &result, NULL), MASU_OK);
    assert_int_equal(masu_plan_check(rows, count, offsets, result.height_bytes, &a, &b), MASU_PLAN_FINE);
    assert_true(result.height_bytes >= result.lower_bound_bytes);
    assert_int_equal(result.optimal, result.height_bytes == result.lower_bound_bytes);
    uint64_t bound;
    assert_int_equal(masu_plan_lower_bound(rows, count, &bound), MASU_OK);
    assert_true(bound == result.lower_bound_bytes);
    /* the same rows, the same plan */
    assert_int_equal(masu_plan_solve(rows, count, again, &repeated, NULL), MASU_OK);
    assert_memory_equal(offsets, again, count * sizeof *offsets);
    assert_string_equal(result.order, repeated.order);
    /* the height is reached, not only respected */
    if (result.height_bytes > 0)
        assert_int_equal(masu_plan_check(rows, count, offsets, result.height_bytes - 1, NULL, NULL), MASU_PLAN_OUTSIDE);
    assert_int_equal(masu__meta_live_bytes(), 0);
    return result;
}

static void nothing_and_one(void **state) {
    (void)state;
    masu_plan_result result;
    assert_int_equal(masu_plan_solve(NULL, 0, NULL, &result, NULL), MASU_OK);
    assert_int_equal(result.height_bytes, 0);
    assert_true(result.optimal);
    result = solve(&(masu_plan_row){.size_bytes = 100, .lower = 3, .upper = 4, .alignment_bytes = 64}, 1);
    assert_int_equal(result.height_bytes, 100);
    assert_true(result.optimal);
    result = solve(&(masu_plan_row){.size_bytes = 0, .lower = 0, .upper = 1}, 1);
    assert_int_equal(result.height_bytes, 0);
}

static void the_worked_example(void **state) {
    (void)state;
    const masu_plan_row rows[] = {
        ROW(4, 0, 3, 0), ROW(4, 3, 9, 0), ROW(4, 0, 9, 0), ROW(4, 9, 21, 0), ROW(4, 0, 21, 0),
    };
    masu_plan_result result = solve(rows, 5);
    assert_int_equal(result.height_bytes, 12);
    assert_true(result.optimal);
}

static void touching_lives_share(void **state) {
    (void)state;
    masu_plan_row rows[50];
    for (int i = 0; i < 50; i++)
        rows[i] = ROW(1000, i, i + 1, 0);
    assert_int_equal(solve(rows, 50).height_bytes, 1000);
    for (int i = 0; i < 50; i++)
        rows[i].upper = i + 2;
    assert_int_equal(solve(rows, 50).height_bytes, 2000);
    for (int i = 0; i < 50; i++)
        rows[i] = ROW(1000, 7, 8, 0);
    assert_int_equal(solve(rows, 50).height_bytes, 50000);
}

static void alignments_are_kept(void **state) {
    (void)state;
    const masu_plan_row rows[] = {ROW(1, 0, 10, 1), ROW(64, 0, 10, 64), ROW(3, 0, 10, 2), ROW(4096, 0, 10, 4096)};
    masu_plan_result result = solve(rows, 4);
    assert_int_equal(result.lower_bound_bytes, 4164);
    assert_true(result.height_bytes <= 4096 + 4096);
}

static void extreme_numbers(void **state) {
    (void)state;
    const masu_plan_row rows[] = {
        ROW((uint64_t)1 << 41, INT64_MIN, INT64_MAX, 0),
        ROW((uint64_t)1 << 42, INT64_MIN, 0, 4096),
        ROW((uint64_t)1 << 42, 0, INT64_MAX, 4096),
    };
    masu_plan_result result = solve(rows, 3);
    assert_true(result.height_bytes == ((uint64_t)1 << 41) + ((uint64_t)1 << 42));
}

static void bad_rows_are_named(void **state) {
    (void)state;
    masu_plan_row rows[] = {ROW(10, 0, 1, 0), ROW(10, 0, 1, 0), ROW(10, 0, 1, 0)};
    uint64_t offsets[3] = {7, 7, 7};
    masu_plan_result result = {.height_bytes = 7};
    size_t bad = 99;
    rows[1].upper = 0;
    assert_int_equal(masu_plan_solve(rows, 3, offsets, &result, &bad), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(bad, 1);
    rows[1].upper = -5;
    assert_int_equal(masu_plan_solve(rows, 3, offsets, &result, &bad), MASU_ERR_INVALID_ARGUMENT);
    rows[1].upper = 1;
    rows[2].alignment_bytes = 3;
    assert_int_equal(masu_plan_solve(rows, 3, offsets, &result, &bad), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(bad, 2);
    rows[2].alignment_bytes = 0;
    rows[0].size_bytes = UINT64_MAX;
    assert_int_equal(masu_plan_solve(rows, 3, offsets, &result, &bad), MASU_ERR_OVERFLOW);
    uint64_t bound = 7;
    assert_int_equal(masu_plan_lower_bound(rows, 3, &bound), MASU_ERR_OVERFLOW);
    rows[0].size_bytes = 10;
    masu__fault_arm(1);
    assert_int_equal(masu_plan_solve(rows, 3, offsets, &result, &bad), MASU_ERR_OUT_OF_MEMORY);
    masu__fault_arm(0);
    assert_int_equal(masu_plan_solve(NULL, 3, offsets, &result, &bad), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_plan_solve(rows, 3, NULL, &result, &bad), MASU_ERR_INVALID_ARGUMENT);
    for (int i = 0; i < 3; i++)
        assert_int_equal(offsets[i], 7);
    assert_int_equal(result.height_bytes, 7);
    assert_int_equal(bound, 7);
}

/* ---- against exhaustive search: every order of placement at the lowest place that fits ------- */

static bool clashes(const masu_plan_row *rows, const uint64_t *offsets, const size_t *order, size_t placed,
                    size_t row) {
    for (size_t k = 0; k < placed; k++) {
        size_t other = order[k];
        if (rows[row].lower < rows[other].upper && rows[other].lower < rows[row].upper &&
            offsets[row] < offsets[other] + rows[other].size_bytes &&
            offsets[other] < offsets[row] + rows[row].size_bytes)
            return true;
    }
    return false;
}

static uint64_t lowest_height(const masu_plan_row *rows, size_t count, size_t *order, size_t placed, uint64_t height,
                              uint64_t *offsets) {
    if (placed == count)
        return height;
    uint64_t best = UINT64_MAX;
    for (size_t k = placed; k < count; k++) {
        size_t row = order[k];
        order[k] = order[placed];
        order[placed] = row;
        for (offsets[row] = 0; clashes(rows, offsets, order, placed, row); offsets[row]++)
            ;
        uint64_t end = offsets[row] + rows[row].size_bytes;
        uint64_t found = lowest_height(rows, count, order, placed + 1, end > height ? end : height, offsets);
        best = found < best ? found : best;
        order[placed] = order[k];
        order[k] = row;
    }
    return best;
}

static void small_problems_are_near_the_optimum(void **state) {
    (void)state;
    enum { PROBLEMS = 400, ROWS = 6 };
    masu__rng rng;
    masu__rng_seed(&rng, 31);
    unsigned reached = 0;
    for (int problem = 0; problem < PROBLEMS; problem++) {
        masu_plan_row rows[ROWS];
        size_t order[ROWS];
        uint64_t offsets[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, 8);
            rows[i] = ROW(1 + masu__rng_below(&rng, 6), lower, lower + 1 + (int64_t)masu__rng_below(&rng, 6), 0);
            order[i] = i;
        }
        uint64_t optimum = lowest_height(rows, ROWS, order, 0, 0, offsets);
        masu_plan_result result = solve(rows, ROWS);
        assert_true(result.lower_bound_bytes <= optimum);
        assert_true(result.height_bytes >= optimum);
        if (result.optimal)
            assert_true(result.height_bytes == optimum);
        reached += result.height_bytes == optimum;
    }
    assert_true(reached >= PROBLEMS * 98 / 100);
}

static void random_problems_pass_the_judge(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 37);
    double ratio = 0;
    enum { PROBLEMS = 6 };
    for (int problem = 0; problem < PROBLEMS; problem++) {
        static masu_plan_row rows[MOST];
        for (size_t i = 0; i < MOST; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, 1000);
            rows[i] = ROW(masu__rng_below(&rng, 100000), lower,
                          lower + 1 + (int64_t)masu__rng_below(&rng, problem % 2 ? 30 : 300),
                          (uint64_t)1 << masu__rng_below(&rng, 8));
        }
        masu_plan_result result = solve(rows, MOST);
        ratio += (double)result.height_bytes / (double)result.lower_bound_bytes;
    }
    assert_true(ratio / PROBLEMS < 1.10);
}

/* ---- the judge ------------------------------------------------------------------------------- */

static void the_judge_sees_every_kind_of_wrong(void **state) {
    (void)state;
    const masu_plan_row rows[] = {ROW(64, 0, 10, 64), ROW(64, 5, 15, 64), ROW(64, 10, 20, 64)};
    size_t a = 9, b = 9;
    assert_int_equal(masu_plan_check(rows, 3, (uint64_t[]){0, 64, 0}, 128, &a, &b), MASU_PLAN_FINE);
    assert_int_equal(masu_plan_check(rows, 3, (uint64_t[]){0, 0, 0}, 128, &a, &b), MASU_PLAN_OVERLAP);
    assert_int_equal(a, 0);
    assert_int_equal(b, 1);
    assert_int_equal(masu_plan_check(rows, 3, (uint64_t[]){0, 64, 64}, 128, &a, &b), MASU_PLAN_OVERLAP);
    assert_int_equal(a, 1);
    assert_int_equal(b, 2);
    assert_int_equal(masu_plan_check(rows, 3, (uint64_t[]){0, 96, 0}, 200, &a, NULL), MASU_PLAN_MISALIGNED);
    assert_int_equal(a, 1);
    assert_int_equal(masu_plan_check(rows, 3, (uint64_t[]){0, 64, 0}, 127, NULL, NULL), MASU_PLAN_OUTSIDE);
    assert_int_equal(masu_plan_check(rows, 3, (uint64_t[]){0, UINT64_MAX - 63, 0}, UINT64_MAX, NULL, NULL),
                     MASU_PLAN_OUTSIDE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_and_one),
        cmocka_unit_test(the_worked_example),
        cmocka_unit_test(touching_lives_share),
        cmocka_unit_test(alignments_are_kept),
        cmocka_unit_test(extreme_numbers),
        cmocka_unit_test(bad_rows_are_named),
        cmocka_unit_test(small_problems_are_near_the_optimum),
        cmocka_unit_test(random_problems_pass_the_judge),
        cmocka_unit_test(the_judge_sees_every_kind_of_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
