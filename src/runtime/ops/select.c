/* select.c: comparisons, logic, and the choice between two tensors. */
#include <inttypes.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* ---- comparisons ----------------------------------------------------------------------------- */

static const tl_kernel_index relations[] = {TL_K_equal,      TL_K_not_equal, TL_K_less,
                                            TL_K_less_equal, TL_K_greater,   TL_K_greater_equal};

static masu_status check_relation(int64_t relation) {
    if (relation >= 0 && relation < (int64_t)(sizeof relations / sizeof relations[0]))
        return MASU_OK;
    return tl__error(TL_SAY(is_no_relation), relation);
}

/* x and y of one type that has an order. */
static masu_status compare_same_dtype(const tl_tensor *x, const tl_tensor *y, int64_t relation, tl_tensor **out) {
    int rank = 0;
    int64_t shape[TL_MAX_RANK];
    const tl_tensor *operands[] = {x, y};
    masu_status status = tl__broadcast("compare", x, &rank, shape);
    if (status == MASU_OK)
        status = tl__broadcast("compare", y, &rank, shape);
    if (status == MASU_OK)
        status = tl__map(relations[relation], TL_BOOL, rank, shape, 2, operands, NULL, out);
    return status;
}

static masu_status compare(tl_tensor *a, tl_tensor *b, int64_t relation, tl_tensor **out) {
    masu_status status = check_relation(relation);
    if (status != MASU_OK)
        return status;
    tl_dtype dtype = tl__promote((tl_dtype)a->dtype, (tl_dtype)b->dtype);
    if (dtype == TL_BOOL)
        dtype = TL_I64;
    tl_tensor *x, *y = NULL;
    status = tl__as_dtype(a, dtype, &x);
    if (status == MASU_OK)
        status = tl__as_dtype(b, dtype, &y);
    if (status == MASU_OK)
        status = compare_same_dtype(x, y, relation, out);
    tl__tensor_drop(x);
    tl__tensor_drop(y);
    return status;
}

tl_tensor *tl_tensor_compare(tl_tensor *a, tl_tensor *b, int64_t relation) {
    TL_RETURN_TENSOR(compare(a, b, relation, &out));
}

typedef union number {
    float f32;
    double f64;
    int64_t i64;
} number;

static number number_of(tl_dtype dtype, double value) {
    switch (dtype) {
    case TL_F32:
        return (number){.f32 = (float)value};
    case TL_F64:
        return (number){.f64 = value};
    default:
        return (number){.i64 = tl__i64_of(value)};
    }
}

/* The scalar as a tensor of rank 0 on the stack. Whole tensors beside a fraction are compared as
 * f64. */
static masu_status compare_scalar(tl_tensor *t, double scalar, int64_t relation, tl_tensor **out) {
    masu_status status = check_relation(relation);
    if (status != MASU_OK)
        return status;
    tl_dtype dtype = tl__scalar_dtype((tl_dtype)t->dtype, scalar);
    if (dtype == TL_F32 && t->dtype != TL_F32)
        dtype = TL_F64;
    number value = number_of(dtype, scalar);
    tl_tensor single = {.dtype = (uint8_t)dtype, .contiguous = true, .elements = 1, .data = &value};
    tl_tensor *x;
    status = tl__as_dtype(t, dtype, &x);
    if (status == MASU_OK)
        status = compare_same_dtype(x, &single, relation, out);
    tl__tensor_drop(x);
    return status;
}

tl_tensor *tl_tensor_compare_scalar(tl_tensor *t, double s, int64_t relation) {
    TL_RETURN_TENSOR(compare_scalar(t, s, relation, &out));
}

/* ---- logic: anything but 0 is true ----------------------------------------------------------- */

static masu_status logical_not(tl_tensor *t, tl_tensor **out) {
    tl_tensor *x;
    masu_status status = tl__as_dtype(t, TL_BOOL, &x);
    const tl_tensor *operands[] = {x};
    if (status == MASU_OK)
        status = tl__map(TL_K_logical_not, TL_BOOL, t->rank, t->shape, 1, operands, NULL, out);
    tl__tensor_drop(x);
    return status;
}

tl_tensor *tl_tensor_logical_not(tl_tensor *t) {
    TL_RETURN_TENSOR(logical_not(t, &out));
}

static masu_status logical(const char *what, tl_kernel_index kernel, tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    int rank = 0;
    int64_t shape[TL_MAX_RANK];
    tl_tensor *x, *y = NULL;
    masu_status status = tl__as_dtype(a, TL_BOOL, &x);
    if (status == MASU_OK)
        status = tl__as_dtype(b, TL_BOOL, &y);
    if (status == MASU_OK)
        status = tl__broadcast(what, a, &rank, shape);
    if (status == MASU_OK)
        status = tl__broadcast(what, b, &rank, shape);
    const tl_tensor *operands[] = {x, y};
    if (status == MASU_OK)
        status = tl__map(kernel, TL_BOOL, rank, shape, 2, operands, NULL, out);
    tl__tensor_drop(x);
    tl__tensor_drop(y);
    return status;
}

tl_tensor *tl_tensor_logical_and(tl_tensor *a, tl_tensor *b) {
    TL_RETURN_TENSOR(logical("logical_and", TL_K_logical_and, a, b, &out));
}

tl_tensor *tl_tensor_logical_or(tl_tensor *a, tl_tensor *b) {
    TL_RETURN_TENSOR(logical("logical_or", TL_K_logical_or, a, b, &out));
}

/* ---- where: a where the condition holds, else b ---------------------------------------------- */

static masu_status deliver_where(tl_pass *pass, tl_node *node, int side, bool last) {
    const tl_tensor *operands[] = {pass->gradient, tl__node_saved(node)[0]};
    tl_tensor *gradient;
    masu_status status = tl__destination(pass, node, last ? TL_SPENT_GRADIENT : 0, &gradient);
    if (status != MASU_OK)
        return status;
    tl__map_into(side == 0 ? TL_K_keep_where : TL_K_keep_where_not, gradient, 2, operands, NULL);
    return tl__deliver(tl__node_inputs(node)[side], gradient);
}

static masu_status where_backward(tl_pass *pass, tl_node *node) {
    tl_node **inputs = tl__node_inputs(node);
    masu_status status = MASU_OK;
    if (inputs[0])
        status = deliver_where(pass, node, 0, !inputs[1]);
    if (inputs[1] && status == MASU_OK)
        status = deliver_where(pass, node, 1, true);
    return status;
}

static void where_formula(tl_formula *f) {
    tl_tensor *holds = tl__f_constant(f, 0), *zero = d_zeros(f, (tl_dtype)f->g->dtype, 0, NULL);
    if (tl__f_wants(f, 0))
        tl__f_deliver(f, 0, d_where(f, holds, f->g, zero));
    if (tl__f_wants(f, 1))
        tl__f_deliver(f, 1, d_where(f, holds, zero, f->g));
}

const tl_rule tl__rule_where = {"where", where_backward, where_formula};

/* holds is bool, x and y of one type. */
static masu_status where_converted(tl_tensor *holds, const tl_tensor *x, const tl_tensor *y, tl_tensor **out) {
    int rank = 0;
    int64_t shape[TL_MAX_RANK];
    const tl_tensor *operands[] = {holds, x, y};
    masu_status status = MASU_OK;
    for (int i = 0; i < 3 && status == MASU_OK; i++)
        status = tl__broadcast("where", operands[i], &rank, shape);
    if (status != MASU_OK)
        return status;
    return tl__map(TL_K_select, (tl_dtype)x->dtype, rank, shape, 3, operands, NULL, out);
}

static masu_status where(tl_tensor *condition, tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    tl_dtype dtype = tl__promote((tl_dtype)a->dtype, (tl_dtype)b->dtype);
    tl_tensor *holds, *x = NULL, *y = NULL;
    masu_status status = tl__as_dtype(condition, TL_BOOL, &holds);
    if (status == MASU_OK)
        status = tl__as_dtype(a, dtype, &x);
    if (status == MASU_OK)
        status = tl__as_dtype(b, dtype, &y);
    if (status == MASU_OK)
        status = where_converted(holds, x, y, out);
    if (status == MASU_OK && (a->node || b->node))
        status = tl__record_or_drop(*out,
                                    &(tl_origin){.rule = &tl__rule_where,
                                                 .input_count = 2,
                                                 .inputs = (tl_tensor *[]){a, b},
                                                 .saved_count = 1,
                                                 .saved = &holds},
                                    out);
    tl__tensor_drop(holds);
    tl__tensor_drop(x);
    tl__tensor_drop(y);
    return status;
}

tl_tensor *tl_tensor_where(tl_tensor *condition, tl_tensor *a, tl_tensor *b) {
    TL_RETURN_TENSOR(where(condition, a, b, &out));
}
