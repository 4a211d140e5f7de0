/* program.c: libraries that `masu build --shared` made, and the errors of programs. */
#include "program.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <masu/alloc.h>

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* "net.tl:3:14: error: …" begins with a place; the numbers go out, *file_length is that of the path. */
static bool place_of(const char *text, size_t *file_length, long *line, long *column) {
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
        char *end;
        if (colon == text || colon[1] < '1' || colon[1] > '9')
            continue;
        *line = strtol(colon + 1, &end, 10);
        if (*end != ':' || end[1] < '1' || end[1] > '9')
            continue;
        *column = strtol(end + 1, &end, 10);
        if (*end != ':')
            continue;
        *file_length = (size_t)(colon - text);
        return !memchr(text, '\n', *file_length);
    }
    return false;
}

static int set_attribute(PyObject *object, const char *name, PyObject *value) {
    int status = value ? PyObject_SetAttrString(object, name, value) : -1;
    Py_XDECREF(value);
    return status;
}

PyObject *masu_py_raise(module_state *state, const char *text, const char *status) {
    size_t length = strlen(text), file_length = 0;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    long line = 0, column = 0;
    bool placed = place_of(text, &file_length, &line, &column);
    PyObject *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    PyObject *error = words ? PyObject_CallFunctionObjArgs(state->error, words, NULL) : NULL;
    Py_XDECREF(words);
    if (!error)
        return NULL;
    PyObject *file = placed ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)file_length, "replace") : Py_NewRef(Py_None);
    if (set_attribute(error, "file", file) == 0 &&
        set_attribute(error, "line", placed ? PyLong_FromLong(line) : Py_NewRef(Py_None)) == 0 &&
        set_attribute(error, "column", placed ? PyLong_FromLong(column) : Py_NewRef(Py_None)) == 0 &&
        set_attribute(error, "status", PyUnicode_FromString(status)) == 0)
        PyErr_SetObject(state->error, error);
    Py_DECREF(error);
    return NULL;
}

/* ---- libraries --------------------------------------------------------------------------------------------------- */

/* NULL with an exception. Never closed again: results may outlive whoever loaded it. */
static const masu_module *table_at(PyObject *path, const char *what) {
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    const char *name = PyBytes_AsString(bytes); /* with a slash: never one of the system's folders */
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const masu_module *table = library ? dlsym(library, MASU_MODULE_SYMBOL) : NULL;
    const char *why = table ? NULL : dlerror();
    if (!table)
        PyErr_Format(PyExc_OSError, "%s: %s", what, why ? why : "the library has no table of functions");
    else if (table->version != MASU_MODULE_VERSION || table->struct_bytes < sizeof *table) {
        PyErr_Format(PyExc_OSError, "%s: %s has the table of version %u, known is %u: build it again", what, name,
                     table->version, MASU_MODULE_VERSION);
        table = NULL;
    }
    Py_DECREF(bytes);
    return table;
}

program *masu_py_program_load(module_state *state, PyObject *path, uint64_t seed, const char *what) {
    const masu_module *table = table_at(path, what);
    if (!table)
        return NULL;
    program *self = masu_alloc(sizeof *self);
    if (!self) {
        PyErr_NoMemory();
        return NULL;
    }
    *self = (program){.holds = 1, .table = table};
    pthread_mutex_init(&self->lock, NULL);
    masu_instance_options options = {.struct_bytes = sizeof options, .seed = seed};
    masu_status status = table->create(table, seed ? &options : NULL, &self->instance);
    if (status == MASU_OK)
        return self;
    (void)state;
    masu_py_refuse(status, what);
    masu_py_program_drop(self);
    return NULL;
}

program *masu_py_program_hold(program *self) {
    self->holds++;
    return self;
}

void masu_py_program_drop(program *self) {
    if (--self->holds > 0)
        return;
    if (self->instance)
        self->table->destroy(self->instance);
    pthread_mutex_destroy(&self->lock);
    (void)masu_free(self, sizeof *self);
}

int masu_py_program_find(const program *self, const char *type, const char *name) {
    size_t length = type ? strlen(type) : 0;
    for (uint32_t i = 0; i < self->table->function_count; i++) {
        const char *candidate = self->table->functions[i].name;
        if (type) {
            if (strncmp(candidate, type, length) || strncmp(candidate + length, "::", 2))
                continue;
            candidate += length + 2;
        }
        if (!strcmp(candidate, name))
            return (int)i;
    }
    return -1;
}
