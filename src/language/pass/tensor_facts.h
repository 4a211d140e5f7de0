/* tensor_facts.h: what is known of tensors besides their shape, over the whole program.
 *
 *     tracked     it may carry history: operations on it may keep its elements for backward
 *     dtype       the type of its elements, when every way of reaching it agrees
 *     kept        of a parameter: the function may keep it, or its elements, beyond the call
 *
 * Facts are optimistic while they are computed, and only ever lose: so this ends.
 */
#ifndef MASU_LANGUAGE_TENSOR_FACTS_H
#define MASU_LANGUAGE_TENSOR_FACTS_H

#include "language/ir/ir.h"

enum { DTYPE_IS_UNSET = TL_DTYPE_COUNT, DTYPE_IS_UNKNOWN };

typedef struct tensor_fact {
    bool tracked, kept;
    uint8_t dtype; /* tl_dtype, or one of the above */
} tensor_fact;

typedef struct tensor_facts {
    const ir_module *m;
    tensor_fact **values;  /* by function id, by value */
    tensor_fact **results; /* by function id, by result */
    bool *recursive;       /* by function id: a call of it may call it again */
} tensor_facts;

/* Of a module after `ownership`. False when memory runs out. O(sweeps x instructions); there are
 * about as many sweeps as calls are deep where facts flow against the order of the functions. */
bool tensor_facts_compute(tensor_facts *facts, const ir_module *m, masu__arena *scratch);

/* Whether i may keep its operand, or the operand's elements, beyond its own end. */
bool tensor_facts_keeps(const tensor_facts *facts, const ir_function *f, const ir_instr *i,
                        uint32_t operand);

/* An operation that fills a buffer of its own and hands out nothing else. */
bool tensor_makes_fresh(const ir_instr *i);

/* Element by element, so that the result may be written over an operand of its shape. */
bool tensor_is_elementwise(const ir_instr *i);

/* No tensor that i reads may be tracked. */
bool tensor_reads_plain(const tensor_facts *facts, const ir_function *f, const ir_instr *i);

#endif
