/* explain_html.c: see explain_events.h. One page that needs nothing but itself: no script, no other file.
 *
 *     the totals and the lines that cost most
 *     the source, beside each line what it costs; folded below it, what happens there in words, coloured by kind
 *     folded, for each function: its frame drawn, a table of its values; the numbers behind each pass
 */
#include <inttypes.h>
#include <string.h>

#include "language/explain/explain_events.h"
#include "language/explain/explain_frame.h"
#include "language/explain/explain_totals.h"
#include "language/explain/explain_values.h"
#include "language/pass/pass.h"

static const char style[] =
    "body{font:15px/1.45 sans-serif;margin:1em 2em;color:#222}table{border-spacing:0;width:100%}"
    ".t{font-weight:bold;white-space:pre-line}summary{cursor:pointer;margin:.4em 0}"
    ".r{display:grid;grid-template-columns:3em minmax(0,1fr) 18em;column-gap:1em;margin:0;padding:1px 0}"
    ".r:hover,tr:hover{background:#f4f4f4}.r b{font-weight:normal;color:#999;text-align:right}"
    ".r code{white-space:pre-wrap;overflow-wrap:anywhere}.r i{font-style:normal;font-size:13px;color:#555}"
    "summary.r{list-style:none}summary.r i::before{content:'▸ '}details[open]>summary.r i::before{content:'▾ '}"
    ".e{margin:.2em 0 .6em 4em}td,th{vertical-align:top;padding:1px .7em;text-align:left}td.n{text-align:right}"
    "summary h2{display:inline;font-size:17px}th{border-bottom:1px solid #bbb}"
    "span{border-radius:4px;padding:0 .4em;margin:0 .2em .2em 0;font-size:13px;display:inline-block}"
    "span.n{background:#e3f1e3}.m{background:#e2ecf8}.b{background:#eee}span.i{background:#f5f0dc}"
    ".d{background:#f3e6d8}.a{background:#f6c9c9}.f{background:#fff;border:1px solid #bbb}"
    "svg{display:block;margin:.7em 0}svg text{font:11px monospace}rect{fill:#cfe3cf;stroke:#5a8a5a;stroke-width:.5}\n";

static const char words[] =
    "<details><summary>The words beside the lines</summary><p>Beside each line is what happens there to tensors and "
    "other values that live in memory:\n"
    "<span class=n>made or received: here it begins</span> <span class=i>is: another name of what "
    "was there</span> <span class=b>lent: read by a function without a count</span> <span "
    "class=m>moves: another owner from here on</span> <span class=d>dies: its memory is free "
    "again</span> <span class=a>acquired: a count was needed, and why</span></p>\n"
    "<ul><li><b>in the frame at N</b>: its elements lie in memory of the function's own, nothing "
    "is asked for<li><b>in growing slot N</b>: in a buffer that stays for the next one made "
    "here<li><b>where the caller has room</b>: it leaves, and is built where it goes<li><b>in a "
    "pool (why)</b>: asked of a pool, and why that could not be avoided<li><b>over x</b>: written "
    "over the elements of x, which are not read afterwards<li><b>slot N with x</b>: where an "
    "error would find and release it; x is there at other times<li><b>f{ob}</b>: the version "
    "of f that takes over its first argument and borrows its second</ul></details>\n";

static void put_string(const char *text, masu__buffer *out) {
    masu__buffer_html(out, text, strlen(text));
}

static void put_buffer(const masu__buffer *text, masu__buffer *out) {
    masu__buffer_html(out, masu__buffer_text(text), text->length);
}

/* ---- the source ------------------------------------------------------------------------------ */

static void put_events(const explainer *x, const explain_event *first, const explain_event *end, masu__buffer *out) {
    for (const explain_event *e = first; e < end; e++) {
        masu__buffer one = {0};
        if (explain_said_before(first, e))
            continue;
        explain_versions(x, first, end, e, &one);
        masu__buffer_puts(&one, e->text);
        masu__buffer_printf(out, "<span class=%c>", e->kind);
        put_buffer(&one, out);
        masu__buffer_puts(out, "</span> ");
        out->failed |= one.failed;
        masu__buffer_destroy(&one);
    }
}

static bool is_dear(const explain_totals *t, uint32_t line) {
    for (uint32_t k = 0; k < t->most_count; k++)
        if (t->most[k].line == line)
            return true;
    return false;
}

/* The line and, beside it, its costs in numbers; below, folded but for the dearest ones, what happens in words. */
static void put_row(const explainer *x, const explain_totals *t, uint32_t line, const explain_event *first,
                    const explain_event *end, masu__buffer *out) {
    uint32_t length;
    const char *text = source_line(x->source, line, &length), *row = first < end ? "summary" : "div";
    if (first < end)
        masu__buffer_puts(out, is_dear(t, line) ? "<details open>" : "<details>");
    masu__buffer_printf(out, "<%s class=r><b>%" PRIu32 "</b><code>", row, line);
    masu__buffer_html(out, text, length);
    masu__buffer_puts(out, "</code>");
    if (first < end) {
        explain_costs costs = explain_costs_of(first, end);
        size_t before = out->length;
        masu__buffer_puts(out, "<i>");
        explain_put_costs(&costs, out);
        masu__buffer_puts(out, out->length == before + 3 ? "makes nothing" : "");
        explain_put_bytes(&costs, out);
        masu__buffer_puts(out, "</i>");
    }
    masu__buffer_printf(out, "</%s>", row);
    if (first < end) {
        masu__buffer_puts(out, "<div class=e>");
        put_events(x, first, end, out);
        masu__buffer_puts(out, "</div></details>");
    }
    masu__buffer_putc(out, '\n');
}

static void put_source(const explainer *x, const explain_totals *t, masu__buffer *out) {
    const explain_event *at = x->events, *end = x->events + x->count;
    while (at < end && at->line == 0)
        at++;
    for (uint32_t line = 1; line <= x->source->line_count; line++) {
        const explain_event *first = at;
        while (at < end && at->line == line)
            at++;
        put_row(x, t, line, first, at, out);
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static void put_number(uint32_t n, masu__buffer *out) {
    masu__buffer_puts(out, "<td class=n>");
    if (n > 0)
        masu__buffer_printf(out, "%" PRIu32, n);
}

typedef struct listing {
    const ir_function *f;
    masu__buffer *out;
    masu__buffer part; /* what is still to be escaped */
} listing;

static void put_sharers(listing *l, const explain_sharers *sharers) {
    masu__buffer_truncate(&l->part, 0);
    explain_put_sharers(l->f, sharers, &l->part);
    put_buffer(&l->part, l->out);
}

static void put_value(void *user, const explain_account *account) {
    listing *l = user;
    masu__buffer *out = l->out;
    masu__buffer_puts(out, "<tr><td>");
    put_buffer(&account->name, out);
    put_number(account->line, out);
    masu__buffer_puts(out, "<td>");
    put_buffer(&account->origin, out);
    put_sharers(l, &account->byte_sharers);
    masu__buffer_puts(out, "<td>");
    if (account->slot >= 0)
        masu__buffer_printf(out, "%" PRId32, account->slot);
    put_sharers(l, &account->slot_sharers);
    masu__buffer_puts(out, "<td>");
    masu__buffer_truncate(&l->part, 0);
    explain_put_lent(account, &l->part);
    put_buffer(&l->part, out);
    masu__buffer_puts(out, "<td>");
    if (account->counted > 0) {
        masu__buffer_printf(out, "%" PRIu32 ": ", account->counted);
        put_string(account->why_counted, out);
    }
    put_number(account->last_use, out);
    masu__buffer_puts(out, "<td>");
    put_buffer(&account->ends, out);
    masu__buffer_putc(out, '\n');
}

static void put_function(const ir_function *f, masu__buffer *out) {
    pass_counts c = pass_count(f);
    masu__buffer_puts(out, "<details><summary><h2>");
    put_string(f->name, out);
    masu__buffer_printf(out,
                        "</h2>: %" PRIu32 " owner slots, of which %" PRIu32 " are needed at least; %" PRIu64
                        " bytes for tensors in the frame, of which any plan needs %" PRIu64 "; %" PRIu32
                        " growing slots; %" PRIu32 " acquires, %" PRIu32 " releases</summary>\n",
                        c.slots, c.bound, f->room_bytes, f->room_bound, f->growing_count, c.acquires, c.releases);
    explain_frame_svg(f, out);
    masu__buffer_puts(out,
                      "<table><tr><th>value<th>line<th>how it came to be, where it lies<th>owner "
                      "slot<th>lent<th>counted<th>last use<th>ends\n");
    listing l = {.f = f, .out = out};
    out->failed |= !explain_tell(f, put_value, &l) || l.part.failed;
    masu__buffer_destroy(&l.part);
    masu__buffer_puts(out, "</table></details>\n");
}

void explain_html(const explainer *x, masu__buffer *out) {
    masu__buffer_puts(out, "<!doctype html>\n<html lang=en><meta charset=utf-8>\n<title>");
    put_string(x->source->path, out);
    masu__buffer_printf(out, ": where tensors live</title>\n<style>%s</style>\n<h1>", style);
    put_string(x->source->path, out);
    masu__buffer_puts(out, "</h1>\n<p class=t>");
    explain_totals totals = explain_totals_of(x);
    masu__buffer said = {0};
    explain_put_totals(&totals, &said);
    put_buffer(&said, out);
    out->failed |= said.failed;
    masu__buffer_destroy(&said);
    masu__buffer_printf(out, "</p>\n%s", words);
    put_source(x, &totals, out);
    for (uint32_t f = 0; f < x->m->function_count; f++)
        if (!x->m->functions[f]->is_kernel)
            put_function(x->m->functions[f], out);
    masu__buffer_puts(out, "<details><summary><h2>Passes</h2></summary>\n<pre>");
    masu__buffer tallies = {0};
    explain_tallies(x->m, &tallies);
    put_buffer(&tallies, out);
    out->failed |= tallies.failed;
    masu__buffer_destroy(&tallies);
    masu__buffer_puts(out, "</pre></details>\n</html>\n");
}
