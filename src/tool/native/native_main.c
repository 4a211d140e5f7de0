/* native_main.c: main of an executable made by `masu build`. The command line is the program's own, so what
 * `masu run` takes as options comes from the environment here:
 *
 *     MASU_REPORT=text|json    end with the report          MASU_REPORT_FILE=FILE   where it goes
 *     MASU_SEED=N              start of the random numbers  MASU_HISTORY=N          what is warned of, as --history
 *     MASU_TRACE=FILE          record what its memory does, for `masu report`; MASU_TRACE_ALL=1: lists and strings too
 *     MASU_PUBLISH=1|FILE      a page that `masu top` shows while the program runs
 *     MASU_FAIL_AT=N           see run_end.h
 *
 * What `masu build --by-line` made counts by line: its JSON report then has these counts.
 *
 * Lies in libmasu_program.a beside the runtime; the linker takes what the program uses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "tool/native/plot.h"
#include "tool/native/run_end.h"
#include "tool/native/run_trace.h"
#include "tool/tool.h"

extern const masu_native_program masu_native_data;
extern void masu_main(void);

static void print_error(const tl_error *error) {
    masu_text text;
    fflush(stdout);
    masu_run_error shown = tool_run_error(error);
    masu_status status = masu_native_format_error(&masu_native_data, &shown, &text);
    if (status != MASU_OK) {
        fprintf(stderr, "error: %s\n", error->text);
        return;
    }
    fputs(text.data, stderr);
    masu_text_free(&text);
}

static void point_out_history(const tl_runtime *rt) {
    char words[128];
    masu_text text;
    uint32_t operations, site = tl_runtime_long_history(rt, &operations);
    if (site == 0)
        return;
    fflush(stdout);
    masu_run_error shown = {
        .is_warning = true, .message = tool_history_text(operations, words), .sites = &site, .site_count = 1};
    if (masu_native_format_error(&masu_native_data, &shown, &text) != MASU_OK)
        return;
    fputs(text.data, stderr);
    masu_text_free(&text);
}

static bool read_report_options(tool_report_options *options) {
    const char *form = getenv("MASU_REPORT");
    options->path = getenv("MASU_REPORT_FILE");
    if (form && strcmp(form, "json") == 0)
        options->form = TOOL_REPORT_JSON;
    else if (options->path || (form && strcmp(form, "text") == 0))
        options->form = TOOL_REPORT_TEXT;
    else if (form && *form)
        return false;
    return true;
}

static bool read_history(uint32_t *limit) {
    const char *text = getenv("MASU_HISTORY");
    uint64_t n = 0;
    if (text && (!tool_number(text, &n) || n == 0 || n > UINT32_MAX))
        return false;
    *limit = (uint32_t)n;
    return true;
}

static bool read_seed(uint64_t *seed) {
    const char *text = getenv("MASU_SEED");
    return !text || tool_number(text, seed);
}

static bool place_of(const void *program, uint32_t site, masu_place_info *out) {
    return masu_native_place(program, site, out);
}

static int write_report(tl_runtime *rt, const tool_report_options *wanted) {
    const tl_line_counts *counts;
    tool_report_options options = *wanted;
    if (options.form == TOOL_REPORT_JSON && tl_runtime_lines(rt, &counts) > 0 &&
        !tool_lines(rt, &masu_native_data, place_of, &options)) {
        fprintf(stderr, "no memory for the counts by line\n");
        return TOOL_FAILED;
    }
    int status = tool_write_report(rt, &options);
    tool_lines_free(&options);
    return status;
}

static int execute(tl_runtime *rt, const tool_report_options *report) {
    tl_error error = {0};
    tool_arm_failure();
    masu_status ended = tl_runtime_run(rt, masu_main, &error);
    masu__fault_arm(0);
    if (ended != MASU_OK)
        print_error(&error);
    point_out_history(rt);
    int status = ended == MASU_OK ? error.exit_status : TOOL_FAILED;
    if (report->form == TOOL_REPORT_NONE)
        return status;
    int written = write_report(rt, report);
    return status == TOOL_OK ? written : status;
}

int main(int argc, char **argv) {
    tool_report_options report = {0};
    tool_prepare_end();
    tl_runtime_config config = {.seed = TOOL_DEFAULT_SEED,
                                .argument_count = argc > 0 ? argc - 1 : 0,
                                .arguments = (const char *const *)argv + 1,
                                .program = argc > 0 ? argv[0] : NULL};
    config.values_path = getenv("MASU_LOG");
    if (!read_report_options(&report) || !read_seed(&config.seed) || !read_history(&config.history_limit)) {
        fprintf(stderr, "%s: MASU_REPORT is text or json, MASU_SEED and MASU_HISTORY are numbers\n", argv[0]);
        return TOOL_MISUSED;
    }
    tool_trace trace;
    if (tool_trace_begin(&trace, &(tool_trace_wanted){0}, &config) != TOOL_OK)
        return TOOL_FAILED;
    tl_runtime *rt;
    masu_status created = tl_runtime_create(&config, &rt);
    if (created != MASU_OK) {
        fprintf(stderr, "%s: cannot start the runtime: %s\n", argv[0], masu_status_text(created));
        return tool_trace_end(&trace, TOOL_FAILED);
    }
    tool_trace_places(&trace, rt, place_of, &masu_native_data, argv[0]);
    int status = execute(rt, &report);
    tool_trace_unpublish(&trace);
    tl_runtime_destroy(rt);
    status = tool_trace_end(&trace, status);
    if (getenv("MASU_PLOT")) {
        int drawn = tool_write_plot(config.values_path, config.program, getenv("MASU_PLOT"));
        status = status == TOOL_OK ? drawn : status;
    }
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "%s: cannot write to standard output\n", argv[0]);
    return status == TOOL_OK ? TOOL_FAILED : status;
}
