/* Where each known shape of a fault is tested, and those of the calls that cross all pools: sizes
 * and alignments that nobody means, trims and statistics while others are inside.
 *
 * The table below is checked by the first test: every function it names stands in the file it
 * names. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <masu/masu.h>

#include "base/rng.h"

#include "hostile/source_text.h"

#define CALLS   "tests/hostile/pools/test_pool_calls.c"
#define REPORTS "tests/hostile/pools/test_pool_reports.c"
#define THREADS "tests/model/test_threads.c"
#define PROCESS "tests/model/test_process.c"
#define LIVES   "tests/model/test_short_lives.c"
#define FAULTS  "tests/model/test_faults.c"
#define BUCKET  "tests/unit/allocators/test_bucket.c"
#define GUARD   "tests/unit/allocators/test_guard.c"
#define CHECKED "tests/unit/allocators/test_checked.c"

static const struct row {
    const char *shape, *file, *function;
} rows[] = {
    {"B1 sizes 0, near the end, sums and products that wrap", CALLS, "b01_sizes_nobody_means"},
    {"B2 alignments 0, 3, 64, 4096, 2 MiB, above the granule", CALLS, "b02_every_alignment"},
    {"B3 wrong frees, each by its status, guarded", GUARD, "b03_b04_each_wrong_free_by_its_own_status"},
    {"B3 the same, checked", BUCKET, "checked_mode_tells_wrong_frees_apart"},
    {"B3 the same, process-wide", THREADS, "b03_b04_wrong_frees_that_cost_nothing_to_see"},
    {"B3 free after reset", REPORTS, "b13_reset_makes_every_device_block_whole"},
    {"B3 free after destroy (heavy builds)", BUCKET, "a_destroyed_pool_answers"},
    {"B4 wrong size, switched on at run time", CHECKED, "blocks_of_before_are_known_as_to_their_class"},
    {"B5 one to eight threads, all classes", THREADS, "b05_one_to_eight_threads"},
    {"B5 allocated here, freed there", THREADS, "b05_memory_freed_elsewhere_comes_home"},
    {"B5 threads that end with full caches", THREADS, "b05_c14_many_short_threads_leave_nothing"},
    {"B5 a hundred thousand threads", LIVES, "b05_a_hundred_thousand_threads"},
    {"B6 fork with live caches and held locks", THREADS, "b06_c11_c12_fork_with_live_caches_and_held_locks"},
    {"B7 a block larger than any hole", REPORTS, "b07_a_block_larger_than_any_hole"},
    {"B8 freed in random order, one block again", REPORTS, "b08_b09_all_free_is_one_block_for_each_device_block"},
    {"B9 device blocks that touch never merge", REPORTS, "b08_b09_all_free_is_one_block_for_each_device_block"},
    {"B10 the device fails at every call, heap", FAULTS, "every_call_of_the_device"},
    {"B10 metadata fails at every request", FAULTS, "every_request_for_memory"},
    {"B10 the device fails at every call, process-wide", PROCESS, "b10_every_call_of_the_device_fails_once"},
    {"B11 trim while others allocate, heap", CALLS, "b11_trims_to_a_target_while_others_allocate"},
    {"B11 the same, process-wide", THREADS, "b11_trims_and_checks_while_threads_run"},
    {"B11 a trim reaches every thread", PROCESS, "a_trim_reaches_a_thread_at_its_very_next_call"},
    {"B11 cap lowered below current use", CALLS, "b11_a_cap_below_current_use"},
    {"B12 statistics during heavy use", CALLS, "b12_statistics_during_heavy_use"},
    {"B12 peaks after reset", CHECKED, "both_levels_tell_their_statistics"},
    {"B13 reset with live pointers", REPORTS, "b13_reset_makes_every_device_block_whole"},
    {"C1 the limit can be reached", REPORTS, "c01_the_limit_can_be_reached_exactly"},
    {"C2 free memory and the limit", REPORTS, "c02_free_memory_does_not_count_against_the_limit"},
    {"C3 cycles under every option pair", REPORTS, "c03_cycles_do_not_make_the_pool_grow"},
    {"C4 what fits is served", REPORTS, "c04_what_fits_is_served"},
    {"C7 wrong frees never end the process", REPORTS, "c07_each_wrong_free_has_a_status"},
    {"C11 C12 children of busy parents", THREADS, "b06_c11_c12_fork_with_live_caches_and_held_locks"},
    {"C14 destructors of threads", THREADS, "c14_destructors_of_a_thread_may_allocate"},
    {"C14 the last round of destructors", THREADS, "c14_the_last_round_of_destructors_leaves_nothing_for_good"},
    {"C16 small alignments", REPORTS, "c16_small_alignments_do_not_wrap"},
    {"C18 the last sizes, best fit", REPORTS, "c18_sizes_near_the_end_are_refused"},
    {"C18 the last sizes, process-wide", THREADS, "c18_sizes_near_the_end"},
    {"C20 counters never below zero", REPORTS, "c20_counters_never_go_below_zero"},
    {"C20 C22 freed memory leaves the process", THREADS, "c20_c22_freed_memory_leaves_the_process"},
};

enum { KIB = 1 << 10, MIB = 1 << 20 };

static void every_row_has_its_test(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char head[128], listed[128];
        snprintf(head, sizeof head, "static void %s(void **state) {", rows[i].function);
        snprintf(listed, sizeof listed, "cmocka_unit_test(%s)", rows[i].function);
        const char *text = text_of(rows[i].file);
        if (!strstr(text, head) || !strstr(text, listed))
            fail_msg("%s: no test %s in %s", rows[i].shape, rows[i].function, rows[i].file);
    }
}

/* ---- all heaps there are ---------------------------------------------------------------------- */

typedef struct kind {
    bool fine, checked, guarded, host;
} kind;

enum { KINDS = 10 };
static const kind kinds[KINDS] = {
    {false, false, false, true}, {true, false, false, true}, {false, true, false, true},   {true, true, false, true},
    {false, false, true, true},  {true, false, true, true},  {false, false, false, false}, {false, true, false, false},
    {false, false, true, false}, {true, true, true, true},
};

typedef struct rig {
    masu_device *device;
    masu_heap *heap;
} rig;

static void rig_open(rig *r, const kind *k) {
    masu_heap_config config = masu_heap_config_default();
    assert_int_equal(k->host ? masu_device_create_host(&r->device)
                             : masu_device_create_null((uint64_t)1 << 32, &r->device),
                     MASU_OK);
    config.device = r->device;
    config.fine_classes = k->fine;
    config.checked = k->checked;
    config.guarded = k->guarded;
    config.limit_bytes = (size_t)1 << 32;
    config.quarantine_bytes = 1;
    assert_int_equal(masu_heap_create(&config, &r->heap), MASU_OK);
}

static void rig_close(rig *r) {
    assert_true(masu_heap_valid(r->heap));
    assert_int_equal(masu_heap_destroy(r->heap), MASU_OK);
    assert_int_equal(masu_device_destroy(r->device), MASU_OK);
}

static masu_heap_stats stats_of(const masu_heap *heap) {
    masu_heap_stats s;
    masu_heap_get_stats(heap, &s);
    return s;
}

static bool same_but_refusals(masu_heap_stats a, masu_heap_stats b) {
    /* A refusal gives back what was cached; of what callers have nothing moves. */
    return a.allocations == b.allocations && a.frees == b.frees && a.live_bytes == b.live_bytes &&
           a.live_blocks == b.live_blocks && a.peak_bytes == b.peak_bytes &&
           a.device_allocations == b.device_allocations;
}

static void b01_in_a_heap(masu_heap *heap) {
    static const size_t alignments[] = {0, 1, 64, 4096, (size_t)1 << 62, (size_t)1 << 63};
    void *ptr = heap, *live;
    assert_int_equal(masu_heap_alloc(heap, 100, 0, &live), MASU_OK);
    masu_heap_stats before = stats_of(heap);
    for (size_t a = 0; a < sizeof alignments / sizeof *alignments; a++) {
        assert_int_equal(masu_heap_alloc(heap, 0, alignments[a], &ptr), MASU_OK);
        assert_null(ptr);
        for (size_t k = 0; k <= 4200; k += k < 300 ? 1 : 61) {
            ptr = heap;
            masu_status status = masu_heap_alloc(heap, SIZE_MAX - k, alignments[a], &ptr);
            assert_true(status == MASU_ERR_OVERFLOW || status == MASU_ERR_OUT_OF_MEMORY ||
                        status == MASU_ERR_LIMIT_REACHED);
            assert_null(ptr);
            assert_int_not_equal(masu_heap_alloc(heap, SIZE_MAX / 2 - k, alignments[a], &ptr), MASU_OK);
            assert_null(ptr);
            assert_int_not_equal(masu_heap_free(heap, live, SIZE_MAX - k), MASU_OK);
        }
    }
    assert_int_equal(masu_heap_alloc(heap, 100, (size_t)1 << 63, &ptr) == MASU_OK, false);
    assert_true(same_but_refusals(before, stats_of(heap)));
    assert_int_equal(masu_heap_free(heap, live, 100), MASU_OK);
    assert_int_equal(masu_heap_trim(heap, SIZE_MAX), MASU_OK);
    assert_int_equal(masu_heap_trim(heap, SIZE_MAX - 1), MASU_OK);
}

static masu_heap_stats process_stats(void) {
    masu_heap_stats s;
    masu_get_stats(&s);
    return s;
}

static void b01_in_the_process(void) {
    void *ptr = NULL, *live = masu_alloc(100);
    volatile size_t end = SIZE_MAX; /* the compiler knows better than to let such a size through */
    masu_heap_stats before = process_stats();
    assert_null(masu_alloc(0));
    assert_int_equal(masu_alloc_aligned(0, 0, &ptr), MASU_OK);
    assert_null(ptr);
    assert_int_equal(masu_alloc_aligned(0, 3, &ptr), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_alloc_aligned(1, 0, NULL), MASU_ERR_INVALID_ARGUMENT);
    for (size_t k = 0; k <= 200; k++) {
        assert_null(masu_alloc(end - k));
        assert_null(masu_realloc(live, 100, end - k));
        assert_null(masu_alloc_zeroed(end - k, 2));
        assert_null(masu_alloc_zeroed(end / 2 + 1, 2 + k));
        assert_int_not_equal(masu_alloc_aligned(end - k, 4096, &ptr), MASU_OK);
        assert_int_not_equal(masu_alloc_aligned(100 + k, (size_t)1 << 63, &ptr), MASU_OK);
        assert_int_not_equal(masu_free(live, end - k), MASU_OK);
        assert_int_not_equal(masu_free_aligned(live, end - k, 4096), MASU_OK);
        assert_int_not_equal(masu_free_aligned(live, 100, (size_t)1 << 63), MASU_OK);
    }
    assert_int_not_equal(masu_free(live, 0), MASU_OK);
    assert_null(masu_alloc_zeroed(0, end));
    assert_null(masu_alloc_zeroed(end, 0));
    assert_null(masu_realloc(NULL, 0, 0));
    assert_null(masu_realloc(live, 0, 100));
    assert_null(masu_realloc(NULL, 100, 100));
    assert_int_equal(masu_usable_size(NULL), 0);
    assert_int_equal(masu_usable_size(&ptr), 0);
    assert_int_equal(masu_free_unsized(NULL), MASU_OK);
    assert_true(same_but_refusals(before, process_stats()));
    assert_int_equal(masu_free(live, 100), MASU_OK);
    assert_true(masu_valid());
}

static void b01_sizes_nobody_means(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        rig r;
        rig_open(&r, &kinds[k]);
        b01_in_a_heap(r.heap);
        rig_close(&r);
    }
    b01_in_the_process();
}

static const size_t aligned_sizes[] = {1, 63, 64, 65, 300, 4095, 4096, 16384, 16385, 70000};
enum { ALIGNED_SIZES = sizeof aligned_sizes / sizeof *aligned_sizes };

static void b02_every_alignment(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        rig r;
        rig_open(&r, &kinds[k]);
        for (size_t s = 0; s < ALIGNED_SIZES; s++)
            for (size_t alignment = 0; alignment <= 8 * MIB; alignment = alignment * 2 + !alignment) {
                void *ptr;
                size_t bytes = aligned_sizes[s];
                assert_int_equal(masu_heap_alloc(r.heap, bytes, alignment, &ptr), MASU_OK);
                assert_int_equal((uintptr_t)ptr % 64, 0);
                assert_int_equal(alignment ? (uintptr_t)ptr % alignment : 0, 0);
                assert_int_equal(masu_heap_free(r.heap, ptr, bytes), MASU_OK);
            }
        for (size_t wrong = 3; wrong < 100; wrong += wrong < 16 ? 2 : 14) {
            void *ptr = &r;
            assert_int_equal(masu_heap_alloc(r.heap, 100, wrong, &ptr), MASU_ERR_INVALID_ARGUMENT);
            assert_null(ptr);
        }
        rig_close(&r);
    }
    for (size_t s = 0; s < ALIGNED_SIZES; s++)
        for (size_t alignment = 1; alignment <= 8 * MIB; alignment *= 2) {
            void *ptr;
            size_t bytes = aligned_sizes[s];
            assert_int_equal(masu_alloc_aligned(bytes, alignment, &ptr), MASU_OK);
            assert_int_equal((uintptr_t)ptr % 64, 0);
            assert_int_equal((uintptr_t)ptr % alignment, 0);
            assert_true(masu_usable_size(ptr) >= bytes);
            assert_int_equal(masu_free_aligned(ptr, bytes, alignment), MASU_OK);
        }
    assert_int_equal(process_stats().live_blocks, 0);
    assert_int_equal(masu_trim(0), MASU_OK);
}

/* ---- B11, B12 --------------------------------------------------------------------------------- */

enum { WORKERS = 3, HELD = 100 };
static atomic_bool stop, wrong;

static void *busy(void *context) {
    masu_heap *heap = context;
    unsigned char *ptr[HELD] = {0};
    size_t bytes[HELD] = {0};
    masu__rng rng;
    masu__rng_seed(&rng, (uintptr_t)&rng);
    while (!atomic_load(&stop)) {
        size_t k = masu__rng_below(&rng, HELD);
        void *out;
        if (ptr[k]) {
            if (ptr[k][bytes[k] - 1] != k || masu_heap_free(heap, ptr[k], bytes[k]) != MASU_OK)
                atomic_store(&wrong, true);
            ptr[k] = NULL;
            continue;
        }
        bytes[k] = 1 + masu__rng_below(&rng, k % 4 ? 4 * KIB : 300 * KIB);
        if (masu_heap_alloc(heap, bytes[k], 0, &out) != MASU_OK) {
            atomic_store(&wrong, true);
            continue;
        }
        ptr[k] = out;
        ptr[k][bytes[k] - 1] = (unsigned char)k;
    }
    for (size_t k = 0; k < HELD; k++)
        if (masu_heap_free(heap, ptr[k], bytes[k]) != MASU_OK)
            atomic_store(&wrong, true);
    return NULL;
}

static masu_heap *heap_with_workers(pthread_t *threads, bool checked) {
    masu_heap *heap;
    masu_heap_config config = masu_heap_config_default();
    config.pool_bytes = MIB;
    config.initial_bytes = 0;
    config.checked = checked;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    atomic_store(&stop, false);
    atomic_store(&wrong, false);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, busy, heap), 0);
    return heap;
}

static void end_workers(pthread_t *threads, masu_heap *heap) {
    atomic_store(&stop, true);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(atomic_load(&wrong));
    assert_true(masu_heap_valid(heap));
    assert_int_equal(stats_of(heap).live_blocks, 0);
}

static void b11_trims_to_a_target_while_others_allocate(void **state) {
    (void)state;
    pthread_t threads[WORKERS];
    masu_heap *heap = heap_with_workers(threads, false);
    for (int i = 0; i < 300; i++)
        assert_int_equal(masu_heap_trim(heap, (size_t)(i % 5) * MIB), MASU_OK);
    end_workers(threads, heap);
    assert_int_equal(masu_heap_trim(heap, 0), MASU_OK); /* no device block is shared with slabs */
    assert_int_equal(stats_of(heap).reserved_bytes, 0);
    /* alone, each lower target leaves no more than the one before, and no more than it says
     * beyond what cannot be split: a device block */
    void *kept[64];
    for (int i = 0; i < 64; i++)
        assert_int_equal(masu_heap_alloc(heap, MIB - 64, 0, &kept[i]), MASU_OK);
    for (int i = 0; i < 64; i++)
        assert_int_equal(masu_heap_free(heap, kept[i], MIB - 64), MASU_OK);
    uint64_t last = UINT64_MAX;
    for (size_t target = 65; target-- > 0;) {
        assert_int_equal(masu_heap_trim(heap, target * MIB), MASU_OK);
        uint64_t reserved = stats_of(heap).reserved_bytes;
        assert_true(reserved <= last && reserved < (target + 3) * MIB);
        last = reserved;
    }
    assert_int_equal(last, 0);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void b11_a_cap_below_current_use(void **state) {
    (void)state;
    masu_device *device;
    masu_bestfit *backing;
    masu_bucket *pool;
    enum { COUNT = 3000 };
    static void *ptr[COUNT];
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    masu_bestfit_config below = masu_bestfit_config_default(device);
    assert_int_equal(masu_bestfit_create(&below, &backing), MASU_OK);
    masu_bucket_config config = masu_bucket_config_default(backing);
    config.fine_classes = true;
    assert_int_equal(masu_bucket_create(&config, &pool), MASU_OK);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(masu_bucket_alloc(pool, 1 + (size_t)i * 5, 0, &ptr[i]), MASU_OK);
    for (int i = 0; i < COUNT; i += 2)
        assert_int_equal(masu_bucket_free(pool, ptr[i], 1 + (size_t)i * 5), MASU_OK);
    masu_bucket_stats s;
    uint64_t live;
    masu_bucket_get_stats(pool, &s);
    live = s.live_block_bytes;
    assert_true(s.cached_bytes > 4 * MIB);
    for (size_t cap = 4 * MIB; cap > 0; cap /= 3) {
        assert_int_equal(masu_bucket_set_max_cached(pool, cap), MASU_OK);
        masu_bucket_get_stats(pool, &s);
        assert_true(s.cached_bytes <= cap);
        assert_int_equal(s.live_block_bytes, live);
        assert_true(masu_bucket_valid(pool));
    }
    assert_int_equal(masu_bucket_set_max_cached(pool, 0), MASU_OK);
    for (int i = 1; i < COUNT; i += 2) {
        assert_int_equal(masu_bucket_free(pool, ptr[i], 1 + (size_t)i * 5), MASU_OK);
        masu_bucket_get_stats(pool, &s);
        assert_int_equal(s.cached_bytes, 0);
    }
    assert_int_equal(masu_bucket_destroy(pool), MASU_OK);
    assert_int_equal(masu_bestfit_destroy(backing), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void b12_statistics_during_heavy_use(void **state) {
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        pthread_t threads[WORKERS];
        masu_heap *heap = heap_with_workers(threads, checked);
        masu_heap_stats last = {0};
        for (int i = 0; i < 3000; i++) {
            masu_heap_stats s = stats_of(heap);
            assert_int_equal(s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes, s.reserved_bytes);
            assert_true(s.live_bytes <= s.reserved_bytes && s.free_bytes <= s.reserved_bytes &&
                        s.cached_bytes <= s.reserved_bytes && s.slack_bytes <= s.reserved_bytes);
            assert_int_equal(s.hits + s.misses, s.allocations);
            assert_int_equal(s.allocations - s.frees, s.live_blocks);
            assert_true(s.live_blocks <= WORKERS * HELD);
            assert_true(s.allocations >= last.allocations && s.frees >= last.frees);
            assert_true(s.peak_bytes >= s.live_bytes && s.peak_reserved_bytes >= s.reserved_bytes);
            assert_true(s.largest_free_bytes <= s.free_bytes);
            last = s;
            if (i % 500 == 499) { /* peaks start from what is live then */
                masu_heap_reset_peaks(heap);
                assert_true(stats_of(heap).peak_bytes <= (uint64_t)WORKERS * HELD * 300 * KIB);
            }
        }
        end_workers(threads, heap);
        masu_heap_reset_stats(heap);
        masu_heap_stats s = stats_of(heap);
        assert_int_equal(s.allocations, 0);
        assert_int_equal(s.peak_bytes, 0);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_its_test),      cmocka_unit_test(b01_sizes_nobody_means),
        cmocka_unit_test(b02_every_alignment),         cmocka_unit_test(b11_trims_to_a_target_while_others_allocate),
        cmocka_unit_test(b11_a_cap_below_current_use), cmocka_unit_test(b12_statistics_during_heavy_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
