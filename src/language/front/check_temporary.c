/* check_temporary.c: values that live as long as the variable that refers to them.
 *
 *     let a = &make(1).part;             let (lent 0) = make(1);      let a = &(lent 0).part;
 *     let b = (&make(2), 1);             let (lent 1) = make(2);      let b = (&(lent 1), 1);
 *     let r = &mut cell.borrow_mut().x;  let (lent 2) = cell.borrow_mut();   let r = &mut (lent 2).x;
 *
 * As in Rust the end of the block drops such a value, not the end of the statement. Only a program that can see the
 * difference asks: one with a `drop` of its own, or with guards.
 */
#include <string.h>

#include "language/front/check_part.h"
#include "language/front/check_place.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_view.h"
#include "language/types/check_written.h"

typedef struct lent {
    checker *c;
    block_builder before; /* the values, in order; not checked yet */
} lent;

/* The value that the place is a part of. */
static expr **root_of(expr **slot, bool *is_part) {
    for (;;) {
        expr *e = *slot;
        *is_part |= e->stars > 0;
        if (e->type != NULL || (e->kind != EXPR_FIELD && e->kind != EXPR_TUPLE_FIELD && e->kind != EXPR_INDEX))
            return slot;
        *is_part = true;
        slot = e->kind == EXPR_INDEX ? &e->index.base : &e->field.base;
    }
}

static void hold(lent *l, expr **slot, bool is_mutable, bool alone) {
    bool is_part = false;
    expr **root = root_of(slot, &is_part), *value = *root;
    const bool call = value->kind == EXPR_CALL || value->kind == EXPR_METHOD;
    const bool made = call || value->kind == EXPR_STRUCT || value->kind == EXPR_ARRAY || value->kind == EXPR_TUPLE;
    if (value->type != NULL || !made || (alone && call && !is_part) || check_view(l->c, value).references > 0)
        return; /* `let a = &make(1)` is the value itself */
    const char *name = check_printf(l->c, "(lent %u)", l->c->text_count++);
    expr *held = check_new_name(l->c, value->span, name);
    held->stars = value->stars;
    held->is_followed = value->is_followed;
    value->stars = 0;
    value->is_followed = false;
    build_let(&l->before, name, is_mutable, value); /* no name of the compiler's own: those end with their last use */
    binding *b = l->before.last->pattern->binding;
    b->is_read = b->is_written = true;
    *root = held;
}

static void find(lent *l, expr **slot, bool alone) {
    expr *e = *slot;
    if (e->type != NULL)
        return;
    if (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE)
        hold(l, &e->unary.operand, e->unary.is_mutable, alone);
    for (uint32_t i = 0; (e->kind == EXPR_TUPLE || e->kind == EXPR_ARRAY) && i < e->list.count; i++)
        find(l, &e->list.items[i], false);
}

static bool sees_drops(const checker *c) {
    bool own = false;
    const char *name = "drop";
    for (uint32_t i = 0; !own && i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        own = f->has_self && f->span.file != c->tree->prelude && strcmp(f->name, name) == 0;
    }
    return own || check_has_getter(c, "deref_mut");
}

bool check_let_temporaries(checker *c, stmt *s) {
    const expr *e = s->value;
    const bool refers = e != NULL && ((e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE) ||
                                      e->kind == EXPR_TUPLE || e->kind == EXPR_ARRAY);
    if (!refers || e->type != NULL || c->function == NULL || s->otherwise != NULL || !sees_drops(c))
        return false;
    lent l = {.c = c, .before = build_block(c, s->span)};
    find(&l, &s->value, true);
    if (l.before.last == NULL)
        return false;
    stmt *let = CHECK_ARRAY(c, stmt, 1);
    *let = *s;
    check_become_nothing(c, s);
    l.before.last->next = let;
    s->next = l.before.block->first;
    return true;
}

/* ---- lists of copies ------------------------------------------------------------------------- */

const expr *check_copied_by_receiver(const checker *c, expr *e) {
    const expr *list = e->type == NULL ? *check_behind(&e->call.receiver) : NULL;
    const expr *copied = NULL;
    for (uint32_t i = 0; list != NULL && list->kind == EXPR_ARRAY && copied == NULL && i < list->list.count; i++) {
        const expr *item = list->list.items[i];
        const symbol *s = item->kind == EXPR_NAME && item->name.scope == NULL ? check_find(c, item->name.name) : NULL;
        copied = s != NULL && s->binding != NULL && !check_refers(c, item) ? item : NULL;
    }
    return copied;
}

/* opt.step(vec![p, q].parameters()): what the method lends are places of a list that no one sees again. */
void check_refuse_copied(checker *c, const expr *e, const expr *copied) {
    const function_item *f = copied != NULL && e->kind == EXPR_CALL && e->call.kind == CALL_FUNCTION ? e->call.function
                                                                                                     : NULL;
    if (f == NULL || !f->has_self || !f->parameters[0]->is_lent || !f->refers || e->type == NULL ||
        type_resolve(c->types, e->type)->kind != TYPE_STRUCT)
        return;
    diagnostic *d = diagnostics_say(c->diagnostics, copied->span, SAY(value_is_not_a_reference), copied->name.name);
    diagnostics_note(c->diagnostics, d, (source_span){0}, "`&mut %s` lends the variable itself to the list",
                     copied->name.name);
}
