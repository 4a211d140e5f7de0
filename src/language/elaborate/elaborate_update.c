/* elaborate_update.c: assignments of what was reckoned from the place itself.
 *
 *     t -= b  ─►  t.sub_update(b)               where the check marked the step of an optimiser: the operation knows
 *                                               whether t is a leaf
 *     s = s + a + b  ─►  tl_string_append(s, a + b)
 */
#include "base/assert.h"
#include "language/elaborate/elaboration.h"

/* ---- steps of optimisers ----------------------------------------------------------------------- */

static tl_abi_index update_of(tl_abi_index operation) {
    static const tl_abi_index steps[][3] = {
        {TL_FN_tl_tensor_add, TL_FN_tl_tensor_add_scalar, TL_FN_tl_tensor_add_update},
        {TL_FN_tl_tensor_sub, TL_FN_tl_tensor_sub_scalar, TL_FN_tl_tensor_sub_update},
        {TL_FN_tl_tensor_mul, TL_FN_tl_tensor_mul_scalar, TL_FN_tl_tensor_mul_update},
        {TL_FN_tl_tensor_div, TL_FN_tl_tensor_div_scalar, TL_FN_tl_tensor_div_update},
    };
    size_t i = 0;
    while (i < 3 && steps[i][0] != operation && steps[i][1] != operation)
        i++;
    MASU_DEBUG_ASSERT(steps[i][0] == operation || steps[i][1] == operation);
    return steps[i][2];
}

/* A literal of rank 0, so that no bit is lost on the way. */
static expr *tensor_of(elaboration *el, expr *number, const type *element) {
    const bool whole = type_is_integer(element), wide = element->kind == TYPE_F64;
    const type *passed = el->types->scalars[whole ? TYPE_I64 : TYPE_F64];
    const type *held = el->types->scalars[whole ? TYPE_I64 : wide ? TYPE_F64 : TYPE_F32];
    const tl_abi_index made = whole  ? TL_FN_tl_tensor_literal_i64
                              : wide ? TL_FN_tl_tensor_literal_f64
                                     : TL_FN_tl_tensor_literal_f32;
    expr *rank = elaborate_new(el, EXPR_INT, number->span, el->types->scalars[TYPE_I64]);
    expr *operands[2] = {rank, elaborate_cast(el, elaborate_cast(el, number, element), passed)};
    return elaborate_abi(el, made, number->span, operands, 2, type_tensor(el->types, held, 0));
}

/* A number beside a tensor of unknown elements: the operation makes it one of those. */
static expr *like_the_tensor(elaboration *el, expr *number) {
    return tensor_of(el, number, el->types->scalars[type_is_integer(number->type) ? TYPE_I64 : TYPE_F64]);
}

void elaborate_update(elaboration *el, expr *e) {
    if (!e->assign.is_step)
        return;
    const expr *value = e->assign.value;
    const type *element = e->assign.target->type->tensor.element;
    expr *operands[2] = {e->assign.target, value->call.operands[1]};
    if (type_is_numeric(operands[1]->type) && element)
        operands[1] = tensor_of(el, operands[1], element);
    else if (type_is_numeric(operands[1]->type))
        operands[1] = like_the_tensor(el, operands[1]);
    expr *step = elaborate_abi(el, update_of(value->call.abi), e->span, operands, 2, e->type);
    if (step) {
        step->call.writes_receiver = true;
        *e = *step;
    }
}

/* ---- texts ------------------------------------------------------------------------------------- */

static bool is_concat(const expr *e) {
    return e->kind == EXPR_CALL && e->call.kind == CALL_ABI && e->call.abi == TL_FN_tl_string_concat;
}

/* A variable or a field of it: naming it twice runs nothing. */
static bool is_same_variable(const expr *a, const expr *b) {
    if (a->kind == EXPR_NAME && b->kind == EXPR_NAME)
        return a->name.binding && a->name.binding == b->name.binding;
    bool field = a->kind == EXPR_FIELD || a->kind == EXPR_TUPLE_FIELD;
    return field && a->kind == b->kind && a->field.index == b->field.index &&
           is_same_variable(a->field.base, b->field.base);
}

/* The text of a character, as `{}` shows it. */
static bool is_plain_letter(const expr *e) {
    return e->kind == EXPR_CALL && e->call.kind == CALL_ABI && e->call.abi == TL_FN_tl_text_char &&
           e->call.operands[1]->kind == EXPR_INT && e->call.operands[1]->integer.value == 0;
}

void elaborate_append(elaboration *el, expr *e) {
    if (e->kind != EXPR_ASSIGN || !is_concat(e->assign.value))
        return;
    expr **first = &e->assign.value; /* the innermost sum, whose left side is the text itself */
    while (is_concat((*first)->call.operands[0]))
        first = &(*first)->call.operands[0];
    if (!is_same_variable(e->assign.target, (*first)->call.operands[0]))
        return;
    expr *operands[2] = {e->assign.target, e->assign.value};
    if (first == &e->assign.value)
        operands[1] = (*first)->call.operands[1];
    const bool letter = is_plain_letter(operands[1]);
    if (letter)
        operands[1] = operands[1]->call.operands[0];
    expr *append = elaborate_abi(el, letter ? TL_FN_tl_string_push : TL_FN_tl_string_append, e->span, operands, 2,
                                 e->type);
    if (append) {
        if (first != &e->assign.value)
            *first = (*first)->call.operands[1];
        append->call.writes_receiver = true;
        *e = *append;
    }
}
