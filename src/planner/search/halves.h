/* halves.h: finds two programs that run side by side.
 *
 *     the load of all        ▄▄█████▄█████▄▄     two networks, two streams: rows of one program are born and die at the
 *     of the upper half      ▀▀▀█▄▄▀▀██▀▀▄▄▀     moments of its own operators, and few moments are both programs'
 *     of the lower half      ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
 *
 * Together they are too much for any search; each alone is soon planned, and one plan goes on top of the other. A
 * division is good when neither half's load exceeds its share of the height, and when few moments have rows of both.
 * It is found by annealing: one row, two rows of one moment, or all rows of a moment change sides; in the beginning
 * mostly moments count, in the end mostly loads. What is divided need not be two programs: halves of one with fewer
 * moments in common are easier, too.
 *
 * Whole numbers only: the same division everywhere.
 */
#ifndef MASU_PLANNER_HALVES_H
#define MASU_PLANNER_HALVES_H

#include "planner/search/search.h"

typedef struct masu__halves masu__halves;

/* NULL: memory ran out. model is borrowed: simple, with at least two items and three sections. */
masu__halves *masu__halves_create(const masu__plan_model *model);
void masu__halves_destroy(masu__halves *halves);

/* upper[item_count]: which items are in the upper half, when the lower one may be share sixteenths (1 to 15) of height.
 * Each item is looked at about `sweeps` times. again: the division before is warmed up and cools once more, in half the
 * sweeps. Returns what the peaks of both loads add up to; INT64_MAX: stopped, or all are on one side. */
int64_t masu__halves_divide(masu__halves *halves, int64_t height, unsigned share, uint64_t seed, uint32_t sweeps,
                            bool again, const masu__plan_stop *stop, bool *upper);

#endif
