/* views.c: the same bytes seen through other shapes and strides.
 *
 *     t [2, 3] strides 3 1 ─┬─ transpose  [3, 2] strides 1 3
 *                           ├─ row 1      [3]    strides 1, data + 3
 *                           ├─ narrow     [2, 2] strides 3 1, data + 1
 *                           └─ expand     [4, 2, 3] strides 0 3 1
 *
 * A view holds the storage, not the tensor it was made from: either may die first. No one sees
 * the sharing, because a writer copies first. backward of each is the opposite view of the
 * gradient; a part adds into the whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* ---- without history ------------------------------------------------------------------------- */

/* Row-major strides of a shape; elements > 0. */
static void set_row_major(tl_tensor *t) {
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        t->stride[i] = stride;
        stride *= t->shape[i];
    }
}

/* Every element is the same one: so it is in any shape. */
static bool is_single_element(const tl_tensor *t) {
    for (int i = 0; i < t->rank; i++)
        if (t->stride[i] != 0 && t->shape[i] != 1)
            return false;
    return true;
}

masu_status tl__reshape(tl_tensor *t, int rank, const int64_t *shape, tl_tensor **out) {
    tl_tensor *view;
    bool still = !t->contiguous && is_single_element(t);
    masu_status status = tl__tensor_view(t, &view);
    if (status == MASU_OK && !t->contiguous && !still) {
        status = tl__tensor_make_writable(view);
        if (status != MASU_OK)
            tl__tensor_drop(view);
    }
    if (status != MASU_OK)
        return status;
    view->rank = (uint8_t)rank;
    memcpy(view->shape, shape, sizeof shape[0] * (size_t)rank);
    if (still || t->elements == 0)
        memset(view->stride, 0, sizeof view->stride);
    else
        set_row_major(view);
    tl__tensor_refresh(view);
    *out = view;
    return MASU_OK;
}

masu_status tl__permute(const tl_tensor *t, const int *order, tl_tensor **out) {
    tl_tensor *view;
    masu_status status = tl__tensor_view(t, &view);
    if (status != MASU_OK)
        return status;
    for (int i = 0; i < t->rank; i++) {
        view->shape[i] = t->shape[order[i]];
        view->stride[i] = t->stride[order[i]];
    }
    tl__tensor_refresh(view);
    *out = view;
    return MASU_OK;
}

static void exchange(int rank, int a, int b, int order[TL_MAX_RANK]) {
    for (int i = 0; i < rank; i++)
        order[i] = i == a ? b : i == b ? a : i;
}

masu_status tl__transpose_last(const tl_tensor *t, tl_tensor **out) {
    int order[TL_MAX_RANK];
    exchange(t->rank, t->rank - 2, t->rank - 1, order);
    return tl__permute(t, order, out);
}

masu_status tl__expand(const tl_tensor *t, int rank, const int64_t *shape, tl_tensor **out) {
    tl_tensor *view;
    masu_status status = tl__tensor_countable((tl_dtype)t->dtype, rank, shape);
    if (status == MASU_OK)
        status = tl__tensor_view(t, &view);
    if (status != MASU_OK)
        return status;
    view->rank = (uint8_t)rank;
    for (int i = rank - 1; i >= 0; i--) {
        int own = i - (rank - t->rank);
        bool kept = own >= 0 && t->shape[own] == shape[i];
        view->stride[i] = kept ? t->stride[own] : 0;
        view->shape[i] = shape[i];
    }
    tl__tensor_refresh(view);
    *out = view;
    return MASU_OK;
}

masu_status tl__narrow(const tl_tensor *t, int dim, int64_t from, int64_t length, tl_tensor **out) {
    tl_tensor *view;
    masu_status status = tl__tensor_view(t, &view);
    if (status != MASU_OK)
        return status;
    view->shape[dim] = length;
    tl__tensor_refresh(view);
    if (view->elements > 0)
        view->data = (char *)t->data + from * t->stride[dim] * (int64_t)tl__dtype_size((tl_dtype)t->dtype);
    *out = view;
    return MASU_OK;
}

masu_status tl__insert_dim(const tl_tensor *t, int dim, int64_t length, tl_tensor **out) {
    tl_tensor *view;
    masu_status status = tl__tensor_view(t, &view);
    if (status != MASU_OK)
        return status;
    for (int i = view->rank++; i > dim; i--) {
        view->shape[i] = view->shape[i - 1];
        view->stride[i] = view->stride[i - 1];
    }
    view->shape[dim] = length;
    view->stride[dim] = 0;
    tl__tensor_refresh(view);
    *out = view;
    return MASU_OK;
}

masu_status tl__remove_dim(const tl_tensor *t, int dim, tl_tensor **out) {
    tl_tensor *view;
    masu_status status = tl__tensor_view(t, &view);
    if (status != MASU_OK)
        return status;
    view->rank--;
    for (int i = dim; i < view->rank; i++) {
        view->shape[i] = t->shape[i + 1];
        view->stride[i] = t->stride[i + 1];
    }
    tl__tensor_refresh(view);
    *out = view;
    return MASU_OK;
}

/* ---- history --------------------------------------------------------------------------------- */

static masu_status identity_backward(tl_pass *pass, tl_node *node) {
    return tl__deliver(tl__node_inputs(node)[0], tl__take_gradient(pass));
}

static void identity_formula(tl_formula *f) {
    tl__f_deliver(f, 0, f->g);
}

const tl_rule tl__rule_identity = {"a copy", identity_backward, identity_formula};
const tl_rule tl__rule_expand = {"expand", identity_backward, identity_formula};

static masu_status reshape_backward(tl_pass *pass, tl_node *node) {
    tl_node *input = tl__node_inputs(node)[0];
    tl_tensor *gradient;
    masu_status status = tl__reshape(pass->gradient, input->rank, tl__node_shape(input), &gradient);
    return status == MASU_OK ? tl__deliver(input, gradient) : status;
}

static void reshape_formula(tl_formula *f) {
    tl_node *input = tl__node_inputs(f->node)[0];
    tl__f_deliver(f, 0, d_reshape(f, f->g, input->rank, tl__node_shape(input)));
}

const tl_rule tl__rule_reshape = {"reshape", reshape_backward, reshape_formula};

/* Extra words: where each dimension of the result stood. */
static masu_status permute_backward(tl_pass *pass, tl_node *node) {
    const uint64_t *order = tl__node_extra(node);
    int inverse[TL_MAX_RANK];
    for (int i = 0; i < node->rank; i++)
        inverse[order[i]] = i;
    tl_tensor *gradient;
    masu_status status = tl__permute(pass->gradient, inverse, &gradient);
    return status == MASU_OK ? tl__deliver(tl__node_inputs(node)[0], gradient) : status;
}

static void permute_formula(tl_formula *f) {
    const uint64_t *order = tl__node_extra(f->node);
    int64_t inverse[TL_MAX_RANK];
    for (int i = 0; i < f->node->rank; i++)
        inverse[order[i]] = i;
    tl__f_deliver(f, 0, tl__f_keep(f, tl_tensor_permute(f->g, f->node->rank, inverse)));
}

const tl_rule tl__rule_permute = {"permute", permute_backward, permute_formula};

/* Extra words: dimension, first index, length, and whether the dimension vanished. */
static masu_status part_backward(tl_pass *pass, tl_node *node) {
    const uint64_t *extra = tl__node_extra(node);
    tl_tensor *whole, *part, *shown = NULL;
    masu_status status = tl__accumulator(tl__node_inputs(node)[0], &whole);
    if (status == MASU_OK)
        status = tl__narrow(whole, (int)extra[0], (int64_t)extra[1], (int64_t)extra[2], &part);
    if (status != MASU_OK)
        return status;
    if (extra[3])
        status = tl__insert_dim(pass->gradient, (int)extra[0], 1, &shown);
    if (status == MASU_OK) {
        const tl_tensor *operands[] = {part, shown ? shown : pass->gradient};
        tl__map_into(TL_K_add, part, 2, operands, NULL);
    }
    tl__tensor_drop(shown);
    tl__tensor_drop(part);
    return status;
}

/* The gradient with zeros around it. */
static void part_formula(tl_formula *f) {
    const uint64_t *extra = tl__node_extra(f->node);
    const tl_node *input = tl__node_inputs(f->node)[0];
    int dim = (int)extra[0];
    int64_t length = tl__node_shape(tl__node_inputs(f->node)[0])[dim], pads[2 * TL_MAX_RANK] = {0};
    tl_tensor *part = extra[3] ? d_insert(f, f->g, dim) : f->g;
    int64_t *pair = pads + 2 * (input->rank - 1 - dim);
    pair[0] = (int64_t)extra[1];
    pair[1] = length - (int64_t)extra[1] - (int64_t)extra[2];
    if (part)
        tl__f_deliver(f, 0, tl__f_keep(f, tl_tensor_pad(part, 0.0, 2 * (input->rank - dim), pads)));
}

const tl_rule tl__rule_part = {"a part of a tensor", part_backward, part_formula};

static masu_status record_view(const tl_rule *rule, tl_tensor *result, tl_tensor *t, int extra_count,
                               const uint64_t *extra, tl_tensor **out) {
    *out = result;
    if (!t->node)
        return MASU_OK;
    return tl__record_or_drop(
        result, &(tl_origin){.rule = rule, .input_count = 1, .inputs = &t, .extra_count = extra_count, .extra = extra},
        out);
}

masu_status tl__record_identity(tl_tensor *result, tl_tensor *t, tl_tensor **out) {
    return record_view(&tl__rule_identity, result, t, 0, NULL, out);
}

/* ---- reshape, flatten, squeeze, unsqueeze ---------------------------------------------------- */

static masu_status error_reshape(const tl_tensor *t, int64_t rank, const int64_t *shape) {
    char from[TL_SHAPE_TEXT], to[TL_SHAPE_TEXT];
    char why[64] = "";
    int64_t product = 1, open = 0;
    bool counted = rank <= TL_MAX_RANK;
    for (int64_t d = 0; d < rank && counted; d++) {
        open += shape[d] == -1;
        counted = shape[d] >= -1 && !__builtin_mul_overflow(product, shape[d] < 0 ? 1 : shape[d], &product);
    }
    if (counted && open < 2)
        snprintf(why, sizeof why, ": %" PRId64 " elements are not %s%" PRId64, t->elements,
                 open ? "a multiple of " : "", product);
    return tl__error(TL_SAY(reshape_shape_cannot_be_reshaped), tl__shape_text(t->rank, t->shape, from),
                     tl__shape_text(rank > TL_MAX_RANK ? TL_MAX_RANK : (int)rank, shape, to), why);
}

/* shape without its -1, if it has one. */
static masu_status resolve_shape(const tl_tensor *t, int64_t rank, const int64_t *shape, int64_t *out) {
    int64_t known = 1;
    int open = -1;
    if (rank < 0 || rank > TL_MAX_RANK)
        return error_reshape(t, rank, shape);
    for (int i = 0; i < rank; i++) {
        out[i] = shape[i];
        if (shape[i] == -1 && open < 0)
            open = i;
        else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known))
            return error_reshape(t, rank, shape);
    }
    if (open >= 0) {
        if (known == 0 || t->elements % known != 0)
            return error_reshape(t, rank, shape);
        out[open] = t->elements / known;
        known *= out[open];
    }
    return known == t->elements ? MASU_OK : error_reshape(t, rank, shape);
}

masu_status tl__reshape_recorded(tl_tensor *t, int rank, const int64_t *shape, tl_tensor **out) {
    tl_tensor *view;
    masu_status status = tl__reshape(t, rank, shape, &view);
    return status == MASU_OK ? record_view(&tl__rule_reshape, view, t, 0, NULL, out) : status;
}

static masu_status reshape(tl_tensor *t, int64_t rank, const int64_t *shape, tl_tensor **out) {
    int64_t resolved[TL_MAX_RANK];
    masu_status status = resolve_shape(t, rank, shape, resolved);
    return status == MASU_OK ? tl__reshape_recorded(t, (int)rank, resolved, out) : status;
}

static masu_status squeeze(tl_tensor *t, int64_t dim, tl_tensor **out) {
    int index;
    tl_tensor *view;
    masu_status status = tl__dimension("squeeze", t, dim, &index);
    if (status != MASU_OK)
        return status;
    if (t->shape[index] != 1) {
        tl__tensor_retain(t);
        *out = t;
        return MASU_OK;
    }
    status = tl__remove_dim(t, index, &view);
    return status == MASU_OK ? record_view(&tl__rule_reshape, view, t, 0, NULL, out) : status;
}

static masu_status unsqueeze(tl_tensor *t, int64_t dim, tl_tensor **out) {
    int64_t index = dim < 0 ? dim + t->rank + 1 : dim;
    tl_tensor *view;
    if (index < 0 || index > t->rank)
        return tl__error(TL_SAY(unsqueeze_dimension_is_out_range_for_tensor), dim, t->rank);
    if (t->rank == TL_MAX_RANK)
        return tl__error(TL_SAY(unsqueeze_tensor_at_most_dimensions), TL_MAX_RANK);
    masu_status status = tl__insert_dim(t, (int)index, 1, &view);
    return status == MASU_OK ? record_view(&tl__rule_reshape, view, t, 0, NULL, out) : status;
}

tl_tensor *tl_tensor_reshape(tl_tensor *t, int64_t shape_count, int64_t const *shape) {
    TL_RETURN_TENSOR(reshape(t, shape_count, shape, &out));
}

tl_tensor *tl_tensor_flatten(tl_tensor *t) {
    TL_RETURN_TENSOR(tl__reshape_recorded(t, 1, &t->elements, &out));
}

tl_tensor *tl_tensor_squeeze(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(squeeze(t, dim, &out));
}

tl_tensor *tl_tensor_unsqueeze(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(unsqueeze(t, dim, &out));
}

/* ---- transpose, permute, expand -------------------------------------------------------------- */

masu_status tl__permute_recorded(tl_tensor *t, const int *order, tl_tensor **out) {
    tl_tensor *view;
    uint64_t words[TL_MAX_RANK];
    masu_status status = tl__permute(t, order, &view);
    if (status != MASU_OK)
        return status;
    for (int i = 0; i < t->rank; i++)
        words[i] = (uint64_t)order[i];
    return record_view(&tl__rule_permute, view, t, t->rank, words, out);
}

static masu_status transpose(tl_tensor *t, int64_t a, int64_t b, tl_tensor **out) {
    int order[TL_MAX_RANK], first, second;
    masu_status status = tl__dimension("transpose", t, a, &first);
    if (status == MASU_OK)
        status = tl__dimension("transpose", t, b, &second);
    if (status != MASU_OK)
        return status;
    exchange(t->rank, first, second, order);
    return tl__permute_recorded(t, order, out);
}

static masu_status permute(tl_tensor *t, int64_t count, const int64_t *dims, tl_tensor **out) {
    int order[TL_MAX_RANK];
    unsigned seen = 0;
    masu_status status = MASU_OK;
    if (count != t->rank)
        return tl__error(TL_SAY(permute_dimensions_are_named_tensor), count, t->rank);
    for (int i = 0; i < count && status == MASU_OK; i++) {
        status = tl__dimension("permute", t, dims[i], &order[i]);
        if (status == MASU_OK && seen >> order[i] & 1)
            status = tl__error(TL_SAY(permute_dimension_is_named_twice), order[i]);
        if (status == MASU_OK)
            seen |= 1u << order[i];
    }
    return status == MASU_OK ? tl__permute_recorded(t, order, out) : status;
}

static masu_status error_expand(const tl_tensor *t, int64_t rank, const int64_t *shape) {
    char from[TL_SHAPE_TEXT], to[TL_SHAPE_TEXT];
    return tl__error(TL_SAY(expand_shape_cannot_be_expanded), tl__shape_text(t->rank, t->shape, from),
                     tl__shape_text(rank > TL_MAX_RANK ? TL_MAX_RANK : (int)rank, shape, to));
}

/* -1 keeps a dimension that t has. */
static masu_status expand(tl_tensor *t, int64_t rank, const int64_t *shape, tl_tensor **out) {
    int64_t wide[TL_MAX_RANK];
    tl_tensor *view;
    if (rank < t->rank || rank > TL_MAX_RANK)
        return error_expand(t, rank, shape);
    for (int i = 0; i < rank; i++) {
        int64_t own = i - (rank - t->rank), length = own < 0 ? 1 : t->shape[own];
        wide[i] = shape[i] == -1 && own >= 0 ? length : shape[i];
        if (wide[i] < 0 || (length != 1 && wide[i] != length))
            return error_expand(t, rank, shape);
    }
    masu_status status = tl__expand(t, (int)rank, wide, &view);
    return status == MASU_OK ? record_view(&tl__rule_expand, view, t, 0, NULL, out) : status;
}

tl_tensor *tl_tensor_transpose(tl_tensor *t, int64_t a, int64_t b) {
    TL_RETURN_TENSOR(transpose(t, a, b, &out));
}

tl_tensor *tl_tensor_permute(tl_tensor *t, int64_t order_count, int64_t const *order) {
    TL_RETURN_TENSOR(permute(t, order_count, order, &out));
}

tl_tensor *tl_tensor_expand(tl_tensor *t, int64_t shape_count, int64_t const *shape) {
    TL_RETURN_TENSOR(expand(t, shape_count, shape, &out));
}

/* ---- parts ----------------------------------------------------------------------------------- */

static masu_status part(const char *what, tl_tensor *t, int64_t dim, int64_t from, int64_t length, bool vanishes,
                        tl_tensor **out) {
    int index;
    tl_tensor *view, *rest;
    masu_status status = tl__dimension(what, t, dim, &index);
    if (status != MASU_OK)
        return status;
    if (from < 0 || length < 0 || from > t->shape[index] || length > t->shape[index] - from)
        return tl__error(TL_SAY(indices_from_them_are_out_range_for), what, from, length, t->shape[index]);
    status = tl__narrow(t, index, from, length, &view);
    if (status == MASU_OK && vanishes) {
        status = tl__remove_dim(view, index, &rest);
        tl__tensor_drop(view);
        view = rest;
    }
    if (status != MASU_OK)
        return status;
    const uint64_t words[] = {(uint64_t)index, (uint64_t)from, (uint64_t)length, vanishes};
    return record_view(&tl__rule_part, view, t, 4, words, out);
}

/* Negative ends count from the end of the dimension. */
static masu_status slice(tl_tensor *t, int64_t dim, int64_t from, int64_t to, tl_tensor **out) {
    int index;
    masu_status status = tl__dimension("slice", t, dim, &index);
    if (status != MASU_OK)
        return status;
    int64_t length = t->shape[index];
    int64_t first = from < 0 ? from + length : from, end = to < 0 ? to + length : to;
    if (first < 0 || end < first || end > length)
        return tl__error(TL_SAY(slice_is_out_range_for_length), from, to, length);
    return part("slice", t, index, first, end - first, false, out);
}

static masu_status row(tl_tensor *t, int64_t index, tl_tensor **out) {
    if (t->rank == 0)
        return tl__error(TL_SAY(tensor_rank_0_no_rows));
    if (index < 0 || index >= t->shape[0])
        return tl__error(TL_SAY(index_is_out_range_for_length), index, t->shape[0]);
    return part("row", t, 0, index, 1, true, out);
}

tl_tensor *tl_tensor_slice(tl_tensor *t, int64_t dim, int64_t from, int64_t to) {
    TL_RETURN_TENSOR(slice(t, dim, from, to, &out));
}

tl_tensor *tl_tensor_narrow(tl_tensor *t, int64_t dim, int64_t from, int64_t length) {
    TL_RETURN_TENSOR(part("narrow", t, dim, from, length, false, &out));
}

tl_tensor *tl_tensor_row(tl_tensor *t, int64_t index) {
    TL_RETURN_TENSOR(row(t, index, &out));
}

/* ---- shapes that only the running program knows ----------------------------------------------- */

/* The elements of `wanted`, a vector of at most TL_MAX_RANK lengths. */
static masu_status read_shape(tl_tensor *wanted, int64_t *rank, int64_t shape[TL_MAX_RANK]) {
    tl_tensor *dense;
    char text[TL_SHAPE_TEXT];
    if (wanted->rank != 1 || wanted->elements > TL_MAX_RANK)
        return tl__error(TL_SAY(tensor_shape_is_no_shape), tl__shape_text(wanted->rank, wanted->shape, text));
    masu_status status = tl__dense_places("reshape", wanted, &dense);
    if (status != MASU_OK)
        return status;
    *rank = dense->elements;
    if (*rank > 0)
        memcpy(shape, dense->data, (size_t)*rank * sizeof *shape);
    tl__tensor_drop(dense);
    return MASU_OK;
}

static masu_status reshape_to(tl_tensor *t, tl_tensor *wanted, tl_tensor **out) {
    int64_t rank, shape[TL_MAX_RANK];
    masu_status status = read_shape(wanted, &rank, shape);
    return status == MASU_OK ? reshape(t, rank, shape, out) : status;
}

static masu_status expand_to(tl_tensor *t, tl_tensor *wanted, tl_tensor **out) {
    int64_t rank, shape[TL_MAX_RANK];
    masu_status status = read_shape(wanted, &rank, shape);
    return status == MASU_OK ? expand(t, rank, shape, out) : status;
}

tl_tensor *tl_tensor_reshape_to(tl_tensor *t, tl_tensor *shape) {
    TL_RETURN_TENSOR(reshape_to(t, shape, &out));
}

tl_tensor *tl_tensor_expand_to(tl_tensor *t, tl_tensor *shape) {
    TL_RETURN_TENSOR(expand_to(t, shape, &out));
}

bool tl_tensor_is_bool(tl_tensor *t) {
    return t->dtype == TL_BOOL;
}

bool tl_tensor_is_tracked(tl_tensor *t) {
    return t->node != NULL;
}

bool tl_tensor_is_leaf(tl_tensor *t) {
    return t->node == NULL || t->node->flags & TL_NODE_LEAF;
}

static masu_status scalar_like(const tl_tensor *t, double value, tl_tensor **out) {
    return tl__full((tl_dtype)t->dtype, 0, NULL, value, out);
}

tl_tensor *tl_tensor_scalar_like(tl_tensor *t, double value) {
    TL_RETURN_TENSOR(scalar_like(t, value, &out));
}
