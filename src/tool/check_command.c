/* check_command.c: `masu check`: everything that can be said about programs without running them. Needs no LLVM. */
#include <stdio.h>
#include <string.h>

#include "tool/tool.h"

static const char usage[] =
    "Usage: masu check [OPTIONS] FILE…\n"
    "\n"
    "Reports every error that can be found without running (syntax, names, "
    "types, shapes), and warnings. Silent when there are none.\n"
    "\n"
    "  --library     the files are of the library that masu brings along, and take their place in it\n"
    "  --no-PASS     leave an optional pass out\n"
    "  --dump=WHAT   print ir or after:PASS\n"
    "  -q, --quiet   no warnings when there are no errors\n"
    "  --verify      check the compiler's work after every pass\n"
    "  --help        this text\n"
    "\n"
    "Exit status: 0 no errors, 1 errors, 2 used wrongly.\n";

static const char *const known[] = {"--dump=", "--library", "--verify", "--help", NULL};

static int check_file(const char *path, const tool_compile_flags *flags) {
    masu_compile_options options = tool_compile_options(flags,
                                                        flags->dump_count ? MASU_STAGE_PASSES : MASU_STAGE_CHECK);
    masu_program *program;
    int status = tool_compile(path, &options, flags->quiet, &program);
    if (program && (!flags->quiet || masu_program_error_count(program) > 0))
        tool_name_error_kinds(program);
    masu_program_destroy(program);
    return status;
}

static int parse(int argc, char **argv, tool_compile_flags *flags, int *file_count) {
    bool options_ended = false;
    for (int i = 1; i < argc; i++) {
        bool is_option = !options_ended && argv[i][0] == '-' && argv[i][1] != 0;
        if (is_option && strcmp(argv[i], "--") == 0) {
            options_ended = true;
            continue;
        }
        if (!is_option) {
            argv[(*file_count)++] = argv[i]; /* files move to the front: argv[0] on */
            continue;
        }
        if (!options_ended && strcmp(argv[i], "--library") == 0) {
            flags->library = true;
            continue;
        }
        tool_option taken = tool_compile_option("check", argv[i], flags);
        if (taken == TOOL_OPTION_UNKNOWN)
            return tool_unknown_option("check", argv[i], known);
        if (taken == TOOL_OPTION_WRONG)
            return TOOL_MISUSED;
    }
    return *file_count > 0 ? TOOL_OK : tool_misuse("check", "which file?");
}

static int run(int argc, char **argv) {
    tool_compile_flags flags = {0};
    int file_count = 0;
    int status = parse(argc, argv, &flags, &file_count);
    if (status != TOOL_OK)
        return status;
    for (int i = 0; i < file_count; i++)
        if (check_file(argv[i], &flags) != TOOL_OK)
            status = TOOL_FAILED;
    return status;
}

const tool_command tool_check = {"check", "report every error that can be found without running", usage, run};
