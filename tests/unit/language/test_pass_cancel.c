/* Pairs of counts: which go, which stay, and that what is left is still right: the verifier says so, and the machine
 * that runs it. */
#include <string.h>

#include "ir_support.h"

/* keep takes its argument over; look borrows it. */
#define FUNCTIONS                                         \
    "fn keep{o}(%1.x: tensor own) { b0: release %1 ret }" \
    "fn look{b}(%1.x: tensor borrow) { b0: tl_print_tensor %1 ret }"

typedef struct row {
    const char *name, *before, *after; /* NULL: as before */
} row;

static const row rows[] = {
    {"read in between", "fn f{o}(%1.x: tensor own) { b0: acquire %1 tl_print_tensor %1 release %1 release %1 ret }",
     "fn f{o}(%1.x: tensor own) { b0: tl_print_tensor %1 release %1 ret }"},
    {"borrowed, read in between", "fn f{b}(%1.x: tensor borrow) { b0: acquire %1 call look{b}(%1) release %1 ret }",
     "fn f{b}(%1.x: tensor borrow) { b0: call look{b}(%1) ret }"},
    {"it moves instead", "fn f{o}(%1.x: tensor own) { b0: acquire %1 call keep{o}(own %1) release %1 ret }",
     "fn f{o}(%1.x: tensor own) { b0: call keep{o}(own %1) ret }"},
    {"nested",
     "fn f{o}(%1.x: tensor own) { b0: acquire %1 acquire %1 tl_print_tensor %1 release %1 release %1 release %1 ret }",
     "fn f{o}(%1.x: tensor own) { b0: tl_print_tensor %1 release %1 ret }"},
    {"one of two values",
     "fn f{oo}(%1.x: tensor own, %2.y: tensor own) { b0: acquire %1 acquire %2 "
     "call keep{o}(own %2) release %1 tl_print_tensor %2 release %2 release %1 ret }",
     "fn f{oo}(%1.x: tensor own, %2.y: tensor own) { b0: acquire %2 call keep{o}(own %2) "
     "tl_print_tensor %2 release %2 release %1 ret }"},
    {"of two takers the first is counted",
     "fn f{o}(%1.x: tensor own) { b0: acquire %1 call keep{o}(own %1) acquire %1 call keep{o}(own %1) release %1 ret }",
     "fn f{o}(%1.x: tensor own) { b0: acquire %1 call keep{o}(own %1) call keep{o}(own %1) ret }"},
    {"read behind the taker",
     "fn f{o}(%1.x: tensor own) { b0: acquire %1 call keep{o}(own %1) tl_print_tensor %1 release %1 ret }", NULL},
    {"the borrowed one is the caller's", "fn f{b}(%1.x: tensor borrow) { b0: acquire %1 call keep{o}(own %1) ret }",
     NULL},
    {"taken and read at once",
     "fn f{o}(%1.x: tensor own) { b0: acquire %1 %2: tensor = tl_tensor_add_assign %1, %1 release %1 release %2 ret }",
     NULL},
    {"its ends are in two blocks",
     "fn f{o}(%1.x: tensor own) { b0: acquire %1 jump b1 b1: tl_print_tensor %1 release %1 release %1 ret }", NULL},
    {"given away twice", "fn f{o}(%1.x: tensor own) -> (tensor, tensor) { b0: acquire %1 ret %1, %1 }", NULL},
};

static void run_some(const ir_module *m) {
    masu__rng rng;
    masu__rng_seed(&rng, 3);
    for (uint32_t f = 0; f < m->function_count; f++)
        for (int k = 0; k < 8; k++)
            support_run(m->functions[f], &rng, 0);
}

static void print_parsed(masu__arena *arena, const char *body, masu__buffer *out) {
    masu__buffer text = {0};
    masu__buffer_printf(&text, "%s%s", FUNCTIONS, body);
    ir_print_module(support_parse(arena, masu__buffer_text(&text)), out);
    masu__buffer_destroy(&text);
}

static void check(const row *r) {
    masu__arena arena = {0};
    masu__buffer text = {0}, wanted = {0}, got = {0};
    pass_context context = {0};
    masu__buffer_printf(&text, "%s%s", FUNCTIONS, r->before);
    ir_module *m = support_parse(&arena, masu__buffer_text(&text));
    support_verify(m, IR_PHASE_OWNED);
    run_some(m);
    pass_cancel(m, &context);
    support_verify(m, IR_PHASE_OWNED);
    run_some(m);
    ir_print_module(m, &got);
    print_parsed(&arena, r->after ? r->after : r->before, &wanted);
    if (strcmp(masu__buffer_text(&got), masu__buffer_text(&wanted)) != 0)
        fail_msg("%s:\n%s\nin place of\n%s", r->name, masu__buffer_text(&got), masu__buffer_text(&wanted));
    masu__buffer_destroy(&text);
    masu__buffer_destroy(&wanted);
    masu__buffer_destroy(&got);
    masu__arena_destroy(&arena);
}

static void pairs_go_and_what_is_needed_stays(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        check(&rows[k]);
}

/* Where values end at their last use, ownership leaves nothing to cancel. */
static void ownership_makes_none(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 11);
    for (int k = 0; k < 60; k++) {
        masu__arena arena = {0};
        masu__buffer before = {0}, after = {0};
        pass_context context = {0};
        ir_module *m = support_random(&arena, &rng, k % 2);
        pass_lastuse(m, &context);
        pass_ownership(m, &context);
        ir_print_module(m, &before);
        pass_cancel(m, &context);
        ir_print_module(m, &after);
        assert_string_equal(masu__buffer_text(&before), masu__buffer_text(&after));
        masu__buffer_destroy(&before);
        masu__buffer_destroy(&after);
        masu__arena_destroy(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_go_and_what_is_needed_stays),
        cmocka_unit_test(ownership_makes_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
