/* parser_expr.c: operators, calls, fields, indices.
 *
 *     assignment   = += -= …        right to left
 *     range        a..b a..=b       once
 *     ||  &&                        left to right from here on
 *     == != < > <= >=               once
 *     |  ^  &  << >>  + -  * / %
 *     as
 *     - ! & &mut                    in front
 *     . [] ()                       behind
 */
#include "language/syntax/parser_private.h"

/* ---- behind an operand ----------------------------------------------------------------------- */

static void parse_list_of(parser *p, token_kind close, expr *(*parse_item)(parser *), expr ***items, uint32_t *count) {
    uint32_t capacity = 0;
    bool no_struct = p->no_struct;
    p->no_struct = false;
    while (!parser_is(p, close) && !parser_is(p, TOKEN_END)) {
        expr *item = parse_item(p);
        PARSER_PUSH(p, *items, *count, capacity, item);
        parser_synchronise_list(p, close);
        if (!parser_accept(p, TOKEN_COMMA))
            break;
    }
    p->no_struct = no_struct;
    parser_expect(p, close);
}

void parse_list(parser *p, token_kind close, expr ***items, uint32_t *count) {
    parse_list_of(p, close, parse_expression, items, count);
}

static expr *parse_call(parser *p, expr *callee) {
    expr *e = parser_new(p, EXPR_CALL, callee->span);
    e->call.callee = callee;
    e->call.name_span = callee->span;
    parser_advance(p);
    parse_list(p, TOKEN_RIGHT_PAREN, &e->call.args, &e->call.arg_count);
    return parser_finish(p, e);
}

/* Behind a dot. */
static expr *parse_member(parser *p, expr *base) {
    if (parser_is(p, TOKEN_INT)) {
        expr *e = parser_new(p, EXPR_TUPLE_FIELD, base->span);
        uint64_t index = p->list.literals[parser_token(p)->literal].integer;
        e->field.base = base;
        e->field.name_span = parser_span(p);
        e->field.index = index > UINT32_MAX ? UINT32_MAX : (uint32_t)index;
        parser_advance(p);
        return parser_finish(p, e);
    }
    source_span span;
    if (parser_is_word(p, "await")) {
        parser_refuse_once(p, parser_span(p), "asynchronous functions");
        parser_advance(p);
        return base;
    }
    const char *name = parser_is(p, TOKEN_MOD) ? parser_text(p, parser_token(p)) : NULL;
    if (name != NULL) { /* t.mod(n) */
        span = parser_span(p);
        parser_advance(p);
    } else if ((name = parser_name(p, &span)) == NULL) {
        return base;
    }
    type_expr **types = NULL;
    uint32_t type_count = 0;
    if (parser_is(p, TOKEN_COLON_COLON) && parser_ahead(p, 1) == TOKEN_LESS) {
        parser_advance(p);
        parser_advance(p);
        parse_type_arguments(p, &types, &type_count);
    }
    expr *e = parser_new(p, parser_is(p, TOKEN_LEFT_PAREN) ? EXPR_METHOD : EXPR_FIELD, base->span);
    if (e->kind == EXPR_FIELD) {
        e->field.base = base;
        e->field.name = name;
        e->field.name_span = span;
    } else {
        e->call.receiver = base;
        e->call.name = name;
        e->call.name_span = span;
        e->call.type_arguments = types;
        e->call.type_argument_count = type_count;
        parser_advance(p);
        parse_list(p, TOKEN_RIGHT_PAREN, &e->call.args, &e->call.arg_count);
    }
    return parser_finish(p, e);
}

/* i, a..b, and as NumPy writes ranges: `:`, `a:`, `:b`, `a:b`. */
static expr *parse_one_index(parser *p) {
    source_span start = parser_span(p);
    expr *low = parser_is(p, TOKEN_COLON) ? NULL : parse_expression(p);
    if (p->panic || !parser_accept(p, TOKEN_COLON))
        return low;
    expr *e = parser_new(p, EXPR_RANGE, start);
    e->range.low = low;
    if (!parser_is(p, TOKEN_COMMA) && !parser_is(p, TOKEN_RIGHT_BRACKET))
        e->range.high = parse_expression(p);
    return parser_finish(p, e);
}

static expr *parse_index(parser *p, expr *base) {
    expr *e = parser_new(p, EXPR_INDEX, base->span);
    e->index.base = base;
    source_span open = parser_span(p);
    parser_advance(p);
    parse_list_of(p, TOKEN_RIGHT_BRACKET, parse_one_index, &e->index.indices, &e->index.count);
    if (e->index.count == 0)
        parser_say(p, parser_span_from(p, open), SAY(index_is_missing));
    return parser_finish(p, e);
}

static expr *parse_try(parser *p, expr *operand) {
    expr *e = parser_new(p, EXPR_TRY, operand->span);
    e->attempt.operand = operand;
    parser_advance(p);
    return parser_finish(p, e);
}

expr *parse_postfix(parser *p, expr *base) {
    while (!p->panic) {
        switch (parser_kind(p)) {
        case TOKEN_DOT:
            parser_advance(p);
            base = parse_member(p, base);
            break;
        case TOKEN_LEFT_PAREN:
            base = parse_call(p, base);
            break;
        case TOKEN_LEFT_BRACKET:
            base = parse_index(p, base);
            break;
        case TOKEN_QUESTION:
            base = parse_try(p, base);
            break;
        default:
            return base;
        }
    }
    return base;
}

/* ---- in front of an operand ------------------------------------------------------------------ */

static expr *parse_unary(parser *p) {
    expr *e;
    source_span span = parser_span(p);
    if (!parser_enter(p)) {
        parser_leave(p);
        return parser_error_expr(p);
    }
    if (parser_is(p, TOKEN_MINUS) || parser_is(p, TOKEN_NOT)) {
        e = parser_new(p, EXPR_UNARY, span);
        e->unary.op = parser_is(p, TOKEN_MINUS) ? UNARY_NEG : UNARY_NOT;
        parser_advance(p);
        e->unary.operand = parse_unary(p);
        e = parser_finish(p, e);
    } else if (parser_accept_first(p, TOKEN_AND)) {
        bool is_mutable = parser_accept(p, TOKEN_MUT);
        e = parser_new(p, EXPR_UNARY, span);
        e->unary.op = UNARY_REFERENCE;
        e->unary.is_mutable = is_mutable;
        e->unary.operand = parse_unary(p);
        e = parser_finish(p, e);
    } else if (parser_is(p, TOKEN_STAR)) { /* *x is x: references are values */
        const token *t = parser_token(p);
        bool power = p->at > 0 && t[-1].kind == TOKEN_STAR && t[-1].offset + 1 == t->offset;
        if (power)
            parser_expected(p, "an expression");
        uint32_t stars = 0;
        while (parser_accept(p, TOKEN_STAR))
            stars++;
        e = parse_unary(p);
        e->is_followed = true;
        e->stars = stars < 3 ? stars : 3;
    } else {
        e = parse_postfix(p, parse_primary(p));
    }
    parser_leave(p);
    return e;
}

static expr *parse_casts(parser *p, expr *operand) {
    while (!p->panic && parser_accept(p, TOKEN_AS)) {
        expr *e = parser_new(p, EXPR_CAST, operand->span);
        e->cast.operand = operand;
        e->cast.target = parse_type(p);
        operand = parser_finish(p, e);
    }
    return operand;
}

/* ---- binary operators ------------------------------------------------------------------------ */

typedef struct operator_info {
    token_kind token;
    binary_op op;
    uint8_t level; /* higher binds tighter */
} operator_info;

enum { LEVEL_COMPARISON = 3 };

static const operator_info operators[] = {
    {TOKEN_OR_OR, BINARY_OR, 1},      {TOKEN_AND_AND, BINARY_AND, 2},      {TOKEN_EQUAL_EQUAL, BINARY_EQ, 3},
    {TOKEN_NOT_EQUAL, BINARY_NE, 3},  {TOKEN_LESS, BINARY_LT, 3},          {TOKEN_LESS_EQUAL, BINARY_LE, 3},
    {TOKEN_GREATER, BINARY_GT, 3},    {TOKEN_GREATER_EQUAL, BINARY_GE, 3}, {TOKEN_OR, BINARY_BIT_OR, 4},
    {TOKEN_CARET, BINARY_BIT_XOR, 5}, {TOKEN_AND, BINARY_BIT_AND, 6},      {TOKEN_SHL, BINARY_SHL, 7},
    {TOKEN_SHR, BINARY_SHR, 7},       {TOKEN_PLUS, BINARY_ADD, 8},         {TOKEN_MINUS, BINARY_SUB, 8},
    {TOKEN_STAR, BINARY_MUL, 9},      {TOKEN_SLASH, BINARY_DIV, 9},        {TOKEN_PERCENT, BINARY_REM, 9},
};

static const operator_info *operator_here(const parser *p) {
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (operators[i].token == parser_kind(p))
            return &operators[i];
    return NULL;
}

static expr *parse_levels(parser *p, expr *left, uint8_t lowest);

static expr *parse_operand(parser *p, uint8_t lowest) {
    return parse_levels(p, parse_casts(p, parse_unary(p)), lowest);
}

static expr *parse_levels(parser *p, expr *left, uint8_t lowest) {
    const operator_info *info;
    bool compared = false;
    while (!p->panic && (info = operator_here(p)) != NULL && info->level >= lowest) {
        if (info->level == LEVEL_COMPARISON && compared) {
            diagnostic *d = parser_say(p, parser_span(p), SAY(comparisons_cannot_be_chained));
            parser_note(p, d, (source_span){0}, "write `a < b && b < c`");
            return left;
        }
        compared = info->level == LEVEL_COMPARISON;
        expr *e = parser_new(p, EXPR_BINARY, left->span);
        e->binary.op = info->op;
        e->binary.op_span = parser_span(p);
        e->binary.left = left;
        parser_advance(p);
        e->binary.right = parse_operand(p, (uint8_t)(info->level + 1));
        left = parser_finish(p, e);
    }
    return left;
}

/* ---- ranges and assignment ------------------------------------------------------------------- */

static bool at_range(const parser *p) {
    return parser_is(p, TOKEN_DOT_DOT) || parser_is(p, TOKEN_DOT_DOT_EQUAL);
}

static expr *parse_range_from(parser *p, expr *low) {
    if (p->panic || !at_range(p))
        return low;
    expr *e = parser_new(p, EXPR_RANGE, low != NULL ? low->span : parser_span(p));
    e->range.low = low;
    e->range.inclusive = parser_is(p, TOKEN_DOT_DOT_EQUAL);
    parser_advance(p);
    if (parser_at_expression(p) && !(p->no_struct && parser_is(p, TOKEN_LEFT_BRACE)))
        e->range.high = parse_operand(p, 1);
    return parser_finish(p, e);
}

static binary_op assignment_here(const parser *p, bool *found) {
    static const struct {
        token_kind token;
        binary_op op;
    } assignments[] = {
        {TOKEN_EQUAL, BINARY_NONE},        {TOKEN_PLUS_EQUAL, BINARY_ADD},  {TOKEN_MINUS_EQUAL, BINARY_SUB},
        {TOKEN_STAR_EQUAL, BINARY_MUL},    {TOKEN_SLASH_EQUAL, BINARY_DIV}, {TOKEN_PERCENT_EQUAL, BINARY_REM},
        {TOKEN_AND_EQUAL, BINARY_BIT_AND}, {TOKEN_OR_EQUAL, BINARY_BIT_OR}, {TOKEN_CARET_EQUAL, BINARY_BIT_XOR},
        {TOKEN_SHL_EQUAL, BINARY_SHL},     {TOKEN_SHR_EQUAL, BINARY_SHR},
    };
    for (size_t i = 0; i < sizeof assignments / sizeof assignments[0]; i++) {
        if (assignments[i].token == parser_kind(p)) {
            *found = true;
            return assignments[i].op;
        }
    }
    *found = false;
    return BINARY_NONE;
}

static expr *parse_assignment_from(parser *p, expr *target) {
    bool found;
    binary_op op = assignment_here(p, &found);
    if (p->panic || !found)
        return target;
    expr *e = parser_new(p, EXPR_ASSIGN, target->span);
    e->assign.op = op;
    e->assign.op_span = parser_span(p);
    e->assign.target = target;
    parser_advance(p);
    e->assign.value = parser_enter(p) ? parse_expression(p) : parser_error_expr(p);
    parser_leave(p);
    return parser_finish(p, e);
}

expr *parse_binary_from(parser *p, expr *left) {
    left = parse_levels(p, parse_casts(p, left), 1);
    return parse_assignment_from(p, parse_range_from(p, left));
}

expr *parse_no_range(parser *p) {
    return parse_operand(p, 1);
}

expr *parse_expression(parser *p) {
    if (at_range(p))
        return p->panic ? parser_error_expr(p) : parse_range_from(p, NULL);
    return parse_assignment_from(p, parse_range_from(p, parse_operand(p, 1)));
}

expr *parse_in_chain(parser *p) {
    return parse_range_from(p, parse_operand(p, 3));
}

expr *parse_condition(parser *p) {
    bool no_struct = p->no_struct;
    p->no_struct = true;
    expr *e = parse_expression(p);
    p->no_struct = no_struct;
    return e;
}

bool parser_at_expression(const parser *p) {
    switch (parser_kind(p)) {
    case TOKEN_NAME:
    case TOKEN_INT:
    case TOKEN_FLOAT:
    case TOKEN_CHAR:
    case TOKEN_STRING:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
    case TOKEN_SELF:
    case TOKEN_LEFT_PAREN:
    case TOKEN_LEFT_BRACKET:
    case TOKEN_MINUS:
    case TOKEN_NOT:
    case TOKEN_AND:
    case TOKEN_AND_AND:
    case TOKEN_STAR:
    case TOKEN_OR:
    case TOKEN_OR_OR:
    case TOKEN_BREAK:
    case TOKEN_CONTINUE:
    case TOKEN_RETURN:
        return true;
    default:
        return parser_at_block_like(p);
    }
}
