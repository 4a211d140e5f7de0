/* check_dyn_methods.c: the methods of a dyn type: heads, as the trait or the signature says them; check_dyn.c writes
 * the bodies when every type that becomes one is known.
 */
#include <string.h>

#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_declare.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_instances.h"
#include "language/types/check_pieces.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"

enum { DEEPEST = 20 };

static const trait_item *trait_with(const checker *c, const trait_item *trait, const char *name, int depth) {
    for (uint32_t i = 0; i < trait->method_count; i++)
        if (strcmp(trait->methods[i]->name, name) == 0)
            return trait;
    const trait_item *found = NULL;
    for (uint32_t i = 0; i < trait->supertrait_count && depth < DEEPEST && found == NULL; i++) {
        const trait_item *below = check_supertrait(c, trait, i);
        found = below == NULL ? NULL : trait_with(c, below, name, depth + 1);
    }
    return found;
}

const trait_item *check_trait_with(const checker *c, const trait_item *trait, const char *name) {
    return trait_with(c, trait, name, 0);
}

static const function_item *trait_method(const checker *c, const trait_item *trait, const char *name) {
    trait = check_trait_with(c, trait, name);
    return trait == NULL ? NULL : check_method_of_trait(c, trait->name, name);
}

binding *check_new_parameter(checker *c, source_span span, binding_kind kind, const char *name, const type *t) {
    binding *b = CHECK_ARRAY(c, binding, 1);
    *b = (binding){.name = name, .span = span, .kind = kind, .is_mutable = true, .type = t};
    return b;
}

/* Of functions: fn call(&mut self, …) of the signature; fn call(self, …) of a FnOnce. */
static function_item *call_method(checker *c, const dyn_type *d) {
    function_item *f = CHECK_ARRAY(c, function_item, 1);
    *f = (function_item){.name = "call",
                         .qualified = d->s->name,
                         .span = d->s->span,
                         .has_self = true,
                         .parameter_count = d->signature.count + 1,
                         .result = d->signature.result};
    f->parameters = CHECK_ARRAY(c, binding *, f->parameter_count);
    f->parameters[0] = check_new_parameter(c, f->span, BINDING_SELF, "self", d->s->type);
    f->parameters[0]->is_lent = !d->signature.is_once;
    for (uint32_t i = 1; i < f->parameter_count; i++) {
        f->parameters[i] = check_new_parameter(c, f->span, BINDING_PARAMETER, check_printf(c, "<%u>", i),
                                               d->signature.parameters[i - 1]);
        f->parameters[i]->comes_back = d->signature.places != NULL && d->signature.places[i - 1];
    }
    return f;
}

/* fn fmt(&self, f: &mut Formatter) -> fmt::Result */
static function_item *fmt_method(checker *c, const dyn_type *d, const char *name) {
    function_item *f = CHECK_ARRAY(c, function_item, 1);
    type_expr *types = CHECK_ARRAY(c, type_expr, 2);
    types[0] = (type_expr){.span = d->s->span, .kind = TYPE_EXPR_NAME, .name = "Formatter", .is_place = true};
    types[1] = (type_expr){.span = d->s->span, .kind = TYPE_EXPR_NAME, .name = "Result"};
    *f = (function_item){.name = name,
                         .qualified = name,
                         .span = d->s->span,
                         .has_self = true,
                         .parameter_count = 2,
                         .result_annotation = &types[1]};
    f->parameters = CHECK_ARRAY(c, binding *, 2);
    f->parameters[0] = check_new_parameter(c, f->span, BINDING_SELF, "self", d->s->type);
    f->parameters[0]->is_shared = true;
    f->parameters[1] = check_new_parameter(c, f->span, BINDING_PARAMETER, "<1>", NULL);
    f->parameters[1]->annotation = &types[0];
    return f;
}

/* fn next(&mut self) -> Option<T> */
static function_item *next_method(checker *c, const dyn_type *d) {
    function_item *f = CHECK_ARRAY(c, function_item, 1);
    const type **item = CHECK_ARRAY(c, const type *, 1);
    item[0] = d->item;
    struct_item *option = check_struct_instance(c, check_form(c, SAID_OPTION), item);
    *f = (function_item){.name = "next",
                         .qualified = "next",
                         .span = d->s->span,
                         .has_self = true,
                         .parameter_count = 1,
                         .result = option->type};
    f->parameters = CHECK_ARRAY(c, binding *, 1);
    f->parameters[0] = check_new_parameter(c, f->span, BINDING_SELF, "self", d->s->type);
    f->parameters[0]->is_lent = true;
    return f;
}

static function_item *copy_method(checker *c, const dyn_type *d, const char *name) {
    const function_item *declared = trait_method(c, d->trait, name);
    if (declared == NULL)
        return check_is_shown_by(name) && check_dyn_is_shown(c, d->s->type) ? fmt_method(c, d, name) : NULL;
    if (!declared->has_self || declared->generics.count > 0)
        return NULL;
    function_item *f = check_copy_function(c, declared);
    f->unchecked = NULL;
    if (d->trait->generics.count > 0) {
        f->template = (function_item *)declared;
        f->environment = (type_environment){.parameters = &d->trait->generics, .arguments = d->arguments, .self = d->s};
    }
    for (uint32_t i = 0; i < f->parameter_count; i++) /* `mut x: &mut T` would be another reference later */
        f->parameters[i]->is_mutable = f->parameters[i]->annotation == NULL || !f->parameters[i]->annotation->is_place;
    return f;
}

void check_add_dyn_method(checker *c, dyn_type *d, function_item *f) {
    f->owner = d->s;
    f->owner_name = d->s->name;
    f->qualified = check_printf(c, "%s::%s", d->s->name, f->name);
    f->is_checked = true;
    f->index = c->tree->function_count;
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, f);
    check_add_method(c, f);
    uint32_t count = d->method_count, capacity = d->method_capacity;
    CHECK_PUSH(c, d->arms, count, capacity, UINT32_MAX);
    CHECK_PUSH(c, d->methods, d->method_count, d->method_capacity, f);
}

function_item *check_dyn_method(checker *c, struct_item *owner, const char *name) {
    dyn_type *d = owner->dyn;
    bool calls = d != NULL && d->trait == NULL && d->item == NULL;
    if (d == NULL || (d->trait == NULL && library_said_of(LIBRARY_form, name) != (calls ? SAID_CALL : SAID_NEXT)))
        return NULL;
    function_item *f = calls ? call_method(c, d) : d->item != NULL ? next_method(c, d) : copy_method(c, d, name);
    if (f == NULL)
        return NULL;
    check_add_dyn_method(c, d, f);
    if (d->trait != NULL)
        check_signature(c, f);
    return f;
}
