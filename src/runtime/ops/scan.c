/* scan.c: running sums, and orders: which elements along a dimension are the largest.
 *
 * cumsum's backward is the running sum of the gradient from the end. The numbers that topk and sort yield are
 * i64 and have no gradient; the values are then gathered by them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"
#include "runtime/state.h"

/* outer * inner lines of n elements, inner apart, in a row-major tensor. */
typedef struct lines {
    int64_t outer, n, inner;
} lines;

static lines lines_of(const tl_tensor *t, int dim) {
    lines l = {1, t->shape[dim], 1};
    for (int i = 0; i < dim; i++)
        l.outer *= t->shape[i];
    for (int i = dim + 1; i < t->rank; i++)
        l.inner *= t->shape[i];
    return l;
}

/* ---- running sums ---------------------------------------------------------------------------- */

#define RUNNING(T, WIDE)                                                  \
    do {                                                                  \
        WIDE sum = 0;                                                     \
        for (int64_t i = 0; i < l.n; i++) {                               \
            int64_t at = start + (backwards ? l.n - 1 - i : i) * l.inner; \
            sum += (WIDE)((const T *)from->data)[at];                     \
            ((T *)to->data)[at] = (T)sum;                                 \
        }                                                                 \
    } while (0)

typedef struct running_work {
    const tl_tensor *from;
    tl_tensor *to;
    lines lines;
    bool backwards;
} running_work;

static void running_lines(void *context, int64_t begin, int64_t end) {
    const running_work *w = context;
    const tl_tensor *from = w->from;
    tl_tensor *to = w->to;
    const lines l = w->lines;
    bool backwards = w->backwards;
    for (int64_t i = begin; i < end; i++) {
        int64_t start = i / l.inner * l.n * l.inner + i % l.inner;
        if (from->dtype == TL_F32)
            RUNNING(float, double);
        else if (from->dtype == TL_F64)
            RUNNING(double, double);
        else
            RUNNING(int64_t, uint64_t);
    }
}

static void running(const tl_tensor *from, tl_tensor *to, int dim, bool backwards) {
    running_work work = {from, to, lines_of(from, dim), backwards};
    if (from->elements > 0)
        tl__in_parts(work.lines.outer * work.lines.inner, work.lines.inner > 1 ? TL_CACHE_LINE : 1,
                     from->elements, running_lines, &work);
}

static masu_status cumsum_backward(tl_pass *pass, tl_node *node) {
    masu_status status = tl__contiguous_gradient(pass);
    tl_tensor *dx;
    if (status == MASU_OK)
        status = tl__tensor_new((tl_dtype)pass->gradient->dtype, pass->gradient->rank,
                                pass->gradient->shape, &dx);
    if (status != MASU_OK)
        return status;
    running(pass->gradient, dx, (int)tl__node_extra(node)[0], true);
    return tl__deliver(tl__node_inputs(node)[0], dx);
}

/* The running sum from the end: that of the lines turned round, turned back. */
static tl_tensor *turned_round(tl_formula *f, tl_tensor *t, int dim) {
    if (!t)
        return NULL;
    int64_t n = t->shape[dim];
    tl_tensor *order = tl__f_keep(f, tl_tensor_arange((double)(n - 1), -1.0, -1.0));
    return order ? tl__f_keep(f, tl_tensor_index_select(t, dim, order)) : NULL;
}

static void cumsum_formula(tl_formula *f) {
    int dim = (int)tl__node_extra(f->node)[0];
    tl_tensor *turned = turned_round(f, f->g, dim);
    tl_tensor *sum = turned ? tl__f_keep(f, tl_tensor_cumsum(turned, dim)) : NULL;
    tl__f_deliver(f, 0, turned_round(f, sum, dim));
}

const tl_rule tl__rule_cumsum = {"cumsum", cumsum_backward, cumsum_formula};

static masu_status cumsum_ready(tl_tensor *t, int dim, tl_tensor **out) {
    tl_tensor *x, *dense;
    masu_status status = tl__as_dtype(t, t->dtype == TL_BOOL ? TL_I64 : (tl_dtype)t->dtype, &x);
    if (status == MASU_OK)
        status = tl__tensor_contiguous(x, &dense);
    tl__tensor_drop(x);
    if (status != MASU_OK)
        return status;
    status = tl__tensor_new((tl_dtype)dense->dtype, dense->rank, dense->shape, out);
    if (status == MASU_OK)
        running(dense, *out, dim, false);
    tl__tensor_drop(dense);
    return status;
}

static masu_status cumsum(tl_tensor *t, int64_t dim, tl_tensor **out) {
    int at;
    masu_status status = tl__dimension("cumsum", t, dim, &at);
    if (status == MASU_OK)
        status = cumsum_ready(t, at, out);
    if (status != MASU_OK || !t->node)
        return status;
    const uint64_t word = (uint64_t)at;
    return tl__record_or_drop(*out,
                              &(tl_origin){.rule = &tl__rule_cumsum,
                                           .input_count = 1,
                                           .inputs = &t,
                                           .extra_count = 1,
                                           .extra = &word},
                              out);
}

tl_tensor *tl_tensor_cumsum(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(cumsum(t, dim, &out));
}

/* ---- orders ---------------------------------------------------------------------------------- */

typedef struct ranked {
    double value;
    int64_t index;
} ranked;

/* NaN counts as the largest, equal ones keep their order. */
static int descending(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    bool x_nan = x->value != x->value, y_nan = y->value != y->value;
    if (x_nan != y_nan)
        return x_nan ? -1 : 1;
    if (!x_nan && x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int ascending(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    bool x_nan = x->value != x->value, y_nan = y->value != y->value;
    if (x_nan != y_nan)
        return x_nan ? 1 : -1;
    if (!x_nan && x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Few of many: the best so far are in order, and most elements do not beat the last of them. */
enum { FEW = 128 };

typedef struct few_work {
    lines l;
    const double *x;
    int64_t k;
    bool largest;
    int64_t *out;
} few_work;

static int64_t insert_best(ranked *best, int64_t count, int64_t k, ranked x, bool largest) {
    int64_t at = count < k ? count : k - 1;
    while (at > 0 && (largest ? descending(&x, &best[at - 1]) : ascending(&x, &best[at - 1])) < 0) {
        best[at] = best[at - 1];
        at--;
    }
    best[at] = x;
    return count < k ? count + 1 : k;
}

static void rank_few(void *context, int64_t from, int64_t to) {
    const few_work *w = context;
    ranked best[FEW];
    for (int64_t i = from; i < to; i++) {
        const double *x = w->x + i / w->l.inner * w->l.n * w->l.inner + i % w->l.inner;
        int64_t *out = w->out + i / w->l.inner * w->k * w->l.inner + i % w->l.inner, count = 0;
        for (int64_t j = 0; j < w->l.n; j++) {
            double value = x[j * w->l.inner], last = count == w->k ? best[w->k - 1].value : 0;
            if (count == w->k && (w->largest ? value <= last : value >= last))
                continue; /* not so where one is NaN */
            ranked next = {value, j};
            if (count < w->k || (w->largest ? descending : ascending)(&next, &best[w->k - 1]) < 0)
                count = insert_best(best, count, w->k, next, w->largest);
        }
        for (int64_t j = 0; j < w->k; j++)
            out[j * w->l.inner] = best[j].index;
    }
}

/* t is row-major f64. */
static void rank_lines(const tl_tensor *t, int dim, int64_t k, bool largest, ranked *room,
                       int64_t *out) {
    const lines l = lines_of(t, dim);
    const double *x = t->data;
    for (int64_t i = 0; i < l.outer * l.inner; i++) {
        int64_t start = i / l.inner * l.n * l.inner + i % l.inner;
        int64_t to = i / l.inner * k * l.inner + i % l.inner;
        for (int64_t j = 0; j < l.n; j++)
            room[j] = (ranked){x[start + j * l.inner], j};
        qsort(room, (size_t)l.n, sizeof *room, largest ? descending : ascending);
        for (int64_t j = 0; j < k; j++)
            out[to + j * l.inner] = room[j].index;
    }
}

static masu_status order_ready(const tl_tensor *t, int dim, int64_t k, bool largest,
                               tl_tensor **out) {
    int64_t shape[TL_MAX_RANK];
    void *room;
    memcpy(shape, t->shape, sizeof shape);
    shape[dim] = k;
    size_t bytes = (size_t)t->shape[dim] * sizeof(ranked);
    masu_status status = tl__alloc(bytes + 1, &room);
    if (status != MASU_OK)
        return status;
    status = tl__tensor_new(TL_I64, t->rank, shape, out);
    few_work few = {lines_of(t, dim), t->data, k, largest, NULL};
    if (status == MASU_OK && t->elements > 0 && k > 0 && k <= FEW && k < t->shape[dim]) {
        few.out = (*out)->data;
        tl__in_parts(few.l.outer * few.l.inner, 1, t->elements, rank_few, &few);
    } else if (status == MASU_OK && t->elements > 0) {
        rank_lines(t, dim, k, largest, room, (*out)->data);
    }
    tl__free(room, bytes + 1);
    return status;
}

static masu_status order(tl_tensor *t, int64_t k, int64_t dim, bool largest, tl_tensor **out) {
    int at;
    tl_tensor *x, *dense;
    masu_status status = tl__dimension("topk", t, dim, &at);
    if (status == MASU_OK && k < 0)
        k = t->shape[at];
    if (status == MASU_OK && k > t->shape[at])
        status = tl__error(TL_SAY(topk_elements_dimension_length), k, t->shape[at]);
    if (status == MASU_OK)
        status = tl__as_dtype(t, TL_F64, &x);
    if (status != MASU_OK)
        return status;
    status = tl__tensor_contiguous(x, &dense);
    tl__tensor_drop(x);
    if (status != MASU_OK)
        return status;
    status = order_ready(dense, at, k, largest, out);
    tl__tensor_drop(dense);
    return status;
}

tl_tensor *tl_tensor_order(tl_tensor *t, int64_t k, int64_t dim, bool largest) {
    TL_RETURN_TENSOR(order(t, k, dim, largest, &out));
}
