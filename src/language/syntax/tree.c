/* tree.c: what every user of the tree shares. */
#include "language/syntax/tree.h"

const char *binary_op_text(binary_op op) {
    static const char *const texts[BINARY_OP_COUNT] = {
        [BINARY_NONE] = "=", [BINARY_ADD] = "+",     [BINARY_SUB] = "-",    [BINARY_MUL] = "*",     [BINARY_DIV] = "/",
        [BINARY_REM] = "%",  [BINARY_BIT_AND] = "&", [BINARY_BIT_OR] = "|", [BINARY_BIT_XOR] = "^", [BINARY_SHL] = "<<",
        [BINARY_SHR] = ">>", [BINARY_EQ] = "==",     [BINARY_NE] = "!=",    [BINARY_LT] = "<",      [BINARY_LE] = "<=",
        [BINARY_GT] = ">",   [BINARY_GE] = ">=",     [BINARY_AND] = "&&",   [BINARY_OR] = "||",
    };
    return texts[op];
}

typedef void visitor(expr *child, void *context);

static void each(expr **items, uint32_t count, visitor *visit, void *context) {
    for (uint32_t i = 0; i < count; i++)
        visit(items[i], context);
}

static void maybe(expr *e, visitor *visit, void *context) {
    if (e != NULL)
        visit(e, context);
}

void block_each_child(block *b, visitor *visit, void *context) {
    for (stmt *s = b->first; s != NULL; s = s->next) {
        maybe(s->value, visit, context);
        if (s->otherwise != NULL)
            block_each_child(s->otherwise, visit, context);
    }
    maybe(b->result, visit, context);
}

static void walk_call(expr *e, visitor *visit, void *context) {
    call_expr *call = &e->call;
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
    for (uint32_t i = 0; i < call->piece_count; i++)
        maybe(call->pieces[i].value, visit, context);
}

static void walk_comprehension(expr *e, visitor *visit, void *context) {
    comprehension_expr *c = e->comprehension;
    for (uint32_t i = 0; i < c->clause_count; i++) {
        maybe(c->clauses[i].low, visit, context);
        maybe(c->clauses[i].high, visit, context);
        maybe(c->clauses[i].condition, visit, context);
    }
    maybe(c->body, visit, context);
}

static void walk_match(expr *e, visitor *visit, void *context) {
    visit(e->match.value, context);
    for (uint32_t i = 0; i < e->match.count; i++) {
        maybe(e->match.arms[i].guard, visit, context);
        maybe(e->match.arms[i].body, visit, context);
    }
}

static void walk_struct(expr *e, visitor *visit, void *context) {
    for (uint32_t i = 0; i < e->structure.init_count; i++)
        visit(e->structure.inits[i].value, context);
    maybe(e->structure.base, visit, context);
}

static void walk_loop(expr *e, visitor *visit, void *context) {
    maybe(e->loop->condition, visit, context);
    maybe(e->loop->iterable, visit, context);
    block_each_child(e->loop->body, visit, context);
}

/* Its body belongs to another function once it is checked. */
static void walk_closure(expr *e, visitor *visit, void *context) {
    if (e->type == NULL)
        visit(e->closure.body, context);
}

void expr_each_child(expr *e, visitor *visit, void *context) {
    switch (e->kind) {
#define NOTHING
#define ONE(field)         maybe(e->field, visit, context);
#define LIST(items, count) each(e->items, e->count, visit, context);
#define BLOCK(field)       block_each_child(e->field, visit, context);
#define TYPE(field)
#define TYPES(items, count)
#define OWN(name) walk_##name(e, visit, context);
#define NODE(kind, parts) \
    case EXPR_##kind:     \
        parts break;
#include "language/syntax/tree.def"
#undef NODE
    case EXPR_KIND_COUNT:
        break;
    }
}

typedef struct any_search {
    expr_test *test;
    void *context;
    bool found;
} any_search;

static void look(expr *e, void *context) {
    any_search *s = context;
    s->found = s->found || s->test(e, s->context);
    if (!s->found)
        expr_each_child(e, look, s);
}

bool expr_any(const expr *e, expr_test *test, void *context) {
    any_search s = {test, context, false};
    look((expr *)e, &s); /* the visitor's type allows writing; this one only looks */
    return s.found;
}

bool block_any(const block *b, expr_test *test, void *context) {
    any_search s = {test, context, false};
    block_each_child((block *)b, look, &s);
    return s.found;
}

bool pattern_any(const pattern *p, pattern_test *test, void *context) {
    bool found = test(p, context);
    for (uint32_t i = 0; !found && i < p->part_count; i++)
        found = pattern_any(p->parts[i], test, context);
    return found;
}
