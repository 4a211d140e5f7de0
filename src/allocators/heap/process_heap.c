/* process_heap.c: the process-wide heap: made at the first call, never destroyed, for none can say
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

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "allocators/heap/process_heap.h"
#include "base/assert.h"
#include "base/size.h"

#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

MASU_THREAD_LOCAL masu_magazines *masu_thread_magazines = &masu__no_cache.magazines;
uint16_t masu_magazine_at[MASU__CLASS_STEPS]; /* of no use before a thread has magazines */
uint16_t masu_packed_at[MASU_PACKED_SIZES];
_Static_assert((int)MASU_PACKED_SIZES *(int)MASU_PACKED_GRAIN == (int)MASU_BUCKET_MAX_BYTES, "one for each size");

static const char ended;                       /* a thread's owner once its cache is gone */
static _Thread_local void *owner INITIAL_EXEC; /* its cache; NULL before its first call */

static masu_heap *_Atomic claimed; /* the one heap, perhaps not yet ready */
masu_heap *_Atomic masu__process_heap;
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
    masu_heap *heap = atomic_load(&masu__process_heap);
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

/* Whole programs live here: little may be lost to rounding, and to the borders of device blocks. */
masu_heap_config masu_configure_default(void) {
    masu_heap_config config = masu_heap_config_default();
    config.fine_classes = true;
    config.pool_bytes = (size_t)128 << 20;
    return config;
}

static masu_heap_config config_chosen(const masu_heap_config *wanted) {
    if (!wanted && masu_wanted_config)
        wanted = masu_wanted_config();
    return wanted ? *wanted : masu_configure_default();
}

static masu_status heap_make(const masu_heap_config *wanted, masu_heap **out) {
    masu_heap_config config = config_chosen(wanted);
    config.thread_safe = true;
    masu_status status = masu_heap_create(&config, out);
    if (status != MASU_OK)
        return status;
    masu_bucket *bucket = masu__heap_top(*out)->row == &masu__pool_bucket ? masu__heap_top(*out)->at : NULL;
    bool caching = bucket && !bucket->careful && !(*out)->guard;
    if (bucket && !caching && !(*out)->guard && (status = masu__bucket_always_remember(bucket)) != MASU_OK) {
        masu_heap_destroy(*out);
        return status; /* calls without the size, and those that judge one, need it */
    }
    if (caching)
        masu__bucket_be_of_process(bucket);
    if (caching && bucket->backing->region_count == 0 && bucket->backing->limit_bytes == SIZE_MAX)
        masu__bestfit_keep_apart(bucket->backing, config.pool_bytes == masu_configure_default().pool_bytes);
    if (caching && !masu__caches_open(*out)) {
        masu_heap_destroy(*out);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    if (caching && config.max_idle_bytes > 0)
        masu__idle_set(*out, config.max_idle_bytes, 0);
    return MASU_OK;
}

static void classes_publish(const masu_bucket *bucket) {
    for (size_t i = 0; i < MASU__CLASS_STEPS; i++)
        __atomic_store_n(&masu_magazine_at[i], (1 + bucket->class_table[i]) * sizeof(masu_magazine), __ATOMIC_RELAXED);
    for (size_t i = 0; i < MASU_PACKED_SIZES; i++) {
        unsigned index = masu__bucket_packed_class_of(bucket, (i + 1) * MASU_PACKED_GRAIN);
        __atomic_store_n(&masu_packed_at[i], (1 + index) * sizeof(masu_magazine), __ATOMIC_RELAXED);
    }
}

/* Before any thread can have magazines, their classes must be those of the heap. A thread that finds the heap
 * claimed but not ready does this too, for the thread that claimed it may not have come along
 * through a fork; twice is as good as once. */
static void heap_publish(masu_heap *heap) {
    if (heap->caches)
        classes_publish(heap->caches->bucket);
    masu__lock_in_child(caches_after_fork);
    atomic_store_explicit(&masu__process_heap, heap, memory_order_release);
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

masu_status masu__process_heap_make(masu_heap **out) {
    if (masu__inside)
        return MASU_ERR_UNSUPPORTED;
    masu__go_in();
    masu_status status = heap_install(NULL, out);
    masu__come_out();
    return status;
}

masu_status masu_configure(const masu_heap_config *config) {
    masu_heap *heap;
    if (!config)
        return MASU_ERR_INVALID_ARGUMENT;
    if (atomic_load(&masu__process_heap))
        return MASU_ERR_UNSUPPORTED;
    return heap_install(config, &heap);
}

static masu__cache *cache_make(masu_heap *heap) {
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

/* The calling thread's cache, made at its first call. NULL: do without. */
static masu__cache *cache_get(masu_heap *heap) {
    if (MASU_LIKELY(owner != NULL))
        return owner == (const void *)&ended ? NULL : owner;
    if (!key_works)
        return NULL;
    masu__go_in();
    masu__cache *cache = cache_make(heap);
    masu__come_out();
    return cache;
}

static masu__cache *cache_if_any(void) {
    return owner == NULL || owner == (const void *)&ended ? NULL : owner;
}

void masu_thread_flush(void) {
    masu_heap *heap = atomic_load(&masu__process_heap);
    masu__cache *cache = cache_if_any();
    if (!heap || !cache || masu__inside)
        return;
    masu__cache_flush_own(heap, cache);
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
    bool packed;  /* bytes <= MASU_PACKED_BYTES, at a multiple of 16 alone */
    size_t *used; /* NULL, or how much of it may have been used before; unchanged: all of it */
    void **out;
} take;

/* A small request is served by the class of its size rounded up to an alignment above 64: that one is aligned so.
 * 0 when there is none. */
static size_t small_rounded(size_t bytes, size_t alignment) {
    size_t rounded = bytes;
    if (alignment > MASU_BUCKET_MIN_BYTES && !masu__align_up(bytes, alignment, &rounded))
        return 0;
    return masu__bucket_has_class(rounded) ? rounded : 0;
}

static masu_status take_once(masu_heap *heap, void *context) {
    const take *t = context;
    const masu_bucket *bucket = heap->caches->bucket;
    masu__cache *cache = cache_get(heap);
    size_t rounded = small_rounded(t->bytes, t->alignment);
    if (t->packed)
        return masu__cache_refill(heap, cache, t->bytes, masu__bucket_packed_class_of(bucket, t->bytes), t->out);
    if (rounded > 0)
        return masu__cache_refill(heap, cache, t->bytes, masu__bucket_class_of(bucket, rounded), t->out);
    return masu__cache_take_large(heap, cache, t->bytes, t->alignment, t->used, t->out);
}

static __attribute__((noinline)) masu_status take_from_heap(masu_heap *heap, take *t) {
    *t->out = NULL;
    if (masu__inside)
        return MASU_ERR_UNSUPPORTED;
    if (t->alignment != 0 && !masu__is_power_of_two(t->alignment))
        return MASU_ERR_INVALID_ARGUMENT;
    if (t->bytes > PTRDIFF_MAX)
        return MASU_ERR_OVERFLOW; /* no trim could help */
    masu_status status = take_once(heap, t);
    if (MASU_LIKELY(status == MASU_OK))
        return MASU_OK;
    recall(heap); /* the other threads give theirs when they can */
    return masu__heap_rescue(heap, status, t->bytes, take_once, t);
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

/* The same for a large class. */
static __attribute__((noinline)) void *take_from_large(size_t bytes) {
    masu__large_cache *large = masu__thread_large();
    if (MASU_UNLIKELY(masu__inside))
        return NULL;
    masu__go_in_first();
    void *block = masu__large_take(large, masu__large_class_of(bytes));
    if (block)
        __atomic_store_n(&large->hits, large->hits + 1, __ATOMIC_RELAXED);
    masu__come_out_last();
    return block;
}

/* The way back; false: there is no room, or the thread is inside. */
static __attribute__((noinline)) bool give_to_large(void *ptr, unsigned index) {
    if (MASU_UNLIKELY(masu__inside))
        return false;
    masu__go_in_first();
    bool kept = masu__large_keep(masu__thread_large(), index, ptr);
    masu__come_out_last();
    return kept;
}

/* The same two by the place of the class alone. What handlers freed meanwhile is left to the caller, who looks for it
 * in tail position (after_handlers, freed_after_handlers) and so needs no frame, or goes on to the paths above. */
static inline void *take_from_one(size_t bytes) {
    masu__large_cache *large = masu__thread_large();
    if (MASU_UNLIKELY(masu__inside))
        return NULL;
    masu__go_in_first();
    void *block = masu__large_take_one(large, masu__large_class_of(bytes));
    if (MASU_LIKELY(block != NULL))
        __atomic_store_n(&large->hits, large->hits + 1, __ATOMIC_RELAXED);
    masu__leave();
    return block;
}

static inline bool give_to_one(void *ptr, unsigned index) {
    if (MASU_UNLIKELY(index >= MASU__LARGE_ONES) || MASU_UNLIKELY(masu__inside))
        return false;
    masu__go_in_first();
    bool kept = masu__large_keep_one(masu__thread_large(), index, ptr);
    masu__leave();
    return kept;
}

static __attribute__((noinline, cold)) void *after_handlers(void *block) {
    masu__free_what_was_freed_inside();
    return block;
}

static __attribute__((noinline, cold)) masu_status freed_after_handlers(void) {
    masu__free_what_was_freed_inside();
    return MASU_OK;
}

/* used: as in struct take. */
static masu_status alloc_aligned(size_t bytes, size_t alignment, size_t *used, void **out) {
    masu_heap *heap;
    *out = NULL;
    masu_status status = masu__inside ? MASU_ERR_UNSUPPORTED : masu__process_heap_get(&heap);
    if (status != MASU_OK)
        return status;
    if (!heap->caches)
        return masu_heap_alloc(heap, bytes, alignment, out);
    if (alignment != 0 && !masu__is_power_of_two(alignment))
        return MASU_ERR_INVALID_ARGUMENT;
    if (bytes == 0)
        return MASU_OK;
    size_t rounded = small_rounded(bytes, alignment);
    if (rounded > 0)
        *out = take_from_magazine(rounded);
    else if (masu__large_has_class(bytes) && alignment <= MASU__PAGE_BYTES)
        *out = take_from_large(bytes);
    if (*out)
        return MASU_OK;
    return take_from_heap(heap, &(take){.bytes = bytes, .alignment = alignment, .used = used, .out = out});
}

masu_status masu_alloc_aligned(size_t bytes, size_t alignment, void **out) {
    return out ? alloc_aligned(bytes, alignment, NULL, out) : MASU_ERR_INVALID_ARGUMENT;
}

static __attribute__((noinline)) void *alloc_slower(size_t bytes, bool packed) {
    masu_heap *heap;
    void *out;
    if (bytes == 0 || masu__inside || masu__process_heap_get(&heap) != MASU_OK)
        return NULL;
    if (!heap->caches)
        return masu_heap_alloc(heap, bytes, 0, &out) == MASU_OK ? out : NULL;
    return take_from_heap(heap, &(take){.bytes = bytes, .packed = packed, .out = &out}) == MASU_OK ? out : NULL;
}

static __attribute__((noinline)) void *alloc_slow(size_t bytes) {
    void *block = masu__large_has_class(bytes) ? take_from_large(bytes) : NULL;
    return MASU_LIKELY(block != NULL) ? block : alloc_slower(bytes, false);
}

void *masu_alloc_slow(size_t bytes) {
    void *block = MASU_LIKELY(masu__large_has_one(bytes)) ? take_from_one(bytes) : NULL;
    if (MASU_UNLIKELY(block == NULL))
        return alloc_slow(bytes);
    return MASU_LIKELY(masu__freed_inside == NULL) ? block : after_handlers(block);
}

void *masu_alloc_packed_slow(size_t bytes) {
    return bytes <= MASU_PACKED_BYTES ? alloc_slower(bytes, true) : masu_alloc_slow(bytes);
}

/* Fresh pages are zero already, and writing to them would only make them cost memory. */
static masu_status alloc_zeroed(size_t bytes, size_t alignment, void **out) {
    size_t used = SIZE_MAX;
    masu_status status = alloc_aligned(bytes, alignment, &used, out);
    if (*out)
        memset(*out, 0, masu__min(used, bytes));
    return status;
}

void *masu_alloc_zeroed(size_t count, size_t bytes) {
    size_t total;
    void *block = NULL;
    if (!masu__mul(count, bytes, &total))
        return NULL;
    if (!masu__bucket_has_class(total))
        return alloc_zeroed(total, 0, &block) == MASU_OK ? block : NULL;
    block = masu_alloc(total);
    return block ? memset(block, 0, total) : NULL;
}

masu_status masu_alloc_zeroed_aligned(size_t count, size_t bytes, size_t alignment, void **out) {
    size_t total;
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    return masu__mul(count, bytes, &total) ? alloc_zeroed(total, alignment, out) : MASU_ERR_OVERFLOW;
}

/* ---- freeing --------------------------------------------------------------------------------- */

_Thread_local int masu__inside INITIAL_EXEC;

bool masu_inside(void) {
    return masu__inside != 0;
}

_Thread_local void *masu__freed_inside INITIAL_EXEC;

void masu__free_what_was_freed_inside(void) {
    void *block = __atomic_exchange_n(&masu__freed_inside, NULL, __ATOMIC_RELAXED);
    while (block) {
        void *next = *(void **)block;
        (void)masu_free_unsized(block);
        block = next;
    }
}

/* By a signal handler: it is taken as soon as what the handler interrupted is done. Nothing can be looked up now: what
 * the page does not show is refused. */
static masu_status free_after(void *ptr, bool sized, size_t bytes) {
    uint32_t code = masu_page_code(ptr);
    const masu_heap *heap = atomic_load(&masu__process_heap);
    size_t known = 0;
    if (!heap || !heap->caches)
        return MASU_ERR_UNSUPPORTED;
    if (code - 1 < MASU_BUCKET_MOST_CLASSES)
        known = masu__bucket_block_bytes(heap->caches->bucket, code - 1);
    else if (masu__large_begins(ptr, code))
        known = masu__large_class_bytes(masu__large_index(code));
    if (known == 0)
        return MASU_ERR_UNSUPPORTED;
    if (known <= MASU_BUCKET_MAX_BYTES && (uintptr_t)ptr % MASU__SLAB_BYTES % known != 0)
        return MASU_ERR_INTERIOR_POINTER;
    if (sized && (bytes == 0 || bytes > known))
        return MASU_ERR_SIZE_MISMATCH;
    if (masu__freed_inside == ptr)
        return MASU_ERR_DOUBLE_FREE;
    *(void **)ptr = masu__freed_inside;
    masu__freed_inside = ptr;
    return MASU_OK;
}

static masu_status free_in_heap(void *ptr, bool sized, size_t bytes) {
    masu_heap *heap;
    masu_status status = masu__process_heap_get(&heap);
    if (status != MASU_OK)
        return status;
    if (!heap->caches)
        return sized ? masu_heap_free(heap, ptr, bytes) : masu_heap_free_unsized(heap, ptr);
    return masu__cache_give(heap, cache_get(heap), ptr, sized, bytes);
}

static __attribute__((noinline)) masu_status free_slower(void *ptr, bool sized, size_t bytes) {
    if (!ptr)
        return MASU_OK;
    if (MASU_UNLIKELY(masu__inside))
        return free_after(ptr, sized, bytes);
    int error = errno; /* callers free on their way to look at it */
    masu_status status = free_in_heap(ptr, sized, bytes);
    errno = error;
    return status;
}

static inline bool is_packed(uint32_t code) {
    return code - 1 - MASU_BUCKET_FINE_CLASSES < MASU_BUCKET_MOST_CLASSES - MASU_BUCKET_FINE_CLASSES;
}

/* is_packed(code): 16, 32, 48, 80, 96, 112, 160, 224 */
static inline size_t packed_bytes(uint32_t code) {
    static const uint8_t bytes[] = {16, 32, 48, 80, 96, 112, 160, 224};
    return bytes[code - 1 - MASU_BUCKET_FINE_CLASSES];
}

static inline bool is_large(const void *ptr, uint32_t code, size_t bytes) {
    return masu__large_begins(ptr, code) && bytes - 1 < masu__large_class_bytes(masu__large_index(code));
}

static __attribute__((noinline)) masu_status free_slow(void *ptr, size_t bytes) {
    uint32_t code = masu_page_code(ptr);
    if (MASU_LIKELY(is_large(ptr, code, bytes)) && give_to_large(ptr, masu__large_index(code)))
        return MASU_OK;
    if (is_packed(code) && bytes - 1 < packed_bytes(code))
        return masu_free_unsized(ptr);
    return free_slower(ptr, true, bytes);
}

masu_status masu_free_slow(void *ptr, size_t bytes) {
    uint32_t code = masu_page_code(ptr);
    if (MASU_UNLIKELY(!is_large(ptr, code, bytes)) || MASU_UNLIKELY(!give_to_one(ptr, masu__large_index(code))))
        return free_slow(ptr, bytes);
    return MASU_LIKELY(masu__freed_inside == NULL) ? MASU_OK : freed_after_handlers();
}

static __attribute__((noinline)) masu_status free_unsized_slow(void *ptr) {
    uint32_t code = masu_page_code(ptr);
    if (MASU_LIKELY(masu__large_begins(ptr, code)) && give_to_large(ptr, masu__large_index(code)))
        return MASU_OK;
    return free_slower(ptr, false, 0);
}

masu_status masu_free_unsized_slow(void *ptr) {
    uint32_t code = masu_page_code(ptr);
    if (MASU_UNLIKELY(!masu__large_begins(ptr, code)) || MASU_UNLIKELY(!give_to_one(ptr, masu__large_index(code))))
        return free_unsized_slow(ptr);
    return MASU_LIKELY(masu__freed_inside == NULL) ? MASU_OK : freed_after_handlers();
}

masu_status masu_free_aligned(void *ptr, size_t bytes, size_t alignment) {
    if (alignment != 0 && (!masu__is_power_of_two(alignment) || !masu__is_aligned((uintptr_t)ptr, alignment)))
        return MASU_ERR_INVALID_ARGUMENT;
    size_t rounded = small_rounded(bytes, alignment);
    masu_heap *heap = atomic_load_explicit(&masu__process_heap, memory_order_acquire);
    bool plain = heap && heap->caches && !heap->caches->checked;
    masu_status status = masu_free(ptr, plain && rounded ? rounded : bytes);
    /* one that was aligned where it lay when masu_realloc_aligned asked for it is of the class of its size alone */
    return plain && status == MASU_ERR_SIZE_MISMATCH && rounded > bytes ? masu_free(ptr, bytes) : status;
}

/* ---- the pool as a whole --------------------------------------------------------------------- */

masu_status masu_trim(size_t keep_bytes) {
    masu_heap *heap = atomic_load(&masu__process_heap);
    if (!heap)
        return MASU_OK;
    if (masu__inside)
        return MASU_ERR_UNSUPPORTED;
    if (heap->caches)
        recall(heap);
    return masu_heap_trim(heap, keep_bytes);
}

masu_status masu_set_checked(bool on) {
    masu_heap *heap;
    if (masu__inside)
        return MASU_ERR_UNSUPPORTED;
    masu_status status = masu__process_heap_get(&heap);
    if (status != MASU_OK)
        return status;
    if (heap->caches)
        return masu__caches_set_checked(heap, cache_if_any(), on);
    return masu_heap_set_checked(heap, on);
}

void masu_reset_peaks(void) {
    if (!masu__inside)
        masu_heap_reset_peaks(atomic_load(&masu__process_heap));
}

void masu_get_stats(masu_heap_stats *out) {
    masu_heap *heap = atomic_load(&masu__process_heap);
    *out = (masu_heap_stats){0};
    if (!heap || masu__inside)
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
    masu_heap *heap = atomic_load(&masu__process_heap);
    if (!heap || masu__inside)
        return true; /* a handler cannot know */
    if (!heap->caches)
        return masu_heap_valid(heap);
    masu__heap_lock(heap);
    bool valid = masu__heap_pools_valid(heap) && masu__caches_valid(heap);
    masu__heap_unlock(heap);
    return valid;
}
