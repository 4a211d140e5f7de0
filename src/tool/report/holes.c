/* holes.c: fragmentation: what is free inside the segments of the lowest pools, at each moment of the facts and at each
 * refusal.
 *
 *     segment ├──────────────────────────────────┤
 *     blocks    ▒▒▒▒   ▒▒     ▒▒▒▒▒▒▒
 *     holes        ├───┤ ├───┤       ├───────────┤      largest = the most that one request could get
 *
 * Blocks and segments are sorted by address once; each moment is one sweep over them. Moments are few, so the sweep is.
 */
#include <stdlib.h>

#include "base/meta.h"
#include "tool/report/facts.h"

typedef struct sorted_ranges {
    uint32_t *spans, *segments;
    size_t span_count, segment_count;
} sorted_ranges;

static const report_facts *facts_of_sort;

static int compare(uint16_t device_a, uint64_t a, uint16_t device_b, uint64_t b) {
    if (device_a != device_b)
        return device_a < device_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int span_order(const void *a, const void *b) {
    const report_span *x = &facts_of_sort->spans[*(const uint32_t *)a],
                      *y = &facts_of_sort->spans[*(const uint32_t *)b];
    return compare(x->device, x->address, y->device, y->address);
}

static int segment_order(const void *a, const void *b) {
    const report_segment *x = &facts_of_sort->segments[*(const uint32_t *)a],
                         *y = &facts_of_sort->segments[*(const uint32_t *)b];
    return compare(x->device, x->address, y->device, y->address);
}

/* Memory that blocks may lie in: segments, or what is mapped where addresses and memory are apart. */
static bool holds_memory(const report_facts *f, const report_segment *s) {
    const masu__recorded_event *e = &f->recording->events[s->begin];
    bool is_addresses = !s->is_mapping && e->kind == MASU__RECORDED_SEGMENT_ADD &&
                        (e->flags & MASU__RECORDED_EXPANDABLE);
    return f->recording->pools[s->pool].below == 0 && !is_addresses;
}

static bool sort(const report_facts *f, sorted_ranges *out) {
    *out = (sorted_ranges){0};
    out->spans = masu__meta_alloc((f->span_count + 1) * sizeof *out->spans);
    out->segments = masu__meta_alloc((f->segment_count + 1) * sizeof *out->segments);
    if (!out->spans || !out->segments)
        return false;
    for (size_t i = 0; i < f->span_count; i++)
        if (f->recording->pools[f->spans[i].pool].below == 0)
            out->spans[out->span_count++] = (uint32_t)i;
    for (size_t i = 0; i < f->segment_count; i++)
        if (holds_memory(f, &f->segments[i]))
            out->segments[out->segment_count++] = (uint32_t)i;
    facts_of_sort = f;
    qsort(out->spans, out->span_count, sizeof *out->spans, span_order);
    qsort(out->segments, out->segment_count, sizeof *out->segments, segment_order);
    return true;
}

static void see_hole(report_moment *m, uint64_t from, uint64_t to) {
    if (to <= from)
        return;
    m->free_bytes += to - from;
    m->holes++;
    if (to - from > m->largest_hole_bytes)
        m->largest_hole_bytes = to - from;
}

static void sweep(const report_facts *f, const sorted_ranges *s, report_moment *m) {
    size_t at = 0;
    m->free_bytes = m->holes = m->largest_hole_bytes = 0;
    for (size_t i = 0; i < s->segment_count; i++) {
        const report_segment *segment = &f->segments[s->segments[i]];
        if (segment->begin > m->event || segment->end <= m->event)
            continue;
        uint64_t cursor = segment->address, end = segment->address + segment->bytes;
        for (; at < s->span_count; at++) {
            const report_span *span = &f->spans[s->spans[at]];
            if (compare(span->device, span->address, segment->device, end) >= 0)
                break;
            if (span->begin > m->event || span->end <= m->event ||
                compare(span->device, span->address, segment->device, segment->address) < 0)
                continue;
            see_hole(m, cursor, span->address);
            uint64_t behind = span->address + span->given_bytes;
            cursor = behind > cursor ? behind : cursor;
        }
        see_hole(m, cursor, end);
    }
}

masu_status report_find_holes(report_facts *f) {
    sorted_ranges s;
    bool fits = sort(f, &s);
    for (size_t i = 0; fits && i < f->moment_count; i++)
        sweep(f, &s, &f->moments[i]);
    for (size_t i = 0; fits && i < f->refusal_count; i++)
        sweep(f, &s, &f->refusals[i].then);
    masu__meta_free(s.spans, (f->span_count + 1) * sizeof *s.spans);
    masu__meta_free(s.segments, (f->segment_count + 1) * sizeof *s.segments);
    return fits ? MASU_OK : MASU_ERR_OUT_OF_MEMORY;
}
