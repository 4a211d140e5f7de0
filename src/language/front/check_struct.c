/* check_struct.c: struct literals: each field once, the others from a base. */

#include "language/front/check_closure.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_place.h"
#include "language/front/check_variant.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"

void check_unknown_field(checker *c, expr *e, const struct_item *s) {
    diagnostic *d;
    if (check_find_method(c, s, e->field.name) != NULL) {
        d = diagnostics_say(c->diagnostics, e->field.name_span, SAY(is_method_of_not_field), e->field.name, s->name);
        diagnostics_note(c->diagnostics, d, (source_span){0}, "call it: `%s(…)`", e->field.name);
        return;
    }
    d = diagnostics_say(c->diagnostics, e->field.name_span, SAY(struct_has_no_field), s->name, e->field.name);
    suggestion near = check_suggest(d, e->field.name);
    for (uint32_t i = 0; i < s->field_count && near.distance > 0; i++)
        suggest_add(&near, s->fields[i].name);
    check_suggest_note(c, d, &near);
}

static void unknown_struct(checker *c, source_span span, const char *name) {
    symbol *s = check_find(c, name);
    if (s != NULL && s->refused)
        return;
    diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(there_is_no_struct), name);
    suggestion near = check_suggest(d, name);
    names_suggest_types(c->names, &near);
    suggest_add(&near, "else"); /* `esle { … }` */
    suggest_add(&near, "loop");
    check_suggest_note(c, d, &near);
}

static void check_init(checker *c, expr *e, struct_item *s, field_init *init) {
    int64_t index = check_find_field(s, init->name);
    if (index < 0) {
        expr field = {.field = {.name = init->name, .name_span = init->span}};
        check_unknown_field(c, &field, s);
        check_expr(c, &init->value, NULL);
        e->structure.structure = NULL; /* it may be what is missing */
        return;
    }
    const struct_field *field = &s->fields[index];
    const type *wish = type_resolve(c->types, field->type);
    type_expr *function = check_field_function(s, field);
    if (function != NULL && init->value->kind == EXPR_CLOSURE && init->value->type == NULL) {
        const type_environment *outer = c->environment,
                               of_struct = {.parameters = &s->generics, .arguments = s->arguments};
        c->environment = s->arguments != NULL ? &of_struct : outer;
        closure_signature signature = check_closure_signature(c, function);
        c->environment = outer;
        check_function_value(c, &init->value, &signature);
    }
    check_keep_reference(init->value);
    check_expr(c, &init->value, wish->kind == TYPE_OPEN ? NULL : wish);
    const type *held = type_resolve(c->types, init->value->type);
    if (held->kind == TYPE_STRUCT && held->structure->closure != NULL) /* a call of it writes what it captured */
        check_refer_captures(c, held->structure);
    check_coerce_branch(c, &init->value, field->type, &(coerce_reason){field->span, "the field is declared here"});
    if (e->structure.values[index] != NULL)
        diagnostics_say(c->diagnostics, init->span, SAY(field_is_given_twice), init->name);
    e->structure.values[index] = init->value;
}

static void report_missing_fields(checker *c, expr *e, struct_item *s) {
    masu__buffer names = {0};
    uint32_t missing = 0;
    for (uint32_t i = 0; i < s->field_count; i++)
        if (e->structure.values[i] == NULL)
            masu__buffer_printf(&names, "%s`%s`", missing++ == 0 ? "" : ", ", s->fields[i].name);
    if (missing > 0) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->structure.name_span, SAY(struct_needs_fields), s->name,
                                        missing == 1 ? "field" : "fields", masu__buffer_text(&names));
        diagnostics_note(c->diagnostics, d, s->span, "it is declared here");
    }
    masu__buffer_destroy(&names);
}

/* P { x: a, ..base }: the fields that are not written are those of base, which goes first. */
static void check_base(checker *c, expr *e, struct_item *s) {
    if (e->structure.base == NULL)
        return;
    check_expr(c, &e->structure.base, s->type);
    check_coerce(c, &e->structure.base, s->type, NULL);
}

void check_struct(checker *c, expr *e, const type *expected) {
    e->structure.scope = names_without_modules(c->names, e->structure.scope);
    if (check_variant_struct(c, e, expected))
        return;
    struct_item *s = e->structure.scope != NULL ? NULL : check_struct_named(c, e->structure.name);
    check_make_error(c, e);
    if (s == NULL) {
        unknown_struct(c, e->structure.name_span, e->structure.name);
        for (uint32_t i = 0; i < e->structure.init_count; i++)
            check_expr(c, &e->structure.inits[i].value, NULL);
        return;
    }
    s = check_struct_open(c, s, e->structure.type_arguments, e->structure.type_argument_count);
    if (expected != NULL && s->template != NULL)
        check_fits(c, s->type, expected);
    s = check_decide_lengths(c, e, s);
    e->structure.structure = s;
    e->structure.values = CHECK_ARRAY(c, expr *, s->field_count);
    check_base(c, e, s);
    for (uint32_t i = 0; i < e->structure.init_count; i++)
        check_init(c, e, s, &e->structure.inits[i]);
    if (e->structure.structure != NULL && e->structure.base == NULL)
        report_missing_fields(c, e, s);
    e->structure.structure = s;
    e->type = type_resolve(c->types, s->type);
}
