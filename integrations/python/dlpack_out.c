/* dlpack_out.c: Tensors become capsules that any library takes. What goes out holds the storage, not the Tensor: it may
 * outlive it, and end in any thread.
 *
 * Where the strides of a dimension of length 1 say nothing they are given all the same, as newer versions want it.
 */
#include "masu_python.h"

#include <string.h>

#include <masu/alloc.h>

/* One of the two, then shape and strides. */
typedef struct outgoing {
    union {
        dl_managed legacy;
        dl_managed_versioned versioned;
    };
    storage *kept;
    size_t bytes; /* of this block */
    int64_t numbers[];
} outgoing;

static void outgoing_end(outgoing *self) {
    masu_py_storage_drop_anywhere(self->kept);
    (void)masu_free(self, self->bytes);
}

/* With the interpreter's lock, which in a second interpreter could not be taken again. */
static void outgoing_end_locked(outgoing *self) {
    masu_py_storage_drop(self->kept);
    (void)masu_free(self, self->bytes);
}

static void end_legacy(dl_managed *self) {
    outgoing_end(self->context);
}
static void end_versioned(dl_managed_versioned *self) {
    outgoing_end(self->context);
}

/* A storage that comes back to where it went out is the storage itself. */

storage *masu_py_unwrap_legacy(dl_managed *managed) {
    return managed->deleter == end_legacy ? ((outgoing *)managed->context)->kept : NULL;
}

storage *masu_py_unwrap_versioned(dl_managed_versioned *managed) {
    return managed->deleter == end_versioned ? ((outgoing *)managed->context)->kept : NULL;
}

void masu_py_unwrapped(void *context) {
    outgoing_end_locked(context);
}

/* Takes the hold on kept over, or drops it and returns NULL with MemoryError. */
static outgoing *outgoing_new(const view *from, storage *kept) {
    size_t bytes = sizeof(outgoing) + 2 * (size_t)from->ndim * sizeof(int64_t);
    outgoing *self = masu_alloc(bytes);
    if (!self) {
        masu_py_storage_drop(kept);
        PyErr_NoMemory();
        return NULL;
    }
    self->kept = kept;
    self->bytes = bytes;
    if (from->ndim > 0) {
        memcpy(self->numbers, from->shape, (size_t)from->ndim * sizeof(int64_t));
        memcpy(self->numbers + from->ndim, from->strides, (size_t)from->ndim * sizeof(int64_t));
    }
    return self;
}

static dl_tensor outgoing_tensor(const view *from, int64_t *numbers) {
    const element_type *element = &masu_py_elements[from->element];
    return (dl_tensor){.data = from->data,
                       .device = from->device,
                       .ndim = from->ndim,
                       .dtype = {element->code, (uint8_t)(8 * element->bytes), 1},
                       .shape = numbers,
                       .strides = numbers + from->ndim};
}

static dl_managed_versioned *versioned_of(const view *from, storage *kept, uint64_t flags) {
    outgoing *self = outgoing_new(from, kept);
    if (!self)
        return NULL;
    self->versioned = (dl_managed_versioned){.version = {DLPACK_MAJOR, DLPACK_MINOR},
                                             .context = self,
                                             .deleter = end_versioned,
                                             .flags = flags | (from->readonly ? DL_READ_ONLY : 0u),
                                             .tensor = outgoing_tensor(from, self->numbers)};
    return &self->versioned;
}

/* ---- capsules ---------------------------------------------------------------------------------------------------- */

/* A consumer that takes what is in a capsule renames it; else it ends with the capsule. */
static void end_legacy_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, DLPACK_LEGACY))
        outgoing_end_locked(((dl_managed *)PyCapsule_GetPointer(capsule, DLPACK_LEGACY))->context);
}

static void end_versioned_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, DLPACK_VERSIONED))
        outgoing_end_locked(((dl_managed_versioned *)PyCapsule_GetPointer(capsule, DLPACK_VERSIONED))->context);
}

static PyObject *legacy_capsule(const view *from, storage *kept) {
    outgoing *self = outgoing_new(from, kept);
    if (!self)
        return NULL;
    self->legacy = (dl_managed){.tensor = outgoing_tensor(from, self->numbers), .context = self, .deleter = end_legacy};
    PyObject *capsule = PyCapsule_New(&self->legacy, DLPACK_LEGACY, end_legacy_capsule);
    if (!capsule)
        outgoing_end_locked(self);
    return capsule;
}

static PyObject *versioned_capsule(const view *from, storage *kept, uint64_t flags) {
    dl_managed_versioned *managed = versioned_of(from, kept, flags);
    PyObject *capsule = managed ? PyCapsule_New(managed, DLPACK_VERSIONED, end_versioned_capsule) : NULL;
    if (managed && !capsule)
        outgoing_end_locked(managed->context);
    return capsule;
}

/* ---- Tensor.__dlpack__ ------------------------------------------------------------------------------------------- */

/* A pair of whole numbers. */
static bool pair_of(PyObject *object, const char *what, long *first, long *second) {
    bool pair = PyTuple_Check(object) && PyTuple_Size(object) == 2;
    if (pair) {
        *first = PyLong_AsLong(PyTuple_GetItem(object, 0));
        *second = *first == -1 && PyErr_Occurred() ? -1 : PyLong_AsLong(PyTuple_GetItem(object, 1));
    }
    if (!pair || PyErr_Occurred()) {
        PyErr_Format(PyExc_TypeError, "__dlpack__: %s is a pair of whole numbers, not %R", what, object);
        return false;
    }
    return true;
}

static bool same_device(const tensor *self, PyObject *wanted) {
    long type, id;
    if (!wanted || wanted == Py_None)
        return true;
    if (!pair_of(wanted, "dl_device", &type, &id))
        return false;
    if (type == self->device.type && id == self->device.id)
        return true;
    PyErr_Format(PyExc_BufferError,
                 "__dlpack__: dl_device: the Tensor is on device (%d, %d) and is not sent to (%ld, %ld)",
                 (int)self->device.type, (int)self->device.id, type, id);
    return false;
}

/* The newest version that both sides know: a major number of 1 or more means the versioned form. */
static bool wants_versioned(PyObject *max_version, bool *versioned) {
    long major = 0, minor;
    if (max_version && max_version != Py_None && !pair_of(max_version, "max_version", &major, &minor))
        return false;
    *versioned = major >= DLPACK_MAJOR;
    return true;
}

PyObject *masu_py_dlpack(PyObject *object, PyTypeObject *type, PyObject *const *args, Py_ssize_t count,
                         PyObject *names) {
    enum { STREAM, MAX_VERSION, DL_DEVICE, COPY, PARAMETERS };
    static const char *const parameters[] = {"stream", "max_version", "dl_device", "copy", NULL};
    (void)type;
    tensor *self = (tensor *)object;
    PyObject *given[PARAMETERS];
    bool versioned;
    copying copy;
    if (!masu_py_arguments("__dlpack__", parameters, 0, 0, args, count, names, given) ||
        !masu_py_copying(given[COPY], "__dlpack__", &copy) || !same_device(self, given[DL_DEVICE]) ||
        !wants_versioned(given[MAX_VERSION], &versioned))
        return NULL;
    if (given[STREAM] && given[STREAM] != Py_None)
        return PyErr_Format(PyExc_BufferError, "__dlpack__: stream: memory of the host has none; give None, not %R",
                            given[STREAM]);
    if (!self->kept)
        return PyErr_Format(PyExc_BufferError, "__dlpack__: the Tensor has been cleared");
    view from = masu_py_tensor_view(self);
    if (copy == COPY_ALWAYS) {
        int64_t rows[TENSOR_MOST_DIMENSIONS];
        view fresh = from;
        storage *kept = masu_py_storage_new((size_t)tensor_bytes(self), (void **)&fresh.data);
        if (!kept)
            return NULL;
        masu_py_copy_rows(fresh.data, &from);
        masu_py_row_strides(from.shape, from.ndim, rows);
        fresh.strides = rows;
        fresh.readonly = false;
        fresh.device = (dl_device){DL_CPU, 0};
        return versioned ? versioned_capsule(&fresh, kept, DL_IS_COPIED) : legacy_capsule(&fresh, kept);
    }
    if (self->readonly && !versioned)
        return PyErr_Format(PyExc_BufferError,
                            "__dlpack__: the Tensor is read-only, which only a versioned capsule says; give "
                            "max_version=(1, 0) or copy=True");
    masu_py_storage_hold(self->kept);
    return versioned ? versioned_capsule(&from, self->kept, 0) : legacy_capsule(&from, self->kept);
}

PyObject *masu_py_dlpack_device(PyObject *object, PyObject *unused) {
    (void)unused;
    const tensor *self = (const tensor *)object;
    return Py_BuildValue("ii", (int)self->device.type, (int)self->device.id);
}

/* ---- the table for C --------------------------------------------------------------------------------------------- */

static int exchange_from(void *object, dl_managed_versioned **out) {
    tensor *self = object;
    view from = masu_py_tensor_view(self);
    if (!self->kept) {
        PyErr_SetString(PyExc_BufferError, "the Tensor has been cleared");
        return -1;
    }
    masu_py_storage_hold(self->kept);
    *out = versioned_of(&from, self->kept, 0);
    return *out ? 0 : -1;
}

static int exchange_borrow(void *object, dl_tensor *out) {
    tensor *self = object;
    view from = masu_py_tensor_view(self);
    *out = outgoing_tensor(&from, tensor_shape(self));
    return 0;
}

static int exchange_stream(int32_t device_type, int32_t device_id, void **out) {
    (void)device_type, (void)device_id;
    *out = NULL; /* the host has none */
    return 0;
}

static int refuse_allocation(void *context, void (*set_error)(void *, const char *, const char *), const char *kind,
                             const char *message) {
    if (set_error)
        set_error(context, kind, message);
    return -1;
}

/* Runs without the interpreter's lock as well: no Python exception here. */
static int exchange_allocate(dl_tensor *prototype, dl_managed_versioned **out, void *context,
                             void (*set_error)(void *, const char *, const char *)) {
    element_kind element;
    if (prototype->device.type != DL_CPU || !masu_py_element_of_dlpack(prototype->dtype, &element) ||
        prototype->ndim < 0 || prototype->ndim > TENSOR_MOST_DIMENSIONS)
        return refuse_allocation(context, set_error, "BufferError",
                                 "masu allocates tensors of plain numbers in memory of the host");
    size_t bytes = masu_py_elements[element].bytes;
    for (int32_t i = 0; i < prototype->ndim; i++)
        if (prototype->shape[i] < 0 || __builtin_mul_overflow(bytes, (size_t)prototype->shape[i], &bytes))
            return refuse_allocation(context, set_error, "ValueError", "the shape has too many bytes");
    size_t struct_bytes = sizeof(outgoing) + 2 * (size_t)prototype->ndim * sizeof(int64_t);
    outgoing *self = masu_alloc(struct_bytes);
    void *data = NULL;
    storage *kept = self ? masu_py_storage_try(bytes, &data) : NULL;
    if (!kept) {
        (void)masu_free(self, struct_bytes);
        return refuse_allocation(context, set_error, "MemoryError", "out of memory");
    }
    if (prototype->ndim > 0)
        memcpy(self->numbers, prototype->shape, (size_t)prototype->ndim * sizeof(int64_t));
    masu_py_row_strides(prototype->shape, prototype->ndim, self->numbers + prototype->ndim);
    view fresh = {.data = data, .ndim = prototype->ndim, .element = element, .device = {DL_CPU, 0}};
    self->kept = kept;
    self->bytes = struct_bytes;
    self->versioned = (dl_managed_versioned){.version = {DLPACK_MAJOR, DLPACK_MINOR},
                                             .context = self,
                                             .deleter = end_versioned,
                                             .tensor = outgoing_tensor(&fresh, self->numbers)};
    *out = &self->versioned;
    return 0;
}

/* The table has no room for a module: the one of this interpreter is asked for by name. */
static int exchange_to(dl_managed_versioned *managed, void **out) {
    PyObject *module = PyImport_ImportModule("masu");
    module_state *state = module ? masu_py_state(module) : NULL;
    PyObject *made = state ? masu_py_from_versioned(state, managed, "from_dlpack: x") : NULL;
    Py_XDECREF(module);
    *out = made;
    return made ? 0 : -1;
}

static dl_exchange exchange = {
    .header = {.version = {DLPACK_MAJOR, 2}}, /* the table came with this version */
    .allocate = exchange_allocate,
    .from_object = exchange_from,
    .to_object = exchange_to,
    .borrow = exchange_borrow,
    .current_stream = exchange_stream,
};

int masu_py_add_exchange(module_state *state) {
    PyObject *capsule = PyCapsule_New(&exchange, DLPACK_EXCHANGE, NULL);
    int status = capsule ? PyObject_SetAttr((PyObject *)state->tensor_type, state->exchange_name, capsule) : -1;
    Py_XDECREF(capsule);
    return status;
}
