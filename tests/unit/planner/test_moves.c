/* Values that move between memories: against all that can be done in small problems, byte for byte; and the judge
 * against plans that are wrong. */
#include "moves_world.h"

static void as_good_as_all_that_can_be_done(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 21);
    unsigned moved = 0, without = 0, better = 0;
    for (int round = 0; round < 500; round++) {
        small s;
        masu_moves_plan plan;
        draw(&s, &rng);
        uint64_t best = all_that_can_be_done(&s);
        masu_moves_options options = {0};
        assert_int_equal(masu_moves_find(&s.problem, &options, &plan), MASU_OK);
        bool right = best == UINT64_MAX
                         ? plan.outcome == MASU_MOVES_INFEASIBLE
                         : plan.outcome == MASU_MOVES_OPTIMAL && plan.cost == best && plan.lower_bound == best;
        if (!right) {
            fprintf(stderr, "round %d: best %llu\n", round, (unsigned long long)best);
            show(&s);
            show_plan(&plan);
        }
        assert_true(right);
        if (best != UINT64_MAX)
            assert_judged(&s.problem, &plan);
        moved += plan.move_count > 0;
        without += best == UINT64_MAX;
        better += best != UINT64_MAX && plan.greedy_cost > plan.cost;
        masu_moves_free(&plan);
    }
    assert_true(moved > 50 && without > 20 && better > 50); /* the draws are not all the same */
}

/* ---- larger ones ----------------------------------------------------------------------------------------------- */

typedef struct large {
    masu_moves_row *rows;
    masu_moves_use *uses;
    uint64_t *channel;
    masu_moves_memory memories[3];
    masu_moves_problem problem;
} large;

static void draw_large(large *l, size_t count, masu__rng *rng) {
    *l = (large){calloc(count, sizeof *l->rows),
                 calloc(8 * count, sizeof *l->uses),
                 calloc(count, sizeof *l->channel),
                 {{0}},
                 {0}};
    assert_true(l->rows && l->uses && l->channel);
    l->memories[0] = (masu_moves_memory){4000, 0};
    l->memories[1] = (masu_moves_memory){12000, 1};
    l->memories[2] = (masu_moves_memory){0, 4};
    l->problem = (masu_moves_problem){.rows = l->rows,
                                      .count = count,
                                      .uses = l->uses,
                                      .memories = l->memories,
                                      .memory_count = 3,
                                      .moment_count = count,
                                      .channel_bytes = l->channel};
    for (size_t i = 0; i < count; i++) {
        size_t length = 1 + masu__rng_below(rng, masu__rng_below(rng, 4) ? 4 : 40),
               upper = i + length < count ? i + length : count;
        l->channel[i] = 500 + masu__rng_below(rng, 3000);
        l->rows[i] = (masu_moves_row){.size_bytes = 16 * (1 + masu__rng_below(rng, 200)),
                                      .alignment_bytes = 16,
                                      .lower = i,
                                      .upper = upper,
                                      .only = MASU_MOVES_ANY,
                                      .home = MASU_MOVES_ANY};
        for (size_t t = i; t < upper; t += 1 + masu__rng_below(rng, 9))
            if (l->problem.use_count < 8 * count)
                l->uses[l->problem.use_count++] = (masu_moves_use){i, t, t > i, t == i};
    }
}

static void large_free(large *l) {
    free(l->rows);
    free(l->uses);
    free(l->channel);
}

static void never_worse_than_greedy(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 5);
    for (int round = 0; round < 4; round++) {
        large l;
        masu_moves_plan plan, again, greedy;
        draw_large(&l, 20 + 30 * (size_t)round, &rng);
        masu_moves_options options = {.rounds = 600}, only_greedy = {.greedy = true};
        assert_int_equal(masu_moves_find(&l.problem, &options, &plan), MASU_OK);
        assert_int_equal(masu_moves_find(&l.problem, &options, &again), MASU_OK);
        assert_int_equal(masu_moves_find(&l.problem, &only_greedy, &greedy), MASU_OK);
        assert_judged(&l.problem, &plan);
        assert_judged(&l.problem, &greedy);
        assert_true(plan.cost <= greedy.cost && plan.greedy_cost == greedy.cost && plan.lower_bound <= plan.cost &&
                    greedy.lower_bound <= plan.cost);
        assert_true(plan.cost == again.cost && plan.place_count == again.place_count &&
                    memcmp(plan.places, again.places, plan.place_count * sizeof *plan.places) == 0);
        l.problem.stays = true;
        masu_moves_plan stays;
        assert_int_equal(masu_moves_find(&l.problem, &options, &stays), MASU_OK);
        assert_judged(&l.problem, &stays);
        assert_true(stays.move_count == 0 && plan.lower_bound <= stays.cost && plan.cost <= stays.cost);
        masu_moves_free(&stays);
        masu_moves_free(&plan);
        masu_moves_free(&again);
        masu_moves_free(&greedy);
        large_free(&l);
    }
}

/* The values of a network that is a chain, and its constants, are read once. Such a value costs as much on its way out
 * of the fast memory and in again as where it is slow for life, so that moves save nothing, however large the fast
 * memory is. A second reader is what they live on: then some fast memory shows it. */
static uint64_t proven_cost(const masu_moves_problem *problem) {
    masu_moves_plan plan;
    masu_moves_options options = {0};
    assert_int_equal(masu_moves_find(problem, &options, &plan), MASU_OK);
    assert_int_equal(plan.outcome, MASU_MOVES_OPTIMAL);
    assert_judged(problem, &plan);
    uint64_t cost = plan.cost;
    masu_moves_free(&plan);
    return cost;
}

enum { CHAIN = 8, SHORTCUTS = 10, TENTHS = 10 };

static void draw_chain(masu_moves_row *rows, masu_moves_use *uses, size_t *count, bool read_twice, masu__rng *rng) {
    for (size_t i = 0; i < CHAIN; i++) { /* made by operator i, read by the next or a later one */
        size_t reader = i + 1 + (masu__rng_below(rng, 4) == 0 ? masu__rng_below(rng, CHAIN - i) : 0);
        rows[i] = (masu_moves_row){
            1 + masu__rng_below(rng, 100), 1, i, reader + 1, MASU_MOVES_ANY, MASU_MOVES_ANY, false, 0};
        uses[(*count)++] = (masu_moves_use){i, i, 0, 1};
        uses[(*count)++] = (masu_moves_use){i, reader, 1, 0};
        if (read_twice && reader > i + 1)
            uses[(*count)++] = (masu_moves_use){i, i + 1, 1, 0};
    }
    for (size_t i = CHAIN; i < SHORTCUTS; i++) { /* constants: in the slow memory when the network begins */
        size_t reader = 1 + masu__rng_below(rng, CHAIN);
        rows[i] = (masu_moves_row){1 + masu__rng_below(rng, 100), 1, 0, reader + 1, MASU_MOVES_ANY, 1, false, 0};
        uses[(*count)++] = (masu_moves_use){i, reader, 1, 0};
    }
}

static void chains_have_nothing_to_gain(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 77);
    unsigned slow = 0, gained = 0;
    for (int round = 0; round < 40; round++) {
        masu_moves_row rows[SHORTCUTS];
        masu_moves_use uses[3 * SHORTCUTS];
        masu_moves_memory memories[2] = {{0, 0}, {0, 1}};
        masu_moves_problem p = {.rows = rows,
                                .count = SHORTCUTS,
                                .uses = uses,
                                .memories = memories,
                                .memory_count = 2,
                                .moment_count = CHAIN + 1};
        bool twice = round % 2;
        draw_chain(rows, uses, &p.use_count, twice, &rng);
        for (uint64_t tenth = 1; tenth <= TENTHS; tenth++) {
            memories[0].capacity_bytes = 40 * tenth;
            p.stays = false;
            uint64_t moving = proven_cost(&p);
            p.stays = true;
            uint64_t staying = proven_cost(&p);
            assert_true(twice ? moving <= staying : moving == staying);
            slow += moving > 0;
            gained += moving < staying;
        }
    }
    assert_true(slow > 100 && gained > 0);
}

/* The first, second, third … piece of memory is refused: each time that is said, and nothing stays behind. */
static void refused_memory(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 8);
    small s;
    do
        draw(&s, &rng);
    while (s.problem.count < ROWS || !s.problem.channel_bytes || s.problem.stays ||
           all_that_can_be_done(&s) == UINT64_MAX);
    uint64_t before = masu__meta_live_bytes();
    masu_moves_options options = {0};
    bool done = false;
    for (uint64_t nth = 1; !done; nth++) {
        masu_moves_plan plan;
        masu_moves_verdict verdict;
        masu__fault_arm(nth);
        masu_status status = masu_moves_find(&s.problem, &options, &plan);
        if (status == MASU_OK)
            status = masu_moves_check(&s.problem, &plan, &verdict, NULL);
        done = !masu__fault_fired();
        masu__fault_arm(0);
        assert_true(status == (done ? MASU_OK : MASU_ERR_OUT_OF_MEMORY) || (status == MASU_OK && plan.place_count > 0));
        masu_moves_free(&plan);
        assert_int_equal(masu__meta_live_bytes(), before);
        assert_true(nth < 100000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_good_as_all_that_can_be_done),
        cmocka_unit_test(never_worse_than_greedy),
        cmocka_unit_test(chains_have_nothing_to_gain),
        cmocka_unit_test(refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
