/* front.h: rows divided among two halves from left to right.
 *
 *     moment      0    1    2    3 …      a front is a choice of sides for the groups that live now: of all divisions
 *     fronts      ●──┬─●────●──┬─●        with the same front the cheapest stays, and of all fronts the WIDTH cheapest
 *                    └─●────✗  └─●
 *
 * A beam search, as Lowerre's HARPY has it, with the merging of equal states that dynamic programming has. Annealing
 * (halves.c) leaves the two programs of one time exchanged against those of another; going through time cannot. It is
 * right where few groups live at a time, above all in the beginning; where many do, annealing is.
 */
#ifndef MASU_PLANNER_FRONT_H
#define MASU_PLANNER_FRONT_H

#include "planner/search/search.h"

typedef struct masu__front_problem {
    const masu__plan_model *model;
    const uint32_t *at_start, *at; /* as for masu__bonds_find */
    const uint32_t *group_of;      /* per item */
    uint32_t groups;
    int64_t height, share;    /* bytes; share: of the lower half */
    int64_t shared, strained; /* costs of a moment of both halves; and more, where both loads change */
    int64_t weight;           /* of what is above a share, in all sections: weight * bytes / height */
    uint64_t seed;            /* decides between equals */
    uint32_t width;
} masu__front_problem;

/* upper[groups]. False: stopped, or memory ran out. All costs of a division together are below 2^62. */
bool masu__front_divide(const masu__front_problem *problem, const masu__plan_stop *stop, bool *upper);

#endif
