/* The best-fit pool and its device blocks: rows B7, B8, B9, B10, B13; growth, trim, policy. */
#include "unit/allocators/bestfit_fixture.h"

/* ---- B7, B8, B9, B13 ------------------------------------------------------------------------- */

static void every_second_block_freed(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    void *ptr[256];
    for (int i = 0; i < 256; i++)
        ptr[i] = take(pool, 4096); /* exactly the pool */
    for (int i = 1; i < 256; i += 2)
        give(pool, ptr[i]);
    masu_bestfit_stats before = stats_of(pool);
    assert_int_equal(before.free_bytes, MIB / 2);
    assert_int_equal(before.largest_free_bytes, 4096); /* external fragmentation 1 - 4096/524288 */
    void *large = take(pool, 8192);                    /* no hole is large enough */
    masu_bestfit_stats after = stats_of(pool);
    assert_int_equal(after.device_allocations, before.device_allocations + 1);
    assert_int_equal(after.misses, before.misses + 1);
    give(pool, large);
    for (int i = 0; i < 256; i += 2)
        give(pool, ptr[i]);
}

static void all_freed_in_random_order_is_one_block_again(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    masu__rng rng;
    masu__rng_seed(&rng, 4);
    void *ptr[500];
    for (int i = 0; i < 500; i++)
        ptr[i] = take(pool, 1 + masu__rng_below(&rng, 20000));
    for (size_t left = 500; left > 0; left--) {
        size_t k = masu__rng_below(&rng, left);
        give(pool, ptr[k]);
        ptr[k] = ptr[left - 1];
    }
    masu_bestfit_stats stats = stats_of(pool);
    assert_true(stats.device_blocks > 1);
    assert_int_equal(stats.free_blocks, stats.device_blocks);
    assert_int_equal(stats.free_bytes, stats.reserved_bytes);
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
    stats = stats_of(pool);
    assert_int_equal(stats.reserved_bytes, 0);
    assert_int_equal(stats.device_frees, stats.device_allocations);
    take(pool, 1000); /* and it grows again */
}

static void device_blocks_that_touch_never_merge(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    unsigned char *a = take(pool, MIB);     /* the first device block, whole */
    unsigned char *b = take(pool, MIB / 2); /* a second one */
    unsigned char *c = take(pool, MIB / 2);
    assert_ptr_equal(a + MIB, b); /* they touch */
    give(pool, a);
    give(pool, b);
    give(pool, c);
    masu_bestfit_stats stats = stats_of(pool);
    assert_int_equal(stats.device_blocks, 2);
    assert_int_equal(stats.free_blocks, 2);
    assert_int_equal(stats.largest_free_bytes, MIB);
    take(pool, MIB + 1); /* 2 MiB are free, in two pieces: the device is asked */
    assert_int_equal(stats_of(pool).device_blocks, 3);
}

static void reset_restores_each_block_with_its_own_size(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    void *old[4] = {take(pool, 1000), take(pool, 3 * MIB), take(pool, 10 * MIB), take(pool, 500)};
    masu_bestfit_stats before = stats_of(pool);
    assert_int_equal(before.device_blocks, 3);
    masu_bestfit_reset(pool);
    masu_bestfit_stats after = stats_of(pool);
    assert_int_equal(after.used_bytes, 0);
    assert_int_equal(after.slack_bytes, 0);
    assert_int_equal(after.live_blocks, 0);
    assert_int_equal(after.peak_used_bytes, 0);
    assert_int_equal(after.free_bytes, before.reserved_bytes);
    assert_int_equal(after.free_blocks, 3);
    assert_int_equal(after.largest_free_bytes, 10 * MIB);
    for (int i = 0; i < 4; i++)
        assert_int_equal(masu_bestfit_free(pool, old[i]), MASU_ERR_DOUBLE_FREE);
    /* all of the space, no more and no less */
    take(pool, 10 * MIB);
    take(pool, 3 * MIB);
    take(pool, MIB);
    assert_int_equal(stats_of(pool).free_bytes, 0);
    assert_int_equal(stats_of(pool).device_allocations, 3);
}

/* ---- growth, trim, policy -------------------------------------------------------------------- */

static void growth_is_a_device_block_or_what_the_request_needs(void **state) {
    (void)state;
    masu_device *device;
    masu_bestfit *pool;
    void *ptr;
    assert_int_equal(masu_device_create_null(20 * MIB, &device), MASU_OK);
    masu_bestfit_config config = small_pool(device);
    config.initial_bytes = 0;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    assert_int_equal(stats_of(pool).reserved_bytes, 0);
    take(pool, 100);
    assert_int_equal(stats_of(pool).reserved_bytes, MIB);
    take(pool, 2 * MIB);
    assert_int_equal(stats_of(pool).reserved_bytes, 3 * MIB);
    take(pool, 12 * MIB);
    assert_int_equal(stats_of(pool).reserved_bytes, 15 * MIB);
    assert_int_equal(masu_bestfit_alloc(pool, 6 * MIB, 0, 0, &ptr), MASU_ERR_OUT_OF_MEMORY);
    take(pool, 5 * MIB); /* exactly what is left */
    assert_int_equal(masu_bestfit_destroy(pool), MASU_ERR_LEAK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void trim_keeps_what_is_asked_and_what_is_used(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    void *a = take(pool, 2 * MIB), *b = take(pool, 5 * MIB);
    masu_bestfit_stats before = stats_of(pool); /* 1 + 2 + 5 MiB */
    assert_int_equal(before.reserved_bytes, 8 * MIB);
    give(pool, b);
    assert_int_equal(masu_bestfit_trim(pool, 8 * MIB), MASU_OK);
    assert_int_equal(stats_of(pool).reserved_bytes, 8 * MIB);
    assert_int_equal(masu_bestfit_trim(pool, 3 * MIB), MASU_OK);
    assert_int_equal(stats_of(pool).reserved_bytes, 3 * MIB);
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
    assert_int_equal(stats_of(pool).reserved_bytes, 2 * MIB); /* a lives there */
    give(pool, a);
}

static void persistent_pools_never_give_back(void **state) {
    (void)state;
    masu_device *device;
    masu_bestfit *pool;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_bestfit_config config = small_pool(device);
    config.policy = MASU_POOL_PERSISTENT;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    give(pool, take(pool, 3 * MIB));
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
    assert_int_equal(stats_of(pool).reserved_bytes, 4 * MIB);
    assert_int_equal(stats_of(pool).device_frees, 0);
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void trim_gives_metadata_back_too(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    uint64_t before = stats_of(pool).metadata_bytes;
    static void *ptr[20000];
    for (int i = 0; i < 20000; i++)
        ptr[i] = take(pool, 512);
    assert_true(stats_of(pool).metadata_bytes > before + 1000000);
    for (int i = 0; i < 20000; i++)
        give(pool, ptr[i]);
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
    assert_true(stats_of(pool).metadata_bytes < before + 10000);
}

/* ---- B10 ------------------------------------------------------------------------------------- */

static void assert_unchanged(const masu_bestfit_stats *before, masu_bestfit *pool) {
    masu_bestfit_stats after = stats_of(pool);
    after.failures = before->failures;
    after.metadata_bytes = before->metadata_bytes; /* records may have been made ready */
    assert_memory_equal(before, &after, sizeof after);
    assert_true(masu_bestfit_valid(pool));
}

static void device_failures_are_survived(void **state) {
    (void)state;
    masu_device *inner, *device;
    masu_bestfit *pool;
    void *ptr;
    assert_int_equal(masu_device_create_null(0, &inner), MASU_OK);
    assert_int_equal(masu_device_create_faulty(inner, &device), MASU_OK);
    masu_bestfit_config config = small_pool(device);

    assert_int_equal(masu_device_fail_at(device, 1, true), MASU_OK);
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_ERR_DEVICE_FAILURE);
    assert_null(pool);
    assert_int_equal(masu_device_fail_at(device, 0, false), MASU_OK);
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);

    masu_bestfit_stats before = stats_of(pool);
    masu_device_fail_at(device, 1, true);
    assert_int_equal(masu_bestfit_alloc(pool, 2 * MIB, 0, 0, &ptr), MASU_ERR_DEVICE_FAILURE);
    assert_null(ptr);
    assert_unchanged(&before, pool);
    unsigned char *most = take(pool, MIB);
    masu_device_fail_at(device, 1, false); /* only the larger growth is refused: the exact one serves */
    ptr = take(pool, MIB / 2);
    assert_int_equal(stats_of(pool).reserved_bytes, MIB + MIB / 2);
    give(pool, most);
    give(pool, ptr);

    before = stats_of(pool);
    masu_device_fail_at(device, 1, true);
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_ERR_DEVICE_FAILURE);
    assert_unchanged(&before, pool);
    masu_device_fail_at(device, 0, false);
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
    assert_int_equal(stats_of(pool).reserved_bytes, 0);

    take(pool, 100);
    masu_device_fail_at(device, 1, true);
    assert_int_equal(masu_bestfit_destroy(pool), MASU_ERR_LEAK); /* the caller's fault is told first */
    assert_int_equal(masu_device_destroy(device), MASU_ERR_LEAK);
    masu_device_destroy(inner);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void metadata_failures_are_survived(void **state) {
    (void)state;
    uint64_t created_with = 0;
    for (uint64_t nth = 1; created_with == 0; nth++) {
        masu_device *device;
        masu_bestfit *pool;
        masu_device_create_null(0, &device);
        masu_bestfit_config config = small_pool(device);
        masu__fault_arm(nth);
        masu_status status = masu_bestfit_create(&config, &pool);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_int_equal(status == MASU_OK, !fired);
        if (status == MASU_OK)
            created_with = nth;
        assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
        assert_int_equal(masu_device_destroy(device), MASU_OK);
        assert_int_equal(masu__meta_live_bytes(), 0);
    }
    assert_true(created_with > 3);

    for (uint64_t nth = 1; nth < 100; nth++) {
        masu_device *device;
        masu_bestfit *pool;
        masu_device_create_null(0, &device);
        masu_bestfit_config config = small_pool(device);
        assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
        masu__fault_arm(nth);
        for (int i = 0; i < 400; i++) {
            void *ptr;
            masu_bestfit_stats before = stats_of(pool);
            size_t bytes = i % 50 == 49 ? 2 * MIB : 1000;
            masu_status status = masu_bestfit_alloc(pool, bytes, i % 3 ? 0 : 4096, 0, &ptr);
            if (status == MASU_OK)
                continue;
            assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
            assert_unchanged(&before, pool);
            assert_int_equal(masu_bestfit_alloc(pool, bytes, 0, 0, &ptr), MASU_OK);
        }
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_int_equal(masu_bestfit_destroy(pool), MASU_ERR_LEAK);
        assert_int_equal(masu_device_destroy(device), MASU_OK);
        if (!fired)
            return;
    }
    fail_msg("the sweep did not come to its end");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_NULL(every_second_block_freed),
        ON_NULL(all_freed_in_random_order_is_one_block_again),
        ON_NULL(device_blocks_that_touch_never_merge),
        ON_NULL(reset_restores_each_block_with_its_own_size),
        cmocka_unit_test(growth_is_a_device_block_or_what_the_request_needs),
        ON_NULL(trim_keeps_what_is_asked_and_what_is_used),
        cmocka_unit_test(persistent_pools_never_give_back),
        ON_NULL(trim_gives_metadata_back_too),
        cmocka_unit_test(device_failures_are_survived),
        cmocka_unit_test(metadata_failures_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
