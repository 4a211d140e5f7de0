/* test_display.c: floats as the shortest decimal that reads back, and the four decimals of tensor elements. */
#include "runtime_fixture.h"

#include <math.h>
#include <stdio.h>

#include "runtime/value/display.h"

static const char *f32(float value) {
    static char text[TL_FLOAT_TEXT];
    size_t length = tl__show_f32(value, text);
    assert_int_equal(length, strlen(text));
    return text;
}

static const char *f64(double value) {
    static char text[TL_FLOAT_TEXT];
    size_t length = tl__show_f64(value, text);
    assert_int_equal(length, strlen(text));
    return text;
}

static void as_rust_displays_them(void **state) {
    (void)state;
    assert_string_equal(f32(1.0f), "1");
    assert_string_equal(f32(-1.5f), "-1.5");
    assert_string_equal(f32(0.1f), "0.1");
    assert_string_equal(f32(0.3f), "0.3");
    assert_string_equal(f32(16777216.0f), "16777216");
    assert_string_equal(f32(3.4028235e38f), "340282350000000000000000000000000000000");
    assert_string_equal(f32(1e-7f), "0.0000001");
    assert_string_equal(f32(1e-45f), "0.000000000000000000000000000000000000000000001");
    assert_string_equal(f32(123456.79f), "123456.79");
    assert_string_equal(f64(0.1), "0.1");
    assert_string_equal(f64(0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(f64(100.0), "100");
    assert_string_equal(f64(1e21), "1000000000000000000000");
    assert_string_equal(f64(123456789.125), "123456789.125");
    assert_string_equal(f64(1.0 / 3.0), "0.3333333333333333");
    assert_string_equal(f64(9007199254740993.0), "9007199254740992");
    assert_string_equal(f64(5e-324) + 320, "000005");
}

static void special_values(void **state) {
    (void)state;
    assert_string_equal(f32(0.0f), "0");
    assert_string_equal(f32(-0.0f), "-0");
    assert_string_equal(f32(INFINITY), "inf");
    assert_string_equal(f32(-INFINITY), "-inf");
    assert_string_equal(f32(NAN), "NaN");
    assert_string_equal(f32(-NAN), "NaN");
    assert_string_equal(f64(-0.0), "-0");
    assert_string_equal(f64(-INFINITY), "-inf");
    assert_string_equal(f64(NAN), "NaN");
}

static void the_longest_texts_fit(void **state) {
    (void)state;
    assert_int_equal(strlen(f64(-1.7976931348623157e308)), 310);
    assert_int_equal(strlen(f64(-2.2250738585072014e-308)), 3 + 307 + 17);
    assert_int_equal(strlen(f64(-4.4501477170144023e-308)), 3 + 307 + 17);
    char text[TL_FLOAT_TEXT];
    assert_int_equal(tl__show_fixed(-1.7976931348623157e308, text), 1 + 309 + 5);
}

/* At a power of two the correctly rounded decimal of the shortest length may not read back, its neighbour does. */
static void powers_of_two_use_the_wide_side(void **state) {
    (void)state;
    assert_string_equal(f64(0x1p-44), "0.00000000000005684341886080802");
    assert_string_equal(f64(0x1p-1022),
                        "0.0000000000000000000000000000000000000000000000000000000000000000000000000000"
                        "0000000000000000000000000000000000000000000000000000000000000000000000000000"
                        "0000000000000000000000000000000000000000000000000000000000000000000000000000"
                        "0000000000000000000000000000000000000000000000000000000000000000000000000000"
                        "00022250738585072014");
}

/* Digits of a shown number, without the zeros around them. */
static int significant_digits(const char *text) {
    const char *from = text, *last = NULL;
    while (*from && (*from < '1' || *from > '9'))
        from++;
    int digits = 0, upto_last = 0;
    for (const char *at = from; *at; at++) {
        digits += *at != '.';
        if (*at >= '1' && *at <= '9') {
            last = at;
            upto_last = digits;
        }
    }
    return last ? upto_last : 0;
}

/* Whether some decimal of `digits` digits reads back: only the two next to the value come into question. */
static bool shorter_reads_back(double value, int digits, bool single) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    double unit = pow(10.0, floor(log10(value)) - (digits - 1));
    for (int step = -1; step <= 1; step++) {
        char near[64];
        snprintf(near, sizeof near, "%.*e", digits - 1, strtod(text, NULL) + step * unit);
        double back = single ? (double)strtof(near, NULL) : strtod(near, NULL);
        if (back == value)
            return true;
    }
    return false;
}

static void random_floats_read_back_and_are_shortest(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 99);
    for (int i = 0; i < 20000; i++) {
        union {
            uint32_t bits;
            float value;
        } single = {(uint32_t)masu__rng_next(&rng)};
        if (!isfinite(single.value) || single.value == 0)
            continue;
        const char *text = f32(single.value);
        assert_true(strtof(text, NULL) == single.value);
        assert_null(strchr(text, 'e'));
        int digits = significant_digits(text);
        assert_true(digits <= 9);
        assert_true(digits == 1 || !shorter_reads_back(fabs((double)single.value), digits - 1, true));
    }
}

static void random_doubles_read_back_and_are_shortest(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 100);
    for (int i = 0; i < 10000; i++) {
        union {
            uint64_t bits;
            double value;
        } both = {masu__rng_next(&rng)};
        if (i % 2) /* everyday sizes */
            both.value = masu__rng_normal(&rng) * 1000.0;
        if (!isfinite(both.value) || fabs(both.value) < 1e-290)
            continue;
        const char *text = f64(both.value);
        assert_true(strtod(text, NULL) == both.value);
        int digits = significant_digits(text);
        assert_true(digits <= 17);
        assert_true(digits == 1 || !shorter_reads_back(fabs(both.value), digits - 1, false));
    }
}

static void every_power_of_two_reads_back(void **state) {
    (void)state;
    for (int e = -1074; e <= 1023; e++)
        assert_true(strtod(f64(ldexp(1.0, e)), NULL) == ldexp(1.0, e));
    for (int e = -149; e <= 127; e++)
        assert_true(strtof(f32(ldexpf(1.0f, e)), NULL) == ldexpf(1.0f, e));
}

static void fixed_has_four_decimals(void **state) {
    (void)state;
    char text[TL_FLOAT_TEXT];
    tl__show_fixed(0.1, text);
    assert_string_equal(text, "0.1000");
    tl__show_fixed(-2.00006, text);
    assert_string_equal(text, "-2.0001");
    tl__show_fixed(NAN, text);
    assert_string_equal(text, "NaN");
    tl__show_fixed(-INFINITY, text);
    assert_string_equal(text, "-inf");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_rust_displays_them),
        cmocka_unit_test(special_values),
        cmocka_unit_test(the_longest_texts_fit),
        cmocka_unit_test(powers_of_two_use_the_wide_side),
        cmocka_unit_test(random_floats_read_back_and_are_shortest),
        cmocka_unit_test(random_doubles_read_back_and_are_shortest),
        cmocka_unit_test(every_power_of_two_reads_back),
        cmocka_unit_test(fixed_has_four_decimals),
    };
    return cmocka_run_group_tests_name("display", tests, NULL, NULL);
}
