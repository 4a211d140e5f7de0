/* skyline.h: the fast heuristic. Fills the lowest valley of the skyline, again and again.
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
 * Items by birth are in the leaves of a tree whose nodes hold the earliest death and the largest
 * key below; both bounds cut the search for the best fit to a few steps. O(n log n) in practice,
 * 60 bytes an item and 24 a section.
 *
 * Only where the load is near the bound does waste cost height. So keys may weigh crowding, the
 * largest load that an item lives through over the bound, before anything else: in classes
 * (coarse), or as a power. And among the items whose keys are near the largest one, the one that
 * touches the valley's walls and ends level with them is to be preferred: what it leaves can be
 * used.
 *
 * Gaps in an item's life are treated as filled, and its height as its largest: right, not lowest.
 * Obstacles and relations are not known here: only for models without them.
 */
#ifndef MASU_PLANNER_SKYLINE_H
#define MASU_PLANNER_SKYLINE_H

#include "planner/search/search.h"

typedef enum masu__valley_key {
    MASU__VALLEY_AREA,     /* size × duration */
    MASU__VALLEY_SECTIONS, /* size × sections lived through */
    MASU__VALLEY_SQUARE,   /* size × sections² */
    MASU__VALLEY_SIZE,
    MASU__VALLEY_DURATION,
    MASU__VALLEY_LONGEST, /* sections lived through */
    MASU__VALLEY_KEY_COUNT
} masu__valley_key;

/* How to choose. All 0: by the key alone. Logarithms are to the base of two, and rough. */
typedef struct masu__valley_way {
    masu__valley_key key;
    double coarse;  /* > 0: classes of crowding of this width come before the key */
    double crowded; /* the key gets crowding to this power as a factor */
    double noise;   /* and random factors in [1, 1 + noise) */
    uint32_t among; /* at most so many items whose key's logarithm is within `within` of the best */
    double within;
    double calm;   /* but by the key alone where crowding is less */
    bool demand;   /* first those that live where most is still to be placed (demand.h) */
    bool thorough; /* looks twice as long for the largest key: lower plans of many long lives, a sixth more time */
    double touch;  /* added to the logarithm for each wall that is touched */
    double level;  /* and up to this much for ending at its height */
} masu__valley_way;

typedef struct masu__valley masu__valley;

/* NULL when memory runs out. model (its items, sections, load and bound) is borrowed and must
 * outlive it; so is floor (may be NULL): what the skyline is in each section before anything is
 * placed; load contains it. */
masu__valley *masu__valley_create(const masu__plan_model *model, const int64_t *floor);
void masu__valley_destroy(masu__valley *valley);

/* Asked when so many items are left and the caller's stop says that time is over, or not yet: whether the rest
 * is to be placed quickly, without choosing among near ones. */
typedef struct masu__valley_pace {
    bool (*hurry)(void *context, uint32_t left, bool over);
    void *context;
} masu__valley_pace;

/* From now on; NULL: placing ends when time is over. Borrowed. */
void masu__valley_set_pace(masu__valley *valley, const masu__valley_pace *pace);

/* Places all items. offsets[item_count] is filled; returns the highest end of an item, or
 * INT64_MAX as soon as limit is reached or stop (may be NULL) says so: offsets are partly filled
 * then. */
int64_t masu__valley_place(masu__valley *valley, const masu__valley_way *way, uint64_t seed, int64_t limit,
                           const masu__plan_stop *stop, int64_t *offsets);

#endif
