/* A hundred thousand threads, each with a cache of its own that it leaves full: nothing of them
 * stays, neither blocks nor records. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <masu/masu.h>

#include "base/annotate.h"
#include "base/meta.h"

#if defined(MASU_HEAVY) || defined(__SANITIZE_THREAD__) || MASU__ASAN
enum { LIVES = 3000, AT_ONCE = 3 };
#else
enum { LIVES = 100000, AT_ONCE = 4 };
#endif

static void *live(void *argument) {
    static const size_t sizes[] = {64, 100, 1000, 5000, 16384, 1 << 20};
    void *blocks[6];
    for (int i = 0; i < 6; i++)
        blocks[i] = masu_alloc(sizes[i]);
    for (int i = 0; i < 6; i++)
        if (!blocks[i] || masu_free(blocks[i], sizes[i]) != MASU_OK)
            return &live;
    return argument;
}

static void b05_a_hundred_thousand_threads(void **state) {
    (void)state;
    uint64_t after_some = 0;
    for (int i = 0; i < LIVES; i += AT_ONCE) {
        pthread_t threads[AT_ONCE];
        for (int k = 0; k < AT_ONCE; k++)
            assert_int_equal(pthread_create(&threads[k], NULL, live, NULL), 0);
        for (int k = 0; k < AT_ONCE; k++) {
            void *complaint;
            assert_int_equal(pthread_join(threads[k], &complaint), 0);
            assert_null(complaint);
        }
        if (i / AT_ONCE == 200)
            after_some = masu__meta_live_bytes();
    }
    masu_heap_stats s;
    masu_get_stats(&s);
    assert_int_equal(s.allocations, 6 * ((LIVES + AT_ONCE - 1) / AT_ONCE * AT_ONCE));
    assert_int_equal(s.live_blocks, 0);
    assert_int_equal(s.thread_caches, 0);
    assert_true(masu__meta_live_bytes() <= after_some + 65536);
    assert_true(masu_valid());
    assert_int_equal(masu_trim(0), MASU_OK);
    masu_get_stats(&s);
    assert_int_equal(s.reserved_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(b05_a_hundred_thousand_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
