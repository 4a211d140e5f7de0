/* formula.c: how formulas run, and the operations they are made of. formula.h says what they are.
 *
 * The operations are the entry points that programs call. They raise when they fail; a formula holds memory then, so
 * while it runs the runtime has no catcher: entry points return NULL, and the error travels on as
 * a status.
 */
#include "runtime/grad/formula.h"

#include <string.h>

#include "runtime/state.h"

/* ---- running --------------------------------------------------------------------------------------------------- */

static masu_status error_no_formula(const tl_node *node) {
    return tl__error(TL_SAY(no_second_derivative_here_its_gradient_cannot), node->rule->name);
}

masu_status tl__formula_run(tl_node *node, tl_tensor *g, bool tracks) {
    if (!node->rule->formula)
        return error_no_formula(node);
    tl_runtime *rt = tl__runtime();
    jmp_buf *jump = rt->jump;
    rt->jump = NULL;
    tl_formula f = {.node = node, .g = g, .tracks = tracks};
    node->rule->formula(&f);
    rt->jump = jump;
    for (int i = 0; i < f.made_count; i++)
        tl__tensor_drop(f.made[i]);
    return f.status;
}

void tl__f_fail(tl_formula *f, masu_status status) {
    if (f->status == MASU_OK)
        f->status = status;
}

void tl__f_refuse(tl_formula *f) {
    tl__f_fail(f, error_no_formula(f->node));
}

/* An entry point that returned NULL has raised: rt->error is what it said. */
tl_tensor *tl__f_keep(tl_formula *f, tl_tensor *t) {
    tl_runtime *rt = tl__runtime();
    if (!t) {
        if (f->status == MASU_OK) {
            rt->pending = rt->error;
            f->status = rt->pending.status;
        }
        return NULL;
    }
    if (f->made_count == TL_FORMULA_MADE) {
        tl__tensor_drop(t);
        tl__f_fail(f, tl__error(TL_SAY(formula_is_too_long), f->node->rule->name));
        return NULL;
    }
    f->made[f->made_count++] = t;
    return t;
}

static tl_tensor *keep_if(tl_formula *f, masu_status status, tl_tensor *t) {
    if (status == MASU_OK)
        return tl__f_keep(f, t);
    tl__f_fail(f, status);
    return NULL;
}

/* ---- saved values ------------------------------------------------------------------------------------------------ */

/* Saved value i under a header of its own, with the history `node`. */
static tl_tensor *with_history(tl_formula *f, int i, tl_node *node) {
    tl_tensor *saved = tl__node_value(f->node, i), *own;
    if (!saved) {
        tl__f_fail(f, tl__error(TL_SAY(not_saved_what_its_formula_needs), f->node->rule->name));
        return NULL;
    }
    masu_status status = tl__tensor_view(saved, &own);
    if (status == MASU_OK && f->tracks && node) {
        node->count++;
        own->node = node;
    }
    return keep_if(f, status, own);
}

tl_tensor *tl__f_input(tl_formula *f, int saved, int input) {
    return with_history(f, saved, tl__node_inputs(f->node)[input]);
}

tl_tensor *tl__f_result(tl_formula *f, int saved) {
    return with_history(f, saved, f->node);
}

tl_tensor *tl__f_constant(tl_formula *f, int saved) {
    return with_history(f, saved, NULL);
}

/* ---- delivery ---------------------------------------------------------------------------------------------------- */

bool tl__f_wants(const tl_formula *f, int i) {
    return i < f->node->input_count && tl__node_inputs(f->node)[i] && f->status == MASU_OK;
}

void tl__f_deliver(tl_formula *f, int i, tl_tensor *t) {
    if (!t || !tl__f_wants(f, i))
        return;
    tl_node *input = tl__node_inputs(f->node)[i];
    t = d_to_shape(f, t, input->rank, tl__node_shape(input));
    if (t && t->dtype != input->dtype)
        t = tl__f_keep(f, tl_tensor_to_dtype(t, input->dtype));
    if (t && *tl__node_buffer(input))
        t = d_add(f, *tl__node_buffer(input), t);
    if (!t)
        return;
    tl__tensor_retain(t);
    tl__tensor_drop(*tl__node_buffer(input));
    *tl__node_buffer(input) = t;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

tl_tensor *d_where(tl_formula *f, tl_tensor *condition, tl_tensor *a, tl_tensor *b) {
    return condition && a && b ? tl__f_keep(f, tl_tensor_where(condition, a, b)) : NULL;
}

tl_tensor *d_masked(tl_formula *f, tl_tensor *condition, tl_tensor *t) {
    tl_tensor *zero = t ? d_zeros(f, (tl_dtype)t->dtype, 0, NULL) : NULL;
    return d_where(f, condition, t, zero);
}

tl_tensor *d_compare(tl_formula *f, tl_tensor *a, tl_tensor *b, int relation) {
    return a && b ? tl__f_keep(f, tl_tensor_compare(a, b, relation)) : NULL;
}

tl_tensor *d_compare_to(tl_formula *f, tl_tensor *t, double s, int relation) {
    return t ? tl__f_keep(f, tl_tensor_compare_scalar(t, s, relation)) : NULL;
}

tl_tensor *d_both(tl_formula *f, tl_tensor *a, tl_tensor *b) {
    return a && b ? tl__f_keep(f, tl_tensor_logical_and(a, b)) : NULL;
}

tl_tensor *d_detached(tl_formula *f, tl_tensor *t) {
    tl_tensor *own = NULL;
    if (!t)
        return NULL;
    masu_status status = tl__tensor_view(t, &own);
    return keep_if(f, status, own);
}

tl_tensor *d_zeros(tl_formula *f, tl_dtype dtype, int rank, const int64_t *shape) {
    tl_tensor *zeros = NULL;
    if (f->status != MASU_OK)
        return NULL;
    masu_status status = tl__full(dtype, rank, shape, 0.0, &zeros);
    return keep_if(f, status, zeros);
}

tl_tensor *d_ones_like(tl_formula *f, tl_tensor *t) {
    return t ? tl__f_keep(f, tl_tensor_ones_like(t)) : NULL;
}

tl_tensor *d_reshape(tl_formula *f, tl_tensor *t, int rank, const int64_t *shape) {
    return t ? tl__f_keep(f, tl_tensor_reshape(t, rank, shape)) : NULL;
}

tl_tensor *d_expand(tl_formula *f, tl_tensor *t, int rank, const int64_t *shape) {
    return t ? tl__f_keep(f, tl_tensor_expand(t, rank, shape)) : NULL;
}

tl_tensor *d_insert(tl_formula *f, tl_tensor *t, int dim) {
    return t ? tl__f_keep(f, tl_tensor_unsqueeze(t, dim)) : NULL;
}

tl_tensor *d_drop(tl_formula *f, tl_tensor *t, int dim) {
    return t ? tl__f_keep(f, tl_tensor_squeeze(t, dim)) : NULL;
}

tl_tensor *d_narrow(tl_formula *f, tl_tensor *t, int dim, int64_t from, int64_t length) {
    return t ? tl__f_keep(f, tl_tensor_narrow(t, dim, from, length)) : NULL;
}

tl_tensor *d_turned(tl_formula *f, tl_tensor *t) {
    return t ? tl__f_keep(f, tl_tensor_transpose(t, -2, -1)) : NULL;
}

tl_tensor *d_sum_dim(tl_formula *f, tl_tensor *t, int dim) {
    return t ? d_insert(f, tl__f_keep(f, tl_tensor_sum_dim(t, dim)), dim) : NULL;
}

tl_tensor *d_tril(tl_formula *f, tl_tensor *t, int64_t k) {
    return t ? tl__f_keep(f, tl_tensor_tril(t, k)) : NULL;
}

tl_tensor *d_to_shape(tl_formula *f, tl_tensor *t, int rank, const int64_t *shape) {
    while (t && t->rank > rank)
        t = tl__f_keep(f, tl_tensor_sum_dim(t, 0));
    for (int i = 0; t && i < t->rank; i++)
        if (t->shape[i] != shape[rank - t->rank + i] && shape[rank - t->rank + i] == 1)
            t = d_sum_dim(f, t, i);
    bool narrow = t && (t->rank < rank || memcmp(t->shape, shape, sizeof *shape * (size_t)rank) != 0);
    return narrow ? d_expand(f, t, rank, shape) : t;
}
