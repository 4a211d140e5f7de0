/* ir_random.c: random programs, built as lowering builds them: variables that are written and read.
 *
 * Structured bodies nest branches, loops, breaks, continues and early returns; the others are any
 * graph of blocks, also such as no source program gives (entries into the middle of loops).
 */
#include "ir_support.h"

#include <stdio.h>

enum { TENSORS = 4, MOST_FUNCTIONS = 4, DEEPEST = 3 };

typedef struct maker {
    ir_module *m;
    masu__rng *rng;
    ir_function *functions[MOST_FUNCTIONS + 1];
    uint32_t function_count;
    ir_builder *b;
    ir_function *f;
    ir_variable tensor[TENSORS];
    ir_variable vector;
    ir_block *continue_to, *break_to; /* of the innermost loop, NULL outside */
} maker;

static const source_span nowhere = {0};

static uint32_t below(maker *k, uint32_t n) {
    return (uint32_t)masu__rng_below(k->rng, n);
}

static ir_variable any_tensor(maker *k) {
    return k->tensor[below(k, TENSORS)];
}

static ir_value read_any(maker *k) {
    return ir_read(k->b, any_tensor(k), nowhere);
}

static ir_value read_vector(maker *k) {
    return ir_read(k->b, k->vector, nowhere);
}

static ir_value number(maker *k, int64_t n) {
    return ir_emit_const_int(k->b, IR_I64, n, nowhere);
}

static ir_value abi(maker *k, tl_abi_index index, const ir_value *args, uint32_t count, ir_type result) {
    ir_instr *i = ir_emit(k->b, IR_ABI, args, count, &result, result != IR_NONE, nowhere);
    assert_non_null(i);
    i->abi = index;
    return i->result;
}

/* ---- operations ------------------------------------------------------------------------------ */

static ir_value fresh(maker *k) {
    ir_value args[] = {number(k, 4), ir_emit_const_int(k->b, IR_BOOL, 0, nowhere)};
    return abi(k, TL_FN_tl_tensor_ones, args, 2, IR_TENSOR);
}

static ir_value fresh_vector(maker *k) {
    ir_type address = IR_ADDRESS;
    static const ir_type types[] = {IR_TENSOR, IR_I64, IR_TENSOR};
    ir_instr *plan = ir_emit(k->b, IR_RECORD_TYPE, NULL, 0, &address, 1, nowhere);
    assert_non_null(plan);
    plan->imm.record.types = types;
    plan->imm.record.count = 3;
    return abi(k, TL_FN_tl_vec_new, &plan->result, 1, IR_OBJECT);
}

static void write_or_drop(maker *k, ir_value v) {
    if (below(k, 6) > 0)
        ir_write(k->b, any_tensor(k), v);
}

static void emit_call(maker *k) {
    ir_function *callee = k->functions[below(k, k->function_count)];
    ir_value args[8];
    ir_type results[8];
    for (uint32_t p = 0; p < callee->param_count; p++) {
        ir_type t = ir_type_of(callee, callee->params[p]);
        args[p] = t == IR_TENSOR ? read_any(k) : t == IR_OBJECT ? read_vector(k) : number(k, 1);
    }
    for (uint32_t r = 0; r < callee->result_count; r++)
        results[r] = callee->results[r];
    ir_instr *i = ir_emit(k->b, IR_CALL, args, callee->param_count, results, callee->result_count, nowhere);
    assert_non_null(i);
    i->callee = callee;
    for (uint32_t r = 0; r < i->result_count; r++)
        write_or_drop(k, i->result + r);
}

static void emit_push(maker *k) {
    ir_type address = IR_ADDRESS;
    ir_value v = read_vector(k), words[] = {read_any(k), number(k, 3), read_any(k)};
    ir_instr *record = ir_emit(k->b, IR_RECORD, words, 3, &address, 1, nowhere);
    assert_non_null(record);
    ir_value args[] = {v, record->result};
    ir_write(k->b, k->vector, abi(k, TL_FN_tl_vec_push, args, 2, IR_OBJECT));
}

static void emit_get(maker *k) {
    ir_type address = IR_ADDRESS, word[] = {IR_TENSOR, IR_I64, IR_TENSOR};
    ir_value v = read_vector(k), index = number(k, 0);
    ir_instr *record = ir_emit(k->b, IR_RECORD_EMPTY, NULL, 0, &address, 1, nowhere);
    assert_non_null(record);
    record->imm.i = 3;
    ir_value args[] = {v, index, record->result};
    abi(k, TL_FN_tl_vec_get, args, 3, IR_NONE);
    for (int w = 0; w < 3; w++) {
        ir_instr *read = ir_emit(k->b, IR_RECORD_WORD, &record->result, 1, &word[w], 1, nowhere);
        assert_non_null(read);
        read->imm.i = w;
        if (word[w] == IR_TENSOR)
            write_or_drop(k, read->result);
    }
}

static void emit_in_place(maker *k) {
    ir_variable target = any_tensor(k);
    ir_value args[] = {ir_read(k->b, target, nowhere), read_any(k)};
    ir_write(k->b, target, abi(k, TL_FN_tl_tensor_add_assign, args, 2, IR_TENSOR));
}

static void emit_swap(maker *k) {
    ir_variable a = any_tensor(k), b = any_tensor(k);
    ir_value va = ir_read(k->b, a, nowhere), vb = ir_read(k->b, b, nowhere);
    ir_write(k->b, a, vb);
    ir_write(k->b, b, va);
}

static void emit_operation(maker *k) {
    ir_value args[2];
    switch (below(k, 13)) {
    case 0:
        write_or_drop(k, fresh(k));
        break;
    case 1:
    case 2:
        args[0] = read_any(k);
        args[1] = read_any(k);
        write_or_drop(k, abi(k, TL_FN_tl_tensor_add, args, 2, IR_TENSOR));
        break;
    case 3:
        args[0] = read_any(k);
        write_or_drop(k, abi(k, TL_FN_tl_tensor_exp, args, 1, IR_TENSOR));
        break;
    case 4:
        emit_in_place(k);
        break;
    case 5:
        args[0] = read_any(k);
        abi(k, TL_FN_tl_print_tensor, args, 1, IR_NONE);
        break;
    case 6:
        args[0] = read_any(k);
        abi(k, TL_FN_tl_tensor_len, args, 1, IR_I64);
        break;
    case 7:
        ir_write(k->b, any_tensor(k), read_any(k));
        break;
    case 8:
        emit_swap(k);
        break;
    case 9:
        emit_call(k);
        break;
    case 10:
        emit_push(k);
        break;
    case 11:
        emit_get(k);
        break;
    default:
        args[0] = read_any(k);
        ir_emit(k->b, IR_KEEP, args, 1, NULL, 0, nowhere);
        break;
    }
}

static ir_value emit_condition(maker *k) {
    ir_value t = read_any(k);
    return abi(k, TL_FN_tl_tensor_item_bool, &t, 1, IR_BOOL);
}

static void emit_return(maker *k) {
    ir_value values[4];
    for (uint32_t r = 0; r < k->f->result_count; r++)
        values[r] = read_any(k);
    ir_emit_ret(k->b, values, k->f->result_count, nowhere);
}

/* ---- structured bodies ----------------------------------------------------------------------- */

static void emit_statements(maker *k, int depth);

static void begin(maker *k, ir_block *block, bool sealed) {
    ir_builder_set_block(k->b, block);
    if (sealed)
        ir_seal(k->b, block);
}

static void emit_if(maker *k, int depth) {
    ir_block *yes = ir_block_new(k->f), *no = ir_block_new(k->f), *end = ir_block_new(k->f);
    bool has_else = below(k, 2);
    ir_emit_branch(k->b, emit_condition(k), yes, has_else ? no : end, nowhere);
    begin(k, yes, true);
    emit_statements(k, depth + 1);
    if (ir_builder_block(k->b))
        ir_emit_jump(k->b, end, nowhere);
    if (has_else) {
        begin(k, no, true);
        emit_statements(k, depth + 1);
        if (ir_builder_block(k->b))
            ir_emit_jump(k->b, end, nowhere);
    }
    begin(k, end, true);
}

static void emit_loop(maker *k, int depth) {
    ir_block *head = ir_block_new(k->f), *body = ir_block_new(k->f), *end = ir_block_new(k->f);
    ir_block *outer_continue = k->continue_to, *outer_break = k->break_to;
    bool endless = below(k, 4) == 0; /* loop { … }: left by break only */
    ir_emit_jump(k->b, head, nowhere);
    begin(k, head, false);
    if (endless)
        ir_emit_jump(k->b, body, nowhere);
    else
        ir_emit_branch(k->b, emit_condition(k), body, end, nowhere);
    begin(k, body, true);
    k->continue_to = head;
    k->break_to = end;
    emit_statements(k, depth + 1);
    if (ir_builder_block(k->b))
        ir_emit_jump(k->b, head, nowhere);
    ir_seal(k->b, head);
    k->continue_to = outer_continue;
    k->break_to = outer_break;
    begin(k, end, true);
}

static void emit_leap(maker *k) {
    uint32_t kind = below(k, 3);
    if (kind == 0)
        emit_return(k);
    else if (k->continue_to)
        ir_emit_jump(k->b, kind == 1 ? k->continue_to : k->break_to, nowhere);
}

static void emit_statements(maker *k, int depth) {
    uint32_t count = 1 + below(k, 5);
    for (uint32_t n = 0; n < count && ir_builder_block(k->b); n++) {
        uint32_t kind = below(k, 10);
        if (kind == 0 && depth < DEEPEST)
            emit_loop(k, depth);
        else if (kind <= 2 && depth < DEEPEST)
            emit_if(k, depth);
        else if (kind == 3 && depth > 0)
            emit_leap(k);
        else
            emit_operation(k);
    }
}

/* ---- any graph ------------------------------------------------------------------------------- */

static void emit_graph(maker *k) {
    enum { MOST = 12 };
    ir_block *blocks[MOST] = {0};
    uint32_t count = 2 + below(k, MOST - 2);
    for (uint32_t n = 0; n < count; n++)
        blocks[n] = ir_block_new(k->f);
    ir_emit_jump(k->b, blocks[0], nowhere);
    for (uint32_t n = 0; n < count; n++) {
        ir_builder_set_block(k->b, blocks[n]);
        for (uint32_t o = below(k, 5); o > 0; o--)
            emit_operation(k);
        if (n + 1 == count || below(k, 6) == 0)
            emit_return(k);
        else if (below(k, 3) == 0)
            ir_emit_jump(k->b, blocks[below(k, count)], nowhere);
        else
            ir_emit_branch(k->b, emit_condition(k), blocks[below(k, count)], blocks[n + 1], nowhere);
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static void begin_variables(maker *k) {
    uint32_t next = 0;
    for (uint32_t p = 0; p < k->f->param_count; p++)
        if (ir_type_of(k->f, k->f->params[p]) == IR_TENSOR && next < TENSORS)
            ir_write(k->b, k->tensor[next++] = ir_variable_new(k->b, IR_TENSOR, "p", nowhere), k->f->params[p]);
    while (next < TENSORS) {
        k->tensor[next] = ir_variable_new(k->b, IR_TENSOR, "t", nowhere);
        ir_write(k->b, k->tensor[next++], fresh(k));
    }
    k->vector = ir_variable_new(k->b, IR_OBJECT, "v", nowhere);
    ir_value vector = 0;
    for (uint32_t p = 0; p < k->f->param_count; p++)
        if (ir_type_of(k->f, k->f->params[p]) == IR_OBJECT)
            vector = k->f->params[p];
    ir_write(k->b, k->vector, vector ? vector : fresh_vector(k));
}

static void declare(maker *k, const char *name, bool entry) {
    ir_function *f = ir_function_new(k->m, name, nowhere);
    static const ir_type tensors[] = {IR_TENSOR, IR_TENSOR};
    assert_non_null(f);
    for (uint32_t p = entry ? 0 : below(k, 4); p > 0; p--)
        ir_function_add_param(f, IR_TENSOR, "p", nowhere);
    if (!entry && below(k, 3) == 0)
        ir_function_add_param(f, IR_OBJECT, "v", nowhere);
    ir_function_set_results(f, tensors, entry ? 0 : below(k, 3));
    k->functions[k->function_count++] = f;
}

static void define(maker *k, ir_function *f, bool structured) {
    k->f = f;
    k->b = ir_builder_new(f);
    k->continue_to = k->break_to = NULL;
    begin_variables(k);
    if (structured)
        emit_statements(k, 0);
    else
        emit_graph(k);
    if (ir_builder_block(k->b))
        emit_return(k);
    ir_builder_finish(k->b);
}

ir_module *support_random(masu__arena *arena, masu__rng *rng, bool structured) {
    static const char *const names[] = {"main", "f", "g", "h", "i"};
    maker k = {.m = ir_module_new(arena), .rng = rng};
    assert_non_null(k.m);
    uint32_t count = 1 + below(&k, MOST_FUNCTIONS);
    for (uint32_t n = 0; n <= count; n++)
        declare(&k, names[n], n == 0);
    k.m->main = k.functions[0];
    for (uint32_t n = 0; n <= count; n++)
        define(&k, k.functions[n], structured);
    assert_false(k.m->out_of_memory);
    return k.m;
}
