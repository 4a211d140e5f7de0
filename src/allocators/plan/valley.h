/* valley.h: the fast heuristic. Fills the lowest valley of the skyline, again and again.
 *
 *     ▲  ┌──┐        ┌────        The skyline is what has been placed, seen from above. Its lowest
 *     │  │  └─┐   ┌──┘            flat stretch between higher neighbours is the lowest valley. Of
 *     │──┘    └───┘               the items not yet placed whose whole life lies within it, the
 *     └──────────────► time       one with the largest key goes to its floor. If there is none,
 *                 ^ here          the floor rises to the lower neighbour: what lies below is lost.
 *
 * Long lives find wide valleys only near the bottom, so they come first where keys weigh time, and
 * short ones fill what is left between. (The bottom-left family of strip packing; here the position
 * in time is given, which makes each valley a problem of its own.)
 *
 * Items by birth stand in the leaves of a tree whose nodes hold the earliest death and the largest
 * key below; both bounds cut the search for the best fit to a few steps. O(n log n) in practice,
 * 60 bytes an item and 24 a section.
 *
 * Gaps in an item's life are treated as filled, and its height as its largest: right, not lowest.
 * Obstacles and relations are not known here: only for models without them.
 */
#ifndef MASU_PLAN_VALLEY_H
#define MASU_PLAN_VALLEY_H

#include "allocators/plan/search.h"

typedef enum masu__valley_key {
    MASU__VALLEY_AREA,     /* size × duration */
    MASU__VALLEY_SECTIONS, /* size × sections lived through */
    MASU__VALLEY_SQUARE,   /* size × sections² */
    MASU__VALLEY_SIZE,
    MASU__VALLEY_DURATION,
    MASU__VALLEY_LONGEST, /* sections lived through */
    MASU__VALLEY_KEY_COUNT
} masu__valley_key;

typedef struct masu__valley masu__valley;

/* NULL when memory runs out. model is borrowed and must outlive it. */
masu__valley *masu__valley_create(const masu__plan_model *model);
void masu__valley_destroy(masu__valley *valley);

/* Places all items. Keys are multiplied by random factors in [1, 1 + noise) drawn from seed.
 * offsets[item_count] is filled; returns the height, or INT64_MAX as soon as limit is reached or
 * stop says so (offsets are partly filled then). With limit INT64_MAX it is always finished. */
int64_t masu__valley_place(masu__valley *valley, masu__valley_key key, double noise, uint64_t seed,
                           int64_t limit, const masu__plan_stop *stop, int64_t *offsets);

const char *masu__valley_name(masu__valley_key key);

#endif
