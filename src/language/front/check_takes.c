/* check_takes.c: whether a form of an operation takes the kinds of arguments that a call gives.
 *
 *     t.max(1)        the kernel: a dimension         t.max(b)        no dimension: a form of tensor/reduce.tl
 *     t.pad(p, 0.5)   a number behind the list        t.pad(p, "…")   a text behind it: the other form
 *
 * Only what differs in kind is told apart (texts, bools, Options, lists, tensors, real numbers where whole ones are
 * wanted); whether a number has the right width is said by the call that was chosen. t.topk(k) and its like have places beside their
 * values.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_context.h"
#include "language/front/check_scopes.h"
#include "language/front/check_tensor.h"

static bool is_named(const type_expr *t, const char *name) {
    return t != NULL && t->name != NULL && strcmp(t->name, name) == 0;
}

static bool is_option(checker *c, const expr *arg, const type *t) {
    if (t == NULL) {
        return arg->kind == EXPR_NAME && arg->name.scope == NULL &&
               strcmp(arg->name.name, "None") == 0;
    }
    return t->kind == TYPE_STRUCT && t->structure->template != NULL &&
           t->structure->template == check_struct_named(c, "Option");
}

bool check_takes_real(const expr *arg, const type *t) {
    while (t == NULL && arg->kind == EXPR_UNARY && arg->unary.op == UNARY_NEG) {
        arg = arg->unary.operand;
    }
    return t != NULL ? type_is_float(t) : arg->kind == EXPR_FLOAT;
}

bool check_takes_scalar(checker *c, const expr *arg, const type_expr *wanted) {
    const type *t = arg->type == NULL ? NULL : type_resolve(c->types, arg->type);
    if (wanted == NULL || wanted->name == NULL || (t != NULL && type_is_silent(t))) {
        return true;
    }
    bool text = t != NULL ? t->kind == TYPE_STRING : arg->kind == EXPR_STRING;
    bool truth = t != NULL ? t->kind == TYPE_BOOL : arg->kind == EXPR_BOOL;
    return text == is_named(wanted, "String") && truth == is_named(wanted, "bool") &&
           is_option(c, arg, t) == is_named(wanted, "Option") &&
           !(is_named(wanted, "i64") && check_takes_real(arg, t));
}

void check_lent_lists(expr *e) {
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        expr **arg = &e->call.args[i];
        while ((*arg)->kind == EXPR_UNARY && (*arg)->unary.op == UNARY_REFERENCE &&
               !(*arg)->unary.is_mutable && (*arg)->type == NULL &&
               ((*arg)->unary.operand->kind == EXPR_ARRAY ||
                (*arg)->unary.operand->kind == EXPR_UNARY)) {
            *arg = (*arg)->unary.operand;
        }
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
    for (size_t i = 0; e->kind == EXPR_METHOD && i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strcmp(e->call.name, pairs[i][0]) == 0 && (i < 2 || e->call.arg_count > 0)) {
            return pairs[i][1];
        }
    }
    return NULL;
}

bool check_has_places(const expr *e) {
    return check_name_of_places(e) != NULL;
}
