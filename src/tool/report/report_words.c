/* report_words.c: the words of a report: what it calls files, pools and lines, and its sentences. */
#include "tool/report/report.h"

#include <string.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

const char *report_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

double report_percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

void report_put_pool_name(masu__buffer *out, const report_facts *f, uint32_t pool) {
    const masu__recording *r = f->recording;
    const masu__recorded_pool *p = &r->pools[pool < r->pool_count ? pool : 0];
    const char *name = masu__recording_text(r, p->name), *layer = masu__recording_text(r, p->layer);
    if (*name && *layer && strcmp(name, layer) != 0)
        masu__buffer_printf(out, "%s (%s)", name, layer);
    else if (*name || *layer)
        masu__buffer_puts(out, *name ? name : layer);
    else if (pool && pool < r->pool_count)
        masu__buffer_printf(out, "pool %llu", (unsigned long long)p->number);
    else
        masu__buffer_puts(out, "memory of no pool");
}

void report_put_line_name(masu__buffer *out, const report_facts *f, const report_line *line) {
    const masu__recording *r = f->recording;
    if (line->pool) {
        report_put_pool_name(out, f, line->pool == UINT32_MAX ? 0 : line->pool);
        masu__buffer_puts(out, ", place not known");
        return;
    }
    const char *file = report_file_name(masu__recording_text(r, line->file));
    const char *function = masu__recording_text(r, line->function);
    if (*file && line->line)
        masu__buffer_printf(out, "%s:%u", file, line->line);
    else
        masu__buffer_puts(out, *file || *function ? file : "?");
    if (*function && *file)
        masu__buffer_puts(out, " in ");
    const char *end = strchr(function, '(');              /* of C++ the name alone */
    bool is_cut = end && end > function && end[1] != 'a'; /* (anonymous namespace) is part of it */
    masu__buffer_append(out, function, is_cut ? (size_t)(end - function) : strlen(function));
}

/* ---- sentences --------------------------------------------------------------------------------------------------- */

static void put_time(masu__buffer *out, const report_facts *f, uint64_t time_ns) {
    if (f->recording->has_times)
        masu__buffer_printf(out, "%.3f ms", (double)time_ns / 1e6);
    else
        masu__buffer_puts(out, "a time that the file does not say");
}

void report_say_peak(masu__buffer *out, const report_facts *f) {
    if (f->peak_bytes == 0) {
        masu__buffer_puts(out, "No memory was asked for.");
        return;
    }
    const report_moment *m = &f->moments[f->peak_moment];
    masu__buffer_puts(out, "At the peak ");
    masu__buffer_put_bytes(out, f->peak_bytes);
    masu__buffer_puts(out, " were alive in ");
    masu__buffer_put_grouped(out, f->peak_blocks);
    masu__buffer_printf(out, " %s, at event ", f->peak_blocks == 1 ? "block" : "blocks");
    masu__buffer_put_grouped(out, f->peak_event);
    masu__buffer_puts(out, " (");
    put_time(out, f, m->time_ns);
    if (f->steps)
        masu__buffer_printf(out, ", step %u of %llu", f->peak_step, (unsigned long long)f->steps);
    masu__buffer_puts(out, ")");
    if (f->line_count > 0) {
        const report_line *most = &f->lines[f->by_peak[0]];
        masu__buffer_printf(out, ": %.0f %% of them from ", report_percent(most->peak_bytes, f->peak_bytes));
        report_put_line_name(out, f, most);
    }
    masu__buffer_puts(out, ".");
}

/* The moment at which most was free and least of it usable. */
static const report_moment *worst(const report_facts *f) {
    const report_moment *found = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < f->moment_count; i++)
        if (f->moments[i].free_bytes - f->moments[i].largest_hole_bytes > most) {
            most = f->moments[i].free_bytes - f->moments[i].largest_hole_bytes;
            found = &f->moments[i];
        }
    return found;
}

void report_say_fragmentation(masu__buffer *out, const report_facts *f) {
    const report_moment *m = worst(f);
    if (!m) {
        masu__buffer_puts(out, "No memory was split: what was free lay in one piece.");
        return;
    }
    masu__buffer_puts(out, "Fragmentation was worst at event ");
    masu__buffer_put_grouped(out, m->event);
    masu__buffer_puts(out, ": ");
    masu__buffer_put_bytes(out, m->free_bytes);
    masu__buffer_puts(out, " were free in ");
    masu__buffer_put_grouped(out, m->holes);
    masu__buffer_puts(out, " holes, and the largest request that fitted was ");
    masu__buffer_put_bytes(out, m->largest_hole_bytes);
    masu__buffer_puts(out, ".");
}

void report_say_leaks(masu__buffer *out, const report_facts *f) {
    if (f->live_blocks == 0) {
        masu__buffer_puts(out, "Every block was given back.");
    } else {
        masu__buffer_put_grouped(out, f->live_blocks);
        masu__buffer_printf(out, " %s of ", f->live_blocks == 1 ? "block" : "blocks");
        masu__buffer_put_bytes(out, f->live_bytes);
        masu__buffer_puts(out,
                          f->recording->is_cut ? " were alive where the recording ends" : " were never given back");
        const report_line *most = &f->lines[f->by_end[0]];
        masu__buffer_printf(out, "; %.0f %% of that from ", report_percent(most->end_bytes, f->live_bytes));
        report_put_line_name(out, f, most);
        masu__buffer_puts(out, ".");
    }
    const report_line *grows = NULL;
    for (size_t i = 0; i < f->line_count; i++)
        if (f->lines[i].grows && (!grows || f->lines[i].most_bytes > grows->most_bytes))
            grows = &f->lines[i];
    if (!grows)
        return;
    masu__buffer_puts(out, " What grew all the time: ");
    report_put_line_name(out, f, grows);
    masu__buffer_puts(out, ", up to ");
    masu__buffer_put_bytes(out, grows->most_bytes);
    masu__buffer_puts(out, ".");
}

void report_say_whole(masu__buffer *out, const report_facts *f) {
    const masu__recording *r = f->recording;
    if (r->is_cut)
        masu__buffer_printf(out, "The recording ends at byte %llu: %s. ", (unsigned long long)r->cut_at,
                            r->cut_reason ? r->cut_reason : "the file ends");
    if (r->lost_events) {
        masu__buffer_put_grouped(out, r->lost_events);
        masu__buffer_puts(out, " events are missing: the ring was full. ");
    }
    if (f->strays) {
        masu__buffer_put_grouped(out, f->strays);
        masu__buffer_puts(out, " events are about blocks that were taken before the recording began. ");
    }
    if (f->doubled) {
        masu__buffer_put_grouped(out, f->doubled);
        masu__buffer_puts(out, " blocks were taken where one was alive: their end is missing. ");
    }
}

void report_say_refusal(masu__buffer *out, const report_facts *f, const report_refusal *refusal) {
    masu__buffer_puts(out, "A request for ");
    masu__buffer_put_bytes(out, refusal->bytes);
    masu__buffer_puts(out, " was refused at event ");
    masu__buffer_put_grouped(out, refusal->event);
    masu__buffer_puts(out, ", asked for by ");
    report_put_line_name(out, f, &f->lines[refusal->line]);
    masu__buffer_puts(out, ": ");
    masu__buffer_put_bytes(out, refusal->then.free_bytes);
    masu__buffer_puts(out, " were free, ");
    masu__buffer_put_bytes(out, refusal->then.largest_hole_bytes);
    masu__buffer_puts(out, " of it in one piece.");
    if (refusal->blocks == 0)
        return;
    masu__buffer_puts(out, " ");
    masu__buffer_put_grouped(out, refusal->blocks);
    masu__buffer_puts(out, refusal->blocks == 1 ? " block was in the way, " : " blocks were in the way, ");
    if (refusal->most_blocks == refusal->blocks)
        masu__buffer_puts(out, "all");
    else
        masu__buffer_put_grouped(out, refusal->most_blocks);
    masu__buffer_puts(out, " from ");
    report_put_line_name(out, f, &f->lines[refusal->most_line]);
    masu__buffer_puts(out, ".");
}
