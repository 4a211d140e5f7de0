/* check_operation.c: operations of the table abi.def as nodes, and which names it knows. */
#include <string.h>

#include "language/types/check_context.h"
#include "language/types/check_operation.h"
#include "language/types/check_written.h"

void check_become_abi(checker *c, expr *e, tl_abi_index abi, expr *const *operands, uint32_t count) {
    source_span name_span = e->call.name_span;
    expr **copy = check_join_list(c, NULL, operands, count);
    e->kind = EXPR_CALL;
    e->call = (call_expr){
        .name_span = name_span, .kind = CALL_ABI, .abi = abi, .operands = copy, .operand_count = count};
    c->tree->has_scoped_calls |= (tl_abi_functions[abi].effects & SCOPED) != 0;
    e->type = tl_abi_functions[abi].effects & ENDS ? check_scalar(c, TYPE_NEVER) : check_abi_result(c, e);
}

expr *check_new_abi(checker *c, tl_abi_index abi, source_span span, expr *const *operands, uint32_t count) {
    expr *e = check_new(c, EXPR_CALL, span, NULL);
    e->call.name_span = span;
    check_become_abi(c, e, abi, operands, count);
    return e;
}

const type *check_kind_type(checker *c, tl_abi_kind kind) {
    switch (kind) {
    case ABI_bool:
        return check_scalar(c, TYPE_BOOL);
    case ABI_i32:
        return check_scalar(c, TYPE_I32);
    case ABI_f32:
        return check_scalar(c, TYPE_F32);
    case ABI_f64:
        return check_scalar(c, TYPE_F64);
    case ABI_tensor:
        return type_tensor(c->types, NULL, -1);
    case ABI_object:
        return check_scalar(c, TYPE_STRING);
    default:
        return check_scalar(c, TYPE_I64);
    }
}

bool check_abi_scope(const char *scope) {
    for (size_t i = 0; i < tl_abi_name_count; i++)
        if (scope[0] != 0 && strcmp(tl_abi_names[i].scope, scope) == 0)
            return true;
    return false;
}

void check_suggest_abi(const char *scope, suggestion *s) {
    for (size_t i = 0; i < tl_abi_name_count; i++)
        if (strcmp(tl_abi_names[i].scope, scope) == 0)
            suggest_add(s, tl_abi_names[i].name);
}

bool check_abi_known(const char *scope, const char *name) {
    for (size_t i = 0; i < tl_abi_name_count; i++)
        if (check_abi_named(&tl_abi_names[i], scope, name))
            return true;
    return false;
}

bool check_is_abi_method(const char *name) {
    return check_abi_known("", name);
}

tl_abi_index check_function_of_symbol(const char *symbol) {
    tl_abi_index at = 0;
    while (at < TL_FN_COUNT && strcmp(tl_abi_functions[at].symbol, symbol) != 0)
        at++;
    return at;
}

bool check_takes_shape(const tl_abi_parameter *p) {
    return p->kind == ABI_i64 && strcmp(p->name, "shape") == 0;
}
