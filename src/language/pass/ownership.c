/* ownership.c: decides, for every managed value and every point of the program, who owns it.
 *
 * Before: operations name the values they use. After: every count that a function owns is given
 * away exactly once on every path, and everything that keeps a value alive is in the text.
 *
 *     %3 used last by an operation that reads it          release %3 right behind it
 *     %3 used last by one that takes it                   nothing: it moves
 *     %3 taken, but needed afterwards, or only borrowed   acquire %3 before
 *     %3 needed on one way out of a branch only           release %3 where the other way begins
 *     %3 = … not used at all                              release %3 at once
 *     call f(%3), %3 dies there                           handed over: f releases it at its own last use of it
 *     call f(%3), %3 lives on                             lent: no count is touched
 *
 * So there is no scope to leave and no flag to test: where values die is a matter of the
 * control-flow graph, whose edges have been split so that "where the other way begins" is a block
 * of its own.
 *
 * One scan backwards over each block, from what is live at its end to what is live at its start.
 * O(instructions + live values at borders) for each version of a function.
 */
#include "base/assert.h"
#include "language/facts/liveness.h"
#include "language/ir/edit.h"
#include "language/ir/store.h"
#include "language/pass/pass.h"
#include "language/pass/specialise.h"

typedef struct use { /* of one value by one instruction */
    uint32_t takes, reads;
} use;

typedef struct owner {
    specialiser *s;
    ir_module *m;
    ir_function *f;
    masu__arena scratch; /* emptied after each function */
    liveness l;
    bool *live;    /* by value, at the point of the scan */
    ir_value *lit; /* values whose live[] may be set */
    uint32_t lit_count;
    use *uses;          /* by value, of the instruction under the scan */
    ir_value *operands; /* its distinct managed operands in order */
    uint32_t operand_count;
} owner;

static bool is_managed(const owner *o, ir_value v) {
    return ir_type_managed(ir_type_of(o->f, v));
}

static bool is_mine(const owner *o, ir_value v) {
    return !o->f->values[v].borrowed;
}

static void set_live(owner *o, ir_value v) {
    if (o->live[v])
        return;
    o->live[v] = true;
    o->lit[o->lit_count++] = v;
}

static ir_instr *counting(owner *o, ir_opcode op, ir_value v) {
    return ir_instr_new(o->f, op, &v, 1, NULL, 0, (source_span){0});
}

/* An IR_KEEP reads its value and stays: in a loop without end it may be the only one that does,
 * and `slots` still has to see that the value is owned. */

/* ---- one instruction ------------------------------------------------------------------------- */

static void note(owner *o, ir_value v, bool takes) {
    if (!is_managed(o, v))
        return;
    use *u = &o->uses[v];
    if (u->takes + u->reads == 0)
        o->operands[o->operand_count++] = v;
    u->takes += takes;
    u->reads += !takes;
}

static void note_operands(owner *o, const ir_instr *i) {
    o->operand_count = 0;
    for (uint32_t a = 0; a < i->arg_count; a++)
        note(o, i->args[a], ir_consumes(i, a));
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++)
            note(o, i->target[t].args[a], true);
}

/* An argument that dies at the call is handed over, any other is lent. */
static void choose_version(owner *o, ir_instr *call) {
    bool *owned = ir_alloc(o->m, call->arg_count, sizeof *owned);
    if (!owned)
        return;
    for (uint32_t a = 0; a < call->arg_count; a++)
        owned[a] = is_managed(o, call->args[a]) && is_mine(o, call->args[a]) && !o->live[call->args[a]];
    MASU_DEBUG_ASSERT(call->arg_count == call->callee->param_count);
    ir_function *version = specialise(o->s, call->callee, owned);
    if (!version)
        return;
    call->callee = version;
    call->owned = owned;
}

/* An operation that takes a value and reads it in the same breath must find it alive when it is
 * done with what it took. */
static void settle_operand(owner *o, ir_instr *i, ir_value v) {
    use u = o->uses[v];
    MASU_DEBUG_ASSERT(u.takes + u.reads > 0); /* each operand is settled once */
    o->uses[v] = (use){0};
    bool dies = is_mine(o, v) && !o->live[v];
    bool moves = dies && u.takes > 0 && u.reads == 0;
    for (uint32_t k = moves; k < u.takes; k++)
        ir_insert_before(i, counting(o, IR_ACQUIRE, v));
    if (dies && !moves)
        ir_insert_after(i, counting(o, IR_RELEASE, v));
}

static void settle_results(owner *o, ir_instr *i) {
    for (uint32_t r = i->result_count; r-- > 0;) {
        ir_value v = i->result + r;
        if (is_managed(o, v) && !o->live[v])
            ir_insert_after(i, counting(o, IR_RELEASE, v));
        o->live[v] = false;
    }
}

static void settle(owner *o, ir_instr *i) {
    settle_results(o, i);
    if (i->op == IR_CALL)
        choose_version(o, i);
    note_operands(o, i);
    for (uint32_t k = o->operand_count; k-- > 0;)
        settle_operand(o, i, o->operands[k]);
    for (uint32_t k = 0; k < o->operand_count; k++)
        set_live(o, o->operands[k]);
}

/* ---- one block ------------------------------------------------------------------------------- */

static void begin_at_end(owner *o, const ir_block *b) {
    while (o->lit_count > 0)
        o->live[o->lit[--o->lit_count]] = false;
    for (int t = 0; t < ir_target_count(b->last); t++) {
        liveness_set in = o->l.in[b->last->target[t].block->id];
        for (uint32_t k = 0; k < in.count; k++)
            set_live(o, in.values[k]);
    }
}

static void release_unused(owner *o, ir_instr *before, const ir_value *values, uint32_t count) {
    for (uint32_t k = 0; k < count; k++)
        if (is_managed(o, values[k]) && is_mine(o, values[k]) && !o->live[values[k]])
            ir_insert_before(before, counting(o, IR_RELEASE, values[k]));
}

/* Values needed on the other way out of the only predecessor and not on this one. Youngest
 * first, as scopes are left. */
static void release_lost(owner *o, ir_instr *before, const ir_block *b) {
    const ir_instr *branch = b->preds[0]->last;
    MASU_DEBUG_ASSERT(ir_target_count(branch) > 0); /* "where the other way begins" is a block of its own */
    for (int t = 0; t < ir_target_count(branch); t++) {
        liveness_set other = o->l.in[branch->target[t].block->id];
        for (uint32_t k = branch->target[t].block == b ? 0 : other.count; k-- > 0;)
            if (is_mine(o, other.values[k]) && !liveness_has(o->l.in[b->id], other.values[k]))
                ir_insert_before(before, counting(o, IR_RELEASE, other.values[k]));
    }
}

static void settle_start(owner *o, ir_block *b) {
    ir_instr *first = b->first;
    release_unused(o, first, b->params, b->param_count);
    if (b->id == 0)
        release_unused(o, first, o->f->params, o->f->param_count);
    else if (b->pred_count == 1)
        release_lost(o, first, b);
}

static void settle_block(owner *o, ir_block *b) {
    begin_at_end(o, b);
    for (ir_instr *i = b->last, *before; i; i = before) {
        before = i->prev;
        settle(o, i);
    }
    settle_start(o, b);
}

/* ---- one function ---------------------------------------------------------------------------- */

static uint32_t most_operands(const ir_function *f) {
    uint32_t most = 0;
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            uint32_t count = i->arg_count;
            for (int t = 0; t < ir_target_count(i); t++)
                count += i->target[t].count;
            most = count > most ? count : most;
        }
    }
    return most;
}

static bool prepare(owner *o) {
    uint32_t n = o->f->value_count;
    o->lit_count = 0;
    o->live = MASU_ARENA_ARRAY(&o->scratch, bool, n);
    o->lit = MASU_ARENA_ARRAY(&o->scratch, ir_value, n);
    o->uses = MASU_ARENA_ARRAY(&o->scratch, use, n);
    o->operands = MASU_ARENA_ARRAY(&o->scratch, ir_value, most_operands(o->f));
    return o->live && o->lit && o->uses && o->operands && liveness_compute(&o->l, o->f, &o->scratch);
}

static void settle_function(owner *o) {
    if (prepare(o))
        for (uint32_t b = o->f->block_count; b-- > 0 && !o->m->out_of_memory;)
            settle_block(o, o->f->blocks[b]);
    else
        o->m->out_of_memory = true;
    masu__arena_destroy(&o->scratch);
}

/* ---- the module ------------------------------------------------------------------------------ */

/* A value that is carried around a loop without being used there would be kept alive by it; so
 * such parameters go first. */
static void shape_graph(ir_function *f) {
    ir_remove_unreachable_blocks(f);
    ir_simplify_params(f);
    ir_merge_chains(f);
    ir_split_critical_edges(f);
}

/* Without main (a file that is only checked) every function is taken as if called with arguments
 * that live on. */
static void add_roots(specialiser *s) {
    uint32_t most = 0;
    for (uint32_t f = 0; f < s->m->function_count; f++)
        if (s->m->functions[f]->param_count > most)
            most = s->m->functions[f]->param_count;
    bool *lent = MASU_ARENA_ARRAY(s->scratch, bool, most);
    s->m->out_of_memory |= !lent;
    if (s->m->main && lent)
        specialise(s, s->m->main, lent);
    for (uint32_t f = 0; !s->m->main && lent && f < s->m->function_count; f++)
        if (!s->m->functions[f]->is_kernel)
            specialise(s, s->m->functions[f], lent);
}

void pass_ownership(ir_module *m, pass_context *context) {
    (void)context;
    masu__arena scratch = {0};
    specialiser s;
    for (uint32_t f = 0; f < m->function_count; f++)
        shape_graph(m->functions[f]);
    if (m->out_of_memory || !specialiser_init(&s, m, &scratch)) {
        m->out_of_memory = true;
    } else {
        add_roots(&s);
        owner o = {.s = &s, .m = m};
        while (!m->out_of_memory && (o.f = specialiser_next(&s)))
            settle_function(&o);
        if (!m->out_of_memory)
            specialiser_finish(&s);
        if (!m->out_of_memory)
            pass_run_destructors(m);
    }
    masu__arena_destroy(&scratch);
}
