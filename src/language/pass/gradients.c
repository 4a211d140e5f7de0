/* gradients.c: which readings of gradients use them up.
 *
 * Looking at a gradient changes nothing: w.grad() may be printed, normed, tested, bound to a name, handed to a helper,
 * and the next backward still adds to it. It is consumed when a tensor computed from it is kept: then the next backward
 * replaces it. Both halves decide: this pass finds, in the text, where what is made of a reading flows to; the runtime
 * (leaf.c) marks the leaf when the running program gets there, and does what replacing and giving back need.
 *
 *     kept(v)    v goes round a loop that may run a backward (a variable, field or element from outside its iteration);
 *                or what is computed from v, stored into v, or returned by a call that was handed v, is kept
 *     out(v)     v leaves the function in result r: the caller says whether it keeps that
 *
 *     g = grad(w)             g = grad(w)
 *     print(g)                print(g)                   only looks
 *     u = mul(g, lr)          grad_consume(g, last)      before the first step of whatever is kept
 *     w' = sub(w, u)          u = mul(g, lr) …           last: no way leads to a reading before the next backward
 *     jump head(w')
 *
 * A step of an optimiser in place (t op= b, tl_tensor_*_update) marks its leaf itself: it is known only there whether t
 * is one. Numbers carry nothing on: item() and elements only look.
 *
 * Masks only grow, over the whole program, until nothing changes. Cost: O(sweeps x instructions); nothing at all for a
 * program that reads no gradient.
 */
#include "language/ir/cfg.h"
#include "language/pass/gradients_kept.h"
#include "language/pass/pass.h"

/* Bit r: goes out in result r; results from the last bit on share it. */
#define KEPT (1ull << 63)
enum { LAST_RESULT = 62 };

typedef struct flow {
    uint64_t *values;    /* by value: where it, and what is made of it, goes */
    bool *loops;         /* by block: head of a loop that may run a backward */
    uint64_t handed_out; /* results that hold something made of a gradient that the function reads */
    bool backward, reads;
    bool reads_after; /* some way from a return leads to a reading before the next backward */
    ir_order order;
    ir_dominators tree;
} flow;

typedef struct finder {
    ir_module *m;
    masu__arena scratch;
    flow *flows; /* by function id */
    ir_function *f;
    flow *own;
    bool changed;
} finder;

static bool is_abi(const ir_instr *i, tl_abi_index abi) {
    return i->op == IR_ABI && i->abi == abi;
}

static bool is_reading(const ir_instr *i) {
    return i->op == IR_ABI && tl_abi_functions[i->abi].effects & READS_GRAD;
}

static bool runs_backward(const ir_instr *i) {
    return is_abi(i, TL_FN_tl_tensor_backward) || is_abi(i, TL_FN_tl_tensor_backward_from);
}

static bool is_backward(const finder *w, const ir_instr *i) {
    return runs_backward(i) || (i->op == IR_CALL && w->flows[i->callee->id].backward);
}

static bool looks(const finder *w, const ir_instr *i) {
    return is_reading(i) || is_abi(i, TL_FN_tl_tensor_clip_grad) || (i->op == IR_CALL && w->flows[i->callee->id].reads);
}

static uint64_t result_bit(uint32_t r) {
    return 1ull << (r < LAST_RESULT ? r : LAST_RESULT);
}

/* ---- loops that may run a backward ---------------------------------------------------------------- */

static bool is_back_edge(const flow *o, const ir_block *from, const ir_block *to) {
    return o->order.position[from->id] != UINT32_MAX && o->order.position[to->id] != UINT32_MAX &&
           ir_dominates(&o->tree, to, from);
}

static bool block_runs_backward(const finder *w, const ir_block *b) {
    for (const ir_instr *i = b->first; i; i = i->next)
        if (is_backward(w, i))
            return true;
    return false;
}

/* The blocks of the loop: those from which its end is reached without its head. */
static bool loop_runs_backward(finder *w, ir_block *head, ir_block *end) {
    masu__arena_mark mark = masu__arena_get_mark(&w->scratch);
    bool *seen = MASU_ARENA_ARRAY(&w->scratch, bool, w->f->block_count);
    ir_block **list = MASU_ARENA_ARRAY(&w->scratch, ir_block *, w->f->block_count);
    bool runs = false;
    w->m->out_of_memory |= !seen || !list;
    if (seen && list) {
        uint32_t count = 0;
        seen[head->id] = seen[end->id] = true;
        list[count++] = end;
        runs = block_runs_backward(w, head);
        for (uint32_t k = 0; k < count && !runs; k++) {
            runs = block_runs_backward(w, list[k]);
            for (uint32_t p = 0; list[k] != head && p < list[k]->pred_count; p++) {
                ir_block *before = list[k]->preds[p];
                if (seen[before->id])
                    continue;
                seen[before->id] = true;
                list[count++] = before;
            }
        }
    }
    masu__arena_release(&w->scratch, mark);
    return runs;
}

static void find_loops(finder *w) {
    for (uint32_t b = 0; b < w->f->block_count; b++) {
        ir_block *head = w->f->blocks[b];
        for (uint32_t p = 0; p < head->pred_count && !w->own->loops[b]; p++)
            if (is_back_edge(w->own, head->preds[p], head))
                w->own->loops[b] = loop_runs_backward(w, head, head->preds[p]);
    }
}

/* ---- where values go -------------------------------------------------------------------------------- */

static void grow(finder *w, ir_value v, uint64_t mask) {
    ir_type type = ir_type_of(w->f, v);
    if (type != IR_TENSOR && type != IR_OBJECT && type != IR_ADDRESS)
        return;
    w->changed |= (w->own->values[v] | mask) != w->own->values[v];
    w->own->values[v] |= mask;
}

static uint64_t mask_of_argument(const finder *w, const ir_instr *i, uint32_t a) {
    uint64_t theirs = w->flows[i->callee->id].values[i->callee->params[a]], mask = theirs & KEPT;
    for (uint32_t r = 0; r < i->result_count; r++)
        if (theirs & result_bit(r))
            mask |= w->own->values[i->result + r];
    return mask;
}

/* Made of no element of its operand; texts are not tensors. */
static bool carries_nothing(tl_abi_index abi) {
    switch ((int)abi) {
    case TL_FN_tl_tensor_zeros_like:
    case TL_FN_tl_tensor_ones_like:
    case TL_FN_tl_tensor_randn_like:
    case TL_FN_tl_tensor_rand_like:
    case TL_FN_tl_tensor_scalar_like:
    case TL_FN_tl_tensor_shape:
    case TL_FN_tl_text_tensor:
        return true;
    default:
        return tl_abi_functions[abi].effects & READS_GRAD;
    }
}

/* The targets of an operation: its results, and the record that it fills or empties. */
static uint64_t mask_of_operation(const finder *w, const ir_instr *i) {
    uint64_t mask = 0;
    for (uint32_t r = 0; r < i->result_count; r++)
        mask |= w->own->values[i->result + r];
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (ir_type_of(w->f, i->args[a]) == IR_ADDRESS)
            mask |= w->own->values[i->args[a]];
    return mask;
}

/* Where operand a of i goes because of i. */
static uint64_t mask_of_use(const finder *w, const ir_instr *i, uint32_t a) {
    switch (i->op) {
    case IR_CALL:
        return mask_of_argument(w, i, a);
    case IR_RET:
        return result_bit(a);
    case IR_ABI:
        return carries_nothing(i->abi) ? 0 : mask_of_operation(w, i);
    default:
        return mask_of_operation(w, i);
    }
}

static uint64_t mask_of_edge(const finder *w, const ir_block *from, const ir_target *t, uint32_t a) {
    bool round = w->own->loops[t->block->id] && is_back_edge(w->own, from, t->block);
    return w->own->values[t->block->params[a]] | (round ? KEPT : 0);
}

static void sweep_instr(finder *w, const ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++)
        grow(w, i->args[a], mask_of_use(w, i, a));
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++)
            grow(w, i->target[t].args[a], mask_of_edge(w, i->block, &i->target[t], a));
    uint64_t made = is_reading(i) ? w->own->values[i->result] : 0;
    for (uint32_t r = 0; i->op == IR_CALL && r < i->result_count; r++)
        if (w->flows[i->callee->id].handed_out & result_bit(r))
            made |= w->own->values[i->result + r];
    made &= ~KEPT;
    w->changed |= (w->own->handed_out | made) != w->own->handed_out;
    w->own->handed_out |= made;
}

static void enter(finder *w, ir_function *f) {
    w->f = f;
    w->own = &w->flows[f->id];
}

static void sweep_flows(finder *w) {
    do {
        w->changed = false;
        for (uint32_t n = 0; n < w->m->function_count; n++) {
            enter(w, w->m->functions[n]);
            for (uint32_t b = w->own->order.count; b-- > 0;)
                for (const ir_instr *i = w->own->order.blocks[b]->last; i; i = i->prev)
                    sweep_instr(w, i);
        }
    } while (w->changed);
}

/* ---- what functions do ---------------------------------------------------------------------------------- */

static void sweep_calls(finder *w) {
    do {
        w->changed = false;
        for (uint32_t n = 0; n < w->m->function_count; n++) {
            enter(w, w->m->functions[n]);
            bool backward = w->own->backward, reads = w->own->reads;
            for (uint32_t b = 0; b < w->f->block_count; b++)
                for (const ir_instr *i = w->f->blocks[b]->first; i; i = i->next) {
                    w->own->backward |= is_backward(w, i);
                    w->own->reads |= looks(w, i);
                }
            w->changed |= backward != w->own->backward || reads != w->own->reads;
        }
    } while (w->changed);
}

/* Whether a way from behind i leads to a reading before a backward. A call that may run one may also not. */
static bool reads_from(finder *w, const ir_instr *i) {
    masu__arena_mark mark = masu__arena_get_mark(&w->scratch);
    bool *seen = MASU_ARENA_ARRAY(&w->scratch, bool, w->f->block_count);
    ir_block **list = MASU_ARENA_ARRAY(&w->scratch, ir_block *, w->f->block_count);
    w->m->out_of_memory |= !seen || !list;
    bool found = !seen || !list;
    uint32_t count = 0;
    for (uint32_t k = 0; !found; i = list[k++]->first) {
        for (; i && !runs_backward(i) && !found; i = i->next) {
            found = looks(w, i) || (i->op == IR_RET && w->own->reads_after);
            for (int t = 0; t < ir_target_count(i); t++)
                if (!seen[i->target[t].block->id]) {
                    seen[i->target[t].block->id] = true;
                    list[count++] = i->target[t].block;
                }
        }
        if (k == count)
            break;
    }
    masu__arena_release(&w->scratch, mark);
    return found;
}

static void sweep_after(finder *w) {
    do {
        w->changed = false;
        for (uint32_t n = 0; n < w->m->function_count; n++) {
            enter(w, w->m->functions[n]);
            for (uint32_t b = 0; b < w->f->block_count; b++)
                for (const ir_instr *i = w->f->blocks[b]->first; i; i = i->next) {
                    flow *theirs = i->op == IR_CALL ? &w->flows[i->callee->id] : NULL;
                    if (!theirs || theirs->reads_after || !theirs->reads || !reads_from(w, i->next))
                        continue;
                    theirs->reads_after = true;
                    w->changed = true;
                }
        }
    } while (w->changed);
}

/* ---- calls into the runtime ----------------------------------------------------------------------------- */

static ir_instr *operation(finder *w, tl_abi_index abi, const ir_value *args, uint32_t count, bool result) {
    ir_type type = IR_BOOL;
    ir_instr *i = ir_instr_new(w->f, IR_ABI, args, count, &type, result ? 1 : 0, (source_span){0});
    if (i)
        i->abi = abi;
    return i;
}

static ir_value flag(finder *w, ir_instr *where, bool value) {
    ir_type type = IR_BOOL;
    ir_instr *i = ir_instr_new(w->f, IR_CONST, NULL, 0, &type, 1, (source_span){0});
    if (!i)
        return 0;
    i->imm.i = value;
    ir_insert_before(where, i);
    return i->result;
}

static void tell_use(finder *w, ir_instr *where, ir_value gradient, uint64_t mask) {
    if (mask & KEPT) {
        ir_value last = flag(w, where, !reads_from(w, where));
        ir_insert_before(where, operation(w, TL_FN_tl_grad_consume, (ir_value[]){gradient, last}, 2, false));
    } else if (mask) {
        ir_insert_before(where, operation(w, TL_FN_tl_grad_hand_out, &gradient, 1, false));
    }
}

static void tell_uses(finder *w, ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++) {
        const ir_instr *def = w->f->values[i->args[a]].def;
        if (def && is_reading(def) && i->op != IR_KEEP)
            tell_use(w, i, i->args[a], mask_of_use(w, i, a));
    }
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++) {
            const ir_instr *def = w->f->values[i->target[t].args[a]].def;
            if (def && is_reading(def))
                tell_use(w, i, i->target[t].args[a], mask_of_edge(w, i->block, &i->target[t], a));
        }
}

/* Where all that it says goes out with this function's own results, what its caller said holds for the call, too. */
static void tell_call(finder *w, ir_instr *i) {
    uint64_t out = w->flows[i->callee->id].handed_out, mask = 0;
    for (uint32_t r = 0; r < i->result_count; r++)
        mask |= out & result_bit(r) ? w->own->values[i->result + r] : 0;
    if (out == 0 || (mask != 0 && !(mask & KEPT)))
        return;
    ir_value kept = flag(w, i, mask != 0);
    ir_instr *before = operation(w, TL_FN_tl_grad_keeping, &kept, 1, true);
    if (!before)
        return;
    ir_insert_before(i, before);
    ir_instr *after = operation(w, TL_FN_tl_grad_keeping, &before->result, 1, true);
    ir_insert_after(i, after);
}

static void tell_all(finder *w) {
    for (uint32_t n = 0; n < w->m->function_count; n++) {
        enter(w, w->m->functions[n]);
        for (uint32_t b = 0; b < w->own->order.count; b++) {
            ir_block *block = w->own->order.blocks[b];
            for (ir_instr *i = block->first; i && !w->m->out_of_memory; i = i->next) {
                tell_uses(w, i);
                if (i->op == IR_CALL)
                    tell_call(w, i);
            }
        }
    }
}

/* ---- the whole ----------------------------------------------------------------------------------------------- */

static bool any_reading(const ir_module *m) {
    for (uint32_t n = 0; n < m->function_count; n++)
        for (uint32_t b = 0; b < m->functions[n]->block_count; b++)
            for (const ir_instr *i = m->functions[n]->blocks[b]->first; i; i = i->next)
                if (is_reading(i))
                    return true;
    return false;
}

static bool prepare(finder *w) {
    w->flows = MASU_ARENA_ARRAY(&w->scratch, flow, w->m->function_count);
    for (uint32_t n = 0; w->flows && n < w->m->function_count; n++) {
        ir_function *f = w->m->functions[n];
        flow *o = &w->flows[f->id];
        o->values = MASU_ARENA_ARRAY(&w->scratch, uint64_t, f->value_count);
        o->loops = MASU_ARENA_ARRAY(&w->scratch, bool, f->block_count);
        if (!o->values || !o->loops || !ir_order_compute(&o->order, f, &w->scratch) ||
            !ir_dominators_compute(&o->tree, &o->order, &w->scratch))
            return false;
    }
    return w->flows != NULL;
}

void pass_gradients(ir_module *m, pass_context *context) {
    (void)context;
    if (!any_reading(m))
        return;
    finder w = {.m = m};
    gradients_keep(m, &w.scratch);
    if (prepare(&w)) {
        sweep_calls(&w);
        for (uint32_t n = 0; n < m->function_count; n++) {
            enter(&w, m->functions[n]);
            find_loops(&w);
        }
        sweep_flows(&w);
        sweep_after(&w);
        tell_all(&w);
    } else {
        m->out_of_memory = true;
    }
    masu__arena_destroy(&w.scratch);
}
