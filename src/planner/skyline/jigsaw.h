/* jigsaw.h: the search for plans that waste next to nothing: a jigsaw, laid from its tightest corner.
 *
 *     ▲ ┌──┐         ┌───     Between higher neighbours, the skyline's lowest cell in a corner is
 *     │ │  └─┐     ┌─┘        either covered by an item that is born (or dies) exactly there, or
 *     │─┘    └─────┘          wasted for good. Where a section has nothing left to waste, few items
 *     └─────── ↑ ──► time     come into question, often one, sometimes none.
 *              corner
 *
 *     slack[s] = height asked for - skyline[s] - what is still to be placed in s - walls above
 *              >= 0, and only wasting lowers it
 *
 * Always the corner with the fewest items; when it has none and may not be wasted, back. The search
 * in search.h goes by offset and proves; this one goes where it is tight and only finds: a waste
 * reaches up to the neighbour, plans that waste less in between are not seen.
 *
 * A step costs the sections between the neighbours, and the items born or dying at corners there.
 */
#ifndef MASU_PLANNER_JIGSAW_H
#define MASU_PLANNER_JIGSAW_H

#include "planner/search/search.h"

typedef struct masu__corner masu__corner;

/* For models whose items have one piece each and nothing to be kept apart. NULL when memory runs
 * out, or with *too_large set. model is borrowed and must outlive it. */
masu__corner *masu__corner_create(const masu__plan_model *model, bool *too_large);
void masu__corner_destroy(masu__corner *corner);

/* The share of height × sections that a plan of this height has to waste. */
double masu__corner_waste(const masu__corner *corner, int64_t height);

/* FOUND: offsets[item_count] hold a plan of at most height. EXHAUSTED here is not a proof. */
masu__search_end masu__corner_run(masu__corner *corner, int64_t height, double noise, uint64_t seed, uint64_t steps,
                                  const masu__plan_stop *stop, int64_t *offsets);
uint64_t masu__corner_steps(const masu__corner *corner); /* of the last run */

bool masu__corner_valid(const masu__corner *corner);

#endif
