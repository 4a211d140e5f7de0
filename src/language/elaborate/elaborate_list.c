/* elaborate_list.c: [a, b] ─► { let mut <list> = Vec::new(); <list>.push(a); <list>.push(b); <list> }. Items are
 * evaluated in their order, and those that are there already go when one of them fails.
 */
#include "language/elaborate/elaboration.h"

static binding *new_list(elaboration *el, source_span span, const type *t) {
    masu__arena *arena = el->tree->arena;
    function_item *f = el->function;
    binding *b = MASU_ARENA_NEW(arena, binding);
    if (!b) {
        el->out_of_memory = true;
        return NULL;
    }
    *b = (binding){.name = "<list>",
                   .span = span,
                   .kind = BINDING_LET,
                   .type = t,
                   .id = f->binding_count,
                   .is_mutable = true,
                   .is_read = true,
                   .is_written = true};
    MASU_ARENA_PUSH(arena, f->bindings, f->binding_count, f->binding_capacity, b, el->out_of_memory = true);
    return b;
}

static expr *name_of(elaboration *el, binding *list, source_span span) {
    expr *e = elaborate_new(el, EXPR_NAME, span, list->type);
    if (e) {
        e->name.name = list->name;
        e->name.binding = list;
    }
    return e;
}

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

static void push(elaboration *el, binding *list, expr *item, stmt *s) {
    expr *call = vec_call(el, CALL_VEC_PUSH, item->span, el->types->scalars[TYPE_VOID]);
    expr *receiver = name_of(el, list, item->span);
    if (!call || !receiver)
        return;
    call->call.operands[0] = receiver;
    call->call.operands[1] = item;
    call->call.operand_count = 2;
    call->call.writes_receiver = true;
    *s = (stmt){.kind = STMT_EXPR, .span = item->span, .value = call, .is_made = true};
}

void elaborate_list(elaboration *el, expr *e) {
    masu__arena *arena = el->tree->arena;
    const uint32_t count = e->list.count;
    binding *list = new_list(el, e->span, e->type);
    block *b = MASU_ARENA_NEW(arena, block);
    stmt *steps = MASU_ARENA_ARRAY(arena, stmt, count + 1);
    pattern *p = MASU_ARENA_NEW(arena, pattern);
    el->out_of_memory |= !b || !steps || !p;
    if (el->out_of_memory)
        return;
    *p = (pattern){.span = e->span, .kind = PATTERN_NAME, .binding = list, .type = e->type};
    steps[0] = (stmt){.kind = STMT_LET, .span = e->span, .pattern = p, .is_made = true};
    steps[0].value = vec_call(el, CALL_VEC_NEW, e->span, e->type);
    for (uint32_t i = 0; i < count && !el->out_of_memory; i++) {
        steps[i].next = &steps[i + 1];
        push(el, list, e->list.items[i], &steps[i + 1]);
    }
    *b = (block){.span = e->span, .first = steps, .result = name_of(el, list, e->span), .type = e->type};
    if (!el->out_of_memory)
        *e = (expr){.kind = EXPR_BLOCK, .span = e->span, .type = e->type, .height = e->height, .block = b};
}
