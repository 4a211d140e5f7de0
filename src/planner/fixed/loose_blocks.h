/* loose_blocks.h: blocks that waste a little, as their two files see them: loose.c joins them, loose_extents.c says
 * where one may begin and end. */
#ifndef MASU_PLANNER_LOOSE_BLOCKS_H
#define MASU_PLANNER_LOOSE_BLOCKS_H

#include "base/arena.h"
#include "planner/fixed/loose.h"

/* A side has at most MOST_SIDE blocks; where some are held, MOST_HELD of those and MOST_FREE others, of which all sets
 * are tried, but no more than MOST_TRIED. */
enum {
    MOST_FREE = 10,
    MOST_HELD = 4,
    MOST_SIDE = 31,
    MOST_EXTENTS = 64,
    MOST_TRIED = 20000,
    MOST_DEEP = 200,
    MOST_KEPT = 64,
    NONE = UINT32_MAX
};

typedef enum loose_kind { LOOSE_ROW, LOOSE_FIXED, LOOSE_PILE, LOOSE_QUEUE } loose_kind;

typedef struct extent {
    int64_t from, to;
} extent;

typedef struct loose_block {
    uint32_t first, end; /* sections */
    int64_t height;      /* of the lowest extent, where there are any */
    double area;         /* of its rows, in bytes × sections */
    loose_kind kind;
    uint32_t item;                     /* of a row */
    uint32_t name;                     /* the least number of a row in it: the same in each run */
    uint32_t child, next, parent;      /* NONE */
    uint32_t born_behind, dead_behind; /* made before, of the same birth, of the same death */
    uint32_t depth;
    extent *extents;
    uint32_t extent_count; /* 0: it may lie anywhere */
    uint32_t chosen;       /* of those left: the extent that its row has */
    bool is_left;
} loose_block;

/* One side of a line: blocks of one life. */
typedef struct loose_side {
    uint32_t blocks[MOST_SIDE];
    uint32_t count, first, end;
    int64_t height; /* as for a block */
    double area;
    extent extents[MOST_EXTENTS];
    uint32_t extent_count;
} loose_side;

/* Two sides to be joined. */
typedef struct loose_choice {
    loose_side x, y, both;
    double waste; /* a share of the block, with chance's part */
    bool is_any;
} loose_choice;

struct masu__loose {
    const masu__plan_model *model;
    loose_block *blocks;
    uint32_t count, left;
    uint32_t *born, *dead;  /* per moment: the block made last of those born, dying there; left or not */
    uint32_t *here, *there; /* scratch: blocks of a moment, sorted by life */
    int64_t height;
    double tolerance; /* the share that a block may waste */
    double *doubt[2]; /* per moment: of its best join of whole groups, of parts; INFINITY: there is none */
    bool *is_known[2];
    loose_choice choice, compared; /* scratch */
    uint64_t seeds[MOST_KEPT];     /* the last decides about some pairs, the one before about some of the rest … */
    uint32_t seed_count, kept;
    uint64_t work, most_work; /* pairs compared, extents offered; beyond that nothing more is joined */
    bool out_of_memory;
    masu__arena extents; /* of the present run */
    masu__arena arena;   /* owns the arrays */
};

/* The share of a block of this height that is wasted by joining two sides, what each wastes itself left out. */
static inline double masu__loose_waste(const loose_side *x, const loose_side *y, int64_t height) {
    double both = (double)x->height * (x->end - x->first) + (double)y->height * (y->end - y->first);
    return 1 - both / ((double)height * (y->end - x->first));
}

/* Fills in height, area and extents. False: there are too many blocks, or they may lie nowhere. */
bool masu__loose_open_side(masu__loose *loose, loose_side *side);

/* The extents that two sides have in common, each widened as it must be; *height: of the lowest. False: there are none
 * that waste so little and end at or below the height, beside the other fixed rows. */
bool masu__loose_common(masu__loose *loose, const loose_side *dying, const loose_side *born, loose_side *both);

/* Puts all rows of a block where they are when it lies in this extent. False: it cannot. */
bool masu__loose_put(masu__loose *loose, uint32_t block, extent in, int64_t *offsets);

/* The block that it is part of. */
static inline uint32_t masu__loose_whole(const masu__loose *l, uint32_t at) {
    while (l->blocks[at].parent != NONE)
        at = l->blocks[at].parent;
    return at;
}

#endif
