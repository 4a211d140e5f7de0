/* check_capture.c: closures that hold references to what they write.
 *
 *     let mut add = |x| log.push(x);        add: { log: &mut Vec }, where it is handed on or called by another closure
 *     let mut many = |n| { add(n); };
 *     apply(&mut add)               ─►      apply(|x| add(x))
 *
 * A closure that only its own function calls copies in and out what it writes (check_closure.c), and so does one that
 * is lent to a call (check_lend.c). Everywhere else that would be a copy of its own, so it holds references: the
 * variables lie in cells, and a call of the closure writes them. A `move` closure holds what it captured; where that is
 * a reference, it writes to the place behind it as any other closure does.
 */
#include <string.h>

#include "language/types/check_capture.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_tree_made.h"

bool check_is_own(const function_item *f, const binding *b) {
    return b->id < f->binding_count && f->bindings[b->id] == b;
}

static uint32_t capture(checker *c, struct_item *s, binding *b) {
    for (uint32_t i = 0; i < s->field_count; i++)
        if (s->fields[i].captured == b)
            return i;
    struct_field field = {.name = b->name, .span = b->span, .type = b->type, .captured = b};
    field.is_lent = (b->kind == BINDING_SELF && b->is_lent) ||
                    (b->kind == BINDING_PARAMETER && b->annotation != NULL && b->annotation->is_place);
    uint32_t capacity = s->field_count;
    CHECK_PUSH(c, s->fields, s->field_count, capacity, field);
    return s->field_count - 1;
}

bool check_captured_name(checker *c, expr **slot) {
    expr *e = *slot;
    binding *b = e->name.binding;
    function_item *f = c->function;
    if (f == NULL || !f->is_closure || check_is_own(f, b))
        return false;
    b->is_read = true;
    uint32_t index = capture(c, f->owner, b);
    expr *base = check_new_name(c, e->span, f->parameters[0]->name), *field = build_field(c, e->span, base, b->name);
    base->name.binding = f->parameters[0];
    base->type = f->owner->type;
    check_use_binding(c, f->parameters[0]);
    field->field.index = index;
    field->type = b->type;
    *slot = field;
    return true;
}

void check_captured_by_alias(checker *c, const expr *place) {
    const expr *part = place;
    while (place->kind == EXPR_FIELD || place->kind == EXPR_TUPLE_FIELD || place->kind == EXPR_INDEX) {
        part = place;
        place = place->kind == EXPR_INDEX ? place->index.base : place->field.base;
    }
    const function_item *f = c->function;
    if (f != NULL && f->is_closure && place->kind == EXPR_NAME && place->name.binding == f->parameters[0] &&
        part->kind == EXPR_FIELD)
        f->owner->fields[part->field.index].is_lent = true;
}

bool check_writes_through(const struct_item *s, const struct_field *field) {
    return field->is_written && (!s->closure->is_move || field->is_lent);
}

void check_refer_field(checker *c, function_item *closure, struct_field *field) {
    if (field->by_reference)
        return;
    function_item *around = closure->outer;
    field->is_written = field->captured->is_written = field->by_reference = true;
    field->type = type_reference(c->types, type_resolve(c->types, field->type), false);
    if (check_is_own(around, field->captured)) {
        field->captured->in_cell = true;
        around->writes_self |= field->captured->kind == BINDING_SELF;
        return;
    }
    struct_item *holder = around->owner; /* whose body may be open: it captures the variable by this */
    const uint32_t outer = capture(c, holder, field->captured);
    holder->fields[outer].is_lent |= field->is_lent;
    if (around->is_move && !field->is_lent)
        around->parameters[0]->in_cell = true;
    else
        check_refer_field(c, around, &holder->fields[outer]);
}

bool check_refer_captures(checker *c, const struct_item *s) {
    if (!s->closure->is_closure || !s->closure->body_is_checked)
        return false;
    for (uint32_t i = 0; i < s->field_count; i++)
        if (check_writes_through(s, &s->fields[i]))
            check_refer_field(c, s->closure, &s->fields[i]);
    return !s->closure->is_move;
}

/* Whether the closure is called within another one of the function that its variables belong to. */
bool check_called_inside(const checker *c, const struct_item *s) {
    const function_item *around = c->function;
    while (around != s->closure->outer && around->is_closure)
        around = around->outer;
    return around != c->function && around == s->closure->outer;
}

static bool takes_reference(const closure_signature *s) {
    for (uint32_t i = 0; i < s->count; i++)
        if (type_is_reference(s->parameters[i]))
            return true;
    return false;
}

/* A variable that holds a closure whose parameters are these references already is handed on as it is: a function that
 * passes it to itself has one instance. */
static bool takes_them_already(const checker *c, const expr *name, const closure_signature *s) {
    const symbol *found = name->name.scope == NULL ? check_find(c, name->name.name) : NULL;
    const type *t = found == NULL || found->binding == NULL || found->binding->type == NULL
                        ? NULL
                        : type_resolve(c->types, found->binding->type);
    const function_item *f = t != NULL && t->kind == TYPE_STRUCT ? t->structure->closure : NULL;
    if (f == NULL || !f->is_closure || !f->body_is_checked || f->parameter_count != s->count + f->has_self)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        if (type_resolve(c->types, f->parameters[i + f->has_self]->type) != type_resolve(c->types, s->parameters[i]))
            return false;
    return true;
}

/* &mut f, where a function is wanted: |<0>, <1>| f(<0>, <1>), which writes what f holds. So is f alone where references
 * go to it, as `fn f(x: &mut T)` gives back what x became. */
void check_call_through(checker *c, expr **slot, const closure_signature *signature) {
    const uint32_t count = signature->count;
    expr *e = *slot, *f = e;
    while (f->kind == EXPR_UNARY && f->unary.op == UNARY_REFERENCE && f->type == NULL)
        f = f->unary.operand;
    bool alone = f == e && e->kind == EXPR_NAME && takes_reference(signature) && !takes_them_already(c, e, signature);
    if ((f == e && !alone) || f->type != NULL)
        return;
    if (!alone && (f->kind == EXPR_CLOSURE || !e->unary.is_mutable)) {
        *slot = f;
        return;
    }
    expr *call = check_new(c, EXPR_CALL, e->span, NULL);
    call->call.callee = f;
    call->call.name_span = f->span;
    call->call.args = CHECK_ARRAY(c, expr *, count + 1);
    call->call.arg_count = count;
    *slot = build_closure(c, e->span, count, call->call.args);
    (*slot)->closure.body = call;
}

bool check_is_lent(const type *t) {
    bool writes = false;
    for (uint32_t i = 0; t->kind == TYPE_STRUCT && t->structure->closure != NULL && i < t->structure->field_count; i++)
        writes |= check_writes_through(t->structure, &t->structure->fields[i]);
    return writes;
}

/* struct S<F: Fn(A) -> B> { f: F }: the function type that the field's value has to have; NULL: none. */
type_expr *check_field_function(const struct_item *s, const struct_field *field) {
    const type_expr *t = field->annotation;
    for (uint32_t i = 0; t != NULL && t->name != NULL && i < s->generics.count; i++) {
        const type_parameter *p = &s->generics.items[i];
        for (uint32_t b = 0; strcmp(p->name, t->name) == 0 && b < p->bound_count; b++)
            if (p->bounds[b]->kind == TYPE_EXPR_FUNCTION)
                return p->bounds[b];
    }
    return NULL;
}
