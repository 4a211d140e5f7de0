/* The bucket pool: rows B1 to B4, B10 to B12 and what seed 002 promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <masu/bucket.h>

#include "allocators/bucket/bucket_pool.h"
#include "base/meta.h"
#include "base/rng.h"

enum { MIB = 1 << 20, SLAB = MASU__SLAB_BYTES };

typedef struct fixture {
    masu_device *device;
    masu_bestfit *backing;
    masu_bucket *pool;
} fixture;

static void open_backing(fixture *f, size_t initial_bytes) {
    assert_int_equal(masu_device_create_host(&f->device), MASU_OK);
    masu_bestfit_config config = masu_bestfit_config_default(f->device);
    config.pool_bytes = 16 * MIB;
    config.initial_bytes = initial_bytes;
    assert_int_equal(masu_bestfit_create(&config, &f->backing), MASU_OK);
}

static void open_pool(fixture *f, bool checked, size_t small_blocks, size_t medium_blocks, size_t max_cached_bytes) {
    open_backing(f, 16 * MIB);
    masu_bucket_config config = masu_bucket_config_default(f->backing);
    config.checked = checked;
    config.small_blocks = small_blocks;
    config.medium_blocks = medium_blocks;
    config.max_cached_bytes = max_cached_bytes;
    assert_int_equal(masu_bucket_create(&config, &f->pool), MASU_OK);
}

/* Everything went down to the device again, whatever happened above. */
static void close_pool(fixture *f) {
    assert_true(masu_bucket_valid(f->pool));
    assert_int_equal(masu_bucket_destroy(f->pool), MASU_OK);
    masu_bestfit_stats stats;
    masu_bestfit_get_stats(f->backing, &stats);
    assert_int_equal(stats.live_blocks, 0);
    assert_int_equal(stats.free_bytes, stats.reserved_bytes);
    assert_int_equal(masu_bestfit_destroy(f->backing), MASU_OK);
    assert_int_equal(masu_device_destroy(f->device), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static masu_bucket_stats stats_of(masu_bucket *pool) {
    masu_bucket_stats s;
    masu_bucket_get_stats(pool, &s);
    assert_int_equal(s.live_block_bytes + s.cached_bytes, s.slab_bytes);
    assert_int_equal(s.hits + s.misses + s.bypasses, s.allocations);
    assert_int_equal(s.allocations - s.frees, s.live_blocks + s.bypass_live_blocks);
    return s;
}

static unsigned char *take(masu_bucket *pool, size_t bytes) {
    void *ptr;
    assert_int_equal(masu_bucket_alloc(pool, bytes, 0, &ptr), MASU_OK);
    assert_non_null(ptr);
    return ptr;
}

static void give(masu_bucket *pool, void *ptr, size_t bytes) {
    assert_int_equal(masu_bucket_free(pool, ptr, bytes), MASU_OK);
}

/* ---- classes, lists -------------------------------------------------------------------------- */

static void every_size_gets_the_smallest_class_that_fits(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, true, 16, 8, 16 * MIB);
    for (size_t bytes = 1; bytes <= MASU_BUCKET_MAX_BYTES; bytes++) {
        bool near_border = (bytes + 2) % 64 < 4; /* every border of a class is a multiple of 64 */
        if (!near_border && bytes % 29 != 0)
            continue;
        size_t expected = 64;
        while (expected < bytes)
            expected *= 2;
        masu_bucket_stats before = stats_of(f.pool);
        unsigned char *ptr = take(f.pool, bytes);
        memset(ptr, 0xa5, bytes);
        assert_int_equal(stats_of(f.pool).live_block_bytes, expected);
        assert_int_equal((uintptr_t)ptr % expected, 0);
        assert_int_equal(stats_of(f.pool).bypasses, before.bypasses);
        give(f.pool, ptr, bytes);
    }
    close_pool(&f);
}

static void the_last_freed_is_the_first_taken(void **state) {
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        fixture f;
        open_pool(&f, checked, 16, 8, 16 * MIB);
        unsigned char *a = take(f.pool, 100), *b = take(f.pool, 100), *c = take(f.pool, 100);
        give(f.pool, a, 100);
        give(f.pool, c, 100);
        give(f.pool, b, 100);
        assert_ptr_equal(take(f.pool, 128), b);
        assert_ptr_equal(take(f.pool, 65), c);
        assert_ptr_equal(take(f.pool, 100), a);
        give(f.pool, b, 128);
        give(f.pool, c, 65);
        give(f.pool, a, 100);
        close_pool(&f);
    }
}

static void preallocated_blocks_are_hits(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, false, 16, 8, 16 * MIB);
    unsigned char *ptr[MASU_BUCKET_CLASSES][16];
    for (unsigned c = 0; c < MASU_BUCKET_CLASSES; c++)
        for (unsigned i = 0; i < (c < 5 ? 16 : 8); i++)
            ptr[c][i] = take(f.pool, (size_t)64 << c);
    masu_bucket_stats s = stats_of(f.pool);
    assert_int_equal(s.misses, 0);
    assert_int_equal(s.hits, 5 * 16 + 4 * 8);
    take(f.pool, 16384); /* the ninth */
    assert_int_equal(stats_of(f.pool).misses, 1);
    assert_int_equal(stats_of(f.pool).classes[8].misses, 1);
    /* leave them to destroy */
    (void)ptr;
    assert_int_equal(masu_bucket_destroy(f.pool), MASU_ERR_LEAK);
    assert_int_equal(masu_bestfit_destroy(f.backing), MASU_OK);
    assert_int_equal(masu_device_destroy(f.device), MASU_OK);
}

static void without_preallocation_the_first_is_a_miss(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, false, 0, 0, 16 * MIB);
    assert_int_equal(stats_of(f.pool).slab_bytes, 0);
    unsigned char *a = take(f.pool, 64), *b = take(f.pool, 64);
    masu_bucket_stats s = stats_of(f.pool);
    assert_int_equal(s.misses, 1);
    assert_int_equal(s.hits, 1);
    give(f.pool, a, 64);
    give(f.pool, b, 64);
    close_pool(&f);
}

static void large_preallocation_takes_several_slabs(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, true, 16, 100, 16 * MIB);
    assert_true(masu_bucket_valid(f.pool));
    void *ptr[100];
    for (int i = 0; i < 100; i++)
        ptr[i] = take(f.pool, 16384);
    assert_int_equal(stats_of(f.pool).misses, 0);
    for (int i = 0; i < 100; i++)
        give(f.pool, ptr[i], 16384);
    close_pool(&f);
}

static void never_used_blocks_touch_no_page(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, false, 16, 8, 16 * MIB);
    /* a block that was never handed out still reads as the device gave it */
    unsigned char *ptr = take(f.pool, 64);
    if (f.pool->annotated)
        masu__annotate_open(ptr, 64 * 100); /* this test looks where no caller may */
    for (size_t i = 0; i < 64 * 100; i++)
        assert_int_equal(ptr[i], 0);
    give(f.pool, ptr, 64);
    close_pool(&f);
}

/* ---- B1, B2 ---------------------------------------------------------------------------------- */

static void sizes_at_the_border(void **state) {
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        fixture f;
        open_pool(&f, checked, 16, 8, 16 * MIB);
        void *ptr = &f;
        assert_int_equal(masu_bucket_alloc(f.pool, 0, 0, &ptr), MASU_OK);
        assert_null(ptr);
        assert_int_equal(masu_bucket_free(f.pool, NULL, 0), MASU_OK);
        assert_int_equal(masu_bucket_free(f.pool, NULL, 64), MASU_OK);
        for (size_t k = 0; k <= 4096; k++) {
            assert_int_not_equal(masu_bucket_alloc(f.pool, SIZE_MAX - k, 0, &ptr), MASU_OK);
            assert_null(ptr);
        }
        assert_int_equal(stats_of(f.pool).allocations, 0);
        assert_int_equal(stats_of(f.pool).failures, 4097);
        unsigned char *last = take(f.pool, 16384), *over = take(f.pool, 16385);
        assert_int_equal(stats_of(f.pool).bypasses, 1);
        assert_int_equal(stats_of(f.pool).bypass_live_bytes, 16385);
        assert_int_equal(stats_of(f.pool).live_bytes, 16384 + 16385);
        give(f.pool, over, 16385);
        give(f.pool, last, 16384);
        close_pool(&f);
    }
}

static void every_alignment_is_kept(void **state) {
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        fixture f;
        open_pool(&f, checked, 16, 8, 16 * MIB);
        void *ptr[200];
        size_t sizes[200], count = 0;
        for (size_t alignment = 1; alignment <= 2 * MIB; alignment *= 2)
            for (size_t bytes = 1; bytes <= 20000; bytes = bytes * 7 + 3) {
                assert_int_equal(masu_bucket_alloc(f.pool, bytes, alignment, &ptr[count]), MASU_OK);
                assert_int_equal((uintptr_t)ptr[count] % alignment, 0);
                memset(ptr[count], 0x5a, bytes);
                sizes[count++] = bytes;
            }
        assert_true(masu_bucket_valid(f.pool));
        void *bad;
        assert_int_equal(masu_bucket_alloc(f.pool, 64, 3, &bad), MASU_ERR_INVALID_ARGUMENT);
        assert_int_equal(masu_bucket_alloc(f.pool, 64, 96, &bad), MASU_ERR_INVALID_ARGUMENT);
        assert_null(bad);
        /* small blocks that lie in the best-fit pool and blocks of the classes, freed in any
         * order by size alone */
        while (count > 0) {
            size_t k = (count * 37) % count;
            give(f.pool, ptr[k], sizes[k]);
            ptr[k] = ptr[--count];
            sizes[k] = sizes[count];
            assert_true(masu_bucket_valid(f.pool));
        }
        assert_int_equal(stats_of(f.pool).live_bytes, 0);
        assert_int_equal(f.pool->odd_blocks, 0);
        assert_int_equal(f.pool->careful, checked || f.pool->annotated);
        close_pool(&f);
    }
}

/* ---- B3, B4 ---------------------------------------------------------------------------------- */

static void checked_mode_tells_wrong_frees_apart(void **state) {
    (void)state;
    fixture f, other;
    open_pool(&f, true, 16, 8, 16 * MIB);
    open_pool(&other, true, 16, 8, 16 * MIB);
    unsigned char *a = take(f.pool, 100), *b = take(f.pool, 3000), *big = take(f.pool, 50000);
    unsigned char *theirs = take(other.pool, 100);
    int local;
    masu_bucket_stats before = stats_of(f.pool);
    assert_int_equal(masu_bucket_free(f.pool, a, 101), MASU_ERR_SIZE_MISMATCH); /* of the same class */
    assert_int_equal(masu_bucket_free(f.pool, a, 200), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_bucket_free(f.pool, a, 0), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_bucket_free(f.pool, a, 100000), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_bucket_free(f.pool, a + 1, 100), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bucket_free(f.pool, a + 64, 100), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bucket_free(f.pool, b + 2048, 3000), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bucket_free(f.pool, a + 128, 100), MASU_ERR_DOUBLE_FREE); /* never handed out */
    assert_int_equal(masu_bucket_free(f.pool, theirs, 100), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_bucket_free(f.pool, &local, 100), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_bucket_free(f.pool, big + 64, 50000), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bucket_free(f.pool, big, 50001), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_bestfit_free(f.backing, big), MASU_ERR_FOREIGN_POINTER); /* it is the bucket pool's */
    assert_int_equal(masu_bestfit_free(f.backing, a), MASU_ERR_INTERIOR_POINTER);
    masu_bucket_stats after = stats_of(f.pool);
    assert_memory_equal(&before, &after, sizeof before);

    unsigned char *c = take(f.pool, 100);
    give(f.pool, a, 100);
    give(f.pool, c, 100);
    assert_int_equal(masu_bucket_free(f.pool, a, 100), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_bucket_free(f.pool, c, 100), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_bucket_free_unsized(f.pool, b), MASU_OK);
    assert_int_equal(masu_bucket_free_unsized(f.pool, b), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_bucket_free_unsized(f.pool, big), MASU_OK);
    assert_int_equal(masu_bucket_free_unsized(f.pool, big), MASU_ERR_DOUBLE_FREE);
    give(other.pool, theirs, 100);
    assert_int_equal(masu_bucket_clear(f.pool), MASU_OK);
    /* its slab has gone back: the address is the best-fit pool's free space */
    assert_int_equal(masu_bucket_free(f.pool, a, 100), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(stats_of(f.pool).live_bytes, 0);
    masu_bucket_destroy(other.pool);
    masu_bestfit_destroy(other.backing);
    masu_device_destroy(other.device);
    close_pool(&f);
}

static void slab_starts_are_safe_from_best_fit_frees(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, false, 16, 8, 16 * MIB);
    unsigned char *first = take(f.pool, 64);
    assert_int_equal((uintptr_t)first % SLAB, 0);
    assert_int_equal(masu_bucket_free(f.pool, first, SLAB), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_bestfit_free(f.backing, first), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bestfit_free_sized(f.backing, first, SLAB), MASU_ERR_INTERIOR_POINTER);
    give(f.pool, first, 64);
    close_pool(&f);
}

static void plain_mode_catches_what_costs_nothing(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, false, 16, 8, 16 * MIB);
    unsigned char *a = take(f.pool, 1000), *b = take(f.pool, 1000);
    (void)b;
    assert_int_equal(masu_bucket_free(f.pool, a + 8, 1000), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bucket_free(f.pool, b, 0), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_bucket_free(f.pool, b, 20000), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_bucket_free_unsized(f.pool, b), MASU_ERR_UNSUPPORTED);
    give(f.pool, a, 1000);
    assert_int_equal(masu_bucket_free(f.pool, a, 1000), MASU_ERR_DOUBLE_FREE); /* at once */
    give(f.pool, b, 1000);
    close_pool(&f);
}

static void unsized_free_with_remembered_sizes(void **state) {
    (void)state;
    fixture f;
    open_backing(&f, 16 * MIB);
    masu_bucket_config config = masu_bucket_config_default(f.backing);
    config.checked = false;
    config.remember_sizes = true;
    assert_int_equal(masu_bucket_create(&config, &f.pool), MASU_OK);
    void *a = take(f.pool, 70), *b = take(f.pool, 9000), *c = take(f.pool, 90000);
    assert_int_equal(masu_bucket_free_unsized(f.pool, b), MASU_OK);
    assert_int_equal(stats_of(f.pool).live_bytes, 70 + 90000);
    assert_int_equal(masu_bucket_free_unsized(f.pool, a), MASU_OK);
    assert_int_equal(masu_bucket_free_unsized(f.pool, c), MASU_OK);
    assert_int_equal(masu_bucket_free_unsized(f.pool, NULL), MASU_OK);
    assert_int_equal(stats_of(f.pool).live_bytes, 0);
    close_pool(&f);
}

#ifdef MASU_HEAVY
static void a_destroyed_pool_answers(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, false, 16, 8, 16 * MIB);
    void *ptr = take(f.pool, 100);
    assert_int_equal(masu_bucket_destroy(f.pool), MASU_ERR_LEAK);
    assert_int_equal(masu__bucket_free(f.pool, ptr, 100), MASU_ERR_STALE_POOL);
    assert_int_equal(masu__bucket_alloc(f.pool, 100, 0, &ptr), MASU_ERR_STALE_POOL);
    assert_int_equal(masu_bucket_trim(f.pool, 0), MASU_ERR_STALE_POOL);
    assert_int_equal(masu_bucket_destroy(f.pool), MASU_ERR_STALE_POOL);
    assert_int_equal(masu_bestfit_destroy(f.backing), MASU_OK);
    assert_int_equal(masu_device_destroy(f.device), MASU_OK);
}
#endif

/* ---- cap, trim, clear (B11) ------------------------------------------------------------------ */

#ifdef MASU_HEAVY
enum { CAP_STEPS = 500 };
#else
enum { CAP_STEPS = 3000 };
#endif

static void the_cap_holds_after_every_call(void **state) {
    (void)state;
    static const size_t caps[] = {0, 64, 3 * 64, 100000, MIB, 16 * MIB};
    masu__rng rng;
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        fixture f;
        void *ptr[300] = {0};
        size_t sizes[300] = {0};
        masu__rng_seed(&rng, i);
        open_pool(&f, i % 2, 16, 8, caps[i]);
        assert_true(stats_of(f.pool).cached_bytes <= caps[i]);
        for (int step = 0; step < CAP_STEPS; step++) {
            size_t k = masu__rng_below(&rng, 300);
            give(f.pool, ptr[k], sizes[k]);
            assert_true(stats_of(f.pool).cached_bytes <= caps[i]);
            ptr[k] = NULL;
            if (step % 3 == 0)
                continue;
            sizes[k] = 1 + masu__rng_below(&rng, masu__rng_below(&rng, 2) ? 300 : 16384);
            ptr[k] = take(f.pool, sizes[k]);
            assert_true(stats_of(f.pool).cached_bytes <= caps[i]);
        }
        assert_true(masu_bucket_valid(f.pool));
        for (size_t k = 0; k < 300; k++)
            give(f.pool, ptr[k], sizes[k]);
        masu_bucket_stats s = stats_of(f.pool);
        assert_true(s.cached_bytes <= caps[i] && s.peak_cached_bytes <= caps[i]);
        close_pool(&f);
    }
}

static void trim_returns_memory_between_live_blocks(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, true, 0, 0, 16 * MIB);
    enum { N = 4096 };
    static unsigned char *ptr[N];
    for (int i = 0; i < N; i++)
        ptr[i] = take(f.pool, 1024);
    for (int i = 0; i < N; i += 2)
        give(f.pool, ptr[i], 1024);
    masu_bestfit_stats below;
    masu_bestfit_get_stats(f.backing, &below);
    uint64_t used = below.used_bytes;
    assert_int_equal(masu_bucket_trim(f.pool, MIB), MASU_OK);
    assert_int_equal(stats_of(f.pool).cached_bytes, MIB);
    assert_int_equal(masu_bucket_trim(f.pool, 0), MASU_OK);
    assert_int_equal(stats_of(f.pool).cached_bytes, 0);
    assert_true(masu_bucket_valid(f.pool) && masu_bestfit_valid(f.backing));
    masu_bestfit_get_stats(f.backing, &below);
    assert_int_equal(used - below.used_bytes, N / 2 * 1024); /* every second block is in the best-fit pool */
    for (int i = 1; i < N; i += 2) {
        memset(ptr[i], i & 255, 1024);
        give(f.pool, ptr[i], 1024);
    }
    assert_int_equal(masu_bucket_clear(f.pool), MASU_OK);
    assert_int_equal(stats_of(f.pool).slabs, 0);
    masu_bestfit_get_stats(f.backing, &below);
    assert_int_equal(below.used_bytes, 0);
    assert_int_equal(below.free_blocks, below.device_blocks); /* all merged again */
    close_pool(&f);
}

static void a_lower_cap_takes_effect_at_once(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, false, 16, 8, 16 * MIB);
    assert_true(stats_of(f.pool).cached_bytes > MIB);
    assert_int_equal(masu_bucket_set_max_cached(f.pool, 1000), MASU_OK);
    assert_true(stats_of(f.pool).cached_bytes <= 1000);
    unsigned char *ptr = take(f.pool, 500);
    give(f.pool, ptr, 500);
    assert_true(stats_of(f.pool).cached_bytes <= 1000);
    assert_int_equal(masu_bucket_set_max_cached(f.pool, MIB), MASU_OK);
    unsigned char *first = take(f.pool, 500), *second = take(f.pool, 500); /* the second needs a slab */
    give(f.pool, first, 500);
    give(f.pool, second, 500);
    assert_true(stats_of(f.pool).cached_bytes >= SLAB);
    close_pool(&f);
}

/* ---- B10, B12 -------------------------------------------------------------------------------- */

static void failures_below_leave_no_mark(void **state) {
    (void)state;
    for (uint64_t nth = 1; nth < 200; nth++) {
        fixture f;
        open_backing(&f, 0); /* so that the pool's birth asks the device */
        masu_bucket_config config = masu_bucket_config_default(f.backing);
        config.checked = nth % 2;
        masu__fault_arm(nth);
        masu_status status = masu_bucket_create(&config, &f.pool);
        if (status != MASU_OK) {
            assert_null(f.pool);
            assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
            assert_int_equal(masu_bucket_create(&config, &f.pool), MASU_OK);
        }
        void *ptr[60];
        for (int i = 0; i < 60; i++) {
            masu_bucket_stats before = stats_of(f.pool);
            status = masu_bucket_alloc(f.pool, i % 20 == 19 ? 20 * MIB : 16384, 0, &ptr[i]);
            if (status == MASU_OK)
                continue;
            assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
            assert_null(ptr[i]);
            masu_bucket_stats after = stats_of(f.pool);
            after.failures--;
            after.metadata_bytes = before.metadata_bytes;
            assert_memory_equal(&before, &after, sizeof before);
            assert_true(masu_bucket_valid(f.pool) && masu_bestfit_valid(f.backing));
            i--; /* the same call then succeeds */
        }
        for (int i = 0; i < 60; i++)
            give(f.pool, ptr[i], i % 20 == 19 ? 20 * MIB : 16384);
        status = masu_bucket_clear(f.pool);
        assert_true(status == MASU_OK || masu_bucket_clear(f.pool) == MASU_OK);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        close_pool(&f);
        if (!fired)
            return;
    }
    fail_msg("the sweep did not come to its end");
}

static void counters_start_again(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, true, 16, 8, 16 * MIB);
    unsigned char *a = take(f.pool, 10), *b = take(f.pool, 5000), *c = take(f.pool, 100000);
    give(f.pool, b, 5000);
    masu_bucket_stats s = stats_of(f.pool);
    assert_int_equal(s.peak_live_bytes, 105010);
    masu_bucket_reset_stats(f.pool);
    s = stats_of(f.pool);
    assert_int_equal(s.allocations, 2);
    assert_int_equal(s.frees, 0);
    assert_int_equal(s.bypasses, 1);
    assert_int_equal(s.live_bytes, 100010);
    assert_int_equal(s.peak_live_bytes, 100010);
    assert_int_equal(s.peak_cached_bytes, s.cached_bytes);
    assert_true(masu_bucket_valid(f.pool));
    give(f.pool, a, 10);
    give(f.pool, c, 100000);
    assert_true(masu_bucket_valid(f.pool));
    close_pool(&f);
}

static void memory_without_host_access_is_refused(void **state) {
    (void)state;
    masu_device *device;
    masu_bestfit *backing;
    masu_bucket *pool;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_bestfit_config below = masu_bestfit_config_default(device);
    assert_int_equal(masu_bestfit_create(&below, &backing), MASU_OK);
    masu_bucket_config config = masu_bucket_config_default(backing);
    assert_int_equal(masu_bucket_create(&config, &pool), MASU_ERR_UNSUPPORTED);
    assert_null(pool);
    assert_int_equal(masu_bucket_create(NULL, &pool), MASU_ERR_INVALID_ARGUMENT);
    config.backing = NULL;
    assert_int_equal(masu_bucket_create(&config, &pool), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_bucket_destroy(NULL), MASU_OK);
    assert_int_equal(masu_bestfit_destroy(backing), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void the_check_sees_what_is_wrong(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, true, 16, 8, 16 * MIB);
    unsigned char *a = take(f.pool, 100);
    f.pool->live_bytes++;
    assert_false(masu_bucket_valid(f.pool));
    f.pool->live_bytes--;
    f.pool->classes[3].blocks++;
    assert_false(masu_bucket_valid(f.pool));
    f.pool->classes[3].blocks--;
    give(f.pool, a, 100);
    void *head = f.pool->classes[1].list;
    f.pool->classes[1].list = a + 8; /* not a block's border */
    assert_false(masu_bucket_valid(f.pool));
    f.pool->classes[1].list = NULL; /* a block in no list */
    assert_false(masu_bucket_valid(f.pool));
    f.pool->classes[1].list = head;
    close_pool(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_gets_the_smallest_class_that_fits),
        cmocka_unit_test(the_last_freed_is_the_first_taken),
        cmocka_unit_test(preallocated_blocks_are_hits),
        cmocka_unit_test(without_preallocation_the_first_is_a_miss),
        cmocka_unit_test(large_preallocation_takes_several_slabs),
        cmocka_unit_test(never_used_blocks_touch_no_page),
        cmocka_unit_test(sizes_at_the_border),
        cmocka_unit_test(every_alignment_is_kept),
        cmocka_unit_test(checked_mode_tells_wrong_frees_apart),
        cmocka_unit_test(slab_starts_are_safe_from_best_fit_frees),
        cmocka_unit_test(plain_mode_catches_what_costs_nothing),
        cmocka_unit_test(unsized_free_with_remembered_sizes),
#ifdef MASU_HEAVY
        cmocka_unit_test(a_destroyed_pool_answers),
#endif
        cmocka_unit_test(the_cap_holds_after_every_call),
        cmocka_unit_test(trim_returns_memory_between_live_blocks),
        cmocka_unit_test(a_lower_cap_takes_effect_at_once),
        cmocka_unit_test(failures_below_leave_no_mark),
        cmocka_unit_test(counters_start_again),
        cmocka_unit_test(memory_without_host_access_is_refused),
        cmocka_unit_test(the_check_sees_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
