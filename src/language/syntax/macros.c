/* macros.c: definitions of macros and their calls.
 *
 * The text is read in rounds: each one replaces the calls that are not inside of another, until none is left. What must
 * stay true: every line keeps its number; there are at most ROUNDS_MAX rounds and TEXT_MAX bytes.
 */
#include <string.h>

#include "language/syntax/macros_private.h"

enum { ROUNDS_MAX = 130, TEXT_MAX = 16 << 20 };

typedef struct expansion {
    masu__arena *arena;
    diagnostics *diagnostics;
    const source_file *file;
    macro_part all; /* its tokens */
    macro_item *macros;
    macro_item *last; /* the last one that was called */
    uint32_t calls;
    bool failed; /* said */
} expansion;

static const char word[] = "macro_rules";

static token_kind kind_at(const expansion *x, uint32_t at) {
    return at < x->all.to ? x->all.tokens[at].kind : TOKEN_END;
}

static bool opens(token_kind k) {
    return k == TOKEN_LEFT_PAREN || k == TOKEN_LEFT_BRACKET || k == TOKEN_LEFT_BRACE;
}

static bool defines(const expansion *x, uint32_t at) {
    return kind_at(x, at) == TOKEN_NAME && macro_is(&x->all, at, word) && kind_at(x, at + 1) == TOKEN_NOT &&
           kind_at(x, at + 2) == TOKEN_NAME && opens(kind_at(x, at + 3));
}

static macro_part part(const expansion *x, uint32_t from, uint32_t to) {
    macro_part p = x->all;
    p.from = from;
    p.to = to;
    return p;
}

/* ---- definitions --------------------------------------------------------------------------------- */

/* (…) => {…}; at `at`; NULL: it is none that masu knows. */
static macro_rule *read_rule(expansion *x, uint32_t *at, uint32_t end) {
    const macro_part all = part(x, *at, end);
    const uint32_t arrow = opens(kind_at(x, *at)) ? macro_behind(&all, *at) : end;
    if (arrow + 1 >= end || kind_at(x, arrow) != TOKEN_FAT_ARROW || !opens(kind_at(x, arrow + 1)))
        return NULL;
    const uint32_t behind = macro_behind(&all, arrow + 1);
    macro_rule *r = MASU_ARENA_NEW(x->arena, macro_rule);
    if (r == NULL)
        return NULL;
    *r = (macro_rule){.matcher = part(x, *at + 1, arrow - 1), .body = part(x, arrow + 2, behind - 1)};
    *at = kind_at(x, behind) == TOKEN_SEMICOLON && behind < end ? behind + 1 : behind;
    return macro_knows(&r->matcher) ? r : NULL;
}

static macro_item *find_macro(const expansion *x, const macro_part *p, uint32_t at) {
    const token *t = &p->tokens[at];
    macro_item *m = x->macros;
    while (m != NULL && (m->length != t->length || memcmp(m->name, p->text + t->offset, t->length) != 0))
        m = m->next;
    return m;
}

/* Behind the definition at `at`; a macro that is not known, or defined twice, stays in the text. */
static uint32_t read_macro(expansion *x, uint32_t at, bool *known) {
    const macro_part all = x->all;
    const uint32_t end = macro_behind(&all, at + 3);
    const token *name = &x->all.tokens[at + 2];
    macro_item made = {.name = x->all.text + name->offset, .length = name->length};
    macro_rule **last = &made.rules;
    *known = find_macro(x, &all, at + 2) == NULL;
    for (uint32_t i = at + 4; *known && i + 1 < end; last = &(*last)->next) {
        *last = read_rule(x, &i, end - 1);
        if (*last == NULL)
            *known = false;
        if (*last == NULL)
            break;
    }
    macro_item *m = *known ? MASU_ARENA_NEW(x->arena, macro_item) : NULL;
    if (m == NULL)
        return end;
    *m = made;
    m->next = x->macros;
    x->macros = m;
    return kind_at(x, end) == TOKEN_SEMICOLON && kind_at(x, at + 3) != TOKEN_LEFT_BRACE ? end + 1 : end;
}

/* #[macro_export] and its like in front of a definition. */
static uint32_t with_attributes(const expansion *x, uint32_t at) {
    while (at >= 3 && kind_at(x, at - 1) == TOKEN_RIGHT_BRACKET) {
        uint32_t open = at - 1;
        while (open > 0 && kind_at(x, open) != TOKEN_LEFT_BRACKET)
            open--;
        if (open == 0 || kind_at(x, open - 1) != TOKEN_HASH)
            break;
        at = open - 1;
    }
    return at;
}

/* ---- calls --------------------------------------------------------------------------------------- */

static uint32_t lines_of(const char *text, size_t length) {
    uint32_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

/* A statement, an item, or the last value of a block. */
static bool is_alone(const expansion *x, uint32_t at) {
    const token_kind before = at == 0 ? TOKEN_SEMICOLON : kind_at(x, at - 1);
    return before == TOKEN_SEMICOLON || before == TOKEN_LEFT_BRACE || before == TOKEN_RIGHT_BRACE;
}

static bool ends_value(token_kind k) {
    return k == TOKEN_SEMICOLON || k == TOKEN_COMMA || k == TOKEN_RIGHT_PAREN || k == TOKEN_RIGHT_BRACKET ||
           k == TOKEN_RIGHT_BRACE || k == TOKEN_END;
}

static bool begins_value(token_kind k) {
    return k == TOKEN_EQUAL || k == TOKEN_LEFT_PAREN || k == TOKEN_COMMA || k == TOKEN_LEFT_BRACKET ||
           k == TOKEN_FAT_ARROW || k == TOKEN_RETURN;
}

/* Whether the value of a call at `at`, up to `end`, is an operand of what is around it. */
static bool is_operand(const expansion *x, uint32_t at, uint32_t end, bool alone) {
    const token_kind next = kind_at(x, end);
    if (alone) /* `square!(2) + 1`, `list!(1).len()`: a statement that begins with the value */
        return next == TOKEN_DOT || next == TOKEN_QUESTION || next == TOKEN_PLUS || next == TOKEN_STAR ||
               next == TOKEN_SLASH || next == TOKEN_MINUS || next == TOKEN_EQUAL_EQUAL || next == TOKEN_AS;
    return !begins_value(kind_at(x, at - 1)) || !ends_value(next);
}

/* Begins with a word that only items begin with: no `;` is behind them. */
static bool is_item(const masu__buffer *made) {
    static const char *const words[] = {"fn ",   "pub ", "impl ", "impl<",  "struct ", "enum ",
                                        "type ", "mod ", "use ",  "trait ", "const ",  "#["};
    const char *text = masu__buffer_text(made);
    text += strspn(text, " ");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* The body is one `{ … }`. */
static bool is_block(const macro_part *body) {
    return body->from < body->to && body->tokens[body->from].kind == TOKEN_LEFT_BRACE &&
           macro_behind(body, body->from) == body->to;
}

static void report_no_rule(expansion *x, const macro_item *m, uint32_t at, uint32_t end) {
    const token *first = &x->all.tokens[at], *last = &x->all.tokens[end - 1];
    const source_span span = {x->file, first->offset, last->offset + last->length - first->offset};
    diagnostics_say(x->diagnostics, span, SAY(no_rule_of_macro_fits), (int)m->length, m->name);
    x->failed = true;
}

/* Behind the call at `at`. */
static uint32_t write_call(expansion *x, macro_item *m, uint32_t at, uint32_t depth, masu__buffer *out) {
    const macro_part all = x->all;
    const uint32_t end = macro_behind(&all, at + 2);
    const macro_part input = part(x, at + 3, end - 1);
    macro_match match = {.arena = x->arena};
    const macro_rule *r = m->rules;
    x->last = m;
    if (m->first_call.file == NULL)
        m->first_call = (source_span){x->file, all.tokens[at].offset, all.tokens[at].length};
    while (r != NULL && !macro_fits(&match, &r->matcher, &input))
        r = r->next;
    if (r == NULL) {
        report_no_rule(x, m, at, end);
        return end;
    }
    const bool alone = is_alone(x, at);
    const bool brackets = is_operand(x, at, end, alone) && !is_block(&r->body) && r->body.from < r->body.to;
    const bool nothing = !alone && r->body.from == r->body.to;
    macro_part body = r->body;
    if (!alone && body.from < body.to && body.tokens[body.to - 1].kind == TOKEN_SEMICOLON)
        body.to--;
    masu__buffer_puts(out, brackets || nothing ? "(" : "");
    macro_write(&match, &body, ++x->calls, alone && !is_block(&body), x->file->text, out);
    masu__buffer_puts(out, brackets || nothing ? ")" : "");
    return alone && (depth == 0 || is_item(out)) && kind_at(x, end) == TOKEN_SEMICOLON ? end + 1 : end;
}

/* ---- rounds -------------------------------------------------------------------------------------- */

/* In place of tokens [from, end), with as many lines. */
static void put_instead(const expansion *x, uint32_t from, uint32_t end, const masu__buffer *made, size_t *copied,
                        masu__buffer *out) {
    const char *text = x->all.text;
    const size_t begin = x->all.tokens[from].offset,
                 behind = x->all.tokens[end - 1].offset + x->all.tokens[end - 1].length;
    masu__buffer_append(out, text + *copied, begin - *copied);
    masu__buffer_putc(out, ' ');
    masu__buffer_append(out, masu__buffer_text(made), made->length);
    masu__buffer_putc(out, ' ');
    for (uint32_t l = lines_of(made->data, made->length), all = lines_of(text + begin, behind - begin); l < all; l++)
        masu__buffer_putc(out, '\n');
    *copied = behind;
}

/* Copies the text without its definitions in the first round, with calls replaced in the others. False: nothing was
 * replaced. */
static bool write_round(expansion *x, bool first, masu__buffer *out) {
    size_t copied = 0;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < x->all.to && !x->failed;) {
        uint32_t from = i, end = i;
        bool known = false;
        masu__buffer made = {0};
        if (defines(x, i)) {
            end = first ? read_macro(x, i, &known) : macro_behind(&x->all, i + 3);
            from = with_attributes(x, i);
        } else if (kind_at(x, i) == TOKEN_NAME && kind_at(x, i + 1) == TOKEN_NOT && opens(kind_at(x, i + 2))) {
            macro_item *m = first ? NULL : find_macro(x, &x->all, i);
            known = m != NULL;
            end = known ? write_call(x, m, i, depth, &made) : i;
        }
        if (known)
            put_instead(x, from, end, &made, &copied, out);
        masu__buffer_destroy(&made);
        depth += kind_at(x, i) == TOKEN_LEFT_BRACE;
        depth -= depth > 0 && kind_at(x, i) == TOKEN_RIGHT_BRACE;
        i = end > i ? end : i + 1;
    }
    const bool changed = copied > 0;
    masu__buffer_append(out, x->all.text + copied, x->file->length - copied);
    return changed;
}

static masu_status read_tokens(expansion *x) {
    diagnostics unsaid; /* the parser says it */
    diagnostics_init(&unsaid, x->arena);
    token_list list = {0};
    const masu_status status = lex_source(x->file, x->arena, &unsaid, &list);
    x->all = (macro_part){.text = x->file->text, .tokens = list.tokens, .to = status == MASU_OK ? list.count - 1 : 0};
    return status;
}

/* The next round's text; *more: it is another one. */
static masu_status run_round(expansion *x, uint32_t round, bool *more) {
    masu__buffer text = {0};
    masu_status status = read_tokens(x);
    *more = status == MASU_OK && write_round(x, round == 0, &text) && !x->failed;
    if (*more && (round == ROUNDS_MAX || text.length > TEXT_MAX)) {
        diagnostics_say(x->diagnostics, x->last->first_call, SAY(macro_has_no_end), (int)x->last->length,
                        x->last->name);
        *more = false;
    }
    if (*more) {
        source_file *next = MASU_ARENA_NEW(x->arena, source_file);
        status = next == NULL || text.failed ? MASU_ERR_OUT_OF_MEMORY
                                             : source_file_init(next, x->arena, x->file->path, text.data, text.length);
        x->file = next;
        *more = status == MASU_OK;
    }
    masu__buffer_destroy(&text);
    return status;
}

masu_status macros_expand(source_file *file, masu__arena *arena, diagnostics *diagnostics) {
    expansion x = {.arena = arena, .diagnostics = diagnostics, .file = file};
    masu_status status = MASU_OK;
    bool more = strstr(file->text, word) != NULL;
    for (uint32_t round = 0; more && status == MASU_OK; round++)
        status = run_round(&x, round, &more);
    if (status == MASU_OK && x.file != file && !x.failed)
        *file = *x.file;
    return status;
}
