/* display.c: the shortest decimal that reads back as the same float.
 *
 * For rising numbers of digits the C library rounds correctly and reads back; the first length that gives the
 * same float is the shortest. One case is missed by that: just above a power of two floats lie twice as far
 * apart as below it, so the correctly rounded decimal may fall out on the near side while its upper neighbour, on
 * the far side, still reads back. So for powers of two the neighbour is tried as well.
 */
#include "runtime/value/display.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0.d1 d2 d3 … * 10^point */
typedef struct decimal {
    char digits[20];
    int count;
    int point;
} decimal;

enum { F32_DIGITS = 9, F64_DIGITS = 17 };

/* value > 0, finite. Only the digits are taken: the decimal point may be any character. */
static decimal round_to(double value, int count) {
    char text[48];
    decimal d = {.count = count};
    int length = snprintf(text, sizeof text, "%.*e", count - 1, value);
    const char *exponent = memchr(text, 'e', (size_t)length);
    int taken = 0;
    for (const char *at = text; at < exponent && taken < count; at++)
        if (*at >= '0' && *at <= '9')
            d.digits[taken++] = *at;
    d.point = 1 + atoi(exponent + 1);
    return d;
}

/* One more in the last place. */
static decimal next_up(decimal d) {
    int i = d.count - 1;
    while (i >= 0 && d.digits[i] == '9')
        d.digits[i--] = '0';
    if (i >= 0) {
        d.digits[i]++;
        return d;
    }
    memmove(d.digits + 1, d.digits, (size_t)d.count - 1);
    d.digits[0] = '1';
    d.point++;
    return d;
}

static bool reads_back(const decimal *d, double value, bool single) {
    char text[48];
    snprintf(text, sizeof text, "%.*se%d", d->count, d->digits, d->point - d->count);
    return single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

static bool is_power_of_two(double value) {
    int exponent;
    return frexp(value, &exponent) == 0.5;
}

static decimal shortest(double value, bool single) {
    int most = single ? F32_DIGITS : F64_DIGITS;
    bool lopsided = is_power_of_two(value);
    for (int count = 1; count < most; count++) {
        decimal d = round_to(value, count);
        if (reads_back(&d, value, single))
            return d;
        decimal up = next_up(d);
        if (lopsided && reads_back(&up, value, single))
            return up;
    }
    return round_to(value, most);
}

static size_t put_zeros(char *text, int count) {
    memset(text, '0', (size_t)count);
    return (size_t)count;
}

static size_t put_decimal(decimal d, char *text) {
    size_t length = 0;
    while (d.count > 1 && d.digits[d.count - 1] == '0')
        d.count--;
    if (d.point <= 0) {
        text[length++] = '0';
        text[length++] = '.';
        length += put_zeros(text + length, -d.point);
        memcpy(text + length, d.digits, (size_t)d.count);
        return length + (size_t)d.count;
    }
    int whole = d.point < d.count ? d.point : d.count;
    memcpy(text, d.digits, (size_t)whole);
    length += (size_t)whole;
    length += put_zeros(text + length, d.point - whole);
    if (whole == d.count)
        return length;
    text[length++] = '.';
    memcpy(text + length, d.digits + whole, (size_t)(d.count - whole));
    return length + (size_t)(d.count - whole);
}

static size_t put_special(double value, char *text) {
    const char *word = isnan(value) ? "NaN" : value < 0 ? "-inf" : "inf";
    size_t length = strlen(word);
    memcpy(text, word, length + 1);
    return length;
}

static size_t show(double value, bool single, char *text) {
    size_t length = 0;
    if (!isfinite(value))
        return put_special(value, text);
    if (signbit(value))
        text[length++] = '-';
    if (value == 0)
        text[length++] = '0';
    else
        length += put_decimal(shortest(fabs(value), single), text + length);
    text[length] = '\0';
    return length;
}

size_t tl__show_f32(float value, char text[TL_FLOAT_TEXT]) {
    return show((double)value, true, text);
}

size_t tl__show_f64(double value, char text[TL_FLOAT_TEXT]) {
    return show(value, false, text);
}

size_t tl__show_fixed(double value, char text[TL_FLOAT_TEXT]) {
    if (!isfinite(value))
        return put_special(value, text);
    return (size_t)snprintf(text, TL_FLOAT_TEXT, "%.4f", value);
}
