/* macros_match.c: whether the tokens of a call fit a rule of its macro.
 *
 * An expression ends where Rust lets it end: before `,`, `;` and `=>`. What must stay true
 * (tests/golden/lang_macro_rules.tl): a repetition ends, as each of its rounds takes a token.
 */
#include <string.h>

#include "language/syntax/macros_private.h"

bool macro_is(const macro_part *p, uint32_t at, const char *text) {
    const size_t length = strlen(text);
    return at < p->to && p->tokens[at].length == length && memcmp(p->text + p->tokens[at].offset, text, length) == 0;
}

bool macro_same(const macro_part *a, uint32_t i, const macro_part *b, uint32_t k) {
    const token *x = &a->tokens[i], *y = &b->tokens[k];
    return x->length == y->length && memcmp(a->text + x->offset, b->text + y->offset, x->length) == 0;
}

static token_kind kind_of(const macro_part *p, uint32_t at) {
    return at < p->to ? p->tokens[at].kind : TOKEN_END;
}

static bool opens(token_kind k) {
    return k == TOKEN_LEFT_PAREN || k == TOKEN_LEFT_BRACKET || k == TOKEN_LEFT_BRACE;
}

static bool closes(token_kind k) {
    return k == TOKEN_RIGHT_PAREN || k == TOKEN_RIGHT_BRACKET || k == TOKEN_RIGHT_BRACE;
}

uint32_t macro_behind(const macro_part *p, uint32_t at) {
    uint32_t deep = 0;
    for (; at < p->to; at++) {
        deep += opens(p->tokens[at].kind);
        deep -= deep > 0 && closes(p->tokens[at].kind);
        if (deep == 0)
            return at + 1;
    }
    return p->to;
}

uint32_t macro_repetition(const macro_part *p, uint32_t at, macro_part *inside, uint32_t *separator, uint32_t *sign) {
    const uint32_t end = macro_behind(p, at + 1);
    *inside = *p;
    inside->from = at + 2;
    inside->to = end - 1;
    *separator = 0;
    *sign = end;
    if (!macro_is(p, end, "*") && !macro_is(p, end, "+") && !macro_is(p, end, "?")) {
        *separator = end;
        *sign = end + 1;
    }
    return *sign < p->to ? *sign + 1 : p->to;
}

/* ---- kinds of parts ------------------------------------------------------------------------------ */

/* Behind `<…>`; at the end where nothing closes it. */
static uint32_t behind_angle(const macro_part *p, uint32_t at) {
    int64_t deep = 0;
    for (; at < p->to; at = opens(kind_of(p, at)) ? macro_behind(p, at) : at + 1) {
        const token_kind k = kind_of(p, at);
        deep += k == TOKEN_LESS ? 1 : k == TOKEN_SHL ? 2 : k == TOKEN_GREATER ? -1 : k == TOKEN_SHR ? -2 : 0;
        if (deep <= 0)
            return at + 1;
    }
    return at;
}

static uint32_t behind_name(const macro_part *p, uint32_t at) {
    for (at++; kind_of(p, at) == TOKEN_COLON_COLON && kind_of(p, at + 1) == TOKEN_NAME; at += 2)
        continue;
    at = kind_of(p, at) == TOKEN_COLON_COLON ? at + 1 : at;
    if (kind_of(p, at) == TOKEN_LESS)
        return behind_angle(p, at);
    return kind_of(p, at) == TOKEN_LEFT_PAREN ? macro_behind(p, at) : at; /* fn(A) -> B */
}

static uint32_t behind_type(const macro_part *p, uint32_t at) {
    for (;; at++) {
        while (kind_of(p, at) == TOKEN_AND || kind_of(p, at) == TOKEN_LABEL || kind_of(p, at) == TOKEN_MUT ||
               macro_is(p, at, "dyn") || kind_of(p, at) == TOKEN_IMPL || kind_of(p, at) == TOKEN_AND_AND)
            at++;
        if (opens(kind_of(p, at)))
            at = macro_behind(p, at);
        else if (kind_of(p, at) == TOKEN_NAME || kind_of(p, at) == TOKEN_FN)
            at = behind_name(p, at);
        if (kind_of(p, at) != TOKEN_ARROW)
            return at;
    }
}

/* |a, b| at the start of an expression: its commas end none. */
static uint32_t behind_parameters(const macro_part *p, uint32_t at) {
    if (kind_of(p, at) != TOKEN_OR)
        return at;
    for (at++; at < p->to && kind_of(p, at) != TOKEN_OR; at = macro_behind(p, at))
        continue;
    return at < p->to ? at + 1 : at;
}

static uint32_t behind_expression(const macro_part *p, uint32_t at) {
    const uint32_t from = at;
    at = behind_parameters(p, macro_is(p, at, "move") ? at + 1 : at);
    while (at < p->to) {
        const token_kind k = kind_of(p, at);
        if (k == TOKEN_COMMA || k == TOKEN_SEMICOLON || k == TOKEN_FAT_ARROW || closes(k))
            break;
        at = k == TOKEN_COLON_COLON && kind_of(p, at + 1) == TOKEN_LESS ? behind_angle(p, at + 1) : macro_behind(p, at);
    }
    return at > from ? at : from;
}

static uint32_t behind_pattern(const macro_part *p, uint32_t at) {
    for (; at < p->to; at = macro_behind(p, at)) {
        const token_kind k = kind_of(p, at);
        if (k == TOKEN_COMMA || k == TOKEN_EQUAL || k == TOKEN_FAT_ARROW || k == TOKEN_IF || k == TOKEN_IN || closes(k))
            break;
    }
    return at;
}

static uint32_t behind_literal(const macro_part *p, uint32_t at) {
    const uint32_t number = kind_of(p, at) == TOKEN_MINUS ? at + 1 : at;
    const token_kind k = kind_of(p, number);
    const bool is = k == TOKEN_INT || k == TOKEN_FLOAT ||
                    (number == at && (k == TOKEN_CHAR || k == TOKEN_STRING || k == TOKEN_TRUE || k == TOKEN_FALSE));
    return is ? number + 1 : at;
}

static const char kinds[] = " expr ident ty tt literal pat pat_param block path lifetime vis meta stmt ";

static bool is_kind(const macro_part *p, uint32_t at, const char *kind) {
    return macro_is(p, at, kind);
}

/* Behind the part of that kind; NULL-like `at`: there is none (of `vis` there may be none). */
static uint32_t behind_part(const macro_part *p, uint32_t at, const macro_part *rule, uint32_t kind, bool *fits) {
    uint32_t end = at;
    const token_kind now = kind_of(p, at);
    if (is_kind(rule, kind, "vis")) {
        *fits = true;
        return now != TOKEN_PUB ? at : kind_of(p, at + 1) == TOKEN_LEFT_PAREN ? macro_behind(p, at + 1) : at + 1;
    }
    if (is_kind(rule, kind, "expr") || is_kind(rule, kind, "stmt"))
        end = behind_expression(p, at);
    else if (is_kind(rule, kind, "ident"))
        end = at + (now == TOKEN_NAME || now == TOKEN_SELF);
    else if (is_kind(rule, kind, "ty") || is_kind(rule, kind, "path"))
        end = behind_type(p, at);
    else if (is_kind(rule, kind, "tt"))
        end = at < p->to && !closes(now) ? macro_behind(p, at) : at;
    else if (is_kind(rule, kind, "literal"))
        end = behind_literal(p, at);
    else if (is_kind(rule, kind, "block"))
        end = now == TOKEN_LEFT_BRACE ? macro_behind(p, at) : at;
    else if (is_kind(rule, kind, "lifetime"))
        end = at + (now == TOKEN_LABEL);
    else if (is_kind(rule, kind, "meta"))
        end = now == TOKEN_NAME ? behind_expression(p, at) : at;
    else
        end = behind_pattern(p, at);
    *fits = end > at;
    return end;
}

bool macro_knows(const macro_part *matcher) {
    for (uint32_t i = matcher->from; i + 3 < matcher->to; i++) {
        if (kind_of(matcher, i) != TOKEN_DOLLAR || kind_of(matcher, i + 2) != TOKEN_COLON)
            continue;
        const token *kind = &matcher->tokens[i + 3];
        char bordered[16] = " ";
        if (kind->length + 3 > sizeof bordered)
            return false;
        memcpy(bordered + 1, matcher->text + kind->offset, kind->length);
        bordered[kind->length + 1] = ' ';
        bordered[kind->length + 2] = 0;
        if (strstr(kinds, bordered) == NULL)
            return false;
    }
    return true;
}

/* ---- matching ------------------------------------------------------------------------------------ */

static macro_bound *bind(macro_match *m) {
    if (m->count == m->capacity) {
        const uint32_t capacity = m->capacity == 0 ? 16 : 2 * m->capacity;
        macro_bound *larger = masu__arena_grow(m->arena, m->bound, m->capacity, capacity, sizeof *larger,
                                               _Alignof(macro_bound));
        if (larger == NULL) {
            m->out_of_memory = true;
            return NULL;
        }
        m->bound = larger;
        m->capacity = capacity;
    }
    macro_bound *b = &m->bound[m->count++];
    *b = (macro_bound){.depth = m->depth};
    memcpy(b->path, m->path, sizeof b->path);
    return b;
}

static bool fits_from(macro_match *m, const macro_part *matcher, const macro_part *input, uint32_t *at);

static bool fits_repetition(macro_match *m, const macro_part *inside, const macro_part *matcher, uint32_t separator,
                            uint32_t sign, const macro_part *input, uint32_t *at) {
    uint32_t rounds = 0;
    if (m->depth == MACRO_DEEP)
        return false;
    for (;; rounds++) {
        uint32_t next = *at;
        const uint32_t kept = m->count;
        if (rounds > 0 && separator > 0) {
            if (next >= input->to || !macro_same(matcher, separator, input, next))
                break;
            next++;
        }
        m->path[m->depth++] = rounds;
        macro_bound *mark = bind(m);
        if (mark != NULL)
            mark->matcher = *inside;
        const bool fits = mark != NULL && fits_from(m, inside, input, &next) && next > *at;
        m->depth--;
        if (!fits) {
            m->count = kept;
            break;
        }
        *at = next;
        if (macro_is(matcher, sign, "?")) {
            rounds++;
            break;
        }
    }
    return !macro_is(matcher, sign, "+") || rounds > 0;
}

static bool fits_from(macro_match *m, const macro_part *matcher, const macro_part *input, uint32_t *at) {
    for (uint32_t i = matcher->from; i < matcher->to && !m->out_of_memory;) {
        if (kind_of(matcher, i) == TOKEN_DOLLAR && kind_of(matcher, i + 1) == TOKEN_LEFT_PAREN) {
            macro_part inside;
            uint32_t separator, sign;
            const uint32_t next = macro_repetition(matcher, i, &inside, &separator, &sign);
            if (!fits_repetition(m, &inside, matcher, separator, sign, input, at))
                return false;
            i = next;
        } else if (kind_of(matcher, i) == TOKEN_DOLLAR && kind_of(matcher, i + 2) == TOKEN_COLON) {
            bool fits = false;
            const uint32_t end = behind_part(input, *at, matcher, i + 3, &fits);
            macro_bound *b = fits ? bind(m) : NULL;
            if (b == NULL)
                return false;
            b->name = matcher->text + matcher->tokens[i + 1].offset;
            b->length = matcher->tokens[i + 1].length;
            b->is = *input;
            b->is.from = *at;
            b->is.to = end;
            b->is_expression = macro_is(matcher, i + 3, "expr");
            *at = end;
            i += 4;
        } else {
            if (*at >= input->to || !macro_same(matcher, i, input, *at))
                return false;
            ++*at;
            i++;
        }
    }
    return !m->out_of_memory;
}

bool macro_fits(macro_match *m, const macro_part *matcher, const macro_part *input) {
    uint32_t at = input->from;
    m->count = m->depth = 0;
    return fits_from(m, matcher, input, &at) && at == input->to;
}
