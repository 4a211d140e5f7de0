/* version_command.c: `masu version`. */
#include <stdio.h>

#include <masu/version.h>

#include "tool/tool.h"

static const char usage[] = "Usage: masu version\n\nPrints the version of the command.\n\n  --help   this text\n";

static int run(int argc, char **argv) {
    if (argc > 1)
        return tool_misuse("version", "`%s` is too much", argv[1]);
    printf("masu %s\n", masu_version());
    return TOOL_OK;
}

const tool_command tool_version = {"version", "print the version", usage, run};
