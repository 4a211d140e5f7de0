/* lower_kernel.c: the loops of a kernel, forward and backward, and the instruction that runs it. See lower_kernel.h. */
#include <string.h>

#include "language/lower/lower_kernel.h"

#include "language/ir/edit.h"

static bool is_zero(const expr *e) {
    return e->kind == EXPR_INT && e->integer.value == 0;
}

static ir_value index_value(kernel_fn *kf, const binding *index) {
    return ir_read(kf->fn.b, kf->fn.variables[index->id], index->span);
}

static void write_index(kernel_fn *kf, const kernel_step *s, ir_value v) {
    if (lower_open(&kf->fn))
        ir_write(kf->fn.b, kf->fn.variables[s->clause->index->id], v);
}

/* ---- the element: what happens innermost, and where sums start --------------------------------------------------- */

/* The step from which on only indices that are summed over follow. */
static uint32_t find_sum(const lower_kernel *lk) {
    uint32_t last_output = 0;
    bool sums = false;
    for (uint32_t k = 0; k < lk->step_count; k++) {
        const kernel_step *s = &lk->steps[k];
        if (s->kind == STEP_TEST)
            continue;
        if (s->is_output && sums)
            return lk->step_count + 1; /* a summed index outside: sums stay in memory */
        if (s->is_output)
            last_output = k + 1;
        else
            sums = true;
    }
    return sums ? last_output : lk->step_count;
}

static ir_value *output_indices(kernel_fn *kf, uint32_t before) {
    const comprehension_expr *c = kf->lk->c;
    ir_value *args = lower_room(&kf->fn, before + c->output_count);
    for (uint32_t i = 0; args && i < c->output_count; i++) {
        const kernel_step *s = &kf->lk->steps[kernel_step_of(kf->lk, c->outputs[i])];
        ir_value v = index_value(kf, c->outputs[i]);
        if (!is_zero(s->clause->low))
            v = lower_op2(&kf->fn, IR_SUB, IR_I64, v, kernel_low(kf, s), s->clause->span);
        args[before + i] = v;
    }
    return args;
}

/* `store`: the element is written once, so its value replaces the zero. */
static void add_to_output(kernel_fn *kf, ir_value v, bool store) {
    ir_value *args = output_indices(kf, 1);
    if (!args || !lower_open(&kf->fn))
        return;
    args[0] = v;
    ir_instr *add = ir_emit(kf->fn.b, IR_KERNEL_OUT_ADD, args, 1 + kf->lk->c->output_count, NULL, 0, kf->lk->e->span);
    if (add)
        add->imm.i = store;
}

static ir_value element_gradient(kernel_fn *kf) {
    ir_value *args = output_indices(kf, 0);
    if (!args)
        return 0;
    return lower_op(&kf->fn, IR_KERNEL_GRAD_OUT, lower_dtype_type(kf->lk->k->dtype), args, kf->lk->c->output_count,
                    kf->lk->e->span);
}

static void write_body(kernel_fn *kf) {
    const expr *body = kf->lk->c->body;
    ir_type element = lower_dtype_type(kf->lk->k->dtype);
    if (kf->backward) {
        ir_value seed = kf->sum_at < kf->lk->step_count ? kf->seed : element_gradient(kf);
        kernel_adjoint(kf, body, lower_convert(&kf->fn, seed, lower_scalar_type(body->type), body->span));
        return;
    }
    ir_value v = lower_convert(&kf->fn, kernel_value(kf, body), element, body->span);
    if (kf->sum_at >= kf->lk->step_count) {
        add_to_output(kf, v, kf->sum_at == kf->lk->step_count);
        return;
    }
    ir_opcode op = element == IR_BOOL ? IR_OR : IR_ADD;
    ir_value sum = ir_read(kf->fn.b, kf->sum, body->span);
    ir_write(kf->fn.b, kf->sum, lower_op2(&kf->fn, op, element, sum, v, body->span));
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void write_step(kernel_fn *kf, uint32_t k);

typedef struct loop_context {
    kernel_fn *kf;
    uint32_t k;
} loop_context;

static void loop_body(lower_fn *fn, ir_value i, void *context) {
    loop_context *c = context;
    (void)fn;
    write_index(c->kf, &c->kf->lk->steps[c->k], i);
    write_step(c->kf, c->k + 1);
}

static void write_loop(kernel_fn *kf, uint32_t k) {
    const kernel_step *s = &kf->lk->steps[k];
    kernel_bounds r = kf->fast ? kernel_range(kf, k, true) : (kernel_bounds){kernel_low(kf, s), kernel_high(kf, s)};
    loop_context context = {kf, k};
    lower_count(&kf->fn, r.low, r.high, s->clause->span, loop_body, &context);
}

static void write_when(kernel_fn *kf, ir_value holds, uint32_t next, source_span span) {
    lower_fn *fn = &kf->fn;
    ir_block *inside = lower_block_new(fn), *after = lower_block_new(fn);
    lower_branch(fn, holds, inside, after, span);
    lower_enter_block(fn, inside);
    write_step(kf, next);
    lower_jump(fn, after, span);
    lower_enter_block(fn, after);
}

static void write_solved(kernel_fn *kf, uint32_t k) {
    const kernel_step *s = &kf->lk->steps[k];
    source_span span = s->clause->span;
    ir_value v = linear_value(kf, &s->form, span);
    write_index(kf, s, v);
    if (kf->fast && s->cuts) {
        write_step(kf, k + 1);
        return;
    }
    ir_value above = lower_op2(&kf->fn, IR_GE, IR_BOOL, v, kernel_low(kf, s), span);
    ir_value below = lower_op2(&kf->fn, IR_LT, IR_BOOL, v, kernel_high(kf, s), span);
    write_when(kf, lower_op2(&kf->fn, IR_AND, IR_BOOL, above, below, span), k + 1, span);
}

static void write_plain_step(kernel_fn *kf, uint32_t k) {
    if (k == kf->lk->step_count) {
        write_body(kf);
        return;
    }
    const kernel_step *s = &kf->lk->steps[k];
    if (s->kind == STEP_LOOP)
        write_loop(kf, k);
    else if (s->kind == STEP_SOLVE)
        write_solved(kf, k);
    else if (kf->fast && s->cuts)
        write_step(kf, k + 1);
    else
        write_when(kf, kernel_value(kf, s->condition), k + 1, s->condition->span);
}

static void write_step(kernel_fn *kf, uint32_t k) {
    if (k != kf->sum_at || k == kf->lk->step_count) {
        write_plain_step(kf, k);
        return;
    }
    ir_type element = lower_dtype_type(kf->lk->k->dtype);
    source_span span = kf->lk->e->span;
    if (kf->backward) {
        kf->seed = element_gradient(kf);
        write_plain_step(kf, k);
        return;
    }
    bool is_float = element == IR_F32 || element == IR_F64;
    ir_write(kf->fn.b, kf->sum, is_float ? kernel_float(kf, element, 0, span) : lower_int(&kf->fn, element, 0, span));
    write_plain_step(kf, k);
    add_to_output(kf, ir_read(kf->fn.b, kf->sum, span), true);
}

/* ---- one function ------------------------------------------------------------------------------------------------ */

static void write_nest(kernel_fn *kf) {
    lower_fn *fn = &kf->fn;
    write_step(kf, 0);
    if (lower_open(fn))
        ir_emit_ret(fn->b, NULL, 0, kf->lk->e->span);
}

static void make_variables(kernel_fn *kf) {
    for (uint32_t k = 0; k < kf->lk->step_count; k++) {
        const kernel_step *s = &kf->lk->steps[k];
        if (s->kind != STEP_TEST)
            kf->fn.variables[s->clause->index->id] = ir_variable_new(kf->fn.b, IR_I64, s->clause->index->name,
                                                                     s->clause->index->span);
    }
    kf->sum = ir_variable_new(kf->fn.b, lower_dtype_type(kf->lk->k->dtype), "sum", kf->lk->e->span);
}

/* The proof, then the fast nest; or, when there is nothing to prove, the one nest there is. True: a careful twin is
 * needed. */
static bool write_proved_nest(kernel_fn *kf) {
    lower_fn *fn = &kf->fn;
    source_span span = kf->lk->e->span;
    ir_value fast = kernel_prove(kf);
    kf->fast = fast != 0;
    if (fast) {
        ir_block *quick = lower_block_new(fn), *careful = lower_block_new(fn);
        lower_branch(fn, fast, quick, careful, span);
        lower_enter_block(fn, careful);
        if (lower_open(fn))
            ir_emit(fn->b, IR_KERNEL_CAREFUL, NULL, 0, NULL, 0, span);
        lower_enter_block(fn, quick);
    }
    write_nest(kf);
    return fast != 0;
}

static bool has_effect(const ir_instr *i) {
    return ir_is_terminator(i->op) || i->op == IR_KERNEL_OUT_ADD || i->op == IR_KERNEL_GRAD_ADD;
}

/* Values that no rule of differentiation needed after all. A division or read among them would have faulted in the
 * forward function before. */
static void drop_unused(lowering *l, ir_function *f) {
    uint32_t *uses = MASU_ARENA_ARRAY(l->scratch, uint32_t, f->value_count);
    if (!uses) {
        l->m->out_of_memory = true;
        return;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t v = 0; v < f->value_count; v++)
            uses[v] = 0;
        ir_count_uses(f, uses);
        for (uint32_t b = 0; b < f->block_count; b++)
            for (ir_instr *i = f->blocks[b]->last, *before; i; i = before) {
                before = i->prev;
                if (has_effect(i) || uses[i->result] > 0)
                    continue;
                for (uint32_t a = 0; a < i->arg_count; a++)
                    uses[i->args[a]]--;
                ir_remove(i);
                changed = true;
            }
        changed = ir_simplify_params(f) || changed;
    }
}

/* `count` variables that are none yet, from the room of this depth. */
static ir_variable *kernel_room(lowering *l, uint32_t count) {
    enum { DEEPEST = sizeof l->kernel_room / sizeof l->kernel_room[0] };
    ir_variable **room = l->kernel_depth < DEEPEST ? &l->kernel_room[l->kernel_depth] : NULL;
    if (!room || !*room) {
        ir_variable *made = MASU_ARENA_ARRAY(l->scratch, ir_variable, count);
        if (room)
            *room = made;
        return made;
    }
    memset(*room, 0, count * sizeof **room);
    return *room;
}

static ir_function *write_function(lower_kernel *lk, bool backward, ir_function **careful) {
    lowering *l = lk->outer->l;
    const char *name = lower_printf(l, "%s.%s%s", lk->k->name, backward ? "b" : "f", careful ? "" : "c");
    ir_function *f = ir_function_new(l->m, name, lk->e->span);
    kernel_fn kf = {.lk = lk, .backward = backward, .sum_at = find_sum(lk)};
    uint32_t bindings = lk->outer->item->binding_count;
    kf.fn = (lower_fn){.l = l, .item = lk->outer->item, .name = lk->outer->name, .f = f, .b = ir_builder_new(f)};
    kf.fn.variables = kernel_room(l, 2 * bindings);
    kf.adjoints = kf.fn.variables + bindings;
    if (!f || !kf.fn.b || !kf.fn.variables) {
        l->m->out_of_memory = true;
        return NULL;
    }
    f->is_kernel = true;
    l->kernel_depth++;
    make_variables(&kf);
    if (backward && !kernel_is_active(&kf, lk->c->body))
        ir_emit_ret(kf.fn.b, NULL, 0, lk->e->span); /* no element of a tensor to differentiate by */
    else if (!careful)
        write_nest(&kf);
    else if (write_proved_nest(&kf))
        *careful = write_function(lk, backward, NULL);
    ir_builder_finish(kf.fn.b);
    l->kernel_depth--;
    if (backward && !l->m->out_of_memory)
        drop_unused(l, f);
    return f;
}

/* ---- the instruction --------------------------------------------------------------------------------------------- */

/* max(0, high - low), known at once when both are literals. */
static ir_value extent_of(lower_fn *fn, const comprehension_clause *clause, ir_value low, ir_value high) {
    source_span span = clause->span;
    if (is_zero(clause->low) && clause->high->kind == EXPR_INT)
        return high;
    ir_value length = lower_op2(fn, IR_SUB, IR_I64, high, low, span);
    ir_value sign = lower_op2(fn, IR_SHR, IR_I64, length, lower_int(fn, IR_I64, 63, span), span);
    return lower_op2(fn, IR_AND, IR_I64, length, lower_op1(fn, IR_NOT, IR_I64, sign, span), span);
}

ir_value *kernel_shape(lower_fn *fn, const comprehension_expr *c, const ir_value *lows, const ir_value *highs) {
    ir_value *shape = lower_room(fn, c->output_count);
    for (uint32_t i = 0; shape && i < c->output_count; i++) {
        uint32_t k = 0;
        while (c->clauses[k].index != c->outputs[i])
            k++;
        shape[i] = extent_of(fn, &c->clauses[k], lows[k], highs[k]);
    }
    return shape;
}

static void note_needed(ir_kernel *k, const ir_function *f) {
    for (uint32_t b = 0; f && b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next)
            if (i->op == IR_KERNEL_LOAD)
                k->needs_value[i->imm.i] = true;
}

static void fill_kernel(lower_kernel *lk) {
    ir_kernel *k = lk->k;
    masu__arena *arena = lk->outer->l->m->arena;
    k->rank = lk->c->output_count;
    k->cell_count = k->rank + lk->cell_count;
    k->cell_types = MASU_ARENA_ARRAY(arena, ir_type, k->cell_count);
    k->capture_count = lk->capture_count;
    k->capture_dtype = MASU_ARENA_ARRAY(arena, tl_dtype, k->capture_count);
    k->capture_rank = MASU_ARENA_ARRAY(arena, uint32_t, k->capture_count);
    k->needs_value = MASU_ARENA_ARRAY(arena, bool, k->capture_count);
    if (!k->cell_types || !k->capture_dtype || !k->capture_rank || !k->needs_value) {
        lk->outer->l->m->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < k->cell_count; i++)
        k->cell_types[i] = i < k->rank ? IR_I64 : lk->cells[i - k->rank].type;
    for (uint32_t i = 0; i < k->capture_count; i++) {
        k->capture_dtype[i] = lk->captures[i].dtype;
        k->capture_rank[i] = lk->captures[i].rank;
    }
    note_needed(k, k->backward);
    note_needed(k, k->backward_careful);
}

static ir_value emit_comprehend(lower_kernel *lk, const ir_value *shape) {
    lower_fn *fn = lk->outer;
    uint32_t rank = lk->c->output_count, count = 0;
    ir_value *args = lower_room(fn, rank + lk->cell_count + lk->capture_count);
    ir_type tensor = IR_TENSOR;
    if (!args || !lower_open(fn))
        return 0;
    for (uint32_t i = 0; i < rank; i++)
        args[count++] = shape[i];
    for (uint32_t i = 0; i < lk->cell_count; i++)
        args[count++] = lk->cells[i].outer;
    for (uint32_t i = 0; i < lk->capture_count; i++)
        args[count++] = lk->captures[i].outer;
    ir_instr *i = ir_emit(fn->b, IR_COMPREHEND, args, count, &tensor, 1, lk->e->span);
    if (!i)
        return 0;
    i->kernel = lk->k;
    i->site = ir_site_new(fn->l->m, lk->e->span, fn->name);
    return i->result;
}

static void explain_missing_backward(lower_kernel *lk) {
    lk->k->reason = "its elements are not floating-point numbers";
    lk->k->reason_span = lk->c->body->span;
}

/* Bounds become cells in the order of the clauses, before anything else is evaluated. */
static void fix_bounds(lower_kernel *lk, ir_value *lows, ir_value *highs) {
    lower_fn *fn = lk->outer;
    for (uint32_t i = 0; i < lk->c->clause_count; i++) {
        const comprehension_clause *clause = &lk->c->clauses[i];
        if (!clause->index)
            continue;
        lows[i] = kernel_outer_bound(lk, clause->low);
        highs[i] = kernel_outer_bound(lk, clause->high);
        if (clause->inclusive && lower_open(fn))
            highs[i] = lower_op2(fn, IR_ADD, IR_I64, highs[i], lower_int(fn, IR_I64, 1, clause->span), clause->span);
    }
}

bool lower_as_kernel(lower_fn *fn, const expr *e, ir_value *out) {
    lowering *l = fn->l;
    const comprehension_expr *c = e->comprehension;
    lower_kernel lk = {.outer = fn, .e = e, .c = c};
    lk.inside = MASU_ARENA_ARRAY(l->scratch, bool, fn->item->binding_count);
    ir_value *lows = lower_room(fn, c->clause_count), *highs = lower_room(fn, c->clause_count);
    if (!lk.inside || !lows || !highs) {
        l->m->out_of_memory = true;
        return true;
    }
    if (!kernel_accepts(&lk))
        return false;
    lk.k = ir_kernel_new(l->m, lower_printf(l, "%s.k%u", fn->name, l->kernel_count++));
    if (!lk.k || !kernel_plan_steps(&lk)) {
        l->m->out_of_memory = true;
        return true;
    }
    lk.k->dtype = lower_element_dtype(e->type);
    fix_bounds(&lk, lows, highs);
    if (!lower_open(fn))
        return true;
    ir_value *shape = kernel_shape(fn, c, lows, highs);
    lk.k->forward = write_function(&lk, false, &lk.k->forward_careful);
    if (lk.k->dtype == TL_F32 || lk.k->dtype == TL_F64)
        lk.k->backward = write_function(&lk, true, &lk.k->backward_careful);
    else
        explain_missing_backward(&lk);
    if (l->m->out_of_memory || !shape)
        return true;
    fill_kernel(&lk);
    *out = emit_comprehend(&lk, shape);
    return true;
}
