/* frames.c: tensors that never leave their function lie in its frame.
 *
 *     fn f(x) { let a = x * 2.0; let b = x.tanh(); let c = a + b; c.sum().item() }
 *
 *     offset ▲
 *       4096 │     bbbbb           c takes over a's bytes: it is written over it
 *          0 │ aaaaaaaaaccccc s    the planner (masu/plan.h) finds the offsets
 *            └────────────────────► the program's points, in the order of its blocks
 *
 * A tensor qualifies when it is made here by an operation that fills a buffer of its own, its size is
 * known, nothing that reads it may keep its elements (it is not returned, stored, carried around a
 * loop, viewed, or read by an operation whose result may be tracked), and it is not large: a large
 * buffer costs little beside the work on it, and in a pool it is free again as soon as it dies. In a
 * function that may call itself every frame would hold them, so there they stay in the pool, too.
 *
 * Results that are written over a dying operand form a chain that has one buffer. A chain that ends in
 * a tensor that leaves the function is better off in the pool: what leaves needs a buffer there anyhow.
 *
 *     a tensor's life = from the point that makes it to its release, hull over the blocks' order
 */
#include <inttypes.h>

#include <masu/plan.h>

#include "language/pass/liveness.h"
#include "language/pass/pass.h"
#include "language/pass/tensor_facts.h"

enum { MOST_BYTES = 64 * 1024, ALIGNMENT = 64 };

typedef struct life {
    int64_t first, last; /* of the whole chain, in the value that stands for it */
    uint64_t bytes;      /* 0: not in the frame */
    ir_value chain; /* the value that stands for all whose buffer it shares; itself for that one */
    bool leaves;    /* the chain goes on in a buffer of the pool */
} life;

typedef struct framer {
    ir_module *m;
    ir_function *f;
    const tensor_facts *facts;
    masu__arena scratch;
    liveness l;
    life *lives; /* by value */
    int64_t now;
} framer;

/* ---- who qualifies ------------------------------------------------------------------------------- */

static uint64_t bytes_of(const framer *p, ir_value v) {
    static const uint8_t sizes[] = {4, 8, 8, 1};
    const ir_shape *shape = p->f->values[v].shape;
    uint8_t dtype = p->facts->values[p->f->id][v].dtype;
    if (!shape || !shape->known_rank || dtype >= TL_DTYPE_COUNT)
        return 0;
    uint64_t bytes = sizes[dtype];
    for (uint32_t d = 0; d < shape->rank; d++)
        if (shape->dim[d] < 0 || __builtin_mul_overflow(bytes, (uint64_t)shape->dim[d], &bytes))
            return 0;
    return bytes;
}

static const char *reason_against(const framer *p, const ir_instr *i) {
    if (!tensor_makes_fresh(i))
        return "the operation may share what it was given";
    if (!tensor_reads_plain(p->facts, p->f, i) || p->facts->values[p->f->id][i->result].tracked)
        return "it may be tracked";
    if (p->facts->values[p->f->id][i->result].kept)
        return "it leaves the function or lives on in another value";
    if (p->facts->recursive[p->f->id])
        return "the function may call itself";
    uint64_t bytes = bytes_of(p, i->result);
    if (bytes > MOST_BYTES)
        return "it is large";
    return bytes == 0 ? "its size is known only when it runs" : NULL;
}

static void judge(framer *p, const ir_instr *i) {
    if ((i->op != IR_ABI && i->op != IR_COMPREHEND) || i->result_count != 1 ||
        ir_type_of(p->f, i->result) != IR_TENSOR)
        return;
    ir_value_info *info = &p->f->values[i->result];
    info->pooled = reason_against(p, i);
    if (!info->pooled)
        p->lives[i->result].bytes = bytes_of(p, i->result);
}

/* ---- chains ---------------------------------------------------------------------------------------- */

static ir_value chain_of(framer *p, ir_value v) {
    while (p->lives[v].chain != v)
        v = p->lives[v].chain = p->lives[p->lives[v].chain].chain;
    return v;
}

static bool same_layout(const framer *p, ir_value a, ir_value b) {
    const ir_shape *x = p->f->values[a].shape, *y = p->f->values[b].shape;
    if (!x || !y || !x->known_rank || !y->known_rank || x->rank != y->rank)
        return false;
    for (uint32_t d = 0; d < x->rank; d++)
        if (x->dim[d] < 0 || x->dim[d] != y->dim[d])
            return false;
    return p->facts->values[p->f->id][a].dtype == p->facts->values[p->f->id][b].dtype;
}

/* An operand of another type is converted first, and the converted one would lie in the result's place. */
static bool needs_no_conversion(const framer *p, const ir_instr *i) {
    const tensor_fact *facts = p->facts->values[p->f->id];
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (ir_type_of(p->f, i->args[a]) == IR_TENSOR &&
            facts[i->args[a]].dtype != facts[i->result].dtype)
            return false;
    return facts[i->result].dtype == TL_F32 || facts[i->result].dtype == TL_F64;
}

static void link_chain(framer *p, ir_instr *i) {
    if (!i->reuse)
        return;
    life *operand = &p->lives[i->reuse], *result = &p->lives[i->result];
    if (operand->bytes == 0)
        return;
    bool fits = same_layout(p, i->reuse, i->result) && needs_no_conversion(p, i);
    if (result->bytes == 0)
        p->lives[chain_of(p, i->reuse)].leaves |= fits;
    else if (fits)
        p->lives[chain_of(p, i->result)].chain = chain_of(p, i->reuse);
}

/* Leaving is known of a chain when all of it is linked. */
static void send_to_pool(framer *p, ir_value v) {
    if (p->lives[v].bytes == 0 || !p->lives[chain_of(p, v)].leaves)
        return;
    p->lives[v].bytes = 0;
    p->f->values[v].pooled = "what leaves the function is written over it";
}

/* What is offered must be the buffer of the pool, or the one place that both have in the frame. */
static void settle_offer(framer *p, ir_instr *i) {
    if (!i->reuse)
        return;
    bool from_frame = p->lives[i->reuse].bytes > 0, to_frame = p->lives[i->result].bytes > 0;
    if (from_frame != to_frame || (from_frame && chain_of(p, i->reuse) != chain_of(p, i->result)))
        i->reuse = 0;
}

/* ---- lives ------------------------------------------------------------------------------------------ */

static void touch(framer *p, ir_value v, int64_t at) {
    if (p->lives[v].bytes == 0)
        return;
    ir_value_info *info = &p->f->values[v];
    if (info->point_first == 0 || at < info->point_first)
        info->point_first = (uint32_t)at;
    if (at > info->point_last)
        info->point_last = (uint32_t)at;
    life *l = &p->lives[chain_of(p, v)];
    if (l->first < 0 || at < l->first)
        l->first = at;
    if (at > l->last)
        l->last = at;
}

static void measure_block(framer *p, const ir_block *b) {
    p->now++;
    liveness_set in = p->l.in[b->id];
    for (uint32_t k = 0; k < in.count; k++)
        touch(p, in.values[k], p->now);
    for (const ir_instr *i = b->first; i; i = i->next) {
        p->now++;
        for (uint32_t a = 0; a < i->arg_count; a++)
            touch(p, i->args[a], p->now);
        for (uint32_t r = 0; r < i->result_count; r++)
            touch(p, i->result + r, p->now);
    }
    for (int t = 0; t < ir_target_count(b->last); t++) {
        liveness_set out = p->l.in[b->last->target[t].block->id];
        for (uint32_t k = 0; k < out.count; k++)
            touch(p, out.values[k], p->now);
    }
}

/* ---- the plan ---------------------------------------------------------------------------------------- */

static void write_places(framer *p, const uint64_t *offsets, const uint32_t *row_of) {
    for (uint32_t b = 0; b < p->f->block_count; b++) {
        for (ir_instr *i = p->f->blocks[b]->first; i; i = i->next) {
            if (i->result_count != 1 || p->lives[i->result].bytes == 0)
                continue;
            i->place_bytes = p->lives[i->result].bytes;
            i->place_at = offsets[row_of[chain_of(p, i->result)]];
        }
    }
}

static void refuse_all(framer *p, const char *why) {
    for (ir_value v = 1; v < p->f->value_count; v++) {
        if (p->lives[v].bytes > 0)
            p->f->values[v].pooled = why;
        p->lives[v].bytes = 0;
    }
}

/* Offsets are multiples of the alignment: so are sizes, and the bound that the planner proves is one of such plans. */
static uint64_t rounded(uint64_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint32_t make_rows(framer *p, masu_plan_row *rows, uint32_t *row_of) {
    uint32_t count = 0;
    for (ir_value v = 1; v < p->f->value_count; v++) {
        if (p->lives[v].bytes == 0 || chain_of(p, v) != v)
            continue;
        row_of[v] = count;
        rows[count++] = (masu_plan_row){.size_bytes = rounded(p->lives[v].bytes),
                                        .lower = p->lives[v].first,
                                        .upper = p->lives[v].last + 1,
                                        .alignment_bytes = ALIGNMENT};
    }
    return count;
}

static bool plan(framer *p) {
    uint32_t n = p->f->value_count;
    masu_plan_row *rows = MASU_ARENA_ARRAY(&p->scratch, masu_plan_row, n);
    uint32_t *row_of = MASU_ARENA_ARRAY(&p->scratch, uint32_t, n);
    uint64_t *offsets = MASU_ARENA_ARRAY(&p->scratch, uint64_t, n);
    masu_plan_result result = {0};
    if (!rows || !row_of || !offsets)
        return false;
    uint32_t count = make_rows(p, rows, row_of);
    if (count == 0)
        return true;
    if (masu_plan_solve(rows, count, offsets, &result, NULL) != MASU_OK)
        return false;
    if (result.height_bytes > TL_ROOM_BYTES_MAX) {
        refuse_all(p, "the frame would be too large");
        return true;
    }
    p->f->room_bytes = result.height_bytes;
    p->f->room_bound = result.lower_bound_bytes;
    write_places(p, offsets, row_of);
    return true;
}

/* ---- functions ---------------------------------------------------------------------------------------- */

static void for_each(framer *p, void (*what)(framer *, ir_instr *)) {
    for (uint32_t b = 0; b < p->f->block_count; b++)
        for (ir_instr *i = p->f->blocks[b]->first; i; i = i->next)
            what(p, i);
}

static void judge_one(framer *p, ir_instr *i) {
    judge(p, i);
}

static bool place_function(framer *p) {
    p->lives = MASU_ARENA_ARRAY(&p->scratch, life, p->f->value_count);
    if (!p->lives || !liveness_compute(&p->l, p->f, &p->scratch))
        return false;
    for (ir_value v = 0; v < p->f->value_count; v++)
        p->lives[v] = (life){.first = -1, .last = -1, .chain = v};
    for_each(p, judge_one);
    for_each(p, link_chain);
    for (ir_value v = 1; v < p->f->value_count; v++)
        send_to_pool(p, v);
    p->now = 0;
    for (uint32_t b = 0; b < p->f->block_count; b++)
        measure_block(p, p->f->blocks[b]);
    bool planned = plan(p);
    if (planned)
        for_each(p, settle_offer);
    return planned;
}

void pass_frames(ir_module *m, pass_context *context) {
    (void)context;
    tensor_facts facts;
    masu__arena scratch = {0};
    m->out_of_memory |= !tensor_facts_compute(&facts, m, &scratch);
    for (uint32_t n = 0; n < m->function_count && !m->out_of_memory; n++) {
        framer p = {.m = m, .f = m->functions[n], .facts = &facts};
        if (!p.f->is_kernel)
            m->out_of_memory |= !place_function(&p);
        masu__arena_destroy(&p.scratch);
    }
    masu__arena_destroy(&scratch);
}
