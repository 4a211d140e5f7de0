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
#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

typedef struct tl_backward {
    bool keep_graph;
    bool tracks;      /* by formulas, with history */
    tl_node *target;  /* the gradient is handed out here, and no leaf gathers any; NULL: leaves do */
    tl_tensor *found; /* owned; at target */
    bool replaces;    /* some leaf's gradient was consumed */
    uint32_t site;    /* of this backward, for the error of a second one */
    tl_node *ready;   /* pending 0; each held once by this list */
} tl_backward;

static masu_status error_freed(const tl_node *node) {
    masu_status status = tl__error(TL_SAY(graph_was_already_freed_by_earlier_backward));
    if (node->freed_site)
        tl__error_related(node->freed_site, "the earlier backward");
    return status;
}

/* Also when nothing but a fault of the compiler could have written there. */
static masu_status error_written(const tl_node *node, const tl_storage *storage) {
    char name[48];
    masu_status status = tl__error(TL_SAY(value_that_saved_for_backward_was_changed),
                                   tl__shown_operation(node->rule->name, name, sizeof name));
    if (storage->written_site)
        tl__error_related(storage->written_site, "the change");
    return status;
}

static masu_status error_leaf_written(tl_node *node) {
    masu_status status = tl__error(TL_SAY(leaf_that_was_computed_from_was_changed));
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
        status = node->flags & TL_NODE_LEAF && tl__node_leaf(node)->written ? error_leaf_written(node)
                                                                            : check_versions(node);
        tl_node *gathers = tl__node_gathers(node);
        run->replaces |= gathers && tl__node_leaf(gathers)->consumed;
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

/* Clears consumed gradients before the first new one is made, once nothing can refuse the walk. */
static void clear_consumed(tl_node *root) {
    for (tl_node *node = root; node; node = node->next) {
        tl_node *gathers = tl__node_gathers(node);
        if (!gathers || !tl__node_leaf(gathers)->consumed)
            continue;
        tl__leaf_clear(gathers);
        if (MASU_UNLIKELY(tl__runtime()->audit))
            tl__audit_node(gathers);
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

/* The gradient of node's result has come together: to the leaf that it is, or by its rule to its inputs. */
static masu_status apply(tl_backward *run, tl_node *node, tl_pass *pass) {
    if (!pass->gradient || (run->target && !(node->flags & TL_NODE_WANTED)))
        return MASU_OK;
    if (node == run->target) {
        run->found = tl__take_gradient(pass);
        return MASU_OK;
    }
    if (node->flags & TL_NODE_LEAF)
        return tl__leaf_add(node, tl__take_gradient(pass));
    if (node->flags & TL_NODE_KEEPS && !run->target) {
        tl__tensor_retain(pass->gradient);
        masu_status status = tl__leaf_add(node->kept, pass->gradient);
        if (MASU_UNLIKELY(tl__runtime()->audit))
            tl__audit_node(node->kept);
        if (status != MASU_OK)
            return status;
    }
    if (run->tracks || !node->rule->backward)
        return tl__formula_run(node, pass->gradient, run->tracks);
    return node->rule->backward(pass, node);
}

static masu_status settle(tl_backward *run, tl_node *node) {
    tl_pass pass = {.gradient = *tl__node_buffer(node), .keep_graph = run->keep_graph};
    *tl__node_buffer(node) = NULL;
    masu_status status = apply(run, node, &pass);
    node->flags &= (uint8_t)~TL_NODE_WANTED;
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
    tl__tensor_drop(*tl__node_buffer(node));
    *tl__node_buffer(node) = NULL;
    node->pending = 0;
    node->flags &= (uint8_t)~TL_NODE_WANTED;
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

static masu_status check_root(const tl_tensor *t, const tl_tensor *seed) {
    if (!t->node)
        return tl__error(TL_SAY(backward_needs_history_tensor_none_nothing));
    char shape[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    tl__shape_text(t->rank, t->shape, shape);
    if (seed && !tl__same_shape(seed, t))
        return tl__error(TL_SAY(backward_gradient_shape_for_tensor_shape),
                         tl__shape_text(seed->rank, seed->shape, other), shape);
    if (seed || t->elements == 1)
        return MASU_OK;
    return tl__error(TL_SAY(backward_needs_scalar_tensor_shape_backward), shape);
}

/* The gradient that a path begins with: given, without history and in the root's type, or ones. */
static masu_status seed_of(const tl_tensor *root, tl_tensor *given, tl_tensor **out) {
    if (!given)
        return tl__full((tl_dtype)root->dtype, root->rank, root->shape, 1.0, out);
    return given->dtype == root->dtype ? tl__tensor_view(given, out)
                                       : tl__tensor_cast(given, (tl_dtype)root->dtype, out);
}

masu_status tl__backward(tl_tensor *t, tl_tensor *given, bool keep_graph) {
    masu_status status = check_root(t, given);
    if (status != MASU_OK)
        return status;
    MASU_HEAVY_ASSERT(tl__graph_valid(t));
    tl_tensor *seed;
    status = seed_of(t, given, &seed);
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
    *tl__node_buffer(t->node) = seed;
    t->node->count++;
    t->node->next = NULL;
    masu_trace_begin(tl__runtime()->trace, MASU_MARK_GRAPH, "backward");
    status = settle_all(&run);
    masu_trace_end(tl__runtime()->trace, MASU_MARK_GRAPH, "backward");
    MASU_HEAVY_ASSERT(tl__graph_valid(t));
    return status;
}

/* ---- the gradient with respect to one tensor ------------------------------------------------------ */

static tl_node *merged(tl_node *a, tl_node *b) {
    tl_node *first = NULL, **end = &first;
    while (a && b) {
        tl_node **lower = a->depth <= b->depth ? &a : &b;
        *end = *lower;
        end = &(*lower)->next;
        *lower = (*lower)->next;
    }
    *end = a ? a : b;
    return first;
}

/* The list with inputs before their consumers: sorted by depth, in runs of 1, 2, 4, … nodes. */
static tl_node *by_depth(tl_node *list) {
    tl_node *runs[64] = {NULL};
    while (list) {
        tl_node *one = list;
        list = list->next;
        one->next = NULL;
        int i = 0;
        for (; runs[i]; i++) {
            one = merged(runs[i], one);
            runs[i] = NULL;
        }
        runs[i] = one;
    }
    tl_node *all = NULL;
    for (int i = 0; i < 64; i++)
        all = runs[i] ? merged(runs[i], all) : all;
    return all;
}

/* Marks what leads to the target. Whether a leaf is among the others. */
static bool mark_wanted(tl_node *list, tl_node *target) {
    bool others = false;
    for (tl_node *node = by_depth(list); node; node = node->next) {
        tl_node **inputs = tl__node_inputs(node);
        bool wanted = node == target;
        others |= node->flags & TL_NODE_LEAF && node != target;
        for (int i = 0; i < node->input_count; i++)
            wanted |= inputs[i] && inputs[i]->flags & TL_NODE_WANTED;
        node->flags |= wanted ? TL_NODE_WANTED : 0;
    }
    return others;
}

static masu_status check_gradient(const tl_tensor *root, const tl_tensor *x, const tl_tensor *seed) {
    char shape[TL_SHAPE_TEXT], other[TL_SHAPE_TEXT];
    if (!x->node)
        return tl__error(TL_SAY(grad_tensor_that_is_asked_about_does));
    if (!seed && root->elements != 1)
        return tl__error(TL_SAY(grad_needs_function_one_number_as_its), tl__shape_text(root->rank, root->shape, shape));
    if (seed && !tl__same_shape(seed, root))
        return tl__error(TL_SAY(gradient_shape_for_tensor_shape), tl__shape_text(seed->rank, seed->shape, other),
                         tl__shape_text(root->rank, root->shape, shape));
    return MASU_OK;
}

static masu_status walk_for(tl_backward *run, tl_tensor *root, tl_tensor *seed) {
    masu_status status = discover(run, root->node);
    if (status != MASU_OK) {
        tl__tensor_drop(seed);
        return status;
    }
    run->tracks |= mark_wanted(root->node, run->target);
    run->keep_graph = run->tracks;
    *tl__node_buffer(root->node) = seed;
    root->node->count++;
    root->node->next = NULL;
    run->ready = root->node;
    return settle_all(run);
}

masu_status tl__gradient(tl_tensor *root, tl_tensor *x, tl_tensor *seed, bool tracks, tl_tensor **out) {
    masu_status status = check_gradient(root, x, seed);
    if (status != MASU_OK)
        return status;
    tl_backward run = {.tracks = tracks, .site = tl__site(), .target = x->node};
    tl_tensor *first = NULL;
    if (root->node)
        status = seed_of(root, seed, &first);
    if (status == MASU_OK && root->node)
        status = walk_for(&run, root, first);
    if (status == MASU_OK && !run.found)
        status = tl__tensor_new_zeroed((tl_dtype)x->dtype, x->rank, x->shape, &run.found);
    if (status != MASU_OK) {
        tl__tensor_drop(run.found);
        return status;
    }
    *out = run.found;
    return MASU_OK;
}

tl_tensor *tl_tensor_gradient(tl_tensor *t, tl_tensor *x, bool tracks) {
    tl__keep_spent();
    TL_RETURN_TENSOR(tl__gradient(t, x, NULL, tracks, &out));
}

void tl_tensor_backward(tl_tensor *t, bool keep_graph) {
    if (MASU_UNLIKELY(tl__backward(t, NULL, keep_graph) != MASU_OK))
        tl__raise();
}

void tl_tensor_backward_from(tl_tensor *t, tl_tensor *gradient, bool keep_graph) {
    if (MASU_UNLIKELY(tl__backward(t, gradient, keep_graph) != MASU_OK))
        tl__raise();
}
