/* run_end.h: how a run ends, for `masu run` and for executables (native/native_main.c). */
#ifndef MASU_TOOL_REPORT_H
#define MASU_TOOL_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "language/language.h"
#include "runtime/runtime.h"

enum { TOOL_DEFAULT_SEED = 8 };

typedef enum tool_report_form { TOOL_REPORT_NONE, TOOL_REPORT_TEXT, TOOL_REPORT_JSON } tool_report_form;

typedef struct tool_report_options {
    tool_report_form form;
    bool by_line;
    tl_report_line *lines; /* by_line, in the order of the places; owned by who made them */
    size_t line_count, line_room;
    const char *path; /* NULL: standard output for text, standard error for JSON */
} tool_report_options;

/* Writes it; says so when that fails. TOOL_OK or TOOL_FAILED. */
int tool_write_report(tl_runtime *rt, const tool_report_options *options);
/* Where a site lies; path NULL: in the file that was compiled. False: nowhere that is shown. */
typedef bool tool_place(const void *program, uint32_t site, masu_place_info *out);
/* Fills lines from what the program counted. False: no memory. */
bool tool_lines(tl_runtime *rt, const void *program, tool_place *place_of, tool_report_options *options);
void tool_lines_free(tool_report_options *options);
/* The hostile sweep: the nth request for memory from now on fails, n from MASU_FAIL_AT. */
void tool_arm_failure(void);
/* A whole number, digits only. */
bool tool_number(const char *text, uint64_t *out);

/* A raised error as the language shows it. Borrows from it. */
masu_run_error tool_run_error(const tl_error *error);

/* The warning about a history that grew to so many operations. */
const char *tool_history_text(uint32_t operations, char text[128]);

/* To be called first by a command that runs programs. Where the process may have only so many addresses (ulimit -v), a
 * thread of OpenBLAS that finds none waits for ever, and so would the end of the process, which waits for that thread:
 * the process then ends behind its own handlers and without those of libraries, and under a small limit products use
 * one thread. */
void tool_prepare_end(void);

#endif
