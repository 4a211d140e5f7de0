/* verify_owners.c: proves that every count is given away exactly once on every path, and that
 * whatever is owned while something may raise is in exactly one slot.
 *
 * Forward over the blocks. The state at a point is, for each value that has owners here, how many
 * and which slot protects it:
 *
 *          b0   {%3: 1 owner, slot 0}
 *         /  \
 *       b1    b2        both edges into b3 must bring the same state: a value that is owned on one way in and
 *         \  /          not on the other would be lost or given away twice
 *          b3
 *
 * So one visit a block suffices, and no set of live values is asked for: the proof shares nothing
 * with the pass it judges. Cost: O(instructions + edges * owned values).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "language/ir/verify.h"

enum { UNROOTED = -2, REGISTERED = -1 };

typedef struct owned { /* one value's entry in a saved state */
    ir_value value;
    uint32_t owners;
    int32_t root;
} owned;

typedef struct saved { /* the state on entry to a block, before its parameters */
    bool reached;
    uint32_t from; /* the block that it came from first */
    owned *values;
    uint32_t count;
} saved;

typedef struct owners {
    ir_checker *c;
    const ir_function *f;
    bool enough;      /* memory */
    uint32_t *count;  /* by value: owners now */
    int32_t *root;    /* by value */
    ir_value *holder; /* by slot: the value in it, 0 none */
    ir_value *list;   /* values with owners, unordered */
    uint32_t *place;  /* by value: position in list */
    uint32_t listed;
    uint8_t *consumes; /* by value, cleared after each instruction: how often the instruction takes it */
    saved *entry;      /* by block */
} owners;

static const char *name_of(const owners *o, ir_value v) {
    return ir_value_text(o->c, v);
}

static bool managed(const owners *o, ir_value v) {
    return ir_type_managed(ir_type_of(o->f, v));
}

/* ---- counting -------------------------------------------------------------------------------- */

static void gain(owners *o, ir_value v) {
    if (o->count[v]++ > 0)
        return;
    o->root[v] = UNROOTED;
    o->place[v] = o->listed;
    o->list[o->listed++] = v;
}

static void lose(owners *o, ir_value v) {
    if (--o->count[v] > 0)
        return;
    if (o->root[v] >= 0)
        o->holder[o->root[v]] = 0;
    ir_value moved = o->list[--o->listed];
    o->list[o->place[v]] = moved;
    o->place[moved] = o->place[v];
}

static void forget_all(owners *o) {
    while (o->listed > 0) {
        ir_value v = o->list[o->listed - 1];
        o->count[v] = 1;
        lose(o, v);
    }
}

static void consume(owners *o, const ir_instr *i, ir_value v) {
    if (o->count[v] == 0) {
        ir_fault(o->c, i->block, i, "takes a count of %s, %s", name_of(o, v),
                 o->f->values[v].borrowed ? "which is only borrowed" : "which has no owner left");
        return;
    }
    if (o->count[v] == 1 && o->root[v] != UNROOTED)
        ir_fault(o->c, i->block, i, "takes the count of %s that %s still protects", name_of(o, v),
                 o->root[v] < 0 ? "the registry" : "a slot");
    lose(o, v);
}

static void check_readable(owners *o, const ir_instr *i, ir_value v) {
    if (o->count[v] == 0 && !o->f->values[v].borrowed)
        ir_fault(o->c, i->block, i, "uses %s after its last count was given away", name_of(o, v));
}

static void produce(owners *o, const ir_instr *i, ir_value v) {
    if (!managed(o, v))
        return;
    if (o->count[v] > 0)
        ir_fault(o->c, i ? i->block : NULL, i, "makes %s again while the old one is owned", name_of(o, v));
    else
        gain(o, v);
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* An operand that is taken is gone when the operation starts; one that is read must outlast it. */
static void take_operands(owners *o, const ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (managed(o, i->args[a]))
            check_readable(o, i, i->args[a]);
    for (uint32_t a = 0; a < i->arg_count; a++) {
        if (!managed(o, i->args[a]) || !ir_consumes(i, a))
            continue;
        consume(o, i, i->args[a]);
        o->consumes[i->args[a]] = 1;
    }
    for (uint32_t a = 0; a < i->arg_count; a++) {
        ir_value v = i->args[a];
        if (managed(o, v) && !ir_consumes(i, a) && o->consumes[v] && o->count[v] == 0 && !o->f->values[v].borrowed)
            ir_fault(o->c, i->block, i, "gives the last count of %s away and reads it", name_of(o, v));
    }
    for (uint32_t a = 0; a < i->arg_count; a++)
        o->consumes[i->args[a]] = 0;
}

static void check_protected(owners *o, const ir_instr *i) {
    for (uint32_t k = 0; k < o->listed; k++) {
        ir_value v = o->list[k];
        if (i->op == IR_ROOT && v == i->args[0])
            continue; /* the registry takes it over even when it cannot grow */
        if (o->root[v] == UNROOTED)
            ir_fault(o->c, i->block, i, "may raise while %s is in no slot", name_of(o, v));
        else if (o->count[v] > 1)
            ir_fault(o->c, i->block, i, "may raise while %s has %" PRIu32 " owners and one slot", name_of(o, v),
                     o->count[v]);
    }
}

static void root(owners *o, const ir_instr *i) {
    ir_value v = i->args[0];
    int64_t slot = i->imm.i;
    if (o->count[v] == 0)
        ir_fault(o->c, i->block, i, "protects %s, which is not owned here", name_of(o, v));
    else if (o->root[v] != UNROOTED)
        ir_fault(o->c, i->block, i, "protects %s twice", name_of(o, v));
    else if (slot >= (int64_t)o->f->slot_count)
        ir_fault(o->c, i->block, i, "slot %" PRId64 " of %" PRIu32, slot, o->f->slot_count);
    else if (slot >= 0 && o->holder[slot])
        ir_fault(o->c, i->block, i, "overwrites slot %" PRId64 ", which holds %s", slot, name_of(o, o->holder[slot]));
    else
        o->root[v] = slot < 0 ? REGISTERED : (int32_t)slot;
    if (o->count[v] > 0 && o->root[v] >= 0)
        o->holder[o->root[v]] = v;
}

static void unroot(owners *o, const ir_instr *i) {
    ir_value v = i->args[0];
    int32_t slot = i->imm.i < 0 ? REGISTERED : (int32_t)i->imm.i;
    if (o->count[v] == 0 || o->root[v] != slot) {
        ir_fault(o->c, i->block, i, "%s is not protected there", name_of(o, v));
        return;
    }
    if (slot >= 0)
        o->holder[slot] = 0;
    o->root[v] = UNROOTED;
}

static void acquire(owners *o, const ir_instr *i) {
    ir_value v = i->args[0];
    check_readable(o, i, v);
    if (o->count[v] > 0 || o->f->values[v].borrowed)
        gain(o, v);
}

/* Over an operand: it may not be read afterwards, so its release is right behind. */
static void check_reuse(owners *o, const ir_instr *i) {
    const ir_instr *next = i->next;
    while (next &&
           (next->op == IR_UNROOT || next->op == IR_ROOT || (next->op == IR_RELEASE && next->args[0] != i->reuse)))
        next = next->next;
    if (!next || next->op != IR_RELEASE)
        ir_fault(o->c, i->block, i, "is written over %s, which does not die here", name_of(o, i->reuse));
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (i->args[a] == i->reuse)
            return;
    ir_fault(o->c, i->block, i, "is written over %s, which is not an operand", name_of(o, i->reuse));
}

static bool meet(const ir_place *a, const ir_place *b) {
    return b->bytes && a->at < b->at + b->bytes && b->at < a->at + a->bytes;
}

/* No two tensors that are alive together lie on the same bytes of the frame. (In a growing slot they may be meant to:
 * the second to come finds it taken and lies in a pool.) */
static void check_place(owners *o, const ir_instr *i, ir_value v) {
    const ir_place *place = ir_place_of(o->f, v);
    if (!place)
        return;
    if (place->at + place->bytes > o->f->room_bytes)
        ir_fault(o->c, i->block, i, "lies at %" PRIu64 " in a room of %" PRIu64 " bytes", place->at, o->f->room_bytes);
    if (place->slot > o->f->growing_count)
        ir_fault(o->c, i->block, i, "lies in growing slot %" PRIu32 " of %" PRIu32, place->slot - 1,
                 o->f->growing_count);
    if (i->work > o->f->growing_count)
        ir_fault(o->c, i->block, i, "works in growing slot %" PRIu32 " of %" PRIu32, i->work - 1, o->f->growing_count);
    if (place->dest && !ir_builds(o->f, place->dest - 1))
        ir_fault(o->c, i->block, i, "is built as result %" PRIu32 ", which is not said of %s", place->dest - 1,
                 o->f->name);
    for (uint32_t k = 0; k < o->listed && place->bytes; k++) {
        const ir_place *other = ir_place_of(o->f, o->list[k]);
        if (o->list[k] == v || !other || !meet(place, other))
            continue;
        bool over = o->list[k] == i->reuse && other->at == place->at;
        if (!over)
            ir_fault(o->c, i->block, i, "lies on the bytes of %s", name_of(o, o->list[k]));
    }
}

static void step(owners *o, const ir_instr *i) {
    if (i->reuse)
        check_reuse(o, i);
    for (uint32_t r = 0; r < i->result_count; r++)
        if (ir_type_of(o->f, i->result + r) == IR_TENSOR)
            check_place(o, i, i->result + r);
    if (i->op == IR_ACQUIRE) {
        acquire(o, i);
        return;
    }
    if (i->op == IR_UNROOT) {
        unroot(o, i);
        return;
    }
    take_operands(o, i);
    if (o->c->phase == IR_PHASE_ROOTED && ir_may_raise(i))
        check_protected(o, i);
    if (i->op == IR_ROOT)
        root(o, i);
    for (uint32_t r = 0; r < i->result_count; r++)
        produce(o, i, i->result + r);
}

/* ---- edges ----------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    ir_value x = ((const owned *)a)->value, y = ((const owned *)b)->value;
    return (x > y) - (x < y);
}

static void save(owners *o, saved *s, uint32_t from) {
    s->values = MASU_ARENA_ARRAY(&o->c->scratch, owned, o->listed);
    if (!s->values) {
        o->enough = false;
        return;
    }
    for (uint32_t k = 0; k < o->listed; k++)
        s->values[k] = (owned){o->list[k], o->count[o->list[k]], o->root[o->list[k]]};
    s->count = o->listed;
    s->from = from;
    s->reached = true;
    qsort(s->values, s->count, sizeof *s->values, by_value);
}

static void compare(owners *o, const ir_instr *i, const ir_block *to, const saved *s) {
    uint32_t same = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        const owned *then = &s->values[k];
        uint32_t now = o->count[then->value];
        same += now > 0;
        if (now != then->owners)
            ir_fault(o->c, i->block, i,
                     "%s has %" PRIu32 " owners here, but %" PRIu32 " when b%" PRIu32 " is entered from b%" PRIu32,
                     name_of(o, then->value), now, then->owners, to->id, s->from);
        else if (o->root[then->value] != then->root)
            ir_fault(o->c, i->block, i, "%s is protected otherwise when b%" PRIu32 " is entered from b%" PRIu32,
                     name_of(o, then->value), to->id, s->from);
    }
    for (uint32_t k = 0; same < o->listed && k < o->listed; k++) {
        owned key = {.value = o->list[k]};
        if (!bsearch(&key, s->values, s->count, sizeof key, by_value))
            ir_fault(o->c, i->block, i,
                     "%s has %" PRIu32 " owners here, but 0 when b%" PRIu32 " is entered from b%" PRIu32,
                     name_of(o, key.value), o->count[key.value], to->id, s->from);
    }
}

static void follow(owners *o, const ir_instr *i, const ir_target *t) {
    bool branch = i->op == IR_BRANCH;
    for (uint32_t a = 0; a < t->count; a++) {
        if (!managed(o, t->args[a]))
            continue;
        if (branch)
            ir_fault(o->c, i->block, i, "a branch passes %s: its edges must be split", name_of(o, t->args[a]));
        else
            consume(o, i, t->args[a]);
    }
    saved *s = &o->entry[t->block->id];
    if (s->reached)
        compare(o, i, t->block, s);
    else
        save(o, s, i->block->id);
}

static void leave(owners *o, const ir_block *b) {
    const ir_instr *last = b->last;
    for (int t = 0; t < ir_target_count(last); t++)
        follow(o, last, &last->target[t]);
    if (ir_target_count(last) == 0)
        for (uint32_t k = 0; k < o->listed; k++)
            ir_fault(o->c, b, last, "%s is still owned at the end", name_of(o, o->list[k]));
}

static void enter(owners *o, const ir_block *b) {
    forget_all(o);
    if (b->id == 0) {
        for (uint32_t k = 0; k < o->f->param_count; k++)
            if (!o->f->values[o->f->params[k]].borrowed)
                produce(o, NULL, o->f->params[k]);
        return;
    }
    const saved *s = &o->entry[b->id];
    for (uint32_t k = 0; k < s->count; k++) {
        ir_value v = s->values[k].value;
        gain(o, v);
        o->count[v] = s->values[k].owners;
        o->root[v] = s->values[k].root;
        if (o->root[v] >= 0)
            o->holder[o->root[v]] = v;
    }
    for (uint32_t k = 0; k < b->param_count; k++)
        produce(o, NULL, b->params[k]);
}

/* ---- the function ---------------------------------------------------------------------------- */

static bool prepare(owners *o) {
    masu__arena *scratch = &o->c->scratch;
    uint32_t n = o->f->value_count;
    o->count = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    o->root = MASU_ARENA_ARRAY(scratch, int32_t, n);
    o->holder = MASU_ARENA_ARRAY(scratch, ir_value, o->f->slot_count);
    o->list = MASU_ARENA_ARRAY(scratch, ir_value, n);
    o->place = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    o->consumes = MASU_ARENA_ARRAY(scratch, uint8_t, n);
    o->entry = MASU_ARENA_ARRAY(scratch, saved, o->f->block_count);
    return o->count && o->root && o->holder && o->list && o->place && o->consumes && o->entry;
}

static void check_borrowed_marks(owners *o) {
    for (ir_value v = 1; v < o->f->value_count; v++)
        if (o->f->values[v].borrowed && !(o->f->values[v].is_parameter && managed(o, v)))
            ir_fault(o->c, NULL, NULL, "%s is marked borrowed but is not a managed parameter", name_of(o, v));
}

bool ir_check_owners(ir_checker *c) {
    owners o = {.c = c, .f = c->f, .enough = true};
    if (!prepare(&o))
        return false;
    check_borrowed_marks(&o);
    for (uint32_t k = 0; k < c->order.count && o.enough; k++) {
        const ir_block *b = c->order.blocks[k];
        enter(&o, b);
        for (const ir_instr *i = b->first; i; i = i->next)
            step(&o, i);
        leave(&o, b);
    }
    return o.enough;
}
