/* fold.c: what can be computed now is computed now.
 *
 * Constants of plain types, branches on them, blocks that are then unreachable, parameters of
 * blocks that are then superfluous, plain operations whose result is not used. An instruction
 * that folds turns into IR_CONST in place, so no use has to be rewritten.
 *
 * The program must print the same with this pass and without it. So: integers wrap at their
 * width; division and remainder are left alone when they might raise or overflow; shifts by more
 * than the width, casts to bool and functions whose last bit depends on the library are left to
 * run time.
 */
#include <math.h>

#include "language/ir/edit.h"
#include "language/pass/pass.h"

/* ---- numbers --------------------------------------------------------------------------------- */

/* The value of the low bits of v, as the type reads them. */
static int64_t wrap(ir_type t, int64_t v) {
    unsigned bits = t == IR_CHAR ? 32 : ir_type_bits(t);
    if (bits >= 64)
        return v;
    uint64_t low = (uint64_t)v & ((UINT64_C(1) << bits) - 1);
    bool negative = ir_type_signed(t) && low >> (bits - 1);
    return negative ? (int64_t)(low | ~((UINT64_C(1) << bits) - 1)) : (int64_t)low;
}

static double round_to(ir_type t, double v) {
    return t == IR_F32 ? (double)(float)v : v;
}

static bool divide(ir_type t, ir_opcode op, int64_t a, int64_t b, int64_t *out) {
    if (b == 0 || (ir_type_signed(t) && b == -1))
        return false; /* raises, or overflows for the smallest number */
    if (ir_type_signed(t))
        *out = op == IR_DIV ? a / b : a % b;
    else
        *out = (int64_t)(op == IR_DIV ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b);
    return true;
}

static bool shift(ir_type t, ir_opcode op, int64_t a, int64_t by, int64_t *out) {
    if (by < 0 || by >= (int64_t)ir_type_bits(t))
        return false;
    if (op == IR_SHL)
        *out = (int64_t)((uint64_t)a << by);
    else
        *out = ir_type_signed(t) ? a >> by : (int64_t)((uint64_t)a >> by);
    return true;
}

static bool fold_integers(ir_type t, ir_opcode op, int64_t a, int64_t b, int64_t *out) {
    switch (op) {
    case IR_ADD:
        *out = (int64_t)((uint64_t)a + (uint64_t)b);
        return true;
    case IR_SUB:
        *out = (int64_t)((uint64_t)a - (uint64_t)b);
        return true;
    case IR_SUB_LENGTH:
        *out = (int64_t)((uint64_t)a - (uint64_t)b);
        return (uint64_t)a >= (uint64_t)b;
    case IR_MUL:
        *out = (int64_t)((uint64_t)a * (uint64_t)b);
        return true;
    case IR_DIV:
    case IR_REM:
        return divide(t, op, a, b, out);
    case IR_AND:
        *out = a & b;
        return true;
    case IR_OR:
        *out = a | b;
        return true;
    case IR_XOR:
        *out = a ^ b;
        return true;
    case IR_SHL:
    case IR_SHR:
        return shift(t, op, a, b, out);
    default:
        return false;
    }
}

static bool fold_floats(ir_type t, ir_opcode op, double a, double b, double *out) {
    switch (op) { /* f32: the exact result of two f32 rounds to f64 and then to f32 as it would at once */
    case IR_ADD:
        *out = round_to(t, a + b);
        return true;
    case IR_SUB:
        *out = round_to(t, a - b);
        return true;
    case IR_MUL:
        *out = round_to(t, a * b);
        return true;
    case IR_DIV:
        *out = round_to(t, a / b);
        return true;
    case IR_REM:
        *out = fmod(a, b);
        return true;
    default:
        return false;
    }
}

static bool relation_holds(ir_opcode op, bool less, bool equal, bool greater) {
    switch (op) {
    case IR_EQ:
        return equal;
    case IR_NE:
        return !equal;
    case IR_LT:
        return less;
    case IR_LE:
        return less || equal;
    case IR_GT:
        return greater;
    default:
        return greater || equal;
    }
}

static bool compare_integers(ir_type t, ir_opcode op, int64_t a, int64_t b) {
    bool less = ir_type_signed(t) ? a < b : (uint64_t)a < (uint64_t)b;
    return relation_holds(op, less, a == b, !less && a != b);
}

static bool compare_floats(ir_opcode op, double a, double b) {
    return relation_holds(op, a<b, a == b, a> b);
}

/* ---- one instruction ------------------------------------------------------------------------- */

static const ir_instr *constant(const ir_function *f, ir_value v) {
    const ir_instr *def = f->values[v].def;
    return def && def->op == IR_CONST && ir_type_of(f, v) != IR_ADDRESS ? def : NULL;
}

static void become_integer(ir_instr *i, ir_type t, int64_t v) {
    i->op = IR_CONST;
    i->arg_count = 0;
    i->site = 0;
    i->imm.i = wrap(t, v);
}

static void become_float(ir_instr *i, double v) {
    i->op = IR_CONST;
    i->arg_count = 0;
    i->site = 0;
    i->imm.f = v;
}

static bool is_comparison(ir_opcode op) {
    return op >= IR_EQ && op <= IR_GE;
}

static bool fold_binary(ir_function *f, ir_instr *i) {
    const ir_instr *a = constant(f, i->args[0]), *b = constant(f, i->args[1]);
    ir_type t = ir_type_of(f, i->args[0]);
    if (!a || !b)
        return false;
    if (is_comparison(i->op)) {
        bool holds = ir_type_float(t) ? compare_floats(i->op, a->imm.f, b->imm.f)
                                      : compare_integers(t, i->op, wrap(t, a->imm.i), wrap(t, b->imm.i));
        become_integer(i, IR_BOOL, holds);
        return true;
    }
    if (ir_type_float(t)) {
        double result;
        if (!fold_floats(t, i->op, a->imm.f, b->imm.f, &result))
            return false;
        become_float(i, result);
        return true;
    }
    int64_t result;
    if (!fold_integers(t, i->op, wrap(t, a->imm.i), wrap(t, b->imm.i), &result))
        return false;
    become_integer(i, t, result);
    return true;
}

static bool fold_unary(ir_function *f, ir_instr *i) {
    const ir_instr *a = constant(f, i->args[0]);
    ir_type t = ir_type_of(f, i->args[0]);
    if (!a)
        return false;
    if (i->op == IR_NEG && ir_type_float(t))
        become_float(i, -a->imm.f);
    else if (i->op == IR_NEG)
        become_integer(i, t, (int64_t)(0 - (uint64_t)a->imm.i));
    else
        become_integer(i, t, ~a->imm.i);
    return true;
}

/* Saturates, as Rust does; NaN is zero. */
static int64_t float_to_integer(ir_type t, double v) {
    unsigned bits = ir_type_bits(t);
    bool is_signed = ir_type_signed(t);
    double low = is_signed ? -ldexp(1, (int)bits - 1) : 0, high = ldexp(1, (int)bits - is_signed);
    if (isnan(v))
        return 0;
    if (v <= low)
        return is_signed ? (int64_t)(UINT64_MAX << (bits - 1)) : 0;
    if (v >= high)
        return (int64_t)(is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits));
    return is_signed ? (int64_t)v : (int64_t)(uint64_t)v;
}

static double integer_to_float(ir_type from, ir_type to, int64_t v) {
    bool is_unsigned = !ir_type_signed(from);
    if (to == IR_F32)
        return is_unsigned ? (double)(float)(uint64_t)v : (double)(float)v;
    return is_unsigned ? (double)(uint64_t)v : (double)v;
}

static bool fold_cast(ir_function *f, ir_instr *i) {
    const ir_instr *a = constant(f, i->args[0]);
    ir_type from = ir_type_of(f, i->args[0]), to = ir_type_of(f, i->result);
    if (!a || to == IR_BOOL || to == IR_ADDRESS || (to == IR_CHAR && ir_type_float(from)))
        return false;
    if (ir_type_float(from) && ir_type_float(to))
        become_float(i, round_to(to, a->imm.f));
    else if (ir_type_float(from))
        become_integer(i, to, float_to_integer(to, a->imm.f));
    else if (ir_type_float(to))
        become_float(i, integer_to_float(from, to, wrap(from, a->imm.i)));
    else
        become_integer(i, to, wrap(from, a->imm.i));
    return true;
}

/* Only what every library computes to the same bit. */
static bool fold_math(ir_function *f, ir_instr *i) {
    const ir_instr *a = constant(f, i->args[0]);
    ir_type t = ir_type_of(f, i->result);
    if (!a)
        return false;
    switch (i->imm.math) {
    case MATH_SQRT:
        become_float(i, t == IR_F32 ? (double)sqrtf((float)a->imm.f) : sqrt(a->imm.f));
        return true;
    case MATH_ABS:
        become_float(i, fabs(a->imm.f));
        return true;
    case MATH_FLOOR:
        become_float(i, floor(a->imm.f));
        return true;
    case MATH_CEIL:
        become_float(i, ceil(a->imm.f));
        return true;
    default:
        return false;
    }
}

static bool fold_instr(ir_function *f, ir_instr *i) {
    switch (i->op) {
    case IR_ADD:
    case IR_SUB:
    case IR_SUB_LENGTH:
    case IR_MUL:
    case IR_DIV:
    case IR_REM:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_SHL:
    case IR_SHR:
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
        return fold_binary(f, i);
    case IR_NEG:
    case IR_NOT:
        return fold_unary(f, i);
    case IR_CAST:
        return fold_cast(f, i);
    case IR_MATH:
        return fold_math(f, i);
    default:
        return false;
    }
}

/* ---- branches -------------------------------------------------------------------------------- */

static bool fold_branch(ir_function *f, ir_block *b) {
    ir_instr *branch = b->last;
    int64_t condition;
    if (branch->op != IR_BRANCH || !ir_const_int(f, branch->args[0], &condition))
        return false;
    ir_target taken = branch->target[condition ? 0 : 1];
    ir_instr *jump = ir_instr_new(f, IR_JUMP, NULL, 0, NULL, 0, branch->span);
    if (!jump)
        return false;
    ir_remove(branch);
    ir_append(b, jump);
    ir_set_target(jump, 0, taken.block, taken.args, taken.count);
    return true;
}

/* ---- results without a use ------------------------------------------------------------------ */

static bool is_idle(const ir_function *f, const ir_instr *i) {
    if (i->op == IR_ABI)
        return i->result_count == 1 && tl_abi_functions[i->abi].effects == PURE;
    return i->result_count == 1 && i->op <= IR_MATH && !ir_may_raise(i) && !ir_type_managed(ir_type_of(f, i->result));
}

/* Uses mostly follow definitions in the order of blocks, so one scan backwards finds nearly all. */
static void remove_idle(ir_function *f) {
    masu__arena scratch = {0};
    uint32_t *uses = MASU_ARENA_ARRAY(&scratch, uint32_t, f->value_count);
    if (!uses) {
        f->module->out_of_memory = true;
        return;
    }
    ir_count_uses(f, uses);
    for (uint32_t b = f->block_count; b-- > 0;) {
        for (ir_instr *i = f->blocks[b]->last, *before; i; i = before) {
            before = i->prev;
            if (!is_idle(f, i) || uses[i->result] > 0)
                continue;
            for (uint32_t a = 0; a < i->arg_count; a++)
                uses[i->args[a]]--;
            ir_remove(i);
        }
    }
    masu__arena_destroy(&scratch);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool fold_once(ir_function *f) {
    bool changed = false;
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (ir_instr *i = f->blocks[b]->first; i; i = i->next)
            changed |= fold_instr(f, i);
        changed |= fold_branch(f, f->blocks[b]);
    }
    ir_remove_unreachable_blocks(f);
    changed |= ir_simplify_params(f);
    return changed;
}

void pass_fold(ir_module *m, pass_context *context) {
    (void)context;
    for (uint32_t f = 0; f < m->function_count; f++) {
        while (!m->out_of_memory && fold_once(m->functions[f]))
            ;
        ir_merge_chains(m->functions[f]);
        remove_idle(m->functions[f]);
    }
}
