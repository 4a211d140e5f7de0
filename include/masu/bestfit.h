/* bestfit.h: the pool for blocks above 16 KiB, over any device.
 *
 * Exact best fit: of the free blocks that can hold the request the smallest is taken, the lowest
 * address among equals, so the same calls give the same addresses relative to the pool. (For
 * alignments above 64 bytes the first 32 candidates are tried in that order, then the smallest
 * block that fits wherever it lies.) Freed blocks merge with both neighbours at once, never
 * across two device blocks. Not one byte of the device's memory is read or written: all metadata
 * stays on the host, so the pool serves memory that the processor cannot see.
 *
 *     used + slack + free = reserved          (all in bytes)
 *     used   what the callers asked for       slack  what rounding and small remainders cost
 *
 * Thread safety: with thread_safe any function may be called from any thread, except create and
 * destroy. Without it one thread at a time. Cost: alloc and free O(log n) in the number of free
 * blocks of about one size, no device call unless the pool grows.
 */
#ifndef MASU_BESTFIT_H
#define MASU_BESTFIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/device.h>
#include <masu/export.h>
#include <masu/status.h>
#include <masu/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct masu_bestfit masu_bestfit;

typedef enum masu_pool_policy {
    MASU_POOL_REUSE,     /* trim returns wholly free device blocks */
    MASU_POOL_PERSISTENT /* nothing goes back to the device before destroy */
} masu_pool_policy;

/* One live block, as the leak report tells it. */
typedef struct masu_bestfit_block {
    void *address;
    size_t bytes;       /* as requested */
    size_t block_bytes; /* as spent */
    uint64_t owner;
    uint64_t serial; /* 1 for the pool's first allocation, 2 for the second, … */
} masu_bestfit_block;

/* Return false to stop. Called under the pool's lock: must not call into the pool. */
typedef bool (*masu_bestfit_visitor)(void *context, const masu_bestfit_block *block);

typedef struct masu_bestfit_config {
    masu_device *device;        /* borrowed, must not be NULL */
    masu_trace *trace;          /* borrowed, NULL: none */
    const char *name;           /* in a recording; borrowed during create; NULL: none */
    size_t pool_bytes;          /* least size of a device block; > 0 */
    size_t initial_bytes;       /* taken from the device by create; 0: nothing until the first request */
    size_t min_remainder_bytes; /* split only when so much remains behind the request */
    size_t limit_bytes;         /* never more than so much from the device, in whole granules (any number,
                                 * rounded up to one); 0: no limit */
    masu_pool_policy policy;
    bool thread_safe;
    /* The leak report: destroy shows it each block that is still live, in order of address: who has
     * it, how much it is, and when it was allocated. NULL: none. The context is borrowed. */
    masu_bestfit_visitor leaked;
    void *leaked_context;
    /* The settings from here on are off when 0. */
    size_t size_steps;         /* a power of two up to 256: sizes are rounded up to so many steps in each
                        * doubling, so that sizes that differ little share blocks; waste is below
                        * 1 / size_steps of the request */
    size_t whole_above_bytes;  /* larger requests get device blocks of their own, never split */
    size_t whole_slack_bytes;  /* such a block serves again what leaves at most so much of it unused;
                               * 0: only what it fits as closely as the device allows */
    uint64_t idle_allocations; /* device blocks that were wholly free during so many allocations go back: looked for
                                * before the pool grows, and four times in so many allocations
                                * (not under MASU_POOL_PERSISTENT) */
    size_t max_idle_bytes; /* no more than so much is kept in device blocks that are wholly free: the free after which
                            * it were more gives back those that were so for longest (not under
                            * MASU_POOL_PERSISTENT) */
    size_t min_alignment_bytes; /* of every block, a power of two; sizes are rounded up to it, so that no gaps
                                 * arise between blocks; 0: 64 */
} masu_bestfit_config;

enum { MASU_BESTFIT_MIN_REMAINDER_BYTES = 256, MASU_BESTFIT_ALIGNMENT_BYTES = 64 };
#define MASU_BESTFIT_POOL_BYTES ((size_t)256 << 20)

typedef struct masu_bestfit_stats {
    uint64_t allocations; /* successful ones; bytes 0 is not counted */
    uint64_t frees;
    uint64_t failures;           /* requests refused, whatever the reason */
    uint64_t hits;               /* allocations served without the device */
    uint64_t misses;             /* allocations that needed the device: hits + misses = allocations */
    uint64_t device_allocations; /* device blocks ever taken */
    uint64_t device_frees;       /* and given back */
    uint64_t allocated_bytes;    /* sum over all allocations, as requested */
    uint64_t freed_bytes;        /* allocated_bytes - freed_bytes = used_bytes */
    uint64_t used_bytes;
    uint64_t slack_bytes;
    uint64_t free_bytes;
    uint64_t reserved_bytes; /* used + slack + free */
    uint64_t peak_used_bytes;
    uint64_t peak_reserved_bytes;
    uint64_t largest_free_bytes;
    uint64_t live_blocks;
    uint64_t free_blocks;
    uint64_t device_blocks; /* held now */
    uint64_t metadata_bytes;
    double internal_fragmentation; /* slack / (used + slack), 0 when nothing is live */
    double external_fragmentation; /* 1 - largest free / free, 0 when nothing is free */
    double hit_rate;               /* hits / allocations, 0 before the first */
} masu_bestfit_stats;

/* The defaults of seed 000: 256 MiB blocks, or as much as the device has, one of them taken at once, remainder
 * 256, reuse, thread-safe. device: whose memory is asked for. One that does not say how much it has, and refuses the
 * first block, is asked for half as much until it gives some. */
MASU_API masu_bestfit_config masu_bestfit_config_default(masu_device *device);

/* MASU_ERR_INVALID_ARGUMENT (also for a device with granules under 64 bytes),
 * MASU_ERR_OUT_OF_MEMORY, or what the device said to the initial block. */
MASU_API masu_status masu_bestfit_create(const masu_bestfit_config *config, masu_bestfit **out);

/* Gives everything back to the device and destroys the pool in any case; NULL is allowed.
 * MASU_OK, or MASU_ERR_LEAK when blocks were live, or MASU_ERR_DEVICE_FAILURE when the device
 * refused a block. */
MASU_API masu_status masu_bestfit_destroy(masu_bestfit *pool);

/* A block of at least bytes at a multiple of alignment (0: 64, which every block has). bytes 0:
 * *out = NULL, MASU_OK, not counted. The caller owns the block. On failure *out is NULL and
 * no block has changed: MASU_ERR_INVALID_ARGUMENT (alignment not a power of two),
 * MASU_ERR_OVERFLOW, MASU_ERR_OUT_OF_MEMORY, MASU_ERR_LIMIT_REACHED, or what the device said.
 * owner is any number that the leak report shall show. When limit_bytes or the device is in the way, wholly
 * free device blocks are given back first (under MASU_POOL_REUSE). */
MASU_API masu_status masu_bestfit_alloc(masu_bestfit *pool, size_t bytes, size_t alignment, uint64_t owner, void **out);

/* Takes the block back. ptr NULL: MASU_OK. Otherwise ptr must be the address of a live block of
 * this pool, else nothing changes: MASU_ERR_FOREIGN_POINTER (also for a block that a pool on top
 * took), MASU_ERR_INTERIOR_POINTER, MASU_ERR_DOUBLE_FREE (also after a reset), and in builds with
 * MASU_HEAVY MASU_ERR_STALE_POOL. */
MASU_API masu_status masu_bestfit_free(masu_bestfit *pool, void *ptr);

/* The same, and the requested size is checked: MASU_ERR_SIZE_MISMATCH. */
MASU_API masu_status masu_bestfit_free_sized(masu_bestfit *pool, void *ptr, size_t bytes);

/* The requested size of a live block, with the statuses of free. */
MASU_API masu_status masu_bestfit_size_of(masu_bestfit *pool, const void *ptr, size_t *out_bytes);

/* The live block holds new_bytes > 0 afterwards, where it lies, with its contents as far as both reach; counted as
 * a free and an allocation. MASU_ERR_OUT_OF_MEMORY: what lies behind it is not free; otherwise the statuses of free,
 * and nothing has changed. O(log n). (A memory checker would take the block for unwritten: under one blocks do not
 * change their size.) */
MASU_API masu_status masu_bestfit_resize(masu_bestfit *pool, void *ptr, size_t new_bytes);

/* The same, or else a block elsewhere with the contents and the owner of the old one, which is gone. ptr NULL: as alloc
 * with owner 0; new_bytes 0: as free. On failure *out is NULL and the old block is untouched: statuses of alloc and
 * free; MASU_ERR_UNSUPPORTED when it would have to move in memory that the processor cannot read. Growing step by step
 * costs amortised constant time a byte: a block that moves gets an eighth of its size as room. */
MASU_API masu_status masu_bestfit_realloc(masu_bestfit *pool, void *ptr, size_t new_bytes, size_t alignment,
                                          void **out);

/* As alloc, of count * bytes bytes of zero. MASU_ERR_OVERFLOW for the product; MASU_ERR_UNSUPPORTED in memory that the
 * processor cannot write. */
MASU_API masu_status masu_bestfit_alloc_zeroed(masu_bestfit *pool, size_t count, size_t bytes, size_t alignment,
                                               uint64_t owner, void **out);

/* Every block is free again; the device blocks stay, each with its own size. Peaks start again
 * from now. Pointers handed out before are dead: freeing one is MASU_ERR_DOUBLE_FREE. Never
 * fails. */
MASU_API void masu_bestfit_reset(masu_bestfit *pool);

/* Gives wholly free device blocks back, largest address first, while reserved stays >= keep_bytes; and what else is
 * free beyond keep_bytes gives its pages back on a host device, where its addresses stay. O(blocks). Under
 * MASU_POOL_PERSISTENT nothing happens. MASU_OK, or MASU_ERR_DEVICE_FAILURE when the device refused one (it stays in
 * the pool). */
MASU_API masu_status masu_bestfit_trim(masu_bestfit *pool, size_t keep_bytes);

/* Another limit_bytes from now on, as in the configuration; 0: none. What is held beyond it stays, and the pool does
 * not grow until it is below. */
MASU_API void masu_bestfit_set_limit(masu_bestfit *pool, size_t limit_bytes);

MASU_API void masu_bestfit_get_stats(masu_bestfit *pool, masu_bestfit_stats *out);
/* Peaks and counters start again from now; what is in use stays counted. */
MASU_API void masu_bestfit_reset_stats(masu_bestfit *pool);

/* Live blocks in order of address. */
MASU_API void masu_bestfit_visit_live(masu_bestfit *pool, masu_bestfit_visitor visitor, void *context);

/* The number under which the pool's events appear in the trace. */
MASU_API uint32_t masu_bestfit_number(const masu_bestfit *pool);

/* Checks every equation, O(n). */
MASU_API bool masu_bestfit_valid(masu_bestfit *pool);

#ifdef __cplusplus
}
#endif

#endif
