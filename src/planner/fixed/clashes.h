/* clashes.h: what is in each item's way, whatever it is: who lives with it or is kept apart from it, and obstacles.
 *
 *     ▲ offset of the item                 An offset between `other`'s offset + below and + above is one at which the
 *     │  above ────────── free             two collide; one of `hard` is never free.
 *     │        ▒▒▒▒▒▒▒▒▒▒ they collide
 *     │  below ────────── free             pairs are there twice, once for each of the two
 *     └─
 */
#ifndef MASU_PLANNER_CLASHES_H
#define MASU_PLANNER_CLASHES_H

#include "planner/fixed/obstacles.h"

/* Two items that meet: pieces of theirs at the same time, or a relation that keeps them apart. */
typedef struct masu__clash {
    uint32_t other;
    int64_t below, above; /* at `other`'s offset + below … + above, neither included, they collide */
} masu__clash;

typedef struct masu__clashes {
    const masu__plan_model *model;
    uint32_t *pair_start; /* [items + 1] into pairs */
    masu__clash *pairs;
    uint32_t *hard_start; /* [items + 1] into hard */
    masu__block *hard;    /* what obstacles forbid, ascending, apart; neither end included */
    masu__arena *arena;   /* the caller's: owns the arrays */
} masu__clashes;

/* False: no memory, or *too_large (32768 items, two million pairs). O(pairs log n). */
bool masu__clashes_open(masu__clashes *clashes, const masu__plan_model *model, masu__arena *arena, bool *too_large);

#endif
