/* vector_math.h: functions of the C library that kernels call for every element, for f32, written so that the compiler
 * makes vectors of them: no branches, no calls, no tables.
 *
 *     exp     x = n ln 2 + r, |r| <= ln 2 / 2;  eˣ = 2ⁿ (1 + r + r² p(r))
 *     log     x = 2ⁿ m, m between √½ and √2;    ln x = n ln 2 + z - z² / 2 + z³ p(z), z = m - 1
 *     tanh    |x| < 0.625: x + x³ p(x²), else 1 - 2 / (e²ˣ + 1)
 *
 *     erf     |x| < 0.92: x + x q(x²), else 1 - e^(-|x| + |x| p(|x|))
 *     normal  what lies below x of the normal distribution: 2^(|x| p(|x|) - 1) of x < 0, 1 less that of the others
 *
 * ln 2 is in two parts, the first with so few bits that n times it is exact. Results lie within 2 units of the last
 * place (tests/unit/runtime/test_vector_math.c compares with the C library in f64); infinities, NaN, zeros and
 * subnormal numbers are what the C library makes of them. The polynomials are those of the Cephes library (S. L.
 * Moshier), whose coefficients are best approximations on these ranges; those of erf are N. Juffa's.
 */
#ifndef MASU_RUNTIME_OPS_VECTOR_MATH_H
#define MASU_RUNTIME_OPS_VECTOR_MATH_H

#include <stdint.h>
#include <string.h>

/* Where the processor has vectors of 256 or 512 bits, loops are there a second and a third time for those. Without
 * fused products, so that results are the same bits everywhere; not under sanitizers, which are in the way of choosing
 * while a program loads, and not where nothing is optimised. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TL_WIDE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define TL_WIDE
#endif

static inline uint32_t tl__bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float tl__float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2ⁿ, -126 <= n <= 127 */
static inline float tl__power_of_two(int32_t n) {
    return tl__float_of((uint32_t)(n + 127) << 23);
}

/* |r| of at most half of ln 2. */
static inline float tl__exp_near_0_f32(float r) {
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return (p * (r * r) + r) + 1.0f;
}

/* Adding 1.5 · 2²³ leaves the nearest whole number in the last bits. 2ⁿ is applied in two halves, so that results
 * beyond the normal numbers round once. */
static inline float tl__exp_f32(float x) {
    const float shift = 12582912.0f, high = 0.693359375f, low = -2.12194440e-4f;
    float y = x > 89.0f ? 89.0f : x;
    y = y < -104.0f ? -104.0f : y;
    float moved = y * 1.44269504088896341f + shift, n = moved - shift;
    int32_t whole = (int32_t)(tl__bits_of(moved) - tl__bits_of(shift)), half = whole >> 1;
    float r = (y - n * high) - n * low;
    float value = tl__exp_near_0_f32(r);
    return value * tl__power_of_two(half) * tl__power_of_two(whole - half);
}

/* The same for -87 <= x <= 0 and NaN, where nothing leaves the normal numbers. */
static inline float tl__exp_below_0_f32(float x) {
    const float shift = 12582912.0f, high = 0.693359375f, low = -2.12194440e-4f;
    float moved = x * 1.44269504088896341f + shift, n = moved - shift;
    float r = (x - n * high) - n * low;
    float value = tl__exp_near_0_f32(r);
    return value * tl__float_of((tl__bits_of(moved) << 23) + 0x3f800000u);
}

/* The bits of tl__exp_f32 for -87 <= x <= 87: the power is added to the exponent. */
static inline float tl__exp_near_f32(float x) {
    const float shift = 12582912.0f, high = 0.693359375f, low = -2.12194440e-4f;
    float moved = x * 1.44269504088896341f + shift, n = moved - shift;
    float value = tl__exp_near_0_f32((x - n * high) - n * low);
    return tl__float_of(tl__bits_of(value) + (tl__bits_of(moved) << 23));
}

static inline float tl__sigmoid_f32(float x) {
    return 1.0f / (1.0f + tl__exp_f32(-x));
}

static inline float tl__tanh_f32(float x) {
    float size = tl__float_of(tl__bits_of(x) & 0x7fffffffu), z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    float near = p * z * x + x;
    float far = 1.0f - 2.0f / (tl__exp_f32(size + size) + 1.0f);
    float value = size < 0.625f ? near : far; /* the sign also of -0 */
    return tl__float_of(tl__bits_of(value) | (tl__bits_of(x) & 0x80000000u));
}

static inline float tl__erf_f32(float x) {
    float size = tl__float_of(tl__bits_of(x) & 0x7fffffffu);
    size = size > 4.0f ? 4.0f : size; /* from there on the nearest number is 1 */
    float z = size * size;
    float p = -1.72853470e-5f * size + 3.83197126e-4f;
    p = p * z + (-3.88396438e-3f * size + 2.42546219e-2f);
    p = p * size - 1.06777877e-1f;
    p = p * size - 6.34846687e-1f;
    p = p * size - 1.28717512e-1f;
    float far = 1.0f - tl__exp_below_0_f32(p * size - size);
    far = tl__float_of(tl__bits_of(far) | (tl__bits_of(x) & 0x80000000u));
    float q = -5.96761703e-4f;
    q = q * z + 4.99119423e-3f;
    q = q * z - 2.67681349e-2f;
    q = q * z + 1.12819925e-1f;
    q = q * z - 3.76125336e-1f;
    q = q * z + 1.28379166e-1f;
    float near = q * x + x;
    return size < 0.921875f ? near : far;
}

/* Within 8e-8 of the right number. p is the best of its degree for that measure up to 5.6, from where on 0 is: a fit of
 * least squares to log2 of it, weighted by itself, again and again by its errors. q is 2^r, |r| <= 1/2. */
static inline float tl__normal_f32(float x) {
    const float shift = 12582912.0f;
    float size = tl__float_of(tl__bits_of(x) & 0x7fffffffu);
    float p = -2.0380760e-6f;
    p = p * size + 3.1069587e-5f;
    p = p * size - 1.5231116e-4f;
    p = p * size - 2.0585324e-4f;
    p = p * size + 7.1374471e-3f;
    p = p * size - 5.2536905e-2f;
    p = p * size - 4.5919806e-1f;
    p = p * size - 1.1511060f;
    float power = p * size, moved = power + shift, r = power - (moved - shift);
    float q = 1.5353365e-4f;
    q = q * r + 1.3398875e-3f;
    q = q * r + 9.6184369e-3f;
    q = q * r + 5.5503324e-2f;
    q = q * r + 2.4022648e-1f;
    q = q * r + 6.9314718e-1f;
    q = q * r + 1.0f;
    float below = q * tl__float_of((tl__bits_of(moved) << 23) + 0x3f000000u);
    below = size > 5.6f ? 0.0f : below;
    return x < 0.0f ? below : 1.0f - below;
}

static inline float tl__log_f32(float x) {
    const float smallest = 1.17549435e-38f, infinite = tl__float_of(0x7f800000u);
    float scaled = x < smallest ? x * 33554432.0f : x;
    uint32_t bits = tl__bits_of(scaled) - 0x3f3504f3u; /* √½ */
    int32_t whole = ((int32_t)bits >> 23) - (x < smallest ? 25 : 0);
    float z = tl__float_of((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f, n = (float)whole;
    float p = 7.0376836292e-2f;
    p = p * z - 1.1514610310e-1f;
    p = p * z + 1.1676998740e-1f;
    p = p * z - 1.2420140846e-1f;
    p = p * z + 1.4249322787e-1f;
    p = p * z - 1.6668057665e-1f;
    p = p * z + 2.0000714765e-1f;
    p = p * z - 2.4999993993e-1f;
    p = p * z + 3.3333331174e-1f;
    float square = z * z;
    float value = (p * z * square + n * -2.12194440e-4f) - 0.5f * square;
    value = (z + value) + n * 0.693359375f;
    value = x < infinite ? value : x; /* also NaN */
    value = x > 0.0f ? value : x == 0.0f ? -infinite : x != x ? x : infinite - infinite;
    return value;
}

#endif
