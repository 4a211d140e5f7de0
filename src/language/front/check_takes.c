/* check_takes.c: `&[2, 3]` as an argument of an operation, and which operations have places beside their values:
 * t.topk(k) and its like.
 */

#include "language/front/check_call.h"
#include "language/front/check_tensor.h"
#include "language/library/library.h"

void check_lent_lists(expr *e) {
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        expr **arg = &e->call.args[i];
        while ((*arg)->kind == EXPR_UNARY && (*arg)->unary.op == UNARY_REFERENCE && !(*arg)->unary.is_mutable &&
               (*arg)->type == NULL &&
               ((*arg)->unary.operand->kind == EXPR_ARRAY || (*arg)->unary.operand->kind == EXPR_UNARY))
            *arg = (*arg)->unary.operand;
    }
}

const char *check_name_of_places(const expr *e) {
    if (e->kind != EXPR_METHOD)
        return NULL;
    const char *places = library_word(LIBRARY_has_places, e->call.name);
    return places != NULL || e->call.arg_count == 0 ? places : library_word(LIBRARY_has_places_along, e->call.name);
}

bool check_has_places(const expr *e) {
    return check_name_of_places(e) != NULL;
}
