/* solver.h: one run of the planner: what is known so far, and who may still work on it.
 *
 *     heuristics ─► best plan ◄─ portfolio of searches ◄─ goals (goals.c: which height to ask for)
 *
 *     proven bound <= best height;  the best plan has passed the placing of one of the methods
 *
 * The calling thread leads; the others only run searches that it hands out (portfolio.c).
 */
#ifndef MASU_PLANNER_SOLVER_H
#define MASU_PLANNER_SOLVER_H

#include "planner/fixed/ejection.h"
#include "planner/fixed/loose.h"
#include "planner/fixed/most_constrained.h"
#include "planner/fixed/untangle.h"
#include "planner/search/search.h"
#include "planner/skyline/jigsaw.h"
#include "planner/skyline/repair.h"
#include "planner/skyline/skyline.h"

enum { MASU__PLAN_MOST_THREADS = 64 };

typedef struct masu__solver {
    const masu_plan_problem *problem;
    const masu_plan_options *options;
    masu__plan_model model;
    masu__valley *valley;                                 /* NULL: not for this model */
    masu__repair *repair;                                 /* made when needed */
    uint64_t repairs;                                     /* steps so far */
    masu__slots *slots;                                   /* NULL: not for this model */
    masu__corner *corner;                                 /* made when needed */
    masu__ejection *ejection;                             /* made when needed */
    bool no_ejection;                                     /* the model is too large for it */
    uint64_t ejected;                                     /* its steps */
    masu__untangle *untangle;                             /* made when needed, of the ejection's clashes */
    uint64_t untangled;                                   /* its steps */
    masu__loose *loose;                                   /* made when needed */
    bool no_loose;                                        /* rows do not fit together */
    int64_t loose_height;                                 /* of the blocks kept in it */
    unsigned loose_failures;                              /* turns that found no lower one */
    masu__plan_search *searches[MASU__PLAN_MOST_THREADS]; /* one a thread; made when needed */
    unsigned thread_count;
    bool searchable;
    int64_t *offsets, *best_offsets; /* per item */
    int64_t best_height, bound;      /* best_height INT64_MAX: no plan yet */
    int64_t given_up;                /* below this the search has nothing more to look at; proven where == bound */
    const char *best_name;
    int favourite;          /* the order that last found a plan in the portfolio; -1: none yet */
    unsigned found_by;      /* the attempt of the portfolio that last found a plan */
    uint64_t *row_offsets;  /* for the callback; NULL without one */
    double begin_s, open_s; /* open_s: how long opening took */
    uint64_t steps, steps_granted;
    uint32_t attempts, placements;
    bool out_of_memory;
} masu__solver;

/* merged as in model.h. The solver is closed after a failure. */
masu_status masu__solver_open(masu__solver *solver, const masu_plan_problem *problem, const bool *merged,
                              const masu_plan_options *options);
void masu__solver_close(masu__solver *solver);

/* Time, cancellation, steps. */
bool masu__solver_stopped(void *solver);
bool masu__solver_finished(const masu__solver *solver);
double masu__plan_now(void);

/* Keeps the plan when it is the lowest. */
void masu__solver_offer(masu__solver *solver, const int64_t *offsets, int64_t height, const char *name);
masu_plan_result masu__solver_result(const masu__solver *solver);

/* heuristics.c: every heuristic once; then, while rounds last, with noise. */
void masu__solver_heuristics(masu__solver *solver);
void masu__solver_noise(masu__solver *solver, uint32_t rounds, uint64_t seed);

/* Lowers the best plan where it is highest, placing at most so many items again at once, until it is
 * no higher than enough or nothing has helped for a while. */
void masu__solver_repair(masu__solver *solver, uint32_t most, int64_t enough);

/* sweep.c: a plan at once, whatever limits say. For models that suit valleys. */
void masu__solver_sweep(masu__solver *solver);

/* first_fit.c */
void masu__solver_first_fit(masu__solver *solver);

/* One method alone; see masu_plan_method_name. False: there is none of this number. */
bool masu__solver_only(masu__solver *solver, unsigned number);

/* portfolio.c: is there a plan of at most one of these heights? targets[target_count] falls; every
 * one is asked for by the attempts [from, to), in turns. Attempt number i is the i mod
 * MASU__PLAN_ORDERS th order, with twice the steps in every other round. A plan found is offered;
 * exhaustion raises the bound. FOUND: for one of them. EXHAUSTED: for all. */
enum { MASU__PLAN_ORDERS = 11, MASU__PLAN_MOST_TARGETS = 2, MASU__PLAN_MOST_ATTEMPTS = 64 };

masu__search_end masu__solver_portfolio(masu__solver *solver, const int64_t *targets, unsigned target_count,
                                        unsigned from, unsigned to);

/* heuristics.c: where a plan of the height of the bound could waste next to nothing: searches from
 * the tightest corner, in rounds [from, to) of growing length. */
void masu__solver_jigsaw(masu__solver *solver, unsigned from, unsigned to);
/* Whether a plan at the bound wastes so little that no other method finds it. */
bool masu__solver_is_jigsaw(masu__solver *solver);

/* heuristics.c: throws out what is in the way at this height; rounds of growing length. Whether a plan was found. */
bool masu__solver_eject(masu__solver *solver, int64_t height, unsigned round);

/* heuristics.c: all items at once from the best plan on, overlaps made fewer until there are none at this height. As
 * many rounds as ejections have been asked for. Whether a plan was found. */
bool masu__solver_untangle(masu__solver *solver, int64_t height, unsigned round);

/* blocks.c: where a plan at the bound wastes little: joins what fits together, and plans that, in turns [from, to),
 * until the best plan is no higher than enough. */
void masu__solver_blocks(masu__solver *solver, int64_t enough, unsigned from, unsigned to);

/* blocks.c: where it wastes a little: joins what nearly fits together. */
void masu__solver_loose(masu__solver *solver, int64_t enough, unsigned from, unsigned to);

/* stack.c: two programs at once: divides the rows among two halves and plans each, in turns [from, to), until the best
 * plan is no higher than enough. early: only where there are many rows, and surely of two programs; else only
 * elsewhere. */
void masu__solver_halves(masu__solver *solver, int64_t enough, unsigned from, unsigned to, bool early);

/* goals.c */
void masu__solver_fit(masu__solver *solver, int64_t capacity);
void masu__solver_minimize(masu__solver *solver);

/* ---- a question of the planner's own -------------------------------------------------------------- */

/* masu_plan_find without its last resort (plan.c), for the planner's own questions: to fit, an answer that was not
 * found in time is not looked for a second time. */
masu_status masu__plan_find_once(const masu_plan_problem *problem, const masu_plan_options *options, uint64_t *offsets,
                                 masu_plan_result *result);

#endif
