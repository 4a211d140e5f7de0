/* explain_values.c: one line for each tensor and object of a function, named or not: where its elements lie, where it stands while
 * something may fail, what was done with it, and where it ends.
 *
 *     values of step{ob}
 *         g * 0.1   line 4   made [8, 8] in the frame at 0, 256 bytes   slot 1   dies in line 5
 *         w         line 3   parameter, owned                          slot 0   moves into f{o} in line 6
 */
#include <inttypes.h>

#include "language/pass/explain_frame.h"
#include "language/pass/explain_words.h"

enum { MOST_ENDS = 3, MOST_LENT = 2 };

typedef struct ending {
    const ir_instr *by; /* a release, or who takes it; NULL: a jump */
    uint32_t line;
} ending;

typedef struct story {
    ending ends[MOST_ENDS];
    const ir_instr *lent[MOST_LENT]; /* calls */
    uint32_t end_count, lent_count;
    const ir_instr *counted; /* the first acquire */
    uint32_t acquires;
    uint32_t last_line; /* of its last use in the text */
} story;

typedef struct teller {
    const ir_function *f;
    masu__arena scratch;
    story *stories; /* by value */
    explain_sharing *sharing;
    uint32_t line;
} teller;

static bool managed(const ir_function *f, ir_value v) {
    return ir_type_managed(ir_type_of(f, v));
}

static uint32_t line_of(source_span span) {
    return span.file ? source_place_of(span).line : 0;
}

/* ---- gathering --------------------------------------------------------------------------------- */

static void end(teller *t, ir_value v, const ir_instr *by) {
    story *s = &t->stories[v];
    if (!managed(t->f, v))
        return;
    for (uint32_t k = 0; k < s->end_count && k < MOST_ENDS; k++)
        if (s->ends[k].line == t->line && s->ends[k].by == by)
            return;
    if (s->end_count < MOST_ENDS)
        s->ends[s->end_count] = (ending){by, t->line};
    s->end_count++;
}

static void hear_operand(teller *t, const ir_instr *i, uint32_t a) {
    ir_value v = i->args[a];
    story *s = &t->stories[v];
    if (i->op == IR_ACQUIRE) {
        s->counted = s->counted ? s->counted : i;
        s->acquires++;
    } else if (i->op == IR_RELEASE || ir_consumes(i, a)) {
        end(t, v, i);
    } else if (i->op == IR_CALL) {
        if (s->lent_count < MOST_LENT)
            s->lent[s->lent_count] = i;
        s->lent_count++;
    }
    if (i->op != IR_RELEASE && i->op != IR_ROOT && i->op != IR_UNROOT && i->op != IR_ACQUIRE &&
        t->line > s->last_line)
        s->last_line = t->line;
}

static void hear(teller *t, const ir_instr *i) {
    uint32_t line = line_of(i->span);
    t->line = line ? line : t->line;
    for (uint32_t a = 0; a < i->arg_count; a++)
        if (managed(t->f, i->args[a]))
            hear_operand(t, i, a);
    for (int k = 0; k < ir_target_count(i); k++)
        for (uint32_t a = 0; a < i->target[k].count; a++)
            end(t, i->target[k].args[a], NULL);
}

/* What a pass inserted at the start of a block belongs to the line behind it. */
static uint32_t first_line(const ir_function *f, const ir_block *b) {
    for (const ir_instr *i = b->first; i; i = i->next)
        if (line_of(i->span))
            return line_of(i->span);
    return line_of(f->span);
}

static bool gather(teller *t) {
    t->stories = MASU_ARENA_ARRAY(&t->scratch, story, t->f->value_count);
    t->sharing = explain_sharing_of(t->f, &t->scratch);
    if (!t->stories || !t->sharing)
        return false;
    for (uint32_t b = 0; b < t->f->block_count; b++) {
        t->line = first_line(t->f, t->f->blocks[b]);
        for (const ir_instr *i = t->f->blocks[b]->first; i; i = i->next)
            hear(t, i);
    }
    return true;
}

/* ---- telling ----------------------------------------------------------------------------------- */

static void put_origin(const teller *t, ir_value v, masu__buffer *out) {
    const ir_value_info *info = &t->f->values[v];
    if (info->is_parameter)
        masu__buffer_puts(out, info->borrowed ? "parameter, borrowed" : "parameter, owned");
    else if (!info->def)
        masu__buffer_puts(out, "whichever way led here");
    else if (info->def->op == IR_CALL)
        masu__buffer_printf(out, "received from %s", info->def->callee->name);
    else
        masu__buffer_puts(out, "made");
    explain_shape(t->f, v, out);
    if (info->def && info->def->reuse) {
        masu__buffer_puts(out, " over ");
        explain_name(t->f, info->def->reuse, out);
    }
    explain_buffer(t->f, v, out);
}

static void put_end(const ending *e, masu__buffer *out) {
    if (!e->by)
        masu__buffer_puts(out, "goes on under another name");
    else if (e->by->op == IR_RELEASE)
        masu__buffer_puts(out, "dies");
    else if (e->by->op == IR_RET)
        masu__buffer_puts(out, "moves out");
    else if (e->by->op == IR_CALL)
        masu__buffer_printf(out, "moves into %s", e->by->callee->name);
    else
        masu__buffer_puts(out, "moves");
    if (e->line)
        masu__buffer_printf(out, " in line %" PRIu32, e->line);
}

static void put_ends(const story *s, masu__buffer *out) {
    for (uint32_t k = 0; k < s->end_count && k < MOST_ENDS; k++) {
        masu__buffer_puts(out, k ? ", " : "");
        put_end(&s->ends[k], out);
    }
    if (s->end_count > MOST_ENDS)
        masu__buffer_puts(out, ", …");
}

static void put_lent(const story *s, masu__buffer *out) {
    for (uint32_t k = 0; k < s->lent_count && k < MOST_LENT; k++)
        masu__buffer_printf(out, "%s%s", k ? ", " : "lent to ", s->lent[k]->callee->name);
    if (s->lent_count > MOST_LENT)
        masu__buffer_printf(out, " and %" PRIu32 " more", s->lent_count - MOST_LENT);
}

static void put_counted(const teller *t, const story *s, masu__buffer *out) {
    masu__buffer_printf(out, "counted %" PRIu32 " time%s: %s", s->acquires,
                        s->acquires == 1 ? "" : "s", explain_reason(t->f, s->counted));
}

static void put_value(const teller *t, ir_value v, masu__buffer *out) {
    const story *s = &t->stories[v];
    uint32_t line = line_of(t->f->values[v].span);
    masu__buffer_puts(out, "    ");
    explain_name(t->f, v, out);
    if (line)
        masu__buffer_printf(out, ", line %" PRIu32, line);
    masu__buffer_puts(out, ": ");
    put_origin(t, v, out);
    explain_slot(t->f, v, t->sharing, out);
    if (s->lent_count > 0) {
        masu__buffer_puts(out, "; ");
        put_lent(s, out);
    }
    if (s->acquires > 0) {
        masu__buffer_puts(out, "; ");
        put_counted(t, s, out);
    }
    if (s->last_line)
        masu__buffer_printf(out, "; last used in line %" PRIu32, s->last_line);
    if (s->end_count > 0) {
        masu__buffer_puts(out, "; ");
        put_ends(s, out);
    }
    masu__buffer_putc(out, '\n');
}

void explain_values(const ir_function *f, masu__buffer *out) {
    teller t = {.f = f};
    bool any = false;
    if (f->is_kernel)
        return;
    out->failed |= !gather(&t);
    for (ir_value v = 1; t.stories && t.sharing && v < f->value_count; v++) {
        if (!managed(f, v))
            continue;
        if (!any)
            masu__buffer_printf(out, "\nvalues of %s\n", f->name);
        any = true;
        put_value(&t, v, out);
    }
    masu__arena_destroy(&t.scratch);
}

/* ---- as data ------------------------------------------------------------------------------------- */

static void put_text_member(const char *name, const masu__buffer *text, masu__buffer *out) {
    masu__buffer_printf(out, ", \"%s\": ", name);
    masu__buffer_json_string(out, masu__buffer_text(text), text->length);
}

static void put_value_json(const teller *t, ir_value v, masu__buffer *out) {
    const story *s = &t->stories[v];
    const ir_place *place = ir_place_of(t->f, v);
    masu__buffer text = {0};
    explain_name(t->f, v, &text);
    masu__buffer_puts(out, "{\"value\": ");
    masu__buffer_json_string(out, masu__buffer_text(&text), text.length);
    masu__buffer_printf(out, ", \"line\": %" PRIu32, line_of(t->f->values[v].span));
    masu__buffer_truncate(&text, 0);
    put_origin(t, v, &text);
    put_text_member("origin", &text, out);
    const char *where = !place         ? t->f->values[v].pooled ? "pool" : "elsewhere"
                        : place->bytes ? "frame"
                        : place->slot  ? "growing"
                                       : "caller";
    masu__buffer_printf(out, ", \"where\": \"%s\"", where);
    if (place && place->bytes)
        masu__buffer_printf(out, ", \"offset\": %" PRIu64 ", \"bytes\": %" PRIu64, place->at,
                            place->bytes);
    if (place && place->slot)
        masu__buffer_printf(out, ", \"growing_slot\": %" PRIu32, place->slot - 1);
    masu__buffer_printf(out,
                        ", \"slot\": %" PRId32 ", \"lent\": %" PRIu32 ", \"counted\": %" PRIu32,
                        t->f->values[v].slot, s->lent_count, s->acquires);
    if (s->acquires > 0) {
        masu__buffer_puts(out, ", \"why\": ");
        const char *why = explain_reason(t->f, s->counted);
        masu__buffer_printf(out, "\"%s\"", why);
    }
    masu__buffer_truncate(&text, 0);
    put_ends(s, &text);
    masu__buffer_printf(out, ", \"last_use\": %" PRIu32, s->last_line);
    put_text_member("ends", &text, out);
    masu__buffer_putc(out, '}');
    out->failed |= text.failed;
    masu__buffer_destroy(&text);
}

void explain_values_json(const ir_function *f, masu__buffer *out) {
    teller t = {.f = f};
    const char *comma = "";
    masu__buffer_puts(out, "\"values\": [");
    out->failed |= !gather(&t);
    for (ir_value v = 1; t.stories && t.sharing && v < f->value_count; v++) {
        if (!managed(f, v))
            continue;
        masu__buffer_printf(out, "%s\n      ", comma);
        put_value_json(&t, v, out);
        comma = ",";
    }
    masu__buffer_putc(out, ']');
    masu__arena_destroy(&t.scratch);
}
