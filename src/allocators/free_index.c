/* free_index.c: bins of treaps. */
#include "allocators/free_index.h"

#include <string.h>

#include "base/assert.h"
#include "base/size.h"

static unsigned bin_of(size_t bytes) {
    size_t units = bytes >> MASU__GRAIN_SHIFT;
    if (units < 64)
        return (unsigned)units;
    unsigned log = masu__log2_floor(units);
    return 64 * (log - 5) + (unsigned)((units >> (log - 6)) & 63);
}

static bool precedes(const masu__block *block, size_t bytes, uintptr_t address) {
    return block->bytes < bytes || (block->bytes == bytes && block->address < address);
}

/* Mixed thoroughly: one multiplication alone would turn some strides of addresses into rising
 * priorities, and the tree into a list. */
static uint64_t priority_of(uintptr_t address) {
    uint64_t x = (uint64_t)address;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void mark_bin(masu__free_index *index, unsigned bin) {
    index->words[bin / 64] |= (uint64_t)1 << (bin % 64);
    index->summary |= (uint64_t)1 << (bin / 64);
}

static void unmark_bin(masu__free_index *index, unsigned bin) {
    index->words[bin / 64] &= ~((uint64_t)1 << (bin % 64));
    if (index->words[bin / 64] == 0)
        index->summary &= ~((uint64_t)1 << (bin / 64));
}

/* Lowest non-empty bin above the one given, or MASU__BIN_COUNT. */
static unsigned next_bin(const masu__free_index *index, unsigned bin) {
    unsigned word = bin / 64;
    uint64_t here = bin % 64 == 63 ? 0 : index->words[word] >> (bin % 64 + 1);
    if (here)
        return bin + 1 + (unsigned)__builtin_ctzll(here);
    uint64_t above = index->summary & ~(((uint64_t)2 << word) - 1);
    if (!above)
        return MASU__BIN_COUNT;
    word = (unsigned)__builtin_ctzll(above);
    return word * 64 + (unsigned)__builtin_ctzll(index->words[word]);
}

/* Divides tree into what precedes block and what does not. */
static void tree_split(masu__block *tree, const masu__block *block, masu__block **low,
                       masu__block **high) {
    while (tree) {
        if (precedes(tree, block->bytes, block->address)) {
            *low = tree;
            low = &tree->as.free.right;
            tree = tree->as.free.right;
        } else {
            *high = tree;
            high = &tree->as.free.left;
            tree = tree->as.free.left;
        }
    }
    *low = NULL;
    *high = NULL;
}

/* Everything in low precedes everything in high. */
static masu__block *tree_merge(masu__block *low, masu__block *high) {
    masu__block *root = NULL;
    masu__block **link = &root;
    while (low && high) {
        if (low->as.free.priority >= high->as.free.priority) {
            *link = low;
            link = &low->as.free.right;
            low = low->as.free.right;
        } else {
            *link = high;
            link = &high->as.free.left;
            high = high->as.free.left;
        }
    }
    *link = low ? low : high;
    return root;
}

void masu__free_index_insert(masu__free_index *index, masu__block *block) {
    unsigned bin = bin_of(block->bytes);
    block->state = MASU__BLOCK_FREE;
    block->as.free.priority = priority_of(block->address);
    masu__block **link = &index->roots[bin];
    if (!*link)
        mark_bin(index, bin);
    while (*link && (*link)->as.free.priority >= block->as.free.priority) {
        masu__block *at = *link;
        link = precedes(at, block->bytes, block->address) ? &at->as.free.right : &at->as.free.left;
    }
    tree_split(*link, block, &block->as.free.left, &block->as.free.right);
    *link = block;
    index->count++;
    index->bytes += block->bytes;
}

void masu__free_index_remove(masu__free_index *index, masu__block *block) {
    unsigned bin = bin_of(block->bytes);
    masu__block **link = &index->roots[bin];
    while (*link != block) {
        masu__block *at = *link;
        MASU_DEBUG_ASSERT(at != NULL);
        link = precedes(at, block->bytes, block->address) ? &at->as.free.right : &at->as.free.left;
    }
    *link = tree_merge(block->as.free.left, block->as.free.right);
    if (!index->roots[bin])
        unmark_bin(index, bin);
    index->count--;
    index->bytes -= block->bytes;
}

static masu__block *tree_at_least(masu__block *tree, size_t bytes, uintptr_t address) {
    masu__block *best = NULL;
    while (tree) {
        if (precedes(tree, bytes, address)) {
            tree = tree->as.free.right;
        } else {
            best = tree;
            tree = tree->as.free.left;
        }
    }
    return best;
}

masu__block *masu__free_index_at_least(const masu__free_index *index, size_t bytes,
                                       uintptr_t address) {
    unsigned bin = bin_of(bytes);
    masu__block *found = tree_at_least(index->roots[bin], bytes, address);
    if (found)
        return found;
    bin = next_bin(index, bin);
    return bin == MASU__BIN_COUNT ? NULL : tree_at_least(index->roots[bin], 0, 0);
}

size_t masu__free_index_largest(const masu__free_index *index) {
    if (!index->summary)
        return 0;
    unsigned word = masu__log2_floor(index->summary);
    unsigned bin = word * 64 + masu__log2_floor(index->words[word]);
    const masu__block *block = index->roots[bin];
    while (block->as.free.right)
        block = block->as.free.right;
    return block->bytes;
}

void masu__free_index_clear(masu__free_index *index) {
    memset(index, 0, sizeof *index);
}

typedef struct tally {
    size_t count, bytes;
    const masu__block *last;
} tally;

/* In order of the tree; as deep as the tree, which is logarithmic. */
static bool tree_valid(const masu__block *block, unsigned bin, tally *t) {
    if (!block)
        return true;
    if (block->state != MASU__BLOCK_FREE || bin_of(block->bytes) != bin)
        return false;
    const masu__block *left = block->as.free.left, *right = block->as.free.right;
    if ((left && left->as.free.priority > block->as.free.priority) ||
        (right && right->as.free.priority > block->as.free.priority))
        return false;
    if (!tree_valid(left, bin, t))
        return false;
    if (t->last && !precedes(t->last, block->bytes, block->address))
        return false;
    t->last = block;
    t->count++;
    t->bytes += block->bytes;
    return tree_valid(right, bin, t);
}

/* The 64 bins behind one word of the bitmap. */
static bool word_valid(const masu__free_index *index, unsigned word, tally *t) {
    static masu__block *const nothing[64];
    masu__block *const *roots = &index->roots[64 * word];
    if (index->words[word] == 0)
        return memcmp(roots, nothing, sizeof nothing) == 0;
    for (unsigned i = 0; i < 64; i++) {
        bool marked = (index->words[word] >> i) & 1;
        if (marked != (roots[i] != NULL) || !tree_valid(roots[i], 64 * word + i, t))
            return false;
    }
    return true;
}

bool masu__free_index_valid(const masu__free_index *index) {
    tally t = {0};
    for (unsigned word = 0; word < MASU__BIN_WORDS; word++)
        if (((index->summary >> word) & 1) != (index->words[word] != 0) ||
            !word_valid(index, word, &t))
            return false;
    return t.count == index->count && t.bytes == index->bytes;
}
