/* special.c: see special.h. Relative errors stay below 1e-13 where the value is not next to 0. */
#include "runtime/ops/special.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

double tl__erfinv(double x) {
    if (!(fabs(x) < 1))
        return x == 1 ? INFINITY : x == -1 ? -INFINITY : NAN;
    const double a = 0.147, l = log1p(-x * x), half = 2 / (pi * a) + l / 2;
    double y = copysign(sqrt(sqrt(half * half - l / a) - half), x);
    for (int i = 0; i < 3; i++) {
        /* next to 1 the difference is taken of the complements, which keep their digits */
        double miss = x > 0.5 ? (1 - x) - erfc(y) : x < -0.5 ? erfc(-y) - (1 + x) : erf(y) - x;
        double step = miss * 0.88622692545275801365 * exp(y * y);
        y -= step / (1 + y * step);
    }
    return y;
}

double tl__lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

double tl__digamma(double x) {
    double below = 0;
    if (x <= 0)
        return x == floor(x) ? (x == 0 ? copysign(INFINITY, -x) : NAN) : tl__digamma(1 - x) - pi / tan(pi * x);
    for (; x < 10; x++)
        below += 1 / x;
    double s = 1 / (x * x);
    double series = s * (1.0 / 12 -
                         s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * 691.0 / 32760)))));
    return log(x) - 0.5 / x - series - below;
}

double tl__trigamma(double x) {
    double below = 0;
    if (x <= 0) {
        double sine = pi / sin(pi * x);
        return x == floor(x) ? INFINITY : sine * sine - tl__trigamma(1 - x);
    }
    for (; x < 10; x++)
        below += 1 / (x * x);
    double s = 1 / (x * x);
    double series = s *
                    (1.0 / 6 - s * (1.0 / 30 - s * (1.0 / 42 - s * (1.0 / 30 - s * (5.0 / 66 - s * 691.0 / 2730)))));
    return below + 1 / x + s / 2 + series / x;
}
