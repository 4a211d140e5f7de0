/* heap.c: the one front over the pools.
 *
 *     caller ─► heap ─┬─► buckets ──slabs──┐
 *                     └────────────────────┴─► best fit ─► device
 *
 * The bucket pool itself sends on what it has no class for, so the heap's own work is the lock,
 * the shared picture, and the order of birth and death: the device, then the rows of pools.def from the lowest up; and
 * back. On a device that the processor cannot write there are no buckets, for their lists live in the free
 * blocks; everything then goes to best fit.
 *
 *     live + cached + free + slack = reserved
 */
#include "allocators/heap/heap_pool.h"

#include "allocators/heap/guard.h"

#include "base/assert.h"
#include "base/meta.h"

/* ---- the lock -------------------------------------------------------------------------------- */

static inline void processor_rest(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void masu__heap_lock_busy(masu_heap *heap) {
    for (int i = 0; i < 8; i++) {
        for (int rest = 0; rest < 8; rest++)
            processor_rest();
        if (masu__lock_try(&heap->lock))
            return;
    }
    masu__lock_take(&heap->lock);
}

/* ---- birth and death ------------------------------------------------------------------------- */

masu_heap_config masu_heap_config_default(void) {
    return (masu_heap_config){
        .thread_safe = true,
#ifdef MASU_HEAVY
        .checked = true,
#endif
        .max_cached_bytes = (size_t)16 << 20,
        .cached_bytes_a_thread = (size_t)5 << 20,
        .pool_bytes = (size_t)64 << 20,
        .min_remainder_bytes = MASU_BESTFIT_MIN_REMAINDER_BYTES,
        .policy = MASU_POOL_REUSE,
    };
}

static const masu__pool_row *const rows[] = {
#define POOL(name) &masu__pool_##name,
#include "allocators/pools.def"
#undef POOL
};

void *masu__heap_find(const masu_heap *heap, const masu__pool_row *row) {
    for (unsigned i = 0; i < heap->pool_count; i++)
        if (heap->pools[i].row == row)
            return heap->pools[i].at;
    return NULL;
}

static masu_status heap_make_pools(masu_heap *heap, const masu_heap_config *config) {
    masu__pool_setting setting = {.config = config};
    for (unsigned i = 0; i < MASU__POOLS; i++) {
        masu__pool pool = {.row = rows[i]};
        masu_status status = rows[i]->create(&setting, &pool.at);
        if (status != MASU_OK)
            return status;
        if (!pool.at)
            continue;
        heap->pools[heap->pool_count++] = pool;
        setting.below = pool;
    }
    return MASU_OK;
}

static masu_status heap_make(masu_heap *heap, masu_heap_config config) {
    if (!config.device) {
        masu_status status = masu_device_create_host(&heap->own_device);
        if (status != MASU_OK)
            return status;
        config.device = heap->own_device;
    }
    heap->persistent = config.policy == MASU_POOL_PERSISTENT;
    heap->writable = (config.device->info.flags & MASU_DEVICE_HOST_ACCESS) != 0;
    masu_status status = heap_make_pools(heap, &config);
    if (status != MASU_OK || !config.guarded)
        return status;
    return masu__guard_create(&config, heap->writable, &heap->guard);
}

masu_status masu_heap_create(const masu_heap_config *config, masu_heap **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    masu_heap_config defaults = masu_heap_config_default();
    if (!config)
        config = &defaults;
    masu_heap *heap = masu__meta_calloc(1, sizeof *heap);
    if (!heap)
        return MASU_ERR_OUT_OF_MEMORY;
    heap->magic = MASU__POOL_LIVE;
    heap->thread_safe = config->thread_safe;
    heap->oom = config->oom;
    heap->oom_context = config->oom_context;
    heap->leaked = config->leaked;
    heap->leaked_context = config->leaked_context;
    heap->cached_bytes_a_thread = config->cached_bytes_a_thread;
    masu__lock_init(&heap->lock, MASU__RANK_HEAP);
    masu_status status = heap_make(heap, *config);
    if (status != MASU_OK) {
        masu_heap_destroy(heap);
        return status;
    }
#ifndef MASU_HEAVY
    if (!heap->thread_safe && !heap->guard && masu__heap_top(heap)->row == &masu__pool_bucket)
        heap->direct = masu__heap_top(heap)->at;
#endif
    *out = heap;
    return MASU_OK;
}

static masu_status first_of(masu_status a, masu_status b) {
    return a != MASU_OK ? a : b;
}

masu_status masu_heap_destroy(masu_heap *heap) {
    if (!heap)
        return MASU_OK;
    if (heap->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    masu_status status = MASU_OK;
    if (heap->guard) {
        status = masu__guard_finish(heap);
        if (heap->leaked)
            masu__guard_visit(heap->guard, heap->leaked, heap->leaked_context);
        masu__guard_destroy(heap->guard);
    }
    for (unsigned i = heap->pool_count; i-- > 0;)
        status = first_of(status, heap->pools[i].row->destroy(heap->pools[i].at));
    status = first_of(status, masu_device_destroy(heap->own_device));
    masu__lock_destroy(&heap->lock);
    heap->magic = MASU__POOL_DEAD;
    heap->direct = NULL;
    heap->thread_safe = false;
    masu__meta_retire(heap, sizeof *heap);
    return status;
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool heap_audit(masu_heap *heap);

static masu_status heap_usable(const masu_heap *heap) {
    if (!heap)
        return MASU_ERR_INVALID_ARGUMENT;
    return heap->magic == MASU__POOL_LIVE ? MASU_OK : MASU_ERR_STALE_POOL;
}

/* Under the lock. */
typedef struct heap_request {
    size_t bytes, alignment, room;
    const masu_place *place;
    void **out;
} heap_request;

static masu_status heap_take(masu_heap *heap, const heap_request *q) {
    if (heap->guard)
        return masu__guard_alloc(heap, q->bytes, q->alignment, q->place, q->out);
    const masu__pool *pool = masu__heap_pool_for(heap, q->bytes);
    return pool->row->take(pool->at, q->bytes, q->alignment, q->room, q->out);
}

static masu_status heap_give(masu_heap *heap, void *ptr, bool sized, size_t bytes, const masu_place *place) {
    if (heap->guard)
        return masu__guard_free(heap, ptr, sized, bytes, place);
    const masu__pool *pool = sized ? masu__heap_pool_for(heap, bytes) : masu__heap_top(heap);
    return pool->row->give(pool->at, ptr, sized, bytes);
}

uint32_t masu__heap_number(const masu_heap *heap) {
    const masu__pool *top = masu__heap_top(heap);
    return top->row->number ? top->row->number(top->at) : 0;
}

/* Out of line: most requests name no place. */
static __attribute__((noinline)) masu_status heap_take_at(masu_heap *heap, const heap_request *q) {
    masu_place before = masu__trace_here;
    masu__trace_here = *q->place;
    masu_status status = heap_take(heap, q);
    masu__trace_here = before;
    return status;
}

static masu_status heap_take_locked(masu_heap *heap, void *context) {
    const heap_request *q = context;
    masu__heap_lock(heap);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    masu_status status = MASU_UNLIKELY(q->place != NULL) ? heap_take_at(heap, q) : heap_take(heap, q);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    masu__heap_unlock(heap);
    return status;
}

/* The direct way was refused. Out of line, as is all that is not the direct way. */
static __attribute__((noinline, cold)) masu_status heap_retry(masu_heap *heap, masu_status status, size_t bytes,
                                                              size_t alignment, void **out) {
    return masu__heap_rescue(heap, status, bytes, heap_take_locked, &(heap_request){bytes, alignment, 0, NULL, out});
}

static masu_status heap_request_serve(masu_heap *heap, heap_request *request) {
    if (!request->out)
        return MASU_ERR_INVALID_ARGUMENT;
    *request->out = NULL;
    masu_status status = heap_usable(heap);
    if (status != MASU_OK)
        return status;
    status = heap_take_locked(heap, request);
    if (MASU_LIKELY(status == MASU_OK))
        return MASU_OK;
    return masu__heap_rescue(heap, status, request->bytes, heap_take_locked, request);
}

__attribute__((noinline)) masu_status masu_heap_alloc_at(masu_heap *heap, size_t bytes, size_t alignment,
                                                         const masu_place *place, void **out) {
    return heap_request_serve(heap, &(heap_request){bytes, alignment, 0, place, out});
}

masu_status masu__heap_alloc_room(masu_heap *heap, size_t bytes, size_t alignment, size_t room, void **out) {
    return heap_request_serve(heap, &(heap_request){bytes, alignment, room, NULL, out});
}

static __attribute__((noinline)) masu_status heap_give_locked(masu_heap *heap, void *ptr, bool sized, size_t bytes,
                                                              const masu_place *place) {
    masu_status status = heap_usable(heap);
    if (status != MASU_OK || !ptr)
        return status;
    masu__heap_lock(heap);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    status = heap_give(heap, ptr, sized, bytes, place);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    masu__heap_unlock(heap);
    return status;
}

masu_status masu_heap_alloc(masu_heap *heap, size_t bytes, size_t alignment, void **out) {
    if (MASU_LIKELY(heap && heap->direct && out)) {
        masu_status status = masu__bucket_alloc(heap->direct, bytes, alignment, out);
        return MASU_LIKELY(status == MASU_OK) ? MASU_OK : heap_retry(heap, status, bytes, alignment, out);
    }
    return masu_heap_alloc_at(heap, bytes, alignment, NULL, out);
}

masu_status masu_heap_free(masu_heap *heap, void *ptr, size_t bytes) {
    if (MASU_LIKELY(heap && heap->direct))
        return masu__bucket_free(heap->direct, ptr, bytes);
    return heap_give_locked(heap, ptr, true, bytes, NULL);
}

masu_status masu_heap_free_at(masu_heap *heap, void *ptr, size_t bytes, const masu_place *place) {
    return heap_give_locked(heap, ptr, true, bytes, place);
}

masu_status masu_heap_free_unsized(masu_heap *heap, void *ptr) {
    return heap_give_locked(heap, ptr, false, 0, NULL);
}

void masu_heap_get_fault(masu_heap *heap, masu_fault *out) {
    *out = (masu_fault){0};
    if (heap_usable(heap) != MASU_OK || !heap->guard)
        return;
    masu__heap_lock(heap);
    masu__guard_get_fault(heap->guard, out);
    masu__heap_unlock(heap);
}

static masu_status pools_set_checked(masu_heap *heap, bool on) {
    masu_status status = MASU_OK;
    for (unsigned i = heap->pool_count; i-- > 0;)
        if (heap->pools[i].row->set_checked)
            status = first_of(status, heap->pools[i].row->set_checked(heap->pools[i].at, on));
    return status;
}

masu_status masu_heap_set_checked(masu_heap *heap, bool on) {
    masu_status status = heap_usable(heap);
    if (status != MASU_OK)
        return status;
    masu__heap_lock(heap);
    if (heap->guard)
        status = on ? MASU_OK : MASU_ERR_UNSUPPORTED;
    else
        status = pools_set_checked(heap, on);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    masu__heap_unlock(heap);
    return status;
}

masu_status masu_heap_size_of(masu_heap *heap, const void *ptr, size_t *out_bytes) {
    masu_status status = heap_usable(heap);
    if (status != MASU_OK || !ptr || !out_bytes)
        return status == MASU_OK ? MASU_ERR_INVALID_ARGUMENT : status;
    masu__heap_lock(heap);
    if (heap->guard)
        status = masu__guard_size_of(heap, ptr, out_bytes);
    else
        status = masu__heap_top(heap)->row->size_of(masu__heap_top(heap)->at, ptr, out_bytes);
    masu__heap_unlock(heap);
    return status;
}

/* From the highest row down: what one lets go is free in the next, and leaves as whole device blocks where nothing
 * lives. */
masu_status masu__heap_trim(masu_heap *heap, size_t keep_bytes) {
    if (heap->guard)
        (void)masu__guard_flush(heap);
    masu_status status = MASU_OK;
    uint64_t above_bytes = 0;
    for (unsigned i = heap->pool_count; i-- > 0;) {
        const masu__pool *pool = &heap->pools[i];
        status = first_of(status, pool->row->trim(pool->at, keep_bytes, above_bytes));
        above_bytes += pool->row->cached_bytes(pool->at);
    }
    return status;
}

masu_status masu_heap_trim(masu_heap *heap, size_t keep_bytes) {
    masu_status status = heap_usable(heap);
    if (status != MASU_OK)
        return status;
    masu__heap_lock(heap);
    if (!heap->persistent)
        status = masu__heap_trim(heap, keep_bytes);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    masu__heap_unlock(heap);
    return status;
}

/* ---- out of memory --------------------------------------------------------------------------- */

static bool rescuable(masu_status status) {
    return status == MASU_ERR_OUT_OF_MEMORY || status == MASU_ERR_LIMIT_REACHED || status == MASU_ERR_DEVICE_FAILURE;
}

/* However many tries a request took, it was refused once at most. */
static void refusals_take_off(masu_heap *heap, size_t bytes, unsigned count) {
    const masu__pool *pool = masu__heap_pool_for(heap, bytes);
    *(heap->guard ? masu__guard_failures(heap->guard) : pool->row->failures(pool->at)) -= count;
}

/* Cached and reserved bytes: less of them than before means that something was given back. */
static uint64_t spare_bytes(const masu_heap *heap) {
    masu_heap_stats s;
    masu__heap_pool_stats(heap, &s);
    return s.cached_bytes + s.reserved_bytes;
}

/* Whether anything came back that was not the caller's. */
static bool heap_trim_all(masu_heap *heap) {
    if (heap->persistent)
        return false;
    if (heap->guard)
        (void)masu__guard_flush(heap);
    uint64_t before = spare_bytes(heap);
    (void)masu__heap_trim(heap, 0);
    return spare_bytes(heap) < before;
}

masu_status masu__heap_rescue(masu_heap *heap, masu_status status, size_t bytes, masu__again again, void *context) {
    if (!rescuable(status) || heap->magic != MASU__POOL_LIVE)
        return status;
    unsigned refused = 1;
    masu__heap_lock(heap);
    bool trimmed = heap_trim_all(heap);
    masu__heap_unlock(heap);
    if (trimmed)
        refused += (status = again(heap, context)) != MASU_OK;
    if (rescuable(status) && heap->oom && heap->oom(heap->oom_context, bytes))
        refused += (status = again(heap, context)) != MASU_OK;
    masu__heap_lock(heap);
    refusals_take_off(heap, bytes, status == MASU_OK ? refused : refused - 1);
    masu__heap_unlock(heap);
    return status;
}

/* ---- statistics ------------------------------------------------------------------------------ */

void masu__heap_pool_stats(const masu_heap *heap, masu_heap_stats *out) {
    *out = (masu_heap_stats){0};
    for (unsigned i = 0; i < heap->pool_count; i++)
        heap->pools[i].row->stats(heap->pools[i].at, out);
    out->metadata_bytes += sizeof *heap;
}

void masu_heap_get_stats(const masu_heap *heap, masu_heap_stats *out) {
    *out = (masu_heap_stats){0};
    if (!heap || heap->magic != MASU__POOL_LIVE)
        return;
    masu_heap *h = (masu_heap *)heap; /* the lock is the only thing that changes */
    masu__heap_lock(h);
    masu__heap_pool_stats(heap, out);
    if (heap->guard)
        masu__guard_adjust(heap->guard, out);
    masu__heap_unlock(h);
}

void masu_heap_reset_stats(masu_heap *heap) {
    if (!heap || heap->magic != MASU__POOL_LIVE)
        return;
    masu__heap_lock(heap);
    for (unsigned i = 0; i < heap->pool_count; i++)
        heap->pools[i].row->reset_stats(heap->pools[i].at);
    if (heap->guard)
        masu__guard_reset_stats(heap->guard);
    masu__heap_unlock(heap);
}

void masu__heap_reset_peaks(masu_heap *heap) {
    for (unsigned i = 0; i < heap->pool_count; i++)
        heap->pools[i].row->reset_peaks(heap->pools[i].at);
    if (heap->guard)
        masu__guard_reset_peak(heap->guard);
}

void masu_heap_get_pool_stats(const masu_heap *heap, masu_bucket_stats *buckets, masu_bestfit_stats *bestfit) {
    bool usable = heap_usable(heap) == MASU_OK;
    masu_heap *h = (masu_heap *)heap; /* the lock is the only thing that changes */
    if (buckets)
        *buckets = (masu_bucket_stats){0};
    if (bestfit)
        *bestfit = (masu_bestfit_stats){0};
    if (!usable)
        return;
    masu__heap_lock(h);
    if (buckets)
        masu_bucket_get_stats(masu__heap_find(heap, &masu__pool_bucket), buckets);
    if (bestfit)
        masu_bestfit_get_stats(masu__heap_find(heap, &masu__pool_bestfit), bestfit);
    masu__heap_unlock(h);
}

void masu_heap_reset_peaks(masu_heap *heap) {
    if (!heap || heap->magic != MASU__POOL_LIVE)
        return;
    masu__heap_lock(heap);
    masu__heap_reset_peaks(heap);
    masu__heap_unlock(heap);
}

/* ---- the equations --------------------------------------------------------------------------- */

static bool stats_valid(const masu_heap *heap) {
    masu_heap_stats s;
    masu__heap_pool_stats(heap, &s);
    return s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes == s.reserved_bytes &&
           s.hits + s.misses == s.allocations && s.allocations - s.frees == s.live_blocks &&
           s.peak_bytes >= s.live_bytes && s.peak_reserved_bytes >= s.reserved_bytes;
}

/* On entry and exit of every call in builds with MASU_HEAVY. */
__attribute__((unused)) static bool heap_audit(masu_heap *heap) {
    for (unsigned i = 0; i < heap->pool_count; i++)
        if (!heap->pools[i].row->audit(heap->pools[i].at))
            return false;
    return stats_valid(heap);
}

bool masu__heap_pools_valid(const masu_heap *heap) {
    for (unsigned i = 0; i < heap->pool_count; i++)
        if (!heap->pools[i].row->valid(heap->pools[i].at))
            return false;
    return stats_valid(heap) && (!heap->guard || masu__guard_valid(heap->guard));
}

bool masu_heap_valid(const masu_heap *heap) {
    if (!heap || heap->magic != MASU__POOL_LIVE)
        return false;
    masu_heap *h = (masu_heap *)heap; /* the lock is the only thing that changes */
    masu__heap_lock(h);
    bool valid = masu__heap_pools_valid(h);
    masu__heap_unlock(h);
    return valid;
}
