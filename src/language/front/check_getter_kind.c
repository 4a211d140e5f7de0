/* check_getter_kind.c: which calls may yield a place, by names and declarations alone, and how it is asked which one it was. */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_context.h"
#include "language/front/check_getter.h"
#include "language/front/check_place.h"

static const type_expr *result_of(const function_item *f) {
    return f->result_annotation;
}

static const char *plain_name(const checker *c, const char *name) {
    for (const alias_item *a = c->tree->aliases; a != NULL; a = a->next) {
        if (a->impl == NULL && strcmp(a->name, name) == 0 && a->type->kind == TYPE_EXPR_NAME) {
            return a->type->name;
        }
    }
    return name;
}

getter_kind getter_kind_of(const checker *c, const function_item *f) {
    const type_expr *t = f->span.file == c->tree->prelude ? NULL : result_of(f);
    if (t == NULL || t->is_place) {
        return t == NULL ? GETTER_NONE : GETTER_PLAIN;
    }
    if (t->kind != TYPE_EXPR_NAME || t->argument_count == 0 || !t->arguments[0]->is_place) {
        return GETTER_NONE;
    }
    const char *name = plain_name(c, t->name);
    return strcmp(name, "Option") == 0   ? GETTER_OPTION
           : strcmp(name, "Result") == 0 ? GETTER_RESULT
                                         : GETTER_NONE;
}

const char *getter_called(const expr *e) {
    if (e->kind == EXPR_METHOD) {
        return e->call.name;
    }
    return e->kind == EXPR_CALL && e->call.callee != NULL && e->call.callee->kind == EXPR_NAME
               ? e->call.callee->name.name
               : NULL;
}

bool getter_may_yield(const checker *c, const expr *e, bool maybe) {
    const char *name = e->type == NULL ? getter_called(e) : NULL;
    for (uint32_t i = 0; name != NULL && i < c->tree->getter_count; i++) {
        const function_item *f = c->tree->getters[i];
        getter_kind kind = getter_kind_of(c, f);
        if (strcmp(f->name, name) == 0 && (f->owner_name == NULL) == (e->kind == EXPR_CALL) &&
            kind != GETTER_NONE && (kind >= GETTER_OPTION) == maybe) {
            return true;
        }
    }
    return false;
}

/* <site> == n */
expr *getter_test(checker *c, const written_getter *w, uint32_t n) {
    expr *site = check_alias_copy(c, w->chosen);
    return check_new_binary(c, BINARY_EQ, site, check_new_int(c, w->chosen->span, n), NULL);
}

/* let x = call; where the call yields one of several places: a choice between them. */
expr *getter_choice(checker *c, const written_getter *w) {
    expr *e = NULL;
    for (uint32_t n = w->count; n-- > 0;) {
        expr *place = check_new(c, EXPR_UNARY, w->chosen->span, NULL);
        place->unary.op = UNARY_REFERENCE;
        place->unary.is_mutable = true;
        place->unary.operand = w->places[n];
        block_builder b = build_block(c, w->chosen->span);
        expr *then = build_finish(&b, place);
        if (e == NULL) {
            e = then;
            continue;
        }
        expr *branch = check_new(c, EXPR_IF, w->chosen->span, NULL);
        branch->branch.condition = getter_test(c, w, n + 1);
        branch->branch.then = then->block;
        branch->branch.otherwise = e;
        e = branch;
    }
    return e;
}

bool check_is_panic(const expr *e) {
    static const char *const names[] = {"panic", "unreachable", "todo", "unimplemented"};
    const expr *callee = e->kind == EXPR_CALL ? e->call.callee : NULL;
    for (size_t i = 0; callee != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (callee->kind == EXPR_NAME && strcmp(callee->name.name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}
