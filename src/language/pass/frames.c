/* frames.c: tensors that never leave their function lie in its frame.
 *
 *     fn f(x) { let a = x * 2.0; let b = x.tanh(); let c = a + b; c.sum().item() }
 *
 *     offset ▲
 *       4096 │     bbbbb           c takes over a's bytes: it is written over it
 *          0 │ aaaaaaaaaccccc s    the planner (masu/plan.h) finds the offsets
 *            └────────────────────► the program's points, in the order of its blocks
 *
 * A tensor qualifies when it is made here by an operation that fills a buffer of its own, or by a function that builds
 * it in a given place (destinations.c), its size is known, it leaves the function in no way and carries no history,
 * no loop carries it into the iteration that makes it again, and it is not large: a large buffer costs little beside
 * the work on it. In a function that may call itself only what has to outlive such a call lies in the frame, since
 * every activation needs one of its own; the rest is gone before the next activation begins, and a slot serves them
 * all. What does not qualify for one of the last four reasons gets a growing slot (growing.c).
 *
 * Results that are written over a dying operand form a chain that has one buffer. A chain that ends in
 * a tensor that leaves the function is better off in the pool: what leaves needs a buffer there anyhow.
 *
 *     a tensor's life = from the point that makes it to the release of the last value that is its elements,
 *                       hull over the blocks' order
 */
#include <inttypes.h>

#include <masu/plan.h>

#include "base/assert.h"
#include "language/facts/places.h"
#include "language/pass/pass.h"

enum { MOST_BYTES = 64 * 1024, MOST_DEEP_BYTES = 4 * 1024, ALIGNMENT = 64 };

typedef struct life {
    int64_t first, last; /* of the whole chain, in the value that represents it */
    uint64_t bytes;      /* 0: not in the frame */
    ir_value chain;      /* the value that represents all whose buffer it shares; itself for that one */
    bool leaves;         /* the chain goes on in a buffer of the pool */
} life;

typedef struct framer {
    ir_module *m;
    ir_function *f;
    const tensor_facts *facts;
    masu__arena scratch;
    place_life *points; /* by value: own lives */
    life *lives;        /* by value */
} framer;

/* ---- who qualifies ------------------------------------------------------------------------------- */

static const char MAY_CALL_ITSELF[] = "the function may call itself";

static const char *reason_against(const framer *p, const ir_instr *i, ir_value v) {
    const tensor_fact *fact = &p->facts->values[p->f->id][v];
    if (i->op != IR_CALL && !tensor_makes_fresh(p->f, i))
        return "the operation may share what it was given";
    if (i->op != IR_CALL && !tensor_reads_plain(p->facts, p->f, i))
        return "it may be tracked";
    if (fact->tracked)
        return "it may be tracked";
    if (fact->returned)
        return "it leaves the function";
    if (fact->kept)
        return "a vector, a box or a function that it is given to may keep it";
    bool recursive = p->facts->recursive[p->f->id];
    if (recursive && !p->points[v].deep)
        return MAY_CALL_ITSELF;
    if (p->points[v].others < p->points[v].made)
        return "a loop carries it";
    uint64_t bytes = place_bytes_of(p->facts, p->f, v);
    if (bytes > (recursive ? MOST_DEEP_BYTES : MOST_BYTES))
        return "it is large";
    return bytes == 0 ? "its size is known only when it runs" : NULL;
}

static void judge_result(framer *p, const ir_instr *i, ir_value v) {
    if (ir_type_of(p->f, v) != IR_TENSOR)
        return;
    ir_value_info *info = &p->f->values[v];
    info->pooled = reason_against(p, i, v);
    if (!info->pooled)
        p->lives[v].bytes = place_bytes_of(p->facts, p->f, v);
}

static void judge(framer *p, ir_instr *i) {
    if ((i->op == IR_ABI || i->op == IR_COMPREHEND) && i->result_count == 1) {
        if (i->place.dest)
            p->f->values[i->result].pooled = "it leaves the function: where the caller wants it";
        else
            judge_result(p, i, i->result);
    }
    for (uint32_t r = 0; i->op == IR_CALL && r < i->result_count; r++)
        if (ir_builds(i->callee, r) && !(i->places && i->places[r].dest))
            judge_result(p, i, i->result + r);
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
        if (ir_type_of(p->f, i->args[a]) == IR_TENSOR && facts[i->args[a]].dtype != facts[i->result].dtype)
            return false;
    return facts[i->result].dtype == TL_F32 || facts[i->result].dtype == TL_F64;
}

/* In a function that may call itself: what is written over an operand that lies in the frame needs no room of its
 * own. */
static void stay_with_operand(framer *p, ir_value operand, ir_value result) {
    if (p->f->values[result].pooled != MAY_CALL_ITSELF || p->points[operand].flows)
        return;
    p->f->values[result].pooled = NULL;
    p->lives[result].bytes = p->lives[operand].bytes;
}

static void link_chain(framer *p, ir_instr *i) {
    if (!i->reuse)
        return;
    life *operand = &p->lives[i->reuse], *result = &p->lives[i->result];
    if (operand->bytes == 0)
        return;
    bool fits = same_layout(p, i->reuse, i->result) && needs_no_conversion(p, i);
    if (fits)
        stay_with_operand(p, i->reuse, i->result);
    if (result->bytes == 0)
        p->lives[chain_of(p, i->reuse)].leaves |= fits && !i->place.dest;
    else if (fits && !p->points[i->reuse].flows)
        p->lives[chain_of(p, i->result)].chain = chain_of(p, i->reuse);
}

/* Leaving is known of a chain when all of it is linked. */
static void send_to_pool(framer *p, ir_value v) {
    if (p->lives[v].bytes == 0 || !p->lives[chain_of(p, v)].leaves)
        return;
    p->lives[v].bytes = 0;
    p->f->values[v].pooled = "what leaves the function is written over it";
}

/* An offered buffer is the pool's, or the one place that both values have in the frame. */
static void settle_offer(framer *p, ir_instr *i) {
    if (!i->reuse)
        return;
    bool from_frame = p->lives[i->reuse].bytes > 0, to_frame = p->lives[i->result].bytes > 0;
    if (from_frame != to_frame || (from_frame && chain_of(p, i->reuse) != chain_of(p, i->result)))
        i->reuse = 0;
}

/* ---- lives ------------------------------------------------------------------------------------------ */

static void measure(framer *p, ir_value v) {
    const place_life *own = &p->points[v];
    p->f->values[v].point_first = (uint32_t)own->first;
    p->f->values[v].point_last = (uint32_t)own->until;
    life *l = &p->lives[chain_of(p, v)];
    if (l->first < 0 || own->first < l->first)
        l->first = own->first;
    if (own->until > l->last)
        l->last = own->until;
}

/* ---- the plan ---------------------------------------------------------------------------------------- */

static void write_places(framer *p, const uint64_t *offsets, const uint32_t *row_of) {
    for (ir_value v = 1; v < p->f->value_count; v++) {
        if (p->lives[v].bytes == 0)
            continue;
        ir_place *place = ir_place_for(p->f, v);
        if (!place)
            return;
        place->bytes = p->lives[v].bytes;
        place->at = offsets[row_of[chain_of(p, v)]];
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
    MASU_DEBUG_ASSERT(result.height_bytes >= result.lower_bound_bytes);
    for (uint32_t r = 0; r < count; r++)
        MASU_DEBUG_ASSERT(offsets[r] + rows[r].size_bytes <= result.height_bytes);
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

static bool place_function(framer *p) {
    p->points = place_lives(p->facts, p->f, &p->scratch);
    p->lives = MASU_ARENA_ARRAY(&p->scratch, life, p->f->value_count);
    if (!p->lives || !p->points)
        return false;
    for (ir_value v = 0; v < p->f->value_count; v++)
        p->lives[v] = (life){.first = -1, .last = -1, .chain = v};
    for_each(p, judge);
    for_each(p, link_chain);
    for (ir_value v = 1; v < p->f->value_count; v++)
        send_to_pool(p, v);
    for (ir_value v = 1; v < p->f->value_count; v++)
        if (p->lives[v].bytes > 0)
            measure(p, v);
    bool planned = plan(p);
    if (planned)
        for_each(p, settle_offer);
    return planned;
}

void pass_frames(ir_module *m, pass_context *context) {
    const tensor_facts *facts = pass_facts(m, context);
    for (uint32_t n = 0; facts && n < m->function_count && !m->out_of_memory; n++) {
        framer p = {.m = m, .f = m->functions[n], .facts = facts};
        if (!p.f->is_kernel)
            m->out_of_memory |= !place_function(&p);
        masu__arena_destroy(&p.scratch);
    }
}
