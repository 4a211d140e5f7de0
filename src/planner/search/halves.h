/* halves.h: finds two programs that run side by side.
 *
 *     the load of all        ▄▄█████▄█████▄▄     two networks, two streams: rows of one program are born and die at the
 *     of the upper half      ▀▀▀█▄▄▀▀██▀▀▄▄▀     moments of its own operators, and few moments are both programs'
 *     of the lower half      ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
 *
 * Together they are too much for any search; each alone is soon planned, and one plan goes on top of the other. A
 * division is good when neither half's load exceeds its share of the height, and when few moments have rows of both.
 * It is found by annealing: one row, two rows of one moment, or all rows of a moment change sides, or all that is born
 * from a moment on; in the beginning mostly moments count, in the end mostly loads. Where rows of a program die others
 * of it are born, so that its load often stays the same: a moment of both halves at which neither load does counts
 * more.
 * Rows that are surely of one program (bonds.h) change sides together: that leaves a third to two thirds of what there
 * is to decide. Where few of them live at a time, fronts (front.h) find the division first. What is divided need not be
 * two programs: halves of one with fewer moments in common are easier, too.
 *
 * Whole numbers only: the same division everywhere.
 */
#ifndef MASU_PLANNER_HALVES_H
#define MASU_PLANNER_HALVES_H

#include "planner/search/search.h"

typedef struct masu__halves masu__halves;

/* Whether a model can be divided: simple, two items and three sections at least, and not too large. */
bool masu__halves_suit(const masu__plan_model *model);

/* NULL: memory ran out. model is borrowed, and suits. */
masu__halves *masu__halves_create(const masu__plan_model *model);
void masu__halves_destroy(masu__halves *halves);

/* So many groups of rows change sides together; item_count where nothing says which belong together. */
uint32_t masu__halves_groups(const masu__halves *halves);

/* upper[item_count]: which items are in the upper half, when the lower one may have share / 256 of height (share 1 to
 * 255). Each group of rows is looked at about `sweeps` times; or, where width is not 0, it begins with what so many
 * fronts find (front.h), and only cools. Returns what the peaks of both loads add up to; INT64_MAX: stopped, all are on
 * one side, or memory ran out. */
int64_t masu__halves_divide(masu__halves *halves, int64_t height, unsigned share, uint64_t seed, uint32_t sweeps,
                            uint32_t width, const masu__plan_stop *stop, bool *upper);

#endif
