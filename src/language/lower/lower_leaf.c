/* lower_leaf.c: types as the IR sees them, taken apart into leaves. */
#include <stdarg.h>
#include <stdio.h>

#include "language/lower/lowering.h"

static const ir_type scalar_types[TYPE_SCALAR_END] = {
    [TYPE_BOOL] = IR_BOOL, [TYPE_I8] = IR_I8,   [TYPE_I16] = IR_I16,   [TYPE_I32] = IR_I32,       [TYPE_I64] = IR_I64,
    [TYPE_U8] = IR_U8,     [TYPE_U16] = IR_U16, [TYPE_U32] = IR_U32,   [TYPE_U64] = IR_U64,       [TYPE_USIZE] = IR_U64,
    [TYPE_F32] = IR_F32,   [TYPE_F64] = IR_F64, [TYPE_CHAR] = IR_CHAR, [TYPE_STRING] = IR_OBJECT,
};

ir_type lower_scalar_type(const type *t) {
    if (t->kind == TYPE_TENSOR)
        return IR_TENSOR;
    if (t->kind == TYPE_VEC)
        return IR_OBJECT;
    return t->kind < TYPE_SCALAR_END ? scalar_types[t->kind] : IR_NONE;
}

uint32_t lower_field_count(const type *t) {
    if (t->kind == TYPE_STRUCT)
        return t->structure->field_count;
    return t->kind == TYPE_TUPLE ? t->tuple.count : 0;
}

const type *lower_field_type(const type *t, uint32_t field) {
    return t->kind == TYPE_STRUCT ? t->structure->fields[field].type : t->tuple.items[field];
}

static bool has_fields(const type *t) {
    return t->kind == TYPE_STRUCT || t->kind == TYPE_TUPLE;
}

uint32_t lower_leaf_count(const lowering *l, const type *t) {
    if (t->kind == TYPE_REFERENCE)
        return type_is_slice(t) ? 3 : 2;
    if (lower_has_cell(t))
        return 1;
    if (!has_fields(t))
        return lower_scalar_type(t) != IR_NONE;
    if (l->leaf_counts[t->id])
        return l->leaf_counts[t->id] - 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < lower_field_count(t); i++)
        count += lower_leaf_count(l, lower_field_type(t, i));
    l->leaf_counts[t->id] = count + 1;
    return count;
}

uint32_t lower_field_offset(const lowering *l, const type *t, uint32_t field) {
    uint32_t offset = 0;
    for (uint32_t i = 0; i < field; i++)
        offset += lower_leaf_count(l, lower_field_type(t, i));
    return offset;
}

ir_type *lower_types_of(lowering *l, const type *t, uint32_t *count) {
    *count = lower_leaf_count(l, t);
    ir_type *types = MASU_ARENA_ARRAY(l->scratch, ir_type, *count);
    if (types)
        lower_leaf_types(l, t, types);
    else
        l->m->out_of_memory = true;
    return types;
}

void lower_leaf_types(const lowering *l, const type *t, ir_type *out) {
    if (t->kind == TYPE_REFERENCE) {
        out[0] = IR_OBJECT;
        for (uint32_t i = 1; i < lower_leaf_count(l, t); i++)
            out[i] = IR_I64;
        return;
    }
    if (lower_has_cell(t)) {
        *out = IR_OBJECT;
        return;
    }
    if (!has_fields(t)) {
        if (lower_leaf_count(l, t) > 0)
            *out = lower_scalar_type(t);
        return;
    }
    for (uint32_t i = 0; i < lower_field_count(t); i++) {
        lower_leaf_types(l, lower_field_type(t, i), out);
        out += lower_leaf_count(l, lower_field_type(t, i));
    }
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

tl_dtype lower_element_dtype(const type *tensor) {
    const type *element = tensor->tensor.element;
    if (!element || element->kind == TYPE_F32)
        return TL_F32;
    if (element->kind == TYPE_F64)
        return TL_F64;
    return element->kind == TYPE_BOOL ? TL_BOOL : TL_I64;
}

tl_dtype lower_read_dtype(const type *tensor, const type *as) {
    if (tensor->tensor.element || as->kind == TYPE_TENSOR || as->kind == TYPE_F32)
        return lower_element_dtype(tensor);
    return as->kind == TYPE_F64 ? TL_F64 : as->kind == TYPE_BOOL ? TL_BOOL : TL_I64;
}

ir_type lower_dtype_type(tl_dtype dtype) {
    static const ir_type types[TL_DTYPE_COUNT] = {IR_F32, IR_F64, IR_I64, IR_BOOL};
    return types[dtype];
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

ir_value *lower_room(lower_fn *fn, uint32_t count) {
    ir_value *room = MASU_ARENA_ARRAY(fn->l->scratch, ir_value, count);
    if (!room)
        fn->l->m->out_of_memory = true;
    return room;
}

const char *lower_printf(lowering *l, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *copy = masu__arena_strdup(l->m->arena, text);
    if (!copy)
        l->m->out_of_memory = true;
    return copy;
}

bool lower_has_cell(const type *t) {
    return t->kind == TYPE_STRUCT && t->structure->cell != NULL;
}

const type *lower_inside(const type *t) {
    return lower_has_cell(t) ? t->structure->cell->vec.element : t;
}

uint32_t lower_destructor_of(const type *inside) {
    return inside->kind == TYPE_STRUCT && inside->structure->cell == NULL ? inside->structure->destructor : 0;
}
