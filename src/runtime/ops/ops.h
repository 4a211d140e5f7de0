/* ops.h: what the operations share with each other and with autograd. Private to the runtime.
 *
 * An operation has up to three layers:
 *
 *     tl_tensor_sum      entry point of abi.def: calls the operation, raises
 *     sum                static: computes, then gives the result its history when an operand tracks
 *     tl__sum            computes only; also what rules of differentiation call
 *
 * Functions here return statuses, have described their failure with tl__error, leave nothing
 * behind on failure, and record no history unless said otherwise. `what` is the operation's name
 * for messages. Results have count 1.
 */
#ifndef MASU_RUNTIME_OPS_OPS_H
#define MASU_RUNTIME_OPS_OPS_H

#include "runtime/grad/autograd.h"
#include "runtime/ops/kernels.h"

/* ---- rules of differentiation ---------------------------------------------------------------- */

/* Those that ops.def names: tl__rule_sum and so on, each defined beside its operation. */
#define BY(rule)        extern const tl_rule tl__rule_##rule;
#define BY_KERNEL(back) /* unary.c, binary.c */
#define FOLLOWS
#define NO_GRADIENT
#define OP(result, symbol, parameters, effects, shape, dtype, gradient, example, text) gradient
#include <masu/ops.def>
#undef BY
#undef BY_KERNEL
#undef FOLLOWS
#undef NO_GRADIENT

/* By function: the rule of the table, NULL where it names none (rules.c). */
extern const tl_rule *const tl__operation_rules[TL_FN_COUNT];

/* ---- shapes and types (shape.c) -------------------------------------------------------------- */

const char *tl__dtype_name(tl_dtype dtype);

static inline bool tl__is_float(const tl_tensor *t) {
    return t->dtype == TL_F32 || t->dtype == TL_F64;
}

static inline bool tl__same_shape(const tl_tensor *a, const tl_tensor *b) {
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

/* bool < i64 < f32 < f64 */
tl_dtype tl__promote(tl_dtype a, tl_dtype b);
/* The type of a tensor beside a scalar: a floating one stays, an i64 stays i64 beside a whole
 * number. */
tl_dtype tl__scalar_dtype(tl_dtype dtype, double scalar);
/* Floating as it is, else f32. */
static inline tl_dtype tl__float_dtype(const tl_tensor *t) {
    return tl__is_float(t) ? (tl_dtype)t->dtype : TL_F32;
}

/* Dimension dim of t, negative ones counted from the end. MASU_ERR_INDEX_OUT_OF_RANGE. */
masu_status tl__dimension(const char *what, const tl_tensor *t, int64_t dim, int *out);

/* Grows (rank, shape) so that t broadcasts to it. MASU_ERR_SHAPE_MISMATCH, naming both shapes. */
masu_status tl__broadcast(const char *what, const tl_tensor *t, int *rank, int64_t *shape);

/* t as dtype, in *out; *out must be given to tl__tensor_drop in either case. Cheap when there is
 * nothing to do. */
masu_status tl__as_dtype(tl_tensor *t, tl_dtype dtype, tl_tensor **out);
/* The same, its elements in rows without gaps. */
masu_status tl__dense_as(tl_tensor *t, tl_dtype dtype, tl_tensor **out);
/* The same of places or lengths, as i64: a fraction is MASU_ERR_INVALID_ARGUMENT, named as an index of `what`. */
masu_status tl__dense_places(const char *what, tl_tensor *t, tl_tensor **out);
/* The same of two; what is not made is NULL, both are to be dropped. */
masu_status tl__both_as(tl_tensor *a, tl_tensor *b, tl_dtype dtype, tl_tensor **x, tl_tensor **y);

/* A row-major tensor along dim: outer * inner lines of n elements, inner apart. */
typedef struct tl_lines {
    int64_t outer, n, inner;
} tl_lines;

static inline tl_lines tl__lines_of(const tl_tensor *t, int dim) {
    tl_lines l = {1, t->shape[dim], 1};
    for (int i = 0; i < dim; i++)
        l.outer *= t->shape[i];
    for (int i = dim + 1; i < t->rank; i++)
        l.inner *= t->shape[i];
    return l;
}

/* ---- making (creation.c) --------------------------------------------------------------------- */

/* value is converted as by `as`. */
masu_status tl__full(tl_dtype dtype, int rank, const int64_t *shape, double value, tl_tensor **out);
/* Contiguous, of its own storage. */
masu_status tl__copy(const tl_tensor *t, tl_tensor **out);
void tl__fill(tl_tensor *t, double value);
int64_t tl__i64_of(double value);

/* ---- where a result is not 0, in bits (signs.c) ------------------------------------------------- */

/* Whether its signs are worth saving in place of t. */
bool tl__signs_pay(const tl_tensor *t);
/* A fresh bool tensor of the bits of t, which is contiguous, floating, and nowhere negative. */
masu_status tl__signs_of(tl_tensor *t, tl_tensor **out);
/* The pass's gradient, 0 where the signs that the node saved are: in place where that is not seen. */
masu_status tl__signs_mask(tl_pass *pass, tl_node *node, tl_tensor **out);

/* ---- elements by their numbers (index.c) --------------------------------------------------------- */

/* index as row-major i64, every element within [0, n), else MASU_ERR_INDEX_OUT_OF_RANGE: as in PyTorch, a number below
 * 0 counts from nowhere. The caller owns *out. */
masu_status tl__ready_index(const char *what, tl_tensor *index, int64_t n, tl_tensor **out);
/* The rows of a row-major index, one after the other. Element i of a row names element named + numbers[i] * along + i *
 * own of the row-major tensor in which it names places along dim, and lies where element other + i of another one does,
 * which has the index's shape or a larger one. */
typedef struct tl_index_row {
    const int64_t *numbers;
    int64_t n, named, along, own, other;
    /* the walk itself */
    const tl_tensor *index;
    int last;
    int64_t at[TL_MAX_RANK], named_step[TL_MAX_RANK], other_step[TL_MAX_RANK];
} tl_index_row;

/* False when there is no row (more). An index of rank 0 is one row of one number. */
bool tl__first_row(tl_index_row *row, const tl_tensor *named, int dim, const tl_tensor *index, const tl_tensor *other);
bool tl__next_row(tl_index_row *row);

/* ---- element-wise (map.c) -------------------------------------------------------------------- */

/* Operands of one element type (but where the kernel says otherwise) whose shapes broadcast to
 * out's; out may be the same memory as an operand of the same shape and strides. p NULL: no
 * numbers. */
void tl__map_into(tl_kernel_index kernel, tl_tensor *out, int operands, const tl_tensor *const *in, const double *p);
/* Into a fresh tensor of the given type and shape. */
masu_status tl__map(tl_kernel_index kernel, tl_dtype dtype, int rank, const int64_t *shape, int operands,
                    const tl_tensor *const *in, const double *p, tl_tensor **out);
/* A fresh tensor of t's shape and dtype: t * factor. */
masu_status tl__scale(const tl_tensor *t, double factor, tl_tensor **out);
/* MASU_ERR_DIVISION_BY_ZERO when an element of an i64 tensor is 0. */
/* *t op= b in memory that only *t sees; b untracked, not larger. On failure *t is still owned, its value unchanged. */
masu_status tl__assign(const char *what, tl_kernel_index kernel, tl_tensor **t, tl_tensor *b);
/* A view with its history: dimension i is t's dimension order[i]. */
masu_status tl__permute_recorded(tl_tensor *t, const int *order, tl_tensor **out);
masu_status tl__no_zero(const char *what, const tl_tensor *divisor);
/* MASU_ERR_INVALID_ARGUMENT when an element of an i64 tensor is negative. */
masu_status tl__no_negative(const char *what, const tl_tensor *exponent);

/* ---- reductions (reduce.c) ------------------------------------------------------------------- */

/* Over all elements, rank 0; bool counts as i64. */
masu_status tl__sum(const tl_tensor *t, tl_tensor **out);
/* Over one dimension, which vanishes. */
masu_status tl__sum_dim(const tl_tensor *t, int dim, tl_tensor **out);
/* Over every dimension that broadcasting from `shape` to t's shape added or widened. */
masu_status tl__sum_to(tl_tensor *t, int rank, const int64_t *shape, tl_tensor **out);

/* ---- views (views.c) ------------------------------------------------------------------------- */

/* Same elements in row-major order; a copy when t's strides do not allow a view. The number of
 * elements must fit. */
masu_status tl__reshape(tl_tensor *t, int rank, const int64_t *shape, tl_tensor **out);
/* With history when t has one; the number of elements must fit. */
masu_status tl__reshape_recorded(tl_tensor *t, int rank, const int64_t *shape, tl_tensor **out);
masu_status tl__permute(const tl_tensor *t, const int *order, tl_tensor **out);
masu_status tl__transpose_last(const tl_tensor *t, tl_tensor **out);
/* Dimensions of length 1 widen, new ones come in front. Must be possible. */
masu_status tl__expand(const tl_tensor *t, int rank, const int64_t *shape, tl_tensor **out);
/* Elements [from, from + length) of dimension dim. */
masu_status tl__narrow(const tl_tensor *t, int dim, int64_t from, int64_t length, tl_tensor **out);
masu_status tl__insert_dim(const tl_tensor *t, int dim, int64_t length, tl_tensor **out); /* length > 1: stride 0 */
masu_status tl__remove_dim(const tl_tensor *t, int dim, tl_tensor **out);                 /* takes index 0 */

/* A result that only shows t's elements: history that passes the gradient through tl__deliver,
 * if t tracks. */
masu_status tl__record_identity(tl_tensor *result, tl_tensor *t, tl_tensor **out);

/* ---- products (matmul.c) --------------------------------------------------------------------- */

/* Floating or i64, both alike, rank >= 2, broadcasting the leading dimensions. */
/* Before a call of BLAS or LAPACK: OUT_OF_MEMORY where it would wait for memory of its own for ever. O(1). */
masu_status tl__blas_room(void);
masu_status tl__matmul(tl_tensor *a, tl_tensor *b, tl_tensor **out);

/* ---- soft maximum (softmax.c) ---------------------------------------------------------------- */

masu_status tl__log_softmax(tl_tensor *t, int dim, tl_tensor **out);

/* *t with the block that bounds name (two words a dimension) replaced by value, which broadcasts; with the history that
 * both have (put.c). On failure *t is still owned, its value unchanged. */
masu_status tl__put(tl_tensor **t, tl_tensor *value, int64_t count, const int64_t *bounds);

/* ---- writing (leaf.c, elements.c) ------------------------------------------------------------ */

/* *t, one count of which the caller owns, as a header with a single holder. Without history if
 * it is a new one. */
masu_status tl__own_header(tl_tensor **t);
/* The same of a leaf that is to be written to: the leaf that it was, its gradient with it, when it has a single holder,
 * else a new one. A history that needs the old value goes on to deliver to the old leaf. */
masu_status tl__own_leaf(tl_tensor **t);

/* The usual last lines of an entry point. */
#define TL_RETURN_TENSOR(call)                   \
    do {                                         \
        tl_tensor *out = NULL;                   \
        masu_status status = (call);             \
        return tl__tensor_or_raise(status, out); \
    } while (0)

#endif
