/* bucket_resize.c: blocks that change their size. In a slab a block stays as long as its class does; above the classes
 * it grows into what is free behind it. */
#include "allocators/bucket/bucket_pool.h"

#include "allocators/bestfit/move.h"
#include "base/size.h"

static void count_change(masu_bucket *pool, size_t old_bytes, size_t new_bytes) {
    pool->live_bytes += new_bytes - old_bytes;
    if (pool->live_bytes > pool->peak_live_bytes)
        pool->peak_live_bytes = pool->live_bytes;
}

masu_status masu__bucket_resize_bypass(masu_bucket *pool, void *ptr, size_t old_bytes, size_t new_bytes) {
    if (masu__bucket_has_class(old_bytes) != masu__bucket_has_class(new_bytes)) {
        masu_status wrong = masu__bestfit_resize(pool->backing, ptr, pool->number, old_bytes, old_bytes);
        return wrong != MASU_OK ? wrong : MASU_ERR_OUT_OF_MEMORY; /* the other kind is served elsewhere */
    }
    masu_status status = masu__bestfit_resize(pool->backing, ptr, pool->number, old_bytes, new_bytes);
    if (status != MASU_OK)
        return status;
    pool->bypass_live_bytes += new_bytes - old_bytes;
    count_change(pool, old_bytes, new_bytes);
    return MASU_OK;
}

masu_status masu__bucket_carry(masu_bucket *pool, void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment,
                               void **out) {
    if (masu__bucket_has_class(old_bytes) || masu__bucket_slab_of(pool, (uintptr_t)ptr))
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = masu__bestfit_carry(pool->backing, ptr, pool->number, old_bytes, new_bytes, alignment, out);
    if (status != MASU_OK)
        return status;
    pool->bypass_live_bytes += new_bytes - old_bytes;
    count_change(pool, old_bytes, new_bytes);
    return MASU_OK;
}

static void tell_change(masu_bucket *pool, void *ptr, size_t block_bytes, size_t old_bytes, size_t new_bytes) {
    if (!masu__trace_wanted(pool->trace))
        return;
    masu__bucket_emit(pool, MASU_EVENT_FREE, (uintptr_t)ptr, old_bytes, block_bytes, 0);
    masu__bucket_emit(pool, MASU_EVENT_ALLOC, (uintptr_t)ptr, new_bytes, block_bytes, MASU_BUCKET_MIN_BYTES);
}

static masu_status resize_in_slab(masu_bucket *pool, masu__slab *slab, void *ptr, size_t old_bytes, size_t new_bytes) {
    masu_status status = masu__bucket_judge(pool, slab, (uintptr_t)ptr, true, &old_bytes);
    if (status != MASU_OK || new_bytes == old_bytes)
        return status;
    bool fits = masu__bucket_has_class(new_bytes) && masu__bucket_class_of(pool, new_bytes) == slab->class_index;
    if (!fits || pool->annotated) /* a memory checker takes what is allocated for unwritten */
        return MASU_ERR_OUT_OF_MEMORY;
    if (pool->remembers)
        slab->requested[masu__slab_position(pool, slab, (uintptr_t)ptr)] = (uint16_t)new_bytes;
    pool->classes[slab->class_index].allocations++;
    count_change(pool, old_bytes, new_bytes);
    tell_change(pool, ptr, masu__slab_block_bytes(pool, slab), old_bytes, new_bytes);
    return MASU_OK;
}

masu_status masu__bucket_resize(masu_bucket *pool, void *ptr, size_t old_bytes, size_t new_bytes) {
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    if (!ptr || new_bytes == 0)
        return MASU_ERR_INVALID_ARGUMENT;
    if (old_bytes == 0)
        return MASU_ERR_SIZE_MISMATCH; /* no block was ever allocated with it */
    masu__slab *slab = masu__bucket_slab_of(pool, (uintptr_t)ptr);
    return slab ? resize_in_slab(pool, slab, ptr, old_bytes, new_bytes)
                : masu__bucket_resize_bypass(pool, ptr, old_bytes, new_bytes);
}

/* ---- public calls ------------------------------------------------------------------------------ */

masu_status masu_bucket_resize(masu_bucket *pool, void *ptr, size_t old_bytes, size_t new_bytes) {
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    masu__bucket_lock(pool);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu_status status = masu__bucket_resize(pool, ptr, old_bytes, new_bytes);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu__bucket_unlock(pool);
    return status;
}

static masu_status mover_resize(void *pool, void *ptr, size_t old_bytes, size_t new_bytes) {
    return masu_bucket_resize(pool, ptr, old_bytes, new_bytes);
}

static masu_status mover_take(void *context, size_t bytes, size_t alignment, size_t room, void **out) {
    masu_bucket *pool = context;
    masu__bucket_lock(pool);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu_status status = masu__bucket_alloc_room(pool, bytes, alignment, room, out);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu__bucket_unlock(pool);
    return status;
}

static masu_status mover_give(void *pool, void *ptr, size_t bytes) {
    return masu_bucket_free(pool, ptr, bytes);
}

static masu_status mover_carry(void *context, void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment,
                               void **out) {
    masu_bucket *pool = context;
    masu__bucket_lock(pool);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu_status status = masu__bucket_carry(pool, ptr, old_bytes, new_bytes, alignment, out);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu__bucket_unlock(pool);
    return status;
}

static masu__mover mover_of(const masu_bucket *pool) {
    return (masu__mover){mover_resize, mover_take, mover_give, mover_carry, pool->backing, true};
}

static masu_status begin(const masu_bucket *pool, void **out) {
    if (out)
        *out = NULL;
    if (!pool || !out)
        return MASU_ERR_INVALID_ARGUMENT;
    return pool->magic == MASU__POOL_LIVE ? MASU_OK : MASU_ERR_STALE_POOL;
}

masu_status masu_bucket_realloc(masu_bucket *pool, void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment,
                                void **out) {
    masu_status status = begin(pool, out);
    if (status != MASU_OK)
        return status;
    masu__mover mover = mover_of(pool);
    return masu__move(&mover, pool, ptr, old_bytes, new_bytes, alignment, out);
}

masu_status masu_bucket_alloc_zeroed(masu_bucket *pool, size_t count, size_t bytes, size_t alignment, void **out) {
    masu_status status = begin(pool, out);
    if (status != MASU_OK)
        return status;
    masu__mover mover = mover_of(pool);
    return masu__take_zeroed(&mover, pool, count, bytes, alignment, out);
}
