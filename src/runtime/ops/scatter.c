/* scatter.c: elements put to the places that the numbers in another tensor name: `gather` the other way round.
 *
 *     scatter_add(t, dim, index, source)    out = t;  out[index[i][j]][j] += source[i][j] for dim 0
 *     scatter(t, dim, index, source)        out = t;  out[index[i][j]][j]  = source[i][j], the last one of several
 *
 * index has the rank of both and may be smaller than source: what it does not reach is not put anywhere. Every element
 * counts by itself, so that an infinity or a NaN stays where it is put. backward gathers source's gradient; t
 * gets the rest, which is all of it after an addition. An index that is one number for each slice, spread (index_add),
 * is kept as these numbers, and slices are added whole.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#include <string.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/vector_math.h"
#include "runtime/state.h"

/* How an element of `out` changes for each place of the index: one of out and from is named by the index, the
 * other one is where the index is. */
typedef enum deed { DEED_ADD, DEED_PUT, DEED_CLEAR } deed;

#define FLOAT_PLUS(x, y) ((x) + (y))
#define INT_PLUS(x, y)   ((int64_t)((uint64_t)(x) + (uint64_t)(y)))
#define BOOL_PLUS(x, y)  ((x) | (y))
#define EACH(T, plus)                                                                \
    for (int64_t i = 0; i < n; i++) {                                                \
        const int64_t named_at = row.named + numbers[i] * row.along + i * row.own;   \
        const int64_t other_at = row.other + i;                                      \
        T *to = (T *)out->data + (out == named ? named_at : other_at);               \
        const T value = ((const T *)from->data)[out == named ? other_at : named_at]; \
        *to = what == DEED_ADD ? (T)plus(*to, value) : what == DEED_PUT ? value : 0; \
    }

static void each_place(deed what, tl_tensor *out, const tl_tensor *from, const tl_tensor *named, int dim,
                       const tl_tensor *index) {
    const tl_tensor *other = out == named ? from : out;
    tl_index_row row;
    for (bool more = tl__first_row(&row, named, dim, index, other); more; more = tl__next_row(&row)) {
        const int64_t *numbers = row.numbers, n = row.n;
        if (out->dtype == TL_F32)
            EACH(float, FLOAT_PLUS)
        else if (out->dtype == TL_F64)
            EACH(double, FLOAT_PLUS)
        else if (out->dtype == TL_I64)
            EACH(int64_t, INT_PLUS)
        else
            EACH(tl_byte, BOOL_PLUS)
    }
}

/* ---- a whole slice for each number: index is [1, .., n, .., 1] as it was before it was spread -------------------- */

#define ADD_SLICE(T, plus)              \
    for (int64_t i = 0; i < count; i++) \
        ((T *)to)[i] = (T)plus(((T *)to)[i], ((const T *)from)[i]);

TL_WIDE static void add_slice(tl_dtype dtype, void *to, const void *from, int64_t count) {
    if (dtype == TL_F32)
        ADD_SLICE(float, FLOAT_PLUS)
    else if (dtype == TL_F64)
        ADD_SLICE(double, FLOAT_PLUS)
    else if (dtype == TL_I64)
        ADD_SLICE(int64_t, INT_PLUS)
    else
        ADD_SLICE(tl_byte, BOOL_PLUS)
}

/* [outer, length, inner] around dim of a row-major tensor, with the bytes of [inner]. */
typedef struct slices {
    char *data;
    int64_t outer, length, inner, bytes;
} slices;

static slices slices_of(const tl_tensor *t, int dim) {
    slices s = {t->data, 1, t->shape[dim], 1, 0};
    for (int d = 0; d < t->rank; d++)
        *(d < dim ? &s.outer : &s.inner) *= d == dim ? 1 : t->shape[d];
    s.bytes = s.inner * (int64_t)tl__dtype_size((tl_dtype)t->dtype);
    return s;
}

static char *slice_at(const slices *s, int64_t outer, int64_t number) {
    return s->data + (outer * s->length + number) * s->bytes;
}

/* from: not looked at for DEED_CLEAR. */
static void each_slice(deed what, tl_tensor *out, const tl_tensor *from, int dim, const tl_tensor *index) {
    const slices to = slices_of(out, dim), source = slices_of(from, dim);
    const int64_t *numbers = index->data;
    for (int64_t o = 0; o < to.outer; o++)
        for (int64_t i = 0; i < index->elements; i++) {
            char *slice = slice_at(&to, o, numbers[i]);
            if (what == DEED_ADD)
                add_slice((tl_dtype)out->dtype, slice, slice_at(&source, o, i), to.inner);
            else if (what == DEED_PUT)
                memcpy(slice, slice_at(&source, o, i), (size_t)to.bytes);
            else
                memset(slice, 0, (size_t)to.bytes);
        }
}

/* out[.., i, ..] = from[.., numbers[i], ..] */
static void take_slices(tl_tensor *out, const tl_tensor *from, int dim, const tl_tensor *index) {
    const slices to = slices_of(out, dim), source = slices_of(from, dim);
    const int64_t *numbers = index->data;
    for (int64_t o = 0; o < to.outer; o++)
        for (int64_t i = 0; i < index->elements; i++)
            memcpy(slice_at(&to, o, i), slice_at(&source, o, numbers[i]), (size_t)to.bytes);
}

/* Whether index is one number for each slice, spread: it does not change along any other dimension, and has t's and
 * source's whole lengths there. */
static bool names_slices(const tl_tensor *index, const tl_tensor *t, const tl_tensor *source, int dim) {
    bool spread = false;
    for (int d = 0; d < index->rank; d++) {
        if (d == dim)
            continue;
        if (index->shape[d] != t->shape[d] || index->shape[d] != source->shape[d])
            return false;
        if (index->shape[d] > 1 && index->stride[d] != 0)
            return false;
        spread |= index->shape[d] > 1;
    }
    return spread && index->elements > 0;
}

/* index without what it is repeated: 1 long along every dimension but dim. */
static masu_status one_line(const tl_tensor *index, int dim, tl_tensor **out) {
    tl_tensor *line;
    masu_status status = tl__tensor_view(index, &line);
    for (int d = 0; d < index->rank && status == MASU_OK; d++) {
        tl_tensor *next;
        if (d == dim)
            continue;
        status = tl__narrow(line, d, 0, 1, &next);
        tl__tensor_drop(line);
        line = next;
    }
    *out = line;
    return status;
}

/* ---- history ----------------------------------------------------------------------------------------------------- */

static masu_status source_backward(tl_pass *pass, tl_node *input, const tl_tensor *index, int dim, bool by_slice) {
    tl_tensor *share;
    masu_status status = tl__contiguous_gradient(pass);
    if (status == MASU_OK)
        status = tl__full((tl_dtype)pass->gradient->dtype, input->rank, tl__node_shape(input), 0, &share);
    if (status != MASU_OK)
        return status;
    if (by_slice)
        take_slices(share, pass->gradient, dim, index);
    else
        each_place(DEED_ADD, share, pass->gradient, pass->gradient, dim, index);
    return tl__deliver(input, share);
}

/* The gradient for t: zero where source's elements are in place of its own. */
static masu_status rest_backward(tl_pass *pass, tl_node *input, const tl_tensor *index, int dim, bool by_slice) {
    tl_tensor *rest;
    masu_status status = tl__copy(pass->gradient, &rest);
    if (status != MASU_OK)
        return status;
    if (by_slice)
        each_slice(DEED_CLEAR, rest, rest, dim, index);
    else
        each_place(DEED_CLEAR, rest, index, rest, dim, index);
    return tl__deliver(input, rest);
}

/* Extra words: the dimension, what was done, and whether the index saved is one number for each slice. */
static masu_status scatter_backward(tl_pass *pass, tl_node *node) {
    tl_node **inputs = tl__node_inputs(node);
    const tl_tensor *index = tl__node_saved(node)[0];
    const int dim = (int)tl__node_extra(node)[0];
    const bool by_slice = tl__node_extra(node)[2] != 0;
    masu_status status = MASU_OK;
    if (inputs[1])
        status = source_backward(pass, inputs[1], index, dim, by_slice);
    if (status != MASU_OK || !inputs[0])
        return status;
    if (tl__node_extra(node)[1] == DEED_PUT)
        return rest_backward(pass, inputs[0], index, dim, by_slice);
    return tl__deliver(inputs[0], tl__take_gradient(pass));
}

/* source's share: gathered, with zeros behind where the index does not reach. */
static tl_tensor *gathered(tl_formula *f, tl_tensor *numbers, int64_t dim) {
    const tl_node *input = tl__node_inputs(f->node)[1];
    const int64_t *shape = tl__node_shape(tl__node_inputs(f->node)[1]);
    int64_t pads[2 * TL_MAX_RANK] = {0};
    for (int i = 0; i < input->rank; i++)
        pads[2 * (input->rank - 1 - i) + 1] = shape[i] - numbers->shape[i];
    tl_tensor *part = tl__f_keep(f, tl_tensor_gather(f->g, dim, numbers));
    return part ? tl__f_keep(f, tl_tensor_pad(part, 0.0, 2 * input->rank, pads)) : NULL;
}

/* The index as it was given: one number for each slice is spread again. */
static tl_tensor *whole_index(tl_formula *f, int64_t dim) {
    tl_tensor *numbers = tl__f_constant(f, 0);
    int64_t shape[TL_MAX_RANK];
    if (!numbers || !tl__node_extra(f->node)[2])
        return numbers;
    for (int d = 0; d < f->g->rank; d++)
        shape[d] = d == dim ? numbers->shape[d] : f->g->shape[d];
    return d_expand(f, numbers, f->g->rank, shape);
}

static void scatter_formula(tl_formula *f) {
    const int64_t dim = (int64_t)tl__node_extra(f->node)[0];
    tl_tensor *numbers = whole_index(f, dim), *rest = f->g;
    if (!numbers)
        return;
    if (tl__f_wants(f, 1))
        tl__f_deliver(f, 1, gathered(f, numbers, dim));
    if (!tl__f_wants(f, 0))
        return;
    if (tl__node_extra(f->node)[1] == DEED_PUT) {
        tl_tensor *zeros = d_zeros(f, (tl_dtype)rest->dtype, numbers->rank, numbers->shape);
        rest = zeros ? tl__f_keep(f, tl_tensor_scatter(rest, dim, numbers, zeros)) : NULL;
    }
    tl__f_deliver(f, 0, rest);
}

const tl_rule tl__rule_scatter_add = {"scatter_add", scatter_backward, scatter_formula};
const tl_rule tl__rule_scatter = {"scatter", scatter_backward, scatter_formula};

static masu_status check_scatter(const tl_rule *rule, const tl_tensor *t, int dim, const tl_tensor *index,
                                 const tl_tensor *source) {
    char shape[TL_SHAPE_TEXT], numbers[TL_SHAPE_TEXT], added[TL_SHAPE_TEXT];
    bool fits = t->rank == index->rank && t->rank == source->rank;
    for (int i = 0; fits && i < t->rank; i++)
        fits = index->shape[i] <= source->shape[i] && (i == dim || index->shape[i] <= t->shape[i]);
    return fits ? MASU_OK
                : tl__error(TL_SAY(index_shape_source_shape_for_shape), rule->name,
                            tl__shape_text(index->rank, index->shape, numbers),
                            tl__shape_text(source->rank, source->shape, added),
                            tl__shape_text(t->rank, t->shape, shape));
}

static masu_status scatter_ready(deed what, tl_tensor *t, int dim, const tl_tensor *numbers, bool by_slice,
                                 tl_tensor *source, tl_dtype dtype, tl_tensor **out) {
    tl_tensor *as_result = NULL, *as_added = NULL, *dense;
    masu_status status = tl__as_dtype(t, dtype, &as_result);
    if (status == MASU_OK)
        status = tl__as_dtype(source, dtype, &as_added);
    if (status == MASU_OK)
        status = tl__tensor_contiguous(as_added, &dense);
    if (status == MASU_OK) {
        status = tl__copy(as_result, out);
        if (status == MASU_OK && by_slice)
            each_slice(what, *out, dense, dim, numbers);
        else if (status == MASU_OK)
            each_place(what, *out, dense, *out, dim, numbers);
        tl__tensor_drop(dense);
    }
    tl__tensor_drop(as_result);
    tl__tensor_drop(as_added);
    return status;
}

static masu_status scatter(const tl_rule *rule, tl_tensor *t, int64_t dim, tl_tensor *index, tl_tensor *source,
                           tl_tensor **out) {
    int at;
    tl_tensor *numbers, *line = NULL;
    const deed what = rule == &tl__rule_scatter ? DEED_PUT : DEED_ADD;
    masu_status status = tl__dimension(rule->name, t, dim, &at);
    if (status == MASU_OK)
        status = check_scatter(rule, t, at, index, source);
    const bool by_slice = status == MASU_OK && names_slices(index, t, source, at);
    if (by_slice)
        status = one_line(index, at, &line);
    if (status == MASU_OK)
        status = tl__ready_index(rule->name, line ? line : index, t->shape[at], &numbers);
    tl__tensor_drop(line);
    if (status != MASU_OK)
        return status;
    tl_dtype dtype = tl__promote((tl_dtype)t->dtype, (tl_dtype)source->dtype);
    if (dtype == TL_BOOL && what == DEED_ADD)
        dtype = TL_I64;
    status = scatter_ready(what, t, at, numbers, by_slice, source, dtype, out);
    const uint64_t words[] = {(uint64_t)at, what, by_slice};
    if (status == MASU_OK && (t->node || source->node))
        status = tl__record_or_drop(*out,
                                    &(tl_origin){.rule = rule,
                                                 .input_count = 2,
                                                 .inputs = (tl_tensor *[]){t, source},
                                                 .saved_count = 1,
                                                 .saved = &numbers,
                                                 .extra_count = 3,
                                                 .extra = words},
                                    out);
    tl__tensor_drop(numbers);
    return status;
}

tl_tensor *tl_tensor_scatter_add(tl_tensor *t, int64_t dim, tl_tensor *index, tl_tensor *source) {
    TL_RETURN_TENSOR(scatter(&tl__rule_scatter_add, t, dim, index, source, &out));
}

tl_tensor *tl_tensor_scatter(tl_tensor *t, int64_t dim, tl_tensor *index, tl_tensor *source) {
    TL_RETURN_TENSOR(scatter(&tl__rule_scatter, t, dim, index, source, &out));
}
