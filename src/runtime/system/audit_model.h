/* audit_model.h: what is alive according to what is needed, kept up to date from point to point.
 *
 *     roots ─► tensors, vectors, strings ─► elements of vectors        an entry for each object:
 *                   ├─► storage                                          how many ways lead to it
 *                   └─► node ─► operands' nodes, saved, gradient         what it leads to, as last seen
 *
 * The model never looks at an object that may be gone: what hangs on a root that is no longer needed is found from what
 * the entries remember. So a point costs what has changed, not what is alive, whatever size the graph has.
 *
 * What must stay true:
 *     ways(x) = roots that are x + entries that lead to x, counted as often as they do;   no entry has ways 0
 *     headers, storages, nodes, objects = entries of that kind (nodes: without leaves)
 *
 * An entry goes stale when its object leads elsewhere. That is seen: of roots of the running function and their nodes
 * at each point; of the nodes that backward settles and of leaves whose gradient goes, and of the elements of vectors,
 * because these report it (tl__audit_node, tl__audit_element). Objects are made before others are freed between two
 * points; so an address in the model is never that of another object.
 */
#ifndef MASU_RUNTIME_AUDIT_MODEL_H
#define MASU_RUNTIME_AUDIT_MODEL_H

#include "runtime/grad/autograd.h"
#include "runtime/value/objects.h"

typedef enum model_kind { MODEL_OBJECT, MODEL_STORAGE, MODEL_NODE, MODEL_LEAF } model_kind;

typedef struct model_entry {
    void *address;
    uint64_t ways;
    void **leads; /* NULL entries lead nowhere */
    uint32_t lead_count, lead_room;
    uint32_t next;  /* in the chain, or of the free entries; 0 ends both */
    uint8_t kind;   /* model_kind */
    uint8_t object; /* of MODEL_OBJECT: its tl_kind */
} model_entry;

typedef struct audit_model {
    model_entry *entries; /* [0] unused */
    uint32_t count, capacity, free;
    uint32_t *chains; /* by hash of the address; chain_count is a power of two */
    uint32_t chain_count;
    uint64_t headers, storages, nodes, objects;
    uint32_t *new_entries; /* not yet looked into */
    uint32_t new_count, new_room;
    void **gone; /* a way less each */
    size_t gone_count, gone_room;
    bool failed; /* no memory: the model says nothing any more */
} audit_model;

void model_add(audit_model *m, void *object);                  /* a root; NULL is none. Looks at what is new */
void model_drop(audit_model *m, void *object);                 /* a root less */
void model_refresh(audit_model *m, void *object);              /* looks again at a root and at its node; NULL is none */
uint64_t model_ways(const audit_model *m, const void *object); /* 0: it is not in the model */
void model_refresh_node(audit_model *m, tl_node *node);        /* if it is in the model */
/* The owned words of element `index` of v, or its being there, have changed. */
void model_refresh_element(audit_model *m, const tl_vector *v, int64_t index);
void model_destroy(audit_model *m); /* may be used again */

#endif
