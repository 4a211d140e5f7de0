/* explain.c: the source with a margin that says what happens to tensors and objects on each line.
 *
 *     3 | fn step(w: Tensor, g: Tensor) -> Tensor { | step{ob}: 2 slots (needs 2), 0 acquires, …
 *     4 |     let d = g * 0.1;                      | `w` in slot 0; `d` made [8, 8] in slot 1
 *     5 |     w - d                                 | `w - d` made [8, 8]; `w` dies; `d` dies; …
 *
 * Everything is read from the final IR, so the margin cannot say what the program does not do. A
 * function of which several versions exist (see specialise.h) is explained once; what only some
 * versions do begins with their letters.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "language/explain/explain_events.h"
#include "language/pass/pass.h"

/* ---- events ---------------------------------------------------------------------------------- */

static void note(explainer *x, masu__buffer *text, char kind) {
    if (x->count == x->capacity) {
        uint32_t wanted = x->capacity ? 2 * x->capacity : 256;
        explain_event *larger = masu__arena_grow(&x->scratch, x->events, x->capacity, wanted, sizeof *larger,
                                                 _Alignof(explain_event));
        x->failed |= !larger;
        if (!larger)
            return;
        x->events = larger;
        x->capacity = wanted;
    }
    const char *copy = masu__arena_strdup(&x->scratch, masu__buffer_text(text));
    x->failed |= !copy || text->failed;
    if (!copy)
        return;
    x->events[x->count] = (explain_event){x->line, x->count, x->f, copy, kind, x->place, x->bytes};
    x->place = EXPLAIN_NOWHERE;
    x->bytes = 0;
    x->count++;
    masu__buffer_truncate(text, 0);
}

static bool managed(const ir_function *f, ir_value v) {
    return ir_type_managed(ir_type_of(f, v));
}

/* Results say at once where they will lie; parameters say it when they get there. */
static void note_root(explainer *x, const ir_instr *i, masu__buffer *t) {
    bool parameter = !x->f->values[i->args[0]].def;
    if (!parameter && i->imm.i >= 0)
        return;
    explain_name(x->f, i->args[0], t);
    if (i->imm.i < 0)
        masu__buffer_puts(t, " registered");
    else
        explain_slot(x->f, i->args[0], x->sharing, t);
    note(x, t, 'n');
}

static void note_acquire(explainer *x, const ir_instr *i, masu__buffer *t) {
    explain_name(x->f, i->args[0], t);
    masu__buffer_printf(t, " acquired: %s", explain_reason(x->f, i));
    note(x, t, 'a');
}

static void note_release(explainer *x, const ir_instr *i, masu__buffer *t) {
    explain_name(x->f, i->args[0], t);
    masu__buffer_puts(t, " dies");
    note(x, t, 'd');
}

static void note_arguments(explainer *x, const ir_instr *i, masu__buffer *t) {
    for (uint32_t a = 0; a < i->arg_count; a++) {
        const ir_instr *def = x->f->values[i->args[a]].def;
        if (!managed(x->f, i->args[a]) || (def && def->op == IR_NOTHING))
            continue;
        bool taken = ir_consumes(i, a);
        if (i->op == IR_ABI && (!taken || (a == 0 && explain_changes(x->f, i))))
            continue; /* every operation reads its operands */
        explain_name(x->f, i->args[a], t);
        if (i->op == IR_RET)
            masu__buffer_puts(t, " moves out");
        else if (i->op == IR_CALL)
            masu__buffer_printf(t, taken ? " moves into %s" : " lent to %s", i->callee->name);
        else if (i->op == IR_RECORD)
            masu__buffer_puts(t, " moves into a vector or box");
        else
            masu__buffer_puts(t, taken ? " moves" : " lent");
        note(x, t, taken ? 'm' : 'b');
    }
}

/* How many bytes the elements of v have; 0: not known before the program runs. */
static uint64_t bytes_made(const explainer *x, ir_value v) {
    static const uint8_t sizes[] = {[TL_F32] = 4, [TL_F64] = 8, [TL_I64] = 8, [TL_BOOL] = 1};
    const ir_place *place = ir_place_of(x->f, v);
    const ir_shape *s = x->f->values[v].shape;
    const uint8_t dtype = ir_type_of(x->f, v) == IR_TENSOR ? x->facts.values[x->f->id][v].dtype : DTYPE_IS_UNKNOWN;
    if (place && place->bytes)
        return place->bytes;
    if (!s || !s->known_rank || dtype >= TL_DTYPE_COUNT)
        return 0;
    uint64_t bytes = sizes[dtype];
    for (uint32_t d = 0; d < s->rank; d++)
        if (s->dim[d] < 0 || __builtin_mul_overflow(bytes, (uint64_t)s->dim[d], &bytes))
            return 0;
    return bytes;
}

static void note_results(explainer *x, const ir_instr *i, masu__buffer *t) {
    for (uint32_t r = 0; r < i->result_count; r++) {
        ir_value v = i->result + r;
        if (!managed(x->f, v))
            continue;
        explain_name(x->f, v, t);
        masu__buffer_puts(t, i->op == IR_CALL           ? " received"
                             : i->op == IR_RECORD_WORD  ? " taken from a vector or box"
                             : explain_changes(x->f, i) ? " changed in place"
                                                        : " made");
        explain_shape(x->f, v, t);
        if (i->reuse) {
            masu__buffer_puts(t, " over ");
            explain_name(x->f, i->reuse, t);
        }
        explain_buffer(x->f, v, t);
        explain_slot(x->f, v, x->sharing, t);
        x->place = (explain_place)(i->reuse ? EXPLAIN_NOWHERE : explain_place_of(x->f, v));
        x->bytes = x->place == EXPLAIN_NOWHERE ? 0 : bytes_made(x, v);
        note(x, t, 'n');
    }
}

static void note_instr(explainer *x, const ir_instr *i, masu__buffer *t) {
    switch (i->op) {
    case IR_ROOT:
        note_root(x, i, t);
        break;
    case IR_ACQUIRE:
        note_acquire(x, i, t);
        break;
    case IR_RELEASE:
        note_release(x, i, t);
        break;
    case IR_ABI:
    case IR_CALL:
    case IR_COMPREHEND:
    case IR_RECORD:
    case IR_RECORD_WORD:
    case IR_RET:
        note_arguments(x, i, t);
        note_results(x, i, t);
        break;
    default:
        break;
    }
}

/* ---- walking --------------------------------------------------------------------------------- */

uint32_t explain_line_of(const explainer *x, source_span span) {
    return span.file && span.file == x->source ? source_place_of(span).line : 0;
}

/* An inserted operation belongs to the line of the operation before it, at the start of a block
 * to the one behind; an acquire always to the one behind. */
static uint32_t line_for(const explainer *x, const ir_instr *i) {
    if (explain_line_of(x, i->span))
        return explain_line_of(x, i->span);
    for (const ir_instr *p = i->prev; p && i->op != IR_ACQUIRE; p = p->prev)
        if (explain_line_of(x, p->span))
            return explain_line_of(x, p->span);
    for (const ir_instr *n = i->next; n; n = n->next)
        if (explain_line_of(x, n->span))
            return explain_line_of(x, n->span);
    return explain_line_of(x, x->f->span);
}

/* `let q = p;` writes no instruction: where values lie and who owns them stays as it was. */
static void note_aliases(explainer *x, masu__buffer *t) {
    for (uint32_t a = 0; a < x->f->alias_count; a++) {
        const ir_alias *alias = &x->f->aliases[a];
        x->line = explain_line_of(x, alias->span);
        masu__buffer_printf(t, "`%s` is ", alias->name);
        explain_name(x->f, alias->value, t);
        note(x, t, 'i');
    }
}

static void note_function(explainer *x, masu__buffer *t) {
    pass_counts c = pass_count(x->f);
    x->line = explain_line_of(x, x->f->span);
    masu__buffer_printf(t, "%s: %" PRIu32 " slot%s (needs %" PRIu32 "), %" PRIu32 " acquire%s, %" PRIu32 " release%s",
                        x->f->name, c.slots, c.slots == 1 ? "" : "s", c.bound, c.acquires, c.acquires == 1 ? "" : "s",
                        c.releases, c.releases == 1 ? "" : "s");
    if (x->f->growing_count > 0)
        masu__buffer_printf(t, ", %" PRIu32 " growing", x->f->growing_count);
    if (x->f->room_bytes > 0)
        masu__buffer_printf(t, ", tensors in %" PRIu64 " bytes (needs %" PRIu64 ")", x->f->room_bytes,
                            x->f->room_bound);
    note(x, t, 'f');
    x->sharing = explain_sharing_of(x->f, &x->scratch);
    x->failed |= !x->sharing;
    for (uint32_t b = 0; b < x->f->block_count && x->sharing; b++) {
        for (const ir_instr *i = x->f->blocks[b]->first; i; i = i->next) {
            x->line = line_for(x, i);
            note_instr(x, i, t);
        }
    }
    note_aliases(x, t);
}

/* ---- order, and versions ------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b) {
    const explain_event *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static const ir_function *original(const ir_function *f) {
    return f->specialised_from ? f->specialised_from : f;
}

/* 0: both are of one function of the source. Specialisation makes several of it, and so do types: an instance for each,
 * and one for f32 and one for f64 where the program does not say which. */
static int compare_sources(const ir_function *f, const ir_function *g) {
    const ir_function *x = original(f), *y = original(g);
    if (x->span.file != y->span.file || x->span.file == NULL)
        return x->span.file != y->span.file ? (x->span.file > y->span.file ? 1 : -1) : (x > y) - (x < y);
    return (x->span.offset > y->span.offset) - (x->span.offset < y->span.offset);
}

static int by_original(const void *a, const void *b) {
    return compare_sources(*(const ir_function *const *)a, *(const ir_function *const *)b);
}

static bool count_originals(explainer *x) {
    uint32_t n = x->m->function_count;
    const ir_function **sorted = MASU_ARENA_ARRAY(&x->scratch, const ir_function *, n ? n : 1);
    x->versions = MASU_ARENA_ARRAY(&x->scratch, uint32_t, n ? n : 1);
    if (!sorted || !x->versions)
        return false;
    for (uint32_t f = 0; f < n; f++)
        sorted[f] = x->m->functions[f];
    if (n > 0)
        qsort(sorted, n, sizeof *sorted, by_original);
    for (uint32_t from = 0, to = 0; from < n; from = to) {
        while (to < n && compare_sources(sorted[to], sorted[from]) == 0)
            to++;
        for (uint32_t k = from; k < to; k++)
            x->versions[sorted[k]->id] = to - from;
    }
    return true;
}

static bool says_the_same(const explain_event *a, const explain_event *b) {
    return strcmp(a->text, b->text) == 0 && compare_sources(a->version, b->version) == 0;
}

bool explain_said_before(const explain_event *first, const explain_event *e) {
    for (const explain_event *before = first; before < e; before++)
        if (says_the_same(before, e))
            return true;
    return false;
}

/* Events of one line come version by version. */
static uint32_t count_versions(const explain_event *first, const explain_event *end, const explain_event *e) {
    uint32_t count = 0;
    const ir_function *last = NULL;
    for (const explain_event *other = first; other < end; other++) {
        if (other->version == last || !says_the_same(other, e))
            continue;
        last = other->version;
        count++;
    }
    return count;
}

bool explain_is_summary(const explain_event *e) {
    return e->kind == 'f';
}

void explain_versions(const explainer *x, const explain_event *first, const explain_event *end, const explain_event *e,
                      masu__buffer *out) {
    const ir_function *last = NULL;
    if (explain_is_summary(e) || count_versions(first, end, e) == x->versions[e->version->id])
        return;
    for (const explain_event *other = first; other < end; other++) {
        if (other->version == last || !says_the_same(other, e))
            continue;
        masu__buffer_printf(out, "%s%s", last ? "," : "{", other->version->ownership);
        last = other->version;
    }
    masu__buffer_puts(out, "} ");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void put_all(const explainer *x, masu_explain_form form, masu__buffer *out) {
    if (form == MASU_EXPLAIN_JSON)
        explain_json(x, out);
    else if (form == MASU_EXPLAIN_HTML)
        explain_html(x, out);
    else if (form == MASU_EXPLAIN_SHORT)
        explain_short(x, out);
    else
        explain_text(x, out);
}

void pass_explain_as(const ir_module *m, const source_file *source, masu_explain_form form, masu__buffer *out) {
    static const source_file none = {.path = "", .text = ""};
    masu__buffer text = {0};
    explainer x = {.m = m, .source = source};
    if (!x.source && m->main)
        x.source = m->main->span.file;
    if (!x.source)
        x.source = &none;
    x.failed = !count_originals(&x) || !tensor_facts_compute(&x.facts, m, &x.scratch);
    for (uint32_t f = 0; f < m->function_count && !x.failed; f++) {
        x.f = m->functions[f];
        if (!x.f->is_kernel)
            note_function(&x, &text);
    }
    if (x.count > 0)
        qsort(x.events, x.count, sizeof *x.events, by_place);
    if (!x.failed)
        put_all(&x, form, out);
    out->failed |= x.failed;
    masu__buffer_destroy(&text);
    masu__arena_destroy(&x.scratch);
}

void pass_explain(const ir_module *m, const source_file *source, masu__buffer *out) {
    pass_explain_as(m, source, MASU_EXPLAIN_TEXT, out);
}
