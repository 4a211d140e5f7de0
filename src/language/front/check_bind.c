/* check_bind.c: patterns of `let`, parameters and loops: each name is declared, each part has the type of its part. */

#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/front/check_variant.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

static void bind_fields(checker *c, pattern *p, const type *t) {
    check_variant_pattern(c, p, t, check_bind);
    if (p->kind == PATTERN_VARIANT && !type_is_silent(t) && p->structure->is_enum && p->structure->variant_count > 1)
        diagnostics_say(c->diagnostics, p->span, SAY(this_pattern_does_not_match_every));
}

/* (a, .., z): a `_` for each part that `..` leaves out. */
static void write_rest(checker *c, pattern *p, const type *t) {
    if (!p->rest || t->kind != TYPE_TUPLE || t->tuple.count < p->part_count)
        return;
    uint32_t left_out = t->tuple.count - p->part_count;
    pattern **parts = CHECK_ARRAY(c, pattern *, t->tuple.count);
    for (uint32_t i = 0; i < t->tuple.count; i++) {
        if (i >= p->rest_at && i < p->rest_at + left_out) {
            parts[i] = CHECK_ARRAY(c, pattern, 1);
            *parts[i] = (pattern){.span = p->span, .kind = PATTERN_WILDCARD};
        } else {
            parts[i] = p->parts[i < p->rest_at ? i : i - left_out];
        }
    }
    p->parts = parts;
    p->part_count = t->tuple.count;
    p->rest = false;
}

bool check_tuple_parts(checker *c, pattern *p, const type *t, void (*check_part)(checker *, pattern *, const type *)) {
    if (p->part_count == 0 && (t->kind == TYPE_VOID || t == check_unit_type(c)))
        return false; /* `()`, of which there is one */
    write_rest(c, p, t);
    bool fits = t->kind == TYPE_TUPLE && t->tuple.count == p->part_count;
    if (!fits && !type_is_silent(t)) {
        diagnostics_say(c->diagnostics, p->span, SAY(this_pattern_has_value_is), p->part_count,
                        p->part_count == 1 ? "part" : "parts", check_type_text(c, t));
    }
    const type *otherwise = type_is_silent(t) ? t : check_scalar(c, TYPE_ERROR);
    const expr *place = c->places->alias_place;
    for (uint32_t i = 0; i < p->part_count; i++) {
        const type *part = fits ? type_resolve(c->types, t->tuple.items[i]) : otherwise;
        c->places->alias_place = fits ? check_alias_part(c, place, p, i, part) : NULL;
        check_part(c, p->parts[i], part);
    }
    c->places->alias_place = place;
    return fits;
}

void check_bind(checker *c, pattern *p, const type *t) {
    if (check_bind_behind(c, p, t, check_bind))
        return;
    p->type = t;
    switch (p->kind) {
    case PATTERN_NAME:
        if (p->binding != NULL && !check_alias_name(c, p, c->places->alias_place, t))
            check_declare(c, p->binding, t);
        break;
    case PATTERN_TUPLE:
        check_tuple_parts(c, p, t, check_bind);
        break;
    case PATTERN_VARIANT:
        bind_fields(c, p, t);
        break;
    case PATTERN_BOUND:
        check_declare(c, p->binding, t);
        check_bind(c, p->parts[0], t);
        break;
    case PATTERN_WILDCARD:
        break;
    default:
        diagnostics_say(c->diagnostics, p->span, SAY(this_pattern_does_not_match_every));
        break;
    }
}

/* let (a, a) = …: the entries since `mark` are those of one pattern. */
void check_twice(checker *c, uint32_t mark) {
    for (uint32_t i = mark; i < c->names->entry_count; i++) {
        binding *hidden = c->names->entries[i].hidden;
        if (hidden != NULL && c->function != NULL &&
            hidden->id >= c->function->binding_count - (c->names->entry_count - mark) &&
            hidden->id < c->function->binding_count && c->function->bindings[hidden->id] == hidden) {
            diagnostics_say(c->diagnostics, c->names->entries[i].symbol->binding->span,
                            SAY(is_bound_twice_in_one_pattern), hidden->name);
        }
    }
}
