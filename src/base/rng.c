/* rng.c: xoshiro256++ (Blackman and Vigna's published recurrence) and normal deviates by the
 * polar method.
 *
 * What must stay true: the same seed gives the same bits with every compiler and processor. So
 * the logarithm is computed here, in additions, multiplications and divisions, and each product
 * that is added to something passes through rounded(), which keeps the compiler from fusing the
 * two into one differently rounded instruction.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off", "no-trapping-math")
#elif defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

#include "base/rng.h"

#include <math.h>
#include <string.h>

/* As TL_WIDE of runtime/ops/vector_math.h: loops for wider vectors where the processor has them. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VECTORS __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define VECTORS
#endif

static double rounded(double x) {
#if defined(__x86_64__)
    __asm__("" : "+x"(x));
#elif defined(__aarch64__)
    __asm__("" : "+w"(x));
#else
    __asm__("" : "+m"(x));
#endif
    return x;
}

static uint64_t rotate_left(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

static uint64_t splitmix(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void masu__rng_seed(masu__rng *rng, uint64_t seed) {
    for (int i = 0; i < 4; i++)
        rng->state[i] = splitmix(&seed);
    rng->spare = 0;
    rng->has_spare = false;
}

uint64_t masu__rng_next(masu__rng *rng) {
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t masu__rng_below(masu__rng *rng, uint64_t bound) {
    /* numbers below 2^64 mod bound, which is less than bound, would make small results more likely */
    uint64_t x = masu__rng_next(rng);
    if (x < bound) {
        const uint64_t unfair = -bound % bound;
        while (x < unfair)
            x = masu__rng_next(rng);
    }
    return x % bound;
}

double masu__rng_uniform(masu__rng *rng) {
    return (double)(masu__rng_next(rng) >> 11) * 0x1p-53;
}

/* Natural logarithm of a positive, normal x: x = m 2^e with m near 1, log m = 2
 * atanh((m-1)/(m+1)). */
static double log_portable(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        exponent++;
    }
    double s = (m - 1.0) / (m + 1.0);
    double s2 = rounded(s * s);
    double sum = 0.0;
    for (int k = 23; k >= 1; k -= 2)
        sum = rounded(sum * s2) + 1.0 / k;
    return rounded(2.0 * s * sum) + rounded(exponent * 0.69314718055994531);
}

double masu__rng_normal(masu__rng *rng) {
    if (rng->has_spare) {
        rng->has_spare = false;
        return rng->spare;
    }
    double u, v, r2;
    do {
        u = 2.0 * masu__rng_uniform(rng) - 1.0;
        v = 2.0 * masu__rng_uniform(rng) - 1.0;
        r2 = rounded(u * u) + rounded(v * v);
    } while (r2 >= 1.0 || r2 == 0.0);
    double scale = sqrt(-2.0 * log_portable(r2) / r2);
    rng->spare = v * scale;
    rng->has_spare = true;
    return u * scale;
}

/* ---- many at once: the same numbers, their logarithms and roots as vectors ---------------------------------------------- */

enum { BATCH = 128 };

typedef struct normals {
    double pair[2 * BATCH], square[BATCH]; /* points in the unit circle, their distances squared */
} normals;

/* One try for each pair of words: where it lies, and how far. */
VECTORS static void place_tries(const uint64_t *words, double *tries, double *squares, int64_t *within, int64_t count) {
    for (int64_t i = 0; i < 2 * count; i++)
        tries[i] = 2.0 * ((double)(int64_t)(words[i] >> 11) * 0x1p-53) - 1.0;
    for (int64_t i = 0; i < count; i++) {
        const double square = tries[2 * i] * tries[2 * i] + tries[2 * i + 1] * tries[2 * i + 1];
        squares[i] = square;
        within[i] = (square < 1.0) & (square != 0.0);
    }
}

/* The points that masu__rng_normal would come to, one after the other. As many tries as points are missing are never too
 * many. */
static void draw_points(masu__rng *rng, normals *n, int64_t count) {
    uint64_t words[2 * BATCH];
    double tries[2 * BATCH], squares[BATCH];
    int64_t within[BATCH];
    masu__rng own = *rng;
    for (int64_t found = 0; found < count;) {
        const int64_t tried = count - found;
        for (int64_t i = 0; i < 2 * tried; i++)
            words[i] = masu__rng_next(&own);
        place_tries(words, tries, squares, within, tried);
        for (int64_t i = 0; i < tried; i++) {
            n->pair[2 * found] = tries[2 * i];
            n->pair[2 * found + 1] = tries[2 * i + 1];
            n->square[found] = squares[i];
            found += within[i]; /* found < count: tried is what was missing */
        }
    }
    *rng = own;
}

/* log_portable without branches: the same operations, none of them fused. */
static inline double log_lane(double x) {
    uint64_t bits, exponent_bits;
    memcpy(&bits, &x, sizeof bits);
    exponent_bits = bits >> 52 | UINT64_C(0x4330000000000000); /* 2^52 + the exponent */
    bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000);
    double m, exponent;
    memcpy(&m, &bits, sizeof m);
    memcpy(&exponent, &exponent_bits, sizeof exponent);
    const double above = m > 1.4142135623730951 ? 1.0 : 0.0;
    m = m > 1.4142135623730951 ? m * 0.5 : m;
    exponent = exponent - (0x1p52 + 1023) + above;
    const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
    double sum = 1.0 / 23;
    sum = sum * s2 + 1.0 / 21;
    sum = sum * s2 + 1.0 / 19;
    sum = sum * s2 + 1.0 / 17;
    sum = sum * s2 + 1.0 / 15;
    sum = sum * s2 + 1.0 / 13;
    sum = sum * s2 + 1.0 / 11;
    sum = sum * s2 + 1.0 / 9;
    sum = sum * s2 + 1.0 / 7;
    sum = sum * s2 + 1.0 / 5;
    sum = sum * s2 + 1.0 / 3;
    sum = sum * s2 + 1.0 / 1;
    return 2.0 * s * sum + exponent * 0.69314718055994531;
}

VECTORS static void scale_points(normals *n) {
    for (int i = 0; i < BATCH; i++)
        n->square[i] = sqrt(-2.0 * log_lane(n->square[i]) / n->square[i]);
    for (int i = 0; i < BATCH; i++) {
        n->pair[2 * i] *= n->square[i];
        n->pair[2 * i + 1] *= n->square[i];
    }
}

/* At most `left` numbers, two for each point: how many. */
static uint64_t fill_points(masu__rng *rng, normals *n, uint64_t left) {
    const uint64_t points = left / 2 < BATCH ? left / 2 : BATCH;
    draw_points(rng, n, (int64_t)points);
    for (uint64_t i = points; i < BATCH; i++)
        n->square[i] = 0.5;
    scale_points(n);
    return 2 * points;
}

#define FILL_NORMAL(T)                                                \
    normals n;                                                        \
    uint64_t i = 0;                                                   \
    if (count > 0 && rng->has_spare)                                  \
        out[i++] = (T)masu__rng_normal(rng);                          \
    while (count - i >= 2) {                                          \
        const uint64_t filled = fill_points(rng, &n, count - i);      \
        for (uint64_t k = 0; k < filled; k++)                         \
            out[i + k] = (T)n.pair[k];                                \
        i += filled;                                                  \
    }                                                                 \
    if (i < count)                                                    \
        out[i] = (T)masu__rng_normal(rng);

void masu__rng_fill_normal_f32(masu__rng *rng, float *out, uint64_t count) {
    FILL_NORMAL(float)
}

void masu__rng_fill_normal_f64(masu__rng *rng, double *out, uint64_t count) {
    FILL_NORMAL(double)
}

void masu__rng_fill_uniform_f32(masu__rng *rng, float *out, uint64_t count) {
    /* 24 bits: a double just below 1 would round up to 1.0f */
    for (uint64_t i = 0; i < count; i++)
        out[i] = (float)(masu__rng_next(rng) >> 40) * 0x1p-24f;
}
