/* The heap: routing, equations, memory given back, threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <masu/heap.h>

#include "base/meta.h"
#include "base/rng.h"

enum { MIB = 1 << 20 };

static masu_heap_stats stats_of(const masu_heap *heap) {
    masu_heap_stats s;
    masu_heap_get_stats(heap, &s);
    assert_int_equal(s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes, s.reserved_bytes);
    assert_int_equal(s.hits + s.misses, s.allocations);
    assert_int_equal(s.allocations - s.frees, s.live_blocks);
    return s;
}

static masu_heap *open_heap(bool checked, bool thread_safe) {
    masu_heap *heap;
    masu_heap_config config = masu_heap_config_default();
    config.checked = checked;
    config.thread_safe = thread_safe;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    return heap;
}

static void defaults_serve(void **state) {
    (void)state;
    masu_heap *heap;
    void *ptr = &heap;
    assert_int_equal(masu_heap_create(NULL, &heap), MASU_OK);
    assert_int_equal(masu_heap_alloc(heap, 0, 0, &ptr), MASU_OK);
    assert_null(ptr);
    assert_int_equal(masu_heap_alloc(heap, 12, 0, &ptr), MASU_OK);
    assert_int_equal(masu_heap_free(heap, ptr, 12), MASU_OK);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void sizes_find_their_pool(void **state) {
    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        masu_heap *heap = open_heap(mode & 1, mode & 2);
        static const size_t sizes[] = {1, 64, 65, 16384, 16385, 3 * MIB, 100 * MIB};
        void *ptr[7];
        for (int i = 0; i < 7; i++) {
            assert_int_equal(masu_heap_alloc(heap, sizes[i], 0, &ptr[i]), MASU_OK);
            memset(ptr[i], 1, sizes[i] < MIB ? sizes[i] : 1);
        }
        masu_heap_stats s = stats_of(heap);
        assert_int_equal(s.allocations, 7);
        assert_int_equal(s.bypasses, 3);
        assert_int_equal(s.misses, 4); /* three slabs; 100 MiB did not fit into the first device block */
        assert_int_equal(s.device_allocations, 2);
        assert_int_equal(s.live_blocks, 7);
        size_t sum = 0;
        for (int i = 0; i < 7; i++)
            sum += sizes[i];
        assert_int_equal(s.live_bytes, sum);
        assert_true(masu_heap_valid(heap));
        for (int i = 0; i < 7; i++)
            assert_int_equal(masu_heap_free(heap, ptr[i], sizes[i]), MASU_OK);
        s = stats_of(heap);
        assert_int_equal(s.live_bytes, 0);
        assert_int_equal(s.peak_bytes, sum);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    masu_heap *heap = open_heap(true, false);
    void *ptr = &heap, *big;
    assert_int_equal(masu_heap_alloc(heap, 10, 0, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_heap_alloc(NULL, 10, 0, &ptr), MASU_ERR_INVALID_ARGUMENT);
    assert_null(ptr);
    assert_int_equal(masu_heap_alloc(heap, 10, 5, &ptr), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_heap_alloc(heap, SIZE_MAX, 0, &ptr), MASU_ERR_OVERFLOW);
    assert_int_equal(masu_heap_alloc(heap, SIZE_MAX / 2, 0, &ptr), MASU_ERR_OUT_OF_MEMORY);
    assert_null(ptr);
    assert_int_equal(masu_heap_alloc(heap, 10, 0, &ptr), MASU_OK);
    assert_int_equal(masu_heap_alloc(heap, MIB, 0, &big), MASU_OK);
    assert_int_equal(masu_heap_free(heap, ptr, 11), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_heap_free(heap, big, MIB - 1), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_heap_free(heap, (char *)big + 64, MIB), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_heap_free(heap, &heap, 10), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_heap_free(NULL, ptr, 10), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_heap_free(heap, NULL, 10), MASU_OK);
    assert_int_equal(stats_of(heap).live_blocks, 2);
    assert_int_equal(masu_heap_free(heap, big, MIB), MASU_OK);
    assert_int_equal(masu_heap_free(heap, big, MIB), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_heap_destroy(heap), MASU_ERR_LEAK);
    assert_int_equal(masu_heap_destroy(NULL), MASU_OK);
    masu_heap_reset_stats(NULL);
    masu_heap_reset_peaks(NULL);
    assert_int_equal(masu_heap_trim(NULL, 0), MASU_ERR_INVALID_ARGUMENT);
    assert_false(masu_heap_valid(NULL));
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void trim_gives_everything_back(void **state) {
    (void)state;
    masu_heap *heap = open_heap(false, false);
    static void *ptr[2000];
    for (int i = 0; i < 2000; i++)
        assert_int_equal(masu_heap_alloc(heap, (size_t)i * 97 + 1, 0, &ptr[i]), MASU_OK);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(masu_heap_free(heap, ptr[i], (size_t)i * 97 + 1), MASU_OK);
    assert_true(stats_of(heap).reserved_bytes > 64 * MIB);
    assert_int_equal(masu_heap_trim(heap, 0), MASU_OK);
    masu_heap_stats s = stats_of(heap);
    assert_int_equal(s.reserved_bytes, 0);
    assert_int_equal(s.cached_bytes, 0);
    assert_int_equal(s.device_frees, s.device_allocations);
    assert_int_equal(masu_heap_alloc(heap, 100, 0, &ptr[0]), MASU_OK);
    assert_int_equal(masu_heap_free(heap, ptr[0], 100), MASU_OK);
    masu_heap_reset_stats(heap);
    assert_int_equal(stats_of(heap).allocations, 0);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

/* What the buckets keep counts: a target is one for the heap, not one for each level. */
static void a_target_holds_for_both_levels_together(void **state) {
    (void)state;
    masu_heap_config config = masu_heap_config_default();
    config.pool_bytes = MIB;
    config.initial_bytes = 0;
    masu_heap *heap;
    static void *small[4096], *large[16];
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    for (int i = 0; i < 4096; i++)
        assert_int_equal(masu_heap_alloc(heap, 1024, 0, &small[i]), MASU_OK);
    for (int i = 0; i < 16; i++)
        assert_int_equal(masu_heap_alloc(heap, MIB, 0, &large[i]), MASU_OK);
    for (int i = 0; i < 4096; i++)
        assert_int_equal(masu_heap_free(heap, small[i], 1024), MASU_OK);
    for (int i = 0; i < 16; i++)
        assert_int_equal(masu_heap_free(heap, large[i], MIB), MASU_OK);
    for (size_t target = 12; target-- > 0;) {
        assert_int_equal(masu_heap_trim(heap, target * MIB), MASU_OK);
        assert_true(stats_of(heap).reserved_bytes >= target * MIB);
        assert_true(stats_of(heap).reserved_bytes <= target * MIB + 3 * MIB);
    }
    assert_int_equal(masu_heap_trim(heap, 0), MASU_OK);
    assert_int_equal(stats_of(heap).reserved_bytes, 0);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

/* The options of the best-fit pool reach it, and small blocks do not notice. */
static void options_of_the_level_below_are_passed_on(void **state) {
    (void)state;
    masu_heap_config config = masu_heap_config_default();
    config.pool_bytes = MIB;
    config.initial_bytes = 0;
    config.size_steps = 8;
    config.whole_above_bytes = 4 * MIB;
    config.idle_allocations = 500;
    masu_heap *heap;
    void *a, *b;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    assert_int_equal(masu_heap_alloc(heap, 6 * MIB, 0, &a), MASU_OK);
    assert_int_equal(masu_heap_free(heap, a, 6 * MIB), MASU_OK);
    assert_int_equal(masu_heap_alloc(heap, 2 * MIB, 0, &b), MASU_OK); /* not a piece of that */
    assert_true((uintptr_t)b - (uintptr_t)a >= 6 * MIB);
    for (int i = 0; i < 1000; i++) { /* a while later it has gone back */
        assert_int_equal(masu_heap_alloc(heap, MIB / 4, 0, &a), MASU_OK);
        assert_int_equal(masu_heap_free(heap, a, MIB / 4), MASU_OK);
    }
    assert_int_equal(stats_of(heap).device_frees, 1);
    assert_int_equal(masu_heap_free(heap, b, 2 * MIB), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static size_t resident_bytes(void) {
    unsigned long total, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &total, &resident), 2);
    fclose(file);
    return resident * 4096;
}

static void a_fresh_heap_touches_next_to_nothing(void **state) {
    (void)state;
    enum { MANY = 1000 };
    static masu_heap *heaps[MANY];
#ifdef __SANITIZE_THREAD__
    skip(); /* what ThreadSanitizer notes of each access is resident too */
#endif
    size_t before = resident_bytes();
    for (int i = 0; i < MANY; i++) {
        heaps[i] = open_heap(false, false);
        assert_int_equal(stats_of(heaps[i]).reserved_bytes, 0);
    }
    assert_true(resident_bytes() - before < MANY * (size_t)8192);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(masu_heap_destroy(heaps[i]), MASU_OK);
}

static void steady_state_asks_nobody(void **state) {
    (void)state;
    masu_heap *heap = open_heap(false, false);
    masu_heap_stats warm = {0};
    for (int epoch = 0; epoch < 200; epoch++) {
        void *ptr[40];
        for (size_t i = 0; i < 40; i++)
            assert_int_equal(masu_heap_alloc(heap, (i + 1) * 1000, 0, &ptr[i]), MASU_OK);
        for (size_t i = 0; i < 40; i++)
            assert_int_equal(masu_heap_free(heap, ptr[i], (i + 1) * 1000), MASU_OK);
        if (epoch == 0)
            warm = stats_of(heap);
    }
    masu_heap_stats s = stats_of(heap);
    assert_int_equal(s.misses, warm.misses);
    assert_int_equal(s.device_allocations, warm.device_allocations);
    assert_int_equal(s.reserved_bytes, warm.reserved_bytes);
    assert_int_equal(s.metadata_bytes, warm.metadata_bytes);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void without_host_access_all_goes_to_best_fit(void **state) {
    (void)state;
    masu_device *device;
    masu_heap *heap;
    void *a, *b;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_heap_config config = masu_heap_config_default();
    config.device = device;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    assert_int_equal(masu_heap_alloc(heap, 10, 0, &a), MASU_OK);
    assert_int_equal(masu_heap_alloc(heap, (size_t)1 << 40, 0, &b), MASU_OK);
    masu_heap_stats s = stats_of(heap);
    assert_int_equal(s.bypasses, 2);
    assert_int_equal(s.cached_bytes, 0);
    assert_int_equal(masu_heap_free(heap, a, 11), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_heap_free(heap, a, 10), MASU_OK);
    assert_int_equal(masu_heap_free(heap, b, (size_t)1 << 40), MASU_OK);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void a_persistent_heap_keeps_its_memory(void **state) {
    (void)state;
    masu_heap *heap;
    masu_heap_config config = masu_heap_config_default();
    config.policy = MASU_POOL_PERSISTENT;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    masu_heap_stats before = stats_of(heap);
    assert_int_equal(masu_heap_trim(heap, 0), MASU_OK);
    masu_heap_stats after = stats_of(heap);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void creation_fails_cleanly_at_every_step(void **state) {
    (void)state;
    for (uint64_t nth = 1; nth < 100; nth++) {
        masu_heap *heap;
        masu__fault_arm(nth);
        masu_status status = masu_heap_create(NULL, &heap);
        masu__fault_arm(0);
        if (status == MASU_OK) {
            assert_true(nth > 3);
            assert_int_equal(masu_heap_destroy(heap), MASU_OK);
            return;
        }
        assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
        assert_null(heap);
        assert_int_equal(masu__meta_live_bytes(), 0);
    }
    fail_msg("the sweep did not come to its end");
}

#ifdef MASU_HEAVY
static void a_destroyed_heap_answers(void **state) {
    (void)state;
    masu_heap *heap = open_heap(false, false);
    void *ptr;
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_heap_alloc(heap, 1, 0, &ptr), MASU_ERR_STALE_POOL);
    assert_int_equal(masu_heap_free(heap, &ptr, 1), MASU_ERR_STALE_POOL);
    assert_int_equal(masu_heap_destroy(heap), MASU_ERR_STALE_POOL);
    assert_false(masu_heap_valid(heap));
}
#endif

/* ---- threads: every block is written by its owner and read back before it goes --------------- */

enum { THREADS = 8, SLOTS = 64, STEPS = 4000 };

static void *hammer(void *context) {
    masu_heap *heap = context;
    unsigned char *ptr[SLOTS] = {0};
    size_t sizes[SLOTS] = {0};
    masu__rng rng;
    masu__rng_seed(&rng, (uintptr_t)&rng);
    for (int step = 0; step < STEPS; step++) {
        size_t k = masu__rng_below(&rng, SLOTS);
        if (ptr[k]) {
            unsigned char mark = (unsigned char)(k + 1);
            if (ptr[k][0] != mark || ptr[k][sizes[k] - 1] != mark || masu_heap_free(heap, ptr[k], sizes[k]) != MASU_OK)
                return heap;
            ptr[k] = NULL;
            continue;
        }
        void *out;
        sizes[k] = 1 + masu__rng_below(&rng, step % 4 ? 2000 : 200000);
        if (masu_heap_alloc(heap, sizes[k], 0, &out) != MASU_OK)
            return heap;
        ptr[k] = out;
        ptr[k][0] = ptr[k][sizes[k] - 1] = (unsigned char)(k + 1);
        if (step % 500 == 0 && masu_heap_trim(heap, MIB) != MASU_OK)
            return heap;
        masu_heap_stats s;
        masu_heap_get_stats(heap, &s);
        if (s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes != s.reserved_bytes)
            return heap;
    }
    for (size_t k = 0; k < SLOTS; k++)
        if (masu_heap_free(heap, ptr[k], sizes[k]) != MASU_OK)
            return heap;
    return NULL;
}

static void many_threads_one_heap(void **state) {
    (void)state;
    masu_heap *heap = open_heap(false, true);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, heap), 0);
    for (int i = 0; i < THREADS; i++) {
        void *complaint;
        assert_int_equal(pthread_join(threads[i], &complaint), 0);
        assert_null(complaint);
    }
    assert_true(masu_heap_valid(heap));
    assert_int_equal(stats_of(heap).live_blocks, 0);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_serve),
        cmocka_unit_test(sizes_find_their_pool),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(trim_gives_everything_back),
        cmocka_unit_test(a_target_holds_for_both_levels_together),
        cmocka_unit_test(options_of_the_level_below_are_passed_on),
        cmocka_unit_test(a_fresh_heap_touches_next_to_nothing),
        cmocka_unit_test(steady_state_asks_nobody),
        cmocka_unit_test(without_host_access_all_goes_to_best_fit),
        cmocka_unit_test(a_persistent_heap_keeps_its_memory),
        cmocka_unit_test(creation_fails_cleanly_at_every_step),
#ifdef MASU_HEAVY
        cmocka_unit_test(a_destroyed_heap_answers),
#endif
        cmocka_unit_test(many_threads_one_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
