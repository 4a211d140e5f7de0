/* explain_error_command.c: `masu explain-error`: what a kind of error means and how programs get rid of it. */
#include <stdio.h>
#include <string.h>

#include "tool/tool.h"

static const char usage[] =
    "Usage: masu explain-error [CODE | MESSAGE | -]\n"
    "\n"
    "Says what a kind of error means, with an example before and after. Without an argument lists "
    "the kinds.\n"
    "\n"
    "  MESSAGE  an error message, as it stands behind `error: `\n"
    "  -        reads messages, one a line, and prints the code of each, `-` where there is none\n"
    "  --help   this text\n"
    "\n"
    "Exit status: 0 fine, 1 a message without a code, 2 there is no such code.\n";

void tool_name_error_kinds(const masu_program *program) {
    masu_diagnostic_info info, before;
    for (size_t i = 0; masu_program_diagnostic(program, i, &info); i++) {
        bool named = info.kind == NULL;
        for (size_t k = 0; k < i && !named && masu_program_diagnostic(program, k, &before); k++)
            named = before.kind == info.kind;
        if (!named)
            fprintf(stderr, "note: `masu explain-error %s`: %s\n", info.kind->code,
                    info.kind->title);
    }
}

static int code_lines(void) {
    char line[1024];
    int status = TOOL_OK;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        const masu_message_kind *kind = masu_message_kind_of_text(line);
        printf("%s %s\n", kind ? kind->code : "-", line);
        status = kind ? status : TOOL_FAILED;
    }
    return tool_finish(status);
}

static int explain(const char *what) {
    const masu_message_kind *kind = masu_message_kind_by_code(what);
    if (!kind && strchr(what, ' '))
        kind = masu_message_kind_of_text(what);
    if (!kind)
        return tool_misuse("explain-error", "there is no error `%s`", what);
    printf("%s: %s\n\n%s", kind->code, kind->title, kind->explanation);
    return tool_finish(TOOL_OK);
}

static void list_codes(void) {
    const masu_message_kind *kind;
    for (size_t n = 0; (kind = masu_message_kind_number(n)) != NULL; n++)
        printf("%s  %s\n", kind->code, kind->title);
}

static int run(int argc, char **argv) {
    if (argc > 2)
        return tool_misuse("explain-error", "one code at a time");
    if (argc == 2)
        return strcmp(argv[1], "-") == 0 ? code_lines() : explain(argv[1]);
    list_codes();
    return tool_finish(TOOL_OK);
}

const tool_command tool_explain_error = {"explain-error", "say what a kind of error means", usage,
                                         run};
