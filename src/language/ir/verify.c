/* verify.c: structure, types and dominance (see ir.h for what must hold); owners are counted in
 * verify_owners.c.
 *
 * The checks are in the order in which they rely on each other: links before operands, operands
 * before types, types before dominance, all of them before owners. A function that fails one is
 * not asked the next. Nothing here uses what a pass computed: a verifier that trusts the pass
 * proves nothing.
 */
#include "language/ir/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void ir_fault(ir_checker *c, const ir_block *b, const ir_instr *i, const char *format, ...) {
    c->faults++;
    masu__buffer_printf(c->out, "%s", c->f ? c->f->name : "module");
    if (b)
        masu__buffer_printf(c->out, " b%" PRIu32, b->id);
    if (i) {
        masu__buffer_puts(c->out, ": `");
        ir_print_instr(c->f, i, c->out);
        masu__buffer_putc(c->out, '`');
    }
    masu__buffer_puts(c->out, ": ");
    va_list arguments;
    va_start(arguments, format);
    masu__buffer_vprintf(c->out, format, arguments);
    va_end(arguments);
    masu__buffer_putc(c->out, '\n');
}

const char *ir_value_text(ir_checker *c, ir_value v) {
    const char *name = v < c->f->value_count ? c->f->values[v].name : NULL;
    const char *text = masu__arena_printf(&c->scratch, "%%%" PRIu32 "%s%s", v, name ? "." : "", name ? name : "");
    return text ? text : "a value";
}

/* ---- links ----------------------------------------------------------------------------------- */

static bool value_exists(const ir_function *f, ir_value v) {
    return v > 0 && v < f->value_count;
}

static bool block_exists(const ir_function *f, const ir_block *b) {
    return b && b->id < f->block_count && f->blocks[b->id] == b;
}

static uint32_t edges_to(const ir_block *from, const ir_block *to) {
    uint32_t count = 0;
    for (int t = 0; from->last && t < ir_target_count(from->last); t++)
        count += from->last->target[t].block == to;
    return count;
}

/* Every listed predecessor as often as it has edges here. That none is missing shows in the sums
 * (see check_edges). */
static bool preds_exist(ir_checker *c, const ir_block *b, uint32_t *listed) {
    bool good = true;
    for (uint32_t p = 0; p < b->pred_count && good; p++)
        good = block_exists(c->f, b->preds[p]);
    for (uint32_t p = 0; p < b->pred_count && good; p++)
        listed[b->preds[p]->id]++;
    for (uint32_t p = 0; p < b->pred_count && good; p++)
        good = listed[b->preds[p]->id] == edges_to(b->preds[p], b);
    for (uint32_t p = 0; p < b->pred_count; p++)
        if (block_exists(c->f, b->preds[p]))
            listed[b->preds[p]->id] = 0;
    return good;
}

static void check_edges(ir_checker *c) {
    const ir_function *f = c->f;
    uint32_t *listed = MASU_ARENA_ARRAY(&c->scratch, uint32_t, f->block_count);
    uint32_t *edges = MASU_ARENA_ARRAY(&c->scratch, uint32_t, f->block_count);
    if (!listed || !edges) {
        c->enough = false;
        return;
    }
    for (uint32_t n = 0; n < f->block_count; n++)
        for (int t = 0; t < ir_target_count(f->blocks[n]->last); t++)
            edges[f->blocks[n]->last->target[t].block->id]++;
    for (uint32_t n = 0; n < f->block_count; n++)
        if (edges[n] != f->blocks[n]->pred_count || !preds_exist(c, f->blocks[n], listed))
            ir_fault(c, f->blocks[n], NULL, "predecessors do not mirror the jumps that lead here");
}

static void check_chain(ir_checker *c, const ir_block *b) {
    const ir_instr *before = NULL;
    for (const ir_instr *i = b->first; i; before = i, i = i->next) {
        if (i->prev != before || i->block != b) {
            ir_fault(c, b, NULL, "instructions are linked wrongly");
            return;
        }
        if (ir_is_terminator(i->op) != (i == b->last)) {
            ir_fault(c, b, NULL, i->next ? "a terminator in the middle" : "no terminator at the end");
            return;
        }
    }
    if (before != b->last || !before)
        ir_fault(c, b, NULL, before ? "instructions are linked wrongly" : "an empty block");
}

static void check_links(ir_checker *c) {
    const ir_function *f = c->f;
    if (f->block_count == 0)
        ir_fault(c, NULL, NULL, "no blocks");
    for (uint32_t n = 0; n < f->block_count; n++) {
        const ir_block *b = f->blocks[n];
        if (b->id != n || b->function != f) {
            ir_fault(c, NULL, NULL, "block %" PRIu32 " does not know its place", n);
            return;
        }
        check_chain(c, b);
        for (int t = 0; b->last && t < ir_target_count(b->last); t++)
            if (!block_exists(f, b->last->target[t].block))
                ir_fault(c, b, NULL, "jumps to a block that is not of this function");
    }
    if (c->faults)
        return;
    check_edges(c);
    if (f->block_count > 0 && (f->blocks[0]->pred_count > 0 || f->blocks[0]->param_count > 0))
        ir_fault(c, f->blocks[0], NULL, "the entry has predecessors or parameters");
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* Enters the definition of v at `place` within its block; 0 is before the first instruction. */
static void define(ir_checker *c, uint32_t *place, ir_value v, const ir_block *b, const ir_instr *i, uint32_t at) {
    if (!value_exists(c->f, v)) {
        ir_fault(c, b, NULL, "defines a value that does not exist");
        return;
    }
    const ir_value_info *info = &c->f->values[v];
    if (place[v] != UINT32_MAX)
        ir_fault(c, b, NULL, "%s is defined twice", ir_value_text(c, v));
    if (info->def != i || info->block != b || info->type == IR_NONE)
        ir_fault(c, b, NULL, "%s does not know its definition", ir_value_text(c, v));
    place[v] = at;
}

static void check_definitions(ir_checker *c, uint32_t *place) {
    const ir_function *f = c->f;
    memset(place, 0xFF, f->value_count * sizeof *place);
    for (uint32_t k = 0; k < f->param_count; k++)
        define(c, place, f->params[k], f->blocks[0], NULL, 0);
    for (uint32_t n = 0; n < f->block_count; n++) {
        const ir_block *b = f->blocks[n];
        uint32_t at = 0;
        for (uint32_t k = 0; k < b->param_count; k++)
            define(c, place, b->params[k], b, NULL, 0);
        for (const ir_instr *i = b->first; i; i = i->next) {
            at++;
            for (uint32_t r = 0; r < i->result_count; r++)
                define(c, place, i->result + r, b, i, at);
        }
    }
}

/* ---- uses and dominance ---------------------------------------------------------------------- */

typedef struct uses {
    const uint32_t *place;
    ir_dominators dominators;
} uses;

static void check_use(ir_checker *c, const uses *u, ir_value v, const ir_block *b, const ir_instr *i, uint32_t at) {
    if (!value_exists(c->f, v) || u->place[v] == UINT32_MAX) {
        ir_fault(c, b, NULL, "uses %%%" PRIu32 ", which is defined nowhere", v);
        return;
    }
    const ir_block *home = c->f->values[v].block;
    bool reachable = c->order.position[b->id] != UINT32_MAX;
    if (!reachable)
        return;
    bool good = home == b ? u->place[v] < at
                          : c->order.position[home->id] != UINT32_MAX && ir_dominates(&u->dominators, home, b);
    if (!good)
        ir_fault(c, b, i, "uses %s, whose definition does not come before it on every path", ir_value_text(c, v));
}

static void check_uses(ir_checker *c, const uses *u) {
    for (uint32_t n = 0; n < c->f->block_count; n++) {
        const ir_block *b = c->f->blocks[n];
        uint32_t at = 0;
        for (const ir_instr *i = b->first; i; i = i->next) {
            at++;
            for (uint32_t a = 0; a < i->arg_count; a++)
                check_use(c, u, i->args[a], b, i, at);
            for (int t = 0; t < ir_target_count(i); t++)
                for (uint32_t a = 0; a < i->target[t].count; a++)
                    check_use(c, u, i->target[t].args[a], b, i, at);
        }
    }
}

/* ---- what may be in which phase -------------------------------------------------------------- */

static bool in_phase(const ir_checker *c, const ir_instr *i) {
    switch (i->op) {
    case IR_KEEP:
        return c->phase != IR_PHASE_ROOTED || i->imm.i == 2;
    case IR_ACQUIRE:
    case IR_RELEASE:
        return c->phase != IR_PHASE_BUILT;
    case IR_ROOT:
    case IR_UNROOT:
        return c->phase == IR_PHASE_ROOTED;
    default:
        return true;
    }
}

/* The callee's letters, the marks on its parameters and the caller's mask are three views of one
 * decision. */
static void check_modes(ir_checker *c, const ir_instr *i) {
    const ir_function *callee = i->callee;
    uint32_t letter = 0;
    for (uint32_t a = 0; a < i->arg_count; a++) {
        ir_value p = callee->params[a];
        if (!ir_type_managed(callee->values[p].type)) {
            if (i->owned && i->owned[a])
                ir_fault(c, i->block, i, "hands over a plain value");
            continue;
        }
        bool owned = i->owned && i->owned[a];
        char said = callee->ownership ? callee->ownership[letter++] : 0;
        if (said != (owned ? 'o' : 'b') || callee->values[p].borrowed == owned)
            ir_fault(c, i->block, i, "%s is %s, but %s declares otherwise", ir_value_text(c, i->args[a]),
                     owned ? "handed over" : "lent", callee->name);
    }
}

static void check_phase(ir_checker *c) {
    for (uint32_t n = 0; n < c->f->block_count; n++) {
        for (const ir_instr *i = c->f->blocks[n]->first; i; i = i->next) {
            if (!in_phase(c, i))
                ir_fault(c, i->block, i, "does not belong into this phase");
            if (i->op == IR_CALL && c->phase != IR_PHASE_BUILT)
                check_modes(c, i);
        }
    }
}

/* ---- the module ------------------------------------------------------------------------------ */

static bool sound(const ir_checker *c) {
    return c->enough && c->faults == 0;
}

static void check_function(ir_checker *c) {
    uint32_t before = c->faults;
    c->faults = 0;
    check_links(c);
    uint32_t *place = MASU_ARENA_ARRAY(&c->scratch, uint32_t, c->f->value_count);
    uses u = {.place = place};
    if (!place)
        c->enough = false;
    if (sound(c))
        check_definitions(c, place);
    if (sound(c))
        c->enough = ir_order_compute(&c->order, c->f, &c->scratch) &&
                    ir_dominators_compute(&u.dominators, &c->order, &c->scratch);
    if (sound(c))
        check_uses(c, &u);
    if (sound(c))
        ir_check_types(c);
    if (sound(c))
        check_phase(c);
    if (sound(c) && c->phase != IR_PHASE_BUILT)
        c->enough = ir_check_owners(c);
    c->faults += before;
}

bool ir_verify(const ir_module *m, ir_phase phase, masu__buffer *out) {
    ir_checker c = {.m = m, .phase = phase, .out = out, .enough = true};
    if (m->main && (m->main->id >= m->function_count || m->functions[m->main->id] != m->main))
        ir_fault(&c, NULL, NULL, "main is not in the list of functions");
    for (uint32_t f = 0; f < m->function_count && c.enough; f++) {
        c.f = m->functions[f];
        if (c.f->id != f || c.f->module != m)
            ir_fault(&c, NULL, NULL, "the function does not know its place");
        else
            check_function(&c);
        masu__arena_destroy(&c.scratch);
    }
    out->failed |= !c.enough;
    return sound(&c);
}
