/* call.c: calls of the runtime and of the program's functions, records, and what the ownership passes inserted.
 *
 * A list operand becomes an array: constant data when every element is constant, else stack room that all calls
 * of the function share, because it is filled right before a call and dead right after.
 */
#include "base/assert.h"
#include "language/codegen/emit.h"

/* ---- words: how a value lies in a record or a cell ------------------------------------------------------------- */

static LLVMValueRef to_word(emit *e, LLVMValueRef v, ir_type type) {
    codegen *cg = e->cg;
    LLVMBuilderRef builder = cg->builder;
    if (type == IR_F64)
        return LLVMBuildBitCast(builder, v, cg->i64, "");
    if (type == IR_F32)
        return LLVMBuildZExt(builder, LLVMBuildBitCast(builder, v, cg->i32, ""), cg->i64, "");
    if (LLVMTypeOf(v) == cg->ptr)
        return LLVMBuildPtrToInt(builder, v, cg->i64, "");
    return LLVMBuildIntCast2(builder, v, cg->i64, emit_type_signed(type), "");
}

static LLVMValueRef from_word(emit *e, LLVMValueRef word, ir_type type) {
    codegen *cg = e->cg;
    LLVMBuilderRef builder = cg->builder;
    LLVMTypeRef llvm = codegen_type(cg, type);
    if (type == IR_F64)
        return LLVMBuildBitCast(builder, word, llvm, "");
    if (type == IR_F32)
        return LLVMBuildBitCast(builder, LLVMBuildTrunc(builder, word, cg->i32, ""), llvm, "");
    if (llvm == cg->ptr)
        return LLVMBuildIntToPtr(builder, word, llvm, "");
    return LLVMBuildIntCast2(builder, word, llvm, false, "");
}

/* A cell of a comprehension: floats of both kinds as the bits of an f64. */
static LLVMValueRef to_cell(emit *e, LLVMValueRef v, ir_type type) {
    if (type != IR_F32)
        return to_word(e, v, type);
    return to_word(e, LLVMBuildFPExt(e->cg->builder, v, e->cg->f64, ""), IR_F64);
}

/* ---- arrays of operands ------------------------------------------------------------------------------------------ */

static LLVMValueRef room_for_words(emit *e, LLVMValueRef *room, uint32_t *have, uint32_t words, const char *name) {
    if (words <= *have)
        return *room;
    uint32_t size = *have ? *have : 4;
    while (size < words)
        size *= 2;
    *room = emit_room(e, LLVMArrayType2(e->cg->i64, size), name);
    *have = size;
    return *room;
}

static LLVMValueRef constant_list(emit *e, LLVMValueRef *items, uint32_t count) {
    for (uint32_t k = 0; k < count; k++)
        if (!LLVMIsConstant(items[k]))
            return NULL;
    return codegen_constant(e->cg, "list", LLVMConstArray2(LLVMTypeOf(items[0]), items, count));
}

static void store_items(emit *e, LLVMValueRef room, LLVMValueRef *items, uint32_t count) {
    for (uint32_t k = 0; k < count; k++)
        LLVMBuildStore(e->cg->builder, items[k], emit_offset(e, room, 8 * (int64_t)k));
}

/* Elements of i64, f64 or pointers: eight bytes each. */
static LLVMValueRef list_of(emit *e, LLVMValueRef *items, uint32_t count) {
    if (count == 0)
        return LLVMConstPointerNull(e->cg->ptr);
    LLVMValueRef list = constant_list(e, items, count);
    if (list)
        return list;
    list = room_for_words(e, &e->list, &e->list_words, count, "list");
    store_items(e, list, items, count);
    return list;
}

/* ---- calls of the runtime ---------------------------------------------------------------------------------------- */

static unsigned parameter_count(const tl_abi_function *abi) {
    unsigned count = 0;
    while (count < TL_ABI_MAX_PARAMETERS && abi->parameters[count].name)
        count++;
    return count;
}

static LLVMValueRef bool_extended(LLVMContextRef context, LLVMValueRef call, LLVMAttributeIndex where) {
    unsigned kind = LLVMGetEnumAttributeKindForName("zeroext", 7);
    LLVMAddCallSiteAttribute(call, where, LLVMCreateEnumAttribute(context, kind, 0));
    return call;
}

/* args: the function's operands, list elements in place of the list. */
LLVMValueRef emit_abi_call(emit *e, tl_abi_index index, LLVMValueRef *args, unsigned count) {
    codegen *cg = e->cg;
    const tl_abi_function *abi = &tl_abi_functions[index];
    LLVMValueRef function = codegen_abi(cg, index), actual[TL_ABI_MAX_PARAMETERS + 1];
    unsigned at = 0, actual_count = 0, parameters = parameter_count(abi);
    for (unsigned p = 0; p < parameters; p++) {
        if (abi->parameters[p].mode != TL_LIST) {
            actual[actual_count++] = args[at++];
            continue;
        }
        unsigned elements = count - (parameters - 1);
        actual[actual_count++] = codegen_i64(cg, elements);
        actual[actual_count++] = list_of(e, args + at, elements);
        at += elements;
    }
    LLVMValueRef call = LLVMBuildCall2(cg->builder, cg->abi_type[index], function, actual, actual_count, "");
    if (abi->result == ABI_bool)
        bool_extended(cg->context, call, LLVMAttributeReturnIndex);
    for (unsigned k = 0; k < actual_count; k++)
        if (LLVMTypeOf(actual[k]) == cg->i1)
            bool_extended(cg->context, call, k + 1);
    return call;
}

static LLVMValueRef *args_of(emit *e, const ir_instr *i) {
    LLVMValueRef *args = MASU_ARENA_ARRAY(e->cg->arena, LLVMValueRef, i->arg_count + 1);
    if (!args) {
        e->cg->out_of_memory = true;
        return NULL;
    }
    for (uint32_t k = 0; k < i->arg_count; k++)
        args[k] = emit_arg(e, i, k);
    return args;
}

/* ---- where the result lies --------------------------------------------------------------------------------------- */

static void store_hint(emit *e, LLVMValueRef v, size_t field) {
    LLVMBuildStore(e->cg->builder, v, emit_offset(e, e->frame, (int64_t)field));
}

static void store_number(emit *e, uint32_t number, size_t field) {
    store_hint(e, LLVMConstInt(e->cg->i32, number, false), field);
}

/* Hints are for the one operation that follows, whether it takes them or not. */
static void hint_before(emit *e, const ir_instr *i) {
    if (i->work)
        store_number(e, i->work, offsetof(tl_frame, grow));
    if (i->place.bytes) {
        store_hint(e, emit_offset(e, e->room, (int64_t)i->place.at), offsetof(tl_frame, place));
        store_number(e, (uint32_t)i->place.bytes, offsetof(tl_frame, place_bytes));
        return;
    }
    if (i->place.slot)
        store_number(e, i->place.slot, offsetof(tl_frame, grow));
    else if (i->place.dest)
        store_number(e, i->place.dest, offsetof(tl_frame, want));
    if (i->reuse)
        store_hint(e, e->values[i->reuse], offsetof(tl_frame, spent));
}

static void hint_behind(emit *e, const ir_instr *i) {
    if (i->work)
        store_number(e, 0, offsetof(tl_frame, grow));
    if (i->place.bytes) {
        store_number(e, 0, offsetof(tl_frame, place_bytes));
        return;
    }
    if (i->place.slot)
        store_number(e, 0, offsetof(tl_frame, grow));
    else if (i->place.dest)
        store_number(e, 0, offsetof(tl_frame, want));
    if (i->reuse)
        store_hint(e, LLVMConstPointerNull(e->cg->ptr), offsetof(tl_frame, spent));
}

void emit_abi(emit *e, const ir_instr *i) {
    if (emit_list_access(e, i))
        return;
    LLVMValueRef *args = args_of(e, i);
    if (!args)
        return;
    if (ir_may_raise(i))
        emit_site(e, i);
    hint_before(e, i);
    LLVMValueRef result = emit_abi_call(e, i->abi, args, i->arg_count);
    hint_behind(e, i);
    if (i->result_count > 0)
        e->values[i->result] = result;
}

/* ---- calls of the program's functions ---------------------------------------------------------------------------- */

static void load_results(emit *e, const ir_instr *i, LLVMValueRef destination) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMTypeRef type = codegen_results_type(e->cg, i->callee);
    for (uint32_t r = 0; r < i->result_count; r++) {
        LLVMValueRef place = LLVMBuildStructGEP2(builder, type, destination, r, "");
        e->values[i->result + r] = LLVMBuildLoad2(builder, codegen_type(e->cg, i->callee->results[r]), place, "");
    }
}

/* One tl_dest: what the callee may build as this result. */
static void store_dest(emit *e, LLVMValueRef dest, const ir_place *place) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMValueRef at = place->bytes ? emit_offset(e, e->room, (int64_t)place->at) : LLVMConstPointerNull(e->cg->ptr);
    const struct {
        uint64_t number;
        size_t field;
    } numbers[] = {{place->bytes, offsetof(tl_dest, bytes)},
                   {place->slot, offsetof(tl_dest, grow)},
                   {place->dest, offsetof(tl_dest, want)}};
    LLVMBuildStore(builder, at, emit_offset(e, dest, offsetof(tl_dest, place)));
    for (int k = 0; k < 3; k++)
        LLVMBuildStore(builder, LLVMConstInt(e->cg->i32, numbers[k].number, false),
                       emit_offset(e, dest, (int64_t)numbers[k].field));
}

/* Only those that the callee looks at. */
static void store_dests(emit *e, const ir_instr *i) {
    LLVMValueRef dests = room_for_words(e, &e->dests, &e->dest_words,
                                        i->result_count * (uint32_t)(sizeof(tl_dest) / sizeof(int64_t)), "dests");
    for (uint32_t r = 0; r < i->result_count; r++)
        if (ir_builds(i->callee, r))
            store_dest(e, emit_offset(e, dests, (int64_t)(r * sizeof(tl_dest))), &i->places[r]);
    store_hint(e, dests, offsetof(tl_frame, dests));
}

void emit_call(emit *e, const ir_instr *i) {
    codegen *cg = e->cg;
    LLVMValueRef function = codegen_declare(cg, i->callee);
    LLVMValueRef *args = MASU_ARENA_ARRAY(cg->arena, LLVMValueRef, i->arg_count + 1);
    if (!function || !args) {
        cg->out_of_memory = true;
        return;
    }
    unsigned count = 0;
    LLVMValueRef destination = NULL;
    if (i->result_count > 1)
        args[count++] = destination = emit_room(e, codegen_results_type(cg, i->callee), "results");
    for (uint32_t k = 0; k < i->arg_count; k++)
        args[count++] = emit_arg(e, i, k);
    if (emit_may_raise(i))
        emit_site(e, i);
    if (i->places)
        store_dests(e, i);
    LLVMTypeRef type = codegen_function_type(cg, i->callee);
    LLVMValueRef result = LLVMBuildCall2(cg->builder, type, function, args, count, "");
    if (i->places)
        store_hint(e, LLVMConstPointerNull(cg->ptr), offsetof(tl_frame, dests));
    if (destination)
        load_results(e, i, destination);
    else if (i->result_count == 1)
        e->values[i->result] = result;
}

/* ---- comprehensions ---------------------------------------------------------------------------------------------- */

/* The cells, converted, in room of their own: the list of captured tensors is filled beside them. */
static LLVMValueRef cells_of(emit *e, const ir_instr *i) {
    uint32_t count = i->kernel->cell_count;
    LLVMValueRef *cells = args_of(e, i);
    if (!cells || count == 0)
        return LLVMConstPointerNull(e->cg->ptr);
    for (uint32_t k = 0; k < count; k++)
        cells[k] = to_cell(e, cells[k], emit_arg_type(e, i, k));
    LLVMValueRef room = constant_list(e, cells, count);
    if (room)
        return room;
    room = room_for_words(e, &e->cells, &e->cell_words, count, "cells");
    store_items(e, room, cells, count);
    return room;
}

void emit_comprehend(emit *e, const ir_instr *i) {
    LLVMValueRef *operands = args_of(e, i);
    LLVMValueRef *args = MASU_ARENA_ARRAY(e->cg->arena, LLVMValueRef, i->arg_count + 2);
    if (!operands || !args) {
        e->cg->out_of_memory = true;
        return;
    }
    unsigned count = 0;
    args[count++] = codegen_plan(e->cg, i->kernel);
    args[count++] = cells_of(e, i);
    for (uint32_t k = i->kernel->cell_count; k < i->arg_count; k++)
        args[count++] = operands[k];
    emit_site(e, i);
    hint_before(e, i);
    e->values[i->result] = emit_abi_call(e, TL_FN_tl_tensor_comprehend, args, count);
    hint_behind(e, i);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static LLVMValueRef record_room(emit *e, uint32_t words) {
    if (words == 0)
        return LLVMConstPointerNull(e->cg->ptr);
    return emit_room(e, LLVMArrayType2(e->cg->i64, words), "record");
}

static LLVMValueRef record_from(emit *e, const ir_instr *i) {
    LLVMValueRef room = record_room(e, i->arg_count);
    for (uint32_t k = 0; k < i->arg_count; k++) {
        LLVMValueRef word = to_word(e, emit_arg(e, i, k), emit_arg_type(e, i, k));
        LLVMBuildStore(e->cg->builder, word, emit_offset(e, room, 8 * (int64_t)k));
    }
    return room;
}

static LLVMValueRef record_word(emit *e, const ir_instr *i) {
    LLVMValueRef place = emit_offset(e, emit_arg(e, i, 0), 8 * i->imm.i);
    LLVMValueRef word = LLVMBuildLoad2(e->cg->builder, e->cg->i64, place, "");
    return from_word(e, word, emit_result_type(e, i));
}

static LLVMValueRef record_type(emit *e, const ir_instr *i) {
    codegen *cg = e->cg;
    int64_t *owned = MASU_ARENA_ARRAY(cg->arena, int64_t, i->imm.record.count + 1);
    if (!owned) {
        cg->out_of_memory = true;
        return LLVMConstPointerNull(cg->ptr);
    }
    uint32_t count = 0;
    for (uint32_t k = 0; k < i->imm.record.count; k++)
        if (ir_type_managed(i->imm.record.types[k]))
            owned[count++] = k;
    LLVMValueRef fields[] = {codegen_i64(cg, i->imm.record.count), codegen_i64(cg, count),
                             codegen_i64_array(cg, "owned", owned, count), codegen_i64(cg, i->imm.record.destructor)};
    return codegen_constant(cg, "record", LLVMConstStructInContext(cg->context, fields, 4, false));
}

void emit_record(emit *e, const ir_instr *i) {
    LLVMValueRef result;
    if (i->op == IR_RECORD)
        result = record_from(e, i);
    else if (i->op == IR_RECORD_EMPTY)
        result = record_room(e, (uint32_t)i->imm.i);
    else if (i->op == IR_RECORD_WORD)
        result = record_word(e, i);
    else
        result = record_type(e, i);
    e->values[i->result] = result;
}

/* ---- ownership --------------------------------------------------------------------------------------------------- */

static void store_slot(emit *e, int64_t slot, LLVMValueRef v) {
    int64_t offset = (int64_t)offsetof(tl_frame, slots) + slot * (int64_t)sizeof(void *);
    emit_tag(e, LLVMBuildStore(e->cg->builder, v, emit_offset(e, e->frame, offset)), EMIT_FRAME);
}

static void emit_root(emit *e, const ir_instr *i) {
    LLVMValueRef v = emit_arg(e, i, 0);
    if (i->imm.i >= 0) {
        MASU_DEBUG_ASSERT(i->imm.i >= 0 && (uint64_t)i->imm.i < e->f->slot_count);
        store_slot(e, i->imm.i, v);
        return;
    }
    emit_site(e, i);
    bool tensor = emit_arg_type(e, i, 0) == IR_TENSOR;
    emit_abi_call(e, tensor ? TL_FN_tl_tensor_register : TL_FN_tl_mem_register_struct, &v, 1);
}

static void emit_unroot(emit *e, const ir_instr *i) {
    if (i->imm.i >= 0) {
        store_slot(e, i->imm.i, LLVMConstPointerNull(e->cg->ptr));
        return;
    }
    LLVMValueRef v = emit_arg(e, i, 0);
    bool tensor = emit_arg_type(e, i, 0) == IR_TENSOR;
    emit_abi_call(e, tensor ? TL_FN_tl_tensor_promote : TL_FN_tl_mem_unregister, &v, 1);
}

static void emit_count(emit *e, const ir_instr *i, tl_abi_index of_tensor, tl_abi_index of_object) {
    LLVMValueRef v = emit_arg(e, i, 0);
    emit_abi_call(e, emit_arg_type(e, i, 0) == IR_TENSOR ? of_tensor : of_object, &v, 1);
}

void emit_ownership(emit *e, const ir_instr *i) {
    switch (i->op) {
    case IR_ACQUIRE:
        emit_count(e, i, TL_FN_tl_tensor_acquire, TL_FN_tl_ptr_acquire);
        break;
    case IR_RELEASE:
        emit_count(e, i, TL_FN_tl_tensor_release_safe, TL_FN_tl_ptr_release);
        break;
    case IR_ROOT:
        emit_root(e, i);
        break;
    default:
        emit_unroot(e, i);
        break;
    }
}
