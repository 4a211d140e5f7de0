/* check_dyn_made.c: which values become one of a dyn type: those that have the trait, and those that a `from` of it
 * takes.
 */
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

/* Where several impls would do for a number that is still open, the usual type goes first, then i32. */
static bool takes(checker *c, const type *is, const type *wanted, int round) {
    wanted = type_resolve(c->types, wanted);
    const bool passed = !type_is_open_number(wanted) || round == 2 ||
                        is == (round == 0 ? type_settle_number(c->types, wanted) : check_scalar(c, TYPE_I32));
    return passed && check_fits(c, is, wanted);
}

static bool fits_impl(checker *c, const implementation *made, const type *t, const dyn_type *d, int round) {
    const type_expr *written = made->impl->trait_type;
    type_environment of_impl = {0};
    if (made->impl->generics.count > 0)
        of_impl = check_impl_environment(c, made->impl, t);
    bool fits = written->argument_count == d->trait->generics.count;
    for (uint32_t k = 0; fits && k < written->argument_count; k++) {
        const type *is = check_type_in(c, of_impl.parameters == NULL ? NULL : &of_impl, written->arguments[k]);
        fits = takes(c, is, d->arguments[k], round);
    }
    return fits;
}

/* One impl of the trait for t's struct has these types for the trait's parameters. */
static bool implements_with(checker *c, const type *t, const dyn_type *d) {
    const struct_item *owner = check_owner_of(c, t);
    bool any = false;
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; owner != NULL && i < c->instances->implementation_count; i++) {
            const implementation *made = &c->instances->implementations[i];
            if (made->trait != d->trait || (made->owner != owner && made->owner != owner->template))
                continue;
            any = true;
            if (fits_impl(c, made, t, d, round))
                return true;
        }
    }
    return !any; /* by `impl<T> Trait<A> for T` */
}

bool check_may_be_dyn(checker *c, const dyn_type *d, const type *t) {
    if (d->item != NULL) {
        const type *item = check_is_iterator(c, t) ? check_item_of(c, t) : NULL;
        return item != NULL && check_fits(c, item, d->item);
    }
    const struct_item *s = t->kind == TYPE_STRUCT ? t->structure->template : NULL;
    if (s != NULL && library_says(LIBRARY_sees, s->name))
        return check_may_be_dyn(c, d, type_resolve(c->types, t->structure->arguments[0]));
    if (d->trait != NULL)
        return check_implements(c, t, d->trait) && (d->trait->generics.count == 0 || implements_with(c, t, d));
    return t->kind == TYPE_STRUCT && t->structure->closure != NULL;
}

/* fn from(x: A) of just this A */
static bool is_from(checker *c, const function_item *f, const struct_item *owner, const type *t) {
    if (f->owner != owner || library_said_of(LIBRARY_form, f->name) != SAID_FROM || f->parameter_count != 1 ||
        f->generics.count > 0)
        return false;
    const type *of = type_resolve(c->types, check_type(c, f->parameters[0]->annotation));
    return of == t || (type_is_open_number(t) && type_is_numeric(of) && type_is_integer(of) == type_is_integer(t));
}

/* impl From<A> for dyn T: what is one as it is needs none. */
bool check_dyn_from(checker *c, const type *to, const type *t) {
    const function_item *f = to == t || check_may_be_dyn(c, to->structure->dyn, t)
                                 ? NULL
                                 : check_find_method(c, to->structure, "from");
    while (f != NULL && !is_from(c, f, to->structure, t))
        f = f->next_in_bucket;
    return f != NULL;
}
