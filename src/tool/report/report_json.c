/* report_json.c: `masu report --json`: one object; of two runs a list of two. Numbers are bytes, events and
 * nanoseconds. */
#include <string.h>

#include "tool/report/report.h"

static void put_text(masu__buffer *out, const char *key, const char *text) {
    masu__buffer_printf(out, "\"%s\":", key);
    masu__buffer_json_string(out, text, strlen(text));
}

static void put_sentence(masu__buffer *out, const char *key, void (*say)(masu__buffer *, const report_facts *),
                         const report_facts *f) {
    masu__buffer text = {0};
    say(&text, f);
    put_text(out, key, masu__buffer_text(&text));
    masu__buffer_putc(out, ',');
    out->failed |= text.failed;
    masu__buffer_destroy(&text);
}

static void put_number(masu__buffer *out, const char *key, uint64_t value) {
    masu__buffer_printf(out, "\"%s\":%llu,", key, (unsigned long long)value);
}

/* Removes the comma behind the last item. */
static void drop_comma(masu__buffer *out) {
    if (out->length > 0 && out->data[out->length - 1] == ',')
        masu__buffer_truncate(out, out->length - 1);
}

static void put_stack(masu__buffer *out, const report_facts *f, uint32_t place) {
    const masu__recording *r = f->recording;
    masu__buffer_puts(out, "\"stack\":[");
    for (unsigned depth = 0; place && depth < 64; place = r->places[place].caller, depth++) {
        masu__buffer line = {0};
        report_line shown = {
            .file = r->places[place].file, .function = r->places[place].function, .line = r->places[place].line};
        report_put_line_name(&line, f, &shown);
        masu__buffer_json_string(out, masu__buffer_text(&line), line.length);
        masu__buffer_putc(out, ',');
        out->failed |= line.failed;
        masu__buffer_destroy(&line);
    }
    drop_comma(out);
    masu__buffer_puts(out, "]");
}

static void put_lines(masu__buffer *out, const report_facts *f) {
    masu__buffer_puts(out, "\"lines\":[");
    for (size_t i = 0; i < f->line_count; i++) {
        const report_line *l = &f->lines[f->by_peak[i]];
        masu__buffer name = {0};
        if (report_is_empty(l))
            continue;
        report_put_line_name(&name, f, l);
        masu__buffer_putc(out, '{');
        put_text(out, "where", masu__buffer_text(&name));
        masu__buffer_putc(out, ',');
        masu__buffer_destroy(&name);
        put_number(out, "number", f->by_peak[i]);
        put_number(out, "peak_bytes", l->peak_bytes);
        put_number(out, "peak_blocks", l->peak_blocks);
        put_number(out, "most_bytes", l->most_bytes);
        put_number(out, "end_bytes", l->end_bytes);
        put_number(out, "end_blocks", l->end_blocks);
        put_number(out, "allocations", l->allocations);
        put_number(out, "total_bytes", l->total_bytes);
        masu__buffer_printf(out, "\"grows\":%s,", l->grows ? "true" : "false");
        put_stack(out, f, l->pool ? 0 : l->place);
        masu__buffer_puts(out, "},");
    }
    drop_comma(out);
    masu__buffer_puts(out, "],");
}

static void put_pools(masu__buffer *out, const report_facts *f) {
    masu__buffer_puts(out, "\"pools\":[");
    for (unsigned i = 0; i < f->recording->pool_count; i++) {
        const report_pool *p = &f->pools[i];
        masu__buffer name = {0};
        report_put_pool_name(&name, f, i);
        masu__buffer_putc(out, '{');
        put_text(out, "name", masu__buffer_text(&name));
        masu__buffer_putc(out, ',');
        masu__buffer_destroy(&name);
        put_number(out, "requests", p->requests);
        put_number(out, "peak_bytes", p->peak_bytes);
        put_number(out, "most_bytes", p->most_bytes);
        put_number(out, "asked_bytes", p->asked_bytes);
        put_number(out, "given_bytes", p->given_bytes);
        put_number(out, "segments", p->segments);
        drop_comma(out);
        masu__buffer_puts(out, "},");
    }
    drop_comma(out);
    masu__buffer_puts(out, "],");
}

static void put_moments(masu__buffer *out, const report_facts *f) {
    masu__buffer_puts(out, "\"moments\":[");
    for (size_t i = 0; i < f->moment_count; i++) {
        const report_moment *m = &f->moments[i];
        masu__buffer_printf(out, "[%u,%llu,%llu,%llu,%llu,%llu,%llu,%llu],", m->event, (unsigned long long)m->time_ns,
                            (unsigned long long)m->live_bytes, (unsigned long long)m->given_bytes,
                            (unsigned long long)m->reserved_bytes, (unsigned long long)m->free_bytes,
                            (unsigned long long)m->largest_hole_bytes, (unsigned long long)m->holes);
    }
    drop_comma(out);
    masu__buffer_puts(out, "],");
}

static void put_sizes(masu__buffer *out, const report_facts *f) {
    masu__buffer_puts(out, "\"sizes\":[");
    for (unsigned i = 0; i < REPORT_SIZES; i++)
        if (f->size_requests[i])
            masu__buffer_printf(out, "[%llu,%llu,%llu,%llu],", 1ull << i, (unsigned long long)f->size_requests[i],
                                (unsigned long long)f->size_bytes[i], (unsigned long long)f->size_given[i]);
    drop_comma(out);
    masu__buffer_puts(out, "],\"refusals\":[");
    for (size_t i = 0; i < f->refusal_count; i++) {
        masu__buffer text = {0};
        report_say_refusal(&text, f, &f->refusals[i]);
        masu__buffer_json_string(out, masu__buffer_text(&text), text.length);
        masu__buffer_putc(out, ',');
        masu__buffer_destroy(&text);
    }
    drop_comma(out);
    masu__buffer_puts(out, "]");
}

static void put_one(masu__buffer *out, const report_facts *f) {
    const masu__recording *r = f->recording;
    masu__buffer_puts(out, "{");
    put_text(out, "file", report_file_name(f->path));
    masu__buffer_putc(out, ',');
    put_text(out, "format", r->source_format);
    masu__buffer_putc(out, ',');
    for (unsigned i = 0; i < r->setting_count; i++) {
        masu__buffer_puts(out, i ? "," : "\"settings\":{");
        masu__buffer_json_string(out, masu__recording_text(r, r->settings[i].name),
                                 r->strings[r->settings[i].name].length);
        masu__buffer_putc(out, ':');
        masu__buffer_json_string(out, masu__recording_text(r, r->settings[i].value),
                                 r->strings[r->settings[i].value].length);
    }
    masu__buffer_puts(out, r->setting_count ? "}," : "");
    put_sentence(out, "missing", report_say_whole, f);
    put_sentence(out, "peak", report_say_peak, f);
    put_sentence(out, "fragmentation", report_say_fragmentation, f);
    put_sentence(out, "leaks", report_say_leaks, f);
    put_number(out, "events", r->event_count);
    put_number(out, "standing", r->standing_count);
    put_number(out, "time_ns", r->event_count ? r->events[r->event_count - 1].time_ns : 0);
    put_number(out, "has_times", r->has_times);
    put_number(out, "requests", f->requests);
    put_number(out, "frees", f->frees);
    put_number(out, "refused", f->refused);
    put_number(out, "moves", f->moves);
    put_number(out, "resizes", f->resizes);
    put_number(out, "hits", f->hits);
    put_number(out, "hits_of", f->known);
    put_number(out, "steps", f->steps);
    put_number(out, "asked_bytes", f->asked_bytes);
    put_number(out, "given_bytes", f->given_bytes);
    put_number(out, "peak_bytes", f->peak_bytes);
    put_number(out, "peak_blocks", f->peak_blocks);
    put_number(out, "peak_event", f->peak_event);
    put_number(out, "peak_reserved_bytes", f->peak_reserved_bytes);
    put_number(out, "most_reserved_bytes", f->most_reserved_bytes);
    put_number(out, "live_bytes", f->live_bytes);
    put_number(out, "live_blocks", f->live_blocks);
    put_lines(out, f);
    put_pools(out, f);
    put_moments(out, f);
    put_sizes(out, f);
    masu__buffer_puts(out, "}");
}

void report_json(masu__buffer *out, const report_facts *f, const report_facts *other) {
    if (other)
        masu__buffer_putc(out, '[');
    put_one(out, f);
    if (other) {
        masu__buffer_puts(out, ",\n");
        put_one(out, other);
        masu__buffer_putc(out, ']');
    }
    masu__buffer_puts(out, "\n");
}
