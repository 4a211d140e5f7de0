/* commands.c: the command `masu`, found and run. */
#include "commands.h"

#include <stdarg.h>

PyObject *masu_py_call_of(const char *library, const char *name, const char *format, ...) {
    va_list list;
    va_start(list, format);
    PyObject *arguments = Py_VaBuildValue(format, list);
    va_end(list);
    PyObject *from = arguments ? PyImport_ImportModule(library) : NULL;
    PyObject *function = from ? PyObject_GetAttrString(from, name) : NULL;
    PyObject *outcome = function ? PyObject_CallObject(function, arguments) : NULL;
    Py_XDECREF(function);
    Py_XDECREF(from);
    Py_XDECREF(arguments);
    return outcome;
}

PyObject *masu_py_path_text(PyObject *object) {
    PyObject *text = NULL;
    return PyUnicode_FSDecoder(object, &text) ? text : NULL;
}

PyObject *masu_py_command(PyObject *given, const char *function) {
    if (given && given != Py_None)
        return masu_py_path_text(given);
    PyObject *named = masu_py_call_of("os", "getenv", "(s)", "MASU");
    if (!named || (named != Py_None && PyUnicode_GetLength(named) > 0))
        return named;
    Py_DECREF(named);
    PyObject *found = masu_py_call_of("shutil", "which", "(s)", "masu");
    if (found != Py_None)
        return found;
    Py_DECREF(found);
    return PyErr_Format(PyExc_FileNotFoundError, "%s: there is no `masu` in $PATH; name it by command=, or in $MASU",
                        function);
}

bool masu_py_run(PyObject *words, long *status, PyObject **out, PyObject **said) {
    PyObject *module = PyImport_ImportModule("subprocess"),
             *run = module ? PyObject_GetAttrString(module, "run") : NULL;
    PyObject *arguments = run ? PyTuple_Pack(1, words) : NULL;
    PyObject *options = arguments ? Py_BuildValue("{s:O,s:s,s:s,s:i}", "capture_output", Py_True, "encoding", "utf-8",
                                                  "errors", "replace", "stdin", -3 /* subprocess.DEVNULL */)
                                  : NULL;
    PyObject *ended = options ? PyObject_Call(run, arguments, options) : NULL;
    PyObject *code = ended ? PyObject_GetAttrString(ended, "returncode") : NULL;
    *out = code ? PyObject_GetAttrString(ended, "stdout") : NULL;
    *said = *out ? PyObject_GetAttrString(ended, "stderr") : NULL;
    if (code)
        *status = PyLong_AsLong(code);
    if (!*said)
        Py_CLEAR(*out);
    Py_XDECREF(code);
    Py_XDECREF(ended);
    Py_XDECREF(options);
    Py_XDECREF(arguments);
    Py_XDECREF(run);
    Py_XDECREF(module);
    return *said != NULL;
}
