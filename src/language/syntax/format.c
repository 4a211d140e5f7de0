/* format.c: a source text as `masu fmt` lays it out.
 *
 * Line breaks stay where the programmer put them, at most one empty line in a row; what changes is the space
 * between tokens and in front of lines:
 *
 *     gap ─► blanks and comments between two tokens
 *       without a line break    one blank or none, by the two tokens (space_between)
 *       with one                comments on their lines, then indentation: 4 for each line that has open brackets, 4
 *                               more where a line goes on with what the one before began
 *
 * Where the tokens alone do not tell (`<` of types or of numbers, `|`, a minus in front or between) the blank
 * stays as it was. So the tokens never change, and formatting twice is formatting once.
 */
#include "language/syntax/format.h"

#include <string.h>

#include "language/syntax/lexer.h"

enum { NESTING_MAX = 1024 }; /* more than the parser lets through */

typedef struct formatter {
    const source_file *file;
    token_list list;
    masu__buffer *out;
    uint32_t opened[NESTING_MAX]; /* of each open bracket: the line of out that it is on */
    uint32_t depth;               /* open brackets */
    uint32_t line;                /* of out */
    bool starts_line;             /* nothing is on the present line of out */
} formatter;

static token_kind kind_at(const formatter *f, uint32_t i) {
    return f->list.tokens[i].kind;
}

static bool opens(token_kind k) {
    return k == TOKEN_LEFT_PAREN || k == TOKEN_LEFT_BRACKET || k == TOKEN_LEFT_BRACE;
}

static bool closes(token_kind k) {
    return k == TOKEN_RIGHT_PAREN || k == TOKEN_RIGHT_BRACKET || k == TOKEN_RIGHT_BRACE;
}

/* Always between two operands. */
static bool is_infix(token_kind k) {
    switch (k) {
    case TOKEN_ARROW:
    case TOKEN_FAT_ARROW:
    case TOKEN_PLUS:
    case TOKEN_SLASH:
    case TOKEN_PERCENT:
    case TOKEN_CARET:
    case TOKEN_AND_AND:
    case TOKEN_EQUAL:
    case TOKEN_PLUS_EQUAL:
    case TOKEN_MINUS_EQUAL:
    case TOKEN_STAR_EQUAL:
    case TOKEN_SLASH_EQUAL:
    case TOKEN_PERCENT_EQUAL:
    case TOKEN_EQUAL_EQUAL:
    case TOKEN_NOT_EQUAL:
    case TOKEN_LESS_EQUAL:
    case TOKEN_GREATER_EQUAL:
    case TOKEN_AS:
    case TOKEN_IN:
        return true;
    default:
        return false;
    }
}

/* Whether one blank is between tokens i - 1 and i; had: there was one. */
static bool space_between(const formatter *f, uint32_t i, bool had) {
    token_kind before = kind_at(f, i - 1), now = kind_at(f, i);
    if (now == TOKEN_COMMA || now == TOKEN_SEMICOLON || now == TOKEN_COLON || now == TOKEN_DOT ||
        now == TOKEN_RIGHT_PAREN || now == TOKEN_RIGHT_BRACKET || now == TOKEN_QUESTION || now == TOKEN_COLON_COLON ||
        before == TOKEN_COLON_COLON || before == TOKEN_DOT || before == TOKEN_LEFT_PAREN ||
        before == TOKEN_LEFT_BRACKET)
        return false;
    if (before == TOKEN_LEFT_BRACE || now == TOKEN_RIGHT_BRACE)
        return !(before == TOKEN_LEFT_BRACE && now == TOKEN_RIGHT_BRACE);
    if (now == TOKEN_LEFT_PAREN || now == TOKEN_LEFT_BRACKET) {
        bool called = before == TOKEN_NAME || before == TOKEN_RIGHT_PAREN || before == TOKEN_RIGHT_BRACKET ||
                      before == TOKEN_SELF;
        if (called)
            return false;
    }
    if (before == TOKEN_COMMA || before == TOKEN_SEMICOLON || before == TOKEN_COLON || now == TOKEN_LEFT_BRACE ||
        is_infix(before) || is_infix(now))
        return !(before == TOKEN_LEFT_PAREN);
    return had;
}

static bool ends_statement(token_kind k) {
    return k == TOKEN_SEMICOLON || k == TOKEN_COMMA || opens(k) || k == TOKEN_RIGHT_BRACE;
}

/* The line that token i begins goes on with an expression of the line before. */
static bool continues(const formatter *f, uint32_t i) {
    if (i == 0)
        return false;
    token_kind before = kind_at(f, i - 1), now = kind_at(f, i);
    if (now == TOKEN_DOT || (is_infix(now) && now != TOKEN_AS))
        return true;
    return !ends_statement(before) && is_infix(before);
}

/* Brackets that were opened on one line count once. */
static uint32_t levels(const formatter *f, uint32_t open) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < open && i < NESTING_MAX; i++)
        count += i == 0 || f->opened[i] != f->opened[i - 1];
    return count;
}

/* Brackets that close at the start of the line of token i. */
static uint32_t closing(const formatter *f, uint32_t i) {
    uint32_t count = 0;
    const char *text = f->file->text;
    while (closes(kind_at(f, i + count))) {
        const token *t = &f->list.tokens[i + count];
        count++;
        if (memchr(text + t->offset, '\n', t[1].offset - t->offset) != NULL)
            break;
    }
    return count < f->depth ? count : f->depth;
}

static void indent(formatter *f, uint32_t i) {
    uint32_t depth = levels(f, f->depth - closing(f, i)) + continues(f, i);
    masu__buffer_fill(f->out, ' ', (size_t)depth * 4);
    f->starts_line = false;
}

static void line_end(formatter *f) {
    f->line++;
    masu__buffer_putc(f->out, '\n');
    f->starts_line = true;
}

/* From `at`, where a comment begins, to its end. */
static const char *comment_end(const char *at, const char *end) {
    if (at[1] == '/') {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        return line == NULL ? end : line;
    }
    uint32_t depth = 0;
    for (; at + 1 < end; at++) {
        if (at[0] == '/' && at[1] == '*') {
            depth++;
            at++;
        } else if (at[0] == '*' && at[1] == '/') {
            at++;
            if (--depth == 0)
                return at + 1;
        }
    }
    return end;
}

static void put_comment(formatter *f, uint32_t i, const char *from, const char *to) {
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
        to--;
    if (f->starts_line) {
        masu__buffer_fill(f->out, ' ', (size_t)(levels(f, f->depth) + continues(f, i)) * 4);
        f->starts_line = false;
    } else if (f->out->length > 0) {
        masu__buffer_putc(f->out, ' ');
    }
    masu__buffer_append(f->out, from, (size_t)(to - from));
}

/* The text in front of token i. */
static void put_gap(formatter *f, uint32_t i, const char *at, const char *end) {
    uint32_t lines = 0;
    bool had = false, comment = false, line_comment = false;
    while (at < end) {
        if (*at == '\n') {
            lines++;
            line_comment = false;
            if (lines <= 2 && f->out->length > 0)
                line_end(f);
            at++;
        } else if (*at == '/' && at + 1 < end) {
            const char *to = comment_end(at, end);
            put_comment(f, i, at, to);
            line_comment = at[1] == '/';
            comment = true;
            lines = 0;
            at = to;
        } else {
            had = true;
            at++;
        }
    }
    if (line_comment)
        line_end(f);
    if (kind_at(f, i) == TOKEN_END)
        return;
    if (f->starts_line)
        indent(f, i);
    else if (i > 0 && (comment || space_between(f, i, had)))
        masu__buffer_putc(f->out, ' ');
}

static void count_brackets(formatter *f, token_kind k) {
    if (opens(k)) {
        if (f->depth < NESTING_MAX)
            f->opened[f->depth] = f->line;
        f->depth++;
    } else if (closes(k) && f->depth > 0) {
        f->depth--;
    }
}

static void put_tokens(formatter *f) {
    const char *text = f->file->text;
    uint32_t begin, end = lex_first_line(f->file, &begin);
    bool wide = end > begin && text[end - 1] == '\r';
    masu__buffer_append(f->out, text + begin, end - begin - wide); /* #!/usr/bin/env masu */
    f->starts_line = end == begin;
    for (uint32_t i = 0; i < f->list.count; i++) {
        const token *t = &f->list.tokens[i];
        put_gap(f, i, text + end, text + t->offset);
        masu__buffer_append(f->out, text + t->offset, t->length);
        count_brackets(f, t->kind);
        end = t->offset + t->length;
    }
    while (f->out->length > 0 && f->out->data[f->out->length - 1] == '\n')
        masu__buffer_truncate(f->out, f->out->length - 1);
    if (f->out->length > 0)
        masu__buffer_putc(f->out, '\n');
}

masu_status format_source(const source_file *file, masu__arena *arena, diagnostics *diagnostics, masu__buffer *out) {
    formatter f = {.file = file, .out = out, .starts_line = true};
    masu_status status = lex_source(file, arena, diagnostics, &f.list);
    if (status != MASU_OK || diagnostics->error_count > 0)
        return status;
    put_tokens(&f);
    return out->failed ? MASU_ERR_OUT_OF_MEMORY : MASU_OK;
}
