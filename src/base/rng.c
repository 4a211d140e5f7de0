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

void masu__rng_fill_uniform_f32(masu__rng *rng, float *out, uint64_t count) {
    /* 24 bits: a double just below 1 would round up to 1.0f */
    for (uint64_t i = 0; i < count; i++)
        out[i] = (float)(masu__rng_next(rng) >> 40) * 0x1p-24f;
}
