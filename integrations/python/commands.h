/* commands.h: the command `masu`, found and run, and calls of Python's own library. */
#ifndef MASU_PYTHON_COMMANDS_H
#define MASU_PYTHON_COMMANDS_H

#include "masu_python.h"

/* LIBRARY.NAME(…) with arguments as of Py_BuildValue, a tuple. A new reference, or NULL with an exception. */
PyObject *masu_py_call_of(const char *library, const char *name, const char *format, ...);
/* A path as a str. */
PyObject *masu_py_path_text(PyObject *object);
/* The path of the command: given, unless NULL or None; else $MASU; else the first `masu` of $PATH. */
PyObject *masu_py_command(PyObject *given, const char *function);
/* Runs words (a list of str) to its end: *status, and what it printed, two str. False with an exception. */
bool masu_py_run(PyObject *words, long *status, PyObject **out, PyObject **said);
/* masu.Error with the text, its status, and the place that begins the text. Gives NULL. */
PyObject *masu_py_raise(module_state *state, const char *text, const char *status);

#endif
