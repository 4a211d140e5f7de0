/* gradients_kept.c: a program that reads grad() of what may be a result finds there what backward brought.
 *
 *     let w = Tensor::ones([2], true) * 0.5;      w = mul_scalar(…)
 *     …                                           keep_grad(w)          as retain_grad() does; a leaf has it anyway
 *     w.grad()                                    … grad(w)
 *
 * Why: only leaves gather gradients, and the usual way to begin with small weights makes a result. Going back from each
 * reading, through parameters, calls and their results, the pass finds the operations whose result may be read, and has
 * their gradient kept where they are made, before anything is computed from them. What is read out of a struct's place
 * in memory, a list or a cell may be anything that was put into one: then whatever is put into one is kept.
 *
 * wanted(v) only grows. Cost: O(sweeps x instructions); nothing for a program that reads no gradient.
 */
#include "language/pass/gradients_kept.h"

typedef struct keeper {
    ir_module *m;
    masu__arena *scratch;
    bool **wanted;  /* by function id, by value */
    bool **results; /* by function id, by result: some caller wants it */
    bool stored;    /* whatever is put into memory */
    bool changed;
} keeper;

static bool is_reading(const ir_instr *i) {
    return i->op == IR_ABI && tl_abi_functions[i->abi].effects & READS_GRAD;
}

static void want(keeper *k, const ir_function *f, ir_value v) {
    if (!v || ir_type_of(f, v) != IR_TENSOR || k->wanted[f->id][v])
        return;
    k->wanted[f->id][v] = k->changed = true;
}

/* Makes its result of operands: the end of the search. */
static bool computes(const ir_instr *def) {
    return def->op == IR_COMPREHEND || (def->op == IR_ABI && tl_abi_functions[def->abi].gradient != TL_GRADIENT_NONE);
}

/* Where a wanted value comes from. */
static void want_source(keeper *k, const ir_function *f, const ir_instr *def, ir_value v) {
    if (computes(def) || is_reading(def))
        return;
    if (def->op == IR_CALL) {
        bool *result = &k->results[def->callee->id][v - def->result];
        k->changed |= !*result;
        *result = true;
        return;
    }
    bool tensors = false;
    for (uint32_t a = 0; a < def->arg_count; a++)
        if (ir_type_of(f, def->args[a]) == IR_TENSOR) {
            want(k, f, def->args[a]);
            tensors = true;
        }
    k->changed |= !tensors && !k->stored;
    k->stored |= !tensors;
}

static bool stores(const ir_function *f, const ir_instr *i) {
    if (i->op == IR_RECORD)
        return true;
    if (i->op != IR_ABI || i->result_count > 0)
        return false;
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (ir_type_of(f, i->args[a]) == IR_OBJECT || ir_type_of(f, i->args[a]) == IR_ADDRESS)
            return true;
    return false;
}

static void sweep_instr(keeper *k, const ir_function *f, const ir_instr *i) {
    const bool *wanted = k->wanted[f->id];
    if (is_reading(i))
        want(k, f, i->args[0]);
    for (uint32_t r = 0; r < i->result_count; r++)
        if (wanted[i->result + r])
            want_source(k, f, i, i->result + r);
    for (uint32_t a = 0; a < i->arg_count; a++)
        if ((i->op == IR_CALL && k->wanted[i->callee->id][i->callee->params[a]]) ||
            (i->op == IR_RET && k->results[f->id][a]) || (k->stored && stores(f, i)))
            want(k, f, i->args[a]);
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++)
            if (wanted[i->target[t].block->params[a]])
                want(k, f, i->target[t].args[a]);
}

static bool prepare(keeper *k) {
    k->wanted = MASU_ARENA_ARRAY(k->scratch, bool *, k->m->function_count);
    k->results = MASU_ARENA_ARRAY(k->scratch, bool *, k->m->function_count);
    for (uint32_t n = 0; k->wanted && k->results && n < k->m->function_count; n++) {
        ir_function *f = k->m->functions[n];
        k->wanted[f->id] = MASU_ARENA_ARRAY(k->scratch, bool, f->value_count);
        k->results[f->id] = MASU_ARENA_ARRAY(k->scratch, bool, f->result_count + 1u);
        if (!k->wanted[f->id] || !k->results[f->id])
            return false;
    }
    return k->wanted && k->results;
}

static void keep(keeper *k, ir_function *f) {
    for (uint32_t b = 0; b < f->block_count; b++)
        for (ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            if (i->result_count != 1 || !computes(i) || !k->wanted[f->id][i->result])
                continue;
            ir_instr *call = ir_instr_new(f, IR_ABI, &i->result, 1, NULL, 0, i->span);
            if (!call)
                return;
            call->abi = TL_FN_tl_tensor_keep_grad;
            call->site = i->site;
            ir_insert_after(i, call);
        }
}

void gradients_keep(ir_module *m, masu__arena *scratch) {
    keeper k = {.m = m, .scratch = scratch};
    if (!prepare(&k)) {
        m->out_of_memory = true;
        return;
    }
    do {
        k.changed = false;
        for (uint32_t n = 0; n < m->function_count; n++)
            for (uint32_t b = 0; b < m->functions[n]->block_count; b++)
                for (const ir_instr *i = m->functions[n]->blocks[b]->last; i; i = i->prev)
                    sweep_instr(&k, m->functions[n], i);
    } while (k.changed);
    for (uint32_t n = 0; n < m->function_count; n++)
        keep(&k, m->functions[n]);
}
