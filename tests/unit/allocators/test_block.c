/* The table of records: growing and shrinking under live and free blocks, with and without memory
 * for it. */
#include "unit/allocators/bestfit_fixture.h"

enum { MANY = 5000, KEPT_EVERY = 50 };

static void *blocks[MANY];

static size_t bytes_of(size_t k) {
    return 64 + k * 37 % 4000;
}

static void fill(masu_bestfit *pool) {
    for (size_t k = 0; k < MANY; k++)
        assert_int_equal(masu_bestfit_alloc(pool, bytes_of(k), 0, k, &blocks[k]), MASU_OK);
}

/* In an order that leaves holes everywhere in the table. */
static void free_most(masu_bestfit *pool) {
    for (size_t i = 0; i < MANY; i++) {
        size_t k = i * 1237 % MANY;
        if (k % KEPT_EVERY != 0)
            assert_int_equal(masu_bestfit_free(pool, blocks[k]), MASU_OK);
    }
}

/* What is left is still known by address, with its size, and can go. */
static void free_rest(masu_bestfit *pool) {
    for (size_t k = 0; k < MANY; k += KEPT_EVERY) {
        size_t bytes = 0;
        assert_int_equal(masu_bestfit_size_of(pool, blocks[k], &bytes), MASU_OK);
        assert_int_equal(bytes, bytes_of(k));
        assert_int_equal(masu_bestfit_free(pool, blocks[k]), MASU_OK);
        assert_int_equal(masu_bestfit_free(pool, blocks[k]), MASU_ERR_DOUBLE_FREE);
    }
    assert_true(masu_bestfit_valid(pool));
    assert_int_equal(pool->index[MASU__GROUND_BLOCKS]->summary[0], 0);
}

static masu_bestfit *make_pool(masu_device *device) {
    masu_bestfit_config config = masu_bestfit_config_default(device);
    config.pool_bytes = 1 << 20;
    config.initial_bytes = 0;
    masu_bestfit *pool;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    return pool;
}

static void trim_shrinks_under_live_blocks(void **state) {
    (void)state;
    masu_device *device;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_bestfit *pool = make_pool(device);
    fill(pool);
    uint32_t full = pool->blocks.capacity;
    free_most(pool);
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
    assert_true(pool->blocks.capacity * 8 <= full);
    assert_int_equal(pool->blocks.spare, 0);
    assert_true(masu_bestfit_valid(pool));
    void *again;
    assert_int_equal(masu_bestfit_alloc(pool, 100, 0, 0, &again), MASU_OK);
    assert_int_equal(masu_bestfit_free(pool, again), MASU_OK);
    free_rest(pool);
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    masu_device_destroy(device);
}

static void trim_without_memory_keeps_the_table(void **state) {
    (void)state;
    masu_device *device;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    for (uint64_t nth = 1; nth <= 3; nth++) {
        masu_bestfit *pool = make_pool(device);
        fill(pool);
        free_most(pool);
        masu__fault_arm(nth);
        assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
        assert_int_equal(masu__fault_fired(), nth <= 2); /* homes, then records */
        masu__fault_arm(0);
        assert_true(masu_bestfit_valid(pool));
        free_rest(pool);
        assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    }
    masu_device_destroy(device);
}

static void growth_without_memory_changes_nothing(void **state) {
    (void)state;
    masu_device *device;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_bestfit *pool = make_pool(device);
    size_t refused = 0;
    for (size_t k = 0; k < MANY; k++) {
        masu_status status = MASU_ERR_OUT_OF_MEMORY;
        for (uint64_t nth = 1; status != MASU_OK; nth++) {
            masu__fault_arm(nth);
            status = masu_bestfit_alloc(pool, bytes_of(k), 0, 0, &blocks[k]);
            assert_true(status == MASU_OK || masu__fault_fired());
            masu__fault_arm(0);
            refused += status != MASU_OK;
            if (status != MASU_OK) {
                assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
                assert_true(masu_bestfit_valid(pool));
            }
        }
    }
    assert_true(refused > 10); /* every doubling of the table, and the regions */
    masu_bestfit_reset(pool);
    assert_true(masu_bestfit_valid(pool));
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    masu_device_destroy(device);
}

/* Records that were moved on purpose: each equation is looked at. */
static void the_check_sees_what_is_wrong(void **state) {
    (void)state;
    masu_device *device;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_bestfit *pool = make_pool(device);
    for (size_t k = 0; k < 10; k++)
        assert_int_equal(masu_bestfit_alloc(pool, 640, 0, 0, &blocks[k]), MASU_OK);
    assert_int_equal(masu_bestfit_free(pool, blocks[4]), MASU_OK);
    masu__block_table *table = &pool->blocks;
    masu__block_id id = masu__blocks_find(table, (uintptr_t)blocks[7]);
    assert_true(masu__blocks_valid(table) && masu_bestfit_valid(pool));
    table->room++;
    assert_false(masu__blocks_valid(table));
    table->room--;
    table->at[id].address += MASU__GRAIN; /* not found any more */
    assert_false(masu__blocks_valid(table));
    table->at[id].address -= MASU__GRAIN;
    table->at[id].after = 0; /* the chain ends too early */
    assert_false(masu_bestfit_valid(pool));
    table->at[id].after = masu__blocks_find(table, (uintptr_t)blocks[8]);
    assert_true(masu_bestfit_valid(pool));
    masu_bestfit_reset(pool);
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    masu_device_destroy(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trim_shrinks_under_live_blocks),
        cmocka_unit_test(trim_without_memory_keeps_the_table),
        cmocka_unit_test(growth_without_memory_changes_nothing),
        cmocka_unit_test(the_check_sees_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
