/* mutate.c: see mutate.h. */
#include "mutate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { MOST_EDITS = 6, MOST_PIECES = 60000, DEEP = 400 };

static const char *const words[] = {
    "(",     ")",     "{",      "}",     "[",        "]",      ",",     ";",      ":",      "::",     ".",
    "..",    "..=",   "->",     "=>",    "|",        "||",     "&",     "&&",     "!",      "=",      "==",
    "+",     "-",     "*",      "/",     "%",        "<",      "<=",    "<<",     ">>",     "?",      "_",
    "@",     "#",     "\"",     "'",     "/*",       "//",     "let",   "mut",    "fn",     "struct", "enum",
    "impl",  "trait", "return", "break", "continue", "if",     "else",  "while",  "for",    "in",     "loop",
    "match", "self",  "Self",   "as",    "use",      "mod",    "const", "pub",    "i8",     "u8",     "i64",
    "usize", "f32",   "f64",    "bool",  "String",   "Tensor", "Vec",   "Option", "Result", "Some",   "None",
    "Ok",    "Err",   "void",   "true",  "println",  "panic",  "sum",   "matmul", "shape",  "detach", "grad",
    "T",     "x",     "()",     "[]",    "{}",       "(,)",    "<T>",   "Vec<",   "|x|",    "<-",     "t[..]",
};
static const char *const numbers[] = {
    "0",
    "1",
    "-1",
    "2",
    "7",
    "255",
    "256",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "99999999999999999999",
    "0.0",
    "1e308",
    "1e999",
    "1e-400",
    "0x7fffffffffffffff",
    "0b11111111",
    "1_000",
    "1u8",
    "1i8",
    "300u8",
    "2.5f64",
    "1.",
    "1000000000000",
};

/* ---- pieces -------------------------------------------------------------------------------------------------- */

static size_t comment_length(const char *at, const char *end) {
    const char *from = at;
    if (at[1] == '/') {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        return (size_t)((line ? line : end) - from);
    }
    for (at += 2; at + 1 < end && !(at[0] == '*' && at[1] == '/');)
        at++;
    return (size_t)((at + 1 < end ? at + 2 : end) - from);
}

static size_t quoted_length(const char *at, const char *end) {
    const char *from = at;
    for (at++; at < end && *at != '"' && *at != '\n'; at++)
        at += *at == '\\' && at + 1 < end;
    return (size_t)((at < end ? at + 1 : end) - from);
}

static mutate_piece piece_at(const char *at, const char *end) {
    const char *from = at;
    unsigned char c = (unsigned char)*at;
    if (isspace(c)) {
        while (at < end && isspace((unsigned char)*at))
            at++;
        return (mutate_piece){from, (uint32_t)(at - from), ' '};
    }
    if (c == '/' && at + 1 < end && (at[1] == '/' || at[1] == '*'))
        return (mutate_piece){from, (uint32_t)comment_length(at, end), ' '};
    if (c == '"')
        return (mutate_piece){from, (uint32_t)quoted_length(at, end), '"'};
    if (isalnum(c) || c == '_') {
        bool number = isdigit(c);
        while (at < end && (isalnum((unsigned char)*at) || *at == '_' ||
                            (number && *at == '.' && at + 1 < end && isdigit((unsigned char)at[1]))))
            at++;
        return (mutate_piece){from, (uint32_t)(at - from), number ? '0' : 'a'};
    }
    static const char *const doubles[] = {
        "::", "->", "=>", "..", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=", "<-"};
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++)
        if (at + 1 < end && memcmp(at, doubles[i], 2) == 0)
            return (mutate_piece){from, 2, *from};
    return (mutate_piece){from, 1, *from};
}

static void push(mutate_program *p, mutate_piece piece) {
    if (p->count == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 256;
        p->pieces = realloc(p->pieces, p->capacity * sizeof *p->pieces);
        if (!p->pieces)
            abort();
    }
    p->pieces[p->count++] = piece;
}

mutate_program mutate_program_of(const char *text, size_t length) {
    mutate_program p = {.text = malloc(length + 1)};
    if (!p.text)
        abort();
    memcpy(p.text, text, length);
    p.text[length] = 0;
    for (const char *at = p.text, *end = p.text + length; at < end;) {
        push(&p, piece_at(at, end));
        at += p.pieces[p.count - 1].length;
    }
    return p;
}

void mutate_program_destroy(mutate_program *p) {
    free(p->text);
    free(p->pieces);
    *p = (mutate_program){0};
}

void mutate_without(const mutate_program *p, size_t from, size_t count, masu__buffer *out) {
    for (size_t i = 0; i < p->count; i++)
        if (i < from || i >= from + count)
            masu__buffer_append(out, p->pieces[i].at, p->pieces[i].length);
}

/* ---- ranges of pieces ------------------------------------------------------------------------------------------ */

typedef struct range {
    const mutate_program *of;
    size_t from, count;
} range;

static size_t below(masu__rng *rng, size_t bound) {
    return bound == 0 ? 0 : (size_t)masu__rng_below(rng, bound);
}

/* A token of this kind (0: of any), nothing when a few tries find none. */
static range token(masu__rng *rng, const mutate_program *p, char kind) {
    for (int tries = 0; tries < 30 && p->count > 0; tries++) {
        size_t at = below(rng, p->count);
        char found = p->pieces[at].kind;
        if (kind ? found == kind : found != ' ')
            return (range){p, at, 1};
    }
    return (range){p, 0, 0};
}

static int step(char kind) {
    bool opens = kind == '(' || kind == '[' || kind == '{';
    bool closes = kind == ')' || kind == ']' || kind == '}';
    return opens - closes;
}

/* From an opening bracket to its partner. */
static range group_from(const mutate_program *p, size_t at) {
    int depth = 0;
    for (size_t i = at; i < p->count; i++) {
        depth += step(p->pieces[i].kind);
        if (depth == 0)
            return (range){p, at, i + 1 - at};
    }
    return (range){p, at, 0};
}

static range group(masu__rng *rng, const mutate_program *p, char bracket) {
    static const char brackets[] = "([{";
    range opening = token(rng, p, bracket ? bracket : brackets[below(rng, 3)]);
    return opening.count ? group_from(p, opening.from) : opening;
}

/* From behind a `;`, `{` or `}` to the next `;` or block's end at the same depth. */
static range statement(masu__rng *rng, const mutate_program *p) {
    static const char borders[] = ";{};";
    range border = token(rng, p, borders[below(rng, 4)]);
    int depth = 0;
    for (size_t i = border.from + 1; border.count && i < p->count; i++) {
        char kind = p->pieces[i].kind;
        depth += step(kind);
        if (depth < 0)
            break;
        if (depth == 0 && (kind == ';' || kind == '}'))
            return (range){p, border.from + 1, i - border.from};
    }
    return (range){p, 0, 0};
}

/* ---- edits ------------------------------------------------------------------------------------------------------- */

/* The program with `old` replaced by the pieces of `new`. */
static void put_instead(mutate_program *p, range old, range new) {
    mutate_program made = {0};
    for (size_t i = 0; i < old.from; i++)
        push(&made, p->pieces[i]);
    for (size_t i = 0; i < new.count; i++)
        push(&made, new.of->pieces[new.from + i]);
    for (size_t i = old.from + old.count; i < p->count; i++)
        push(&made, p->pieces[i]);
    free(p->pieces);
    p->pieces = made.pieces;
    p->count = made.count;
    p->capacity = made.capacity;
}

static void put_word(mutate_program *p, size_t at, const char *word, char kind) {
    if (at < p->count)
        p->pieces[at] = (mutate_piece){word, (uint32_t)strlen(word), kind};
}

static void exchange(mutate_program *p, size_t a, size_t b) {
    if (a < p->count && b < p->count) {
        mutate_piece kept = p->pieces[a];
        p->pieces[a] = p->pieces[b];
        p->pieces[b] = kept;
    }
}

static bool same(mutate_piece a, mutate_piece b) {
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* Every `from` becomes a `to`: names collide, functions call themselves, types contain themselves. */
static void rename_word(mutate_program *p, range from, range to) {
    if (from.count == 0 || to.count == 0)
        return;
    mutate_piece old = p->pieces[from.from], new = to.of->pieces[to.from];
    for (size_t i = 0; i < p->count; i++)
        if (p->pieces[i].kind == 'a' && same(p->pieces[i], old))
            p->pieces[i] = new;
}

static void nest(mutate_program *p, range inner, size_t depth) {
    static const char *const openings[] = {"(", "[", "{", "-", "!", "&", "Some("};
    static const char *const closings[] = {")", "]", "}", "", "", "", ")"};
    if (inner.count == 0)
        return;
    size_t which = depth % 7;
    mutate_program wrapped = {0};
    for (size_t i = 0; i < depth; i++)
        push(&wrapped, (mutate_piece){openings[which], (uint32_t)strlen(openings[which]), '('});
    for (size_t i = 0; i < inner.count; i++)
        push(&wrapped, inner.of->pieces[inner.from + i]);
    for (size_t i = 0; i < depth; i++)
        push(&wrapped, (mutate_piece){closings[which], (uint32_t)strlen(closings[which]), ')'});
    put_instead(p, inner, (range){&wrapped, 0, wrapped.count});
    free(wrapped.pieces);
}

static void insert(mutate_program *p, size_t at, range what) {
    put_instead(p, (range){p, at, 0}, what);
}

static void edit(mutate_program *p, masu__rng *rng, const mutate_program *other) {
    const mutate_program *source = masu__rng_below(rng, 2) ? p : other;
    range any = token(rng, p, 0), st = statement(rng, p);
    switch (masu__rng_below(rng, 16)) {
    case 0:
        put_instead(p, any, (range){p, 0, 0});
        break;
    case 1:
        insert(p, any.from, any);
        break;
    case 2:
        exchange(p, any.from, token(rng, p, 0).from);
        break;
    case 3:
        put_word(p, any.from, words[below(rng, sizeof words / sizeof words[0])], 'a');
        break;
    case 4:
    case 5:
        if (any.count)
            put_instead(p, any, token(rng, source, p->pieces[any.from].kind));
        break;
    case 6:
    case 7: {
        range old = group(rng, p, 0);
        if (old.count)
            put_instead(p, old, group(rng, source, p->pieces[old.from].kind));
        break;
    }
    case 8: {
        range old = group(rng, p, 0);
        if (old.count > 2)
            put_instead(p, (range){p, old.from + 1, old.count - 2}, (range){p, 0, 0});
        break;
    }
    case 9:
        put_instead(p, st, (range){p, 0, 0});
        break;
    case 10:
    case 11:
        insert(p, st.from, statement(rng, source));
        break;
    case 12:
        rename_word(p, token(rng, p, 'a'), token(rng, source, 'a'));
        break;
    case 13:
        put_word(p, token(rng, p, '0').from, numbers[below(rng, sizeof numbers / sizeof numbers[0])], '0');
        break;
    case 14:
        nest(p, any.count && masu__rng_below(rng, 2) ? any : group(rng, p, '('),
             1 + below(rng, masu__rng_below(rng, 20) ? 4 : DEEP));
        break;
    default:
        insert(p, any.from, group(rng, source, 0));
        break;
    }
}

/* What tokens do not reach: bytes, and where the text ends. */
static void spoil(masu__rng *rng, masu__buffer *out) {
    if (out->length > 0 && masu__rng_below(rng, 40) == 0)
        out->data[below(rng, out->length)] = (char)masu__rng_below(rng, 256);
    if (out->length > 0 && masu__rng_below(rng, 60) == 0)
        masu__buffer_truncate(out, below(rng, out->length));
}

void mutate(const mutate_program *programs, size_t count, uint64_t seed, masu__buffer *out, size_t *origin) {
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    *origin = below(&rng, count);
    mutate_program p = {0};
    range whole = {&programs[*origin], 0, programs[*origin].count};
    put_instead(&p, (range){&p, 0, 0}, whole);
    for (size_t edits = 1 + below(&rng, 1 + below(&rng, MOST_EDITS)); edits > 0; edits--)
        if (p.count > 0 && p.count < MOST_PIECES)
            edit(&p, &rng, &programs[below(&rng, count)]);
    mutate_without(&p, 0, 0, out);
    spoil(&rng, out);
    free(p.pieces);
}
