/* check_takes.c: whether a form of an operation takes the kinds of arguments that a call gives.
 *
 *     t.max(1)        the kernel: a dimension         t.max(b)        no dimension: a form of tensor/reduce.tl
 *     t.pad(p, 0.5)   a number behind the list        t.pad(p, "…")   a text behind it: the other form
 *
 * Only what differs in kind is told apart (texts, bools, Options, lists, tensors, real numbers where whole ones are
 * wanted); whether a number has the right width is said by the call that was chosen.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_scopes.h"

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

static bool is_real(const expr *arg, const type *t) {
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
           !(is_named(wanted, "i64") && is_real(arg, t));
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

/* The type of an argument that needs no wish to have one; NULL: it waits for what is wanted. */
static const type *type_of(checker *c, expr **arg) {
    switch ((*arg)->kind) {
    case EXPR_NAME:
    case EXPR_METHOD:
    case EXPR_CALL:
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
    case EXPR_INDEX:
    case EXPR_UNARY:
    case EXPR_BINARY:
        if ((*arg)->type == NULL && !check_free_literal(*arg)) {
            check_expr(c, arg, NULL);
        }
        break;
    default:
        break;
    }
    return (*arg)->type == NULL ? NULL : type_resolve(c->types, (*arg)->type);
}

bool check_misfits(checker *c, expr *e, tl_abi_index function) {
    const tl_abi_parameter *p = &tl_abi_functions[function].parameters[1];
    for (uint32_t i = 0; i < e->call.arg_count && p[i].name != NULL && p[i].mode != TL_LIST; i++) {
        expr **arg = &e->call.args[i];
        const type *t = type_of(c, arg);
        bool tensor = t != NULL && t->kind == TYPE_TENSOR && t->tensor.rank != 0;
        bool list = (t == NULL && (*arg)->kind == EXPR_ARRAY) || (t != NULL && t->kind == TYPE_VEC);
        bool text = t != NULL ? t->kind == TYPE_STRING : (*arg)->kind == EXPR_STRING;
        bool real = p[i].kind == ABI_i64 && is_real(*arg, t);
        bool takes_tensor = p[i].kind == ABI_tensor;
        if (text || real || (list && !(takes_tensor && t == NULL && !(*arg)->is_vec)) ||
            (tensor && !takes_tensor)) {
            return true;
        }
    }
    return false;
}
