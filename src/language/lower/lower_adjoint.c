/* lower_adjoint.c: the derivative of a comprehension's body, written as code.
 *
 * adjoint(e, seed) adds seed * de/dx into the gradient of every captured element x that e reads:
 *
 *     a * b        adjoint(a, seed * b), adjoint(b, seed * a)
 *     let t = e1; e2     seed of t starts at 0, adjoint(e2, seed) adds to it, then adjoint(e1, seed of t)
 *     if c { a } else { b }     the branch that was taken
 *     t[i, j]      gradient of t at (i, j) += seed
 *
 * Only parts that depend on captured floating-point elements are followed; values are computed again where a rule
 * needs them, and those that turn out not to be needed are dropped afterwards (lower_kernel.c).
 */
#include "language/lower/lower_kernel.h"

/* ---- what depends on elements ------------------------------------------------------------------------------------ */

static bool any_operand_is_active(const kernel_fn *kf, const expr *e) {
    bool follows = e->call.kind == CALL_MATH || kernel_is_item(e);
    for (uint32_t i = 0; follows && i < e->call.operand_count; i++)
        if (kernel_is_active(kf, e->call.operands[i]))
            return true;
    return false;
}

/* A `let` counts when it has an adjoint: it was met before and found active. */
static bool block_is_active(const kernel_fn *kf, const block *b) {
    for (const stmt *s = b->first; s; s = s->next)
        if (kernel_is_active(kf, s->value))
            return true;
    return kernel_is_active(kf, b->result);
}

bool kernel_is_active(const kernel_fn *kf, const expr *e) {
    kernel_read read;
    kernel_operation o;
    if (kernel_type(e->type) != IR_F32 && kernel_type(e->type) != IR_F64)
        return false;
    if (kernel_is_read(kf->lk, e, &read))
        return read.dtype == TL_F32 || read.dtype == TL_F64;
    if (kernel_is_operation(e, &o))
        return (o.a && kernel_is_active(kf, o.a)) || kernel_is_active(kf, o.b);
    switch (e->kind) {
    case EXPR_NAME:
        return e->name.binding && kf->lk->inside[e->name.binding->id] && kf->adjoints[e->name.binding->id];
    case EXPR_CAST:
        return kernel_is_active(kf, e->cast.operand);
    case EXPR_CALL:
        return any_operand_is_active(kf, e);
    case EXPR_BLOCK:
        return block_is_active(kf, e->block);
    case EXPR_IF:
        return block_is_active(kf, e->branch.then) || kernel_is_active(kf, e->branch.otherwise);
    default:
        return false;
    }
}

/* ---- small words ------------------------------------------------------------------------------------------------- */

typedef struct rule { /* one expression and the seed that arrives at it */
    kernel_fn *kf;
    const expr *e;
    ir_value seed;
    ir_type type;
} rule;

static ir_value op2(const rule *r, ir_opcode op, ir_value a, ir_value b) {
    return lower_op2(&r->kf->fn, op, r->type, a, b, r->e->span);
}

static ir_value number(const rule *r, double v) {
    return kernel_float(r->kf, r->type, v, r->e->span);
}

static ir_value negated(const rule *r, ir_value v) {
    return lower_op1(&r->kf->fn, IR_NEG, r->type, v, r->e->span);
}

static ir_value value_of(const rule *r, const expr *e) {
    return kernel_value_as(r->kf, e, r->type);
}

/* 1 where a op b holds, else 0. */
static ir_value where(const rule *r, ir_opcode op, ir_value a, ir_value b) {
    ir_value holds = lower_op2(&r->kf->fn, op, IR_BOOL, a, b, r->e->span);
    return lower_convert(&r->kf->fn, holds, r->type, r->e->span);
}

static void follow(const rule *r, const expr *e, ir_value seed) {
    if (kernel_is_active(r->kf, e))
        kernel_adjoint(r->kf, e, seed);
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static void through_product(const rule *r, const expr *a, const expr *b) {
    if (kernel_is_active(r->kf, a))
        kernel_adjoint(r->kf, a, op2(r, IR_MUL, r->seed, value_of(r, b)));
    if (kernel_is_active(r->kf, b))
        kernel_adjoint(r->kf, b, op2(r, IR_MUL, r->seed, value_of(r, a)));
}

static void through_quotient(const rule *r, const expr *a, const expr *b) {
    ir_value divisor = value_of(r, b), part = op2(r, IR_DIV, r->seed, divisor);
    follow(r, a, part);
    if (kernel_is_active(r->kf, b))
        kernel_adjoint(r->kf, b, negated(r, op2(r, IR_MUL, part, op2(r, IR_DIV, value_of(r, a), divisor))));
}

/* a % b = a - b * trunc(a / b), and the truncated quotient is constant between its jumps. */
static void through_remainder(const rule *r, const expr *a, const expr *b) {
    follow(r, a, r->seed);
    if (!kernel_is_active(r->kf, b))
        return;
    ir_value dividend = value_of(r, a), divisor = value_of(r, b);
    ir_value whole = op2(r, IR_SUB, dividend, op2(r, IR_REM, dividend, divisor));
    kernel_adjoint(r->kf, b, negated(r, op2(r, IR_MUL, r->seed, op2(r, IR_DIV, whole, divisor))));
}

static void through_operation(const rule *r, const kernel_operation *o) {
    switch (o->op) {
    case IR_NEG:
        follow(r, o->b, negated(r, r->seed));
        break;
    case IR_ADD:
        follow(r, o->a, r->seed);
        follow(r, o->b, r->seed);
        break;
    case IR_SUB:
        follow(r, o->a, r->seed);
        if (kernel_is_active(r->kf, o->b))
            kernel_adjoint(r->kf, o->b, negated(r, r->seed));
        break;
    case IR_MUL:
        through_product(r, o->a, o->b);
        break;
    case IR_DIV:
        through_quotient(r, o->a, o->b);
        break;
    case IR_REM:
        through_remainder(r, o->a, o->b);
        break;
    default:
        break;
    }
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* d pow(a, b): b * a^(b-1) towards a, 0 where b is 0; a^b * log a towards b, 0 where a is not positive. */
static void through_power(const rule *r, const expr *a, const expr *b) {
    kernel_fn *kf = r->kf;
    ir_value base = value_of(r, a), exponent = value_of(r, b);
    if (kernel_is_active(kf, a)) {
        ir_value less = op2(r, IR_ADD, op2(r, IR_SUB, exponent, number(r, 1)), where(r, IR_EQ, exponent, number(r, 0)));
        ir_value lower = kernel_math(kf, MATH_POW, base, less, r->e->span);
        kernel_adjoint(kf, a, op2(r, IR_MUL, r->seed, op2(r, IR_MUL, exponent, lower)));
    }
    if (!kernel_is_active(kf, b))
        return;
    lower_fn *fn = &kf->fn;
    ir_block *positive = lower_block_new(fn), *after = lower_block_new(fn);
    ir_value c = lower_op2(fn, IR_GT, IR_BOOL, base, number(r, 0), r->e->span);
    lower_branch(fn, c, positive, after, r->e->span);
    lower_enter_block(fn, positive);
    ir_value power = kernel_math(kf, MATH_POW, base, exponent, r->e->span);
    ir_value slope = op2(r, IR_MUL, power, kernel_math(kf, MATH_LOG, base, 0, r->e->span));
    kernel_adjoint(kf, b, op2(r, IR_MUL, r->seed, slope));
    lower_jump(fn, after, r->e->span);
    lower_enter_block(fn, after);
}

/* The smaller (or larger) of two takes the seed; equal ones take half each. */
static void through_choice(const rule *r, const expr *a, const expr *b, ir_opcode chosen) {
    ir_value va = value_of(r, a), vb = value_of(r, b);
    ir_value half = op2(r, IR_MUL, number(r, 0.5), where(r, IR_EQ, va, vb));
    if (kernel_is_active(r->kf, a))
        kernel_adjoint(r->kf, a, op2(r, IR_MUL, r->seed, op2(r, IR_ADD, half, where(r, chosen, va, vb))));
    if (kernel_is_active(r->kf, b))
        kernel_adjoint(r->kf, b, op2(r, IR_MUL, r->seed, op2(r, IR_ADD, half, where(r, chosen, vb, va))));
}

/* The derivative of a function of one number, at x. 0: it is zero everywhere. */
static ir_value slope(const rule *r, scalar_math math, ir_value x) {
    source_span span = r->e->span;
    ir_value y;
    switch (math) {
    case MATH_SQRT:
        return op2(r, IR_DIV, number(r, 0.5), kernel_math(r->kf, MATH_SQRT, x, 0, span));
    case MATH_EXP:
        return kernel_math(r->kf, MATH_EXP, x, 0, span);
    case MATH_LOG:
        return op2(r, IR_DIV, number(r, 1), x);
    case MATH_SIN:
        return kernel_math(r->kf, MATH_COS, x, 0, span);
    case MATH_COS:
        return negated(r, kernel_math(r->kf, MATH_SIN, x, 0, span));
    case MATH_TANH:
        y = kernel_math(r->kf, MATH_TANH, x, 0, span);
        return op2(r, IR_SUB, number(r, 1), op2(r, IR_MUL, y, y));
    case MATH_ABS:
        return op2(r, IR_SUB, where(r, IR_GT, x, number(r, 0)), where(r, IR_LT, x, number(r, 0)));
    default:
        return 0;
    }
}

static void through_math(const rule *r) {
    expr *const *operands = r->e->call.operands;
    scalar_math math = r->e->call.math;
    if (math == MATH_POW) {
        through_power(r, operands[0], operands[1]);
    } else if (math == MATH_MIN || math == MATH_MAX) {
        through_choice(r, operands[0], operands[1], math == MATH_MIN ? IR_LT : IR_GT);
    } else if (math != MATH_FLOOR && math != MATH_CEIL) {
        ir_value x = value_of(r, operands[0]);
        kernel_adjoint(r->kf, operands[0], op2(r, IR_MUL, r->seed, slope(r, math, x)));
    }
}

/* ---- blocks and branches ----------------------------------------------------------------------------------------- */

static const binding *local_of(const stmt *s) {
    return s->pattern->kind == PATTERN_NAME ? s->pattern->binding : NULL;
}

/* Statements from the last to the first; blocks are short, so the list is walked by recursion. */
static void lets_in_reverse(kernel_fn *kf, const stmt *s) {
    if (!s)
        return;
    lets_in_reverse(kf, s->next);
    const binding *local = local_of(s);
    if (local && kf->adjoints[local->id])
        kernel_adjoint(kf, s->value, ir_read(kf->fn.b, kf->adjoints[local->id] - 1, s->span));
}

static void through_block(kernel_fn *kf, const block *b, ir_value seed) {
    lower_fn *fn = &kf->fn;
    for (const stmt *s = b->first; s; s = s->next) {
        const binding *local = local_of(s);
        if (!local)
            continue;
        ir_type type = kernel_type(local->type);
        bool active = kernel_is_active(kf, s->value);
        fn->variables[local->id] = ir_variable_new(fn->b, type, local->name, local->span);
        ir_write(fn->b, fn->variables[local->id], kernel_value(kf, s->value));
        kf->adjoints[local->id] = active ? 1 + ir_variable_new(fn->b, type, NULL, local->span) : 0;
        if (active)
            ir_write(fn->b, kf->adjoints[local->id] - 1, kernel_float(kf, type, 0, local->span));
    }
    if (kernel_is_active(kf, b->result))
        kernel_adjoint(kf, b->result, seed);
    lets_in_reverse(kf, b->first);
}

static void through_if(const rule *r) {
    lower_fn *fn = &r->kf->fn;
    ir_block *yes = lower_block_new(fn), *no = lower_block_new(fn), *after = lower_block_new(fn);
    lower_branch(fn, kernel_value(r->kf, r->e->branch.condition), yes, no, r->e->span);
    lower_enter_block(fn, yes);
    through_block(r->kf, r->e->branch.then, r->seed);
    lower_jump(fn, after, r->e->span);
    lower_enter_block(fn, no);
    follow(r, r->e->branch.otherwise, r->seed);
    lower_jump(fn, after, r->e->span);
    lower_enter_block(fn, after);
}

static void through_let(const rule *r) {
    ir_builder *b = r->kf->fn.b;
    ir_variable adjoint = r->kf->adjoints[r->e->name.binding->id] - 1;
    ir_write(b, adjoint, op2(r, IR_ADD, ir_read(b, adjoint, r->e->span), r->seed));
}

static void into_element(const rule *r, const kernel_read *read) {
    lower_fn *fn = &r->kf->fn;
    ir_value *indices = kernel_indices(r->kf, read), *args = lower_room(fn, read->count + 1);
    uint32_t capture = kernel_capture_of(r->kf->lk, read, r->e->span);
    if (!indices || !args || !lower_open(fn))
        return;
    ir_type element = lower_dtype_type(read->dtype);
    args[0] = lower_convert(fn, r->seed, element, r->e->span);
    for (uint32_t i = 0; i < read->count; i++)
        args[1 + i] = indices[i];
    ir_instr *add = ir_emit(fn->b, IR_KERNEL_GRAD_ADD, args, read->count + 1, NULL, 0, r->e->span);
    if (!add)
        return;
    add->imm.i = capture;
    add->site = kernel_read_site(r->kf, read, r->e->span);
}

void kernel_adjoint(kernel_fn *kf, const expr *e, ir_value seed) {
    if (!lower_open(&kf->fn) || !seed || !kernel_is_active(kf, e))
        return;
    rule r = {.kf = kf, .e = e, .type = kernel_type(e->type)};
    r.seed = lower_convert(&kf->fn, seed, r.type, e->span);
    kernel_read read;
    kernel_operation o;
    if (kernel_is_read(kf->lk, e, &read))
        into_element(&r, &read);
    else if (kernel_is_operation(e, &o))
        through_operation(&r, &o);
    else if (e->kind == EXPR_NAME)
        through_let(&r);
    else if (e->kind == EXPR_CAST)
        follow(&r, e->cast.operand, r.seed);
    else if (kernel_is_item(e))
        follow(&r, e->call.operands[0], r.seed);
    else if (e->kind == EXPR_CALL)
        through_math(&r);
    else if (e->kind == EXPR_BLOCK)
        through_block(kf, e->block, r.seed);
    else
        through_if(&r);
}
