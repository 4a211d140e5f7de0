/* lower_kernel_accept.c: what may be in the body and the conditions of a comprehension that becomes a kernel.
 *
 * Numbers, captured scalars, indices, arithmetic, comparisons, casts, mathematical functions, if, blocks of `let`s,
 * and elements of captured tensors. Calls without effects whose operands come from outside (`t.dim(0)`) are hoisted.
 */
#include "language/lower/lower_kernel.h"

/* ---- names from outside ------------------------------------------------------------------------------------------ */

bool kernel_outer_leaf(const lower_kernel *lk, const expr *e, ir_variable *leaf) {
    const lowering *l = lk->outer->l;
    ir_variable offset = 0;
    while (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD) {
        if (lower_field_by_reference(e))
            return false;
        offset += lower_field_offset(l, e->field.base->type, e->field.index);
        e = e->field.base;
    }
    if (e->kind != EXPR_NAME || !e->name.binding || lk->inside[e->name.binding->id] || e->name.binding->in_cell)
        return false;
    *leaf = lk->outer->variables[e->name.binding->id] + offset;
    return true;
}

static bool is_number_type(const type *t) {
    return t->kind == TYPE_BOOL || type_is_numeric(t);
}

/* A tensor that a kernel takes for a number: its rank is 0, or its reader finds out. */
static bool is_value_type(const type *t) {
    return is_number_type(t) || (t->kind == TYPE_TENSOR && t->tensor.rank <= 0);
}

ir_type kernel_type(const type *t) {
    return t->kind == TYPE_TENSOR ? lower_dtype_type(lower_element_dtype(t)) : lower_scalar_type(t);
}

static bool is_pure_call(const expr *e) {
    return e->kind == EXPR_CALL && e->call.kind == CALL_ABI && !e->call.writes_receiver &&
           (tl_abi_functions[e->call.abi].effects & PURE);
}

static bool comes_from_outside(const lower_kernel *lk, const expr *e) {
    ir_variable leaf;
    if (e->kind == EXPR_INT || e->kind == EXPR_FLOAT || e->kind == EXPR_BOOL)
        return true;
    if (e->kind == EXPR_CAST)
        return comes_from_outside(lk, e->cast.operand);
    if (!is_pure_call(e))
        return kernel_outer_leaf(lk, e, &leaf);
    for (uint32_t i = 0; i < e->call.operand_count; i++)
        if (!comes_from_outside(lk, e->call.operands[i]))
            return false;
    return true;
}

static bool is_looked_at(const expr *tensor) {
    return tensor->type->kind == TYPE_TENSOR && !tensor->type->tensor.element;
}

bool kernel_is_item(const expr *e) {
    return e->kind == EXPR_CALL && e->call.kind == CALL_ABI && !e->call.callee && !e->call.receiver &&
           (e->call.abi == TL_FN_tl_tensor_exact_f32 || e->call.abi == TL_FN_tl_tensor_exact_f64 ||
            e->call.abi == TL_FN_tl_tensor_exact_i64 || e->call.abi == TL_FN_tl_tensor_item ||
            e->call.abi == TL_FN_tl_tensor_item_i64 || e->call.abi == TL_FN_tl_tensor_item_bool);
}

bool kernel_is_read(const lower_kernel *lk, const expr *e, kernel_read *out) {
    bool item = kernel_is_item(e) && is_looked_at(e->call.operands[0]);
    if (e->kind == EXPR_INDEX)
        *out = (kernel_read){.tensor = e->index.base, .indices = e->index.indices, .count = e->index.count};
    else
        *out = (kernel_read){.tensor = item ? e->call.operands[0] : e};
    if (out->tensor->type->kind == TYPE_TENSOR) {
        out->dtype = lower_read_dtype(out->tensor->type, e->type);
        out->is_looked_at = is_looked_at(out->tensor) && !e->is_converted;
    }
    return out->tensor->type->kind == TYPE_TENSOR && out->count <= TL_MAX_RANK && comes_from_outside(lk, out->tensor);
}

bool kernel_is_hoisted(const lower_kernel *lk, const expr *e) {
    return is_pure_call(e) && is_number_type(e->type) && !kernel_is_item(e) && comes_from_outside(lk, e);
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static bool is_tensor_operation(const expr *e, kernel_operation *out) {
    expr *const *o = e->call.operands;
    switch (e->call.abi) {
    case TL_FN_tl_tensor_add:
    case TL_FN_tl_tensor_add_scalar:
        *out = (kernel_operation){IR_ADD, o[0], o[1]};
        return true;
    case TL_FN_tl_tensor_sub:
    case TL_FN_tl_tensor_sub_scalar:
        *out = (kernel_operation){IR_SUB, o[0], o[1]};
        return true;
    case TL_FN_tl_tensor_mul:
    case TL_FN_tl_tensor_mul_scalar:
        *out = (kernel_operation){IR_MUL, o[0], o[1]};
        return true;
    case TL_FN_tl_tensor_div:
    case TL_FN_tl_tensor_div_scalar:
        *out = (kernel_operation){IR_DIV, o[0], o[1]};
        return true;
    case TL_FN_tl_tensor_rsub_scalar:
        *out = (kernel_operation){IR_SUB, o[1], o[0]};
        return true;
    case TL_FN_tl_tensor_rdiv_scalar:
        *out = (kernel_operation){IR_DIV, o[1], o[0]};
        return true;
    case TL_FN_tl_tensor_neg:
        *out = (kernel_operation){IR_NEG, NULL, o[0]};
        return true;
    default:
        return false;
    }
}

/* On tensors only of floating-point numbers: with others the runtime's rules for mixed types would have to be
 * repeated here. */
bool kernel_is_operation(const expr *e, kernel_operation *out) {
    if (e->kind == EXPR_CALL && e->call.kind == CALL_ABI && e->type->kind == TYPE_TENSOR)
        return (kernel_type(e->type) == IR_F32 || kernel_type(e->type) == IR_F64) && is_tensor_operation(e, out);
    if (e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG) {
        *out = (kernel_operation){IR_NEG, NULL, e->unary.operand};
        return true;
    }
    if (e->kind != EXPR_BINARY || e->binary.op == BINARY_AND || e->binary.op == BINARY_OR)
        return false;
    *out = (kernel_operation){lower_binary_opcode(e), e->binary.left, e->binary.right};
    return true;
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

typedef struct search {
    const lower_kernel *lk;
    bool found;
} search;

static bool is_inside(const expr *e, void *inside) {
    return e->kind == EXPR_NAME && e->name.binding && ((const bool *)inside)[e->name.binding->id];
}

bool kernel_mentions_inside(const lower_kernel *lk, const expr *e) {
    return expr_any(e, is_inside, lk->inside);
}

static void find_danger(expr *e, void *context) {
    search *s = context;
    kernel_read read;
    bool divides = e->kind == EXPR_BINARY && (e->binary.op == BINARY_DIV || e->binary.op == BINARY_REM) &&
                   type_is_integer(e->type);
    if (divides || kernel_is_read(s->lk, e, &read))
        s->found = true;
    if (!s->found && !kernel_is_hoisted(s->lk, e))
        expr_each_child(e, find_danger, s);
}

bool kernel_is_safe(const lower_kernel *lk, const expr *e) {
    search s = {.lk = lk};
    find_danger((expr *)e, &s);
    return !s.found;
}

/* ---- accepting --------------------------------------------------------------------------------------------------- */

static bool accepts(lower_kernel *lk, const expr *e);

static bool accepts_let(lower_kernel *lk, const stmt *s) {
    if (s->kind != STMT_LET || !s->value || !accepts(lk, s->value))
        return false;
    if (s->pattern->kind == PATTERN_WILDCARD)
        return true;
    if (s->pattern->kind != PATTERN_NAME || s->pattern->binding->is_written || !is_value_type(s->pattern->type))
        return false;
    lk->inside[s->pattern->binding->id] = true;
    return true;
}

static bool accepts_block(lower_kernel *lk, const block *b) {
    for (const stmt *s = b->first; s; s = s->next)
        if (!accepts_let(lk, s))
            return false;
    return b->result && accepts(lk, b->result);
}

static bool accepts_call(lower_kernel *lk, const expr *e) {
    if (kernel_is_hoisted(lk, e))
        return true;
    if (kernel_is_item(e))
        return accepts(lk, e->call.operands[0]);
    if (e->call.kind != CALL_MATH || !math_row_of(e->call.math)->slope)
        return false;
    for (uint32_t i = 0; i < e->call.operand_count; i++)
        if (!accepts(lk, e->call.operands[i]))
            return false;
    return true;
}

static bool accepts_read(lower_kernel *lk, const kernel_read *r) {
    for (uint32_t i = 0; i < r->count; i++)
        if (!accepts(lk, r->indices[i]))
            return false;
    return true;
}

static bool accepts_name(lower_kernel *lk, const expr *e) {
    ir_variable leaf;
    if (e->kind == EXPR_NAME && e->name.constant)
        return accepts(lk, e->name.constant->value);
    if (e->kind == EXPR_NAME && lk->inside[e->name.binding->id])
        return true;
    return kernel_outer_leaf(lk, e, &leaf);
}

static bool accepts(lower_kernel *lk, const expr *e) {
    kernel_read read;
    kernel_operation o;
    if (kernel_is_read(lk, e, &read))
        return accepts_read(lk, &read);
    if (kernel_is_operation(e, &o))
        return (!o.a || accepts(lk, o.a)) && accepts(lk, o.b);
    if (!is_value_type(e->type))
        return false;
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_BOOL:
        return true;
    case EXPR_NAME:
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return accepts_name(lk, e);
    case EXPR_UNARY:
        return accepts(lk, e->unary.operand);
    case EXPR_BINARY:
        return accepts(lk, e->binary.left) && accepts(lk, e->binary.right);
    case EXPR_CAST:
        return accepts(lk, e->cast.operand);
    case EXPR_CALL:
        return accepts_call(lk, e);
    case EXPR_BLOCK:
        return accepts_block(lk, e->block);
    case EXPR_IF:
        return accepts(lk, e->branch.condition) && accepts_block(lk, e->branch.then) && e->branch.otherwise &&
               accepts(lk, e->branch.otherwise);
    default:
        return false;
    }
}

/* Bounds are evaluated outside, once, and may be anything. */
bool kernel_accepts(lower_kernel *lk) {
    for (uint32_t i = 0; i < lk->c->clause_count; i++)
        if (lk->c->clauses[i].index)
            lk->inside[lk->c->clauses[i].index->id] = true;
    for (uint32_t i = 0; i < lk->c->clause_count; i++) {
        const comprehension_clause *clause = &lk->c->clauses[i];
        if (!clause->index && !accepts(lk, clause->condition))
            return false;
    }
    return accepts(lk, lk->c->body);
}
