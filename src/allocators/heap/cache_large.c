/* cache_large.c: the blocks above 16 KiB that a thread keeps: when they go back, and what is known of them. */
#include "allocators/heap/cache.h"

/* From the cache to the best-fit pool. */
static void return_one(masu__cache *cache, unsigned index) {
    masu_heap *heap = cache->heap;
    void *block = masu__large_pop(&cache->front.large, index);
    masu__page_code_set(block, 0);
    masu_status status = masu__bucket_free(heap->caches->bucket, block, masu__large_class_bytes(index));
    MASU_ASSERT(status == MASU_OK); /* it was judged when it came */
}

static void return_some(masu__cache *cache, unsigned index, uint32_t count) {
    while (count-- > 0 && cache->front.large.of_class[index].count > 0)
        return_one(cache, index);
}

void masu__large_return_all(masu__cache *cache) {
    for (unsigned i = 0; i < MASU__LARGE_CLASSES && cache->front.large.blocks > 0; i++)
        return_some(cache, i, UINT32_MAX);
}

/* Sizes that take turns while little is live would each give back the block of the one before: so what is kept must be little
 * beside what is in use, or have been of use. */
static bool may_give_back(const masu__cache *cache) {
    const masu__large_cache *large = &cache->front.large;
    return large->blocks > 0 && (large->held <= masu__bestfit_used(cache->heap->caches->bestfit) / 8 ||
                                 large->hits - large->hits_then >= MASU__LARGE_HITS);
}

/* Each block that is given back here was freed by the thread: so the cost is a constant for each free. */
void masu__large_before_new_pages(masu__cache *cache, size_t bytes, size_t alignment) {
    masu_heap *heap = cache->heap;
    if (masu__bestfit_has_used(heap->caches->bestfit, bytes, alignment))
        return;
    if (may_give_back(cache)) {
        cache->front.large.hits_then = cache->front.large.hits;
        masu__large_return_all(cache);
        if (masu__bestfit_has_used(heap->caches->bestfit, bytes, alignment))
            return;
    }
    masu__cache_sweep(cache);
}

/* What a list never fell below since the last look was of no use. */
static void return_unused(masu__cache *cache) {
    for (unsigned i = 0; i < MASU__LARGE_CLASSES; i++) {
        masu__large_list *list = &cache->front.large.of_class[i];
        return_some(cache, i, list->low);
        list->low = list->count;
    }
}

void masu__large_missed(masu__cache *cache) {
    masu__large_cache *large = &cache->front.large;
    if (++large->misses < MASU__LARGE_PERIOD)
        return;
    large->misses = 0;
    return_unused(cache);
}

/* Room for so many bytes more, a quarter of the whole at once: from what lay idle first, then from the largest. */
static void make_room(masu__cache *cache, size_t bytes) {
    masu__large_cache *large = &cache->front.large;
    if (large->held + bytes <= large->most)
        return;
    return_unused(cache);
    size_t room = masu__max(bytes, large->most / 4), keep = large->most > room ? large->most - room : 0;
    for (unsigned i = MASU__LARGE_CLASSES; i-- > 0 && large->held > keep;)
        while (large->of_class[i].count > 0 && large->held > keep)
            return_one(cache, i);
}

masu_status masu__large_known(masu_heap *heap, const void *ptr, size_t *out) {
    masu_status status = masu__bestfit_known(heap->caches->bestfit, ptr, heap->caches->bucket->number, out);
    if (status == MASU_OK && masu__page_tag(masu_page_code(ptr)) == MASU__TAG_CACHED)
        return MASU_ERR_DOUBLE_FREE;
    return status;
}

masu_status masu__large_give(masu_heap *heap, masu__cache *cache, void *ptr, size_t known) {
    uint32_t kind = masu__page_kind(masu_page_code(ptr));
    unsigned index = kind - MASU__KIND_LARGE;
    if (cache && index < MASU__LARGE_CLASSES) {
        make_room(cache, known);
        if (masu__large_push(&cache->front.large, index, ptr))
            return MASU_OK;
    }
    masu__page_code_set(ptr, 0);
    masu_status status = masu__bucket_free(heap->caches->bucket, ptr, known);
    if (status != MASU_OK) /* nothing has changed */
        masu__page_code_set(ptr, masu__page_code_of(MASU__TAG_PROCESS, kind));
    return status;
}

bool masu__large_grow(masu_heap *heap, void *ptr, size_t new_bytes) {
    size_t known, wanted;
    uint32_t kind = MASU__KIND_EXACT;
    if (!masu__align_up(new_bytes, MASU_BUCKET_MIN_BYTES, &wanted))
        return false;
    if (masu__large_has_class(new_bytes)) {
        kind = MASU__KIND_LARGE + masu__large_class_of(new_bytes);
        wanted = masu__large_class_bytes(kind - MASU__KIND_LARGE);
    }
    masu__heap_lock(heap);
    bool grown = masu__large_known(heap, ptr, &known) == MASU_OK &&
                 masu__bucket_resize_bypass(heap->caches->bucket, ptr, known, wanted) == MASU_OK;
    if (grown)
        masu__page_code_set(ptr, masu__page_code_of(MASU__TAG_PROCESS, kind));
    masu__heap_unlock(heap);
    return grown;
}

bool masu__large_valid(masu__cache *cache) {
    const masu__large_cache *large = &cache->front.large;
    const masu__caches *caches = cache->heap->caches;
    size_t bytes = 0, blocks = 0, known;
    for (unsigned i = 0; i < MASU__LARGE_CLASSES; i++) {
        size_t class_bytes = masu__large_class_bytes(i), count = 0;
        for (void *block = large->of_class[i].first; block; block = *(void **)block) {
            if (masu_page_code(block) != masu__page_code_of(MASU__TAG_CACHED, MASU__KIND_LARGE + i) ||
                masu__bestfit_known(caches->bestfit, block, caches->bucket->number, &known) != MASU_OK ||
                known != class_bytes || ++count > large->of_class[i].count)
                return false;
        }
        if (count != large->of_class[i].count || large->of_class[i].low > count)
            return false;
        blocks += count;
        bytes += count * class_bytes;
    }
    return bytes == large->held && blocks == large->blocks && (bytes <= large->most || blocks == 1);
}
