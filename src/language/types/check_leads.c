/* check_leads.c: `impl Deref`: a value that leads on to another, and whether a `*` before it does more than follow a
 * reference.
 */
#include <string.h>

#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_tree_made.h"
#include "language/types/check_view.h"
#include "language/types/check_writes.h"

bool check_leads(const checker *c, const type *t) {
    t = type_resolve(c->types, t);
    const function_item *f = t->kind == TYPE_STRUCT ? check_method_named((checker *)c, t->structure, "deref") : NULL;
    f = f != NULL && f->template != NULL ? f->template : f;
    return f != NULL && f->has_self && f->impl != NULL && f->impl->trait_name != NULL &&
           library_said_of(LIBRARY_trait_form, f->impl->trait_name) == SAID_DEREF;
}

/* The place as it may be written, so that a call finds what it writes to. */
static expr *as_written(checker *c, expr *e) {
    const bool part = e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD;
    const type *whole = part && e->field.base->type != NULL ? type_resolve(c->types, e->field.base->type) : NULL;
    const bool field = part && !(whole != NULL && whole->kind == TYPE_STRUCT && whole->structure->is_enum);
    if (e->kind == EXPR_NAME && e->name.scope == NULL)
        return check_new_name(c, e->span, e->name.name);
    if (!field && (e->kind != EXPR_INDEX || type_is_reference(e->index.base->type) || type_is_box(e->index.base->type)))
        return e;
    expr *copy = check_new(c, e->kind, e->span, NULL);
    *copy = *e;
    copy->type = NULL;
    copy->stars = 0;
    if (field)
        copy->field.base = as_written(c, e->field.base);
    else
        copy->index.base = as_written(c, e->index.base);
    return copy;
}

expr *check_led(checker *c, expr *e, bool writes) {
    const type *t = type_resolve(c->types, e->type);
    writes = writes && check_method_named(c, t->structure, "deref_mut") != NULL;
    e = check_is_place(e) ? as_written(c, e) : e;
    return build_method(c, e->span, e, writes ? "deref_mut" : "deref", NULL, 0);
}

/* Whether a star before a value of t leads on in any case. */
bool check_is_guard(const checker *c, const type *t) {
    const struct_item *s = t != NULL && t->kind == TYPE_STRUCT ? t->structure : NULL;
    s = s != NULL && s->template != NULL ? s->template : s;
    return s != NULL && s->span.file == c->tree->prelude && library_says(LIBRARY_is_guard, s->name);
}

/* Whether `e`, as it is written, is a reference to what its type says. */
static bool is_written_reference(const checker *c, const expr *e) {
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    const binding *b = s == NULL ? NULL : s->binding;
    if (b != NULL) {
        bool annotated = b->annotation != NULL && !b->annotation->is_place && !b->annotation->is_shared;
        if (b->type != NULL && check_is_guard(c, type_resolve(c->types, b->type)))
            return false;
        return b->kind == BINDING_SELF || (b->kind != BINDING_LET && !annotated);
    }
    return e->kind == EXPR_METHOD;
}

bool check_is_reference(const checker *c, const expr *e) {
    if (c->tree->has_reference_impls)
        return check_view(c, e).references > 0;
    if (e->stars > 0)
        return false;
    if (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE)
        return true;
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    const binding *b = s == NULL ? NULL : s->binding;
    const type_expr *t = b == NULL ? NULL : b->annotation;
    return b != NULL && (b->is_lent || b->is_shared || b->is_to_value || (t != NULL && (t->is_place || t->is_shared)));
}

uint32_t check_stars(const checker *c, const expr *e) {
    return !e->is_followed ? 0 : e->stars - (e->stars > 0 && is_written_reference(c, e));
}

bool check_leads_elsewhere(checker *c, const type *t, const type *wish) {
    wish = wish == NULL ? NULL : type_resolve(c->types, wish);
    wish = wish != NULL && type_is_reference(wish) ? type_resolve(c->types, wish->vec.element) : wish;
    t = type_resolve(c->types, t);
    if (wish == NULL || wish == t || type_is_silent(wish) || check_is_dyn(wish) || !check_leads(c, t))
        return false;
    return wish->kind != TYPE_STRUCT || t->structure->template == NULL ||
           wish->structure->template != t->structure->template;
}

bool check_may_lend(const checker *c, const expr *e) {
    while (e->type == NULL) {
        const char *name = e->kind == EXPR_METHOD                                      ? e->call.name
                           : e->kind == EXPR_CALL && e->call.callee->kind == EXPR_NAME ? e->call.callee->name.name
                                                                                       : NULL;
        for (uint32_t i = 0; name != NULL && i < c->tree->getter_count; i++) {
            const char *known = c->tree->getters[i]->name;
            if (known[0] == name[0] && strcmp(known, name) == 0)
                return true;
        }
        if (e->kind == EXPR_METHOD)
            e = e->call.receiver;
        else if (e->kind == EXPR_TRY)
            e = e->attempt.operand;
        else
            return false;
    }
    return false;
}
