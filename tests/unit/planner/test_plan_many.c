/* Many buffers: valleys and repair. Their plans pass the judge, are near the bound, and are the same for
 * any number of threads; repair takes nothing for granted about where a plan is high. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/plan.h>

#include "base/meta.h"
#include "base/rng.h"
#include "planner/search/solver.h"
#include "planner/skyline/coarse.h"
#include "planner/skyline/demand.h"

enum { COUNT = 9000, SOME = 1500 };

static masu_plan_row rows[COUNT];
static uint64_t offsets[COUNT], again[COUNT];

/* Lengths are uniform, or grow by doubling. */
static void draw(size_t count, bool doubling, uint64_t alignment, uint64_t seed) {
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    for (size_t i = 0; i < count; i++) {
        int64_t lower = (int64_t)masu__rng_below(&rng, count);
        uint64_t length = doubling ? masu__rng_below(&rng, 50) << masu__rng_below(&rng, 7) : masu__rng_below(&rng, 100);
        rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 100000),
                                  .lower = lower,
                                  .upper = lower + 1 + (int64_t)length,
                                  .alignment_bytes = alignment};
    }
}

static masu_plan_result find(size_t count, unsigned threads, uint64_t steps, uint64_t *out) {
    masu_plan_problem problem = {.rows = rows, .count = count};
    masu_plan_options options = {.step_limit = steps, .threads = threads};
    masu_plan_result r;
    assert_int_equal(masu_plan_find(&problem, &options, out, &r), MASU_OK);
    assert_int_equal(masu_plan_check(rows, count, out, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    assert_int_equal(masu__meta_live_bytes(), 0);
    return r;
}

static void large_plans_are_near_the_bound(void **state) {
    (void)state;
    static const uint64_t alignments[] = {1, 64, 256}, most[] = {3, 10, 4};
    for (size_t k = 0; k < 3; k++) {
        draw(COUNT, k == 1, alignments[k], 40 + k);
        masu_plan_result r = find(COUNT, 1, 300000, offsets);
        assert_true(r.height_bytes <= r.lower_bound_bytes + r.lower_bound_bytes * most[k] / 100);
        masu_plan_result same = find(COUNT, 3, 300000, again);
        assert_true(same.height_bytes == r.height_bytes);
        assert_memory_equal(offsets, again, sizeof offsets);
    }
}

static bool never(void *context) {
    (void)context;
    return false;
}

/* From the worst plan there is, everything above everything: each step leaves a valid plan, and those
 * that help lower it. */
static void repair_lowers_any_plan(void **state) {
    (void)state;
    draw(SOME, false, 16, 77);
    masu_plan_problem problem = {.rows = rows, .count = SOME};
    masu__plan_model model;
    assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
    static int64_t stacked[SOME];
    int64_t height = 0, lower = 0;
    for (uint32_t i = 0; i < model.item_count; i++) {
        stacked[i] = masu__plan_align(height, model.alignment[i]);
        height = stacked[i] + model.size[i];
    }
    masu__repair *repair = masu__repair_create(&model);
    assert_non_null(repair);
    masu__repair_begin(repair, stacked, height);
    masu__plan_stop stop = {never, NULL};
    for (uint64_t step = 0; step < 40; step++) {
        bool helped = masu__repair_step(repair, step, UINT32_MAX, &stop, &lower);
        assert_true(masu__repair_valid(repair));
        assert_true(helped ? lower < height : lower == height);
        height = lower;
        masu__plan_model_rows(&model, &problem, masu__repair_offsets(repair), offsets);
        assert_int_equal(masu_plan_check(rows, SOME, offsets, (uint64_t)height, NULL, NULL), MASU_PLAN_FINE);
    }
    assert_true(height < model.bound * 3);                        /* it was fourteen times the bound and more */
    assert_false(masu__repair_step(repair, 1, 0, &stop, &lower)); /* nothing may be placed */
    masu__repair_destroy(repair);
    masu__plan_model_close(&model);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* Coarse lives contain the lives, are at most 1/64 longer, and leave fewer sections; their load is the sum of what
 * lives there. */
static void coarse_lives_contain_lives(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 8);
    for (uint32_t i = 0; i < SOME; i++) {
        int64_t at = (int64_t)masu__rng_below(&rng, 4000), length = 1 + (int64_t)masu__rng_below(&rng, 2000);
        rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, 5000), .lower = at, .upper = at + length};
    }
    masu_plan_problem problem = {.rows = rows, .count = SOME};
    masu__plan_model model, coarse;
    assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
    assert_true(masu__coarse_open(&coarse, &model));
    assert_true(coarse.section_count < model.section_count);
    static int64_t places[SOME], load[2 * SOME + 1];
    memset(load, 0, sizeof load);
    for (uint32_t i = 0; i < model.item_count; i++)
        for (uint32_t s = coarse.first[i]; s < coarse.end[i]; s++)
            load[s] += coarse.size[i];
    assert_memory_equal(load, coarse.load, coarse.section_count * sizeof *load);
    assert_true(coarse.bound >= model.bound && coarse.bound < model.bound + model.bound / 20);
    for (uint32_t i = 0; i < model.item_count; i++)
        for (uint32_t j = 0; j < i; j++)
            assert_true(model.end[i] <= model.first[j] || model.end[j] <= model.first[i] ||
                        (coarse.first[i] < coarse.end[j] && coarse.first[j] < coarse.end[i]));
    masu__valley *valley = masu__valley_create(&coarse, NULL);
    assert_non_null(valley);
    masu__valley_way way = {.key = MASU__VALLEY_AREA};
    int64_t height = masu__valley_place(valley, &way, 0, INT64_MAX, NULL, places);
    masu__plan_model_rows(&model, &problem, places, offsets);
    assert_int_equal(masu_plan_check(rows, SOME, offsets, (uint64_t)height, NULL, NULL), MASU_PLAN_FINE);
    masu__valley_destroy(valley);
    masu__arena_destroy(&coarse.arena);
    masu__plan_model_close(&model);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Says yes the allowed-th time, and is not asked again. */
typedef struct patience {
    uint64_t asked, allowed;
} patience;

static bool is_over(void *context) {
    patience *p = context;
    assert_true(p->asked < p->allowed);
    return ++p->asked == p->allowed;
}

/* Each 1024 items at the latest valleys ask, and end at the first yes. */
static void valleys_ask_and_obey(void **state) {
    (void)state;
    draw(COUNT, true, 1, 5);
    masu_plan_problem problem = {.rows = rows, .count = COUNT};
    masu__plan_model model;
    static int64_t places[COUNT];
    assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
    masu__valley *valley = masu__valley_create(&model, NULL);
    assert_non_null(valley);
    masu__valley_way way = {.key = MASU__VALLEY_AREA};
    for (uint64_t allowed = 1; allowed <= COUNT / 1024; allowed++) {
        patience p = {0, allowed};
        masu__plan_stop stop = {is_over, &p};
        assert_true(masu__valley_place(valley, &way, 0, INT64_MAX, &stop, places) == INT64_MAX);
        assert_int_equal(p.asked, allowed);
    }
    masu__valley_destroy(valley);
    masu__plan_model_close(&model);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void find_cancelled(size_t count, const char *order, double most_times_the_bound) {
    masu_plan_cancel_flag flag = {0};
    masu_plan_cancel(&flag);
    masu_plan_problem problem = {.rows = rows, .count = count};
    masu_plan_options options = {.cancel = &flag};
    masu_plan_result r;
    assert_int_equal(masu_plan_find(&problem, &options, offsets, &r), MASU_OK);
    assert_int_equal(masu_plan_check(rows, count, offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    assert_non_null(strstr(r.order, order));
    assert_true((double)r.height_bytes <= most_times_the_bound * (double)r.lower_bound_bytes);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* Cancelled before it begins, there is a plan nevertheless: one made in a hurry. */
static void a_plan_at_once_when_time_is_over(void **state) {
    (void)state;
    static const uint64_t alignments[] = {1, 64, 4096};
    for (size_t k = 0; k < 3; k++) {
        draw(COUNT, k == 1, alignments[k], 60 + k);
        find_cancelled(COUNT, "valleys", 1.25);
    }
}

/* Beside fixed rows what has no time to look goes on top of all that it meets: the long ones, which lie over many
 * moments, too. */
static void a_plan_at_once_beside_fixed_rows(void **state) {
    (void)state;
    for (uint64_t seed = 70; seed < 73; seed++) {
        draw(SOME, seed == 71, 64, seed);
        for (size_t i = 0; i < 3; i++) {
            rows[i].is_fixed = true;
            rows[i].fixed_offset = (i + 1) << 20;
        }
        find_cancelled(SOME, "first fit", 100);
    }
}

static void sweep_time(double most_times_the_bound) {
    masu_plan_problem problem = {.rows = rows, .count = COUNT};
    masu_plan_options options = {.threads = 1};
    masu__solver s;
    assert_int_equal(masu__solver_open(&s, &problem, NULL, &options), MASU_OK);
    masu__solver_sweep(&s);
    masu__plan_model_rows(&s.model, &problem, s.best_offsets, offsets);
    assert_int_equal(masu_plan_check(rows, COUNT, offsets, (uint64_t)s.best_height, NULL, NULL), MASU_PLAN_FINE);
    assert_true((double)s.best_height <= most_times_the_bound * (double)s.model.bound);
    masu__solver_close(&s);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* What there is when time was over before much had been placed of very many. */
static void a_sweep_is_a_plan_near_the_bound(void **state) {
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        draw(COUNT, k == 1, k == 2 ? 4096 : 1, 60 + k);
        sweep_time(1.25);
    }
    for (size_t i = 0; i < COUNT; i++) /* near the largest sum there may be */
        rows[i] = (masu_plan_row){.size_bytes = (UINT64_C(1) << (48 + i % 2)) - i % 2, .upper = 1};
    sweep_time(1);
}

/* ---- demand ---------------------------------------------------------------------------------- */

enum { MOST_SECTIONS = 70 };

/* Against an array, for trees of every size. */
static void demand_is_what_an_array_says(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 9);
    static masu__demand_node nodes[4 * MOST_SECTIONS];
    int64_t load[MOST_SECTIONS], floor[MOST_SECTIONS];
    for (uint32_t sections = 1; sections <= MOST_SECTIONS; sections++) {
        for (uint32_t s = 0; s < sections; s++) {
            load[s] = (int64_t)masu__rng_below(&rng, 1000);
            floor[s] = (int64_t)masu__rng_below(&rng, 50);
        }
        masu__demand demand;
        assert_true(masu__demand_nodes(sections) <= sizeof nodes / sizeof *nodes);
        masu__demand_open(&demand, nodes, sections, load, floor);
        for (unsigned turn = 0; turn < 200; turn++) {
            uint32_t first = (uint32_t)masu__rng_below(&rng, sections), where;
            uint32_t end = first + 1 + (uint32_t)masu__rng_below(&rng, sections - first);
            uint32_t most = first;
            for (uint32_t s = first; s < end; s++)
                most = load[s] - floor[s] > load[most] - floor[most] ? s : most;
            assert_true(masu__demand_most(&demand, first, end, &where) == load[most] - floor[most]);
            assert_int_equal(where, most);
            int64_t size = (int64_t)masu__rng_below(&rng, 20);
            masu__demand_lower(&demand, first, end, size);
            for (uint32_t s = first; s < end; s++)
                load[s] -= size;
        }
    }
}

static int64_t height_with(masu__valley *valley, bool demand, int64_t limit) {
    static int64_t places[COUNT];
    masu__valley_way way = {.key = MASU__VALLEY_LONGEST, .coarse = 0.01, .crowded = 1, .demand = demand};
    return masu__valley_place(valley, &way, 0, limit, NULL, places);
}

/* Where lives differ in length, valleys that heed demand are lower; and they end at once when their limit cannot be
 * met, but never when it can. */
static void demand_lowers_plans(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        draw(COUNT, true, 1, seed);
        masu_plan_problem problem = {.rows = rows, .count = COUNT};
        masu__plan_model model;
        assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
        masu__valley *valley = masu__valley_create(&model, NULL);
        assert_non_null(valley);
        int64_t without = height_with(valley, false, INT64_MAX);
        int64_t with = height_with(valley, true, INT64_MAX);
        assert_true(with < without);
        assert_true(height_with(valley, true, with + 1) == with);
        assert_true(height_with(valley, true, with) == INT64_MAX);
        masu__valley_destroy(valley);
        masu__plan_model_close(&model);
    }
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void few_sizes_lie_on_layers(void **state) {
    (void)state;
    draw(COUNT, false, 1, 3);
    for (size_t i = 0; i < COUNT; i++)
        rows[i].size_bytes = (uint64_t)1 << rows[i].size_bytes % 18;
    masu_plan_result r = find(COUNT, 1, 1, offsets); /* the first plan */
    assert_string_equal(r.order, "valleys by size");
    assert_true(r.height_bytes <= r.lower_bound_bytes + r.lower_bound_bytes / 25);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *raise_flag(void *flag) {
    masu_plan_cancel(flag);
    return NULL;
}

typedef struct canceller {
    masu_plan_cancel_flag flag;
    pthread_t thread;
    unsigned plans;
} canceller;

static void cancel_at_first_plan(void *context, const masu_plan_result *so_far, const uint64_t *unused) {
    canceller *c = context;
    (void)unused;
    assert_true(so_far->height_bytes > so_far->lower_bound_bytes);
    if (c->plans++ == 0)
        assert_int_equal(pthread_create(&c->thread, NULL, raise_flag, &c->flag), 0);
}

/* No limit but the flag; the first plan is above the bound: it ends because another thread says so, or
 * with a proof. */
static void another_thread_cancels(void **state) {
    (void)state;
    static const size_t counts[] = {SOME, COUNT};
    for (size_t k = 0; k < 2; k++) {
        draw(counts[k], true, 1, 90 + k);
        canceller c = {0};
        masu_plan_problem problem = {.rows = rows, .count = counts[k]};
        masu_plan_options options = {.cancel = &c.flag, .improved = cancel_at_first_plan, .context = &c};
        masu_plan_result r;
        assert_int_equal(masu_plan_find(&problem, &options, offsets, &r), MASU_OK);
        assert_true(c.plans > 0);
        pthread_join(c.thread, NULL);
        assert_int_equal(masu_plan_check(rows, counts[k], offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_plans_are_near_the_bound),
        cmocka_unit_test(repair_lowers_any_plan),
        cmocka_unit_test(coarse_lives_contain_lives),
        cmocka_unit_test(valleys_ask_and_obey),
        cmocka_unit_test(a_plan_at_once_when_time_is_over),
        cmocka_unit_test(a_plan_at_once_beside_fixed_rows),
        cmocka_unit_test(a_sweep_is_a_plan_near_the_bound),
        cmocka_unit_test(demand_is_what_an_array_says),
        cmocka_unit_test(demand_lowers_plans),
        cmocka_unit_test(few_sizes_lie_on_layers),
        cmocka_unit_test(another_thread_cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
