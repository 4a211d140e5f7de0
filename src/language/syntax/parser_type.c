/* parser_type.c: types and patterns. */
#include <string.h>

#include "language/syntax/parser_private.h"

static type_expr *new_type(parser *p, source_span span) {
    type_expr *t = PARSER_NEW(p, type_expr);
    t->span = span;
    return t;
}

static pattern *new_pattern(parser *p, int kind) {
    pattern *made = PARSER_NEW(p, pattern);
    made->span = parser_span(p);
    made->kind = kind;
    return made;
}

/* ---- types ----------------------------------------------------------------------------------- */

type_expr *parse_type_argument(parser *p) {
    if (parser_is(p, TOKEN_NAME) && parser_ahead(p, 1) == TOKEN_EQUAL) { /* Output = T */
        parser_advance(p);
        parser_advance(p);
    }
    if (!parser_is(p, TOKEN_INT))
        return parse_type(p);
    type_expr *t = new_type(p, parser_span(p));
    t->kind = TYPE_EXPR_NUMBER;
    t->number = p->list.literals[parser_token(p)->literal].integer;
    parser_advance(p);
    return t;
}

/* A lifetime that is here; else the one that is known. What types are does not depend on it. */
const char *parser_lifetime(parser *p, const char *known) {
    const char *name = known;
    if (parser_is(p, TOKEN_LABEL)) {
        name = parser_text(p, parser_token(p));
        parser_advance(p);
    }
    return name;
}

void parser_add_lifetime(parser *p, lifetime_name **list) {
    lifetime_name *made = PARSER_NEW(p, lifetime_name);
    made->name = parser_lifetime(p, NULL);
    while (*list != NULL)
        list = &(*list)->next;
    *list = made;
}

/* of: whose arguments they are; NULL: no type's */
static void parse_types_up_to(parser *p, token_kind end, type_expr ***arguments, uint32_t *count, type_expr *of) {
    lifetime_name *ignored = NULL;
    uint32_t capacity = 0;
    while (!parser_is(p, end) && !parser_is(p, TOKEN_SHR) && !parser_is(p, TOKEN_END) && !p->panic) {
        if (parser_is(p, TOKEN_LABEL)) {
            if (of != NULL)
                of->lifetime = parser_text(p, parser_token(p));
            parser_add_lifetime(p, of == NULL ? &ignored : &of->held);
            if (!parser_accept(p, TOKEN_COMMA))
                break;
            continue;
        }
        type_expr *argument = parse_type_argument(p);
        PARSER_PUSH(p, *arguments, *count, capacity, argument);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
}

static void parse_arguments_of(parser *p, type_expr ***arguments, uint32_t *count, type_expr *of) {
    parse_types_up_to(p, TOKEN_GREATER, arguments, count, of);
    if (!parser_accept_first(p, TOKEN_GREATER))
        parser_expected(p, "`>`");
}

void parse_type_arguments(parser *p, type_expr ***arguments, uint32_t *count) {
    parse_arguments_of(p, arguments, count, NULL);
}

/* &(T), &mut Box<dyn T>: a reference to T. One to a function is the function. */
static void become(type_expr *t, const type_expr *inner) {
    const type_expr outer = *t;
    *t = *inner;
    t->held = outer.held != NULL ? outer.held : t->held;
    if (inner->kind == TYPE_EXPR_FUNCTION)
        return;
    t->refers = outer.refers != NULL ? outer.refers : t->refers;
    t->is_place |= outer.is_place;
    t->is_shared |= outer.is_shared;
    t->leads_twice |= outer.leads_twice;
    t->lifetime = outer.lifetime != NULL ? outer.lifetime : t->lifetime;
}

static void parse_tuple_type(parser *p, type_expr *t) {
    uint32_t capacity = 0;
    bool comma = false;
    t->kind = TYPE_EXPR_TUPLE;
    while (!parser_is(p, TOKEN_RIGHT_PAREN) && !parser_is(p, TOKEN_END) && !p->panic) {
        type_expr *part = parse_type(p);
        PARSER_PUSH(p, t->arguments, t->argument_count, capacity, part);
        comma = parser_accept(p, TOKEN_COMMA);
        if (!comma)
            break;
    }
    parser_expect(p, TOKEN_RIGHT_PAREN);
    if (t->argument_count == 1 && !comma) /* (T) is T */
        become(t, t->arguments[0]);
}

/* The library brings a struct of its own along then. */
bool parser_is_counted(const parser *p, const char *pointer) {
    for (uint32_t i = 0; pointer != NULL && i < p->tree->struct_count; i++) {
        const char *name = p->tree->structs[i]->name;
        if (strncmp(name, "__", 2) == 0 && strcmp(name + 2, pointer) == 0)
            return true;
    }
    return false;
}

static void parse_named_type(parser *p, type_expr *t) {
    const char *path = NULL;
    t->name = parser_name(p, &t->span);
    while (t->name != NULL && parser_accept(p, TOKEN_COLON_COLON)) {
        path = parser_join(p, path, t->name);
        t->scope = t->name;
        t->name = parser_name(p, &t->span);
    }
    const char *scope = path;
    parser_find_item(p, &scope, &t->name, t->span);
    t->scope = scope == path ? t->scope : scope;
    t->kind = t->name == NULL ? TYPE_EXPR_ERROR : TYPE_EXPR_NAME;
    bool scalar = t->name != NULL && scalar_type_of_name(t->name, strlen(t->name)) != TYPE_ERROR;
    if (!scalar && parser_accept(p, TOKEN_LESS)) /* n as i64 < m compares */
        parse_arguments_of(p, &t->arguments, &t->argument_count, t);
    if (!scalar && t->name != NULL && parser_is(p, TOKEN_LEFT_BRACKET) && !parser_first_on_line(p)) {
        t->in_brackets = parser_accept(p, TOKEN_LEFT_BRACKET); /* Tensor[f32]: the checker says how it is written */
        parse_types_up_to(p, TOKEN_RIGHT_BRACKET, &t->arguments, &t->argument_count, t);
        parser_expect(p, TOKEN_RIGHT_BRACKET);
    }
    bool box = t->name != NULL && t->argument_count == 1 &&
               (strcmp(t->name, "Box") == 0 || strcmp(t->name, "Rc") == 0 || strcmp(t->name, "Arc") == 0);
    if (box && !(t->arguments[0]->kind == TYPE_EXPR_DYN && parser_is_counted(p, t->name)) &&
        (t->arguments[0]->kind != TYPE_EXPR_NAME || t->arguments[0]->name == NULL || t->arguments[0]->name[0] == '<'))
        become(t, t->arguments[0]); /* a boxed function is the function */
    t->span = parser_span_from(p, t->span);
}

/* Behind `fn`, `Fn`, `FnMut`: (A, B) -> R. */
static void parse_function_type(parser *p, type_expr *t) {
    t->kind = TYPE_EXPR_FUNCTION;
    if (!parser_expect(p, TOKEN_LEFT_PAREN))
        return;
    uint32_t capacity = 0;
    while (!parser_is(p, TOKEN_RIGHT_PAREN) && !parser_is(p, TOKEN_END) && !p->panic) {
        type_expr *part = parse_type(p);
        PARSER_PUSH(p, t->arguments, t->argument_count, capacity, part);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    parser_expect(p, TOKEN_RIGHT_PAREN);
    if (parser_accept(p, TOKEN_ARROW))
        t->result = parse_type(p);
    t->span = parser_span_from(p, t->span);
}

static void parse_array_type(parser *p, type_expr *t) {
    uint32_t capacity = 0;
    t->kind = TYPE_EXPR_ARRAY;
    parser_advance(p);
    type_expr *element = parse_type(p);
    PARSER_PUSH(p, t->arguments, t->argument_count, capacity, element);
    if (parser_accept(p, TOKEN_SEMICOLON))
        t->length = parse_expression(p);
    parser_expect(p, TOKEN_RIGHT_BRACKET);
    t->span = parser_span_from(p, t->span);
}

/* impl A + B: a type of its own with these bounds; only one of them is looked at. */
static void parse_impl_type(parser *p, type_expr *t) {
    uint32_t capacity = 0;
    parser_advance(p);
    t->kind = TYPE_EXPR_NAME;
    t->name = "<impl>";
    do {
        if (parser_is(p, TOKEN_LABEL)) {
            t->lifetime = parser_text(p, parser_token(p));
            parser_add_lifetime(p, &t->held);
            continue;
        }
        type_expr *bound = parse_type(p);
        PARSER_PUSH(p, t->arguments, t->argument_count, capacity, bound);
    } while (!p->panic && parser_accept(p, TOKEN_PLUS));
    t->span = parser_span_from(p, t->span);
    if (t->argument_count == 0)
        t->kind = TYPE_EXPR_ERROR;
    else if (t->arguments[0]->kind == TYPE_EXPR_FUNCTION)
        become(t, t->arguments[0]);
}

/* `<T as Trait>`, in front of `::` */
type_expr *parse_qualified_scope(parser *p, type_expr **trait) {
    parser_advance(p);
    type_expr *t = parse_type(p);
    if (parser_accept(p, TOKEN_AS))
        *trait = parse_type(p);
    parser_expect(p, TOKEN_GREATER);
    return t;
}

static void parse_type_into(parser *p, type_expr *t) {
    parser_skip_self(p);
    switch (parser_kind(p)) {
    case TOKEN_LESS: {
        t->of = parse_qualified_scope(p, &t->trait);
        parser_expect(p, TOKEN_COLON_COLON);
        t->scope = t->of->name;
        t->name = parser_name(p, &t->span);
        t->kind = t->name == NULL ? TYPE_EXPR_ERROR : TYPE_EXPR_NAME;
        return;
    }
    case TOKEN_LEFT_PAREN:
        parser_advance(p);
        parse_tuple_type(p, t);
        return;
    case TOKEN_LEFT_BRACKET:
        parse_array_type(p, t);
        return;
    case TOKEN_FN:
        parser_advance(p);
        parse_function_type(p, t);
        return;
    case TOKEN_IMPL:
        parse_impl_type(p, t);
        t->is_one_type = true;
        return;
    case TOKEN_NAME:
        if (parser_is_word(p, "dyn") && parser_ahead(p, 1) != TOKEN_COLON_COLON) {
            parse_impl_type(p, t);
            if (t->kind == TYPE_EXPR_NAME)
                t->kind = TYPE_EXPR_DYN;
            return;
        }
        if ((parser_is_word(p, "Fn") || parser_is_word(p, "FnMut") || parser_is_word(p, "FnOnce")) &&
            parser_ahead(p, 1) == TOKEN_LEFT_PAREN) {
            t->is_once = parser_is_word(p, "FnOnce");
            parser_advance(p);
            parse_function_type(p, t);
            return;
        }
        parse_named_type(p, t);
        return;
    default:
        parser_expected(p, "a type");
        return;
    }
}

type_expr *parse_type(parser *p) {
    type_expr *t = new_type(p, parser_span(p));
    if (parser_enter(p)) {
        while (parser_accept_first(p, TOKEN_AND)) { /* a reference is the value: sharing is never observable */
            t->refers = parser_lifetime(p, t->refers);
            t->lifetime = t->refers != NULL ? t->refers : t->lifetime;
            bool is_mutable = parser_accept(p, TOKEN_MUT);
            t->leads_twice |= t->is_place;
            t->is_place |= is_mutable;
            t->is_shared |= !is_mutable;
        }
        parse_for_lifetimes(p);
        t->span = parser_span(p);
        parse_type_into(p, t);
    }
    parser_leave(p);
    return t;
}

/* ---- patterns -------------------------------------------------------------------------------- */

static expr *parse_pattern_path(parser *p) {
    expr *e = parser_new(p, EXPR_NAME, parser_span(p));
    const char *path = NULL;
    e->name.name = parser_name(p, &e->span);
    while (!p->panic && parser_accept(p, TOKEN_COLON_COLON)) {
        path = parser_join(p, path, e->name.name);
        e->name.scope = e->name.name;
        e->name.scope_span = e->span;
        e->name.name = parser_name(p, &e->span);
    }
    const char *scope = path;
    parser_find_item(p, &scope, &e->name.name, e->span);
    e->name.scope = scope == path ? e->name.scope : scope;
    return e->name.name == NULL ? parser_error_expr(p) : e;
}

/* Whether the path here, of at most three names, is the low end of a range. */
static bool at_path_range(const parser *p) {
    uint32_t ahead = 1;
    while (ahead < 7 && parser_ahead(p, ahead) == TOKEN_COLON_COLON)
        ahead += 2;
    return parser_ahead(p, ahead) == TOKEN_DOT_DOT_EQUAL || parser_ahead(p, ahead) == TOKEN_DOT_DOT;
}

static expr *parse_pattern_literal(parser *p) {
    expr *minus = NULL;
    if (parser_is(p, TOKEN_MINUS)) {
        minus = parser_new(p, EXPR_UNARY, parser_span(p));
        parser_advance(p);
    }
    token_kind kind = parser_kind(p);
    if (minus == NULL && kind == TOKEN_NAME) /* i64::MAX, LIMIT */
        return parse_pattern_path(p);
    bool fits = kind == TOKEN_INT || kind == TOKEN_FLOAT ||
                (minus == NULL &&
                 (kind == TOKEN_CHAR || kind == TOKEN_TRUE || kind == TOKEN_FALSE || kind == TOKEN_STRING));
    if (!fits) {
        parser_expected(p, "a literal");
        return parser_error_expr(p);
    }
    expr *literal = parse_primary(p);
    if (minus == NULL)
        return literal;
    minus->unary.op = UNARY_NEG;
    minus->unary.operand = literal;
    return parser_finish(p, minus);
}

static void parse_literal_pattern(parser *p, pattern *made) {
    made->kind = PATTERN_LITERAL;
    made->low = parse_pattern_literal(p);
    if (parser_is(p, TOKEN_DOT_DOT) || parser_is(p, TOKEN_DOT_DOT_EQUAL)) {
        made->kind = PATTERN_RANGE;
        made->inclusive = parser_is(p, TOKEN_DOT_DOT_EQUAL);
        parser_advance(p);
        if (made->inclusive || parser_is(p, TOKEN_INT) || parser_is(p, TOKEN_MINUS) || parser_is(p, TOKEN_CHAR) ||
            parser_is(p, TOKEN_NAME))
            made->high = parse_pattern_literal(p);
    }
}

static void parse_tuple_pattern(parser *p, pattern *made) {
    uint32_t capacity = 0;
    bool comma = false;
    made->kind = PATTERN_TUPLE;
    parser_advance(p);
    bool no_struct = p->no_struct;
    p->no_struct = false;
    while (!parser_is(p, TOKEN_RIGHT_PAREN) && !parser_is(p, TOKEN_END) && !p->panic) {
        if (!made->rest && parser_accept(p, TOKEN_DOT_DOT)) {
            made->rest = true;
            made->rest_at = made->part_count;
        } else {
            pattern *part = parse_pattern(p);
            PARSER_PUSH(p, made->parts, made->part_count, capacity, part);
        }
        comma = parser_accept(p, TOKEN_COMMA);
        if (!comma)
            break;
    }
    p->no_struct = no_struct;
    parser_expect(p, TOKEN_RIGHT_PAREN);
    if (made->part_count == 1 && !comma && !made->rest)
        *made = *made->parts[0];
}

/* (a, b, ..): parts of a variant or a tuple struct. */
static void parse_positional_parts(parser *p, pattern *made) {
    uint32_t capacity = 0;
    parser_advance(p);
    while (!parser_is(p, TOKEN_RIGHT_PAREN) && !parser_is(p, TOKEN_END) && !p->panic) {
        if (parser_is(p, TOKEN_DOT_DOT)) {
            parser_advance(p);
            made->rest = true;
            made->rest_at = made->part_count;
        } else {
            pattern *part = parse_pattern(p);
            PARSER_PUSH(p, made->parts, made->part_count, capacity, part);
        }
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    parser_expect(p, TOKEN_RIGHT_PAREN);
}

/* `ref` before a name; a name of its own otherwise. */
static bool accept_ref(parser *p) {
    bool reference = parser_is_word(p, "ref") && (parser_ahead(p, 1) == TOKEN_NAME || parser_ahead(p, 1) == TOKEN_MUT);
    if (reference)
        parser_advance(p);
    return reference;
}

/* { x, y: part, .. } */
static void parse_named_parts(parser *p, pattern *made) {
    uint32_t capacity = 0, names = 0;
    parser_advance(p);
    while (!parser_is(p, TOKEN_RIGHT_BRACE) && !parser_is(p, TOKEN_END) && !p->panic) {
        if (parser_accept(p, TOKEN_DOT_DOT)) {
            made->rest = true;
            made->rest_at = made->part_count;
            break;
        }
        pattern *part = new_pattern(p, PATTERN_NAME);
        bool reference = accept_ref(p);
        bool is_mutable = parser_accept(p, TOKEN_MUT);
        source_span span;
        const char *name = parser_name(p, &span);
        if (name == NULL)
            break;
        if (parser_accept(p, TOKEN_COLON)) {
            part = parse_pattern(p);
        } else {
            part->binding = parser_new_binding(p, name, span, BINDING_LET, is_mutable);
            part->binding->is_alias = reference && is_mutable;
            part->binding->is_shared = reference && !is_mutable;
            part->span = parser_span_from(p, part->span);
        }
        uint32_t count = made->part_count;
        PARSER_PUSH(p, made->part_names, count, names, name);
        PARSER_PUSH(p, made->parts, made->part_count, capacity, part);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    if (made->part_names == NULL) /* P { .. } and P {} */
        made->part_names = parser_alloc(p, sizeof *made->part_names);
    parser_expect(p, TOKEN_RIGHT_BRACE);
}

/* T<A>::V, T::<A>::V, behind `<` */
static void parse_written_type(parser *p, pattern *made, source_span span) {
    type_expr *t = PARSER_NEW(p, type_expr);
    *t = (type_expr){.span = span, .kind = TYPE_EXPR_NAME, .name = made->name};
    parse_type_arguments(p, &t->arguments, &t->argument_count);
    made->written = t;
}

static void parse_variant_pattern(parser *p, pattern *made, const char *name, source_span span) {
    made->kind = PATTERN_VARIANT;
    made->name = name;
    const char *path = NULL;
    if (parser_accept(p, TOKEN_LESS))
        parse_written_type(p, made, span);
    while (!p->panic && parser_accept(p, TOKEN_COLON_COLON)) {
        if (parser_accept(p, TOKEN_LESS)) {
            parse_written_type(p, made, span);
            continue;
        }
        path = parser_join(p, path, made->name);
        made->scope = made->name;
        made->name = parser_name(p, &span);
    }
    const char *scope = path;
    parser_find_item(p, &scope, &made->name, span);
    made->scope = scope == path ? made->scope : scope;
    if (made->name == NULL) { /* said: nothing is known of what it would match */
        made->kind = PATTERN_WILDCARD;
        return;
    }
    if (parser_is(p, TOKEN_LEFT_PAREN))
        parse_positional_parts(p, made);
    else if (parser_is(p, TOKEN_LEFT_BRACE))
        parse_named_parts(p, made);
}

static void parse_name_pattern(parser *p, pattern *made) {
    bool reference = accept_ref(p);
    bool is_mutable = parser_accept(p, TOKEN_MUT);
    source_span span;
    if (!is_mutable && parser_is_word(p, "_")) {
        parser_advance(p);
        made->kind = PATTERN_WILDCARD;
        return;
    }
    const char *name = parser_name(p, &span);
    made->kind = PATTERN_NAME;
    if (name == NULL)
        return;
    if (parser_is(p, TOKEN_COLON_COLON) || parser_is(p, TOKEN_LEFT_PAREN) || parser_is(p, TOKEN_LESS) ||
        (parser_is(p, TOKEN_LEFT_BRACE) && !p->no_struct)) {
        parse_variant_pattern(p, made, name, span);
        return;
    }
    made->binding = parser_new_binding(p, name, span, BINDING_LET, is_mutable);
    made->binding->is_alias = reference && is_mutable;
    made->binding->is_shared = reference && !is_mutable;
    made->name = name[0] >= 'A' && name[0] <= 'Z' ? parser_found_item(p, name, span) : NULL;
    if (parser_accept(p, TOKEN_AT)) {
        uint32_t capacity = 0;
        made->kind = PATTERN_BOUND;
        pattern *part = parse_pattern_no_or(p);
        PARSER_PUSH(p, made->parts, made->part_count, capacity, part);
    }
}

pattern *parse_pattern_no_or(parser *p) {
    pattern *made = new_pattern(p, PATTERN_WILDCARD);
    bool is_behind = false;
    while (parser_accept_first(p, TOKEN_AND)) {
        is_behind = true;
        parser_accept(p, TOKEN_MUT); /* `&mut p` takes what a `&mut` leads to apart */
    }
    parser_skip_self(p);
    switch (parser_kind(p)) {
    case TOKEN_LEFT_PAREN:
        parse_tuple_pattern(p, made);
        break;
    case TOKEN_LEFT_BRACKET:
        parse_slice_pattern(p, made);
        break;
    case TOKEN_DOT_DOT_EQUAL: /* ..=9: from the smallest number */
        made->kind = PATTERN_RANGE;
        made->inclusive = true;
        parser_advance(p);
        made->high = parse_pattern_literal(p);
        break;
    case TOKEN_MUT:
    case TOKEN_NAME:
        if (at_path_range(p)) {
            parse_literal_pattern(p, made);
            break;
        }
        parse_name_pattern(p, made);
        break;
    case TOKEN_INT:
    case TOKEN_FLOAT:
    case TOKEN_STRING:
    case TOKEN_MINUS:
    case TOKEN_CHAR:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        parse_literal_pattern(p, made);
        break;
    default:
        parser_expected(p, "a pattern");
        break;
    }
    made->is_behind |= is_behind;
    made->span = parser_span_from(p, made->span);
    return made;
}

static pattern *parse_alternatives(parser *p, pattern *first) {
    pattern *made = new_pattern(p, PATTERN_OR);
    uint32_t capacity = 0;
    made->span = first->span;
    PARSER_PUSH(p, made->parts, made->part_count, capacity, first);
    while (parser_accept(p, TOKEN_OR)) {
        pattern *part = parse_pattern_no_or(p);
        PARSER_PUSH(p, made->parts, made->part_count, capacity, part);
    }
    made->span = parser_span_from(p, made->span);
    return made;
}

pattern *parse_pattern(parser *p) {
    pattern *made;
    if (!parser_enter(p)) {
        made = new_pattern(p, PATTERN_WILDCARD);
    } else {
        parser_accept(p, TOKEN_OR);
        made = parse_pattern_no_or(p);
        if (parser_is(p, TOKEN_OR))
            made = parse_alternatives(p, made);
    }
    parser_leave(p);
    return made;
}
