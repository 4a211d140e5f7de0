/* check_variant.c: enums: their declaration, values of them, and patterns that take values apart. */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_place.h"
#include "language/front/check_variant.h"
#include "language/front/check_walk.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

/* ---- values ---------------------------------------------------------------------------------- */

/* The instance whose type is expected, or one with its types open. */
static struct_item *instance_for(checker *c, struct_item *s, const type *expected, type_expr **written,
                                 uint32_t count) {
    struct_item *made = check_struct_open(c, s, written, count);
    if (expected != NULL && made->template != NULL) {
        expected = type_resolve(c->types, expected);
        if (expected->kind == TYPE_STRUCT && expected->structure->template == made->template)
            check_fits(c, made->type, expected);
    }
    return made;
}

static void become_variant(checker *c, expr *e, struct_item *s, uint32_t variant, expr **operands) {
    source_span name_span = e->kind == EXPR_CALL ? e->call.name_span : e->span;
    e->kind = EXPR_CALL;
    e->call = (call_expr){.kind = CALL_VARIANT,
                          .name_span = name_span,
                          .structure = s,
                          .variant = variant,
                          .operands = operands,
                          .operand_count = s->variants[variant].count};
    e->type = type_resolve(c->types, s->type);
}

static void wrong_form(checker *c, source_span span, const struct_item *s, const variant_item *v) {
    diagnostic *d = v->count == 0 ? diagnostics_say(c->diagnostics, span, SAY(variant_has_no_fields), s->name, v->name)
                                  : diagnostics_say(c->diagnostics, span, SAY(variant_is_written), s->name, v->name,
                                                    s->name, v->name, v->positional ? "(…)" : " { … }");
    diagnostics_note(c->diagnostics, d, v->span, "it is declared here");
}

bool check_unit_struct(checker *c, expr *e) {
    symbol *s = e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    if (s == NULL && e->name.scope == NULL) /* PhantomData, unless the program has its own */
        s = check_find(c, check_printf(c, "__%s", e->name.name));
    if (s == NULL || s->structure == NULL || s->structure->is_enum || s->structure->field_count > 0)
        return false;
    struct_item *made = check_struct_open(c, s->structure, e->name.arguments, e->name.argument_count);
    e->kind = EXPR_CALL;
    e->call = (call_expr){.kind = CALL_STRUCT, .name_span = e->span, .structure = made};
    e->type = made->type;
    return true;
}

static void check_operand(checker *c, expr **slot, const struct_field *field) {
    const type *wish = type_resolve(c->types, field->type);
    check_unit_value(c, slot);
    if (wish->kind == TYPE_OPEN) /* Some(&mut x), Some(make_rc()) */
        check_keep_reference(*slot);
    check_expr(c, slot, wish->kind == TYPE_OPEN ? NULL : wish);
    check_coerce_branch(c, slot, field->type, &(coerce_reason){field->span, "it is declared here"});
}

static void call_variant(checker *c, expr *e, struct_item *s, uint32_t variant, const type *expected) {
    const name_expr *callee = &e->call.callee->name;
    s = instance_for(c, s, expected, callee->arguments, callee->argument_count);
    const variant_item *v = &s->variants[variant];
    e->type = s->type;
    if (v->count == 0 && e->call.arg_count == 0) { /* None(): a function of nothing */
        become_variant(c, e, s, variant, NULL);
        return;
    }
    if (!v->positional || v->count == 0) {
        check_list(c, e->call.args, e->call.arg_count);
        wrong_form(c, e->span, s, v);
        e->type = check_scalar(c, TYPE_ERROR);
        return;
    }
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        if (i < v->count)
            check_operand(c, &e->call.args[i], &s->fields[v->first + i]);
        else
            check_expr(c, &e->call.args[i], NULL);
    if (check_count(c, e, v->name, v->count, v->span))
        become_variant(c, e, s, variant, e->call.args);
}

/* A variant of several enums that were imported: what is expected decides. */
static struct_item *one_of_several(checker *c, const symbol *s, source_span span, const type *expected,
                                   uint32_t *variant) {
    const type *t = expected == NULL ? NULL : type_resolve(c->types, expected);
    struct_item *wanted = t == NULL || t->kind != TYPE_STRUCT || !t->structure->is_enum ? NULL
                          : t->structure->template != NULL                              ? t->structure->template
                                                                                        : t->structure;
    int64_t found = wanted == NULL ? -1 : check_find_variant(wanted, s->name);
    if (found >= 0) {
        *variant = (uint32_t)found;
        return wanted;
    }
    if (s->variant_of->span.file != c->tree->prelude) {
        diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(is_variant_of_and_of), s->name, s->variant_of->name,
                                        s->variant_too->name);
        diagnostics_note(c->diagnostics, d, (source_span){0}, "write `%s::%s` or `%s::%s`", s->variant_of->name,
                         s->name, s->variant_too->name, s->name);
    }
    return s->variant_of;
}

/* `V { … }` is a struct of that name; V and V(…) are one where it is written so. An enum is a type only. */
static bool hides_variant(const struct_item *s, bool in_braces) {
    return s != NULL && !s->is_enum && (in_braces || s->positional || s->field_count == 0);
}

static bool is_one_of(checker *c, const type *expected, const struct_item *of) {
    const type *t = expected == NULL ? NULL : type_resolve(c->types, expected);
    return t != NULL && t->kind == TYPE_STRUCT && (t->structure == of || t->structure->template == of);
}

/* T::V or V, with or without scope: which enum and variant it names. */
static struct_item *named_variant(checker *c, const char *scope, const char *name, source_span span, uint32_t *variant,
                                  const type *expected, bool in_braces) {
    if (scope == NULL) {
        symbol *s = check_find(c, name);
        if (s == NULL || s->variant_of == NULL ||
            (hides_variant(s->structure, in_braces) && !is_one_of(c, expected, s->variant_of)))
            return NULL;
        *variant = s->variant;
        if (s->variant_too != NULL)
            return one_of_several(c, s, span, expected, variant);
        return s->variant_of;
    }
    const char *last = strrchr(scope, ':');
    struct_item *s = check_struct_named(c, last == NULL ? scope : last + 1);
    if (s == NULL || !s->is_enum)
        return NULL;
    int64_t found = check_find_variant(s, name);
    if (found < 0 && in_braces)
        check_unknown_variant(c, span, s, name);
    *variant = (uint32_t)found;
    return found < 0 ? NULL : s;
}

bool check_variant_call(checker *c, expr *e, const type *expected) {
    uint32_t variant;
    const name_expr *callee = &e->call.callee->name;
    struct_item *s = named_variant(c, callee->scope, callee->name, e->call.callee->span, &variant, expected, false);
    if (s == NULL)
        return false;
    call_variant(c, e, s, variant, expected);
    return true;
}

bool check_variant_name(checker *c, expr *e, const type *expected) {
    uint32_t variant;
    struct_item *s = named_variant(c, e->name.scope, e->name.name, e->span, &variant, expected, false);
    if (s == NULL)
        return false;
    s = instance_for(c, s, expected, e->name.arguments, e->name.argument_count);
    e->type = s->type;
    if (s->variants[variant].count > 0) {
        wrong_form(c, e->span, s, &s->variants[variant]);
        e->type = check_scalar(c, TYPE_ERROR);
    } else {
        become_variant(c, e, s, variant, NULL);
    }
    return true;
}

/* T::V { x: a }: true when it was one. */
bool check_variant_struct(checker *c, expr *e, const type *expected) {
    uint32_t variant;
    struct_expr *w = &e->structure;
    struct_item *s = named_variant(c, w->scope, w->name, w->name_span, &variant, expected, true);
    if (s == NULL)
        return false;
    s = instance_for(c, s, expected, w->type_arguments, w->type_argument_count);
    const variant_item *v = &s->variants[variant];
    expr **operands = CHECK_ARRAY(c, expr *, v->count + 1);
    uint32_t *order = CHECK_ARRAY(c, uint32_t, v->count + 1), placed = 0;
    bool good = true;
    e->type = s->type;
    for (uint32_t i = 0; i < w->init_count; i++) {
        uint32_t at = 0;
        while (at < v->count && strcmp(s->fields[v->first + at].name, w->inits[i].name) != 0)
            at++;
        if (at == v->count || operands[at] != NULL) {
            diagnostics_say(c->diagnostics, w->inits[i].span, SAY_IF(at == v->count, has_no_field, field_twice),
                            v->name, w->inits[i].name);
            check_expr(c, &w->inits[i].value, NULL);
            good = false;
            continue;
        }
        check_operand(c, &w->inits[i].value, &s->fields[v->first + at]);
        operands[at] = w->inits[i].value;
        order[placed++] = at;
    }
    for (uint32_t i = 0; i < v->count && good; i++) {
        if (operands[i] == NULL) {
            diagnostic *d = diagnostics_say(c->diagnostics, w->name_span, SAY(needs_field), v->name,
                                            s->fields[v->first + i].name);
            diagnostics_note(c->diagnostics, d, v->span, "it is declared here");
            good = false;
        }
    }
    if (good) {
        become_variant(c, e, s, variant, operands);
        e->call.order = order;
    }
    return true;
}

/* ---- patterns -------------------------------------------------------------------------------- */

typedef struct shape { /* of what a pattern takes apart */
    struct_item *s;
    uint32_t variant, first, count;
    const char *name;
    bool positional;
} shape;

/* The struct or variant that the pattern names, as one of the matched type. False after a message. */
static bool shape_of(checker *c, const pattern *p, const type *t, shape *out) {
    uint32_t variant = 0;
    struct_item *s = named_variant(c, p->scope, p->name, p->span, &variant, t, true);
    bool is_variant = s != NULL;
    bool library = p->scope != NULL && library_says(LIBRARY_std_module, p->scope);
    if (s == NULL && (p->scope == NULL || library)) /* std::cmp::Reverse(x) */
        s = check_struct_named(c, p->name);
    if (s == NULL || (!is_variant && s->is_enum)) {
        if (p->scope == NULL || check_struct_named(c, p->scope) == NULL)
            diagnostics_say(c->diagnostics, p->span, SAY(there_is_no_variant_or_struct), p->name);
        return false;
    }
    if (type_is_silent(t))
        return false;
    bool same = t->kind == TYPE_STRUCT && (t->structure == s || t->structure->template == s);
    if (!same) {
        diagnostics_say(c->diagnostics, p->span, SAY(this_pattern_is_for_value_is), s->name, check_type_text(c, t));
        return false;
    }
    const type *written = p->written == NULL ? t : check_type(c, p->written);
    if (written != t && !type_is_silent(written) && !check_fits(c, t, written)) {
        diagnostics_say(c->diagnostics, p->written->span, SAY(this_pattern_is_for_value_is),
                        check_type_text(c, written), check_type_text(c, t));
        return false;
    }
    s = t->structure;
    *out = (shape){s, variant, 0, s->field_count, s->name, s->positional};
    if (is_variant) {
        const variant_item *v = &s->variants[variant];
        *out = (shape){s, variant, v->first, v->count, v->name, v->positional};
    }
    return true;
}

static void place_by_position(checker *c, pattern *p, const shape *all) {
    uint32_t missing = all->count > p->part_count ? all->count - p->part_count : 0;
    if (p->part_count > all->count || (missing > 0 && !p->rest)) {
        diagnostics_say(c->diagnostics, p->span, SAY(variant_has_other_number_of_parts), all->name, all->count,
                        all->count == 1 ? "part" : "parts", p->part_count);
    }
    for (uint32_t i = 0; i < p->part_count; i++) {
        uint32_t at = p->rest && i >= p->rest_at ? i + missing : i;
        p->part_fields[i] = all->first + (at < all->count ? at : 0);
    }
}

static void place_by_name(checker *c, pattern *p, const shape *all) {
    for (uint32_t i = 0; i < p->part_count; i++) {
        uint32_t at = 0;
        while (at < all->count && strcmp(all->s->fields[all->first + at].name, p->part_names[i]) != 0)
            at++;
        if (at == all->count) {
            diagnostic *d = diagnostics_say(c->diagnostics, p->parts[i]->span, SAY(has_no_field), all->name,
                                            p->part_names[i]);
            suggestion near = check_suggest(d, p->part_names[i]);
            for (uint32_t k = 0; k < all->count; k++)
                suggest_add(&near, all->s->fields[all->first + k].name);
            check_suggest_note(c, d, &near);
            at = 0;
        }
        p->part_fields[i] = all->first + (all->count == 0 ? 0 : at);
    }
    if (!p->rest && p->part_count < all->count) {
        diagnostic *d = diagnostics_say(c->diagnostics, p->span, SAY(this_pattern_leaves_fields_of_out), all->name);
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`..` means the others");
    }
}

void check_variant_pattern(checker *c, pattern *p, const type *t, void (*part)(checker *c, pattern *p, const type *t)) {
    shape all;
    p->scope = names_without_modules(c->names, p->scope);
    p->part_fields = CHECK_ARRAY(c, uint32_t, p->part_count + 1);
    if (!shape_of(c, p, t, &all)) {
        for (uint32_t i = 0; i < p->part_count; i++)
            part(c, p->parts[i], check_scalar(c, TYPE_ERROR));
        p->kind = PATTERN_WILDCARD;
        return;
    }
    p->structure = all.s;
    p->variant = all.variant;
    if (p->part_names != NULL)
        place_by_name(c, p, &all);
    else
        place_by_position(c, p, &all);
    const expr *place = c->places->alias_place;
    for (uint32_t i = 0; i < p->part_count; i++) {
        bool known = p->part_fields[i] < all.s->field_count;
        const type *field = known ? type_resolve(c->types, all.s->fields[p->part_fields[i]].type)
                                  : check_scalar(c, TYPE_ERROR);
        c->places->alias_place = known ? check_alias_part(c, place, p, i, field) : NULL;
        part(c, p->parts[i], field);
    }
    c->places->alias_place = place;
}
