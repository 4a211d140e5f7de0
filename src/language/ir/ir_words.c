/* ir_words.c: see ir_words.h. */
#include "language/ir/ir_words.h"
#include "language/ir/store.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void words_fail(words *w, const char *wanted) {
    if (w->failed)
        return;
    w->failed = true;
    unsigned line = 1;
    for (const char *c = w->text; c < w->at; c++)
        line += *c == '\n';
    masu__buffer_printf(w->error, "line %u: expected %s before \"%.20s\"\n", line, wanted, w->at);
}

void words_skip(words *w) {
    for (;;) {
        while (isspace((unsigned char)*w->at))
            w->at++;
        if (*w->at != ';')
            return;
        while (*w->at && *w->at != '\n')
            w->at++;
    }
}

bool words_try(words *w, const char *text) {
    words_skip(w);
    size_t length = strlen(text);
    if (w->failed || strncmp(w->at, text, length) != 0)
        return false;
    w->at += length;
    return true;
}

void words_need(words *w, const char *text) {
    if (!words_try(w, text))
        words_fail(w, text);
}

static bool in_word(char c, const char *more) {
    return isalnum((unsigned char)c) || c == '_' || (c && strchr(more, c));
}

bool words_try_word(words *w, const char *word) {
    const char *before = w->at;
    if (words_try(w, word) && !in_word(*w->at, ""))
        return true;
    w->at = before;
    return false;
}

/* A run of letters, digits, _ and the characters in `more`; "" at an error. */
const char *words_read(words *w, const char *more, const char *what) {
    words_skip(w);
    const char *start = w->at;
    while (in_word(*w->at, more))
        w->at++;
    if (w->at == start)
        words_fail(w, what);
    char *copy = masu__arena_strndup(w->m->arena, start, (size_t)(w->at - start));
    if (!copy)
        w->m->out_of_memory = w->failed = true;
    return copy ? copy : "";
}

/* A function's or kernel's name: everything up to a blank or an opening parenthesis. */
const char *words_name(words *w) {
    return words_read(w, ":.{}<>[]*$#", "a name");
}

int64_t words_int(words *w) {
    words_skip(w);
    char *end = NULL;
    long long v = strtoll(w->at, &end, 10);
    if (end == w->at)
        words_fail(w, "a number");
    w->at = end;
    return v;
}

double words_float(words *w) {
    words_skip(w);
    char *end = NULL;
    double v = strtod(w->at, &end);
    if (end == w->at)
        words_fail(w, "a number");
    w->at = end;
    return v;
}

static int hex_digit(char c) {
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

const char *words_bytes(words *w, size_t *length) {
    words_need(w, "\"");
    char *data = w->failed ? NULL : ir_alloc(w->m, strlen(w->at) + 1, 1);
    size_t n = 0;
    while (data && *w->at && *w->at != '"') {
        char c = *w->at++;
        if (c == '\\' && *w->at == 'x' && hex_digit(w->at[1]) >= 0 && hex_digit(w->at[2]) >= 0) {
            c = (char)(hex_digit(w->at[1]) * 16 + hex_digit(w->at[2]));
            w->at += 3;
        } else if (c == '\\' && *w->at) {
            c = *w->at++;
        }
        data[n++] = c;
    }
    *length = n;
    words_need(w, "\"");
    return data;
}
