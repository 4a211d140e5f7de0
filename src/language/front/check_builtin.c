/* check_builtin.c: print, assert, System, and the methods of numbers, strings and vectors. */
#include <string.h>

#include "language/front/check_private.h"

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* ---- print ----------------------------------------------------------------------------------------------------------- */

typedef struct format {
    checker *c;
    expr *call;
    expr *text;          /* the format string */
    uint32_t capacity;
    uint32_t placeholders;
    char *literal;       /* text between placeholders, `{{` already `{` */
    size_t literal_length;
} format;

static bool printable(const type *t) {
    return type_is_numeric(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR || t->kind == TYPE_STRING || t->kind == TYPE_TENSOR;
}

static void push_piece(format *f, print_piece piece) {
    checker *c = f->c;
    call_expr *call = &f->call->call;
    CHECK_PUSH(c, call->pieces, call->piece_count, f->capacity, piece);
}

static void flush_literal(format *f, const char *end) {
    if (f->literal_length > 0) {
        push_piece(f, (print_piece){.text = end - f->literal_length, .length = f->literal_length});
        f->literal_length = 0;
    }
}

static void push_value(format *f, expr **slot) {
    checker *c = f->c;
    check_expr(c, slot, NULL);
    const type *t = type_resolve(c->types, (*slot)->type);
    if ((*slot)->kind == EXPR_STRING) {
        push_piece(f, (print_piece){.text = (*slot)->string.data, .length = (*slot)->string.length});
        return;
    }
    push_piece(f, (print_piece){.value = *slot});
    if (!type_is_silent(t) && !printable(t)) {
        if (t->kind == TYPE_VOID) {
            diagnostics_error(c->diagnostics, (*slot)->span, "this has no value to print");
            return;
        }
        diagnostic *d = diagnostics_error(c->diagnostics, (*slot)->span, "`%s` cannot be printed", check_type_text(c, t));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "numbers, bools, characters, strings and tensors can");
    }
}

static void report_format(format *f, const char *message, const char *note) {
    diagnostic *d = diagnostics_error(f->c->diagnostics, f->text->span, "%s", message);
    diagnostics_note(f->c->diagnostics, d, (source_span){0}, "%s", note);
}

/* Behind `{`. Returns where to go on; NULL after a message. */
static const char *placeholder(format *f, const char *at, const char *end) {
    if (at == end || *at != '}') {
        bool named = at < end && memchr(at, '}', (size_t)(end - at)) != NULL;
        report_format(f, named ? "a placeholder is `{}`, without anything in it" : "a `{` without its `}`", "`{{` prints a `{`");
        return NULL;
    }
    if (++f->placeholders < f->call->call.arg_count) {
        push_value(f, &f->call->call.args[f->placeholders]);
    }
    return at + 1;
}

/* The text is split in place: `{{` becomes `{`, so pieces move to the front. */
static bool split_format(format *f) {
    const char *at = f->text->string.data, *end = at + f->text->string.length;
    char *out = check_alloc(f->c, f->text->string.length + 1, 1);
    while (at < end) {
        bool doubled = at + 1 < end && (*at == '{' || *at == '}') && at[1] == *at;
        if (*at == '{' && !doubled) {
            flush_literal(f, out);
            at = placeholder(f, at + 1, end);
            if (at == NULL) {
                return false;
            }
            continue;
        }
        if (*at == '}' && !doubled) {
            report_format(f, "a `}` without its `{`", "`}}` prints a `}`");
            return false;
        }
        *out++ = *at;
        f->literal_length++;
        at += 1 + doubled;
    }
    flush_literal(f, out);
    return true;
}

static void print_formatted(format *f) {
    expr *e = f->call;
    f->text = e->call.args[0];
    f->text->type = check_scalar(f->c, TYPE_STRING);
    bool good = split_format(f);
    uint32_t values = e->call.arg_count - 1;
    if (good && f->placeholders != values) {
        diagnostics_error(f->c->diagnostics, f->text->span, "%u %s in the text, %u %s given", f->placeholders,
                          f->placeholders == 1 ? "placeholder `{}`" : "placeholders `{}`", values, values == 1 ? "value" : "values");
    }
    check_list(f->c, e->call.args + 1, values);
}

static void check_print(checker *c, expr *e, bool newline) {
    format f = {.c = c, .call = e};
    e->type = check_scalar(c, TYPE_VOID);
    e->call.newline = newline;
    if (e->call.arg_count > 0 && e->call.args[0]->kind == EXPR_STRING) {
        print_formatted(&f);
    } else if (e->call.arg_count == 1) {
        push_value(&f, &e->call.args[0]);
    } else if (e->call.arg_count > 1) {
        check_list(c, e->call.args, e->call.arg_count);
        diagnostic *d = diagnostics_error(c->diagnostics, e->call.args[0]->span, "several values need a text to stand in");
        diagnostics_note(c->diagnostics, d, (source_span){0}, "for instance `println(\"{} {}\", a, b)`");
    }
    e->call.kind = CALL_PRINT;
}

/* ---- panic, assert ------------------------------------------------------------------------------------------------------- */

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

/* ---- functions without a scope ---------------------------------------------------------------------------------------------- */

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

static const char *const function_names[] = {"print",      "println",  "panic",      "assert",           "range",
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
            *slot = check_new_binary(c, BINARY_DIV, bytes, check_new_int(c, e->span, 1 << 20), check_scalar(c, TYPE_I64));
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

/* ---- T::f() of the language ---------------------------------------------------------------------------------------------------- */

static void vec_new(checker *c, expr *e, const type *expected) {
    const name_expr *callee = &e->call.callee->name;
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    check_list(c, e->call.args, e->call.arg_count); /* with_capacity: how many to expect changes nothing */
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
    if (is(scope, "Vec") && (is(name, "new") ? e->call.arg_count == 0 : is(name, "with_capacity") && e->call.arg_count == 1)) {
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

/* ---- methods of numbers ------------------------------------------------------------------------------------------------------------ */

typedef enum math_arguments { ALONE, WITH_FLOAT, WITH_INTEGER, WITH_SAME } math_arguments;

static const struct math_method {
    const char *name;
    scalar_math math;
    math_arguments arguments;
    bool integers; /* also on integers */
} math_methods[] = {
    {"sqrt", MATH_SQRT, ALONE, false},   {"exp", MATH_EXP, ALONE, false},         {"log", MATH_LOG, ALONE, false},
    {"ln", MATH_LOG, ALONE, false},      {"sin", MATH_SIN, ALONE, false},         {"cos", MATH_COS, ALONE, false},
    {"tanh", MATH_TANH, ALONE, false},   {"floor", MATH_FLOOR, ALONE, false},     {"ceil", MATH_CEIL, ALONE, false},
    {"abs", MATH_ABS, ALONE, true},      {"pow", MATH_POW, WITH_FLOAT, false},    {"powf", MATH_POW, WITH_FLOAT, false},
    {"powi", MATH_POW, WITH_INTEGER, false}, {"min", MATH_MIN, WITH_SAME, true},  {"max", MATH_MAX, WITH_SAME, true},
};

static void become_math(checker *c, expr *e, scalar_math math, expr *left, expr *right) {
    expr **operands = CHECK_ARRAY(c, expr *, 2);
    operands[0] = left;
    operands[1] = right;
    e->kind = EXPR_CALL;
    e->type = left->type;
    e->call.kind = CALL_MATH;
    e->call.math = math;
    e->call.operands = operands;
    e->call.operand_count = right == NULL ? 1 : 2;
}

static stmt *hidden_let(checker *c, const char *name, expr *value, stmt *next, binding **made) {
    stmt *s = CHECK_ARRAY(c, stmt, 1);
    pattern *p = CHECK_ARRAY(c, pattern, 1);
    binding *b = CHECK_ARRAY(c, binding, 1);
    *b = (binding){.name = name, .span = value->span, .kind = BINDING_LET};
    *p = (pattern){.span = value->span, .kind = PATTERN_NAME, .binding = b, .type = value->type};
    *s = (stmt){.kind = STMT_LET, .span = value->span, .pattern = p, .value = value, .next = next};
    check_declare(c, b, value->type);
    *made = b;
    return s;
}

static expr *name_of(checker *c, binding *b) {
    expr *e = check_new_name(c, b->span, b->name);
    e->name.binding = b;
    e->type = b->type;
    return e;
}

static block *result_block(checker *c, expr *result) {
    block *b = CHECK_ARRAY(c, block, 1);
    *b = (block){.span = result->span, .result = result, .type = result->type};
    return b;
}

/* Of integers: { let a = x; let b = y; if a < b { a } else { b } }, and for abs { let a = x; if a < 0 { -a } else { a } }. */
static void become_integer_choice(checker *c, expr *e, scalar_math math, expr *left, expr *right) {
    uint32_t mark = check_scope_open(c);
    binding *a, *b = NULL;
    source_span span = e->span;
    const type *t = left->type, *boolean = check_scalar(c, TYPE_BOOL);
    stmt *second = math == MATH_ABS ? NULL : hidden_let(c, "<right>", right, NULL, &b);
    stmt *first = hidden_let(c, "<left>", left, second, &a);
    expr *zero = check_new_int(c, span, 0);
    zero->type = t;
    expr *condition = check_new_binary(c, BINARY_LT, name_of(c, a), b == NULL ? zero : name_of(c, b), boolean);
    expr *when = name_of(c, a), *otherwise = b == NULL ? name_of(c, a) : name_of(c, b);
    if (math == MATH_ABS) {
        when = check_new(c, EXPR_UNARY, span, t);
        when->unary.op = UNARY_NEG;
        when->unary.operand = name_of(c, a);
    } else if (math == MATH_MAX) {
        expr *exchanged = when;
        when = otherwise;
        otherwise = exchanged;
    }
    expr *choice = check_new(c, EXPR_IF, span, t);
    choice->branch.condition = condition;
    choice->branch.then = result_block(c, when);
    choice->branch.otherwise = check_new(c, EXPR_BLOCK, span, t);
    choice->branch.otherwise->block = result_block(c, otherwise);
    e->kind = EXPR_BLOCK;
    e->type = t;
    e->block = result_block(c, choice);
    e->block->first = first;
    check_scope_close(c, mark);
}

/* x.max(y) of different types: the wider one, as with operators. */
static void unify(checker *c, expr **left, expr **right) {
    const type *common = check_common(c, (*left)->type, (*right)->type);
    check_cast_to(c, left, common);
    check_cast_to(c, right, common);
}

static bool check_math_argument(checker *c, expr *e, math_arguments arguments) {
    expr **argument = &e->call.args[0];
    const type *t = e->call.receiver->type;
    check_expr(c, argument, arguments == WITH_INTEGER ? check_scalar(c, TYPE_I64) : t);
    const type *found = type_resolve(c->types, (*argument)->type);
    if (type_is_silent(found)) {
        check_make_error(c, e);
        return false;
    }
    if (found->kind == TYPE_TENSOR && check_item(c, argument)) {
        found = (*argument)->type;
    }
    if (!type_is_numeric(found) || (arguments == WITH_INTEGER && !type_is_integer(found))) {
        check_mismatch(c, *argument, arguments == WITH_INTEGER ? check_scalar(c, TYPE_I64) : t, NULL);
        check_make_error(c, e);
        return false;
    }
    if (arguments == WITH_INTEGER) {
        check_cast_to(c, argument, t);
    }
    unify(c, &e->call.receiver, argument);
    return true;
}

static bool math_method(checker *c, expr *e, const struct math_method *m) {
    const type *t = e->call.receiver->type;
    if (type_is_integer(t) && !m->integers) {
        check_list(c, e->call.args, e->call.arg_count);
        diagnostic *d = diagnostics_error(c->diagnostics, e->call.name_span, "`%s` needs an f32 or f64, this is `%s`", m->name, check_type_text(c, t));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`(x as f32).%s(…)` converts first", m->name);
        e->type = check_scalar(c, TYPE_F32);
        return true;
    }
    if (!check_count(c, e, m->name, m->arguments != ALONE, (source_span){0})) {
        check_list(c, e->call.args, e->call.arg_count);
        check_make_error(c, e);
        return true;
    }
    if (m->arguments != ALONE && !check_math_argument(c, e, m->arguments)) {
        return true;
    }
    expr *left = e->call.receiver, *right = m->arguments == ALONE ? NULL : e->call.args[0];
    if (type_is_integer(left->type)) {
        become_integer_choice(c, e, m->math, left, right);
    } else {
        become_math(c, e, m->math, left, right);
    }
    return true;
}

/* x.to_f32(), x.item(): what a scalar answers where a tensor of rank 0 might stand. */
static bool conversion_method(checker *c, expr **slot) {
    static const struct {
        const char *name;
        type_kind kind; /* TYPE_VOID: stays what it is */
    } conversions[] = {{"to_f32", TYPE_F32}, {"to_f64", TYPE_F64}, {"to_i64", TYPE_I64}, {"item", TYPE_VOID}, {"item_i64", TYPE_I64}};
    expr *e = *slot;
    for (size_t i = 0; e->call.arg_count == 0 && i < sizeof conversions / sizeof conversions[0]; i++) {
        if (is(conversions[i].name, e->call.name)) {
            *slot = e->call.receiver;
            if (conversions[i].kind != TYPE_VOID) {
                check_cast_to(c, slot, check_scalar(c, conversions[i].kind));
            }
            return true;
        }
    }
    return false;
}

bool check_number_method(checker *c, expr **slot) {
    expr *e = *slot;
    for (size_t i = 0; i < sizeof math_methods / sizeof math_methods[0]; i++) {
        if (is(math_methods[i].name, e->call.name)) {
            return math_method(c, e, &math_methods[i]);
        }
    }
    return conversion_method(c, slot);
}

/* ---- methods of strings ---------------------------------------------------------------------------------------------------------------- */

static void string_length(checker *c, expr **slot, bool is_empty) {
    expr *e = *slot;
    expr *length = check_new_abi(c, TL_FN_tl_string_len, e->span, &e->call.receiver, 1);
    *slot = !is_empty ? length : check_new_binary(c, BINARY_EQ, length, check_new_int(c, e->span, 0), check_scalar(c, TYPE_BOOL));
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

/* ---- methods of vectors ---------------------------------------------------------------------------------------------------------------- */

static void become_vec_call(checker *c, expr *e, call_kind kind, const type *t) {
    uint32_t count = e->call.arg_count + 1;
    expr **operands = CHECK_ARRAY(c, expr *, count);
    operands[0] = e->call.receiver;
    memcpy(operands + 1, e->call.args, e->call.arg_count * sizeof(expr *));
    e->kind = EXPR_CALL;
    e->type = t;
    e->call.kind = kind;
    e->call.operands = operands;
    e->call.operand_count = count;
    if (kind == CALL_VEC_PUSH || kind == CALL_VEC_SET) {
        e->call.writes_receiver = check_is_place(operands[0]) && check_write(c, operands[0], e->span, WRITE_METHOD);
    }
}

static void vec_length(checker *c, expr **slot, bool is_empty) {
    expr *e = *slot;
    expr *length = check_new_abi(c, TL_FN_tl_vec_len, e->span, &e->call.receiver, 1);
    *slot = !is_empty ? length : check_new_binary(c, BINARY_EQ, length, check_new_int(c, e->span, 0), check_scalar(c, TYPE_BOOL));
}

static void vec_argument(checker *c, expr **slot, const type *t) {
    check_expr(c, slot, t->kind == TYPE_OPEN ? NULL : t);
    check_coerce_branch(c, slot, type_resolve(c->types, t), NULL);
}

bool check_vec_method(checker *c, expr **slot) {
    expr *e = *slot;
    const char *name = e->call.name;
    const type *element = e->call.receiver->type->vec.element, *integer = check_scalar(c, TYPE_I64);
    uint32_t args = e->call.arg_count;
    if (args == 0 && (is(name, "len") || is(name, "is_empty"))) {
        vec_length(c, slot, is(name, "is_empty"));
    } else if (args == 1 && is(name, "push")) {
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
