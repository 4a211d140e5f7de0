/* check_variants.c: which variant a name means, and `()` as a value. */
#include <string.h>

#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"

bool check_is_form(const checker *c, const type *t, library_said form) {
    return t->kind == TYPE_STRUCT && t->structure->span.file == c->tree->prelude &&
           library_said_of(LIBRARY_type_form, t->structure->name) == form;
}

struct_item *check_form(const checker *c, library_said form) {
    return check_struct_named(c, library_named(LIBRARY_type_form, form));
}

int64_t check_find_variant(const struct_item *s, const char *name) {
    for (uint32_t i = 0; i < s->variant_count; i++)
        if (strcmp(s->variants[i].name, name) == 0)
            return i;
    return -1;
}

void check_unknown_variant(checker *c, source_span span, const struct_item *s, const char *name) {
    diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(enum_has_no_variant), s->name, name);
    suggestion near = check_suggest(d, name);
    for (uint32_t i = 0; i < s->variant_count; i++)
        suggest_add(&near, s->variants[i].name);
    check_suggest_note(c, d, &near);
}

/* `use Color::*` and what the prelude brings. */
void check_import_variants(checker *c, struct_item *s) {
    for (uint32_t i = 0; i < s->variant_count; i++) {
        symbol *known = check_symbol(c, s->variants[i].name);
        if (known->variant_of == NULL) {
            known->variant_of = s;
            known->variant = i;
        } else if (known->variant_of != s) {
            known->variant_too = s;
        }
    }
}

const type *check_unit_type(const checker *c) {
    const symbol *s = check_find(c, "__Unit");
    return s == NULL || s->structure == NULL ? NULL : s->structure->type;
}

bool check_unit_value(checker *c, expr **slot) {
    expr *e = *slot;
    const type *unit = check_unit_type(c);
    if (e->kind != EXPR_TUPLE || e->list.count > 0 || e->type != NULL || unit == NULL)
        return false;
    e->kind = EXPR_CALL;
    e->call = (call_expr){.kind = CALL_STRUCT, .name_span = e->span, .structure = unit->structure};
    e->type = unit;
    return true;
}

bool check_report_variant(checker *c, const expr *e) {
    const char *last = strrchr(e->name.scope, ':');
    struct_item *s = check_struct_named(c, last == NULL ? e->name.scope : last + 1);
    if (s == NULL || !s->is_enum)
        return false;
    check_unknown_variant(c, e->span, s, e->name.name);
    return true;
}

/* A name that is a variant without fields or a constant: then it is compared, not bound. */
bool check_name_is_pattern(checker *c, pattern *p) {
    const char *name = p->name != NULL ? p->name : p->binding->name;
    symbol *s = p->binding->is_mutable ? NULL : check_find(c, name);
    if (s == NULL)
        return false;
    int64_t too = s->variant_too == NULL ? -1 : check_find_variant(s->variant_too, name);
    if (s->variant_of != NULL &&
        (s->variant_of->variants[s->variant].count == 0 || (too >= 0 && s->variant_too->variants[too].count == 0))) {
        p->kind = PATTERN_VARIANT;
        p->name = name;
        p->binding = NULL;
        return true;
    }
    if (s->constant != NULL && s->binding == NULL && type_is_integer(s->constant->type)) {
        p->kind = PATTERN_LITERAL;
        p->low = check_new_name(c, p->span, name);
        p->binding = NULL;
        return true;
    }
    return false;
}

int64_t check_find_field(const struct_item *s, const char *name) {
    for (uint32_t i = 0; i < s->field_count; i++)
        if (strcmp(s->fields[i].name, name) == 0)
            return i;
    return -1;
}
