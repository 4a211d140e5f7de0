/* dlpack_in.c: what others hand out becomes a Tensor of the same bytes.
 *
 *     object ─► its type's table for C, where it has one
 *            └► __dlpack__(max_version=(1, 1)) ─► __dlpack__() where it does not know that word
 *
 * What a capsule holds is ours from the moment in which it is renamed; before, all is checked, so that a capsule that
 * is refused stays its producer's.
 */
#include "masu_python.h"

#include <string.h>

static bool host_can_read(int32_t type) {
    return type == DL_CPU || type == DL_CUDA_HOST || type == DL_ROCM_HOST;
}

static bool refuse_device(const char *what, int32_t type, int32_t id) {
    PyErr_Format(PyExc_BufferError, "%s: is on device (%d, %d); only memory that the processor reads can be taken",
                 what, (int)type, (int)id);
    return false;
}

/* All that a foreign tensor says, checked. */
static bool view_of(const dl_tensor *tensor, bool readonly, const char *what, view *out) {
    if (!host_can_read(tensor->device.type))
        return refuse_device(what, tensor->device.type, tensor->device.id);
    *out = (view){.data = (char *)tensor->data + tensor->byte_offset,
                  .shape = tensor->shape,
                  .strides = tensor->strides,
                  .ndim = tensor->ndim,
                  .device = tensor->device,
                  .readonly = readonly};
    if (!masu_py_element_of_dlpack(tensor->dtype, &out->element)) {
        PyErr_Format(PyExc_BufferError, "%s: elements of kind %d with %d bits and %d lanes have no type here", what,
                     (int)tensor->dtype.code, (int)tensor->dtype.bits, (int)tensor->dtype.lanes);
        return false;
    }
    if (tensor->ndim < 0 || tensor->ndim > TENSOR_MOST_DIMENSIONS || (tensor->ndim > 0 && !tensor->shape)) {
        PyErr_Format(PyExc_BufferError, "%s: has %d dimensions; a Tensor has 0 to %d", what, (int)tensor->ndim,
                     TENSOR_MOST_DIMENSIONS);
        return false;
    }
    return true;
}

static bool version_is_known(const dl_managed_versioned *managed, const char *what) {
    if (managed->version.major == DLPACK_MAJOR)
        return true;
    PyErr_Format(PyExc_BufferError, "%s: speaks DLPack %u.%u; version %d is understood here", what,
                 managed->version.major, managed->version.minor, DLPACK_MAJOR);
    return false;
}

/* On an error what the storage would have kept stays the caller's. */
static PyObject *tensor_of(module_state *state, const view *from, storage *kept, const char *what) {
    PyObject *made = kept ? masu_py_tensor_new(state, from, kept, what) : NULL;
    if (!made && kept)
        masu_py_storage_forget(kept);
    return made;
}

/* A tensor that this module handed out: the Tensor holds the same storage. */
static PyObject *tensor_of_own(module_state *state, const view *from, storage *kept, void *context, const char *what) {
    masu_py_storage_hold(kept);
    PyObject *made = masu_py_tensor_new(state, from, kept, what);
    if (made)
        masu_py_unwrapped(context);
    else
        masu_py_storage_drop(kept);
    return made;
}

PyObject *masu_py_from_versioned(module_state *state, dl_managed_versioned *managed, const char *what) {
    view from;
    if (!version_is_known(managed, what) || !view_of(&managed->tensor, managed->flags & DL_READ_ONLY, what, &from))
        return NULL;
    storage *own = masu_py_unwrap_versioned(managed);
    return own ? tensor_of_own(state, &from, own, managed->context, what)
               : tensor_of(state, &from, masu_py_storage_of_versioned(managed), what);
}

static PyObject *from_legacy(module_state *state, dl_managed *managed, const char *what) {
    view from;
    if (!view_of(&managed->tensor, false, what, &from))
        return NULL;
    storage *own = masu_py_unwrap_legacy(managed);
    return own ? tensor_of_own(state, &from, own, managed->context, what)
               : tensor_of(state, &from, masu_py_storage_of_legacy(managed), what);
}

static PyObject *from_capsule(module_state *state, PyObject *capsule, copying copy, const char *what) {
    if (PyCapsule_IsValid(capsule, DLPACK_VERSIONED)) {
        dl_managed_versioned *managed = PyCapsule_GetPointer(capsule, DLPACK_VERSIONED);
        if (copy == COPY_NEVER && managed->version.major == DLPACK_MAJOR && (managed->flags & DL_IS_COPIED))
            return PyErr_Format(PyExc_BufferError, "%s: its producer made a copy, and copy is False", what);
        PyObject *made = masu_py_from_versioned(state, managed, what);
        if (made)
            PyCapsule_SetName(capsule, DLPACK_VERSIONED_USED);
        return made;
    }
    if (PyCapsule_IsValid(capsule, DLPACK_LEGACY)) {
        PyObject *made = from_legacy(state, PyCapsule_GetPointer(capsule, DLPACK_LEGACY), what);
        if (made)
            PyCapsule_SetName(capsule, DLPACK_LEGACY_USED);
        return made;
    }
    if (!PyCapsule_CheckExact(capsule))
        return PyErr_Format(PyExc_TypeError, "%s: its __dlpack__ gave %R, not a capsule", what,
                            (PyObject *)Py_TYPE(capsule));
    if (PyCapsule_IsValid(capsule, DLPACK_LEGACY_USED) || PyCapsule_IsValid(capsule, DLPACK_VERSIONED_USED))
        return PyErr_Format(PyExc_ValueError, "%s: this capsule has been taken already; each serves once", what);
    return PyErr_Format(PyExc_TypeError, "%s: this capsule does not hold a DLPack tensor", what);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static bool check_device(module_state *state, PyObject *object, const char *what) {
    PyObject *pair = PyObject_CallMethodObjArgs(object, state->device_name, NULL);
    bool fine = pair && PyTuple_Check(pair) && PyTuple_Size(pair) == 2;
    if (fine) {
        long type = PyLong_AsLong(PyTuple_GetItem(pair, 0)), id = PyLong_AsLong(PyTuple_GetItem(pair, 1));
        fine = !PyErr_Occurred();
        if (fine && !host_can_read((int32_t)type))
            fine = refuse_device(what, (int32_t)type, (int32_t)id);
    } else if (pair) {
        PyErr_Format(PyExc_TypeError, "%s: its __dlpack_device__ gave %R, not a pair", what, pair);
    } else if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: %R has not both of __dlpack__ and __dlpack_device__", what,
                     (PyObject *)Py_TYPE(object));
    }
    Py_XDECREF(pair);
    return fine;
}

static const dl_exchange *table_of(module_state *state, PyTypeObject *type) {
    PyObject *capsule = PyObject_GetAttr((PyObject *)type, state->exchange_name);
    const dl_exchange *table = capsule && PyCapsule_IsValid(capsule, DLPACK_EXCHANGE)
                                   ? PyCapsule_GetPointer(capsule, DLPACK_EXCHANGE)
                                   : NULL;
    while (table && table->header.version.major != DLPACK_MAJOR)
        table = (const dl_exchange *)table->header.previous;
    Py_XDECREF(capsule);
    PyErr_Clear();
    return table && table->from_object ? table : NULL;
}

/* A type keeps its table as long as it lives, and the state holds the type. */
static void meet_peer(module_state *state, PyTypeObject *type) {
    if (state->peer == type)
        return;
    PyTypeObject *before = state->peer;
    state->peer_table = table_of(state, type);
    state->peer_way = state->peer_table ? PEER_BY_TABLE : PEER_VERSIONED;
    state->peer = (PyTypeObject *)Py_NewRef((PyObject *)type);
    Py_XDECREF((PyObject *)before);
}

static PyObject *versioned_capsule_of(module_state *state, PyObject *object) {
    PyObject *method = PyObject_GetAttr(object, state->dlpack_name), *none = method ? PyTuple_New(0) : NULL;
    PyObject *capsule = none ? PyObject_Call(method, none, state->version_words) : NULL;
    Py_XDECREF(none);
    Py_XDECREF(method);
    return capsule;
}

static PyObject *capsule_of(module_state *state, PyObject *object) {
    if (state->peer_way == PEER_VERSIONED) {
        PyObject *capsule = versioned_capsule_of(state, object);
        if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError))
            return capsule;
        PyErr_Clear();
        capsule = PyObject_CallMethodObjArgs(object, state->dlpack_name, NULL);
        if (capsule && state->peer == Py_TYPE(object))
            state->peer_way = PEER_LEGACY;
        return capsule;
    }
    return PyObject_CallMethodObjArgs(object, state->dlpack_name, NULL);
}

static PyObject *from_table(module_state *state, PyObject *object, copying copy, const char *what) {
    dl_managed_versioned *managed = NULL;
    if (state->peer_table->from_object(object, &managed) != 0 || !managed) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_BufferError, "%s: its library refused it without a word", what);
        return NULL;
    }
    PyObject *made = NULL;
    if (copy == COPY_NEVER && managed->version.major == DLPACK_MAJOR && (managed->flags & DL_IS_COPIED))
        PyErr_Format(PyExc_BufferError, "%s: its producer made a copy, and copy is False", what);
    else
        made = masu_py_from_versioned(state, managed, what);
    if (!made && managed->deleter) {
        PyObject *type, *value, *trace; /* the deleter may run Python */
        PyErr_Fetch(&type, &value, &trace);
        managed->deleter(managed);
        PyErr_Restore(type, value, trace);
    }
    return made;
}

static PyObject *from_object(module_state *state, PyObject *object, copying copy, const char *what) {
    meet_peer(state, Py_TYPE(object));
    if (state->peer_way == PEER_BY_TABLE)
        return from_table(state, object, copy, what);
    if (!check_device(state, object, what))
        return NULL;
    PyObject *capsule = capsule_of(state, object);
    PyObject *made = capsule ? from_capsule(state, capsule, copy, what) : NULL;
    Py_XDECREF(capsule);
    return made;
}

/* A processor reads elements where they are aligned; what is not is copied, when it may be. */
PyObject *masu_py_settled(module_state *state, PyObject *made, copying copy, const char *what) {
    if (!made)
        return NULL;
    const tensor *self = (const tensor *)made;
    bool aligned = self->count == 0 || (uintptr_t)self->data % masu_py_elements[self->element].alignment == 0;
    if (copy == COPY_ALWAYS || (copy == COPY_WHEN_NEEDED && !aligned)) {
        view from = masu_py_tensor_view(self);
        PyObject *copied = masu_py_tensor_copy(state, &from, what);
        Py_DECREF(made);
        return copied;
    }
    if (!aligned) {
        PyErr_Format(PyExc_BufferError, "%s: its %s elements do not lie at multiples of %d bytes, and copy is False",
                     what, masu_py_elements[self->element].name, (int)masu_py_elements[self->element].alignment);
        Py_DECREF(made);
        return NULL;
    }
    return made;
}

PyObject *masu_py_from_dlpack(module_state *state, PyObject *object, copying copy, const char *what) {
    if (masu_py_is_tensor(state, object))
        return masu_py_settled(state, Py_NewRef(object), copy, what);
    if (PyCapsule_CheckExact(object))
        return masu_py_settled(state, from_capsule(state, object, copy, what), copy, what);
    return masu_py_settled(state, from_object(state, object, copy, what), copy, what);
}
