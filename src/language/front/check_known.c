/* check_known.c: whole numbers that have to be known before anything runs, though calls make them.
 *
 *     const fn square(n: usize) -> usize { n * n }        [0; square(4)] is [0; 16]
 *     const NAMES: [&str; 2] = ["a", "b"];                [0; NAMES.len() + 1] is [0; 3]
 *
 * Nothing is checked when the first lengths are asked for, so this reads what is written. What must stay true
 * (tests/rust/programs/lengths_of_const_fn.tl): it ends (a bound on the steps), and what it does not know it does not
 * guess.
 */
#include <string.h>

#include "language/front/check_expr.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

enum { STEPS_MAX = 10000, CALLS_MAX = 100, ARGUMENTS_MAX = 8 };

typedef struct known {
    checker *c;
    const function_item *f; /* whose parameters are known; NULL: none */
    const int64_t *arguments;
    uint32_t depth, *steps;
} known;

static bool value_of(const known *k, const expr *e, int64_t *out);

static known deeper(const known *k) {
    known inside = *k;
    inside.depth++;
    return inside;
}

/* LIMIT, Self::LIMIT, P::LIMIT; NULL: the name is none of these. */
static const const_item *constant_of(const known *k, const expr *e) {
    const char *scope = e->name.scope == NULL ? NULL : names_without_modules(k->c->names, e->name.scope);
    const type_environment *around = k->c->environment;
    if (scope != NULL && strcmp(scope, "Self") == 0 && around != NULL && around->self != NULL)
        scope = around->self->name;
    const symbol *s = check_find(k->c,
                                 scope == NULL ? e->name.name : check_printf(k->c, "%s::%s", scope, e->name.name));
    return s == NULL || s->constant == NULL || s->constant->value == NULL ? NULL : s->constant;
}

static bool value_of_name(const known *k, const expr *e, int64_t *out) {
    for (uint32_t i = 0; e->name.scope == NULL && k->f != NULL && i < k->f->parameter_count; i++)
        if (strcmp(k->f->parameters[i]->name, e->name.name) == 0) {
            *out = k->arguments[i];
            return true;
        }
    const const_item *constant = constant_of(k, e);
    const known outside = {.c = k->c, .depth = k->depth + 1, .steps = k->steps};
    return constant != NULL && value_of(&outside, constant->value, out);
}

/* The list or text that a constant, `&` of one or an element of one is; NULL: it is not known. */
static const expr *written_of(const known *k, const expr *e) {
    int64_t at;
    if (e == NULL || k->depth > CALLS_MAX || ++*k->steps > STEPS_MAX)
        return NULL;
    const known inside = deeper(k); /* const A: [u8; A.len()]: a constant may lead back to itself */
    if (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE)
        return written_of(&inside, e->unary.operand);
    if (e->kind == EXPR_NAME) {
        const const_item *constant = constant_of(k, e);
        return constant == NULL ? NULL : written_of(&inside, constant->value);
    }
    if (e->kind != EXPR_INDEX)
        return e;
    const expr *list = e->index.count == 1 ? written_of(&inside, e->index.base) : NULL;
    if (list == NULL || list->kind != EXPR_ARRAY || !value_of(&inside, e->index.indices[0], &at) || at < 0 ||
        at >= list->list.count)
        return NULL;
    return written_of(&inside, list->list.items[at]);
}

/* LIST.len(), TEXT.len() */
static bool value_of_method(const known *k, const expr *e, int64_t *out) {
    const bool length = e->call.arg_count == 0 && library_said_of(LIBRARY_of_lists, e->call.name) == SAID_LENGTH;
    const expr *of = length ? written_of(k, e->call.receiver) : NULL;
    const known inside = deeper(k);
    if (of != NULL && of->kind == EXPR_REPEAT)
        return value_of(&inside, of->repeat.count, out);
    if (of == NULL || (of->kind != EXPR_ARRAY && of->kind != EXPR_STRING))
        return false;
    *out = of->kind == EXPR_ARRAY ? (int64_t)of->list.count : (int64_t)of->string.length;
    return true;
}

static bool value_of_call(const known *k, const expr *e, int64_t *out) {
    const expr *callee = e->call.callee;
    const bool plain = callee != NULL && callee->kind == EXPR_NAME && callee->name.scope == NULL;
    const symbol *s = plain ? check_find(k->c, callee->name.name) : NULL;
    function_item *f = s == NULL ? NULL : s->function;
    int64_t arguments[ARGUMENTS_MAX];
    if (f == NULL || e->call.arg_count != f->parameter_count || e->call.arg_count > ARGUMENTS_MAX)
        return false;
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        if (!value_of(k, e->call.args[i], &arguments[i]))
            return false;
    check_read_body(k->c, f);
    const known inside = {.c = k->c, .f = f, .arguments = arguments, .depth = k->depth + 1, .steps = k->steps};
    const expr body = {.kind = EXPR_BLOCK, .block = f->body};
    return f->body != NULL && value_of(&inside, &body, out);
}

static bool value_of_binary(const known *k, const expr *e, int64_t *out) {
    int64_t left, right;
    const bool both = value_of(k, e->binary.left, &left) && value_of(k, e->binary.right, &right);
    return both && check_combine(e->binary.op, left, right, out);
}

/* A cast that would cut the value is not followed. */
static bool holds(const type *to, int64_t value) {
    const uint32_t bits = type_is_integer(to) ? type_bits(to) : 0;
    if (bits == 0 || (value < 0 && !type_is_signed(to)))
        return false;
    const uint32_t room = type_is_signed(to) ? bits - 1 : bits;
    return room >= 63 || (value < INT64_C(1) << room && value >= -(INT64_C(1) << room));
}

static bool value_of(const known *k, const expr *e, int64_t *out) {
    int64_t condition;
    if (k->depth > CALLS_MAX || ++*k->steps > STEPS_MAX)
        return false;
    switch (e->kind) {
    case EXPR_INT:
        *out = (int64_t)e->integer.value;
        return true;
    case EXPR_NAME:
        return value_of_name(k, e, out);
    case EXPR_BINARY:
        return value_of_binary(k, e, out);
    case EXPR_CAST:
        return value_of(k, e->cast.operand, out) &&
               holds(e->cast.target == NULL ? e->type : check_type(k->c, e->cast.target), *out);
    case EXPR_BLOCK:
        return e->block->first == NULL && e->block->result != NULL && value_of(k, e->block->result, out);
    case EXPR_IF:
        if (e->branch.otherwise == NULL || !value_of(k, e->branch.condition, &condition))
            return false;
        return condition != 0 ? value_of(k, &(expr){.kind = EXPR_BLOCK, .block = e->branch.then}, out)
                              : value_of(k, e->branch.otherwise, out);
    case EXPR_CALL:
        return value_of_call(k, e, out);
    case EXPR_METHOD:
        return value_of_method(k, e, out);
    case EXPR_INDEX: {
        const expr *element = written_of(k, e);
        return element != NULL && element->kind != EXPR_INDEX && value_of(k, element, out);
    }
    default:
        return false;
    }
}

static bool is_plain_call(const expr *e, void *context) {
    (void)context;
    if (e->kind == EXPR_METHOD)
        return e->type == NULL;
    return e->kind == EXPR_CALL && e->type == NULL && e->call.callee != NULL && e->call.callee->kind == EXPR_NAME &&
           e->call.callee->name.scope == NULL;
}

bool check_known_constant(checker *c, expr **slot, const type *wanted) {
    int64_t value;
    if (!value_of(&(known){.c = c, .steps = &(uint32_t){0}}, *slot, &value) || value < 0 || !holds(wanted, value))
        return false;
    *slot = check_new_int(c, (*slot)->span, value);
    (*slot)->type = NULL; /* as a program writes it */
    (*slot)->integer.suffix = TYPE_VOID;
    return true;
}

bool check_known_call(checker *c, expr **slot, bool *calls) {
    int64_t value;
    *calls = expr_any(*slot, is_plain_call, NULL);
    if (!*calls || !value_of(&(known){.c = c, .steps = &(uint32_t){0}}, *slot, &value) || value < 0)
        return false;
    *slot = check_new_int(c, (*slot)->span, value);
    return true;
}
