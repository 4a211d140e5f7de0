/* What is off by default in the best-fit pool: steps of sizes, whole device blocks, idle ones. */
#include "unit/allocators/bestfit_fixture.h"

#include <masu/check.h>

typedef struct options {
    size_t size_steps, whole_above, whole_slack;
    uint64_t idle;
} options;

static masu_bestfit *pool_with(masu_device *device, const options *o, masu_trace *trace) {
    masu_bestfit_config config = small_pool(device);
    config.size_steps = o->size_steps;
    config.whole_above_bytes = o->whole_above;
    config.whole_slack_bytes = o->whole_slack;
    config.idle_allocations = o->idle;
    config.trace = trace;
    config.initial_bytes = 0;
    masu_bestfit *pool;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    return pool;
}

static masu_device *null_device(void) {
    masu_device *device;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    return device;
}

static void end(masu_bestfit *pool, masu_device *device) {
    assert_true(masu_bestfit_valid(pool));
    masu_bestfit_stats stats = stats_of(pool);
    assert_int_equal(masu_bestfit_destroy(pool), stats.live_blocks ? MASU_ERR_LEAK : MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void steps_bound_the_waste(void **state) {
    (void)state;
    for (size_t steps = 1; steps <= 256; steps *= 4) {
        masu_device *device = null_device();
        masu_bestfit *pool = pool_with(device, &(options){.size_steps = steps}, NULL);
        for (size_t bytes = 1; bytes < 3 * MIB; bytes += bytes / 50 + 1) {
            void *ptr = take(pool, bytes);
            size_t spent = bytes + stats_of(pool).slack_bytes;
            size_t step = masu__max(((size_t)1 << masu__log2_floor(bytes)) / steps, MASU__GRAIN);
            /* the step, and what is too small to remain behind it */
            assert_true(spent - bytes < step + MASU_BESTFIT_MIN_REMAINDER_BYTES);
            assert_true(bytes < 64 * 256 || (spent - bytes) * steps < bytes + 256 * steps);
            give(pool, ptr);
        }
        end(pool, device);
    }
}

static void near_sizes_share_blocks(void **state) {
    (void)state;
    masu_device *device = null_device();
    masu_bestfit *pool = pool_with(device, &(options){.size_steps = 4}, NULL);
    void *below = take(pool, 100000), *ptr = take(pool, 270000), *above = take(pool, 100000);
    give(pool, ptr);
    void *other = take(pool, 320000); /* both of 262144 and one step of 65536 */
    assert_ptr_equal(other, ptr);
    assert_int_equal(masu_bestfit_free_sized(pool, other, 270000), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_bestfit_free_sized(pool, other, 320000), MASU_OK);
    give(pool, below);
    give(pool, above);
    end(pool, device);
}

static void a_step_is_never_below_the_grain(void **state) {
    (void)state;
    masu_device *device = null_device();
    masu_bestfit *pool = pool_with(device, &(options){.size_steps = 256}, NULL);
    void *ptr = take(pool, 1030); /* a step would be 4 bytes */
    assert_int_equal(stats_of(pool).slack_bytes, 1088 - 1030);
    give(pool, ptr);
    end(pool, device);
}

static void large_blocks_stay_whole(void **state) {
    (void)state;
    masu_device *device = null_device();
    masu_bestfit *pool = pool_with(device, &(options){.whole_above = MIB / 2, .whole_slack = MIB / 4}, NULL);
    void *large = take(pool, 3 * MIB);
    assert_int_equal(stats_of(pool).reserved_bytes, 3 * MIB); /* not twice as much */
    give(pool, large);
    assert_int_equal(masu_bestfit_free(pool, large), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(stats_of(pool).largest_free_bytes, 3 * MIB);
    void *small = take(pool, 1000); /* not out of the large one */
    assert_int_equal(stats_of(pool).device_blocks, 2);
    void *smaller = take(pool, 2 * MIB); /* a third of it would lie unused */
    assert_int_equal(stats_of(pool).device_blocks, 3);
    void *close = take(pool, 3 * MIB - MIB / 4);
    assert_ptr_equal(close, large);
    assert_int_equal(stats_of(pool).device_blocks, 3);
    assert_true(stats_of(pool).slack_bytes >= MIB / 4);
    give(pool, small);
    give(pool, smaller);
    give(pool, close);
    assert_true(masu_bestfit_valid(pool));
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
    assert_int_equal(stats_of(pool).reserved_bytes, 0);
    end(pool, device);
}

/* Whether a request of that size takes the idle block of 3 MiB. */
static bool takes_whole(size_t slack, size_t bytes) {
    masu_device *device = null_device();
    masu_bestfit *pool = pool_with(device, &(options){.whole_above = MIB / 2, .whole_slack = slack}, NULL);
    give(pool, take(pool, 3 * MIB));
    give(pool, take(pool, bytes));
    bool taken = stats_of(pool).device_blocks == 1;
    end(pool, device);
    return taken;
}

static void a_whole_is_taken_up_to_its_slack(void **state) {
    (void)state;
    masu_device *device = null_device();
    size_t granule = device->info.granularity_bytes;
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    assert_true(takes_whole(MIB / 4, 3 * MIB - MIB / 4));
    assert_false(takes_whole(MIB / 4, 3 * MIB - MIB / 4 - MASU__GRAIN));
    assert_true(takes_whole(0, 3 * MIB - granule + MASU__GRAIN)); /* the device gives no less */
    assert_false(takes_whole(0, 3 * MIB - granule));
    assert_false(takes_whole(MIB, 3 * MIB + MASU__GRAIN));
}

/* The null device hands out rising addresses. */
static void the_closest_whole_is_taken(void **state) {
    (void)state;
    masu_device *device = null_device();
    masu_bestfit *pool = pool_with(device, &(options){.whole_above = MIB / 2, .whole_slack = 8 * MIB}, NULL);
    void *large = take(pool, 4 * MIB), *low = take(pool, 3 * MIB), *high = take(pool, 3 * MIB);
    assert_true(low < high);
    give(pool, high);
    give(pool, low);
    give(pool, large);
    assert_ptr_equal(take(pool, 2 * MIB), low);
    assert_ptr_equal(take(pool, 2 * MIB), high);
    assert_ptr_equal(take(pool, 2 * MIB), large);
    end(pool, device);
}

static void alignment_of_the_device_needs_no_piece(void **state) {
    (void)state;
    masu_device *device = null_device();
    masu_bestfit *pool = pool_with(device, &(options){.whole_above = MIB / 2}, NULL);
    size_t alignment = device->info.alignment_bytes;
    void *ptr, *beyond;
    assert_int_equal(masu_bestfit_alloc(pool, 3 * MIB, alignment, 0, &ptr), MASU_OK);
    assert_int_equal(stats_of(pool).reserved_bytes, 3 * MIB);
    assert_int_equal(masu_bestfit_alloc(pool, 3 * MIB, 2 * alignment, 0, &beyond), MASU_OK);
    assert_int_equal((uintptr_t)beyond % (2 * alignment), 0);
    assert_true(stats_of(pool).reserved_bytes > 6 * MIB);
    give(pool, ptr);
    give(pool, beyond);
    end(pool, device);
    device = null_device();
    pool = pool_with(device, &(options){.whole_above = MIB / 2}, NULL);
    assert_int_equal(masu_bestfit_alloc(pool, 3 * MIB, alignment, 0, &ptr), MASU_OK);
    give(pool, ptr);
    give(pool, take(pool, MIB / 4)); /* not a piece of the idle one */
    assert_true(stats_of(pool).reserved_bytes > 3 * MIB);
    end(pool, device);
}

/* Under a limit there may be no room for a block of its own, but a piece of another one. */
static void a_piece_serves_when_no_whole_can_be_had(void **state) {
    (void)state;
    masu_device *device = null_device();
    masu_bestfit_config config = small_pool(device);
    config.whole_above_bytes = MIB / 8;
    config.limit_bytes = MIB;
    masu_bestfit *pool;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    void *small = take(pool, 100);
    void *large = take(pool, MIB / 2);
    assert_int_equal(stats_of(pool).device_blocks, 1);
    void *none;
    assert_int_equal(masu_bestfit_alloc(pool, MIB, 0, 0, &none), MASU_ERR_LIMIT_REACHED);
    give(pool, small);
    give(pool, large);
    end(pool, device);
}

static void reset_keeps_wholes_whole(void **state) {
    (void)state;
    masu_device *device = null_device();
    masu_bestfit *pool = pool_with(device, &(options){.whole_above = MIB / 2}, NULL);
    take(pool, MIB);
    take(pool, 100);
    masu_bestfit_reset(pool);
    assert_true(masu_bestfit_valid(pool));
    take(pool, MIB);
    take(pool, MIB / 2); /* just not above: a piece */
    assert_int_equal(stats_of(pool).device_blocks, 2);
    end(pool, device);
}

static void idle_blocks_go_before_the_pool_grows(void **state) {
    (void)state;
    masu_device *device = null_device();
    masu_bestfit *pool = pool_with(device, &(options){.idle = 100}, NULL);
    void *once = take(pool, 5 * MIB);
    give(pool, once);
    void *kept = take(pool, 100);
    assert_int_equal(stats_of(pool).device_blocks, 1); /* the same ten MiB */
    for (int i = 0; i < 99; i++)
        give(pool, take(pool, 200));
    assert_int_equal(stats_of(pool).device_blocks, 1);
    give(pool, kept);
    void *more = take(pool, 11 * MIB); /* free for no time yet */
    assert_int_equal(stats_of(pool).device_blocks, 2);
    for (int i = 0; i < 100; i++)
        give(pool, take(pool, 12 * MIB)); /* out of the new one, of 22 MiB */
    assert_int_equal(stats_of(pool).device_blocks, 3);
    void *last = take(pool, 100 * MIB);
    assert_int_equal(stats_of(pool).device_blocks, 3); /* one went, one came */
    give(pool, more);
    give(pool, last);
    end(pool, device);
}

/* How many device blocks there are when the pool grows so many allocations after one became free. */
static size_t blocks_after_growth(masu_pool_policy policy, int allocations) {
    masu_device *device = null_device();
    masu_bestfit_config config = small_pool(device);
    config.idle_allocations = 3;
    config.policy = policy;
    masu_bestfit *pool;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    take(pool, 100); /* the first device block is never free */
    give(pool, take(pool, 50 * MIB));
    for (int i = 0; i < allocations; i++)
        take(pool, 100);
    take(pool, 300 * MIB);
    size_t blocks = stats_of(pool).device_blocks;
    end(pool, device);
    return blocks;
}

static void idle_is_counted_in_allocations(void **state) {
    (void)state;
    assert_int_equal(blocks_after_growth(MASU_POOL_REUSE, 2), 3);
    assert_int_equal(blocks_after_growth(MASU_POOL_REUSE, 3), 2);
    assert_int_equal(blocks_after_growth(MASU_POOL_PERSISTENT, 3), 3);
}

/* A free block that is too small stands in the way of one that fits. */
static void under_a_limit_free_device_blocks_make_room(void **state) {
    (void)state;
    masu_device *device = null_device();
    masu_bestfit_config config = small_pool(device);
    config.limit_bytes = 4 * MIB;
    masu_bestfit *pool;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    void *ptr = take(pool, 4 * MIB);
    assert_int_equal(stats_of(pool).device_blocks, 1);
    give(pool, ptr);
    end(pool, device);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    masu_device *device = null_device();
    static const size_t steps[] = {3, 6, 512, SIZE_MAX};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        masu_bestfit_config config = small_pool(device);
        config.size_steps = steps[i];
        masu_bestfit *pool = (masu_bestfit *)&config;
        assert_int_equal(masu_bestfit_create(&config, &pool), MASU_ERR_INVALID_ARGUMENT);
        assert_null(pool);
    }
    masu_bestfit *pool = pool_with(device, &(options){.size_steps = 1, .whole_above = 1, .whole_slack = SIZE_MAX},
                                   NULL);
    for (size_t k = 0; k < 4096; k++) {
        void *ptr;
        assert_int_not_equal(masu_bestfit_alloc(pool, SIZE_MAX - k, 0, 0, &ptr), MASU_OK);
        assert_null(ptr);
    }
    end(pool, device);
}

/* Everything at once, at random, under the eyes of the judge. */
static void random_calls_with(const options *o, uint64_t seed) {
    enum { LIVE = 60, STEPS = 6000 };
    masu_device *device = null_device();
    masu_check *check;
    masu_trace *trace;
    assert_int_equal(masu_check_create(&check), MASU_OK);
    masu_trace_config config = {.sink = masu_check_sink, .sink_context = check, .start_on = true};
    assert_int_equal(masu_trace_create(&config, &trace), MASU_OK);
    masu_bestfit *pool = pool_with(device, o, trace);
    void *live[LIVE] = {NULL};
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    for (int step = 0; step < STEPS; step++) {
        size_t k = masu__rng_below(&rng, LIVE);
        size_t bytes = (size_t)1 << masu__rng_below(&rng, 23);
        size_t alignment = (size_t)1 << masu__rng_below(&rng, 14);
        if (live[k])
            give(pool, live[k]);
        assert_int_equal(masu_bestfit_alloc(pool, bytes + masu__rng_below(&rng, bytes), alignment, 0, &live[k]),
                         MASU_OK);
        assert_int_equal((uintptr_t)live[k] % alignment, 0);
        if (masu__rng_below(&rng, 200) == 0)
            assert_int_equal(masu_bestfit_trim(pool, 4 * MIB), MASU_OK);
        if (step % 100 == 0)
            assert_true(masu_bestfit_valid(pool));
    }
    masu_bestfit_stats s = stats_of(pool);
    masu_check_totals claimed = {s.allocations, s.frees,           s.live_blocks,
                                 s.used_bytes,  s.peak_used_bytes, s.reserved_bytes};
    assert_int_equal(masu_check_verdict(check), MASU_VERDICT_FINE);
    assert_int_equal(masu_check_claim(check, masu_bestfit_number(pool), &claimed), MASU_VERDICT_FINE);
    end(pool, device);
    masu_trace_destroy(trace);
    masu_check_destroy(check);
}

static void random_calls_under_the_judge(void **state) {
    (void)state;
    static const options all[] = {
        {.size_steps = 8},
        {.whole_above = 256 << 10, .whole_slack = 64 << 10},
        {.idle = 50},
        {.size_steps = 2, .whole_above = 100000, .whole_slack = MIB, .idle = 20},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            random_calls_with(&all[i], seed);
}

/* What is held beyond a new limit stays and serves; the pool grows again once it is below; 0 lifts the limit. */
static void a_limit_may_change(void **state) {
    (void)state;
    masu_device *device;
    masu_bestfit *pool;
    masu_bestfit_stats stats;
    void *a, *b, *c;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_bestfit_config config = small_pool(device);
    config.initial_bytes = 0;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    assert_int_equal(masu_bestfit_alloc(pool, 3 * MIB, 0, 0, &a), MASU_OK);
    masu_bestfit_set_limit(pool, MIB);
    assert_int_equal(masu_bestfit_alloc(pool, 4096, 0, 0, &b), MASU_ERR_LIMIT_REACHED);
    assert_int_equal(masu_bestfit_free(pool, a), MASU_OK);
    assert_int_equal(masu_bestfit_alloc(pool, 2 * MIB, 0, 0, &a), MASU_OK); /* out of what is held */
    assert_int_equal(masu_bestfit_free(pool, a), MASU_OK);
    assert_int_equal(masu_bestfit_trim(pool, 0), MASU_OK);
    assert_int_equal(masu_bestfit_alloc(pool, 2 * MIB, 0, 0, &a), MASU_ERR_LIMIT_REACHED);
    assert_int_equal(masu_bestfit_alloc(pool, 4096, 0, 0, &b), MASU_OK);
    masu_bestfit_get_stats(pool, &stats);
    assert_int_equal(stats.reserved_bytes, MIB);
    masu_bestfit_set_limit(pool, 0);
    assert_int_equal(masu_bestfit_alloc(pool, 5 * MIB, 0, 0, &c), MASU_OK);
    assert_true(masu_bestfit_valid(pool));
    assert_int_equal(masu_bestfit_free(pool, b), MASU_OK);
    assert_int_equal(masu_bestfit_free(pool, c), MASU_OK);
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    masu_bestfit_set_limit(NULL, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_bound_the_waste),
        cmocka_unit_test(near_sizes_share_blocks),
        cmocka_unit_test(a_step_is_never_below_the_grain),
        cmocka_unit_test(large_blocks_stay_whole),
        cmocka_unit_test(a_whole_is_taken_up_to_its_slack),
        cmocka_unit_test(the_closest_whole_is_taken),
        cmocka_unit_test(alignment_of_the_device_needs_no_piece),
        cmocka_unit_test(a_piece_serves_when_no_whole_can_be_had),
        cmocka_unit_test(reset_keeps_wholes_whole),
        cmocka_unit_test(idle_blocks_go_before_the_pool_grows),
        cmocka_unit_test(idle_is_counted_in_allocations),
        cmocka_unit_test(under_a_limit_free_device_blocks_make_room),
        cmocka_unit_test(a_limit_may_change),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(random_calls_under_the_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
