/* arguments.c: what a caller in C brings: looked at before the function runs, made into values when it asks. */
#include <assert.h>
#include <string.h>

#include "runtime/calls/calls.h"
#include "runtime/value/display.h"
#include "runtime/value/objects.h"

static const char *const element_names[MASU_ELEMENT_COUNT] = {"f32", "f64", "i64", "bool"};

static_assert((int)MASU_F32 == (int)TL_F32 && (int)MASU_F64 == (int)TL_F64 && (int)MASU_I64 == (int)TL_I64 &&
                  (int)MASU_BOOL == (int)TL_BOOL && (int)MASU_RANK_MAX == (int)TL_MAX_RANK,
              "both sides of the border count alike");

/* ---- views ------------------------------------------------------------------------------------------------------ */

static bool is_empty(const masu_tensor *view) {
    for (int d = 0; d < view->rank; d++)
        if (view->shape[d] == 0)
            return true;
    return false;
}

/* Bytes from the first element to the farthest, in both directions, can be counted. */
bool tl__view_is_possible(const masu_tensor *view) {
    int64_t low = 0, high = 0, elements = 1;
    if (view->rank < 0 || view->rank > MASU_RANK_MAX)
        return false;
    for (int d = 0; d < view->rank; d++)
        if (view->shape[d] < 0)
            return false;
    if (is_empty(view))
        return true;
    for (int d = 0; d < view->rank; d++) {
        int64_t reach;
        if (__builtin_mul_overflow(elements, view->shape[d], &elements) ||
            __builtin_mul_overflow(view->shape[d] - 1, view->stride[d], &reach) ||
            __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
            return false;
    }
    return view->data && elements <= INT64_MAX / 8 && low >= INT64_MIN / 8 && high <= INT64_MAX / 8;
}

static int64_t distance(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

/* From the shortest stride on, each leads behind all that the ones before it reach. */
bool tl__view_is_plain(const masu_tensor *view) {
    bool done[MASU_RANK_MAX] = {false};
    int64_t reach = 0;
    if (is_empty(view))
        return true;
    for (int n = 0; n < view->rank; n++) {
        int next = -1;
        for (int d = 0; d < view->rank; d++)
            if (!done[d] && (next < 0 || distance(view->stride[d]) < distance(view->stride[next])))
                next = d;
        done[next] = true;
        if (view->shape[next] == 1)
            continue;
        if (distance(view->stride[next]) <= reach)
            return false;
        reach += (view->shape[next] - 1) * distance(view->stride[next]);
    }
    return true;
}

static bool is_row_major(const masu_tensor *view) {
    int64_t stride = 1;
    for (int d = view->rank - 1; d >= 0; d--) {
        if (view->shape[d] != 1 && view->stride[d] != stride)
            return false;
        stride *= view->shape[d];
    }
    return true;
}

static bool is_aligned(const masu_tensor *view) {
    return (uintptr_t)view->data % tl__dtype_size((tl_dtype)view->element) == 0;
}

typedef struct strided_copy {
    char *to;
    const char *from;
    const int64_t *to_stride, *from_stride, *shape;
    int rank;
    size_t size;
} strided_copy;

static void copy_dimension(const strided_copy *c, int d, char *to, const char *from) {
    int64_t to_step = c->rank > d ? c->to_stride[d] * (int64_t)c->size : 0;
    int64_t from_step = c->rank > d ? c->from_stride[d] * (int64_t)c->size : 0;
    if (d == c->rank) {
        memcpy(to, from, c->size);
        return;
    }
    if (d == c->rank - 1 && to_step == (int64_t)c->size && from_step == (int64_t)c->size) {
        memcpy(to, from, (size_t)c->shape[d] * c->size);
        return;
    }
    for (int64_t k = 0; k < c->shape[d]; k++)
        copy_dimension(c, d + 1, to + k * to_step, from + k * from_step);
}

void tl__elements_copy(void *to, const int64_t *to_stride, const void *from, const int64_t *from_stride, int rank,
                       const int64_t *shape, size_t size) {
    strided_copy c = {to, from, to_stride, from_stride, shape, rank, size};
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0)
            return;
    copy_dimension(&c, 0, to, from);
}

/* ---- what does not fit ------------------------------------------------------------------------------------------- */

static masu_status check_shape(masu_instance *i, const masu_parameter *p, const masu_tensor *t) {
    char has[TL_SHAPE_TEXT], wants[TL_SHAPE_TEXT];
    if (p->rank >= 0 && t->rank != p->rank)
        return tl__call_refuse(i, MASU_ERR_SHAPE_MISMATCH, p,
                               "a tensor of %d dimensions is wanted, this one has shape %s", p->rank,
                               tl__shape_text(t->rank, t->shape, has));
    for (int d = 0; p->shape && d < t->rank; d++)
        if (p->shape[d] >= 0 && p->shape[d] != t->shape[d])
            return tl__call_refuse(i, MASU_ERR_SHAPE_MISMATCH, p, "shape %s is wanted, this one has %s",
                                   tl__shape_text(t->rank, p->shape, wants), tl__shape_text(t->rank, t->shape, has));
    return MASU_OK;
}

/* A bool is one of two bytes; compiled code counts on it. */
static bool bools_are_sound(const masu_tensor *t, int d, const uint8_t *at) {
    if (d == t->rank)
        return *at <= 1;
    for (int64_t k = 0; k < t->shape[d]; k++)
        if (!bools_are_sound(t, d + 1, at + k * t->stride[d]))
            return false;
    return true;
}

static masu_status check_tensor(masu_instance *i, const masu_parameter *p, const masu_tensor *t) {
    if (t->device != MASU_TENSOR_ON_HOST)
        return tl__call_refuse(i, MASU_ERR_UNSUPPORTED, p,
                               "its elements lie on device %d; only memory of the host can be read", t->device);
    if ((unsigned)t->element >= MASU_ELEMENT_COUNT || t->element != p->element)
        return tl__call_refuse(
            i, MASU_ERR_DTYPE_MISMATCH, p, "elements of type %s are wanted, these are %s", element_names[p->element],
            (unsigned)t->element < MASU_ELEMENT_COUNT ? element_names[t->element] : "of no type that is known");
    if (!tl__view_is_possible(t))
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p,
                               "a view of rank %d at %p cannot be: its shape or its strides are wrong", t->rank,
                               t->data);
    masu_status status = check_shape(i, p, t);
    if (status != MASU_OK)
        return status;
    if (p->is_written && (t->flags & MASU_TENSOR_READ_ONLY))
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p, "the function writes to it, and it is read-only");
    if (p->is_written && !tl__view_is_plain(t))
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p,
                               "the function writes to it, and its strides name an element twice");
    if (t->element == MASU_BOOL && !is_empty(t) && !bools_are_sound(t, 0, t->data))
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p, "an element of type bool is neither 0 nor 1");
    return MASU_OK;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    return b ? common_divisor(b, a % b) : a;
}

/* The bytes from the first to behind the last element; *step: the common divisor of what it was and of all strides. */
static void reach(const masu_tensor *t, uintptr_t *lower, uintptr_t *upper, uint64_t *step) {
    size_t bytes = masu_element_bytes(t->element);
    *lower = *upper = (uintptr_t)t->data;
    for (int d = 0; d < t->rank; d++) {
        int64_t stride = t->stride[d] * (int64_t)bytes;
        if (t->shape[d] > 1)
            *step = common_divisor((uint64_t)distance(stride), *step);
        *(stride < 0 ? lower : upper) += (uintptr_t)(stride * (t->shape[d] - 1));
    }
    *upper += bytes;
}

/* Whether an element of one may lie in an element of the other. Every second of a row and those between do not. */
static bool share_bytes(const masu_tensor *a, const masu_tensor *b) {
    uintptr_t lower_a, upper_a, lower_b, upper_b;
    uint64_t step = 0;
    if (is_empty(a) || is_empty(b))
        return false;
    reach(a, &lower_a, &upper_a, &step);
    reach(b, &lower_b, &upper_b, &step);
    if (upper_a <= lower_b || upper_b <= lower_a)
        return false;
    if (step == 0)
        return true;
    uint64_t apart = lower_a < lower_b ? (lower_b - lower_a) % step : (step - (lower_a - lower_b) % step) % step;
    return apart < masu_element_bytes(a->element) || step - apart < masu_element_bytes(b->element);
}

/* Two that the function writes to are two: of the same memory one write would be lost. */
static masu_status check_apart(masu_instance *i, uint32_t n) {
    const masu_parameter *parameters = i->function->parameters;
    const masu_value *v = &i->arguments[n];
    for (uint32_t k = 0; parameters[n].is_written && k < n; k++) {
        const masu_value *other = &i->arguments[k];
        bool tensors = v->kind == MASU_KIND_TENSOR && other->kind == v->kind;
        bool handles = v->kind == MASU_KIND_HANDLE && other->kind == v->kind;
        if (parameters[k].is_written && ((tensors && share_bytes(&v->as.tensor, &other->as.tensor)) ||
                                         (handles && v->as.handle == other->as.handle)))
            return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, &parameters[n],
                                   "the same memory as `%s`, and the function writes to both: give a copy of one",
                                   parameters[k].name);
    }
    return MASU_OK;
}

static masu_status check_handle(masu_instance *i, const masu_parameter *p, uint32_t n) {
    const masu_handle *handle = i->arguments[n].as.handle;
    if (!handle || handle->instance != i)
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p,
                               handle ? "the handle belongs to another instance" : "the handle is NULL");
    if (handle->kind != MASU_KIND_HANDLE || handle->type != p->handle_type)
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p, "a `%s` is wanted, the handle is a `%s`",
                               i->module->handle_types[p->handle_type].name,
                               handle->kind == MASU_KIND_HANDLE ? i->module->handle_types[handle->type].name
                                                                : "result");
    return MASU_OK;
}

static masu_status check_one(masu_instance *i, uint32_t n) {
    static const char *const names[] = {"nothing", "a tensor", "an f32", "an f64",
                                        "an i64",  "a bool",   "a text", "a handle"};
    const masu_parameter *p = &i->function->parameters[n];
    const masu_value *v = &i->arguments[n];
    if (v->kind != p->kind)
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p, "%s is wanted, not %s", names[p->kind],
                               (unsigned)v->kind <= MASU_KIND_HANDLE ? names[v->kind]
                                                                     : "a value of no kind that is known");
    switch (p->kind) {
    case MASU_KIND_TENSOR:
        return check_tensor(i, p, &v->as.tensor);
    case MASU_KIND_HANDLE:
        return check_handle(i, p, n);
    case MASU_KIND_I64:
        return v->as.i64 >= p->least && v->as.i64 <= p->most
                   ? MASU_OK
                   : tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p, "%" PRId64 " is not a number of type %s",
                                     v->as.i64, p->type);
    case MASU_KIND_TEXT:
        return (v->as.text.data || v->as.text.length == 0) && v->as.text.length <= INT64_MAX / 2 &&
                       tl__is_utf8(v->as.text.data, v->as.text.length)
                   ? MASU_OK
                   : tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, p, "a text is UTF-8");
    default:
        return MASU_OK;
    }
}

masu_status tl__arguments_check(masu_instance *i) {
    masu_status status = MASU_OK;
    if (i->function->parameter_count > 0 && !i->arguments)
        return tl__call_refuse(i, MASU_ERR_INVALID_ARGUMENT, NULL, "it takes %" PRIu32 " arguments, and there are none",
                               i->function->parameter_count);
    for (uint32_t n = 0; status == MASU_OK && n < i->function->parameter_count; n++) {
        status = check_one(i, n);
        status = status == MASU_OK ? check_apart(i, n) : status;
    }
    return status;
}

/* ---- what compiled code asks for --------------------------------------------------------------------------------- */

static masu_instance *called(void) {
    MASU_DEBUG_ASSERT(tl__runtime()->called);
    return tl__runtime()->called;
}

int64_t tl_call_function(void) {
    return called()->number;
}

double tl_call_f64(int64_t index) {
    const masu_value *v = &called()->arguments[index];
    return v->kind == MASU_KIND_F32 ? (double)v->as.f32 : v->as.f64;
}

int64_t tl_call_i64(int64_t index) {
    return called()->arguments[index].as.i64;
}

bool tl_call_bool(int64_t index) {
    return called()->arguments[index].as.truth;
}

tl_object *tl_call_object(int64_t index) {
    const masu_value *v = &called()->arguments[index];
    tl_object *made = NULL;
    if (v->kind == MASU_KIND_TEXT) {
        masu_status status = tl__string_new(v->as.text.data, (int64_t)v->as.text.length, &made);
        return tl__object_or_raise(status, made);
    }
    v->as.handle->object->count++;
    return v->as.handle->object;
}

static masu_status copied_tensor(const masu_tensor *view, tl_tensor **out) {
    masu_status status = tl__tensor_new((tl_dtype)view->element, view->rank, view->shape, out);
    if (status == MASU_OK && (*out)->elements > 0)
        tl__elements_copy((*out)->data, (*out)->stride, view->data, view->stride, view->rank, view->shape,
                          tl__dtype_size((tl_dtype)view->element));
    return status;
}

tl_tensor *tl_call_tensor(int64_t index) {
    masu_instance *i = called();
    const masu_tensor *view = &i->arguments[index].as.tensor;
    tl_tensor *made = NULL;
    masu_status status = MASU_OK;
    if (is_empty(view) || !is_row_major(view) || !is_aligned(view)) {
        status = copied_tensor(view, &made);
        return tl__tensor_or_raise(status, made);
    }
    if (!i->foreign[index])
        status = tl__tensor_foreign((tl_dtype)view->element, view->rank, view->shape, view->data, &i->foreign[index]);
    if (status == MASU_OK)
        status = tl__tensor_view(i->foreign[index], &made);
    return tl__tensor_or_raise(status, made);
}

masu_status tl__arguments_end(masu_instance *i) {
    masu_status status = MASU_OK;
    for (uint32_t n = 0; n < i->function->parameter_count; n++) {
        if (i->foreign[n] && status == MASU_OK)
            status = tl__tensor_settle(i->foreign[n]);
        if (status == MASU_OK) {
            tl__tensor_drop(i->foreign[n]);
            i->foreign[n] = NULL;
        }
    }
    return status;
}
