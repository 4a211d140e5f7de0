/* tensor_copy.c: the same elements elsewhere, in another order or of another type.
 *
 * One function for each pair of types converts a row whose elements lie a stride apart; everything else is a
 * walk over the rows of the source. What keeps its type is moved by turn.c. Conversions are those of `as`: floats are
 * cut towards zero and held at the borders of i64, NaN becomes 0; anything but 0 (NaN too) is true.
 */
#include <string.h>

#include "runtime/state.h"
#include "runtime/value/turn.h"

static inline int64_t i64_of_double(double x) {
    if (x != x)
        return 0;
    if (x >= 0x1p63)
        return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

#define TO_F32(x)       ((float)(x))
#define TO_F64(x)       ((double)(x))
#define TO_I64(x)       ((int64_t)(x))
#define TO_I64_FLOAT(x) (i64_of_double((double)(x)))
#define TO_BOOL(x)      ((uint8_t)((x) != 0))

typedef void (*convert_row)(void *to, const void *from, int64_t count, int64_t stride);

#define ROW(name, to_type, from_type, convert)                                    \
    static void name(void *to, const void *from, int64_t count, int64_t stride) { \
        to_type *target = to;                                                     \
        const from_type *source = from;                                           \
        for (int64_t i = 0; i < count; i++)                                       \
            target[i] = convert(source[i * stride]);                              \
    }

ROW(f32_from_f64, float, double, TO_F32)
ROW(f32_from_i64, float, int64_t, TO_F32)
ROW(f32_from_bool, float, uint8_t, TO_F32)
ROW(f64_from_f32, double, float, TO_F64)
ROW(f64_from_i64, double, int64_t, TO_F64)
ROW(f64_from_bool, double, uint8_t, TO_F64)
ROW(i64_from_f32, int64_t, float, TO_I64_FLOAT)
ROW(i64_from_f64, int64_t, double, TO_I64_FLOAT)
ROW(i64_from_bool, int64_t, uint8_t, TO_I64)
ROW(bool_from_f32, uint8_t, float, TO_BOOL)
ROW(bool_from_f64, uint8_t, double, TO_BOOL)
ROW(bool_from_i64, uint8_t, int64_t, TO_BOOL)

/* [to][from] */
static const convert_row convert_rows[TL_DTYPE_COUNT][TL_DTYPE_COUNT] = {
    [TL_F32] = {NULL, f32_from_f64, f32_from_i64, f32_from_bool},
    [TL_F64] = {f64_from_f32, NULL, f64_from_i64, f64_from_bool},
    [TL_I64] = {i64_from_f32, i64_from_f64, NULL, i64_from_bool},
    [TL_BOOL] = {bool_from_f32, bool_from_f64, bool_from_i64, NULL},
};

/* Fills `to`, contiguous, with t's elements in row-major order. */
static void copy_elements(void *to, tl_dtype dtype, const tl_tensor *t) {
    convert_row convert = convert_rows[dtype][t->dtype];
    if (dtype == (tl_dtype)t->dtype) {
        tl__turn(to, t);
        return;
    }
    if (t->contiguous || t->rank == 0) {
        convert(to, t->data, t->elements, 1);
        return;
    }
    int last = t->rank - 1;
    int64_t index[TL_MAX_RANK] = {0};
    const char *from = t->data;
    size_t from_size = tl__dtype_size(t->dtype), row_bytes = (size_t)t->shape[last] * tl__dtype_size(dtype);
    for (int64_t done = 0; done < t->elements; done += t->shape[last]) {
        convert(to, from, t->shape[last], t->stride[last]);
        to = (char *)to + row_bytes;
        for (int i = last - 1; i >= 0; i--) {
            from += t->stride[i] * (int64_t)from_size;
            if (++index[i] < t->shape[i])
                break;
            from -= t->shape[i] * t->stride[i] * (int64_t)from_size;
            index[i] = 0;
        }
    }
}

static masu_status copy_as(const tl_tensor *t, tl_dtype dtype, tl_tensor **out) {
    masu_status status = tl__tensor_new(dtype, t->rank, t->shape, out);
    if (status == MASU_OK && t->elements > 0)
        copy_elements((*out)->data, dtype, t);
    return status;
}

masu_status tl__tensor_copied(const tl_tensor *t, tl_tensor **out) {
    return copy_as(t, t->dtype, out);
}

masu_status tl__tensor_contiguous(tl_tensor *t, tl_tensor **out) {
    if (!t->contiguous)
        return copy_as(t, t->dtype, out);
    tl__tensor_retain(t);
    *out = t;
    return MASU_OK;
}

masu_status tl__tensor_cast(tl_tensor *t, tl_dtype dtype, tl_tensor **out) {
    if (t->dtype != dtype)
        return copy_as(t, dtype, out);
    tl__tensor_retain(t);
    *out = t;
    return MASU_OK;
}

masu_status tl__tensor_make_writable(tl_tensor *t) {
    if (MASU_LIKELY(t->storage->count == 1 && t->contiguous)) {
        tl__storage_written(t->storage);
        return MASU_OK;
    }
    tl_tensor *copy;
    masu_status status = copy_as(t, t->dtype, &copy);
    if (status != MASU_OK)
        return status;
    /* the copy's header dies with t's old storage, t goes on with the new one */
    tl_storage *shared = t->storage;
    t->storage = copy->storage;
    t->data = copy->data;
    t->contiguous = true;
    memcpy(t->stride, copy->stride, sizeof t->stride);
    copy->storage = shared;
    tl__tensor_drop(copy);
    return MASU_OK;
}
