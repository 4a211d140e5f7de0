/* cache_numbers.c: what the caches of all threads hold and did, for the statistics, and their equations. */
#include "allocators/heap/cache.h"

#include "base/size.h"

static void cache_totals(const masu__cache *cache, masu__cache_totals *out) {
    for (unsigned i = 0; i < cache->heap->caches->bucket->class_count; i++) {
        const masu_magazine *magazine = &cache->front.magazines.by_kind[1 + i];
        size_t fill = masu__magazine_fill(cache, i);
        out->blocks += fill;
        out->bytes += fill * masu__cache_class_bytes(cache->heap, i);
        out->allocations += __atomic_load_n(&magazine->allocations, __ATOMIC_RELAXED);
    }
    out->slots_bytes += masu__slots_bytes(&cache->room);
    out->large_blocks += masu__large_blocks(&cache->front.large);
    out->large_bytes += masu__large_bytes(&cache->front.large);
    out->large_hits += __atomic_load_n(&cache->front.large.hits, __ATOMIC_RELAXED);
}

static void caches_totals(const masu_heap *heap, masu__cache_totals *out) {
    const masu__caches *caches = heap->caches;
    *out = (masu__cache_totals){
        .allocations = caches->retired_allocations,
        .large_hits = caches->retired_large_hits,
    };
    for (unsigned i = 0; i < heap->caches->bucket->class_count; i++)
        out->blocks += caches->transfer[i].count;
    out->bytes = caches->transfer_bytes;
    for (const masu__cache *cache = caches->first; cache; cache = cache->next)
        cache_totals(cache, out);
}

static uint64_t lent_out(const masu_bucket *pool) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < pool->class_count; i++)
        sum += pool->classes[i].lent_out;
    return sum;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Threads go on while the totals are read; what does not add up for a moment is cut at what is
 * certain. */
void masu__caches_adjust(const masu_heap *heap, masu_heap_stats *s) {
    masu__cache_totals t;
    caches_totals(heap, &t);
    s->allocations = s->allocations - lent_out(heap->caches->bucket) + t.allocations + t.large_hits;
    s->bypasses += t.large_hits;
    s->live_blocks -= least(s->live_blocks, t.blocks + t.large_blocks);
    s->frees = s->allocations - least(s->allocations, s->live_blocks);
    s->hits = s->allocations - least(s->allocations, s->misses);
    uint64_t large = least(t.large_bytes, s->live_bytes);
    uint64_t small = least(t.bytes, s->live_bytes - large);
    s->live_bytes -= large + small;
    s->cached_bytes += small;
    s->free_bytes += large;
    s->thread_cached_bytes = small + large;
    s->thread_caches = heap->caches->count;
    s->metadata_bytes += heap->caches->count * MASU__CACHE_BYTES + t.slots_bytes + sizeof *heap->caches;
    for (unsigned i = 0; i < heap->caches->bucket->class_count; i++)
        s->metadata_bytes += heap->caches->transfer[i].room * sizeof(void *);
}

static bool cache_valid(masu__cache *cache, size_t *granted) {
    const masu_bucket *pool = cache->heap->caches->bucket;
    for (unsigned i = 0; i < pool->class_count; i++) {
        size_t fill = masu__magazine_fill(cache, i);
        if (cache->capacity[i] == 0) {
            if (cache->slots[i] != NULL || masu__cache_magazine(cache, i)->top[-1] != NULL ||
                masu__cache_magazine(cache, i)->end != masu__cache_magazine(cache, i)->top)
                return false;
            continue;
        }
        if (masu__magazine_bottom(cache, i)[-1] != NULL || fill > cache->capacity[i] ||
            masu__cache_magazine(cache, i)->end != masu__magazine_bottom(cache, i) + cache->capacity[i])
            return false;
        *granted += cache->capacity[i] * masu__cache_class_bytes(cache->heap, i);
        for (size_t k = 1; k <= fill; k++) {
            masu__slab *slab = masu__bucket_slab_of(pool, (uintptr_t)masu__magazine_bottom(cache, i)[k - 1]);
            if (!slab || slab->class_index != i)
                return false;
        }
    }
    return masu__large_valid(cache);
}

bool masu__caches_valid(const masu_heap *heap) {
    const masu__caches *caches = heap->caches;
    const masu_bucket *pool = heap->caches->bucket;
    size_t granted = 0, count = 0, between = 0;
    masu__cache_totals t;
    caches_totals(heap, &t);
    for (masu__cache *cache = caches->first; cache; cache = cache->next, count++)
        if (!cache_valid(cache, &granted))
            return false;
    uint64_t out = 0;
    for (unsigned i = 0; i < pool->class_count; i++) {
        out += pool->classes[i].lent_out - pool->classes[i].lent_back;
        size_t block_bytes = masu__cache_class_bytes(heap, i);
        between += caches->transfer[i].count * block_bytes;
        if (caches->transfer[i].count > caches->transfer[i].room ||
            caches->transfer[i].room > masu__transfer_most(block_bytes))
            return false;
    }
    return count == caches->count && granted == caches->granted_bytes && out >= t.blocks &&
           between == caches->transfer_bytes && (between == 0 || !caches->checked) &&
           2 * granted <= caches->max_cached_bytes &&
           granted + between + pool->max_cached_bytes == caches->max_cached_bytes;
}
