/* program_types.c: a compiled program as a mapping from names to functions, and the values of its structs as
 * Handles. */
#include "program.h"

#include <string.h>

typedef struct module {
    PyObject_HEAD
    program *from;
    module_state *state;
    PyObject *functions; /* a dict of those that were asked for */
} module;

/* ---- Module ------------------------------------------------------------------------------------------------------ */

PyObject *masu_py_module_new(module_state *state, program *from) {
    PyObject *functions = PyDict_New();
    module *self = functions ? PyObject_New(module, state->module_type) : NULL;
    if (!self) {
        Py_XDECREF(functions);
        masu_py_program_drop(from);
        return NULL;
    }
    self->from = from;
    self->state = state;
    self->functions = functions;
    return (PyObject *)self;
}

/* The names that are there, for an error. */
static PyObject *names_of(const program *from) {
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < from->table->function_count; i++) {
        PyObject *name = PyUnicode_FromString(from->table->functions[i].name);
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *refuse_name(const program *from, PyObject *name) {
    PyObject *names = names_of(from);
    if (names)
        PyErr_Format(PyExc_KeyError, "%R is not a public function of %s, which has %R", name, from->table->source,
                     names);
    Py_XDECREF(names);
    return NULL;
}

static PyObject *module_subscript(PyObject *object, PyObject *name) {
    module *self = (module *)object;
    PyObject *known = PyDict_GetItemWithError(self->functions, name);
    if (known || PyErr_Occurred())
        return known ? Py_NewRef(known) : NULL;
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    int index = text ? masu_py_program_find(self->from, NULL, text) : -1;
    if (index < 0)
        return PyErr_Occurred() ? NULL : refuse_name(self->from, name);
    PyObject *made = masu_py_function_new(self->state, self->from, (uint32_t)index, NULL);
    if (made && PyDict_SetItem(self->functions, name, made) < 0)
        Py_CLEAR(made);
    return made;
}

static Py_ssize_t module_length(PyObject *object) {
    return ((module *)object)->from->table->function_count;
}

static int module_contains(PyObject *object, PyObject *name) {
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!text)
        return PyErr_Occurred() ? -1 : 0;
    return masu_py_program_find(((module *)object)->from, NULL, text) >= 0;
}

static PyObject *module_keys(PyObject *object, PyObject *unused) {
    (void)unused;
    return names_of(((module *)object)->from);
}

static PyObject *module_iterate(PyObject *object) {
    PyObject *names = names_of(((module *)object)->from), *iterator = names ? PyObject_GetIter(names) : NULL;
    Py_XDECREF(names);
    return iterator;
}

static PyObject *module_source(PyObject *object, void *unused) {
    (void)unused;
    return PyUnicode_DecodeFSDefault(((module *)object)->from->table->source);
}

static PyObject *module_repr(PyObject *object) {
    const masu_module *table = ((module *)object)->from->table;
    return PyUnicode_FromFormat("<masu.Module %s of %u function%s>", table->source, table->function_count,
                                table->function_count == 1 ? "" : "s");
}

/* Its functions hold the program, never the Module: there is no cycle through it. */
static void module_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_DECREF(((module *)object)->functions);
    masu_py_program_drop(((module *)object)->from);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

static PyMethodDef module_methods[] = {
    {"keys", module_keys, METH_NOARGS, "keys($self, /)\n--\n\nThe names of its functions."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef module_properties[] = {
    {"source", module_source, NULL, "Path of the program, as it was compiled.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot module_slots[] = {
    {Py_tp_doc, "A compiled program with a state of its own: module[\"name\"] is a public function of it."},
    {Py_tp_dealloc, module_dealloc},
    {Py_tp_repr, module_repr},
    {Py_tp_iter, module_iterate},
    {Py_tp_methods, module_methods},
    {Py_tp_getset, module_properties},
    {Py_mp_subscript, module_subscript},
    {Py_mp_length, module_length},
    {Py_sq_contains, module_contains},
    {0, NULL},
};

static PyType_Spec module_spec = {
    .name = "masu.Module",
    .basicsize = sizeof(module),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = module_slots,
};

/* ---- Handle ------------------------------------------------------------------------------------------------------ */

PyObject *masu_py_handle_new(module_state *state, program *from, uint32_t type, masu_handle *value) {
    handle *self = PyObject_New(handle, state->handle_of_program);
    if (!self) {
        from->table->handle_drop(value);
        return NULL;
    }
    self->from = masu_py_program_hold(from);
    self->value = value;
    self->type = type;
    return (PyObject *)self;
}

static const char *type_name(const handle *self) {
    return self->from->table->handle_types[self->type].name;
}

/* A method that takes the Handle first is one of its own: net.step(x) is module["Net::step"](net, x). */
static PyObject *handle_attribute(PyObject *object, PyObject *name) {
    PyObject *found = PyObject_GenericGetAttr(object, name);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    handle *self = (handle *)object;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    int index = text ? masu_py_program_find(self->from, type_name(self), text) : -1;
    const masu_function *what = index < 0 ? NULL : &self->from->table->functions[index];
    if (!what || what->parameter_count == 0 || what->parameters[0].kind != MASU_KIND_HANDLE ||
        what->parameters[0].handle_type != self->type)
        return NULL;
    PyErr_Clear();
    return masu_py_function_new(PyType_GetModuleState(Py_TYPE(object)), self->from, (uint32_t)index, object);
}

static PyObject *handle_copy(PyObject *object, PyObject *unused) {
    (void)unused;
    handle *self = (handle *)object;
    module_state *state = PyType_GetModuleState(Py_TYPE(object));
    masu_handle *copy = NULL;
    PyThreadState *thread = PyEval_SaveThread(); /* the instance's lock may be another thread's for long */
    pthread_mutex_lock(&self->from->lock);
    masu_status status = self->from->table->handle_clone(self->value, &copy);
    pthread_mutex_unlock(&self->from->lock);
    PyEval_RestoreThread(thread);
    return status == MASU_OK ? masu_py_handle_new(state, self->from, self->type, copy)
                             : masu_py_refuse(status, "Handle.__copy__");
}

static PyObject *handle_type(PyObject *object, void *unused) {
    (void)unused;
    return PyUnicode_FromString(type_name((handle *)object));
}

static PyObject *handle_repr(PyObject *object) {
    const handle *self = (handle *)object;
    return PyUnicode_FromFormat("<masu.Handle of a %s of %s>", type_name(self), self->from->table->source);
}

static void handle_dealloc(PyObject *object) {
    handle *self = (handle *)object;
    PyTypeObject *type = Py_TYPE(object);
    self->from->table->handle_drop(self->value);
    masu_py_program_drop(self->from);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

static PyMethodDef handle_methods[] = {
    {"__copy__", handle_copy, METH_NOARGS,
     "__copy__($self, /)\n--\n\nAnother Handle of the same value; what one changes the other keeps."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef handle_properties[] = {
    {"type", handle_type, NULL, "The name of its struct or enum in the program.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot handle_slots[] = {
    {Py_tp_doc,
     "A value of a compiled program's struct or enum. Public methods of the type are methods of the Handle."},
    {Py_tp_dealloc, handle_dealloc},
    {Py_tp_repr, handle_repr},
    {Py_tp_getattro, handle_attribute},
    {Py_tp_methods, handle_methods},
    {Py_tp_getset, handle_properties},
    {0, NULL},
};

static PyType_Spec handle_spec = {
    .name = "masu.Handle",
    .basicsize = sizeof(handle),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = handle_slots,
};

int masu_py_programs_add_types(PyObject *into, module_state *state) {
    state->module_type = (PyTypeObject *)PyType_FromModuleAndSpec(into, &module_spec, NULL);
    state->handle_of_program = (PyTypeObject *)PyType_FromModuleAndSpec(into, &handle_spec, NULL);
    if (!state->module_type || !state->handle_of_program || masu_py_function_make_type(into, state) < 0 ||
        PyModule_AddType(into, state->module_type) < 0)
        return -1;
    return PyModule_AddType(into, state->handle_of_program);
}
