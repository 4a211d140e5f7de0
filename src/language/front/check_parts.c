/* check_parts.c: parts of tensors that more than one index or a range names.
 *
 *     t[1..3, j]            ─►  { let <t> = t; <t>.slice(0, 1, 3).narrow(1, j, 1).squeeze(1) }
 *     t[i] = row            ─►  t.put(row, i, SELECT)                 runtime/ops/put.c
 *     t[a..b, ..] = part    ─►  t.put(part, a, b, 0, END)
 *     t[.., places] = part  ─►  t = t.__put_picked(1, places, part)
 *     t[-1]                 ─►  t[t.dim(0) - 1]                       for a number that is written out
 */
#include <string.h>

#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_operation.h"

static const int64_t select_one = INT64_MIN, to_the_end = INT64_MAX;

/* -1, -1i64: one of another width does not count from the end, and -1u8 is refused as everywhere. */
static bool is_negative_literal(const expr *e) {
    const expr *of = e != NULL && e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG && e->type == NULL
                         ? e->unary.operand
                         : NULL;
    return of != NULL && of->kind == EXPR_INT && (of->integer.suffix == TYPE_VOID || of->integer.suffix == TYPE_I64);
}

/* dim(d) - n of the tensor that `base` names; base is checked. */
static void from_the_end(checker *c, expr **index, const expr *base, uint32_t d) {
    if (!is_negative_literal(*index) || !check_is_place(base))
        return;
    source_span span = (*index)->span;
    expr *extent[2] = {check_copy_place(c, base), check_new_int(c, span, d)};
    expr *length = check_new_abi(c, TL_FN_tl_tensor_dim, span, extent, 2);
    *index = check_new_binary(c, BINARY_SUB, length, (*index)->unary.operand, check_scalar(c, TYPE_I64));
    check_expr(c, &(*index)->binary.right, check_scalar(c, TYPE_I64));
}

void check_count_from_end(checker *c, expr *e, uint32_t first) {
    for (uint32_t i = first; i < e->index.count; i++) {
        expr *index = e->index.indices[i];
        if (index->kind == EXPR_RANGE) {
            from_the_end(c, &index->range.low, e->index.base, i);
            from_the_end(c, &index->range.high, e->index.base, i);
        } else {
            from_the_end(c, &e->index.indices[i], e->index.base, i);
        }
    }
}

/* f(x)[0, -1]: { let <tensor> = f(x); <tensor>[0, -1] }, whose length can be asked for. Nothing is checked yet. */
bool check_count_from_end_of_value(checker *c, expr **slot, const type *expected) {
    expr *e = *slot, **base = slot;
    bool from_end = false;
    for (; (*base)->kind == EXPR_INDEX && (base == slot || !(*base)->in_parentheses); base = &(*base)->index.base)
        for (uint32_t i = 0; i < (*base)->index.count; i++)
            from_end |= is_negative_literal((*base)->index.indices[i]);
    if (!from_end || (*base)->type != NULL || ((*base)->kind != EXPR_CALL && (*base)->kind != EXPR_METHOD))
        return false;
    const char *name = check_printf(c, "<tensor %u>", c->text_count++);
    block_builder b = build_block(c, e->span);
    build_let(&b, name, false, *base);
    *base = check_new_name(c, (*base)->span, name);
    *slot = build_finish(&b, e);
    check_expr(c, slot, expected);
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static expr *take_range(checker *c, expr *part, const expr *range, uint32_t d) {
    if (range->range.low == NULL && range->range.high == NULL)
        return part;
    source_span span = range->span;
    expr *dimension = check_new_int(c, span, d), *high = check_range_end(c, range);
    if (high == NULL) {
        expr *whole = check_new_name(c, span, "<t>");
        high = build_method(c, span, whole, "dim", (expr *[]){check_new_int(c, span, d)}, 1);
    }
    expr *args[3] = {dimension, range->range.low != NULL ? range->range.low : check_new_int(c, span, 0), high};
    return build_method(c, span, part, "slice", args, 3);
}

/* Such an index is a tensor of places, or may be one. */
static bool may_be_places(const expr *index) {
    return index->kind == EXPR_NAME || index->kind == EXPR_BINARY || index->kind == EXPR_METHOD ||
           index->kind == EXPR_CALL || index->kind == EXPR_FIELD || index->kind == EXPR_ARRAY ||
           (index->kind == EXPR_UNARY && index->unary.op == UNARY_NOT);
}

/* t[.., places]: the one index that is not a range is a list of places or a mask. Beside a number it would mean that
 * the places come first, as in PyTorch: that is not read. */
static bool picks(checker *c, expr *e, uint32_t ranges) {
    if (ranges + 1 != e->index.count)
        return false;
    expr **only = e->index.indices;
    while ((*only)->kind == EXPR_RANGE)
        only++;
    if (!may_be_places(*only))
        return false;
    if ((*only)->type == NULL)
        check_expr(c, only, NULL);
    const type *t = type_resolve(c->types, (*only)->type);
    if (t->kind == TYPE_VEC)
        *only = build_call(c, (*only)->span, "Tensor", "from_vec", only, 1);
    return t->kind == TYPE_VEC || (t->kind == TYPE_TENSOR && t->tensor.rank != 0);
}

bool check_part(checker *c, expr **slot, const type *base) {
    expr *e = *slot;
    uint32_t ranges = 0, singles = 0;
    for (uint32_t i = 0; i < e->index.count; i++)
        ranges += e->index.indices[i]->kind == EXPR_RANGE;
    const bool several = ranges > 0 && picks(c, e, ranges);
    if (ranges == 0 || e->index.count < 2)
        return false;
    block_builder b = build_block(c, e->span);
    build_let(&b, "<t>", false, e->index.base);
    expr *part = check_new_name(c, e->span, "<t>");
    for (uint32_t i = 0; i < e->index.count; i++) /* ranges first: they keep the dimensions */
        if (e->index.indices[i]->kind == EXPR_RANGE)
            part = take_range(c, part, e->index.indices[i], i);
    for (uint32_t i = e->index.count; i-- > 0;) {
        if (e->index.indices[i]->kind != EXPR_RANGE && several) {
            expr *at[2] = {check_new_int(c, e->span, i), e->index.indices[i]};
            part = build_method(c, e->span, part, "__picked", at, 2);
        } else if (e->index.indices[i]->kind != EXPR_RANGE) {
            expr *one[3] = {check_new_int(c, e->span, i), e->index.indices[i], check_new_int(c, e->span, 1)};
            part = build_method(c, e->span, part, "narrow", one, 3);
            part = build_method(c, e->span, part, "squeeze", one, 1);
            singles++;
        }
    }
    *slot = build_finish(&b, part);
    check_expr(c, slot, NULL);
    if (base->tensor.rank >= 0 && (*slot)->type->kind == TYPE_TENSOR) {
        const type *t = type_tensor(c->types, base->tensor.element, base->tensor.rank - (int32_t)singles);
        (*slot)->type = (*slot)->block->type = (*slot)->block->result->type = t;
    }
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static expr *bound(checker *c, expr *e, source_span span, int64_t otherwise) {
    if (e == NULL)
        return check_new_int(c, span, otherwise);
    check_expr(c, &e, check_scalar(c, TYPE_I64));
    check_coerce(c, &e, check_scalar(c, TYPE_I64), NULL);
    return e;
}

/* The variable that e is a part of; NULL: of none. */
static const char *variable_of(const expr *e) {
    for (;;)
        if (e->kind == EXPR_NAME)
            return e->name.name;
        else if (e->kind == EXPR_INDEX)
            e = e->index.base;
        else if (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD)
            e = e->field.base;
        else
            return NULL;
}

/* t[..] = t[..]: what is read is a view of what is written, so that the whole would be copied for the part. */
static bool reads_what_it_writes(const expr *target, const expr *value) {
    const char *written = variable_of(target), *read = variable_of(value);
    return value->kind == EXPR_INDEX && written && read && strcmp(written, read) == 0;
}

static expr *put_of(checker *c, expr *target, expr *value, source_span span) {
    uint32_t count = target->index.count;
    expr **operands = CHECK_ARRAY(c, expr *, 2 + 2 * count);
    operands[0] = target->index.base;
    operands[1] = value;
    for (uint32_t i = 0; i < count; i++) {
        expr *index = target->index.indices[i];
        bool range = index->kind == EXPR_RANGE;
        operands[2 + 2 * i] = bound(c, range ? index->range.low : index, index->span, 0);
        operands[3 + 2 * i] = range ? bound(c, check_range_end(c, index), index->span, to_the_end)
                                    : check_new_int(c, index->span, select_one);
    }
    expr *put = check_new_abi(c, TL_FN_tl_tensor_put, span, operands, 2 + 2 * count);
    put->call.writes_receiver = true;
    return put;
}

/* An element gets a tensor's one number, with its history. */
bool check_put_element(checker *c, expr *e) {
    expr *target = e->assign.target;
    if (target->kind != EXPR_INDEX || type_resolve(c->types, e->assign.value->type)->kind != TYPE_TENSOR ||
        type_resolve(c->types, target->index.base->type)->kind != TYPE_TENSOR ||
        !type_is_float(type_resolve(c->types, target->type)) || !check_asks_for_gradients(c))
        return false;
    *e = *put_of(c, target, e->assign.value, e->span);
    return true;
}

/* m[i] = v is m.set(i, v) of a struct that has it (IndexMut). */
static bool assign_by_set(checker *c, expr **slot, const type *t) {
    expr *e = *slot, *target = e->assign.target;
    const function_item *set = t->kind == TYPE_STRUCT ? check_method_named(c, t->structure, "set") : NULL;
    uint32_t count = target->index.count;
    if (set == NULL || !set->has_self || set->parameter_count != count + 2 ||
        check_method_named(c, t->structure, "index_mut") != NULL)
        return false;
    expr **args = CHECK_ARRAY(c, expr *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        args[i] = target->index.indices[i];
    args[count] = e->assign.value;
    *slot = build_method(c, e->span, target->index.base, "set", args, count + 1);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
    return true;
}

static bool is_mask(checker *c, const expr *index) {
    const type *t = type_resolve(c->types, index->type);
    const type *held = t->kind != TYPE_TENSOR || t->tensor.element == NULL ? NULL
                                                                           : type_resolve(c->types, t->tensor.element);
    return held != NULL && held->kind == TYPE_BOOL;
}

/* t[mask] = v is t = t.__mask_fill(mask, v), t[is, js] = v is t = t.__put_at([is, js], v). */
static bool assign_by_places(checker *c, expr **slot, const type *t) {
    expr *e = *slot, *target = e->assign.target;
    bool may_be = false;
    for (uint32_t i = 0; i < target->index.count; i++)
        may_be |= may_be_places(target->index.indices[i]);
    if (t->kind != TYPE_TENSOR || !may_be || !check_is_place(target) || !check_place_tensors(c, target))
        return false;
    expr *base = target->index.base, *args[2] = {target->index.indices[0], e->assign.value};
    bool mask = target->index.count == 1 && is_mask(c, args[0]);
    check_expr(c, &args[1], NULL);
    bool number = type_is_numeric(type_resolve(c->types, args[1]->type));
    if (!mask) {
        args[0] = check_list_of_places(c, target);
        if (number)
            check_number_as_tensor(c, &args[1]);
    }
    expr *put = build_method(c, e->span, check_copy_place(c, base),
                             !mask    ? "__put_at"
                             : number ? "__mask_fill"
                                      : "__mask_put",
                             args, 2);
    *slot = build_assign(c, e->span, base, put);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
    return true;
}

/* t[.., places] = v is t = t.__put_picked(1, places, v). */
static bool assign_by_picked(checker *c, expr **slot, const type *t) {
    expr *e = *slot, *target = e->assign.target;
    uint32_t ranges = 0, dim = 0;
    for (uint32_t i = 0; i < target->index.count; i++) {
        const expr *index = target->index.indices[i];
        const bool all = index->kind == EXPR_RANGE && index->range.low == NULL && index->range.high == NULL;
        ranges += all;
        dim = all ? dim : i;
    }
    if (t->kind != TYPE_TENSOR || ranges == 0 || !check_is_place(target) || !picks(c, target, ranges))
        return false;
    check_expr(c, &e->assign.value, NULL);
    if (type_is_numeric(type_resolve(c->types, e->assign.value->type)))
        check_number_as_tensor(c, &e->assign.value);
    expr *args[3] = {check_new_int(c, e->span, dim), target->index.indices[dim], e->assign.value};
    expr *put = build_method(c, e->span, check_copy_place(c, target->index.base), "__put_picked", args, 3);
    *slot = build_assign(c, e->span, target->index.base, put);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
    return true;
}

/* The type of a literal that is written to elements: the tensor's, f64 while that is not known. */
static const type *number_wanted(checker *c, const type *t, const expr *value) {
    const type *element = t->tensor.element == NULL ? NULL : type_resolve(c->types, t->tensor.element);
    bool real = check_free_literal(value) && (element == NULL || type_is_float(element));
    return !real ? NULL : element != NULL ? element : check_scalar(c, TYPE_F64);
}

/* t[i] = v of a tensor t whose rank is not known: v says that a row is meant. */
static bool is_row(checker *c, const type *t, const expr *target, expr **value) {
    if (t->kind != TYPE_TENSOR || t->tensor.rank >= 0 || check_free_literal(*value))
        return t->kind == TYPE_TENSOR && t->tensor.rank > (int32_t)target->index.count;
    check_expr(c, value, NULL);
    const type *of_value = type_resolve(c->types, (*value)->type);
    return of_value->kind == TYPE_TENSOR && of_value->tensor.rank != 0;
}

/* w[0][1] is w[0, 1] where w is a tensor; another index of an index is none of a part. */
static bool joins_indices(checker *c, expr *target) {
    if (target->index.base->kind != EXPR_INDEX)
        return true;
    c->around->index_goes_on = !target->index.base->in_parentheses;
    check_expr(c, &target->index.base, NULL);
    c->around->index_goes_on = false;
    check_merge_indices(c, target);
    return type_resolve(c->types, target->index.base->type)->kind == TYPE_TENSOR;
}

bool check_assign_part(checker *c, expr **slot) {
    expr *e = *slot, *target = e->assign.target;
    if (target->kind != EXPR_INDEX || e->assign.op != BINARY_NONE)
        return false;
    if (check_assign_with_history(c, slot))
        return true;
    if (!joins_indices(c, target))
        return false;
    bool ranges = false;
    for (uint32_t i = 0; i < target->index.count; i++)
        ranges |= target->index.indices[i]->kind == EXPR_RANGE;
    check_expr(c, &target->index.base, NULL);
    const type *t = type_resolve(c->types, target->index.base->type);
    if (assign_by_set(c, slot, t) || assign_by_places(c, slot, t) || assign_by_picked(c, slot, t))
        return true;
    bool copies = reads_what_it_writes(target, e->assign.value); /* by its form: it is not checked yet */
    bool rows = !ranges && (e->assign.history == HISTORY_KEPT || is_row(c, t, target, &e->assign.value));
    if (t->kind != TYPE_TENSOR || !check_is_place(target) || (!ranges && !rows))
        return false;
    check_count_from_end(c, target, 0);
    check_expr(c, &e->assign.value, number_wanted(c, t, e->assign.value));
    if (type_is_silent(type_resolve(c->types, e->assign.value->type))) {
        check_make_error(c, e);
        return true;
    }
    if (t->tensor.element != NULL && type_is(type_resolve(c->types, t->tensor.element), TYPE_F64) &&
        type_is_float(type_resolve(c->types, e->assign.value->type)))
        check_widen_to(c, &e->assign.value, check_scalar(c, TYPE_F64));
    if (type_is_numeric(type_resolve(c->types, e->assign.value->type)))
        check_number_as_tensor(c, &e->assign.value);
    if (!check_coerce(c, &e->assign.value, type_tensor(c->types, NULL, -1), NULL) ||
        !check_write(c, target, target->span, WRITE_ASSIGN)) {
        check_make_error(c, e);
        return true;
    }
    if (copies && type_resolve(c->types, e->assign.value->type)->kind == TYPE_TENSOR) {
        expr *part = e->assign.value;
        e->assign.value = check_new_abi(c, TL_FN_tl_tensor_copied, part->span, &part, 1);
    }
    *slot = put_of(c, target, e->assign.value, e->span);
    return true;
}

/* rows.concat(), rows.flatten() of the rows of a tensor. */
bool check_rows_in_a_row(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    bool rows = t->kind == TYPE_VEC && type_resolve(c->types, t->vec.element)->kind == TYPE_TENSOR;
    if (!rows || e->call.arg_count > 0 || !library_says(LIBRARY_joins_rows, e->call.name))
        return false;
    *slot = BUILD_QUOTE(c, e->span,
                        "{ let mut $all = Vec::new(); for $row in $0 { $all.extend($row.to_vec()); } $all }",
                        e->call.receiver);
    check_expr(c, slot, expected);
    return true;
}
