/* Who lives with whom, against all pairs; and rows among fixed ones where each meets a third of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <masu/plan.h>

#include "base/rng.h"
#include "planner/model/alive.h"

enum { FEW = 60, MANY = 2500 };

static void draw(masu__rng *rng, masu_plan_row *rows, size_t count, uint64_t longest, uint64_t alignments) {
    for (size_t i = 0; i < count; i++) {
        int64_t lower = (int64_t)masu__rng_below(rng, count);
        rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(rng, 1000),
                                  .lower = lower,
                                  .upper = lower + 1 + (int64_t)masu__rng_below(rng, longest),
                                  .alignment_bytes = UINT64_C(1) << masu__rng_below(rng, alignments)};
    }
}

static void everybody_once(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 3);
    for (int round = 0; round < 200; round++) {
        masu_plan_row rows[FEW];
        masu_plan_problem problem = {.rows = rows, .count = 1 + masu__rng_below(&rng, FEW)};
        masu__plan_model m;
        masu__arena arena = {0};
        masu__alive alive;
        uint32_t with[FEW];
        uint64_t pairs = 0;
        draw(&rng, rows, problem.count, 1 + masu__rng_below(&rng, 30), 3);
        assert_int_equal(masu__plan_model_open(&problem, NULL, &m), MASU_OK);
        assert_true(masu__alive_open(&alive, &m, &arena));
        for (uint32_t i = 0; i < m.item_count; i++) {
            bool seen[FEW] = {0};
            uint32_t count = masu__alive_with(&alive, i, with);
            for (uint32_t k = 0; k < count; k++) {
                assert_true(with[k] < m.item_count && !seen[with[k]] && with[k] != i);
                seen[with[k]] = true;
            }
            for (uint32_t j = 0; j < m.item_count; j++) {
                bool meets = j != i && m.first[i] < m.end[j] && m.first[j] < m.end[i];
                assert_int_equal(seen[j], meets);
                pairs += meets;
            }
        }
        assert_int_equal(masu__alive_pairs(&alive), pairs / 2);
        masu__arena_destroy(&arena);
        masu__plan_model_close(&m);
    }
}

/* A tenth keeps the offset that a plan gave it: a plan as low is found nearly again. */
static void a_tenth_of_a_plan_stays(void **state) {
    (void)state;
    static masu_plan_row rows[MANY];
    static uint64_t offsets[MANY];
    masu__rng rng;
    masu__rng_seed(&rng, 8);
    for (int round = 0; round < 2; round++) {
        draw(&rng, rows, MANY, round == 0 ? MANY : MANY / 8, 1);
        masu_plan_problem problem = {.rows = rows, .count = MANY};
        masu_plan_options options = {.only = 1, .threads = 1};
        masu_plan_result origin, r;
        assert_int_equal(masu_plan_find(&problem, &options, offsets, &origin), MASU_OK);
        for (size_t i = 0; i < MANY; i += 10) {
            rows[i].is_fixed = true;
            rows[i].fixed_offset = offsets[i];
        }
        options = (masu_plan_options){.step_limit = 15000, .threads = 1};
        assert_int_equal(masu_plan_find(&problem, &options, offsets, &r), MASU_OK);
        assert_int_equal(masu_plan_check(rows, MANY, offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
        assert_true(r.height_bytes * 100 <= origin.height_bytes * 104);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_once),
        cmocka_unit_test(a_tenth_of_a_plan_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
