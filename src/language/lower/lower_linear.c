/* lower_linear.c: index expressions as constant + sum of factor * index. */
#include "language/lower/lower_kernel.h"

enum { FACTOR_MAX = 1 << 16 };
#define CONSTANT_MAX ((int64_t)1 << 40)

/* ---- making ------------------------------------------------------------------------------------------------------ */

static bool add_term(linear *form, const binding *index, const expr *invariant, int64_t factor) {
    for (uint32_t i = 0; index && i < form->count; i++) {
        if (form->terms[i].index == index) {
            form->terms[i].factor += factor;
            return true;
        }
    }
    if (form->count == LINEAR_TERMS_MAX)
        return false;
    form->terms[form->count++] = (linear_term){index, invariant, factor};
    return true;
}

static bool small_literal(const expr *e, int64_t *out) {
    if (e->kind == EXPR_NAME && e->name.constant)
        return small_literal(e->name.constant->value, out);
    if (e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG && small_literal(e->unary.operand, out)) {
        *out = -*out;
        return true;
    }
    if (e->kind != EXPR_INT)
        return false;
    *out = (int64_t)e->integer.value;
    return *out >= -CONSTANT_MAX && *out <= CONSTANT_MAX;
}

static bool add_product(const lower_kernel *lk, const expr *a, const expr *b, int64_t factor, linear *form) {
    int64_t n;
    if (small_literal(b, &n) && n >= -FACTOR_MAX && n <= FACTOR_MAX)
        return linear_of(lk, a, factor * n, form);
    if (small_literal(a, &n) && n >= -FACTOR_MAX && n <= FACTOR_MAX)
        return linear_of(lk, b, factor * n, form);
    return false;
}

static bool add_parts(const lower_kernel *lk, const expr *e, int64_t factor, linear *form) {
    if (e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG)
        return linear_of(lk, e->unary.operand, -factor, form);
    if (e->kind != EXPR_BINARY)
        return false;
    switch (e->binary.op) {
    case BINARY_ADD:
        return linear_of(lk, e->binary.left, factor, form) && linear_of(lk, e->binary.right, factor, form);
    case BINARY_SUB:
        return linear_of(lk, e->binary.left, factor, form) && linear_of(lk, e->binary.right, -factor, form);
    case BINARY_MUL:
        return add_product(lk, e->binary.left, e->binary.right, factor, form);
    default:
        return false;
    }
}

bool linear_of(const lower_kernel *lk, const expr *e, int64_t factor, linear *form) {
    int64_t n;
    if (e->type->kind != TYPE_I64 || factor < -FACTOR_MAX || factor > FACTOR_MAX)
        return false;
    if (small_literal(e, &n)) {
        form->constant += factor * n;
        return form->constant >= -CONSTANT_MAX * FACTOR_MAX && form->constant <= CONSTANT_MAX * FACTOR_MAX;
    }
    if (e->kind == EXPR_NAME && e->name.binding && lk->inside[e->name.binding->id])
        return e->name.binding->kind == BINDING_INDEX && add_term(form, e->name.binding, NULL, factor);
    if (kernel_mentions_inside(lk, e))
        return add_parts(lk, e, factor, form);
    return kernel_is_safe(lk, e) && add_term(form, NULL, e, factor);
}

const linear_term *linear_find(const linear *form, const binding *index) {
    for (uint32_t i = 0; i < form->count; i++)
        if (form->terms[i].index == index)
            return &form->terms[i];
    return NULL;
}

linear linear_without(const linear *form, const binding *index, int64_t factor) {
    linear rest = {.constant = form->constant * factor};
    for (uint32_t i = 0; i < form->count; i++) {
        linear_term term = form->terms[i];
        if (index && term.index == index)
            continue;
        term.factor *= factor;
        rest.terms[rest.count++] = term;
    }
    return rest;
}

/* ---- using ------------------------------------------------------------------------------------------------------- */

static ir_value times(lower_fn *fn, ir_value v, int64_t factor, source_span span) {
    return factor == 1 ? v : lower_op2(fn, IR_MUL, IR_I64, v, lower_int(fn, IR_I64, factor, span), span);
}

ir_value linear_value(kernel_fn *kf, const linear *form, source_span span) {
    lower_fn *fn = &kf->fn;
    ir_value sum = 0;
    for (uint32_t i = 0; i < form->count; i++) {
        const linear_term *t = &form->terms[i];
        if (t->factor == 0)
            continue;
        ir_value v = t->index ? ir_read(fn->b, fn->variables[t->index->id], span) : kernel_value(kf, t->invariant);
        v = times(fn, v, t->factor, span);
        sum = sum ? lower_op2(fn, IR_ADD, IR_I64, sum, v, span) : v;
    }
    if (!sum || form->constant != 0) {
        ir_value constant = lower_int(fn, IR_I64, form->constant, span);
        sum = sum ? lower_op2(fn, IR_ADD, IR_I64, sum, constant, span) : constant;
    }
    return sum;
}

bool kernel_read_is_affine(const lower_kernel *lk, const kernel_read *r, linear forms[TL_MAX_RANK]) {
    for (uint32_t d = 0; d < r->count; d++) {
        forms[d] = (linear){0};
        if (!linear_of(lk, r->indices[d], 1, &forms[d]))
            return false;
    }
    return true;
}
