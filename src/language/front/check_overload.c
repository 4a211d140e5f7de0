/* check_overload.c: traits with type parameters.
 *
 *     impl From<String> for Fault, impl From<i64> for Fault      two methods Fault::from
 *     Fault::from(3)                                             the one whose parameter takes an i64
 *     f()?  in a function that yields Result<_, Fault>           … Err(e) => return Err(Fault::from(e))
 *
 * Methods of one name come from different impls of a trait; which one is meant follows from the types of the
 * arguments alone, never from what is wanted. A parameter of the trait in a method that an impl takes over is
 * written out when the impl is declared.
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_types.h"
#include "language/syntax/lexer.h"

/* ---- bounds ------------------------------------------------------------------------------------ */

/* F: Fn(A) -> B of a function that is known says what B is. */
static void function_decides(checker *c, const type_environment *e, const type *t,
                             const type_expr *bound) {
    const function_item *f = t->kind == TYPE_STRUCT ? t->structure->closure : NULL;
    if (f == NULL || f->result == NULL || bound->result == NULL) {
        return;
    }
    const type_environment *outer = c->environment;
    c->environment = e;
    check_fits(c, check_type(c, bound->result), f->result);
    c->environment = outer;
}

static void bound_decides(checker *c, const type_environment *e, const type *t,
                          const type_expr *bound) {
    if (bound->kind == TYPE_EXPR_FUNCTION) {
        function_decides(c, e, t, bound);
        return;
    }
    const trait_item *trait = bound->kind == TYPE_EXPR_NAME ? names_trait(c->names, bound->name) : NULL;
    if (trait == NULL || bound->argument_count == 0 || t->may_have_open) {
        return;
    }
    const struct_item *owner = check_owner_of(c, t);
    const type_environment *outer = c->environment;
    for (uint32_t i = 0; i < c->instances->implementation_count; i++) {
        const implementation *made = &c->instances->implementations[i];
        bool known = made->trait == trait && owner != NULL &&
                     (made->owner == owner || made->owner == owner->template) &&
                     made->impl->trait_type->argument_count == bound->argument_count;
        type_environment of_impl = {0};
        if (known && made->impl->generics.count > 0) {
            of_impl = check_impl_environment(c, made->impl, t);
        }
        for (uint32_t k = 0; known && k < bound->argument_count; k++) {
            c->environment = of_impl.parameters == NULL ? NULL : &of_impl;
            const type *is = check_type(c, made->impl->trait_type->arguments[k]);
            c->environment = e;
            check_fits(c, check_type(c, bound->arguments[k]), is);
        }
    }
    c->environment = outer;
}

void check_bounds_decide(checker *c, const type_environment *e) {
    const type_parameters *lists[2] = {e->parameters, e->more};
    const type **arguments[2] = {e->arguments, e->more_arguments};
    for (int l = 0; l < 2; l++) {
        for (uint32_t i = 0; lists[l] != NULL && i < lists[l]->count; i++) {
            const type_parameter *p = &lists[l]->items[i];
            for (uint32_t b = 0; b < p->bound_count; b++) {
                bound_decides(c, e, type_resolve(c->types, arguments[l][i]), p->bounds[b]);
            }
        }
    }
}

/* ---- which one is meant ------------------------------------------------------------------------ */

/* Of a generic method only the name of the type is compared. */
static bool takes_written(const function_item *f, const type_expr *wanted, const type *t) {
    const type_parameters *of_impl = &f->impl->generics;
    const char *name = t->kind == TYPE_VEC              ? "Vec"
                       : t->kind != TYPE_STRUCT         ? NULL
                       : t->structure->template != NULL ? t->structure->template->name
                                                        : t->structure->name;
    if (wanted == NULL || wanted->kind != TYPE_EXPR_NAME) {
        return wanted != NULL && wanted->kind == TYPE_EXPR_TUPLE && t->kind == TYPE_TUPLE;
    }
    for (uint32_t i = 0; i < of_impl->count + f->generics.count; i++) {
        const type_parameter *p =
            i < of_impl->count ? &of_impl->items[i] : &f->generics.items[i - of_impl->count];
        if (strcmp(p->name, wanted->name) == 0) {
            return true;
        }
    }
    if (strcmp(wanted->name, "Self") == 0 && t->kind == TYPE_STRUCT) {
        return t->structure == f->owner || t->structure->template == f->owner;
    }
    return name != NULL ? strcmp(name, wanted->name) == 0
                        : t->kind == scalar_type_of_name(wanted->name, strlen(wanted->name));
}

static bool takes_argument(checker *c, const function_item *f, uint32_t at, const expr *arg,
                           bool widens) {
    const binding *p = f->parameters[at];
    if (arg->type == NULL && arg->kind == EXPR_CLOSURE) {
        return true;
    }
    const type *t = arg->type == NULL ? NULL : type_resolve(c->types, arg->type);
    if (f->is_template) {
        return t != NULL && takes_written(f, p->annotation, t);
    }
    const type *wanted = type_resolve(c->types, p->type);
    if (check_free_literal(arg)) {
        bool real = t != NULL ? type_is_float(t) : arg->kind == EXPR_FLOAT;
        bool exact = wanted->kind == (real ? TYPE_F32 : TYPE_I64);
        return exact || (widens && (type_is_float(wanted) || (!real && type_is_integer(wanted))));
    }
    return t == wanted ||
           (t != NULL && widens && (check_fits(c, t, wanted) || check_widens(t, wanted)));
}

function_item *check_choose_by_types(checker *c, expr *e, function_item *f) {
    if (!check_has_overloads(f)) {
        return f;
    }
    uint32_t first = e->call.receiver != NULL && f->has_self;
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        expr *arg = e->call.args[i];
        if (arg->type == NULL && !check_free_literal(arg) && arg->kind != EXPR_CLOSURE) {
            check_expr(c, &e->call.args[i], NULL);
        }
    }
    for (int widens = 0; widens < 2; widens++) {
        for (function_item *o = f; o != NULL; o = check_next_overload(o, f)) {
            bool takes = o->parameter_count == e->call.arg_count + first;
            for (uint32_t i = 0; takes && i < e->call.arg_count; i++) {
                takes = takes_argument(c, o, first + i, e->call.args[i], widens == 1);
            }
            if (takes) {
                return o;
            }
        }
    }
    return f;
}

/* ---- From -------------------------------------------------------------------------------------- */

expr *check_from(checker *c, expr *e, const type *to) {
    to = type_resolve(c->types, to);
    const type *t = type_resolve(c->types, e->type);
    bool makes = to->kind == TYPE_STRUCT && to != t && (!check_is_dyn(to) || check_dyn_from(c, to, t)) &&
                 to->structure->closure == NULL &&
                 check_method_named(c, to->structure, "from") != NULL;
    return makes ? build_call(c, e->span, to->structure->name, "from", &e, 1) : NULL;
}
