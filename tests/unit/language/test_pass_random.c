/* Random programs through all passes, each step verified, and run on counted objects along random
 * paths: with slots, with the registry, with values kept to the end of their scopes, with errors
 * raised on the way.
 */
#include "ir_support.h"

enum { PROGRAMS = 1000, RUNS = 6 };

static void run_everything(const ir_module *m, masu__rng *rng, uint32_t raise_one_in) {
    for (uint32_t f = 0; f < m->function_count; f++)
        for (int run = 0; run < (m->functions[f] == m->main ? RUNS : 1); run++)
            support_run(m->functions[f], rng, raise_one_in);
}

/* The column of passes by hand, so that owned IR can be run before it gets slots. */
static void through_passes(ir_module *m, masu__rng *rng, bool fold, bool lastuse, bool slots) {
    pass_context context = {0};
    support_verify(m, IR_PHASE_BUILT);
    if (fold)
        pass_fold(m, &context);
    support_verify(m, IR_PHASE_BUILT);
    pass_shapes(m, &context);
    if (lastuse)
        pass_lastuse(m, &context);
    pass_ownership(m, &context);
    support_verify(m, IR_PHASE_OWNED);
    run_everything(m, rng, 0);
    if (slots)
        pass_slots(m, &context);
    else
        pass_register_owners(m, &context);
    support_verify(m, IR_PHASE_ROOTED);
    run_everything(m, rng, 1u << 30); /* never by chance, but unwinding what does not end */
    run_everything(m, rng, 12);
    for (uint32_t f = 0; slots && f < m->function_count; f++)
        assert_int_equal(m->functions[f]->slot_count, m->functions[f]->slot_bound);
}

static void random_programs(bool structured, uint64_t seed) {
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    for (int n = 0; n < PROGRAMS; n++) {
        masu__arena arena = {0};
        ir_module *m = support_random(&arena, &rng, structured);
        through_passes(m, &rng, n & 1, n & 2, n & 4);
        masu__arena_destroy(&arena);
    }
}

static void structured_programs(void **state) {
    (void)state;
    random_programs(true, 1);
}

static void any_graphs(void **state) {
    (void)state;
    random_programs(false, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(structured_programs), cmocka_unit_test(any_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
