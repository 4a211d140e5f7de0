/* headroom.h: the walls above a skyline that rises.
 *
 *     ▲  ▓▓▓▓▓▓ wall          In each section the next wall above the skyline limits what can be
 *     │     ↕ headroom        placed there. Where nothing alive in a section fits below its next
 *     │  ▁▁▁▁▔▔▔▔ skyline     wall, the skyline leaps to the top of that wall.
 *     └─────────► time
 *
 *     next[s] = the first wall of section s that begins at the skyline or above
 */
#ifndef MASU_PLANNER_HEADROOM_H
#define MASU_PLANNER_HEADROOM_H

#include "planner/fixed/walls.h"

typedef struct masu__headroom {
    masu__walls walls;
    uint32_t *next; /* per section, into its walls */
    int64_t *least; /* per section: the smallest piece alive there */
} masu__headroom;

/* False: out of memory, or *too_large. Close in either case. */
bool masu__headroom_open(masu__headroom *room, const masu__plan_model *model, bool *too_large);
void masu__headroom_close(masu__headroom *room);

/* The skyline lies at 0. */
void masu__headroom_reset(masu__headroom *room, uint32_t sections);

/* The skyline of the section rises to height: returns where it comes to lie, and adds to *wasted
 * (may be NULL) what it leaps over between walls. O(walls passed). */
int64_t masu__headroom_rise(masu__headroom *room, uint32_t section, int64_t height, int64_t *wasted);

/* Whether nothing ends above a wall over sections [first, end). */
bool masu__headroom_fits(const masu__headroom *room, uint32_t first, uint32_t end, int64_t top);

/* The lowest of the next walls over [first, end); INT64_MAX: there is none. */
int64_t masu__headroom_lowest(const masu__headroom *room, uint32_t first, uint32_t end);

#endif
