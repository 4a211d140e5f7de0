/* masu_python.h: what the files of this module share.
 *
 *     module ─► make ─► tensor ─► storage        one Tensor: a view (data, shape, strides) and a hold on its bytes
 *        │       └─► dlpack_in                    capsules of others become Tensors
 *        ├─► dlpack_out                           Tensors become capsules
 *        ├─► plan, recordings                     the planner; reports on recorded runs
 *        ├─► compile ─► program ─► function       compiled programs (program.h)
 *        └─► numpy_heap ─► numpy_lines            NumPy's arrays on this module's heap, and who asked for them
 *
 * The module keeps to the stable interface of Python 3.11 (Py_LIMITED_API): one file serves every later Python.
 *
 * What stays true:
 *   * A storage is let go of once for each hold, by any thread, with or without the interpreter's lock.
 *   * Who keeps a Python object or a foreign tensor alive is the storage alone; a Tensor never refers to them itself.
 *   * On an error there is a Python exception that names the function and the argument, and nothing has changed.
 */
#ifndef MASU_PYTHON_H
#define MASU_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include <masu/module.h>
#include <masu/status.h>

#include "dlpack.h"

/* ---- types of elements ------------------------------------------------------------------------------------------- */

typedef enum element_kind {
    ELEMENT_BOOL,
    ELEMENT_INT8,
    ELEMENT_INT16,
    ELEMENT_INT32,
    ELEMENT_INT64,
    ELEMENT_UINT8,
    ELEMENT_UINT16,
    ELEMENT_UINT32,
    ELEMENT_UINT64,
    ELEMENT_FLOAT16,
    ELEMENT_BFLOAT16,
    ELEMENT_FLOAT32,
    ELEMENT_FLOAT64,
    ELEMENT_COMPLEX64,
    ELEMENT_COMPLEX128,
    ELEMENT_KIND_COUNT
} element_kind;

typedef struct element_type {
    const char *name; /* as NumPy and PyTorch say it */
    uint8_t bytes;
    uint8_t alignment;
    uint8_t code;       /* DLPack's */
    const char *format; /* of the buffer protocol; NULL: it has no letter for this type */
} element_type;

extern const element_type masu_py_elements[ELEMENT_KIND_COUNT];

/* All three give false, without an exception, for what is not one of the types above. */
bool masu_py_element_of_dlpack(dl_type type, element_kind *out);
bool masu_py_element_of_format(const char *format, Py_ssize_t bytes, element_kind *out);
bool masu_py_element_of_name(const char *name, element_kind *out);

/* ---- storage: who keeps the bytes -------------------------------------------------------------------------------- */

typedef struct storage storage;

/* A block of this module's heap, at a multiple of 64; NULL with MemoryError. *data: its bytes. */
storage *masu_py_storage_new(size_t bytes, void **data);
/* The same without the exception, and without the interpreter's lock. */
storage *masu_py_storage_try(size_t bytes, void **data);
/* Takes the filled buffer over, or, on NULL (MemoryError), leaves it. */
storage *masu_py_storage_of_buffer(const Py_buffer *view);
/* A result of a compiled program. */
storage *masu_py_storage_of_value(const masu_value *value, void (*release)(masu_value *value));
storage *masu_py_storage_of_legacy(dl_managed *managed);
storage *masu_py_storage_of_versioned(dl_managed_versioned *managed);

void masu_py_storage_hold(storage *self);
/* Ends a storage that no other hold keeps, and leaves what it would have kept to the caller. */
void masu_py_storage_forget(storage *self);
/* With the interpreter's lock. */
void masu_py_storage_drop(storage *self);
/* Any thread, whether or not it holds the lock. */
void masu_py_storage_drop_anywhere(storage *self);
/* The Python object that this hold alone keeps alive, for the collector of cycles; NULL: none. Borrowed. */
PyObject *masu_py_storage_object(storage *self);

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

enum { TENSOR_MOST_DIMENSIONS = 64 };

typedef struct tensor {
    PyObject_VAR_HEAD storage *kept; /* NULL only after the collector has cleared it */
    char *data;
    Py_ssize_t exports; /* buffers that are out */
    Py_ssize_t count;   /* of elements */
    dl_device device;
    int32_t ndim;
    uint8_t element; /* element_kind */
    bool readonly;
    int64_t numbers[]; /* shape, then strides in elements, then strides in bytes: ndim each */
} tensor;

static inline int64_t *tensor_shape(const tensor *self) {
    return (int64_t *)self->numbers;
}
static inline int64_t *tensor_strides(const tensor *self) {
    return (int64_t *)self->numbers + self->ndim;
}
static inline int64_t *tensor_strides_bytes(const tensor *self) {
    return (int64_t *)self->numbers + 2 * (int64_t)self->ndim;
}
static inline Py_ssize_t tensor_bytes(const tensor *self) {
    return self->count * masu_py_elements[self->element].bytes;
}

/* A view before it is a Tensor. Strides in elements; NULL: rows, one behind the other. */
typedef struct view {
    char *data;
    const int64_t *shape;
    const int64_t *strides;
    int32_t ndim;
    element_kind element;
    dl_device device;
    bool readonly;
} view;

typedef enum peer_way { PEER_BY_TABLE, PEER_VERSIONED, PEER_LEGACY } peer_way;

/* Everything that belongs to one import of the module. */
typedef struct module_state {
    PyTypeObject *tensor_type;
    PyTypeObject *handler_type, *line_type, *plan_type;
    PyTypeObject *module_type, *function_type, *handle_of_program; /* of compiled programs */
    PyObject *error;                                               /* masu.Error */
    PyObject *dlpack_name, *device_name, *exchange_name;           /* of attributes */
    PyObject *version_words;                                       /* {"max_version": (1, 1)} */
    /* How the type of object that came last hands out tensors. */
    PyTypeObject *peer; /* NULL: none yet */
    peer_way peer_way;
    const dl_exchange *peer_table;
} module_state;

module_state *masu_py_state(PyObject *module);

/* Takes the storage over when it succeeds. what: the function and argument, for errors. */
PyObject *masu_py_tensor_new(module_state *state, const view *from, storage *kept, const char *what);
/* New bytes of this module's heap, in rows; not filled. */
PyObject *masu_py_tensor_empty(module_state *state, const int64_t *shape, int32_t ndim, element_kind element,
                               const char *what);
/* Strides in elements of rows that lie one behind the other. */
void masu_py_row_strides(const int64_t *shape, int32_t ndim, int64_t *strides);
/* The elements of one view in rows, from `to` on. */
void masu_py_copy_rows(char *to, const view *from);
PyObject *masu_py_tensor_copy(module_state *state, const view *from, const char *what);
int masu_py_programs_add_types(PyObject *module, module_state *state);
int masu_py_function_make_type(PyObject *module, module_state *state);
int masu_py_plan_add_type(PyObject *module, module_state *state);
int masu_py_numpy_add_type(PyObject *module, module_state *state);
int masu_py_lines_add_type(PyObject *module, module_state *state);
int masu_py_tensor_add_type(PyObject *module, module_state *state);
bool masu_py_is_tensor(const module_state *state, PyObject *object);
view masu_py_tensor_view(const tensor *self);
/* Bytes of so many elements, and their count; false with an exception when they overflow. */
bool masu_py_count(const int64_t *shape, int32_t ndim, size_t element_bytes, const char *what, Py_ssize_t *count);

/* ---- copies that were asked for ---------------------------------------------------------------------------------- */

typedef enum copying { COPY_NEVER, COPY_WHEN_NEEDED, COPY_ALWAYS } copying;

/* None, True, False. */
bool masu_py_copying(PyObject *object, const char *what, copying *out);

/* ---- conversions ------------------------------------------------------------------------------------------------- */

/* Any object with __dlpack__, or a capsule. */
PyObject *masu_py_from_dlpack(module_state *state, PyObject *object, copying copy, const char *what);
/* Takes the managed tensor over when it succeeds. */
PyObject *masu_py_from_versioned(module_state *state, dl_managed_versioned *managed, const char *what);
PyObject *masu_py_from_buffer(module_state *state, PyObject *object, copying copy, const char *what);
/* Whichever of the two the object has. */
PyObject *masu_py_as_tensor(module_state *state, PyObject *object, copying copy, const char *what);

/* The Tensor itself, or the copy that was asked for or that its alignment needs; takes made (may be NULL). */
PyObject *masu_py_settled(module_state *state, PyObject *made, copying copy, const char *what);

/* Functions of the module. */
PyObject *masu_py_call_plan(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_report(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_whatif(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_compile(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_load(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_numpy_handler(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_numpy_statistics(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_asarray(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_empty(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_zeros(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_call_heap_statistics(PyObject *module, PyObject *unused);
PyObject *masu_py_call_heap_trim(PyObject *module, PyObject *unused);

/* Tensor.__dlpack__ and Tensor.__dlpack_device__. */
PyObject *masu_py_dlpack(PyObject *self, PyTypeObject *type, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *masu_py_dlpack_device(PyObject *self, PyObject *unused);
/* The storage behind a tensor that this module handed out, NULL for any other; borrowed from it. unwrapped ends it, by
 * its context, with the interpreter's lock. */
storage *masu_py_unwrap_legacy(dl_managed *managed);
storage *masu_py_unwrap_versioned(dl_managed_versioned *managed);
void masu_py_unwrapped(void *context);
int masu_py_add_exchange(module_state *state);

/* ---- errors of the library --------------------------------------------------------------------------------------- */

/* The exception that fits the status, with its text; gives NULL. */
PyObject *masu_py_refuse(masu_status status, const char *what);

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Sorts what a fast call was given into out[] by name; those not given are NULL. The first `positional` may come by
 * place, the first `required` must come. names[] ends with NULL. */
bool masu_py_arguments(const char *function, const char *const *parameters, Py_ssize_t positional, Py_ssize_t required,
                       PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **out);

#endif
