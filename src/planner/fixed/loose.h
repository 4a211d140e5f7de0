/* loose.h: rows that nearly fit together, joined into blocks with a little waste.
 *
 *     offset ▲  ┌────┬──────┐      As assembly.h, for plans that have some room: what dies at a moment and what is
 *            │  │ a  │  c   │      born then need not be of one height. The block is as high as the higher side, and
 *            │  ├────┤      │      the difference is lost. A fixed row says where its block begins and ends: the pile
 *            │  │ F  ├──────┤      {a F} may be F with a below or above, two extents. What is joined to it stays within
 *            │  │    │░░░░░░│      one of them, or widens it.
 *            └──┴────┴──────┴─► time
 *
 *     a block is a row, a fixed row, a pile (one life, any order) or a queue (one extent, one behind the other)
 *     extents of a block = where it may begin and end, so that its fixed rows are where they must be, none within
 *                          another; none: no fixed row is in it, and it may lie anywhere
 *     area of a block    = sum of size × life of its rows <= (1 - tolerance) × height × life
 *
 * The less two sides waste the sooner they are joined; chance decides a little, so that other seeds join others. Finds
 * and proves nothing itself.
 */
#ifndef MASU_PLANNER_LOOSE_H
#define MASU_PLANNER_LOOSE_H

#include "planner/model/model.h"

typedef struct masu__loose masu__loose;

/* NULL when memory runs out. The model suits an assembly (masu__assembly_suits), is borrowed and must outlive it. */
masu__loose *masu__loose_create(const masu__plan_model *model);
void masu__loose_destroy(masu__loose *loose);

/* Joins until nothing more is joined: no block wastes more than this share, none ends above height. Returns how many
 * blocks are left; 0: memory ran out. O(rows × (rows + moments)) and more. */
uint32_t masu__loose_join(masu__loose *loose, int64_t height, double tolerance, uint64_t seed);

/* The next runs join most pairs as the last did, and vary some; or again none. */
void masu__loose_keep(masu__loose *loose);
void masu__loose_forget(masu__loose *loose);

/* The blocks that are left as rows, in sections: rows[blocks left]. */
void masu__loose_rows(const masu__loose *loose, masu_plan_row *rows);

/* From offsets of those rows to offsets of items. False: a block does not come apart as it was joined. */
bool masu__loose_offsets(masu__loose *loose, const uint64_t *rows, int64_t *offsets);

bool masu__loose_valid(const masu__loose *loose);

#endif
