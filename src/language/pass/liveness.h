/* liveness.h: which managed values are needed at the borders of blocks.
 *
 *     out(b) = union of in(s) over the successors s of b
 *     in(b)  = used(b) + (out(b) - defined(b))
 *
 * Used are operands and arguments of jumps; a block's parameters are defined at its start. Only values that are used outside
 * the block of their definition are tracked: all others begin and end inside one block, where a scan sees
 * them. Sets are rows of bits over the tracked values.
 */
#ifndef MASU_LANGUAGE_LIVENESS_H
#define MASU_LANGUAGE_LIVENESS_H

#include "language/ir/ir.h"

typedef struct liveness {
    const ir_function *function;
    uint32_t tracked;
    uint32_t words;     /* of one row */
    uint32_t *index;    /* by value: 1 + position among the tracked, 0 for others */
    ir_value *values;   /* by position, ascending */
    uint64_t *in, *out; /* a row for each block */
} liveness;

/* False when memory runs out. O(instructions + blocks * tracked / 64 * nesting). */
bool liveness_compute(liveness *l, const ir_function *f, masu__arena *scratch);

static inline bool liveness_row_has(const liveness *l, const uint64_t *rows, const ir_block *b, ir_value v) {
    uint32_t at = l->index[v];
    return at && rows[(size_t)b->id * l->words + (at - 1) / 64] >> (at - 1) % 64 & 1;
}
static inline bool liveness_in(const liveness *l, const ir_block *b, ir_value v) {
    return liveness_row_has(l, l->in, b, v);
}
static inline bool liveness_out(const liveness *l, const ir_block *b, ir_value v) {
    return liveness_row_has(l, l->out, b, v);
}

/* Writes the members of a block's row, ascending, to list (room for l->tracked); the number of them. */
uint32_t liveness_list(const liveness *l, const uint64_t *rows, const ir_block *b, ir_value *list);

#endif
