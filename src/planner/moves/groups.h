/* groups.h: rows that take over the bytes of others, as one row.
 *
 *     a ├──────┤              a is read by the operator that makes b, byte by byte;     ab ├─────────────┤
 *     b        ├───────┤      b lies where a lay: one row, read and written there
 *
 * A set of shares is possible when no byte that is still needed is written over. Its rows become groups, groups become
 * rows of a problem without shares, and a plan of that becomes one of the rows. At the moment of a share a group has
 * one place.
 */
#ifndef MASU_PLANNER_MOVES_GROUPS_H
#define MASU_PLANNER_MOVES_GROUPS_H

#include "planner/moves/courses.h"

typedef struct masu__groups {
    const masu_moves_problem *problem;
    /* by problem alone */
    uint32_t *order;                /* shares by the moment of the taker; views first */
    bool *usable;                   /* per share */
    uint32_t *first_use, *use_list; /* per row: its uses are use_list[first_use[row]] … */
    /* by the set that is wanted */
    bool *done;      /* per share */
    uint32_t *group; /* per row: its group's first row */
    uint32_t *next;  /* per row: the next of its group; UINT32_MAX: none */
    uint32_t *last;  /* per first row: the last of its group */
    uint32_t *shown; /* per row: the row whose writing its bytes are; a view shows its giver's */
    size_t *only;    /* per first row: the memory that some row of the group asks for */
    /* the problem of the groups */
    masu_moves_problem merged;
    uint32_t *merged_of; /* per row */
    uint32_t *row_of;    /* per merged row: the group's first row */
    masu__moves_alone *alone;
    size_t alone_count;
    masu__arena arena;
} masu__groups;

/* False: memory. */
bool masu__groups_open(masu__groups *g, const masu_moves_problem *problem);
void masu__groups_close(masu__groups *g);
/* Does of the wanted shares (NULL: of all) what is possible, each beside those before it, and makes merged and alone.
 * The work of the call before is gone. */
void masu__groups_make(masu__groups *g, const bool *wanted);
/* A plan of merged as one of the rows; *from is given back. */
masu_status masu__groups_spread(const masu__groups *g, masu_moves_plan *from, masu_moves_plan *to);
/* Takes what a view saves, one read of the giver and one write of the taker, from a copy of the problem's uses. */
void masu__groups_save(const masu__groups *g, size_t share, masu_moves_use *uses);
/* relax.c: a problem without shares that costs no more than *constant less, whatever is done in place. From the arena.
 * False: memory. */
bool masu__groups_relax(masu__groups *g, masu_moves_problem *out, uint64_t *constant);

#endif
