/* distance.c: distances of each row to each row.
 *
 *     few rows, or p is not 2     the norm of each difference
 *     many rows, p = 2            √(|a|² + |b|² - 2 a·b), all products at once through BLAS
 *
 * What must stay true: the second way is as exact as the first. Rows are moved to the middle of b's first, which does
 * not change a distance, and where the squares cancel all the same (points close to each other beside their distance to
 * the middle, infinities, NaN) that one is computed the first way. Equal rows are 0 apart.
 *
 * Results have no history; the gradient for p = 2 is derived.c's.
 */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")
#endif

#include <limits.h>
#include <math.h>
#include <string.h>

#include <cblas.h>

#include "runtime/ops/ops.h"
#include "runtime/ops/vector_math.h"
#include "runtime/state.h"

/* As in PyTorch. */
enum { MANY_ROWS = 25, LANES = 16 };

/* A square below this part of |a|² + |b|² has lost too many digits. */
#define CANCELLED 0.125

typedef enum power { POWER_1, POWER_2, POWER_INFINITE, POWER_0, POWER_OTHER } power;

static power power_of(double p) {
    return p == 1 ? POWER_1 : p == 2 ? POWER_2 : isinf(p) ? POWER_INFINITE : p == 0 ? POWER_0 : POWER_OTHER;
}

/* Sums are carried in lanes, so that the loops become vectors; how they are added up is fixed. */
#define LANE_LOOP(T, start, step, fold)                   \
    T lane[LANES], sum = start;                           \
    for (int l = 0; l < LANES; l++)                       \
        lane[l] = start;                                  \
    int64_t i = 0;                                        \
    for (; i + LANES <= n; i += LANES)                    \
        for (int l = 0; l < LANES; l++) {                 \
            const T d = a[i + l] - b[i + l], s = lane[l]; \
            lane[l] = step;                               \
        }                                                 \
    for (; i < n; i++) {                                  \
        const T d = a[i] - b[i], s = sum;                 \
        sum = step;                                       \
    }                                                     \
    for (int l = 0; l < LANES; l++) {                     \
        const T x = lane[l], s = sum;                     \
        sum = fold;                                       \
    }

#define LARGER(x, s) ((x) > (s) || (x) != (x) ? (x) : (s))

#define DISTANCES(T, suffix, ABS, SQRT, POW, GEMM)                                                                 \
    TL_WIDE static T one_##suffix(power power, T p, const T *a, const T *b, int64_t n) {                           \
        if (power == POWER_2) {                                                                                    \
            LANE_LOOP(T, 0, s + d * d, s + x)                                                                      \
            return SQRT(sum);                                                                                      \
        }                                                                                                          \
        if (power == POWER_1) {                                                                                    \
            LANE_LOOP(T, 0, s + ABS(d), s + x)                                                                     \
            return sum;                                                                                            \
        }                                                                                                          \
        if (power == POWER_INFINITE) {                                                                             \
            LANE_LOOP(T, 0, LARGER(ABS(d), s), LARGER(x, s))                                                       \
            return sum;                                                                                            \
        }                                                                                                          \
        if (power == POWER_0) {                                                                                    \
            LANE_LOOP(T, 0, s + (T)(d != 0), s + x)                                                                \
            return sum;                                                                                            \
        }                                                                                                          \
        T sum = 0;                                                                                                 \
        for (int64_t i = 0; i < n; i++)                                                                            \
            sum += POW(ABS(a[i] - b[i]), p);                                                                       \
        return POW(sum, 1 / p);                                                                                    \
    }                                                                                                              \
    static void each_##suffix(const pairs *w, const T *a, const T *b, T *out) {                                    \
        for (int64_t i = 0; i < w->n; i++)                                                                         \
            for (int64_t j = 0; j < w->m; j++)                                                                     \
                out[i * w->m + j] = one_##suffix(w->power, (T)w->p, a + i * w->k, b + j * w->k, w->k);             \
    }                                                                                                              \
    TL_WIDE static void centre_##suffix(const T *rows, int64_t n, int64_t k, const T *middle, T *to, T *squares) { \
        for (int64_t i = 0; i < n; i++) {                                                                          \
            const T *from = rows + i * k;                                                                          \
            T *moved = to + i * k;                                                                                 \
            for (int64_t j = 0; j < k; j++)                                                                        \
                moved[j] = from[j] - middle[j];                                                                    \
            const T *a = moved;                                                                                    \
            const int64_t length = k;                                                                              \
            T lane[LANES] = {0}, sum = 0;                                                                          \
            int64_t j = 0;                                                                                         \
            for (; j + LANES <= length; j += LANES)                                                                \
                for (int l = 0; l < LANES; l++)                                                                    \
                    lane[l] += a[j + l] * a[j + l];                                                                \
            for (; j < length; j++)                                                                                \
                sum += a[j] * a[j];                                                                                \
            for (int l = 0; l < LANES; l++)                                                                        \
                sum += lane[l];                                                                                    \
            squares[i] = sum;                                                                                      \
        }                                                                                                          \
    }                                                                                                              \
    TL_WIDE static void middle_##suffix(const T *rows, int64_t n, int64_t k, T *middle) {                          \
        for (int64_t j = 0; j < k; j++)                                                                            \
            middle[j] = 0;                                                                                         \
        for (int64_t i = 0; i < n; i++)                                                                            \
            for (int64_t j = 0; j < k; j++)                                                                        \
                middle[j] += rows[i * k + j];                                                                      \
        for (int64_t j = 0; j < k; j++)                                                                            \
            middle[j] /= (T)n;                                                                                     \
    }                                                                                                              \
    /* Roots of a row; -1 where it is to be computed the other way: how many. */                                   \
    TL_WIDE static int64_t root_row_##suffix(T own, const T *squares, int64_t m, T *out) {                         \
        int64_t lost = 0;                                                                                          \
        for (int64_t j = 0; j < m; j++) {                                                                          \
            const T both = own + squares[j], square = both - 2 * out[j];                                           \
            const int good = square > (T)CANCELLED * both && both < (T)INFINITY;                                   \
            out[j] = good ? SQRT(square) : -1;                                                                     \
            lost += !good;                                                                                         \
        }                                                                                                          \
        return lost;                                                                                               \
    }                                                                                                              \
    /* room: n * k, m * k, n, m, k */                                                                              \
    static void many_##suffix(const pairs *w, const T *a, const T *b, T *room, T *out) {                           \
        const int64_t n = w->n, m = w->m, k = w->k;                                                                \
        T *moved_a = room, *moved_b = moved_a + n * k, *square_a = moved_b + m * k, *square_b = square_a + n;      \
        T *middle = square_b + m;                                                                                  \
        middle_##suffix(b, m, k, middle);                                                                          \
        centre_##suffix(a, n, k, middle, moved_a, square_a);                                                       \
        centre_##suffix(b, m, k, middle, moved_b, square_b);                                                       \
        GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)n, (blasint)m, (blasint)k, 1, moved_a, (blasint)k,  \
             moved_b, (blasint)k, 0, out, (blasint)m);                                                             \
        for (int64_t i = 0; i < n; i++) {                                                                          \
            T *row = out + i * m;                                                                                  \
            if (root_row_##suffix(square_a[i], square_b, m, row) == 0)                                             \
                continue;                                                                                          \
            for (int64_t j = 0; j < m; j++)                                                                        \
                if (row[j] < 0)                                                                                    \
                    row[j] = one_##suffix(POWER_2, 2, a + i * k, b + j * k, k);                                    \
        }                                                                                                          \
    }

/* n rows and m rows of k. */
typedef struct pairs {
    int64_t n, m, k;
    power power;
    double p;
} pairs;

DISTANCES(float, f32, fabsf, sqrtf, powf, cblas_sgemm)
DISTANCES(double, f64, fabs, sqrt, pow, cblas_dgemm)

static bool by_products(const pairs *w) {
    return w->power == POWER_2 && w->k > 0 && (w->n > MANY_ROWS || w->m > MANY_ROWS) && w->n <= INT_MAX &&
           w->m <= INT_MAX && w->k <= INT_MAX;
}

/* a and b are row-major, of one floating type and the same leading dimensions. */
static masu_status fill_distances(const pairs *w, const tl_tensor *a, const tl_tensor *b, tl_tensor *out) {
    const size_t size = tl__dtype_size((tl_dtype)a->dtype);
    const size_t bytes = (size_t)(w->n * w->k + w->m * w->k + w->n + w->m + w->k) * size;
    const bool products = by_products(w);
    void *room = NULL;
    masu_status status = products ? tl__alloc(bytes, &room) : MASU_OK;
    const int64_t count = status == MASU_OK ? out->elements / (w->n * w->m) : 0;
    for (int64_t i = 0; i < count; i++) {
        const void *x = (const char *)a->data + (size_t)(i * w->n * w->k) * size;
        const void *y = (const char *)b->data + (size_t)(i * w->m * w->k) * size;
        void *to = (char *)out->data + (size_t)(i * w->n * w->m) * size;
        if (a->dtype == TL_F32 && products)
            many_f32(w, x, y, room, to);
        else if (a->dtype == TL_F32)
            each_f32(w, x, y, to);
        else if (products)
            many_f64(w, x, y, room, to);
        else
            each_f64(w, x, y, to);
    }
    if (products && status == MASU_OK)
        tl__free(room, bytes);
    return status;
}

static masu_status distances_ready(tl_tensor *a, tl_tensor *b, double p, tl_tensor **out) {
    const int rank = a->rank;
    const pairs w = {a->shape[rank - 2], b->shape[rank - 2], a->shape[rank - 1], power_of(p), p};
    int64_t shape[TL_MAX_RANK];
    memcpy(shape, a->shape, sizeof shape);
    shape[rank - 1] = w.m;
    masu_status status = tl__tensor_new((tl_dtype)a->dtype, rank, shape, out);
    if (status != MASU_OK || (*out)->elements == 0)
        return status;
    status = fill_distances(&w, a, b, *out);
    if (status != MASU_OK)
        tl__tensor_drop(*out);
    return status;
}

static bool fit_together(const tl_tensor *a, const tl_tensor *b) {
    bool fit = a->rank >= 2 && a->rank == b->rank && a->shape[a->rank - 1] == b->shape[a->rank - 1];
    for (int d = 0; fit && d < a->rank - 2; d++)
        fit = a->shape[d] == b->shape[d];
    return fit;
}

static masu_status distances(tl_tensor *a, tl_tensor *b, double p, tl_tensor **out) {
    char shape[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    tl_tensor *x, *y;
    if (!fit_together(a, b) || !(p >= 0))
        return tl__error(TL_SAY(cdist_rows_do_not_fit), tl__shape_text(a->rank, a->shape, shape),
                         tl__shape_text(b->rank, b->shape, other), p);
    tl_dtype dtype = tl__promote((tl_dtype)a->dtype, (tl_dtype)b->dtype);
    dtype = dtype == TL_F64 ? TL_F64 : TL_F32;
    masu_status status = tl__blas_room();
    if (status == MASU_OK)
        status = tl__dense_as(a, dtype, &x);
    if (status != MASU_OK)
        return status;
    status = tl__dense_as(b, dtype, &y);
    if (status == MASU_OK) {
        status = distances_ready(x, y, p, out);
        tl__tensor_drop(y);
    }
    tl__tensor_drop(x);
    return status;
}

tl_tensor *tl_tensor_distances(tl_tensor *a, tl_tensor *b, double p) {
    TL_RETURN_TENSOR(distances(a, b, p, &out));
}
