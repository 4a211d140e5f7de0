/* put.c: t[i] = row, t[a..b, j] = part: a block of a tensor written in place.
 *
 *     t [4, 5], bounds (1, SELECT) (2, 5)       ─►  the elements t[1, 2], t[1, 3], t[1, 4] as a block [3]
 *
 * The value broadcasts to the block. As for single elements, memory that others see is copied first, and a tensor that
 * tracks gradients is refused: nothing would remember what stood there.
 */
#include <inttypes.h>
#include <string.h>

#include "runtime/ops/ops.h"
#include "runtime/state.h"

enum { WORDS = 2 }; /* of `bounds` for each dimension: from, and to or SELECT */

#define SELECT INT64_MIN /* one index: the dimension is not one of the block */
#define END    INT64_MAX /* to the end of the dimension */

typedef struct block {
    int rank;
    int64_t shape[TL_MAX_RANK], stride[TL_MAX_RANK], offset;
} block;

static masu_status add_dimension(block *b, const tl_tensor *t, int d, int64_t from, int64_t to) {
    int64_t length = t->shape[d], end = to == END ? length : to;
    if (to == SELECT && (from < 0 || from >= length))
        return tl__error(MASU_ERR_INDEX_OUT_OF_RANGE,
                         "index %" PRId64 " is out of range for length %" PRId64, from, length);
    if (to != SELECT && (from < 0 || end > length || from > end))
        return tl__error(MASU_ERR_INDEX_OUT_OF_RANGE,
                         "%" PRId64 "..%" PRId64 " is out of range for length %" PRId64, from, end,
                         length);
    b->offset += from * t->stride[d];
    if (to == SELECT)
        return MASU_OK;
    b->shape[b->rank] = end - from;
    b->stride[b->rank++] = t->stride[d];
    return MASU_OK;
}

static masu_status block_of(const tl_tensor *t, int64_t count, const int64_t *bounds, block *b) {
    *b = (block){0};
    if (count > WORDS * (int64_t)t->rank)
        return tl__error(MASU_ERR_INDEX_OUT_OF_RANGE,
                         "%" PRId64 " indices given for a tensor of %d dimensions", count / WORDS,
                         t->rank);
    masu_status status = MASU_OK;
    for (int d = 0; d < t->rank && status == MASU_OK; d++) {
        bool given = WORDS * (int64_t)d < count;
        status = add_dimension(b, t, d, given ? bounds[WORDS * d] : 0,
                               given ? bounds[WORDS * d + 1] : END);
    }
    return status;
}

static masu_status check_fit(const block *b, const tl_tensor *value) {
    bool fits = value->rank <= b->rank;
    for (int i = 0; fits && i < value->rank; i++) {
        int64_t n = value->shape[value->rank - 1 - i];
        fits = n == 1 || n == b->shape[b->rank - 1 - i];
    }
    char own[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    if (fits)
        return MASU_OK;
    return tl__error(MASU_ERR_SHAPE_MISMATCH, "a part of shape %s cannot take up one of shape %s",
                     tl__shape_text(b->rank, b->shape, own),
                     tl__shape_text(value->rank, value->shape, other));
}

/* Dimension d and all behind it; data and from stand at its first element. */
static void copy_block(const block *b, const tl_tensor *value, int d, size_t size, char *data,
                       const char *from) {
    if (d == b->rank) {
        memcpy(data, from, size);
        return;
    }
    int own = d - (b->rank - value->rank);
    int64_t step = own < 0 || value->shape[own] == 1 ? 0 : value->stride[own];
    if (d == b->rank - 1 && b->stride[d] == 1 && step == 1) {
        memcpy(data, from, (size_t)b->shape[d] * size);
        return;
    }
    for (int64_t i = 0; i < b->shape[d]; i++)
        copy_block(b, value, d + 1, size, data + i * b->stride[d] * (int64_t)size,
                   from + i * step * (int64_t)size);
}

static masu_status refuse_history(const tl_tensor *t, const tl_tensor *value) {
    bool result = t->node && !(t->node->flags & TL_NODE_LEAF);
    if (!result && !value->node)
        return MASU_OK;
    return tl__error(MASU_ERR_MODIFIED_IN_PLACE,
                     result ? "assigning to a part would change a result that backward may need; "
                              "call detach(false) first"
                            : "assigning to a part would lose the history of what is assigned; "
                              "detach it first, or put parts together with cat and stack");
}

static masu_status put(tl_tensor **t, tl_tensor *value, int64_t count, const int64_t *bounds) {
    block b;
    tl_tensor *x = NULL;
    masu_status status = refuse_history(*t, value);
    if (status == MASU_OK)
        status = block_of(*t, count, bounds, &b);
    if (status == MASU_OK)
        status = check_fit(&b, value);
    if (status == MASU_OK)
        status = tl__as_dtype(value, (tl_dtype)(*t)->dtype, &x);
    if (status == MASU_OK)
        status = (*t)->node ? tl__own_leaf(t) : tl__own_header(t);
    if (status == MASU_OK)
        status = tl__tensor_make_writable(*t);
    if (status == MASU_OK)
        status = block_of(*t, count, bounds, &b); /* a copy has other strides */
    if (status == MASU_OK) {
        size_t size = tl__dtype_size((tl_dtype)(*t)->dtype);
        copy_block(&b, x, 0, size, (char *)(*t)->data + b.offset * (int64_t)size, x->data);
    }
    tl__tensor_drop(x);
    return status;
}

tl_tensor *tl_tensor_put(tl_tensor *t, tl_tensor *value, int64_t bounds_count,
                         int64_t const *bounds) {
    masu_status status = put(&t, value, bounds_count, bounds);
    if (MASU_LIKELY(status == MASU_OK))
        return t;
    tl__tensor_drop(t);
    tl__raise();
    return NULL;
}
