/* lower_emit.c: single instructions. Each does nothing and yields 0 where there is no block: unreachable code.
 *
 * An instruction that may raise gets its place here, and nowhere else.
 */
#include <string.h>

#include "language/lower/lowering.h"

static void place_site(lower_fn *fn, ir_instr *i, source_span span) {
    if (i && ir_may_raise(i))
        i->site = ir_site_new(fn->l->m, span, fn->name);
}

static void name_operands(const lower_fn *fn, const ir_instr *i) {
    ir_site *site = &fn->l->m->sites[i->site];
    uint32_t count = 0;
    for (uint32_t a = 0; i->site && a < i->arg_count; a++) {
        const ir_value_info *info = &fn->f->values[i->args[a]];
        if (info->type != IR_TENSOR)
            continue;
        if (count < IR_SITE_OPERANDS) {
            site->operands[count].name = info->name;
            site->operands[count].span = info->span;
        }
        count++;
    }
    if (count > IR_SITE_OPERANDS)
        memset(site->operands, 0, sizeof site->operands);
}

ir_value lower_int(lower_fn *fn, ir_type type, int64_t v, source_span span) {
    return lower_open(fn) ? ir_emit_const_int(fn->b, type, v, span) : 0;
}

ir_value lower_nothing(lower_fn *fn, ir_type type, source_span span) {
    if (ir_type_managed(type))
        return lower_op(fn, IR_NOTHING, type, NULL, 0, span);
    if (ir_type_float(type))
        return lower_open(fn) ? ir_emit_const_float(fn->b, type, 0, span) : 0;
    return lower_int(fn, type, 0, span);
}

ir_value lower_op(lower_fn *fn, ir_opcode op, ir_type type, const ir_value *args, uint32_t count, source_span span) {
    if (!lower_open(fn))
        return 0;
    ir_instr *i = ir_emit(fn->b, op, args, count, &type, 1, span);
    place_site(fn, i, span);
    return i ? i->result : 0;
}

ir_value lower_op1(lower_fn *fn, ir_opcode op, ir_type type, ir_value a, source_span span) {
    return lower_op(fn, op, type, &a, 1, span);
}

ir_value lower_op2(lower_fn *fn, ir_opcode op, ir_type type, ir_value a, ir_value b, source_span span) {
    return lower_op(fn, op, type, (ir_value[]){a, b}, 2, span);
}

ir_value lower_convert(lower_fn *fn, ir_value v, ir_type to, source_span span) {
    if (!lower_open(fn) || !v || ir_type_of(fn->f, v) == to)
        return v;
    return lower_op1(fn, IR_CAST, to, v, span);
}

/* ---- calls of the runtime ---------------------------------------------------------------------------------------- */

static ir_type kind_type(tl_abi_kind kind) {
    switch (kind) {
    case ABI_bool:
        return IR_BOOL;
    case ABI_i32:
        return IR_I32;
    case ABI_i64:
        return IR_I64;
    case ABI_f32:
        return IR_F32;
    case ABI_f64:
        return IR_F64;
    case ABI_address:
    case ABI_frame:
        return IR_ADDRESS;
    case ABI_tensor:
        return IR_TENSOR;
    case ABI_object:
    case ABI_any:
        return IR_OBJECT;
    case ABI_none:
        break;
    }
    return IR_NONE;
}

ir_value lower_abi(lower_fn *fn, tl_abi_index abi, const ir_value *args, uint32_t count, source_span span) {
    if (!lower_open(fn))
        return 0;
    ir_type result = kind_type(tl_abi_functions[abi].result);
    ir_instr *i = ir_emit(fn->b, IR_ABI, args, count, &result, result != IR_NONE, span);
    if (!i)
        return 0;
    i->abi = abi;
    place_site(fn, i, span);
    name_operands(fn, i);
    if (!(tl_abi_functions[abi].effects & ENDS))
        return i->result;
    lower_keep_past(fn, false, span);
    if (lower_open(fn))
        ir_emit(fn->b, IR_UNREACHABLE, NULL, 0, NULL, 0, span);
    return i->result;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

ir_block *lower_block_new(lower_fn *fn) {
    ir_block *b = ir_block_new(fn->f);
    if (b)
        b->scope_depth = fn->scope_depth;
    return b;
}

void lower_jump(lower_fn *fn, ir_block *to, source_span span) {
    if (lower_open(fn) && to)
        ir_emit_jump(fn->b, to, span);
}

void lower_branch(lower_fn *fn, ir_value c, ir_block *yes, ir_block *no, source_span span) {
    if (lower_open(fn) && yes && no)
        ir_emit_branch(fn->b, c, yes, no, span);
}

void lower_enter_block(lower_fn *fn, ir_block *b) {
    if (!b) {
        ir_builder_set_block(fn->b, NULL);
        return;
    }
    ir_seal(fn->b, b);
    ir_builder_set_block(fn->b, b->pred_count > 0 ? b : NULL);
}

ir_opcode lower_binary_opcode(const expr *e) {
    static const ir_opcode opcodes[BINARY_OP_COUNT] = {
        [BINARY_ADD] = IR_ADD, [BINARY_SUB] = IR_SUB,     [BINARY_MUL] = IR_MUL,   [BINARY_DIV] = IR_DIV,
        [BINARY_REM] = IR_REM, [BINARY_BIT_AND] = IR_AND, [BINARY_BIT_OR] = IR_OR, [BINARY_BIT_XOR] = IR_XOR,
        [BINARY_SHL] = IR_SHL, [BINARY_SHR] = IR_SHR,     [BINARY_EQ] = IR_EQ,     [BINARY_NE] = IR_NE,
        [BINARY_LT] = IR_LT,   [BINARY_LE] = IR_LE,       [BINARY_GT] = IR_GT,     [BINARY_GE] = IR_GE,
    };
    bool length = e->binary.op == BINARY_SUB && e->type->kind == TYPE_USIZE;
    return length ? IR_SUB_LENGTH : opcodes[e->binary.op];
}
