/* check_operator_types.c: which operands an operator takes. */
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
