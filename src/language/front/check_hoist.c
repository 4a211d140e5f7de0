/* check_hoist.c: tensors that a comprehension computes in its body though they do not depend on its indices.
 *
 *     let C[i, k] = f(x)[i, j] * B.t()[j, k];
 *     ─►  { let <whole 0> = f(x); let <whole 1> = B.t(); [i, k | { <whole 0>[i, j] * <whole 1>[j, k] }] }
 *
 * What is indexed must be a call whose names all mean something outside and are none of the comprehension's indices; it is
 * evaluated once.
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_context.h"
#include "language/front/check_expr.h"
#include "language/front/check_scopes.h"
#include "language/front/check_tensor.h"

typedef struct hoisting {
    checker *checker;
    const comprehension_expr *comprehension;
    block_builder builder;
    uint32_t count;
    bool bound; /* the expression that is looked at depends on the body */
} hoisting;

static bool is_index(const comprehension_expr *e, const char *name) {
    for (uint32_t i = 0; i < e->output_count; i++) {
        if (strcmp(e->output_names[i], name) == 0) {
            return true;
        }
    }
    for (uint32_t i = 0; i < e->clause_count; i++) {
        if (e->clauses[i].index != NULL && strcmp(e->clauses[i].index->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Names of functions are no values: what they stand for is known everywhere. */
static void find_bound(expr *e, void *context) {
    hoisting *h = context;
    bool opens = e->kind == EXPR_BLOCK || e->kind == EXPR_CLOSURE || e->kind == EXPR_MATCH;
    h->bound |= opens || e->kind == EXPR_COMPREHENSION;
    if (e->kind == EXPR_NAME && e->name.scope == NULL) {
        const symbol *s = check_find(h->checker, e->name.name);
        bool known = s != NULL && (s->binding != NULL || s->constant != NULL);
        h->bound |= !known || is_index(h->comprehension, e->name.name);
    }
    if (e->kind == EXPR_CALL && e->call.callee != NULL && e->call.callee->kind == EXPR_NAME) {
        for (uint32_t i = 0; i < e->call.arg_count; i++) {
            find_bound(e->call.args[i], context);
        }
        return;
    }
    expr_each_child(e, find_bound, context);
}

static void hoist_calls(expr *e, void *context) {
    hoisting *h = context;
    if (e->kind == EXPR_COMPREHENSION) {
        return; /* it does so itself */
    }
    expr_each_child(e, hoist_calls, context);
    bool call = e->kind == EXPR_INDEX && e->index.base->type == NULL &&
                (e->index.base->kind == EXPR_CALL || e->index.base->kind == EXPR_METHOD);
    if (!call) {
        return;
    }
    h->bound = false;
    find_bound(e->index.base, h);
    if (h->bound) {
        return;
    }
    checker *c = h->checker;
    char *name = check_printf(c, "<whole %u.%u>", c->nest->comprehension_count, h->count++);
    if (name == NULL) {
        check_out_of_memory(c);
    }
    build_let(&h->builder, name, false, e->index.base);
    e->index.base = check_new_name(c, e->index.base->span, name);
}

/* A `let` of the body may have the name of something outside: then nothing is moved. */
static bool binds_names(const comprehension_expr *e) {
    return e->body->kind == EXPR_BLOCK && e->body->block->first != NULL;
}

bool check_hoist(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    hoisting h = {
        .checker = c, .comprehension = e->comprehension, .builder = build_block(c, e->span)};
    if (binds_names(e->comprehension)) {
        return false;
    }
    hoist_calls(e->comprehension->body, &h);
    if (h.count == 0) {
        return false;
    }
    e->type = NULL;
    *slot = build_finish(&h.builder, e);
    check_expr(c, slot, expected);
    return true;
}
