/* llvm_types.c: IR types, runtime kinds and constants in LLVM's words, and the declarations of runtime functions.
 *
 * A declaration is made from the function's line in abi.def, so that it cannot differ from the C prototype. What
 * LLVM may assume is said once, here:
 *
 *     nounwind                       all: nothing unwinds, a raise jumps
 *     noreturn, cold                 ENDS
 *     willreturn, memory(read)       PURE functions that yield a plain value and cannot fail
 */
#include <string.h>

#include "language/codegen/emit.h"

void codegen_types_init(codegen *cg) {
    cg->none = LLVMVoidTypeInContext(cg->context);
    cg->i1 = LLVMInt1TypeInContext(cg->context);
    cg->i8 = LLVMInt8TypeInContext(cg->context);
    cg->i32 = LLVMInt32TypeInContext(cg->context);
    cg->i64 = LLVMInt64TypeInContext(cg->context);
    cg->f32 = LLVMFloatTypeInContext(cg->context);
    cg->f64 = LLVMDoubleTypeInContext(cg->context);
    cg->ptr = LLVMPointerTypeInContext(cg->context, 0);
}

LLVMTypeRef codegen_type(const codegen *cg, ir_type type) {
    switch (type) {
    case IR_BOOL:
        return cg->i1;
    case IR_I8:
    case IR_U8:
        return cg->i8;
    case IR_I16:
    case IR_U16:
        return LLVMInt16TypeInContext(cg->context);
    case IR_I32:
    case IR_U32:
    case IR_CHAR:
        return cg->i32;
    case IR_I64:
    case IR_U64:
        return cg->i64;
    case IR_F32:
        return cg->f32;
    case IR_F64:
        return cg->f64;
    case IR_ADDRESS:
    case IR_TENSOR:
    case IR_OBJECT:
        return cg->ptr;
    default:
        return cg->none;
    }
}

LLVMTypeRef codegen_dtype(const codegen *cg, tl_dtype dtype) {
    switch (dtype) {
    case TL_F32:
        return cg->f32;
    case TL_F64:
        return cg->f64;
    case TL_I64:
        return cg->i64;
    default:
        return cg->i8;
    }
}

LLVMValueRef codegen_i64(const codegen *cg, int64_t v) {
    return LLVMConstInt(cg->i64, (uint64_t)v, true);
}

/* ---- functions of the program -------------------------------------------------------------------------------- */

LLVMTypeRef codegen_results_type(const codegen *cg, const ir_function *f) {
    LLVMTypeRef *fields = MASU_ARENA_ARRAY(cg->arena, LLVMTypeRef, f->result_count);
    if (!fields)
        return NULL;
    for (uint32_t i = 0; i < f->result_count; i++)
        fields[i] = codegen_type(cg, f->results[i]);
    return LLVMStructTypeInContext(cg->context, fields, f->result_count, false);
}

LLVMTypeRef codegen_function_type(const codegen *cg, const ir_function *f) {
    uint32_t count = 0;
    LLVMTypeRef *params = MASU_ARENA_ARRAY(cg->arena, LLVMTypeRef, f->param_count + 1);
    if (!params)
        return NULL;
    if (f->result_count > 1)
        params[count++] = cg->ptr;
    for (uint32_t i = 0; i < f->param_count; i++)
        params[count++] = codegen_type(cg, ir_type_of(f, f->params[i]));
    LLVMTypeRef result = f->result_count == 1 ? codegen_type(cg, f->results[0]) : cg->none;
    return LLVMFunctionType(result, params, count, false);
}

/* ---- functions of the runtime ---------------------------------------------------------------------------------- */

static LLVMTypeRef kind_type(const codegen *cg, tl_abi_kind kind) {
    switch (kind) {
    case ABI_none:
        return cg->none;
    case ABI_bool:
        return cg->i1;
    case ABI_i32:
        return cg->i32;
    case ABI_i64:
        return cg->i64;
    case ABI_f32:
        return cg->f32;
    case ABI_f64:
        return cg->f64;
    default:
        return cg->ptr;
    }
}

void codegen_add_attribute(const codegen *cg, LLVMValueRef function, LLVMAttributeIndex where, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, where, LLVMCreateEnumAttribute(cg->context, kind, 0));
}

/* memory(read): the attribute's number holds two bits for each kind of place; 1 in each is "reads". */
static void add_reads_only(const codegen *cg, LLVMValueRef function) {
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    enum { READS_ANY_PLACE = 1 | 1 << 2 | 1 << 4 };
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(cg->context, kind, READS_ANY_PLACE));
}

static void add_effects(const codegen *cg, tl_abi_index index, LLVMValueRef function) {
    const tl_abi_function *abi = &tl_abi_functions[index];
    codegen_add_attribute(cg, function, LLVMAttributeFunctionIndex, "nounwind");
    if (abi->effects & ENDS) {
        codegen_add_attribute(cg, function, LLVMAttributeFunctionIndex, "noreturn");
        codegen_add_attribute(cg, function, LLVMAttributeFunctionIndex, "cold");
    }
    if ((abi->effects & PURE) && !(abi->effects & FAILS) && abi->result_mode == TL_VALUE) {
        codegen_add_attribute(cg, function, LLVMAttributeFunctionIndex, "willreturn");
        add_reads_only(cg, function);
    }
}

LLVMValueRef codegen_abi(codegen *cg, tl_abi_index index) {
    if (cg->unit->abi[index])
        return cg->unit->abi[index];
    const tl_abi_function *abi = &tl_abi_functions[index];
    LLVMTypeRef params[TL_ABI_MAX_PARAMETERS + 1]; /* one list at most */
    LLVMAttributeIndex zero_extended[TL_ABI_MAX_PARAMETERS];
    unsigned count = 0, zero_extended_count = 0;
    for (const tl_abi_parameter *p = abi->parameters; p->name; p++) {
        if (p->mode == TL_LIST)
            params[count++] = cg->i64;
        else if (p->kind == ABI_bool)
            zero_extended[zero_extended_count++] = count + 1;
        params[count++] = p->mode == TL_LIST ? cg->ptr : kind_type(cg, p->kind);
    }
    LLVMTypeRef type = LLVMFunctionType(kind_type(cg, abi->result), params, count, false);
    LLVMValueRef function = LLVMAddFunction(cg->unit->llvm, abi->symbol, type);
    if (abi->result == ABI_bool)
        codegen_add_attribute(cg, function, LLVMAttributeReturnIndex, "zeroext");
    for (unsigned i = 0; i < zero_extended_count; i++)
        codegen_add_attribute(cg, function, zero_extended[i], "zeroext");
    add_effects(cg, index, function);
    cg->abi_type[index] = type;
    cg->unit->abi[index] = function;
    return function;
}

/* ---- constant data ---------------------------------------------------------------------------------------------- */

LLVMValueRef codegen_constant(const codegen *cg, const char *name, LLVMValueRef value) {
    LLVMValueRef global = LLVMAddGlobal(cg->unit->llvm, LLVMTypeOf(value), name);
    LLVMSetInitializer(global, value);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(global, true);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    return global;
}

LLVMValueRef codegen_i64_array(codegen *cg, const char *name, const int64_t *values, uint32_t count) {
    if (count == 0)
        return LLVMConstPointerNull(cg->ptr);
    LLVMValueRef *items = MASU_ARENA_ARRAY(cg->arena, LLVMValueRef, count);
    if (!items) {
        cg->out_of_memory = true;
        return LLVMConstPointerNull(cg->ptr);
    }
    for (uint32_t i = 0; i < count; i++)
        items[i] = codegen_i64(cg, values[i]);
    return codegen_constant(cg, name, LLVMConstArray2(cg->i64, items, count));
}

/* ---- facts about memory and branches ---------------------------------------------------------------------------- */

static LLVMValueRef set_metadata(codegen *cg, LLVMValueRef of, const char *kind, LLVMMetadataRef node) {
    LLVMValueRef value = LLVMMetadataAsValue(cg->context, node);
    LLVMSetMetadata(of, LLVMGetMDKindIDInContext(cg->context, kind, (unsigned)strlen(kind)), value);
    return value;
}

static LLVMMetadataRef text_node(codegen *cg, const char *text) {
    return LLVMMDStringInContext2(cg->context, text, strlen(text));
}

/* A type of memory beside all others: they have a root in common, and nothing else. */
static LLVMMetadataRef memory_tag(codegen *cg, unsigned memory) {
    const char name[] = {'m', (char)('a' + memory), '\0'};
    LLVMMetadataRef zero = LLVMValueAsMetadata(codegen_i64(cg, 0)), root[] = {text_node(cg, "masu")};
    LLVMMetadataRef type[] = {text_node(cg, name), LLVMMDNodeInContext2(cg->context, root, 1), zero};
    LLVMMetadataRef node = LLVMMDNodeInContext2(cg->context, type, 3);
    return LLVMMDNodeInContext2(cg->context, (LLVMMetadataRef[]){node, node, zero}, 3);
}

LLVMValueRef emit_tag(emit *e, LLVMValueRef access, unsigned memory) {
    codegen *cg = e->cg;
    MASU_DEBUG_ASSERT(memory < EMIT_MEMORY_COUNT);
    if (!cg->tags[memory])
        cg->tags[memory] = set_metadata(cg, access, "tbaa", memory_tag(cg, memory));
    else
        LLVMSetMetadata(access, LLVMGetMDKindIDInContext(cg->context, "tbaa", 4), cg->tags[memory]);
    return access;
}

void emit_likely(emit *e, LLVMValueRef branch) {
    codegen *cg = e->cg;
    LLVMMetadataRef weights[] = {text_node(cg, "branch_weights"),
                                 LLVMValueAsMetadata(LLVMConstInt(cg->i32, 2000, false)),
                                 LLVMValueAsMetadata(LLVMConstInt(cg->i32, 1, false))};
    set_metadata(cg, branch, "prof", LLVMMDNodeInContext2(cg->context, weights, 3));
}

LLVMValueRef emit_length_load(emit *e, LLVMValueRef load) {
    codegen *cg = e->cg;
    LLVMMetadataRef range[] = {LLVMValueAsMetadata(codegen_i64(cg, 0)),
                               LLVMValueAsMetadata(codegen_i64(cg, INT64_MIN))};
    set_metadata(cg, load, "range", LLVMMDNodeInContext2(cg->context, range, 2));
    return load;
}
