/* tensor_facts.c: see tensor_facts.h.
 *
 * Sweeps over all functions, forwards and backwards in turn, until nothing changes:
 *
 *     result of an operation     from its operands, by the table abi.def
 *     parameter of a block       whatever a jump brings
 *     parameter of a function    whatever a call brings
 *     result of a call           whatever a return of the callee brings
 *     element of a vector        whatever any record brings, from which alone vectors get tensors
 *     kept, returned             backwards, from the uses of a value and of whatever its elements flow to
 *
 * Every other sweep goes through blocks and instructions from the last to the first, so that a chain of views or of
 * parameters of blocks takes one sweep in its own direction and not one a link.
 */
#include <string.h>

#include "language/facts/tensor_facts.h"

/* An operation that fills a buffer of its own fills it row by row: a later `contiguous` finds nothing to do. */
static bool finds_rows(const ir_function *f, const ir_instr *i) {
    const ir_instr *from = f->values[i->args[0]].def;
    return from && (tensor_kind(from) & (TENSOR_FRESH | TENSOR_SHARES)) == TENSOR_FRESH &&
           i->abi != TL_FN_tl_tensor_to_dtype;
}

bool tensor_makes_fresh(const ir_function *f, const ir_instr *i) {
    unsigned kind = tensor_kind(i);
    return kind & TENSOR_FRESH && !(kind & TENSOR_SHARES && finds_rows(f, i));
}

bool tensor_is_elementwise(const ir_instr *i) {
    return tensor_kind(i) & TENSOR_ELEMENTWISE;
}

/* ---- facts of results ---------------------------------------------------------------------------- */

typedef struct sweeper {
    tensor_facts *facts;
    const ir_function *f;
    tensor_fact *own; /* of f's values */
    bool changed;
} sweeper;

static bool is_tensor(const ir_function *f, ir_value v) {
    return ir_type_of(f, v) == IR_TENSOR;
}

static void meet(sweeper *s, tensor_fact *fact, tensor_fact other) {
    tensor_fact was = *fact;
    fact->tracked |= other.tracked;
    if (fact->dtype == DTYPE_IS_UNSET)
        fact->dtype = other.dtype;
    else if (other.dtype != DTYPE_IS_UNSET && other.dtype != fact->dtype)
        fact->dtype = DTYPE_IS_UNKNOWN;
    s->changed |= was.tracked != fact->tracked || was.dtype != fact->dtype;
}

static bool is_float(uint8_t dtype) {
    return dtype == TL_F32 || dtype == TL_F64;
}

/* For what is shared, chosen or copied, whatever the type; TENSOR_ELEMENTWISE may turn whole numbers into real ones. */
static uint8_t dtype_of_first(const sweeper *s, const ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (is_tensor(s->f, i->args[a]))
            return s->own[i->args[a]].dtype;
    return DTYPE_IS_UNKNOWN;
}

/* The type that to_dtype makes. */
static uint8_t dtype_asked_for(const sweeper *s, const ir_instr *i) {
    int64_t dtype = 0;
    return ir_const_int(s->f, i->args[1], &dtype) && dtype >= 0 && dtype < TL_DTYPE_COUNT ? (uint8_t)dtype
                                                                                          : DTYPE_IS_UNKNOWN;
}

/* The element type that all tensor operands share; rules that differ for whole numbers are left unknown. */
static uint8_t common_dtype(const sweeper *s, const ir_instr *i, uint32_t from, bool first_only) {
    uint8_t dtype = DTYPE_IS_UNSET;
    for (uint32_t a = from; a < i->arg_count; a++) {
        if (!is_tensor(s->f, i->args[a]))
            continue;
        uint8_t one = s->own[i->args[a]].dtype;
        if (one == DTYPE_IS_UNSET)
            return DTYPE_IS_UNSET;
        if (!is_float(one) || (dtype != DTYPE_IS_UNSET && dtype != one))
            return DTYPE_IS_UNKNOWN;
        dtype = one;
        if (first_only)
            break;
    }
    return dtype == DTYPE_IS_UNSET ? DTYPE_IS_UNKNOWN : dtype;
}

tl_dtype tensor_dtype_by_rule(tl_dtype_rule rule, tl_dtype first, tl_dtype widest) {
    switch (rule) {
    case DTYPE_SAME:
        return first;
    case DTYPE_PROMOTE:
    case DTYPE_CHOICE:
        return widest;
    case DTYPE_COUNT:
        return widest == TL_BOOL ? TL_I64 : widest;
    case DTYPE_FLOAT:
    case DTYPE_REAL:
        return widest == TL_F64 ? TL_F64 : TL_F32;
    case DTYPE_F32:
        return TL_F32;
    case DTYPE_F64:
        return TL_F64;
    case DTYPE_I64:
        return TL_I64;
    case DTYPE_BOOL:
        return TL_BOOL;
    default:
        return TL_DTYPE_COUNT;
    }
}

static uint8_t dtype_of_result(const sweeper *s, const ir_instr *i) {
    const tl_dtype_rule rule = tl_abi_functions[i->abi].dtype;
    if (i->abi == TL_FN_tl_tensor_to_dtype)
        return dtype_asked_for(s, i);
    if (rule == NO_DTYPE || rule == DTYPE_UNKNOWN)
        return DTYPE_IS_UNKNOWN;
    if (rule == DTYPE_SAME && !tensor_is_elementwise(i))
        return dtype_of_first(s, i);
    uint8_t of = TL_F32;
    if (rule < DTYPE_F32)
        of = common_dtype(s, i, rule == DTYPE_CHOICE, rule == DTYPE_SAME || rule == DTYPE_FLOAT);
    return of < TL_DTYPE_COUNT ? (uint8_t)tensor_dtype_by_rule(rule, of, of) : of;
}

/* The flag that makes some operations track; true unless it is known to be false. */
static bool asks_for_history(const ir_function *f, const ir_instr *i, bool *said) {
    for (uint32_t a = 0; a < i->arg_count; a++) {
        const tl_abi_parameter *parameter = ir_abi_parameter(i, a);
        int64_t flag = 1;
        if (!parameter || parameter->kind != ABI_bool ||
            (strcmp(parameter->name, "grad") != 0 && strcmp(parameter->name, "track") != 0))
            continue;
        *said = true;
        return !ir_const_int(f, i->args[a], &flag) || flag != 0;
    }
    return false;
}

static bool result_is_tracked(const sweeper *s, const ir_instr *i) {
    bool said = false, asked = asks_for_history(s->f, i, &said);
    if (said)
        return asked;
    if (i->abi == TL_FN_tl_tensor_enable_grad || i->abi == TL_FN_tl_tensor_marked ||
        i->abi == TL_FN_tl_tensor_gradient || tl_abi_functions[i->abi].effects & READS_GRAD)
        return true;
    for (uint32_t a = 0; a < i->arg_count; a++) {
        ir_type type = ir_type_of(s->f, i->args[a]);
        if ((type == IR_OBJECT && s->facts->stored.tracked) || (type == IR_TENSOR && s->own[i->args[a]].tracked))
            return true;
    }
    return false;
}

static tensor_fact fact_of_comprehension(const sweeper *s, const ir_instr *i) {
    bool tracked = false;
    for (uint32_t a = 0; a < i->arg_count; a++)
        tracked |= is_tensor(s->f, i->args[a]) && s->own[i->args[a]].tracked;
    return (tensor_fact){.tracked = tracked, .dtype = (uint8_t)i->kernel->dtype};
}

static void sweep_call(sweeper *s, const ir_instr *i) {
    tensor_fact *theirs = s->facts->values[i->callee->id];
    const tensor_fact *results = s->facts->results[i->callee->id];
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (is_tensor(s->f, i->args[a]))
            meet(s, &theirs[i->callee->params[a]], s->own[i->args[a]]);
    for (uint32_t r = 0; r < i->result_count; r++)
        if (is_tensor(s->f, i->result + r))
            meet(s, &s->own[i->result + r], results[r]);
}

static void sweep_record(sweeper *s, const ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (is_tensor(s->f, i->args[a]))
            meet(s, &s->facts->stored, s->own[i->args[a]]);
}

static tensor_fact fact_of_result(const sweeper *s, const ir_instr *i) {
    switch (i->op) {
    case IR_COMPREHEND:
        return fact_of_comprehension(s, i);
    case IR_ABI:
        return (tensor_fact){.tracked = result_is_tracked(s, i), .dtype = dtype_of_result(s, i)};
    case IR_RECORD_WORD:
        return s->facts->stored;
    case IR_NOTHING:
        return (tensor_fact){.dtype = DTYPE_IS_UNSET};
    default:
        return (tensor_fact){.tracked = true, .dtype = DTYPE_IS_UNKNOWN};
    }
}

static void sweep_results(sweeper *s, const ir_instr *i) {
    if (i->op == IR_CALL)
        sweep_call(s, i);
    if (i->op == IR_RECORD)
        sweep_record(s, i);
    for (uint32_t r = 0; i->op != IR_CALL && r < i->result_count; r++)
        if (is_tensor(s->f, i->result + r))
            meet(s, &s->own[i->result + r], fact_of_result(s, i));
}

/* ---- what is kept ---------------------------------------------------------------------------------- */

bool tensor_reads_plain(const tensor_facts *facts, const ir_function *f, const ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (is_tensor(f, i->args[a]) && facts->values[f->id][i->args[a]].tracked)
            return false;
    return true;
}

enum { MOST_RESULTS = 32 }; /* bits of `returned`; what leaves in a later one is kept */

static void flow_through_call(const tensor_facts *facts, const ir_instr *i, uint32_t operand, tensor_flow_visit *visit,
                              void *user) {
    uint32_t returned = facts->values[i->callee->id][i->callee->params[operand]].returned;
    for (uint32_t r = 0; r < i->result_count && r < MOST_RESULTS && returned >> r; r++)
        if (returned >> r & 1)
            visit(user, i->args[operand], i->result + r);
}

void tensor_flows(const tensor_facts *facts, const ir_function *f, const ir_instr *i, tensor_flow_visit *visit,
                  void *user) {
    for (uint32_t a = 0; i->op == IR_CALL && a < i->arg_count; a++)
        if (is_tensor(f, i->args[a]))
            flow_through_call(facts, i, a, visit, user);
    if (tensor_kind(i) & TENSOR_SHARES && is_tensor(f, i->args[0]))
        visit(user, i->args[0], i->result);
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++)
            if (is_tensor(f, i->target[t].args[a]))
                visit(user, i->target[t].args[a], i->target[t].block->params[a]);
}

/* Whether i may keep its operand, or the operand's elements, beyond its own end. What flows on is not kept. */
static bool keeps(const sweeper *s, const ir_instr *i, uint32_t operand) {
    switch (i->op) {
    case IR_KEEP:
    case IR_ACQUIRE:
    case IR_RELEASE:
    case IR_ROOT:
    case IR_UNROOT:
    case IR_RET:
        return false;
    case IR_CALL:
        return s->facts->values[i->callee->id][i->callee->params[operand]].kept;
    default:
        break;
    }
    unsigned kind = tensor_kind(i);
    bool joins_history = kind & TENSOR_SHARES && s->own[i->result].tracked;
    return !(kind & TENSOR_READS) || joins_history || !tensor_reads_plain(s->facts, s->f, i);
}

static void lose(sweeper *s, ir_value v, bool kept, uint32_t returned) {
    tensor_fact *fact = &s->own[v];
    s->changed |= (kept && !fact->kept) || (returned & ~fact->returned);
    fact->kept |= kept;
    fact->returned |= returned;
}

static void flow_back(void *user, ir_value from, ir_value to) {
    sweeper *s = user;
    lose(s, from, s->own[to].kept, s->own[to].returned);
}

static void sweep_uses(sweeper *s, const ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++) {
        if (!is_tensor(s->f, i->args[a]))
            continue;
        bool leaves = i->op == IR_RET;
        lose(s, i->args[a], leaves ? a >= MOST_RESULTS : keeps(s, i, a),
             leaves && a < MOST_RESULTS ? (uint32_t)1 << a : 0);
    }
    tensor_flows(s->facts, s->f, i, flow_back, s);
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++)
            if (is_tensor(s->f, i->target[t].args[a]))
                meet(s, &s->own[i->target[t].block->params[a]], s->own[i->target[t].args[a]]);
}

static void sweep_instr(sweeper *s, const ir_instr *i) {
    sweep_results(s, i);
    sweep_uses(s, i);
    for (uint32_t r = 0; i->op == IR_RET && r < i->arg_count; r++)
        if (is_tensor(s->f, i->args[r]))
            meet(s, &s->facts->results[s->f->id][r], s->own[i->args[r]]);
}

static void sweep_forwards(sweeper *s) {
    for (uint32_t b = 0; b < s->f->block_count; b++)
        for (const ir_instr *i = s->f->blocks[b]->first; i; i = i->next)
            sweep_instr(s, i);
}

static void sweep_backwards(sweeper *s) {
    for (uint32_t b = s->f->block_count; b-- > 0;)
        for (const ir_instr *i = s->f->blocks[b]->last; i; i = i->prev)
            sweep_instr(s, i);
}

/* ---- recursion --------------------------------------------------------------------------------------- */

typedef struct visit {
    const ir_function *f;
    uint32_t block;
    const ir_instr *next;
} visit;

typedef struct circles { /* Tarjan's strongly connected components, by a stack of its own */
    tensor_facts *facts;
    uint32_t *number, *low; /* by function id; number 0: not met */
    bool *open;
    visit *calls;
    uint32_t depth, met;
    const ir_function **path;
    uint32_t path_count;
} circles;

static void enter(circles *c, const ir_function *f) {
    c->number[f->id] = c->low[f->id] = ++c->met;
    c->open[f->id] = true;
    c->path[c->path_count++] = f;
    c->calls[c->depth++] = (visit){f, 0, f->blocks[0]->first};
}

static void close(circles *c, const ir_function *f) {
    if (c->low[f->id] != c->number[f->id])
        return;
    bool alone = c->path[c->path_count - 1] == f;
    const ir_function *member;
    do {
        member = c->path[--c->path_count];
        c->facts->order[c->facts->order_count++] = member->id;
        c->open[member->id] = false;
        c->facts->recursive[member->id] |= !alone;
    } while (member != f);
}

static void follow(circles *c, const visit *top, const ir_function *callee) {
    uint32_t from = top->f->id;
    if (callee == top->f)
        c->facts->recursive[from] = true;
    if (!c->number[callee->id])
        enter(c, callee);
    else if (c->open[callee->id] && c->number[callee->id] < c->low[from])
        c->low[from] = c->number[callee->id];
}

static void step(circles *c) {
    visit *top = &c->calls[c->depth - 1];
    if (!top->next && ++top->block < top->f->block_count)
        top->next = top->f->blocks[top->block]->first;
    else if (!top->next) {
        const ir_function *done = top->f;
        close(c, done);
        if (--c->depth == 0)
            return;
        uint32_t below = c->calls[c->depth - 1].f->id;
        if (c->low[done->id] < c->low[below])
            c->low[below] = c->low[done->id];
        return;
    }
    const ir_instr *i = top->next;
    if (!i)
        return;
    top->next = i->next;
    if (i->op == IR_CALL)
        follow(c, top, i->callee);
}

static bool find_circles(tensor_facts *facts, masu__arena *scratch) {
    const ir_module *m = facts->m;
    uint32_t n = m->function_count;
    circles c = {.facts = facts};
    c.number = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    c.low = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    c.open = MASU_ARENA_ARRAY(scratch, bool, n);
    c.calls = MASU_ARENA_ARRAY(scratch, visit, n);
    c.path = MASU_ARENA_ARRAY(scratch, const ir_function *, n);
    if (!c.number || !c.low || !c.open || !c.calls || !c.path)
        return false;
    for (uint32_t f = 0; f < n; f++) {
        if (c.number[f] || m->functions[f]->block_count == 0)
            continue;
        enter(&c, m->functions[f]);
        while (c.depth > 0)
            step(&c);
    }
    return true;
}

/* ---- the module -------------------------------------------------------------------------------------- */

static tensor_fact *unset(masu__arena *scratch, uint32_t count) {
    tensor_fact *facts = MASU_ARENA_ARRAY(scratch, tensor_fact, count ? count : 1);
    for (uint32_t k = 0; facts && k < count; k++)
        facts[k].dtype = DTYPE_IS_UNSET;
    return facts;
}

bool tensor_facts_compute(tensor_facts *facts, const ir_module *m, masu__arena *scratch) {
    uint32_t n = m->function_count;
    *facts = (tensor_facts){.m = m, .stored.dtype = DTYPE_IS_UNSET};
    facts->values = MASU_ARENA_ARRAY(scratch, tensor_fact *, n);
    facts->results = MASU_ARENA_ARRAY(scratch, tensor_fact *, n);
    facts->recursive = MASU_ARENA_ARRAY(scratch, bool, n);
    facts->order = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    if (!facts->values || !facts->results || !facts->recursive || !facts->order || !find_circles(facts, scratch))
        return false;
    for (uint32_t f = 0; f < n; f++) {
        facts->values[f] = unset(scratch, m->functions[f]->value_count);
        facts->results[f] = unset(scratch, m->functions[f]->result_count);
        if (!facts->values[f] || !facts->results[f])
            return false;
    }
    sweeper s = {.facts = facts, .changed = true};
    for (uint32_t sweep = 0; s.changed; sweep++) {
        s.changed = false;
        for (uint32_t k = 0; k < n; k++) {
            s.f = m->functions[sweep % 2 ? n - 1 - k : k];
            s.own = facts->values[s.f->id];
            if (!s.f->is_kernel && sweep % 2)
                sweep_backwards(&s);
            else if (!s.f->is_kernel)
                sweep_forwards(&s);
        }
    }
    return true;
}
