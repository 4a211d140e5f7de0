/* check_node.c: memory and nodes that the checker makes. */
#include <stdarg.h>
#include <stddef.h>

#include "language/types/check_context.h"
#include "language/types/check_written.h"

_Noreturn void check_out_of_memory(checker *c) {
    names_out_of_memory(c->names);
}

void *check_alloc(checker *c, size_t count, size_t bytes) {
    void *made = masu__arena_calloc(c->arena, count, bytes, _Alignof(max_align_t));
    if (made == NULL)
        check_out_of_memory(c);
    return made;
}

char *check_printf(checker *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *made = masu__arena_vprintf(c->arena, format, arguments);
    va_end(arguments);
    if (made == NULL)
        check_out_of_memory(c);
    return made;
}

char *check_text_between(checker *c, const char *start, const char *end) {
    return check_printf(c, "%.*s", (int)(end - start), start);
}

expr *check_copy_tree(checker *c, const expr *e) {
    expr *copy = expr_copy(c->arena, e);
    if (copy == NULL && e != NULL)
        check_out_of_memory(c);
    return copy;
}

function_item *check_copy_function(checker *c, const function_item *f) {
    function_item *copy = function_copy(c->arena, f);
    if (copy == NULL)
        check_out_of_memory(c);
    return copy;
}

expr **check_join_list(checker *c, expr *first, expr *const *items, uint32_t count) {
    uint32_t at = 0;
    expr **list = CHECK_ARRAY(c, expr *, count + 1);
    if (first != NULL)
        list[at++] = first;
    for (uint32_t i = 0; i < count; i++)
        list[at++] = items[i];
    return list;
}

expr *check_new(checker *c, expr_kind kind, source_span span, const type *t) {
    expr *e = CHECK_ARRAY(c, expr, 1);
    e->kind = kind;
    e->span = span;
    e->type = t;
    e->height = 1;
    return e;
}

expr *check_new_late(checker *c, source_span span, expr *operand, const type *t, late_call late) {
    expr *e = check_new(c, EXPR_CALL, span, t);
    e->call = (call_expr){.name_span = span,
                          .operands = check_join_list(c, operand, NULL, 0),
                          .operand_count = 1,
                          .late = CHECK_ARRAY(c, late_call, 1)};
    *e->call.late = late;
    return e;
}

expr *check_new_int(checker *c, source_span span, int64_t value) {
    expr *e = check_new(c, EXPR_INT, span, check_scalar(c, TYPE_I64));
    e->integer.value = (uint64_t)value;
    e->integer.suffix = TYPE_I64;
    return e;
}

expr *check_new_float(checker *c, source_span span, double value, const type *t) {
    expr *e = check_new(c, EXPR_FLOAT, span, t);
    e->floating.is_whole = false;
    e->floating.value = value;
    e->floating.suffix = t->kind;
    return e;
}

expr *check_new_bool(checker *c, source_span span, bool value) {
    expr *e = check_new(c, EXPR_BOOL, span, check_scalar(c, TYPE_BOOL));
    e->boolean = value;
    return e;
}

expr *check_new_name(checker *c, source_span span, const char *name) {
    expr *e = check_new(c, EXPR_NAME, span, NULL);
    e->name.name = name;
    return e;
}

expr *check_new_binary(checker *c, binary_op op, expr *left, expr *right, const type *t) {
    expr *e = check_new(c, EXPR_BINARY, source_span_join(left->span, right->span), t);
    e->binary.op = op;
    e->binary.op_span = e->span;
    e->binary.left = left;
    e->binary.right = right;
    return e;
}

expr *check_range_end(checker *c, const expr *range) {
    expr *high = range->range.high;
    if (high != NULL && range->range.inclusive)
        high = check_new_binary(c, BINARY_ADD, high, check_new_int(c, high->span, 1), NULL);
    return high;
}

void check_become(expr *e, expr *made) {
    *e = *made;
    *made = (expr){.kind = EXPR_CAST, .span = e->span, .type = e->type, .cast.operand = e};
}

void check_make_error(checker *c, expr *e) {
    e->type = check_scalar(c, TYPE_ERROR);
}

const char *check_type_text(checker *c, const type *t) {
    return type_name(c->types, type_resolve(c->types, t));
}
