/* naive.c: see naive.h. */
#include "naive.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void naive_fail(naive *n, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(n->error, sizeof n->error, format, arguments);
    va_end(arguments);
    longjmp(n->ended, 1);
}

void naive_unsupported(naive *n, const char *what) {
    n->unsupported = true;
    naive_fail(n, "the interpreter does not know %s", what);
}

void *naive_room(naive *n, size_t bytes) {
    char *room = masu__arena_alloc(&n->arena, bytes ? bytes : 1, 16);
    if (!room)
        naive_unsupported(n, "where to find memory");
    for (size_t i = 0; i < bytes; i++)
        room[i] = 0;
    return room;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

static double held(tl_dtype dtype, double v) {
    switch (dtype) {
    case TL_F32:
        return (double)(float)v;
    case TL_BOOL:
        return v != 0;
    default:
        return v;
    }
}

cell *naive_made(naive *n, tl_dtype dtype, double v, cell *a, double slope_a, cell *b, double slope_b) {
    cell *c = naive_room(n, sizeof *c);
    *c = (cell){.v = held(dtype, v), .from = {a, b}, .slope = {slope_a, slope_b}, .order = ++n->made};
    return c;
}

cell *naive_number(naive *n, tl_dtype dtype, double v) {
    return naive_made(n, dtype, v, NULL, 0, NULL, 0);
}

/* ---- tensors ----------------------------------------------------------------------------------- */

tensor *naive_tensor(naive *n, tl_dtype dtype, int rank, const int64_t *shape) {
    tensor *t = naive_room(n, sizeof *t);
    t->dtype = dtype;
    t->rank = rank;
    t->count = 1;
    for (int d = 0; d < rank; d++) {
        if (shape[d] < 0)
            naive_fail(n, "a negative length");
        t->shape[d] = shape[d];
        t->count *= shape[d];
    }
    if (t->count > 1 << 20)
        naive_unsupported(n, "such large tensors");
    t->e = naive_room(n, (size_t)t->count * sizeof(cell *));
    return t;
}

tensor *naive_full(naive *n, tl_dtype dtype, int rank, const int64_t *shape, double v) {
    tensor *t = naive_tensor(n, dtype, rank, shape);
    for (int64_t i = 0; i < t->count; i++)
        t->e[i] = naive_number(n, dtype, v);
    return t;
}

/* ---- history ----------------------------------------------------------------------------------- */

static bool is_real(const tensor *t) {
    return t->dtype == TL_F32 || t->dtype == TL_F64;
}

tensor *naive_record(naive *n, tensor *t, int input_count, tensor *const *inputs) {
    bool tracked = false;
    for (int i = 0; i < input_count; i++)
        tracked |= inputs[i]->node != NULL;
    if (!tracked || !is_real(t))
        return t;
    t->node = naive_room(n, sizeof *t->node);
    t->node->inputs = naive_room(n, (size_t)input_count * sizeof(history *));
    for (int i = 0; i < input_count; i++)
        if (inputs[i]->node)
            t->node->inputs[t->node->input_count++] = inputs[i]->node;
    return t;
}

static history *leaf_of(naive *n, const tensor *t) {
    if (!is_real(t))
        naive_fail(n, "only floating tensors track gradients");
    history *leaf = naive_room(n, sizeof *leaf);
    leaf->is_leaf = true;
    leaf->count = t->count;
    leaf->next_leaf = n->leaves;
    n->leaves = leaf;
    return leaf;
}

tensor *naive_detach(naive *n, const tensor *t, bool track) {
    tensor *r = naive_tensor(n, t->dtype, t->rank, t->shape);
    if (track)
        r->node = leaf_of(n, t);
    for (int64_t i = 0; i < r->count; i++) {
        r->e[i] = naive_number(n, r->dtype, t->e[i]->v);
        r->e[i]->leaf = r->node;
        r->e[i]->index = i;
    }
    return r;
}

/* ---- backward ---------------------------------------------------------------------------------- */

typedef struct pile {
    void **items;
    size_t count, capacity;
} pile;

static void put(naive *n, pile *p, void *item) {
    if (p->count == p->capacity) {
        size_t larger = p->capacity ? 2 * p->capacity : 64;
        void **items = naive_room(n, larger * sizeof *items);
        for (size_t i = 0; i < p->count; i++)
            items[i] = p->items[i];
        p->items = items;
        p->capacity = larger;
    }
    p->items[p->count++] = item;
}

static pile histories_above(naive *n, history *root) {
    pile p = {0};
    root->seen = n->passes;
    put(n, &p, root);
    for (size_t at = 0; at < p.count; at++) {
        history *h = p.items[at];
        for (int i = 0; i < h->input_count; i++) {
            if (h->inputs[i]->seen == n->passes)
                continue;
            h->inputs[i]->seen = n->passes;
            put(n, &p, h->inputs[i]);
        }
    }
    return p;
}

static pile cells_above(naive *n, cell *root) {
    pile p = {0};
    root->seen = n->passes;
    put(n, &p, root);
    for (size_t at = 0; at < p.count; at++) {
        cell *c = p.items[at];
        c->gradient = 0;
        for (int i = 0; i < 2; i++) {
            if (!c->from[i] || c->from[i]->seen == n->passes)
                continue;
            c->from[i]->seen = n->passes;
            put(n, &p, c->from[i]);
        }
    }
    return p;
}

static int later_first(const void *a, const void *b) {
    const cell *x = *(cell *const *)a, *y = *(cell *const *)b;
    return (x->order < y->order) - (x->order > y->order);
}

static void clear(history *leaf) {
    leaf->gradient = NULL;
    leaf->consumed = false;
    leaf->ends_depth = 0;
}

static void collect(naive *n, const cell *c) {
    history *leaf = c->leaf;
    leaf->gathered_depth = n->grad_depth;
    leaf->ends_depth = 0;
    if (!leaf->gradient)
        leaf->gradient = naive_room(n, (size_t)leaf->count * sizeof(double));
    leaf->gradient[c->index] = (double)(float)(leaf->gradient[c->index] + c->gradient);
}

void naive_backward(naive *n, tensor *t, bool keep) {
    if (!t->node)
        naive_fail(n, "backward needs a history");
    if (t->count != 1)
        naive_fail(n, "backward needs a scalar");
    n->passes++;
    pile nodes = histories_above(n, t->node);
    for (size_t i = 0; i < nodes.count; i++)
        if (((history *)nodes.items[i])->spent)
            naive_fail(n, "already freed");
    pile cells = cells_above(n, t->e[0]);
    qsort(cells.items, cells.count, sizeof(void *), later_first);
    t->e[0]->gradient = 1;
    for (size_t i = 0; i < nodes.count; i++)
        if (((history *)nodes.items[i])->consumed)
            clear(nodes.items[i]);
    for (size_t i = 0; i < cells.count; i++) {
        cell *c = cells.items[i];
        for (int k = 0; k < 2; k++)
            if (c->from[k] && c->slope[k] != 0)
                c->from[k]->gradient += c->gradient * c->slope[k];
        if (c->leaf)
            collect(n, c);
    }
    for (size_t i = 0; i < nodes.count && !keep; i++)
        ((history *)nodes.items[i])->spent = !((history *)nodes.items[i])->is_leaf;
}

tensor *naive_grad(naive *n, tensor *t) {
    if (!t->node)
        naive_fail(n, "does not track gradients");
    if (!t->node->is_leaf) {
        if (n->is_program)
            naive_unsupported(n, "the gradient of a result");
        naive_fail(n, "only leaves keep gradients");
    }
    tensor *g = naive_tensor(n, t->dtype, t->rank, t->shape);
    for (int64_t i = 0; i < g->count; i++)
        g->e[i] = naive_number(n, g->dtype, t->node->gradient ? t->node->gradient[i] : 0);
    if (n->grad_depth > 0 && n->grad_depth < t->node->gathered_depth)
        t->node->ends_depth = n->grad_depth;
    t->node->read = true;
    g->gradient_of = t->node;
    return g;
}

/* OWNERSHIP, D11: what was consumed goes at the end of the outermost iteration, and what ends with this one. */
void naive_clear_grads(naive *n) {
    for (history *leaf = n->leaves; leaf; leaf = leaf->next_leaf) {
        bool outermost = n->grad_depth <= 1;
        bool ends = leaf->ends_depth > 0 && leaf->ends_depth >= n->grad_depth;
        if (ends || (outermost && leaf->consumed))
            clear(leaf);
        leaf->read &= !(outermost || ends);
    }
}

void naive_consume(tensor *gradient, bool last) {
    history *leaf = gradient->gradient_of;
    if (!leaf || !leaf->read)
        return;
    leaf->consumed = true;
    if (last)
        clear(leaf);
}
