/* whole_files.h: files that appear whole or not at all. */
#ifndef MASU_TOOL_WHOLE_FILES_H
#define MASU_TOOL_WHOLE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum { TOOL_MOST_FILES = 4 };

typedef struct tool_file {
    const char *path; /* "-": standard output; NULL: not wanted */
    masu__buffer text;
} tool_file;

/* Writes all of them, TOOL_MOST_FILES at most, or says why not and leaves what stood there before; the texts are freed.
 * A file is written beside its path and then renamed; any but a regular file (a pipe, a device) is written as it is.
 * TOOL_OK or TOOL_FAILED, said in the name of `masu COMMAND`. */
int tool_write_files(const char *command, tool_file *files, size_t count);

/* Whether writing to one would write over the other. Pipes and devices never do. */
bool tool_is_same_file(const char *one, const char *other);

#endif
