/* check_call.c: functions, methods, constructors. What the language brings along is in
 * check_builtin.c and check_abi.c. */
#include <string.h>

#include "language/front/check_private.h"

bool check_count(checker *c, const expr *call, const char *name, uint32_t wanted,
                 source_span declared) {
    uint32_t given = call->call.arg_count;
    if (given == wanted) {
        return true;
    }
    diagnostic *d =
        diagnostics_error(c->diagnostics, call->call.name_span, "`%s` takes %u %s, %u given", name,
                          wanted, wanted == 1 ? "argument" : "arguments", given);
    if (declared.file != NULL) {
        diagnostics_note(c->diagnostics, d, declared, "it is declared here");
    }
    return false;
}

/* ---- functions of the program ---------------------------------------------------------------- */

/* args go to the parameters from `first` on. */
static void check_arguments(checker *c, expr *e, const function_item *f, uint32_t first) {
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        const binding *parameter = first + i < f->parameter_count ? f->parameters[first + i] : NULL;
        check_expr(c, &e->call.args[i], parameter == NULL ? NULL : parameter->type);
        if (parameter != NULL) {
            coerce_reason why = {parameter->span, "the parameter is declared here"};
            check_coerce_branch(c, &e->call.args[i], parameter->type, &why);
        }
    }
}

static void note_method_use(checker *c, expr *e) {
    binding *root = check_root(e->call.operands[0]);
    bool captured =
        c->comprehension != NULL && root != NULL && root->id < c->comprehension->first_binding;
    method_use use = {.caller = c->function, .call = e, .root = root, .captured = captured};
    CHECK_PUSH(c, c->uses, c->use_count, c->use_capacity, use);
}

/* The receiver, when there is one, is the first operand. */
static void finish_user_call(checker *c, expr *e, function_item *f) {
    uint32_t with_receiver = e->call.receiver != NULL;
    e->kind = EXPR_CALL;
    e->call.kind = CALL_FUNCTION;
    e->call.function = f;
    e->call.operands = check_join_list(c, e->call.receiver, e->call.args, e->call.arg_count);
    e->call.operand_count = e->call.arg_count + with_receiver;
    e->type = f->result;
    if (f->has_self && e->call.operand_count > 0) {
        note_method_use(c, e);
    }
}

static void call_function(checker *c, expr *e, function_item *f) {
    check_arguments(c, e, f, 0);
    e->type = f->result; /* also after a mistake: what follows is then judged by what was meant */
    if (check_count(c, e, f->qualified, f->parameter_count, f->span)) {
        finish_user_call(c, e, f);
    }
}

/* ---- P(a, b) --------------------------------------------------------------------------------- */

static void call_struct(checker *c, expr *e, struct_item *s) {
    e->type = s->type;
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        const struct_field *field = i < s->field_count ? &s->fields[i] : NULL;
        check_expr(c, &e->call.args[i], field == NULL ? NULL : field->type);
        if (field != NULL) {
            check_coerce_branch(c, &e->call.args[i], field->type,
                                &(coerce_reason){field->span, "the field is declared here"});
        }
    }
    if (check_count(c, e, s->name, s->field_count, s->span)) {
        e->call.kind = CALL_STRUCT;
        e->call.structure = s;
        e->call.operands = e->call.args;
        e->call.operand_count = e->call.arg_count;
    }
}

/* ---- f(…) ------------------------------------------------------------------------------------ */

static void unknown_function(checker *c, expr *e, const char *name) {
    symbol *s = check_find(c, name);
    check_list(c, e->call.args, e->call.arg_count);
    check_make_error(c, e);
    if (s != NULL && s->refused) {
        return;
    }
    if (s != NULL && s->binding != NULL) {
        diagnostic *d = diagnostics_error(c->diagnostics, e->call.name_span,
                                          "`%s` is a variable, not a function", name);
        diagnostics_note(c->diagnostics, d, s->binding->span, "it is declared here");
        return;
    }
    diagnostic *d =
        diagnostics_error(c->diagnostics, e->call.name_span, "there is no function `%s`", name);
    if (c->function->owner != NULL && check_find_method(c, c->function->owner, name) != NULL) {
        diagnostics_note(
            c->diagnostics, d, (source_span){0}, "did you mean `%s%s`?",
            check_find_method(c, c->function->owner, name)->has_self ? "self." : "Self::", name);
        return;
    }
    suggestion near = check_suggest(d, name);
    check_suggest_functions(c, &near);
    check_suggest_note(c, d, &near);
}

static void call_plain(checker *c, expr **slot, const char *name) {
    expr *e = *slot;
    symbol *s = check_find(c, name);
    struct_item *structure = check_struct_named(c, name);
    if (s != NULL && s->function != NULL) {
        call_function(c, e, s->function);
    } else if (structure != NULL) {
        call_struct(c, e, structure);
    } else if (!check_builtin_function(c, slot, name)) {
        unknown_function(c, e, name);
    }
}

/* ---- T::f(…) --------------------------------------------------------------------------------- */

static void unknown_static(checker *c, expr *e, const char *scope, const char *name,
                           const struct_item *owner) {
    diagnostic *d = diagnostics_error(c->diagnostics, e->call.name_span,
                                      "there is no function `%s::%s`", scope, name);
    suggestion near = check_suggest(d, name);
    for (uint32_t i = 0; owner != NULL && i < c->tree->function_count && near.distance > 0; i++) {
        if (c->tree->functions[i]->owner == owner) {
            check_suggest_add(&near, c->tree->functions[i]->name);
        }
    }
    check_suggest_abi(strcmp(scope, "GradTensor") == 0 ? "Tensor" : scope, &near);
    if (near.best != NULL) {
        diagnostics_note(c->diagnostics, d, (source_span){0}, "did you mean `%s::%s`?", scope,
                         near.best);
    }
}

static void unknown_scope(checker *c, expr *e, const char *scope, source_span span) {
    symbol *s = check_find(c, scope);
    if (s != NULL && s->refused) {
        return;
    }
    static const char *const refused[] = {"Param",  "Env",       "Http",    "File",   "Path",
                                          "Image",  "Tokenizer", "KVCache", "Map",    "HashMap",
                                          "Thread", "Llm",       "Option",  "Result", "Some"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (strcmp(refused[i], scope) == 0) {
            diagnostics_error(c->diagnostics, span, "masu does not accept `%s`", scope);
            return;
        }
    }
    diagnostic *d = diagnostics_error(c->diagnostics, span, "there is no type `%s`", scope);
    suggestion near = check_suggest(d, scope);
    check_suggest_types(c, &near);
    check_suggest_note(c, d, &near);
    (void)e;
}

static void call_of_struct(checker *c, expr *e, const char *scope, struct_item *owner) {
    const char *name = e->call.callee->name.name;
    function_item *f = check_find_method(c, owner, name);
    if (f != NULL) {
        call_function(c, e, f);
        return;
    }
    check_list(c, e->call.args, e->call.arg_count);
    check_make_error(c, e);
    unknown_static(c, e, scope, name, owner);
}

static void call_scoped(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const name_expr *callee = &e->call.callee->name;
    const char *scope = callee->scope, *name = callee->name;
    struct_item *owner = check_struct_named(c, scope);
    if (owner != NULL) {
        call_of_struct(c, e, scope, owner);
        return;
    }
    bool grad = strcmp(scope, "GradTensor") == 0;
    if (check_abi_call(c, slot, grad ? "Tensor" : scope, name, grad) ||
        check_builtin_scope(c, slot, expected)) {
        return;
    }
    check_list(c, e->call.args, e->call.arg_count);
    check_make_error(c, e);
    if (grad || check_abi_scope(scope) || check_scalar_scope(scope) || strcmp(scope, "Vec") == 0 ||
        strcmp(scope, "String") == 0) {
        unknown_static(c, e, scope, name, NULL);
    } else {
        unknown_scope(c, e, scope, callee->scope_span);
    }
}

void check_call(checker *c, expr **slot, const type *expected) {
    expr *e = *slot, *callee = e->call.callee;
    if (callee->kind != EXPR_NAME) {
        check_list(c, e->call.args, e->call.arg_count);
        check_make_error(c, e);
    } else if (callee->name.scope != NULL) {
        call_scoped(c, slot, expected);
    } else {
        call_plain(c, slot, callee->name.name);
    }
}

/* ---- x.m(…) ---------------------------------------------------------------------------------- */

static void unknown_method(checker *c, expr *e, const type *t) {
    check_list(c, e->call.args, e->call.arg_count);
    check_make_error(c, e);
    diagnostic *d = diagnostics_error(c->diagnostics, e->call.name_span, "`%s` has no method `%s`",
                                      check_type_text(c, t), e->call.name);
    suggestion near = check_suggest(d, e->call.name);
    if (t->kind == TYPE_TENSOR) {
        check_suggest_abi("", &near);
    }
    for (uint32_t i = 0; t->kind == TYPE_STRUCT && i < c->tree->function_count && near.distance > 0;
         i++) {
        if (c->tree->functions[i]->owner == t->structure && c->tree->functions[i]->has_self) {
            check_suggest_add(&near, c->tree->functions[i]->name);
        }
    }
    if (t->kind == TYPE_STRUCT) {
        for (uint32_t i = 0; i < t->structure->field_count; i++) {
            if (strcmp(t->structure->fields[i].name, e->call.name) == 0) {
                diagnostics_note(c->diagnostics, d, t->structure->fields[i].span, "`%s` is a field",
                                 e->call.name);
            }
        }
    }
    check_suggest_note(c, d, &near);
}

static bool struct_method(checker *c, expr *e, const type *t) {
    function_item *f = check_find_method(c, t->structure, e->call.name);
    if (f == NULL) {
        return false;
    }
    if (!f->has_self) {
        check_list(c, e->call.args, e->call.arg_count);
        diagnostic *d = diagnostics_error(c->diagnostics, e->call.name_span, "`%s` takes no `self`",
                                          f->qualified);
        diagnostics_note(c->diagnostics, d, (source_span){0}, "call it as `%s(…)`", f->qualified);
        e->type = f->result;
        return true;
    }
    check_arguments(c, e, f, 1);
    e->type = f->result;
    if (check_count(c, e, f->qualified, f->parameter_count - 1, f->span)) {
        finish_user_call(c, e, f);
    }
    return true;
}

/* t.set(i, j, v) is t[i, j] = v. */
static bool tensor_set(checker *c, expr **slot) {
    expr *e = *slot;
    if (strcmp(e->call.name, "set") != 0 || e->call.arg_count < 2) {
        return false;
    }
    expr *index = check_new(c, EXPR_INDEX, e->span, NULL),
         *assign = check_new(c, EXPR_ASSIGN, e->span, NULL);
    expr *first = e->call.args[0];
    bool bracketed = e->call.arg_count == 2 && first->kind == EXPR_ARRAY;
    index->index.base = e->call.receiver;
    index->index.indices = bracketed ? first->list.items : e->call.args;
    index->index.count = bracketed ? first->list.count : e->call.arg_count - 1;
    assign->assign.target = index;
    assign->assign.value = e->call.args[e->call.arg_count - 1];
    assign->assign.op_span = e->call.name_span;
    *slot = assign;
    check_assign(c, slot);
    return true;
}

/* Values are values: a copy is the value, an iterator is what it runs over. */
static bool identity_method(expr **slot, const type *t) {
    static const char *const names[] = {"clone",     "to_owned", "iter",
                                        "into_iter", "as_ref",   "to_string"};
    expr *e = *slot;
    for (size_t i = 0; e->call.arg_count == 0 && i < sizeof names / sizeof names[0]; i++) {
        bool iterator = i == 2 || i == 3, text = i == 5;
        if (strcmp(names[i], e->call.name) == 0) {
            if ((iterator && t->kind != TYPE_VEC && t->kind != TYPE_TENSOR) ||
                (text && t->kind != TYPE_STRING)) {
                return false;
            }
            *slot = e->call.receiver;
            return true;
        }
    }
    return false;
}

static bool method_of(checker *c, expr **slot, const type *t) {
    switch (t->kind) {
    case TYPE_STRUCT:
        return struct_method(c, *slot, t);
    case TYPE_TENSOR:
        return check_abi_call(c, slot, "", (*slot)->call.name, false) || tensor_set(c, slot);
    case TYPE_STRING:
        return check_string_method(c, slot);
    case TYPE_VEC:
        return check_vec_method(c, slot);
    default:
        return type_is_numeric(t) && check_number_method(c, slot);
    }
}

void check_method(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    bool literal =
        check_free_literal(e->call.receiver) && expected != NULL && type_is_numeric(expected);
    check_expr(c, &e->call.receiver, literal ? expected : NULL);
    const type *t = type_resolve(c->types, e->call.receiver->type);
    e->call.receiver->type = t;
    if (type_is_silent(t)) {
        check_list(c, e->call.args, e->call.arg_count);
        check_make_error(c, e);
    } else if (!method_of(c, slot, t) && !identity_method(slot, t)) {
        unknown_method(c, e, t);
    }
}
