/* least_cost.h: the cheapest plan within a capacity, proven, where there are few rows and few places for them.
 *
 * In a cheapest plan each row can sink until it lies on the bottom, on a fixed row or on one that it may not overlap or
 * would pay for: no cost is added by that. So offsets are sums of sizes, rounded up to alignments: the places. All rows
 * to all places, depth first:
 *
 *     price[row][place] = what the rows that have a place charge there; NEVER: they do not allow it
 *     cost of any plan below a node >= cost so far + sum over rows without a place of their least price
 *                                                  + what these must pay among themselves
 *
 * Among themselves: of rows that all pay each other, or may not overlap, at most m lie apart within the capacity. By
 * Turán's theorem at least as many pairs overlap as when they are dealt out to m heaps. The rows are divided into such
 * sets once.
 *
 * Fixed rows have their place before the search begins.
 */
#ifndef MASU_PLANNER_LEAST_COST_H
#define MASU_PLANNER_LEAST_COST_H

#include "planner/share/charges.h"

typedef enum masu__least_cost_end {
    MASU__LEAST_COST_PROVEN, /* nothing is cheaper than *cost: offsets where that is below the given one */
    MASU__LEAST_COST_UNFIT,  /* too many rows or places, or rows with gaps or that share */
    MASU__LEAST_COST_LIMIT,  /* steps or time are over; *cost may have fallen, with offsets */
    MASU__LEAST_COST_NO_MEMORY,
} masu__least_cost_end;

/* *cost: the cheapest known, or UINT64_MAX; offsets [count] are only written where a cheaper plan is found. steps: at
 * most so many, 0: no limit. end_s: of the clock of masu__plan_now, 0: none. */
masu__least_cost_end masu__plan_least_cost(const masu__charges *charges, uint64_t steps, double end_s,
                                           uint64_t *offsets, uint64_t *cost);

#endif
