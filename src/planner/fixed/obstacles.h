/* obstacles.h: which obstacles an item lives with.
 *
 *     obstacles by birth     0   1   2   3   4   5   6   7
 *     latest end below       [     9     ]   [     6     ]
 *                            [ 9 ]   [ 4 ]   [ 5 ]   [ 6 ]
 *
 * Those that live with sections [first, end) are born before `end` and end after `first`: a tree
 * over the latest ends finds k of them among n in O(k log n).
 */
#ifndef MASU_PLANNER_OBSTACLES_H
#define MASU_PLANNER_OBSTACLES_H

#include "planner/model/model.h"

/* A range that an item may not have: offsets between `from` and `to`, neither included. */
typedef struct masu__block {
    int64_t from, to;
} masu__block;

typedef struct masu__obstacles {
    const masu__plan_model *model;
    uint32_t *order;  /* those that live at all, by birth */
    uint32_t *lowest; /* the same, by offset */
    uint32_t count, leaves;
    uint32_t *latest;    /* per node: the latest end below; a leaf's is its own */
    masu__block *blocks; /* of one item */
    size_t block_count, block_room;
    bool failed;       /* no memory for blocks */
    masu__arena arena; /* owns order, lowest and latest */
} masu__obstacles;

/* For qsort_r over numbers of obstacles: by offset, then by number. */
int masu__obstacles_by_offset(const void *a, const void *b, void *model);

/* False: out of memory. Close in either case. model is borrowed. */
bool masu__obstacles_open(masu__obstacles *obstacles, const masu__plan_model *model);
void masu__obstacles_close(masu__obstacles *obstacles);

typedef void (*masu__obstacle_visit)(void *context, uint32_t obstacle);

/* In the order of birth. */
void masu__obstacles_each(const masu__obstacles *obstacles, uint32_t first, uint32_t end, masu__obstacle_visit visit,
                          void *context);

/* The ranges that all obstacles forbid an item, those it must be kept apart from included: by `from`, not
 * overlapping. Owned by obstacles, until the next call; *count is SIZE_MAX when memory runs out. */
const masu__block *masu__obstacles_blocks(masu__obstacles *obstacles, uint32_t item, size_t *count);

#endif
