/* scan.c: running sums. cumsum's backward is the running sum of the gradient from the end. */

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"
#include "runtime/state.h"

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
    tl_lines lines;
    bool backwards;
} running_work;

static void running_lines(void *context, int64_t begin, int64_t end) {
    const running_work *w = context;
    const tl_tensor *from = w->from;
    tl_tensor *to = w->to;
    const tl_lines l = w->lines;
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
    running_work work = {from, to, tl__lines_of(from, dim), backwards};
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
