/* check_contract.c: `impl Add for V`, `impl Iterator for Fib`: the trait is Rust's own, and its declaration a row of
 * library/contracts.def. Its methods are called by their names, not through the trait; but a reader of the impl block
 * relies on the declaration: `type Output` is what `+` yields, `next` takes no second argument.
 *
 * A reference and its value are one type here, and `self` may be lent: neither is compared. `&mut` is.
 */
#include "language/types/check_contract.h"

#include <stdio.h>
#include <string.h>

#include "language/syntax/quote.h"
#include "language/types/check_alike.h"

typedef struct contract {
    const char *name, *text;
    const char *provided; /* " NAME NAME " */
} contract;

static const contract contracts[] = {
#define CONTRACT(name, rest, provided) {#name, "trait " #name rest, provided},
#include "language/library/contracts.def"
#undef CONTRACT
};

typedef struct contract_use {
    checker *c;
    const impl_item *impl;
    const trait_item *trait;
    const contract *contract;
} contract_use;

static const contract *contract_of(const char *trait) {
    for (size_t i = 0; i < sizeof contracts / sizeof contracts[0]; i++)
        if (strcmp(contracts[i].name, trait) == 0)
            return &contracts[i];
    return NULL;
}

/* The name that is written: some methods go by another one. */
static const char *written_name(const function_item *f) {
    const char *last = strrchr(f->qualified, ':');
    return last == NULL ? f->qualified : last + 1;
}

static void note_contract(const contract_use *u, diagnostic *d, const function_item *declared) {
    const char *text = declared->span.file->text + declared->span.offset;
    diagnostics_note(u->c->diagnostics, d, (source_span){0}, "`%s` declares `fn %.*s`", u->contract->name,
                     (int)strcspn(text, ";"), text);
}

static void report_otherwise(const contract_use *u, const function_item *own, source_span at,
                             const function_item *declared) {
    diagnostic *d = diagnostics_say(u->c->diagnostics, at, SAY(is_declared_otherwise_in), own->qualified,
                                    u->contract->name);
    note_contract(u, d, declared);
}

static bool is_place(const binding *b) {
    return b->annotation != NULL && b->annotation->is_place;
}

static void compare(const contract_use *u, const function_item *own, const function_item *declared) {
    if (own->has_self != declared->has_self || own->parameter_count != declared->parameter_count ||
        own->generics.count < declared->generics.count) {
        report_otherwise(u, own, own->span, declared);
        return;
    }
    const binding *self = own->has_self ? own->parameters[0] : NULL;
    if (self != NULL && declared->parameters[0]->is_shared && self->is_lent) {
        diagnostic *d = diagnostics_say(u->c->diagnostics, self->span, SAY(receiver_is_only_lent_to_read),
                                        own->qualified, u->contract->name);
        note_contract(u, d, declared);
        return;
    }
    const alike_pair pair = {u->c, u->impl, u->trait, own, declared};
    for (uint32_t i = own->has_self; i < own->parameter_count; i++) {
        const binding *a = own->parameters[i], *b = declared->parameters[i];
        if (is_place(a) != is_place(b) || check_is_otherwise(&pair, a->annotation, b->annotation)) {
            report_otherwise(u, own, a->span, declared);
            return;
        }
    }
    if (check_is_otherwise(&pair, own->result_annotation, declared->result_annotation))
        report_otherwise(u, own, own->result_annotation == NULL ? own->span : own->result_annotation->span, declared);
}

static bool is_provided(const contract *of, const char *name) {
    char bordered[40];
    const int length = snprintf(bordered, sizeof bordered, " %s ", name);
    return length < (int)sizeof bordered && strstr(of->provided, bordered) != NULL;
}

/* Returns how many of the contract's methods the impl block has. */
static uint32_t compare_methods(const contract_use *u) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < u->c->tree->function_count; i++) {
        const function_item *f = u->c->tree->functions[i];
        if (f->impl != u->impl || f->template != NULL)
            continue;
        const function_item *declared = NULL;
        for (uint32_t k = 0; k < u->trait->method_count; k++)
            declared = strcmp(u->trait->methods[k]->name, written_name(f)) == 0 ? u->trait->methods[k] : declared;
        found += declared != NULL;
        if (declared != NULL)
            compare(u, f, declared);
        else if (!is_provided(u->contract, written_name(f)))
            diagnostics_say(u->c->diagnostics, f->span, SAY(is_not_a_method_of_trait), written_name(f),
                            u->contract->name);
    }
    return found;
}

static void compare_types(const contract_use *u) {
    for (const associated_name *a = u->trait->associated; a != NULL; a = a->next) {
        const alias_item *own = u->c->tree->aliases;
        while (own != NULL && (own->impl != u->impl || strcmp(own->name, a->name) != 0))
            own = own->next;
        if (own != NULL)
            continue;
        diagnostic *d = diagnostics_say(u->c->diagnostics, u->impl->owner->span, SAY(needs_item_to_be),
                                        u->impl->owner->name, "type", a->name, u->contract->name);
        diagnostics_note(u->c->diagnostics, d, (source_span){0}, "write `type %s = …;` into the impl block", a->name);
    }
}

static void report_extra(checker *c, const impl_item *impl, const trait_item *trait, source_span at, const char *kind,
                         const char *name) {
    diagnostics_say(c->diagnostics, at.file == NULL ? impl->owner->span : at, SAY(is_not_an_item_of_trait), name, kind,
                    names_trait_text(trait));
}

void check_extra_items(checker *c, const impl_item *impl, const trait_item *trait) {
    for (const alias_item *a = c->tree->aliases; a != NULL; a = a->next) {
        const associated_name *declared = trait->associated;
        while (declared != NULL && strcmp(declared->name, a->name) != 0)
            declared = declared->next;
        if (a->impl == impl && declared == NULL)
            report_extra(c, impl, trait, a->type->span, "type", a->name);
    }
    for (uint32_t i = 0; i < c->tree->constant_count; i++) {
        const const_item *own = c->tree->constants[i];
        const char *last = own->impl == impl ? strrchr(own->name, ':') : NULL;
        bool declared = last == NULL;
        for (uint32_t k = 0; !declared && k < trait->constant_count; k++)
            declared = strcmp(trait->constants[k]->name, last + 1) == 0;
        if (!declared)
            report_extra(c, impl, trait, own->span, "constant", last + 1);
    }
}

static void compare_impl(checker *c, const impl_item *impl) {
    contract_use u = {c, impl, NULL, contract_of(impl->trait_name)};
    u.trait = u.contract == NULL ? NULL : quote_trait(c->tree, u.contract->text);
    if (u.contract == NULL)
        return;
    if (u.trait == NULL)
        check_out_of_memory(c);
    if (impl->trait_type->argument_count > u.trait->generics.count) /* Index<Key, Value>: an older form */
        return;
    compare_types(&u);
    check_extra_items(c, impl, u.trait);
    if (compare_methods(&u) < u.trait->method_count) {
        diagnostic *d = diagnostics_say(c->diagnostics, impl->owner->span, SAY(needs_method_to_be), impl->owner->name,
                                        u.trait->methods[0]->name, u.contract->name);
        note_contract(&u, d, u.trait->methods[0]);
    }
}

void check_contracts(checker *c) {
    for (uint32_t i = 0; i < c->tree->impl_count; i++) {
        const impl_item *impl = c->tree->impls[i];
        if (impl->trait == NULL && impl->trait_name != NULL && impl->owner->span.file != c->tree->prelude)
            compare_impl(c, impl);
    }
}
