/* recordings.c: what the commands `masu report` and `masu whatif` say of a recorded run, as objects of Python. */
#include "masu_python.h"

#include "commands.h"

static PyObject *json_of(module_state *state, PyObject *words) {
    PyObject *out = NULL, *said = NULL;
    long status = -1;
    if (!masu_py_run(words, &status, &out, &said))
        return NULL;
    PyObject *made = NULL;
    const char *text = PyUnicode_AsUTF8AndSize(said, NULL);
    if (status == 0)
        made = masu_py_call_of("json", "loads", "(O)", out);
    else if (text)
        masu_py_raise(state, *text ? text : "the command ended without a word", "MASU_ERR_IO");
    Py_DECREF(out);
    Py_DECREF(said);
    return made;
}

/* The command, its name, --json, `words` (taken over), the file. */
static PyObject *asked(PyObject *module, const char *name, PyObject *path, PyObject *command, PyObject *words) {
    PyObject *file = words ? masu_py_path_text(path) : NULL;
    PyObject *program = file ? masu_py_command(command, name) : NULL;
    PyObject *head = program ? Py_BuildValue("[Oss]", program, name, "--json") : NULL;
    PyObject *more = head ? PySequence_Concat(head, words) : NULL;
    PyObject *made = more && PyList_Append(more, file) == 0 ? json_of(masu_py_state(module), more) : NULL;
    Py_XDECREF(more);
    Py_XDECREF(head);
    Py_XDECREF(program);
    Py_XDECREF(file);
    Py_XDECREF(words);
    return made;
}

PyObject *masu_py_call_report(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    static const char *const parameters[] = {"path", "command", NULL};
    PyObject *given[2];
    if (!masu_py_arguments("report", parameters, 1, 1, args, count, names, given))
        return NULL;
    return asked(module, "report", given[0], given[1], PyList_New(0));
}

PyObject *masu_py_call_whatif(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    static const char *const parameters[] = {"path", "limit", "command", NULL};
    PyObject *given[3];
    if (!masu_py_arguments("whatif", parameters, 1, 1, args, count, names, given))
        return NULL;
    PyObject *words = PyList_New(0);
    if (words && given[1] && given[1] != Py_None) {
        Py_DECREF(words);
        PyObject *bytes = PyNumber_Index(given[1]), *text = bytes ? PyObject_Str(bytes) : NULL;
        if (!text && PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "whatif: limit is a number of bytes, not %R", given[1]);
        words = text ? Py_BuildValue("[sO]", "--limit", text) : NULL;
        Py_XDECREF(text);
        Py_XDECREF(bytes);
    }
    return asked(module, "whatif", given[0], given[2], words);
}
