/* row_fold.c: see row_fold.h. */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#include "runtime/ops/row_fold.h"
#include "base/assert.h"
#include "runtime/ops/vector_math.h"

enum { LANES = 16, BLOCK = 64, VALUES = 32 };

/* Part of each clone of the loop that calls it. */
#define ALWAYS      static inline __attribute__((always_inline))

#define PLUS(a, b)  ((a) + (b))
#define TIMES(a, b) ((a) * (b))

/* name: of the fold. T: the elements. A: the accumulator, unsigned for whole numbers so that
 * they wrap. */
#define FOLD(name, suffix, T, A, member, zero, COMBINE)                                                          \
    TL_WIDE static void name##_row_##suffix(const void *from, int64_t n, int64_t stride, tl_total *total) {      \
        const T *x = from;                                                                                       \
        A sum = (A)total->member;                                                                                \
        int64_t i = 0;                                                                                           \
        if (stride == 1 && n >= LANES) {                                                                         \
            A lane[LANES];                                                                                       \
            for (int l = 0; l < LANES; l++)                                                                      \
                lane[l] = zero;                                                                                  \
            for (; i + LANES <= n; i += LANES)                                                                   \
                for (int l = 0; l < LANES; l++)                                                                  \
                    lane[l] = COMBINE(lane[l], (A)x[i + l]);                                                     \
            for (int l = 0; l < LANES; l++)                                                                      \
                sum = COMBINE(sum, lane[l]);                                                                     \
        }                                                                                                        \
        for (; i < n; i++)                                                                                       \
            sum = COMBINE(sum, (A)x[i * stride]);                                                                \
        total->member = (__typeof__(total->member))sum;                                                          \
    }                                                                                                            \
    TL_WIDE static void name##_columns_##suffix(const void *from, int64_t n, int64_t stride, int64_t columns,    \
                                                void *to) {                                                      \
        T *out = to;                                                                                             \
        for (int64_t first = 0; first < columns; first += BLOCK) {                                               \
            const T *x = (const T *)from + first;                                                                \
            int64_t width = columns - first < BLOCK ? columns - first : BLOCK;                                   \
            A sum[BLOCK];                                                                                        \
            for (int64_t j = 0; j < width; j++)                                                                  \
                sum[j] = zero;                                                                                   \
            int64_t k = 0;                                                                                       \
            for (; k + 4 <= n; k += 4) {                                                                         \
                const T *r0 = x + k * stride, *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;           \
                for (int64_t j = 0; j < width; j++)                                                              \
                    sum[j] = COMBINE(COMBINE(COMBINE(COMBINE(sum[j], (A)r0[j]), (A)r1[j]), (A)r2[j]), (A)r3[j]); \
            }                                                                                                    \
            for (; k < n; k++)                                                                                   \
                for (int64_t j = 0; j < width; j++)                                                              \
                    sum[j] = COMBINE(sum[j], (A)x[k * stride + j]);                                              \
            for (int64_t j = 0; j < width; j++)                                                                  \
                out[first + j] = (T)sum[j];                                                                      \
        }                                                                                                        \
    }                                                                                                            \
    static void name##_store_##suffix(const tl_total *total, void *to) {                                         \
        *(T *)to = (T)total->member;                                                                             \
    }

FOLD(apart, f32, float, double, real, 0, PLUS)
FOLD(sum, f64, double, double, real, 0, PLUS)
FOLD(sum, i64, int64_t, uint64_t, whole, 0, PLUS)
FOLD(product, f32, float, double, real, 1, TIMES)
FOLD(product, f64, double, double, real, 1, TIMES)
FOLD(product, i64, int64_t, uint64_t, whole, 1, TIMES)

/* ---- sums of f32 ----------------------------------------------------------------------------- */

/* A conversion to f64 takes as long as reading the element: four are added first, in f32, and their sum is converted.
 * That rounds by at most two units of the last place of these four, and does not add up along the tensor as a sum
 * that is carried in f32 does. Fewer than LANES go one by one. */
#define FOUR(a, b, c, d) ((double)(((a) + (b)) + ((c) + (d))))

/* Four may be infinite, or none, where the sum is not: then each is converted. */
static bool is_finite(double sum) {
    return sum - sum == 0;
}

TL_WIDE static void sum_row_f32(const void *from, int64_t n, int64_t stride, tl_total *total) {
    const float *x = from;
    double sum = total->real;
    int64_t i = 0;
    if (stride == 1 && n >= LANES) {
        double lane[LANES];
        for (int l = 0; l < LANES; l++)
            lane[l] = 0;
        for (; i + 4 * LANES <= n; i += 4 * LANES)
            for (int l = 0; l < LANES; l++)
                lane[l] += FOUR(x[i + l], x[i + LANES + l], x[i + 2 * LANES + l], x[i + 3 * LANES + l]);
        if (MASU_UNLIKELY(i + LANES <= n))
            for (; i + LANES <= n; i += LANES)
                for (int l = 0; l < LANES; l++)
                    lane[l] += (double)x[i + l];
        for (int l = 0; l < LANES / 2; l++)
            lane[l] += lane[l + LANES / 2];
        for (int l = 0; l < LANES / 4; l++)
            lane[l] += lane[l + LANES / 4];
        sum += (lane[0] + lane[2]) + (lane[1] + lane[3]);
    } else if (n >= LANES) {
        for (; i + 4 <= n; i += 4)
            sum += FOUR(x[i * stride], x[(i + 1) * stride], x[(i + 2) * stride], x[(i + 3) * stride]);
    }
    for (; i < n; i++)
        sum += (double)x[i * stride];
    if (MASU_LIKELY(is_finite(sum)))
        total->real = sum;
    else
        apart_row_f32(from, n, stride, total);
}

/* At most BLOCK columns. False: some sum is not finite. */
TL_WIDE static bool columns_by_fours(const float *x, int64_t n, int64_t stride, int64_t width, float *out) {
    double sum[BLOCK];
    int64_t k = 0, beyond = 0;
    for (int64_t j = 0; j < width; j++)
        sum[j] = 0;
    for (; k + 8 <= n; k += 8, x += 8 * stride) {
        const float *r4 = x + 4 * stride;
        for (int64_t j = 0; j < width; j++)
            sum[j] = (sum[j] + FOUR(x[j], x[stride + j], x[2 * stride + j], x[3 * stride + j])) +
                     FOUR(r4[j], r4[stride + j], r4[2 * stride + j], r4[3 * stride + j]);
    }
    for (; k + 4 <= n; k += 4, x += 4 * stride)
        for (int64_t j = 0; j < width; j++)
            sum[j] += FOUR(x[j], x[stride + j], x[2 * stride + j], x[3 * stride + j]);
    for (; k < n; k++, x += stride)
        for (int64_t j = 0; j < width; j++)
            sum[j] += (double)x[j];
    for (int64_t j = 0; j < width; j++)
        beyond |= !is_finite(sum[j]);
    for (int64_t j = 0; j < width; j++)
        out[j] = (float)sum[j];
    return beyond == 0;
}

static void sum_columns_f32(const void *from, int64_t n, int64_t stride, int64_t columns, void *to) {
    float *out = to;
    if (n < LANES) {
        apart_columns_f32(from, n, stride, columns, to);
        return;
    }
    for (int64_t first = 0; first < columns; first += BLOCK) {
        const float *x = (const float *)from + first;
        const int64_t width = columns - first < BLOCK ? columns - first : BLOCK;
        if (MASU_LIKELY(columns_by_fours(x, n, stride, width, out + first)))
            continue;
        for (int64_t j = 0; j < width; j++) {
            tl_total total = {0};
            sum_row_f32(x + j, n, stride, &total);
            out[first + j] = (float)total.real;
        }
    }
}

static void sum_store_f32(const tl_total *total, void *to) {
    apart_store_f32(total, to);
}

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
#define BEATS(x, y, BETTER) (BETTER(x, y) | (((x) != (x)) & ((y) == (y))))

/* Finds in a line without gaps first the best element, in BLOCK lanes, then the first place that holds it, by
 * blocks. A value alone asks less: NaN may be lost on the way, as long as one was seen. */
#define SEARCH(name, suffix, T, BETTER)                                                                         \
    ALWAYS T best_of_##name##_##suffix(const T *x, int64_t n) {                                                 \
        T lane[BLOCK], best;                                                                                    \
        int64_t i = BLOCK;                                                                                      \
        for (int64_t j = 0; j < BLOCK; j++)                                                                     \
            lane[j] = x[j];                                                                                     \
        for (; i + BLOCK <= n; i += BLOCK)                                                                      \
            for (int64_t j = 0; j < BLOCK; j++)                                                                 \
                lane[j] = BEATS(x[i + j], lane[j], BETTER) ? x[i + j] : lane[j];                                \
        for (int64_t j = 0; j < 32; j++)                                                                        \
            lane[j] = BEATS(lane[j + 32], lane[j], BETTER) ? lane[j + 32] : lane[j];                            \
        for (int64_t j = 0; j < 16; j++)                                                                        \
            lane[j] = BEATS(lane[j + 16], lane[j], BETTER) ? lane[j + 16] : lane[j];                            \
        best = lane[0];                                                                                         \
        for (int64_t j = 1; j < 16; j++)                                                                        \
            best = BEATS(lane[j], best, BETTER) ? lane[j] : best;                                               \
        for (; i < n; i++)                                                                                      \
            best = BEATS(x[i], best, BETTER) ? x[i] : best;                                                     \
        return best;                                                                                            \
    }                                                                                                           \
    ALWAYS int first_of_##name##_##suffix(const T *x, int64_t n, T best) {                                      \
        int first = BLOCK;                                                                                      \
        for (int j = 0; j < (int)n; j++) {                                                                      \
            int same = (x[j] == best) | ((best != best) & (x[j] != x[j]));                                      \
            int at = same ? j : BLOCK;                                                                          \
            first = at < first ? at : first;                                                                    \
        }                                                                                                       \
        return first;                                                                                           \
    }                                                                                                           \
    TL_WIDE static int64_t search_##name##_##suffix(const void *from, int64_t n, int64_t stride) {              \
        const T *x = from;                                                                                      \
        if (stride == 1 && n >= BLOCK) {                                                                        \
            const T best = best_of_##name##_##suffix(x, n);                                                     \
            int64_t i = 0;                                                                                      \
            for (; i + BLOCK <= n; i += BLOCK) {                                                                \
                int at = first_of_##name##_##suffix(x + i, BLOCK, best);                                        \
                if (at < BLOCK)                                                                                 \
                    return i + at;                                                                              \
            }                                                                                                   \
            return i + first_of_##name##_##suffix(x + i, n - i, best);                                          \
        }                                                                                                       \
        int64_t place = 0;                                                                                      \
        T best = x[0];                                                                                          \
        for (int64_t i = 1; i < n; i++) {                                                                       \
            const T y = x[i * stride];                                                                          \
            if (BEATS(y, best, BETTER)) {                                                                       \
                best = y;                                                                                       \
                place = i;                                                                                      \
            }                                                                                                   \
        }                                                                                                       \
        return place;                                                                                           \
    }                                                                                                           \
    TL_WIDE static bool value_##name##_##suffix(const void *from, int64_t n, void *to) {                        \
        const T *x = from;                                                                                      \
        T lane[VALUES], odd[VALUES];                                                                            \
        int64_t i = VALUES;                                                                                     \
        if (n < BLOCK)                                                                                          \
            return false;                                                                                       \
        for (int64_t j = 0; j < VALUES; j++) {                                                                  \
            lane[j] = x[j];                                                                                     \
            odd[j] = x[j] != x[j] ? 1 : 0;                                                                      \
        }                                                                                                       \
        for (; i + VALUES <= n; i += VALUES)                                                                    \
            for (int64_t j = 0; j < VALUES; j++) {                                                              \
                lane[j] = BETTER(x[i + j], lane[j]) ? x[i + j] : lane[j];                                       \
                odd[j] = x[i + j] != x[i + j] ? 1 : odd[j];                                                     \
            }                                                                                                   \
        for (int64_t j = 0; j < 16; j++) {                                                                      \
            lane[j] = BETTER(lane[j + 16], lane[j]) ? lane[j + 16] : lane[j];                                   \
            odd[j] = odd[j + 16] != 0 ? 1 : odd[j];                                                             \
        }                                                                                                       \
        for (int64_t j = 0; j < 8; j++) {                                                                       \
            lane[j] = BETTER(lane[j + 8], lane[j]) ? lane[j + 8] : lane[j];                                     \
            odd[j] = odd[j + 8] != 0 ? 1 : odd[j];                                                              \
        }                                                                                                       \
        T best = lane[0], is_odd = odd[0];                                                                      \
        for (int64_t j = 1; j < 8; j++) {                                                                       \
            best = BETTER(lane[j], best) ? lane[j] : best;                                                      \
            is_odd = odd[j] != 0 ? 1 : is_odd;                                                                  \
        }                                                                                                       \
        for (; i < n; i++) {                                                                                    \
            best = BETTER(x[i], best) ? x[i] : best;                                                            \
            is_odd = x[i] != x[i] ? 1 : is_odd;                                                                 \
        }                                                                                                       \
        if (best == 0 || is_odd != 0)                                                                           \
            return false;                                                                                       \
        *(T *)to = best;                                                                                        \
        return true;                                                                                            \
    }                                                                                                           \
    TL_WIDE static void columns_##name##_##suffix(const void *from, int64_t n, int64_t stride, int64_t columns, \
                                                  void *values, int64_t *places) {                              \
        for (int64_t first = 0; first < columns; first += BLOCK) {                                              \
            const T *x = (const T *)from + first;                                                               \
            int64_t width = columns - first < BLOCK ? columns - first : BLOCK;                                  \
            T best[BLOCK];                                                                                      \
            int64_t place[BLOCK] = {0};                                                                         \
            for (int64_t j = 0; j < width; j++)                                                                 \
                best[j] = x[j];                                                                                 \
            for (int64_t k = 1; k < n; k++) {                                                                   \
                if (places)                                                                                     \
                    for (int64_t j = 0; j < width; j++)                                                         \
                        place[j] = BEATS(x[k * stride + j], best[j], BETTER) ? k : place[j];                    \
                for (int64_t j = 0; j < width; j++)                                                             \
                    best[j] = BEATS(x[k * stride + j], best[j], BETTER) ? x[k * stride + j] : best[j];          \
            }                                                                                                   \
            for (int64_t j = 0; values && j < width; j++)                                                       \
                ((T *)values)[first + j] = best[j];                                                             \
            for (int64_t j = 0; places && j < width; j++)                                                       \
                places[first + j] = place[j];                                                                   \
        }                                                                                                       \
    }                                                                                                           \
    static bool beats_##name##_##suffix(const void *a, const void *b) {                                         \
        const T x = *(const T *)a, y = *(const T *)b;                                                           \
        return BEATS(x, y, BETTER);                                                                             \
    }

#define SEARCHES(name, BETTER)                                                                               \
    SEARCH(name, f32, float, BETTER)                                                                         \
    SEARCH(name, f64, double, BETTER)                                                                        \
    SEARCH(name, i64, int64_t, BETTER)                                                                       \
    SEARCH(name, b8, uint8_t, BETTER)                                                                        \
    tl_search_function *const tl__search_##name[TL_DTYPE_COUNT] = {search_##name##_f32, search_##name##_f64, \
                                                                   search_##name##_i64, search_##name##_b8}; \
    tl_value_function *const tl__value_##name[TL_DTYPE_COUNT] = {value_##name##_f32, value_##name##_f64,     \
                                                                 value_##name##_i64, value_##name##_b8};     \
    tl_search_columns_function *const tl__columns_##name[TL_DTYPE_COUNT] = {                                 \
        columns_##name##_f32, columns_##name##_f64, columns_##name##_i64, columns_##name##_b8};              \
    tl_beats_function *const tl__beats_##name[TL_DTYPE_COUNT] = {beats_##name##_f32, beats_##name##_f64,     \
                                                                 beats_##name##_i64, beats_##name##_b8};

SEARCHES(largest, LARGER)
SEARCHES(smallest, SMALLER)
