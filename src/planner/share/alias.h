/* alias.h: which of the rows that may share bytes do. */
#ifndef MASU_PLANNER_ALIAS_H
#define MASU_PLANNER_ALIAS_H

#include <masu/plan.h>

/* Takes every MAY_SHARE that can be had, in the order in which they are: merged[relation_count].
 * A group may only hold rows that live apart or are related to each other directly. O(relations ×
 * size of the groups). MASU_OK or MASU_ERR_OUT_OF_MEMORY. */
masu_status masu__plan_share(const masu_plan_problem *problem, bool *merged);

/* No choice of MAY_SHARE relations gives a lower arena than this. MASU_OK or
 * MASU_ERR_OUT_OF_MEMORY. */
masu_status masu__plan_share_bound(const masu_plan_problem *problem, uint64_t *out);

/* Whether all the relations of merged[] can be had at once, beside the ties. *status is set only where
 * memory runs out. O(rows + the square of the groups × relations). */
bool masu__plan_share_fits(const masu_plan_problem *problem, const bool *merged, masu_status *status);

/* masu_plan_find for one choice (plan.c); NULL: nothing merged but ties. Offsets and result are only
 * written on success. */
masu_status masu__plan_find_merged(const masu_plan_problem *problem, const bool *merged,
                                   const masu_plan_options *options, uint64_t *offsets, masu_plan_result *result);

/* masu_plan_find for a problem with choices (alias_choices.c). */
masu_status masu__plan_find_shared(const masu_plan_problem *problem, const masu_plan_options *options,
                                   uint64_t *offsets, masu_plan_result *result);

#endif
