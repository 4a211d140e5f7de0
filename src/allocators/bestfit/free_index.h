/* free_index.h: the free blocks, ordered by size and then by address.
 *
 * Each block has a key that is ordered as (size, address) is. Its first bits choose one of 29,696
 * bins, 512 for each doubling of the size; a bit for each bin says whether it holds anything. What
 * shares a bin hangs in a digital search tree: each further bit of the key says which way to go
 * from one level to the next, and a block lies wherever that way first met nothing.
 *
 *     bitmap    1 0 0 1 1 0 …               the next set bit above a bin: a few instructions
 *                     │
 *                     └─► 0110…             a node's own key begins with the bits of the way to it
 *                        0/    \1
 *                     0010…    1011…        all left of a node < all right of it; the node itself
 *                                0/         may lie on either side of both
 *                              1001…
 *
 * The key of a block of 2^k … 2^(k+1) - 1 grains is its size without the leading one, then its
 * address. Two such blocks never begin within the same 2^k grains, so k bits of the address can go,
 * and all that is needed fits into 58 bits, whatever the sizes and addresses:
 *
 *     key = rest of the size (k bits) · (address - base) / 2^k (span - k bits) · zeros
 *     bin = k · first 9 bits of the key
 *
 *     base <= every address;  (address - base) in grains < 2^span
 *     keys of one k are unique
 *     a block lies in the tree of its bin, and nowhere else;  bit set <=> tree not empty
 *
 * So the addresses of equal blocks take part in choosing the bin, and a tree holds
 * one or two among a few thousand blocks. Bits that all addresses share would spoil that: span grows with the
 * pool, and each time, at most once for each bit, all trees are built again. Depth: about log2 of
 * what shares the bin, 49 at most. No rotations, no priorities, one record read for each level.
 *
 * The smallest block that fits is the first key at or after the request's in its own bin, or else
 * the first of the next bin that is not empty: exact best fit with the lowest address among equals.
 * (Trees of this kind hold free chunks by size in Doug Lea's malloc; addresses in the key, and the
 * first bits of both as the bin, are ours.)
 */
#ifndef MASU_FREE_INDEX_H
#define MASU_FREE_INDEX_H

#include "allocators/bestfit/block.h"
#include "base/size.h"

enum {
    MASU__BIN_BITS = 9,
    MASU__BIN_COUNT = 58 << MASU__BIN_BITS,
    MASU__BIN_WORDS = MASU__BIN_COUNT / 64,
    MASU__BIN_SUMMARIES = (MASU__BIN_WORDS + 63) / 64
};

typedef struct masu__free_index {
    uintptr_t base; /* a multiple of MASU__GRAIN; 0: no block has been here yet */
    unsigned span;
    uint32_t ground;                       /* of the blocks that hang here */
    uint64_t summary[MASU__BIN_SUMMARIES]; /* bit w set <=> words[w] != 0 */
    uint64_t words[MASU__BIN_WORDS];
    masu__block_id roots[MASU__BIN_COUNT];
} masu__free_index;

/* bytes a multiple of MASU__GRAIN, > 0 */
static inline unsigned masu__free_log(size_t bytes) {
    return masu__log2_floor(bytes >> MASU__GRAIN_SHIFT);
}

/* The key's part for the size. */
static inline uint64_t masu__free_size_key(size_t bytes, unsigned log) {
    return ((uint64_t)(bytes >> MASU__GRAIN_SHIFT) << 1) << (63 - log);
}

static inline unsigned masu__free_bin(unsigned log, uint64_t key) {
    return (log << MASU__BIN_BITS) + (unsigned)(key >> (64 - MASU__BIN_BITS));
}

/* offset: of the address from base, in grains, below 2^span */
static inline uint64_t masu__free_key(const masu__free_index *index, size_t bytes, unsigned log, uint64_t offset) {
    return masu__free_size_key(bytes, log) | (offset >> log) << (64 - index->span);
}

/* An index of zeroes becomes an empty one. */
static inline void masu__free_index_begin(masu__free_index *index, uint32_t ground) {
    index->ground = ground;
}

/* Moves base and span so that address has a place, and builds all trees again. */
void masu__free_index_widen(masu__free_index *index, masu__block_table *table, uintptr_t address);

static inline void masu__free_index_mark(masu__free_index *index, unsigned bin) {
    index->words[bin / 64] |= (uint64_t)1 << (bin % 64);
    index->summary[bin / 4096] |= (uint64_t)1 << (bin / 64 % 64);
}

static inline void masu__free_index_unmark(masu__free_index *index, unsigned bin) {
    uint64_t *word = &index->words[bin / 64];
    *word &= ~((uint64_t)1 << (bin % 64));
    if (MASU_UNLIKELY(*word == 0))
        index->summary[bin / 4096] &= ~((uint64_t)1 << (bin / 64 % 64));
}

/* Hangs a block whose key is set into its tree. */
static inline void masu__free_index_hang(masu__free_index *index, masu__block_table *table, masu__block_id id,
                                         unsigned log) {
    masu__block *block = &table->at[id];
    unsigned bin = masu__free_bin(log, block->as.free.key);
    masu__block_id *link = &index->roots[bin], parent = 0;
    masu__free_index_mark(index, bin);
    for (uint64_t way = block->as.free.key << MASU__BIN_BITS; *link; way <<= 1) {
        parent = *link;
        link = &table->at[parent].as.free.child[way >> 63];
    }
    *link = id;
    block->as.free.bin = bin;
    block->as.free.parent = parent;
    block->as.free.child[0] = block->as.free.child[1] = 0;
}

/* Sets the block's state. Never fails. */
static inline void masu__free_index_insert(masu__free_index *index, masu__block_table *table, masu__block_id id) {
    masu__block *block = &table->at[id];
    unsigned log = masu__free_log(block->bytes);
    uint64_t offset = (block->address - index->base) >> MASU__GRAIN_SHIFT;
    if (MASU_UNLIKELY(index->base == 0 || offset >> index->span != 0)) {
        block->state = MASU__BLOCK_SPARE;
        masu__free_index_widen(index, table, block->address);
        offset = (block->address - index->base) >> MASU__GRAIN_SHIFT;
    }
    block->state = MASU__BLOCK_FREE;
    block->as.free.key = masu__free_key(index, block->bytes, log, offset);
    masu__free_index_hang(index, table, id, log);
}

/* Any leaf below the block takes its place: whatever lies below a node may lie at it. The block is
 * without an owner until its state is set. */
static inline void masu__free_index_remove(masu__free_index *index, masu__block_table *table, masu__block_id id) {
    masu__block *at = table->at, *block = &at[id];
    masu__block_id leaf = id, parent = block->as.free.parent, below;
    masu__block_id *link = &index->roots[block->as.free.bin];
    while ((below = at[leaf].as.free.child[1] ? at[leaf].as.free.child[1] : at[leaf].as.free.child[0]) != 0)
        leaf = below;
    if (parent)
        link = &at[parent].as.free.child[at[parent].as.free.child[1] == id];
    block->state = MASU__BLOCK_SPARE;
    if (leaf == id) {
        *link = 0;
        if (!parent)
            masu__free_index_unmark(index, block->as.free.bin);
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
static inline masu__block_id masu__free_tree_first(const masu__block *at, masu__block_id node, masu__block_id best,
                                                   uint64_t best_key) {
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
static inline masu__block_id masu__free_tree_at_least(const masu__block *at, masu__block_id node, uint64_t key) {
    masu__block_id best = 0, right = 0;
    uint64_t best_key = UINT64_MAX;
    for (uint64_t way = key << MASU__BIN_BITS; node; way <<= 1) {
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

/* The lowest word above the one given that is not zero, or MASU__BIN_WORDS. */
static inline unsigned masu__free_index_next_word(const masu__free_index *index, unsigned word) {
    unsigned s = word / 64;
    uint64_t above = index->summary[s] & ~(((uint64_t)2 << (word % 64)) - 1);
    while (MASU_UNLIKELY(above == 0)) {
        if (++s == MASU__BIN_SUMMARIES)
            return MASU__BIN_WORDS;
        above = index->summary[s];
    }
    return s * 64 + (unsigned)__builtin_ctzll(above);
}

/* Lowest non-empty bin above the one given, or MASU__BIN_COUNT. */
static inline unsigned masu__free_index_next_bin(const masu__free_index *index, unsigned bin) {
    unsigned word = bin / 64;
    uint64_t here = index->words[word] & ~(((uint64_t)2 << (bin % 64)) - 1);
    if (MASU_UNLIKELY(here == 0)) {
        word = masu__free_index_next_word(index, word);
        if (word == MASU__BIN_WORDS)
            return MASU__BIN_COUNT;
        here = index->words[word];
    }
    return word * 64 + (unsigned)__builtin_ctzll(here);
}

static inline masu__block_id masu__free_index_from(const masu__free_index *index, const masu__block_table *table,
                                                   unsigned bin, uint64_t key) {
    masu__block_id found = masu__free_tree_at_least(table->at, index->roots[bin], key);
    if (found)
        return found;
    bin = masu__free_index_next_bin(index, bin);
    return bin == MASU__BIN_COUNT ? 0 : masu__free_tree_first(table->at, index->roots[bin], 0, UINT64_MAX);
}

/* The smallest block of at least bytes, at the lowest address among equals; 0 when there is none.
 * bytes > 0 and a multiple of MASU__GRAIN. */
static inline masu__block_id masu__free_index_at_least(const masu__free_index *index, const masu__block_table *table,
                                                       size_t bytes) {
    unsigned log = masu__free_log(bytes);
    uint64_t key = masu__free_size_key(bytes, log);
    return masu__free_index_from(index, table, masu__free_bin(log, key), key);
}

/* The block that follows a free one in the order of the index, 0 after the last. */
masu__block_id masu__free_index_after(const masu__free_index *index, const masu__block_table *table, masu__block_id id);

/* A largest block, 0 when there is none. */
masu__block_id masu__free_index_last(const masu__free_index *index, const masu__block_table *table);

static inline size_t masu__free_index_largest(const masu__free_index *index, const masu__block_table *table) {
    masu__block_id last = masu__free_index_last(index, table);
    return last ? table->at[last].bytes : 0;
}

/* Forgets all blocks; they are the caller's to change. */
void masu__free_index_clear(masu__free_index *index);
/* The same set of free blocks under other ids. */
void masu__free_index_renamed(masu__free_index *index, masu__block_table *table);

/* Totals of a walk through all trees. */
typedef struct masu__free_tally {
    size_t count, bytes;
} masu__free_tally;

/* O(bins + blocks). */
bool masu__free_index_valid(const masu__free_index *index, const masu__block_table *table, masu__free_tally *tally);

#endif
