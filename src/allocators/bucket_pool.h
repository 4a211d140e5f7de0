/* bucket_pool.h: the bucket pool from inside, with the paths that must cost next to nothing.
 *
 *     slab    up to 128 KiB of one class at a multiple of 128 KiB, sealed in the best-fit pool
 *
 *             ┌────┬────┬────┬────┬────┬─ ─ ─ ─ ─ ─┐
 *             │live│list│live│back│list│ fresh     │
 *             └────┴────┴────┴────┴────┴─ ─ ─ ─ ─ ─┘
 *
 *     list    free, linked through its own first word: class.list, last in first out
 *     fresh   never used nor touched: [class.fresh, class.fresh_end), or a slab in class.pending
 *     back    given back to the best-fit pool; its bit in slab.returned is set
 *
 *     class.blocks = live + in list + fresh             (all blocks of the class not given back)
 *     live         = class.allocations - class.frees
 *     slab_bytes   = sum of class.blocks * block size = live_block_bytes + cached bytes
 *
 * Where the first blocks of a slab have been given back, a smaller slab may come to begin: then
 * two slabs have one base, and every block belongs to the one that has not given it back.
 *
 * The hot paths count with additions only. What must be compared (the cap, the peak of cached
 * bytes) is folded into one number: when live_block_bytes falls below low_mark,
 * masu__bucket_settle looks closer.
 *
 *     low_mark = max(slab_bytes - max_cached_bytes, slab_bytes - peak_cached_bytes), at least 0
 *
 * careful is set when anything but the plain path is wanted: a check, a remembered size, a trace,
 * a memory checker that wants to know, or small blocks that lie in the best-fit pool (odd_blocks), which a sized free could otherwise
 * mistake for a bucket's own.
 */
#ifndef MASU_BUCKET_POOL_H
#define MASU_BUCKET_POOL_H

#include <masu/bucket.h>

#include "allocators/address_map.h"
#include "allocators/bestfit_pool.h"
#include "base/assert.h"
#include "base/trace.h"

enum { MASU__SLAB_SHIFT = 17, MASU__SLAB_BYTES = 1 << MASU__SLAB_SHIFT };

typedef struct masu__slab {
    uintptr_t base;
    struct masu__slab *next_here; /* another slab with this base */
    struct masu__slab *next_pending;
    uint32_t class_index;
    uint32_t block_count;
    uint32_t held;       /* block_count - bits set in returned; > 0 */
    uint16_t *requested; /* owned, NULL unless sizes are remembered; 0: not live */
    uint64_t returned[]; /* a bit for each block */
} masu__slab;

typedef struct masu__bucket_class {
    void *list;
    uint64_t allocations;
    uint64_t frees;
    uintptr_t fresh, fresh_end; /* equal: nothing fresh */
    masu__slab *pending;        /* wholly fresh slabs */
    uint64_t misses;
    uint64_t blocks;
    uint64_t lent_out, lent_back; /* of allocations and frees, those in batches (bucket_lend.c) */
} masu__bucket_class;

struct masu_bucket {
    uint64_t live_bytes;       /* as requested, bypasses included */
    uint64_t peak_live_bytes;  /* >= live_bytes */
    uint64_t live_block_bytes; /* as spent, without bypasses */
    uint64_t low_mark;
    bool careful;
    bool thread_safe;
    bool checked;
    bool remembers;
    bool annotated; /* see base/annotate.h */
    uint32_t magic; /* MASU__POOL_LIVE, or MASU__POOL_DEAD after destroy */
    masu__bucket_class classes[MASU_BUCKET_CLASS_COUNT];

    masu_bestfit *backing; /* borrowed */
    masu_trace *trace;     /* borrowed, never NULL */
    bool traced;
    uint32_t number;
    size_t max_cached_bytes;
    uint64_t slab_bytes;
    uint64_t peak_cached_bytes;
    masu__address_map slabs; /* base -> slabs, owned */
    uint64_t slab_count;
    uint64_t slab_meta_bytes;

    uint64_t bypasses;
    uint64_t bypass_frees;
    uint64_t bypass_misses;
    uint64_t bypass_live_bytes;
    uint64_t odd_blocks; /* live bypasses of at most MASU_BUCKET_MAX_BYTES */
    uint64_t failures;
    size_t audit_pause;
    masu__lock lock;
};

/* Class of (bytes - 1) / 64: a load from a hot line is cheaper than a bit scan on many
 * processors. */
extern const uint8_t masu__bucket_class_table[MASU_BUCKET_MAX_BYTES / MASU_BUCKET_MIN_BYTES];

static inline unsigned masu__bucket_class_of(size_t bytes) {
    return masu__bucket_class_table[(bytes - 1) / MASU_BUCKET_MIN_BYTES];
}

static inline size_t masu__bucket_block_bytes(unsigned class_index) {
    return (size_t)MASU_BUCKET_MIN_BYTES << class_index;
}

static inline bool masu__bucket_has_class(size_t bytes) {
    return bytes - 1 < MASU_BUCKET_MAX_BYTES; /* 0 wraps */
}

static inline uint64_t masu__bucket_cached(const masu_bucket *pool) {
    return pool->slab_bytes - pool->live_block_bytes;
}

static inline void masu__bucket_count_alloc(masu_bucket *pool, masu__bucket_class *class,
                                            size_t block_bytes, size_t bytes) {
    class->allocations++;
    pool->live_block_bytes += block_bytes;
    pool->live_bytes += bytes;
    if (pool->live_bytes > pool->peak_live_bytes)
        pool->peak_live_bytes = pool->live_bytes;
}

/* Everything but a hit on the list of a pool that need not be careful. Call under the lock. */
masu_status masu__bucket_alloc_slow(masu_bucket *pool, size_t bytes, size_t alignment, void **out);
/* bytes 0 with sized false: not known. */
masu_status masu__bucket_free_slow(masu_bucket *pool, void *ptr, bool sized, size_t bytes);
/* The requested size where it is remembered, else that of the class. Under the lock. */
masu_status masu__bucket_size_of(masu_bucket *pool, const void *ptr, size_t *out_bytes);
/* Updates the peak of cached bytes, enforces the cap, moves low_mark. Always MASU_OK: what asked
 * for it has been done. */
masu_status masu__bucket_settle(masu_bucket *pool);

/* Call under the lock. */
static inline masu_status masu__bucket_alloc(masu_bucket *pool, size_t bytes, size_t alignment,
                                             void **out) {
    bool plain = masu__bucket_has_class(bytes) && alignment <= MASU_BUCKET_MIN_BYTES &&
                 (alignment & (alignment - 1)) == 0 && !pool->careful;
    if (MASU_LIKELY(plain)) {
        unsigned index = masu__bucket_class_of(bytes);
        masu__bucket_class *class = &pool->classes[index];
        void *block = class->list;
        if (MASU_LIKELY(block != NULL)) {
            class->list = *(void **)block;
            masu__bucket_count_alloc(pool, class, masu__bucket_block_bytes(index), bytes);
            *out = block;
            return MASU_OK;
        }
    }
    return masu__bucket_alloc_slow(pool, bytes, alignment, out);
}

/* The link in a free block. */
static inline void *masu__bucket_next(const masu_bucket *pool, void *block) {
    return MASU_UNLIKELY(pool->annotated) ? masu__annotate_peek(block) : *(void **)block;
}

static inline void masu__bucket_set_next(const masu_bucket *pool, void *block, void *next) {
    if (MASU_UNLIKELY(pool->annotated))
        masu__annotate_poke(block, next);
    else
        *(void **)block = next;
}

/* The block joins its list. */
static inline void masu__bucket_push(masu_bucket *pool, masu__bucket_class *class, void *block,
                                     size_t block_bytes, size_t bytes) {
    *(void **)block = class->list;
    class->list = block;
    class->frees++;
    pool->live_bytes -= bytes;
    pool->live_block_bytes -= block_bytes;
}

static inline bool masu__bucket_must_settle(const masu_bucket *pool) {
    return MASU_UNLIKELY(pool->live_block_bytes < pool->low_mark);
}

/* Call under the lock. */
static inline masu_status masu__bucket_free(masu_bucket *pool, void *ptr, size_t bytes) {
    bool plain = ptr != NULL && masu__bucket_has_class(bytes) && !pool->careful;
    if (MASU_LIKELY(plain)) {
        unsigned index = masu__bucket_class_of(bytes);
        size_t block_bytes = masu__bucket_block_bytes(index);
        masu__bucket_class *class = &pool->classes[index];
        bool plausible = ((uintptr_t)ptr & (block_bytes - 1)) == 0 && ptr != class->list;
        if (MASU_LIKELY(plausible)) {
            masu__bucket_push(pool, class, ptr, block_bytes, bytes);
            return masu__bucket_must_settle(pool) ? masu__bucket_settle(pool) : MASU_OK;
        }
    }
    return masu__bucket_free_slow(pool, ptr, true, bytes);
}

static inline void masu__bucket_lock(masu_bucket *pool) {
    if (pool->thread_safe)
        masu__lock_take(&pool->lock);
}

static inline void masu__bucket_unlock(masu_bucket *pool) {
    if (pool->thread_safe)
        masu__lock_release(&pool->lock);
}

void masu__bucket_emit(masu_bucket *pool, masu_event_kind kind, uintptr_t address, size_t bytes,
                       size_t block_bytes, size_t alignment);

/* Takes a block of the class out of the list, or a fresh one, or brings a slab in. */
masu_status masu__bucket_pop(masu_bucket *pool, unsigned index, void **out);

/* ---- batches (bucket_lend.c) ---- */

/* Up to count blocks into blocks[], the warmest last: at least one unless *status says why not.
 * Brings in a slab for the first of them only. Call under the lock; the pool must not be careful.
 */
size_t masu__bucket_lend(masu_bucket *pool, unsigned index, size_t count, void **blocks,
                         masu_status *status);
/* The way back, blocks of that class, the warmest last. */
void masu__bucket_take_home(masu_bucket *pool, unsigned index, void *const *blocks, size_t count);
/* As masu_bucket_set_max_cached, under the lock. */
void masu__bucket_set_cap(masu_bucket *pool, size_t max_cached_bytes);

/* ---- slabs (bucket_slabs.c) ---- */

/* The slab that holds address and has not given that block back, or NULL. O(1). */
masu__slab *masu__bucket_slab_of(const masu_bucket *pool, uintptr_t address);

static inline size_t masu__slab_block_bytes(const masu__slab *slab) {
    return masu__bucket_block_bytes(slab->class_index);
}

static inline bool masu__slab_returned(const masu__slab *slab, size_t block) {
    return (slab->returned[block / 64] >> (block % 64)) & 1;
}

/* For loops over all slabs: *cursor starts at 0 and previous is NULL at first; NULL at the end. */
masu__slab *masu__bucket_next_slab(const masu_bucket *pool, size_t *cursor,
                                   const masu__slab *previous);

/* A new slab of so many blocks, in class.pending. The caller moves the mark once it has taken
 * what it needs. */
masu_status masu__bucket_add_slab(masu_bucket *pool, unsigned class_index, size_t blocks);

/* Makes the first pending slab the fresh range, if there is one and nothing is fresh. */
void masu__bucket_open_pending(masu__bucket_class *class, size_t block_bytes);

/* Gives free memory back until at most keep_bytes are cached; moves low_mark. */
masu_status masu__bucket_give_back(masu_bucket *pool, uint64_t keep_bytes);

/* Gives every slab back, live blocks or not. */
void masu__bucket_drop_slabs(masu_bucket *pool);

/* low_mark from the numbers it is made of. */
void masu__bucket_move_mark(masu_bucket *pool);

/* careful from the facts it is made of. */
void masu__bucket_move_care(masu_bucket *pool);

bool masu__bucket_valid_unlocked(const masu_bucket *pool);

/* For every call of a heavy build, see masu__bestfit_audit. */
bool masu__bucket_audit(masu_bucket *pool);

#endif
