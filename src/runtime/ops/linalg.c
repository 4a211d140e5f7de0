/* linalg.c: determinants and decompositions through LAPACK, which OpenBLAS brings along; inverses are in systems.c.
 *
 * Works on the last two dimensions; those before them count matrices. Each type is computed in itself
 * (linalg_typed.h), whole numbers in f32: half the time and memory of f64, and the error of f32 times the matrix's
 * condition, as everywhere in f32. Who needs more writes f64. What has several parts comes in one tensor, one below the
 * other, of which the language takes views, so that a matrix is taken apart once:
 *
 *     eigh [n, n]    vectors as columns [n, n] | values [1, n]
 *     svd  [m, n]    U [m, k] | S [1, k] | V [n, k]               k the smaller of m and n
 *     qr   [m, n]    Q [m, k] | the transpose of R [n, k]
 *     lu   [n, n]    L below the diagonal, U on and above it [n, n] | row i of L U is this row of the matrix [1, n]
 *
 * Results have no history; their gradients are made of products (language/library/tensor/linalg.tl).
 */
#include <string.h>

#include "runtime/ops/linalg.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

static const char *const names[TL_DECOMPOSITIONS] = {"inverse", "det", "cholesky", "eigh", "svd", "qr", "lu"};

/* ---- the operation --------------------------------------------------------------------------- */

/* A tensor for the results: the leading dimensions, then those of the parts. */
static masu_status result_new(tl_decomposition what, const tl_tensor *t, tl_tensor **out) {
    int64_t shape[TL_MAX_RANK] = {0};
    int rank = t->rank;
    int64_t rows = t->shape[rank - 2], columns = t->shape[rank - 1], k = rows < columns ? rows : columns;
    memcpy(shape, t->shape, sizeof t->shape);
    if (what == TL_DET)
        rank -= 2;
    if (what >= TL_EIGH)
        shape[rank - 1] = k;
    if (what == TL_EIGH || what == TL_LU)
        shape[rank - 2] = rows + 1;
    if (what == TL_SVD)
        shape[rank - 2] = rows + 1 + columns;
    if (what == TL_QR)
        shape[rank - 2] = rows + columns;
    return tl__tensor_new((tl_dtype)t->dtype, rank, shape, out);
}

/* t by rows, in the type in which it is computed. */
static masu_status as_numbers(tl_tensor *t, tl_tensor **out) {
    tl_tensor *x;
    masu_status status = tl__as_dtype(t, tl__float_dtype(t), &x);
    if (status == MASU_OK)
        status = tl__tensor_contiguous(x, out);
    tl__tensor_drop(x);
    return status;
}

static masu_status decompose(tl_tensor *t, int64_t number, tl_tensor **out) {
    tl_decomposition what = number >= 0 && number < TL_DECOMPOSITIONS ? (tl_decomposition)number : TL_INVERSE;
    tl_tensor *a, *result;
    if (what == TL_INVERSE)
        return tl__inverse(t, out);
    masu_status status = tl__check_matrix(names[what], t, what <= TL_EIGH || what == TL_LU);
    if (status == MASU_OK)
        status = as_numbers(t, &a);
    if (status != MASU_OK)
        return status;
    status = result_new(what, a, &result);
    if (status == MASU_OK) {
        if (a->elements == 0)
            tl__fill(result, what == TL_DET); /* the product of no numbers */
        else
            status = a->dtype == TL_F64 ? tl__take_apart_f64(what, a, result) : tl__take_apart_f32(what, a, result);
        if (status == MASU_OK)
            *out = result;
        else
            tl__tensor_drop(result);
    }
    tl__tensor_drop(a);
    return status;
}

tl_tensor *tl_tensor_decompose(tl_tensor *t, int64_t what) {
    TL_RETURN_TENSOR(decompose(t, what, &out));
}
