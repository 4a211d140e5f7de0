/* heap.c: the one front over both pools.
 *
 *     caller ─► heap ─┬─► buckets ──slabs──┐
 *                     └────────────────────┴─► best fit ─► device
 *
 * The bucket pool itself sends on what it has no class for, so the heap's own work is the lock,
 * the shared picture, and the order of birth and death: device, best fit, buckets; and back. On a
 * device that the processor cannot write there are no buckets, for their lists live in the free
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

static masu_status heap_make_bestfit(masu_heap *heap, const masu_heap_config *config,
                                     masu_device *device) {
    return masu_bestfit_create(
        &(masu_bestfit_config){
            .device = device,
            .trace = config->trace,
            .pool_bytes = config->pool_bytes,
            .initial_bytes = config->initial_bytes,
            .min_remainder_bytes = config->min_remainder_bytes,
            .limit_bytes = config->limit_bytes,
            .policy = config->policy,
            .size_steps = config->size_steps,
            .whole_above_bytes = config->whole_above_bytes,
            .whole_slack_bytes = config->whole_slack_bytes,
            .idle_allocations = config->idle_allocations,
            .max_idle_bytes = config->max_idle_bytes,
        },
        &heap->bestfit);
}

static masu_status heap_make_bucket(masu_heap *heap, const masu_heap_config *config,
                                    masu_device *device) {
    if (!(device->info.flags & MASU_DEVICE_HOST_ACCESS))
        return MASU_OK;
    return masu_bucket_create(
        &(masu_bucket_config){
            .backing = heap->bestfit,
            .trace = config->trace,
            .small_blocks = config->small_blocks,
            .medium_blocks = config->medium_blocks,
            .max_cached_bytes = config->max_cached_bytes,
            .fine_classes = config->fine_classes,
            .checked = config->checked || config->guarded,
        },
        &heap->bucket);
}

static masu_status heap_make(masu_heap *heap, const masu_heap_config *config) {
    masu_device *device = config->device;
    if (!device) {
        masu_status status = masu_device_create_host(&heap->own_device);
        if (status != MASU_OK)
            return status;
        device = heap->own_device;
    }
    masu_status status = heap_make_bestfit(heap, config, device);
    if (status != MASU_OK)
        return status;
    status = heap_make_bucket(heap, config, device);
    if (status != MASU_OK || !config->guarded)
        return status;
    return masu__guard_create(config, heap->bucket != NULL, &heap->guard);
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
    masu_status status = heap_make(heap, config);
    if (status != MASU_OK) {
        masu_heap_destroy(heap);
        return status;
    }
#ifndef MASU_HEAVY
    heap->direct = heap->thread_safe || heap->guard ? NULL : heap->bucket;
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
    status = first_of(status, masu_bucket_destroy(heap->bucket));
    status = first_of(status, masu_bestfit_destroy(heap->bestfit));
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
    if (!heap->bucket)
        return masu_bestfit_alloc(heap->bestfit, q->bytes, q->alignment, 0, q->out);
    return MASU_LIKELY(q->room == 0)
               ? masu__bucket_alloc(heap->bucket, q->bytes, q->alignment, q->out)
               : masu__bucket_alloc_room(heap->bucket, q->bytes, q->alignment, q->room, q->out);
}

static masu_status heap_give(masu_heap *heap, void *ptr, bool sized, size_t bytes,
                             const masu_place *place) {
    if (heap->guard)
        return masu__guard_free(heap, ptr, sized, bytes, place);
    if (heap->bucket)
        return sized ? masu__bucket_free(heap->bucket, ptr, bytes)
                     : masu__bucket_free_slow(heap->bucket, ptr, false, 0);
    return sized ? masu_bestfit_free_sized(heap->bestfit, ptr, bytes)
                 : masu_bestfit_free(heap->bestfit, ptr);
}

static masu_status heap_take_locked(masu_heap *heap, void *context) {
    const heap_request *q = context;
    masu__heap_lock(heap);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    masu_status status = heap_take(heap, q);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    masu__heap_unlock(heap);
    return status;
}

/* The direct way was refused. Out of line, as is all that is not the direct way. */
static __attribute__((noinline, cold)) masu_status
heap_retry(masu_heap *heap, masu_status status, size_t bytes, size_t alignment, void **out) {
    return masu__heap_rescue(heap, status, bytes, heap_take_locked,
                             &(heap_request){bytes, alignment, 0, NULL, out});
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

__attribute__((noinline)) masu_status masu_heap_alloc_at(masu_heap *heap, size_t bytes,
                                                         size_t alignment, const masu_place *place,
                                                         void **out) {
    return heap_request_serve(heap, &(heap_request){bytes, alignment, 0, place, out});
}

masu_status masu__heap_alloc_room(masu_heap *heap, size_t bytes, size_t alignment, size_t room, void **out) {
    return heap_request_serve(heap, &(heap_request){bytes, alignment, room, NULL, out});
}

static __attribute__((noinline)) masu_status
heap_give_locked(masu_heap *heap, void *ptr, bool sized, size_t bytes, const masu_place *place) {
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
        return MASU_LIKELY(status == MASU_OK) ? MASU_OK
                                              : heap_retry(heap, status, bytes, alignment, out);
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

masu_status masu_heap_set_checked(masu_heap *heap, bool on) {
    masu_status status = heap_usable(heap);
    if (status != MASU_OK)
        return status;
    masu__heap_lock(heap);
    if (heap->guard)
        status = on ? MASU_OK : MASU_ERR_UNSUPPORTED;
    else if (heap->bucket)
        status = masu__bucket_set_checked(heap->bucket, on);
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
        status = heap->bucket ? masu__bucket_size_of(heap->bucket, ptr, out_bytes)
                              : masu__bestfit_known(heap->bestfit, ptr, 0, out_bytes);
    masu__heap_unlock(heap);
    return status;
}

/* What the buckets do not cache comes back as whole device blocks where nothing in them lives. */
masu_status masu__heap_trim(masu_heap *heap, size_t keep_bytes) {
    if (heap->guard)
        (void)masu__guard_flush(heap);
    masu_status status = heap->bucket ? masu_bucket_trim(heap->bucket, keep_bytes) : MASU_OK;
    masu_bestfit_stats below;
    masu_bestfit_get_stats(heap->bestfit, &below);
    uint64_t cached = heap->bucket ? masu__bucket_cached(heap->bucket) : 0; /* is used for below */
    size_t used = (size_t)(below.used_bytes + below.slack_bytes - cached);
    size_t keep = keep_bytes > SIZE_MAX - used ? SIZE_MAX : used + keep_bytes;
    return first_of(status, masu_bestfit_trim(heap->bestfit, keep));
}

masu_status masu_heap_trim(masu_heap *heap, size_t keep_bytes) {
    masu_status status = heap_usable(heap);
    if (status != MASU_OK)
        return status;
    masu__heap_lock(heap);
    if (heap->bestfit->policy != MASU_POOL_PERSISTENT)
        status = masu__heap_trim(heap, keep_bytes);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    masu__heap_unlock(heap);
    return status;
}

/* ---- out of memory --------------------------------------------------------------------------- */

static bool rescuable(masu_status status) {
    return status == MASU_ERR_OUT_OF_MEMORY || status == MASU_ERR_LIMIT_REACHED ||
           status == MASU_ERR_DEVICE_FAILURE;
}

/* However many tries a request took, it was refused once at most. */
static void refusals_take_off(masu_heap *heap, unsigned count) {
    uint64_t *failures = heap->bucket ? &heap->bucket->failures : &heap->bestfit->counts.failures;
    *(heap->guard ? masu__guard_failures(heap->guard) : failures) -= count;
}

/* Whether anything came back that was not the caller's. */
static bool heap_trim_all(masu_heap *heap) {
    if (heap->bestfit->policy == MASU_POOL_PERSISTENT)
        return false;
    if (heap->guard)
        (void)masu__guard_flush(heap);
    uint64_t cached = heap->bucket ? masu__bucket_cached(heap->bucket) : 0;
    uint64_t reserved = heap->bestfit->counts.reserved_bytes;
    (void)masu__heap_trim(heap, 0);
    return (heap->bucket && masu__bucket_cached(heap->bucket) < cached) ||
           heap->bestfit->counts.reserved_bytes < reserved;
}

masu_status masu__heap_rescue(masu_heap *heap, masu_status status, size_t bytes, masu__again again,
                              void *context) {
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
    refusals_take_off(heap, status == MASU_OK ? refused : refused - 1);
    masu__heap_unlock(heap);
    return status;
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* The pool's own view, and with buckets on top the callers' view: slabs are not theirs. */
static void stats_from_bestfit(const masu_bestfit_stats *below, masu_heap_stats *out) {
    *out = (masu_heap_stats){
        .allocations = below->allocations,
        .frees = below->frees,
        .failures = below->failures,
        .hits = below->hits,
        .misses = below->misses,
        .bypasses = below->allocations,
        .device_allocations = below->device_allocations,
        .device_frees = below->device_frees,
        .live_bytes = below->used_bytes,
        .live_blocks = below->live_blocks,
        .peak_bytes = below->peak_used_bytes,
        .reserved_bytes = below->reserved_bytes,
        .peak_reserved_bytes = below->peak_reserved_bytes,
        .free_bytes = below->free_bytes,
        .slack_bytes = below->slack_bytes,
        .largest_free_bytes = below->largest_free_bytes,
        .metadata_bytes = below->metadata_bytes,
    };
}

static void stats_from_bucket(const masu_bucket_stats *above, masu_heap_stats *out) {
    out->allocations = above->allocations;
    out->frees = above->frees;
    out->failures = above->failures;
    out->hits = above->hits + above->bypasses - above->bypass_misses;
    out->misses = above->misses + above->bypass_misses;
    out->bypasses = above->bypasses;
    out->live_bytes = above->live_bytes;
    out->live_blocks = above->live_blocks + above->bypass_live_blocks;
    out->peak_bytes = above->peak_live_bytes;
    out->cached_bytes = above->cached_bytes;
    out->slack_bytes += above->live_block_bytes + above->bypass_live_bytes - above->live_bytes;
    out->metadata_bytes += above->metadata_bytes;
}

void masu__heap_pool_stats(const masu_heap *heap, masu_heap_stats *out) {
    masu_bestfit_stats below;
    masu_bestfit_get_stats(heap->bestfit, &below);
    stats_from_bestfit(&below, out);
    out->metadata_bytes += sizeof *heap;
    if (!heap->bucket)
        return;
    masu_bucket_stats above;
    masu_bucket_get_stats(heap->bucket, &above);
    stats_from_bucket(&above, out);
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
    masu_bestfit_reset_stats(heap->bestfit);
    masu_bucket_reset_stats(heap->bucket);
    if (heap->guard)
        masu__guard_reset_stats(heap->guard);
    masu__heap_unlock(heap);
}

void masu__heap_reset_peaks(masu_heap *heap) {
    masu__bestfit_counts *below = &heap->bestfit->counts;
    below->peak_used_bytes = masu__bestfit_used(heap->bestfit);
    below->peak_reserved_bytes = below->reserved_bytes;
    masu_bucket_reset_peaks(heap->bucket);
    if (heap->guard)
        masu__guard_reset_peak(heap->guard);
}

void masu_heap_get_pool_stats(const masu_heap *heap, masu_bucket_stats *buckets,
                              masu_bestfit_stats *bestfit) {
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
        masu_bucket_get_stats(heap->bucket, buckets);
    if (bestfit)
        masu_bestfit_get_stats(heap->bestfit, bestfit);
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
    return masu__bestfit_audit(heap->bestfit) &&
           (!heap->bucket || masu__bucket_audit(heap->bucket)) && stats_valid(heap);
}

bool masu__heap_pools_valid(const masu_heap *heap) {
    return masu__bestfit_valid_unlocked(heap->bestfit) &&
           (!heap->bucket || masu__bucket_valid_unlocked(heap->bucket)) && stats_valid(heap) &&
           (!heap->guard || masu__guard_valid(heap->guard));
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
