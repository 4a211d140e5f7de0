/* linalg_typed.h: the decompositions of linalg.c in one type of numbers; linalg_f32.c and linalg_f64.c include it.
 *
 * They define NUMBER (the type), LAPACK(name) (LAPACK's function of it) and TAKE_ALL_APART (what linalg.c calls).
 *
 * LAPACK's matrices are columns one after the other: a row-major matrix handed over as it lies is read as its
 * transpose, which the determinant does not mind and the others take into account:
 *
 *     Aᵀ = U' S V'ᵀ   ─►   A = V' S U'ᵀ        U of A is V', as LAPACK leaves it when read by rows
 */
#include <limits.h>

#include "runtime/ops/linalg.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

void LAPACK(getrf)(const int *m, const int *n, NUMBER *a, const int *lda, int *pivots, int *info);
void LAPACK(potrf)(const char *triangle, const int *n, NUMBER *a, const int *lda, int *info, size_t triangle_length);
void LAPACK(syevd)(const char *job, const char *triangle, const int *n, NUMBER *a, const int *lda, NUMBER *values,
                   NUMBER *work, const int *work_size, int *whole_work, const int *whole_size, int *info,
                   size_t job_length, size_t triangle_length);
void LAPACK(gesdd)(const char *job, const int *m, const int *n, NUMBER *a, const int *lda, NUMBER *s, NUMBER *u,
                   const int *ldu, NUMBER *vt, const int *ldvt, NUMBER *work, const int *work_size, int *whole_work,
                   int *info, size_t job_length);
void LAPACK(syev)(const char *job, const char *triangle, const int *n, NUMBER *a, const int *lda, NUMBER *values,
                  NUMBER *work, const int *work_size, int *info, size_t job_length, size_t triangle_length);
void LAPACK(gesvd)(const char *job_u, const char *job_v, const int *m, const int *n, NUMBER *a, const int *lda,
                   NUMBER *s, NUMBER *u, const int *ldu, NUMBER *vt, const int *ldvt, NUMBER *work,
                   const int *work_size, int *info, size_t u_length, size_t v_length);
void LAPACK(geqrf)(const int *m, const int *n, NUMBER *a, const int *lda, NUMBER *tau, NUMBER *work,
                   const int *work_size, int *info);
void LAPACK(orgqr)(const int *m, const int *n, const int *k, NUMBER *a, const int *lda, const NUMBER *tau, NUMBER *work,
                   const int *work_size, int *info);

/* Room for one decomposition: tensors own their bytes, so these are numbers of the metadata heap. */
typedef struct room {
    NUMBER *a, *b, *c, *work, *values;
    int *pivots;
    void *all;
    size_t bytes;
} room;

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The most that any of them asks for: dgesdd, 4 k² + 7 k, and dsyevd, 2 n² + 6 n + 1. */
static int work_size(int64_t rows, int64_t columns) {
    int64_t small = smaller(rows, columns), large = rows + columns - small;
    int64_t size = 64 * large + 4 * small * small + 64;
    return size < INT_MAX ? (int)size : INT_MAX;
}

static masu_status room_new(int64_t rows, int64_t columns, room *out) {
    size_t large = (size_t)(rows > columns ? rows : columns), square = large * large;
    size_t work = (size_t)work_size(rows, columns), whole = 8 * large + 8;
    out->bytes = (3 * square + work + large) * sizeof(NUMBER) + whole * sizeof(int);
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

static void transpose_into(const NUMBER *from, int64_t rows, int64_t columns, NUMBER *to) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[j * rows + i] = from[i * columns + j];
}

/* ---- one by one ------------------------------------------------------------------------------ */

static int factorise(int n, NUMBER *a, int *pivots) {
    int info;
    LAPACK(getrf)(&n, &n, a, &n, pivots, &info);
    return info;
}

/* The product is of doubles: it may leave the range on the way and come back. */
static double determinant_of(room *r, int n) {
    double det = 1;
    if (n == 0)
        return 1;
    if (factorise(n, r->a, r->pivots) != 0)
        return 0;
    for (int i = 0; i < n; i++)
        det *= (r->pivots[i] == i + 1 ? 1.0 : -1.0) * (double)r->a[(size_t)i * (size_t)n + (size_t)i];
    return det;
}

/* The upper triangle by columns is the lower one by rows. */
static masu_status cholesky_of(room *r, int n) {
    int info;
    LAPACK(potrf)("U", &n, r->a, &n, &info, 1);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            r->a[(size_t)i * (size_t)n + (size_t)j] = 0;
    return info == 0 ? MASU_OK : tl__error(TL_SAY(cholesky_matrix_is_not_positive_definite));
}

static void copy_row(const NUMBER *from, int64_t n, NUMBER *to) {
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i];
}

/* By dividing; where that does not end, by steps from the matrix again. */
static masu_status eigen_of(room *r, int n, const NUMBER *matrix, NUMBER *to) {
    int info, size = work_size(n, n), whole = 5 * n + 3;
    LAPACK(syevd)("V", "U", &n, r->a, &n, r->values, r->work, &size, r->pivots, &whole, &info, 1, 1);
    if (info > 0) {
        copy_row(matrix, (int64_t)n * n, r->a);
        LAPACK(syev)("V", "U", &n, r->a, &n, r->values, r->work, &size, &info, 1, 1);
    }
    transpose_into(r->a, n, n, to);
    copy_row(r->values, n, to + (int64_t)n * n);
    return info == 0 ? MASU_OK : tl__error(TL_SAY(eigh_no_convergence));
}

/* Read by rows afterwards: b is Vᵀ [k, columns], c is U [rows, k]. */
static masu_status svd_of(room *r, int rows, int columns, const NUMBER *matrix, NUMBER *to) {
    int info, k = rows < columns ? rows : columns, size = work_size(rows, columns);
    LAPACK(gesdd)
    ("S", &columns, &rows, r->a, &columns, r->values, r->b, &columns, r->c, &k, r->work, &size, r->pivots, &info, 1);
    if (info > 0) {
        copy_row(matrix, (int64_t)rows * columns, r->a);
        LAPACK(gesvd)
        ("S", "S", &columns, &rows, r->a, &columns, r->values, r->b, &columns, r->c, &k, r->work, &size, &info, 1, 1);
    }
    copy_row(r->c, (int64_t)rows * k, to);
    copy_row(r->values, k, to + (int64_t)rows * k);
    transpose_into(r->b, k, columns, to + (int64_t)(rows + 1) * k);
    return info == 0 ? MASU_OK : tl__error(TL_SAY(svd_no_convergence));
}

static masu_status qr_of(room *r, int rows, int columns, NUMBER *to) {
    int info, k = rows < columns ? rows : columns, size = work_size(rows, columns);
    NUMBER *tau = r->values, *right = to + (int64_t)rows * k;
    transpose_into(r->a, rows, columns, r->b);
    LAPACK(geqrf)(&rows, &columns, r->b, &rows, tau, r->work, &size, &info);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < k; i++)
            right[j * k + i] = j < i ? 0 : r->b[j * rows + i];
    if (info == 0)
        LAPACK(orgqr)(&rows, &k, &k, r->b, &rows, tau, r->work, &size, &info);
    transpose_into(r->b, k, rows, to);
    return info == 0 ? MASU_OK : tl__lapack_failed("qr", info);
}

static masu_status lu_of(room *r, int n, NUMBER *to) {
    int info;
    NUMBER *order = to + (int64_t)n * n;
    transpose_into(r->a, n, n, r->b);
    info = factorise(n, r->b, r->pivots);
    transpose_into(r->b, n, n, to);
    for (int i = 0; i < n; i++)
        order[i] = (NUMBER)i;
    for (int i = 0; i < n; i++) {
        NUMBER row = order[i];
        order[i] = order[r->pivots[i] - 1];
        order[r->pivots[i] - 1] = row;
    }
    return info >= 0 ? MASU_OK : tl__lapack_failed("lu", info);
}

/* The matrix, none without elements, taken apart; it is in r->a, too. */
static masu_status take_apart(room *r, tl_decomposition what, int rows, int columns, const NUMBER *matrix, NUMBER *to) {
    masu_status status = MASU_OK;
    switch (what) {
    case TL_DET:
        *to = (NUMBER)determinant_of(r, rows);
        return MASU_OK;
    case TL_EIGH:
        return eigen_of(r, rows, matrix, to);
    case TL_SVD:
        return svd_of(r, rows, columns, matrix, to);
    case TL_QR:
        return qr_of(r, rows, columns, to);
    case TL_LU:
        return lu_of(r, rows, to);
    default:
        status = cholesky_of(r, rows);
        copy_row(r->a, (int64_t)rows * rows, to);
        return status;
    }
}

masu_status TAKE_ALL_APART(tl_decomposition what, const tl_tensor *a, tl_tensor *to) {
    int64_t rows = a->shape[a->rank - 2], columns = a->shape[a->rank - 1], size = rows * columns,
            count = tl__matrices(a, size);
    room r;
    masu_status status = room_new(rows, columns, &r);
    if (status != MASU_OK)
        return status;
    for (int64_t i = 0; i < count && status == MASU_OK; i++) {
        const NUMBER *matrix = (const NUMBER *)a->data + i * size;
        copy_row(matrix, size, r.a);
        status = take_apart(&r, what, (int)rows, (int)columns, matrix, (NUMBER *)to->data + i * (to->elements / count));
    }
    tl__free(r.all, r.bytes);
    return status;
}
