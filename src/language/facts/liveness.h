/* liveness.h: which managed values are needed at the borders of blocks.
 *
 *     out(b) = union of in(s) over the successors s of b
 *     in(b)  = used(b) + (out(b) - defined(b))
 *
 * Used are operands and arguments of jumps; a block's parameters are defined at its start. Values
 * that are used only in the block of their definition are in no set: a scan of the block sees
 * them.
 *
 * The sets are found value by value, walking from each use upwards to the definition, so that
 * time and space follow the size of the answer: a long function of short-lived values costs no
 * more than several short ones. (Rows of bits would cost blocks times values, however empty they
 * are.)
 */
#ifndef MASU_LANGUAGE_LIVENESS_H
#define MASU_LANGUAGE_LIVENESS_H

#include "language/ir/ir.h"

typedef struct liveness_set { /* ascending */
    const ir_value *values;
    uint32_t count;
} liveness_set;

typedef struct liveness {
    liveness_set *in; /* by block id; out is what the successors' sets hold */
} liveness;

/* False when memory runs out. O(instructions + blocks + sizes of all sets). Every block must be
 * reachable. */
bool liveness_compute(liveness *l, const ir_function *f, masu__arena *scratch);

/* The same without releases and the other instructions of the ownership passes; releases count when `scoped`. */
bool liveness_compute_used(liveness *l, const ir_function *f, bool scoped, masu__arena *scratch);

/* O(log count). */
bool liveness_has(liveness_set set, ir_value v);

#endif
