/* lower_grad.c: which functions and loops may run a backward, so that only those count iterations for tl_clear_grads.
 *
 *     runs(f) = f calls backward, or some g with runs(g)
 */
#include "language/lower/lowering.h"

typedef struct scan {
    const lowering *l;
    bool found;
} scan;

static bool call_runs(const lowering *l, const call_expr *c) {
    if (c->kind == CALL_ABI)
        return c->abi == TL_FN_tl_tensor_backward || c->abi == TL_FN_tl_tensor_backward_from;
    return c->kind == CALL_FUNCTION && l->runs_backward[c->function->index];
}

static void scan_expr(expr *e, void *context) {
    scan *s = context;
    s->found = s->found || (e->kind == EXPR_CALL && call_runs(s->l, &e->call));
    if (!s->found)
        expr_each_child(e, scan_expr, s);
}

bool lower_runs_backward(const lowering *l, const expr *e) {
    scan s = {.l = l};
    scan_expr((expr *)e, &s); /* the visitor's type allows writing; this one only looks */
    return s.found;
}

bool lower_block_runs_backward(const lowering *l, const block *b) {
    expr e = {.kind = EXPR_BLOCK, .block = (block *)b};
    return lower_runs_backward(l, &e);
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
        if (g->count == g->capacity) {
            uint32_t larger = g->capacity ? 2 * g->capacity : 64;
            call_edge *room = masu__arena_grow(g->l->scratch, g->edges, g->count, larger, sizeof *room,
                                               _Alignof(call_edge));
            if (!room) {
                g->out_of_memory = true;
                return;
            }
            g->edges = room;
            g->capacity = larger;
        }
        g->edges[g->count++] = (call_edge){g->caller, e->call.function->index};
    }
    expr_each_child(e, collect_calls, g);
}

bool lower_find_backward(lowering *l) {
    call_graph g = {.l = l};
    for (uint32_t f = 0; f < l->tree->function_count; f++) {
        if (l->broken[f] || l->tree->functions[f]->is_template || l->tree->functions[f]->body == NULL)
            continue;
        g.caller = f;
        expr body = {.kind = EXPR_BLOCK, .block = l->tree->functions[f]->body};
        collect_calls(&body, &g);
    }
    for (bool changed = true; changed && !g.out_of_memory;) {
        changed = false;
        for (uint32_t k = 0; k < g.count; k++)
            if (l->runs_backward[g.edges[k].callee] && !l->runs_backward[g.edges[k].caller])
                changed = l->runs_backward[g.edges[k].caller] = true;
    }
    return !g.out_of_memory;
}
