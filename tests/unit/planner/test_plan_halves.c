/* Two programs at once: they are told apart by their moments, and a plan of both is one on top of the other where no
 * search over all rows finds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <masu/plan.h>

#include "base/meta.h"
#include "base/rng.h"
#include "planner/search/halves.h"

enum { EACH = 330, UNIT = 64, HEIGHT = 1 << 20, MOMENTS = 600 };

static bool never(void *context) {
    (void)context;
    return false;
}

static uint64_t area(const masu_plan_row *row) {
    return row->size_bytes * (uint64_t)(row->upper - row->lower);
}

static masu_plan_row *largest(masu_plan_row *rows, size_t count) {
    masu_plan_row *most = rows;
    for (size_t i = 1; i < count; i++)
        most = area(&rows[i]) > area(most) ? &rows[i] : most;
    return most;
}

/* A rectangle, cut by straight lines into pieces at multiples of 3 moments plus odd; every fifth piece is missing. */
static void cut_program(masu_plan_row *rows, int64_t odd, masu__rng *rng) {
    rows[0] = (masu_plan_row){.size_bytes = HEIGHT, .upper = 3 * MOMENTS};
    for (size_t made = 1; made < EACH;) {
        masu_plan_row *row = largest(rows, made), *half = &rows[made];
        bool upright = masu__rng_below(rng, 2);
        uint64_t part = 2 + masu__rng_below(rng, 5);
        int64_t at = (row->lower + (row->upper - row->lower) * (int64_t)part / 8) / 3 * 3 + odd;
        uint64_t below = row->size_bytes * part / 8 / UNIT * UNIT;
        *half = *row;
        if (upright ? at <= row->lower || at >= row->upper : below == 0)
            continue;
        if (upright) {
            row->upper = half->lower = at;
        } else {
            row->size_bytes = below;
            half->size_bytes -= below;
        }
        made++;
    }
}

static size_t two_programs(masu_plan_row *rows, uint64_t seed, size_t *first) {
    static masu_plan_row all[2 * EACH];
    masu__rng rng;
    size_t count = 0;
    masu__rng_seed(&rng, seed);
    cut_program(all, 1, &rng);
    cut_program(all + EACH, 2, &rng);
    *first = 0;
    for (size_t i = 0; i < 2 * EACH; i++) {
        if (i % 5 == 4)
            continue;
        rows[count++] = all[i];
        *first += i < EACH;
    }
    return count;
}

static uint64_t ceiling(const masu_plan_row *rows, size_t first, size_t count) {
    uint64_t one, two;
    assert_int_equal(masu_plan_lower_bound(rows, first, &one), MASU_OK);
    assert_int_equal(masu_plan_lower_bound(rows + first, count - first, &two), MASU_OK);
    return one + two;
}

/* What either has at a moment of its own is on one side; only the ends are both programs'. */
static void moments_tell_programs_apart(void **state) {
    (void)state;
    static masu_plan_row rows[2 * EACH];
    static bool upper[2 * EACH];
    masu__plan_model model;
    masu__plan_stop stop = {never, NULL};
    size_t first, count = two_programs(rows, 3, &first);
    masu_plan_problem problem = {.rows = rows, .count = count};
    assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
    masu__halves *halves = masu__halves_create(&model);
    assert_non_null(halves);
    int64_t sum = INT64_MAX, height = (int64_t)ceiling(rows, first, count);
    for (unsigned turn = 0; turn < 8 && sum > height + height / 50; turn++)
        sum = masu__halves_divide(halves, height, 8, turn, 600, turn > 0, &stop, upper);
    assert_in_range(sum, model.bound, height + height / 50);
    uint64_t loads[2];
    for (int half = 0; half < 2; half++) { /* the sum is that of the two peaks */
        static masu_plan_row mine[2 * EACH];
        size_t of_mine = 0;
        for (size_t i = 0; i < count; i++)
            if (upper[model.row_item[i]] == (half == 1))
                mine[of_mine++] = rows[i];
        assert_int_equal(masu_plan_lower_bound(mine, of_mine, &loads[half]), MASU_OK);
    }
    assert_int_equal(loads[0] + loads[1], sum);
    masu__halves_destroy(halves);
    masu__plan_model_close(&model);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void one_plan_goes_on_top_of_the_other(void **state) {
    (void)state;
    static masu_plan_row rows[2 * EACH];
    static uint64_t offsets[2 * EACH], again[2 * EACH];
    for (unsigned aligned = 0; aligned < 2; aligned++) {
        size_t first, count = two_programs(rows, 2, &first);
        for (size_t i = 0; i < count; i++)
            rows[i].alignment_bytes = aligned ? UNIT : 1;
        uint64_t height = ceiling(rows, first, count);
        masu_plan_problem problem = {.rows = rows, .count = count, .capacity_bytes = height + height / 80};
        masu_plan_options options = {.goal = MASU_PLAN_FIT, .step_limit = 600000, .threads = 1};
        masu_plan_result result;
        assert_int_equal(masu_plan_find(&problem, &options, offsets, &result), MASU_OK);
        assert_int_equal(masu_plan_check(rows, count, offsets, result.height_bytes, NULL, NULL), MASU_PLAN_FINE);
        if (result.height_bytes > problem.capacity_bytes)
            fail_msg("%.2f %% above both, %s", 100 * ((double)result.height_bytes / (double)height - 1), result.order);
        if (aligned)
            continue;
        options.threads = 2; /* the same plan */
        assert_int_equal(masu_plan_find(&problem, &options, again, &result), MASU_OK);
        assert_memory_equal(offsets, again, count * sizeof *offsets);
        assert_int_equal(masu__meta_live_bytes(), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_tell_programs_apart),
        cmocka_unit_test(one_plan_goes_on_top_of_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
