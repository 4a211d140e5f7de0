/* lower_kernel_value.c: scalar expressions inside a kernel, and what they need from outside.
 *
 * Captures and cells are entered when first met; their values are read in the outer function at that moment, in front
 * of the comprehension.
 */
#include "language/lower/lower_kernel.h"

/* ---- from outside ------------------------------------------------------------------------------------------------ */

static bool is_capture(const kernel_capture *have, const kernel_capture *wanted) {
    return have->rank == wanted->rank && have->dtype == wanted->dtype && have->is_leaf == wanted->is_leaf &&
           (have->is_leaf ? have->variable == wanted->variable : have->e == wanted->e);
}

uint32_t kernel_capture_of(lower_kernel *lk, const kernel_read *r, source_span span) {
    lower_fn *outer = lk->outer;
    kernel_capture wanted = {.e = r->tensor, .rank = r->count, .dtype = r->dtype};
    wanted.is_leaf = kernel_outer_leaf(lk, r->tensor, &wanted.variable);
    for (uint32_t i = 0; i < lk->capture_count; i++)
        if (is_capture(&lk->captures[i], &wanted))
            return i;
    wanted.outer = wanted.is_leaf ? ir_read(outer->b, wanted.variable, span) : lower_scalar(outer, r->tensor);
    if (r->is_looked_at && lower_open(outer))
        lower_abi(outer, TL_FN_tl_tensor_read_as,
                  (ir_value[]){wanted.outer, lower_int(outer, IR_I64, (int64_t)r->dtype, span)}, 2, span);
    MASU_ARENA_PUSH(outer->l->scratch, lk->captures, lk->capture_count, lk->capture_capacity, wanted,
                    outer->l->m->out_of_memory = true);
    return lk->capture_count > 0 ? lk->capture_count - 1 : 0;
}

static uint32_t find_cell(lower_kernel *lk, kernel_cell wanted, source_span span) {
    lower_fn *outer = lk->outer;
    uint32_t i = 0;
    while (i < lk->cell_count && !(wanted.is_leaf ? lk->cells[i].is_leaf && lk->cells[i].variable == wanted.variable
                                                  : lk->cells[i].e == wanted.e))
        i++;
    if (i == lk->cell_count) {
        wanted.outer = wanted.is_leaf ? ir_read(outer->b, wanted.variable, span) : lower_scalar(outer, wanted.e);
        wanted.type = wanted.outer ? ir_type_of(outer->f, wanted.outer) : IR_I64;
        MASU_ARENA_PUSH(outer->l->scratch, lk->cells, lk->cell_count, lk->cell_capacity, wanted,
                        outer->l->m->out_of_memory = true);
    }
    return i < lk->cell_count ? i : UINT32_MAX;
}

static ir_value cell(kernel_fn *kf, kernel_cell wanted, source_span span) {
    lower_kernel *lk = kf->lk;
    uint32_t i = find_cell(lk, wanted, span);
    if (i == UINT32_MAX)
        return 0;
    ir_value v = lower_op(&kf->fn, IR_KERNEL_CELL, lk->cells[i].type, NULL, 0, span);
    if (v)
        kf->fn.f->values[v].def->imm.i = (int64_t)(lk->c->output_count + i);
    return v;
}

ir_value kernel_outer_bound(lower_kernel *lk, const expr *bound) {
    if (bound->kind == EXPR_INT)
        return lower_scalar(lk->outer, bound);
    uint32_t i = find_cell(lk, (kernel_cell){.e = bound}, bound->span);
    return i == UINT32_MAX ? 0 : lk->cells[i].outer;
}

ir_value kernel_cell_of_expr(kernel_fn *kf, const expr *e) {
    return cell(kf, (kernel_cell){.e = e}, e->span);
}

/* ---- reads ------------------------------------------------------------------------------------------------------- */

ir_value *kernel_indices(kernel_fn *kf, const kernel_read *r) {
    ir_value *indices = lower_room(&kf->fn, r->count);
    for (uint32_t i = 0; indices && i < r->count; i++)
        indices[i] = lower_convert(&kf->fn, kernel_value(kf, r->indices[i]), IR_I64, r->indices[i]->span);
    return indices;
}

uint32_t kernel_read_site(kernel_fn *kf, const kernel_read *r, source_span span) {
    linear forms[TL_MAX_RANK];
    if (r->count == 0 || (kf->fast && kernel_read_is_affine(kf->lk, r, forms)))
        return 0;
    return ir_site_new(kf->fn.l->m, span, kf->fn.name);
}

static ir_value read_value(kernel_fn *kf, const expr *e, const kernel_read *r) {
    ir_value *indices = kernel_indices(kf, r);
    uint32_t capture = kernel_capture_of(kf->lk, r, e->span);
    ir_type element = lower_dtype_type(r->dtype);
    if (!indices)
        return 0;
    ir_value v = lower_op(&kf->fn, IR_KERNEL_LOAD, element, indices, r->count, e->span);
    if (!v)
        return 0;
    ir_instr *load = kf->fn.f->values[v].def;
    load->imm.i = capture;
    load->site = kernel_read_site(kf, r, e->span);
    return lower_convert(&kf->fn, v, kernel_type(e->type), e->span);
}

/* ---- control ----------------------------------------------------------------------------------------------------- */

static void condition(kernel_fn *kf, const expr *e, ir_block *yes, ir_block *no) {
    lower_fn *fn = &kf->fn;
    if (e->kind != EXPR_BINARY || (e->binary.op != BINARY_AND && e->binary.op != BINARY_OR)) {
        lower_branch(fn, kernel_value(kf, e), yes, no, e->span);
        return;
    }
    ir_block *second = lower_block_new(fn);
    if (e->binary.op == BINARY_AND)
        condition(kf, e->binary.left, second, no);
    else
        condition(kf, e->binary.left, yes, second);
    lower_enter_block(fn, second);
    condition(kf, e->binary.right, yes, no);
}

static ir_value block_value(kernel_fn *kf, const block *b) {
    lower_fn *fn = &kf->fn;
    for (const stmt *s = b->first; s; s = s->next) {
        ir_value v = kernel_value(kf, s->value);
        if (s->pattern->kind != PATTERN_NAME)
            continue;
        const binding *local = s->pattern->binding;
        fn->variables[local->id] = ir_variable_new(fn->b, kernel_type(local->type), local->name, local->span);
        ir_write(fn->b, fn->variables[local->id], v);
    }
    return kernel_value(kf, b->result);
}

static ir_value if_value(kernel_fn *kf, const expr *e) {
    lower_fn *fn = &kf->fn;
    ir_block *yes = lower_block_new(fn), *no = lower_block_new(fn), *after = lower_block_new(fn);
    ir_variable result = ir_variable_new(fn->b, kernel_type(e->type), NULL, e->span);
    condition(kf, e->branch.condition, yes, no);
    lower_enter_block(fn, yes);
    ir_write(fn->b, result, block_value(kf, e->branch.then));
    lower_jump(fn, after, e->span);
    lower_enter_block(fn, no);
    ir_write(fn->b, result, kernel_value(kf, e->branch.otherwise));
    lower_jump(fn, after, e->span);
    lower_enter_block(fn, after);
    return ir_read(fn->b, result, e->span);
}

static ir_value logical_value(kernel_fn *kf, const expr *e) {
    lower_fn *fn = &kf->fn;
    ir_block *yes = lower_block_new(fn), *no = lower_block_new(fn), *after = lower_block_new(fn);
    ir_variable result = ir_variable_new(fn->b, IR_BOOL, NULL, e->span);
    condition(kf, e, yes, no);
    for (int truth = 1; truth >= 0; truth--) {
        lower_enter_block(fn, truth ? yes : no);
        ir_write(fn->b, result, lower_int(fn, IR_BOOL, truth, e->span));
        lower_jump(fn, after, e->span);
    }
    lower_enter_block(fn, after);
    return ir_read(fn->b, result, e->span);
}

/* ---- scalars ----------------------------------------------------------------------------------------------------- */

ir_value kernel_float(kernel_fn *kf, ir_type type, double v, source_span span) {
    return lower_open(&kf->fn) ? ir_emit_const_float(kf->fn.b, type, v, span) : 0;
}

ir_value kernel_math(kernel_fn *kf, scalar_math math, ir_value a, ir_value b, source_span span) {
    ir_value args[] = {a, b};
    if (!lower_open(&kf->fn) || !a)
        return 0;
    ir_value v = lower_op(&kf->fn, IR_MATH, ir_type_of(kf->fn.f, a), args, b ? 2 : 1, span);
    if (v)
        kf->fn.f->values[v].def->imm.math = math;
    return v;
}

static ir_value call_value(kernel_fn *kf, const expr *e) {
    if (kernel_is_item(e))
        return kernel_value_as(kf, e->call.operands[0], kernel_type(e->type));
    if (e->call.kind == CALL_ABI)
        return kernel_cell_of_expr(kf, e);
    ir_value a = kernel_value(kf, e->call.operands[0]), b = 0;
    if (e->call.operand_count > 1)
        b = kernel_value(kf, e->call.operands[1]);
    return kernel_math(kf, e->call.math, a, b, e->span);
}

static ir_value name_value(kernel_fn *kf, const expr *e) {
    if (e->kind == EXPR_NAME && e->name.constant)
        return kernel_value(kf, e->name.constant->value);
    if (e->kind == EXPR_NAME && kf->lk->inside[e->name.binding->id])
        return ir_read(kf->fn.b, kf->fn.variables[e->name.binding->id], e->span);
    kernel_cell wanted = {.is_leaf = true};
    kernel_outer_leaf(kf->lk, e, &wanted.variable);
    return cell(kf, wanted, e->span);
}

ir_value kernel_value_as(kernel_fn *kf, const expr *e, ir_type wanted) {
    return lower_convert(&kf->fn, kernel_value(kf, e), wanted, e->span);
}

/* Comparisons yield another type than they work on; elsewhere the two are one. */
static ir_value operation_value(kernel_fn *kf, const expr *e, const kernel_operation *o) {
    ir_type type = kernel_type(e->type), of_operands = e->type->kind == TYPE_TENSOR ? type : kernel_type(o->b->type);
    if (!o->a)
        return lower_op1(&kf->fn, o->op, type, kernel_value_as(kf, o->b, of_operands), e->span);
    ir_value a = kernel_value_as(kf, o->a, of_operands), b = kernel_value_as(kf, o->b, of_operands);
    return lower_op2(&kf->fn, o->op, type, a, b, e->span);
}

ir_value kernel_value(kernel_fn *kf, const expr *e) {
    lower_fn *fn = &kf->fn;
    kernel_read read;
    kernel_operation o;
    if (kernel_is_read(kf->lk, e, &read))
        return read_value(kf, e, &read);
    if (kernel_is_operation(e, &o))
        return operation_value(kf, e, &o);
    switch (e->kind) {
    case EXPR_INT:
        return lower_int(fn, lower_scalar_type(e->type), (int64_t)e->integer.value, e->span);
    case EXPR_FLOAT:
        return kernel_float(kf, lower_scalar_type(e->type), e->floating.value, e->span);
    case EXPR_BOOL:
        return lower_int(fn, IR_BOOL, e->boolean, e->span);
    case EXPR_NAME:
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return name_value(kf, e);
    case EXPR_UNARY:
        return lower_op1(fn, IR_NOT, kernel_type(e->type), kernel_value(kf, e->unary.operand), e->span);
    case EXPR_BINARY:
        return logical_value(kf, e);
    case EXPR_CAST:
        return kernel_value_as(kf, e->cast.operand, kernel_type(e->type));
    case EXPR_CALL:
        return call_value(kf, e);
    case EXPR_BLOCK:
        return block_value(kf, e->block);
    default:
        return if_value(kf, e);
    }
}
