/* losses.c: what training programs end with, each one number.
 *
 *     mse_loss        mean((a - b)²)                           saves a and b, no difference
 *     cross_entropy   -mean over rows of log_softmax(logits)[target]           saves the logarithms
 *                     -mean over rows of sum(target * log_softmax(logits))     and the targets
 */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/row_fold.h"
#include "runtime/ops/threads.h"
#include "runtime/ops/vector_math.h"
#include "runtime/state.h"

/* ---- mean of squared differences ------------------------------------------------------------- */

/* 2 / n * g * (a - b) for a, the opposite for b. Extra words: the factor 2 / n, rank and shape
 * of a beside b. */
static masu_status mse_backward(tl_pass *pass, tl_node *node) {
    tl_node **inputs = tl__node_inputs(node);
    tl_tensor *const *saved = tl__node_saved(node);
    const uint64_t *extra = tl__node_extra(node);
    const double *numbers = (const double *)(const void *)extra;
    const int64_t *shape = (const int64_t *)(const void *)(extra + 3);
    const tl_tensor *operands[] = {pass->gradient, saved[0], saved[1]};
    tl_tensor *gradient, *opposite;
    masu_status status = tl__map(TL_K_difference_grad, (tl_dtype)node->dtype, (int)extra[2], shape, 3, operands,
                                 numbers, &gradient);
    if (status != MASU_OK || !inputs[1])
        return status == MASU_OK ? tl__deliver(inputs[0], gradient) : status;
    status = tl__scale(gradient, -1.0, &opposite);
    if (status != MASU_OK) {
        tl__tensor_drop(gradient);
        return status;
    }
    status = tl__deliver(inputs[0], gradient);
    if (status != MASU_OK) {
        tl__tensor_drop(opposite);
        return status;
    }
    return tl__deliver(inputs[1], opposite);
}

static void mse_formula(tl_formula *f) {
    const double *factor = (const double *)(const void *)tl__node_extra(f->node);
    tl_tensor *difference = d_sub(f, tl__f_input(f, 0, 0), tl__f_input(f, 1, 1));
    tl_tensor *share = d_mul(f, d_times(f, f->g, *factor), difference);
    tl__f_deliver(f, 0, share);
    if (tl__f_wants(f, 1))
        tl__f_deliver(f, 1, d_neg(f, share));
}

const tl_rule tl__rule_mse = {"mse_loss", mse_backward, mse_formula};

static masu_status mean_of_squares(tl_tensor *difference, tl_tensor **out) {
    const tl_tensor *operands[] = {difference};
    const double numbers[2] = {(double)difference->elements, 0};
    tl__map_into(TL_K_square, difference, 1, operands, NULL);
    masu_status status = tl__sum(difference, out);
    if (status != MASU_OK)
        return status;
    operands[0] = *out;
    tl__map_into(TL_K_div_scalar, *out, 1, operands, numbers);
    return MASU_OK;
}

static masu_status record_mse(tl_tensor *loss, tl_tensor *a, tl_tensor *b, tl_tensor *x, tl_tensor *y, int rank,
                              const int64_t *shape, int64_t elements, tl_tensor **out) {
    uint64_t words[3 + TL_MAX_RANK] = {tl__word(2.0 / (double)elements), 0, (uint64_t)rank};
    for (int i = 0; i < rank; i++)
        words[3 + i] = (uint64_t)shape[i];
    return tl__record_or_drop(loss,
                              &(tl_origin){.rule = &tl__rule_mse,
                                           .input_count = 2,
                                           .inputs = (tl_tensor *[]){a, b},
                                           .saved_count = 2,
                                           .saved = (tl_tensor *[]){x, y},
                                           .extra_count = 3 + rank,
                                           .extra = words},
                              out);
}

/* [4, 1] beside [4] would spread to [4, 4], which no loss means. One number is what every element should be. */
static masu_status check_alike(const tl_tensor *x, const tl_tensor *y) {
    if (x->rank == 0 || y->rank == 0 ||
        (x->rank == y->rank && memcmp(x->shape, y->shape, x->rank * sizeof x->shape[0]) == 0))
        return MASU_OK;
    char one[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    return tl__error(TL_SAY(mse_loss_prediction_shape_beside_target_shape), tl__shape_text(x->rank, x->shape, one),
                     tl__shape_text(y->rank, y->shape, other));
}

/* ---- without a tensor of the differences ----------------------------------------------------- */

enum { TILE_BYTES = 16384, SLICES = 64 };

/* x and y are of one type and shape, and contiguous. */
typedef struct squares {
    const tl_tensor *x, *y;
    tl_total totals[SLICES];
} squares;

#define SQUARES(T, suffix)                                                                          \
    TL_WIDE static void squares_##suffix(int64_t n, const void *one, const void *other, void *to) { \
        const T *x = one, *y = other;                                                               \
        T *out = to;                                                                                \
        for (int64_t i = 0; i < n; i++)                                                             \
            out[i] = (x[i] - y[i]) * (x[i] - y[i]);                                                 \
    }
SQUARES(float, f32)
SQUARES(double, f64)

static void add_slice(squares *s, int64_t from, int64_t to, tl_total *total) {
    _Alignas(64) char tile[TILE_BYTES];
    const tl_dtype dtype = (tl_dtype)s->x->dtype;
    const int64_t size = (int64_t)tl__dtype_size(dtype), most = TILE_BYTES / size;
    for (int64_t at = from; at < to; at += most) {
        const int64_t n = to - at < most ? to - at : most;
        const char *x = (const char *)s->x->data + at * size, *y = (const char *)s->y->data + at * size;
        (dtype == TL_F32 ? squares_f32 : squares_f64)(n, x, y, tile);
        tl__fold_sum[dtype].row(tile, n, 1, total);
    }
}

static void add_some_slices(void *context, int64_t from, int64_t to) {
    squares *s = context;
    const int64_t n = s->x->elements, each = (n + SLICES - 1) / SLICES;
    for (int64_t i = from; i < to; i++)
        add_slice(s, i * each, (i + 1) * each < n ? (i + 1) * each : n, &s->totals[i]);
}

static masu_status mean_square_apart(const tl_tensor *x, const tl_tensor *y, tl_tensor **out) {
    squares s = {.x = x, .y = y};
    double sum = 0;
    tl__in_parts(SLICES, 1, x->elements, add_some_slices, &s);
    for (int i = 0; i < SLICES; i++)
        sum += s.totals[i].real;
    return tl__full((tl_dtype)x->dtype, 0, NULL, sum / (double)x->elements, out);
}

/* x and y: a and b in the type of the result. */
static masu_status mse_converted(tl_tensor *a, tl_tensor *b, tl_tensor *x, tl_tensor *y, tl_tensor **out) {
    int rank = 0;
    int64_t shape[TL_MAX_RANK];
    tl_tensor *difference, *loss;
    const tl_tensor *operands[] = {x, y};
    masu_status status = check_alike(x, y);
    if (status == MASU_OK)
        status = tl__broadcast("mse_loss", x, &rank, shape);
    if (status == MASU_OK)
        status = tl__broadcast("mse_loss", y, &rank, shape);
    if (status != MASU_OK)
        return status;
    int64_t elements = x->elements;
    if (x->contiguous && y->contiguous && tl__same_shape(x, y)) {
        status = mean_square_apart(x, y, &loss);
    } else {
        status = tl__map(TL_K_sub, (tl_dtype)x->dtype, rank, shape, 2, operands, NULL, &difference);
        if (status != MASU_OK)
            return status;
        elements = difference->elements;
        status = mean_of_squares(difference, &loss);
        tl__tensor_drop(difference);
    }
    if (status != MASU_OK)
        return status;
    *out = loss;
    return a->node || b->node ? record_mse(loss, a, b, x, y, rank, shape, elements, out) : MASU_OK;
}

static masu_status mse_loss(tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    tl_dtype dtype = tl__promote((tl_dtype)a->dtype, (tl_dtype)b->dtype);
    if (dtype == TL_I64 || dtype == TL_BOOL)
        dtype = TL_F32;
    tl_tensor *x, *y;
    masu_status status = tl__both_as(a, b, dtype, &x, &y);
    if (status == MASU_OK)
        status = mse_converted(a, b, x, y, out);
    tl__tensor_drop(x);
    tl__tensor_drop(y);
    return status;
}

tl_tensor *tl_tensor_mse_loss(tl_tensor *a, tl_tensor *b) {
    TL_RETURN_TENSOR(mse_loss(a, b, &out));
}

/* ---- cross entropy: rows --------------------------------------------------------------------- */

/* The logarithms of the probabilities, [rows, classes] contiguous. */
typedef struct table {
    tl_dtype dtype;
    int64_t rows, classes;
} table;

static table table_of(const tl_tensor *logits) {
    int64_t rows = 1;
    for (int i = 0; i < logits->rank - 1; i++)
        rows *= logits->shape[i];
    return (table){(tl_dtype)logits->dtype, rows, logits->shape[logits->rank - 1]};
}

static double number_at(tl_dtype dtype, const void *data, int64_t i) {
    return dtype == TL_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static double sum_by_class(const table *table, const void *logs, const int64_t *targets) {
    double sum = 0;
    for (int64_t i = 0; i < table->rows; i++)
        sum += number_at(table->dtype, logs, i * table->classes + targets[i]);
    return sum;
}

static double sum_by_weight(const table *table, const void *logs, const void *weights) {
    double sum = 0;
    for (int64_t i = 0; i < table->rows * table->classes; i++) {
        double weight = number_at(table->dtype, weights, i);
        if (weight != 0) /* 0 * -inf is none of the loss */
            sum += weight * number_at(table->dtype, logs, i);
    }
    return sum;
}

/* to = scale * (exp(logs) - [class = target]) */
#define BY_CLASS_BACKWARD(T)                                               \
    do {                                                                   \
        for (int64_t i = 0; i < table->rows * table->classes; i++)         \
            ((T *)to)[i] = (T)(scale * exp((double)((const T *)logs)[i])); \
        for (int64_t i = 0; i < table->rows; i++)                          \
            ((T *)to)[i * table->classes + targets[i]] -= (T)scale;        \
    } while (0)

static void by_class_backward(const table *table, double scale, const void *logs, const int64_t *targets, void *to) {
    if (table->dtype == TL_F32)
        BY_CLASS_BACKWARD(float);
    else
        BY_CLASS_BACKWARD(double);
}

/* to = scale * (exp(logs) * sum(weights of the row) - weight) */
#define BY_WEIGHT_BACKWARD(T)                                                                                       \
    do {                                                                                                            \
        for (int64_t i = 0; i < table->rows; i++) {                                                                 \
            const T *log = (const T *)logs + i * table->classes;                                                    \
            const T *weight = (const T *)weights + i * table->classes;                                              \
            double total = 0;                                                                                       \
            for (int64_t j = 0; j < table->classes; j++)                                                            \
                total += (double)weight[j];                                                                         \
            for (int64_t j = 0; j < table->classes; j++)                                                            \
                ((T *)to)[i * table->classes + j] = (T)(scale * (exp((double)log[j]) * total - (double)weight[j])); \
        }                                                                                                           \
    } while (0)

static void by_weight_backward(const table *table, double scale, const void *logs, const void *weights, void *to) {
    if (table->dtype == TL_F32)
        BY_WEIGHT_BACKWARD(float);
    else
        BY_WEIGHT_BACKWARD(double);
}

/* ---- cross entropy: history ------------------------------------------------------------------ */

/* Saved: logarithms, targets: i64 classes or weights of the logarithms' type. Inputs: logits,
 * weights. */
static masu_status deliver_logits(const table *table, double scale, tl_node *node) {
    const tl_tensor *logs = tl__node_saved(node)[0], *targets = tl__node_saved(node)[1];
    tl_tensor *gradient;
    masu_status status = tl__tensor_new(table->dtype, logs->rank, logs->shape, &gradient);
    if (status != MASU_OK)
        return status;
    if (targets->dtype == TL_I64)
        by_class_backward(table, scale, logs->data, targets->data, gradient->data);
    else
        by_weight_backward(table, scale, logs->data, targets->data, gradient->data);
    return tl__deliver(tl__node_inputs(node)[0], gradient);
}

static masu_status cross_entropy_backward(tl_pass *pass, tl_node *node) {
    tl_node **inputs = tl__node_inputs(node);
    const tl_tensor *logs = tl__node_saved(node)[0];
    const table table = table_of(logs);
    double scale = number_at(table.dtype, pass->gradient->data, 0) / (double)table.rows;
    masu_status status = inputs[0] ? deliver_logits(&table, scale, node) : MASU_OK;
    if (node->input_count < 2 || !inputs[1] || status != MASU_OK)
        return status;
    tl_tensor *gradient;
    status = tl__scale(logs, -scale, &gradient);
    return status == MASU_OK ? tl__deliver(inputs[1], gradient) : status;
}

/* Targets as weights: given, or 1 at each row's class. */
static tl_tensor *weights_of(tl_formula *f, const tl_tensor *logs) {
    const tl_tensor *targets = tl__node_saved(f->node)[1];
    if (targets->dtype != TL_I64)
        return f->node->input_count > 1 ? tl__f_input(f, 1, 1) : tl__f_constant(f, 1);
    tl_tensor *zeros = d_zeros(f, (tl_dtype)logs->dtype, logs->rank, logs->shape);
    tl_tensor *classes = d_insert(f, tl__f_constant(f, 1), -1), *ones;
    if (!zeros || !classes)
        return NULL;
    ones = tl__f_keep(f, tl_tensor_to_dtype(d_ones_like(f, classes), logs->dtype));
    return ones ? tl__f_keep(f, tl_tensor_scatter(zeros, -1, classes, ones)) : NULL;
}

/* The logarithms again, from nothing that was saved: they are not a result, and so have no history of their own. Their
 * gradient is that of the logits: softmax(logits) is exp(logs), whose slope is known by it. */
static void cross_entropy_formula(tl_formula *f) {
    const tl_tensor *saved = tl__node_saved(f->node)[0];
    const table table = table_of(saved);
    tl_tensor *scale = d_over(f, f->g, (double)table.rows), *logs = tl__f_constant(f, 0);
    tl_tensor *x = logs;
    if (!scale || !logs)
        return;
    if (f->tracks && tl__node_inputs(f->node)[0]) {
        /* log_softmax of its own result is that result: so the history is that of log_softmax of the logits. */
        tl_tensor *shown = tl__f_input(f, 0, 0);
        x = shown ? tl__f_keep(f, tl_tensor_log_softmax(shown, -1)) : NULL;
    }
    tl_tensor *weights = weights_of(f, saved);
    if (!x || !weights)
        return;
    if (tl__f_wants(f, 0)) {
        tl_tensor *total = d_sum_dim(f, weights, weights->rank - 1);
        tl__f_deliver(f, 0, d_mul(f, scale, d_sub(f, d_mul(f, d_exp(f, x), total), weights)));
    }
    if (tl__f_wants(f, 1))
        tl__f_deliver(f, 1, d_neg(f, d_mul(f, scale, x)));
}

const tl_rule tl__rule_cross_entropy = {"cross_entropy", cross_entropy_backward, cross_entropy_formula};

/* ---- cross entropy: the operation ------------------------------------------------------------ */

/* Whether targets has the shape of logits without dimension `classes`: class numbers. */
static bool is_by_class(const tl_tensor *logits, const tl_tensor *targets, int classes) {
    bool fits = logits->rank > classes && targets->rank == logits->rank - 1;
    for (int i = 0; fits && i < targets->rank; i++)
        fits = targets->shape[i] == logits->shape[i + (i >= classes)];
    return fits;
}

static masu_status check_classes(const table *table, const int64_t *targets) {
    for (int64_t i = 0; i < table->rows; i++)
        if (targets[i] < 0 || targets[i] >= table->classes)
            return tl__error(TL_SAY(cross_entropy_class_is_out_range_for), targets[i], table->classes);
    return MASU_OK;
}

/* logs and targets are ready: contiguous, of the right types. */
static masu_status cross_entropy_of(tl_tensor *logits, tl_tensor *weights, tl_tensor *logs, tl_tensor *targets,
                                    tl_tensor **out) {
    const table table = table_of(logs);
    masu_status status = MASU_OK;
    bool by_class = targets->dtype == TL_I64;
    if (by_class)
        status = check_classes(&table, targets->data);
    if (status != MASU_OK)
        return status;
    double sum = by_class ? sum_by_class(&table, logs->data, targets->data)
                          : sum_by_weight(&table, logs->data, targets->data);
    status = tl__full(table.dtype, 0, NULL, -sum / (double)table.rows, out);
    if (status != MASU_OK || (!logits->node && (by_class || !weights->node)))
        return status;
    return tl__record_or_drop(*out,
                              &(tl_origin){.rule = &tl__rule_cross_entropy,
                                           .input_count = by_class ? 1 : 2,
                                           .inputs = (tl_tensor *[]){logits, weights},
                                           .saved_count = 2,
                                           .saved = (tl_tensor *[]){logs, targets}},
                              out);
}

/* Classes along the last dimension. */
static masu_status by_rows(tl_tensor *logits, tl_tensor *targets, bool by_class, tl_tensor **out) {
    tl_tensor *logs, *ready;
    masu_status status = tl__log_softmax(logits, logits->rank - 1, &logs);
    if (status != MASU_OK)
        return status;
    status = by_class ? tl__dense_places("cross_entropy", targets, &ready)
                      : tl__dense_as(targets, (tl_dtype)logs->dtype, &ready);
    if (status == MASU_OK) {
        status = cross_entropy_of(logits, targets, logs, ready, out);
        tl__tensor_drop(ready);
    }
    tl__tensor_drop(logs);
    return status;
}

/* Classes along dimension 1 of [n, classes, ..]: they go to the end. */
static masu_status by_columns(tl_tensor *logits, tl_tensor *targets, bool by_class, tl_tensor **out) {
    int order[TL_MAX_RANK] = {0}, rank = logits->rank;
    for (int i = 1; i < rank; i++)
        order[i] = i == rank - 1 ? 1 : i + 1;
    tl_tensor *rows, *weights = targets;
    masu_status status = tl__permute_recorded(logits, order, &rows);
    if (status != MASU_OK)
        return status;
    if (!by_class)
        status = tl__permute_recorded(targets, order, &weights);
    if (status == MASU_OK)
        status = by_rows(rows, weights, by_class, out);
    if (!by_class && weights != targets)
        tl__tensor_drop(weights);
    tl__tensor_drop(rows);
    return status;
}

/* Where both readings of three and more dimensions fit, PyTorch's holds: dimension 1. */
static masu_status cross_entropy(tl_tensor *logits, tl_tensor *targets, tl_tensor **out) {
    bool deep = logits->rank > 2, weights = logits->rank > 0 && tl__same_shape(logits, targets);
    if (deep && (weights || is_by_class(logits, targets, 1)))
        return by_columns(logits, targets, !weights, out);
    bool by_class = logits->rank > 0 && is_by_class(logits, targets, logits->rank - 1);
    if (by_class || weights)
        return by_rows(logits, targets, by_class, out);
    char shape[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    return tl__error(TL_SAY(cross_entropy_logits_shape_need_class_or),
                     tl__shape_text(logits->rank, logits->shape, shape),
                     tl__shape_text(targets->rank, targets->shape, other));
}

tl_tensor *tl_tensor_cross_entropy(tl_tensor *logits, tl_tensor *targets) {
    TL_RETURN_TENSOR(cross_entropy(logits, targets, &out));
}
