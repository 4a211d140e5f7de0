/* liveness.c: see liveness.h.
 *
 *     uses        (value, block) pairs, one for each block that uses a value from elsewhere, by value
 *     members     (block, value) pairs, found by walking upwards from those blocks; sorted by block in the end
 */
#include "language/facts/liveness.h"

typedef struct pair {
    uint32_t key, item;
} pair;

typedef struct pairs {
    pair *all;
    uint32_t count, capacity;
} pairs;

typedef struct walker {
    const ir_function *f;
    masu__arena *scratch;
    bool enough; /* memory */
    bool used_only, scoped;
    pairs uses, in;
    ir_value *mark;   /* by block: the last value found to be in its set */
    ir_block **stack; /* blocks whose predecessors are still to be visited */
    uint32_t depth;
} walker;

/* ---- lists of pairs -------------------------------------------------------------------------- */

static void add(walker *w, pairs *p, uint32_t key, uint32_t item) {
    if (p->count == p->capacity) {
        uint32_t wanted = p->capacity ? 2 * p->capacity : 64;
        pair *larger = masu__arena_grow(w->scratch, p->all, p->capacity, wanted, sizeof *larger, _Alignof(pair));
        w->enough &= larger != NULL;
        if (!larger)
            return;
        p->all = larger;
        p->capacity = wanted;
    }
    p->all[p->count++] = (pair){key, item};
}

/* Groups the items by key, in the order in which they were added. */
static liveness_set *group(walker *w, const pairs *p, uint32_t keys) {
    liveness_set *sets = MASU_ARENA_ARRAY(w->scratch, liveness_set, keys);
    ir_value *items = MASU_ARENA_ARRAY(w->scratch, ir_value, p->count);
    uint32_t *next = MASU_ARENA_ARRAY(w->scratch, uint32_t, keys);
    if (!sets || !items || !next) {
        w->enough = false;
        return NULL;
    }
    for (uint32_t i = 0; i < p->count; i++)
        sets[p->all[i].key].count++;
    for (uint32_t k = 0, start = 0; k < keys; start += sets[k++].count) {
        sets[k].values = items + start;
        next[k] = start;
    }
    for (uint32_t i = 0; i < p->count; i++)
        items[next[p->all[i].key]++] = p->all[i].item;
    return sets;
}

/* ---- uses ------------------------------------------------------------------------------------ */

static void note_use(walker *w, ir_value *last_block, const ir_block *b, ir_value v) {
    const ir_value_info *info = &w->f->values[v];
    if (!ir_type_managed(info->type) || info->block == b || last_block[v] == b->id + 1)
        return;
    last_block[v] = b->id + 1;
    add(w, &w->uses, v, b->id);
}

static bool is_use(const walker *w, const ir_instr *i) {
    bool counts = i->op == IR_ACQUIRE || i->op == IR_ROOT || i->op == IR_UNROOT || (i->op == IR_RELEASE && !w->scoped);
    return !w->used_only || !counts;
}

static void note_uses(walker *w, ir_value *last_block, const ir_block *b) {
    for (const ir_instr *i = b->first; i; i = i->next) {
        for (uint32_t a = 0; is_use(w, i) && a < i->arg_count; a++)
            note_use(w, last_block, b, i->args[a]);
        for (int t = 0; t < ir_target_count(i); t++)
            for (uint32_t a = 0; a < i->target[t].count; a++)
                note_use(w, last_block, b, i->target[t].args[a]);
    }
}

/* ---- walking upwards ------------------------------------------------------------------------- */

static void enter(walker *w, ir_block *b, ir_value v) {
    if (w->mark[b->id] == v)
        return;
    w->mark[b->id] = v;
    add(w, &w->in, b->id, v);
    w->stack[w->depth++] = b;
}

static void walk_up(walker *w, ir_value v, liveness_set blocks) {
    for (uint32_t k = 0; k < blocks.count && w->enough; k++) {
        enter(w, w->f->blocks[blocks.values[k]], v);
        while (w->depth > 0) {
            ir_block *b = w->stack[--w->depth];
            for (uint32_t p = 0; p < b->pred_count; p++)
                if (b->preds[p] != w->f->values[v].block)
                    enter(w, b->preds[p], v);
        }
    }
}

static bool compute(liveness *l, walker w) {
    const ir_function *f = w.f;
    masu__arena *scratch = w.scratch;
    ir_value *last_block = MASU_ARENA_ARRAY(scratch, ir_value, f->value_count);
    w.mark = MASU_ARENA_ARRAY(scratch, ir_value, f->block_count);
    w.stack = MASU_ARENA_ARRAY(scratch, ir_block *, f->block_count);
    if (!last_block || !w.mark || !w.stack)
        return false;
    for (uint32_t b = 0; b < f->block_count; b++)
        note_uses(&w, last_block, f->blocks[b]);
    liveness_set *uses = group(&w, &w.uses, f->value_count);
    for (ir_value v = 1; v < f->value_count && w.enough; v++)
        walk_up(&w, v, uses[v]);
    l->in = group(&w, &w.in, f->block_count);
    return w.enough;
}

bool liveness_compute(liveness *l, const ir_function *f, masu__arena *scratch) {
    return compute(l, (walker){.f = f, .scratch = scratch, .enough = true});
}

bool liveness_compute_used(liveness *l, const ir_function *f, bool scoped, masu__arena *scratch) {
    return compute(l, (walker){.f = f, .scratch = scratch, .enough = true, .used_only = true, .scoped = scoped});
}

bool liveness_has(liveness_set set, ir_value v) {
    uint32_t low = 0, high = set.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set.values[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set.count && set.values[low] == v;
}
