/* assembly_blocks.h: blocks of an assembly, as its two files see them: assembly.c joins them, assembly_pile.c says
 * where one may lie. */
#ifndef MASU_PLANNER_ASSEMBLY_BLOCKS_H
#define MASU_PLANNER_ASSEMBLY_BLOCKS_H

#include "base/arena.h"
#include "planner/fixed/assembly.h"

/* For a pile with a fixed row all orders are looked at up to MOST_PILED children, and more than MOST_CHILDREN are not
 * piled. More anchors than MOST_ANCHORS are not listed. Deeper blocks than MOST_DEEP, lazy ones than MOST_LAZY, would
 * use up the stack. */
enum {
    MOST_ANCHORS = 128,
    MOST_PILED = 9,
    MOST_CHILDREN = 32,
    MOST_DEEP = 1000,
    MOST_LAZY = 32,
    MOST_TRIED = 2000,
    WORK_A_ROW = 4000,
    NOBODY = UINT32_MAX
};

typedef enum block_kind { ROW, FIXED, PILE, QUEUE } block_kind;

typedef struct block {
    uint32_t first, end; /* sections */
    int64_t height;
    block_kind kind;
    uint32_t item;                    /* of a ROW */
    uint32_t child, last_child, next; /* children; next: of those of the same parent */
    uint32_t parent;                  /* NOBODY: none */
    uint32_t children, depth;
    int64_t *anchors; /* ascending */
    uint32_t anchor_count;
    bool lazy;       /* has fixed rows, and its anchors are not listed: they are found by asking its children */
    uint32_t lazily; /* so many lazy blocks lie within each other here */
    bool is_left;    /* has no parent */
    /* among those left: of the same birth, of the same death */
    uint32_t born_before, born_behind, dead_before, dead_behind;
} block;

struct masu__assembly {
    const masu__plan_model *model;
    block *blocks;
    uint32_t count, left;
    uint32_t *born, *dead; /* per section: the first of those left that are born, that die there */
    uint32_t *again;       /* moments to be looked at again; each once */
    bool *waits;
    uint32_t again_count;
    uint32_t *here, *there;       /* scratch: blocks of a moment */
    uint32_t *fixed, fixed_count; /* blocks of fixed rows, by birth */
    int64_t height;
    uint64_t work, most_work; /* sets of children looked at; beyond that no more piles with fixed rows */
    masu__arena anchors;      /* of the present run */
    masu__arena arena;        /* owns all arrays */
};

#define NEW(a, type, count) ((type *)masu__arena_calloc(&(a)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* One side of a line: blocks of one life. */
typedef struct side {
    const uint32_t *blocks;
    uint32_t count;
    int64_t height;
    int64_t *anchors;
    uint32_t anchor_count;
    bool lazy;
} side;

/* Fixed rows lie in it: not every offset will do. */
static inline bool masu__block_is_anchored(const block *b) {
    return b->anchor_count > 0 || b->lazy;
}

/* Fills in its children, and returns how many there are. */
uint32_t masu__block_children(const masu__assembly *a, const block *b, uint32_t *children);
/* As deep as lazy blocks lie within each other. */
bool masu__block_may_lie(masu__assembly *a, const block *b, int64_t offset);
/* Whether the pile may lie at `offset`, and where each child is then. Of many children not all orders are looked at. */
bool masu__pile_may_lie(masu__assembly *a, const uint32_t *children, uint32_t count, int64_t offset, int64_t *places);
/* Finds its anchors. False: it may lie nowhere, or has too many children beside a fixed row. */
bool masu__side_open(masu__assembly *a, side *s);
bool masu__side_may_lie(masu__assembly *a, const side *s, int64_t offset);

#endif
