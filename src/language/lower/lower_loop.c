/* lower_loop.c: loops and the ways out of them.
 *
 *     enter ─► test ─► body ─► next ─┐        grads: a loop in which a backward may run
 *               │▲                   │          before test, once   tl_grad_loop_enter
 *               ▼└───────────────────┘          at next             tl_clear_grads
 *             done ─► after ◄── break           at done             tl_grad_loop_exit
 *
 * no_grad { … } is not a loop, but what it changes is put back in the same way, by every way out of it.
 *
 * Every way out of an iteration says so: falling off its end, continue, break, return; the runtime gives back what
 * was consumed where the outermost one ends. Every way out of the loop leaves it, exactly once.
 */
#include "language/lower/lowering.h"

/* ---- gradients --------------------------------------------------------------------------------------------------- */

static void clear_grads(lower_fn *fn, const lower_loop *loop, source_span span) {
    if (loop->grads)
        lower_abi(fn, TL_FN_tl_clear_grads, NULL, 0, span);
}

static void exit_grads(lower_fn *fn, const lower_loop *loop, source_span span) {
    if (loop->grads)
        lower_abi(fn, TL_FN_tl_grad_loop_exit, NULL, 0, span);
}

static void open_loop(lower_fn *fn, lower_loop *loop, const expr *e, bool grads) {
    *loop = (lower_loop){.outer = fn->loop,
                         .e = e,
                         .next = lower_block_new(fn),
                         .after = lower_block_new(fn),
                         .kept_mark = fn->kept_count,
                         .grads = grads};
    fn->loop = loop;
    if (grads)
        lower_abi(fn, TL_FN_tl_grad_loop_enter, NULL, 0, e->span);
}

static void close_loop(lower_fn *fn, const lower_loop *loop) {
    fn->loop = loop->outer;
}

/* Out of the loops inside `target` (NULL: out of all), each with what its iteration still has to do. */
static void leave_loops(lower_fn *fn, const lower_loop *target, source_span span) {
    for (const lower_loop *loop = fn->loop; loop != target; loop = loop->outer) {
        clear_grads(fn, loop, span);
        exit_grads(fn, loop, span);
        if (loop->recorded)
            lower_abi(fn, TL_FN_tl_grad_recording, &loop->recorded, 1, span);
    }
}

/* ---- no_grad ----------------------------------------------------------------------------------------------------- */

/* Every way out of the block, also a jump out of a loop around it, makes operations record again if they did before. */
void lower_unrecorded(lower_fn *fn, const expr *e, ir_value *out) {
    if (!lower_open(fn))
        return;
    ir_value off = lower_int(fn, IR_BOOL, 0, e->span);
    lower_loop left = {.outer = fn->loop, .e = e, .kept_mark = fn->kept_count};
    left.recorded = lower_abi(fn, TL_FN_tl_grad_recording, &off, 1, e->span);
    fn->loop = &left;
    lower_block_as(fn, e->block, e->type, out);
    fn->loop = left.outer;
    if (lower_open(fn))
        lower_abi(fn, TL_FN_tl_grad_recording, &left.recorded, 1, e->span);
}

/* ---- while, loop ------------------------------------------------------------------------------------------------- */

void lower_while(lower_fn *fn, const expr *e) {
    lower_loop loop;
    bool condition_runs = lower_runs_backward(fn->l, e->loop->condition);
    open_loop(fn, &loop, e, condition_runs || lower_block_runs_backward(fn->l, e->loop->body));
    ir_block *test = lower_block_new(fn), *body = lower_block_new(fn), *done = lower_block_new(fn);
    lower_jump(fn, test, e->span);
    ir_builder_set_block(fn->b, test);
    lower_condition(fn, e->loop->condition, body, done);
    lower_enter_block(fn, body);
    ir_value nothing;
    lower_block_as(fn, e->loop->body, e->type, &nothing);
    lower_end_temporaries(fn, loop.kept_mark, fn->kept_count, e->span);
    lower_jump(fn, loop.next, e->span);
    lower_enter_block(fn, loop.next);
    clear_grads(fn, &loop, e->span);
    lower_jump(fn, test, e->span);
    ir_seal(fn->b, test);
    lower_enter_block(fn, done);
    if (condition_runs) /* the last evaluation of the condition began an iteration of its own */
        clear_grads(fn, &loop, e->span);
    exit_grads(fn, &loop, e->span);
    lower_jump(fn, loop.after, e->span);
    close_loop(fn, &loop);
    lower_enter_block(fn, loop.after);
}

void lower_infinite_loop(lower_fn *fn, const expr *e, ir_value *out) {
    lower_loop loop;
    open_loop(fn, &loop, e, lower_block_runs_backward(fn->l, e->loop->body));
    loop.result = lower_variables(fn, e->type, NULL, e->span);
    loop.result_count = lower_leaf_count(fn->l, e->type);
    ir_block *body = lower_block_new(fn);
    lower_jump(fn, body, e->span);
    ir_builder_set_block(fn->b, body);
    ir_value *dropped = lower_room(fn, lower_leaf_count(fn->l, e->loop->body->type));
    if (dropped)
        lower_block_as(fn, e->loop->body, e->loop->body->type, dropped);
    lower_end_temporaries(fn, loop.kept_mark, fn->kept_count, e->span);
    lower_jump(fn, loop.next, e->span);
    lower_enter_block(fn, loop.next);
    clear_grads(fn, &loop, e->span);
    lower_keep_past(fn, true, e->span);
    lower_jump(fn, body, e->span);
    ir_seal(fn->b, body);
    close_loop(fn, &loop);
    lower_enter_block(fn, loop.after);
    lower_read(fn, loop.result, loop.result_count, out, e->span);
}

/* ---- for --------------------------------------------------------------------------------------------------------- */

void lower_count(lower_fn *fn, ir_value low, ir_value high, source_span span,
                 void (*body)(lower_fn *fn, ir_value i, void *context), void *context) {
    if (!lower_open(fn))
        return;
    ir_block *test = lower_block_new(fn), *inside = lower_block_new(fn), *after = lower_block_new(fn);
    ir_variable i = ir_variable_new(fn->b, IR_I64, NULL, span);
    ir_write(fn->b, i, low);
    lower_jump(fn, test, span);
    ir_builder_set_block(fn->b, test);
    ir_value now = ir_read(fn->b, i, span);
    lower_branch(fn, lower_op2(fn, IR_LT, IR_BOOL, now, high, span), inside, after, span);
    lower_enter_block(fn, inside);
    body(fn, now, context);
    if (lower_open(fn))
        ir_write(fn->b, i, lower_op2(fn, IR_ADD, IR_I64, now, lower_int(fn, IR_I64, 1, span), span));
    lower_jump(fn, test, span);
    ir_seal(fn->b, test);
    lower_enter_block(fn, after);
}

/* The source of a `for`: numbers of `type` up to `high`, or the rows or elements of `holder`. */
typedef struct for_source {
    ir_type type;
    ir_value low, high;
    bool inclusive;
    ir_value holder;
    const type *holder_type;
    bool owns;         /* a list whose elements have destructors, which end with their iteration: */
    ir_variable owned; /* what is left of it */
} for_source;

static for_source source_of(lower_fn *fn, const expr *iterable) {
    for_source s = {.type = IR_I64};
    if (iterable->kind == EXPR_RANGE) {
        s.low = lower_scalar(fn, iterable->range.low);
        s.high = lower_scalar(fn, iterable->range.high);
        s.inclusive = iterable->range.inclusive;
        s.type = lower_scalar_type(iterable->range.low->type);
        return s;
    }
    s.holder_type = iterable->type;
    s.holder = lower_scalar(fn, iterable);
    s.low = lower_int(fn, IR_I64, 0, iterable->span);
    if (s.holder_type->kind == TYPE_VEC)
        s.high = lower_abi(fn, TL_FN_tl_vec_len, &s.holder, 1, iterable->span);
    else
        s.high = lower_abi(fn, TL_FN_tl_tensor_dim, (ir_value[]){s.holder, s.low}, 2, iterable->span);
    return s;
}

static void bind_item(lower_fn *fn, const expr *e, const for_source *s, ir_value now) {
    const loop_expr *loop = e->loop;
    if (!s->holder_type) {
        lower_pattern_bind(fn, loop->pattern, &now);
        return;
    }
    ir_value *item = lower_room(fn, lower_leaf_count(fn->l, loop->pattern->type));
    if (!item)
        return;
    if (s->owns)
        lower_vec_take(fn, s->owned, now, s->holder_type->vec.element, item, loop->iterable->span);
    else if (s->holder_type->kind == TYPE_VEC)
        lower_vec_at(fn, s->holder, now, s->holder_type->vec.element, item, loop->iterable->span);
    else
        *item = lower_abi(fn, TL_FN_tl_tensor_row, (ir_value[]){s->holder, now}, 2, loop->iterable->span);
    lower_pattern_bind(fn, loop->pattern, item);
}

/* The counter goes up by one; an inclusive range ends before it could pass the largest number of its type. */
static void step_counter(lower_fn *fn, const for_source *s, ir_variable i, ir_value now, ir_block *test, ir_block *done,
                         source_span span) {
    if (s->inclusive && lower_open(fn)) {
        ir_block *more = lower_block_new(fn);
        lower_branch(fn, lower_op2(fn, IR_EQ, IR_BOOL, now, s->high, span), done, more, span);
        lower_enter_block(fn, more);
    }
    if (lower_open(fn))
        ir_write(fn->b, i, lower_op2(fn, IR_ADD, s->type, now, lower_int(fn, s->type, 1, span), span));
    lower_jump(fn, test, span);
}

/* A list that the loop alone has: its elements are taken out of it one by one, and what a break leaves ends with the
 * loop. */
static void own_elements(lower_fn *fn, for_source *s, const expr *iterable) {
    s->owns = fn->owns && s->holder_type && s->holder_type->kind == TYPE_VEC && lower_drops(fn->l, s->holder_type) &&
              !lower_marked(fn, iterable->span, MARK_RUN_OVER);
    if (!s->owns)
        return;
    s->owned = lower_variables(fn, s->holder_type, NULL, iterable->span);
    lower_write(fn, s->owned, 1, &s->holder);
    lower_keep_values(fn, s->holder_type, s->owned);
}

void lower_for(lower_fn *fn, const expr *e) {
    lower_loop loop;
    uint32_t kept = fn->kept_count;
    for_source s = source_of(fn, e->loop->iterable);
    if (!lower_open(fn))
        return;
    own_elements(fn, &s, e->loop->iterable);
    open_loop(fn, &loop, e, lower_block_runs_backward(fn->l, e->loop->body));
    ir_block *test = lower_block_new(fn), *body = lower_block_new(fn), *done = lower_block_new(fn);
    ir_variable i = ir_variable_new(fn->b, s.type, NULL, e->loop->pattern->span);
    ir_write(fn->b, i, s.low);
    lower_jump(fn, test, e->span);
    ir_builder_set_block(fn->b, test);
    ir_value now = ir_read(fn->b, i, e->span);
    lower_branch(fn, lower_op2(fn, s.inclusive ? IR_LE : IR_LT, IR_BOOL, now, s.high, e->span), body, done, e->span);
    lower_enter_block(fn, body);
    uint32_t mark = lower_scope_open(fn);
    bind_item(fn, e, &s, now);
    ir_value nothing;
    lower_block_as(fn, e->loop->body, e->type, &nothing);
    lower_scope_close(fn, mark, e->span);
    lower_jump(fn, loop.next, e->span);
    lower_enter_block(fn, loop.next);
    clear_grads(fn, &loop, e->span);
    step_counter(fn, &s, i, now, test, done, e->span);
    ir_seal(fn->b, test);
    lower_enter_block(fn, done);
    exit_grads(fn, &loop, e->span);
    lower_jump(fn, loop.after, e->span);
    close_loop(fn, &loop);
    lower_enter_block(fn, loop.after);
    lower_end_temporaries(fn, kept, fn->kept_count, e->span);
}

/* ---- ways out ---------------------------------------------------------------------------------------------------- */

static lower_loop *loop_of(const lower_fn *fn, const expr *target) {
    lower_loop *loop = fn->loop;
    while (loop && loop->e != target)
        loop = loop->outer;
    return loop;
}

static void lower_break(lower_fn *fn, const expr *e) {
    lower_loop *loop = loop_of(fn, e->jump.target);
    ir_value *values = loop ? lower_room(fn, loop->result_count) : NULL;
    if (!values)
        return;
    if (e->jump.value)
        lower_expr(fn, e->jump.value, values);
    lower_write(fn, loop->result, loop->result_count, values);
    lower_keep(fn, loop->kept_mark, e->span);
    leave_loops(fn, loop->outer, e->span);
    lower_jump(fn, loop->after, e->span);
}

static void lower_continue(lower_fn *fn, const expr *e) {
    lower_loop *loop = loop_of(fn, e->jump.target);
    if (!loop)
        return;
    lower_keep(fn, loop->kept_mark, e->span);
    leave_loops(fn, loop, e->span);
    lower_jump(fn, loop->next, e->span);
}

/* The function's result, then what the parameters that come back have become: the destructors of what ends here may
   write to these, so they run before. */
void lower_return(lower_fn *fn, const ir_value *values, source_span span) {
    if (!lower_open(fn))
        return;
    const function_item *item = fn->item;
    uint32_t at = lower_leaf_count(fn->l, item->result);
    ir_value *all = lower_room(fn, fn->f->result_count);
    if (!all)
        return;
    for (uint32_t i = 0; i < at; i++)
        all[i] = values[i];
    lower_keep(fn, 0, span);
    for (uint32_t p = 0; p < item->parameter_count; p++) {
        if (!lower_comes_back(fn->l, item, p))
            continue;
        uint32_t count = lower_leaf_count(fn->l, item->parameters[p]->type);
        if (item->parameters[p]->in_cell)
            lower_cell_read(fn, item->parameters[p], true, all + at, span);
        else
            lower_read(fn, fn->variables[item->parameters[p]->id], count, all + at, span);
        at += count;
    }
    leave_loops(fn, NULL, span);
    ir_emit_ret(fn->b, all, fn->f->result_count, span);
}

static void lower_return_expr(lower_fn *fn, const expr *e) {
    ir_value *values = lower_room(fn, lower_leaf_count(fn->l, fn->item->result));
    if (!values)
        return;
    if (e->jump.value)
        lower_expr(fn, e->jump.value, values);
    lower_return(fn, values, e->span);
}

void lower_jump_expr(lower_fn *fn, const expr *e) {
    if (e->kind == EXPR_BREAK)
        lower_break(fn, e);
    else if (e->kind == EXPR_CONTINUE)
        lower_continue(fn, e);
    else
        lower_return_expr(fn, e);
}
