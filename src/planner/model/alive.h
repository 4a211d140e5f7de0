/* alive.h: who lives at the same time as an item, without a list of all pairs.
 *
 * Those that live at its birth hang in a tree over time, at the nodes that tile their lives; those born
 * later in its life lie next to each other in the order of birth.
 *
 *     sections      0   1   2   3   4   5   6   7
 *     nodes       [ . . . . . . . ][ . . . . . . ]      a life 1..6 hangs at 1, 2..3, 4..5
 *                 [ . . ][2 . . 3][4 . . 5][ . . ]      alive at 4: on the way from leaf 4 to the root
 *
 *     items hung at node n: hung[start[n] .. start[n + 1])
 *
 * Lives are hulls: gaps are for the caller to look at. O(items × log sections) of memory.
 */
#ifndef MASU_PLANNER_ALIVE_H
#define MASU_PLANNER_ALIVE_H

#include "planner/model/model.h"

typedef struct masu__alive {
    const masu__plan_model *model;
    uint32_t leaves;             /* a power of two */
    uint32_t *start, *hung;      /* [2 × leaves + 1] into hung */
    uint32_t *births, *first_of; /* as masu__plan_model_order_by_birth has them */
} masu__alive;

/* The arrays are the arena's, the model is borrowed. False: no memory. */
bool masu__alive_open(masu__alive *alive, const masu__plan_model *model, masu__arena *arena);

/* Pairs of items that live at the same time. O(items). */
uint64_t masu__alive_pairs(const masu__alive *alive);

/* Fills out[item_count] with those that live with the item, without it; how many. */
uint32_t masu__alive_with(const masu__alive *alive, uint32_t item, uint32_t *out);

#endif
