/* shapes.c: what is known of every tensor's shape, and which operations can never succeed.
 *
 * Facts flow forward through the whole program, optimistically: a value has no fact until
 * something reaches it, and then only what every way of reaching it agrees on.
 *
 *     result of an operation     its rule (shape_rules.c) over the operands' facts
 *     parameter of a block       what all edges bring that can be taken (see shape_condition)
 *     parameter of a function    what all calls bring; unknown for functions without a call
 *     result of a call           what all returns of the callee bring
 *
 * What blocks, functions and calls agree on only ever loses, and between such losses facts follow from those of
 * operands, which dominate; so this ends. Then each operation that is reached is asked once more, now
 * for faults: dimensions that are still known and do not fit will not fit whatever happens.
 *
 * Symbols do not leave their function: a caller's are the callee's own again, and the callee's that speak of its
 * parameters are said in terms of the arguments.
 */
#include <inttypes.h>
#include <string.h>

#include "language/ir/cfg.h"
#include "language/ir/store.h"
#include "language/pass/pass.h"
#include "language/pass/shape_flow.h"

enum { CALL_DEPTH_MAX = 32 }; /* calls that are followed at once, one within the other */

static void enqueue(shaper *s, ir_function *f) {
    function_facts *ff = shape_facts_of(s, f);
    if (ff->queued)
        return;
    ff->queued = true;
    s->queue[(s->first + s->queued++) % s->m->function_count] = f;
}

static ir_function *dequeue(shaper *s) {
    ir_function *f = s->queue[s->first];
    s->first = (s->first + 1) % s->m->function_count;
    s->queued--;
    shape_facts_of(s, f)->queued = false;
    return f;
}

/* ---- facts of one value ---------------------------------------------------------------------- */

static void make_stale(function_facts *ff, const ir_block *b) {
    uint32_t at = ff->order.position[b->id];
    if (at >= ff->order.count)
        return; /* nothing leads there */
    ff->stale[at] = true;
    ff->next = at < ff->next ? at : ff->next;
}

static void make_users_stale(shaper *s, const ir_function *f, ir_value v) {
    function_facts *ff = shape_facts_of(s, f);
    s->changed = true;
    for (uint32_t u = ff->users.first[v]; u < ff->users.first[v + 1]; u++)
        make_stale(ff, f->blocks[ff->users.blocks[u]]);
}

static bool same_fact(const shape_fact *a, const shape_fact *b) {
    if (a->state != b->state || a->state != SHAPE_IS_KNOWN)
        return a->state == b->state;
    return a->shape.rank == b->shape.rank &&
           memcmp(a->shape.dim, b->shape.dim, a->shape.rank * sizeof a->shape.dim[0]) == 0;
}

/* Dimensions of which nothing is known are named after the value. True when the fact is news. */
static bool set_shape(shaper *s, const ir_function *f, ir_value v, shape_fact fact) {
    shape_fact *known = &shape_facts_of(s, f)->facts[v];
    for (uint32_t d = 0; fact.state == SHAPE_IS_KNOWN && d < fact.shape.rank; d++)
        if (fact.shape.dim[d] == -1)
            fact.shape.dim[d] = shape_dim_of_symbol(shape_symbol_dim(&s->symbols, f, v, d));
    if (same_fact(known, &fact))
        return false;
    *known = fact;
    make_users_stale(s, f, v);
    return true;
}

static bool set_number(shaper *s, const ir_function *f, ir_value v, number_fact fact) {
    number_fact *known = &shape_facts_of(s, f)->numbers[v];
    if (fact.state == SHAPE_IS_UNKNOWN && !fact.symbol && ir_type_of(f, v) == IR_I64)
        fact.symbol = shape_symbol_value(&s->symbols, f, v);
    if (fact.state == known->state && (fact.state != SHAPE_IS_KNOWN || fact.number == known->number) &&
        (fact.state != SHAPE_IS_UNKNOWN || fact.symbol == known->symbol))
        return false;
    *known = fact;
    make_users_stale(s, f, v);
    return true;
}

static bool meet_shape(shaper *s, const ir_function *f, ir_value v, const shape_fact *other) {
    shape_fact fact = shape_facts_of(s, f)->facts[v];
    shape_fact_meet(&fact, other);
    return set_shape(s, f, v, fact);
}

static bool meet_number(shaper *s, const ir_function *f, ir_value v, const number_fact *other) {
    number_fact fact = shape_facts_of(s, f)->numbers[v];
    number_fact_meet(&fact, other);
    return set_number(s, f, v, fact);
}

/* ---- one instruction ------------------------------------------------------------------------- */

/* An argument meets the callee's parameter, where the caller's symbols mean nothing. */
static bool flow_argument(shaper *s, const ir_function *f, ir_value from, const ir_function *callee, ir_value to) {
    const function_facts *ff = shape_facts_of(s, f);
    if (ir_type_of(f, from) == IR_TENSOR) {
        shape_fact fact = ff->facts[from];
        for (uint32_t d = 0; d < fact.shape.rank; d++)
            fact.shape.dim[d] = fact.shape.dim[d] < 0 ? -1 : fact.shape.dim[d];
        return meet_shape(s, callee, to, &fact);
    }
    number_fact fact = ff->numbers[from];
    fact.symbol = 0;
    return shape_is_number(ir_type_of(f, from)) && meet_number(s, callee, to, &fact);
}

typedef struct call_site {
    const function_facts *ff;
    const ir_instr *i;
} call_site;

/* The length at the call of a parameter of the callee, or of one of its dimensions. */
static shape_length at_call(void *context, const shape_symbol *atom) {
    const call_site *call = context;
    const ir_function *callee = call->i->callee;
    for (uint32_t a = 0; a < call->i->arg_count && atom->function == callee->id; a++) {
        if (callee->params[a] != atom->a)
            continue;
        const number_fact *number = &call->ff->numbers[call->i->args[a]];
        const shape_fact *fact = &call->ff->facts[call->i->args[a]];
        if (atom->kind == ATOM_VALUE)
            return (shape_length){.known = number->state == SHAPE_IS_KNOWN,
                                  .number = number->number,
                                  .symbol = number->state == SHAPE_IS_UNKNOWN ? number->symbol : 0};
        if (fact->state == SHAPE_IS_KNOWN && atom->b < fact->shape.rank)
            return shape_length_of_dim(fact->shape.dim[atom->b]);
    }
    return (shape_length){0};
}

/* The results are what the callee is known to return so far. */
static void flow_call_results(shaper *s, const ir_function *f, const ir_instr *i) {
    const function_facts *callee = shape_facts_of(s, i->callee);
    call_site call = {shape_facts_of(s, f), i};
    for (uint32_t r = 0; r < i->result_count; r++) {
        ir_value v = i->result + r;
        if (ir_type_of(f, v) == IR_TENSOR) {
            shape_fact fact = callee->results[r];
            for (uint32_t d = 0; fact.state == SHAPE_IS_KNOWN && d < fact.shape.rank; d++)
                if (fact.shape.dim[d] < 0)
                    fact.shape.dim[d] = shape_dim_of_length(
                        shape_translate(&s->symbols, shape_symbol_of_dim(fact.shape.dim[d]), at_call, &call));
            set_shape(s, f, v, fact);
        } else if (shape_is_number(ir_type_of(f, v))) {
            number_fact fact = callee->number_results[r];
            shape_length l = {0};
            if (fact.state == SHAPE_IS_UNKNOWN)
                l = shape_translate(&s->symbols, fact.symbol, at_call, &call);
            if (fact.state == SHAPE_IS_UNKNOWN)
                fact = (number_fact){l.known ? SHAPE_IS_KNOWN : SHAPE_IS_UNKNOWN, l.number, l.symbol};
            set_number(s, f, v, fact);
        }
    }
}

static void flow_call(shaper *s, const ir_function *f, const ir_instr *i) {
    function_facts *callee = shape_facts_of(s, i->callee);
    bool news = !callee->reached;
    callee->reached = true;
    for (uint32_t a = 0; a < i->arg_count; a++)
        news |= flow_argument(s, f, i->args[a], i->callee, i->callee->params[a]);
    if (news)
        enqueue(s, i->callee);
    bool only_call = callee->callers != NULL && callee->callers->next == NULL;
    if (news && only_call && !callee->is_flowing && s->depth < CALL_DEPTH_MAX) { /* fewer rounds over f */
        s->depth++;
        shape_flow_function(s, i->callee);
        s->depth--;
    }
    flow_call_results(s, f, i);
}

static void flow_ret(shaper *s, function_facts *ff, const ir_function *f, const ir_instr *i) {
    bool news = false;
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (f->results[a] == IR_TENSOR)
            news |= shape_fact_meet(&ff->results[a], &ff->facts[i->args[a]]);
        else if (shape_is_number(f->results[a]))
            news |= number_fact_meet(&ff->number_results[a], &ff->numbers[i->args[a]]);
    for (caller *c = ff->callers; news && c; c = c->next) {
        make_stale(shape_facts_of(s, c->function), c->call->block);
        if (shape_facts_of(s, c->function)->reached)
            enqueue(s, c->function);
    }
    s->changed |= news;
}

static void flow_edges(shaper *s, function_facts *ff, const ir_function *f, const ir_instr *i) {
    shape_query q = shape_query_of(s, f, i);
    unsigned takes = i->op == IR_BRANCH ? shape_condition(&q, i->args[0]) : SHAPE_TAKES_FIRST;
    for (int t = 0; t < ir_target_count(i); t++) {
        if (!(takes & (t == 0 ? SHAPE_TAKES_FIRST : SHAPE_TAKES_SECOND)))
            continue;
        const ir_target *target = &i->target[t];
        bool news = !ff->taken[target->block->id];
        ff->taken[target->block->id] = true;
        for (uint32_t a = 0; a < target->count; a++) {
            ir_value from = target->args[a], to = target->block->params[a];
            if (ir_type_of(f, from) == IR_TENSOR)
                news |= meet_shape(s, f, to, &ff->facts[from]);
            else if (shape_is_number(ir_type_of(f, from)))
                news |= meet_number(s, f, to, &ff->numbers[from]);
        }
        if (news)
            make_stale(ff, target->block);
    }
}

static void flow_result(shaper *s, const ir_function *f, const ir_instr *i) {
    shape_query q = shape_query_of(s, f, i);
    ir_type type = ir_type_of(f, i->result);
    if (type == IR_TENSOR) {
        bool ruled = i->op == IR_ABI || i->op == IR_COMPREHEND;
        set_shape(s, f, i->result, ruled ? shape_rule_apply(&q, NULL) : shape_unknown);
    } else if (shape_is_number(type)) {
        set_number(s, f, i->result, shape_number_apply(&q));
    }
}

static void flow_instr(shaper *s, function_facts *ff, const ir_function *f, const ir_instr *i) {
    if (i->op == IR_CALL)
        flow_call(s, f, i);
    else if (i->op == IR_RET)
        flow_ret(s, ff, f, i);
    else if (ir_is_terminator(i->op))
        flow_edges(s, ff, f, i);
    else if (i->result_count == 1)
        flow_result(s, f, i);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* In order, back to the head of a loop while that brings news. Each fact changes a few times at most, and only what
 * reads it is looked at again: linear in the function. */
void shape_flow_function(shaper *s, const ir_function *f) {
    function_facts *ff = shape_facts_of(s, f);
    ff->is_flowing = true;
    while (ff->next < ff->order.count) {
        uint32_t at = ff->next++;
        const ir_block *b = ff->order.blocks[at];
        if (!ff->stale[at] || !ff->taken[b->id])
            continue;
        ff->stale[at] = false;
        for (const ir_instr *i = b->first; i; i = i->next)
            flow_instr(s, ff, f, i);
    }
    ff->is_flowing = false;
}

static void flow_queue(shaper *s) {
    while (s->queued > 0)
        shape_flow_function(s, dequeue(s));
}

/* A function that nothing has called so far may be called with anything. */
static void begin_with(shaper *s, ir_function *f) {
    function_facts *ff = shape_facts_of(s, f);
    for (uint32_t k = 0; k < f->param_count; k++) {
        set_shape(s, f, f->params[k], shape_unknown);
        set_number(s, f, f->params[k], (number_fact){.state = SHAPE_IS_UNKNOWN});
    }
    ff->reached = true;
    enqueue(s, f);
    flow_queue(s);
}

/* Over everything that is reached, until nothing changes: a rule may have looked at more than its operands. */
static void settle(shaper *s) {
    do {
        s->changed = false;
        for (uint32_t f = 0; f < s->m->function_count; f++) {
            function_facts *ff = shape_facts_of(s, s->m->functions[f]);
            if (!ff->reached)
                continue;
            memset(ff->stale, true, ff->order.count);
            ff->next = 0;
            enqueue(s, s->m->functions[f]);
        }
        flow_queue(s);
    } while (s->changed);
}

static void flow_program(shaper *s) {
    for (uint32_t f = 0; f < s->m->function_count; f++)
        if (shape_facts_of(s, s->m->functions[f])->of_kernel)
            begin_with(s, s->m->functions[f]);
    if (s->m->main)
        begin_with(s, s->m->main);
    for (uint32_t f = 0; f < s->m->function_count; f++) /* entries of what main does not reach */
        if (!s->m->functions[f]->is_kernel && !shape_facts_of(s, s->m->functions[f])->callers &&
            !shape_facts_of(s, s->m->functions[f])->reached)
            begin_with(s, s->m->functions[f]);
    for (uint32_t f = 0; f < s->m->function_count; f++) /* rings of calls that are not entered */
        if (!s->m->functions[f]->is_kernel && !shape_facts_of(s, s->m->functions[f])->reached)
            begin_with(s, s->m->functions[f]);
    settle(s);
}

static bool add_callers(shaper *s, ir_function *f) {
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            shape_facts_of(s, f)->refuses |= i->op == IR_ABI && i->abi == TL_FN_tl_refuse;
            if (i->op != IR_CALL)
                continue;
            function_facts *callee = shape_facts_of(s, i->callee);
            caller *c = MASU_ARENA_NEW(&s->scratch, caller);
            if (!c)
                return false;
            *c = (caller){.function = f, .call = i, .next = callee->callers};
            callee->callers = c;
        }
    }
    return true;
}

/* There are no tensors in a kernel: only that it calls functions matters, with anything. */
static void note_kernel(shaper *s, const ir_function *f) {
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next)
            if (i->op == IR_CALL)
                shape_facts_of(s, i->callee)->of_kernel = true;
}

static bool prepare_function(shaper *s, ir_function *f) {
    function_facts *ff = shape_facts_of(s, f);
    if (f->is_kernel) {
        note_kernel(s, f);
        return true;
    }
    ff->facts = MASU_ARENA_ARRAY(&s->scratch, shape_fact, f->value_count);
    ff->numbers = MASU_ARENA_ARRAY(&s->scratch, number_fact, f->value_count);
    ff->results = MASU_ARENA_ARRAY(&s->scratch, shape_fact, f->result_count);
    ff->number_results = MASU_ARENA_ARRAY(&s->scratch, number_fact, f->result_count);
    ff->taken = MASU_ARENA_ARRAY(&s->scratch, bool, f->block_count);
    ff->stale = MASU_ARENA_ARRAY(&s->scratch, bool, f->block_count);
    if (!ff->facts || !ff->numbers || !ff->results || !ff->number_results || !ff->taken || !ff->stale)
        return false;
    if (f->block_count > 0)
        ff->stale[0] = ff->taken[0] = true;
    return ir_order_compute(&ff->order, f, &s->scratch) && value_users_find(&ff->users, f, &s->scratch) &&
           add_callers(s, f);
}

static bool prepare(shaper *s) {
    s->all = MASU_ARENA_ARRAY(&s->scratch, function_facts, s->m->function_count);
    s->queue = MASU_ARENA_ARRAY(&s->scratch, ir_function *, s->m->function_count);
    if (!s->all || !s->queue)
        return false;
    for (uint32_t f = 0; f < s->m->function_count; f++)
        if (!prepare_function(s, s->m->functions[f]))
            return false;
    return true;
}

/* ---- results --------------------------------------------------------------------------------- */

/* A number stays; a symbol becomes its name, unless it is the value's own dimension. */
static void keep_dim(shaper *s, const ir_function *f, ir_value v, uint32_t d, ir_shape *shape) {
    uint32_t symbol = shape_symbol_of_dim(shape->dim[d]);
    if (shape->dim[d] >= 0)
        return;
    shape->dim[d] = -1;
    if (!symbol || shape_symbol_is_own(&s->symbols, symbol, f, v))
        return;
    if (!shape->name)
        shape->name = ir_alloc(s->m, shape->rank, sizeof *shape->name);
    if (shape->name)
        shape->name[d] = shape_symbol_text(&s->symbols, symbol);
}

static void keep_facts(shaper *s, ir_function *f) {
    const function_facts *ff = shape_facts_of(s, f);
    for (ir_value v = 1; v < f->value_count; v++) {
        f->values[v].shape = NULL;
        if (f->values[v].type != IR_TENSOR || ff->facts[v].state != SHAPE_IS_KNOWN)
            continue;
        ir_shape *shape = ir_alloc(s->m, 1, sizeof *shape);
        if (!shape)
            return;
        *shape = ff->facts[v].shape;
        for (uint32_t d = 0; d < shape->rank; d++)
            keep_dim(s, f, v, d, shape);
        f->values[v].shape = shape;
    }
}

/* Variables that hold lengths lend them their names. */
static void name_symbols(shaper *s, const ir_function *f) {
    uint32_t *symbols = MASU_ARENA_ARRAY(&s->scratch, uint32_t, f->value_count);
    const number_fact *numbers = shape_facts_of(s, f)->numbers;
    s->symbols.out_of_memory |= !symbols;
    for (ir_value v = 1; symbols && v < f->value_count; v++)
        symbols[v] = numbers[v].state == SHAPE_IS_UNKNOWN ? numbers[v].symbol : 0;
    if (symbols)
        shape_symbols_name(&s->symbols, f, symbols);
}

void pass_shapes(ir_module *m, pass_context *context) {
    shaper s = {.m = m, .context = context};
    s.scratch.in_huge_pages = true;
    s.symbols = (shape_symbols){.m = m, .arena = &s.scratch};
    if (prepare(&s)) {
        flow_program(&s);
        for (uint32_t f = 0; f < m->function_count; f++) {
            if (m->functions[f]->is_kernel)
                continue;
            name_symbols(&s, m->functions[f]);
            shape_find_faults(&s, m->functions[f]);
            keep_facts(&s, m->functions[f]);
        }
        m->out_of_memory |= s.symbols.out_of_memory;
    } else {
        m->out_of_memory = true;
    }
    masu__arena_destroy(&s.scratch);
    masu__arena_destroy(&s.calls);
}
