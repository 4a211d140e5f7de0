/* Metadata memory: counted, and failing on demand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/meta.h"

static void live_bytes_follow_every_call(void **state) {
    (void)state;
    uint64_t bytes = masu__meta_live_bytes(), blocks = masu__meta_live_blocks();
    void *a = masu__meta_alloc(100);
    unsigned char *b = masu__meta_calloc(10, 7);
    assert_non_null(a);
    assert_non_null(b);
    for (int i = 0; i < 70; i++)
        assert_int_equal(b[i], 0);
    assert_int_equal(masu__meta_live_bytes() - bytes, 170);
    a = masu__meta_realloc(a, 100, 1000);
    assert_int_equal(masu__meta_live_bytes() - bytes, 1070);
    assert_int_equal(masu__meta_live_blocks() - blocks, 2);
    masu__meta_free(a, 1000);
    masu__meta_free(b, 70);
    masu__meta_free(NULL, 0);
    assert_int_equal(masu__meta_live_bytes(), bytes);
    assert_int_equal(masu__meta_live_blocks(), blocks);
}

static void calloc_refuses_what_overflows(void **state) {
    (void)state;
    assert_null(masu__meta_calloc(SIZE_MAX / 2, 3));
}

static void exactly_the_nth_request_fails(void **state) {
    (void)state;
    for (uint64_t nth = 1; nth <= 4; nth++) {
        masu__fault_arm(nth);
        for (uint64_t i = 1; i <= 6; i++) {
            void *p = masu__meta_alloc(8);
            assert_int_equal(p == NULL, i == nth);
            assert_int_equal(masu__fault_fired(), i >= nth);
            masu__meta_free(p, 8);
        }
        assert_int_equal(masu__fault_count(), 6);
    }
    masu__fault_arm(0);
    assert_false(masu__fault_fired());
    assert_int_equal(masu__fault_count(), 0);
}

static void repeated_faults_never_end(void **state) {
    (void)state;
    masu__fault_arm_repeat(2, true);
    void *p = masu__meta_alloc(8);
    assert_non_null(p);
    for (int i = 0; i < 5; i++)
        assert_null(masu__meta_alloc(8));
    assert_null(masu__meta_realloc(p, 8, 16));
    masu__fault_arm(0);
    masu__meta_free(p, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_bytes_follow_every_call),
        cmocka_unit_test(calloc_refuses_what_overflows),
        cmocka_unit_test(exactly_the_nth_request_fails),
        cmocka_unit_test(repeated_faults_never_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
