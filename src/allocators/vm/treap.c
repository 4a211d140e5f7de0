/* treap.c: the treap. Insertion descends to where the new priority belongs and splits what is below;
 * removal joins the two subtrees. Both walk along one path, without recursion. */
#include "allocators/vm/treap.h"

#include "base/assert.h"

static uint64_t priority_of(uint64_t major, uint64_t minor) {
    uint64_t x = (major ^ (minor * 0x9e3779b97f4a7c15u)) + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static bool before(const masu__tree_node *node, uint64_t major, uint64_t minor) {
    return node->major != major ? node->major < major : node->minor < minor;
}

void masu__tree_insert(masu__tree *tree, masu__tree_node *node, uint64_t major, uint64_t minor) {
    node->major = major;
    node->minor = minor;
    node->priority = priority_of(major, minor);
    masu__tree_node **link = &tree->root;
    while (*link && (*link)->priority >= node->priority)
        link = before(*link, major, minor) ? &(*link)->right : &(*link)->left;
    masu__tree_node *rest = *link, **smaller = &node->left, **larger = &node->right;
    *link = node;
    while (rest) {
        if (before(rest, major, minor)) {
            *smaller = rest;
            smaller = &rest->right;
            rest = rest->right;
        } else {
            *larger = rest;
            larger = &rest->left;
            rest = rest->left;
        }
    }
    *smaller = NULL;
    *larger = NULL;
    tree->count++;
}

void masu__tree_remove(masu__tree *tree, masu__tree_node *node) {
    masu__tree_node **link = &tree->root;
    while (*link && *link != node)
        link = before(*link, node->major, node->minor) ? &(*link)->right : &(*link)->left;
    MASU_ASSERT(*link == node);
    masu__tree_node *left = node->left, *right = node->right;
    while (left && right) {
        if (left->priority >= right->priority) {
            *link = left;
            link = &left->right;
            left = left->right;
        } else {
            *link = right;
            link = &right->left;
            right = right->left;
        }
    }
    *link = left ? left : right;
    tree->count--;
}

masu__tree_node *masu__tree_at_least(const masu__tree *tree, uint64_t major, uint64_t minor) {
    masu__tree_node *best = NULL;
    for (masu__tree_node *node = tree->root; node;) {
        bool smaller = before(node, major, minor);
        if (!smaller)
            best = node;
        node = smaller ? node->right : node->left;
    }
    return best;
}

masu__tree_node *masu__tree_at_most(const masu__tree *tree, uint64_t major, uint64_t minor) {
    masu__tree_node *best = NULL;
    for (masu__tree_node *node = tree->root; node;) {
        bool fits = before(node, major, minor) || (node->major == major && node->minor == minor);
        if (fits)
            best = node;
        node = fits ? node->right : node->left;
    }
    return best;
}

bool masu__tree_valid(const masu__tree *tree) {
    size_t count = 0;
    uint64_t major = 0, minor = 0;
    const masu__tree_node *node = masu__tree_at_least(tree, 0, 0);
    for (; node; count++) {
        if (count >= tree->count || (count > 0 && !(node->major > major || node->minor > minor)))
            return false;
        if ((node->left && node->left->priority > node->priority) ||
            (node->right && node->right->priority > node->priority))
            return false;
        major = node->major;
        minor = node->minor;
        node = minor == UINT64_MAX ? masu__tree_at_least(tree, major + 1, 0)
                                   : masu__tree_at_least(tree, major, minor + 1);
    }
    return count == tree->count;
}
