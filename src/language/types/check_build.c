/* check_build.c: nodes of trees that the checker writes in place of a shorter form. They are checked like any
 * other afterwards. Names that programs cannot write start with `<`. */
#include "language/types/check_capture.h"
#include "language/types/check_context.h"
#include "language/types/check_tree_made.h"

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
    binding *local = CHECK_ARRAY(b->c, binding, 1);
    *local = (binding){.name = name, .span = b->span, .kind = BINDING_LET, .is_mutable = is_mutable};
    s->kind = STMT_LET;
    s->span = b->span;
    s->value = value;
    s->is_made = true;
    s->pattern = CHECK_ARRAY(b->c, pattern, 1);
    s->pattern->kind = PATTERN_NAME;
    s->pattern->span = b->span;
    s->pattern->binding = local;
    append(b, s);
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

expr *build_unpack(checker *c, expr *option, const char *value, expr *body, expr *otherwise) {
    expr *e = check_new(c, EXPR_MATCH, option->span, NULL);
    pattern *some = CHECK_ARRAY(c, pattern, 1), *none = CHECK_ARRAY(c, pattern, 1), *part = CHECK_ARRAY(c, pattern, 1);
    *part = (pattern){.span = option->span, .kind = PATTERN_NAME, .binding = CHECK_ARRAY(c, binding, 1)};
    *part->binding = (binding){.name = value, .span = option->span, .kind = BINDING_LET};
    *some = (pattern){.span = option->span, .kind = PATTERN_VARIANT, .name = "Some", .part_count = 1};
    some->parts = CHECK_ARRAY(c, pattern *, 1);
    some->parts[0] = part;
    *none = (pattern){.span = option->span, .kind = PATTERN_WILDCARD};
    e->match.value = option;
    e->match.arms = CHECK_ARRAY(c, match_arm, 2);
    e->match.arms[0] = (match_arm){some, NULL, body};
    e->match.arms[1] = (match_arm){none, NULL, otherwise};
    e->match.count = 2;
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
