/* bestfit_carry.c: a large block that cannot grow where it lies gets a device block of its own, and the device brings
 * its pages there: page tables change, and not a byte is copied.
 *
 *     region of pieces   ┌────┬─ live ─┬───┐         its pages leave, what is left is free and empty
 *                             └───────┐
 *     region of its own  ┌─ live ─────┴──┄┐         grows as a whole from now on: room of an eighth, addresses alone
 *
 * Such a region is never split, so that it can always be brought elsewhere as one, and goes back to the device as soon
 * as its block is freed: with sizes that vary, regions of their own would otherwise pile up, for they do not merge.
 */
#include "allocators/bestfit/bestfit_pool.h"

#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

/* Copying into pages that are in the cache is faster below. */
enum { LEAST_BYTES = 2 << 20 };

size_t masu__bestfit_carry_unit(const masu_bestfit *pool, size_t bytes) {
    bool carries = pool->device->carries && !pool->annotated && pool->policy != MASU_POOL_PERSISTENT &&
                   (pool->device->info.flags & MASU_DEVICE_HOST_ACCESS);
    return carries && bytes >= LEAST_BYTES ? pool->device->info.granularity_bytes : 0;
}

static bool spans_region(const masu__block *block) {
    return (block->before | block->after) == 0;
}

static bool may_carry(const masu_bestfit *pool, const masu__block *block, size_t new_bytes, size_t alignment) {
    size_t unit = masu__bestfit_carry_unit(pool, block->as.live.requested);
    return unit > 0 && new_bytes > block->bytes && block->state == MASU__BLOCK_LIVE &&
           masu__max(alignment, pool->min_alignment_bytes) <= pool->device->info.alignment_bytes &&
           masu__is_aligned(block->address, unit);
}

/* Carries whole pages and copies the part of the last one that the next block shares. */
static masu_status bring(masu_bestfit *pool, const masu__block *block, size_t new_bytes, void **base, size_t *bytes) {
    size_t known = block->as.live.requested;
    size_t pages = masu__align_down(known, pool->device->info.granularity_bytes);
    masu_device_carrying what = {(void *)block->address, pages, false, new_bytes};
    if (spans_region(block)) {
        what.bytes = block->bytes;
        what.whole = true;
    }
    masu_status status = masu__device_carry(pool->device, &what, base, bytes);
    if (status == MASU_OK && !what.whole)
        memcpy((char *)*base + pages, (const char *)block->address + pages, known - pages);
    return status;
}

/* With room to grow where that can be had. */
static masu_status bring_roomy(masu_bestfit *pool, const masu__block *block, size_t new_bytes, void **base,
                               size_t *bytes) {
    size_t granule = pool->device->info.granularity_bytes, room = masu__bestfit_room(pool), least, wanted;
    room = masu__add(room, spans_region(block) ? block->bytes : 0, &room) ? room : SIZE_MAX;
    if (!masu__align_up(new_bytes, granule, &least) || least > room)
        return MASU_ERR_OUT_OF_MEMORY;
    if (masu__add(least, new_bytes / 8, &wanted) && masu__align_up(wanted, granule, &wanted) && wanted <= room &&
        bring(pool, block, wanted, base, bytes) == MASU_OK)
        return MASU_OK;
    return bring(pool, block, least, base, bytes);
}

/* The old block ends: its region goes with it, or stays with a free block whose pages are gone. */
static masu__region *leave_old(masu_bestfit *pool, masu__block_id id, masu__region *fresh) {
    masu__block *block = &pool->blocks.at[id];
    uintptr_t address = block->address;
    bool whole = spans_region(block);
    if (!whole) {
        block->clean = true;
        masu__bestfit_release(pool, id);
        return fresh;
    }
    masu__bestfit_end_block(pool, id);
    masu__meta_free(fresh, sizeof *fresh);
    return masu__bestfit_detach(pool, address);
}

static masu_status carry(masu_bestfit *pool, masu__block_id id, size_t new_bytes, void **out) {
    masu__block old = pool->blocks.at[id];
    void *base;
    size_t bytes;
    masu__region *region = masu__meta_calloc(1, sizeof *region);
    if (!region)
        return MASU_ERR_OUT_OF_MEMORY;
    if (bring_roomy(pool, &old, new_bytes, &base, &bytes) != MASU_OK) {
        masu__meta_free(region, sizeof *region);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    region = leave_old(pool, id, region);
    *region = (masu__region){
        .base = (uintptr_t)base, .bytes = bytes, .whole = true, .carried = true, .ground = old.ground};
    masu__bestfit_install(pool, region);
    pool->carried = true;
    pool->counts.misses++;
    masu__request request = {.bytes = new_bytes, .owner = old.as.live.owner, .client = old.client};
    *out = masu__bestfit_hand_out(pool, region->first, &request, MASU__GRAIN);
    return MASU_OK;
}

static masu_status pool_carry(masu_bestfit *pool, void *ptr, uint32_t client, size_t old_bytes, size_t new_bytes,
                              size_t alignment, void **out) {
    size_t known;
    masu_status status = masu__bestfit_known(pool, ptr, client, &known);
    if (status != MASU_OK)
        return status;
    if (old_bytes != 0 && old_bytes != known)
        return MASU_ERR_SIZE_MISMATCH;
    if (!masu__bestfit_regions_reserve(pool) || !masu__blocks_reserve(&pool->blocks, 2))
        return MASU_ERR_OUT_OF_MEMORY;
    masu__block_id id = masu__blocks_find(&pool->blocks, (uintptr_t)ptr);
    if (!may_carry(pool, &pool->blocks.at[id], new_bytes, alignment))
        return MASU_ERR_OUT_OF_MEMORY;
    return carry(pool, id, new_bytes, out);
}

masu_status masu__bestfit_carry(masu_bestfit *pool, void *ptr, uint32_t client, size_t old_bytes, size_t new_bytes,
                                size_t alignment, void **out) {
    masu__bestfit_lock(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu_status status = pool_carry(pool, ptr, client, old_bytes, new_bytes, alignment, out);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__bestfit_unlock(pool);
    return status;
}

void masu__bestfit_drop_carried(masu_bestfit *pool) {
    for (size_t i = pool->region_count; i-- > 0;)
        if (pool->regions[i]->carried && masu__region_wholly_free(pool, pool->regions[i]))
            (void)masu__bestfit_drop_region(pool, i); /* what the device refuses stays in the pool */
}
