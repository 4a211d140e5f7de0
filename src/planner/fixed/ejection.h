/* ejection.h: the search that throws out what is in the way: is there a plan of at most this height?
 *
 *     waiting ─► the item goes where what lies in its way weighs least ─► that waits, too
 *        ▲                                                                  │
 *        └──────────────────────────────────────────────────────────────────┘
 *
 * An item that found no free place weighs more from then on, so that what is hard to place is soon left where it
 * lies and others go round it. Obstacles, gaps, windows and rows to be kept apart are exact: they are stretches of
 * offsets that are forbidden, or that cost what lies there. It only finds; that it finds nothing proves nothing.
 *
 *     no two placed items collide; each ends at or below the height; waiting + placed = items
 *
 * A step costs the items that meet one, times the logarithm of that.
 */
#ifndef MASU_PLANNER_EJECTION_H
#define MASU_PLANNER_EJECTION_H

#include "planner/fixed/clashes.h"
#include "planner/search/search.h"

typedef struct masu__ejection masu__ejection;

/* NULL when memory runs out, or with *too_large set. model is borrowed and must outlive it. */
masu__ejection *masu__ejection_create(const masu__plan_model *model, bool *too_large);
void masu__ejection_destroy(masu__ejection *ejection);

/* FOUND: offsets[item_count] hold a plan of at most height. LIMIT, STOPPED: none was found. An item that no height up
 * to this one has room for: EXHAUSTED. What was learned in one run is forgotten in the next. */
masu__search_end masu__ejection_run(masu__ejection *ejection, int64_t height, uint64_t seed, uint64_t steps,
                                    const masu__plan_stop *stop, int64_t *offsets);
uint64_t masu__ejection_steps(const masu__ejection *ejection); /* of the last run */

/* The ejection's own, as long as it is there. */
const masu__clashes *masu__ejection_clashes(const masu__ejection *ejection);

bool masu__ejection_valid(const masu__ejection *ejection);

#endif
