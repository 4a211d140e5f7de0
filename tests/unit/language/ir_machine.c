/* ir_machine.c: runs owned IR on objects that are nothing but a count.
 *
 * The dumbest judge of the ownership pass: it follows one path, decided by chance, and counts.
 * What operations compute does not matter; which values they take, read and make does. After the
 * slots pass it also raises: then frames are unwound as the runtime does it, and nothing may be
 * left.
 */
#include "ir_support.h"

#include <stdlib.h>
#include <string.h>

typedef struct object {
    uint32_t count;
    struct object *next; /* of all ever made */
} object;

typedef struct frame {
    const ir_function *f;
    object **values;
    object **slots;
    struct frame *parent;
} frame;

enum { MOST_STEPS = 4000, DEEPEST = 60, MOST_REGISTERED = 4096 };

typedef struct machine {
    masu__rng *rng;
    uint32_t raise_one_in;
    object *objects;
    uint64_t live;
    frame *top;
    object *registry[MOST_REGISTERED];
    uint32_t registered;
    uint32_t depth;
    bool unwinding;
    bool abandoned; /* stopped without unwinding: whatever is left says nothing */
    machine_report report;
} machine;

static bool managed(const frame *fr, ir_value v) {
    return ir_type_managed(ir_type_of(fr->f, v));
}

static object *make(machine *m) {
    object *o = calloc(1, sizeof *o);
    assert_non_null(o);
    o->count = 1;
    o->next = m->objects;
    m->objects = o;
    m->report.objects++;
    if (++m->live > m->report.peak_live)
        m->report.peak_live = m->live;
    return o;
}

static void drop(machine *m, object *o) {
    assert_non_null(o);
    if (o->count == 0)
        fail_msg("a count below zero");
    if (--o->count == 0)
        m->live--;
}

static object *read(const frame *fr, ir_value v) {
    object *o = fr->values[v];
    if (!o || o->count == 0)
        fail_msg("%s uses %%%u, which is dead", fr->f->name, v);
    return o;
}

static bool decides(machine *m, uint32_t one_in) {
    return one_in > 0 && masu__rng_below(m->rng, one_in) == 0;
}

/* ---- protection ------------------------------------------------------------------------------ */

static void root(machine *m, frame *fr, const ir_instr *i) {
    object *o = read(fr, i->args[0]);
    if (i->imm.i < 0) {
        assert_true(m->registered < MOST_REGISTERED);
        m->registry[m->registered++] = o;
        return;
    }
    assert_true(i->imm.i < (int64_t)fr->f->slot_count);
    assert_null(fr->slots[i->imm.i]);
    fr->slots[i->imm.i] = o;
}

static void unroot(machine *m, frame *fr, const ir_instr *i) {
    object *o = read(fr, i->args[0]);
    if (i->imm.i >= 0) {
        assert_ptr_equal(fr->slots[i->imm.i], o);
        fr->slots[i->imm.i] = NULL;
        return;
    }
    for (uint32_t r = m->registered; r-- > 0;) {
        if (m->registry[r] != o)
            continue;
        m->registry[r] = m->registry[--m->registered];
        return;
    }
    fail_msg("not registered");
}

static void unwind(machine *m) {
    m->unwinding = true;
    for (frame *fr = m->top; fr; fr = fr->parent)
        for (uint32_t s = 0; s < fr->f->slot_count; s++)
            if (fr->slots[s])
                drop(m, fr->slots[s]);
    while (m->registered > 0)
        drop(m, m->registry[--m->registered]);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void take_arguments(machine *m, frame *fr, const ir_instr *i) {
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (managed(fr, i->args[a]))
            read(fr, i->args[a]);
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (managed(fr, i->args[a]) && ir_consumes(i, a))
            drop(m, fr->values[i->args[a]]);
    for (uint32_t a = 0; a < i->arg_count; a++) /* what is only read outlives the operation */
        if (managed(fr, i->args[a]) && !ir_consumes(i, a))
            read(fr, i->args[a]);
}

static void make_results(machine *m, frame *fr, const ir_instr *i) {
    for (uint32_t r = 0; r < i->result_count; r++)
        if (managed(fr, i->result + r))
            fr->values[i->result + r] = make(m);
}

static void run_function(machine *m, const ir_function *f, object **args, object **results);

static void call(machine *m, frame *fr, const ir_instr *i) {
    object **args = calloc(i->arg_count + 1, sizeof *args), **results = calloc(i->result_count + 1, sizeof *results);
    assert_true(args && results);
    for (uint32_t a = 0; a < i->arg_count; a++)
        args[a] = managed(fr, i->args[a]) ? read(fr, i->args[a]) : NULL;
    run_function(m, i->callee, args, results);
    for (uint32_t r = 0; !m->unwinding && r < i->result_count; r++)
        fr->values[i->result + r] = results[r];
    free(args);
    free(results);
}

static void step(machine *m, frame *fr, const ir_instr *i) {
    m->report.steps++;
    bool raises = m->raise_one_in > 0 && ir_may_raise(i) && i->op != IR_CALL && decides(m, m->raise_one_in);
    bool endless = m->raise_one_in > 0 && ir_may_raise(i) && i->op != IR_CALL && m->report.steps > MOST_STEPS;
    switch (i->op) {
    case IR_ACQUIRE:
        read(fr, i->args[0])->count++;
        m->report.acquires++;
        return;
    case IR_RELEASE:
        m->report.releases++;
        drop(m, read(fr, i->args[0]));
        return;
    case IR_UNROOT:
        unroot(m, fr, i);
        return;
    case IR_ROOT:
        if (raises || endless)
            drop(m, read(fr, i->args[0])); /* the registry took it and could not keep it */
        else
            root(m, fr, i);
        break;
    case IR_CALL:
        call(m, fr, i);
        return;
    default:
        take_arguments(m, fr, i);
        if (!raises && !endless)
            make_results(m, fr, i);
        break;
    }
    if (!raises && !endless)
        return;
    m->report.raised = raises;
    m->report.cut = endless;
    unwind(m);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Moves the arguments of an edge to the parameters of its block, all at once. */
static void follow(frame *fr, const ir_target *t) {
    object *moved[64];
    assert_true(t->count <= 64);
    for (uint32_t a = 0; a < t->count; a++)
        moved[a] = managed(fr, t->args[a]) ? read(fr, t->args[a]) : NULL;
    for (uint32_t a = 0; a < t->count; a++)
        fr->values[t->block->params[a]] = moved[a];
}

static int choose(machine *m, const ir_block *b) {
    if (b->last->op == IR_JUMP)
        return 0;
    if (m->depth > DEEPEST || m->report.steps > MOST_STEPS / 2) { /* towards the end where that is to be seen */
        for (int t = 0; t < 2; t++)
            if (b->last->target[t].block->last->op == IR_RET)
                return t;
    }
    return (int)masu__rng_below(m->rng, 2);
}

static void run_body(machine *m, frame *fr, object **results) {
    const ir_block *b = fr->f->blocks[0];
    while (!m->unwinding) {
        for (const ir_instr *i = b->first; i != b->last && !m->unwinding; i = i->next)
            step(m, fr, i);
        if (m->unwinding)
            return;
        if (b->last->op == IR_UNREACHABLE || m->report.steps > 4 * MOST_STEPS) {
            m->report.cut = m->abandoned = m->unwinding = true;
            return;
        }
        m->report.steps++;
        if (b->last->op == IR_RET) {
            for (uint32_t a = 0; a < b->last->arg_count; a++)
                results[a] = managed(fr, b->last->args[a]) ? read(fr, b->last->args[a]) : NULL;
            for (uint32_t s = 0; s < fr->f->slot_count; s++)
                assert_null(fr->slots[s]);
            return;
        }
        const ir_target *t = &b->last->target[choose(m, b)];
        follow(fr, t);
        b = t->block;
    }
}

static void run_function(machine *m, const ir_function *f, object **args, object **results) {
    frame fr = {.f = f, .parent = m->top};
    fr.values = calloc(f->value_count, sizeof *fr.values);
    fr.slots = calloc(f->slot_count + 1, sizeof *fr.slots);
    assert_true(fr.values && fr.slots);
    for (uint32_t k = 0; k < f->param_count; k++)
        fr.values[f->params[k]] = args[k];
    m->top = &fr;
    m->depth++;
    if (m->depth > 4 * DEEPEST) { /* refused before it begins: what was handed over goes */
        for (uint32_t k = 0; k < f->param_count; k++)
            if (managed(&fr, f->params[k]) && !f->values[f->params[k]].borrowed)
                drop(m, args[k]);
        unwind(m);
        m->report.cut = true;
    }
    run_body(m, &fr, results);
    m->depth--;
    m->top = fr.parent;
    free(fr.values);
    free(fr.slots);
}

machine_report support_run(const ir_function *f, masu__rng *rng, uint32_t raise_one_in) {
    machine m = {.rng = rng, .raise_one_in = raise_one_in};
    object *args[64] = {0}, *results[64] = {0};
    bool lent[64] = {0};
    assert_true(f->param_count <= 64 && f->result_count <= 64);
    for (uint32_t k = 0; k < f->param_count; k++) {
        if (!ir_type_managed(ir_type_of(f, f->params[k])))
            continue;
        args[k] = make(&m);
        lent[k] = f->values[f->params[k]].borrowed;
    }
    run_function(&m, f, args, results);
    for (uint32_t r = 0; r < f->result_count && !m.unwinding; r++)
        if (results[r])
            drop(&m, results[r]);
    for (uint32_t k = 0; k < f->param_count; k++)
        if (lent[k])
            drop(&m, args[k]);
    bool whole = !m.abandoned && (!m.report.cut || raise_one_in > 0); /* without slots nothing can be unwound */
    if (whole && (m.live > 0 || m.registered > 0))
        fail_msg("%s leaves %llu objects behind", f->name, (unsigned long long)m.live);
    while (m.objects) {
        object *next = m.objects->next;
        free(m.objects);
        m.objects = next;
    }
    return m.report;
}
