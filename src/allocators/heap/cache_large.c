/* cache_large.c: the blocks above 16 KiB that a thread keeps: when they go back, and what is known of them. */
#include "allocators/heap/cache.h"

/* From the cache to the best-fit pool. */
static void return_one(masu__cache *cache, void *block, unsigned index) {
    masu_heap *heap = cache->heap;
    masu__page_code_set(block, 0);
    masu_status status = masu__bucket_bypass_give(heap->caches->bucket, block, masu__large_class_bytes(index));
    MASU_ASSERT(status == MASU_OK); /* it was judged when it came */
}

void masu__large_open(masu__large_cache *large, size_t most) {
    large->most = most;
    for (uint16_t slot = 1; slot < MASU__LARGE_SLOTS; slot++)
        large->next[slot] = slot + 1;
    large->spare = 1;
}

/* No class has a place any more. */
static void return_ones(masu__cache *cache) {
    masu__large_cache *large = &cache->front.large;
    for (uint64_t left = large->places; left; left &= left - 1) {
        unsigned index = (unsigned)__builtin_ctzll(left);
        void *block = masu__large_take_one(large, index);
        __atomic_store_n(&large->one[index], NULL, __ATOMIC_RELAXED);
        __atomic_store_n(&large->places, left & (left - 1), __ATOMIC_RELAXED);
        large->granted -= masu__large_class_bytes(index);
        if (block)
            return_one(cache, block, index);
    }
}

void masu__large_return_all(masu__cache *cache) {
    masu__large_cache *large = &cache->front.large;
    return_ones(cache);
    if (large->last_class != 0) {
        unsigned index = large->last_class - 1u;
        return_one(cache, masu__large_take_last(large, index), index);
    }
    for (unsigned word = 0; large->blocks > 0; word++)
        while (large->filled[word] != 0) {
            unsigned index = word * 64 + (unsigned)__builtin_ctzll(large->filled[word]);
            return_one(cache, masu__large_pop(large, index), index);
        }
}

static void return_if_cached(masu__cache *cache, void *block) {
    uint32_t code = block ? masu_page_code(block) : 0;
    if (masu__page_tag(code) != MASU__TAG_CACHED)
        return;
    masu__page_code_set(block, 0);
    (void)masu__bucket_bypass_give(cache->heap->caches->bucket, block, 0);
}

void masu__large_return_dead(masu__cache *cache) {
    masu__large_cache *large = &cache->front.large;
    for (unsigned i = 0; i < MASU__LARGE_ONES; i++)
        return_if_cached(cache, masu__large_one(large, i));
    return_if_cached(cache, large->last); /* a push half done has it in a slot too: there it has gone back */
    for (unsigned slot = 1; slot <= MASU__LARGE_SLOTS; slot++)
        return_if_cached(cache, large->block[slot]);
    *large = (masu__large_cache){.hits = large->hits};
}

/* Something is kept, and no more than is in use. */
static bool is_little(const masu__cache *cache) {
    size_t bytes = masu__large_bytes(&cache->front.large);
    return bytes > 0 && bytes <= masu__bestfit_used(cache->heap->caches->bestfit) / 2;
}

/* Where slabs lay. Not for blocks that would keep more of a slab from coming back than they take. */
static bool cut_from_slabs(masu_bucket *bucket, size_t bytes, size_t alignment, void **out) {
    return bytes > MASU__SLAB_BYTES / 2 && masu__bucket_bypass_used(bucket, MASU__GROUND_SLABS, bytes, alignment, out);
}

/* Each block that is given back here was freed by the thread since the last time: so the cost is a constant for each
 * free. */
bool masu__large_cut(masu__cache *cache, size_t bytes, size_t alignment, void **out) {
    masu_bucket *bucket = cache->heap->caches->bucket;
    if (is_little(cache))
        masu__large_return_all(cache);
    if (masu__bucket_bypass_used(bucket, MASU__GROUND_BLOCKS, bytes, alignment, out))
        return true;
    masu__large_before_new_pages(cache, MASU__GROUND_BLOCKS, bytes, alignment);
    return masu__bucket_bypass_used(bucket, MASU__GROUND_BLOCKS, bytes, alignment, out) ||
           cut_from_slabs(bucket, bytes, alignment, out);
}

void masu__large_before_new_pages(masu__cache *cache, uint32_t ground, size_t bytes, size_t alignment) {
    const masu_bestfit *bestfit = cache->heap->caches->bestfit;
    const masu__large_cache *large = &cache->front.large;
    if (masu__bestfit_has_used(bestfit, ground, bytes, alignment))
        return;
    if (is_little(cache) || large->hits - large->hits_then >= MASU__LARGE_HITS) {
        cache->front.large.hits_then = large->hits;
        masu__large_return_all(cache);
        if (masu__bestfit_has_used(bestfit, ground, bytes, alignment))
            return;
    }
    masu__cache_sweep(cache);
    masu__bestfit_swap_pages(cache->heap->caches->bestfit, ground, bytes,
                             cache->heap->caches->configured_max_bytes / 2);
}

masu_status masu__large_known(masu_heap *heap, const void *ptr, size_t *out) {
    masu_status status = masu__bestfit_known(heap->caches->bestfit, ptr, heap->caches->bucket->number, out);
    if (status == MASU_OK && masu__page_tag(masu_page_code(ptr)) == MASU__TAG_CACHED)
        return MASU_ERR_DOUBLE_FREE;
    return status;
}

/* A block finds no room. Sizes that take turns in a small program, a few more than fit, would empty the cache each time
 * round: while the kept ones are taken again they stay, and the block goes home instead. */
static bool kept_may_stay(masu__cache *cache) {
    masu__large_cache *large = &cache->front.large;
    if (is_little(cache))
        return false;
    if (++large->turned_away < MASU__LARGE_TURNED_AWAY)
        return true;
    uint64_t hits = large->hits - large->hits_full;
    large->hits_full = large->hits;
    large->turned_away = 0;
    return hits >= MASU__LARGE_TURNED_AWAY / 2;
}

masu_status masu__large_give(masu_heap *heap, masu__cache *cache, void *ptr, size_t known) {
    uint32_t kind = masu__page_kind(masu_page_code(ptr));
    unsigned index = kind - MASU__KIND_LARGE;
    if (cache && index < MASU__LARGE_CLASSES) {
        if (masu__large_keep(&cache->front.large, index, ptr))
            return MASU_OK;
        if (!kept_may_stay(cache)) {
            masu__large_return_all(cache);
            if (masu__large_keep(&cache->front.large, index, ptr))
                return MASU_OK;
        }
    }
    masu__page_code_set(ptr, 0);
    masu_status status = masu__bucket_bypass_give(heap->caches->bucket, ptr, known);
    if (status != MASU_OK) /* nothing has changed */
        masu__page_code_set(ptr, masu__page_code_of(MASU__TAG_PROCESS, kind));
    return status;
}

void *masu__large_carry(masu_heap *heap, void *ptr, size_t new_bytes, size_t alignment) {
    size_t known, wanted;
    void *out = NULL;
    if (!masu__align_up(new_bytes, MASU_BUCKET_MIN_BYTES, &wanted))
        return NULL;
    masu__heap_lock(heap);
    if (masu__large_known(heap, ptr, &known) == MASU_OK &&
        masu__bucket_carry(heap->caches->bucket, ptr, known, wanted, alignment, &out) == MASU_OK) {
        masu__page_code_set(ptr, 0);
        masu__page_code_set(out, masu__page_code_of(MASU__TAG_PROCESS, MASU__KIND_EXACT));
    }
    masu__heap_unlock(heap);
    return out;
}

/* Under the lock. */
static bool resize_to(masu_heap *heap, void *ptr, size_t wanted, uint32_t kind) {
    size_t known;
    bool resized = masu__large_known(heap, ptr, &known) == MASU_OK &&
                   masu__bucket_resize_bypass(heap->caches->bucket, ptr, known, wanted) == MASU_OK;
    if (resized)
        masu__page_code_set(ptr, masu__page_code_of(MASU__TAG_PROCESS, kind));
    return resized;
}

/* Where the class does not fit, the size itself may. */
bool masu__large_resize(masu_heap *heap, void *ptr, size_t new_bytes) {
    size_t exact;
    bool resized = false;
    if (!masu__align_up(new_bytes, MASU_BUCKET_MIN_BYTES, &exact))
        return false;
    masu__heap_lock(heap);
    if (masu__large_has_class(new_bytes)) {
        unsigned index = masu__large_class_of(new_bytes);
        resized = resize_to(heap, ptr, masu__large_class_bytes(index), MASU__KIND_LARGE + index);
    }
    resized = resized || resize_to(heap, ptr, exact, MASU__KIND_EXACT);
    masu__heap_unlock(heap);
    return resized;
}

static bool is_kept(masu__cache *cache, void *block, unsigned index) {
    size_t known;
    return masu_page_code(block) == masu__page_code_of(MASU__TAG_CACHED, MASU__KIND_LARGE + index) &&
           masu__bestfit_known(cache->heap->caches->bestfit, block, cache->heap->caches->bucket->number, &known) ==
               MASU_OK &&
           known == masu__large_class_bytes(index);
}

/* The blocks of a class; SIZE_MAX when one is not what its list says. */
static size_t list_count(masu__cache *cache, unsigned index) {
    const masu__large_cache *large = &cache->front.large;
    size_t count = 0;
    for (uint16_t slot = large->first[index]; slot; slot = large->next[slot])
        if (++count > MASU__LARGE_SLOTS || !is_kept(cache, large->block[slot], index))
            return SIZE_MAX;
    bool marked = (large->filled[index / 64] >> (index % 64)) & 1;
    return marked == (count > 0) ? count : SIZE_MAX;
}

static bool ones_valid(masu__cache *cache) {
    const masu__large_cache *large = &cache->front.large;
    size_t granted = 0;
    for (unsigned i = 0; i < MASU__LARGE_ONES; i++) {
        void *block = masu__large_one(large, i);
        granted += large->one[i] ? masu__large_class_bytes(i) : 0;
        if ((large->one[i] != NULL) != ((large->places >> i & 1) != 0) || (block && !is_kept(cache, block, i)))
            return false;
    }
    return granted == large->granted && granted <= large->most / 2;
}

bool masu__large_valid(masu__cache *cache) {
    const masu__large_cache *large = &cache->front.large;
    size_t bytes = 0, blocks = 0, spare = 0;
    for (unsigned i = 0; i < MASU__LARGE_CLASSES; i++) {
        size_t count = list_count(cache, i);
        if (count == SIZE_MAX)
            return false;
        blocks += count;
        bytes += count * masu__large_class_bytes(i);
    }
    for (uint16_t slot = large->spare; slot && spare <= MASU__LARGE_SLOTS; slot = large->next[slot])
        spare++;
    return bytes == large->held && blocks == large->blocks && blocks + spare == MASU__LARGE_SLOTS &&
           ones_valid(cache) && (large->last_class == 0 || is_kept(cache, large->last, large->last_class - 1u)) &&
           (masu__large_bytes(large) <= large->most || masu__large_blocks(large) == 1);
}
