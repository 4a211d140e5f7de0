/* Size arithmetic at its borders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/size.h"

static void sums_and_products_never_wrap(void **state) {
    (void)state;
    size_t out = 7;
    assert_true(masu__add(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
    out = 7;
    assert_false(masu__add(SIZE_MAX, 1, &out));
    assert_int_equal(out, 7);
    assert_true(masu__mul((size_t)1 << 32, ((size_t)1 << 32) - 1, &out));
    out = 7;
    assert_false(masu__mul((size_t)1 << 32, (size_t)1 << 32, &out));
    assert_int_equal(out, 7);
    assert_true(masu__mul(0, SIZE_MAX, &out));
    assert_int_equal(out, 0);
}

static void rounding_up_never_wraps(void **state) {
    (void)state;
    size_t out = 7;
    for (size_t k = 0; k < 4096; k++) {
        size_t x = SIZE_MAX - k;
        bool fits = masu__align_up(x, 64, &out);
        assert_int_equal(fits, x <= SIZE_MAX - 63);
        if (fits)
            assert_true(out >= x && out % 64 == 0);
    }
    for (size_t x = 0; x < 300; x++) {
        assert_true(masu__align_up(x, 64, &out));
        assert_true(out >= x && out - x < 64 && out % 64 == 0);
        assert_true(masu__align_down(x, 64) <= x && x - masu__align_down(x, 64) < 64);
    }
}

static void powers_and_logarithms(void **state) {
    (void)state;
    assert_false(masu__is_power_of_two(0));
    assert_false(masu__is_power_of_two(3));
    assert_true(masu__is_power_of_two((size_t)1 << 63));
    for (size_t x = 1; x < 5000; x++) {
        unsigned low = masu__log2_floor(x), high = masu__log2_ceil(x);
        assert_true(((size_t)1 << low) <= x && ((size_t)2 << low) > x);
        assert_true(((size_t)1 << high) >= x && (high == 0 || ((size_t)1 << (high - 1)) < x));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_never_wrap),
        cmocka_unit_test(rounding_up_never_wraps),
        cmocka_unit_test(powers_and_logarithms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
