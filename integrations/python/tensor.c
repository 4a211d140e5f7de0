/* tensor.c: masu.Tensor, a typed view of bytes that somebody keeps. It owns nothing but its hold on the storage.
 *
 * A Tensor never changes after it is made: shape and strides may be lent to others (the buffer protocol) as they are.
 */
#include "masu_python.h"

#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(int64_t) == sizeof(Py_ssize_t), "buffers borrow shapes and strides as they are");

static const element_type *element_of(const tensor *self) {
    return &masu_py_elements[self->element];
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

bool masu_py_count(const int64_t *shape, int32_t ndim, size_t element_bytes, const char *what, Py_ssize_t *count) {
    Py_ssize_t product = 1, bytes = 0;
    bool empty = false, overflow = false;
    for (int32_t i = 0; i < ndim; i++) {
        if (shape[i] < 0) {
            PyErr_Format(PyExc_ValueError, "%s: dimension %d of its shape is negative", what, (int)i);
            return false;
        }
        empty |= shape[i] == 0;
        if (shape[i] != 0)
            overflow |= __builtin_mul_overflow(product, shape[i], &product);
    }
    overflow |= __builtin_mul_overflow(product, (Py_ssize_t)element_bytes, &bytes);
    if (overflow && !empty) {
        PyErr_Format(PyExc_OverflowError, "%s: its shape has more bytes than there are addresses", what);
        return false;
    }
    *count = empty ? 0 : product;
    return true;
}

void masu_py_row_strides(const int64_t *shape, int32_t ndim, int64_t *strides) {
    int64_t row = 1;
    for (int32_t i = ndim - 1; i >= 0; i--) {
        strides[i] = row;
        if (__builtin_mul_overflow(row, shape[i] > 0 ? shape[i] : 1, &row))
            row = 1; /* nothing that is not empty is so large */
    }
}

static void fill_strides(tensor *self, const int64_t *strides) {
    if (!strides)
        masu_py_row_strides(tensor_shape(self), self->ndim, tensor_strides(self));
    else if (self->ndim > 0)
        memcpy(tensor_strides(self), strides, (size_t)self->ndim * sizeof(int64_t));
    for (int32_t i = 0; i < self->ndim; i++)
        tensor_strides_bytes(self)[i] = tensor_strides(self)[i] * element_of(self)->bytes;
}

/* No element lies further off than an address can say. */
static bool strides_fit(const view *from, const char *what) {
    int64_t bytes = masu_py_elements[from->element].bytes, reach = 0, part;
    for (int32_t i = 0; from->strides && i < from->ndim; i++) {
        int64_t last = from->shape[i] > 0 ? from->shape[i] - 1 : 0;
        int64_t stride = from->strides[i] == INT64_MIN ? INT64_MAX
                         : from->strides[i] < 0        ? -from->strides[i]
                                                       : from->strides[i];
        if (__builtin_mul_overflow(stride, last, &part) || __builtin_add_overflow(reach, part, &reach) ||
            __builtin_mul_overflow(stride, bytes, &part)) {
            PyErr_Format(PyExc_OverflowError, "%s: stride %d reaches beyond all addresses", what, (int)i);
            return false;
        }
    }
    if (__builtin_mul_overflow(reach, bytes, &part)) {
        PyErr_Format(PyExc_OverflowError, "%s: its strides reach beyond all addresses", what);
        return false;
    }
    return true;
}

PyObject *masu_py_tensor_new(module_state *state, const view *from, storage *kept, const char *what) {
    Py_ssize_t count;
    if (from->ndim < 0 || from->ndim > TENSOR_MOST_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError, "%s: has %d dimensions; a Tensor has at most %d", what, (int)from->ndim,
                     TENSOR_MOST_DIMENSIONS);
        return NULL;
    }
    if (!masu_py_count(from->shape, from->ndim, masu_py_elements[from->element].bytes, what, &count) ||
        !strides_fit(from, what))
        return NULL;
    tensor *self = PyObject_GC_NewVar(tensor, state->tensor_type, 3 * from->ndim);
    if (!self)
        return NULL;
    self->kept = kept;
    self->data = from->data;
    self->exports = 0;
    self->count = count;
    self->device = from->device;
    self->ndim = from->ndim;
    self->element = (uint8_t)from->element;
    self->readonly = from->readonly;
    if (from->ndim > 0)
        memcpy(tensor_shape(self), from->shape, (size_t)from->ndim * sizeof(int64_t));
    fill_strides(self, from->strides);
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

PyObject *masu_py_tensor_empty(module_state *state, const int64_t *shape, int32_t ndim, element_kind element,
                               const char *what) {
    Py_ssize_t count;
    if (!masu_py_count(shape, ndim, masu_py_elements[element].bytes, what, &count))
        return NULL;
    view fresh = {.shape = shape, .ndim = ndim, .element = element, .device = {DL_CPU, 0}};
    storage *kept = masu_py_storage_new((size_t)count * masu_py_elements[element].bytes, (void **)&fresh.data);
    if (!kept)
        return NULL;
    PyObject *self = masu_py_tensor_new(state, &fresh, kept, what);
    if (!self)
        masu_py_storage_drop(kept);
    return self;
}

bool masu_py_is_tensor(const module_state *state, PyObject *object) {
    return Py_IS_TYPE(object, state->tensor_type);
}

view masu_py_tensor_view(const tensor *self) {
    return (view){.data = self->data,
                  .shape = tensor_shape(self),
                  .strides = tensor_strides(self),
                  .ndim = self->ndim,
                  .element = (element_kind)self->element,
                  .device = self->device,
                  .readonly = self->readonly};
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* The bytes written. Dimensions from `axis` on. */
static size_t copy_axis(char *to, const char *from, const view *shape, int32_t axis) {
    size_t bytes = masu_py_elements[shape->element].bytes;
    if (axis == shape->ndim) {
        memcpy(to, from, bytes);
        return bytes;
    }
    int64_t length = shape->shape[axis], stride = shape->strides[axis];
    if (axis == shape->ndim - 1 && stride == 1) {
        memcpy(to, from, (size_t)length * bytes);
        return (size_t)length * bytes;
    }
    size_t written = 0;
    for (int64_t i = 0; i < length; i++)
        written += copy_axis(to + written, from + i * stride * (int64_t)bytes, shape, axis + 1);
    return written;
}

void masu_py_copy_rows(char *to, const view *from) {
    for (int32_t i = 0; i < from->ndim; i++)
        if (from->shape[i] == 0)
            return;
    (void)copy_axis(to, from->data, from, 0);
}

PyObject *masu_py_tensor_copy(module_state *state, const view *from, const char *what) {
    PyObject *copy = masu_py_tensor_empty(state, from->shape, from->ndim, from->element, what);
    if (copy)
        masu_py_copy_rows(((tensor *)copy)->data, from);
    return copy;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void tensor_dealloc(PyObject *object) {
    tensor *self = (tensor *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->kept)
        masu_py_storage_drop(self->kept);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static int tensor_traverse(PyObject *object, visitproc visit, void *arg) {
    tensor *self = (tensor *)object;
    Py_VISIT(Py_TYPE(object));
    if (self->kept)
        Py_VISIT(masu_py_storage_object(self->kept));
    return 0;
}

/* With buffers out the bytes are in use; who holds those buffers is cleared in its turn. */
static int tensor_clear(PyObject *object) {
    tensor *self = (tensor *)object;
    if (self->kept && self->exports == 0 && masu_py_storage_object(self->kept)) {
        storage *kept = self->kept;
        self->kept = NULL;
        self->data = NULL;
        self->count = 0;
        memset(tensor_shape(self), 0, (size_t)self->ndim * sizeof(int64_t));
        masu_py_storage_drop(kept);
    }
    return 0;
}

/* ---- the buffer protocol ----------------------------------------------------------------------------------------- */

static int refuse_buffer(const char *why) {
    PyErr_Format(PyExc_BufferError, "Tensor: %s", why);
    return -1;
}

static int tensor_getbuffer(PyObject *object, Py_buffer *out, int flags) {
    tensor *self = (tensor *)object;
    out->obj = NULL;
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && self->readonly)
        return refuse_buffer("it is read-only");
    if (!element_of(self)->format)
        return refuse_buffer("the buffer protocol has no letter for bfloat16; hand it on by from_dlpack");
    Py_buffer filled = {.buf = self->data,
                        .len = tensor_bytes(self),
                        .itemsize = element_of(self)->bytes,
                        .readonly = self->readonly,
                        .ndim = self->ndim,
                        .format = (char *)element_of(self)->format,
                        .shape = (Py_ssize_t *)tensor_shape(self),
                        .strides = (Py_ssize_t *)tensor_strides_bytes(self)};
    bool rows = PyBuffer_IsContiguous(&filled, 'C');
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !rows)
        return refuse_buffer("its elements do not lie in rows, one behind the other");
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !PyBuffer_IsContiguous(&filled, 'F'))
        return refuse_buffer("its elements do not lie in columns, one behind the other");
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !PyBuffer_IsContiguous(&filled, 'A'))
        return refuse_buffer("its elements do not lie one behind the other");
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
        if (!rows)
            return refuse_buffer("its strides are needed, and were not asked for");
        filled.strides = NULL;
    }
    if ((flags & PyBUF_ND) != PyBUF_ND)
        filled.shape = NULL;
    if ((flags & PyBUF_FORMAT) != PyBUF_FORMAT)
        filled.format = NULL;
    filled.obj = Py_NewRef(object);
    *out = filled;
    self->exports++;
    return 0;
}

static void tensor_releasebuffer(PyObject *object, Py_buffer *unused) {
    (void)unused;
    ((tensor *)object)->exports--;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double half_value(uint16_t half) {
    uint32_t sign = (uint32_t)(half >> 15) << 31, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 0) {
        double value = (double)fraction / (1 << 24);
        return sign ? -value : value;
    }
    return float_of_bits(sign | (exponent == 31 ? 255u : exponent + 112) << 23 | fraction << 13);
}

static PyObject *complex_value(double real, double imaginary) {
    return PyComplex_FromDoubles(real, imaginary);
}

#define READ(type, at)                        \
    ({                                        \
        type value_;                          \
        memcpy(&value_, (at), sizeof value_); \
        value_;                               \
    })

static PyObject *element_value(const char *at, element_kind element) {
    switch (element) {
    case ELEMENT_BOOL:
        return PyBool_FromLong(READ(uint8_t, at) != 0);
    case ELEMENT_INT8:
        return PyLong_FromLong(READ(int8_t, at));
    case ELEMENT_INT16:
        return PyLong_FromLong(READ(int16_t, at));
    case ELEMENT_INT32:
        return PyLong_FromLong(READ(int32_t, at));
    case ELEMENT_INT64:
        return PyLong_FromLongLong(READ(int64_t, at));
    case ELEMENT_UINT8:
        return PyLong_FromLong(READ(uint8_t, at));
    case ELEMENT_UINT16:
        return PyLong_FromLong(READ(uint16_t, at));
    case ELEMENT_UINT32:
        return PyLong_FromUnsignedLong(READ(uint32_t, at));
    case ELEMENT_UINT64:
        return PyLong_FromUnsignedLongLong(READ(uint64_t, at));
    case ELEMENT_FLOAT16:
        return PyFloat_FromDouble(half_value(READ(uint16_t, at)));
    case ELEMENT_BFLOAT16:
        return PyFloat_FromDouble(float_of_bits((uint32_t)READ(uint16_t, at) << 16));
    case ELEMENT_FLOAT32:
        return PyFloat_FromDouble(READ(float, at));
    case ELEMENT_FLOAT64:
        return PyFloat_FromDouble(READ(double, at));
    case ELEMENT_COMPLEX64:
        return complex_value(READ(float, at), READ(float, at + 4));
    case ELEMENT_COMPLEX128:
        return complex_value(READ(double, at), READ(double, at + 8));
    case ELEMENT_KIND_COUNT:
        break;
    }
    PyErr_SetString(PyExc_SystemError, "Tensor: unknown type of elements");
    return NULL;
}

static PyObject *list_of(const tensor *self, const char *at, int32_t axis) {
    if (axis == self->ndim)
        return element_value(at, (element_kind)self->element);
    PyObject *list = PyList_New((Py_ssize_t)tensor_shape(self)[axis]);
    for (int64_t i = 0; list && i < tensor_shape(self)[axis]; i++) {
        PyObject *value = list_of(self, at + i * tensor_strides_bytes(self)[axis], axis + 1);
        if (!value || PyList_SetItem(list, (Py_ssize_t)i, value) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *tensor_tolist(PyObject *object, PyObject *unused) {
    (void)unused;
    tensor *self = (tensor *)object;
    return list_of(self, self->data, 0);
}

static PyObject *tensor_item(PyObject *object, PyObject *unused) {
    (void)unused;
    tensor *self = (tensor *)object;
    if (self->count == 1)
        return element_value(self->data, (element_kind)self->element);
    return PyErr_Format(PyExc_ValueError, "Tensor.item(): it has %zd elements, not one; tolist() gives all",
                        self->count);
}

static PyObject *tensor_copy(PyObject *object, PyTypeObject *type, PyObject *const *args, Py_ssize_t count,
                             PyObject *names) {
    static const char *const none[] = {NULL};
    module_state *state = PyType_GetModuleState(type);
    view from = masu_py_tensor_view((tensor *)object);
    if (!state || !masu_py_arguments("Tensor.copy", none, 0, 0, args, count, names, NULL))
        return NULL;
    return masu_py_tensor_copy(state, &from, "Tensor.copy()");
}

static PyObject *tensor_numpy(PyObject *object, PyObject *unused) {
    (void)unused;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "O", object) : NULL;
    Py_XDECREF(numpy);
    return array;
}

/* ---- what it is -------------------------------------------------------------------------------------------------- */

static PyObject *tuple_of(const int64_t *numbers, int32_t count) {
    PyObject *tuple = PyTuple_New(count);
    for (int32_t i = 0; tuple && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i]);
        if (!number || PyTuple_SetItem(tuple, i, number) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_shape(PyObject *self, void *unused) {
    (void)unused;
    return tuple_of(tensor_shape((tensor *)self), ((tensor *)self)->ndim);
}

static PyObject *get_strides(PyObject *self, void *unused) {
    (void)unused;
    return tuple_of(tensor_strides_bytes((tensor *)self), ((tensor *)self)->ndim);
}

static PyObject *get_dtype(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_InternFromString(element_of((tensor *)self)->name);
}

static PyObject *get_ndim(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(((tensor *)self)->ndim);
}

static PyObject *get_size(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromSsize_t(((tensor *)self)->count);
}

static PyObject *get_nbytes(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromSsize_t(tensor_bytes((tensor *)self));
}

static PyObject *get_itemsize(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(element_of((tensor *)self)->bytes);
}

static PyObject *get_readonly(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((tensor *)self)->readonly);
}

static PyObject *get_data(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(((tensor *)self)->data);
}

static Py_ssize_t tensor_length(PyObject *object) {
    tensor *self = (tensor *)object;
    if (self->ndim > 0)
        return (Py_ssize_t)tensor_shape(self)[0];
    PyErr_SetString(PyExc_TypeError, "len(): a Tensor without dimensions has no length");
    return -1;
}

static PyObject *tensor_repr(PyObject *object) {
    tensor *self = (tensor *)object;
    PyObject *shape = get_shape(object, NULL);
    PyObject *text = shape ? PyUnicode_FromFormat("<masu.Tensor %s %R%s>", element_of(self)->name, shape,
                                                  self->readonly ? " read-only" : "")
                           : NULL;
    Py_XDECREF(shape);
    return text;
}

static PyMethodDef methods[] = {
    {"numpy", tensor_numpy, METH_NOARGS, "numpy($self, /)\n--\n\nA NumPy array of the same bytes; nothing is copied."},
    {"tolist", tensor_tolist, METH_NOARGS, "tolist($self, /)\n--\n\nIts elements as lists of lists of numbers."},
    {"item", tensor_item, METH_NOARGS, "item($self, /)\n--\n\nIts only element as a number."},
    {"copy", (PyCFunction)(void (*)(void))tensor_copy, METH_METHOD | METH_FASTCALL | METH_KEYWORDS,
     "copy($self, /)\n--\n\nA Tensor of its own bytes, in rows, that may be written to."},
    {"__dlpack__", (PyCFunction)(void (*)(void))masu_py_dlpack, METH_METHOD | METH_FASTCALL | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n"
     "--\n\n"
     "A capsule for from_dlpack()."},
    {"__dlpack_device__", masu_py_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\nWhere its bytes lie: the kind of device and its number."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"shape", get_shape, NULL, "Its lengths, a tuple.", NULL},
    {"strides", get_strides, NULL, "Bytes from one element to the next, for each dimension.", NULL},
    {"dtype", get_dtype, NULL, "The name of the type of its elements, such as 'float32'.", NULL},
    {"ndim", get_ndim, NULL, "The number of its dimensions.", NULL},
    {"size", get_size, NULL, "The number of its elements.", NULL},
    {"nbytes", get_nbytes, NULL, "The bytes of its elements.", NULL},
    {"itemsize", get_itemsize, NULL, "The bytes of one element.", NULL},
    {"readonly", get_readonly, NULL, "Whether its elements may not be written to.", NULL},
    {"data_ptr", get_data, NULL, "The address of its first element.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "A typed view of memory that somebody keeps: what asarray(), from_dlpack() and compiled functions give.\n\n"
     "NumPy, memoryview and PyTorch read it without a copy."},
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_traverse, tensor_traverse},
    {Py_tp_clear, tensor_clear},
    {Py_tp_repr, tensor_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_length, tensor_length},
    {Py_bf_getbuffer, tensor_getbuffer},
    {Py_bf_releasebuffer, tensor_releasebuffer},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "masu.Tensor",
    .basicsize = offsetof(tensor, numbers),
    .itemsize = sizeof(int64_t),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int masu_py_tensor_add_type(PyObject *module, module_state *state) {
    state->tensor_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->tensor_type ? PyModule_AddType(module, state->tensor_type) : -1;
}
