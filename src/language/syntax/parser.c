/* parser.c: tokens, messages, and finding the way back after a mistake. */
#include <stdarg.h>
#include <string.h>

#include "base/assert.h"
#include "language/syntax/elsewhere.h"
#include "language/syntax/parser_private.h"

/* ---- tokens ---------------------------------------------------------------------------------- */

token_kind parser_ahead(const parser *p, uint32_t ahead) {
    uint32_t left = p->list.count - 1 - p->at;
    return p->list.tokens[p->at + (ahead < left ? ahead : left)].kind;
}

bool parser_is_word(const parser *p, const char *word) {
    const token *t = parser_token(p);
    return t->kind == TOKEN_NAME && t->length == strlen(word) &&
           memcmp(p->file->text + t->offset, word, t->length) == 0;
}

void parser_advance(parser *p) {
    MASU_DEBUG_ASSERT(p->at < p->list.count);
    if (p->at + 1 < p->list.count)
        p->at++;
}

bool parser_accept(parser *p, token_kind kind) {
    if (!parser_is(p, kind))
        return false;
    parser_advance(p);
    return true;
}

bool parser_expect(parser *p, token_kind kind) {
    if (parser_accept(p, kind))
        return true;
    parser_expected(p, token_text(kind));
    return false;
}

bool parser_accept_first(parser *p, token_kind single) {
    static const struct {
        token_kind single, whole, rest;
    } splits[] = {
        {TOKEN_GREATER, TOKEN_SHR, TOKEN_GREATER},
        {TOKEN_GREATER, TOKEN_GREATER_EQUAL, TOKEN_EQUAL},
        {TOKEN_GREATER, TOKEN_SHR_EQUAL, TOKEN_GREATER_EQUAL},
        {TOKEN_AND, TOKEN_AND_AND, TOKEN_AND},
        {TOKEN_OR, TOKEN_OR_OR, TOKEN_OR},
    };
    if (parser_accept(p, single))
        return true;
    token *t = &p->list.tokens[p->at];
    for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++) {
        if (splits[i].single == single && splits[i].whole == t->kind) {
            *t = (token){.kind = splits[i].rest, .offset = t->offset + 1, .length = t->length - 1};
            return true;
        }
    }
    return false;
}

source_span parser_span(const parser *p) {
    const token *t = parser_token(p);
    return source_span_make(p->file, t->offset, t->length);
}

static uint32_t end_before(const parser *p) {
    if (p->at == 0)
        return 0;
    const token *before = &p->list.tokens[p->at - 1];
    return before->offset + before->length;
}

source_span parser_span_from(const parser *p, source_span start) {
    uint32_t end = end_before(p);
    return source_span_make(p->file, start.offset, end > start.offset ? end - start.offset : start.length);
}

bool parser_first_on_line(const parser *p) {
    uint32_t from = end_before(p);
    return memchr(p->file->text + from, '\n', parser_token(p)->offset - from) != NULL;
}

const char *parser_text(parser *p, const token *t) {
    const char *copy = masu__arena_strndup(p->arena, p->file->text + t->offset, t->length);
    if (copy == NULL)
        parser_out_of_memory(p);
    return copy;
}

const char *parser_name(parser *p, source_span *span) {
    if (!parser_is(p, TOKEN_NAME)) {
        parser_expected(p, "a name");
        return NULL;
    }
    *span = parser_span(p);
    const char *name = parser_text(p, parser_token(p));
    parser_advance(p);
    return name;
}

/* ---- messages -------------------------------------------------------------------------------- */

diagnostic *parser_say(parser *p, source_span span, message_row row, const char *format, ...) {
    if (p->panic || p->stopped)
        return NULL;
    p->panic = true;
    masu__buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    masu__buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    diagnostic *d = diagnostics_say(p->diagnostics, span, row, "%s", masu__buffer_text(&text));
    masu__buffer_destroy(&text);
    return d;
}

void parser_note(parser *p, diagnostic *to, source_span span, const char *format, ...) {
    if (to == NULL)
        return;
    masu__buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    masu__buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    diagnostics_note(p->diagnostics, to, span, "%s", masu__buffer_text(&text));
    masu__buffer_destroy(&text);
}

diagnostic *parser_expected(parser *p, const char *what) {
    const token *t = parser_token(p);
    diagnostic *d;
    bool punctuation = what[0] == '`';
    source_span span = parser_span(p);
    p->tree->is_broken |= p->functions == 0 && p->script == NULL && !p->panic && !p->stopped;
    if (punctuation && p->at > 0 && (t->kind == TOKEN_END || parser_first_on_line(p)))
        span = source_span_make(p->file, end_before(p), 0); /* where it should have stood */
    if (t->kind == TOKEN_NAME || t->kind == TOKEN_INT || t->kind == TOKEN_FLOAT || t->kind == TOKEN_LABEL) {
        d = parser_say(p, span, SAY(expected_but_word), what, t->length > 80 ? 80 : (int)t->length,
                       p->file->text + t->offset);
    } else {
        d = parser_say(p, span, SAY(expected_but_symbol), what, token_text(t->kind));
    }
    const char *hint = hint_for_token(p);
    if (hint == NULL && strcmp(what, "`{`") == 0)
        hint = "a block is written in braces: `{ … }`";
    if (d != NULL && hint != NULL)
        diagnostics_note(p->diagnostics, d, (source_span){0}, "%s", hint);
    return d;
}

void parser_warn_missing(parser *p, const char *what) {
    if (!p->stopped)
        diagnostics_say(p->diagnostics, source_span_make(p->file, end_before(p), 0), SAY(line_ends_without), what);
}

/* A text that is never closed has swallowed the `}`. */
void parser_unclosed(parser *p, source_span open) {
    p->tree->is_broken = true;
    for (const diagnostic *d = p->diagnostics->first; d != NULL; d = d->next) {
        bool swallows = d->row == ROW_string_is_never_closed || d->row == ROW_character_is_never_closed ||
                        d->row == ROW_comment_is_never_closed;
        if (d->span.file == p->file && swallows)
            return;
    }
    parser_say(p, open, SAY(brace_is_never_closed));
}

diagnostic *parser_refuse(parser *p, source_span span, const char *what) {
    return parser_say(p, span, SAY(masu_does_not_accept), what);
}

void parser_refuse_once(parser *p, source_span span, const char *what) {
    for (const diagnostic *d = p->diagnostics->first; d; d = d->next)
        if (d->about && strcmp(d->about, what) == 0)
            return;
    diagnostic *d = parser_refuse(p, span, what);
    if (d != NULL)
        d->about = what;
}

static void stop(parser *p) {
    p->at = p->list.count - 1;
    p->stopped = true;
}

void parser_out_of_memory(parser *p) {
    longjmp(p->memory_ended, 1);
}

void *parser_alloc(parser *p, size_t bytes) {
    void *made = masu__arena_calloc(p->arena, 1, bytes, _Alignof(max_align_t));
    if (made == NULL)
        parser_out_of_memory(p);
    return made;
}

const char *parser_printf(parser *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *made = masu__arena_vprintf(p->arena, format, arguments);
    va_end(arguments);
    if (made == NULL)
        parser_out_of_memory(p);
    return made;
}

bool parser_enter(parser *p) {
    p->depth++;
    if (p->depth <= PARSER_NESTING_MAX)
        return true;
    parser_say(p, parser_span(p), SAY(this_is_nested_more_than_levels), PARSER_NESTING_MAX);
    stop(p);
    return false;
}

/* ---- recovery -------------------------------------------------------------------------------- */

static bool starts_statement(token_kind kind) {
    switch (kind) {
    case TOKEN_LET:
    case TOKEN_FN:
    case TOKEN_STRUCT:
    case TOKEN_IMPL:
    case TOKEN_PUB:
    case TOKEN_CONST:
    case TOKEN_IF:
    case TOKEN_MATCH:
    case TOKEN_WHILE:
    case TOKEN_LOOP:
    case TOKEN_FOR:
    case TOKEN_RETURN:
    case TOKEN_BREAK:
    case TOKEN_CONTINUE:
        return true;
    default:
        return false;
    }
}

bool parser_begins_statement(const parser *p) {
    switch (parser_kind(p)) {
    case TOKEN_NAME:
    case TOKEN_SELF:
    case TOKEN_INT:
    case TOKEN_FLOAT:
    case TOKEN_STRING:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
    case TOKEN_LABEL:
    case TOKEN_LEFT_BRACE:
    case TOKEN_NOT:
    case TOKEN_HASH:
    case TOKEN_USE:
    case TOKEN_ENUM:
    case TOKEN_TRAIT:
    case TOKEN_MOD:
        return true;
    default:
        return starts_statement(parser_kind(p));
    }
}

/* Brackets that are still open do not count, braces do: a forgotten `)` must not swallow the rest
 * of the file. */
void parser_synchronise(parser *p) {
    uint32_t braces = 0;
    for (; !parser_is(p, TOKEN_END); parser_advance(p)) {
        token_kind kind = parser_kind(p);
        if (braces == 0 && (kind == TOKEN_RIGHT_BRACE || (starts_statement(kind) && parser_first_on_line(p))))
            break;
        if (braces == 0 && kind == TOKEN_SEMICOLON) {
            parser_advance(p);
            break;
        }
        braces += kind == TOKEN_LEFT_BRACE;
        braces -= kind == TOKEN_RIGHT_BRACE;
        if (braces == 0 && kind == TOKEN_RIGHT_BRACE && parser_ahead(p, 1) == TOKEN_NAME) {
            parser_advance(p);
            if (parser_first_on_line(p)) /* behind a block begins a statement */
                break;
            p->at--;
        }
    }
    p->panic = false;
}

void parser_synchronise_list(parser *p, token_kind close) {
    if (!p->panic)
        return;
    uint32_t depth = 0;
    for (; !parser_is(p, TOKEN_END); parser_advance(p)) {
        token_kind kind = parser_kind(p);
        if (depth == 0 && (kind == TOKEN_COMMA || kind == close)) {
            p->panic = false;
            return;
        }
        bool closes = kind == TOKEN_RIGHT_PAREN || kind == TOKEN_RIGHT_BRACKET || kind == TOKEN_RIGHT_BRACE;
        if (depth == 0 &&
            (closes || kind == TOKEN_SEMICOLON || kind == TOKEN_FN || kind == TOKEN_STRUCT || kind == TOKEN_IMPL))
            return; /* not this list's: the enclosing construct goes on */
        depth += kind == TOKEN_LEFT_PAREN || kind == TOKEN_LEFT_BRACKET || kind == TOKEN_LEFT_BRACE;
        depth -= closes;
    }
}

void parser_skip_group(parser *p) {
    uint32_t depth = 0;
    do {
        token_kind kind = parser_kind(p);
        depth += kind == TOKEN_LEFT_PAREN || kind == TOKEN_LEFT_BRACKET || kind == TOKEN_LEFT_BRACE;
        depth -= kind == TOKEN_RIGHT_PAREN || kind == TOKEN_RIGHT_BRACKET || kind == TOKEN_RIGHT_BRACE;
        parser_advance(p);
    } while (depth > 0 && !parser_is(p, TOKEN_END));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

expr *parser_new(parser *p, expr_kind kind, source_span span) {
    expr *e = PARSER_NEW(p, expr);
    e->kind = kind;
    e->span = span;
    e->height = 1;
    return e;
}

expr *parser_error_expr(parser *p) {
    return parser_new(p, EXPR_ERROR, parser_span(p));
}

static void raise_height(expr *child, void *context) {
    uint16_t *height = context;
    if (child->height >= *height)
        *height = (uint16_t)(child->height + 1);
}

expr *parser_finish(parser *p, expr *e) {
    e->span = parser_span_from(p, e->span);
    expr_each_child(e, raise_height, &e->height);
    if (e->height > PARSER_HEIGHT_MAX) {
        parser_say(p, e->span, SAY(this_expression_is_more_than_levels), PARSER_HEIGHT_MAX);
        stop(p);
    }
    return e;
}

binding *parser_new_binding(parser *p, const char *name, source_span span, binding_kind kind, bool is_mutable) {
    binding *b = PARSER_NEW(p, binding);
    *b = (binding){.name = name, .span = span, .kind = kind, .is_mutable = is_mutable};
    return b;
}
