/* lower_comprehension.c: comprehensions as ordinary loops, for bodies that a kernel cannot hold.
 *
 *     result = zeros(shape); for each index …: if conditions { result[outputs] += body }
 *
 * Such a result has no history. So that no gradient is lost in silence, captured tensors that track gradients are
 * refused at run time, when the elements are floating-point numbers.
 */
#include "language/lower/lower_kernel.h"

typedef struct plain_loops {
    const expr *e;
    const comprehension_expr *c;
    ir_value *lows, *highs;
    ir_variable result;
    uint32_t clause; /* the next to be written */
} plain_loops;

/* ---- captured tensors -------------------------------------------------------------------------------------------- */

typedef struct capture_search {
    lower_fn *fn;
    const comprehension_expr *c;
} capture_search;

static const binding *root_of(const expr *e) {
    while (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD)
        e = e->field.base;
    return e->kind == EXPR_NAME ? e->name.binding : NULL;
}

static void refuse_tracked(expr *e, void *context) {
    capture_search *s = context;
    const binding *root = e->type && e->type->kind == TYPE_TENSOR ? root_of(e) : NULL;
    for (uint32_t i = 0; root && i < s->c->capture_count; i++) {
        if (s->c->captures[i] != root)
            continue;
        ir_value t = lower_scalar(s->fn, e);
        lower_abi(s->fn, TL_FN_tl_tensor_require_untracked, &t, 1, e->span);
    }
    if (!root)
        expr_each_child(e, refuse_tracked, context);
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

static void write_clauses(lower_fn *fn, plain_loops *p);

static void write_element(lower_fn *fn, plain_loops *p) {
    source_span span = p->c->body->span;
    ir_type element = lower_dtype_type(lower_element_dtype(p->e->type));
    ir_value v = lower_convert(fn, lower_scalar(fn, p->c->body), element, span);
    ir_value *indices = lower_room(fn, p->c->output_count);
    if (!indices || !lower_open(fn))
        return;
    for (uint32_t i = 0; i < p->c->output_count; i++) {
        uint32_t k = 0;
        while (p->c->clauses[k].index != p->c->outputs[i])
            k++;
        ir_value now = ir_read(fn->b, fn->variables[p->c->outputs[i]->id], span);
        indices[i] = lower_op2(fn, IR_SUB, IR_I64, now, p->lows[k], span);
    }
    ir_value result = ir_read(fn->b, p->result, span);
    const element_read place = {p->e->type->tensor.element, indices, p->c->output_count, false};
    ir_value old = lower_element_get(fn, result, p->e->type, &place, span);
    ir_value sum = lower_op2(fn, element == IR_BOOL ? IR_OR : IR_ADD, element, old, v, span);
    result = lower_element_set(fn, result, p->e->type, sum, &place, span);
    if (lower_open(fn))
        ir_write(fn->b, p->result, result);
}

static void index_body(lower_fn *fn, ir_value i, void *context) {
    plain_loops *p = context;
    uint32_t mark = lower_scope_open(fn);
    lower_bind(fn, p->c->clauses[p->clause - 1].index, &i);
    write_clauses(fn, p);
    lower_scope_close(fn, mark, p->c->body->span);
}

static void write_clauses(lower_fn *fn, plain_loops *p) {
    if (p->clause == p->c->clause_count) {
        write_element(fn, p);
        return;
    }
    const comprehension_clause *clause = &p->c->clauses[p->clause++];
    if (clause->index) {
        lower_count(fn, p->lows[p->clause - 1], p->highs[p->clause - 1], clause->span, index_body, p);
    } else {
        ir_block *inside = lower_block_new(fn), *after = lower_block_new(fn);
        lower_condition(fn, clause->condition, inside, after);
        lower_enter_block(fn, inside);
        write_clauses(fn, p);
        lower_jump(fn, after, clause->span);
        lower_enter_block(fn, after);
    }
    p->clause--;
}

static void find_bounds(lower_fn *fn, plain_loops *p) {
    for (uint32_t i = 0; i < p->c->clause_count; i++) {
        const comprehension_clause *clause = &p->c->clauses[i];
        if (!clause->index)
            continue;
        p->lows[i] = lower_scalar(fn, clause->low);
        p->highs[i] = lower_scalar(fn, clause->high);
        if (clause->inclusive)
            p->highs[i] = lower_op2(fn, IR_ADD, IR_I64, p->highs[i], lower_int(fn, IR_I64, 1, clause->span),
                                    clause->span);
    }
}

static ir_value empty_result(lower_fn *fn, const plain_loops *p, tl_dtype dtype) {
    ir_value *shape = kernel_shape(fn, p->c, p->lows, p->highs), *args = lower_room(fn, p->c->output_count + 1);
    if (!shape || !args)
        return 0;
    for (uint32_t i = 0; i < p->c->output_count; i++)
        args[i] = shape[i];
    args[p->c->output_count] = lower_int(fn, IR_BOOL, false, p->e->span);
    ir_value t = lower_abi(fn, TL_FN_tl_tensor_zeros, args, p->c->output_count + 1, p->e->span);
    if (dtype == TL_F32)
        return t;
    ir_value wanted = lower_int(fn, IR_I64, dtype, p->e->span);
    return lower_abi(fn, TL_FN_tl_tensor_to_dtype, (ir_value[]){t, wanted}, 2, p->e->span);
}

void lower_comprehension(lower_fn *fn, const expr *e, ir_value *out) {
    if (lower_as_kernel(fn, e, out))
        return;
    plain_loops p = {.e = e, .c = e->comprehension};
    tl_dtype dtype = lower_element_dtype(e->type);
    p.lows = lower_room(fn, p.c->clause_count);
    p.highs = lower_room(fn, p.c->clause_count);
    if (!p.lows || !p.highs)
        return;
    find_bounds(fn, &p);
    capture_search captures = {fn, p.c};
    if (dtype == TL_F32 || dtype == TL_F64)
        refuse_tracked((expr *)e, &captures);
    ir_value result = empty_result(fn, &p, dtype);
    if (!lower_open(fn))
        return;
    p.result = ir_variable_new(fn->b, IR_TENSOR, NULL, e->span);
    ir_write(fn->b, p.result, result);
    write_clauses(fn, &p);
    if (lower_open(fn))
        *out = ir_read(fn->b, p.result, e->span);
}
