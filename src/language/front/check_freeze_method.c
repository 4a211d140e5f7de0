/* check_freeze_method.c: the place that a method of the program yields, its body written out.
 *
 *     fn cell(&mut self, i: i64) -> &mut f64 { &mut self.rows[i].x }
 *     grid.cell(3)        let <argument 0> = 3;        grid.rows[<argument 0>].x
 *
 * Only a body of lets and one place is: it names the same place each time. Any other yields a reference
 * (check_refer.c).
 */
#include <string.h>

#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

/* A place was checked, and a value is wanted. */
void check_give_up(checker *c, expr **slot) {
    if ((*slot)->type != NULL)
        check_unbox(c, slot);
}

/* An argument of a call that is written out: a number or bool becomes what the parameter is. wanted may be NULL. */
static expr *check_hold_argument(block_builder *b, expr *e, const type *wanted) {
    const type *t = wanted == NULL ? NULL : type_resolve(b->c->types, wanted);
    if (t != NULL && (type_is_numeric(t) || t->kind == TYPE_BOOL)) {
        check_expr(b->c, &e, t);
        if (!check_coerce(b->c, &e, t, NULL))
            check_make_error(b->c, e); /* said once */
    }
    return check_hold(b, e, "argument");
}

/* A name goes from place to place: by `=`, or in a fold. */
static bool moves(const expr *e, void *context) {
    (void)context;
    return e->kind == EXPR_ASSIGN ||
           (e->kind == EXPR_METHOD && library_said_of(LIBRARY_stage, e->call.name) == SAID_FOLD);
}

/* The same place each time: no name of the body goes on to another one. */
static bool only_lets(const block *b) {
    const stmt *s = b->first;
    while (s != NULL && s->kind == STMT_LET && s->otherwise == NULL)
        s = s->next;
    return s == NULL && !block_any(b, moves, NULL);
}

/* The types of Self and of the type parameters in the body of f. */
static type_environment environment_of(checker *c, function_item *f, const expr *receiver) {
    type_environment own = check_environment_new(c, f);
    const type *t = receiver == NULL ? NULL : type_resolve(c->types, receiver->type);
    if (t != NULL && t->kind == TYPE_STRUCT) {
        check_impl_fits(c, f, t->structure, &own);
        own.self = t->structure;
    }
    return own;
}

/* Where the call yields a reference, it goes on from the place that was found: the block has looked that up already.
 * Where it does not, nothing of the block is used, and the call reads what its receiver yields. */
static void stay_receiver(checker *c, expr *e, expr *place, const function_item *f) {
    const bool refers = f != NULL && f->result_annotation != NULL && f->result_annotation->is_place;
    if (place != NULL && refers)
        e->call.receiver = place;
    else if (e->call.receiver->type != NULL)
        check_follow(c, &e->call.receiver);
    check_give_up(c, &e->call.receiver);
}

/* The argument, as the caller's names have it: a parameter may be called like one of them. */
static expr *hold_given(block_builder *b, const binding *parameter, expr *argument, const type_environment *own) {
    checker *c = b->c;
    const type *wanted = check_type_in(c, own, parameter->annotation);
    if (wanted != NULL && type_is(type_resolve(c->types, wanted), TYPE_TUPLE))
        check_expr(c, &argument, wanted);
    return check_hold_argument(b, argument, wanted);
}

/* let parameter = held; a `&mut T` is the place. */
static void give(block_builder *b, binding *parameter, expr *held) {
    checker *c = b->c;
    parameter->alias = parameter->annotation != NULL && parameter->annotation->is_place ? held : NULL;
    if (parameter->alias != NULL) {
        check_declare(c, parameter, held->type);
        return;
    }
    block_builder alone = build_block(c, b->span);
    build_let(&alone, parameter->name, parameter->is_mutable, held);
    binding *named = alone.last->pattern->binding;
    check_build_let(b, alone.last);
    named->is_read = named->is_written = true;
}

/* f(…) of a method `fn f(&mut self, …) -> &mut T { place }`. */
expr *check_freeze_method(block_builder *b, expr *e) {
    checker *c = b->c;
    if (e->type != NULL)
        return NULL;
    expr *place = check_freeze(b, &e->call.receiver);
    if (place != NULL)
        check_follow(c, &place);
    const type *t = place == NULL ? NULL : check_type_of(c, place);
    function_item *f = t == NULL || t->kind != TYPE_STRUCT ? NULL : check_method_named(c, t->structure, e->call.name);
    if (f == NULL && t != NULL && type_is_box(t) && t->vec.element->kind == TYPE_STRUCT) {
        check_unbox(c, &place);
        f = check_method_named(c, t->vec.element->structure, e->call.name);
    }
    bool getter = f != NULL && f->has_self && f->result_annotation != NULL && f->result_annotation->is_place &&
                  f->body != NULL && !f->is_written_out && f->parameter_count == e->call.arg_count + 1;
    if (!getter) {
        stay_receiver(c, e, place, f);
        return NULL;
    }
    const function_item *written = f->template != NULL ? f->template : f;
    const expr *yields = written->unchecked == NULL ? NULL : written->unchecked->result;
    if (yields != NULL && yields->kind == EXPR_NAME && strcmp(yields->name.name, "self") == 0) {
        expr *call = build_method(c, e->span, check_alias_copy(c, place), e->call.name, e->call.args,
                                  e->call.arg_count);
        check_keep_reference(call);
        check_expr(c, &call, check_scalar(c, TYPE_VOID)); /* the same place again */
        build_stmt(b, call);
        return place;
    }
    bool simple = yields != NULL && only_lets(written->unchecked) &&
                  (yields->kind == EXPR_UNARY || yields->kind == EXPR_NAME || yields->kind == EXPR_METHOD ||
                   yields->kind == EXPR_FIELD);
    if (!simple) {
        stay_receiver(c, e, place, f);
        return NULL;
    }
    function_item whole = *written;
    whole.body = written->unchecked;
    function_item *copy = check_copy_function(c, &whole);
    type_environment own = environment_of(c, copy, place);
    const type_environment *outer = c->environment;
    expr **held = CHECK_ARRAY(c, expr *, e->call.arg_count + 1);
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        held[i] = hold_given(b, copy->parameters[i + 1], e->call.args[i], &own);
    uint32_t mark = check_scope_open(c);
    copy->parameters[0]->alias = place;
    check_declare(c, copy->parameters[0], check_type_of(c, place));
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        give(b, copy->parameters[i + 1], held[i]);
    c->environment = &own;
    f->is_written_out = true;
    for (stmt *s = copy->body->first, *next; s != NULL; s = next) {
        next = s->next;
        s->next = NULL;
        check_build_let(b, s);
    }
    place = check_freeze(b, &copy->body->result);
    f->is_written_out = false;
    c->environment = outer;
    check_scope_close(c, mark);
    return place;
}
