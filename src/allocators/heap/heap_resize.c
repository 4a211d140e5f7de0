/* heap_resize.c: blocks of a heap that change their size, and blocks of zero. */
#include "allocators/bestfit/move.h"
#include "allocators/heap/guard.h"
#include "allocators/heap/heap_pool.h"
#include "base/assert.h"

/* A guarded block has red zones at both ends: it stays as it is. */
static masu_status resize_guarded(masu_heap *heap, void *ptr, size_t old_bytes, size_t new_bytes) {
    size_t known;
    masu_status status = masu__guard_size_of(heap, ptr, &known);
    if (status != MASU_OK)
        return status;
    if (known != old_bytes)
        return MASU_ERR_SIZE_MISMATCH;
    return new_bytes == old_bytes ? MASU_OK : MASU_ERR_OUT_OF_MEMORY;
}

static masu_status resize(masu_heap *heap, void *ptr, size_t old_bytes, size_t new_bytes) {
    if (heap->guard)
        return resize_guarded(heap, ptr, old_bytes, new_bytes);
    const masu__pool *pool = masu__heap_pool_for(heap, old_bytes);
    if (pool != masu__heap_pool_for(heap, new_bytes))
        return MASU_ERR_OUT_OF_MEMORY; /* another pool serves that */
    return pool->row->resize(pool->at, ptr, old_bytes, new_bytes);
}

masu_status masu_heap_resize(masu_heap *heap, void *ptr, size_t old_bytes, size_t new_bytes) {
    if (!heap || !ptr || new_bytes == 0)
        return MASU_ERR_INVALID_ARGUMENT;
    if (heap->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    if (old_bytes == 0)
        return MASU_ERR_SIZE_MISMATCH; /* no block was ever allocated with it */
    masu__heap_lock(heap);
    masu_status status = resize(heap, ptr, old_bytes, new_bytes);
    masu__heap_unlock(heap);
    return status;
}

static masu_status mover_resize(void *heap, void *ptr, size_t old_bytes, size_t new_bytes) {
    return masu_heap_resize(heap, ptr, old_bytes, new_bytes);
}

static masu_status mover_take(void *heap, size_t bytes, size_t alignment, size_t room, void **out) {
    return masu__heap_alloc_room(heap, bytes, alignment, room, out);
}

static masu_status mover_give(void *heap, void *ptr, size_t bytes) {
    return masu_heap_free(heap, ptr, bytes);
}

/* A block that changes its pool is copied. */
static masu_status mover_carry(void *context, void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment,
                               void **out) {
    masu_heap *heap = context;
    const masu__pool *pool = masu__heap_pool_for(heap, old_bytes);
    if (heap->guard || pool != masu__heap_pool_for(heap, new_bytes))
        return MASU_ERR_OUT_OF_MEMORY;
    masu__heap_lock(heap);
    masu_status status = pool->row->carry(pool->at, ptr, old_bytes, new_bytes, alignment, out);
    masu__heap_unlock(heap);
    return status;
}

static masu__mover mover_of(const masu_heap *heap) {
    return (masu__mover){mover_resize,  mover_take, mover_give, mover_carry, masu__heap_find(heap, &masu__pool_bestfit),
                         heap->writable};
}

static masu_status usable(const masu_heap *heap, void **out) {
    if (!heap || !out)
        return MASU_ERR_INVALID_ARGUMENT;
    return heap->magic == MASU__POOL_LIVE ? MASU_OK : MASU_ERR_STALE_POOL;
}

masu_status masu_heap_realloc(masu_heap *heap, void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment,
                              void **out) {
    if (out)
        *out = NULL;
    masu_status status = usable(heap, out);
    if (status != MASU_OK)
        return status;
    masu__mover mover = mover_of(heap);
    return masu__move(&mover, heap, ptr, old_bytes, new_bytes, alignment, out);
}

masu_status masu_heap_alloc_zeroed(masu_heap *heap, size_t count, size_t bytes, size_t alignment, void **out) {
    if (out)
        *out = NULL;
    masu_status status = usable(heap, out);
    if (status != MASU_OK)
        return status;
    masu__mover mover = mover_of(heap);
    return masu__take_zeroed(&mover, heap, count, bytes, alignment, out);
}
