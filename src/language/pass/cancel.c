/* cancel.c: counts that are taken and given back with nothing in between that needs them.
 *
 *     acquire %1                         acquire %1
 *     tl_print_tensor %1                 call keep(own %1)
 *     release %1                         release %1
 *
 *     tl_print_tensor %1                 call keep(own %1)      %1 moves: it is not read before the release
 *
 * `ownership` makes no such pairs where values end at their last use: it acquires only what is needed behind whatever
 * takes it. They are in text that was written otherwise, and this is the pass that a later one may rely on when it
 * leaves a pair behind.
 *
 * A pair lies in one block. Between its ends nothing may take the value, or exactly one operation that the function's
 * own count can go to: then the value is owned, no other count of it is taken in between, and nothing reads it behind
 * that operation.
 *
 *     counts of a value at every point: as many as before outside pairs, one less inside;
 *                                       never below one where it is read
 */
#include "base/assert.h"
#include "language/pass/pass.h"

typedef struct scan {      /* from an acquire on */
    const ir_instr *taker; /* of the value, since; NULL: none */
    bool stuck;            /* something needs the count */
} scan;

static uint32_t takes_of(const ir_instr *i, ir_value v, uint32_t *reads) {
    uint32_t takes = 0;
    *reads = 0;
    for (uint32_t a = 0; a < i->arg_count; a++) {
        if (i->args[a] != v)
            continue;
        takes += ir_consumes(i, a);
        *reads += !ir_consumes(i, a);
    }
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++)
            takes += i->target[t].args[a] == v;
    return takes;
}

static void step(scan *s, const ir_function *f, const ir_instr *i, ir_value v) {
    uint32_t reads, takes = takes_of(i, v, &reads);
    s->stuck |= i->op == IR_ACQUIRE && i->args[0] == v;
    s->stuck |= s->taker && (takes > 0 || reads > 0);
    s->stuck |= takes > 1 || (takes == 1 && (reads > 0 || f->values[v].borrowed));
    if (takes == 1)
        s->taker = i;
}

/* The release that the acquire is good for nothing without; NULL: it is needed. */
static ir_instr *partner_of(const ir_function *f, const ir_instr *acquire) {
    ir_value v = acquire->args[0];
    scan s = {0};
    for (ir_instr *i = acquire->next; i && !s.stuck; i = i->next) {
        if (i->op == IR_RELEASE && i->args[0] == v)
            return i;
        step(&s, f, i, v);
    }
    return NULL;
}

/* Backwards, so that of nested pairs the inner one is gone when the outer one is looked at. */
static void cancel_in(const ir_function *f, ir_block *b) {
    for (ir_instr *i = b->last, *before; i; i = before) {
        before = i->prev;
        ir_instr *partner = i->op == IR_ACQUIRE ? partner_of(f, i) : NULL;
        if (!partner)
            continue;
        MASU_DEBUG_ASSERT(partner->block == b && partner->op == IR_RELEASE && partner->args[0] == i->args[0]);
        ir_remove(partner);
        ir_remove(i);
    }
}

void pass_cancel(ir_module *m, pass_context *context) {
    (void)context;
    for (uint32_t n = 0; n < m->function_count; n++)
        for (uint32_t b = 0; b < m->functions[n]->block_count; b++)
            cancel_in(m->functions[n], m->functions[n]->blocks[b]);
}
