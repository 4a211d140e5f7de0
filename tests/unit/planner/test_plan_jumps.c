/* The search that jumps back: it may miss plans, but it never says that there is none where there is one, its
 * plans are plans, and it finds nearly all. The search that does not jump says what is true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/meta.h"
#include "base/rng.h"
#include "planner/search/search.h"

enum { DRAWN = 9, MOMENTS = 7, ROWS = DRAWN + MOMENTS, LARGEST = 9, ROUNDS = 400, STEPS = 200000 };

static bool never(void *context) {
    (void)context;
    return false;
}

static masu__search_end ask(masu__plan_search *search, int64_t height, masu__search_jumps jumps, bool infers) {
    masu__plan_stop stop = {never, NULL};
    masu__search_order order = {.name = "",
                                .keys = "TWA",
                                .noise = 0.3,
                                .learn = jumps ? 3 : 0,
                                .restarts = jumps ? 6 : 1,
                                .jumps = jumps,
                                .infers = infers};
    masu__search_end end = masu__plan_search_run(search, height, &order, STEPS, &stop);
    assert_true(masu__plan_search_steps(search) <= STEPS + order.restarts);
    return end;
}

/* The rows' offsets are the items': nothing is merged here. */
static void assert_right(const masu_plan_row *rows, const masu__plan_search *search, int64_t height) {
    uint64_t offsets[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        offsets[i] = (uint64_t)masu__plan_search_offsets(search)[i];
    assert_int_equal(masu_plan_check(rows, ROWS, offsets, (uint64_t)height, NULL, NULL), MASU_PLAN_FINE);
}

static uint64_t load_at(const masu_plan_row *rows, int64_t moment) {
    uint64_t load = 0;
    for (size_t i = 0; i < DRAWN; i++)
        load += rows[i].lower <= moment && moment < rows[i].upper ? rows[i].size_bytes : 0;
    return load;
}

/* One more row in each moment leaves no byte unused: sometimes there is no plan. */
static void draw(masu__rng *rng, masu_plan_row *rows) {
    uint64_t most = 0;
    for (size_t i = 0; i < DRAWN; i++) {
        int64_t lower = (int64_t)masu__rng_below(rng, MOMENTS - 1);
        int64_t longest = MOMENTS - lower < 4 ? MOMENTS - lower : 4;
        rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(rng, LARGEST),
                                  .lower = lower,
                                  .upper = lower + 1 + (int64_t)masu__rng_below(rng, (uint64_t)longest)};
    }
    for (int64_t moment = 0; moment < MOMENTS; moment++)
        most = load_at(rows, moment) > most ? load_at(rows, moment) : most;
    for (int64_t moment = 0; moment < MOMENTS; moment++)
        rows[DRAWN + moment] = (masu_plan_row){
            .size_bytes = most + 1 - load_at(rows, moment), .lower = moment, .upper = moment + 1};
}

static void jumps_miss_few_and_claim_nothing(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 7);
    unsigned plans = 0, none = 0, missed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        masu_plan_row rows[ROWS];
        masu__plan_model model;
        bool too_large;
        draw(&rng, rows);
        masu_plan_problem problem = {.rows = rows, .count = ROWS};
        assert_int_equal(masu__plan_model_open(&problem, NULL, &model), MASU_OK);
        assert_int_equal(model.item_count, ROWS);
        masu__plan_search *search = masu__plan_search_create(&model, &too_large);
        assert_non_null(search);
        masu__search_end truth = ask(search, model.bound, MASU__JUMPS_NONE, true);
        assert_true(truth == MASU__SEARCH_FOUND || truth == MASU__SEARCH_EXHAUSTED);
        plans += truth == MASU__SEARCH_FOUND;
        none += truth == MASU__SEARCH_EXHAUSTED;
        for (int way = 0; way < 4; way++) {
            masu__search_end end = ask(search, model.bound, way % 2 ? MASU__JUMPS_NEAR : MASU__JUMPS_FAR, way / 2 == 1);
            if (truth == MASU__SEARCH_EXHAUSTED)
                assert_int_not_equal(end, MASU__SEARCH_FOUND);
            else
                assert_int_not_equal(end, MASU__SEARCH_EXHAUSTED);
            if (end == MASU__SEARCH_FOUND)
                assert_right(rows, search, model.bound);
            missed += truth == MASU__SEARCH_FOUND && end != MASU__SEARCH_FOUND;
        }
        masu__plan_search_destroy(search);
        masu__plan_model_close(&model);
    }
    printf("%u plans, each asked for in 4 ways, %u missed; %u times there is none\n", plans, missed, none);
    assert_true(plans > ROUNDS / 4 && none > 0);
    assert_true(missed * 100 <= plans * 4); /* one in a hundred */
    assert_int_equal(masu__meta_live_bytes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_miss_few_and_claim_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
