/* tool.h: what the subcommands of `masu` share.
 *
 *     main.c ─► one file a subcommand ─► language (compile) ─► runtime (run)
 *                    └─ options.c, input.c, text.c
 *
 * Exit status of every subcommand: TOOL_OK, TOOL_FAILED (the program or the input is wrong), TOOL_MISUSED
 * (the command line is wrong). Errors go to standard error; standard output carries results only.
 */
#ifndef MASU_TOOL_H
#define MASU_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/language.h"

enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_MISUSED = 2 };

typedef struct tool_command {
    const char *name;
    const char *summary;               /* one line */
    const char *usage;                 /* what `--help` prints */
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name */
} tool_command;

extern const tool_command tool_run, tool_build, tool_check, tool_explain, tool_explain_error, tool_fmt, tool_lsp,
    tool_plan, tool_import, tool_report, tool_vmlog, tool_whatif, tool_export, tool_top, tool_version, tool_help;

/* Names the kinds of the program's errors on standard error: one line each for `masu explain-error`. */
void tool_name_error_kinds(const masu_program *program);

/* All of them, in the order of the overview; NULL ends the list. */
extern const tool_command *const tool_commands[];
const tool_command *tool_find_command(const char *name);

/* ---- options that compile (options.c) --------------------------------------------------------------------- */

enum { TOOL_MOST_NAMES = 32 };

typedef struct tool_compile_flags {
    const char *disabled[TOOL_MOST_NAMES];
    size_t disabled_count;
    const char *dumps[TOOL_MOST_NAMES];
    size_t dump_count;
    bool verify;
    bool quiet;   /* -q: no warnings when there are no errors */
    bool library; /* masu check --library */
} tool_compile_flags;

typedef enum tool_option { TOOL_OPTION_TAKEN, TOOL_OPTION_UNKNOWN, TOOL_OPTION_WRONG } tool_option;

/* --no-PASS, --dump=WHAT, --verify, -q. WRONG: the complaint has been printed. */
tool_option tool_compile_option(const char *command, const char *argument, tool_compile_flags *flags);
masu_compile_options tool_compile_options(const tool_compile_flags *flags, masu_stage until);

/* When argument is `name` followed by = or by the next argument: its value, *index moved past it; NULL otherwise.
 * *missing is set when the value is not there. */
const char *tool_option_value(const char *name, int argc, char **argv, int *index, bool *missing);

/* Prints "masu COMMAND: what" and where help is; returns TOOL_MISUSED. */
int tool_misuse(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for an unknown option, with the nearest of known[] (NULL ends it) suggested. */
int tool_unknown_option(const char *command, const char *argument, const char *const *known);
/* The nearest name within a third of its length, NULL when none is near. */
const char *tool_nearest(const char *name, const char *const *known);

/* ---- input (input.c) ---------------------------------------------------------------------------------------- */

typedef struct tool_text {
    char *data; /* owned; length bytes and a zero */
    size_t length;
    size_t capacity;
} tool_text;

/* Reads a whole file, "-" is standard input. On failure prints why and returns false. */
bool tool_read(const char *path, tool_text *out);
void tool_text_free(tool_text *text);

/* Reads a recording: a snapshot of PyTorch, a trace, a table of requests. On failure says why and returns false; *out
 * needs no destroy then. */
struct masu__recording;
struct masu__buffer;
/* The same of bytes that are there: *why says what is wrong, where that is known. */
masu_status tool_parse_recording(const char *data, size_t length, struct masu__recording *out,
                                 struct masu__buffer *why);
bool tool_read_recording(const char *command, const char *path, struct masu__recording *out);
/* A note to standard error where the recording ends too early, and how many events it lacks; nothing of one that is
 * whole. */
void tool_say_missing(const char *command, const char *path, const struct masu__recording *recording);

bool tool_is_file(const char *path);
/* A file that belongs to the command: beside this executable, or in `folder` of the prefix that it is installed in.
 * False: there is none, or its path is longer than `bytes`. */
bool tool_find_file(const char *name, const char *folder, char *path, size_t bytes);

/* Reads and compiles; prints dumps to standard output and diagnostics to standard error (quiet: not the warnings of a
 * program without errors). *out is set unless the file could not be read or memory ran out; the caller destroys it.
 * Returns TOOL_OK or TOOL_FAILED. */
int tool_compile(const char *path, const masu_compile_options *options, bool quiet, masu_program **out);

/* Flushes standard output; says so and returns TOOL_FAILED when it could not be written, status otherwise. */
int tool_finish(int status);

#endif
