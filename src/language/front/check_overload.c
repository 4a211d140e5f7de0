/* check_overload.c: traits with type parameters, and calls of what has several forms (check_choose.c judges them).
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
#include "language/front/check_choose.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_iterator.h"
#include "language/front/check_place.h"
#include "language/front/check_scopes.h"
#include "language/front/check_tensor.h"
#include "language/front/check_types.h"
#include "language/syntax/lexer.h"

/* ---- bounds ------------------------------------------------------------------------------------ */

/* F: Fn(A) -> B of a function that is known says what B is. */
static void function_decides(checker *c, const type_environment *e, const type *t, const type_expr *bound) {
    const function_item *f = t->kind == TYPE_STRUCT ? t->structure->closure : NULL;
    if (f == NULL || f->result == NULL || bound->result == NULL)
        return;
    const type_environment *outer = c->environment;
    c->environment = e;
    check_fits(c, check_type(c, bound->result), f->result);
    c->environment = outer;
}

/* T: Num of a number that nothing decided: where one type of its kind has the trait, it is that one. Among several Rust
 * takes an i32; it is one where i64, which masu takes, has not got the trait. */
static void number_decided(checker *c, const type *t, const trait_item *trait) {
    const type *only = NULL, *usual = check_scalar(c, t->kind);
    uint32_t count = 0;
    for (type_kind k = TYPE_I8; k < TYPE_SCALAR_END; k++) {
        const type *other = check_scalar(c, k);
        bool alike = type_is_float(t) ? type_is_float(other) : type_is_integer(other);
        if (alike && check_implements(c, other, trait)) {
            only = count == 0 || k == TYPE_I32 || k == TYPE_F64 ? other : only;
            count++;
        }
    }
    if (count == 1 || (count > 1 && !check_implements(c, usual, trait)))
        check_unify_numbers(c, t, only);
}

/* I: IntoIterator<Item = i32> of a list of numbers that nothing decided: they are i32. */
static void item_decided(checker *c, const type_environment *e, const type *t, const type_expr *bound) {
    const type *item = t->kind == TYPE_VEC || t->kind == TYPE_STRUCT ? check_item_of(c, t) : NULL;
    if (item == NULL)
        return;
    const type_environment *outer = c->environment;
    c->environment = e;
    check_fits(c, check_type(c, bound->arguments[0]), item);
    c->environment = outer;
}

static void bound_decides(checker *c, const type_environment *e, const type *t, const type_expr *bound) {
    if (bound->kind == TYPE_EXPR_FUNCTION) {
        function_decides(c, e, t, bound);
        return;
    }
    const trait_item *trait = bound->kind == TYPE_EXPR_NAME ? names_trait(c->names, bound->name) : NULL;
    if (trait == NULL && check_bounds_items(bound) && bound->argument_count > 0) {
        item_decided(c, e, t, bound);
        return;
    }
    if (trait != NULL && bound->argument_count == 0 && type_is_open_number(t)) {
        number_decided(c, t, trait);
        return;
    }
    if (trait == NULL || bound->argument_count == 0 || t->may_have_open)
        return;
    const struct_item *owner = check_owner_of(c, t);
    const type_environment *outer = c->environment;
    for (uint32_t i = 0; i < c->instances->implementation_count; i++) {
        const implementation *made = &c->instances->implementations[i];
        bool known = made->trait == trait && owner != NULL &&
                     (made->owner == owner || made->owner == owner->template) &&
                     made->impl->trait_type->argument_count == bound->argument_count;
        type_environment of_impl = {0};
        if (known && made->impl->generics.count > 0)
            of_impl = check_impl_environment(c, made->impl, t);
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
            for (uint32_t b = 0; b < p->bound_count; b++)
                bound_decides(c, e, type_resolve(c->types, arguments[l][i]), p->bounds[b]);
        }
    }
}

/* ---- which one is meant ------------------------------------------------------------------------ */

static bool names_closure(const checker *c, const expr *e) {
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    const type *t = s == NULL || s->binding == NULL ? NULL : s->binding->type;
    return t != NULL && t->kind == TYPE_STRUCT && t->structure->closure != NULL;
}

/* |c| …, a variable that holds one, char::is_alphabetic. */
static bool is_function(const checker *c, const expr *e) {
    if (e->type == NULL &&
        (e->kind == EXPR_CLOSURE || (e->kind == EXPR_NAME && e->name.scope != NULL && e->name.name[0] >= 'a')))
        return true;
    while (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE)
        e = e->unary.operand;
    return names_closure(c, e);
}

static bool has_own_type(const expr *e) {
    return (e->kind == EXPR_NAME && e->name.scope == NULL) || e->kind == EXPR_FIELD || e->kind == EXPR_METHOD ||
           e->kind == EXPR_INDEX || e->kind == EXPR_CALL || e->kind == EXPR_TRY;
}

/* [a.clone(), b]: what the first is says whether they are lists. */
static void check_first_named(checker *c, expr *list) {
    while (list->kind == EXPR_ARRAY && list->list.count > 0 && list->type == NULL &&
           list->list.items[0]->type == NULL) {
        expr **first = &list->list.items[0];
        if (has_own_type(*first)) {
            check_keep_reference(*first);
            check_expr(c, first, NULL);
            return;
        }
        list = *first;
    }
}

/* Checks what has a type of its own, whatever is wanted. */
static offer offer_of(checker *c, expr **slot) {
    const expr *e = *slot;
    if (is_function(c, e))
        return (offer){.kind = OFFER_FUNCTION};
    if (check_free_literal(e)) {
        const type *t = e->type == NULL ? NULL : type_resolve(c->types, e->type);
        return (offer){.kind = (t != NULL ? type_is_float(t) : offer_is_real(e)) ? OFFER_REAL : OFFER_WHOLE};
    }
    if (e->type == NULL && e->kind == EXPR_ARRAY)
        check_first_named(c, *slot);
    if (e->type == NULL && (e->kind == EXPR_ARRAY || e->kind == EXPR_TUPLE))
        return (offer){.kind = e->kind == EXPR_ARRAY ? OFFER_BRACKET : OFFER_TUPLE, .e = e};
    if (e->type == NULL && e->kind == EXPR_RANGE)
        return (offer){.kind = OFFER_UNKNOWN};
    if (e->type == NULL)
        check_expr(c, slot, NULL);
    return (offer){.kind = OFFER_TYPE, .type = (*slot)->type};
}

form check_choose(checker *c, const choice *of, expr *e) {
    const uint32_t count = e->call.arg_count;
    offer *offers = CHECK_ARRAY(c, offer, count + 1);
    const bool several = check_count_forms(of, count) > 1;
    for (uint32_t i = 0; i < count && several; i++)
        offers[i] = offer_of(c, &e->call.args[i]);
    return check_choose_offered(c, of, offers, count);
}

/* ---- what a call leaves out --------------------------------------------------------------------- */

static void fill_in_defaults(checker *c, expr *e, const function_item *f) {
    uint32_t first = e->call.receiver != NULL && f->has_self, count = e->call.arg_count;
    expr **args = CHECK_ARRAY(c, expr *, f->parameter_count + count + 1);
    for (uint32_t i = 0; i < count; i++) {
        args[i] = e->call.args[i];
        if (args[i]->kind == EXPR_TUPLE && args[i]->type == NULL) /* a kernel of (3, 3) */
            args[i]->kind = EXPR_ARRAY;
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
static void numbers_to_tensors(checker *c, expr *e, const function_item *f) {
    uint32_t first = e->call.receiver != NULL && f->has_self;
    for (uint32_t i = 0; i < e->call.arg_count && first + i < f->parameter_count; i++)
        if (check_wants_tensor(c, f, first + i))
            check_number_beside(c, &e->call.args[i], first == 1 ? e->call.receiver->type : NULL);
}

/* step([&mut w, &mut b]) */
static void mark_lists(expr *e) {
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        if (e->call.args[i]->kind == EXPR_ARRAY)
            e->call.args[i]->list.to_library = true;
}

function_item *check_choose_overload(checker *c, expr *e, function_item *f) {
    bool ours = f->span.file == c->tree->prelude, member = f->owner != NULL && f->owner->type != NULL;
    bool of_tensor = ours && member && f->owner->type->kind == TYPE_TENSOR;
    if (of_tensor)
        check_lent_lists(e);
    if (ours)
        mark_lists(e);
    if (ours ? member : check_has_overloads(f))
        f = check_choose(c, &(choice){.method = e->call.receiver != NULL, .written = f}, e).written;
    if (of_tensor)
        numbers_to_tensors(c, e, f);
    if (of_tensor || (ours && e->call.arg_count + f->has_self < f->parameter_count))
        fill_in_defaults(c, e, f);
    return f;
}

/* ---- From -------------------------------------------------------------------------------------- */

expr *check_from(checker *c, expr *e, const type *to) {
    to = type_resolve(c->types, to);
    const type *t = type_resolve(c->types, e->type);
    bool makes = to->kind == TYPE_STRUCT && to != t && (!check_is_dyn(to) || check_dyn_from(c, to, t)) &&
                 to->structure->closure == NULL && check_method_named(c, to->structure, "from") != NULL;
    return makes ? build_call(c, e->span, to->structure->name, "from", &e, 1) : NULL;
}
