/* destructors.c: what destructors ask of the IR: that nothing is used behind its move, and when they run.
 *
 *     before the passes     an IR_NOTHING that lowering put where a value moved away reaches variables, over branches
 *                           and loops; what reads one that it may have reached reads a value that is gone: an error
 *     behind `ownership`    whatever may let go of a counted thing is followed by a call of <destructors>
 *
 *         release %3                    release %3
 *         ret                           call <destructors>()
 *                                       ret
 *
 * What must stay true (asserted in heavy builds): between an instruction that may let go of a value with a destructor
 * and its call nothing happens but counting and reading of what was read (IR_RECORD_WORD: nothing may raise before its
 * count has an owner).
 */
#include <stdio.h>

#include "base/assert.h"
#include "language/pass/pass.h"

/* ---- what moved is not used -------------------------------------------------------------------------------------- */

typedef struct moves {
    ir_function *f;
    ir_instr **from; /* by value: the move that may have left nothing in it; NULL: none */
    bool changed;
} moves;

static ir_instr *move_of(const moves *m, ir_value v) {
    return m->from[v];
}

static void note_made(moves *m) {
    for (uint32_t b = 0; b < m->f->block_count; b++)
        for (ir_instr *i = m->f->blocks[b]->first; i; i = i->next)
            if (i->op == IR_NOTHING && i->imm.i >= 1)
                m->from[i->result] = i;
}

static void note_jumps(moves *m, const ir_instr *last) {
    for (int t = 0; t < ir_target_count(last); t++)
        for (uint32_t a = 0; a < last->target[t].count; a++) {
            ir_value param = last->target[t].block->params[a];
            if (!m->from[param] && move_of(m, last->target[t].args[a])) {
                m->from[param] = move_of(m, last->target[t].args[a]);
                m->changed = true;
            }
        }
}

static void report_use(pass_context *context, const ir_function *f, const ir_instr *use, const ir_instr *move) {
    const char *name = f->values[move->result].name;
    const bool named = name && name[0] != '<';
    char text[160];
    snprintf(text, sizeof text, named ? "use of `%s`, which has moved" : "use of a value that has moved", name);
    pass_note note = {.span = move->span, .text = "it moves here, and its new owner drops it"};
    context->error_count++;
    if (context->report)
        context->report(context->user, use->span, ROW_value_is_used_behind_its_move, text, &note, 1);
}

/* A value that a FnOnce gave away goes back to its caller as nothing. */
static bool is_use(const ir_instr *i, const ir_instr *move) {
    return move && i->op != IR_KEEP && !(i->op == IR_RET && move->imm.i == 2);
}

static void find_uses(moves *m, pass_context *context) {
    for (uint32_t b = 0; b < m->f->block_count; b++)
        for (const ir_instr *i = m->f->blocks[b]->first; i; i = i->next)
            for (uint32_t a = 0; a < i->arg_count; a++)
                if (is_use(i, move_of(m, i->args[a]))) {
                    report_use(context, m->f, i, move_of(m, i->args[a]));
                    return;
                }
}

static bool has_moves(const ir_function *f) {
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next)
            if (i->op == IR_NOTHING && i->imm.i >= 1)
                return true;
    return false;
}

void pass_find_moved(ir_module *m, pass_context *context) {
    for (const ir_refusal *r = m->refusals; r; r = r->next) {
        context->error_count++;
        if (context->report)
            context->report(context->user, r->span, (message_row)r->row, r->text, NULL, 0);
    }
    for (uint32_t f = 0; m->destructors && f < m->function_count && !m->out_of_memory; f++) {
        if (!has_moves(m->functions[f]))
            continue;
        moves all = {.f = m->functions[f], .changed = true};
        all.from = MASU_ARENA_ARRAY(&context->scratch, ir_instr *, m->functions[f]->value_count);
        if (!all.from) {
            m->out_of_memory = true;
            return;
        }
        note_made(&all);
        while (all.changed) {
            all.changed = false;
            for (uint32_t b = 0; b < all.f->block_count; b++)
                note_jumps(&all, all.f->blocks[b]->last);
        }
        find_uses(&all, context);
    }
}

/* ---- when they run ----------------------------------------------------------------------------------------------- */

static ir_function *version_of(const ir_module *m) {
    for (uint32_t f = 0; f < m->function_count; f++)
        if (m->functions[f] == m->destructors || m->functions[f]->specialised_from == m->destructors)
            return m->functions[f];
    return NULL;
}

static bool makes_text(const ir_function *f, ir_value v) {
    const ir_instr *def = f->values[v].def;
    if (!def || def->op != IR_ABI)
        return false;
    switch (def->abi) {
    case TL_FN_tl_string_literal:
    case TL_FN_tl_string_concat:
    case TL_FN_tl_string_append:
    case TL_FN_tl_string_push:
    case TL_FN_tl_text_i64:
    case TL_FN_tl_text_u64:
    case TL_FN_tl_text_f32:
    case TL_FN_tl_text_f64:
    case TL_FN_tl_text_bool:
    case TL_FN_tl_text_char:
    case TL_FN_tl_text_string:
    case TL_FN_tl_text_tensor:
        return true;
    default:
        return false;
    }
}

static bool may_let_go(const ir_function *f, const ir_instr *i) {
    if (i->op == IR_RELEASE)
        return ir_type_of(f, i->args[0]) == IR_OBJECT && !makes_text(f, i->args[0]);
    return i->op == IR_ABI && (i->abi == TL_FN_tl_vec_set || i->abi == TL_FN_tl_ref_set || i->abi == TL_FN_tl_ref_put);
}

/* Any other is for what comes next, which owns that count from then on. */
static bool acquires_word(const ir_function *f, const ir_instr *i) {
    const ir_instr *def = i->op == IR_ACQUIRE ? f->values[i->args[0]].def : NULL;
    return def && def->op == IR_RECORD_WORD;
}

/* The last of the instructions that belong to i: the call comes behind it. */
static ir_instr *end_of(const ir_function *f, ir_instr *i) {
    ir_instr *end = i;
    for (ir_instr *next = i->next; next; next = next->next) {
        bool counts = next->op == IR_RECORD_WORD || next->op == IR_RELEASE || next->op == IR_ACQUIRE;
        if (!counts)
            break;
        if (next->op == IR_RECORD_WORD)
            end = next;
    }
    while (end != i && end->next && (end->next->op == IR_RELEASE || acquires_word(f, end->next)))
        end = end->next; /* what the words let go of */
    return end;
}

/* Whether the call follows whatever in the block may let go. */
__attribute__((unused)) static bool calls_follow(const ir_function *f, const ir_block *b, const ir_function *run) {
    bool owed = false, holds = true;
    for (const ir_instr *i = b->first; i; i = i->next) {
        bool counts = i->op == IR_RECORD_WORD || i->op == IR_RELEASE || i->op == IR_ACQUIRE;
        owed &= i->op != IR_CALL || i->callee != run;
        holds &= !owed || counts;
        owed |= may_let_go(f, i);
    }
    return holds && !owed;
}

/* Where the program lets go: passes insert releases without a place, what happens behind them has one. */
static source_span place_of(const ir_instr *i) {
    const ir_instr *at = i;
    while (!at->span.file && at->next)
        at = at->next;
    while (!at->span.file && at->prev)
        at = at->prev;
    return at->span;
}

void pass_run_destructors(ir_module *m) {
    ir_function *run = m->destructors ? version_of(m) : NULL;
    m->destructors = run;
    for (uint32_t f = 0; run && f < m->function_count; f++) {
        ir_function *into = m->functions[f];
        for (uint32_t b = 0; into != run && !into->is_kernel && b < into->block_count; b++)
            for (ir_instr *i = into->blocks[b]->first; i; i = i->next) {
                if (!may_let_go(into, i))
                    continue;
                ir_instr *call = ir_instr_new(into, IR_CALL, NULL, 0, NULL, 0, (source_span){0});
                if (!call)
                    return;
                call->callee = run;
                call->site = ir_site_new(m, place_of(i), into->name);
                i = end_of(into, i);
                ir_insert_after(i, call);
            }
        for (uint32_t b = 0; into != run && !into->is_kernel && b < into->block_count; b++)
            MASU_HEAVY_ASSERT(calls_follow(into, into->blocks[b], run));
    }
}
