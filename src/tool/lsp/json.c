/* json.c: see json.h. Anything that is no JSON ends a search: the value is then not there. */
#include "tool/lsp/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, VALID_DEPTH_MAX = 200 };

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
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    masu__buffer_putc(out, (char)(leads[more] | c >> (6 * more)));
    while (more-- > 0)
        masu__buffer_putc(out, (char)(0x80 | (c >> (6 * more) & 0x3F)));
}

/* Four hexadecimal digits; -1: they are none. */
static int unit_at(const char *at, const char *end) {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        if (at + i >= end || !isxdigit((unsigned char)at[i]))
            return -1;
        char digit[2] = {at[i], 0};
        unit = unit * 16 + (int)strtol(digit, NULL, 16);
    }
    return unit;
}

/* at: behind the u of an escape. A pair of surrogates is one character; half of one is none. Returns where it goes
 * on. */
static const char *put_unit(masu__buffer *out, const char *at, const char *end) {
    int unit = unit_at(at, end), low = -1;
    if (unit < 0)
        return at;
    if (unit >= 0xD800 && unit < 0xDC00 && at + 6 < end && at[4] == '\\' && at[5] == 'u')
        low = unit_at(at + 6, end);
    if (low >= 0xDC00 && low < 0xE000) {
        put_character(out, 0x10000 + ((unsigned)(unit - 0xD800) << 10) + (unsigned)(low - 0xDC00));
        return at + 10;
    }
    put_character(out, unit >= 0xD800 && unit < 0xE000 ? 0xFFFD : (unsigned)unit);
    return at + 4;
}

bool json_string(json_value v, masu__buffer *out) {
    if (!v.at || v.end - v.at < 2 || *v.at != '"')
        return false;
    for (const char *at = v.at + 1; at < v.end - 1;) {
        static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
        if (*at != '\\') {
            masu__buffer_putc(out, *at++);
            continue;
        }
        at++;
        const char *known = *at ? strchr(from, *at) : NULL;
        if (*at == 'u') {
            at = put_unit(out, at + 1, v.end - 1);
        } else {
            masu__buffer_putc(out, known ? to[known - from] : *at);
            at++;
        }
    }
    return !out->failed;
}

/* ---- validity -------------------------------------------------------------------------------- */

static const char *valid_value(const char *at, const char *end, int depth);

static const char *valid_string(const char *at, const char *end) {
    if (at >= end || *at != '"')
        return NULL;
    for (at++; at < end && *at != '"'; at++) {
        if ((unsigned char)*at < 0x20 && *at != '\t')
            return NULL;
        if (*at == '\\' && (++at >= end || !strchr("\"\\/bfnrtu", *at) || !*at))
            return NULL;
    }
    return at < end ? at + 1 : NULL;
}

static const char *valid_number(const char *at, const char *end) {
    const char *from = at;
    while (at < end && *at && strchr("-+.0123456789eE", *at))
        at++;
    return at > from ? at : NULL;
}

static const char *valid_word(const char *at, const char *end) {
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - at) >= length && memcmp(at, words[i], length) == 0)
            return at + length;
    }
    return NULL;
}

/* Members or elements up to the closing bracket. */
static const char *valid_list(const char *at, const char *end, int depth) {
    char close = *at == '{' ? '}' : ']';
    at = skip_blanks(at + 1, end);
    if (at < end && *at == close)
        return at + 1;
    while (at) {
        if (close == '}') {
            at = valid_string(at, end);
            at = at ? skip_blanks(at, end) : NULL;
            if (!at || at >= end || *at != ':')
                return NULL;
            at = skip_blanks(at + 1, end);
        }
        at = valid_value(at, end, depth + 1);
        at = at ? skip_blanks(at, end) : NULL;
        if (!at || at >= end)
            return NULL;
        if (*at == close)
            return at + 1;
        if (*at != ',')
            return NULL;
        at = skip_blanks(at + 1, end);
    }
    return NULL;
}

/* Behind the value, NULL when there is none. */
static const char *valid_value(const char *at, const char *end, int depth) {
    if (at >= end || depth > VALID_DEPTH_MAX)
        return NULL;
    switch (*at) {
    case '{':
    case '[':
        return valid_list(at, end, depth);
    case '"':
        return valid_string(at, end);
    case 't':
    case 'f':
    case 'n':
        return valid_word(at, end);
    default:
        return valid_number(at, end);
    }
}

bool json_valid(json_value v) {
    if (!v.at)
        return false;
    const char *behind = valid_value(skip_blanks(v.at, v.end), v.end, 0);
    return behind && skip_blanks(behind, v.end) == v.end;
}

bool json_is(json_value v, const char *text) {
    size_t length = strlen(text);
    return v.at && (size_t)(v.end - v.at) == length + 2 && *v.at == '"' && memcmp(v.at + 1, text, length) == 0;
}
