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
#include <masu/heap.h>

#include <pthread.h>

#include "allocators/bestfit_pool.h"
#include "allocators/bucket_pool.h"
#include "base/assert.h"
#include "base/meta.h"

struct masu_heap {
    masu_bucket *direct; /* bucket when neither lock nor audit stands before it; else NULL */
    bool thread_safe;
    uint32_t magic;
    masu_bucket *bucket;     /* owned, NULL without host access */
    masu_bestfit *bestfit;   /* owned */
    masu_device *own_device; /* owned, NULL when the caller gave one */
    pthread_mutex_t lock;    /* the pools below have none of their own */
};

static void heap_lock(masu_heap *heap) {
    if (heap->thread_safe)
        pthread_mutex_lock(&heap->lock);
}

static void heap_unlock(masu_heap *heap) {
    if (heap->thread_safe)
        pthread_mutex_unlock(&heap->lock);
}

/* ---- birth and death ------------------------------------------------------------------------- */

masu_heap_config masu_heap_config_default(void) {
    return (masu_heap_config){
        .thread_safe = true,
#ifdef MASU_HEAVY
        .checked = true,
#endif
        .small_blocks = 16,
        .medium_blocks = 8,
        .max_cached_bytes = (size_t)16 << 20,
        .pool_bytes = (size_t)64 << 20,
        .initial_bytes = (size_t)64 << 20,
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
            .policy = config->policy,
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
            .checked = config->checked,
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
    return heap_make_bucket(heap, config, device);
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
    pthread_mutex_init(&heap->lock, NULL);
    masu_status status = heap_make(heap, config);
    if (status != MASU_OK) {
        masu_heap_destroy(heap);
        return status;
    }
#ifndef MASU_HEAVY
    heap->direct = heap->thread_safe ? NULL : heap->bucket;
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
    masu_status status = masu_bucket_destroy(heap->bucket);
    status = first_of(status, masu_bestfit_destroy(heap->bestfit));
    status = first_of(status, masu_device_destroy(heap->own_device));
    pthread_mutex_destroy(&heap->lock);
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

/* Out of line, so that the direct way needs no stack frame. */
__attribute__((noinline)) static masu_status heap_alloc_indirect(masu_heap *heap, size_t bytes,
                                                                 size_t alignment, void **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    masu_status status = heap_usable(heap);
    if (status != MASU_OK)
        return status;
    heap_lock(heap);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    status = heap->bucket ? masu__bucket_alloc(heap->bucket, bytes, alignment, out)
                          : masu_bestfit_alloc(heap->bestfit, bytes, alignment, 0, out);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    heap_unlock(heap);
    return status;
}

__attribute__((noinline)) static masu_status heap_free_indirect(masu_heap *heap, void *ptr,
                                                                size_t bytes) {
    masu_status status = heap_usable(heap);
    if (status != MASU_OK)
        return status;
    heap_lock(heap);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    status = heap->bucket ? masu__bucket_free(heap->bucket, ptr, bytes)
                          : masu_bestfit_free_sized(heap->bestfit, ptr, bytes);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    heap_unlock(heap);
    return status;
}

masu_status masu_heap_alloc(masu_heap *heap, size_t bytes, size_t alignment, void **out) {
    if (MASU_LIKELY(heap && heap->direct && out))
        return masu__bucket_alloc(heap->direct, bytes, alignment, out);
    return heap_alloc_indirect(heap, bytes, alignment, out);
}

masu_status masu_heap_free(masu_heap *heap, void *ptr, size_t bytes) {
    if (MASU_LIKELY(heap && heap->direct))
        return masu__bucket_free(heap->direct, ptr, bytes);
    return heap_free_indirect(heap, ptr, bytes);
}

/* What the buckets do not cache comes back as whole device blocks where nothing in them lives. */
static masu_status heap_trim(masu_heap *heap, size_t keep_bytes) {
    masu_status status = heap->bucket ? masu_bucket_trim(heap->bucket, keep_bytes) : MASU_OK;
    masu_bestfit_stats below;
    masu_bestfit_get_stats(heap->bestfit, &below);
    size_t used = (size_t)(below.used_bytes + below.slack_bytes);
    size_t keep = keep_bytes > SIZE_MAX - used ? SIZE_MAX : used + keep_bytes;
    return first_of(status, masu_bestfit_trim(heap->bestfit, keep));
}

masu_status masu_heap_trim(masu_heap *heap, size_t keep_bytes) {
    masu_status status = heap_usable(heap);
    if (status != MASU_OK)
        return status;
    heap_lock(heap);
    if (heap->bestfit->policy != MASU_POOL_PERSISTENT)
        status = heap_trim(heap, keep_bytes);
    MASU_HEAVY_ASSERT(heap_audit(heap));
    heap_unlock(heap);
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

static void heap_stats(const masu_heap *heap, masu_heap_stats *out) {
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
    heap_lock(h);
    heap_stats(heap, out);
    heap_unlock(h);
}

void masu_heap_reset_stats(masu_heap *heap) {
    if (!heap || heap->magic != MASU__POOL_LIVE)
        return;
    heap_lock(heap);
    masu_bestfit_reset_stats(heap->bestfit);
    masu_bucket_reset_stats(heap->bucket);
    heap_unlock(heap);
}

/* ---- the equations --------------------------------------------------------------------------- */

static bool stats_valid(const masu_heap *heap) {
    masu_heap_stats s;
    heap_stats(heap, &s);
    return s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes == s.reserved_bytes &&
           s.hits + s.misses == s.allocations && s.allocations - s.frees == s.live_blocks &&
           s.peak_bytes >= s.live_bytes && s.peak_reserved_bytes >= s.reserved_bytes;
}

/* On entry and exit of every call in builds with MASU_HEAVY. */
__attribute__((unused)) static bool heap_audit(masu_heap *heap) {
    return masu__bestfit_audit(heap->bestfit) &&
           (!heap->bucket || masu__bucket_audit(heap->bucket)) && stats_valid(heap);
}

bool masu_heap_valid(const masu_heap *heap) {
    if (!heap || heap->magic != MASU__POOL_LIVE)
        return false;
    masu_heap *h = (masu_heap *)heap; /* the lock is the only thing that changes */
    heap_lock(h);
    bool valid = masu__bestfit_valid_unlocked(h->bestfit) &&
                 (!h->bucket || masu__bucket_valid_unlocked(h->bucket)) && stats_valid(h);
    heap_unlock(h);
    return valid;
}
