/* check_associated.c: other names for types, and what a type of a trait brings along.
 *
 *     type Row = Vec<f64>;   type Parsed<T> = Result<T, String>;
 *     impl Iterator for Fib { type Item = u64; … }        Self::Item in it, I::Item where I is Fib
 *     impl Shape for Disc { const SIDES: u32 = 0; … }     S::SIDES where S is Disc
 */
#include <string.h>

#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_iterator.h"
#include "language/front/check_scopes.h"
#include "language/front/check_types.h"

/* The name under which impl blocks know the type; NULL: they know none. */
static const char *owner_name(checker *c, const type *t) {
    const struct_item *s = t->kind == TYPE_STRUCT ? t->structure : check_owner_of(c, t);
    if (t->kind == TYPE_VEC)
        return "Vec";
    if (t->kind == TYPE_TUPLE)
        return check_printf(c, OWNER_TUPLE "%u", t->tuple.count);
    return t->kind == TYPE_STRUCT ? (s->template != NULL ? s->template->name : s->name) : type_name(c->types, t);
}

/* What the impl's parameters are where its owner is t: impl<A> … for P<A>. */
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
        check_bounds_decide(c, &e);
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
    const type_environment *outer = c->environment;
    a->is_open++;
    c->environment = e;
    const type *found = check_type(c, a->type);
    c->environment = outer;
    a->is_open--;
    return found;
}

static const type *parametric(checker *c, alias_item *a, const type_expr *t) {
    if (t->argument_count != a->generics.count) {
        diagnostics_say(c->diagnostics, t->span, SAY(takes_types_given), a->name, a->generics.count, t->argument_count);
        return check_scalar(c, TYPE_ERROR);
    }
    type_environment e = {.parameters = &a->generics};
    e.arguments = CHECK_ARRAY(c, const type *, a->generics.count);
    for (uint32_t i = 0; i < a->generics.count; i++)
        e.arguments[i] = check_held_type(c, t->arguments[i]);
    return follow(c, a, &e);
}

const type *check_alias_type(checker *c, type_expr *t) {
    const type *owner = check_scope_type(c, t->scope);
    if (owner != NULL && owner->kind == TYPE_OPEN) { /* of a call whose arguments will say it */
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
    for (alias_item *a = c->tree->aliases; owner != NULL && a != NULL; a = a->next) {
        if (a->is_open < ALIAS_DEPTH_MAX && a->impl != NULL && strcmp(a->name, t->name) == 0 &&
            is_impl_for(c, a->impl, owner)) {
            type_environment e = check_impl_environment(c, a->impl, owner);
            return follow(c, a, &e);
        }
    }
    if (owner != NULL && strcmp(t->name, "Item") == 0)
        return check_item_of(c, owner);
    return owner != NULL && strcmp(t->name, "Output") == 0 && type_is_numeric(owner) ? owner : NULL;
}

const_item *check_associated_constant(checker *c, const char *scope, const char *name) {
    const type *t = check_scope_type(c, scope);
    const char *owner = t == NULL ? NULL : owner_name(c, t);
    const symbol *s = owner == NULL ? NULL : check_find(c, check_printf(c, "%s::%s", owner, name));
    return s == NULL ? NULL : s->constant;
}

enum { VISIT_NEW, VISIT_OPEN, VISIT_DONE };

typedef struct constant_walk {
    checker *c;
    const_item *item;
    uint32_t depth;
    bool bad;
} constant_walk;

static void check_constant(checker *c, const_item *item, source_span from, uint32_t depth);

void check_constant_now(checker *c, const_item *item, source_span from) {
    check_constant(c, item, from, 0);
}

static bool makes_constants(const checker *c, const name_expr *callee) {
    const symbol *s = check_find(c, callee->name);
    bool constant = s != NULL && s->function != NULL && s->function->is_const;
    return callee->scope == NULL && ((callee->name[0] >= 'A' && callee->name[0] <= 'Z') || constant);
}

/* Before the check of a value: what it is made of, and the constants that it needs first. */
static void constant_part(expr *e, void *context) {
    constant_walk *walk = context;
    switch (e->kind) {
    case EXPR_ERROR:
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_BOOL:
    case EXPR_CHAR:
    case EXPR_STRING:
    case EXPR_UNARY:
    case EXPR_BINARY:
    case EXPR_CAST:
        break;
    case EXPR_ARRAY:
    case EXPR_TUPLE:
    case EXPR_STRUCT:
    case EXPR_REPEAT:
        walk->item->is_composed = true;
        break;
    case EXPR_NAME: {
        names_settle(walk->c->names, &e->name);
        const char *scope = names_without_modules(walk->c->names, e->name.scope);
        if (scope != NULL && strcmp(scope, "Self") == 0 && walk->item->impl != NULL)
            scope = walk->item->impl->owner->name;
        symbol *s = check_find(walk->c,
                               scope == NULL ? e->name.name : check_printf(walk->c, "%s::%s", scope, e->name.name));
        if (s != NULL && s->constant != NULL) {
            check_constant(walk->c, s->constant, e->span, walk->depth + 1);
            walk->item->is_composed |= s->constant->is_composed;
        }
        break;
    }
    case EXPR_CALL: /* P(1, 2), f(1) of a const fn */
        if (walk->item->annotation != NULL && e->call.callee != NULL && e->call.callee->kind == EXPR_NAME &&
            makes_constants(walk->c, &e->call.callee->name)) {
            walk->item->is_composed = true;
            for (uint32_t i = 0; i < e->call.arg_count; i++)
                constant_part(e->call.args[i], context);
            return;
        }
        if (e->call.arg_count == 0 && e->call.callee->kind == EXPR_NAME && e->call.callee->name.scope != NULL &&
            check_scalar_scope(e->call.callee->name.scope))
            return; /* F32::max_value() */
        walk->bad = true;
        break;
    default:
        walk->bad = true;
        break;
    }
    if (!walk->bad)
        expr_each_child(e, constant_part, context);
}

static void check_constant(checker *c, const_item *item, source_span from, uint32_t depth) {
    if (item->visit == VISIT_DONE)
        return;
    if (item->visit == VISIT_OPEN || depth > 200) {
        diagnostics_say(c->diagnostics, from,
                        SAY_IF(depth > 200, constants_need_one_another_more_than, constant_needs_itself), item->name);
        return;
    }
    if (item->impl != NULL && item->impl->generics.count > 0) { /* each use says of which type */
        item->is_composed = true;
        item->visit = VISIT_DONE;
        return;
    }
    item->visit = VISIT_OPEN;
    constant_walk walk = {.c = c, .item = item, .depth = depth};
    const type_environment *outer = c->environment;
    type_environment environment = {0};
    if (item->impl != NULL) {
        environment.self = check_struct_named(c, item->impl->owner->name);
        c->environment = &environment;
    }
    constant_part(item->value, &walk);
    const type *wish = item->annotation == NULL ? NULL : check_type(c, item->annotation);
    if (walk.bad && item->is_let) {
        item->is_made = true;
        item->type = check_scalar(c, TYPE_ERROR);
    } else if (walk.bad) {
        diagnostics_say(c->diagnostics, item->value->span, SAY(constant_is_made_of_literals_operators));
    } else if (item->is_composed && wish == NULL) {
        diagnostics_say(c->diagnostics, item->span, SAY(constant_needs_type), item->name, item->name);
    } else if (item->is_composed) {
        item->type = wish;
    } else {
        check_expr(c, &item->value, wish);
        bool fits = wish == NULL || check_coerce(c, &item->value, wish, NULL);
        item->type = fits ? item->value->type : wish;
    }
    c->environment = outer;
    item->visit = VISIT_DONE;
}
