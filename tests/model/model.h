/* model.h: a model of an allocator so simple that it cannot be wrong: an array of what is live,
 * and sums.
 *
 * A random run draws operations from a seed, does each on the pool and on the model, and
 * compares. On failure the message carries seed and step. Of every model test
 *
 *     MASU_MODEL_SEEDS="7 0x6d617375"     replaces the seeds of every day
 *     MASU_MODEL_STEPS=1000000            and the operations of one run
 */
#ifndef MASU_TESTS_MODEL_H
#define MASU_TESTS_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

enum { MODEL_SLOTS = 300 };

typedef struct model_block {
    unsigned char *address; /* NULL: slot empty */
    size_t bytes;
    unsigned char mark; /* what the block is filled with, where it can be */
} model_block;

typedef struct model {
    uint64_t seed;
    int step;
    masu__rng rng;
    bool writable; /* the memory may be touched */
    model_block slots[MODEL_SLOTS];
    uint64_t live_bytes, live_blocks, peak_bytes, allocations, frees;
} model;

enum { MODEL_MOST_SEEDS = 64 };

/* The seeds to run: those of every day, or what the environment says. */
typedef struct model_seeds {
    uint64_t seed[MODEL_MOST_SEEDS];
    size_t count;
} model_seeds;

model_seeds model_seeds_wanted(const uint64_t *usual, size_t count);
int model_steps_wanted(int usual);

#define HOLDS(m, x)                                                                          \
    do {                                                                                     \
        if (!(x))                                                                            \
            fail_msg("seed %llu step %d: %s", (unsigned long long)(m)->seed, (m)->step, #x); \
    } while (0)

void model_start(model *m, uint64_t seed, bool writable);

model_block *model_any_slot(model *m);

/* Small sizes mostly, every border, now and then a large one. */
size_t model_random_bytes(model *m, size_t most);
/* 0 mostly; else a power of two up to most. */
size_t model_random_alignment(model *m, size_t most);

/* What an allocation gave: checks alignment and that it shares no byte with any other block, then
 * fills it. */
void model_add(model *m, model_block *slot, void *address, size_t bytes, size_t alignment);
/* Before a free: checks that nobody else wrote into the block. */
void model_check_contents(model *m, const model_block *slot);
void model_remove(model *m, model_block *slot);
void model_remove_all(model *m);

#endif
