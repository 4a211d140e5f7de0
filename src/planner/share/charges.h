/* charges.h: what two rows of a small problem are to each other: apart, or what they pay when they share bytes.
 *
 *     apart[a][b]    alive together (gaps count as alive), or kept apart by a relation
 *     charge[a][b]   the sum of the penalties of the pair; both are symmetric
 */
#ifndef MASU_PLANNER_CHARGES_H
#define MASU_PLANNER_CHARGES_H

#include <masu/plan.h>

#include "base/arena.h"

typedef struct masu__charges {
    const masu_plan_problem *problem; /* borrowed */
    bool *apart;
    uint64_t *charge;
} masu__charges;

/* From the arena. False: memory ran out. O(rows² + relations + penalties). */
bool masu__charges_open(masu__charges *charges, masu__arena *arena, const masu_plan_problem *problem,
                        const masu_plan_penalty *penalties, size_t count);

static inline bool masu__charges_apart(const masu__charges *c, size_t a, size_t b) {
    return c->apart[a * c->problem->count + b];
}

static inline uint64_t masu__charges_of(const masu__charges *c, size_t a, size_t b) {
    return c->charge[a * c->problem->count + b];
}

/* Whether two rows, of some bytes each, share one. */
static inline bool masu__charges_overlap(const masu_plan_row *a, uint64_t at, const masu_plan_row *b, uint64_t other) {
    return a->size_bytes > 0 && b->size_bytes > 0 && at < other + b->size_bytes && other < at + a->size_bytes;
}

static inline uint64_t masu__charges_add(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
