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
#include "planner/search/bonds.h"
#include "planner/search/front.h"
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
        sum = masu__halves_divide(halves, height, 128, turn, 600, turn % 2 ? 300 : 0, &stop, upper);
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

/* ---- bonds and fronts ------------------------------------------------------------------------ */

enum { FEW = 9, MOST_SIZE = 7, LAST = 6 };

typedef struct moments {
    uint32_t at_start[3 * MOMENTS + 2], at[4 * EACH];
} moments;

static void list_moments(const masu__plan_model *m, moments *list) {
    uint32_t count = 0;
    for (uint32_t moment = 0; moment <= m->section_count; moment++) {
        list->at_start[moment] = count;
        for (uint32_t i = 0; i < m->item_count; i++)
            if (m->first[i] == moment || m->end[i] == moment)
                list->at[count++] = i;
    }
    list->at_start[m->section_count + 1] = count;
}

/* Rectangles without a hole: each moment's rows are one program's, and most moments say so. */
static void bonds_hold_within_one_program(void **state) {
    (void)state;
    static masu_plan_row rows[2 * EACH];
    static moments list;
    static uint32_t group_of[2 * EACH], program[2 * EACH];
    masu__plan_model model;
    masu__rng rng;
    masu__rng_seed(&rng, 5);
    cut_program(rows, 1, &rng);
    cut_program(rows + EACH, 2, &rng);
    masu_plan_problem problem = {.rows = rows, .count = 2 * EACH};
    assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
    list_moments(&model, &list);
    uint32_t groups = masu__bonds_find(&model, list.at_start, list.at, group_of);
    assert_in_range(groups, 2, 2 * EACH * 3 / 4);
    memset(program, 0, sizeof program);
    for (uint32_t i = 0; i < 2 * EACH; i++) {
        uint32_t *mine = &program[group_of[model.row_item[i]]], own = i < EACH ? 1 : 2;
        assert_true(*mine == 0 || *mine == own);
        *mine = own;
    }
    masu__plan_model_close(&model);
}

/* Whether all parts of the rows that leave the load as it is have both or neither. */
static bool always_together(const int64_t *changes, uint32_t count, uint32_t a, uint32_t b) {
    for (uint32_t part = 0; part < UINT32_C(1) << count; part++) {
        int64_t sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += (part >> i & 1) ? changes[i] : 0;
        if (sum == 0 && (part >> a & 1) != (part >> b & 1))
            return false;
    }
    return true;
}

/* One moment with a few deaths and births: rows are bound where the load stays the same and no part has one alone. */
static void bonds_are_parts_that_cannot_be_cut(void **state) {
    (void)state;
    static moments list;
    masu__rng rng;
    uint32_t bound = 0, level = 0;
    masu__rng_seed(&rng, 23);
    for (int drawn = 0; drawn < 2000; drawn++) {
        masu_plan_row rows[FEW];
        int64_t changes[FEW], sum = 0;
        uint32_t group_of[FEW];
        masu__plan_model model;
        for (uint32_t i = 0; i < FEW; i++) {
            bool born = i == 0 || (i > 1 && masu__rng_below(&rng, 2));
            int64_t size = 1 + (int64_t)masu__rng_below(&rng, 3 * MOST_SIZE);
            rows[i] = (masu_plan_row){.size_bytes = (uint64_t)size, .lower = born ? 5 : 0, .upper = born ? 9 : 5};
            changes[i] = born ? size : -size;
            sum += changes[i];
        }
        masu_plan_problem problem = {.rows = rows, .count = FEW};
        assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
        list_moments(&model, &list);
        masu__bonds_find(&model, list.at_start, list.at, group_of);
        level += sum == 0;
        for (uint32_t a = 0; a < FEW; a++)
            for (uint32_t b = 0; b < a; b++) {
                bool together = group_of[model.row_item[a]] == group_of[model.row_item[b]];
                assert_int_equal(together, sum == 0 && always_together(changes, FEW, a, b));
                bound += together;
            }
        masu__plan_model_close(&model);
    }
    assert_true(level > 20 && bound > 20);
}

/* What a division costs, moment by moment, from its definition. */
static int64_t cost_of(const masu__front_problem *p, const bool *upper) {
    const masu__plan_model *m = p->model;
    int64_t cost = 0;
    for (uint32_t moment = 0; moment < m->section_count; moment++) {
        int64_t counts[2] = {0, 0}, nets[2] = {0, 0}, loads[2] = {0, 0};
        for (uint32_t i = 0; i < m->item_count; i++) {
            int half = upper[p->group_of[i]];
            counts[half] += m->first[i] == moment || m->end[i] == moment;
            nets[half] += m->first[i] == moment ? m->size[i] : m->end[i] == moment ? -m->size[i] : 0;
            loads[half] += m->first[i] <= moment && moment < m->end[i] ? m->size[i] : 0;
        }
        if (moment > 0 && counts[0] > 0 && counts[1] > 0)
            cost += p->shared + (nets[0] != 0 && nets[1] != 0 ? p->strained : 0);
        int64_t lower = loads[0] - p->share, above = loads[1] - (p->height - p->share);
        cost += p->weight / p->height * ((lower > 0 ? lower : 0) + (above > 0 ? above : 0));
    }
    return cost;
}

/* Of a few rows all divisions are tried; with room for all fronts the one found costs the least. */
static void a_wide_front_finds_the_cheapest(void **state) {
    (void)state;
    static moments list;
    masu__plan_stop stop = {never, NULL};
    masu__rng rng;
    masu__rng_seed(&rng, 11);
    for (int drawn = 0; drawn < 300; drawn++) {
        masu_plan_row rows[FEW];
        uint32_t group_of[FEW];
        bool upper[FEW];
        masu__plan_model model;
        for (uint32_t i = 0; i < FEW; i++) {
            int64_t lower = (int64_t)masu__rng_below(&rng, LAST);
            rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, MOST_SIZE),
                                      .lower = lower,
                                      .upper = lower + 1 + (int64_t)masu__rng_below(&rng, LAST)};
            group_of[i] = i;
        }
        masu_plan_problem problem = {.rows = rows, .count = FEW};
        assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
        list_moments(&model, &list);
        masu__front_problem p = {.model = &model,
                                 .at_start = list.at_start,
                                 .at = list.at,
                                 .group_of = group_of,
                                 .groups = FEW,
                                 .height = model.bound,
                                 .share = model.bound / 2,
                                 .shared = 64,
                                 .strained = 32,
                                 .weight = 50 * model.bound,
                                 .seed = (uint64_t)drawn,
                                 .width = 1 << FEW};
        assert_true(masu__front_divide(&p, &stop, upper));
        int64_t least = INT64_MAX, found = cost_of(&p, upper);
        for (uint32_t k = 0; k < 1 << FEW; k++) {
            for (uint32_t i = 0; i < FEW; i++)
                upper[i] = k >> i & 1;
            int64_t cost = p.share * 2 == p.height || !upper[list.at[0]] ? cost_of(&p, upper) : INT64_MAX;
            least = cost < least ? cost : least;
        }
        assert_int_equal(found, least);
        masu__plan_model_close(&model);
    }
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
        cmocka_unit_test(moments_tell_programs_apart),        cmocka_unit_test(bonds_hold_within_one_program),
        cmocka_unit_test(bonds_are_parts_that_cannot_be_cut), cmocka_unit_test(a_wide_front_finds_the_cheapest),
        cmocka_unit_test(one_plan_goes_on_top_of_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
