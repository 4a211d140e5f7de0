/* edit.c: see edit.h. */
#include "language/ir/edit.h"

#include <string.h>

#include "language/ir/store.h"

/* ---- replacing values ------------------------------------------------------------------------ */

static ir_value resolve(ir_value *to, ir_value v) {
    ir_value end = v;
    while (to[end] != end)
        end = to[end];
    while (to[v] != end) { /* shorten the chain for the next question */
        ir_value next = to[v];
        to[v] = end;
        v = next;
    }
    return end;
}

void ir_replace_values(ir_function *f, ir_value *to) {
    for (uint32_t a = 0; a < f->alias_count; a++)
        f->aliases[a].value = resolve(to, f->aliases[a].value);
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            for (uint32_t a = 0; a < i->arg_count; a++)
                i->args[a] = resolve(to, i->args[a]);
            for (int t = 0; t < ir_target_count(i); t++)
                for (uint32_t a = 0; a < i->target[t].count; a++)
                    i->target[t].args[a] = resolve(to, i->target[t].args[a]);
        }
    }
}

/* ---- parameters of blocks -------------------------------------------------------------------- */

typedef struct params {
    ir_function *f;
    masu__arena scratch;
    ir_value *to;     /* by value: what takes its place */
    uint32_t *number; /* by value: 1 + its position among its block's parameters, 0 for others */
    bool *needed;     /* by value: a parameter that some instruction uses, perhaps through other parameters */
    ir_value *queue;  /* needed parameters whose arguments are still to be looked at */
    uint32_t queued;
} params;

/* Calls visit for every edge into b. */
#define FOR_EDGES(b, target_name)                                                                                      \
    for (uint32_t p_ = 0; p_ < (b)->pred_count; p_++)                                                                  \
        for (int t_ = 0; t_ < ir_target_count((b)->preds[p_]->last); t_++)                                             \
            for (ir_target *target_name = &(b)->preds[p_]->last->target[t_]; target_name && target_name->block == (b); \
                 target_name = NULL)

/* The one value that every edge passes for parameter k, 0 when there are several. */
static ir_value only_argument(params *s, ir_block *b, uint32_t k) {
    ir_value self = b->params[k], only = 0;
    FOR_EDGES(b, target) {
        ir_value v = resolve(s->to, target->args[k]);
        if (v == self || v == only)
            continue;
        if (only)
            return 0;
        only = v;
    }
    return only;
}

static bool find_disguised(params *s) {
    bool any = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 1; b < s->f->block_count; b++) {
            ir_block *block = s->f->blocks[b];
            for (uint32_t k = 0; k < block->param_count; k++) {
                ir_value param = block->params[k];
                ir_value only = s->to[param] == param ? only_argument(s, block, k) : 0;
                if (!only)
                    continue;
                s->to[param] = only;
                if (!s->f->values[only].name)
                    s->f->values[only].name = s->f->values[param].name;
                changed = any = true;
            }
        }
    }
    return any;
}

static void need(params *s, ir_value v) {
    if (s->needed[v] || s->number[v] == 0)
        return;
    s->needed[v] = true;
    s->queue[s->queued++] = v;
}

/* After disguised parameters have been replaced everywhere. */
static bool find_unneeded(params *s) {
    for (uint32_t b = 0; b < s->f->block_count; b++)
        for (ir_instr *i = s->f->blocks[b]->first; i; i = i->next)
            for (uint32_t a = 0; a < i->arg_count; a++)
                need(s, i->args[a]);
    while (s->queued > 0) {
        ir_value v = s->queue[--s->queued];
        ir_block *b = s->f->values[v].block;
        FOR_EDGES(b, target)
        need(s, target->args[s->number[v] - 1]);
    }
    for (uint32_t b = 1; b < s->f->block_count; b++)
        for (uint32_t k = 0; k < s->f->blocks[b]->param_count; k++)
            if (!s->needed[s->f->blocks[b]->params[k]])
                return true;
    return false;
}

static void strike_argument(ir_target *target, const ir_block *b, const bool *needed) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < target->count; k++)
        if (needed[b->params[k]])
            target->args[kept++] = target->args[k];
    target->count = kept;
}

/* Removes the parameters that are not needed, and their arguments. An edge is met once for each
 * time that its block is listed as predecessor, so it is struck only while it still has all
 * arguments. */
static void strike(params *s) {
    for (uint32_t n = 1; n < s->f->block_count; n++) {
        ir_block *b = s->f->blocks[n];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < b->param_count; k++)
            kept += s->needed[b->params[k]];
        if (kept == b->param_count)
            continue;
        FOR_EDGES(b, target) {
            if (target->count == b->param_count)
                strike_argument(target, b, s->needed);
        }
        kept = 0;
        for (uint32_t k = 0; k < b->param_count; k++)
            if (s->needed[b->params[k]])
                b->params[kept++] = b->params[k];
        b->param_count = kept;
    }
}

static bool params_prepare(params *s) {
    uint32_t n = s->f->value_count;
    s->to = MASU_ARENA_ARRAY(&s->scratch, ir_value, n);
    s->number = MASU_ARENA_ARRAY(&s->scratch, uint32_t, n);
    s->needed = MASU_ARENA_ARRAY(&s->scratch, bool, n);
    s->queue = MASU_ARENA_ARRAY(&s->scratch, ir_value, n);
    if (!s->to || !s->number || !s->needed || !s->queue)
        return false;
    for (uint32_t v = 0; v < n; v++)
        s->to[v] = v;
    for (uint32_t b = 0; b < s->f->block_count; b++)
        for (uint32_t k = 0; k < s->f->blocks[b]->param_count; k++)
            s->number[s->f->blocks[b]->params[k]] = k + 1;
    return true;
}

bool ir_simplify_params(ir_function *f) {
    params s = {.f = f};
    bool changed = false;
    if (!params_prepare(&s)) {
        f->module->out_of_memory = true;
    } else {
        if (find_disguised(&s))
            ir_replace_values(f, s.to);
        changed = find_unneeded(&s);
        if (changed)
            strike(&s);
    }
    masu__arena_destroy(&s.scratch);
    return changed;
}

/* ---- chains of blocks ------------------------------------------------------------------------ */

static ir_block *only_successor(const ir_block *b) {
    ir_block *to = b->last && b->last->op == IR_JUMP ? b->last->target[0].block : NULL;
    return to && to != b && to->id != 0 && to->pred_count == 1 && to->param_count == 0 ? to : NULL;
}

static void absorb(ir_block *b, ir_block *next) {
    ir_remove(b->last);
    for (ir_instr *i = next->first, *after; i; i = after) {
        after = i->next;
        ir_remove(i);
        ir_append(b, i);
    }
}

void ir_merge_chains(ir_function *f) {
    bool merged = false;
    for (uint32_t n = 0; n < f->block_count; n++) {
        for (ir_block *next; (next = only_successor(f->blocks[n]));) {
            absorb(f->blocks[n], next);
            merged = true;
        }
    }
    if (merged)
        ir_remove_unreachable_blocks(f);
}

/* ---- copying a function ---------------------------------------------------------------------- */

static ir_instr *clone_instr(ir_function *copy, const ir_instr *i) {
    ir_module *m = copy->module;
    ir_instr *c = ir_alloc(m, 1, sizeof *c);
    if (!c)
        return NULL;
    *c = *i;
    c->prev = c->next = NULL;
    c->block = NULL;
    c->args = ir_copy_growing(m, i->args, i->arg_count, sizeof *i->args);
    if (i->owned)
        c->owned = ir_copy_growing(m, i->owned, i->arg_count, sizeof *i->owned);
    for (int t = 0; t < ir_target_count(i); t++) {
        c->target[t].block = copy->blocks[i->target[t].block->id];
        c->target[t].args = ir_copy_growing(m, i->target[t].args, i->target[t].count, sizeof(ir_value));
    }
    for (uint32_t r = 0; r < i->result_count; r++)
        copy->values[i->result + r].def = c;
    return m->out_of_memory ? NULL : c;
}

static void clone_block(ir_function *copy, const ir_block *b) {
    ir_block *c = copy->blocks[b->id];
    c->scope_depth = b->scope_depth;
    c->param_count = b->param_count;
    c->params = ir_copy_growing(copy->module, b->params, b->param_count, sizeof *b->params);
    for (uint32_t k = 0; c->params && k < c->param_count; k++)
        copy->values[c->params[k]].block = c;
    for (const ir_instr *i = b->first; i; i = i->next)
        ir_append(c, clone_instr(copy, i));
}

static bool clone_header(ir_function *copy, const ir_function *f) {
    ir_module *m = f->module;
    copy->values = ir_copy_growing(m, f->values, f->value_count, sizeof *f->values);
    copy->value_count = copy->value_capacity = f->value_count; /* the real room is at least this */
    copy->params = ir_copy_growing(m, f->params, f->param_count, sizeof *f->params);
    copy->param_count = f->param_count;
    copy->aliases = ir_copy_growing(m, f->aliases, f->alias_count, sizeof *f->aliases);
    copy->alias_count = copy->alias_capacity = f->alias_count;
    copy->is_kernel = f->is_kernel;
    ir_function_set_results(copy, f->results, f->result_count);
    return !m->out_of_memory;
}

ir_function *ir_function_clone(ir_function *f, const char *name) {
    ir_function *copy = ir_function_detached(f->module, name, f->span);
    if (!copy || !clone_header(copy, f))
        return NULL;
    for (uint32_t b = 0; b < f->block_count; b++)
        if (!ir_block_new(copy))
            return NULL;
    for (uint32_t b = 0; b < f->block_count; b++)
        clone_block(copy, f->blocks[b]);
    return f->module->out_of_memory ? NULL : copy;
}
