/* elaborate_list.c: lists as what fills them. Items are evaluated in their order, and those that are there already go
 * when one of them fails.
 *
 *     [a, b], vec![a, b]    { let mut <list> = Vec::new(); <list>.push(a); <list>.push(b); <list> }
 *     [v; n], vec![v; n]    { let <value> = v; let <count> = n; let mut <list> = Vec::new();
 *                             if <count> > 0 { <list>.push(<value>); tl_vec_fill(<list>, <count>) } <list> }
 */
#include "language/elaborate/elaboration.h"

/* With room for two operands. */
static expr *vec_call(elaboration *el, call_kind kind, source_span span, const type *t) {
    expr *e = elaborate_new(el, EXPR_CALL, span, t), **operands = MASU_ARENA_ARRAY(el->tree->arena, expr *, 2);
    if (!e || !operands) {
        el->out_of_memory = true;
        return NULL;
    }
    e->call = (call_expr){.kind = kind, .name_span = span, .operands = operands};
    return e;
}

static void step(stmt *s, expr *value, source_span span) {
    *s = (stmt){.kind = STMT_EXPR, .span = span, .value = value, .is_made = true};
}

static void push(elaboration *el, const stmt *list, expr *item, stmt *s) {
    if (el->out_of_memory)
        return;
    expr *call = vec_call(el, CALL_VEC_PUSH, item->span, el->types->scalars[TYPE_VOID]);
    expr *receiver = elaborate_name(el, item->span, list);
    if (!call || !receiver)
        return;
    call->call.operands[0] = receiver;
    call->call.operands[1] = item;
    call->call.operand_count = 2;
    call->call.writes_receiver = true;
    step(s, call, item->span);
}

void elaborate_list(elaboration *el, expr *e) {
    const uint32_t count = e->list.count;
    stmt *steps = MASU_ARENA_ARRAY(el->tree->arena, stmt, count + 1);
    el->out_of_memory |= !steps;
    if (el->out_of_memory)
        return;
    expr *list = elaborate_let(el, steps, "<list>", true, vec_call(el, CALL_VEC_NEW, e->span, e->type));
    for (uint32_t i = 0; i < count; i++)
        push(el, steps, e->list.items[i], &steps[i + 1]);
    elaborate_become_block(el, e, steps, count + 1, list);
}

/* if <count> > 0 { <list>.push(<value>); tl_vec_fill(<list>, <count>) } */
static expr *fill(elaboration *el, source_span span, const stmt *value, const stmt *count, const stmt *list) {
    const type *nothing = el->types->scalars[TYPE_VOID];
    stmt *steps = MASU_ARENA_ARRAY(el->tree->arena, stmt, 2);
    expr *operands[2] = {elaborate_name(el, span, list), elaborate_name(el, span, count)};
    expr *filled = elaborate_abi(el, TL_FN_tl_vec_fill, span, operands, 2, nothing);
    el->out_of_memory |= !steps;
    push(el, list, elaborate_name(el, span, value), steps);
    expr *more = elaborate_binary(el, BINARY_GT, elaborate_name(el, span, count),
                                  elaborate_new(el, EXPR_INT, span, count->value->type), el->types->scalars[TYPE_BOOL]);
    if (el->out_of_memory)
        return NULL;
    filled->call.writes_receiver = true;
    step(&steps[1], filled, span);
    steps[0].next = &steps[1];
    return elaborate_if(el, more, elaborate_block(el, span, steps, NULL, nothing), NULL);
}

void elaborate_repeat(elaboration *el, expr *e) {
    enum { VALUE, COUNT, LIST, FILL, STEPS };
    stmt *steps = MASU_ARENA_ARRAY(el->tree->arena, stmt, STEPS);
    el->out_of_memory |= !steps;
    if (el->out_of_memory)
        return;
    elaborate_let(el, &steps[VALUE], "<value>", false, e->repeat.value);
    elaborate_let(el, &steps[COUNT], "<count>", false, e->repeat.count);
    expr *list = elaborate_let(el, &steps[LIST], "<list>", true, vec_call(el, CALL_VEC_NEW, e->span, e->type));
    expr *branch = el->out_of_memory ? NULL : fill(el, e->span, &steps[VALUE], &steps[COUNT], &steps[LIST]);
    if (branch)
        step(&steps[FILL], branch, e->span);
    elaborate_become_block(el, e, steps, STEPS, list);
}
