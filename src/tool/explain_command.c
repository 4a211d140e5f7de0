/* explain_command.c: `masu explain`: the source with what happens to its tensors in the margin. */
#include <stdio.h>
#include <string.h>

#include "tool/tool.h"

static const char usage[] =
    "Usage: masu explain [OPTIONS] FILE\n"
    "\n"
    "Prints what FILE costs in memory: totals, then beside each line how many tensors it makes and where "
    "they lie, how many\n"
    "counts it needs, and how many values die there.\n"
    "\n"
    "  --verbose     in words: which value, where it lies and why; then frames, values and passes\n"
    "  --json        as one JSON object: functions with slots, lower bound and counts; events by line\n"
    "  --html        as a page for the browser\n"
    "  --no-PASS     leave an optional pass out and see what it was good for\n"
    "  --dump=WHAT   print ir or after:PASS first\n"
    "  -q, --quiet   no warnings when there are no errors\n"
    "  --verify      check the compiler's work after every pass\n"
    "  --help        this text\n"
    "\n"
    "Exit status: 0 fine, 1 the program is wrong, 2 used wrongly.\n";

static const char *const known[] = {"--json", "--html", "--verbose", "--dump=", "--verify", "--help", NULL};

static int explain(const char *path, const tool_compile_flags *flags, masu_explain_form form) {
    masu_compile_options options = tool_compile_options(flags, MASU_STAGE_PASSES);
    masu_program *program;
    int status = tool_compile(path, &options, flags->quiet, &program);
    if (status == TOOL_OK)
        fputs(masu_program_explain(program, form), stdout);
    masu_program_destroy(program);
    return status;
}

static int run(int argc, char **argv) {
    tool_compile_flags flags = {0};
    const char *path = NULL;
    masu_explain_form form = MASU_EXPLAIN_SHORT;
    for (int i = 1; i < argc; i++) {
        bool is_option = argv[i][0] == '-' && argv[i][1] != 0;
        if (!is_option && path)
            return tool_misuse("explain", "one file at a time: `%s` is too many", argv[i]);
        if (!is_option) {
            path = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "--html") == 0) {
            form = argv[i][2] == 'j' ? MASU_EXPLAIN_JSON : MASU_EXPLAIN_HTML;
            continue;
        }
        if (strcmp(argv[i], "--verbose") == 0) {
            form = MASU_EXPLAIN_TEXT;
            continue;
        }
        tool_option taken = tool_compile_option("explain", argv[i], &flags);
        if (taken == TOOL_OPTION_UNKNOWN)
            return tool_unknown_option("explain", argv[i], known);
        if (taken == TOOL_OPTION_WRONG)
            return TOOL_MISUSED;
    }
    return path ? explain(path, &flags, form) : tool_misuse("explain", "which file?");
}

const tool_command tool_explain = {"explain", "show where each tensor lives, beside the source", usage, run};
