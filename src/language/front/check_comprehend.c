/* check_comprehend.c: comprehensions and Einstein sums.
 *
 *     [ i, j | i <- 0..N, j <- 0..M, i != j { a[i, j] } ]
 *       outputs  generators            guard    body
 *
 * A generator may be missing: the index then runs over the dimension of a tensor that it indexes in
 * the body, as all indices of `let C[i, k] = A[i, j] * B[j, k]` do. Bounds are evaluated once,
 * before the loops: an index in them is a condition (see "ranges").
 */
#include <string.h>

#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

enum { CLAUSES_MAX = 64 };

/* ---- missing generators ---------------------------------------------------------------------- */

typedef struct generator_search {
    checker *checker;
    comprehension_expr *comprehension;
    uint32_t clause_capacity;
    uint32_t depth;
} generator_search;

static bool has_generator(const comprehension_expr *e, const char *name) {
    for (uint32_t i = 0; i < e->clause_count; i++)
        if (e->clauses[i].index != NULL && strcmp(e->clauses[i].index->name, name) == 0)
            return true;
    return false;
}

static bool is_output(const comprehension_expr *e, const char *name) {
    for (uint32_t i = 0; i < e->output_count; i++)
        if (strcmp(e->output_names[i], name) == 0)
            return true;
    return false;
}

/* A name that indexes a tensor and means nothing outside is an index of the comprehension. */
static bool wants_generator(const generator_search *search, const expr *index) {
    if (index->kind != EXPR_NAME || index->name.scope != NULL || has_generator(search->comprehension, index->name.name))
        return false;
    const symbol *s = check_find(search->checker, index->name.name);
    bool known = s != NULL && (s->binding != NULL || s->constant != NULL);
    bool room = search->comprehension->clause_count <= CLAUSES_MAX;
    return room && (is_output(search->comprehension, index->name.name) || !known);
}

static bool names_and_fields(const expr *e) {
    while (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD)
        e = e->field.base;
    return e->kind == EXPR_NAME;
}

/* index <- 0 .. base.dim(position) */
static void add_generator(generator_search *search, const expr *base, const expr *index, uint32_t position) {
    checker *c = search->checker;
    comprehension_expr *e = search->comprehension;
    expr *at = check_new_int(c, index->span, position);
    expr *extent = build_method(c, index->span, check_copy_place(c, base), "dim", &at, 1);
    binding *b = CHECK_ARRAY(c, binding, 1);
    *b = (binding){.name = index->name.name, .span = index->span, .kind = BINDING_INDEX};
    comprehension_clause clause = {
        .span = index->span, .index = b, .low = check_new_int(c, index->span, 0), .high = extent};
    CHECK_PUSH(c, e->clauses, e->clause_count, search->clause_capacity, clause);
}

static void search_generators(expr *e, void *context) {
    generator_search *search = context;
    if (e->kind == EXPR_COMPREHENSION)
        return; /* its indices are its own */
    if (e->kind == EXPR_INDEX && names_and_fields(e->index.base)) {
        for (uint32_t i = 0; i < e->index.count; i++)
            if (wants_generator(search, e->index.indices[i]))
                add_generator(search, e->index.base, e->index.indices[i], i);
    }
    expr_each_child(e, search_generators, context);
}

/* Generators that were found come before the guards that were written, which may speak of them. */
static void add_missing_generators(checker *c, comprehension_expr *e) {
    comprehension_clause *written = e->clauses;
    uint32_t count = e->clause_count;
    generator_search search = {.checker = c, .comprehension = e, .clause_capacity = count};
    search_generators(e->body, &search);
    uint32_t found = e->clause_count - count;
    if (found == 0 || count == 0)
        return;
    comprehension_clause *ordered = CHECK_ARRAY(c, comprehension_clause, e->clause_count);
    memcpy(ordered, e->clauses + count, found * sizeof *ordered);
    memcpy(ordered + found, written, count * sizeof *ordered);
    e->clauses = ordered;
}

/* ---- clauses --------------------------------------------------------------------------------- */

static void check_bound(checker *c, expr **slot) {
    const type *integer = check_scalar(c, TYPE_I64);
    check_expr(c, slot, integer);
    check_coerce(c, slot, integer, NULL);
    if ((*slot)->type->kind == TYPE_NEVER)
        diagnostics_say(c->diagnostics, (*slot)->span, SAY(this_never_yields_value));
}

static void check_clauses(checker *c, comprehension_expr *e) {
    for (uint32_t i = 0; i < e->clause_count; i++) {
        comprehension_clause *clause = &e->clauses[i];
        if (clause->index == NULL) {
            check_condition(c, &clause->condition);
            continue;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (e->clauses[j].index != NULL && strcmp(e->clauses[j].index->name, clause->index->name) == 0) {
                diagnostic *d = diagnostics_say(c->diagnostics, clause->index->span, SAY(index_has_two_ranges),
                                                clause->index->name);
                diagnostics_note(c->diagnostics, d, e->clauses[j].index->span, "the first one is here");
            }
        }
        check_bound(c, &clause->low);
        check_bound(c, &clause->high);
        check_declare(c, clause->index, check_scalar(c, TYPE_I64));
    }
}

static bool resolve_outputs(checker *c, comprehension_expr *e) {
    bool good = true;
    e->outputs = CHECK_ARRAY(c, binding *, e->output_count);
    for (uint32_t i = 0; i < e->output_count; i++) {
        for (uint32_t j = 0; j < e->clause_count; j++) {
            binding *b = e->clauses[j].index;
            if (b != NULL && strcmp(b->name, e->output_names[i]) == 0)
                e->outputs[i] = b;
        }
        if (e->outputs[i] == NULL) {
            diagnostic *d = diagnostics_say(c->diagnostics, e->output_spans[i], SAY(index_has_no_range),
                                            e->output_names[i]);
            diagnostics_note(c->diagnostics, d, (source_span){0}, "give it one: `%s <- 0..n`", e->output_names[i]);
            binding *b = CHECK_ARRAY(c, binding, 1); /* so that nothing else is said of it */
            *b = (binding){.name = e->output_names[i], .span = e->output_spans[i], .kind = BINDING_INDEX};
            check_declare(c, b, check_scalar(c, TYPE_I64));
            good = false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(e->output_names[i], e->output_names[j]) == 0) {
                diagnostics_say(c->diagnostics, e->output_spans[i], SAY(index_stands_twice_among_outputs),
                                e->output_names[i]);
                good = false;
                break;
            }
        }
    }
    return good;
}

/* ---- the body -------------------------------------------------------------------------------- */

/* A block with nothing but a result is the result: kernels like it so. */
static void unwrap_body(comprehension_expr *e) {
    while (e->body->kind == EXPR_BLOCK && e->body->block->first == NULL && e->body->block->result != NULL)
        e->body = e->body->block->result;
}

static const type *check_body(checker *c, comprehension_expr *e, const type *wish) {
    check_expr(c, &e->body, wish);
    const type *t = type_resolve(c->types, e->body->type);
    if (type_is_silent(t)) {
        if (t->kind == TYPE_NEVER)
            diagnostics_say(c->diagnostics, e->body->span, SAY(body_of_comprehension_needs_value));
        return NULL;
    }
    if (t->kind == TYPE_TENSOR && t->tensor.rank <= 0) {
        check_item(c, &e->body);
        t = e->body->type;
    }
    if (!type_is_numeric(t) && t->kind != TYPE_BOOL) {
        diagnostic *d = diagnostics_say(
            c->diagnostics, e->body->span,
            SAY_IF(t->kind == TYPE_VOID, body_of_comprehension_needs_value, body_of_comprehension_is_number_this),
            check_type_text(c, t));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "it is computed once for each element");
        return NULL;
    }
    const type *element = type_is_integer(t) ? check_scalar(c, TYPE_I64) : t;
    if (wish != NULL && check_widens(element, wish))
        element = wish;
    check_coerce_branch(c, &e->body, check_widens(t, element) ? element : t, NULL);
    check_cast_to(c, &e->body, element);
    unwrap_body(e);
    return element;
}

static bool too_large(checker *c, const expr *node, const comprehension_expr *e) {
    if (e->output_count > TL_MAX_RANK)
        diagnostics_say(c->diagnostics, node->span, SAY(tensor_has_at_most_dimensions), TL_MAX_RANK);
    else if (e->clause_count > CLAUSES_MAX)
        diagnostics_say(c->diagnostics, node->span, SAY(comprehension_has_at_most_clauses), CLAUSES_MAX);
    return e->output_count > TL_MAX_RANK || e->clause_count > CLAUSES_MAX;
}

/* [i | i <- 0..n { x }] where a list is wanted: the list of its elements. */
static bool made_a_list(checker *c, expr **slot, const type *expected) {
    const type *wanted = expected == NULL ? NULL : type_resolve(c->types, expected);
    wanted = wanted == NULL || wanted->kind == TYPE_OPEN ? (*slot)->becomes : wanted;
    bool list = wanted != NULL && wanted->kind == TYPE_VEC && wanted->vec.length < 0 &&
                (*slot)->comprehension->output_count == 1 && !type_is_box(wanted);
    if (!list)
        return false;
    expr *tensor = check_new(c, EXPR_COMPREHENSION, (*slot)->span, NULL);
    tensor->comprehension = (*slot)->comprehension;
    *slot = build_method(c, tensor->span, tensor, "to_vec", NULL, 0);
    check_expr(c, slot, wanted);
    return true;
}

void check_comprehension(checker *c, expr **slot, const type *expected) {
    if (made_a_list(c, slot, expected))
        return;
    expr *node = *slot;
    comprehension_expr *e = node->comprehension;
    bool wished = expected != NULL && expected->kind == TYPE_TENSOR && expected->tensor.element != NULL;
    check_make_error(c, node);
    if (e->body->kind == EXPR_ERROR || too_large(c, node, e) || check_hoist(c, slot, expected))
        return;
    add_missing_generators(c, e);
    if (too_large(c, node, e) || check_ragged(c, slot, expected))
        return;
    uint32_t mark = check_scope_open(c), first = c->function->binding_count;
    comprehension_context context = {.comprehension = e,
                                     .number = ++c->nest->comprehension_count,
                                     .first_binding = first,
                                     .outer = c->nest->comprehension};
    loop_context *loop = c->nest->loop;
    c->nest->comprehension = &context;
    c->nest->loop = NULL;
    check_clauses(c, e);
    bool good = resolve_outputs(c, e);
    const type *element = check_body(c, e, wished ? expected->tensor.element : NULL);
    c->nest->comprehension = context.outer;
    c->nest->loop = loop;
    check_scope_close(c, mark);
    if (good && element != NULL)
        node->type = type_tensor(c->types, element, (int32_t)e->output_count);
}

/* ---- bodies ------------------------------------------------------------------------------------------ */

/* Tensors that a comprehension computes in its body though they do not depend on its indices.
 *
 *     let C[i, k] = f(x)[i, j] * B.t()[j, k];
 *     ─►  { let <whole 0> = f(x); let <whole 1> = B.t(); [i, k | { <whole 0>[i, j] * <whole 1>[j, k] }] }
 *
 * What is indexed must be a call whose names all mean something outside and are none of the comprehension's indices; it
 * is evaluated once.
 */
typedef struct hoisting {
    checker *checker;
    const comprehension_expr *comprehension;
    block_builder builder;
    uint32_t count;
    bool bound; /* the expression that is looked at depends on the body */
} hoisting;

static bool is_index(const comprehension_expr *e, const char *name) {
    for (uint32_t i = 0; i < e->output_count; i++)
        if (strcmp(e->output_names[i], name) == 0)
            return true;
    for (uint32_t i = 0; i < e->clause_count; i++)
        if (e->clauses[i].index != NULL && strcmp(e->clauses[i].index->name, name) == 0)
            return true;
    return false;
}

/* Names of functions are not values: what they mean is known everywhere. */
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
        for (uint32_t i = 0; i < e->call.arg_count; i++)
            find_bound(e->call.args[i], context);
        return;
    }
    expr_each_child(e, find_bound, context);
}

static void hoist_calls(expr *e, void *context) {
    hoisting *h = context;
    if (e->kind == EXPR_COMPREHENSION)
        return; /* it does so itself */
    expr_each_child(e, hoist_calls, context);
    bool call = e->kind == EXPR_INDEX && e->index.base->type == NULL &&
                (e->index.base->kind == EXPR_CALL || e->index.base->kind == EXPR_METHOD);
    if (!call)
        return;
    h->bound = false;
    find_bound(e->index.base, h);
    if (h->bound)
        return;
    checker *c = h->checker;
    char *name = check_printf(c, "<whole %u.%u>", c->nest->comprehension_count, h->count++);
    build_let(&h->builder, name, false, e->index.base);
    e->index.base = check_new_name(c, e->index.base->span, name);
}

/* A `let` of the body may have the name of something outside: then nothing is moved. */
static bool binds_names(const comprehension_expr *e) {
    return e->body->kind == EXPR_BLOCK && e->body->block->first != NULL;
}

bool check_hoist(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    hoisting h = {.checker = c, .comprehension = e->comprehension, .builder = build_block(c, e->span)};
    if (binds_names(e->comprehension))
        return false;
    hoist_calls(e->comprehension->body, &h);
    if (h.count == 0)
        return false;
    e->type = NULL;
    *slot = build_finish(&h.builder, e);
    check_expr(c, slot, expected);
    return true;
}

/* ---- ranges ------------------------------------------------------------------------------------------ */

/* Ranges of a comprehension that depend on an index bound before them.
 *
 *     [i | i <- 0..n, j <- i..f(i) { v[j] }]
 *     ─►  { let <low 1> = [i | i <- 0..n { i }].__least();
 *           let <high 1> = [i | i <- 0..n { f(i) }].__widest();
 *           [i | i <- 0..n, j <- <low 1>..<high 1>, j >= i, j < f(i) { v[j] }] }
 *
 * So each index runs over its widest range, and what lies outside of its own one is as if a condition failed: not
 * counted in a sum, 0 in the result. The shape is rectangular and known before the loops.
 */
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
            if (index != NULL && strcmp(index->name, e->name.name) == 0)
                r->mention |= (uint64_t)1 << i;
        }
    }
    expr_each_child(e, find_mentioned, context);
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
        if ((r->mention >> i & 1) == 0)
            continue;
        const comprehension_clause *clause = &from->clauses[i];
        made->clauses[made->clause_count++] = (comprehension_clause){.span = clause->span,
                                                                     .index = index_again(c, clause->index),
                                                                     .low = check_copy_tree(c, clause->low),
                                                                     .high = check_copy_tree(c, clause->high),
                                                                     .inclusive = clause->inclusive};
        made->output_names[made->output_count] = clause->index->name;
        made->output_spans[made->output_count++] = bound->span;
    }
    made->body = check_copy_tree(c, bound);
    expr *e = check_new(c, EXPR_COMPREHENSION, bound->span, NULL);
    e->comprehension = made;
    return e;
}

/* The bound becomes a number that holds for all; *guard the comparison that it was. */
static bool widen_bound(ragged *r, expr **bound, const char *word, binary_op op, expr **guard) {
    checker *c = r->checker;
    r->mention = 0;
    find_mentioned(*bound, r);
    if (r->mention == 0)
        return false;
    expr *values = build_method(c, (*bound)->span, all_values(r, *bound), op == BINARY_GE ? "__least" : "__widest",
                                NULL, 0);
    char *name = check_printf(c, "<%s %u>", word, r->clause);
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
    for (uint32_t i = 0; i < 2; i++)
        if (guards[i] != NULL)
            made[at++] = (comprehension_clause){.span = guards[i]->span, .condition = guards[i]};
    e->clauses = made;
    e->clause_count += more;
}

bool check_ragged(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    ragged r = {.checker = c, .comprehension = e->comprehension, .builder = build_block(c, e->span)};
    for (; r.clause < r.comprehension->clause_count && r.clause < 64; r.clause++) { /* more are refused */
        comprehension_clause *clause = &r.comprehension->clauses[r.clause];
        expr *guards[2] = {NULL, NULL};
        if (clause->index == NULL)
            continue;
        bool low = widen_bound(&r, &clause->low, "low", BINARY_GE, &guards[0]);
        bool high = widen_bound(&r, &clause->high, "high", clause->inclusive ? BINARY_LE : BINARY_LT, &guards[1]);
        if (low || high) {
            insert_guards(&r, guards);
            r.any = true;
        }
    }
    if (!r.any)
        return false;
    e->type = NULL;
    *slot = build_finish(&r.builder, e);
    check_expr(c, slot, expected);
    return true;
}
