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
 * that exists when the last body is checked.
 */
#include <string.h>

#include "base/assert.h"
#include "language/front/check_build.h"
#include "language/front/check_closure.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_items.h"
#include "language/front/check_iterator.h"
#include "language/front/check_place.h"
#include "language/front/check_scopes.h"
#include "language/front/check_text.h"
#include "language/front/check_types.h"
#include "language/library/library.h"

#define HELD "<held "

/* ---- the types ------------------------------------------------------------------------------- */

static bool same_signature(const closure_signature *a, const closure_signature *b) {
    return a->count == b->count && a->result == b->result &&
           memcmp(a->parameters, b->parameters, a->count * sizeof *a->parameters) == 0;
}

static const type *function_dyn(checker *c, type_expr *t) {
    closure_signature wanted = check_closure_signature(c, t);
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next)
        if (d->trait == NULL && d->item == NULL && same_signature(&d->signature, &wanted))
            return d->s->type;
    masu__buffer name = {0};
    masu__buffer_printf(&name, "dyn Fn(");
    for (uint32_t i = 0; i < wanted.count; i++)
        masu__buffer_printf(&name, "%s%s", i == 0 ? "" : ", ", check_type_text(c, wanted.parameters[i]));
    masu__buffer_printf(&name, ")");
    if (wanted.result->kind != TYPE_VOID)
        masu__buffer_printf(&name, " -> %s", check_type_text(c, wanted.result));
    const char *text = check_printf(c, "%s", masu__buffer_text(&name));
    masu__buffer_destroy(&name);
    dyn_type *d = check_new_dyn(c, t->span, text);
    d->signature = wanted;
    return d->s->type;
}

/* -> impl Iterator<Item = T>, Box<dyn Iterator<Item = T>>: any iterator of such elements. */
static const type *iterator_dyn(checker *c, const type_expr *t, const type *item) {
    if (item->kind == TYPE_ERROR || item->may_have_open)
        return type_vec(c->types, item);
    for (dyn_type *d = c->instances->dyns; d != NULL; d = d->next)
        if (d->item == item)
            return d->s->type;
    dyn_type *d = check_new_dyn(c, t->span, check_printf(c, "impl Iterator<Item = %s>", check_type_text(c, item)));
    d->item = item;
    return d->s->type;
}

/* dyn A + B, -> impl A + B: what the first trait that says something makes of it. */
const type *check_dyn_type(checker *c, type_expr *t) {
    if (t->kind == TYPE_EXPR_FUNCTION)
        return function_dyn(c, t);
    for (uint32_t i = 0; i < t->argument_count; i++) {
        type_expr *bound = t->arguments[i];
        if (bound->kind == TYPE_EXPR_FUNCTION)
            return function_dyn(c, bound);
        if (bound->kind != TYPE_EXPR_NAME)
            continue;
        trait_item *trait = names_trait(c->names, bound->name);
        if (trait != NULL)
            return check_trait_dyn(c, t->span, trait);
        const library_said form = library_said_of(LIBRARY_trait_form, bound->name);
        bool iterates = form == SAID_ITERATE;
        if (iterates && bound->argument_count == 1)
            return iterator_dyn(c, t, type_resolve(c->types, check_part_type(c, bound->arguments[0])));
        if (form == SAID_DISPLAY || form == SAID_TEXT) /* its text is what is used of it */
            return check_scalar(c, TYPE_STRING);
    }
    const char *name = t->argument_count > 0 ? t->arguments[0]->name : NULL;
    diagnostics_say(c->diagnostics, t->span, SAY(there_is_no_trait), name == NULL ? "?" : name);
    return check_scalar(c, TYPE_ERROR);
}

/* ---- conversions ----------------------------------------------------------------------------- */

static uint32_t variant_of(checker *c, dyn_type *d, const type *t) {
    struct_item *s = d->s;
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

static bool may_become(checker *c, const dyn_type *d, const type *t) {
    if (d->item != NULL) {
        const type *item = check_is_iterator(c, t) ? check_item_of(c, t) : NULL;
        return item != NULL && check_fits(c, item, d->item);
    }
    if (d->trait != NULL)
        return check_implements(c, t, d->trait);
    return t->kind == TYPE_STRUCT && t->structure->closure != NULL;
}

/* fn from(x: A) of just this A */
static bool is_from(checker *c, const function_item *f, const struct_item *owner, const type *t) {
    if (f->owner != owner || library_said_of(LIBRARY_form, f->name) != SAID_FROM || f->parameter_count != 1 ||
        f->generics.count > 0)
        return false;
    const type *of = type_resolve(c->types, check_type(c, f->parameters[0]->annotation));
    return of == t || (type_is_open_number(t) && type_is_numeric(of) && type_is_integer(of) == type_is_integer(t));
}

/* impl From<A> for dyn T: what is one as it is needs none. */
bool check_dyn_from(checker *c, const type *to, const type *t) {
    const function_item *f = to == t || may_become(c, to->structure->dyn, t)
                                 ? NULL
                                 : check_find_method(c, to->structure, "from");
    while (f != NULL && !is_from(c, f, to->structure, t))
        f = f->next_in_bucket;
    return f != NULL;
}

/* A value of another type as a variant of the dyn type `to`. */
bool check_dyn_convert(checker *c, expr **slot, const type *to) {
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
    if (!may_become(c, d, t))
        return false;
    if (d->trait == NULL && d->item == NULL) {
        check_function_value(c, slot, &d->signature);
        if ((*slot)->kind == EXPR_ERROR)
            return true; /* said */
        t = type_resolve(c->types, (*slot)->type);
    }
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
    if (!check_is_dyn(to) || t == to || !check_is_place(place) || t->kind != TYPE_STRUCT)
        return;
    source_span span = place->span;
    expr *copy = check_alias_copy(c, place);
    if (!check_dyn_convert(c, &copy, to) || copy->kind != EXPR_CALL)
        return;
    const struct_item *s = to->structure;
    const struct_field *field = &s->fields[s->variants[copy->call.variant].first];
    char *name = check_printf(c, "<dyn %u>", c->text_count++);
    check_call_before(c, call, name, copy);
    expr *part = build_field(c, span, check_new_name(c, span, name), field->name);
    check_expr(c, &part->field.base, NULL);
    part->field.index = (uint32_t)(field - s->fields);
    part->type = field->type;
    check_unbox(c, &part);
    check_call_after(c, call, build_assign(c, span, check_alias_copy(c, place), part));
    *slot = check_new_name(c, span, name);
    check_expr(c, slot, NULL);
}

/* ---- methods --------------------------------------------------------------------------------- */

static const function_item *trait_method(const checker *c, const trait_item *trait, const char *name, int depth) {
    for (uint32_t i = 0; i < trait->method_count; i++)
        if (strcmp(trait->methods[i]->name, name) == 0)
            return trait->methods[i];
    for (uint32_t i = 0; i < trait->supertrait_count && depth < 20; i++) {
        const trait_item *over = check_supertrait(c, trait, i);
        const function_item *f = over == NULL ? NULL : trait_method(c, over, name, depth + 1);
        if (f != NULL)
            return f;
    }
    return NULL;
}

static binding *new_parameter(checker *c, source_span span, binding_kind kind, const char *name, const type *t) {
    binding *b = CHECK_ARRAY(c, binding, 1);
    *b = (binding){.name = name, .span = span, .kind = kind, .is_mutable = true, .type = t};
    return b;
}

/* Of functions: fn call(self, …) of the signature. */
static function_item *call_method(checker *c, const dyn_type *d) {
    function_item *f = CHECK_ARRAY(c, function_item, 1);
    *f = (function_item){.name = "call",
                         .qualified = d->s->name,
                         .span = d->s->span,
                         .has_self = true,
                         .parameter_count = d->signature.count + 1,
                         .result = d->signature.result};
    f->parameters = CHECK_ARRAY(c, binding *, f->parameter_count);
    f->parameters[0] = new_parameter(c, f->span, BINDING_SELF, "self", d->s->type);
    for (uint32_t i = 1; i < f->parameter_count; i++) {
        f->parameters[i] = new_parameter(c, f->span, BINDING_PARAMETER, check_printf(c, "<%u>", i),
                                         d->signature.parameters[i - 1]);
        f->parameters[i]->comes_back = d->signature.places != NULL && d->signature.places[i - 1];
    }
    return f;
}

/* fn fmt(self, f: &mut Formatter) -> fmt::Result */
static function_item *fmt_method(checker *c, const dyn_type *d, const char *name) {
    function_item *f = CHECK_ARRAY(c, function_item, 1);
    type_expr *types = CHECK_ARRAY(c, type_expr, 2);
    types[0] = (type_expr){.span = d->s->span, .kind = TYPE_EXPR_NAME, .name = "Formatter", .is_place = true};
    types[1] = (type_expr){.span = d->s->span, .kind = TYPE_EXPR_NAME, .name = "Result"};
    *f = (function_item){.name = name,
                         .qualified = name,
                         .span = d->s->span,
                         .has_self = true,
                         .parameter_count = 2,
                         .result_annotation = &types[1]};
    f->parameters = CHECK_ARRAY(c, binding *, 2);
    f->parameters[0] = new_parameter(c, f->span, BINDING_SELF, "self", d->s->type);
    f->parameters[1] = new_parameter(c, f->span, BINDING_PARAMETER, "<1>", NULL);
    f->parameters[1]->annotation = &types[0];
    return f;
}

/* fn next(&mut self) -> Option<T> */
static function_item *next_method(checker *c, const dyn_type *d) {
    function_item *f = CHECK_ARRAY(c, function_item, 1);
    const type **item = CHECK_ARRAY(c, const type *, 1);
    item[0] = d->item;
    struct_item *option = check_struct_instance(c, check_struct_named(c, "Option"), item);
    *f = (function_item){.name = "next",
                         .qualified = "next",
                         .span = d->s->span,
                         .has_self = true,
                         .parameter_count = 1,
                         .result = option->type};
    f->parameters = CHECK_ARRAY(c, binding *, 1);
    f->parameters[0] = new_parameter(c, f->span, BINDING_SELF, "self", d->s->type);
    return f;
}

static function_item *copy_method(checker *c, const dyn_type *d, const char *name) {
    const function_item *declared = trait_method(c, d->trait, name, 0);
    if (declared == NULL)
        return check_is_shown_by(name) && check_dyn_is_shown(c, d->s->type) ? fmt_method(c, d, name) : NULL;
    if (!declared->has_self || declared->generics.count > 0)
        return NULL;
    function_item *f = function_copy(c->arena, declared);
    if (f == NULL)
        check_out_of_memory(c);
    f->unchecked = NULL;
    for (uint32_t i = 0; i < f->parameter_count; i++)
        f->parameters[i]->is_mutable = true;
    return f;
}

/* Its body is written at the end. */
static void add_method(checker *c, dyn_type *d, function_item *f) {
    f->owner = d->s;
    f->owner_name = d->s->name;
    f->qualified = check_printf(c, "%s::%s", d->s->name, f->name);
    f->is_checked = true;
    f->index = c->tree->function_count;
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, f);
    check_add_method(c, f);
    uint32_t count = d->method_count, capacity = d->method_capacity;
    CHECK_PUSH(c, d->arms, count, capacity, UINT32_MAX);
    CHECK_PUSH(c, d->methods, d->method_count, d->method_capacity, f);
}

function_item *check_dyn_method(checker *c, struct_item *owner, const char *name) {
    dyn_type *d = owner->dyn;
    bool calls = d != NULL && d->trait == NULL && d->item == NULL;
    if (d == NULL || (d->trait == NULL && strcmp(name, calls ? "call" : "next") != 0))
        return NULL;
    function_item *f = calls ? call_method(c, d) : d->item != NULL ? next_method(c, d) : copy_method(c, d, name);
    if (f == NULL)
        return NULL;
    add_method(c, d, f);
    if (d->trait != NULL)
        check_signature(c, f);
    return f;
}

/* fn <held T>(self) -> Option<T> */
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
                         .result = check_struct_instance(c, check_struct_named(c, "Option"), item)->type};
    f->parameters = CHECK_ARRAY(c, binding *, 1);
    f->parameters[0] = new_parameter(c, f->span, BINDING_SELF, "self", d->s->type);
    add_method(c, d, f);
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
        expr *text = check_new(c, EXPR_STRING, span, NULL);
        text->string.data = "no such value";
        text->string.length = strlen(text->string.data);
        result = build_call(c, span, NULL, "panic", &text, 1);
    } else {
        result = check_new(c, EXPR_MATCH, span, NULL);
        result->match.value = check_new_name(c, span, "self");
        result->match.arms = CHECK_ARRAY(c, match_arm, count);
        result->match.count = count;
    }
    for (uint32_t i = 0; i < count; i++) {
        pattern *p = CHECK_ARRAY(c, pattern, 1), *part = CHECK_ARRAY(c, pattern, 1);
        *part = (pattern){.span = span, .kind = PATTERN_NAME, .binding = CHECK_ARRAY(c, binding, 1)};
        *part->binding = (binding){.name = "<it>", .span = span, .kind = BINDING_LET};
        *p = (pattern){.span = span, .kind = PATTERN_VARIANT, .scope = d->s->name, .part_count = 1};
        p->name = d->s->variants[i].name;
        p->parts = CHECK_ARRAY(c, pattern *, 1);
        p->parts[0] = part;
        expr **args = CHECK_ARRAY(c, expr *, f->parameter_count), *it = check_new_name(c, span, "<it>");
        for (uint32_t k = 1; k < f->parameter_count; k++)
            args[k - 1] = check_new_name(c, span, f->parameters[k]->name);
        expr *call = build_method(c, span, it, f->name, args, f->parameter_count - 1);
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
