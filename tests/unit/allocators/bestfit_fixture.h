/* bestfit_fixture.h: a best-fit pool of 1 MiB blocks over the null device, and the calls that tests make most. */
#ifndef MASU_TESTS_BESTFIT_FIXTURE_H
#define MASU_TESTS_BESTFIT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <masu/bestfit.h>

#include "allocators/bestfit/bestfit_pool.h"
#include "base/meta.h"
#include "base/rng.h"

enum { MIB = 1 << 20 };

typedef struct fixture {
    masu_device *device;
    masu_bestfit *pool;
} fixture;

static inline masu_bestfit_config small_pool(masu_device *device) {
    masu_bestfit_config config = masu_bestfit_config_default(device);
    config.pool_bytes = MIB;
    config.initial_bytes = MIB;
    return config;
}

static inline int open_null(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_int_equal(masu_device_create_null(0, &f->device), MASU_OK);
    masu_bestfit_config config = small_pool(f->device);
    assert_int_equal(masu_bestfit_create(&config, &f->pool), MASU_OK);
    *state = f;
    return 0;
}

static inline int close_null(void **state) {
    fixture *f = *state;
    masu_bestfit_stats stats;
    masu_bestfit_get_stats(f->pool, &stats);
    assert_true(masu_bestfit_valid(f->pool));
    assert_int_equal(masu_bestfit_destroy(f->pool), stats.live_blocks ? MASU_ERR_LEAK : MASU_OK);
    assert_int_equal(masu_device_destroy(f->device), MASU_OK); /* whatever was live, the device has all back */
    free(f);
    assert_int_equal(masu__meta_live_bytes(), 0);
    return 0;
}

static inline unsigned char *take(masu_bestfit *pool, size_t bytes) {
    void *ptr;
    assert_int_equal(masu_bestfit_alloc(pool, bytes, 0, 0, &ptr), MASU_OK);
    assert_non_null(ptr);
    return ptr;
}

static inline void give(masu_bestfit *pool, void *ptr) {
    assert_int_equal(masu_bestfit_free(pool, ptr), MASU_OK);
}

static inline masu_bestfit_stats stats_of(masu_bestfit *pool) {
    masu_bestfit_stats stats;
    masu_bestfit_get_stats(pool, &stats);
    assert_int_equal(stats.used_bytes + stats.slack_bytes + stats.free_bytes, stats.reserved_bytes);
    assert_int_equal(stats.hits + stats.misses, stats.allocations);
    return stats;
}

#define ON_NULL(test) cmocka_unit_test_setup_teardown(test, open_null, close_null)

#endif
