/* arithmetic.c: numbers. What LLVM leaves undefined is defined here, as in Rust's release builds:
 *
 *     integers wrap, MIN / -1 too; division by zero raises (in kernels: faults), and what is less than 0 of usize
 *     shifts take their amount modulo the width
 *     float to integer saturates, NaN becomes 0
 *     comparisons with NaN are false, != is true
 */
#include <stdio.h>
#include <string.h>

#include "language/codegen/emit.h"

bool emit_type_signed(ir_type type) {
    return type >= IR_I8 && type <= IR_I64;
}

bool emit_type_float(ir_type type) {
    return type == IR_F32 || type == IR_F64;
}

LLVMValueRef emit_intrinsic(emit *e, const char *name, LLVMTypeRef *overloads, unsigned overload_count,
                            LLVMValueRef *args, unsigned arg_count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->cg->unit->llvm, id, overloads, overload_count);
    LLVMTypeRef type = LLVMIntrinsicGetType(e->cg->context, id, overloads, overload_count);
    return LLVMBuildCall2(e->cg->builder, type, function, args, arg_count, "");
}

/* ---- division, subtraction of lengths ---------------------------------------------------------------------------- */

static void raise_where(emit *e, const ir_instr *i, LLVMValueRef bad, tl_abi_index error, LLVMValueRef *args,
                        unsigned count) {
    codegen *cg = e->cg;
    LLVMBasicBlockRef raise = emit_new_block(e, "raise"), go_on = emit_new_block(e, "");
    LLVMBuildCondBr(cg->builder, bad, raise, go_on);
    LLVMPositionBuilderAtEnd(cg->builder, raise);
    emit_site(e, i);
    emit_abi_call(e, error, args, count);
    LLVMBuildUnreachable(cg->builder);
    LLVMPositionBuilderAtEnd(cg->builder, go_on);
}

static void refuse_zero(emit *e, const ir_instr *i, LLVMValueRef divisor) {
    codegen *cg = e->cg;
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(divisor));
    LLVMValueRef bad = LLVMBuildICmp(cg->builder, LLVMIntEQ, divisor, zero, "");
    if (e->kernel)
        emit_fault(e, bad, 2, codegen_i64(cg, 0), codegen_i64(cg, 0), i->site);
    else
        raise_where(e, i, bad, TL_FN_tl_raise_divide, NULL, 0);
}

/* a - b of usize: there is nothing below zero. */
static LLVMValueRef subtract_length(emit *e, const ir_instr *i) {
    LLVMValueRef a = emit_arg(e, i, 0), b = emit_arg(e, i, 1);
    LLVMValueRef bad = LLVMBuildICmp(e->cg->builder, LLVMIntULT, a, b, "");
    if (e->kernel)
        emit_fault(e, bad, 3, a, b, i->site);
    else
        raise_where(e, i, bad, TL_FN_tl_raise_below_zero, (LLVMValueRef[]){a, b}, 2);
    return LLVMBuildNUWSub(e->cg->builder, a, b, "");
}

/* x / -1 and x % -1 without the one case that overflows: the division is made by 1 and its result replaced. */
static LLVMValueRef divide_signed(emit *e, const ir_instr *i, LLVMValueRef a, LLVMValueRef b) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef by_minus_one = LLVMBuildICmp(builder, LLVMIntEQ, b, LLVMConstAllOnes(type), "");
    LLVMValueRef divisor = LLVMBuildSelect(builder, by_minus_one, LLVMConstInt(type, 1, false), b, "");
    if (i->op == IR_DIV) {
        LLVMValueRef quotient = LLVMBuildSDiv(builder, a, divisor, "");
        return LLVMBuildSelect(builder, by_minus_one, LLVMBuildNeg(builder, a, ""), quotient, "");
    }
    LLVMValueRef rest = LLVMBuildSRem(builder, a, divisor, "");
    return LLVMBuildSelect(builder, by_minus_one, LLVMConstNull(type), rest, "");
}

static LLVMValueRef divide(emit *e, const ir_instr *i, ir_type type) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMValueRef a = emit_arg(e, i, 0), b = emit_arg(e, i, 1);
    if (emit_type_float(type))
        return i->op == IR_DIV ? LLVMBuildFDiv(builder, a, b, "") : LLVMBuildFRem(builder, a, b, "");
    int64_t known;
    if (!ir_const_int(e->f, i->args[1], &known) || known == 0)
        refuse_zero(e, i, b);
    if (emit_type_signed(type))
        return divide_signed(e, i, a, b);
    return i->op == IR_DIV ? LLVMBuildUDiv(builder, a, b, "") : LLVMBuildURem(builder, a, b, "");
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static LLVMValueRef compare(emit *e, const ir_instr *i) {
    static const LLVMRealPredicate real[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                             LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
    static const LLVMIntPredicate with_sign[] = {LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
    static const LLVMIntPredicate without_sign[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                                    LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
    LLVMValueRef a = emit_arg(e, i, 0), b = emit_arg(e, i, 1);
    ir_type type = emit_arg_type(e, i, 0);
    int which = (int)i->op - IR_EQ;
    if (emit_type_float(type))
        return LLVMBuildFCmp(e->cg->builder, real[which], a, b, "");
    const LLVMIntPredicate *table = emit_type_signed(type) ? with_sign : without_sign;
    return LLVMBuildICmp(e->cg->builder, table[which], a, b, "");
}

/* ---- conversion -------------------------------------------------------------------------------------------------- */

static LLVMValueRef float_to_integer(emit *e, LLVMValueRef v, ir_type to) {
    LLVMTypeRef types[] = {codegen_type(e->cg, to), LLVMTypeOf(v)};
    const char *name = emit_type_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    return emit_intrinsic(e, name, types, 2, &v, 1);
}

static LLVMValueRef convert(emit *e, const ir_instr *i) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMValueRef v = emit_arg(e, i, 0);
    ir_type from = emit_arg_type(e, i, 0), to = emit_result_type(e, i);
    LLVMTypeRef type = codegen_type(e->cg, to);
    if (emit_type_float(from) && emit_type_float(to))
        return LLVMBuildFPCast(builder, v, type, "");
    if (emit_type_float(from))
        return float_to_integer(e, v, to);
    if (emit_type_float(to))
        return emit_type_signed(from) ? LLVMBuildSIToFP(builder, v, type, "") : LLVMBuildUIToFP(builder, v, type, "");
    if (to == IR_BOOL)
        return LLVMBuildICmp(builder, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
    return LLVMBuildIntCast2(builder, v, type, emit_type_signed(from), "");
}

/* ---- functions of one or two floats ------------------------------------------------------------------------------ */

/* A call of <math.h>, which reads and writes nothing. */
static LLVMValueRef call_of_c(const codegen *cg, const char *c, LLVMValueRef *args, uint32_t count) {
    char name[32];
    LLVMTypeRef type = LLVMTypeOf(args[0]), both[] = {type, type};
    LLVMTypeRef function_type = LLVMFunctionType(type, both, count, false);
    snprintf(name, sizeof name, "%s%s", c, type == cg->f32 ? "f" : "");
    LLVMValueRef function = LLVMGetNamedFunction(cg->unit->llvm, name);
    if (!function) {
        function = LLVMAddFunction(cg->unit->llvm, name, function_type);
        codegen_add_attribute(cg, function, LLVMAttributeFunctionIndex, "nounwind");
        codegen_add_attribute(cg, function, LLVMAttributeFunctionIndex, "willreturn");
        codegen_add_attribute(cg, function, LLVMAttributeFunctionIndex, "memory"); /* none */
    }
    return LLVMBuildCall2(cg->builder, function_type, function, args, count, "");
}

static LLVMValueRef math(emit *e, const ir_instr *i) {
    const math_row *row = math_row_of(i->imm.math);
    LLVMValueRef args[2];
    for (uint32_t k = 0; k < i->arg_count; k++)
        args[k] = emit_arg(e, i, k);
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    if (row->llvm[0] == '\0')
        return call_of_c(e->cg, row->c, args, i->arg_count);
    return emit_intrinsic(e, row->llvm, &type, 1, args, i->arg_count);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static LLVMValueRef shift(emit *e, const ir_instr *i, ir_type type) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMValueRef a = emit_arg(e, i, 0), amount = emit_arg(e, i, 1);
    LLVMTypeRef llvm = LLVMTypeOf(a);
    LLVMValueRef mask = LLVMConstInt(llvm, LLVMGetIntTypeWidth(llvm) - 1, false);
    amount = LLVMBuildAnd(builder, amount, mask, "");
    if (i->op == IR_SHL)
        return LLVMBuildShl(builder, a, amount, "");
    return emit_type_signed(type) ? LLVMBuildAShr(builder, a, amount, "") : LLVMBuildLShr(builder, a, amount, "");
}

static LLVMValueRef emit_float_arithmetic(emit *e, const ir_instr *i) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMValueRef a = emit_arg(e, i, 0);
    switch (i->op) {
    case IR_ADD:
        return LLVMBuildFAdd(builder, a, emit_arg(e, i, 1), "");
    case IR_SUB:
        return LLVMBuildFSub(builder, a, emit_arg(e, i, 1), "");
    case IR_MUL:
        return LLVMBuildFMul(builder, a, emit_arg(e, i, 1), "");
    default:
        return LLVMBuildFNeg(builder, a, "");
    }
}

static LLVMValueRef emit_integer_arithmetic(emit *e, const ir_instr *i) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMValueRef a = emit_arg(e, i, 0);
    switch (i->op) {
    case IR_ADD:
        return LLVMBuildAdd(builder, a, emit_arg(e, i, 1), "");
    case IR_SUB:
        return LLVMBuildSub(builder, a, emit_arg(e, i, 1), "");
    case IR_MUL:
        return LLVMBuildMul(builder, a, emit_arg(e, i, 1), "");
    case IR_AND:
        return LLVMBuildAnd(builder, a, emit_arg(e, i, 1), "");
    case IR_OR:
        return LLVMBuildOr(builder, a, emit_arg(e, i, 1), "");
    case IR_XOR:
        return LLVMBuildXor(builder, a, emit_arg(e, i, 1), "");
    case IR_NOT:
        return LLVMBuildNot(builder, a, "");
    default:
        return LLVMBuildNeg(builder, a, "");
    }
}

LLVMValueRef emit_arithmetic(emit *e, const ir_instr *i) {
    ir_type type = emit_result_type(e, i);
    switch (i->op) {
    case IR_DIV:
    case IR_REM:
        return divide(e, i, type);
    case IR_SUB_LENGTH:
        return subtract_length(e, i);
    case IR_SHL:
    case IR_SHR:
        return shift(e, i, type);
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
        return compare(e, i);
    case IR_CAST:
        return convert(e, i);
    case IR_MATH:
        return math(e, i);
    default:
        return emit_type_float(type) ? emit_float_arithmetic(e, i) : emit_integer_arithmetic(e, i);
    }
}
