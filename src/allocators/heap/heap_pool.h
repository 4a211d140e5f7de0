/* heap_pool.h: the heap from inside.
 *
 *     pools      one for each row of pools.def that this heap has, from the device up
 *     guard      in guarded mode, before all pools (guard.h)
 *     caches     of the process-wide heap alone: the caches of all threads (cache.h)
 *
 *     live + cached + free + slack = reserved
 */
#ifndef MASU_HEAP_POOL_H
#define MASU_HEAP_POOL_H

#include <masu/heap.h>

#include "allocators/allocators.h"
#include "allocators/bestfit/bestfit_pool.h"
#include "allocators/bucket/bucket_pool.h"
#include "base/lock.h"

struct masu__caches;
struct masu__guard;

/* As masu_heap_alloc; room as of masu__request. */
masu_status masu__heap_alloc_room(masu_heap *heap, size_t bytes, size_t alignment, size_t room, void **out);

struct masu_heap {
    masu_bucket *direct; /* the highest pool, where it is of this kind, without lock, guard and audit; else NULL */
    bool thread_safe;
    uint32_t magic;
    masu__pool pools[MASU__POOLS]; /* the first pool_count; each at is owned and not NULL */
    unsigned pool_count;
    bool persistent;         /* MASU_POOL_PERSISTENT: nothing is trimmed */
    bool writable;           /* the processor can write the device's memory */
    masu_device *own_device; /* owned, NULL when the caller gave one */
    masu__lock lock;         /* the pools below have none of their own */
    masu_oom_callback oom;   /* NULL: none */
    void *oom_context;
    masu_heap_visitor leaked; /* NULL: none */
    void *leaked_context;
    size_t cached_bytes_a_thread; /* of the process-wide heap alone */
    struct masu__guard *guard;    /* owned, NULL: not guarded */
    struct masu__caches *caches;  /* owned, NULL but in the process-wide heap */
};

/* The lock is held for some hundred nanoseconds, except by trims: a contender looks a few times before it sleeps. */
void masu__heap_lock_busy(masu_heap *heap);

/* How deep this thread is in code that a signal handler of it must not enter: it holds a heap's lock, or changes what
 * it keeps. The process-wide pool looks here before it goes in, and answers a handler without doing so. */
extern _Thread_local int masu__inside __attribute__((tls_model("initial-exec")));
/* Blocks that a handler freed meanwhile, each linked by its first word. */
extern _Thread_local void *masu__freed_inside __attribute__((tls_model("initial-exec")));
void masu__free_what_was_freed_inside(void);

static inline void masu__go_in(void) {
    masu__inside++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void masu__come_out(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (--masu__inside == 0 && MASU_UNLIKELY(masu__freed_inside != NULL))
        masu__free_what_was_freed_inside();
}

/* The same where nothing was in: a store instead of a sum, which the next call would wait for. */
static inline void masu__go_in_first(void) {
    masu__inside = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Who leaves so looks at masu__freed_inside afterwards, or goes in again. */
static inline void masu__leave(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    masu__inside = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void masu__come_out_last(void) {
    masu__leave();
    if (MASU_UNLIKELY(masu__freed_inside != NULL))
        masu__free_what_was_freed_inside();
}

static inline void masu__heap_lock(masu_heap *heap) {
    if (!heap->thread_safe)
        return;
    masu__go_in();
    if (MASU_UNLIKELY(!masu__lock_try(&heap->lock)))
        masu__heap_lock_busy(heap);
}

static inline void masu__heap_unlock(masu_heap *heap) {
    if (!heap->thread_safe)
        return;
    masu__lock_release(&heap->lock);
    masu__come_out();
}

/* The number by which traces know the highest pool; 0: they do not. */
uint32_t masu__heap_number(const masu_heap *heap);

static inline const masu__pool *masu__heap_top(const masu_heap *heap) {
    return &heap->pools[heap->pool_count - 1];
}

/* The pool that serves bytes, or hands them down. */
static inline const masu__pool *masu__heap_pool_for(const masu_heap *heap, size_t bytes) {
    const masu__pool *pool = masu__heap_top(heap);
    while (MASU_UNLIKELY(bytes > pool->row->most_bytes))
        pool--;
    return pool;
}

/* The heap's pool of that row, or NULL. */
void *masu__heap_find(const masu_heap *heap, const masu__pool_row *row);

/* Helps after a refused request: trims, asks the callback, tries again each time by
 * calling again(context). Call without the lock. Returns status, or what the last try said. */
typedef masu_status (*masu__again)(masu_heap *heap, void *context);
masu_status masu__heap_rescue(masu_heap *heap, masu_status status, size_t bytes, masu__again again, void *context);

/* Under the lock. The pools' own numbers, without guard and caches. */
void masu__heap_pool_stats(const masu_heap *heap, masu_heap_stats *out);
masu_status masu__heap_trim(masu_heap *heap, size_t keep_bytes);
void masu__heap_reset_peaks(masu_heap *heap);

/* Everything but what the caches and the guard claim. Under the lock. */
bool masu__heap_pools_valid(const masu_heap *heap);

#endif
