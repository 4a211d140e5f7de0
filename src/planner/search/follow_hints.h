/* follow_hints.h: a plan that stays where an older one was, as far as that costs no height. */
#ifndef MASU_PLANNER_FOLLOW_HINTS_H
#define MASU_PLANNER_FOLLOW_HINTS_H

#include <masu/plan.h>

/* offsets and *result are a plan; afterwards one no higher in which more rows, the largest first,
 * lie at their hints. Nothing changes where no row has one, or memory runs out. A few searches of
 * bounded length. */
void masu__plan_follow_hints(const masu_plan_problem *problem, const masu_plan_options *options, uint64_t *offsets,
                             masu_plan_result *result);

#endif
