/* map.c: a kernel applied to tensors: the one way in which element-wise work is done. */
#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* Kernels are made for the type of the result, except where that is bool whatever the operands
 * are. */
static tl_kernel_function *kernel_for(tl_kernel_index kernel, const tl_tensor *out, const tl_tensor *first) {
    return tl__kernels[kernel][out->dtype == TL_BOOL ? first->dtype : out->dtype];
}

void tl__map_into(tl_kernel_index kernel, tl_tensor *out, int operands, const tl_tensor *const *in, const double *p) {
    const void *data[TL_WALK_OPERANDS];
    tl_walk walk;
    for (int k = 0; k < operands; k++)
        data[k] = in[k]->data;
    tl__walk_init(&walk, out, operands, in);
    tl__walk_run(&walk, kernel_for(kernel, out, in[0]), out->data, data, p);
}

/* The operand that is not read afterwards, when it is one of these and can hold the result: each element is read
 * before the one in its place is written. */
static tl_tensor *over_spent(tl_dtype dtype, int rank, const int64_t *shape, int operands, const tl_tensor *const *in) {
    tl_frame *frame = tl__runtime()->frame;
    tl_tensor *spent = frame ? frame->spent : NULL;
    if (MASU_LIKELY(!spent))
        return NULL;
    frame->spent = NULL;
    for (int k = 0; k < operands; k++)
        if (in[k] == spent)
            return tl__tensor_over(spent, dtype, rank, shape);
    return NULL;
}

/* The place that the compiler chose may be the dying operand's own. Element by element that is right where the operand
 * lies there row by row; a transposed view of what lies there is still to be read where the result would be written,
 * which lies elsewhere then. */
static void stay_off_operands(tl_dtype dtype, int operands, const tl_tensor *const *in) {
    tl_frame *frame = tl__runtime()->frame;
    if (!frame || frame->place_bytes == 0)
        return;
    const char *place = frame->place;
    const size_t size = tl__dtype_size(dtype);
    for (int k = 0; k < operands; k++) {
        const char *data = in[k]->data;
        bool alike = data == place && in[k]->contiguous && tl__dtype_size((tl_dtype)in[k]->dtype) == size &&
                     (size_t)in[k]->elements * size == frame->place_bytes;
        if (data >= place && data < place + frame->place_bytes && !alike)
            frame->place_bytes = 0;
    }
}

masu_status tl__map(tl_kernel_index kernel, tl_dtype dtype, int rank, const int64_t *shape, int operands,
                    const tl_tensor *const *in, const double *p, tl_tensor **out) {
    tl_tensor *over = over_spent(dtype, rank, shape, operands, in);
    masu_status status = MASU_OK;
    if (over) {
        *out = over;
    } else {
        stay_off_operands(dtype, operands, in);
        status = tl__tensor_new(dtype, rank, shape, out);
    }
    if (MASU_LIKELY(status == MASU_OK))
        tl__map_into(kernel, *out, operands, in, p);
    return status;
}

masu_status tl__scale(const tl_tensor *t, double factor, tl_tensor **out) {
    return tl__map(TL_K_mul_scalar, (tl_dtype)t->dtype, t->rank, t->shape, 1, &t, &factor, out);
}

/* ---- integers that an operation refuses ------------------------------------------------------ */

static void find_zero(void *context, const void *data, int64_t n, int64_t stride) {
    const int64_t *x = data;
    bool found = false;
    for (int64_t i = 0; i < n; i++)
        found |= x[i * stride] == 0;
    *(bool *)context |= found;
}

static void find_negative(void *context, const void *data, int64_t n, int64_t stride) {
    const int64_t *x = data;
    bool found = false;
    for (int64_t i = 0; i < n; i++)
        found |= x[i * stride] < 0;
    *(bool *)context |= found;
}

masu_status tl__no_zero(const char *what, const tl_tensor *divisor) {
    bool found = false;
    if (divisor->dtype == TL_I64)
        tl__rows(divisor, find_zero, &found);
    return found ? tl__error(TL_SAY(division_by_zero_in_i64_tensor), what) : MASU_OK;
}

masu_status tl__no_negative(const char *what, const tl_tensor *exponent) {
    bool found = false;
    if (exponent->dtype == TL_I64)
        tl__rows(exponent, find_negative, &found);
    return found ? tl__error(TL_SAY(negative_exponent_i64_tensor), what) : MASU_OK;
}
