/* bestfit_resize.c: a live block becomes larger or smaller where it lies.
 *
 *     grow     ┌ live ┬ free ──────┐  ─►  ┌ live ─────┬ free ┐      shrink: the way back
 *
 * For the trace, the statistics and the judge it is a free and an allocation at the same address. */
#include "allocators/bestfit/bestfit_pool.h"
#include "allocators/bestfit/move.h"

#include "base/size.h"

/* A region that is never split keeps its one block as it is. */
static bool may_cut(const masu_bestfit *pool, const masu__block *block) {
    if ((block->before | block->after) != 0)
        return true;
    return !masu__bestfit_region_of(pool, block->address)->whole;
}

/* The free block behind is joined, if that makes it large enough. */
static bool block_reach(masu_bestfit *pool, masu__block_id id, size_t bytes) {
    masu__block_table *blocks = &pool->blocks;
    masu__block *block = &blocks->at[id];
    masu__block_id after = block->after;
    if (block->bytes >= bytes)
        return true;
    if (blocks->at[after].state != MASU__BLOCK_FREE || blocks->at[after].bytes < bytes - block->bytes)
        return false;
    masu__free_index_remove(masu__bestfit_index(pool, id), blocks, after);
    masu__blocks_join_after(blocks, id);
    return true;
}

/* It shrank by half: what it does not need is the device's until it grows again. */
static void block_empty_rest(masu_bestfit *pool, const masu__block *block, size_t bytes) {
    if (bytes <= block->as.live.requested / 2)
        masu__device_purge(pool->device, (char *)block->address + bytes, block->bytes - bytes);
}

/* Frees the rest behind the block and joins it with a free block that follows. */
static void block_cut_rest(masu_bestfit *pool, masu__block_id id, size_t bytes) {
    masu__block_table *blocks = &pool->blocks;
    if (blocks->at[id].bytes - bytes < pool->min_remainder_bytes)
        return;
    if (!may_cut(pool, &blocks->at[id])) {
        block_empty_rest(pool, &blocks->at[id], bytes);
        return;
    }
    masu__block_id rest = masu__blocks_cut(blocks, id, bytes), after = blocks->at[rest].after;
    if (blocks->at[after].state == MASU__BLOCK_FREE) {
        masu__free_index_remove(masu__bestfit_index(pool, id), blocks, after);
        masu__blocks_join_after(blocks, rest);
    }
    masu__free_index_insert(masu__bestfit_index(pool, rest), blocks, rest);
}

static void count_resize(masu_bestfit *pool, masu__block_id id, size_t slack_before, size_t new_bytes) {
    masu__block *block = &pool->blocks.at[id];
    masu__bestfit_counts *counts = &pool->counts;
    size_t old_bytes = block->as.live.requested;
    block->as.live.requested = new_bytes;
    counts->frees++;
    counts->allocations++;
    counts->freed_bytes += old_bytes;
    counts->allocated_bytes += new_bytes;
    counts->slack_bytes += block->bytes - new_bytes - slack_before;
    counts->peak_used_bytes = masu__max(counts->peak_used_bytes, masu__bestfit_used(pool));
}

static void tell_resize(masu_bestfit *pool, const masu__block *before, const masu__block *now) {
    if (!masu__trace_wanted(pool->trace))
        return;
    masu__bestfit_emit(pool, MASU_EVENT_FREE, before->address, before->as.live.requested, before->bytes, 0,
                       before->as.live.owner);
    masu__bestfit_emit(pool, MASU_EVENT_ALLOC, now->address, now->as.live.requested, now->bytes, MASU__GRAIN,
                       now->as.live.owner);
}

static masu_status pool_resize(masu_bestfit *pool, void *ptr, uint32_t client, size_t old_bytes, size_t new_bytes) {
    size_t rounded, known;
    masu_status status = masu__bestfit_known(pool, ptr, client, &known);
    if (status != MASU_OK)
        return status;
    if (old_bytes != 0 && old_bytes != known)
        return MASU_ERR_SIZE_MISMATCH;
    if (!masu__align_up(new_bytes, pool->min_alignment_bytes, &rounded))
        return MASU_ERR_OVERFLOW;
    /* a memory checker takes what is allocated for unwritten */
    if (!masu__blocks_reserve(&pool->blocks, 1) || (pool->annotated && new_bytes != known))
        return MASU_ERR_OUT_OF_MEMORY;
    masu__block_id id = masu__blocks_find(&pool->blocks, (uintptr_t)ptr);
    masu__block before = pool->blocks.at[id];
    if (!block_reach(pool, id, rounded))
        return MASU_ERR_OUT_OF_MEMORY;
    block_cut_rest(pool, id, rounded);
    masu__bestfit_note_used(pool, &pool->blocks.at[id]);
    count_resize(pool, id, before.bytes - before.as.live.requested, new_bytes);
    tell_resize(pool, &before, &pool->blocks.at[id]);
    return MASU_OK;
}

masu_status masu__bestfit_resize(masu_bestfit *pool, void *ptr, uint32_t client, size_t old_bytes, size_t new_bytes) {
    masu__bestfit_lock(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu_status status = pool_resize(pool, ptr, client, old_bytes, new_bytes);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__bestfit_unlock(pool);
    return status;
}

static masu_status usable(const masu_bestfit *pool, const void *ptr, size_t new_bytes) {
    if (!pool || !ptr || new_bytes == 0)
        return MASU_ERR_INVALID_ARGUMENT;
    return pool->magic == MASU__POOL_LIVE ? MASU_OK : MASU_ERR_STALE_POOL;
}

masu_status masu_bestfit_resize(masu_bestfit *pool, void *ptr, size_t new_bytes) {
    masu_status status = usable(pool, ptr, new_bytes);
    return status == MASU_OK ? masu__bestfit_resize(pool, ptr, 0, 0, new_bytes) : status;
}

/* A block that moves keeps its owner. */
typedef struct moving {
    masu_bestfit *pool;
    uint64_t owner;
} moving;

static masu_status mover_resize(void *context, void *ptr, size_t old_bytes, size_t new_bytes) {
    (void)old_bytes; /* was asked for just now */
    return masu_bestfit_resize(((moving *)context)->pool, ptr, new_bytes);
}

static masu_status mover_take(void *context, size_t bytes, size_t alignment, size_t room, void **out) {
    const moving *m = context;
    if (bytes == 0)
        return masu_bestfit_alloc(m->pool, bytes, alignment, m->owner, out);
    masu__request request = {.bytes = bytes, .alignment = alignment, .room = room, .owner = m->owner};
    return masu__bestfit_take(m->pool, &request, out, NULL);
}

static masu_status mover_give(void *context, void *ptr, size_t bytes) {
    return masu_bestfit_free_sized(((moving *)context)->pool, ptr, bytes);
}

static masu_status mover_carry(void *context, void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment,
                               void **out) {
    return masu__bestfit_carry(((moving *)context)->pool, ptr, 0, old_bytes, new_bytes, alignment, out);
}

static masu__mover mover_of(const masu_bestfit *pool) {
    return (masu__mover){mover_resize, mover_take, mover_give,
                         mover_carry,  pool,       (pool->device->info.flags & MASU_DEVICE_HOST_ACCESS) != 0};
}

static uint64_t owner_of(masu_bestfit *pool, const void *ptr) {
    masu__bestfit_lock(pool);
    masu__block_id id = pool->blocks.homes ? masu__blocks_find(&pool->blocks, (uintptr_t)ptr) : 0;
    uint64_t owner = id ? pool->blocks.at[id].as.live.owner : 0;
    masu__bestfit_unlock(pool);
    return owner;
}

masu_status masu_bestfit_realloc(masu_bestfit *pool, void *ptr, size_t new_bytes, size_t alignment, void **out) {
    size_t known = 0;
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = ptr ? masu_bestfit_size_of(pool, ptr, &known) : MASU_OK;
    if (status != MASU_OK || pool->magic != MASU__POOL_LIVE)
        return status != MASU_OK ? status : MASU_ERR_STALE_POOL;
    masu__mover mover = mover_of(pool);
    moving m = {pool, ptr ? owner_of(pool, ptr) : 0};
    return masu__move(&mover, &m, ptr, known, new_bytes, alignment, out);
}

masu_status masu_bestfit_alloc_zeroed(masu_bestfit *pool, size_t count, size_t bytes, size_t alignment, uint64_t owner,
                                      void **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    masu__mover mover = mover_of(pool);
    return masu__take_zeroed(&mover, &(moving){pool, owner}, count, bytes, alignment, out);
}
