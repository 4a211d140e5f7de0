/* check_view.c: how many references are before a value, as Rust counts them. A reference and its value are one type
 * here; where a trait is implemented for a type and for references to it, which impl runs follows from how the value is
 * written and where it comes from:
 *
 *     &x, "text"                      one               for p in &v, v.iter()            p: one
 *     fn f(x: &T) … x, f() -> &T      one               v.iter().copied(), v.into_iter()  values
 *     *x                              none              |(a, b)| of v.iter().zip(w)       a: one, b: as w is
 *
 * What must stay true (tests/golden/lang_impls_by_reference): nothing is checked for it; what is not known counts as a
 * value. It is only asked where such impls are (tree->has_reference_impls).
 */
#include "language/types/check_view.h"

#include <string.h>

#include "language/library/library.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_scopes.h"
#include "language/types/check_writes.h"

const view *check_view_kept(const checker *c, view v) {
    view *made = CHECK_ARRAY((checker *)c, view, 1);
    *made = v;
    return made;
}

const call_views *check_views_kept(const checker *c, call_views v) {
    call_views *made = CHECK_ARRAY((checker *)c, call_views, 1);
    *made = v;
    return made;
}

const call_views *check_as_operand(const checker *c, const call_views *written) {
    return written == NULL ? NULL : check_views_kept(c, (call_views){.operand = written->receiver});
}

/* T of a generic function: it may be a reference itself. */
static void add_parameter(const checker *c, const char *name, view *v) {
    const type_environment *e = name == NULL ? NULL : c->environment;
    for (uint32_t i = 0; e != NULL && i < check_type_count(e->parameters); i++) {
        if (strcmp(e->parameters->items[i].name, name) != 0)
            continue;
        v->is_parameter = true;
        v->is_of_reference = e->by_reference != NULL && e->by_reference[i];
        v->references += v->is_of_reference;
    }
}

static view of_type(const checker *c, const type_expr *t, int depth) {
    view v = {.references = t->is_shared || t->is_place, .is_mutable = t->is_place};
    if (t->kind == TYPE_EXPR_NAME && t->argument_count == 0)
        add_parameter(c, t->name, &v);
    const type_expr *inside = t->argument_count > 0 && depth < 3 ? t->arguments[0] : NULL;
    if (inside != NULL && t->kind != TYPE_EXPR_FUNCTION && t->kind != TYPE_EXPR_DYN) {
        const view item = of_type(c, inside, depth + 1);
        if (t->kind != TYPE_EXPR_TUPLE && (item.references > 0 || item.item != NULL))
            v.item = check_view_kept(c, item);
    }
    for (uint32_t i = 0; i < t->argument_count && i < 2 && t->kind == TYPE_EXPR_TUPLE; i++)
        v.parts[i] = check_view_kept(c, of_type(c, t->arguments[i], depth + 1));
    return v;
}

view check_view_of_written(const checker *c, const type_expr *t) {
    return of_type(c, t, 0);
}

/* In `impl Trait for &T`, Self is a reference, too. */
static view of_self(const checker *c, const binding *self, view v) {
    const function_item *f = c->function;
    while (f != NULL && f->is_closure)
        f = f->outer;
    const type_expr *owner = f == NULL || f->impl == NULL ? NULL : f->impl->owner;
    if (owner == NULL)
        return v;
    v.is_of_reference = owner->is_shared || owner->is_place;
    v.references += v.is_of_reference && !self->is_owner;
    v.is_parameter = check_declares_body(f) != NULL;
    return v;
}

static view of_name(const checker *c, const expr *e) {
    const symbol *s = e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    const binding *b = s == NULL ? NULL : s->binding;
    if (b == NULL)
        return (view){0};
    if (b->view != NULL)
        return *b->view;
    view v = b->annotation != NULL ? of_type(c, b->annotation, 0) : (view){0};
    if ((b->is_lent || b->is_shared || b->is_to_value) && v.references == 0) {
        v.references = 1;
        v.is_mutable = b->is_lent;
    }
    return b->kind == BINDING_SELF ? of_self(c, b, v) : v;
}

static view of_items(const checker *c, view item) {
    return (view){.item = check_view_kept(c, item)};
}

/* ---- calls ---------------------------------------------------------------------------------------- */

/* The result of functions of the program with this name, where they agree. */
static view of_result(const checker *c, const char *name, bool method) {
    const type_expr *found = NULL;
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        if (f->span.file == c->tree->prelude || f->template != NULL || strcmp(f->name, name) != 0 ||
            f->has_self != method)
            continue;
        if (f->result_annotation == NULL || (found != NULL && found->is_shared != f->result_annotation->is_shared))
            return (view){0};
        found = f->result_annotation;
    }
    return found == NULL ? (view){0} : of_type(c, found, 0);
}

static view of_call(const checker *c, const expr *e) {
    const name_expr *callee = &e->call.callee->name;
    const struct_item *owner = callee->scope == NULL ? NULL : check_struct_named(c, callee->scope);
    const function_item *f = owner == NULL ? NULL : check_find_method(c, owner, callee->name);
    if (callee->scope == NULL && callee->name[0] >= 'A' && callee->name[0] <= 'Z') /* Some(&x) */
        return e->call.arg_count == 1 ? of_items(c, check_view(c, e->call.args[0])) : (view){0};
    if (callee->scope == NULL)
        return of_result(c, callee->name, false);
    return f == NULL || f->result_annotation == NULL ? (view){0} : of_type(c, f->result_annotation, 0);
}

static view without_one(view v) {
    v.references -= v.references > 0;
    return v;
}

/* The item of what |p| body makes of a value. */
static view of_mapped(const checker *c, const expr *f, view value) {
    const expr *body = f->kind == EXPR_CLOSURE ? f->closure.body : NULL;
    while (body != NULL && body->kind == EXPR_BLOCK && body->block->first == NULL && body->block->result != NULL)
        body = body->block->result;
    const bool same = body != NULL && body->kind == EXPR_NAME && f->closure.parameter_count == 1 &&
                      strcmp(body->name.name, f->closure.parameters[0]->name) == 0 && body->stars == 0;
    return same ? value : body == NULL ? (view){0} : check_view(c, body);
}

/* By what the library says that the result leads to. */
static view of_library(const checker *c, const expr *e, view receiver, view item) {
    const bool is_mutable = library_says(LIBRARY_exclusive, e->call.name);
    const uint32_t inside = receiver.item != NULL ? receiver.item->references : 0;
    switch (library_said_of(LIBRARY_lends, e->call.name)) {
    case SAID_ELEMENTS:
        return of_items(c, (view){.references = 1 + inside, .is_mutable = is_mutable});
    case SAID_MAYBE: /* of an iterator its item */
        return of_items(c, inside > 0 ? *receiver.item : (view){.references = 1, .is_mutable = is_mutable});
    case SAID_PIECES:
        return of_items(c, (view){.references = 1, .is_mutable = is_mutable});
    case SAID_PART:
        return (view){.references = 1, .is_mutable = is_mutable};
    case SAID_SAME:
    case SAID_TAKEN:
        return receiver;
    case SAID_INTO:
    case SAID_ONE:
    case SAID_EVERY:
        return of_items(c, item);
    case SAID_POPPED:
        return (view){.item = receiver.item};
    case SAID_OWNED:
        return of_items(c, without_one(item));
    case SAID_COUNTED:
        return of_items(c, (view){.parts = {NULL, check_view_kept(c, item)}});
    case SAID_PAIRS: {
        const view other = e->call.arg_count == 1 ? check_view_of_item(check_view(c, e->call.args[0])) : (view){0};
        return of_items(c, (view){.parts = {check_view_kept(c, item), check_view_kept(c, other)}});
    }
    case SAID_MAPPED:
        return of_items(c, e->call.arg_count == 1 ? of_mapped(c, e->call.args[0], item) : (view){0});
    case SAID_INNER:
        return receiver.item != NULL ? *receiver.item : (view){0};
    default:
        return library_said_of(LIBRARY_stage, e->call.name) == SAID_REDUCE ? of_items(c, item) : (view){0};
    }
}

static view of_method(const checker *c, const expr *e) {
    const view receiver = check_view(c, e->call.receiver), own = of_result(c, e->call.name, true);
    return own.references > 0 || own.item != NULL ? own : of_library(c, e, receiver, check_view_of_item(receiver));
}

view check_view_of_item(view of) {
    view v = of.item != NULL ? *of.item : (view){0};
    v.is_mutable = of.references > 0 ? of.is_mutable : v.is_mutable;
    v.references += of.references > 0;
    return v;
}

/* ---- parts ---------------------------------------------------------------------------------------- */

/* Its type, as far as it is known before it is checked; NULL: it is not. */
static const struct_item *struct_of(const checker *c, const expr *e);

static const struct_field *field_of(const checker *c, const expr *e) {
    const struct_item *s = struct_of(c, e->field.base);
    for (uint32_t i = 0; s != NULL && !s->is_enum && i < s->field_count; i++)
        if (e->kind == EXPR_FIELD ? strcmp(s->fields[i].name, e->field.name) == 0 : i == e->field.index)
            return &s->fields[i];
    return NULL;
}

static const struct_item *struct_of(const checker *c, const expr *e) {
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    const bool part = e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD;
    const struct_field *field = part && e->type == NULL ? field_of(c, e) : NULL;
    const type *t = e->type != NULL                   ? e->type
                    : s != NULL && s->binding != NULL ? s->binding->type
                    : field != NULL                   ? field->type
                                                      : NULL;
    t = t == NULL ? NULL : type_resolve(c->types, t);
    while (t != NULL && (type_is_box(t) || type_is_reference(t)))
        t = type_resolve(c->types, t->vec.element);
    return t != NULL && t->kind == TYPE_STRUCT ? t->structure : NULL;
}

static view of_field(const checker *c, const expr *e) {
    const struct_field *field = field_of(c, e);
    if (field != NULL)
        return field->annotation == NULL ? (view){0} : of_type(c, field->annotation, 0);
    const view v = e->kind == EXPR_FIELD ? (view){0} : check_view(c, e->field.base);
    const view *part = e->kind == EXPR_TUPLE_FIELD && e->field.index < 2 ? v.parts[e->field.index] : NULL;
    return part != NULL ? *part : (view){0};
}

static view of_block(const checker *c, const block *b) {
    const expr *e = b->result;
    for (const stmt *s = b->first; s != NULL && e != NULL && e->kind == EXPR_NAME; s = s->next)
        if (s->kind == STMT_LET && s->pattern->kind == PATTERN_NAME && s->value != NULL &&
            strcmp(s->pattern->binding->name, e->name.name) == 0)
            e = s->value;
    return e == NULL ? (view){0} : check_view(c, e);
}

view check_view(const checker *c, const expr *e) {
    view v = {0};
    switch (e->kind) {
    case EXPR_UNARY:
        if (e->unary.op == UNARY_REFERENCE) {
            v = check_view(c, e->unary.operand);
            v.references++;
            v.is_mutable = e->unary.is_mutable;
        }
        break;
    case EXPR_NAME:
        v = of_name(c, e);
        break;
    case EXPR_STRING:
        v.references = 1;
        break;
    case EXPR_METHOD:
        v = of_method(c, e);
        break;
    case EXPR_CALL:
        if (e->call.callee != NULL && e->call.callee->kind == EXPR_NAME)
            v = of_call(c, e);
        break;
    case EXPR_TUPLE:
        for (uint32_t i = 0; i < e->list.count && i < 2; i++)
            v.parts[i] = check_view_kept(c, check_view(c, e->list.items[i]));
        break;
    case EXPR_INDEX: /* of a list of references, one of them */
        v = check_view(c, e->index.base);
        v = v.item != NULL ? *v.item : (view){0};
        break;
    case EXPR_ARRAY:
        v = e->list.count > 0 ? of_items(c, check_view(c, e->list.items[0])) : v;
        break;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        v = of_field(c, e);
        break;
    case EXPR_BLOCK:
        v = of_block(c, e->block);
        break;
    case EXPR_IF:
        v = of_block(c, e->branch.then);
        break;
    case EXPR_MATCH:
        v = e->match.count > 0 ? check_view(c, e->match.arms[0].body) : v;
        break;
    case EXPR_TRY:
        v = check_view(c, e->attempt.operand);
        v = v.item != NULL ? *v.item : (view){0};
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < e->stars; i++)
        v = without_one(v);
    return v;
}

view check_view_of_let(const checker *c, const stmt *s) {
    const view value = s->value == NULL ? (view){0} : check_view(c, s->value);
    return s->annotation == NULL || check_mentions(s->annotation, "_") ? value : of_type(c, s->annotation, 0);
}

/* ---- names ---------------------------------------------------------------------------------------- */

void check_view_pattern(checker *c, pattern *p, view of) {
    if (p->is_behind)
        of = without_one(of);
    if ((p->kind == PATTERN_NAME || p->kind == PATTERN_BOUND) && p->binding != NULL && p->binding->view == NULL)
        p->binding->view = check_view_kept(c, of);
    for (uint32_t i = 0; i < p->part_count; i++) {
        const view *part = p->kind == PATTERN_TUPLE && i < 2 ? of.parts[i] : of.item;
        view inside = part != NULL && p->kind != PATTERN_BOUND ? *part : (view){0};
        inside.references += of.references; /* what is seen through a reference is one */
        check_view_pattern(c, p->parts[i], p->kind == PATTERN_BOUND || p->kind == PATTERN_OR ? of : inside);
    }
}

void check_views(const checker *c, expr *call) {
    if (!c->tree->has_reference_impls || call->call.views != NULL)
        return;
    call_views v = {.has_receiver = call->call.receiver != NULL};
    if (v.has_receiver)
        v.receiver = check_view(c, call->call.receiver);
    if (call->call.arg_count == 1)
        v.operand = check_view(c, call->call.args[0]);
    call->call.views = check_views_kept(c, v);
}

void check_views_of_type(const checker *c, expr *call) {
    const name_expr *callee = &call->call.callee->name;
    view of = {0};
    if (!c->tree->has_reference_impls || call->call.views != NULL)
        return;
    if (callee->of == NULL)
        add_parameter(c, callee->scope, &of);
    if (callee->of != NULL || of.is_parameter) {
        const bool is = callee->of != NULL ? callee->of->is_shared || callee->of->is_place : of.is_of_reference;
        call->call.views = check_views_kept(c, (call_views){.of_type = true, .of_reference = is});
    }
}

/* ---- which impl ----------------------------------------------------------------------------------- */

/* As Rust looks for the receiver: the type itself, `&` of it, `&mut` of it, then all of it of what it refers to. */
static uint32_t distance_of_receiver(const function_item *f, view of) {
    enum { STEP = 3, NOWHERE = 100 };
    const type_expr *owner = f->impl->owner;
    if (of.is_parameter)
        return of.is_of_reference == (owner->is_place || owner->is_shared) ? 0 : NOWHERE;
    const binding *self = f->parameters[0];
    const bool lent = !self->is_owner && (self->is_lent || self->is_shared),
               is_mutable = lent ? self->is_lent : owner->is_place;
    const uint32_t wanted = (owner->is_place || owner->is_shared) + lent;
    if (wanted < of.references)
        return STEP * (of.references - wanted);
    if (wanted > of.references) /* of a `&mut T` that is `& &mut T` */
        return wanted > of.references + 1 || (of.references > 0 && of.is_mutable != owner->is_place) ? NOWHERE
                                                                                                     : 1 + is_mutable;
    return wanted == 0 || is_mutable == of.is_mutable ? 0 : is_mutable ? NOWHERE : STEP + 1;
}

uint32_t check_distance(const function_item *f, const call_views *written) {
    if (written == NULL || f->impl == NULL)
        return 0;
    const bool is_reference = f->impl->owner->is_place || f->impl->owner->is_shared;
    uint32_t far = written->of_type ? is_reference != written->of_reference : 0;
    if (f->has_self && written->has_receiver)
        far = distance_of_receiver(f, written->receiver);
    if (f->parameter_count != 1u + f->has_self)
        return 2 * far;
    const bool items = check_is_bound_by(f, f->parameters[f->has_self], check_bounds_items);
    const view operand = items ? check_view_of_item(written->operand) : written->operand;
    return 2 * far + (check_takes_reference(f) != (operand.references > 0));
}
