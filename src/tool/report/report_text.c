/* report_text.c: `masu report --text`. */
#include <string.h>

#include "tool/report/report.h"

enum { LINES_SHOWN = 12, NAME_COLUMN = 46 };

static void put_bytes(masu__buffer *out, uint64_t bytes) {
    masu__buffer text = {0};
    masu__buffer_put_bytes(&text, bytes);
    masu__buffer_printf(out, "%11s", masu__buffer_text(&text));
    out->failed |= text.failed;
    masu__buffer_destroy(&text);
}

static void put_count(masu__buffer *out, uint64_t count, int width) {
    masu__buffer text = {0};
    masu__buffer_put_grouped(&text, count);
    masu__buffer_printf(out, "%*s", width, masu__buffer_text(&text));
    out->failed |= text.failed;
    masu__buffer_destroy(&text);
}

static void put_row_name(masu__buffer *out, masu__buffer *name) {
    masu__buffer_printf(out, "  %-*s", NAME_COLUMN, masu__buffer_text(name));
    out->failed |= name->failed;
    masu__buffer_destroy(name);
}

static void put_sentence(masu__buffer *out, void (*say)(masu__buffer *, const report_facts *), const report_facts *f) {
    size_t before = out->length;
    say(out, f);
    if (out->length > before)
        masu__buffer_puts(out, "\n");
}

static void put_head(masu__buffer *out, const report_facts *f) {
    const masu__recording *r = f->recording;
    masu__buffer_printf(out, "%s: %s, ", report_file_name(f->path), r->source_format);
    masu__buffer_put_grouped(out, r->event_count);
    masu__buffer_puts(out, " events");
    if (r->event_count && r->has_times)
        masu__buffer_printf(out, " in %.3f s", (double)r->events[r->event_count - 1].time_ns / 1e9);
    masu__buffer_puts(out, "\n");
    for (unsigned i = 0; i < r->setting_count; i++)
        masu__buffer_printf(out, "%s: %s\n", masu__recording_text(r, r->settings[i].name),
                            masu__recording_text(r, r->settings[i].value));
    put_sentence(out, report_say_whole, f);
    masu__buffer_puts(out, "\n");
}

static void put_totals(masu__buffer *out, const report_facts *f) {
    masu__buffer_puts(out, "Requests  ");
    put_count(out, f->requests, 0);
    masu__buffer_puts(out, " served, ");
    put_count(out, f->frees, 0);
    masu__buffer_puts(out, " given back, ");
    put_count(out, f->refused, 0);
    masu__buffer_puts(out, " refused");
    if (f->known)
        masu__buffer_printf(out, "; %.2f %% without asking the device", report_percent(f->hits, f->known));
    masu__buffer_puts(out, "\n");
    masu__buffer_puts(out, "Memory    at most ");
    masu__buffer_put_bytes(out, f->peak_bytes);
    masu__buffer_puts(out, " alive, ");
    masu__buffer_put_bytes(out, f->most_reserved_bytes);
    masu__buffer_puts(out, " taken from devices\n");
    masu__buffer_printf(out, "Rounding  %.1f %% of what was given was not asked for\n\n",
                        report_percent(f->given_bytes - f->asked_bytes, f->given_bytes));
    put_sentence(out, report_say_peak, f);
    put_sentence(out, report_say_fragmentation, f);
    put_sentence(out, report_say_leaks, f);
    for (size_t i = 0; i < f->refusal_count; i++) {
        report_say_refusal(out, f, &f->refusals[i]);
        masu__buffer_puts(out, "\n");
    }
    if (f->refusals_left_out)
        masu__buffer_printf(out, "%llu more were refused.\n", (unsigned long long)f->refusals_left_out);
}

static void put_lines(masu__buffer *out, const report_facts *f) {
    size_t count = 0;
    for (size_t i = 0; i < f->line_count; i++)
        count += !report_is_empty(&f->lines[i]);
    size_t shown = count < LINES_SHOWN ? count : LINES_SHOWN; /* empty ones come last */
    masu__buffer_printf(out, "\n%-*s%13s%9s%11s%11s%11s\n", NAME_COLUMN, "Where", "at the peak", "blocks", "at most",
                        "at the end", "requests");
    for (size_t i = 0; i < shown; i++) {
        const report_line *l = &f->lines[f->by_peak[i]];
        masu__buffer name = {0};
        if (report_is_empty(l))
            continue;
        report_put_line_name(&name, f, l);
        put_row_name(out, &name);
        put_bytes(out, l->peak_bytes);
        put_count(out, l->peak_blocks, 9);
        put_bytes(out, l->most_bytes);
        put_bytes(out, l->end_bytes);
        put_count(out, l->allocations, 11);
        masu__buffer_puts(out, l->grows ? "  grows\n" : "\n");
    }
    if (shown < count)
        masu__buffer_printf(out, "  and %zu more\n", count - shown);
}

static void put_pools(masu__buffer *out, const report_facts *f) {
    masu__buffer_printf(out, "\n%-*s%13s%11s%11s%10s\n", NAME_COLUMN, "Layer", "at the peak", "at most", "requests",
                        "segments");
    for (unsigned i = 0; i < f->recording->pool_count; i++) {
        const report_pool *p = &f->pools[i];
        if (!p->requests && !p->segments && !p->most_bytes)
            continue;
        masu__buffer name = {0};
        report_put_pool_name(&name, f, i);
        put_row_name(out, &name);
        put_bytes(out, p->peak_bytes);
        put_bytes(out, p->most_bytes);
        put_count(out, p->requests, 11);
        put_count(out, p->segments, 10);
        masu__buffer_puts(out, "\n");
    }
}

static void put_sizes(masu__buffer *out, const report_facts *f) {
    masu__buffer_printf(out, "\n%-24s%12s%12s%14s\n", "Size of requests", "requests", "asked for", "given");
    for (unsigned i = 0; i < REPORT_SIZES; i++) {
        if (!f->size_requests[i])
            continue;
        masu__buffer from = {0};
        masu__buffer_put_bytes(&from, (uint64_t)1 << i);
        masu__buffer_printf(out, "  from %-17s", masu__buffer_text(&from));
        masu__buffer_destroy(&from);
        put_count(out, f->size_requests[i], 12);
        masu__buffer_puts(out, " ");
        put_bytes(out, f->size_bytes[i]);
        masu__buffer_puts(out, "   ");
        put_bytes(out, f->size_given[i]);
        masu__buffer_puts(out, "\n");
    }
}

/* ---- two runs ---------------------------------------------------------------------------------------------------- */

static void put_difference(masu__buffer *out, const char *name, uint64_t a, uint64_t b, bool is_bytes) {
    masu__buffer_printf(out, "  %-*s", NAME_COLUMN, name);
    for (int i = 0; i < 2; i++) {
        if (is_bytes)
            put_bytes(out, i ? b : a);
        else
            put_count(out, i ? b : a, 11);
        masu__buffer_puts(out, "  ");
    }
    if (a == b)
        masu__buffer_puts(out, "     the same\n");
    else if (a == 0)
        masu__buffer_puts(out, "          new\n");
    else
        masu__buffer_printf(out, "%+11.1f %%\n", 100.0 * ((double)b - (double)a) / (double)a);
}

/* The line of the other run with the same name. */
static const report_line *same_line(const report_facts *other, const char *name) {
    for (size_t i = 0; i < other->line_count; i++) {
        masu__buffer text = {0};
        report_put_line_name(&text, other, &other->lines[i]);
        bool same = strcmp(masu__buffer_text(&text), name) == 0;
        masu__buffer_destroy(&text);
        if (same)
            return &other->lines[i];
    }
    return NULL;
}

static void put_two(masu__buffer *out, const report_facts *a, const report_facts *b) {
    masu__buffer_printf(out, "%-*s%13.11s%13.11s%15s\n", NAME_COLUMN, "Two runs", report_file_name(a->path),
                        report_file_name(b->path), "difference");
    put_difference(out, "requests", a->requests, b->requests, false);
    put_difference(out, "most alive", a->peak_bytes, b->peak_bytes, true);
    put_difference(out, "most taken from devices", a->most_reserved_bytes, b->most_reserved_bytes, true);
    put_difference(out, "alive at the end", a->live_bytes, b->live_bytes, true);
    put_difference(out, "refused", a->refused, b->refused, false);
    masu__buffer_puts(out, "Alive at the peak, by line\n");
    for (int round = 0; round < 2; round++) {
        const report_facts *f = round ? b : a, *other = round ? a : b;
        for (size_t i = 0; i < f->line_count && i < LINES_SHOWN; i++) {
            const report_line *l = &f->lines[f->by_peak[i]];
            masu__buffer name = {0};
            report_put_line_name(&name, f, l);
            const report_line *same = same_line(other, masu__buffer_text(&name));
            if (round == 0 || !same)
                put_difference(out, masu__buffer_text(&name), round ? 0 : l->peak_bytes,
                               round  ? l->peak_bytes
                               : same ? same->peak_bytes
                                      : 0,
                               true);
            masu__buffer_destroy(&name);
        }
    }
    masu__buffer_puts(out, "\n");
}

void report_text(masu__buffer *out, const report_facts *f, const report_facts *other) {
    if (other)
        put_two(out, f, other);
    for (int run = 0; run < (other ? 2 : 1); run++) {
        const report_facts *one = run ? other : f;
        put_head(out, one);
        put_totals(out, one);
        put_lines(out, one);
        put_pools(out, one);
        put_sizes(out, one);
        if (run == 0 && other)
            masu__buffer_puts(out, "\n");
    }
}
