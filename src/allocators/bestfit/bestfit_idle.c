/* bestfit_idle.c: pages that were used and lie idle inside device blocks, and the three grounds on which they go back:
 * the other ground needs pages, they are too many, they are too old.
 *
 *     region   │ live │ free, idle │ live │ free, clean │ live │ free, idle ┆ never used │
 *                                                                           └ used_end
 *
 * An emptied block is clean, or lies behind used_end: it is not emptied twice.
 */
#include "allocators/bestfit/bestfit_pool.h"

#include "base/size.h"

enum { LEAST_BYTES = 64 << 10 }; /* smaller blocks are not worth a call of the system */

/* How many bytes of a free block may be in pages that were used. */
static size_t block_idle(const masu__region *region, const masu__block *block) {
    if (block->state != MASU__BLOCK_FREE || block->clean || block->address >= region->used_end)
        return 0;
    return masu__min(block->bytes, region->used_end - block->address);
}

static uint64_t ground_idle(const masu_bestfit *pool, uint32_t ground) {
    uint64_t idle = 0;
    for (size_t i = 0; i < pool->region_count; i++)
        for (masu__block_id id = pool->regions[i]->first; id; id = pool->blocks.at[id].after)
            idle += pool->regions[i]->ground == ground ? block_idle(pool->regions[i], &pool->blocks.at[id]) : 0;
    return idle;
}

/* Up to the end of the page that was used last. */
static void block_empty(masu_bestfit *pool, masu__region *region, masu__block *block, size_t idle) {
    uintptr_t end = masu__align_up_small(block->address + idle, pool->device->info.granularity_bytes);
    masu__device_purge(pool->device, (void *)block->address, masu__min(end - block->address, block->bytes));
    if (block->after == 0)
        region->used_end = block->address;
    else
        block->clean = true;
}

void masu__bestfit_swap_pages(masu_bestfit *pool, uint32_t ground, size_t bytes, size_t keep_bytes) {
    enum { STEP = 1 << 20 };
    pool->grown_bytes += bytes;
    if (!pool->apart || pool->grown_bytes < masu__max(pool->swap_step, STEP) || pool->policy == MASU_POOL_PERSISTENT)
        return;
    pool->grown_bytes = 0;
    uint64_t idle = ground_idle(pool, !ground);
    if (idle > keep_bytes)
        pool->swap_step = masu__max(2 * pool->swap_step, STEP);
    for (size_t i = 0; i < pool->region_count && idle > keep_bytes; i++) {
        masu__region *region = pool->regions[i];
        for (masu__block_id id = region->ground == ground ? 0 : region->first; id && idle > keep_bytes;
             id = pool->blocks.at[id].after) {
            size_t here = block_idle(region, &pool->blocks.at[id]);
            if (here < LEAST_BYTES)
                continue;
            block_empty(pool, region, &pool->blocks.at[id], here);
            idle -= here;
        }
    }
}

/* The oldest first: what was used last is what is used next. */
void masu__bestfit_cap_pages(masu_bestfit *pool, uint64_t keep_bytes) {
    uint64_t idle = ground_idle(pool, MASU__GROUND_BLOCKS) + ground_idle(pool, MASU__GROUND_SLABS);
    if (pool->policy == MASU_POOL_PERSISTENT)
        return;
    for (int age = UINT8_MAX; age >= 0 && idle > keep_bytes; age = age > 2 ? 2 : age - 1)
        for (size_t i = pool->region_count; i-- > 0 && idle > keep_bytes;)
            for (masu__block_id id = pool->regions[i]->first; id && idle > keep_bytes; id = pool->blocks.at[id].after) {
                masu__block *block = &pool->blocks.at[id];
                size_t here = block_idle(pool->regions[i], block);
                if (here == 0 || block->age < age)
                    continue;
                block_empty(pool, pool->regions[i], block, here);
                idle -= here;
            }
}

void masu__bestfit_age(masu_bestfit *pool, unsigned most) {
    if (pool->policy == MASU_POOL_PERSISTENT)
        return;
    for (size_t i = 0; i < pool->region_count; i++)
        for (masu__block_id id = pool->regions[i]->first; id; id = pool->blocks.at[id].after) {
            masu__block *block = &pool->blocks.at[id];
            size_t here = block_idle(pool->regions[i], block);
            if (here == 0)
                continue;
            block->age += block->age < UINT8_MAX;
            if (block->age >= most && here >= LEAST_BYTES)
                block_empty(pool, pool->regions[i], block, here);
        }
}
