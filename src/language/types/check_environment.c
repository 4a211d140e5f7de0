/* check_environment.c: what type parameters are, in a declaration and where it is used. */
#include <string.h>

#include "language/syntax/parser.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

const type_parameter *check_parameter_named(const function_item *f, const char *name) {
    const type_parameters *lists[2] = {&f->generics, f->impl == NULL ? NULL : &f->impl->generics};
    for (int l = 0; l < 2; l++) {
        for (uint32_t i = 0; lists[l] != NULL && i < lists[l]->count; i++)
            if (strcmp(lists[l]->items[i].name, name) == 0)
                return &lists[l]->items[i];
    }
    return NULL;
}

const type_expr *check_function_bound(const function_item *f, const binding *parameter) {
    const type_expr *t = parameter->annotation;
    const type_parameter *p = t == NULL || t->kind != TYPE_EXPR_NAME ? NULL : check_parameter_named(f, t->name);
    for (uint32_t b = 0; p != NULL && b < p->bound_count; b++)
        if (p->bounds[b]->kind == TYPE_EXPR_FUNCTION)
            return p->bounds[b];
    return NULL;
}

static const type *argument_in(const type_parameters *parameters, const type **arguments, const char *name) {
    for (uint32_t i = 0; parameters != NULL && i < parameters->count; i++)
        if (strcmp(parameters->items[i].name, name) == 0)
            return arguments[i];
    return NULL;
}

const type *check_type_argument(const checker *c, const char *name) {
    const type_environment *e = c->environment;
    if (e == NULL)
        return NULL;
    const type *t = argument_in(e->parameters, e->arguments, name);
    return t != NULL ? t : argument_in(e->more, e->more_arguments, name);
}

const type **check_open_types(checker *c, uint32_t count) {
    const type **types = CHECK_ARRAY(c, const type *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        types[i] = type_open(c->types, NULL);
    c->open->has_open |= count > 0;
    return types;
}

type_environment check_environment_new(checker *c, function_item *f) {
    type_environment e = {.parameters = &f->generics};
    e.arguments = check_open_types(c, f->generics.count);
    if (f->impl != NULL) {
        e.more = &f->impl->generics;
        e.more_arguments = check_open_types(c, f->impl->generics.count);
    }
    return e;
}

uint32_t check_type_count(const type_parameters *p) {
    return p == NULL ? 0 : p->count;
}

bool check_is_template(const checker *c, const function_item *f) {
    bool generic_owner = f->owner != NULL && f->owner->generics.count > 0 && f->owner->template == NULL;
    return f->generics.count > 0 || (f->impl != NULL && f->impl->generics.count > 0) || generic_owner ||
           f->span.file == c->tree->prelude;
}

/* The type that `Self` or a type parameter means; NULL: the scope is neither. */
const type *check_scope_type(checker *c, const char *scope) {
    const type *t = scope == NULL ? NULL : check_type_argument(c, scope);
    if (t == NULL && scope != NULL && strcmp(scope, "Self") == 0) {
        const struct_item *self = check_struct_named(c, scope);
        t = self == NULL ? NULL : self->type;
    }
    return t == NULL ? NULL : type_resolve(c->types, t);
}

void check_part_scope(checker *c, name_expr *e) {
    const char *part = e->of != NULL || e->scope == NULL ? NULL : strstr(e->scope, "::");
    if (part == NULL || strstr(part + 2, "::") != NULL)
        return;
    const char *of = check_printf(c, "%.*s", (int)(part - e->scope), e->scope);
    if (check_scope_type(c, of) == NULL)
        return;
    e->of = CHECK_ARRAY(c, type_expr, 1);
    *e->of = (type_expr){.span = e->scope_span, .kind = TYPE_EXPR_NAME, .scope = of, .name = part + 2};
    e->scope = "<type>";
}

void check_alias_scope(checker *c, name_expr *callee) {
    check_part_scope(c, callee);
    if (check_type_argument(c, callee->scope) != NULL) /* a type parameter hides what else has its name */
        return;
    for (const alias_item *a = c->tree->aliases; a != NULL; a = a->next) {
        bool meant = a->impl == NULL && a->type->kind == TYPE_EXPR_NAME && a->generics.count == 0 &&
                     strcmp(a->name, callee->scope) == 0 && callee->argument_count == 0;
        const symbol *s = meant && a->type->argument_count == 0 ? names_find(c->names, a->type->name) : NULL;
        bool own = s != NULL && s->structure != NULL;
        if (meant && !own) { /* a struct is found by the other name as well */
            callee->scope = a->type->name;
            callee->arguments = a->type->arguments;
            callee->argument_count = a->type->argument_count;
            return;
        }
    }
}

void check_read_body(checker *c, function_item *f) {
    if (f->unread.length > 0 && parse_unread(c->tree, f, c->diagnostics) != MASU_OK)
        check_out_of_memory(c);
}
