/* check_source.c: which method is meant where a type has several of one name, its own and those of traits:
 *
 *     trait Pilot { fn fly(&self); }   trait Wizard { fn fly(&self); }   impl Human { fn fly(&self) { … } }
 *
 *     human.fly()                                        the type's own; without one that of the only trait, else none
 *     Pilot::fly(&human), <Human as Pilot>::fly(&human)  Pilot's
 *     fn f<T: Pilot>(t: &T) { t.fly() }                  Pilot's: nothing else is known of a T
 *     trait Pilot { fn twice(&self) { self.fly() … } }   Pilot's: nothing else is known of Self
 *
 * What must stay true (tests/golden/err_method_of_both): methods of several traits are not forms of one another
 * (check_choose.c), as their arguments do not say which is meant.
 */
#include <string.h>

#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"

/* ---- what is known ------------------------------------------------------------------------------- */

/* By the bounds of the type parameters that are this type. */
static const trait_item *bound_with(const checker *c, const type_parameters *parameters, const type **arguments,
                                    const type *t, const char *name) {
    const trait_item *found = NULL;
    for (uint32_t i = 0; parameters != NULL && found == NULL && i < parameters->count; i++) {
        const type_parameter *p = &parameters->items[i];
        for (uint32_t b = 0; type_resolve(c->types, arguments[i]) == t && found == NULL && b < p->bound_count; b++) {
            const trait_item *trait = p->bounds[b]->kind == TYPE_EXPR_NAME ? names_trait_written(c->names, p->bounds[b])
                                                                           : NULL;
            found = trait == NULL ? NULL : check_trait_with(c, trait, name);
        }
    }
    return found;
}

const trait_item *check_declares_body(const function_item *f) {
    const trait_item *trait = f->impl == NULL ? NULL : f->impl->trait;
    for (uint32_t i = 0; trait != NULL && i < trait->method_count; i++)
        if (trait->methods[i]->span.file == f->span.file && trait->methods[i]->span.offset == f->span.offset)
            return trait;
    return NULL;
}

const trait_item *check_trait_known(const checker *c, const struct_item *owner, const char *name) {
    const type *t = owner->type;
    if (!c->tree->has_shared_methods || t == NULL)
        return NULL;
    const type_environment *e = c->environment;
    const trait_item *found = e == NULL ? NULL : bound_with(c, e->parameters, e->arguments, t, name);
    found = found == NULL && e != NULL ? bound_with(c, e->more, e->more_arguments, t, name) : found;
    const function_item *f = c->function;
    while (f != NULL && f->is_closure)
        f = f->outer;
    const struct_item *self = e != NULL && e->self != NULL ? e->self : f != NULL ? f->owner : NULL;
    const trait_item *trait = found == NULL && self != NULL && self->type == t ? check_declares_body(f) : NULL;
    return trait == NULL ? found : check_trait_with(c, trait, name);
}

/* ---- which is meant ------------------------------------------------------------------------------ */

/* x.fly() where two traits have it, and the type itself has not. */
static void refuse_several(checker *c, struct_item *owner, const expr *call, const function_item *f) {
    const trait_item *of = check_own_trait(c, f);
    for (const function_item *o = of == NULL ? NULL : f->next_in_bucket; o != NULL; o = o->next_in_bucket) {
        const trait_item *trait = o->owner == f->owner && strcmp(o->name, f->name) == 0 ? check_own_trait(c, o) : NULL;
        if (trait == NULL || trait == of || check_method_through(c, owner, f->name, trait) != o)
            continue;
        diagnostic *d = diagnostics_say(c->diagnostics, call->call.name_span, SAY(is_method_of_both), f->name,
                                        names_trait_text(of), names_trait_text(trait));
        diagnostics_note(c->diagnostics, d, f->span, "this is one of them");
        const char *text = names_trait_text(trait),
                   *path = f->has_self ? text : check_printf(c, "<%s as %s>", f->owner_name, text);
        diagnostics_note(c->diagnostics, d, o->span, "this is another: write `%s::%s(…)` for the one that is meant",
                         path, f->name);
        return;
    }
}

function_item *check_method_meant(checker *c, struct_item *owner, const expr *call, const char *name) {
    const trait_item *trait = !c->tree->has_shared_methods ? NULL : call->call.trait;
    trait = trait == NULL ? check_trait_known(c, owner, name) : trait;
    function_item *f = trait == NULL ? NULL : check_method_through(c, owner, name, trait);
    if (f != NULL)
        return f;
    f = check_method_named(c, owner, name);
    if (f != NULL && c->tree->has_shared_methods)
        refuse_several(c, owner, call, f);
    return f;
}
