/* put.c: t[i] = row, t[a..b, j] = part: a block of a tensor written in place.
 *
 *     t [4, 5], bounds (1, SELECT) (2, 5)       ─►  the elements t[1, 2], t[1, 3], t[1, 4] as a block [3]
 *
 * The value broadcasts to the block. Memory that others see is copied first, so nothing that a backward needs is ever
 * overwritten. A tensor with a history goes on with a longer one: the gradient of what stood in the block is 0 from
 * here on, and the value gets what the block gets. A leaf takes plain numbers and stays the leaf that it was; a value
 * with a history is refused: its leaf would be one no more.
 *
 *     h[a..b] = v      dh = g, 0 in the block       dv = the block of g, summed over what v broadcast
 */
#include <inttypes.h>
#include <string.h>

#include "runtime/grad/formula.h"
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
        return tl__error(TL_SAY(index_is_out_range_for_length), from, length);
    if (to != SELECT && (from < 0 || end > length || from > end))
        return tl__error(TL_SAY(is_out_range_for_length), from, end, length);
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
        return tl__error(TL_SAY(indices_given_for_tensor_dimensions), count / WORDS, t->rank);
    masu_status status = MASU_OK;
    for (int d = 0; d < t->rank && status == MASU_OK; d++) {
        bool given = WORDS * (int64_t)d < count;
        status = add_dimension(b, t, d, given ? bounds[WORDS * d] : 0, given ? bounds[WORDS * d + 1] : END);
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
    return tl__error(TL_SAY(part_shape_cannot_take_up_one_shape), tl__shape_text(b->rank, b->shape, own),
                     tl__shape_text(value->rank, value->shape, other));
}

/* Dimension d and all behind it; data and from are at its first element. */
static void copy_block(const block *b, const tl_tensor *value, int d, size_t size, char *data, const char *from) {
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
        copy_block(b, value, d + 1, size, data + i * b->stride[d] * (int64_t)size, from + i * step * (int64_t)size);
}

/* ---- history ------------------------------------------------------------------------------------------------ */

static bool is_leaf(const tl_tensor *t) {
    return t->node && t->node->flags & TL_NODE_LEAF;
}

/* Extra words: the bounds, their number first. Inputs: what was written to, the value or nothing. */
static const int64_t *bounds_of(const tl_formula *f, int64_t *count) {
    const int64_t *extra = (const int64_t *)(const void *)tl__node_extra(f->node);
    *count = extra[0];
    return extra + 1;
}

/* The block of t as a view. */
static tl_tensor *block_part(tl_formula *f, tl_tensor *t, int64_t count, const int64_t *bounds) {
    for (int64_t d = count / WORDS - 1; d >= 0 && t; d--) {
        int64_t from = bounds[WORDS * d], to = bounds[WORDS * d + 1];
        int64_t end = to == SELECT ? from + 1 : to == END ? t->shape[d] : to;
        t = d_narrow(f, t, (int)d, from, end - from);
        if (to == SELECT)
            t = d_drop(f, t, (int)d);
    }
    return t;
}

static void put_formula(tl_formula *f) {
    int64_t count;
    const int64_t *bounds = bounds_of(f, &count);
    if (tl__f_wants(f, 0)) {
        tl_tensor *zero = d_zeros(f, (tl_dtype)f->g->dtype, 0, NULL);
        if (!zero)
            return;
        tl__tensor_retain(f->g); /* put gives back another one: g is seen by others */
        tl__f_deliver(f, 0, tl__f_keep(f, tl_tensor_put(f->g, zero, count, bounds)));
    }
    if (tl__f_wants(f, 1))
        tl__f_deliver(f, 1, block_part(f, f->g, count, bounds));
}

static const tl_rule put_rule = {"a write in place", NULL, put_formula};

/* own: *t's elements with the block written, without history. Consumes own; *t is replaced by it on success. */
static masu_status go_on(tl_tensor **t, tl_tensor *own, tl_tensor *value, int64_t count, const int64_t *bounds) {
    uint64_t words[1 + WORDS * TL_MAX_RANK] = {(uint64_t)count};
    memcpy(words + 1, bounds, (size_t)count * 8);
    masu_status status = tl__record(own, &(tl_origin){.rule = &put_rule,
                                                      .input_count = 2,
                                                      .inputs = (tl_tensor *[]){*t, value},
                                                      .extra_count = 1 + (int)count,
                                                      .extra = words});
    tl__tensor_drop(status == MASU_OK ? *t : own);
    if (status == MASU_OK)
        *t = own;
    return status;
}

static masu_status refuse_leaf(const tl_tensor *t, const tl_tensor *value) {
    if (!is_leaf(t) || !value->node || tl__runtime()->unrecorded)
        return MASU_OK;
    return tl__error(TL_SAY(is_leaf_assigning_part_it_would_make));
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

/* The target of a write: *t itself as memory of its own, or, when the history goes on, another header of it. */
static masu_status target_of(tl_tensor **t, bool recorded, tl_tensor **own) {
    *own = NULL;
    masu_status status = MASU_OK;
    if (recorded)
        status = tl__tensor_view(*t, own);
    else
        status = is_leaf(*t) ? tl__own_leaf(t) : tl__own_header(t);
    return status == MASU_OK ? tl__tensor_make_writable(recorded ? *own : *t) : status;
}

static masu_status put_ready(tl_tensor **t, tl_tensor *value, tl_tensor *x, int64_t count, const int64_t *bounds) {
    bool recorded = !tl__runtime()->unrecorded && (value->node || ((*t)->node && !is_leaf(*t)));
    block b;
    tl_tensor *own;
    masu_status status = target_of(t, recorded, &own);
    tl_tensor *to = own ? own : *t;
    if (status == MASU_OK)
        status = block_of(to, count, bounds, &b); /* a copy has other strides */
    if (status != MASU_OK) {
        tl__tensor_drop(own);
        return status;
    }
    size_t size = tl__dtype_size((tl_dtype)to->dtype);
    copy_block(&b, x, 0, size, (char *)to->data + b.offset * (int64_t)size, x->data);
    return recorded ? go_on(t, own, value, count, bounds) : MASU_OK;
}

masu_status tl__put(tl_tensor **t, tl_tensor *value, int64_t count, const int64_t *bounds) {
    block b;
    tl_tensor *x = NULL;
    masu_status status = refuse_leaf(*t, value);
    if (status == MASU_OK)
        status = block_of(*t, count, bounds, &b);
    if (status == MASU_OK)
        status = check_fit(&b, value);
    if (status == MASU_OK)
        status = tl__as_dtype(value, (tl_dtype)(*t)->dtype, &x);
    if (status == MASU_OK)
        status = put_ready(t, value, x, count, bounds);
    tl__tensor_drop(x);
    return status;
}

tl_tensor *tl_tensor_put(tl_tensor *t, tl_tensor *value, int64_t bounds_count, int64_t const *bounds) {
    masu_status status = tl__put(&t, value, bounds_count, bounds);
    if (MASU_LIKELY(status == MASU_OK))
        return t;
    tl__tensor_drop(t);
    tl__raise();
    return NULL;
}
