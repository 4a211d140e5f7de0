/* parser_chain.c: conditions that are several, with patterns among them.
 *
 *     if a && let Some(x) = v && x > 1 { t } else { e }
 *     ─►  '<chain>: { if a { match v { Some(x) => if x > 1 { break '<chain> { t } }, _ => {} } } e }
 */
#include "language/syntax/parser_private.h"

typedef struct clause {
    expr *value; /* the condition, or what is taken apart */
    bool is_let;
    pattern_choice choice;
} clause;

/* Behind `if` or `while`, in front of the `{` of its block: a `let` and a `&&` that belongs to no bracket. */
bool parser_at_chain(const parser *p) {
    uint32_t open = 0, lets = 0, ands = 0;
    for (uint32_t at = p->at; at + 1 < p->list.count; at++) {
        token_kind kind = p->list.tokens[at].kind;
        bool opens = kind == TOKEN_LEFT_PAREN || kind == TOKEN_LEFT_BRACKET;
        bool closes = kind == TOKEN_RIGHT_PAREN || kind == TOKEN_RIGHT_BRACKET;
        if ((kind == TOKEN_LEFT_BRACE && open == 0) || kind == TOKEN_SEMICOLON || (closes && open == 0))
            break;
        open += opens;
        open -= closes;
        bool first = at == p->at || p->list.tokens[at - 1].kind == TOKEN_AND_AND;
        lets += kind == TOKEN_LET && first && open == 0;
        ands += kind == TOKEN_AND_AND && open == 0;
    }
    /* `if let P { a: && … }` is not a pattern; `let P { … } = v` hides its `&&` behind the brace. */
    return lets > 0 && ands > 0;
}

static expr *block_of(parser *p, stmt *first, expr *result, source_span span) {
    expr *e = parser_new(p, EXPR_BLOCK, span);
    e->block = PARSER_NEW(p, block);
    *e->block = (block){.span = span, .first = first, .result = result};
    return parser_finish(p, e);
}

static stmt *statement(parser *p, expr *value) {
    stmt *s = PARSER_NEW(p, stmt);
    *s = (stmt){.kind = STMT_EXPR, .span = value->span, .value = value};
    return s;
}

static expr *leave(parser *p, const char *label, expr *value) {
    expr *e = parser_new(p, EXPR_BREAK, value->span);
    e->jump.label = label;
    e->jump.label_span = value->span;
    e->jump.value = value;
    return parser_finish(p, e);
}

static expr *condition_of(parser *p) {
    bool no_struct = p->no_struct;
    p->no_struct = true;
    expr *e = parse_in_chain(p);
    p->no_struct = no_struct;
    return e;
}

/* if c { inner }, match v { P => { inner }, _ => {} } */
static expr *within(parser *p, const clause *c, expr *inner) {
    source_span span = c->value->span;
    expr *body = block_of(p, statement(p, inner), NULL, span);
    if (!c->is_let) {
        expr *e = parser_new(p, EXPR_IF, span);
        e->branch.condition = c->value;
        e->branch.then = body->block;
        return parser_finish(p, e);
    }
    expr *e = parser_new(p, EXPR_MATCH, span);
    uint32_t capacity = 0;
    match_arm arm = {.body = body}, other = {.pattern = PARSER_NEW(p, pattern)};
    other.pattern->span = span;
    other.pattern->kind = PATTERN_WILDCARD;
    other.body = block_of(p, NULL, NULL, span);
    e->match.value = c->value;
    e->match.is_let = true;
    parser_add_arms(p, &c->choice, p->step_count, arm, &e->match.arms, &e->match.count, &capacity);
    PARSER_PUSH(p, e->match.arms, e->match.count, capacity, other);
    return parser_finish(p, e);
}

expr *parse_chain(parser *p, source_span start, expr *(*parse_otherwise)(parser *p)) {
    clause *clauses = NULL;
    uint32_t count = 0, capacity = 0;
    const char *label = parser_printf(p, "<chain %u>", p->slice_count++);
    do {
        clause c = {.is_let = parser_accept(p, TOKEN_LET)};
        if (c.is_let) {
            c.choice = parse_pattern_choice(p, p->step_count);
            parser_expect(p, TOKEN_EQUAL);
        }
        c.value = condition_of(p);
        PARSER_PUSH(p, clauses, count, capacity, c);
    } while (!p->panic && parser_accept(p, TOKEN_AND_AND));
    expr *then = block_of(p, NULL, NULL, start);
    then->block = parse_block(p);
    expr *chain = leave(p, label, parser_finish(p, then)), *otherwise = parse_otherwise(p);
    while (count-- > 0)
        chain = within(p, &clauses[count], chain);
    expr *body = block_of(p, statement(p, chain), otherwise, start);
    expr *e = parser_new(p, EXPR_LOOP, start);
    e->loop = PARSER_NEW(p, loop_expr);
    *e->loop = (loop_expr){.label = label, .is_block = true};
    e->loop->body = block_of(p, statement(p, leave(p, label, body)), NULL, start)->block;
    return parser_finish(p, e);
}
