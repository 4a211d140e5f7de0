/* creation.c: tensors from numbers, shapes and chance. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* ---- filling --------------------------------------------------------------------------------- */

int64_t tl__i64_of(double value) {
    if (value != value)
        return 0;
    if (value >= 0x1p63)
        return INT64_MAX;
    return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

#define FILL(type, converted)                     \
    do {                                          \
        type *to = t->data;                       \
        const type with = (type)(converted);      \
        for (int64_t i = 0; i < t->elements; i++) \
            to[i] = with;                         \
    } while (0)

/* t is contiguous and not seen elsewhere. */
void tl__fill(tl_tensor *t, double value) {
    switch ((tl_dtype)t->dtype) {
    case TL_F32:
        FILL(float, value);
        break;
    case TL_F64:
        FILL(double, value);
        break;
    case TL_I64:
        FILL(int64_t, tl__i64_of(value));
        break;
    default:
        FILL(tl_byte, value != 0);
        break;
    }
}

masu_status tl__full(tl_dtype dtype, int rank, const int64_t *shape, double value, tl_tensor **out) {
    masu_status status = tl__tensor_new(dtype, rank, shape, out);
    if (status == MASU_OK)
        tl__fill(*out, value);
    return status;
}

masu_status tl__copy(const tl_tensor *t, tl_tensor **out) {
    tl_tensor *own;
    masu_status status = tl__tensor_view(t, &own);
    if (status != MASU_OK)
        return status;
    status = tl__tensor_make_writable(own);
    if (status != MASU_OK)
        tl__tensor_drop(own);
    else
        *out = own;
    return status;
}

/* ---- from a shape ---------------------------------------------------------------------------- */

typedef void fill_function(tl_tensor *t, double value);

static void fill_normal(tl_tensor *t, double value) {
    (void)value;
    masu__rng *rng = &tl__runtime()->rng;
    if (t->dtype == TL_F32) {
        masu__rng_fill_normal_f32(rng, t->data, (uint64_t)t->elements);
        return;
    }
    masu__rng_fill_normal_f64(rng, t->data, (uint64_t)t->elements);
}

static void fill_uniform(tl_tensor *t, double value) {
    (void)value;
    masu__rng *rng = &tl__runtime()->rng;
    if (t->dtype == TL_F32) {
        masu__rng_fill_uniform_f32(rng, t->data, (uint64_t)t->elements);
        return;
    }
    double *to = t->data;
    for (int64_t i = 0; i < t->elements; i++)
        to[i] = masu__rng_uniform(rng);
}

static masu_status make(tl_dtype dtype, int64_t rank, const int64_t *shape, bool track, fill_function *fill,
                        double value, tl_tensor **out) {
    if (rank > TL_MAX_RANK)
        return tl__error(TL_SAY(tensor_at_most_dimensions_not), TL_MAX_RANK, rank);
    tl_tensor *t;
    masu_status status = tl__tensor_new(dtype, (int)rank, shape, &t);
    if (status != MASU_OK)
        return status;
    if (t->elements > 0)
        fill(t, value);
    if (track)
        status = tl__leaf_new(t, &t->node);
    if (status != MASU_OK) {
        t->node = NULL;
        tl__tensor_drop(t);
        return status;
    }
    *out = t;
    return MASU_OK;
}

tl_tensor *tl_tensor_zeros(int64_t shape_count, int64_t const *shape, bool grad) {
    TL_RETURN_TENSOR(make(TL_F32, shape_count, shape, grad, tl__fill, 0.0, &out));
}

tl_tensor *tl_tensor_ones(int64_t shape_count, int64_t const *shape, bool grad) {
    TL_RETURN_TENSOR(make(TL_F32, shape_count, shape, grad, tl__fill, 1.0, &out));
}

tl_tensor *tl_tensor_full(int64_t shape_count, int64_t const *shape, double value, bool grad) {
    TL_RETURN_TENSOR(make(TL_F32, shape_count, shape, grad, tl__fill, value, &out));
}

tl_tensor *tl_tensor_scalar(double value) {
    TL_RETURN_TENSOR(make(TL_F32, 0, NULL, false, tl__fill, value, &out));
}

tl_tensor *tl_tensor_full_f64(int64_t shape_count, int64_t const *shape, double value, bool grad) {
    TL_RETURN_TENSOR(make(TL_F64, shape_count, shape, grad, tl__fill, value, &out));
}

/* Not by way of a double: 2^53 + 1 is a number of its own. */
static masu_status full_i64(int64_t rank, const int64_t *shape, int64_t value, tl_tensor **out) {
    masu_status status = make(TL_I64, rank, shape, false, tl__fill, 0.0, out);
    if (status != MASU_OK || value == 0)
        return status;
    int64_t *to = (*out)->data;
    for (int64_t i = 0; i < (*out)->elements; i++)
        to[i] = value;
    return MASU_OK;
}

tl_tensor *tl_tensor_full_i64(int64_t shape_count, int64_t const *shape, int64_t value) {
    TL_RETURN_TENSOR(full_i64(shape_count, shape, value, &out));
}

tl_tensor *tl_tensor_randn_f64(int64_t shape_count, int64_t const *shape, bool grad) {
    TL_RETURN_TENSOR(make(TL_F64, shape_count, shape, grad, fill_normal, 0.0, &out));
}

tl_tensor *tl_tensor_rand_f64(int64_t shape_count, int64_t const *shape, bool grad) {
    TL_RETURN_TENSOR(make(TL_F64, shape_count, shape, grad, fill_uniform, 0.0, &out));
}

tl_tensor *tl_tensor_randn(int64_t shape_count, int64_t const *shape, bool grad) {
    TL_RETURN_TENSOR(make(TL_F32, shape_count, shape, grad, fill_normal, 0.0, &out));
}

tl_tensor *tl_tensor_rand(int64_t shape_count, int64_t const *shape, bool grad) {
    TL_RETURN_TENSOR(make(TL_F32, shape_count, shape, grad, fill_uniform, 0.0, &out));
}

tl_tensor *tl_tensor_zeros_like(tl_tensor *t) {
    TL_RETURN_TENSOR(make((tl_dtype)t->dtype, t->rank, t->shape, false, tl__fill, 0.0, &out));
}

tl_tensor *tl_tensor_ones_like(tl_tensor *t) {
    TL_RETURN_TENSOR(make((tl_dtype)t->dtype, t->rank, t->shape, false, tl__fill, 1.0, &out));
}

static masu_status make_random_like(const char *what, const tl_tensor *t, fill_function *fill, tl_tensor **out) {
    if (!tl__is_float(t))
        return tl__error(TL_SAY(needs_floating_tensor_one_element_type), what, tl__dtype_name((tl_dtype)t->dtype));
    return make((tl_dtype)t->dtype, t->rank, t->shape, false, fill, 0.0, out);
}

tl_tensor *tl_tensor_randn_like(tl_tensor *t) {
    TL_RETURN_TENSOR(make_random_like("randn_like", t, fill_normal, &out));
}

tl_tensor *tl_tensor_rand_like(tl_tensor *t) {
    TL_RETURN_TENSOR(make_random_like("rand_like", t, fill_uniform, &out));
}

/* ---- regular numbers ------------------------------------------------------------------------- */

static masu_status eye(int64_t n, tl_tensor **out) {
    masu_status status = tl__tensor_new_zeroed(TL_F32, 2, (int64_t[]){n, n}, out);
    if (status != MASU_OK)
        return status;
    float *to = (*out)->data;
    for (int64_t i = 0; i < n; i++)
        to[i * n + i] = 1.0f;
    return MASU_OK;
}

tl_tensor *tl_tensor_eye(int64_t n) {
    TL_RETURN_TENSOR(eye(n, &out));
}

/* from + i * step, each computed by itself: the error does not grow along the tensor. */
static masu_status progression(tl_dtype dtype, double from, double step, double count, tl_tensor **out) {
    if (!(count < 0x1p53))
        return tl__error(TL_SAY(tensor_elements_is_too_large), count);
    int64_t n = count > 0 ? (int64_t)count : 0;
    masu_status status = tl__tensor_new(dtype, 1, &n, out);
    if (status != MASU_OK)
        return status;
    for (int64_t i = 0; i < n; i++) {
        double value = from + (double)i * step;
        if (dtype == TL_F64)
            ((double *)(*out)->data)[i] = value;
        else
            ((float *)(*out)->data)[i] = (float)value;
    }
    return MASU_OK;
}

static masu_status arange(tl_dtype dtype, double from, double to, double step, tl_tensor **out) {
    if (step == 0 || !isfinite(step) || !isfinite(from) || !isfinite(to))
        return tl__error(TL_SAY(arange_from_by_no_end), from, to, step);
    if ((to - from) / step < 0)
        return tl__error(TL_SAY(arange_steps_do_not_lead_from), step, from, to);
    return progression(dtype, from, step, ceil((to - from) / step), out);
}

tl_tensor *tl_tensor_arange(double from, double to, double step) {
    TL_RETURN_TENSOR(arange(TL_F32, from, to, step, &out));
}

tl_tensor *tl_tensor_arange_f64(double from, double to, double step) {
    TL_RETURN_TENSOR(arange(TL_F64, from, to, step, &out));
}

/* Whole numbers, each exact; the distance of two i64 fits a u64. */
static masu_status arange_i64(int64_t from, int64_t to, int64_t step, tl_tensor **out) {
    if (step == 0)
        return tl__error(TL_SAY(arange_from_by_0_no_end), from, to);
    if (from != to && (to > from) != (step > 0))
        return tl__error(TL_SAY(arange_steps_do_not_lead_from_too), step, from, to);
    uint64_t distance = step > 0 ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
    uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
    uint64_t count = distance / stride + (distance % stride != 0);
    if (count > (uint64_t)INT64_MAX)
        return tl__error(TL_SAY(tensor_elements_is_too_large_too), count);
    int64_t n = (int64_t)count;
    masu_status status = tl__tensor_new(TL_I64, 1, &n, out);
    if (status != MASU_OK)
        return status;
    int64_t *at = (*out)->data;
    for (int64_t i = 0; i < n; i++)
        at[i] = (int64_t)((uint64_t)from + (uint64_t)i * (uint64_t)step);
    return MASU_OK;
}

tl_tensor *tl_tensor_arange_i64(int64_t from, int64_t to, int64_t step) {
    TL_RETURN_TENSOR(arange_i64(from, to, step, &out));
}

static masu_status linspace(tl_dtype dtype, double from, double to, int64_t n, tl_tensor **out) {
    if (n < 0)
        return tl__error(TL_SAY(linspace_is_no_number_elements), n);
    masu_status status = progression(dtype, from, n > 1 ? (to - from) / (double)(n - 1) : 0.0, (double)n, out);
    if (status == MASU_OK && n > 1 && dtype == TL_F64)
        ((double *)(*out)->data)[n - 1] = to;
    else if (status == MASU_OK && n > 1)
        ((float *)(*out)->data)[n - 1] = (float)to;
    return status;
}

tl_tensor *tl_tensor_linspace(double from, double to, int64_t n) {
    TL_RETURN_TENSOR(linspace(TL_F32, from, to, n, &out));
}

tl_tensor *tl_tensor_linspace_f64(double from, double to, int64_t n) {
    TL_RETURN_TENSOR(linspace(TL_F64, from, to, n, &out));
}

/* ---- literals -------------------------------------------------------------------------------- */

static masu_status literal_new(tl_dtype dtype, int64_t rank, const int64_t *shape, int64_t elements, tl_tensor **out) {
    masu_status status = tl__tensor_new(dtype, (int)rank, shape, out);
    if (status != MASU_OK || (*out)->elements == elements)
        return status;
    char text[TL_SHAPE_TEXT];
    tl__tensor_drop(*out);
    return tl__error(TL_SAY(literal_shape_elements), tl__shape_text((int)rank, shape, text), elements);
}

static masu_status literal_rank(int64_t rank, int64_t count) {
    if (rank >= 0 && rank <= TL_MAX_RANK && rank <= count)
        return MASU_OK;
    return tl__error(TL_SAY(tensor_at_most_dimensions_not), TL_MAX_RANK, rank);
}

static masu_status literal_f64(tl_dtype dtype, int64_t rank, int64_t count, const double *numbers, tl_tensor **out) {
    masu_status status = literal_rank(rank, count);
    if (status != MASU_OK)
        return status;
    int64_t shape[TL_MAX_RANK];
    for (int64_t i = 0; i < rank; i++)
        shape[i] = tl__i64_of(numbers[i]);
    status = literal_new(dtype, rank, shape, count - rank, out);
    if (status != MASU_OK)
        return status;
    numbers += rank;
    for (int64_t i = 0; i < (*out)->elements; i++)
        if (dtype == TL_F32)
            ((float *)(*out)->data)[i] = (float)numbers[i];
        else
            ((double *)(*out)->data)[i] = numbers[i];
    return MASU_OK;
}

static masu_status literal_i64(tl_dtype dtype, int64_t rank, int64_t count, const int64_t *numbers, tl_tensor **out) {
    masu_status status = literal_rank(rank, count);
    if (status == MASU_OK)
        status = literal_new(dtype, rank, numbers, count - rank, out);
    if (status != MASU_OK)
        return status;
    numbers += rank;
    for (int64_t i = 0; i < (*out)->elements; i++)
        if (dtype == TL_I64)
            ((int64_t *)(*out)->data)[i] = numbers[i];
        else
            ((tl_byte *)(*out)->data)[i] = numbers[i] != 0;
    return MASU_OK;
}

tl_tensor *tl_tensor_literal_f32(int64_t rank, int64_t numbers_count, double const *numbers) {
    TL_RETURN_TENSOR(literal_f64(TL_F32, rank, numbers_count, numbers, &out));
}

tl_tensor *tl_tensor_literal_f64(int64_t rank, int64_t numbers_count, double const *numbers) {
    TL_RETURN_TENSOR(literal_f64(TL_F64, rank, numbers_count, numbers, &out));
}

tl_tensor *tl_tensor_literal_i64(int64_t rank, int64_t numbers_count, int64_t const *numbers) {
    TL_RETURN_TENSOR(literal_i64(TL_I64, rank, numbers_count, numbers, &out));
}

tl_tensor *tl_tensor_literal_bool(int64_t rank, int64_t numbers_count, int64_t const *numbers) {
    TL_RETURN_TENSOR(literal_i64(TL_BOOL, rank, numbers_count, numbers, &out));
}

/* ---- of another type ------------------------------------------------------------------------- */

static masu_status to_dtype(tl_tensor *t, int64_t dtype, tl_tensor **out) {
    if (dtype < 0 || dtype >= TL_DTYPE_COUNT)
        return tl__error(TL_SAY(is_no_element_type), dtype);
    tl_tensor *other;
    masu_status status = tl__tensor_cast(t, (tl_dtype)dtype, &other);
    if (status != MASU_OK)
        return status;
    if (other != t && tl__is_float(other))
        return tl__record_identity(other, t, out);
    *out = other;
    return MASU_OK;
}

tl_tensor *tl_tensor_to_dtype(tl_tensor *t, int64_t dtype) {
    TL_RETURN_TENSOR(to_dtype(t, dtype, &out));
}
