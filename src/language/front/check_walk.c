/* check_walk.c: the walk over a body, which knows no form: check_walk.h says why. */
#include "language/front/check_walk.h"
#include "base/assert.h"
#include "language/types/check_operator_types.h"

void check_expr(checker *c, expr **slot, const type *expected) {
    if ((*slot)->type == NULL) /* else made of checked parts by another check */
        c->nest->forms->expression(c, slot, expected);
    MASU_DEBUG_ASSERT((*slot)->type != NULL);
}

void check_again(checker *c, expr **slot, const type *expected) {
    (*slot)->is_followed = false; /* the stars before it are for the one that asks again */
    check_expr(c, slot, expected);
}

void check_let(checker *c, stmt *s) {
    c->nest->forms->let(c, s);
}

bool check_dyn_convert(checker *c, expr **slot, const type *to) {
    return c->nest->forms->to_dyn(c, slot, to);
}

void check_list(checker *c, expr **items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        check_expr(c, &items[i], NULL);
}

void check_lost_arguments(checker *c, expr *call) {
    for (uint32_t i = 0; i < call->call.arg_count; i++) {
        expr **arg = &call->call.args[i];
        if ((*arg)->kind == EXPR_CLOSURE && (*arg)->type == NULL)
            check_make_error(c, *arg); /* what its parameters are is not known any more */
        else
            check_expr(c, arg, NULL);
    }
}
