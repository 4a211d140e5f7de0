/* elaborate_base.c: P { x: a, ..base }, whose other fields are those of base, which goes first.
 *
 *     { let <base> = base; P { x: a, y: <base>.y, z: <base>.z } }
 */
#include "language/elaborate/elaboration.h"

static expr *field_of(elaboration *el, source_span span, const stmt *base, const struct_item *s, uint32_t index) {
    expr *field = elaborate_new(el, EXPR_FIELD, span, s->fields[index].type), *of = elaborate_name(el, span, base);
    if (!field || !of)
        return NULL;
    field->field.base = of;
    field->field.name = s->fields[index].name;
    field->field.name_span = span;
    field->field.index = index;
    return field;
}

void elaborate_base(elaboration *el, expr *e) {
    masu__arena *arena = el->tree->arena;
    const struct_item *s = e->structure.structure;
    expr *base = e->structure.base;
    if (!base)
        return;
    stmt *let = MASU_ARENA_NEW(arena, stmt);
    expr *made = elaborate_new(el, EXPR_STRUCT, e->span, e->type);
    field_init *inits = MASU_ARENA_ARRAY(arena, field_init, s->field_count + 1);
    el->out_of_memory |= !let || !inits;
    if (el->out_of_memory)
        return;
    elaborate_let(el, let, "<base>", false, base);
    let->is_base = true;
    *made = *e;
    made->structure.base = NULL;
    made->structure.inits = inits;
    for (uint32_t i = 0; i < e->structure.init_count; i++)
        inits[i] = e->structure.inits[i];
    for (uint32_t i = 0; i < s->field_count && !el->out_of_memory; i++) {
        if (e->structure.values[i])
            continue;
        expr *field = field_of(el, base->span, let, s, i);
        inits[made->structure.init_count++] = (field_init){
            .name = s->fields[i].name, .span = base->span, .value = field};
        made->structure.values[i] = field;
    }
    elaborate_become_block(el, e, let, 1, made);
}
