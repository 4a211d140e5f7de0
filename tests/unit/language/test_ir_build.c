/* Building, editing, ordering, printing and reading back. */
#include <string.h>

#include "ir_support.h"
#include "language/ir/cfg.h"
#include "language/ir/edit.h"

static const source_span nowhere = {0};

static void expect_module(const ir_module *m, const char *expected) {
    masu__buffer out = {0};
    ir_print_module(m, &out);
    support_expect_text(masu__buffer_text(&out), expected);
    masu__buffer_destroy(&out);
}

/* ---- the builder ----------------------------------------------------------------------------- */

typedef struct built {
    masu__arena arena;
    ir_module *m;
    ir_function *f;
    ir_builder *b;
    ir_value c;
} built;

static void begin(built *t) {
    memset(t, 0, sizeof *t);
    t->m = ir_module_new(&t->arena);
    t->f = ir_function_new(t->m, "f", nowhere);
    t->c = ir_function_add_param(t->f, IR_BOOL, "c", nowhere);
    static const ir_type result = IR_I64;
    ir_function_set_results(t->f, &result, 1);
    t->b = ir_builder_new(t->f);
}

static void end(built *t, const char *expected) {
    ir_builder_finish(t->b);
    assert_false(t->m->out_of_memory);
    support_verify(t->m, IR_PHASE_BUILT);
    expect_module(t->m, expected);
    masu__arena_destroy(&t->arena);
}

static ir_value number(built *t, int64_t n) {
    return ir_emit_const_int(t->b, IR_I64, n, nowhere);
}

static void ret(built *t, ir_variable v) {
    ir_value value = ir_read(t->b, v, nowhere);
    ir_emit_ret(t->b, &value, 1, nowhere);
}

static ir_value add(built *t, ir_value a, ir_value b) {
    static const ir_type i64 = IR_I64;
    ir_value args[] = {a, b};
    return ir_emit(t->b, IR_ADD, args, 2, &i64, 1, nowhere)->result;
}

/* if c { x = 2 }: one parameter where the arms meet. */
static void variable_written_in_one_arm(void **state) {
    (void)state;
    built t;
    begin(&t);
    ir_variable x = ir_variable_new(t.b, IR_I64, "x", nowhere);
    ir_block *yes = ir_block_new(t.f), *after = ir_block_new(t.f);
    ir_write(t.b, x, number(&t, 1));
    ir_emit_branch(t.b, t.c, yes, after, nowhere);
    ir_seal(t.b, yes);
    ir_builder_set_block(t.b, yes);
    ir_write(t.b, x, number(&t, 2));
    ir_emit_jump(t.b, after, nowhere);
    ir_seal(t.b, after);
    ir_builder_set_block(t.b, after);
    ret(&t, x);
    end(&t,
        "fn f(%1.c: bool) -> (i64) {b0: %2: i64 = const 1  branch %1.c, b1, b2(%2)"
        "b1: %3: i64 = const 2  jump b2(%3)b2(%4.x: i64): ret %4.x }");
}

/* A loop that only reads x needs no parameter for it; one that writes i does. */
static void loop_variables(void **state) {
    (void)state;
    built t;
    begin(&t);
    ir_variable x = ir_variable_new(t.b, IR_I64, "x", nowhere), i = ir_variable_new(t.b, IR_I64, "i", nowhere);
    ir_block *head = ir_block_new(t.f), *body = ir_block_new(t.f), *after = ir_block_new(t.f);
    ir_write(t.b, x, number(&t, 5));
    ir_write(t.b, i, number(&t, 0));
    ir_emit_jump(t.b, head, nowhere);
    ir_builder_set_block(t.b, head);
    ir_emit_branch(t.b, t.c, body, after, nowhere);
    ir_seal(t.b, body);
    ir_builder_set_block(t.b, body);
    ir_value x_now = ir_read(t.b, x, nowhere), i_now = ir_read(t.b, i, nowhere);
    ir_write(t.b, i, add(&t, i_now, x_now));
    ir_emit_jump(t.b, head, nowhere);
    ir_seal(t.b, head);
    ir_seal(t.b, after);
    ir_builder_set_block(t.b, after);
    ret(&t, i);
    end(&t,
        "fn f(%1.c: bool) -> (i64) {b0: %2.x: i64 = const 5  %3: i64 = const 0  jump b1(%3)"
        "b1(%5.i: i64): branch %1.c, b2, b3b2: %6: i64 = add %5.i, %2.x  jump b1(%6)b3: ret %5.i }");
}

/* What follows a return is built and dropped. */
static void unreachable_code(void **state) {
    (void)state;
    built t;
    begin(&t);
    ir_variable x = ir_variable_new(t.b, IR_TENSOR, "x", nowhere), y = ir_variable_new(t.b, IR_I64, "y", nowhere);
    ir_write(t.b, y, number(&t, 1));
    ret(&t, y);
    assert_null(ir_builder_block(t.b));
    ir_value dead = ir_read(t.b, x, nowhere);
    assert_int_equal(ir_type_of(t.f, dead), IR_TENSOR);
    ir_block *head = ir_block_new(t.f);
    ir_emit_jump(t.b, head, nowhere);
    ir_builder_set_block(t.b, head);
    ir_value y_now = ir_read(t.b, y, nowhere);
    ir_write(t.b, y, add(&t, y_now, number(&t, 2)));
    ir_emit_jump(t.b, head, nowhere);
    ir_seal(t.b, head);
    end(&t, "fn f(%1.c: bool) -> (i64) { b0: %2: i64 = const 1  ret %2 }");
}

/* A ring of blocks that nothing enters has no beginning to ask. */
static void ring_without_entry(void **state) {
    (void)state;
    built t;
    begin(&t);
    ir_variable y = ir_variable_new(t.b, IR_I64, "y", nowhere);
    ir_write(t.b, y, number(&t, 1));
    ret(&t, y);
    ir_block *a = ir_block_new(t.f), *b = ir_block_new(t.f);
    ir_builder_set_block(t.b, a);
    ir_emit_jump(t.b, b, nowhere);
    ir_builder_set_block(t.b, b);
    ir_emit_jump(t.b, a, nowhere);
    ir_seal(t.b, a);
    ir_seal(t.b, b);
    ir_builder_set_block(t.b, a);
    assert_int_equal(ir_type_of(t.f, ir_read(t.b, y, nowhere)), IR_I64);
    end(&t, "fn f(%1.c: bool) -> (i64) { b0: %2: i64 = const 1  ret %2 }");
}

/* An unwritten variable reads as zero; a managed one is refused by the verifier, since code
 * reaches it. */
static void unwritten_variables(void **state) {
    (void)state;
    built t;
    begin(&t);
    ret(&t, ir_variable_new(t.b, IR_I64, "x", nowhere));
    end(&t, "fn f(%1.c: bool) -> (i64) { b0: %2.x: i64 = const 0  ret %2.x }");
    begin(&t);
    static const ir_type tensor = IR_TENSOR;
    ir_function_set_results(t.f, &tensor, 1);
    ret(&t, ir_variable_new(t.b, IR_TENSOR, "t", nowhere));
    ir_builder_finish(t.b);
    support_refuse(t.m, IR_PHASE_BUILT, "nothing has written");
    masu__arena_destroy(&t.arena);
}

/* Ten thousand branches in a row: neither reading nor finishing recurses. */
static void long_functions_do_not_recurse(void **state) {
    (void)state;
    built t;
    begin(&t);
    ir_variable x = ir_variable_new(t.b, IR_I64, "x", nowhere);
    ir_write(t.b, x, number(&t, 1));
    for (int n = 0; n < 10000; n++) {
        ir_block *yes = ir_block_new(t.f), *after = ir_block_new(t.f);
        ir_emit_branch(t.b, t.c, yes, after, nowhere);
        ir_seal(t.b, yes);
        ir_builder_set_block(t.b, yes);
        ir_emit_jump(t.b, after, nowhere);
        ir_seal(t.b, after);
        ir_builder_set_block(t.b, after);
    }
    ret(&t, x);
    ir_builder_finish(t.b);
    support_verify(t.m, IR_PHASE_BUILT);
    const ir_block *last = t.f->blocks[t.f->block_count - 1];
    assert_int_equal(last->param_count, 0); /* ten thousand parameters were x in disguise */
    masu__arena_destroy(&t.arena);
}

/* ---- changes of shape ------------------------------------------------------------------------ */

static void critical_edges_are_split(void **state) {
    (void)state;
    masu__arena arena = {0};
    ir_module *m = support_parse(&arena,
                                 "fn f(%1: bool, %2: i64) -> (i64) {b0: branch %1, b1(%2), b1(%2)"
                                 "b1(%3: i64): branch %1, b1(%3), b2b2: ret %3 }");
    ir_split_critical_edges(m->functions[0]);
    support_verify(m, IR_PHASE_BUILT);
    expect_module(m,
                  "fn f(%1: bool, %2: i64) -> (i64) {b0: branch %1, b3, b4b1(%3: i64): branch %1, b5, b2"
                  "b2: ret %3b3: jump b1(%2)b4: jump b1(%2)b5: jump b1(%3) }");
    ir_function *f = m->functions[0];
    uint32_t count = f->block_count;
    ir_split_critical_edges(f);
    assert_int_equal(f->block_count, count);
    masu__arena_destroy(&arena);
}

static void superfluous_parameters_go(void **state) {
    (void)state;
    masu__arena arena = {0};
    ir_module *m = support_parse(&arena,
                                 "fn f(%1: bool, %2.x: i64, %3.t: tensor) -> (i64) {b0: jump b1(%2, %3, %2)"
                                 "b1(%4: i64, %5: tensor, %6: i64): branch %1, b2, b3"
                                 "b2: %7: tensor = tl_tensor_exp %3  jump b1(%4, %7, %4)b3: ret %6 }");
    assert_true(ir_simplify_params(m->functions[0]));
    assert_false(ir_simplify_params(m->functions[0]));
    support_verify(m, IR_PHASE_BUILT);
    expect_module(m,
                  "fn f(%1: bool, %2.x: i64, %3.t: tensor) -> (i64) {b0: jump b1b1: branch %1, b2, b3"
                  "b2: %7: tensor = tl_tensor_exp %3.t  jump b1b3: ret %2.x }");
    masu__arena_destroy(&arena);
}

static void chains_are_merged(void **state) {
    (void)state;
    masu__arena arena = {0};
    ir_module *m = support_parse(&arena,
                                 "fn f(%1: bool) -> (i64) {b0: jump b1b1: %2: i64 = const 1  jump b2"
                                 "b2: branch %1, b3, b4b3: jump b3b4: ret %2 }");
    ir_merge_chains(m->functions[0]);
    support_verify(m, IR_PHASE_BUILT);
    expect_module(m, "fn f(%1: bool) -> (i64) {b0: %2: i64 = const 1  branch %1, b1, b2b1: jump b1b2: ret %2 }");
    masu__arena_destroy(&arena);
}

static void clones_share_nothing(void **state) {
    (void)state;
    masu__arena arena = {0};
    ir_module *m = support_parse(&arena,
                                 "fn f(%1: bool, %2: i64) -> (i64) {b0: branch %1, b1(%2), b2"
                                 "b1(%3: i64): ret %3b2: %4: i64 = call g(%1, %2)  ret %4 }"
                                 "fn g(%1: bool, %2: i64) -> (i64) { b0: ret %2 }");
    ir_function *f = m->functions[0], *copy = ir_function_clone(f, "copy");
    assert_ptr_not_equal(copy->blocks[1], f->blocks[1]);
    assert_ptr_equal(copy->values[4].def, copy->blocks[2]->first);
    assert_ptr_equal(copy->values[3].block, copy->blocks[1]);
    assert_ptr_equal(copy->blocks[1]->preds[0], copy->blocks[0]);
    masu__buffer a = {0}, b = {0};
    ir_print_function(copy, &a);
    f->name = "copy";
    ir_print_function(f, &b);
    support_expect_text(masu__buffer_text(&a), masu__buffer_text(&b));
    masu__buffer_destroy(&a);
    masu__buffer_destroy(&b);
    masu__arena_destroy(&arena);
}

/* By the definition: a dominates b when b cannot be reached without a. */
static bool reaches_without(const ir_function *f, const ir_block *avoid, const ir_block *to) {
    bool seen[64] = {0};
    const ir_block *stack[64];
    uint32_t depth = 0;
    if (f->blocks[0] != avoid) {
        stack[depth++] = f->blocks[0];
        seen[0] = true;
    }
    while (depth > 0) {
        const ir_block *b = stack[--depth];
        for (int t = 0; t < ir_target_count(b->last); t++) {
            const ir_block *next = b->last->target[t].block;
            if (next == avoid || seen[next->id])
                continue;
            seen[next->id] = true;
            stack[depth++] = next;
        }
    }
    return seen[to->id];
}

static void dominance_is_what_it_says(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 3);
    for (int n = 0; n < 200; n++) {
        masu__arena arena = {0};
        ir_module *m = support_random(&arena, &rng, n & 1);
        for (uint32_t k = 0; k < m->function_count; k++) {
            const ir_function *f = m->functions[k];
            ir_order order;
            ir_dominators d;
            if (f->block_count > 64)
                continue;
            assert_true(ir_order_compute(&order, f, &arena) && ir_dominators_compute(&d, &order, &arena));
            assert_int_equal(order.count, f->block_count);
            for (uint32_t a = 0; a < f->block_count; a++)
                for (uint32_t b = 0; b < f->block_count; b++)
                    assert_int_equal(ir_dominates(&d, f->blocks[a], f->blocks[b]),
                                     a == b || !reaches_without(f, f->blocks[a], f->blocks[b]));
        }
        masu__arena_destroy(&arena);
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static void text_comes_back(void **state) {
    (void)state;
    static const char text[] = //
        "kernel k = f64 rank 1 cells (i64, f64) captures (f32 rank 2, i64 rank 1 unread) forward k.f backward k.b\n"
        "fn P::f{ob}(%1.p.x: tensor own, %2.n: i64, %3.y: tensor[2,?] borrow) -> (tensor, f64) slots 2 bound 1 {\n"
        "b0:\n"
        "%4: address = bytes \"a \\\"b\\\" \\\\ \\x0a\"\n"
        "%5: f32 = const 0.10000000149011612\n"
        "%6: f64 = const -inf\n"
        "%7: f64 = const nan\n"
        "%8: bool = const 1\n"
        "%9: address = record_type {tensor, i64}\n"
        "%10: f32 = math.sqrt %5\n"
        "%11: tensor = comprehend k(%2, %6, %3, %3)\n"
        "root %11, slot 1\n"
        "unroot %11, registry\n"
        "%12: tensor[] = tl_tensor_sum %11\n"
        "%13: tensor, %14: f64 = call P::f{ob}(own %1, %2, %3)\n"
        "%15: address = record_empty 2\n"
        "%16: tensor = record_word %15, 1\n"
        "acquire %16\n"
        "branch %8, b1(%16, %2), b2\n"
        "b1(%17: tensor, %18: i64):\n"
        "release %17\n"
        "unreachable\n"
        "b2:\n"
        "ret %13, %14\n"
        "}\n"
        "kernel_fn k.f() { b0: %1: i64 = kernel_cell 0  %2: i64 = kernel_extent 1, %1  %3: f32 = "
        "kernel_load 0, %1, %2\n"
        "%4: f64 = cast %3  kernel_out_add %4, %1  ret }\n"
        "kernel_fn k.b() { b0: %1: i64 = const 0  %2: f64 = kernel_grad_out %1  %3: f32 = cast %2\n"
        "kernel_grad_add 0, %3, %1, %1  ret }\n";
    masu__arena arena = {0};
    masu__buffer first = {0}, second = {0};
    ir_print_module(support_parse(&arena, text), &first);
    ir_print_module(support_parse(&arena, masu__buffer_text(&first)), &second);
    assert_string_equal(masu__buffer_text(&first), masu__buffer_text(&second));
    ir_module *m = support_parse(&arena, text);
    assert_string_equal(m->functions[0]->ownership, "ob");
    assert_true(m->functions[0]->values[3].borrowed && !m->functions[0]->values[1].borrowed);
    assert_int_equal(m->functions[0]->values[3].shape->dim[0], 2);
    assert_int_equal(m->functions[0]->values[3].shape->dim[1], -1);
    assert_ptr_equal(m->kernels[0]->backward, m->functions[2]);
    assert_false(m->kernels[0]->needs_value[1]);
    assert_int_equal(m->functions[0]->blocks[0]->first->imm.bytes.length, 9);
    masu__buffer_destroy(&first);
    masu__buffer_destroy(&second);
    masu__arena_destroy(&arena);
}

static void random_modules_come_back(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 5);
    for (int n = 0; n < 200; n++) {
        masu__arena arena = {0};
        masu__buffer first = {0}, second = {0};
        ir_print_module(support_random(&arena, &rng, n & 1), &first);
        ir_module *m = support_parse(&arena, masu__buffer_text(&first));
        support_verify(m, IR_PHASE_BUILT);
        ir_print_module(m, &second);
        support_expect_text(masu__buffer_text(&second), masu__buffer_text(&first));
        masu__buffer_destroy(&first);
        masu__buffer_destroy(&second);
        masu__arena_destroy(&arena);
    }
}

static void wrong_texts_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "fn",
        "fn f(",
        "fn f() { b0: ret",
        "fn f() { b0: dance %1 ret }",
        "fn f() { b0: %1: i64 = const x ret }",
        "fn f() { b0: %1: sheep = const 1 ret }",
        "fn f() { b0: %1: i64 = const 1 %1: i64 = const 2 ret }",
        "fn f() { b0: ret ret }",
        "fn f() { b0: call g() ret }",
        "fn f() { b0: %1: i64, %3: i64 = call f() ret }",
        "fn f() { b0: jump x }",
        "fn f() { b0: jump b99999999 }",
        "fn f() { b0: release %99999999999 ret }",
        "fn f(%1: tensor[1,2,3,4,5,6,7,8,9]) { b0: ret }",
        "kernel k = f32 rank 1 cells (i64) captures (f16 rank 1)",
        "kernel k = f32 rank 1 cells (i64) captures () forward nobody",
        "sheep",
    };
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        masu__arena arena = {0};
        masu__buffer error = {0};
        if (ir_parse_module(&arena, texts[t], &error))
            fail_msg("accepted: %s", texts[t]);
        assert_true(error.length > 0);
        masu__buffer_destroy(&error);
        masu__arena_destroy(&arena);
    }
}

/* ---- questions ------------------------------------------------------------------------------- */

static void abi_parameters_are_found(void **state) {
    (void)state;
    masu__arena arena = {0};
    ir_module *m = support_parse(&arena,
                                 "fn f(%1: tensor, %2: f64, %3: i64) {"
                                 "b0: %4: tensor = tl_tensor_set_f64 %1, %2, %3, %3    %5: bool = const 1"
                                 "    %6: tensor = tl_tensor_zeros %5"
                                 "    %7: i64 = const 0  %8: i64 = div %3, %7  %9: i64 = div %3, %3"
                                 "    %10: i64 = const 2  %11: i64 = div %3, %10  %12: f64 = div %2, %2  ret }");
    const ir_instr *i = m->functions[0]->blocks[0]->first;
    assert_string_equal(ir_abi_parameter(i, 0)->name, "t");
    assert_string_equal(ir_abi_parameter(i, 1)->name, "value");
    assert_string_equal(ir_abi_parameter(i, 2)->name, "index");
    assert_string_equal(ir_abi_parameter(i, 3)->name, "index");
    assert_null(ir_abi_parameter(i, 4));
    assert_true(ir_consumes(i, 0) && !ir_consumes(i, 1) && !ir_consumes(i, 2));
    i = i->next->next;
    assert_string_equal(ir_abi_parameter(i, 0)->name, "grad"); /* the list is empty */
    static const bool raises[] = {false, true, true, false, false, false};
    i = i->next;
    for (int n = 0; n < 6; n++, i = i->next)
        assert_int_equal(ir_may_raise(i), raises[n]);
    masu__arena_destroy(&arena);
}

/* The ownership pass and the verifier know results that are owned or plain; a line of the table
 * with a borrowed managed result would need more. */
static void table_has_no_borrowed_results(void **state) {
    (void)state;
    for (int n = 0; n < TL_FN_COUNT; n++) {
        tl_abi_kind kind = tl_abi_functions[n].result;
        bool managed = kind == ABI_tensor || kind == ABI_object || kind == ABI_any;
        if (managed && tl_abi_functions[n].result_mode != TL_OWNED)
            fail_msg("%s", tl_abi_functions[n].symbol);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variable_written_in_one_arm),
        cmocka_unit_test(loop_variables),
        cmocka_unit_test(unreachable_code),
        cmocka_unit_test(ring_without_entry),
        cmocka_unit_test(unwritten_variables),
        cmocka_unit_test(long_functions_do_not_recurse),
        cmocka_unit_test(critical_edges_are_split),
        cmocka_unit_test(superfluous_parameters_go),
        cmocka_unit_test(chains_are_merged),
        cmocka_unit_test(clones_share_nothing),
        cmocka_unit_test(dominance_is_what_it_says),
        cmocka_unit_test(text_comes_back),
        cmocka_unit_test(random_modules_come_back),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(abi_parameters_are_found),
        cmocka_unit_test(table_has_no_borrowed_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
