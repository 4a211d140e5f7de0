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
#include "language/front/check_call.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_scopes.h"
#include "language/front/check_tensor.h"
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

static bool takes(checker *c, expr *e, const function_item *f) {
    uint32_t first = e->call.receiver != NULL && f->has_self;
    for (uint32_t i = first; i < f->parameter_count; i++) {
        const binding *p = f->parameters[i];
        if (i - first >= e->call.arg_count) {
            if (p->otherwise == NULL) {
                return false;
            }
            continue;
        }
        expr **arg = &e->call.args[i - first];
        const type_expr *wanted = p->annotation;
        bool list =
            (*arg)->type == NULL && ((*arg)->kind == EXPR_ARRAY || (*arg)->kind == EXPR_TUPLE);
        bool tensor_wanted =
            wanted == NULL || (wanted->name != NULL && strcmp(wanted->name, "Tensor") == 0);
        bool list_wanted =
            wanted != NULL && wanted->name != NULL && strcmp(wanted->name, "Vec") == 0;
        if (list) {
            bool real = (*arg)->list.count > 0 && (*arg)->list.items[0]->kind == EXPR_FLOAT;
            bool tensor_taken = tensor_wanted && !(*arg)->is_vec;
            if ((!list_wanted && !tensor_taken) ||
                (list_wanted && real && wanted->argument_count == 1 &&
                 wanted->arguments[0]->name != NULL &&
                 strcmp(wanted->arguments[0]->name, "i64") == 0)) {
                return false;
            }
            continue;
        }
        if (!check_free_literal(*arg) && (*arg)->kind != EXPR_CLOSURE) {
            check_expr(c, arg, NULL);
        }
        const type *t = (*arg)->type == NULL ? NULL : type_resolve(c->types, (*arg)->type);
        bool is_tensor = t != NULL && t->kind == TYPE_TENSOR,
             is_list = t != NULL && t->kind == TYPE_VEC;
        if (t != NULL && type_is_silent(t)) {
            continue;
        }
        if (is_tensor != tensor_wanted || is_list != list_wanted ||
            (!is_tensor && !is_list && !check_takes_scalar(c, *arg, wanted))) {
            return false;
        }
    }
    return e->call.arg_count + first <= f->parameter_count;
}

static void fill_in_defaults(checker *c, expr *e, const function_item *f) {
    uint32_t first = e->call.receiver != NULL && f->has_self, count = e->call.arg_count;
    expr **args = CHECK_ARRAY(c, expr *, f->parameter_count + count + 1);
    for (uint32_t i = 0; i < count; i++) {
        args[i] = e->call.args[i];
        if (args[i]->kind == EXPR_TUPLE && args[i]->type == NULL) { /* a kernel of (3, 3) */
            args[i]->kind = EXPR_ARRAY;
        }
    }
    while (first + count < f->parameter_count && f->parameters[first + count]->otherwise != NULL) {
        args[count] = check_new(c, EXPR_INT, e->span, NULL);
        *args[count] = *f->parameters[first + count]->otherwise;
        args[count]->span = e->call.name_span;
        count++;
    }
    e->call.args = args;
    e->call.arg_count = count;
}

/* x.fmod(2.0): numbers where the operation takes tensors are tensors of rank 0. */
static bool numbers_to_tensors(checker *c, expr *e, const function_item *f) {
    uint32_t first = e->call.receiver != NULL && f->has_self;
    bool changed = false;
    for (uint32_t i = 0; i < e->call.arg_count && first + i < f->parameter_count; i++) {
        const type_expr *wanted = f->parameters[first + i]->annotation;
        if (wanted != NULL && wanted->name != NULL && strcmp(wanted->name, "Tensor") == 0) {
            changed |= check_number_beside(c, &e->call.args[i],
                                           first == 1 ? e->call.receiver->type : NULL);
        }
    }
    return changed;
}

static bool names_closure(const checker *c, const expr *e) {
    const symbol *s =
        e->kind == EXPR_NAME && e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    const type *t = s == NULL || s->binding == NULL ? NULL : s->binding->type;
    return t != NULL && t->kind == TYPE_STRUCT && t->structure->closure != NULL;
}

/* s.find("x") and s.find(|c| …): a function goes where one is wanted. */
static function_item *choose_by_closures(checker *c, const expr *e, function_item *f) {
    for (function_item *o = f; o != NULL; o = o->next_in_bucket) {
        if (o->owner != f->owner || strcmp(o->name, f->name) != 0 ||
            o->parameter_count != e->call.arg_count + o->has_self) {
            continue;
        }
        bool fits = true;
        for (uint32_t i = 0; fits && i < e->call.arg_count; i++) {
            const expr *arg = e->call.args[i];
            const type_expr *t = o->parameters[i + o->has_self]->annotation;
            bool function =
                arg->kind == EXPR_CLOSURE || (arg->kind == EXPR_NAME && arg->type == NULL &&
                                              arg->name.scope != NULL && arg->name.name[0] >= 'a');
            while (arg->kind == EXPR_UNARY && arg->unary.op == UNARY_REFERENCE) {
                arg = arg->unary.operand;
            }
            function |= names_closure(c, arg);
            bool list = t != NULL && t->name != NULL && strcmp(t->name, "Vec") == 0;
            bool text = t != NULL && t->name != NULL && strcmp(t->name, "String") == 0;
            fits = function == (t != NULL && t->name != NULL && t->name[0] == '<') &&
                   !(arg->kind == EXPR_ARRAY && text) && !(arg->kind == EXPR_STRING && list);
        }
        if (fits) {
            return o;
        }
    }
    return f;
}

bool check_form_takes(checker *c, expr *e, function_item *f) {
    for (function_item *o = f; o != NULL; o = o->next_in_bucket) {
        if (o->owner == f->owner && strcmp(o->name, f->name) == 0 && takes(c, e, o)) {
            return true;
        }
    }
    return false;
}

function_item *check_choose_overload(checker *c, expr *e, function_item *f) {
    if (f->span.file != c->tree->prelude) {
        return check_choose_by_types(c, e, f);
    }
    bool is_free = f->owner == NULL || f->owner->type == NULL;
    if (is_free || f->owner->type->kind != TYPE_TENSOR) {
        f = is_free ? f : choose_by_closures(c, e, f);
        if (e->call.arg_count + f->has_self < f->parameter_count) {
            fill_in_defaults(c, e, f);
        }
        return f;
    }
    check_lent_lists(e);
    function_item *nearest = NULL;
    for (function_item *o = f; o != NULL; o = o->next_in_bucket) {
        if (o->owner != f->owner || strcmp(o->name, f->name) != 0) {
            continue;
        }
        if (takes(c, e, o)) {
            fill_in_defaults(c, e, o);
            return o;
        }
        nearest = nearest == NULL ? o : nearest;
    }
    bool again = nearest != NULL && numbers_to_tensors(c, e, nearest);
    return again ? check_choose_overload(c, e, f) : f;
}
