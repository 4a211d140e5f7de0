/* check_alias_part.c: a place, or a part of it that a pattern names, under a name. */
#include "language/front/check_place.h"
#include "language/types/check_capture.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_scopes.h"

void check_bind_at(checker *c, pattern *p, const expr *place, void (*check_part)(checker *, pattern *, const type *)) {
    const expr *outer = c->places->alias_place;
    const bool all = c->places->alias_all;
    c->places->alias_place = place;
    c->places->alias_all = true;
    check_part(c, p, check_type_of(c, place));
    c->places->alias_place = outer;
    c->places->alias_all = all;
}

expr *check_alias_copy(checker *c, const expr *e) {
    expr *copy = check_new(c, e->kind, e->span, NULL);
    *copy = *e;
    switch (e->kind) {
    case EXPR_NAME:
        if (e->name.binding != NULL && !check_is_own(c->function, e->name.binding)) {
            copy->type = NULL;
            check_captured_name(c, &copy);
        } else if (e->name.binding != NULL) {
            check_use_binding(c, e->name.binding);
        }
        break;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        copy->field.base = check_alias_copy(c, e->field.base);
        break;
    case EXPR_CAST:
        copy->cast.operand = check_alias_copy(c, e->cast.operand);
        break;
    case EXPR_INDEX:
        copy->index.base = check_alias_copy(c, e->index.base);
        copy->index.indices = CHECK_ARRAY(c, expr *, e->index.count);
        for (uint32_t i = 0; i < e->index.count; i++)
            copy->index.indices[i] = check_alias_copy(c, e->index.indices[i]);
        break;
    default:
        break;
    }
    return copy;
}

expr *check_alias_part(checker *c, const expr *place, pattern *p, uint32_t part, const type *t) {
    if (place == NULL)
        return NULL;
    bool tuple = p->kind == PATTERN_TUPLE;
    expr *e = check_new(c, tuple ? EXPR_TUPLE_FIELD : EXPR_FIELD, p->span, t);
    e->field.base = check_alias_copy(c, place);
    check_unbox(c, &e->field.base);
    e->field.index = tuple ? part : p->part_fields[part];
    e->field.name_span = p->span;
    e->field.name = tuple ? NULL : p->structure->fields[e->field.index].name;
    return e;
}

/* The name means the place; nothing is left for the pattern to bind. */
/* name @ parts: the name is the place, and what remains are the parts. */
bool check_alias_bound(checker *c, pattern *p, const type *t) {
    pattern name = {.kind = PATTERN_NAME, .span = p->span, .binding = p->binding};
    if (!check_alias_name(c, &name, c->places->alias_place, t))
        return false;
    *p = *p->parts[0];
    return true;
}

bool check_alias_name(checker *c, pattern *p, const expr *place, const type *t) {
    if (place == NULL || (!c->places->alias_all && !p->binding->is_alias))
        return false;
    p->binding->alias = check_alias_copy(c, place);
    p->binding->is_mutable = true;
    check_declare(c, p->binding, t);
    p->binding->is_read = true;
    p->kind = PATTERN_WILDCARD;
    p->binding = NULL;
    return true;
}
