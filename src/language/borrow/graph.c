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
    variable made = {.name = name, .span = span, .sort = s};
    GRAPH_PUSH(g, g->variables, g->variable_count, g->variable_capacity, made);
    return g->variable_count - 1;
}

void graph_event(graph *g, uint32_t block, event e) {
    graph_block *b = &g->blocks[block];
    if (e.kind == EVENT_BORROW) {
        g->variables[e.place->root].is_borrowed = true;
        g->has_loans = true;
    }
    GRAPH_PUSH(g, b->events, b->count, b->capacity, e);
}
