/* bonds.h: rows that are surely of one program, where two run side by side.
 *
 *     ──a──┐┌──c──      a and b die where c, d and e are born, and a + b == c + d + e. Were some of them one program's
 *     ──b──┘├──d──      and the rest the other's, each with a load that stays the same, then some of a, b would be as
 *           └──e──      large as some of c, d, e: where no such part is, all five are one program's
 *
 * Where there are such parts, rows that are in the same ones are: b with c where b == c, and a with d and e.
 *
 * In a program whose arena is full most moments are such: rows that die make room for those that are born, to the byte.
 * Bonds hold over bonds, so a program falls into a few large groups and some single rows. A guess, but one that was
 * right at each such moment of the 21 pairs of bench/planner_kin.py; it decides how rows are divided, never what is
 * proven.
 *
 * The observation is our own; nothing was published about it that we know of.
 */
#ifndef MASU_PLANNER_BONDS_H
#define MASU_PLANNER_BONDS_H

#include "planner/model/model.h"

/* group_of[item_count]: numbers from 0 on, by the first item of each group. at_start[section_count + 2] into at: the
 * items that are born or die at a moment (the one before section s is s). Returns how many groups there are. Moments
 * with more than fourteen rows say nothing; O(moments * 2^13 + rows). */
uint32_t masu__bonds_find(const masu__plan_model *model, const uint32_t *at_start, const uint32_t *at,
                          uint32_t *group_of);

#endif
