/* check_infer_element.c: what the tensors hold that operations yield, by the rules that the tables state, in the walk.
 *
 *     a + b       the widest of both          a / 2, a * 0.5 of whole numbers     real: not said
 *     a.sqrt()    real                        a == b                              bool
 *
 * What must stay true (tests/golden/lang_followed_mixed.tl): whole numbers and bools are said of no tensor that may
 * hold something else, as an element that is read as such ends the program then. f64 may be said of any: it holds every
 * f32.
 */
#include "language/front/check_infer.h"
#include "language/types/check_written.h"

bool infer_is_f64(inference *n, const type *tensor) {
    const type *element = tensor->kind == TYPE_TENSOR && tensor->tensor.element != NULL
                              ? type_resolve(n->c->types, tensor->tensor.element)
                              : NULL;
    return element != NULL && element->kind == TYPE_F64 && !type_is_open_number(element);
}

bool infer_is_whole(inference *n, const type *element) {
    element = element == NULL ? NULL : infer_value(n, element);
    return element != NULL && (element->kind == TYPE_BOOL || type_is_integer(element));
}

const type *infer_element(inference *n, const type *tensor) {
    const type *element = tensor->tensor.element == NULL ? NULL : infer_value(n, tensor->tensor.element);
    if (element == NULL || element->kind == TYPE_OPEN)
        return NULL;
    if (type_is_open_number(element)) /* tensor([1, 2]) where nothing wants anything else */
        return type_is_integer(element) ? check_scalar(n->c, TYPE_I64) : NULL;
    return element;
}

/* Of whole ones of any width: tensors keep i64. */
static const type *real_of(inference *n, const type *element) {
    return infer_is_whole(n, element) ? NULL : element;
}

typedef struct widest {
    const type *element;
    bool any, unknown, f64, real_number;
} widest;

static void widen(inference *n, widest *w, const type *t) {
    t = infer_value(n, t);
    t = t->kind == TYPE_VEC ? infer_value(n, t->vec.element) : t;
    w->real_number |= type_is_float(t);
    w->unknown |= t->kind == TYPE_OPEN;
    if (t->kind != TYPE_TENSOR)
        return;
    const type *element = infer_element(n, t);
    w->f64 |= infer_is_f64(n, t);
    w->unknown |= element == NULL;
    if (element != NULL)
        w->element = w->any ? check_wider_element(n->c, w->element, element) : element;
    w->any |= element != NULL;
}

static const type *widest_of(inference *n, const type *receiver, const type *const *arguments, uint32_t count) {
    widest w = {0};
    if (receiver != NULL)
        widen(n, &w, receiver);
    for (uint32_t i = 0; i < count; i++)
        widen(n, &w, arguments[i]);
    if (w.f64)
        return check_scalar(n->c, TYPE_F64);
    return w.unknown || (w.real_number && infer_is_whole(n, w.element)) ? NULL : w.element;
}

const type *infer_by_rule(inference *n, tl_dtype_rule rule, const type *receiver, const type *const *arguments,
                          uint32_t count) {
    const bool method = receiver != NULL && receiver->kind == TYPE_TENSOR;
    const type *element = method ? receiver->tensor.element : widest_of(n, NULL, arguments, count > 0);
    switch (rule) {
    case DTYPE_SAME:
        return element;
    case DTYPE_FLOAT:
        return real_of(n, element);
    case DTYPE_PROMOTE:
        return widest_of(n, receiver, arguments, count);
    case DTYPE_COUNT:
        element = widest_of(n, receiver, arguments, count);
        return element != NULL && element->kind == TYPE_BOOL ? check_scalar(n->c, TYPE_I64) : element;
    case DTYPE_REAL:
        return real_of(n, widest_of(n, receiver, arguments, count));
    case DTYPE_CHOICE:
        return widest_of(n, NULL, arguments + (method || count == 0 ? 0 : 1), method || count == 0 ? count : count - 1);
    case DTYPE_F64:
        return check_scalar(n->c, TYPE_F64);
    case DTYPE_I64:
        return check_scalar(n->c, TYPE_I64);
    case DTYPE_BOOL:
        return check_scalar(n->c, TYPE_BOOL);
    default:
        return NULL;
    }
}

const type *infer_with_element(inference *n, const type *t, const type *element) {
    t = infer_value(n, t);
    if (element == NULL)
        return t;
    if (t->kind == TYPE_TENSOR && t->tensor.element == NULL)
        return type_tensor(n->c->types, element, t->tensor.rank);
    if (t->kind == TYPE_VEC)
        return type_array(n->c->types, infer_with_element(n, t->vec.element, element), t->vec.length);
    if (t->kind != TYPE_TUPLE)
        return t;
    const type **items = CHECK_ARRAY(n->c, const type *, t->tuple.count);
    for (uint32_t i = 0; i < t->tuple.count; i++)
        items[i] = infer_with_element(n, t->tuple.items[i], element);
    return type_tuple(n->c->types, items, t->tuple.count);
}

/* One of the two tensors holds whole ones. */
static const type *element_of_tensors(inference *n, const type *a, const type *b) {
    const bool whole = infer_is_whole(n, a), other = infer_is_whole(n, b);
    if (a == NULL || b == NULL)
        return NULL;
    if (!whole || !other)
        return whole ? b : a;
    const bool bools[2] = {infer_value(n, a)->kind == TYPE_BOOL, infer_value(n, b)->kind == TYPE_BOOL};
    return bools[0] && bools[1] ? NULL : bools[0] ? b : a;
}

const type *infer_element_of_both(inference *n, binary_op op, const type *a, const type *b) {
    const type *tensor = a->kind == TYPE_TENSOR ? a : b, *other = tensor == a ? b : a;
    const type *held = tensor->tensor.element, *beside = other->kind == TYPE_TENSOR ? other->tensor.element : NULL;
    const bool whole = infer_is_whole(n, held);
    if (infer_is_f64(n, other))
        return beside;
    if (infer_is_f64(n, tensor) || (!whole && !infer_is_whole(n, beside)))
        return held;
    if (op == BINARY_DIV)
        return NULL;
    if (other->kind == TYPE_TENSOR)
        return element_of_tensors(n, held, beside);
    return type_is_integer(other) && infer_value(n, held)->kind != TYPE_BOOL ? held : NULL;
}
