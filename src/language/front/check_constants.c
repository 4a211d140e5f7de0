/* check_constants.c: the values of constants: checked when one is first needed, those that it is made of before it. */
#include <string.h>

#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_types.h"
#include "language/front/check_walk.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"

enum { VISIT_NEW, VISIT_OPEN, VISIT_DONE };

typedef struct constant_walk {
    checker *c;
    const_item *item;
    uint32_t depth;
    bool bad;
} constant_walk;

static void check_constant(checker *c, const_item *item, source_span from, uint32_t depth);

void check_constant_now(checker *c, const_item *item, source_span from) {
    check_constant(c, item, from, 0);
}

/* P(1, 2), Shape::Round(2), f(1) and P::f(1) of a const fn, i64::pow(2, 10). */
static bool makes_constants(const constant_walk *walk, const name_expr *callee) {
    const bool capital = callee->name[0] >= 'A' && callee->name[0] <= 'Z';
    if (callee->scope == NULL) {
        const symbol *s = check_find(walk->c, callee->name);
        return capital || (s != NULL && s->function != NULL && s->function->is_const);
    }
    const char *scope = names_without_modules(walk->c->names, callee->scope);
    if (scope != NULL && strcmp(scope, "Self") == 0 && walk->item->impl != NULL)
        scope = walk->item->impl->owner->name;
    if (scope != NULL && check_scalar_scope(scope))
        return !walk->item->is_let;
    const struct_item *s = scope == NULL ? NULL : check_struct_named(walk->c, scope);
    const function_item *f = s == NULL ? NULL : check_find_method(walk->c, s, callee->name);
    return s != NULL && (f != NULL ? f->is_const : s->is_enum && capital);
}

/* x.m() of the library, or of a const fn. */
static bool method_makes_constants(const constant_walk *walk, const char *name) {
    const syntax_tree *tree = walk->c->tree;
    for (uint32_t i = 0; i < tree->function_count; i++) {
        const function_item *f = tree->functions[i];
        if (f->has_self && !f->is_const && f->span.file != tree->prelude && strcmp(f->name, name) == 0)
            return false;
    }
    return walk->item->annotation != NULL && !walk->item->is_let;
}

/* Before the check of a value: what it is made of, and the constants that it needs first. */
static void constant_part(expr *e, void *context) {
    constant_walk *walk = context;
    switch (e->kind) {
    case EXPR_ERROR:
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_BOOL:
    case EXPR_CHAR:
    case EXPR_STRING:
    case EXPR_UNARY:
    case EXPR_BINARY:
    case EXPR_CAST:
        break;
    case EXPR_ARRAY:
    case EXPR_TUPLE:
    case EXPR_STRUCT:
    case EXPR_REPEAT:
    case EXPR_INDEX:
    case EXPR_TUPLE_FIELD:
    case EXPR_FIELD:
        walk->item->is_composed = true;
        break;
    case EXPR_NAME: {
        names_settle(walk->c->names, &e->name);
        const char *scope = names_without_modules(walk->c->names, e->name.scope);
        if (scope != NULL && strcmp(scope, "Self") == 0 && walk->item->impl != NULL)
            scope = walk->item->impl->owner->name;
        symbol *s = check_find(walk->c,
                               scope == NULL ? e->name.name : check_printf(walk->c, "%s::%s", scope, e->name.name));
        if (s != NULL && s->constant != NULL) {
            check_constant(walk->c, s->constant, e->span, walk->depth + 1);
            walk->item->is_composed |= s->constant->is_composed;
        } else if (s != NULL && s->function != NULL) { /* each use names the function again */
            walk->item->is_composed = true;
            walk->bad |= walk->item->is_let;
        }
        break;
    }
    case EXPR_CALL:
        if (e->call.arg_count == 0 && e->call.callee->kind == EXPR_NAME && e->call.callee->name.scope != NULL &&
            check_scalar_scope(e->call.callee->name.scope))
            return; /* F32::max_value() */
        if (walk->item->annotation != NULL && e->call.callee != NULL && e->call.callee->kind == EXPR_NAME &&
            makes_constants(walk, &e->call.callee->name)) {
            walk->item->is_composed = true;
            for (uint32_t i = 0; i < e->call.arg_count; i++)
                constant_part(e->call.args[i], context);
            return;
        }
        walk->bad = true;
        break;
    case EXPR_METHOD:
        walk->item->is_composed = true;
        walk->bad |= !method_makes_constants(walk, e->call.name);
        break;
    default:
        walk->bad = true;
        break;
    }
    if (!walk->bad)
        expr_each_child(e, constant_part, context);
}

static void check_constant(checker *c, const_item *item, source_span from, uint32_t depth) {
    if (item->visit == VISIT_DONE)
        return;
    if (item->visit == VISIT_OPEN || depth > 200) {
        diagnostics_say(c->diagnostics, from,
                        SAY_IF(depth > 200, constants_need_one_another_more_than, constant_needs_itself), item->name);
        return;
    }
    if (item->impl != NULL && item->impl->generics.count > 0) { /* each use says of which type */
        item->is_composed = true;
        item->visit = VISIT_DONE;
        return;
    }
    item->visit = VISIT_OPEN;
    constant_walk walk = {.c = c, .item = item, .depth = depth};
    const type_environment *outer = c->environment;
    type_environment environment = {0};
    if (item->impl != NULL) {
        environment.self = check_constant_self(c, item);
        c->environment = &environment;
    }
    constant_part(item->value, &walk);
    const type *wish = item->annotation == NULL ? NULL : check_type(c, item->annotation);
    if (!walk.bad && item->is_composed && !item->is_let && wish != NULL && type_is_integer(wish) &&
        check_known_constant(c, &item->value, wish))
        item->is_composed = false;
    if (walk.bad && item->is_let) {
        item->is_made = true;
        item->type = check_scalar(c, TYPE_ERROR);
    } else if (walk.bad) {
        diagnostics_say(c->diagnostics, item->value->span, SAY(constant_is_made_of_literals_operators));
    } else if (item->is_composed && wish == NULL) {
        diagnostics_say(c->diagnostics, item->span, SAY(constant_needs_type), item->name, item->name);
    } else if (item->is_composed) {
        item->type = wish;
    } else {
        check_expr(c, &item->value, wish);
        bool fits = wish == NULL || check_coerce(c, &item->value, wish, NULL);
        item->type = fits ? item->value->type : wish;
    }
    c->environment = outer;
    item->visit = VISIT_DONE;
}
