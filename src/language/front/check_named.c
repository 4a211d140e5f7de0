/* check_named.c: functions of `Tensor::` that people who come from elsewhere write.
 *
 *     Tensor::from([[1.0, 2.0]])     ─► [[1.0, 2.0]]                 of a Vec: Tensor::from_vec(v)
 *     Tensor::new(v, [2, 3])         ─► Tensor::from_vec(v, [2, 3])
 *     Tensor::bmm(a, b)              ─► a.matmul(b)                  by the other names of methods
 *     w.add_(x)                      ─► { w += x; w }                sub_, mul_, div_ likewise: of a leaf it is a step
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"

static bool makes_of_values(const char *name) {
    static const char *const names[] = {"from",        "new",        "tensor",
                                        "from_slice",  "of_slice",   "from_data",
                                        "from_floats", "from_array", "from_list"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The one argument is the tensor, or a Vec of its elements, or a number. */
static void value_as_tensor(checker *c, expr **slot, bool grad) {
    expr *e = *slot, *value = e->call.args[0];
    check_expr(c, &value, NULL);
    const type *t = type_resolve(c->types, value->type);
    *slot = value;
    if (t->kind == TYPE_VEC) {
        *slot = build_call(c, e->span, "Tensor", "from_vec", &value, 1);
    } else if (type_is_numeric(t)) {
        expr *shape = check_new(c, EXPR_ARRAY, e->span, NULL);
        *slot = build_call(c, e->span, "Tensor", "full", (expr *[]){shape, value}, 2);
    }
    if (grad) {
        expr *track = check_new(c, EXPR_BOOL, e->span, NULL);
        track->boolean = true;
        *slot = build_method(c, e->span, *slot, "detach", &track, 1);
    }
    if ((*slot)->type == NULL) {
        check_expr(c, slot, NULL);
    }
}

bool check_tensor_static(checker *c, expr **slot, bool grad, const type *expected) {
    expr *e = *slot;
    name_expr *callee = &e->call.callee->name;
    uint32_t count = e->call.arg_count;
    if (makes_of_values(callee->name) && count == 1) {
        value_as_tensor(c, slot, grad);
        return true;
    }
    if (makes_of_values(callee->name) && count == 2) {
        callee->name = e->call.name = "from_vec";
        check_expr(c, slot, expected);
        return true;
    }
    if (count == 0 || check_other_name(callee->name, count - 1) == NULL) {
        return false;
    }
    *slot = build_method(c, e->span, e->call.args[0], callee->name, e->call.args + 1, count - 1);
    check_expr(c, slot, expected);
    return true;
}

bool check_number_beside(checker *c, expr **slot, const type *beside) {
    expr *e = *slot;
    const type *own = beside == NULL ? NULL : type_resolve(c->types, beside);
    bool real = own != NULL && own->kind == TYPE_TENSOR && own->tensor.element != NULL &&
                type_is_float(type_resolve(c->types, own->tensor.element));
    bool number =
        e->type == NULL ? check_free_literal(e) : type_is_numeric(type_resolve(c->types, e->type));
    if (!number) {
        return false;
    }
    if (check_arithmetic_as_row(c, slot)) { /* t[0] of unknown rank is a row where a tensor is wanted */
        return true;
    }
    expr *list = check_new(c, EXPR_ARRAY, e->span, NULL), *zero = check_new_int(c, e->span, 0);
    list->list.items = check_join_list(c, NULL, &e, 1);
    list->list.count = 1;
    check_expr(c, &list, real ? type_tensor(c->types, own->tensor.element, 1) : NULL);
    *slot = build_method(c, e->span, list, "squeeze", &zero, 1);
    check_expr(c, slot, NULL);
    return true;
}

bool check_update_method(checker *c, expr **slot) {
    static const struct {
        const char *name;
        binary_op op;
    } names[] = {
        {"add_", BINARY_ADD}, {"sub_", BINARY_SUB}, {"mul_", BINARY_MUL}, {"div_", BINARY_DIV}};
    expr *e = *slot;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(e->call.name, names[i].name) == 0 && e->call.arg_count == 1 &&
            check_is_place(e->call.receiver)) {
            block_builder b = build_block(c, e->span);
            check_number_beside(c, &e->call.args[0], e->call.receiver->type);
            expr *update = build_assign(c, e->span, e->call.receiver, e->call.args[0]);
            update->assign.op = names[i].op;
            expr *result = check_copy_place(c, e->call.receiver);
            build_stmt(&b, update);
            *slot = build_finish(&b, result);
            check_expr(c, slot, NULL);
            return true;
        }
    }
    return false;
}
