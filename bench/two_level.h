/* two_level.h: an allocator of offsets as they are usually made, for comparison only.
 *
 * Free ranges hang in bins by size, 2^mantissa_bits of them to a doubling; two levels of bitmaps
 * find the next bin that holds anything. A request is rounded up to a bin, so the first range there
 * fits; a free range is rounded down. (The idea is that of the two-level segregated fit of Masmano
 * and others, 2004, and of the bitmap allocators made after it for graphics memory.)
 *
 *     ranges lie in a chain by offset (before, after); free ones also in the list of their bin
 */
#ifndef MASU_BENCH_TWO_LEVEL_H
#define MASU_BENCH_TWO_LEVEL_H

#include <stdint.h>
#include <stdlib.h>

typedef struct two_level_range {
    uint32_t offset, units;
    uint32_t before, after; /* neighbours; 0: none */
    uint32_t up, down;      /* in the bin's list */
    uint32_t taken;
} two_level_range;

typedef struct two_level {
    unsigned mantissa_bits;
    uint32_t top; /* bit w: words[w] != 0 */
    uint32_t words[32];
    uint32_t heads[32 * 32];
    two_level_range *ranges;
    uint32_t *spare;
    uint32_t spare_count;
} two_level;

/* Bin of a size as a small floating-point number, rounded down or up. */
static inline uint32_t two_level_bin(const two_level *t, uint32_t units, uint32_t up) {
    uint32_t m = t->mantissa_bits, one = (uint32_t)1 << m;
    if (units < one)
        return units;
    uint32_t shift = 31 - (uint32_t)__builtin_clz(units) - m;
    uint32_t lost = units & (((uint32_t)1 << shift) - 1);
    return ((shift + 1) << m) + ((units >> shift) & (one - 1)) + (up && lost);
}

static inline void two_level_hang(two_level *t, uint32_t id) {
    uint32_t bin = two_level_bin(t, t->ranges[id].units, 0), head = t->heads[bin];
    t->ranges[id].taken = 0;
    t->ranges[id].up = 0;
    t->ranges[id].down = head;
    t->ranges[head].up = id; /* of range 0 when there is none */
    t->heads[bin] = id;
    t->words[bin >> t->mantissa_bits] |= (uint32_t)1 << (bin & ((1u << t->mantissa_bits) - 1));
    t->top |= (uint32_t)1 << (bin >> t->mantissa_bits);
}

static inline void two_level_unhang(two_level *t, uint32_t id) {
    two_level_range *r = &t->ranges[id];
    t->ranges[r->down].up = r->up;
    if (r->up) {
        t->ranges[r->up].down = r->down;
        return;
    }
    uint32_t bin = two_level_bin(t, r->units, 0), word = bin >> t->mantissa_bits;
    t->heads[bin] = r->down;
    if (r->down)
        return;
    t->words[word] &= ~((uint32_t)1 << (bin & ((1u << t->mantissa_bits) - 1)));
    if (t->words[word] == 0)
        t->top &= ~((uint32_t)1 << word);
}

/* A range that surely holds units, 0 when there is none. */
static inline uint32_t two_level_find(const two_level *t, uint32_t units) {
    uint32_t bin = two_level_bin(t, units, 1), word = bin >> t->mantissa_bits;
    uint32_t here = t->words[word] >> (bin & ((1u << t->mantissa_bits) - 1));
    if (here)
        return t->heads[bin + (uint32_t)__builtin_ctz(here)];
    uint32_t above = t->top & ~(((uint32_t)2 << word) - 1);
    if (!above)
        return 0;
    word = (uint32_t)__builtin_ctz(above);
    return t->heads[(word << t->mantissa_bits) + (uint32_t)__builtin_ctz(t->words[word])];
}

static inline uint32_t two_level_take(two_level *t, uint32_t units) {
    uint32_t id = two_level_find(t, units);
    if (!id)
        return 0;
    two_level_unhang(t, id);
    two_level_range *r = &t->ranges[id];
    r->taken = 1;
    if (r->units > units) {
        uint32_t rest = t->spare[--t->spare_count];
        t->ranges[rest] = (two_level_range){
            .offset = r->offset + units, .units = r->units - units, .before = id, .after = r->after};
        t->ranges[r->after].before = rest;
        r->after = rest;
        r->units = units;
        two_level_hang(t, rest);
    }
    return id;
}

static inline void two_level_swallow(two_level *t, uint32_t id) {
    two_level_range *r = &t->ranges[id];
    uint32_t gone = r->after;
    r->units += t->ranges[gone].units;
    r->after = t->ranges[gone].after;
    t->ranges[r->after].before = id;
    t->spare[t->spare_count++] = gone;
}

static inline void two_level_give(two_level *t, uint32_t id) {
    uint32_t before = t->ranges[id].before, after = t->ranges[id].after;
    if (!t->ranges[after].taken) {
        two_level_unhang(t, after);
        two_level_swallow(t, id);
    }
    if (!t->ranges[before].taken) {
        two_level_unhang(t, before);
        two_level_swallow(t, before);
        id = before;
    }
    two_level_hang(t, id);
}

static inline uint32_t two_level_offset(const two_level *t, uint32_t id) {
    return t->ranges[id].offset;
}

static inline void two_level_close(two_level *t) {
    if (!t)
        return;
    free(t->ranges);
    free(t->spare);
    free(t);
}

/* Up to count ranges in 2^32 - 1 units. NULL without memory. */
static inline two_level *two_level_open(unsigned mantissa_bits, uint32_t count) {
    two_level *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->mantissa_bits = mantissa_bits;
    t->ranges = calloc(count, sizeof *t->ranges);
    t->spare = calloc(count, sizeof *t->spare);
    if (!t->ranges || !t->spare) {
        two_level_close(t);
        return NULL;
    }
    for (uint32_t id = count - 1; id > 1; id--)
        t->spare[t->spare_count++] = id;
    t->ranges[0].taken = 1; /* stands in for the neighbour that is not there */
    t->ranges[1].units = UINT32_MAX;
    two_level_hang(t, 1);
    return t;
}

#endif
