/* tensor_facts.c: see tensor_facts.h.
 *
 * Sweeps over all functions, forwards and backwards in turn, until nothing changes:
 *
 *     result of an operation     from its operands, by the table abi.def
 *     parameter of a block       whatever a jump brings
 *     parameter of a function    whatever a call brings;   kept: backwards, from its uses
 *     result of a call           whatever a return of the callee brings
 */
#include <string.h>

#include "language/pass/tensor_facts.h"

/* ---- the operations ---------------------------------------------------------------------------- */

enum { ELEMENTWISE = 1, FRESH = 2, READS = 4 };

/* What is not listed may hand out what it was given, or keep it. */
#define UNARY_OPERATIONS(X)                                                                      \
    X(neg)                                                                                       \
    X(abs)                                                                                       \
    X(exp)                                                                                       \
    X(log)                                                                                       \
    X(sqrt) X(sin) X(cos) X(tanh) X(sigmoid) X(relu) X(gelu) X(silu) X(tan) X(mish) X(hardswish) \
        X(hardsigmoid) X(leaky_relu) X(elu) X(floor) X(ceil) X(round) X(sign) X(clamp)           \
            X(add_scalar) X(sub_scalar) X(mul_scalar) X(div_scalar) X(rem_scalar) X(rsub_scalar) \
                X(rdiv_scalar) X(pow_scalar)
#define BINARY_OPERATIONS(X) X(add) X(sub) X(mul) X(div) X(rem) X(pow)
#define MAKING_OPERATIONS(X)                                                                      \
    X(zeros)                                                                                      \
    X(ones)                                                                                       \
    X(full)                                                                                       \
    X(randn)                                                                                      \
    X(rand) X(eye) X(arange) X(linspace) X(zeros_like) X(ones_like) X(randn_like) X(rand_like)    \
        X(literal_f32) X(literal_f64) X(literal_i64) X(literal_bool) X(compare) X(compare_scalar) \
            X(where) X(logical_not) X(logical_and) X(logical_or) X(sum) X(sum_dim) X(mean)        \
                X(mean_dim) X(max) X(max_dim) X(min) X(min_dim) X(argmax) X(argmax_dim) X(argmin) \
                    X(argmin_dim) X(prod) X(softmax) X(log_softmax) X(matmul)
#define READING_OPERATIONS(X) \
    X(get_f64) X(get_i64) X(item) X(item_i64) X(item_bool) X(len) X(rank) X(dim)

static unsigned kind_of(const ir_instr *i) {
    if (i->op == IR_COMPREHEND)
        return FRESH | READS;
    if (i->op != IR_ABI)
        return 0;
    switch ((int)i->abi) {
#define X(name) case TL_FN_tl_tensor_##name:
        UNARY_OPERATIONS(X)
        BINARY_OPERATIONS(X)
        return ELEMENTWISE | FRESH | READS;
        MAKING_OPERATIONS(X)
        return FRESH | READS;
        READING_OPERATIONS(X)
        return READS;
#undef X
    case TL_FN_tl_print_tensor:
    case TL_FN_tl_text_tensor:
        return READS;
    default:
        return 0;
    }
}

bool tensor_makes_fresh(const ir_instr *i) {
    return kind_of(i) & FRESH;
}

bool tensor_is_elementwise(const ir_instr *i) {
    return kind_of(i) & ELEMENTWISE;
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

/* What all tensor operands agree on; rules that differ for whole numbers are left unknown. */
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

static uint8_t dtype_of_result(const sweeper *s, const ir_instr *i) {
    switch (tl_abi_functions[i->abi].dtype) {
    case DTYPE_F32:
        return TL_F32;
    case DTYPE_F64:
        return TL_F64;
    case DTYPE_I64:
        return TL_I64;
    case DTYPE_BOOL:
        return TL_BOOL;
    case DTYPE_SAME:
    case DTYPE_FLOAT:
        return common_dtype(s, i, 0, true);
    case DTYPE_PROMOTE:
    case DTYPE_COUNT:
    case DTYPE_REAL:
        return common_dtype(s, i, 0, false);
    case DTYPE_CHOICE:
        return common_dtype(s, i, 1, false);
    default:
        return DTYPE_IS_UNKNOWN;
    }
}

/* The flag by which some operations are told to track; true unless it is known to be false. */
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
    if (i->abi == TL_FN_tl_tensor_enable_grad || tl_abi_functions[i->abi].effects & READS_GRAD)
        return true;
    for (uint32_t a = 0; a < i->arg_count; a++) {
        ir_type type = ir_type_of(s->f, i->args[a]);
        if (type == IR_OBJECT || (type == IR_TENSOR && s->own[i->args[a]].tracked))
            return true;
    }
    return false;
}

static void sweep_comprehension(sweeper *s, const ir_instr *i) {
    bool tracked = false;
    for (uint32_t a = 0; a < i->arg_count; a++)
        tracked |= is_tensor(s->f, i->args[a]) && s->own[i->args[a]].tracked;
    meet(s, &s->own[i->result],
         (tensor_fact){.tracked = tracked, .dtype = (uint8_t)i->kernel->dtype});
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

static void sweep_results(sweeper *s, const ir_instr *i) {
    static const tensor_fact anything = {.tracked = true, .dtype = DTYPE_IS_UNKNOWN};
    if (i->op == IR_CALL) {
        sweep_call(s, i);
        return;
    }
    if (i->op == IR_COMPREHEND) {
        sweep_comprehension(s, i);
        return;
    }
    for (uint32_t r = 0; r < i->result_count; r++) {
        if (!is_tensor(s->f, i->result + r))
            continue;
        bool known = i->op == IR_ABI;
        meet(s, &s->own[i->result + r],
             known
                 ? (tensor_fact){.tracked = result_is_tracked(s, i), .dtype = dtype_of_result(s, i)}
                 : anything);
    }
}

/* ---- what is kept ---------------------------------------------------------------------------------- */

bool tensor_reads_plain(const tensor_facts *facts, const ir_function *f, const ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (is_tensor(f, i->args[a]) && facts->values[f->id][i->args[a]].tracked)
            return false;
    return true;
}

bool tensor_facts_keeps(const tensor_facts *facts, const ir_function *f, const ir_instr *i,
                        uint32_t operand) {
    switch (i->op) {
    case IR_KEEP:
    case IR_RELEASE:
    case IR_ROOT:
    case IR_UNROOT:
        return false;
    case IR_CALL:
        return facts->values[i->callee->id][i->callee->params[operand]].kept;
    default:
        return !(kind_of(i) & READS) || !tensor_reads_plain(facts, f, i);
    }
}

/* A parameter over which something is written that leaves the function: the caller's frame could not lend it. */
static bool leaves_as_result(const sweeper *s, const ir_instr *i, ir_value v) {
    return i->reuse == v && s->f->values[v].is_parameter && s->own[i->result].kept;
}

static void sweep_uses(sweeper *s, const ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++) {
        tensor_fact *fact = &s->own[i->args[a]];
        if (!is_tensor(s->f, i->args[a]) || fact->kept ||
            (!tensor_facts_keeps(s->facts, s->f, i, a) && !leaves_as_result(s, i, i->args[a])))
            continue;
        fact->kept = s->changed = true;
    }
    for (int t = 0; t < ir_target_count(i); t++) {
        for (uint32_t a = 0; a < i->target[t].count; a++) {
            ir_value arg = i->target[t].args[a];
            if (!is_tensor(s->f, arg))
                continue;
            s->changed |= !s->own[arg].kept;
            s->own[arg].kept = true;
            meet(s, &s->own[i->target[t].block->params[a]], s->own[arg]);
        }
    }
}

static void sweep_function(sweeper *s) {
    s->own = s->facts->values[s->f->id];
    for (uint32_t b = 0; b < s->f->block_count; b++) {
        for (const ir_instr *i = s->f->blocks[b]->first; i; i = i->next) {
            sweep_results(s, i);
            sweep_uses(s, i);
            for (uint32_t r = 0; i->op == IR_RET && r < i->arg_count; r++)
                if (is_tensor(s->f, i->args[r]))
                    meet(s, &s->facts->results[s->f->id][r], s->own[i->args[r]]);
        }
    }
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
    *facts = (tensor_facts){.m = m};
    facts->values = MASU_ARENA_ARRAY(scratch, tensor_fact *, n);
    facts->results = MASU_ARENA_ARRAY(scratch, tensor_fact *, n);
    facts->recursive = MASU_ARENA_ARRAY(scratch, bool, n);
    if (!facts->values || !facts->results || !facts->recursive || !find_circles(facts, scratch))
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
            if (!s.f->is_kernel)
                sweep_function(&s);
        }
    }
    return true;
}
