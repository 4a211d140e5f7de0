/* main.c: the `masu` command: finds the subcommand and hands over. */
#include <stdio.h>
#include <string.h>

#include "tool/tool.h"

/* One to a line: the order of the overview. */
const tool_command *const tool_commands[] = {
    &tool_run,     &tool_build,  &tool_check,  &tool_explain, &tool_explain_error, &tool_fmt, &tool_lsp,
    &tool_plan,    &tool_import, &tool_report, &tool_whatif,  &tool_export,        &tool_top, &tool_vmlog,
    &tool_version, &tool_help,   NULL,
};

const tool_command *tool_find_command(const char *name) {
    for (size_t i = 0; tool_commands[i]; i++)
        if (strcmp(tool_commands[i]->name, name) == 0)
            return tool_commands[i];
    return NULL;
}

static int unknown_command(const char *name) {
    const char *known[32] = {NULL};
    for (size_t i = 0; tool_commands[i]; i++)
        known[i] = tool_commands[i]->name;
    const char *near = tool_nearest(name, known);
    fprintf(stderr, "masu: there is no command `%s`", name);
    if (near)
        fprintf(stderr, "; did you mean `%s`?", near);
    fprintf(stderr, "\nTry `masu help`.\n");
    return TOOL_MISUSED;
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fputs("masu: a command is missing\nTry `masu help`.\n", stderr);
        return TOOL_MISUSED;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const tool_command *command = tool_find_command(name);
    if (!command)
        return unknown_command(name);
    if (asks_for_help(argc - 1, argv + 1)) {
        fputs(command->usage, stdout);
        return tool_finish(TOOL_OK);
    }
    return tool_finish(command->run(argc - 1, argv + 1));
}
