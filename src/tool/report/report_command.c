/* report_command.c: `masu report`: what a recorded run did with its memory. */
#include <stdio.h>
#include <string.h>

#include "tool/report/report.h"
#include "tool/tool.h"

static const char usage[] =
    "Usage: masu report FILE [--text | --json | -o OUT.html] [--diff OTHER]\n"
    "\n"
    "Says what the run recorded in FILE did with its memory: what the peak was made of, by line of the source, what is "
    "fragmented,\n"
    "what was never given back. FILE is a trace (`masu run --trace FILE`, MASU_TRACE=FILE) or a snapshot of PyTorch\n"
    "(torch.cuda.memory._dump_snapshot). - is standard input.\n"
    "\n"
    "  -o OUT.html    one page with everything in it: memory over time, the map of addresses, tables to search\n"
    "  --text         to standard output, which is what happens without -o\n"
    "  --json         the same facts as one JSON object\n"
    "  --diff OTHER   a second run beside it\n"
    "  --help         this text\n"
    "\n"
    "Exit status: 0 fine, 1 a file is not a recording or cannot be read, 2 used wrongly.\n";

typedef enum form { FORM_TEXT, FORM_JSON, FORM_HTML } form;

typedef struct report_options {
    const char *path, *other, *output;
    form form;
} report_options;

typedef struct run_file {
    masu__recording recording;
    report_facts facts;
    bool is_there;
} run_file;

static int fail(const char *path, const char *why) {
    fprintf(stderr, "masu report: %s: %s\n", path, why);
    return TOOL_FAILED;
}

static int read_run(const char *path, run_file *out) {
    if (!tool_read_recording("report", path, &out->recording))
        return TOOL_FAILED;
    masu_status status = report_find_facts(&out->recording, path, &out->facts);
    out->is_there = status == MASU_OK;
    if (out->is_there)
        return TOOL_OK;
    masu__recording_destroy(&out->recording);
    return fail(path, masu_status_text(status));
}

static void forget(run_file *run) {
    if (!run->is_there)
        return;
    report_destroy_facts(&run->facts);
    masu__recording_destroy(&run->recording);
}

static int write_out(const masu__buffer *text, const char *path) {
    if (text->failed)
        return fail(path ? path : "report", "out of memory");
    FILE *out = path ? fopen(path, "wb") : stdout;
    if (!out) {
        perror(path);
        return TOOL_FAILED;
    }
    bool whole = fwrite(masu__buffer_text(text), 1, text->length, out) == text->length;
    if (path && fclose(out) != 0)
        whole = false;
    if (whole)
        return TOOL_OK;
    return fail(path ? path : "standard output", "writing failed");
}

static int report(const report_options *options) {
    run_file runs[2] = {{.is_there = false}, {.is_there = false}};
    int status = read_run(options->path, &runs[0]);
    if (status == TOOL_OK && options->other)
        status = read_run(options->other, &runs[1]);
    if (status == TOOL_OK) {
        static void (*const forms[])(masu__buffer *, const report_facts *, const report_facts *) = {
            [FORM_TEXT] = report_text, [FORM_JSON] = report_json, [FORM_HTML] = report_html};
        masu__buffer text = {0}, missing = {0};
        forms[options->form](&text, &runs[0].facts, options->other ? &runs[1].facts : NULL);
        report_say_whole(&missing, &runs[0].facts);
        if (missing.length && options->form != FORM_TEXT)
            fprintf(stderr, "masu report: %s: %s\n", options->path, masu__buffer_text(&missing));
        status = write_out(&text, options->output);
        masu__buffer_destroy(&text);
        masu__buffer_destroy(&missing);
    }
    forget(&runs[0]);
    forget(&runs[1]);
    return status;
}

static int take_form(report_options *options, form form, bool *is_set) {
    if (*is_set && options->form != form)
        return tool_misuse("report", "one of --text, --json and -o at a time");
    options->form = form;
    *is_set = true;
    return TOOL_OK;
}

static int take_argument(int argc, char **argv, int *i, report_options *options, bool *form_set) {
    static const char *const known[] = {"-o", "--text", "--json", "--diff", "--help", NULL};
    bool missing = false;
    const char *argument = argv[*i], *value;
    if ((value = tool_option_value("-o", argc, argv, i, &missing))) {
        options->output = value;
        return take_form(options, FORM_HTML, form_set);
    }
    if ((value = tool_option_value("--diff", argc, argv, i, &missing))) {
        options->other = value;
        return TOOL_OK;
    }
    if (missing)
        return tool_misuse("report", "%s: a file name is missing", argument);
    if (strcmp(argument, "--text") == 0)
        return take_form(options, FORM_TEXT, form_set);
    if (strcmp(argument, "--json") == 0)
        return take_form(options, FORM_JSON, form_set);
    if (argument[0] == '-' && argument[1])
        return tool_unknown_option("report", argument, known);
    if (options->path)
        return tool_misuse("report", "one file at a time, not `%s` as well: --diff %s shows two", argument, argument);
    options->path = argument;
    return TOOL_OK;
}

static int run(int argc, char **argv) {
    report_options options = {0};
    bool form_set = false;
    for (int i = 1; i < argc; i++) {
        int status = take_argument(argc, argv, &i, &options, &form_set);
        if (status != TOOL_OK)
            return status;
    }
    if (!options.path)
        return tool_misuse("report", "a file is missing");
    return report(&options);
}

const tool_command tool_report = {"report", "what a recorded run did with its memory", usage, run};
