/* size.h: arithmetic on sizes that cannot wrap in silence.
 *
 * Every function returns false when the true result does not fit, and then leaves *out alone.
 */
#ifndef MASU_BASE_SIZE_H
#define MASU_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool masu__add(size_t a, size_t b, size_t *out) {
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

static inline bool masu__mul(size_t a, size_t b, size_t *out) {
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

static inline bool masu__is_power_of_two(size_t x) {
    return x != 0 && (x & (x - 1)) == 0;
}

static inline bool masu__is_aligned(uintptr_t x, size_t alignment) {
    return (x & (alignment - 1)) == 0;
}

/* alignment: a power of two */
static inline bool masu__align_up(size_t x, size_t alignment, size_t *out) {
    size_t sum;
    if (__builtin_add_overflow(x, alignment - 1, &sum))
        return false;
    *out = sum & ~(alignment - 1);
    return true;
}

/* For values known to be far from the border. */
static inline uintptr_t masu__align_up_small(uintptr_t x, size_t alignment) {
    return (x + alignment - 1) & ~(uintptr_t)(alignment - 1);
}

static inline uintptr_t masu__align_down(uintptr_t x, size_t alignment) {
    return x & ~(uintptr_t)(alignment - 1);
}

/* Largest k with 2^k <= x; x > 0. */
static inline unsigned masu__log2_floor(size_t x) {
    return (unsigned)(63 - __builtin_clzll((unsigned long long)x));
}

/* Smallest k with 2^k >= x; x > 0. */
static inline unsigned masu__log2_ceil(size_t x) {
    return x == 1 ? 0 : masu__log2_floor(x - 1) + 1;
}

static inline size_t masu__max(size_t a, size_t b) {
    return a > b ? a : b;
}

static inline size_t masu__min(size_t a, size_t b) {
    return a < b ? a : b;
}

#endif
