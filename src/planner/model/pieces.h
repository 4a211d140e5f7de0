/* pieces.h: what a group of rows keeps, section by section. Rows of a group may live at the same time: their
 * pieces are cut so that each section has one, from the lowest base to the highest top.
 *
 *     ▄▄▄▄▄▄        ▄▄████▄▄
 *        ▄▄▄▄▄  ─►            one piece wherever base or top changes
 */
#ifndef MASU_PLANNER_PIECES_H
#define MASU_PLANNER_PIECES_H

#include "planner/model/model.h"

/* By their first section. */
void masu__plan_pieces_sort(masu__plan_piece *pieces, uint32_t count);
/* Whether sorted pieces have a section in common. */
bool masu__plan_pieces_meet(const masu__plan_piece *pieces, uint32_t count);
/* Rewrites sorted pieces of one group; up to 2 × count come out. O(count × sections). */
uint32_t masu__plan_pieces_flatten(const masu__plan_piece *in, uint32_t count, masu__plan_piece *out);

#endif
