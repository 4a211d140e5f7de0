/* explain_text.c: see explain_events.h. Short: the totals, then the source with a few numbers a line. Long: the source
 * with its margin, then function by function its frame and its values, then the passes.
 */
#include <inttypes.h>

#include "language/explain/explain_events.h"
#include "language/explain/explain_frame.h"
#include "language/explain/explain_totals.h"
#include "language/explain/explain_values.h"
#include "language/pass/pass.h"

enum { WIDEST = 64 };

static void put_margin(const explainer *x, const explain_event *first, const explain_event *end, masu__buffer *out) {
    bool any = false;
    for (const explain_event *e = first; e < end; e++) {
        if (explain_said_before(first, e))
            continue;
        masu__buffer_puts(out, any ? "; " : "");
        explain_versions(x, first, end, e, out);
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

static void put_line(const explainer *x, uint32_t line, uint32_t width, const masu__buffer *margin, masu__buffer *out) {
    const source_file *s = x->source;
    uint32_t start = s->line_starts[line - 1];
    uint32_t stop = line < s->line_count ? s->line_starts[line] : (uint32_t)s->length;
    while (stop > start && (s->text[stop - 1] == '\n' || s->text[stop - 1] == '\r'))
        stop--;
    masu__buffer_printf(out, "%5" PRIu32 " | ", line);
    masu__buffer_append(out, s->text + start, stop - start);
    if (margin->length > 0) {
        uint32_t used = characters(s->text + start, stop - start);
        masu__buffer_fill(out, ' ', used < width ? width - used : 0);
        masu__buffer_puts(out, " | ");
        masu__buffer_puts(out, masu__buffer_text(margin));
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
    masu__buffer_puts(out,
                      "Beside each line: what happens there to tensors and other values that live in memory.\n"
                      "\n"
                      "  made, received      here it begins: an operation makes it, a function returns it\n"
                      "  in the frame at N   its elements lie in memory of the function's own: nothing is asked for\n"
                      "  in growing slot N   they lie in a buffer that stays with the program for the next one "
                      "made here\n"
                      "  where the caller …  it leaves, and is built where it goes\n"
                      "  in a pool (why)     they are asked of a pool, and why that could not be avoided\n"
                      "  over `x`            they are written over those of `x`, which are not read afterwards\n"
                      "  slot N with `x`     where an error would find and release it; `x` is there at other times\n"
                      "  `y` is `x`          another name for what was there: no memory and no count of its own\n"
                      "  lent, moves         read by a function without a count; given away: it has another owner\n"
                      "  dies, acquired      its memory is free again; a count was needed, and why\n"
                      "  f{ob}               the version of f that takes over its first argument and borrows its "
                      "second\n"
                      "\n");
}

static void put_source(const explainer *x, bool in_words, masu__buffer *out) {
    const explain_event *at = x->events, *end = x->events + x->count;
    uint32_t width = width_of(x->source);
    masu__buffer margin = {0};
    while (at < end && at->line == 0) /* functions without a place: in front */
        at++;
    for (const explain_event *e = x->events; e < at && in_words; e++)
        if (explain_is_summary(e))
            masu__buffer_printf(out, "%s\n", e->text);
    uint32_t lines = x->source->line_count;
    if (lines > 0 && x->source->line_starts[lines - 1] == x->source->length)
        lines--; /* nothing follows the end of the last line */
    for (uint32_t line = 1; line <= lines; line++) {
        const explain_event *first = at;
        while (at < end && at->line == line)
            at++;
        masu__buffer_truncate(&margin, 0);
        explain_costs costs = explain_costs_of(first, at);
        if (in_words)
            put_margin(x, first, at, &margin);
        else
            explain_put_costs(&costs, &margin);
        put_line(x, line, width, &margin, out);
    }
    out->failed |= margin.failed;
    masu__buffer_destroy(&margin);
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
    masu__buffer_printf(
        out, "\n%" PRIu32 " function%s in the program, %" PRIu32 " acquire%s and %" PRIu32 " release%s in the text\n",
        functions, functions == 1 ? "" : "s", acquires, acquires == 1 ? "" : "s", releases, releases == 1 ? "" : "s");
}

typedef struct listing {
    const ir_function *f;
    masu__buffer *out;
    bool any;
} listing;

static void put_part(const char *joint, const masu__buffer *text, masu__buffer *out) {
    if (text->length > 0)
        masu__buffer_printf(out, "%s%s", joint, masu__buffer_text(text));
}

static void put_value(void *user, const explain_account *account) {
    listing *l = user;
    if (!l->any)
        masu__buffer_printf(l->out, "\nvalues of %s\n", l->f->name);
    l->any = true;
    put_part("    ", &account->name, l->out);
    if (account->line)
        masu__buffer_printf(l->out, ", line %" PRIu32, account->line);
    put_part(": ", &account->origin, l->out);
    put_part("", &account->slot_words, l->out);
    if (account->lent_kinds > 0)
        masu__buffer_puts(l->out, "; ");
    explain_put_lent(account, l->out);
    if (account->counted > 0)
        masu__buffer_printf(l->out, "; counted %" PRIu32 " time%s: %s", account->counted,
                            account->counted == 1 ? "" : "s", account->why_counted);
    if (account->last_use)
        masu__buffer_printf(l->out, "; last used in line %" PRIu32, account->last_use);
    put_part("; ", &account->ends, l->out);
    masu__buffer_putc(l->out, '\n');
}

void explain_short(const explainer *x, masu__buffer *out) {
    explain_totals totals = explain_totals_of(x);
    masu__buffer_printf(out, "%s: ", x->source->path);
    explain_put_totals(&totals, out);
    masu__buffer_putc(out, '\n');
    put_source(x, false, out);
    masu__buffer_puts(out, "\n--verbose says of which value, and why; --html shows it as a page\n");
}

void explain_text(const explainer *x, masu__buffer *out) {
    put_words(out);
    put_source(x, true, out);
    for (uint32_t f = 0; f < x->m->function_count; f++) {
        explain_frame(x->m->functions[f], out);
        listing l = {x->m->functions[f], out, false};
        out->failed |= !explain_tell(l.f, put_value, &l);
    }
    explain_tallies(x->m, out);
    put_totals(x, out);
}
