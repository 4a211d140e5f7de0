/* naive_elements.c: where the elements of a naive tensor are, and operations that go element by element. See
 * naive_elements.h. */
#include "naive_elements.h"

#include <math.h>
#include <string.h>

/* ---- places -------------------------------------------------------------------------------------- */

int64_t naive_offset(naive *n, const tensor *t, int64_t count, const double *index) {
    int64_t offset = 0;
    if (count != t->rank)
        naive_fail(n, "indices given");
    for (int d = 0; d < t->rank; d++) {
        if (index[d] < 0 || index[d] >= (double)t->shape[d])
            naive_fail(n, "out of range");
        offset = offset * t->shape[d] + (int64_t)index[d];
    }
    return offset;
}

/* The indices of element `offset`. */
void naive_place_of(const tensor *t, int64_t offset, int64_t *index) {
    for (int d = t->rank - 1; d >= 0; d--) {
        index[d] = offset % t->shape[d];
        offset /= t->shape[d];
    }
}

cell *naive_at(const tensor *t, const int64_t *index) {
    int64_t offset = 0;
    for (int d = 0; d < t->rank; d++)
        offset = offset * t->shape[d] + index[d];
    return t->e[offset];
}

/* t's element for place `index` of a result of rank `rank`, into which t is broadcast. */
cell *naive_broadcast_at(const tensor *t, int rank, const int64_t *index) {
    int64_t own[MOST_INDICES];
    for (int d = 0; d < t->rank; d++)
        own[d] = t->shape[d] == 1 ? 0 : index[rank - t->rank + d];
    return naive_at(t, own);
}

int naive_dimension(naive *n, const tensor *t, double dim, int extra) {
    int d = (int)dim < 0 ? (int)dim + t->rank + extra : (int)dim;
    if (d < 0 || d >= t->rank + extra)
        naive_fail(n, "dimension");
    return d;
}

void naive_join_shapes(naive *n, const tensor *t, int *rank, int64_t *shape) {
    int joined = *rank > t->rank ? *rank : t->rank;
    int64_t out[MOST_INDICES];
    for (int d = 0; d < joined; d++) {
        int mine = d - (joined - t->rank), theirs = d - (joined - *rank);
        int64_t a = mine >= 0 ? t->shape[mine] : 1, b = theirs >= 0 ? shape[theirs] : 1;
        if (a != b && a != 1 && b != 1)
            naive_fail(n, "shapes do not fit");
        out[d] = a == 1 ? b : a;
    }
    *rank = joined;
    memcpy(shape, out, sizeof out[0] * (size_t)joined);
}

/* ---- functions of one and two numbers -------------------------------------------------------------- */

typedef struct outcome {
    double v, slope[2];
    bool known;
} outcome;

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static outcome of_one(tl_abi_index abi, double x, const double *s) {
    double y;
#define IS(name, value, slope_of_x) \
    case TL_FN_tl_tensor_##name:    \
        y = (value);                \
        return (outcome){y, {(slope_of_x), 0}, true};
    switch (abi) {
        IS(neg, -x, -1)
        IS(abs, fabs(x), x > 0 ? 1 : x < 0 ? -1 : 0)
        IS(exp, exp(x), y)
        IS(log, log(x), 1 / x)
        IS(sqrt, sqrt(x), 0.5 / y)
        IS(sin, sin(x), cos(x))
        IS(cos, cos(x), -sin(x))
        IS(tanh, tanh(x), 1 - y * y)
        IS(sigmoid, sigmoid(x), y * (1 - y))
        IS(relu, x < 0 ? 0 : x, x > 0 ? 1 : 0)
        IS(floor, floor(x), 0)
        IS(ceil, ceil(x), 0)
        IS(round, nearbyint(x), 0)
        IS(sign, (x > 0) - (x < 0), 0)
        IS(clamp, x < s[1] ? s[1] : x > s[2] ? s[2] : x, x >= s[1] && x <= s[2] ? 1 : 0)
        IS(add_scalar, x + s[1], 1)
        IS(sub_scalar, x - s[1], 1)
        IS(mul_scalar, x * s[1], s[1])
        IS(div_scalar, x / s[1], 1 / s[1])
        IS(rsub_scalar, s[1] - x, -1)
        IS(rdiv_scalar, s[1] / x, -s[1] / (x * x))
        IS(pow_scalar, pow(x, s[1]), s[1] * pow(x, s[1] - 1))
        IS(rem_scalar, x - s[1] * floor(x / s[1]), 1)
    default:
        return (outcome){0};
    }
}

static outcome of_two(tl_abi_index abi, double a, double b) {
    switch (abi) {
    case TL_FN_tl_tensor_add:
        return (outcome){a + b, {1, 1}, true};
    case TL_FN_tl_tensor_sub:
        return (outcome){a - b, {1, -1}, true};
    case TL_FN_tl_tensor_mul:
        return (outcome){a * b, {b, a}, true};
    case TL_FN_tl_tensor_div:
        return (outcome){a / b, {1 / b, -a / (b * b)}, true};
    default:
        return (outcome){0};
    }
}

static bool relation_holds(double a, double b, int relation) {
    switch (relation) {
    case 0:
        return a == b;
    case 1:
        return a != b;
    case 2:
        return a < b;
    case 3:
        return a <= b;
    case 4:
        return a > b;
    default:
        return a >= b;
    }
}

/* ---- element by element ------------------------------------------------------------------------------ */

tl_dtype naive_richer(tl_dtype a, tl_dtype b) {
    static const int wealth[] = {[TL_BOOL] = 0, [TL_I64] = 1, [TL_F32] = 2, [TL_F64] = 3};
    return wealth[a] >= wealth[b] ? a : b;
}

bool naive_is_real(tl_dtype dtype) {
    return dtype == TL_F32 || dtype == TL_F64;
}

/* Whole numbers stay whole where the function of them is. */
static tl_dtype dtype_of_one(const naive_call *c, tl_dtype dtype) {
    bool whole = c->abi == TL_FN_tl_tensor_neg || c->abi == TL_FN_tl_tensor_abs || c->abi == TL_FN_tl_tensor_relu;
    bool with_number = c->abi == TL_FN_tl_tensor_add_scalar || c->abi == TL_FN_tl_tensor_sub_scalar ||
                       c->abi == TL_FN_tl_tensor_mul_scalar;
    if (naive_is_real(dtype) || (whole && dtype == TL_I64) ||
        (with_number && dtype == TL_I64 && c->number[1] == floor(c->number[1])))
        return dtype;
    return TL_F32;
}

tensor *naive_one_by_one(naive *n, const naive_call *c) {
    tensor *t = c->t[0];
    if (!of_one(c->abi, 1, c->number).known)
        return NULL;
    tensor *r = naive_tensor(n, dtype_of_one(c, t->dtype), t->rank, t->shape);
    for (int64_t i = 0; i < r->count; i++) {
        outcome o = of_one(c->abi, t->e[i]->v, c->number);
        r->e[i] = naive_made(n, r->dtype, o.v, t->e[i], o.slope[0], NULL, 0);
    }
    return naive_record(n, r, 1, c->t);
}

tensor *naive_two_by_two(naive *n, const naive_call *c) {
    tensor *a = c->t[0], *b = c->t[1];
    if (!a || !b || !of_two(c->abi, 1, 1).known)
        return NULL;
    int64_t shape[MOST_INDICES], index[MOST_INDICES];
    int rank = 0;
    naive_join_shapes(n, a, &rank, shape);
    naive_join_shapes(n, b, &rank, shape);
    tl_dtype dtype = naive_richer(a->dtype, b->dtype);
    if (c->abi == TL_FN_tl_tensor_div && !naive_is_real(dtype))
        dtype = TL_F32;
    tensor *r = naive_tensor(n, dtype, rank, shape);
    for (int64_t i = 0; i < r->count; i++) {
        naive_place_of(r, i, index);
        cell *x = naive_broadcast_at(a, rank, index), *y = naive_broadcast_at(b, rank, index);
        outcome o = of_two(c->abi, x->v, y->v);
        r->e[i] = naive_made(n, dtype, o.v, x, o.slope[0], y, o.slope[1]);
    }
    return naive_record(n, r, 2, c->t);
}

tensor *naive_compare(naive *n, const naive_call *c) {
    tensor *a = c->t[0], *b = c->t[1];
    int64_t shape[MOST_INDICES], index[MOST_INDICES];
    int rank = 0;
    naive_join_shapes(n, a, &rank, shape);
    if (b)
        naive_join_shapes(n, b, &rank, shape);
    tensor *r = naive_tensor(n, TL_BOOL, rank, shape);
    for (int64_t i = 0; i < r->count; i++) {
        naive_place_of(r, i, index);
        double x = naive_broadcast_at(a, rank, index)->v, y = b ? naive_broadcast_at(b, rank, index)->v : c->number[1];
        r->e[i] = naive_number(n, TL_BOOL, relation_holds(x, y, (int)c->number[2]));
    }
    return r;
}

tensor *naive_where(naive *n, const naive_call *c) {
    int64_t shape[MOST_INDICES], index[MOST_INDICES];
    int rank = 0;
    for (int k = 0; k < 3; k++)
        naive_join_shapes(n, c->t[k], &rank, shape);
    tensor *r = naive_tensor(n, naive_richer(c->t[1]->dtype, c->t[2]->dtype), rank, shape);
    for (int64_t i = 0; i < r->count; i++) {
        naive_place_of(r, i, index);
        cell *from = naive_broadcast_at(c->t[naive_broadcast_at(c->t[0], rank, index)->v != 0 ? 1 : 2], rank, index);
        r->e[i] = naive_made(n, r->dtype, from->v, from, 1, NULL, 0);
    }
    return naive_record(n, r, 2, c->t + 1);
}
