/* bestfit_life.c: birth and death of a best-fit pool, its statistics, and the check of its
 * equations. */
#include "allocators/bestfit_pool.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

masu_bestfit_config masu_bestfit_config_default(masu_device *device) {
    return (masu_bestfit_config){
        .device = device,
        .pool_bytes = MASU_BESTFIT_POOL_BYTES,
        .initial_bytes = MASU_BESTFIT_POOL_BYTES,
        .min_remainder_bytes = MASU_BESTFIT_MIN_REMAINDER_BYTES,
        .policy = MASU_POOL_REUSE,
        .thread_safe = true,
    };
}

static bool config_valid(const masu_bestfit_config *config) {
    return config && config->device && config->pool_bytes > 0 &&
           (config->policy == MASU_POOL_REUSE || config->policy == MASU_POOL_PERSISTENT) &&
           config->device->info.alignment_bytes >= MASU__GRAIN &&
           config->device->info.granularity_bytes >= MASU__GRAIN;
}

masu_status masu_bestfit_create(const masu_bestfit_config *config, masu_bestfit **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!config_valid(config))
        return MASU_ERR_INVALID_ARGUMENT;
    masu_bestfit *pool = masu__meta_calloc(1, sizeof *pool);
    if (!pool)
        return MASU_ERR_OUT_OF_MEMORY;
    pool->magic = MASU__POOL_LIVE;
    pool->thread_safe = config->thread_safe;
    pool->policy = config->policy;
    pool->device = config->device;
    pool->trace = masu__trace_or_none(config->trace);
    pool->annotated =
        masu__annotate_wanted() && (config->device->info.flags & MASU_DEVICE_HOST_ACCESS) != 0;
    pool->pool_bytes = config->pool_bytes;
    pool->limit_bytes = config->limit_bytes ? config->limit_bytes : SIZE_MAX;
    pool->min_remainder_bytes = masu__max(config->min_remainder_bytes, MASU__GRAIN);
    pool->number = masu__trace_new_pool();
    pool->live.shift = MASU__GRAIN_SHIFT;
    masu__lock_init(&pool->lock, MASU__RANK_BESTFIT);
    masu_status status = MASU_OK;
    if (config->initial_bytes > 0)
        status = masu__bestfit_add_region(pool, config->initial_bytes, config->initial_bytes);
    if (status != MASU_OK) {
        masu_bestfit_destroy(pool);
        return status;
    }
    *out = pool;
    return MASU_OK;
}

masu_status masu_bestfit_destroy(masu_bestfit *pool) {
    if (!pool)
        return MASU_OK;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    masu_status status = pool->live.count == 0 ? MASU_OK : MASU_ERR_LEAK;
    if (pool->live.count > 0)
        masu_bestfit_reset(pool);
    for (size_t i = pool->region_count; i-- > 0;)
        if (masu__bestfit_drop_region(pool, i) != MASU_OK && status == MASU_OK)
            status = MASU_ERR_DEVICE_FAILURE;
    for (size_t i = 0; i < pool->region_count; i++)
        masu__meta_free(pool->regions[i], sizeof *pool->regions[i]);
    masu__meta_free(pool->regions, pool->region_capacity * sizeof *pool->regions);
    masu__block_store_destroy(&pool->store);
    masu__address_map_destroy(&pool->live);
    masu__lock_destroy(&pool->lock);
    pool->magic = MASU__POOL_DEAD;
    masu__meta_retire(pool, sizeof *pool);
    return status;
}

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static void stats_derive(const masu_bestfit *pool, masu_bestfit_stats *out) {
    *out = pool->stats;
    out->free_bytes = pool->index.bytes;
    out->largest_free_bytes = masu__free_index_largest(&pool->index);
    out->live_blocks = pool->live.count;
    out->free_blocks = pool->index.count;
    out->device_blocks = pool->region_count;
    out->metadata_bytes = sizeof *pool + masu__block_store_bytes(&pool->store) +
                          masu__address_map_bytes(&pool->live) +
                          pool->region_capacity * sizeof *pool->regions +
                          pool->region_count * sizeof **pool->regions;
    out->internal_fragmentation = share(out->slack_bytes, out->used_bytes + out->slack_bytes);
    out->external_fragmentation = share(out->free_bytes - out->largest_free_bytes, out->free_bytes);
    out->hit_rate = share(out->hits, out->allocations);
}

void masu_bestfit_get_stats(masu_bestfit *pool, masu_bestfit_stats *out) {
    *out = (masu_bestfit_stats){0};
    if (!pool)
        return;
    masu__bestfit_lock(pool);
    stats_derive(pool, out);
    masu__bestfit_unlock(pool);
}

/* What is in use stays counted: as if just those blocks had been allocated, with hits. */
void masu_bestfit_reset_stats(masu_bestfit *pool) {
    if (!pool)
        return;
    masu__bestfit_lock(pool);
    masu_bestfit_stats old = pool->stats;
    pool->stats = (masu_bestfit_stats){
        .allocations = pool->live.count,
        .hits = pool->live.count,
        .device_allocations = pool->region_count,
        .allocated_bytes = old.used_bytes,
        .used_bytes = old.used_bytes,
        .slack_bytes = old.slack_bytes,
        .reserved_bytes = old.reserved_bytes,
        .peak_used_bytes = old.used_bytes,
        .peak_reserved_bytes = old.reserved_bytes,
    };
    masu__bestfit_unlock(pool);
}

static bool visit_region(const masu__region *region, masu_bestfit_visitor visitor, void *context) {
    for (const masu__block *block = region->first; block; block = block->after) {
        if (!masu__block_is_live(block))
            continue;
        masu_bestfit_block seen = {
            .address = (void *)block->address,
            .bytes = block->as.live.requested,
            .block_bytes = block->bytes,
            .owner = block->as.live.owner,
            .serial = block->as.live.serial,
        };
        if (!visitor(context, &seen))
            return false;
    }
    return true;
}

void masu_bestfit_visit_live(masu_bestfit *pool, masu_bestfit_visitor visitor, void *context) {
    if (!pool || !visitor)
        return;
    masu__bestfit_lock(pool);
    for (size_t i = 0; i < pool->region_count; i++)
        if (!visit_region(pool->regions[i], visitor, context))
            break;
    masu__bestfit_unlock(pool);
}

uint32_t masu_bestfit_number(const masu_bestfit *pool) {
    return pool->number;
}

/* ---- the equations --------------------------------------------------------------------------- */

typedef struct tally {
    size_t used, slack, free_bytes, live_count, free_count;
} tally;

static bool block_valid(const masu_bestfit *pool, const masu__region *region,
                        const masu__block *block, uintptr_t expected, tally *t) {
    const masu__block *before = block->before;
    if (block->address != expected || block->region != region || block->bytes == 0 ||
        block->bytes % MASU__GRAIN != 0)
        return false;
    if (before ? before->after != block : region->first != block)
        return false;
    if (block->state == MASU__BLOCK_FREE) {
        t->free_bytes += block->bytes;
        t->free_count++;
        return !before || before->state != MASU__BLOCK_FREE;
    }
    t->used += block->as.live.requested;
    t->slack += block->bytes - block->as.live.requested;
    t->live_count++;
    return masu__block_is_live(block) && block->as.live.requested > 0 &&
           block->as.live.requested <= block->bytes &&
           masu__address_map_get(&pool->live, block->address) == block;
}

static bool region_valid(const masu_bestfit *pool, const masu__region *region, tally *t) {
    uintptr_t expected = region->base;
    for (const masu__block *block = region->first; block; block = block->after) {
        if (!block_valid(pool, region, block, expected, t))
            return false;
        expected += block->bytes;
    }
    return expected == region->base + region->bytes;
}

bool masu__bestfit_valid_unlocked(const masu_bestfit *pool) {
    const masu_bestfit_stats *stats = &pool->stats;
    tally t = {0};
    size_t reserved = 0;
    for (size_t i = 0; i < pool->region_count; i++) {
        const masu__region *region = pool->regions[i];
        if (i > 0 && pool->regions[i - 1]->base + pool->regions[i - 1]->bytes > region->base)
            return false;
        if (!region_valid(pool, region, &t))
            return false;
        reserved += region->bytes;
    }
    return pool->magic == MASU__POOL_LIVE && masu__free_index_valid(&pool->index) &&
           masu__address_map_valid(&pool->live) && t.live_count == pool->live.count &&
           t.free_count == pool->index.count && t.free_bytes == pool->index.bytes &&
           t.used == stats->used_bytes && t.slack == stats->slack_bytes &&
           reserved == stats->reserved_bytes && t.used + t.slack + t.free_bytes == reserved &&
           stats->hits + stats->misses == stats->allocations &&
           stats->allocations - stats->frees == t.live_count &&
           stats->allocated_bytes - stats->freed_bytes == t.used &&
           stats->peak_used_bytes >= t.used && stats->peak_reserved_bytes >= reserved &&
           stats->device_allocations - stats->device_frees == pool->region_count;
}

bool masu__bestfit_audit(masu_bestfit *pool) {
    if (pool->audit_pause > 0) {
        pool->audit_pause--;
        return true;
    }
    pool->audit_pause = (pool->live.count + pool->index.count) / 256;
    return masu__bestfit_valid_unlocked(pool);
}

bool masu_bestfit_valid(masu_bestfit *pool) {
    if (!pool || pool->magic != MASU__POOL_LIVE)
        return false;
    masu__bestfit_lock(pool);
    bool valid = masu__bestfit_valid_unlocked(pool);
    masu__bestfit_unlock(pool);
    return valid;
}
