/* naive_operations.c: what the operations on tensors mean, one number after the other.
 *
 * Each element of a result says which cells it came from and by what slope; that is all there is to differentiation.
 */
#include "naive_elements.h"

#include <math.h>
#include <string.h>

/* ---- sums, products, extremes -------------------------------------------------------------------------- */

static cell *sum_of(naive *n, tl_dtype dtype, cell *const *cells, int64_t count, double divisor) {
    cell *sum = naive_number(n, TL_F64, 0);
    for (int64_t i = 0; i < count; i++)
        sum = naive_made(n, TL_F64, sum->v + cells[i]->v, sum, 1, cells[i], 1);
    return naive_made(n, dtype, sum->v / divisor, sum, 1 / divisor, NULL, 0);
}

static tensor *sum_all(naive *n, tensor *t, bool mean) {
    tensor *r = naive_tensor(n, mean && !naive_is_real(t->dtype) ? TL_F32 : t->dtype, 0, NULL);
    r->e[0] = sum_of(n, r->dtype, t->e, t->count, mean ? (double)t->count : 1);
    return naive_record(n, r, 1, &t);
}

/* t without dimension d, and the cells that lie along d at each place. */
static tensor *sum_along(naive *n, tensor *t, int d, bool mean) {
    int64_t shape[MOST_INDICES], index[MOST_INDICES];
    for (int k = 0; k < t->rank - 1; k++)
        shape[k] = t->shape[k < d ? k : k + 1];
    tensor *r = naive_tensor(n, mean && !naive_is_real(t->dtype) ? TL_F32 : t->dtype, t->rank - 1, shape);
    cell **line = naive_room(n, (size_t)t->shape[d] * sizeof *line);
    for (int64_t i = 0; i < r->count; i++) {
        int64_t full[MOST_INDICES];
        naive_place_of(r, i, index);
        for (int k = 0; k < t->rank; k++)
            full[k] = k < d ? index[k] : k > d ? index[k - 1] : 0;
        for (full[d] = 0; full[d] < t->shape[d]; full[d]++)
            line[full[d]] = naive_at(t, full);
        r->e[i] = sum_of(n, r->dtype, line, t->shape[d], mean ? (double)t->shape[d] : 1);
    }
    return naive_record(n, r, 1, &t);
}

static tensor *products_along(naive *n, const naive_call *c) {
    naive_call mul = {.abi = TL_FN_tl_tensor_mul, .t = {c->t[0], c->t[1]}};
    tensor *each = naive_two_by_two(n, &mul);
    return sum_along(n, each, naive_dimension(n, each, c->number[2], 0), false);
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
    tensor *r = naive_tensor(n, naive_richer(a->dtype, b->dtype), 2, (int64_t[]){a->shape[0], m});
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
        naive_place_of(r, i, index);
        for (int d = 0; d < t->rank; d++)
            own[order[d]] = index[d];
        r->e[i] = naive_at(t, own);
    }
    return naive_record(n, r, 1, &t);
}

static tensor *transpose(naive *n, tensor *t, double first, double second) {
    int order[MOST_INDICES], a = naive_dimension(n, t, first, 0), b = naive_dimension(n, t, second, 0);
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
        naive_place_of(r, i, index);
        index[d] += from;
        r->e[i] = naive_at(t, index);
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
    naive_join_shapes(n, t, &joined, shape);
    tensor *r = naive_tensor(n, t->dtype, joined, shape);
    for (int64_t i = 0; i < r->count; i++) {
        naive_place_of(r, i, index);
        r->e[i] = naive_broadcast_at(t, joined, index);
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
        dtype = naive_richer(dtype, parts[p]->dtype);
    }
    tensor *r = naive_tensor(n, dtype, parts[0]->rank, shape);
    for (int64_t p = 0; p < count; before += parts[p++]->shape[d]) {
        for (int64_t i = 0; i < parts[p]->count; i++) {
            naive_place_of(parts[p], i, index);
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
    tensor *r = naive_two_by_two(n, &as);
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
    return naive_two_by_two(n, &as);
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
        return with_dimension(n, t, naive_dimension(n, t, s[1], 1));
    case TL_FN_tl_tensor_squeeze:
        return squeeze(n, t, naive_dimension(n, t, s[1], 0));
    case TL_FN_tl_tensor_transpose:
        return transpose(n, t, s[1], s[2]);
    case TL_FN_tl_tensor_slice:
        return part(n, t, naive_dimension(n, t, s[1], 0), (int64_t)s[2], (int64_t)s[3], false);
    case TL_FN_tl_tensor_narrow:
        d = naive_dimension(n, t, s[1], 0);
        return part(n, t, d, (int64_t)s[2], (int64_t)(s[2] + s[3]), false);
    case TL_FN_tl_tensor_row:
        return part(n, t, 0, (int64_t)s[1], (int64_t)s[1] + 1, true);
    case TL_FN_tl_tensor_expand:
        return expand(n, t, c->list_count, c->numbers);
    case TL_FN_tl_tensor_cat:
        return join(n, 2, c->t, naive_dimension(n, t, s[2], 0));
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
        return sum_along(n, t, naive_dimension(n, t, c->number[1], 0), false);
    case TL_FN_tl_tensor_vecdot:
        return products_along(n, c);
    case TL_FN_tl_tensor_mean_dim:
        return sum_along(n, t, naive_dimension(n, t, c->number[1], 0), true);
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
        return naive_compare(n, c);
    case TL_FN_tl_tensor_where:
        return naive_where(n, c);
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
        return !c->t[0]->node && c->number[1] == 0 ? c->t[0] : naive_detach(n, c->t[0], c->number[1] != 0);
    case TL_FN_tl_tensor_freeze:
        return c->t[0]->node ? naive_detach(n, c->t[0], false) : c->t[0];
    case TL_FN_tl_tensor_enable_grad:
        return c->t[0]->node ? c->t[0] : naive_detach(n, c->t[0], true);
    default:
        return NULL;
    }
}

/* An element is read as what loses nothing of it, or not at all. */
static void read_as(naive *n, const tensor *t, const cell *element, tl_dtype as) {
    bool kind = t->dtype == TL_BOOL || t->dtype == as || as == TL_F64 || (as == TL_F32 && t->dtype == TL_I64);
    double most = as == TL_F32 ? 16777216 : 9007199254740992;
    if (!kind)
        naive_fail(n, "is read as");
    if (t->dtype == TL_I64 && as != TL_I64 && (element->v > most || element->v < -most))
        naive_unsupported(n, "whole numbers that may not fit");
}

static bool read_exact(naive *n, const naive_call *c, tl_dtype as, double *number) {
    const tensor *t = c->t[0];
    const cell *e = c->list_count == 0 && t->count == 1 ? t->e[0] : t->e[naive_offset(n, t, c->list_count, c->numbers)];
    read_as(n, t, e, as);
    *number = e->v;
    return true;
}

static bool read_number(naive *n, const naive_call *c, double *number) {
    const tensor *t = c->t[0];
    switch (c->abi) {
    case TL_FN_tl_tensor_get_f64:
    case TL_FN_tl_tensor_get_i64:
        *number = t->e[naive_offset(n, t, c->list_count, c->numbers)]->v;
        return true;
    case TL_FN_tl_tensor_exact_f32:
        return read_exact(n, c, TL_F32, number);
    case TL_FN_tl_tensor_exact_f64:
        return read_exact(n, c, TL_F64, number);
    case TL_FN_tl_tensor_exact_i64:
        return read_exact(n, c, TL_I64, number);
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
        *number = (double)t->shape[naive_dimension(n, t, c->number[1], 0)];
        return true;
    case TL_FN_tl_tensor_is_tracked:
        *number = t->node != NULL;
        return true;
    case TL_FN_tl_tensor_is_leaf:
        *number = t->node == NULL || t->node->is_leaf;
        return true;
    case TL_FN_tl_tensor_is_bool:
        *number = t->dtype == TL_BOOL;
        return true;
    default:
        return false;
    }
}

bool naive_operate(naive *n, const naive_call *c, tensor **result, double *number) {
    tensor *(*const kinds[])(naive *, const naive_call *) = {make,   rearrange,        reduce,
                                                             change, naive_one_by_one, naive_two_by_two};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (c->t[0] || k == 0 || c->abi == TL_FN_tl_tensor_stack)
            if ((*result = kinds[k](n, c)) != NULL)
                return true;
    switch (c->abi) {
    case TL_FN_tl_tensor_backward:
        naive_backward(n, c->t[0], c->number[1] != 0);
        return true;
    case TL_FN_tl_tensor_read_as:
        for (int64_t i = 0; i < c->t[0]->count; i++)
            read_as(n, c->t[0], c->t[0]->e[i], (tl_dtype)c->number[1]);
        return true;
    case TL_FN_tl_tensor_require_untracked:
        if (c->t[0]->node)
            naive_fail(n, "this comprehension keeps no history");
        return true;
    case TL_FN_tl_tensor_stated:
        if (c->t[0] && ((c->number[1] >= 0 && c->number[1] != c->t[0]->dtype) ||
                        (c->number[2] >= 0 && c->number[2] != c->t[0]->rank)))
            naive_fail(n, "is stated here");
        return true;
    case TL_FN_tl_tensor_kind: /* also of a tensor that is not there */
        *number = c->t[0] ? (int)c->t[0]->dtype : -1;
        return true;
    case TL_FN_tl_arena_return: /* the arena is not modelled */
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
    case TL_FN_tl_tensor_keep_grad: /* only what is read counts, and reading one is not modelled */
        return true;
    case TL_FN_tl_grad_consume:
        naive_consume(c->t[0], c->number[1] != 0);
        return true;
    case TL_FN_tl_grad_hand_out:
        if (n->grads_kept)
            naive_consume(c->t[0], false);
        return true;
    case TL_FN_tl_grad_keeping:
        *number = n->grads_kept;
        n->grads_kept = c->number[0] != 0;
        return true;
    default:
        return c->t[0] && read_number(n, c, number);
    }
}
