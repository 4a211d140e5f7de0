/* embed_text.c: masu_embed's texts and lists: buffers that grow, names by number, the words of a text. */
#include "embed.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

name *names;
int name_count;
static int name_capacity;

void fail(const reader *r, const char *what) {
    fprintf(stderr, "%s:%d: %s\n", r->path, r->line, what);
    exit(1);
}

void put_bytes(buffer *b, const char *text, size_t length) {
    if (b->length + length + 1 > b->capacity) {
        b->capacity = 2 * (b->length + length) + 1024;
        b->text = realloc(b->text, b->capacity);
        if (!b->text)
            exit(1);
    }
    memcpy(b->text + b->length, text, length);
    b->length += length;
    b->text[b->length] = 0;
}

void put(buffer *b, const char *format, ...) {
    char text[4 * TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        exit(1);
    put_bytes(b, text, (size_t)length);
}

void put_quoted(buffer *b, const char *text, size_t length) {
    put_bytes(b, "\"", 1);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\n')
            put_bytes(b, i + 1 < length ? "\\n\"\n    \"" : "\\n", i + 1 < length ? 9 : 2);
        else if (text[i] == '"' || text[i] == '\\')
            put(b, "\\%c", text[i]);
        else
            put_bytes(b, text + i, 1);
    put_bytes(b, "\"", 1);
}

void *room(void *items, int count, int *capacity, size_t size) {
    if (count < *capacity)
        return items;
    *capacity = 2 * *capacity + 64;
    items = realloc(items, (size_t)*capacity * size);
    if (!items)
        exit(1);
    return items;
}

void add_number(number_list *l, int number) {
    for (int i = 0; i < l->count; i++)
        if (l->items[i] == number)
            return;
    l->items = room(l->items, l->count, &l->capacity, sizeof *l->items);
    l->items[l->count++] = number;
}

int name_of(const char *text, size_t length) {
    for (int i = 0; i < name_count; i++)
        if (strlen(names[i].text) == length && memcmp(names[i].text, text, length) == 0)
            return i;
    names = room(names, name_count, &name_capacity, sizeof *names);
    names[name_count] = (name){.text = strndup(text, length)};
    return name_count++;
}

/* The words between blanks; the text must outlive them. */
int split(const reader *r, char *text, char **words) {
    int count = 0;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        if (count + 1 == WORDS_MAX)
            fail(r, "too many words");
        words[count++] = word;
    }
    words[count] = NULL;
    return count;
}

/* ---- what a text asks for ------------------------------------------------------------------------------------- */

/* Behind the literal that begins here; at itself: none does. */
static const char *behind_literal(const char *at, const char *end) {
    const char *to = at + 1;
    if (*at == '\'' && to < end && (*to == '\\' || (to + 1 < end && to[1] == '\''))) {
        for (to += *to == '\\'; to < end && *to != '\'';)
            to++;
        return to + 1;
    }
    if (*at != '"')
        return at;
    while (to < end && *to != '"')
        to += *to == '\\' ? 2 : 1;
    return to + 1;
}

/* Also the i8 of 1i8. */
void add_words(const char *text, size_t length, number_list *out) {
    for (const char *at = text, *end = text + length; at < end;) {
        const char *to = behind_literal(at, end);
        if (to != at) {
            at = to;
            continue;
        }
        while (isdigit((unsigned char)*at))
            at++;
        for (to = at; to < end && (isalnum((unsigned char)*to) || *to == '_');)
            to++;
        if (to > at)
            add_number(out, name_of(at, (size_t)(to - at)));
        at = to > at ? to : at + 1;
    }
}

/* Of `<I, F: Fn(I::Item) -> U>` the last `>` closes. */
const char *skip_generics(const char *at) {
    int depth = 0;
    do {
        bool arrow = *at == '>' && at[-1] == '-';
        depth += *at == '<' ? 1 : *at == '>' && !arrow ? -1 : 0;
        at += depth > 0 || *at == '>';
    } while (depth > 0 && *at);
    return at + strspn(at, " ");
}

size_t word_length(const char *at) {
    return strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
}
