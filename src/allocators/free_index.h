/* free_index.h: the free blocks, ordered by size and then by address.
 *
 * Sizes are divided into bins, 64 to each doubling; a bit for each bin says whether it holds
 * anything. Inside a bin stands a digital search tree: each bit of a block's key says which way
 * to go from one level to the next, and a block lies wherever that way first met nothing.
 *
 *     bins      0 … 127: one size each      then 64 a doubling
 *     bitmap    1 0 0 1 1 0 …               the lowest set bit above a bin: a few instructions
 *                     │
 *                     └─► 0110…             a node's own key shares the bits of the way to it
 *                        0/    \1
 *                     0010…    1011…        all left of a node < all right of it; the node itself
 *                                0/         may lie on either side of both
 *                              1001…
 *
 * The key of a block is its size without the bits that all of the bin share, then its address. A
 * block in a bin of sizes from 2^(s+6) grains on has s bits of size. Two blocks of such a bin never
 * begin in the same 2^s grains, so s bits of the address can go as well, and every key fits into
 * 64 bits:
 *
 *     key = rest of the size (s bits) · (address - base) / 2^s (span - s bits) · zeros
 *
 *     base <= every address;  (address - base) in grains < 2^span
 *     keys in a bin are unique, and ordered as (size, address)
 *     a block lies in the tree of bin(bytes), and nowhere else;  bit set <=> tree not empty
 *
 * Bits that all addresses share would only make trees deeper, so span grows with the pool: at most
 * once for each bit, all trees are built anew. Depth: about log2 of a bin's population, 58 at most
 * whatever the keys. No rotations, no priorities, one record read for each level.
 *
 * The smallest block that fits is the first key at or after the request's in its own bin, or else
 * the first of the next bin that is not empty: exact best fit with the lowest address among equals.
 * (Trees of this kind hold free chunks by size in Doug Lea's malloc; addresses in the key are ours.)
 */
#ifndef MASU_FREE_INDEX_H
#define MASU_FREE_INDEX_H

#include "allocators/block.h"
#include "base/size.h"

enum { MASU__BIN_COUNT = 64 * 53, MASU__BIN_WORDS = MASU__BIN_COUNT / 64 };

typedef struct masu__free_index {
    uintptr_t base; /* a multiple of MASU__GRAIN; 0: no block has been here yet */
    unsigned span;
    size_t count;
    size_t bytes; /* sum of all blocks in it */
    uint64_t summary; /* bit w set <=> words[w] != 0 */
    uint64_t words[MASU__BIN_WORDS];
    masu__block_id roots[MASU__BIN_COUNT];
} masu__free_index;

typedef struct masu__bin {
    unsigned number;
    unsigned shift; /* s above */
} masu__bin;

/* bytes a multiple of MASU__GRAIN, > 0 */
static inline masu__bin masu__bin_of(size_t bytes) {
    size_t units = bytes >> MASU__GRAIN_SHIFT;
    unsigned shift = masu__log2_floor(units | 64) - 6;
    return (masu__bin){64 * shift + (unsigned)(units >> shift), shift};
}

/* offset: of the address from base, in grains, below 2^span */
static inline uint64_t masu__free_key(const masu__free_index *index, size_t bytes, unsigned shift,
                                      uint64_t offset) {
    uint64_t rest = ((uint64_t)(bytes >> MASU__GRAIN_SHIFT) << 1) << (63 - shift);
    return rest | (offset >> shift) << (64 - index->span);
}

/* Moves base and span so that address has a place, and builds all trees anew. */
void masu__free_index_widen(masu__free_index *index, masu__block_table *table, uintptr_t address);

/* Hangs a block whose key is set into its tree. */
static inline void masu__free_index_hang(masu__free_index *index, masu__block_table *table,
                                         masu__block_id id, unsigned bin) {
    masu__block *block = &table->at[id];
    masu__block_id *link = &index->roots[bin], parent = 0;
    for (uint64_t way = block->as.free.key; *link; way <<= 1) {
        parent = *link;
        link = &table->at[parent].as.free.child[way >> 63];
    }
    *link = id;
    block->as.free.parent = parent;
    block->as.free.child[0] = block->as.free.child[1] = 0;
    index->words[bin / 64] |= (uint64_t)1 << (bin % 64);
    index->summary |= (uint64_t)1 << (bin / 64);
}

/* Sets the block's state. Never fails. */
static inline void masu__free_index_insert(masu__free_index *index, masu__block_table *table,
                                           masu__block_id id) {
    masu__block *block = &table->at[id];
    masu__bin bin = masu__bin_of(block->bytes);
    uint64_t offset = (block->address - index->base) >> MASU__GRAIN_SHIFT;
    if (MASU_UNLIKELY(index->base == 0 || offset >> index->span != 0)) {
        block->state = MASU__BLOCK_SPARE;
        masu__free_index_widen(index, table, block->address);
        offset = (block->address - index->base) >> MASU__GRAIN_SHIFT;
    }
    block->state = MASU__BLOCK_FREE;
    block->as.free.key = masu__free_key(index, block->bytes, bin.shift, offset);
    masu__free_index_hang(index, table, id, bin.number);
    index->count++;
    index->bytes += block->bytes;
}

static inline void masu__free_index_unmark(masu__free_index *index, unsigned bin) {
    index->words[bin / 64] &= ~((uint64_t)1 << (bin % 64));
    if (index->words[bin / 64] == 0)
        index->summary &= ~((uint64_t)1 << (bin / 64));
}

/* Any leaf below the block takes its place: whatever lies below a node may lie at it. The block is
 * nobody's until its state is set. */
static inline void masu__free_index_remove(masu__free_index *index, masu__block_table *table,
                                           masu__block_id id) {
    masu__block *at = table->at, *block = &at[id];
    masu__block_id leaf = id, parent = block->as.free.parent, below;
    masu__block_id *link = &index->roots[masu__bin_of(block->bytes).number];
    while ((below = at[leaf].as.free.child[1] ? at[leaf].as.free.child[1]
                                              : at[leaf].as.free.child[0]) != 0)
        leaf = below;
    if (parent)
        link = &at[parent].as.free.child[at[parent].as.free.child[1] == id];
    index->count--;
    index->bytes -= block->bytes;
    block->state = MASU__BLOCK_SPARE;
    if (leaf == id) {
        *link = 0;
        if (!parent)
            masu__free_index_unmark(index, masu__bin_of(block->bytes).number);
        return;
    }
    masu__block *above = &at[at[leaf].as.free.parent];
    above->as.free.child[above->as.free.child[1] == leaf] = 0;
    *link = leaf;
    at[leaf].as.free.parent = parent;
    for (int side = 0; side < 2; side++) {
        below = at[leaf].as.free.child[side] = block->as.free.child[side];
        at[below].as.free.parent = leaf; /* of record 0 when there is none */
    }
}

/* The first block of a tree. What is left of a node comes before what is right of it, so one way
 * down passes it. */
static inline masu__block_id masu__free_tree_first(const masu__block *at, masu__block_id node,
                                                   masu__block_id best, uint64_t best_key) {
    while (node) {
        const masu__block *block = &at[node];
        if (block->as.free.key < best_key) {
            best_key = block->as.free.key;
            best = node;
        }
        node = block->as.free.child[0] ? block->as.free.child[0] : block->as.free.child[1];
    }
    return best;
}

/* The block with the lowest key >= key, 0 when there is none. Walks the way of the key; what hangs
 * right of it is greater than the key, and the lower the smaller. */
static inline masu__block_id masu__free_tree_at_least(const masu__block *at, masu__block_id node,
                                                      uint64_t key) {
    masu__block_id best = 0, right = 0;
    uint64_t best_key = UINT64_MAX;
    for (uint64_t way = key; node; way <<= 1) {
        const masu__block *block = &at[node];
        uint64_t here = block->as.free.key;
        if (here >= key && here < best_key) {
            best_key = here;
            best = node;
        }
        if (!(way >> 63) && block->as.free.child[1])
            right = block->as.free.child[1];
        node = block->as.free.child[way >> 63];
    }
    return masu__free_tree_first(at, right, best, best_key);
}

/* Lowest non-empty bin above the one given, or MASU__BIN_COUNT. */
static inline unsigned masu__free_index_next_bin(const masu__free_index *index, unsigned bin) {
    unsigned word = bin / 64;
    uint64_t here = index->words[word] & ~(((uint64_t)2 << (bin % 64)) - 1);
    if (!here) {
        uint64_t above = index->summary & ~(((uint64_t)2 << word) - 1);
        if (!above)
            return MASU__BIN_COUNT;
        word = (unsigned)__builtin_ctzll(above);
        here = index->words[word];
    }
    return word * 64 + (unsigned)__builtin_ctzll(here);
}

static inline masu__block_id masu__free_index_from(const masu__free_index *index,
                                                   const masu__block_table *table, unsigned bin,
                                                   uint64_t key) {
    masu__block_id found = masu__free_tree_at_least(table->at, index->roots[bin], key);
    if (found)
        return found;
    bin = masu__free_index_next_bin(index, bin);
    return bin == MASU__BIN_COUNT
               ? 0
               : masu__free_tree_first(table->at, index->roots[bin], 0, UINT64_MAX);
}

/* The smallest block of at least bytes, at the lowest address among equals; 0 when there is none.
 * bytes > 0 and a multiple of MASU__GRAIN. */
static inline masu__block_id masu__free_index_at_least(const masu__free_index *index,
                                                       const masu__block_table *table,
                                                       size_t bytes) {
    masu__bin bin = masu__bin_of(bytes);
    uint64_t rest = ((uint64_t)(bytes >> MASU__GRAIN_SHIFT) << 1) << (63 - bin.shift);
    return masu__free_index_from(index, table, bin.number, rest);
}

/* The block that follows a free one in the order of the index, 0 after the last. */
masu__block_id masu__free_index_after(const masu__free_index *index, const masu__block_table *table,
                                      masu__block_id id);

/* The largest block's size, 0 when there is none. */
size_t masu__free_index_largest(const masu__free_index *index, const masu__block_table *table);

/* Forgets all blocks; they are the caller's to change. */
void masu__free_index_clear(masu__free_index *index);
/* The same set of free blocks under other ids. */
void masu__free_index_renamed(masu__free_index *index, masu__block_table *table);

bool masu__free_index_valid(const masu__free_index *index, const masu__block_table *table);

#endif
