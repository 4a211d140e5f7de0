/* join.c: several tensors side by side, in a dimension they have (cat) or in a new first one
 * (stack). backward shows each input its part of the gradient; nothing is copied
 * there. What is joined again and again, and large, is not copied either (growth.c).
 */
#include <inttypes.h>
#include <string.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"
#include "runtime/value/growth.h"

/* Writes from, converted, into a part of out. part is given up. */
static masu_status write_part(tl_tensor *part, tl_tensor *from) {
    tl_tensor *x;
    masu_status status = tl__as_dtype(from, (tl_dtype)part->dtype, &x);
    if (status == MASU_OK) {
        const tl_tensor *operands[] = {x};
        tl__map_into(TL_K_copy, part, 1, operands, NULL);
    }
    tl__tensor_drop(x);
    tl__tensor_drop(part);
    return status;
}

static masu_status error_join(const tl_tensor *a, const tl_tensor *b, int dim) {
    char shape_a[TL_SHAPE_TEXT], shape_b[TL_SHAPE_TEXT];
    return tl__error(TL_SAY(cat_shapes_cannot_be_joined_along_dimension), tl__shape_text(a->rank, a->shape, shape_a),
                     tl__shape_text(b->rank, b->shape, shape_b), dim);
}

/* ---- cat ------------------------------------------------------------------------------------- */

/* Extra words: the dimension, and a's length in it. */
static masu_status cat_backward(tl_pass *pass, tl_node *node) {
    tl_node **inputs = tl__node_inputs(node);
    int dim = (int)tl__node_extra(node)[0];
    int64_t border = (int64_t)tl__node_extra(node)[1];
    masu_status status = MASU_OK;
    for (int i = 0; i < 2 && status == MASU_OK; i++) {
        tl_tensor *part;
        if (!inputs[i])
            continue;
        int64_t length = i == 0 ? border : tl__node_shape(node)[dim] - border;
        status = tl__narrow(pass->gradient, dim, i == 0 ? 0 : border, length, &part);
        if (status == MASU_OK)
            status = tl__deliver(inputs[i], part);
    }
    return status;
}

static void cat_formula(tl_formula *f) {
    int dim = (int)tl__node_extra(f->node)[0];
    int64_t border = (int64_t)tl__node_extra(f->node)[1];
    int64_t length = tl__node_shape(f->node)[dim];
    if (tl__f_wants(f, 0))
        tl__f_deliver(f, 0, d_narrow(f, f->g, dim, 0, border));
    if (tl__f_wants(f, 1))
        tl__f_deliver(f, 1, d_narrow(f, f->g, dim, border, length - border));
}

const tl_rule tl__rule_cat = {"cat", cat_backward, cat_formula};

static masu_status cat_shape(const tl_tensor *a, const tl_tensor *b, int64_t dim, int *index, int64_t *shape) {
    masu_status status = tl__dimension("cat", a, dim, index);
    if (status != MASU_OK)
        return status;
    if (a->rank != b->rank)
        return error_join(a, b, *index);
    for (int i = 0; i < a->rank; i++) {
        shape[i] = a->shape[i];
        if (i == *index) {
            if (__builtin_add_overflow(a->shape[i], b->shape[i], &shape[i]))
                return error_join(a, b, *index);
        } else if (a->shape[i] != b->shape[i]) {
            return error_join(a, b, *index);
        }
    }
    return MASU_OK;
}

static masu_status cat_into(tl_tensor *out, tl_tensor *t, int dim, int64_t from) {
    tl_tensor *part;
    masu_status status = tl__narrow(out, dim, from, t->shape[dim], &part);
    return status == MASU_OK ? write_part(part, t) : status;
}

static masu_status cat(tl_tensor *a, tl_tensor *b, int64_t dim, tl_tensor **out) {
    int index;
    int64_t shape[TL_MAX_RANK];
    tl_tensor *result;
    bool continued;
    masu_status status = cat_shape(a, b, dim, &index, shape);
    if (status == MASU_OK)
        status = tl__growth_join(a, tl__promote((tl_dtype)a->dtype, (tl_dtype)b->dtype), index, shape, &result,
                                 &continued);
    if (status != MASU_OK)
        return status;
    if (!continued)
        status = cat_into(result, a, index, 0);
    if (status == MASU_OK)
        status = cat_into(result, b, index, a->shape[index]);
    if (status != MASU_OK) {
        tl__tensor_drop(result);
        return status;
    }
    *out = result;
    if (!a->node && !b->node)
        return MASU_OK;
    const uint64_t words[] = {(uint64_t)index, (uint64_t)a->shape[index]};
    return tl__record_or_drop(
        result,
        &(tl_origin){
            .rule = &tl__rule_cat, .input_count = 2, .inputs = (tl_tensor *[]){a, b}, .extra_count = 2, .extra = words},
        out);
}

tl_tensor *tl_tensor_cat(tl_tensor *a, tl_tensor *b, int64_t dim) {
    TL_RETURN_TENSOR(cat(a, b, dim, &out));
}

/* ---- stack ----------------------------------------------------------------------------------- */

/* The view t[i], without its first dimension. */
static masu_status row_of(const tl_tensor *t, int64_t i, tl_tensor **out) {
    tl_tensor *part;
    masu_status status = tl__narrow(t, 0, i, 1, &part);
    if (status != MASU_OK)
        return status;
    status = tl__remove_dim(part, 0, out);
    tl__tensor_drop(part);
    return status;
}

static masu_status stack_backward(tl_pass *pass, tl_node *node) {
    tl_node **inputs = tl__node_inputs(node);
    masu_status status = MASU_OK;
    for (int i = 0; i < node->input_count && status == MASU_OK; i++) {
        tl_tensor *part;
        if (!inputs[i])
            continue;
        status = row_of(pass->gradient, i, &part);
        if (status == MASU_OK)
            status = tl__deliver(inputs[i], part);
    }
    return status;
}

static masu_status error_stack(const tl_tensor *a, const tl_tensor *b) {
    char shape_a[TL_SHAPE_TEXT], shape_b[TL_SHAPE_TEXT];
    return tl__error(TL_SAY(stack_shapes_cannot_be_stacked), tl__shape_text(a->rank, a->shape, shape_a),
                     tl__shape_text(b->rank, b->shape, shape_b));
}

/* Each row is delivered before the next is made: what it holds is let go by then. */
static void stack_formula(tl_formula *f) {
    for (int i = 0; i < f->node->input_count && f->status == MASU_OK; i++) {
        int before = f->made_count;
        if (tl__f_wants(f, i))
            tl__f_deliver(f, i, tl__f_keep(f, tl_tensor_row(f->g, i)));
        while (f->made_count > before)
            tl__tensor_drop(f->made[--f->made_count]);
    }
}

const tl_rule tl__rule_stack = {"stack", stack_backward, stack_formula};

static masu_status check_parts(int64_t count, tl_tensor *const *parts, tl_dtype *dtype, bool *tracked) {
    if (count == 0)
        return tl__error(TL_SAY(stack_there_is_nothing_stack));
    if (count > UINT16_MAX)
        return tl__error(TL_SAY(stack_tensors_are_more_than), count, UINT16_MAX);
    if (parts[0]->rank == TL_MAX_RANK)
        return tl__error(TL_SAY(stack_tensor_at_most_dimensions), TL_MAX_RANK);
    *dtype = (tl_dtype)parts[0]->dtype;
    *tracked = false;
    for (int64_t i = 0; i < count; i++) {
        if (!tl__same_shape(parts[0], parts[i]))
            return error_stack(parts[0], parts[i]);
        *dtype = tl__promote(*dtype, (tl_dtype)parts[i]->dtype);
        *tracked = *tracked || parts[i]->node;
    }
    return MASU_OK;
}

static masu_status stack_new(int64_t count, tl_tensor *const *parts, tl_dtype dtype, tl_tensor **out) {
    int64_t shape[TL_MAX_RANK + 1] = {count};
    memcpy(shape + 1, parts[0]->shape, sizeof shape[0] * parts[0]->rank);
    masu_status status = tl__tensor_new(dtype, parts[0]->rank + 1, shape, out);
    if (status != MASU_OK)
        return status;
    for (int64_t i = 0; i < count && status == MASU_OK; i++) {
        tl_tensor *part;
        status = row_of(*out, i, &part);
        if (status == MASU_OK)
            status = write_part(part, parts[i]);
    }
    if (status != MASU_OK)
        tl__tensor_drop(*out);
    return status;
}

static masu_status stack(int64_t count, tl_tensor *const *parts, tl_tensor **out) {
    tl_dtype dtype = TL_F32;
    bool tracked = false;
    masu_status status = check_parts(count, parts, &dtype, &tracked);
    if (status == MASU_OK)
        status = stack_new(count, parts, dtype, out);
    if (status != MASU_OK || !tracked)
        return status;
    return tl__record_or_drop(*out, &(tl_origin){.rule = &tl__rule_stack, .input_count = (int)count, .inputs = parts},
                              out);
}

tl_tensor *tl_tensor_stack(int64_t parts_count, tl_tensor *const *parts) {
    TL_RETURN_TENSOR(stack(parts_count, parts, &out));
}
