/* check_builtin.c: assert, System, and the methods of strings and vectors. */
#include <string.h>

#include "language/front/check_private.h"

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* ---- panic, assert --------------------------------------------------------------------------- */

static void check_panic(checker *c, expr *e) {
    expr *message = check_new(c, EXPR_STRING, e->span, check_scalar(c, TYPE_STRING));
    message->string.data = "panic";
    message->string.length = strlen(message->string.data);
    if (e->call.arg_count > 0) {
        check_expr(c, &e->call.args[0], NULL);
        check_coerce(c, &e->call.args[0], check_scalar(c, TYPE_STRING), NULL);
        message = e->call.args[0];
    }
    if (e->call.arg_count > 1) {
        check_count(c, e, "panic", 1, (source_span){0});
        check_list(c, e->call.args, e->call.arg_count);
    }
    check_become_abi(c, e, TL_FN_tl_panic, &message, 1);
}

/* assert(c, message) is if !c { panic(message) }. */
static void assert_with_message(checker *c, expr **slot) {
    expr *e = *slot, *condition = e->call.args[0];
    expr *negated = check_new(c, EXPR_UNARY, condition->span, check_scalar(c, TYPE_BOOL));
    negated->unary.op = UNARY_NOT;
    negated->unary.operand = condition;
    expr *panic = check_new_abi(c, TL_FN_tl_panic, e->span, &e->call.args[1], 1);
    stmt *s = CHECK_ARRAY(c, stmt, 1);
    *s = (stmt){.kind = STMT_EXPR, .span = e->span, .value = panic};
    block *b = CHECK_ARRAY(c, block, 1);
    *b = (block){.span = e->span, .first = s, .type = check_scalar(c, TYPE_NEVER)};
    *slot = check_new(c, EXPR_IF, e->span, check_scalar(c, TYPE_VOID));
    (*slot)->branch.condition = negated;
    (*slot)->branch.then = b;
}

static void check_assert(checker *c, expr **slot) {
    expr *e = *slot;
    e->type = check_scalar(c, TYPE_VOID);
    if (e->call.arg_count != 1 && e->call.arg_count != 2) {
        check_list(c, e->call.args, e->call.arg_count);
        check_count(c, e, "assert", 1, (source_span){0});
        return;
    }
    check_condition(c, &e->call.args[0]);
    if (e->call.arg_count == 1) {
        check_become_abi(c, e, TL_FN_tl_assert, e->call.args, 1);
        return;
    }
    check_expr(c, &e->call.args[1], NULL);
    if (check_coerce(c, &e->call.args[1], check_scalar(c, TYPE_STRING), NULL)) {
        assert_with_message(c, slot);
    }
}

/* ---- functions without a scope --------------------------------------------------------------- */

/* args: how many, all i64. */
static const struct {
    const char *name;
    uint32_t args;
    tl_abi_index abi;
} system_functions[] = {
    {"args_count", 0, TL_FN_tl_args_count},
    {"args_get", 1, TL_FN_tl_args_get},
    {"metal_pool_bytes", 0, TL_FN_tl_get_gpu_free_bytes},
    {"metal_pool_count", 0, TL_FN_tl_get_gpu_free_count},
};

static const char *const function_names[] = {
    "print",      "println",  "panic",      "assert",           "range",
    "args_count", "args_get", "metal_sync", "metal_pool_count", "metal_pool_mb"};

void check_suggest_builtin(suggestion *s) {
    for (size_t i = 0; i < sizeof function_names / sizeof function_names[0]; i++) {
        check_suggest_add(s, function_names[i]);
    }
}

static bool system_function(checker *c, expr **slot, const char *name) {
    expr *e = *slot;
    for (size_t i = 0; i < sizeof system_functions / sizeof system_functions[0]; i++) {
        if (!is(system_functions[i].name, name)) {
            continue;
        }
        for (uint32_t a = 0; a < e->call.arg_count; a++) {
            check_expr(c, &e->call.args[a], check_scalar(c, TYPE_I64));
            check_coerce(c, &e->call.args[a], check_scalar(c, TYPE_I64), NULL);
        }
        check_make_error(c, e);
        if (check_count(c, e, name, system_functions[i].args, (source_span){0})) {
            check_become_abi(c, e, system_functions[i].abi, e->call.args, e->call.arg_count);
        }
        return true;
    }
    return false;
}

/* Work is never left behind on a device: there is nothing to wait for. */
static void become_nothing(checker *c, expr *e) {
    e->kind = EXPR_BLOCK;
    e->block = CHECK_ARRAY(c, block, 1);
    e->block->span = e->span;
    e->block->type = check_scalar(c, TYPE_VOID);
    e->type = e->block->type;
}

static bool device_function(checker *c, expr **slot, const char *name) {
    expr *e = *slot;
    if (is(name, "metal_sync")) {
        if (check_count(c, e, name, 0, (source_span){0})) {
            become_nothing(c, e);
        } else {
            check_list(c, e->call.args, e->call.arg_count);
            check_make_error(c, e);
        }
        return true;
    }
    if (is(name, "metal_pool_mb")) {
        check_list(c, e->call.args, e->call.arg_count);
        check_make_error(c, e);
        if (check_count(c, e, name, 0, (source_span){0})) {
            expr *bytes = check_new_abi(c, TL_FN_tl_get_gpu_free_bytes, e->span, NULL, 0);
            *slot = check_new_binary(c, BINARY_DIV, bytes, check_new_int(c, e->span, 1 << 20),
                                     check_scalar(c, TYPE_I64));
        }
        return true;
    }
    return system_function(c, slot, name);
}

bool check_builtin_function(checker *c, expr **slot, const char *name) {
    expr *e = *slot;
    if (is(name, "print") || is(name, "println")) {
        check_print(c, e, is(name, "println"));
    } else if (is(name, "panic")) {
        check_panic(c, e);
    } else if (is(name, "assert")) {
        check_assert(c, slot);
    } else if (is(name, "range")) {
        check_list(c, e->call.args, e->call.arg_count);
        diagnostics_error(c->diagnostics, e->span, "`range` stands in `for i in range(a, b)`");
        check_make_error(c, e);
    } else {
        return device_function(c, slot, name);
    }
    return true;
}

/* ---- T::f() of the language ------------------------------------------------------------------ */

static void vec_new(checker *c, expr *e, const type *expected) {
    const name_expr *callee = &e->call.callee->name;
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    check_list(c, e->call.args,
               e->call.arg_count); /* with_capacity: how many to expect changes nothing */
    if (callee->argument_count == 1) {
        const type *element = check_type(c, callee->arguments[0]);
        e->type = element->kind == TYPE_ERROR ? element : type_vec(c->types, element);
    } else if (wish != NULL && wish->kind == TYPE_VEC) {
        e->type = wish;
    } else {
        c->has_open = true;
        e->type = type_vec(c->types, type_open(c->types));
    }
    e->call.kind = CALL_VEC_NEW;
}

static bool string_static(checker *c, expr **slot, const char *name) {
    expr *e = *slot;
    if (is(name, "new") && e->call.arg_count == 0) {
        e->kind = EXPR_STRING;
        e->string.data = "";
        e->string.length = 0;
        e->type = check_scalar(c, TYPE_STRING);
        return true;
    }
    if (is(name, "from") && e->call.arg_count == 1) {
        check_expr(c, &e->call.args[0], check_scalar(c, TYPE_STRING));
        check_coerce(c, &e->call.args[0], check_scalar(c, TYPE_STRING), NULL);
        *slot = e->call.args[0];
        return true;
    }
    return false;
}

bool check_builtin_scope(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const char *scope = e->call.callee->name.scope, *name = e->call.callee->name.name;
    if (is(scope, "Vec") &&
        (is(name, "new") ? e->call.arg_count == 0
                         : is(name, "with_capacity") && e->call.arg_count == 1)) {
        vec_new(c, e, expected);
        return true;
    }
    if (is(scope, "String")) {
        return string_static(c, slot, name);
    }
    if (is(scope, "System")) {
        return device_function(c, slot, name);
    }
    return e->call.arg_count == 0 && check_scalar_constant(c, e, scope, name, true);
}

/* ---- methods of strings ---------------------------------------------------------------------- */

static void string_length(checker *c, expr **slot, bool is_empty) {
    expr *e = *slot;
    expr *length = check_new_abi(c, TL_FN_tl_string_len, e->span, &e->call.receiver, 1);
    *slot = !is_empty ? length
                      : check_new_binary(c, BINARY_EQ, length, check_new_int(c, e->span, 0),
                                         check_scalar(c, TYPE_BOOL));
}

static void string_concat(checker *c, expr *e) {
    const type *string = check_scalar(c, TYPE_STRING);
    check_expr(c, &e->call.args[0], string);
    check_coerce(c, &e->call.args[0], string, NULL);
    expr *operands[2] = {e->call.receiver, e->call.args[0]};
    check_become_abi(c, e, TL_FN_tl_string_concat, operands, 2);
}

bool check_string_method(checker *c, expr **slot) {
    expr *e = *slot;
    const char *name = e->call.name;
    uint32_t args = e->call.arg_count;
    if (args == 0 && (is(name, "len") || is(name, "is_empty"))) {
        string_length(c, slot, is(name, "is_empty"));
    } else if (args == 1 && is(name, "concat")) {
        string_concat(c, e);
    } else if (args == 0 && is(name, "to_i64")) {
        check_become_abi(c, e, TL_FN_tl_string_to_i64, &e->call.receiver, 1);
    } else if (args == 0 && (is(name, "to_f32") || is(name, "to_f64"))) {
        check_become_abi(c, e, TL_FN_tl_string_to_f64, &e->call.receiver, 1);
        if (is(name, "to_f32")) {
            check_cast_to(c, slot, check_scalar(c, TYPE_F32));
        }
    } else {
        return false;
    }
    return true;
}

/* ---- methods of vectors ---------------------------------------------------------------------- */

static void become_vec_call(checker *c, expr *e, call_kind kind, const type *t) {
    uint32_t count = e->call.arg_count + 1;
    expr **operands = check_join_list(c, e->call.receiver, e->call.args, e->call.arg_count);
    e->kind = EXPR_CALL;
    e->type = t;
    e->call.kind = kind;
    e->call.operands = operands;
    e->call.operand_count = count;
    if (kind == CALL_VEC_PUSH || kind == CALL_VEC_SET || kind == CALL_VEC_POP) {
        e->call.writes_receiver =
            check_is_place(operands[0]) && check_write(c, operands[0], e->span, WRITE_METHOD);
    }
}

static void vec_length(checker *c, expr **slot, bool is_empty) {
    expr *e = *slot;
    expr *length = check_new_abi(c, TL_FN_tl_vec_len, e->span, &e->call.receiver, 1);
    *slot = !is_empty ? length
                      : check_new_binary(c, BINARY_EQ, length, check_new_int(c, e->span, 0),
                                         check_scalar(c, TYPE_BOOL));
}

static void vec_argument(checker *c, expr **slot, const type *t) {
    check_expr(c, slot, t->kind == TYPE_OPEN ? NULL : t);
    check_coerce_branch(c, slot, type_resolve(c->types, t), NULL);
}

/* Arrays keep their length; the checker fills the ones that it makes. */
static bool may_grow(const expr *e) {
    const expr *receiver = e->call.receiver;
    return receiver->type->vec.length < 0 ||
           (receiver->kind == EXPR_NAME && is(receiver->name.name, "<list>"));
}

bool check_vec_method(checker *c, expr **slot) {
    expr *e = *slot;
    const char *name = e->call.name;
    const type *element = e->call.receiver->type->vec.element, *integer = check_scalar(c, TYPE_I64);
    uint32_t args = e->call.arg_count;
    if (args == 0 && (is(name, "len") || is(name, "is_empty"))) {
        vec_length(c, slot, is(name, "is_empty"));
    } else if (args == 0 && is(name, "__pop")) {
        become_vec_call(c, e, CALL_VEC_POP, element);
    } else if (args == 1 && is(name, "push") && may_grow(e)) {
        vec_argument(c, &e->call.args[0], element);
        become_vec_call(c, e, CALL_VEC_PUSH, check_scalar(c, TYPE_VOID));
    } else if (args == 1 && is(name, "get")) {
        vec_argument(c, &e->call.args[0], integer);
        become_vec_call(c, e, CALL_VEC_GET, element);
    } else if (args == 2 && is(name, "set")) {
        vec_argument(c, &e->call.args[0], integer);
        vec_argument(c, &e->call.args[1], element);
        become_vec_call(c, e, CALL_VEC_SET, check_scalar(c, TYPE_VOID));
    } else {
        return false;
    }
    return true;
}
