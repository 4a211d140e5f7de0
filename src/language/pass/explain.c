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

#include "language/pass/explain_frame.h"
#include "language/pass/explain_words.h"
#include "language/pass/pass.h"

enum { WIDEST = 64 };

typedef struct event {
    uint32_t line, order;
    const ir_function *version;
    const char *text;
} event;

typedef struct explainer {
    const ir_module *m;
    const source_file *source;
    masu__arena scratch;
    bool failed;
    event *events;
    uint32_t count, capacity;
    uint32_t line; /* of the event being noted */
    const ir_function *f;
    const explain_sharing *sharing; /* of f's owner slots */
    uint32_t *versions;             /* by function id: how many of the same original there are */
} explainer;

/* ---- events ---------------------------------------------------------------------------------- */

static void note(explainer *x, masu__buffer *text) {
    if (x->count == x->capacity) {
        uint32_t wanted = x->capacity ? 2 * x->capacity : 256;
        event *larger = masu__arena_grow(&x->scratch, x->events, x->capacity, wanted,
                                         sizeof *larger, _Alignof(event));
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
    x->events[x->count] =
        (event){.line = x->line, .order = x->count, .version = x->f, .text = copy};
    x->count++;
    masu__buffer_truncate(text, 0);
}

static bool managed(const ir_function *f, ir_value v) {
    return ir_type_managed(ir_type_of(f, v));
}

/* Results say at once where they will stand; parameters say it when they get there. */
static void note_root(explainer *x, const ir_instr *i, masu__buffer *t) {
    bool parameter = !x->f->values[i->args[0]].def;
    if (!parameter && i->imm.i >= 0)
        return;
    explain_name(x->f, i->args[0], t);
    if (i->imm.i < 0)
        masu__buffer_puts(t, " registered");
    else
        explain_slot(x->f, i->args[0], x->sharing, t);
    note(x, t);
}

static void note_acquire(explainer *x, const ir_instr *i, masu__buffer *t) {
    explain_name(x->f, i->args[0], t);
    masu__buffer_printf(t, " acquired: %s", explain_reason(x->f, i));
    note(x, t);
}

static void note_release(explainer *x, const ir_instr *i, masu__buffer *t) {
    explain_name(x->f, i->args[0], t);
    masu__buffer_puts(t, " dies");
    note(x, t);
}

static void note_arguments(explainer *x, const ir_instr *i, masu__buffer *t) {
    for (uint32_t a = 0; a < i->arg_count; a++) {
        if (!managed(x->f, i->args[a]))
            continue;
        bool taken = ir_consumes(i, a);
        if (i->op == IR_ABI && !taken)
            continue; /* every operation reads its operands */
        explain_name(x->f, i->args[a], t);
        if (i->op == IR_RET)
            masu__buffer_puts(t, " moves out");
        else if (i->op == IR_CALL)
            masu__buffer_printf(t, taken ? " moves into %s" : " lent to %s", i->callee->name);
        else
            masu__buffer_puts(t, taken ? " moves" : " lent");
        note(x, t);
    }
}

static void note_results(explainer *x, const ir_instr *i, masu__buffer *t) {
    for (uint32_t r = 0; r < i->result_count; r++) {
        ir_value v = i->result + r;
        if (!managed(x->f, v))
            continue;
        explain_name(x->f, v, t);
        masu__buffer_puts(t, i->op == IR_CALL ? " received" : " made");
        explain_shape(x->f, v, t);
        if (i->reuse) {
            masu__buffer_puts(t, " over ");
            explain_name(x->f, i->reuse, t);
        }
        explain_buffer(x->f, v, t);
        explain_slot(x->f, v, x->sharing, t);
        note(x, t);
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

static uint32_t line_of(const explainer *x, source_span span) {
    return span.file && span.file == x->source ? source_place_of(span).line : 0;
}

/* What a pass inserted belongs to the line of the operation before it, at the start of a block
 * to the one behind; an acquire always to the one behind. */
static uint32_t line_for(const explainer *x, const ir_instr *i) {
    if (line_of(x, i->span))
        return line_of(x, i->span);
    for (const ir_instr *p = i->prev; p && i->op != IR_ACQUIRE; p = p->prev)
        if (line_of(x, p->span))
            return line_of(x, p->span);
    for (const ir_instr *n = i->next; n; n = n->next)
        if (line_of(x, n->span))
            return line_of(x, n->span);
    return line_of(x, x->f->span);
}

static void note_function(explainer *x, masu__buffer *t) {
    pass_counts c = pass_count(x->f);
    x->line = line_of(x, x->f->span);
    masu__buffer_printf(t,
                        "%s: %" PRIu32 " slot%s (needs %" PRIu32 "), %" PRIu32
                        " acquire%s, %" PRIu32 " release%s",
                        x->f->name, c.slots, c.slots == 1 ? "" : "s", c.bound, c.acquires,
                        c.acquires == 1 ? "" : "s", c.releases, c.releases == 1 ? "" : "s");
    if (x->f->growing_count > 0)
        masu__buffer_printf(t, ", %" PRIu32 " growing", x->f->growing_count);
    if (x->f->room_bytes > 0)
        masu__buffer_printf(t, ", tensors in %" PRIu64 " bytes (needs %" PRIu64 ")",
                            x->f->room_bytes, x->f->room_bound);
    note(x, t);
    x->sharing = explain_sharing_of(x->f, &x->scratch);
    x->failed |= !x->sharing;
    for (uint32_t b = 0; b < x->f->block_count && x->sharing; b++) {
        for (const ir_instr *i = x->f->blocks[b]->first; i; i = i->next) {
            x->line = line_for(x, i);
            note_instr(x, i, t);
        }
    }
}

/* ---- the margin ------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b) {
    const event *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static const ir_function *original(const ir_function *f) {
    return f->specialised_from ? f->specialised_from : f;
}

static int by_original(const void *a, const void *b) {
    const ir_function *x = original(*(const ir_function *const *)a),
                      *y = original(*(const ir_function *const *)b);
    return (x > y) - (x < y);
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
        while (to < n && original(sorted[to]) == original(sorted[from]))
            to++;
        for (uint32_t k = from; k < to; k++)
            x->versions[sorted[k]->id] = to - from;
    }
    return true;
}

static bool says_the_same(const event *a, const event *b) {
    return strcmp(a->text, b->text) == 0 && original(a->version) == original(b->version);
}

/* The same thing said by several versions of the same function is one entry. */
static bool said_before(const event *first, const event *e) {
    for (const event *before = first; before < e; before++)
        if (says_the_same(before, e))
            return true;
    return false;
}

/* Events of one line come version by version. */
static uint32_t count_versions(const event *first, const event *end, const event *e) {
    uint32_t count = 0;
    const ir_function *last = NULL;
    for (const event *other = first; other < end; other++) {
        if (other->version == last || !says_the_same(other, e))
            continue;
        last = other->version;
        count++;
    }
    return count;
}

static bool is_summary(const event *e) {
    return strncmp(e->text, e->version->name, strlen(e->version->name)) == 0;
}

static void put_versions(const explainer *x, const event *first, const event *end, const event *e,
                         masu__buffer *out) {
    const ir_function *last = NULL;
    if (is_summary(e) || count_versions(first, end, e) == x->versions[e->version->id])
        return;
    for (const event *other = first; other < end; other++) {
        if (other->version == last || !says_the_same(other, e))
            continue;
        masu__buffer_printf(out, "%s%s", last ? "," : "{", other->version->ownership);
        last = other->version;
    }
    masu__buffer_puts(out, "} ");
}

static void put_margin(const explainer *x, const event *first, const event *end,
                       masu__buffer *out) {
    bool any = false;
    for (const event *e = first; e < end; e++) {
        if (said_before(first, e))
            continue;
        masu__buffer_puts(out, any ? "; " : "");
        put_versions(x, first, end, e, out);
        masu__buffer_puts(out, e->text);
        any = true;
    }
}

static uint32_t characters(const char *text, uint32_t length) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

static void put_line(const explainer *x, uint32_t line, uint32_t width, const event *first,
                     const event *end, masu__buffer *out) {
    const source_file *s = x->source;
    uint32_t start = s->line_starts[line - 1];
    uint32_t stop = line < s->line_count ? s->line_starts[line] : (uint32_t)s->length;
    while (stop > start && (s->text[stop - 1] == '\n' || s->text[stop - 1] == '\r'))
        stop--;
    masu__buffer_printf(out, "%5" PRIu32 " | ", line);
    masu__buffer_append(out, s->text + start, stop - start);
    if (first < end) {
        uint32_t used = characters(s->text + start, stop - start);
        masu__buffer_fill(out, ' ', used < width ? width - used : 0);
        masu__buffer_puts(out, " | ");
        put_margin(x, first, end, out);
    }
    masu__buffer_putc(out, '\n');
}

static uint32_t width_of(const source_file *s) {
    uint32_t width = 0;
    for (uint32_t line = 1; line <= s->line_count; line++) {
        uint32_t start = s->line_starts[line - 1];
        uint32_t stop = line < s->line_count ? s->line_starts[line] - 1 : (uint32_t)s->length;
        uint32_t used = characters(s->text + start, stop - start);
        width = used > width && used <= WIDEST ? used : width;
    }
    return width;
}

static void put_words(masu__buffer *out) {
    masu__buffer_puts(
        out,
        "Beside each line: what happens there to tensors and other values that live in memory.\n"
        "\n"
        "  made, received      here it begins: an operation makes it, a function returns it\n"
        "  in the frame at N   its elements lie in memory of the function's own: nothing is asked "
        "for\n"
        "  in growing slot N   they lie in a buffer that stays with the program for the next one "
        "made here\n"
        "  in a pool (why)     they are asked of a pool, and why that could not be avoided\n"
        "  over `x`            they are written over those of `x`, which nobody reads afterwards\n"
        "  slot N with `x`     where an error would find and release it; `x` stands there at other "
        "times\n"
        "  lent, moves         read by a function without a count; given away: it has another "
        "owner\n"
        "  dies, acquired      its memory is free again; a count was needed, and why\n"
        "  f{ob}               the version of f that takes over its first argument and borrows its "
        "second\n"
        "\n");
}

static void put_source(const explainer *x, masu__buffer *out) {
    const event *at = x->events, *end = x->events + x->count;
    uint32_t width = width_of(x->source);
    while (at < end && at->line == 0) /* functions without a place: in front */
        at++;
    for (const event *e = x->events; e < at; e++)
        if (is_summary(e))
            masu__buffer_printf(out, "%s\n", e->text);
    for (uint32_t line = 1; line <= x->source->line_count; line++) {
        const event *first = at;
        while (at < end && at->line == line)
            at++;
        put_line(x, line, width, first, at, out);
    }
}

static void put_totals(const explainer *x, masu__buffer *out) {
    uint32_t functions = 0, acquires = 0, releases = 0;
    for (uint32_t f = 0; f < x->m->function_count; f++) {
        if (x->m->functions[f]->is_kernel)
            continue;
        pass_counts c = pass_count(x->m->functions[f]);
        functions++;
        acquires += c.acquires;
        releases += c.releases;
    }
    masu__buffer_printf(out,
                        "\n%" PRIu32 " function%s in the program, %" PRIu32
                        " acquire%s and %" PRIu32 " release%s in the text\n",
                        functions, functions == 1 ? "" : "s", acquires, acquires == 1 ? "" : "s",
                        releases, releases == 1 ? "" : "s");
}

/* Behind the source: function by function its frame and its values, then the passes. */
static void put_below(const explainer *x, masu__buffer *out) {
    for (uint32_t f = 0; f < x->m->function_count; f++) {
        explain_frame(x->m->functions[f], out);
        explain_values(x->m->functions[f], out);
    }
    explain_tallies(x->m, out);
}

/* ---- other forms ----------------------------------------------------------------------------- */

static void put_json_text(const char *text, size_t length, masu__buffer *out) {
    masu__buffer_putc(out, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            masu__buffer_putc(out, '\\');
        if (c < 0x20)
            masu__buffer_printf(out, "\\u%04x", c);
        else
            masu__buffer_putc(out, text[i]);
    }
    masu__buffer_putc(out, '"');
}

static void put_json_functions(const explainer *x, masu__buffer *out) {
    const char *comma = "";
    for (uint32_t f = 0; f < x->m->function_count; f++) {
        const ir_function *fn = x->m->functions[f];
        if (fn->is_kernel)
            continue;
        pass_counts c = pass_count(fn);
        masu__buffer_printf(out, "%s\n    {\"name\": ", comma);
        put_json_text(fn->name, strlen(fn->name), out);
        masu__buffer_printf(out,
                            ", \"line\": %" PRIu32 ", \"slots\": %" PRIu32
                            ", \"lower_bound\": %" PRIu32 ", \"acquires\": %" PRIu32
                            ", \"releases\": %" PRIu32 ", ",
                            line_of(x, fn->span), c.slots, c.bound, c.acquires, c.releases);
        masu__buffer_printf(out, "\"growing_slots\": %" PRIu32 ", ", fn->growing_count);
        explain_frame_json(fn, out);
        masu__buffer_puts(out, ", ");
        explain_function_tallies_json(fn, out);
        masu__buffer_puts(out, ", ");
        explain_values_json(fn, out);
        masu__buffer_putc(out, '}');
        comma = ",";
    }
}

static void put_json(const explainer *x, masu__buffer *out) {
    const char *comma = "";
    masu__buffer_puts(out, "{\n  \"file\": ");
    put_json_text(x->source->path, strlen(x->source->path), out);
    masu__buffer_puts(out, ",\n  \"functions\": [");
    put_json_functions(x, out);
    masu__buffer_puts(out, "\n  ],\n  \"events\": [");
    for (const event *e = x->events; e < x->events + x->count; e++) {
        if (is_summary(e))
            continue;
        masu__buffer_printf(out, "%s\n    {\"line\": %" PRIu32 ", \"function\": ", comma, e->line);
        put_json_text(e->version->name, strlen(e->version->name), out);
        masu__buffer_puts(out, ", \"what\": ");
        put_json_text(e->text, strlen(e->text), out);
        masu__buffer_putc(out, '}');
        comma = ",";
    }
    masu__buffer_puts(out, "\n  ],\n  \"passes\": ");
    explain_tallies_json(x->m, out);
    masu__buffer_puts(out, "\n}\n");
}

static void put_escaped(const char *text, size_t length, masu__buffer *out) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '<' || text[i] == '>' || text[i] == '&')
            masu__buffer_printf(out, "&#%d;", text[i]);
        else
            masu__buffer_putc(out, text[i]);
    }
}

/* The colour says which of the four things it is: counted is the one that costs. */
static const char *class_of(const event *e) {
    if (is_summary(e))
        return "f";
    if (strstr(e->text, " acquired"))
        return "a";
    if (strstr(e->text, " dies"))
        return "d";
    return strstr(e->text, " moves") ? "m" : strstr(e->text, " lent") ? "b" : "n";
}

static void put_html_row(const explainer *x, uint32_t line, const event *first, const event *end,
                         masu__buffer *out) {
    uint32_t length;
    const char *text = source_line(x->source, line, &length);
    masu__buffer_printf(out, "<tr><td class=l>%" PRIu32 "<td class=s>", line);
    put_escaped(text, length, out);
    masu__buffer_puts(out, "<td>");
    for (const event *e = first; e < end; e++) {
        masu__buffer one = {0};
        if (said_before(first, e))
            continue;
        put_versions(x, first, end, e, &one);
        masu__buffer_puts(&one, e->text);
        masu__buffer_printf(out, "<span class=%s>", class_of(e));
        put_escaped(masu__buffer_text(&one), one.length, out);
        masu__buffer_puts(out, "</span> ");
        masu__buffer_destroy(&one);
    }
    masu__buffer_putc(out, '\n');
}

static void put_html(const explainer *x, masu__buffer *out) {
    masu__buffer_puts(
        out,
        "<!doctype html>\n<html lang=en><meta charset=utf-8>\n<title>Where tensors live</title>\n"
        "<style>\nbody{font:15px/1.45 sans-serif;margin:2em;color:#222}table{border-spacing:0}"
        "td{vertical-align:top;padding:1px .7em}tr:hover{background:#f4f4f4}"
        ".l{color:#999;text-align:right}.s{font-family:monospace;white-space:pre}"
        "span{border-radius:4px;padding:0 .4em;margin-right:.2em;font-size:13px;"
        "display:inline-block}.n{background:#e3f1e3}.m{background:#e2ecf8}.b{background:#eee}"
        ".d{background:#f3e6d8}.a{background:#f6c9c9}.f{background:#fff;border:1px solid #bbb}\n"
        "</style>\n<h1>");
    put_escaped(x->source->path, strlen(x->source->path), out);
    masu__buffer_puts(out,
                      "</h1>\n<p>Beside each line: <span class=n>made, and in which slot of the "
                      "frame it is protected</span> <span class=m>moves: another owner from here "
                      "on</span> <span class=b>lent: read without a count</span> <span "
                      "class=d>dies: its memory is free again</span> <span class=a>acquired: a "
                      "count was needed, and why</span></p>\n<table>\n");
    const event *at = x->events, *end = x->events + x->count;
    while (at < end && at->line == 0)
        at++;
    for (uint32_t line = 1; line <= x->source->line_count; line++) {
        const event *first = at;
        while (at < end && at->line == line)
            at++;
        put_html_row(x, line, first, at, out);
    }
    masu__buffer_puts(out, "</table>\n<h2>Frames</h2>\n<pre>");
    masu__buffer pictures = {0};
    put_below(x, &pictures);
    put_escaped(masu__buffer_text(&pictures), pictures.length, out);
    out->failed |= pictures.failed;
    masu__buffer_destroy(&pictures);
    masu__buffer_puts(out, "</pre>\n</html>\n");
}

static void put_all(const explainer *x, masu_explain_form form, masu__buffer *out) {
    if (form == MASU_EXPLAIN_JSON) {
        put_json(x, out);
    } else if (form == MASU_EXPLAIN_HTML) {
        put_html(x, out);
    } else {
        put_words(out);
        put_source(x, out);
        put_below(x, out);
        put_totals(x, out);
    }
}

void pass_explain_as(const ir_module *m, const source_file *source, masu_explain_form form,
                     masu__buffer *out) {
    static const source_file none = {.path = "", .text = ""};
    masu__buffer text = {0};
    explainer x = {.m = m, .source = source};
    if (!x.source && m->main)
        x.source = m->main->span.file;
    if (!x.source)
        x.source = &none;
    x.failed = !count_originals(&x);
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
