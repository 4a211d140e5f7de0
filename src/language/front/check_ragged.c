/* check_ragged.c: ranges of a comprehension that depend on an index bound before them.
 *
 *     [i | i <- 0..n, j <- i..f(i) { v[j] }]
 *     ─►  { let <low 1> = [i | i <- 0..n { i }].__least();
 *           let <high 1> = [i | i <- 0..n { f(i) }].__widest();
 *           [i | i <- 0..n, j <- <low 1>..<high 1>, j >= i, j < f(i) { v[j] }] }
 *
 * So each index runs over its widest range, and what lies outside of its own one is as if a condition failed: not counted
 * in a sum, 0 in the result. The shape is rectangular and known before the loops.
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_context.h"
#include "language/front/check_expr.h"
#include "language/front/check_tensor.h"

typedef struct ragged {
    checker *checker;
    comprehension_expr *comprehension;
    uint32_t clause;  /* whose bounds are looked at */
    uint64_t mention; /* bit i: the bound reads the index of clause i */
    block_builder builder;
    bool any;
} ragged;

static void find_mentioned(expr *e, void *context) {
    ragged *r = context;
    if (e->kind == EXPR_NAME && e->name.scope == NULL) {
        for (uint32_t i = 0; i < r->clause; i++) {
            const binding *index = r->comprehension->clauses[i].index;
            if (index != NULL && strcmp(index->name, e->name.name) == 0) {
                r->mention |= (uint64_t)1 << i;
            }
        }
    }
    expr_each_child(e, find_mentioned, context);
}

static expr *copy_of(checker *c, const expr *e) {
    expr *copy = expr_copy(c->arena, e);
    if (copy == NULL) {
        check_out_of_memory(c);
    }
    return copy;
}

static binding *index_again(checker *c, const binding *index) {
    binding *b = CHECK_ARRAY(c, binding, 1);
    *b = (binding){.name = index->name, .span = index->span, .kind = BINDING_INDEX};
    return b;
}

/* [i, … | the clauses that the bound mentions { bound }] */
static expr *all_values(const ragged *r, const expr *bound) {
    checker *c = r->checker;
    const comprehension_expr *from = r->comprehension;
    comprehension_expr *made = CHECK_ARRAY(c, comprehension_expr, 1);
    made->clauses = CHECK_ARRAY(c, comprehension_clause, r->clause);
    made->output_names = CHECK_ARRAY(c, const char *, r->clause);
    made->output_spans = CHECK_ARRAY(c, source_span, r->clause);
    for (uint32_t i = 0; i < r->clause; i++) {
        if ((r->mention >> i & 1) == 0) {
            continue;
        }
        const comprehension_clause *clause = &from->clauses[i];
        made->clauses[made->clause_count++] =
            (comprehension_clause){.span = clause->span,
                                   .index = index_again(c, clause->index),
                                   .low = copy_of(c, clause->low),
                                   .high = copy_of(c, clause->high),
                                   .inclusive = clause->inclusive};
        made->output_names[made->output_count] = clause->index->name;
        made->output_spans[made->output_count++] = bound->span;
    }
    made->body = copy_of(c, bound);
    expr *e = check_new(c, EXPR_COMPREHENSION, bound->span, NULL);
    e->comprehension = made;
    return e;
}

/* The bound becomes a number that holds for all; *guard the comparison that it was. */
static bool widen_bound(ragged *r, expr **bound, const char *word, binary_op op, expr **guard) {
    checker *c = r->checker;
    r->mention = 0;
    find_mentioned(*bound, r);
    if (r->mention == 0) {
        return false;
    }
    expr *values = build_method(c, (*bound)->span, all_values(r, *bound),
                                op == BINARY_GE ? "__least" : "__widest", NULL, 0);
    char *name = check_printf(c, "<%s %u>", word, r->clause);
    if (name == NULL) {
        check_out_of_memory(c);
    }
    build_let(&r->builder, name, false, values);
    const binding *index = r->comprehension->clauses[r->clause].index;
    *guard = check_new_binary(c, op, check_new_name(c, index->span, index->name), *bound, NULL);
    *bound = check_new_name(c, (*bound)->span, name);
    return true;
}

static void insert_guards(ragged *r, expr *const guards[2]) {
    checker *c = r->checker;
    comprehension_expr *e = r->comprehension;
    uint32_t more = (guards[0] != NULL) + (guards[1] != NULL), at = r->clause + 1;
    comprehension_clause *made = CHECK_ARRAY(c, comprehension_clause, e->clause_count + more);
    memcpy(made, e->clauses, at * sizeof *made);
    memcpy(made + at + more, e->clauses + at, (e->clause_count - at) * sizeof *made);
    for (uint32_t i = 0; i < 2; i++) {
        if (guards[i] != NULL) {
            made[at++] = (comprehension_clause){.span = guards[i]->span, .condition = guards[i]};
        }
    }
    e->clauses = made;
    e->clause_count += more;
}

bool check_ragged(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    ragged r = {
        .checker = c, .comprehension = e->comprehension, .builder = build_block(c, e->span)};
    for (; r.clause < r.comprehension->clause_count && r.clause < 64;
         r.clause++) { /* more are refused */
        comprehension_clause *clause = &r.comprehension->clauses[r.clause];
        expr *guards[2] = {NULL, NULL};
        if (clause->index == NULL) {
            continue;
        }
        bool low = widen_bound(&r, &clause->low, "low", BINARY_GE, &guards[0]);
        bool high = widen_bound(&r, &clause->high, "high",
                                clause->inclusive ? BINARY_LE : BINARY_LT, &guards[1]);
        if (low || high) {
            insert_guards(&r, guards);
            r.any = true;
        }
    }
    if (!r.any) {
        return false;
    }
    e->type = NULL;
    *slot = build_finish(&r.builder, e);
    check_expr(c, slot, expected);
    return true;
}
