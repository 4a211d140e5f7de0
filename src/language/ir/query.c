/* query.c: what is asked of types, opcodes and single instructions. No state, nothing allocated. */
#include <inttypes.h>

#include "language/ir/ir.h"

typedef struct type_row {
    const char *name;
    unsigned bits;
} type_row;

static const type_row types[IR_TYPE_COUNT] = {
    [IR_NONE] = {"none", 0},      [IR_BOOL] = {"bool", 1},        [IR_I8] = {"i8", 8},
    [IR_I16] = {"i16", 16},       [IR_I32] = {"i32", 32},         [IR_I64] = {"i64", 64},
    [IR_U8] = {"u8", 8},          [IR_U16] = {"u16", 16},         [IR_U32] = {"u32", 32},
    [IR_U64] = {"u64", 64},       [IR_F32] = {"f32", 32},         [IR_F64] = {"f64", 64},
    [IR_CHAR] = {"char", 32},     [IR_ADDRESS] = {"address", 64}, [IR_TENSOR] = {"tensor", 64},
    [IR_OBJECT] = {"object", 64},
};

unsigned ir_type_bits(ir_type t) {
    return types[t].bits;
}

const char *ir_type_name(ir_type t) {
    return t < IR_TYPE_COUNT ? types[t].name : "?";
}

static const char *const opcode_names[IR_OPCODE_COUNT] = {
    [IR_CONST] = "const",
    [IR_BYTES] = "bytes",
    [IR_NOTHING] = "nothing",
    [IR_ADD] = "add",
    [IR_SUB] = "sub",
    [IR_SUB_LENGTH] = "sub_length",
    [IR_MUL] = "mul",
    [IR_DIV] = "div",
    [IR_REM] = "rem",
    [IR_NEG] = "neg",
    [IR_NOT] = "not",
    [IR_AND] = "and",
    [IR_OR] = "or",
    [IR_XOR] = "xor",
    [IR_SHL] = "shl",
    [IR_SHR] = "shr",
    [IR_EQ] = "eq",
    [IR_NE] = "ne",
    [IR_LT] = "lt",
    [IR_LE] = "le",
    [IR_GT] = "gt",
    [IR_GE] = "ge",
    [IR_CAST] = "cast",
    [IR_MATH] = "math",
    [IR_ABI] = "abi",
    [IR_CALL] = "call",
    [IR_COMPREHEND] = "comprehend",
    [IR_RECORD] = "record",
    [IR_RECORD_EMPTY] = "record_empty",
    [IR_RECORD_WORD] = "record_word",
    [IR_RECORD_TYPE] = "record_type",
    [IR_KEEP] = "keep",
    [IR_ACQUIRE] = "acquire",
    [IR_RELEASE] = "release",
    [IR_ROOT] = "root",
    [IR_UNROOT] = "unroot",
    [IR_KERNEL_CELL] = "kernel_cell",
    [IR_KERNEL_EXTENT] = "kernel_extent",
    [IR_KERNEL_LOAD] = "kernel_load",
    [IR_KERNEL_OUT_ADD] = "kernel_out_add",
    [IR_KERNEL_GRAD_OUT] = "kernel_grad_out",
    [IR_KERNEL_GRAD_ADD] = "kernel_grad_add",
    [IR_JUMP] = "jump",
    [IR_BRANCH] = "branch",
    [IR_RET] = "ret",
    [IR_UNREACHABLE] = "unreachable",
    [IR_KERNEL_CAREFUL] = "kernel_careful",
};

const char *ir_opcode_name(ir_opcode op) {
    return op < IR_OPCODE_COUNT ? opcode_names[op] : "?";
}

bool ir_is_terminator(ir_opcode op) {
    return op >= IR_JUMP && op < IR_OPCODE_COUNT;
}

int ir_target_count(const ir_instr *terminator) {
    return terminator->op == IR_JUMP ? 1 : terminator->op == IR_BRANCH ? 2 : 0;
}

bool ir_const_int(const ir_function *f, ir_value v, int64_t *out) {
    const ir_instr *def = v > 0 && v < f->value_count ? f->values[v].def : NULL;
    ir_type type = def ? f->values[v].type : IR_NONE;
    if (!def || def->op != IR_CONST || (!ir_type_integer(type) && type != IR_BOOL))
        return false;
    *out = def->imm.i;
    return true;
}

/* An integer division by a constant other than zero cannot fail. */
static bool division_may_raise(const ir_instr *i) {
    const ir_function *f = i->block ? i->block->function : NULL;
    if (!f || i->arg_count != 2)
        return true;
    int64_t divisor;
    return !ir_type_float(ir_type_of(f, i->args[1])) && !(ir_const_int(f, i->args[1], &divisor) && divisor != 0);
}

bool ir_may_raise(const ir_instr *i) {
    switch (i->op) {
    case IR_DIV:
    case IR_REM:
        return division_may_raise(i);
    case IR_SUB_LENGTH:
        return true;
    case IR_ABI:
        return tl_abi_functions[i->abi].effects & FAILS;
    case IR_CALL:
    case IR_COMPREHEND:
        return true;
    case IR_ROOT:
        return i->imm.i < 0; /* the registry grows */
    default:
        return false;
    }
}

void ir_count_uses(const ir_function *f, uint32_t *uses) {
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            for (uint32_t a = 0; a < i->arg_count; a++)
                uses[i->args[a]]++;
            for (int t = 0; t < ir_target_count(i); t++)
                for (uint32_t a = 0; a < i->target[t].count; a++)
                    uses[i->target[t].args[a]]++;
        }
    }
}

bool ir_is_panic(const ir_instr *i) {
    return i->op == IR_ABI && (i->abi == TL_FN_tl_panic || i->abi == TL_FN_tl_refuse);
}

const tl_abi_parameter *ir_abi_parameter(const ir_instr *i, uint32_t operand) {
    const tl_abi_parameter *parameters = tl_abi_functions[i->abi].parameters;
    uint32_t count = 0, list = UINT32_MAX;
    for (; count < TL_ABI_MAX_PARAMETERS && parameters[count].name; count++)
        if (parameters[count].mode == TL_LIST)
            list = count;
    if (operand >= i->arg_count)
        return NULL;
    if (list == UINT32_MAX)
        return operand < count ? &parameters[operand] : NULL;
    if (i->arg_count + 1 < count)
        return NULL;
    uint32_t elements = i->arg_count + 1 - count;
    if (operand < list)
        return &parameters[operand];
    if (operand < list + elements)
        return &parameters[list];
    return &parameters[operand - elements + 1];
}

bool ir_consumes(const ir_instr *i, uint32_t index) {
    switch (i->op) {
    case IR_ABI: {
        const tl_abi_parameter *p = ir_abi_parameter(i, index);
        return p && p->mode == TL_OWNED;
    }
    case IR_CALL:
        return i->owned && i->owned[index];
    case IR_RECORD:
    case IR_RELEASE:
    case IR_RET:
        return true;
    default:
        return false;
    }
}

void ir_shape_put(const ir_shape *shape, masu__buffer *out) {
    masu__buffer_putc(out, '[');
    for (uint32_t d = 0; d < shape->rank; d++) {
        masu__buffer_puts(out, d ? ", " : "");
        if (shape->dim[d] >= 0)
            masu__buffer_printf(out, "%" PRId64, shape->dim[d]);
        else
            masu__buffer_puts(out, shape->name && shape->name[d] ? shape->name[d] : "?");
    }
    masu__buffer_putc(out, ']');
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool is_anywhere(const ir_place *place) {
    return place->bytes || place->slot || place->dest;
}

const ir_place *ir_place_of(const ir_function *f, ir_value v) {
    const ir_instr *i = f->values[v].def;
    if (!i || (i->op == IR_CALL && !i->places))
        return NULL;
    const ir_place *place = i->op == IR_CALL ? &i->places[v - i->result] : &i->place;
    return is_anywhere(place) ? place : NULL;
}
