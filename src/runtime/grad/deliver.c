/* deliver.c: how gradients travel from a rule of differentiation to the inputs of its node.
 *
 *     rule ─gradient─► sum over broadcast dimensions ─► convert ─► the input's buffer (added to it)
 *
 * Buffers are written in place only when no other header and no other tensor sees the bytes: the
 * same gradient may have been delivered to several inputs, and a value may share its storage
 * with one.
 */
#include <string.h>

#include "runtime/grad/autograd.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

static bool same_shape(const tl_tensor *t, tl_node *node) {
    return t->rank == node->rank && memcmp(t->shape, tl__node_shape(node), (size_t)node->rank * 8) == 0;
}

masu_status tl__accumulate(tl_tensor **total, tl_tensor *gradient) {
    tl_tensor *sum = *total;
    const tl_tensor *operands[] = {*total, gradient};
    if (tl__is_private(*total)) {
        tl__map_into(TL_K_add, *total, 2, operands, NULL);
        tl__tensor_drop(gradient);
        return MASU_OK;
    }
    if (tl__is_private(gradient)) {
        tl__map_into(TL_K_add, gradient, 2, operands, NULL);
        tl__tensor_drop(*total);
        *total = gradient;
        return MASU_OK;
    }
    masu_status status = tl__tensor_new(sum->dtype, sum->rank, sum->shape, &sum);
    if (status == MASU_OK) {
        tl__map_into(TL_K_add, sum, 2, operands, NULL);
        tl__tensor_drop(*total);
        *total = sum;
    }
    tl__tensor_drop(gradient);
    return status;
}

/* *gradient becomes its sum over the dimensions that broadcasting gave it; consumed on failure. */
static masu_status fit_shape(tl_node *input, tl_tensor **gradient) {
    if (same_shape(*gradient, input))
        return MASU_OK;
    tl_tensor *wide = *gradient;
    masu_status status = tl__sum_to(wide, input->rank, tl__node_shape(input), gradient);
    tl__tensor_drop(wide);
    return status;
}

static masu_status fit_dtype(tl_node *input, tl_tensor **gradient) {
    if ((*gradient)->dtype == input->dtype)
        return MASU_OK;
    tl_tensor *other = *gradient;
    masu_status status = tl__tensor_cast(other, input->dtype, gradient);
    tl__tensor_drop(other);
    return status;
}

masu_status tl__deliver(tl_node *input, tl_tensor *gradient) {
    if (!input) {
        tl__tensor_drop(gradient);
        return MASU_OK;
    }
    masu_status status = fit_shape(input, &gradient);
    if (status == MASU_OK)
        status = fit_dtype(input, &gradient);
    if (status != MASU_OK)
        return status;
    MASU_DEBUG_ASSERT(!gradient->node);
    if (*tl__node_buffer(input))
        return tl__accumulate(tl__node_buffer(input), gradient);
    *tl__node_buffer(input) = gradient;
    return MASU_OK;
}

masu_status tl__accumulator(tl_node *input, tl_tensor **out) {
    masu_status status = MASU_OK;
    if (!*tl__node_buffer(input)) {
        status = tl__tensor_new_zeroed(input->dtype, input->rank, tl__node_shape(input), tl__node_buffer(input));
        if (status != MASU_OK)
            *tl__node_buffer(input) = NULL;
    } else if (!tl__is_private(*tl__node_buffer(input))) {
        tl_tensor *own;
        status = tl__copy(*tl__node_buffer(input), &own);
        if (status == MASU_OK) {
            tl__tensor_drop(*tl__node_buffer(input));
            *tl__node_buffer(input) = own;
        }
    }
    *out = *tl__node_buffer(input);
    return status;
}

static bool reusable(const tl_tensor *t, const tl_tensor *like) {
    return t && tl__is_private(t) && t->dtype == like->dtype && t->rank == like->rank &&
           memcmp(t->shape, like->shape, (size_t)like->rank * 8) == 0;
}

masu_status tl__destination(tl_pass *pass, tl_node *node, unsigned spent, tl_tensor **out) {
    const tl_tensor *like = pass->gradient;
    if (spent & TL_SPENT_GRADIENT && tl__is_private(like)) {
        *out = tl__take_gradient(pass);
        return MASU_OK;
    }
    tl_tensor **saved = tl__node_saved(node);
    for (int i = 0; i < node->saved_count && !pass->keep_graph; i++) {
        if (!(spent >> i & 1) || !reusable(saved[i], like))
            continue;
        *out = saved[i];
        saved[i] = NULL;
        return MASU_OK;
    }
    return tl__tensor_new(like->dtype, like->rank, like->shape, out);
}

masu_status tl__contiguous_gradient(tl_pass *pass) {
    if (pass->gradient->contiguous)
        return MASU_OK;
    tl_tensor *copy;
    masu_status status = tl__tensor_contiguous(pass->gradient, &copy);
    if (status != MASU_OK)
        return status;
    tl__tensor_drop(pass->gradient);
    pass->gradient = copy;
    return MASU_OK;
}
