/* network_plans.c: a network planned in every way: as its runtime does, as it is, in place, reordered, and both. */
#include <string.h>

#include "tool/plan/network.h"

static const char *const names[NETWORK_WAYS] = {"", "planned", "in place", "reordered", "reordered in place"};

static masu_plan_problem problem_of(const network *n) {
    return (masu_plan_problem){n->table.rows, n->table.count, n->table.relations, n->table.relation_count, 0};
}

static bool keep_rows(network *n, network_plan *way) {
    way->rows = masu__arena_calloc(&n->table.arena, n->table.count + 1, sizeof *way->rows, 16);
    way->offsets = masu__arena_calloc(&n->table.arena, n->table.count + 1, sizeof *way->offsets, 16);
    if (!way->rows || !way->offsets)
        return false;
    memcpy(way->rows, n->table.rows, n->table.count * sizeof *way->rows);
    return true;
}

/* Plans, and lets the judge look. */
static masu_status solve(network *n, network_plan *way) {
    masu_plan_options options = masu_plan_options_default();
    options.time_limit_s = n->args->time_s / (NETWORK_WAYS - 1);
    options.seed = n->args->seed;
    options.threads = (unsigned)n->args->threads;
    if (!keep_rows(n, way))
        return MASU_ERR_OUT_OF_MEMORY;
    masu_plan_problem problem = problem_of(n);
    masu_status status = masu_plan_find(&problem, &options, way->offsets, &way->result);
    plan_judgement judgement = {0};
    if (status == MASU_OK)
        status = plan_judge_windows(&problem, way->offsets, way->result.height_bytes, &judgement);
    if (status == MASU_OK && judgement.verdict != MASU_PLAN_FINE)
        status = MASU_ERR_INTERNAL;
    way->is_there = status == MASU_OK;
    return status;
}

static masu_status as_runtime(network *n, network_plan *way) {
    bool enough, is_tflite = n->model.format == MASU__MODEL_TFLITE;
    way->name = is_tflite ? "TensorFlow Lite Micro" : "onnxruntime";
    way->is_runtime = true;
    if (!keep_rows(n, way) || (!is_tflite && !network_relate(n)))
        return MASU_ERR_OUT_OF_MEMORY;
    for (size_t row = 0; network_has_offline(n) && row < n->table.count; row++) { /* the runtime follows it */
        int32_t offset = n->tensor_of[row] == SIZE_MAX ? -1 : n->model.offline.offsets[n->tensor_of[row]];
        way->rows[row].is_fixed = offset >= 0;
        way->rows[row].fixed_offset = offset >= 0 ? (uint64_t)offset : 0;
    }
    way->result.height_bytes = is_tflite
                                   ? runtime_greedy(way->rows, n->table.count, way->offsets, &n->table.arena, &enough)
                                   : runtime_best_fit(n, way->offsets, &n->table.arena, &enough);
    network_unrelate(n);
    way->is_there = enough;
    return enough ? MASU_OK : MASU_ERR_OUT_OF_MEMORY;
}

/* ---- reordering ------------------------------------------------------------------------------ */

static bool list_rows(network *n, const int32_t *tensors, size_t count, const size_t **out, size_t *out_count) {
    size_t *rows = masu__arena_calloc(&n->table.arena, count + 1, sizeof *rows, 16);
    *out = rows;
    *out_count = 0;
    for (size_t i = 0; rows && i < count; i++)
        if (tensors[i] >= 0 && n->row_of[tensors[i]] != SIZE_MAX)
            rows[(*out_count)++] = n->row_of[tensors[i]];
    return rows != NULL;
}

masu_plan_operator *network_operators(network *n) {
    const masu__model_graph *g = &n->model.graphs[0];
    masu_plan_operator *ops = masu__arena_calloc(&n->table.arena, g->operator_count + 1, sizeof *ops, 16);
    for (size_t k = 0; ops && k < g->operator_count; k++)
        if (!list_rows(n, g->operators[k].inputs, g->operators[k].input_count, &ops[k].inputs, &ops[k].input_count) ||
            !list_rows(n, g->operators[k].outputs, g->operators[k].output_count, &ops[k].outputs, &ops[k].output_count))
            return NULL;
    return ops;
}

/* Moments of the search are places of operators: one less than the moments of lives. Scratch is left out of the search:
 * the plan that follows has it. */
masu_status network_find_order(network *n, size_t **out) {
    const masu__model_graph *g = &n->model.graphs[0];
    size_t count = n->scratch_begin;
    uint64_t before, after;
    *out = NULL;
    if (n->fixed_why || g->operator_count < 2)
        return MASU_OK;
    masu_plan_graph graph = {network_operators(n), g->operator_count};
    masu_plan_row *rows = masu__arena_calloc(&n->table.arena, count + 1, sizeof *rows, 16);
    size_t *order = masu__arena_calloc(&n->table.arena, g->operator_count + 1, sizeof *order, 16);
    if (!graph.operators || !rows || !order)
        return MASU_ERR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        rows[i] = n->table.rows[i];
        rows[i].lower = rows[i].lower < 1 ? 0 : rows[i].lower - 1;
        rows[i].upper = rows[i].upper - 1 > rows[i].lower ? rows[i].upper - 1 : rows[i].lower + 1;
    }
    masu_status status = masu_plan_reorder(&graph, rows, count, 0, order, &before, &after);
    if (status == MASU_OK && after < before)
        *out = order;
    return status == MASU_ERR_INVALID_ARGUMENT ? MASU_OK : status;
}

static masu_status plan_way(network *n, network_plan *way) {
    if (way->reordered && !network_set_order(n, way->order))
        return MASU_ERR_OUT_OF_MEMORY;
    if (way->in_place && !network_relate(n))
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = solve(n, way);
    network_unrelate(n);
    if (way->reordered && !network_set_order(n, NULL))
        return MASU_ERR_OUT_OF_MEMORY;
    return status;
}

masu_status network_plan_all(network *n, network_plans *out) {
    size_t *order;
    *out = (network_plans){0};
    masu_status status = as_runtime(n, &out->ways[NETWORK_RUNTIME]);
    if (status == MASU_OK)
        status = network_find_order(n, &order);
    for (size_t w = NETWORK_PLANNED; w < NETWORK_WAYS && status == MASU_OK; w++) {
        network_plan *way = &out->ways[w];
        way->name = names[w];
        way->in_place = w == NETWORK_IN_PLACE || w == NETWORK_BOTH;
        way->reordered = w == NETWORK_REORDERED || w == NETWORK_BOTH;
        if (way->reordered && !order)
            continue;
        way->order = way->reordered ? order : NULL;
        status = plan_way(n, way);
    }
    return status;
}

/* Where no order is lower, the given one is kept; where it is lower in place, too. */
const network_plan *network_chosen(const network *n, const network_plans *plans) {
    bool in_place = n->args->in_place;
    const network_plan *given = &plans->ways[in_place ? NETWORK_IN_PLACE : NETWORK_PLANNED];
    const network_plan *other = &plans->ways[in_place ? NETWORK_BOTH : NETWORK_REORDERED];
    return n->args->reorder && other->is_there && other->result.height_bytes < given->result.height_bytes ? other
                                                                                                          : given;
}
