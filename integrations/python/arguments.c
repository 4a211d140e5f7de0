/* arguments.c: what the caller of a function gave, by name; and the words that all functions share. */
#include "masu_python.h"

static Py_ssize_t parameter_named(const char *const *parameters, PyObject *name) {
    for (Py_ssize_t i = 0; parameters[i]; i++)
        if (PyUnicode_CompareWithASCIIString(name, parameters[i]) == 0)
            return i;
    return -1;
}

bool masu_py_arguments(const char *function, const char *const *parameters, Py_ssize_t positional, Py_ssize_t required,
                       PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **out) {
    if (count > positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes %zd argument%s by place, not %zd", function, positional,
                     positional == 1 ? "" : "s", count);
        return false;
    }
    for (Py_ssize_t i = 0; parameters[i]; i++)
        out[i] = i < count ? args[i] : NULL;
    for (Py_ssize_t i = 0, named = names ? PyTuple_Size(names) : 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        Py_ssize_t at = parameter_named(parameters, name);
        if (at < 0 || out[at]) {
            PyErr_Format(PyExc_TypeError, at < 0 ? "%s() has no argument '%U'" : "%s() was given '%U' twice", function,
                         name);
            return false;
        }
        out[at] = args[count + i];
    }
    for (Py_ssize_t i = 0; i < required; i++)
        if (!out[i]) {
            PyErr_Format(PyExc_TypeError, "%s() needs the argument '%s'", function, parameters[i]);
            return false;
        }
    return true;
}

bool masu_py_copying(PyObject *object, const char *what, copying *out) {
    if (!object || object == Py_None)
        *out = COPY_WHEN_NEEDED;
    else if (object == Py_True || object == Py_False)
        *out = object == Py_True ? COPY_ALWAYS : COPY_NEVER;
    else {
        PyErr_Format(PyExc_TypeError, "%s: copy is True, False or None, not %R", what, object);
        return false;
    }
    return true;
}
