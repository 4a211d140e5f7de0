/* table.c: the passes in order, and the driver that runs them.
 *
 * What the memory strategy was once drawn with, and where it is here:
 *
 *     shape inference                         shapes
 *     liveness                                liveness.c: what ownership, frames, growing and slots each ask of the
 *                                             text that they find; it changes nothing, so it is not a pass
 *     last use is a move                      lastuse, ownership
 *     parameters borrowed or owned            ownership, which makes a version of the function for each (specialise.c)
 *     destination-passing returns             tensors: destinations, frames, growing; structs have no container to
 *                                             pass: their fields come back in room of the caller's stack
 *                                             (codegen/call.c)
 *     deep clone on store, shallow on return  ownership: a store acquires what lives on, a return moves
 *     scopes released in reverse order        ownership: the youngest first wherever several values end
 *     an argument handed out                  identity
 *     pairs of counts cancelled               cancel; what lastuse and ownership decide leaves it none
 *     gradients cleared at the latch          lower/lower_loop.c, for the loops that lower/lower_grad.c finds: every
 *                                             later pass sees the call in the text; gradients, which says what is
 *                                             cleared there
 *     slots of temporaries                    frames and growing for their elements, slots for their owners
 *     a dying operand's buffer                reuse
 *     values without size are nothing         lower/lower_leaf.c: they have no leaves; IR_NOTHING (NULL) where a
 *                                             variant of an enum has nothing in another one's place
 *     Struct("Tensor") is the tensor type     front/check_types.c: the one place where names become types
 */
#include <string.h>

#include "base/assert.h"
#include "language/facts/tensor_facts.h"
#include "language/ir/store.h"
#include "language/pass/pass.h"

static const char AFTER[] = "after:";

static const pass table[] = {
#define PASS(name, summary, requires, establishes, optional, phase, run, otherwise) \
    {{#name, summary, requires, establishes, optional}, phase, run, otherwise},
#include "language/pass/passes.def"
#undef PASS
};

static const masu_pass_info infos[] = {
#define PASS(name, summary, requires, establishes, optional, phase, run, otherwise) \
    {#name, summary, requires, establishes, optional},
#include "language/pass/passes.def"
#undef PASS
};

enum { PASS_COUNT = sizeof table / sizeof table[0] };

const pass *pass_table(size_t *count) {
    *count = PASS_COUNT;
    return table;
}

const masu_pass_info *masu_passes(size_t *count) {
    *count = PASS_COUNT;
    return infos;
}

/* ---- options --------------------------------------------------------------------------------- */

static const pass *find(const char *name) {
    for (size_t p = 0; p < PASS_COUNT; p++)
        if (strcmp(table[p].info.name, name) == 0)
            return &table[p];
    return NULL;
}

static bool lists(const char *const *names, size_t count, const char *name) {
    for (size_t n = 0; n < count; n++)
        if (strcmp(names[n], name) == 0)
            return true;
    return false;
}

static bool options_valid(const pass_options *o) {
    for (size_t d = 0; d < o->disabled_count; d++) {
        const pass *p = find(o->disabled[d]);
        if (!p || !p->info.optional)
            return false;
    }
    for (size_t d = 0; d < o->dump_count; d++)
        if (strncmp(o->dumps[d], AFTER, strlen(AFTER)) == 0 && (!find(o->dumps[d] + strlen(AFTER)) || !o->dump))
            return false;
    return !o->verify || o->faults;
}

static bool wants_dump(const pass_options *o, const char *name) {
    for (size_t d = 0; d < o->dump_count; d++)
        if (strncmp(o->dumps[d], AFTER, strlen(AFTER)) == 0 && strcmp(o->dumps[d] + strlen(AFTER), name) == 0)
            return true;
    return false;
}

const tensor_facts *pass_facts(ir_module *m, pass_context *context) {
    if (m->out_of_memory)
        return NULL;
    if (context->facts && context->facts->m == m)
        return context->facts;
    context->facts = NULL;
    tensor_facts *facts = MASU_ARENA_NEW(&context->scratch, tensor_facts);
    if (facts && tensor_facts_compute(facts, m, &context->scratch))
        context->facts = facts;
    m->out_of_memory |= !context->facts;
    return context->facts;
}

/* ---- the driver ------------------------------------------------------------------------------ */

static masu_status verify(const ir_module *m, ir_phase phase, const char *when, const pass_options *o) {
    if (ir_verify(m, phase, o->faults))
        return MASU_OK;
    if (o->faults->failed)
        return MASU_ERR_OUT_OF_MEMORY;
    masu__buffer_printf(o->faults, "the verifier found this after `%s`\n", when);
    return MASU_ERR_INTERNAL;
}

static void count_instr(ir_tally *t, const ir_instr *i) {
    t->acquires += i->op == IR_ACQUIRE;
    t->releases += i->op == IR_RELEASE;
    t->rooted += i->op == IR_ROOT;
    t->over += i->reuse != 0;
    t->framed += i->place.bytes != 0;
    t->slotted += i->place.slot != 0;
    t->built += i->place.dest != 0;
    for (uint32_t r = 0; i->places && r < i->result_count; r++) {
        t->framed += i->places[r].bytes != 0;
        t->slotted += i->places[r].slot != 0;
    }
}

static void count_function(ir_module *m, ir_function *f, const char *name, ir_tally *total) {
    if (!f->tallies)
        f->tallies = ir_alloc(m, PASS_COUNT, sizeof *f->tallies);
    if (!f->tallies)
        return;
    MASU_DEBUG_ASSERT(f->tally_count < PASS_COUNT);
    ir_tally *t = &f->tallies[f->tally_count++];
    t->pass = name;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next)
            count_instr(t, i);
    total->acquires += t->acquires;
    total->releases += t->releases;
    total->over += t->over;
    total->framed += t->framed;
    total->slotted += t->slotted;
    total->built += t->built;
    total->rooted += t->rooted;
}

/* For listings: what the pass left behind. */
static void tally(ir_module *m, const char *name) {
    if (!m->tallies)
        m->tallies = ir_alloc(m, PASS_COUNT, sizeof *m->tallies);
    if (!m->tallies)
        return;
    ir_tally *t = &m->tallies[m->tally_count++];
    t->pass = name;
    for (uint32_t f = 0; f < m->function_count; f++)
        count_function(m, m->functions[f], name, t);
}

static masu_status run_one(ir_module *m, const pass *p, pass_context *context, const pass_options *o) {
    if (!lists(o->disabled, o->disabled_count, p->info.name))
        p->run(m, context);
    else if (p->otherwise)
        p->otherwise(m, context);
    tally(m, p->info.name);
    if (m->out_of_memory)
        return MASU_ERR_OUT_OF_MEMORY;
    if (wants_dump(o, p->info.name))
        ir_print_module(m, o->dump);
    if (context->error_count > 0)
        return MASU_ERR_SHAPE_MISMATCH;
    return o->verify ? verify(m, p->phase, p->info.name, o) : MASU_OK;
}

masu_status pass_run_all(ir_module *m, const pass_options *options) {
    if (!options_valid(options))
        return MASU_ERR_INVALID_ARGUMENT;
    if (m->out_of_memory)
        return MASU_ERR_OUT_OF_MEMORY;
    pass_context context = {.report = options->report, .user = options->user};
    masu_status status = options->verify ? verify(m, IR_PHASE_BUILT, "lowering", options) : MASU_OK;
    if (status == MASU_OK)
        pass_find_moved(m, &context);
    if (status == MASU_OK && context.error_count > 0)
        status = MASU_ERR_TYPE;
    for (size_t p = 0; p < PASS_COUNT && status == MASU_OK; p++) {
        MASU_DEBUG_ASSERT(p == 0 || table[p].phase >= table[p - 1].phase); /* what holds is not lost again */
        status = run_one(m, &table[p], &context, options);
    }
    masu__arena_destroy(&context.scratch);
    pass_instruments what = {options->audit, options->by_line,
                             lists(options->disabled, options->disabled_count, "lastuse")};
    if (status == MASU_OK && (what.audit || what.by_line)) {
        pass_instrument(m, what);
        status = m->out_of_memory  ? MASU_ERR_OUT_OF_MEMORY
                 : options->verify ? verify(m, IR_PHASE_ROOTED, "instruments", options)
                                   : MASU_OK;
    }
    if (status == MASU_OK && options->dump && options->dump->failed)
        status = MASU_ERR_OUT_OF_MEMORY;
    return status;
}

masu_status pass_run_diagnosis(ir_module *m, pass_report report, void *user) {
    pass_context context = {.report = report, .user = user};
    pass_find_moved(m, &context);
    if (!m->out_of_memory)
        pass_fold(m, &context);
    if (!m->out_of_memory)
        pass_shapes(m, &context);
    if (m->out_of_memory)
        return MASU_ERR_OUT_OF_MEMORY;
    return context.error_count > 0 ? MASU_ERR_SHAPE_MISMATCH : MASU_OK;
}

/* ---- counts ---------------------------------------------------------------------------------- */

pass_counts pass_count(const ir_function *f) {
    pass_counts counts = {.slots = f->slot_count, .bound = f->slot_bound};
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            counts.acquires += i->op == IR_ACQUIRE;
            counts.releases += i->op == IR_RELEASE;
        }
    }
    return counts;
}
