/* softmax.c: softmax and its logarithm along one dimension.
 *
 *     [outer.., n, inner..]: outer * inner lines of n elements, `inner` apart
 *
 * The line's largest element is taken off first, so that no exponential overflows. Saved for
 * backward is the result:
 *     softmax       dx = y * (g - sum(g * y))
 *     log_softmax   dx = g - exp(y) * sum(g)
 */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")
#endif

#include <string.h>
#include <tgmath.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"
#include "runtime/ops/vector_math.h"
#include "runtime/state.h"

/* y = result of x; one line each. In place is fine. */
typedef void line_function(const void *x, void *y, int64_t n);
/* dx from y and g; dx may be g. */
typedef void line_back_function(const void *y, const void *g, void *dx, int64_t n, int64_t stride);

/* The same of `columns` lines that lie side by side: reads along memory. */
typedef void columns_function(const void *x, void *y, int64_t n, int64_t stride, int64_t columns);

typedef struct soft_operation {
    tl_rule rule;
    line_function *forward[2];
    columns_function *columns[2];
    line_back_function *back[2];
} soft_operation;

/* ---- lines ----------------------------------------------------------------------------------- */

/* The other where no x is below -87. */
#define exp_of(x)      _Generic((x), float : tl__exp_f32((float)(x)), default : exp(x))
#define exp_near_of(x) _Generic((x), float : tl__exp_below_0_f32((float)(x)), default : exp(x))

/* Part of each clone of the loop that calls it. */
#define ALWAYS static inline __attribute__((always_inline))

/* The result of a line may lie on it: an element is read before the one in its place is written. */
#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

/* Largest ones and sums are carried in lanes, so that the loops become vectors; how they are added up is fixed. PART:
 * what is made of a line before it is added up, near enough to be in the first cache then. */
enum { LANES = 16, BLOCK = 64, PART = 1024 };

#define LINE_EXTREME(name, better, T, suffix)                               \
    ALWAYS T line_##name##_##suffix(const T *x, int64_t n) {                \
        T best = x[0];                                                      \
        int64_t i = 0;                                                      \
        if (n >= BLOCK) {                                                   \
            T lane[BLOCK];                                                  \
            for (int l = 0; l < BLOCK; l++)                                 \
                lane[l] = x[l];                                             \
            for (i = BLOCK; i + BLOCK <= n; i += BLOCK)                     \
                for (int l = 0; l < BLOCK; l++)                             \
                    lane[l] = x[i + l] better lane[l] ? x[i + l] : lane[l]; \
            for (int l = 0; l < BLOCK; l++)                                 \
                best = lane[l] better best ? lane[l] : best;                \
        }                                                                   \
        for (; i < n; i++)                                                  \
            best = x[i] better best ? x[i] : best;                          \
        return best;                                                        \
    }

#define LINES(T, suffix)                                                                                               \
    LINE_EXTREME(largest, >, T, suffix)                                                                                \
    LINE_EXTREME(least, <, T, suffix)                                                                                  \
    /* y = exp(x - largest), or only their sum where y is NULL */                                                      \
    ALWAYS double exponentials_##suffix(const T *x, T *y, int64_t n, T largest) {                                      \
        const bool near = line_least_##suffix(x, n) >= largest - 87;                                                   \
        double lane[LANES] = {0}, sum = 0;                                                                             \
        T room[PART];                                                                                                  \
        for (int64_t i = 0; i < n; i += PART) {                                                                        \
            const int64_t width = n - i < PART ? n - i : PART;                                                         \
            T *e = y ? y + i : room;                                                                                   \
            if (near) {                                                                                                \
                INDEPENDENT                                                                                            \
                for (int64_t j = 0; j < width; j++)                                                                    \
                    e[j] = exp_near_of((T)(x[i + j] - largest));                                                       \
            } else {                                                                                                   \
                INDEPENDENT                                                                                            \
                for (int64_t j = 0; j < width; j++)                                                                    \
                    e[j] = exp_of((T)(x[i + j] - largest));                                                            \
            }                                                                                                          \
            int64_t j = 0;                                                                                             \
            for (; j + LANES <= width; j += LANES)                                                                     \
                for (int l = 0; l < LANES; l++)                                                                        \
                    lane[l] += (double)e[j + l];                                                                       \
            for (int l = 0; j + l < width; l++)                                                                        \
                lane[l] += (double)e[j + l];                                                                           \
        }                                                                                                              \
        for (int l = 0; l < LANES; l++)                                                                                \
            sum += lane[l];                                                                                            \
        return sum;                                                                                                    \
    }                                                                                                                  \
    TL_WIDE static void softmax_##suffix(const void *from, void *to, int64_t n) {                                      \
        T *y = to;                                                                                                     \
        const T factor = (T)(1 / exponentials_##suffix(from, y, n, line_largest_##suffix(from, n)));                   \
        for (int64_t i = 0; i < n; i++)                                                                                \
            y[i] *= factor;                                                                                            \
    }                                                                                                                  \
    TL_WIDE static void log_softmax_##suffix(const void *from, void *to, int64_t n) {                                  \
        const T *x = from;                                                                                             \
        T *y = to;                                                                                                     \
        const T largest = line_largest_##suffix(x, n);                                                                 \
        const T shift = largest + (T)log(exponentials_##suffix(x, NULL, n, largest));                                  \
        INDEPENDENT                                                                                                    \
        for (int64_t i = 0; i < n; i++)                                                                                \
            y[i] = x[i] - shift;                                                                                       \
    }                                                                                                                  \
    ALWAYS void block_largest_##suffix(const T *x, int64_t n, int64_t stride, int64_t width, T *largest) {             \
        for (int64_t j = 0; j < width; j++)                                                                            \
            largest[j] = x[j];                                                                                         \
        for (int64_t k = 1; k < n; k++)                                                                                \
            for (int64_t j = 0; j < width; j++)                                                                        \
                largest[j] = x[k * stride + j] > largest[j] ? x[k * stride + j] : largest[j];                          \
    }                                                                                                                  \
    TL_WIDE static void softmax_columns_##suffix(const void *from, void *to, int64_t n, int64_t stride,                \
                                                 int64_t columns) {                                                    \
        for (int64_t first = 0; first < columns; first += BLOCK) {                                                     \
            const T *x = (const T *)from + first;                                                                      \
            T *y = (T *)to + first, largest[BLOCK];                                                                    \
            double sum[BLOCK] = {0};                                                                                   \
            int64_t width = columns - first < BLOCK ? columns - first : BLOCK;                                         \
            block_largest_##suffix(x, n, stride, width, largest);                                                      \
            for (int64_t k = 0; k < n; k++) {                                                                          \
                for (int64_t j = 0; j < width; j++)                                                                    \
                    y[k * stride + j] = exp_of((T)(x[k * stride + j] - largest[j]));                                   \
                for (int64_t j = 0; j < width; j++)                                                                    \
                    sum[j] += (double)y[k * stride + j];                                                               \
            }                                                                                                          \
            for (int64_t j = 0; j < width; j++)                                                                        \
                largest[j] = (T)(1 / sum[j]);                                                                          \
            for (int64_t k = 0; k < n; k++)                                                                            \
                for (int64_t j = 0; j < width; j++)                                                                    \
                    y[k * stride + j] *= largest[j];                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    TL_WIDE static void log_softmax_columns_##suffix(const void *from, void *to, int64_t n, int64_t stride,            \
                                                     int64_t columns) {                                                \
        for (int64_t first = 0; first < columns; first += BLOCK) {                                                     \
            const T *x = (const T *)from + first;                                                                      \
            T *y = (T *)to + first, largest[BLOCK], e[BLOCK];                                                          \
            double sum[BLOCK] = {0};                                                                                   \
            int64_t width = columns - first < BLOCK ? columns - first : BLOCK;                                         \
            block_largest_##suffix(x, n, stride, width, largest);                                                      \
            for (int64_t k = 0; k < n; k++) {                                                                          \
                for (int64_t j = 0; j < width; j++)                                                                    \
                    e[j] = exp_of((T)(x[k * stride + j] - largest[j]));                                                \
                for (int64_t j = 0; j < width; j++)                                                                    \
                    sum[j] += (double)e[j];                                                                            \
            }                                                                                                          \
            for (int64_t j = 0; j < width; j++)                                                                        \
                largest[j] += (T)log(sum[j]);                                                                          \
            for (int64_t k = 0; k < n; k++)                                                                            \
                for (int64_t j = 0; j < width; j++)                                                                    \
                    y[k * stride + j] = x[k * stride + j] - largest[j];                                                \
        }                                                                                                              \
    }                                                                                                                  \
    static void softmax_back_##suffix(const void *result, const void *gradient, void *to, int64_t n, int64_t stride) { \
        const T *y = result, *g = gradient;                                                                            \
        T *dx = to;                                                                                                    \
        double sum = 0;                                                                                                \
        for (int64_t i = 0; i < n; i++)                                                                                \
            sum += (double)g[i * stride] * (double)y[i * stride];                                                      \
        const T mean = (T)sum;                                                                                         \
        for (int64_t i = 0; i < n; i++)                                                                                \
            dx[i * stride] = y[i * stride] * (g[i * stride] - mean);                                                   \
    }                                                                                                                  \
    static void log_softmax_back_##suffix(const void *result, const void *gradient, void *to, int64_t n,               \
                                          int64_t stride) {                                                            \
        const T *y = result, *g = gradient;                                                                            \
        T *dx = to;                                                                                                    \
        double sum = 0;                                                                                                \
        for (int64_t i = 0; i < n; i++)                                                                                \
            sum += (double)g[i * stride];                                                                              \
        const T total = (T)sum;                                                                                        \
        for (int64_t i = 0; i < n; i++)                                                                                \
            dx[i * stride] = g[i * stride] - exp_of(y[i * stride]) * total;                                            \
    }

LINES(float, f32)
LINES(double, f64)

/* ---- all lines of a tensor ------------------------------------------------------------------- */

typedef struct lines {
    int64_t outer, n, inner;
    int64_t size; /* of an element */
} lines;

static lines lines_of(const tl_tensor *t, int dim) {
    lines lines = {1, t->shape[dim], 1, (int64_t)tl__dtype_size((tl_dtype)t->dtype)};
    for (int i = 0; i < dim; i++)
        lines.outer *= t->shape[i];
    for (int i = dim + 1; i < t->rank; i++)
        lines.inner *= t->shape[i];
    if (t->elements == 0)
        lines.outer = 0;
    return lines;
}

/* Where line i begins, in bytes. */
static int64_t line_start(const lines *lines, int64_t i) {
    return (i / lines->inner * lines->n * lines->inner + i % lines->inner) * lines->size;
}

typedef struct forward_work {
    line_function *line;
    columns_function *columns;
    lines lines;
    const char *x;
    char *y;
} forward_work;

static void forward_some(void *context, int64_t from, int64_t to) {
    const forward_work *w = context;
    int64_t inner = w->lines.inner;
    for (int64_t i = from, count; i < to; i += count) {
        int64_t start = line_start(&w->lines, i), side = inner - i % inner;
        count = side < to - i ? side : to - i;
        if (inner == 1)
            w->line(w->x + start, w->y + start, w->lines.n);
        else
            w->columns(w->x + start, w->y + start, w->lines.n, inner, count);
    }
}

/* x and y contiguous, of one shape. */
static void forward_lines(const soft_operation *operation, const tl_tensor *x, tl_tensor *y, int dim) {
    forward_work w = {operation->forward[x->dtype], operation->columns[x->dtype], lines_of(x, dim), x->data, y->data};
    int64_t count = w.lines.outer * w.lines.inner;
    if (count > 0)
        tl__in_parts(count, 1, x->elements, forward_some, &w);
}

static masu_status soft(const soft_operation *operation, tl_tensor *t, int dim, tl_tensor **out) {
    tl_tensor *x, *dense = NULL;
    tl_dtype dtype = tl__float_dtype(t);
    masu_status status = tl__as_dtype(t, dtype, &x);
    if (status == MASU_OK)
        status = tl__tensor_contiguous(x, &dense);
    if (status == MASU_OK) {
        status = tl__tensor_new(dtype, t->rank, t->shape, out);
        if (status == MASU_OK)
            forward_lines(operation, dense, *out, dim);
        tl__tensor_drop(dense);
    }
    tl__tensor_drop(x);
    return status;
}

/* ---- history --------------------------------------------------------------------------------- */

typedef struct back_work {
    line_back_function *line;
    lines lines;
    const char *y, *g;
    char *dx;
} back_work;

static void back_some(void *context, int64_t from, int64_t to) {
    const back_work *w = context;
    for (int64_t i = from; i < to; i++) {
        int64_t start = line_start(&w->lines, i);
        w->line(w->y + start, w->g + start, w->dx + start, w->lines.n, w->lines.inner);
    }
}

/* Extra word: the dimension. */
static masu_status soft_backward(tl_pass *pass, tl_node *node) {
    const soft_operation *operation = (const soft_operation *)(const void *)node->rule;
    tl_tensor *dx;
    masu_status status = tl__contiguous_gradient(pass);
    if (status != MASU_OK)
        return status;
    const char *y = tl__node_saved(node)[0]->data, *g = pass->gradient->data;
    status = tl__destination(pass, node, TL_SPENT_GRADIENT | 1u, &dx);
    if (status != MASU_OK)
        return status;
    back_work w = {operation->back[dx->dtype], lines_of(dx, (int)tl__node_extra(node)[0]), y, g, dx->data};
    int64_t count = w.lines.outer * w.lines.inner;
    if (count > 0)
        tl__in_parts(count, 1, dx->elements, back_some, &w);
    return tl__deliver(tl__node_inputs(node)[0], dx);
}

static void softmax_formula(tl_formula *f) {
    tl_tensor *y = tl__f_result(f, 0);
    tl_tensor *along = d_sum_dim(f, d_mul(f, f->g, y), (int)tl__node_extra(f->node)[0]);
    tl__f_deliver(f, 0, d_mul(f, y, d_sub(f, f->g, along)));
}

static void log_softmax_formula(tl_formula *f) {
    tl_tensor *along = d_sum_dim(f, f->g, (int)tl__node_extra(f->node)[0]);
    tl__f_deliver(f, 0, d_sub(f, f->g, d_mul(f, d_exp(f, tl__f_result(f, 0)), along)));
}

static const soft_operation softmax_operation = {{"softmax", soft_backward, softmax_formula},
                                                 {softmax_f32, softmax_f64},
                                                 {softmax_columns_f32, softmax_columns_f64},
                                                 {softmax_back_f32, softmax_back_f64}};
static const soft_operation log_softmax_operation = {{"log_softmax", soft_backward, log_softmax_formula},
                                                     {log_softmax_f32, log_softmax_f64},
                                                     {log_softmax_columns_f32, log_softmax_columns_f64},
                                                     {log_softmax_back_f32, log_softmax_back_f64}};

masu_status tl__log_softmax(tl_tensor *t, int dim, tl_tensor **out) {
    return soft(&log_softmax_operation, t, dim, out);
}

static masu_status soft_recorded(const soft_operation *operation, tl_tensor *t, int64_t dim, tl_tensor **out) {
    int index;
    masu_status status = tl__dimension(operation->rule.name, t, dim, &index);
    if (status == MASU_OK)
        status = soft(operation, t, index, out);
    if (status != MASU_OK || !t->node)
        return status;
    const uint64_t word = (uint64_t)index;
    return tl__record_or_drop(*out,
                              &(tl_origin){.rule = &operation->rule,
                                           .input_count = 1,
                                           .inputs = &t,
                                           .saved_count = 1,
                                           .saved = out,
                                           .extra_count = 1,
                                           .extra = &word},
                              out);
}

tl_tensor *tl_tensor_softmax(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(soft_recorded(&softmax_operation, t, dim, &out));
}

tl_tensor *tl_tensor_log_softmax(tl_tensor *t, int64_t dim) {
    TL_RETURN_TENSOR(soft_recorded(&log_softmax_operation, t, dim, &out));
}
