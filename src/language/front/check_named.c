/* check_named.c: functions of `Tensor::` that people who come from elsewhere write.
 *
 *     Tensor::from([[1.0, 2.0]])     ─► [[1.0, 2.0]]                 of a Vec: Tensor::from_vec(v)
 *     Tensor::new(v, [2, 3])         ─► Tensor::from_vec(v, [2, 3])
 *     Tensor::bmm(a, b)              ─► a.matmul(b)                  by the other names of methods
 */
#include <string.h>

#include "language/front/check_private.h"

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
