/* untangle.h: all items at once, one over the other, until none is: is there a plan of at most this height?
 *
 *     ▲ overlaps, weighed         An item that overlaps others goes to the offset at which the depths of its overlaps,
 *     │  ╱╲      ╱╲               each times the pair's weight, add up to least: a sum of hats over the
 *     │ ╱  ╲    ╱  ╲╱╲            offsets at which two collide, least where a hat begins or ends. After each
 *     │╱    ╲__╱      ╲___        round of moves, pairs that still overlap weigh more, others less: what has
 *     └───────────► offset        been in conflict for long is solved first.
 *
 * Guided local search on overlaps, as it is done for nested shapes; here an item moves in one dimension only, so
 * that the best place is found exactly. Obstacles are never overlapped. Where items beside fixed ones fill nearly
 * everything this gets lower than ejections, which see what is in the way, but not how far. It only finds.
 *
 *     each item lies at an offset that obstacles and the height allow, aligned, always
 *
 * A step, one item's move, costs O(k log k) for the k pairs it is in; a round as many, and all pairs.
 */
#ifndef MASU_PLANNER_UNTANGLE_H
#define MASU_PLANNER_UNTANGLE_H

#include "planner/fixed/clashes.h"
#include "planner/search/search.h"

typedef struct masu__untangle masu__untangle;

/* NULL when memory runs out. clashes are borrowed and must outlive it. */
masu__untangle *masu__untangle_create(const masu__clashes *clashes);
void masu__untangle_destroy(masu__untangle *untangle);

/* offsets[item_count]: a plan of any height to begin with. FOUND: they hold one of at most height. LIMIT, STOPPED: none
 * was found. An item that no height up to this one has room for: EXHAUSTED. */
masu__search_end masu__untangle_run(masu__untangle *untangle, int64_t height, uint64_t seed, uint64_t steps,
                                    const masu__plan_stop *stop, int64_t *offsets);
uint64_t masu__untangle_steps(const masu__untangle *untangle); /* of the last run */

bool masu__untangle_valid(const masu__untangle *untangle);

#endif
