/* check_dyn.c: `dyn Trait`, `Box<dyn Fn(A) -> R>`, `-> impl Trait`: values of which only a trait is known.
 *
 *     Box<dyn Shape>     ─►  enum dyn Shape { 0(Box<Circle>), 1(Box<Rect>), … }
 *     s.area()           ─►  fn area(self) -> f64 { match self { 0(x) => x.area(), 1(x) => x.area(), … } }
 *
 * The whole program is known, so the types that ever become a `dyn Shape` are: each conversion adds its type as a
 * variant, and the functions that choose among the variants are written when everything else has been checked. A
 * function that returns `impl Fn(A) -> R` or takes a function in a field or Vec does so through such an enum, too: one
 * type for all closures of a signature.
 *
 * What must stay true (the second asserted where a variant is asked for): a variant is removed only with the whole
 * attempt at checking a function that added it, its number is its tag; a method's body has one arm for each variant
 * that exists when the last body is checked; a variant's type is open only until the function that added it has been
 * checked (check_dyn_close), and two may then be of one type.
 */
#include <string.h>

#include "base/assert.h"
#include "language/front/check_closure.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_iterator.h"
#include "language/front/check_place.h"
#include "language/front/check_walk.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_written.h"

#define HELD "<held "

/* ---- conversions ----------------------------------------------------------------------------- */

/* Types of one generic struct that differ only where one of them is not known yet. */
static bool may_be_one(checker *c, const type *a, const type *b) {
    if (a->kind != TYPE_STRUCT || b->kind != TYPE_STRUCT || a->structure->template == NULL ||
        a->structure->template != b->structure->template)
        return false;
    for (uint32_t i = 0; i < a->structure->template->generics.count; i++) {
        const type *of_a = type_resolve(c->types, a->structure->arguments[i]),
                   *of_b = type_resolve(c->types, b->structure->arguments[i]);
        if (of_a != of_b && of_a->kind != TYPE_OPEN && of_b->kind != TYPE_OPEN)
            return false;
    }
    return true;
}

/* `-> impl Trait`: all that a function yields is of one type, and each value says what it knows of it. */
static void join_yielded(checker *c, const dyn_type *d, const type *t) {
    const function_item *f = c->function;
    if (f == NULL || f->result_annotation == NULL || !f->result_annotation->is_one_type ||
        type_resolve(c->types, f->result) != d->s->type)
        return;
    for (uint32_t i = d->kept_variants; i < d->s->variant_count; i++) {
        const type *known = type_resolve(c->types, d->s->fields[d->s->variants[i].first].type);
        known = type_is_box(known) ? type_resolve(c->types, known->vec.element) : known;
        if (may_be_one(c, known, t))
            check_fits(c, t, known);
    }
}

static uint32_t variant_of(checker *c, dyn_type *d, const type *t) {
    struct_item *s = d->s;
    join_yielded(c, d, t);
    t = type_resolve(c->types, t);
    const type *boxed = t->kind == TYPE_STRUCT ? type_array(c->types, t, TYPE_BOX) : t;
    for (uint32_t i = 0; i < s->variant_count; i++)
        if (s->fields[s->variants[i].first].type == boxed) {
            MASU_DEBUG_ASSERT(s->variants[i].tag == i && s->variants[i].count == 1);
            return i;
        }
    variant_item v = {.name = check_printf(c, "%u", s->variant_count),
                      .span = s->span,
                      .first = s->field_count,
                      .count = 1,
                      .positional = true,
                      .tag = s->variant_count};
    struct_field field = {.name = check_printf(c, "%u", s->field_count), .span = s->span, .type = boxed};
    CHECK_PUSH(c, s->fields, s->field_count, d->field_capacity, field);
    CHECK_PUSH(c, s->variants, s->variant_count, d->variant_capacity, v);
    return s->variant_count - 1;
}

/* A value of another type as a variant of the dyn type `to`. */
bool check_convert_to_dyn(checker *c, expr **slot, const type *to) {
    to = type_resolve(c->types, to);
    dyn_type *d = to->structure->dyn;
    const type *t = type_resolve(c->types, (*slot)->type);
    if (t == to || type_is_silent(t))
        return true;
    if (type_is_box(t)) {
        check_unbox(c, slot);
        t = type_resolve(c->types, (*slot)->type);
    }
    if (t == to)
        return true;
    if (d->item != NULL) {
        check_as_iterator(c, slot);
        t = type_resolve(c->types, (*slot)->type);
    }
    if (d->trait != NULL) {
        check_trait_decides(c, t, d->trait);
        t = type_resolve(c->types, t);
    }
    if (!check_may_be_dyn(c, d, t))
        return false;
    if (d->trait == NULL && d->item == NULL) {
        check_function_value(c, slot, &d->signature);
        if ((*slot)->kind == EXPR_ERROR)
            return true; /* said */
        t = type_resolve(c->types, (*slot)->type);
    }
    d = check_dyn_decided(c, d->s)->dyn;
    to = d->s->type;
    if (check_fits(c, type_resolve(c->types, (*slot)->type), to)) /* handed on */
        return true;
    uint32_t variant = variant_of(c, d, t);
    const type *field = d->s->fields[d->s->variants[variant].first].type;
    expr *e = check_new(c, EXPR_CALL, (*slot)->span, to), **operands = CHECK_ARRAY(c, expr *, 1);
    operands[0] = *slot;
    check_coerce(c, &operands[0], field, NULL);
    e->call = (call_expr){.kind = CALL_VARIANT,
                          .name_span = e->span,
                          .structure = d->s,
                          .variant = variant,
                          .operands = operands,
                          .operand_count = 1};
    *slot = e;
    return true;
}

/* f(&mut x) where `&mut dyn T` is wanted: { let mut <dyn> = x; f(<dyn>); x = what became of it } */
void check_dyn_lend(checker *c, expr *call, expr **slot, const type *to) {
    expr *place = *slot;
    const type *t = type_resolve(c->types, place->type);
    if (!check_is_dyn(to) || t == to || !check_is_place(place) || type_is_box(t))
        return;
    source_span span = place->span;
    expr *copy = check_alias_copy(c, place);
    if (!check_convert_to_dyn(c, &copy, to) || copy->kind != EXPR_CALL)
        return;
    const struct_item *s = copy->call.structure;
    const struct_field *field = &s->fields[s->variants[copy->call.variant].first];
    char *name = check_printf(c, "<dyn %u>", c->text_count++);
    check_call_before(c, call, name, copy);
    expr *part = build_field(c, span, check_new_name(c, span, name), field->name);
    check_expr(c, &part->field.base, NULL);
    part->field.index = (uint32_t)(field - s->fields);
    part->type = field->type;
    if (type_is_box(part->type))
        check_unbox(c, &part);
    check_call_after(c, call, build_assign(c, span, check_alias_copy(c, place), part));
    *slot = check_new_name(c, span, name);
    check_expr(c, slot, NULL);
}

/* fn <held T>(&self) -> Option<T> */
static function_item *held_method(checker *c, dyn_type *d, const type *held, const char *name) {
    function_item *f = check_find_method(c, d->s, name);
    if (f != NULL)
        return f;
    const type **item = CHECK_ARRAY(c, const type *, 1);
    item[0] = held;
    f = CHECK_ARRAY(c, function_item, 1);
    *f = (function_item){.name = name,
                         .span = d->s->span,
                         .has_self = true,
                         .parameter_count = 1,
                         .result = check_struct_instance(c, check_form(c, SAID_OPTION), item)->type};
    f->parameters = CHECK_ARRAY(c, binding *, 1);
    f->parameters[0] = check_new_parameter(c, f->span, BINDING_SELF, "self", d->s->type);
    f->parameters[0]->is_shared = true;
    check_add_dyn_method(c, d, f);
    return f;
}

bool check_dyn_held(checker *c, expr *call) {
    if (call->call.arg_count != 1 || call->call.callee->name.argument_count != 1)
        return false;
    const type *held = type_resolve(c->types, check_type(c, call->call.callee->name.arguments[0]));
    check_expr(c, &call->call.args[0], NULL);
    const type *t = type_resolve(c->types, call->call.args[0]->type);
    if (!check_is_dyn(t) || type_is_silent(held))
        return false;
    const char *name = check_printf(c, HELD "%s>", check_type_text(c, held));
    function_item *f = held_method(c, t->structure->dyn, held, name);
    expr *method = build_method(c, call->span, call->call.args[0], name, NULL, 0);
    check_expr(c, &method, f->result);
    *call = *method;
    return true;
}

/* Some(it) of the type that is asked for, None of all others. */
static expr *build_held(checker *c, const function_item *f, const type *variant, expr *it) {
    const type *held = type_resolve(c->types, f->result->structure->arguments[0]);
    variant = type_is_box(variant) && variant != held ? type_resolve(c->types, variant->vec.element) : variant;
    return variant == held ? build_call(c, f->span, NULL, "Some", &it, 1) : check_new_name(c, f->span, "None");
}

/* match self { D::0(<it>) => <it>.m(…), … } */
static void write_body(checker *c, const dyn_type *d, function_item *f) {
    source_span span = f->span;
    uint32_t count = d->s->variant_count;
    block *body = CHECK_ARRAY(c, block, 1);
    body->span = span;
    expr *result;
    if (count == 0) {
        result = BUILD_QUOTE(c, span, "panic(\"no such value\")", NULL);
    } else {
        result = check_new(c, EXPR_MATCH, span, NULL);
        result->match.value = check_new_name(c, (source_span){span.file, span.offset, 0}, "self"); /* only <it> moves */
        result->match.arms = CHECK_ARRAY(c, match_arm, count);
        result->match.count = count;
    }
    for (uint32_t i = 0; i < count; i++) {
        pattern *p = CHECK_ARRAY(c, pattern, 1);
        *p = (pattern){.span = span, .kind = PATTERN_VARIANT, .scope = d->s->name, .part_count = 1};
        p->name = d->s->variants[i].name;
        p->parts = CHECK_ARRAY(c, pattern *, 1);
        p->parts[0] = build_name(c, span, "<it>", BINDING_LET);
        expr **args = CHECK_ARRAY(c, expr *, f->parameter_count), *it = check_new_name(c, span, "<it>");
        for (uint32_t k = 1; k < f->parameter_count; k++)
            args[k - 1] = check_new_name(c, span, f->parameters[k]->name);
        expr *call = build_method(c, span, it, f->name, args, f->parameter_count - 1);
        call->call.trait = d->trait == NULL ? NULL : check_trait_with(c, d->trait, f->name);
        if (d->trait == NULL && d->item == NULL)
            call = build_call(c, span, NULL, "<it>", args, f->parameter_count - 1);
        else if (strncmp(f->name, HELD, strlen(HELD)) == 0)
            call = build_held(c, f, d->s->fields[d->s->variants[i].first].type, it);
        result->match.arms[i] = (match_arm){.pattern = p, .body = call};
    }
    if (f->result->kind == TYPE_VOID) {
        stmt *s = CHECK_ARRAY(c, stmt, 1);
        *s = (stmt){.kind = STMT_EXPR, .span = span, .value = result};
        body->first = s;
    } else {
        body->result = result;
    }
    f->body = body;
    f->binding_count = 0;
}

function_item *check_dyn_unwritten(checker *c) {
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next) {
        for (uint32_t i = 0; i < d->method_count; i++) {
            if (d->arms[i] != d->s->variant_count) {
                d->arms[i] = d->s->variant_count;
                write_body(c, d, d->methods[i]);
                return d->methods[i];
            }
        }
    }
    return NULL;
}
