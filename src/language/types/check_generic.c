/* check_generic.c: generic structs, enums and functions, one instance for each list of types.
 *
 *     fn first<T>(v: Vec<T>) -> T      first(names)  ─►  T = String  ─►  a copy of `first` with its own types
 *     struct Pair<A, B>                Pair { a: 1, b: true }        ─►  the struct Pair<i64, bool>
 *
 * What a type parameter means is found by checking the arguments against parameter types in which
 * each type parameter is a TYPE_OPEN; those that stay open until the body has been read are decided there
 * (call.pending). The bodies of instances are checked after the function that needs them; a generic
 * function that is not called is only parsed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language/types/check_capture.h"
#include "language/types/check_context.h"
#include "language/types/check_declare.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

enum { INSTANCES_MAX = 4096, STRUCT_DEPTH_MAX = 40 };

/* ---- structs --------------------------------------------------------------------------------- */

static bool same_types(const type *const *a, const type *const *b, uint32_t count) {
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

static uint32_t hash_of(const struct_item *template, const type *const *arguments) {
    uint64_t hash = template->index;
    for (uint32_t i = 0; i < template->generics.count; i++) {
        hash = (hash ^ arguments[i]->id) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

static struct_item **bucket_of(const instance_table *all, const struct_item *template, const type *const *arguments) {
    return &all->buckets[hash_of(template, arguments) & (all->bucket_count - 1)];
}

static void link_instance(const instance_table *all, struct_item *s) {
    struct_item **bucket = bucket_of(all, s->template, s->arguments);
    s->next_alike = *bucket;
    *bucket = s;
}

static void add_instance(checker *c, struct_item *s) {
    instance_table *all = &c->instances->structs;
    if (all->count == all->bucket_count) {
        const instance_table old = *all;
        all->bucket_count = old.bucket_count == 0 ? 256 : old.bucket_count * 2;
        all->buckets = CHECK_ARRAY(c, struct_item *, all->bucket_count);
        for (uint32_t i = 0; i < old.bucket_count; i++) {
            for (struct_item *made = old.buckets[i], *next; made != NULL; made = next) {
                next = made->next_alike;
                link_instance(all, made);
            }
        }
    }
    link_instance(all, s);
    all->count++;
}

/* struct L<T> { rest: Vec<L<Vec<T>>> }: each instance needs another one. */
static bool grows_without_end(checker *c, struct_item *s, const struct_item *template) {
    if (c->instances->struct_depth < STRUCT_DEPTH_MAX)
        return false;
    diagnostics_say(c->diagnostics, template->span, SAY(contains_itself_ever_other_types), template->name);
    for (uint32_t i = 0; i < s->field_count; i++) {
        s->fields[i] = template->fields[i];
        s->fields[i].type = check_scalar(c, TYPE_ERROR);
    }
    return true;
}

static void instance_fields(checker *c, struct_item *s, const struct_item *template) {
    if (grows_without_end(c, s, template))
        return;
    c->instances->struct_depth++;
    type_environment environment = {.parameters = &template->generics, .arguments = s->arguments};
    const type_environment *outer = c->environment;
    c->environment = &environment;
    const struct_item *around = c->instances->declares;
    c->instances->declares = s;
    for (uint32_t i = 0; i < s->field_count; i++) {
        s->fields[i] = template->fields[i];
        s->fields[i].type = s->fields[i].annotation == NULL ? check_scalar(c, TYPE_I64)
                                                            : check_held_type(c, s->fields[i].annotation);
    }
    c->instances->declares = around;
    c->environment = outer;
    c->instances->struct_depth--;
}

struct_item *check_struct_instance(checker *c, struct_item *template, const type **arguments) {
    const instance_table *all = &c->instances->structs;
    struct_item *s = all->bucket_count == 0 ? NULL : *bucket_of(all, template, arguments);
    for (; s != NULL; s = s->next_alike)
        if (s->template == template && same_types(s->arguments, arguments, template->generics.count))
            return s;
    s = CHECK_ARRAY(c, struct_item, 1);
    *s = *template;
    s->template = template;
    s->arguments = arguments;
    add_instance(c, s);
    s->index = c->tree->struct_count;
    CHECK_PUSH(c, c->tree->structs, c->tree->struct_count, c->tree->struct_capacity, s);
    s->type = !template->is_builtin           ? type_struct(c->types, s)
              : template->generics.count == 1 ? type_vec(c->types, arguments[0])
                                              : type_tuple(c->types, arguments, template->generics.count);
    s->visit = 1; /* being made: who measures it now has it inside */
    s->fields = CHECK_ARRAY(c, struct_field, s->field_count + 1);
    instance_fields(c, s, template);
    s->visit = 0;
    const bool outermost = c->instances->struct_depth == 0; /* a reference inside may lead back to one being made */
    for (uint32_t i = s->index; outermost && c->instances->structs_are_measured && i < c->tree->struct_count; i++)
        if (c->tree->structs[i]->template != NULL && c->tree->structs[i]->visit == 0)
            check_struct_size(c, c->tree->structs[i]);
    return s;
}

void check_fields_again(checker *c, uint32_t from) {
    const uint32_t count = c->tree->struct_count;
    for (uint32_t i = from; i < count; i++) {
        struct_item *s = c->tree->structs[i];
        bool wrong = false;
        for (uint32_t k = 0; s->template != NULL && k < s->field_count; k++)
            wrong |= s->fields[k].type != NULL && s->fields[k].type->kind == TYPE_ERROR;
        if (wrong)
            instance_fields(c, s, s->template);
    }
}

static const type *instance_type(void *context, struct_item *template, const type **arguments) {
    return template->dyn != NULL ? check_dyn_now(context, template->dyn)
                                 : check_struct_instance(context, template, arguments)->type;
}

void check_generics_begin(checker *c) {
    c->types->instance = instance_type;
    c->types->instance_context = c;
}

struct_item *check_struct_open(checker *c, struct_item *s, type_expr **written, uint32_t count) {
    if (s->generics.count == 0 || s->template != NULL)
        return s;
    const type **arguments = check_open_types(c, s->generics.count);
    for (uint32_t i = 0; i < count && i < s->generics.count; i++)
        arguments[i] = check_held_type(c, written[i]);
    return check_struct_instance(c, s, arguments);
}

/* ---- owners of methods that are not structs of the program ------------------------------------ */

struct_item *check_owner_of(checker *c, const type *t) {
    if (t->kind == TYPE_STRUCT)
        return t->structure;
    if (t->kind == TYPE_VEC) {
        if (c->instances->builtin_owners[TYPE_VEC] == NULL)
            return NULL;
        const type **arguments = CHECK_ARRAY(c, const type *, 1);
        arguments[0] = t->vec.element;
        return check_struct_instance(c, check_vec_owner(c), arguments);
    }
    if (t->kind == TYPE_TUPLE) {
        const symbol *s = check_find(c, check_printf(c, OWNER_TUPLE "%u", t->tuple.count));
        struct_item *owner = s != NULL ? s->structure
                             : check_any_owner(c) == NULL
                                 ? NULL
                                 : check_nameless_owner(c, check_printf(c, OWNER_TUPLE "%u", t->tuple.count));
        const type **items = CHECK_ARRAY(c, const type *, t->tuple.count);
        memcpy(items, t->tuple.items, t->tuple.count * sizeof *items);
        return owner == NULL ? NULL : check_struct_instance(c, owner, items);
    }
    if (c->instances->builtin_owners[t->kind] == NULL && check_any_owner(c) != NULL)
        check_builtin_owner(c, type_name(c->types, t));
    return c->instances->builtin_owners[t->kind];
}

/* ---- methods --------------------------------------------------------------------------------- */

/* Asks traits of the program alone, and says nothing. */
static bool fulfils(const checker *c, const type_parameters *parameters, const type **arguments) {
    for (uint32_t i = 0; i < parameters->count; i++) {
        for (uint32_t b = 0; b < parameters->items[i].bound_count; b++) {
            const type_expr *bound = parameters->items[i].bounds[b];
            const trait_item *trait = bound->kind == TYPE_EXPR_NAME ? names_trait_written(c->names, bound) : NULL;
            const type *t = type_resolve(c->types, arguments[i]);
            if (trait != NULL && !type_is_silent(t) && !check_implements(c, t, trait))
                return false;
        }
    }
    return true;
}

/* Whether the impl block is one for this instance; decides the impl's type parameters. */
bool check_impl_fits(checker *c, const function_item *f, const struct_item *owner,
                     const type_environment *environment) {
    bool any = f->impl != NULL && strcmp(f->impl->owner->name, OWNER_ANY) == 0;
    if (f->impl == NULL || (owner->template == NULL && !any))
        return true;
    const type_environment *outer = c->environment;
    const type_expr *written = f->impl->owner;
    const type_environment of_impl = {.parameters = environment->more, /* the method may have an F of its own */
                                      .arguments = environment->more_arguments,
                                      .self = environment->self};
    bool fits = true;
    c->environment = &of_impl;
    if (any) {
        fits = check_fits(c, owner->type, check_type(c, written->arguments[0]));
        c->environment = outer;
        return fits && fulfils(c, &f->impl->generics, environment->more_arguments);
    }
    for (uint32_t i = 0; fits && i < written->argument_count && i < owner->template->generics.count; i++)
        fits = check_fits(c, owner->arguments[i], check_type(c, written->arguments[i]));
    c->environment = outer;
    return fits;
}

/* The first method of that name whose impl is for owner; trait NULL: of any trait, or of none. */
static function_item *fitting_method(checker *c, const struct_item *owner, const struct_item *of, const char *name,
                                     const trait_item *trait) {
    function_item *f = check_find_method(c, of, name);
    while (f != NULL) {
        if (trait == NULL || (f->impl != NULL && f->impl->trait == trait)) {
            bool had_open = c->open->has_open;
            type_environment e = check_environment_new(c, f);
            bool fits = check_impl_fits(c, f, owner, &e);
            c->open->has_open = had_open;
            if (fits)
                return f;
        }
        do {
            f = f->next_in_bucket;
        } while (f != NULL && (f->owner != of || strcmp(f->name, name) != 0));
    }
    return NULL;
}

function_item *check_method_named(checker *c, struct_item *owner, const char *name) {
    function_item *f = check_find_method(c, owner, name);
    if (f == NULL && owner->dyn != NULL)
        f = check_dyn_method(c, check_dyn_decided(c, owner), name);
    if (f == NULL && owner->template != NULL)
        f = fitting_method(c, owner, owner->template, name, NULL);
    bool asks_any = f == NULL && check_any_owner(c) != NULL && owner->type != NULL && !check_is_vague(c, owner->type);
    return asks_any ? fitting_method(c, owner, check_any_owner(c), name, NULL) : f;
}

function_item *check_method_through(checker *c, struct_item *owner, const char *name, const trait_item *trait) {
    function_item *f = fitting_method(c, owner, owner, name, trait);
    if (f == NULL && owner->template != NULL)
        f = fitting_method(c, owner, owner->template, name, trait);
    return f == NULL && check_any_owner(c) != NULL ? fitting_method(c, owner, check_any_owner(c), name, trait) : f;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static bool check_bounds(checker *c, const type_parameters *parameters, const type **arguments, source_span span) {
    bool good = true;
    for (uint32_t i = 0; parameters != NULL && i < parameters->count; i++) {
        const type_parameter *p = &parameters->items[i];
        for (uint32_t b = 0; b < p->bound_count; b++) {
            const trait_item *trait = p->bounds[b]->kind == TYPE_EXPR_NAME ? names_trait_written(c->names, p->bounds[b])
                                                                           : NULL;
            if (trait == NULL || type_is_silent(arguments[i]) || check_implements(c, arguments[i], trait))
                continue; /* traits of Rust's own library say nothing to masu */
            diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(does_not_implement),
                                            check_type_text(c, arguments[i]), names_trait_text(trait));
            diagnostics_note(c->diagnostics, d, p->bounds[b]->span, "`%s` asks for it here", p->name);
            for (type_kind k = TYPE_I8; type_is_numeric(arguments[i]) && k < TYPE_SCALAR_END; k++)
                if (check_implements(c, check_scalar(c, k), trait))
                    diagnostics_note(c->diagnostics, d, (source_span){0}, "`%s` does",
                                     check_type_text(c, check_scalar(c, k)));
            good = false;
        }
    }
    return good;
}

/* ---- instances of functions ------------------------------------------------------------------ */

static bool is_decided(const type *const *types, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (types[i]->may_have_open)
            return false;
    return true;
}

static void resolve_all(checker *c, const type **types, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        types[i] = type_resolve(c->types, types[i]);
}

static bool same_references(const bool *a, const bool *b, uint32_t count) {
    return a == b || (a != NULL && b != NULL && memcmp(a, b, count * sizeof *a) == 0);
}

static function_item *find_instance(const function_item *f, const struct_item *owner, const type_environment *e) {
    function_item *made = f->instances;
    while (made != NULL &&
           (made->owner != owner ||
            !same_types(made->environment.arguments, e->arguments, check_type_count(e->parameters)) ||
            !same_references(made->environment.by_reference, e->by_reference, check_type_count(e->parameters)) ||
            !same_types(made->environment.more_arguments, e->more_arguments, check_type_count(e->more))))
        made = made->next_instance;
    return made;
}

static function_item *make_instance(checker *c, function_item *f, struct_item *owner, const type_environment *e,
                                    source_span span) {
    function_item *made = find_instance(f, owner, e);
    if (made != NULL)
        return made;
    if (c->instances->count++ > INSTANCES_MAX) {
        diagnostics_say(c->diagnostics, span, SAY(more_than_instances_of_generic_functions), INSTANCES_MAX);
        c->instances->refused = true;
        return NULL;
    }
    bool good = check_bounds(c, e->parameters, e->arguments, span);
    good &= check_bounds(c, e->more, e->more_arguments, span);
    if (!good) {
        c->instances->refused = true;
        return NULL;
    }
    made = check_copy_function(c, f);
    check_read_body(c, made);
    made->template = f;
    made->called_from = span.file != c->tree->prelude || c->function == NULL ? span : c->function->called_from;
    made->is_template = false;
    made->environment = *e;
    made->owner = owner;
    made->next_in_bucket = NULL;
    made->next_instance = f->instances;
    f->instances = made;
    made->index = c->tree->function_count;
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, made);
    check_signature(c, made);
    for (uint32_t i = 0; i < made->parameter_count; i++) { /* what a lent closure wrote goes back */
        binding *p = made->parameters[i];
        if (p->annotation != NULL && check_is_lent(p->type)) {
            type_expr *place = CHECK_ARRAY(c, type_expr, 1);
            *place = *p->annotation;
            place->is_place = true;
            p->annotation = place;
        }
    }
    return made;
}

/* T::Out: it has to be known what T is. */
static bool has_part(const type_expr *t) {
    bool has = t != NULL && (t->of != NULL || t->scope != NULL || (t->name != NULL && strstr(t->name, "::") != NULL));
    for (uint32_t i = 0; t != NULL && !has && i < t->argument_count; i++)
        has = has_part(t->arguments[i]);
    return has || (t != NULL && t->result != NULL && has_part(t->result));
}

/* The instance that the environment asks for; NULL while something is open. */
function_item *check_instance_of(checker *c, function_item *f, struct_item *owner, type_environment *e,
                                 source_span span) {
    check_bounds_decide(c, e, !has_part(f->result_annotation));
    resolve_all(c, e->arguments, check_type_count(e->parameters));
    resolve_all(c, e->more_arguments, check_type_count(e->more));
    bool decided = is_decided(e->arguments, check_type_count(e->parameters)) &&
                   is_decided(e->more_arguments, check_type_count(e->more)) &&
                   (owner == NULL || owner->type == NULL || !owner->type->may_have_open);
    return decided ? make_instance(c, f, owner, e, span) : NULL;
}
