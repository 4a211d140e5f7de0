/* bucket.c: the paths of the bucket pool that are not the hot ones, and the public calls. */
#include "allocators/bucket/bucket_pool.h"

#include "base/meta.h"
#include "base/size.h"

/* Cold: the question before it costs the way without a trace nothing but a branch. */
__attribute__((cold, noinline)) void masu__bucket_emit(masu_bucket *pool, masu_event_kind kind, uintptr_t address,
                                                       size_t bytes, size_t block_bytes, size_t alignment) {
    masu__trace_emit(pool->trace, (masu_event){
                                      .address = address,
                                      .bytes = bytes,
                                      .block_bytes = block_bytes,
                                      .alignment_bytes = alignment,
                                      .pool = pool->number,
                                      .kind = kind,
                                  });
}

/* ---- marks ----------------------------------------------------------------------------------- */

static uint64_t minus(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

void masu__bucket_move_mark(masu_bucket *pool) {
    uint64_t cached = masu__bucket_cached(pool);
    if (cached > pool->peak_cached_bytes)
        pool->peak_cached_bytes = cached;
    uint64_t for_cap = minus(pool->slab_bytes, masu__bucket_cap(pool));
    uint64_t for_peak = minus(pool->slab_bytes, pool->peak_cached_bytes);
    pool->low_mark = for_cap > for_peak ? for_cap : for_peak;
}

void masu__bucket_move_care(masu_bucket *pool) {
    pool->careful = pool->checked || pool->remembers || pool->traced || pool->annotated || pool->odd_blocks > 0;
}

/* Over the cap an eighth more is given back, so that a program that frees much does not pay at
 * every call. */
masu_status masu__bucket_settle(masu_bucket *pool) {
    if (masu__bucket_cached(pool) > masu__bucket_cap(pool))
        masu__bucket_obey_cap(pool, pool->max_cached_bytes - pool->max_cached_bytes / 8);
    else
        masu__bucket_move_mark(pool);
    return MASU_OK;
}

/* ---- allocation ------------------------------------------------------------------------------ */

/* One slab more, as large as the cap allows; what is cached in other classes makes room for it. */
static masu_status class_refill(masu_bucket *pool, unsigned index) {
    size_t block_bytes = masu__bucket_block_bytes(pool, index);
    size_t most = MASU__SLAB_BYTES - block_bytes; /* cached once the first block is out */
    if (masu__bucket_cached(pool) + most > masu__bucket_cap(pool))
        masu__bucket_obey_cap(pool, minus(pool->max_cached_bytes, most));
    size_t room = (size_t)minus(masu__bucket_cap(pool), masu__bucket_cached(pool)) / block_bytes + 1;
    masu_status status = masu__bucket_add_slab(pool, index, masu__min(room, MASU__SLAB_BYTES / block_bytes));
    if (status == MASU_OK)
        pool->classes[index].misses++;
    return status;
}

masu_status masu__bucket_pop(masu_bucket *pool, unsigned index, void **out) {
    masu__bucket_class *class = &pool->classes[index];
    if (class->list)
        return masu__bucket_pop_listed(pool, index, out);
    if (class->fresh == class->fresh_end && !class->pending) {
        masu_status status = class_refill(pool, index);
        if (status != MASU_OK)
            return status;
    }
    masu__bucket_open_pending(class);
    *out = (void *)class->fresh;
    class->fresh += class->block_bytes;
    return MASU_OK;
}

static masu_status bucket_take(masu_bucket *pool, size_t bytes, size_t alignment, void **out) {
    unsigned index = masu__bucket_class_of(pool, bytes);
    size_t block_bytes = masu__bucket_block_bytes(pool, index);
    void *block;
    masu_status status = masu__bucket_pop(pool, index, &block);
    if (status != MASU_OK)
        return status;
    masu__bucket_count_alloc(pool, &pool->classes[index], bytes);
    /* a slab came in before its first block went out: only now are the cached bytes what they
     * are */
    masu__bucket_move_mark(pool);
    if (pool->remembers)
        masu__bucket_remember(pool, block, bytes);
    if (masu__trace_wanted(pool->trace))
        masu__bucket_emit(pool, MASU_EVENT_ALLOC, (uintptr_t)block, bytes, block_bytes,
                          masu__max(alignment, MASU_BUCKET_MIN_BYTES));
    if (MASU_UNLIKELY(pool->annotated))
        masu__annotate_alloc(block, bytes, block_bytes);
    *out = block;
    return MASU_OK;
}

static void bypass_count(masu_bucket *pool, size_t bytes, bool grew) {
    pool->bypasses++;
    pool->bypass_misses += grew;
    pool->bypass_live_bytes += bytes;
    pool->live_bytes += bytes;
    if (pool->live_bytes > pool->peak_live_bytes)
        pool->peak_live_bytes = pool->live_bytes;
    if (masu__bucket_has_class(bytes)) {
        pool->odd_blocks++;
        masu__bucket_move_care(pool);
    }
}

static masu_status bypass_take(masu_bucket *pool, size_t bytes, size_t alignment, size_t room, void **out) {
    bool grew;
    masu__request request = {.bytes = bytes, .alignment = alignment, .room = room, .client = pool->number};
    masu_status status = masu__bestfit_take(pool->backing, &request, out, &grew);
    if (status == MASU_OK)
        bypass_count(pool, bytes, grew);
    return status;
}

bool masu__bucket_bypass_used(masu_bucket *pool, uint32_t ground, size_t bytes, size_t alignment, void **out) {
    masu__request request = {.bytes = bytes, .alignment = alignment, .client = pool->number, .ground = ground};
    if (!masu__bestfit_take_used(pool->backing, &request, out))
        return false;
    bypass_count(pool, bytes, false);
    return true;
}

static masu_status bucket_refused(masu_bucket *pool, masu_status status, size_t bytes, size_t alignment) {
    pool->failures++;
    if (masu__trace_wanted(pool->trace))
        masu__bucket_emit(pool, MASU_EVENT_REFUSED, 0, bytes, 0, alignment);
    return status;
}

masu_status masu__bucket_alloc_room(masu_bucket *pool, size_t bytes, size_t alignment, size_t room, void **out) {
    *out = NULL;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    if (alignment != 0 && !masu__is_power_of_two(alignment))
        return bucket_refused(pool, MASU_ERR_INVALID_ARGUMENT, bytes, alignment);
    if (bytes == 0)
        return MASU_OK;
    bool fits = masu__bucket_has_class(bytes) && masu__bucket_class_fits(pool, bytes, alignment);
    masu_status status = fits ? bucket_take(pool, bytes, alignment, out)
                              : bypass_take(pool, bytes, alignment, room, out);
    return status == MASU_OK ? MASU_OK : bucket_refused(pool, status, bytes, alignment);
}

masu_status masu__bucket_alloc_slow(masu_bucket *pool, size_t bytes, size_t alignment, void **out) {
    return masu__bucket_alloc_room(pool, bytes, alignment, 0, out);
}

/* ---- freeing --------------------------------------------------------------------------------- */

masu_status masu__bucket_bypass_give(masu_bucket *pool, void *ptr, size_t bytes) {
    masu_status status = masu__bestfit_give(pool->backing, ptr, pool->number, &bytes);
    if (status != MASU_OK)
        return status;
    pool->bypass_frees++;
    pool->bypass_live_bytes -= bytes;
    pool->live_bytes -= bytes;
    if (masu__bucket_has_class(bytes)) {
        pool->odd_blocks--;
        masu__bucket_move_care(pool);
    }
    return MASU_OK;
}

static masu_status bucket_give(masu_bucket *pool, masu__slab *slab, void *ptr, bool sized, size_t bytes) {
    masu_status status = masu__bucket_judge(pool, slab, (uintptr_t)ptr, sized, &bytes);
    if (status != MASU_OK)
        return status;
    size_t block_bytes = masu__slab_block_bytes(pool, slab);
    if (pool->remembers) {
        uint16_t *known = &slab->requested[masu__slab_position(pool, slab, (uintptr_t)ptr)];
        if (!sized && *known == MASU__SIZE_UNKNOWN)
            return MASU_ERR_UNSUPPORTED; /* live_bytes would not know by how much to fall */
        *known = 0;
    }
    if (masu__trace_wanted(pool->trace))
        masu__bucket_emit(pool, MASU_EVENT_FREE, (uintptr_t)ptr, bytes, block_bytes, 0);
    if (MASU_UNLIKELY(pool->annotated))
        masu__annotate_open(ptr, 2 * sizeof(void *)); /* fewer bytes may have been asked for */
    masu__bucket_push(pool, &pool->classes[slab->class_index], ptr, bytes);
    if (MASU_UNLIKELY(pool->annotated))
        masu__annotate_free(ptr, block_bytes);
    return masu__bucket_must_settle(pool) ? masu__bucket_settle(pool) : MASU_OK;
}

masu_status masu__bucket_free_slow(masu_bucket *pool, void *ptr, bool sized, size_t bytes) {
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    if (!ptr)
        return MASU_OK;
    masu__slab *slab = masu__bucket_slab_of(pool, (uintptr_t)ptr);
    if (slab)
        return bucket_give(pool, slab, ptr, sized, bytes);
    if (sized && bytes == 0)
        return MASU_ERR_SIZE_MISMATCH; /* no block was ever allocated with it */
    return masu__bucket_bypass_give(pool, ptr, bytes);
}

masu_status masu__bucket_size_of(masu_bucket *pool, const void *ptr, size_t *out_bytes) {
    const masu__slab *slab = masu__bucket_slab_of(pool, (uintptr_t)ptr);
    if (!slab)
        return masu__bestfit_known(pool->backing, ptr, pool->number, out_bytes);
    *out_bytes = masu__slab_block_bytes(pool, slab);
    return masu__bucket_judge(pool, slab, (uintptr_t)ptr, !pool->remembers, out_bytes);
}

/* ---- public calls ---------------------------------------------------------------------------- */

masu_status masu_bucket_alloc(masu_bucket *pool, size_t bytes, size_t alignment, void **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    if (!pool) {
        *out = NULL;
        return MASU_ERR_INVALID_ARGUMENT;
    }
    masu__bucket_lock(pool);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu_status status = masu__bucket_alloc(pool, bytes, alignment, out);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu__bucket_unlock(pool);
    return status;
}

masu_status masu_bucket_free(masu_bucket *pool, void *ptr, size_t bytes) {
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    masu__bucket_lock(pool);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu_status status = masu__bucket_free(pool, ptr, bytes);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu__bucket_unlock(pool);
    return status;
}

masu_status masu_bucket_free_unsized(masu_bucket *pool, void *ptr) {
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    masu__bucket_lock(pool);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu_status status = masu__bucket_free_slow(pool, ptr, false, 0);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu__bucket_unlock(pool);
    return status;
}

masu_status masu_bucket_trim(masu_bucket *pool, size_t keep_bytes) {
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    masu__bucket_lock(pool);
    masu_status status = masu__bucket_give_back(pool, keep_bytes);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu__bucket_unlock(pool);
    return status;
}

masu_status masu_bucket_clear(masu_bucket *pool) {
    return masu_bucket_trim(pool, 0);
}

masu_status masu_bucket_set_checked(masu_bucket *pool, bool on) {
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    masu__bucket_lock(pool);
    masu_status status = masu__bucket_set_checked(pool, on);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu__bucket_unlock(pool);
    return status;
}

masu_status masu_bucket_set_max_cached(masu_bucket *pool, size_t max_cached_bytes) {
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    masu__bucket_lock(pool);
    pool->max_cached_bytes = max_cached_bytes;
    masu_status status = masu__bucket_give_back(pool, max_cached_bytes);
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    masu__bucket_unlock(pool);
    return status;
}
