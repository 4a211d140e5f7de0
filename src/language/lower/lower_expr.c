/* lower_expr.c: expressions. Operands are evaluated from left to right; an assignment's value before its place, that of
 * `a += b` before a is read. */
#include <string.h>

#include "language/lower/lowering.h"

/* ---- literals and operators -------------------------------------------------------------------------------------- */

static ir_value lower_float(lower_fn *fn, const expr *e) {
    return ir_emit_const_float(fn->b, lower_scalar_type(e->type), e->floating.value, e->span);
}

static ir_value lower_string(lower_fn *fn, const expr *e) {
    ir_type address = IR_ADDRESS;
    ir_instr *bytes = ir_emit(fn->b, IR_BYTES, NULL, 0, &address, 1, e->span);
    if (!bytes)
        return 0;
    bytes->imm.bytes.data = e->string.data;
    bytes->imm.bytes.length = e->string.length;
    ir_value length = lower_int(fn, IR_I64, (int64_t)e->string.length, e->span);
    return lower_abi(fn, TL_FN_tl_string_literal, (ir_value[]){bytes->result, length}, 2, e->span);
}

static ir_value lower_binary(lower_fn *fn, const expr *e) {
    ir_value early = e->binary.is_update ? lower_scalar(fn, e->binary.right) : 0;
    ir_value a = lower_scalar(fn, e->binary.left), b = e->binary.is_update ? early : lower_scalar(fn, e->binary.right);
    return lower_op2(fn, lower_binary_opcode(e), lower_scalar_type(e->type), a, b, e->span);
}

static ir_value lower_unary(lower_fn *fn, const expr *e) {
    ir_value v = lower_scalar(fn, e->unary.operand);
    return lower_op1(fn, e->unary.op == UNARY_NEG ? IR_NEG : IR_NOT, lower_scalar_type(e->type), v, e->span);
}

static void lower_name(lower_fn *fn, const expr *e, ir_value *out) {
    if (e->name.constant)
        lower_expr_as(fn, e->name.constant->value, e->type, out);
    else if (e->name.binding->in_cell)
        lower_cell_read(fn, e->name.binding, false, out, e->span);
    else
        lower_read(fn, fn->variables[e->name.binding->id], lower_leaf_count(fn->l, e->type), out, e->span);
}

/* ---- fields and cells -------------------------------------------------------------------------------------------- */

static void lower_field(lower_fn *fn, const expr *e, ir_value *out) {
    if (lower_is_place(e)) {
        lower_place *p = lower_place_of(fn, e);
        if (p)
            lower_place_read(fn, p, out);
        return;
    }
    const type *t = e->field.base->type;
    ir_value *all = lower_values(fn, e->field.base);
    if (all && lower_has_cell(t)) {
        ir_value cell = all[0];
        all = lower_room(fn, lower_leaf_count(fn->l, lower_inside(t)));
        if (all)
            lower_out_of_cell(fn, t, cell, all, e->span);
    }
    if (all)
        memcpy(out, all + lower_field_offset(fn->l, t, e->field.index), lower_leaf_count(fn->l, e->type) * sizeof *out);
}

/* ---- parts put together ------------------------------------------------------------------------------------------ */

static void lower_struct(lower_fn *fn, const expr *e, ir_value *out) {
    const struct_expr *s = &e->structure;
    ir_value *cell = lower_has_cell(e->type) ? out : NULL;
    if (cell)
        out = lower_room(fn, lower_leaf_count(fn->l, lower_inside(e->type)));
    if (!out)
        return;
    for (uint32_t i = 0; i < s->init_count; i++) {
        uint32_t field = 0;
        while (s->values[field] != s->inits[i].value)
            field++;
        lower_expr_as(fn, s->inits[i].value, lower_field_type(e->type, field),
                      out + lower_field_offset(fn->l, e->type, field));
    }
    if (cell)
        lower_into_cell(fn, e->type, out, cell, e->span);
}

static void lower_tuple(lower_fn *fn, const expr *e, ir_value *out) {
    for (uint32_t i = 0; i < e->list.count; i++)
        lower_expr_as(fn, e->list.items[i], lower_field_type(e->type, i), out + lower_field_offset(fn->l, e->type, i));
}

/* A number; or what holds tensors of which the type says more; or what lies open and holds lengths where i64 are
 * wanted: leaf by leaf. */
static void lower_cast(lower_fn *fn, const expr *e, ir_value *out) {
    uint32_t count;
    ir_type *types = lower_types_of(fn->l, e->type, &count);
    if (!types)
        return;
    lower_expr(fn, e->cast.operand, out);
    for (uint32_t i = 0; i < count; i++)
        if (types[i] != IR_OBJECT && types[i] != IR_TENSOR)
            out[i] = lower_convert(fn, out[i], types[i], e->span);
    lower_stated(fn, e->cast.operand->type, e->type, out, e->span);
}

/* The variable that a name, or a closure's field, means. */
static const binding *captured_by(const expr *e) {
    if (e->kind == EXPR_NAME)
        return e->name.binding;
    const type *t = e->kind == EXPR_FIELD ? e->field.base->type : NULL;
    return t && t->kind == TYPE_STRUCT && t->structure->closure ? t->structure->fields[e->field.index].captured : NULL;
}

/* f.n = n and n = f.n around a call, of a closure that turned out to hold a reference to n. */
static bool is_same_place(const expr *a, const expr *b) {
    return (lower_field_by_reference(a) || lower_field_by_reference(b)) && captured_by(a) &&
           captured_by(a) == captured_by(b);
}

static void lower_assign(lower_fn *fn, const expr *e) {
    if (is_same_place(e->assign.target, e->assign.value))
        return;
    ir_value *values = lower_room(fn, lower_leaf_count(fn->l, e->assign.target->type));
    if (!values)
        return;
    const type *t = e->assign.target->type;
    lower_expr_as(fn, e->assign.value, t, values);
    lower_place *p = lower_open(fn) ? lower_place_of(fn, e->assign.target) : NULL;
    ir_value *before = p && fn->owns && lower_is_variable(p) && lower_drops(fn->l, t)
                           ? lower_room(fn, lower_leaf_count(fn->l, t))
                           : NULL;
    if (before)
        lower_place_read(fn, p, before);
    if (p)
        lower_place_write(fn, p, values);
    if (before)
        lower_end_values(fn, t, before, e->span);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void by_kind(lower_fn *fn, const expr *e, ir_value *out) {
    switch (e->kind) {
    case EXPR_INT:
        *out = lower_int(fn, lower_scalar_type(e->type), (int64_t)e->integer.value, e->span);
        break;
    case EXPR_FLOAT:
        *out = lower_float(fn, e);
        break;
    case EXPR_BOOL:
        *out = lower_int(fn, IR_BOOL, e->boolean, e->span);
        break;
    case EXPR_CHAR:
        *out = lower_int(fn, IR_CHAR, e->character, e->span);
        break;
    case EXPR_STRING:
        *out = lower_string(fn, e);
        break;
    case EXPR_NAME:
        lower_name(fn, e, out);
        break;
    case EXPR_UNARY:
        if (e->unary.op == UNARY_REFERENCE)
            lower_refer(fn, e->unary.operand, out);
        else
            *out = lower_unary(fn, e);
        break;
    case EXPR_BINARY:
        if (e->binary.op == BINARY_AND || e->binary.op == BINARY_OR)
            lower_logical(fn, e, out);
        else
            *out = lower_binary(fn, e);
        break;
    case EXPR_CAST:
        lower_cast(fn, e, out);
        break;
    case EXPR_CALL:
        lower_call(fn, e, out);
        break;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        lower_field(fn, e, out);
        break;
    case EXPR_INDEX:
        lower_index(fn, e, out);
        break;
    case EXPR_STRUCT:
        lower_struct(fn, e, out);
        break;
    case EXPR_TUPLE:
        lower_tuple(fn, e, out);
        break;
    case EXPR_ARRAY:
        lower_array(fn, e, out);
        break;
    case EXPR_COMPREHENSION:
        lower_comprehension(fn, e, out);
        break;
    case EXPR_BLOCK:
        if (e->block->unrecorded)
            lower_unrecorded(fn, e, out);
        else
            lower_block_within(fn, e->block, e->type, out);
        break;
    case EXPR_IF:
        lower_if(fn, e, out);
        break;
    case EXPR_MATCH:
        lower_match(fn, e, out);
        break;
    case EXPR_WHILE:
        lower_while(fn, e);
        break;
    case EXPR_LOOP:
        lower_infinite_loop(fn, e, out);
        break;
    case EXPR_FOR:
        lower_for(fn, e);
        break;
    case EXPR_BREAK:
    case EXPR_CONTINUE:
    case EXPR_RETURN:
        lower_jump_expr(fn, e);
        break;
    case EXPR_ASSIGN:
        lower_assign(fn, e);
        break;
    default: /* gone after a check without errors: see the rules of tree.h, which check_tree_valid judges */
        break;
    }
}

/* A call that yields `&T`: what is there has its owner. */
static bool is_lent(const expr *e) {
    const type_expr *t = e->kind == EXPR_CALL && e->call.kind == CALL_FUNCTION ? e->call.function->result_annotation
                                                                               : NULL;
    return t && (t->is_shared || t->is_place);
}

void lower_any(lower_fn *fn, const expr *e, ir_value *out) {
    if (!lower_open(fn) || (fn->owns && lower_moved(fn, e, out)))
        return;
    by_kind(fn, e, out);
    if (fn->owns && lower_open(fn) && lower_drops(fn->l, e->type) && !lower_is_place(e) && !is_lent(e) &&
        lower_marked(fn, e->span, MARK_LOOKED))
        lower_temporary(fn, e->type, out, e->span);
}
