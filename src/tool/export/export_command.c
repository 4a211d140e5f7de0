/* export_command.c: `masu export`: a recording for spreadsheets and for Perfetto. */
#include "tool/export/export.h"

#include <string.h>

static const char usage[] =
    "Usage: masu export FILE -o OUT [--format csv|perfetto]\n"
    "\n"
    "Writes a recorded run for other programs. FILE is a snapshot of PyTorch's memory, a trace of masu, or a table of\n"
    "requests; - is standard input.\n"
    "\n"
    "  -o OUT            the file to write; - is standard output\n"
    "  --format FORMAT   csv: a line an event. perfetto: counters of what is live, given and reserved, the program's "
    "own marks\n"
    "                    as slices, refused requests with their stack; ui.perfetto.dev opens it. Without it the end "
    "of\n"
    "                    OUT says which: .csv, or .pftrace and .perfetto-trace\n"
    "  --help            this text\n"
    "\n"
    "The columns of a table: event, id (of a block), bytes (as asked for), given_bytes, time_ns, address, device, "
    "stream, pool,\n"
    "place (the stack, innermost first). `masu whatif` reads it again.\n"
    "\n"
    "Exit status: 0; 1 when FILE cannot be read or OUT not be written; 2 when the command line is wrong.\n";

typedef enum format { BY_NAME, TABLE, PERFETTO } format;

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static int write_out(const export_input *in, format as, const char *path) {
    bool to_stdout = strcmp(path, "-") == 0;
    FILE *out = to_stdout ? stdout : fopen(path, "wb");
    if (!out) {
        perror(path);
        return TOOL_FAILED;
    }
    bool whole = as == TABLE ? export_table(in, out) : export_perfetto(in, out);
    bool written = to_stdout ? fflush(out) == 0 && !ferror(out) : fclose(out) == 0;
    if (!whole)
        fprintf(stderr, "masu export: %s\n", masu_status_text(MASU_ERR_OUT_OF_MEMORY));
    else if (!written)
        perror(path);
    return whole && written ? TOOL_OK : TOOL_FAILED;
}

static int export(const char *path, format as, const char *out) {
    masu__recording recording;
    if (!tool_read_recording("export", path, &recording))
        return TOOL_FAILED;
    tool_say_missing("export", path, &recording);
    export_input in = {.recording = &recording};
    masu_status status = masu__lives_find(&recording, &in.lives);
    int result = status == MASU_OK ? write_out(&in, as, out) : TOOL_FAILED;
    if (status != MASU_OK)
        fprintf(stderr, "masu export: %s\n", masu_status_text(status));
    masu__lives_destroy(&in.lives);
    masu__recording_destroy(&recording);
    return result;
}

static int run(int argc, char **argv) {
    static const char *const known[] = {"-o", "--format", NULL};
    const char *path = NULL, *out = NULL, *value;
    format as = BY_NAME;
    for (int i = 1; i < argc; i++) {
        bool missing = false;
        if ((value = tool_option_value("-o", argc, argv, &i, &missing))) {
            out = value;
        } else if (!missing && (value = tool_option_value("--format", argc, argv, &i, &missing))) {
            as = strcmp(value, "csv") == 0 ? TABLE : strcmp(value, "perfetto") == 0 ? PERFETTO : BY_NAME;
            if (as == BY_NAME)
                return tool_misuse("export", "--format: `%s` is neither csv nor perfetto", value);
        } else if (missing) {
            return tool_misuse("export", "%s: a value is missing", argv[i]);
        } else if (argv[i][0] == '-' && argv[i][1]) {
            return tool_unknown_option("export", argv[i], known);
        } else if (path) {
            return tool_misuse("export", "one file at a time, not `%s` as well", argv[i]);
        } else {
            path = argv[i];
        }
    }
    if (!path || !out)
        return tool_misuse("export", path ? "-o OUT is missing" : "a file is missing");
    if (as == BY_NAME)
        as = ends_with(out, ".csv")                                            ? TABLE
             : ends_with(out, ".pftrace") || ends_with(out, ".perfetto-trace") ? PERFETTO
                                                                               : BY_NAME;
    if (as == BY_NAME)
        return tool_misuse(
            "export", "`%s` ends in none of .csv, .pftrace and .perfetto-trace: say --format csv or perfetto", out);
    return export(path, as, out);
}

const tool_command tool_export = {"export", "write a recorded run as CSV or for Perfetto", usage, run};
