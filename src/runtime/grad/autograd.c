/* autograd.c: nodes are born, die and are checked here. autograd.h says what they are. */
#include "runtime/grad/autograd.h"

#include <string.h>

#include "runtime/state.h"

/* Of so many times the limit in operations alive at once something keeps too much, however it does so. */
enum { HISTORIES = 10 };

/* ---- birth ----------------------------------------------------------------------------------- */

static size_t node_bytes(uint32_t word_count) {
    return sizeof(tl_node) + (size_t)word_count * 8;
}

/* A node without inputs and saved values filled in; not counted yet. */
static masu_status node_new(const tl_tensor *result, const tl_rule *rule, int input_count, int saved_count,
                            int extra_count, tl_node **out) {
    uint32_t words = (uint32_t)(input_count + saved_count + extra_count + (saved_count + 1) / 2) + result->rank;
    void *memory;
    masu_status status = tl__alloc(node_bytes(words), &memory);
    if (status != MASU_OK)
        return status;
    tl_node *node = memory;
    *node = (tl_node){.count = 1,
                      .word_count = words,
                      .input_count = (uint16_t)input_count,
                      .saved_count = (uint16_t)saved_count,
                      .rank = result->rank,
                      .dtype = result->dtype,
                      .rule = rule};
    memset(node->words, 0, (size_t)(input_count + saved_count) * 8);
    memcpy(tl__node_shape(node), result->shape, (size_t)result->rank * 8);
    *out = node;
    return MASU_OK;
}

static void node_free(tl_node *node) {
    tl_tensor **saved = tl__node_saved(node);
    for (int i = 0; i < node->saved_count; i++)
        tl__tensor_drop(saved[i]);
    MASU_DEBUG_ASSERT(!*tl__node_buffer(node));
    if (node->flags & TL_NODE_KEEPS)
        tl__node_drop(node->kept);
    if (node->flags & TL_NODE_LEAF) {
        tl__leaf_clear(node);
        tl__leaf_forget(node);
    } else {
        tl__runtime()->live_nodes--;
        tl__runtime()->walked_nodes -= node->flags & TL_NODE_FREED ? 1 : 0;
    }
    tl__free(node, node_bytes(node->word_count));
}

/* Holds t without its history. A tensor that has none is held as it is; the result itself will
 * get one. */
static masu_status save(tl_tensor *t, const tl_tensor *result, tl_tensor **out) {
    if (!t || (!t->node && t != result)) {
        if (t)
            tl__tensor_retain(t);
        *out = t;
        return MASU_OK;
    }
    return tl__tensor_view(t, out);
}

static void hold_inputs(tl_node *node, const tl_origin *origin) {
    tl_node **inputs = tl__node_inputs(node);
    for (int i = 0; i < origin->input_count; i++) {
        tl_node *input = origin->inputs[i]->node;
        inputs[i] = input;
        if (!input)
            continue;
        input->count++;
        if (node->depth <= input->depth && input->depth < UINT32_MAX)
            node->depth = input->depth + 1;
    }
    tl_runtime *rt = tl__runtime();
    if (MASU_UNLIKELY(node->depth == rt->history_limit))
        tl__history_is_long();
}

void tl__history_is_long(void) {
    tl_runtime *rt = tl__runtime();
    if (rt->history_site == 0)
        rt->history_site = tl__site();
}

bool tl__keeps_history(const tl_tensor *t) {
    return t->node && !(t->node->flags & (TL_NODE_LEAF | TL_NODE_FREED));
}

masu_status tl__record(tl_tensor *result, const tl_origin *origin) {
    MASU_DEBUG_ASSERT(!result->node);
    if (MASU_UNLIKELY(tl__runtime()->unrecorded))
        return MASU_OK;
    tl_node *node;
    masu_status status = node_new(result, origin->rule, origin->input_count, origin->saved_count, origin->extra_count,
                                  &node);
    if (status != MASU_OK)
        return status;
    tl__runtime()->live_nodes++;
    tl_tensor **saved = tl__node_saved(node);
    for (int i = 0; i < origin->saved_count && status == MASU_OK; i++)
        status = save(origin->saved[i], result, &saved[i]);
    if (status != MASU_OK) {
        tl__node_drop(node);
        return status;
    }
    for (int i = 0; i < origin->saved_count; i++)
        tl__node_versions(node)[i] = saved[i] ? saved[i]->storage->version : 0;
    if (origin->extra)
        memcpy(tl__node_extra(node), origin->extra, (size_t)origin->extra_count * 8);
    hold_inputs(node, origin);
    const tl_runtime *rt = tl__runtime();
    if (MASU_UNLIKELY(tl__kept_nodes(rt) / HISTORIES >= rt->history_limit))
        tl__history_is_long();
    result->node = node;
    MASU_HEAVY_ASSERT(tl__node_valid(node));
    return MASU_OK;
}

masu_status tl__record_or_drop(tl_tensor *result, const tl_origin *origin, tl_tensor **out) {
    masu_status status = tl__record(result, origin);
    if (status != MASU_OK)
        tl__tensor_drop(result);
    else
        *out = result;
    return status;
}

masu_status tl__leaf_new(const tl_tensor *t, tl_node **out) {
    static const tl_rule leaf_rule = {"leaf", NULL, NULL};
    if (t->dtype != TL_F32 && t->dtype != TL_F64)
        return tl__error(TL_SAY(only_floating_tensors_track_gradients_one), t->dtype == TL_I64 ? "i64" : "bool");
    tl_node *node;
    masu_status status = node_new(t, &leaf_rule, 0, 0, sizeof(tl_leaf) / 8, &node);
    if (status != MASU_OK)
        return status;
    node->flags = TL_NODE_LEAF;
    *tl__node_leaf(node) = (tl_leaf){0};
    *out = node;
    return MASU_OK;
}

/* ---- death ----------------------------------------------------------------------------------- */

/* The dead wait in a list through themselves, so that a history of any length needs neither
 * stack nor memory. */
void tl__node_drop(tl_node *node) {
    if (!node || --node->count > 0)
        return;
    node->next = NULL;
    tl_node *dead = node;
    while (dead) {
        tl_node *dying = dead;
        dead = dying->next;
        tl_node **inputs = tl__node_inputs(dying);
        for (int i = 0; i < dying->input_count; i++) {
            if (!inputs[i] || --inputs[i]->count > 0)
                continue;
            inputs[i]->next = dead;
            dead = inputs[i];
        }
        node_free(dying);
    }
}

/* ---- validity -------------------------------------------------------------------------------- */

static bool leaf_valid(tl_node *node) {
    const tl_tensor *gradient = tl__node_leaf(node)->gradient;
    if (node->input_count || node->saved_count || node->depth)
        return false;
    return !gradient ||
           (!gradient->node && gradient->contiguous && gradient->rank == node->rank && gradient->dtype == node->dtype &&
            memcmp(gradient->shape, tl__node_shape(node), node->rank * 8u) == 0);
}

bool tl__node_valid(tl_node *node) {
    if (node->count < 1 || node->rank > TL_MAX_RANK || node->dtype > TL_F64 || *tl__node_buffer(node))
        return false;
    if (node->flags & TL_NODE_LEAF)
        return leaf_valid(node);
    tl_node **inputs = tl__node_inputs(node);
    tl_tensor **saved = tl__node_saved(node);
    bool freed = node->flags & TL_NODE_FREED;
    for (int i = 0; i < node->input_count; i++)
        if (inputs[i] &&
            (freed || inputs[i]->count < 1 || (inputs[i]->depth >= node->depth && node->depth < UINT32_MAX)))
            return false;
    for (int i = 0; i < node->saved_count; i++)
        if (saved[i] && (freed || saved[i]->node))
            return false;
    return freed || node->pending == 0;
}

/* Visited nodes wait in a list through themselves; pending serves as the mark and is put back to
 * 0. */
bool tl__graph_valid(const tl_tensor *t) {
    const uint32_t VISITED = UINT32_MAX;
    if (!t->node)
        return true;
    tl_node *first = t->node, *last = t->node;
    if (!tl__node_valid(first))
        return false;
    first->next = NULL;
    bool valid = true;
    for (tl_node *node = first; node && valid; node = node->next) {
        tl_node **inputs = tl__node_inputs(node);
        for (int i = 0; i < node->input_count && valid; i++) {
            tl_node *input = inputs[i];
            bool freed = input && input->flags & TL_NODE_FREED;
            if (!input || (!freed && input->pending == VISITED))
                continue;
            valid = tl__node_valid(input);
            if (freed) /* nothing hangs on it */
                continue;
            input->pending = VISITED;
            input->next = NULL;
            last->next = input;
            last = input;
        }
    }
    for (tl_node *node = first; node; node = node->next)
        node->pending = node->flags & TL_NODE_FREED ? node->pending : 0;
    return valid;
}
