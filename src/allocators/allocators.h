/* allocators.h: what a heap asks of a pool, as a row of functions. pools.def lists the rows; the heap loops over them.
 *
 *     callers ─► rows[n - 1] ─► … ─► rows[1] ─► rows[0] ─► device
 *                (buckets)                      (best fit)
 *
 * A row takes its memory from the row below. A request goes to the highest row whose most_bytes it does not exceed;
 * that row may hand it down. What a row keeps for later is live for the row below: it says so in `stats`,
 * `cached_bytes` and `hides`.
 *
 *     live + cached + free + slack = reserved     after the stats of every row, from the lowest up
 *     hits + misses = allocations;  allocations - frees = live blocks
 *
 * Thread safety: none; the heap takes its lock before every call. On failure nothing has changed.
 */
#ifndef MASU_ALLOCATORS_H
#define MASU_ALLOCATORS_H

#include <masu/heap.h>

typedef struct masu__pool_row masu__pool_row;

/* A pool of a heap. at NULL: the heap has none of that row. */
typedef struct masu__pool {
    const masu__pool_row *row;
    void *at; /* owned by the heap */
} masu__pool;

/* The settings that a row is made from. */
typedef struct masu__pool_setting {
    const masu_heap_config *config; /* borrowed; its device is never NULL here */
    masu__pool below;               /* at NULL: the device */
} masu__pool_setting;

/* False ends the walk. */
typedef bool (*masu__pool_visit)(void *context, void *block, size_t bytes);

struct masu__pool_row {
    size_t most_bytes; /* requests above go to the row below without being asked here; SIZE_MAX: none do */
    /* MASU_OK with *out NULL: this heap gets none, as on a device that the processor cannot write. */
    masu_status (*create)(const masu__pool_setting *setting, void **out);
    masu_status (*destroy)(void *pool); /* NULL is allowed */

    /* Statuses of masu_heap_alloc, masu_heap_free, masu_heap_size_of, masu_heap_resize. room: so many bytes more are
     * kept behind a large block for its growth, if they can be had. sized false: bytes is not looked at. */
    masu_status (*take)(void *pool, size_t bytes, size_t alignment, size_t room, void **out);
    masu_status (*give)(void *pool, void *block, bool sized, size_t bytes);
    masu_status (*size_of)(void *pool, const void *block, size_t *out_bytes);
    masu_status (*resize)(void *pool, void *block, size_t old_bytes, size_t new_bytes);
    /* As masu__bestfit_carry. */
    masu_status (*carry)(void *pool, void *block, size_t old_bytes, size_t new_bytes, size_t alignment, void **out);
    masu_status (*set_checked)(void *pool, bool on); /* NULL: checks always */

    /* Down to keep_bytes of what it keeps. above_bytes: kept by the rows above, and so live here. */
    masu_status (*trim)(void *pool, size_t keep_bytes, uint64_t above_bytes);
    uint64_t (*cached_bytes)(const void *pool); /* free here and live below; of the lowest row 0 */

    /* Turns the numbers of the rows below into those of the callers of this row. */
    void (*stats)(void *pool, masu_heap_stats *stats);
    void (*reset_stats)(void *pool);
    void (*reset_peaks)(void *pool);
    uint64_t *(*failures)(void *pool); /* requests refused here */

    /* Every live block that this row serves itself, as of masu_heap_visit_live. */
    masu_status (*visit_live)(void *pool, masu__pool_visit visit, void *context);
    uint32_t (*number)(const void *pool);               /* as traces know it; NULL: they do not */
    bool (*hides)(const void *pool, const void *block); /* a live block of a row below is kept here; NULL: never */

    bool (*valid)(const void *pool); /* O(n) */
    bool (*audit)(void *pool);       /* the same, now and then: for every call of a heavy build */
};

/* The functions that every row has, where its file calls them row_create and so on. */
#define MASU__POOL_FUNCTIONS                                                                                          \
    .create = row_create, .destroy = row_destroy, .take = row_take, .give = row_give, .size_of = row_size_of,         \
    .resize = row_resize, .carry = row_carry, .trim = row_trim, .cached_bytes = row_cached_bytes, .stats = row_stats, \
    .reset_stats = row_reset_stats, .reset_peaks = row_reset_peaks, .failures = row_failures,                         \
    .visit_live = row_visit_live, .valid = row_valid, .audit = row_audit

#define POOL(name) MASU__POOL_##name,
enum {
#include "allocators/pools.def"
    MASU__POOLS
};
#undef POOL

#define POOL(name) extern const masu__pool_row masu__pool_##name;
#include "allocators/pools.def"
#undef POOL

#endif
