/* text.c: values as strings, for format("{:>8.2}", x) and for holes of println that say how.
 *
 * How is one number, put together by the compiler:
 *
 *     bits 0–15 width    16–31 precision + 1 (0: none)    32–52 fill (0: blank)    53–54 alignment
 *     55 sign always     56 zeros in front     57 as the source would write it
 *     58 hexadecimal     59 binary (both: octal)
 *     60 exponent        61 capitals           62 `0x`, `0b` in front
 *
 * Widths count characters, as Rust does. A width beyond 1000 is not a mistake of a program; a text of a
 * megabyte per hole would be, so more than 16 bits are never asked for.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "runtime/state.h"
#include "runtime/value/display.h"
#include "runtime/value/objects.h"
#include "runtime/value/unicode.h"

enum { ALIGN_NONE, ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };

typedef struct how {
    uint32_t width;
    int precision; /* -1: none */
    uint32_t fill;
    int align;
    bool plus, zeros, debug, hexadecimal, binary, exponent, capitals, prefix;
} how;

static how how_of(int64_t spec) {
    uint64_t s = (uint64_t)spec;
    return (how){.width = s & 0xFFFF,
                 .precision = (int)((s >> 16) & 0xFFFF) - 1,
                 .fill = (s >> 32) & 0x1FFFFF,
                 .align = (s >> 53) & 3,
                 .plus = (s >> 55) & 1,
                 .zeros = (s >> 56) & 1,
                 .debug = (s >> 57) & 1,
                 .hexadecimal = (s >> 58) & 1,
                 .binary = (s >> 59) & 1,
                 .exponent = (s >> 60) & 1,
                 .capitals = (s >> 61) & 1,
                 .prefix = (s >> 62) & 1};
}

/* ---- characters ------------------------------------------------------------------------------ */

static uint32_t character_count(const char *text, size_t length) {
    uint32_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

static void put_fill(masu__buffer *out, uint32_t fill, uint32_t count) {
    char bytes[4] = " ";
    size_t length = fill ? tl__encode_utf8(fill, bytes) : 1;
    for (uint32_t i = 0; i < count; i++)
        masu__buffer_append(out, bytes, length);
}

/* sign_length bytes in front stay in front of zeros. */
static void put_padded(masu__buffer *out, const how *h, const char *text, size_t length, size_t sign_length,
                       int natural) {
    uint32_t count = character_count(text, length);
    uint32_t missing = h->width > count ? h->width - count : 0;
    if (h->zeros && natural == ALIGN_RIGHT) {
        masu__buffer_append(out, text, sign_length);
        for (uint32_t i = 0; i < missing; i++)
            masu__buffer_putc(out, '0');
        masu__buffer_append(out, text + sign_length, length - sign_length);
        return;
    }
    int align = h->align ? h->align : natural;
    uint32_t before = align == ALIGN_RIGHT ? missing : align == ALIGN_CENTER ? missing / 2 : 0;
    put_fill(out, h->fill, before);
    masu__buffer_append(out, text, length);
    put_fill(out, h->fill, missing - before);
}

static tl_object *number(const how *h, const char *text, size_t length) {
    masu__buffer out = {0};
    size_t sign = text[0] == '-' || text[0] == '+';
    if (text[sign] == '0' && (text[sign + 1] == 'x' || text[sign + 1] == 'b'))
        sign += 2;
    put_padded(&out, h, text, length, sign, ALIGN_RIGHT);
    return tl__string_of(&out);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static size_t put_digits(char *out, uint64_t v, uint64_t base, bool capitals) {
    char digits[65];
    size_t count = 0;
    do {
        digits[count++] = (capitals ? "0123456789ABCDEF" : "0123456789abcdef")[v % base];
        v /= base;
    } while (v > 0);
    for (size_t i = 0; i < count; i++)
        out[i] = digits[count - 1 - i];
    return count;
}

/* Rounds the first `kept` of `count` digits by those behind them, half to even. True: the number has a digit more. */
static bool round_digits(char *digits, size_t kept, size_t count) {
    bool half = digits[kept] == '5', up = digits[kept] > '5';
    for (size_t i = kept + 1; i < count; i++)
        up |= half && digits[i] != '0';
    if (!up && !(half && (digits[kept - 1] - '0') % 2 == 1))
        return false;
    size_t at = kept;
    while (at > 0 && digits[at - 1] == '9')
        digits[--at] = '0';
    if (at > 0)
        digits[at - 1]++;
    else
        digits[0] = '1';
    return at == 0;
}

/* 1200 is 1.2e3: all its digits but the zeros at the end, or as many as are asked for. */
static tl_object *integer_exponent(uint64_t magnitude, bool negative, const how *h) {
    masu__buffer out = {0};
    char digits[24];
    size_t count = put_digits(digits, magnitude, 10, false), exponent = count - 1;
    size_t wanted = h->precision < 0 ? count : (size_t)h->precision + 1;
    if (wanted < count)
        exponent += round_digits(digits, wanted, count);
    size_t kept = wanted < count ? wanted : count;
    while (h->precision < 0 && kept > 1 && digits[kept - 1] == '0')
        kept--;
    if (negative || h->plus)
        masu__buffer_putc(&out, negative ? '-' : '+');
    masu__buffer_putc(&out, digits[0]);
    if (kept > 1 || h->precision > 0)
        masu__buffer_putc(&out, '.');
    masu__buffer_append(&out, digits + 1, kept - 1);
    for (; h->precision > 0 && kept < wanted; kept++)
        masu__buffer_putc(&out, '0');
    masu__buffer_printf(&out, "%c%zu", h->capitals ? 'E' : 'e', exponent);
    tl_object *made = number(h, masu__buffer_text(&out), out.length);
    masu__buffer_destroy(&out);
    return made;
}

static tl_object *integer(uint64_t magnitude, bool negative, const how *h) {
    if (h->exponent)
        return integer_exponent(magnitude, negative, h);
    char text[80];
    size_t length = 0;
    if (negative || h->plus)
        text[length++] = negative ? '-' : '+';
    uint64_t base = h->hexadecimal && h->binary ? 8 : h->hexadecimal ? 16 : h->binary ? 2 : 10;
    if (h->prefix && base != 10) {
        text[length++] = '0';
        text[length++] = base == 16 ? 'x' : base == 8 ? 'o' : 'b';
    }
    length += put_digits(text + length, magnitude, base, h->capitals);
    text[length] = '\0';
    return number(h, text, length);
}

tl_object *tl_text_i64(int64_t v, int64_t spec) {
    how h = how_of(spec);
    if (h.hexadecimal || h.binary)
        return integer((uint64_t)v, false, &h);
    return integer(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0, &h);
}

tl_object *tl_text_u64(int64_t v, int64_t spec) {
    how h = how_of(spec);
    return integer((uint64_t)v, false, &h);
}

/* Rust's exponent has neither sign nor zeros: 1.5e3, 2e-7. */
static size_t tidy_exponent(char *text) {
    char *e = strpbrk(text, "eE");
    if (!e)
        return strlen(text);
    char *from = e + 1, *to = e + 1;
    if (*from == '-')
        *to++ = *from;
    from += *from == '-' || *from == '+';
    while (*from == '0' && from[1] != '\0')
        from++;
    memmove(to, from, strlen(from) + 1);
    return strlen(text);
}

/* {:?} of what has many zeros, as Rust shows it. */
static bool shows_exponent(double v, const how *h) {
    double size = v < 0 ? -v : v;
    return h->debug && h->precision < 0 && (size >= 1e16 || (size > 0 && size < 1e-4));
}

static tl_object *floating(double v, bool single, const how *h) {
    char body[TL_FLOAT_TEXT + 80];
    size_t length = 0;
    bool finite = v - v == 0;
    if (h->plus && v >= 0 && !signbit(v))
        body[length++] = '+';
    char *at = body + length;
    size_t room = sizeof body - length;
    if (!finite) {
        length += single ? tl__show_f32((float)v, at) : tl__show_f64(v, at);
    } else if (h->exponent || shows_exponent(v, h)) {
        if (h->precision >= 0)
            snprintf(at, room, "%.*e", h->precision > 60 ? 60 : h->precision, v);
        else
            for (int digits = 0; digits < 18; digits++) { /* the shortest that reads back */
                snprintf(at, room, "%.*e", digits, v);
                if (single ? strtof(at, NULL) == (float)v : strtod(at, NULL) == v)
                    break;
            }
        length += tidy_exponent(at);
        char *letter = strchr(at, 'e');
        if (h->capitals && letter)
            *letter = 'E';
    } else if (h->precision >= 0) {
        length += (size_t)snprintf(at, room, "%.*f", h->precision > 60 ? 60 : h->precision, v);
    } else {
        length += single ? tl__show_f32((float)v, at) : tl__show_f64(v, at);
        if (h->debug && !memchr(body, '.', length)) {
            memcpy(body + length, ".0", 2);
            length += 2;
        }
    }
    body[length] = '\0';
    return number(h, body, length);
}

tl_object *tl_text_f32(float v, int64_t spec) {
    how h = how_of(spec);
    return floating((double)v, true, &h);
}

tl_object *tl_text_f64(double v, int64_t spec) {
    how h = how_of(spec);
    return floating(v, false, &h);
}

/* ---- the others ------------------------------------------------------------------------------ */

tl_object *tl_text_bool(bool v, int64_t spec) {
    how h = how_of(spec);
    masu__buffer out = {0};
    put_padded(&out, &h, v ? "true" : "false", v ? 4 : 5, 0, ALIGN_LEFT);
    return tl__string_of(&out);
}

static void put_escaped(masu__buffer *out, const char *text, size_t length, char quote) {
    masu__buffer_putc(out, quote);
    for (size_t i = 0, bytes; i < length; i += bytes) {
        char c = text[i];
        uint32_t code = (uint32_t)tl__decode_utf8(text + i, length - i, &bytes);
        if (c == '\n' || c == '\t' || c == '\r')
            masu__buffer_printf(out, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        else if (c == '\\' || c == quote)
            masu__buffer_printf(out, "\\%c", c);
        else if (code == 0)
            masu__buffer_puts(out, "\\0");
        else if (tl__char_is(code, UNICODE_ESCAPED))
            masu__buffer_printf(out, "\\u{%x}", (unsigned)code);
        else
            masu__buffer_append(out, text + i, bytes);
    }
    masu__buffer_putc(out, quote);
}

static tl_object *text(const char *bytes, size_t length, const how *h, char quote) {
    masu__buffer out = {0};
    if (h->debug) { /* Rust keeps no width here */
        put_escaped(&out, bytes, length, quote);
        return tl__string_of(&out);
    }
    if (h->precision >= 0) { /* at most so many characters */
        size_t kept = 0;
        for (int left = h->precision; kept < length; kept++) {
            bool starts = ((unsigned char)bytes[kept] & 0xC0) != 0x80;
            if (starts && left-- == 0)
                break;
        }
        length = kept;
    }
    put_padded(&out, h, bytes, length, 0, ALIGN_LEFT);
    return tl__string_of(&out);
}

tl_object *tl_text_char(int32_t v, int64_t spec) {
    how h = how_of(spec);
    char bytes[4];
    const size_t length = tl__encode_utf8((uint32_t)v, bytes);
    tl_object *plain = NULL;
    if (spec != 0)
        return text(bytes, length, &h, '\'');
    masu_status status = tl__string_new(bytes, (int64_t)length, &plain);
    return tl__object_or_raise(status, plain);
}

tl_object *tl_text_string(tl_object *s, int64_t spec) {
    how h = how_of(spec);
    return text(tl__string_bytes(s), (size_t)tl__string_length(s), &h, '"');
}

tl_object *tl_text_tensor(tl_tensor *t, int64_t spec) {
    how h = how_of(spec);
    masu__buffer shown = {0}, out = {0};
    masu_status status = tl__tensor_text(t, h.precision, &shown);
    if (status != MASU_OK) {
        masu__buffer_destroy(&shown);
        return tl__object_or_raise(status, NULL);
    }
    put_padded(&out, &h, masu__buffer_text(&shown), shown.length, 0, t->rank == 0 ? ALIGN_RIGHT : ALIGN_LEFT);
    out.failed |= shown.failed;
    masu__buffer_destroy(&shown);
    return tl__string_of(&out);
}
