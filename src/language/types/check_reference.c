/* check_reference.c: where a reference is wanted, kept or followed. How one is made: check_reference_made.c. */
#include "language/types/check_context.h"
#include "language/types/check_operation.h"
#include "language/types/check_scopes.h"
#include "language/types/check_tree_made.h"
#include "language/types/check_writes.h"

const type *check_type_of(checker *c, const expr *e) {
    return type_resolve(c->types, e->type);
}

void check_keep_reference(expr *e) {
    if (e->is_kept || e->type != NULL)
        return;
    e->is_kept = true;
    if (e->kind == EXPR_BLOCK && e->block->result != NULL) {
        check_keep_reference(e->block->result);
    } else if (e->kind == EXPR_IF) {
        if (e->branch.then->result != NULL)
            check_keep_reference(e->branch.then->result);
        if (e->branch.otherwise != NULL)
            check_keep_reference(e->branch.otherwise);
    } else if (e->kind == EXPR_MATCH) {
        for (uint32_t i = 0; i < e->match.count; i++)
            check_keep_reference(e->match.arms[i].body);
    }
}

bool check_chooses(const expr *e) {
    if (e->kind == EXPR_CALL && e->type == NULL)
        return e->call.callee != NULL && e->call.callee->kind == EXPR_CLOSURE; /* becomes a block */
    return e->kind == EXPR_IF || e->kind == EXPR_MATCH || e->kind == EXPR_BLOCK || e->kind == EXPR_LOOP;
}

bool check_wants_reference(checker *c, const expr *e, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (e->is_followed)
        return false;
    return wish == NULL || wish->kind == TYPE_OPEN ? e->is_kept : type_is_reference(wish);
}

void check_follow(checker *c, expr **slot) {
    const type *t = check_type_of(c, *slot);
    if (!type_is_reference(t))
        return;
    (*slot)->type = t;
    *slot = build_index(c, (*slot)->span, *slot, check_new_int(c, (*slot)->span, 0));
    (*slot)->type = type_target(c->types, t);
}

bool check_follows(const expr *e, const expr *reference) {
    return e->kind == EXPR_INDEX && e->index.base == reference && type_is_reference(reference->type) &&
           !type_is_slice(reference->type);
}

bool check_names_place(const checker *c, const expr *e) {
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    const binding *b = s == NULL || e->is_followed ? NULL : s->binding;
    return b != NULL && (b->alias != NULL || b->is_lent || check_comes_back(b) ||
                         (b->type != NULL && type_is_reference(type_resolve(c->types, b->type))));
}

static bool holds_reference(const checker *c, const type_expr *t, int depth) {
    if (t == NULL || depth > 4 || t->kind == TYPE_EXPR_FUNCTION || t->kind == TYPE_EXPR_DYN)
        return false;
    for (uint32_t i = 0; i < t->argument_count; i++)
        if (t->arguments[i]->is_place || holds_reference(c, t->arguments[i], depth + 1))
            return true;
    const struct_item *s = t->kind == TYPE_EXPR_NAME && t->name != NULL ? check_struct_named(c, t->name) : NULL;
    for (uint32_t i = 0; s != NULL && !s->is_builtin && i < s->field_count; i++) {
        const type_expr *field = s->fields[i].annotation;
        if (field != NULL && (field->is_place || holds_reference(c, field, depth + 1)))
            return true;
    }
    return false;
}

bool check_lends_references(checker *c, function_item *f) {
    if (!f->refers_is_known) {
        f->refers_is_known = true;
        f->refers = f->result_annotation != NULL &&
                    (f->result_annotation->is_place || holds_reference(c, f->result_annotation, 0));
        for (uint32_t i = 0; !f->refers && i < f->parameter_count; i++) {
            const binding *p = f->parameters[i]; /* `mut cur: &mut T` may be another reference later */
            f->refers = p->kind == BINDING_PARAMETER && p->is_mutable && p->annotation != NULL &&
                        p->annotation->is_place;
        }
        for (uint32_t i = 0; !f->refers && i < f->parameter_count; i++)
            f->refers = f->span.file != c->tree->prelude && holds_reference(c, f->parameters[i]->annotation, 0);
        type_expr owner = {.kind = TYPE_EXPR_NAME, .name = f->owner_name};
        f->refers |= f->owner_name != NULL && holds_reference(c, &owner, 0);
    }
    for (uint32_t i = 0; f->refers && i < f->parameter_count; i++) {
        binding *p = f->parameters[i];
        p->by_reference = p->kind == BINDING_SELF ? p->is_lent : p->annotation != NULL && p->annotation->is_place;
    }
    return f->refers;
}
