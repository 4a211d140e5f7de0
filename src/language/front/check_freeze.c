/* check_freeze.c: an expression as a place that can be written out many times.
 *
 *     self.rows[i + 1].x             let <at 0> = i + 1;         self.rows[<at 0>].x
 *     map.entry(k).or_insert(0)      let <at 1> = map.__slot(k, 0);    map.values[<at 1>]
 *     v.last_mut().unwrap()          let <at 2> = v.__last_at().unwrap();    v[<at 2>]
 *     node.child(i)                  its body's `&mut place`; a body that says more yields a reference (check_refer.c)
 */
#include <string.h>

#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_written.h"

/* ---- freezing -------------------------------------------------------------------------------- */

void check_build_let(block_builder *b, stmt *let) {
    *(b->last == NULL ? &b->block->first : &b->last->next) = let;
    b->last = let;
    check_let(b->c, let);
    while (b->last->next != NULL) /* what that let needed itself */
        b->last = b->last->next;
    b->c->places->checked_up_to = NULL;
}

/* let <at n> = e; in the block that is being checked. Yields the variable's name. */
expr *check_hold(block_builder *b, expr *e, const char *what) {
    checker *c = b->c;
    char *name = check_printf(c, "<%s %u>", what, c->text_count++);
    block_builder alone = build_block(c, b->span);
    build_let(&alone, name, false, e);
    check_build_let(b, alone.last);
    expr *n = check_new_name(c, e->span, name);
    check_expr(c, &n, NULL);
    return n;
}

static bool is_fixed(const expr *e) {
    return e->kind == EXPR_INT ||
           (e->kind == EXPR_NAME && e->name.binding != NULL && e->name.name[0] == '<' && !e->name.binding->is_mutable);
}

static bool freeze_index(block_builder *b, expr *e) {
    checker *c = b->c;
    for (uint32_t i = 0; i < e->index.count; i++) {
        expr **at = &e->index.indices[i];
        if ((*at)->kind == EXPR_RANGE)
            return false;
        check_expr(c, at, check_scalar(c, TYPE_I64));
        if (check_coerce(c, at, check_scalar(c, TYPE_I64), NULL) && !is_fixed(*at))
            *at = check_hold(b, *at, "at");
    }
    return true;
}

/* The map.entry(k), the e.and_modify(f) that e is. */
static expr *entry_step(expr *e, library_said step) {
    return e->kind == EXPR_METHOD && e->type == NULL && library_said_of(LIBRARY_entry_step, e->call.name) == step &&
                   e->call.arg_count == 1
               ? e->call.receiver
               : NULL;
}

expr *check_elements_of(checker *c, const expr *m) {
    expr *all = check_alias_copy(c, m);
    if (check_is_map(check_type_of(c, m))) {
        all = build_field(c, m->span, all, "values");
        check_expr(c, &all, NULL);
    }
    return all;
}

expr *check_element_at(checker *c, expr *all, expr *at) {
    expr *e = build_index(c, all->span, all, at);
    check_expr(c, &e, type_array(c->types, type_open(c->types, NULL), TYPE_BOX));
    return e;
}

/* The word of a method that is not checked yet. */
static const char *word_of(const expr *e, library_fact fact) {
    return e->kind == EXPR_METHOD && e->type == NULL ? library_word(fact, e->call.name) : NULL;
}

bool check_freeze_maybe(block_builder *b, expr *e, maybe_place *out) {
    checker *c = b->c;
    expr **held = &e->call.receiver, *m = NULL;
    const char *finder = word_of(e, LIBRARY_finds_place), *sought = word_of(e, LIBRARY_seeks_place);
    const bool counted = e->kind == EXPR_METHOD && e->call.arg_count == library_says(LIBRARY_by_argument, e->call.name);
    if (finder != NULL && counted) {
        m = e;
    } else if (sought != NULL && counted) { /* v.iter_mut().find(f) */
        expr *over = e->call.receiver;
        bool each = word_of(over, LIBRARY_lends_each) != NULL &&
                    library_said_of(LIBRARY_lends_each, over->call.name) == SAID_ELEMENTS;
        m = each && over->call.arg_count == 0 ? over : NULL;
        held = m == NULL ? held : &over->call.receiver;
        finder = sought;
    }
    expr *place = m == NULL ? NULL : check_freeze(b, held);
    if (place == NULL)
        return false;
    check_unbox(c, &place);
    const type *t = check_type_of(c, place);
    if (check_is_map(t)) {
        finder = "__find";
    } else if (t->kind != TYPE_VEC) {
        check_give_up(c, held);
        return false;
    }
    out->elements = check_elements_of(c, place);
    out->index = build_method(c, e->span, check_alias_copy(c, place), finder, e->call.args, e->call.arg_count);
    return true;
}

/* entry(<key>).and_modify(|v| e): if let Some(v) = map.get_mut(<key>) { e } */
static bool modify_entry(block_builder *b, const expr *place, const expr *key, expr *f) {
    checker *c = b->c;
    if (f->kind != EXPR_CLOSURE || f->type != NULL || f->closure.parameter_count != 1)
        return false;
    build_stmt(b, BUILD_QUOTE(c, f->span, "match $0.get_mut($1) { Some($2) => { $3; } _ => {} }",
                              check_alias_copy(c, place), check_alias_copy(c, key),
                              check_new_name(c, f->span, f->closure.parameters[0]->name), f->closure.body));
    check_expr(c, &b->last->value, check_scalar(c, TYPE_VOID));
    return true;
}

/* map.entry(k).or_insert(v) */
static expr *freeze_entry(block_builder *b, expr *e) {
    checker *c = b->c;
    const char *finder = word_of(e, LIBRARY_makes_place);
    bool gives = finder != NULL && library_says(LIBRARY_by_argument, e->call.name);
    if (finder == NULL || e->call.arg_count != gives)
        return NULL;
    expr *first = e->call.receiver, *entry = first, *inner;
    while ((inner = entry_step(entry, SAID_MODIFY)) != NULL)
        entry = inner;
    if (entry_step(entry, SAID_ENTRY) == NULL)
        return NULL;
    expr *place = check_freeze(b, &entry->call.receiver);
    if (place == NULL || !check_is_map(check_type_of(c, place)))
        return NULL;
    const expr *f = gives ? e->call.args[0] : NULL;
    const char *by_default = library_word(LIBRARY_by_default, finder);
    if (f != NULL && by_default != NULL && f->kind == EXPR_NAME &&
        library_said_of(LIBRARY_form, f->name.name) == SAID_DEFAULT) {
        finder = by_default;
        gives = false;
    }
    expr *args[2] = {entry->call.args[0], gives ? e->call.args[0] : NULL};
    if (first != entry)
        args[0] = check_hold(b, args[0], "key");
    for (expr *m = first; m != entry; m = m->call.receiver)
        if (!modify_entry(b, place, args[0], m->call.args[0]))
            return NULL;
    if (first != entry)
        args[0] = check_alias_copy(c, args[0]);
    expr *at = build_method(c, e->span, check_alias_copy(c, place), finder, args, gives ? 2 : 1);
    at = check_hold(b, at, "at");
    return check_element_at(c, check_elements_of(c, place), at);
}

/* (test).then_some(0).unwrap() */
static void demand_some(block_builder *b, const expr *e, expr *test) {
    checker *c = b->c;
    bool expects = e->call.arg_count == 1;
    expr *message = expects ? e->call.args[0] : NULL, *zero = check_new_int(c, e->span, 0);
    expr *some = build_method(c, e->span, test, "then_some", &zero, 1);
    check_hold(b, build_method(c, e->span, some, e->call.name, &message, expects), "at");
}

/* e? where e yields a place or leaves. */
static expr *freeze_try(block_builder *b, expr *e) {
    checker *c = b->c;
    maybe_place maybe;
    if (check_freeze_maybe(b, e->attempt.operand, &maybe)) {
        expr *at = check_new(c, EXPR_TRY, e->span, NULL);
        at->attempt.operand = maybe.index;
        return check_element_at(c, maybe.elements, check_hold(b, at, "at"));
    }
    return NULL;
}

/* x.unwrap() where x yields Some(place), or is the place of an Option. */
static expr *freeze_unwrap(block_builder *b, expr *e) {
    checker *c = b->c;
    if (e->type != NULL || !library_says(LIBRARY_opens, e->call.name) ||
        e->call.arg_count != library_says(LIBRARY_by_argument, e->call.name))
        return NULL;
    maybe_place maybe;
    if (check_freeze_maybe(b, e->call.receiver, &maybe)) {
        expr *at = build_method(c, e->span, maybe.index, e->call.name, e->call.args, e->call.arg_count);
        return check_element_at(c, maybe.elements, check_hold(b, at, "at"));
    }
    expr *view = e->call.receiver;
    if (view->type == NULL && check_views_place(view) && view->call.arg_count == 0) {
        expr *place = check_freeze(b, &view->call.receiver);
        const type *t = place == NULL ? NULL : check_type_of(c, place);
        if (t == NULL || t->kind != TYPE_STRUCT || !t->structure->is_enum ||
            check_find_variant(t->structure, "Some") < 0)
            return NULL;
        const variant_item *some = &t->structure->variants[check_find_variant(t->structure, "Some")];
        demand_some(b, e, build_method(c, e->span, check_alias_copy(c, place), "is_some", NULL, 0));
        expr *content = build_field(c, e->span, place, "0");
        content->field.index = some->first;
        content->type = type_resolve(c->types, t->structure->fields[some->first].type);
        return content;
    }
    return NULL;
}

/* impl IndexMut, impl DerefMut: which values have it is known when they are checked. */
bool check_has_getter(const checker *c, const char *name) {
    for (uint32_t i = 0; i < c->tree->getter_count; i++)
        if (strcmp(c->tree->getters[i]->name, name) == 0)
            return true;
    return false;
}

/* Whether e, not checked yet, may lead on: of a variable its type says it. */
static bool may_lead(const checker *c, const expr *e) {
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    const bool known = s != NULL && s->binding != NULL && s->binding->type != NULL;
    return check_has_getter(c, "deref_mut") && (!known || check_leads(c, s->binding->type));
}

/* The value that the place leads to. */
static expr *freeze_on(block_builder *b, expr *place) {
    expr *call = check_led(b->c, place, true);
    return check_freeze(b, &call);
}

/* A value that leads on to what is written, as a guard does: a variable of its own. NULL: it does not. */
static expr *freeze_guard(block_builder *b, expr **slot) {
    checker *c = b->c;
    const bool call = (*slot)->kind == EXPR_METHOD || (*slot)->kind == EXPR_CALL || (*slot)->kind == EXPR_TRY;
    if (!call || !check_has_getter(c, "deref_mut"))
        return NULL;
    if ((*slot)->type == NULL) {
        expr *place = check_freeze_lent(b, slot);
        if (place != NULL)
            return place;
    }
    const type *t = check_leads(c, check_type_of(c, *slot)) ? check_type_of(c, *slot) : NULL;
    if (t == NULL || check_method_named(c, t->structure, "deref_mut") == NULL)
        return NULL;
    expr *guard = check_hold(b, *slot, "guard");
    guard->name.binding->is_mutable = true;
    return guard;
}

/* *guard() */
static expr *freeze_behind_guard(block_builder *b, expr **slot) {
    uint32_t stars = (*slot)->type == NULL && check_has_getter(b->c, "deref_mut") ? (*slot)->stars : 0;
    const uint32_t led = check_stars(b->c, *slot);
    if (stars == 0)
        return NULL;
    (*slot)->is_followed = false;
    expr *place = freeze_guard(b, slot);
    if (place == NULL)
        check_follow_stars(b->c, slot, stars, led, NULL);
    for (; place != NULL && stars > 0 && check_leads(b->c, check_type_of(b->c, place)); stars--)
        place = freeze_on(b, place);
    return place;
}

/* The place that is written, or a guard of it. */
static expr *freeze_base(block_builder *b, expr **slot) {
    expr *place = check_freeze(b, slot);
    return place != NULL ? place : freeze_guard(b, slot);
}

static expr *freeze_part(block_builder *b, expr **slot) {
    checker *c = b->c;
    expr *e = *slot, **base = e->kind == EXPR_INDEX ? &e->index.base : &e->field.base;
    if (e->kind == EXPR_INDEX && e->index.count == 1 && e->index.indices[0]->kind == EXPR_RANGE)
        return check_freeze_part(b, e);
    expr *place = freeze_base(b, base);
    if (place == NULL)
        return NULL;
    check_unbox(c, &place);
    check_follow(c, &place);
    if (e->kind == EXPR_INDEX && check_is_map(check_type_of(c, place)) && e->index.count == 1) {
        expr *at = build_method(c, e->span, check_alias_copy(c, place), "__place", e->index.indices, 1);
        return check_element_at(c, check_elements_of(c, place), check_hold(b, at, "at"));
    }
    const bool has = check_type_of(c, place)->kind == TYPE_STRUCT &&
                     (e->kind == EXPR_INDEX ? check_method_named(c, check_type_of(c, place)->structure, "index") != NULL
                      : e->kind == EXPR_FIELD ? check_find_field(check_type_of(c, place)->structure, e->field.name) >= 0
                                              : check_type_of(c, place)->structure->positional);
    if (!has && check_leads(c, check_type_of(c, place)))
        place = freeze_on(b, place);
    if (place == NULL)
        return NULL;
    *base = place;
    const type *t = check_type_of(c, place);
    if (e->kind == EXPR_INDEX && t->kind == TYPE_STRUCT && check_method_named(c, t->structure, "index_mut") != NULL) {
        *slot = build_method(c, e->span, place, "index_mut", e->index.indices, e->index.count);
        return check_freeze_method(b, *slot);
    }
    if (e->kind == EXPR_INDEX && (t->kind != TYPE_VEC || !freeze_index(b, e))) /* a row or a letter is a value */
        return NULL;
    if (e->kind == EXPR_INDEX)
        c->around->index_goes_on = true;
    check_expr(c, slot, type_array(c->types, type_open(c->types, NULL), TYPE_BOX));
    c->around->index_goes_on = false;
    return check_is_place(*slot) ? *slot : NULL;
}

/* *x of what leads on. */
static expr *freeze_led(block_builder *b, expr **slot) {
    checker *c = b->c;
    const uint32_t written = (*slot)->stars, all = check_stars(c, *slot);
    (*slot)->stars = 0;
    expr *place = freeze_base(b, slot);
    for (uint32_t stars = all; place != NULL && stars > 0 && check_leads(c, check_type_of(c, place)); stars--)
        place = freeze_on(b, place);
    if (place == NULL && (*slot)->type != NULL) /* nothing is written through it: it is read as it was written */
        check_follow_stars(c, slot, written, all, NULL);
    (*slot)->stars = place == NULL ? written : 0;
    return place;
}

/* `&mut x` where x may lead on. */
bool check_may_lead(const checker *c, const expr *reference, const expr *e) {
    const bool place = e->kind == EXPR_NAME || e->kind == EXPR_METHOD || e->kind == EXPR_FIELD ||
                       e->kind == EXPR_TUPLE_FIELD ||
                       (e->kind == EXPR_INDEX && e->index.count == 1 && e->index.indices[0]->kind != EXPR_RANGE);
    return reference != e && reference->unary.is_mutable && place && e->type == NULL && may_lead(c, e);
}

expr *check_freeze_to(block_builder *b, expr **slot, const type *wanted) {
    checker *c = b->c;
    expr *place = freeze_base(b, slot);
    while (place != NULL && check_leads_elsewhere(c, check_type_of(c, place), wanted))
        place = freeze_on(b, place);
    return place;
}

/* slot.borrow_mut().as_mut(): of what a guard leads to. */
static expr *freeze_view(block_builder *b, expr **slot) {
    expr *place = check_freeze(b, slot);
    place = place != NULL ? place : freeze_guard(b, slot);
    return place != NULL && check_is_guard(b->c, check_type_of(b->c, place)) ? freeze_on(b, place) : place;
}

expr *check_freeze(block_builder *b, expr **slot) {
    checker *c = b->c;
    expr *e = *slot;
    if (e->type != NULL)
        return check_is_place(e) ? e : NULL;
    if (check_stars(c, e) > 0)
        return freeze_led(b, slot);
    switch (e->kind) {
    case EXPR_UNARY:
        return e->unary.op == UNARY_REFERENCE ? check_freeze(b, &e->unary.operand) : NULL;
    case EXPR_NAME:
        check_expr(c, slot, type_array(c->types, type_open(c->types, NULL), TYPE_BOX));
        return check_is_place(*slot) ? *slot : NULL;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
    case EXPR_INDEX:
        return freeze_part(b, slot);
    case EXPR_METHOD: {
        if (library_says(LIBRARY_is_view, e->call.name) && e->call.arg_count == 0)
            return freeze_view(b, &e->call.receiver);
        if (check_yields_receiver(c, e))
            return check_freeze_changed(b, e);
        if (check_folds_places(c, e))
            return check_freeze_lent(b, slot);
        const bool lends = check_may_lend(c, e);
        expr *place = freeze_unwrap(b, e);
        place = place != NULL ? place : freeze_entry(b, e);
        place = place != NULL ? place : check_freeze_method(b, e);
        place = place != NULL || !lends ? place : check_freeze_lent(b, slot);
        place = place != NULL ? place : freeze_behind_guard(b, slot);
        return place != NULL || (*slot)->type != NULL ? place : check_freeze_lent(b, slot);
    }
    case EXPR_CALL: {
        expr *place = check_chooses(e) || check_may_lend(c, e) ? check_freeze_lent(b, slot) : NULL;
        return place != NULL ? place : freeze_behind_guard(b, slot);
    }
    case EXPR_TRY: {
        const bool lends = check_may_lend(c, e);
        expr *place = freeze_try(b, e);
        return place != NULL || !lends ? place : check_freeze_lent(b, slot);
    }
    case EXPR_IF: /* which place it is, is known behind it */
    case EXPR_MATCH:
    case EXPR_BLOCK:
    case EXPR_LOOP:
        return check_freeze_lent(b, slot);
    default:
        return NULL;
    }
}

/* ---- targets ------------------------------------------------------------------------------------ */

static bool has_method(const checker *c, const expr *e) {
    const bool leads = check_has_getter(c, "deref_mut");
    if (e->stars > 0 && may_lead(c, e))
        return true;
    while (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX) {
        if (leads || (e->kind == EXPR_INDEX && check_has_getter(c, "index_mut")))
            return true;
        e = e->kind == EXPR_INDEX ? e->index.base : e->field.base;
    }
    return check_chooses(e) || check_refers_by_method(c, e) || check_may_lend(c, e) || check_yields_receiver(c, e);
}

/* map.entry(k).or_insert(v) and its like */
static bool entry_place(const expr *e) {
    const bool makes = library_says(LIBRARY_makes_place, e->call.name);
    e = e->call.receiver;
    while (e->kind == EXPR_METHOD && library_said_of(LIBRARY_entry_step, e->call.name) == SAID_MODIFY)
        e = e->call.receiver;
    return makes && e->kind == EXPR_METHOD && library_said_of(LIBRARY_entry_step, e->call.name) == SAID_ENTRY;
}

/* map.entry(k).and_modify(f) alone */
static bool only_modifies(block_builder *b, expr **slot) {
    checker *c = b->c;
    expr *entry = *slot;
    while (entry_step(entry, SAID_MODIFY) != NULL)
        entry = entry->call.receiver;
    expr *place = entry == *slot || entry_step(entry, SAID_ENTRY) == NULL ? NULL
                                                                          : check_freeze(b, &entry->call.receiver);
    if (place == NULL || !check_is_map(check_type_of(c, place)))
        return false;
    expr *key = check_hold(b, entry->call.args[0], "key");
    for (expr *m = *slot; m != entry; m = m->call.receiver)
        if (!modify_entry(b, place, key, m->call.args[0]))
            return false;
    *slot = build_finish(b, NULL);
    b->block->type = (*slot)->type = check_scalar(c, TYPE_VOID);
    return true;
}

/* … as a value or a statement */
bool check_entry_value(checker *c, expr **slot) {
    if (library_said_of(LIBRARY_entry_step, (*slot)->call.name) != SAID_MODIFY && !entry_place(*slot))
        return false;
    uint32_t mark = check_scope_open(c);
    block_builder b = build_block(c, (*slot)->span);
    if (!entry_place(*slot)) {
        const bool modified = only_modifies(&b, slot);
        check_scope_close(c, mark);
        return modified;
    }
    const bool kept = (*slot)->is_kept && !(*slot)->is_followed;
    expr *place = freeze_entry(&b, *slot); /* all else of check_freeze would come back here */
    check_scope_close(c, mark);
    if (place == NULL)
        return false;
    if (kept)
        place = check_reference_to_place(c, place, (*slot)->span);
    *slot = build_checked(&b, place);
    return true;
}

bool check_freeze_target(checker *c, block_builder *b, expr **slot) {
    if ((*slot)->type != NULL || !has_method(c, *slot))
        return false;
    *b = build_block(c, (*slot)->span);
    expr *place = check_freeze(b, slot);
    if (place != NULL)
        *slot = place;
    return place != NULL;
}
