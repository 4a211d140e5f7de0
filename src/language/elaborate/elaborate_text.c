/* elaborate_text.c: operators of texts as what the runtime does.
 *
 *     a + b      tl_string_concat(a, b)
 *     a == b     tl_string_equal(a, b); a != b is its negation
 *     a < b      tl_string_compare(a, b) < 0
 */
#include "language/elaborate/elaboration.h"

void elaborate_text(elaboration *el, expr *e) {
    const type *left = e->binary.left->type, *right = e->binary.right->type;
    if (!left || !right || left->kind != TYPE_STRING || right->kind != TYPE_STRING)
        return; /* also a part of what has an error */
    const binary_op op = e->binary.op;
    const bool sum = op == BINARY_ADD, equality = op == BINARY_EQ || op == BINARY_NE;
    const type *order = el->types->scalars[TYPE_I32];
    expr *operands[2] = {e->binary.left, e->binary.right};
    expr *made = elaborate_abi(el,
                               sum        ? TL_FN_tl_string_concat
                               : equality ? TL_FN_tl_string_equal
                                          : TL_FN_tl_string_compare,
                               e->span, operands, 2, sum || equality ? e->type : order);
    if (op == BINARY_NE)
        made = elaborate_not(el, made);
    else if (!sum && !equality)
        made = elaborate_binary(el, op, made, elaborate_new(el, EXPR_INT, e->span, order), e->type);
    if (made)
        *e = *made;
}
