/* model_lives.c: when each tensor is there.
 *
 *     moment   0        1        2 … 5                6
 *              inputs   op 0     op 1 runs graphs     op 2
 *                                └ 3: its first graph begins …
 *
 * An operator's outputs are born at its moment, before the graphs that it runs; its inputs die behind them. Outputs of
 * a graph live to its end. A tensor of an outer graph that a graph names lives to the end of the operator that runs
 * this graph, which may run it again. The count is that of TensorFlow Lite Micro, so that a plan for these lives is one
 * for its kernels.
 */
#include "models/models.h"

enum { MOST_RUNS = 4 * MASU__MODEL_MOST_THINGS };

typedef struct walk {
    masu__model *model;
    masu__model_lives *out;
    const size_t *order;
    masu__buffer *why;
    int64_t now;
    unsigned room;
    size_t path[MASU__MODEL_MOST_NESTED];
    size_t depth;
    size_t steps;
} walk;

static bool refuse(walk *w, const char *what) {
    masu__buffer_puts(w->why, what);
    return false;
}

static void born(walk *w, int32_t tensor, int64_t at) {
    if (tensor >= 0 && w->out->tensors[tensor].first < 0)
        w->out->tensors[tensor].first = at;
}

static void used(walk *w, int32_t tensor, int64_t at) {
    if (tensor >= 0 && w->out->tensors[tensor].last < at)
        w->out->tensors[tensor].last = at;
}

/* A tensor of a graph that is running: what runs in it may do so again. */
static bool is_outer(const walk *w, int32_t tensor) {
    for (size_t i = 0; tensor >= 0 && i < w->depth; i++)
        if (w->path[i] == w->model->tensors[tensor].graph)
            return true;
    return false;
}

static bool walk_graph(walk *w, size_t graph);

static bool walk_bodies(walk *w, const masu__model_operator *op) {
    for (size_t i = 0; i < op->body_count; i++) {
        w->now++;
        if (!walk_graph(w, op->bodies[i]))
            return false;
    }
    return true;
}

/* Values of outer graphs that a body names live until the operator has ended. */
static void keep_outer(walk *w, size_t graph, size_t depth) {
    const masu__model_graph *g = &w->model->graphs[graph];
    for (size_t i = 0; i < g->output_count; i++)
        if (is_outer(w, g->outputs[i]))
            used(w, g->outputs[i], w->now);
    for (size_t k = 0; k < g->operator_count; k++) {
        const masu__model_operator *op = &g->operators[k];
        for (size_t i = 0; i < op->input_count; i++)
            if (is_outer(w, op->inputs[i]))
                used(w, op->inputs[i], w->now);
        for (size_t i = 0; i < op->body_count && depth < MASU__MODEL_MOST_NESTED; i++)
            keep_outer(w, op->bodies[i], depth + 1);
    }
}

static bool walk_operator(walk *w, size_t graph, size_t index) {
    const masu__model_operator *op = &w->model->graphs[graph].operators[index];
    masu__model_moment moment = {graph, index, ++w->now, 0};
    unsigned count = (unsigned)w->out->moment_count;
    size_t own = w->out->moment_count;
    w->steps += 1 + op->input_count + op->output_count;
    if (w->steps > MOST_RUNS)
        return refuse(w, "graphs run each other too often: more than four million steps");
    MASU_ARENA_PUSH(&w->model->arena, w->out->moments, count, w->room, moment, return refuse(w, "out of memory"));
    w->out->moment_count = count;
    for (size_t i = 0; i < op->output_count; i++)
        born(w, op->outputs[i], w->now);
    if (!walk_bodies(w, op))
        return false;
    for (size_t i = 0; i < op->input_count; i++)
        used(w, op->inputs[i], w->now);
    for (size_t i = 0; i < op->output_count; i++)
        used(w, op->outputs[i], w->now);
    if (w->model->format == MASU__MODEL_ONNX)
        for (size_t i = 0; i < op->body_count; i++)
            keep_outer(w, op->bodies[i], w->depth);
    w->out->moments[own].end = w->now;
    return true;
}

static bool walk_graph(walk *w, size_t graph) {
    const masu__model_graph *g = &w->model->graphs[graph];
    for (size_t i = 0; i < w->depth; i++)
        if (w->path[i] == graph)
            return refuse(w, "a graph runs itself");
    if (w->depth == MASU__MODEL_MOST_NESTED)
        return refuse(w, "graphs run each other more than 32 deep");
    w->path[w->depth++] = graph;
    w->steps += g->input_count + g->output_count;
    for (size_t i = 0; i < g->input_count; i++) {
        born(w, g->inputs[i], w->now);
        used(w, g->inputs[i], w->now);
    }
    for (size_t k = 0; k < g->operator_count; k++)
        if (!walk_operator(w, graph, graph == 0 && w->order ? w->order[k] : k))
            return false;
    for (size_t i = 0; i < g->output_count; i++) {
        born(w, g->outputs[i], w->now);
        used(w, g->outputs[i], w->now);
    }
    w->depth--;
    return true;
}

bool masu__model_lives_find(masu__model *model, const size_t *order, masu__model_lives *out, masu__buffer *why) {
    *out = (masu__model_lives){0};
    out->tensors = masu__arena_calloc(&model->arena, model->tensor_count + 1, sizeof *out->tensors, 16);
    walk w = {.model = model, .out = out, .order = order, .why = why};
    if (!out->tensors)
        return refuse(&w, "out of memory");
    for (size_t i = 0; i < model->tensor_count; i++)
        out->tensors[i] = (masu__model_life){-1, -1};
    bool right = walk_graph(&w, 0);
    out->end = w.now;
    return right;
}
