/* most_constrained.h: the heuristic for rows among obstacles: the one with least choice goes first.
 *
 *     offsets ▲ ▓▓▓▓▓▓▓▓▓▓▓        Each item keeps the offsets that it could still have: ranges
 *             │   ↕ 2 offsets      between what is placed, over its whole life. The item with the
 *             │ ▓▓▓▓               fewest for its area goes next, to the tightest of its ranges, and
 *             │      ↕ 9           those that meet it lose offsets.
 *             └──────────────►
 *
 * An item for which nothing is left below the height that is asked for lies above it, and comes
 * earlier in the next pass. Obstacles, gaps, windows and rows to be kept apart are exact here.
 *
 *     ranges of an item ascend and are apart; the last has no end: there is always a place
 *     once i is placed no range of an item that meets it contains an offset at which they collide
 *
 * O(pairs that meet × log items) a pass.
 */
#ifndef MASU_PLANNER_MOST_CONSTRAINED_H
#define MASU_PLANNER_MOST_CONSTRAINED_H

#include "planner/search/search.h"

typedef struct masu__slots masu__slots;

typedef struct masu__slots_way {
    const char *name;
    bool by_size, by_sections; /* the choice is counted for the size, the sections lived through */
    bool lowest;               /* to the lowest range, not to the tightest */
    double noise;              /* factors in [1, 1 + noise) */
} masu__slots_way;

/* NULL when memory runs out, or with *too_large set. model is borrowed and must outlive it. */
masu__slots *masu__slots_create(const masu__plan_model *model, bool *too_large);
void masu__slots_destroy(masu__slots *slots);

/* Places all items, as many as possible below `height`. Returns the height reached (that of
 * obstacles not counted), or INT64_MAX as soon as limit is reached or stop says so (offsets are
 * partly filled then). What failed is remembered for the next pass. */
int64_t masu__slots_place(masu__slots *slots, const masu__slots_way *way, uint64_t seed, int64_t height, int64_t limit,
                          const masu__plan_stop *stop, int64_t *offsets);

#endif
