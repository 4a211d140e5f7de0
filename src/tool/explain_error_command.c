/* explain_error_command.c: `masu explain-error`: what a kind of error means and how programs get rid of it. */
#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"
#include "tool/tool.h"

static const char usage[] =
    "Usage: masu explain-error [CODE | MESSAGE | - | --all]\n"
    "\n"
    "Says what a kind of error means, with an example before and after. Without an argument lists the kinds.\n"
    "\n"
    "  MESSAGE  an error message, as it follows `error: `\n"
    "  -        reads messages, one a line, and prints the code of each, `-` where there is none\n"
    "  --all    every kind with its messages: docs/errors.md\n"
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
            fprintf(stderr, "note: `masu explain-error %s`: %s\n", info.kind->code, info.kind->title);
    }
}

/* The kind of a message of the compiler, or of a running program. */
static const masu_message_kind *kind_of_text(const char *message) {
    size_t most;
    const masu_message_kind *best = masu_message_kind_of_text(message, &most);
    const tl_error_kind *kind;
    for (unsigned row = 1; (kind = tl_error_kind_of(row)) != NULL; row++) {
        size_t letters = masu_message_letters(kind->format, message);
        if (letters > most) {
            most = letters;
            best = masu_message_kind_by_code(kind->code);
        }
    }
    return best;
}

/* A format as a person reads it: `…` for what differs. */
static void put_format(const char *format) {
    while (*format) {
        size_t plain = strcspn(format, "%");
        printf("%.*s", (int)plain, format);
        format += plain;
        if (*format == 0)
            return;
        fputs("…", stdout);
        format += strcspn(format, "diusgfc") + 1;
    }
}

static int put_all(void) {
    const masu_message_kind *kind;
    const tl_error_kind *run;
    const char *format;
    puts(
        "# Errors and warnings\n\n"
        "Everything that `masu` says about a program, by its code; `masu explain-error CODE` "
        "prints one of them. `…` is what\n"
        "differs from place to place. Written by `masu explain-error --all`.");
    for (size_t n = 0; (kind = masu_message_kind_number(n)) != NULL; n++) {
        printf("\n## %s: %s\n\n```text\n%s```\n\n", kind->code, kind->title, kind->explanation);
        for (size_t k = 0; (format = masu_message_format_number(kind, k)) != NULL; k++) {
            fputs("* ", stdout);
            put_format(format);
            putchar('\n');
        }
        for (unsigned row = 1; (run = tl_error_kind_of(row)) != NULL; row++) {
            if (strcmp(run->code, kind->code) != 0)
                continue;
            fputs("* while it runs: ", stdout);
            put_format(run->format);
            putchar('\n');
        }
    }
    return tool_finish(TOOL_OK);
}

static int code_lines(void) {
    char line[1024];
    int status = TOOL_OK;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        const masu_message_kind *kind = kind_of_text(line);
        printf("%s %s\n", kind ? kind->code : "-", line);
        status = kind ? status : TOOL_FAILED;
    }
    return tool_finish(status);
}

static int explain(const char *what) {
    const masu_message_kind *kind = masu_message_kind_by_code(what);
    if (!kind && strchr(what, ' '))
        kind = kind_of_text(what);
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
        return strcmp(argv[1], "-") == 0 ? code_lines() : strcmp(argv[1], "--all") == 0 ? put_all() : explain(argv[1]);
    list_codes();
    return tool_finish(TOOL_OK);
}

const tool_command tool_explain_error = {"explain-error", "say what a kind of error means", usage, run};
