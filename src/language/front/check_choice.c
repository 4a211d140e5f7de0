/* check_choice.c: arguments of a call before it is checked: those that choose a place, and those with names.
 *
 *     f(if c { &mut a } else { &mut b })     { let <place> = if c { &mut a } else { &mut b }; f(<place>) }
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"

/* by_name: a name that is alone is one that the pattern bound to a place. */
static bool yields_place(const checker *c, const expr *e, bool by_name) {
    bool some = false;
    switch (e->kind) {
    case EXPR_UNARY:
        return e->unary.op == UNARY_REFERENCE && e->unary.is_mutable;
    case EXPR_NAME:
        return by_name && e->name.scope == NULL;
    case EXPR_BLOCK:
        return e->block->result != NULL && yields_place(c, e->block->result, by_name);
    case EXPR_IF:
        return (e->branch.then->result != NULL && yields_place(c, e->branch.then->result, false)) ||
               (e->branch.otherwise != NULL && yields_place(c, e->branch.otherwise, false));
    case EXPR_MATCH:
        for (uint32_t i = 0; !some && i < e->match.count; i++)
            some = yields_place(c, e->match.arms[i].body, check_refers(c, e->match.value));
        return some;
    default:
        return false;
    }
}

/* Conv2d::new(1, 8, 3, padding = 1): which place is padding's. */
static void note_places(checker *c, diagnostic *d, const expr *callee) {
    const bool scoped = callee != NULL && callee->kind == EXPR_NAME && callee->name.scope != NULL;
    const struct_item *owner = scoped ? check_struct_named(c, callee->name.scope) : NULL;
    const function_item *f = owner == NULL ? NULL : check_find_method(c, owner, callee->name.name);
    while (f != NULL && (f->owner != owner || strcmp(f->name, callee->name.name) != 0 || f->refusal != NULL))
        f = f->next_in_bucket;
    if (f != NULL)
        diagnostics_note(c->diagnostics, d, (source_span){0}, "they are `%s(%s)`", f->name,
                         check_parameters_text(c, f));
}

/* f(dim = 1): Rust has no such arguments; `println` and its like have. */
static void refuse_names(checker *c, expr *e) {
    const expr *callee = e->call.callee;
    bool plain = callee != NULL && callee->kind == EXPR_NAME && callee->name.scope == NULL;
    if (plain)
        names_settle(c->names, &e->call.callee->name);
    const symbol *s = plain ? check_find(c, callee->name.name) : NULL;
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        expr *arg = e->call.args[i];
        bool named = arg->kind == EXPR_ASSIGN && arg->type == NULL && arg->assign.target->kind == EXPR_NAME &&
                     arg->assign.op == BINARY_NONE;
        if (named && (!plain || (s != NULL && s->function != NULL))) {
            diagnostic *d = diagnostics_say(c->diagnostics, arg->assign.target->span,
                                            SAY(expected_value_arguments_go_by_their));
            diagnostics_note(c->diagnostics, d, (source_span){0}, "write the value alone, without `%s =`",
                             arg->assign.target->name.name);
            note_places(c, d, callee);
            e->call.args[i] = arg->assign.value;
        }
    }
}

bool check_choice_argument(checker *c, expr **slot) {
    expr *e = *slot;
    refuse_names(c, e);
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        expr *arg = e->call.args[i];
        if ((arg->kind != EXPR_IF && arg->kind != EXPR_MATCH) || arg->type != NULL || !yields_place(c, arg, false))
            continue;
        e->call.args[i] = check_new_name(c, arg->span, "<place>");
        *slot = BUILD_QUOTE(c, e->span, "{ let mut $$place = $0; $1 }", arg, e);
        return true;
    }
    return false;
}
