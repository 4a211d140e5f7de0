/* shapes.c: what is known of every tensor's shape, and which operations can never succeed.
 *
 * Facts flow forward through the whole program, optimistically: a value has no fact until
 * something reaches it, and then only what every way of reaching it agrees on.
 *
 *     result of an operation     its rule (shape_rules.c) over the operands' facts
 *     parameter of a block       what all edges bring that can be taken (see shape_condition)
 *     parameter of a function    what all calls bring; unknown for functions that nobody calls
 *     result of a call           what all returns of the callee bring
 *
 * Facts only ever lose, so this ends. Then each operation that is reached is asked once more, now
 * for faults: dimensions that are still known and do not fit will not fit whatever happens.
 */
#include <inttypes.h>
#include <string.h>

#include "language/ir/cfg.h"
#include "language/ir/store.h"
#include "language/pass/pass.h"
#include "language/pass/shape_facts.h"

typedef struct caller {
    ir_function *function;
    struct caller *next;
} caller;

typedef struct function_facts {
    shape_fact *facts;           /* by value */
    number_fact *numbers;        /* by value */
    shape_fact *results;         /* by result */
    number_fact *number_results; /* by result */
    bool *taken;                 /* by block: something leads there */
    ir_order order;
    bool reached, queued;
    caller *callers;
} function_facts;

typedef struct shaper {
    ir_module *m;
    pass_context *context;
    masu__arena scratch;
    function_facts *all; /* by function id */
    ir_function **queue; /* a ring with room for every function */
    uint32_t first, queued;
    bool changed; /* by the sweep that is going on */
} shaper;

static function_facts *facts_of(const shaper *s, const ir_function *f) {
    return &s->all[f->id];
}

static void enqueue(shaper *s, ir_function *f) {
    function_facts *ff = facts_of(s, f);
    if (ff->queued)
        return;
    ff->queued = true;
    s->queue[(s->first + s->queued++) % s->m->function_count] = f;
}

static ir_function *dequeue(shaper *s) {
    ir_function *f = s->queue[s->first];
    s->first = (s->first + 1) % s->m->function_count;
    s->queued--;
    facts_of(s, f)->queued = false;
    return f;
}

/* ---- one instruction ------------------------------------------------------------------------- */

/* What is known of `from` in f's caller or block flows to `to` there. True when that changed
 * what is known of `to`. */
static bool flow_value(const function_facts *source, ir_value from, function_facts *target,
                       ir_value to, ir_type type) {
    if (type == IR_TENSOR)
        return shape_fact_meet(&target->facts[to], &source->facts[from]);
    return type == IR_I64 && number_fact_meet(&target->numbers[to], &source->numbers[from]);
}

/* Every argument meets the callee's parameter; the results are what the callee is known to return
 * so far. */
static void flow_call(shaper *s, function_facts *ff, const ir_function *f, const ir_instr *i) {
    function_facts *callee = facts_of(s, i->callee);
    bool news = !callee->reached;
    callee->reached = true;
    for (uint32_t a = 0; a < i->arg_count; a++)
        news |= flow_value(ff, i->args[a], callee, i->callee->params[a], ir_type_of(f, i->args[a]));
    if (news)
        enqueue(s, i->callee);
    for (uint32_t r = 0; r < i->result_count; r++) {
        ir_value v = i->result + r;
        if (ir_type_of(f, v) == IR_TENSOR)
            s->changed |= shape_fact_meet(&ff->facts[v], &callee->results[r]);
        else if (ir_type_of(f, v) == IR_I64)
            s->changed |= number_fact_meet(&ff->numbers[v], &callee->number_results[r]);
    }
}

static void flow_ret(shaper *s, function_facts *ff, const ir_function *f, const ir_instr *i) {
    bool news = false;
    for (uint32_t a = 0; a < i->arg_count; a++) {
        if (f->results[a] == IR_TENSOR)
            news |= shape_fact_meet(&ff->results[a], &ff->facts[i->args[a]]);
        else if (f->results[a] == IR_I64)
            news |= number_fact_meet(&ff->number_results[a], &ff->numbers[i->args[a]]);
    }
    for (caller *c = ff->callers; news && c; c = c->next)
        if (facts_of(s, c->function)->reached)
            enqueue(s, c->function);
}

static void flow_edges(shaper *s, function_facts *ff, const ir_function *f, const ir_instr *i) {
    shape_query q = {.f = f, .i = i, .facts = ff->facts, .numbers = ff->numbers};
    unsigned takes = i->op == IR_BRANCH ? shape_condition(&q, i->args[0]) : SHAPE_TAKES_FIRST;
    for (int t = 0; t < ir_target_count(i); t++) {
        if (!(takes & (t == 0 ? SHAPE_TAKES_FIRST : SHAPE_TAKES_SECOND)))
            continue;
        const ir_target *target = &i->target[t];
        s->changed |= !ff->taken[target->block->id];
        ff->taken[target->block->id] = true;
        for (uint32_t a = 0; a < target->count; a++)
            s->changed |= flow_value(ff, target->args[a], ff, target->block->params[a],
                                     ir_type_of(f, target->args[a]));
    }
}

static void flow_result(shaper *s, function_facts *ff, const ir_function *f, const ir_instr *i) {
    shape_query q = {.f = f, .i = i, .facts = ff->facts, .numbers = ff->numbers};
    ir_type type = ir_type_of(f, i->result);
    if (type == IR_TENSOR) {
        bool ruled = i->op == IR_ABI || i->op == IR_COMPREHEND;
        shape_fact fact = ruled ? shape_rule_apply(&q, NULL) : shape_unknown;
        s->changed |= shape_fact_meet(&ff->facts[i->result], &fact);
    } else if (type == IR_I64) {
        number_fact fact = shape_number_apply(&q);
        s->changed |= number_fact_meet(&ff->numbers[i->result], &fact);
    }
}

static void flow_instr(shaper *s, function_facts *ff, const ir_function *f, const ir_instr *i) {
    if (i->op == IR_CALL)
        flow_call(s, ff, f, i);
    else if (i->op == IR_RET)
        flow_ret(s, ff, f, i);
    else if (ir_is_terminator(i->op))
        flow_edges(s, ff, f, i);
    else if (i->result_count == 1)
        flow_result(s, ff, f, i);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void flow_function(shaper *s, ir_function *f) {
    function_facts *ff = facts_of(s, f);
    ff->taken[0] = true;
    do {
        s->changed = false;
        for (uint32_t k = 0; k < ff->order.count; k++)
            if (ff->taken[ff->order.blocks[k]->id])
                for (const ir_instr *i = ff->order.blocks[k]->first; i; i = i->next)
                    flow_instr(s, ff, f, i);
    } while (s->changed);
}

static void flow_queue(shaper *s) {
    while (s->queued > 0)
        flow_function(s, dequeue(s));
}

/* A function that nothing has called so far may be called with anything. */
static void begin_with(shaper *s, ir_function *f) {
    function_facts *ff = facts_of(s, f);
    for (uint32_t k = 0; k < f->param_count; k++) {
        ff->facts[f->params[k]] = shape_unknown;
        ff->numbers[f->params[k]].state = SHAPE_IS_UNKNOWN;
    }
    ff->reached = true;
    enqueue(s, f);
    flow_queue(s);
}

static void flow_program(shaper *s) {
    if (s->m->main)
        begin_with(s, s->m->main);
    for (uint32_t f = 0; f < s->m->function_count; f++) /* entries of what main does not reach */
        if (!s->m->functions[f]->is_kernel && !facts_of(s, s->m->functions[f])->callers &&
            !facts_of(s, s->m->functions[f])->reached)
            begin_with(s, s->m->functions[f]);
    for (uint32_t f = 0; f < s->m->function_count; f++) /* rings of calls that nobody enters */
        if (!s->m->functions[f]->is_kernel && !facts_of(s, s->m->functions[f])->reached)
            begin_with(s, s->m->functions[f]);
}

static bool add_callers(shaper *s, ir_function *f) {
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            if (i->op != IR_CALL)
                continue;
            function_facts *callee = facts_of(s, i->callee);
            if (callee->callers && callee->callers->function == f)
                continue;
            caller *c = MASU_ARENA_NEW(&s->scratch, caller);
            if (!c)
                return false;
            *c = (caller){.function = f, .next = callee->callers};
            callee->callers = c;
        }
    }
    return true;
}

static bool prepare_function(shaper *s, ir_function *f) {
    function_facts *ff = facts_of(s, f);
    ff->facts = MASU_ARENA_ARRAY(&s->scratch, shape_fact, f->value_count);
    ff->numbers = MASU_ARENA_ARRAY(&s->scratch, number_fact, f->value_count);
    ff->results = MASU_ARENA_ARRAY(&s->scratch, shape_fact, f->result_count);
    ff->number_results = MASU_ARENA_ARRAY(&s->scratch, number_fact, f->result_count);
    ff->taken = MASU_ARENA_ARRAY(&s->scratch, bool, f->block_count);
    return ff->facts && ff->numbers && ff->results && ff->number_results && ff->taken &&
           ir_order_compute(&ff->order, f, &s->scratch) && add_callers(s, f);
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

/* ---- faults ---------------------------------------------------------------------------------- */

enum { LONGEST_QUOTE = 60 };

/* The source text of the span when it is short and on one line; else the fallback. */
static void quote(source_span span, const char *fallback, masu__buffer *out) {
    const char *text = span.file ? span.file->text + span.offset : NULL;
    bool fits =
        text && span.length > 0 && span.length <= LONGEST_QUOTE && !memchr(text, '\n', span.length);
    masu__buffer_putc(out, '`');
    if (fits)
        masu__buffer_append(out, text, span.length);
    else
        masu__buffer_puts(out, fallback);
    masu__buffer_putc(out, '`');
}

static void describe_value(const ir_function *f, ir_value v, const shape_fact *fact,
                           masu__buffer *out) {
    const char *name = f->values[v].name;
    if (name)
        masu__buffer_printf(out, "`%s`", name);
    else
        quote(f->values[v].span, "this tensor", out);
    masu__buffer_puts(out, " has shape ");
    shape_put(&fact->shape, out);
}

/* The one call of *f in the program, *f then the function that it stands in; NULL when there are more. */
static const ir_instr *only_call(const shaper *s, const ir_function **f) {
    const ir_instr *found = NULL;
    const ir_function *callee = *f;
    for (const caller *c = facts_of(s, callee)->callers; c; c = c->next) {
        for (uint32_t b = 0; b < c->function->block_count; b++) {
            for (const ir_instr *i = c->function->blocks[b]->first; i; i = i->next) {
                if (i->op != IR_CALL || i->callee != callee)
                    continue;
                if (found)
                    return NULL;
                found = i;
                *f = c->function;
            }
        }
    }
    return found;
}

/* At the operation, or at the calls that lead there when nobody wrote it. */
static bool say(const shaper *s, const ir_function *f, const ir_instr *i, const char *text,
                const pass_note *notes, size_t count) {
    for (int depth = 0; i && depth < 8; depth++) {
        if (!s->context->report ||
            s->context->report(s->context->user, i->span, text, notes, count))
            return true;
        i = only_call(s, &f);
    }
    return false;
}

static void report(shaper *s, const ir_function *f, const ir_instr *i, shape_fault *fault) {
    const function_facts *ff = facts_of(s, f);
    masu__buffer texts[3] = {0};
    pass_note notes[3];
    masu__buffer_puts(&fault->text, " in ");
    quote(i->span, tl_abi_functions[i->abi].symbol, &fault->text);
    for (uint32_t n = 0; n < fault->about_count; n++) {
        describe_value(f, fault->about[n], &ff->facts[fault->about[n]], &texts[n]);
        notes[n] = (pass_note){.span = f->values[fault->about[n]].span,
                               .text = masu__buffer_text(&texts[n])};
    }
    s->context->error_count +=
        say(s, f, i, masu__buffer_text(&fault->text), notes, fault->about_count);
    for (uint32_t n = 0; n < fault->about_count; n++)
        masu__buffer_destroy(&texts[n]);
}

static void find_faults(shaper *s, const ir_function *f) {
    const function_facts *ff = facts_of(s, f);
    for (uint32_t k = 0; k < ff->order.count; k++) {
        if (!ff->taken[ff->order.blocks[k]->id])
            continue;
        for (const ir_instr *i = ff->order.blocks[k]->first; i; i = i->next) {
            shape_query q = {.f = f, .i = i, .facts = ff->facts, .numbers = ff->numbers};
            shape_fault fault = {0};
            if (i->op == IR_ABI)
                shape_rule_apply(&q, &fault);
            if (fault.text.length > 0)
                report(s, f, i, &fault);
            masu__buffer_destroy(&fault.text);
        }
    }
}

/* ---- results --------------------------------------------------------------------------------- */

static void keep_facts(shaper *s, ir_function *f) {
    const function_facts *ff = facts_of(s, f);
    for (ir_value v = 1; v < f->value_count; v++) {
        f->values[v].shape = NULL;
        if (f->values[v].type != IR_TENSOR || ff->facts[v].state != SHAPE_IS_KNOWN)
            continue;
        ir_shape *shape = ir_alloc(s->m, 1, sizeof *shape);
        if (!shape)
            return;
        *shape = ff->facts[v].shape;
        f->values[v].shape = shape;
    }
}

void pass_shapes(ir_module *m, pass_context *context) {
    shaper s = {.m = m, .context = context};
    if (prepare(&s)) {
        flow_program(&s);
        for (uint32_t f = 0; f < m->function_count; f++) {
            find_faults(&s, m->functions[f]);
            keep_facts(&s, m->functions[f]);
        }
    } else {
        m->out_of_memory = true;
    }
    masu__arena_destroy(&s.scratch);
}
