/* check_step.c: `w -= w.grad() * lr` is the step of an optimiser. In a function that reads gradients, `t op= b` of two
 * tensors of one element type is one operation that knows whether t is a leaf, and so it is in a block of no_grad;
 * everywhere else it stays `t = t op b`. b may be a number. elaborate_update.c writes the operation.
 */
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_operator_types.h"

static bool reads_grad(const expr *e, void *context) {
    (void)context;
    bool method = e->kind == EXPR_METHOD && library_said_of(LIBRARY_form, e->call.name) == SAID_GRAD;
    bool checked = e->kind == EXPR_CALL && e->call.kind == CALL_ABI && e->call.abi == TL_FN_tl_tensor_grad;
    return method || checked;
}

static bool has_update(const expr *value) {
    if (value->kind != EXPR_CALL || value->call.kind != CALL_ABI)
        return false;
    switch (value->call.abi) {
    case TL_FN_tl_tensor_add:
    case TL_FN_tl_tensor_add_scalar:
    case TL_FN_tl_tensor_sub:
    case TL_FN_tl_tensor_sub_scalar:
    case TL_FN_tl_tensor_mul:
    case TL_FN_tl_tensor_mul_scalar:
    case TL_FN_tl_tensor_div:
    case TL_FN_tl_tensor_div_scalar:
        return true;
    default:
        return false;
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

bool check_is_step(checker *c, const expr *e) {
    if (e->kind != EXPR_ASSIGN || e->assign.target->type == NULL ||
        type_resolve(c->types, e->assign.target->type)->kind != TYPE_TENSOR)
        return false;
    const expr *target = e->assign.target, *value = e->assign.value;
    const bool unrecorded = c->around->unrecorded || (c->tree->unrecords && c->function->span.file != c->tree->prelude);
    if (!has_update(value) || !may_be_real(c, target->type) ||
        (!unrecorded && !block_any(c->function->body, reads_grad, NULL)))
        return false;
    const expr *by = value->call.operands[1];
    const bool number = type_is_numeric(type_resolve(c->types, by->type));
    if (unrecorded)
        return true;
    return number ? element_of(c, target->type) != NULL : same_elements(c, target, by);
}
