/* The process-wide pool and those who call it: a thousand threads at once, a signal handler that interrupts a call,
 * code that reads errno afterwards. */
#include "alloc_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "allocators/heap/heap_pool.h"

/* ---- a thousand threads ------------------------------------------------------------------------ */

enum { THREADS = 1000 };
static void *handed[THREADS][2];
static pthread_barrier_t turn;

/* Each frees what its neighbour allocated. */
static void *one_of_many(void *argument) {
    size_t mine = (uintptr_t)argument % THREADS, other = (mine + 1) % THREADS;
    handed[mine][0] = masu_alloc(1 + mine * 15);
    handed[mine][1] = masu_alloc(20000 + mine);
    bool good = handed[mine][0] && handed[mine][1];
    pthread_barrier_wait(&turn);
    good = good && masu_free(handed[other][0], 1 + other * 15) == MASU_OK &&
           masu_free_unsized(handed[other][1]) == MASU_OK;
    pthread_barrier_wait(&turn);
    return good ? NULL : argument;
}

static void a_thousand_threads_at_once(void **state) {
    (void)state;
    static pthread_t threads[THREADS];
    pthread_attr_t small;
    void *result;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 256 * KIB), 0);
    assert_int_equal(pthread_barrier_init(&turn, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], &small, one_of_many, (void *)(THREADS + i)), 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
    pthread_barrier_destroy(&turn);
    pthread_attr_destroy(&small);
    assert_all_is_home();
}

/* ---- signal handlers ---------------------------------------------------------------------------- */

static volatile sig_atomic_t handled, served;

/* Above the magazines, so that every call goes where the interrupted one may be. */
static void call_from_a_handler(int number) {
    (void)number;
    size_t bytes = (size_t)(30000 + handled % 100 * 64);
    void *ptr = masu_alloc(bytes), *aligned;
    handled++;
    if (masu_alloc_aligned(bytes, 1 << 16, &aligned) == MASU_OK)
        masu_free(aligned, bytes);
    if (!ptr)
        return;
    served++;
    memset(ptr, 1, bytes);
    if (handled % 2 ? masu_free(ptr, bytes) : masu_free_unsized(ptr))
        served = -1000000;
}

static void a_handler_neither_hangs_nor_aborts(void **state) {
    (void)state;
    struct sigaction action = {.sa_handler = call_from_a_handler}, before;
    /* where every call checks all blocks, a handler needs longer than the next waits */
    const long wanted = WITH_CACHES ? 3000 : 30, period = WITH_CACHES ? 100 : 20000;
    struct itimerval often = {{0, period}, {0, period}}, never = {{0, 0}, {0, 0}};
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (long i = 0; i < 3000000 && handled < wanted; i++) {
        size_t bytes = (size_t)(40000 + i % 1000 * 64);
        unsigned char *ptr = masu_alloc(bytes);
        assert_non_null(ptr);
        ptr[0] = ptr[bytes - 1] = (unsigned char)i;
        ptr = masu_realloc(ptr, bytes, bytes * (i % 7 == 0 ? 3 : 1));
        assert_non_null(ptr);
        assert_int_equal(ptr[bytes - 1], (unsigned char)i);
        assert_int_equal(masu_free_unsized(ptr), MASU_OK);
        if (i % 1000 == 0)
            assert_int_equal(masu_trim(0), MASU_OK);
    }
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_true(handled > 0);
    assert_true(served >=
                (WITH_CACHES ? 1 : 0)); /* negative: a free was refused; audits leave a handler hardly a moment */
    assert_all_is_home();
}

/* What a handler does inside, without luck: the lock is held by this very thread. */
static void what_a_handler_gets_inside(void **state) {
    (void)state;
    unsigned char *large = masu_alloc(100000), *small = masu_alloc(300), *packed = masu_alloc_packed(20);
    masu_heap_stats s;
    void *out = large;
    masu_thread_flush();
    masu__go_in();
    assert_null(masu_alloc(50000));
    assert_int_equal(masu_alloc_aligned(50000, 0, &out), MASU_ERR_UNSUPPORTED);
    assert_null(out);
    assert_null(masu_realloc(large, 100000, 300000));
    assert_false(masu_resize_in_place(large, 100000, 300000));
    assert_int_equal(masu_trim(0), MASU_ERR_UNSUPPORTED);
    assert_int_equal(masu_set_checked(true), MASU_ERR_UNSUPPORTED);
    masu_get_stats(&s);
    assert_int_equal(s.live_blocks, 0);
    if (WITH_CACHES) {
        assert_int_equal(masu_free(large, 2 * MIB), MASU_ERR_SIZE_MISMATCH);
        assert_int_equal(masu_free(large, 100000), MASU_OK);
        assert_int_equal(masu_free(large, 100000), MASU_ERR_DOUBLE_FREE);
    }
    masu__come_out();
    if (!WITH_CACHES)
        assert_int_equal(masu_free(large, 100000), MASU_OK);
    assert_int_equal(stats_now().live_blocks, 2);
    assert_int_equal(masu_free(small, 300), MASU_OK);
    assert_int_equal(masu_free_unsized(packed), MASU_OK);
    assert_all_is_home();
}

/* ---- threads that have ended -------------------------------------------------------------------- */

static pthread_key_t late_key;

/* Runs behind the library's own destructor, for its key was made later. */
static void after_the_cache(void *context) {
    void *block = masu_alloc(300);
    assert_non_null(block);
    masu_thread_flush();
    assert_int_equal(masu_set_checked(!WITH_CACHES), MASU_OK);
    assert_int_equal(masu_trim(0), MASU_OK);
    assert_int_equal(masu_free(block, 300), MASU_OK);
    masu_thread_flush();
    *(bool *)context = true;
}

static void *with_a_late_destructor(void *context) {
    assert_int_equal(masu_free(masu_alloc(100), 100), MASU_OK);
    assert_int_equal(pthread_setspecific(late_key, context), 0);
    return NULL;
}

static void calls_after_the_cache_has_ended(void **state) {
    (void)state;
    pthread_t thread;
    bool ran = false;
    assert_int_equal(masu_free(masu_alloc(100), 100), MASU_OK); /* the library has its key now */
    assert_int_equal(pthread_key_create(&late_key, after_the_cache), 0);
    assert_int_equal(pthread_create(&thread, NULL, with_a_late_destructor, &ran), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(ran);
    assert_int_equal(pthread_key_delete(late_key), 0);
    assert_all_is_home();
}

/* ---- errno -------------------------------------------------------------------------------------- */

static void freeing_keeps_errno(void **state) {
    (void)state;
    for (size_t bytes = 1; bytes < (size_t)200 * MIB; bytes = bytes * 3 + 1) {
        void *block = masu_alloc(bytes);
        errno = 77;
        assert_int_equal(masu_free_unsized(block), MASU_OK);
        assert_int_equal(errno, 77);
    }
    assert_false(masu_inside());
    assert_all_is_home();
}

enum { NOTED = 8000 };
static void *noted[NOTED];

static void *frees_what_is_noted(void *wrong) {
    for (int i = 0; i < NOTED; i++)
        if (masu_free(noted[i], 1024) != MASU_OK)
            return wrong;
    return NULL;
}

/* What a thread leaves to the others is noted in slots: a trim takes those of blocks that have gone, too. */
static void a_trim_leaves_no_notes(void **state) {
    (void)state;
    masu_heap_stats full, trimmed;
    pthread_t thread;
    void *wrong = NULL;
    if (!WITH_CACHES)
        skip();
    for (int i = 0; i < NOTED; i++)
        assert_non_null(noted[i] = masu_alloc(1024));
    assert_int_equal(pthread_create(&thread, NULL, frees_what_is_noted, &wrong), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    masu_get_stats(&full);
    assert_int_equal(masu_trim(0), MASU_OK);
    masu_get_stats(&trimmed);
    assert_in_range(trimmed.metadata_bytes, 0, full.metadata_bytes - NOTED * sizeof(void *) / 2);
    assert_true(masu_valid());
}

enum { HANDED = 60000, MARK = 0x5a };
static unsigned char *marked[HANDED];

/* Then the thread allocates, until it asks the others for blocks. */
static void *frees_marked_blocks(void *wrong) {
    for (int i = 0; i < HANDED; i++)
        if (masu_free_unsized(marked[i]) != MASU_OK)
            return wrong;
    const masu_magazine *magazine = masu_magazine_of_block(marked[0]);
    if (magazine->frees_only != 1)
        return wrong;
    for (int i = 0; i < 1000; i++)
        if (!(marked[i] = masu_alloc(64)) || marked[i][0] != MARK)
            return wrong;
    return magazine->frees_only == 0 ? NULL : wrong;
}

/* Their lines stay with the thread that wrote to them: no link is written into them, and the thread that frees knows
 * that it need not fetch them. */
static void blocks_freed_for_others_are_not_touched(void **state) {
    (void)state;
    pthread_t thread;
    void *wrong = &thread;
    if (!WITH_CACHES)
        skip();
    for (int i = 0; i < HANDED; i++)
        memset(marked[i] = masu_alloc(64), MARK, 64);
    assert_int_equal(pthread_create(&thread, NULL, frees_marked_blocks, wrong), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    for (int i = 1000; i < HANDED; i++)
        assert_int_equal(marked[i][0], MARK);
    assert_int_equal(masu_magazine_of_block(marked[0])->frees_only, 0); /* this one allocates */
    for (int i = 0; i < 1000; i++)
        assert_int_equal(masu_free(marked[i], 64), MASU_OK);
    assert_true(masu_valid());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trim_leaves_no_notes),
        cmocka_unit_test(a_thousand_threads_at_once),
        cmocka_unit_test(a_handler_neither_hangs_nor_aborts),
        cmocka_unit_test(what_a_handler_gets_inside),
        cmocka_unit_test(calls_after_the_cache_has_ended),
        cmocka_unit_test(freeing_keeps_errno),
        cmocka_unit_test(blocks_freed_for_others_are_not_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
