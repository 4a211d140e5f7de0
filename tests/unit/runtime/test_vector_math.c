/* The functions of vector_math.h against those of the C library in f64: over every exponent and both signs, a prime
 * step of bit patterns, and the values at which one formula gives way to another. The distance is counted in units of
 * the last place of the right result; sigmoid's where e⁻ˣ does not overflow (beyond, its result is 0 for less than
 * 1e-38).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/ops/rows_f32.h"
#include "runtime/ops/vector_math.h"

typedef struct function {
    const char *name;
    float (*ours)(float);
    double (*theirs)(double);
    double units;
    float from;
} function;

static float our_exp(float x) {
    return tl__exp_f32(x);
}

static float our_log(float x) {
    return tl__log_f32(x);
}

static float our_tanh(float x) {
    return tl__tanh_f32(x);
}

static float our_erf(float x) {
    return tl__erf_f32(x);
}

static float our_sigmoid(float x) {
    return tl__sigmoid_f32(x);
}

static double their_sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static const function functions[] = {
    {"exp", our_exp, exp, 1.0, -INFINITY},
    {"log", our_log, log, 1.0, -INFINITY},
    {"tanh", our_tanh, tanh, 1.5, -INFINITY},
    {"erf", our_erf, erf, 2.0, -INFINITY},
    {"sigmoid", our_sigmoid, their_sigmoid, 2.0, -88.0f},
};

/* Infinitely far where one is a number and the other is not. */
static double distance(float ours, double theirs) {
    if (isnan(theirs) || isnan(ours))
        return isnan(theirs) && isnan(ours) ? 0 : INFINITY;
    float rounded = (float)theirs;
    if (isinf(rounded) || isinf(ours))
        return rounded == ours ? 0 : INFINITY;
    float size = fabsf(rounded);
    return fabs((double)ours - theirs) / (double)(nextafterf(size, INFINITY) - size);
}

static void check(const function *f, float x) {
    double far = x < f->from ? 0 : distance(f->ours(x), f->theirs((double)x));
    if (far > f->units)
        fail_msg("%s(%.9g) is %.9g, %g units from %.17g", f->name, (double)x, (double)f->ours(x), far,
                 f->theirs((double)x));
}

static void within_units_of_the_last_place(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 10007)
            check(&functions[i], tl__float_of((uint32_t)bits));
}

static void at_the_seams(void **state) {
    (void)state;
    static const float seams[] = {0.0f,   -0.0f,          0.625f,        0.921875f,  4.0f,
                                  1.0f,   0.70710678f,    88.722839f,    -87.33655f, -103.97208f,
                                  1e-45f, 1.1754944e-38f, 3.4028235e38f, INFINITY,   NAN};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        for (size_t k = 0; k < sizeof seams / sizeof seams[0]; k++) {
            check(&functions[i], seams[k]);
            check(&functions[i], -seams[k]);
            check(&functions[i], nextafterf(seams[k], INFINITY));
            check(&functions[i], nextafterf(seams[k], -INFINITY));
        }
    }
    assert_true(signbit(tl__tanh_f32(-0.0f)));
    assert_true(signbit(tl__erf_f32(-0.0f)));
}

/* Of a share of 1 the distance itself counts; where little is below, a hundredth of that, which erf and 1 cannot
 * give. */
static void normal_within(float x) {
    double right = 0.5 * erfc((double)x * -0.70710678118654752440), far = fabs((double)tl__normal_f32(x) - right);
    if (far > 8e-8 || (x >= -5.6f && x < 0 && far > 0.01 * right))
        fail_msg("normal(%.9g) is %.9g, %g from %.17g", (double)x, (double)tl__normal_f32(x), far, right);
}

static void normal_below(void **state) {
    (void)state;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 10007)
        if (!isnan(tl__float_of((uint32_t)bits)))
            normal_within(tl__float_of((uint32_t)bits));
    for (float x = -6.0f; x < 6.0f; x += 1e-4f)
        normal_within(x);
    assert_true(isnan(tl__normal_f32(NAN)));
    assert_true(tl__normal_f32(-INFINITY) == 0.0f && tl__normal_f32(INFINITY) == 1.0f);
    assert_true(tl__normal_f32(0.0f) == 0.5f && tl__normal_f32(-0.0f) == 0.5f);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

enum { ROW = 2048 + 21 };

typedef struct row_function {
    const char *name;
    void (*row)(int64_t, const float *, float *);
    float (*each)(float);
} row_function;

static float our_silu(float x) {
    return x * tl__sigmoid_f32(x);
}

static float our_gelu(float x) {
    return x * tl__normal_f32(x);
}

static const row_function rows[] = {
    {"exp", tl__exp_row, our_exp},
    {"sigmoid", tl__sigmoid_row, our_sigmoid},
    {"silu", tl__silu_row, our_silu},
    {"gelu", tl__gelu_row, our_gelu},
};

static void check_row(const row_function *f, int64_t n, const float *x) {
    float out[ROW];
    memcpy(out, x, sizeof out);
    f->row(n, out, out);
    for (int64_t i = 0; i < ROW; i++) {
        const float wanted = i < n ? f->each(x[i]) : x[i];
        if (isnan(wanted) ? !isnan(out[i]) : tl__bits_of(out[i]) != tl__bits_of(wanted))
            fail_msg("%s of %.9g at %d of %d: %.9g, not %.9g", f->name, (double)x[i], (int)i, (int)n, (double)out[i],
                     (double)wanted);
    }
}

/* Blocks of numbers near 0, of all numbers, and of both: the same bits as one by one, in the place of the operand. */
static void rows_say_what_their_functions_say(void **state) {
    (void)state;
    float x[ROW];
    uint32_t bits = 1;
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < ROW; i++) {
            bits = bits * 1664525u + 1013904223u;
            const float near = (float)(int32_t)bits * (round % 2 ? 0x1p-29f : 0x1.5cp-25f); /* within 4, and 87 */
            x[i] = round < 100 || (round < 200 && i != round * 10) ? near : tl__float_of(bits);
        }
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            check_row(&rows[k], ROW, x);
            check_row(&rows[k], round % 70, x);
        }
    }
    const float edges[] = {87.0f, -87.0f, 87.00001f, -87.00001f, 88.8f, -104.0f, 5.6f, -5.6f, NAN, INFINITY, -INFINITY};
    for (size_t e = 0; e < sizeof edges / sizeof edges[0]; e++) {
        for (int i = 0; i < ROW; i++)
            x[i] = i % 40 == 7 ? edges[e] : 0.01f * (float)(i % 97);
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
            check_row(&rows[k], ROW, x);
    }
    x[1030] = tl__float_of(0x7f800001u); /* a NaN whose low bits a shift would move into the exponent */
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        check_row(&rows[k], ROW, x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_units_of_the_last_place),
        cmocka_unit_test(at_the_seams),
        cmocka_unit_test(normal_below),
        cmocka_unit_test(rows_say_what_their_functions_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
