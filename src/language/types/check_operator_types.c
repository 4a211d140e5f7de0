/* check_operator_types.c: which operands an operator takes, and which method it is. */
#include "language/types/check_operator_types.h"
#include "language/types/check_context.h"
#include "language/types/check_written.h"

void check_wrong_operand(checker *c, expr *e, const char *op, const type *t) {
    diagnostics_say(c->diagnostics, e->span, SAY(cannot_be_applied_to), op, check_type_text(c, t));
    check_make_error(c, e);
}

bool check_operator_accepts(binary_op op, const type *t) {
    switch (op) {
    case BINARY_ADD:
    case BINARY_SUB:
    case BINARY_MUL:
    case BINARY_DIV:
    case BINARY_REM:
        return type_is_numeric(t);
    case BINARY_SHL:
    case BINARY_SHR:
        return type_is_integer(t);
    case BINARY_BIT_AND:
    case BINARY_BIT_OR:
    case BINARY_BIT_XOR:
        return type_is_integer(t) || t->kind == TYPE_BOOL;
    case BINARY_AND:
    case BINARY_OR:
        return t->kind == TYPE_BOOL;
    default:
        return type_is_numeric(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR;
    }
}

void check_close_operator(checker *c, expr *e) {
    bool negative = e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG;
    if (negative && type_is_integer(e->type) && !type_is_signed(e->type))
        check_wrong_operand(c, e, "-", e->type);
    else if (e->kind == EXPR_BINARY && type_is_numeric(e->type) && !check_operator_accepts(e->binary.op, e->type))
        check_wrong_operand(c, e, binary_op_text(e->binary.op), e->type);
}

static const library_said said_operators[BINARY_OP_COUNT] = {
    [BINARY_ADD] = SAID_ADD, [BINARY_SUB] = SAID_SUB, [BINARY_MUL] = SAID_MUL, [BINARY_DIV] = SAID_DIV,
    [BINARY_REM] = SAID_REM, [BINARY_EQ] = SAID_EQ,   [BINARY_NE] = SAID_NE,   [BINARY_LT] = SAID_LT,
    [BINARY_LE] = SAID_LE,   [BINARY_GT] = SAID_GT,   [BINARY_GE] = SAID_GE,
};

bool check_takes_operand(const function_item *f, const type *t) {
    const binding *operand = f->parameters[f->has_self];
    const type_expr *written = operand->annotation;
    const struct_item *of = t->kind == TYPE_STRUCT ? t->structure->template : NULL;
    return operand->type == t || (of != NULL && written != NULL && written->kind == TYPE_EXPR_NAME &&
                                  written->argument_count > 0 && strcmp(written->name, of->name) == 0);
}

/* a + b is a.add(b) where the struct has such a method; enums without fields are compared by their tags. */
const char *check_operator_method(binary_op op) {
    static const library_said bits[BINARY_OP_COUNT] = {[BINARY_BIT_AND] = SAID_BIT_AND,
                                                       [BINARY_BIT_OR] = SAID_BIT_OR,
                                                       [BINARY_BIT_XOR] = SAID_BIT_XOR,
                                                       [BINARY_SHL] = SAID_SHL,
                                                       [BINARY_SHR] = SAID_SHR};
    const library_said said = op == BINARY_NE ? SAID_EQ : bits[op] != SAID_NOTHING ? bits[op] : said_operators[op];
    return said == SAID_NOTHING ? NULL : library_named(LIBRARY_operator, said);
}

const char *check_assigning_method(checker *c, binary_op op) {
    const char *name = check_is_comparison(op) ? NULL : check_operator_method(op);
    return name == NULL ? NULL : check_printf(c, "%s_assign", name);
}

binary_op check_operator_said(library_said said) {
    for (int op = 0; op < BINARY_OP_COUNT; op++)
        if (said != SAID_NOTHING && said_operators[op] == said)
            return (binary_op)op;
    return BINARY_NONE;
}

/* The result of `shape()` is a list of numbers: it is equal to another or not, as a whole. */
bool check_yields_lengths(const expr *e) {
    if (e->kind == EXPR_NAME)
        return e->name.binding != NULL && e->name.binding->is_lengths;
    return e->kind == EXPR_CALL && e->call.kind == CALL_ABI && e->call.abi == TL_FN_tl_tensor_shape;
}

bool check_is_comparison(binary_op op) {
    return op >= BINARY_EQ && op <= BINARY_GE;
}
