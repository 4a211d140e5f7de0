/* check_associated.c: other names for types, and what a type of a trait brings along.
 *
 *     type Row = Vec<f64>;   type Parsed<T> = Result<T, String>;
 *     impl Iterator for Fib { type Item = u64; … }        Self::Item in it, I::Item where I is Fib
 *     impl Shape for Disc { const SIDES: u32 = 0; … }     S::SIDES where S is Disc
 */
#include <string.h>

#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

/* The name under which impl blocks know the type; NULL: they know none. */
static const char *owner_name(checker *c, const type *t) {
    const struct_item *s = t->kind == TYPE_STRUCT ? t->structure : check_owner_of(c, t);
    if (t->kind == TYPE_VEC)
        return "Vec";
    if (t->kind == TYPE_TUPLE)
        return check_printf(c, OWNER_TUPLE "%u", t->tuple.count);
    return t->kind == TYPE_STRUCT ? (s->template != NULL ? s->template->name : s->name) : type_name(c->types, t);
}

/* The arguments of the impl's parameters where its owner is t: impl<A> … for P<A>. */
type_environment check_impl_environment(checker *c, const impl_item *impl, const type *t) {
    type_environment e = {.parameters = &impl->generics};
    e.arguments = CHECK_ARRAY(c, const type *, impl->generics.count + 1);
    bool open = false;
    for (uint32_t i = 0; i < impl->generics.count; i++) {
        e.arguments[i] = NULL;
        for (uint32_t k = 0; k < impl->owner->argument_count; k++) {
            const type_expr *written = impl->owner->arguments[k];
            if (written->name == NULL || strcmp(written->name, impl->generics.items[i].name) != 0)
                continue;
            if (strcmp(impl->owner->name, OWNER_ANY) == 0)
                e.arguments[i] = t;
            else if (t->kind == TYPE_TUPLE)
                e.arguments[i] = type_resolve(c->types, t->tuple.items[k]);
            else if (t->kind == TYPE_STRUCT && t->structure->template != NULL &&
                     k < t->structure->template->generics.count)
                e.arguments[i] = type_resolve(c->types, t->structure->arguments[k]);
            else if (t->kind == TYPE_VEC)
                e.arguments[i] = type_resolve(c->types, t->vec.element);
        }
        open |= e.arguments[i] == NULL;
        e.arguments[i] = e.arguments[i] == NULL ? type_open(c->types, NULL) : e.arguments[i];
    }
    if (open) /* impl<B, F: Fn(A) -> B> … for P<F>: F says what B is */
        check_bounds_decide(c, &e, false);
    for (uint32_t i = 0; open && i < impl->generics.count; i++) {
        e.arguments[i] = type_resolve(c->types, e.arguments[i]);
        e.arguments[i] = e.arguments[i]->kind == TYPE_OPEN ? check_scalar(c, TYPE_ERROR) : e.arguments[i];
    }
    e.self = t->kind == TYPE_STRUCT ? t->structure : NULL;
    return e;
}

/* impl … for P<f64> says nothing of P<i32>. */
static bool is_impl_for(checker *c, const impl_item *impl, const type *t) {
    const char *name = owner_name(c, t);
    if (strcmp(impl->owner->name, OWNER_ANY) == 0)
        return true;
    if (name == NULL || strcmp(impl->owner->name, name) != 0)
        return false;
    return impl->generics.count > 0 || impl->owner->argument_count == 0 || check_type(c, impl->owner) == t;
}

/* A list may need itself by way of its nodes; `type A = (A, A)` ends soon. */
enum { ALIAS_DEPTH_MAX = 4 };

static const type *follow(checker *c, alias_item *a, const type_environment *e) {
    a->is_open++;
    const type *found = check_type_in(c, e, a->type);
    a->is_open--;
    return found;
}

const type **check_written_arguments(checker *c, const type_parameters *generics, const type_expr *t) {
    const uint32_t count = generics->count, given = t->argument_count;
    if (given > count || (given < count && generics->items[given].otherwise == NULL))
        return NULL;
    type_environment e = {.parameters = generics, .arguments = CHECK_ARRAY(c, const type *, count + 1)};
    for (uint32_t i = 0; i < given; i++)
        e.arguments[i] = check_held_type(c, t->arguments[i]);
    for (uint32_t i = given; i < count; i++)
        e.arguments[i] = check_scalar(c, TYPE_ERROR); /* a default names those before it only */
    for (uint32_t i = given; i < count && generics->items[i].otherwise != NULL; i++) {
        const type_environment *outer = c->environment;
        c->environment = &e;
        e.arguments[i] = check_held_type(c, generics->items[i].otherwise);
        c->environment = outer;
    }
    return e.arguments;
}

static const type *parametric(checker *c, alias_item *a, const type_expr *t) {
    type_environment e = {.parameters = &a->generics, .arguments = check_written_arguments(c, &a->generics, t)};
    if (e.arguments == NULL) {
        diagnostics_say(c->diagnostics, t->span, SAY(takes_types_given), a->name, a->generics.count, t->argument_count);
        return check_scalar(c, TYPE_ERROR);
    }
    return follow(c, a, &e);
}

/* Mul<f64> is for f64, Mul alone for Self. */
static const type *trait_argument(checker *c, const type_expr *trait, uint32_t i, const type *self,
                                  const type_environment *e) {
    const type_environment *outer = c->environment;
    c->environment = e;
    const type *t = i < trait->argument_count ? check_type(c, trait->arguments[i]) : self;
    c->environment = outer;
    return type_resolve(c->types, t);
}

/* <T as Mul<f64>>::Output: what the impl of Mul<f64> says, not that of Mul<T>. */
static bool is_of_trait(checker *c, const impl_item *impl, const type_environment *e, const type_expr *wanted,
                        const type *self) {
    bool same = impl->trait_type != NULL;
    for (uint32_t i = 0; same && (i < wanted->argument_count || i < impl->trait_type->argument_count); i++)
        same = trait_argument(c, impl->trait_type, i, self, e) == trait_argument(c, wanted, i, self, c->environment);
    return same;
}

static const type *of_impl(checker *c, const type_expr *t, const type *owner) {
    for (alias_item *a = c->tree->aliases; owner != NULL && a != NULL; a = a->next) {
        if (a->is_open >= ALIAS_DEPTH_MAX || a->impl == NULL || strcmp(a->name, t->name) != 0 ||
            !is_impl_for(c, a->impl, owner))
            continue;
        const type_environment e = check_impl_environment(c, a->impl, owner);
        if (t->trait == NULL || is_of_trait(c, a->impl, &e, t->trait, owner))
            return follow(c, a, &e);
    }
    return NULL;
}

static bool names_open_type(checker *c, const type_expr *trait) {
    for (uint32_t i = 0; trait != NULL && i < trait->argument_count; i++)
        if (type_resolve(c->types, check_type(c, trait->arguments[i]))->may_have_open)
            return true;
    return false;
}

const type *check_alias_type(checker *c, type_expr *t) {
    const type *owner = t->of == NULL ? check_scope_type(c, t->scope) : type_resolve(c->types, check_type(c, t->of));
    if (owner != NULL && (owner->kind == TYPE_OPEN || names_open_type(c, t->trait))) { /* arguments will say it */
        c->open->has_open = true;
        return type_open(c->types, NULL);
    }
    const impl_item *here = c->function == NULL ? NULL : c->function->impl;
    for (alias_item *a = c->tree->aliases; a != NULL; a = a->next) {
        if (a->is_open == ALIAS_DEPTH_MAX || strcmp(a->name, t->name) != 0)
            continue;
        if (a->impl == NULL && a->generics.count > 0)
            return parametric(c, a, t);
        bool of_self = strcmp(t->scope == NULL ? "Self" : t->scope, "Self") == 0;
        bool own = a->impl != NULL && c->environment != NULL && c->environment->more == &a->impl->generics &&
                   a->impl->generics.count > 0;
        if (a->impl == NULL || (of_self && (own || a->impl == here)))
            return follow(c, a, c->environment);
    }
    const type *found = of_impl(c, t, owner);
    if (found != NULL)
        return found;
    const library_said means = owner == NULL ? SAID_NOTHING : library_said_of(LIBRARY_associated, t->name);
    if (means == SAID_INNER)
        return check_item_of(c, owner);
    if (means == SAID_ITERATE) /* a list is its own iterator */
        return check_item_of(c, owner) != NULL ? owner : NULL;
    return means == SAID_SAME && type_is_numeric(owner) ? owner : NULL;
}

const_item *check_constant_for(checker *c, const_item *item, const type *t) {
    for (const_item *k = item; item->other != NULL && t != NULL && k != NULL; k = k->other)
        if (is_impl_for(c, k->impl, t))
            return k;
    return item;
}

struct_item *check_constant_self(checker *c, const const_item *item) {
    const type *t = item->impl->owner->argument_count > 0 ? check_type(c, item->impl->owner) : NULL;
    if (t != NULL && t->kind == TYPE_STRUCT)
        return t->structure;
    struct_item *named = check_struct_named(c, item->impl->owner->name);
    return named == NULL && t == NULL ? check_builtin_owner(c, item->impl->owner->name) : named; /* for f64 */
}

const_item *check_associated_constant(checker *c, const type *t, const char *name) {
    const char *owner = t == NULL ? NULL : owner_name(c, t);
    const symbol *s = owner == NULL ? NULL : check_find(c, check_printf(c, "%s::%s", owner, name));
    return s == NULL ? NULL : s->constant;
}
