/* cache.c: batches between the magazines of a thread and the shared lists. */
#include "allocators/cache.h"

#include <string.h>

#include "base/meta.h"
#include "base/size.h"

static void *empty_magazine[1]; /* NULL: neither a block to take nor room for one */
masu__large_table masu__no_large;

static void **magazine_bottom(masu__cache *cache, unsigned index) {
    return &cache->slots[index][1];
}

static size_t magazine_fill(const masu__cache *cache, unsigned index) {
    void **top = __atomic_load_n(&cache->magazines->of_class[index].top, __ATOMIC_RELAXED);
    return (size_t)(top - &((masu__cache *)cache)->slots[index][1]);
}

static void magazine_set_top(masu__cache *cache, unsigned index, void **top) {
    __atomic_store_n(&cache->magazines->of_class[index].top, top, __ATOMIC_RELAXED);
}

static void magazine_count(masu__cache *cache, unsigned index) {
    uint64_t *count = &cache->magazines->of_class[index].allocations;
    __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

/* ---- capacity -------------------------------------------------------------------------------- */

static void caches_grant(masu_heap *heap, size_t bytes) {
    masu__caches *caches = heap->caches;
    caches->granted_bytes += bytes;
    masu__bucket_set_cap(heap->bucket, caches->max_cached_bytes - caches->granted_bytes);
}

/* Twice as many slots, as far as the cap leaves room for them. False: nothing has changed. */
static bool magazine_grow(masu__cache *cache, unsigned index) {
    masu__caches *caches = cache->heap->caches;
    uint32_t first = index < MASU_BUCKET_SMALL_CLASSES ? 16 : 8;
    uint32_t capacity = cache->capacity[index] ? 2 * cache->capacity[index] : first;
    if (capacity > MASU__MAGAZINE_SLOTS)
        return false;
    size_t bytes = (capacity - cache->capacity[index]) * masu__bucket_block_bytes(index);
    if (bytes > caches->max_cached_bytes - caches->granted_bytes)
        return false;
    caches_grant(cache->heap, bytes);
    cache->capacity[index] = capacity;
    cache->magazines->of_class[index].end = magazine_bottom(cache, index) + capacity;
    return true;
}

/* ---- batches --------------------------------------------------------------------------------- */

enum { TRANSFER_MOST_BYTES = 4 << 20 };

/* At its first use a transfer gets what the cap allows. */
static void transfer_open(masu_heap *heap, unsigned index) {
    masu__caches *caches = heap->caches;
    size_t block_bytes = masu__bucket_block_bytes(index);
    size_t capacity = masu__min(MASU__TRANSFER_SLOTS, TRANSFER_MOST_BYTES / block_bytes);
    if (capacity * block_bytes > (caches->max_cached_bytes - caches->granted_bytes) / 2)
        return;
    caches_grant(heap, capacity * block_bytes);
    caches->transfer[index].capacity = capacity;
}

static void give_batch(masu_heap *heap, unsigned index, void *const *blocks, size_t count) {
    masu__transfer *t = &heap->caches->transfer[index];
    if (t->capacity == 0)
        transfer_open(heap, index);
    size_t kept = masu__min(count, t->capacity - t->count);
    memcpy(t->slots + t->count, blocks + (count - kept), kept * sizeof *blocks);
    t->count += kept;
    if (kept < count)
        masu__bucket_take_home(heap->bucket, index, blocks, count - kept);
}

static size_t take_batch(masu_heap *heap, unsigned index, size_t count, void **blocks,
                         masu_status *status) {
    masu__transfer *t = &heap->caches->transfer[index];
    *status = MASU_OK;
    if (t->count == 0)
        return masu__bucket_lend(heap->bucket, index, count, blocks, status);
    count = masu__min(count, t->count);
    t->count -= count;
    memcpy(blocks, t->slots + t->count, count * sizeof *blocks);
    return count;
}

void masu__caches_flush(masu_heap *heap) {
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++) {
        masu__transfer *t = &heap->caches->transfer[i];
        if (t->count > 0)
            masu__bucket_take_home(heap->bucket, i, t->slots, t->count);
        t->count = 0;
    }
}

/* The blocks that have lain in the magazine for longest. */
static void magazine_return(masu__cache *cache, unsigned index, size_t count) {
    void **bottom = magazine_bottom(cache, index);
    size_t fill = magazine_fill(cache, index);
    if (count == 0)
        return;
    give_batch(cache->heap, index, bottom, count);
    memmove(bottom, bottom + count, (fill - count) * sizeof *bottom);
    magazine_set_top(cache, index, bottom + fill - count);
    cache->heap->caches->flushes++;
}

static void large_set(masu__large *large, masu__large to) {
    __atomic_store_n(&large->kept, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&large->bytes, to.bytes, __ATOMIC_RELAXED);
    large->address = to.address;
    __atomic_store_n(&large->kept, to.kept, __ATOMIC_RELAXED);
}

static size_t large_sum(const masu__cache *cache) {
    size_t sum = 0;
    for (unsigned i = 0; i < MASU__LARGE_SLOTS; i++)
        sum += cache->large.entries[i].bytes;
    return sum;
}

static void large_return(masu__cache *cache, masu__large *large) {
    if (!large->kept) {
        large_set(large, (masu__large){0});
        return;
    }
    masu_status status = masu__bucket_free(cache->heap->bucket, large->address, large->bytes);
    /* a wrong pointer or size was given to masu_free; there is nobody left to be told */
    (void)status;
    large_set(large, (masu__large){0});
}

static void large_return_all(masu__cache *cache) {
    for (unsigned i = 0; i < MASU__LARGE_SLOTS; i++)
        large_return(cache, &cache->large.entries[i]);
}

void masu__cache_flush(masu__cache *cache) {
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++)
        if (cache->capacity[i] > 0)
            magazine_return(cache, i, magazine_fill(cache, i));
    large_return_all(cache);
}

void masu__cache_obey(masu__cache *cache) {
    uint64_t epoch = atomic_load_explicit(&cache->heap->caches->epoch, memory_order_relaxed);
    if (cache->epoch == epoch)
        return;
    cache->epoch = epoch;
    masu__cache_flush(cache);
}

/* ---- birth and death ------------------------------------------------------------------------- */

bool masu__caches_open(masu_heap *heap) {
    heap->caches = masu__meta_calloc(1, sizeof *heap->caches);
    if (!heap->caches)
        return false;
    heap->caches->max_cached_bytes = heap->bucket->max_cached_bytes;
    return true;
}

void masu__caches_close(masu_heap *heap) {
    if (!heap->caches)
        return;
    while (heap->caches->first)
        masu__cache_close(heap->caches->first);
    masu__meta_free(heap->caches, sizeof *heap->caches);
    heap->caches = NULL;
}

static void magazines_detach(masu_magazines *magazines) {
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++)
        magazines->of_class[i] = (masu_magazine){empty_magazine + 1, empty_magazine + 1, 0, 0};
    magazines->large = &masu__no_large;
}

masu__cache *masu__cache_open(masu_heap *heap, masu_magazines *magazines) {
    masu__cache *cache = masu__meta_calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    cache->heap = heap;
    cache->magazines = magazines;
    masu__heap_lock(heap);
    masu__caches *caches = heap->caches;
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++) {
        void **bottom = magazine_bottom(cache, i);
        magazines->of_class[i] = (masu_magazine){bottom, bottom, 0, 0};
    }
    magazines->large = &cache->large;
    cache->epoch = atomic_load_explicit(&caches->epoch, memory_order_relaxed);
    cache->next = caches->first;
    if (cache->next)
        cache->next->before = cache;
    caches->first = cache;
    caches->count++;
    masu__heap_unlock(heap);
    return cache;
}

void masu__cache_close(masu__cache *cache) {
    masu__caches *caches = cache->heap->caches;
    size_t granted = 0;
    masu__cache_flush(cache);
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++) {
        granted += cache->capacity[i] * masu__bucket_block_bytes(i);
        caches->retired_allocations += cache->magazines->of_class[i].allocations;
    }
    caches->retired_large_hits += cache->large.hits;
    caches_grant(cache->heap, (size_t)0 - granted);
    *(cache->before ? &cache->before->next : &caches->first) = cache->next;
    if (cache->next)
        cache->next->before = cache->before;
    caches->count--;
    magazines_detach(cache->magazines);
    masu__meta_free(cache, sizeof *cache);
}

/* ---- small blocks ---------------------------------------------------------------------------- */

static masu_status refill_under_lock(masu_heap *heap, masu__cache *cache, unsigned index,
                                     void **out) {
    masu_status status;
    if (cache) {
        masu__cache_obey(cache);
        (void)magazine_grow(cache, index);
    }
    if (!cache || cache->capacity[index] == 0) {
        if (take_batch(heap, index, 1, out, &status) == 1)
            heap->caches->retired_allocations++;
        return status;
    }
    void **bottom = magazine_bottom(cache, index);
    size_t count = take_batch(heap, index, cache->capacity[index] / 2, bottom, &status);
    if (count == 0)
        return status;
    *out = bottom[count - 1];
    magazine_set_top(cache, index, bottom + count - 1);
    magazine_count(cache, index);
    heap->caches->refills++;
    return MASU_OK;
}

masu_status masu__cache_refill(masu_heap *heap, masu__cache *cache, size_t bytes, void **out) {
    unsigned index = masu__bucket_class_of(bytes);
    masu__heap_lock(heap);
    masu_status status = MASU_OK;
    if (cache && magazine_fill(cache, index) > 0) { /* a rescue has put blocks there */
        void **top = cache->magazines->of_class[index].top;
        *out = top[-1];
        magazine_set_top(cache, index, top - 1);
        magazine_count(cache, index);
    } else {
        status = refill_under_lock(heap, cache, index, out);
    }
    masu__heap_unlock(heap);
    return status;
}

masu_status masu__cache_overflow(masu_heap *heap, masu__cache *cache, void *ptr, size_t bytes) {
    unsigned index = masu__bucket_class_of(bytes);
    masu__heap_lock(heap);
    if (cache)
        masu__cache_obey(cache);
    if (!cache || (cache->capacity[index] == 0 && !magazine_grow(cache, index))) {
        give_batch(heap, index, &ptr, 1);
    } else {
        if (magazine_fill(cache, index) == cache->capacity[index] && !magazine_grow(cache, index))
            magazine_return(cache, index, (cache->capacity[index] + 1) / 2);
        void **top = cache->magazines->of_class[index].top;
        *top = ptr;
        magazine_set_top(cache, index, top + 1);
    }
    masu__heap_unlock(heap);
    return MASU_OK;
}

/* ---- large blocks ---------------------------------------------------------------------------- */

static bool bestfit_must_grow(const masu_heap *heap, size_t bytes, size_t alignment) {
    size_t surely = bytes + masu__max(alignment, MASU__GRAIN);
    return surely > bytes && !masu__bestfit_has(heap->bestfit, surely);
}

masu_status masu__cache_take_large(masu_heap *heap, masu__cache *cache, size_t bytes,
                                   size_t alignment, void **out) {
    masu__heap_lock(heap);
    if (cache) {
        masu__cache_obey(cache);
        if (bestfit_must_grow(heap, bytes, alignment))
            large_return_all(cache);
    }
    masu_status status = masu__bucket_alloc(heap->bucket, bytes, alignment, out);
    masu__heap_unlock(heap);
    return status;
}

masu_status masu__cache_give_large(masu_heap *heap, masu__cache *cache, void *ptr, size_t bytes) {
    masu_status status = MASU_OK;
    masu__heap_lock(heap);
    bool kept = cache && bytes <= MASU__LARGE_KEPT_BYTES;
    if (kept) {
        masu__cache_obey(cache);
        large_return(cache, masu__large_entry(&cache->large, bytes));
        for (unsigned i = 0; i < MASU__LARGE_SLOTS; i++)
            if (large_sum(cache) + bytes > MASU__LARGE_KEPT_BYTES)
                large_return(cache, &cache->large.entries[i]);
        /* the judgement comes now or never */
        size_t known;
        status = masu__bestfit_known(heap->bestfit, ptr, heap->bucket->number, &known);
        kept = status == MASU_OK && known == bytes;
    }
    if (kept) {
        large_set(masu__large_entry(&cache->large, bytes), (masu__large){bytes, ptr, 1});
    } else if (status == MASU_OK) {
        status = masu__bucket_free(heap->bucket, ptr, bytes);
    }
    masu__heap_unlock(heap);
    return status;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void cache_totals(const masu__cache *cache, masu__cache_totals *out) {
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++) {
        const masu_magazine *magazine = &cache->magazines->of_class[i];
        size_t fill = magazine_fill(cache, i);
        out->blocks += fill;
        out->bytes += fill * masu__bucket_block_bytes(i);
        out->allocations += __atomic_load_n(&magazine->allocations, __ATOMIC_RELAXED);
    }
    for (unsigned i = 0; i < MASU__LARGE_SLOTS; i++) {
        const masu__large *large = &cache->large.entries[i];
        uint64_t kept = __atomic_load_n(&large->kept, __ATOMIC_RELAXED);
        out->large_blocks += kept;
        out->large_bytes += kept * __atomic_load_n(&large->bytes, __ATOMIC_RELAXED);
    }
    out->large_hits += __atomic_load_n(&cache->large.hits, __ATOMIC_RELAXED);
}

void masu__caches_totals(const masu__caches *caches, masu__cache_totals *out) {
    *out = (masu__cache_totals){
        .allocations = caches->retired_allocations,
        .large_hits = caches->retired_large_hits,
    };
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++) {
        out->blocks += caches->transfer[i].count;
        out->bytes += caches->transfer[i].count * masu__bucket_block_bytes(i);
    }
    for (const masu__cache *cache = caches->first; cache; cache = cache->next)
        cache_totals(cache, out);
}

static uint64_t lent_out(const masu_bucket *pool) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++)
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
    masu__caches_totals(heap->caches, &t);
    s->allocations = s->allocations - lent_out(heap->bucket) + t.allocations + t.large_hits;
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
    s->metadata_bytes += heap->caches->count * sizeof(masu__cache) + sizeof *heap->caches;
}

static bool cache_valid(const masu__cache *cache, size_t *granted) {
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++) {
        size_t fill = magazine_fill(cache, i);
        if (cache->slots[i][0] != NULL || fill > cache->capacity[i])
            return false;
        *granted += cache->capacity[i] * masu__bucket_block_bytes(i);
        for (size_t k = 1; k <= fill; k++) {
            masu__slab *slab =
                masu__bucket_slab_of(cache->heap->bucket, (uintptr_t)cache->slots[i][k]);
            if (!slab || slab->class_index != i)
                return false;
        }
    }
    return large_sum(cache) <= MASU__LARGE_KEPT_BYTES;
}

bool masu__caches_valid(const masu_heap *heap) {
    const masu__caches *caches = heap->caches;
    size_t granted = 0, count = 0;
    masu__cache_totals t;
    masu__caches_totals(caches, &t);
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++) {
        granted += caches->transfer[i].capacity * masu__bucket_block_bytes(i);
        if (caches->transfer[i].count > caches->transfer[i].capacity)
            return false;
    }
    for (const masu__cache *cache = caches->first; cache; cache = cache->next, count++)
        if (!cache_valid(cache, &granted))
            return false;
    uint64_t out = 0;
    for (unsigned i = 0; i < MASU_BUCKET_CLASS_COUNT; i++)
        out += heap->bucket->classes[i].lent_out - heap->bucket->classes[i].lent_back;
    return count == caches->count && granted == caches->granted_bytes && out >= t.blocks &&
           granted + heap->bucket->max_cached_bytes == caches->max_cached_bytes;
}
