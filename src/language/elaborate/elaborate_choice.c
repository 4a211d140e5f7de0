/* elaborate_choice.c: min, max and abs of whole numbers, which the mathematics of reals does not have.
 *
 *     a.min(b), a.max(b)    { let <left> = a; let <right> = b; if <left> < <right> { … } else { … } }
 *     a.abs()               { let <left> = a; if <left> < 0 { -<left> } else { <left> } }
 */
#include "language/elaborate/elaboration.h"

void elaborate_choice(elaboration *el, expr *e) {
    if (e->call.kind != CALL_MATH || !type_is_integer(e->type))
        return;
    const type *t = e->type;
    const source_span span = e->span;
    const scalar_math math = e->call.math;
    const uint32_t count = e->call.operand_count;
    stmt *steps = MASU_ARENA_ARRAY(el->tree->arena, stmt, 2);
    el->out_of_memory |= !steps;
    if (el->out_of_memory)
        return;
    expr *left = elaborate_let(el, steps, "<left>", false, e->call.operands[0]), *right = NULL, *negative = NULL;
    if (count == 2) {
        right = elaborate_let(el, &steps[1], "<right>", false, e->call.operands[1]);
    } else {
        right = elaborate_new(el, EXPR_INT, span, t);
        negative = elaborate_new(el, EXPR_UNARY, span, t);
    }
    expr *less = elaborate_binary(el, BINARY_LT, left, right, el->types->scalars[TYPE_BOOL]);
    if (el->out_of_memory)
        return;
    expr *first = elaborate_name(el, span, steps), *second = elaborate_name(el, span, &steps[count - 1]);
    if (negative) {
        negative->unary.op = UNARY_NEG;
        negative->unary.operand = first;
        first = negative;
    }
    const bool swaps = math == MATH_MAX;
    expr *choice = elaborate_if(el, less, elaborate_block(el, span, NULL, swaps ? second : first, t),
                                elaborate_block(el, span, NULL, swaps ? first : second, t));
    for (uint32_t i = 0; i < count; i++)
        steps[i].is_made = false; /* each ends what it looks at */
    elaborate_become_block(el, e, steps, count, choice);
}
