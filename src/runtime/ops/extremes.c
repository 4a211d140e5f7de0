/* extremes.c: the largest, the smallest, and where they are.
 *
 * The first among equals wins, and NaN before all else. backward sends the whole gradient to
 * that place, so what is saved is places (i64), not the tensor; but of all elements together
 * those that are equal share it, as in PyTorch: then the tensor is saved too.
 */
#include <string.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/row_fold.h"
#include "runtime/ops/threads.h"
#include "runtime/state.h"

typedef struct order {
    tl_search_function *const *search;
    tl_value_function *const *value;
    tl_search_columns_function *const *columns;
    tl_beats_function *const *beats;
    const char *value_name, *place_name;
} order;

static const order largest = {
    tl__search_largest, tl__value_largest, tl__columns_largest, tl__beats_largest, "max", "argmax"};
static const order smallest = {
    tl__search_smallest, tl__value_smallest, tl__columns_smallest, tl__beats_smallest, "min", "argmin"};

static masu_status error_empty(const char *what, const tl_tensor *t) {
    char text[TL_SHAPE_TEXT];
    return tl__error(TL_SAY(nothing_choose_from_in_tensor_shape), what, tl__shape_text(t->rank, t->shape, text));
}

/* ---- over all -------------------------------------------------------------------------------- */

typedef struct search_all {
    const order *order;
    const tl_tensor *t;
    int64_t passed; /* elements before this row */
    int64_t place;  /* in row-major order */
    const void *best;
} search_all;

static void search_row(void *context, const void *data, int64_t n, int64_t stride) {
    search_all *all = context;
    tl_dtype dtype = (tl_dtype)all->t->dtype;
    int64_t place = all->order->search[dtype](data, n, stride);
    const char *found = (const char *)data + place * stride * (int64_t)tl__dtype_size(dtype);
    if (!all->best || all->order->beats[dtype](found, all->best)) {
        all->best = found;
        all->place = all->passed + place;
    }
    all->passed += n;
}

/* A large tensor in pieces: which element wins does not depend on who looked where, for pieces are compared in
 * order. */
enum { PIECES = 64 };

typedef struct pieces {
    const search_all *all;
    int64_t length;
    int64_t place[PIECES];
} pieces;

static void search_pieces(void *context, int64_t from, int64_t to) {
    pieces *p = context;
    const tl_tensor *t = p->all->t;
    int64_t size = (int64_t)tl__dtype_size((tl_dtype)t->dtype);
    for (int64_t i = from; i < to; i++) {
        int64_t begin = i * p->length, rest = t->elements - begin;
        p->place[i] = begin + p->all->order->search[t->dtype]((const char *)t->data + begin * size,
                                                              rest < p->length ? rest : p->length, 1);
    }
}

static void search_chunks(search_all *all) {
    const tl_tensor *t = all->t;
    int64_t size = (int64_t)tl__dtype_size((tl_dtype)t->dtype);
    pieces p = {.all = all, .length = (t->elements + PIECES - 1) / PIECES};
    int64_t count = (t->elements + p.length - 1) / p.length;
    tl__in_parts(count, 1, t->elements, search_pieces, &p);
    for (int64_t i = 0; i < count; i++) {
        const void *found = (const char *)t->data + p.place[i] * size;
        if (!all->best || all->order->beats[t->dtype](found, all->best)) {
            all->best = found;
            all->place = p.place[i];
        }
    }
}

static masu_status search_tensor(const order *order, const char *what, const tl_tensor *t, search_all *out) {
    if (t->elements == 0)
        return error_empty(what, t);
    *out = (search_all){.order = order, .t = t};
    if (t->contiguous && t->elements >= TL_LARGE_LOOP)
        search_chunks(out);
    else
        tl__rows(t, search_row, out);
    return MASU_OK;
}

/* ---- over one dimension ---------------------------------------------------------------------- */

typedef struct search_dim {
    tl_search_function *search;
    tl_value_function *value;
    tl_search_columns_function *columns;
    int64_t n, stride; /* of the dimension that vanishes */
    int64_t size;
    char *values; /* next of each; either may be NULL */
    int64_t *places;
} search_dim;

static void search_dim_row(void *context, const void *data, int64_t n, int64_t stride) {
    search_dim *dim = context;
    if (stride == 1 && n > 1) { /* the lines lie side by side */
        dim->columns(data, dim->n, dim->stride, n, dim->values, dim->places);
        dim->values += dim->values ? n * dim->size : 0;
        dim->places += dim->places ? n : 0;
        return;
    }
    for (int64_t j = 0; j < n; j++) {
        const char *from = (const char *)data + j * stride * dim->size;
        if (!dim->places && dim->stride == 1 && dim->value(from, dim->n, dim->values)) {
            dim->values += dim->size;
            continue;
        }
        int64_t place = dim->search(from, dim->n, dim->stride);
        if (dim->values) {
            memcpy(dim->values, from + place * dim->stride * dim->size, (size_t)dim->size);
            dim->values += dim->size;
        }
        if (dim->places)
            *dim->places++ = place;
    }
}

/* All lines, by the first of the dimensions that stay. */
typedef struct slabs {
    tl_tensor rest; /* one element for each line */
    search_dim search;
} slabs;

static void search_slabs(void *context, int64_t from, int64_t to) {
    const slabs *s = context;
    tl_tensor rest = s->rest;
    search_dim search = s->search;
    int64_t each = rest.elements / rest.shape[0];
    rest.data = (char *)rest.data + from * rest.stride[0] * search.size;
    rest.shape[0] = to - from;
    rest.elements = each * (to - from);
    if (search.values)
        search.values += from * each * search.size;
    if (search.places)
        search.places += from * each;
    tl__rows(&rest, search_dim_row, &search);
}

/* values, places: tensors of t's shape without dim, to be filled; either may be NULL. */
static void search_one_dim(const order *order, const tl_tensor *t, int dim, tl_tensor *values, tl_tensor *places) {
    tl_tensor rest = *t;
    rest.rank--;
    rest.contiguous = false;
    for (int i = dim; i < rest.rank; i++) {
        rest.shape[i] = t->shape[i + 1];
        rest.stride[i] = t->stride[i + 1];
    }
    rest.elements = t->elements / t->shape[dim];
    slabs work = {.rest = rest,
                  .search = {.search = order->search[t->dtype],
                             .value = order->value[t->dtype],
                             .columns = order->columns[t->dtype],
                             .n = t->shape[dim],
                             .stride = t->stride[dim],
                             .size = (int64_t)tl__dtype_size((tl_dtype)t->dtype),
                             .values = values ? values->data : NULL,
                             .places = places ? places->data : NULL}};
    if (rest.rank == 0 || rest.elements == 0)
        tl__rows(&rest, search_dim_row, &work.search);
    else
        tl__in_parts(rest.shape[0], 1, t->elements, search_slabs, &work);
}

/* A tensor of t's shape without dim. */
static masu_status rest_new(tl_dtype dtype, const tl_tensor *t, int dim, tl_tensor **out) {
    int64_t shape[TL_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < t->rank; i++)
        if (i != dim)
            shape[rank++] = t->shape[i];
    return tl__tensor_new(dtype, rank, shape, out);
}

static masu_status check_dim(const char *what, const tl_tensor *t, int64_t dim, int *out) {
    masu_status status = tl__dimension(what, t, dim, out);
    return status == MASU_OK && t->shape[*out] == 0 ? error_empty(what, t) : status;
}

/* ---- history --------------------------------------------------------------------------------- */

static void add_at(tl_tensor *to, int64_t place, const tl_tensor *from, int64_t i) {
    if (to->dtype == TL_F32)
        ((float *)to->data)[place] += ((const float *)from->data)[i];
    else
        ((double *)to->data)[place] += ((const double *)from->data)[i];
}

/* Whether elements i and j are equal; NaN is equal to NaN. */
static bool same_element(const tl_tensor *t, int64_t i, int64_t j) {
    double x = t->dtype == TL_F32 ? (double)((const float *)t->data)[i] : ((const double *)t->data)[i];
    double y = t->dtype == TL_F32 ? (double)((const float *)t->data)[j] : ((const double *)t->data)[j];
    return x == y || (x != x && y != y);
}

/* How many elements are as large as the one at place; t is row-major and floating. */
static int64_t count_equals(const tl_tensor *t, int64_t place) {
    int64_t count = 0;
    for (int64_t i = 0; i < t->elements; i++)
        count += same_element(t, i, place);
    return count;
}

static masu_status share_among_equals(tl_tensor *gradient, tl_tensor *t, int64_t place, tl_tensor *collected) {
    tl_tensor *x, *share;
    masu_status status = tl__tensor_contiguous(t, &x);
    if (status != MASU_OK)
        return status;
    status = tl__scale(gradient, 1.0 / (double)count_equals(x, place), &share);
    for (int64_t i = 0; i < x->elements && status == MASU_OK; i++)
        if (same_element(x, i, place))
            add_at(collected, i, share, 0);
    if (status == MASU_OK)
        tl__tensor_drop(share);
    tl__tensor_drop(x);
    return status;
}

/* Extra word: the place in row-major order. Saved: the tensor if the place has equals. */
static masu_status extreme_backward(tl_pass *pass, tl_node *node) {
    tl_tensor *collected, *t = tl__node_value(node, 0);
    int64_t place = (int64_t)tl__node_extra(node)[0];
    masu_status status = tl__accumulator(tl__node_inputs(node)[0], &collected);
    if (status == MASU_OK && t)
        return share_among_equals(pass->gradient, t, place, collected);
    if (status == MASU_OK)
        add_at(collected, place, pass->gradient, 0);
    return status;
}

/* Saved: the places. Extra word: the dimension. The collected gradient is row-major, of the
 * input's shape. */
static masu_status extreme_dim_backward(tl_pass *pass, tl_node *node) {
    tl_node *input = tl__node_inputs(node)[0];
    int dim = (int)tl__node_extra(node)[0];
    const int64_t *places = tl__node_saved(node)[0]->data, *shape = tl__node_shape(input);
    int64_t inner = 1;
    for (int i = dim + 1; i < input->rank; i++)
        inner *= shape[i];
    tl_tensor *gradient, *collected;
    masu_status status = tl__tensor_contiguous(pass->gradient, &gradient);
    if (status != MASU_OK)
        return status;
    status = tl__accumulator(input, &collected);
    for (int64_t i = 0; i < gradient->elements && status == MASU_OK; i++)
        add_at(collected, (i / inner * shape[dim] + places[i]) * inner + i % inner, gradient, i);
    tl__tensor_drop(gradient);
    return status;
}

/* Which elements are taken does not depend on small changes: their shares are constants. */
static void extreme_formula(tl_formula *f) {
    tl_node *input = tl__node_inputs(f->node)[0];
    tl_tensor *share = d_zeros(f, (tl_dtype)f->g->dtype, input->rank, tl__node_shape(input)),
              *one = d_ones_like(f, f->g);
    if (!share || !one)
        return;
    int64_t place = (int64_t)tl__node_extra(f->node)[0];
    tl_tensor *t = tl__node_value(f->node, 0);
    masu_status status = MASU_OK;
    if (t)
        status = share_among_equals(one, t, place, share);
    else
        add_at(share, place, one, 0);
    if (status != MASU_OK)
        tl__f_fail(f, status);
    tl__f_deliver(f, 0, d_mul(f, f->g, share));
}

static void extreme_dim_formula(tl_formula *f) {
    tl_node *input = tl__node_inputs(f->node)[0];
    int dim = (int)tl__node_extra(f->node)[0];
    tl_tensor *places = d_insert(f, tl__f_constant(f, 0), dim), *g = d_insert(f, f->g, dim);
    tl_tensor *zeros = d_zeros(f, (tl_dtype)f->g->dtype, input->rank, tl__node_shape(input));
    if (places && g && zeros)
        tl__f_deliver(f, 0, tl__f_keep(f, tl_tensor_scatter_add(zeros, dim, places, g)));
}

const tl_rule tl__rule_extreme = {"max or min", extreme_backward, extreme_formula};
const tl_rule tl__rule_extreme_dim = {"max or min", extreme_dim_backward, extreme_dim_formula};

/* ---- values ---------------------------------------------------------------------------------- */

static masu_status record_extreme(tl_tensor *result, tl_tensor *t, int64_t place, tl_tensor **out) {
    const uint64_t word = (uint64_t)place;
    tl_tensor *x;
    masu_status status = tl__tensor_contiguous(t, &x);
    if (status != MASU_OK) {
        tl__tensor_drop(result);
        return status;
    }
    bool shared = count_equals(x, place) > 1;
    tl__tensor_drop(x);
    return tl__record_or_drop(result,
                              &(tl_origin){.rule = &tl__rule_extreme,
                                           .input_count = 1,
                                           .inputs = &t,
                                           .saved_count = shared,
                                           .saved = &t,
                                           .extra_count = 1,
                                           .extra = &word},
                              out);
}

static masu_status extreme(const order *order, tl_tensor *t, tl_tensor **out) {
    search_all found;
    masu_status status = search_tensor(order, order->value_name, t, &found);
    if (status == MASU_OK)
        status = tl__tensor_new((tl_dtype)t->dtype, 0, NULL, out);
    if (status != MASU_OK)
        return status;
    memcpy((*out)->data, found.best, tl__dtype_size((tl_dtype)t->dtype));
    return t->node ? record_extreme(*out, t, found.place, out) : MASU_OK;
}

static masu_status extreme_dim_tracked(const order *order, tl_tensor *t, int dim, tl_tensor *values, tl_tensor **out) {
    const uint64_t word = (uint64_t)dim;
    tl_tensor *places;
    masu_status status = rest_new(TL_I64, t, dim, &places);
    if (status != MASU_OK) {
        tl__tensor_drop(values);
        return status;
    }
    search_one_dim(order, t, dim, values, places);
    status = tl__record_or_drop(values,
                                &(tl_origin){.rule = &tl__rule_extreme_dim,
                                             .input_count = 1,
                                             .inputs = &t,
                                             .saved_count = 1,
                                             .saved = &places,
                                             .extra_count = 1,
                                             .extra = &word},
                                out);
    tl__tensor_drop(places);
    return status;
}

static masu_status extreme_dim(const order *order, tl_tensor *t, int64_t dim, tl_tensor **out) {
    int index;
    tl_tensor *values;
    masu_status status = check_dim(order->value_name, t, dim, &index);
    if (status == MASU_OK)
        status = rest_new((tl_dtype)t->dtype, t, index, &values);
    if (status != MASU_OK)
        return status;
    if (t->node)
        return extreme_dim_tracked(order, t, index, values, out);
    search_one_dim(order, t, index, values, NULL);
    *out = values;
    return MASU_OK;
}

/* ---- places ---------------------------------------------------------------------------------- */

static masu_status place(const order *order, const tl_tensor *t, tl_tensor **out) {
    search_all found;
    masu_status status = search_tensor(order, order->place_name, t, &found);
    if (status == MASU_OK)
        status = tl__tensor_new(TL_I64, 0, NULL, out);
    if (status == MASU_OK)
        *(int64_t *)(*out)->data = found.place;
    return status;
}

static masu_status place_dim(const order *order, const tl_tensor *t, int64_t dim, tl_tensor **out) {
    int index;
    masu_status status = check_dim(order->place_name, t, dim, &index);
    if (status == MASU_OK)
        status = rest_new(TL_I64, t, index, out);
    if (status == MASU_OK)
        search_one_dim(order, t, index, NULL, *out);
    return status;
}

/* ---- entry points ---------------------------------------------------------------------------- */

tl_tensor *tl_tensor_max(tl_tensor *t) {
    TL_RETURN_TENSOR(extreme(&largest, t, &out));
}

tl_tensor *tl_tensor_max_dim(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(extreme_dim(&largest, t, dim, &out));
}

tl_tensor *tl_tensor_min(tl_tensor *t) {
    TL_RETURN_TENSOR(extreme(&smallest, t, &out));
}

tl_tensor *tl_tensor_min_dim(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(extreme_dim(&smallest, t, dim, &out));
}

tl_tensor *tl_tensor_argmax(tl_tensor *t) {
    TL_RETURN_TENSOR(place(&largest, t, &out));
}

tl_tensor *tl_tensor_argmax_dim(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(place_dim(&largest, t, dim, &out));
}

tl_tensor *tl_tensor_argmin(tl_tensor *t) {
    TL_RETURN_TENSOR(place(&smallest, t, &out));
}

tl_tensor *tl_tensor_argmin_dim(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(place_dim(&smallest, t, dim, &out));
}
