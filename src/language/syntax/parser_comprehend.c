/* parser_comprehend.c: comprehensions.
 *
 *     [ i, j | i <- 0..n, x <- list, i != j, if x > 0 { a[i, j] * x } ]
 *       outputs  generators          guards             body
 *
 * What comes out has ranges only: an index that runs through a list is the place of its element.
 */
#include <string.h>

#include "language/syntax/parser_private.h"

/* Behind `[`: names and commas up to a `|`, then something that only a clause begins with. */
bool parser_at_comprehension(const parser *p) {
    uint32_t at = p->at, last = p->list.count - 1;
    while (p->list.tokens[at].kind == TOKEN_NAME) {
        at++;
        if (p->list.tokens[at].kind != TOKEN_COMMA)
            break;
        at++;
    }
    if (at + 3 > last || p->list.tokens[at].kind != TOKEN_OR)
        return false;
    const token *next = &p->list.tokens[at + 1];
    bool generator = next[0].kind == TOKEN_NAME && next[1].kind == TOKEN_LESS && next[2].kind == TOKEN_MINUS &&
                     next[1].offset + 1 == next[2].offset;
    bool closure = at > p->at && p->list.tokens[at - 1].kind == TOKEN_COMMA;
    return generator || (!closure && ((next->kind == TOKEN_LEFT_BRACE && at > p->at) || at > p->at + 1));
}

static bool at_generator(const parser *p) {
    const token *t = parser_token(p);
    return t->kind == TOKEN_NAME && parser_ahead(p, 1) == TOKEN_LESS && parser_ahead(p, 2) == TOKEN_MINUS &&
           t[1].offset + 1 == t[2].offset;
}

static expr *new_number(parser *p, source_span span, uint64_t value) {
    expr *e = parser_new(p, EXPR_INT, span);
    e->integer.value = value;
    e->integer.suffix = TYPE_VOID;
    return e;
}

/* range(a, b) and range(b) are a..b and 0..b; anything else is a list: its elements, one after the other. */
static void range_of_call(parser *p, comprehension_clause *clause) {
    const expr *e = clause->low;
    if (e->kind != EXPR_CALL || e->call.callee == NULL || e->call.callee->kind != EXPR_NAME ||
        strcmp(e->call.callee->name.name, "range") != 0 || e->call.arg_count < 1 || e->call.arg_count > 2)
        return;
    clause->high = e->call.args[e->call.arg_count - 1];
    clause->low = e->call.arg_count == 2 ? e->call.args[0] : new_number(p, e->span, 0);
}

static void parse_generator(parser *p, comprehension_clause *clause) {
    source_span span;
    const char *name = parser_name(p, &span);
    clause->index = parser_new_binding(p, name, span, BINDING_INDEX, false);
    parser_advance(p);
    parser_advance(p);
    clause->low = parse_no_range(p);
    clause->inclusive = parser_is(p, TOKEN_DOT_DOT_EQUAL);
    if (parser_accept(p, TOKEN_DOT_DOT) || parser_accept(p, TOKEN_DOT_DOT_EQUAL))
        clause->high = parse_no_range(p);
    else
        range_of_call(p, clause);
}

static comprehension_clause parse_clause(parser *p) {
    comprehension_clause clause = {.span = parser_span(p)};
    bool no_struct = p->no_struct;
    p->no_struct = true; /* `r == k { body }` */
    if (at_generator(p)) {
        parse_generator(p, &clause);
    } else {
        parser_accept(p, TOKEN_IF);
        clause.condition = parse_no_range(p);
    }
    p->no_struct = no_struct;
    clause.span = parser_span_from(p, clause.span);
    return clause;
}

static void parse_outputs(parser *p, comprehension_expr *c) {
    uint32_t names = 0, spans = 0;
    while (parser_is(p, TOKEN_NAME)) {
        source_span span;
        const char *name = parser_name(p, &span);
        uint32_t count = c->output_count;
        PARSER_PUSH(p, c->output_names, count, names, name);
        PARSER_PUSH(p, c->output_spans, c->output_count, spans, span);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    parser_expect(p, TOKEN_OR);
}

static void parse_clauses(parser *p, comprehension_expr *c) {
    uint32_t capacity = 0;
    while (!parser_is(p, TOKEN_LEFT_BRACE) && !parser_is(p, TOKEN_RIGHT_BRACKET) && !parser_is(p, TOKEN_END) &&
           !p->panic) {
        comprehension_clause clause = parse_clause(p);
        PARSER_PUSH(p, c->clauses, c->clause_count, capacity, clause);
        if (!parser_accept(p, TOKEN_COMMA) && !parser_is(p, TOKEN_IF))
            break;
    }
}

static expr *name_of_output(parser *p, const comprehension_expr *c, uint32_t i) {
    expr *name = parser_new(p, EXPR_NAME, c->output_count > 0 ? c->output_spans[i] : parser_span(p));
    name->name.name = c->output_count > 0 ? c->output_names[i] : "";
    return name;
}

/* [i, j | …] is [i, j, <axis> | …, <axis> <- 0..2 { if <axis> == 0 { i } else { j } }]: each element keeps its
 * place. */
static expr *coordinates(parser *p, comprehension_expr *c) {
    uint32_t axes = c->output_count, names = axes, spans = axes, clauses = c->clause_count;
    source_span span = c->output_spans[axes - 1];
    expr *body = name_of_output(p, c, axes - 1);
    for (uint32_t i = axes - 1; i-- > 0;) {
        expr *test = parser_new(p, EXPR_BINARY, span), *choice = parser_new(p, EXPR_IF, span);
        expr *otherwise = parser_new(p, EXPR_BLOCK, span);
        test->binary.op = BINARY_EQ;
        test->binary.op_span = span;
        test->binary.left = parser_new(p, EXPR_NAME, span);
        test->binary.left->name.name = "<axis>";
        test->binary.right = new_number(p, span, i);
        choice->branch.condition = test;
        choice->branch.then = PARSER_NEW(p, block);
        *choice->branch.then = (block){.span = span, .result = name_of_output(p, c, i)};
        otherwise->block = PARSER_NEW(p, block);
        *otherwise->block = (block){.span = span, .result = body};
        choice->branch.otherwise = otherwise;
        body = choice;
    }
    comprehension_clause axis = {.span = span,
                                 .index = parser_new_binding(p, "<axis>", span, BINDING_INDEX, false),
                                 .low = new_number(p, span, 0),
                                 .high = new_number(p, span, axes)};
    uint32_t count = c->output_count;
    PARSER_PUSH(p, c->clauses, c->clause_count, clauses, axis);
    PARSER_PUSH(p, c->output_names, count, names, "<axis>");
    PARSER_PUSH(p, c->output_spans, c->output_count, spans, span);
    return body;
}

/* Without a body the elements are the index, of several the vector of all. */
static expr *parse_body(parser *p, comprehension_expr *c) {
    if (!parser_is(p, TOKEN_LEFT_BRACE))
        return c->output_count > 1 ? coordinates(p, c) : name_of_output(p, c, 0);
    expr *e = parser_new(p, EXPR_BLOCK, parser_span(p));
    e->block = parse_block(p);
    return parser_finish(p, e);
}

/* ---- x <- list ------------------------------------------------------------------------------- */

typedef struct element_search {
    parser *parser;
    const char *name;
    const expr *element;
} element_search;

static expr *copy_of(parser *p, const expr *e) {
    expr *copy = expr_copy(p->arena, e);
    if (copy == NULL)
        parser_out_of_memory(p);
    return copy;
}

static void put_element(expr *e, void *context) {
    element_search *search = context;
    if (e->kind == EXPR_NAME && e->name.scope == NULL && strcmp(e->name.name, search->name) == 0) {
        source_span span = e->span;
        *e = *copy_of(search->parser, search->element);
        e->span = span;
        return;
    }
    expr_each_child(e, put_element, context);
}

static expr *new_name(parser *p, source_span span, const char *name) {
    expr *e = parser_new(p, EXPR_NAME, span);
    e->name.name = name;
    return e;
}

static stmt *let_of(parser *p, const char *name, expr *value) {
    pattern *bound = PARSER_NEW(p, pattern);
    *bound = (pattern){.span = value->span, .kind = PATTERN_NAME};
    bound->binding = parser_new_binding(p, name, value->span, BINDING_LET, false);
    stmt *s = PARSER_NEW(p, stmt);
    *s = (stmt){.kind = STMT_LET, .span = value->span, .pattern = bound, .value = value};
    return s;
}

/* <at x> <- 0..list.len(), and list[<at x>] wherever x stood. */
static void run_through(parser *p, comprehension_expr *c, comprehension_clause *clause, const char *list) {
    source_span span = clause->low->span;
    const char *name = clause->index->name, *at = parser_printf(p, "<at %s>", name);
    expr *length = parser_new(p, EXPR_METHOD, span), *element = parser_new(p, EXPR_INDEX, span);
    length->call.receiver = new_name(p, span, list);
    length->call.name = "len";
    length->call.name_span = span;
    element->index.base = new_name(p, span, list);
    element->index.indices = parser_alloc(p, sizeof *element->index.indices);
    element->index.indices[0] = new_name(p, span, at);
    element->index.count = 1;
    element_search search = {p, name, element};
    for (uint32_t i = 0; i < c->clause_count; i++)
        if (c->clauses[i].condition != NULL)
            put_element(c->clauses[i].condition, &search);
    put_element(c->body, &search);
    for (uint32_t i = 0; i < c->output_count; i++)
        c->output_names[i] = strcmp(c->output_names[i], name) == 0 ? at : c->output_names[i];
    clause->index->name = at;
    clause->low = new_number(p, span, 0);
    clause->high = length;
}

/* [x | x <- list { e }] is { let <list> = list; [<at x> | <at x> <- 0..<list>.len() { e }] }. */
static expr *without_lists(parser *p, expr *e) {
    comprehension_expr *c = e->comprehension;
    stmt *first = NULL, **next = &first;
    for (uint32_t i = 0; i < c->clause_count; i++) {
        comprehension_clause *clause = &c->clauses[i];
        if (clause->index == NULL || clause->high != NULL)
            continue;
        const char *list = parser_printf(p, "<list %u>", p->slice_count++);
        *next = let_of(p, list, clause->low);
        next = &(*next)->next;
        run_through(p, c, clause, list);
    }
    if (first == NULL)
        return e;
    expr *whole = parser_new(p, EXPR_BLOCK, e->span);
    whole->block = PARSER_NEW(p, block);
    *whole->block = (block){.span = e->span, .first = first, .result = e};
    return parser_finish(p, whole);
}

/* ---- the whole ------------------------------------------------------------------------------- */

expr *parse_comprehension(parser *p, source_span start) {
    expr *e = parser_new(p, EXPR_COMPREHENSION, start);
    comprehension_expr *c = PARSER_NEW(p, comprehension_expr);
    e->comprehension = c;
    parse_outputs(p, c);
    parse_clauses(p, c);
    if (p->panic)
        c->body = parser_error_expr(p);
    else
        c->body = parse_body(p, c);
    parser_expect(p, TOKEN_RIGHT_BRACKET);
    parser_finish(p, e);
    if (!p->panic)
        return without_lists(p, e);
    for (uint32_t i = 0; i < c->clause_count; i++)
        if (c->clauses[i].index != NULL && c->clauses[i].high == NULL)
            c->clauses[i].high = parser_error_expr(p);
    return e;
}
