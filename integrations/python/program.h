/* program.h: compiled programs as Python sees them.
 *
 *     compile ─► masu build --shared ─► cache ─┐
 *     load ──────────────────────────── dlopen ┴► program ─► Module["step"] ─► function ─► results, Handles
 *
 * A program is one instance of one library: the state of a run. Modules, functions and Handles hold it; the last of
 * them ends it. The library itself stays loaded: results may outlive all of them.
 *
 * What stays true: one thread at a time is inside an instance (its lock), without the interpreter's lock.
 */
#ifndef MASU_PYTHON_PROGRAM_H
#define MASU_PYTHON_PROGRAM_H

#include "commands.h"
#include "masu_python.h"

#include <pthread.h>

#include <masu/module.h>

typedef struct program {
    size_t holds; /* changes under the interpreter's lock */
    const masu_module *table;
    masu_instance *instance;
    pthread_mutex_t lock;
} program;

/* The library at path (a str or path object), loaded, with an instance of its own; NULL with an exception. */
program *masu_py_program_load(module_state *state, PyObject *path, uint64_t seed, const char *what);
program *masu_py_program_hold(program *self);
void masu_py_program_drop(program *self);
/* The number of a function, or -1. name: of `length` bytes, or, with a type, of its part behind "TYPE::". */
int masu_py_program_find(const program *self, const char *type, const char *name);

/* The callable: a built-in function of Python, which has the fast way of calls in every version. bound: NULL, or the
 * Handle that is the first argument. */
PyObject *masu_py_function_new(module_state *state, program *from, uint32_t index, PyObject *bound);

typedef struct handle {
    PyObject_HEAD
    program *from;
    masu_handle *value;
    uint32_t type; /* in from->table->handle_types */
} handle;

/* Takes value over, also on an error. */
PyObject *masu_py_handle_new(module_state *state, program *from, uint32_t type, masu_handle *value);

/* A Module of a program, which it takes over, also on an error. */
PyObject *masu_py_module_new(module_state *state, program *from);

#endif
