/* search.h: the exact search: is there a plan of at most this height?
 *
 * Depth first, from the bottom up. Each step gives one more item the lowest offset it can still
 * have, and offsets never fall from step to step, so that every plan in which nothing can be
 * lowered is reached by exactly one path:
 *
 *     branch   the items whose lowest offset lies below the lowest end that any unplaced item
 *              could have (one that starts above that end leaves room for it: dominated), by
 *              offset, then by a static order; at equal offsets only forward in that order
 *     infer    in each section: the lowest offset of any unplaced item alive in it plus what is still
 *              to be placed there must stay below the capacity. An item that was passed over (the
 *              step's offset is above its own) will lie on another one, which must come in its way:
 *              it rises above the lowest end such an item could have; if there is none, this is
 *              no such plan
 *     jump     where the order says so: a failure goes up to the last decision that took part in it
 *              (conflict.h)
 *     twins    items that are the same in everything lie in the order of their numbers
 *     split    when no unplaced item crosses a border between sections, both sides are searched
 *              apart: a failure on one side does not repeat the work on the other; the order is
 *              made again for each side from what is left there
 *
 *     support[i] = max(ends of placed items that i meets), rounded up to i's alignment and past
 *                  obstacles
 *     lowest[i]  = support[i], or more where that was inferred; INT64_MAX once i is placed. Only
 *                  items with lowest == support can be placed
 *     witness[s] = an unplaced member of s that is low enough for all of rest[s] above it
 *     rest[s]   = sum of heights of unplaced members of s
 *     crossing[s] = unplaced items that live in s and s + 1 without being cut
 *
 * After MiniMalloc (Moffitt, ASPLOS 2023), which has branching, floors and splitting; the
 * witnesses (a section is only looked at when its witness rises too far), passing over, twins, the portfolio of orders
 * with noise and targets around it, and obstacles, relations and heights that vary over time are added here.
 */
#ifndef MASU_PLANNER_SEARCH_H
#define MASU_PLANNER_SEARCH_H

#include "planner/model/model.h"

typedef struct masu__plan_search masu__plan_search;

typedef enum masu__search_end {
    MASU__SEARCH_FOUND,     /* offsets hold a plan */
    MASU__SEARCH_EXHAUSTED, /* proven: there is none (unless the model is raised) */
    MASU__SEARCH_LIMIT,     /* out of steps */
    MASU__SEARCH_STOPPED,   /* stop said so, or memory ran out */
} masu__search_end;

/* Asked every few hundred steps, or few ten thousand items looked at. */
typedef struct masu__plan_stop {
    bool (*asked)(void *context);
    void *context;
} masu__plan_stop;

/* Back over decisions that the failure is not about: then a failure proves nothing. */
typedef enum masu__search_jumps {
    MASU__JUMPS_NONE,
    MASU__JUMPS_NEAR, /* about: everything that raised what failed */
    MASU__JUMPS_FAR,  /* only what raised it last */
} masu__search_jumps;

/* One static order: up to three keys, the next one decides between equals. */
typedef struct masu__search_order {
    const char *name;
    char keys[4];  /* T contention, W duration, S sections, A area, Z size; all largest first */
    double coarse; /* contention is counted in steps of this share of the capacity; 0: exactly */
    double noise;  /* the other keys get factors in [1, 1 + noise) */
    uint64_t seed;
    double learn;      /* contention counts up to 1 + learn times where former restarts found no room */
    unsigned restarts; /* so many parts of the steps, each with its own noise; 0: one */
    masu__search_jumps jumps;
    bool infers; /* items passed over are raised above what could lie in their way: fewer steps to
                    a proof, each at two or three times the cost */
} masu__search_order;

/* NULL when memory runs out or the problem is too large for an exact search; *too_large says
 * which. model is borrowed. O(sum of items met by items + sections lived through). */
masu__plan_search *masu__plan_search_create(const masu__plan_model *model, bool *too_large);
void masu__plan_search_destroy(masu__plan_search *search);

/* Looks for a plan of at most capacity in at most steps nodes. */
masu__search_end masu__plan_search_run(masu__plan_search *search, int64_t capacity, const masu__search_order *order,
                                       uint64_t steps, const masu__plan_stop *stop);

/* After FOUND: valid until the next run. */
const int64_t *masu__plan_search_offsets(const masu__plan_search *search);
uint64_t masu__plan_search_steps(const masu__plan_search *search); /* of the last run */

bool masu__plan_search_valid(const masu__plan_search *search);

#endif
