/* linalg.c: inverses, determinants, systems and decompositions through LAPACK, which OpenBLAS brings along.
 *
 * Everything is computed in f64 and given back in the operand's type. LAPACK's matrices are columns one after
 * the other: a row-major matrix handed over as it lies is read as its transpose, which inverse and determinant do
 * not mind and the others take into account:
 *
 *     Aᵀ = U' S V'ᵀ   ─►   A = V' S U'ᵀ        U of A is V', as LAPACK leaves it when read by rows
 *
 * Results have no history; the gradients of inverse, det and solve are made of products (language/front/prelude.c).
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/ops/ops.h"
#include "runtime/state.h"

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
void dgetri_(const int *n, double *a, const int *lda, const int *pivots, double *work,
             const int *work_size, int *info);
void dgetrs_(const char *trans, const int *n, const int *columns, const double *a, const int *lda,
             const int *pivots, double *b, const int *ldb, int *info, size_t trans_length);
void dpotrf_(const char *triangle, const int *n, double *a, const int *lda, int *info,
             size_t triangle_length);
void dsyev_(const char *job, const char *triangle, const int *n, double *a, const int *lda,
            double *values, double *work, const int *work_size, int *info, size_t job_length,
            size_t triangle_length);
void dgesvd_(const char *job_u, const char *job_v, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *work_size, int *info, size_t u_length, size_t v_length);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *work_size, int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,
             double *work, const int *work_size, int *info);

typedef enum wanted {
    WANT_INVERSE,
    WANT_DET,
    WANT_CHOLESKY,
    WANT_EIGENVALUES,
    WANT_EIGENVECTORS,
    WANT_SVD_U,
    WANT_SVD_S,
    WANT_SVD_VH,
    WANT_QR_Q,
    WANT_QR_R,
    WANT_COUNT
} wanted;

static const char *const names[WANT_COUNT] = {"inverse", "det", "cholesky", "eigh", "eigh",
                                              "svd",     "svd", "svd",      "qr",   "qr"};

/* Room for one decomposition: tensors own their bytes, so these are doubles of the metadata heap. */
typedef struct room {
    double *a, *b, *c, *work, *values;
    int *pivots;
    void *all;
    size_t bytes;
} room;

static masu_status room_new(int64_t rows, int64_t columns, room *out) {
    size_t large = (size_t)(rows > columns ? rows : columns), square = large * large;
    size_t work = 64 * large + square + 64;
    out->bytes = (3 * square + work + 2 * large + 8) * sizeof(double);
    masu_status status = tl__alloc(out->bytes, &out->all);
    if (status != MASU_OK)
        return status;
    out->a = out->all;
    out->b = out->a + square;
    out->c = out->b + square;
    out->work = out->c + square;
    out->values = out->work + work;
    out->pivots = (int *)(void *)(out->values + large);
    return MASU_OK;
}

static int work_size(int64_t rows, int64_t columns) {
    int64_t large = rows > columns ? rows : columns;
    return (int)(64 * large + large * large + 64);
}

/* ---- matrices -------------------------------------------------------------------------------- */

static masu_status check_matrix(const char *what, const tl_tensor *t, bool square) {
    char shape[TL_SHAPE_TEXT];
    if (t->rank == 2 && (!square || t->shape[0] == t->shape[1]) && t->shape[0] < 1 << 14 &&
        t->shape[1] < 1 << 14)
        return MASU_OK;
    return tl__error(MASU_ERR_SHAPE_MISMATCH, "%s: shape %s is no %smatrix", what,
                     tl__shape_text(t->rank, t->shape, shape), square ? "square " : "");
}

static masu_status as_doubles(tl_tensor *t, tl_tensor **out) {
    tl_tensor *x;
    masu_status status = tl__as_dtype(t, TL_F64, &x);
    if (status == MASU_OK)
        status = tl__copy(x, out);
    tl__tensor_drop(x);
    return status;
}

static void transpose_into(const double *from, int64_t rows, int64_t columns, double *to) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[j * rows + i] = from[i * columns + j];
}

/* f64 numbers as a tensor of dtype. */
static masu_status give(tl_dtype dtype, int rank, const int64_t *shape, const double *from,
                        tl_tensor **out) {
    tl_tensor *made;
    masu_status status = tl__tensor_new(TL_F64, rank, shape, &made);
    if (status != MASU_OK)
        return status;
    if (made->elements > 0)
        memcpy(made->data, from, (size_t)made->elements * sizeof *from);
    status = tl__as_dtype(made, dtype, out);
    tl__tensor_drop(made);
    return status;
}

static masu_status failed(const char *what, int info) {
    return tl__error(MASU_ERR_INVALID_ARGUMENT,
                     info < 0 ? "%s: LAPACK refuses argument %d" : "%s: the matrix is singular",
                     what, -info);
}

/* ---- one by one ------------------------------------------------------------------------------ */

static int factorise(int n, double *a, int *pivots) {
    int info;
    dgetrf_(&n, &n, a, &n, pivots, &info);
    return info;
}

static masu_status inverse_of(room *r, int n) {
    int size = work_size(n, n), info = factorise(n, r->a, r->pivots);
    if (info == 0)
        dgetri_(&n, r->a, &n, r->pivots, r->work, &size, &info);
    return info == 0 ? MASU_OK : failed("inverse", info);
}

static double determinant_of(room *r, int n) {
    double det = 1;
    if (n == 0)
        return 1;
    if (factorise(n, r->a, r->pivots) != 0)
        return 0;
    for (int i = 0; i < n; i++)
        det *= (r->pivots[i] == i + 1 ? 1 : -1) * r->a[(size_t)i * (size_t)n + (size_t)i];
    return det;
}

/* The upper triangle by columns is the lower one by rows. */
static masu_status cholesky_of(room *r, int n) {
    int info;
    dpotrf_("U", &n, r->a, &n, &info, 1);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            r->a[(size_t)i * (size_t)n + (size_t)j] = 0;
    return info == 0 ? MASU_OK
                     : tl__error(MASU_ERR_INVALID_ARGUMENT,
                                 "cholesky: the matrix is not positive definite");
}

static masu_status eigen_of(room *r, int n) {
    int info, size = work_size(n, n);
    dsyev_("V", "U", &n, r->a, &n, r->b, r->work, &size, &info, 1, 1);
    transpose_into(r->a, n, n, r->c);
    return info == 0 ? MASU_OK : tl__error(MASU_ERR_INVALID_ARGUMENT, "eigh: no convergence");
}

/* Read by rows afterwards: b is Vh [k, columns], c is U [rows, k]. */
static masu_status svd_of(room *r, int rows, int columns, double *values) {
    int info, k = rows < columns ? rows : columns, size = work_size(rows, columns);
    dgesvd_("S", "S", &columns, &rows, r->a, &columns, values, r->b, &columns, r->c, &k, r->work,
            &size, &info, 1, 1);
    return info == 0 ? MASU_OK : tl__error(MASU_ERR_INVALID_ARGUMENT, "svd: no convergence");
}

/* b becomes Q [rows, k], c becomes R [k, columns], by rows. */
static masu_status qr_of(room *r, int rows, int columns, double *tau) {
    int info, k = rows < columns ? rows : columns, size = work_size(rows, columns);
    transpose_into(r->a, rows, columns, r->b);
    dgeqrf_(&rows, &columns, r->b, &rows, tau, r->work, &size, &info);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < columns; j++)
            r->c[(size_t)i * (size_t)columns + (size_t)j] =
                j < i ? 0 : r->b[(size_t)j * (size_t)rows + (size_t)i];
    if (info == 0)
        dorgqr_(&rows, &k, &k, r->b, &rows, tau, r->work, &size, &info);
    transpose_into(r->b, k, rows, r->a);
    return info == 0 ? MASU_OK : failed("qr", info);
}

/* ---- the operation --------------------------------------------------------------------------- */

static masu_status square_result(room *r, wanted what, tl_dtype dtype, int n, tl_tensor **out) {
    const int64_t shape[2] = {n, n};
    masu_status status = MASU_OK;
    double det;
    switch (what) {
    case WANT_INVERSE:
        status = inverse_of(r, n);
        return status == MASU_OK ? give(dtype, 2, shape, r->a, out) : status;
    case WANT_DET:
        det = determinant_of(r, n);
        return give(dtype, 0, shape, &det, out);
    case WANT_CHOLESKY:
        status = cholesky_of(r, n);
        return status == MASU_OK ? give(dtype, 2, shape, r->a, out) : status;
    case WANT_EIGENVALUES:
        status = eigen_of(r, n);
        return status == MASU_OK ? give(dtype, 1, shape, r->b, out) : status;
    default:
        status = eigen_of(r, n);
        return status == MASU_OK ? give(dtype, 2, shape, r->c, out) : status;
    }
}

static masu_status any_result(room *r, wanted what, tl_dtype dtype, int rows, int columns,
                              tl_tensor **out) {
    int64_t k = rows < columns ? rows : columns;
    const int64_t tall[2] = {rows, k}, wide[2] = {k, columns};
    masu_status status = what <= WANT_SVD_VH ? svd_of(r, rows, columns, r->values)
                                             : qr_of(r, rows, columns, r->values);
    if (status != MASU_OK)
        return status;
    switch (what) {
    case WANT_SVD_U:
        return give(dtype, 2, tall, r->c, out);
    case WANT_SVD_S:
        return give(dtype, 1, &k, r->values, out);
    case WANT_SVD_VH:
        return give(dtype, 2, wide, r->b, out);
    case WANT_QR_Q:
        return give(dtype, 2, tall, r->a, out);
    default:
        return give(dtype, 2, wide, r->c, out);
    }
}

static masu_status decompose(tl_tensor *t, int64_t number, tl_tensor **out) {
    wanted what = number >= 0 && number < WANT_COUNT ? (wanted)number : WANT_INVERSE;
    bool square = what <= WANT_EIGENVECTORS;
    tl_tensor *a;
    room r;
    masu_status status = check_matrix(names[what], t, square);
    if (status == MASU_OK && t->node && what > WANT_DET)
        status = tl__error(MASU_ERR_INVALID_ARGUMENT,
                           "%s: its gradient is not known; take the value with `detach()` first",
                           names[what]);
    if (status == MASU_OK)
        status = as_doubles(t, &a);
    if (status != MASU_OK)
        return status;
    status = room_new(t->shape[0], t->shape[1], &r);
    if (status == MASU_OK) {
        if (a->elements > 0)
            memcpy(r.a, a->data, (size_t)a->elements * sizeof *r.a);
        status = square ? square_result(&r, what, tl__float_dtype(t), (int)t->shape[0], out)
                        : any_result(&r, what, tl__float_dtype(t), (int)t->shape[0],
                                     (int)t->shape[1], out);
        tl__free(r.all, r.bytes);
    }
    tl__tensor_drop(a);
    return status;
}

tl_tensor *tl_tensor_decompose(tl_tensor *t, int64_t what) {
    TL_RETURN_TENSOR(decompose(t, what, &out));
}

/* ---- systems --------------------------------------------------------------------------------- */

/* A x = B: the factors are those of Aᵀ, so they are asked for the transpose. */
static masu_status solve_ready(const tl_tensor *a, const tl_tensor *b, tl_dtype dtype,
                               tl_tensor **out) {
    int n = (int)a->shape[0], columns = b->rank == 1 ? 1 : (int)b->shape[1], info;
    room r;
    masu_status status = room_new(n > columns ? n : columns, n > columns ? n : columns, &r);
    if (status != MASU_OK)
        return status;
    if (a->elements > 0)
        memcpy(r.a, a->data, (size_t)a->elements * sizeof *r.a);
    transpose_into(b->data, n, columns, r.b);
    info = n == 0 ? 0 : factorise(n, r.a, r.pivots);
    if (info == 0 && n > 0)
        dgetrs_("T", &n, &columns, r.a, &n, r.pivots, r.b, &n, &info, 1);
    if (info == 0) {
        transpose_into(r.b, columns, n, r.c);
        status = give(dtype, b->rank, b->shape, r.c, out);
    } else {
        status = failed("solve", info);
    }
    tl__free(r.all, r.bytes);
    return status;
}

static masu_status solve(tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    char shape[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    masu_status status = check_matrix("solve", a, true);
    if (status == MASU_OK && (b->rank < 1 || b->rank > 2 || b->shape[0] != a->shape[0] ||
                              b->shape[b->rank - 1] >= 1 << 14))
        status = tl__error(MASU_ERR_SHAPE_MISMATCH, "solve: a matrix of shape %s and %s",
                           tl__shape_text(a->rank, a->shape, shape),
                           tl__shape_text(b->rank, b->shape, other));
    tl_tensor *x, *y;
    if (status == MASU_OK)
        status = as_doubles(a, &x);
    if (status != MASU_OK)
        return status;
    status = as_doubles(b, &y);
    if (status == MASU_OK) {
        tl_dtype dtype = tl__promote((tl_dtype)a->dtype, (tl_dtype)b->dtype);
        status = solve_ready(x, y, dtype == TL_F64 ? TL_F64 : TL_F32, out);
        tl__tensor_drop(y);
    }
    tl__tensor_drop(x);
    return status;
}

tl_tensor *tl_tensor_solve(tl_tensor *a, tl_tensor *b) {
    TL_RETURN_TENSOR(solve(a, b, &out));
}
