/* json.c: see json.h. Anything that is no JSON ends a search: the value is then not there. */
#include "tool/json.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* Behind the value that begins at `at`. */
static const char *skip_value(const char *at, const char *end) {
    int depth = 0;
    do {
        at = skip_blanks(at, end);
        if (at >= end)
            return end;
        if (*at == '"') {
            at = skip_string(at, end);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (*at == ',' || *at == ':') {
            at++;
        } else {
            while (at < end && !strchr(",:]} \n\r\t", *at))
                at++;
        }
    } while (depth > 0);
    return at;
}

static json_value nothing(void) {
    return (json_value){NULL, NULL};
}

/* The member of an object, or the element of a list. */
static json_value member(json_value in, const char *key, size_t length) {
    if (!in.at)
        return nothing();
    const char *at = skip_blanks(in.at, in.end);
    bool list = at < in.end && *at == '[';
    if (at >= in.end || (*at != '{' && !list))
        return nothing();
    long wanted = strtol(key, NULL, 10);
    at = skip_blanks(at + 1, in.end);
    for (long i = 0; at < in.end && *at != '}' && *at != ']'; i++) {
        bool found = list && i == wanted;
        if (!list) {
            const char *name_end = skip_string(at, in.end);
            found = (size_t)(name_end - at) == length + 2 && memcmp(at + 1, key, length) == 0;
            at = skip_blanks(name_end, in.end);
            at = skip_blanks(at < in.end ? at + 1 : at, in.end);
        }
        const char *end = skip_value(at, in.end);
        if (found)
            return (json_value){at, end};
        if (end == at)
            break;
        at = skip_blanks(end, in.end);
        at = skip_blanks(at < in.end && *at == ',' ? at + 1 : at, in.end);
    }
    return nothing();
}

json_value json_find(json_value in, const char *path) {
    for (int depth = 0; *path && depth < DEPTH_MAX; depth++) {
        size_t length = strcspn(path, ".");
        in = member(in, path, length);
        path += length + (path[length] == '.');
    }
    return in;
}

int64_t json_number(json_value v, int64_t otherwise) {
    if (!v.at || v.at >= v.end || !strchr("-0123456789", *v.at))
        return otherwise;
    return strtoll(v.at, NULL, 10);
}

static void put_character(masu__buffer *out, unsigned c) {
    if (c < 0x80) {
        masu__buffer_putc(out, (char)c);
    } else if (c < 0x800) {
        masu__buffer_putc(out, (char)(0xC0 | c >> 6));
        masu__buffer_putc(out, (char)(0x80 | (c & 0x3F)));
    } else {
        masu__buffer_putc(out, (char)(0xE0 | c >> 12));
        masu__buffer_putc(out, (char)(0x80 | (c >> 6 & 0x3F)));
        masu__buffer_putc(out, (char)(0x80 | (c & 0x3F)));
    }
}

bool json_string(json_value v, masu__buffer *out) {
    if (!v.at || v.end - v.at < 2 || *v.at != '"')
        return false;
    for (const char *at = v.at + 1; at < v.end - 1; at++) {
        if (*at != '\\') {
            masu__buffer_putc(out, *at);
            continue;
        }
        static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
        const char *known = strchr(from, *++at);
        if (*at == 'u' && v.end - at > 5) {
            char digits[5] = {at[1], at[2], at[3], at[4], 0};
            put_character(out, (unsigned)strtoul(digits, NULL, 16));
            at += 4;
        } else {
            masu__buffer_putc(out, known && *at ? to[known - from] : *at);
        }
    }
    return !out->failed;
}

bool json_is(json_value v, const char *text) {
    size_t length = strlen(text);
    return v.at && (size_t)(v.end - v.at) == length + 2 && *v.at == '"' &&
           memcmp(v.at + 1, text, length) == 0;
}
