/* check_choice.c: a name for one of several places.
 *
 *     let r = if c { &mut a } else { &mut b };        if c { let r = &mut a; … } else { let r = &mut b; … }
 *     … the rest of the block                   ─►
 *     let Some(n) = map.get_mut(k) else { … };  ─►    match map.get_mut(k) { Some(n) => { … }, _ => { … } }
 *
 * A name for a place is written out as that place (check_alias.c), so where a condition chooses the place the rest
 * of the block is written once for each. What must stay true: nothing of the block is checked yet, no branch has
 * statements whose names the rest could see, and a branch that leaves (return, break, panic) keeps what it is.
 */
#include <string.h>

#include "base/assert.h"
#include "language/front/check_build.h"
#include "language/front/check_call.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"

/* One in the rest of another: each doubles what is written. */
enum { CHOICES_MAX = 5 };

typedef enum tail { TAIL_VALUE, TAIL_PLACE, TAIL_LEAVES } tail;

bool check_is_panic(const expr *e) {
    const expr *callee = e->kind == EXPR_CALL ? e->call.callee : NULL;
    const library_said said = callee != NULL && callee->kind == EXPR_NAME
                                  ? library_said_of(LIBRARY_function, callee->name.name)
                                  : SAID_NOTHING;
    return said == SAID_PANIC || said == SAID_UNREACHABLE || said == SAID_UNWRITTEN;
}

static bool leaves(const expr *e) {
    return e->kind == EXPR_RETURN || e->kind == EXPR_BREAK || e->kind == EXPR_CONTINUE || check_is_panic(e);
}

/* by_name: a name that is alone is one that the pattern bound to a place. */
static tail tail_of(const expr *e, bool by_name) {
    if (e->kind == EXPR_BLOCK) {
        const stmt *last = e->block->first;
        while (last != NULL && last->next != NULL)
            last = last->next;
        bool ends = e->block->result == NULL && last != NULL && last->kind == STMT_EXPR;
        if (ends && leaves(last->value))
            return TAIL_LEAVES;
        return e->block->result == NULL                              ? TAIL_VALUE
               : e->block->first == NULL || leaves(e->block->result) ? tail_of(e->block->result, by_name)
                                                                     : TAIL_VALUE;
    }
    if (leaves(e))
        return TAIL_LEAVES;
    bool place = e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE && e->unary.is_mutable;
    return place || (by_name && e->kind == EXPR_NAME && e->name.scope == NULL) ? TAIL_PLACE : TAIL_VALUE;
}

/* Counts the places; false when some branch is a value. */
static bool all_places(const checker *c, const expr *e, uint32_t *places) {
    if (e->kind == EXPR_BLOCK && !e->block->unrecorded && e->block->first == NULL && e->block->result != NULL &&
        (e->block->result->kind == EXPR_IF || e->block->result->kind == EXPR_MATCH))
        return all_places(c, e->block->result, places);
    if (e->kind == EXPR_IF) {
        expr then = {.kind = EXPR_BLOCK, .block = e->branch.then};
        return e->branch.otherwise != NULL && all_places(c, &then, places) &&
               all_places(c, e->branch.otherwise, places);
    }
    if (e->kind != EXPR_MATCH) {
        tail t = tail_of(e, false);
        *places += t == TAIL_PLACE;
        return t != TAIL_VALUE;
    }
    bool by_name = check_refers(c, e->match.value);
    for (uint32_t i = 0; i < e->match.count; i++) {
        tail t = tail_of(e->match.arms[i].body, by_name);
        *places += t == TAIL_PLACE;
        if (t == TAIL_VALUE)
            return false;
    }
    return true;
}

typedef struct rest {
    checker *c;
    stmt *let;   /* whose value is one of the places; NULL: an argument of a call */
    expr *block; /* what follows it; the call */
    uint32_t argument;
    uint32_t count; /* places that are still to be written */
} rest;

/* let NAME = &mut place; and the rest. */
static expr *with_rest(rest *r, expr *place) {
    checker *c = r->c;
    while (place->kind == EXPR_BLOCK)
        place = place->block->result;
    expr *tail = --r->count == 0 ? r->block : expr_copy(c->arena, r->block);
    if (tail != NULL && r->let == NULL) {
        tail->call.args[r->argument] = place;
        return build_finish(&(block_builder){.c = c, .block = CHECK_ARRAY(c, block, 1), .span = place->span}, tail);
    }
    expr *named = build_reference(c, place->span, place->kind == EXPR_UNARY ? place->unary.operand : place);
    block_builder b = build_block(c, r->block->span);
    build_let(&b, r->let->pattern->binding->name, true, named);
    b.last->span = r->let->span;
    b.last->pattern->binding->span = r->let->pattern->binding->span;
    if (tail == NULL)
        check_out_of_memory(c);
    b.last->next = tail->block->first;
    return build_finish(&b, tail->block->result);
}

static void write_out(rest *r, expr **slot) {
    expr *e = *slot;
    if (e->kind == EXPR_BLOCK && e->block->result != NULL &&
        (e->block->result->kind == EXPR_IF || e->block->result->kind == EXPR_MATCH)) {
        write_out(r, &e->block->result);
    } else if (e->kind == EXPR_IF) {
        expr *then = check_new(r->c, EXPR_BLOCK, e->branch.then->span, NULL);
        then->block = e->branch.then;
        write_out(r, &then);
        e->branch.then = then->block;
        write_out(r, &e->branch.otherwise);
    } else if (e->kind == EXPR_MATCH) {
        bool by_name = check_refers(r->c, e->match.value);
        for (uint32_t i = 0; i < e->match.count; i++)
            if (tail_of(e->match.arms[i].body, by_name) == TAIL_PLACE)
                e->match.arms[i].body = with_rest(r, e->match.arms[i].body);
    } else if (tail_of(e, false) == TAIL_PLACE) {
        *slot = with_rest(r, e);
    }
}

static expr *rest_of(checker *c, const block *b, const stmt *s) {
    expr *e = check_new(c, EXPR_BLOCK, b->span, NULL);
    e->block = CHECK_ARRAY(c, block, 1);
    *e->block = (block){.span = b->span, .first = s->next, .result = b->result};
    return e;
}

/* let P = place else { … }; */
static expr *let_else(checker *c, const block *b, stmt *s) {
    expr *otherwise = rest_of(c, b, s);
    otherwise->block = s->otherwise;
    expr *e = BUILD_QUOTE(c, s->span, "match $0 { _ => $1, _ => $2 }", s->value, rest_of(c, b, s), otherwise);
    e->match.is_let = true;
    e->match.arms[0].pattern = s->pattern;
    return e;
}

expr *check_choice(checker *c, const block *b, stmt *s) {
    if (s->kind != STMT_LET || s->value == NULL || s->value->type != NULL || c->places->choice_depth >= CHOICES_MAX)
        return NULL;
    if (s->otherwise != NULL) {
        return check_refers(c, s->value) && !s->value->is_followed && s->pattern->kind == PATTERN_VARIANT
                   ? let_else(c, b, s)
                   : NULL;
    }
    bool named = s->pattern->kind == PATTERN_NAME && s->pattern->binding != NULL;
    uint32_t places = 0;
    if (!named || (s->value->kind != EXPR_IF && s->value->kind != EXPR_MATCH) || !all_places(c, s->value, &places) ||
        places == 0)
        return NULL;
    rest r = {.c = c, .let = s, .block = rest_of(c, b, s), .count = places};
    expr *e = s->value;
    write_out(&r, &e);
    MASU_DEBUG_ASSERT(r.count == 0); /* the rest was written behind each of the places */
    return e;
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

/* f(if c { &mut a } else { &mut b }): one call for each. */
bool check_choice_argument(checker *c, expr **slot) {
    expr *e = *slot;
    refuse_names(c, e);
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        expr *arg = e->call.args[i];
        uint32_t places = 0;
        if ((arg->kind == EXPR_IF || arg->kind == EXPR_MATCH) && arg->type == NULL && all_places(c, arg, &places) &&
            places > 0) {
            rest r = {.c = c, .block = e, .argument = i, .count = places};
            e->call.args[i] = check_new_int(c, arg->span, 0);
            write_out(&r, &arg);
            *slot = arg;
            return true;
        }
    }
    return false;
}
