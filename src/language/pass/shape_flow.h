/* shape_flow.h: what the inference of shapes (shapes.c) and the search for faults (shape_faults.c) share: the facts of
 * every function while they are being computed.
 */
#ifndef MASU_LANGUAGE_SHAPE_FLOW_H
#define MASU_LANGUAGE_SHAPE_FLOW_H

#include <string.h>

#include "language/facts/shape_facts.h"
#include "language/facts/shape_users.h"
#include "language/ir/cfg.h"
#include "language/pass/pass.h"

typedef struct caller { /* one call */
    ir_function *function;
    const ir_instr *call;
    struct caller *next;
} caller;

typedef struct function_facts {
    shape_fact *facts;           /* by value */
    number_fact *numbers;        /* by value */
    shape_fact *results;         /* by result */
    number_fact *number_results; /* by result */
    bool *taken;                 /* by block: something leads there */
    bool *stale;                 /* by place in the order: facts that it reads have changed */
    uint32_t next;               /* no place before it is stale */
    value_users users;
    ir_order order;
    bool reached, queued, is_flowing;
    bool of_kernel; /* a kernel calls it */
    bool refuses;   /* some operands, by `__refuse` in its own body */
    caller *callers;
} function_facts;

typedef struct shaper {
    ir_module *m;
    pass_context *context;
    masu__arena scratch;
    masu__arena calls; /* of shape_faults.c */
    shape_symbols symbols;
    function_facts *all; /* by function id */
    ir_function **queue; /* a ring with room for every function */
    uint32_t first, queued;
    uint32_t depth; /* of calls that are followed at once */
    bool changed;   /* some fact, since it was last asked */
} shaper;

static inline function_facts *shape_facts_of(const shaper *s, const ir_function *f) {
    return &s->all[f->id];
}

static inline shape_query shape_query_of(shaper *s, const ir_function *f, const ir_instr *i) {
    const function_facts *ff = shape_facts_of(s, f);
    return (shape_query){.f = f, .i = i, .facts = ff->facts, .numbers = ff->numbers, .symbols = &s->symbols};
}

/* Until nothing of the function is stale any more. */
void shape_flow_function(shaper *s, const ir_function *f);

/* Reports what fails whenever it is reached. */
void shape_find_faults(shaper *s, const ir_function *f);

/* Written in the library of the language: its faults are those of the call. */
static inline bool shape_is_library(const ir_function *f) {
    return f->span.file && strcmp(f->span.file->path, "<prelude>") == 0;
}

/* Runs a call of f that leads to the library on shapes (shape_trial.c). Where every way through it fails, fills `fault`
 * (zeroed before) with the first failure, in terms of the call's arguments. Costs a bounded number of blocks. */
void shape_try_call(shaper *s, const ir_function *f, const ir_instr *call, shape_fault *fault);

#endif
