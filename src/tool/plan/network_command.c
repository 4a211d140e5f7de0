/* network_command.c: `masu plan` of a .tflite or .onnx file. */
#include <inttypes.h>
#include <string.h>

#include "base/meta.h"
#include "tool/plan/move_values.h"
#include "tool/plan/network.h"
#include "tool/whole_files.h"

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

bool network_is_file(const char *path, const void *bytes, size_t length, masu__model_format *out) {
    if (ends_with(path, ".tflite") || ends_with(path, ".onnx")) {
        *out = ends_with(path, ".onnx") ? MASU__MODEL_ONNX : MASU__MODEL_TFLITE;
        return true;
    }
    return masu__model_recognise(bytes, length, out);
}

static int failed(masu_status status) {
    fprintf(stderr, "masu plan: %s\n", masu_status_text(status));
    return TOOL_FAILED;
}

static FILE *summary_stream(const plan_arguments *a) {
    bool taken = (a->output && strcmp(a->output, "-") == 0) || (a->svg && strcmp(a->svg, "-") == 0) ||
                 (a->header && strcmp(a->header, "-") == 0) || (a->write_model && strcmp(a->write_model, "-") == 0);
    return taken ? stderr : stdout;
}

/* All files that were asked for, or none of them. plan: NULL where memories divide the buffers. */
static int write_all(network *n, const network_plan *plan, const uint64_t *offsets, const plan_parts *in,
                     const tool_text *text) {
    const plan_arguments *a = n->args;
    masu__buffer why = {0};
    plan_answer answer = {&n->table, offsets, in};
    tool_file files[TOOL_MOST_FILES] = {{a->output, {0}}, {a->svg, {0}}, {a->header, {0}}, {a->write_model, {0}}};
    if (a->output)
        (ends_with(a->output, ".json") ? plan_write_json : plan_write_csv)(&answer, &files[0].text);
    if (a->svg)
        plan_write_svg(&answer, &files[1].text);
    if (a->header)
        network_write_header(n, offsets, in, &files[2].text);
    if (a->write_model && !network_write_model(n, plan, text->data, text->length, &files[3].text, &why)) {
        fprintf(stderr, "%s: error: %s\n", a->path, masu__buffer_text(&why));
        masu__buffer_destroy(&why);
        for (size_t i = 0; i < TOOL_MOST_FILES; i++)
            masu__buffer_destroy(&files[i].text);
        return TOOL_FAILED;
    }
    return tool_write_files("plan", files, TOOL_MOST_FILES);
}

static int say(const network *n, const network_plans *plans) {
    masu__buffer text = {0};
    if (n->args->json)
        network_report_json(n, plans, &text);
    else if (n->args->csv)
        network_report_csv(n, plans, &text);
    else if (!n->args->quiet)
        network_report_text(n, plans, &text);
    bool whole = !text.failed;
    fputs(masu__buffer_text(&text), summary_stream(n->args));
    masu__buffer_destroy(&text);
    return whole ? TOOL_OK : failed(MASU_ERR_OUT_OF_MEMORY);
}

/* The chosen plan's lives and relations are those that pictures and files show. */
static int settle(network *n, const network_plan *chosen) {
    if (chosen->order && !network_set_order(n, chosen->order))
        return failed(MASU_ERR_OUT_OF_MEMORY);
    if (chosen->in_place && !network_relate(n))
        return failed(MASU_ERR_OUT_OF_MEMORY);
    return TOOL_OK;
}

static int plan_one_arena(network *n, const tool_text *text) {
    network_plans plans;
    masu_status status = network_plan_all(n, &plans);
    if (status != MASU_OK)
        return failed(status);
    const network_plan *chosen = network_chosen(n, &plans);
    int result = say(n, &plans);
    if (result == TOOL_OK && n->args->capacity > 0 && chosen->result.height_bytes > n->args->capacity) {
        fprintf(stderr, "masu plan: %s needs ", chosen->name);
        plan_say_bytes(stderr, chosen->result.height_bytes);
        fprintf(stderr, ", more than the capacity of ");
        plan_say_bytes(stderr, n->args->capacity);
        fprintf(stderr, chosen->result.lower_bound_bytes > n->args->capacity ? "; no plan fits\n"
                                                                             : "; none that fits was found\n");
        return TOOL_FAILED;
    }
    if (result == TOOL_OK)
        result = settle(n, chosen);
    plan_parts in = {.count = 1};
    in.parts[0] = (plan_part){NULL, n->args->capacity, chosen->result.height_bytes, chosen->result.lower_bound_bytes};
    return result == TOOL_OK ? write_all(n, chosen, chosen->offsets, &in, text) : result;
}

/* All methods on the lives and relations of the plan that was asked for. */
static int compare(network *n) {
    const plan_arguments *a = n->args;
    masu_plan_options options = masu_plan_options_default();
    options.time_limit_s = a->time_s;
    options.seed = a->seed;
    options.threads = (unsigned)a->threads;
    network_plans plans;
    masu_status status = a->in_place || a->reorder ? network_plan_all(n, &plans) : MASU_OK;
    if (status != MASU_OK)
        return failed(status);
    int result = a->in_place || a->reorder ? settle(n, network_chosen(n, &plans)) : TOOL_OK;
    return result == TOOL_OK ? plan_compare(&n->table, &options) : result;
}

static void say_memory(const network *n, size_t m, const size_t *memory_of, const masu_plan_result *result) {
    size_t count;
    uint64_t traffic = plan_traffic(&n->table, memory_of, m, &count), all = 0, one;
    for (size_t k = 0; k < n->args->memory_count; k++) {
        size_t ignored;
        one = plan_traffic(&n->table, memory_of, k, &ignored);
        all = __builtin_add_overflow(all, one, &all) ? UINT64_MAX : all;
    }
    FILE *to = summary_stream(n->args);
    fprintf(to, "%s: %zu buffers, height ", n->args->memories[m].name, count);
    plan_say_bytes(to, result->height_bytes);
    fprintf(to, ", traffic ");
    plan_say_bytes(to, traffic);
    fprintf(to, ", %.1f %%\n", all ? 100 * (double)traffic / (double)all : 0);
}

/* The network in one order of its operators. */
static bool settle_moves(void *context, moves_work *work, const size_t *order) {
    network *n = context;
    plan_pair *pairs;
    size_t count = 0;
    if (!network_set_order(n, order))
        return false;
    work->first_operator = n->lives.moment_count > 0 ? n->lives.moments[0].begin : 0;
    for (size_t k = 0; k < n->lives.moment_count; k++) {
        const masu__model_operator *op =
            &n->model.graphs[n->lives.moments[k].graph].operators[n->lives.moments[k].index];
        for (size_t i = 0; i < op->input_count + op->output_count; i++) {
            int32_t tensor = i < op->input_count ? op->inputs[i] : op->outputs[i - op->input_count];
            if (tensor >= 0 && n->row_of[tensor] != SIZE_MAX)
                moves_use(work, n->row_of[tensor], n->lives.moments[k].begin, i >= op->input_count);
        }
    }
    for (size_t row = n->scratch_begin; row < n->scratch_begin + n->scratch_count; row++)
        for (int writes = 0; writes < 2; writes++)
            moves_use(work, row, n->table.rows[row].lower, writes);
    if (n->args->in_place && !network_list_in_place(n, &pairs, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        moves_share(work, &pairs[i]);
    return true;
}

/* A custom operator may count on what the file's plan has at one offset; a value that moves has a place of its own. */
static int refuse_bound(const network *n) {
    const masu_plan_relation *r = &n->table.relations[0];
    masu__buffer text = {0};
    network_say_operator(n, network_custom_of(n, r->a, r->b), &text);
    fprintf(stderr,
            "%s: error: %s is custom, and the file's plan (OfflineMemoryAllocation) has its tensors %s and %s at one "
            "offset, which it may count on; values that move or are pinned have places of their own. --memory alone, "
            "without --moves, weights and pins, keeps the two at one offset\n",
            n->args->path, masu__buffer_text(&text), n->table.ids[r->a], n->table.ids[r->b]);
    masu__buffer_destroy(&text);
    return TOOL_FAILED;
}

/* Values that move: in a network of one graph, in which each operator runs once. */
static int plan_moves(network *n) {
    moves_work work = {.args = n->args,
                       .table = &n->table,
                       .tensor_of = n->tensor_of,
                       .alignment = n->alignment,
                       .constants_begin = SIZE_MAX};
    size_t uses = 2 * n->scratch_count, shares = 0;
    size_t *lower_peak = NULL;
    for (size_t k = 0; k < n->lives.moment_count; k++) {
        const masu__model_operator *op =
            &n->model.graphs[n->lives.moments[k].graph].operators[n->lives.moments[k].index];
        uses += op->input_count + op->output_count;
        shares += op->input_count;
        if (op->body_count > 0) {
            fprintf(stderr,
                    "%s: error: operator %zu runs other graphs, perhaps several times; values move only where each "
                    "operator runs once\n",
                    n->args->path, n->lives.moments[k].index);
            return TOOL_FAILED;
        }
    }
    if (n->bound_count > 0)
        return refuse_bound(n);
    masu_status status = n->args->reorder ? network_find_order(n, &lower_peak) : MASU_OK;
    if (status != MASU_OK)
        return failed(status);
    if (n->args->constants != SIZE_MAX) {
        work.constants_begin = n->table.count;
        if (!network_add_constants(n))
            return failed(MASU_ERR_OUT_OF_MEMORY);
    }
    work.source = (moves_source){.context = n,
                                 .settle = settle_moves,
                                 .graph = {network_operators(n), n->model.graphs[0].operator_count},
                                 .lower_peak = lower_peak,
                                 .fixed_why = n->fixed_why};
    if (!work.source.graph.operators || !moves_begin(&work, uses, shares))
        return failed(MASU_ERR_OUT_OF_MEMORY);
    return moves_run(&work);
}

static int plan_memories(network *n, const tool_text *text) {
    masu_plan_memory memories[PLAN_MOST_MEMORIES];
    masu_plan_result results[PLAN_MOST_MEMORIES];
    size_t *memory_of = masu__arena_calloc(&n->table.arena, n->table.count + 1, sizeof *memory_of, 16);
    uint64_t *offsets = masu__arena_calloc(&n->table.arena, n->table.count + 1, sizeof *offsets, 16);
    masu_plan_options options = masu_plan_options_default();
    plan_parts in = {.count = n->args->memory_count, .memory_of = memory_of};
    options.time_limit_s = n->args->time_s;
    options.seed = n->args->seed;
    options.threads = (unsigned)n->args->threads;
    if (!memory_of || !offsets || (n->args->in_place && !network_relate(n)))
        return failed(MASU_ERR_OUT_OF_MEMORY);
    for (size_t m = 0; m < n->args->memory_count; m++)
        memories[m].capacity_bytes = n->args->memories[m].capacity_bytes;
    masu_plan_problem problem = {n->table.rows, n->table.count, n->table.relations, n->table.relation_count, 0};
    masu_status status = masu_plan_divide(&problem, n->table.uses, memories, n->args->memory_count, &options, memory_of,
                                          offsets, results);
    if (status != MASU_OK)
        return failed(status);
    const masu_plan_result *last = &results[n->args->memory_count - 1];
    if (last->outcome == MASU_PLAN_INFEASIBLE || last->outcome == MASU_PLAN_UNKNOWN) {
        fprintf(stderr, "masu plan: what is left does not fit into %s: at least ",
                n->args->memories[n->args->memory_count - 1].name);
        plan_say_bytes(stderr, last->lower_bound_bytes);
        fprintf(stderr, " are needed%s\n",
                n->args->memory_count > 1 ? ""
                                          : "; a slower --memory beside it, such as --memory slow, takes the rest");
        return TOOL_FAILED;
    }
    for (size_t m = 0; m < n->args->memory_count; m++) {
        if (!n->args->quiet)
            say_memory(n, m, memory_of, &results[m]);
        in.parts[m] = (plan_part){n->args->memories[m].name, n->args->memories[m].capacity_bytes,
                                  results[m].height_bytes, results[m].lower_bound_bytes};
    }
    return write_all(n, NULL, offsets, &in, text);
}

int network_check_dims(const network *n, const masu__model_dim *dims) {
    for (size_t i = 0; i < n->args->dim_count; i++) {
        masu__buffer known = {0};
        if (dims[i].was_used)
            continue;
        size_t count = network_say_dims(n, false, &known);
        fprintf(stderr, "masu plan: --dim %.*s: no open dimension of an input has this name; %s%s\n",
                MASU__MODEL_TEXT(dims[i].name), count > 0 ? "there are: " : "none is open",
                count > 0 ? masu__buffer_text(&known) : "");
        masu__buffer_destroy(&known);
        return TOOL_FAILED;
    }
    return TOOL_OK;
}

int network_run(const plan_arguments *args, masu__model_format format, const tool_text *text) {
    masu__buffer why = {0};
    network n = {.args = args};
    masu__model_dim dims[PLAN_MOST_DIMS];
    int status = plan_check_for_network(args, format == MASU__MODEL_TFLITE);
    if (status != TOOL_OK)
        return status;
    if (args->ranged != SIZE_MAX)
        return network_run_range(args, text);
    memcpy(dims, args->dims, sizeof dims);
    if (!masu__model_read(format, text->data ? text->data : "", text->length, dims, args->dim_count, &n.model, &why)) {
        fprintf(stderr, "%s: error: %s\n", args->path, masu__buffer_text(&why));
        masu__buffer_destroy(&why);
        return TOOL_FAILED;
    }
    status = network_check_dims(&n, dims);
    if (status == TOOL_OK)
        status = network_make(&n, args);
    if (status == TOOL_OK && args->compare) {
        status = compare(&n);
    } else if (status == TOOL_OK) {
        status = args->verify             ? network_verify(&n)
                 : plan_has_moves(args)   ? plan_moves(&n)
                 : args->memory_count > 0 ? plan_memories(&n, text)
                                          : plan_one_arena(&n, text);
    }
    network_free(&n);
    return status;
}
