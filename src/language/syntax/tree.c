/* tree.c: what every user of the tree shares. */
#include "language/syntax/tree.h"

const char *binary_op_text(binary_op op) {
    static const char *const texts[BINARY_OP_COUNT] = {
        [BINARY_NONE] = "=",    [BINARY_ADD] = "+",  [BINARY_SUB] = "-",     [BINARY_MUL] = "*",
        [BINARY_DIV] = "/",     [BINARY_REM] = "%",  [BINARY_BIT_AND] = "&", [BINARY_BIT_OR] = "|",
        [BINARY_BIT_XOR] = "^", [BINARY_SHL] = "<<", [BINARY_SHR] = ">>",    [BINARY_EQ] = "==",
        [BINARY_NE] = "!=",     [BINARY_LT] = "<",   [BINARY_LE] = "<=",     [BINARY_GT] = ">",
        [BINARY_GE] = ">=",     [BINARY_AND] = "&&", [BINARY_OR] = "||",
    };
    return texts[op];
}

typedef void visitor(expr *child, void *context);

static void each(expr **items, uint32_t count, visitor *visit, void *context) {
    for (uint32_t i = 0; i < count; i++) {
        visit(items[i], context);
    }
}

static void maybe(expr *e, visitor *visit, void *context) {
    if (e != NULL) {
        visit(e, context);
    }
}

static void in_block(block *b, visitor *visit, void *context) {
    for (stmt *s = b->first; s != NULL; s = s->next) {
        maybe(s->value, visit, context);
        if (s->otherwise != NULL) {
            in_block(s->otherwise, visit, context);
        }
    }
    maybe(b->result, visit, context);
}

static void in_call(call_expr *call, visitor *visit, void *context) {
    if (call->kind == CALL_UNRESOLVED) {
        maybe(call->callee, visit, context);
        maybe(call->receiver, visit, context);
        each(call->args, call->arg_count, visit, context);
        return;
    }
    if (call->swapped) {
        visit(call->operands[1], context);
        visit(call->operands[0], context);
        each(call->operands + 2, call->operand_count - 2, visit, context);
        return;
    }
    each(call->operands, call->operand_count, visit, context);
    for (uint32_t i = 0; i < call->piece_count; i++) {
        maybe(call->pieces[i].value, visit, context);
    }
}

static void in_comprehension(comprehension_expr *c, visitor *visit, void *context) {
    for (uint32_t i = 0; i < c->clause_count; i++) {
        maybe(c->clauses[i].low, visit, context);
        maybe(c->clauses[i].high, visit, context);
        maybe(c->clauses[i].condition, visit, context);
    }
    maybe(c->body, visit, context);
}

static void in_match(expr *e, visitor *visit, void *context) {
    visit(e->match.value, context);
    for (uint32_t i = 0; i < e->match.count; i++) {
        maybe(e->match.arms[i].guard, visit, context);
        maybe(e->match.arms[i].body, visit, context);
    }
}

void expr_each_child(expr *e, visitor *visit, void *context) {
    switch (e->kind) {
    case EXPR_UNARY:
        visit(e->unary.operand, context);
        break;
    case EXPR_BINARY:
        visit(e->binary.left, context);
        visit(e->binary.right, context);
        break;
    case EXPR_CAST:
        visit(e->cast.operand, context);
        break;
    case EXPR_CALL:
    case EXPR_METHOD:
        in_call(&e->call, visit, context);
        break;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        visit(e->field.base, context);
        break;
    case EXPR_INDEX:
        visit(e->index.base, context);
        each(e->index.indices, e->index.count, visit, context);
        break;
    case EXPR_STRUCT:
        for (uint32_t i = 0; i < e->structure.init_count; i++) {
            visit(e->structure.inits[i].value, context);
        }
        maybe(e->structure.base, visit, context);
        break;
    case EXPR_TUPLE:
    case EXPR_ARRAY:
        each(e->list.items, e->list.count, visit, context);
        break;
    case EXPR_COMPREHENSION:
        in_comprehension(e->comprehension, visit, context);
        break;
    case EXPR_RANGE:
        maybe(e->range.low, visit, context);
        maybe(e->range.high, visit, context);
        break;
    case EXPR_BLOCK:
        in_block(e->block, visit, context);
        break;
    case EXPR_IF:
        visit(e->branch.condition, context);
        in_block(e->branch.then, visit, context);
        maybe(e->branch.otherwise, visit, context);
        break;
    case EXPR_MATCH:
        in_match(e, visit, context);
        break;
    case EXPR_WHILE:
    case EXPR_LOOP:
    case EXPR_FOR:
        maybe(e->loop->condition, visit, context);
        maybe(e->loop->iterable, visit, context);
        in_block(e->loop->body, visit, context);
        break;
    case EXPR_BREAK:
    case EXPR_CONTINUE:
    case EXPR_RETURN:
        maybe(e->jump.value, visit, context);
        break;
    case EXPR_ASSIGN:
        visit(e->assign.value, context);
        visit(e->assign.target, context);
        break;
    case EXPR_TRY:
        visit(e->attempt.operand, context);
        break;
    case EXPR_REPEAT:
        visit(e->repeat.value, context);
        visit(e->repeat.count, context);
        break;
    case EXPR_CLOSURE: /* its body belongs to another function once it is checked */
        if (e->type == NULL) {
            visit(e->closure.body, context);
        }
        break;
    default:
        break;
    }
}
