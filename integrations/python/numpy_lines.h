/* numpy_lines.h: which lines of Python asked for the arrays under numpy_handler(lines=True). */
#ifndef MASU_PYTHON_NUMPY_LINES_H
#define MASU_PYTHON_NUMPY_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Before the first count: where NumPy's own files lie, whose lines are passed over. False with an exception. */
bool masu_py_lines_start(void);
/* A block (NULL: none) for the line of Python that runs now. Takes the interpreter's lock; never fails: a block for which
 * there is no memory to note it is not counted. */
void masu_py_lines_allocated(void *block, size_t bytes);
/* What was not counted is passed over. Any thread. */
void masu_py_lines_freed(void *block);

#endif
