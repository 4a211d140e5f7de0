/* destinations.c: results are built where the caller wants them.
 *
 *     fn mk() -> Tensor {             the caller has room for what it will get (frames, growing);
 *         let t = Tensor::ones([4]);  so t's elements lie there from the beginning
 *         return t;
 *     }
 *     let a = mk();                   and stay where they are when mk's frame goes
 *
 * Here only: which operations make what leaves as a certain result, and which results of calls go on as one. Whether a
 * caller has room differs from call to call, so that is said when the program runs; where it has none, the elements lie
 * in a pool as ever.
 *
 * Structs need nothing of this: they fall apart into their fields, several of which the caller receives in room of its
 * own stack (codegen/call.c).
 *
 *     a tensor is built as result r  =>  no way out of the function takes it elsewhere, or out as another result too
 *
 * The place is given once a call. A second tensor that the same call makes for it (in a loop: the first may be alive
 * still) lies in a pool; so the place is never written while it is read. It is not an argument's: the caller's plan
 * keeps what a call reads and what it yields apart.
 */
#include "language/facts/places.h"
#include "language/ir/cfg.h"
#include "language/ir/store.h"
#include "language/pass/pass.h"

/* 1 + the only result as which v leaves; 0: it stays, or goes elsewhere, or is held by history. */
static uint32_t only_result(const tensor_facts *facts, const ir_function *f, ir_value v) {
    const tensor_fact *fact = &facts->values[f->id][v];
    if (ir_type_of(f, v) != IR_TENSOR || fact->tracked || fact->kept || fact->returned == 0 ||
        (fact->returned & (fact->returned - 1)) != 0)
        return 0;
    return (uint32_t)__builtin_ctz(fact->returned) + 1;
}

static void build(ir_function *f, ir_place *place, uint32_t dest) {
    place->dest = dest;
    if (dest)
        f->built |= (uint32_t)1 << (dest - 1);
}

/* Hands on the place that this function's caller wants its result in. */
static void hand_on(ir_module *m, const tensor_facts *facts, ir_function *f, ir_instr *i) {
    for (uint32_t r = 0; r < i->result_count; r++) {
        uint32_t dest = ir_builds(i->callee, r) ? only_result(facts, f, i->result + r) : 0;
        if (dest && !i->places)
            i->places = ir_alloc(m, i->result_count, sizeof *i->places);
        if (dest && i->places)
            build(f, &i->places[r], dest);
    }
}

static void mark(ir_module *m, const tensor_facts *facts, ir_function *f) {
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (ir_instr *i = f->blocks[b]->first; i; i = i->next)
            if (i->op == IR_CALL)
                hand_on(m, facts, f, i);
            else if (tensor_makes_fresh(f, i) && tensor_reads_plain(facts, f, i))
                build(f, &i->place, only_result(facts, f, i->result));
    }
}

/* A result may be written over a tensor that only lives until then: that one begins where it will end. */
static void begin_there(const tensor_facts *facts, ir_function *f, const ir_instr *i) {
    ir_instr *from = i->reuse ? f->values[i->reuse].def : NULL;
    if (from && i->place.dest && from->result_count == 1 && tensor_makes_fresh(f, from) &&
        tensor_reads_plain(facts, f, from) && place_is_private(facts, f, i->reuse))
        from->place.dest = i->place.dest;
}

static bool mark_chains(const tensor_facts *facts, ir_function *f) {
    masu__arena scratch = {0};
    ir_order order;
    bool ordered = ir_order_compute(&order, f, &scratch);
    for (uint32_t b = ordered ? order.count : 0; b-- > 0;)
        for (const ir_instr *i = order.blocks[b]->last; i; i = i->prev)
            begin_there(facts, f, i);
    masu__arena_destroy(&scratch);
    return ordered;
}

/* Callees first. A function that calls itself meets its own results unfinished: those are then in a pool. */
void pass_destinations(ir_module *m, pass_context *context) {
    const tensor_facts *facts = pass_facts(m, context);
    for (uint32_t k = 0; facts && k < facts->order_count; k++)
        if (!m->functions[facts->order[k]]->is_kernel) {
            mark(m, facts, m->functions[facts->order[k]]);
            m->out_of_memory |= !mark_chains(facts, m->functions[facts->order[k]]);
        }
}
