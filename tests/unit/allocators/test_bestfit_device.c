/* A best-fit pool at the border of what its device has: what is idle gives way, limits may be any number, growth is
 * what is needed, blocks of varying size do not pile up, alignment leaves no gaps. */
#include "bestfit_fixture.h"

static masu_bestfit *open_pool(masu_device *device, masu_bestfit_config config) {
    masu_bestfit *pool;
    config.device = device;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    return pool;
}

static masu_device *open_device(uint64_t bytes) {
    masu_device *device;
    assert_int_equal(masu_device_create_null(bytes, &device), MASU_OK);
    return device;
}

static void close_pool(masu_bestfit *pool, masu_device *device) {
    assert_true(masu_bestfit_valid(pool));
    masu_bestfit_reset(pool);
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* Whatever sizes came and went, the whole device can be had as one block; with any configuration. */
static void what_is_idle_gives_way_when_the_device_is_full(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        masu_device *device = open_device(100 * MIB);
        masu_bestfit_config config = masu_bestfit_config_default(device);
        config.pool_bytes = config.initial_bytes = 16 * MIB;
        config.whole_above_bytes = way & 1 ? MIB : 0;
        config.limit_bytes = way & 2 ? 300 * (size_t)MIB : 0;
        masu_bestfit *pool = open_pool(device, config);
        for (size_t n = 1; n < 40; n += 3)
            give(pool, take(pool, n * MIB));
        give(pool, take(pool, 100 * (size_t)MIB));
        unsigned char *kept = take(pool, 1000);
        for (size_t n = 1; n < 40; n += 3)
            give(pool, take(pool, n * MIB));
        give(pool, take(pool, 80 * MIB));
        void *ptr;
        assert_int_equal(masu_bestfit_alloc(pool, 101 * (size_t)MIB, 0, 0, &ptr), MASU_ERR_OUT_OF_MEMORY);
        give(pool, kept);
        close_pool(pool, device);
    }
}

static void a_persistent_pool_keeps_what_is_idle(void **state) {
    (void)state;
    masu_device *device = open_device(10 * MIB);
    masu_bestfit_config config = small_pool(device);
    config.policy = MASU_POOL_PERSISTENT;
    masu_bestfit *pool = open_pool(device, config);
    give(pool, take(pool, 5 * MIB));
    void *ptr;
    assert_int_equal(masu_bestfit_alloc(pool, 8 * MIB, 0, 0, &ptr), MASU_ERR_OUT_OF_MEMORY);
    assert_int_equal(stats_of(pool).reserved_bytes, 6 * MIB);
    close_pool(pool, device);
}

static void limits_may_be_any_number(void **state) {
    (void)state;
    for (size_t limit = 5 * MIB - 4100; limit < 5 * MIB + 4100; limit += 777) {
        masu_device *device = open_device(0);
        masu_bestfit_config config = small_pool(device);
        config.limit_bytes = config.initial_bytes = limit;
        masu_bestfit *pool = open_pool(device, config);
        give(pool, take(pool, limit));
        assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
        for (size_t less = 0; less < 200; less += 50)
            give(pool, take(pool, limit - less));
        void *ptr;
        assert_int_equal(masu_bestfit_alloc(pool, limit + 4096, 0, 0, &ptr), MASU_ERR_LIMIT_REACHED);
        assert_true(stats_of(pool).peak_reserved_bytes < limit + 4096);
        close_pool(pool, device);
    }
}

static void a_device_may_end_within_a_granule(void **state) {
    (void)state;
    for (uint64_t has = MIB; has < MIB + 8192; has += 1000) {
        masu_device *device = open_device(has);
        masu_bestfit_config config = masu_bestfit_config_default(device);
        assert_true(config.initial_bytes <= has);
        masu_bestfit *pool = open_pool(device, config);
        assert_int_equal(stats_of(pool).reserved_bytes, has / 4096 * 4096);
        assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
        config.initial_bytes = config.limit_bytes = config.pool_bytes = has;
        pool = open_pool(device, config);
        assert_int_equal(stats_of(pool).reserved_bytes, has / 4096 * 4096);
        close_pool(pool, device);
    }
}

/* What a device has that does not say so. */
static size_t small_left;

static masu_status small_alloc(void *context, size_t bytes, void **out) {
    (void)context;
    if (bytes > small_left || !(*out = aligned_alloc(4096, bytes)))
        return MASU_ERR_OUT_OF_MEMORY;
    small_left -= bytes;
    return MASU_OK;
}

static masu_status small_free(void *context, void *ptr, size_t bytes) {
    (void)context;
    free(ptr);
    small_left += bytes;
    return MASU_OK;
}

static void defaults_work_on_a_small_device_that_does_not_say_so(void **state) {
    (void)state;
    const masu_device_table table = {
        .struct_bytes = sizeof table,
        .name = "small",
        .alignment_bytes = 4096,
        .granularity_bytes = 4096,
        .alloc = small_alloc,
        .free = small_free,
    };
    masu_device *device;
    masu_bestfit *pool;
    assert_int_equal(masu_device_create_custom(&table, NULL, &device), MASU_OK);
    for (size_t has = 4096; has <= 96 << 20; has = has * 7 / 4096 * 4096) {
        small_left = has;
        masu_bestfit_config config = masu_bestfit_config_default(device);
        assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
        assert_true(small_left < has);
        assert_true(small_left <= has / 2); /* half of it at least was taken */
        (void)take(pool, has / 2);          /* in the first block, or the device had no more */
        if (small_left >= 4096)
            (void)take(pool, small_left / 4096 * 4096); /* the rest is of use too */
        masu_bestfit_reset(pool);
        assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
        assert_int_equal(small_left, has);
        config.initial_bytes = (size_t)128 << 20; /* a demand */
        assert_int_equal(masu_bestfit_create(&config, &pool), MASU_ERR_OUT_OF_MEMORY);
        assert_null(pool);
    }
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void growth_is_what_is_needed_above_a_device_block(void **state) {
    (void)state;
    masu_device *device = open_device(0);
    masu_bestfit *pool = open_pool(device, small_pool(device));
    for (size_t n = 2; n < 200; n += 13) {
        uint64_t before = stats_of(pool).reserved_bytes;
        take(pool, n * MIB);
        assert_int_equal(stats_of(pool).reserved_bytes - before, n * MIB);
    }
    close_pool(pool, device);
}

/* A hundred sizes, a few live at once: no more than twice the most that was live stays reserved. */
static void blocks_of_varying_size_do_not_pile_up(void **state) {
    (void)state;
    for (unsigned seed = 1; seed < 5; seed++) {
        masu_device *device = open_device(0);
        masu_bestfit_config config = small_pool(device);
        config.initial_bytes = 0;
        config.whole_above_bytes = MIB;
        masu_bestfit *pool = open_pool(device, config);
        uint64_t drawn = seed;
        for (int step = 0; step < 500; step++) {
            unsigned char *live[5];
            for (int i = 0; i < 5; i++) {
                drawn = drawn * 6364136223846793005u + 1442695040888963407u;
                live[i] = take(pool, 2 * MIB + (drawn >> 40) % 4096 * 4096);
            }
            for (int i = 0; i < 5; i++)
                give(pool, live[i]);
            masu_bestfit_stats s = stats_of(pool);
            assert_true(s.reserved_bytes <= 2 * s.peak_used_bytes + 4096);
        }
        close_pool(pool, device);
    }
}

/* What repeats is served without the device. */
static void blocks_of_the_same_sizes_stay(void **state) {
    (void)state;
    masu_device *device = open_device(0);
    masu_bestfit_config config = small_pool(device);
    config.initial_bytes = 0;
    config.whole_above_bytes = MIB;
    masu_bestfit *pool = open_pool(device, config);
    uint64_t calls = 0;
    for (int step = 0; step < 50; step++) {
        unsigned char *live[8];
        for (size_t i = 0; i < 8; i++)
            live[i] = take(pool, (i + 2) * MIB);
        for (size_t i = 0; i < 8; i++)
            give(pool, live[i]);
        if (step == 0)
            calls = stats_of(pool).device_allocations;
    }
    assert_int_equal(stats_of(pool).device_allocations, calls);
    close_pool(pool, device);
}

static void alignment_leaves_no_gaps(void **state) {
    (void)state;
    static const size_t alignments[] = {64, 128, 256, 4096, 65536};
    for (size_t a = 0; a < sizeof alignments / sizeof *alignments; a++)
        for (int by_pool = 0; by_pool < 2; by_pool++) {
            masu_device *device = open_device(0);
            masu_bestfit_config config = small_pool(device);
            config.pool_bytes = config.initial_bytes = (size_t)1 << 40;
            config.min_alignment_bytes = by_pool ? alignments[a] : 0;
            if (!by_pool && alignments[a] > 256)
                config.min_remainder_bytes = alignments[a];
            masu_bestfit *pool = open_pool(device, config);
            uint64_t drawn = a;
            void *ptr;
            for (int i = 0; i < 1000; i++) {
                drawn = drawn * 6364136223846793005u + 1442695040888963407u;
                assert_int_equal(
                    masu_bestfit_alloc(pool, 1 + (drawn >> 40) % 100000, by_pool ? 0 : alignments[a], 0, &ptr),
                    MASU_OK);
                assert_int_equal((uintptr_t)ptr % alignments[a], 0);
            }
            assert_true(stats_of(pool).free_blocks <= 2); /* the rest, and what lies before the first */
            close_pool(pool, device);
        }
    masu_device *device = open_device(0);
    masu_bestfit_config config = small_pool(device);
    masu_bestfit *pool;
    config.min_alignment_bytes = 96;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void a_pool_without_memory_weighs_next_to_nothing(void **state) {
    (void)state;
    masu_device *device = open_device(0);
    masu_bestfit_config config = small_pool(device);
    config.initial_bytes = 0;
    masu_bestfit *pool = open_pool(device, config);
    assert_true(stats_of(pool).metadata_bytes < 4096);
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
    masu_bestfit_reset(pool);
    void *ptr = pool;
    assert_int_equal(masu_bestfit_free(pool, ptr), MASU_ERR_FOREIGN_POINTER);
    give(pool, take(pool, 10));
    assert_true(stats_of(pool).metadata_bytes > sizeof(masu__free_index)); /* of the ground that has memory now */
    close_pool(pool, device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_idle_gives_way_when_the_device_is_full),
        cmocka_unit_test(a_persistent_pool_keeps_what_is_idle),
        cmocka_unit_test(limits_may_be_any_number),
        cmocka_unit_test(a_device_may_end_within_a_granule),
        cmocka_unit_test(defaults_work_on_a_small_device_that_does_not_say_so),
        cmocka_unit_test(growth_is_what_is_needed_above_a_device_block),
        cmocka_unit_test(blocks_of_varying_size_do_not_pile_up),
        cmocka_unit_test(blocks_of_the_same_sizes_stay),
        cmocka_unit_test(alignment_leaves_no_gaps),
        cmocka_unit_test(a_pool_without_memory_weighs_next_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
