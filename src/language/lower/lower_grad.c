/* lower_grad.c: which functions and loops may run a backward, so that only those count iterations for tl_clear_grads.
 *
 *     runs(f) = f calls backward, or some g with runs(g)
 */
#include "language/lower/lowering.h"

static bool call_runs(const lowering *l, const call_expr *c) {
    if (c->kind == CALL_ABI)
        return c->abi == TL_FN_tl_tensor_backward || c->abi == TL_FN_tl_tensor_backward_from;
    return c->kind == CALL_FUNCTION && l->runs_backward[c->function->index];
}

static bool runs(const expr *e, void *l) {
    return e->kind == EXPR_CALL && call_runs(l, &e->call);
}

bool lower_runs_backward(const lowering *l, const expr *e) {
    return expr_any(e, runs, (void *)l);
}

bool lower_block_runs_backward(const lowering *l, const block *b) {
    return block_any(b, runs, (void *)l);
}

/* ---- over the call graph ----------------------------------------------------------------------------------------- */

typedef struct call_edge {
    uint32_t caller, callee;
} call_edge;

typedef struct call_graph {
    lowering *l;
    uint32_t caller;
    call_edge *edges;
    uint32_t count, capacity;
    bool out_of_memory;
} call_graph;

static void collect_calls(expr *e, void *context) {
    call_graph *g = context;
    if (e->kind == EXPR_CALL && call_runs(g->l, &e->call))
        g->l->runs_backward[g->caller] = true;
    if (e->kind == EXPR_CALL && e->call.kind == CALL_FUNCTION) {
        const call_edge edge = {g->caller, e->call.function->index};
        MASU_ARENA_PUSH(g->l->scratch, g->edges, g->count, g->capacity, edge, g->out_of_memory = true);
    }
    expr_each_child(e, collect_calls, g);
}

bool lower_find_backward(lowering *l) {
    call_graph g = {.l = l};
    for (uint32_t f = 0; f < l->tree->function_count; f++) {
        if (l->broken[f] || l->tree->functions[f]->is_template || l->tree->functions[f]->body == NULL)
            continue;
        g.caller = f;
        block_each_child(l->tree->functions[f]->body, collect_calls, &g);
    }
    for (bool changed = true; changed && !g.out_of_memory;) {
        changed = false;
        for (uint32_t k = 0; k < g.count; k++)
            if (l->runs_backward[g.edges[k].callee] && !l->runs_backward[g.edges[k].caller])
                changed = l->runs_backward[g.edges[k].caller] = true;
    }
    return !g.out_of_memory;
}
