/* numpy_heap.c: NumPy's arrays on this module's heap (NEP 49). `with masu.numpy_handler():` sets the handler for the
 * current context; each array remembers the handler that it came from, so that its memory goes back to the right one,
 * whenever that is.
 *
 *     numpy ─► handler "masu"        ─► masu_alloc, masu_free with the size
 *           └► handler "masu_lines"  ─► the same, and the line of Python that asked (numpy_lines.c)
 *
 * NumPy's functions are reached through its table for extensions, whose places are fixed: a version that is not known
 * here is refused, not tried.
 */
#include "masu_python.h"

#include <stdatomic.h>
#include <string.h>

#include <masu/alloc.h>

#include "numpy_lines.h"

/* ---- NumPy's own layout ------------------------------------------------------------------------------------------ */

typedef struct numpy_allocator {
    void *context;
    void *(*malloc)(void *context, size_t bytes);
    void *(*calloc)(void *context, size_t count, size_t bytes);
    void *(*realloc)(void *context, void *ptr, size_t bytes);
    void (*free)(void *context, void *ptr, size_t bytes);
} numpy_allocator;

typedef struct numpy_handler {
    char name[127];
    uint8_t version;
    numpy_allocator allocator;
} numpy_handler;

enum { SLOT_ABI_VERSION = 0, SLOT_API_VERSION = 211, SLOT_SET_HANDLER = 304 };

typedef PyObject *(*set_handler_function)(PyObject *capsule); /* a new reference to the one before */

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static _Atomic uint64_t wrong_sizes; /* frees whose size was not the block's */

static size_t at_least_one(size_t bytes) {
    return bytes ? bytes : 1;
}

static void *plain_malloc(void *context, size_t bytes) {
    (void)context;
    return masu_alloc(at_least_one(bytes));
}

static void *plain_calloc(void *context, size_t count, size_t bytes) {
    (void)context;
    return count && bytes ? masu_alloc_zeroed(count, bytes) : masu_alloc_zeroed(1, 1);
}

static void *plain_realloc(void *context, void *ptr, size_t bytes) {
    (void)context;
    return masu_realloc_unsized(ptr, at_least_one(bytes));
}

/* An array whose size was changed behind NumPy's back gives another size than it was made with: the heap knows
 * better. */
static void plain_free(void *context, void *ptr, size_t bytes) {
    (void)context;
    if (masu_free(ptr, at_least_one(bytes)) != MASU_OK) {
        atomic_fetch_add_explicit(&wrong_sizes, 1, memory_order_relaxed);
        (void)masu_free_unsized(ptr);
    }
}

static void *counted_malloc(void *context, size_t bytes) {
    void *block = plain_malloc(context, bytes);
    masu_py_lines_allocated(block, bytes);
    return block;
}

static void *counted_calloc(void *context, size_t count, size_t bytes) {
    void *block = plain_calloc(context, count, bytes);
    masu_py_lines_allocated(block, count * bytes);
    return block;
}

static void *counted_realloc(void *context, void *ptr, size_t bytes) {
    void *block = plain_realloc(context, ptr, bytes);
    if (block) {
        masu_py_lines_freed(ptr);
        masu_py_lines_allocated(block, bytes);
    }
    return block;
}

static void counted_free(void *context, void *ptr, size_t bytes) {
    masu_py_lines_freed(ptr);
    plain_free(context, ptr, bytes);
}

static numpy_handler plain = {
    .name = "masu", .version = 1, .allocator = {NULL, plain_malloc, plain_calloc, plain_realloc, plain_free}};
static numpy_handler counted = {.name = "masu_lines",
                                .version = 1,
                                .allocator = {NULL, counted_malloc, counted_calloc, counted_realloc, counted_free}};

/* ---- NumPy's table ----------------------------------------------------------------------------------------------- */

static const struct {
    unsigned abi, first, last; /* of the table's binary version, the additions that are known */
} known_versions[] = {
    {0x01000009, 0x0f, 0x11}, /* 1.22 to 1.26 */
    {0x02000000, 0x12, 0x14}, /* 2.0 to 2.3 */
};

static bool version_is_known(unsigned abi, unsigned api) {
    for (size_t i = 0; i < sizeof known_versions / sizeof known_versions[0]; i++)
        if (abi == known_versions[i].abi && api >= known_versions[i].first && api <= known_versions[i].last)
            return true;
    return false;
}

static PyObject *numpy_core(void) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy)
        return NULL;
    Py_DECREF(numpy);
    PyObject *core = PyImport_ImportModule("numpy._core._multiarray_umath"); /* from 2.0 on */
    if (!core && PyErr_ExceptionMatches(PyExc_ImportError)) {
        PyErr_Clear();
        core = PyImport_ImportModule("numpy.core._multiarray_umath");
    }
    return core;
}

/* NULL with an exception. The table lives as long as NumPy, which is never unloaded. */
static set_handler_function numpy_set_handler(void) {
    PyObject *core = numpy_core();
    PyObject *capsule = core ? PyObject_GetAttrString(core, "_ARRAY_API") : NULL;
    void **table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(core);
    if (!table)
        return NULL;
    unsigned abi = ((unsigned (*)(void))table[SLOT_ABI_VERSION])(),
             api = ((unsigned (*)(void))table[SLOT_API_VERSION])();
    if (version_is_known(abi, api))
        return (set_handler_function)table[SLOT_SET_HANDLER];
    PyErr_Format(PyExc_RuntimeError,
                 "numpy_handler: NumPy's table has version 0x%x, additions 0x%x; known are those of NumPy 1.22 to 1.26 "
                 "and 2.0 to 2.3",
                 abi, api);
    return NULL;
}

/* ---- the context manager ----------------------------------------------------------------------------------------- */

typedef struct handler {
    PyObject_HEAD
    set_handler_function set;
    bool lines;
    PyObject *record; /* bytes: the file to record into; NULL: none */
    PyObject *before; /* the handler to set back; NULL: not entered */
} handler;

static PyObject *handler_enter(PyObject *object, PyObject *unused) {
    (void)unused;
    handler *self = (handler *)object;
    if (self->before)
        return PyErr_Format(PyExc_RuntimeError, "numpy_handler: it is entered already; make another one");
    masu_status status = self->record ? masu_py_lines_record(PyBytes_AsString(self->record)) : MASU_OK;
    if (status == MASU_ERR_LIMIT_REACHED)
        return PyErr_Format(PyExc_RuntimeError, "numpy_handler: record: another recording is on; end it first");
    if (status != MASU_OK)
        return status == MASU_ERR_IO ? PyErr_Format(PyExc_OSError, "numpy_handler: record: %s cannot be written",
                                                    PyBytes_AsString(self->record))
                                     : masu_py_refuse(status, "numpy_handler: record");
    PyObject *capsule = PyCapsule_New(self->lines ? &counted : &plain, "mem_handler", NULL);
    PyObject *before = capsule ? self->set(capsule) : NULL;
    Py_XDECREF(capsule);
    if (!before) {
        if (self->record)
            (void)masu_py_lines_record_end();
        return NULL;
    }
    self->before = before;
    return Py_NewRef(object);
}

static PyObject *handler_exit(PyObject *object, PyObject *unused) {
    (void)unused;
    handler *self = (handler *)object;
    if (!self->before)
        return PyErr_Format(PyExc_RuntimeError, "numpy_handler: it is not entered");
    PyObject *ours = self->set(self->before);
    if (!ours)
        return NULL;
    Py_DECREF(ours);
    Py_CLEAR(self->before);
    masu_status status = self->record ? masu_py_lines_record_end() : MASU_OK;
    return status == MASU_OK ? Py_NewRef(Py_None)
                             : PyErr_Format(PyExc_OSError, "numpy_handler: record: %s", masu_status_text(status));
}

static PyObject *handler_wrong_sizes(PyObject *object, void *unused) {
    (void)object, (void)unused;
    return PyLong_FromUnsignedLongLong(atomic_load_explicit(&wrong_sizes, memory_order_relaxed));
}

static void handler_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(((handler *)object)->before);
    Py_XDECREF(((handler *)object)->record);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

static PyMethodDef methods[] = {
    {"__enter__", handler_enter, METH_NOARGS,
     "__enter__($self, /)\n--\n\nArrays made from now on, in this context, come from the heap."},
    {"__exit__", handler_exit, METH_VARARGS, "__exit__($self, /, *exception)\n--\n\nThe handler before is set again."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"wrong_sizes", handler_wrong_sizes, NULL,
     "How often, in all, an array was freed with another size than it was made with.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "What numpy_handler() gives: a context in which NumPy's arrays come from this module's heap."},
    {Py_tp_dealloc, handler_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "masu.NumpyHandler",
    .basicsize = sizeof(handler),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int masu_py_numpy_add_type(PyObject *module, module_state *state) {
    state->handler_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->handler_type ? PyModule_AddType(module, state->handler_type) : -1;
}

PyObject *masu_py_call_numpy_handler(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    static const char *const parameters[] = {"lines", "record", NULL};
    PyObject *given[2], *record = NULL;
    if (!masu_py_arguments("numpy_handler", parameters, 0, 0, args, count, names, given))
        return NULL;
    if (given[0] && !PyBool_Check(given[0]))
        return PyErr_Format(PyExc_TypeError, "numpy_handler: lines is True or False, not %R", given[0]);
    if (given[1] && given[1] != Py_None && !PyUnicode_FSConverter(given[1], &record))
        return NULL;
    bool lines = given[0] == Py_True || record;
    set_handler_function set = numpy_set_handler();
    handler *self = set && (!lines || masu_py_lines_start())
                        ? PyObject_New(handler, masu_py_state(module)->handler_type)
                        : NULL;
    if (!self) {
        Py_XDECREF(record);
        return NULL;
    }
    self->set = set;
    self->lines = lines;
    self->record = record;
    self->before = NULL;
    return (PyObject *)self;
}
