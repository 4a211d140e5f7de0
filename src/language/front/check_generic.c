/* check_generic.c: generic structs, enums and functions, one instance for each list of types.
 *
 *     fn first<T>(v: Vec<T>) -> T      first(names)  ─►  T = String  ─►  a copy of `first` with its own types
 *     struct Pair<A, B>                Pair { a: 1, b: true }        ─►  the struct Pair<i64, bool>
 *
 * What a type parameter stands for is found by checking the arguments against parameter types in which
 * each type parameter is a TYPE_OPEN; those that stay open until the body has been read are decided there
 * (call.pending). The bodies of instances are checked after the function that needs them; a generic
 * function that nobody calls is only parsed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language/front/check_closure.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_generic.h"
#include "language/front/check_items.h"
#include "language/front/check_scopes.h"
#include "language/front/check_types.h"
#include "language/syntax/lexer.h"
#include "language/syntax/parser.h"

enum { INSTANCES_MAX = 4096, STRUCT_DEPTH_MAX = 40 };

/* ---- environments ---------------------------------------------------------------------------- */

static const type *argument_in(const type_parameters *parameters, const type **arguments,
                               const char *name) {
    for (uint32_t i = 0; parameters != NULL && i < parameters->count; i++) {
        if (strcmp(parameters->items[i].name, name) == 0) {
            return arguments[i];
        }
    }
    return NULL;
}

const type *check_type_argument(const checker *c, const char *name) {
    const type_environment *e = c->environment;
    if (e == NULL) {
        return NULL;
    }
    const type *t = argument_in(e->parameters, e->arguments, name);
    return t != NULL ? t : argument_in(e->more, e->more_arguments, name);
}

static const type **open_types(checker *c, uint32_t count) {
    const type **types = CHECK_ARRAY(c, const type *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = type_open(c->types, NULL);
    }
    c->open->has_open |= count > 0;
    return types;
}

/* ---- structs --------------------------------------------------------------------------------- */

static bool same_types(const type *const *a, const type *const *b, uint32_t count) {
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

/* struct L<T> { rest: Vec<L<Vec<T>>> }: each instance needs another one. */
static bool grows_without_end(checker *c, struct_item *s, const struct_item *template) {
    if (c->instances->struct_depth < STRUCT_DEPTH_MAX) {
        return false;
    }
    diagnostics_say(c->diagnostics, template->span, SAY(contains_itself_ever_other_types),
                    template->name);
    for (uint32_t i = 0; i < s->field_count; i++) {
        s->fields[i] = template->fields[i];
        s->fields[i].type = check_scalar(c, TYPE_ERROR);
    }
    return true;
}

static void instance_fields(checker *c, struct_item *s, const struct_item *template) {
    if (grows_without_end(c, s, template)) {
        return;
    }
    c->instances->struct_depth++;
    type_environment environment = {.parameters = &template->generics, .arguments = s->arguments};
    const type_environment *outer = c->environment;
    c->environment = &environment;
    for (uint32_t i = 0; i < s->field_count; i++) {
        s->fields[i] = template->fields[i];
        s->fields[i].type = s->fields[i].annotation == NULL
                                ? check_scalar(c, TYPE_I64)
                                : check_type(c, s->fields[i].annotation);
    }
    c->environment = outer;
    c->instances->struct_depth--;
}

struct_item *check_struct_instance(checker *c, struct_item *template, const type **arguments) {
    for (struct_item *s = template->instances; s != NULL; s = s->next_instance) {
        if (same_types(s->arguments, arguments, template->generics.count)) {
            return s;
        }
    }
    struct_item *s = CHECK_ARRAY(c, struct_item, 1);
    *s = *template;
    s->template = template;
    s->arguments = arguments;
    s->instances = NULL;
    s->next_instance = template->instances;
    template->instances = s;
    s->index = c->tree->struct_count;
    CHECK_PUSH(c, c->tree->structs, c->tree->struct_count, c->tree->struct_capacity, s);
    s->type = !template->is_builtin             ? type_struct(c->types, s)
              : template->generics.count == 1 ? type_vec(c->types, arguments[0])
                                              : type_tuple(c->types, arguments, template->generics.count);
    s->visit = 1; /* being made: who measures it now has it inside */
    s->fields = CHECK_ARRAY(c, struct_field, s->field_count + 1);
    instance_fields(c, s, template);
    s->visit = 0;
    if (c->instances->structs_are_measured) {
        check_struct_size(c, s);
    }
    return s;
}

static const type *instance_type(void *context, struct_item *template, const type **arguments) {
    return check_struct_instance(context, template, arguments)->type;
}

void check_generics_begin(checker *c) {
    c->types->instance = instance_type;
    c->types->instance_context = c;
}

struct_item *check_struct_open(checker *c, struct_item *s, type_expr **written, uint32_t count) {
    if (s->generics.count == 0 || s->template != NULL) {
        return s;
    }
    const type **arguments = open_types(c, s->generics.count);
    for (uint32_t i = 0; i < count && i < s->generics.count; i++) {
        arguments[i] = check_held_type(c, written[i]);
    }
    return check_struct_instance(c, s, arguments);
}

/* ---- owners of methods that are no structs of the program ------------------------------------- */

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
    for (uint32_t i = 0; i < count; i++) {
        s->generics.items[i].name = check_printf(c, "T%u", i);
    }
    return s;
}

static struct_item *vec_owner(checker *c) {
    if (c->instances->builtin_owners[TYPE_VEC] == NULL) {
        c->instances->builtin_owners[TYPE_VEC] = new_generic_builtin(c, "Vec", 1);
    }
    return c->instances->builtin_owners[TYPE_VEC];
}

/* What impls for tuples of so many, or for every type, belong to; NULL: the name is another. */
static struct_item *nameless_owner(checker *c, const char *name) {
    bool tuple = strncmp(name, OWNER_TUPLE, strlen(OWNER_TUPLE)) == 0;
    if (!tuple && strcmp(name, OWNER_ANY) != 0) {
        return NULL;
    }
    symbol *s = check_symbol(c, name);
    if (s->structure == NULL) {
        uint32_t count = tuple ? (uint32_t)strtoul(name + strlen(OWNER_TUPLE), NULL, 10) : 1;
        s->structure = new_generic_builtin(c, name, count);
    }
    return s->structure;
}

static struct_item *any_owner(const checker *c) {
    const symbol *s = check_find(c, OWNER_ANY);
    return s == NULL ? NULL : s->structure;
}

struct_item *check_builtin_owner(checker *c, const char *name) {
    struct_item *nameless = nameless_owner(c, name);
    nameless = nameless != NULL ? nameless : check_dyn_owner(c, name);
    if (nameless != NULL) {
        return nameless;
    }
    if (strcmp(name, "Vec") == 0) {
        return vec_owner(c);
    }
    bool tensor = strcmp(name, "Tensor") == 0 || strcmp(name, "GradTensor") == 0;
    type_kind kind = tensor ? TYPE_TENSOR : scalar_type_of_name(name, strlen(name));
    if (kind == TYPE_ERROR || kind == TYPE_VOID) {
        return NULL;
    }
    if (c->instances->builtin_owners[kind] == NULL) {
        struct_item *s = new_builtin(c, name);
        s->type = tensor ? type_tensor(c->types, NULL, -1) : check_scalar(c, kind);
        c->instances->builtin_owners[kind] = s;
    }
    return c->instances->builtin_owners[kind];
}

struct_item *check_owner_of(checker *c, const type *t) {
    if (t->kind == TYPE_STRUCT) {
        return t->structure;
    }
    if (t->kind == TYPE_VEC) {
        if (c->instances->builtin_owners[TYPE_VEC] == NULL) {
            return NULL;
        }
        const type **arguments = CHECK_ARRAY(c, const type *, 1);
        arguments[0] = t->vec.element;
        return check_struct_instance(c, vec_owner(c), arguments);
    }
    if (t->kind == TYPE_TUPLE) {
        const symbol *s = check_find(c, check_printf(c, OWNER_TUPLE "%u", t->tuple.count));
        struct_item *owner = s != NULL ? s->structure : any_owner(c) == NULL ? NULL
                             : nameless_owner(c, check_printf(c, OWNER_TUPLE "%u", t->tuple.count));
        const type **items = CHECK_ARRAY(c, const type *, t->tuple.count);
        memcpy(items, t->tuple.items, t->tuple.count * sizeof *items);
        return owner == NULL ? NULL : check_struct_instance(c, owner, items);
    }
    if (c->instances->builtin_owners[t->kind] == NULL && any_owner(c) != NULL) {
        check_builtin_owner(c, type_name(c->types, t));
    }
    return c->instances->builtin_owners[t->kind];
}

/* ---- methods --------------------------------------------------------------------------------- */

type_environment check_environment_new(checker *c, function_item *f) {
    type_environment e = {.parameters = &f->generics};
    e.arguments = open_types(c, f->generics.count);
    if (f->impl != NULL) {
        e.more = &f->impl->generics;
        e.more_arguments = open_types(c, f->impl->generics.count);
    }
    return e;
}

/* Asks traits of the program alone, and says nothing. */
static bool fulfils(const checker *c, const type_parameters *parameters, const type **arguments) {
    for (uint32_t i = 0; i < parameters->count; i++) {
        for (uint32_t b = 0; b < parameters->items[i].bound_count; b++) {
            const type_expr *bound = parameters->items[i].bounds[b];
            const trait_item *trait = bound->kind == TYPE_EXPR_NAME ? names_trait(c->names, bound->name) : NULL;
            const type *t = type_resolve(c->types, arguments[i]);
            if (trait != NULL && !type_is_silent(t) && !check_implements(c, t, trait)) {
                return false;
            }
        }
    }
    return true;
}

/* Whether the impl block is one for this instance; decides the impl's type parameters. */
bool check_impl_fits(checker *c, const function_item *f, const struct_item *owner,
                     const type_environment *environment) {
    bool any = f->impl != NULL && strcmp(f->impl->owner->name, OWNER_ANY) == 0;
    if (f->impl == NULL || (owner->template == NULL && !any)) {
        return true;
    }
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
    for (uint32_t i = 0; fits && i < written->argument_count && i < owner->template->generics.count;
         i++) {
        fits = check_fits(c, owner->arguments[i], check_type(c, written->arguments[i]));
    }
    c->environment = outer;
    return fits;
}

/* The first method of that name whose impl is for owner. */
static function_item *fitting_method(checker *c, const struct_item *owner, const struct_item *of, const char *name) {
    function_item *f = check_find_method(c, of, name);
    while (f != NULL) {
        bool had_open = c->open->has_open;
        type_environment e = check_environment_new(c, f);
        bool fits = check_impl_fits(c, f, owner, &e);
        c->open->has_open = had_open;
        if (fits) {
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
    if (f == NULL && owner->dyn != NULL) {
        return check_dyn_method(c, owner, name);
    }
    if (f == NULL && owner->template != NULL) {
        f = fitting_method(c, owner, owner->template, name);
    }
    bool asks_any = f == NULL && any_owner(c) != NULL && owner->type != NULL && !check_is_vague(c, owner->type);
    return asks_any ? fitting_method(c, owner, any_owner(c), name) : f;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

bool check_implements(const checker *c, const type *t, const trait_item *trait) {
    const struct_item *owner = t->kind == TYPE_STRUCT ? t->structure : c->instances->builtin_owners[t->kind];
    if (t->kind == TYPE_TUPLE) {
        char name[40];
        snprintf(name, sizeof name, OWNER_TUPLE "%u", t->tuple.count);
        const symbol *s = check_find(c, name);
        owner = s == NULL ? any_owner(c) : s->structure;
    }
    if (check_dyn_trait(t) != NULL) {
        return check_inherits(c, check_dyn_trait(t), trait, 0);
    }
    for (uint32_t i = 0; i < c->instances->implementation_count && owner != NULL; i++) {
        const implementation *made = &c->instances->implementations[i];
        if (made->trait == trait && (made->owner == owner || made->owner == owner->template ||
                                     strcmp(made->impl->owner->name, OWNER_ANY) == 0)) {
            return true;
        }
    }
    return false;
}

static bool check_bounds(checker *c, const type_parameters *parameters, const type **arguments,
                         source_span span) {
    bool good = true;
    for (uint32_t i = 0; parameters != NULL && i < parameters->count; i++) {
        const type_parameter *p = &parameters->items[i];
        for (uint32_t b = 0; b < p->bound_count; b++) {
            const trait_item *trait =
                p->bounds[b]->kind == TYPE_EXPR_NAME ? names_trait(c->names, p->bounds[b]->name) : NULL;
            if (trait == NULL || type_is_silent(arguments[i]) || check_implements(c, arguments[i], trait)) {
                continue; /* traits of Rust's own library say nothing to masu */
            }
            diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(does_not_implement),
                                            check_type_text(c, arguments[i]), names_trait_text(trait));
            diagnostics_note(c->diagnostics, d, p->bounds[b]->span, "`%s` asks for it here",
                             p->name);
            good = false;
        }
    }
    return good;
}

/* ---- instances of functions ------------------------------------------------------------------ */

static bool is_decided(const type *const *types, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (types[i]->may_have_open) {
            return false;
        }
    }
    return true;
}

uint32_t check_type_count(const type_parameters *p) {
    return p == NULL ? 0 : p->count;
}

static void resolve_all(checker *c, const type **types, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        types[i] = type_resolve(c->types, types[i]);
    }
}

static function_item *find_instance(const function_item *f, const struct_item *owner,
                                    const type_environment *e) {
    function_item *made = f->instances;
    while (made != NULL && (made->owner != owner ||
                            !same_types(made->environment.arguments, e->arguments,
                                        check_type_count(e->parameters)) ||
                            !same_types(made->environment.more_arguments, e->more_arguments,
                                        check_type_count(e->more)))) {
        made = made->next_instance;
    }
    return made;
}

void check_read_body(checker *c, function_item *f) {
    if (f->unread.length > 0 && parse_unread(c->tree, f, c->diagnostics) != MASU_OK) {
        check_out_of_memory(c);
    }
}

static function_item *make_instance(checker *c, function_item *f, struct_item *owner,
                                    const type_environment *e, source_span span) {
    function_item *made = find_instance(f, owner, e);
    if (made != NULL) {
        return made;
    }
    if (c->instances->count++ > INSTANCES_MAX) {
        diagnostics_say(c->diagnostics, span, SAY(more_than_instances_of_generic_functions),
                        INSTANCES_MAX);
        c->instances->refused = true;
        return NULL;
    }
    bool good = check_bounds(c, e->parameters, e->arguments, span);
    good &= check_bounds(c, e->more, e->more_arguments, span);
    if (!good) {
        c->instances->refused = true;
        return NULL;
    }
    made = function_copy(c->arena, f);
    if (made == NULL) {
        check_out_of_memory(c);
    }
    check_read_body(c, made);
    made->template = f;
    made->called_from = span.file != c->tree->prelude || c->function == NULL
                            ? span
                            : c->function->called_from;
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

/* The instance that the environment asks for; NULL while something is open. */
function_item *check_instance_of(checker *c, function_item *f, struct_item *owner,
                                 type_environment *e, source_span span) {
    check_bounds_decide(c, e);
    resolve_all(c, e->arguments, check_type_count(e->parameters));
    resolve_all(c, e->more_arguments, check_type_count(e->more));
    bool decided = is_decided(e->arguments, check_type_count(e->parameters)) &&
                   is_decided(e->more_arguments, check_type_count(e->more)) &&
                   (owner == NULL || owner->type == NULL || !owner->type->may_have_open);
    return decided ? make_instance(c, f, owner, e, span) : NULL;
}

/* ---- templates ------------------------------------------------------------------------------- */

bool check_is_template(const checker *c, const function_item *f) {
    bool generic_owner =
        f->owner != NULL && f->owner->generics.count > 0 && f->owner->template == NULL;
    return f->generics.count > 0 || (f->impl != NULL && f->impl->generics.count > 0) ||
           generic_owner || f->span.file == c->tree->prelude;
}
