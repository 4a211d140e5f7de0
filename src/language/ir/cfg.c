/* cfg.c: order and dominance of blocks (see cfg.h), and the two changes of shape that passes ask
 * for. */
#include "language/ir/cfg.h"

enum { NOWHERE = UINT32_MAX };

/* ---- order ----------------------------------------------------------------------------------- */

typedef struct visit { /* a block on the depth-first path, and which successor comes next */
    ir_block *block;
    int next;
} visit;

/* The targets are visited last to first, so that in the reversed order the first one comes
 * first. */
static ir_block *next_successor(visit *v) {
    const ir_instr *last = v->block->last;
    int count = last ? ir_target_count(last) : 0;
    while (v->next < count) {
        ir_block *to = last->target[count - 1 - v->next++].block;
        if (to)
            return to;
    }
    return NULL;
}

bool ir_order_compute(ir_order *order, const ir_function *f, masu__arena *scratch) {
    uint32_t n = f->block_count;
    order->count = 0;
    order->blocks = MASU_ARENA_ARRAY(scratch, ir_block *, n);
    order->position = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    visit *path = MASU_ARENA_ARRAY(scratch, visit, n);
    bool *seen = MASU_ARENA_ARRAY(scratch, bool, n);
    if (!order->blocks || !order->position || !path || !seen)
        return false;
    uint32_t depth = 0, free = n; /* finished blocks fill the array from its end */
    if (n > 0) {
        path[depth++] = (visit){.block = f->blocks[0]};
        seen[0] = true;
    }
    while (depth > 0) {
        ir_block *to = next_successor(&path[depth - 1]);
        if (!to) {
            order->blocks[--free] = path[--depth].block;
        } else if (!seen[to->id]) {
            seen[to->id] = true;
            path[depth++] = (visit){.block = to};
        }
    }
    order->count = n - free;
    order->blocks += free;
    for (uint32_t i = 0; i < n; i++)
        order->position[i] = NOWHERE;
    for (uint32_t i = 0; i < order->count; i++)
        order->position[order->blocks[i]->id] = i;
    return true;
}

/* ---- dominance ------------------------------------------------------------------------------- */

static uint32_t common_dominator(const uint32_t *parent, uint32_t a, uint32_t b) {
    while (a != b) {
        while (a > b)
            a = parent[a];
        while (b > a)
            b = parent[b];
    }
    return a;
}

static uint32_t parent_of(const ir_dominators *d, uint32_t at) {
    const ir_block *b = d->order->blocks[at];
    uint32_t found = NOWHERE;
    for (uint32_t p = 0; p < b->pred_count; p++) {
        uint32_t pred = d->order->position[b->preds[p]->id];
        if (pred == NOWHERE || d->parent[pred] == NOWHERE)
            continue;
        found = found == NOWHERE ? pred : common_dominator(d->parent, found, pred);
    }
    return found;
}

static void find_parents(ir_dominators *d) {
    uint32_t n = d->order->count;
    for (uint32_t i = 1; i < n; i++)
        d->parent[i] = NOWHERE;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < n; i++) {
            uint32_t parent = parent_of(d, i);
            changed |= parent != d->parent[i];
            d->parent[i] = parent;
        }
    }
}

/* Numbers the tree without recursion: sizes of subtrees from the leaves up, then places from the
 * root down. Parents come before children in the order. */
static void number_tree(ir_dominators *d, uint32_t *size, uint32_t *used) {
    uint32_t n = d->order->count;
    for (uint32_t i = 0; i < n; i++)
        size[i] = 1;
    for (uint32_t i = n; i-- > 1;)
        size[d->parent[i]] += size[i];
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0) {
            uint32_t p = d->parent[i];
            d->first[i] = d->first[p] + 1 + used[p];
            used[p] += size[i];
        }
        d->last[i] = d->first[i] + size[i] - 1;
        d->preorder[d->first[i]] = d->order->blocks[i];
    }
}

bool ir_dominators_compute(ir_dominators *d, const ir_order *order, masu__arena *scratch) {
    uint32_t n = order->count;
    d->order = order;
    d->parent = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    d->first = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    d->last = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    d->preorder = MASU_ARENA_ARRAY(scratch, ir_block *, n);
    uint32_t *size = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    uint32_t *used = MASU_ARENA_ARRAY(scratch, uint32_t, n);
    if (!d->parent || !d->first || !d->last || !d->preorder || !size || !used)
        return false;
    find_parents(d);
    number_tree(d, size, used);
    return true;
}

bool ir_dominates(const ir_dominators *d, const ir_block *a, const ir_block *b) {
    uint32_t pa = d->order->position[a->id], pb = d->order->position[b->id];
    return d->first[pa] <= d->first[pb] && d->last[pb] <= d->last[pa];
}

/* ---- changes of shape ------------------------------------------------------------------------ */

static void drop_blocks(ir_function *f, const ir_order *order) {
    for (uint32_t i = 0; i < f->block_count; i++) /* their edges into what stays */
        if (order->position[i] == NOWHERE && f->blocks[i]->last && ir_is_terminator(f->blocks[i]->last->op))
            ir_remove(f->blocks[i]->last);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->block_count; i++) {
        ir_block *b = f->blocks[i];
        if (order->position[i] == NOWHERE)
            continue;
        f->blocks[kept] = b;
        b->id = kept++;
    }
    f->block_count = kept;
}

void ir_remove_unreachable_blocks(ir_function *f) {
    masu__arena scratch = {0};
    ir_order order;
    if (!ir_order_compute(&order, f, &scratch))
        f->module->out_of_memory = true;
    else if (order.count < f->block_count)
        drop_blocks(f, &order);
    masu__arena_destroy(&scratch);
}

/* from ─► to(args)  becomes  from ─► between: jump to(args) */
static void split_edge(ir_function *f, ir_instr *branch, int which) {
    ir_target old = branch->target[which];
    ir_block *between = ir_block_new(f);
    ir_instr *jump = ir_instr_new(f, IR_JUMP, NULL, 0, NULL, 0, (source_span){0});
    if (!between || !jump)
        return;
    between->scope_depth = old.block->scope_depth;
    ir_append(between, jump);
    ir_set_target(branch, which, between, NULL, 0);
    ir_set_target(jump, 0, old.block, old.args, old.count);
}

void ir_split_critical_edges(ir_function *f) {
    uint32_t count = f->block_count; /* new blocks need no splitting */
    for (uint32_t i = 0; i < count; i++) {
        ir_instr *last = f->blocks[i]->last;
        for (int t = 0; last && last->op == IR_BRANCH && t < 2; t++)
            if (last->target[t].block->pred_count > 1 || last->target[t].count > 0)
                split_edge(f, last, t);
    }
}
