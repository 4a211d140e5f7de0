/* check_drop.c: `impl Drop for T`: which types have a destructor, and who may call it.
 *
 *     impl Drop for Guard { fn drop(&mut self) { … } }      Guard is moved, never copied; no program calls its `drop`
 *     impl<T> Drop for Held<T> { … }                        each Held<T> of the program has one of its own
 *
 * A value with a destructor is one thing in memory, however many hold it: its fields lie in a cell (struct_item.cell),
 * and what the program passes around is that cell. lower/lower_drop.c says when its last owner goes.
 */
#include <string.h>
#include <strings.h>

#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_destructor.h"

static bool check_is_destructor(const function_item *f) {
    return f->impl != NULL && f->impl->trait_name != NULL &&
           library_said_of(LIBRARY_trait_form, f->impl->trait_name) == SAID_DROP && f->has_self;
}

/* The function `drop` of the block; NULL: it has none that is a destructor, with a message. */
static function_item *destructor_of(checker *c, const impl_item *impl, const struct_item *owner) {
    function_item *found = NULL;
    for (uint32_t i = 0; i < c->tree->function_count && found == NULL; i++) {
        function_item *f = c->tree->functions[i];
        found = f->impl == impl && strcasecmp(f->name, impl->trait_name) == 0 ? f : NULL;
    }
    bool good = found != NULL && found->has_self && found->parameter_count == 1 && found->parameters[0]->is_lent &&
                found->result_annotation == NULL;
    if (!good) {
        diagnostics_say(c->diagnostics, found == NULL ? impl->trait_span : found->span, SAY(destructor_is_drop_of_self),
                        owner->name);
    }
    return good ? found : NULL;
}

void check_declare_drop(checker *c, const impl_item *impl, struct_item *owner) {
    if (library_said_of(LIBRARY_trait_form, impl->trait_name) != SAID_DROP)
        return;
    if (owner->is_builtin || (owner->span.file == c->tree->prelude && impl->trait_span.file != c->tree->prelude)) {
        diagnostics_say(c->diagnostics, impl->trait_span, SAY(destructor_of_another_type), owner->name);
        return;
    }
    if (owner->is_copy) {
        diagnostic *d = diagnostics_say(c->diagnostics, impl->trait_span, SAY(copy_has_no_destructor), owner->name);
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "of copies each would be dropped: take `Copy` out of its `derive`");
        return;
    }
    owner->drop = destructor_of(c, impl, owner);
    c->tree->has_destructors |= owner->drop != NULL && !library_says(LIBRARY_drops_parts, owner->name);
}

bool check_refuse_drop_call(checker *c, const expr *e, const function_item *f) {
    if (!check_is_destructor(f))
        return false;
    diagnostic *d = diagnostics_say(c->diagnostics, e->call.name_span, SAY(destructor_is_called));
    diagnostics_note(c->diagnostics, d, (source_span){0},
                     "it runs when the value's last owner goes: `drop(x)` takes it away now");
    return true;
}
