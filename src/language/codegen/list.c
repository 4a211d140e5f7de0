/* list.c: elements of lists of numbers, read and written without a call.
 *
 *     get(v, i)      i < v.length ─ yes ─► words = v.words[i * width …]
 *                        └─ no ─► tl_vec_get raises
 *     get_in(v, …)   the same for each vector on the path
 *     set(v, i, x)   i < v.length and v.count = 1 ─ yes ─► v.words[i * width …] = x
 *                        └─ no ─► tl_vec_set raises, or writes into a copy ─► …
 *     len(v)         v.length; of nothing 0
 *     ref_index(i, length, width)   i < length ─ yes ─► i * width
 *                        └─ no ─► tl_ref_index raises
 *
 * Only for records without words that own (asserted where one is written): those are counted, and the audit follows
 * them. What must stay true: the ways that call leave what the runtime's functions would leave, and the record of a way
 * that is not taken has an address that only this function knows, so that LLVM keeps its words in registers.
 */
#include "language/codegen/emit.h"

/* ---- which ------------------------------------------------------------------------------------------------------- */

static uint32_t record_at(const ir_instr *i) {
    return i->abi == TL_FN_tl_vec_get_in ? 1 : 2;
}

static const ir_instr *record_of(const ir_function *f, const ir_instr *i) {
    return f->values[i->args[record_at(i)]].def;
}

/* A word that owns is read once, before anything that may raise. */
static bool reads_numbers(const ir_function *f, const ir_instr *get) {
    const ir_instr *record = record_of(f, get);
    if (!record || record->op != IR_RECORD_EMPTY || record->imm.i == 0)
        return false;
    for (const ir_instr *i = get->next; i && !ir_may_raise(i); i = i->next)
        if (i->op == IR_RECORD_WORD && i->args[0] == record->result && ir_type_managed(ir_type_of(f, i->result)))
            return false;
    return true;
}

static bool writes_numbers(const ir_function *f, const ir_instr *set) {
    const ir_instr *record = record_of(f, set);
    if (!record || record->op != IR_RECORD || record->arg_count == 0)
        return false;
    for (uint32_t k = 0; k < record->arg_count; k++)
        if (ir_type_managed(ir_type_of(f, record->args[k])))
            return false;
    return true;
}

bool emit_is_list_access(const ir_function *f, const ir_instr *i) {
    if (i->op != IR_ABI)
        return false;
    switch ((int)i->abi) {
    case TL_FN_tl_vec_len:
    case TL_FN_tl_ref_index:
        return true;
    case TL_FN_tl_vec_get:
    case TL_FN_tl_vec_get_in:
        return reads_numbers(f, i);
    case TL_FN_tl_vec_set:
        return writes_numbers(f, i);
    default:
        return false;
    }
}

/* ---- how --------------------------------------------------------------------------------------------------------- */

static LLVMValueRef field(emit *e, LLVMTypeRef type, LLVMValueRef v, int64_t at) {
    return LLVMBuildLoad2(e->cg->builder, type, emit_offset(e, v, at), "");
}

static LLVMValueRef is_inside(emit *e, LLVMValueRef v, LLVMValueRef index) {
    return LLVMBuildICmp(e->cg->builder, LLVMIntULT, index, field(e, e->cg->i64, v, TL_VECTOR_LENGTH_AT), "");
}

static LLVMValueRef element(emit *e, LLVMValueRef v, LLVMValueRef index, LLVMValueRef words) {
    codegen *cg = e->cg;
    LLVMValueRef first = field(e, cg->ptr, v, TL_VECTOR_WORDS_AT), at = LLVMBuildMul(cg->builder, index, words, "");
    return LLVMBuildInBoundsGEP2(cg->builder, cg->i64, first, &at, 1, "");
}

static void copy_word(emit *e, LLVMValueRef to, LLVMValueRef from, int64_t word) {
    LLVMBuildStore(e->cg->builder, field(e, e->cg->i64, from, 8 * word), emit_offset(e, to, 8 * word));
}

/* Goes on where the index is one of v's. */
static void need_inside(emit *e, LLVMValueRef v, LLVMValueRef index, LLVMBasicBlockRef outside) {
    LLVMBasicBlockRef inside = emit_new_block(e, "");
    LLVMBuildCondBr(e->cg->builder, is_inside(e, v, index), inside, outside);
    LLVMPositionBuilderAtEnd(e->cg->builder, inside);
}

/* The runtime finds the index that is out of range again, and says so. */
static void raise_outside(emit *e, const ir_instr *i, LLVMBasicBlockRef outside) {
    codegen *cg = e->cg;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
    LLVMValueRef *args = MASU_ARENA_ARRAY(cg->arena, LLVMValueRef, i->arg_count);
    if (!args) {
        cg->out_of_memory = true;
        return;
    }
    for (uint32_t k = 0; k < i->arg_count; k++)
        args[k] = k == record_at(i) && i->abi != TL_FN_tl_ref_index ? LLVMConstPointerNull(cg->ptr) : emit_arg(e, i, k);
    LLVMPositionBuilderAtEnd(cg->builder, outside);
    emit_site(e, i);
    emit_abi_call(e, i->abi, args, i->arg_count);
    LLVMBuildUnreachable(cg->builder);
    LLVMPositionBuilderAtEnd(cg->builder, here);
}

/* The vector that word `word` of element `index` of v is. */
static LLVMValueRef vector_in(emit *e, LLVMValueRef v, LLVMValueRef index, LLVMValueRef words, LLVMValueRef word) {
    LLVMValueRef at = element(e, v, index, words);
    at = LLVMBuildInBoundsGEP2(e->cg->builder, e->cg->i64, at, &word, 1, "");
    return LLVMBuildLoad2(e->cg->builder, e->cg->ptr, at, "");
}

static void get(emit *e, const ir_instr *i) {
    MASU_DEBUG_ASSERT(reads_numbers(e->f, i));
    LLVMBasicBlockRef outside = emit_new_block(e, "outside");
    int64_t words = record_of(e->f, i)->imm.i;
    LLVMValueRef v = emit_arg(e, i, 0), record = emit_arg(e, i, record_at(i));
    uint32_t k = i->abi == TL_FN_tl_vec_get ? 1 : 2;
    need_inside(e, v, emit_arg(e, i, k), outside);
    for (; i->abi == TL_FN_tl_vec_get_in && k + 1 < i->arg_count; k += 3) {
        v = vector_in(e, v, emit_arg(e, i, k), emit_arg(e, i, k + 1), emit_arg(e, i, k + 2));
        need_inside(e, v, emit_arg(e, i, k + 3), outside);
    }
    raise_outside(e, i, outside);
    LLVMValueRef from = element(e, v, emit_arg(e, i, k), codegen_i64(e->cg, words));
    for (int64_t w = 0; w < words; w++)
        copy_word(e, record, from, w);
}

static LLVMValueRef set_by_call(emit *e, const ir_instr *i, LLVMValueRef record, int64_t words) {
    MASU_DEBUG_ASSERT(writes_numbers(e->f, i));
    LLVMValueRef copy = emit_room(e, LLVMArrayType2(e->cg->i64, (uint64_t)words), "record");
    for (int64_t k = 0; k < words; k++)
        copy_word(e, copy, record, k);
    emit_site(e, i);
    return emit_abi_call(e, i->abi, (LLVMValueRef[]){emit_arg(e, i, 0), emit_arg(e, i, 1), copy}, 3);
}

static void set(emit *e, const ir_instr *i) {
    codegen *cg = e->cg;
    LLVMBuilderRef builder = cg->builder;
    LLVMValueRef v = emit_arg(e, i, 0), index = emit_arg(e, i, 1), record = emit_arg(e, i, 2);
    int64_t words = record_of(e->f, i)->arg_count;
    LLVMBasicBlockRef call = emit_new_block(e, "call"), alone = emit_new_block(e, ""), go_on = emit_new_block(e, "");
    LLVMValueRef single = LLVMBuildICmp(builder, LLVMIntEQ, field(e, cg->i32, v, TL_OBJECT_COUNT_AT),
                                        LLVMConstInt(cg->i32, 1, false), "");
    LLVMBuildCondBr(builder, LLVMBuildAnd(builder, single, is_inside(e, v, index), ""), alone, call);
    LLVMPositionBuilderAtEnd(builder, call);
    LLVMValueRef results[] = {set_by_call(e, i, record, words), v};
    LLVMBuildBr(builder, go_on);
    LLVMPositionBuilderAtEnd(builder, alone);
    LLVMValueRef to = element(e, v, index, codegen_i64(cg, words));
    for (int64_t k = 0; k < words; k++)
        copy_word(e, to, record, k);
    LLVMBuildBr(builder, go_on);
    LLVMPositionBuilderAtEnd(builder, go_on);
    e->values[i->result] = LLVMBuildPhi(builder, cg->ptr, "");
    LLVMAddIncoming(e->values[i->result], results, (LLVMBasicBlockRef[]){call, alone}, 2);
}

static void len(emit *e, const ir_instr *i) {
    codegen *cg = e->cg;
    LLVMBuilderRef builder = cg->builder;
    LLVMValueRef v = emit_arg(e, i, 0);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(builder), there = emit_new_block(e, ""), go_on = emit_new_block(e, "");
    LLVMBuildCondBr(builder, LLVMBuildIsNull(builder, v, ""), go_on, there);
    LLVMPositionBuilderAtEnd(builder, there);
    LLVMValueRef lengths[] = {codegen_i64(cg, 0), field(e, cg->i64, v, TL_VECTOR_LENGTH_AT)};
    LLVMBuildBr(builder, go_on);
    LLVMPositionBuilderAtEnd(builder, go_on);
    e->values[i->result] = LLVMBuildPhi(builder, cg->i64, "");
    LLVMAddIncoming(e->values[i->result], lengths, (LLVMBasicBlockRef[]){from, there}, 2);
}

/* Where an element of a part begins. */
static void place(emit *e, const ir_instr *i) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMBasicBlockRef outside = emit_new_block(e, "outside"), inside = emit_new_block(e, "");
    LLVMValueRef index = emit_arg(e, i, 0);
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntULT, index, emit_arg(e, i, 1), ""), inside, outside);
    LLVMPositionBuilderAtEnd(builder, inside);
    raise_outside(e, i, outside);
    e->values[i->result] = LLVMBuildMul(builder, index, emit_arg(e, i, 2), "");
}

bool emit_list_access(emit *e, const ir_instr *i) {
    if (!emit_is_list_access(e->f, i))
        return false;
    if (i->abi == TL_FN_tl_vec_len)
        len(e, i);
    else if (i->abi == TL_FN_tl_vec_set)
        set(e, i);
    else if (i->abi == TL_FN_tl_ref_index)
        place(e, i);
    else
        get(e, i);
    return true;
}
