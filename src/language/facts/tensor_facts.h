/* tensor_facts.h: what is known of tensors besides their shape, over the whole program.
 *
 *     tracked     it may carry history: operations on it may keep its elements for backward
 *     dtype       the type of its elements, when every way of reaching it agrees
 *     kept        something may hold it, or its elements, beyond what this function's text shows of it
 *     returned    the results of the function that it, or its elements, may leave in; of a parameter: so the caller's
 *                 value may go on in the results of the call
 *
 * Elements go from value to value without being copied: into a view, a parameter of a block, the result of a call.
 * Facts of where they end flow against that, from the last to the first.
 *
 *     let v = t.transpose(0, 1);     v kept or returned  =>  t kept or returned
 *
 * Facts are optimistic while they are computed, and only ever lose: so this ends.
 */
#ifndef MASU_LANGUAGE_TENSOR_FACTS_H
#define MASU_LANGUAGE_TENSOR_FACTS_H

#include "language/ir/ir.h"

enum { DTYPE_IS_UNSET = TL_DTYPE_COUNT, DTYPE_IS_UNKNOWN };

typedef struct tensor_fact {
    bool tracked, kept;
    uint8_t dtype;     /* tl_dtype, or one of the above */
    uint32_t returned; /* bit r: in result r of the function */
} tensor_fact;

typedef struct tensor_facts {
    const ir_module *m;
    tensor_fact **values;  /* by function id, by value */
    tensor_fact **results; /* by function id, by result */
    tensor_fact stored;    /* of whatever any vector holds */
    bool *recursive;       /* by function id: a call of it may call it again */
    uint32_t *order;       /* ids of functions with blocks, callees before their callers */
    uint32_t order_count;
} tensor_facts;

/* The facts of a module after `ownership`. False when memory runs out. O(sweeps x instructions); there are
 * about as many sweeps as calls are deep where facts flow against the order of the functions. */
bool tensor_facts_compute(tensor_facts *facts, const ir_module *m, masu__arena *scratch);

/* Calls visit for each pair of tensors of which `to` may be the elements of `from` because of i: a view, the result of
 * a call that hands its argument on, a parameter of a block. */
typedef void tensor_flow_visit(void *user, ir_value from, ir_value to);
void tensor_flows(const tensor_facts *facts, const ir_function *f, const ir_instr *i, tensor_flow_visit *visit,
                  void *user);

/* An operation that fills a buffer of its own, at least where it does not share one. */
bool tensor_makes_fresh(const ir_function *f, const ir_instr *i);

/* The elements of an operation's result by its rule, from those of its first tensor and the widest of those that count:
 * all of them, of DTYPE_CHOICE all but the first. TL_DTYPE_COUNT: the rule does not say. */
tl_dtype tensor_dtype_by_rule(tl_dtype_rule rule, tl_dtype first, tl_dtype widest);

/* Element by element, so that the result may be written over an operand of its shape. */
bool tensor_is_elementwise(const ir_instr *i);

/* No tensor that i reads may be tracked. */
bool tensor_reads_plain(const tensor_facts *facts, const ir_function *f, const ir_instr *i);

/* tensor_kinds.c: of an operation; 0 when it is not listed. */
enum {
    TENSOR_ELEMENTWISE = 1,
    TENSOR_FRESH = 2,
    TENSOR_READS = 4,
    TENSOR_SHARES = 8,
    TENSOR_KEEPS = 16,
    TENSOR_WORKS = 32
};
unsigned tensor_kind_of(tl_abi_index function);
unsigned tensor_kind(const ir_instr *i);

#endif
