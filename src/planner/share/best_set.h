/* best_set.h: which groups of rows a memory takes: the most traffic that its load can hold.
 *
 *     load of a set at each moment = sum of its groups' bytes alive then   <= capacity
 *     fixed rows of a set neither collide nor end above the capacity
 *
 * (Unsplittable flow on a path; hard, so: rankings, then swaps of one for several; with few groups
 * all sets, the best first.) Whether a plan exists for a set is the caller's question.
 */
#ifndef MASU_PLANNER_BEST_SET_H
#define MASU_PLANNER_BEST_SET_H

#include "planner/model/model.h"

/* A group is an item of a model in which no row is fixed. */
typedef struct masu__choice {
    const masu_plan_problem *problem;
    const masu__plan_model *model;
    double *worth;     /* per item: what it brings; all above 0 or 0 */
    double *area;      /* per item: bytes × duration */
    bool *allowed;     /* per item: not yet in another memory */
    bool *in;          /* per item: taken */
    const bool *light; /* per item: may lie on others, its load is not counted; NULL: none */
    bool *has_fixed;   /* per item: some row of it is fixed */
    int64_t *load;     /* per section: of what is in */
    int64_t capacity;
    uint32_t *order, *out; /* scratch, per item */
    masu__arena arena;
} masu__choice;

/* False: out of memory. worth and allowed are filled by the caller. */
bool masu__choice_open(masu__choice *choice, const masu_plan_problem *problem, const masu__plan_model *model);
void masu__choice_close(masu__choice *choice);

/* Nothing is in. */
void masu__choice_clear(masu__choice *choice, int64_t capacity);

/* Whether the item could come in as well. */
bool masu__choice_fits(const masu__choice *choice, uint32_t item);
void masu__choice_add(masu__choice *choice, uint32_t item);
void masu__choice_remove(masu__choice *choice, uint32_t item);

double masu__choice_value(const masu__choice *choice);

/* Rankings and swaps. */
void masu__choice_greedy(masu__choice *choice);

enum { MASU__CHOICE_FEW = 14 };

/* With at most MASU__CHOICE_FEW allowed items: all sets that the load can hold, the most valuable
 * first, until plan_exists says so of the set that is `in`. False: of none; nothing is in. */
bool masu__choice_all(masu__choice *choice, bool (*plan_exists)(void *context), void *context);

#endif
