/* reduce.c: sums, means, products over all elements or over one dimension.
 *
 *     over all    rows of the tensor, one after the other, into one total;
 *                 of a large one, totals of SLICES slices, cut by its length alone, then the total of those
 *     over dim    the tensor without dim is walked row by row; at each place
 *                   dim lies densest:    one total a place
 *                   a row lies densest:  the row's totals side by side, reading along memory
 *
 * backward of a sum costs nothing: the gradient is shown with stride 0 in the dimension that
 * vanished.
 */
#include <string.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/row_fold.h"
#include "runtime/ops/threads.h"
#include "runtime/state.h"

/* ---- over all -------------------------------------------------------------------------------- */

typedef struct fold_all {
    const tl_fold *fold;
    tl_total total;
} fold_all;

static void fold_all_row(void *context, const void *data, int64_t n, int64_t stride) {
    fold_all *all = context;
    all->fold->row(data, n, stride, &all->total);
}

enum { SLICES = 64 };

typedef struct fold_slices {
    const tl_fold *fold;
    const char *data;
    int64_t n, each, size; /* elements of all, elements of a slice, bytes of an element */
    tl_total totals[SLICES];
} fold_slices;

static void fold_some_slices(void *context, int64_t from, int64_t to) {
    fold_slices *s = context;
    for (int64_t i = from; i < to; i++) {
        int64_t first = i * s->each, n = s->n - first < s->each ? s->n - first : s->each;
        s->totals[i] = s->fold->start;
        if (n > 0)
            s->fold->row(s->data + first * s->size, n, 1, &s->totals[i]);
    }
}

static tl_total fold_large(const tl_fold *folds, const tl_tensor *t) {
    fold_slices s = {.fold = &folds[t->dtype],
                     .data = t->data,
                     .n = t->elements,
                     .each = (t->elements + SLICES - 1) / SLICES,
                     .size = (int64_t)tl__dtype_size((tl_dtype)t->dtype)};
    tl__in_parts(SLICES, 1, t->elements, fold_some_slices, &s);
    tl_total total = s.fold->start;
    const int64_t apart = sizeof(tl_total) / sizeof(double);
    folds[TL_F64].row(&s.totals[0].real, SLICES, apart, &total);
    folds[TL_I64].row(&s.totals[0].whole, SLICES, apart, &total);
    return total;
}

static masu_status fold_tensor(const tl_fold *folds, const tl_tensor *t, tl_tensor **out) {
    const tl_fold *fold = &folds[t->dtype];
    masu_status status = tl__tensor_new((tl_dtype)t->dtype, 0, NULL, out);
    if (status != MASU_OK)
        return status;
    fold_all all = {fold, fold->start};
    if (t->contiguous && t->elements >= TL_LARGE_LOOP)
        all.total = fold_large(folds, t);
    else
        tl__rows(t, fold_all_row, &all);
    fold->store(&all.total, (*out)->data);
    return MASU_OK;
}

/* ---- over one dimension ---------------------------------------------------------------------- */

typedef struct fold_dim {
    const tl_fold *fold;
    int64_t n, stride; /* of the dimension that vanishes */
    size_t size;       /* of an element */
    char *out;         /* next result */
} fold_dim;

static void fold_dim_row(void *context, const void *data, int64_t n, int64_t stride) {
    fold_dim *dim = context;
    const tl_fold *fold = dim->fold;
    if (stride == 1 && n > 1 && dim->stride != 1) {
        fold->columns(data, dim->n, dim->stride, n, dim->out);
    } else {
        const char *from = data;
        for (int64_t j = 0; j < n; j++) {
            tl_total total = fold->start;
            fold->row(from + j * stride * (int64_t)dim->size, dim->n, dim->stride, &total);
            fold->store(&total, dim->out + (size_t)j * dim->size);
        }
    }
    dim->out += (size_t)n * dim->size;
}

/* t without dimension dim, as a header on the stack, good for tl__rows. */
static tl_tensor rest_of(const tl_tensor *t, int dim) {
    tl_tensor rest = *t;
    rest.rank--;
    rest.elements = 1;
    rest.contiguous = false;
    for (int i = 0; i < rest.rank; i++) {
        rest.shape[i] = t->shape[i + (i >= dim)];
        rest.stride[i] = t->stride[i + (i >= dim)];
        rest.elements = rest.shape[i] == 0 ? 0 : rest.elements;
    }
    return rest;
}

/* Over a dimension of length 0: the fold of nothing everywhere. */
static void fold_nothing(const tl_fold *fold, tl_tensor *out) {
    size_t size = tl__dtype_size((tl_dtype)out->dtype);
    for (int64_t i = 0; i < out->elements; i++)
        fold->store(&fold->start, (char *)out->data + (size_t)i * size);
}

/* A large row-major tensor as [outer, n, inner]: n vanishes. */
typedef struct fold_blocks {
    const tl_fold *fold;
    const char *data;
    char *out;
    int64_t outer, n, inner, size;
} fold_blocks;

static void fold_some_outer(void *context, int64_t from, int64_t to) {
    const fold_blocks *b = context;
    for (int64_t i = from; i < to; i++) {
        const char *block = b->data + i * b->n * b->inner * b->size;
        char *out = b->out + i * b->inner * b->size;
        if (b->inner > 1) {
            b->fold->columns(block, b->n, b->inner, b->inner, out);
            continue;
        }
        tl_total total = b->fold->start;
        b->fold->row(block, b->n, 1, &total);
        b->fold->store(&total, out);
    }
}

static void fold_some_columns(void *context, int64_t from, int64_t to) {
    const fold_blocks *b = context;
    b->fold->columns(b->data + from * b->size, b->n, b->inner, to - from, b->out + from * b->size);
}

static void fold_large_dim(const tl_fold *folds, const tl_tensor *t, int dim, tl_tensor *out) {
    fold_blocks b = {
        &folds[t->dtype], t->data, out->data, 1, t->shape[dim], 1, (int64_t)tl__dtype_size((tl_dtype)t->dtype)};
    for (int i = 0; i < t->rank; i++)
        *(i < dim ? &b.outer : &b.inner) *= i == dim ? 1 : t->shape[i];
    if (b.outer == 1 && b.inner > 1)
        tl__in_parts(b.inner, TL_CACHE_LINE, t->elements, fold_some_columns, &b);
    else
        tl__in_parts(b.outer, 1, t->elements, fold_some_outer, &b);
}

static masu_status fold_one_dim(const tl_fold *folds, const tl_tensor *t, int dim, tl_tensor **out) {
    tl_tensor rest = rest_of(t, dim);
    masu_status status = tl__tensor_new((tl_dtype)t->dtype, rest.rank, rest.shape, out);
    if (status != MASU_OK)
        return status;
    if (t->shape[dim] == 0) {
        fold_nothing(&folds[t->dtype], *out);
        return MASU_OK;
    }
    if (t->contiguous && t->elements >= TL_LARGE_LOOP) {
        fold_large_dim(folds, t, dim, *out);
        return MASU_OK;
    }
    fold_dim context = {.fold = &folds[t->dtype],
                        .n = t->shape[dim],
                        .stride = t->stride[dim],
                        .size = tl__dtype_size((tl_dtype)t->dtype),
                        .out = (*out)->data};
    tl__rows(&rest, fold_dim_row, &context);
    return MASU_OK;
}

/* ---- sums ------------------------------------------------------------------------------------ */

masu_status tl__sum(const tl_tensor *t, tl_tensor **out) {
    return fold_tensor(tl__fold_sum, t, out);
}

masu_status tl__sum_dim(const tl_tensor *t, int dim, tl_tensor **out) {
    return fold_one_dim(tl__fold_sum, t, dim, out);
}

/* *t is replaced by next, whose making ended with status; on failure *t is given up. */
static masu_status advance(masu_status status, tl_tensor **t, tl_tensor *next) {
    tl__tensor_drop(*t);
    *t = status == MASU_OK ? next : NULL;
    return status;
}

static masu_status sum_leading(tl_tensor **t, int leading) {
    masu_status status = MASU_OK;
    tl_tensor *next;
    if (leading > 1 && (*t)->contiguous) {
        int64_t shape[TL_MAX_RANK], rows = 1;
        for (int i = 0; i < leading; i++)
            rows *= (*t)->shape[i];
        shape[0] = rows;
        memcpy(shape + 1, (*t)->shape + leading, sizeof shape[0] * (size_t)((*t)->rank - leading));
        status = tl__reshape(*t, (*t)->rank - leading + 1, shape, &next);
        status = advance(status, t, next);
        leading = 1;
    }
    for (; leading > 0 && status == MASU_OK; leading--) {
        status = tl__sum_dim(*t, 0, &next);
        status = advance(status, t, next);
    }
    return status;
}

static masu_status sum_and_keep(tl_tensor **t, int dim) {
    tl_tensor *sum, *kept;
    masu_status status = tl__sum_dim(*t, dim, &sum);
    status = advance(status, t, sum);
    if (status != MASU_OK)
        return status;
    status = tl__insert_dim(*t, dim, 1, &kept);
    return advance(status, t, kept);
}

masu_status tl__sum_to(tl_tensor *t, int rank, const int64_t *shape, tl_tensor **out) {
    tl__tensor_retain(t);
    tl_tensor *sum = t;
    masu_status status = sum_leading(&sum, t->rank - rank);
    for (int i = 0; i < rank && status == MASU_OK; i++)
        if (sum->shape[i] != shape[i])
            status = sum_and_keep(&sum, i);
    *out = sum;
    return status;
}

/* ---- history --------------------------------------------------------------------------------- */

enum { ALL = -1 };

/* Extra words: the dimension or ALL, and the factor of a mean. */
static masu_status sum_backward(tl_pass *pass, tl_node *node) {
    tl_node *input = tl__node_inputs(node)[0];
    const int64_t dim = (int64_t)tl__node_extra(node)[0];
    const double *factor = (const double *)(const void *)&tl__node_extra(node)[1];
    masu_status status = MASU_OK;
    tl_tensor *gradient = pass->gradient, *wide;
    if (*factor != 1.0) {
        const tl_tensor *operands[] = {gradient};
        const double numbers[2] = {*factor, 0};
        status = tl__destination(pass, node, TL_SPENT_GRADIENT, &gradient);
        if (status != MASU_OK)
            return status;
        tl__map_into(TL_K_mul_scalar, gradient, 1, operands, numbers);
    } else {
        gradient = tl__take_gradient(pass);
    }
    if (dim == ALL)
        status = tl__expand(gradient, input->rank, tl__node_shape(input), &wide);
    else
        status = tl__insert_dim(gradient, (int)dim, tl__node_shape(input)[dim], &wide);
    tl__tensor_drop(gradient);
    return status == MASU_OK ? tl__deliver(input, wide) : status;
}

static void sum_formula(tl_formula *f) {
    tl_node *input = tl__node_inputs(f->node)[0];
    const int64_t dim = (int64_t)tl__node_extra(f->node)[0];
    const double *factor = (const double *)(const void *)&tl__node_extra(f->node)[1];
    tl_tensor *g = *factor != 1.0 ? d_times(f, f->g, *factor) : f->g;
    if (dim != ALL)
        g = d_insert(f, g, (int)dim);
    tl__f_deliver(f, 0, d_expand(f, g, input->rank, tl__node_shape(input)));
}

const tl_rule tl__rule_sum = {"sum", sum_backward, sum_formula};
const tl_rule tl__rule_mean = {"mean", sum_backward, sum_formula};

static masu_status record_sum(const tl_rule *rule, tl_tensor *result, tl_tensor *t, int dim, double factor,
                              tl_tensor **out) {
    *out = result;
    if (!t->node)
        return MASU_OK;
    const uint64_t words[2] = {(uint64_t)(int64_t)dim, tl__word(factor)};
    return tl__record_or_drop(
        result, &(tl_origin){.rule = rule, .input_count = 1, .inputs = &t, .extra_count = 2, .extra = words}, out);
}

/* x: t in a type that can be folded. */
static masu_status fold_any(const tl_fold *folds, const tl_tensor *x, int dim, tl_tensor **out) {
    return dim == ALL ? fold_tensor(folds, x, out) : fold_one_dim(folds, x, dim, out);
}

static masu_status fold_as(const tl_fold *folds, tl_tensor *t, tl_dtype dtype, int dim, tl_tensor **out) {
    if (MASU_LIKELY(t->dtype == dtype))
        return fold_any(folds, t, dim, out);
    tl_tensor *x;
    masu_status status = tl__as_dtype(t, dtype, &x);
    if (status == MASU_OK)
        status = fold_any(folds, x, dim, out);
    tl__tensor_drop(x);
    return status;
}

static tl_dtype sum_dtype(const tl_tensor *t) {
    return t->dtype == TL_BOOL ? TL_I64 : (tl_dtype)t->dtype;
}

static masu_status sum(tl_tensor *t, int dim, tl_tensor **out) {
    tl_tensor *result;
    masu_status status = fold_as(tl__fold_sum, t, sum_dtype(t), dim, &result);
    return status == MASU_OK ? record_sum(&tl__rule_sum, result, t, dim, 1.0, out) : status;
}

static masu_status mean(tl_tensor *t, int dim, tl_tensor **out) {
    tl_tensor *result;
    const double count = (double)(dim == ALL ? t->elements : t->shape[dim]);
    masu_status status = fold_as(tl__fold_sum, t, tl__float_dtype(t), dim, &result);
    if (status != MASU_OK)
        return status;
    const tl_tensor *operands[] = {result};
    const double numbers[2] = {count, 0}; /* times 1 / count would be rounded twice */
    tl__map_into(TL_K_div_scalar, result, 1, operands, numbers);
    return record_sum(&tl__rule_mean, result, t, dim, 1.0 / count, out);
}

static masu_status sum_dim(tl_tensor *t, int64_t dim, tl_tensor **out) {
    int index;
    masu_status status = tl__dimension("sum", t, dim, &index);
    return status == MASU_OK ? sum(t, index, out) : status;
}

static masu_status mean_dim(tl_tensor *t, int64_t dim, tl_tensor **out) {
    int index;
    masu_status status = tl__dimension("mean", t, dim, &index);
    return status == MASU_OK ? mean(t, index, out) : status;
}

/* ---- product --------------------------------------------------------------------------------- */

/* d/dx_i = product of the others: the product of all before and of all behind i, so that zeros
 * need no care. */
#define PRODUCT_BACKWARD(T)                                                  \
    do {                                                                     \
        const T *from = x->data;                                             \
        T *to = share->data;                                                 \
        double before = *(const T *)gradient->data, behind = 1;              \
        for (int64_t i = 0; i < x->elements; before *= (double)from[i], i++) \
            to[i] = (T)before;                                               \
        for (int64_t i = x->elements; i-- > 0; behind *= (double)from[i])    \
            to[i] = (T)((double)to[i] * behind);                             \
    } while (0)

static masu_status product_backward(tl_pass *pass, tl_node *node) {
    const tl_tensor *gradient = pass->gradient;
    tl_tensor *x, *share;
    masu_status status = tl__tensor_contiguous(tl__node_saved(node)[0], &x);
    if (status != MASU_OK)
        return status;
    status = tl__tensor_new((tl_dtype)x->dtype, x->rank, x->shape, &share);
    if (status == MASU_OK) {
        if (x->dtype == TL_F32)
            PRODUCT_BACKWARD(float);
        else
            PRODUCT_BACKWARD(double);
    }
    tl__tensor_drop(x);
    return status == MASU_OK ? tl__deliver(tl__node_inputs(node)[0], share) : status;
}

/* The product of each row of [n, m], halving m each time. */
static tl_tensor *row_products(tl_formula *f, tl_tensor *t) {
    while (t && t->shape[1] > 1) {
        int64_t half = t->shape[1] / 2, rest = t->shape[1] - 2 * half;
        tl_tensor *pairs = d_mul(f, d_narrow(f, t, 1, 0, half), d_narrow(f, t, 1, half, half));
        tl_tensor *last = rest ? d_narrow(f, t, 1, 2 * half, 1) : NULL;
        t = !pairs || (rest && !last) ? NULL : rest ? tl__f_keep(f, tl_tensor_cat(pairs, last, 1)) : pairs;
    }
    return t;
}

/* Row i holds the others of element i and a 1: zeros need no case of their own. n² elements. */
static void product_formula(tl_formula *f) {
    tl_tensor *x = tl__f_input(f, 0, 0);
    if (!x || x->elements == 0)
        return;
    const int64_t n = x->elements, square[2] = {n, n};
    tl_tensor *row = d_expand(f, d_reshape(f, x, 1, &n), 2, square);
    tl_tensor *own = tl__f_keep(f, tl_tensor_eye(n)), *one = d_ones_like(f, x);
    tl_tensor *others = d_where(f, own, d_reshape(f, one, 1, &n), row);
    tl_tensor *slope = d_reshape(f, row_products(f, others), x->rank, x->shape);
    tl__f_deliver(f, 0, d_mul(f, f->g, slope));
}

const tl_rule tl__rule_product = {"prod", product_backward, product_formula};

static masu_status product(tl_tensor *t, tl_tensor **out) {
    masu_status status = fold_as(tl__fold_product, t, sum_dtype(t), ALL, out);
    if (status != MASU_OK || !t->node)
        return status;
    return tl__record_or_drop(
        *out, &(tl_origin){.rule = &tl__rule_product, .input_count = 1, .inputs = &t, .saved_count = 1, .saved = &t},
        out);
}

/* ---- entry points ---------------------------------------------------------------------------- */

tl_tensor *tl_tensor_sum(tl_tensor *t) {
    TL_RETURN_TENSOR(sum(t, ALL, &out));
}

tl_tensor *tl_tensor_sum_dim(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(sum_dim(t, dim, &out));
}

tl_tensor *tl_tensor_mean(tl_tensor *t) {
    TL_RETURN_TENSOR(mean(t, ALL, &out));
}

tl_tensor *tl_tensor_mean_dim(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(mean_dim(t, dim, &out));
}

tl_tensor *tl_tensor_prod(tl_tensor *t) {
    TL_RETURN_TENSOR(product(t, &out));
}
