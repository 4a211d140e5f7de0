/* explain_error_command.c: `masu explain-error`: what a kind of error means and how programs get rid of it. */
#include <stdio.h>
#include <string.h>

#include "base/meta.h"
#include "tool/error_kinds.h"
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
    bool *named = masu__meta_calloc(error_kind_count, sizeof *named);
    masu_diagnostic_info info;
    for (size_t i = 0; named && masu_program_diagnostic(program, i, &info); i++) {
        const error_kind *kind = error_kind_of(info.message);
        if (!kind || named[kind - error_kinds])
            continue;
        named[kind - error_kinds] = true;
        fprintf(stderr, "note: `masu explain-error %s`: %s\n", kind->code, kind->title);
    }
    masu__meta_free(named, error_kind_count * sizeof *named);
}

static int code_lines(void) {
    char line[1024];
    int status = TOOL_OK;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        const error_kind *kind = error_kind_of(line);
        printf("%s %s\n", kind ? kind->code : "-", line);
        status = kind ? status : TOOL_FAILED;
    }
    return tool_finish(status);
}

static int explain(const char *what) {
    const error_kind *kind = error_kind_by_code(what);
    if (!kind && strchr(what, ' '))
        kind = error_kind_of(what);
    if (!kind)
        return tool_misuse("explain-error", "there is no error `%s`", what);
    printf("%s: %s\n\n%s", kind->code, kind->title, kind->text);
    return tool_finish(TOOL_OK);
}

/* In the order of the codes; the table is in the order in which messages are compared. */
static void list_codes(void) {
    const char *last = "";
    for (size_t n = 0; n < error_kind_count; n++) {
        const error_kind *next = NULL;
        for (size_t k = 0; k < error_kind_count; k++) {
            const error_kind *one = &error_kinds[k];
            if (strcmp(one->code, last) > 0 && (!next || strcmp(one->code, next->code) < 0))
                next = one;
        }
        if (!next)
            return;
        printf("%s  %s\n", next->code, next->title);
        last = next->code;
    }
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
