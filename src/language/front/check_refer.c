/* check_refer.c: references as values.
 *
 *     vec![&mut self.a, &mut self.b]      Vec<&mut Tensor>: each item says where a tensor lies
 *     let s = &mut v[1..3];               s: &mut [T]
 *     for p in list { *p += 1; }          p: &mut T; *p, p.x, p.f() follow it
 *
 * Most `&mut` never become values: names and patterns are written out as the places they mean (check_alias.c),
 * parameters come back (check_call.c). What lies in a list, tuple, struct or result is a value of TYPE_REFERENCE. It is
 * followed wherever the thing itself is wanted: an EXPR_INDEX over a reference is the place that it leads to.
 *
 * What must stay true (tests/golden/err_part_is_written, err_shared_self): no write through a `&mut place` is done to a
 * copy; what cannot be written through is refused.
 */

#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"

/* ---- making one ------------------------------------------------------------------------------------- */

static expr *bound(checker *c, expr *e) {
    if (e != NULL) {
        check_expr(c, &e, check_scalar(c, TYPE_I64));
        check_coerce(c, &e, check_scalar(c, TYPE_I64), NULL);
    }
    return e;
}

/* &mut list[low..high] */
static expr *reference_to_part(checker *c, expr *list, const expr *range, source_span span) {
    expr *low = bound(c, range->range.low);
    return check_reference_to_list(c, list, low, bound(c, check_range_end(c, range)), span);
}

/* v[a..b] of a list, not checked yet. */
static bool is_part(const expr *e) {
    return e->kind == EXPR_INDEX && e->type == NULL && e->index.count == 1 && e->index.indices[0]->kind == EXPR_RANGE;
}

static bool wants_slice(checker *c, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    return wish != NULL && type_is_slice(wish);
}

/* The reference to a part of a list that *slot names by a range; NULL: it is something else, whose base is checked
 * then. */
static expr *part_by_range(block_builder *b, expr *e) {
    checker *c = b->c;
    expr *list = check_freeze(b, &e->index.base);
    if (list == NULL)
        return NULL;
    check_unbox(c, &list);
    check_follow(c, &list);
    const binding *root = check_root(list);
    if (check_type_of(c, list)->kind != TYPE_VEC || (root != NULL && check_is_shared(root))) {
        e->index.base = list;
        return NULL;
    }
    return reference_to_part(c, list, e->index.indices[0], e->span);
}

/* A value that nothing else holds: a variable of its own, in a cell. */
static expr *place_of_value(block_builder *b, expr *value) {
    checker *c = b->c;
    char *name = check_printf(c, "<value %u>", c->text_count++);
    build_let(b, name, true, value);
    check_let(c, b->last);
    c->places->checked_up_to = NULL;
    expr *n = check_new_name(c, value->span, name);
    check_expr(c, &n, NULL);
    return n;
}

void check_make_reference(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    expr **operand = e->kind == EXPR_UNARY ? &e->unary.operand : slot;
    uint32_t mark = check_scope_open(c);
    block_builder b = build_block(c, e->span);
    expr *made = is_part(*operand) ? part_by_range(&b, *operand) : NULL;
    if (made == NULL) {
        expr *place = check_freeze(&b, operand);
        if (place == NULL) {
            check_expr(c, operand, NULL);
            const expr *base = (*operand)->kind == EXPR_INDEX ? (*operand)->index.base : NULL;
            const bool element = base != NULL && check_type_of(c, base)->kind == TYPE_TENSOR; /* refused */
            place = element || type_is_silent(check_type_of(c, *operand)) ? *operand : place_of_value(&b, *operand);
        }
        check_unbox(c, &place);
        const type *t = check_type_of(c, place);
        if (type_is_reference(t)) /* as it is: of `r`, the place behind it */
            made = place;
        else if (wants_slice(c, expected) && t->kind == TYPE_VEC)
            made = check_reference_to_list(c, place, NULL, NULL, e->span);
        else
            made = check_reference_to_place(c, place, e->span);
    }
    check_scope_close(c, mark);
    *slot = build_checked(&b, made);
}

expr *check_freeze_part(block_builder *b, expr *e) {
    checker *c = b->c;
    expr *made = part_by_range(b, e);
    if (made == NULL)
        return NULL;
    char *name = check_printf(c, "<part %u>", c->text_count++);
    const type *t = made->type;
    build_let(b, name, false, made);
    check_keep_reference(b->last->value);
    check_let(c, b->last);
    expr *n = check_new_name(c, e->span, name);
    check_expr(c, &n, t);
    check_follow(c, &n);
    return n;
}

/* let <at n> = call;  *<at n> */
expr *check_freeze_lent(block_builder *b, expr **slot) {
    checker *c = b->c;
    if ((*slot)->type != NULL)
        return NULL;
    (*slot)->is_followed = false; /* `*call`: the place is meant in any case */
    check_keep_reference(*slot);
    check_expr(c, slot, NULL);
    return check_hold_lent(b, slot);
}

expr *check_hold_lent(block_builder *b, expr **slot) {
    checker *c = b->c;
    const type *t = check_type_of(c, *slot);
    if (!type_is_reference(t)) {
        check_unbox(c, slot); /* a value after all */
        return NULL;
    }
    char *name = check_printf(c, "<at %u>", c->text_count++);
    block_builder alone = build_block(c, b->span);
    build_let(&alone, name, false, *slot);
    check_build_let(b, alone.last);
    expr *n = check_new_name(c, (*slot)->span, name);
    check_expr(c, &n, t);
    check_follow(c, &n);
    return n;
}

/* v[a..b].sort(): what the method writes is the part of v. */
bool check_part_receiver(checker *c, expr **slot) {
    if (!is_part(*slot))
        return false;
    block_builder b = build_block(c, (*slot)->span);
    expr *made = part_by_range(&b, *slot);
    if (made == NULL)
        return false;
    *slot = build_checked(&b, made);
    check_follow(c, slot);
    return true;
}

/* option.as_mut(): Some(&mut what is in it) or None. False: *slot is something else. */
bool check_option_by_reference(checker *c, expr **slot, const type *t) {
    expr *place = (*slot)->call.receiver;
    const int at = t->kind == TYPE_STRUCT && t->structure->is_enum && check_is_place(place)
                       ? check_find_variant(t->structure, "Some")
                       : -1;
    if (at < 0 || t->structure->variants[at].count != 1)
        return false;
    const variant_item *some = &t->structure->variants[at];
    expr *content = build_field(c, place->span, check_alias_copy(c, place), "0");
    content->field.index = some->first;
    content->type = type_resolve(c->types, t->structure->fields[some->first].type);
    if (content->type->kind == TYPE_OPEN)
        return false;
    const source_span span = (*slot)->span;
    expr *reference = type_is_reference(content->type) ? content : check_reference_to_place(c, content, span);
    *slot = BUILD_QUOTE(c, span, "if $0.is_some() { Some($1) } else { None }", check_alias_copy(c, place), reference);
    check_expr(c, slot, NULL);
    return true;
}

/* ---- patterns ------------------------------------------------------------------------------------------- */

static bool asks(const pattern *p, void *context) { /* not every value has its form */
    (void)context;
    return p->kind == PATTERN_LITERAL || p->kind == PATTERN_RANGE || p->kind == PATTERN_OR ||
           p->kind == PATTERN_BOUND || (p->kind == PATTERN_VARIANT && p->structure != NULL && p->structure->is_enum);
}

/* A pattern that takes apart what a reference leads to: its names mean the parts. */
bool check_bind_behind(checker *c, pattern *p, const type *t, void (*check_part)(checker *, pattern *, const type *)) {
    t = type_resolve(c->types, t);
    bool whole = p->kind == PATTERN_NAME || p->kind == PATTERN_WILDCARD;
    if (!type_is_reference(t) || whole || (type_is_slice(t) && check_part != check_bind))
        return false;
    pattern *parts = CHECK_ARRAY(c, pattern, 1);
    *parts = *p;
    char *name = check_printf(c, "<at %u>", c->text_count++);
    *p = *build_name(c, p->span, name, BINDING_LET);
    p->type = t;
    check_declare(c, p->binding, t);
    expr *place = check_new_name(c, p->span, name);
    check_expr(c, &place, type_reference(c->types, type_open(c->types, NULL), type_is_slice(t)));
    check_follow(c, &place);
    check_bind_at(c, parts, place, check_part);
    if (pattern_any(parts, asks, NULL)) { /* <at> @ parts: what is asked lies behind it */
        p->kind = PATTERN_BOUND;
        p->parts = CHECK_ARRAY(c, pattern *, 1);
        p->parts[0] = parts;
        p->part_count = 1;
    }
    return true;
}
