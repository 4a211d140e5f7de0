/* judge_sweep.h: the judge's look at many plain rows at once: which is the first that lies on one before it.
 *
 *     moments   ──┬──┬─────┬───►     Time passes once, deaths before births. What lives is kept by offset, so that a
 *               ┌─┴──┴──┐ ┌┴─┐       row that is born need only be compared with the one below it and the one above:
 *               └───────┘ └──┘       as long as no two of those that live collide, no other can be in its way.
 *
 * It shares no code with the planner. test_plan_judge compares it with all pairs, one by one.
 */
#ifndef MASU_PLANNER_JUDGE_SWEEP_H
#define MASU_PLANNER_JUDGE_SWEEP_H

#include <masu/plan.h>

/* The number of the first row that shares a byte and a moment with a row before it; count: none does. Rows that
 * `odd` names are passed over; no other has gaps. Offsets and sizes add up to less than 2^64. False: no memory.
 * O(n log n); O(n log² n) when two collide. */
bool masu__judge_first_on_another(const masu_plan_row *rows, const uint64_t *offsets, const bool *odd, size_t count,
                                  size_t *out_row);

#endif
