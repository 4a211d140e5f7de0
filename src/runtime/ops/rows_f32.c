/* rows_f32.c: see rows_f32.h.
 *
 * Exponentials need care beyond ±87 only, where 2ⁿ is not a normal number, and that care is a fourth of their
 * instructions: blocks whose elements all lie below go without it.
 *
 * gelu is one chain of forty instructions that wait for each other. Processors with 256 bits find others to do
 * meanwhile where four chains are written side by side; those with 512 bits gain nothing.
 */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

#include <stdbool.h>

#include "runtime/ops/rows_f32.h"
#include "runtime/ops/vector_math.h"

enum { BLOCK = 1024 };

/* Part of each clone of the loop that calls it. */
#define ALWAYS static inline __attribute__((always_inline))

/* Also no NaN. */
ALWAYS bool all_near(int64_t n, const float *x) {
    int32_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t size = (int32_t)(tl__bits_of(x[i]) & 0x7fffffffu);
        most = size > most ? size : most;
    }
    return most <= (int32_t)tl__bits_of(87.0f);
}

#define EXPONENTIAL(name, near, any)                                   \
    TL_WIDE void name(int64_t n, const float *from, float *out) {      \
        for (int64_t first = 0; first < n; first += BLOCK) {           \
            const int64_t end = n - first < BLOCK ? n : first + BLOCK; \
            if (all_near(end - first, from + first)) {                 \
                INDEPENDENT                                            \
                for (int64_t i = first; i < end; i++) {                \
                    const float x = from[i];                           \
                    out[i] = near;                                     \
                }                                                      \
            } else {                                                   \
                INDEPENDENT                                            \
                for (int64_t i = first; i < end; i++) {                \
                    const float x = from[i];                           \
                    out[i] = any;                                      \
                }                                                      \
            }                                                          \
        }                                                              \
    }

EXPONENTIAL(tl__exp_row, tl__exp_near_f32(x), tl__exp_f32(x))
EXPONENTIAL(tl__sigmoid_row, 1.0f / (1.0f + tl__exp_near_f32(-x)), 1.0f / (1.0f + tl__exp_f32(-x)))
EXPONENTIAL(tl__silu_row, x *(1.0f / (1.0f + tl__exp_near_f32(-x))), x *(1.0f / (1.0f + tl__exp_f32(-x))))

/* ---- gelu -------------------------------------------------------------------------------------------------------- */

TL_WIDE static void gelu_each(int64_t n, const float *from, float *out) {
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        const float x = from[i];
        out[i] = x * tl__normal_f32(x);
    }
}

#if defined(__x86_64__) && defined(__OPTIMIZE__)
enum { CHAINS = 4, WIDTH = 8 };

typedef float numbers __attribute__((vector_size(32), aligned(4)));
typedef int32_t words __attribute__((vector_size(32), aligned(4)));

#define EACH_CHAIN for (int v = 0; v < CHAINS; v++)

/* tl__normal_f32 times x, its operations in its order; the factor 1/2 of 2ⁿ is in the coefficients of q, where it
 * rounds nothing, and 2ⁿ is added to the exponent. */
__attribute__((target("avx2"))) static void gelu_chains(const float *from, float *out) {
    numbers x[CHAINS], size[CHAINS], p[CHAINS], moved[CHAINS], r[CHAINS];
    EACH_CHAIN x[v] = *(const numbers *)(const void *)(from + v * WIDTH);
    EACH_CHAIN size[v] = (numbers)((words)x[v] & 0x7fffffff);
    EACH_CHAIN p[v] = size[v] * -2.0380760e-6f + 3.1069587e-5f;
    EACH_CHAIN p[v] = p[v] * size[v] - 1.5231116e-4f;
    EACH_CHAIN p[v] = p[v] * size[v] - 2.0585324e-4f;
    EACH_CHAIN p[v] = p[v] * size[v] + 7.1374471e-3f;
    EACH_CHAIN p[v] = p[v] * size[v] - 5.2536905e-2f;
    EACH_CHAIN p[v] = p[v] * size[v] - 4.5919806e-1f;
    EACH_CHAIN p[v] = p[v] * size[v] - 1.1511060f;
    EACH_CHAIN p[v] = p[v] * size[v];
    EACH_CHAIN moved[v] = p[v] + 12582912.0f;
    EACH_CHAIN r[v] = p[v] - (moved[v] - 12582912.0f);
    EACH_CHAIN p[v] = r[v] * (0.5f * 1.5353365e-4f) + 0.5f * 1.3398875e-3f;
    EACH_CHAIN p[v] = p[v] * r[v] + 0.5f * 9.6184369e-3f;
    EACH_CHAIN p[v] = p[v] * r[v] + 0.5f * 5.5503324e-2f;
    EACH_CHAIN p[v] = p[v] * r[v] + 0.5f * 2.4022648e-1f;
    EACH_CHAIN p[v] = p[v] * r[v] + 0.5f * 6.9314718e-1f;
    EACH_CHAIN p[v] = p[v] * r[v] + 0.5f;
    EACH_CHAIN p[v] = (numbers)((words)p[v] + ((words)moved[v] << 23));
    EACH_CHAIN p[v] = (numbers)((words)p[v] & (size[v] <= 5.6f));
    EACH_CHAIN r[v] = 1.0f - p[v];
    EACH_CHAIN p[v] = __builtin_ia32_blendvps256(r[v], p[v], x[v]);
    EACH_CHAIN *(numbers *)(void *)(out + v * WIDTH) = x[v] * p[v];
}

void tl__gelu_row(int64_t n, const float *x, float *out) {
    int64_t i = 0;
    if (__builtin_cpu_supports("avx2") && !__builtin_cpu_supports("avx512f"))
        for (; i + CHAINS * WIDTH <= n; i += CHAINS * WIDTH)
            gelu_chains(x + i, out + i);
    gelu_each(n - i, x + i, out + i);
}
#else
void tl__gelu_row(int64_t n, const float *x, float *out) {
    gelu_each(n, x, out);
}
#endif
