/* bucket.h: the pool for blocks up to 16 KiB.
 *
 * Size classes in two tiers, each with a last-in first-out list threaded through the free blocks
 * themselves; blocks are carved from slabs that come from a best-fit pool. A request above 16 KiB,
 * or aligned more strictly than its class, bypasses to that same best-fit pool: a bypass is not a
 * miss.
 *
 *     small   64 128                 256                     512      1024
 *     medium  2048 4096 8192 16384
 *     fine    64 128      192        256   320   384   448   512      and so on, four a doubling
 *
 * Waste of a request of s bytes, in bytes of the block it takes:
 *
 *     nine classes     max(64, the next power of two >= s) - s:  under 50 % of the block for s > 32
 *     fine_classes     under 64 bytes for s <= 256, under 20 % of the block for s > 256
 *     both             64 - s for s <= 64: 60 bytes for a 4-byte scalar, for 64 is the alignment
 *
 * A block lies at a multiple of the largest power of two that divides the size of its class: of its
 * whole size in the nine classes, of 64 at least and a seventh of its size in the fine ones.
 *
 *     live_block_bytes + cached_bytes = slab_bytes        hits + misses + bypasses = allocations
 *     cached_bytes <= max_cached_bytes       after every call, unless metadata for a trim ran out
 *
 * Thread safety: with thread_safe any function may be called from any thread, except create and
 * destroy. Without it one thread at a time. Cost: alloc and free O(1), a few instructions; a miss
 * costs one best-fit call.
 *
 * Free is sized: the caller gives the size it asked for. In checked mode size, block border,
 * ownership and liveness are verified on every call; otherwise a wrong size that belongs to
 * another class puts the block into that class's list, as in any sized allocator, and only an
 * immediate double free is caught.
 */
#ifndef MASU_BUCKET_H
#define MASU_BUCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/bestfit.h>
#include <masu/device.h>
#include <masu/export.h>
#include <masu/status.h>
#include <masu/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct masu_bucket masu_bucket;

enum {
    MASU_BUCKET_MIN_BYTES = 64,
    MASU_BUCKET_MAX_BYTES = 16384,
    MASU_BUCKET_SMALL_BYTES = 1024, /* the largest class of the small tier */
    MASU_BUCKET_CLASSES = 9,
    MASU_BUCKET_FINE_CLASSES = 28,
    MASU_BUCKET_MOST_CLASSES = 36 /* with those of the process-wide pool for closely packed blocks */
};

typedef struct masu_bucket_config {
    masu_bestfit *backing;   /* borrowed; its device must allow host access */
    masu_trace *trace;       /* borrowed, NULL: none */
    const char *name;        /* in a recording; borrowed during create; NULL: none */
    size_t small_blocks;     /* ready in each small class after create, at least */
    size_t medium_blocks;    /* and in each medium class */
    size_t max_cached_bytes; /* free memory kept, at most */
    bool fine_classes;       /* four classes for each doubling in place of one */
    bool checked;            /* verify every pointer and size that comes back */
    bool remember_sizes;     /* so that masu_bucket_free_unsized works; implied by checked */
    bool thread_safe;
} masu_bucket_config;

typedef struct masu_bucket_class_stats {
    size_t block_bytes;
    uint64_t allocations;
    uint64_t frees;
    uint64_t misses;
    uint64_t live_blocks; /* allocations - frees */
    uint64_t peak_live_blocks;
    uint64_t cached_blocks; /* in the list or not yet carved */
} masu_bucket_class_stats;

typedef struct masu_bucket_stats {
    uint64_t allocations; /* successful ones; bytes 0 is not counted */
    uint64_t frees;
    uint64_t hits;             /* served from a list or a slab at hand */
    uint64_t misses;           /* needed a new slab */
    uint64_t bypasses;         /* went straight to the best-fit pool */
    uint64_t live_bytes;       /* as requested, bypasses included */
    uint64_t peak_live_bytes;  /* of live_bytes */
    uint64_t live_block_bytes; /* as spent, without bypasses */
    uint64_t cached_bytes;
    uint64_t peak_cached_bytes;
    uint64_t slab_bytes;
    uint64_t slabs;
    uint64_t live_blocks;        /* without bypasses */
    uint64_t bypass_live_blocks; /* those that lie in the best-fit pool */
    uint64_t bypass_live_bytes;  /* as requested */
    uint64_t bypass_misses;      /* bypasses for which the best-fit pool had to ask the device */
    uint64_t failures;           /* requests refused */
    uint64_t metadata_bytes;
    size_t class_count; /* MASU_BUCKET_CLASSES or MASU_BUCKET_FINE_CLASSES */
    masu_bucket_class_stats classes[MASU_BUCKET_MOST_CLASSES];
} masu_bucket_stats;

/* The defaults of seed 002: 16 and 8 blocks, 16 MiB cached; thread-safe; checked in builds with
 * MASU_HEAVY. */
MASU_API masu_bucket_config masu_bucket_config_default(masu_bestfit *backing);

/* MASU_ERR_INVALID_ARGUMENT, MASU_ERR_UNSUPPORTED (memory that the processor cannot write),
 * MASU_ERR_OUT_OF_MEMORY, or what the backing pool said. Touches no page. */
MASU_API masu_status masu_bucket_create(const masu_bucket_config *config, masu_bucket **out);

/* Returns every slab and destroys the pool in any case; NULL is allowed. MASU_OK, or
 * MASU_ERR_LEAK when blocks were live (their slabs go back all the same). */
MASU_API masu_status masu_bucket_destroy(masu_bucket *pool);

/* A block of at least bytes at a multiple of alignment (0: 64). bytes 0: *out = NULL, MASU_OK,
 * not counted. The caller owns the block. On failure *out is NULL and no block has changed:
 * MASU_ERR_INVALID_ARGUMENT (alignment not a power of two), MASU_ERR_OVERFLOW,
 * MASU_ERR_OUT_OF_MEMORY, or what the device said. Before it refuses for lack of memory, cached blocks and empty slabs
 * have gone back: cached_bytes and slab_bytes may be lower than before. */
MASU_API masu_status masu_bucket_alloc(masu_bucket *pool, size_t bytes, size_t alignment, void **out);

/* Takes the block back; bytes as at its allocation. ptr NULL: MASU_OK. Statuses, each leaving the
 * pool as it was: MASU_ERR_DOUBLE_FREE, and in checked mode MASU_ERR_FOREIGN_POINTER,
 * MASU_ERR_INTERIOR_POINTER, MASU_ERR_SIZE_MISMATCH, and MASU_ERR_STALE_POOL in builds with
 * MASU_HEAVY. */
MASU_API masu_status masu_bucket_free(masu_bucket *pool, void *ptr, size_t bytes);

/* The same without the size, which a pool with remember_sizes or checked knows. Otherwise
 * MASU_ERR_UNSUPPORTED for a block of a size class; blocks that bypassed are taken back in any
 * mode. O(1). */
MASU_API masu_status masu_bucket_free_unsized(masu_bucket *pool, void *ptr);

/* The live block of old_bytes holds new_bytes > 0 afterwards, where it lies, with its contents as far as both reach.
 * MASU_ERR_OUT_OF_MEMORY: another class serves that size, or what lies behind the block is not free; otherwise the
 * statuses of free. Nothing has changed then. */
MASU_API masu_status masu_bucket_resize(masu_bucket *pool, void *ptr, size_t old_bytes, size_t new_bytes);

/* The same, or else a block elsewhere with the contents of the old one, which is gone; at a multiple of alignment in
 * either case. ptr NULL with old_bytes 0: as alloc; new_bytes 0: as free. On failure *out is NULL and the old block is
 * untouched: statuses of alloc and free. Growing step by step costs amortised constant time a byte. */
MASU_API masu_status masu_bucket_realloc(masu_bucket *pool, void *ptr, size_t old_bytes, size_t new_bytes,
                                         size_t alignment, void **out);

/* As alloc, of count * bytes bytes of zero; MASU_ERR_OVERFLOW for the product. Free with the product. */
MASU_API masu_status masu_bucket_alloc_zeroed(masu_bucket *pool, size_t count, size_t bytes, size_t alignment,
                                              void **out);

/* Gives free blocks back to the backing pool until at most keep_bytes are cached; largest classes
 * first. Returns memory also from slabs that still hold live blocks. MASU_ERR_OUT_OF_MEMORY when
 * metadata for the split could not be had: then less was returned, and the pool is whole. */
MASU_API masu_status masu_bucket_trim(masu_bucket *pool, size_t keep_bytes);

/* Trim to 0: nothing is cached afterwards. */
MASU_API masu_status masu_bucket_clear(masu_bucket *pool);

/* Switches the checks of checked mode on or off, with blocks live or not. On: from now on address,
 * border and liveness of every free are verified, of all blocks. Sizes too: exactly for blocks
 * allocated while it is on, as to the class for those before (their masu_bucket_free_unsized is
 * MASU_ERR_UNSUPPORTED). Off: what was remembered is forgotten, unless remember_sizes was wanted.
 * MASU_ERR_OUT_OF_MEMORY: no memory for two bytes a block; MASU_ERR_CORRUPT: the lists show that a
 * free before was wrong; in both cases nothing has changed. O(blocks). */
MASU_API masu_status masu_bucket_set_checked(masu_bucket *pool, bool on);

/* Lowers or raises the cap, trimming at once when it is exceeded. */
MASU_API masu_status masu_bucket_set_max_cached(masu_bucket *pool, size_t max_cached_bytes);

MASU_API void masu_bucket_get_stats(masu_bucket *pool, masu_bucket_stats *out);
/* Counters and peaks start again from now; what is live and cached stays counted. */
MASU_API void masu_bucket_reset_stats(masu_bucket *pool);
/* The peaks alone. */
MASU_API void masu_bucket_reset_peaks(masu_bucket *pool);

/* The number under which the pool's events appear in the trace. */
MASU_API uint32_t masu_bucket_number(const masu_bucket *pool);

/* Checks every equation, O(n). */
MASU_API bool masu_bucket_valid(masu_bucket *pool);

#ifdef __cplusplus
}
#endif

#endif
