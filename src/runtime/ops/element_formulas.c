/* element_formulas.c: the slopes of what is computed element by element, in operations that record (formula.h).
 *
 * Each is named by the kernel that says the same for an ordinary backward (kernels.def): g is the gradient of the
 * result, x, y the operands or the result y, whichever the operation saves. What is constant in pieces (masks, signs,
 * quotients rounded down) is taken without history: its slope is 0. A mask chooses the operand of a function that is
 * not finite everywhere before the function sees it, so that no 0 · ∞ comes back from the side that was not taken.
 */
#include <math.h>

#include "runtime/ops/element_formulas.h"

#define SQRT_HALF    0.70710678118654752440
#define SQRT_PI_HALF 0.88622692545275801365 /* √π / 2 */
#define INV_SQRT_2PI 0.39894228040143267794
#define LN_2         0.69314718055994530942
#define LN_10        2.30258509299404568402

enum { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL };

/* g where x lies between low and high. */
static tl_tensor *between(tl_formula *f, tl_tensor *g, tl_tensor *x, double low, double high) {
    return d_masked(f, d_both(f, d_compare_to(f, x, low, GREATER_EQUAL), d_compare_to(f, x, high, LESS_EQUAL)), g);
}

/* g s x^(s - 1) */
static tl_tensor *power_slope(tl_formula *f, tl_tensor *g, tl_tensor *x, double s) {
    if (s == 0)
        return d_times(f, g, 0.0);
    if (s == 1)
        return g;
    return d_mul(f, g, d_times(f, s == 2 ? x : d_power(f, x, s - 1), s));
}

static tl_tensor *gelu_slope(tl_formula *f, tl_tensor *x) {
    tl_tensor *below = d_times(f, d_plus(f, d_erf(f, d_times(f, x, SQRT_HALF)), 1.0), 0.5);
    tl_tensor *density = d_times(f, d_exp(f, d_times(f, d_square(f, x), -0.5)), INV_SQRT_2PI);
    return d_add(f, below, d_mul(f, x, density));
}

static tl_tensor *silu_slope(tl_formula *f, tl_tensor *x) {
    tl_tensor *s = d_sigmoid(f, x);
    return d_mul(f, s, d_plus(f, d_mul(f, x, d_rsub(f, s, 1.0)), 1.0));
}

static tl_tensor *mish_slope(tl_formula *f, tl_tensor *x) {
    tl_tensor *t = d_tanh(f, d_softplus(f, x));
    return d_add(f, t, d_mul(f, d_mul(f, x, d_sigmoid(f, x)), d_rsub(f, d_square(f, t), 1.0)));
}

static tl_tensor *hardswish_slope(tl_formula *f, tl_tensor *g, tl_tensor *x) {
    tl_tensor *middle = d_mul(f, g, d_over(f, d_plus(f, d_times(f, x, 2.0), 3.0), 6.0));
    return d_where(f, d_compare_to(f, x, 3.0, GREATER_EQUAL), g,
                   d_masked(f, d_compare_to(f, x, -3.0, GREATER_EQUAL), middle));
}

/* g alpha e^x where x is not above 0, else g. */
static tl_tensor *elu_slope(tl_formula *f, tl_tensor *g, tl_tensor *x, double alpha) {
    tl_tensor *low = d_compare_to(f, x, 0.0, LESS_EQUAL);
    return d_where(f, low, d_mul(f, g, d_times(f, d_exp(f, d_masked(f, low, x)), alpha)), g);
}

tl_tensor *tl__unary_slope(tl_formula *f, tl_kernel_index back, tl_tensor *x, const double p[2]) {
    tl_tensor *g = f->g, *y = x;
    switch ((int)back) {
    case TL_K_neg:
        return d_neg(f, g);
    case TL_K_mul_scalar:
        return d_times(f, g, p[0]);
    case TL_K_div_scalar:
        return d_over(f, g, p[0]);
    case TL_K_no_grad:
        return d_times(f, g, 0.0);
    case TL_K_rdiv_grad:
        return d_div(f, d_times(f, g, -p[0]), d_square(f, x));
    case TL_K_pow_scalar_grad:
        return power_slope(f, g, x, p[0]);
    case TL_K_square_grad:
        return power_slope(f, g, x, 2.0);
    case TL_K_clamp_grad:
        return between(f, g, x, p[0], p[1]);
    case TL_K_leaky_relu_grad:
        return d_where(f, d_compare_to(f, x, 0.0, GREATER), g, d_times(f, g, p[0]));
    case TL_K_elu_grad:
        return elu_slope(f, g, x, p[0]);
    case TL_K_abs_grad:
        return d_mul(f, g, d_sign(f, d_detached(f, x)));
    case TL_K_mul: /* exp */
        return d_mul(f, g, y);
    case TL_K_div: /* log */
        return d_div(f, g, x);
    case TL_K_sqrt_grad:
        return d_div(f, g, d_times(f, y, 2.0));
    case TL_K_sin_grad:
        return d_mul(f, g, d_cos(f, x));
    case TL_K_cos_grad:
        return d_neg(f, d_mul(f, g, d_sin(f, x)));
    case TL_K_tan_grad:
        return d_mul(f, g, d_plus(f, d_square(f, y), 1.0));
    case TL_K_tanh_grad:
        return d_mul(f, g, d_rsub(f, d_square(f, y), 1.0));
    case TL_K_sigmoid_grad:
        return d_mul(f, g, d_mul(f, y, d_rsub(f, y, 1.0)));
    case TL_K_relu_grad:
        return d_masked(f, d_compare_to(f, y, 0.0, GREATER), g);
    case TL_K_gelu_grad:
        return d_mul(f, g, gelu_slope(f, x));
    case TL_K_silu_grad:
        return d_mul(f, g, silu_slope(f, x));
    case TL_K_mish_grad:
        return d_mul(f, g, mish_slope(f, x));
    case TL_K_hardswish_grad:
        return hardswish_slope(f, g, x);
    case TL_K_hardsigmoid_grad:
        return d_over(f, between(f, g, x, nextafter(-3.0, 0.0), nextafter(3.0, 0.0)), 6.0);
    case TL_K_log1p_grad:
        return d_div(f, g, d_plus(f, x, 1.0));
    case TL_K_log2_grad:
        return d_div(f, g, d_times(f, x, LN_2));
    case TL_K_log10_grad:
        return d_div(f, g, d_times(f, x, LN_10));
    case TL_K_expm1_grad:
        return d_mul(f, g, d_plus(f, y, 1.0));
    case TL_K_exp2_grad:
        return d_mul(f, g, d_times(f, y, LN_2));
    case TL_K_rsqrt_grad:
        return d_mul(f, g, d_times(f, d_power(f, y, 3.0), -0.5));
    case TL_K_erf_grad:
        return d_mul(f, g, d_over(f, d_exp(f, d_neg(f, d_square(f, x))), SQRT_PI_HALF));
    case TL_K_erfinv_grad:
        return d_mul(f, g, d_times(f, d_exp(f, d_square(f, y)), SQRT_PI_HALF));
    case TL_K_lgamma_grad:
        return d_mul(f, g, d_digamma(f, x));
    case TL_K_softplus_grad:
        return d_mul(f, g, d_sigmoid(f, x));
    case TL_K_asin_grad:
        return d_div(f, g, d_sqrt(f, d_rsub(f, d_square(f, x), 1.0)));
    case TL_K_acos_grad:
        return d_neg(f, d_div(f, g, d_sqrt(f, d_rsub(f, d_square(f, x), 1.0))));
    case TL_K_atan_grad:
        return d_div(f, g, d_plus(f, d_square(f, x), 1.0));
    case TL_K_asinh_grad:
        return d_div(f, g, d_sqrt(f, d_plus(f, d_square(f, x), 1.0)));
    case TL_K_acosh_grad:
        return d_div(f, g, d_sqrt(f, d_plus(f, d_square(f, x), -1.0)));
    case TL_K_atanh_grad:
        return d_div(f, g, d_rsub(f, d_square(f, x), 1.0));
    case TL_K_sinh_grad:
        return d_mul(f, g, d_cosh(f, x));
    case TL_K_cosh_grad:
        return d_mul(f, g, d_sinh(f, x));
    default:
        tl__f_refuse(f);
        return NULL;
    }
}

/* ---- of two operands --------------------------------------------------------------------------------------------- */

/* Which of two is taken: g where x is before y, half of it where they are equal. */
static tl_tensor *chosen(tl_formula *f, tl_tensor *x, tl_tensor *y, int relation) {
    tl_tensor *g = f->g;
    return d_where(f, d_compare(f, x, y, EQUAL), d_times(f, g, 0.5), d_masked(f, d_compare(f, x, y, relation), g));
}

/* g b a^(b - 1), 0 where b is 0. */
static tl_tensor *base_slope(tl_formula *f, tl_tensor *a, tl_tensor *b) {
    tl_tensor *flat = d_compare_to(f, b, 0.0, EQUAL), *one = d_ones_like(f, b);
    tl_tensor *lower = d_plus(f, d_where(f, flat, one, b), -1.0);
    return d_masked(f, d_compare_to(f, b, 0.0, NOT_EQUAL), d_mul(f, d_mul(f, f->g, b), d_pow(f, a, lower)));
}

/* g a^b ln a, 0 where a is 0 and b not below 0. */
static tl_tensor *exponent_slope(tl_formula *f, tl_tensor *a, tl_tensor *b) {
    tl_tensor *flat = d_both(f, d_compare_to(f, a, 0.0, EQUAL), d_compare_to(f, b, 0.0, GREATER_EQUAL));
    tl_tensor *base = d_where(f, flat, d_ones_like(f, a), a);
    return d_mul(f, f->g, d_mul(f, d_pow(f, base, b), d_log(f, base)));
}

static tl_tensor *square_sum(tl_formula *f, tl_tensor *a, tl_tensor *b) {
    return d_add(f, d_square(f, a), d_square(f, b));
}

static tl_tensor *copysign_slope(tl_formula *f, tl_tensor *a, tl_tensor *b) {
    if (!a || !b)
        return NULL;
    tl_tensor *x = d_detached(f, a), *y = d_detached(f, b);
    tl_tensor *turned = x && y ? tl__f_keep(f, tl_tensor_copysign(d_sign(f, x), y)) : NULL;
    return d_mul(f, f->g, d_mul(f, turned, d_sign(f, x)));
}

tl_tensor *tl__binary_slope(tl_formula *f, tl_kernel_index back, tl_tensor *a, tl_tensor *b) {
    tl_tensor *g = f->g;
    switch ((int)back) {
    case TL_K_div_grad:
        return d_neg(f, d_div(f, d_mul(f, g, a), d_square(f, b)));
    case TL_K_rem_grad:
        return d_neg(f, d_mul(f, g, d_floor_divide(f, d_detached(f, a), d_detached(f, b))));
    case TL_K_fmod_grad:
        return d_neg(f, d_mul(f, g, d_trunc(f, d_div(f, d_detached(f, a), d_detached(f, b)))));
    case TL_K_none_grad:
        return d_times(f, g, 0.0);
    case TL_K_atan2_grad:
        return d_div(f, d_mul(f, g, b), square_sum(f, a, b));
    case TL_K_atan2_other_grad:
        return d_neg(f, d_div(f, d_mul(f, g, a), square_sum(f, a, b)));
    case TL_K_hypot_grad:
        return d_div(f, d_mul(f, g, a), d_hypot(f, a, b));
    case TL_K_hypot_other_grad:
        return d_div(f, d_mul(f, g, b), d_hypot(f, a, b));
    case TL_K_copysign_grad:
        return copysign_slope(f, a, b);
    case TL_K_pow_base_grad:
        return base_slope(f, a, b);
    case TL_K_pow_exponent_grad:
        return exponent_slope(f, a, b);
    case TL_K_maximum_grad:
        return chosen(f, a, b, GREATER);
    case TL_K_minimum_grad:
        return chosen(f, a, b, LESS);
    default:
        tl__f_refuse(f);
        return NULL;
    }
}
