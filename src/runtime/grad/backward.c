/* backward.c: from one number back to the leaves.
 *
 *     seed ─► discover: every node once; pending = edges that lead to it
 *          ─► settle:   take a node with pending 0, run its rule, walk its edges, let go of it
 *
 * A node is ready when all its consumers have delivered, so it is visited once, however many
 * paths lead to it: time is linear in the edges. Both lists run through the nodes themselves
 * (next): no recursion, no memory besides gradients. The edge that makes a node ready hands its
 * hold over to the list.
 *
 * When memory runs out half-way, what was settled stays settled, the other nodes are put back as
 * they were (no pending edges, no buffers), and the nodes already walked count as freed: their
 * saved values may have been overwritten. A leaf is settled like any node, when all its
 * contributions have come: its gradient is unchanged or fully added.
 */
#include "runtime/grad/autograd.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

typedef struct tl_backward {
    bool keep_graph;
    bool replaces;  /* some leaf's gradient was consumed */
    uint32_t site;  /* of this backward, for the error of a second one */
    tl_node *ready; /* pending 0; each held once by this list */
} tl_backward;

static masu_status error_freed(const tl_node *node) {
    masu_status status =
        tl__error(MASU_ERR_GRAPH_FREED, "the graph was already freed by an earlier backward");
    if (node->freed_site)
        tl__error_related(node->freed_site, "the earlier backward");
    return status;
}

/* Also when nothing but a fault of the compiler could have written there. */
static masu_status error_written(const tl_node *node, const tl_storage *storage) {
    char name[48];
    masu_status status = tl__error(MASU_ERR_MODIFIED_IN_PLACE,
                                   "a value that %s saved for backward was changed in place afterwards",
                                   tl__shown_operation(node->rule->name, name, sizeof name));
    if (storage->written_site)
        tl__error_related(storage->written_site, "the change");
    return status;
}

static masu_status error_leaf_written(tl_node *node) {
    masu_status status =
        tl__error(MASU_ERR_MODIFIED_IN_PLACE,
                  "a leaf that this was computed from was changed in place afterwards, so its "
                  "gradient would be lost; change it after backward, or compute anew");
    if (tl__node_leaf(node)->written_site)
        tl__error_related(tl__node_leaf(node)->written_site, "the change");
    return status;
}

static masu_status check_versions(tl_node *node) {
    tl_tensor **saved = tl__node_saved(node);
    const uint32_t *versions = tl__node_versions(node);
    for (int i = 0; i < node->saved_count; i++)
        if (saved[i] && saved[i]->storage->version != versions[i])
            return error_written(node, saved[i]->storage);
    return MASU_OK;
}

/* ---- discover -------------------------------------------------------------------------------- */

static void forget(tl_node *first) {
    for (tl_node *node = first; node; node = node->next)
        node->pending = 0;
}

/* Breadth first; the list of visited nodes is the queue. The root has no consumer in this walk. */
static masu_status discover(tl_backward *run, tl_node *root) {
    if (root->flags & TL_NODE_FREED)
        return error_freed(root);
    tl_node *last = root;
    root->next = NULL;
    masu_status status = MASU_OK;
    for (tl_node *node = root; node && status == MASU_OK; node = node->next) {
        tl_node **inputs = tl__node_inputs(node);
        status = node->flags & TL_NODE_LEAF && tl__node_leaf(node)->written
                     ? error_leaf_written(node)
                     : check_versions(node);
        run->replaces |= node->flags & TL_NODE_LEAF && tl__node_leaf(node)->consumed;
        for (int i = 0; i < node->input_count && status == MASU_OK; i++) {
            tl_node *input = inputs[i];
            if (!input)
                continue;
            if (input->flags & TL_NODE_FREED) {
                status = error_freed(input);
                break;
            }
            if (input->pending++ > 0)
                continue;
            input->next = NULL;
            last->next = input;
            last = input;
        }
    }
    if (status != MASU_OK)
        forget(root);
    return status;
}

/* What was consumed goes before the first new gradient is made, once nothing can refuse the walk. */
static void clear_consumed(tl_node *root) {
    for (tl_node *node = root; node; node = node->next) {
        if (!(node->flags & TL_NODE_LEAF) || !tl__node_leaf(node)->consumed)
            continue;
        tl__leaf_clear(node);
        if (MASU_UNLIKELY(tl__runtime()->audit))
            tl__audit_node(node);
    }
}

/* ---- settle ---------------------------------------------------------------------------------- */

static void drop_saved(tl_node *node) {
    tl_tensor **saved = tl__node_saved(node);
    for (int i = 0; i < node->saved_count; i++) {
        tl__tensor_drop(saved[i]);
        saved[i] = NULL;
    }
}

static void push_ready(tl_backward *run, tl_node *node) {
    node->next = run->ready;
    run->ready = node;
}

/* An input's last consumer makes it ready; the hold of its edge goes to the list, or is copied
 * when edges stay. */
static void walk_edges(tl_backward *run, tl_node *node) {
    tl_node **inputs = tl__node_inputs(node);
    for (int i = 0; i < node->input_count; i++) {
        tl_node *input = inputs[i];
        if (!input)
            continue;
        bool ready = --input->pending == 0;
        if (ready)
            push_ready(run, input);
        if (run->keep_graph) {
            input->count += ready;
        } else {
            inputs[i] = NULL;
            input->count -= !ready; /* not the last: a later consumer's edge holds it */
        }
    }
}

static void mark_freed(tl_backward *run, tl_node *node) {
    MASU_DEBUG_ASSERT(!(node->flags & (TL_NODE_FREED | TL_NODE_LEAF)));
    node->flags |= TL_NODE_FREED;
    tl__runtime()->walked_nodes++;
    node->freed_site = run->site;
}

static masu_status settle(tl_backward *run, tl_node *node) {
    tl_pass pass = {.gradient = node->buffer, .keep_graph = run->keep_graph};
    node->buffer = NULL;
    masu_status status = MASU_OK;
    if (node->flags & TL_NODE_LEAF) {
        if (pass.gradient)
            status = tl__leaf_add(node, tl__take_gradient(&pass));
    } else if (pass.gradient) {
        status = node->rule->backward(&pass, node);
    }
    tl__tensor_drop(pass.gradient);
    walk_edges(run, node);
    if (!run->keep_graph && !(node->flags & TL_NODE_LEAF)) {
        drop_saved(node);
        mark_freed(run, node);
    }
    if (MASU_UNLIKELY(tl__runtime()->audit))
        tl__audit_node(node);
    return status;
}

/* ---- after a failure ------------------------------------------------------------------------- */

static void reset(tl_node *node) {
    tl__tensor_drop(node->buffer);
    node->buffer = NULL;
    node->pending = 0;
}

/* Every node not yet settled hangs on a ready one. Appends what it finds behind the ready ones. */
static void reset_unsettled(tl_node *first, tl_node *last) {
    for (tl_node *node = first; node; node = node->next) {
        tl_node **inputs = tl__node_inputs(node);
        for (int i = 0; i < node->input_count; i++) {
            tl_node *input = inputs[i];
            if (!input || input->pending == 0)
                continue;
            reset(input);
            input->next = NULL;
            last->next = input;
            last = input;
        }
    }
}

static void abandon(tl_backward *run) {
    tl_node *last = NULL;
    uint64_t ready_count = 0;
    for (tl_node *node = run->ready; node; node = node->next) {
        reset(node);
        last = node;
        ready_count++;
    }
    if (!last)
        return;
    reset_unsettled(run->ready, last);
    for (tl_node *node = run->ready; ready_count > 0; ready_count--) {
        tl_node *next = node->next;
        tl__node_drop(node);
        node = next;
    }
    run->ready = NULL;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static masu_status settle_all(tl_backward *run) {
    masu_status status = MASU_OK;
    while (run->ready && status == MASU_OK) {
        tl_node *node = run->ready;
        run->ready = node->next;
        status = settle(run, node);
        tl__node_drop(node);
    }
    if (status != MASU_OK)
        abandon(run);
    return status;
}

static masu_status check_root(const tl_tensor *t) {
    if (!t->node)
        return tl__error(MASU_ERR_NO_GRAPH,
                         "backward needs a history, and this tensor has none: nothing that it "
                         "was computed from tracks gradients");
    if (t->elements == 1)
        return MASU_OK;
    char shape[TL_SHAPE_TEXT];
    return tl__error(MASU_ERR_NOT_SCALAR, "backward needs a scalar, this tensor has shape %s",
                     tl__shape_text(t->rank, t->shape, shape));
}

masu_status tl__backward(tl_tensor *t, bool keep_graph) {
    masu_status status = check_root(t);
    if (status != MASU_OK)
        return status;
    MASU_HEAVY_ASSERT(tl__graph_valid(t));
    tl_tensor *seed;
    status = tl__full(t->dtype, t->rank, t->shape, 1.0, &seed);
    if (status != MASU_OK)
        return status;
    tl_backward run = {.keep_graph = keep_graph, .site = tl__site(), .ready = t->node};
    status = discover(&run, t->node);
    if (status != MASU_OK) {
        tl__tensor_drop(seed);
        return status;
    }
    if (run.replaces)
        clear_consumed(t->node);
    t->node->buffer = seed;
    t->node->count++;
    t->node->next = NULL;
    status = settle_all(&run);
    MASU_HEAVY_ASSERT(tl__graph_valid(t));
    return status;
}

void tl_tensor_backward(tl_tensor *t, bool keep_graph) {
    if (MASU_UNLIKELY(tl__backward(t, keep_graph) != MASU_OK))
        tl__raise();
}
