/* parser_stmt.c: blocks, statements, if, match and loops. */
#include "language/syntax/parser_private.h"

/* ---- let ------------------------------------------------------------------------------------- */

/* let C[i, k] = A[i, j] * B[j, k]; the names in brackets are the outputs of a comprehension without
 * clauses. */
static comprehension_expr *parse_einstein_indices(parser *p) {
    comprehension_expr *c = PARSER_NEW(p, comprehension_expr);
    uint32_t names = 0, spans = 0;
    c->einstein = true;
    parser_advance(p);
    while (!parser_is(p, TOKEN_RIGHT_BRACKET) && !parser_is(p, TOKEN_END) && !p->panic) {
        source_span span;
        const char *name = parser_name(p, &span);
        uint32_t count = c->output_count;
        if (name == NULL)
            break;
        PARSER_PUSH(p, c->output_names, count, names, name);
        PARSER_PUSH(p, c->output_spans, c->output_count, spans, span);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    parser_expect(p, TOKEN_RIGHT_BRACKET);
    return c;
}

/* A statement that is complete at the end of its line needs no semicolon; what goes on is what the next line cannot
 * begin. */
static bool ends_with_line(parser *p) {
    if (!parser_first_on_line(p) || !parser_begins_statement(p))
        return false;
    parser_warn_missing(p, "`;`");
    return true;
}

static void end_statement(parser *p) {
    if (p->panic || parser_accept(p, TOKEN_SEMICOLON) || parser_is(p, TOKEN_RIGHT_BRACE) || ends_with_line(p))
        return; /* in a panic the semicolon is where parser_synchronise stops */
    bool new_line = parser_first_on_line(p);
    parser_expected(p, "`;`");
    if (new_line) /* only the semicolon is missing */
        p->panic = false;
}

/* Names alone, in tuples or not, with a type for each or none. */
static bool may_come_later(const pattern *names, const type_expr *annotation) {
    if (names->kind == PATTERN_NAME)
        return names->binding != NULL;
    bool good = names->kind == PATTERN_TUPLE && names->part_count > 0 && !names->rest &&
                (annotation == NULL ||
                 (annotation->kind == TYPE_EXPR_TUPLE && annotation->argument_count == names->part_count));
    for (uint32_t i = 0; good && i < names->part_count; i++)
        good = may_come_later(names->parts[i], annotation == NULL ? NULL : annotation->arguments[i]);
    return good;
}

/* let x; let (a, mut b): (f64, T);  a statement for each name, in s and behind it. The last one. */
static stmt *let_later(parser *p, stmt *s, pattern *names, type_expr *annotation) {
    if (names->kind == PATTERN_NAME) {
        *s = (stmt){.kind = STMT_LET, .span = s->span, .pattern = names, .annotation = annotation, .is_late = true};
        return s;
    }
    for (uint32_t i = 0; i < names->part_count; i++) {
        if (i > 0) {
            s->next = PARSER_NEW(p, stmt);
            s->next->span = s->span;
            s = s->next;
        }
        s = let_later(p, s, names->parts[i], annotation == NULL ? NULL : annotation->arguments[i]);
    }
    return s;
}

static void parse_let(parser *p, stmt *s) {
    s->kind = STMT_LET;
    parser_accept(p, TOKEN_LET);
    uint32_t from = p->step_count;
    s->pattern = parse_pattern(p);
    comprehension_expr *einstein = NULL;
    if (parser_is(p, TOKEN_LEFT_BRACKET) && s->pattern->kind == PATTERN_NAME)
        einstein = parse_einstein_indices(p);
    if (parser_accept(p, TOKEN_COLON))
        s->annotation = parse_type(p);
    if (!parser_is(p, TOKEN_EQUAL) && !p->panic && (parser_is(p, TOKEN_SEMICOLON) || parser_is(p, TOKEN_RIGHT_BRACE))) {
        if (may_come_later(s->pattern, s->annotation)) {
            let_later(p, s, s->pattern, s->annotation);
        } else {
            parser_say(p, s->pattern->span, SAY(let_needs_value));
            p->panic = false;
        }
    } else if (parser_expect(p, TOKEN_EQUAL)) {
        s->value = parse_expression(p);
        if (parser_accept(p, TOKEN_ELSE))
            s->otherwise = parse_block(p);
    }
    if (einstein != NULL && s->value != NULL) {
        expr *e = parser_new(p, EXPR_COMPREHENSION, s->value->span);
        einstein->body = s->value;
        e->comprehension = einstein;
        s->value = parser_finish(p, e);
    }
    stmt *check = parser_step_check(p, from, s->pattern->span, s->otherwise);
    if (check != NULL && s->pattern->kind == PATTERN_NAME)
        s->otherwise = NULL; /* the name takes every list */
    stmt *parts = parser_step_lets(p, from);
    if (check != NULL) {
        check->next = parts;
        parts = check;
    }
    s->next = parts != NULL ? parts : s->next; /* of a list: its parts are bound behind it */
    end_statement(p);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void block_append(block *b, stmt **last, stmt *s) {
    if (*last == NULL)
        b->first = s;
    else
        (*last)->next = s;
    while (s->next != NULL)
        s = s->next;
    *last = s;
}

/* `if a { b }` and its like end with their brace, unless a dot follows: *complete then. */
static expr *parse_statement_expression(parser *p, bool *complete) {
    *complete = parser_at_block_like(p);
    if (!*complete)
        return parse_expression(p);
    expr *e = parse_block_like(p);
    if (parser_is(p, TOKEN_DOT) || parser_is(p, TOKEN_QUESTION)) {
        *complete = false;
        e = parse_binary_from(p, parse_postfix(p, e));
    }
    return e;
}

/* True when the expression is the block's result. */
static bool parse_expression_statement(parser *p, stmt *s) {
    bool complete;
    s->kind = STMT_EXPR;
    s->value = parse_statement_expression(p, &complete);
    if (p->panic)
        return false;
    if (parser_is(p, TOKEN_RIGHT_BRACE))
        return true;
    bool script = p->script != NULL && p->depth == 0 && parser_is(p, TOKEN_END);
    if (!parser_accept(p, TOKEN_SEMICOLON) && !complete && !script)
        end_statement(p);
    return false;
}

static void parse_statement(parser *p, block *b, stmt **last) {
    if (parser_accept(p, TOKEN_SEMICOLON))
        return;
    if (parser_at_item(p)) { /* an item belongs to the whole file wherever it is */
        parse_item(p);
        return;
    }
    stmt *s = PARSER_NEW(p, stmt);
    s->span = parser_span(p);
    bool result = false;
    if (parser_is(p, TOKEN_LET) || (parser_is_word(p, "_") && parser_ahead(p, 1) == TOKEN_EQUAL)) /* _ = f(); */
        parse_let(p, s);
    else
        result = parse_expression_statement(p, s);
    s->span = parser_span_from(p, s->span);
    if (result)
        b->result = s->value;
    else
        block_append(b, last, s);
}

void parse_script_statement(parser *p) {
    if (p->script == NULL) {
        p->script = PARSER_NEW(p, block);
        p->script->span = parser_span(p);
    }
    parse_statement(p, p->script, &p->script_last);
    if (p->script->result != NULL) { /* in front of a `}` that closes nothing */
        stmt *s = PARSER_NEW(p, stmt);
        *s = (stmt){.kind = STMT_EXPR, .span = p->script->span, .value = p->script->result};
        block_append(p->script, &p->script_last, s);
        p->script->result = NULL;
    }
}

static void parse_statements(parser *p, block *b, source_span open) {
    stmt *last = NULL;
    while (!parser_is(p, TOKEN_RIGHT_BRACE) && !parser_is(p, TOKEN_END)) {
        uint32_t before = p->at;
        parse_statement(p, b, &last);
        if (p->panic)
            parser_synchronise(p);
        if (p->at == before)
            parser_advance(p);
    }
    if (!parser_accept(p, TOKEN_RIGHT_BRACE))
        parser_unclosed(p, open);
}

block *parse_block(parser *p) {
    block *b = PARSER_NEW(p, block);
    source_span open = parser_span(p);
    b->span = open;
    if (!parser_expect(p, TOKEN_LEFT_BRACE))
        return b;
    bool no_struct = p->no_struct;
    p->no_struct = false;
    if (parser_enter(p))
        parse_statements(p, b, open);
    parser_leave(p);
    p->no_struct = no_struct;
    b->span = parser_span_from(p, open);
    return b;
}

/* ---- if, match ------------------------------------------------------------------------------- */

expr *parser_new_match(parser *p, source_span span, expr *value, uint32_t arms) {
    expr *e = parser_new(p, EXPR_MATCH, span);
    e->match.value = value;
    e->match.arms = parser_alloc(p, arms * sizeof *e->match.arms);
    e->match.count = arms;
    return e;
}

static pattern *wildcard(parser *p) {
    pattern *made = PARSER_NEW(p, pattern);
    made->span = parser_span(p);
    made->kind = PATTERN_WILDCARD;
    return made;
}

static expr *block_expression(parser *p, block *b) {
    expr *e = parser_new(p, EXPR_BLOCK, b->span);
    e->block = b;
    return parser_finish(p, e);
}

/* Behind `if`: let P = v { … } else … is match v { P => { … }, _ => … }. */
static expr *parse_if_let(parser *p, source_span start) {
    expr *e = parser_new(p, EXPR_MATCH, start);
    e->match.is_let = true;
    uint32_t from = p->step_count, capacity = 0;
    parser_advance(p);
    pattern_choice choice = parse_pattern_choice(p, from);
    match_arm arm = {0}, other = {.pattern = wildcard(p)};
    parser_expect(p, TOKEN_EQUAL);
    e->match.value = parse_condition(p);
    arm.body = block_expression(p, parse_block(p));
    parser_add_arms(p, &choice, from, arm, &e->match.arms, &e->match.count, &capacity);
    PARSER_PUSH(p, e->match.arms, e->match.count, capacity, other);
    return e;
}

static expr *parse_if(parser *p);

static expr *parse_else(parser *p) {
    if (!parser_accept(p, TOKEN_ELSE))
        return NULL;
    return parser_is(p, TOKEN_IF) ? parse_if(p) : block_expression(p, parse_block(p));
}

static expr *parse_break(parser *p) {
    return parser_finish(p, parser_new(p, EXPR_BREAK, parser_span(p)));
}

static expr *parse_if(parser *p) {
    expr *e = parser_new(p, EXPR_IF, parser_span(p)), *otherwise = NULL;
    parser_advance(p);
    if (!parser_enter(p)) {
        parser_leave(p);
        e->kind = EXPR_ERROR;
        return e;
    }
    if (parser_at_chain(p)) {
        e = parse_chain(p, e->span, parse_else);
        parser_leave(p);
        return e;
    }
    if (parser_is(p, TOKEN_LET)) {
        e = parse_if_let(p, e->span);
    } else {
        e->branch.condition = parse_condition(p);
        e->branch.then = parse_block(p);
    }
    otherwise = parse_else(p);
    if (e->kind == EXPR_IF) {
        e->branch.otherwise = otherwise;
        if (otherwise != NULL && otherwise->kind == EXPR_MATCH) { /* else if let */
            block *b = PARSER_NEW(p, block);
            *b = (block){.span = otherwise->span, .result = otherwise};
            e->branch.otherwise = block_expression(p, b);
        }
    } else {
        block *nothing = PARSER_NEW(p, block);
        nothing->span = parser_span(p);
        nothing->span.length = 0;
        e->match.arms[e->match.count - 1].body = otherwise != NULL ? otherwise : block_expression(p, nothing);
    }
    parser_leave(p);
    return parser_finish(p, e);
}

static void end_arm(parser *p) {
    if (!p->panic && parser_first_on_line(p)) /* a line is an arm */
        parser_warn_missing(p, "`,`");
    else
        parser_expected(p, "`,`");
}

static void parse_arm(parser *p, expr *e, uint32_t *capacity, bool *lists) {
    uint32_t from = p->step_count;
    pattern_choice choice = parse_pattern_choice(p, from);
    match_arm arm = {0};
    *lists |= choice.lists;
    if (parser_accept(p, TOKEN_IF))
        arm.guard = parse_expression(p);
    if (!parser_expect(p, TOKEN_FAT_ARROW)) {
        arm.body = parser_error_expr(p);
    } else {
        bool complete;
        arm.body = parse_statement_expression(p, &complete);
        if (!parser_accept(p, TOKEN_COMMA) && !complete && !parser_is(p, TOKEN_RIGHT_BRACE))
            end_arm(p);
    }
    parser_add_arms(p, &choice, from, arm, &e->match.arms, &e->match.count, capacity);
}

static void parse_arms(parser *p, expr *e, source_span open) {
    uint32_t capacity = 0;
    bool lists = false;
    while (!parser_is(p, TOKEN_RIGHT_BRACE) && !parser_is(p, TOKEN_END)) {
        uint32_t before = p->at;
        parse_arm(p, e, &capacity, &lists);
        if (p->panic) {
            parser_synchronise_list(p, TOKEN_RIGHT_BRACE);
            if (p->panic)
                return;
            parser_accept(p, TOKEN_COMMA);
        }
        if (p->at == before)
            parser_advance(p);
    }
    if (!parser_accept(p, TOKEN_RIGHT_BRACE))
        parser_unclosed(p, open);
    bool ends = e->match.count > 0 && e->match.arms[e->match.count - 1].guard == NULL &&
                e->match.arms[e->match.count - 1].pattern->kind == PATTERN_WILDCARD;
    if (lists && !ends)
        parser_close_match(p, e);
}

static expr *parse_match(parser *p) {
    expr *e = parser_new(p, EXPR_MATCH, parser_span(p));
    parser_advance(p);
    e->match.value = parse_condition(p);
    source_span open = parser_span(p);
    bool no_struct = p->no_struct;
    p->no_struct = false;
    if (parser_expect(p, TOKEN_LEFT_BRACE)) {
        if (parser_enter(p))
            parse_arms(p, e, open);
        parser_leave(p);
    }
    p->no_struct = no_struct;
    return parser_finish(p, e);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* for (i = 0; i < n; i++) and for (let x of v), as other languages have them. */
static bool is_counting_head(const parser *p) {
    if (!parser_is(p, TOKEN_LEFT_PAREN))
        return false;
    uint32_t depth = 0, ahead = 0;
    do {
        token_kind kind = parser_ahead(p, ahead++);
        depth += (kind == TOKEN_LEFT_PAREN) - (kind == TOKEN_RIGHT_PAREN);
        if (kind == TOKEN_SEMICOLON || kind == TOKEN_LET)
            return true;
        if (kind == TOKEN_END || kind == TOKEN_LEFT_BRACE)
            return false;
    } while (depth > 0);
    return false;
}

/* The body is read all the same: what is wrong in it is said, too. */
static void refuse_counting_head(parser *p) {
    source_span span = parser_span(p);
    parser_skip_group(p);
    diagnostic *d = parser_say(p, parser_span_from(p, span), SAY(expected_in_found));
    parser_note(p, d, (source_span){0}, "a loop over numbers is written `for i in 0..n { … }`");
    p->panic = false;
}

static void parse_loop_head(parser *p, expr *e, uint32_t *from) {
    if (e->kind == EXPR_WHILE) {
        e->loop->condition = parse_condition(p);
    } else if (e->kind == EXPR_FOR) {
        *from = p->step_count;
        if (is_counting_head(p)) {
            refuse_counting_head(p);
            return;
        }
        e->loop->pattern = parse_pattern(p);
        if (parser_expect(p, TOKEN_IN))
            e->loop->iterable = parse_condition(p);
    }
}

/* while let P = v { … } is loop { match v { P => { … }, _ => break } }. */
static void parse_while_let(parser *p, expr *e) {
    source_span span = parser_span(p);
    expr *choice;
    if (parser_at_chain(p)) {
        choice = parse_chain(p, span, parse_break);
    } else {
        choice = parse_if_let(p, span);
        choice->match.arms[choice->match.count - 1].body = parser_new(p, EXPR_BREAK, span);
        choice = parser_finish(p, choice);
    }
    block *body = PARSER_NEW(p, block);
    stmt *s = PARSER_NEW(p, stmt);
    *s = (stmt){.kind = STMT_EXPR, .span = choice->span, .value = choice};
    *body = (block){.span = choice->span, .first = s};
    e->kind = EXPR_LOOP;
    e->loop->body = body;
}

static expr *parse_loop(parser *p, const char *label, source_span start) {
    expr_kind kind = parser_is(p, TOKEN_WHILE) ? EXPR_WHILE : parser_is(p, TOKEN_LOOP) ? EXPR_LOOP : EXPR_FOR;
    expr *e = parser_new(p, kind, start);
    loop_expr *loop = PARSER_NEW(p, loop_expr);
    loop->label = label;
    e->loop = loop;
    parser_advance(p);
    if (kind == EXPR_WHILE && (parser_is(p, TOKEN_LET) || parser_at_chain(p))) {
        parse_while_let(p, e);
        return parser_finish(p, e);
    }
    uint32_t from = p->step_count;
    parse_loop_head(p, e, &from);
    loop->body = parse_block(p);
    stmt *lets = parser_step_lets(p, from), *end = lets;
    while (end != NULL && end->next != NULL)
        end = end->next;
    if (end != NULL) {
        end->next = loop->body->first;
        loop->body->first = lets;
    }
    bool complete = (kind == EXPR_LOOP) || loop->condition != NULL || loop->iterable != NULL;
    if (!complete) {
        e->kind = EXPR_ERROR;
        return e;
    }
    return parser_finish(p, e);
}

/* 'a: { … } is a loop that runs once: loop { break 'a { … } }. */
static expr *parse_labelled_block(parser *p, const char *label, source_span start) {
    expr *value = parser_new(p, EXPR_BLOCK, parser_span(p));
    value->block = parse_block(p);
    value = parser_finish(p, value);
    expr *leave = parser_new(p, EXPR_BREAK, value->span);
    leave->jump.value = value;
    leave = parser_finish(p, leave);
    stmt *s = PARSER_NEW(p, stmt);
    *s = (stmt){.kind = STMT_EXPR, .span = value->span, .value = leave};
    block *body = PARSER_NEW(p, block);
    *body = (block){.span = value->span, .first = s, .height = leave->height};
    expr *e = parser_new(p, EXPR_LOOP, start);
    e->loop = PARSER_NEW(p, loop_expr);
    *e->loop = (loop_expr){.label = label, .body = body, .is_block = true};
    leave->jump.label = label;
    return parser_finish(p, e);
}

static expr *parse_labelled(parser *p) {
    source_span start = parser_span(p);
    const char *label = parser_text(p, parser_token(p));
    parser_advance(p);
    parser_expect(p, TOKEN_COLON);
    if (parser_is(p, TOKEN_WHILE) || parser_is(p, TOKEN_LOOP) || parser_is(p, TOKEN_FOR))
        return parse_loop(p, label, start);
    if (parser_is(p, TOKEN_LEFT_BRACE))
        return parse_labelled_block(p, label, start);
    parser_expected(p, "`loop`, `while`, `for` or `{`");
    return parser_error_expr(p);
}

static bool at_no_grad(const parser *p) {
    return parser_is_word(p, "no_grad") && parser_ahead(p, 1) == TOKEN_LEFT_BRACE && !p->no_struct;
}

bool parser_at_block_like(const parser *p) {
    switch (parser_kind(p)) {
    case TOKEN_NAME:
        return at_no_grad(p);
    case TOKEN_IF:
    case TOKEN_MATCH:
    case TOKEN_WHILE:
    case TOKEN_LOOP:
    case TOKEN_FOR:
    case TOKEN_LEFT_BRACE:
        return true;
    case TOKEN_LABEL:
        return parser_ahead(p, 1) == TOKEN_COLON;
    default:
        return false;
    }
}

static expr *parse_no_grad(parser *p) {
    expr *e = parser_new(p, EXPR_BLOCK, parser_span(p));
    parser_advance(p);
    e->block = parse_block(p);
    e->block->unrecorded = true;
    return parser_finish(p, e);
}

expr *parse_block_like(parser *p) {
    switch (parser_kind(p)) {
    case TOKEN_NAME:
        return parse_no_grad(p);
    case TOKEN_IF:
        return parse_if(p);
    case TOKEN_MATCH:
        return parse_match(p);
    case TOKEN_LABEL:
        return parse_labelled(p);
    case TOKEN_LEFT_BRACE: {
        expr *e = parser_new(p, EXPR_BLOCK, parser_span(p));
        e->block = parse_block(p);
        return parser_finish(p, e);
    }
    default:
        return parse_loop(p, NULL, parser_span(p));
    }
}
