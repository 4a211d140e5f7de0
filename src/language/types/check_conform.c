/* check_conform.c: what is called through a trait is called as the trait declares it, so each impl block has what the
 * trait declares, with the same types:
 *
 *     trait Shape { const SIDES: u32; type Unit; fn area(&self, in_unit: Self::Unit) -> f64; }
 *     impl Shape for Disc { … }    SIDES: u32; a type Unit; area of &self, the Unit of Disc, -> f64
 *
 * The trait's signature is read once more with Self, its parameters and its types as this impl block has them. Where
 * either of the two is generic, their texts are compared (check_alike.c). Rust's own traits have contracts
 * (check_contract.c).
 *
 * An impl block may ask for less of its receiver (`&self` where the trait lends `&mut self`), never for more: who calls
 * through `&dyn Shape` has lent nothing to write to.
 */
#include "language/types/check_conform.h"

#include <string.h>

#include "language/types/check_alike.h"
#include "language/types/check_contract.h"
#include "language/types/check_declare.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_written.h"

/* ---- constants and types ------------------------------------------------------------------------- */

/* A constant belongs to the name of its type: V<f64> and V<i32> have it together. */
static const const_item *constant_of_impl(const checker *c, const impl_item *impl, const char *name) {
    const size_t owner = strlen(impl->owner->name);
    const bool shared = impl->owner->argument_count > 0;
    for (uint32_t i = 0; i < c->tree->constant_count; i++) {
        const const_item *item = c->tree->constants[i];
        if (item->impl != NULL && (shared || item->impl == impl) &&
            strncmp(item->name, impl->owner->name, owner) == 0 && strncmp(item->name + owner, "::", 2) == 0 &&
            strcmp(item->name + owner + 2, name) == 0)
            return item;
    }
    return NULL;
}

static bool has_type(const checker *c, const impl_item *impl, const char *name) {
    const alias_item *a = c->tree->aliases;
    while (a != NULL && (a->impl != impl || strcmp(a->name, name) != 0))
        a = a->next;
    return a != NULL;
}

static bool report_missing(checker *c, const impl_item *impl, const char *keyword, const char *name,
                           source_span declared) {
    diagnostic *d = diagnostics_say(c->diagnostics, impl->owner->span, SAY(needs_item_to_be), impl->owner->name,
                                    keyword, name, names_trait_text(impl->trait));
    diagnostics_note(c->diagnostics, d, declared, "it is declared here");
    return false;
}

/* Self, Self::Unit: what it is in this impl block. */
static bool depends_on_impl(const type_expr *t) {
    bool depends = t->name != NULL && (strcmp(t->name, "Self") == 0 || t->scope != NULL);
    for (uint32_t i = 0; !depends && i < t->argument_count; i++)
        depends = depends_on_impl(t->arguments[i]);
    return depends;
}

static void report_constant(checker *c, const impl_item *impl, const const_item *own, const const_item *declared) {
    diagnostic *d = diagnostics_say(c->diagnostics, own->span, SAY(is_declared_otherwise_in), own->name,
                                    names_trait_text(impl->trait));
    diagnostics_note(c->diagnostics, d, declared->span, "it is declared here");
}

static bool constants_conform(checker *c, const impl_item *impl) {
    const alike_pair pair = {.c = c, .impl = impl, .trait = impl->trait};
    bool all = true;
    for (uint32_t i = 0; i < impl->trait->constant_count; i++) {
        const const_item *declared = impl->trait->constants[i];
        const const_item *own = constant_of_impl(c, impl, declared->name);
        if (own == NULL)
            all = report_missing(c, impl, "constant", declared->name, declared->span);
        else if (declared->annotation != NULL && own->annotation != NULL && impl->generics.count == 0 &&
                 !depends_on_impl(declared->annotation) && !depends_on_impl(own->annotation) &&
                 !check_fits(c, check_type(c, own->annotation), check_type(c, declared->annotation)))
            report_constant(c, impl, own, declared);
        else if (impl->generics.count > 0 && check_is_otherwise(&pair, own->annotation, declared->annotation))
            report_constant(c, impl, own, declared);
    }
    return all;
}

static bool types_conform(checker *c, const impl_item *impl) {
    bool all = true;
    for (const associated_name *a = impl->trait->associated; a != NULL; a = a->next)
        if (!has_type(c, impl, a->name))
            all = report_missing(c, impl, "type", a->name, a->span);
    return all;
}

/* trait Disc: Shape. */
static bool supertraits_conform(checker *c, const implementation *made) {
    for (uint32_t i = 0; i < made->trait->supertrait_count; i++) {
        const type_expr *written = made->trait->supertraits[i];
        const trait_item *wanted = written->name == NULL ? NULL : names_trait_written(c->names, written);
        bool has = wanted == NULL || wanted->span.file == c->tree->prelude;
        for (uint32_t k = 0; k < c->instances->implementation_count && !has; k++) {
            const implementation *other = &c->instances->implementations[k];
            has = other->trait == wanted &&
                  (other->owner == made->owner || strcmp(other->impl->owner->name, OWNER_ANY) == 0);
        }
        if (!has)
            return report_missing(c, made->impl, "trait", written->name, written->span);
    }
    return true;
}

/* ---- methods ------------------------------------------------------------------------------------- */

static void report_otherwise(checker *c, const function_item *own, source_span own_part, const function_item *declared,
                             source_span part) {
    diagnostic *d = diagnostics_say(c->diagnostics, own_part, SAY(is_declared_otherwise_in), own->qualified,
                                    names_trait_text(own->impl->trait));
    diagnostics_note(c->diagnostics, d, part.file == NULL ? declared->span : part, "it is declared here");
}

static bool asks_for_more(const binding *own, const binding *declared) {
    return declared->is_shared && !own->is_shared;
}

static bool forms_conform(checker *c, const function_item *own, const function_item *declared) {
    const binding *self = own->has_self ? own->parameters[0] : NULL;
    if (own->generics.count != declared->generics.count) {
        report_otherwise(c, own, own->span, declared, declared->span);
        return false;
    }
    if (self == NULL || !asks_for_more(self, declared->parameters[0]))
        return true;
    diagnostic *d = diagnostics_say(c->diagnostics, self->span, SAY(receiver_is_only_lent_to_read), own->qualified,
                                    names_trait_text(own->impl->trait));
    diagnostics_note(c->diagnostics, d, declared->parameters[0]->span, "it is declared here");
    return false;
}

static void signatures_conform(checker *c, const function_item *own, const function_item *declared) {
    function_item *wanted = check_copy_of_trait(c, own->impl, own->owner, declared);
    if (wanted->is_template)
        return;
    check_signature(c, wanted);
    for (uint32_t i = own->has_self; i < own->parameter_count; i++) {
        const binding *a = own->parameters[i], *b = wanted->parameters[i];
        const bool through = a->annotation != NULL && a->annotation->is_place;
        if (through != (b->annotation != NULL && b->annotation->is_place) || !check_fits(c, b->type, a->type)) {
            report_otherwise(c, own, a->span, declared, declared->parameters[i]->span);
            return;
        }
    }
    if (own->result->kind != TYPE_NEVER && !check_fits(c, own->result, wanted->result)) {
        report_otherwise(c, own, own->result_annotation == NULL ? own->span : own->result_annotation->span, declared,
                         declared->result_annotation == NULL ? declared->span : declared->result_annotation->span);
    }
}

/* Where either is generic. */
static void texts_conform(checker *c, const implementation *made, const function_item *own,
                          const function_item *declared) {
    const alike_pair pair = {c, made->impl, made->trait, own, declared};
    for (uint32_t i = own->has_self; i < own->parameter_count; i++) {
        const binding *a = own->parameters[i], *b = declared->parameters[i];
        if (check_is_otherwise(&pair, a->annotation, b->annotation)) {
            report_otherwise(c, own, a->span, declared, b->span);
            return;
        }
    }
    if (check_is_otherwise(&pair, own->result_annotation, declared->result_annotation))
        report_otherwise(c, own, own->result_annotation == NULL ? own->span : own->result_annotation->span, declared,
                         declared->result_annotation == NULL ? declared->span : declared->result_annotation->span);
}

static void methods_conform(checker *c, const implementation *made) {
    for (uint32_t i = 0; i < made->trait->method_count; i++) {
        const function_item *declared = made->trait->methods[i];
        const function_item *own = check_method_of_impl(c, made->owner, made->impl, declared->name);
        bool comparable = own != NULL && own->parameter_count == declared->parameter_count &&
                          own->has_self == declared->has_self && own->span.offset != declared->span.offset;
        if (!comparable || !forms_conform(c, own, declared))
            continue;
        if (own->is_template)
            texts_conform(c, made, own, declared);
        else
            signatures_conform(c, own, declared);
    }
}

void check_conform(checker *c) {
    const check_instances *all = c->instances;
    for (uint32_t i = 0; i < all->implementation_count; i++) {
        const implementation made = all->implementations[i];
        if (made.impl->owner->span.file == c->tree->prelude)
            continue;
        bool complete = supertraits_conform(c, &made);
        complete &= constants_conform(c, made.impl);
        complete &= types_conform(c, made.impl);
        check_extra_items(c, made.impl, made.trait);
        if (complete)
            methods_conform(c, &made);
    }
    check_contracts(c);
}
