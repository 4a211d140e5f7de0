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
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_closure.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_place.h"
#include "language/front/check_types.h"
#include "language/front/check_variant.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"

/* ---- making one ------------------------------------------------------------------------------------- */

static bool leads_on(const expr *e) {
    return e->kind == EXPR_INDEX && type_is_reference(e->index.base->type);
}

/* The variable that the place is a part of lies in a cell, unless it is a list's element or behind a reference. A
 * closure that captured it holds a reference to it. */
static void put_in_cell(checker *c, const expr *place) {
    const expr *part = place;
    while (place->kind == EXPR_FIELD || place->kind == EXPR_TUPLE_FIELD) {
        part = place;
        place = place->field.base;
    }
    if (place->kind != EXPR_NAME || place->name.binding == NULL)
        return;
    bool captured = c->function->is_closure && place->name.binding == c->function->parameters[0] &&
                    part->kind == EXPR_FIELD;
    if (!captured || c->function->is_move)
        place->name.binding->in_cell = true;
    else
        check_refer_field(c, c->function, &c->function->owner->fields[part->field.index]);
}

static expr *reference_to(checker *c, expr *place, source_span span, const type *t) {
    expr *e = check_new(c, EXPR_UNARY, span, t);
    e->unary.op = UNARY_REFERENCE;
    e->unary.is_mutable = true;
    e->unary.operand = place;
    return e;
}

static expr *error_at(checker *c, source_span span) {
    expr *wrong = check_new(c, EXPR_ERROR, span, NULL);
    check_make_error(c, wrong);
    return wrong;
}

static expr *reference_to_place(checker *c, expr *place, source_span span) {
    check_unbox(c, &place);
    const type *t = check_type_of(c, place);
    if (type_is_silent(t))
        return place;
    if (place->kind == EXPR_INDEX && check_type_of(c, place->index.base)->kind == TYPE_TENSOR) {
        diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(element_of_tensor_cannot_be_referred));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "write it where it is: `t[i, j] = …`, `t[i, j] += …`");
        return error_at(c, span);
    }
    if (leads_on(place))
        return place->index.base; /* &mut *r */
    if (!check_write(c, place, span, WRITE_METHOD))
        return error_at(c, span);
    put_in_cell(c, place);
    return reference_to(c, place, span, type_reference(c->types, t, false));
}

static expr *index_or(checker *c, expr *e, source_span span, int64_t otherwise) {
    e = e != NULL ? e : check_new_int(c, span, otherwise);
    check_expr(c, &e, check_scalar(c, TYPE_I64));
    check_coerce(c, &e, check_scalar(c, TYPE_I64), NULL);
    return e;
}

/* &mut list[low..high]; low and high may be NULL */
static expr *reference_to_part(checker *c, expr *list, const expr *range, source_span span) {
    const type *t = check_type_of(c, list);
    if (!check_write(c, list, span, WRITE_METHOD))
        return error_at(c, span);
    expr *high = range == NULL ? NULL : range->range.high;
    if (high != NULL && range->range.inclusive)
        high = check_new_binary(c, BINARY_ADD, high, check_new_int(c, high->span, 1), NULL);
    expr *part = check_new(c, EXPR_INDEX, span, type_vec(c->types, t->vec.element));
    part->index.base = list;
    part->index.indices = CHECK_ARRAY(c, expr *, 2);
    part->index.indices[0] = index_or(c, range == NULL ? NULL : range->range.low, span, 0);
    part->index.indices[1] = index_or(c, high, span, INT64_MAX);
    part->index.count = 2;
    return reference_to(c, part, span, type_reference(c->types, t->vec.element, true));
}

/* v[a..b] of a list, not checked yet. */
static bool is_part(const expr *e) {
    return e->kind == EXPR_INDEX && e->type == NULL && e->index.count == 1 && e->index.indices[0]->kind == EXPR_RANGE;
}

static bool wants_slice(checker *c, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    return wish != NULL && type_is_slice(wish);
}

static expr *block_of(checker *c, block_builder *b, expr *value) {
    if (b->block->first == NULL)
        return value;
    expr *whole = build_finish(b, value);
    b->block->type = whole->type = value->type;
    (void)c;
    return whole;
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
            place = type_is_silent(check_type_of(c, *operand)) ? *operand : place_of_value(&b, *operand);
        }
        check_unbox(c, &place);
        const type *t = check_type_of(c, place);
        if (type_is_reference(t)) /* as it is: of `r`, the place behind it */
            made = place;
        else if (wants_slice(c, expected) && t->kind == TYPE_VEC)
            made = reference_to_part(c, place, NULL, e->span);
        else
            made = reference_to_place(c, place, e->span);
    }
    check_scope_close(c, mark);
    *slot = block_of(c, &b, made);
}

bool check_to_slice(checker *c, expr **slot, const type *to) {
    const type *from = check_type_of(c, *slot);
    const type *list = type_is_reference(from) ? type_target(c->types, from) : from;
    if (!type_is_slice(to) || !type_is_reference(from) || type_is_slice(from) || list->kind != TYPE_VEC ||
        !check_fits(c, list->vec.element, to->vec.element))
        return false;
    check_follow(c, slot);
    *slot = reference_to_part(c, *slot, NULL, (*slot)->span);
    return true;
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

bool check_may_lend(const checker *c, const expr *e) {
    while (e->type == NULL) {
        const char *name = e->kind == EXPR_METHOD                                      ? e->call.name
                           : e->kind == EXPR_CALL && e->call.callee->kind == EXPR_NAME ? e->call.callee->name.name
                                                                                       : NULL;
        for (uint32_t i = 0; name != NULL && i < c->tree->getter_count; i++) {
            const char *known = c->tree->getters[i]->name;
            if (known[0] == name[0] && strcmp(known, name) == 0)
                return true;
        }
        if (e->kind == EXPR_METHOD)
            e = e->call.receiver;
        else if (e->kind == EXPR_TRY)
            e = e->attempt.operand;
        else
            return false;
    }
    return false;
}

/* let <at n> = call;  *<at n> */
expr *check_freeze_lent(block_builder *b, expr **slot) {
    checker *c = b->c;
    if ((*slot)->type != NULL)
        return NULL;
    (*slot)->is_followed = false; /* `*call`: the place is meant in any case */
    check_keep_reference(*slot);
    check_expr(c, slot, NULL);
    const type *t = check_type_of(c, *slot);
    if (!type_is_reference(t))
        return NULL;
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
    *slot = block_of(c, &b, made);
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
    expr *e = check_new(c, EXPR_IF, (*slot)->span, NULL), *reference = content;
    if (!type_is_reference(content->type))
        reference = reference_to_place(c, content, (*slot)->span);
    expr *found = build_call(c, e->span, NULL, "Some", &reference, 1);
    e->branch.condition = build_method(c, e->span, check_alias_copy(c, place), "is_some", NULL, 0);
    e->branch.then = CHECK_ARRAY(c, block, 1);
    *e->branch.then = (block){.span = e->span, .result = found};
    block_builder none = build_block(c, e->span);
    e->branch.otherwise = build_finish(&none, check_new_name(c, e->span, "None"));
    *slot = e;
    check_expr(c, slot, NULL);
    return true;
}

/* ---- functions that hand references on ------------------------------------------------------------------------ */

expr *check_reference_as(checker *c, expr *place, source_span span, const type *wanted) {
    wanted = type_resolve(c->types, wanted);
    if (type_is_slice(wanted) && leads_on(place) && type_is_slice(place->index.base->type))
        return place->index.base;
    return type_is_slice(wanted) && check_type_of(c, place)->kind == TYPE_VEC ? reference_to_part(c, place, NULL, span)
                                                                              : reference_to_place(c, place, span);
}

/* ---- patterns ------------------------------------------------------------------------------------------- */

static bool asks(const pattern *p) { /* not every value has its form */
    bool any = p->kind == PATTERN_LITERAL || p->kind == PATTERN_RANGE || p->kind == PATTERN_OR ||
               p->kind == PATTERN_BOUND ||
               (p->kind == PATTERN_VARIANT && p->structure != NULL && p->structure->is_enum);
    for (uint32_t i = 0; !any && i < p->part_count; i++)
        any = asks(p->parts[i]);
    return any;
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
    *p = (pattern){.span = p->span, .kind = PATTERN_NAME, .binding = CHECK_ARRAY(c, binding, 1)};
    p->type = t;
    *p->binding = (binding){.name = name, .span = p->span, .kind = BINDING_LET};
    check_declare(c, p->binding, t);
    expr *place = check_new_name(c, p->span, name);
    check_expr(c, &place, type_reference(c->types, type_open(c->types, NULL), type_is_slice(t)));
    check_follow(c, &place);
    const expr *outer = c->places->alias_place;
    bool all = c->places->alias_all;
    c->places->alias_place = place;
    c->places->alias_all = true;
    check_part(c, parts, check_type_of(c, place));
    c->places->alias_place = outer;
    c->places->alias_all = all;
    if (asks(parts)) { /* <at> @ parts: what is asked lies behind it */
        p->kind = PATTERN_BOUND;
        p->parts = CHECK_ARRAY(c, pattern *, 1);
        p->parts[0] = parts;
        p->part_count = 1;
    }
    return true;
}

/* ---- impl Deref ------------------------------------------------------------------------------------- */

bool check_leads(const checker *c, const type *t) {
    t = type_resolve(c->types, t);
    const function_item *f = t->kind == TYPE_STRUCT ? check_method_named((checker *)c, t->structure, "deref") : NULL;
    f = f != NULL && f->template != NULL ? f->template : f;
    return f != NULL && f->has_self && f->impl != NULL && f->impl->trait_name != NULL &&
           library_said_of(LIBRARY_trait_form, f->impl->trait_name) == SAID_DEREF;
}

/* The place as it may be written, so that a call finds what it writes to. */
static expr *as_written(checker *c, expr *e) {
    const bool field = e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD;
    if (e->kind == EXPR_NAME && e->name.scope == NULL)
        return check_new_name(c, e->span, e->name.name);
    if (!field && (e->kind != EXPR_INDEX || type_is_reference(e->index.base->type)))
        return e;
    expr *copy = check_new(c, e->kind, e->span, NULL);
    *copy = *e;
    copy->type = NULL;
    copy->stars = 0;
    if (field)
        copy->field.base = as_written(c, e->field.base);
    else
        copy->index.base = as_written(c, e->index.base);
    return copy;
}

expr *check_led(checker *c, expr *e, bool writes) {
    const type *t = type_resolve(c->types, e->type);
    writes = writes && check_method_named(c, t->structure, "deref_mut") != NULL;
    e = check_is_place(e) ? as_written(c, e) : e;
    return build_method(c, e->span, e, writes ? "deref_mut" : "deref", NULL, 0);
}

/* Whether a star before a value of t leads on in any case. */
bool check_is_guard(const checker *c, const type *t) {
    const struct_item *s = t != NULL && t->kind == TYPE_STRUCT ? t->structure : NULL;
    s = s != NULL && s->template != NULL ? s->template : s;
    return s != NULL && s->span.file == c->tree->prelude && library_says(LIBRARY_is_guard, s->name);
}

/* Whether `e`, as it is written, is a reference to what its type says. */
static bool is_written_reference(const checker *c, const expr *e) {
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    const binding *b = s == NULL ? NULL : s->binding;
    if (b != NULL) {
        bool annotated = b->annotation != NULL && !b->annotation->is_place && !b->annotation->is_shared;
        if (b->type != NULL && check_is_guard(c, type_resolve(c->types, b->type)))
            return false;
        return b->kind == BINDING_SELF || (b->kind != BINDING_LET && !annotated);
    }
    return e->kind == EXPR_METHOD;
}

void check_follow_stars(checker *c, expr **slot, uint32_t written, uint32_t stars, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (stars < written && check_leads(c, (*slot)->type) && check_is_guard(c, type_resolve(c->types, (*slot)->type)))
        stars = written;
    for (; stars > 0 && check_leads(c, (*slot)->type); stars--) {
        if (wish != NULL && wish == type_resolve(c->types, (*slot)->type))
            return;
        *slot = check_led(c, *slot, false);
        check_expr(c, slot, NULL);
    }
}

uint32_t check_stars(const checker *c, const expr *e) {
    return !e->is_followed ? 0 : e->stars - (e->stars > 0 && is_written_reference(c, e));
}

bool check_leads_elsewhere(checker *c, const type *t, const type *wish) {
    wish = wish == NULL ? NULL : type_resolve(c->types, wish);
    wish = wish != NULL && type_is_reference(wish) ? type_resolve(c->types, wish->vec.element) : wish;
    t = type_resolve(c->types, t);
    if (wish == NULL || wish == t || type_is_silent(wish) || check_is_dyn(wish) || !check_leads(c, t))
        return false;
    return wish->kind != TYPE_STRUCT || t->structure->template == NULL ||
           wish->structure->template != t->structure->template;
}

bool check_lead_to(checker *c, expr **slot, const type *wish) {
    bool led = false;
    for (; check_leads_elsewhere(c, (*slot)->type, wish); led = true) {
        *slot = check_led(c, *slot, false);
        check_expr(c, slot, NULL);
    }
    return led;
}
