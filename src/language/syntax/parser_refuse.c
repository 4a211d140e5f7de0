/* parser_refuse.c: what is not an item where one is expected: constructs that masu does not accept, programs of logic,
 * words of other languages, statements outside of functions. Each is said once and skipped as a whole.
 */
#include <string.h>

#include "language/syntax/elsewhere.h"
#include "language/syntax/outside.h"
#include "language/syntax/parser_private.h"

void parser_refuse_name(parser *p, const char *name) {
    if (name == NULL)
        return;
    refused_name *refused = PARSER_NEW(p, refused_name);
    *refused = (refused_name){name, p->tree->refused};
    p->tree->refused = refused;
}

/* To behind the `;` or the `{ … }` that ends the item. */
void parser_skip_item(parser *p) {
    while (!parser_is(p, TOKEN_END) && !parser_is(p, TOKEN_SEMICOLON) && !parser_is(p, TOKEN_LEFT_BRACE) &&
           !parser_is(p, TOKEN_RIGHT_BRACE))
        parser_advance(p);
    if (parser_is(p, TOKEN_LEFT_BRACE))
        parser_skip_group(p);
    else
        parser_accept(p, TOKEN_SEMICOLON);
    p->panic = false;
}

void parser_refuse_item(parser *p, const char *what) {
    source_span start = parser_span(p);
    bool names_follow = parser_ahead(p, 1) == TOKEN_NAME;
    parser_advance(p);
    if (names_follow) {
        parser_refuse_name(p, parser_text(p, parser_token(p)));
        parser_advance(p);
    }
    parser_refuse_once(p, parser_span_from(p, start), what);
    parser_skip_item(p);
}

const char parser_logic[] = "logic programs: facts, rules and queries";

static bool ends_line(const parser *p, uint32_t at) {
    const token *t = &p->list.tokens[at];
    size_t from = t->offset, to = t[1].offset;
    return memchr(p->file->text + from, '\n', to - from) != NULL;
}

bool parser_at_macro(const parser *p) {
    return parser_is_word(p, "macro_rules") && parser_ahead(p, 1) == TOKEN_NOT && parser_ahead(p, 2) == TOKEN_NAME;
}

void parser_refuse_macro(parser *p) {
    source_span start = parser_span(p);
    parser_advance(p);
    parser_advance(p);
    parser_refuse_name(p, parser_text(p, parser_token(p)));
    parser_advance(p);
    diagnostic *d = parser_refuse(p, parser_span_from(p, start), "macros of this form");
    parser_note(p, d, (source_span){0},
                "a macro is defined once; its parts are expr, ident, ty, tt, literal, pat, path, "
                "block, stmt, meta, vis and lifetime");
    p->panic = false;
    if (parser_is(p, TOKEN_LEFT_BRACE) || parser_is(p, TOKEN_LEFT_PAREN))
        parser_skip_group(p);
    parser_accept(p, TOKEN_SEMICOLON);
}

/* parent(a, b).   path(X, Y) :- …   ?- …   @tensor …   fact parent(…) */
static bool at_logic(parser *p) {
    if (parser_is(p, TOKEN_QUESTION) || parser_is(p, TOKEN_AT))
        return true;
    if (parser_is(p, TOKEN_NAME) && parser_ahead(p, 1) == TOKEN_NAME)
        return outside_is_logic_word(parser_text(p, parser_token(p)));
    if (!parser_is(p, TOKEN_NAME) || parser_ahead(p, 1) != TOKEN_LEFT_PAREN)
        return false;
    uint32_t at = p->at + 2;
    while (at + 2 < p->list.count && p->list.tokens[at].kind != TOKEN_RIGHT_PAREN && at - p->at < 64)
        at++;
    token_kind behind = p->list.tokens[at + 1 < p->list.count ? at + 1 : at].kind;
    token_kind next = p->list.tokens[at + 2 < p->list.count ? at + 2 : at].kind;
    return p->list.tokens[at].kind == TOKEN_RIGHT_PAREN &&
           ((behind == TOKEN_DOT && (next != TOKEN_NAME || ends_line(p, at + 1))) ||
            (behind == TOKEN_COLON && next == TOKEN_MINUS));
}

/* The names of a fact or rule, up to its end: what else is said of them follows from it. */
static void refuse_logic(parser *p) {
    parser_refuse_once(p, parser_span(p), parser_logic);
    p->panic = false;
    while (!parser_is(p, TOKEN_END) && !parser_at_item(p)) {
        if (parser_is(p, TOKEN_NAME))
            parser_refuse_name(p, parser_text(p, parser_token(p)));
        bool ends = parser_is(p, TOKEN_DOT) && ends_line(p, p->at);
        parser_advance(p);
        if (ends)
            return;
    }
}

static void skip_to_item(parser *p) {
    do {
        if (parser_is(p, TOKEN_LEFT_BRACE))
            parser_skip_group(p);
        else
            parser_advance(p);
    } while (!parser_is(p, TOKEN_END) && !parser_at_item(p));
    p->panic = false;
}

/* def f(…), function f(…): that there is no `f` is not said again. */
static void refuse_foreign_function(parser *p) {
    const token *t = parser_token(p);
    const char *word = p->file->text + t->offset;
    bool foreign = (t->length == 3 && memcmp(word, "def", 3) == 0) ||
                   (t->length == 4 && memcmp(word, "func", 4) == 0) ||
                   (t->length == 8 && memcmp(word, "function", 8) == 0);
    foreign |= hint_for_item_word(p) != NULL;
    if (foreign && t->kind == TOKEN_NAME && t[1].kind == TOKEN_NAME)
        parser_refuse_name(p, masu__arena_strndup(p->arena, p->file->text + t[1].offset, t[1].length));
}

static bool has_main(const parser *p) {
    const token *t = p->list.tokens;
    while (t->kind != TOKEN_END) {
        bool found = t->kind == TOKEN_FN && t[1].kind == TOKEN_NAME && t[1].length == 4 &&
                     memcmp(p->file->text + t[1].offset, "main", 4) == 0;
        if (found)
            return true;
        t++;
    }
    return false;
}

/* Statements outside of functions are what `fn main` would hold, where there is none. */
static bool at_script(const parser *p) {
    const token *t = parser_token(p);
    bool keyword = false, name = t->kind == TOKEN_NAME;
    switch (parser_kind(p)) {
    case TOKEN_LET:
    case TOKEN_IF:
    case TOKEN_FOR:
    case TOKEN_WHILE:
    case TOKEN_LOOP:
    case TOKEN_MATCH:
        keyword = true;
        break;
    default:
        break;
    }
    bool goes_on = name && t[1].kind != TOKEN_NAME && t[1].kind != TOKEN_COLON && t[1].kind != TOKEN_LEFT_BRACE &&
                   (t[1].kind == TOKEN_LEFT_PAREN || t[1].kind == TOKEN_EQUAL ||
                    hint_for_word(p->file->text + t->offset, t->length) == NULL);
    return p->file == p->tree->file && p->depth == 0 && (keyword || goes_on) && !has_main(p);
}

void parser_refuse_top_level(parser *p) {
    if (at_logic(p)) {
        refuse_logic(p);
        return;
    } else if (parser_is(p, TOKEN_RIGHT_BRACE)) {
        parser_say(p, parser_span(p), SAY(brace_closes_nothing));
        p->tree->is_broken = true;
    } else if (at_script(p)) {
        parse_script_statement(p);
        return;
    } else if (p->depth == 0 && parser_at_let_item(p) && has_main(p)) {
        parse_let_item(p);
        return;
    } else if (parser_is(p, TOKEN_LET) && parser_ahead(p, 1) == TOKEN_MUT) {
        diagnostic *d = parser_say(p, parser_span(p), SAY(let_outside_of_functions_does_not));
        parser_note(p, d, (source_span){0}, "make it in `main` and pass it as `&mut`");
    } else if (parser_is(p, TOKEN_LET) || parser_at_expression(p)) {
        refuse_foreign_function(p);
        diagnostic *d = parser_say(p, parser_span(p), SAY(statements_stand_inside_functions));
        const token *t = parser_token(p);
        const char *hint = hint_for_word(p->file->text + t->offset, t->length);
        const char *meant = hint == NULL ? hint_for_item_word(p) : NULL;
        parser_note(p, d, (source_span){0}, meant != NULL ? "did you mean `%s`?" : "%s",
                    hint != NULL    ? hint
                    : meant != NULL ? meant
                                    : "a program starts at `fn main() { … }`");
    } else {
        parser_expected(p, "`fn`, `struct`, `enum`, `impl` or `const`");
    }
    skip_to_item(p);
}

/* async fn, extern fn, extern "C" fn, extern "C" { … } */
bool parser_at_foreign(const parser *p) {
    bool external = parser_is_word(p, "extern");
    return ((external || parser_is_word(p, "async")) && parser_ahead(p, 1) == TOKEN_FN) ||
           (external && parser_ahead(p, 1) == TOKEN_STRING);
}
