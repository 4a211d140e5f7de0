/* free_index.h: the free blocks, ordered by size and then by address.
 *
 * Sizes are divided into bins, 64 to each doubling; a bit for each bin says whether it holds
 * anything. Inside a bin stands a small search tree (a treap) ordered by (size, address), whose
 * shape is fixed by a hash of each block's address: the same set of blocks is the same tree,
 * whatever happened before.
 *
 *     bins      0 .. 63: one size each      then 64 a doubling      ... bin count
 *     bitmap    1 0 0 1 1 0 ...             the lowest set bit above a bin: a few instructions
 *                     │ └─► treap
 *
 *     a block lies in the tree of bin(bytes), and nowhere else;  bit set <=> tree not empty
 *
 * So the smallest block that fits is the lower bound in the request's own bin, or else the
 * leftmost of the next bin that is not empty: exact best fit with the lowest address among
 * equals, O(log of one bin's population).
 */
#ifndef MASU_FREE_INDEX_H
#define MASU_FREE_INDEX_H

#include "allocators/block.h"

enum { MASU__BIN_COUNT = 64 + 64 * 52, MASU__BIN_WORDS = MASU__BIN_COUNT / 64 };

typedef struct masu__free_index {
    masu__block *roots[MASU__BIN_COUNT];
    uint64_t words[MASU__BIN_WORDS];
    uint64_t summary; /* bit w set <=> words[w] != 0 */
    size_t count;
    size_t bytes; /* sum of all blocks in it */
} masu__free_index;

/* Sets the block's state. Never fails. */
void masu__free_index_insert(masu__free_index *index, masu__block *block);
void masu__free_index_remove(masu__free_index *index, masu__block *block);

/* The smallest block with (bytes, address) at or after the pair given, NULL when there is none.
 * bytes > 0 and a multiple of MASU__GRAIN. */
masu__block *masu__free_index_at_least(const masu__free_index *index, size_t bytes,
                                       uintptr_t address);

/* The largest block's size, 0 when there is none. */
size_t masu__free_index_largest(const masu__free_index *index);

void masu__free_index_clear(masu__free_index *index);
bool masu__free_index_valid(const masu__free_index *index);

#endif
