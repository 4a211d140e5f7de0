/* bucket_life.c: birth and death of a bucket pool, its statistics, and the check of its
 * equations. */
#include "allocators/bucket/bucket_pool.h"

#include "base/meta.h"
#include "base/size.h"

masu_bucket_config masu_bucket_config_default(masu_bestfit *backing) {
    return (masu_bucket_config){
        .backing = backing,
        .small_blocks = 16,
        .medium_blocks = 8,
        .max_cached_bytes = (size_t)16 << 20,
#ifdef MASU_HEAVY
        .checked = true,
#endif
        .thread_safe = true,
    };
}

/* Slabs until so many blocks are ready, as far as the cap allows. */
static masu_status class_prepare(masu_bucket *pool, unsigned index, size_t blocks) {
    size_t block_bytes = masu__bucket_block_bytes(pool, index);
    while (pool->classes[index].blocks < blocks) {
        size_t room = (size_t)(pool->max_cached_bytes - masu__bucket_cached(pool)) / block_bytes;
        if (room == 0)
            return MASU_OK;
        masu_status status = masu__bucket_add_slab(pool, index, masu__min(room, MASU__SLAB_BYTES / block_bytes));
        if (status != MASU_OK)
            return status;
    }
    return MASU_OK;
}

static masu_status pool_prepare(masu_bucket *pool, const masu_bucket_config *config) {
    masu_status status = MASU_OK;
    for (unsigned i = 0; i < pool->class_count && status == MASU_OK; i++)
        status = class_prepare(pool, i,
                               pool->classes[i].block_bytes <= MASU_BUCKET_SMALL_BYTES ? config->small_blocks
                                                                                       : config->medium_blocks);
    masu__bucket_move_mark(pool);
    return status;
}

/* Two pools have one tag only when sixty thousand were made in between. */
static uint32_t tag_of(uint32_t number) {
    return MASU__TAG_CACHED + 1 + number % ((1u << (32 - MASU__TAG_SHIFT)) - MASU__TAG_CACHED - 1);
}

masu_status masu_bucket_create(const masu_bucket_config *config, masu_bucket **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!config || !config->backing)
        return MASU_ERR_INVALID_ARGUMENT;
    if (!(config->backing->device->info.flags & MASU_DEVICE_HOST_ACCESS))
        return MASU_ERR_UNSUPPORTED;
    masu_bucket *pool = masu__meta_calloc(1, sizeof *pool);
    if (!pool)
        return MASU_ERR_OUT_OF_MEMORY;
    pool->magic = MASU__POOL_LIVE;
    pool->thread_safe = config->thread_safe;
    pool->checked = config->checked;
    pool->always_remembers = config->remember_sizes;
    pool->remembers = config->checked || config->remember_sizes;
    pool->backing = config->backing;
    pool->trace = config->trace;
    pool->traced = config->trace != NULL;
    pool->annotated = config->backing->annotated;
    pool->number = masu__trace_new_pool();
    masu__trace_know_pool(pool->trace, pool->number, "bucket", config->name, config->backing->number);
    pool->tag = tag_of(pool->number);
    pool->max_cached_bytes = config->max_cached_bytes;
    pool->slabs.shift = MASU__SLAB_SHIFT;
    masu__bucket_set_classes(pool, config->fine_classes);
    masu__lock_init(&pool->lock, MASU__RANK_BUCKET);
    masu__bucket_move_care(pool);
    masu_status status = pool_prepare(pool, config);
    if (status != MASU_OK) {
        masu_bucket_destroy(pool);
        return status;
    }
    MASU_HEAVY_ASSERT(masu__bucket_audit(pool));
    *out = pool;
    return MASU_OK;
}

static uint64_t live_blocks(const masu_bucket *pool) {
    uint64_t live = 0;
    for (unsigned i = 0; i < pool->class_count; i++)
        live += pool->classes[i].live;
    return live;
}

masu_status masu_bucket_destroy(masu_bucket *pool) {
    if (!pool)
        return MASU_OK;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    bool leaks = live_blocks(pool) > 0 || pool->bypasses != pool->bypass_frees;
    if (leaks && masu__trace_wanted(pool->trace))
        masu__bucket_emit(pool, MASU_EVENT_RESET, 0, 0, 0, 0); /* they may not be used any more */
    masu__bucket_drop_slabs(pool);
    masu__lock_destroy(&pool->lock);
    pool->magic = MASU__POOL_DEAD;
    pool->careful = true;
    pool->thread_safe = false;
    masu__meta_retire(pool, sizeof *pool);
    return leaks ? MASU_ERR_LEAK : MASU_OK;
}

static void class_stats(const masu_bucket *pool, unsigned index, masu_bucket_stats *out) {
    const masu__bucket_class *class = &pool->classes[index];
    out->classes[index] = (masu_bucket_class_stats){
        .block_bytes = masu__bucket_block_bytes(pool, index),
        .allocations = class->allocations,
        .frees = class->allocations - class->live,
        .misses = class->misses,
        .live_blocks = class->live,
        .peak_live_blocks = class->peak_live,
        .cached_blocks = class->blocks - class->live,
    };
    out->allocations += class->allocations;
    out->frees += class->allocations - class->live;
    out->misses += class->misses;
    out->hits += class->allocations - class->misses;
    out->live_blocks += class->live;
}

static void pool_stats(const masu_bucket *pool, masu_bucket_stats *out) {
    *out = (masu_bucket_stats){
        .allocations = pool->bypasses,
        .frees = pool->bypass_frees,
        .bypasses = pool->bypasses,
        .live_bytes = pool->live_bytes,
        .peak_live_bytes = pool->peak_live_bytes,
        .live_block_bytes = pool->live_block_bytes,
        .cached_bytes = masu__bucket_cached(pool),
        .peak_cached_bytes = pool->peak_cached_bytes,
        .slab_bytes = pool->slab_bytes,
        .slabs = pool->slab_count,
        .bypass_live_blocks = pool->bypasses - pool->bypass_frees,
        .bypass_live_bytes = pool->bypass_live_bytes,
        .bypass_misses = pool->bypass_misses,
        .failures = pool->failures,
        .metadata_bytes = sizeof *pool + pool->slab_meta_bytes + masu__address_map_bytes(&pool->slabs),
        .class_count = pool->class_count,
    };
    for (unsigned i = 0; i < pool->class_count; i++)
        class_stats(pool, i, out);
}

void masu_bucket_get_stats(masu_bucket *pool, masu_bucket_stats *out) {
    *out = (masu_bucket_stats){0};
    if (!pool)
        return;
    masu__bucket_lock(pool);
    pool_stats(pool, out);
    masu__bucket_unlock(pool);
}

static void reset_peaks(masu_bucket *pool) {
    for (unsigned i = 0; i < pool->class_count; i++)
        pool->classes[i].peak_live = pool->classes[i].live;
    pool->peak_live_bytes = pool->live_bytes;
    pool->peak_cached_bytes = masu__bucket_cached(pool);
    masu__bucket_move_mark(pool);
}

void masu_bucket_reset_peaks(masu_bucket *pool) {
    if (!pool)
        return;
    masu__bucket_lock(pool);
    reset_peaks(pool);
    masu__bucket_unlock(pool);
}

/* Live blocks stay counted: as if just those blocks had been allocated, with hits. */
void masu_bucket_reset_stats(masu_bucket *pool) {
    if (!pool)
        return;
    masu__bucket_lock(pool);
    for (unsigned i = 0; i < pool->class_count; i++) {
        masu__bucket_class *class = &pool->classes[i];
        class->allocations = class->live;
        class->misses = 0;
        class->lent_out -= class->lent_back;
        class->lent_back = 0;
    }
    pool->bypasses -= pool->bypass_frees;
    pool->bypass_frees = 0;
    pool->bypass_misses = 0;
    pool->failures = 0;
    reset_peaks(pool);
    masu__bucket_unlock(pool);
}

uint32_t masu_bucket_number(const masu_bucket *pool) {
    return pool->number;
}

/* ---- the equations --------------------------------------------------------------------------- */

typedef struct tally {
    uint64_t held[MASU_BUCKET_MOST_CLASSES];
    uint64_t requested; /* sum of what is known */
    uint64_t unknown;   /* blocks of unknown size */
} tally;

static bool slab_valid(const masu_bucket *pool, const masu__slab *slab, tally *t) {
    size_t block_bytes = masu__slab_block_bytes(pool, slab);
    uint32_t held = 0;
    for (size_t block = 0; block < slab->block_count; block++) {
        bool returned = masu__slab_returned(slab, block);
        held += !returned;
        if (!slab->requested)
            continue;
        bool known = slab->requested[block] != MASU__SIZE_UNKNOWN;
        if ((known && slab->requested[block] > block_bytes) || (returned && slab->requested[block] != 0))
            return false;
        t->requested += known ? slab->requested[block] : 0;
        t->unknown += !known;
    }
    t->held[slab->class_index] += held;
    return held == slab->held && held > 0 && masu__is_aligned(slab->base, MASU__SLAB_BYTES);
}

static bool slabs_valid(const masu_bucket *pool, tally *t) {
    size_t cursor, count = 0;
    const masu__slab *slab = NULL;
    while ((slab = masu__bucket_next_slab(pool, &cursor, slab)) != NULL) {
        count++;
        if (!slab_valid(pool, slab, t))
            return false;
    }
    return count == pool->slab_count && masu__address_map_valid(&pool->slabs);
}

/* A free block lies on a border of its own class's slab, and no caller has it. */
static bool listed_valid(const masu_bucket *pool, unsigned index, const void *block) {
    const masu__slab *slab = masu__bucket_slab_of(pool, (uintptr_t)block);
    if (!slab || slab->class_index != index)
        return false;
    size_t block_bytes = masu__bucket_block_bytes(pool, index);
    size_t offset = (uintptr_t)block - slab->base;
    return offset % block_bytes == 0 && (!slab->requested || slab->requested[offset / block_bytes] == 0);
}

static bool class_valid(const masu_bucket *pool, unsigned index, uint64_t held) {
    const masu__bucket_class *class = &pool->classes[index];
    uint64_t free_blocks = (class->fresh_end - class->fresh) / masu__bucket_block_bytes(pool, index);
    for (const masu__slab *slab = class->pending; slab; slab = slab->next_pending)
        free_blocks += slab->block_count;
    for (void *block = class->list; block; block = masu__bucket_next(pool, block))
        if (++free_blocks > class->blocks || !listed_valid(pool, index, block))
            return false;
    return class->blocks == held && class->blocks == class->live + free_blocks && class->misses <= class->allocations &&
           class->live <= class->allocations && class->live <= class->peak_live;
}

bool masu__bucket_valid_unlocked(const masu_bucket *pool) {
    tally t = {0};
    uint64_t slab_bytes = 0, live_block_bytes = 0;
    bool lent = false; /* what is lent counts with the size of its class */
    if (pool->magic != MASU__POOL_LIVE || !slabs_valid(pool, &t))
        return false;
    for (unsigned i = 0; i < pool->class_count; i++) {
        const masu__bucket_class *class = &pool->classes[i];
        if (!class_valid(pool, i, t.held[i]))
            return false;
        slab_bytes += class->blocks * class->block_bytes;
        live_block_bytes += class->live * class->block_bytes;
        lent |= class->lent_out != 0;
    }
    if (pool->remembers && !lent && t.unknown == 0 && t.requested + pool->bypass_live_bytes != pool->live_bytes)
        return false;
    return slab_bytes == pool->slab_bytes && live_block_bytes == pool->live_block_bytes &&
           pool->live_bytes <= live_block_bytes + pool->bypass_live_bytes &&
           pool->peak_live_bytes >= pool->live_bytes && pool->peak_cached_bytes >= masu__bucket_cached(pool) &&
           pool->bypasses >= pool->bypass_frees && pool->odd_blocks <= pool->bypasses - pool->bypass_frees &&
           (pool->careful || (!pool->remembers && !pool->traced && pool->odd_blocks == 0));
}

bool masu__bucket_audit(masu_bucket *pool) {
    if (pool->audit_pause > 0) {
        pool->audit_pause--;
        return true;
    }
    uint64_t blocks = 0;
    for (unsigned i = 0; i < pool->class_count; i++)
        blocks += pool->classes[i].blocks;
    pool->audit_pause = (size_t)(blocks / 256);
    return masu__bucket_valid_unlocked(pool);
}

bool masu_bucket_valid(masu_bucket *pool) {
    if (!pool || pool->magic != MASU__POOL_LIVE)
        return false;
    masu__bucket_lock(pool);
    bool valid = masu__bucket_valid_unlocked(pool);
    masu__bucket_unlock(pool);
    return valid;
}
