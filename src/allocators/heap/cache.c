/* cache.c: batches between the magazines of a thread and the shared lists. */
#include "allocators/heap/cache.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

static void *nothing[1]; /* NULL: neither a block to take nor room for one */

#define EMPTY \
    { nothing + 1, nothing + 1, 0, 0 }
masu__cache_front masu__no_cache = {
    .magazines = {.by_kind = {[0 ... MASU_BUCKET_MOST_CLASSES] = EMPTY}},
};

static void magazine_set_top(masu__cache *cache, unsigned index, void **top) {
    __atomic_store_n(&masu__cache_magazine(cache, index)->top, top, __ATOMIC_RELAXED);
}

static void magazine_note_full(masu__cache *cache, unsigned index) {
    masu_magazine *magazine = masu__cache_magazine(cache, index);
    magazine->frees_only = cache->allocations_then[index] == magazine->allocations;
    cache->allocations_then[index] = magazine->allocations;
}

static void magazine_count(masu__cache *cache, unsigned index) {
    uint64_t *count = &masu__cache_magazine(cache, index)->allocations;
    __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

/* ---- capacity -------------------------------------------------------------------------------- */

/* The lists may keep all that neither magazines nor transfers have claimed. */
static void caches_move_cap(masu_heap *heap) {
    const masu__caches *caches = heap->caches;
    masu__bucket_set_cap(heap->caches->bucket,
                         caches->max_cached_bytes - caches->granted_bytes - caches->transfer_bytes);
}

static void transfers_flush(masu_heap *heap) {
    masu__caches *caches = heap->caches;
    for (unsigned i = 0; i < heap->caches->bucket->class_count; i++) {
        masu__transfer *t = &caches->transfer[i];
        size_t count = t->count;
        t->count = 0;
        caches->transfer_bytes -= count * masu__cache_class_bytes(heap, i);
        if (count > 0)
            masu__bucket_take_home(heap->caches->bucket, i, t->slots, count);
    }
    caches_move_cap(heap);
}

/* And the slots that they lay in. */
static void transfers_close(masu_heap *heap) {
    transfers_flush(heap);
    for (unsigned i = 0; i < heap->caches->bucket->class_count; i++) {
        masu__transfer *t = &heap->caches->transfer[i];
        masu__meta_free(t->slots, t->room * sizeof *t->slots);
        *t = (masu__transfer){0};
    }
}

void masu__caches_fit_threads(masu_heap *heap) {
    masu__caches *caches = heap->caches;
    size_t wanted = caches->configured_max_bytes;
    if (caches->bytes_a_thread > 0 && caches->count > wanted / caches->bytes_a_thread)
        wanted = caches->count * caches->bytes_a_thread;
    wanted = masu__max(wanted, 2 * caches->granted_bytes);
    if (caches->granted_bytes + caches->transfer_bytes > wanted)
        transfers_flush(heap);
    caches->max_cached_bytes = wanted;
    caches_move_cap(heap);
}

/* Slots. Many classes share the cap: the large ones of a fine pool get fewer. */
static uint32_t slots_most(const masu_heap *heap, unsigned index) {
    size_t slots = masu__cache_class_bytes(heap, index) <= MASU__MAGAZINE_SMALL_BYTES ? MASU__MAGAZINE_SMALL_SLOTS
                                                                                      : MASU__MAGAZINE_SLOTS;
    if (heap->caches->bucket->class_count == MASU_BUCKET_CLASSES)
        return (uint32_t)slots;
    return (uint32_t)masu__min(slots, MASU__FINE_MAGAZINE_BYTES / masu__cache_class_bytes(heap, index));
}

/* Other slots, with the same blocks. False without memory: nothing has changed. */
static bool magazine_move(masu__cache *cache, unsigned index, uint32_t capacity) {
    size_t fill = masu__magazine_fill(cache, index);
    uint32_t before = cache->capacity[index];
    void **slots = masu__slots_take(&cache->room, 1 + capacity);
    if (!slots)
        return false;
    slots[0] = NULL;
    if (before > 0)
        memcpy(slots + 1, masu__magazine_bottom(cache, index), fill * sizeof *slots);
    masu__slots_give(&cache->room, cache->slots[index], 1 + before);
    cache->slots[index] = slots;
    cache->capacity[index] = capacity;
    magazine_set_top(cache, index, slots + 1 + fill);
    masu__cache_magazine(cache, index)->end = slots + 1 + capacity;
    return true;
}

/* Twice as many slots, as far as the cap leaves room for them. False: nothing has changed. */
static bool magazine_grow(masu__cache *cache, unsigned index) {
    masu_heap *heap = cache->heap;
    masu__caches *caches = heap->caches;
    uint32_t now = cache->capacity[index];
    uint32_t first = masu__cache_class_bytes(heap, index) <= MASU_BUCKET_SMALL_BYTES ? 16 : 8;
    uint32_t capacity = (uint32_t)masu__min(now ? 2 * (now + 1) : first, slots_most(heap, index)) - 1;
    size_t bytes = (capacity - now) * masu__cache_class_bytes(heap, index);
    if (capacity <= now || caches->granted_bytes + bytes > caches->max_cached_bytes / 2 ||
        !magazine_move(cache, index, capacity))
        return false;
    if (caches->granted_bytes + caches->transfer_bytes + bytes > caches->max_cached_bytes)
        transfers_flush(heap);
    caches->granted_bytes += bytes;
    caches_move_cap(heap);
    return true;
}

/* ---- batches --------------------------------------------------------------------------------- */

size_t masu__transfer_most(size_t block_bytes) {
    return block_bytes < MASU__TRANSFER_WIDE_BYTES ? MASU__TRANSFER_SLOTS : MASU__TRANSFER_WIDE_SLOTS;
}

/* Slots for so many blocks more, as far as there is memory for them: many classes have few blocks on their way, and
 * their slots share pages. */
static void transfer_widen(masu__transfer *t, size_t more, size_t most) {
    size_t room = t->room ? t->room : MASU__TRANSFER_FIRST_SLOTS;
    while (room - t->count < more && room < most)
        room *= 2;
    if (room == t->room)
        return;
    void **slots = masu__meta_realloc(t->slots, t->room * sizeof *slots, room * sizeof *slots);
    if (!slots)
        return;
    t->slots = slots;
    t->room = room;
}

/* How many of count blocks the transfer may take. */
static size_t transfer_room(masu_heap *heap, unsigned index, size_t count) {
    masu__caches *caches = heap->caches;
    masu__transfer *t = &caches->transfer[index];
    size_t bytes = caches->max_cached_bytes - caches->granted_bytes - caches->transfer_bytes;
    size_t block_bytes = masu__cache_class_bytes(heap, index);
    count = masu__min(count, bytes / block_bytes);
    if (count > t->room - t->count)
        transfer_widen(t, count, masu__transfer_most(block_bytes));
    return masu__min(count, t->room - t->count);
}

static void give_batch(masu_heap *heap, unsigned index, void *const *blocks, size_t count) {
    masu__caches *caches = heap->caches;
    masu__transfer *t = &caches->transfer[index];
    size_t kept = caches->checked ? 0 : transfer_room(heap, index, count);
    if (kept > 0) {
        memcpy(t->slots + t->count, blocks + (count - kept), kept * sizeof *blocks);
        t->count += kept;
        caches->transfer_bytes += kept * masu__cache_class_bytes(heap, index);
        caches_move_cap(heap);
    }
    if (kept < count)
        masu__bucket_take_home(heap->caches->bucket, index, blocks, count - kept);
}

/* The lists have none, and no room for a whole slab more while the transfers hold what they do. */
static bool transfers_in_the_way(const masu_heap *heap, unsigned index) {
    const masu_bucket *pool = heap->caches->bucket;
    return heap->caches->transfer_bytes > 0 && !masu__bucket_class_has_one(&pool->classes[index]) &&
           masu__bucket_cached(pool) + MASU__SLAB_BYTES > masu__bucket_cap(pool);
}

static size_t take_batch(masu_heap *heap, unsigned index, size_t count, void **blocks, masu_status *status) {
    masu__caches *caches = heap->caches;
    masu__transfer *t = &caches->transfer[index];
    *status = MASU_OK;
    if (t->count == 0) {
        if (transfers_in_the_way(heap, index))
            transfers_flush(heap);
        return masu__bucket_lend(heap->caches->bucket, index, count, blocks, status);
    }
    count = masu__min(count, t->count);
    t->count -= count;
    memcpy(blocks, t->slots + t->count, count * sizeof *blocks);
    caches->transfer_bytes -= count * masu__cache_class_bytes(heap, index);
    caches_move_cap(heap);
    return count;
}

/* The blocks that have lain in the magazine for longest. */
static void magazine_return(masu__cache *cache, unsigned index, size_t count) {
    void **bottom = masu__magazine_bottom(cache, index);
    size_t fill = masu__magazine_fill(cache, index);
    if (count == 0)
        return;
    give_batch(cache->heap, index, bottom, count);
    memmove(bottom, bottom + count, (fill - count) * sizeof *bottom);
    magazine_set_top(cache, index, bottom + fill - count);
    cache->heap->caches->flushes++;
}

static void magazines_return(masu__cache *cache) {
    for (unsigned i = 0; i < cache->heap->caches->bucket->class_count; i++)
        if (cache->capacity[i] > 0)
            magazine_return(cache, i, masu__magazine_fill(cache, i));
}

void masu__cache_flush(masu__cache *cache) {
    magazines_return(cache);
    masu__large_return_all(cache);
}

void masu__cache_sweep(masu__cache *cache) {
    masu_heap *heap = cache->heap;
    masu__caches *caches = heap->caches;
    uint64_t cached = masu__bucket_cached(heap->caches->bucket) + caches->transfer_bytes;
    caches->sweep_at = masu__min(caches->sweep_at, cached + MASU__SWEEP_STEP_BYTES);
    if (cached < masu__max(caches->sweep_at, MASU__SWEEP_STEP_BYTES) || !masu__bucket_is_loose(heap->caches->bucket))
        return;
    for (unsigned i = 0; i < heap->caches->bucket->class_count; i++)
        if (cache->capacity[i] > 0 && masu__cache_class_bytes(heap, i) > MASU__PAGE_BYTES)
            magazine_return(cache, i, masu__magazine_fill(cache, i));
    transfers_flush(heap);
    masu__bucket_give_back_slabs(heap->caches->bucket, 0);
    cached = masu__bucket_cached(heap->caches->bucket);
    caches->sweep_at = cached + masu__max(cached / 4, MASU__SWEEP_STEP_BYTES);
}

static void cache_show(masu__cache *cache, masu__cache_front *front) {
    __atomic_store_n(cache->shown, &front->magazines, __ATOMIC_RELAXED);
}

static bool thread_is_gone(const masu__cache *cache) {
    return tgkill(getpid(), cache->thread, 0) != 0 && errno == ESRCH;
}

void masu__caches_recall(masu_heap *heap) {
    heap->caches->epoch++;
    for (masu__cache *cache = heap->caches->first, *next; cache; cache = next) {
        next = cache->next;
        if (thread_is_gone(cache))
            masu__cache_close(cache, false);
        else
            cache_show(cache, &masu__no_cache);
    }
    transfers_close(heap);
}

/* Does what was asked of this thread since it was here last. Under the lock, by the thread. */
static void cache_obey(masu__cache *cache) {
    masu__caches *caches = cache->heap->caches;
    if (MASU_LIKELY(cache->epoch == caches->epoch))
        return;
    cache->epoch = caches->epoch;
    masu__cache_flush(cache);
    cache->front.large.most = caches->large_most;
    if (!caches->checked)
        cache_show(cache, &cache->front);
}

/* While the thread works on its cache under the lock, a signal handler of it finds nothing to work on. */
static void cache_enter(masu_heap *heap, masu__cache *cache) {
    masu__heap_lock(heap);
    if (!cache)
        return;
    cache_obey(cache);
    cache_show(cache, &masu__no_cache);
}

static void cache_leave(masu_heap *heap, masu__cache *cache) {
    masu__idle_note(heap);
    if (cache && cache->epoch == heap->caches->epoch && !heap->caches->checked)
        cache_show(cache, &cache->front);
    masu__heap_unlock(heap);
}

void masu__cache_flush_own(masu_heap *heap, masu__cache *cache) {
    cache_enter(heap, cache);
    masu__cache_flush(cache);
    cache_leave(heap, cache);
}

masu_status masu__caches_set_checked(masu_heap *heap, masu__cache *own, bool on) {
    masu__caches *caches = heap->caches;
    masu__heap_lock(heap);
    if (on && !caches->checked) {
        masu__caches_recall(heap);
        if (own)
            masu__cache_flush(own);
        transfers_flush(heap);
    }
    masu_status status = masu__bucket_set_checked(heap->caches->bucket, on);
    if (status == MASU_OK && caches->checked != on) {
        caches->checked = on;
        caches->epoch++; /* magazines are taken up again, or stay away */
    }
    masu__heap_unlock(heap);
    return status;
}

/* ---- birth and death ------------------------------------------------------------------------- */

bool masu__caches_open(masu_heap *heap) {
    heap->caches = masu__meta_calloc(1, sizeof *heap->caches);
    if (!heap->caches)
        return false;
    heap->caches->bucket = masu__heap_find(heap, &masu__pool_bucket);
    heap->caches->bestfit = masu__heap_find(heap, &masu__pool_bestfit);
    heap->caches->max_cached_bytes = heap->caches->configured_max_bytes = heap->caches->bucket_most_bytes =
        heap->caches->bucket->max_cached_bytes;
    heap->caches->bytes_a_thread = heap->caches->configured_a_thread = heap->cached_bytes_a_thread;
    heap->caches->large_most = MASU__LARGE_KEPT_BYTES;
    return true;
}

void masu__caches_close(masu_heap *heap) {
    if (!heap->caches)
        return;
    while (heap->caches->first)
        masu__cache_close(heap->caches->first, true);
    for (unsigned i = 0; i < heap->caches->bucket->class_count; i++)
        masu__meta_free(heap->caches->transfer[i].slots, heap->caches->transfer[i].room * sizeof(void *));
    masu__meta_free(heap->caches, sizeof *heap->caches);
    heap->caches = NULL;
}

enum { LINE = 64 };

/* No magazine has slots yet. */
static void magazines_open(masu__cache *cache) {
    for (unsigned i = 0; i < MASU_BUCKET_MOST_CLASSES; i++)
        *masu__cache_magazine(cache, i) = (masu_magazine){nothing + 1, nothing + 1, 0, 0};
}

/* On lines of its own: no other thread writes beside it. */
static masu__cache *cache_new(masu_heap *heap, masu_magazines **shown) {
    void *memory = masu__meta_alloc(MASU__CACHE_BYTES);
    if (!memory)
        return NULL;
    masu__cache *cache = (masu__cache *)masu__align_up_small((uintptr_t)memory, LINE);
    memset(cache, 0, sizeof *cache);
    cache->memory = memory;
    cache->heap = heap;
    cache->shown = shown;
    cache->thread = gettid();
    magazines_open(cache);
    cache->front.magazines.by_kind[0] = (masu_magazine){nothing + 1, nothing + 1, 0, 0};
    return cache;
}

masu__cache *masu__cache_open(masu_heap *heap, masu_magazines **shown) {
    masu__cache *cache = cache_new(heap, shown);
    if (!cache)
        return NULL;
    masu__heap_lock(heap);
    masu__caches *caches = heap->caches;
    masu__large_open(&cache->front.large, caches->large_most);
    cache->epoch = caches->epoch;
    cache->next = caches->first;
    if (cache->next)
        cache->next->before = cache;
    caches->first = cache;
    caches->count++;
    masu__caches_fit_threads(heap);
    if (!caches->checked)
        cache_show(cache, &cache->front);
    masu__heap_unlock(heap);
    return cache;
}

void masu__cache_renew(masu__cache *cache) {
    cache->thread = gettid();
}

void masu__cache_close(masu__cache *cache, bool thread_lives) {
    masu_heap *heap = cache->heap;
    masu__caches *caches = heap->caches;
    if (thread_lives)
        cache_show(cache, &masu__no_cache);
    magazines_return(cache);
    thread_lives ? masu__large_return_all(cache) : masu__large_return_dead(cache);
    for (unsigned i = 0; i < heap->caches->bucket->class_count; i++) {
        caches->granted_bytes -= cache->capacity[i] * masu__cache_class_bytes(heap, i);
        caches->retired_allocations += masu__cache_magazine(cache, i)->allocations;
    }
    caches->retired_large_hits += cache->front.large.hits;
    masu__slots_close(&cache->room);
    caches_move_cap(heap);
    *(cache->before ? &cache->before->next : &caches->first) = cache->next;
    if (cache->next)
        cache->next->before = cache->before;
    caches->count--;
    masu__caches_fit_threads(heap);
    masu__meta_free(cache->memory, MASU__CACHE_BYTES);
}

/* ---- small blocks ---------------------------------------------------------------------------- */

/* Straight from the lists. */
static masu_status take_single(masu_heap *heap, size_t bytes, unsigned index, void **out) {
    masu_status status;
    if (heap->caches->checked)
        status = masu__bucket_lend_known(heap->caches->bucket, index, bytes, out);
    else
        (void)take_batch(heap, index, 1, out, &status);
    heap->caches->retired_allocations += status == MASU_OK;
    return status;
}

static masu_status refill_under_lock(masu_heap *heap, masu__cache *cache, size_t bytes, unsigned index, void **out) {
    masu_status status = MASU_OK;
    if (!cache || heap->caches->checked)
        return take_single(heap, bytes, index, out);
    size_t fill = masu__magazine_fill(cache, index);
    if (fill == 0) { /* otherwise a rescue has put blocks there */
        if (cache->capacity[index] == 0 || masu__cache_class_bytes(heap, index) < MASU__PAGE_BYTES)
            (void)magazine_grow(cache, index);
        if (cache->capacity[index] == 0)
            return take_single(heap, bytes, index, out);
        if (heap->caches->transfer[index].count == 0 &&
            !masu__bucket_class_has_one(&heap->caches->bucket->classes[index]))
            masu__large_before_new_pages(cache, MASU__GROUND_SLABS, MASU__SLAB_BYTES, MASU__SLAB_BYTES);
        fill = take_batch(heap, index, cache->capacity[index] / 2, masu__magazine_bottom(cache, index), &status);
        heap->caches->refills += fill > 0;
    }
    if (fill == 0)
        return status;
    void **top = masu__magazine_bottom(cache, index) + fill;
    *out = top[-1];
    magazine_set_top(cache, index, top - 1);
    magazine_count(cache, index);
    masu__cache_magazine(cache, index)->frees_only = 0;
    return MASU_OK;
}

masu_status masu__cache_refill(masu_heap *heap, masu__cache *cache, size_t bytes, unsigned index, void **out) {
    cache_enter(heap, cache);
    masu_status status = refill_under_lock(heap, cache, bytes, index, out);
    cache_leave(heap, cache);
    return status;
}

static masu_status overflow_under_lock(masu_heap *heap, masu__cache *cache, void *ptr, unsigned index) {
    if (!cache || (cache->capacity[index] == 0 && !magazine_grow(cache, index))) {
        give_batch(heap, index, &ptr, 1);
        return MASU_OK;
    }
    size_t fill = masu__magazine_fill(cache, index);
    if (fill > 0 && masu__magazine_bottom(cache, index)[fill - 1] == ptr)
        return MASU_ERR_DOUBLE_FREE;
    if (fill == cache->capacity[index]) {
        magazine_note_full(cache, index);
        if (!magazine_grow(cache, index))
            magazine_return(cache, index, (cache->capacity[index] + 1) / 2);
    }
    void **top = masu__magazine_bottom(cache, index) + masu__magazine_fill(cache, index);
    *top = ptr;
    magazine_set_top(cache, index, top + 1);
    return MASU_OK;
}

static masu_status give_small(masu_heap *heap, masu__cache *cache, const masu__slab *slab, void *ptr, bool sized,
                              size_t bytes) {
    size_t block_bytes = masu__slab_block_bytes(heap->caches->bucket, slab);
    if (heap->caches->checked)
        return masu__bucket_take_home_known(heap->caches->bucket, ptr, sized, bytes);
    if (((uintptr_t)ptr - slab->base) % block_bytes != 0)
        return MASU_ERR_INTERIOR_POINTER;
    if (sized && (bytes == 0 || bytes > block_bytes))
        return MASU_ERR_SIZE_MISMATCH;
    return overflow_under_lock(heap, cache, ptr, slab->class_index);
}

/* A block that was allocated without checks may hold more than was asked for, and may have shrunk. */
static bool large_size_is_right(const masu_heap *heap, const void *ptr, size_t known, size_t bytes) {
    if (heap->caches->checked && masu__page_kind(masu_page_code(ptr)) == MASU__KIND_JUDGED)
        return masu__align_up_small(bytes, MASU_BUCKET_MIN_BYTES) == known;
    return bytes > 0 && bytes <= known;
}

static masu_status give_any(masu_heap *heap, masu__cache *cache, void *ptr, bool sized, size_t bytes) {
    const masu__slab *slab = masu__bucket_slab_of(heap->caches->bucket, (uintptr_t)ptr);
    size_t known;
    if (slab)
        return give_small(heap, cache, slab, ptr, sized, bytes);
    masu_status status = masu__large_known(heap, ptr, &known);
    if (status != MASU_OK)
        return status;
    if (sized && !large_size_is_right(heap, ptr, known, bytes))
        return MASU_ERR_SIZE_MISMATCH;
    return masu__large_give(heap, heap->caches->checked ? NULL : cache, ptr, known);
}

masu_status masu__cache_give(masu_heap *heap, masu__cache *cache, void *ptr, bool sized, size_t bytes) {
    cache_enter(heap, cache);
    masu_status status = give_any(heap, cache, ptr, sized, bytes);
    cache_leave(heap, cache);
    return status;
}

/* ---- large blocks ---------------------------------------------------------------------------- */

static masu_status take_page_aligned(masu_heap *heap, masu__cache *cache, size_t bytes, size_t alignment, uint32_t kind,
                                     void **out) {
    alignment = masu__max(alignment, MASU__PAGE_BYTES);
    masu_status status = cache && masu__large_cut(cache, bytes, alignment, out)
                             ? MASU_OK
                             : masu__bucket_alloc(heap->caches->bucket, bytes, alignment, out);
    if (status == MASU_OK)
        masu__page_code_set(*out, masu__page_code_of(MASU__TAG_PROCESS, kind));
    return status;
}

/* A request rounded up to a class must not fail where its exact size would be granted. */
static masu_status take_large(masu_heap *heap, masu__cache *cache, size_t bytes, size_t alignment, void **out) {
    size_t exact;
    if (!masu__align_up(bytes, MASU_BUCKET_MIN_BYTES, &exact))
        return MASU_ERR_OVERFLOW;
    if (heap->caches->checked)
        return take_page_aligned(heap, cache, exact, alignment, MASU__KIND_JUDGED, out);
    if (!masu__large_has_class(bytes))
        return take_page_aligned(heap, cache, exact, alignment, MASU__KIND_EXACT, out);
    unsigned index = masu__large_class_of(bytes);
    masu_status status = take_page_aligned(heap, cache, masu__large_class_bytes(index), alignment,
                                           MASU__KIND_LARGE + index, out);
    if (status == MASU_OK || masu__large_class_bytes(index) == exact)
        return status;
    heap->caches->bucket->failures--; /* the same request once more */
    return take_page_aligned(heap, cache, exact, alignment, MASU__KIND_EXACT, out);
}

/* Giving pages back may leave the last one of them used up to its end. */
static size_t used_before(const masu_heap *heap, const void *block, size_t bytes) {
    const masu_bestfit *bestfit = heap->caches->bestfit;
    uintptr_t fresh = bestfit->fresh_from;
    if (!(bestfit->device->info.flags & MASU_DEVICE_ZEROED) || masu__bucket_has_class(bytes) ||
        fresh >= (uintptr_t)block + bytes)
        return bytes;
    fresh = masu__align_up_small(fresh, MASU__PAGE_BYTES);
    return fresh <= (uintptr_t)block ? 0 : masu__min(bytes, fresh - (uintptr_t)block);
}

masu_status masu__cache_take_large(masu_heap *heap, masu__cache *cache, size_t bytes, size_t alignment, size_t *used,
                                   void **out) {
    cache_enter(heap, cache);
    masu_status status = take_large(heap, cache, bytes, alignment, out);
    if (used && status == MASU_OK)
        *used = used_before(heap, *out, bytes);
    cache_leave(heap, cache);
    return status;
}
