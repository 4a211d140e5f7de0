/* walk.h: one pass over the elements of several tensors of one shape, in rows that a kernel's
 * loop can take.
 *
 *     [4, 3, 2] from [4, 3, 2] and [3, 1]    ─►  shape [4, 3, 2], second strides 0, 1, 0
 *     all contiguous and of shape [4, 3, 2]  ─►  shape [24]: one call of the kernel
 *
 * Dimensions of length 1 vanish and neighbours merge where every operand allows it, so that the
 * usual cases end as one row: same shape, or a single element beside a contiguous tensor.
 *
 * What must stay true: rank >= 1; the result's stride in the last dimension is 1; strides count
 * elements of each operand's own size; a dimension that an operand does not have, or has with
 * length 1, has stride 0 there.
 */
#ifndef MASU_RUNTIME_OPS_WALK_H
#define MASU_RUNTIME_OPS_WALK_H

#include "runtime/value/tensor.h"

enum { TL_WALK_OPERANDS = 3 };

/* n elements: out[i] from in[k][i * stride[k]]. p: the operation's numbers, never NULL. */
typedef void tl_kernel_function(int64_t n, void *out, const void *const *in, const int64_t *stride, const double *p);

typedef struct tl_walk {
    int rank;
    int operands;
    int64_t shape[TL_MAX_RANK + 1];
    int64_t out_stride[TL_MAX_RANK + 1];
    int64_t stride[TL_MAX_RANK + 1][TL_WALK_OPERANDS];
    size_t out_size;
    size_t size[TL_WALK_OPERANDS];
} tl_walk;

/* Each operand's shape broadcasts to out's. */
void tl__walk_init(tl_walk *walk, const tl_tensor *out, int operands, const tl_tensor *const *in);
/* Calls kernel once a row. p NULL: zeros. */
void tl__walk_run(const tl_walk *walk, tl_kernel_function *kernel, void *out, const void *const *in, const double *p);

/* The rows of one tensor, in row-major order of its elements; merged as above. */
typedef void tl_row_function(void *context, const void *data, int64_t n, int64_t stride);
void tl__rows(const tl_tensor *t, tl_row_function *row, void *context);

#endif
