/* check_takes.c: `&[2, 3]` as an argument of an operation, and which operations have places beside their values:
 * t.topk(k) and its like.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_context.h"
#include "language/front/check_scopes.h"
#include "language/front/check_tensor.h"

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
    static const char *const pairs[][2] = {{"topk", "topk_indices"},
                                           {"sort", "argsort"},
                                           {"max", "argmax"},
                                           {"min", "argmin"},
                                           {"median", "__median_places"},
                                           {"mode", "__mode_places"},
                                           {"cummax", "__cummax_places"},
                                           {"cummin", "__cummin_places"}};
    for (size_t i = 0; e->kind == EXPR_METHOD && i < sizeof pairs / sizeof pairs[0]; i++)
        if (strcmp(e->call.name, pairs[i][0]) == 0 && (i < 2 || e->call.arg_count > 0))
            return pairs[i][1];
    return NULL;
}

bool check_has_places(const expr *e) {
    return check_name_of_places(e) != NULL;
}
