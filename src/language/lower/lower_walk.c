/* lower_walk.c: an expression and its parts, which are expressions. What each kind becomes is lower_any, in
 * lower_expr.c, which sees all kinds; a file of one kind asks for its parts here, and includes nothing above it.
 */
#include <string.h>

#include "language/lower/lowering.h"

void lower_expr(lower_fn *fn, const expr *e, ir_value *out) {
    fn->l->any(fn, e, out);
}

ir_value lower_scalar(lower_fn *fn, const expr *e) {
    ir_value v = 0;
    lower_expr(fn, e, &v);
    return v;
}

ir_value *lower_values(lower_fn *fn, const expr *e) {
    ir_value *values = lower_room(fn, lower_leaf_count(fn->l, e->type));
    if (values)
        lower_expr(fn, e, values);
    return values;
}

void lower_effect(lower_fn *fn, const expr *e) {
    lower_values(fn, e);
}

void lower_expr_as(lower_fn *fn, const expr *e, const type *wanted, ir_value *out) {
    memset(out, 0, lower_leaf_count(fn->l, wanted) * sizeof *out);
    lower_expr(fn, e, out);
}
