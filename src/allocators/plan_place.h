/* plan_place.h: placing rows one after another in a given order.
 *
 * Each row goes into a gap between the rows already placed that live at the same time: the lowest
 * gap that is large enough (first fit) or the smallest (best fit); above all of them when there
 * is none. The order decides everything; the planner tries several.
 */
#ifndef MASU_PLAN_PLACE_H
#define MASU_PLAN_PLACE_H

#include <masu/plan.h>

typedef enum masu__plan_gap { MASU__PLAN_BEST_GAP, MASU__PLAN_FIRST_GAP } masu__plan_gap;

/* What is already placed, in order of offset: everything a step needs stands side by side. */
typedef struct masu__plan_placed {
    int64_t lower, upper;
    uint64_t offset, end;
} masu__plan_placed;

/* Places rows[order[0..count)] (sizes > 0) and fills offsets; scratch has room for count entries.
 * Returns the height, or UINT64_MAX as soon as it is sure to reach limit: then offsets are partly
 * filled. *steps counts the comparisons. */
uint64_t masu__plan_place(const masu_plan_row *rows, const size_t *order, size_t count,
                          masu__plan_gap gap, uint64_t limit, masu__plan_placed *scratch,
                          uint64_t *offsets, uint64_t *steps);

/* Sorts indices by key, descending; equal keys stay as they were. scratch has room for count. */
void masu__plan_sort(size_t *indices, size_t count, const unsigned __int128 *keys, size_t *scratch);

/* A key that sorts moments ascending. */
static inline unsigned __int128 masu__plan_time_key(int64_t moment) {
    return ~((uint64_t)moment ^ ((uint64_t)1 << 63));
}

#endif
