/* graph.c: making the parts of a graph. */
#include "language/borrow/graph.h"

const sort sort_unknown = {.kind = SORT_UNKNOWN};
const sort sort_value = {.kind = SORT_VALUE};
const sort sort_text = {.kind = SORT_REFERENCE, .item = &sort_value};

bool sort_holds(const sort *s) {
    bool holds = s->kind == SORT_REFERENCE || s->kind == SORT_VIEW ||
                 (s->kind == SORT_HOLDER && (s->is_lazy || sort_holds(s->item)));
    for (uint32_t i = 0; s->kind == SORT_TUPLE && i < s->count; i++)
        holds |= sort_holds(s->parts[i]);
    return holds;
}

void *graph_alloc(graph *g, size_t count, size_t bytes) {
    void *made = masu__arena_calloc(g->arena, count, bytes, _Alignof(max_align_t));
    if (made == NULL)
        longjmp(*g->memory_ended, 1);
    return made;
}

uint32_t graph_new_block(graph *g) {
    GRAPH_PUSH(g, g->blocks, g->block_count, g->block_capacity, (graph_block){0});
    return g->block_count - 1;
}

void graph_edge(graph *g, uint32_t from, uint32_t to) {
    graph_block *b = &g->blocks[from];
    GRAPH_PUSH(g, b->next, b->next_count, b->next_capacity, to);
}

uint32_t graph_new_variable(graph *g, const char *name, source_span span, const sort *s) {
    const uint32_t number = g->variable_count;
    variable made = {.name = name, .span = span, .sort = s, .owner = number, .alike = number};
    GRAPH_PUSH(g, g->variables, g->variable_count, g->variable_capacity, made);
    return number;
}

uint32_t graph_behind(graph *g, uint32_t v, uint32_t depth) {
    for (; depth > 0 && g->variables[v].depth < GRAPH_DEPTH; depth--) {
        if (g->variables[v].behind == 0) {
            const variable of = g->variables[v];
            const uint32_t made = graph_new_variable(g, of.name, of.span, of.sort);
            g->variables[made].owner = of.owner;
            g->variables[made].depth = of.depth + 1;
            g->variables[made].is_loop = of.is_loop;
            g->variables[v].behind = made + 1;
        }
        v = g->variables[v].behind - 1;
    }
    return v;
}

void graph_link_variables(graph *g, uint32_t a, uint32_t b, bool is_flat, source_span span) {
    const graph_link made = {a, b, is_flat, span};
    if (a != b)
        GRAPH_PUSH(g, g->links, g->link_count, g->link_capacity, made);
}

bool sort_is_shared_with(const sort *s, uint32_t depth) {
    bool shared = s->is_cell;
    switch (s->kind) {
    case SORT_REFERENCE:
        return depth > 0 && (s->is_mutable || sort_is_shared_with(s->item, depth - 1));
    case SORT_HOLDER:
        return shared || sort_is_shared_with(s->item, depth);
    case SORT_VIEW:
        return shared || (depth > 0 && s->is_mutable);
    case SORT_TUPLE:
        for (uint32_t i = 0; i < s->count; i++)
            shared |= sort_is_shared_with(s->parts[i], depth);
        return shared;
    default:
        return shared;
    }
}

/* ---- variables that are one --------------------------------------------------------------------------------- */

static void join(graph *g, uint32_t a, uint32_t b) {
    const uint32_t x = graph_alike(g, a), y = graph_alike(g, b);
    if (x == y)
        return;
    uint32_t last = x;
    while (g->variables[last].next != 0)
        last = g->variables[last].next - 1;
    g->variables[last].next = y + 1;
    g->variables[y].alike = x;
}

/* Whether there is something new behind one of them. */
static bool reach_behind(graph *g, uint32_t into, uint32_t from, bool both) {
    const uint32_t one = g->variables[into].behind, other = g->variables[from].behind;
    const uint32_t before = g->variable_count;
    if (other != 0)
        graph_behind(g, into, 1);
    if (both && one != 0)
        graph_behind(g, from, 1);
    return g->variable_count != before;
}

/* A variable into which another flows has as much behind it; and so on. */
static bool spread(graph *g) {
    bool changed = false;
    for (uint32_t v = 0; v < g->variable_count; v++)
        if (g->variables[v].refers != 0 && g->variables[v].behind != 0)
            changed |= reach_behind(g, g->variables[v].behind - 1, g->variables[v].refers - 1, true);
    for (uint32_t i = 0; i < g->link_count; i++)
        if (!g->links[i].is_flat)
            changed |= reach_behind(g, g->links[i].a, g->links[i].b, true);
    for (uint32_t b = 0; b < g->block_count; b++) {
        for (uint32_t i = 0; i < g->blocks[b].count; i++) {
            const event *e = &g->blocks[b].events[i];
            if (e->kind != EVENT_FLOW || e->is_flat)
                continue;
            const variable *from = &g->variables[e->from];
            const sort *s = g->variables[from->owner].sort;
            changed |= reach_behind(g, e->into, e->from, sort_is_shared_with(s, from->depth + 1));
        }
    }
    return changed;
}

static void join_behind(graph *g, uint32_t a, uint32_t b) {
    join(g, a, b);
    while (g->variables[a].behind != 0 && g->variables[b].behind != 0) {
        a = g->variables[a].behind - 1;
        b = g->variables[b].behind - 1;
        join(g, a, b);
    }
}

static void join_flow(graph *g, const event *e) {
    uint32_t into = e->into, from = e->from;
    const sort *s = g->variables[g->variables[from].owner].sort;
    for (uint32_t depth = g->variables[from].depth;; depth++) {
        if (sort_is_shared_with(s, depth))
            join(g, into, from);
        if (g->variables[into].behind == 0 || g->variables[from].behind == 0)
            return;
        into = g->variables[into].behind - 1;
        from = g->variables[from].behind - 1;
    }
}

void graph_join(graph *g) {
    const uint32_t count = g->variable_count;
    bool deep = g->link_count > 0;
    for (uint32_t v = 0; v < count; v++) { /* while a reference is used, so is what its place holds */
        const uint32_t to = g->variables[v].refers;
        if (to != 0 && g->variables[v].behind == 0 && sort_holds(g->variables[g->variables[to - 1].owner].sort))
            graph_behind(g, v, 1);
    }
    for (uint32_t v = 0; v < g->variable_count; v++)
        deep |= g->variables[v].behind != 0;
    bool cells = false;
    for (uint32_t v = 0; v < g->variable_count; v++)
        cells |= sort_is_shared_with(g->variables[v].sort, 0);
    if (!deep && !cells)
        return;
    while (spread(g))
        continue;
    for (uint32_t v = 0; v < g->variable_count; v++)
        if (g->variables[v].refers != 0 && g->variables[v].behind != 0)
            join_behind(g, g->variables[v].behind - 1, g->variables[v].refers - 1);
    for (uint32_t i = 0; i < g->link_count; i++)
        if (g->links[i].is_flat)
            join(g, g->links[i].a, g->links[i].b);
        else
            join_behind(g, g->links[i].a, g->links[i].b);
    for (uint32_t b = 0; b < g->block_count; b++)
        for (uint32_t i = 0; i < g->blocks[b].count; i++)
            if (g->blocks[b].events[i].kind == EVENT_FLOW && !g->blocks[b].events[i].is_flat)
                join_flow(g, &g->blocks[b].events[i]);
}

void graph_event(graph *g, uint32_t block, event e) {
    graph_block *b = &g->blocks[block];
    if (e.kind == EVENT_BORROW) {
        g->variables[e.place->root].is_borrowed = true;
        g->has_loans = true;
    }
    GRAPH_PUSH(g, b->events, b->count, b->capacity, e);
}
