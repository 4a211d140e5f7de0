/* nonzero.c: where the elements are that are not 0: counted first, so that the result is made once and has its length.
 *
 *     [[0, 3], [5, 0]]   ─►   [[0, 1], [1, 0]]      one row of numbers for each, in row-major order; NaN is not 0
 */
#include <string.h>

#include "runtime/ops/ops.h"
#include "runtime/state.h"

static int64_t count_true(const tl_byte *at, int64_t n) {
    int64_t count = 0, i = 0;
    for (; i + 8 <= n; i += 8) { /* bytes are 0 or 1 */
        uint64_t eight;
        memcpy(&eight, at + i, sizeof eight);
        count += (int64_t)(eight * UINT64_C(0x0101010101010101) >> 56);
    }
    for (; i < n; i++)
        count += at[i];
    return count;
}

/* The numbers of a row of the last dimension of length n, along it, in room: how many. room has n. */
static int64_t true_in_row(const tl_byte *at, int64_t n, int64_t *room) {
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        room[found] = i; /* found <= i */
        found += at[i];
    }
    return found;
}

static int64_t *write_row(const int64_t *lead, int rank, const int64_t *room, int64_t found, int64_t *to) {
    for (int64_t i = 0; i < found; i++) {
        for (int d = 0; d < rank - 1; d++)
            *to++ = lead[d];
        *to++ = room[i];
    }
    return to;
}

static void write_places(const tl_tensor *t, int64_t *room, int64_t *to) {
    const int64_t n = t->shape[t->rank - 1];
    const tl_byte *at = t->data, *end = at + t->elements;
    int64_t lead[TL_MAX_RANK] = {0};
    for (; at < end; at += n) {
        to = write_row(lead, t->rank, room, true_in_row(at, n, room), to);
        for (int d = t->rank - 2; d >= 0; d--) {
            if (++lead[d] < t->shape[d])
                break;
            lead[d] = 0;
        }
    }
}

/* t is row-major bool. */
static masu_status places_of(const tl_tensor *t, tl_tensor **out) {
    const int64_t shape[] = {count_true(t->data, t->elements), t->rank};
    masu_status status = tl__tensor_new(TL_I64, 2, shape, out);
    if (status != MASU_OK || (*out)->elements == 0)
        return status;
    void *room;
    const size_t bytes = (size_t)t->shape[t->rank - 1] * sizeof(int64_t);
    status = tl__alloc(bytes, &room);
    if (status != MASU_OK) {
        tl__tensor_drop(*out);
        return status;
    }
    write_places(t, room, (*out)->data);
    tl__free(room, bytes);
    return MASU_OK;
}

static masu_status nonzero(tl_tensor *t, tl_tensor **out) {
    tl_tensor *x, *dense;
    masu_status status = tl__as_dtype(t, TL_BOOL, &x);
    if (status == MASU_OK)
        status = tl__tensor_contiguous(x, &dense);
    tl__tensor_drop(x);
    if (status != MASU_OK)
        return status;
    status = places_of(dense, out);
    tl__tensor_drop(dense);
    return status;
}

tl_tensor *tl_tensor_nonzero(tl_tensor *t) {
    TL_RETURN_TENSOR(nonzero(t, &out));
}
