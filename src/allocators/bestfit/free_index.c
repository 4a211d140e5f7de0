/* free_index.c: what is seldom asked of the free index, and the check of its equations. */
#include "allocators/bestfit/free_index.h"

#include <string.h>

/* Pages of the table that hold nothing are not touched. */
static void empty_trees(masu__free_index *index) {
    for (unsigned s = 0; s < MASU__BIN_SUMMARIES; s++)
        for (; index->summary[s] != 0; index->summary[s] &= index->summary[s] - 1) {
            unsigned word = s * 64 + (unsigned)__builtin_ctzll(index->summary[s]);
            memset(&index->roots[64 * word], 0, 64 * sizeof *index->roots);
            index->words[word] = 0;
        }
}

static void build_trees(masu__free_index *index, masu__block_table *table) {
    empty_trees(index);
    for (masu__block_id id = 1; id <= table->used; id++) {
        masu__block *block = &table->at[id];
        if (block->state != MASU__BLOCK_FREE || block->ground != index->ground)
            continue;
        unsigned log = masu__free_log(block->bytes);
        uint64_t offset = (block->address - index->base) >> MASU__GRAIN_SHIFT;
        block->as.free.key = masu__free_key(index, block->bytes, log, offset);
        masu__free_index_hang(index, table, id, log);
    }
}

/* Base moves down by as much as it spans, so that regions that come ever lower are met once for
 * each bit too. */
void masu__free_index_widen(masu__free_index *index, masu__block_table *table, uintptr_t address) {
    if (index->base == 0)
        index->base = address, index->span = 1;
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
    return masu__free_index_from(index, table, block->as.free.bin, block->as.free.key + 1);
}

static unsigned highest_bin(const masu__free_index *index) {
    for (unsigned s = MASU__BIN_SUMMARIES; s-- > 0;)
        if (index->summary[s]) {
            unsigned word = s * 64 + masu__log2_floor(index->summary[s]);
            return word * 64 + masu__log2_floor(index->words[word]);
        }
    return MASU__BIN_COUNT;
}

/* Sizes grow with keys, so the last block of the last bin is the largest. */
masu__block_id masu__free_index_last(const masu__free_index *index, const masu__block_table *table) {
    unsigned bin = highest_bin(index);
    masu__block_id largest = 0, node = bin == MASU__BIN_COUNT ? 0 : index->roots[bin];
    while (node) {
        const masu__block *block = &table->at[node];
        if (!largest || block->bytes > table->at[largest].bytes)
            largest = node;
        node = block->as.free.child[1] ? block->as.free.child[1] : block->as.free.child[0];
    }
    return largest;
}

void masu__free_index_clear(masu__free_index *index) {
    empty_trees(index);
    index->base = 0;
    index->span = 0;
}

/* ---- the equations --------------------------------------------------------------------------- */

typedef struct walk {
    const masu__free_index *index;
    const masu__block *at;
    masu__free_tally tally;
} walk;

static bool block_valid(const walk *w, const masu__block *block) {
    unsigned log = masu__free_log(block->bytes);
    uint64_t offset = (block->address - w->index->base) >> MASU__GRAIN_SHIFT;
    return block->state == MASU__BLOCK_FREE && block->ground == w->index->ground && offset >> w->index->span == 0 &&
           block->as.free.key == masu__free_key(w->index, block->bytes, log, offset) &&
           block->as.free.bin == masu__free_bin(log, block->as.free.key);
}

/* The bits of every key behind those of the bin begin with the first depth bits of way. */
static bool tree_valid(walk *w, masu__block_id id, masu__block_id parent, unsigned bin, uint64_t way, unsigned depth) {
    if (!id)
        return true;
    const masu__block *block = &w->at[id];
    if (depth >= 64 - MASU__BIN_BITS || !block_valid(w, block) || block->as.free.bin != bin ||
        block->as.free.parent != parent)
        return false;
    uint64_t here = block->as.free.key << MASU__BIN_BITS;
    if (depth > 0 && (here ^ way) >> (64 - depth) != 0)
        return false;
    w->tally.count++;
    w->tally.bytes += block->bytes;
    uint64_t bit = (uint64_t)1 << (63 - depth);
    return tree_valid(w, block->as.free.child[0], id, bin, way, depth + 1) &&
           tree_valid(w, block->as.free.child[1], id, bin, way | bit, depth + 1);
}

/* The 64 bins behind one word of the bitmap. */
static bool word_valid(walk *w, unsigned word) {
    static const masu__block_id nothing[64];
    const masu__block_id *roots = &w->index->roots[64 * word];
    if (w->index->words[word] == 0)
        return memcmp(roots, nothing, sizeof nothing) == 0;
    for (unsigned i = 0; i < 64; i++) {
        bool marked = (w->index->words[word] >> i) & 1;
        if (marked != (roots[i] != 0) || !tree_valid(w, roots[i], 0, 64 * word + i, 0, 0))
            return false;
    }
    return true;
}

bool masu__free_index_valid(const masu__free_index *index, const masu__block_table *table, masu__free_tally *tally) {
    walk w = {.index = index, .at = table->at};
    for (unsigned word = 0; word < MASU__BIN_WORDS; word++) {
        bool marked = (index->summary[word / 64] >> (word % 64)) & 1;
        if (marked != (index->words[word] != 0) || !word_valid(&w, word))
            return false;
    }
    *tally = w.tally;
    return true;
}
