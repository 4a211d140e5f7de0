/* walls.h: what obstacles leave of each section, and the bound that follows.
 *
 *     ▲      ▓▓▓▓  to          In one section: walls are obstacles, joined where not even the
 *     │      ▓▓▓▓  from        smallest item alive there fits between. What does not fit into the
 *     │       ↕ hole           holes lies above the last wall:
 *     │      ▓▓▓▓
 *     └──────────────          height >= last.to + sum(items >= t) - sum(holes >= t)   for each t
 *
 *     walls of a section ascend and are apart;  above[k] = bytes that walls k, k + 1 … take
 */
#ifndef MASU_PLANNER_WALLS_H
#define MASU_PLANNER_WALLS_H

#include "planner/model/model.h"

typedef struct masu__wall {
    int64_t from, to;
    int64_t above; /* of this one and all above it */
} masu__wall;

typedef struct masu__walls {
    uint32_t *start; /* [sections] into walls */
    uint32_t *count; /* per section */
    masu__wall *walls;
    masu__arena arena; /* owns them */
} masu__walls;

/* False: out of memory, or *too_large: obstacles × sections. Close in either case. O(that). */
bool masu__walls_open(masu__walls *walls, const masu__plan_model *model, bool *too_large);
void masu__walls_close(masu__walls *walls);

/* The smallest piece alive in each section, MASU__PLAN_MOST where there is none; from the arena.
 * NULL: out of memory. */
int64_t *masu__walls_least(masu__arena *arena, const masu__plan_model *model);

/* The bytes taken by walls that begin at floor or above. */
static inline int64_t masu__walls_above(const masu__walls *w, uint32_t section, int64_t floor) {
    const masu__wall *walls = w->walls + w->start[section];
    uint32_t low = 0, high = w->count[section];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (walls[middle].from < floor)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->count[section] ? walls[low].above : 0;
}

/* Raises model->bound to what obstacles ask for. False: out of memory. Where there are too many
 * it stays as it is. */
bool masu__walls_raise_bound(masu__plan_model *model);

#endif
