/* windows.c: triangles of matrices, padding, and the windows that convolutions and pools slide over an image.
 *
 *     unfold  [n, c, h, w] ─► [n, c * kh * kw, places]     one column of numbers for each place of the window
 *
 * A convolution is then one product with the kernel as a matrix; a pool takes the largest or the mean of each column.
 * What lies outside of the image counts as `fill`. backward adds each number back to where it came from.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#include <inttypes.h>
#include <string.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"
#include "runtime/ops/vector_math.h"
#include "runtime/ops/windows.h"
#include "runtime/state.h"

/* ---- triangles ------------------------------------------------------------------------------- */

/* Elements with column - row > k (below: < k) become 0. to is row-major. */
static void clear_triangle(tl_tensor *to, int64_t k, bool above) {
    int64_t rows = to->shape[to->rank - 2], columns = to->shape[to->rank - 1];
    size_t size = tl__dtype_size((tl_dtype)to->dtype);
    for (int64_t i = 0; i < to->elements; i++) {
        int64_t row = i / columns % rows, column = i % columns;
        if (above ? column - row > k : column - row < k)
            memset((char *)to->data + (size_t)i * size, 0, size);
    }
}

static masu_status triangle_of(const tl_tensor *t, int64_t k, bool above, tl_tensor **out) {
    masu_status status = tl__copy(t, out);
    if (status == MASU_OK)
        clear_triangle(*out, k, above);
    return status;
}

/* Extra words: k and which triangle vanished. */
static masu_status triangle_backward(tl_pass *pass, tl_node *node) {
    const uint64_t *extra = tl__node_extra(node);
    tl_tensor *dx;
    masu_status status = triangle_of(pass->gradient, (int64_t)extra[0], extra[1] != 0, &dx);
    return status == MASU_OK ? tl__deliver(tl__node_inputs(node)[0], dx) : status;
}

static void triangle_formula(tl_formula *f) {
    const uint64_t *extra = tl__node_extra(f->node);
    tl__f_deliver(
        f, 0,
        tl__f_keep(f, extra[1] ? tl_tensor_tril(f->g, (int64_t)extra[0]) : tl_tensor_triu(f->g, (int64_t)extra[0])));
}

const tl_rule tl__rule_tril = {"tril", triangle_backward, triangle_formula};
const tl_rule tl__rule_triu = {"triu", triangle_backward, triangle_formula};

static masu_status triangle(tl_tensor *t, int64_t k, bool above, tl_tensor **out) {
    if (t->rank < 2)
        return tl__error(TL_SAY(tensor_rank_is_no_matrix), above ? "tril" : "triu", t->rank);
    masu_status status = triangle_of(t, k, above, out);
    if (status != MASU_OK || !t->node)
        return status;
    const uint64_t words[2] = {(uint64_t)k, above};
    return tl__record_or_drop(*out,
                              &(tl_origin){.rule = above ? &tl__rule_tril : &tl__rule_triu,
                                           .input_count = 1,
                                           .inputs = &t,
                                           .extra_count = 2,
                                           .extra = words},
                              out);
}

tl_tensor *tl_tensor_tril(tl_tensor *t, int64_t k) {
    TL_RETURN_TENSOR(triangle(t, k, true, &out));
}

tl_tensor *tl_tensor_triu(tl_tensor *t, int64_t k) {
    TL_RETURN_TENSOR(triangle(t, k, false, &out));
}

/* ---- padding --------------------------------------------------------------------------------- */

/* The part of whole that t lies in: pads are before and behind, last dimension first, as PyTorch has them. */
static masu_status inner_part(const tl_tensor *whole, int pairs, const int64_t *pads, tl_tensor **out) {
    tl_tensor *part;
    masu_status status = tl__tensor_view(whole, &part);
    for (int i = 0; i < pairs && status == MASU_OK; i++) {
        int dim = whole->rank - 1 - i;
        tl_tensor *next;
        status = tl__narrow(part, dim, pads[2 * i], whole->shape[dim] - pads[2 * i] - pads[2 * i + 1], &next);
        tl__tensor_drop(part);
        part = next;
    }
    *out = part;
    return status;
}

static masu_status pad_backward(tl_pass *pass, tl_node *node) {
    const int64_t *extra = (const int64_t *)(const void *)tl__node_extra(node);
    tl_tensor *part;
    masu_status status = inner_part(pass->gradient, (int)extra[0], extra + 1, &part);
    return status == MASU_OK ? tl__deliver(tl__node_inputs(node)[0], part) : status;
}

static void pad_formula(tl_formula *f) {
    const int64_t *extra = (const int64_t *)(const void *)tl__node_extra(f->node);
    tl_tensor *part = f->g;
    for (int i = 0; i < (int)extra[0] && part; i++) {
        int dim = f->node->rank - 1 - i;
        const int64_t *pair = extra + 1 + 2 * i;
        if (pair[0] || pair[1])
            part = d_narrow(f, part, dim, pair[0], part->shape[dim] - pair[0] - pair[1]);
    }
    tl__f_deliver(f, 0, part);
}

const tl_rule tl__rule_pad = {"pad", pad_backward, pad_formula};

static masu_status padded(const tl_tensor *t, int pairs, const int64_t *pads, double value, tl_tensor **out) {
    int64_t shape[TL_MAX_RANK];
    tl_tensor *part;
    memcpy(shape, t->shape, sizeof shape);
    for (int i = 0; i < pairs; i++)
        shape[t->rank - 1 - i] += pads[2 * i] + pads[2 * i + 1];
    masu_status status = tl__full((tl_dtype)t->dtype, t->rank, shape, value, out);
    if (status != MASU_OK)
        return status;
    status = inner_part(*out, pairs, pads, &part);
    if (status == MASU_OK) {
        if (t->elements > 0)
            tl__map_into(TL_K_copy, part, 1, &t, NULL);
        tl__tensor_drop(part);
    } else {
        tl__tensor_drop(*out);
    }
    return status;
}

static masu_status pad(tl_tensor *t, double value, int64_t count, const int64_t *pads, tl_tensor **out) {
    bool good = count % 2 == 0 && count / 2 <= t->rank;
    for (int64_t i = 0; i < count; i++)
        if (pads[i] < 0 || pads[i] >= INT64_C(1) << 40)
            return tl__error(TL_SAY(pad_is_no_length_margin), pads[i]);
    if (!good)
        return tl__error(TL_SAY(pad_two_lengths_for_each_dimension_from), count, t->rank);
    masu_status status = padded(t, (int)count / 2, pads, value, out);
    if (status != MASU_OK || !t->node)
        return status;
    uint64_t words[1 + 2 * TL_MAX_RANK] = {(uint64_t)(count / 2)};
    for (int64_t i = 0; i < count; i++)
        words[1 + i] = (uint64_t)pads[i];
    return tl__record_or_drop(
        *out,
        &(tl_origin){
            .rule = &tl__rule_pad, .input_count = 1, .inputs = &t, .extra_count = 1 + (int)count, .extra = words},
        out);
}

tl_tensor *tl_tensor_pad(tl_tensor *t, double value, int64_t pads_count, int64_t const *pads) {
    TL_RETURN_TENSOR(pad(t, value, pads_count, pads, &out));
}

/* ---- windows --------------------------------------------------------------------------------- */

bool tl__sliding_of(const tl_tensor *t, const int64_t *w, tl_sliding *out) {
    *out = (tl_sliding){.images = t->shape[0] * t->shape[1], .height = t->shape[2], .width = t->shape[3]};
    for (int d = 0; d < 2; d++) {
        out->kernel[d] = w[KERNEL_H + d];
        out->stride[d] = w[STRIDE_H + d];
        out->padding[d] = w[PADDING_H + d];
        out->dilation[d] = w[DILATION_H + d];
        int64_t length = (d == 0 ? out->height : out->width) + 2 * out->padding[d];
        int64_t reach = out->dilation[d] * (out->kernel[d] - 1) + 1;
        if (out->kernel[d] < 1 || out->stride[d] < 1 || out->padding[d] < 0 || out->dilation[d] < 1 || reach > length)
            return false;
        out->places[d] = (length - reach) / out->stride[d] + 1;
    }
    return true;
}

/* A line of the unfolded image: places x of one (image, row, column, y). `from` is where x = 0 is in the image's line
 * (perhaps before it), those from `low` up to `high` are inside; none where the line is outside. */
typedef struct line {
    int64_t to, from, low, high;
} line;

static line line_of(const tl_sliding *s, int64_t image, int64_t row, int64_t column, int64_t y) {
    int64_t at_y = y * s->stride[0] + row * s->dilation[0] - s->padding[0];
    int64_t offset = column * s->dilation[1] - s->padding[1], step = s->stride[1];
    int64_t to = (image * s->kernel[0] + row) * s->kernel[1] + column;
    line l = {.to = (to * s->places[0] + y) * s->places[1], .from = (image * s->height + at_y) * s->width + offset};
    if (at_y < 0 || at_y >= s->height || offset >= s->width)
        return l;
    l.low = offset < 0 ? (-offset + step - 1) / step : 0;
    l.high = (s->width - offset + step - 1) / step;
    l.high = l.high > s->places[1] ? s->places[1] : l.high;
    l.low = l.low > l.high ? l.high : l.low;
    return l;
}

#define EACH_LINE(statement)                                                  \
    for (int64_t image = first; image < end; image++)                         \
        for (int64_t row = 0; row < s->kernel[0]; row++)                      \
            for (int64_t column = 0; column < s->kernel[1]; column++)         \
                for (int64_t y = 0; y < s->places[0]; y++) {                  \
                    const line l = line_of(s, image, row, column, y);         \
                    const int64_t step = s->stride[1], places = s->places[1]; \
                    (void)places;                                             \
                    statement;                                                \
                }

typedef struct window_work {
    const tl_sliding *s;
    double fill;
    const void *in;
    void *out;
} window_work;

/* Images first to end - 1: no other thread writes to them. */
#define WINDOWS(T, suffix)                                                                                 \
    TL_WIDE static void unfold_##suffix(void *context, int64_t first, int64_t end) {                       \
        const window_work *w = context;                                                                    \
        const tl_sliding *s = w->s;                                                                        \
        EACH_LINE(T *to = (T *)w->out + l.to; const T *from = (const T *)w->in;                            \
                  for (int64_t x = 0; x < l.low; x++) to[x] = (T)w->fill; if (step == 1) {                 \
                      if (l.high > l.low)                                                                  \
                          memcpy(to + l.low, from + l.from + l.low, (size_t)(l.high - l.low) * sizeof(T)); \
                  } else for (int64_t x = l.low; x < l.high; x++) to[x] = from[l.from + x * step];         \
                  for (int64_t x = l.high; x < places; x++) to[x] = (T)w->fill)                            \
    }                                                                                                      \
    TL_WIDE static void fold_##suffix(void *context, int64_t first, int64_t end) {                         \
        const window_work *w = context;                                                                    \
        const tl_sliding *s = w->s;                                                                        \
        EACH_LINE(const T *restrict from = (const T *)w->in + l.to; T *restrict to = (T *)w->out + l.from; \
                  if (step == 1) {                                                                         \
                      for (int64_t x = l.low; x < l.high; x++)                                             \
                          to[x] += from[x];                                                                \
                  } else for (int64_t x = l.low; x < l.high; x++) to[x * step] += from[x])                 \
    }
WINDOWS(float, f32)
WINDOWS(double, f64)

static void unfold_into(const tl_sliding *s, tl_dtype dtype, double fill, const void *in, tl_tensor *out) {
    window_work w = {s, fill, in, out->data};
    tl__in_parts(s->images, 1, out->elements, dtype == TL_F32 ? unfold_f32 : unfold_f64, &w);
}

static void fold_into(const tl_sliding *s, tl_dtype dtype, const tl_tensor *in, void *image_sum) {
    window_work w = {s, 0, in->data, image_sum};
    tl__in_parts(s->images, 1, in->elements, dtype == TL_F32 ? fold_f32 : fold_f64, &w);
}

static masu_status unfold_backward(tl_pass *pass, tl_node *node) {
    tl_sliding s;
    tl_tensor *whole;
    masu_status status = tl__contiguous_gradient(pass);
    if (status == MASU_OK)
        status = tl__accumulator(tl__node_inputs(node)[0], &whole);
    if (status != MASU_OK)
        return status;
    tl__sliding_of(whole, (const int64_t *)(const void *)tl__node_extra(node), &s);
    fold_into(&s, (tl_dtype)whole->dtype, pass->gradient, whole->data);
    return MASU_OK;
}

static void unfold_formula(tl_formula *f);

const tl_rule tl__rule_unfold = {"unfold", unfold_backward, unfold_formula};

masu_status tl__unfold(const tl_tensor *t, const tl_sliding *s, double fill, tl_tensor **out) {
    int64_t shape[3] = {t->shape[0], t->shape[1] * s->kernel[0] * s->kernel[1], s->places[0] * s->places[1]};
    masu_status status = tl__tensor_new((tl_dtype)t->dtype, 3, shape, out);
    if (status == MASU_OK && (*out)->elements > 0)
        unfold_into(s, (tl_dtype)t->dtype, fill, t->data, *out);
    return status;
}

static masu_status unfold(tl_tensor *t, double fill, int64_t count, const int64_t *window, tl_tensor **out) {
    tl_sliding s;
    char shape[TL_SHAPE_TEXT];
    tl_tensor *x, *dense;
    if (t->rank != 4 || count != WINDOW_WORDS || !tl__sliding_of(t, window, &s))
        return tl__error(TL_SAY(window_x_does_not_fit_images_shape), count == WINDOW_WORDS ? window[0] : 0,
                         count == WINDOW_WORDS ? window[1] : 0, tl__shape_text(t->rank, t->shape, shape));
    masu_status status = tl__as_dtype(t, tl__float_dtype(t), &x);
    if (status == MASU_OK)
        status = tl__tensor_contiguous(x, &dense);
    tl__tensor_drop(x);
    if (status != MASU_OK)
        return status;
    status = tl__unfold(dense, &s, fill, out);
    tl__tensor_drop(dense);
    if (status != MASU_OK || !t->node)
        return status;
    return tl__record_or_drop(*out,
                              &(tl_origin){.rule = &tl__rule_unfold,
                                           .input_count = 1,
                                           .inputs = &t,
                                           .extra_count = WINDOW_WORDS,
                                           .extra = (const uint64_t *)(const void *)window},
                              out);
}

/* ---- columns added back to images: unfold's gradient, and the transposed convolution
 * -------------------------------------
 *
 * Its own gradient is unfold, with nothing outside. Extra words: the window. */
static void fold_formula(tl_formula *f) {
    const int64_t *window = (const int64_t *)(const void *)tl__node_extra(f->node);
    tl__f_deliver(f, 0, tl__f_keep(f, tl_tensor_unfold(f->g, 0.0, WINDOW_WORDS, window)));
}

static const tl_rule fold_rule = {"fold", NULL, fold_formula};

static void unfold_formula(tl_formula *f) {
    const int64_t *window = (const int64_t *)(const void *)tl__node_extra(f->node);
    tl_node *input = tl__node_inputs(f->node)[0];
    tl_tensor *images = d_zeros(f, (tl_dtype)f->g->dtype, input->rank, tl__node_shape(input));
    tl_tensor *columns = images ? tl__f_keep(f, tl_tensor_contiguous(f->g)) : NULL;
    tl_sliding s;
    if (!columns)
        return;
    tl__sliding_of(images, window, &s);
    fold_into(&s, (tl_dtype)images->dtype, columns, images->data);
    masu_status status = MASU_OK;
    if (columns->node)
        status = tl__record(images, &(tl_origin){.rule = &fold_rule,
                                                 .input_count = 1,
                                                 .inputs = &columns,
                                                 .extra_count = WINDOW_WORDS,
                                                 .extra = tl__node_extra(f->node)});
    if (status != MASU_OK)
        tl__f_fail(f, status);
    tl__f_deliver(f, 0, images);
}

tl_tensor *tl_tensor_unfold(tl_tensor *t, double fill, int64_t window_count, int64_t const *window) {
    TL_RETURN_TENSOR(unfold(t, fill, window_count, window, &out));
}

/* words: the window, height, width. */
static bool fold_fits(const tl_tensor *columns, int64_t count, const int64_t *words, int64_t *shape, tl_sliding *s) {
    if (columns->rank != 3 || count != WINDOW_WORDS + 2)
        return false;
    const int64_t kernel = words[KERNEL_H] > 0 && words[KERNEL_H] < 1 << 20 ? words[KERNEL_H] * words[KERNEL_W] : 0;
    if (kernel < 1 || words[KERNEL_W] >= 1 << 20 || columns->shape[1] % kernel != 0)
        return false;
    shape[0] = columns->shape[0];
    shape[1] = columns->shape[1] / kernel;
    shape[2] = words[WINDOW_WORDS];
    shape[3] = words[WINDOW_WORDS + 1];
    tl_tensor images = {.rank = 4};
    memcpy(images.shape, shape, 4 * sizeof *shape);
    return shape[2] >= 0 && shape[3] >= 0 && tl__sliding_of(&images, words, s) &&
           s->places[0] * s->places[1] == columns->shape[2];
}

static masu_status fold_ready(tl_tensor *columns, const tl_sliding *s, const int64_t *shape, tl_tensor **out) {
    tl_tensor *x, *dense;
    masu_status status = tl__as_dtype(columns, tl__float_dtype(columns), &x);
    if (status == MASU_OK)
        status = tl__tensor_contiguous(x, &dense);
    tl__tensor_drop(x);
    if (status != MASU_OK)
        return status;
    status = tl__full((tl_dtype)dense->dtype, 4, shape, 0, out);
    if (status == MASU_OK && dense->elements > 0)
        fold_into(s, (tl_dtype)dense->dtype, dense, (*out)->data);
    tl__tensor_drop(dense);
    return status;
}

static masu_status fold(tl_tensor *columns, int64_t count, const int64_t *words, tl_tensor **out) {
    tl_sliding s;
    int64_t shape[4];
    char text[TL_SHAPE_TEXT];
    if (!fold_fits(columns, count, words, shape, &s))
        return tl__error(TL_SAY(window_x_does_not_fit_images_shape), count > KERNEL_W ? words[KERNEL_H] : 0,
                         count > KERNEL_W ? words[KERNEL_W] : 0, tl__shape_text(columns->rank, columns->shape, text));
    masu_status status = fold_ready(columns, &s, shape, out);
    if (status != MASU_OK || !columns->node)
        return status;
    return tl__record_or_drop(*out,
                              &(tl_origin){.rule = &fold_rule,
                                           .input_count = 1,
                                           .inputs = &columns,
                                           .extra_count = WINDOW_WORDS,
                                           .extra = (const uint64_t *)(const void *)words},
                              out);
}

tl_tensor *tl_tensor_fold(tl_tensor *columns, int64_t window_count, int64_t const *window) {
    TL_RETURN_TENSOR(fold(columns, window_count, window, &out));
}
