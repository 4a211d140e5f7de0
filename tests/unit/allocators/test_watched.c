/* The process-wide pool where every call is looked at (a trace here, a memory checker likewise): all calls mean what
 * they mean in the plain pool, those without a size and those that judge one too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/alloc.h>
#include <masu/trace.h>

static void blocks_move_and_grow(void **state) {
    (void)state;
    for (size_t from = 1; from < 40000; from += from / 3 + 1)
        for (size_t to = 1; to < 40000; to += to / 2 + 1) {
            unsigned char *block = masu_alloc(from), *moved;
            assert_non_null(block);
            memset(block, 7, from);
            assert_null(masu_realloc(block, from + 1, to)); /* no such size */
            assert_non_null(moved = masu_realloc(block, from, to));
            for (size_t i = 0; i < from && i < to; i++)
                assert_int_equal(moved[i], 7);
            assert_non_null(block = masu_realloc_unsized(moved, from));
            assert_true(masu_usable_size(block) >= from);
            assert_int_equal(masu_free_unsized(block), MASU_OK);
        }
    assert_true(masu_valid());
}

static void a_wrong_size_is_seen(void **state) {
    (void)state;
    void *small = masu_alloc(100), *large = masu_alloc(20000);
    assert_int_equal(masu_free(small, 101), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_free(large, 20001), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_free(small, 100), MASU_OK);
    assert_int_equal(masu_free(large, 20000), MASU_OK);
    assert_int_equal(masu_free_unsized(small), MASU_ERR_DOUBLE_FREE);
    masu_heap_stats s;
    masu_get_stats(&s);
    assert_int_equal(s.live_blocks, 0);
    assert_int_equal(s.live_bytes, 0);
}

static void checks_on_and_off_change_nothing(void **state) {
    (void)state;
    void *before = masu_alloc(100), *between;
    assert_int_equal(masu_set_checked(true), MASU_OK);
    between = masu_alloc(3000);
    assert_int_equal(masu_set_checked(false), MASU_OK);
    assert_int_equal(masu_free_unsized(before), MASU_OK);
    assert_int_equal(masu_free_unsized(between), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_move_and_grow),
        cmocka_unit_test(a_wrong_size_is_seen),
        cmocka_unit_test(checks_on_and_off_change_nothing),
    };
    static masu_trace *trace;
    masu_heap_config config = masu_heap_config_default();
    masu_trace_config events = {.ring_events = 1 << 10};
    if (masu_trace_create(&events, &trace) != MASU_OK)
        return 1;
    config.trace = trace;
    if (masu_configure(&config) != MASU_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
