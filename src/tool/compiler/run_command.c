/* run_command.c: `masu run`: compiles a program in memory, runs it, reports what its memory did.
 *
 *     arguments ─► runtime ─► compile ─► run ─► (error) ─► report
 *
 * The report is written also when the program failed: what was alive has been released by then, and the report is
 * where one sees that it was.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "runtime/runtime.h"
#include "tool/compiler/compiler.h"
#include "tool/native/plot.h"
#include "tool/native/run_end.h"
#include "tool/native/run_trace.h"
#include "tool/tool.h"

typedef struct run_options {
    tool_compile_flags compile;
    const char *path;
    tool_report_options report;
    bool audit;
    uint32_t history_limit;
    uint64_t seed;
    tool_trace_wanted trace;
    const char *log_path, *plot_path; /* of log()'s values and of their picture; NULL: not asked for */
    int argument_count;               /* the program's own */
    char **arguments;
} run_options;

static const char *const known[] = {"--report", "--report=json", "--report-file", "--by-line", "--audit", "--history",
                                    "--seed",   "--trace",       "--trace-all",   "--publish", "--log",   "--plot",
                                    "--dump=",  "--verify",      "--help",        NULL};

/* ---- the command line ---------------------------------------------------------------------------------------- */

static int parse_report(const char *argument, run_options *options) {
    const char *form = argument + strlen("--report");
    if (*form == 0 || strcmp(form, "=text") == 0)
        options->report.form = TOOL_REPORT_TEXT;
    else if (strcmp(form, "=json") == 0)
        options->report.form = TOOL_REPORT_JSON;
    else
        return tool_misuse("run", "%s: expected --report, --report=text or --report=json", argument);
    return TOOL_OK;
}

static int parse_option(int argc, char **argv, int *index, run_options *options) {
    const char *argument = argv[*index], *value;
    bool missing = false;
    switch (tool_compile_option("run", argument, &options->compile)) {
    case TOOL_OPTION_TAKEN:
        return TOOL_OK;
    case TOOL_OPTION_WRONG:
        return TOOL_MISUSED;
    case TOOL_OPTION_UNKNOWN:
        break;
    }
    if (strcmp(argument, "--report") == 0 || strncmp(argument, "--report=", 9) == 0)
        return parse_report(argument, options);
    if ((value = tool_option_value("--report-file", argc, argv, index, &missing))) {
        options->report.path = value;
        return TOOL_OK;
    }
    if ((value = tool_option_value("--seed", argc, argv, index, &missing))) {
        if (!tool_number(value, &options->seed))
            return tool_misuse("run", "--seed: `%s` is not a number from 0 to 2^64 - 1", value);
        return TOOL_OK;
    }
    if (strcmp(argument, "--trace-all") == 0) {
        options->trace.all = true;
        return TOOL_OK;
    }
    if (strcmp(argument, "--publish") == 0 || strncmp(argument, "--publish=", 10) == 0) {
        options->trace.publish = argument + strlen("--publish") + (argument[9] == '=');
        if (argument[9] && !argument[10])
            return tool_misuse("run", "--publish=: a path is missing; --publish alone has a usual place");
        return TOOL_OK;
    }
    if ((value = tool_option_value("--trace", argc, argv, index, &missing))) {
        options->trace.path = value;
        return *value ? TOOL_OK : tool_misuse("run", "--trace: a file name is missing");
    }
    if ((value = tool_option_value("--log", argc, argv, index, &missing))) {
        options->log_path = value;
        return TOOL_OK;
    }
    if ((value = tool_option_value("--plot", argc, argv, index, &missing))) {
        options->plot_path = value;
        return TOOL_OK;
    }
    if (strcmp(argument, "--audit") == 0 || strcmp(argument, "--by-line") == 0) {
        *(argument[2] == 'a' ? &options->audit : &options->report.by_line) = true;
        return TOOL_OK;
    }
    if ((value = tool_option_value("--history", argc, argv, index, &missing))) {
        uint64_t limit;
        if (!tool_number(value, &limit) || limit == 0 || limit > UINT32_MAX)
            return tool_misuse("run", "--history: `%s` is not a number of operations", value);
        options->history_limit = (uint32_t)limit;
        return TOOL_OK;
    }
    if (missing)
        return tool_misuse("run", "%s needs a value", argument);
    return tool_unknown_option("run", argument, known);
}

static int parse(int argc, char **argv, run_options *options) {
    int i = 1;
    for (; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            if (!options->path && i < argc)
                options->path = argv[i++];
            break;
        }
        bool is_option = argv[i][0] == '-' && argv[i][1] != 0;
        if (!is_option && options->path)
            break;
        if (!is_option) {
            options->path = argv[i];
            continue;
        }
        int status = parse_option(argc, argv, &i, options);
        if (status != TOOL_OK)
            return status;
    }
    options->arguments = argv + i;
    options->argument_count = argc - i;
    if (!options->path)
        return tool_misuse("run", "which file?");
    if (options->report.by_line && options->report.form != TOOL_REPORT_JSON)
        return tool_misuse("run", "--by-line needs --report=json");
    if (options->trace.all && !options->trace.path && !getenv("MASU_TRACE"))
        return tool_misuse("run", "--trace-all needs --trace FILE");
    if (options->report.path && options->report.form == TOOL_REPORT_NONE)
        options->report.form = TOOL_REPORT_TEXT;
    return TOOL_OK;
}

/* ---- running --------------------------------------------------------------------------------------------------- */

static int execute(tl_runtime *rt, masu_program *program) {
    tl_error error = {0};
    tool_arm_failure();
    masu_status status = tl_runtime_run(rt, masu_program_entry(program), &error);
    masu__fault_arm(0);
    if (status == MASU_OK)
        return error.exit_status;
    fflush(stdout);
    masu_run_error shown = tool_run_error(&error);
    fputs(masu_program_format_error(program, &shown), stderr);
    return TOOL_FAILED;
}

/* A program that ended well all the same fails the audit. */
static int judge(const tl_runtime *rt, masu_program *program) {
    tl_audit_result audit;
    if (tl_runtime_audit(rt, &audit))
        return TOOL_OK;
    fflush(stdout);
    masu_run_error shown = {.message = audit.text, .sites = &audit.site, .site_count = 1};
    fputs(masu_program_format_error(program, &shown), stderr);
    return TOOL_FAILED;
}

static void point_out_history(const tl_runtime *rt, masu_program *program) {
    char text[128];
    uint32_t operations, site = tl_runtime_long_history(rt, &operations);
    if (site == 0)
        return;
    fflush(stdout);
    masu_run_error shown = {
        .is_warning = true, .message = tool_history_text(operations, text), .sites = &site, .site_count = 1};
    fputs(masu_program_format_error(program, &shown), stderr);
}

static bool place_of(const void *program, uint32_t site, masu_place_info *out) {
    if (!masu_program_site(program, site, out))
        return false;
    if (strcmp(out->path, masu_program_path(program)) == 0)
        out->path = NULL;
    return true;
}

static int write_report(tl_runtime *rt, masu_program *program, const tool_report_options *wanted) {
    tool_report_options options = *wanted;
    if (options.by_line && program && !tool_lines(rt, program, place_of, &options)) {
        fprintf(stderr, "masu: no memory for the counts by line\n");
        return TOOL_FAILED;
    }
    int status = tool_write_report(rt, &options);
    tool_lines_free(&options);
    return status;
}

static int compile_and_execute(tl_runtime *rt, const run_options *options, tool_trace *trace) {
    masu_compile_options compile = tool_compile_options(&options->compile, MASU_STAGE_CODE);
    compile.generator = &masu_llvm;
    compile.audit = options->audit;
    compile.count_by_line = options->report.by_line;
    masu_program *program;
    int status = tool_compile(options->path, &compile, options->compile.quiet, &program);
    malloc_trim(0); /* what compiling took goes back before the program's own memory comes */
    tl_runtime_sample_memory(rt);
    if (status == TOOL_OK) {
        tool_trace_places(trace, rt, place_of, program, options->path);
        status = execute(rt, program);
    }
    if (program)
        point_out_history(rt, program);
    if (options->audit && program && judge(rt, program) != TOOL_OK)
        status = TOOL_FAILED;
    if (options->report.form != TOOL_REPORT_NONE) {
        int written = write_report(rt, program, &options->report);
        status = status == TOOL_OK ? written : status;
    }
    tool_trace_unpublish(trace);
    /* Tensors die before the code that their history refers to. */
    tl_runtime_destroy(rt);
    status = tool_trace_end(trace, status);
    if (options->plot_path && program) {
        int drawn = tool_write_plot(options->log_path, options->path, options->plot_path);
        status = status == TOOL_OK ? drawn : status;
    }
    masu_program_destroy(program);
    return status;
}

int tool_run_program(int argc, char **argv) {
    run_options options = {.seed = TOOL_DEFAULT_SEED};
    int status = parse(argc, argv, &options);
    if (status != TOOL_OK)
        return status;
    tl_runtime_config config = {.seed = options.seed,
                                .history_limit = options.history_limit,
                                .argument_count = options.argument_count,
                                .arguments = (const char *const *)options.arguments,
                                .values_path = options.log_path,
                                .program = options.path};
    tool_trace trace;
    status = tool_trace_begin(&trace, &options.trace, &config);
    if (status != TOOL_OK)
        return status;
    tl_runtime *rt;
    masu_status created = tl_runtime_create(&config, &rt);
    if (created != MASU_OK) {
        fprintf(stderr, "masu: cannot start the runtime: %s\n", masu_status_text(created));
        return tool_trace_end(&trace, TOOL_FAILED);
    }
    return compile_and_execute(rt, &options, &trace);
}
