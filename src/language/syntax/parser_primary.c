/* parser_primary.c: literals, names, brackets, comprehensions. */
#include <ctype.h>
#include <string.h>

#include "language/syntax/outside.h"
#include "language/syntax/parser_private.h"

static const literal *literal_here(const parser *p) {
    return &p->list.literals[parser_token(p)->literal];
}

/* b"ab" is vec![97u8, 98u8]. */
static expr *bytes_of(parser *p, const expr *text) {
    expr *e = parser_new(p, EXPR_ARRAY, text->span);
    uint32_t capacity = 0;
    e->is_vec = e->list.is_bytes = true;
    for (size_t i = 0; i < text->string.length; i++) {
        expr *byte = parser_new(p, EXPR_INT, text->span);
        byte->integer.value = (unsigned char)text->string.data[i];
        byte->integer.suffix = TYPE_U8;
        PARSER_PUSH(p, e->list.items, e->list.count, capacity, byte);
    }
    return parser_finish(p, e);
}

static expr *parse_literal(parser *p) {
    expr *e = parser_new(p, EXPR_BOOL, parser_span(p));
    const literal *value = literal_here(p);
    switch (parser_kind(p)) {
    case TOKEN_INT:
        e->kind = EXPR_INT;
        e->integer.value = value->integer;
        e->integer.suffix = value->suffix;
        break;
    case TOKEN_FLOAT:
        e->kind = EXPR_FLOAT;
        e->floating.is_whole = false;
        e->floating.value = value->floating;
        e->floating.suffix = value->suffix;
        break;
    case TOKEN_CHAR:
        e->kind = EXPR_CHAR;
        e->character = (uint32_t)value->integer;
        break;
    case TOKEN_STRING:
        e->kind = EXPR_STRING;
        e->string.data = value->string.data;
        e->string.length = value->string.length;
        break;
    default:
        e->boolean = parser_is(p, TOKEN_TRUE);
        break;
    }
    parser_advance(p);
    return e->kind == EXPR_STRING && value->suffix == TYPE_U8 ? bytes_of(p, e) : e;
}

/* ---- names and struct literals --------------------------------------------------------------- */

/* A name that types have, values hardly: i64, Point. */
static bool looks_like_type(const parser *p, uint32_t ahead) {
    const token *t = &p->list.tokens[p->at + ahead];
    const char *text = p->file->text + t->offset;
    return isupper((unsigned char)text[0]) || scalar_type_of_name(text, t->length) != TYPE_ERROR;
}

/* Vec<T>::new(), id<i64>(3), Pair<i64, f32> { … }: whether `<` opens arguments. Without `::<` before or `::` behind
 * only where the names in it are those of types: otherwise it compares. Looks a bounded number of tokens ahead. */
static bool type_arguments_follow(const parser *p) {
    uint32_t depth = 0;
    bool types = true;
    for (uint32_t ahead = 0; ahead < 64; ahead++) {
        token_kind kind = parser_ahead(p, ahead);
        types = types && (kind != TOKEN_NAME || looks_like_type(p, ahead)) && (kind != TOKEN_INT || depth > 1);
        switch (kind) {
        case TOKEN_LESS:
            depth++;
            break;
        case TOKEN_GREATER:
            depth--;
            break;
        case TOKEN_SHR:
            depth = depth > 2 ? depth - 2 : 0;
            break;
        case TOKEN_NAME:
        case TOKEN_INT:
        case TOKEN_COMMA:
        case TOKEN_LEFT_PAREN:
        case TOKEN_RIGHT_PAREN:
        case TOKEN_LEFT_BRACKET:
        case TOKEN_RIGHT_BRACKET:
        case TOKEN_SEMICOLON:
            break;
        default:
            return false;
        }
        if (depth == 0) {
            token_kind next = parser_ahead(p, ahead + 1);
            return next == TOKEN_COLON_COLON ||
                   (types && (next == TOKEN_LEFT_PAREN || (next == TOKEN_LEFT_BRACE && !p->no_struct)));
        }
    }
    return false;
}

/* The path before the last `::` becomes the scope: std::f32::consts::PI has scope
 * "std::f32::consts". */
static void parse_path_rest(parser *p, expr *e) {
    const char *start = p->file->text + e->span.offset;
    while (!p->panic) {
        if (parser_is(p, TOKEN_LESS) && e->name.arguments == NULL && type_arguments_follow(p)) {
            parser_advance(p);
            parse_type_arguments(p, &e->name.arguments, &e->name.argument_count);
        }
        if (!parser_is(p, TOKEN_COLON_COLON))
            return;
        source_span scope = parser_span_from(p, e->span), span;
        parser_advance(p);
        if (parser_is(p, TOKEN_LESS)) { /* Vec::<T>::new() */
            parser_advance(p);
            parse_type_arguments(p, &e->name.arguments, &e->name.argument_count);
            if (!parser_is(p, TOKEN_COLON_COLON)) /* f::<T>(…) */
                return;
            parser_advance(p);
        }
        const char *name = parser_name(p, &span);
        if (name == NULL)
            return;
        const char *arguments = memchr(start, '<', scope.length);
        e->name.scope_span = scope;
        e->name.scope = masu__arena_strndup(p->arena, start,
                                            arguments != NULL ? (size_t)(arguments - start) : scope.length);
        e->name.name = name;
        if (e->name.scope == NULL)
            parser_out_of_memory(p);
        if (strstr(e->name.scope, "::<") != NULL)
            parser_refuse(p, scope, "this path");
    }
}

static expr *parse_brackets(parser *p);

static bool struct_literal_follows(const parser *p) {
    if (p->no_struct || !parser_is(p, TOKEN_LEFT_BRACE))
        return false;
    token_kind first = parser_ahead(p, 1), second = parser_ahead(p, 2);
    return first == TOKEN_RIGHT_BRACE || first == TOKEN_DOT_DOT ||
           (first == TOKEN_NAME && (second == TOKEN_COLON || second == TOKEN_COMMA || second == TOKEN_RIGHT_BRACE));
}

static field_init parse_init(parser *p) {
    field_init init = {.span = parser_span(p)};
    init.name = parser_name(p, &init.span);
    if (init.name == NULL)
        return init;
    if (parser_accept(p, TOKEN_COLON)) {
        init.value = parse_expression(p);
    } else { /* `x` for `x: x` */
        init.value = parser_new(p, EXPR_NAME, init.span);
        init.value->name.name = init.name;
    }
    return init;
}

static expr *parse_struct_literal(parser *p, expr *name) {
    expr *e = parser_new(p, EXPR_STRUCT, name->span);
    uint32_t capacity = 0;
    e->structure.name = name->name.item != NULL ? name->name.item : name->name.name;
    e->structure.name_span = name->span;
    e->structure.scope = name->name.scope;
    e->structure.type_arguments = name->name.arguments;
    e->structure.type_argument_count = name->name.argument_count;
    parser_advance(p);
    while (!parser_is(p, TOKEN_RIGHT_BRACE) && !parser_is(p, TOKEN_END)) {
        if (parser_accept(p, TOKEN_DOT_DOT)) {
            e->structure.base = parse_expression(p);
            break;
        }
        field_init init = parse_init(p);
        if (init.value != NULL)
            PARSER_PUSH(p, e->structure.inits, e->structure.init_count, capacity, init);
        parser_synchronise_list(p, TOKEN_RIGHT_BRACE);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    parser_expect(p, TOKEN_RIGHT_BRACE);
    return parser_finish(p, e);
}

static expr *parse_path(parser *p) {
    expr *e = parser_new(p, EXPR_NAME, parser_span(p));
    e->name.name = parser_text(p, parser_token(p));
    parser_advance(p);
    parse_path_rest(p, e);
    if (e->name.scope != NULL)
        parser_find_item(p, &e->name.scope, &e->name.name, e->span);
    else
        e->name.item = parser_found_item(p, e->name.name, e->span);
    e->span = parser_span_from(p, e->span);
    if (struct_literal_follows(p))
        return parse_struct_literal(p, e);
    if (parser_is(p, TOKEN_NOT) &&
        (parser_ahead(p, 1) == TOKEN_LEFT_PAREN || parser_ahead(p, 1) == TOKEN_LEFT_BRACKET)) {
        bool brackets = parser_ahead(p, 1) == TOKEN_LEFT_BRACKET;
        if (brackets && strcmp(e->name.name, "vec") != 0)
            parser_refuse(p, e->span, "macros with brackets");
        parser_advance(p); /* println!(…) is println(…), vec![…] the array */
        if (!brackets && strcmp(e->name.name, "matches") == 0)
            return parse_matches(p, e->span);
        if (brackets) {
            expr *list = parse_brackets(p);
            list->is_vec = true;
            return list;
        }
    }
    return e;
}

/* ---- ( … ) ----------------------------------------------------------------------------------- */

static expr *parse_parentheses(parser *p) {
    expr *e = parser_new(p, EXPR_TUPLE, parser_span(p));
    bool no_struct = p->no_struct, comma = false;
    uint32_t capacity = 0;
    p->no_struct = false;
    parser_advance(p);
    while (!parser_is(p, TOKEN_RIGHT_PAREN) && !parser_is(p, TOKEN_END)) {
        expr *item = parse_expression(p);
        PARSER_PUSH(p, e->list.items, e->list.count, capacity, item);
        parser_synchronise_list(p, TOKEN_RIGHT_PAREN);
        comma = parser_accept(p, TOKEN_COMMA);
        if (!comma)
            break;
    }
    p->no_struct = no_struct;
    parser_expect(p, TOKEN_RIGHT_PAREN);
    if (e->list.count == 1 && !comma) {
        expr *inner = e->list.items[0];
        inner->in_parentheses = true;
        inner->span = parser_span_from(p, e->span);
        return inner;
    }
    return parser_finish(p, e);
}

/* ---- [ … ] ----------------------------------------------------------------------------------- */

static expr *parse_brackets(parser *p) {
    source_span start = parser_span(p);
    parser_advance(p);
    if (parser_at_comprehension(p))
        return parse_comprehension(p, start);
    expr *e = parser_new(p, EXPR_ARRAY, start);
    bool no_struct = p->no_struct;
    uint32_t capacity = 0;
    p->no_struct = false;
    while (!parser_is(p, TOKEN_RIGHT_BRACKET) && !parser_is(p, TOKEN_END)) {
        expr *item = parse_expression(p);
        PARSER_PUSH(p, e->list.items, e->list.count, capacity, item);
        if (e->list.count == 1 && parser_accept(p, TOKEN_SEMICOLON)) {
            e->kind = EXPR_REPEAT;
            e->repeat.value = item;
            e->repeat.count = parse_expression(p);
            break;
        }
        parser_synchronise_list(p, TOKEN_RIGHT_BRACKET);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    p->no_struct = no_struct;
    parser_expect(p, TOKEN_RIGHT_BRACKET);
    return parser_finish(p, e);
}

/* ---- break, continue, return ----------------------------------------------------------------- */

static expr *parse_jump(parser *p) {
    token_kind kind = parser_kind(p);
    expr *e = parser_new(p,
                         kind == TOKEN_BREAK      ? EXPR_BREAK
                         : kind == TOKEN_CONTINUE ? EXPR_CONTINUE
                                                  : EXPR_RETURN,
                         parser_span(p));
    parser_advance(p);
    if (kind != TOKEN_RETURN && parser_is(p, TOKEN_LABEL)) {
        e->jump.label_span = parser_span(p);
        e->jump.label = parser_text(p, parser_token(p));
        parser_advance(p);
    }
    bool head = p->no_struct && parser_is(p, TOKEN_LEFT_BRACE);
    if (kind != TOKEN_CONTINUE && parser_at_expression(p) && !head)
        e->jump.value = parse_expression(p);
    return parser_finish(p, e);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static expr *parse_self_name(parser *p) {
    expr *e = parser_new(p, EXPR_NAME, parser_span(p));
    e->name.name = "self";
    parser_advance(p);
    return e;
}

/* |x, y: T| -> R body */
/* |(a, b)| e is |<_0>| { let (a, b) = <_0>; e } */
static void take_apart(parser *p, stmt **lets, pattern *part, const char *name) {
    stmt *s = PARSER_NEW(p, stmt);
    *s = (stmt){.kind = STMT_LET, .span = part->span, .pattern = part};
    s->value = parser_new(p, EXPR_NAME, part->span);
    s->value->name.name = name;
    while (*lets != NULL)
        lets = &(*lets)->next;
    *lets = s;
}

static expr *parse_closure(parser *p) {
    expr *e = parser_new(p, EXPR_CLOSURE, parser_span(p));
    uint32_t capacity = 0;
    bool empty = parser_accept(p, TOKEN_OR_OR), no_struct = p->no_struct;
    stmt *lets = NULL;
    if (!empty)
        parser_advance(p);
    while (!empty && !parser_is(p, TOKEN_OR) && !parser_is(p, TOKEN_END) && !p->panic) {
        uint32_t from = p->step_count;
        pattern *part = parse_pattern_no_or(p);
        binding *b = part->binding;
        if (part->kind != PATTERN_NAME || b == NULL) {
            const char *name = parser_printf(p, "<_%u>", e->closure.parameter_count);
            if (part->kind != PATTERN_WILDCARD)
                take_apart(p, &lets, part, name);
            b = parser_new_binding(p, name, part->span, BINDING_PARAMETER, false);
        }
        stmt **end = &lets;
        while (*end != NULL)
            end = &(*end)->next;
        *end = parser_step_lets(p, from);
        b->kind = BINDING_PARAMETER;
        if (parser_accept(p, TOKEN_COLON))
            b->annotation = parse_type(p);
        PARSER_PUSH(p, e->closure.parameters, e->closure.parameter_count, capacity, b);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    if (!empty)
        parser_expect(p, TOKEN_OR);
    if (parser_accept(p, TOKEN_ARROW))
        e->closure.result = parse_type(p);
    p->no_struct = false;
    e->closure.body = parser_enter(p) ? parse_expression(p) : parser_error_expr(p);
    parser_leave(p);
    if (lets != NULL) {
        expr *body = parser_new(p, EXPR_BLOCK, e->closure.body->span);
        body->block = PARSER_NEW(p, block);
        *body->block = (block){.span = body->span, .first = lets, .result = e->closure.body};
        e->closure.body = parser_finish(p, body);
    }
    p->no_struct = no_struct;
    return parser_finish(p, e);
}

/* <T as Trait>::NAME, <T>::f(…): T::NAME */
static expr *parse_qualified(parser *p) {
    expr *e = parser_new(p, EXPR_NAME, parser_span(p));
    type_expr *trait = NULL, *t = parse_qualified_scope(p, &trait);
    const bool named = t->name != NULL && t->scope == NULL; /* else [T; N], P::Next */
    e->name.of = named && !t->is_shared ? NULL : t;
    e->name.scope = named ? t->name : "<type>";
    e->name.scope_span = t->span;
    e->name.trait = trait;
    e->name.arguments = t->arguments;
    e->name.argument_count = t->argument_count;
    source_span span;
    if (parser_expect(p, TOKEN_COLON_COLON))
        e->name.name = parser_name(p, &span);
    e->span = parser_span_from(p, e->span);
    return e->name.name == NULL || t->kind == TYPE_EXPR_ERROR ? parser_error_expr(p) : e;
}

/* query path(X, Y), ?path(X, Y), and $x of one */
static bool at_query(parser *p) {
    if (parser_ahead(p, 1) != TOKEN_NAME)
        return false;
    return parser_is(p, TOKEN_QUESTION) || parser_is(p, TOKEN_DOLLAR) ||
           (parser_is(p, TOKEN_NAME) && outside_is_logic_word(parser_text(p, parser_token(p))));
}

static expr *refuse_query(parser *p) {
    parser_refuse_once(p, parser_span(p), parser_logic);
    parser_advance(p);
    parser_advance(p);
    if (parser_is(p, TOKEN_LEFT_PAREN))
        parser_skip_group(p);
    p->panic = false;
    return parser_error_expr(p);
}

expr *parse_primary(parser *p) {
    switch (parser_kind(p)) {
    case TOKEN_INT:
    case TOKEN_FLOAT:
    case TOKEN_CHAR:
    case TOKEN_STRING:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        return parse_literal(p);
    case TOKEN_NAME:
        if (parser_is_word(p, "move") && (parser_ahead(p, 1) == TOKEN_OR || parser_ahead(p, 1) == TOKEN_OR_OR)) {
            parser_advance(p);
            expr *e = parse_closure(p);
            e->closure.is_move = true;
            return e;
        }
        if (parser_is_word(p, "unsafe") && parser_ahead(p, 1) == TOKEN_LEFT_BRACE) {
            parser_advance(p); /* what it allows, nothing here needs */
            return parse_block_like(p);
        }
        if (parser_at_block_like(p))
            return parse_block_like(p);
        return at_query(p) ? refuse_query(p) : parse_path(p);
    case TOKEN_SELF:
        if (parser_ahead(p, 1) == TOKEN_COLON_COLON) {
            parser_skip_self(p);
            return parse_primary(p);
        }
        return parse_self_name(p);
    case TOKEN_LESS:
        return parse_qualified(p);
    case TOKEN_LEFT_PAREN:
        return parse_parentheses(p);
    case TOKEN_LEFT_BRACKET:
        return parse_brackets(p);
    case TOKEN_BREAK:
    case TOKEN_CONTINUE:
    case TOKEN_RETURN:
        return parse_jump(p);
    case TOKEN_OR:
    case TOKEN_OR_OR:
        return parse_closure(p);
    default:
        if (parser_at_block_like(p))
            return parse_block_like(p);
        if (at_query(p))
            return refuse_query(p);
        parser_expected(p, "an expression");
        return parser_error_expr(p);
    }
}
