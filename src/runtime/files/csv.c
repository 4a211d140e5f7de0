/* csv.c: see csv.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/meta.h"
#include "runtime/files/csv.h"

void tl__csv_begin(tl__csv *c, const char *bytes, size_t length, char separator) {
    bool marked = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
    bytes += marked ? 3 : 0;
    *c = (tl__csv){.begin = bytes,
                   .record = bytes,
                   .at = bytes,
                   .end = bytes + (length - (marked ? 3 : 0)),
                   .separator = separator,
                   .line = 1};
}

void tl__csv_end(tl__csv *c) {
    masu__meta_free(c->fields, c->capacity * sizeof *c->fields);
    *c = (tl__csv){0};
}

/* ---- where something is wrong ------------------------------------------------------------------------------------ */

/* The record's first line is known; a field may be on a later one. */
static bool refuse_at(tl__csv *c, const char *at, const char *format, va_list arguments) {
    if (c->words[0] != '\0') /* the first mistake is said */
        return false;
    uint64_t line = c->line;
    const char *begin = c->record;
    for (const char *p = c->record; p < at; p++)
        if (*p == '\n') {
            line++;
            begin = p + 1;
        }
    size_t used = (size_t)snprintf(c->words, sizeof c->words, "line %llu, column %zu: ", (unsigned long long)line,
                                   (size_t)(at - begin) + 1);
    vsnprintf(c->words + used, sizeof c->words - used, format, arguments);
    return false;
}

static bool refuse_byte(tl__csv *c, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
static bool refuse_byte(tl__csv *c, const char *at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    refuse_at(c, at, format, arguments);
    va_end(arguments);
    return false;
}

bool tl__csv_refuse(tl__csv *c, size_t field, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    refuse_at(c, field < c->count ? c->fields[field].text - c->fields[field].quoted : c->record, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static bool add_field(tl__csv *c, tl__csv_field field) {
    if (c->count == c->capacity) {
        size_t larger = c->capacity ? 2 * c->capacity : 16;
        void *fields = masu__meta_realloc(c->fields, c->capacity * sizeof *c->fields, larger * sizeof *c->fields);
        c->out_of_memory = !fields;
        if (!fields)
            return false;
        c->fields = fields;
        c->capacity = larger;
    }
    c->fields[c->count++] = field;
    return true;
}

static const char *find_quote(const char *at, const char *end) {
    return memchr(at, '"', (size_t)(end - at));
}

/* at: behind the opening quote. Leaves *at behind the closing one. */
static bool read_quoted(tl__csv *c, const char **at) {
    tl__csv_field field = {.text = *at, .quoted = true};
    const char *quote = find_quote(*at, c->end);
    while (quote && quote + 1 < c->end && quote[1] == '"') {
        field.doubled = true;
        quote = find_quote(quote + 2, c->end);
    }
    if (!quote)
        return refuse_byte(c, *at - 1, "this quote is not closed");
    field.length = (size_t)(quote - *at);
    *at = quote + 1;
    return add_field(c, field);
}

static bool ends_field(const tl__csv *c, const char *at) {
    return at == c->end || *at == c->separator || *at == '\n' || (*at == '\r' && at + 1 < c->end && at[1] == '\n') ||
           (*at == '\r' && at + 1 == c->end);
}

static bool read_plain(tl__csv *c, const char **at) {
    const char *p = *at;
    while (p < c->end && *p != c->separator && *p != '\n' && *p != '"')
        p++;
    if (p < c->end && *p == '"')
        return refuse_byte(c, p, "a quote within a field that does not begin with one");
    size_t length = (size_t)(p - *at);
    if (length > 0 && p[-1] == '\r' && (p == c->end || *p == '\n'))
        length--;
    tl__csv_field field = {.text = *at, .length = length};
    *at = p;
    return add_field(c, field);
}

/* Behind a quoted field: what ends it; a line's end may begin with \r. */
static bool pass_end(tl__csv *c, const char **at) {
    if (!ends_field(c, *at))
        return refuse_byte(c, *at, "behind the closing quote a field ends");
    *at += *at < c->end && **at == '\r';
    return true;
}

static bool read_record(tl__csv *c) {
    const char *at = c->record;
    for (;;) {
        bool quoted = at < c->end && *at == '"';
        at += quoted;
        if (quoted ? !read_quoted(c, &at) || !pass_end(c, &at) : !read_plain(c, &at))
            return false;
        if (at == c->end || *at == '\n')
            break;
        at++;
    }
    c->at = at < c->end ? at + 1 : at;
    return true;
}

static uint64_t lines_between(const char *at, const char *end) {
    uint64_t lines = 0;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

bool tl__csv_next(tl__csv *c) {
    c->count = 0;
    if (c->words[0] != '\0' || c->out_of_memory)
        return false;
    c->line += lines_between(c->record, c->at);
    for (; c->at < c->end; c->line++) {
        size_t blank = *c->at == '\n' ? 1 : c->end - c->at > 1 && memcmp(c->at, "\r\n", 2) == 0 ? 2 : 0;
        if (blank == 0)
            break;
        c->at += blank;
    }
    c->record = c->at;
    return c->at < c->end && read_record(c);
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

bool tl__csv_is_missing(const tl__csv_field *field) {
    return field->length == 0 && !field->quoted;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static tl__csv_field trimmed(const tl__csv_field *field) {
    tl__csv_field f = *field;
    while (f.length > 0 && is_blank(f.text[0])) {
        f.text++;
        f.length--;
    }
    while (f.length > 0 && is_blank(f.text[f.length - 1]))
        f.length--;
    return f;
}

static inline bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

/* By the C library, which rounds correctly however long a number is. Its words are "inf", "infinity" and "nan"; no
 * hexadecimal. */
static bool read_slowly(const tl__csv_field *f, double *out) {
    char text[800], *end;
    if (f->length == 0 || f->length >= sizeof text)
        return false;
    memcpy(text, f->text, f->length);
    text[f->length] = '\0';
    for (size_t i = 0; i < f->length; i++)
        if (text[i] == 'x' || text[i] == 'X' || text[i] == '(' || text[i] == '\0')
            return false;
    *out = strtod(text, &end);
    return end == text + f->length && !is_blank(text[0]) && text[0] != '\n';
}

bool tl__csv_real(const tl__csv_field *field, double *out) {
    tl__csv_field f = trimmed(field);
    return masu__decimal_read(f.text, f.length, out) || read_slowly(&f, out);
}

bool tl__csv_whole(const tl__csv_field *field, int64_t *out) {
    tl__csv_field f = trimmed(field);
    const char *at = f.text, *end = f.text + f.length;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    int64_t value = 0;
    const char *first = at;
    for (; at < end && is_digit(*at); at++) {
        int64_t digit = negative ? -(*at - '0') : *at - '0';
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return at == end && at > first;
}
