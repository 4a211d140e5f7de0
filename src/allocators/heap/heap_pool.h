/* heap_pool.h: the heap from inside.
 *
 *     guard      in guarded mode, stands before both pools (guard.h)
 *     bucket     NULL without host access
 *     caches     of the process-wide heap alone: the caches of all threads (cache.h)
 *
 *     live + cached + free + slack = reserved
 */
#ifndef MASU_HEAP_POOL_H
#define MASU_HEAP_POOL_H

#include <masu/heap.h>

#include "allocators/bestfit/bestfit_pool.h"
#include "allocators/bucket/bucket_pool.h"
#include "base/lock.h"

struct masu__caches;
struct masu__guard;

/* As masu_heap_alloc; room as of masu__request. */
masu_status masu__heap_alloc_room(masu_heap *heap, size_t bytes, size_t alignment, size_t room, void **out);

struct masu_heap {
    masu_bucket *direct; /* bucket when neither lock, guard nor audit stands before it; else NULL */
    bool thread_safe;
    uint32_t magic;
    masu_bucket *bucket;     /* owned, NULL without host access */
    masu_bestfit *bestfit;   /* owned */
    masu_device *own_device; /* owned, NULL when the caller gave one */
    masu__lock lock;         /* the pools below have none of their own */
    masu_oom_callback oom;   /* NULL: none */
    void *oom_context;
    masu_heap_visitor leaked; /* NULL: none */
    void *leaked_context;
    size_t cached_bytes_a_thread; /* of the process-wide heap alone */
    struct masu__guard *guard;   /* owned, NULL: not guarded */
    struct masu__caches *caches; /* owned, NULL but in the process-wide heap */
};

/* The lock is held for some hundred nanoseconds at most but for trims: whoever meets it looks a few
 * times again before the kernel is asked to wake it. */
void masu__heap_lock_busy(masu_heap *heap);

static inline void masu__heap_lock(masu_heap *heap) {
    if (heap->thread_safe && MASU_UNLIKELY(!masu__lock_try(&heap->lock)))
        masu__heap_lock_busy(heap);
}

static inline void masu__heap_unlock(masu_heap *heap) {
    if (heap->thread_safe)
        masu__lock_release(&heap->lock);
}

/* What to do when a request was refused: trims, asks the callback, tries again each time by
 * calling again(context). Call without the lock. Returns status, or what the last try said. */
typedef masu_status (*masu__again)(masu_heap *heap, void *context);
masu_status masu__heap_rescue(masu_heap *heap, masu_status status, size_t bytes, masu__again again,
                              void *context);

/* Under the lock. The pools' own numbers, without guard and caches. */
void masu__heap_pool_stats(const masu_heap *heap, masu_heap_stats *out);
masu_status masu__heap_trim(masu_heap *heap, size_t keep_bytes);
void masu__heap_reset_peaks(masu_heap *heap);

/* Everything but what the caches and the guard claim. Under the lock. */
bool masu__heap_pools_valid(const masu_heap *heap);

#endif
