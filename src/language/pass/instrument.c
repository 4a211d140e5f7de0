/* instrument.c: what `--audit` and `--by-line` add to the finished IR: calls that tell the runtime what the
 * compiler believes. Not a pass: nothing is decided here, and nothing that was decided changes.
 *
 *     tl_audit site, %1, %4            before every operation: what this function owns and still needs
 *     %7 = tl_tensor_add %1, %4
 *     tl_audit_call %1                 around calls: what it needs behind them or has lent
 *     %8 = call f(%7)
 *     tl_audit_return
 *     tl_count_line site, counts       what happens to counts and owners at the operation
 *
 * Needed is what some way from here reads or gives away. Releases, which are the compiler's own, are no
 * reason to be alive: a release that comes late is what the audit is there to find. Only where values are
 * meant to live until their scope ends (`--no-lastuse`) does the release count.
 *
 * Between a record and the call that takes it counts have no owner, and nothing is asked.
 */
#include "language/facts/liveness.h"
#include "language/pass/pass.h"

typedef struct instrumenter {
    ir_module *m;
    ir_function *f;
    pass_instruments what;
    masu__arena scratch; /* emptied after each function */
    liveness l;
    bool *live;    /* by value, at the point of the scan */
    ir_value *lit; /* every value whose live[] is set, and some others */
    uint32_t lit_count;
    uint32_t room; /* values from here on are this file's own */
    bool *listed;  /* by value: is in lit */
    ir_value *list;
} instrumenter;

static bool counts_only(ir_opcode op) {
    return op == IR_ACQUIRE || op == IR_RELEASE || op == IR_ROOT || op == IR_UNROOT;
}

static bool is_use(const instrumenter *n, const ir_instr *i) {
    return !counts_only(i->op) || (n->what.scoped && i->op == IR_RELEASE);
}

static bool is_mine(const instrumenter *n, ir_value v) {
    return ir_type_managed(ir_type_of(n->f, v)) && !n->f->values[v].borrowed;
}

static void wake(instrumenter *n, ir_value v) {
    if (!ir_type_managed(ir_type_of(n->f, v)))
        return;
    n->live[v] = true;
    if (!n->listed[v])
        n->lit[n->lit_count++] = v;
    n->listed[v] = true;
}

/* ---- inserting ------------------------------------------------------------------------------------------------ */

static void insert(instrumenter *n, ir_instr *where, bool behind, ir_instr *i) {
    if (!i)
        return;
    if (behind)
        ir_insert_after(where, i);
    else
        ir_insert_before(where, i);
    (void)n;
}

static ir_value constant(instrumenter *n, ir_instr *where, int64_t number) {
    ir_type type = IR_I64;
    ir_instr *i = ir_instr_new(n->f, IR_CONST, NULL, 0, &type, 1, (source_span){0});
    if (!i)
        return 0;
    i->imm.i = number;
    insert(n, where, false, i);
    return i->result;
}

static ir_instr *tell(instrumenter *n, tl_abi_index abi, const ir_value *args, uint32_t count) {
    ir_instr *i = ir_instr_new(n->f, IR_ABI, args, count, NULL, 0, (source_span){0});
    if (i)
        i->abi = abi;
    return i;
}

/* Owned values that are live now, behind `used` entries of n->list. */
static uint32_t list_live(instrumenter *n, uint32_t used) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n->lit_count; k++) {
        ir_value v = n->lit[k];
        n->listed[v] = n->live[v];
        if (!n->live[v])
            continue;
        n->lit[kept++] = v;
        if (is_mine(n, v))
            n->list[used++] = v;
    }
    n->lit_count = kept;
    return used;
}

/* ---- audit points --------------------------------------------------------------------------------------------- */

static bool is_point(const ir_instr *i) {
    return i->op == IR_ABI || i->op == IR_CALL || i->op == IR_COMPREHEND ||
           (ir_is_terminator(i->op) && i->op != IR_UNREACHABLE);
}

/* The first of the passes' own instructions that belong to i. */
static ir_instr *start_of(ir_instr *i) {
    while (i->prev && counts_only(i->prev->op) && i->prev->op != IR_RELEASE)
        i = i->prev;
    return i;
}

static uint32_t site_of(instrumenter *n, const ir_instr *i) {
    if (i->site)
        return i->site;
    const ir_instr *near = i;
    while (near && !near->span.file)
        near = near->prev;
    source_span span = near ? near->span : n->f->span;
    return span.file ? ir_site_new(n->m, span, n->f->name) : 0;
}

static void audit_before(instrumenter *n, ir_instr *where, uint32_t site) {
    n->list[0] = constant(n, where, site);
    uint32_t count = list_live(n, 1);
    insert(n, where, false, tell(n, TL_FN_tl_audit, n->list, count));
}

/* n->live is what is needed behind the call, its results not among it. Returns the first instruction. */
static ir_instr *audit_around(instrumenter *n, ir_instr *call) {
    uint32_t count = list_live(n, 0);
    for (uint32_t a = 0; a < call->arg_count; a++) {
        ir_value v = call->args[a];
        bool lent = is_mine(n, v) && !ir_consumes(call, a) && !n->live[v];
        for (uint32_t k = 0; k < count && lent; k++)
            lent = n->list[k] != v;
        if (lent)
            n->list[count++] = v;
    }
    ir_instr *first = tell(n, TL_FN_tl_audit_call, n->list, count);
    insert(n, call, false, first);
    insert(n, call, true, tell(n, TL_FN_tl_audit_return, NULL, 0));
    return first;
}

static int64_t field(uint64_t count, int k) {
    return (int64_t)((count < 0xFFF ? count : 0xFFF) << (12 * k));
}

/* The steps around an operation belong to it: acquires and protection before it, releases behind it. */
static void count_before(instrumenter *n, ir_instr *i, uint32_t site) {
    uint64_t acquires = 0, releases = 0, moves = 0, borrows = 0, slots = 0, lost = 0;
    const ir_instr *first = i->prev;
    for (; first && counts_only(first->op); first = first->prev) {
        acquires += first->op == IR_ACQUIRE && lost == 0;
        slots += first->op == IR_ROOT && lost == 0;
        lost += first->op == IR_RELEASE;
    }
    releases += first ? 0 : lost; /* at the start of a block: what another way needed */
    for (const ir_instr *p = i->next; p && (counts_only(p->op) || p->op == IR_RECORD_WORD); p = p->next)
        releases += p->op == IR_RELEASE;
    for (uint32_t a = 0; a < i->arg_count; a++) {
        bool managed = ir_type_managed(ir_type_of(n->f, i->args[a]));
        moves += managed && ir_consumes(i, a);
        borrows += managed && !ir_consumes(i, a);
    }
    ir_value args[] = {constant(n, i, site), constant(n, i,
                                                      field(acquires, 0) | field(releases, 1) | field(moves, 2) |
                                                          field(borrows, 3) | field(slots, 4))};
    insert(n, i, false, tell(n, TL_FN_tl_count_line, args, 2));
    if (i->op != IR_CALL)
        return;
    ir_instr *back = tell(n, TL_FN_tl_count_line, args, 2);
    ir_value none = constant(n, i, 0);
    if (back)
        back->args[1] = none;
    insert(n, i, true, back);
}

/* ---- walking --------------------------------------------------------------------------------------------------- */

static bool is_own(const instrumenter *n, const ir_instr *i) {
    bool tells = i->op == IR_ABI && (i->abi == TL_FN_tl_audit || i->abi == TL_FN_tl_audit_call ||
                                     i->abi == TL_FN_tl_audit_return || i->abi == TL_FN_tl_count_line);
    return tells || (i->result_count > 0 && i->result >= n->room);
}

static void visit(instrumenter *n, ir_instr *i) {
    if (is_own(n, i))
        return;
    for (uint32_t r = 0; r < i->result_count; r++)
        n->live[i->result + r] = false;
    uint32_t site = is_point(i) ? site_of(n, i) : 0;
    ir_instr *where = start_of(i);
    bool in_record = where->prev && where->prev->op == IR_RECORD; /* what it holds has no owner */
    if (n->what.by_line && is_point(i))
        count_before(n, i, site);
    ir_instr *around = n->what.audit && i->op == IR_CALL ? audit_around(n, i) : NULL;
    if (around && where == i)
        where = around;
    if (is_use(n, i)) {
        for (uint32_t a = 0; a < i->arg_count; a++)
            wake(n, i->args[a]);
        for (int t = 0; t < ir_target_count(i); t++)
            for (uint32_t a = 0; a < i->target[t].count; a++)
                wake(n, i->target[t].args[a]);
    }
    if (n->what.audit && is_point(i) && !in_record)
        audit_before(n, where, site);
}

static void visit_block(instrumenter *n, ir_block *b) {
    for (uint32_t k = 0; k < n->lit_count; k++)
        n->live[n->lit[k]] = n->listed[n->lit[k]] = false;
    n->lit_count = 0;
    for (int t = 0; t < ir_target_count(b->last); t++) {
        liveness_set in = n->l.in[b->last->target[t].block->id];
        for (uint32_t k = 0; k < in.count; k++)
            wake(n, in.values[k]);
    }
    for (ir_instr *i = b->last, *before; i && !n->m->out_of_memory; i = before) {
        before = i->prev;
        visit(n, i);
    }
}

static void visit_function(instrumenter *n) {
    uint32_t room = n->room = n->f->value_count;
    n->lit_count = 0;
    n->live = MASU_ARENA_ARRAY(&n->scratch, bool, room);
    n->listed = MASU_ARENA_ARRAY(&n->scratch, bool, room);
    n->lit = MASU_ARENA_ARRAY(&n->scratch, ir_value, room);
    n->list = MASU_ARENA_ARRAY(&n->scratch, ir_value, room + 1);
    if (n->live && n->listed && n->lit && n->list && liveness_compute_used(&n->l, n->f, n->what.scoped, &n->scratch))
        for (uint32_t b = 0; b < n->f->block_count; b++)
            visit_block(n, n->f->blocks[b]);
    else
        n->m->out_of_memory = true;
    masu__arena_destroy(&n->scratch);
}

void pass_instrument(ir_module *m, pass_instruments what) {
    what.scoped |= m->destructors != NULL; /* what has one lives until its scope ends */
    instrumenter n = {.m = m, .what = what};
    for (uint32_t f = 0; f < m->function_count && !m->out_of_memory; f++) {
        n.f = m->functions[f];
        if (!n.f->is_kernel)
            visit_function(&n);
    }
}
