/* bucket_row.c: the bucket pool as the row of a heap above the best-fit pool (allocators.h). It takes requests of any
 * size and sends on those it has no class for: so one count of live bytes holds for all. */
#include "allocators/allocators.h"
#include "allocators/bucket/bucket_pool.h"

/* Its lists live in the free blocks: there is none where the processor cannot write. */
static masu_status row_create(const masu__pool_setting *setting, void **out) {
    const masu_heap_config *config = setting->config;
    *out = NULL;
    if (!(config->device->info.flags & MASU_DEVICE_HOST_ACCESS))
        return MASU_OK;
    masu_bucket *pool = NULL;
    masu_status status = masu_bucket_create(
        &(masu_bucket_config){
            .backing = setting->below.at,
            .trace = config->trace,
            .name = config->name,
            .small_blocks = config->small_blocks,
            .medium_blocks = config->medium_blocks,
            .max_cached_bytes = config->max_cached_bytes,
            .fine_classes = config->fine_classes,
            .checked = config->checked || config->guarded,
        },
        &pool);
    *out = pool;
    return status;
}

static masu_status row_destroy(void *pool) {
    return masu_bucket_destroy(pool);
}

static masu_status row_take(void *pool, size_t bytes, size_t alignment, size_t room, void **out) {
    return MASU_LIKELY(room == 0) ? masu__bucket_alloc(pool, bytes, alignment, out)
                                  : masu__bucket_alloc_room(pool, bytes, alignment, room, out);
}

static masu_status row_give(void *pool, void *block, bool sized, size_t bytes) {
    return MASU_LIKELY(sized) ? masu__bucket_free(pool, block, bytes) : masu__bucket_free_slow(pool, block, false, 0);
}

static masu_status row_size_of(void *pool, const void *block, size_t *out_bytes) {
    return masu__bucket_size_of(pool, block, out_bytes);
}

static masu_status row_resize(void *pool, void *block, size_t old_bytes, size_t new_bytes) {
    return masu__bucket_resize(pool, block, old_bytes, new_bytes);
}

static masu_status row_carry(void *pool, void *block, size_t old_bytes, size_t new_bytes, size_t alignment,
                             void **out) {
    return masu__bucket_carry(pool, block, old_bytes, new_bytes, alignment, out);
}

static masu_status row_set_checked(void *pool, bool on) {
    return masu__bucket_set_checked(pool, on);
}

static masu_status row_trim(void *pool, size_t keep_bytes, uint64_t above_bytes) {
    (void)above_bytes; /* whole blocks, live here: none of them is cached */
    return masu_bucket_trim(pool, keep_bytes);
}

static uint64_t row_cached_bytes(const void *pool) {
    return masu__bucket_cached(pool);
}

/* Slabs are not the callers'. */
static void row_stats(void *pool, masu_heap_stats *stats) {
    masu_bucket_stats s;
    masu_bucket_get_stats(pool, &s);
    stats->allocations = s.allocations;
    stats->frees = s.frees;
    stats->failures = s.failures;
    stats->hits = s.hits + s.bypasses - s.bypass_misses;
    stats->misses = s.misses + s.bypass_misses;
    stats->bypasses = s.bypasses;
    stats->live_bytes = s.live_bytes;
    stats->live_blocks = s.live_blocks + s.bypass_live_blocks;
    stats->peak_bytes = s.peak_live_bytes;
    stats->cached_bytes = s.cached_bytes;
    stats->slack_bytes += s.live_block_bytes + s.bypass_live_bytes - s.live_bytes;
    stats->metadata_bytes += s.metadata_bytes;
}

static void row_reset_stats(void *pool) {
    masu_bucket_reset_stats(pool);
}

static void row_reset_peaks(void *pool) {
    masu_bucket_reset_peaks(pool);
}

static uint64_t *row_failures(void *at) {
    masu_bucket *pool = at;
    return &pool->failures;
}

static masu_status row_visit_live(void *pool, masu__pool_visit visit, void *context) {
    return masu__bucket_visit_live(pool, visit, context);
}

static bool row_hides(const void *pool, const void *block) {
    return masu__bucket_slab_of(pool, (uintptr_t)block) != NULL;
}

static bool row_valid(const void *pool) {
    return masu__bucket_valid_unlocked(pool);
}

static bool row_audit(void *pool) {
    return masu__bucket_audit(pool);
}

static uint32_t row_number(const void *pool) {
    return masu_bucket_number(pool);
}

const masu__pool_row masu__pool_bucket = {
    .most_bytes = SIZE_MAX,
    MASU__POOL_FUNCTIONS,
    .number = row_number,
    .set_checked = row_set_checked,
    .hides = row_hides,
};
