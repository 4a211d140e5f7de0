/* Functions that the C library does not bring, at places where mathematics knows their value. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "runtime/ops/special.h"

static const double pi = 3.14159265358979323846, euler = 0.57721566490153286061;

static void near(double x, double wanted) {
    if (!(fabs(x - wanted) <= 4e-15 * (1 + fabs(wanted))))
        fail_msg("%.17g, and %.17g is right", x, wanted);
}

/* ψ(x + 1) = ψ(x) + 1/x from ψ(1) = -γ and ψ(1/2) = -γ - 2 ln 2, up, down and far out. */
static void digamma_has_its_values(void **state) {
    (void)state;
    double at = -euler, half = -euler - 2 * log(2);
    for (int n = 1; n < 40; at += 1.0 / n, half += 1 / (n - 0.5), n++) {
        near(tl__digamma(n), at);
        near(tl__digamma(n - 0.5), half);
    }
    near(tl__digamma(-0.5), -euler - 2 * log(2) + 2);
    near(tl__digamma(1e8), log(1e8) - 0.5e-8);
}

/* ψ'(x + 1) = ψ'(x) - 1/x² from ψ'(1) = π²/6 and ψ'(1/2) = π²/2. */
static void trigamma_has_its_values(void **state) {
    (void)state;
    double at = pi * pi / 6, half = pi * pi / 2;
    for (int n = 1; n < 40; at -= 1.0 / n / n, half -= 1 / (n - 0.5) / (n - 0.5), n++) {
        near(tl__trigamma(n), at);
        near(tl__trigamma(n - 0.5), half);
    }
    near(tl__trigamma(-0.5), pi * pi / 2 + 4);
    near(tl__trigamma(-1.5), pi * pi / 2 + 4 + 4.0 / 9);
    assert_true(isinf(tl__trigamma(0)) && isinf(tl__trigamma(-3)));
}

static void the_others_have_theirs(void **state) {
    (void)state;
    for (double x = -0.999; x < 1; x += 0.037)
        near(erf(tl__erfinv(x)), x);
    assert_true(tl__erfinv(1) == INFINITY && tl__erfinv(-1) == -INFINITY && isnan(tl__erfinv(1.5)));
    near(tl__lgamma(0.5), log(pi) / 2);
    near(tl__lgamma(5), log(24));
    near(tl__lgamma(-0.5), log(2 * sqrt(pi)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digamma_has_its_values),
        cmocka_unit_test(trigamma_has_its_values),
        cmocka_unit_test(the_others_have_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
