/* leaf.c: gradients that programs see. A leaf owns its gradient; the gradient dies with it.
 *
 * Looking at a gradient changes nothing: the next backward adds to it. One that was consumed (something made of it was
 * kept: pass/gradients.c finds where) is replaced by the next backward that reaches its leaf, and given back at the
 * latest where the outermost iteration ends that holds a backward. What an inner loop gathered and the iteration around
 * it looked at has been gathered: it ends with that iteration.
 *
 *     runtime ─► read most recently ⇄ … ⇄ read first        (tl_leaf.read_before, read_after)
 *
 * tl_grad_consume is handed a gradient, or a view of one, and finds the leaf in this list by the storage that both
 * share; mostly it is in front.
 */
#include <math.h>

#include "runtime/grad/autograd.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* ---- the list of read leaves ----------------------------------------------------------------- */

void tl__leaf_forget(tl_node *node) {
    tl_leaf *leaf = tl__node_leaf(node);
    if (!leaf->listed)
        return;
    if (leaf->read_before)
        tl__node_leaf(leaf->read_before)->read_after = leaf->read_after;
    else
        tl__runtime()->grad_read = leaf->read_after;
    if (leaf->read_after)
        tl__node_leaf(leaf->read_after)->read_before = leaf->read_before;
    leaf->read_before = leaf->read_after = NULL;
    leaf->listed = false;
}

static void leaf_mark_read(tl_node *node) {
    tl_runtime *rt = tl__runtime();
    tl__leaf_forget(node);
    tl_leaf *leaf = tl__node_leaf(node);
    leaf->listed = true;
    if (rt->grad_depth > 0 && rt->grad_depth < leaf->gathered_depth) {
        leaf->ends_depth = rt->grad_depth;
        rt->grads_end = true;
    }
    leaf->read_after = rt->grad_read;
    if (leaf->read_after)
        tl__node_leaf(leaf->read_after)->read_before = node;
    rt->grad_read = node;
}

void tl_grad_loop_enter(void) {
    tl__runtime()->grad_depth++;
}

void tl_grad_loop_exit(void) {
    tl_runtime *rt = tl__runtime();
    MASU_DEBUG_ASSERT(rt->grad_depth > 0);
    rt->grad_depth--;
}

void tl_clear_grads(void) {
    tl_runtime *rt = tl__runtime();
    if (MASU_UNLIKELY(rt->trace) && rt->grad_depth <= 1)
        masu_trace_mark(rt->trace, MASU_MARK_STEP, NULL, 0, 0);
    bool outermost = rt->grad_depth <= 1;
    tl_node *next = outermost || rt->grads_end ? rt->grad_read : NULL;
    for (tl_node *node; (node = next);) {
        tl_leaf *leaf = tl__node_leaf(node);
        next = leaf->read_after;
        bool ends = leaf->ends_depth > 0 && leaf->ends_depth >= rt->grad_depth;
        if (!outermost && !ends)
            continue;
        if (ends || leaf->consumed)
            tl__leaf_clear(node);
        tl__leaf_forget(node);
        if (MASU_UNLIKELY(rt->audit))
            tl__audit_node(node);
    }
    rt->grads_end &= !outermost;
}

/* ---- consumption ------------------------------------------------------------------------------ */

static tl_node *leaf_of_gradient(const tl_tensor *gradient) {
    for (tl_node *node = tl__runtime()->grad_read; node; node = tl__node_leaf(node)->read_after) {
        const tl_tensor *own = tl__node_leaf(node)->gradient;
        if (own && own->storage == gradient->storage)
            return node;
    }
    return NULL;
}

void tl__leaf_consume(tl_node *node, bool last) {
    tl__node_leaf(node)->consumed = true;
    if (!last)
        return;
    tl__leaf_clear(node);
    tl__leaf_forget(node);
    if (MASU_UNLIKELY(tl__runtime()->audit))
        tl__audit_node(node);
}

void tl_grad_consume(tl_tensor *gradient, bool last) {
    tl_node *node = leaf_of_gradient(gradient);
    if (node)
        tl__leaf_consume(node, last);
}

void tl_grad_hand_out(tl_tensor *gradient) {
    if (tl__runtime()->grads_kept)
        tl_grad_consume(gradient, false);
}

bool tl_grad_keeping(bool kept) {
    tl_runtime *rt = tl__runtime();
    bool before = rt->grads_kept;
    rt->grads_kept = kept;
    return before;
}

/* ---- the gradient ---------------------------------------------------------------------------- */

/* A leaf drops its gradient when it is met again: no list knows all leaves. */
void tl_clear_all_grads(void) {
    tl__runtime()->grad_round++;
}

static tl_tensor *gradient_of(tl_node *node) {
    if (tl__node_leaf(node)->round != tl__runtime()->grad_round)
        tl__leaf_clear(node);
    return tl__node_leaf(node)->gradient;
}

void tl__leaf_clear(tl_node *node) {
    tl_leaf *leaf = tl__node_leaf(node);
    leaf->consumed = false;
    leaf->ends_depth = 0;
    if (!leaf->gradient)
        return;
    tl__tensor_drop(leaf->gradient);
    leaf->gradient = NULL;
    tl__runtime()->live_grads--;
}

masu_status tl__leaf_add(tl_node *node, tl_tensor *gradient) {
    tl_leaf *leaf = tl__node_leaf(node);
    if (leaf->consumed)
        tl__leaf_clear(node);
    leaf->gathered_depth = tl__runtime()->grad_depth;
    leaf->ends_depth = 0;
    if (gradient_of(node))
        return tl__accumulate(&leaf->gradient, gradient);
    masu_status status = tl__tensor_contiguous(gradient, &leaf->gradient);
    tl__tensor_drop(gradient);
    if (status != MASU_OK) {
        leaf->gradient = NULL;
        return status;
    }
    leaf->round = tl__runtime()->grad_round;
    tl__runtime()->live_grads++;
    return MASU_OK;
}

static masu_status leaf_read(tl_tensor *t, tl_tensor **out) {
    tl_node *node = t->node;
    char name[48];
    if (!node)
        return tl__error(TL_SAY(tensor_does_not_track_gradients_call_enable));
    if (!tl__node_gathers(node))
        return tl__error(TL_SAY(only_leaves_keep_gradients_tensor_is_result),
                         tl__shown_operation(node->rule->name, name, sizeof name));
    node = tl__node_gathers(node);
    tl_tensor *gradient = gradient_of(node);
    masu_status status = gradient ? tl__tensor_view(gradient, out)
                                  : tl__tensor_new_zeroed(t->dtype, t->rank, t->shape, out);
    if (status == MASU_OK)
        leaf_mark_read(node);
    return status;
}

tl_tensor *tl_tensor_grad(tl_tensor *t) {
    tl_tensor *out = NULL;
    masu_status status = leaf_read(t, &out);
    return tl__tensor_or_raise(status, out);
}

bool tl_tensor_has_grad(tl_tensor *t) {
    tl_node *node = t->node ? tl__node_gathers(t->node) : NULL;
    return node && gradient_of(node) != NULL;
}

/* Only t leads to the leaf, and no graph that a backward may still walk. */
static bool may_give_up(const tl_tensor *t) {
    tl_node *node = t->node;
    return t->head.count == 1 && node && node->flags & TL_NODE_LEAF && node->count == 1 &&
           tl__node_leaf(node)->gradient && tl__is_private(tl__node_leaf(node)->gradient);
}

tl_tensor *tl_tensor_take_grad(tl_tensor *t) {
    if (!may_give_up(t))
        return tl_tensor_grad(t);
    tl_leaf *leaf = tl__node_leaf(t->node);
    tl_tensor *gradient = leaf->gradient;
    leaf->gradient = NULL;
    tl__runtime()->live_grads--;
    if (MASU_UNLIKELY(tl__runtime()->audit))
        tl__audit_node(t->node);
    return gradient;
}

/* ---- gradients of results ------------------------------------------------------------------------ */

/* A result's gradient passes by; the leaf that it keeps gathers it. */
static masu_status keep_gradient(tl_tensor *t) {
    if (!t->node || tl__node_gathers(t->node))
        return MASU_OK;
    tl_node *kept;
    masu_status status = tl__leaf_new(t, &kept);
    if (status != MASU_OK)
        return status;
    t->node->kept = kept;
    t->node->flags |= TL_NODE_KEEPS;
    if (MASU_UNLIKELY(tl__runtime()->audit))
        tl__audit_node(t->node);
    return MASU_OK;
}

void tl_tensor_keep_grad(tl_tensor *t) {
    if (MASU_UNLIKELY(keep_gradient(t) != MASU_OK))
        tl__raise();
}

void tl_tensor_retain_grad(tl_tensor *t) {
    masu_status status = keep_gradient(t);
    if (!t->node)
        status = tl__error(TL_SAY(retain_grad_tensor_does_not_track_gradients));
    if (MASU_UNLIKELY(status != MASU_OK))
        tl__raise();
}

bool tl_grad_recording(bool on) {
    tl_runtime *rt = tl__runtime();
    bool before = !rt->unrecorded;
    rt->unrecorded = !on;
    return before;
}

/* ---- with and without history ---------------------------------------------------------------- */

masu_status tl__own_header(tl_tensor **t) {
    if ((*t)->head.count == 1)
        return MASU_OK;
    tl_tensor *own;
    masu_status status = tl__tensor_view(*t, &own);
    if (status != MASU_OK)
        return status;
    tl__tensor_drop(*t);
    *t = own;
    return MASU_OK;
}

/* Consumes t on success. The leaf comes first: nothing may fail once t has given up its history. */
static masu_status replace_history(tl_tensor *t, bool track, tl_tensor **out) {
    tl_node *leaf = NULL;
    masu_status status = MASU_OK;
    if (track)
        status = tl__leaf_new(t, &leaf);
    if (status == MASU_OK)
        status = tl__own_header(&t);
    if (status != MASU_OK) {
        tl__node_drop(leaf);
        return status;
    }
    tl__node_drop(t->node);
    t->node = leaf;
    *out = t;
    return MASU_OK;
}

/* A history that still leads to the old leaf would lose its gradient, unless another value holds that leaf:
 * backward over it says so. */
masu_status tl__own_leaf(tl_tensor **t) {
    tl_node *old = (*t)->node;
    bool alone = (*t)->head.count == 1, used = old->count > 1;
    if (alone && !used)
        return MASU_OK;
    old->count++;
    masu_status status = replace_history(*t, true, t);
    if (status == MASU_OK && alone && used) {
        tl__node_leaf(old)->written = true;
        tl__node_leaf(old)->written_site = tl__site();
    }
    tl__node_drop(old);
    return status;
}

static tl_tensor *replace_or_raise(tl_tensor *t, bool track) {
    tl_tensor *out = NULL;
    masu_status status = replace_history(t, track, &out);
    if (status != MASU_OK)
        tl__tensor_drop(t);
    return tl__tensor_or_raise(status, out);
}

tl_tensor *tl_tensor_detach(tl_tensor *t, bool track) {
    if (!t->node && !track)
        return t;
    return replace_or_raise(t, track);
}

tl_tensor *tl_tensor_freeze(tl_tensor *t) {
    return tl_tensor_detach(t, false);
}

/* A tensor with history tracks already. */
tl_tensor *tl_tensor_enable_grad(tl_tensor *t) {
    if (t->node)
        return t;
    return replace_or_raise(t, true);
}

static masu_status marked(tl_tensor *t, tl_tensor **out) {
    masu_status status = tl__tensor_view(t, out);
    if (status != MASU_OK)
        return status;
    status = t->node ? tl__record_identity(*out, t, out) : tl__leaf_new(t, &(*out)->node);
    if (status != MASU_OK && !t->node)
        tl__tensor_drop(*out);
    return status;
}

tl_tensor *tl_tensor_marked(tl_tensor *t) {
    TL_RETURN_TENSOR(marked(t, &out));
}

void tl_tensor_require_untracked(tl_tensor *t) {
    if (MASU_LIKELY(!t->node))
        return;
    tl__error(TL_SAY(comprehension_keeps_no_history_because_its));
    tl__raise();
}

/* ---- clipping -------------------------------------------------------------------------------- */

static double element_of(const tl_tensor *t, int64_t i) {
    return t->dtype == TL_F32 ? (double)((const float *)t->data)[i] : ((const double *)t->data)[i];
}

static void set_element(tl_tensor *t, int64_t i, double v) {
    if (t->dtype == TL_F32)
        ((float *)t->data)[i] = (float)v;
    else
        ((double *)t->data)[i] = v;
}

static double norm_of(const tl_tensor *t) {
    double sum = 0;
    for (int64_t i = 0; i < t->elements; i++)
        sum += element_of(t, i) * element_of(t, i);
    return sqrt(sum);
}

/* g is the gradient that a leaf holds, and no other value sees. The norm that it had. */
static double clip(tl_tensor *g, double limit, bool by_value) {
    double norm = norm_of(g), factor = limit / (norm + 1e-6);
    for (int64_t i = 0; i < g->elements; i++) {
        double v = element_of(g, i);
        if (by_value)
            set_element(g, i, v > limit ? limit : v < -limit ? -limit : v);
        else if (factor < 1)
            set_element(g, i, v * factor);
    }
    return norm;
}

/* A leaf without a gradient has nothing to clip. */
double tl_tensor_clip_grad(tl_tensor *t, double limit, bool by_value) {
    tl_node *node = t->node ? tl__node_gathers(t->node) : NULL;
    if (!node) {
        (void)tl__error(TL_SAY(clip_grad_tensor_is_no_leaf_that));
        tl__raise();
        return 0;
    }
    tl_leaf *leaf = tl__node_leaf(node);
    if (!gradient_of(node))
        return 0;
    tl_tensor *own = leaf->gradient;
    masu_status status = tl__is_private(own) ? MASU_OK : tl__copy(leaf->gradient, &own);
    if (status != MASU_OK) {
        tl__raise();
        return 0;
    }
    if (own != leaf->gradient) {
        tl__tensor_drop(leaf->gradient);
        leaf->gradient = own;
        if (MASU_UNLIKELY(tl__runtime()->audit))
            tl__audit_node(node);
    }
    tl__storage_written(own->storage);
    return clip(own, limit, by_value);
}
