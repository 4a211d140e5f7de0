/* tensor.h: a tensor as programs on both sides of a border see it: where its elements lie, of which type they are, and
 * how the border counts them. A view owns nothing unless it says so.
 *
 *     masu_tensor ─┬─ data ──────────► first element, in memory of the processor
 *                  ├─ element, rank, shape, stride (in elements, not bytes; 0 and negative ones are fine)
 *                  └─ owner            NULL: who made the view frees the elements; else masu_module.release does
 *
 * A view is plain data: copy it, keep it, fill it by hand. Used by <masu/module.h> and by the headers that
 * `masu build --shared --header` writes. C11 and C++.
 */
#ifndef MASU_TENSOR_H
#define MASU_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include <masu/export.h>

#ifdef __cplusplus
extern "C" {
#endif

MASU_HEADER_BEGIN

/* The type of the elements. f32: float, f64: double, i64: int64_t, bool: one byte, 0 or 1. The numbers are part of the
 * binary interface. */
typedef enum masu_element { MASU_F32, MASU_F64, MASU_I64, MASU_BOOL, MASU_ELEMENT_COUNT } masu_element;

enum { MASU_RANK_MAX = 8 };

/* Where the elements lie. Anything but the host is refused with MASU_ERR_UNSUPPORTED. */
enum { MASU_TENSOR_ON_HOST = 0 };

/* The elements are not to be written: the program still uses them, or they were given so. */
enum { MASU_TENSOR_READ_ONLY = 1 };

typedef struct masu_tensor {
    void *data; /* of the first element, aligned to its size; may be NULL where there are no elements */
    masu_element element;
    int32_t device;
    int32_t rank;                  /* 0 to MASU_RANK_MAX; 0 is one number */
    uint32_t flags;                /* MASU_TENSOR_READ_ONLY or 0 */
    int64_t shape[MASU_RANK_MAX];  /* the first `rank` count, each >= 0 */
    int64_t stride[MASU_RANK_MAX]; /* from one element to the next of that dimension, counted in elements */
    void *owner;                   /* opaque; NULL: borrowed memory */
} masu_tensor;

/* Bytes of one element; 0 for any other number. */
static inline size_t masu_element_bytes(masu_element element) {
    return element == MASU_F32 ? 4 : element == MASU_BOOL ? 1 : element == MASU_F64 || element == MASU_I64 ? 8 : 0;
}

/* A view of elements that lie one behind the other, the last dimension fastest (row-major, as in C). Borrows data. A
 * rank outside of 0 to MASU_RANK_MAX is kept as it is, and refused where the view is used. */
static inline masu_tensor masu_tensor_of(masu_element element, void *data, int32_t rank, const int64_t *shape) {
    masu_tensor t;
    int64_t stride = 1;
    int32_t i;
    t.data = data;
    t.element = element;
    t.device = MASU_TENSOR_ON_HOST;
    t.rank = rank;
    t.flags = 0;
    t.owner = NULL;
    for (i = 0; i < MASU_RANK_MAX; i++)
        t.shape[i] = t.stride[i] = 0;
    for (i = rank - 1; i >= 0 && rank <= MASU_RANK_MAX; i--) {
        t.shape[i] = shape[i];
        t.stride[i] = stride;
        stride = (int64_t)((uint64_t)stride * (uint64_t)shape[i]);
    }
    return t;
}

/* Elements of the view: the product of its shape. 0 for a rank that cannot be. */
static inline int64_t masu_tensor_elements(const masu_tensor *t) {
    int64_t elements = t->rank >= 0 && t->rank <= MASU_RANK_MAX;
    int32_t i;
    for (i = 0; elements && i < t->rank; i++)
        elements *= t->shape[i];
    return elements;
}

/* A result that the callee makes: see masu_module.call. */
static inline masu_tensor masu_tensor_wanted(void) {
    return masu_tensor_of(MASU_F32, NULL, 0, NULL);
}

MASU_HEADER_END

#ifdef __cplusplus
}
#endif

#endif
