/* binary.c: arithmetic of two tensors: promotion, broadcasting, and what each side's gradient
 * needs.
 *
 *              gradient of a        of b            saved
 *     add      g                    g               nothing
 *     sub      g                    -g              nothing
 *     mul      g * b                g * a           of each only what a tracked other side needs
 *     div      g / b                -g * a / b²     b, and a when b is tracked
 *     rem      g                    -g * floor(a/b) both when b is tracked
 *     fmod     g                    -g * trunc(a/b) both when b is tracked
 *     atan2    g * b / (a² + b²)    -g * a / (a² + b²) both; hypot, copysign too
 *     floor_divide  0               0               both
 *     pow      g * b * a^(b-1)      g * a^b * ln a  both
 *     maximum  g where a > b        g where b > a   both; half of it where they are equal
 */
#include "runtime/ops/element_formulas.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* The operands that a side's gradient needs besides g. */
typedef enum share {
    SHARE_AS_IS,   /* nothing: it is g */
    SHARE_NEGATED, /* nothing: it is -g */
    SHARE_OTHER,   /* kernel(g, the other side) */
    SHARE_BOTH     /* kernel(g, a, b) */
} share;

typedef struct binary_operation {
    tl_rule rule;
    tl_kernel_index kernel;
    share shares[2];
    tl_kernel_index gradients[2];
    bool real; /* of whole numbers too, as in PyTorch: DTYPE_REAL */
} binary_operation;

/* Bit i: saved value i (0 for a, 1 for b) is needed for the gradient of side. */
static unsigned needs(const binary_operation *operation, int side) {
    switch (operation->shares[side]) {
    case SHARE_OTHER:
        return 1u << (1 - side);
    case SHARE_BOTH:
        return 3;
    default:
        return 0;
    }
}

/* ---- backward -------------------------------------------------------------------------------- */

static masu_status pass_on(tl_pass *pass, tl_node *input, bool last) {
    if (last)
        return tl__deliver(input, tl__take_gradient(pass));
    tl__tensor_retain(pass->gradient);
    return tl__deliver(input, pass->gradient);
}

/* last: the other side has had its share, or wants none. */
static masu_status deliver_side(const binary_operation *operation, tl_pass *pass, tl_node *node, int side, bool last) {
    tl_node *input = tl__node_inputs(node)[side];
    const tl_tensor *a = tl__node_value(node, 0), *b = tl__node_value(node, 1);
    share kind = operation->shares[side];
    if (kind == SHARE_AS_IS)
        return pass_on(pass, input, last);
    const tl_tensor *with_other[] = {pass->gradient, side == 0 ? b : a};
    const tl_tensor *with_both[] = {pass->gradient, a, b};
    unsigned spent = last ? TL_SPENT_GRADIENT | 3u : needs(operation, side) & ~needs(operation, 1 - side);
    tl_tensor *gradient;
    masu_status status = tl__destination(pass, node, spent, &gradient);
    if (status != MASU_OK)
        return status;
    if (kind == SHARE_NEGATED)
        tl__map_into(TL_K_neg, gradient, 1, with_other, NULL);
    else if (kind == SHARE_OTHER)
        tl__map_into(operation->gradients[side], gradient, 2, with_other, NULL);
    else
        tl__map_into(operation->gradients[side], gradient, 3, with_both, NULL);
    return tl__deliver(input, gradient);
}

/* a + a: one gradient of twice the size instead of two that must be added. */
static masu_status deliver_doubled(tl_pass *pass, tl_node *node) {
    static const double two[] = {2.0, 0.0};
    const tl_tensor *operands[] = {pass->gradient};
    tl_tensor *gradient;
    masu_status status = tl__destination(pass, node, TL_SPENT_GRADIENT, &gradient);
    if (status != MASU_OK)
        return status;
    tl__map_into(TL_K_mul_scalar, gradient, 1, operands, two);
    return tl__deliver(tl__node_inputs(node)[0], gradient);
}

static masu_status binary_backward(tl_pass *pass, tl_node *node) {
    const binary_operation *operation = (const binary_operation *)(const void *)node->rule;
    tl_node **inputs = tl__node_inputs(node);
    if (operation->kernel == TL_K_add && inputs[0] == inputs[1])
        return deliver_doubled(pass, node);
    masu_status status = MASU_OK;
    if (inputs[0])
        status = deliver_side(operation, pass, node, 0, !inputs[1]);
    if (inputs[1] && status == MASU_OK)
        status = deliver_side(operation, pass, node, 1, true);
    return status;
}

static tl_tensor *share_of(tl_formula *f, const binary_operation *operation, int side) {
    const unsigned needed = needs(operation, side);
    tl_tensor *a = needed & 1 ? tl__f_input(f, 0, 0) : NULL;
    tl_tensor *b = needed & 2 ? tl__f_input(f, 1, 1) : NULL;
    tl_kernel_index kernel = operation->gradients[side];
    switch (operation->shares[side]) {
    case SHARE_AS_IS:
        return f->g;
    case SHARE_NEGATED:
        return d_neg(f, f->g);
    case SHARE_OTHER:
        return kernel == TL_K_div ? d_div(f, f->g, side == 0 ? b : a) : d_mul(f, f->g, side == 0 ? b : a);
    default:
        return a && b ? tl__binary_slope(f, kernel, a, b) : NULL;
    }
}

static void binary_formula(tl_formula *f) {
    const binary_operation *operation = (const binary_operation *)(const void *)f->node->rule;
    for (int side = 0; side < 2; side++)
        if (tl__f_wants(f, side))
            tl__f_deliver(f, side, share_of(f, operation, side));
}

/* ---- forward --------------------------------------------------------------------------------- */

#define BINARY(name, dtype, share_a, gradient_a, share_b, gradient_b, operand, text)            \
    static const binary_operation name##_operation = {{#name, binary_backward, binary_formula}, \
                                                      TL_K_##name,                              \
                                                      {share_a, share_b},                       \
                                                      {TL_K_##gradient_a, TL_K_##gradient_b},   \
                                                      (dtype) == DTYPE_REAL};
#include <masu/ops.def>

/* Saved for the gradients of the sides that are tracked. */
static unsigned needed_of(const binary_operation *operation, const tl_tensor *a, const tl_tensor *b) {
    return (a->node ? needs(operation, 0) : 0) | (b->node ? needs(operation, 1) : 0);
}

static masu_status record_binary(const binary_operation *operation, tl_tensor *result, tl_tensor *a, tl_tensor *b,
                                 tl_tensor *x, tl_tensor *y, tl_tensor **out) {
    unsigned needed = needed_of(operation, a, b);
    return tl__record_or_drop(result,
                              &(tl_origin){.rule = &operation->rule,
                                           .input_count = 2,
                                           .inputs = (tl_tensor *[]){a, b},
                                           .saved_count = 2 * (needed != 0),
                                           .saved = (tl_tensor *[]){needed & 1 ? x : NULL, needed & 2 ? y : NULL}},
                              out);
}

static masu_status check_binary(const binary_operation *operation, const tl_tensor *x, const tl_tensor *y) {
    if (MASU_UNLIKELY(!tl__kernels[operation->kernel][x->dtype]))
        return tl__error(TL_SAY(is_not_defined_for_two_bool_tensors), operation->rule.name);
    if (MASU_LIKELY(x->dtype != TL_I64))
        return MASU_OK;
    if (operation->kernel == TL_K_rem || operation->kernel == TL_K_fmod || operation->kernel == TL_K_floor_divide)
        return tl__no_zero(operation->rule.name, y);
    return operation->kernel == TL_K_pow ? tl__no_negative(operation->rule.name, y) : MASU_OK;
}

/* x and y are a and b in the type of the result. */
static masu_status binary_same_dtype(const binary_operation *operation, tl_tensor *a, tl_tensor *b, tl_tensor *x,
                                     tl_tensor *y, tl_tensor **out) {
    masu_status status = check_binary(operation, x, y);
    if (MASU_UNLIKELY(status != MASU_OK))
        return status;
    int rank = x->rank;
    int64_t wide[TL_MAX_RANK];
    const int64_t *shape = x->shape;
    if (!tl__same_shape(x, y)) {
        for (int i = 0; i < rank; i++)
            wide[i] = x->shape[i];
        shape = wide;
        status = tl__broadcast(operation->rule.name, y, &rank, wide);
        if (status != MASU_OK)
            return status;
    }
    if (MASU_UNLIKELY(needed_of(operation, a, b)))
        tl__keep_spent();
    const tl_tensor *operands[] = {x, y};
    tl_tensor *result;
    status = tl__map(operation->kernel, (tl_dtype)x->dtype, rank, shape, 2, operands, NULL, &result);
    if (MASU_UNLIKELY(status != MASU_OK))
        return status;
    if (a->node || b->node)
        return record_binary(operation, result, a, b, x, y, out);
    *out = result;
    return MASU_OK;
}

static masu_status binary_mixed(const binary_operation *operation, tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    tl_dtype dtype = tl__promote((tl_dtype)a->dtype, (tl_dtype)b->dtype);
    if (operation->real && (dtype == TL_I64 || dtype == TL_BOOL))
        dtype = TL_F32;
    tl_tensor *x, *y;
    masu_status status = tl__both_as(a, b, dtype, &x, &y);
    if (status == MASU_OK)
        status = binary_same_dtype(operation, a, b, x, y, out);
    tl__tensor_drop(x);
    tl__tensor_drop(y);
    return status;
}

static inline masu_status binary(const binary_operation *operation, tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    if (MASU_LIKELY(a->dtype == b->dtype && (!operation->real || tl__is_float(a))))
        return binary_same_dtype(operation, a, b, a, b, out);
    return binary_mixed(operation, a, b, out);
}

/* ---- entry points ---------------------------------------------------------------------------- */

/* a * a has a history of its own: one saved value, one edge. */
#define BINARY(name, dtype, share_a, gradient_a, share_b, gradient_b, operand, text) \
    tl_tensor *tl_tensor_##name(tl_tensor *a, tl_tensor *b) {                        \
        if (TL_K_##name == TL_K_mul && a == b && a->node)                            \
            return tl_tensor_pow_scalar(a, 2.0);                                     \
        TL_RETURN_TENSOR(binary(&name##_operation, a, b, &out));                     \
    }
#include <masu/ops.def>

/* ---- x op= b of what may be a parameter -------------------------------------------------------- */

/* A leaf that only this header holds, and nothing that the result of b's history would need: the step of an optimiser,
 * after which the parameter is the leaf that it was. Another holder of the leaf waits for its gradient, so then, as for
 * everything else, the new value is a result with a history. */
static bool is_step(const tl_tensor *t, const tl_tensor *b) {
    tl_node *leaf = t->node;
    bool alone = leaf && (leaf->flags & TL_NODE_LEAF) && leaf->count == 1 && t->head.count == 1;
    int rank = t->rank;
    bool fits = alone && !b->node && b->rank <= rank && b->dtype == t->dtype;
    for (int i = 0; fits && i < b->rank; i++) {
        int64_t length = b->shape[b->rank - 1 - i];
        fits = length == 1 || length == t->shape[rank - 1 - i];
    }
    return fits;
}

/* Where nothing is recorded a leaf stays the leaf that it is, whatever else holds it; what a history saved of the old
 * value keeps its own bytes. */
static masu_status update_plain(const binary_operation *operation, tl_tensor **t, tl_tensor *b) {
    tl_node *leaf = (*t)->node;
    leaf->count++;
    tl_tensor *plain;
    masu_status status = tl__tensor_view(*t, &plain);
    if (status == MASU_OK) {
        bool alone = (*t)->head.count == 1;
        if (alone) { /* the bytes are then not seen elsewhere */
            tl__tensor_drop(plain);
            plain = *t;
            tl__node_drop(plain->node);
            plain->node = NULL;
        }
        status = tl__assign(operation->rule.name, operation->kernel, &plain, b);
        if (!alone)
            tl__tensor_drop(status == MASU_OK ? *t : plain);
        if (status == MASU_OK || alone) {
            plain->node = leaf;
            *t = plain;
            leaf->count++;
        }
    }
    if (status == MASU_OK && tl__node_leaf(leaf)->listed)
        tl__leaf_consume(leaf, false);
    tl__node_drop(leaf);
    return status;
}

static masu_status update_as(const binary_operation *operation, tl_tensor **t, tl_tensor *b) {
    bool plain = tl__runtime()->unrecorded && (*t)->node && (*t)->node->flags & TL_NODE_LEAF;
    if (plain)
        return update_plain(operation, t, b);
    if (!is_step(*t, b)) {
        tl_tensor *result;
        masu_status status = binary(operation, *t, b, &result);
        if (status == MASU_OK) {
            tl__tensor_drop(*t);
            *t = result;
        }
        return status;
    }
    tl_node *leaf = (*t)->node;
    (*t)->node = NULL;
    masu_status status = tl__assign(operation->rule.name, operation->kernel, t, b);
    (*t)->node = leaf;
    if (status == MASU_OK && tl__node_leaf(leaf)->listed)
        tl__leaf_consume(leaf, false);
    return status;
}

/* A number without a history is one of t's elements, or an f32 where those are whole and it is not. */
static masu_status update(const binary_operation *operation, tl_tensor **t, tl_tensor *b) {
    const bool number = b->rank == 0 && !b->node && b->dtype != (*t)->dtype;
    if (MASU_LIKELY(!number))
        return update_as(operation, t, b);
    tl_tensor *x;
    const tl_dtype dtype = tl__is_float(*t) ? (tl_dtype)(*t)->dtype : b->dtype == TL_F64 ? TL_F32 : (tl_dtype)b->dtype;
    masu_status status = tl__as_dtype(b, dtype, &x);
    if (status == MASU_OK)
        status = update_as(operation, t, x);
    tl__tensor_drop(x);
    return status;
}

#define UPDATE(name)                                                   \
    tl_tensor *tl_tensor_##name##_update(tl_tensor *t, tl_tensor *b) { \
        masu_status status = update(&name##_operation, &t, b);         \
        if (MASU_LIKELY(status == MASU_OK))                            \
            return t;                                                  \
        tl__tensor_drop(t);                                            \
        tl__raise();                                                   \
        return NULL;                                                   \
    }

UPDATE(add)
UPDATE(sub)
UPDATE(mul)
UPDATE(div)
