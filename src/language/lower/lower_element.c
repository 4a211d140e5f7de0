/* lower_element.c: one element of a tensor or vector: the calls that read it, write it, take it out and put it back.
 *
 * An element of a tensor is a number and goes through a call as it is. One of a vector has any number of leaves: the
 * call fills a record, or reads one, with a word for each.
 */
#include <string.h>

#include "language/lower/lowering.h"

/* Where nothing says what the tensor holds, the call looks. */
static tl_abi_index reader_of(const type *tensor, const type *as, bool converts) {
    const tl_dtype dtype = lower_read_dtype(tensor, as);
    const bool whole = dtype == TL_I64 || dtype == TL_BOOL;
    if (tensor->tensor.element || converts)
        return whole ? TL_FN_tl_tensor_get_i64 : TL_FN_tl_tensor_get_f64;
    return whole ? TL_FN_tl_tensor_exact_i64 : dtype == TL_F64 ? TL_FN_tl_tensor_exact_f64 : TL_FN_tl_tensor_exact_f32;
}

ir_value lower_element_get(lower_fn *fn, ir_value t, const type *tensor, const element_read *read, source_span span) {
    uint32_t count = read->count;
    ir_value *args = lower_room(fn, count + 1);
    if (!args)
        return 0;
    args[0] = t;
    memcpy(args + 1, read->indices, count * sizeof *args);
    ir_value v = lower_abi(fn, reader_of(tensor, read->as, read->converts), args, count + 1, span);
    const type *element = tensor->tensor.element;
    return lower_convert(fn, v, lower_scalar_type(element ? element : read->as), span);
}

/* A stored number takes the type that the tensor has, as in PyTorch. */
ir_value lower_element_set(lower_fn *fn, ir_value t, const type *tensor, ir_value v, const element_read *place,
                           source_span span) {
    uint32_t count = place->count;
    tl_dtype dtype = lower_read_dtype(tensor, place->as);
    bool whole = dtype == TL_I64 || dtype == TL_BOOL;
    ir_value *args = lower_room(fn, count + 2);
    if (!args)
        return 0;
    args[0] = t;
    args[1] = lower_convert(fn, v, whole ? IR_I64 : IR_F64, span);
    memcpy(args + 2, place->indices, count * sizeof *args);
    return lower_abi(fn, whole ? TL_FN_tl_tensor_set_i64 : TL_FN_tl_tensor_set_f64, args, count + 2, span);
}

ir_value lower_record_begin(lower_fn *fn, const type *element, source_span span) {
    ir_type address = IR_ADDRESS;
    ir_instr *record = lower_open(fn) ? ir_emit(fn->b, IR_RECORD_EMPTY, NULL, 0, &address, 1, span) : NULL;
    if (!record)
        return 0;
    record->imm.i = lower_leaf_count(fn->l, element);
    return record->result;
}

void lower_record_end(lower_fn *fn, ir_value record, const type *element, ir_value *out, source_span span) {
    uint32_t count;
    ir_type *types = lower_types_of(fn->l, element, &count);
    if (!types)
        return;
    for (uint32_t i = 0; i < count; i++) {
        ir_instr *word = ir_emit(fn->b, IR_RECORD_WORD, &record, 1, &types[i], 1, span);
        if (!word)
            return;
        word->imm.i = i;
        out[i] = word->result;
    }
}

ir_value lower_words_by(lower_fn *fn, tl_abi_index abi, ir_value vec, ir_value index, const type *element,
                        ir_value *out, source_span span) {
    ir_value record = lower_record_begin(fn, element, span);
    if (!record)
        return 0;
    ir_value rest = lower_abi(fn, abi, (ir_value[]){vec, index, record}, 3, span);
    lower_record_end(fn, record, element, out, span);
    return rest;
}

bool lower_holds_counts(lower_fn *fn, const type *element) {
    uint32_t count;
    ir_type *types = lower_types_of(fn->l, element, &count);
    if (!types)
        return false;
    while (count > 0 && !ir_type_managed(types[count - 1]))
        count--;
    return count > 0;
}

void lower_vec_get(lower_fn *fn, ir_value vec, ir_value index, const type *element, ir_value *out, source_span span) {
    lower_words_by(fn, TL_FN_tl_vec_get, vec, index, element, out, span);
}

void lower_vec_at(lower_fn *fn, ir_value vec, ir_value index, const type *element, ir_value *out, source_span span) {
    lower_words_by(fn, TL_FN_tl_vec_at, vec, index, element, out, span);
}

void lower_vec_take(lower_fn *fn, ir_variable list, ir_value index, const type *element, ir_value *out,
                    source_span span) {
    ir_value vec = 0, rest = 0;
    lower_read(fn, list, 1, &vec, span);
    rest = lower_words_by(fn, TL_FN_tl_vec_take, vec, index, element, out, span);
    lower_write(fn, list, 1, &rest);
}

ir_value lower_vec_set(lower_fn *fn, ir_value vec, ir_value index, const type *element, const ir_value *values,
                       source_span span) {
    ir_value record = lower_op(fn, IR_RECORD, IR_ADDRESS, values, lower_leaf_count(fn->l, element), span);
    return lower_abi(fn, TL_FN_tl_vec_set, (ir_value[]){vec, index, record}, 3, span);
}

ir_value lower_cell_new(lower_fn *fn, const type *t, const ir_value *values, source_span span) {
    ir_value list = lower_vec_empty(fn, t, span);
    ir_value record = lower_op(fn, IR_RECORD, IR_ADDRESS, values, lower_leaf_count(fn->l, t), span);
    return lower_abi(fn, TL_FN_tl_vec_push, (ir_value[]){list, record}, 2, span);
}

ir_value lower_vec_empty(lower_fn *fn, const type *element, source_span span) {
    uint32_t count = lower_leaf_count(fn->l, element);
    ir_type address = IR_ADDRESS, *types = MASU_ARENA_ARRAY(fn->l->m->arena, ir_type, count);
    ir_instr *plan = ir_emit(fn->b, IR_RECORD_TYPE, NULL, 0, &address, 1, span);
    if (!plan || !types) {
        fn->l->m->out_of_memory = true;
        return 0;
    }
    lower_leaf_types(fn->l, element, types);
    plan->imm.record.types = types;
    plan->imm.record.count = count;
    plan->imm.record.destructor = lower_destructor_of(element);
    return lower_abi(fn, TL_FN_tl_vec_new, &plan->result, 1, span);
}
