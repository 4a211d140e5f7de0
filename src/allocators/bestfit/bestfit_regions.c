/* bestfit_regions.c: the pool's dealings with its device: grow, trim, give back. */
#include "allocators/bestfit/bestfit_pool.h"

#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

/* Position of the first region with a base above address. */
static size_t regions_above(const masu_bestfit *pool, uintptr_t address) {
    size_t low = 0, high = pool->region_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pool->regions[middle]->base > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

masu__region *masu__bestfit_region_of(const masu_bestfit *pool, uintptr_t address) {
    size_t position = regions_above(pool, address);
    if (position == 0)
        return NULL;
    masu__region *region = pool->regions[position - 1];
    return address - region->base < region->bytes ? region : NULL;
}

bool masu__bestfit_regions_reserve(masu_bestfit *pool) {
    if (pool->region_count < pool->region_capacity)
        return true;
    size_t capacity = masu__max(8, 2 * pool->region_capacity);
    masu__region **regions = masu__meta_realloc(pool->regions, pool->region_capacity * sizeof *regions,
                                                capacity * sizeof *regions);
    if (!regions)
        return false;
    pool->regions = regions;
    pool->region_capacity = capacity;
    return true;
}

void masu__bestfit_install(masu_bestfit *pool, masu__region *region) {
    size_t position = regions_above(pool, region->base);
    memmove(&pool->regions[position + 1], &pool->regions[position],
            (pool->region_count - position) * sizeof *pool->regions);
    pool->regions[position] = region;
    pool->region_count++;

    masu__block_id id = masu__blocks_take(&pool->blocks);
    masu__block *block = &pool->blocks.at[id];
    block->address = region->base;
    block->bytes = region->bytes;
    block->ground = (uint16_t)region->ground;
    block->clean = false;
    block->age = 0;
    block->before = block->after = 0;
    region->first = id;
    region->free_since = pool->serial;
    region->used_end = region->base;
    if (region->whole)
        block->state = MASU__BLOCK_WHOLE;
    else
        masu__free_index_insert(pool->index[region->ground], &pool->blocks, id);

    if (pool->annotated)
        masu__annotate_fresh((void *)region->base, region->bytes);
    masu__bestfit_counts *counts = &pool->counts;
    counts->device_allocations++;
    counts->reserved_bytes += region->bytes;
    counts->peak_reserved_bytes = masu__max(counts->peak_reserved_bytes, counts->reserved_bytes);
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_EXTENT_ADD, region->base, region->bytes, region->bytes, 0, 0);
}

/* How much the device may still be asked for, in whole granules. */
size_t masu__bestfit_room(const masu_bestfit *pool) {
    size_t reserved = (size_t)pool->counts.reserved_bytes;
    size_t room = pool->limit_bytes > reserved ? pool->limit_bytes - reserved : 0;
    return masu__align_down(room, pool->device->info.granularity_bytes);
}

static masu_status trim_regions(masu_bestfit *pool, size_t keep_bytes);

/* Gives back wholly free regions, which are in the way of a larger block: false when nothing could be given back. */
static bool pool_give_way(masu_bestfit *pool) {
    uint64_t reserved = pool->counts.reserved_bytes;
    if (pool->policy != MASU_POOL_PERSISTENT)
        (void)trim_regions(pool, 0);
    return pool->counts.reserved_bytes < reserved;
}

/* Under a limit, free device blocks are in the way of a larger one: they go first. */
static masu_status pool_make_room(masu_bestfit *pool, size_t least_bytes, size_t *room) {
    *room = SIZE_MAX;
    if (pool->limit_bytes == SIZE_MAX)
        return MASU_OK;
    if (least_bytes > pool->limit_bytes)
        return MASU_ERR_LIMIT_REACHED;
    *room = masu__bestfit_room(pool);
    if (*room < least_bytes && pool_give_way(pool))
        *room = masu__bestfit_room(pool);
    return *room < least_bytes ? MASU_ERR_LIMIT_REACHED : MASU_OK;
}

/* The most that the device can ever have: above it no memory that is given back helps. */
static size_t most_of(const masu_device *device) {
    uint64_t has = device->info.memory_bytes;
    return has ? (size_t)has : (size_t)1 << 47;
}

/* The memory of a region that has none yet. */
static masu_status region_obtain(masu_bestfit *pool, const masu__growth *growth, masu__region *region) {
    void *base = NULL;
    size_t room, least = growth->least_bytes;
    masu_status status = pool_make_room(pool, least, &room);
    if (status == MASU_OK)
        status = masu__device_alloc(pool->device, masu__min(growth->wanted_bytes, room), &base, &region->bytes);
    if (status != MASU_OK && status != MASU_ERR_LIMIT_REACHED && least < growth->wanted_bytes)
        status = masu__device_alloc(pool->device, least, &base, &region->bytes);
    if (status == MASU_ERR_OUT_OF_MEMORY && least <= most_of(pool->device) && pool_give_way(pool))
        status = masu__device_alloc(pool->device, least, &base, &region->bytes);
    region->base = (uintptr_t)base;
    return status;
}

MASU_LARGE_TABLE masu__free_index masu__no_index;

/* Those of its pages take memory whose sizes occur. */
static bool index_make(masu_bestfit *pool, uint32_t ground) {
    if (pool->index[ground] != &masu__no_index)
        return true;
    masu__free_index *index = masu__fault_hit() ? NULL : masu__meta_pages(sizeof *index);
    if (!index)
        return false;
    masu__free_index_begin(index, ground);
    pool->index[ground] = index;
    return true;
}

void masu__bestfit_keep_apart(masu_bestfit *pool, bool doubles) {
    MASU_ASSERT(pool->region_count == 0);
    pool->doubles = doubles;
    pool->apart = true;
}

masu_status masu__bestfit_add_region(masu_bestfit *pool, const masu__growth *growth, masu__region **out) {
    if (!masu__bestfit_regions_reserve(pool) || !masu__blocks_reserve(&pool->blocks, 3) ||
        !index_make(pool, growth->ground))
        return MASU_ERR_OUT_OF_MEMORY;
    masu__region *region = masu__meta_calloc(1, sizeof *region);
    if (!region)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = region_obtain(pool, growth, region);
    if (status != MASU_OK) {
        masu__meta_free(region, sizeof *region);
        return status;
    }
    region->whole = growth->whole;
    region->ground = growth->ground;
    masu__bestfit_install(pool, region);
    if (out)
        *out = region;
    return MASU_OK;
}

/* Addresses cost next to nothing in the process-wide pool, and the end of each region is lost to large blocks: so it
 * grows by as much as it has. */
static size_t usual_growth(const masu_bestfit *pool) {
    enum { MOST_LOG = 32 };
    return pool->doubles
               ? masu__max(pool->pool_bytes, masu__min((size_t)pool->counts.reserved_bytes, (size_t)1 << MOST_LOG))
               : pool->pool_bytes;
}

/* First the growth that serves later requests too, then just what this one needs. A request larger than
 * that growth gets what it needs at once: twice as much would be half idle. */
masu_status masu__bestfit_grow(masu_bestfit *pool, uint32_t ground, size_t bytes, size_t alignment) {
    size_t needed = bytes;
    if (alignment > pool->device->info.alignment_bytes && !masu__add(bytes, alignment, &needed))
        return MASU_ERR_OVERFLOW;
    masu__growth growth = {masu__max(usual_growth(pool), needed), needed, false, ground};
    masu__bestfit_drop_idle(pool);
    return masu__bestfit_add_region(pool, &growth, NULL);
}

/* The device has it back; its one block is in no list. */
static void region_forget(masu_bestfit *pool, size_t position) {
    const masu__region *region = pool->regions[position];
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_EXTENT_DROP, region->base, region->bytes, region->bytes, 0, 0);
    masu__blocks_put_back(&pool->blocks, region->first);
    pool->counts.reserved_bytes -= region->bytes;
    pool->counts.device_frees++;
    pool->region_count--;
    memmove(&pool->regions[position], &pool->regions[position + 1],
            (pool->region_count - position) * sizeof *pool->regions);
}

masu__region *masu__bestfit_detach(masu_bestfit *pool, uintptr_t address) {
    size_t position = regions_above(pool, address) - 1;
    masu__region *region = pool->regions[position];
    region_forget(pool, position);
    return region;
}

masu_status masu__bestfit_drop_region(masu_bestfit *pool, size_t position) {
    masu__region *region = pool->regions[position];
    MASU_ASSERT(masu__region_wholly_free(pool, region));
    if (pool->annotated)
        masu__annotate_open((void *)region->base, region->bytes);
    masu_status status = masu__device_free(pool->device, (void *)region->base, region->bytes);
    if (status != MASU_OK) {
        if (pool->annotated)
            masu__annotate_fresh((void *)region->base, region->bytes);
        return MASU_ERR_DEVICE_FAILURE;
    }
    if (!region->whole)
        masu__free_index_remove(pool->index[region->ground], &pool->blocks, region->first);
    region_forget(pool, position);
    masu__meta_free(region, sizeof *region);
    return MASU_OK;
}

/* The pieces become one free block. */
static void region_make_whole(masu_bestfit *pool, const masu__region *region) {
    if (pool->annotated)
        masu__annotate_fresh((void *)region->base, region->bytes);
    pool->blocks.at[region->first].state = MASU__BLOCK_SPARE;
    while (pool->blocks.at[region->first].after)
        masu__blocks_join_after(&pool->blocks, region->first);
}

void masu_bestfit_reset(masu_bestfit *pool) {
    if (!pool)
        return;
    masu__bestfit_lock(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__blocks_forget_live(&pool->blocks);
    for (uint32_t g = 0; g < MASU__GROUNDS; g++)
        if (pool->index[g] != &masu__no_index)
            masu__free_index_clear(pool->index[g]);
    for (size_t i = 0; i < pool->region_count; i++)
        region_make_whole(pool, pool->regions[i]);
    for (size_t i = 0; i < pool->region_count; i++)
        if (!masu__bestfit_region_freed(pool, pool->regions[i]->first))
            masu__free_index_insert(pool->index[pool->regions[i]->ground], &pool->blocks, pool->regions[i]->first);
    masu__bestfit_counts *counts = &pool->counts;
    counts->freed_bytes = counts->allocated_bytes;
    counts->frees = counts->allocations;
    counts->slack_bytes = 0;
    counts->peak_used_bytes = 0;
    counts->peak_reserved_bytes = counts->reserved_bytes;
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_RESET, 0, 0, 0, 0, 0);
    masu__bestfit_cap_idle(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__bestfit_unlock(pool);
}

static masu_status trim_regions(masu_bestfit *pool, size_t keep_bytes) {
    masu_status result = MASU_OK;
    for (size_t i = pool->region_count; i-- > 0;) {
        const masu__region *region = pool->regions[i];
        if (!masu__region_wholly_free(pool, region) || pool->counts.reserved_bytes - region->bytes < keep_bytes)
            continue;
        masu_status status = masu__bestfit_drop_region(pool, i);
        if (status != MASU_OK)
            result = status;
    }
    return result;
}

/* Empties free memory between live blocks, beyond keep_bytes. */
static void purge_free(masu_bestfit *pool, size_t keep_bytes) {
    uint64_t taken = masu__bestfit_used(pool) + pool->counts.slack_bytes;
    uint64_t keep = keep_bytes > taken ? keep_bytes - taken : 0;
    for (size_t i = 0; i < pool->region_count; i++)
        for (masu__block_id id = pool->regions[i]->first; id; id = pool->blocks.at[id].after) {
            const masu__block *block = &pool->blocks.at[id];
            size_t kept = masu__block_is_live(block) ? block->bytes : (size_t)masu__min(keep, block->bytes);
            keep -= masu__block_is_live(block) ? 0 : kept;
            if (!masu__block_is_live(block) && block->after == 0)
                pool->regions[i]->used_end = masu__min(pool->regions[i]->used_end, block->address + kept);
            if (kept < block->bytes)
                masu__device_purge(pool->device, (char *)block->address + kept, block->bytes - kept);
        }
}

static void first_block_moved(void *context, const masu__block *block, masu__block_id id) {
    masu__bestfit_region_of(context, block->address)->first = id;
}

masu_status masu_bestfit_trim(masu_bestfit *pool, size_t keep_bytes) {
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    if (pool->policy == MASU_POOL_PERSISTENT)
        return MASU_OK;
    masu__bestfit_lock(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu_status status = trim_regions(pool, keep_bytes);
    purge_free(pool, keep_bytes);
    if (masu__blocks_shrink(&pool->blocks, first_block_moved, pool))
        for (uint32_t g = 0; g < MASU__GROUNDS; g++)
            if (pool->index[g] != &masu__no_index)
                masu__free_index_renamed(pool->index[g], &pool->blocks);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__bestfit_unlock(pool);
    return status;
}
