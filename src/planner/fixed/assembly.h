/* assembly.h: rows that fit together without waste, joined into blocks.
 *
 *     offset ▲  ┌────┬──────┐      In a plan that wastes nothing, what dies at a moment and what is born then cover the
 *            │  │ a  │  c   │      same bytes. Where all that dies has one life, and all that is born has one, they are
 *            │  ├────┤      │      two piles of one height: one block, whatever the order within each pile. Blocks are
 *            │  │ b  ├──────┤      rows again, so that a rectangle cut by lines from side to side grows together from
 *            │  │    │  d   │      its smallest parts: {a b} ∪ {c d} is one block, and meets its neighbour next.
 *            └──┴────┴──────┴─► time
 *
 * Where several lines share a moment, groups of equal height are joined by guess, fewest possibilities first. What is
 * left, blocks and rows, is a smaller problem, and each plan of it is one of the rows.
 *
 *     a block is a row, a fixed row, a pile (one life, any order) or a queue (one height, one behind the other)
 *     anchors of a block = the offsets at which every fixed row in it is where it must be;
 *                          none listed: it has no fixed row
 *     sum of size × life over the blocks that are left = that over all rows
 *
 * Finds and proves nothing itself. O(n log n) where lives differ.
 */
#ifndef MASU_PLANNER_ASSEMBLY_H
#define MASU_PLANNER_ASSEMBLY_H

#include "planner/model/model.h"

typedef struct masu__assembly masu__assembly;

/* Whether rows can be joined: no gaps, none kept apart, sizes and fixed offsets are multiples of all alignments. */
bool masu__assembly_suits(const masu__plan_model *model);

/* NULL when memory runs out, or with *unfit set: the model does not suit.
 * model is borrowed and must outlive it. */
masu__assembly *masu__assembly_create(const masu__plan_model *model, bool *unfit);
void masu__assembly_destroy(masu__assembly *assembly);

/* Joins what fits; where at a moment there are at most so many pairs to choose from, by guess, and the seed decides
 * where that begins. No block is higher than height. Returns how many blocks are left; 0: memory ran out. */
uint32_t masu__assembly_join(masu__assembly *assembly, int64_t height, uint32_t most_guessed, uint64_t seed);

/* The blocks that are left as rows, in sections: rows[blocks left]. */
void masu__assembly_rows(const masu__assembly *assembly, masu_plan_row *rows);

/* From offsets of those rows to offsets of items. False: a block lies where its fixed rows are not. */
bool masu__assembly_offsets(masu__assembly *assembly, const uint64_t *rows, int64_t *offsets);

bool masu__assembly_valid(const masu__assembly *assembly);

#endif
