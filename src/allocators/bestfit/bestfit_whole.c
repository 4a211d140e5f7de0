/* bestfit_whole.c: device blocks as wholes: those that are never split, and those that lie idle.
 *
 * A large tensor in a device block that is otherwise cut into small pieces can come back only when
 * all pieces have gone. With whole_above_bytes a large request gets a device block of its own, which
 * stays one block for ever:
 *
 *     region of pieces   ┌────┬──┬──────┬───┐     free pieces are in the index
 *     region as a whole  ┌──────────────────┐     free: MASU__BLOCK_WHOLE, found by looking through
 *                                                 the regions, which are few
 *
 * (Both that and giving back what lies idle are known from PyTorch's caching allocator, where they
 * are called max_split_size_mb and garbage_collection_threshold. Idle is counted in allocations
 * here, not in seconds, so that the same calls give the same layout.)
 */
#include "allocators/bestfit/bestfit_pool.h"

#include "base/assert.h"
#include "base/size.h"

/* As closely as the device allows, or with what slack is allowed. */
static bool whole_fits(const masu_bestfit *pool, const masu__region *region, size_t bytes) {
    if (region->bytes < bytes || pool->blocks.at[region->first].state != MASU__BLOCK_WHOLE)
        return false;
    size_t unused = region->bytes - bytes;
    return unused < pool->device->info.granularity_bytes || unused <= pool->whole_slack_bytes;
}

/* The smallest, at the lowest address among equals. */
static masu__region *find_whole(const masu_bestfit *pool, size_t bytes) {
    masu__region *best = NULL;
    for (size_t i = 0; i < pool->region_count; i++) {
        masu__region *region = pool->regions[i];
        if (whole_fits(pool, region, bytes) && (!best || region->bytes < best->bytes))
            best = region;
    }
    return best;
}

/* The one that has been free for longest, of all or of those that are never split; region_count when there is none. */
static size_t oldest_free(const masu_bestfit *pool, bool of_all) {
    size_t oldest = pool->region_count;
    for (size_t i = 0; i < pool->region_count; i++) {
        const masu__region *region = pool->regions[i];
        if ((of_all || region->whole) && masu__region_wholly_free(pool, region) &&
            (oldest == pool->region_count || region->free_since < pool->regions[oldest]->free_since))
            oldest = i;
    }
    return oldest;
}

/* Sizes that vary leave a block of each behind: what is reserved stays within twice the most that was
 * ever in use, as far as blocks of that kind can go. */
static void drop_piled_up(masu_bestfit *pool, size_t bytes) {
    uint64_t most = masu__max(pool->counts.peak_used_bytes, masu__bestfit_used(pool) + bytes);
    if (pool->policy == MASU_POOL_PERSISTENT)
        return;
    while (pool->counts.reserved_bytes + bytes > 2 * most) {
        size_t oldest = oldest_free(pool, false);
        if (oldest == pool->region_count || masu__bestfit_drop_region(pool, oldest) != MASU_OK)
            return;
    }
}

masu_status masu__bestfit_take_whole(masu_bestfit *pool, size_t bytes, masu__block_id *out, bool *grew) {
    masu__region *region = find_whole(pool, bytes);
    if (!region) {
        masu__growth growth = {.wanted_bytes = bytes, .least_bytes = bytes, .whole = true};
        masu__bestfit_drop_idle(pool);
        drop_piled_up(pool, bytes);
        masu_status status = masu__bestfit_add_region(pool, &growth, &region);
        if (status != MASU_OK)
            return status;
        *grew = true;
    }
    *out = region->first;
    return MASU_OK;
}

bool masu__bestfit_region_freed(masu_bestfit *pool, masu__block_id id) {
    masu__region *region = masu__bestfit_region_of(pool, pool->blocks.at[id].address);
    region->free_since = pool->serial;
    if (region->whole)
        pool->blocks.at[id].state = MASU__BLOCK_WHOLE;
    return region->whole;
}

void masu__bestfit_drop_idle(masu_bestfit *pool) {
    if (pool->idle_allocations == 0 || pool->policy == MASU_POOL_PERSISTENT)
        return;
    pool->idle_look = pool->serial + pool->idle_allocations / 4 + 1;
    for (size_t i = pool->region_count; i-- > 0;) {
        const masu__region *region = pool->regions[i];
        if (masu__region_wholly_free(pool, region) && pool->serial - region->free_since >= pool->idle_allocations)
            (void)masu__bestfit_drop_region(pool, i); /* what the device refuses stays in the pool */
    }
}

void masu__bestfit_cap_idle(masu_bestfit *pool) {
    if (MASU_LIKELY(pool->max_idle_bytes == SIZE_MAX) || pool->policy == MASU_POOL_PERSISTENT)
        return;
    uint64_t idle = 0;
    for (size_t i = 0; i < pool->region_count; i++)
        idle += masu__region_wholly_free(pool, pool->regions[i]) ? pool->regions[i]->bytes : 0;
    while (idle > pool->max_idle_bytes) {
        size_t oldest = oldest_free(pool, true), bytes = pool->regions[oldest]->bytes;
        if (masu__bestfit_drop_region(pool, oldest) != MASU_OK)
            return; /* what the device refuses stays in the pool */
        idle -= bytes;
    }
}

size_t masu__bestfit_largest_free(const masu_bestfit *pool) {
    size_t largest = 0;
    for (uint32_t g = 0; g < MASU__GROUNDS; g++)
        largest = masu__max(largest, masu__free_index_largest(pool->index[g], &pool->blocks));
    for (size_t i = 0; i < pool->region_count; i++)
        if (pool->blocks.at[pool->regions[i]->first].state == MASU__BLOCK_WHOLE)
            largest = masu__max(largest, pool->regions[i]->bytes);
    return largest;
}
