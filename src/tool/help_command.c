/* help_command.c: `masu help`: the overview, one command's usage, the table of passes. */
#include <stdio.h>
#include <string.h>

#include "tool/tool.h"

static const char usage[] =
    "Usage: masu help [COMMAND]\n"
    "       masu help --passes [--optional]\n"
    "       masu help --operations\n"
    "\n"
    "Prints the overview, or a command's usage.\n"
    "\n"
    "  --passes       instead the compiler's passes in order\n"
    "  --optional     only the names of those that --no-PASS can leave out, one a line\n"
    "  --operations   instead all operations, as docs/operations.md\n"
    "  --help         this text\n";

static int overview(void) {
    printf("masu decides where every tensor of a program lives.\n\nUsage: masu COMMAND [ARGUMENTS]\n\n");
    for (size_t i = 0; tool_commands[i]; i++)
        printf("  %-14s %s\n", tool_commands[i]->name, tool_commands[i]->summary);
    printf("\n`masu COMMAND --help` says more about each.\n\n  --help      this text\n  --version   the version\n");
    return TOOL_OK;
}

static int passes(bool optional_only) {
    size_t count;
    const masu_pass_info *table = masu_passes(&count);
    for (size_t i = 0; i < count; i++) {
        if (optional_only && table[i].optional)
            printf("%s\n", table[i].name);
        else if (!optional_only)
            printf("%-10s %s\n           requires %s; establishes %s%s\n", table[i].name, table[i].summary,
                   table[i].requires, table[i].establishes, table[i].optional ? "; optional" : "");
    }
    return TOOL_OK;
}

static int operations(void) {
    masu_text text;
    masu_status status = masu_operations(&text);
    if (status == MASU_OK)
        fwrite(text.data, 1, text.length, stdout);
    masu_text_free(&text);
    return status == MASU_OK ? TOOL_OK : TOOL_FAILED;
}

static int run(int argc, char **argv) {
    if (argc == 1)
        return overview();
    if (strcmp(argv[1], "--passes") == 0 && argc == 2)
        return passes(false);
    if (strcmp(argv[1], "--passes") == 0 && argc == 3 && strcmp(argv[2], "--optional") == 0)
        return passes(true);
    if (strcmp(argv[1], "--operations") == 0 && argc == 2)
        return operations();
    const tool_command *command = tool_find_command(argv[1]);
    if (!command || argc > 2)
        return tool_misuse("help", "there is no help on `%s`", argv[argc > 2 ? 2 : 1]);
    fputs(command->usage, stdout);
    return TOOL_OK;
}

const tool_command tool_help = {"help", "this overview, or a command's usage", usage, run};
