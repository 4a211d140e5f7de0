/* lower_kernel.c: the loops of a kernel, forward and backward, and the instruction that runs it. See lower_kernel.h. */
#include "language/ir/lower_kernel.h"

#include "language/ir/edit.h"

#define BOUND_MAX ((int64_t)1 << 40) /* of what the fast nest calculates with */

/* ---- bounds ------------------------------------------------------------------------------------------------------------------ */

static ir_value add_number(kernel_fn *kf, ir_value v, int64_t n, source_span span) {
    return n == 0 ? v : lower_op2(&kf->fn, IR_ADD, IR_I64, v, lower_int(&kf->fn, IR_I64, n, span), span);
}

static bool is_literal(const expr *e) { return e->kind == EXPR_INT; }

static ir_value bound_value(kernel_fn *kf, const expr *bound) {
    return is_literal(bound) ? kernel_value(kf, bound) : kernel_cell_of_expr(kf, bound);
}

static ir_value low_of(kernel_fn *kf, const kernel_step *s) { return bound_value(kf, s->clause->low); }

static ir_value high_of(kernel_fn *kf, const kernel_step *s) {
    return add_number(kf, bound_value(kf, s->clause->high), s->clause->inclusive, s->clause->span);
}

/* min and max without a branch: the fast nest's numbers are far from overflowing. */
static ir_value smaller_or_larger(kernel_fn *kf, ir_value a, ir_value b, bool larger, source_span span) {
    lower_fn *fn = &kf->fn;
    ir_value d = lower_op2(fn, IR_SUB, IR_I64, a, b, span);
    ir_value sign = lower_op2(fn, IR_SHR, IR_I64, d, lower_int(fn, IR_I64, 63, span), span);
    ir_value negative_part = lower_op2(fn, IR_AND, IR_I64, d, sign, span);
    return larger ? lower_op2(fn, IR_SUB, IR_I64, a, negative_part, span)
                  : lower_op2(fn, IR_ADD, IR_I64, b, negative_part, span);
}

typedef struct range {
    ir_value low, high;
} range;

/* form >= minimum, where form = factor * index + rest and factor is 1 or -1: minimum - rest <= index, index <= rest - minimum */
static void cut_below(kernel_fn *kf, range *r, const linear *form, const binding *index, ir_value minimum, source_span span) {
    lower_fn *fn = &kf->fn;
    bool rising = linear_find(form, index)->factor == 1;
    linear rest_form = linear_without(form, index, 1);
    ir_value rest = linear_value(kf, &rest_form, span);
    if (rising) {
        ir_value least = lower_op2(fn, IR_SUB, IR_I64, minimum, rest, span);
        r->low = smaller_or_larger(kf, r->low, least, true, span);
    } else {
        ir_value end = add_number(kf, lower_op2(fn, IR_SUB, IR_I64, rest, minimum, span), 1, span);
        r->high = smaller_or_larger(kf, r->high, end, false, span);
    }
}

/* form < maximum, likewise: -form >= 1 - maximum. */
static void cut_above(kernel_fn *kf, range *r, const linear *form, const binding *index, ir_value maximum, source_span span) {
    linear opposite = linear_without(form, NULL, -1);
    ir_value minimum = lower_op1(&kf->fn, IR_NEG, IR_I64, add_number(kf, maximum, -1, span), span);
    cut_below(kf, r, &opposite, index, minimum, span);
}

static bool only_index(const linear *form, const binding *index) {
    for (uint32_t i = 0; i < form->count; i++)
        if (form->terms[i].index && form->terms[i].index != index && form->terms[i].factor != 0)
            return false;
    return true;
}

/* The range of step k's index, cut by what later steps demand: of it alone, or (inside the nest) of it and indices around. */
static range cut_range(kernel_fn *kf, uint32_t k, bool inside) {
    const lower_kernel *lk = kf->lk;
    const kernel_step *loop = &lk->steps[k];
    const binding *index = loop->clause->index;
    range r = {low_of(kf, loop), high_of(kf, loop)};
    for (uint32_t j = k + 1; j < lk->step_count; j++) {
        const kernel_step *s = &lk->steps[j];
        if (s->cuts != k + 1 || (!inside && !only_index(&s->form, index)))
            continue;
        source_span span = loop->clause->span;
        if (s->kind == STEP_TEST) {
            cut_below(kf, &r, &s->form, index, lower_int(&kf->fn, IR_I64, 0, span), span);
        } else {
            cut_below(kf, &r, &s->form, index, low_of(kf, s), span);
            cut_above(kf, &r, &s->form, index, high_of(kf, s), span);
        }
    }
    return r;
}

static ir_value index_value(kernel_fn *kf, const binding *index) {
    return ir_read(kf->fn.b, kf->fn.variables[index->id], index->span);
}

static void write_index(kernel_fn *kf, const kernel_step *s, ir_value v) {
    if (lower_open(&kf->fn))
        ir_write(kf->fn.b, kf->fn.variables[s->clause->index->id], v);
}

/* ---- whether the fast nest may run ------------------------------------------------------------------------------------------ */

typedef struct proof {
    kernel_fn *kf;
    ir_value all; /* 0: nothing to prove */
} proof;

static void demand(proof *p, ir_value holds, source_span span) {
    p->all = p->all ? lower_op2(&p->kf->fn, IR_AND, IR_BOOL, p->all, holds, span) : holds;
}

/* -BOUND_MAX <= v < BOUND_MAX, by one comparison without sign. */
static void demand_small(proof *p, ir_value v, source_span span) {
    lower_fn *fn = &p->kf->fn;
    ir_value moved = lower_convert(fn, add_number(p->kf, v, BOUND_MAX, span), IR_U64, span);
    demand(p, lower_op2(fn, IR_LT, IR_BOOL, moved, lower_int(fn, IR_U64, 2 * BOUND_MAX, span), span), span);
}

static void demand_small_bound(proof *p, ir_value v, const expr *bound) {
    if (!is_literal(bound) || bound->integer.value >= (uint64_t)BOUND_MAX)
        demand_small(p, v, bound->span);
}

static void demand_small_terms(proof *p, const linear *form, source_span span) {
    for (uint32_t i = 0; i < form->count; i++)
        if (!form->terms[i].index)
            demand_small(p, kernel_value(p->kf, form->terms[i].invariant), span);
}

/* The least (or greatest) value of the form while its indices run through their ranges. */
static ir_value extreme(kernel_fn *kf, const linear *form, bool greatest, source_span span) {
    lower_fn *fn = &kf->fn;
    linear rest = {.constant = form->constant};
    ir_value sum = 0;
    for (uint32_t i = 0; i < form->count; i++) {
        const linear_term *t = &form->terms[i];
        if (!t->index || t->factor == 0) {
            if (!t->index)
                rest.terms[rest.count++] = *t;
            continue;
        }
        range r = cut_range(kf, kernel_step_of(kf->lk, t->index), false);
        ir_value end = (t->factor > 0) == greatest ? add_number(kf, r.high, -1, span) : r.low;
        if (t->factor != 1)
            end = lower_op2(fn, IR_MUL, IR_I64, end, lower_int(fn, IR_I64, t->factor, span), span);
        sum = sum ? lower_op2(fn, IR_ADD, IR_I64, sum, end, span) : end;
    }
    if (sum && rest.count == 0)
        return add_number(kf, sum, rest.constant, span);
    ir_value tail = linear_value(kf, &rest, span);
    return sum ? lower_op2(fn, IR_ADD, IR_I64, sum, tail, span) : tail;
}

static void demand_read(proof *p, const expr *e, const kernel_read *r, const linear forms[TL_MAX_RANK]) {
    lower_fn *fn = &p->kf->fn;
    uint32_t capture = kernel_capture_of(p->kf->lk, r, e->span);
    for (uint32_t d = 0; d < r->count; d++) {
        demand_small_terms(p, &forms[d], e->span);
        ir_value dim = lower_int(fn, IR_I64, d, e->span);
        ir_value extent = lower_op1(fn, IR_KERNEL_EXTENT, IR_I64, dim, e->span);
        if (!extent)
            return;
        fn->f->values[extent].def->imm.i = capture;
        ir_value least = extreme(p->kf, &forms[d], false, e->span);
        ir_value greatest = extreme(p->kf, &forms[d], true, e->span);
        demand(p, lower_op2(fn, IR_GE, IR_BOOL, least, lower_int(fn, IR_I64, 0, e->span), e->span), e->span);
        demand(p, lower_op2(fn, IR_LT, IR_BOOL, greatest, extent, e->span), e->span);
    }
}

static void demand_reads(expr *e, void *context) {
    proof *p = context;
    kernel_read read;
    linear forms[TL_MAX_RANK];
    if (kernel_is_read(p->kf->lk, e, &read) && read.count > 0 && kernel_read_is_affine(p->kf->lk, &read, forms))
        demand_read(p, e, &read, forms);
    if (!kernel_is_hoisted(p->kf->lk, e))
        expr_each_child(e, demand_reads, p);
}

/* What makes the fast nest right, as one bool; 0 when it would be no faster. */
static ir_value prove(kernel_fn *kf) {
    proof p = {.kf = kf};
    const lower_kernel *lk = kf->lk;
    bool cuts = false;
    demand_reads(lk->c->body, &p);
    for (uint32_t k = 0; k < lk->step_count; k++) {
        const kernel_step *s = &lk->steps[k];
        if (s->kind == STEP_TEST)
            demand_reads((expr *)s->condition, &p);
        if (s->cuts)
            demand_small_terms(&p, &s->form, s->kind == STEP_TEST ? s->condition->span : s->clause->span);
        cuts |= s->cuts > 0;
    }
    if (!p.all && !cuts)
        return 0;
    if (!p.all) /* cut ranges only, all of them literal */
        p.all = lower_int(&kf->fn, IR_BOOL, 1, lk->e->span);
    for (uint32_t k = 0; k < lk->step_count; k++) {
        const kernel_step *s = &lk->steps[k];
        if (s->kind == STEP_TEST)
            continue;
        demand_small_bound(&p, low_of(kf, s), s->clause->low);
        demand_small_bound(&p, high_of(kf, s), s->clause->high);
    }
    return p.all;
}

/* ---- the element: what happens innermost, and where sums start -------------------------------------------------------------- */

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
        if (!is_literal(s->clause->low) || s->clause->low->integer.value != 0)
            v = lower_op2(&kf->fn, IR_SUB, IR_I64, v, low_of(kf, s), s->clause->span);
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

/* ---- steps ---------------------------------------------------------------------------------------------------------------------- */

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
    range r = kf->fast ? cut_range(kf, k, true) : (range){low_of(kf, s), high_of(kf, s)};
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
    ir_value above = lower_op2(&kf->fn, IR_GE, IR_BOOL, v, low_of(kf, s), span);
    ir_value below = lower_op2(&kf->fn, IR_LT, IR_BOOL, v, high_of(kf, s), span);
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

/* ---- one function ------------------------------------------------------------------------------------------------------------------ */

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
            kf->fn.variables[s->clause->index->id] =
                ir_variable_new(kf->fn.b, IR_I64, s->clause->index->name, s->clause->index->span);
    }
    kf->sum = ir_variable_new(kf->fn.b, lower_dtype_type(kf->lk->k->dtype), "sum", kf->lk->e->span);
}

/* The proof, then the fast nest; or, when there is nothing to prove, the one nest there is. True: a careful twin is needed. */
static bool write_proved_nest(kernel_fn *kf) {
    lower_fn *fn = &kf->fn;
    source_span span = kf->lk->e->span;
    ir_value fast = prove(kf);
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

/* Values that no rule of differentiation needed after all. A division or read among them would have faulted in the forward
 * function before. */
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
        for (uint32_t b = 0; b < f->block_count; b++)
            for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
                for (uint32_t a = 0; a < i->arg_count; a++)
                    uses[i->args[a]]++;
                for (int t = 0; t < ir_target_count(i); t++)
                    for (uint32_t a = 0; a < i->target[t].count; a++)
                        uses[i->target[t].args[a]]++;
            }
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

static ir_function *write_function(lower_kernel *lk, bool backward, ir_function **careful) {
    lowering *l = lk->outer->l;
    const char *name = lower_printf(l, "%s.%s%s", lk->k->name, backward ? "b" : "f", careful ? "" : "c");
    ir_function *f = ir_function_new(l->m, name, lk->e->span);
    kernel_fn kf = {.lk = lk, .backward = backward, .sum_at = find_sum(lk)};
    uint32_t bindings = lk->outer->item->binding_count;
    kf.fn = (lower_fn){.l = l, .item = lk->outer->item, .name = lk->outer->name, .f = f, .b = ir_builder_new(f)};
    kf.fn.variables = MASU_ARENA_ARRAY(l->scratch, ir_variable, bindings);
    kf.adjoints = MASU_ARENA_ARRAY(l->scratch, ir_variable, bindings);
    if (!f || !kf.fn.b || !kf.fn.variables || !kf.adjoints) {
        l->m->out_of_memory = true;
        return NULL;
    }
    f->is_kernel = true;
    make_variables(&kf);
    if (!careful)
        write_nest(&kf);
    else if (write_proved_nest(&kf))
        *careful = write_function(lk, backward, NULL);
    ir_builder_finish(kf.fn.b);
    if (backward && !l->m->out_of_memory)
        drop_unused(l, f);
    return f;
}

/* ---- the instruction ---------------------------------------------------------------------------------------------------------------- */

/* max(0, high - low), known at once when both are literals. */
static ir_value extent_of(lower_fn *fn, const comprehension_clause *clause, ir_value low, ir_value high) {
    source_span span = clause->span;
    if (is_literal(clause->low) && clause->low->integer.value == 0 && is_literal(clause->high))
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
