/* check_lend.c: what is lent to a call: closures that write to variables of the caller.
 *
 *     apply(|| n += 3)   ─►   { let mut <lent> = |…| …; <lent>.n = n; let <result> = apply(<lent>);
 *                               n = <lent>.n; <result> }
 *
 * The parameter that receives one comes back like one of type `&mut T` does.
 */
#include "language/front/check_closure.h"
#include "language/front/check_place.h"
#include "language/front/check_walk.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

/* ---- what has to be done around a call ---------------------------------------------------------- */

void check_call_before(checker *c, expr *call, const char *name, expr *value) {
    block_builder b = build_block(c, call->span);
    build_let(&b, name, true, value);
    check_let(c, b.last);
    build_append(&call->call.before, b.last);
}

static void call_first(checker *c, expr *call, expr *statement) {
    block_builder b = build_block(c, call->span);
    check_expr(c, &statement, check_scalar(c, TYPE_VOID));
    build_stmt(&b, statement);
    build_append(&call->call.before, b.last);
}

/* { before; let <result> = f(…); after; <result> } */
static void wrap_lent(checker *c, expr **slot) {
    expr *e = *slot;
    if (e->kind != EXPR_CALL || e->call.before == NULL)
        return;
    block_builder b = build_block(c, e->span);
    bool value = e->type->kind != TYPE_VOID && e->type->kind != TYPE_NEVER;
    char *name = check_printf(c, "<result %u>", c->text_count++);
    b.block->first = b.last = e->call.before;
    while (b.last->next != NULL)
        b.last = b.last->next;
    e->call.before = NULL;
    if (value) {
        build_let(&b, name, false, e);
        check_let(c, b.last);
    } else {
        build_stmt(&b, e);
    }
    for (stmt *s = e->call.after; s != NULL; s = s->next) {
        check_expr(c, &s->value, check_scalar(c, TYPE_VOID));
        b.last->next = s;
        b.last = s;
    }
    expr *result = NULL;
    if (value) {
        result = check_new_name(c, e->span, name);
        check_expr(c, &result, e->type);
    }
    *slot = build_finish(&b, result);
    b.block->type = (*slot)->type = e->type;
}

void check_call_wrap(checker *c, expr **slot) {
    expr *e = *slot;
    if (e->kind == EXPR_CALL && e->call.kind == CALL_FUNCTION && e->call.function != NULL &&
        e->call.function->never_returns)
        e->type = check_scalar(c, TYPE_NEVER);
    wrap_lent(c, slot);
}

/* f(list.as_mut().unwrap()) of a `&mut T`: the place is found before the call. */
void check_lend_place(checker *c, expr *call, expr **slot, const type *wanted) {
    expr **inner = check_behind(slot);
    bool part = (*inner)->kind == EXPR_INDEX && (*inner)->type == NULL && (*inner)->index.count == 1 &&
                (*inner)->index.indices[0]->kind == EXPR_RANGE;
    if (check_may_lead(c, *slot, *inner)) {
        block_builder led = build_block(c, call->span);
        expr *place = check_freeze_to(&led, inner, wanted);
        if (place != NULL)
            *slot = place;
        if (led.block->first != NULL)
            build_append(&call->call.before, led.block->first);
        return;
    }
    const bool method = (*inner)->kind == EXPR_METHOD && check_refers(c, *inner);
    if ((*inner)->type != NULL || (!part && !method && !check_chooses(*inner)))
        return;
    block_builder b = build_block(c, call->span);
    expr *place = check_freeze(&b, inner);
    if (place != NULL)
        *slot = place;
    if (b.block->first != NULL)
        build_append(&call->call.before, b.block->first);
}

/* ---- closures ---- */

/* The variable as the function that is being checked sees it. */
static expr *captured_place(checker *c, source_span span, binding *b) {
    expr *name = check_new_name(c, span, b->name);
    name->name.binding = b;
    if (check_is_own(c->function, b)) {
        name->type = b->type;
        check_use_binding(c, b);
    } else {
        check_captured_name(c, &name);
    }
    return name;
}

/* Writes before the closure happen before it takes its captures: self.a.take().map(|x| self.a = …). */
static void hold_before(checker *c, expr *call, expr **slot) {
    expr *e = *slot;
    bool runs = e != NULL && e->type != NULL &&
                (e->kind == EXPR_CALL || e->kind == EXPR_BLOCK || e->kind == EXPR_LIST || e->kind == EXPR_REPEAT);
    if (!runs || type_is_silent(e->type) || type_is(type_resolve(c->types, e->type), TYPE_VOID))
        return;
    const type *t = e->type;
    char *name = check_printf(c, "<held %u>", c->text_count++);
    check_call_before(c, call, name, e);
    *slot = check_new_name(c, e->span, name);
    check_expr(c, slot, t);
}

static void hold_earlier(checker *c, expr *call, expr *const *slot) {
    hold_before(c, call, &call->call.receiver);
    for (uint32_t i = 0; i < call->call.arg_count && &call->call.args[i] != slot; i++)
        hold_before(c, call, &call->call.args[i]);
}

/* A closure that writes to variables of this function is lent to the call:
 * { let mut <f> = closure; <f>.n = n; call(<f>); n = <f>.n } */
bool check_lend_closure(checker *c, expr *call, expr **slot, const struct_item *s) {
    bool writes = false;
    for (uint32_t i = 0; i < s->field_count; i++)
        writes |= check_writes_through(s, &s->fields[i]) && !s->fields[i].by_reference;
    if (call == NULL || !writes || s->closure->outer != c->function)
        return false;
    hold_earlier(c, call, slot);
    source_span span = (*slot)->span;
    char *name = check_printf(c, "<lent %u>", c->text_count++);
    check_call_before(c, call, name, *slot);
    for (uint32_t i = 0; i < s->field_count; i++) {
        const struct_field *field = &s->fields[i];
        if (!check_writes_through(s, field) || field->by_reference)
            continue;
        expr *closure = check_new_name(c, span, name), *part = check_new_name(c, span, field->name);
        call_first(c, call,
                   BUILD_QUOTE(c, span, "$0.$1 = $2", closure, part, captured_place(c, span, field->captured)));
        closure = check_new_name(c, span, name);
        check_call_after(c, call,
                         BUILD_QUOTE(c, span, "$2 = $0.$1", closure, part, captured_place(c, span, field->captured)));
    }
    *slot = check_new_name(c, span, name);
    check_expr(c, slot, NULL);
    return true;
}
