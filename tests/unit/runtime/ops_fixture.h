/* ops_fixture.h: what tests of operations share: arrays of plain numbers as the judge's side,
 * tensors made of them in several layouts, comparison, and a checker of gradients by finite
 * differences. Each test program includes it once. */
#ifndef MASU_TEST_OPS_FIXTURE_H
#define MASU_TEST_OPS_FIXTURE_H

#include "runtime_fixture.h"

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "runtime/grad/autograd.h"

enum { ARRAY_MAX = 8192 };

/* The judge's tensor: numbers in row-major order. */
typedef struct array {
    int rank;
    int64_t shape[TL_MAX_RANK];
    int64_t count;
    double v[ARRAY_MAX];
} array;

static masu__rng test_rng;

static UNUSED double random_between(double low, double high) {
    return low + (high - low) * masu__rng_uniform(&test_rng);
}

static UNUSED int64_t random_below(int64_t bound) {
    return (int64_t)masu__rng_below(&test_rng, (uint64_t)bound);
}

static UNUSED void array_shape(array *a, int rank, const int64_t *shape) {
    a->rank = rank;
    a->count = 1;
    for (int i = 0; i < rank; i++) {
        a->shape[i] = shape[i];
        a->count *= shape[i];
    }
    assert_true(a->count <= ARRAY_MAX);
}

static UNUSED void array_random(array *a, int rank, const int64_t *shape, double low, double high) {
    array_shape(a, rank, shape);
    for (int64_t i = 0; i < a->count; i++)
        a->v[i] = random_between(low, high);
}

/* The index of element i, and back; an index longer than a's rank is cut in front, and length 1
 * repeats. */
static UNUSED void unravel(const array *a, int64_t i, int64_t *index) {
    for (int d = a->rank - 1; d >= 0; d--) {
        index[d] = i % a->shape[d];
        i /= a->shape[d];
    }
}

static UNUSED double array_at(const array *a, int rank, const int64_t *index) {
    int64_t i = 0;
    for (int d = 0; d < a->rank; d++)
        i = i * a->shape[d] + (a->shape[d] == 1 ? 0 : index[d + rank - a->rank]);
    return a->v[i];
}

/* ---- tensors --------------------------------------------------------------------------------- */

static UNUSED void release(tl_tensor *t) {
    tl_tensor_release_safe(t);
}

static UNUSED tl_tensor *checked(tl_tensor *t) {
    if (!t)
        fail_msg("an operation failed: %s", tl_runtime_error(tl__runtime())->text);
    assert_true(tl__tensor_valid(t));
    return t;
}

static UNUSED tl_tensor *tensor_new(tl_dtype dtype, int rank, const int64_t *shape) {
    tl_tensor *t = NULL;
    assert_int_equal(tl__tensor_new(dtype, rank, shape, &t), MASU_OK);
    return t;
}

static UNUSED void write_number(tl_tensor *t, int64_t i, double v) {
    switch ((tl_dtype)t->dtype) {
    case TL_F32:
        ((float *)t->data)[i] = (float)v;
        break;
    case TL_F64:
        ((double *)t->data)[i] = v;
        break;
    case TL_I64:
        ((int64_t *)t->data)[i] = (int64_t)v;
        break;
    default:
        ((uint8_t *)t->data)[i] = v != 0;
        break;
    }
}

static UNUSED double read_number(const tl_tensor *t, int64_t i) {
    switch ((tl_dtype)t->dtype) {
    case TL_F32:
        return ((const float *)t->data)[i];
    case TL_F64:
        return ((const double *)t->data)[i];
    case TL_I64:
        return (double)((const int64_t *)t->data)[i];
    default:
        return ((const uint8_t *)t->data)[i];
    }
}

/* Element `index` by the header's strides: the test's own arithmetic. */
static UNUSED double number_at(const tl_tensor *t, const int64_t *index) {
    int64_t offset = 0;
    for (int d = 0; d < t->rank; d++)
        offset += index[d] * t->stride[d];
    return read_number(t, offset);
}

static UNUSED tl_tensor *tensor_of(const array *a, tl_dtype dtype) {
    tl_tensor *t = tensor_new(dtype, a->rank, a->shape);
    for (int64_t i = 0; i < a->count; i++)
        write_number(t, i, a->v[i]);
    return t;
}

/* How an operand lies in memory. LIES_EXPANDED is for reading only: all elements are one. */
typedef enum lies { LIES_DENSE, LIES_TURNED, LIES_INSIDE, LIES_COUNT } lies;

/* The shape of the dense tensor of which view_as makes one of the given shape. */
static UNUSED void base_shape(lies how, int rank, const int64_t *shape, int64_t *base) {
    for (int d = 0; d < rank; d++)
        base[d] = how == LIES_TURNED ? shape[rank - 1 - d] : how == LIES_INSIDE ? shape[d] + 1 : shape[d];
}

/* Consumes base. */
static UNUSED tl_tensor *view_as(lies how, tl_tensor *base) {
    int64_t order[TL_MAX_RANK];
    if (how == LIES_DENSE)
        return base;
    for (int d = 0; d < base->rank; d++)
        order[d] = base->rank - 1 - d;
    if (how == LIES_TURNED) {
        tl_tensor *view = checked(tl_tensor_permute(base, base->rank, order));
        release(base);
        return view;
    }
    for (int d = base->rank - 1; d >= 0; d--) {
        tl_tensor *view = checked(tl_tensor_narrow(base, d, 1, base->shape[d] - 1));
        release(base);
        base = view;
    }
    return base;
}

/* a's numbers, lying as asked. */
static UNUSED tl_tensor *tensor_lying(const array *a, tl_dtype dtype, lies how) {
    array base;
    int64_t shape[TL_MAX_RANK], index[TL_MAX_RANK] = {0};
    base_shape(how, a->rank, a->shape, shape);
    array_random(&base, a->rank, shape, 0, 9);
    tl_tensor *t = tensor_of(&base, dtype);
    for (int64_t i = 0; i < a->count; i++) {
        int64_t offset = 0;
        unravel(a, i, index);
        for (int d = 0; d < a->rank; d++) {
            int64_t at = how == LIES_TURNED ? index[a->rank - 1 - d] : index[d] + (how == LIES_INSIDE);
            offset = offset * shape[d] + at;
        }
        write_number(t, offset, a->v[i]);
    }
    return view_as(how, t);
}

static UNUSED void assert_close(double got, double expected, double tolerance, const char *what, int64_t i) {
    if (isnan(got) && isnan(expected))
        return;
    if (got == expected)
        return;
    if (!(fabs(got - expected) <= tolerance * (1 + fabs(expected))))
        fail_msg("%s: element %ld is %.17g, not %.17g", what, (long)i, got, expected);
}

/* Shape, and every element. */
static UNUSED void assert_tensor(const tl_tensor *t, const array *expected, double tolerance, const char *what) {
    int64_t index[TL_MAX_RANK] = {0};
    assert_int_equal(t->rank, expected->rank);
    for (int d = 0; d < t->rank; d++)
        assert_int_equal(t->shape[d], expected->shape[d]);
    assert_true(tl__tensor_valid(t));
    for (int64_t i = 0; i < expected->count; i++) {
        unravel(expected, i, index);
        assert_close(number_at(t, index), expected->v[i], tolerance, what, i);
    }
}

/* The same, releasing t; a tensor that an operation refused to make fails the test. */
static UNUSED void assert_result(tl_tensor *t, tl_dtype dtype, const array *expected, double tolerance,
                                 const char *what) {
    if (!t)
        fail_msg("%s: %s", what, tl_runtime_error(tl__runtime())->text);
    assert_int_equal(t->dtype, dtype);
    assert_tensor(t, expected, tolerance, what);
    release(t);
}

#define SHAPE(...)                                                                 \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { \
        __VA_ARGS__                                                                \
    }

static UNUSED tl_tensor *f32_of(int rank, const int64_t *shape, const double *numbers) {
    array a;
    array_shape(&a, rank, shape);
    memcpy(a.v, numbers, sizeof a.v[0] * (size_t)a.count);
    return tensor_of(&a, TL_F32);
}
#define F32(shape, ...) f32_of(shape, (const double[]){__VA_ARGS__})

static UNUSED tl_tensor *ones(int64_t n) {
    return checked(tl_tensor_ones(1, &n, false));
}

static UNUSED tl_tensor *leaf_of(tl_tensor *t) {
    return checked(tl_tensor_enable_grad(t));
}

/* Releases t. */
static UNUSED double item(tl_tensor *t) {
    double value = tl_tensor_item(checked(t));
    release(t);
    return value;
}

static UNUSED void assert_all(tl_tensor *t, double value) {
    int64_t index[TL_MAX_RANK] = {0};
    array shape;
    array_shape(&shape, t->rank, t->shape);
    for (int64_t i = 0; i < shape.count; i++) {
        unravel(&shape, i, index);
        assert_close(number_at(t, index), value, 1e-6, "all elements", i);
    }
}

static UNUSED void backward(tl_tensor *loss) {
    tl_tensor_backward(loss, false);
    if (tl_runtime_error(tl__runtime())->status != MASU_OK)
        fail_msg("%s", tl_runtime_error(tl__runtime())->text);
}

/* Consuming forms, as compiled code releases a value after its last use. */
static UNUSED tl_tensor *then1(tl_tensor *(*call)(tl_tensor *), tl_tensor *t) {
    tl_tensor *out = checked(call(t));
    release(t);
    return out;
}

static UNUSED tl_tensor *then_scalar(tl_tensor *(*call)(tl_tensor *, double), tl_tensor *t, double s) {
    tl_tensor *out = checked(call(t, s));
    release(t);
    return out;
}

static UNUSED tl_tensor *square_sum(tl_tensor *w) {
    return then1(tl_tensor_sum, checked(tl_tensor_mul(w, w)));
}

/* The gradient of leaf w must be `value` everywhere. */
static UNUSED void assert_gradient(tl_tensor *w, double value) {
    tl_tensor *g = checked(tl_tensor_grad(w));
    assert_int_equal(g->rank, w->rank);
    assert_all(g, value);
    release(g);
}

static UNUSED void no_history_left(tl_runtime *rt) {
    assert_int_equal(rt->live_nodes, 0);
    assert_int_equal(rt->live_grads, 0);
    assert_null(rt->grad_read);
    assert_int_equal(rt->grad_depth, 0);
}

/* An error that a test did not ask for fails it here at the latest. */
static UNUSED void close_ops(tl_runtime *rt) {
    if (tl_runtime_error(rt)->status != MASU_OK)
        fail_msg("%s", tl_runtime_error(rt)->text);
    no_history_left(rt);
    close_runtime(rt);
}

/* ---- failing allocations --------------------------------------------------------------------- */

/* A compiled function's way of holding tensors: slots that unwinding releases. */
#define SLOT(i) (*(tl_tensor **)(void *)&tl__runtime()->frame->slots[i])

static UNUSED tl_tensor *take(int slot) {
    tl_tensor *t = SLOT(slot);
    SLOT(slot) = NULL;
    return t;
}

static UNUSED void put(int slot, tl_tensor *t) {
    tl_tensor *old = SLOT(slot);
    SLOT(slot) = t;
    if (old)
        tl_tensor_release_safe(old);
}

/* sweep_failures of runtime_fixture.h, and after each refusal no history and no tensor is left. */
static UNUSED uint64_t sweep_ops(tl_runtime *rt, void (*scenario)(void)) {
    for (uint64_t nth = 1;; nth++) {
        tl_error error;
        masu__fault_arm(nth);
        masu_status status = tl_runtime_run(rt, scenario, &error);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        no_history_left(rt);
        assert_nothing_left(rt);
        if (!fired) {
            if (status != MASU_OK)
                fail_msg("%s", error.text);
            return nth - 1;
        }
        assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
        assert_true(nth < 10000);
    }
}

#endif
