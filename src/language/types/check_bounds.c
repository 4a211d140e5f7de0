/* check_bounds.c: what the bounds of type parameters decide: `F: Fn(A) -> B` of a known F says what B is, `T: Num` of a
 * number that nothing decided which number it is.
 */
#include <string.h>

#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_operator_types.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

/* F: Fn(A) -> B of a function that is known says what B is. */
static void function_decides(checker *c, const type_environment *e, const type *t, const type_expr *bound) {
    const function_item *f = t->kind == TYPE_STRUCT ? t->structure->closure : NULL;
    if (f != NULL && f->result != NULL && bound->result != NULL)
        check_fits(c, check_type_in(c, e, bound->result), f->result);
}

/* impl Mul<f64> for V, impl From<f64> for V: of such a trait, V and number. */
static bool is_impl_with(checker *c, const impl_item *impl, const char *trait, const type *of, const type *number) {
    return impl->trait_name != NULL && strcmp(impl->trait_name, trait) == 0 && impl->generics.count == 0 &&
           impl->trait_type->argument_count > 0 && check_type_in(c, NULL, impl->owner) == of &&
           check_type_in(c, NULL, impl->trait_type->arguments[0]) == number;
}

bool check_number_fits(checker *c, const type *number, const number_use *use) {
    if (use->trait != NULL)
        return check_implements(c, number, use->trait);
    bool fits = false;
    for (uint32_t i = 0; use->beside != NULL && !fits && i < c->tree->impl_count; i++)
        fits = is_impl_with(c, c->tree->impls[i], use->name, use->beside, number);
    const struct_item *owner = c->instances->builtin_owners[number->kind];
    const function_item *f = use->beside != NULL || owner == NULL ? NULL : check_find_method(c, owner, use->name);
    for (; f != NULL && !fits; f = f->next_in_bucket)
        fits = f->owner == owner && strcmp(f->name, use->name) == 0 &&
               (use->operand == NULL || (f->parameter_count == 2 && check_takes_operand(f, use->operand)));
    return fits;
}

const type *check_number_among(checker *c, const type *t, bool real, const number_use *use, bool waits) {
    const type *fit[TYPE_SCALAR_END], *usual = check_scalar(c, real == type_is_float(t) ? t->kind : TYPE_F32);
    const type *rusts = check_scalar(c, real ? TYPE_F64 : TYPE_I32);
    uint32_t count = 0;
    for (type_kind k = TYPE_I8; k < TYPE_SCALAR_END; k++) {
        const type *other = check_scalar(c, k);
        if ((real ? type_is_float(other) : type_is_integer(other)) && check_number_fits(c, other, use))
            fit[count++] = other;
    }
    if (count != 1 && (count == 0 || check_number_fits(c, usual, use)))
        return count == 0 ? NULL : usual;
    const type *is = count == 1 ? fit[0] : check_number_fits(c, rusts, use) ? rusts : NULL;
    if (is == NULL && !waits) {
        diagnostic *d = diagnostics_say(c->diagnostics, t->number->literal, SAY(number_may_be_of_several_types));
        for (uint32_t i = 0; i < count; i++)
            diagnostics_note(c->diagnostics, d, (source_span){0}, "write it behind the number: `%s` would do",
                             check_type_text(c, fit[i]));
        is = fit[0];
    }
    if (count == 1 || !waits)
        check_unify_numbers(c, t, is);
    else if (t->number->prefers == NULL)
        t->number->prefers = is;
    return is;
}

/* I: IntoIterator<Item = i32> of a list of numbers that nothing decided: they are i32. */
static void item_decided(checker *c, const type_environment *e, const type *t, const type_expr *bound) {
    const type *item = t->kind == TYPE_VEC || t->kind == TYPE_STRUCT ? check_item_of(c, t) : NULL;
    if (item != NULL)
        check_fits(c, check_type_in(c, e, bound->arguments[0]), item);
}

/* Vec<_>: Write where `impl Write for Vec<u8>` is the only one for a Vec: it holds u8. */
static void impl_decides(checker *c, const type *t, const trait_item *trait) {
    const struct_item *owner = check_owner_of(c, t);
    const implementation *only = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; owner != NULL && i < c->instances->implementation_count; i++) {
        const implementation *made = &c->instances->implementations[i];
        if (made->trait != trait || (made->owner != owner && made->owner != owner->template))
            continue;
        only = made;
        count++;
    }
    if (count == 1 && only->impl->generics.count == 0)
        check_fits(c, t, check_type(c, only->impl->owner));
}

void check_trait_decides(checker *c, const type *t, const trait_item *trait) {
    if (type_is_open_number(t))
        check_number_among(c, t, type_is_float(t), &(number_use){.trait = trait}, false);
    else if (t->may_have_open && t->kind != TYPE_OPEN)
        impl_decides(c, t, trait);
}

/* (A, B): Num by `impl<A: Num, B: Num> Num for (A, B)`: its parts are asked in turn. */
static void parts_decided(checker *c, const type *t, const trait_item *trait, bool waits) {
    const struct_item *owner = check_owner_of(c, t);
    for (uint32_t i = 0; owner != NULL && i < c->instances->implementation_count; i++) {
        const implementation *made = &c->instances->implementations[i];
        if (made->trait != trait || made->impl->generics.count == 0 ||
            (made->owner != owner && made->owner != owner->template))
            continue;
        const type_environment of_impl = check_impl_environment(c, made->impl, t);
        if (of_impl.parameters != NULL)
            check_bounds_decide(c, &of_impl, waits);
    }
}

/* T: Mul<f64> of a number that nothing decided: numbers have operators beside their like alone, so it is an f64.
 * T: Mul<U> of a V that has `impl Mul<f64> for V`: U is f64 where it is a fraction that nothing decided. */
static void operator_decides(checker *c, const type *t, const type *beside, const char *trait) {
    if (t->kind == TYPE_STRUCT && type_is_open_number(beside))
        check_number_among(c, beside, type_is_float(beside), &(number_use){.name = trait, .beside = t}, false);
    else if (type_is_open_number(t) && type_is_numeric(beside) && !type_is_open_number(beside) &&
             type_is_float(t) == type_is_float(beside))
        check_unify_numbers(c, t, beside);
}

/* T: Into<Priority> of a number that nothing decided: one that Priority is made from. T: Into<f64>: f64, unless a later
 * use wants another. */
static void conversion_decided(checker *c, const type *t, const type *to) {
    const number_use use = {.name = library_named(LIBRARY_trait_form, SAID_FROM), .beside = to};
    if (to->kind == TYPE_STRUCT)
        check_number_among(c, t, type_is_float(t), &use, false);
    else if (type_is_numeric(to) && type_is_float(to) && type_is_float(t) && t->number->prefers == NULL)
        t->number->prefers = to;
}

static bool is_impl_of(const implementation *made, const struct_item *owner, const type_expr *bound) {
    return owner != NULL && (made->owner == owner || made->owner == owner->template) &&
           made->impl->trait_type->argument_count == bound->argument_count;
}

/* S: Store<T> of a Stack<A> that has `impl<B> Store<B> for Stack<B>`: T is A. Where it is not known what the Stack
 * holds, it is the only impl that says so. */
static void trait_decides(checker *c, const type_environment *e, const type *t, const trait_item *trait,
                          const type_expr *bound) {
    const struct_item *owner = check_owner_of(c, t);
    const implementation *const all = c->instances->implementations;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->instances->implementation_count; i++)
        count += all[i].trait == trait && is_impl_of(&all[i], owner, bound);
    for (uint32_t i = 0; i < c->instances->implementation_count && (count == 1 || !t->may_have_open); i++) {
        if (all[i].trait != trait || !is_impl_of(&all[i], owner, bound))
            continue;
        type_environment of_impl = {0};
        if (all[i].impl->generics.count > 0)
            of_impl = check_impl_environment(c, all[i].impl, t);
        for (uint32_t k = 0; k < bound->argument_count; k++) {
            const type *is = check_type_in(c, of_impl.parameters == NULL ? NULL : &of_impl,
                                           all[i].impl->trait_type->arguments[k]);
            check_fits(c, check_type_in(c, e, bound->arguments[k]), is);
        }
    }
}

/* The bound of `&dyn Store<T>`, `Box<dyn Store<T>>`; NULL: the trait has no parameters, or t is something else. */
static const type_expr *bound_of_dyn(const checker *c, const type_expr *t, const trait_item **trait) {
    while (t != NULL && t->kind == TYPE_EXPR_NAME && t->argument_count == 1)
        t = t->arguments[0];
    const type_expr *bound = t != NULL && t->kind == TYPE_EXPR_DYN && t->argument_count > 0 ? t->arguments[0] : NULL;
    *trait = bound != NULL && bound->kind == TYPE_EXPR_NAME ? names_trait_written(c->names, bound) : NULL;
    return *trait != NULL && (*trait)->generics.count > 0 && bound->argument_count == (*trait)->generics.count ? bound
                                                                                                               : NULL;
}

bool check_dyn_decides(checker *c, const type_environment *e, const type_expr *written, const type *t) {
    const trait_item *trait;
    const type_expr *bound = bound_of_dyn(c, written, &trait);
    t = type_resolve(c->types, t);
    while (bound != NULL && (type_is_box(t) || t->kind == TYPE_REFERENCE))
        t = type_resolve(c->types, t->vec.element);
    if (bound == NULL || t->kind == TYPE_OPEN)
        return false;
    if (check_dyn_trait(t) == trait)
        for (uint32_t i = 0; i < bound->argument_count; i++)
            check_fits(c, check_type_in(c, e, bound->arguments[i]), t->structure->dyn->arguments[i]);
    else
        trait_decides(c, e, t, trait, bound);
    return true;
}

static void bound_decides(checker *c, const type_environment *e, const type *t, const type_expr *bound, bool waits) {
    if (bound->kind == TYPE_EXPR_FUNCTION) {
        function_decides(c, e, t, bound);
        return;
    }
    const trait_item *trait = bound->kind == TYPE_EXPR_NAME ? names_trait_written(c->names, bound) : NULL;
    if (trait == NULL && check_bounds_items(bound) && bound->argument_count > 0) {
        item_decided(c, e, t, bound);
        return;
    }
    const library_said form = bound->kind == TYPE_EXPR_NAME && bound->argument_count > 0
                                  ? library_said_of(LIBRARY_trait_form, bound->name)
                                  : SAID_NOTHING;
    if ((trait == NULL && form == SAID_OPERATOR) || (form == SAID_INTO && type_is_open_number(t))) {
        const type *of = type_resolve(c->types, check_type_in(c, e, bound->arguments[0]));
        form == SAID_OPERATOR ? operator_decides(c, t, of, bound->name) : conversion_decided(c, t, of);
        return;
    }
    if (trait != NULL && bound->argument_count == 0 && type_is_open_number(t)) {
        check_number_among(c, t, type_is_float(t), &(number_use){.trait = trait}, waits);
        return;
    }
    if (trait != NULL && t->may_have_open && t->kind != TYPE_OPEN && !type_is_open_number(t)) {
        impl_decides(c, t, trait);
        parts_decided(c, t, trait, waits);
    }
    if (trait != NULL && bound->argument_count > 0 && t->kind != TYPE_OPEN && !type_is_open_number(t))
        trait_decides(c, e, t, trait, bound);
}

void check_bounds_decide(checker *c, const type_environment *e, bool waits) {
    /* the impl's bounds mean the impl's parameters, also where the method has some of the same names */
    const type_environment of_impl = {.parameters = e->more, .arguments = e->more_arguments, .self = e->self};
    const type_environment *const read_in[2] = {e, &of_impl};
    for (int l = 0; l < 2; l++) {
        for (uint32_t i = 0; i < check_type_count(read_in[l]->parameters); i++) {
            const type_parameter *p = &read_in[l]->parameters->items[i];
            const type *t = type_resolve(c->types, read_in[l]->arguments[i]);
            for (uint32_t b = 0; b < p->bound_count; b++)
                bound_decides(c, read_in[l], t, p->bounds[b], waits);
        }
    }
}

void check_items_decide(checker *c, const type_environment *e) {
    for (uint32_t i = 0; e->parameters != NULL && i < e->parameters->count; i++) {
        const type_parameter *p = &e->parameters->items[i];
        const type *t = type_resolve(c->types, e->arguments[i]);
        for (uint32_t b = 0; t->kind != TYPE_OPEN && b < p->bound_count; b++)
            if (check_bounds_items(p->bounds[b]) && p->bounds[b]->argument_count > 0)
                item_decided(c, e, t, p->bounds[b]);
    }
}
