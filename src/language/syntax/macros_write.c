/* macros_write.c: what a rule of a macro makes of a call.
 *
 * A name that the body binds (`let tmp`, `for i in`, `|x|`, a pattern in front of `=>`) gets a number behind it where
 * a part of the call has the name as well, or where it would be seen behind the call. What must stay true
 * (tests/golden/lang_macro_rules.tl, lang_macro_rules_nested.tl): an expression of the call is one operand in the
 * body; no name of a part is changed.
 */
#include <stdio.h>
#include <string.h>

#include "language/syntax/macros_private.h"

typedef struct writer {
    const macro_match *m;
    const macro_part *body;
    uint32_t call; /* its number: names are made with it */
    bool alone;
    const char *whole; /* no name that is made is in it */
    masu__buffer *out;
    uint32_t depth, path[MACRO_DEEP];
} writer;

static token_kind kind_of(const macro_part *p, uint32_t at) {
    return at >= p->from && at < p->to ? p->tokens[at].kind : TOKEN_END;
}

/* ---- names that the body binds ------------------------------------------------------------------- */

static bool is_variable(const macro_part *p, uint32_t at) {
    const token_kind next = kind_of(p, at + 1);
    const char first = p->text[p->tokens[at].offset];
    return kind_of(p, at) == TOKEN_NAME && (first == '_' || (first >= 'a' && first <= 'z')) &&
           kind_of(p, at - 1) != TOKEN_DOLLAR && kind_of(p, at - 1) != TOKEN_DOT && next != TOKEN_LEFT_PAREN &&
           next != TOKEN_COLON_COLON && next != TOKEN_NOT && next != TOKEN_LEFT_BRACE;
}

/* Whether a pattern of the body in [from, to) binds the name that is token `name` of the body. */
static bool binds_in(const macro_part *p, uint32_t from, uint32_t to, uint32_t name) {
    for (uint32_t i = from; i < to; i++) {
        if (kind_of(p, i) == TOKEN_COLON) { /* its type */
            while (i + 1 < to && kind_of(p, i + 1) != TOKEN_COMMA && kind_of(p, i + 1) != TOKEN_OR)
                i++;
            continue;
        }
        if (is_variable(p, i) && macro_same(p, i, p, name))
            return true;
    }
    return false;
}

static uint32_t until(const macro_part *p, uint32_t at, token_kind a, token_kind b, token_kind c) {
    while (at < p->to && kind_of(p, at) != a && kind_of(p, at) != b && kind_of(p, at) != c)
        at = macro_behind(p, at);
    return at;
}

static bool begins_closure(const macro_part *p, uint32_t at) {
    switch (kind_of(p, at - 1)) {
    case TOKEN_END:
    case TOKEN_LEFT_PAREN:
    case TOKEN_LEFT_BRACE:
    case TOKEN_LEFT_BRACKET:
    case TOKEN_COMMA:
    case TOKEN_EQUAL:
    case TOKEN_SEMICOLON:
    case TOKEN_FAT_ARROW:
        return true;
    default:
        return macro_is(p, at - 1, "move");
    }
}

/* The start of the pattern that ends before the `=>` at `arrow`. */
static uint32_t arm_start(const macro_part *p, uint32_t arrow) {
    uint32_t at = arrow, deep = 0;
    while (at > p->from) {
        const token_kind k = kind_of(p, at - 1);
        const bool close = k == TOKEN_RIGHT_PAREN || k == TOKEN_RIGHT_BRACKET ||
                           (k == TOKEN_RIGHT_BRACE && at == arrow);
        const bool open = k == TOKEN_LEFT_PAREN || k == TOKEN_LEFT_BRACKET || k == TOKEN_LEFT_BRACE;
        if (deep == 0 && (k == TOKEN_COMMA || open || k == TOKEN_RIGHT_BRACE) && !close)
            break;
        deep += close;
        deep -= deep > 0 && open;
        at--;
    }
    return at;
}

/* The body binds the name of its token `name`. outside: by a `let` that no bracket of the body holds. */
static bool binds(const macro_part *p, uint32_t name, bool outside) {
    for (uint32_t i = p->from, deep = 0; i < p->to; i++) {
        const token_kind k = kind_of(p, i);
        deep += k == TOKEN_LEFT_BRACE;
        deep -= deep > 0 && k == TOKEN_RIGHT_BRACE;
        uint32_t to = i;
        if (k == TOKEN_LET && !(outside && deep > 0))
            to = until(p, i + 1, TOKEN_EQUAL, TOKEN_SEMICOLON, TOKEN_END);
        else if (k == TOKEN_FOR && !outside)
            to = until(p, i + 1, TOKEN_IN, TOKEN_LEFT_BRACE, TOKEN_SEMICOLON);
        else if (k == TOKEN_OR && !outside && begins_closure(p, i))
            to = until(p, i + 1, TOKEN_OR, TOKEN_SEMICOLON, TOKEN_END);
        else if (k == TOKEN_FAT_ARROW && !outside && binds_in(p, arm_start(p, i), i, name))
            return true;
        if (to > i && binds_in(p, i + 1, to, name))
            return true;
    }
    return false;
}

static bool is_in_text(const token *t, const char *text, const char *name, uint32_t length) {
    for (uint32_t i = 0; t->kind == TOKEN_STRING && i + length < t->length; i++)
        if (text[t->offset + i] == '{' && memcmp(text + t->offset + i + 1, name, length) == 0)
            return true;
    return false;
}

/* A part of the call has the name. */
static bool is_given(const writer *w, const char *name, uint32_t length) {
    for (uint32_t b = 0; b < w->m->count; b++) {
        const macro_part *p = &w->m->bound[b].is;
        for (uint32_t i = p->from; w->m->bound[b].name != NULL && i < p->to; i++) {
            const token *t = &p->tokens[i];
            if ((t->length == length && memcmp(p->text + t->offset, name, length) == 0) ||
                is_in_text(t, p->text, name, length))
                return true;
        }
    }
    return false;
}

/* ---- writing ------------------------------------------------------------------------------------- */

static void put(writer *w, const char *text, size_t length) {
    masu__buffer_append(w->out, text, length);
}

static void put_made(writer *w, const char *name, uint32_t length) {
    char made[32];
    uint32_t number = w->call;
    do /* no such name is in the program */
        snprintf(made, sizeof made, "_%u", number++);
    while (strstr(w->whole, made) != NULL && number < w->call + 1000);
    put(w, name, length);
    masu__buffer_puts(w->out, made);
}

static bool is_renamed(const writer *w, uint32_t at) {
    const macro_part *p = w->body;
    const token *t = &p->tokens[at];
    if (!is_variable(p, at) && !(kind_of(p, at) == TOKEN_NAME && kind_of(p, at + 1) == TOKEN_LEFT_PAREN))
        return false;
    if (kind_of(p, at - 1) == TOKEN_DOT || kind_of(p, at - 1) == TOKEN_DOLLAR ||
        (kind_of(p, at + 1) == TOKEN_COLON && kind_of(p, at - 1) == TOKEN_LEFT_BRACE))
        return false;
    return (is_given(w, p->text + t->offset, t->length) && binds(p, at, false)) || (w->alone && binds(p, at, true));
}

/* println!("{tmp}"): the names in a text of the body. */
static void put_text(writer *w, uint32_t at) {
    const token *t = &w->body->tokens[at];
    const char *text = w->body->text + t->offset;
    for (uint32_t i = 0; i < t->length; i++) {
        masu__buffer_putc(w->out, text[i]);
        uint32_t length = 0;
        while (text[i] == '{' && i + 1 + length < t->length && text[i + 1 + length] != '}' &&
               text[i + 1 + length] != ':')
            length++;
        for (uint32_t k = w->body->from; length > 0 && k < w->body->to; k++)
            if (w->body->tokens[k].length == length && is_variable(w->body, k) &&
                memcmp(w->body->text + w->body->tokens[k].offset, text + i + 1, length) == 0 && is_renamed(w, k)) {
                put_made(w, text + i + 1, length);
                i += length;
                break;
            }
    }
}

static void put_part(writer *w, const macro_part *p) {
    for (uint32_t i = p->from; i < p->to; i++) {
        const token *t = &p->tokens[i];
        if (i > p->from && t->offset > t[-1].offset + t[-1].length)
            masu__buffer_putc(w->out, ' ');
        put(w, p->text + t->offset, t->length);
    }
}

bool macro_is_one(const macro_part *p) {
    for (uint32_t i = p->from; i < p->to; i = macro_behind(p, i)) {
        const token_kind k = kind_of(p, i);
        const bool goes_on = k == TOKEN_NAME || k == TOKEN_INT || k == TOKEN_FLOAT || k == TOKEN_STRING ||
                             k == TOKEN_CHAR || k == TOKEN_TRUE || k == TOKEN_FALSE || k == TOKEN_SELF ||
                             k == TOKEN_DOT || k == TOKEN_COLON_COLON || k == TOKEN_QUESTION || k == TOKEN_LEFT_PAREN ||
                             k == TOKEN_LEFT_BRACKET || (k == TOKEN_NOT && kind_of(p, i - 1) == TOKEN_NAME);
        if (!goes_on || macro_is(p, i, "move") || macro_is(p, i, "unsafe"))
            return false;
    }
    return true;
}

static bool begins_operand(token_kind k) {
    return k == TOKEN_END || k == TOKEN_LEFT_PAREN || k == TOKEN_COMMA || k == TOKEN_EQUAL || k == TOKEN_LEFT_BRACKET ||
           k == TOKEN_SEMICOLON || k == TOKEN_FAT_ARROW;
}

static bool ends_operand(token_kind k) {
    return k == TOKEN_END || k == TOKEN_RIGHT_PAREN || k == TOKEN_COMMA || k == TOKEN_SEMICOLON ||
           k == TOKEN_RIGHT_BRACKET;
}

/* Token at + 1 of the body is the name of b. */
static void put_bound(writer *w, const macro_bound *b, const macro_part *in, uint32_t at) {
    const bool operand = begins_operand(kind_of(in, at - 1)) && ends_operand(kind_of(in, at + 2));
    const bool in_brackets = b->is_expression && !operand && !macro_is_one(&b->is);
    masu__buffer_puts(w->out, in_brackets ? "(" : "");
    put_part(w, &b->is);
    masu__buffer_puts(w->out, in_brackets ? ")" : "");
}

static bool is_here(const writer *w, const macro_bound *b) {
    return memcmp(b->path, w->path, (b->depth < w->depth ? b->depth : w->depth) * sizeof *b->path) == 0;
}

static const macro_bound *find(const writer *w, const macro_part *in, uint32_t name) {
    const token *t = &in->tokens[name];
    for (uint32_t i = 0; i < w->m->count; i++) {
        const macro_bound *b = &w->m->bound[i];
        if (b->name != NULL && b->length == t->length && memcmp(b->name, in->text + t->offset, t->length) == 0 &&
            b->depth <= w->depth && is_here(w, b))
            return b;
    }
    return NULL;
}

/* The matcher's repetition has a `$name` that is in the body's one, too. */
static bool shares_name(const macro_part *matcher, const macro_part *body) {
    for (uint32_t i = matcher->from; i + 2 < matcher->to; i++)
        for (uint32_t k = body->from; kind_of(matcher, i) == TOKEN_DOLLAR && k + 1 < body->to; k++)
            if (kind_of(matcher, i + 2) == TOKEN_COLON && kind_of(body, k) == TOKEN_DOLLAR &&
                macro_same(matcher, i + 1, body, k + 1))
                return true;
    return false;
}

static uint32_t rounds_of(const writer *w, const macro_part *inside) {
    uint32_t rounds = 0;
    for (uint32_t i = 0; i < w->m->count; i++) {
        const macro_bound *b = &w->m->bound[i];
        if (b->name == NULL && b->depth > w->depth && is_here(w, b) && shares_name(&b->matcher, inside) &&
            b->path[w->depth] >= rounds)
            rounds = b->path[w->depth] + 1;
    }
    return rounds;
}

static void put_body(writer *w, const macro_part *in);

static uint32_t put_repetition(writer *w, const macro_part *in, uint32_t at) {
    macro_part inside;
    uint32_t separator, sign;
    const uint32_t next = macro_repetition(in, at, &inside, &separator, &sign);
    const uint32_t rounds = w->depth < MACRO_DEEP ? rounds_of(w, &inside) : 0;
    for (uint32_t r = 0; r < rounds; r++) {
        if (r > 0 && separator > 0)
            put(w, in->text + in->tokens[separator].offset, in->tokens[separator].length);
        masu__buffer_putc(w->out, ' ');
        w->path[w->depth++] = r;
        put_body(w, &inside);
        w->depth--;
    }
    return next;
}

/* stringify!(…): what is in its brackets, as a text. */
static uint32_t put_stringified(writer *w, const macro_part *in, uint32_t at) {
    const uint32_t end = macro_behind(in, at + 2);
    macro_part inside = *in;
    inside.from = at + 3;
    inside.to = end - 1;
    masu__buffer text = {0}, *out = w->out;
    w->out = &text;
    const macro_bound *b = kind_of(in, at + 3) == TOKEN_DOLLAR && inside.to == at + 5 ? find(w, in, at + 4) : NULL;
    if (b != NULL)
        put_part(w, &b->is);
    else
        put_body(w, &inside);
    w->out = out;
    masu__buffer_json_string(out, masu__buffer_text(&text), text.length);
    masu__buffer_destroy(&text);
    return end;
}

static void put_body(writer *w, const macro_part *in) {
    for (uint32_t i = in->from; i < in->to;) {
        const token *t = &in->tokens[i];
        const bool marked = t->kind == TOKEN_DOLLAR;
        const macro_bound *b = marked && i + 1 < in->to ? find(w, in, i + 1) : NULL;
        if (i > in->from && t->offset > t[-1].offset + t[-1].length)
            masu__buffer_putc(w->out, ' ');
        if (marked && kind_of(in, i + 1) == TOKEN_LEFT_PAREN) {
            i = put_repetition(w, in, i);
            continue;
        }
        if (b != NULL) {
            put_bound(w, b, in, i);
            masu__buffer_puts(w->out, kind_of(in, i + 2) == TOKEN_DOT_DOT ? " " : "");
            i += 2;
            continue;
        }
        if (marked && macro_is(in, i + 1, "crate")) {
            i += 3;
            continue;
        }
        if (macro_is(in, i, "stringify") && kind_of(in, i + 1) == TOKEN_NOT) {
            i = put_stringified(w, in, i);
            continue;
        }
        if (t->kind == TOKEN_STRING)
            put_text(w, i);
        else if (is_renamed(w, i))
            put_made(w, in->text + t->offset, t->length);
        else
            put(w, in->text + t->offset, t->length);
        i++;
    }
}

void macro_write(const macro_match *m, const macro_part *body, uint32_t call, bool alone, const char *whole,
                 masu__buffer *out) {
    writer w = {.m = m, .body = body, .call = call, .alone = alone, .whole = whole, .out = out};
    put_body(&w, body);
}
