/* repair.h: lowers a plan where it is highest, and leaves the rest alone.
 *
 *     ▲          ┌──┐ ◄─ the highest        Only few places of a large plan are as high as the whole.
 *     │      ▒▒▒▒▒▒▒▒▒▒▒▒                   What lies there above some level, and all above that,
 *     │       ▒▒▒▒▒▒▒▒▒▒                    and above that, is taken out: an inverted pyramid. What
 *     │─────┐▒▒▒▒▒▒▒▒┌────                  stays ends below it everywhere, so that its skyline is
 *     │     └────────┘                      the floor of a small problem of the same kind, which is
 *     └──────────────────► time             placed again in many ways (skyline.h), until one is lower.
 *
 *     taken out = items at or above the level that live in [from, to), where each of them, in order
 *                 of offset, widens [from, to) to its own life
 *     each item not taken out that lives in [from, to) ends at or below the floor there
 *
 * One attempt costs O(k log k) for the k items that live near the highest place, and O(j log j) for each way of
 * placing the j of them that are taken out.
 */
#ifndef MASU_PLANNER_REPAIR_H
#define MASU_PLANNER_REPAIR_H

#include "planner/skyline/skyline.h"

typedef struct masu__repair masu__repair;

/* NULL when memory runs out. model must suit valleys and is borrowed. 100 to 120 bytes an item. */
masu__repair *masu__repair_create(const masu__plan_model *model);
void masu__repair_destroy(masu__repair *repair);

/* From now on about this plan of the given height; offsets [item_count] are copied. */
void masu__repair_begin(masu__repair *repair, const int64_t *offsets, int64_t height);

/* One attempt on the highest place: true when there is a lower plan, with the height in *height.
 * False: not this time; the next attempt takes out more. Nothing is tried when that would be more
 * than `most` items. */
bool masu__repair_step(masu__repair *repair, uint64_t seed, uint32_t most, const masu__plan_stop *stop,
                       int64_t *height);

/* Failures since the target was last set. */
unsigned masu__repair_failures(const masu__repair *repair);

/* The plan as it is. Each step leaves it valid. */
const int64_t *masu__repair_offsets(const masu__repair *repair);

/* How many items the last step placed again, in all its ways together. */
uint64_t masu__repair_items(const masu__repair *repair);

bool masu__repair_valid(const masu__repair *repair);

#endif
