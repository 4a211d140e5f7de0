/* facts_number.c: arithmetic on numbers that are known: as codegen/arithmetic.c does it when the program runs. What
 * would raise is not known. */
#include <math.h>

#include "language/portable/portable.h"

static fact any(void) {
    return fact_of(FACT_ANY);
}

/* As it lies in a variable of the type. */
static int64_t wrapped(ir_type type, int64_t v) {
    switch (type) {
    case IR_BOOL:
        return v & 1;
    case IR_I8:
        return (int8_t)v;
    case IR_I16:
        return (int16_t)v;
    case IR_I32:
        return (int32_t)v;
    case IR_U8:
        return (uint8_t)v;
    case IR_U16:
        return (uint16_t)v;
    case IR_U32:
    case IR_CHAR:
        return (uint32_t)v;
    default:
        return v;
    }
}

static fact whole(ir_type type, int64_t v) {
    return (fact){.kind = FACT_NUMBER, .i = wrapped(type, v)};
}

static fact real(ir_type type, double v) {
    return (fact){.kind = FACT_NUMBER, .f = type == IR_F32 ? (double)(float)v : v};
}

static bool is_less(ir_type type, int64_t a, int64_t b) {
    return ir_type_signed(type) ? a < b : (uint64_t)a < (uint64_t)b;
}

static fact compared(ir_opcode op, ir_type type, const fact *a, const fact *b) {
    bool floats = ir_type_float(type);
    bool equal = floats ? a->f == b->f : a->i == b->i;
    bool less = floats ? a->f < b->f : is_less(type, a->i, b->i);
    bool greater = floats ? a->f > b->f : is_less(type, b->i, a->i);
    switch (op) {
    case IR_EQ:
        return whole(IR_BOOL, equal);
    case IR_NE:
        return whole(IR_BOOL, !equal);
    case IR_LT:
        return whole(IR_BOOL, less);
    case IR_LE:
        return whole(IR_BOOL, less || equal);
    case IR_GT:
        return whole(IR_BOOL, greater);
    default:
        return whole(IR_BOOL, greater || equal);
    }
}

static fact divided(ir_opcode op, ir_type type, int64_t a, int64_t b) {
    if (b == 0)
        return any();
    if (!ir_type_signed(type))
        return whole(type, (int64_t)(op == IR_DIV ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b));
    if (b == -1)
        return whole(type, op == IR_DIV ? (int64_t)(0 - (uint64_t)a) : 0);
    return whole(type, op == IR_DIV ? a / b : a % b);
}

static fact whole_of_two(ir_opcode op, ir_type type, int64_t a, int64_t b) {
    unsigned by = (unsigned)b & (ir_type_bits(type) - 1);
    switch (op) {
    case IR_ADD:
        return whole(type, (int64_t)((uint64_t)a + (uint64_t)b));
    case IR_SUB:
        return whole(type, (int64_t)((uint64_t)a - (uint64_t)b));
    case IR_SUB_LENGTH:
        return (uint64_t)a < (uint64_t)b ? any() : whole(type, a - b);
    case IR_MUL:
        return whole(type, (int64_t)((uint64_t)a * (uint64_t)b));
    case IR_DIV:
    case IR_REM:
        return divided(op, type, a, b);
    case IR_AND:
        return whole(type, a & b);
    case IR_OR:
        return whole(type, a | b);
    case IR_XOR:
        return whole(type, a ^ b);
    case IR_SHL:
        return whole(type, (int64_t)((uint64_t)a << by));
    case IR_SHR:
        return whole(type, ir_type_signed(type) ? a >> by : (int64_t)((uint64_t)a >> by));
    default:
        return any();
    }
}

static fact real_of_two(ir_opcode op, ir_type type, double a, double b) {
    bool narrow = type == IR_F32;
    switch (op) {
    case IR_ADD:
        return real(type, narrow ? (double)((float)a + (float)b) : a + b);
    case IR_SUB:
        return real(type, narrow ? (double)((float)a - (float)b) : a - b);
    case IR_MUL:
        return real(type, narrow ? (double)((float)a * (float)b) : a * b);
    case IR_DIV:
        return real(type, narrow ? (double)((float)a / (float)b) : a / b);
    default:
        return any();
    }
}

/* Towards zero, the nearest that the type holds, 0 of NaN. */
static fact whole_of_real(ir_type to, double v) {
    unsigned bits = ir_type_bits(to);
    if (to == IR_BOOL || to == IR_CHAR)
        return any();
    if (v != v)
        return whole(to, 0);
    if (ir_type_signed(to)) {
        double end = ldexp(1, (int)bits - 1);
        return v >= end    ? whole(to, (int64_t)(((uint64_t)1 << (bits - 1)) - 1))
               : v <= -end ? whole(to, (int64_t)(0 - ((uint64_t)1 << (bits - 1))))
                           : whole(to, (int64_t)v);
    }
    double end = ldexp(1, (int)bits);
    return v >= end ? whole(to, -1) : v <= 0 ? whole(to, 0) : whole(to, (int64_t)(uint64_t)v);
}

static fact converted(ir_type from, ir_type to, const fact *a) {
    if (ir_type_float(from))
        return ir_type_float(to) ? real(to, a->f) : whole_of_real(to, a->f);
    if (to == IR_F32)
        return real(to, ir_type_signed(from) ? (float)a->i : (float)(uint64_t)a->i);
    if (to == IR_F64)
        return real(to, ir_type_signed(from) ? (double)a->i : (double)(uint64_t)a->i);
    return whole(to, to == IR_BOOL ? a->i != 0 : a->i);
}

fact portable_number(const ir_function *f, const ir_instr *i, const fact *facts) {
    ir_type type = ir_type_of(f, i->result);
    if (i->op == IR_CONST)
        return ir_type_float(type) ? real(type, i->imm.f) : type == IR_ADDRESS ? any() : whole(type, i->imm.i);
    for (uint32_t k = 0; k < i->arg_count; k++)
        if (facts[i->args[k]].kind != FACT_NUMBER)
            return fact_of(facts[i->args[k]].kind == FACT_UNSET ? FACT_UNSET : FACT_ANY);
    if (i->arg_count == 0 || i->op == IR_MATH)
        return any();
    const fact *a = &facts[i->args[0]], *b = i->arg_count > 1 ? &facts[i->args[1]] : a;
    ir_type from = ir_type_of(f, i->args[0]);
    if (i->op >= IR_EQ && i->op <= IR_GE)
        return compared(i->op, from, a, b);
    if (i->op == IR_CAST)
        return converted(from, type, a);
    if (i->op == IR_NEG)
        return ir_type_float(type) ? real(type, -a->f) : whole(type, (int64_t)(0 - (uint64_t)a->i));
    if (i->op == IR_NOT)
        return whole(type, type == IR_BOOL ? !a->i : ~a->i);
    return ir_type_float(type) ? real_of_two(i->op, type, a->f, b->f) : whole_of_two(i->op, type, a->i, b->i);
}
