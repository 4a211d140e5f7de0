/* The process-wide heap under threads: rows B5, B6, B11, B12 and the reports of part C about
 * threads, forks and ends (11, 12, 14, 20, 22).
 *
 * Each thread keeps its own model: an array of what it holds, painted with a mark of its own, so
 * that a block handed out twice is seen by whoever looks at it next. Blocks change hands through a
 * board of exchange slots.
 */
#include "model/model.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <masu/masu.h>

#include "base/annotate.h"

enum { MOST_THREADS = 8, HELD = 200, BOARD = 64, MIB = 1 << 20 };

#if defined(__SANITIZE_THREAD__)
#define THREADS_ARE_WATCHED 1
#else
#define THREADS_ARE_WATCHED 0
#endif
#if defined(MASU_HEAVY) /* make check-heavy: by 1, 2, 4 and 8 threads, a million operations */
enum { STEPS = 22000, PIPED = 20000, SHORT_LIVES = 1000, FORKS = 40 };
static const uint64_t usual_seeds[] = {1, 20261127, 0x6d617375};
#elif THREADS_ARE_WATCHED
enum { STEPS = 20000, PIPED = 20000, SHORT_LIVES = 1000, FORKS = 40 };
static const uint64_t usual_seeds[] = {1};
#else
enum { STEPS = 20000, PIPED = 30000, SHORT_LIVES = 2000, FORKS = 60 };
static const uint64_t usual_seeds[] = {1, 20261127};
#endif

/* Otherwise every call goes to a heap that is checked from the start, or that a memory checker is
 * told of. */
#if defined(MASU_HEAVY) || MASU__ASAN
#define WITH_CACHES 0
#else
#define WITH_CACHES 1
#endif

static uint64_t seed_now;
static int steps;

typedef struct parcel {
    unsigned char *address;
    size_t bytes, alignment;
    unsigned char mark;
} parcel;

static _Atomic(parcel *) board[BOARD];
static atomic_bool wrong;

static void paint(const parcel *p) {
    memset(p->address, p->mark, p->bytes < 64 ? p->bytes : 64);
    p->address[p->bytes - 1] = p->mark;
}

static void look(const parcel *p) {
    bool good = p->address[p->bytes - 1] == p->mark;
    for (size_t i = 0; i < p->bytes && i < 64; i++)
        good &= p->address[i] == p->mark;
    if (!good)
        atomic_store(&wrong, true);
}

static size_t random_bytes(masu__rng *rng) {
    switch (masu__rng_below(rng, 16)) {
    case 0:
        return 1 + masu__rng_below(rng, MIB);
    case 1:
        return 1 + masu__rng_below(rng, 40000);
    default:
        return 1 + masu__rng_below(rng, 64u << masu__rng_below(rng, 9));
    }
}

static bool parcel_take(parcel *p, masu__rng *rng) {
    *p = (parcel){.bytes = random_bytes(rng), .mark = (unsigned char)masu__rng_next(rng)};
    void *address;
    if (masu__rng_below(rng, 8) == 0) {
        p->alignment = (size_t)1 << masu__rng_below(rng, 17);
        if (masu_alloc_aligned(p->bytes, p->alignment, &address) != MASU_OK)
            return false;
        if ((uintptr_t)address % p->alignment != 0)
            atomic_store(&wrong, true);
    } else if (masu__rng_below(rng, 4) == 0) {
        address = masu_alloc_packed(p->bytes);
        if ((uintptr_t)address % 16 != 0)
            return false;
    } else {
        address = masu_alloc(p->bytes);
        if ((uintptr_t)address % 64 != 0)
            return false;
    }
    p->address = address;
    if (!address)
        return false;
    paint(p);
    return true;
}

static void parcel_give(parcel *p, masu__rng *rng) {
    look(p);
    masu_status status;
    if (masu__rng_below(rng, 16) == 0 && WITH_CACHES)
        status = masu_free_unsized(p->address);
    else if (p->alignment)
        status = masu_free_aligned(p->address, p->bytes, p->alignment);
    else
        status = masu_free(p->address, p->bytes);
    if (status != MASU_OK)
        atomic_store(&wrong, true);
    p->address = NULL;
}

/* Puts a parcel on the board and takes home what lay there. */
static void exchange(parcel *p, masu__rng *rng) {
    parcel *out = masu_alloc(sizeof *out);
    *out = *p;
    parcel *in = atomic_exchange(&board[masu__rng_below(rng, BOARD)], out);
    p->address = NULL;
    if (in) {
        *p = *in;
        look(p);
        masu_free(in, sizeof *in);
    }
}

static void stats_hold(void) {
    masu_heap_stats s;
    masu_get_stats(&s);
    bool good = s.live_bytes <= s.reserved_bytes && s.cached_bytes <= s.reserved_bytes &&
                s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes == s.reserved_bytes &&
                s.hits + s.misses == s.allocations && s.frees <= s.allocations &&
                s.allocations - s.frees == s.live_blocks;
    if (!good)
        atomic_store(&wrong, true);
}

static void *worker(void *argument) {
    static _Thread_local parcel held[HELD];
    masu__rng rng;
    masu__rng_seed(&rng, seed_now * 64 + (uintptr_t)argument);
    for (int step = 0; step < steps; step++) {
        parcel *p = &held[masu__rng_below(&rng, HELD)];
        if (p->address)
            masu__rng_below(&rng, 4) ? parcel_give(p, &rng) : exchange(p, &rng);
        else if (!parcel_take(p, &rng))
            atomic_store(&wrong, true);
        if (step % 4096 == 0)
            stats_hold();
        if (step % 50000 == 49999 && masu_trim(0) != MASU_OK)
            atomic_store(&wrong, true);
    }
    for (int i = 0; i < HELD; i++)
        if (held[i].address)
            parcel_give(&held[i], &rng);
    return NULL;
}

static void clear_board(void) {
    masu__rng rng;
    masu__rng_seed(&rng, 1);
    for (int i = 0; i < BOARD; i++) {
        parcel *p = atomic_exchange(&board[i], NULL);
        if (!p)
            continue;
        parcel_give(p, &rng);
        masu_free(p, sizeof *p);
    }
}

static void assert_all_is_home(void) {
    masu_heap_stats s;
    assert_true(masu_valid());
    masu_get_stats(&s);
    assert_int_equal(s.live_blocks, 0);
    assert_int_equal(s.live_bytes, 0);
    assert_int_equal(s.allocations, s.frees);
    assert_int_equal(masu_trim(0), MASU_OK);
    masu_get_stats(&s);
    assert_int_equal(s.cached_bytes, 0);
    assert_int_equal(s.reserved_bytes, 0);
    assert_true(masu_valid());
}

static void run_threads(size_t count, void *(*body)(void *)) {
    pthread_t threads[MOST_THREADS];
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)(i + 1)), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void b05_one_to_eight_threads(void **state) {
    (void)state;
    model_seeds seeds = model_seeds_wanted(usual_seeds, sizeof usual_seeds / sizeof *usual_seeds);
    steps = model_steps_wanted(STEPS);
    for (size_t i = 0; i < seeds.count; i++)
        for (size_t count = 1; count <= MOST_THREADS; count *= 2) {
            seed_now = seeds.seed[i];
            run_threads(count, worker);
            clear_board();
            if (atomic_load(&wrong))
                fail_msg("seed %llu, %zu threads", (unsigned long long)seed_now, count);
            assert_all_is_home();
        }
}

/* Whatever a worker is just doing: its blocks of before and after the switch come back right. */
static void b11_trims_and_checks_while_threads_run(void **state) {
    (void)state;
    enum { COUNT = 4 };
    pthread_t threads[COUNT];
    steps = model_steps_wanted(STEPS);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, worker, (void *)(i + 1)), 0);
    for (int i = 0; i < 60; i++) {
        assert_int_equal(masu_set_checked(i % 3 == 0), MASU_OK);
        usleep(500);
        assert_int_equal(masu_trim((size_t)i * 65536), MASU_OK);
        masu_reset_peaks();
    }
    assert_int_equal(masu_set_checked(!WITH_CACHES), MASU_OK);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    clear_board();
    assert_false(atomic_load(&wrong));
    assert_all_is_home();
}

/* One thread allocates, the other frees: what it frees must not pile up there. */
static _Atomic(void *) pipe_slots[256];
static size_t pipe_bytes;

static void *producer(void *argument) {
    (void)argument;
    for (int i = 0; i < PIPED; i++) {
        void *block = masu_alloc(pipe_bytes);
        void *empty = NULL;
        *(int *)block = i;
        while (!atomic_compare_exchange_weak(&pipe_slots[i % 256], &empty, block)) {
            empty = NULL;
            usleep(0);
        }
    }
    return NULL;
}

static void *consumer(void *argument) {
    (void)argument;
    for (int i = 0; i < PIPED; i++) {
        void *block;
        while ((block = atomic_exchange(&pipe_slots[i % 256], NULL)) == NULL)
            usleep(0);
        if (*(int *)block != i || masu_free(block, pipe_bytes) != MASU_OK)
            atomic_store(&wrong, true);
    }
    return NULL;
}

static void *pipe_end(void *argument) {
    return argument == (void *)1 ? producer(NULL) : consumer(NULL);
}

static void b05_memory_freed_elsewhere_comes_home(void **state) {
    (void)state;
    for (pipe_bytes = 64; pipe_bytes <= 16384; pipe_bytes *= 16) {
        masu_heap_stats s;
        run_threads(2, pipe_end);
        masu_get_stats(&s);
        assert_false(atomic_load(&wrong));
        assert_int_equal(s.live_blocks, 0);
        /* a pipe of 256 blocks, two full magazines, and the cap */
        assert_true(s.reserved_bytes <= 128 * MIB);
        assert_all_is_home();
    }
}

static void *short_life(void *argument) {
    void *a = masu_alloc(100), *b = masu_alloc(5000), *c = masu_alloc(MIB);
    masu_free(a, 100);
    masu_free(b, 5000);
    masu_free(c, MIB);
    return argument;
}

static void b05_c14_many_short_threads_leave_nothing(void **state) {
    (void)state;
    masu_heap_stats s;
    for (int i = 0; i < SHORT_LIVES; i++)
        run_threads(1, short_life);
    masu_get_stats(&s);
    assert_int_equal(s.live_blocks, 0);
    assert_true(s.thread_caches <= 1);
    assert_all_is_home();
}

/* A destructor of thread-local data that runs before, after and between ours. */
static pthread_key_t late_key;

static void late_destructor(void *value) {
    uintptr_t rounds = (uintptr_t)value;
    short_life(NULL);
    void *kept = masu_alloc(200);
    if (masu_free(kept, 200) != MASU_OK)
        atomic_store(&wrong, true);
    if (rounds > 1)
        pthread_setspecific(late_key, (void *)(rounds - 1));
}

static void *with_late_destructor(void *argument) {
    pthread_setspecific(late_key, (void *)3);
    return short_life(argument);
}

static void c14_destructors_of_a_thread_may_allocate(void **state) {
    (void)state;
    assert_int_equal(pthread_key_create(&late_key, late_destructor), 0);
    for (int i = 0; i < 200; i++)
        run_threads(1, with_late_destructor);
    pthread_key_delete(late_key);
    assert_false(atomic_load(&wrong));
    assert_all_is_home();
}

/* Destructors run in so many rounds; what is set in the last of them has none any more. */
static void last_round_destructor(void *value) {
    uintptr_t rounds = (uintptr_t)value;
    if (rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(late_key, (void *)(rounds + 1));
    else
        short_life(NULL); /* the thread's very first calls */
}

static void *only_in_the_last_round(void *argument) {
    pthread_setspecific(late_key, (void *)1);
    return argument;
}

static void c14_the_last_round_of_destructors_leaves_nothing_for_good(void **state) {
    (void)state;
#if THREADS_ARE_WATCHED
    print_message("skipped: the thread sanitizer takes its own record of a thread down in that round\n");
    skip();
#endif
    assert_int_equal(pthread_key_create(&late_key, last_round_destructor), 0);
    for (int i = 0; i < 50; i++) {
        run_threads(4, only_in_the_last_round);
        if (i % 10 == 9)
            assert_all_is_home(); /* its trim finds that they are gone */
    }
    pthread_key_delete(late_key);
    masu_heap_stats s;
    masu_get_stats(&s);
    assert_true(s.thread_caches <= 1);
    assert_false(atomic_load(&wrong));
}

static atomic_bool stop;

static void *restless(void *argument) {
    while (!atomic_load(&stop)) {
        void *block = masu_alloc(100), *large = masu_alloc(70000);
        void *odd;
        if (masu_alloc_aligned(300, 4096, &odd) == MASU_OK)
            masu_free_aligned(odd, 300, 4096);
        masu_thread_flush();
        masu_free(large, 70000);
        masu_free(block, 100);
    }
    return argument;
}

static int child_life(const unsigned char *shared) {
    alarm(20);
    unsigned char *blocks[200];
    if (*shared != 7)
        return 2;
    for (int i = 0; i < 200; i++) {
        blocks[i] = masu_alloc((size_t)64 << (i % 10));
        if (!blocks[i])
            return 3;
        memset(blocks[i], 0xcc, (size_t)64 << (i % 10));
    }
    if (*shared != 7 || !masu_valid())
        return 4;
    for (int i = 0; i < 200; i++)
        if (masu_free(blocks[i], (size_t)64 << (i % 10)) != MASU_OK)
            return 5;
    masu_heap_stats s;
    masu_get_stats(&s);
    return masu_trim(0) == MASU_OK && masu_valid() && s.thread_caches <= 1 ? 0 : 6;
}

static void b06_c11_c12_fork_with_live_caches_and_held_locks(void **state) {
    (void)state;
    pthread_t threads[2];
    unsigned char *shared = masu_alloc(4096);
    *shared = 7;
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, restless, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(child_life(shared));
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(*shared, 7);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    masu_free(shared, 4096);
    assert_all_is_home();
}

static size_t resident_bytes(void) {
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &pages, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void c20_c22_freed_memory_leaves_the_process(void **state) {
    (void)state;
    enum { COUNT = 5000, BYTES = 50000 };
    static void *blocks[COUNT];
    size_t before = resident_bytes();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            blocks[i] = masu_alloc(round ? BYTES : 4000);
            memset(blocks[i], 1, round ? BYTES : 4000);
        }
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(masu_free(blocks[i], round ? BYTES : 4000), MASU_OK);
        assert_all_is_home();
    }
    if (!THREADS_ARE_WATCHED && !masu__annotate_wanted())
        assert_true(resident_bytes() < before + 2 * MIB);
}

static void c18_sizes_near_the_end(void **state) {
    (void)state;
    void *out;
    volatile size_t end = SIZE_MAX; /* the compiler knows better than to let such a size through */
    for (size_t k = 0; k <= 4096; k++) {
        assert_null(masu_alloc(end - k));
        assert_int_not_equal(masu_alloc_aligned(end - k, 4096, &out), MASU_OK);
        assert_null(out);
    }
    assert_null(masu_alloc_zeroed(end / 2, 3));
    assert_null(masu_alloc(0));
    assert_int_equal(masu_free(NULL, 0), MASU_OK);
    assert_int_equal(masu_free(NULL, 64), MASU_OK);
    assert_int_equal(masu_free(NULL, MIB), MASU_OK);
    assert_int_equal(masu_alloc_aligned(1, 3, &out), MASU_ERR_INVALID_ARGUMENT);
    assert_all_is_home();
}

static void b03_b04_wrong_frees_that_cost_nothing_to_see(void **state) {
    (void)state;
    void *small = masu_alloc(100), *large = masu_alloc(MIB);
    assert_int_equal(masu_free(small, 100), MASU_OK);
    assert_int_equal(masu_free(small, 100), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_free(large, MIB + 4096), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_free((char *)large + 4096, MIB), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_free(&small, MIB), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_free_unsized(&small), MASU_ERR_FOREIGN_POINTER);
    assert_int_equal(masu_free(large, MIB), MASU_OK);
    assert_int_equal(masu_free(large, MIB), MASU_ERR_DOUBLE_FREE);
    assert_all_is_home();
}

static void realloc_keeps_what_was_there(void **state) {
    (void)state;
    unsigned char *p = masu_realloc(NULL, 0, 10);
    size_t bytes = 10;
    memset(p, 0x5a, bytes);
    for (size_t next = 15; next < 3 * MIB; next = next * 3 / 2) {
        p = masu_realloc(p, bytes, next);
        assert_non_null(p);
        assert_int_equal(p[bytes - 1], 0x5a);
        assert_int_equal(p[0], 0x5a);
        assert_true(masu_usable_size(p) >= next);
        memset(p, 0x5a, next);
        bytes = next;
    }
    assert_null(masu_realloc(p, bytes, 0));
    unsigned char *zero = masu_alloc_zeroed(100, 10);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(zero[i], 0);
    assert_int_equal(masu_free(zero, 1000), MASU_OK);
    assert_all_is_home();
}

#ifndef CONFIGURE
#define CONFIGURE(config) MASU_ERR_UNSUPPORTED
#endif

int main(void) {
    masu_heap_config config = masu_heap_config_default();
    if (CONFIGURE(&config) == MASU_OK && masu_configure(&config) != MASU_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c18_sizes_near_the_end),
        cmocka_unit_test(b03_b04_wrong_frees_that_cost_nothing_to_see),
        cmocka_unit_test(realloc_keeps_what_was_there),
        cmocka_unit_test(c20_c22_freed_memory_leaves_the_process),
        cmocka_unit_test(b05_one_to_eight_threads),
        cmocka_unit_test(b11_trims_and_checks_while_threads_run),
        cmocka_unit_test(b05_memory_freed_elsewhere_comes_home),
        cmocka_unit_test(b05_c14_many_short_threads_leave_nothing),
        cmocka_unit_test(c14_destructors_of_a_thread_may_allocate),
        cmocka_unit_test(c14_the_last_round_of_destructors_leaves_nothing_for_good),
        cmocka_unit_test(b06_c11_c12_fork_with_live_caches_and_held_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
