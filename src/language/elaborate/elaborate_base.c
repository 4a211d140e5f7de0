/* elaborate_base.c: P { x: a, ..base }, whose other fields are those of base, which is looked at last.
 *
 *     base is a variable, or a field of one     P { x: a, y: base.y, z: base.z }      each field is taken out of it
 *     else                                      { let <x> = a; let <base> = base; P { x: <x>, y: <base>.y, … } }
 */
#include "language/elaborate/elaboration.h"

static bool is_path(const expr *e) {
    while ((e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD) && !e->is_copied)
        e = e->field.base;
    return e->kind == EXPR_NAME && e->name.binding && !e->is_copied;
}

static expr *copy_of(elaboration *el, const expr *base) {
    expr *copy = expr_copy(el->tree->arena, base);
    el->out_of_memory |= !copy;
    return copy;
}

static expr *field_of(elaboration *el, expr *base, const struct_item *s, uint32_t index, source_span span) {
    expr *field = base ? elaborate_new(el, EXPR_FIELD, span, s->fields[index].type) : NULL;
    if (!field)
        return NULL;
    field->field.base = base;
    field->field.name = s->fields[index].name;
    field->field.name_span = span;
    field->field.index = index;
    return field;
}

static uint32_t index_of(const struct_expr *s, const expr *value) {
    uint32_t field = 0;
    while (s->values[field] != value)
        field++;
    return field;
}

/* The written values go first: a step for each. */
static uint32_t keep_values(elaboration *el, struct_expr *made, stmt *steps) {
    for (uint32_t i = 0; i < made->init_count && !el->out_of_memory; i++) {
        const uint32_t field = index_of(made, made->inits[i].value);
        made->inits[i].value = made->values[field] = elaborate_let(el, &steps[i], "<field>", false,
                                                                   made->inits[i].value);
    }
    return made->init_count;
}

void elaborate_base(elaboration *el, expr *e) {
    masu__arena *arena = el->tree->arena;
    const struct_item *s = e->structure.structure;
    expr *base = e->structure.base;
    if (!base)
        return;
    const bool path = is_path(base);
    stmt *steps = MASU_ARENA_ARRAY(arena, stmt, s->field_count + 1);
    expr *made = elaborate_new(el, EXPR_STRUCT, e->span, e->type);
    field_init *inits = MASU_ARENA_ARRAY(arena, field_init, s->field_count + 1);
    el->out_of_memory |= !steps || !inits;
    if (el->out_of_memory)
        return;
    *made = *e;
    made->structure.base = NULL;
    made->structure.inits = inits;
    for (uint32_t i = 0; i < e->structure.init_count; i++)
        inits[i] = e->structure.inits[i];
    uint32_t count = path ? 0 : keep_values(el, &made->structure, steps);
    stmt *let = &steps[count];
    if (!path && !el->out_of_memory) {
        elaborate_let(el, let, "<base>", false, base);
        let->is_base = true;
    }
    for (uint32_t i = 0; i < s->field_count && !el->out_of_memory; i++) {
        if (made->structure.values[i])
            continue;
        expr *of = path ? copy_of(el, base) : elaborate_name(el, base->span, let);
        expr *field = field_of(el, of, s, i, base->span);
        inits[made->structure.init_count++] = (field_init){
            .name = s->fields[i].name, .span = base->span, .value = field};
        made->structure.values[i] = field;
    }
    if (path)
        *e = *made;
    else
        elaborate_become_block(el, e, steps, count + 1, made);
}
