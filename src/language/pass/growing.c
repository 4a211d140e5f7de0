/* growing.c: tensors whose size is known only when they are made lie in slots that keep their buffers.
 *
 *     fn f(n: i64) { for i in 0..9 { let a = Tensor::ones([n]); let b = a.matmul(a); println(b.item()); } }
 *
 *     slot 0   [ a a a ][ a a a ] …      the first a makes the slot's buffer, the following find it; one that needs
 *     slot 1   [ b ]    [ b ]     …      more makes it larger before anything is written
 *
 * What qualifies is what `frames` would place if it could: it leaves the function in no way and carries no history.
 * Beside sizes that are not known these are large ones, those in functions that may call themselves, and values that a
 * loop carries. Lives that do not overlap share a slot: intervals in the order of their beginnings, each the lowest
 * slot that is free.
 *
 * Slots are in one table for the whole program, numbered so that a function's lie above those of whatever it calls: on
 * a way through the calls no slot is met twice, and functions that are never active together share.
 *
 *     first(f) = max over functions g that f calls of first(g) + count(g)         in a circle of calls: one after the
 *                                                                                 other
 *
 * What an operation makes on its way to a result that lies in the frame or where the caller wants it (an operand
 * converted, say) is put into the slot behind the others: it is gone when the operation ends.
 *
 * None of this has to be right for the program to be: a slot knows who lies in it (runtime/frames/result_slots.c), and
 * one that finds all slots of the function taken lies in a pool. So recursion takes slots from the outermost activation
 * inwards, and a loop that carries a value finds it in one slot while the next is made in another; for these `spare`
 * slots are added.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "language/facts/places.h"
#include "language/ir/cfg.h"
#include "language/pass/pass.h"

enum { MOST_SPARE = 8 };

typedef struct tenant {
    ir_value v;
    int64_t first, until;
} tenant;

typedef struct grower {
    const tensor_facts *facts;
    ir_function *f;
    masu__arena scratch;
    ir_order order;
    place_life *lives;
    bool *fits; /* by value */
    tenant *tenants;
    uint32_t count, spare;
} grower;

/* ---- who ----------------------------------------------------------------------------------------------- */

/* `frames` has said why not in the frame: without that pass every tensor lies in a pool. */
static bool qualifies(const grower *g, ir_value v, const ir_place *place) {
    bool anywhere = place && (place->bytes || place->slot || place->dest);
    return g->f->values[v].pooled && !anywhere && place_is_private(g->facts, g->f, v);
}

static void judge_call(grower *g, const ir_instr *i) {
    for (uint32_t r = 0; r < i->result_count; r++)
        g->fits[i->result + r] = ir_builds(i->callee, r) &&
                                 qualifies(g, i->result + r, i->places ? &i->places[r] : NULL);
}

static void judge(grower *g, const ir_instr *i) {
    if (i->op == IR_CALL)
        judge_call(g, i);
    else if (tensor_makes_fresh(g->f, i))
        g->fits[i->result] = tensor_reads_plain(g->facts, g->f, i) && qualifies(g, i->result, &i->place);
}

/* A result that is written over an operand has that one's slot: it is needed until the last of such a chain has ended.
 * One that ends in a pool begins there; one that ends in another place does not begin in a slot. */
static void settle_chain(grower *g, ir_instr *i) {
    if (!i->reuse || !g->fits[i->reuse])
        return;
    if (i->place.dest || i->place.bytes) {
        i->reuse = 0;
    } else if (!g->fits[i->result]) {
        g->fits[i->reuse] = false;
        g->f->values[i->reuse].pooled = "what leaves the function is written over it";
    } else if (g->lives[i->result].until > g->lives[i->reuse].until) {
        g->lives[i->reuse].until = g->lives[i->result].until;
    }
}

/* Operands come before results in every order of the blocks that follows dominance: so one way backwards sees all of a
 * chain. */
static void settle_chains(grower *g) {
    for (uint32_t b = g->order.count; b-- > 0;)
        for (ir_instr *i = g->order.blocks[b]->last; i; i = i->prev)
            settle_chain(g, i);
}

/* ---- which slot ---------------------------------------------------------------------------------------------- */

static int by_beginning(const void *a, const void *b) {
    const tenant *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->v > y->v) - (x->v < y->v);
}

static void gather(grower *g) {
    for (ir_value v = 1; v < g->f->value_count; v++) {
        const place_life *l = &g->lives[v];
        if (!g->fits[v])
            continue;
        g->spare += l->others < l->made; /* a loop carries it */
        g->tenants[g->count++] = (tenant){v, l->others < l->first ? l->others : l->first, l->until};
        g->f->values[v].pooled = NULL;
    }
    if (g->count > 0)
        qsort(g->tenants, g->count, sizeof *g->tenants, by_beginning);
}

/* The end of each slot's last tenant, in ends[]; slots are few, and most tenants find the first one free. */
static bool assign(grower *g) {
    int64_t *ends = MASU_ARENA_ARRAY(&g->scratch, int64_t, g->count);
    if (!ends)
        return false;
    uint32_t used = 0;
    for (uint32_t k = 0; k < g->count; k++) {
        uint32_t slot = 0;
        while (slot < used && ends[slot] >= g->tenants[k].first)
            slot++;
        used += slot == used;
        MASU_DEBUG_ASSERT(slot < used && (k == 0 || g->tenants[k - 1].first <= g->tenants[k].first));
        ends[slot] = g->tenants[k].until;
        ir_place *place = ir_place_for(g->f, g->tenants[k].v);
        if (place)
            place->slot = slot + 1;
    }
    g->f->growing_count = used + (g->spare < MOST_SPARE ? g->spare : MOST_SPARE);
    return true;
}

/* Operations whose result has a slot find another one for what they make on the way: there is one more for that. */
static void lend_work_room(grower *g) {
    bool works = false;
    for (uint32_t b = 0; b < g->f->block_count; b++) {
        for (ir_instr *i = g->f->blocks[b]->first; i; i = i->next) {
            bool placed = i->place.bytes || i->place.dest;
            if (!(tensor_kind(i) & TENSOR_WORKS) || !(placed || i->place.slot))
                continue;
            works = true;
            i->work = placed ? g->f->growing_count + 1 : 0;
        }
    }
    g->f->growing_count += works;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static bool grow_function(grower *g) {
    g->lives = place_lives(g->facts, g->f, &g->scratch);
    g->fits = MASU_ARENA_ARRAY(&g->scratch, bool, g->f->value_count);
    g->tenants = MASU_ARENA_ARRAY(&g->scratch, tenant, g->f->value_count);
    if (!g->lives || !g->fits || !g->tenants || !ir_order_compute(&g->order, g->f, &g->scratch))
        return false;
    for (uint32_t b = 0; b < g->f->block_count; b++)
        for (const ir_instr *i = g->f->blocks[b]->first; i; i = i->next)
            judge(g, i);
    settle_chains(g);
    gather(g);
    if (!assign(g))
        return false;
    lend_work_room(g);
    return true;
}

/* The first number above those of all functions that f calls and that are numbered. */
static uint32_t above_callees(const ir_function *f) {
    uint32_t first = 0;
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            uint32_t end = i->op == IR_CALL ? i->callee->growing_first + i->callee->growing_count : 0;
            first = end > first ? end : first;
        }
    }
    return first;
}

void pass_growing(ir_module *m, pass_context *context) {
    const tensor_facts *facts = pass_facts(m, context);
    for (uint32_t k = 0; facts && k < facts->order_count && !m->out_of_memory; k++) {
        grower g = {.facts = facts, .f = m->functions[facts->order[k]]};
        if (!g.f->is_kernel) {
            m->out_of_memory |= !grow_function(&g);
            g.f->growing_first = above_callees(g.f);
        }
        masu__arena_destroy(&g.scratch);
    }
}
