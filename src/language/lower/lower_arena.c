/* lower_arena.c: what a block asks the arena for goes back where the block ends.
 *
 *     { let p = Arena::alloc(96); … }       %o = tl_arena_get_offset      where the block begins
 *                                           tl_arena_return %o            falling out, return, break, continue
 *
 * The bytes belong to the innermost block around the call. A call in the result of a block is the block's around it, as
 * the offset leaves with the result; the result of a function's body is the function's, whose end is the last one.
 */
#include "language/lower/lowering.h"

/* Some call in e, but not in the statements of a block in it, hands out bytes. */
static void find_scoped(expr *e, void *found) {
    switch (e->kind) {
    case EXPR_CLOSURE:
        return;
    case EXPR_BLOCK:
        if (e->block->result)
            find_scoped(e->block->result, found);
        return;
    case EXPR_IF:
        find_scoped(e->branch.condition, found);
        if (e->branch.then->result)
            find_scoped(e->branch.then->result, found);
        if (e->branch.otherwise)
            find_scoped(e->branch.otherwise, found);
        return;
    case EXPR_FOR:
    case EXPR_WHILE:
    case EXPR_LOOP:
        if (e->loop->iterable)
            find_scoped(e->loop->iterable, found);
        if (e->loop->condition)
            find_scoped(e->loop->condition, found);
        return;
    case EXPR_CALL:
        *(bool *)found |= e->call.kind == CALL_ABI && (tl_abi_functions[e->call.abi].effects & SCOPED) != 0;
        break;
    default:
        break;
    }
    expr_each_child(e, find_scoped, found);
}

void lower_arena_open(lower_fn *fn, const block *b) {
    bool found = false;
    for (const stmt *s = b->first; s && !found; s = s->next)
        if (s->value)
            find_scoped(s->value, &found);
    if (b == fn->item->body && b->result)
        find_scoped(b->result, &found);
    ir_value offset = found ? lower_abi(fn, TL_FN_tl_arena_get_offset, NULL, 0, b->span) : 0;
    if (!offset)
        return;
    ir_variable kept = ir_variable_new(fn->b, IR_I64, "<arena>", b->span);
    ir_write_last(fn->b, kept, offset);
    lower_push_kept(fn, (kept_leaf){.variable = kept, .is_offset = true});
}

void lower_arena_close(lower_fn *fn, ir_variable offset, source_span span) {
    ir_value from = ir_read(fn->b, offset, span);
    lower_abi(fn, TL_FN_tl_arena_return, &from, 1, span);
}
