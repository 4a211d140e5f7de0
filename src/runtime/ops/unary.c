/* unary.c: one tensor, element by element, perhaps with one or two numbers.
 *
 * Each operation is an entry of ops.def (ELEMENT): its kernel, what is saved for backward
 * (nothing, the operand, or the result, whichever suffices) and the kernel that turns the
 * gradient back:
 *
 *     saves nothing    back(g)          AS_IS: the gradient as it is
 *     saves a value    back(g, value)
 *     saves signs      g where the result is not 0 (signs.c), as back(g, result) would say; small results are saved
 *                      whole
 */
#include <math.h>

#include "runtime/ops/element_formulas.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* No kernel: the gradient passes as it is. */
#define TL_K_AS_IS TL_K_COUNT

typedef enum saves { SAVES_NOTHING, SAVES_INPUT, SAVES_RESULT, SAVES_SIGNS } saves;

typedef struct unary_operation {
    tl_rule rule;
    tl_kernel_index kernel;
    saves saves;
    tl_kernel_index back;
    int numbers; /* that back needs again */
} unary_operation;

/* ---- backward -------------------------------------------------------------------------------- */

static masu_status unary_backward(tl_pass *pass, tl_node *node) {
    const unary_operation *operation = (const unary_operation *)(const void *)node->rule;
    tl_node *input = tl__node_inputs(node)[0];
    if (operation->back == TL_K_AS_IS)
        return tl__deliver(input, tl__take_gradient(pass));
    bool has_saved = operation->saves != SAVES_NOTHING;
    if (operation->saves == SAVES_SIGNS && tl__node_saved(node)[0]->dtype == TL_BOOL) {
        tl_tensor *masked;
        masu_status masking = tl__signs_mask(pass, node, &masked);
        return masking == MASU_OK ? tl__deliver(input, masked) : masking;
    }
    const tl_tensor *operands[] = {pass->gradient, has_saved ? tl__node_saved(node)[0] : NULL};
    const double *numbers = operation->numbers ? (const double *)(const void *)tl__node_extra(node) : NULL;
    tl_tensor *gradient;
    masu_status status = tl__destination(pass, node, TL_SPENT_GRADIENT | 1u, &gradient);
    if (status != MASU_OK)
        return status;
    tl__map_into(operation->back, gradient, 1 + has_saved, operands, numbers);
    return tl__deliver(input, gradient);
}

/* The kernel's view of the saved value: itself, or 1 where the bits of signs that were saved instead are set. */
static tl_tensor *saved_of(tl_formula *f, const unary_operation *operation) {
    if (operation->saves == SAVES_NOTHING)
        return f->g;
    if (operation->saves == SAVES_INPUT)
        return tl__f_input(f, 0, 0);
    if (operation->saves == SAVES_RESULT || tl__node_saved(f->node)[0]->dtype != TL_BOOL)
        return tl__f_result(f, 0);
    tl_pass pass = {.gradient = d_ones_like(f, f->g), .keep_graph = true};
    tl_tensor *mask = NULL;
    if (!pass.gradient)
        return NULL;
    tl__tensor_retain(pass.gradient);
    masu_status status = tl__signs_mask(&pass, f->node, &mask);
    tl__tensor_drop(pass.gradient);
    if (status != MASU_OK)
        tl__f_fail(f, status);
    return status == MASU_OK ? tl__f_keep(f, mask) : NULL;
}

static void unary_formula(tl_formula *f) {
    static const double none[2] = {0};
    const unary_operation *operation = (const unary_operation *)(const void *)f->node->rule;
    const double *numbers = operation->numbers ? (const double *)(const void *)tl__node_extra(f->node) : none;
    tl_tensor *x = operation->back == TL_K_AS_IS ? f->g : saved_of(f, operation);
    if (!x)
        return;
    tl__f_deliver(f, 0, operation->back == TL_K_AS_IS ? f->g : tl__unary_slope(f, operation->back, x, numbers));
}

/* ---- forward --------------------------------------------------------------------------------- */

#define OPERATION(name, saves, back, numbers)         \
    static const unary_operation name##_operation = { \
        {#name, unary_backward, unary_formula}, TL_K_##name, saves, TL_K_##back, numbers};

#define ELEMENT(name, parameters, dtype, saves, back, numbers, example, text) OPERATION(name, saves, back, numbers)
#include <masu/ops.def>
OPERATION(square, SAVES_INPUT, square_grad, 0)

static masu_status record_unary(const unary_operation *operation, tl_tensor *t, tl_tensor *saved, tl_tensor *result,
                                const double numbers[2], tl_tensor **out) {
    const uint64_t words[2] = {tl__word(numbers[0]), tl__word(numbers[1])};
    return tl__record_or_drop(result,
                              &(tl_origin){.rule = &operation->rule,
                                           .input_count = 1,
                                           .inputs = &t,
                                           .saved_count = operation->saves != SAVES_NOTHING,
                                           .saved = &saved,
                                           .extra_count = operation->numbers,
                                           .extra = words},
                              out);
}

static masu_status record_signs(const unary_operation *operation, tl_tensor *t, tl_tensor *result, tl_tensor **out) {
    static const double none[2] = {0};
    tl_tensor *signs;
    masu_status status = tl__signs_of(result, &signs);
    if (status != MASU_OK) {
        tl__tensor_drop(result);
        return status;
    }
    status = record_unary(operation, t, signs, result, none, out);
    tl__tensor_drop(signs);
    return status;
}

/* x: t as the operation saw it. */
static masu_status record(const unary_operation *operation, tl_tensor *t, tl_tensor *x, tl_tensor *result,
                          const double numbers[2], tl_tensor **out) {
    if (operation->saves == SAVES_SIGNS && tl__signs_pay(result))
        return record_signs(operation, t, result, out);
    return record_unary(operation, t, operation->saves == SAVES_INPUT ? x : result, result, numbers, out);
}

/* dtype: of the computation and the result. */
static masu_status unary_as(const unary_operation *operation, tl_tensor *t, tl_dtype dtype, const double numbers[2],
                            tl_tensor **out) {
    tl_tensor *x = t, *result;
    if (MASU_UNLIKELY(t->dtype != dtype)) {
        masu_status status = tl__as_dtype(t, dtype, &x);
        if (status != MASU_OK)
            return status;
    }
    if (t->node && operation->saves == SAVES_INPUT)
        tl__keep_spent();
    const tl_tensor *operands[] = {x};
    masu_status status = tl__map(operation->kernel, dtype, t->rank, t->shape, 1, operands, numbers, &result);
    if (MASU_LIKELY(status == MASU_OK)) {
        *out = result;
        if (t->node)
            status = record(operation, t, x, result, numbers, out);
    }
    if (x != t)
        tl__tensor_drop(x);
    return status;
}

/* Functions of real numbers make f32 of whole ones; the others are not defined for bool. */
static masu_status unary(const unary_operation *operation, tl_tensor *t, tl_tensor **out) {
    static const double none[2] = {0};
    tl_dtype dtype = (tl_dtype)t->dtype;
    if (MASU_UNLIKELY(!tl__kernels[operation->kernel][dtype])) {
        if (tl__kernels[operation->kernel][TL_I64])
            return tl__error(TL_SAY(is_not_defined_for_bool_tensor), operation->rule.name);
        dtype = TL_F32;
    }
    return unary_as(operation, t, dtype, none, out);
}

static inline masu_status with_scalar(const unary_operation *operation, tl_tensor *t, double scalar, tl_tensor **out) {
    return unary_as(operation, t, tl__scalar_dtype((tl_dtype)t->dtype, scalar), (double[]){scalar, 0.0}, out);
}

/* Whole numbers have no remainder by 0. */
static masu_status remainder_by_scalar(const unary_operation *operation, tl_tensor *t, double scalar, tl_tensor **out) {
    if (scalar == 0 && !tl__is_float(t))
        return tl__error(TL_SAY(division_by_zero_in_i64_tensor), operation->rule.name);
    return with_scalar(operation, t, scalar, out);
}

static masu_status power(tl_tensor *t, double exponent, tl_tensor **out) {
    static const double none[2] = {0};
    tl_dtype dtype = tl__scalar_dtype((tl_dtype)t->dtype, exponent);
    if (exponent == 2.0)
        return unary_as(&square_operation, t, dtype, none, out);
    if (dtype == TL_I64 && exponent < 0)
        return tl__error(TL_SAY(pow_negative_exponent_i64_tensor));
    return unary_as(&pow_scalar_operation, t, dtype, (double[]){exponent, 0.0}, out);
}

/* A bound of i64 elements: infinite ones do not bound. */
static double whole_bound(double bound) {
    const double largest = 0x1p63 - 1024;
    return bound < -0x1p63 ? -0x1p63 : bound > largest ? largest : bound;
}

/* Where the bounds cross, every element becomes the upper one, as in PyTorch. */
static masu_status clamp(tl_tensor *t, double low, double high, tl_tensor **out) {
    low = low > high ? high : low;
    tl_dtype dtype = (tl_dtype)t->dtype;
    if (!tl__is_float(t)) {
        low = isinf(low) ? whole_bound(low) : low;
        high = isinf(high) ? whole_bound(high) : high;
        dtype = tl__promote(tl__scalar_dtype(dtype, low), tl__scalar_dtype(dtype, high));
    }
    return unary_as(&clamp_operation, t, dtype, (double[]){low, high}, out);
}

/* ---- entry points ---------------------------------------------------------------------------- */

#define UNARY(name, dtype, saves, back, operand, text)       \
    tl_tensor *tl_tensor_##name(tl_tensor *t) {              \
        TL_RETURN_TENSOR(unary(&name##_operation, t, &out)); \
    }
#include <masu/ops.def>

tl_tensor *tl_tensor_acosh(tl_tensor *t) {
    TL_RETURN_TENSOR(unary(&acosh_operation, t, &out));
}

#define SCALAR(name, function)                                     \
    tl_tensor *tl_tensor_##name(tl_tensor *t, double s) {          \
        TL_RETURN_TENSOR(function(&name##_operation, t, s, &out)); \
    }

/* Functions of real numbers with a number of their own. */
static masu_status real_with_scalar(const unary_operation *operation, tl_tensor *t, double scalar, tl_tensor **out) {
    return unary_as(operation, t, tl__float_dtype(t), (double[]){scalar, 0.0}, out);
}

SCALAR(leaky_relu, real_with_scalar)
SCALAR(elu, real_with_scalar)
SCALAR(add_scalar, with_scalar)
SCALAR(sub_scalar, with_scalar)
SCALAR(mul_scalar, with_scalar)
SCALAR(div_scalar, real_with_scalar)
SCALAR(rem_scalar, remainder_by_scalar)
SCALAR(fmod_scalar, remainder_by_scalar)
SCALAR(rsub_scalar, with_scalar)
SCALAR(rdiv_scalar, real_with_scalar)

tl_tensor *tl_tensor_pow_scalar(tl_tensor *t, double s) {
    TL_RETURN_TENSOR(power(t, s, &out));
}

tl_tensor *tl_tensor_clamp(tl_tensor *t, double low, double high) {
    TL_RETURN_TENSOR(clamp(t, low, high, &out));
}
