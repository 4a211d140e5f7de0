/* fold.c: see fold.h. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include "runtime/ops/fold.h"

enum { LANES = 8, BLOCK = 64 };

#define PLUS(a, b)  ((a) + (b))
#define TIMES(a, b) ((a) * (b))

/* name: of the fold. T: the elements. A: the accumulator, unsigned for whole numbers so that
 * they wrap. */
#define FOLD(name, suffix, T, A, member, zero, COMBINE)                              \
    static void name##_row_##suffix(const void *from, int64_t n, int64_t stride,     \
                                    tl_total *total) {                               \
        const T *x = from;                                                           \
        A sum = (A)total->member;                                                    \
        int64_t i = 0;                                                               \
        if (stride == 1 && n >= LANES) {                                             \
            A lane[LANES];                                                           \
            for (int l = 0; l < LANES; l++)                                          \
                lane[l] = zero;                                                      \
            for (; i + LANES <= n; i += LANES)                                       \
                for (int l = 0; l < LANES; l++)                                      \
                    lane[l] = COMBINE(lane[l], (A)x[i + l]);                         \
            for (int l = 0; l < LANES; l++)                                          \
                sum = COMBINE(sum, lane[l]);                                         \
        }                                                                            \
        for (; i < n; i++)                                                           \
            sum = COMBINE(sum, (A)x[i * stride]);                                    \
        total->member = (__typeof__(total->member))sum;                              \
    }                                                                                \
    static void name##_columns_##suffix(const void *from, int64_t n, int64_t stride, \
                                        int64_t columns, void *to) {                 \
        T *out = to;                                                                 \
        for (int64_t first = 0; first < columns; first += BLOCK) {                   \
            const T *x = (const T *)from + first;                                    \
            int64_t width = columns - first < BLOCK ? columns - first : BLOCK;       \
            A sum[BLOCK];                                                            \
            for (int64_t j = 0; j < width; j++)                                      \
                sum[j] = zero;                                                       \
            for (int64_t k = 0; k < n; k++)                                          \
                for (int64_t j = 0; j < width; j++)                                  \
                    sum[j] = COMBINE(sum[j], (A)x[k * stride + j]);                  \
            for (int64_t j = 0; j < width; j++)                                      \
                out[first + j] = (T)sum[j];                                          \
        }                                                                            \
    }                                                                                \
    static void name##_store_##suffix(const tl_total *total, void *to) {             \
        *(T *)to = (T)total->member;                                                 \
    }

FOLD(sum, f32, float, double, real, 0, PLUS)
FOLD(sum, f64, double, double, real, 0, PLUS)
FOLD(sum, i64, int64_t, uint64_t, whole, 0, PLUS)
FOLD(product, f32, float, double, real, 1, TIMES)
FOLD(product, f64, double, double, real, 1, TIMES)
FOLD(product, i64, int64_t, uint64_t, whole, 1, TIMES)

#define FOLD_ROW(name, suffix, one) \
    { {(one), (one)}, name##_row_##suffix, name##_columns_##suffix, name##_store_##suffix }

const tl_fold tl__fold_sum[TL_DTYPE_COUNT] = {
    [TL_F32] = FOLD_ROW(sum, f32, 0),
    [TL_F64] = FOLD_ROW(sum, f64, 0),
    [TL_I64] = FOLD_ROW(sum, i64, 0),
};

const tl_fold tl__fold_product[TL_DTYPE_COUNT] = {
    [TL_F32] = FOLD_ROW(product, f32, 1),
    [TL_F64] = FOLD_ROW(product, f64, 1),
    [TL_I64] = FOLD_ROW(product, i64, 1),
};

/* ---- largest and smallest -------------------------------------------------------------------- */

#define LARGER(x, y)  ((x) > (y))
#define SMALLER(x, y) ((x) < (y))
/* x != x: only NaN, which nothing beats */
#define BEATS(x, y, BETTER) (BETTER(x, y) || ((x) != (x) && (y) == (y)))

#define SEARCH(name, suffix, T, BETTER)                                                    \
    static int64_t search_##name##_##suffix(const void *from, int64_t n, int64_t stride) { \
        const T *x = from;                                                                 \
        T best = x[0];                                                                     \
        int64_t place = 0;                                                                 \
        for (int64_t i = 1; i < n; i++) {                                                  \
            const T y = x[i * stride];                                                     \
            if (BEATS(y, best, BETTER)) {                                                  \
                best = y;                                                                  \
                place = i;                                                                 \
            }                                                                              \
        }                                                                                  \
        return place;                                                                      \
    }                                                                                      \
    static bool beats_##name##_##suffix(const void *a, const void *b) {                    \
        const T x = *(const T *)a, y = *(const T *)b;                                      \
        return BEATS(x, y, BETTER);                                                        \
    }

#define SEARCHES(name, BETTER)                                                              \
    SEARCH(name, f32, float, BETTER)                                                        \
    SEARCH(name, f64, double, BETTER)                                                       \
    SEARCH(name, i64, int64_t, BETTER)                                                      \
    SEARCH(name, b8, uint8_t, BETTER)                                                       \
    tl_search_function *const tl__search_##name[TL_DTYPE_COUNT] = {                         \
        search_##name##_f32, search_##name##_f64, search_##name##_i64, search_##name##_b8}; \
    tl_beats_function *const tl__beats_##name[TL_DTYPE_COUNT] = {                           \
        beats_##name##_f32, beats_##name##_f64, beats_##name##_i64, beats_##name##_b8};

SEARCHES(largest, LARGER)
SEARCHES(smallest, SMALLER)
