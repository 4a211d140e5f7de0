/* derived.c: results that were computed without history, and the gradients that they have all the same.
 *
 *     derived(what, value, inputs…)   the value, as a result of the inputs; `what` says how its gradient is made
 *
 * Why: an inverse comes from LAPACK, a norm out of steps whose slope at 0 is none. What the value is made of need not
 * be what its gradient is made of. Gradients are here as formulas only (grad/formula.h), written with the value, the
 * inputs and each other, so they serve every order. The library (linalg.tl, reduce.tl, loss.tl) makes the values.
 */
#include <math.h>

#include "runtime/grad/formula.h"
#include "runtime/state.h"

/* The numbers that the library writes. */
enum { NORM, INVERSE, DET, SOLVE, CHOLESKY, EIGH, SVD, QR, PSEUDO, LU, CROSS, SHARE, DISTANCE };

/* The values of `decompose`. */
enum { DECOMPOSE_INVERSE = 0 };

static masu_status derive(const tl_rule *rule, int64_t count, tl_tensor *const *parts, tl_tensor **out);

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Saved value 0 is the result, saved value i input i - 1. */
static tl_tensor *result(tl_formula *f) {
    return tl__f_result(f, 0);
}

static tl_tensor *input(tl_formula *f, int i) {
    return tl__f_input(f, i + 1, i);
}

static const tl_rule inverse_rule;

static tl_tensor *inverse(tl_formula *f, tl_tensor *t) {
    tl_tensor *value = t ? tl__f_keep(f, tl_tensor_decompose(t, DECOMPOSE_INVERSE)) : NULL, *own;
    if (!value)
        return NULL;
    masu_status status = derive(&inverse_rule, 2, (tl_tensor *[]){value, t}, &own);
    if (status == MASU_OK)
        return tl__f_keep(f, own);
    tl__f_fail(f, status);
    return NULL;
}

static tl_tensor *eye_of(tl_formula *f, tl_tensor *t) {
    tl_tensor *eye = t ? tl__f_keep(f, tl_tensor_eye(t->shape[t->rank - 1])) : NULL;
    return eye ? tl__f_keep(f, tl_tensor_to_dtype(eye, t->dtype)) : NULL;
}

/* A vector on the diagonal of a matrix. */
static tl_tensor *on_diagonal(tl_formula *f, tl_tensor *row) {
    return d_mul(f, row, eye_of(f, row));
}

static tl_tensor *triu(tl_formula *f, tl_tensor *t) {
    return t ? tl__f_keep(f, tl_tensor_triu(t, 0)) : NULL;
}

/* 1 / t, 0 where t is 0. */
static tl_tensor *reciprocal(tl_formula *f, tl_tensor *t) {
    tl_tensor *zero = d_compare_to(f, t, 0.0, 0);
    return d_masked(f, d_compare_to(f, t, 0.0, 1), d_rdiv(f, d_where(f, zero, t ? d_ones_like(f, t) : NULL, t), 1.0));
}

static tl_tensor *product3(tl_formula *f, tl_tensor *a, tl_tensor *b, tl_tensor *c) {
    return d_matmul(f, d_matmul(f, a, b), c);
}

/* Rows [from, from + n) of a stack of matrices, and one row as [.., 1, k]. */
static tl_tensor *rows(tl_formula *f, tl_tensor *t, int64_t from, int64_t n) {
    return t ? d_narrow(f, t, t->rank - 2, from, n) : NULL;
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

/* y = |x|: g x / y, 0 where y is 0. */
static void norm_formula(tl_formula *f) {
    tl_tensor *y = result(f), *zero = d_compare_to(f, y, 0.0, 0);
    tl_tensor *safe = d_where(f, zero, y ? d_ones_like(f, y) : NULL, y);
    tl__f_deliver(f, 0, d_mul(f, input(f, 0), d_div(f, f->g, safe)));
}

/* -Yᵀ g Yᵀ */
static void inverse_formula(tl_formula *f) {
    tl_tensor *turned = d_turned(f, result(f));
    tl__f_deliver(f, 0, d_neg(f, product3(f, turned, f->g, turned)));
}

/* g y A⁻ᵀ; of a singular matrix g times the cofactors, which input 1 gives then. */
static void det_formula(tl_formula *f) {
    tl_tensor *g = d_insert(f, d_insert(f, f->g, -1), -1), *y = result(f);
    if (f->node->input_count > 1) {
        if (f->tracks)
            tl__f_fail(f, tl__error(TL_SAY(det_singular_matrix_no_second_derivative_here)));
        tl__f_deliver(f, 0, d_mul(f, g, input(f, 1)));
        return;
    }
    tl_tensor *size = d_insert(f, d_insert(f, y, -1), -1);
    tl__f_deliver(f, 0, d_mul(f, d_mul(f, g, size), d_turned(f, inverse(f, input(f, 0)))));
}

/* Y = A⁻¹ B: A⁻ᵀ g for B, -A⁻ᵀ g Yᵀ for A. */
static void solve_formula(tl_formula *f) {
    tl_tensor *right = d_matmul(f, d_turned(f, inverse(f, input(f, 0))), f->g);
    if (tl__f_wants(f, 0))
        tl__f_deliver(f, 0, d_neg(f, d_matmul(f, right, d_turned(f, result(f)))));
    tl__f_deliver(f, 1, right);
}

/* L⁻ᵀ (P + Pᵀ) L⁻¹ / 2, P the lower triangle of Lᵀ g with half its diagonal. */
static void cholesky_formula(tl_formula *f) {
    tl_tensor *l = result(f), *over = inverse(f, l);
    tl_tensor *inner = d_tril(f, d_matmul(f, d_turned(f, l), f->g), 0);
    inner = d_sub(f, inner, d_times(f, d_mul(f, inner, eye_of(f, l)), 0.5));
    tl_tensor *even = d_times(f, d_add(f, inner, d_turned(f, inner)), 0.5);
    tl__f_deliver(f, 0, product3(f, d_turned(f, over), even, over));
}

/* The result is V above a row of the values w: V (diag(gw) + (Vᵀ gV) / (wj - wi)) Vᵀ, symmetric. */
static void eigh_formula(tl_formula *f) {
    tl_tensor *y = result(f);
    const int64_t n = y ? y->shape[y->rank - 1] : 0;
    tl_tensor *v = rows(f, y, 0, n), *row = rows(f, y, n, 1);
    tl_tensor *gaps = reciprocal(f, d_sub(f, row, d_turned(f, row)));
    tl_tensor *inner = d_mul(f, gaps, d_matmul(f, d_turned(f, v), rows(f, f->g, 0, n)));
    inner = d_add(f, inner, on_diagonal(f, rows(f, f->g, n, 1)));
    tl_tensor *share = product3(f, v, inner, d_turned(f, v));
    tl__f_deliver(f, 0, d_times(f, d_add(f, share, d_turned(f, share)), 0.5));
}

/* The share of the singular vectors on one side: gaps · (uᵀ g) with the other side's part turned. */
static tl_tensor *turned_part(tl_formula *f, tl_tensor *inner, tl_tensor *row, bool left) {
    tl_tensor *column = d_turned(f, row);
    tl_tensor *own = d_mul(f, inner, left ? row : column);
    return d_add(f, own, d_turned(f, d_mul(f, inner, left ? column : row)));
}

/* The result is U [m, k] above a row of s above V [n, k]. */
static void svd_formula(tl_formula *f) {
    tl_tensor *y = result(f), *x = input(f, 0);
    if (!x || !y)
        return;
    const int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1];
    tl_tensor *u = rows(f, y, 0, m), *s = rows(f, y, m, 1), *v = rows(f, y, m + 1, n);
    tl_tensor *gu = rows(f, f->g, 0, m), *gs = rows(f, f->g, m, 1), *gv = rows(f, f->g, m + 1, n);
    tl_tensor *squares = d_square(f, s), *over = reciprocal(f, s);
    tl_tensor *gaps = reciprocal(f, d_sub(f, squares, d_turned(f, squares)));
    tl_tensor *ut = d_turned(f, u), *vt = d_turned(f, v), *hu = d_mul(f, gu, over), *hv = d_mul(f, gv, over);
    tl_tensor *inner = d_add(f, on_diagonal(f, gs), turned_part(f, d_mul(f, gaps, d_matmul(f, ut, gu)), s, true));
    inner = d_add(f, inner, turned_part(f, d_mul(f, gaps, d_matmul(f, vt, gv)), s, false));
    inner = d_sub(f, inner, d_matmul(f, ut, hu));
    inner = d_sub(f, inner, d_matmul(f, d_turned(f, hv), v));
    tl_tensor *share = d_add(f, product3(f, u, inner, vt), d_matmul(f, hu, vt));
    tl__f_deliver(f, 0, d_add(f, share, d_matmul(f, u, d_turned(f, hv))));
}

/* The result is Q [m, n] above Rᵀ [n, n]. */
static void qr_formula(tl_formula *f) {
    tl_tensor *y = result(f);
    if (!y)
        return;
    const int64_t n = y->shape[y->rank - 1], m = y->shape[y->rank - 2] - n;
    tl_tensor *q = rows(f, y, 0, m), *r = d_turned(f, rows(f, y, m, n));
    tl_tensor *gq = rows(f, f->g, 0, m), *gr = d_turned(f, rows(f, f->g, m, n));
    tl_tensor *spin = d_sub(f, d_matmul(f, d_turned(f, q), gq), d_matmul(f, gr, d_turned(f, r)));
    tl_tensor *low = d_tril(f, d_sub(f, spin, d_turned(f, spin)), -1);
    tl_tensor *moved = d_add(f, gq, d_matmul(f, q, d_sub(f, low, spin)));
    tl__f_deliver(f, 0, d_matmul(f, moved, d_turned(f, inverse(f, r))));
}

/* X = A⁺: -Xᵀ g Xᵀ + (1 - A X) gᵀ X Xᵀ + Xᵀ X gᵀ (1 - X A) */
static void pseudo_formula(tl_formula *f) {
    tl_tensor *x = result(f), *a = input(f, 0), *xt = d_turned(f, x), *gt = d_turned(f, f->g);
    tl_tensor *share = d_neg(f, product3(f, xt, f->g, xt));
    tl_tensor *left = product3(f, gt, x, xt), *right = product3(f, xt, x, gt);
    share = d_add(f, share, d_sub(f, left, d_matmul(f, d_matmul(f, a, x), left)));
    tl__f_deliver(f, 0, d_add(f, share, d_sub(f, right, d_matmul(f, right, d_matmul(f, x, a)))));
}

/* L \ U in one matrix of A = P L U; input 1 is P. P L⁻ᵀ (tril(Lᵀ gL) + triu(gU Uᵀ)) U⁻ᵀ */
static void lu_formula(tl_formula *f) {
    tl_tensor *y = result(f), *u = triu(f, y), *l = d_add(f, d_tril(f, y, -1), eye_of(f, y));
    tl_tensor *low = d_tril(f, d_matmul(f, d_turned(f, l), d_tril(f, f->g, -1)), -1);
    tl_tensor *inner = d_add(f, low, triu(f, d_matmul(f, triu(f, f->g), d_turned(f, u))));
    tl_tensor *left = d_matmul(f, input(f, 1), d_turned(f, inverse(f, l)));
    tl__f_deliver(f, 0, product3(f, left, inner, d_turned(f, inverse(f, u))));
}

static tl_tensor *low_log(tl_formula *f, tl_tensor *t) {
    tl_tensor *log = d_log(f, t);
    return log ? tl__f_keep(f, tl_tensor_clamp(log, -100.0, HUGE_VAL)) : NULL;
}

/* -(t ln x + (1 - t) ln(1 - x)), logarithms not below -100: g (x - t) / (x (1 - x)), not above 10¹² */
static void cross_formula(tl_formula *f) {
    tl_tensor *x = input(f, 0), *t = input(f, 1), *rest = d_rsub(f, x, 1.0);
    tl_tensor *spread = d_mul(f, x, rest);
    spread = spread ? tl__f_keep(f, tl_tensor_clamp(spread, 1e-12, 1.0)) : NULL;
    if (tl__f_wants(f, 0))
        tl__f_deliver(f, 0, d_mul(f, f->g, d_div(f, d_sub(f, x, t), spread)));
    if (tl__f_wants(f, 1))
        tl__f_deliver(f, 1, d_mul(f, f->g, d_sub(f, low_log(f, rest), low_log(f, x))));
}

/* An extreme whose equals share the gradient; input 1 says how much each element has of it. */
static void share_formula(tl_formula *f) {
    tl__f_deliver(f, 0, d_mul(f, f->g, input(f, 1)));
}

/* |aᵢ - bⱼ| = dᵢⱼ, w = g / d, 0 where d is: a · (sum of w's row) - w b, and the same from b. */
static void distance_formula(tl_formula *f) {
    tl_tensor *w = d_mul(f, f->g, reciprocal(f, result(f))), *a = input(f, 0), *b = input(f, 1);
    if (tl__f_wants(f, 0))
        tl__f_deliver(f, 0, d_sub(f, d_mul(f, a, d_sum_dim(f, w, w ? w->rank - 1 : 0)), d_matmul(f, w, b)));
    tl_tensor *turned = d_turned(f, w);
    if (tl__f_wants(f, 1))
        tl__f_deliver(
            f, 1, d_sub(f, d_mul(f, b, d_sum_dim(f, turned, turned ? turned->rank - 1 : 0)), d_matmul(f, turned, a)));
}

static const tl_rule inverse_rule = {"inverse", NULL, inverse_formula};

static const tl_rule rules[] = {
    [NORM] = {"norm", NULL, norm_formula},
    [INVERSE] = {"inverse", NULL, inverse_formula},
    [DET] = {"det", NULL, det_formula},
    [SOLVE] = {"solve", NULL, solve_formula},
    [CHOLESKY] = {"cholesky", NULL, cholesky_formula},
    [EIGH] = {"eigh", NULL, eigh_formula},
    [SVD] = {"svd", NULL, svd_formula},
    [QR] = {"qr", NULL, qr_formula},
    [PSEUDO] = {"pinverse", NULL, pseudo_formula},
    [LU] = {"lu", NULL, lu_formula},
    [CROSS] = {"bce_loss", NULL, cross_formula},
    [SHARE] = {"max or min", NULL, share_formula},
    [DISTANCE] = {"cdist", NULL, distance_formula},
};

/* ---- the operation ----------------------------------------------------------------------------------------------- */

enum { MOST_INPUTS = 3 };

/* parts: the value, then the inputs. Without history a copy, as compiled code expects of what makes tensors. */
static masu_status derive(const tl_rule *rule, int64_t count, tl_tensor *const *parts, tl_tensor **out) {
    tl_tensor *saved[1 + MOST_INPUTS];
    bool tracked = false;
    for (int64_t i = 1; i < count; i++) {
        saved[i] = parts[i];
        tracked |= parts[i]->node != NULL;
    }
    if (!tracked)
        return tl__tensor_copied(parts[0], out);
    masu_status status = tl__tensor_view(parts[0], out);
    if (status != MASU_OK)
        return status;
    saved[0] = *out;
    return tl__record_or_drop(*out,
                              &(tl_origin){.rule = rule,
                                           .input_count = (int)count - 1,
                                           .inputs = parts + 1,
                                           .saved_count = (int)count,
                                           .saved = saved},
                              out);
}

static masu_status derived(int64_t what, int64_t count, tl_tensor *const *parts, tl_tensor **out) {
    if (what < 0 || what >= (int64_t)(sizeof rules / sizeof rules[0]) || count < 2 || count > 1 + MOST_INPUTS)
        return tl__error(TL_SAY(there_is_no_such_derived_value));
    return derive(&rules[what], count, parts, out);
}

tl_tensor *tl_tensor_derived(int64_t what, int64_t parts_count, tl_tensor *const *parts) {
    tl__keep_spent();
    TL_RETURN_TENSOR(derived(what, parts_count, parts, &out));
}
