/* check_update.c: `w -= w.grad() * lr` is the step of an optimiser. In a function that reads gradients, `t op= b` of
 * two tensors becomes one operation that knows whether t is a leaf (tl_tensor_sub_update and its like), and so it does
 * in a block of no_grad; everywhere else it stays `t = t op b`.
 *
 *     t = t - b  ─►  t.sub_update(b)    elements of one type, the function calls grad(); b may be a number
 *
 * Texts are put together at their end:
 *
 *     s = s + a + b  ─►  tl_string_append(s, a + b)
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_tensor.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_operator_types.h"

static void find_grad(expr *e, void *context) {
    bool *found = context;
    bool method = e->kind == EXPR_METHOD && library_said_of(LIBRARY_form, e->call.name) == SAID_GRAD;
    bool checked = e->kind == EXPR_CALL && e->call.kind == CALL_ABI && e->call.abi == TL_FN_tl_tensor_grad;
    *found = *found || method || checked;
    if (!*found)
        expr_each_child(e, find_grad, context);
}

static bool reads_gradients(const function_item *f) {
    bool found = false;
    expr body = {.kind = EXPR_BLOCK, .block = f->body};
    find_grad(&body, &found);
    return found;
}

static tl_abi_index update_of(const expr *value) {
    if (value->kind != EXPR_CALL || value->call.kind != CALL_ABI)
        return TL_FN_COUNT;
    switch (value->call.abi) {
    case TL_FN_tl_tensor_add:
    case TL_FN_tl_tensor_add_scalar:
        return TL_FN_tl_tensor_add_update;
    case TL_FN_tl_tensor_sub:
    case TL_FN_tl_tensor_sub_scalar:
        return TL_FN_tl_tensor_sub_update;
    case TL_FN_tl_tensor_mul:
    case TL_FN_tl_tensor_mul_scalar:
        return TL_FN_tl_tensor_mul_update;
    case TL_FN_tl_tensor_div:
    case TL_FN_tl_tensor_div_scalar:
        return TL_FN_tl_tensor_div_update;
    default:
        return TL_FN_COUNT;
    }
}

static const type *element_of(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    return t->kind != TYPE_TENSOR || t->tensor.element == NULL ? NULL : type_resolve(c->types, t->tensor.element);
}

/* The program looks when it runs, where nothing is known. */
static bool may_be_real(checker *c, const type *t) {
    const type *element = element_of(c, t);
    return element == NULL || type_is_float(element);
}

static bool same_elements(checker *c, const expr *a, const expr *b) {
    const type *of_a = element_of(c, a->type), *of_b = element_of(c, b->type);
    return of_a == NULL || of_b == NULL || of_a == of_b;
}

static void number_as_tensor(checker *c, expr **slot, const type *beside) {
    check_cast_to(c, slot, element_of(c, beside));
    check_number_as_tensor(c, slot);
}

/* A number beside a tensor of unknown elements: in those. */
static expr *number_like(checker *c, expr *number, expr *beside) {
    expr *none[2] = {beside, check_new_bool(c, number->span, false)};
    expr *sum[2] = {check_new_abi(c, TL_FN_tl_tensor_zeros_like, number->span, none, 1), number};
    return check_new_abi(c, TL_FN_tl_tensor_add_scalar, number->span, sum, 2);
}

void check_update(checker *c, expr **slot) {
    expr *e = *slot;
    if (e->kind != EXPR_ASSIGN || e->assign.target->type == NULL ||
        type_resolve(c->types, e->assign.target->type)->kind != TYPE_TENSOR)
        return;
    expr *value = e->assign.value;
    tl_abi_index update = update_of(value);
    const bool unrecorded = c->around->unrecorded;
    if (update == TL_FN_COUNT || !may_be_real(c, e->assign.target->type) ||
        (!unrecorded && !reads_gradients(c->function)))
        return;
    expr *operands[2] = {e->assign.target, value->call.operands[1]};
    const bool number = type_is_numeric(type_resolve(c->types, operands[1]->type));
    if (number && element_of(c, e->assign.target->type) == NULL) {
        if (!unrecorded)
            return;
        operands[1] = number_like(c, operands[1], value->call.operands[0]);
    } else if (number) {
        number_as_tensor(c, &operands[1], e->assign.target->type);
    }
    if (!unrecorded && !same_elements(c, operands[0], operands[1]))
        return;
    expr *step = check_new_abi(c, update, e->span, operands, 2);
    step->call.writes_receiver = true;
    *slot = step;
}

/* ---- texts ------------------------------------------------------------------------------------- */

static bool is_concat(const expr *e) {
    return e->kind == EXPR_CALL && e->call.kind == CALL_ABI && e->call.abi == TL_FN_tl_string_concat;
}

/* A variable or a field of it: naming it twice runs nothing. */
static bool is_same_variable(const expr *a, const expr *b) {
    if (a->kind == EXPR_NAME && b->kind == EXPR_NAME)
        return a->name.binding != NULL && a->name.binding == b->name.binding;
    bool field = a->kind == EXPR_FIELD || a->kind == EXPR_TUPLE_FIELD;
    return field && a->kind == b->kind && a->field.index == b->field.index &&
           is_same_variable(a->field.base, b->field.base);
}

void check_append(checker *c, expr **slot) {
    expr *e = *slot;
    if (e->kind != EXPR_ASSIGN || !is_concat(e->assign.value))
        return;
    expr **first = &e->assign.value; /* the innermost sum, whose left side is the text itself */
    while (is_concat((*first)->call.operands[0]))
        first = &(*first)->call.operands[0];
    if (!is_same_variable(e->assign.target, (*first)->call.operands[0]))
        return;
    *first = (*first)->call.operands[1];
    expr *operands[2] = {e->assign.target, e->assign.value};
    *slot = check_new_abi(c, TL_FN_tl_string_append, e->span, operands, 2);
    (*slot)->type = e->type;
    (*slot)->call.writes_receiver = true;
}
