/* process.c: the process-wide heap: made at the first call, never destroyed, for nobody can say
 * when the last destructor of the last thread has run.
 *
 *     masu_alloc ─inline─► magazine
 *         └─► masu_alloc_slow ─┬─► cache of the thread ─► heap       caching
 *                              └─► heap                              guarded, checked or traced
 *
 * A thread's life:   no cache ─first call─► cache ─key destructor─► ended (straight from the lists)
 *
 * With caching, the pools below know small blocks by the size of their class alone, and large ones
 * by their size rounded up to 64: who frees them need not be who took them. While checks are
 * switched on, the cache of a thread stays empty, and small blocks are known by their exact size.
 */
#include <masu/alloc.h>

#include <pthread.h>
#include <string.h>

#include "allocators/cache.h"
#include "base/assert.h"
#include "base/size.h"

#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

MASU_THREAD_LOCAL masu_magazines *masu_thread_magazines = &masu__no_cache.magazines;
uint16_t masu_magazine_at[MASU__CLASS_STEPS]; /* of no use before a thread has magazines */

static const char ended;                       /* a thread's owner once its cache is gone */
static _Thread_local void *owner INITIAL_EXEC; /* its cache; NULL before its first call */

static masu_heap *_Atomic claimed; /* the one heap, perhaps not yet ready */
static masu_heap *_Atomic the_heap;
static pthread_key_t thread_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_works;

/* ---- the heap -------------------------------------------------------------------------------- */

static void cache_ends(void *value) {
    masu__cache *cache = value;
    masu_heap *heap = cache->heap;
    masu__heap_lock(heap);
    masu__cache_close(cache, true);
    masu__heap_unlock(heap);
    owner = (void *)&ended;
}

static void key_make(void) {
    key_works = pthread_key_create(&thread_key, cache_ends) == 0;
}

/* The other threads did not come along: what they had cached is free again. */
static void caches_after_fork(void) {
    masu_heap *heap = atomic_load(&the_heap);
    if (!heap || !heap->caches)
        return;
    masu__heap_lock(heap);
    for (masu__cache *cache = heap->caches->first, *next; cache; cache = next) {
        next = cache->next;
        if (cache == owner)
            masu__cache_renew(cache);
        else
            masu__cache_close(cache, false);
    }
    masu__heap_unlock(heap);
}

static masu_status heap_make(const masu_heap_config *wanted, masu_heap **out) {
    masu_heap_config config = wanted ? *wanted : masu_heap_config_default();
    config.thread_safe = true;
    masu_status status = masu_heap_create(&config, out);
    if (status != MASU_OK)
        return status;
    bool caching = (*out)->bucket && !(*out)->bucket->careful && !(*out)->guard;
    if (caching && !masu__caches_open(*out)) {
        masu_heap_destroy(*out);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    return MASU_OK;
}

/* Before anybody can have magazines, their classes must be those of the heap. Whoever finds the heap
 * claimed but not ready does this too, for the thread that claimed it may not have come along
 * through a fork; twice is as good as once. */
static void heap_publish(masu_heap *heap) {
    if (heap->caches)
        for (size_t i = 0; i < MASU__CLASS_STEPS; i++)
            __atomic_store_n(&masu_magazine_at[i],
                             heap->bucket->class_table[i] * sizeof(masu_magazine),
                             __ATOMIC_RELAXED);
    masu__lock_in_child(caches_after_fork);
    atomic_store_explicit(&the_heap, heap, memory_order_release);
}

/* Two threads may both make one; the second to be ready destroys its own. */
static masu_status heap_install(const masu_heap_config *config, masu_heap **out) {
    masu_heap *made, *there = NULL;
    pthread_once(&key_once, key_make);
    masu_status status = heap_make(config, &made);
    if (status != MASU_OK)
        return status;
    bool mine = atomic_compare_exchange_strong(&claimed, &there, made);
    if (!mine) {
        masu__caches_close(made);
        masu_heap_destroy(made);
    }
    *out = mine ? made : there;
    heap_publish(*out);
    return config && !mine ? MASU_ERR_UNSUPPORTED : MASU_OK;
}

static masu_status heap_get(masu_heap **out) {
    *out = atomic_load_explicit(&the_heap, memory_order_acquire);
    return MASU_LIKELY(*out != NULL) ? MASU_OK : heap_install(NULL, out);
}

masu_status masu_configure(const masu_heap_config *config) {
    masu_heap *heap;
    if (!config)
        return MASU_ERR_INVALID_ARGUMENT;
    if (atomic_load(&the_heap))
        return MASU_ERR_UNSUPPORTED;
    return heap_install(config, &heap);
}

/* The calling thread's cache, made at its first call. NULL: do without. */
static masu__cache *cache_get(masu_heap *heap) {
    if (MASU_LIKELY(owner != NULL))
        return owner == (const void *)&ended ? NULL : owner;
    if (!key_works)
        return NULL;
    masu__cache *cache = masu__cache_open(heap, &masu_thread_magazines);
    if (!cache)
        return NULL;
    if (pthread_setspecific(thread_key, cache) != 0) {
        masu__heap_lock(heap);
        masu__cache_close(cache, true);
        masu__heap_unlock(heap);
        return NULL;
    }
    owner = cache;
    return cache;
}

static masu__cache *cache_if_any(void) {
    return owner == NULL || owner == (const void *)&ended ? NULL : owner;
}

void masu_thread_flush(void) {
    masu_heap *heap = atomic_load(&the_heap);
    masu__cache *cache = cache_if_any();
    if (!heap || !cache)
        return;
    masu__heap_lock(heap);
    masu__cache_flush(cache);
    masu__heap_unlock(heap);
}

/* Everything that is cached anywhere, as far as this thread can reach it. */
static void recall(masu_heap *heap) {
    masu_thread_flush();
    masu__heap_lock(heap);
    masu__caches_recall(heap);
    masu__heap_unlock(heap);
}

/* ---- allocation ------------------------------------------------------------------------------ */

typedef struct take {
    size_t bytes, alignment;
    void **out;
} take;

/* What the pools are told. Small: the size, rounded up to an alignment above 64, for the class of
 * that is aligned so. Large: rounded up to 64; and a block aligned so strictly is as large as its
 * alignment, so that its free finds the same size again. */
static masu_status take_round(size_t bytes, size_t alignment, size_t *rounded) {
    if (alignment != 0 && !masu__is_power_of_two(alignment))
        return MASU_ERR_INVALID_ARGUMENT;
    size_t aligned = bytes;
    if (alignment > MASU_BUCKET_MIN_BYTES && !masu__align_up(bytes, alignment, &aligned))
        return MASU_ERR_OVERFLOW;
    if (masu__bucket_has_class(aligned)) {
        *rounded = aligned;
        return MASU_OK;
    }
    return masu__align_up(masu__max(bytes, alignment), MASU_BUCKET_MIN_BYTES, rounded)
               ? MASU_OK
               : MASU_ERR_OVERFLOW;
}

static masu_status take_once(masu_heap *heap, void *context) {
    const take *t = context;
    masu__cache *cache = cache_get(heap);
    return masu__bucket_has_class(t->bytes)
               ? masu__cache_refill(heap, cache, t->bytes, t->out)
               : masu__cache_take_large(heap, cache, t->bytes, t->alignment, t->out);
}

static __attribute__((noinline)) masu_status take_from_heap(masu_heap *heap, size_t bytes,
                                                            size_t alignment, void **out) {
    *out = NULL;
    take t = {.alignment = alignment, .out = out};
    masu_status status = take_round(bytes, alignment, &t.bytes);
    if (status != MASU_OK)
        return status;
    status = take_once(heap, &t);
    if (MASU_LIKELY(status == MASU_OK))
        return MASU_OK;
    recall(heap); /* the other threads give theirs when they can */
    return masu__heap_rescue(heap, status, t.bytes, take_once, &t);
}

/* As masu_alloc, but NULL when the magazine has none. */
static void *take_from_magazine(size_t bytes) {
    masu_magazine *magazine = masu_magazine_of(bytes);
    void **top = magazine->top;
    void *block = top[-1];
    if (!block)
        return NULL;
    __atomic_store_n(&magazine->top, top - 1, __ATOMIC_RELAXED);
    MASU_COUNT_ONE(magazine->allocations);
    return block;
}

masu_status masu_alloc_aligned(size_t bytes, size_t alignment, void **out) {
    masu_heap *heap;
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    masu_status status = heap_get(&heap);
    if (status != MASU_OK)
        return status;
    if (!heap->caches)
        return masu_heap_alloc(heap, bytes, alignment, out);
    if (bytes == 0)
        return alignment == 0 || masu__is_power_of_two(alignment) ? MASU_OK
                                                                  : MASU_ERR_INVALID_ARGUMENT;
    if (alignment <= MASU_BUCKET_MIN_BYTES &&
        (alignment == 0 || masu__is_power_of_two(alignment)) && masu__bucket_has_class(bytes) &&
        (*out = take_from_magazine(bytes)) != NULL)
        return MASU_OK;
    return take_from_heap(heap, bytes, alignment, out);
}

static __attribute__((noinline)) void *alloc_slower(size_t bytes) {
    masu_heap *heap;
    void *out;
    if (bytes == 0 || heap_get(&heap) != MASU_OK)
        return NULL;
    if (!heap->caches)
        return masu_heap_alloc(heap, bytes, 0, &out) == MASU_OK ? out : NULL;
    return take_from_heap(heap, bytes, 0, &out) == MASU_OK ? out : NULL;
}

/* Sizes that are not large, or wrap when rounded, find no entry. */
void *masu_alloc_slow(size_t bytes) {
    masu__large_table *table = masu__thread_large();
    size_t rounded = masu__align_up_small(bytes, MASU_BUCKET_MIN_BYTES);
    masu__large *large = masu__large_entry(table, rounded);
    if (MASU_UNLIKELY(large->bytes != rounded || !large->kept))
        return alloc_slower(bytes);
    __atomic_store_n(&large->kept, 0, __ATOMIC_RELAXED);
    MASU_COUNT_ONE(table->hits);
    return large->address;
}

void *masu_alloc_zeroed(size_t count, size_t bytes) {
    size_t total;
    if (!masu__mul(count, bytes, &total))
        return NULL;
    void *block = masu_alloc(total);
    return block ? memset(block, 0, total) : NULL;
}

/* ---- freeing --------------------------------------------------------------------------------- */

static __attribute__((noinline)) masu_status free_slower(void *ptr, size_t bytes) {
    masu_heap *heap;
    if (!ptr)
        return MASU_OK;
    masu_status status = heap_get(&heap);
    if (status != MASU_OK)
        return status;
    if (!heap->caches)
        return masu_heap_free(heap, ptr, bytes);
    if (masu__bucket_has_class(bytes))
        return masu__cache_overflow(heap, cache_get(heap), ptr, bytes);
    if (bytes == 0 || bytes > SIZE_MAX - MASU_BUCKET_MIN_BYTES)
        return MASU_ERR_SIZE_MISMATCH; /* no block was ever allocated with it */
    return masu__cache_give_large(heap, cache_get(heap), ptr,
                                  masu__align_up_small(bytes, MASU_BUCKET_MIN_BYTES));
}

/* A block that went out of here and comes back needs no other judge. */
masu_status masu_free_slow(void *ptr, size_t bytes) {
    size_t rounded = masu__align_up_small(bytes, MASU_BUCKET_MIN_BYTES);
    masu__large *large = masu__large_entry(masu__thread_large(), rounded);
    if (MASU_UNLIKELY(large->address != ptr || large->bytes != rounded || !ptr))
        return free_slower(ptr, bytes);
    if (MASU_UNLIKELY(large->kept))
        return MASU_ERR_DOUBLE_FREE;
    __atomic_store_n(&large->kept, 1, __ATOMIC_RELAXED);
    return MASU_OK;
}

masu_status masu_free_aligned(void *ptr, size_t bytes, size_t alignment) {
    masu_heap *heap;
    size_t rounded;
    masu_status status = heap_get(&heap);
    if (status != MASU_OK)
        return status;
    if (alignment != 0 &&
        (!masu__is_power_of_two(alignment) || !masu__is_aligned((uintptr_t)ptr, alignment)))
        return MASU_ERR_INVALID_ARGUMENT;
    if (!heap->caches || !ptr || bytes == 0)
        return masu_free_slow(ptr, bytes);
    status = take_round(bytes, alignment, &rounded);
    return status == MASU_OK ? masu_free(ptr, rounded) : status;
}

/* The rounded size that the block was allocated with. Under the lock. */
static masu_status block_size(masu_heap *heap, const void *ptr, size_t *out) {
    const masu__slab *slab = masu__bucket_slab_of(heap->bucket, (uintptr_t)ptr);
    if (!slab)
        return masu__bestfit_known(heap->bestfit, ptr, heap->bucket->number, out);
    *out = masu__slab_block_bytes(heap->bucket, slab);
    return ((uintptr_t)ptr - slab->base) % *out == 0 ? MASU_OK : MASU_ERR_INTERIOR_POINTER;
}

masu_status masu_free_unsized(void *ptr) {
    masu_heap *heap;
    size_t large;
    masu_status status = heap_get(&heap);
    if (status != MASU_OK || !ptr)
        return status;
    if (!heap->caches)
        return masu_heap_free_unsized(heap, ptr);
    status = masu__cache_give_unsized(heap, cache_get(heap), ptr, &large);
    return status == MASU_OK && large > 0 ? masu_free(ptr, large) : status;
}

size_t masu_usable_size(const void *ptr) {
    masu_heap *heap;
    size_t bytes = 0;
    if (!ptr || heap_get(&heap) != MASU_OK)
        return 0;
    if (!heap->caches)
        return masu_heap_size_of(heap, ptr, &bytes) == MASU_OK ? bytes : 0;
    masu__heap_lock(heap);
    masu_status status = block_size(heap, ptr, &bytes);
    masu__heap_unlock(heap);
    return status == MASU_OK ? bytes : 0;
}

static bool same_place(const masu_heap *heap, size_t old_bytes, size_t new_bytes) {
    if (masu__bucket_has_class(old_bytes) && masu__bucket_has_class(new_bytes))
        return masu__bucket_class_of(heap->bucket, old_bytes) ==
               masu__bucket_class_of(heap->bucket, new_bytes);
    return (old_bytes - 1) / MASU_BUCKET_MIN_BYTES == (new_bytes - 1) / MASU_BUCKET_MIN_BYTES;
}

/* Where every free is looked at, so is what shall be copied from. */
static bool old_block_is_right(masu_heap *heap, const void *ptr, size_t bytes) {
    size_t known = 0, rounded;
    if (!heap->caches)
        return masu_heap_size_of(heap, ptr, &known) == MASU_OK && known == bytes;
    if (take_round(bytes, 0, &rounded) != MASU_OK)
        return false;
    masu__heap_lock(heap);
    bool right =
        masu__bucket_has_class(bytes)
            ? masu__bucket_judge_lent(heap->bucket, ptr, bytes) == MASU_OK
            : masu__bestfit_known(heap->bestfit, ptr, heap->bucket->number, &known) == MASU_OK &&
                  known == rounded;
    masu__heap_unlock(heap);
    return right;
}

void *masu_realloc(void *ptr, size_t old_bytes, size_t new_bytes) {
    masu_heap *heap;
    if (heap_get(&heap) != MASU_OK || (ptr == NULL) != (old_bytes == 0))
        return NULL;
    bool watched = !heap->caches || heap->caches->checked;
    if (ptr && watched && !old_block_is_right(heap, ptr, old_bytes))
        return NULL;
    if (ptr && new_bytes && !watched && same_place(heap, old_bytes, new_bytes))
        return ptr;
    void *block = masu_alloc(new_bytes);
    if (!block && new_bytes)
        return NULL;
    if (ptr) {
        if (block)
            memcpy(block, ptr, masu__min(old_bytes, new_bytes));
        (void)masu_free(ptr, old_bytes);
    }
    return block;
}

/* ---- the pool as a whole --------------------------------------------------------------------- */

masu_status masu_trim(size_t keep_bytes) {
    masu_heap *heap = atomic_load(&the_heap);
    if (!heap)
        return MASU_OK;
    if (heap->caches)
        recall(heap);
    return masu_heap_trim(heap, keep_bytes);
}

masu_status masu_set_checked(bool on) {
    masu_heap *heap;
    masu_status status = heap_get(&heap);
    if (status != MASU_OK)
        return status;
    if (heap->caches)
        return masu__caches_set_checked(heap, cache_if_any(), on);
    return masu_heap_set_checked(heap, on);
}

void masu_reset_peaks(void) {
    masu_heap_reset_peaks(atomic_load(&the_heap));
}

void masu_get_stats(masu_heap_stats *out) {
    masu_heap *heap = atomic_load(&the_heap);
    *out = (masu_heap_stats){0};
    if (!heap)
        return;
    if (!heap->caches) {
        masu_heap_get_stats(heap, out);
        return;
    }
    masu__heap_lock(heap);
    masu__heap_pool_stats(heap, out);
    masu__caches_adjust(heap, out);
    masu__heap_unlock(heap);
}

bool masu_valid(void) {
    masu_heap *heap = atomic_load(&the_heap);
    if (!heap)
        return true;
    if (!heap->caches)
        return masu_heap_valid(heap);
    masu__heap_lock(heap);
    bool valid = masu__heap_pools_valid(heap) && masu__caches_valid(heap);
    masu__heap_unlock(heap);
    return valid;
}
