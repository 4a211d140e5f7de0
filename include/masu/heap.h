/* heap.h: the one front. A request goes to the bucket pool (up to 16 KiB) or to the best-fit pool
 * (above).
 *
 *     caller ─► heap ─┬─► buckets ──slabs──┐
 *                     └────────────────────┴─► best fit ─► device
 *
 * Small requests never take a granule of the device, and nothing here comes from malloc but
 * metadata.
 *
 * Thread safety: with thread_safe any function may be called from any thread, except create and
 * destroy; one lock for the whole heap. Without it there is no lock and one thread at a time may
 * be inside.
 */
#ifndef MASU_HEAP_H
#define MASU_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/bestfit.h>
#include <masu/bucket.h>
#include <masu/device.h>
#include <masu/export.h>
#include <masu/status.h>
#include <masu/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct masu_heap masu_heap;

/* One live block. A guarded heap knows all of it; any other the address, and the size as requested
 * where it remembers that, else that of the block's class. */
typedef struct masu_heap_block {
    void *address;
    size_t bytes;
    uint64_t serial;      /* 1 for the heap's first allocation, 2 for the second, …; 0: not known */
    masu_place allocated; /* where, if it was said */
} masu_heap_block;

/* Return false to stop. Must not call into the heap. */
typedef bool (*masu_heap_visitor)(void *context, const masu_heap_block *block);

/* The last fault of a guarded heap: a free that it refused, or (MASU_ERR_CORRUPT) bytes written where
 * no one may write, before, behind, or after the life of a block. */
typedef struct masu_fault {
    masu_status status;  /* MASU_OK: nothing yet */
    const void *address; /* as the caller gave it */
    masu_place here;     /* of the call that was refused, if it was said */
    const void *block;   /* the block it is about; NULL: none is known */
    size_t block_bytes;
    uint64_t serial;
    masu_place allocated, freed; /* of that block */
} masu_fault;

/* Memory has run out: shortfall_bytes could not be served though the heap gave back what it had
 * cached. Free what can be freed (also of this heap) and return true for one more try. Called
 * without any lock, once for each request that would otherwise be refused. */
typedef bool (*masu_oom_callback)(void *context, size_t shortfall_bytes);

typedef struct masu_heap_config {
    masu_device *device; /* borrowed; NULL: the heap makes a host device of its own */
    masu_trace *trace;   /* borrowed, NULL: none; the pools below emit into it */
    const char *name;    /* of its pools in a recording, at most 31 bytes; borrowed during create; NULL: none */
    bool thread_safe;
    bool checked; /* verify every pointer and size that comes back */
    /* bucket pool */
    size_t small_blocks;
    size_t medium_blocks;
    size_t max_cached_bytes;
    size_t cached_bytes_a_thread; /* of the process-wide pool: its cap is this for each thread that has a cache, where
                                   * that is more than max_cached_bytes; 0: max_cached_bytes, however many there are */
    bool fine_classes;            /* four size classes for each doubling in place of one, see bucket.h */
    /* best-fit pool */
    size_t pool_bytes;
    size_t initial_bytes;
    size_t min_remainder_bytes;
    size_t limit_bytes; /* never more than so much from the device; 0: no limit */
    masu_pool_policy policy;
    size_t size_steps; /* of large blocks; these five as in masu_bestfit_config, off when 0 */
    size_t whole_above_bytes;
    size_t whole_slack_bytes;
    uint64_t idle_allocations;
    size_t max_idle_bytes;
    /* out of memory */
    masu_oom_callback oom; /* NULL: none */
    void *oom_context;     /* borrowed, handed to oom */
    /* guarded mode: red zones before and behind each block, fill at allocation and free,
     * quarantine of freed memory, and a record of every block, for exact answers to wrong frees */
    bool guarded;
    size_t red_zone_bytes;    /* rounded up to a multiple of 64; 0: 64 */
    size_t quarantine_bytes;  /* freed memory kept back, at most; 0: 1 MiB */
    masu_heap_visitor leaked; /* called by destroy for each live block of a guarded heap */
    void *leaked_context;     /* borrowed */
} masu_heap_config;

typedef struct masu_heap_stats {
    uint64_t allocations; /* successful ones; bytes 0 is not counted */
    uint64_t frees;
    uint64_t failures;           /* requests refused */
    uint64_t hits;               /* served without the level below: list, slab at hand, or free best-fit block */
    uint64_t misses;             /* a slab or a device block had to be fetched: hits + misses = allocations */
    uint64_t bypasses;           /* of all allocations, those too large for a bucket */
    uint64_t device_allocations; /* device blocks ever taken */
    uint64_t device_frees;
    uint64_t live_bytes; /* as requested */
    uint64_t live_blocks;
    uint64_t peak_bytes;     /* of live_bytes */
    uint64_t reserved_bytes; /* held from the device */
    uint64_t peak_reserved_bytes;
    uint64_t cached_bytes; /* free inside the bucket pool and the caches of threads */
    uint64_t free_bytes;   /* free inside the best-fit pool */
    uint64_t slack_bytes;  /* lost to rounding in both: live + cached + free + slack = reserved */
    uint64_t largest_free_bytes;
    uint64_t metadata_bytes;
    /* the process-wide heap alone: */
    uint64_t thread_caches;       /* threads that have one now */
    uint64_t thread_cached_bytes; /* in them; part of cached_bytes and free_bytes */
} masu_heap_stats;

/* Nothing taken before the first request, then 64 MiB device blocks of which only touched pages cost memory;
 * 16 MiB cached, reuse, thread-safe; checked in builds with MASU_HEAVY. */
MASU_API masu_heap_config masu_heap_config_default(void);

/* config NULL: defaults. MASU_ERR_INVALID_ARGUMENT, MASU_ERR_OUT_OF_MEMORY, or what the device
 * said. Touches no page of the pools. On a device without host access every request goes to the
 * best-fit pool. */
MASU_API masu_status masu_heap_create(const masu_heap_config *config, masu_heap **out);

/* Destroys in any case; NULL is allowed. MASU_OK, or the first of: MASU_ERR_CORRUPT when a guarded heap finds
 * that bytes were written after the free of a block in quarantine or in a red zone of a live one;
 * MASU_ERR_LEAK when blocks were live (ask get_stats before: live_bytes, live_blocks);
 * MASU_ERR_DEVICE_FAILURE when the device refused memory that came back. */
MASU_API masu_status masu_heap_destroy(masu_heap *heap);

/* A block of at least bytes at a multiple of alignment (0: 64, which every block has). bytes 0:
 * *out = NULL, MASU_OK, not counted. The caller owns the block. When memory runs out, the heap
 * gives back what it has cached and tries again (not under MASU_POOL_PERSISTENT), then asks
 * config.oom and tries once more. On failure *out is NULL and no block has changed:
 * MASU_ERR_INVALID_ARGUMENT, MASU_ERR_OVERFLOW, MASU_ERR_OUT_OF_MEMORY, MASU_ERR_LIMIT_REACHED, or
 * what the device said. */
MASU_API masu_status masu_heap_alloc(masu_heap *heap, size_t bytes, size_t alignment, void **out);

/* Takes the block back; bytes as requested. ptr NULL: MASU_OK. Statuses as of the pool that the
 * block belongs to; nothing changes unless MASU_OK. */
MASU_API masu_status masu_heap_free(masu_heap *heap, void *ptr, size_t bytes);

/* The live block of old_bytes holds new_bytes > 0 afterwards, where it lies, with its contents as far as both reach.
 * MASU_ERR_OUT_OF_MEMORY: that cannot be there (another size class, something live behind it, or red zones); otherwise
 * the statuses of free. Nothing has changed then. O(1), above 16 KiB O(log n). */
MASU_API masu_status masu_heap_resize(masu_heap *heap, void *ptr, size_t old_bytes, size_t new_bytes);

/* The same, or else a block elsewhere with the contents of the old one, which is gone; at a multiple of alignment (0:
 * 64) in either case. ptr NULL with old_bytes 0: as alloc; new_bytes 0: as free, *out = NULL. On failure *out is NULL
 * and the old block is untouched: statuses of alloc and free, and MASU_ERR_UNSUPPORTED when it would have to move in
 * memory that the processor cannot read. Growing step by step costs amortised constant time a byte; from 2 MiB on pages
 * are brought elsewhere rather than copied, as masu_device_table's carry allows. */
MASU_API masu_status masu_heap_realloc(masu_heap *heap, void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment,
                                       void **out);

/* As alloc, of count * bytes bytes of zero. MASU_ERR_OVERFLOW for the product, with which it is freed;
 * MASU_ERR_UNSUPPORTED in memory that the processor cannot write. */
MASU_API masu_status masu_heap_alloc_zeroed(masu_heap *heap, size_t count, size_t bytes, size_t alignment, void **out);

/* Alloc and free, saying from where: MASU_HERE, NULL when not known. place is read during the call;
 * its file must live as long as the heap. In a guarded heap each wrong free has a status of its own:
 * MASU_ERR_DOUBLE_FREE, MASU_ERR_FOREIGN_POINTER, MASU_ERR_INTERIOR_POINTER,
 * MASU_ERR_SIZE_MISMATCH, MASU_ERR_CORRUPT (a red zone was written to: reported once, a second free
 * takes the block back); masu_heap_get_fault has the rest. */
MASU_API masu_status masu_heap_alloc_at(masu_heap *heap, size_t bytes, size_t alignment, const masu_place *place,
                                        void **out);
MASU_API masu_status masu_heap_free_at(masu_heap *heap, void *ptr, size_t bytes, const masu_place *place);

/* The last fault of a guarded heap; all zero for any other. */
MASU_API void masu_heap_get_fault(masu_heap *heap, masu_fault *out);

/* The live blocks of the heap under its lock: oldest first in a guarded one, else those of the size
 * classes in no order, then the large ones by address. MASU_ERR_INVALID_ARGUMENT;
 * MASU_ERR_OUT_OF_MEMORY when there is no memory to tell live from free (an unchecked heap needs
 * two bytes a block for the call), MASU_ERR_CORRUPT when a wrong free before is found: then nothing
 * was visited. O(blocks). */
MASU_API masu_status masu_heap_visit_live(masu_heap *heap, masu_heap_visitor visitor, void *context);

/* Switches the checks of masu_heap_config.checked on or off while the heap lives; what then holds
 * for blocks allocated before is said at masu_bucket_set_checked, whose statuses come back. Large
 * blocks, and all of a device without host access, are verified always. A guarded heap is checked
 * for good: MASU_ERR_UNSUPPORTED for off. Red zones, fill and quarantine are a choice of create:
 * blocks without them cannot be given them later. */
MASU_API masu_status masu_heap_set_checked(masu_heap *heap, bool on);

/* The same without the size: for large blocks in any mode, for those of a size class in a checked
 * or guarded heap, else MASU_ERR_UNSUPPORTED. */
MASU_API masu_status masu_heap_free_unsized(masu_heap *heap, void *ptr);

/* The requested size of a live block where it is known, else that of its class. Statuses of
 * free. */
MASU_API masu_status masu_heap_size_of(masu_heap *heap, const void *ptr, size_t *out_bytes);

/* A snapshot that adds up. */
MASU_API void masu_heap_get_stats(const masu_heap *heap, masu_heap_stats *out);
/* Those of the two pools below, class by class and with fragmentation; each may be NULL. In a guarded
 * heap with its red zones. The first is all zero on a device without host access. */
MASU_API void masu_heap_get_pool_stats(const masu_heap *heap, masu_bucket_stats *buckets, masu_bestfit_stats *bestfit);
/* Counters and peaks start again from now; what is live stays counted. */
MASU_API void masu_heap_reset_stats(masu_heap *heap);
/* The peaks alone. To let go of what a whole period did not need:
 *     masu_heap_get_stats(heap, &s);
 *     masu_heap_trim(heap, s.peak_bytes - s.live_bytes);
 *     masu_heap_reset_peaks(heap);                                          once a period */
MASU_API void masu_heap_reset_peaks(masu_heap *heap);

/* Gives free memory back to the device until at most keep_bytes are reserved beyond what is live: device blocks that
 * are wholly free, and on a host device the pages that lie free between live blocks (their addresses stay reserved and
 * read as zero). Under MASU_POOL_PERSISTENT nothing happens. */
MASU_API masu_status masu_heap_trim(masu_heap *heap, size_t keep_bytes);

/* Checks every equation of both pools, O(n). */
MASU_API bool masu_heap_valid(const masu_heap *heap);

#ifdef __cplusplus
}
#endif

#endif
