/* unicode.c: see unicode.h. The tables are rows of unicode.def, which scripts/unicode.rs writes.
 *
 *     range   first, first + step, …, last          found by halving: ranges of one table do not cross
 *
 * What must stay true: the ranges of a table rise, and their lasts too; ASCII is in none of them and is asked first.
 */
#include "runtime/value/unicode.h"

#include <inttypes.h>

#include "runtime/state.h"

typedef struct range {
    uint32_t first, last, step;
    int32_t add; /* to the capital or small letter; else 0 */
} range;

typedef struct letters {
    uint32_t of, are[UNICODE_CASE_MAX]; /* 0: no further one */
} letters;

#define ALPHABETIC(first, last, step) {first, last, step, 0},
static const range alphabetic[] = {
#include "runtime/value/unicode.def"
};

#define NUMERIC(first, last, step) {first, last, step, 0},
static const range numeric[] = {
#include "runtime/value/unicode.def"
};

#define LOWERCASE(first, last, step) {first, last, step, 0},
static const range lowercase[] = {
#include "runtime/value/unicode.def"
};

#define UPPERCASE(first, last, step) {first, last, step, 0},
static const range uppercase[] = {
#include "runtime/value/unicode.def"
};

#define ESCAPED(first, last, step) {first, last, step, 0},
static const range escaped[] = {
#include "runtime/value/unicode.def"
};

#define TO_UPPER(first, last, step, add) {first, last, step, add},
static const range to_upper[] = {
#include "runtime/value/unicode.def"
};

#define TO_LOWER(first, last, step, add) {first, last, step, add},
static const range to_lower[] = {
#include "runtime/value/unicode.def"
};

#define LONG_UPPER(of, a, b, c) {of, {a, b, c}},
static const letters long_upper[] = {
#include "runtime/value/unicode.def"
};

#define LONG_LOWER(of, a, b, c) {of, {a, b, c}},
static const letters long_lower[] = {
#include "runtime/value/unicode.def"
};

#define CASE_IGNORED(first, last, step) {first, last, step, 0},
static const range case_ignored[] = {
#include "runtime/value/unicode.def"
};

#define CASED(first, last, step) {first, last, step, 0},
static const range cased[] = {
#include "runtime/value/unicode.def"
};

static const range white[] = {{0x85, 0x85, 1, 0},     {0xA0, 0xA0, 1, 0},     {0x1680, 0x1680, 1, 0},
                              {0x2000, 0x200A, 1, 0}, {0x2028, 0x2029, 1, 0}, {0x202F, 0x202F, 1, 0},
                              {0x205F, 0x205F, 1, 0}, {0x3000, 0x3000, 1, 0}};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const range *range_of(const range *table, size_t count, uint32_t c) {
    size_t low = 0, high = count; /* what is before low ends before c, what is from high on begins behind it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle].last < c)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && table[low].first <= c; low++) /* ranges of step 2 may lie in each other */
        if (c <= table[low].last && (c - table[low].first) % table[low].step == 0)
            return &table[low];
    return NULL;
}

static bool is_ascii_of(uint32_t c, unicode_kind kind) {
    bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z';
    switch (kind) {
    case UNICODE_ALPHABETIC:
        return lower || upper;
    case UNICODE_NUMERIC:
        return c >= '0' && c <= '9';
    case UNICODE_LOWERCASE:
        return lower;
    case UNICODE_UPPERCASE:
        return upper;
    case UNICODE_ESCAPED:
        return c < ' ' || c == 0x7F;
    default:
        return c == ' ' || (c >= '\t' && c <= '\r');
    }
}

bool tl__char_is(uint32_t c, unicode_kind kind) {
    static const struct {
        const range *table;
        size_t count;
    } tables[UNICODE_KINDS] = {[UNICODE_ALPHABETIC] = {alphabetic, COUNT(alphabetic)},
                               [UNICODE_NUMERIC] = {numeric, COUNT(numeric)},
                               [UNICODE_LOWERCASE] = {lowercase, COUNT(lowercase)},
                               [UNICODE_UPPERCASE] = {uppercase, COUNT(uppercase)},
                               [UNICODE_WHITE] = {white, COUNT(white)},
                               [UNICODE_ESCAPED] = {escaped, COUNT(escaped)}};
    return c < 0x80 ? is_ascii_of(c, kind) : range_of(tables[kind].table, tables[kind].count, c) != NULL;
}

size_t tl__char_case(uint32_t c, bool upper, uint32_t out[UNICODE_CASE_MAX]) {
    out[0] = c;
    if (c < 0x80) {
        out[0] += is_ascii_of(c, upper ? UNICODE_LOWERCASE : UNICODE_UPPERCASE) ? (upper ? 'A' - 'a' : 'a' - 'A') : 0;
        return 1;
    }
    const letters *several = upper ? long_upper : long_lower;
    for (size_t i = 0, count = upper ? COUNT(long_upper) : COUNT(long_lower); i < count && several[i].of <= c; i++) {
        size_t length = 0;
        while (several[i].of == c && length < UNICODE_CASE_MAX && several[i].are[length] != 0) {
            out[length] = several[i].are[length];
            length++;
        }
        if (length > 0)
            return length;
    }
    const range *r = upper ? range_of(to_upper, COUNT(to_upper), c) : range_of(to_lower, COUNT(to_lower), c);
    out[0] = r != NULL ? (uint32_t)((int64_t)c + r->add) : c;
    return 1;
}

bool tl__char_is_ignored(uint32_t c) {
    return c < 0x80 ? c == '\'' || c == '.' || c == ':' || c == '^' || c == '`'
                    : range_of(case_ignored, COUNT(case_ignored), c) != NULL;
}

bool tl__char_is_cased(uint32_t c) {
    return tl__char_is(c, UNICODE_LOWERCASE) || tl__char_is(c, UNICODE_UPPERCASE) ||
           (c >= 0x80 && range_of(cased, COUNT(cased), c) != NULL);
}

int32_t tl__decode_utf8(const char *at, size_t left, size_t *length) {
    unsigned char lead = (unsigned char)at[0];
    *length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (*length > left || (lead >= 0x80 && lead < 0xC0)) {
        *length = 1;
        return 0xFFFD;
    }
    uint32_t c = *length == 1 ? lead : lead & (0x7Fu >> *length);
    for (size_t i = 1; i < *length; i++)
        c = (c << 6) | ((unsigned char)at[i] & 0x3F);
    return (int32_t)c;
}

/* ---- what compiled code calls ------------------------------------------------------------------------------------ */

bool tl_char_is(int32_t c, int64_t kind) {
    return kind >= 0 && kind < UNICODE_KINDS && tl__char_is((uint32_t)c, (unicode_kind)kind);
}

/* The letters in 21 bits each, the first lowest; 0 behind the last. */
int64_t tl_char_case(int32_t c, bool upper) {
    uint32_t out[UNICODE_CASE_MAX];
    size_t count = tl__char_case((uint32_t)c, upper, out);
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= (uint64_t)out[i] << (21 * i);
    return (int64_t)all;
}
