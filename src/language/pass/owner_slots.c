/* owner_slots.c: places for owners, where an error finds them.
 *
 * When something raises, the runtime releases what the frame's slots hold. So whatever a function
 * owns while an operation may raise, and keeps owning, must be in a slot then:
 *
 *     %4 = tl_tensor_exp %1
 *     unroot %1, slot 0            the old owner leaves its slot right before it is given away
 *     release %1
 *     root %4, slot 0              the new one enters right before the next thing that may raise
 *     %5 = tl_tensor_tanh %4
 *
 * Owners enter as late and leave as early as can be, so two that never have to be protected at
 * once share a slot; one that nothing can interrupt needs none. The stretch from entering to
 * leaving is a connected part of the dominator tree (values have one definition), and giving each
 * the lowest free slot in the tree's order then uses exactly as many slots as are ever full at
 * once: interval graphs of trees are chordal. A value that is passed to a block's parameter gets
 * the same slot as it, where that is free: a loop's value stays where it is.
 *
 * Without this pass owners are registered by address instead (slot -1). Registering may itself
 * run out of memory, so of several owners that become known at the same moment all but the last
 * get a slot even then.
 */
#include "base/assert.h"
#include "language/facts/liveness.h"
#include "language/ir/cfg.h"
#include "language/pass/pass.h"

enum { NOT_YET = -2, REGISTRY = -1 };

typedef struct placer {
    ir_module *m;
    ir_function *f;
    bool dynamic;
    masu__arena scratch;
    liveness l;
    ir_dominators dominators;
    ir_order order;
    bool *needs;          /* by value: something may raise while it is owned */
    int32_t *place;       /* by value: slot, REGISTRY, NOT_YET */
    uint32_t *extra;      /* by value: counts acquired and not yet given away */
    ir_value *partner[2]; /* by value: a parameter that it is passed to; an argument that is passed to it */
    ir_value *holder;     /* by slot: who is in it now, 0 none */
    ir_value *pending;    /* owners that still have to enter, in order of definition */
    uint32_t pending_count;
    uint32_t loose;    /* owned values that are nowhere: pending, or never to be protected */
    uint32_t acquired; /* sum of extra[] */
    uint32_t leaving;  /* owners that the instruction at hand takes for good */
    /* the scan for needs */
    bool *live;
    ir_value *fresh; /* live values that have met nothing that may raise */
    uint32_t fresh_count, live_count;
} placer;

static bool is_owner(const placer *p, ir_value v) {
    return ir_type_managed(ir_type_of(p->f, v)) && !p->f->values[v].borrowed;
}

/* ---- who needs protection -------------------------------------------------------------------- */

static void wake(placer *p, ir_value v) {
    if (!is_owner(p, v) || p->live[v])
        return;
    p->live[v] = true;
    p->live_count++;
    p->fresh[p->fresh_count++] = v;
}

static void put_to_sleep(placer *p, ir_value v) {
    p->live_count -= p->live[v];
    p->live[v] = false;
}

static void scan_instr(placer *p, const ir_instr *i) {
    for (uint32_t r = 0; r < i->result_count; r++)
        put_to_sleep(p, i->result + r);
    if (ir_may_raise(i)) { /* what is live now outlasts it */
        while (p->fresh_count > 0) {
            ir_value v = p->fresh[--p->fresh_count];
            p->needs[v] |= p->live[v];
        }
        if (p->live_count > p->f->slot_bound)
            p->f->slot_bound = p->live_count;
    }
    for (uint32_t a = 0; a < i->arg_count; a++)
        wake(p, i->args[a]);
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++)
            wake(p, i->target[t].args[a]);
}

static void scan_block(placer *p, const ir_block *b) {
    liveness_set in = p->l.in[b->id];
    p->fresh_count = 0;
    for (int t = 0; t < ir_target_count(b->last); t++) {
        liveness_set out = p->l.in[b->last->target[t].block->id];
        for (uint32_t k = 0; k < out.count; k++)
            wake(p, out.values[k]);
    }
    for (const ir_instr *i = b->last; i; i = i->prev)
        scan_instr(p, i);
    for (uint32_t k = 0; k < b->param_count; k++)
        put_to_sleep(p, b->params[k]);
    for (uint32_t k = 0; b->id == 0 && k < p->f->param_count; k++)
        put_to_sleep(p, p->f->params[k]);
    for (uint32_t k = 0; k < in.count; k++)
        put_to_sleep(p, in.values[k]);
}

static void find_partners(placer *p) {
    for (uint32_t n = 0; n < p->f->block_count; n++) {
        const ir_instr *last = p->f->blocks[n]->last;
        for (int t = 0; t < ir_target_count(last); t++) {
            for (uint32_t a = 0; a < last->target[t].count; a++) {
                ir_value arg = last->target[t].args[a], param = last->target[t].block->params[a];
                if (!is_owner(p, param))
                    continue;
                p->partner[0][arg] = param;
                p->partner[1][param] = arg;
            }
        }
    }
}

/* ---- entering and leaving -------------------------------------------------------------------- */

static void insert(placer *p, ir_instr *before, ir_opcode op, ir_value v) {
    ir_instr *i = ir_instr_new(p->f, op, &v, 1, NULL, 0, (source_span){0});
    if (!i)
        return;
    const ir_instr *def = p->f->values[v].def;
    i->imm.i = p->place[v];
    i->site = op == IR_ROOT && p->place[v] == REGISTRY && def ? def->site : 0;
    ir_insert_before(before, i);
}

static int32_t choose_slot(const placer *p, ir_value v) {
    for (int k = 0; k < 2; k++) {
        ir_value other = p->partner[k][v];
        if (other && p->place[other] >= 0 && !p->holder[p->place[other]])
            return p->place[other];
    }
    int32_t slot = 0;
    while (p->holder[slot])
        slot++;
    return slot;
}

static void enter_slot(placer *p, ir_value v) {
    int32_t slot = choose_slot(p, v);
    MASU_DEBUG_ASSERT(slot >= 0 && !p->holder[slot] && p->place[v] < 0);
    p->place[v] = slot;
    p->f->values[v].slot = slot;
    p->holder[slot] = v;
    if ((uint32_t)slot >= p->f->slot_count)
        p->f->slot_count = (uint32_t)slot + 1;
}

/* Registering may raise, so it is only done to the one owner that is unprotected. */
static bool may_register(const placer *p, bool acquired) {
    return p->dynamic && p->loose == 1 && p->leaving == 0 && !acquired;
}

static void enter_pending(placer *p, ir_instr *before, bool acquired) {
    for (uint32_t k = 0; k < p->pending_count; k++) {
        ir_value v = p->pending[k];
        if (may_register(p, acquired))
            p->place[v] = REGISTRY;
        else
            enter_slot(p, v);
        insert(p, before, IR_ROOT, v);
        p->loose--;
    }
    p->pending_count = 0;
}

static void await(placer *p, ir_value v) {
    p->loose += is_owner(p, v);
    if (is_owner(p, v) && p->needs[v])
        p->pending[p->pending_count++] = v;
}

static void forget_pending(placer *p, ir_value v) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < p->pending_count; k++)
        if (p->pending[k] != v)
            p->pending[kept++] = p->pending[k];
    p->pending_count = kept;
}

/* One count of v is given away by i; when it is the last, its slot is emptied before. */
static void give(placer *p, ir_instr *i, ir_value v) {
    if (p->extra[v] > 0) {
        p->extra[v]--;
        p->acquired--;
        return;
    }
    if (!is_owner(p, v))
        return;
    p->leaving++;
    if (p->place[v] == NOT_YET) {
        p->loose--;
        forget_pending(p, v);
        return;
    }
    insert(p, i, IR_UNROOT, v);
    if (p->place[v] >= 0)
        p->holder[p->place[v]] = 0;
}

/* Registering may raise, so what waits for it enters before counts are in the record only. */
static bool waits_beside(const placer *p, const ir_instr *record) {
    uint32_t given = 0;
    for (uint32_t k = 0; k < p->pending_count; k++)
        for (uint32_t a = 0, found = 0; a < record->arg_count && !found; a++)
            given += found = record->args[a] == p->pending[k];
    return given < p->pending_count;
}

static void place_instr(placer *p, ir_instr *i) {
    if (i->op == IR_ACQUIRE) {
        p->extra[i->args[0]]++;
        p->acquired++;
        return;
    }
    bool acquired = p->acquired > 0;
    p->leaving = 0;
    if (p->dynamic && i->op == IR_RECORD && waits_beside(p, i))
        enter_pending(p, i, acquired);
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (ir_consumes(i, a))
            give(p, i, i->args[a]);
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++)
            give(p, i, i->target[t].args[a]);
    if (ir_may_raise(i) || ir_is_terminator(i->op))
        enter_pending(p, i, acquired);
    for (uint32_t r = 0; r < i->result_count; r++)
        await(p, i->result + r);
}

static void place_block(placer *p, ir_block *b) {
    for (uint32_t s = 0; s < p->f->slot_count; s++)
        p->holder[s] = 0;
    liveness_set in = p->l.in[b->id];
    p->loose = p->pending_count = 0;
    for (uint32_t k = 0; k < in.count; k++) {
        ir_value v = in.values[k];
        if (is_owner(p, v) && p->place[v] >= 0)
            p->holder[p->place[v]] = v;
        else if (is_owner(p, v) && p->place[v] == NOT_YET)
            p->loose++;
    }
    for (uint32_t k = 0; k < b->param_count; k++)
        await(p, b->params[k]);
    for (uint32_t k = 0; b->id == 0 && k < p->f->param_count; k++)
        await(p, p->f->params[k]);
    for (ir_instr *i = b->first, *next; i; i = next) {
        next = i->next;
        if (i->op == IR_KEEP && i->imm.i != 2)
            ir_remove(i); /* it has done what it was for */
        else if (i->op != IR_KEEP)
            place_instr(p, i);
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool prepare(placer *p) {
    masu__arena *scratch = &p->scratch;
    uint32_t n = p->f->value_count;
    p->needs = MASU_ARENA_ARRAY(scratch, bool, n);
    p->place = MASU_ARENA_ARRAY(scratch, int32_t, n);
    p->extra = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    p->partner[0] = MASU_ARENA_ARRAY(scratch, ir_value, n);
    p->partner[1] = MASU_ARENA_ARRAY(scratch, ir_value, n);
    p->holder = MASU_ARENA_ARRAY(scratch, ir_value, n + 1);
    p->pending = MASU_ARENA_ARRAY(scratch, ir_value, n);
    p->live = MASU_ARENA_ARRAY(scratch, bool, n);
    p->fresh = MASU_ARENA_ARRAY(scratch, ir_value, n);
    if (!p->needs || !p->place || !p->extra || !p->partner[0] || !p->partner[1] || !p->holder || !p->pending ||
        !p->live || !p->fresh || !liveness_compute(&p->l, p->f, scratch))
        return false;
    for (uint32_t v = 0; v < n; v++)
        p->place[v] = NOT_YET;
    return ir_order_compute(&p->order, p->f, scratch) && ir_dominators_compute(&p->dominators, &p->order, scratch);
}

static void place_function(placer *p) {
    if (!prepare(p)) {
        p->m->out_of_memory = true;
    } else {
        for (uint32_t b = 0; b < p->f->block_count; b++)
            scan_block(p, p->f->blocks[b]);
        find_partners(p);
        for (uint32_t k = 0; k < p->order.count; k++)
            place_block(p, p->dominators.preorder[k]);
    }
    masu__arena_destroy(&p->scratch);
}

static void place_all(ir_module *m, bool dynamic) {
    for (uint32_t f = 0; f < m->function_count && !m->out_of_memory; f++) {
        placer p = {.m = m, .f = m->functions[f], .dynamic = dynamic};
        place_function(&p);
    }
}

void pass_slots(ir_module *m, pass_context *context) {
    (void)context;
    place_all(m, false);
}

void pass_register_owners(ir_module *m, pass_context *context) {
    (void)context;
    place_all(m, true);
}
