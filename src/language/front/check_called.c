/* check_called.c: a call whose function is known, and whose arguments are checked: what it yields, what it writes to,
 * and the place that it is lent.
 */
#include "language/front/check_call.h"
#include "language/front/check_closure.h"
#include "language/front/check_place.h"
#include "language/front/check_walk.h"
#include "language/types/check_capture.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_operator_types.h"
#include "language/types/check_written.h"

/* A `dyn FnMut` that a closure captured and calls: whether that writes is known when all of them are. */
static bool may_be_state(checker *c, const expr *e) {
    const type *t = type_resolve(c->types, e->type);
    const struct_field *field = e->kind == EXPR_FIELD ? &c->function->owner->fields[e->field.index] : NULL;
    return field != NULL && field->captured != NULL && check_dyn_signature(t) != NULL &&
           (field->captured->is_mutable || check_comes_back(field->captured));
}

static void note_capture(checker *c, expr *receiver, function_item *f, source_span span) {
    const binding *root = check_root(receiver);
    if (root != NULL && c->function->is_closure && root == c->function->parameters[0] &&
        (check_may_write_self(c, f) || may_be_state(c, receiver)))
        check_captured_write(c, receiver, span);
}

static void note_method_use(checker *c, expr *e) {
    binding *root = check_root(e->call.operands[0]);
    function_item *f = e->call.function;
    note_capture(c, e->call.operands[0], f, e->span);
    if (root != NULL && f->parameters[0]->is_lent)
        root->asks_for_mut = true;
    bool captured = c->nest->comprehension != NULL && root != NULL && root->id < c->nest->comprehension->first_binding;
    method_use use = {.caller = c->function, .call = e, .root = root, .captured = captured};
    CHECK_PUSH(c, c->writes->uses, c->writes->use_count, c->writes->use_capacity, use);
}

/* self is a reference: to the receiver's place, or to a value that nothing else holds. */
static void lend_receiver(checker *c, expr *e, const function_item *f) {
    if (!f->has_self || e->call.operand_count == 0 || !f->parameters[0]->by_reference)
        return;
    expr **self = &e->call.operands[0];
    if (type_is_reference(type_resolve(c->types, (*self)->type)))
        return;
    if (!check_is_place(*self)) {
        char *name = check_printf(c, "<value %u>", c->text_count++);
        check_call_before(c, e, name, *self);
        *self = check_new_name(c, e->span, name);
        check_expr(c, self, NULL);
    }
    const type *wanted = f->parameters[0]->type; /* of a generic function: not known yet */
    if (wanted == NULL) {
        const type *own = type_resolve(c->types, (*self)->type);
        bool list = own->kind == TYPE_VEC && f->parameters[0]->annotation == NULL;
        wanted = type_reference(c->types, list ? own->vec.element : own, list);
    }
    *self = check_reference_as(c, *self, (*self)->span, wanted);
}

/* The receiver, when there is one, is the first operand. */
void check_finish_call(checker *c, expr *e, function_item *f) {
    uint32_t with_receiver = e->call.receiver != NULL;
    e->kind = EXPR_CALL;
    e->call.kind = CALL_FUNCTION;
    e->call.function = f;
    e->call.operands = check_join_list(c, e->call.receiver, e->call.args, e->call.arg_count);
    e->call.operand_count = e->call.arg_count + with_receiver;
    if (e->call.pending == NULL)
        e->type = check_result_of(c, f, e);
    lend_receiver(c, e, f);
    check_note_writes_back(c, e, f, NULL);
    if (f->has_self && e->call.operand_count > 0)
        note_method_use(c, e);
}
