/* interpret_numbers.c: arithmetic of plain values, as the language defines it. See machine.h. */
#include "machine.h"

#include <math.h>

/* ---- numbers --------------------------------------------------------------------------------------- */

ir_type machine_type_of(const activation *a, const ir_instr *i, uint32_t arg) {
    return ir_type_of(a->f, i->args[arg]);
}

static int64_t cut(ir_type type, int64_t v) {
    switch (type) {
    case IR_BOOL:
        return v != 0;
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

double machine_as_type(ir_type type, double v) {
    return type == IR_F32 ? (double)(float)v : v;
}

static value divide(machine *m, ir_type type, int64_t a, int64_t b, bool rest) {
    if (b == 0)
        naive_fail(&m->n, "division by zero");
    if (ir_type_signed(type) && b == -1)
        return (value){.i = rest ? 0 : cut(type, (int64_t)(0 - (uint64_t)a))};
    if (ir_type_signed(type))
        return (value){.i = rest ? a % b : a / b};
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return (value){.i = (int64_t)(rest ? x % y : x / y)};
}

static value whole(machine *m, const ir_instr *i, ir_type type, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    unsigned bits = ir_type_bits(type);
    uint64_t amount = y & (bits - 1);
    switch (i->op) {
    case IR_ADD:
        return (value){.i = cut(type, (int64_t)(x + y))};
    case IR_SUB:
        return (value){.i = cut(type, (int64_t)(x - y))};
    case IR_SUB_LENGTH:
        if (x < y)
            naive_fail(&m->n, "below zero");
        return (value){.i = (int64_t)(x - y)};
    case IR_MUL:
        return (value){.i = cut(type, (int64_t)(x * y))};
    case IR_NEG:
        return (value){.i = cut(type, (int64_t)(0 - x))};
    case IR_NOT:
        return (value){.i = type == IR_BOOL ? !a : cut(type, (int64_t)~x)};
    case IR_AND:
        return (value){.i = (int64_t)(x & y)};
    case IR_OR:
        return (value){.i = (int64_t)(x | y)};
    case IR_XOR:
        return (value){.i = (int64_t)(x ^ y)};
    case IR_SHL:
        return (value){.i = cut(type, (int64_t)(x << amount))};
    case IR_SHR:
        return (value){.i = ir_type_signed(type) ? a >> amount : (int64_t)(x >> amount)};
    default:
        return divide(m, type, a, b, i->op == IR_REM);
    }
}

/* What a number of a kernel came from; others came from nowhere. */
static value real(machine *m, ir_type type, double v, value a, double slope_a, value b, double slope_b) {
    value r = {.f = machine_as_type(type, v)};
    if (a.c || b.c)
        r.c = naive_made(&m->n, type == IR_F32 ? TL_F32 : TL_F64, v, a.c, slope_a, b.c, slope_b);
    return r;
}

static value real_arithmetic(machine *m, const ir_instr *i, ir_type type, value a, value b) {
    double x = a.f, y = b.f;
    switch (i->op) {
    case IR_ADD:
        return real(m, type, x + y, a, 1, b, 1);
    case IR_SUB:
        return real(m, type, x - y, a, 1, b, -1);
    case IR_MUL:
        return real(m, type, x * y, a, y, b, x);
    case IR_DIV:
        return real(m, type, x / y, a, 1 / y, b, -x / (y * y));
    case IR_REM:
        return real(m, type, fmod(x, y), a, 1, b, -trunc(x / y));
    default:
        return real(m, type, -x, a, -1, b, 0);
    }
}

static value math(machine *m, const ir_instr *i, ir_type type, value a, value b) {
    double x = a.f, y = b.f, v;
    switch (i->imm.math) {
    case MATH_SQRT:
        v = sqrt(x);
        return real(m, type, v, a, 0.5 / v, b, 0);
    case MATH_EXP:
        return real(m, type, exp(x), a, exp(x), b, 0);
    case MATH_LOG:
        return real(m, type, log(x), a, 1 / x, b, 0);
    case MATH_SIN:
        return real(m, type, sin(x), a, cos(x), b, 0);
    case MATH_COS:
        return real(m, type, cos(x), a, -sin(x), b, 0);
    case MATH_TANH:
        v = tanh(x);
        return real(m, type, v, a, 1 - v * v, b, 0);
    case MATH_ABS:
        return real(m, type, fabs(x), a, x < 0 ? -1 : x > 0, b, 0);
    case MATH_FLOOR:
        return real(m, type, floor(x), a, 0, b, 0);
    case MATH_CEIL:
        return real(m, type, ceil(x), a, 0, b, 0);
    case MATH_POW:
        return real(m, type, pow(x, y), a, y * pow(x, y - 1), b, x > 0 ? pow(x, y) * log(x) : 0);
    case MATH_MIN:
        return real(m, type, fmin(x, y), a, x < y, b, x >= y);
    default:
        return real(m, type, fmax(x, y), a, x > y, b, x <= y);
    }
}

static bool compare(const ir_instr *i, ir_type type, value a, value b) {
    bool below, equal;
    if (ir_type_float(type)) {
        if (isnan(a.f) || isnan(b.f))
            return i->op == IR_NE;
        below = a.f < b.f;
        equal = a.f == b.f;
    } else {
        below = ir_type_signed(type) ? a.i < b.i : (uint64_t)a.i < (uint64_t)b.i;
        equal = a.i == b.i;
    }
    switch (i->op) {
    case IR_EQ:
        return equal;
    case IR_NE:
        return !equal;
    case IR_LT:
        return below;
    case IR_LE:
        return below || equal;
    case IR_GT:
        return !below && !equal;
    default:
        return !below;
    }
}

static int64_t saturated(ir_type to, double v) {
    if (isnan(v))
        return 0;
    unsigned bits = ir_type_bits(to);
    double top = ldexp(1, ir_type_signed(to) ? (int)bits - 1 : (int)bits), low = ir_type_signed(to) ? -top : 0;
    if (v <= low)
        return ir_type_signed(to) ? cut(to, (int64_t)(1ull << (bits - 1))) : 0;
    if (v >= top)
        return cut(to, ir_type_signed(to) ? (int64_t)((1ull << (bits - 1)) - 1) : -1);
    return to == IR_U64 ? (int64_t)(uint64_t)v : (int64_t)v;
}

static value convert(machine *m, value v, ir_type from, ir_type to) {
    if (ir_type_float(from) && ir_type_float(to))
        return real(m, to, v.f, v, 1, (value){0}, 0);
    if (ir_type_float(from))
        return (value){.i = to == IR_BOOL ? v.f != 0 : saturated(to, v.f)};
    if (ir_type_float(to))
        return (value){.f = machine_as_type(to, from == IR_U64 ? (double)(uint64_t)v.i : (double)v.i)};
    return (value){.i = cut(to, v.i)};
}

value machine_arithmetic(const activation *a, const ir_instr *i) {
    ir_type type = machine_type_of(a, i, 0), to = ir_type_of(a->f, i->result);
    value x = a->values[i->args[0]], y = i->arg_count > 1 ? a->values[i->args[1]] : (value){0};
    if (i->op == IR_CAST)
        return convert(a->m, x, type, to);
    if (i->op == IR_MATH)
        return math(a->m, i, to, x, y);
    if (i->op >= IR_EQ && i->op <= IR_GE)
        return (value){.i = compare(i, type, x, y)};
    return ir_type_float(to) ? real_arithmetic(a->m, i, to, x, y) : whole(a->m, i, to, x.i, y.i);
}
