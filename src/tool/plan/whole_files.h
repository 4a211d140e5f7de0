/* whole_files.h: files that appear whole or not at all. */
#ifndef MASU_TOOL_PLAN_FILES_H
#define MASU_TOOL_PLAN_FILES_H

#include <stddef.h>

#include "base/buffer.h"

enum { PLAN_MOST_FILES = 4 };

typedef struct plan_file {
    const char *path; /* "-": standard output; NULL: not wanted */
    masu__buffer text;
} plan_file;

/* Writes all of them, PLAN_MOST_FILES at most, or says why not and leaves what stood there before; the texts are freed. A
 * file is written beside its path and then renamed; any but a regular file (a pipe, a device) is
 * written as it is. TOOL_OK or TOOL_FAILED. */
int plan_write_files(plan_file *files, size_t count);

#endif
