/* demand.h: how much is still to be placed in each section, and where that is most.
 *
 *     skyline[s] + demand[s] <= the height of every plan that goes on from here
 *
 *     tree      ┌── most, later ──┐        most  = the largest demand below, as far as this node knows
 *             ┌─┴─┐             ┌─┴─┐      later = what is to be added to all below
 *     demand  5   7             2   9      most[k] = max(most[2k], most[2k + 1]) + later[k]
 *
 * What lies between the skyline and a plan's height beyond the demand is what may still be wasted there:
 * where the demand is largest, waste is dearest. Each change and each question costs O(log sections).
 */
#ifndef MASU_PLANNER_DEMAND_H
#define MASU_PLANNER_DEMAND_H

#include "planner/model/model.h"

typedef struct masu__demand_node {
    int64_t most, later;
} masu__demand_node;

typedef struct masu__demand {
    uint32_t leaves; /* a power of two */
    masu__demand_node *tree;
} masu__demand;

/* Nodes that a tree over so many sections needs. */
size_t masu__demand_nodes(uint32_t sections);

/* All of load (less floor, where there is one). nodes: as many as masu__demand_nodes says, borrowed. */
void masu__demand_open(masu__demand *demand, masu__demand_node *nodes, uint32_t sections, const int64_t *load,
                       const int64_t *floor);

/* Something of this size in sections [first, end), first < end, is placed. */
void masu__demand_lower(masu__demand *demand, uint32_t first, uint32_t end, int64_t size);

/* The largest in sections [first, end), first < end, and the first section that has it. */
int64_t masu__demand_most(const masu__demand *demand, uint32_t first, uint32_t end, uint32_t *where);

#endif
