/* minimise.c: see minimise.h.
 *
 *     let a = …;                one line
 *     if c {   ┐                a line that ends in { belongs to the } that closes it:
 *         …    │ a block        removed with what is inside, or without it
 *     }        ┘
 *     (a + b)                   replaced by a, by b
 *
 * Rounds of ever smaller runs of lines, then blocks, then parentheses, until a whole round changes nothing.
 */
#include "minimise.h"

#include <string.h>

typedef struct attempt {
    masu__buffer *text;
    minimise_test test;
    void *context;
    int left;
} attempt;

/* Keeps candidate when it still fails. */
static bool tried(attempt *a, masu__buffer *candidate) {
    bool kept = false;
    if (a->left > 0 && !candidate->failed && candidate->length < a->text->length) {
        a->left--;
        kept = a->test(masu__buffer_text(candidate), candidate->length, a->context);
    }
    if (kept) {
        masu__buffer_destroy(a->text);
        *a->text = *candidate;
    } else {
        masu__buffer_destroy(candidate);
    }
    *candidate = (masu__buffer){0};
    return kept;
}

static bool without(attempt *a, size_t from, size_t to) {
    masu__buffer candidate = {0};
    const char *text = masu__buffer_text(a->text);
    masu__buffer_append(&candidate, text, from);
    masu__buffer_append(&candidate, text + to, a->text->length - to);
    return tried(a, &candidate);
}

/* ---- lines ---------------------------------------------------------------------------------------- */

static size_t line_end(const masu__buffer *text, size_t at) {
    const char *end = at < text->length ? memchr(text->data + at, '\n', text->length - at) : NULL;
    return end ? (size_t)(end - text->data) + 1 : text->length;
}

static size_t lines_end(const masu__buffer *text, size_t at, size_t lines) {
    while (lines-- > 0)
        at = line_end(text, at);
    return at;
}

static bool remove_lines(attempt *a, size_t lines) {
    bool changed = false;
    for (size_t at = 0; at < a->text->length;) {
        size_t end = lines_end(a->text, at, lines);
        if (without(a, at, end))
            changed = true;
        else
            at = line_end(a->text, at);
    }
    return changed;
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

static bool opens(const masu__buffer *text, size_t at, size_t end) {
    return end >= at + 2 && text->data[end - 2] == '{';
}

/* Where the line of the } begins that closes what the line at `at` opens; the text's length: nowhere. */
static size_t closing_line(const masu__buffer *text, size_t at) {
    int depth = 0;
    for (size_t line = at; line < text->length; line = line_end(text, line)) {
        for (size_t i = line, end = line_end(text, line); i < end; i++)
            depth += (text->data[i] == '{') - (text->data[i] == '}');
        if (depth <= 0)
            return line;
    }
    return text->length;
}

static bool remove_blocks(attempt *a) {
    bool changed = false;
    for (size_t at = 0; at < a->text->length; at = line_end(a->text, at)) {
        size_t inside = line_end(a->text, at);
        if (!opens(a->text, at, inside))
            continue;
        size_t last = closing_line(a->text, at), end = line_end(a->text, last);
        if (last >= a->text->length)
            continue;
        while (without(a, at, end)) {
            changed = true;
            inside = line_end(a->text, at);
            if (!opens(a->text, at, inside))
                break;
            last = closing_line(a->text, at);
            end = line_end(a->text, last);
        }
        if (!opens(a->text, at, inside))
            continue;
        masu__buffer candidate = {0};
        masu__buffer_append(&candidate, a->text->data, at);
        masu__buffer_append(&candidate, a->text->data + inside, last - inside);
        masu__buffer_append(&candidate, a->text->data + end, a->text->length - end);
        changed |= tried(a, &candidate);
    }
    return changed;
}

/* ---- parentheses --------------------------------------------------------------------------------------- */

static size_t matching(const masu__buffer *text, size_t open) {
    int depth = 0;
    for (size_t i = open; i < text->length && text->data[i] != '\n'; i++) {
        depth += (strchr("([{", text->data[i]) != NULL) - (strchr(")]}", text->data[i]) != NULL);
        if (depth == 0)
            return i;
    }
    return text->length;
}

/* The first blank at the parentheses' own level, where an operator stands. */
static size_t operator_in(const masu__buffer *text, size_t open, size_t close) {
    int depth = 0;
    for (size_t i = open + 1; i < close; i++) {
        depth += (strchr("([{", text->data[i]) != NULL) - (strchr(")]}", text->data[i]) != NULL);
        if (depth == 0 && text->data[i] == ' ')
            return i;
    }
    return close;
}

/* A call of a method, `.name(…)`, taken out where it stands. */
static bool remove_call(attempt *a, size_t dot) {
    size_t open = dot + 1;
    while (open < a->text->length && strchr("abcdefghijklmnopqrstuvwxyz_0123456789", a->text->data[open]))
        open++;
    if (open >= a->text->length || a->text->data[open] != '(')
        return false;
    size_t close = matching(a->text, open);
    return close < a->text->length && without(a, dot, close + 1);
}

static bool simplify(attempt *a) {
    bool changed = false;
    for (size_t at = 0; at < a->text->length; at++) {
        char c = a->text->data[at];
        if (c == '.' && remove_call(a, at))
            changed = true;
        if (c != '(')
            continue;
        size_t close = matching(a->text, at), op = operator_in(a->text, at, close);
        if (close >= a->text->length || op >= close)
            continue;
        if (without(a, op, close)) { /* the first operand */
            changed = true;
            continue;
        }
        size_t second = op + 1;
        while (second < close && a->text->data[second] != ' ')
            second++;
        if (second < close && without(a, at + 1, second + 1)) /* the second */
            changed = true;
    }
    return changed;
}

void minimise(masu__buffer *text, minimise_test test, void *context, int most) {
    attempt a = {text, test, context, most};
    for (bool changed = true; changed && a.left > 0;) {
        changed = remove_blocks(&a);
        for (size_t lines = 32; lines > 0; lines /= 2)
            changed |= remove_lines(&a, lines);
        changed |= simplify(&a);
    }
}
