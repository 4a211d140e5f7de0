/* demand.c: a tree of largest demands, changed over ranges. See demand.h. */
#include "planner/skyline/demand.h"

#define NEVER (INT64_MIN / 2) /* sections that are not there */

static uint32_t leaves_for(uint32_t sections) {
    uint32_t leaves = 2;
    while (leaves < sections)
        leaves *= 2;
    return leaves;
}

size_t masu__demand_nodes(uint32_t sections) {
    return 2 * (size_t)leaves_for(sections);
}

static void join(masu__demand_node *tree, uint32_t at) {
    int64_t a = tree[2 * at].most, b = tree[2 * at + 1].most;
    tree[at].most = (a > b ? a : b) + tree[at].later;
}

void masu__demand_open(masu__demand *d, masu__demand_node *nodes, uint32_t sections, const int64_t *load,
                       const int64_t *floor) {
    *d = (masu__demand){leaves_for(sections), nodes};
    for (uint32_t s = 0; s < d->leaves; s++)
        nodes[d->leaves + s] = (masu__demand_node){s >= sections ? NEVER : load[s] - (floor ? floor[s] : 0), 0};
    for (uint32_t k = d->leaves - 1; k > 0; k--) {
        nodes[k].later = 0;
        join(nodes, k);
    }
}

static void lower_node(masu__demand_node *node, int64_t size) {
    node->most -= size;
    node->later -= size;
}

void masu__demand_lower(masu__demand *d, uint32_t first, uint32_t end, int64_t size) {
    uint32_t l = first + d->leaves, h = end - 1 + d->leaves; /* both inclusive */
    lower_node(&d->tree[l], size);
    if (h != l)
        lower_node(&d->tree[h], size);
    for (; l / 2 != h / 2; join(d->tree, l), join(d->tree, h)) {
        if (l % 2 == 0)
            lower_node(&d->tree[l + 1], size);
        if (h % 2 == 1)
            lower_node(&d->tree[h - 1], size);
        l /= 2;
        h /= 2;
    }
    for (l /= 2; l > 0; l /= 2)
        join(d->tree, l);
}

typedef struct largest {
    int64_t demand; /* as seen from the node that the walk has reached */
    uint32_t node;  /* whose most that was */
} largest;

static uint32_t first_section(const masu__demand *d, uint32_t node) {
    while (node < d->leaves)
        node = d->tree[2 * node].most >= d->tree[2 * node + 1].most ? 2 * node : 2 * node + 1;
    return node - d->leaves;
}

int64_t masu__demand_most(const masu__demand *d, uint32_t first, uint32_t end, uint32_t *where) {
    uint32_t l = first + d->leaves, h = end - 1 + d->leaves;
    largest low = {d->tree[l].most, l}, high = {d->tree[h].most, h};
    for (; l / 2 != h / 2; low.demand += d->tree[l].later, high.demand += d->tree[h].later) {
        if (l % 2 == 0 && d->tree[l + 1].most > low.demand)
            low = (largest){d->tree[l + 1].most, l + 1};
        if (h % 2 == 1 && d->tree[h - 1].most >= high.demand)
            high = (largest){d->tree[h - 1].most, h - 1};
        l /= 2;
        h /= 2;
    }
    largest best = high.demand > low.demand ? high : low;
    for (l /= 2; l > 0; l /= 2)
        best.demand += d->tree[l].later;
    *where = first_section(d, best.node);
    return best.demand;
}
