/* shape.c: which shapes and element types fit together. */
#include "runtime/ops/ops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/state.h"

const char *tl__dtype_name(tl_dtype dtype) {
    static const char *const names[TL_DTYPE_COUNT] = {"f32", "f64", "i64", "bool"};
    return names[dtype];
}

tl_dtype tl__promote(tl_dtype a, tl_dtype b) {
    static const uint8_t width[TL_DTYPE_COUNT] = {[TL_BOOL] = 0, [TL_I64] = 1, [TL_F32] = 2, [TL_F64] = 3};
    return width[a] >= width[b] ? a : b;
}

tl_dtype tl__scalar_dtype(tl_dtype dtype, double scalar) {
    if (dtype == TL_F32 || dtype == TL_F64)
        return dtype;
    return scalar == floor(scalar) && scalar >= -0x1p63 && scalar < 0x1p63 ? TL_I64 : TL_F32;
}

masu_status tl__dimension(const char *what, const tl_tensor *t, int64_t dim, int *out) {
    int64_t index = dim < 0 ? dim + t->rank : dim;
    if (index >= 0 && index < t->rank) {
        *out = (int)index;
        return MASU_OK;
    }
    char text[TL_SHAPE_TEXT];
    return tl__error(TL_SAY(dimension_is_out_range_for_tensor_shape), what, dim,
                     tl__shape_text(t->rank, t->shape, text));
}

static masu_status refuse_broadcast(const char *what, const tl_tensor *t, int rank, const int64_t *shape) {
    char own[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    return tl__error(TL_SAY(shapes_cannot_be_broadcast), what, tl__shape_text(rank, shape, other),
                     tl__shape_text(t->rank, t->shape, own));
}

masu_status tl__broadcast(const char *what, const tl_tensor *t, int *rank, int64_t *shape) {
    int wide = t->rank > *rank ? t->rank : *rank;
    int64_t result[TL_MAX_RANK];
    for (int i = 0; i < wide; i++) {
        int old = i - (wide - *rank), own = i - (wide - t->rank);
        int64_t a = old < 0 ? 1 : shape[old], b = own < 0 ? 1 : t->shape[own];
        if (a != b && a != 1 && b != 1)
            return refuse_broadcast(what, t, *rank, shape);
        result[i] = a == 1 ? b : a;
    }
    memcpy(shape, result, sizeof result[0] * (size_t)wide);
    *rank = wide;
    return MASU_OK;
}

masu_status tl__as_dtype(tl_tensor *t, tl_dtype dtype, tl_tensor **out) {
    *out = NULL;
    masu_status status = tl__tensor_cast(t, dtype, out);
    if (status != MASU_OK)
        *out = NULL;
    return status;
}

masu_status tl__dense_as(tl_tensor *t, tl_dtype dtype, tl_tensor **out) {
    tl_tensor *x;
    masu_status status = tl__as_dtype(t, dtype, &x);
    if (status == MASU_OK)
        status = tl__tensor_contiguous(x, out);
    tl__tensor_drop(x);
    return status;
}

/* Refuses the first element that is not a whole number. */
#define FIRST_FRACTION(T)                                           \
    int64_t i = 0;                                                  \
    while (i < dense->elements && at[i] == (T)trunc((double)at[i])) \
        i++;                                                        \
    if (i < dense->elements)                                        \
        return tl__error(TL_SAY(index_is_no_whole_number), what, (double)at[i]);

static masu_status refuse_fraction(const char *what, const tl_tensor *dense) {
    if (dense->dtype == TL_F32) {
        const float *at = dense->data;
        FIRST_FRACTION(float)
    } else if (dense->dtype == TL_F64) {
        const double *at = dense->data;
        FIRST_FRACTION(double)
    }
    return MASU_OK;
}

masu_status tl__dense_places(const char *what, tl_tensor *t, tl_tensor **out) {
    if (!tl__is_float(t))
        return tl__dense_as(t, TL_I64, out);
    tl_tensor *dense;
    masu_status status = tl__tensor_contiguous(t, &dense);
    if (status != MASU_OK)
        return status;
    status = refuse_fraction(what, dense);
    if (status == MASU_OK)
        status = tl__dense_as(dense, TL_I64, out);
    tl__tensor_drop(dense);
    return status;
}

masu_status tl__both_as(tl_tensor *a, tl_tensor *b, tl_dtype dtype, tl_tensor **x, tl_tensor **y) {
    *y = NULL;
    masu_status status = tl__as_dtype(a, dtype, x);
    return status == MASU_OK ? tl__as_dtype(b, dtype, y) : status;
}
