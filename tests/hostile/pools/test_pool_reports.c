/* Shapes that broke other allocators, each as its smallest input: rows B7 to B9, B12, B13 and the
 * allocator reports of part C, under their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/masu.h>

#include "base/rng.h"

enum { MIB = 1 << 20, GRANULE = 4096 };

typedef struct pair {
    masu_device *device;
    masu_bestfit *pool;
} pair;

static void open_pair(pair *p, size_t pool_bytes, size_t initial_bytes, size_t limit_bytes) {
    assert_int_equal(masu_device_create_null(0, &p->device), MASU_OK);
    masu_bestfit_config config = masu_bestfit_config_default(p->device);
    config.pool_bytes = pool_bytes;
    config.initial_bytes = initial_bytes;
    config.limit_bytes = limit_bytes;
    assert_int_equal(masu_bestfit_create(&config, &p->pool), MASU_OK);
}

static void close_pair(pair *p) {
    assert_true(masu_bestfit_valid(p->pool));
    assert_int_equal(masu_bestfit_destroy(p->pool), MASU_OK);
    assert_int_equal(masu_device_destroy(p->device), MASU_OK);
}

static void *take(pair *p, size_t bytes) {
    void *ptr;
    assert_int_equal(masu_bestfit_alloc(p->pool, bytes, 0, 0, &ptr), MASU_OK);
    return ptr;
}

static masu_bestfit_stats stats_of(const pair *p) {
    masu_bestfit_stats s;
    masu_bestfit_get_stats(p->pool, &s);
    assert_int_equal(s.used_bytes + s.slack_bytes + s.free_bytes, s.reserved_bytes);
    assert_true(s.largest_free_bytes <= s.free_bytes);
    return s;
}

static void c01_the_limit_can_be_reached_exactly(void **state) {
    (void)state;
    pair p;
    open_pair(&p, GRANULE, GRANULE, 4 * GRANULE);
    void *ptr = take(&p, 4 * GRANULE);
    assert_int_equal(stats_of(&p).reserved_bytes, 4 * GRANULE);
    void *more;
    assert_int_equal(masu_bestfit_alloc(p.pool, 1, 0, 0, &more), MASU_ERR_LIMIT_REACHED);
    assert_int_equal(masu_bestfit_free(p.pool, ptr), MASU_OK);
    close_pair(&p);
}

static void c02_free_memory_does_not_count_against_the_limit(void **state) {
    (void)state;
    pair p;
    open_pair(&p, MIB, 0, (size_t)1024 * MIB);
    void *ptr = take(&p, (size_t)512 * MIB);
    assert_int_equal(masu_bestfit_free(p.pool, ptr), MASU_OK);
    ptr = take(&p, (size_t)768 * MIB);
    assert_true(stats_of(&p).reserved_bytes <= (size_t)1024 * MIB);
    assert_int_equal(masu_bestfit_free(p.pool, ptr), MASU_OK);
    close_pair(&p);
}

static void c03_cycles_do_not_make_the_pool_grow(void **state) {
    (void)state;
    for (int policy = 0; policy < 2; policy++)
        for (int limited = 0; limited < 2; limited++) {
            pair p;
            assert_int_equal(masu_device_create_null(0, &p.device), MASU_OK);
            masu_bestfit_config config = masu_bestfit_config_default(p.device);
            config.pool_bytes = 2 * MIB;
            config.initial_bytes = 0;
            config.policy = policy ? MASU_POOL_PERSISTENT : MASU_POOL_REUSE;
            config.limit_bytes = limited ? (size_t)1024 * MIB : 0;
            assert_int_equal(masu_bestfit_create(&config, &p.pool), MASU_OK);
            void *kept[100];
            uint64_t after_ten = 0;
            for (int i = 0; i < 100; i++) {
                void *a = take(&p, (size_t)91 * MIB), *b = take(&p, (size_t)91 * MIB / 2);
                kept[i] = take(&p, i < 10 ? 2 * MIB : 64);
                assert_int_equal(masu_bestfit_free(p.pool, a), MASU_OK);
                assert_int_equal(masu_bestfit_free(p.pool, b), MASU_OK);
                after_ten = i == 10 ? stats_of(&p).reserved_bytes : after_ten;
            }
            assert_true(stats_of(&p).reserved_bytes <= after_ten + 4 * MIB);
            for (int i = 0; i < 100; i++)
                assert_int_equal(masu_bestfit_free(p.pool, kept[i]), MASU_OK);
            close_pair(&p);
        }
}

static void c04_what_fits_is_served(void **state) {
    (void)state;
    pair p;
    open_pair(&p, 324 * 64, 0, 0);
    masu_bestfit_destroy(p.pool);
    masu_bestfit_config config = masu_bestfit_config_default(p.device);
    config.pool_bytes = 1;
    config.initial_bytes = 81 * 4096; /* 324 kilobyte units */
    config.limit_bytes = config.initial_bytes;
    assert_int_equal(masu_bestfit_create(&config, &p.pool), MASU_OK);
    void *a = take(&p, 255 * 1024), *b = take(&p, 67 * 1024);
    assert_int_equal(stats_of(&p).device_allocations, 1);
    assert_int_equal(masu_bestfit_free(p.pool, a), MASU_OK);
    assert_int_equal(masu_bestfit_free(p.pool, b), MASU_OK);
    close_pair(&p);
    open_pair(&p, (size_t)699050 * 64, (size_t)699050 * 64, 0);
    a = take(&p, (size_t)664908 * 64);
    assert_int_equal(stats_of(&p).device_allocations, 1);
    assert_int_equal(masu_bestfit_free(p.pool, a), MASU_OK);
    close_pair(&p);
}

static void c07_each_wrong_free_has_a_status(void **state) {
    (void)state;
    pair p;
    open_pair(&p, MIB, 0, 0);
    int stack;
    unsigned char *ptr = take(&p, 5000);
    assert_int_equal(masu_bestfit_free(p.pool, ptr + 1), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bestfit_free(p.pool, ptr), MASU_OK);
    assert_int_equal(masu_bestfit_free(p.pool, ptr), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_bestfit_free(p.pool, ptr + 1), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_bestfit_free(p.pool, &stack), MASU_ERR_FOREIGN_POINTER);
    close_pair(&p);
}

static void c16_small_alignments_do_not_wrap(void **state) {
    (void)state;
    pair p;
    open_pair(&p, MIB, 0, 0);
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
        for (size_t bytes = 0; bytes <= alignment; bytes++) {
            void *ptr;
            assert_int_equal(masu_bestfit_alloc(p.pool, bytes, alignment, 0, &ptr), MASU_OK);
            assert_int_equal(ptr == NULL, bytes == 0);
            assert_int_equal((uintptr_t)ptr % alignment, 0);
            assert_int_equal(masu_bestfit_free(p.pool, ptr), MASU_OK);
        }
    assert_int_equal(stats_of(&p).device_allocations, 1);
    close_pair(&p);
}

static void c18_sizes_near_the_end_are_refused(void **state) {
    (void)state;
    pair p;
    open_pair(&p, MIB, MIB, 0);
    masu_bestfit_stats before = stats_of(&p);
    for (size_t k = 0; k <= 4096; k++) {
        void *ptr = &p;
        assert_int_not_equal(masu_bestfit_alloc(p.pool, SIZE_MAX - k, 0, 0, &ptr), MASU_OK);
        assert_null(ptr);
    }
    assert_int_equal(stats_of(&p).reserved_bytes, before.reserved_bytes);
    assert_int_equal(stats_of(&p).failures, 4097);
    close_pair(&p);
}

static void b07_a_block_larger_than_any_hole(void **state) {
    (void)state;
    enum { N = 64 };
    pair p;
    open_pair(&p, N * 65536, N * 65536, N * 65536);
    void *ptr[N], *large;
    for (int i = 0; i < N; i++)
        ptr[i] = take(&p, 65536);
    for (int i = 0; i < N; i += 2)
        assert_int_equal(masu_bestfit_free(p.pool, ptr[i]), MASU_OK);
    masu_bestfit_stats s = stats_of(&p);
    assert_true(s.external_fragmentation > 0.96 && s.largest_free_bytes == 65536);
    assert_int_equal(masu_bestfit_alloc(p.pool, 65537, 0, 0, &large), MASU_ERR_LIMIT_REACHED);
    assert_int_equal(stats_of(&p).free_bytes, s.free_bytes);
    for (int i = 1; i < N; i += 2)
        assert_int_equal(masu_bestfit_free(p.pool, ptr[i]), MASU_OK);
    assert_true(stats_of(&p).external_fragmentation == 0);
    close_pair(&p);
}

static void b08_b09_all_free_is_one_block_for_each_device_block(void **state) {
    (void)state;
    enum { N = 500 };
    pair p;
    void *ptr[N];
    masu__rng rng;
    masu__rng_seed(&rng, 8);
    open_pair(&p, MIB, 0, 0); /* the device's blocks touch in address space */
    for (int i = 0; i < N; i++)
        ptr[i] = take(&p, 1 + masu__rng_below(&rng, 40000));
    for (int i = N; i-- > 0;) {
        size_t k = masu__rng_below(&rng, (uint64_t)i + 1);
        assert_int_equal(masu_bestfit_free(p.pool, ptr[k]), MASU_OK);
        ptr[k] = ptr[i];
    }
    masu_bestfit_stats s = stats_of(&p);
    assert_true(s.device_blocks > 5);
    assert_int_equal(s.free_blocks, s.device_blocks);
    assert_int_equal(masu_bestfit_trim(p.pool, 3 * MIB), MASU_OK);
    assert_true(stats_of(&p).reserved_bytes >= 3 * MIB && stats_of(&p).reserved_bytes < 3 * MIB + 2 * MIB);
    assert_int_equal(masu_bestfit_trim(p.pool, 0), MASU_OK);
    assert_int_equal(stats_of(&p).reserved_bytes, 0);
    close_pair(&p);
}

static void b13_reset_makes_every_device_block_whole(void **state) {
    (void)state;
    pair p;
    open_pair(&p, MIB, MIB, 0);
    unsigned char *old = take(&p, 1000);
    take(&p, 5 * MIB); /* a device block of another size */
    take(&p, 3000);
    masu_bestfit_reset(p.pool);
    masu_bestfit_stats s = stats_of(&p);
    assert_int_equal(s.free_bytes, s.reserved_bytes);
    assert_int_equal(s.free_blocks, s.device_blocks);
    assert_int_equal(s.largest_free_bytes, 5 * MIB);
    assert_int_equal(s.peak_used_bytes, 0);
    assert_int_equal(masu_bestfit_free(p.pool, old), MASU_ERR_DOUBLE_FREE);
    void *ptr = take(&p, 5 * MIB);
    assert_int_equal(masu_bestfit_free(p.pool, ptr), MASU_OK);
    close_pair(&p);
}

static void c20_counters_never_go_below_zero(void **state) {
    (void)state;
    masu_heap *heap;
    masu_heap_stats s;
    assert_int_equal(masu_heap_create(NULL, &heap), MASU_OK);
    for (int i = 0; i < 1000; i++) {
        void *ptr;
        assert_int_equal(masu_heap_alloc(heap, 50000, 0, &ptr), MASU_OK);
        assert_int_equal(masu_heap_free(heap, ptr, 50000), MASU_OK);
        if (i % 100 == 0)
            assert_int_equal(masu_heap_trim(heap, 0), MASU_OK);
        masu_heap_get_stats(heap, &s);
        assert_int_equal(s.allocations - s.frees, s.live_blocks);
        assert_true(s.live_bytes <= s.reserved_bytes && s.free_bytes <= s.reserved_bytes &&
                    s.cached_bytes <= s.reserved_bytes && s.slack_bytes <= s.reserved_bytes);
    }
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c01_the_limit_can_be_reached_exactly),
        cmocka_unit_test(c02_free_memory_does_not_count_against_the_limit),
        cmocka_unit_test(c03_cycles_do_not_make_the_pool_grow),
        cmocka_unit_test(c04_what_fits_is_served),
        cmocka_unit_test(c07_each_wrong_free_has_a_status),
        cmocka_unit_test(c16_small_alignments_do_not_wrap),
        cmocka_unit_test(c18_sizes_near_the_end_are_refused),
        cmocka_unit_test(b07_a_block_larger_than_any_hole),
        cmocka_unit_test(b08_b09_all_free_is_one_block_for_each_device_block),
        cmocka_unit_test(b13_reset_makes_every_device_block_whole),
        cmocka_unit_test(c20_counters_never_go_below_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
