/* systems.c: inverses and systems A x = B through LAPACK, each in the operand's own type.
 *
 * Works on the last two dimensions; those before them count matrices. In f32 it takes two thirds of the time of f64 and
 * half of the memory; the error is that of f32 times the matrix's condition, as everywhere in f32. Who needs more
 * writes f64.
 *
 * LAPACK reads a row-major matrix as its transpose. An inverse does not mind; the factors of a system are those of Aᵀ,
 * so they are asked for the transpose, and B is turned on its way in and out.
 *
 * Results have no history; their gradients are made of products (language/library/tensor/linalg.tl).
 */
#include <string.h>

#include "runtime/ops/linalg.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* Room for one inverse: numbers a row for getri, and a matrix up to SMALL. */
enum { WORK_A_ROW = 64, SMALL = 256 };

/* LAPACK's functions of one type: its letter, its C type. info is LAPACK's: 0, or positive where the matrix is
 * singular. */
#define LAPACK(letter, T)                                                                                           \
    void letter##getrf_(const int *m, const int *n, T *a, const int *lda, int *pivots, int *info);                  \
    void letter##getri_(const int *n, T *a, const int *lda, const int *pivots, T *work, const int *work_size,       \
                        int *info);                                                                                 \
    void letter##getrs_(const char *trans, const int *n, const int *columns, const T *a, const int *lda,            \
                        const int *pivots, T *b, const int *ldb, int *info, size_t trans_length);                   \
    /* Of small matrices BLAS makes more when it solves for the columns of 1 than when it turns triangles round. */ \
    static int letter##_invert(int n, void *a, int *pivots, void *work) {                                           \
        int info, work_size = n * WORK_A_ROW;                                                                       \
        letter##getrf_(&n, &n, a, &n, pivots, &info);                                                               \
        if (info != 0)                                                                                              \
            return info;                                                                                            \
        if (n > SMALL) {                                                                                            \
            letter##getri_(&n, a, &n, pivots, work, &work_size, &info);                                             \
            return info;                                                                                            \
        }                                                                                                           \
        T *ones = work;                                                                                             \
        const size_t bytes = sizeof(T) * (size_t)n * (size_t)n;                                                     \
        memset(ones, 0, bytes);                                                                                     \
        for (int64_t i = 0; i < n; i++)                                                                             \
            ones[i * n + i] = 1;                                                                                    \
        letter##getrs_("N", &n, &n, a, &n, pivots, ones, &n, &info, 1);                                             \
        memcpy(a, ones, bytes);                                                                                     \
        return info;                                                                                                \
    }                                                                                                               \
    static int letter##_solve(int n, int columns, void *a, int *pivots, void *b) {                                  \
        int info;                                                                                                   \
        letter##getrf_(&n, &n, a, &n, pivots, &info);                                                               \
        if (info == 0)                                                                                              \
            letter##getrs_("T", &n, &columns, a, &n, pivots, b, &n, &info, 1);                                      \
        return info;                                                                                                \
    }                                                                                                               \
    static void letter##_turn(const void *source, int64_t rows, int64_t columns, void *target) {                    \
        const T *from = source;                                                                                     \
        T *to = target;                                                                                             \
        for (int64_t j = 0; j < columns; j++)                                                                       \
            for (int64_t i = 0; i < rows; i++)                                                                      \
                to[j * rows + i] = from[i * columns + j];                                                           \
    }

LAPACK(s, float)
LAPACK(d, double)

typedef struct lapack {
    size_t element_bytes;
    int (*invert)(int n, void *a, int *pivots, void *work);
    int (*solve)(int n, int columns, void *a, int *pivots, void *b); /* a is spent, b [columns, n] becomes x */
    void (*turn)(const void *source, int64_t rows, int64_t columns, void *target);
} lapack;

static const lapack in_f32 = {sizeof(float), s_invert, s_solve, s_turn};
static const lapack in_f64 = {sizeof(double), d_invert, d_solve, d_turn};

static const lapack *lapack_of(const tl_tensor *t) {
    return t->dtype == TL_F64 ? &in_f64 : &in_f32;
}

/* ---- shared with linalg.c -------------------------------------------------------------------- */

masu_status tl__check_matrix(const char *what, const tl_tensor *t, bool square) {
    char shape[TL_SHAPE_TEXT];
    int64_t rows = t->rank < 2 ? -1 : t->shape[t->rank - 2], columns = t->rank < 2 ? -1 : t->shape[t->rank - 1];
    if (rows >= 0 && rows < TL_MATRIX_LONGEST && columns < TL_MATRIX_LONGEST && (!square || rows == columns))
        return tl__blas_room();
    return tl__error(TL_SAY(shape_is_no), what, tl__shape_text(t->rank, t->shape, shape), square ? "square " : "");
}

int64_t tl__matrices(const tl_tensor *t, int64_t size) {
    return size == 0 ? 0 : t->elements / size;
}

masu_status tl__lapack_failed(const char *what, int info) {
    return info < 0 ? tl__error(TL_SAY(lapack_refuses_argument), what, -info)
                    : tl__error(TL_SAY(matrix_is_singular), what);
}

/* A row-major copy of t, of this type. */
static masu_status own_copy(tl_tensor *t, tl_dtype dtype, tl_tensor **out) {
    tl_tensor *x;
    masu_status status = tl__as_dtype(t, dtype, &x);
    if (status == MASU_OK)
        status = tl__copy(x, out);
    tl__tensor_drop(x);
    return status;
}

/* ---- inverses -------------------------------------------------------------------------------- */

static masu_status invert_all(tl_tensor *t) {
    const lapack *l = lapack_of(t);
    const int64_t n = t->shape[t->rank - 1], count = tl__matrices(t, n * n);
    const size_t a_row = (size_t)(n > WORK_A_ROW && n <= SMALL ? n : WORK_A_ROW);
    const size_t work_bytes = (size_t)n * a_row * l->element_bytes, bytes = work_bytes + (size_t)n * sizeof(int);
    void *work;
    int info = 0;
    masu_status status = count == 0 ? MASU_OK : tl__alloc(bytes, &work);
    if (status != MASU_OK || count == 0)
        return status;
    int *pivots = (int *)(void *)((char *)work + work_bytes);
    for (int64_t i = 0; i < count && info == 0; i++)
        info = l->invert((int)n, (char *)t->data + (size_t)(i * n * n) * l->element_bytes, pivots, work);
    tl__free(work, bytes);
    return info == 0 ? MASU_OK : tl__lapack_failed("inverse", info);
}

masu_status tl__inverse(tl_tensor *t, tl_tensor **out) {
    tl_tensor *own;
    masu_status status = tl__check_matrix("inverse", t, true);
    if (status == MASU_OK)
        status = own_copy(t, tl__float_dtype(t), &own);
    if (status != MASU_OK)
        return status;
    status = invert_all(own);
    if (status == MASU_OK)
        *out = own;
    else
        tl__tensor_drop(own);
    return status;
}

/* ---- systems --------------------------------------------------------------------------------- */

/* a [.., n, n], which is spent, and b [.., n, columns] of the same leading dimensions and type, row-major; b becomes
 * x. */
static masu_status solve_all(tl_tensor *a, tl_tensor *b) {
    const lapack *l = lapack_of(b);
    const int64_t n = b->shape[b->rank - 2], columns = b->shape[b->rank - 1], count = tl__matrices(b, n * columns);
    const size_t right_bytes = (size_t)(n * columns) * l->element_bytes, bytes = right_bytes + (size_t)n * sizeof(int),
                 matrix_bytes = (size_t)(n * n) * l->element_bytes;
    void *turned;
    int info = 0;
    masu_status status = count == 0 ? MASU_OK : tl__alloc(bytes, &turned);
    if (status != MASU_OK || count == 0)
        return status;
    int *pivots = (int *)(void *)((char *)turned + right_bytes);
    for (int64_t i = 0; i < count && info == 0; i++) {
        char *right = (char *)b->data + (size_t)i * right_bytes;
        l->turn(right, n, columns, turned);
        info = l->solve((int)n, (int)columns, (char *)a->data + (size_t)i * matrix_bytes, pivots, turned);
        l->turn(turned, columns, n, right);
    }
    tl__free(turned, bytes);
    return info == 0 ? MASU_OK : tl__lapack_failed("solve", info);
}

/* t as row-major numbers of this type with these leading dimensions; the caller's own. */
static masu_status spread(tl_tensor *t, tl_dtype dtype, int rank, const int64_t *lead, tl_tensor **out) {
    int64_t shape[TL_MAX_RANK];
    tl_tensor *wide;
    memcpy(shape, lead, sizeof shape);
    shape[rank - 2] = t->shape[t->rank - 2];
    shape[rank - 1] = t->shape[t->rank - 1];
    masu_status status = tl__expand(t, rank, shape, &wide);
    if (status == MASU_OK) {
        status = own_copy(wide, dtype, out);
        tl__tensor_drop(wide);
    }
    return status;
}

/* The leading dimensions of both, broadcast; *rank counts the last two, too. */
static masu_status common_lead(const tl_tensor *a, const tl_tensor *b, int *rank, int64_t *lead) {
    tl_tensor left = *a, right = *b;
    left.rank = (uint8_t)(left.rank - 2);
    right.rank = (uint8_t)(right.rank - 2);
    *rank = left.rank;
    memcpy(lead, left.shape, sizeof left.shape);
    masu_status status = tl__broadcast("solve", &right, rank, lead);
    *rank += 2;
    return status;
}

static masu_status solve_ready(tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    int rank;
    int64_t lead[TL_MAX_RANK];
    tl_tensor *matrix, *right;
    const tl_dtype dtype = tl__promote((tl_dtype)a->dtype, (tl_dtype)b->dtype) == TL_F64 ? TL_F64 : TL_F32;
    masu_status status = common_lead(a, b, &rank, lead);
    if (status == MASU_OK)
        status = spread(a, dtype, rank, lead, &matrix);
    if (status != MASU_OK)
        return status;
    status = spread(b, dtype, rank, lead, &right);
    if (status == MASU_OK) {
        status = solve_all(matrix, right);
        if (status == MASU_OK)
            *out = right;
        else
            tl__tensor_drop(right);
    }
    tl__tensor_drop(matrix);
    return status;
}

static masu_status solve(tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    char shape[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    masu_status status = tl__check_matrix("solve", a, true);
    if (status == MASU_OK &&
        (b->rank < 2 || b->shape[b->rank - 2] != a->shape[a->rank - 1] || b->shape[b->rank - 1] >= TL_MATRIX_LONGEST))
        status = tl__error(TL_SAY(solve_matrix_shape), tl__shape_text(a->rank, a->shape, shape),
                           tl__shape_text(b->rank, b->shape, other));
    return status == MASU_OK ? solve_ready(a, b, out) : status;
}

tl_tensor *tl_tensor_solve(tl_tensor *a, tl_tensor *b) {
    TL_RETURN_TENSOR(solve(a, b, &out));
}
