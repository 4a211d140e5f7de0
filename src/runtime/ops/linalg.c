/* linalg.c: determinants and decompositions through LAPACK, which OpenBLAS brings along; inverses are in systems.c.
 *
 * Works on the last two dimensions; those before them count matrices. Everything is computed in f64 and given back in
 * the operand's type. What has several parts comes in one tensor, one below the other, of which the language takes
 * views, so that a matrix is taken apart once:
 *
 *     eigh [n, n]    vectors as columns [n, n] | values [1, n]
 *     svd  [m, n]    U [m, k] | S [1, k] | V [n, k]               k the smaller of m and n
 *     qr   [m, n]    Q [m, k] | the transpose of R [n, k]
 *     lu   [n, n]    L below the diagonal, U on and above it [n, n] | row i of L U is this row of the matrix [1, n]
 *
 * LAPACK's matrices are columns one after the other: a row-major matrix handed over as it lies is read as its
 * transpose, which the determinant does not mind and the others take into account:
 *
 *     Aᵀ = U' S V'ᵀ   ─►   A = V' S U'ᵀ        U of A is V', as LAPACK leaves it when read by rows
 *
 * Results have no history; their gradients are made of products (language/library/tensor/linalg.tl).
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "runtime/ops/linalg.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
void dpotrf_(const char *triangle, const int *n, double *a, const int *lda, int *info, size_t triangle_length);
void dsyevd_(const char *job, const char *triangle, const int *n, double *a, const int *lda, double *values,
             double *work, const int *work_size, int *whole_work, const int *whole_size, int *info, size_t job_length,
             size_t triangle_length);
void dgesdd_(const char *job, const int *m, const int *n, double *a, const int *lda, double *s, double *u,
             const int *ldu, double *vt, const int *ldvt, double *work, const int *work_size, int *whole_work,
             int *info, size_t job_length);
void dsyev_(const char *job, const char *triangle, const int *n, double *a, const int *lda, double *values,
            double *work, const int *work_size, int *info, size_t job_length, size_t triangle_length);
void dgesvd_(const char *job_u, const char *job_v, const int *m, const int *n, double *a, const int *lda, double *s,
             double *u, const int *ldu, double *vt, const int *ldvt, double *work, const int *work_size, int *info,
             size_t u_length, size_t v_length);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *work_size,
             int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau, double *work,
             const int *work_size, int *info);

typedef enum wanted { WANT_INVERSE, WANT_DET, WANT_CHOLESKY, WANT_EIGH, WANT_SVD, WANT_QR, WANT_LU, WANT_COUNT } wanted;

static const char *const names[WANT_COUNT] = {"inverse", "det", "cholesky", "eigh", "svd", "qr", "lu"};

/* Room for one decomposition: tensors own their bytes, so these are doubles of the metadata heap. */
typedef struct room {
    double *a, *b, *c, *work, *values;
    int *pivots;
    void *all;
    size_t bytes;
} room;

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* What the greediest of them asks for: dgesdd, 4 k² + 7 k, and dsyevd, 2 n² + 6 n + 1. */
static int work_size(int64_t rows, int64_t columns) {
    int64_t small = smaller(rows, columns), large = rows + columns - small;
    int64_t size = 64 * large + 4 * small * small + 64;
    return size < INT_MAX ? (int)size : INT_MAX;
}

static masu_status room_new(int64_t rows, int64_t columns, room *out) {
    size_t large = (size_t)(rows > columns ? rows : columns), square = large * large;
    size_t work = (size_t)work_size(rows, columns), whole = 8 * large + 8;
    out->bytes = (3 * square + work + large) * sizeof(double) + whole * sizeof(int);
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

/* ---- matrices -------------------------------------------------------------------------------- */

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

/* ---- one by one ------------------------------------------------------------------------------ */

static int factorise(int n, double *a, int *pivots) {
    int info;
    dgetrf_(&n, &n, a, &n, pivots, &info);
    return info;
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
    return info == 0 ? MASU_OK : tl__error(TL_SAY(cholesky_matrix_is_not_positive_definite));
}

static void copy_row(const double *from, int64_t n, double *to) {
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i];
}

/* By dividing; where that does not end, by steps from the matrix again. */
static masu_status eigen_of(room *r, int n, const double *matrix, double *to) {
    int info, size = work_size(n, n), whole = 5 * n + 3;
    dsyevd_("V", "U", &n, r->a, &n, r->values, r->work, &size, r->pivots, &whole, &info, 1, 1);
    if (info > 0) {
        copy_row(matrix, (int64_t)n * n, r->a);
        dsyev_("V", "U", &n, r->a, &n, r->values, r->work, &size, &info, 1, 1);
    }
    transpose_into(r->a, n, n, to);
    copy_row(r->values, n, to + (int64_t)n * n);
    return info == 0 ? MASU_OK : tl__error(TL_SAY(eigh_no_convergence));
}

/* Read by rows afterwards: b is Vᵀ [k, columns], c is U [rows, k]. */
static masu_status svd_of(room *r, int rows, int columns, const double *matrix, double *to) {
    int info, k = rows < columns ? rows : columns, size = work_size(rows, columns);
    dgesdd_("S", &columns, &rows, r->a, &columns, r->values, r->b, &columns, r->c, &k, r->work, &size, r->pivots, &info,
            1);
    if (info > 0) {
        copy_row(matrix, (int64_t)rows * columns, r->a);
        dgesvd_("S", "S", &columns, &rows, r->a, &columns, r->values, r->b, &columns, r->c, &k, r->work, &size, &info,
                1, 1);
    }
    copy_row(r->c, (int64_t)rows * k, to);
    copy_row(r->values, k, to + (int64_t)rows * k);
    transpose_into(r->b, k, columns, to + (int64_t)(rows + 1) * k);
    return info == 0 ? MASU_OK : tl__error(TL_SAY(svd_no_convergence));
}

static masu_status qr_of(room *r, int rows, int columns, double *to) {
    int info, k = rows < columns ? rows : columns, size = work_size(rows, columns);
    double *tau = r->values, *right = to + (int64_t)rows * k;
    transpose_into(r->a, rows, columns, r->b);
    dgeqrf_(&rows, &columns, r->b, &rows, tau, r->work, &size, &info);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < k; i++)
            right[j * k + i] = j < i ? 0 : r->b[j * rows + i];
    if (info == 0)
        dorgqr_(&rows, &k, &k, r->b, &rows, tau, r->work, &size, &info);
    transpose_into(r->b, k, rows, to);
    return info == 0 ? MASU_OK : tl__lapack_failed("qr", info);
}

static masu_status lu_of(room *r, int n, double *to) {
    int info;
    double *order = to + (int64_t)n * n;
    transpose_into(r->a, n, n, r->b);
    info = factorise(n, r->b, r->pivots);
    transpose_into(r->b, n, n, to);
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = 0; i < n; i++) {
        double row = order[i];
        order[i] = order[r->pivots[i] - 1];
        order[r->pivots[i] - 1] = row;
    }
    return info >= 0 ? MASU_OK : tl__lapack_failed("lu", info);
}

/* ---- the operation --------------------------------------------------------------------------- */

/* The matrix, none without elements, taken apart; it is in r->a, too. */
static masu_status take_apart(room *r, wanted what, int rows, int columns, const double *matrix, double *to) {
    masu_status status = MASU_OK;
    switch (what) {
    case WANT_DET:
        *to = determinant_of(r, rows);
        return MASU_OK;
    case WANT_EIGH:
        return eigen_of(r, rows, matrix, to);
    case WANT_SVD:
        return svd_of(r, rows, columns, matrix, to);
    case WANT_QR:
        return qr_of(r, rows, columns, to);
    case WANT_LU:
        return lu_of(r, rows, to);
    default:
        status = cholesky_of(r, rows);
        copy_row(r->a, (int64_t)rows * rows, to);
        return status;
    }
}

/* A tensor for the results: the leading dimensions, then those of the parts. */
static masu_status result_new(wanted what, const tl_tensor *t, tl_tensor **out) {
    int64_t shape[TL_MAX_RANK] = {0};
    int rank = t->rank;
    int64_t rows = t->shape[rank - 2], columns = t->shape[rank - 1], k = rows < columns ? rows : columns;
    memcpy(shape, t->shape, sizeof t->shape);
    if (what == WANT_DET)
        rank -= 2;
    if (what >= WANT_EIGH)
        shape[rank - 1] = k;
    if (what == WANT_EIGH || what == WANT_LU)
        shape[rank - 2] = rows + 1;
    if (what == WANT_SVD)
        shape[rank - 2] = rows + 1 + columns;
    if (what == WANT_QR)
        shape[rank - 2] = rows + columns;
    return tl__tensor_new(TL_F64, rank, shape, out);
}

static masu_status take_all_apart(wanted what, const tl_tensor *a, tl_tensor *to) {
    int64_t rows = a->shape[a->rank - 2], columns = a->shape[a->rank - 1], size = rows * columns,
            count = tl__matrices(a, size);
    room r;
    masu_status status = room_new(rows, columns, &r);
    if (status != MASU_OK)
        return status;
    for (int64_t i = 0; i < count && status == MASU_OK; i++) {
        const double *matrix = (const double *)a->data + i * size;
        copy_row(matrix, size, r.a);
        status = take_apart(&r, what, (int)rows, (int)columns, matrix, (double *)to->data + i * (to->elements / count));
    }
    tl__free(r.all, r.bytes);
    return status;
}

static masu_status decompose(tl_tensor *t, int64_t number, tl_tensor **out) {
    wanted what = number >= 0 && number < WANT_COUNT ? (wanted)number : WANT_INVERSE;
    tl_tensor *a, *result;
    if (what == WANT_INVERSE)
        return tl__inverse(t, out);
    masu_status status = tl__check_matrix(names[what], t, what <= WANT_EIGH || what == WANT_LU);
    if (status == MASU_OK)
        status = as_doubles(t, &a);
    if (status != MASU_OK)
        return status;
    status = result_new(what, a, &result);
    if (status == MASU_OK) {
        if (a->elements == 0)
            tl__fill(result, what == WANT_DET); /* the product of no numbers */
        else
            status = take_all_apart(what, a, result);
        if (status == MASU_OK)
            status = tl__as_dtype(result, tl__float_dtype(t), out);
        tl__tensor_drop(result);
    }
    tl__tensor_drop(a);
    return status;
}

tl_tensor *tl_tensor_decompose(tl_tensor *t, int64_t what) {
    TL_RETURN_TENSOR(decompose(t, what, &out));
}
