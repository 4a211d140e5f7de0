/* check_equation.c: equations over free indices.
 *
 *     let C = A[i, j] * B[j, k];            what `let C[i, k] = …` says with names: j is summed over
 *     let y = A[i, j] * x[j] + b[i];        each term for itself: (A[i, j] * x[j]) + b
 *
 * An index is free when nothing of its name is in sight and it occurs only as an index. One in both factors of a
 * product is summed over; the others are the result's dimensions, in alphabetical order, as in numpy.einsum.
 *
 * What must stay true (tests/golden/err_equations): a lone index that nothing knows is a mistake and is said as one; so
 * two places are asked for. All terms of a sum have the same dimensions: nothing is spread unless it is written.
 */
#include <string.h>

#include "language/front/check_tensor.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"

enum { INDICES_MAX = 32 };

typedef struct index_set {
    const char *names[INDICES_MAX]; /* in alphabetical order */
    source_span spans[INDICES_MAX];
    uint32_t count;
    uint32_t places; /* where they occur */
    bool too_many;
} index_set;

typedef struct index_search {
    checker *c;
    index_set *out;
} index_search;

static bool is_free(checker *c, const expr *e) {
    if (e->kind != EXPR_NAME || e->type != NULL || e->name.scope != NULL)
        return false;
    const symbol *s = check_find(c, e->name.name);
    return s == NULL || (s->binding == NULL && s->constant == NULL && !s->refused);
}

static int64_t find(const index_set *set, const char *name) {
    for (uint32_t i = 0; i < set->count; i++)
        if (strcmp(set->names[i], name) == 0)
            return i;
    return -1;
}

static void add(index_set *set, const char *name, source_span span) {
    if (find(set, name) >= 0)
        return;
    if (set->count == INDICES_MAX) {
        set->too_many = true;
        return;
    }
    uint32_t at = set->count++;
    for (; at > 0 && strcmp(set->names[at - 1], name) > 0; at--) {
        set->names[at] = set->names[at - 1];
        set->spans[at] = set->spans[at - 1];
    }
    set->names[at] = name;
    set->spans[at] = span;
}

static void collect(expr *e, void *context) {
    index_search *search = context;
    if (e->kind == EXPR_CLOSURE || e->kind == EXPR_COMPREHENSION || e->kind == EXPR_BLOCK)
        return;
    for (uint32_t i = 0; e->kind == EXPR_INDEX && i < e->index.count; i++) {
        const expr *index = e->index.indices[i];
        if (is_free(search->c, index)) {
            add(search->out, index->name.name, index->span);
            search->out->places++;
        }
    }
    expr_each_child(e, collect, context);
}

static index_set indices_of(checker *c, expr *e) {
    index_set set = {0};
    collect(e, &(index_search){c, &set});
    return set;
}

/* Into `out`: what is summed over in e. */
static void find_summed(expr *e, void *context) {
    index_search *search = context;
    if (e->kind == EXPR_BINARY && e->binary.op == BINARY_MUL) {
        index_set left = indices_of(search->c, e->binary.left), right = indices_of(search->c, e->binary.right);
        for (uint32_t i = 0; i < left.count; i++)
            if (find(&right, left.names[i]) >= 0)
                add(search->out, left.names[i], left.spans[i]);
    }
    expr_each_child(e, find_summed, context);
}

static index_set summed_in(checker *c, expr *e) {
    index_set set = {0};
    find_summed(e, &(index_search){c, &set});
    return set;
}

static bool is_sum(const expr *e) {
    return e->kind == EXPR_BINARY && (e->binary.op == BINARY_ADD || e->binary.op == BINARY_SUB);
}

/* The dimensions of e: its indices without those that a term sums over. False, and said, when two terms differ. */
static bool dimensions_of(checker *c, expr *e, index_set *out) {
    *out = (index_set){0};
    if (is_sum(e)) {
        index_set right;
        if (!dimensions_of(c, e->binary.left, out) || !dimensions_of(c, e->binary.right, &right))
            return false;
        bool same = out->count == right.count;
        for (uint32_t i = 0; same && i < out->count; i++)
            same = strcmp(out->names[i], right.names[i]) == 0;
        if (!same && indices_of(c, e->binary.left).count > 0 && indices_of(c, e->binary.right).count > 0) {
            diagnostic *d = diagnostics_say(c->diagnostics, e->binary.op_span,
                                            SAY(two_sides_have_different_free_indices));
            diagnostics_note(c->diagnostics, d, (source_span){0}, "name the dimensions: `let y[i, j] = …`");
            return false;
        }
        *out = out->count > 0 ? *out : right;
        return true;
    }
    index_set all = indices_of(c, e), summed = summed_in(c, e);
    for (uint32_t i = 0; i < all.count; i++)
        if (find(&summed, all.names[i]) < 0)
            add(out, all.names[i], all.spans[i]);
    return true;
}

static expr *comprehension_of(checker *c, expr *body, const index_set *dimensions) {
    comprehension_expr *made = CHECK_ARRAY(c, comprehension_expr, 1);
    *made = (comprehension_expr){.einstein = true, .body = body, .output_count = dimensions->count};
    made->output_names = CHECK_ARRAY(c, const char *, dimensions->count + 1);
    made->output_spans = CHECK_ARRAY(c, source_span, dimensions->count + 1);
    for (uint32_t i = 0; i < dimensions->count; i++) {
        made->output_names[i] = dimensions->names[i];
        made->output_spans[i] = dimensions->spans[i];
    }
    expr *e = check_new(c, EXPR_COMPREHENSION, body->span, NULL);
    e->comprehension = made;
    return e;
}

/* One comprehension where nothing is summed over, else one a term. */
static expr *written_out(checker *c, expr *e) {
    index_set dimensions;
    if (indices_of(c, e).count == 0)
        return e;
    if (is_sum(e) && summed_in(c, e).count > 0) {
        e->binary.left = written_out(c, e->binary.left);
        e->binary.right = written_out(c, e->binary.right);
        return e;
    }
    dimensions_of(c, e, &dimensions);
    return comprehension_of(c, e, &dimensions);
}

void check_equation(checker *c, expr **slot) {
    expr *e = *slot;
    if (e->type != NULL || (e->kind != EXPR_BINARY && e->kind != EXPR_UNARY))
        return;
    index_set all = indices_of(c, e), dimensions;
    if (all.places < 2 || all.too_many)
        return;
    if (!dimensions_of(c, e, &dimensions)) {
        check_make_error(c, e);
        return;
    }
    *slot = written_out(c, e);
}
