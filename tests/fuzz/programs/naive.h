/* naive.h: tensors as slow and obvious as can be, for the interpreter to compute with.
 *
 *     tensor ─► elements ─► cell ─┬─► cell …     one cell a number; each remembers the at most two numbers
 *        │                        └─► cell …     it was computed from, and by what slope
 *        └────► history                          what backward marks as spent
 *
 * Nothing is ever changed or freed: every operation makes new tensors, and all memory goes at once with the run.
 * A view is the same cells in another order. Gradients come from the cells alone, one number after the other, in
 * the opposite order of their making: no rule of any operation on tensors is known here. Histories answer one question
 * only: whether a backward has already used up what another one needs.
 *
 * It shares no code with the runtime but the names of the types and the arena and buffer of base.
 */
#ifndef MASU_FUZZ_NAIVE_H
#define MASU_FUZZ_NAIVE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include <masu/abi.h>

typedef struct cell cell;
typedef struct history history;

struct cell {
    double v;
    cell *from[2];
    double slope[2];
    double gradient;
    uint64_t order; /* of making */
    history *leaf;  /* whose element `index` this is, or NULL */
    int64_t index;
    uint64_t seen; /* the backward that last met it */
};

struct history {
    bool is_leaf, spent;
    history **inputs;
    int input_count;
    uint64_t seen;
    /* of a leaf */
    double *gradient; /* NULL: none */
    int64_t count;
    uint32_t gathered_depth, ends_depth;
    bool read, consumed;
    history *next_leaf; /* of all */
};

typedef struct tensor {
    tl_dtype dtype;
    int rank;
    int64_t shape[TL_MAX_RANK];
    int64_t count;
    cell **e;
    history *node;        /* NULL: untracked */
    history *gradient_of; /* the leaf whose gradient this is as it was read; else NULL */
} tensor;

typedef struct naive {
    masu__arena arena;
    masu__buffer out;
    jmp_buf ended;
    char error[200];  /* of the program; empty: none */
    bool unsupported; /* the interpreter's own limit: nothing is said about the program */
    uint64_t made, passes;
    uint32_t grad_depth;
    bool grads_kept;
    bool is_program; /* its compiler keeps gradients of results that are read, which the tape does not know */
    history *leaves;
} naive;

/* Ends the run. */
_Noreturn void naive_fail(naive *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void naive_unsupported(naive *n, const char *what);
void *naive_room(naive *n, size_t bytes); /* zeroed */

cell *naive_number(naive *n, tl_dtype dtype, double v);
cell *naive_made(naive *n, tl_dtype dtype, double v, cell *a, double slope_a, cell *b, double slope_b);
tensor *naive_tensor(naive *n, tl_dtype dtype, int rank, const int64_t *shape);
tensor *naive_full(naive *n, tl_dtype dtype, int rank, const int64_t *shape, double v);
/* Gives t a history when one of inputs has one and t can have gradients. */
tensor *naive_record(naive *n, tensor *t, int input_count, tensor *const *inputs);
tensor *naive_detach(naive *n, const tensor *t, bool track);
void naive_backward(naive *n, tensor *t, bool keep);
tensor *naive_grad(naive *n, tensor *t);
void naive_clear_grads(naive *n);
void naive_consume(tensor *gradient, bool last);

/* naive_operations.c. What the ABI function does with these tensors and numbers; false: it is not known here. */
typedef struct naive_call {
    tl_abi_index abi;
    tensor *t[8]; /* the fixed operands by their place */
    double number[8];
    tensor **tensors; /* the list, whichever kind it has */
    double *numbers;
    int64_t list_count;
} naive_call;

/* naive_parts.c */
tensor *naive_put(naive *n, tensor *t, const tensor *value, int64_t count, const double *bounds);
void naive_print(naive *n, const tensor *t);

bool naive_operate(naive *n, const naive_call *call, tensor **result, double *number);
int64_t naive_offset(naive *n, const tensor *t, int64_t count, const double *index);

#endif
