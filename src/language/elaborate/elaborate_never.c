/* elaborate_never.c: f() where f is `-> !`: { f(); panic(…) }, which is what a branch that never arrives looks like. */
#include "language/elaborate/elaboration.h"

void elaborate_never(elaboration *el, expr *e) {
    static const char came_back[] = "a function that is `-> !` came back";
    if (e->call.kind != CALL_FUNCTION || !e->call.function->never_returns || e->type->kind != TYPE_NEVER)
        return;
    const type *never = e->type;
    expr *call = elaborate_new(el, EXPR_CALL, e->span, NULL);
    expr *text = elaborate_new(el, EXPR_STRING, e->span, el->types->scalars[TYPE_STRING]);
    stmt *steps = MASU_ARENA_ARRAY(el->tree->arena, stmt, 2);
    el->out_of_memory |= !steps;
    if (el->out_of_memory)
        return;
    *call = *e;
    call->type = e->call.function->result;
    text->string.data = came_back;
    text->string.length = sizeof came_back - 1;
    steps[0] = (stmt){.kind = STMT_EXPR, .span = e->span, .value = call};
    steps[1] = (stmt){.kind = STMT_EXPR, .span = e->span};
    steps[1].value = elaborate_abi(el, TL_FN_tl_panic, e->span, &text, 1, never);
    elaborate_become_block(el, e, steps, 2, NULL);
}
