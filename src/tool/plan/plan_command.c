/* plan_command.c: `masu plan`: offsets for buffers whose sizes and lives a file lists. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/meta.h"
#include "tool/plan/kernel.h"
#include "tool/plan/move_values.h"
#include "tool/plan/network.h"
#include "tool/plan/plan_table.h"
#include "tool/whole_files.h"

static const char usage[] =
    "Usage: masu plan [OPTIONS] FILE\n"
    "\n"
    "Finds an offset for each buffer of FILE (- is standard input) such that buffers that live at "
    "the same time do not\n"
    "overlap, in an arena as low as possible, and says how low any arena could be.\n"
    "FILE is CSV or TSV with the columns id,lower,upper,size[,alignment][,gaps][,offset][,hint][,uses] in any order\n"
    "(lives are half-open; start,end name the first and the last moment), or JSON. An offset in FILE is kept.\n"
    "\n"
    "  --minimize        the smallest arena (the default without --capacity)\n"
    "  --capacity N      any arena of at most N bytes; K, M and G count 1024s\n"
    "  --time S          look for S seconds at most (10); reading, writing and, of a million buffers and more, the\n"
    "                    first plan come on top\n"
    "  --output FILE     write the plan: JSON when FILE ends in .json, CSV otherwise; - is standard output\n"
    "  --svg FILE        write the plan as a picture\n"
    "  --check           judge the offsets in FILE instead of finding some\n"
    "  --compare         a table of all methods: height, distance from the bound, time\n"
    "  --memory NAME[=N]  divide the buffers among memories, the fastest first, by uses × bytes; repeat it\n"
    "                    NAME=N:latency=L or NAME=N:bandwidth=B weigh a byte there (all or none; else 0, 1, 2, …); "
    "commas join memories\n"
    "  --moves           buffers may move between memories while operators run: the cheapest plan, and how cheap any "
    "could be\n"
    "  --channel N       at most N bytes are moved beside one operator\n"
    "  --move-cost N     a moved byte costs N (otherwise what a byte costs in both memories)\n"
    "  --pin BUFFER=MEMORY   it stays there\n"
    "  --home BUFFER=MEMORY  it begins there\n"
    "  --constants MEMORY  a network's constants lie there when it begins, and may be fetched like other tensors\n"
    "  --reserve MEMORY=FROM..TO  bytes that are not the plan's\n"
    "  --ops FILE        operators in order (op,type,inputs,outputs), for the next two and for uses\n"
    "  --in-place        results of element-wise operators may take over an input that dies there\n"
    "  --reorder         run operators in an order with a lower peak, or with --moves the cheapest, and say it (plans "
    "are for\n"
    "                    that order)\n"
    "  --alignment N     align every buffer to N bytes at least\n"
    "  --seed N, --threads N\n"
    "\n"
    "FILE may be a snapshot of the memory of PyTorch or a trace of masu: a plan of the recorded blocks, each from its "
    "birth to its end.\n"
    "\n"
    "  --device NAME     whose blocks, where several devices were recorded: cuda:1\n"
    "\n"
    "FILE may be a network, .tflite or .onnx: lives and sizes come from it, and one table says what its runtime needs\n"
    "today, and what is needed planned, in place and reordered (--in-place and --reorder then choose the plan that is "
    "written).\n"
    "\n"
    "  --dim NAME=N      an open dimension of an .onnx file, by its name or as INPUT:AXIS; repeat it. NAME=LOW..HIGH: "
    "offsets\n"
    "                    that hold for each value; NAME=?: the largest value that fits into --capacity\n"
    "  --scratch OP=N    operator OP (its number, type or name) asks for N bytes while it runs; repeat it\n"
    "  --json, --csv     the table in this form\n"
    "  --header FILE     offsets and the arena's size as C\n"
    "  --write-model FILE  the .tflite file with the plan inside, which TensorFlow Lite Micro follows\n"
    "  --verify          judge the plan inside a .tflite file\n"
    "\n"
    "FILE may be the problem of a kernel compiler, as dsa-solver writes them (schema version 1): each pool is planned "
    "by itself, as\n"
    "low or as cheap as its objective asks for. --output FILE.json writes placements, --json the summary.\n"
    "\n"
    "  --quiet           no summary and no progress\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 a plan within the capacity, or the plan is right; 1 there is none, none was "
    "found in time, the plan\n"
    "is wrong, or FILE is; 2 used wrongly.\n";

typedef struct job {
    const plan_arguments *args;
    plan_table table;
    plan_graph graph;
    masu_plan_row *given; /* where values move: the rows as the file has them */
    uint64_t *offsets;
    plan_parts in;
    masu_plan_result result;
    masu_plan_cancel_flag cancel;
    bool progress_shown;
} job;

/* ---- reading --------------------------------------------------------------------------------- */

static int complain(masu__buffer *message) {
    fputs(masu__buffer_text(message), stderr);
    masu__buffer_destroy(message);
    return TOOL_FAILED;
}

static int failed(masu_status status) {
    fprintf(stderr, "masu plan: %s\n", masu_status_text(status));
    return TOOL_FAILED;
}

/* An offset in the file is one to keep; --alignment raises what the file says. */
static bool settle_rows(job *j, plan_reader *reader) {
    for (size_t i = 0; i < j->table.count; i++) {
        masu_plan_row *row = &j->table.rows[i];
        if (row->alignment_bytes < j->args->alignment)
            row->alignment_bytes = j->args->alignment;
        row->is_fixed = j->table.given[i] != UINT64_MAX;
        row->fixed_offset = row->is_fixed ? j->table.given[i] : 0;
        const char *mistake = plan_row_mistake(row);
        if (mistake)
            return plan_complain(reader, plan_place_at(reader, j->table.at[i]), "expected %s", mistake);
    }
    return true;
}

/* The table keeps nothing of the text. */
static int read_table(job *j, const tool_text *text) {
    masu__buffer message = {0};
    const char *shown = strcmp(j->args->path, "-") == 0 ? "<stdin>" : j->args->path;
    const char *data = text->data ? text->data : "";
    bool recorded = plan_is_recording(data, text->length);
    if (!recorded && j->args->device)
        return tool_misuse("plan", "--device is for recordings: %s is a table of buffers", shown);
    if (recorded && (j->args->check || j->args->ops))
        return tool_misuse("plan", "%s is for tables of buffers: %s is a recording", j->args->ops ? "--ops" : "--check",
                           shown);
    bool right = recorded ? plan_parse_recording(shown, data, text->length, j->args->device, &j->table, &message)
                          : plan_parse(shown, data, text->length, &j->table, &message);
    plan_reader reader = {shown, data, text->length, &j->table, &message, false};
    plan_skip_mark(&reader.text, &reader.length);
    if (right && !j->args->check)
        right = settle_rows(j, &reader);
    if (!right)
        return complain(&message);
    j->offsets = masu__arena_calloc(&j->table.arena, j->table.count + 1, sizeof *j->offsets, 16);
    return j->offsets ? TOOL_OK : failed(MASU_ERR_OUT_OF_MEMORY);
}

static int read_ops(job *j) {
    tool_text text;
    masu__buffer message = {0};
    if (!tool_read(j->args->ops, &text))
        return TOOL_FAILED;
    bool right = plan_parse_ops(j->args->ops, text.data ? text.data : "", text.length, &j->table, &j->graph, &message);
    tool_text_free(&text);
    return right ? TOOL_OK : complain(&message);
}

/* ---- saying ---------------------------------------------------------------------------------- */

void plan_say_bytes(FILE *to, uint64_t bytes) {
    masu__buffer text = {0};
    masu__buffer_put_grouped(&text, bytes);
    if (bytes >= 1024) {
        masu__buffer_puts(&text, " bytes (");
        masu__buffer_put_bytes(&text, bytes);
        masu__buffer_putc(&text, ')');
    } else {
        masu__buffer_puts(&text, " bytes");
    }
    fputs(masu__buffer_text(&text), to);
    masu__buffer_destroy(&text);
}

static void progress(void *context, const masu_plan_result *so_far, const uint64_t *offsets) {
    job *j = context;
    (void)offsets;
    fprintf(stderr, "\r\033[K%.1f s: ", so_far->seconds);
    plan_say_bytes(stderr, so_far->height_bytes);
    fprintf(stderr, ", %.2f %% above the bound",
            so_far->lower_bound_bytes ? 100 * ((double)so_far->height_bytes / (double)so_far->lower_bound_bytes - 1)
                                      : 0);
    j->progress_shown = true;
}

static void end_progress(job *j) {
    if (j->progress_shown)
        fputs("\r\033[K", stderr);
    j->progress_shown = false;
}

static masu_plan_options options_of(job *j) {
    masu_plan_options options = masu_plan_options_default();
    options.goal = j->args->capacity > 0 ? MASU_PLAN_FIT : MASU_PLAN_MINIMIZE;
    options.time_limit_s = j->args->time_s;
    options.seed = j->args->seed;
    options.threads = (unsigned)j->args->threads;
    options.cancel = &j->cancel;
    if (!j->args->quiet && isatty(STDERR_FILENO)) {
        options.improved = progress;
        options.context = j;
    }
    return options;
}

static masu_plan_problem problem_of(const job *j) {
    uint64_t capacity = j->args->capacity;
    if (capacity == 0 && !j->args->minimize)
        capacity = j->table.capacity_bytes;
    return (masu_plan_problem){j->table.rows, j->table.count, j->table.relations, j->table.relation_count, capacity};
}

/* Standard output carries the summary, unless it carries the plan. */
static FILE *summary_stream(const plan_arguments *a) {
    bool taken = (a->output && strcmp(a->output, "-") == 0) || (a->svg && strcmp(a->svg, "-") == 0);
    return taken ? stderr : stdout;
}

static void say_core(job *j, const masu_plan_problem *problem) {
    size_t count, bytes = (problem->count + 1) * sizeof(size_t), *rows = masu__meta_alloc(bytes);
    bool minimal;
    masu_plan_options options = options_of(j);
    options.improved = NULL;
    if (!rows)
        return;
    if (masu_plan_core(problem, &options, rows, &count, &minimal) == MASU_OK && count > 0) {
        fprintf(stderr, "masu plan: these %zu buffers alone cannot be placed%s:", count,
                minimal ? "" : " (nor perhaps some of them)");
        for (size_t i = 0; i < count && i < 24; i++)
            fprintf(stderr, " %s", j->table.ids[rows[i]]);
        fprintf(stderr, "%s\n", count > 24 ? " …" : "");
    }
    masu__meta_free(rows, bytes);
}

/* Later than this share of --time is said. */
static const double LATE = 1.25;

static void say_result(job *j, const masu_plan_problem *problem) {
    const masu_plan_result *r = &j->result;
    FILE *to = summary_stream(j->args);
    if (j->args->quiet)
        return;
    if (r->outcome == MASU_PLAN_INFEASIBLE && r->lower_bound_bytes >= (uint64_t)INT64_MAX) {
        fprintf(stderr,
                "masu plan: no plan is possible: fixed buffers or those that must share an "
                "offset contradict each other\n");
        return;
    }
    if (r->outcome == MASU_PLAN_INFEASIBLE) {
        fprintf(stderr, "masu plan: no plan fits into ");
        plan_say_bytes(stderr, problem->capacity_bytes);
        fprintf(stderr, ": at least ");
        plan_say_bytes(stderr, r->lower_bound_bytes);
        fprintf(stderr, " are needed\n");
        return;
    }
    if (r->outcome == MASU_PLAN_UNKNOWN && r->height_bytes == 0) {
        fprintf(stderr, "masu plan: no plan was found, and none is ruled out\n");
        return;
    }
    fprintf(to, "%zu buffers, height ", j->table.count);
    plan_say_bytes(to, r->height_bytes);
    if (r->optimal)
        fprintf(to, ", optimal");
    else
        fprintf(to, ", %.2f %% above the bound %" PRIu64,
                100 * ((double)r->height_bytes / (double)r->lower_bound_bytes - 1), r->lower_bound_bytes);
    fprintf(to, "; %.3f s, by %s\n", r->seconds, r->order);
    if (r->seconds > j->args->time_s * LATE + 0.1)
        fprintf(stderr,
                "masu plan: --time %g was over before the first plan was there: with %zu buffers it took %.1f s\n",
                j->args->time_s, j->table.count, r->seconds);
    if (r->outcome == MASU_PLAN_UNKNOWN && problem->capacity_bytes > 0) {
        fprintf(stderr, "masu plan: none was found in time that fits into ");
        plan_say_bytes(stderr, problem->capacity_bytes);
        fprintf(stderr, ", and none is ruled out\n");
    }
}

/* ---- the work -------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static int write_answer(job *j) {
    plan_answer answer = {&j->table, j->offsets, &j->in};
    tool_file files[] = {{j->args->output, {0}}, {j->args->svg, {0}}};
    if (j->args->output)
        (ends_with(j->args->output, ".json") ? plan_write_json : plan_write_csv)(&answer, &files[0].text);
    if (j->args->svg)
        plan_write_svg(&answer, &files[1].text);
    return tool_write_files("plan", files, 2);
}

/* The only memory, or there are several. */
static void set_part(job *j, size_t number, const char *name, uint64_t capacity_bytes, const masu_plan_result *result) {
    j->in.parts[number] = (plan_part){name, capacity_bytes, result->height_bytes, result->lower_bound_bytes};
    j->in.count = number + 1;
}

static int check(job *j) {
    masu_plan_problem problem = problem_of(j);
    j->in.memory_of = masu__arena_calloc(&j->table.arena, j->table.count + 1, sizeof *j->in.memory_of, 16);
    if (!j->in.memory_of)
        return failed(MASU_ERR_OUT_OF_MEMORY);
    int status = plan_check_memories(&problem, &j->table, j->args, &j->in);
    for (size_t m = 0; m < j->in.count && status == TOOL_OK && !j->args->quiet; m++) {
        size_t count = 0;
        for (size_t i = 0; i < j->table.count; i++)
            count += !j->in.memory_of || j->in.memory_of[i] == m;
        FILE *to = summary_stream(j->args);
        fprintf(to, "FINE: %s%s%zu buffers, height ", j->in.parts[m].name ? j->in.parts[m].name : "",
                j->in.parts[m].name ? ": " : "", count);
        plan_say_bytes(to, j->in.parts[m].height_bytes);
        fprintf(to, "\n");
    }
    if (status != TOOL_OK)
        return status;
    memcpy(j->offsets, j->table.given, j->table.count * sizeof *j->offsets);
    return write_answer(j);
}

static void say_memory(const job *j, size_t m, const size_t *memory_of, const masu_plan_result *result) {
    size_t count;
    uint64_t traffic = plan_traffic(&j->table, memory_of, m, &count);
    FILE *to = summary_stream(j->args);
    fprintf(to, "%s: %zu buffers, height ", j->args->memories[m].name, count);
    plan_say_bytes(to, result->height_bytes);
    fprintf(to, ", traffic ");
    plan_say_bytes(to, traffic);
    fprintf(to, "\n");
}

static int divide(job *j) {
    masu_plan_problem problem = problem_of(j);
    masu_plan_memory memories[PLAN_MOST_MEMORIES];
    masu_plan_result results[PLAN_MOST_MEMORIES];
    size_t *memory_of = masu__arena_calloc(&j->table.arena, j->table.count + 1, sizeof *memory_of, 16);
    if (!memory_of)
        return failed(MASU_ERR_OUT_OF_MEMORY);
    for (size_t m = 0; m < j->args->memory_count; m++)
        memories[m].capacity_bytes = j->args->memories[m].capacity_bytes;
    masu_plan_options options = options_of(j);
    masu_status status = masu_plan_divide(&problem, j->table.uses, memories, j->args->memory_count, &options, memory_of,
                                          j->offsets, results);
    end_progress(j);
    if (status != MASU_OK)
        return failed(status);
    const masu_plan_result *last = &results[j->args->memory_count - 1];
    if (last->outcome == MASU_PLAN_INFEASIBLE && last->lower_bound_bytes >= (uint64_t)INT64_MAX) {
        fprintf(stderr,
                "masu plan: no division is possible: fixed buffers or those that must share an offset "
                "contradict each other\n");
        return TOOL_FAILED;
    }
    if (last->outcome == MASU_PLAN_INFEASIBLE || last->outcome == MASU_PLAN_UNKNOWN) {
        fprintf(stderr, "masu plan: what is left does not fit into %s: at least ",
                j->args->memories[j->args->memory_count - 1].name);
        plan_say_bytes(stderr, last->lower_bound_bytes);
        fprintf(stderr, " are needed\n");
        return TOOL_FAILED;
    }
    for (size_t m = 0; m < j->args->memory_count; m++) {
        if (!j->args->quiet)
            say_memory(j, m, memory_of, &results[m]);
        set_part(j, m, j->args->memories[m].name, j->args->memories[m].capacity_bytes, &results[m]);
    }
    j->in.memory_of = memory_of;
    return write_answer(j);
}

/* The table in one order of its operators. Without a list of operators uses have no moments: only memories for life are
 * asked for, so that any will do. */
static bool settle_moves(void *context, moves_work *work, const size_t *order) {
    job *j = context;
    const masu_plan_graph *g = &j->graph.graph;
    plan_pair *pairs;
    size_t count = 0;
    if (order && masu_plan_graph_lives(g, order, j->given, j->table.count, j->table.rows) != MASU_OK)
        return false;
    if (!order && j->table.count > 0)
        memcpy(j->table.rows, j->given, j->table.count * sizeof *j->given);
    for (size_t k = 0; k < g->count; k++) {
        const masu_plan_operator *op = &g->operators[order ? order[k] : k];
        for (size_t i = 0; i < op->input_count + op->output_count; i++) {
            bool writes = i >= op->input_count;
            moves_use(work, writes ? op->outputs[i - op->input_count] : op->inputs[i], (int64_t)k, writes);
        }
    }
    for (size_t i = 0; !j->args->ops && i < j->table.count; i++)
        moves_use_often(work, i, j->table.rows[i].lower, j->table.uses[i]);
    if (j->args->in_place && !plan_list_in_place(&j->table, &j->graph, &pairs, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        moves_share(work, &pairs[i]);
    return true;
}

static int say_wrong_order(const job *j) {
    fprintf(stderr, "masu plan: %s: an operator reads what is made later, or two operators make the same buffer\n",
            j->args->ops);
    return TOOL_FAILED;
}

static int move_values(job *j) {
    moves_work work = {.args = j->args, .table = &j->table, .constants_begin = SIZE_MAX};
    const masu_plan_graph *g = &j->graph.graph;
    size_t uses = j->table.count, shares = 0;
    for (size_t k = 0; k < g->count; k++) {
        uses += g->operators[k].input_count + g->operators[k].output_count;
        shares += g->operators[k].input_count;
    }
    work.source = (moves_source){.context = j, .settle = settle_moves, .graph = *g, .names = j->graph.names};
    j->given = MASU_ARENA_ARRAY(&j->table.arena, masu_plan_row, j->table.count + 1);
    size_t *order = MASU_ARENA_ARRAY(&j->table.arena, size_t, g->count + 1);
    if (!j->given || !order || !moves_begin(&work, uses, shares))
        return failed(MASU_ERR_OUT_OF_MEMORY);
    if (j->table.count > 0)
        memcpy(j->given, j->table.rows, j->table.count * sizeof *j->given);
    if (j->args->reorder) {
        masu_status status = masu_plan_reorder(g, j->given, j->table.count, 0, order, NULL, NULL);
        if (status != MASU_OK)
            return status == MASU_ERR_INVALID_ARGUMENT ? say_wrong_order(j) : failed(status);
        work.source.lower_peak = order;
    }
    return moves_run(&work);
}

static int solve(job *j) {
    masu_plan_problem problem = problem_of(j);
    masu_plan_options options = options_of(j);
    if (problem.capacity_bytes > 0)
        options.goal = MASU_PLAN_FIT;
    masu_status status = masu_plan_find(&problem, &options, j->offsets, &j->result);
    end_progress(j);
    if (status != MASU_OK)
        return failed(status);
    say_result(j, &problem);
    if (j->result.outcome == MASU_PLAN_INFEASIBLE) {
        if (!j->args->quiet && problem.capacity_bytes > 0)
            say_core(j, &problem);
        return TOOL_FAILED;
    }
    if (j->result.outcome == MASU_PLAN_UNKNOWN)
        return TOOL_FAILED;
    set_part(j, 0, NULL, problem.capacity_bytes, &j->result);
    return write_answer(j);
}

/* The height with these lives and what may then be done in place; UINT64_MAX: not known. */
static uint64_t height_in_place(job *j, masu_plan_row *rows) {
    masu_plan_row *before = j->table.rows;
    size_t relations = j->table.relation_count;
    masu_plan_options quick = {.step_limit = 20000, .threads = 1, .time_limit_s = j->args->time_s / 8};
    masu_plan_result result = {.height_bytes = 0};
    j->table.rows = rows;
    bool right = plan_relate_in_place(&j->table, &j->graph);
    masu_plan_problem problem = {rows, j->table.count, j->table.relations, j->table.relation_count, 0};
    right = right && masu_plan_find(&problem, &quick, j->offsets, &result) == MASU_OK;
    j->table.rows = before;
    j->table.relation_count = relations;
    return right && result.height_bytes > 0 ? result.height_bytes : UINT64_MAX;
}

/* Whether the new order saves more than the order as it is saves in place. */
static bool order_helps(job *j, masu_plan_row *reordered) {
    return !j->args->in_place || height_in_place(j, reordered) <= height_in_place(j, j->table.rows);
}

static int reorder(job *j) {
    uint64_t before, after;
    size_t *order = masu__arena_calloc(&j->table.arena, j->graph.graph.count + 1, sizeof *order, 16);
    if (!order)
        return failed(MASU_ERR_OUT_OF_MEMORY);
    masu_status status = masu_plan_reorder(&j->graph.graph, j->table.rows, j->table.count, 0, order, &before, &after);
    masu_plan_row *rows = masu__arena_calloc(&j->table.arena, j->table.count + 1, sizeof *rows, 16);
    if (!rows)
        return failed(MASU_ERR_OUT_OF_MEMORY);
    if (status == MASU_OK)
        status = masu_plan_graph_lives(&j->graph.graph, order, j->table.rows, j->table.count, rows);
    if (status == MASU_OK && order_helps(j, rows))
        memcpy(j->table.rows, rows, j->table.count * sizeof *rows);
    else if (status == MASU_OK)
        for (size_t k = 0, *at = order; k < j->graph.graph.count; k++, after = before)
            *at++ = k;
    if (status != MASU_OK)
        return status == MASU_ERR_INVALID_ARGUMENT ? say_wrong_order(j) : failed(status);
    if (!j->args->quiet) {
        FILE *to = summary_stream(j->args);
        fprintf(to, "order: peak ");
        plan_say_bytes(to, before);
        fprintf(to, " → ");
        plan_say_bytes(to, after);
        fprintf(to, "; run");
        for (size_t k = 0; k < j->graph.graph.count; k++)
            fprintf(to, " %s", j->graph.names[order[k]]);
        fprintf(to, "\n");
    }
    return TOOL_OK;
}

static int prepare(job *j, const tool_text *text) {
    int status = plan_check_for_table(j->args);
    if (status == TOOL_OK)
        status = read_table(j, text);
    if (status == TOOL_OK && j->args->ops)
        status = read_ops(j);
    bool moves = plan_has_moves(j->args); /* which orders them, and makes in place, itself */
    if (status == TOOL_OK && j->args->reorder && !moves)
        status = reorder(j);
    if (status == TOOL_OK && j->args->in_place && !moves && !plan_relate_in_place(&j->table, &j->graph))
        status = failed(MASU_ERR_OUT_OF_MEMORY);
    return status;
}

static int run(int argc, char **argv) {
    plan_arguments a = {.time_s = 10, .threads = 2, .ranged = SIZE_MAX, .constants = SIZE_MAX};
    int status = plan_parse_arguments(argc, argv, &a);
    if (status != TOOL_OK)
        return status;
    tool_text text;
    masu__model_format format;
    if (!tool_read(a.path, &text))
        return TOOL_FAILED;
    if (network_is_file(a.path, text.data, text.length, &format)) {
        status = network_run(&a, format, &text);
        tool_text_free(&text);
        return status;
    }
    if (kernel_is_problem(text.data ? text.data : "", text.length)) {
        status = kernel_run(&a, &text);
        tool_text_free(&text);
        return status;
    }
    job j = {.args = &a};
    status = prepare(&j, &text);
    tool_text_free(&text);
    if (status == TOOL_OK && a.check) {
        status = check(&j);
    } else if (status == TOOL_OK && a.compare) {
        masu_plan_options options = options_of(&j);
        status = plan_compare(&j.table, &options);
    } else if (status == TOOL_OK) {
        status = plan_has_moves(&a) ? move_values(&j) : a.memory_count > 0 ? divide(&j) : solve(&j);
    }
    plan_table_free(&j.table);
    return status;
}

const tool_command tool_plan = {"plan", "find offsets for buffers whose sizes and lives are known", usage, run};
