/* comprehend.c: comprehensions whose loops the compiler emitted (masu/abi.h: tl_kernel).
 *
 *     captured tensors ─► converted to the types the kernel reads ─► views ─► forward ─► result
 *                                     │
 *                                     └─► node: edges to tracked ones, values backward reads
 *
 * Extra words of the node: the plan, its cells, and for each capture the shape the kernel saw,
 * so that a capture whose elements backward does not read is not kept alive.
 */
#include <inttypes.h>
#include <string.h>

#include "runtime/ops/ops.h"
#include "runtime/state.h"

enum { FAULT_INDEX = 1, FAULT_DIVISION = 2, FAULT_BELOW_ZERO = 3 };

/* Memory for one call: an entry for each capture, on the stack as long as they are few. */
enum { FEW_CAPTURES = 4 };

typedef struct scratch {
    int64_t count;
    tl_tensor **tensors; /* each owned, or NULL */
    void **pointers;
    tl_view *views;
    void *memory; /* of the three when there are many */
    size_t bytes;
    tl_tensor *few_tensors[FEW_CAPTURES];
    void *few_pointers[FEW_CAPTURES];
    tl_view few_views[FEW_CAPTURES];
} scratch;

static masu_status scratch_init(scratch *scratch, int64_t count) {
    scratch->count = count;
    scratch->tensors = scratch->few_tensors;
    scratch->pointers = scratch->few_pointers;
    scratch->views = scratch->few_views;
    scratch->memory = NULL;
    scratch->bytes = 0;
    if (count > FEW_CAPTURES) {
        scratch->bytes = (size_t)count * (sizeof(tl_view) + sizeof(tl_tensor *) + sizeof(void *));
        masu_status status = tl__alloc(scratch->bytes, &scratch->memory);
        if (status != MASU_OK)
            return status;
        scratch->views = scratch->memory;
        scratch->tensors = (tl_tensor **)(void *)(scratch->views + count);
        scratch->pointers = (void **)(void *)(scratch->tensors + count);
    }
    for (int64_t i = 0; i < count; i++) {
        scratch->tensors[i] = NULL;
        scratch->pointers[i] = NULL;
    }
    return MASU_OK;
}

static void scratch_release(scratch *scratch) {
    for (int64_t i = 0; i < scratch->count; i++)
        tl__tensor_drop(scratch->tensors[i]);
    tl__free(scratch->memory, scratch->bytes);
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* The kernel knows the place better than the frame, which is at the whole comprehension. */
static masu_status error_fault(const tl_fault *fault) {
    tl_runtime *rt = tl__runtime();
    if (fault->site != 0 && rt->frame)
        rt->frame->site = (uint32_t)fault->site;
    switch (fault->kind) {
    case FAULT_INDEX:
        return tl__error(TL_SAY(index_is_out_range_for_length), fault->value, fault->bound);
    case FAULT_DIVISION:
        return tl__error(TL_SAY(division_by_zero));
    case FAULT_BELOW_ZERO:
        return tl__error(TL_SAY(attempt_subtract_with_overflow_is_below_0), (uint64_t)fault->value,
                         (uint64_t)fault->bound);
    default:
        return tl__error(TL_SAY(comprehension_stopped_for_unknown_reason), fault->kind);
    }
}

/* ---- forward --------------------------------------------------------------------------------- */

static void view_of(const tl_tensor *t, tl_view *out) {
    out->data = t->data;
    memcpy(out->shape, t->shape, sizeof t->shape[0] * t->rank);
    memcpy(out->stride, t->stride, sizeof t->stride[0] * t->rank);
}

static masu_status check_captures(const tl_kernel *plan, int64_t count, tl_tensor *const *captured) {
    if (count != plan->capture_count || plan->rank < 0 || plan->rank > TL_MAX_RANK || plan->rank > plan->cell_count)
        return tl__error(TL_SAY(comprehension_does_not_fit_its_plan));
    for (int64_t i = 0; i < count; i++) {
        char text[TL_SHAPE_TEXT];
        if (captured[i]->rank != plan->capture_rank[i])
            return tl__error(TL_SAY(given_for_tensor_shape), plan->capture_rank[i],
                             plan->capture_rank[i] == 1 ? "index" : "indices",
                             tl__shape_text(captured[i]->rank, captured[i]->shape, text));
    }
    return MASU_OK;
}

static masu_status convert_captures(const tl_kernel *plan, tl_tensor *const *captured, scratch *scratch) {
    masu_status status = MASU_OK;
    for (int64_t i = 0; i < plan->capture_count && status == MASU_OK; i++) {
        status = tl__as_dtype(captured[i], (tl_dtype)plan->capture_dtype[i], &scratch->tensors[i]);
        if (status == MASU_OK)
            view_of(scratch->tensors[i], &scratch->views[i]);
    }
    return status;
}

static masu_status run_forward(const tl_kernel *plan, const int64_t *cells, const scratch *scratch, tl_tensor **out) {
    tl_fault fault = {0};
    tl_tensor *result;
    masu_status status = tl__tensor_new_zeroed((tl_dtype)plan->dtype, (int)plan->rank, cells, &result);
    if (status != MASU_OK)
        return status;
    if (result->elements > 0 && !plan->forward(scratch->views, cells, result->data, &fault)) {
        tl__tensor_drop(result);
        return error_fault(&fault);
    }
    *out = result;
    return MASU_OK;
}

/* ---- history --------------------------------------------------------------------------------- */

static masu_status comprehend_backward(tl_pass *pass, tl_node *node);

static const tl_rule comprehend_rule = {"a comprehension", comprehend_backward, NULL};

static int64_t shape_words(const tl_kernel *plan) {
    int64_t words = 0;
    for (int64_t i = 0; i < plan->capture_count; i++)
        words += plan->capture_rank[i];
    return words;
}

static void write_extra(const tl_kernel *plan, const int64_t *cells, const scratch *scratch, uint64_t *extra) {
    *extra++ = (uint64_t)(uintptr_t)plan;
    memcpy(extra, cells, (size_t)plan->cell_count * 8);
    extra += plan->cell_count;
    for (int64_t i = 0; i < plan->capture_count; i++) {
        memcpy(extra, scratch->tensors[i]->shape, (size_t)plan->capture_rank[i] * 8);
        extra += plan->capture_rank[i];
    }
}

/* scratch's pointers hold the values to be saved while the node is made. */
static masu_status record_comprehension(const tl_kernel *plan, const int64_t *cells, tl_tensor *const *captured,
                                        scratch *scratch, tl_tensor *result, tl_tensor **out) {
    tl_tensor **saved = (tl_tensor **)scratch->pointers;
    for (int64_t i = 0; i < plan->capture_count; i++)
        saved[i] = plan->needs_value[i] ? scratch->tensors[i] : NULL;
    masu_status status = tl__record_or_drop(
        result,
        &(tl_origin){.rule = &comprehend_rule,
                     .input_count = (int)plan->capture_count,
                     .inputs = captured,
                     .saved_count = (int)plan->capture_count,
                     .saved = saved,
                     .extra_count = (int)(1 + plan->cell_count + shape_words(plan))},
        out);
    if (status == MASU_OK)
        write_extra(plan, cells, scratch, tl__node_extra(result->node));
    return status;
}

static bool any_tracks(int64_t count, tl_tensor *const *captured) {
    for (int64_t i = 0; i < count; i++)
        if (captured[i]->node)
            return true;
    return false;
}

static masu_status comprehend_with(const tl_kernel *plan, const int64_t *cells, tl_tensor *const *captured,
                                   scratch *scratch, tl_tensor **out) {
    bool tracked = (plan->dtype == TL_F32 || plan->dtype == TL_F64) && any_tracks(plan->capture_count, captured);
    if (tracked && !plan->backward)
        return tl__error(TL_SAY(comprehension_cannot_be_differentiated_uses));
    if (tracked && plan->capture_count > UINT16_MAX)
        return tl__error(TL_SAY(comprehension_captures_too_many_tensors));
    masu_status status = convert_captures(plan, captured, scratch);
    if (status == MASU_OK)
        status = run_forward(plan, cells, scratch, out);
    if (status == MASU_OK && tracked)
        status = record_comprehension(plan, cells, captured, scratch, *out, out);
    return status;
}

static masu_status comprehend(const tl_kernel *plan, const int64_t *cells, int64_t count, tl_tensor *const *captured,
                              tl_tensor **out) {
    scratch scratch;
    masu_status status = check_captures(plan, count, captured);
    if (status == MASU_OK)
        status = scratch_init(&scratch, count);
    if (status != MASU_OK)
        return status;
    status = comprehend_with(plan, cells, captured, &scratch, out);
    scratch_release(&scratch);
    return status;
}

tl_tensor *tl_tensor_comprehend(void *plan, void *cells, int64_t captured_count, tl_tensor *const *captured) {
    TL_RETURN_TENSOR(comprehend(plan, cells, captured_count, captured, &out));
}

/* ---- backward -------------------------------------------------------------------------------- */

/* The shape the kernel saw; a value that is not needed has no data. */
static void restore_view(const tl_tensor *saved, int64_t rank, const int64_t *shape, tl_view *out) {
    if (saved) {
        view_of(saved, out);
        return;
    }
    int64_t stride = 1;
    out->data = NULL;
    for (int64_t d = rank - 1; d >= 0; d--) {
        out->shape[d] = shape[d];
        out->stride[d] = stride;
        stride *= shape[d];
    }
}

/* Where the kernel adds the gradient of capture i: what the input collects, or a tensor of the
 * type the kernel knows. */
static masu_status accumulator_for(tl_node *input, tl_dtype dtype, tl_tensor **own, void **out) {
    tl_tensor *collected;
    masu_status status;
    if (input->dtype == dtype) {
        status = tl__accumulator(input, &collected);
    } else {
        status = tl__tensor_new_zeroed(dtype, input->rank, tl__node_shape(input), &collected);
        *own = status == MASU_OK ? collected : NULL;
    }
    if (status == MASU_OK)
        *out = collected->data;
    return status;
}

static masu_status prepare_backward(const tl_kernel *plan, tl_node *node, scratch *scratch) {
    tl_node **inputs = tl__node_inputs(node);
    const int64_t *shape = (const int64_t *)(const void *)(tl__node_extra(node) + 1 + plan->cell_count);
    masu_status status = MASU_OK;
    for (int64_t i = 0; i < plan->capture_count && status == MASU_OK; i++) {
        restore_view(tl__node_saved(node)[i], plan->capture_rank[i], shape, &scratch->views[i]);
        shape += plan->capture_rank[i];
        if (inputs[i])
            status = accumulator_for(inputs[i], (tl_dtype)plan->capture_dtype[i], &scratch->tensors[i],
                                     &scratch->pointers[i]);
    }
    return status;
}

static masu_status deliver_converted(const tl_kernel *plan, tl_node *node, scratch *scratch) {
    masu_status status = MASU_OK;
    for (int64_t i = 0; i < plan->capture_count && status == MASU_OK; i++) {
        tl_tensor *gradient = scratch->tensors[i];
        scratch->tensors[i] = NULL;
        if (gradient)
            status = tl__deliver(tl__node_inputs(node)[i], gradient);
    }
    return status;
}

static masu_status comprehend_backward(tl_pass *pass, tl_node *node) {
    const tl_kernel *plan = (const tl_kernel *)(uintptr_t)tl__node_extra(node)[0];
    const int64_t *cells = (const int64_t *)(const void *)(tl__node_extra(node) + 1);
    tl_fault fault = {0};
    scratch scratch;
    masu_status status = tl__contiguous_gradient(pass);
    if (status == MASU_OK)
        status = scratch_init(&scratch, plan->capture_count);
    if (status != MASU_OK)
        return status;
    status = prepare_backward(plan, node, &scratch);
    if (status == MASU_OK && pass->gradient->elements > 0 &&
        !plan->backward(scratch.views, cells, pass->gradient->data, scratch.pointers, &fault))
        status = error_fault(&fault);
    if (status == MASU_OK)
        status = deliver_converted(plan, node, &scratch);
    scratch_release(&scratch);
    return status;
}
