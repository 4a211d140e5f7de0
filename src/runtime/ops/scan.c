/* scan.c: running sums. cumsum's backward is the running sum of the gradient from the end. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"
#include "runtime/ops/vector_math.h"
#include "runtime/state.h"

/* ---- running sums ---------------------------------------------------------------------------- */

/* `width` lines whose elements lie `apart` from each other, line to line, and `step` along each: a sum waits for the
 * one before it, so several lines keep the processor busy. */
#define RUNNING(T, WIDE, suffix)                                                                                       \
    static inline __attribute__((always_inline)) void bundle_##suffix(const T *from, T *to, int64_t n, int64_t step,   \
                                                                      int64_t apart, int width) {                      \
        WIDE sum[BUNDLE] = {0};                                                                                        \
        for (int64_t i = 0; i < n; i++, from += step, to += step)                                                      \
            for (int k = 0; k < width; k++) {                                                                          \
                sum[k] += (WIDE)from[k * apart];                                                                       \
                to[k * apart] = (T)sum[k];                                                                             \
            }                                                                                                          \
    }                                                                                                                  \
    TL_WIDE static void run_bundle_##suffix(const T *from, T *to, int64_t n, int64_t step, int64_t apart, int width) { \
        if (width == BUNDLE && apart == 1)                                                                             \
            bundle_##suffix(from, to, n, step, 1, BUNDLE);                                                             \
        else if (width == FEW)                                                                                         \
            bundle_##suffix(from, to, n, step, apart, FEW);                                                            \
        else                                                                                                           \
            bundle_##suffix(from, to, n, step, apart, width);                                                          \
    }

/* Lines side by side; lines one behind the other. */
enum { BUNDLE = 32, FEW = 4 };

RUNNING(float, double, f32)
RUNNING(double, double, f64)
RUNNING(int64_t, uint64_t, i64)

typedef struct running_work {
    const tl_tensor *from;
    tl_tensor *to;
    tl_lines lines;
    bool backwards;
} running_work;

static void run_at(const running_work *w, int64_t at, int64_t apart, int width) {
    const int64_t n = w->lines.n, step = w->backwards ? -w->lines.inner : w->lines.inner;
    at += w->backwards ? (n - 1) * w->lines.inner : 0;
    if (w->from->dtype == TL_F32)
        run_bundle_f32((const float *)w->from->data + at, (float *)w->to->data + at, n, step, apart, width);
    else if (w->from->dtype == TL_F64)
        run_bundle_f64((const double *)w->from->data + at, (double *)w->to->data + at, n, step, apart, width);
    else
        run_bundle_i64((const int64_t *)w->from->data + at, (int64_t *)w->to->data + at, n, step, apart, width);
}

static void running_lines(void *context, int64_t begin, int64_t end) {
    const running_work *w = context;
    const tl_lines l = w->lines;
    int64_t width;
    for (int64_t i = begin; i < end; i += width) {
        const int64_t beside = l.inner > 1 ? l.inner - i % l.inner : FEW, most = l.inner > 1 ? BUNDLE : FEW;
        width = end - i < beside ? end - i : beside;
        width = width < most ? width : most;
        run_at(w, i / l.inner * l.n * l.inner + i % l.inner, l.inner > 1 ? 1 : l.n, (int)width);
    }
}

static void running(const tl_tensor *from, tl_tensor *to, int dim, bool backwards) {
    running_work work = {from, to, tl__lines_of(from, dim), backwards};
    if (from->elements > 0)
        tl__in_parts(work.lines.outer * work.lines.inner, work.lines.inner > 1 ? TL_CACHE_LINE : 1, from->elements,
                     running_lines, &work);
}

static masu_status cumsum_backward(tl_pass *pass, tl_node *node) {
    masu_status status = tl__contiguous_gradient(pass);
    tl_tensor *dx;
    if (status == MASU_OK)
        status = tl__tensor_new((tl_dtype)pass->gradient->dtype, pass->gradient->rank, pass->gradient->shape, &dx);
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
    return tl__record_or_drop(
        *out, &(tl_origin){.rule = &tl__rule_cumsum, .input_count = 1, .inputs = &t, .extra_count = 1, .extra = &word},
        out);
}

tl_tensor *tl_tensor_cumsum(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(cumsum(t, dim, &out));
}
