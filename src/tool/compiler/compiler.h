/* compiler.h: the commands that need LLVM, in the program masu-compiler (compiling.c starts it). */
#ifndef MASU_TOOL_COMPILER_H
#define MASU_TOOL_COMPILER_H

#include "base/buffer.h"
#include "language/language.h"

/* argv[0] is the subcommand's name; an exit status of tool.h. */
int tool_run_program(int argc, char **argv);
int tool_build_program(int argc, char **argv);

/* ---- module_text.c: each appends to `out` --------------------------------------------------------------------- */

void tool_put_module(const masu_module *module, masu__buffer *out); /* the table, in C */
/* The names that the library exports, for the linker. */
void tool_put_module_symbols(const masu_module *module, masu__buffer *out);
bool tool_is_word_of_c(const char *name); /* C or C++ keep it for themselves: nothing can be called so */
/* calls: of which arena_bytes is the arena's size; NULL: not asked for */
void tool_put_header(const masu_module *module, const char *calls, size_t arena_bytes, masu__buffer *out);

/* Makes the calls in the library's module: *bytes are what an arena for them needs (rehearse.c). False: it has said why
 * not. */
bool tool_rehearse(const char *library, const char *calls, size_t *bytes);

/* ---- weight_files.c: files whose tensors become constants of plain C --------------------------------------------- */

enum { TOOL_MOST_WEIGHTS = 16, TOOL_WEIGHTS_NAME_BYTES = 96 };

typedef struct tool_weights { /* begins as zeros */
    masu_weights given[TOOL_MOST_WEIGHTS];
    char names[TOOL_MOST_WEIGHTS][TOOL_WEIGHTS_NAME_BYTES];
    size_t count;
} tool_weights;

/* NAME=FILE, whose text outlives `all`. TOOL_OK or TOOL_MISUSED, said. */
int tool_add_weights(tool_weights *all, const char *option);
/* False: it has said which file cannot be read. Closed by the caller either way. */
bool tool_open_weights(tool_weights *all);
void tool_close_weights(tool_weights *all);

#endif
