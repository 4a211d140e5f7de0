/* stats.c: the numbers of a heap and of its levels in one struct that may grow, under one lock. */
#include <masu/alloc.h>
#include <masu/publish.h>
#include <masu/stats.h>

#include <string.h>

#include "allocators/heap/cache.h"
#include "allocators/heap/guard.h"
#include "allocators/heap/heap_pool.h"
#include "allocators/heap/process_heap.h"

/* Counters that were reset while blocks lived may be behind each other. */
static uint64_t less(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

static void fill_heap(masu_stats *out, const masu_heap_stats *s) {
    out->heap = (masu_stats_level){
        .allocations = s->allocations,
        .frees = s->frees,
        .refusals = s->failures,
        .hits = s->hits,
        .misses = s->misses,
        .live_bytes = s->live_bytes,
        .live_blocks = s->live_blocks,
        .peak_live_bytes = s->peak_bytes,
        .reserved_bytes = s->reserved_bytes,
        .peak_reserved_bytes = s->peak_reserved_bytes,
        .idle_bytes = s->cached_bytes + s->free_bytes,
        .slack_bytes = s->slack_bytes,
        .largest_free_bytes = s->largest_free_bytes,
        .metadata_bytes = s->metadata_bytes,
    };
    out->thread_caches = s->thread_caches;
    out->thread_cached_bytes = s->thread_cached_bytes;
    out->device_blocks_taken = s->device_allocations;
    out->device_blocks_returned = s->device_frees;
}

/* Requests above the largest class are counted by best fit. */
static void fill_buckets(masu_stats_level *out, const masu_bucket_stats *s) {
    *out = (masu_stats_level){
        .refusals = s->failures,
        .hits = s->hits,
        .misses = s->misses,
        .live_bytes = less(s->live_bytes, s->bypass_live_bytes),
        .live_blocks = s->live_blocks,
        .reserved_bytes = s->slab_bytes,
        .idle_bytes = s->cached_bytes,
        .metadata_bytes = s->metadata_bytes,
    };
    for (size_t i = 0; i < s->class_count; i++) {
        out->allocations += s->classes[i].allocations;
        out->frees += s->classes[i].frees;
    }
    out->slack_bytes = less(out->reserved_bytes, out->live_bytes + out->idle_bytes);
}

static void fill_bestfit(masu_stats_level *out, const masu_bestfit_stats *s) {
    *out = (masu_stats_level){
        .allocations = s->allocations,
        .frees = s->frees,
        .refusals = s->failures,
        .hits = s->hits,
        .misses = s->misses,
        .live_bytes = s->used_bytes,
        .live_blocks = s->live_blocks,
        .peak_live_bytes = s->peak_used_bytes,
        .reserved_bytes = s->reserved_bytes,
        .peak_reserved_bytes = s->peak_reserved_bytes,
        .idle_bytes = s->free_bytes,
        .slack_bytes = s->slack_bytes,
        .largest_free_bytes = s->largest_free_bytes,
        .metadata_bytes = s->metadata_bytes,
    };
}

static void fill_device(masu_stats *out, const masu_device *device) {
    masu_device_stats s;
    masu_device_get_stats(device, &s);
    out->device_alloc_calls = s.alloc_calls;
    out->device_free_calls = s.free_calls;
    out->device_refused_calls = s.failed_calls;
    out->device_live_bytes = s.live_bytes;
    out->device_peak_bytes = s.peak_bytes;
}

static void fill(masu_heap *heap, masu_stats *out) {
    masu_heap_stats whole = {0};
    masu_bucket_stats buckets = {0};
    masu_bestfit_stats bestfit = {0};
    masu_bestfit *below = masu__heap_find(heap, &masu__pool_bestfit);
    masu__heap_lock(heap);
    masu__heap_pool_stats(heap, &whole);
    if (heap->guard)
        masu__guard_adjust(heap->guard, &whole);
    if (heap->caches)
        masu__caches_adjust(heap, &whole);
    masu_bucket_get_stats(masu__heap_find(heap, &masu__pool_bucket), &buckets);
    masu_bestfit_get_stats(below, &bestfit);
    fill_device(out, below->device);
    masu__heap_unlock(heap);
    fill_heap(out, &whole);
    fill_buckets(&out->buckets, &buckets);
    fill_bestfit(&out->bestfit, &bestfit);
}

masu_status masu_stats_get(const masu_heap *heap, masu_stats *out) {
    if (!out || out->struct_bytes < offsetof(masu_stats, heap) + sizeof out->heap)
        return MASU_ERR_INVALID_ARGUMENT;
    if (!heap && masu__inside)
        return MASU_ERR_UNSUPPORTED;
    if (heap && heap->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    masu_heap *h = heap ? (masu_heap *)heap /* the lock is the only thing that changes */
                        : atomic_load(&masu__process_heap);
    masu_stats all = {0};
    if (h)
        fill(h, &all);
    size_t given = out->struct_bytes, known = given < sizeof all ? given : sizeof all;
    memset(out, 0, given);
    memcpy(out, &all, known);
    out->struct_bytes = given;
    return MASU_OK;
}

static masu_status publish(void *heap, masu_stats *out) {
    return masu_stats_get(heap, out);
}

masu_status masu_publish_heap(masu_publisher *publisher, const masu_heap *heap, const char *name) {
    if (heap && heap->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    if (heap && !heap->thread_safe)
        return MASU_ERR_UNSUPPORTED;
    return masu_publish_source(publisher, name ? name : "", publish, (void *)heap /* as above */);
}
