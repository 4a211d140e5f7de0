/* The size classes, nine and fine: what a request of every size costs, how its block is aligned,
 * and that the statistics of each class are right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/bucket.h>

#include "base/meta.h"
#include "base/rng.h"

enum { MIB = 1 << 20, MOST = MASU_BUCKET_MAX_BYTES };

typedef struct fixture {
    masu_device *device;
    masu_bestfit *backing;
    masu_bucket *pool;
} fixture;

static void open_pool(fixture *f, bool fine, bool checked) {
    assert_int_equal(masu_device_create_host(&f->device), MASU_OK);
    masu_bestfit_config below = masu_bestfit_config_default(f->device);
    below.pool_bytes = below.initial_bytes = 32 * MIB;
    assert_int_equal(masu_bestfit_create(&below, &f->backing), MASU_OK);
    masu_bucket_config config = masu_bucket_config_default(f->backing);
    config.fine_classes = fine;
    config.checked = checked;
    assert_int_equal(masu_bucket_create(&config, &f->pool), MASU_OK);
}

static void close_pool(fixture *f) {
    assert_true(masu_bucket_valid(f->pool));
    assert_int_equal(masu_bucket_destroy(f->pool), MASU_OK);
    assert_int_equal(masu_bestfit_destroy(f->backing), MASU_OK);
    assert_int_equal(masu_device_destroy(f->device), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static masu_bucket_stats stats_of(masu_bucket *pool) {
    masu_bucket_stats s;
    masu_bucket_get_stats(pool, &s);
    return s;
}

/* What a block for so many bytes costs, as the pool itself says. */
static size_t cost_of(masu_bucket *pool, size_t bytes, void **out) {
    uint64_t before = stats_of(pool).live_block_bytes;
    assert_int_equal(masu_bucket_alloc(pool, bytes, 0, out), MASU_OK);
    return (size_t)(stats_of(pool).live_block_bytes - before);
}

static size_t power_of_two_at_least(size_t bytes) {
    size_t power = 64;
    while (power < bytes)
        power *= 2;
    return power;
}

static void nine_classes_cost_the_next_power_of_two(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, false, false);
    assert_int_equal(stats_of(f.pool).class_count, MASU_BUCKET_CLASSES);
    for (size_t bytes = 1; bytes <= MOST; bytes++) {
        void *ptr;
        size_t cost = cost_of(f.pool, bytes, &ptr);
        assert_int_equal(cost, power_of_two_at_least(bytes));
        assert_true(bytes <= 32 || 2 * (cost - bytes) < cost);
        assert_int_equal((uintptr_t)ptr % cost, 0);
        assert_int_equal(masu_bucket_free(f.pool, ptr, bytes), MASU_OK);
    }
    close_pool(&f);
}

static void fine_classes_waste_under_a_fifth(void **state) {
    (void)state;
    fixture f;
    open_pool(&f, true, false);
    assert_int_equal(stats_of(f.pool).class_count, MASU_BUCKET_FINE_CLASSES);
    size_t costs = 0, last = 0;
    for (size_t bytes = 1; bytes <= MOST; bytes++) {
        void *ptr;
        size_t cost = cost_of(f.pool, bytes, &ptr), waste = cost - bytes;
        assert_true(cost >= bytes && cost >= last && cost % 64 == 0);
        assert_true(bytes <= 256 ? waste < 64 : 5 * waste < cost);
        if (bytes <= 64)
            assert_int_equal(waste, 64 - bytes); /* scalars: 60 of 64 for four bytes */
        size_t alignment = cost & (~cost + 1);
        assert_true(alignment >= 64 && 7 * alignment >= cost);
        assert_int_equal((uintptr_t)ptr % alignment, 0);
        memset(ptr, 0x5a, bytes);
        assert_int_equal(masu_bucket_free(f.pool, ptr, bytes), MASU_OK);
        costs += cost != last;
        last = cost;
    }
    assert_int_equal(costs, MASU_BUCKET_FINE_CLASSES);
    assert_int_equal(last, MOST);
    close_pool(&f);
}

/* An alignment that the class has is served from it, a stricter one bypasses; both come back. */
static void fine_classes_keep_every_alignment(void **state) {
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        fixture f;
        open_pool(&f, true, checked);
        for (size_t alignment = 1; alignment <= 32768; alignment *= 2)
            for (size_t bytes = 1; bytes <= MOST; bytes += 61) {
                void *ptr, *beside;
                uint64_t before = stats_of(f.pool).bypasses;
                assert_int_equal(masu_bucket_alloc(f.pool, bytes, alignment, &ptr), MASU_OK);
                bool bypass = stats_of(f.pool).bypasses > before;
                size_t cost = cost_of(f.pool, bytes, &beside);
                assert_int_equal(bypass, alignment > (cost & (~cost + 1)));
                assert_int_equal((uintptr_t)ptr % alignment, 0);
                assert_int_equal(masu_bucket_free(f.pool, ptr, bytes), MASU_OK);
                assert_int_equal(masu_bucket_free(f.pool, beside, bytes), MASU_OK);
            }
        close_pool(&f);
    }
}

static void each_class_counts_for_itself(void **state) {
    (void)state;
    for (int fine = 0; fine < 2; fine++) {
        fixture f;
        open_pool(&f, fine, false);
        masu_bucket_stats s = stats_of(f.pool);
        static void *ptr[MASU_BUCKET_FINE_CLASSES][8];
        for (size_t c = 0; c < s.class_count; c++)
            for (size_t i = 0; i <= c % 8; i++)
                assert_int_equal(masu_bucket_alloc(f.pool, s.classes[c].block_bytes - i, 0, &ptr[c][i]), MASU_OK);
        for (size_t c = 0; c < s.class_count; c++)
            for (size_t i = 0; i < c % 8; i++)
                assert_int_equal(masu_bucket_free(f.pool, ptr[c][i], s.classes[c].block_bytes - i), MASU_OK);
        s = stats_of(f.pool);
        for (size_t c = 0; c < s.class_count; c++) {
            assert_int_equal(s.classes[c].allocations, 1 + c % 8);
            assert_int_equal(s.classes[c].frees, c % 8);
            assert_int_equal(s.classes[c].live_blocks, 1);
            assert_int_equal(s.classes[c].peak_live_blocks, 1 + c % 8);
            assert_true(c == 0 || s.classes[c].block_bytes > s.classes[c - 1].block_bytes);
        }
        masu_bucket_reset_peaks(f.pool);
        masu_bucket_stats after = stats_of(f.pool);
        assert_int_equal(after.allocations, s.allocations); /* the peaks alone */
        assert_int_equal(after.peak_live_bytes, after.live_bytes);
        assert_int_equal(after.peak_cached_bytes, after.cached_bytes);
        for (size_t c = 0; c < s.class_count; c++) {
            assert_int_equal(after.classes[c].peak_live_blocks, 1);
            assert_int_equal(masu_bucket_free(f.pool, ptr[c][c % 8], s.classes[c].block_bytes - c % 8), MASU_OK);
        }
        close_pool(&f);
    }
}

/* Same requests, same life: less memory. */
static void fine_classes_reduce_what_is_spent(void **state) {
    (void)state;
    uint64_t spent[2];
    for (int fine = 0; fine < 2; fine++) {
        static void *ptr[4000];
        static size_t sizes[4000];
        fixture f;
        masu__rng rng;
        masu__rng_seed(&rng, 3);
        open_pool(&f, fine, false);
        for (int i = 0; i < 4000; i++) {
            sizes[i] = 1 + masu__rng_below(&rng, MOST);
            assert_int_equal(masu_bucket_alloc(f.pool, sizes[i], 0, &ptr[i]), MASU_OK);
        }
        spent[fine] = stats_of(f.pool).live_block_bytes;
        for (int i = 0; i < 4000; i++)
            assert_int_equal(masu_bucket_free(f.pool, ptr[i], sizes[i]), MASU_OK);
        close_pool(&f);
    }
    assert_true(spent[1] * 10 < spent[0] * 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nine_classes_cost_the_next_power_of_two), cmocka_unit_test(fine_classes_waste_under_a_fifth),
        cmocka_unit_test(fine_classes_keep_every_alignment),       cmocka_unit_test(each_class_counts_for_itself),
        cmocka_unit_test(fine_classes_reduce_what_is_spent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
