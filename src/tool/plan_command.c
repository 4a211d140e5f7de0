/* plan_command.c: `masu plan`: offsets for buffers whose sizes and lives a file lists. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/meta.h"
#include "tool/plan.h"

static const char usage[] =
    "Usage: masu plan [OPTIONS] FILE\n"
    "\n"
    "Finds an offset for each buffer of FILE (- is standard input) such that buffers that live at "
    "the same time do not\n"
    "overlap, in an arena as low as possible, and says how low any arena could be.\n"
    "FILE is CSV or TSV with the columns id,lower,upper,size[,alignment][,gaps][,offset][,hint]"
    "[,uses] in any order\n"
    "(lives are half-open; start,end name the first and the last moment), or JSON. An offset in "
    "FILE is kept.\n"
    "\n"
    "  --minimize        the smallest arena (the default without --capacity)\n"
    "  --capacity N      any arena of at most N bytes; K, M and G count 1024s\n"
    "  --time S          at most S seconds (10)\n"
    "  --output FILE     write the plan: JSON when FILE ends in .json, CSV otherwise; - is "
    "standard output\n"
    "  --svg FILE        write the plan as a picture\n"
    "  --check           judge the offsets in FILE instead of finding some\n"
    "  --compare         a table of all methods: height, distance from the bound, time\n"
    "  --memory NAME[=N] divide the buffers among memories, the fastest first, by uses × bytes; "
    "repeat it\n"
    "  --ops FILE        operators in order (op,type,inputs,outputs), for the next two and for "
    "uses\n"
    "  --in-place        results of element-wise operators may take over an input that dies there\n"
    "  --reorder         run operators in an order with a lower peak\n"
    "  --alignment N     align every buffer to N bytes at least\n"
    "  --seed N, --threads N\n"
    "  --quiet           no summary and no progress\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 a plan within the capacity, or the plan is right; 1 there is none, none was "
    "found in time, the plan\n"
    "is wrong, or FILE is; 2 used wrongly.\n";

static const char *const known[] = {
    "--minimize", "--capacity", "--time",  "--output",   "--svg",     "--check",
    "--compare",  "--memory",   "--ops",   "--in-place", "--reorder", "--alignment",
    "--seed",     "--threads",  "--quiet", "--help",     NULL};

enum { MOST_MEMORIES = 16, NAME_BYTES = 32 };

typedef struct memory_option {
    char name[NAME_BYTES];
    uint64_t capacity_bytes;
} memory_option;

typedef struct arguments {
    const char *path, *output, *svg, *ops;
    bool minimize, check, compare, in_place, reorder, quiet;
    uint64_t capacity, alignment, seed, threads;
    double time_s;
    memory_option memories[MOST_MEMORIES];
    size_t memory_count;
} arguments;

typedef struct job {
    const arguments *args;
    plan_table table;
    plan_graph graph;
    uint64_t *offsets;
    const char **memories; /* per row; NULL: one memory */
    masu_plan_result result;
    masu_plan_cancel_flag cancel;
    bool progress_shown;
} job;

/* ---- numbers on the command line ------------------------------------------------------------- */

static bool parse_bytes(const char *text, uint64_t *out) {
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    const char *units = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        if (__builtin_mul_overflow(value, 1024ull, &value))
            return false;
    end += unit != NULL;
    if (errno || *end || value == 0 || value > (uint64_t)1 << 62)
        return false;
    *out = value;
    return true;
}

static bool parse_number(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool parse_seconds(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out > 0 && *out < 1e9;
}

/* A name alone: without limit. */
static bool parse_memory(const char *text, arguments *a) {
    const char *equals = strchrnul(text, '=');
    if (a->memory_count == MOST_MEMORIES || equals == text || equals - text >= NAME_BYTES)
        return false;
    memory_option *m = &a->memories[a->memory_count];
    memcpy(m->name, text, (size_t)(equals - text));
    m->name[equals - text] = 0;
    for (const char *c = m->name; *c; c++)
        if (strchr(", \"\t", *c))
            return false;
    for (size_t i = 0; i < a->memory_count; i++)
        if (strcmp(a->memories[i].name, m->name) == 0)
            return false;
    m->capacity_bytes = 0;
    if (*equals && !parse_bytes(equals + 1, &m->capacity_bytes))
        return false;
    a->memory_count++;
    return true;
}

/* ---- options --------------------------------------------------------------------------------- */

static int take_value(const char *name, const char *value, arguments *a) {
    bool right = true;
    const char *expected = "";
    if (strcmp(name, "--capacity") == 0) {
        right = parse_bytes(value, &a->capacity);
        expected = "bytes, such as 1048576 or 512K";
    } else if (strcmp(name, "--alignment") == 0) {
        right = parse_bytes(value, &a->alignment) && (a->alignment & (a->alignment - 1)) == 0;
        expected = "a power of two";
    } else if (strcmp(name, "--time") == 0) {
        right = parse_seconds(value, &a->time_s);
        expected = "seconds above 0";
    } else if (strcmp(name, "--seed") == 0) {
        right = parse_number(value, &a->seed);
        expected = "a whole number";
    } else if (strcmp(name, "--threads") == 0) {
        right = parse_number(value, &a->threads) && a->threads >= 1 && a->threads <= 64;
        expected = "1 to 64";
    } else if (strcmp(name, "--memory") == 0) {
        right = parse_memory(value, a);
        expected = "NAME=BYTES (above 0) or NAME, without limit, each name once, 16 at most";
    } else if (strcmp(name, "--output") == 0) {
        a->output = value;
    } else if (strcmp(name, "--svg") == 0) {
        a->svg = value;
    } else {
        a->ops = value;
    }
    return right ? TOOL_OK : tool_misuse("plan", "%s %s: expected %s", name, value, expected);
}

static bool take_flag(const char *argument, arguments *a) {
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--minimize", &a->minimize}, {"--check", &a->check},
                 {"--compare", &a->compare},   {"--in-place", &a->in_place},
                 {"--reorder", &a->reorder},   {"--quiet", &a->quiet}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(argument, flags[i].name) == 0)
            return *flags[i].flag = true;
    return false;
}

static int take_option(int argc, char **argv, int *index, arguments *a) {
    static const char *const valued[] = {"--capacity", "--time",      "--output",
                                         "--svg",      "--memory",    "--ops",
                                         "--seed",     "--alignment", "--threads"};
    const char *argument = argv[*index];
    if (take_flag(argument, a))
        return TOOL_OK;
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
        bool missing = false;
        const char *value = tool_option_value(valued[i], argc, argv, index, &missing);
        if (missing)
            return tool_misuse("plan", "%s: a value is missing", valued[i]);
        if (value)
            return take_value(valued[i], value, a);
    }
    return tool_unknown_option("plan", argument, known);
}

static int check_together(const arguments *a) {
    if (!a->path)
        return tool_misuse("plan", "which file?");
    if (a->minimize && a->capacity)
        return tool_misuse("plan", "--minimize and --capacity: one of the two");
    if (a->check && (a->output || a->compare || a->memory_count || a->ops || a->minimize))
        return tool_misuse("plan", "--check only judges: leave the other options out");
    if ((a->in_place || a->reorder) && !a->ops)
        return tool_misuse("plan", "%s needs --ops FILE", a->in_place ? "--in-place" : "--reorder");
    if (a->memory_count > 0 && (a->capacity || a->minimize || a->compare || a->svg))
        return tool_misuse("plan", "--memory says the capacities; no --capacity, --minimize, "
                                   "--compare or --svg beside it");
    if (a->output && a->svg && strcmp(a->output, "-") == 0 && strcmp(a->svg, "-") == 0)
        return tool_misuse("plan", "only one of --output and --svg can be standard output");
    return TOOL_OK;
}

static int parse(int argc, char **argv, arguments *a) {
    for (int i = 1; i < argc; i++) {
        bool is_option = argv[i][0] == '-' && argv[i][1] != 0;
        if (!is_option && a->path)
            return tool_misuse("plan", "one file at a time: `%s` is too many", argv[i]);
        if (!is_option) {
            a->path = argv[i];
            continue;
        }
        int status = take_option(argc, argv, &i, a);
        if (status != TOOL_OK)
            return status;
    }
    return check_together(a);
}

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

/* The table keeps nothing of the text. */
static int read_table(job *j) {
    tool_text text;
    masu__buffer message = {0};
    const char *shown = strcmp(j->args->path, "-") == 0 ? "<stdin>" : j->args->path;
    if (!tool_read(j->args->path, &text))
        return TOOL_FAILED;
    bool right = plan_parse(shown, text.data ? text.data : "", text.length, &j->table, &message);
    tool_text_free(&text);
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
    bool right = plan_parse_ops(j->args->ops, text.data ? text.data : "", text.length, &j->table,
                                &j->graph, &message);
    tool_text_free(&text);
    return right ? TOOL_OK : complain(&message);
}

/* An offset in the file is one to keep; --alignment raises what the file says. */
static int settle_rows(job *j) {
    for (size_t i = 0; i < j->table.count; i++) {
        masu_plan_row *row = &j->table.rows[i];
        if (row->alignment_bytes < j->args->alignment)
            row->alignment_bytes = j->args->alignment;
        row->is_fixed = j->table.given[i] != UINT64_MAX;
        row->fixed_offset = row->is_fixed ? j->table.given[i] : 0;
        const char *mistake = plan_row_mistake(row);
        if (mistake) {
            fprintf(stderr, "masu plan: %s: buffer %s: expected %s\n", j->args->path,
                    j->table.ids[i], mistake);
            return TOOL_FAILED;
        }
    }
    return TOOL_OK;
}

/* ---- saying ---------------------------------------------------------------------------------- */

static void say_bytes(FILE *to, uint64_t bytes) {
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
    say_bytes(stderr, so_far->height_bytes);
    fprintf(stderr, ", %.2f %% above the bound",
            so_far->lower_bound_bytes
                ? 100 * ((double)so_far->height_bytes / (double)so_far->lower_bound_bytes - 1)
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
    return (masu_plan_problem){j->table.rows, j->table.count, j->table.relations,
                               j->table.relation_count, capacity};
}

/* Standard output carries the summary, unless it carries the plan. */
static FILE *summary_stream(const arguments *a) {
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
        fprintf(stderr,
                "masu plan: %s%zu buffers cannot be placed even alone:", minimal ? "already " : "",
                count);
        for (size_t i = 0; i < count && i < 24; i++)
            fprintf(stderr, " %s", j->table.ids[rows[i]]);
        fprintf(stderr, "%s\n", count > 24 ? " …" : "");
    }
    masu__meta_free(rows, bytes);
}

static void say_result(job *j, const masu_plan_problem *problem) {
    const masu_plan_result *r = &j->result;
    FILE *to = summary_stream(j->args);
    if (j->args->quiet)
        return;
    if (r->outcome == MASU_PLAN_INFEASIBLE) {
        fprintf(stderr, "masu plan: no plan fits into ");
        say_bytes(stderr, problem->capacity_bytes);
        fprintf(stderr, ": at least ");
        say_bytes(stderr, r->lower_bound_bytes);
        fprintf(stderr, " are needed\n");
        return;
    }
    fprintf(to, "%zu buffers, height ", j->table.count);
    say_bytes(to, r->height_bytes);
    if (r->optimal)
        fprintf(to, ", optimal");
    else
        fprintf(to, ", %.2f %% above the bound %" PRIu64,
                100 * ((double)r->height_bytes / (double)r->lower_bound_bytes - 1),
                r->lower_bound_bytes);
    fprintf(to, "; %.3f s, by %s\n", r->seconds, r->order);
    if (r->outcome == MASU_PLAN_UNKNOWN) {
        fprintf(stderr, "masu plan: none was found in time that fits into ");
        say_bytes(stderr, problem->capacity_bytes);
        fprintf(stderr, ", and none is ruled out\n");
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static int write_text(const char *path, masu__buffer *text) {
    bool standard = strcmp(path, "-") == 0, right = !text->failed;
    FILE *file = !right ? NULL : standard ? stdout : fopen(path, "wb");
    if (!right)
        errno = ENOMEM;
    if (file) {
        right = fwrite(masu__buffer_text(text), 1, text->length, file) == text->length;
        right = (standard ? fflush(file) : fclose(file)) == 0 && right;
    }
    masu__buffer_destroy(text);
    if (file && right)
        return TOOL_OK;
    fprintf(stderr, "masu plan: cannot write %s: %s\n", path, strerror(errno));
    return TOOL_FAILED;
}

static int write_files(const job *j) {
    plan_answer answer = {&j->table, j->offsets, j->memories, &j->result};
    masu__buffer plan = {0}, picture = {0};
    int status = TOOL_OK;
    if (j->args->output) {
        if (ends_with(j->args->output, ".json"))
            plan_write_json(&answer, &plan);
        else
            plan_write_csv(&answer, &plan);
        status = write_text(j->args->output, &plan);
    }
    if (status == TOOL_OK && j->args->svg) {
        plan_write_svg(&answer, &picture);
        status = write_text(j->args->svg, &picture);
    }
    return status;
}

/* ---- the work -------------------------------------------------------------------------------- */

static uint64_t height_given(const job *j) {
    uint64_t height = 0;
    for (size_t i = 0; i < j->table.count; i++) {
        uint64_t end = j->table.given[i] + j->table.rows[i].size_bytes;
        if (end < j->table.given[i])
            end = UINT64_MAX;
        height = end > height ? end : height;
    }
    return height;
}

static int check(job *j) {
    masu_plan_problem problem = problem_of(j);
    for (size_t i = 0; i < j->table.count; i++)
        if (j->table.given[i] == UINT64_MAX) {
            fprintf(stderr, "masu plan: %s: buffer %s has no offset to check\n", j->args->path,
                    j->table.ids[i]);
            return TOOL_FAILED;
        }
    size_t a = 0, b = SIZE_MAX;
    j->result.height_bytes = height_given(j);
    uint64_t limit = problem.capacity_bytes ? problem.capacity_bytes : j->result.height_bytes;
    masu_plan_verdict verdict = masu_plan_check_problem(&problem, j->table.given, limit, &a, &b);
    if (verdict != MASU_PLAN_FINE) {
        printf("%s: %s", masu_plan_verdict_name(verdict), j->table.ids[a]);
        printf(b != SIZE_MAX ? " and %s\n" : "\n", b != SIZE_MAX ? j->table.ids[b] : "");
        return TOOL_FAILED;
    }
    masu_plan_lower_bound(j->table.rows, j->table.count, &j->result.lower_bound_bytes);
    if (!j->args->quiet) {
        printf("FINE: %zu buffers, height ", j->table.count);
        say_bytes(stdout, j->result.height_bytes);
        printf("\n");
    }
    memcpy(j->offsets, j->table.given, j->table.count * sizeof *j->offsets);
    return write_files(j);
}

static void say_memory(const job *j, size_t m, const size_t *memory_of,
                       const masu_plan_result *result) {
    size_t count;
    uint64_t traffic = plan_traffic(&j->table, memory_of, m, &count);
    FILE *to = summary_stream(j->args);
    fprintf(to, "%s: %zu buffers, height ", j->args->memories[m].name, count);
    say_bytes(to, result->height_bytes);
    fprintf(to, ", traffic ");
    say_bytes(to, traffic);
    fprintf(to, "\n");
}

static int divide(job *j) {
    masu_plan_problem problem = problem_of(j);
    masu_plan_memory memories[MOST_MEMORIES];
    masu_plan_result results[MOST_MEMORIES];
    size_t *memory_of =
        masu__arena_calloc(&j->table.arena, j->table.count + 1, sizeof *memory_of, 16);
    j->memories = masu__arena_calloc(&j->table.arena, j->table.count + 1, sizeof *j->memories, 16);
    if (!memory_of || !j->memories)
        return failed(MASU_ERR_OUT_OF_MEMORY);
    for (size_t m = 0; m < j->args->memory_count; m++)
        memories[m].capacity_bytes = j->args->memories[m].capacity_bytes;
    masu_plan_options options = options_of(j);
    masu_status status = masu_plan_divide(&problem, j->table.uses, memories, j->args->memory_count,
                                          &options, memory_of, j->offsets, results);
    end_progress(j);
    if (status != MASU_OK)
        return failed(status);
    const masu_plan_result *last = &results[j->args->memory_count - 1];
    if (last->outcome == MASU_PLAN_INFEASIBLE || last->outcome == MASU_PLAN_UNKNOWN) {
        fprintf(stderr, "masu plan: what is left does not fit into %s: at least ",
                j->args->memories[j->args->memory_count - 1].name);
        say_bytes(stderr, last->lower_bound_bytes);
        fprintf(stderr, " are needed\n");
        return TOOL_FAILED;
    }
    for (size_t m = 0; m < j->args->memory_count && !j->args->quiet; m++)
        say_memory(j, m, memory_of, &results[m]);
    for (size_t i = 0; i < j->table.count; i++)
        j->memories[i] = j->args->memories[memory_of[i]].name;
    return write_files(j);
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
        if (!j->args->quiet)
            say_core(j, &problem);
        return TOOL_FAILED;
    }
    return j->result.outcome == MASU_PLAN_UNKNOWN ? TOOL_FAILED : write_files(j);
}

static int reorder(job *j) {
    uint64_t before, after;
    size_t *order =
        masu__arena_calloc(&j->table.arena, j->graph.graph.count + 1, sizeof *order, 16);
    if (!order)
        return failed(MASU_ERR_OUT_OF_MEMORY);
    masu_status status = masu_plan_reorder(&j->graph.graph, j->table.rows, j->table.count, 0, order,
                                           &before, &after);
    if (status == MASU_OK)
        status = masu_plan_graph_lives(&j->graph.graph, order, j->table.rows, j->table.count,
                                       j->table.rows);
    if (status == MASU_ERR_INVALID_ARGUMENT) {
        fprintf(stderr, "masu plan: %s: an operator reads what is made later\n", j->args->ops);
        return TOOL_FAILED;
    }
    if (status != MASU_OK)
        return failed(status);
    if (!j->args->quiet) {
        FILE *to = summary_stream(j->args);
        fprintf(to, "order: peak ");
        say_bytes(to, before);
        fprintf(to, " → ");
        say_bytes(to, after);
        fprintf(to, "\n");
    }
    return TOOL_OK;
}

static int prepare(job *j) {
    int status = read_table(j);
    if (status == TOOL_OK && j->args->ops)
        status = read_ops(j);
    if (status == TOOL_OK && j->args->reorder)
        status = reorder(j);
    if (status == TOOL_OK && j->args->in_place && !plan_relate_in_place(&j->table, &j->graph))
        status = failed(MASU_ERR_OUT_OF_MEMORY);
    if (status == TOOL_OK && !j->args->check)
        status = settle_rows(j);
    return status;
}

static int run(int argc, char **argv) {
    arguments a = {.time_s = 10, .threads = 2};
    int status = parse(argc, argv, &a);
    if (status != TOOL_OK)
        return status;
    job j = {.args = &a};
    status = prepare(&j);
    if (status == TOOL_OK && a.check) {
        status = check(&j);
    } else if (status == TOOL_OK && a.compare) {
        masu_plan_options options = options_of(&j);
        status = plan_compare(&j.table, &options);
    } else if (status == TOOL_OK) {
        status = a.memory_count > 0 ? divide(&j) : solve(&j);
    }
    plan_table_free(&j.table);
    return status;
}

const tool_command tool_plan = {"plan", "find offsets for buffers whose sizes and lives are known",
                                usage, run};
