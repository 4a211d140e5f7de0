/* check_dyn_types.c: types of functions and of what only traits are known of, as written; what a type says when it is
 * one; the variants that an attempt added.
 */
#include <string.h>

#include "language/library/library.h"
#include "language/types/check_capture.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

bool check_is_dyn(const type *t) {
    return t->kind == TYPE_STRUCT && t->structure->dyn != NULL;
}

const closure_signature *check_dyn_signature(const type *t) {
    return check_is_dyn(t) && t->structure->dyn->trait == NULL && t->structure->dyn->item == NULL
               ? &t->structure->dyn->signature
               : NULL;
}

bool check_yields_dyn(const type_expr *t) {
    const bool some = t->kind == TYPE_EXPR_DYN || (t->kind == TYPE_EXPR_NAME && t->name != NULL && t->name[0] == '<');
    return t->kind == TYPE_EXPR_FUNCTION || (some && t->argument_count > 0 && check_bounds_items(t->arguments[0]));
}

void check_dyn_mark(checker *c) {
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next) {
        d->kept_fields = d->s->field_count;
        d->kept_variants = d->s->variant_count;
    }
}

void check_dyn_return(checker *c) {
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next) {
        d->s->field_count = d->kept_fields > 1 ? d->kept_fields : 1; /* the tag stays */
        d->s->variant_count = d->kept_variants;
    }
}

void check_dyn_close(checker *c) {
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next)
        for (uint32_t i = 0; i < d->s->field_count; i++)
            d->s->fields[i].type = type_resolve(c->types, d->s->fields[i].type);
}

const trait_item *check_supertrait(const checker *c, const trait_item *trait, uint32_t i) {
    const type_expr *t = trait->supertraits[i];
    return t->kind == TYPE_EXPR_NAME ? names_trait_written(c->names, t) : NULL;
}

/* Display or Debug is a supertrait, or one of theirs. */
static bool is_shown(const checker *c, const trait_item *trait, int depth) {
    bool shown = trait->is_shown;
    for (uint32_t i = 0; i < trait->supertrait_count && depth < 20 && !shown; i++) {
        const trait_item *over = check_supertrait(c, trait, i);
        shown = over != NULL && is_shown(c, over, depth + 1);
    }
    return shown;
}

bool check_inherits(const checker *c, const trait_item *trait, const trait_item *from, int depth) {
    if (trait == from)
        return true;
    for (uint32_t i = 0; i < trait->supertrait_count && depth < 20; i++) {
        const trait_item *over = check_supertrait(c, trait, i);
        if (over != NULL && check_inherits(c, over, from, depth + 1))
            return true;
    }
    return false;
}

const trait_item *check_dyn_trait(const type *t) {
    return check_is_dyn(t) ? t->structure->dyn->trait : NULL;
}

bool check_dyn_is_shown(const checker *c, const type *t) {
    const trait_item *trait = check_dyn_trait(t);
    return trait != NULL && is_shown(c, trait, 0);
}

/* An open one is of no name: another may be called the same. */
static dyn_type *new_dyn(checker *c, source_span span, const char *name, bool open) {
    dyn_type *d = CHECK_ARRAY(c, dyn_type, 1);
    struct_item *s = CHECK_ARRAY(c, struct_item, 1);
    *s = (struct_item){
        .name = name, .span = span, .is_enum = true, .dyn = d, .index = c->tree->struct_count, .visit = 2};
    CHECK_PUSH(c, c->tree->structs, c->tree->struct_count, c->tree->struct_capacity, s);
    struct_field tag = {.name = "<tag>", .span = span, .type = check_scalar(c, TYPE_I64)};
    CHECK_PUSH(c, s->fields, s->field_count, d->field_capacity, tag);
    s->type = type_struct(c->types, s);
    type_set_size(s->type, 2);
    if (open)
        type_set_open(s->type);
    else
        check_symbol(c, name)->structure = s;
    d->s = s;
    d->next = c->instances->dyns;
    c->instances->dyns = d;
    return d;
}

static bool any_open(const type *const *types, uint32_t count) {
    bool open = false;
    for (uint32_t i = 0; i < count; i++)
        open |= types[i]->may_have_open;
    return open;
}

/* Conv<i64, f32> */
static const char *trait_text(checker *c, const trait_item *trait, const type *const *arguments) {
    const char *plain = names_trait_text(trait);
    const char *text = names_trait(c->names, plain) == trait ? plain : trait->name;
    for (uint32_t i = 0; i < trait->generics.count; i++)
        text = check_printf(c, "%s%s%s", text, i == 0 ? "<" : ", ", check_type_text(c, arguments[i]));
    return trait->generics.count == 0 ? text : check_printf(c, "%s>", text);
}

static const type *trait_dyn_of(checker *c, source_span span, trait_item *trait, const type **arguments) {
    const size_t bytes = trait->generics.count * sizeof *arguments;
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next)
        if (d->trait == trait && (bytes == 0 || memcmp(d->arguments, arguments, bytes) == 0))
            return d->s->type;
    const char *name = check_printf(c, OWNER_DYN "%s", trait_text(c, trait, arguments));
    dyn_type *d = new_dyn(c, span, name, any_open(arguments, trait->generics.count));
    d->trait = trait;
    d->arguments = arguments;
    if (bytes == 0)
        check_symbol(c, check_printf(c, OWNER_DYN "%s", trait->name))->structure = d->s;
    return d->s->type;
}

const type *check_trait_dyn(checker *c, source_span span, trait_item *trait) {
    return trait_dyn_of(c, span, trait, NULL);
}

/* dyn Conv<i64>: a trait with type parameters is another one for other types. */
static const type *trait_dyn_written(checker *c, type_expr *t, trait_item *trait, type_expr *bound) {
    const uint32_t count = trait->generics.count;
    const type **arguments = CHECK_ARRAY(c, const type *, count + 1);
    uint32_t types = 0; /* `Item = T` is a parameter of none */
    for (uint32_t i = 0; i < bound->argument_count && types < count; i++)
        arguments[types++] = type_resolve(c->types, check_part_type(c, bound->arguments[i]));
    for (uint32_t i = 0; i < types; i++)
        if (arguments[i]->kind == TYPE_ERROR)
            return arguments[i];
    if (types == count)
        return trait_dyn_of(c, t->span, trait, arguments);
    diagnostics_say(c->diagnostics, t->span, SAY(trait_of_dyn_needs_types), names_trait_text(trait),
                    trait->generics.items[types].name);
    return check_scalar(c, TYPE_ERROR);
}

struct_item *check_dyn_owner(checker *c, const char *name) {
    bool is_dyn = strncmp(name, OWNER_DYN, strlen(OWNER_DYN)) == 0;
    trait_item *trait = is_dyn ? names_trait(c->names, name + strlen(OWNER_DYN)) : NULL;
    return trait == NULL || trait->generics.count > 0 ? NULL : check_trait_dyn(c, trait->span, trait)->structure;
}

/* ---- as they are written -------------------------------------------------------------------------- */

closure_signature check_closure_signature(checker *c, const type_expr *function) {
    closure_signature s = {.count = function->argument_count, .is_known = true, .is_once = function->is_once};
    s.parameters = CHECK_ARRAY(c, const type *, s.count + 1);
    s.places = CHECK_ARRAY(c, bool, s.count + 1);
    for (uint32_t i = 0; i < s.count; i++) {
        s.places[i] = function->arguments[i]->is_place;
        s.parameters[i] = type_resolve(c->types, check_type(c, function->arguments[i]));
    }
    s.result = function->result == NULL ? check_scalar(c, TYPE_VOID)
                                        : type_resolve(c->types, check_type(c, function->result));
    return s;
}

static bool same_signature(const closure_signature *a, const closure_signature *b) {
    return a->count == b->count && a->result == b->result && a->is_once == b->is_once &&
           memcmp(a->parameters, b->parameters, a->count * sizeof *a->parameters) == 0;
}

static const type *dyn_of_functions(checker *c, source_span span, closure_signature wanted) {
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next)
        if (d->trait == NULL && d->item == NULL && same_signature(&d->signature, &wanted))
            return d->s->type;
    masu__buffer name = {0};
    masu__buffer_printf(&name, wanted.is_once ? "dyn FnOnce(" : "dyn Fn(");
    for (uint32_t i = 0; i < wanted.count; i++)
        masu__buffer_printf(&name, "%s%s", i == 0 ? "" : ", ", check_type_text(c, wanted.parameters[i]));
    masu__buffer_printf(&name, ")");
    if (wanted.result->kind != TYPE_VOID)
        masu__buffer_printf(&name, " -> %s", check_type_text(c, wanted.result));
    const char *text = check_printf(c, "%s", masu__buffer_text(&name));
    masu__buffer_destroy(&name);
    const bool open = wanted.result->may_have_open || any_open(wanted.parameters, wanted.count);
    dyn_type *d = new_dyn(c, span, text, open);
    d->signature = wanted;
    d->s->is_once = wanted.is_once;
    return d->s->type;
}

/* -> impl Iterator<Item = T>, Box<dyn Iterator<Item = T>>: any iterator of such elements. */
static const type *iterator_dyn(checker *c, source_span span, const type *item) {
    if (item->kind == TYPE_ERROR)
        return item;
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next)
        if (d->item == item)
            return d->s->type;
    const char *name = check_printf(c, "impl Iterator<Item = %s>", check_type_text(c, item));
    dyn_type *d = new_dyn(c, span, name, item->may_have_open);
    d->item = item;
    return d->s->type;
}

static const type **resolved(checker *c, const type *const *types, uint32_t count) {
    const type **now = CHECK_ARRAY(c, const type *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        now[i] = type_resolve(c->types, types[i]);
    return now;
}

const type *check_dyn_now(checker *c, const dyn_type *d) {
    if (d->trait != NULL)
        return trait_dyn_of(c, d->s->span, d->trait, resolved(c, d->arguments, d->trait->generics.count));
    if (d->item != NULL)
        return iterator_dyn(c, d->s->span, type_resolve(c->types, d->item));
    closure_signature now = d->signature;
    now.parameters = resolved(c, now.parameters, now.count);
    now.result = type_resolve(c->types, now.result);
    return dyn_of_functions(c, d->s->span, now);
}

static void settle(checker *c, const type *const *types, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        check_settle_number(c, types[i]);
}

struct_item *check_dyn_decided(checker *c, struct_item *s) {
    const dyn_type *d = type_resolve(c->types, s->type)->structure->dyn;
    if (!d->s->type->may_have_open)
        return d->s;
    if (d->trait != NULL)
        settle(c, d->arguments, d->trait->generics.count);
    else if (d->item != NULL)
        settle(c, &d->item, 1);
    else
        settle(c, d->signature.parameters, d->signature.count), settle(c, &d->signature.result, 1);
    return type_resolve(c->types, s->type)->structure;
}

static const type *function_dyn(checker *c, type_expr *t) {
    return dyn_of_functions(c, t->span, check_closure_signature(c, t));
}

/* dyn A + B, -> impl A + B: what the first trait that says something makes of it. */
const type *check_dyn_type(checker *c, type_expr *t) {
    if (t->kind == TYPE_EXPR_FUNCTION)
        return function_dyn(c, t);
    for (uint32_t i = 0; i < t->argument_count; i++) {
        type_expr *bound = t->arguments[i];
        if (bound->kind == TYPE_EXPR_FUNCTION)
            return function_dyn(c, bound);
        if (bound->kind != TYPE_EXPR_NAME)
            continue;
        trait_item *trait = names_trait_written(c->names, bound);
        if (trait != NULL)
            return trait_dyn_written(c, t, trait, bound);
        const library_said form = library_said_of(LIBRARY_trait_form, bound->name);
        bool iterates = form == SAID_ITERATE;
        if (iterates && bound->argument_count == 1)
            return iterator_dyn(c, t->span, type_resolve(c->types, check_part_type(c, bound->arguments[0])));
        if (form == SAID_TEXT) /* its text is what is used of it */
            return check_scalar(c, TYPE_STRING);
        trait_item *shown = names_trait(c->names, check_printf(c, "__dyn_%s", bound->name));
        if ((form == SAID_DISPLAY || form == SAID_DEBUG) && shown != NULL)
            return check_trait_dyn(c, t->span, shown);
    }
    const char *name = t->argument_count > 0 ? t->arguments[0]->name : NULL;
    diagnostics_say(c->diagnostics, t->span, SAY(there_is_no_trait), name == NULL ? "?" : name);
    return check_scalar(c, TYPE_ERROR);
}
