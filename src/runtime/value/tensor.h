/* tensor.h: the tensor, its storage, and the head that every counted object shares. Private to the runtime.
 *
 *   tl_tensor ──► tl_storage ──► bytes in a pool
 *      │   ▲          ▲
 *      │   └ views    └ other tensors that share the bytes, values saved for backward
 *      └──► tl_node (history) ──► nodes of the operands, saved values (tensors without history)
 *
 * History points from results to operands only, and saved values carry no history: no cycles, so counts
 * suffice. Values are values: a writer into a storage with count > 1 copies it first.
 *
 * What must stay true (tl__tensor_valid checks it):
 *     head.count >= 1, rank <= TL_MAX_RANK, elements = product of shape
 *     elements == 0 or every reachable element lies inside [storage->data, storage->data + storage->bytes)
 *     contiguous  ==  strides are those of row-major order, leaving dimensions of length 1 out; true without elements
 *     node == NULL for integers and bools
 *     storage->count = tensors that point to it;   elements == 0 may have data == NULL
 */
#ifndef MASU_RUNTIME_TENSOR_H
#define MASU_RUNTIME_TENSOR_H

#include <masu/abi.h>
#include <masu/status.h>

typedef enum tl_kind { TL_TENSOR, TL_STRING, TL_VECTOR, TL_HANDLE } tl_kind;

struct tl_object {
    uint32_t count;      /* strict reference count; the last release frees */
    uint32_t registered; /* 1 + position in the dynamic registry, 0 when not registered */
    uint8_t kind;        /* tl_kind */
    bool is_dropped;     /* of a vector with a destructor: it has run, or the program ends without it */
};

/* Whether a storage was made by joining, and whether there is room behind it: growth.c. */
typedef enum tl_growth { TL_GROWTH_NONE, TL_GROWTH_JOINED, TL_GROWTH_ROOM } tl_growth;

/* In place of a slot's number: the bytes are a caller's in C, who takes them back (calls/). */
#define TL_SLOT_FOREIGN UINT32_MAX

typedef struct tl_storage {
    uint32_t count;
    uint32_t holders : 30; /* scratch of tl__tensors_valid: 0 outside it */
    uint32_t growth : 2;   /* tl_growth */
    uint32_t version;      /* writes into it since it was made: what backward saved must still have the same */
    uint32_t written_site; /* of the last write; 0: not known, or none */
    uint32_t slot;         /* 1 + the growing slot whose buffer data is (result_slots.c), or TL_SLOT_FOREIGN; 0: none */
    size_t bytes;          /* as requested; 0 bytes have no data: a tensor without elements still has a storage */
    void *data;
} tl_storage;

typedef struct tl_node tl_node; /* autograd.h */

struct tl_tensor {
    tl_object head;
    uint8_t dtype; /* tl_dtype */
    uint8_t rank;
    bool contiguous;
    tl_storage *storage;
    void *data; /* first element, inside storage */
    int64_t elements;
    tl_node *node; /* history or leaf; NULL for plain data */
    int64_t shape[TL_MAX_RANK];
    int64_t stride[TL_MAX_RANK]; /* in elements */
};

static inline size_t tl__dtype_size(tl_dtype dtype) {
    static const uint8_t sizes[TL_DTYPE_COUNT] = {4, 8, 8, 1};
    return sizes[dtype];
}

/* Internal functions return a status and leave nothing behind on failure; the tl_* entry points raise.
 * A failing function has described itself with tl__error(TL_SAY(row), …), which returns the status of the row. */

/* A fresh contiguous tensor of count 1, contents undefined; counts into the statistics. shape may be NULL for rank
 * 0. */
masu_status tl__tensor_new(tl_dtype dtype, int rank, const int64_t *shape, tl_tensor **out);
/* Same, in a storage with room behind it (growth.h). MASU_ERR_LIMIT_REACHED, not described, when there is no such
 * thing. */
masu_status tl__tensor_new_with_room(tl_dtype dtype, int rank, const int64_t *shape, tl_tensor **out);
/* Same, zero-filled. */
masu_status tl__tensor_new_zeroed(tl_dtype dtype, int rank, const int64_t *shape, tl_tensor **out);
/* MASU_ERR_OVERFLOW where the bytes of so many elements cannot be counted, in a view of fewer, too. */
masu_status tl__tensor_countable(tl_dtype dtype, int rank, const int64_t *shape);
/* A contiguous tensor over elements that are not the runtime's. The caller keeps this count: then nothing is ever
 * written over them. */
masu_status tl__tensor_foreign(tl_dtype dtype, int rank, const int64_t *shape, void *data, tl_tensor **out);
/* If anybody else holds the storage of such a tensor, it gets bytes of its own with the same elements. O(live tensors)
 * then. */
masu_status tl__tensor_settle(tl_tensor *t);
/* A new header over t's storage (count + 1 on the storage), without history. Shape, strides copied; the caller may
 * change them and then calls tl__tensor_refresh. */
masu_status tl__tensor_view(const tl_tensor *t, tl_tensor **out);
/* Recomputes elements and contiguous from shape and stride. */
void tl__tensor_refresh(tl_tensor *t);
/* Elements and strides of a contiguous tensor whose shape was changed. */
void tl__tensor_relay(tl_tensor *t);
/* Gives t a storage of its own when it shares one or is not contiguous (copy on write), and counts the write that is to
 * come. t must be uniquely owned. */
masu_status tl__tensor_make_writable(tl_tensor *t);
/* t as contiguous row-major data: t itself with one more count, or a fresh copy. No history. */
masu_status tl__tensor_contiguous(tl_tensor *t, tl_tensor **out);
masu_status tl__tensor_copied(const tl_tensor *t, tl_tensor **out); /* always a buffer of its own */
/* t converted: itself with one more count when the dtype is right. No history on a converted copy. */
masu_status tl__tensor_cast(tl_tensor *t, tl_dtype dtype, tl_tensor **out);
static inline void tl__tensor_retain(tl_tensor *t) {
    t->head.count++;
} /* internal holds: not counted as retain_ops */
void tl__tensor_drop(tl_tensor *t); /* internal: NULL is fine; frees at zero, iteratively */
bool tl__tensor_valid(const tl_tensor *t);
void tl__storage_drop(tl_storage *s);
/* A writer into a tensor that exists says so, whatever made sure that it is not seen elsewhere: a value that was saved
 * for backward and is written all the same is then an error there, and never a wrong gradient. */
void tl__storage_written(tl_storage *s);

/* ---- history (autograd.c): called by tensor.c when a header dies -------------------------------------------- */

void tl__node_drop(tl_node *node); /* one hold less; frees the graph above without recursion */

#endif
