/* check_tensor.c: tensor literals and indexing. */
#include "language/front/check_tensor.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_iterator.h"
#include "language/front/check_part.h"
#include "language/front/check_place.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_operation.h"
#include "language/types/check_written.h"

/* ---- literals --------------------------------------------------------------------------------
 *
 * [[1.0, 2.0], [3.0, 4.0]] is a tree of EXPR_ARRAY whose leaves are numbers. All rows of a level
 * are equally long; the shape is that of the first rows.
 */
typedef struct literal_shape {
    uint32_t rank;
    uint32_t dim[TL_MAX_RANK];
    const type *element; /* common to all leaves; NULL before the first */
    bool broken;         /* reported */
    bool has_tensors;
} literal_shape;

static void add_leaf(checker *c, expr **slot, literal_shape *shape, const type *wish) {
    check_expr(c, slot, wish);
    const type *t = type_resolve(c->types, (*slot)->type);
    if (type_is_silent(t)) {
        if (t->kind == TYPE_NEVER)
            diagnostics_say(c->diagnostics, (*slot)->span, SAY(this_never_yields_value));
        shape->broken = true;
    } else if (t->kind == TYPE_TENSOR) {
        shape->has_tensors = true;
    } else if (!type_is_numeric(t) && t->kind != TYPE_BOOL) {
        diagnostic *d = diagnostics_say(c->diagnostics, (*slot)->span, SAY(tensor_cannot_hold), check_type_text(c, t));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "a `Vec` can");
        shape->broken = true;
    } else if (shape->element == NULL || shape->element == t) {
        shape->element = t;
    } else if (type_is_numeric(t) && type_is_numeric(shape->element)) {
        shape->element = check_common(c, t, shape->element);
    } else {
        diagnostics_say(c->diagnostics, (*slot)->span, SAY(tensor_holds_either_numbers_or_bools));
        shape->broken = true;
    }
}

/* True when e fits the shape as the row of this level. */
static bool row_fits(checker *c, const expr *e, literal_shape *shape, uint32_t level, bool first) {
    if (level >= TL_MAX_RANK) {
        diagnostics_say(c->diagnostics, e->span, SAY(tensor_has_at_most_dimensions), TL_MAX_RANK);
        shape->broken = true;
        return false;
    }
    if (first) {
        shape->rank = level + 1;
        shape->dim[level] = e->list.count;
    } else if (shape->rank <= level) {
        diagnostics_say(c->diagnostics, e->span, SAY(rows_and_numbers_cannot_stand_side));
        shape->broken = true;
    } else if (shape->dim[level] != e->list.count) {
        diagnostics_say(c->diagnostics, e->span, SAY(row_has_other_length), e->list.count,
                        e->list.count == 1 ? "element" : "elements", shape->dim[level]);
        shape->broken = true;
    }
    return true;
}

static void add_rows(checker *c, expr *e, literal_shape *shape, uint32_t level, bool first, const type *wish) {
    e->type = check_scalar(c, TYPE_ERROR);
    if (!row_fits(c, e, shape, level, first))
        return;
    for (uint32_t i = 0; i < e->list.count; i++) {
        expr *item = e->list.items[i];
        if (item->kind == EXPR_ARRAY) {
            add_rows(c, item, shape, level + 1, first && i == 0, wish);
            continue;
        }
        if (!shape->broken && shape->rank != level + 1) {
            diagnostics_say(c->diagnostics, item->span, SAY(rows_and_numbers_cannot_stand_side));
            shape->broken = true;
        }
        add_leaf(c, &e->list.items[i], shape, wish);
    }
}

static void set_leaves(checker *c, expr *e, const type *element, const type *stored, int32_t rank) {
    e->type = type_tensor(c->types, stored, rank);
    for (uint32_t i = 0; i < e->list.count; i++) {
        if (e->list.items[i]->kind == EXPR_ARRAY) {
            set_leaves(c, e->list.items[i], element, stored, rank - 1);
            continue;
        }
        check_coerce(c, &e->list.items[i], element, NULL);
        check_cast_to(c, &e->list.items[i], stored);
    }
}

/* [a, b] of tensors: a new first dimension. */
static bool stack_tensors(checker *c, expr **slot) {
    expr *e = *slot;
    for (uint32_t i = 0; i < e->list.count; i++)
        if (e->list.items[i]->type->kind != TYPE_TENSOR)
            return false;
    const type *part = e->list.items[0]->type;
    for (uint32_t i = 1; i < e->list.count; i++) {
        const type *joined = check_join(c, part, e->list.items[i]->type);
        if (joined == NULL) {
            check_mismatch(c, e->list.items[i], part,
                           &(coerce_reason){e->list.items[0]->span, "the first element is here"});
            check_make_error(c, e);
            return true;
        }
        part = joined;
    }
    *slot = check_new_abi(c, TL_FN_tl_tensor_stack, e->span, e->list.items, e->list.count);
    (*slot)->type = type_tensor(c->types, part->tensor.element, part->tensor.rank < 0 ? -1 : part->tensor.rank + 1);
    return true;
}

/* How a tensor keeps numbers of this type. */
static const type *stored_type(const checker *c, const type *element) {
    return type_is_integer(element) ? check_scalar(c, TYPE_I64) : element;
}

/* No use demands a tensor, and a tensor would keep these numbers as others (check_infer.c: a list is preferred). */
static bool only_list_keeps(const expr *e, const type *expected, const type *element) {
    const bool undecided = e->list.form != NULL && e->becomes == NULL;
    return undecided && (expected == NULL || expected->kind != TYPE_TENSOR) && type_is_integer(element) &&
           element->kind != TYPE_I64 && !type_is_open_number(element);
}

static void rows_become_lists(checker *c, expr *e) {
    e->type = NULL;
    e->becomes = type_array(c->types, type_open(c->types, NULL), (int64_t)e->list.count);
    for (uint32_t i = 0; i < e->list.count; i++)
        if (e->list.items[i]->kind == EXPR_ARRAY)
            rows_become_lists(c, e->list.items[i]);
}

void check_array(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    if (e->becomes != NULL && (expected == NULL || type_resolve(c->types, expected)->kind == TYPE_OPEN)) {
        expected = e->becomes;
        c->open->has_open |= expected->may_have_open;
        e->is_vec |= expected->kind == TYPE_VEC && expected->vec.length < 0;
    }
    if (check_list_literal(c, slot, expected))
        return;
    bool wished = expected != NULL && expected->kind == TYPE_TENSOR && expected->tensor.element != NULL;
    const type *wish = wished ? expected->tensor.element : NULL;
    literal_shape shape = {0};
    add_rows(c, e, &shape, 0, true, wish);
    check_make_error(c, e);
    if (shape.broken)
        return;
    if (shape.has_tensors && shape.rank == 1 && shape.element == NULL && stack_tensors(c, slot))
        return;
    const type *element = shape.element != NULL ? shape.element : wished ? wish : check_scalar(c, TYPE_F32);
    if (only_list_keeps(e, expected, element)) {
        rows_become_lists(c, e);
        check_array(c, slot, expected);
        return;
    }
    element = check_settle_number(c, element);
    if (wished && check_widens(element, wish))
        element = wish;
    set_leaves(c, e, element, element == wish ? wish : stored_type(c, element), (int32_t)shape.rank);
}

/* ---- indexing -------------------------------------------------------------------------------- */

void check_merge_indices(checker *c, expr *e) {
    expr *inner = e->index.base;
    if (inner->kind != EXPR_INDEX || inner->in_parentheses || inner->index.base->type->kind != TYPE_TENSOR)
        return;
    uint32_t count = inner->index.count + e->index.count;
    expr **indices = CHECK_ARRAY(c, expr *, count);
    for (uint32_t i = 0; i < count; i++)
        indices[i] = i < inner->index.count ? inner->index.indices[i] : e->index.indices[i - inner->index.count];
    e->index.base = inner->index.base;
    e->index.indices = indices;
    e->index.count = count;
}

static uint32_t first_unchecked(const expr *e) {
    uint32_t i = 0;
    while (i < e->index.count && e->index.indices[i]->type != NULL && !e->index.indices[i]->is_unjudged)
        i++;
    return i;
}

static void check_one_index(checker *c, expr **index, const type *wish) {
    if ((*index)->is_unjudged)
        (*index)->is_unjudged = false;
    else
        check_expr(c, index, wish);
}

static void check_indices(checker *c, expr *e) {
    for (uint32_t i = first_unchecked(e); i < e->index.count; i++) {
        if (e->index.indices[i]->kind == EXPR_RANGE) {
            diagnostics_say(c->diagnostics, e->index.indices[i]->span, SAY(range_stands_alone_between_brackets));
            check_make_error(c, e->index.indices[i]);
            continue;
        }
        check_one_index(c, &e->index.indices[i], check_scalar(c, TYPE_I64));
        check_coerce(c, &e->index.indices[i], check_scalar(c, TYPE_I64), NULL);
    }
}

/* t[a..b], t[a..], t[..b]: rows a to b. */
static void check_slice(checker *c, expr **slot) {
    expr *e = *slot, *range = e->index.indices[0], *base = e->index.base;
    const type *index = check_scalar(c, TYPE_I64);
    expr *operands[4] = {base, check_new_int(c, range->span, 0), range->range.low, check_range_end(c, range)};
    if (operands[2] == NULL) {
        operands[2] = check_new_int(c, range->span, 0);
    } else {
        check_expr(c, &operands[2], index);
        check_coerce(c, &operands[2], index, NULL);
    }
    if (operands[3] == NULL) {
        if (!check_is_place(base)) {
            diagnostics_say(c->diagnostics, range->span, SAY(end_of_this_range_is_missing));
            check_make_error(c, e);
            return;
        }
        expr *extent[2] = {check_copy_place(c, base), check_new_int(c, range->span, 0)};
        operands[3] = check_new_abi(c, TL_FN_tl_tensor_dim, range->span, extent, 2);
    } else {
        check_expr(c, &operands[3], index);
        check_coerce(c, &operands[3], index, NULL);
    }
    *slot = check_new_abi(c, TL_FN_tl_tensor_slice, e->span, operands, 4);
    (*slot)->type = type_tensor(c->types, base->type->tensor.element, base->type->tensor.rank);
}

/* The index is a tensor or list of places, or a mask; otherwise it is a number. Real numbers that a bracket held become
 * whole. */
static bool is_places(checker *c, expr **index) {
    check_one_index(c, index, (*index)->kind == EXPR_ARRAY ? NULL : check_scalar(c, TYPE_I64));
    const type *t = type_resolve(c->types, (*index)->type);
    if (t->kind == TYPE_VEC && type_is_integer(type_resolve(c->types, t->vec.element))) {
        *index = build_call(c, (*index)->span, "Tensor", "from_vec", index, 1);
        check_expr(c, index, NULL);
        return true;
    }
    if (t->kind != TYPE_TENSOR || t->tensor.rank == 0)
        return false;
    const type *held = t->tensor.element == NULL ? NULL : type_resolve(c->types, t->tensor.element);
    if (t->tensor.rank > 0 && held != NULL && type_is_float(held)) {
        expr *operands[2] = {*index, check_new_int(c, (*index)->span, TL_I64)};
        *index = check_new_abi(c, TL_FN_tl_tensor_to_dtype, (*index)->span, operands, 2);
        (*index)->type = type_tensor(c->types, check_scalar(c, TYPE_I64), t->tensor.rank);
        return true;
    }
    return held == NULL || held->kind == TYPE_BOOL || type_is_integer(held);
}

bool check_place_tensors(checker *c, expr *e) {
    bool tensors = false;
    for (uint32_t i = first_unchecked(e); i < e->index.count; i++)
        if (e->index.indices[i]->kind == EXPR_RANGE)
            return false;
    for (uint32_t i = first_unchecked(e); i < e->index.count; i++)
        tensors |= is_places(c, &e->index.indices[i]);
    for (uint32_t i = 0; i < e->index.count; i++) {
        expr **index = &e->index.indices[i];
        bool number = type_resolve(c->types, (*index)->type)->kind != TYPE_TENSOR;
        if (!tensors || number)
            check_coerce(c, index, check_scalar(c, TYPE_I64), NULL);
        if (tensors && number)
            check_number_as_tensor(c, index);
    }
    return tensors;
}

expr *check_list_of_places(checker *c, const expr *e) {
    expr *list = build_list(c, EXPR_ARRAY, e->span, e->index.indices, e->index.count);
    list->is_vec = true;
    return list;
}

/* t[numbers]: the rows with these numbers, in a list of any rank; t[mask]: the elements where a mask holds; t[is, js]:
 * the elements, or rows, with these numbers side by side. */
static bool index_by_tensor(checker *c, expr **slot) {
    expr *e = *slot;
    if (first_unchecked(e) > 0 || c->nest->comprehension != NULL || !check_place_tensors(c, e))
        return false;
    expr *several = e->index.count > 1 ? check_list_of_places(c, e) : NULL;
    *slot = build_method(c, e->span, e->index.base, several != NULL ? "__at" : "__rows_at",
                         several != NULL ? &several : e->index.indices, 1);
    check_expr(c, slot, NULL);
    return true;
}

static bool is_zero(const expr *e) {
    return e->kind == EXPR_INT && e->integer.value == 0;
}

static void index_tensor(checker *c, expr **slot, const type *base, const type *expected) {
    expr *e = *slot;
    check_count_from_end(c, e, first_unchecked(e));
    if (check_part(c, slot, base))
        return;
    if (e->index.count == 1 && e->index.indices[0]->kind == EXPR_RANGE) {
        check_slice(c, slot);
        return;
    }
    if (index_by_tensor(c, slot))
        return;
    if (base->tensor.rank == 0 && e->index.count == 1 && is_zero(e->index.indices[0])) {
        *slot = e->index.base; /* the one number of a tensor of rank 0 */
        check_read_item(c, slot);
        return;
    }
    check_indices(c, e);
    if (base->tensor.rank >= 0 && e->index.count > (uint32_t)base->tensor.rank) {
        diagnostics_say(c->diagnostics, e->span, SAY(tensor_of_rank_cannot_have), (int)base->tensor.rank,
                        e->index.count, e->index.count == 1 ? "index" : "indices");
    }
    if (e->index.count > TL_MAX_RANK) {
        diagnostics_say(c->diagnostics, e->span, SAY(tensor_has_at_most_dimensions), TL_MAX_RANK);
        e->index.count = TL_MAX_RANK;
    }
    const type *wish = e->is_updated ? check_scalar(c, TYPE_F64) : expected;
    e->type = base->tensor.element != NULL ? base->tensor.element
                                           : check_unstated_element(c, e->span, e->index.base, wish);
}

/* Too few indices: known only once the whole of t[i][j] has been seen, so by what uses the
 * value. Rows have methods. */
static void index_vec(checker *c, expr *e, const type *base) {
    check_indices(c, e);
    if (e->index.count != 1) {
        diagnostics_say(c->diagnostics, e->span, SAY(vec_has_one_index));
        return;
    }
    e->type = base->vec.element;
}

/* t[i] of a matrix is its row, as a tensor; of a tensor of unknown rank where a tensor is wanted, too. */
static bool wants_rows(const checker *c, const expr *e, const type *base, const type *expected) {
    if (base->tensor.rank < 0) {
        const binding *b = e->index.base->kind == EXPR_NAME ? e->index.base->name.binding : NULL;
        bool starts_as_more = b != NULL && b->first_rank > e->index.count;
        bool wanted = expected != NULL && type_resolve(c->types, expected)->kind == TYPE_TENSOR;
        return c->nest->comprehension == NULL && (starts_as_more || wanted || e->becomes != NULL);
    }
    return e->index.count < (uint32_t)base->tensor.rank ||
           (e->becomes != NULL && !e->is_shown && c->nest->comprehension == NULL);
}

/* t[i], checked, as the row that it is. */
static void select_rows(checker *c, expr **slot, const type *base) {
    expr *e = *slot, *part = e->index.base;
    for (uint32_t i = 0; i < e->index.count; i++) {
        expr *operands[2] = {part, e->index.indices[i]};
        int32_t rank = base->tensor.rank < 0 ? base->tensor.rank : base->tensor.rank - 1 - (int32_t)i;
        const type *t = type_tensor(c->types, base->tensor.element, rank);
        part = check_new_abi(c, TL_FN_tl_tensor_row, e->span, operands, 2);
        part->type = t;
    }
    part->is_element = part->type->tensor.rank <= 0;
    *slot = part;
}

/* v[a..b], v[a..], v[..b], v[..] of a Vec or String: a copy of that part. */
static bool index_range(checker *c, expr **slot) {
    expr *e = *slot, *base = e->index.base;
    const type *t = type_resolve(c->types, base->type);
    expr *range = e->index.count == 1 ? e->index.indices[0] : NULL;
    bool text = t->kind == TYPE_STRING;
    if (range == NULL || range->kind != EXPR_RANGE || (t->kind != TYPE_VEC && !text))
        return false;
    expr *low = range->range.low, *high = check_range_end(c, range);
    if (high == NULL) {
        expr *from = low != NULL ? low : check_new_int(c, e->span, 0);
        *slot = build_method(c, e->span, base, "__from", &from, 1);
    } else {
        expr *ends[2] = {low != NULL ? low : check_new_int(c, e->span, 0), high};
        *slot = build_method(c, e->span, base, text ? "__part" : "slice", ends, 2);
    }
    check_expr(c, slot, NULL);
    return true;
}

void check_index(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    expr *length = check_made_length(c, e);
    if (length != NULL) {
        check_expr(c, &e->index.indices[0], check_scalar(c, TYPE_USIZE));
        check_expr(c, &length, NULL);
        if (type_is_integer(type_resolve(c->types, e->index.indices[0]->type))) {
            *slot = check_made_element(c, e, e->index.indices[0], length);
            check_expr(c, slot, expected);
            return;
        }
    }
    bool goes_on = c->around->index_goes_on;
    if (!goes_on && check_count_from_end_of_value(c, slot, expected))
        return;
    c->around->index_goes_on = e->index.base->kind == EXPR_INDEX && !e->index.base->in_parentheses;
    check_expr(c, &e->index.base, NULL);
    c->around->index_goes_on = false;
    check_merge_indices(c, e);
    if (check_index_by_range(c, slot, expected) || index_range(c, slot))
        return;
    const type *base = type_resolve(c->types, e->index.base->type);
    check_make_error(c, e);
    switch (base->kind) {
    case TYPE_TENSOR:
        index_tensor(c, slot, base, expected);
        if (!goes_on && *slot == e && e->kind == EXPR_INDEX && wants_rows(c, e, base, expected))
            select_rows(c, slot, base);
        return;
    case TYPE_VEC:
        index_vec(c, e, base);
        return;
    case TYPE_ERROR:
    case TYPE_NEVER:
        check_list(c, e->index.indices, e->index.count); /* whatever they are */
        return;
    case TYPE_STRING: /* s[i] is s.char_at(i) */
        if (e->index.count == 1) {
            *slot = build_method(c, e->span, e->index.base, "char_at", e->index.indices, 1);
            check_expr(c, slot, NULL);
            return;
        }
        check_indices(c, e);
        diagnostics_say(c->diagnostics, e->span, SAY(string_has_one_index));
        return;
    case TYPE_STRUCT: /* m[i] is m.index(i) */
        if (check_method_named(c, base->structure, "index") != NULL) {
            *slot = build_method(c, e->span, e->index.base, "index", e->index.indices, e->index.count);
            check_expr(c, slot, NULL);
            return;
        }
        if (check_leads(c, base)) {
            e->index.base = check_led(c, e->index.base, false);
            e->type = NULL;
            check_expr(c, slot, NULL);
            return;
        }
        /* fall through */
    default:
        check_indices(c, e);
        diagnostic *d = diagnostics_say(c->diagnostics, e->index.base->span, SAY(cannot_be_indexed),
                                        check_type_text(c, base));
        if (base->kind == TYPE_TUPLE)
            diagnostics_note(c->diagnostics, d, (source_span){0}, "the parts of a tuple are `x.0`, `x.1`, …");
        return;
    }
}
