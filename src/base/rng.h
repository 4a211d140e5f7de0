/* rng.h: random numbers from a seed, the same on every machine.
 *
 * The generator is xoshiro256++ seeded through splitmix64. Normal deviates use the polar method
 * with a logarithm of our own, in operations that IEEE 754 rounds exactly, so that no C library's
 * last bit shows.
 *
 * One thread at a time for each generator.
 */
#ifndef MASU_BASE_RNG_H
#define MASU_BASE_RNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct masu__rng {
    uint64_t state[4]; /* never all zero */
    double spare;      /* the second normal deviate of a pair */
    bool has_spare;
} masu__rng;

void masu__rng_seed(masu__rng *rng, uint64_t seed);

/* All 64 bits random. */
uint64_t masu__rng_next(masu__rng *rng);

/* Uniform in [0, bound) without bias; bound > 0. */
uint64_t masu__rng_below(masu__rng *rng, uint64_t bound);

/* Uniform in [0, 1), 53 bits. */
double masu__rng_uniform(masu__rng *rng);

/* Mean 0, deviation 1. */
double masu__rng_normal(masu__rng *rng);

/* Arrays of normal deviates rounded to float, and of numbers in [0, 1) with 24 bits (a 53-bit
 * number just below 1 would round up to 1). */
void masu__rng_fill_normal_f32(masu__rng *rng, float *out, uint64_t count);
void masu__rng_fill_normal_f64(masu__rng *rng, double *out, uint64_t count);
void masu__rng_fill_uniform_f32(masu__rng *rng, float *out, uint64_t count);

#endif
