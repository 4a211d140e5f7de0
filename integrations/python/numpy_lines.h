/* numpy_lines.h: which lines of Python asked for the arrays under numpy_handler(lines=True). */
#ifndef MASU_PYTHON_NUMPY_LINES_H
#define MASU_PYTHON_NUMPY_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include <masu/status.h>

/* Before the first count: where NumPy's own files lie, whose lines are passed over. False with an exception. */
bool masu_py_lines_start(void);
/* A block (NULL: none) for the line of Python that runs now. Takes the interpreter's lock; never fails: a block for
 * which there is no memory to note it is not counted. */
void masu_py_lines_allocated(void *block, size_t bytes);
/* Blocks that were not counted are passed over. Any thread. */
void masu_py_lines_freed(void *block);

/* Blocks are recorded into a file from now on, one recording at a time (MASU_ERR_LIMIT_REACHED); statuses of
 * masu_trace_record_to, and of masu_trace_record_end. With the interpreter's lock. */
masu_status masu_py_lines_record(const char *path);
masu_status masu_py_lines_record_end(void);

#endif
