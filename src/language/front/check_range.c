/* check_range.c: the ends of a range, and range(a, b) as a list. */
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/types/check_context.h"
#include "language/types/check_tree_made.h"

/* Elsewhere, and with a step: the list of its numbers. */
void check_range_call(checker *c, expr **slot) {
    expr *e = *slot;
    if (e->call.arg_count < 1 || e->call.arg_count > 3) {
        check_list(c, e->call.args, e->call.arg_count);
        diagnostics_say(c->diagnostics, e->span, SAY(range_takes_end_or_start_and));
        check_make_error(c, e);
        return;
    }
    expr *args[3] = {check_new_int(c, e->span, 0), e->call.args[0], check_new_int(c, e->span, 1)};
    if (e->call.arg_count > 1) {
        args[0] = e->call.args[0];
        args[1] = e->call.args[1];
    }
    if (e->call.arg_count == 3)
        args[2] = e->call.args[2];
    *slot = build_call(c, e->span, NULL, "__steps", args, 3);
    check_expr(c, slot, NULL);
}

/* a.. in a loop: up to the largest number of its type, which is never reached. */
static void range_to_the_end(checker *c, expr *e, const type *wish) {
    check_expr(c, &e->range.low, wish);
    const type *t = type_resolve(c->types, e->range.low->type);
    bool narrow = type_is_integer(t) && type_bits(t) < 64;
    uint32_t bits = narrow ? type_bits(t) - (type_is_signed(t) ? 1 : 0) : 63;
    e->range.high = check_new(c, EXPR_INT, e->span, NULL);
    e->range.high->integer.value = (UINT64_C(1) << bits) - 1;
    e->range.high->integer.suffix = TYPE_VOID;
    e->range.high->is_largest = true;
}

const type *check_range(checker *c, expr *e, const type *wish) {
    if (e->range.low != NULL && e->range.high == NULL)
        range_to_the_end(c, e, wish);
    if (e->range.low == NULL)
        diagnostics_say(c->diagnostics, e->span, SAY(loop_needs_start_of_its_range));
    e->type = check_scalar(c, TYPE_VOID);
    const type *t = wish;
    bool swap = e->range.low != NULL && e->range.high != NULL && check_free_literal(e->range.low);
    expr **order[2] = {swap ? &e->range.high : &e->range.low, swap ? &e->range.low : &e->range.high};
    for (int i = 0; i < 2; i++) {
        if (*order[i] == NULL)
            return check_scalar(c, TYPE_ERROR);
        check_expr(c, order[i], t);
        const type *end = type_resolve(c->types, (*order[i])->type);
        if (end->kind == TYPE_NEVER)
            diagnostics_say(c->diagnostics, (*order[i])->span, SAY(this_never_yields_value));
        if (!type_is_silent(end) && !type_is_integer(end)) {
            check_coerce(c, order[i], check_scalar(c, TYPE_I64), NULL);
            end = check_scalar(c, TYPE_I64);
        }
        t = t == NULL || type_is_silent(t)               ? end
            : type_is_integer(end) && type_is_integer(t) ? check_common(c, t, end)
                                                         : t;
    }
    if (!type_is_integer(t))
        return check_scalar(c, TYPE_ERROR);
    check_cast_to(c, &e->range.low, t);
    check_cast_to(c, &e->range.high, t);
    return t;
}
