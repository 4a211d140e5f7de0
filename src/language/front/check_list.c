/* check_list.c: fixed arrays and vec![…].
 *
 *     [a, b], [v; n]    ─►  elaborate_list.c
 *
 * A list in brackets is a tensor, unless an array or Vec is wanted or its items are nothing that a tensor holds.
 */
#include "language/front/check_convert.h"
#include "language/front/check_derive_clone.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/types/check_context.h"
#include "language/types/check_variants.h"

bool check_combine(binary_op op, int64_t a, int64_t b, int64_t *out) {
    switch (op) {
    case BINARY_ADD:
        return !__builtin_add_overflow(a, b, out);
    case BINARY_SUB:
        return !__builtin_sub_overflow(a, b, out);
    case BINARY_MUL:
        return !__builtin_mul_overflow(a, b, out);
    case BINARY_DIV:
        *out = b > 0 ? a / b : 0;
        return b > 0;
    case BINARY_REM:
        *out = b > 0 ? a % b : 0;
        return b > 0;
    case BINARY_SHL:
        *out = a >= 0 && b >= 0 && b < 62 && a < (INT64_C(1) << (62 - b)) ? a << b : -1;
        return *out >= 0;
    case BINARY_EQ:
    case BINARY_NE:
        *out = (a == b) == (op == BINARY_EQ);
        return true;
    case BINARY_LT:
    case BINARY_GE:
        *out = (a < b) == (op == BINARY_LT);
        return true;
    case BINARY_GT:
    case BINARY_LE:
        *out = (a > b) == (op == BINARY_GT);
        return true;
    default:
        return false;
    }
}

/* The expression is checked. */
static bool evaluate(const expr *e, int64_t *out, int depth) {
    if (depth > 200 || e->type == NULL)
        return false;
    if (e->kind == EXPR_NAME && e->name.constant != NULL && e->name.constant->value != NULL)
        return evaluate(e->name.constant->value, out, depth + 1);
    if (e->kind == EXPR_CAST)
        return type_is_integer(e->type) && evaluate(e->cast.operand, out, depth + 1);
    if (e->kind == EXPR_BINARY) {
        int64_t left, right;
        return type_is_integer(e->type) && evaluate(e->binary.left, &left, depth + 1) &&
               evaluate(e->binary.right, &right, depth + 1) && check_combine(e->binary.op, left, right, out);
    }
    if (e->kind == EXPR_INT && type_is_integer(e->type)) {
        *out = (int64_t)e->integer.value;
        return true;
    }
    return false;
}

bool check_constant_integer(checker *c, expr **slot, int64_t *out, const char *what) {
    const type *integer = check_scalar(c, TYPE_I64);
    bool calls = false;
    if (!check_known_call(c, slot, &calls) && calls) {
        diagnostics_say(c->diagnostics, (*slot)->span, SAY(is_whole_number_known_beforehand), what);
        check_make_error(c, *slot);
        return false;
    }
    check_expr(c, slot, integer);
    const expr *e = *slot;
    if (evaluate(e, out, 0))
        return true;
    if (!type_is_silent(e->type))
        diagnostics_say(c->diagnostics, e->span, SAY(is_whole_number_known_beforehand), what);
    return false;
}

static const type *element_wanted(checker *c, const type *expected) {
    if (expected != NULL && expected->kind == TYPE_VEC)
        return expected->vec.element;
    c->open->has_open = true;
    return type_open(c->types, NULL);
}

/* Where any tensors are wanted, what all items hold is kept: a list of Tensor<i64> is one for all that takes
 * tensors. */
static const type *element_of_items(checker *c, expr *e, const type *wanted) {
    const type *open = type_resolve(c->types, wanted), *held = NULL;
    if (open->kind != TYPE_TENSOR || open->tensor.element != NULL)
        return wanted;
    for (uint32_t i = 0; i < e->list.count; i++) {
        check_keep_reference(e->list.items[i]);
        check_expr(c, &e->list.items[i], open);
        const type *t = type_resolve(c->types, e->list.items[i]->type);
        if (t->kind != TYPE_TENSOR || t->tensor.element == NULL || (held != NULL && held != t->tensor.element))
            return wanted;
        held = t->tensor.element;
    }
    return held == NULL || held->kind == TYPE_OPEN ? wanted : type_tensor(c->types, held, open->tensor.rank);
}

/* [f(), ()]: one item that is written so says that all are. */
static bool holds_units(checker *c, expr *e) {
    bool units = false;
    for (uint32_t i = 0; i < e->list.count; i++) {
        units |= check_unit_value(c, &e->list.items[i]) ||
                 (e->list.items[i]->type != NULL && e->list.items[i]->type == check_unit_type(c));
    }
    return units;
}

/* [&mut w] for the library, which asks for tensors and leaves their types as they are: w may have any. */
static void lend_any(checker *c, expr **item, const type *element) {
    const type *t = type_resolve(c->types, element), *to = type_is_reference(t) ? type_target(c->types, t) : t;
    if (t == to || to->kind != TYPE_TENSOR || to->tensor.element != NULL || to->tensor.rank >= 0)
        return;
    check_expr(c, item, element);
    for (expr *e = *item;; e = e->block->result) {
        const type *from = type_resolve(c->types, e->type);
        if (!type_is_reference(from) || type_target(c->types, from)->kind != TYPE_TENSOR)
            return;
        e->type = t;
        if (e->kind != EXPR_BLOCK)
            return;
        e->block->type = t;
    }
}

static void fill(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const type *element = holds_units(c, e) ? check_unit_type(c) : element_of_items(c, e, element_wanted(c, expected));
    bool bytes = e->list.is_bytes && expected != NULL && expected->kind == TYPE_VEC &&
                 expected->vec.length >= 0; /* const A: &[u8; 2] = b"ab" */
    int64_t length = e->is_vec && !bytes ? -1 : (int64_t)e->list.count;
    for (uint32_t i = 0; i < e->list.count; i++) {
        expr **item = &e->list.items[i];
        check_keep_reference(*item);
        if (e->list.to_library)
            lend_any(c, item, element);
        const type *wanted = type_resolve(c->types, element); /* the first item may say it */
        check_expr(c, item, wanted->kind == TYPE_OPEN ? NULL : wanted);
        check_coerce_branch(c, item, wanted, NULL);
    }
    e->kind = EXPR_LIST;
    e->type = type_array(c->types, element, length);
}

static bool holds_no_tensor_elements(checker *c, expr *e) {
    if (e->list.count == 0 || holds_units(c, e))
        return e->list.count > 0;
    expr **first = &e->list.items[0];
    while ((*first)->kind == EXPR_UNARY && (*first)->unary.op == UNARY_REFERENCE && !(*first)->unary.is_mutable)
        first = &(*first)->unary.operand;
    if ((*first)->kind == EXPR_ARRAY)
        return (*first)->is_vec || holds_no_tensor_elements(c, *first);
    switch ((*first)->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_BOOL:
    case EXPR_UNARY:
    case EXPR_BINARY:
        if ((*first)->kind == EXPR_UNARY && (*first)->unary.op == UNARY_REFERENCE && (*first)->unary.is_mutable)
            return true;
        return false; /* literals follow what is wanted: they are checked later */
    case EXPR_CLOSURE:
        return true;
    default:
        break;
    }
    check_keep_reference(*first);
    check_expr(c, first, NULL);
    const type *t = type_resolve(c->types, (*first)->type);
    return type_is_reference(t) || t->kind == TYPE_STRING || t->kind == TYPE_STRUCT || t->kind == TYPE_VEC ||
           t->kind == TYPE_TUPLE || t->kind == TYPE_CHAR;
}

bool check_list_literal(checker *c, expr **slot, const type *expected) {
    expected = expected == NULL ? NULL : type_resolve(c->types, expected);
    bool wanted = expected != NULL && expected->kind == TYPE_VEC;
    if (!(*slot)->is_vec && !wanted &&
        ((expected != NULL && expected->kind == TYPE_TENSOR) || !holds_no_tensor_elements(c, *slot)))
        return false;
    fill(c, slot, expected);
    return true;
}

/* [[x; m]; n] where a tensor is wanted: Tensor::full([n, m], x) */
static void fill_tensor(checker *c, expr **slot, const type *expected) {
    expr *e = *slot, *value = e, *shape = check_new(c, EXPR_ARRAY, e->span, NULL), *arguments[2];
    uint32_t capacity = 0;
    for (; value->kind == EXPR_REPEAT && !value->is_vec; value = value->repeat.value)
        CHECK_PUSH(c, shape->list.items, shape->list.count, capacity, value->repeat.count);
    if (value->kind != EXPR_INT && value->kind != EXPR_UNARY)
        check_expr(c, &value, NULL);
    const expr *number = value->kind == EXPR_UNARY ? value->unary.operand : value;
    bool whole = value->type == NULL ? number->kind == EXPR_INT : type_is_integer(type_resolve(c->types, value->type));
    if (expected == NULL && whole) /* as [2, 2] */
        expected = type_tensor(c->types, check_scalar(c, TYPE_I64), (int32_t)shape->list.count);
    arguments[0] = shape;
    arguments[1] = value;
    *slot = build_call(c, e->span, "Tensor", "full", arguments, 2);
    check_expr(c, slot, expected);
    if (expected != NULL)
        check_coerce(c, slot, expected, NULL);
}

void check_repeat(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    expected = expected == NULL ? NULL : type_resolve(c->types, expected);
    bool open = expected == NULL || expected->kind == TYPE_OPEN;
    const type *wanted = open ? e->becomes : expected;
    if (!e->is_vec && wanted != NULL && wanted->kind == TYPE_TENSOR) {
        fill_tensor(c, slot, open ? NULL : expected);
        return;
    }
    const type *integer = check_scalar(c, TYPE_I64);
    const type *element = element_wanted(c, expected);
    int64_t length = -1;
    if (e->is_vec) {
        check_expr(c, &e->repeat.count, integer);
        check_coerce(c, &e->repeat.count, integer, NULL);
    } else if (!check_constant_integer(c, &e->repeat.count, &length, "the length of an array")) {
        check_expr(c, &e->repeat.value, NULL);
        check_make_error(c, e);
        return;
    } else {
        check_coerce(c, &e->repeat.count, integer, NULL);
    }
    const type *wish = type_resolve(c->types, element);
    check_unit_value(c, &e->repeat.value);
    check_expr(c, &e->repeat.value, wish->kind == TYPE_OPEN ? NULL : wish);
    check_coerce_branch(c, &e->repeat.value, element, NULL);
    if (e->is_vec && check_clone_differs(c, e->repeat.value->type)) {
        expr *args[2] = {e->repeat.value, e->repeat.count};
        *slot = build_call(c, e->span, NULL, "__repeated", args, 2);
        check_expr(c, slot, expected);
        return;
    }
    e->type = type_array(c->types, element, length);
}
