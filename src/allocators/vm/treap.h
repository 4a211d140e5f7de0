/* treap.h: an ordered set of records that are allocated elsewhere.
 *
 * A treap whose priorities are a hash of each key, so that the same set is the same tree whatever
 * happened before, and whose depth is O(log n) in expectation for any order of insertion. Keys are
 * pairs, compared by major and then by minor; no two nodes have the same pair.
 *
 *     in order: keys rise;   parent's priority >= child's
 *
 * Used three times: segments by address, free segments by (size, address), cached pieces by
 * (size, serial).
 */
#ifndef MASU_VM_TREE_H
#define MASU_VM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct masu__tree_node {
    struct masu__tree_node *left, *right;
    uint64_t major, minor;
    uint64_t priority;
} masu__tree_node;

typedef struct masu__tree {
    masu__tree_node *root;
    size_t count;
} masu__tree;

/* Sets the node's key. Never fails. O(log n), like all that follow. */
void masu__tree_insert(masu__tree *tree, masu__tree_node *node, uint64_t major, uint64_t minor);
/* node is in the tree. */
void masu__tree_remove(masu__tree *tree, masu__tree_node *node);

/* The first node with a key >= the pair, the last with a key <= the pair; NULL: none. */
masu__tree_node *masu__tree_at_least(const masu__tree *tree, uint64_t major, uint64_t minor);
masu__tree_node *masu__tree_at_most(const masu__tree *tree, uint64_t major, uint64_t minor);

/* Order and priorities, and that count nodes are there; O(n). */
bool masu__tree_valid(const masu__tree *tree);

/* The record that holds the node. */
#define MASU__TREE_RECORD(node, type, member) ((node) ? (type *)((char *)(node)-offsetof(type, member)) : NULL)

#endif
