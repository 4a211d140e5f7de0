/* check_alias.c: `&mut`: names that mean a place of somebody else.
 *
 *     let r = &mut v[i + 1];          let <at 0> = i + 1;
 *     *r += 2;                 ─►     v[<at 0>] += 2;
 *
 * A value has no address here, so a name that Rust would make a reference is written out as the place it refers
 * to, wherever it is used. The place is frozen first: indices are evaluated once, into variables of their own,
 * so that it stays the same place. The same for the names of a pattern that takes apart a place (`if let Some(n)
 * = &mut self.left`), for the variable of a loop (`for x in v.iter_mut()`: an index runs, the variable is
 * `v[<at>]`), and for methods that yield a place of what they are called on (`map.entry(k).or_insert(0)`,
 * `v.last_mut().unwrap()`).
 *
 * What must stay true (asserted): an alias is a checked place made of names, fields and elements whose indices are
 * literals or variables that are not assigned to.
 */
#include <ctype.h>
#include <string.h>

#include "base/assert.h"
#include "language/front/check_chain.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_part.h"
#include "language/front/check_place.h"
#include "language/front/check_variant.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_scopes.h"

/* ---- let ------------------------------------------------------------------------------------- */

/* name = &mut …: the variable is made to refer to something else. */
static bool moves_on(const expr *e, void *name) {
    const expr *target = e->kind == EXPR_ASSIGN ? e->assign.target : NULL;
    return target != NULL && target->kind == EXPR_NAME && !target->is_followed &&
           strcmp(target->name.name, name) == 0 && e->assign.op == BINARY_NONE;
}

__attribute__((unused)) static bool stays_put(const expr *e) {
    bool rests = e->type != NULL;
    for (; rests && (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX);
         e = e->kind == EXPR_INDEX ? e->index.base : e->field.base)
        for (uint32_t i = 0; e->kind == EXPR_INDEX && i < e->index.count; i++) {
            const expr *at = e->index.indices[i];
            while (at->kind == EXPR_CAST)
                at = at->cast.operand;
            rests &= at->kind == EXPR_INT || at->kind == EXPR_NAME || at->kind == EXPR_RANGE ||
                     !type_is_integer(at->type); /* refused */
        }
    return rests && e->type != NULL;
}

bool check_let_alias(checker *c, stmt *s) {
    bool named = s->pattern->kind == PATTERN_NAME && s->pattern->binding != NULL;
    if (!named || s->value == NULL || s->value->type != NULL || s->otherwise != NULL || s->value->is_followed ||
        c->function == NULL || s->value->kind == EXPR_NAME || !check_refers(c, s->value))
        return false;
    const expr *e = s->value;
    if (e->kind == EXPR_METHOD && library_says(LIBRARY_lends_perhaps, e->call.name))
        return false;
    binding *name = s->pattern->binding;
    if (name->is_mutable && block_any(c->function->body, moves_on, (void *)name->name))
        return false; /* a reference, which may be another one later */
    block_builder b = build_block(c, s->span);
    expr *place = check_freeze(&b, &s->value);
    if (place == NULL) { /* a value of its own that the name holds */
        while (s->value->kind == EXPR_UNARY && s->value->unary.op == UNARY_REFERENCE) {
            s->value = s->value->unary.operand;
            name->is_mutable = true;
        }
        return false;
    }
    MASU_DEBUG_ASSERT(stays_put(place));
    name->alias = place;
    name->is_mutable = true;
    check_declare(c, name, check_type_of(c, place));
    check_become_nothing(c, s);
    if (b.block->first != NULL) {
        b.last->next = s->next;
        s->next = b.block->first;
        c->places->checked_up_to = b.last;
    }
    return true;
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* Some(p) against the index of an element: p against the element. */
bool check_alias_element(checker *c, pattern *p, const type *t) {
    expr *elements = c->places->alias_elements;
    if (elements == NULL || p->kind != PATTERN_VARIANT || p->part_count != 1)
        return false;
    c->places->alias_elements = NULL;
    pattern *part = p->parts[0];
    char *name = check_printf(c, "<at %u>", c->text_count++);
    p->parts[0] = build_name(c, part->span, name, BINDING_LET);
    check_pattern(c, p, t);
    expr *n = check_new_name(c, part->span, name);
    check_expr(c, &n, NULL);
    expr *element = check_element_at(c, check_alias_copy(c, elements), n);
    check_bind_at(c, part, element, check_bind);
    c->places->alias_elements = elements;
    return true;
}

/* ---- match ----------------------------------------------------------------------------------- */

static bool is_ref_mut(const pattern *p, void *context) {
    (void)context;
    return p->binding != NULL && p->binding->is_alias;
}

/* let S { ref mut x, .. } = place: x means the part of the place. What the place needs comes before; *slot is the
 * let. */
const expr *check_let_by_name(checker *c, stmt **slot) {
    stmt *s = *slot;
    if (s->value->type != NULL || s->otherwise != NULL || !pattern_any(s->pattern, is_ref_mut, NULL))
        return NULL;
    block_builder b = build_block(c, s->span);
    expr *place = check_freeze(&b, &s->value);
    if (place == NULL) {
        place = check_hold(&b, s->value, "value");
        place->name.binding->is_mutable = true;
    }
    check_unbox(c, &place);
    check_write(c, place, s->span, WRITE_METHOD);
    s->value = check_alias_copy(c, place);
    if (b.block->first != NULL) {
        stmt *let = CHECK_ARRAY(c, stmt, 1);
        *let = *s;
        check_become_nothing(c, s);
        b.last->next = let;
        s->next = b.block->first;
        c->places->checked_up_to = let;
        *slot = let;
    }
    return place;
}

/* Not every value fits it, as far as its form says. */
static bool asks(const pattern *p, void *context) {
    (void)context;
    return p->kind != PATTERN_WILDCARD && p->kind != PATTERN_TUPLE &&
           (p->kind != PATTERN_NAME || (p->binding != NULL && isupper((unsigned char)p->binding->name[0])));
}

/* Some(p) for any element: the patterns do not look into the elements, so that their index will do. */
static bool takes_elements(const expr *e) {
    bool all = true;
    for (uint32_t i = 0; all && i < e->match.count; i++) {
        const pattern *p = e->match.arms[i].pattern;
        all = p->kind != PATTERN_BOUND;
        for (uint32_t k = 0; all && k < p->part_count; k++)
            all = !pattern_any(p->parts[k], asks, NULL);
    }
    return all;
}

/* Before the value of a match is checked. */
void check_match_alias(checker *c, expr *e, block_builder *b, match_alias *out) {
    *out = (match_alias){0};
    const bool chooses = check_chooses(e->match.value);
    bool refers = (chooses || check_refers(c, e->match.value)) && !e->match.value->is_followed, by_name = false;
    for (uint32_t i = 0; i < e->match.count; i++)
        by_name |= pattern_any(e->match.arms[i].pattern, is_ref_mut, NULL);
    if (!refers && !by_name)
        return;
    maybe_place maybe;
    if (e->match.value->kind == EXPR_METHOD && takes_elements(e) && check_freeze_maybe(b, e->match.value, &maybe)) {
        out->elements = maybe.elements;
        e->match.value = maybe.index;
        return;
    }
    expr *place = check_freeze(b, &e->match.value);
    if (place != NULL) {
        check_unbox(c, &place);
        out->place = place;
        out->all = refers;
        e->match.value = check_alias_copy(c, place);
    }
}

/* ---- for ------------------------------------------------------------------------------------- */

/* Which part of what a chain over places yields behind e is the place. SAID_NOTHING: e does not pass places on. */
static library_said passes_place(const expr *e) {
    return e->kind == EXPR_METHOD && e->type == NULL ? library_said_of(LIBRARY_passes_place, e->call.name)
                                                     : SAID_NOTHING;
}

/* Which part of the pair; -1: there is no pair. */
static int place_in_pair(library_said passes) {
    return passes == SAID_FIRST ? 0 : passes == SAID_SECOND ? 1 : -1;
}

static bool is_mutable_source(const checker *c, const expr *e) {
    if (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE)
        return e->unary.is_mutable;
    if (e->kind == EXPR_METHOD && e->type == NULL && e->call.arg_count == 0)
        return library_says(LIBRARY_lends_each, e->call.name);
    return e->kind == EXPR_NAME && check_refers(c, e) && strcmp(e->name.name, "self") != 0;
}

/* The places of its elements, of a map in the order of its keys. */
static expr *whole_range(checker *c, const expr *all) {
    return BUILD_QUOTE(c, all->span, check_is_map(check_type_of(c, all)) ? "0i64..$0.__settled()" : "0i64..$0.len()",
                       check_alias_copy(c, all));
}

/* Descends to iter_mut() below the chain and puts the indices in its place. */
static expr *replace_source(block_builder *b, expr **slot) {
    checker *c = b->c;
    if (passes_place(*slot) != SAID_NOTHING)
        return replace_source(b, &(*slot)->call.receiver);
    if (!is_mutable_source(c, *slot))
        return NULL;
    expr *e = *slot;
    bool plain = e->kind == EXPR_NAME;
    expr *place = check_freeze(b, e->kind == EXPR_METHOD ? &e->call.receiver : slot);
    if (place == NULL)
        return NULL;
    check_unbox(c, &place);
    const type *t = check_type_of(c, place);
    if (t->kind != TYPE_VEC && (!check_is_map(t) || plain)) {
        if (e->kind == EXPR_METHOD && t->kind == TYPE_STRUCT &&
            check_method_named(c, t->structure, e->call.name) != NULL) {
            e->call.receiver = place;
        } else {
            *slot = place;
            if (e->kind == EXPR_UNARY && t->kind == TYPE_STRUCT &&
                check_method_named(c, t->structure, "iter_mut") != NULL)
                *slot = build_method(c, e->span, place, "iter_mut", NULL, 0);
        }
        return NULL;
    }
    *slot = whole_range(c, place);
    return place;
}

static bool can_split(const expr *chain, const pattern *p) {
    const library_said passes = passes_place(chain);
    if (passes == SAID_NOTHING)
        return true;
    const int part = place_in_pair(passes);
    return part < 0 ? can_split(chain->call.receiver, p)
                    : p->kind == PATTERN_TUPLE && p->part_count == 2 && can_split(chain->call.receiver, p->parts[part]);
}

/* p against what the chain yields; the element's part of it against the element itself. */
static pattern *split_pattern(checker *c, const expr *chain, pattern *p, pattern **element, const char *name) {
    const library_said passes = passes_place(chain);
    const int part = passes == SAID_NOTHING ? -1 : place_in_pair(passes);
    if (part >= 0) {
        pattern **inner = &p->parts[part];
        *inner = split_pattern(c, chain->call.receiver, *inner, element, name);
        return p;
    }
    if (passes != SAID_NOTHING)
        return split_pattern(c, chain->call.receiver, p, element, name);
    *element = p;
    return build_name(c, p->span, name, BINDING_LOOP);
}

static expr *places_below(expr *chain) {
    while (passes_place(chain) != SAID_NOTHING)
        chain = chain->call.receiver;
    return chain;
}

bool check_runs_over_places(const checker *c, const expr *e) {
    return is_mutable_source(c, places_below(e->loop->iterable)) && can_split(e->loop->iterable, e->loop->pattern);
}

bool check_for_alias(checker *c, expr *e, block_builder *b, for_alias *out) {
    *out = (for_alias){0};
    *b = build_block(c, e->span);
    const expr *source = places_below(e->loop->iterable);
    if (!check_runs_over_places(c, e))
        return false;
    out->values = source->kind == EXPR_METHOD && library_said_of(LIBRARY_lends_each, source->call.name) == SAID_VALUES;
    out->place = replace_source(b, &e->loop->iterable);
    if (out->place != NULL) {
        out->name = check_printf(c, "<at %u>", c->text_count++);
        e->loop->pattern = split_pattern(c, e->loop->iterable, e->loop->pattern, &out->element, out->name);
    }
    return true;
}

/* for (i, x) in v.iter_mut().enumerate() { … } as for (i, <at>) in (0..n).enumerate() { let x = &mut v[<at>]; … },
 * which is a chain over numbers. */
bool check_refer_inside(checker *c, expr *e, for_alias *f) {
    if (f->place == NULL || f->element->kind != PATTERN_NAME || check_type_of(c, f->place)->kind != TYPE_VEC ||
        e->loop->iterable->kind != EXPR_METHOD)
        return false;
    expr *body = check_new(c, EXPR_BLOCK, e->loop->body->span, NULL);
    body->block = e->loop->body;
    expr *element = BUILD_QUOTE(c, f->element->span, "&mut $0[$1]", check_alias_copy(c, f->place),
                                check_new_name(c, f->element->span, f->name));
    e->loop->body = build_bound(c, f->element, element, body)->block;
    f->place = NULL;
    return true;
}

/* After the loop's own pattern was declared. */
void check_for_element(checker *c, const for_alias *f) {
    if (f->place == NULL)
        return;
    const type *t = check_type_of(c, f->place);
    expr *at = check_new_name(c, f->element->span, f->name);
    check_expr(c, &at, NULL);
    check_coerce(c, &at, check_scalar(c, TYPE_I64), NULL);
    bool pair = check_is_map(t) && f->element->kind == PATTERN_TUPLE && f->element->part_count == 2 && !f->values;
    expr *element = check_element_at(c, check_elements_of(c, f->place), check_alias_copy(c, at));
    pattern *value = f->element;
    if (pair) { /* (k, v) in map.iter_mut() */
        expr *keys = build_field(c, f->element->span, check_alias_copy(c, f->place), "keys");
        check_expr(c, &keys, NULL);
        check_bind_at(c, f->element->parts[0], check_element_at(c, keys, check_alias_copy(c, at)), check_bind);
        value = f->element->parts[1];
    }
    check_bind_at(c, value, element, check_bind);
}
