/* elements.c: single elements, writing in place, and what a tensor says about itself.
 *
 * Writing takes the receiver and gives it back, or another header in its stead:
 *
 *     receiver ─► header of its own ─► storage of its own ─► written
 *
 * so the value that others share stays as it was, and nothing that a later backward needs is
 * ever overwritten. A result with a history goes on with a longer one (put.c); a leaf stays one.
 */
#include <inttypes.h>

#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* ---- reading --------------------------------------------------------------------------------- */

static masu_status error_index_count(const tl_tensor *t, int64_t count) {
    return tl__error(TL_SAY(given_for_tensor_dimension), count, count == 1 ? "index" : "indices", t->rank,
                     t->rank == 1 ? "" : "s");
}

/* How many elements behind t->data. */
static inline masu_status locate(const tl_tensor *t, int64_t count, const int64_t *index, int64_t *out) {
    int64_t offset = 0;
    if (MASU_UNLIKELY(count != t->rank))
        return error_index_count(t, count);
    for (int i = 0; i < t->rank; i++) {
        if (MASU_UNLIKELY((uint64_t)index[i] >= (uint64_t)t->shape[i]))
            return tl__error(TL_SAY(index_is_out_range_for_length), index[i], t->shape[i]);
        offset += index[i] * t->stride[i];
    }
    *out = offset;
    return MASU_OK;
}

static double read_f64(const tl_tensor *t, int64_t offset) {
    switch ((tl_dtype)t->dtype) {
    case TL_F32:
        return (double)((const float *)t->data)[offset];
    case TL_F64:
        return ((const double *)t->data)[offset];
    case TL_I64:
        return (double)((const int64_t *)t->data)[offset];
    default:
        return ((const tl_byte *)t->data)[offset] != 0;
    }
}

static int64_t read_i64(const tl_tensor *t, int64_t offset) {
    return t->dtype == TL_I64 ? ((const int64_t *)t->data)[offset] : tl__i64_of(read_f64(t, offset));
}

double tl_tensor_get_f64(tl_tensor *t, int64_t index_count, int64_t const *index) {
    int64_t offset = 0;
    if (MASU_LIKELY(locate(t, index_count, index, &offset) == MASU_OK))
        return read_f64(t, offset);
    tl__raise();
    return 0;
}

int64_t tl_tensor_get_i64(tl_tensor *t, int64_t index_count, int64_t const *index) {
    int64_t offset = 0;
    if (MASU_LIKELY(locate(t, index_count, index, &offset) == MASU_OK))
        return read_i64(t, offset);
    tl__raise();
    return 0;
}

/* ---- reading what the compiler does not know --------------------------------------------------- */

/* The largest whole number below which each is exact. */
static int64_t exact_below(tl_dtype as) {
    return as == TL_F32 ? INT64_C(1) << 24 : INT64_C(1) << 53;
}

static masu_status error_read_as(const tl_tensor *t, tl_dtype as) {
    return tl__error(TL_SAY(element_is_read_as_less), tl__dtype_name(as), tl__dtype_name((tl_dtype)t->dtype));
}

/* Whether elements of that kind fit; of whole numbers each is looked at. */
static bool may_be_read_as(tl_dtype held, tl_dtype as) {
    switch (as) {
    case TL_F32:
        return held != TL_F64;
    case TL_F64:
        return true;
    case TL_I64:
        return held == TL_I64 || held == TL_BOOL;
    default:
        return held == TL_BOOL;
    }
}

static masu_status check_whole(int64_t n, tl_dtype as) {
    int64_t limit = exact_below(as);
    if (MASU_LIKELY(n >= -limit && n <= limit) || (as == TL_F32 ? tl__i64_of((double)(float)n) == n && n != INT64_MAX
                                                                : tl__i64_of((double)n) == n && n != INT64_MAX))
        return MASU_OK;
    return tl__error(TL_SAY(whole_element_does_not_fit), n, tl__dtype_name(as));
}

/* Where it lies, when it can be read so. */
static masu_status locate_exact(const tl_tensor *t, tl_dtype as, int64_t count, const int64_t *index, int64_t *out) {
    masu_status status = MASU_OK;
    *out = 0;
    if (count > 0 || t->elements != 1)
        status = locate(t, count, index, out);
    if (status == MASU_OK && MASU_UNLIKELY(!may_be_read_as((tl_dtype)t->dtype, as)))
        status = error_read_as(t, as);
    if (status == MASU_OK && MASU_UNLIKELY(t->dtype == TL_I64 && as != TL_I64))
        status = check_whole(((const int64_t *)t->data)[*out], as);
    return status;
}

#define EXACT(name, number, dtype, read)                                                     \
    number tl_tensor_exact_##name(tl_tensor *t, int64_t index_count, int64_t const *index) { \
        int64_t offset;                                                                      \
        if (MASU_LIKELY(locate_exact(t, dtype, index_count, index, &offset) == MASU_OK))     \
            return (number)read(t, offset);                                                  \
        tl__raise();                                                                         \
        return 0;                                                                            \
    }

EXACT(f32, float, TL_F32, read_f64)
EXACT(f64, double, TL_F64, read_f64)
EXACT(i64, int64_t, TL_I64, read_i64)

/* O(1); of whole numbers read as real ones O(elements). */
static masu_status read_as(tl_tensor *t, tl_dtype as) {
    if (!may_be_read_as((tl_dtype)t->dtype, as))
        return error_read_as(t, as);
    if (t->dtype != TL_I64 || as == TL_I64)
        return MASU_OK;
    tl_tensor *dense;
    masu_status status = tl__tensor_contiguous(t, &dense);
    if (status != MASU_OK)
        return status;
    for (int64_t i = 0; i < dense->elements && status == MASU_OK; i++)
        status = check_whole(((const int64_t *)dense->data)[i], as);
    tl__tensor_drop(dense);
    return status;
}

void tl_tensor_read_as(tl_tensor *t, int64_t dtype) {
    if (read_as(t, (tl_dtype)dtype) != MASU_OK)
        tl__raise();
}

static bool is_item(const tl_tensor *t) {
    if (MASU_LIKELY(t->elements == 1))
        return true;
    char shape[TL_SHAPE_TEXT];
    tl__error(TL_SAY(tensor_shape_is_not_single_number), tl__shape_text(t->rank, t->shape, shape));
    return false;
}

double tl_tensor_item(tl_tensor *t) {
    if (is_item(t))
        return read_f64(t, 0);
    tl__raise();
    return 0;
}

int64_t tl_tensor_item_i64(tl_tensor *t) {
    if (is_item(t))
        return read_i64(t, 0);
    tl__raise();
    return 0;
}

bool tl_tensor_item_bool(tl_tensor *t) {
    if (is_item(t))
        return read_f64(t, 0) != 0;
    tl__raise();
    return false;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool is_result(const tl_tensor *t) {
    return t->node && !(t->node->flags & TL_NODE_LEAF);
}

/* *t, owned, as memory that only it sees; a leaf stays one. On failure *t is still owned, its value unchanged. */
static masu_status make_writable(tl_tensor **t) {
    masu_status status = (*t)->node ? tl__own_leaf(t) : tl__own_header(t);
    return status == MASU_OK ? tl__tensor_make_writable(*t) : status;
}

/* The same number in the whole block, with t's history. */
static masu_status put_number(tl_tensor **t, double value, int64_t count, const int64_t *index) {
    int64_t bounds[2 * TL_MAX_RANK];
    tl_tensor *number;
    for (int64_t i = 0; i < count; i++) {
        bounds[2 * i] = index[i];
        bounds[2 * i + 1] = INT64_MIN; /* one index */
    }
    masu_status status = tl__full((tl_dtype)(*t)->dtype, 0, NULL, value, &number);
    if (status != MASU_OK)
        return status;
    status = tl__put(t, number, 2 * count, bounds);
    tl__tensor_drop(number);
    return status;
}

/* The end of every entry point that replaces its receiver. */
static tl_tensor *replaced(masu_status status, tl_tensor *t) {
    if (MASU_LIKELY(status == MASU_OK))
        return t;
    tl__tensor_drop(t);
    tl__raise();
    return NULL;
}

static void write_f64(tl_tensor *t, int64_t offset, double value) {
    switch ((tl_dtype)t->dtype) {
    case TL_F32:
        ((float *)t->data)[offset] = (float)value;
        break;
    case TL_F64:
        ((double *)t->data)[offset] = value;
        break;
    case TL_I64:
        ((int64_t *)t->data)[offset] = tl__i64_of(value);
        break;
    default:
        ((tl_byte *)t->data)[offset] = value != 0;
        break;
    }
}

/* The place is looked for again once the memory is t's own: a copy has other strides. */
static masu_status set_f64(tl_tensor **t, double value, int64_t count, const int64_t *index) {
    int64_t offset = 0;
    masu_status status = locate(*t, count, index, &offset);
    if (status == MASU_OK && is_result(*t))
        return put_number(t, value, count, index);
    if (status == MASU_OK)
        status = make_writable(t);
    if (status == MASU_OK)
        status = locate(*t, count, index, &offset);
    if (status == MASU_OK)
        write_f64(*t, offset, value);
    return status;
}

static masu_status set_i64(tl_tensor **t, int64_t value, int64_t count, const int64_t *index) {
    int64_t offset = 0;
    masu_status status = set_f64(t, (double)value, count, index);
    if (status == MASU_OK && (*t)->dtype == TL_I64) {
        status = locate(*t, count, index, &offset);
        if (status == MASU_OK)
            ((int64_t *)(*t)->data)[offset] = value;
    }
    return status;
}

tl_tensor *tl_tensor_set_f64(tl_tensor *t, double value, int64_t index_count, int64_t const *index) {
    masu_status status = set_f64(&t, value, index_count, index);
    return replaced(status, t);
}

tl_tensor *tl_tensor_set_i64(tl_tensor *t, int64_t value, int64_t index_count, int64_t const *index) {
    masu_status status = set_i64(&t, value, index_count, index);
    return replaced(status, t);
}

static masu_status fill(tl_tensor **t, double value) {
    if (is_result(*t))
        return put_number(t, value, 0, NULL);
    if ((*t)->node) {
        masu_status status = make_writable(t);
        if (status == MASU_OK)
            tl__fill(*t, value);
        return status;
    }
    if ((*t)->head.count == 1 && tl__is_private(*t)) {
        tl__storage_written((*t)->storage);
        tl__fill(*t, value);
        return MASU_OK;
    }
    tl_tensor *fresh;
    masu_status status = tl__full((tl_dtype)(*t)->dtype, (*t)->rank, (*t)->shape, value, &fresh);
    if (status != MASU_OK)
        return status;
    tl__tensor_drop(*t);
    *t = fresh;
    return MASU_OK;
}

tl_tensor *tl_tensor_fill(tl_tensor *t, double value) {
    masu_status status = fill(&t, value);
    return replaced(status, t);
}

/* ---- add_assign and its like ----------------------------------------------------------------- */

/* b must not have more dimensions, longer ones, or numbers of a richer kind than t can hold. */
static masu_status check_assign(const char *what, const tl_tensor *t, const tl_tensor *b) {
    int rank = t->rank;
    int64_t shape[TL_MAX_RANK];
    for (int i = 0; i < rank; i++)
        shape[i] = t->shape[i];
    if (b->node && t->node && !tl__runtime()->unrecorded)
        return tl__error(TL_SAY(is_leaf_operand_with_history_would_make), what);
    masu_status status = tl__broadcast(what, b, &rank, shape);
    if (status != MASU_OK)
        return status;
    bool same = rank == t->rank;
    for (int i = 0; i < rank && same; i++)
        same = shape[i] == t->shape[i];
    char own[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    if (!same)
        return tl__error(TL_SAY(tensor_shape_cannot_take_up_one_shape), what, tl__shape_text(t->rank, t->shape, own),
                         tl__shape_text(b->rank, b->shape, other));
    if (tl__promote((tl_dtype)t->dtype, (tl_dtype)b->dtype) != t->dtype && !tl__is_float(t))
        return tl__error(TL_SAY(elements_type_cannot_take_up_those_type), what, tl__dtype_name((tl_dtype)t->dtype),
                         tl__dtype_name((tl_dtype)b->dtype));
    return MASU_OK;
}

static masu_status check_kernel(const char *what, tl_kernel_index kernel, const tl_tensor *t, const tl_tensor *b) {
    if (!tl__kernels[kernel][t->dtype])
        return tl__error(TL_SAY(is_not_defined_for_bool_tensors), what);
    return kernel == TL_K_div && t->dtype == TL_I64 ? tl__no_zero(what, b) : MASU_OK;
}

masu_status tl__assign(const char *what, tl_kernel_index kernel, tl_tensor **t, tl_tensor *b) {
    tl_tensor *x;
    masu_status status = check_assign(what, *t, b);
    if (status != MASU_OK)
        return status;
    status = tl__as_dtype(b, (tl_dtype)(*t)->dtype, &x);
    if (status == MASU_OK)
        status = check_kernel(what, kernel, *t, x);
    if (status == MASU_OK)
        status = make_writable(t);
    if (status == MASU_OK) {
        const tl_tensor *operands[] = {*t, x};
        tl__map_into(kernel, *t, 2, operands, NULL);
    }
    tl__tensor_drop(x);
    return status;
}

/* A result, or one that becomes one, is computed again: with history. */
#define ASSIGN(name)                                                          \
    tl_tensor *tl_tensor_##name##_assign(tl_tensor *t, tl_tensor *b) {        \
        if (is_result(t) || (b->node && !t->node))                            \
            return tl_tensor_##name##_update(t, b);                           \
        masu_status status = tl__assign(#name "_assign", TL_K_##name, &t, b); \
        return replaced(status, t);                                           \
    }

ASSIGN(add)
ASSIGN(sub)
ASSIGN(mul)
ASSIGN(div)

/* ---- copies that need not be made ------------------------------------------------------------ */

/* A value: sharing cannot be seen, so the same header will do. With history, the copy is a
 * result of its own. */
static masu_status clone(tl_tensor *t, tl_tensor **out) {
    if (!t->node) {
        tl__tensor_retain(t);
        *out = t;
        return MASU_OK;
    }
    tl_tensor *view;
    masu_status status = tl__tensor_view(t, &view);
    return status == MASU_OK ? tl__record_identity(view, t, out) : status;
}

tl_tensor *tl_tensor_clone(tl_tensor *t) {
    TL_RETURN_TENSOR(clone(t, &out));
}

tl_tensor *tl_tensor_shallow_clone(tl_tensor *t) {
    tl__tensor_retain(t);
    return t;
}

static masu_status contiguous(tl_tensor *t, tl_tensor **out) {
    tl_tensor *dense;
    masu_status status = tl__tensor_contiguous(t, &dense);
    if (status != MASU_OK)
        return status;
    if (dense != t)
        return tl__record_identity(dense, t, out);
    *out = dense;
    return MASU_OK;
}

tl_tensor *tl_tensor_contiguous(tl_tensor *t) {
    TL_RETURN_TENSOR(contiguous(t, &out));
}

static masu_status copied(tl_tensor *t, tl_tensor **out) {
    tl_tensor *copy;
    masu_status status = tl__tensor_copied(t, &copy);
    return status == MASU_OK ? tl__record_identity(copy, t, out) : status;
}

tl_tensor *tl_tensor_copied(tl_tensor *t) {
    TL_RETURN_TENSOR(copied(t, &out));
}

/* ---- the shape ------------------------------------------------------------------------------- */

/* The length of the first dimension, as in PyTorch; 1 for rank 0. */
int64_t tl_tensor_len(tl_tensor *t) {
    return t->rank == 0 ? 1 : t->shape[0];
}

int64_t tl_tensor_rank(tl_tensor *t) {
    return t->rank;
}

int64_t tl_tensor_dim(tl_tensor *t, int64_t dim) {
    int index;
    if (MASU_LIKELY(tl__dimension("dim", t, dim, &index) == MASU_OK))
        return t->shape[index];
    tl__raise();
    return 0;
}

static masu_status shape(const tl_tensor *t, tl_tensor **out) {
    int64_t rank = t->rank;
    masu_status status = tl__tensor_new(TL_I64, 1, &rank, out);
    for (int i = 0; i < rank && status == MASU_OK; i++)
        ((int64_t *)(*out)->data)[i] = t->shape[i];
    return status;
}

tl_tensor *tl_tensor_shape(tl_tensor *t) {
    TL_RETURN_TENSOR(shape(t, &out));
}
