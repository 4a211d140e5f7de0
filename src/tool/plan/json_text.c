/* json_text.c: see json_text.h. */
#include "tool/plan/json_text.h"

#include <string.h>

enum { DEEPEST = 64 };

/* ---- places ---------------------------------------------------------------------------------- */

bool plan_json_expected(const json *j, size_t at, const char *what) {
    return plan_complain(j->reader, plan_place_at(j->reader, at), "expected %s", what);
}

bool plan_json_no_memory(json *j) {
    j->reader->out_of_memory = true;
    return false;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

char plan_json_peek(json *j) {
    const char *text = j->reader->text;
    while (j->at < j->reader->length && text[j->at] && strchr(" \t\r\n", text[j->at]))
        j->at++;
    return j->at < j->reader->length ? text[j->at] : 0;
}

bool plan_json_take(json *j, char c, const char *what) {
    if (plan_json_peek(j) != c)
        return plan_json_expected(j, j->at, what);
    j->at++;
    return true;
}

bool plan_json_string(json *j, json_span *out) {
    const char *text = j->reader->text;
    if (plan_json_peek(j) != '"')
        return plan_json_expected(j, j->at, "a string");
    out->begin = j->at;
    out->from = ++j->at;
    while (j->at < j->reader->length && text[j->at] != '"' && text[j->at] != '\n')
        j->at += text[j->at] == '\\' && j->at + 1 < j->reader->length ? 2 : 1;
    if (j->at >= j->reader->length || text[j->at] != '"')
        return plan_json_expected(j, out->begin, "a closing quote");
    out->length = j->at++ - out->from;
    return true;
}

static size_t skip_digits(json *j) {
    size_t from = j->at;
    while (j->at < j->reader->length && j->reader->text[j->at] >= '0' && j->reader->text[j->at] <= '9')
        j->at++;
    return j->at - from;
}

static bool skip_char(json *j, const char *any) {
    char c = j->at < j->reader->length ? j->reader->text[j->at] : 0;
    bool there = c && strchr(any, c);
    j->at += there;
    return there;
}

static bool plan_json_number(json *j, json_span *out) {
    plan_json_peek(j);
    out->begin = out->from = j->at;
    skip_char(j, "-");
    bool right = skip_digits(j) > 0;
    if (right && skip_char(j, "."))
        right = skip_digits(j) > 0;
    if (right && skip_char(j, "eE")) {
        skip_char(j, "+-");
        right = skip_digits(j) > 0;
    }
    out->length = j->at - out->from;
    return right || plan_json_expected(j, out->from, "a number");
}

bool plan_json_is(const json *j, json_span s, const char *word) {
    return strlen(word) == s.length && memcmp(j->reader->text + s.from, word, s.length) == 0;
}

bool plan_json_moment(json *j, int64_t *out) {
    json_span s;
    if (!plan_json_number(j, &s))
        return false;
    const char *at = j->reader->text + s.from, *end = at + s.length;
    bool negative = *at == '-';
    uint64_t size = 0;
    at += negative;
    if (at == end)
        return plan_json_expected(j, s.from, "a whole number");
    for (; at < end; at++)
        if (*at < '0' || *at > '9')
            return plan_json_expected(j, s.from, "a whole number");
        else if (__builtin_mul_overflow(size, 10, &size) ||
                 __builtin_add_overflow(size, (uint64_t)(*at - '0'), &size) || size > (uint64_t)INT64_MAX + negative)
            return plan_json_expected(j, s.from, "a number between -2^63 and 2^63");
    *out = (int64_t)(negative ? 0 - size : size);
    return true;
}

bool plan_json_bytes(json *j, uint64_t *out) {
    int64_t value;
    plan_json_peek(j);
    size_t at = j->at;
    if (!plan_json_moment(j, &value))
        return false;
    if (value < 0)
        return plan_json_expected(j, at, "a whole number of bytes, not negative");
    *out = (uint64_t)value;
    return true;
}

/* ---- skipping -------------------------------------------------------------------------------- */

static bool skip_value(json *j, int depth);

static bool skip_list(json *j, char close, bool named, int depth) {
    json_span name;
    j->at++;
    if (plan_json_peek(j) == close) {
        j->at++;
        return true;
    }
    do {
        if (named && (!plan_json_string(j, &name) || !plan_json_take(j, ':', "a colon")))
            return false;
        if (!skip_value(j, depth + 1))
            return false;
    } while (plan_json_peek(j) == ',' && j->at++ < j->reader->length);
    return plan_json_take(j, close, close == ']' ? "a comma or ]" : "a comma or }");
}

static bool skip_value(json *j, int depth) {
    json_span s;
    if (depth > DEEPEST)
        return plan_json_expected(j, j->at, "less nesting");
    switch (plan_json_peek(j)) {
    case '{':
        return skip_list(j, '}', true, depth);
    case '[':
        return skip_list(j, ']', false, depth);
    case '"':
        return plan_json_string(j, &s);
    default:
        break;
    }
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++)
        if (j->reader->length - j->at >= strlen(words[i]) &&
            memcmp(j->reader->text + j->at, words[i], strlen(words[i])) == 0) {
            j->at += strlen(words[i]);
            return true;
        }
    return plan_json_number(j, &s);
}

bool plan_json_skip(json *j) {
    return skip_value(j, 0);
}

bool plan_json_each_member(json *j, json_member member, void *context) {
    json_span name;
    if (!plan_json_take(j, '{', "an object"))
        return false;
    if (plan_json_peek(j) == '}') {
        j->at++;
        return true;
    }
    do {
        if (!plan_json_string(j, &name) || !plan_json_take(j, ':', "a colon") || !member(j, name, context))
            return false;
    } while (plan_json_peek(j) == ',' && j->at++ < j->reader->length);
    return plan_json_take(j, '}', "a comma or }");
}

bool plan_json_each_element(json *j, json_element element, void *context) {
    if (!plan_json_take(j, '[', "a list"))
        return false;
    if (plan_json_peek(j) == ']') {
        j->at++;
        return true;
    }
    do {
        if (!element(j, context))
            return false;
    } while (plan_json_peek(j) == ',' && j->at++ < j->reader->length);
    return plan_json_take(j, ']', "a comma or ]");
}

/* ---- ids -------------------------------------------------------------------------------------- */

static int hex_of(char c) {
    const char *digits = "0123456789abcdef", *at = strchr(digits, c | ('A' <= c && c <= 'F') << 5);
    return c && at ? (int)(at - digits) : -1;
}

/* The four digits at text as UTF-8; 0: they are none, or not a character by themselves. */
static size_t put_code(const char *text, size_t length, char *out) {
    unsigned code = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = i < length ? hex_of(text[i]) : -1;
        if (digit < 0)
            return 0;
        code = code * 16 + (unsigned)digit;
    }
    if (code == 0 || (code >= 0xD800 && code < 0xE000))
        return 0;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t count = code < 0x800 ? 2 : 3;
    for (size_t i = count; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((count == 2 ? 0xC0 : 0xE0) | code);
    return count;
}

/* Escapes as what they mean, in place. 0: one is wrong. Never longer than it was. */
static size_t unescape(char *text, size_t length) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    size_t kept = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '\\') {
            text[kept++] = text[i];
            continue;
        }
        if (++i == length)
            return 0;
        const char *name = strchr(names, text[i]);
        if (name) {
            text[kept++] = meanings[name - names];
            continue;
        }
        size_t count = text[i] == 'u' ? put_code(text + i + 1, length - i - 1, text + kept) : 0;
        if (count == 0)
            return 0;
        kept += count;
        i += 4;
    }
    return kept;
}

/* An id may be a string or a number. */
bool plan_json_id(json *j, const char **out) {
    json_span s;
    bool quoted = plan_json_peek(j) == '"';
    if (quoted ? !plan_json_string(j, &s) : !plan_json_number(j, &s))
        return false;
    char *copy = masu__arena_strndup(&j->reader->table->arena, j->reader->text + s.from, s.length);
    if (!copy)
        return plan_json_no_memory(j);
    size_t length = quoted ? unescape(copy, s.length) : s.length;
    if (length == 0)
        return plan_json_expected(j, s.begin, s.length ? "escapes of JSON, without surrogates" : "an id");
    copy[length] = 0;
    *out = copy;
    return true;
}
