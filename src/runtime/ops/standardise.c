/* standardise.c: lines of the last dimension with mean 0 and variance 1, which norms of layers, groups and batches are
 * made of.
 *
 *     y = (x - m) / s      m = mean(x), s = √(mean((x - m)²) + eps)
 *     dx = (g - mean(g) - y mean(g y)) / s
 *
 * standardise_to also scales and shifts, w y + b, while the line is near: the same bits as three operations, without
 * history.
 *
 * Saved for backward are y and 1 / s of each line. Sums are carried in f64, in lanes that are added in a fixed order.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")
#endif

#include <math.h>
#include <string.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"
#include "runtime/ops/vector_math.h"
#include "runtime/state.h"

enum { LANES = 16 };

/* The sum over i < n of an expression in i. */
#define SUM(result, expression)                    \
    do {                                           \
        double lane_[LANES] = {0};                 \
        int64_t at_ = 0;                           \
        for (; at_ + LANES <= n; at_ += LANES)     \
            for (int l_ = 0; l_ < LANES; l_++) {   \
                const int64_t i = at_ + l_;        \
                lane_[l_] += (double)(expression); \
            }                                      \
        for (int l_ = 1; l_ < LANES; l_++)         \
            lane_[0] += lane_[l_];                 \
        for (int64_t i = at_; i < n; i++)          \
            lane_[0] += (double)(expression);      \
        result = lane_[0];                         \
    } while (0)

/* lines [from, to) of n elements; rates, weight with bias: NULL where not wanted */
typedef struct work {
    int64_t n;
    double eps;
    const void *x, *y, *weight, *bias;
    void *to, *rates;
} work;

#define LINES(T, suffix)                                                              \
    TL_WIDE static void forward_##suffix(const work *w, int64_t from, int64_t to) {   \
        const int64_t n = w->n;                                                       \
        const T *weight = w->weight, *bias = w->bias;                                 \
        for (int64_t line = from; line < to; line++) {                                \
            const T *x = (const T *)w->x + line * n;                                  \
            T *y = (T *)w->to + line * n;                                             \
            double sum, squares;                                                      \
            SUM(sum, x[i]);                                                           \
            const T mean = (T)(sum / (double)n);                                      \
            SUM(squares, (x[i] - mean) * (x[i] - mean));                              \
            const T rate = (T)(1 / sqrt(squares / (double)n + w->eps));               \
            if (weight)                                                               \
                for (int64_t i = 0; i < n; i++)                                       \
                    y[i] = (x[i] - mean) * rate * weight[i] + bias[i];                \
            else                                                                      \
                for (int64_t i = 0; i < n; i++)                                       \
                    y[i] = (x[i] - mean) * rate;                                      \
            if (w->rates)                                                             \
                ((T *)w->rates)[line] = rate;                                         \
        }                                                                             \
    }                                                                                 \
    TL_WIDE static void back_##suffix(const work *w, int64_t from, int64_t to) {      \
        const int64_t n = w->n;                                                       \
        for (int64_t line = from; line < to; line++) {                                \
            const T *g = (const T *)w->x + line * n, *y = (const T *)w->y + line * n; \
            T *dx = (T *)w->to + line * n;                                            \
            double sum, along;                                                        \
            SUM(sum, g[i]);                                                           \
            SUM(along, g[i] * y[i]);                                                  \
            const T mean = (T)(sum / (double)n), slope = (T)(along / (double)n);      \
            const T rate = ((const T *)w->rates)[line];                               \
            for (int64_t i = 0; i < n; i++)                                           \
                dx[i] = (g[i] - mean - y[i] * slope) * rate;                          \
        }                                                                             \
    }

LINES(float, f32)
LINES(double, f64)

#define IN_PARTS(direction, suffix)                                                  \
    static void direction##_some_##suffix(void *context, int64_t from, int64_t to) { \
        direction##_##suffix(context, from, to);                                     \
    }
IN_PARTS(forward, f32)
IN_PARTS(forward, f64)
IN_PARTS(back, f32)
IN_PARTS(back, f64)

/* Saved: the result, the rates. */
static masu_status standardise_backward(tl_pass *pass, tl_node *node) {
    tl_tensor *dx;
    masu_status status = tl__contiguous_gradient(pass);
    if (status != MASU_OK)
        return status;
    work w = {.x = pass->gradient->data, .y = tl__node_saved(node)[0]->data, .rates = tl__node_saved(node)[1]->data};
    int64_t count = tl__node_saved(node)[1]->elements;
    status = tl__destination(pass, node, TL_SPENT_GRADIENT | 1u, &dx);
    if (status != MASU_OK)
        return status;
    w.to = dx->data;
    w.n = count > 0 ? dx->elements / count : 0;
    if (dx->elements > 0)
        tl__in_parts(count, 1, dx->elements, dx->dtype == TL_F32 ? back_some_f32 : back_some_f64, &w);
    return tl__deliver(tl__node_inputs(node)[0], dx);
}

/* The rates r = 1 / s depend on x, too: dr = -r² / n · y dx. Inputs: x, and y for the factor beside r in that. Saved:
 * y, r. */
static void rate_formula(tl_formula *f) {
    tl_tensor *y = tl__f_input(f, 0, 1), *r = tl__f_result(f, 1);
    if (!y || !r)
        return;
    const double n = (double)y->shape[y->rank - 1];
    tl__f_deliver(f, 0, d_mul(f, d_mul(f, f->g, d_over(f, d_square(f, r), -n)), y));
}

static const tl_rule rate_rule = {"standardise", NULL, rate_formula};

/* With the history that the node itself did not keep; a column beside the lines of y. */
static tl_tensor *rates_of(tl_formula *f, tl_tensor *y) {
    int64_t shape[TL_MAX_RANK];
    tl_tensor *x = tl__f_input(f, 0, 0), *r = tl__f_constant(f, 1);
    if (!x || !y || !r)
        return NULL;
    memcpy(shape, y->shape, sizeof shape);
    shape[y->rank - 1] = 1;
    r = d_reshape(f, r, y->rank, shape);
    if (!r || !f->tracks)
        return r;
    tl_tensor *column;
    masu_status status = tl__tensor_view(r, &column);
    if (status == MASU_OK)
        status = tl__record_or_drop(column,
                                    &(tl_origin){.rule = &rate_rule,
                                                 .input_count = 2,
                                                 .inputs = (tl_tensor *[]){x, y},
                                                 .saved_count = 2,
                                                 .saved = (tl_tensor *[]){y, column}},
                                    &column);
    if (status == MASU_OK)
        return tl__f_keep(f, column);
    tl__f_fail(f, status);
    return NULL;
}

static tl_tensor *line_mean(tl_formula *f, tl_tensor *t) {
    return t ? d_over(f, d_sum_dim(f, t, t->rank - 1), (double)t->shape[t->rank - 1]) : NULL;
}

static void standardise_formula(tl_formula *f) {
    tl_tensor *y = tl__f_result(f, 0), *r = rates_of(f, y);
    tl_tensor *rest = d_sub(f, f->g, line_mean(f, f->g));
    rest = d_sub(f, rest, d_mul(f, y, line_mean(f, d_mul(f, f->g, y))));
    tl__f_deliver(f, 0, d_mul(f, rest, r));
}

static const tl_rule rule = {"standardise", standardise_backward, standardise_formula};

/* x: row-major, floating. rates: a number for each line. */
static masu_status standardise_dense(const tl_tensor *x, double eps, tl_tensor **out, tl_tensor **rates) {
    int64_t n = x->shape[x->rank - 1], count = n > 0 ? x->elements / n : 0;
    masu_status status = tl__tensor_new((tl_dtype)x->dtype, 1, &count, rates);
    if (status != MASU_OK)
        return status;
    status = tl__tensor_new((tl_dtype)x->dtype, x->rank, x->shape, out);
    if (status != MASU_OK) {
        tl__tensor_drop(*rates);
        return status;
    }
    work w = {.n = n, .eps = eps, .x = x->data, .to = (*out)->data, .rates = (*rates)->data};
    if (x->elements > 0)
        tl__in_parts(count, 1, x->elements, x->dtype == TL_F32 ? forward_some_f32 : forward_some_f64, &w);
    return MASU_OK;
}

static masu_status standardise(tl_tensor *t, double eps, tl_tensor **out) {
    int last;
    tl_tensor *x = NULL, *dense = NULL, *rates;
    masu_status status = tl__dimension("layer_norm", t, -1, &last);
    if (status == MASU_OK)
        status = tl__as_dtype(t, tl__float_dtype(t), &x);
    if (status == MASU_OK)
        status = tl__tensor_contiguous(x, &dense);
    if (status == MASU_OK) {
        status = standardise_dense(dense, eps, out, &rates);
        tl__tensor_drop(dense);
    }
    tl__tensor_drop(x);
    if (status != MASU_OK)
        return status;
    if (t->node) {
        tl_tensor *saved[] = {*out, rates};
        status = tl__record_or_drop(
            *out, &(tl_origin){.rule = &rule, .input_count = 1, .inputs = &t, .saved_count = 2, .saved = saved}, out);
    }
    tl__tensor_drop(rates);
    return status;
}

tl_tensor *tl_tensor_standardise(tl_tensor *t, double eps) {
    TL_RETURN_TENSOR(standardise(t, eps, &out));
}

/* ---- scaled and shifted ---------------------------------------------------------------------- */

/* Whether part has the shape of t's last dimensions, t's type, and lies row by row. */
static bool is_tail(const tl_tensor *t, const tl_tensor *part) {
    if (part->rank > t->rank || part->dtype != t->dtype || !part->contiguous)
        return false;
    for (int i = 0; i < part->rank; i++)
        if (part->shape[i] != t->shape[t->rank - part->rank + i])
            return false;
    return true;
}

static bool near_lines(const tl_tensor *t, const tl_tensor *weight, const tl_tensor *bias) {
    return tl__is_float(t) && !t->node && !weight->node && !bias->node && is_tail(t, weight) && is_tail(t, bias) &&
           weight->rank == bias->rank && weight->elements > 0;
}

static masu_status scaled_lines(tl_tensor *t, const tl_tensor *weight, const tl_tensor *bias, double eps,
                                tl_tensor **out) {
    tl_tensor *x = NULL;
    masu_status status = tl__tensor_contiguous(t, &x);
    if (status == MASU_OK)
        status = tl__tensor_new((tl_dtype)x->dtype, x->rank, x->shape, out);
    if (status == MASU_OK) {
        work w = {.n = weight->elements,
                  .eps = eps,
                  .x = x->data,
                  .to = (*out)->data,
                  .weight = weight->data,
                  .bias = bias->data};
        if (x->elements > 0)
            tl__in_parts(x->elements / w.n, 1, x->elements, x->dtype == TL_F32 ? forward_some_f32 : forward_some_f64,
                         &w);
    }
    tl__tensor_drop(x);
    return status;
}

/* Drops t, which is spent, and passes on the result. */
static tl_tensor *instead_of(tl_tensor *t, tl_tensor *result) {
    tl__tensor_drop(t);
    return result;
}

/* Of other types, tracked, or broadcast. */
static tl_tensor *in_steps(tl_tensor *t, tl_tensor *weight, tl_tensor *bias, double eps) {
    tl_tensor *y = tl_tensor_reshape(t, 2, (int64_t[]){-1, weight->elements});
    y = y ? instead_of(y, tl_tensor_standardise(y, eps)) : NULL;
    y = y ? instead_of(y, tl_tensor_reshape(y, t->rank, t->shape)) : NULL;
    y = y ? instead_of(y, tl_tensor_mul(y, weight)) : NULL;
    return y ? instead_of(y, tl_tensor_add(y, bias)) : NULL;
}

tl_tensor *tl_tensor_standardise_to(tl_tensor *t, tl_tensor *weight, tl_tensor *bias, double eps) {
    if (!near_lines(t, weight, bias))
        return in_steps(t, weight, bias, eps);
    TL_RETURN_TENSOR(scaled_lines(t, weight, bias, eps, &out));
}
