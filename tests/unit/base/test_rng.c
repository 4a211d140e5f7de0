/* Random numbers: known answers, the same on every machine, and of the right distribution. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

static void published_answers(void **state) {
    (void)state;
    /* xoshiro256++ from the state 1, 2, 3, 4; the first state word of seed 0 is splitmix64's
     * first output */
    masu__rng rng = {.state = {1, 2, 3, 4}};
    assert_true(masu__rng_next(&rng) == 41943041u);
    assert_true(masu__rng_next(&rng) == 58720359u);
    assert_true(masu__rng_next(&rng) == 3588806011781223u);
    assert_true(masu__rng_next(&rng) == 3591011842654386u);
    masu__rng_seed(&rng, 0);
    assert_true(rng.state[0] == 0xe220a8397b1dcdafu);
}

static void normals_have_the_same_bits_everywhere(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 42);
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < 10000; i++) {
        double x = masu__rng_normal(&rng);
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
    }
    /* what gcc and clang give at -O0 and at -O3 with fused multiply-add */
    assert_true(hash == 0xa6924f9eaf5a24bu);
}

static void normals_are_normal(void **state) {
    (void)state;
    enum { N = 400000 };
    masu__rng rng;
    masu__rng_seed(&rng, 7);
    double sum = 0, squares = 0, cubes = 0, fourths = 0, outside = 0;
    for (int i = 0; i < N; i++) {
        double x = masu__rng_normal(&rng);
        sum += x;
        squares += x * x;
        cubes += x * x * x;
        fourths += x * x * x * x;
        outside += fabs(x) > 1.959964;
    }
    assert_true(fabs(sum / N) < 0.01);
    assert_true(fabs(squares / N - 1) < 0.01);
    assert_true(fabs(cubes / N) < 0.03);
    assert_true(fabs(fourths / N - 3) < 0.06);
    assert_true(fabs(outside / N - 0.05) < 0.002);
}

static void uniform_stays_inside_and_even(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 3);
    unsigned counts[10] = {0};
    for (int i = 0; i < 100000; i++) {
        double x = masu__rng_uniform(&rng);
        assert_true(x >= 0 && x < 1);
        counts[(int)(x * 10)]++;
    }
    for (int i = 0; i < 10; i++)
        assert_true(counts[i] > 9600 && counts[i] < 10400);
    float values[1000];
    masu__rng_fill_uniform_f32(&rng, values, 1000);
    for (int i = 0; i < 1000; i++)
        assert_true(values[i] >= 0 && values[i] < 1);
}

static void below_is_unbiased(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 5);
    /* two thirds of the range: taking the remainder would give small results twice as often */
    uint64_t bound = UINT64_MAX / 3 * 2;
    unsigned small = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t x = masu__rng_below(&rng, bound);
        assert_true(x < bound);
        small += x < bound / 2;
    }
    assert_true(small > 9700 && small < 10300);
    for (int i = 0; i < 100; i++)
        assert_true(masu__rng_below(&rng, 1) == 0);
}

static void filling_is_drawing_one_by_one(void **state) {
    (void)state;
    masu__rng a, b;
    masu__rng_seed(&a, 11);
    masu__rng_seed(&b, 11);
    /* shorter than a stretch of the lanes, as long, longer by one, over several; one after the other */
    static const uint64_t counts[] = {101, 511, 512, 513, 514, 1607, 1608, 2048, 5000, 1, 3, 40000};
    static float values[40000];
    static double wide[40000];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        masu__rng_fill_normal_f32(&a, values, counts[c]);
        for (uint64_t i = 0; i < counts[c]; i++)
            assert_true(values[i] == (float)masu__rng_normal(&b));
        masu__rng_fill_normal_f64(&a, wide, counts[c]);
        for (uint64_t i = 0; i < counts[c]; i++)
            assert_true(wide[i] == masu__rng_normal(&b));
        assert_memory_equal(a.state, b.state, sizeof a.state);
        assert_true(a.has_spare == b.has_spare);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_answers),  cmocka_unit_test(normals_have_the_same_bits_everywhere),
        cmocka_unit_test(normals_are_normal), cmocka_unit_test(uniform_stays_inside_and_even),
        cmocka_unit_test(below_is_unbiased),  cmocka_unit_test(filling_is_drawing_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
