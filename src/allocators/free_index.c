/* free_index.c: what is seldom asked of the free index, and the check of its equations. */
#include "allocators/free_index.h"

#include <string.h>

static void empty_trees(masu__free_index *index) {
    index->summary = 0;
    memset(index->words, 0, sizeof index->words);
    memset(index->roots, 0, sizeof index->roots);
}

/* count and bytes stay what they are. */
static void build_trees(masu__free_index *index, masu__block_table *table) {
    empty_trees(index);
    for (masu__block_id id = 1; id <= table->used; id++) {
        masu__block *block = &table->at[id];
        if (block->state != MASU__BLOCK_FREE)
            continue;
        masu__bin bin = masu__bin_of(block->bytes);
        uint64_t offset = (block->address - index->base) >> MASU__GRAIN_SHIFT;
        block->as.free.key = masu__free_key(index, block->bytes, bin.shift, offset);
        masu__free_index_hang(index, table, id, bin.number);
    }
}

/* Base moves down by as much as it spans, so that regions that come ever lower are met once for
 * each bit too. */
void masu__free_index_widen(masu__free_index *index, masu__block_table *table, uintptr_t address) {
    if (index->base == 0)
        *index = (masu__free_index){.base = address, .span = 1};
    while (address < index->base) {
        uintptr_t step = masu__min((uintptr_t)MASU__GRAIN << index->span, index->base - MASU__GRAIN);
        index->base -= step;
        index->span += index->span < 58;
    }
    uint64_t offset = (address - index->base) >> MASU__GRAIN_SHIFT;
    while (offset >> index->span != 0)
        index->span++;
    build_trees(index, table);
}

void masu__free_index_renamed(masu__free_index *index, masu__block_table *table) {
    build_trees(index, table);
}

masu__block_id masu__free_index_after(const masu__free_index *index, const masu__block_table *table,
                                      masu__block_id id) {
    const masu__block *block = &table->at[id];
    return masu__free_index_from(index, table, masu__bin_of(block->bytes).number,
                                 block->as.free.key + 1);
}

/* Sizes grow with keys inside a bin, so the last block of the last bin is the largest. */
size_t masu__free_index_largest(const masu__free_index *index, const masu__block_table *table) {
    if (!index->summary)
        return 0;
    unsigned word = masu__log2_floor(index->summary);
    size_t largest = 0;
    masu__block_id node = index->roots[word * 64 + masu__log2_floor(index->words[word])];
    while (node) {
        const masu__block *block = &table->at[node];
        largest = masu__max(largest, block->bytes);
        node = block->as.free.child[1] ? block->as.free.child[1] : block->as.free.child[0];
    }
    return largest;
}

void masu__free_index_clear(masu__free_index *index) {
    *index = (masu__free_index){0};
}

/* ---- the equations --------------------------------------------------------------------------- */

typedef struct tally {
    const masu__free_index *index;
    const masu__block *at;
    size_t count, bytes;
} tally;

/* The key that the block must have. */
static uint64_t key_due(const tally *t, const masu__block *block) {
    uint64_t offset = (block->address - t->index->base) >> MASU__GRAIN_SHIFT;
    return masu__free_key(t->index, block->bytes, masu__bin_of(block->bytes).shift, offset);
}

/* The first depth bits of every key in the tree are those of way. */
static bool tree_valid(tally *t, masu__block_id id, masu__block_id parent, unsigned bin,
                       uint64_t way, unsigned depth) {
    if (!id)
        return true;
    const masu__block *block = &t->at[id];
    if (block->state != MASU__BLOCK_FREE || masu__bin_of(block->bytes).number != bin ||
        block->as.free.parent != parent || block->as.free.key != key_due(t, block) || depth > 63)
        return false;
    if (depth > 0 && (block->as.free.key ^ way) >> (64 - depth) != 0)
        return false;
    t->count++;
    t->bytes += block->bytes;
    uint64_t bit = (uint64_t)1 << (63 - depth);
    return tree_valid(t, block->as.free.child[0], id, bin, way, depth + 1) &&
           tree_valid(t, block->as.free.child[1], id, bin, way | bit, depth + 1);
}

/* The 64 bins behind one word of the bitmap. */
static bool word_valid(tally *t, unsigned word) {
    static const masu__block_id nothing[64];
    const masu__block_id *roots = &t->index->roots[64 * word];
    if (t->index->words[word] == 0)
        return memcmp(roots, nothing, sizeof nothing) == 0;
    for (unsigned i = 0; i < 64; i++) {
        bool marked = (t->index->words[word] >> i) & 1;
        if (marked != (roots[i] != 0) || !tree_valid(t, roots[i], 0, 64 * word + i, 0, 0))
            return false;
    }
    return true;
}

bool masu__free_index_valid(const masu__free_index *index, const masu__block_table *table) {
    tally t = {.index = index, .at = table->at};
    for (unsigned word = 0; word < MASU__BIN_WORDS; word++)
        if (((index->summary >> word) & 1) != (index->words[word] != 0) || !word_valid(&t, word))
            return false;
    return t.count == index->count && t.bytes == index->bytes;
}
