/* Blocks above 16 KiB that a thread keeps: one of each class up to 256 KiB in a place of its own, the others in lists,
 * and never more than what is configured, whatever comes in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include <masu/alloc.h>

#include "allocators/heap/cache.h"
#include "base/annotate.h"
#include "base/rng.h"

enum { CLASSES = MASU__LARGE_ONES };

/* Otherwise nothing is kept: the pool is checked from the start, or a memory checker is told of every block. */
#if defined(MASU_HEAVY) || MASU__ASAN
#define WITH_CACHES 0
#else
#define WITH_CACHES 1
#endif

static masu_heap_stats stats_now(void) {
    masu_heap_stats s;
    masu_get_stats(&s);
    return s;
}

static size_t kept_bytes(void) {
    return stats_now().thread_cached_bytes;
}

static int all_goes_back(void **state) {
    (void)state;
    assert_true(masu_valid());
    assert_int_equal(stats_now().live_blocks, 0);
    assert_int_equal(masu_trim(0), MASU_OK);
    assert_int_equal(kept_bytes(), 0);
    assert_int_equal(stats_now().reserved_bytes, 0);
    return 0;
}

static void *take(size_t bytes) {
    void *ptr = masu_alloc(bytes);
    assert_non_null(ptr);
    memset(ptr, 0x5a, 64);
    return ptr;
}

/* Two dozen sizes in turn: each finds the block that it had. */
static void sizes_that_take_turns(void **state) {
    (void)state;
    enum { SIZES = 24, ROUNDS = 5 };
    void *block[SIZES];
    size_t sum = 0;
    for (unsigned i = 0; i < SIZES; i++) {
        size_t bytes = masu__large_class_bytes(i);
        block[i] = take(bytes - 100);
        assert_int_equal(masu_free(block[i], bytes - 100), MASU_OK);
        sum += bytes;
        assert_int_equal(kept_bytes(), WITH_CACHES ? sum : 0);
    }
    for (unsigned round = 0; round < ROUNDS && WITH_CACHES; round++)
        for (unsigned i = 0; i < SIZES; i++) {
            size_t bytes = masu__large_class_bytes(i);
            assert_ptr_equal(take(bytes), block[i]);
            assert_int_equal(kept_bytes(), sum - bytes);
            assert_int_equal(masu_free_unsized(block[i]), MASU_OK);
            assert_int_equal(masu_free_unsized(block[i]), MASU_ERR_DOUBLE_FREE);
            assert_int_equal(masu_free(block[i], bytes), MASU_ERR_DOUBLE_FREE);
        }
}

/* Two live blocks of each class: the second goes to the lists, and both come back. */
static void the_second_of_a_class(void **state) {
    (void)state;
    for (unsigned i = 0; i < CLASSES; i++) {
        size_t bytes = masu__large_class_bytes(i);
        void *first = take(bytes), *second = take(bytes);
        assert_int_equal(masu_free(first, bytes), MASU_OK);
        assert_int_equal(masu_free(second, bytes), MASU_OK);
        assert_true(masu_valid());
        void *again = take(bytes), *other = take(bytes);
        assert_true(again != other);
        if (WITH_CACHES)
            assert_true((again == first && other == second) || (again == second && other == first));
        assert_int_equal(masu_free(other, bytes), MASU_OK);
        assert_int_equal(masu_free(again, bytes), MASU_OK);
    }
}

/* What is kept is bounded in every order, or is one block. */
static void no_more_than_is_allowed(void **state) {
    (void)state;
    enum { SLOTS = 100, STEPS = 20000 };
    void *block[SLOTS] = {NULL};
    size_t size[SLOTS] = {0};
    masu__rng rng;
    masu__rng_seed(&rng, 17);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)masu__rng_below(&rng, SLOTS);
        if (block[i]) {
            assert_int_equal(masu_free(block[i], size[i]), MASU_OK);
            block[i] = NULL;
        } else {
            unsigned most = masu__rng_below(&rng, 50) ? CLASSES : MASU__LARGE_CLASSES - 32;
            size[i] = masu__large_class_bytes((unsigned)masu__rng_below(&rng, most)) - masu__rng_below(&rng, 4000);
            block[i] = take(size[i]);
        }
        if (step % 100 == 0)
            assert_true(masu_valid());
    }
    for (unsigned i = 0; i < SLOTS; i++)
        assert_int_equal(masu_free(block[i], block[i] ? size[i] : 0), MASU_OK);
}

/* Half of what may be kept is left to the lists. */
static void places_leave_room_for_lists(void **state) {
    (void)state;
    enum { BLOCKS = 16, BYTES = 100000 };
    void *block[BLOCKS];
    for (unsigned i = 0; i < CLASSES; i++) {
        void *ptr = take(masu__large_class_bytes(i));
        assert_int_equal(masu_free_unsized(ptr), MASU_OK);
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        block[i] = take(BYTES);
    size_t before = kept_bytes();
    for (unsigned i = 0; i < BLOCKS; i++)
        assert_int_equal(masu_free(block[i], BYTES), MASU_OK);
    assert_true(kept_bytes() <= MASU__LARGE_KEPT_BYTES);
    if (WITH_CACHES)
        assert_true(kept_bytes() >= before + BLOCKS * (size_t)BYTES || kept_bytes() > MASU__LARGE_KEPT_BYTES / 2);
}

enum { TURNS = 8 };

static size_t size_in_turn(unsigned i) {
    return ((size_t)512 + 64 * (i % TURNS)) << 10;
}

/* Somewhat more than may be kept: most of it is, and is never given up for the rest. */
static void sizes_more_than_fit(void **state) {
    (void)state;
    enum { ROUNDS = 20 };
    size_t least = SIZE_MAX, most = 0;
    for (unsigned i = 0; i < ROUNDS * TURNS; i++) {
        void *ptr = take(size_in_turn(i));
        assert_int_equal(masu_free(ptr, size_in_turn(i)), MASU_OK);
        least = i > 3 * TURNS && kept_bytes() < least ? kept_bytes() : least;
        most = kept_bytes() > most ? kept_bytes() : most;
    }
    assert_true(most <= MASU__LARGE_KEPT_BYTES);
    if (WITH_CACHES)
        assert_true(least > MASU__LARGE_KEPT_BYTES / 2);
}

/* The sizes that were kept do not come again. */
static void another_size_takes_over(void **state) {
    (void)state;
    enum { BYTES = 928 << 10 };
    for (unsigned i = 0; i < 5 * TURNS; i++)
        assert_int_equal(masu_free_unsized(take(size_in_turn(i))), MASU_OK);
    for (unsigned i = 0; i < 2 * MASU__LARGE_TURNED_AWAY; i++)
        assert_int_equal(masu_free_unsized(take(BYTES)), MASU_OK);
    size_t with = kept_bytes();
    void *ptr = take(BYTES);
    assert_int_equal(with - kept_bytes(), WITH_CACHES ? BYTES : 0);
    assert_int_equal(masu_free_unsized(ptr), MASU_OK);
}

static void *keeps_and_ends(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < CLASSES; i++)
        assert_int_equal(masu_free_unsized(take(masu__large_class_bytes(i))), MASU_OK);
    return NULL;
}

static void a_thread_that_ends(void **state) {
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, keeps_and_ends, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(kept_bytes(), 0);
}

static void a_cap_on_idle_memory(void **state) {
    (void)state;
    if (!WITH_CACHES)
        return;
    keeps_and_ends(NULL);
    assert_int_equal(masu_set_idle(64 << 10, 0), MASU_OK);
    for (unsigned i = 0; i < CLASSES; i++) {
        void *ptr = take(masu__large_class_bytes(i));
        assert_int_equal(masu_free_unsized(ptr), MASU_OK);
        assert_true(masu_valid());
    }
    masu_thread_flush();
    assert_int_equal(kept_bytes(), 0);
    assert_int_equal(masu_set_idle(0, 0), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sizes_that_take_turns, all_goes_back),
        cmocka_unit_test_teardown(the_second_of_a_class, all_goes_back),
        cmocka_unit_test_teardown(no_more_than_is_allowed, all_goes_back),
        cmocka_unit_test_teardown(places_leave_room_for_lists, all_goes_back),
        cmocka_unit_test_teardown(sizes_more_than_fit, all_goes_back),
        cmocka_unit_test_teardown(another_size_takes_over, all_goes_back),
        cmocka_unit_test_teardown(a_thread_that_ends, all_goes_back),
        cmocka_unit_test_teardown(a_cap_on_idle_memory, all_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
