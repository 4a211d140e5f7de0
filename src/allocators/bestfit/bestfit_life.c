/* bestfit_life.c: birth and death of a best-fit pool, its statistics, and the check of its
 * equations. */
#include "allocators/bestfit/bestfit_pool.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

/* No more than the device has. */
static size_t default_bytes(const masu_device *device) {
    uint64_t has = device ? device->info.memory_bytes : 0;
    if (has == 0 || has >= MASU_BESTFIT_POOL_BYTES)
        return MASU_BESTFIT_POOL_BYTES;
    return masu__max(masu__align_down((size_t)has, device->info.granularity_bytes), 1);
}

masu_bestfit_config masu_bestfit_config_default(masu_device *device) {
    size_t bytes = default_bytes(device);
    return (masu_bestfit_config){
        .device = device,
        .pool_bytes = bytes,
        .initial_bytes = bytes,
        .min_remainder_bytes = MASU_BESTFIT_MIN_REMAINDER_BYTES,
        .policy = MASU_POOL_REUSE,
        .thread_safe = true,
    };
}

static bool config_valid(const masu_bestfit_config *config) {
    return config && config->device && config->pool_bytes > 0 &&
           (config->policy == MASU_POOL_REUSE || config->policy == MASU_POOL_PERSISTENT) &&
           (config->size_steps == 0 || (masu__is_power_of_two(config->size_steps) && config->size_steps <= 256)) &&
           (config->min_alignment_bytes == 0 || masu__is_power_of_two(config->min_alignment_bytes)) &&
           config->device->info.alignment_bytes >= MASU__GRAIN && config->device->info.granularity_bytes >= MASU__GRAIN;
}

/* A limit may be any number: the granule that it ends in is within it. */
static size_t limit_of(const masu_device *device, size_t limit_bytes) {
    size_t limit;
    return limit_bytes && masu__align_up(limit_bytes, device->info.granularity_bytes, &limit) ? limit : SIZE_MAX;
}

/* A device whose memory ends within a granule has the whole ones. */
static size_t initial_least(const masu_bestfit_config *config) {
    size_t whole = masu__align_down(config->initial_bytes, config->device->info.granularity_bytes);
    return whole ? whole : config->initial_bytes;
}

static masu_status first_region(masu_bestfit *pool, size_t bytes, size_t least) {
    return masu__bestfit_add_region(pool, &(masu__growth){bytes, least, false, MASU__GROUND_BLOCKS}, NULL);
}

/* A default is not a demand: a device that does not say how much it has is asked for half until it gives some, and
 * grows by that. */
static masu_status begin_with(masu_bestfit *pool, const masu_bestfit_config *config) {
    const masu_device_info *info = &config->device->info;
    bool guessed = info->memory_bytes == 0 && config->initial_bytes == MASU_BESTFIT_POOL_BYTES;
    masu_status status = first_region(pool, config->initial_bytes, initial_least(config));
    for (size_t bytes = config->initial_bytes / 2;
         guessed && status == MASU_ERR_OUT_OF_MEMORY && bytes >= info->granularity_bytes; bytes /= 2) {
        bytes = masu__align_down(bytes, info->granularity_bytes);
        status = first_region(pool, bytes, bytes);
        pool->pool_bytes = masu__min(config->pool_bytes, bytes);
    }
    return status;
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
    pool->trace = config->trace;
    pool->annotated = masu__annotate_wanted() && (config->device->info.flags & MASU_DEVICE_HOST_ACCESS) != 0;
    pool->pool_bytes = config->pool_bytes;
    pool->limit_bytes = limit_of(config->device, config->limit_bytes);
    pool->size_steps = config->size_steps;
    pool->whole_above_bytes = config->whole_above_bytes ? config->whole_above_bytes : SIZE_MAX;
    pool->whole_slack_bytes = config->whole_slack_bytes;
    pool->idle_allocations = pool->idle_look = config->idle_allocations;
    pool->max_idle_bytes = config->max_idle_bytes ? config->max_idle_bytes : SIZE_MAX;
    pool->leaked = config->leaked;
    pool->leaked_context = config->leaked_context;
    pool->min_alignment_bytes = masu__max(config->min_alignment_bytes, MASU__GRAIN);
    pool->min_remainder_bytes = masu__max(config->min_remainder_bytes, MASU__GRAIN);
    pool->number = masu__trace_new_pool();
    masu__trace_know_pool(pool->trace, pool->number, "best fit", config->name, 0);
    for (uint32_t g = 0; g < MASU__GROUNDS; g++)
        pool->index[g] = &masu__no_index;
    masu__lock_init(&pool->lock, MASU__RANK_BESTFIT);
    masu_status status = config->initial_bytes > 0 ? begin_with(pool, config) : MASU_OK;
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
    masu_status status = masu__bestfit_live(pool) == 0 ? MASU_OK : MASU_ERR_LEAK;
    if (status != MASU_OK) {
        masu_bestfit_visit_live(pool, pool->leaked, pool->leaked_context);
        masu_bestfit_reset(pool);
    }
    for (size_t i = pool->region_count; i-- > 0;)
        if (masu__bestfit_drop_region(pool, i) != MASU_OK && status == MASU_OK)
            status = MASU_ERR_DEVICE_FAILURE;
    for (size_t i = 0; i < pool->region_count; i++)
        masu__meta_free(pool->regions[i], sizeof *pool->regions[i]);
    masu__meta_free(pool->regions, pool->region_capacity * sizeof *pool->regions);
    for (uint32_t g = 0; g < MASU__GROUNDS; g++)
        if (pool->index[g] != &masu__no_index)
            masu__meta_pages_back(pool->index[g], sizeof *pool->index[g]);
    masu__blocks_destroy(&pool->blocks);
    masu__lock_destroy(&pool->lock);
    pool->magic = MASU__POOL_DEAD;
    masu__meta_retire(pool, sizeof *pool);
    return status;
}

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static size_t metadata_bytes(const masu_bestfit *pool) {
    size_t indexes = 0;
    for (uint32_t g = 0; g < MASU__GROUNDS; g++)
        indexes += pool->index[g] != &masu__no_index;
    return sizeof *pool + indexes * sizeof **pool->index + masu__blocks_bytes(&pool->blocks) +
           pool->region_capacity * sizeof *pool->regions + pool->region_count * sizeof **pool->regions;
}

static void stats_derive(const masu_bestfit *pool, masu_bestfit_stats *out) {
    const masu__bestfit_counts *counts = &pool->counts;
    *out = (masu_bestfit_stats){
        .allocations = counts->allocations,
        .frees = counts->frees,
        .failures = counts->failures,
        .hits = counts->allocations - counts->misses,
        .misses = counts->misses,
        .device_allocations = counts->device_allocations,
        .device_frees = counts->device_frees,
        .allocated_bytes = counts->allocated_bytes,
        .freed_bytes = counts->freed_bytes,
        .used_bytes = masu__bestfit_used(pool),
        .slack_bytes = counts->slack_bytes,
        .free_bytes = masu__bestfit_free_bytes(pool),
        .reserved_bytes = counts->reserved_bytes,
        .peak_used_bytes = counts->peak_used_bytes,
        .peak_reserved_bytes = counts->peak_reserved_bytes,
        .largest_free_bytes = masu__bestfit_largest_free(pool),
        .live_blocks = masu__bestfit_live(pool),
        .free_blocks = masu__blocks_in_use(&pool->blocks) - masu__bestfit_live(pool),
        .device_blocks = pool->region_count,
        .metadata_bytes = metadata_bytes(pool),
    };
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

/* Blocks in use stay counted: as if just those blocks had been allocated, with hits. */
void masu_bestfit_set_limit(masu_bestfit *pool, size_t limit_bytes) {
    if (!pool)
        return;
    masu__bestfit_lock(pool);
    pool->limit_bytes = limit_of(pool->device, limit_bytes);
    masu__bestfit_unlock(pool);
}

void masu_bestfit_reset_stats(masu_bestfit *pool) {
    if (!pool)
        return;
    masu__bestfit_lock(pool);
    uint64_t used = masu__bestfit_used(pool), reserved = pool->counts.reserved_bytes;
    pool->counts = (masu__bestfit_counts){
        .allocations = masu__bestfit_live(pool),
        .device_allocations = pool->region_count,
        .allocated_bytes = used,
        .slack_bytes = pool->counts.slack_bytes,
        .reserved_bytes = reserved,
        .peak_used_bytes = used,
        .peak_reserved_bytes = reserved,
    };
    masu__bestfit_unlock(pool);
}

static bool visit_region(const masu__block *at, const masu__region *region, masu_bestfit_visitor visitor,
                         void *context) {
    for (masu__block_id id = region->first; id; id = at[id].after) {
        const masu__block *block = &at[id];
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
        if (!visit_region(pool->blocks.at, pool->regions[i], visitor, context))
            break;
    masu__bestfit_unlock(pool);
}

uint32_t masu_bestfit_number(const masu_bestfit *pool) {
    return pool->number;
}

/* ---- the equations --------------------------------------------------------------------------- */

typedef struct tally {
    size_t used, slack, free_bytes, live_count, free_count;
    size_t whole_bytes, whole_count; /* of the free ones, those outside the index */
} tally;

static bool block_valid(const masu_bestfit *pool, const masu__region *region, masu__block_id id, uintptr_t expected,
                        tally *t) {
    const masu__block *at = pool->blocks.at, *block = &at[id];
    if (block->address != expected || block->bytes == 0 || block->bytes % MASU__GRAIN != 0)
        return false;
    if (block->before ? at[block->before].after != id : region->first != id)
        return false;
    if (block->state == MASU__BLOCK_WHOLE) {
        t->whole_bytes += block->bytes;
        t->whole_count++;
    }
    if (block->state == MASU__BLOCK_FREE || block->state == MASU__BLOCK_WHOLE) {
        t->free_bytes += block->bytes;
        t->free_count++;
        return at[block->before].state != MASU__BLOCK_FREE; /* record 0 never is */
    }
    t->used += block->as.live.requested;
    t->slack += block->bytes - block->as.live.requested;
    t->live_count++;
    return masu__block_is_live(block) && block->as.live.requested > 0 && block->as.live.requested <= block->bytes;
}

static bool region_valid(const masu_bestfit *pool, const masu__region *region, tally *t) {
    uintptr_t expected = region->base;
    for (masu__block_id id = region->first; id; id = pool->blocks.at[id].after) {
        if (!block_valid(pool, region, id, expected, t))
            return false;
        if (pool->blocks.at[id].ground != region->ground)
            return false;
        if (region->whole ? pool->blocks.at[id].bytes != region->bytes || pool->blocks.at[id].state == MASU__BLOCK_FREE
                          : pool->blocks.at[id].state == MASU__BLOCK_WHOLE)
            return false;
        expected += pool->blocks.at[id].bytes;
    }
    return expected == region->base + region->bytes;
}

static bool counts_valid(const masu_bestfit *pool, const tally *t, size_t reserved) {
    const masu__bestfit_counts *counts = &pool->counts;
    return counts->misses <= counts->allocations && masu__bestfit_live(pool) == t->live_count &&
           masu__bestfit_used(pool) == t->used && counts->slack_bytes == t->slack &&
           counts->reserved_bytes == reserved && t->used + t->slack + t->free_bytes == reserved &&
           counts->peak_used_bytes >= t->used && counts->peak_reserved_bytes >= reserved &&
           counts->device_allocations - counts->device_frees == pool->region_count;
}

/* The chains hold the records of the table and of the index, each once. */
static bool records_valid(const masu_bestfit *pool, const tally *t) {
    masu__free_tally found = {0};
    for (uint32_t g = 0; g < MASU__GROUNDS; g++) {
        masu__free_tally in_one;
        if (!masu__free_index_valid(pool->index[g], &pool->blocks, &in_one))
            return false;
        found.count += in_one.count;
        found.bytes += in_one.bytes;
    }
    return masu__blocks_valid(&pool->blocks) && masu__blocks_in_use(&pool->blocks) == t->live_count + t->free_count &&
           found.count == t->free_count - t->whole_count && found.bytes == t->free_bytes - t->whole_bytes;
}

bool masu__bestfit_valid_unlocked(const masu_bestfit *pool) {
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
    return pool->magic == MASU__POOL_LIVE && records_valid(pool, &t) && counts_valid(pool, &t, reserved);
}

bool masu__bestfit_audit(masu_bestfit *pool) {
    if (pool->audit_pause > 0) {
        pool->audit_pause--;
        return true;
    }
    pool->audit_pause = masu__blocks_in_use(&pool->blocks) / 256;
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
