/* check_fits.c: what fits where without a conversion, which type two values have in common, and the conversions that
 * cannot fail. What has to be converted by more than a cast is check_convert.c.
 */
#include "language/types/check_fits.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_operation.h"
#include "language/types/check_tree_made.h"

bool check_occurs(const type *open, const type *in) {
    if (in == open)
        return true;
    if (in->kind == TYPE_OPEN)
        return *in->open.resolved != NULL && check_occurs(open, *in->open.resolved);
    if (in->kind == TYPE_VEC)
        return check_occurs(open, in->vec.element);
    const struct_item *of = in->kind == TYPE_STRUCT && in->may_have_open ? in->structure->template : NULL;
    for (uint32_t i = 0; of != NULL && i < of->generics.count; i++)
        if (check_occurs(open, in->structure->arguments[i]))
            return true;
    for (uint32_t i = 0; in->kind == TYPE_TUPLE && in->may_have_open && i < in->tuple.count; i++)
        if (check_occurs(open, in->tuple.items[i]))
            return true;
    return false;
}

/* A vector that got a tensor of rank 2 may get one of rank 1 next. */
static bool decide(checker *c, const type *open, const type *t) {
    if (t->kind == TYPE_VOID || check_occurs(open, t))
        return false;
    type_decide(open, t->kind == TYPE_TENSOR ? type_tensor(c->types, t->tensor.element, -1) : t);
    return true;
}

static bool tensors_fit(checker *c, const type *from, const type *to) {
    const type *a = from->tensor.element, *b = to->tensor.element;
    a = a == NULL ? NULL : type_resolve(c->types, a);
    b = b == NULL ? NULL : type_resolve(c->types, b);
    if (b != NULL && b->kind == TYPE_OPEN && a != b) { /* the T of a Tensor<T, 2> */
        type_decide(b, a != NULL ? a : check_scalar(c, TYPE_F32));
        b = type_resolve(c->types, b);
    }
    if (a != NULL && a->kind == TYPE_OPEN && b != NULL && a != b) {
        type_decide(a, b);
        a = b;
    }
    if (a != NULL && b != NULL && (type_is_open_number(a) || type_is_open_number(b))) {
        check_unify_numbers(c, a, b);
        a = type_resolve(c->types, a);
        b = type_resolve(c->types, b);
    }
    bool element = a == NULL || b == NULL || a == b || (type_is_integer(a) && type_is_integer(b));
    return element && (from->tensor.rank < 0 || to->tensor.rank < 0 || from->tensor.rank == to->tensor.rank);
}

bool check_are_lengths(const type *a, const type *b) {
    return !type_is_open_number(a) && !type_is_open_number(b) &&
           ((a->kind == TYPE_I64 && b->kind == TYPE_USIZE) || (a->kind == TYPE_USIZE && b->kind == TYPE_I64));
}

/* Inside of lists, tuples and structs a length may be an i64 and the other way round: the same 64 bits. */
static bool part_fits(checker *c, const type *from, const type *to) {
    from = type_resolve(c->types, from);
    to = type_resolve(c->types, to);
    return check_are_lengths(from, to) || check_fits(c, from, to);
}

/* Dyn types of which one is open. */
static bool dyns_fit(checker *c, const dyn_type *from, const dyn_type *to) {
    const closure_signature *a = &from->signature, *b = &to->signature;
    bool fits = from->trait == to->trait && a->count == b->count && a->is_once == b->is_once &&
                (from->item == NULL) == (to->item == NULL) && (a->result == NULL) == (b->result == NULL) &&
                (from->item == NULL || check_fits(c, from->item, to->item)) &&
                (a->result == NULL || check_fits(c, a->result, b->result));
    for (uint32_t i = 0; fits && i < a->count; i++)
        fits = check_fits(c, a->parameters[i], b->parameters[i]);
    for (uint32_t i = 0; fits && from->trait != NULL && i < from->trait->generics.count; i++)
        fits = check_fits(c, from->arguments[i], to->arguments[i]);
    return fits && type_resolve(c->types, from->s->type) == type_resolve(c->types, to->s->type);
}

bool check_fits(checker *c, const type *from, const type *to) {
    from = type_resolve(c->types, from);
    to = type_resolve(c->types, to);
    if (from == to || type_is_silent(from) || type_is_silent(to))
        return true;
    if (to->kind == TYPE_OPEN)
        return decide(c, to, from);
    if (from->kind == TYPE_OPEN)
        return decide(c, from, to);
    if (type_is_open_number(from) || type_is_open_number(to))
        return check_unify_numbers(c, from, to);
    if (from->kind != to->kind)
        return false;
    switch (from->kind) {
    case TYPE_TENSOR:
        return tensors_fit(c, from, to);
    case TYPE_REFERENCE: { /* written through: the same type, no conversion */
        const type *a = type_resolve(c->types, from->vec.element), *b = type_resolve(c->types, to->vec.element);
        bool tensors = a->kind == TYPE_TENSOR &&
                       b->kind == TYPE_TENSOR && /* `Tensor` as it is written names no elements */
                       a->tensor.rank == b->tensor.rank && (a->tensor.element == NULL || b->tensor.element == NULL);
        return from->vec.length == to->vec.length &&
               (a == b || tensors || (a->may_have_open || b->may_have_open ? check_fits(c, a, b) : false) ||
                (a->kind == b->kind && (a->kind == TYPE_VEC || a->kind == TYPE_REFERENCE) && check_fits(c, a, b)));
    }
    case TYPE_VEC: /* an array is a Vec of which the length is known */
        return (to->vec.length == -1 || from->vec.length == to->vec.length) && type_is_box(from) == type_is_box(to) &&
               part_fits(c, from->vec.element, to->vec.element);
    case TYPE_STRUCT: {
        const struct_item *a = from->structure, *b = to->structure;
        if (a->dyn != NULL && b->dyn != NULL)
            return (from->may_have_open || to->may_have_open) && dyns_fit(c, a->dyn, b->dyn);
        bool fits = a->template != NULL && a->template == b->template;
        for (uint32_t i = 0; fits && i < a->template->generics.count; i++)
            fits = part_fits(c, a->arguments[i], b->arguments[i]);
        return fits;
    }
    case TYPE_TUPLE: {
        bool fits = from->tuple.count == to->tuple.count;
        for (uint32_t i = 0; fits && i < from->tuple.count; i++)
            fits = part_fits(c, from->tuple.items[i], to->tuple.items[i]);
        return fits;
    }
    default:
        return false;
    }
}

bool check_widens(const type *from, const type *to) {
    if (from == to)
        return true;
    if (type_is_float(to))
        return type_is_integer(from) || (type_is_float(from) && type_bits(from) <= type_bits(to));
    if (!type_is_integer(from) || !type_is_integer(to))
        return false;
    if (type_is_signed(from) == type_is_signed(to))
        return type_bits(from) <= type_bits(to);
    bool lengths = (from->kind == TYPE_USIZE && to->kind == TYPE_I64) ||
                   (from->kind == TYPE_I64 && to->kind == TYPE_USIZE);
    return lengths || (type_is_signed(to) && type_bits(from) < type_bits(to));
}

static const type *signed_of_bits(const checker *c, uint32_t bits) {
    return check_scalar(c, bits <= 8 ? TYPE_I8 : bits <= 16 ? TYPE_I16 : bits <= 32 ? TYPE_I32 : TYPE_I64);
}

const type *check_common(checker *c, const type *a, const type *b) {
    a = type_resolve(c->types, a);
    b = type_resolve(c->types, b);
    if (a == b)
        return a;
    if (type_is_open_number(a) || type_is_open_number(b)) {
        if (type_is_float(a) != type_is_float(b)) /* the whole one is converted */
            return type_is_float(a) ? a : b;
        if (type_is_open_number(a) && type_is_open_number(b))
            check_unify_numbers(c, a, b);
        return type_resolve(c->types, type_is_open_number(a) ? b : a);
    }
    if (type_is_float(a) || type_is_float(b)) {
        bool wide = a->kind == TYPE_F64 || b->kind == TYPE_F64;
        return check_scalar(c, wide ? TYPE_F64 : TYPE_F32);
    }
    if (type_is_signed(a) == type_is_signed(b))
        return type_bits(a) >= type_bits(b) ? a : b;
    const type *with_sign = type_is_signed(a) ? a : b, *without = type_is_signed(a) ? b : a;
    uint32_t bits = type_bits(without) * 2 > 64 ? 64 : type_bits(without) * 2;
    return type_bits(with_sign) > bits ? with_sign : signed_of_bits(c, bits);
}

static const type *join_tensors(checker *c, const type *a, const type *b) {
    bool elements_differ = a->tensor.element != b->tensor.element;
    if (elements_differ && a->tensor.element != NULL && b->tensor.element != NULL) {
        bool whole = type_is_integer(a->tensor.element) && type_is_integer(b->tensor.element);
        int32_t rank = a->tensor.rank == b->tensor.rank ? a->tensor.rank : -1;
        return whole ? type_tensor(c->types, check_scalar(c, TYPE_I64), rank) : NULL;
    }
    return type_tensor(c->types, elements_differ ? NULL : a->tensor.element,
                       a->tensor.rank == b->tensor.rank ? a->tensor.rank : -1);
}

const type *check_join(checker *c, const type *a, const type *b) {
    if (type_is_silent(a))
        return b->kind == TYPE_NEVER ? a : b;
    if (type_is_silent(b) || a == b)
        return a;
    if (type_is_numeric(a) && type_is_numeric(b))
        return check_common(c, a, b);
    if (a->kind == TYPE_TENSOR && b->kind == TYPE_TENSOR)
        return join_tensors(c, a, b);
    return check_fits(c, a, b) ? type_resolve(c->types, a) : NULL;
}

bool check_free_literal(const expr *e) {
    for (int depth = 0; depth < 8; depth++) {
        switch (e->kind) {
        case EXPR_INT:
            return e->integer.suffix == TYPE_VOID;
        case EXPR_FLOAT:
            return e->floating.suffix == TYPE_VOID;
        case EXPR_UNARY:
            if (e->unary.op != UNARY_NEG)
                return false;
            e = e->unary.operand;
            break;
        case EXPR_BINARY:
            if (e->binary.op < BINARY_ADD || e->binary.op > BINARY_REM || !check_free_literal(e->binary.right))
                return false;
            e = e->binary.left;
            break;
        default:
            return false;
        }
    }
    return false;
}

void check_cast_to(checker *c, expr **slot, const type *to) {
    expr *e = *slot;
    const type *from = type_resolve(c->types, e->type);
    to = type_resolve(c->types, to);
    if (from == to || type_is_silent(from))
        return;
    bool back = e->kind == EXPR_CAST && e->cast.implicit && from->kind == TYPE_USIZE && to->kind == TYPE_I64 &&
                e->cast.operand->type == to;
    if (back) { /* an i64 that became a length is the same i64 */
        *slot = e->cast.operand;
        return;
    }
    expr *cast = check_new(c, EXPR_CAST, e->span, to);
    cast->cast.operand = e;
    cast->cast.implicit = true;
    *slot = cast;
}

/* 0.1 behind the name is 0.1 of an f64, not an f32 made longer. */
void check_widen_to(checker *c, expr **slot, const type *to) {
    const type *from = type_resolve(c->types, (*slot)->type);
    to = type_resolve(c->types, to);
    if (check_convert_number(c, slot, from, to) == NUMBER_KNOWN)
        check_cast_to(c, slot, to);
}

void check_read_item(checker *c, expr **slot) {
    expr *e = *slot;
    const type *element = e->type->tensor.element;
    if (element == NULL) {
        *slot = check_new_abi(c, TL_FN_tl_tensor_exact_f32, e->span, &e, 1);
        (*slot)->type = check_unstated_element(c, e->span, e, NULL);
        if (!type_is_open_number((*slot)->type))
            check_close_unstated(*slot);
        return;
    }
    tl_abi_index abi = type_is_integer(element)     ? TL_FN_tl_tensor_item_i64
                       : element->kind == TYPE_BOOL ? TL_FN_tl_tensor_item_bool
                                                    : TL_FN_tl_tensor_item;
    *slot = check_new_abi(c, abi, e->span, &e, 1);
    check_cast_to(c, slot, element);
}

bool check_item(checker *c, expr **slot) {
    if ((*slot)->type->tensor.rank > 0)
        return false;
    check_read_item(c, slot);
    return true;
}

void check_unbox(checker *c, expr **slot) {
    const type *t = type_resolve(c->types, (*slot)->type);
    if (!type_is_box(t))
        return;
    *slot = build_index(c, (*slot)->span, *slot, check_new_int(c, (*slot)->span, 0));
    (*slot)->type = type_resolve(c->types, t->vec.element);
}
