/* index.c: elements chosen by the numbers in another tensor.
 *
 *     index_select(t, dim, index)   rows of t along dim, in the order of index (rank 1)
 *     gather(t, dim, index)         out[i][j] = t[index[i][j]][j] for dim 0; index has t's rank
 *     embedding(table, index)       index_select along 0, shaped like index with the table's rows behind
 *
 * backward adds each gradient to the place that it was read from. An index that is out of range is an error, and
 * nothing is left of the result.
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
#include "runtime/state.h"

/* As whole numbers without a sign, what is below 0 is too large. */
TL_WIDE static bool all_below(const int64_t *at, int64_t count, int64_t n) {
    uint64_t wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong |= (uint64_t)at[i] >= (uint64_t)n;
    return wrong == 0;
}

/* Names the first one that is out of range. */
static masu_status index_error(const char *what, const tl_tensor *dense, int64_t n) {
    const int64_t *at = dense->data;
    int64_t i = 0;
    while (i < dense->elements - 1 && at[i] >= 0 && at[i] < n)
        i++;
    return tl__error(TL_SAY(index_is_out_range_for_length_too), what, at[i], n);
}

masu_status tl__ready_index(const char *what, tl_tensor *index, int64_t n, tl_tensor **out) {
    tl_tensor *dense;
    masu_status status = tl__dense_places(what, index, &dense);
    if (status != MASU_OK)
        return status;
    if (!all_below(dense->data, dense->elements, n)) {
        status = index_error(what, dense, n);
        tl__tensor_drop(dense);
        return status;
    }
    *out = dense;
    return MASU_OK;
}

static masu_status ready_values(tl_tensor *t, tl_tensor **out) {
    return tl__tensor_contiguous(t, out);
}

#define ADD_ROW(T)                  \
    for (int64_t i = 0; i < n; i++) \
        ((T *)to)[i] += ((const T *)from)[i];

TL_WIDE static void add_row(tl_dtype dtype, void *to, const void *from, int64_t n) {
    if (dtype == TL_F32)
        ADD_ROW(float)
    else
        ADD_ROW(double)
}

/* ---- index_select ---------------------------------------------------------------------------- */

/* The gradient row by row, and where the operand's is gathered. */
static masu_status open_backward(tl_pass *pass, tl_node *node, tl_tensor **to) {
    masu_status status = tl__contiguous_gradient(pass);
    return status == MASU_OK ? tl__accumulator(tl__node_inputs(node)[0], to) : status;
}

static masu_status select_backward(tl_pass *pass, tl_node *node) {
    const tl_tensor *index = tl__node_saved(node)[0];
    int dim = (int)tl__node_extra(node)[0];
    tl_tensor *to;
    masu_status status = open_backward(pass, node, &to);
    if (status != MASU_OK)
        return status;
    const tl_lines a = tl__lines_of(to, dim);
    int64_t size = (int64_t)tl__dtype_size((tl_dtype)to->dtype), count = index->elements;
    const int64_t *rows = index->data;
    for (int64_t o = 0; o < a.outer; o++)
        for (int64_t i = 0; i < count; i++)
            add_row((tl_dtype)to->dtype, (char *)to->data + (o * a.n + rows[i]) * a.inner * size,
                    (const char *)pass->gradient->data + (o * count + i) * a.inner * size, a.inner);
    return MASU_OK;
}

/* The result of a rule that needs the rows and the dimension again. */
static masu_status record_rows(const tl_rule *rule, tl_tensor *t, int at, tl_tensor *rows, tl_tensor **out) {
    const uint64_t word = (uint64_t)at;
    const tl_origin origin = {.rule = rule,
                              .input_count = 1,
                              .inputs = &t,
                              .saved_count = 1,
                              .saved = &rows,
                              .extra_count = 1,
                              .extra = &word};
    return tl__record_or_drop(*out, &origin, out);
}

/* Zeros of the input's shape, to which g is added where the rows say along dim. */
static void rows_formula(tl_formula *f, tl_tensor *rows) {
    tl_node *input = tl__node_inputs(f->node)[0];
    int64_t dim = (int64_t)tl__node_extra(f->node)[0];
    tl_tensor *zeros = d_zeros(f, (tl_dtype)f->g->dtype, input->rank, tl__node_shape(input));
    if (zeros && rows)
        tl__f_deliver(f, 0, tl__f_keep(f, tl_tensor_scatter_add(zeros, dim, rows, f->g)));
}

static void select_formula(tl_formula *f) {
    int dim = (int)tl__node_extra(f->node)[0];
    int64_t shape[TL_MAX_RANK];
    for (int i = 0; i < f->g->rank; i++)
        shape[i] = i == dim ? f->g->shape[i] : 1;
    tl_tensor *rows = d_reshape(f, tl__f_constant(f, 0), f->g->rank, shape);
    rows_formula(f, d_expand(f, rows, f->g->rank, f->g->shape));
}

static void gather_formula(tl_formula *f) {
    rows_formula(f, tl__f_constant(f, 0));
}

const tl_rule tl__rule_index_select = {"index_select", select_backward, select_formula};

static masu_status select_rows(const tl_tensor *t, int dim, const tl_tensor *index, tl_tensor **out) {
    int64_t shape[TL_MAX_RANK];
    memcpy(shape, t->shape, sizeof shape);
    shape[dim] = index->elements;
    masu_status status = tl__tensor_new((tl_dtype)t->dtype, t->rank, shape, out);
    if (status != MASU_OK)
        return status;
    const tl_lines a = tl__lines_of(t, dim);
    size_t bytes = (size_t)a.inner * tl__dtype_size((tl_dtype)t->dtype);
    const int64_t *rows = index->data;
    char *to = (*out)->data;
    for (int64_t o = 0; o < a.outer; o++)
        for (int64_t i = 0; i < index->elements && bytes > 0; i++, to += bytes)
            memcpy(to, (const char *)t->data + (size_t)(o * a.n + rows[i]) * bytes, bytes);
    return MASU_OK;
}

static masu_status index_select(const char *what, tl_tensor *t, int64_t dim, tl_tensor *index, tl_tensor **out) {
    int at;
    tl_tensor *rows, *dense;
    masu_status status = tl__dimension(what, t, dim, &at);
    if (status == MASU_OK)
        status = tl__ready_index(what, index, t->shape[at], &rows);
    if (status != MASU_OK)
        return status;
    status = ready_values(t, &dense);
    if (status == MASU_OK) {
        status = select_rows(dense, at, rows, out);
        tl__tensor_drop(dense);
    }
    if (status == MASU_OK && t->node)
        status = record_rows(&tl__rule_index_select, t, at, rows, out);
    tl__tensor_drop(rows);
    return status;
}

tl_tensor *tl_tensor_index_select(tl_tensor *t, int64_t dim, tl_tensor *index) {
    TL_RETURN_TENSOR(index_select("index_select", t, dim, index, &out));
}

/* ---- gather ---------------------------------------------------------------------------------- */

bool tl__first_row(tl_index_row *row, const tl_tensor *named, int dim, const tl_tensor *index, const tl_tensor *other) {
    const int last = index->rank - 1;
    *row = (tl_index_row){.last = last, .index = index, .numbers = index->data, .n = 1, .own = 1, .along = 1};
    if (index->elements == 0)
        return false;
    int64_t named_stride = 1, other_stride = 1;
    for (int d = last; d >= 0; d--) {
        row->named_step[d] = d == dim ? 0 : named_stride;
        row->other_step[d] = other_stride;
        row->along = d == dim ? named_stride : row->along;
        named_stride *= named->shape[d];
        other_stride *= other->shape[d];
    }
    if (last >= 0) {
        row->n = index->shape[last];
        row->own = last != dim;
    }
    return true;
}

bool tl__next_row(tl_index_row *row) {
    row->numbers += row->n;
    for (int d = row->last - 1; d >= 0; d--) {
        row->named += row->named_step[d];
        row->other += row->other_step[d];
        if (++row->at[d] < row->index->shape[d])
            return true;
        row->named -= row->named_step[d] * row->at[d];
        row->other -= row->other_step[d] * row->at[d];
        row->at[d] = 0;
    }
    return false;
}

#define ADD_NAMED(T)                    \
    for (int64_t i = 0; i < row.n; i++) \
        ((T *)to->data)[row.named + row.numbers[i] * row.along + i * row.own] += ((const T *)from->data)[row.other + i];

static masu_status gather_backward(tl_pass *pass, tl_node *node) {
    const tl_tensor *index = tl__node_saved(node)[0];
    int dim = (int)tl__node_extra(node)[0];
    tl_tensor *to;
    masu_status status = open_backward(pass, node, &to);
    if (status != MASU_OK)
        return status;
    const tl_tensor *from = pass->gradient;
    tl_index_row row;
    for (bool more = tl__first_row(&row, to, dim, index, from); more; more = tl__next_row(&row))
        if (to->dtype == TL_F32)
            ADD_NAMED(float)
        else
            ADD_NAMED(double)
    return MASU_OK;
}

const tl_rule tl__rule_gather = {"gather", gather_backward, gather_formula};

static bool gather_fits(const tl_tensor *t, int dim, const tl_tensor *index) {
    bool fits = t->rank == index->rank;
    for (int i = 0; fits && i < t->rank; i++)
        fits = i == dim || index->shape[i] <= t->shape[i];
    return fits;
}

typedef struct gather_work {
    const tl_tensor *t, *index;
    int dim;
    size_t size;
    char *to;
    bool wrong; /* a row has a number that is out of range: it was left out */
} gather_work;

/* Where the elements of row `row` of the index begin in t, without the dimension that the index names. */
static int64_t gather_base(const gather_work *w, int64_t row, int64_t *along) {
    int last = w->t->rank - 1;
    int64_t at = 0, stride = w->t->shape[last];
    *along = w->dim == last ? 1 : stride;
    for (int d = last - 1; d >= 0; d--) {
        int64_t i = row % w->index->shape[d];
        row /= w->index->shape[d];
        if (d == w->dim)
            *along = stride;
        else
            at += i * stride;
        stride *= w->t->shape[d];
    }
    return at;
}

#define GATHER_ROW(T)               \
    for (int64_t i = 0; i < n; i++) \
        ((T *)to)[i] = ((const T *)from)[numbers[i] * along + i * own];

/* A row's numbers are looked at while they are near: the index is often larger than what is gathered. */
TL_WIDE static void gather_rows(void *context, int64_t begin, int64_t end) {
    gather_work *w = context;
    const int64_t length = w->t->shape[w->dim];
    int last = w->t->rank - 1;
    int64_t n = w->index->shape[last], own = w->dim != last;
    for (int64_t row = begin; row < end; row++) {
        int64_t along, base = gather_base(w, row, &along);
        const int64_t *numbers = (const int64_t *)w->index->data + row * n;
        if (!all_below(numbers, n, length)) {
            __atomic_store_n(&w->wrong, true, __ATOMIC_RELAXED);
            continue;
        }
        const char *from = (const char *)w->t->data + base * (int64_t)w->size;
        char *to = w->to + row * n * (int64_t)w->size;
        if (w->size == sizeof(uint32_t))
            GATHER_ROW(uint32_t)
        else if (w->size == sizeof(uint64_t))
            GATHER_ROW(uint64_t)
        else
            GATHER_ROW(uint8_t)
    }
}

/* False: the index has a number that is out of range. */
static bool gather_all(const tl_tensor *t, int dim, const tl_tensor *index, tl_tensor *out) {
    if (index->elements == 0)
        return true;
    gather_work work = {t, index, dim, tl__dtype_size((tl_dtype)t->dtype), out->data, false};
    int64_t rows = index->elements / index->shape[index->rank - 1];
    tl__in_parts(rows, 1, index->elements, gather_rows, &work);
    return !work.wrong;
}

static masu_status gather_ready(tl_tensor *t, int dim, tl_tensor *rows, tl_tensor **out) {
    tl_tensor *dense;
    masu_status status = ready_values(t, &dense);
    if (status != MASU_OK)
        return status;
    status = tl__tensor_new((tl_dtype)t->dtype, rows->rank, rows->shape, out);
    if (status == MASU_OK && !gather_all(dense, dim, rows, *out)) {
        tl__tensor_drop(*out);
        status = index_error("gather", rows, t->shape[dim]);
    }
    tl__tensor_drop(dense);
    return status;
}

static masu_status gather(tl_tensor *t, int64_t dim, tl_tensor *index, tl_tensor **out) {
    int at;
    tl_tensor *rows;
    char shape[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    masu_status status = tl__dimension("gather", t, dim, &at);
    if (status == MASU_OK && !gather_fits(t, at, index))
        status = tl__error(TL_SAY(gather_index_shape_for_shape), tl__shape_text(index->rank, index->shape, other),
                           tl__shape_text(t->rank, t->shape, shape));
    if (status == MASU_OK)
        status = tl__dense_places("gather", index, &rows);
    if (status != MASU_OK)
        return status;
    status = gather_ready(t, at, rows, out);
    if (status == MASU_OK && t->node)
        status = record_rows(&tl__rule_gather, t, at, rows, out);
    tl__tensor_drop(rows);
    return status;
}

tl_tensor *tl_tensor_gather(tl_tensor *t, int64_t dim, tl_tensor *index) {
    TL_RETURN_TENSOR(gather(t, dim, index, &out));
}

/* ---- embedding ------------------------------------------------------------------------------- */

/* Programs write it either way round: the table is the one that is a matrix of floats. */
static bool is_table(const tl_tensor *t, const tl_tensor *other) {
    return t->rank == 2 && tl__is_float(t) && (!tl__is_float(other) || other->rank != 2);
}

static masu_status embedding(tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    bool first = is_table(a, b) && !is_table(b, a);
    tl_tensor *table = first ? a : b, *index = first ? b : a, *rows, *flat, *shaped;
    char shape[TL_SHAPE_TEXT];
    if (table->rank != 2 || index->rank + 1 > TL_MAX_RANK)
        return tl__error(TL_SAY(embedding_table_row_for_each_number_one),
                         tl__shape_text(table->rank, table->shape, shape));
    int64_t length = index->elements, wide[TL_MAX_RANK];
    masu_status status = tl__reshape(index, 1, &length, &flat);
    if (status != MASU_OK)
        return status;
    status = index_select("embedding", table, 0, flat, &rows);
    tl__tensor_drop(flat);
    if (status != MASU_OK || index->rank == 1) {
        *out = rows;
        return status;
    }
    memcpy(wide, index->shape, sizeof wide);
    wide[index->rank] = table->shape[1];
    status = tl__reshape_recorded(rows, index->rank + 1, wide, &shaped);
    tl__tensor_drop(rows);
    if (status == MASU_OK)
        *out = shaped;
    return status;
}

tl_tensor *tl_tensor_embedding(tl_tensor *index, tl_tensor *table) {
    TL_RETURN_TENSOR(embedding(index, table, &out));
}
