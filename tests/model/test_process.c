/* The process-wide pool, each arrangement in a process of its own: every call of the device fails
 * once, at every point of a scripted life; and checks switched on in the middle of it.
 *
 *     life   allocate in two threads, one of which ends with full magazines; grow by realloc; free
 *            half; trim; allocate again; free all; trim
 *
 * Whatever call of the device fails, the call that asked says so or serves from what it has; then
 * no counter of the callers has moved, every equation holds, and the same call succeeds.
 */
#include "model/model.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <masu/masu.h>

#include "base/annotate.h"

enum { BLOCKS = 90, KIB = 1 << 10, MIB = 1 << 20 };

static masu_device *inner, *device;
static masu_heap_config now; /* of this process */

static masu_heap_stats stats_now(void) {
    masu_heap_stats s;
    masu_get_stats(&s);
    assert_int_equal(s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes, s.reserved_bytes);
    assert_int_equal(s.allocations - s.frees, s.live_blocks);
    assert_int_equal(s.hits + s.misses, s.allocations);
    return s;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static void *blocks[BLOCKS];
static size_t sizes[BLOCKS];
static unsigned refusals;

static size_t alignment_of(int i) {
    return i % 9 == 8 ? 4096 : i % 31 == 30 ? 64 * KIB : 0;
}

static void assert_nothing_moved(const masu_heap_stats *before) {
    masu_heap_stats after = stats_now();
    assert_int_equal(after.allocations, before->allocations);
    assert_int_equal(after.frees, before->frees);
    assert_int_equal(after.live_bytes, before->live_bytes);
    assert_int_equal(after.live_blocks, before->live_blocks);
    assert_int_equal(after.failures, before->failures + 1);
    assert_true(masu_valid());
    assert_true(++refusals < 3);
}

/* Every fifth block without an alignment is a packed one. */
static masu_status take_once(int i, size_t bytes) {
    if (alignment_of(i) != 0 || i % 5 != 4)
        return masu_alloc_aligned(bytes, alignment_of(i), &blocks[i]);
    blocks[i] = masu_alloc_packed(bytes);
    return blocks[i] ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

static void take(int i, size_t bytes) {
    sizes[i] = bytes;
    for (;;) {
        masu_heap_stats before = stats_now();
        masu_status status = take_once(i, bytes);
        if (status == MASU_OK)
            break;
        assert_int_equal(status, MASU_ERR_DEVICE_FAILURE);
        assert_null(blocks[i]);
        assert_nothing_moved(&before);
    }
    memset(blocks[i], i + 1, bytes);
}

static void give(int i) {
    const unsigned char *bytes = blocks[i];
    for (size_t k = 0; k < sizes[i]; k += 997)
        assert_int_equal(bytes[k], i + 1);
    assert_int_equal(masu_free_aligned(blocks[i], sizes[i], alignment_of(i)), MASU_OK);
}

static void grow(int i, size_t bytes) {
    for (;;) {
        masu_heap_stats before = stats_now();
        unsigned char *moved = masu_realloc(blocks[i], sizes[i], bytes);
        if (moved) {
            blocks[i] = moved;
            break;
        }
        assert_nothing_moved(&before);
        assert_int_equal(((unsigned char *)blocks[i])[sizes[i] - 1], i + 1);
    }
    memset(blocks[i], i + 1, bytes);
    sizes[i] = bytes;
}

static void trim(void) {
    for (;;) {
        masu_heap_stats before = stats_now();
        masu_status status = masu_trim(0);
        if (status == MASU_OK)
            return;
        assert_int_equal(status, MASU_ERR_DEVICE_FAILURE);
        before.failures = stats_now().failures - 1; /* of requests, and trim is none */
        assert_nothing_moved(&before);
    }
}

static size_t bytes_of(int i) {
    return i % 6 == 5 ? (size_t)(40 * KIB + 4 * KIB * i) : (size_t)1 << (i % 15);
}

static void *second_thread(void *argument) {
    for (int i = BLOCKS / 2; i < BLOCKS; i++)
        take(i, bytes_of(i));
    for (int i = BLOCKS / 2 + 1; i < BLOCKS; i += 2)
        give(i);
    return argument; /* what it had cached goes home */
}

static void live_once(void) {
    pthread_t thread;
    for (int i = 0; i < BLOCKS / 2; i++)
        take(i, bytes_of(i));
    assert_int_equal(pthread_create(&thread, NULL, second_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (int i = 0; i < BLOCKS / 2; i += 10)
        if (alignment_of(i) == 0)
            grow(i, sizes[i] * 3 + 100 * KIB);
    for (int i = 0; i < BLOCKS / 2; i += 2)
        give(i);
    trim();
    for (int i = 0; i < BLOCKS; i += 2)
        take(i, bytes_of(i));
    for (int i = 0; i < BLOCKS; i++)
        give(i);
    trim();
    masu_heap_stats s = stats_now();
    assert_int_equal(s.live_blocks, 0);
    assert_int_equal(s.reserved_bytes, 0);
    assert_int_equal(s.device_allocations, s.device_frees);
    assert_true(masu_valid());
}

static void b10_every_call_of_the_device_fails_once(void **state) {
    (void)state;
    unsigned refused = 0;
    live_once();
    for (uint64_t nth = 1;; nth++) {
        masu_device_stats before, after;
        refusals = 0;
        masu_device_get_stats(device, &before);
        assert_int_equal(masu_device_fail_at(device, nth, false), MASU_OK);
        live_once();
        assert_int_equal(masu_device_fail_at(device, 0, false), MASU_OK);
        masu_device_get_stats(device, &after);
        refused += refusals;
        if (after.failed_calls == before.failed_calls) {
            assert_true(nth > 20 && refused > 3);
            return;
        }
    }
}

/* ---- a device that is gone for good ---------------------------------------------------------- */

static void b10_without_a_device_what_is_cached_still_serves(void **state) {
    (void)state;
    void *small = masu_alloc(100), *more[64];
    masu_heap_stats before = stats_now();
    assert_int_equal(masu_device_fail_at(device, 1, true), MASU_OK);
    for (int i = 0; i < 20; i++) {
        void *out;
        assert_int_equal(masu_alloc_aligned(64 * MIB, 0, &out), MASU_ERR_DEVICE_FAILURE);
        assert_null(out);
        assert_null(masu_alloc(64 * MIB));
        assert_null(masu_alloc_zeroed(64, MIB));
        assert_null(masu_realloc(small, 100, 64 * MIB));
    }
    /* what a cap under a slab allows is a slab for each block */
    int count = now.max_cached_bytes >= 128 * KIB ? 64 : 0;
    for (int i = 0; i < count; i++)
        assert_non_null(more[i] = masu_alloc(100));
    for (int i = 0; i < count; i++)
        assert_int_equal(masu_free(more[i], 100), MASU_OK);
    assert_int_equal(stats_now().failures, before.failures + 80);
    assert_int_equal(stats_now().live_blocks, before.live_blocks);
    assert_int_equal(masu_device_fail_at(device, 0, false), MASU_OK);
    assert_int_equal(masu_free(small, 100), MASU_OK);
    trim();
}

/* ---- checks switched on ---------------------------------------------------------------------- */

static pthread_barrier_t turn;

/* Has magazines of its own, and what they hold when the checks come on. */
static void *other_thread(void *argument) {
    void **shared = argument;
    shared[0] = masu_alloc(500);
    void *cached = masu_alloc(500);
    assert_int_equal(masu_free(cached, 500), MASU_OK);
    shared[1] = cached;
    pthread_barrier_wait(&turn); /* the checks come on */
    pthread_barrier_wait(&turn);
    shared[2] = masu_alloc(500); /* the very next call goes where it is looked at */
    assert_int_equal(masu_free(shared[2], 501), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_free(shared[2], 500), MASU_OK);
    assert_int_equal(masu_free(shared[2], 500), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(stats_now().thread_cached_bytes, 0);
    return NULL;
}

static void checks_reach_every_thread(void) {
    pthread_t thread;
    void *shared[3];
    unsigned char *before = masu_alloc(1000), *gone = masu_alloc(1000), *large = masu_alloc(MIB);
    unsigned char *last = masu_alloc(1000);
    assert_int_equal(masu_free(gone, 1000), MASU_OK);
    assert_int_equal(masu_free(last, 1000), MASU_OK);
    pthread_barrier_init(&turn, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, shared), 0);
    pthread_barrier_wait(&turn);
    assert_int_equal(masu_set_checked(true), MASU_OK);
    masu_heap_stats s = stats_now();
    assert_int_equal(masu_free(gone, 1000), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_free(before + 64, 1000), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_free(before, 1025), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_free(before, MIB), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_free(large, MIB + 64), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_free(large + 64, MIB), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_free(&shared, 1000), MASU_ERR_FOREIGN_POINTER);
    assert_null(masu_realloc(before, 1100, 3000));
    assert_null(masu_realloc(gone, 1000, 1000));
    assert_int_equal(stats_now().live_blocks, s.live_blocks);
    assert_true(masu_valid());
    pthread_barrier_wait(&turn);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(masu_free(shared[1], 500), MASU_ERR_DOUBLE_FREE); /* it came home */
    assert_int_equal(masu_free_unsized(shared[0]), MASU_OK);
    unsigned char *moved = masu_realloc(before, 1000, 1001);
    assert_non_null(moved);
    assert_int_equal(masu_free(moved, 1000), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_free_unsized(moved), MASU_OK);
    assert_int_equal(masu_free_unsized(moved), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_free_unsized(large), MASU_OK);
    assert_int_equal(masu_free_unsized(large), MASU_ERR_DOUBLE_FREE);
    pthread_barrier_destroy(&turn);
}

static void checks_can_be_switched_at_any_time(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        checks_reach_every_thread();
        assert_int_equal(stats_now().live_blocks, 0);
        void *kept = masu_alloc(777);
        assert_int_equal(masu_set_checked(false), MASU_OK);
        void *plain = masu_alloc(777);
        assert_int_equal(masu_free(kept, 777), MASU_OK);
        assert_int_equal(masu_free(plain, 777), MASU_OK);
        assert_int_equal(stats_now().live_blocks, 0);
        assert_true(stats_now().thread_cached_bytes > 0);
        assert_true(masu_valid());
        trim();
    }
}

/* A second free of a block in somebody's magazine is passed over when the magazine comes home. */
static void *holder(void *argument) {
    void **shared = argument;
    shared[0] = masu_alloc(2000);
    assert_int_equal(masu_free(shared[0], 2000), MASU_OK);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    void *mine = masu_alloc(2000); /* brings the magazine home first */
    assert_int_equal(masu_free(mine, 2000), MASU_OK);
    return NULL;
}

static void a_block_in_a_magazine_freed_again_stays_one_block(void **state) {
    (void)state;
    pthread_t thread;
    void *shared[1], *all[200];
    pthread_barrier_init(&turn, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, holder, shared), 0);
    pthread_barrier_wait(&turn);
    assert_int_equal(masu_set_checked(true), MASU_OK);
    (void)masu_free(shared[0], 2000); /* wrong, and cannot be told here */
    pthread_barrier_wait(&turn);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(masu_valid());
    for (int i = 0; i < 200; i++) {
        all[i] = masu_alloc(2000);
        for (int k = 0; k < i; k++)
            assert_ptr_not_equal(all[i], all[k]);
    }
    for (int i = 0; i < 200; i++)
        assert_int_equal(masu_free(all[i], 2000), MASU_OK);
    assert_int_equal(stats_now().live_blocks, 0);
    assert_int_equal(masu_set_checked(false), MASU_OK);
    pthread_barrier_destroy(&turn);
    trim();
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void a_trim_reaches_a_thread_at_its_very_next_call(void **state) {
    (void)state;
    enum { COUNT = 30 };
    void *held[COUNT];
    for (int i = 0; i < COUNT; i++)
        held[i] = masu_alloc(64);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(masu_free(held[i], 64), MASU_OK);
    assert_true(stats_now().thread_cached_bytes > 0);
    trim();
    assert_int_equal(stats_now().thread_cached_bytes, 0);
    assert_int_equal(stats_now().reserved_bytes, 0);
}

static bool gave_up;

static bool refuse(void *context, size_t shortfall_bytes) {
    (void)context;
    gave_up = shortfall_bytes > 0;
    return false;
}

static void the_callback_is_asked_once_a_request(void **state) {
    (void)state;
    void *out;
    gave_up = false;
    assert_int_equal(masu_device_fail_at(device, 1, true), MASU_OK);
    uint64_t failures = stats_now().failures;
    assert_int_equal(masu_alloc_aligned(3000, 64, &out), MASU_ERR_DEVICE_FAILURE);
    assert_true(gave_up);
    assert_int_equal(stats_now().failures, failures + 1);
    assert_int_equal(masu_device_fail_at(device, 0, false), MASU_OK);
}

/* ---- arrangements ---------------------------------------------------------------------------- */

static const struct arrangement {
    const char *name;
    bool fine, checked, guarded;
    size_t max_cached_bytes;
} arrangements[] = {
    {"nine classes", false, false, false, 16 * MIB}, {"fine classes", true, false, false, 16 * MIB},
    {"little cache", true, false, false, 100 * KIB}, {"no cache", false, false, false, 0},
    {"checked", true, true, false, 16 * MIB},        {"guarded", false, false, true, 16 * MIB},
};

static int run_one(const struct arrangement *a) {
    masu_heap_config config = masu_heap_config_default();
    if (masu_device_create_host(&inner) != MASU_OK || masu_device_create_faulty(inner, &device) != MASU_OK)
        return 1;
    config.device = device;
    config.fine_classes = a->fine;
    config.checked |= a->checked;
    config.guarded = a->guarded;
    config.max_cached_bytes = a->max_cached_bytes;
    config.pool_bytes = 512 * KIB; /* wherever it lies, slabs fit beside a live block */
    config.initial_bytes = 0;
    config.small_blocks = config.medium_blocks = 0;
    config.oom = refuse;
    bool caching = !config.checked && !config.guarded && !masu__annotate_wanted() && config.max_cached_bytes > MIB;
    now = config;
    if (masu_configure(&config) != MASU_OK || masu_configure(&config) != MASU_ERR_UNSUPPORTED)
        return 1;
    const struct CMUnitTest always[] = {
        cmocka_unit_test(the_callback_is_asked_once_a_request),
        cmocka_unit_test(b10_every_call_of_the_device_fails_once),
        cmocka_unit_test(b10_without_a_device_what_is_cached_still_serves),
    };
    const struct CMUnitTest with_caches[] = {
        cmocka_unit_test(a_trim_reaches_a_thread_at_its_very_next_call),
        cmocka_unit_test(checks_can_be_switched_at_any_time),
        cmocka_unit_test(a_block_in_a_magazine_freed_again_stays_one_block),
    };
    printf("%s\n", a->name);
    fflush(stdout);
    int failed = cmocka_run_group_tests(always, NULL, NULL);
    return caching ? failed + cmocka_run_group_tests(with_caches, NULL, NULL) : failed;
}

int main(void) {
    int failed = 0;
    for (size_t i = 0; i < sizeof arrangements / sizeof *arrangements; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(run_one(&arrangements[i]));
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
            return 1;
        failed += WEXITSTATUS(status);
    }
    return failed;
}
