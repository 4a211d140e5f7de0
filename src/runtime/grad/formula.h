/* formula.h: rules of differentiation whose results can be differentiated again.
 *
 * Why: a rule of kernels (tl_rule.backward) is fast and writes over what it no longer needs, but nothing remembers how
 * its result came about. A formula says the same in operations that record: so a gradient made by formulas is a tensor
 * with a history like any other, and its gradient is made by the formulas of the operations in it. Every
 * order follows from this one principle; an operation without a formula refuses by its name.
 *
 *     tanh        kernel  g * (1 - y * y)       formula  d_mul(f, f->g, d_rsub(f, d_mul(f, y, y), 1.0))
 *
 * Saved values have no history; a formula takes them through tl__f_input and tl__f_result, which give them back the
 * one that they had. What a formula makes on the way is the formula's and goes with it. After a failure every d_
 * function does nothing and yields NULL; the caller of the formula looks at `status` at the end.
 *
 * A test compares formulas with kernels, and second derivatives with finite differences, for every operation.
 */
#ifndef MASU_RUNTIME_FORMULA_H
#define MASU_RUNTIME_FORMULA_H

#include "runtime/ops/ops.h"

enum { TL_FORMULA_MADE = 128 };

struct tl_formula {
    tl_node *node;
    tl_tensor *g; /* the gradient of the node's result, borrowed */
    bool tracks;  /* else saved values stay without history, and so does what is made */
    masu_status status;
    int made_count;
    tl_tensor *made[TL_FORMULA_MADE]; /* owned */
};

/* Runs the node's formula on g, borrowed: adds to what its inputs collect, with history if `tracks`. */
masu_status tl__formula_run(tl_node *node, tl_tensor *g, bool tracks);

/* Whether somebody waits for the gradient of input i. */
bool tl__f_wants(const tl_formula *f, int i);
/* Adds t, borrowed, to what input i collects; NULL after a failure. Sums over broadcast dimensions, converts. */
void tl__f_deliver(tl_formula *f, int i, tl_tensor *t);
/* Saved value `saved`, which was input `input` when it was saved (perhaps in another element type). */
tl_tensor *tl__f_input(tl_formula *f, int saved, int input);
/* Saved value `saved`, which is the node's result. */
tl_tensor *tl__f_result(tl_formula *f, int saved);
/* Saved value `saved` as a number that nothing depends on. */
tl_tensor *tl__f_constant(tl_formula *f, int saved);
/* t, owned, is the formula's from now on; NULL: the operation failed. */
tl_tensor *tl__f_keep(tl_formula *f, tl_tensor *t);
void tl__f_fail(tl_formula *f, masu_status status);
/* There is no formula after all: an error that names the operation. */
void tl__f_refuse(tl_formula *f);

/* ---- operations on what a formula has: borrowed operands, results that are the formula's ---------------------- */

#define D_UNARY(name, call)                                          \
    static inline tl_tensor *d_##name(tl_formula *f, tl_tensor *t) { \
        return t ? tl__f_keep(f, call) : NULL;                       \
    }
#define D_BINARY(name)                                                             \
    static inline tl_tensor *d_##name(tl_formula *f, tl_tensor *a, tl_tensor *b) { \
        return a && b ? tl__f_keep(f, tl_tensor_##name(a, b)) : NULL;              \
    }
#define D_SCALAR(name, function)                                               \
    static inline tl_tensor *d_##name(tl_formula *f, tl_tensor *t, double s) { \
        return t ? tl__f_keep(f, tl_tensor_##function(t, s)) : NULL;           \
    }
D_UNARY(neg, tl_tensor_neg(t))
D_UNARY(exp, tl_tensor_exp(t))
D_UNARY(log, tl_tensor_log(t))
D_UNARY(sqrt, tl_tensor_sqrt(t))
D_UNARY(sin, tl_tensor_sin(t))
D_UNARY(cos, tl_tensor_cos(t))
D_UNARY(sinh, tl_tensor_sinh(t))
D_UNARY(cosh, tl_tensor_cosh(t))
D_UNARY(tanh, tl_tensor_tanh(t))
D_UNARY(erf, tl_tensor_erf(t))
D_UNARY(sigmoid, tl_tensor_sigmoid(t))
D_UNARY(softplus, tl_tensor_softplus(t))
D_UNARY(digamma, tl_tensor_digamma(t))
D_UNARY(sign, tl_tensor_sign(t))
D_UNARY(trunc, tl_tensor_trunc(t))
D_UNARY(square, tl_tensor_pow_scalar(t, 2.0))
D_UNARY(sum, tl_tensor_sum(t))
D_BINARY(add)
D_BINARY(sub)
D_BINARY(mul)
D_BINARY(div)
D_BINARY(pow)
D_BINARY(hypot)
D_BINARY(floor_divide)
D_BINARY(matmul)
D_SCALAR(plus, add_scalar)
D_SCALAR(times, mul_scalar)
D_SCALAR(over, div_scalar)
D_SCALAR(rsub, rsub_scalar)
D_SCALAR(rdiv, rdiv_scalar)
D_SCALAR(power, pow_scalar)

/* t where the condition holds, else 0. */
tl_tensor *d_where(tl_formula *f, tl_tensor *condition, tl_tensor *a, tl_tensor *b);
tl_tensor *d_masked(tl_formula *f, tl_tensor *condition, tl_tensor *t);
/* 0 == 1 != 2 < 3 <= 4 > 5 >= */
tl_tensor *d_compare(tl_formula *f, tl_tensor *a, tl_tensor *b, int relation);
tl_tensor *d_compare_to(tl_formula *f, tl_tensor *t, double s, int relation);
tl_tensor *d_both(tl_formula *f, tl_tensor *a, tl_tensor *b); /* both hold */
tl_tensor *d_detached(tl_formula *f, tl_tensor *t);
tl_tensor *d_zeros(tl_formula *f, tl_dtype dtype, int rank, const int64_t *shape);
tl_tensor *d_ones_like(tl_formula *f, tl_tensor *t);
tl_tensor *d_reshape(tl_formula *f, tl_tensor *t, int rank, const int64_t *shape);
tl_tensor *d_expand(tl_formula *f, tl_tensor *t, int rank, const int64_t *shape);
tl_tensor *d_insert(tl_formula *f, tl_tensor *t, int dim); /* a dimension of length 1 */
tl_tensor *d_drop(tl_formula *f, tl_tensor *t, int dim);   /* one of length 1 away */
tl_tensor *d_narrow(tl_formula *f, tl_tensor *t, int dim, int64_t from, int64_t length);
tl_tensor *d_turned(tl_formula *f, tl_tensor *t);           /* the last two dimensions exchanged */
tl_tensor *d_sum_dim(tl_formula *f, tl_tensor *t, int dim); /* dim stays, with length 1 */
tl_tensor *d_tril(tl_formula *f, tl_tensor *t, int64_t k);
tl_tensor *d_to_shape(tl_formula *f, tl_tensor *t, int rank, const int64_t *shape); /* sums what broadcasting widened */

#endif
