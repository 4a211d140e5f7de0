/* autograd.h: history. How a result remembers what it was made from, and what backward does with
 * that.
 *
 *     loss ─► node sum ─► node mul ─┬─► leaf w ─► gradient        arrows are holds (counts)
 *                            │      └─ NULL: x is not tracked
 *                            └─► saved: w, x as tensors without history
 *
 * A node is held by the headers that name it, by the edges of its consumers, and while backward
 * runs by the list of nodes that are ready. Edges point from results to operands and saved
 * values have no history: there are no cycles.
 *
 * What must stay true (tl__node_valid checks one node, tl__graph_valid all that hang on a
 * tensor):
 *     count = headers + consumers' edges + (1 while ready)             count >= 1
 *     outside backward: buffer == NULL, and pending == 0 unless the node is freed
 *     depth(node) > depth(each input);  a leaf has depth 0, no inputs, no saved values
 *     saved values have node == NULL;  a freed node has neither inputs nor saved values
 *     version of a saved value's storage = that at the time of saving: checked by backward before it begins
 *     kept is a leaf of the node's shape and dtype that only this node and the list of read leaves name
 *     a leaf's gradient has the leaf's shape and dtype, is contiguous, has no history
 *
 * Memory: one block of the metadata heap a node: 48 bytes, and 8 for each input, saved value,
 * dimension and extra word, and 4 for each saved value's version. live_nodes counts nodes of results, not leaves;
 * live_grads the gradients that leaves hold.
 */
#ifndef MASU_RUNTIME_AUTOGRAD_H
#define MASU_RUNTIME_AUTOGRAD_H

#include "runtime/value/tensor.h"

/* The operands of a rule of differentiation. */
typedef struct tl_pass {
    tl_tensor *gradient; /* of the node's result, its shape and dtype; the rule may take it (set NULL) */
    bool keep_graph;     /* saved values must survive */
} tl_pass;

/* Delivers to each tracked input its share. On failure nothing is left behind; what was
 * delivered stays so. */
typedef masu_status tl_backward_function(tl_pass *pass, tl_node *node);

/* The same in operations that record, for derivatives of derivatives: formula.h. */
typedef struct tl_formula tl_formula;
typedef void tl_formula_function(tl_formula *f);

typedef struct tl_rule {
    const char *name;               /* of the operation, for messages */
    tl_backward_function *backward; /* NULL: by the formula */
    tl_formula_function *formula;   /* NULL: it cannot be differentiated again */
} tl_rule;

/* The operation of a rule as a program writes it, for messages: "`*`" for mul_scalar. In out where it is not a
 * constant. */
const char *tl__shown_operation(const char *name, char *out, size_t size);

enum {
    TL_NODE_LEAF = 1,
    TL_NODE_FREED = 2,
    TL_NODE_KEEPS = 8, /* retain_grad */
    TL_NODE_WANTED = 4 /* scratch of tl__gradient: leads to what is asked about; 0 outside it */
};

struct tl_node {
    uint32_t count;
    union {
        uint32_t pending;    /* consumers' edges that the running backward has not yet walked */
        uint32_t freed_site; /* TL_NODE_FREED: where the backward stood that freed it */
    };
    uint32_t depth; /* 1 + the deepest input's: the length of the history */
    uint32_t word_count;
    uint16_t input_count, saved_count;
    uint8_t rank, dtype;
    uint8_t flags;
    const tl_rule *rule;
    union {
        tl_tensor *buffer; /* owned; the gradient collected so far */
        tl_node *kept; /* TL_NODE_KEEPS: held; a leaf that gathers what passes here, and has the buffer; of no edge */
    };
    tl_node *next;    /* in the list of the walk over the graph */
    uint64_t words[]; /* inputs | saved | shape | extra | versions of saved, two a word */
};

typedef struct tl_leaf {
    tl_tensor *gradient; /* owned; NULL: none accumulated */
    tl_tensor *passing;  /* owned; of a kept leaf: the buffer of its node */
    tl_node *read_before, *read_after;
    union {
        uint32_t gathered_depth; /* loops around the last backward that reached it */
        uint32_t written_site;   /* written: where */
    };
    uint32_t ends_depth; /* it ends with the iteration of so many loops; 0: with none */
    bool listed;         /* in the list of leaves that were read */
    bool written;        /* the tensor was changed in place and went on without this history */
    bool consumed;       /* the next backward replaces the gradient instead of adding to it */
    uint32_t round;      /* the runtime's grad_round when the gradient was added: an older one counts as none */
} tl_leaf;

static inline tl_node **tl__node_inputs(tl_node *node) {
    return (tl_node **)(void *)node->words;
}

static inline tl_tensor **tl__node_saved(tl_node *node) {
    return (tl_tensor **)(void *)(node->words + node->input_count);
}

/* Saved value i, NULL when there is none. */
static inline tl_tensor *tl__node_value(tl_node *node, int i) {
    return i < node->saved_count ? tl__node_saved(node)[i] : NULL;
}

static inline int64_t *tl__node_shape(tl_node *node) {
    return (int64_t *)(void *)(node->words + node->input_count + node->saved_count);
}

static inline uint64_t *tl__node_extra(tl_node *node) {
    return node->words + node->input_count + node->saved_count + node->rank;
}

static inline uint32_t *tl__node_versions(tl_node *node) {
    return (uint32_t *)(void *)(node->words + node->word_count - (node->saved_count + 1u) / 2);
}

static inline tl_leaf *tl__node_leaf(tl_node *node) {
    return (tl_leaf *)(void *)tl__node_extra(node);
}

/* Where the gradient of node's result is gathered: the leaf that it is, or that it keeps; NULL: nowhere. */
static inline tl_node *tl__node_gathers(tl_node *node) {
    return node->flags & TL_NODE_LEAF ? node : node->flags & TL_NODE_KEEPS ? node->kept : NULL;
}

/* Where what backward has collected for the node lies. */
static inline tl_tensor **tl__node_buffer(tl_node *node) {
    return node->flags & TL_NODE_KEEPS ? &tl__node_leaf(node->kept)->passing : &node->buffer;
}

/* ---- recording (autograd.c) ------------------------------------------------------------------ */

/* How a result came about. Inputs without history get no edge. A saved value may be NULL, an
 * input, or the result itself: it is held without history. Extra words are copied; extra NULL
 * leaves them for the caller to fill. */
typedef struct tl_origin {
    const tl_rule *rule;
    int input_count;
    tl_tensor *const *inputs;
    int saved_count;
    tl_tensor *const *saved;
    int extra_count;
    const uint64_t *extra;
} tl_origin;

/* Gives result, which has none, a history. On failure result is as it was. */
masu_status tl__record(tl_tensor *result, const tl_origin *origin);
/* The same, then *out = result; on failure result is dropped. The usual end of an operation. */
masu_status tl__record_or_drop(tl_tensor *result, const tl_origin *origin, tl_tensor **out);
/* The operation that runs is where the program keeps too much: pointed out after the run, the first one only. */
void tl__history_is_long(void) __attribute__((cold));
/* t is a result whose operands are still known. */
bool tl__keeps_history(const tl_tensor *t);
/* A node that tracks gradients of a floating tensor of t's shape. */
masu_status tl__leaf_new(const tl_tensor *t, tl_node **out);

static inline uint64_t tl__word(double value) {
    union {
        double value;
        uint64_t word;
    } both = {.value = value};
    return both.word;
}

/* ---- for rules of differentiation (deliver.c) ------------------------------------------------ */

/* Adds gradient (consumed, also on failure) to what input collects: sums over broadcast
 * dimensions, converts to the input's dtype. input NULL: dropped. */
masu_status tl__deliver(tl_node *input, tl_tensor *gradient);
/* The gradient that input collects, as contiguous memory of its own for adding into; zeros when it was empty.
 * Borrowed. */
masu_status tl__accumulator(tl_node *input, tl_tensor **out);
/* Hands over the pass's gradient. */
static inline tl_tensor *tl__take_gradient(tl_pass *pass) {
    tl_tensor *gradient = pass->gradient;
    pass->gradient = NULL;
    return gradient;
}
/* A tensor of the gradient's shape and dtype to write a gradient into, element by element: the
 * pass's gradient or one of the node's saved values when the rule needs it no more after this
 * (`spent`) and is not seen elsewhere, else a fresh one. What is reused has been taken out of the
 * pass or the node; its bytes are still there to be read. */
enum { TL_SPENT_GRADIENT = 1 << 30 }; /* 1 << i: saved value i */
masu_status tl__destination(tl_pass *pass, tl_node *node, unsigned spent, tl_tensor **out);
/* The pass's gradient as row-major data; it stays the pass's. */
masu_status tl__contiguous_gradient(tl_pass *pass);
/* Whether writing into t is not seen elsewhere: one header, one storage, row-major. */
static inline bool tl__is_private(const tl_tensor *t) {
    return t->head.count == 1 && t->contiguous && t->storage && t->storage->count == 1;
}
/* *total += gradient for contiguous or strided gradient of the same shape and dtype, in place
 * where that is unseen; consumes gradient, also on failure; *total is then as it was. */
masu_status tl__accumulate(tl_tensor **total, tl_tensor *gradient);

/* ---- leaves (leaf.c) ------------------------------------------------------------------------- */

/* Adds gradient (consumed) to what the leaf holds. */
masu_status tl__leaf_add(tl_node *leaf, tl_tensor *gradient);
void tl__leaf_clear(tl_node *leaf);
/* The leaf's gradient has been used: the next backward replaces it. last: nothing reads it until then, it goes at
 * once. */
void tl__leaf_consume(tl_node *leaf, bool last);
/* Out of the list of read leaves. */
void tl__leaf_forget(tl_node *leaf);

/* ---- the whole graph ------------------------------------------------------------------------- */

/* See tl_tensor_backward. On failure nothing leaks, each leaf's gradient is either unchanged or
 * fully added, and every node that was reached before the failure counts as freed unless
 * keep_graph. */
masu_status tl__backward(tl_tensor *root, tl_tensor *seed, bool keep_graph);
/* The gradient of root, times seed (NULL: 1, root is one number), with respect to x, which tracks; no leaf gathers
 * anything. Zeros when root does not depend on x. Tracked, and root's history stays, when `tracks`, or when root
 * depends on a leaf other than x; else root's history is freed. */
masu_status tl__gradient(tl_tensor *root, tl_tensor *x, tl_tensor *seed, bool tracks, tl_tensor **out);

bool tl__node_valid(tl_node *node);
/* Every node that hangs on t; O(nodes), no recursion, no allocation. Not while backward runs. */
bool tl__graph_valid(const tl_tensor *t);

#endif
