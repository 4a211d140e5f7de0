/* list.c: elements of lists of numbers, read, written and added without a call.
 *
 *     get(v, i)      i < v.length ─ yes ─► words = v.words[i * width …]
 *                        └─ no ─► tl_vec_get raises
 *     at(v, i)       v.words[i * width …], for i is known to be one of v's places
 *     get_in(v, …)   the same for each vector on the path
 *     set(v, i, x)   i < v.length and v.count = 1 ─ yes ─► v.words[i * width …] = x
 *                        └─ no ─► tl_vec_set raises, or writes into a copy ─► …
 *     push(v, x)     v.length < v.capacity and v.count = 1 ─ yes ─► v.words[v.length * width …] = x, one more
 *                        └─ no ─► tl_vec_push makes room ─► …
 *     len(v)         v.length; of nothing 0
 *
 * Only for records without words that own (asserted where one is written): those are counted, and the audit follows
 * them. What must stay true: the ways that call leave what the runtime's functions would leave, and the record of a way
 * that is not taken has an address that only this function knows, so that LLVM keeps its words in registers.
 *
 * A value that is a list keeps its length: what changes that makes another value. So where len(v) is known on every way
 * to a get, the guard asks that number and not memory, and LLVM sees that a loop up to len(v) needs no guard.
 *
 * Fields of a vector's head, numbers, words that own and frames never lie in the same place (emit_tag): what is loaded
 * of a head stays in registers while elements are written.
 */
#include "language/codegen/emit.h"

/* ---- which ------------------------------------------------------------------------------------------------------- */

static uint32_t record_at(const ir_instr *i) {
    return i->abi == TL_FN_tl_vec_get_in || i->abi == TL_FN_tl_vec_push ? 1 : 2;
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
    case TL_FN_tl_vec_at:
    case TL_FN_tl_vec_get_in:
        return reads_numbers(f, i);
    case TL_FN_tl_vec_set:
    case TL_FN_tl_vec_push:
        return writes_numbers(f, i);
    default:
        return false;
    }
}

/* ---- how --------------------------------------------------------------------------------------------------------- */

static LLVMValueRef field(emit *e, LLVMTypeRef type, LLVMValueRef v, int64_t at) {
    LLVMValueRef load = LLVMBuildLoad2(e->cg->builder, type, emit_offset(e, v, at), "");
    return emit_tag(e, load, EMIT_HEAD + (unsigned)(at / 8));
}

static LLVMValueRef head_length(emit *e, LLVMValueRef v) {
    return emit_length_load(e, field(e, e->cg->i64, v, TL_VECTOR_LENGTH_AT));
}

/* len(v) where it is known on every way to block b, else what memory says. */
static LLVMValueRef length_of(emit *e, const ir_instr *i, LLVMValueRef v) {
    const emit_length *known = e->lengths ? &e->lengths[i->args[0]] : NULL;
    if (known && known->value && v == emit_arg(e, i, 0) && ir_dominates(e->dominators, known->block, i->block))
        return known->value;
    return head_length(e, v);
}

static LLVMValueRef is_inside(emit *e, const ir_instr *i, LLVMValueRef v, LLVMValueRef index) {
    return LLVMBuildICmp(e->cg->builder, LLVMIntULT, index, length_of(e, i, v), "");
}

static LLVMValueRef element(emit *e, LLVMValueRef v, LLVMValueRef index, LLVMValueRef words) {
    codegen *cg = e->cg;
    LLVMValueRef first = field(e, cg->ptr, v, TL_VECTOR_WORDS_AT), at = LLVMBuildMul(cg->builder, index, words, "");
    return LLVMBuildInBoundsGEP2(cg->builder, cg->i64, first, &at, 1, "");
}

static LLVMValueRef load_word(emit *e, LLVMValueRef from, int64_t word) {
    return LLVMBuildLoad2(e->cg->builder, e->cg->i64, emit_offset(e, from, 8 * word), "");
}

static LLVMValueRef store_word(emit *e, LLVMValueRef to, int64_t word, LLVMValueRef value) {
    return LLVMBuildStore(e->cg->builder, value, emit_offset(e, to, 8 * word));
}

static void read_words(emit *e, LLVMValueRef record, LLVMValueRef from, int64_t words) {
    for (int64_t k = 0; k < words; k++)
        store_word(e, record, k, emit_tag(e, load_word(e, from, k), EMIT_NUMBERS));
}

static void write_words(emit *e, LLVMValueRef to, LLVMValueRef record, int64_t words) {
    for (int64_t k = 0; k < words; k++)
        emit_tag(e, store_word(e, to, k, load_word(e, record, k)), EMIT_NUMBERS);
}

/* Goes on where the index is one of v's. */
static void need_inside(emit *e, const ir_instr *i, LLVMValueRef v, LLVMValueRef index, LLVMBasicBlockRef outside) {
    LLVMBasicBlockRef inside = emit_new_block(e, "");
    LLVMBuildCondBr(e->cg->builder, is_inside(e, i, v, index), inside, outside);
    LLVMPositionBuilderAtEnd(e->cg->builder, inside);
}

/* The call, with another record in place of its own. */
static LLVMValueRef call_with(emit *e, const ir_instr *i, LLVMValueRef record) {
    LLVMValueRef *args = MASU_ARENA_ARRAY(e->cg->arena, LLVMValueRef, i->arg_count);
    if (!args) {
        e->cg->out_of_memory = true;
        return LLVMConstPointerNull(e->cg->ptr);
    }
    for (uint32_t k = 0; k < i->arg_count; k++)
        args[k] = k == record_at(i) && i->abi != TL_FN_tl_ref_index ? record : emit_arg(e, i, k);
    emit_site(e, i);
    return emit_abi_call(e, i->abi, args, i->arg_count);
}

/* The runtime finds the index that is out of range again, and says so. */
static void raise_outside(emit *e, const ir_instr *i, LLVMBasicBlockRef outside) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->cg->builder);
    LLVMPositionBuilderAtEnd(e->cg->builder, outside);
    (void)call_with(e, i, LLVMConstPointerNull(e->cg->ptr));
    LLVMBuildUnreachable(e->cg->builder);
    LLVMPositionBuilderAtEnd(e->cg->builder, here);
}

/* The vector that word `word` of element `index` of v is. */
static LLVMValueRef vector_in(emit *e, LLVMValueRef v, LLVMValueRef index, LLVMValueRef words, LLVMValueRef word) {
    LLVMValueRef at = element(e, v, index, words);
    at = LLVMBuildInBoundsGEP2(e->cg->builder, e->cg->i64, at, &word, 1, "");
    return emit_tag(e, LLVMBuildLoad2(e->cg->builder, e->cg->ptr, at, ""), EMIT_OWNERS);
}

static void at(emit *e, const ir_instr *i) {
    const int64_t words = record_of(e->f, i)->imm.i;
    read_words(e, emit_arg(e, i, 2), element(e, emit_arg(e, i, 0), emit_arg(e, i, 1), codegen_i64(e->cg, words)),
               words);
}

static void get(emit *e, const ir_instr *i) {
    MASU_DEBUG_ASSERT(reads_numbers(e->f, i));
    LLVMBasicBlockRef outside = emit_new_block(e, "outside");
    int64_t words = record_of(e->f, i)->imm.i;
    LLVMValueRef v = emit_arg(e, i, 0), record = emit_arg(e, i, record_at(i));
    uint32_t k = i->abi == TL_FN_tl_vec_get ? 1 : 2;
    need_inside(e, i, v, emit_arg(e, i, k), outside);
    for (; i->abi == TL_FN_tl_vec_get_in && k + 1 < i->arg_count; k += 3) {
        v = vector_in(e, v, emit_arg(e, i, k), emit_arg(e, i, k + 1), emit_arg(e, i, k + 2));
        need_inside(e, i, v, emit_arg(e, i, k + 3), outside);
    }
    raise_outside(e, i, outside);
    read_words(e, record, element(e, v, emit_arg(e, i, k), codegen_i64(e->cg, words)), words);
}

static LLVMValueRef write_by_call(emit *e, const ir_instr *i, LLVMValueRef record, int64_t words) {
    MASU_DEBUG_ASSERT(writes_numbers(e->f, i));
    LLVMValueRef copy = emit_room(e, LLVMArrayType2(e->cg->i64, (uint64_t)words), "record");
    for (int64_t k = 0; k < words; k++)
        store_word(e, copy, k, load_word(e, record, k));
    return call_with(e, i, copy);
}

/* Element `index` where it fits and v has no other holder, which has one element more then if it is pushed; else the
 * runtime does it. */
static void write(emit *e, const ir_instr *i, LLVMValueRef fits, LLVMValueRef index) {
    codegen *cg = e->cg;
    LLVMBuilderRef builder = cg->builder;
    LLVMValueRef v = emit_arg(e, i, 0), record = emit_arg(e, i, record_at(i));
    const int64_t words = record_of(e->f, i)->arg_count;
    LLVMBasicBlockRef call = emit_new_block(e, "call"), alone = emit_new_block(e, ""), go_on = emit_new_block(e, "");
    LLVMValueRef single = LLVMBuildICmp(builder, LLVMIntEQ, field(e, cg->i32, v, TL_OBJECT_COUNT_AT),
                                        LLVMConstInt(cg->i32, 1, false), "");
    emit_likely(e, LLVMBuildCondBr(builder, LLVMBuildAnd(builder, single, fits, ""), alone, call));
    LLVMPositionBuilderAtEnd(builder, call);
    LLVMValueRef results[] = {write_by_call(e, i, record, words), v};
    LLVMBuildBr(builder, go_on);
    LLVMPositionBuilderAtEnd(builder, alone);
    write_words(e, element(e, v, index, codegen_i64(cg, words)), record, words);
    if (i->abi == TL_FN_tl_vec_push)
        emit_tag(e,
                 LLVMBuildStore(builder, LLVMBuildAdd(builder, index, codegen_i64(cg, 1), ""),
                                emit_offset(e, v, TL_VECTOR_LENGTH_AT)),
                 EMIT_HEAD + TL_VECTOR_LENGTH_AT / 8);
    LLVMBuildBr(builder, go_on);
    LLVMPositionBuilderAtEnd(builder, go_on);
    e->values[i->result] = LLVMBuildPhi(builder, cg->ptr, "");
    LLVMAddIncoming(e->values[i->result], results, (LLVMBasicBlockRef[]){call, alone}, 2);
}

static void set(emit *e, const ir_instr *i) {
    LLVMValueRef index = emit_arg(e, i, 1);
    write(e, i, is_inside(e, i, emit_arg(e, i, 0), index), index);
}

static void push(emit *e, const ir_instr *i) {
    LLVMValueRef v = emit_arg(e, i, 0), length = head_length(e, v);
    LLVMValueRef capacity = field(e, e->cg->i64, v, TL_VECTOR_CAPACITY_AT);
    write(e, i, LLVMBuildICmp(e->cg->builder, LLVMIntULT, length, capacity, ""), length);
}

static void len(emit *e, const ir_instr *i) {
    codegen *cg = e->cg;
    LLVMBuilderRef builder = cg->builder;
    LLVMValueRef v = emit_arg(e, i, 0);
    emit_length *known = e->lengths ? &e->lengths[i->args[0]] : NULL;
    if (known && known->value && ir_dominates(e->dominators, known->block, i->block)) {
        e->values[i->result] = known->value;
        return;
    }
    LLVMBasicBlockRef from = LLVMGetInsertBlock(builder), there = emit_new_block(e, ""), go_on = emit_new_block(e, "");
    LLVMBuildCondBr(builder, LLVMBuildIsNull(builder, v, ""), go_on, there);
    LLVMPositionBuilderAtEnd(builder, there);
    LLVMValueRef lengths[] = {codegen_i64(cg, 0), head_length(e, v)};
    LLVMBuildBr(builder, go_on);
    LLVMPositionBuilderAtEnd(builder, go_on);
    e->values[i->result] = LLVMBuildPhi(builder, cg->i64, "");
    LLVMAddIncoming(e->values[i->result], lengths, (LLVMBasicBlockRef[]){from, there}, 2);
    if (known)
        *known = (emit_length){e->values[i->result], i->block};
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
    else if (i->abi == TL_FN_tl_vec_push)
        push(e, i);
    else if (i->abi == TL_FN_tl_ref_index)
        place(e, i);
    else if (i->abi == TL_FN_tl_vec_at)
        at(e, i);
    else
        get(e, i);
    return true;
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

static bool asks_lengths(const ir_function *f) {
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next)
            if (i->op == IR_ABI && i->abi == TL_FN_tl_vec_len)
                return true;
    return false;
}

void emit_know_lengths(emit *e) {
    masu__arena *arena = e->cg->arena;
    if (!asks_lengths(e->f))
        return;
    ir_order *order = MASU_ARENA_ARRAY(arena, ir_order, 1);
    e->dominators = MASU_ARENA_ARRAY(arena, ir_dominators, 1);
    e->lengths = MASU_ARENA_ARRAY(arena, emit_length, e->f->value_count);
    if (!order || !e->dominators || !e->lengths || !ir_order_compute(order, e->f, arena) ||
        !ir_dominators_compute(e->dominators, order, arena))
        e->cg->out_of_memory = true;
}
