/* check_reference_made.c: references to places that are checked: to a variable, which then lies in a cell, to an
 * element, a field, a list or a part of it.
 */
#include "language/types/check_capture.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_tree_made.h"
#include "language/types/check_writes.h"

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
    if (!captured || (c->function->is_move && !c->function->owner->fields[part->field.index].is_lent))
        place->name.binding->in_cell = true;
    else
        check_refer_field(c, c->function, &c->function->owner->fields[part->field.index]);
}

static expr *reference_to(checker *c, expr *place, source_span span, const type *t) {
    expr *e = build_reference(c, span, place);
    e->type = t;
    return e;
}

static expr *error_at(checker *c, source_span span) {
    expr *wrong = check_new(c, EXPR_ERROR, span, NULL);
    check_make_error(c, wrong);
    return wrong;
}

expr *check_reference_to_place(checker *c, expr *place, source_span span) {
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
    if (e == NULL) {
        e = check_new_int(c, span, otherwise);
        e->type = check_scalar(c, TYPE_I64);
    }
    return e;
}

expr *check_reference_to_list(checker *c, expr *list, expr *low, expr *high, source_span span) {
    const type *t = check_type_of(c, list);
    if (!check_write(c, list, span, WRITE_METHOD))
        return error_at(c, span);
    expr *part = check_new(c, EXPR_INDEX, span, type_vec(c->types, t->vec.element));
    part->index.base = list;
    part->index.indices = CHECK_ARRAY(c, expr *, 2);
    part->index.indices[0] = index_or(c, low, span, 0);
    part->index.indices[1] = index_or(c, high, span, INT64_MAX);
    part->index.count = 2;
    return reference_to(c, part, span, type_reference(c->types, t->vec.element, true));
}

bool check_to_slice(checker *c, expr **slot, const type *to) {
    const type *from = check_type_of(c, *slot);
    const type *list = type_is_reference(from) ? type_target(c->types, from) : from;
    if (!type_is_slice(to) || !type_is_reference(from) || type_is_slice(from) || list->kind != TYPE_VEC ||
        !check_fits(c, list->vec.element, to->vec.element))
        return false;
    check_follow(c, slot);
    *slot = check_reference_to_list(c, *slot, NULL, NULL, (*slot)->span);
    return true;
}

expr *check_reference_as(checker *c, expr *place, source_span span, const type *wanted) {
    wanted = type_resolve(c->types, wanted);
    if (type_is_slice(wanted) && leads_on(place) && type_is_slice(place->index.base->type))
        return place->index.base;
    return type_is_slice(wanted) && check_type_of(c, place)->kind == TYPE_VEC
               ? check_reference_to_list(c, place, NULL, NULL, span)
               : check_reference_to_place(c, place, span);
}
