/* coarse.h: the same items with lives that begin and end on a coarse grid, for a first plan of very many.
 *
 *     life          ├──────────────────────┤             a long life is moved out to multiples of a power of two,
 *     coarse      ├──────────────────────────┤           at most 1/128 of it: it grows by less than 1/64
 *     grid        ┊       ┊       ┊       ┊
 *
 *     a coarse life contains the life: each plan for the coarse lives is one for the lives
 *
 * Lives that nearly end together end together, so that more of them lie side by side without a rest between, and
 * there are fewer sections, so that the trees over them are smaller: the plan comes sooner, and is lower where most
 * lives are long. What the grid itself costs is a little load.
 */
#ifndef MASU_PLANNER_COARSE_H
#define MASU_PLANNER_COARSE_H

#include "planner/model/model.h"

/* As much of a model as skyline.h needs. The arrays that do not change are the model's, borrowed; the others are the
 * coarse one's arena's. Close it in either case; false: no memory. O(items + sections). */
bool masu__coarse_open(masu__plan_model *coarse, const masu__plan_model *model);

#endif
