/* bestfit_row.c: the best-fit pool as the lowest row of a heap (allocators.h). */
#include "allocators/allocators.h"
#include "allocators/bestfit/bestfit_pool.h"

static masu_status row_create(const masu__pool_setting *setting, void **out) {
    const masu_heap_config *config = setting->config;
    masu_bestfit *pool = NULL;
    masu_status status = masu_bestfit_create(
        &(masu_bestfit_config){
            .device = config->device,
            .trace = config->trace,
            .name = config->name,
            .pool_bytes = config->pool_bytes,
            .initial_bytes = config->initial_bytes,
            .min_remainder_bytes = config->min_remainder_bytes,
            .limit_bytes = config->limit_bytes,
            .policy = config->policy,
            .size_steps = config->size_steps,
            .whole_above_bytes = config->whole_above_bytes,
            .whole_slack_bytes = config->whole_slack_bytes,
            .idle_allocations = config->idle_allocations,
            .max_idle_bytes = config->max_idle_bytes,
        },
        &pool);
    *out = pool;
    return status;
}

static masu_status row_destroy(void *pool) {
    return masu_bestfit_destroy(pool);
}

static masu_status row_take(void *pool, size_t bytes, size_t alignment, size_t room, void **out) {
    (void)room; /* is the wish of a row above: without one every block lies where it fits best */
    return masu_bestfit_alloc(pool, bytes, alignment, 0, out);
}

static masu_status row_give(void *pool, void *block, bool sized, size_t bytes) {
    return sized ? masu_bestfit_free_sized(pool, block, bytes) : masu_bestfit_free(pool, block);
}

static masu_status row_size_of(void *pool, const void *block, size_t *out_bytes) {
    return masu__bestfit_known(pool, block, 0, out_bytes);
}

static masu_status row_resize(void *pool, void *block, size_t old_bytes, size_t new_bytes) {
    return masu__bestfit_resize(pool, block, 0, old_bytes, new_bytes);
}

static masu_status row_carry(void *pool, void *block, size_t old_bytes, size_t new_bytes, size_t alignment,
                             void **out) {
    return masu__bestfit_carry(pool, block, 0, old_bytes, new_bytes, alignment, out);
}

static masu_status row_trim(void *pool, size_t keep_bytes, uint64_t above_bytes) {
    masu_bestfit_stats s;
    masu_bestfit_get_stats(pool, &s);
    size_t used = (size_t)(s.used_bytes + s.slack_bytes - above_bytes);
    return masu_bestfit_trim(pool, keep_bytes > SIZE_MAX - used ? SIZE_MAX : used + keep_bytes);
}

static uint64_t row_cached_bytes(const void *pool) {
    (void)pool;
    return 0;
}

static void row_stats(void *pool, masu_heap_stats *stats) {
    masu_bestfit_stats s;
    masu_bestfit_get_stats(pool, &s);
    *stats = (masu_heap_stats){
        .allocations = s.allocations,
        .frees = s.frees,
        .failures = s.failures,
        .hits = s.hits,
        .misses = s.misses,
        .bypasses = s.allocations,
        .device_allocations = s.device_allocations,
        .device_frees = s.device_frees,
        .live_bytes = s.used_bytes,
        .live_blocks = s.live_blocks,
        .peak_bytes = s.peak_used_bytes,
        .reserved_bytes = s.reserved_bytes,
        .peak_reserved_bytes = s.peak_reserved_bytes,
        .free_bytes = s.free_bytes,
        .slack_bytes = s.slack_bytes,
        .largest_free_bytes = s.largest_free_bytes,
        .metadata_bytes = s.metadata_bytes,
    };
}

static void row_reset_stats(void *pool) {
    masu_bestfit_reset_stats(pool);
}

static void row_reset_peaks(void *at) {
    masu_bestfit *pool = at;
    pool->counts.peak_used_bytes = masu__bestfit_used(pool);
    pool->counts.peak_reserved_bytes = pool->counts.reserved_bytes;
}

static uint64_t *row_failures(void *at) {
    masu_bestfit *pool = at;
    return &pool->counts.failures;
}

typedef struct walk {
    masu__pool_visit visit;
    void *context;
} walk;

static bool walk_tell(void *context, const masu_bestfit_block *block) {
    walk *w = context;
    return w->visit(w->context, block->address, block->bytes);
}

static masu_status row_visit_live(void *pool, masu__pool_visit visit, void *context) {
    masu_bestfit_visit_live(pool, walk_tell, &(walk){visit, context});
    return MASU_OK;
}

static bool row_valid(const void *pool) {
    return masu__bestfit_valid_unlocked(pool);
}

static bool row_audit(void *pool) {
    return masu__bestfit_audit(pool);
}

static uint32_t row_number(const void *pool) {
    return masu_bestfit_number(pool);
}

const masu__pool_row masu__pool_bestfit = {
    .most_bytes = SIZE_MAX,
    MASU__POOL_FUNCTIONS,
    .number = row_number,
};
