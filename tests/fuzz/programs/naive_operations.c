/* naive_operations.c: what the operations on tensors mean, one number after the other.
 *
 * Each element of a result says which cells it came from and by what slope; that is all there is to differentiation.
 */
#include "naive.h"

#include <math.h>
#include <string.h>

enum { MOST_INDICES = TL_MAX_RANK };

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
static void place_of(const tensor *t, int64_t offset, int64_t *index) {
    for (int d = t->rank - 1; d >= 0; d--) {
        index[d] = offset % t->shape[d];
        offset /= t->shape[d];
    }
}

static cell *at(const tensor *t, const int64_t *index) {
    int64_t offset = 0;
    for (int d = 0; d < t->rank; d++)
        offset = offset * t->shape[d] + index[d];
    return t->e[offset];
}

/* t's element for place `index` of a result of rank `rank`, into which t is broadcast. */
static cell *broadcast_at(const tensor *t, int rank, const int64_t *index) {
    int64_t own[MOST_INDICES];
    for (int d = 0; d < t->rank; d++)
        own[d] = t->shape[d] == 1 ? 0 : index[rank - t->rank + d];
    return at(t, own);
}

static int dimension(naive *n, const tensor *t, double dim, int extra) {
    int d = (int)dim < 0 ? (int)dim + t->rank + extra : (int)dim;
    if (d < 0 || d >= t->rank + extra)
        naive_fail(n, "dimension");
    return d;
}

static void join_shapes(naive *n, const tensor *t, int *rank, int64_t *shape) {
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

static tl_dtype richer(tl_dtype a, tl_dtype b) {
    static const int wealth[] = {[TL_BOOL] = 0, [TL_I64] = 1, [TL_F32] = 2, [TL_F64] = 3};
    return wealth[a] >= wealth[b] ? a : b;
}

static bool is_real(tl_dtype dtype) {
    return dtype == TL_F32 || dtype == TL_F64;
}

/* Whole numbers stay whole where the function of them is. */
static tl_dtype dtype_of_one(const naive_call *c, tl_dtype dtype) {
    bool whole = c->abi == TL_FN_tl_tensor_neg || c->abi == TL_FN_tl_tensor_abs ||
                 c->abi == TL_FN_tl_tensor_relu;
    bool with_number = c->abi == TL_FN_tl_tensor_add_scalar ||
                       c->abi == TL_FN_tl_tensor_sub_scalar || c->abi == TL_FN_tl_tensor_mul_scalar;
    if (is_real(dtype) || (whole && dtype == TL_I64) ||
        (with_number && dtype == TL_I64 && c->number[1] == floor(c->number[1])))
        return dtype;
    return TL_F32;
}

static tensor *one_by_one(naive *n, const naive_call *c) {
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

static tensor *two_by_two(naive *n, const naive_call *c) {
    tensor *a = c->t[0], *b = c->t[1];
    if (!a || !b || !of_two(c->abi, 1, 1).known)
        return NULL;
    int64_t shape[MOST_INDICES], index[MOST_INDICES];
    int rank = 0;
    join_shapes(n, a, &rank, shape);
    join_shapes(n, b, &rank, shape);
    tl_dtype dtype = richer(a->dtype, b->dtype);
    if (c->abi == TL_FN_tl_tensor_div && !is_real(dtype))
        dtype = TL_F32;
    tensor *r = naive_tensor(n, dtype, rank, shape);
    for (int64_t i = 0; i < r->count; i++) {
        place_of(r, i, index);
        cell *x = broadcast_at(a, rank, index), *y = broadcast_at(b, rank, index);
        outcome o = of_two(c->abi, x->v, y->v);
        r->e[i] = naive_made(n, dtype, o.v, x, o.slope[0], y, o.slope[1]);
    }
    return naive_record(n, r, 2, c->t);
}

static tensor *compare(naive *n, const naive_call *c) {
    tensor *a = c->t[0], *b = c->t[1];
    int64_t shape[MOST_INDICES], index[MOST_INDICES];
    int rank = 0;
    join_shapes(n, a, &rank, shape);
    if (b)
        join_shapes(n, b, &rank, shape);
    tensor *r = naive_tensor(n, TL_BOOL, rank, shape);
    for (int64_t i = 0; i < r->count; i++) {
        place_of(r, i, index);
        double x = broadcast_at(a, rank, index)->v,
               y = b ? broadcast_at(b, rank, index)->v : c->number[1];
        r->e[i] = naive_number(n, TL_BOOL, relation_holds(x, y, (int)c->number[2]));
    }
    return r;
}

static tensor *where(naive *n, const naive_call *c) {
    int64_t shape[MOST_INDICES], index[MOST_INDICES];
    int rank = 0;
    for (int k = 0; k < 3; k++)
        join_shapes(n, c->t[k], &rank, shape);
    tensor *r = naive_tensor(n, richer(c->t[1]->dtype, c->t[2]->dtype), rank, shape);
    for (int64_t i = 0; i < r->count; i++) {
        place_of(r, i, index);
        cell *from =
            broadcast_at(c->t[broadcast_at(c->t[0], rank, index)->v != 0 ? 1 : 2], rank, index);
        r->e[i] = naive_made(n, r->dtype, from->v, from, 1, NULL, 0);
    }
    return naive_record(n, r, 2, c->t + 1);
}

/* ---- sums, products, extremes -------------------------------------------------------------------------- */

static cell *sum_of(naive *n, tl_dtype dtype, cell *const *cells, int64_t count, double divisor) {
    cell *sum = naive_number(n, TL_F64, 0);
    for (int64_t i = 0; i < count; i++)
        sum = naive_made(n, TL_F64, sum->v + cells[i]->v, sum, 1, cells[i], 1);
    return naive_made(n, dtype, sum->v / divisor, sum, 1 / divisor, NULL, 0);
}

static tensor *sum_all(naive *n, tensor *t, bool mean) {
    tensor *r = naive_tensor(n, mean && !is_real(t->dtype) ? TL_F32 : t->dtype, 0, NULL);
    r->e[0] = sum_of(n, r->dtype, t->e, t->count, mean ? (double)t->count : 1);
    return naive_record(n, r, 1, &t);
}

/* t without dimension d, and the cells that lie along d at each place. */
static tensor *sum_along(naive *n, tensor *t, int d, bool mean) {
    int64_t shape[MOST_INDICES], index[MOST_INDICES];
    for (int k = 0; k < t->rank - 1; k++)
        shape[k] = t->shape[k < d ? k : k + 1];
    tensor *r = naive_tensor(n, mean && !is_real(t->dtype) ? TL_F32 : t->dtype, t->rank - 1, shape);
    cell **line = naive_room(n, (size_t)t->shape[d] * sizeof *line);
    for (int64_t i = 0; i < r->count; i++) {
        int64_t full[MOST_INDICES];
        place_of(r, i, index);
        for (int k = 0; k < t->rank; k++)
            full[k] = k < d ? index[k] : k > d ? index[k - 1] : 0;
        for (full[d] = 0; full[d] < t->shape[d]; full[d]++)
            line[full[d]] = at(t, full);
        r->e[i] = sum_of(n, r->dtype, line, t->shape[d], mean ? (double)t->shape[d] : 1);
    }
    return naive_record(n, r, 1, &t);
}

static tensor *extreme(naive *n, const tensor *t, bool largest, bool place) {
    if (t->node || t->count == 0)
        naive_unsupported(n, "extremes of this");
    int64_t best = 0;
    for (int64_t i = 1; i < t->count; i++)
        if (largest ? t->e[i]->v > t->e[best]->v : t->e[i]->v < t->e[best]->v)
            best = i;
    return naive_full(n, place ? TL_I64 : t->dtype, 0, NULL, place ? (double)best : t->e[best]->v);
}

/* Of matrices; of a vector and a matrix on either side. */
static tensor *matmul(naive *n, const naive_call *c) {
    tensor *a = c->t[0], *b = c->t[1];
    if (a->rank != 2 || b->rank != 2)
        naive_unsupported(n, "matrix products of these ranks");
    if (a->shape[1] != b->shape[0])
        naive_fail(n, "matmul does not fit");
    int64_t k = a->shape[1], m = b->shape[1];
    tensor *r = naive_tensor(n, richer(a->dtype, b->dtype), 2, (int64_t[]){a->shape[0], m});
    for (int64_t i = 0; i < r->count; i++) {
        cell *sum = naive_number(n, TL_F64, 0);
        for (int64_t j = 0; j < k; j++) {
            cell *x = a->e[i / m * k + j], *y = b->e[j * m + i % m];
            cell *product = naive_made(n, TL_F64, x->v * y->v, x, y->v, y, x->v);
            sum = naive_made(n, TL_F64, sum->v + product->v, sum, 1, product, 1);
        }
        r->e[i] = naive_made(n, r->dtype, sum->v, sum, 1, NULL, 0);
    }
    return naive_record(n, r, 2, c->t);
}

/* ---- the same numbers in other places --------------------------------------------------------------------- */

static tensor *reshape(naive *n, tensor *t, int64_t rank, const double *lengths) {
    int64_t shape[MOST_INDICES], known = 1;
    int open = -1;
    for (int d = 0; d < rank; d++) {
        shape[d] = (int64_t)lengths[d];
        if (shape[d] == -1)
            open = d;
        else
            known *= shape[d];
    }
    if (open >= 0)
        shape[open] = known ? t->count / known : 0;
    tensor *r = naive_tensor(n, t->dtype, (int)rank, shape);
    if (r->count != t->count)
        naive_fail(n, "reshape does not fit");
    memcpy(r->e, t->e, (size_t)r->count * sizeof *r->e);
    return naive_record(n, r, 1, &t);
}

/* order[d]: which dimension of t becomes dimension d. */
static tensor *permute(naive *n, tensor *t, const int *order) {
    int64_t shape[MOST_INDICES], index[MOST_INDICES], own[MOST_INDICES];
    for (int d = 0; d < t->rank; d++)
        shape[d] = t->shape[order[d]];
    tensor *r = naive_tensor(n, t->dtype, t->rank, shape);
    for (int64_t i = 0; i < r->count; i++) {
        place_of(r, i, index);
        for (int d = 0; d < t->rank; d++)
            own[order[d]] = index[d];
        r->e[i] = at(t, own);
    }
    return naive_record(n, r, 1, &t);
}

static tensor *transpose(naive *n, tensor *t, double first, double second) {
    int order[MOST_INDICES], a = dimension(n, t, first, 0), b = dimension(n, t, second, 0);
    for (int d = 0; d < t->rank; d++)
        order[d] = d == a ? b : d == b ? a : d;
    return permute(n, t, order);
}

/* The part [from, to) of dimension d; row: without the dimension. */
static tensor *part(naive *n, tensor *t, int d, int64_t from, int64_t to, bool row) {
    if (from < 0 || to > t->shape[d] || from > to)
        naive_fail(n, "out of range");
    int64_t shape[MOST_INDICES], index[MOST_INDICES];
    memcpy(shape, t->shape, sizeof shape);
    shape[d] = to - from;
    tensor *r = naive_tensor(n, t->dtype, t->rank, shape);
    for (int64_t i = 0; i < r->count; i++) {
        place_of(r, i, index);
        index[d] += from;
        r->e[i] = at(t, index);
    }
    if (row) {
        r->rank--;
        memmove(r->shape + d, r->shape + d + 1, sizeof r->shape[0] * (size_t)(r->rank - d));
    }
    return naive_record(n, r, 1, &t);
}

static tensor *expand(naive *n, tensor *t, int64_t rank, const double *lengths) {
    int64_t shape[MOST_INDICES], index[MOST_INDICES];
    int joined = (int)rank;
    for (int d = 0; d < rank; d++)
        shape[d] = (int64_t)lengths[d];
    join_shapes(n, t, &joined, shape);
    tensor *r = naive_tensor(n, t->dtype, joined, shape);
    for (int64_t i = 0; i < r->count; i++) {
        place_of(r, i, index);
        r->e[i] = broadcast_at(t, joined, index);
    }
    return naive_record(n, r, 1, &t);
}

static tensor *join(naive *n, int64_t count, tensor *const *parts, int d) {
    int64_t shape[MOST_INDICES], index[MOST_INDICES], before = 0;
    memcpy(shape, parts[0]->shape, sizeof shape);
    tl_dtype dtype = TL_BOOL;
    shape[d] = 0;
    for (int64_t p = 0; p < count; p++) {
        for (int k = 0; k < parts[p]->rank; k++)
            if (parts[p]->rank != parts[0]->rank || (k != d && parts[p]->shape[k] != shape[k]))
                naive_fail(n, "parts do not fit");
        shape[d] += parts[p]->shape[d];
        dtype = richer(dtype, parts[p]->dtype);
    }
    tensor *r = naive_tensor(n, dtype, parts[0]->rank, shape);
    for (int64_t p = 0; p < count; before += parts[p++]->shape[d]) {
        for (int64_t i = 0; i < parts[p]->count; i++) {
            place_of(parts[p], i, index);
            index[d] += before;
            int64_t offset = 0;
            for (int k = 0; k < r->rank; k++)
                offset = offset * r->shape[k] + index[k];
            r->e[offset] = parts[p]->e[i];
        }
    }
    return naive_record(n, r, (int)count, parts);
}

static tensor *with_dimension(naive *n, tensor *t, int d) {
    double shape[MOST_INDICES];
    for (int k = 0; k <= t->rank; k++)
        shape[k] = k < d ? (double)t->shape[k] : k == d ? 1 : (double)t->shape[k - 1];
    return reshape(n, t, t->rank + 1, shape);
}

static tensor *stack(naive *n, int64_t count, tensor *const *parts) {
    tensor **rows = naive_room(n, (size_t)count * sizeof *rows);
    for (int64_t p = 0; p < count; p++)
        rows[p] = with_dimension(n, parts[p], 0);
    return join(n, count, rows, 0);
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static tensor *written(naive *n, const naive_call *c, double value) {
    if (c->t[0]->node) {
        naive_offset(n, c->t[0], c->list_count, c->numbers); /* a wrong place is told first */
        naive_unsupported(n, "a leaf written in place");
    }
    tensor *r = naive_detach(n, c->t[0], false);
    r->e[naive_offset(n, r, c->list_count, c->numbers)] = naive_number(n, r->dtype, value);
    return r;
}

static tensor *assigned(naive *n, const naive_call *c, tl_abi_index operation) {
    if (c->t[1]->node)
        naive_fail(n, "history in place");
    if (c->t[0]->node)
        naive_unsupported(n, "a leaf written in place");
    naive_call as = *c;
    as.abi = operation;
    tensor *r = two_by_two(n, &as);
    if (r->count != c->t[0]->count || r->rank != c->t[0]->rank)
        naive_fail(n, "cannot take up");
    return r;
}

/* Of a leaf it is a step when nobody else holds it: who holds what is not known here. */
static tensor *updated(naive *n, const naive_call *c, tl_abi_index operation) {
    if (c->t[0]->node)
        naive_unsupported(n, "a step in place");
    naive_call as = *c;
    as.abi = operation;
    return two_by_two(n, &as);
}

static tensor *squeeze(naive *n, tensor *t, int d) {
    double shape[MOST_INDICES];
    int rank = 0;
    for (int k = 0; k < t->rank; k++)
        if (k != d || t->shape[k] != 1)
            shape[rank++] = (double)t->shape[k];
    return reshape(n, t, rank, shape);
}

/* ---- by name -------------------------------------------------------------------------------------------------- */

static tensor *made_of_list(naive *n, const naive_call *c, double value, bool grad) {
    int64_t shape[MOST_INDICES];
    for (int64_t d = 0; d < c->list_count; d++)
        shape[d] = (int64_t)c->numbers[d];
    tensor *t = naive_full(n, TL_F32, (int)c->list_count, shape, value);
    return grad ? naive_detach(n, t, true) : t;
}

static tensor *literal(naive *n, const naive_call *c, tl_dtype dtype) {
    int rank = (int)c->number[0];
    int64_t shape[MOST_INDICES];
    for (int d = 0; d < rank; d++)
        shape[d] = (int64_t)c->numbers[d];
    tensor *t = naive_tensor(n, dtype, rank, shape);
    for (int64_t i = 0; i < t->count; i++)
        t->e[i] = naive_number(n, dtype, c->numbers[rank + i]);
    return t;
}

static tensor *eye(naive *n, int64_t size) {
    tensor *t = naive_full(n, TL_F32, 2, (int64_t[]){size, size}, 0);
    for (int64_t i = 0; i < size; i++)
        t->e[i * size + i] = naive_number(n, TL_F32, 1);
    return t;
}

static tensor *arange(naive *n, double from, double to, double step) {
    int64_t count = (int64_t)ceil((to - from) / step);
    tensor *t = naive_full(n, TL_F32, 1, &count, 0);
    for (int64_t i = 0; i < count; i++)
        t->e[i] = naive_number(n, TL_F32, from + (double)i * step);
    return t;
}

static tensor *identity(naive *n, tensor *t) {
    tensor *r = naive_tensor(n, t->dtype, t->rank, t->shape);
    memcpy(r->e, t->e, (size_t)t->count * sizeof *r->e);
    return naive_record(n, r, 1, &t);
}

static tensor *shape_of(naive *n, const tensor *t) {
    int64_t rank = t->rank;
    tensor *r = naive_full(n, TL_I64, 1, &rank, 0);
    for (int d = 0; d < t->rank; d++)
        r->e[d] = naive_number(n, TL_I64, (double)t->shape[d]);
    return r;
}

static tensor *make(naive *n, const naive_call *c) {
    switch (c->abi) {
    case TL_FN_tl_tensor_zeros:
        return made_of_list(n, c, 0, c->number[1] != 0);
    case TL_FN_tl_tensor_ones:
        return made_of_list(n, c, 1, c->number[1] != 0);
    case TL_FN_tl_tensor_full:
        return made_of_list(n, c, c->number[1], c->number[2] != 0);
    case TL_FN_tl_tensor_eye:
        return eye(n, (int64_t)c->number[0]);
    case TL_FN_tl_tensor_arange:
        return arange(n, c->number[0], c->number[1], c->number[2]);
    case TL_FN_tl_tensor_zeros_like:
        return naive_full(n, c->t[0]->dtype, c->t[0]->rank, c->t[0]->shape, 0);
    case TL_FN_tl_tensor_ones_like:
        return naive_full(n, c->t[0]->dtype, c->t[0]->rank, c->t[0]->shape, 1);
    case TL_FN_tl_tensor_literal_f32:
        return literal(n, c, TL_F32);
    case TL_FN_tl_tensor_literal_f64:
        return literal(n, c, TL_F64);
    case TL_FN_tl_tensor_literal_i64:
        return literal(n, c, TL_I64);
    case TL_FN_tl_tensor_literal_bool:
        return literal(n, c, TL_BOOL);
    default:
        return NULL;
    }
}

static tensor *rearrange(naive *n, const naive_call *c) {
    tensor *t = c->t[0];
    const double *s = c->number;
    int d;
    switch (c->abi) {
    case TL_FN_tl_tensor_reshape:
        return reshape(n, t, c->list_count, c->numbers);
    case TL_FN_tl_tensor_flatten:
        return reshape(n, t, 1, (double[]){-1});
    case TL_FN_tl_tensor_unsqueeze:
        return with_dimension(n, t, dimension(n, t, s[1], 1));
    case TL_FN_tl_tensor_squeeze:
        return squeeze(n, t, dimension(n, t, s[1], 0));
    case TL_FN_tl_tensor_transpose:
        return transpose(n, t, s[1], s[2]);
    case TL_FN_tl_tensor_slice:
        return part(n, t, dimension(n, t, s[1], 0), (int64_t)s[2], (int64_t)s[3], false);
    case TL_FN_tl_tensor_narrow:
        d = dimension(n, t, s[1], 0);
        return part(n, t, d, (int64_t)s[2], (int64_t)(s[2] + s[3]), false);
    case TL_FN_tl_tensor_row:
        return part(n, t, 0, (int64_t)s[1], (int64_t)s[1] + 1, true);
    case TL_FN_tl_tensor_expand:
        return expand(n, t, c->list_count, c->numbers);
    case TL_FN_tl_tensor_cat:
        return join(n, 2, c->t, dimension(n, t, s[2], 0));
    case TL_FN_tl_tensor_stack:
        return stack(n, c->list_count, c->tensors);
    case TL_FN_tl_tensor_copied:
    case TL_FN_tl_tensor_clone:
        return t->node ? identity(n, t) : t;
    case TL_FN_tl_tensor_shallow_clone:
        return t;
    case TL_FN_tl_tensor_shape:
        return shape_of(n, t);
    default:
        return NULL;
    }
}

static tensor *reduce(naive *n, const naive_call *c) {
    tensor *t = c->t[0];
    switch (c->abi) {
    case TL_FN_tl_tensor_sum:
        return sum_all(n, t, false);
    case TL_FN_tl_tensor_mean:
        return sum_all(n, t, true);
    case TL_FN_tl_tensor_sum_dim:
        return sum_along(n, t, dimension(n, t, c->number[1], 0), false);
    case TL_FN_tl_tensor_mean_dim:
        return sum_along(n, t, dimension(n, t, c->number[1], 0), true);
    case TL_FN_tl_tensor_max:
        return extreme(n, t, true, false);
    case TL_FN_tl_tensor_min:
        return extreme(n, t, false, false);
    case TL_FN_tl_tensor_argmax:
        return extreme(n, t, true, true);
    case TL_FN_tl_tensor_argmin:
        return extreme(n, t, false, true);
    case TL_FN_tl_tensor_matmul:
        return matmul(n, c);
    case TL_FN_tl_tensor_compare:
    case TL_FN_tl_tensor_compare_scalar:
        return compare(n, c);
    case TL_FN_tl_tensor_where:
        return where(n, c);
    default:
        return NULL;
    }
}

static tensor *change(naive *n, const naive_call *c) {
    switch (c->abi) {
    case TL_FN_tl_tensor_set_f64:
    case TL_FN_tl_tensor_set_i64:
        return written(n, c, c->number[1]);
    case TL_FN_tl_tensor_put:
        return naive_put(n, c->t[0], c->t[1], c->list_count, c->numbers);
    case TL_FN_tl_tensor_fill:
        if (c->t[0]->node)
            naive_unsupported(n, "a leaf written in place");
        return naive_full(n, c->t[0]->dtype, c->t[0]->rank, c->t[0]->shape, c->number[1]);
    case TL_FN_tl_tensor_add_assign:
        return assigned(n, c, TL_FN_tl_tensor_add);
    case TL_FN_tl_tensor_sub_assign:
        return assigned(n, c, TL_FN_tl_tensor_sub);
    case TL_FN_tl_tensor_mul_assign:
        return assigned(n, c, TL_FN_tl_tensor_mul);
    case TL_FN_tl_tensor_div_assign:
        return assigned(n, c, TL_FN_tl_tensor_div);
    case TL_FN_tl_tensor_add_update:
        return updated(n, c, TL_FN_tl_tensor_add);
    case TL_FN_tl_tensor_sub_update:
        return updated(n, c, TL_FN_tl_tensor_sub);
    case TL_FN_tl_tensor_mul_update:
        return updated(n, c, TL_FN_tl_tensor_mul);
    case TL_FN_tl_tensor_div_update:
        return updated(n, c, TL_FN_tl_tensor_div);
    case TL_FN_tl_tensor_grad:
        return naive_grad(n, c->t[0]);
    case TL_FN_tl_tensor_detach:
        return !c->t[0]->node && c->number[1] == 0 ? c->t[0]
                                                   : naive_detach(n, c->t[0], c->number[1] != 0);
    case TL_FN_tl_tensor_freeze:
        return c->t[0]->node ? naive_detach(n, c->t[0], false) : c->t[0];
    case TL_FN_tl_tensor_enable_grad:
        return c->t[0]->node ? c->t[0] : naive_detach(n, c->t[0], true);
    default:
        return NULL;
    }
}

static bool read_number(naive *n, const naive_call *c, double *number) {
    const tensor *t = c->t[0];
    switch (c->abi) {
    case TL_FN_tl_tensor_get_f64:
    case TL_FN_tl_tensor_get_i64:
        *number = t->e[naive_offset(n, t, c->list_count, c->numbers)]->v;
        return true;
    case TL_FN_tl_tensor_item:
    case TL_FN_tl_tensor_item_i64:
    case TL_FN_tl_tensor_item_bool:
        if (t->count != 1)
            naive_fail(n, "is not a single number");
        *number = t->e[0]->v;
        return true;
    case TL_FN_tl_tensor_len:
        *number = t->rank ? (double)t->shape[0] : 1;
        return true;
    case TL_FN_tl_tensor_rank:
        *number = t->rank;
        return true;
    case TL_FN_tl_tensor_dim:
        *number = (double)t->shape[dimension(n, t, c->number[1], 0)];
        return true;
    case TL_FN_tl_tensor_is_tracked:
        *number = t->node != NULL;
        return true;
    case TL_FN_tl_tensor_is_bool:
        *number = t->dtype == TL_BOOL;
        return true;
    default:
        return false;
    }
}

bool naive_operate(naive *n, const naive_call *c, tensor **result, double *number) {
    tensor *(*const kinds[])(naive *, const naive_call *) = {make,   rearrange,  reduce,
                                                             change, one_by_one, two_by_two};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (c->t[0] || k == 0 || c->abi == TL_FN_tl_tensor_stack)
            if ((*result = kinds[k](n, c)) != NULL)
                return true;
    switch (c->abi) {
    case TL_FN_tl_tensor_backward:
        naive_backward(n, c->t[0], c->number[1] != 0);
        return true;
    case TL_FN_tl_tensor_require_untracked:
        if (c->t[0]->node)
            naive_fail(n, "this comprehension keeps no history");
        return true;
    case TL_FN_tl_grad_loop_enter:
        n->grad_depth++;
        return true;
    case TL_FN_tl_grad_loop_exit:
        n->grad_depth--;
        return true;
    case TL_FN_tl_clear_grads:
        naive_clear_grads(n);
        return true;
    default:
        return c->t[0] && read_number(n, c, number);
    }
}
