/* check_build.c: nodes of trees that the checker writes in place of a shorter form. They are checked like any
 * other afterwards. Names that programs cannot write start with `<`. */
#include "language/syntax/quote.h"
#include "language/types/check_capture.h"
#include "language/types/check_context.h"
#include "language/types/check_tree_made.h"

expr *build_quote(checker *c, source_span span, const char *text, expr *const *parts, uint32_t count) {
    expr *e = quote_write(c->tree, text, span, c->text_count++, parts, count);
    if (e == NULL)
        check_out_of_memory(c);
    return e;
}

block_builder build_block(checker *c, source_span span) {
    block *b = CHECK_ARRAY(c, block, 1);
    b->span = span;
    return (block_builder){.c = c, .block = b, .span = span};
}

static void append(block_builder *b, stmt *s) {
    if (b->last == NULL)
        b->block->first = s;
    else
        b->last->next = s;
    b->last = s;
}

void build_let(block_builder *b, const char *name, bool is_mutable, expr *value) {
    stmt *s = CHECK_ARRAY(b->c, stmt, 1);
    *s = (stmt){.kind = STMT_LET, .span = b->span, .value = value, .is_made = true};
    s->pattern = build_name(b->c, b->span, name, BINDING_LET);
    s->pattern->binding->is_mutable = is_mutable;
    append(b, s);
}

const char *build_named(block_builder *b, const char *what, expr *value) {
    const char *name = check_printf(b->c, "<%s %u>", what, b->c->text_count++);
    build_let(b, name, false, value);
    return name;
}

void build_stmt(block_builder *b, expr *e) {
    stmt *s = CHECK_ARRAY(b->c, stmt, 1);
    *s = (stmt){.kind = STMT_EXPR, .span = e->span, .value = e, .is_made = true};
    append(b, s);
}

expr *build_finish(block_builder *b, expr *result) {
    expr *e = check_new(b->c, EXPR_BLOCK, b->span, NULL);
    b->block->result = result;
    e->block = b->block;
    return e;
}

expr *build_checked(block_builder *b, expr *e) {
    const bool value = e->type->kind != TYPE_VOID && e->type->kind != TYPE_NEVER;
    if (b->block->first == NULL)
        return e;
    if (!value)
        build_stmt(b, e);
    expr *whole = build_finish(b, value ? e : NULL);
    b->block->type = whole->type = e->type;
    return whole;
}

pattern *build_name(checker *c, source_span span, const char *name, binding_kind kind) {
    pattern *p = CHECK_ARRAY(c, pattern, 1);
    *p = (pattern){.span = span, .kind = PATTERN_NAME, .binding = CHECK_ARRAY(c, binding, 1)};
    *p->binding = (binding){.name = name, .span = span, .kind = kind};
    return p;
}

expr *build_for(checker *c, source_span span, pattern *p, expr *over, block *body) {
    expr *e = check_new(c, EXPR_FOR, span, NULL);
    e->loop = CHECK_ARRAY(c, loop_expr, 1);
    *e->loop = (loop_expr){.pattern = p, .iterable = over, .body = body};
    return e;
}

expr *build_range(checker *c, source_span span, expr *low, expr *high) {
    expr *e = check_new(c, EXPR_RANGE, span, NULL);
    e->range.low = low;
    e->range.high = high;
    return e;
}

expr *build_list(checker *c, expr_kind kind, source_span span, expr *const *items, uint32_t count) {
    expr *e = check_new(c, kind, span, NULL);
    e->list.items = check_join_list(c, NULL, items, count);
    e->list.count = count;
    return e;
}

expr *build_part(checker *c, source_span span, expr *base, uint32_t index) {
    expr *e = check_new(c, EXPR_TUPLE_FIELD, span, NULL);
    e->field.base = base;
    e->field.index = index;
    e->field.name_span = span;
    return e;
}

expr *build_index(checker *c, source_span span, expr *base, expr *index) {
    expr *e = check_new(c, EXPR_INDEX, span, NULL);
    e->index.base = base;
    e->index.indices = check_join_list(c, index, NULL, 0);
    e->index.count = 1;
    return e;
}

expr *build_inside(checker *c, source_span span, expr *list, expr *place) {
    expr *e = build_index(c, span, list, place);
    e->is_inside = true;
    return e;
}

expr *build_unary(checker *c, source_span span, unary_op op, expr *operand, const type *t) {
    expr *e = check_new(c, EXPR_UNARY, span, t);
    e->unary.op = op;
    e->unary.operand = operand;
    return e;
}

expr *build_reference(checker *c, source_span span, expr *place) {
    expr *e = build_unary(c, span, UNARY_REFERENCE, place, NULL);
    e->unary.is_mutable = true;
    return e;
}

/* { result }, of its type */
static block *build_value(checker *c, expr *result) {
    block *b = CHECK_ARRAY(c, block, 1);
    *b = (block){.span = result->span, .result = result, .type = result->type};
    return b;
}

static expr *branch_of(checker *c, expr *value) {
    if (value == NULL || value->kind == EXPR_BLOCK)
        return value;
    expr *e = check_new(c, EXPR_BLOCK, value->span, value->type);
    e->block = build_value(c, value);
    return e;
}

expr *build_if(checker *c, expr *condition, expr *then, expr *otherwise, const type *t) {
    expr *e = check_new(c, EXPR_IF, condition->span, t);
    e->branch.condition = condition;
    e->branch.then = branch_of(c, then)->block;
    e->branch.otherwise = branch_of(c, otherwise);
    return e;
}

expr *build_method(checker *c, source_span span, expr *receiver, const char *name, expr **args, uint32_t count) {
    expr *e = check_new(c, EXPR_METHOD, span, NULL);
    e->call.receiver = receiver;
    e->call.name = name;
    e->call.name_span = span;
    e->call.args = check_join_list(c, NULL, args, count);
    e->call.arg_count = count;
    return e;
}

expr *build_call(checker *c, source_span span, const char *scope, const char *name, expr **args, uint32_t count) {
    expr *e = check_new(c, EXPR_CALL, span, NULL);
    e->call.callee = check_new_name(c, span, name);
    e->call.callee->name.scope = scope;
    e->call.callee->name.scope_span = span;
    e->call.name_span = span;
    e->call.args = check_join_list(c, NULL, args, count);
    e->call.arg_count = count;
    return e;
}

expr *build_field(checker *c, source_span span, expr *base, const char *name) {
    expr *e = check_new(c, EXPR_FIELD, span, NULL);
    e->field.base = base;
    e->field.name = name;
    e->field.name_span = span;
    return e;
}

expr *build_assign(checker *c, source_span span, expr *target, expr *value) {
    expr *e = check_new(c, EXPR_ASSIGN, span, NULL);
    e->assign.target = target;
    e->assign.value = value;
    e->assign.op_span = span;
    return e;
}

expr *build_bound(checker *c, pattern *p, expr *value, expr *body) {
    expr *e = BUILD_QUOTE(c, body->span, "{ let _ = $0; $1; }", value, body);
    e->block->first->pattern = p;
    e->block->first->span = p->span;
    e->block->first->is_made = false;
    return e;
}

expr *build_closure(checker *c, source_span span, uint32_t count, expr **args) {
    expr *e = check_new(c, EXPR_CLOSURE, span, NULL);
    e->closure.parameters = CHECK_ARRAY(c, binding *, count + 1);
    e->closure.parameter_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = check_printf(c, "<given %u>", c->text_count++);
        e->closure.parameters[i] = CHECK_ARRAY(c, binding, 1);
        *e->closure.parameters[i] = (binding){.name = name, .span = span, .kind = BINDING_PARAMETER};
        args[i] = check_new_name(c, span, name);
    }
    return e;
}

void build_append(stmt **list, stmt *s) {
    while (*list != NULL)
        list = &(*list)->next;
    *list = s;
}

void check_call_after(checker *c, expr *call, expr *statement) {
    stmt *s = CHECK_ARRAY(c, stmt, 1);
    *s = (stmt){.kind = STMT_EXPR, .span = call->span, .value = statement};
    build_append(&call->call.after, s);
}

void build_let_made(block_builder *b, const char *name, const made_of *of) {
    build_let(b, name, false, check_new_name(b->c, b->span, of->names[0]));
    b->last->pattern->binding->made_of = of;
}
