/* cfg.h: order and dominance of a function's blocks. Shared inside ir/ and pass/.
 *
 *            b0                 order      b0 b1 b3 b2 b4       every block before those it dominates
 *           /  \                tree       b0 ─┬ b1
 *         b1    b3                             ├ b3
 *           \  /                               └ b2 ─ b4
 *            b2 ─ b4            a dominates b  ==  first[a] <= first[b] && last[b] <= last[a]
 *
 * Both describe the function as it was when they were computed; they live in the given scratch
 * arena.
 */
#ifndef MASU_LANGUAGE_IR_CFG_H
#define MASU_LANGUAGE_IR_CFG_H

#include "language/ir/ir.h"

typedef struct ir_order {
    uint32_t count;     /* reachable blocks */
    ir_block **blocks;  /* reverse postorder; [0] is the entry */
    uint32_t *position; /* by block id; UINT32_MAX for unreachable blocks */
} ir_order;

typedef struct ir_dominators {
    const ir_order *order;
    uint32_t *parent; /* by position: immediate dominator's position; the entry is its own */
    uint32_t *first;  /* by position: interval of the dominator tree's preorder */
    uint32_t *last;
    ir_block **preorder; /* of the dominator tree */
} ir_dominators;

/* False when memory runs out. O(blocks + edges). */
bool ir_order_compute(ir_order *order, const ir_function *f, masu__arena *scratch);

/* After Cooper, Harvey and Kennedy. */
bool ir_dominators_compute(ir_dominators *d, const ir_order *order, masu__arena *scratch);

/* Both reachable. O(1). */
bool ir_dominates(const ir_dominators *d, const ir_block *a, const ir_block *b);

#endif
