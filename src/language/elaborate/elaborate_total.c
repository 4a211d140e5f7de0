/* elaborate_total.c: sums and products that a chain gathers, of numbers.
 *
 *     { let mut total = None; for v in … { total = total.__plus(v); } total.__sum() }
 *         ─►  { let mut total = 0; for v in … { total = total + v; } total }
 *
 * What the elements are is known behind the check only, so that the check writes an Option, which any type has. A sum
 * of numbers without a tag can be computed for several elements at a time. Fractions are added to -0.0, as in Rust:
 * -0.0 + x is x for every x, 0.0 + -0.0 is not -0.0.
 */
#include "language/elaborate/elaboration.h"

typedef struct total {
    elaboration *el;
    binding *variable;
    const type *number;
} total;

static bool is_total(const total *t, const expr *e) {
    return e->kind == EXPR_NAME && e->name.binding == t->variable;
}

static void replace(expr *e, void *context) {
    total *t = context;
    expr_each_child(e, replace, t);
    if (t->el->out_of_memory)
        return;
    if (is_total(t, e)) {
        e->type = t->number;
        return;
    }
    const bool call = e->kind == EXPR_CALL && e->call.kind == CALL_FUNCTION && e->call.operand_count > 0;
    if (!call || !is_total(t, e->call.operands[0]))
        return;
    expr *with = e->call.operand_count == 1 ? e->call.operands[0]
                                            : elaborate_binary(t->el, t->variable->gathers, e->call.operands[0],
                                                               e->call.operands[1], t->number);
    if (with)
        *e = *with;
}

void elaborate_total(elaboration *el, expr *e) {
    const stmt *first = e->block->first;
    const bool binds = first && first->kind == STMT_LET && first->pattern->kind == PATTERN_NAME;
    binding *b = binds ? first->pattern->binding : NULL;
    const type *option = b && b->gathers != BINARY_NONE ? b->type : NULL;
    const type *number = option && option->kind == TYPE_STRUCT && option->structure->template
                             ? option->structure->arguments[0]
                             : NULL;
    if (!number || !type_is_numeric(number))
        return;
    total t = {el, b, number};
    expr *begin = elaborate_new(el, type_is_float(number) ? EXPR_FLOAT : EXPR_INT, first->span, number);
    if (!begin)
        return;
    if (type_is_float(number))
        begin->floating.value = b->gathers == BINARY_MUL ? 1.0 : -0.0;
    else
        begin->integer.value = b->gathers == BINARY_MUL;
    b->type = first->pattern->type = number;
    expr_each_child(e, replace, &t);
    *first->value = *begin;
}
