/* decimal.c: at most 19 digits that are a whole number up to 2^53, times or by a power of ten that a double holds
 * exactly: then one operation gives the value, and IEEE 754 rounds that correctly. */
#include <stdint.h>

#include "base/decimal.h"

enum { MOST_DIGITS = 19, MOST_POWER = 22, ANY_POWER = 10000 };

static const double powers[MOST_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

/* Behind the e; false: no digit is there. */
static bool read_exponent(const char **at, const char *end, int *exponent) {
    bool down = *at < end && **at == '-';
    *at += *at < end && (**at == '-' || **at == '+');
    if (*at == end || !is_digit(**at))
        return false;
    int power = 0;
    for (; *at < end && is_digit(**at); (*at)++)
        power = power < ANY_POWER ? power * 10 + (**at - '0') : power;
    *exponent += down ? -power : power;
    return true;
}

bool masu__decimal_read(const char *text, size_t length, double *out) {
    const char *at = text, *end = text + length;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    uint64_t digits = 0;
    int count = 0, exponent = 0;
    for (; at < end && is_digit(*at); at++, count++)
        digits = digits * 10 + (uint64_t)(*at - '0');
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at); at++, count++, exponent--)
            digits = digits * 10 + (uint64_t)(*at - '0');
    if (count == 0 || count > MOST_DIGITS || digits > UINT64_C(1) << 53)
        return false;
    if (at < end && (*at == 'e' || *at == 'E') && (at++, !read_exponent(&at, end, &exponent)))
        return false;
    if (at != end || exponent < -MOST_POWER || exponent > MOST_POWER)
        return false;
    double value = exponent < 0 ? (double)digits / powers[-exponent] : (double)digits * powers[exponent];
    *out = negative ? -value : value;
    return true;
}
