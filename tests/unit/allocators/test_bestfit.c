/* The best-fit pool's calls: rows B1, B2, B3, B12 and the tests that seed 000 lists. */
#include "unit/allocators/bestfit_fixture.h"

/* ---- best fit -------------------------------------------------------------------------------- */

static void smallest_hole_wins_then_lowest_address(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    unsigned char *hole[4], *wall[4];
    size_t sizes[] = {4096, 2048, 3072, 2048};
    for (int i = 0; i < 4; i++) {
        hole[i] = take(pool, sizes[i]);
        wall[i] = take(pool, 1024);
    }
    for (int i = 0; i < 4; i++)
        give(pool, hole[i]);
    assert_ptr_equal(take(pool, 2000), hole[1]);
    assert_ptr_equal(take(pool, 2048), hole[3]);
    assert_ptr_equal(take(pool, 2049), hole[2]);
    assert_ptr_equal(take(pool, 3073), hole[0]);
    for (int i = 0; i < 4; i++)
        give(pool, wall[i]);
}

static void the_remainder_rule(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    unsigned char *hole = take(pool, 2048), *wall = take(pool, 64);
    give(pool, hole);
    /* 192 bytes would remain: too few, they become slack */
    assert_ptr_equal(take(pool, 2048 - 192), hole);
    assert_int_equal(stats_of(pool).slack_bytes, 192);
    give(pool, hole);
    /* 256 remain: a block of its own */
    assert_ptr_equal(take(pool, 2048 - 256), hole);
    assert_int_equal(stats_of(pool).slack_bytes, 0);
    assert_ptr_equal(take(pool, 256), hole + 2048 - 256);
    give(pool, wall);
}

static void same_calls_same_places(void **state) {
    (void)state;
    uintptr_t first[300];
    for (int run = 0; run < 2; run++) {
        masu_device *device;
        masu_bestfit *pool;
        masu__rng rng;
        masu__rng_seed(&rng, 99);
        assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
        masu_bestfit_config config = small_pool(device);
        assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
        void *live[50] = {0};
        for (int i = 0; i < 300; i++) {
            size_t k = masu__rng_below(&rng, 50);
            give(pool, live[k]);
            live[k] = take(pool, 1 + masu__rng_below(&rng, 100000));
            if (run == 0)
                first[i] = (uintptr_t)live[k];
            assert_true(first[i] == (uintptr_t)live[k]);
        }
        assert_int_equal(masu_bestfit_destroy(pool), MASU_ERR_LEAK);
        assert_int_equal(masu_device_destroy(device), MASU_OK);
    }
}

/* ---- B1, B2 ---------------------------------------------------------------------------------- */

static void zero_bytes_is_nothing(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    void *ptr = pool;
    assert_int_equal(masu_bestfit_alloc(pool, 0, 0, 0, &ptr), MASU_OK);
    assert_null(ptr);
    assert_int_equal(masu_bestfit_alloc(pool, 0, 3, 0, &ptr), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_bestfit_free(pool, NULL), MASU_OK);
    assert_int_equal(stats_of(pool).allocations, 0);
    assert_int_equal(stats_of(pool).frees, 0);
}

static void gigantic_sizes_are_refused_and_leave_no_mark(void **state) {
    fixture *f = *state;
    masu_device *limited;
    masu_bestfit *pool;
    assert_int_equal(masu_device_create_null((uint64_t)1 << 40, &limited), MASU_OK);
    masu_bestfit_config config = small_pool(limited);
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    masu_bestfit_stats before = stats_of(pool);
    void *ptr;
    for (size_t k = 0; k <= 4096; k++)
        for (size_t alignment = 1; alignment <= 4096; alignment *= 64) {
            assert_int_not_equal(masu_bestfit_alloc(pool, SIZE_MAX - k, alignment, 0, &ptr), MASU_OK);
            assert_null(ptr);
        }
    for (unsigned bits = 41; bits < 64; bits++) {
        assert_int_not_equal(masu_bestfit_alloc(pool, (size_t)1 << bits, 0, 0, &ptr), MASU_OK);
        assert_int_not_equal(masu_bestfit_alloc(pool, 64, (size_t)1 << bits, 0, &ptr), MASU_OK);
        assert_int_not_equal(masu_bestfit_alloc(pool, (size_t)1 << bits, (size_t)1 << bits, 0, &ptr), MASU_OK);
    }
    masu_bestfit_stats after = stats_of(pool);
    assert_true(after.failures > 0);
    after.failures = 0;
    after.metadata_bytes = before.metadata_bytes;
    assert_memory_equal(&before, &after, sizeof before);
    assert_true(masu_bestfit_valid(pool));
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    assert_int_equal(masu_device_destroy(limited), MASU_OK);
    (void)f;
}

static void every_alignment_is_kept(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    void *ptr[80];
    size_t count = 0;
    for (size_t alignment = 1; alignment <= (size_t)4 * MIB; alignment *= 2)
        for (size_t bytes = 100; bytes <= 1000000; bytes *= 100) {
            assert_int_equal(masu_bestfit_alloc(pool, bytes, alignment, 0, &ptr[count]), MASU_OK);
            assert_int_equal((uintptr_t)ptr[count] % alignment, 0);
            assert_int_equal((uintptr_t)ptr[count] % 64, 0);
            count++;
        }
    assert_true(masu_bestfit_valid(pool));
    assert_int_equal(masu_bestfit_alloc(pool, 100, 3, 0, &ptr[count]), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_bestfit_alloc(pool, 100, 96, 0, &ptr[count]), MASU_ERR_INVALID_ARGUMENT);
    assert_null(ptr[count]);
    for (size_t i = 0; i < count; i++)
        give(pool, ptr[i]);
}

static void aligned_requests_reuse_holes(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    /* more unsuitable holes than candidates are tried one by one */
    void *hole[100], *wall[100];
    for (int i = 0; i < 100; i++) {
        hole[i] = take(pool, 4096);
        wall[i] = take(pool, 64);
    }
    for (int i = 0; i < 100; i++)
        give(pool, hole[i]);
    void *ptr;
    masu_bestfit_stats before = stats_of(pool);
    assert_int_equal(masu_bestfit_alloc(pool, 4096, 4096, 0, &ptr), MASU_OK);
    assert_int_equal((uintptr_t)ptr % 4096, 0);
    assert_int_equal(stats_of(pool).device_allocations, before.device_allocations);
    give(pool, ptr);
    for (int i = 0; i < 100; i++)
        give(pool, wall[i]);
    assert_int_equal(stats_of(pool).free_blocks, 1);
}

/* ---- B3 -------------------------------------------------------------------------------------- */

static void wrong_pointers_are_told_apart(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    unsigned char *a = take(pool, 10000), *b = take(pool, 10000), *c = take(pool, 10000);
    int local;
    masu_bestfit_stats before = stats_of(pool);
    assert_int_equal(masu_bestfit_free(pool, a + 1), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bestfit_free(pool, a + 64), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bestfit_free(pool, b + 9999), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bestfit_free(pool, &local), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_bestfit_free(pool, (void *)8), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_bestfit_free(pool, (void *)UINTPTR_MAX), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_bestfit_free(pool, c + 20000), MASU_ERR_DOUBLE_FREE); /* in free space */
    assert_int_equal(masu_bestfit_free_sized(pool, a, 9999), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_bestfit_free_sized(pool, a, 0), MASU_ERR_SIZE_MISMATCH);
    size_t bytes = 0;
    assert_int_equal(masu_bestfit_size_of(pool, b, &bytes), MASU_OK);
    assert_int_equal(bytes, 10000);
    assert_int_equal(masu_bestfit_size_of(pool, b + 64, &bytes), MASU_ERR_INTERIOR_POINTER);
    masu_bestfit_stats after = stats_of(pool);
    assert_memory_equal(&before, &after, sizeof before);

    give(pool, b);
    assert_int_equal(masu_bestfit_free(pool, b), MASU_ERR_DOUBLE_FREE);
    give(pool, a);
    assert_int_equal(masu_bestfit_free(pool, b), MASU_ERR_DOUBLE_FREE); /* merged into its neighbour */
    assert_int_equal(masu_bestfit_free_sized(pool, c, 10000), MASU_OK);
    assert_int_equal(masu_bestfit_free(pool, c), MASU_ERR_DOUBLE_FREE);
    assert_true(masu_bestfit_valid(pool));
}

static void another_pools_pointer_is_foreign(void **state) {
    fixture *f = *state;
    masu_bestfit *other;
    masu_bestfit_config config = small_pool(f->device);
    assert_int_equal(masu_bestfit_create(&config, &other), MASU_OK);
    void *theirs = take(other, 1000), *mine = take(f->pool, 1000);
    assert_int_equal(masu_bestfit_free(f->pool, theirs), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_bestfit_free(other, mine), MASU_ERR_FOREIGN_POINTER);
    give(other, theirs);
    give(f->pool, mine);
    assert_int_equal(masu_bestfit_destroy(other), MASU_OK);
}

#ifdef MASU_HEAVY
static void a_destroyed_pool_answers(void **state) {
    fixture *f = *state;
    masu_bestfit *gone;
    masu_bestfit_config config = small_pool(f->device);
    assert_int_equal(masu_bestfit_create(&config, &gone), MASU_OK);
    void *ptr = take(gone, 1000);
    assert_int_equal(masu_bestfit_destroy(gone), MASU_ERR_LEAK);
    assert_int_equal(masu_bestfit_free(gone, ptr), MASU_ERR_STALE_POOL);
    assert_int_equal(masu_bestfit_alloc(gone, 1, 0, 0, &ptr), MASU_ERR_STALE_POOL);
    assert_int_equal(masu_bestfit_destroy(gone), MASU_ERR_STALE_POOL);
}
#endif

/* ---- statistics and leaks -------------------------------------------------------------------- */

static void counters_say_what_happened(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    void *a = take(pool, 1000), *b = take(pool, 2 * MIB);
    give(pool, a);
    masu_bestfit_stats s = stats_of(pool);
    assert_int_equal(s.allocations, 2);
    assert_int_equal(s.frees, 1);
    assert_int_equal(s.hits, 1);
    assert_int_equal(s.misses, 1);
    assert_int_equal(s.device_allocations, 2);
    assert_int_equal(s.allocated_bytes, 1000 + 2 * MIB);
    assert_int_equal(s.freed_bytes, 1000);
    assert_int_equal(s.used_bytes, 2 * MIB);
    assert_int_equal(s.peak_used_bytes, 1000 + 2 * MIB);
    assert_int_equal(s.peak_reserved_bytes, 3 * MIB);
    masu_bestfit_reset_stats(pool);
    s = stats_of(pool);
    assert_int_equal(s.allocations, 1);
    assert_int_equal(s.frees, 0);
    assert_int_equal(s.peak_used_bytes, 2 * MIB);
    assert_true(masu_bestfit_valid(pool));
    give(pool, b);
    assert_true(masu_bestfit_valid(pool));
}

typedef struct seen {
    masu_bestfit_block blocks[8];
    size_t count, stop_at;
} seen;

static bool remember(void *context, const masu_bestfit_block *block) {
    seen *s = context;
    s->blocks[s->count++] = *block;
    return s->count < s->stop_at;
}

static void leaks_are_listed_with_owner_and_order(void **state) {
    masu_bestfit *pool = ((fixture *)*state)->pool;
    void *a, *b, *c;
    assert_int_equal(masu_bestfit_alloc(pool, 1000, 0, 7, &a), MASU_OK);
    assert_int_equal(masu_bestfit_alloc(pool, 2000, 0, 8, &b), MASU_OK);
    assert_int_equal(masu_bestfit_alloc(pool, 3000, 0, 9, &c), MASU_OK);
    give(pool, b);
    seen s = {.stop_at = 8};
    masu_bestfit_visit_live(pool, remember, &s);
    assert_int_equal(s.count, 2);
    assert_ptr_equal(s.blocks[0].address, a);
    assert_int_equal(s.blocks[0].owner, 7);
    assert_int_equal(s.blocks[0].serial, 1);
    assert_int_equal(s.blocks[1].owner, 9);
    assert_int_equal(s.blocks[1].bytes, 3000);
    assert_int_equal(s.blocks[1].block_bytes, 3008);
    assert_int_equal(s.blocks[1].serial, 3);
    seen one = {.stop_at = 1};
    masu_bestfit_visit_live(pool, remember, &one);
    assert_int_equal(one.count, 1);
}

static void destroy_reports_what_is_live(void **state) {
    (void)state;
    masu_device *device;
    masu_bestfit *pool;
    seen s = {.stop_at = 8};
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_bestfit_config config = small_pool(device);
    config.leaked = remember;
    config.leaked_context = &s;
    for (int leaks = 0; leaks < 2; leaks++) {
        void *ptr;
        assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
        assert_int_equal(masu_bestfit_alloc(pool, 500, 0, 1, &ptr), MASU_OK);
        give(pool, ptr);
        if (leaks)
            assert_int_equal(masu_bestfit_alloc(pool, 700, 0, 42, &ptr), MASU_OK);
        assert_int_equal(masu_bestfit_destroy(pool), leaks ? MASU_ERR_LEAK : MASU_OK);
        assert_int_equal(s.count, leaks);
    }
    assert_int_equal(s.blocks[0].owner, 42);
    assert_int_equal(s.blocks[0].bytes, 700);
    assert_int_equal(s.blocks[0].serial, 2);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void bad_configurations_are_refused(void **state) {
    (void)state;
    masu_device *device;
    masu_bestfit *pool;
    masu_device_create_null(0, &device);
    masu_bestfit_config config = small_pool(NULL);
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_ERR_INVALID_ARGUMENT);
    config = small_pool(device);
    config.pool_bytes = 0;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_ERR_INVALID_ARGUMENT);
    config = small_pool(device);
    config.policy = (masu_pool_policy)9;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_bestfit_create(NULL, &pool), MASU_ERR_INVALID_ARGUMENT);
    assert_null(pool);
    void *ptr;
    assert_int_equal(masu_bestfit_alloc(NULL, 1, 0, 0, &ptr), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_bestfit_free(NULL, &ptr), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_bestfit_destroy(NULL), MASU_OK);
    masu_device_destroy(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_NULL(smallest_hole_wins_then_lowest_address),
        ON_NULL(the_remainder_rule),
        cmocka_unit_test(same_calls_same_places),
        ON_NULL(zero_bytes_is_nothing),
        ON_NULL(gigantic_sizes_are_refused_and_leave_no_mark),
        ON_NULL(every_alignment_is_kept),
        ON_NULL(aligned_requests_reuse_holes),
        ON_NULL(wrong_pointers_are_told_apart),
        ON_NULL(another_pools_pointer_is_foreign),
#ifdef MASU_HEAVY
        ON_NULL(a_destroyed_pool_answers),
#endif
        ON_NULL(counters_say_what_happened),
        ON_NULL(leaks_are_listed_with_owner_and_order),
        cmocka_unit_test(destroy_reports_what_is_live),
        cmocka_unit_test(bad_configurations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
