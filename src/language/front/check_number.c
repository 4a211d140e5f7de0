/* check_number.c: methods of numbers: x.sqrt(), n.max(m), f.to_i64(). */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_walk.h"
#include "language/library/library.h"
#include "language/syntax/lexer.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_tree_made.h"

typedef struct math_method {
    library_said said;
    scalar_math math;
    math_arguments arguments;
    bool integers; /* also on integers */
} math_method;

/* NULL: the name is none of theirs. */
static const math_method *find_math(const char *name) {
    static const math_method all[] = {
#define MATH(word, name, also, arguments, whole, slope, llvm, c) {SAID_MATH_##word, MATH_##word, arguments, whole},
#define ALSO(word, math, names, arguments)                       {SAID_MATH_##word, MATH_##math, arguments, false},
#include "language/library/math.def"
#undef MATH
#undef ALSO
    };
    const library_said said = library_said_of(LIBRARY_math, name);
    for (size_t i = 0; said != SAID_NOTHING && i < sizeof all / sizeof all[0]; i++)
        if (all[i].said == said)
            return &all[i];
    return NULL;
}

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

/* x.max(y) of different types: the wider one, as with operators. */
static void unify(checker *c, expr **left, expr **right) {
    const type *common = check_common(c, (*left)->type, (*right)->type);
    check_widen_to(c, left, common);
    check_widen_to(c, right, common);
}

static bool check_math_argument(checker *c, expr *e, math_arguments arguments) {
    expr **argument = &e->call.args[0];
    const type *t = e->call.receiver->type;
    check_expr(c, argument, arguments == MATH_WITH_INTEGER ? check_scalar(c, TYPE_I64) : t);
    const type *found = type_resolve(c->types, (*argument)->type);
    if (type_is_silent(found)) {
        check_make_error(c, e);
        return false;
    }
    if (found->kind == TYPE_TENSOR && check_item(c, argument))
        found = (*argument)->type;
    if (!type_is_numeric(found) || (arguments == MATH_WITH_INTEGER && !type_is_integer(found))) {
        check_mismatch(c, *argument, arguments == MATH_WITH_INTEGER ? check_scalar(c, TYPE_I64) : t, NULL);
        check_make_error(c, e);
        return false;
    }
    if (arguments == MATH_WITH_INTEGER)
        check_cast_to(c, argument, t);
    unify(c, &e->call.receiver, argument);
    return true;
}

static bool check_math_method(checker *c, expr *e, const math_method *m) {
    const type *t = e->call.receiver->type;
    if (type_is_integer(t) && !m->integers) /* as n * 0.5 widens n */
        check_cast_to(c, &e->call.receiver, check_scalar(c, TYPE_F32));
    if (!check_count(c, e, e->call.name, m->arguments != MATH_ALONE, (source_span){0})) {
        check_list(c, e->call.args, e->call.arg_count);
        check_make_error(c, e);
        return true;
    }
    if (m->arguments != MATH_ALONE && !check_math_argument(c, e, m->arguments))
        return true;
    expr *left = e->call.receiver, *right = m->arguments == MATH_ALONE ? NULL : e->call.args[0];
    become_math(c, e, m->math, left, right);
    return true;
}

/* x.to_f32(), x.item(): what a scalar answers where a tensor of rank 0 might be. */
static bool conversion_method(checker *c, expr **slot) {
    expr *e = *slot;
    const bool reads = library_says(LIBRARY_reads_number, e->call.name);
    const char *to = library_word(reads ? LIBRARY_reads_number : LIBRARY_converts, e->call.name);
    if (e->call.arg_count > 0 || (to == NULL && !reads))
        return false;
    *slot = e->call.receiver;
    if (to != NULL) {
        const type *number = check_scalar(c, scalar_type_of_name(to, strlen(to)));
        check_unstated_converted(c, *slot, number);
        check_cast_to(c, slot, number);
    }
    return true;
}

/* n.pow(0.5) */
static bool real_argument(checker *c, expr *e) {
    if (e->call.arg_count != 1)
        return false;
    if (e->call.args[0]->type == NULL)
        check_expr(c, &e->call.args[0], NULL);
    return type_is_float(type_resolve(c->types, e->call.args[0]->type));
}

bool check_is_math_method(const char *name) {
    return find_math(name) != NULL;
}

bool check_lacks_number(const char *name, uint32_t count) {
    const math_method *m = find_math(name);
    return m != NULL && count == 0 && m->arguments != MATH_ALONE;
}

bool check_is_number_method(checker *c, const type *t, const char *name) {
    struct_item *owner = type_is_numeric(t) ? check_owner_of(c, t) : NULL;
    if (type_is_numeric(t) && check_is_math_method(name))
        return true;
    const function_item *f = owner == NULL ? NULL : check_find_method(c, owner, name);
    return f != NULL && f->has_self;
}

bool check_number_method(checker *c, expr **slot) {
    expr *e = *slot;
    if (library_says(LIBRARY_reads_number, e->call.name) && library_word(LIBRARY_reads_number, e->call.name) == NULL &&
        e->call.arg_count == 0) {
        block_builder b = build_block(c, e->span); /* t[i].item(): no row of t, whatever is done with it */
        const type *t = e->call.receiver->type;
        *slot = build_finish(&b, e->call.receiver);
        b.block->type = (*slot)->type = t;
        return true;
    }
    const math_method *m = find_math(e->call.name);
    if (m != NULL) {
        const type *t = e->call.receiver->type;
        struct_item *owner = check_owner_of(c, t);
        if (type_is_integer(t) && !m->integers && owner != NULL && check_find_method(c, owner, e->call.name) != NULL &&
            !real_argument(c, e))
            return false; /* pow of an integer is one: the library has it */
        return check_math_method(c, e, m);
    }
    return conversion_method(c, slot);
}

/* f64::sqrt and f64::max as values: |x| x.sqrt(), |x, y| x.max(y). */
bool check_number_function(checker *c, expr **slot) {
    expr *e = *slot;
    const char *name = e->name.name;
    type_kind kind = scalar_type_of_name(e->name.scope, strlen(e->name.scope));
    const math_method *m = find_math(name);
    if (m == NULL || kind == TYPE_ERROR || m->arguments == MATH_WITH_INTEGER || !type_is_numeric(check_scalar(c, kind)))
        return false;
    *slot = BUILD_QUOTE(c, e->span, m->arguments == MATH_ALONE ? "|$x: $0| $x.$1()" : "|$x: $0, $y: $0| $x.$1($y)",
                        check_new_name(c, e->span, e->name.scope), check_new_name(c, e->span, name));
    check_expr(c, slot, NULL);
    return true;
}
