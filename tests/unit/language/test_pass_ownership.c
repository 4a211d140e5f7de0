/* What the programs in passes/ cannot show: how many versions of a function are made, which
 * functions stay, how long large functions take.
 */
#include <string.h>
#include <time.h>

#include "ir_support.h"
#include "language/pass/specialise.h"

static const source_span nowhere = {0};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void through(ir_module *m) {
    pass_context context = {0};
    support_verify(m, IR_PHASE_BUILT);
    pass_shapes(m, &context);
    pass_ownership(m, &context);
    support_verify(m, IR_PHASE_OWNED);
    pass_slots(m, &context);
    support_verify(m, IR_PHASE_ROOTED);
}

static uint32_t versions_of(const ir_module *m, const char *name) {
    uint32_t count = 0;
    for (uint32_t f = 0; f < m->function_count; f++)
        count += strcmp(m->functions[f]->specialised_from->name, name) == 0;
    return count;
}

static void unreachable_functions_go(void **state) {
    (void)state;
    masu__arena arena = {0};
    ir_module *m = support_parse(&arena,
                                 "fn g(%1: tensor) { b0: call f(%1) ret }"
                                 "fn main() { b0: %1: i64 = const 1 %2: tensor = tl_tensor_eye %1 call f(%2) ret }"
                                 "fn f(%1: tensor) { b0: tl_print_tensor %1 ret }");
    through(m);
    assert_int_equal(m->function_count, 2);
    assert_ptr_equal(m->main, m->functions[0]);
    assert_string_equal(m->functions[1]->name, "f{o}");
    assert_string_equal(m->functions[1]->ownership, "o");
    assert_string_equal(m->functions[1]->specialised_from->name, "f");
    assert_string_equal(m->main->ownership, "");
    masu__arena_destroy(&arena);
}

static void without_main_everything_stays(void **state) {
    (void)state;
    masu__arena arena = {0};
    ir_module *m = support_parse(&arena,
                                 "fn g(%1: tensor) { b0: call f(%1) ret }"
                                 "fn f(%1: tensor) { b0: tl_print_tensor %1 ret }");
    through(m);
    assert_int_equal(m->function_count, 2);
    assert_string_equal(m->functions[0]->name, "g{b}");
    assert_string_equal(m->functions[1]->name, "f{b}");
    masu__arena_destroy(&arena);
}

/* Eight parameters in every mixture of dying and living arguments: 256 calls, but a bounded
 * number of versions. */
static void versions_are_bounded(void **state) {
    (void)state;
    enum { PARAMETERS = 8 };
    masu__arena arena = {0};
    masu__buffer text = {0};
    masu__buffer_puts(&text, "fn f(");
    for (int p = 0; p < PARAMETERS; p++)
        masu__buffer_printf(&text, "%s%%%d: tensor", p ? ", " : "", p + 1);
    masu__buffer_puts(&text, ") { b0: tl_print_tensor %1 ret }");
    masu__buffer_puts(&text, "fn main() { b0: %1: i64 = const 1\n");
    int next = 2;
    for (int mix = 0; mix < 1 << PARAMETERS; mix++) {
        int first = next;
        for (int p = 0; p < PARAMETERS; p++)
            masu__buffer_printf(&text, "%%%d: tensor = tl_tensor_eye %%1\n", next++);
        masu__buffer_puts(&text, "call f(");
        for (int p = 0; p < PARAMETERS; p++)
            masu__buffer_printf(&text, "%s%%%d", p ? ", " : "", first + p);
        masu__buffer_puts(&text, ")\n");
        for (int p = 0; p < PARAMETERS; p++)
            if (mix >> p & 1)
                masu__buffer_printf(&text, "tl_print_tensor %%%d\n", first + p);
    }
    masu__buffer_puts(&text, "ret }");
    ir_module *m = support_parse(&arena, masu__buffer_text(&text));
    through(m);
    assert_int_equal(versions_of(m, "f"), SPECIALISE_MOST_VERSIONS);
    const ir_function *all = support_function(m, "f{oooooooo}");
    uint32_t to_all = 0;
    for (const ir_instr *i = m->main->blocks[0]->first; i; i = i->next)
        to_all += i->op == IR_CALL && i->callee == all;
    assert_int_equal(to_all, 256 - (SPECIALISE_MOST_VERSIONS - 1));
    masu__rng rng;
    masu__rng_seed(&rng, 1);
    machine_report report = support_run(m->main, &rng, 0);
    assert_false(report.raised || report.cut);
    masu__buffer_destroy(&text);
    masu__arena_destroy(&arena);
}

/* CASES A29: 300 temporaries alive at once, and as many that follow each other. */
static void three_hundred_temporaries(void **state) {
    (void)state;
    enum { COUNT = 300 };
    masu__arena arena = {0};
    masu__buffer text = {0};
    masu__buffer_puts(&text, "fn main() { b0: %1: i64 = const 1\n");
    for (int n = 0; n < COUNT; n++)
        masu__buffer_printf(&text, "%%%d: tensor = tl_tensor_eye %%1\n", n + 2);
    for (int n = 0; n < COUNT; n++)
        masu__buffer_printf(&text, "tl_print_tensor %%%d\n", n + 2);
    for (int n = 0; n < COUNT; n++)
        masu__buffer_printf(&text, "%%%d: tensor = tl_tensor_eye %%1\n tl_print_tensor %%%d\n", COUNT + n + 2,
                            COUNT + n + 2);
    masu__buffer_puts(&text, "ret }");
    ir_module *m = support_parse(&arena, masu__buffer_text(&text));
    through(m);
    pass_counts counts = pass_count(m->main);
    assert_int_equal(counts.slots, COUNT);
    assert_int_equal(counts.bound, COUNT);
    assert_int_equal(counts.acquires, 0);
    assert_int_equal(counts.releases, 2 * COUNT);
    masu__buffer_destroy(&text);
    masu__arena_destroy(&arena);
}

static ir_value abi(ir_builder *b, tl_abi_index index, ir_value arg, ir_type result) {
    ir_instr *i = ir_emit(b, IR_ABI, &arg, 1, &result, result != IR_NONE, nowhere);
    i->abi = index;
    return i->result;
}

/* `rounds` times: if c { x = exp(x) } print(x), with 40 other values alive throughout. */
static ir_module *long_function(masu__arena *arena, uint32_t rounds) {
    ir_module *m = ir_module_new(arena);
    m->main = ir_function_new(m, "main", nowhere);
    ir_value c = ir_function_add_param(m->main, IR_BOOL, "c", nowhere);
    ir_builder *b = ir_builder_new(m->main);
    ir_value n = ir_emit_const_int(b, IR_I64, 1, nowhere), others[40];
    ir_variable x = ir_variable_new(b, IR_TENSOR, "x", nowhere);
    for (int k = 0; k < 40; k++)
        others[k] = abi(b, TL_FN_tl_tensor_eye, n, IR_TENSOR);
    ir_write(b, x, abi(b, TL_FN_tl_tensor_eye, n, IR_TENSOR));
    for (uint32_t r = 0; r < rounds; r++) {
        ir_block *yes = ir_block_new(m->main), *after = ir_block_new(m->main);
        ir_emit_branch(b, c, yes, after, nowhere);
        ir_seal(b, yes);
        ir_builder_set_block(b, yes);
        ir_write(b, x, abi(b, TL_FN_tl_tensor_exp, ir_read(b, x, nowhere), IR_TENSOR));
        ir_emit_jump(b, after, nowhere);
        ir_seal(b, after);
        ir_builder_set_block(b, after);
        abi(b, TL_FN_tl_print_tensor, ir_read(b, x, nowhere), IR_NONE);
    }
    for (int k = 0; k < 40; k++)
        abi(b, TL_FN_tl_print_tensor, others[k], IR_NONE);
    ir_emit_ret(b, NULL, 0, nowhere);
    ir_builder_finish(b);
    return m;
}

/* Four times the rounds take about four times as long: well under the sixteen times of a
 * quadratic pass. */
static void time_is_linear(void **state) {
    (void)state;
    double spent[2];
    for (int large = 0; large < 2; large++) {
        double best = 1e9;
        for (int attempt = 0; attempt < 3; attempt++) {
            masu__arena arena = {0};
            pass_context context = {0};
            double start = seconds();
            ir_module *m = long_function(&arena, large ? 4000 : 1000);
            pass_fold(m, &context);
            pass_shapes(m, &context);
            pass_lastuse(m, &context);
            pass_ownership(m, &context);
            pass_slots(m, &context);
            double took = seconds() - start;
            best = took < best ? took : best;
            if (attempt == 0)
                support_verify(m, IR_PHASE_ROOTED);
            masu__arena_destroy(&arena);
        }
        spent[large] = best;
    }
    if (spent[1] > 9 * spent[0] + 0.02)
        fail_msg("%.1f ms for 1000 rounds, %.1f ms for 4000", spent[0] * 1e3, spent[1] * 1e3);
    assert_true(spent[1] < 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unreachable_functions_go), cmocka_unit_test(without_main_everything_stays),
        cmocka_unit_test(versions_are_bounded),     cmocka_unit_test(three_hundred_temporaries),
        cmocka_unit_test(time_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
