/* function.c: one function of a compiled program. Arguments are lent to it as they lie, results are views of its
 * memory.
 *
 *     Python's arguments ─► masu_value[] ─► the instance ─► masu_value[] ─► Python's results
 *                                           (its lock, not the interpreter's)
 *
 * A call of two small arrays costs well under a microsecond; so nothing here allocates but the results.
 */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include <masu/alloc.h>

typedef struct function {
    PyObject_HEAD
    program *from;
    const masu_function *what;
    module_state *state; /* this type keeps the module, and so its state */
    PyObject *bound;     /* a Handle, or NULL */
    uint32_t index;
    PyMethodDef definition;
    PyObject *text; /* bytes: the documentation with the signature */
} function;

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* The owner that keeps an argument alive for the call. */
typedef struct loan {
    PyObject *object; /* may be NULL */
    bool is_buffer;
    Py_buffer buffer;
} loan;

static void loans_end(loan *loans, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (loans[i].is_buffer)
            PyBuffer_Release(&loans[i].buffer);
        Py_XDECREF(loans[i].object);
    }
}

static bool wrong(const function *self, const masu_parameter *parameter, PyObject *kind, PyObject *given,
                  const char *wanted) {
    PyErr_Format(kind, "%s: %s is %s, and %R is not: %s", self->what->name, parameter->name, parameter->type, given,
                 wanted);
    return false;
}

static const char *const element_names[] = {
    [MASU_F32] = "float32", [MASU_F64] = "float64", [MASU_I64] = "int64", [MASU_BOOL] = "bool"};

static bool element_for_module(element_kind kind, masu_element *out) {
    switch (kind) {
    case ELEMENT_FLOAT32:
        *out = MASU_F32;
        return true;
    case ELEMENT_FLOAT64:
        *out = MASU_F64;
        return true;
    case ELEMENT_INT64:
        *out = MASU_I64;
        return true;
    case ELEMENT_BOOL:
        *out = MASU_BOOL;
        return true;
    default:
        return false;
    }
}

/* The commonest formats without a look at the table. */
static bool element_for_format(const char *format, Py_ssize_t bytes, masu_element *out) {
    if (format && !format[1]) {
        if (format[0] == 'f')
            return *out = MASU_F32, true;
        if (format[0] == 'd')
            return *out = MASU_F64, true;
    }
    element_kind kind;
    return masu_py_element_of_format(format, bytes, &kind) && element_for_module(kind, out);
}

/* The shape that the program's type asks for, in the words of the caller. */
static bool check_tensor(const function *self, const masu_parameter *parameter, const masu_tensor *tensor,
                         bool element_known, const char *given) {
    if (!element_known || (parameter->element != MASU_ELEMENT_COUNT && parameter->element != tensor->element)) {
        PyErr_Format(PyExc_TypeError, "%s: %s: its elements are %s, and `%s` has %s", self->what->name, parameter->name,
                     element_known ? element_names[tensor->element] : given, parameter->type,
                     parameter->element < MASU_ELEMENT_COUNT ? element_names[parameter->element]
                                                             : "float32, float64, int64 or bool");
        return false;
    }
    if (parameter->rank >= 0 && parameter->rank != tensor->rank) {
        PyErr_Format(PyExc_ValueError, "%s: %s: has %d dimension%s, and `%s` has %d", self->what->name, parameter->name,
                     (int)tensor->rank, tensor->rank == 1 ? "" : "s", parameter->type, (int)parameter->rank);
        return false;
    }
    for (int32_t i = 0; parameter->rank > 0 && parameter->shape && i < parameter->rank; i++)
        if (parameter->shape[i] >= 0 && parameter->shape[i] != tensor->shape[i]) {
            PyErr_Format(PyExc_ValueError, "%s: %s: has length %lld in dimension %d, and `%s` has %lld",
                         self->what->name, parameter->name, (long long)tensor->shape[i], (int)i, parameter->type,
                         (long long)parameter->shape[i]);
            return false;
        }
    return true;
}

static bool too_many_dimensions(const function *self, const masu_parameter *parameter, int ndim) {
    if (ndim <= MASU_RANK_MAX)
        return false;
    PyErr_Format(PyExc_ValueError, "%s: %s: has %d dimensions; a program's tensor has at most %d", self->what->name,
                 parameter->name, ndim, (int)MASU_RANK_MAX);
    return true;
}

static bool lend_tensor(const function *self, const masu_parameter *parameter, const tensor *from, masu_tensor *out) {
    if (too_many_dimensions(self, parameter, from->ndim))
        return false;
    out->data = from->data;
    out->device = MASU_TENSOR_ON_HOST;
    out->rank = from->ndim;
    out->flags = from->readonly ? MASU_TENSOR_READ_ONLY : 0;
    out->owner = NULL;
    for (int32_t i = 0; i < from->ndim; i++) {
        out->shape[i] = tensor_shape(from)[i];
        out->stride[i] = tensor_strides(from)[i];
    }
    if (parameter->is_written && from->readonly) {
        PyErr_Format(PyExc_ValueError, "%s: %s: is read-only, and `%s` is written to", self->what->name,
                     parameter->name, parameter->type);
        return false;
    }
    bool known = element_for_module((element_kind)from->element, &out->element);
    return check_tensor(self, parameter, out, known, masu_py_elements[from->element].name);
}

/* Anything that is an array, by way of a Tensor. One that is written to is never a copy. */
static bool lend_array(const function *self, const masu_parameter *parameter, PyObject *given, masu_tensor *out,
                       loan *keep) {
    char what[160];
    snprintf(what, sizeof what, "%s: %s", self->what->name, parameter->name);
    keep->object = masu_py_as_tensor(self->state, given, parameter->is_written ? COPY_NEVER : COPY_WHEN_NEEDED, what);
    return keep->object && lend_tensor(self, parameter, (const tensor *)keep->object, out);
}

/* A buffer whose elements lie apart by whole elements, aligned: read where it lies. Sets *fits, else nothing is
 * lent. */
static bool lend_buffer(const function *self, const masu_parameter *parameter, PyObject *given, masu_tensor *out,
                        loan *keep, bool *fits) {
    Py_buffer *buffer = &keep->buffer;
    *fits = false;
    if (PyObject_GetBuffer(given, buffer, parameter->is_written ? PyBUF_RECORDS : PyBUF_RECORDS_RO) < 0) {
        PyErr_Clear(); /* the long way says why */
        return true;
    }
    keep->is_buffer = true;
    if (too_many_dimensions(self, parameter, buffer->ndim))
        return false;
    bool known = element_for_format(buffer->format, buffer->itemsize, &out->element);
    size_t mask = known ? masu_element_bytes(out->element) - 1 : 0;
    size_t odd = (uintptr_t)buffer->buf & mask;
    int shift = known ? __builtin_ctzll(mask + 1) : 0;
    for (int i = 0; i < buffer->ndim; i++) {
        odd |= (size_t)buffer->strides[i] & mask;
        out->shape[i] = buffer->shape[i];
        out->stride[i] = buffer->strides[i] >> shift;
    }
    if (odd) {
        PyBuffer_Release(buffer);
        keep->is_buffer = false;
        return true;
    }
    out->data = buffer->buf;
    out->device = MASU_TENSOR_ON_HOST;
    out->rank = buffer->ndim;
    out->flags = buffer->readonly ? MASU_TENSOR_READ_ONLY : 0;
    out->owner = NULL;
    *fits = true;
    return check_tensor(self, parameter, out, known, buffer->format ? buffer->format : "bytes");
}

static bool tensor_argument(const function *self, const masu_parameter *parameter, PyObject *given, masu_tensor *out,
                            loan *keep) {
    if (masu_py_is_tensor(self->state, given))
        return lend_tensor(self, parameter, (const tensor *)given, out);
    bool fits = false;
    if (PyObject_CheckBuffer(given) && !lend_buffer(self, parameter, given, out, keep, &fits))
        return false;
    return fits || lend_array(self, parameter, given, out, keep);
}

static bool integer_argument(const function *self, const masu_parameter *parameter, PyObject *given, int64_t *out) {
    PyObject *index = PyBool_Check(given) ? NULL : PyNumber_Index(given);
    if (!index) {
        PyErr_Clear();
        return wrong(self, parameter, PyExc_TypeError, given, "give a whole number");
    }
    int overflow = 0;
    *out = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow || *out < parameter->least || *out > parameter->most) {
        PyErr_Format(PyExc_OverflowError, "%s: %s: %R is not in %lld to %lld, which `%s` holds", self->what->name,
                     parameter->name, given, (long long)parameter->least, (long long)parameter->most, parameter->type);
        return false;
    }
    return true;
}

static bool float_argument(const function *self, const masu_parameter *parameter, PyObject *given, double *out) {
    *out = PyBool_Check(given) ? -1 : PyFloat_AsDouble(given);
    if (*out == -1 && (PyBool_Check(given) || PyErr_Occurred())) {
        if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))
            return wrong(self, parameter, PyExc_TypeError, given, "give a number");
        return false;
    }
    return true;
}

static bool handle_argument(const function *self, const masu_parameter *parameter, PyObject *given, masu_handle **out) {
    const masu_handle_type *types = self->from->table->handle_types;
    if (!Py_IS_TYPE(given, self->state->handle_of_program))
        return wrong(self, parameter, PyExc_TypeError, given, "give what a function of this program returned");
    const handle *from = (const handle *)given;
    if (from->from != self->from) {
        PyErr_Format(PyExc_ValueError, "%s: %s: this %s belongs to another instance of a program", self->what->name,
                     parameter->name, from->from->table->handle_types[from->type].name);
        return false;
    }
    if (from->type != parameter->handle_type) {
        PyErr_Format(PyExc_TypeError, "%s: %s: is a `%s`, not a `%s`", self->what->name, parameter->name,
                     types[from->type].name, types[parameter->handle_type].name);
        return false;
    }
    *out = from->value;
    return true;
}

static bool argument(const function *self, const masu_parameter *parameter, PyObject *given, masu_value *out,
                     loan *keep) {
    double number;
    Py_ssize_t length;
    out->kind = parameter->kind;
    switch (parameter->kind) {
    case MASU_KIND_TENSOR:
        return tensor_argument(self, parameter, given, &out->as.tensor, keep);
    case MASU_KIND_I64:
        return integer_argument(self, parameter, given, &out->as.i64);
    case MASU_KIND_F64:
        return float_argument(self, parameter, given, &out->as.f64);
    case MASU_KIND_F32:
        if (!float_argument(self, parameter, given, &number))
            return false;
        out->as.f32 = (float)number;
        return true;
    case MASU_KIND_BOOL:
        if (!PyBool_Check(given))
            return wrong(self, parameter, PyExc_TypeError, given, "give True or False");
        out->as.truth = given == Py_True;
        return true;
    case MASU_KIND_TEXT:
        if (!PyUnicode_Check(given))
            return wrong(self, parameter, PyExc_TypeError, given, "give a str");
        out->as.text = (masu_string){.data = PyUnicode_AsUTF8AndSize(given, &length)};
        out->as.text.length = (size_t)length;
        return out->as.text.data != NULL;
    case MASU_KIND_HANDLE:
        return handle_argument(self, parameter, given, &out->as.handle);
    case MASU_KIND_NONE:
        break;
    }
    PyErr_Format(PyExc_SystemError, "%s: %s: a kind of parameter that is not known", self->what->name, parameter->name);
    return false;
}

/* ---- which argument is which ------------------------------------------------------------------------------------- */

static bool refuse_count(const function *self, Py_ssize_t given) {
    uint32_t bound = self->bound != NULL, wanted = self->what->parameter_count - bound;
    PyErr_Format(PyExc_TypeError, "%s: takes %u argument%s, not %zd", self->what->name, wanted, wanted == 1 ? "" : "s",
                 given);
    return false;
}

static bool sort_arguments(const function *self, PyObject *const *args, Py_ssize_t count, PyObject *names,
                           PyObject **out) {
    const masu_function *what = self->what;
    uint32_t bound = self->bound != NULL;
    if (bound)
        out[0] = self->bound;
    if (count > (Py_ssize_t)(what->parameter_count - bound))
        return refuse_count(self, count);
    for (uint32_t i = bound; i < what->parameter_count; i++)
        out[i] = i - bound < (size_t)count ? args[i - bound] : NULL;
    for (Py_ssize_t i = 0, named = names ? PyTuple_Size(names) : 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        uint32_t at = bound;
        while (at < what->parameter_count && PyUnicode_CompareWithASCIIString(name, what->parameters[at].name))
            at++;
        if (at == what->parameter_count || out[at]) {
            PyErr_Format(PyExc_TypeError,
                         at == what->parameter_count ? "%s: has no parameter `%U`" : "%s: was given `%U` twice",
                         what->name, name);
            return false;
        }
        out[at] = args[count + i];
    }
    for (uint32_t i = bound; i < what->parameter_count; i++)
        if (!out[i]) {
            PyErr_Format(PyExc_TypeError, "%s: needs the argument `%s` (%s)", what->name, what->parameters[i].name,
                         what->parameters[i].type);
            return false;
        }
    return true;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Takes the value over when it succeeds. */
static PyObject *tensor_result(const function *self, masu_value *value) {
    static const element_kind kinds[] = {[MASU_F32] = ELEMENT_FLOAT32,
                                         [MASU_F64] = ELEMENT_FLOAT64,
                                         [MASU_I64] = ELEMENT_INT64,
                                         [MASU_BOOL] = ELEMENT_BOOL};
    const masu_tensor *made = &value->as.tensor;
    view from = {.data = made->data,
                 .shape = made->shape,
                 .strides = made->stride,
                 .ndim = made->rank,
                 .element = kinds[made->element],
                 .device = {DL_CPU, 0},
                 .readonly = made->flags & MASU_TENSOR_READ_ONLY};
    storage *kept = masu_py_storage_of_value(value, self->from->table->release);
    PyObject *tensor = kept ? masu_py_tensor_new(self->state, &from, kept, self->what->name) : NULL;
    if (kept && !tensor)
        masu_py_storage_forget(kept);
    if (tensor)
        value->kind = MASU_KIND_NONE;
    return tensor;
}

static PyObject *result(const function *self, const masu_parameter *type, masu_value *value) {
    PyObject *made = NULL;
    switch (value->kind) {
    case MASU_KIND_TENSOR:
        return tensor_result(self, value);
    case MASU_KIND_F32:
        return PyFloat_FromDouble(value->as.f32);
    case MASU_KIND_F64:
        return PyFloat_FromDouble(value->as.f64);
    case MASU_KIND_I64:
        return PyLong_FromLongLong(value->as.i64);
    case MASU_KIND_BOOL:
        return PyBool_FromLong(value->as.truth);
    case MASU_KIND_TEXT:
        return PyUnicode_DecodeUTF8(value->as.text.data, (Py_ssize_t)value->as.text.length, "replace");
    case MASU_KIND_HANDLE:
        made = masu_py_handle_new(self->state, self->from, type->handle_type, value->as.handle);
        value->kind = MASU_KIND_NONE;
        return made;
    case MASU_KIND_NONE:
        break;
    }
    return PyErr_Format(PyExc_SystemError, "%s: gave nothing where its type promises a value", self->what->name);
}

static PyObject *results_of(const function *self, masu_value *values) {
    const masu_function *what = self->what;
    if (what->result_count == 0)
        return Py_NewRef(Py_None);
    PyObject *tuple = what->is_tuple ? PyTuple_New((Py_ssize_t)what->result_count) : NULL, *one = NULL;
    bool fine = !what->is_tuple || tuple;
    for (uint32_t i = 0; fine && i < what->result_count; i++) {
        one = result(self, &what->results[i], &values[i]);
        fine = one && (!tuple || PyTuple_SetItem(tuple, (Py_ssize_t)i, one) == 0);
    }
    for (uint32_t i = 0; i < what->result_count; i++)
        if (values[i].kind == MASU_KIND_TENSOR || values[i].kind == MASU_KIND_TEXT ||
            values[i].kind == MASU_KIND_HANDLE)
            self->from->table->release(&values[i]);
    if (!tuple)
        return one;
    if (!fine)
        Py_CLEAR(tuple);
    return tuple;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Inside of the instance, where another thread may be at work. The text of an error is copied while the instance is
 * ours. */
static masu_status call(const function *self, const masu_value *arguments, masu_value *results, char *error,
                        size_t room) {
    program *from = self->from;
    bool ours = pthread_mutex_trylock(&from->lock) == 0;
    PyThreadState *thread = PyEval_SaveThread();
    if (!ours)
        pthread_mutex_lock(&from->lock);
    masu_status status = from->table->call(from->instance, self->index, arguments, results);
    if (status != MASU_OK)
        snprintf(error, room, "%s", from->table->error(from->instance));
    pthread_mutex_unlock(&from->lock);
    PyEval_RestoreThread(thread);
    return status;
}

static PyObject *called(const function *self, PyObject *const *given, loan *loans, masu_value *arguments,
                        masu_value *results) {
    const masu_function *what = self->what;
    uint32_t lent = 0;
    bool fine = true;
    while (fine && lent < what->parameter_count) {
        loans[lent].object = NULL;
        loans[lent].is_buffer = false;
        fine = argument(self, &what->parameters[lent], given[lent], &arguments[lent], &loans[lent]);
        lent++;
    }
    char error[2048];
    masu_status status = MASU_OK;
    if (fine) {
        memset(results, 0, what->result_count * sizeof *results);
        status = call(self, arguments, results, error, sizeof error);
    }
    loans_end(loans, lent);
    if (!fine)
        return NULL;
    if (status == MASU_OK)
        return results_of(self, results);
    return masu_py_raise(self->state, error[0] ? error : masu_status_text(status), masu_status_name(status));
}

enum { FEW = 12 };

static PyObject *function_call(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    const function *self = (const function *)object;
    uint32_t parameters = self->what->parameter_count, result_count = self->what->result_count;
    if (parameters <= FEW && result_count <= FEW) {
        PyObject *given[FEW];
        loan loans[FEW];
        masu_value arguments[FEW], results[FEW];
        return sort_arguments(self, args, count, names, given) ? called(self, given, loans, arguments, results) : NULL;
    }
    size_t bytes = parameters * (sizeof(PyObject *) + sizeof(loan) + sizeof(masu_value)) +
                   result_count * sizeof(masu_value);
    char *room = masu_alloc(bytes);
    if (!room)
        return PyErr_NoMemory();
    masu_value *arguments = (masu_value *)room, *results = arguments + parameters;
    loan *loans = (loan *)(results + result_count);
    PyObject **given = (PyObject **)(loans + parameters);
    PyObject *outcome = sort_arguments(self, args, count, names, given) ? called(self, given, loans, arguments, results)
                                                                        : NULL;
    (void)masu_free(room, bytes);
    return outcome;
}

/* ---- the object -------------------------------------------------------------------------------------------------- */

/* Puts more behind a text; NULL stays NULL. */
static void add(PyObject **text, const char *first, const char *second, const char *third) {
    PyObject *longer = *text ? PyUnicode_FromFormat("%U%s%s%s", *text, first, second, third) : NULL;
    Py_XDECREF(*text);
    *text = longer;
}

/* "step(x, w)\n--\n\n…" is what Python's inspect reads; then the documentation and the declaration. */
static PyObject *text_of(const masu_function *what, uint32_t bound) {
    PyObject *text = PyUnicode_FromFormat("%s(", what->name);
    for (uint32_t i = bound; i < what->parameter_count; i++)
        add(&text, i > bound ? ", " : "", what->parameters[i].name, "");
    add(&text, ")\n--\n\n", what->documentation, what->documentation[0] ? "\n\n" : "");
    add(&text, "fn ", what->name, "(");
    for (uint32_t i = 0; i < what->parameter_count; i++) {
        add(&text, i ? ", " : "", what->parameters[i].name, ": ");
        add(&text, what->parameters[i].type, "", "");
    }
    add(&text, ")", what->result_count ? " -> " : "", what->is_tuple ? "(" : "");
    for (uint32_t i = 0; i < what->result_count; i++)
        add(&text, i ? ", " : "", what->results[i].type, "");
    add(&text, what->is_tuple ? ")" : "", "", "");
    PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
    Py_XDECREF(text);
    return bytes;
}

PyObject *masu_py_function_new(module_state *state, program *from, uint32_t index, PyObject *bound) {
    function *self = PyObject_GC_New(function, state->function_type);
    if (!self)
        return NULL;
    self->from = masu_py_program_hold(from);
    self->what = &from->table->functions[index];
    self->state = state;
    self->index = index;
    self->bound = NULL;
    if (bound)
        self->bound = Py_NewRef(bound);
    self->text = text_of(self->what, bound != NULL);
    PyObject_GC_Track((PyObject *)self);
    PyObject *outcome = NULL;
    if (self->text) {
        self->definition = (PyMethodDef){.ml_name = self->what->name,
                                         .ml_meth = (PyCFunction)(void (*)(void))function_call,
                                         .ml_flags = METH_FASTCALL | METH_KEYWORDS,
                                         .ml_doc = PyBytes_AsString(self->text)};
        outcome = PyCFunction_NewEx(&self->definition, (PyObject *)self, NULL);
    }
    Py_DECREF((PyObject *)self);
    return outcome;
}

static int function_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT((PyObject *)Py_TYPE(object));
    Py_VISIT(((function *)object)->bound);
    return 0;
}

static void function_dealloc(PyObject *object) {
    function *self = (function *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    masu_py_program_drop(self->from);
    Py_XDECREF(self->bound);
    Py_XDECREF(self->text);
    PyObject_GC_Del(object);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot slots[] = {
    {Py_tp_doc, "What a compiled function is bound to."},
    {Py_tp_dealloc, function_dealloc},
    {Py_tp_traverse, function_traverse},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "masu.Function",
    .basicsize = sizeof(function),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int masu_py_function_make_type(PyObject *module, module_state *state) {
    state->function_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->function_type ? 0 : -1;
}
