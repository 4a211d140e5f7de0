/* lower_kernel_range.c: ranges of indices, how conditions cut them, and the proof that lets the fast nest run.
 *
 * The proof is one bool computed in front of the loops. It holds when no bound and no invariant term comes near the end
 * of the integers (BOUND_MAX: then sums of a few of them cannot wrap), and the least and greatest value of each index
 * expression, its indices running through their ranges, lies within the tensor it indexes.
 */
#include "language/lower/lower_kernel.h"

#define BOUND_MAX ((int64_t)1 << 40)

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

static ir_value add_number(kernel_fn *kf, ir_value v, int64_t n, source_span span) {
    return n == 0 ? v : lower_op2(&kf->fn, IR_ADD, IR_I64, v, lower_int(&kf->fn, IR_I64, n, span), span);
}

static bool is_literal(const expr *e) {
    return e->kind == EXPR_INT;
}

static ir_value bound_value(kernel_fn *kf, const expr *bound) {
    return is_literal(bound) ? kernel_value(kf, bound) : kernel_cell_of_expr(kf, bound);
}

ir_value kernel_low(kernel_fn *kf, const kernel_step *s) {
    return bound_value(kf, s->clause->low);
}

ir_value kernel_high(kernel_fn *kf, const kernel_step *s) {
    return add_number(kf, bound_value(kf, s->clause->high), s->clause->inclusive, s->clause->span);
}

/* min and max without a branch: the fast nest's numbers are far from overflowing. */
static ir_value smaller_or_larger(kernel_fn *kf, ir_value a, ir_value b, bool larger, source_span span) {
    lower_fn *fn = &kf->fn;
    ir_value d = lower_op2(fn, IR_SUB, IR_I64, a, b, span);
    ir_value sign = lower_op2(fn, IR_SHR, IR_I64, d, lower_int(fn, IR_I64, 63, span), span);
    ir_value negative_part = lower_op2(fn, IR_AND, IR_I64, d, sign, span);
    return larger ? lower_op2(fn, IR_SUB, IR_I64, a, negative_part, span)
                  : lower_op2(fn, IR_ADD, IR_I64, b, negative_part, span);
}

/* form >= minimum, where form = factor * index + rest and factor is 1 or -1: minimum - rest <= index, index <= rest -
 * minimum */
static void cut_below(kernel_fn *kf, kernel_bounds *r, const linear *form, const binding *index, ir_value minimum,
                      source_span span) {
    lower_fn *fn = &kf->fn;
    bool rising = linear_find(form, index)->factor == 1;
    linear rest_form = linear_without(form, index, 1);
    ir_value rest = linear_value(kf, &rest_form, span);
    if (rising) {
        ir_value least = lower_op2(fn, IR_SUB, IR_I64, minimum, rest, span);
        r->low = smaller_or_larger(kf, r->low, least, true, span);
    } else {
        ir_value end = add_number(kf, lower_op2(fn, IR_SUB, IR_I64, rest, minimum, span), 1, span);
        r->high = smaller_or_larger(kf, r->high, end, false, span);
    }
}

/* form < maximum is -form >= 1 - maximum. */
static void cut_above(kernel_fn *kf, kernel_bounds *r, const linear *form, const binding *index, ir_value maximum,
                      source_span span) {
    linear opposite = linear_without(form, NULL, -1);
    ir_value minimum = lower_op1(&kf->fn, IR_NEG, IR_I64, add_number(kf, maximum, -1, span), span);
    cut_below(kf, r, &opposite, index, minimum, span);
}

static bool only_index(const linear *form, const binding *index) {
    for (uint32_t i = 0; i < form->count; i++)
        if (form->terms[i].index && form->terms[i].index != index && form->terms[i].factor != 0)
            return false;
    return true;
}

kernel_bounds kernel_range(kernel_fn *kf, uint32_t k, bool inside) {
    const lower_kernel *lk = kf->lk;
    const kernel_step *loop = &lk->steps[k];
    const binding *index = loop->clause->index;
    kernel_bounds r = {kernel_low(kf, loop), kernel_high(kf, loop)};
    for (uint32_t j = k + 1; j < lk->step_count; j++) {
        const kernel_step *s = &lk->steps[j];
        if (s->cuts != k + 1 || (!inside && !only_index(&s->form, index)))
            continue;
        source_span span = loop->clause->span;
        if (s->kind == STEP_TEST) {
            cut_below(kf, &r, &s->form, index, lower_int(&kf->fn, IR_I64, 0, span), span);
        } else {
            cut_below(kf, &r, &s->form, index, kernel_low(kf, s), span);
            cut_above(kf, &r, &s->form, index, kernel_high(kf, s), span);
        }
    }
    return r;
}

/* ---- whether the fast nest may run ------------------------------------------------------------------------------- */

typedef struct proof {
    kernel_fn *kf;
    ir_value all; /* 0: nothing to prove */
} proof;

static void demand(proof *p, ir_value holds, source_span span) {
    p->all = p->all ? lower_op2(&p->kf->fn, IR_AND, IR_BOOL, p->all, holds, span) : holds;
}

/* -BOUND_MAX <= v < BOUND_MAX, by one comparison without sign. */
static void demand_small(proof *p, ir_value v, source_span span) {
    lower_fn *fn = &p->kf->fn;
    ir_value moved = lower_convert(fn, add_number(p->kf, v, BOUND_MAX, span), IR_U64, span);
    demand(p, lower_op2(fn, IR_LT, IR_BOOL, moved, lower_int(fn, IR_U64, 2 * BOUND_MAX, span), span), span);
}

static void demand_small_bound(proof *p, ir_value v, const expr *bound) {
    if (!is_literal(bound) || bound->integer.value >= (uint64_t)BOUND_MAX)
        demand_small(p, v, bound->span);
}

static void demand_small_terms(proof *p, const linear *form, source_span span) {
    for (uint32_t i = 0; i < form->count; i++)
        if (!form->terms[i].index)
            demand_small(p, kernel_value(p->kf, form->terms[i].invariant), span);
}

/* The least (or greatest) value of the form while its indices run through their ranges. */
static ir_value extreme(kernel_fn *kf, const linear *form, bool greatest, source_span span) {
    lower_fn *fn = &kf->fn;
    linear rest = {.constant = form->constant};
    ir_value sum = 0;
    for (uint32_t i = 0; i < form->count; i++) {
        const linear_term *t = &form->terms[i];
        if (!t->index || t->factor == 0) {
            if (!t->index)
                rest.terms[rest.count++] = *t;
            continue;
        }
        kernel_bounds r = kernel_range(kf, kernel_step_of(kf->lk, t->index), false);
        ir_value end = (t->factor > 0) == greatest ? add_number(kf, r.high, -1, span) : r.low;
        if (t->factor != 1)
            end = lower_op2(fn, IR_MUL, IR_I64, end, lower_int(fn, IR_I64, t->factor, span), span);
        sum = sum ? lower_op2(fn, IR_ADD, IR_I64, sum, end, span) : end;
    }
    if (sum && rest.count == 0)
        return add_number(kf, sum, rest.constant, span);
    ir_value tail = linear_value(kf, &rest, span);
    return sum ? lower_op2(fn, IR_ADD, IR_I64, sum, tail, span) : tail;
}

static void demand_read(proof *p, const expr *e, const kernel_read *r, const linear forms[TL_MAX_RANK]) {
    lower_fn *fn = &p->kf->fn;
    uint32_t capture = kernel_capture_of(p->kf->lk, r, e->span);
    for (uint32_t d = 0; d < r->count; d++) {
        demand_small_terms(p, &forms[d], e->span);
        ir_value dim = lower_int(fn, IR_I64, d, e->span);
        ir_value extent = lower_op1(fn, IR_KERNEL_EXTENT, IR_I64, dim, e->span);
        if (!extent)
            return;
        fn->f->values[extent].def->imm.i = capture;
        ir_value least = extreme(p->kf, &forms[d], false, e->span);
        ir_value greatest = extreme(p->kf, &forms[d], true, e->span);
        demand(p, lower_op2(fn, IR_GE, IR_BOOL, least, lower_int(fn, IR_I64, 0, e->span), e->span), e->span);
        demand(p, lower_op2(fn, IR_LT, IR_BOOL, greatest, extent, e->span), e->span);
    }
}

static void demand_reads(expr *e, void *context) {
    proof *p = context;
    kernel_read read;
    linear forms[TL_MAX_RANK];
    if (kernel_is_read(p->kf->lk, e, &read) && read.count > 0 && kernel_read_is_affine(p->kf->lk, &read, forms))
        demand_read(p, e, &read, forms);
    if (!kernel_is_hoisted(p->kf->lk, e))
        expr_each_child(e, demand_reads, p);
}

ir_value kernel_prove(kernel_fn *kf) {
    proof p = {.kf = kf};
    const lower_kernel *lk = kf->lk;
    bool cuts = false;
    demand_reads(lk->c->body, &p);
    for (uint32_t k = 0; k < lk->step_count; k++) {
        const kernel_step *s = &lk->steps[k];
        if (s->kind == STEP_TEST)
            demand_reads((expr *)s->condition, &p);
        if (s->cuts)
            demand_small_terms(&p, &s->form, s->kind == STEP_TEST ? s->condition->span : s->clause->span);
        cuts |= s->cuts > 0;
    }
    if (!p.all && !cuts)
        return 0;
    if (!p.all) /* cut ranges only, all of them literal */
        p.all = lower_int(&kf->fn, IR_BOOL, 1, lk->e->span);
    for (uint32_t k = 0; k < lk->step_count; k++) {
        const kernel_step *s = &lk->steps[k];
        if (s->kind == STEP_TEST)
            continue;
        demand_small_bound(&p, kernel_low(kf, s), s->clause->low);
        demand_small_bound(&p, kernel_high(kf, s), s->clause->high);
    }
    return p.all;
}
