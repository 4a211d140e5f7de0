/* check_owners.c: what methods of types other than structs belong to, and which traits a type has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language/syntax/lexer.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"

static struct_item *new_builtin(checker *c, const char *name) {
    struct_item *s = CHECK_ARRAY(c, struct_item, 1);
    *s = (struct_item){.name = name, .is_builtin = true, .index = c->tree->struct_count};
    CHECK_PUSH(c, c->tree->structs, c->tree->struct_count, c->tree->struct_capacity, s);
    return s;
}

static struct_item *new_generic_builtin(checker *c, const char *name, uint32_t count) {
    struct_item *s = new_builtin(c, name);
    s->generics.items = CHECK_ARRAY(c, type_parameter, count);
    s->generics.count = count;
    for (uint32_t i = 0; i < count; i++)
        s->generics.items[i].name = check_printf(c, "T%u", i);
    return s;
}

struct_item *check_vec_owner(checker *c) {
    if (c->instances->builtin_owners[TYPE_VEC] == NULL)
        c->instances->builtin_owners[TYPE_VEC] = new_generic_builtin(c, "Vec", 1);
    return c->instances->builtin_owners[TYPE_VEC];
}

/* The owner of impls for tuples of so many, or for every type; NULL: the name is another. */
struct_item *check_nameless_owner(checker *c, const char *name) {
    bool tuple = strncmp(name, OWNER_TUPLE, strlen(OWNER_TUPLE)) == 0;
    if (!tuple && strcmp(name, OWNER_ANY) != 0)
        return NULL;
    symbol *s = check_symbol(c, name);
    if (s->structure == NULL) {
        uint32_t count = tuple ? (uint32_t)strtoul(name + strlen(OWNER_TUPLE), NULL, 10) : 1;
        s->structure = new_generic_builtin(c, name, count);
    }
    return s->structure;
}

struct_item *check_any_owner(const checker *c) {
    const symbol *s = check_find(c, OWNER_ANY);
    return s == NULL ? NULL : s->structure;
}

struct_item *check_builtin_owner(checker *c, const char *name) {
    struct_item *nameless = check_nameless_owner(c, name);
    nameless = nameless != NULL ? nameless : check_dyn_owner(c, name);
    if (nameless != NULL)
        return nameless;
    if (strcmp(name, "Vec") == 0)
        return check_vec_owner(c);
    bool tensor = strcmp(name, "Tensor") == 0 || strcmp(name, "GradTensor") == 0;
    type_kind kind = tensor ? TYPE_TENSOR : scalar_type_of_name(name, strlen(name));
    if (kind == TYPE_ERROR || kind == TYPE_VOID)
        return NULL;
    if (c->instances->builtin_owners[kind] == NULL) {
        struct_item *s = new_builtin(c, name);
        s->type = tensor ? type_tensor(c->types, NULL, -1) : check_scalar(c, kind);
        c->instances->builtin_owners[kind] = s;
    }
    return c->instances->builtin_owners[kind];
}

bool check_implements(const checker *c, const type *t, const trait_item *trait) {
    const struct_item *owner = t->kind == TYPE_STRUCT ? t->structure : c->instances->builtin_owners[t->kind];
    if (t->kind == TYPE_TUPLE) {
        char name[40];
        snprintf(name, sizeof name, OWNER_TUPLE "%u", t->tuple.count);
        const symbol *s = check_find(c, name);
        owner = s == NULL ? check_any_owner(c) : s->structure;
    }
    if (check_dyn_trait(t) != NULL)
        return check_inherits(c, check_dyn_trait(t), trait, 0);
    for (uint32_t i = 0; i < c->instances->implementation_count && owner != NULL; i++) {
        const implementation *made = &c->instances->implementations[i];
        if (made->trait == trait &&
            (made->owner == owner || made->owner == owner->template || strcmp(made->impl->owner->name, OWNER_ANY) == 0))
            return true;
    }
    return false;
}

bool check_same_written(const type_expr *a, const type_expr *b) {
    bool same = a->kind == b->kind && a->argument_count == b->argument_count &&
                (a->name == NULL) == (b->name == NULL) && (a->name == NULL || strcmp(a->name, b->name) == 0);
    for (uint32_t i = 0; same && i < a->argument_count; i++)
        same = check_same_written(a->arguments[i], b->arguments[i]);
    return same;
}

bool check_mentions(const type_expr *t, const char *name) {
    bool found = t != NULL && t->name != NULL && strcmp(t->name, name) == 0;
    for (uint32_t i = 0; t != NULL && !found && i < t->argument_count; i++)
        found = check_mentions(t->arguments[i], name);
    return found;
}

const type_expr *check_trait_operand(const impl_item *impl) {
    const type_expr *t = impl->trait_type;
    bool said = t->argument_count == 1 &&
                !(t->arguments[0]->name != NULL && strcmp(t->arguments[0]->name, "Self") == 0);
    return said ? t->arguments[0] : t->argument_count <= 1 ? impl->owner : NULL;
}

bool check_is_other_trait(const impl_item *a, const impl_item *b) {
    if (a == NULL || b == NULL || a->trait_type == NULL || b->trait_type == NULL)
        return false;
    const type_expr *of_a = check_trait_operand(a), *of_b = check_trait_operand(b);
    return of_a == NULL || of_b == NULL || strcmp(a->trait_name, b->trait_name) != 0
               ? !check_same_written(a->trait_type, b->trait_type)
               : !check_same_written(of_a, of_b);
}

bool check_takes_reference(const function_item *f) {
    const type_expr *operand = f->parameter_count == 1u + f->has_self && f->impl->trait_type != NULL
                                   ? check_trait_operand(f->impl)
                                   : NULL;
    return operand != NULL && operand != f->impl->owner && operand->is_shared;
}

uint32_t check_distance_of_impl(const function_item *f) {
    const type_expr *owner = f->impl == NULL || f->impl->trait_name == NULL ? NULL : f->impl->owner;
    return owner == NULL ? 0 : (owner->is_place ? 4 : owner->is_shared ? 2 : 0) + check_takes_reference(f);
}

static type_expr *with_arguments(checker *c, const type_parameters *parameters, const type_expr *written,
                                 const type_expr *t) {
    for (uint32_t i = 0; t->kind == TYPE_EXPR_NAME && i < parameters->count; i++) {
        if (i < written->argument_count && strcmp(parameters->items[i].name, t->name) == 0) {
            type_expr *argument = CHECK_ARRAY(c, type_expr, 1);
            *argument = *written->arguments[i];
            argument->is_place |= t->is_place;
            return argument;
        }
    }
    type_expr *made = CHECK_ARRAY(c, type_expr, 1);
    *made = *t;
    made->arguments = CHECK_ARRAY(c, type_expr *, t->argument_count + 1);
    for (uint32_t i = 0; i < t->argument_count; i++)
        made->arguments[i] = with_arguments(c, parameters, written, t->arguments[i]);
    if (t->result != NULL)
        made->result = with_arguments(c, parameters, written, t->result);
    return made;
}

void check_add_trait_defaults(checker *c, impl_item *impl) {
    const type_parameters *parameters = &impl->trait->generics;
    const uint32_t given = impl->trait_type == NULL ? parameters->count : impl->trait_type->argument_count;
    if (given >= parameters->count || parameters->items[given].otherwise == NULL)
        return;
    type_expr *written = CHECK_ARRAY(c, type_expr, 1), **all = CHECK_ARRAY(c, type_expr *, parameters->count);
    *written = *impl->trait_type;
    for (uint32_t i = 0; i < given; i++)
        all[i] = written->arguments[i];
    written->arguments = all;
    for (uint32_t i = given; i < parameters->count && parameters->items[i].otherwise != NULL; i++) {
        all[i] = with_arguments(c, parameters, written, parameters->items[i].otherwise);
        written->argument_count = i + 1;
    }
    impl->trait_type = written;
}

void check_trait_arguments(checker *c, const impl_item *impl, function_item *f) {
    const type_parameters *parameters = &impl->trait->generics;
    if (parameters->count == 0)
        return;
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        binding *p = f->parameters[i];
        if (p->annotation != NULL)
            p->annotation = with_arguments(c, parameters, impl->trait_type, p->annotation);
    }
    if (f->result_annotation != NULL)
        f->result_annotation = with_arguments(c, parameters, impl->trait_type, f->result_annotation);
}

trait_item *check_own_trait(const checker *c, const function_item *f) {
    const char *name = f->impl == NULL || f->span.file == c->tree->prelude ? NULL : f->impl->trait_name;
    trait_item *trait = name == NULL ? NULL : names_trait(c->names, name);
    return trait == NULL || trait->span.file == c->tree->prelude ? NULL : trait;
}

bool check_is_same_source(const checker *c, const function_item *a, const function_item *b) {
    const bool library = a->span.file == c->tree->prelude || b->span.file == c->tree->prelude;
    return a->impl == b->impl || library || check_own_trait(c, a) == check_own_trait(c, b);
}

function_item *check_next_overload(const checker *c, const function_item *f, const function_item *first) {
    function_item *o = f->next_in_bucket;
    while (o != NULL && (o->owner != first->owner || o->has_self != first->has_self ||
                         strcmp(o->name, first->name) != 0 || !check_is_same_source(c, o, first)))
        o = o->next_in_bucket;
    return o;
}

bool check_has_overloads(const checker *c, const function_item *f) {
    return f->impl != NULL && f->impl->trait_type != NULL && check_next_overload(c, f, f) != NULL;
}
