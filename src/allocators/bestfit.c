/* bestfit.c: taking and giving blocks.
 *
 *     alloc   reserve records ─► find the block ─► (grow) ─► cut padding off its front
 *             ─► cut the remainder off its back
 *     free    find the record ─► join with the neighbours that are free ─► into the index
 */
#include "allocators/bestfit_pool.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

enum { ALIGNED_TRIES = 32 };

void masu__bestfit_emit(masu_bestfit *pool, masu_event_kind kind, uintptr_t address, size_t bytes,
                        size_t block_bytes, size_t alignment, uint64_t owner) {
    masu__trace_emit(pool->trace, (masu_event){
                                      .address = address,
                                      .bytes = bytes,
                                      .block_bytes = block_bytes,
                                      .alignment_bytes = alignment,
                                      .owner = owner,
                                      .pool = pool->number,
                                      .kind = kind,
                                  });
}

/* ---- allocation ------------------------------------------------------------------------------ */

static bool block_fits(const masu__block *block, size_t bytes, size_t alignment) {
    size_t padding = masu__align_up_small(block->address, alignment) - block->address;
    return padding <= block->bytes && block->bytes - padding >= bytes;
}

/* Every block is aligned to MASU__GRAIN, so the first candidate fits. Stricter alignments try
 * some candidates in order and then settle for one so large that it fits wherever it lies. */
static masu__block *pool_find(const masu_bestfit *pool, size_t bytes, size_t alignment) {
    masu__block *block = masu__free_index_at_least(&pool->index, bytes, 0);
    for (int tries = 0; block && !block_fits(block, bytes, alignment); tries++) {
        size_t surely = bytes + alignment - MASU__GRAIN;
        if (surely < bytes)
            return NULL;
        block = tries < ALIGNED_TRIES
                    ? masu__free_index_at_least(&pool->index, block->bytes, block->address + 1)
                    : masu__free_index_at_least(&pool->index, surely, 0);
    }
    return block;
}

/* Cuts the request out of a free block that fits; the block comes out of the index, the rest goes
 * back into it. */
static masu__block *pool_carve(masu_bestfit *pool, masu__block *block, size_t bytes,
                               size_t alignment) {
    masu__free_index_remove(&pool->index, block);
    size_t padding = masu__align_up_small(block->address, alignment) - block->address;
    if (padding > 0) {
        masu__block *front = block;
        block = masu__block_cut(&pool->store, front, padding);
        masu__free_index_insert(&pool->index, front);
    }
    if (block->bytes - bytes >= pool->min_remainder_bytes && block->bytes > bytes) {
        masu__block *rest = masu__block_cut(&pool->store, block, bytes);
        masu__free_index_insert(&pool->index, rest);
    }
    return block;
}

static void stats_add_live(masu_bestfit_stats *stats, const masu__block *block) {
    stats->used_bytes += block->as.live.requested;
    stats->slack_bytes += block->bytes - block->as.live.requested;
    if (stats->used_bytes > stats->peak_used_bytes)
        stats->peak_used_bytes = stats->used_bytes;
}

static void stats_remove_live(masu_bestfit_stats *stats, const masu__block *block) {
    stats->used_bytes -= block->as.live.requested;
    stats->slack_bytes -= block->bytes - block->as.live.requested;
}

static void pool_make_live(masu_bestfit *pool, masu__block *block, const masu__request *request) {
    block->state = request->sealed ? MASU__BLOCK_SEALED : MASU__BLOCK_LIVE;
    block->client = request->client;
    block->as.live.requested = request->bytes;
    block->as.live.owner = request->owner;
    block->as.live.serial = ++pool->serial;
    masu__address_map_put(&pool->live, block->address, block);
    stats_add_live(&pool->stats, block);
}

/* The rounded size and alignment, when the two together can be expressed. */
static masu_status request_round(const masu__request *request, size_t *rounded, size_t *alignment) {
    size_t sum;
    if (request->alignment != 0 && !masu__is_power_of_two(request->alignment))
        return MASU_ERR_INVALID_ARGUMENT;
    *alignment = masu__max(request->alignment, MASU__GRAIN);
    if (!masu__align_up(request->bytes, MASU__GRAIN, rounded) ||
        !masu__add(*rounded, *alignment, &sum))
        return MASU_ERR_OVERFLOW;
    return MASU_OK;
}

static masu_status pool_find_or_grow(masu_bestfit *pool, size_t bytes, size_t alignment,
                                     masu__block **out, bool *grew) {
    if (!masu__block_store_reserve(&pool->store, 2) || !masu__address_map_reserve(&pool->live, 1))
        return MASU_ERR_OUT_OF_MEMORY;
    *out = pool_find(pool, bytes, alignment);
    *grew = *out == NULL;
    if (*out)
        return MASU_OK;
    masu_status status = masu__bestfit_grow(pool, bytes, alignment);
    if (status != MASU_OK)
        return status;
    *out = pool_find(pool, bytes, alignment);
    MASU_ASSERT(*out != NULL);
    return MASU_OK;
}

static masu_status pool_take(masu_bestfit *pool, const masu__request *request, void **out,
                             bool *grew) {
    size_t rounded, alignment;
    masu__block *block;
    masu_status status = request_round(request, &rounded, &alignment);
    if (status == MASU_OK)
        status = pool_find_or_grow(pool, rounded, alignment, &block, grew);
    if (status != MASU_OK)
        return status;
    block = pool_carve(pool, block, rounded, alignment);
    pool_make_live(pool, block, request);
    pool->stats.allocations++;
    pool->stats.allocated_bytes += request->bytes;
    *(*grew ? &pool->stats.misses : &pool->stats.hits) += 1;
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_ALLOC, block->address, request->bytes, block->bytes,
                           alignment, request->owner);
    *out = (void *)block->address;
    if (MASU_UNLIKELY(pool->annotated) && !request->sealed)
        masu__annotate_alloc(*out, request->bytes, block->bytes);
    return MASU_OK;
}

static void pool_refused(masu_bestfit *pool, const masu__request *request) {
    pool->stats.failures++;
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_REFUSED, 0, request->bytes, 0, request->alignment,
                           request->owner);
}

masu_status masu__bestfit_take(masu_bestfit *pool, const masu__request *request, void **out,
                               bool *grew) {
    bool grew_here = false;
    masu__bestfit_lock(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu_status status = pool_take(pool, request, out, &grew_here);
    if (MASU_UNLIKELY(status != MASU_OK))
        pool_refused(pool, request);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__bestfit_unlock(pool);
    if (grew)
        *grew = grew_here;
    return status;
}

masu_status masu_bestfit_alloc(masu_bestfit *pool, size_t bytes, size_t alignment, uint64_t owner,
                               void **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    if (bytes == 0)
        return alignment == 0 || masu__is_power_of_two(alignment) ? MASU_OK
                                                                  : MASU_ERR_INVALID_ARGUMENT;
    return masu__bestfit_take(
        pool, &(masu__request){.bytes = bytes, .alignment = alignment, .owner = owner}, out, NULL);
}

/* ---- freeing --------------------------------------------------------------------------------- */

/* Slow on purpose: only a wrong pointer comes here. */
static masu_status pointer_diagnose(const masu_bestfit *pool, uintptr_t address) {
    const masu__region *region = masu__bestfit_region_of(pool, address);
    if (!region)
        return MASU_ERR_FOREIGN_POINTER;
    const masu__block *block = region->first;
    while (block->after && block->after->address <= address)
        block = block->after;
    if (block->state == MASU__BLOCK_FREE)
        return MASU_ERR_DOUBLE_FREE;
    return MASU_ERR_INTERIOR_POINTER;
}

masu_status masu__bestfit_find(masu_bestfit *pool, const void *ptr, masu__block **out) {
    masu__block *block = masu__address_map_get(&pool->live, (uintptr_t)ptr);
    if (MASU_UNLIKELY(!block))
        return pointer_diagnose(pool, (uintptr_t)ptr);
    *out = block;
    return MASU_OK;
}

/* The block leaves the live ones and joins its free neighbours. */
static void pool_give(masu_bestfit *pool, masu__block *block) {
    masu__block *before = block->before, *after = block->after;
    if (after && after->state == MASU__BLOCK_FREE) {
        masu__free_index_remove(&pool->index, after);
        masu__block_join_after(&pool->store, block);
    }
    if (before && before->state == MASU__BLOCK_FREE) {
        masu__free_index_remove(&pool->index, before);
        masu__block_join_after(&pool->store, before);
        block = before;
    }
    masu__free_index_insert(&pool->index, block);
}

static void pool_release(masu_bestfit *pool, masu__block *block) {
    size_t requested = block->as.live.requested;
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_FREE, block->address, requested, block->bytes, 0,
                           block->as.live.owner);
    void *taken = masu__address_map_take(&pool->live, block->address);
    MASU_DEBUG_ASSERT(taken == block);
    (void)taken;
    if (MASU_UNLIKELY(pool->annotated) && block->state != MASU__BLOCK_SEALED)
        masu__annotate_free((void *)block->address, block->bytes);
    stats_remove_live(&pool->stats, block);
    pool->stats.frees++;
    pool->stats.freed_bytes += requested;
    pool_give(pool, block);
}

/* The live block at ptr, if that client may free it. */
static masu_status pool_find_own(masu_bestfit *pool, const void *ptr, uint32_t client,
                                 masu__block **out) {
    masu_status status = masu__bestfit_find(pool, ptr, out);
    if (status != MASU_OK)
        return status;
    if ((*out)->state == MASU__BLOCK_SEALED)
        return MASU_ERR_INTERIOR_POINTER; /* to a caller it is the inside of another pool */
    return (*out)->client == client ? MASU_OK : MASU_ERR_FOREIGN_POINTER;
}

masu_status masu__bestfit_known(masu_bestfit *pool, const void *ptr, uint32_t client,
                                size_t *out_bytes) {
    masu__block *block;
    masu_status status = pool_find_own(pool, ptr, client, &block);
    if (status == MASU_OK)
        *out_bytes = block->as.live.requested;
    return status;
}

static masu_status pool_free(masu_bestfit *pool, void *ptr, uint32_t client, size_t *bytes) {
    masu__block *block;
    masu_status status = pool_find_own(pool, ptr, client, &block);
    if (status != MASU_OK)
        return status;
    if (*bytes != 0 && *bytes != block->as.live.requested)
        return MASU_ERR_SIZE_MISMATCH;
    *bytes = block->as.live.requested;
    pool_release(pool, block);
    return MASU_OK;
}

masu_status masu__bestfit_give(masu_bestfit *pool, void *ptr, uint32_t client, size_t *bytes) {
    masu__bestfit_lock(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu_status status = pool_free(pool, ptr, client, bytes);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__bestfit_unlock(pool);
    return status;
}

static masu_status usable(const masu_bestfit *pool) {
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    return pool->magic == MASU__POOL_LIVE ? MASU_OK : MASU_ERR_STALE_POOL;
}

masu_status masu_bestfit_free(masu_bestfit *pool, void *ptr) {
    size_t any = 0;
    masu_status status = usable(pool);
    if (status != MASU_OK || !ptr)
        return status;
    return masu__bestfit_give(pool, ptr, 0, &any);
}

masu_status masu_bestfit_free_sized(masu_bestfit *pool, void *ptr, size_t bytes) {
    masu_status status = usable(pool);
    if (status != MASU_OK || !ptr)
        return status;
    if (bytes == 0)
        return MASU_ERR_SIZE_MISMATCH; /* no block was ever allocated with it */
    return masu__bestfit_give(pool, ptr, 0, &bytes);
}

masu_status masu_bestfit_size_of(masu_bestfit *pool, const void *ptr, size_t *out_bytes) {
    if (!pool || !ptr || !out_bytes)
        return MASU_ERR_INVALID_ARGUMENT;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    masu__block *block;
    masu__bestfit_lock(pool);
    masu_status status = masu__bestfit_find(pool, ptr, &block);
    if (status == MASU_OK && block->state == MASU__BLOCK_SEALED)
        status = MASU_ERR_INTERIOR_POINTER;
    if (status == MASU_OK)
        *out_bytes = block->as.live.requested;
    masu__bestfit_unlock(pool);
    return status;
}

/* ---- parts of sealed blocks ------------------------------------------------------------------ */

/* Cuts a live block in two at offset; the second part is a live block of its own. */
static masu__block *pool_cut_live(masu_bestfit *pool, masu__block *block, size_t offset) {
    stats_remove_live(&pool->stats, block);
    masu__block *rest = masu__block_cut(&pool->store, block, offset);
    rest->state = block->state;
    rest->client = block->client;
    rest->as.live = block->as.live;
    rest->as.live.requested = block->as.live.requested - offset;
    block->as.live.requested = offset;
    masu__address_map_put(&pool->live, rest->address, rest);
    stats_add_live(&pool->stats, block);
    stats_add_live(&pool->stats, rest);
    pool->stats.allocations++; /* so that allocations - frees stays the number of live blocks */
    pool->stats.hits++;
    return rest;
}

static masu_status pool_free_part(masu_bestfit *pool, masu__block *block, uintptr_t address,
                                  size_t bytes) {
    size_t offset = address - block->address;
    MASU_ASSERT(offset < block->as.live.requested && bytes <= block->as.live.requested - offset);
    if (!masu__block_store_reserve(&pool->store, 2) || !masu__address_map_reserve(&pool->live, 2))
        return MASU_ERR_OUT_OF_MEMORY;
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_FREE_PART, address, bytes, bytes, 0,
                           block->as.live.owner);
    if (offset > 0)
        block = pool_cut_live(pool, block, offset);
    if (bytes < block->as.live.requested)
        pool_cut_live(pool, block, bytes);
    masu__address_map_take(&pool->live, block->address);
    stats_remove_live(&pool->stats, block);
    pool->stats.frees++;
    pool->stats.freed_bytes += bytes;
    pool_give(pool, block);
    return MASU_OK;
}

masu_status masu__bestfit_free_part(masu_bestfit *pool, void *base, void *ptr, size_t bytes) {
    masu_status status = MASU_OK;
    masu__bestfit_lock(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__block *block = masu__address_map_get(&pool->live, (uintptr_t)base);
    MASU_ASSERT(block != NULL && block->state == MASU__BLOCK_SEALED);
    if (base == ptr && bytes == block->as.live.requested)
        pool_release(pool, block);
    else
        status = pool_free_part(pool, block, (uintptr_t)ptr, bytes);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__bestfit_unlock(pool);
    return status;
}
