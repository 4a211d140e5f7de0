/* make.c: Tensors from whatever a program has: buffers, arrays of other libraries, a shape. */
#include "masu_python.h"

#include <string.h>

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* The view of a buffer, its strides in elements into strides[]. Strides of other than whole elements: *odd, to be
 * copied. */
static bool view_of_buffer(const Py_buffer *buffer, const char *what, int64_t *strides, view *out, bool *odd) {
    *out = (view){.data = buffer->buf,
                  .shape = (const int64_t *)buffer->shape,
                  .strides = strides,
                  .ndim = buffer->ndim,
                  .device = {DL_CPU, 0},
                  .readonly = buffer->readonly};
    if (!masu_py_element_of_format(buffer->format, buffer->itemsize, &out->element)) {
        PyErr_Format(PyExc_BufferError, "%s: elements of format '%s' have no type here%s", what,
                     buffer->format ? buffer->format : "B",
                     buffer->format && strchr("><!", *buffer->format)
                         ? "; their bytes are in the order of another machine"
                         : "");
        return false;
    }
    if (buffer->ndim > TENSOR_MOST_DIMENSIONS) {
        PyErr_Format(PyExc_BufferError, "%s: has %d dimensions; a Tensor has at most %d", what, buffer->ndim,
                     TENSOR_MOST_DIMENSIONS);
        return false;
    }
    *odd = false;
    for (int i = 0; i < buffer->ndim; i++) {
        *odd |= buffer->strides[i] % buffer->itemsize != 0 && buffer->shape[i] > 1;
        strides[i] = buffer->strides[i] / buffer->itemsize;
    }
    return true;
}

/* Elements that lie apart by no whole number of elements: only a copy has strides. */
static PyObject *copy_of_odd(module_state *state, const Py_buffer *buffer, const view *from, copying copy,
                             const char *what) {
    if (copy == COPY_NEVER)
        return PyErr_Format(PyExc_BufferError, "%s: its strides are not whole elements of %zd bytes, and copy is False",
                            what, buffer->itemsize);
    PyObject *made = masu_py_tensor_empty(state, from->shape, from->ndim, from->element, what);
    if (made && PyBuffer_ToContiguous(((tensor *)made)->data, (Py_buffer *)buffer, buffer->len, 'C') < 0)
        Py_CLEAR(made);
    return made;
}

static PyObject *from_filled(module_state *state, Py_buffer *buffer, copying copy, const char *what, bool *taken) {
    int64_t strides[TENSOR_MOST_DIMENSIONS];
    view from;
    bool odd;
    if (!view_of_buffer(buffer, what, strides, &from, &odd))
        return NULL;
    if (odd)
        return copy_of_odd(state, buffer, &from, copy, what);
    if (copy == COPY_ALWAYS)
        return masu_py_tensor_copy(state, &from, what);
    storage *kept = masu_py_storage_of_buffer(buffer);
    PyObject *made = kept ? masu_py_tensor_new(state, &from, kept, what) : NULL;
    if (kept && !made)
        masu_py_storage_forget(kept);
    *taken = made != NULL;
    return made;
}

PyObject *masu_py_from_buffer(module_state *state, PyObject *object, copying copy, const char *what) {
    Py_buffer buffer;
    bool taken = false;
    /* Exporters do not agree on the exception that says "read-only". */
    if (PyObject_GetBuffer(object, &buffer, PyBUF_FULL) < 0) {
        PyErr_Clear();
        if (PyObject_GetBuffer(object, &buffer, PyBUF_FULL_RO) < 0)
            return NULL;
    }
    PyObject *made = NULL;
    if (buffer.suboffsets)
        PyErr_Format(PyExc_BufferError, "%s: its elements lie behind pointers; make an array of it first", what);
    else
        made = from_filled(state, &buffer, copy, what, &taken);
    if (!taken)
        PyBuffer_Release(&buffer);
    return taken ? masu_py_settled(state, made, copy, what) : made;
}

PyObject *masu_py_as_tensor(module_state *state, PyObject *object, copying copy, const char *what) {
    if (masu_py_is_tensor(state, object) || PyCapsule_CheckExact(object))
        return masu_py_from_dlpack(state, object, copy, what);
    if (PyObject_CheckBuffer(object))
        return masu_py_from_buffer(state, object, copy, what);
    PyObject *method = PyObject_GetAttr((PyObject *)Py_TYPE(object), state->dlpack_name);
    if (method) {
        Py_DECREF(method);
        return masu_py_from_dlpack(state, object, copy, what);
    }
    PyErr_Clear();
    return PyErr_Format(PyExc_TypeError, "%s: %R is not an array: it has neither a buffer nor __dlpack__", what,
                        (PyObject *)Py_TYPE(object));
}

/* ---- functions of the module ------------------------------------------------------------------------------------- */

typedef PyObject *(*converter)(module_state *, PyObject *, copying, const char *);

static PyObject *converted(PyObject *module, const char *function, const char *what, PyObject *const *args,
                           Py_ssize_t count, PyObject *names, converter convert) {
    static const char *const parameters[] = {"x", "copy", NULL};
    PyObject *given[2];
    copying copy;
    if (!masu_py_arguments(function, parameters, 1, 1, args, count, names, given) ||
        !masu_py_copying(given[1], function, &copy))
        return NULL;
    return convert(masu_py_state(module), given[0], copy, what);
}

PyObject *masu_py_call_asarray(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    return converted(module, "asarray", "asarray: x", args, count, names, masu_py_as_tensor);
}

PyObject *masu_py_call_from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    return converted(module, "from_dlpack", "from_dlpack: x", args, count, names, masu_py_from_dlpack);
}

static bool shape_of(PyObject *object, const char *function, int64_t *shape, int32_t *ndim) {
    Py_ssize_t length = PyLong_Check(object) ? 1 : PySequence_Check(object) ? PySequence_Size(object) : -1;
    if (length < 0 || length > TENSOR_MOST_DIMENSIONS) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%s: shape is a whole number or at most %d of them, not %R", function,
                         TENSOR_MOST_DIMENSIONS, object);
        return false;
    }
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *number = PyLong_Check(object) ? Py_NewRef(object) : PySequence_GetItem(object, i);
        PyObject *index = number ? PyNumber_Index(number) : NULL;
        shape[i] = index ? PyLong_AsLongLong(index) : -1;
        Py_XDECREF(number);
        Py_XDECREF(index);
        if (PyErr_Occurred()) {
            if (PyErr_ExceptionMatches(PyExc_TypeError))
                PyErr_Format(PyExc_TypeError, "%s: shape is a whole number or a sequence of them, not %R", function,
                             object);
            return false;
        }
    }
    *ndim = (int32_t)length;
    return true;
}

static bool element_named(PyObject *object, const char *function, element_kind *out) {
    *out = ELEMENT_FLOAT32;
    if (!object)
        return true;
    PyObject *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8String(object) : NULL;
    const char *name = text ? PyBytes_AsString(text) : NULL;
    bool known = name && masu_py_element_of_name(name, out);
    Py_XDECREF(text);
    if (!known && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s: dtype is a name such as 'float32', not %R", function, object);
    return known;
}

static PyObject *made_of_shape(PyObject *module, const char *function, const char *what, PyObject *const *args,
                               Py_ssize_t count, PyObject *names) {
    static const char *const parameters[] = {"shape", "dtype", NULL};
    PyObject *given[2];
    int64_t shape[TENSOR_MOST_DIMENSIONS];
    int32_t ndim;
    element_kind element;
    if (!masu_py_arguments(function, parameters, 2, 1, args, count, names, given) ||
        !shape_of(given[0], function, shape, &ndim) || !element_named(given[1], function, &element))
        return NULL;
    return masu_py_tensor_empty(masu_py_state(module), shape, ndim, element, what);
}

PyObject *masu_py_call_empty(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    return made_of_shape(module, "empty", "empty: shape", args, count, names);
}

PyObject *masu_py_call_zeros(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    PyObject *made = made_of_shape(module, "zeros", "zeros: shape", args, count, names);
    if (made)
        memset(((tensor *)made)->data, 0, (size_t)tensor_bytes((tensor *)made));
    return made;
}
