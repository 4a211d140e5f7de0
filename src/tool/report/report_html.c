/* report_html.c: `masu report -o OUT.html`: page.html with the facts as JSON and the blocks as arrays of numbers in base64, which a
 * browser takes in faster than any text of the same.
 *
 *     page.html ─┬─ before the mark ─┬─ <script type=…> facts, arrays ─┬─ after the mark
 *
 * Addresses that were never used are left out, so that terabytes of reservation fit on a screen: what is written is the
 * offset among those that were.
 */
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "tool/report/report.h"

static const char mark[] = "<!-- data -->";
enum { MOST_MARKS = 4000 };

/* ---- base64 ------------------------------------------------------------------------------------------------------------- */

static void put_base64(masu__buffer *out, const void *data, size_t count) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = data;
    char text[4096];
    size_t filled = 0;
    for (size_t i = 0; i < count; i += 3) {
        unsigned left = count - i < 3 ? (unsigned)(count - i) : 3;
        uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? bytes[i + 2] : 0);
        text[filled++] = digits[word >> 18];
        text[filled++] = digits[word >> 12 & 63];
        text[filled++] = left > 1 ? digits[word >> 6 & 63] : '=';
        text[filled++] = left > 2 ? digits[word & 63] : '=';
        if (filled == sizeof text) {
            masu__buffer_append(out, text, filled);
            filled = 0;
        }
    }
    masu__buffer_append(out, text, filled);
}

/* One array: filled by `fill`, which writes element i. */
typedef void fill_element(void *context, size_t i, void *element);

static void put_array(masu__buffer *out, int run, const char *name, size_t count, size_t element_bytes,
                      fill_element *fill, void *context) {
    unsigned char *all = masu__meta_alloc((count + 1) * element_bytes);
    if (!all) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        fill(context, i, all + i * element_bytes);
    masu__buffer_printf(out, "<script type=\"text/plain\" id=\"%s%d\">", name, run);
    put_base64(out, all, count * element_bytes);
    masu__buffer_puts(out, "</script>\n");
    masu__meta_free(all, (count + 1) * element_bytes);
}

/* ---- addresses ------------------------------------------------------------------------------------------------------------ */

typedef struct range {
    uint64_t from, to;
    double offset;
    uint16_t device;
} range;

typedef struct page {
    const report_facts *f;
    range *ranges;
    size_t range_count, range_room;
    double height;
} page;

static int by_address(const void *a, const void *b) {
    const range *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static bool is_drawn(const report_facts *f, const report_segment *s) {
    return !(f->recording->events[s->begin].flags & MASU__RECORDED_EXPANDABLE) || s->is_mapping;
}

static bool lay_out(page *p) {
    const report_facts *f = p->f;
    p->range_room = f->span_count + f->segment_count + 1;
    p->ranges = masu__meta_alloc(p->range_room * sizeof *p->ranges);
    if (!p->ranges)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < f->span_count; i++)
        p->ranges[count++] = (range){f->spans[i].address, f->spans[i].address + f->spans[i].given_bytes, 0,
                                     f->spans[i].device};
    for (size_t i = 0; i < f->segment_count; i++)
        if (is_drawn(f, &f->segments[i]))
            p->ranges[count++] = (range){f->segments[i].address, f->segments[i].address + f->segments[i].bytes, 0,
                                         f->segments[i].device};
    qsort(p->ranges, count, sizeof *p->ranges, by_address);
    size_t last = 0;
    for (size_t i = 1; i < count; i++) {
        range next = p->ranges[i], *current = &p->ranges[last];
        if (next.device == current->device && next.from <= current->to)
            current->to = next.to > current->to ? next.to : current->to;
        else
            p->ranges[++last] = next;
    }
    p->range_count = count ? last + 1 : 0;
    double total = 0;
    for (size_t i = 0; i < p->range_count; i++)
        total += (double)(p->ranges[i].to - p->ranges[i].from);
    double gap = p->range_count < 60 ? total / 150 : total / 6000;
    for (size_t i = 0; i < p->range_count; i++) {
        p->ranges[i].offset = p->height;
        p->height += (double)(p->ranges[i].to - p->ranges[i].from) + (i + 1 < p->range_count ? gap : 0);
    }
    return true;
}

static double offset_of(const page *p, uint16_t device, uint64_t address) {
    size_t low = 0, high = p->range_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        const range *r = &p->ranges[middle];
        if (r->device < device || (r->device == device && r->from <= address))
            low = middle;
        else
            high = middle;
    }
    return p->range_count ? p->ranges[low].offset + (double)(address - p->ranges[low].from) : 0;
}

/* ---- elements ---------------------------------------------------------------------------------------------------------------- */

static void span_begin(void *c, size_t i, void *e) { memcpy(e, &((page *)c)->f->spans[i].begin, 4); }
static void span_end(void *c, size_t i, void *e) { memcpy(e, &((page *)c)->f->spans[i].end, 4); }

static void put_double(void *e, double value) {
    memcpy(e, &value, sizeof value);
}

static void span_bytes(void *c, size_t i, void *e) { put_double(e, (double)((page *)c)->f->spans[i].bytes); }
static void span_given(void *c, size_t i, void *e) { put_double(e, (double)((page *)c)->f->spans[i].given_bytes); }

static void span_offset(void *c, size_t i, void *e) {
    const report_span *s = &((page *)c)->f->spans[i];
    put_double(e, offset_of(c, s->device, s->address));
}

/* The line, and in the highest two bits whether it is inner and whether it was moved. */
static void span_line(void *c, size_t i, void *e) {
    const report_span *s = &((page *)c)->f->spans[i];
    uint32_t word = s->line | (uint32_t)s->is_inner << 31 | (uint32_t)s->is_moved << 30;
    memcpy(e, &word, 4);
}

static void span_pool(void *c, size_t i, void *e) {
    uint16_t pool = ((page *)c)->f->spans[i].pool < UINT16_MAX ? (uint16_t)((page *)c)->f->spans[i].pool : UINT16_MAX;
    memcpy(e, &pool, 2);
}

/* Of 2^32 - 1 the part of the whole time. */
static void event_time(void *c, size_t i, void *e) {
    const masu__recording *r = ((page *)c)->f->recording;
    uint64_t last = r->events[r->event_count - 1].time_ns;
    uint32_t part = last ? (uint32_t)((double)r->events[i].time_ns / (double)last * 4294967295.0) : 0;
    memcpy(e, &part, 4);
}

static void segment_part(void *c, size_t i, void *e) {
    page *p = c;
    const report_segment *s = &p->f->segments[i / 4];
    double parts[4] = {s->begin, s->end, 0, is_drawn(p->f, s) ? (double)s->bytes : 0};
    if (i % 4 == 2)
        parts[2] = is_drawn(p->f, s) ? offset_of(p, s->device, s->address) : 0;
    put_double(e, parts[i % 4]);
}

/* Where the ranges begin and end on the map, and at which address. */
static void put_ranges(masu__buffer *out, const page *p) {
    masu__buffer_puts(out, "\"ranges\":[");
    for (size_t i = 0; i < p->range_count && i < 500; i++)
        masu__buffer_printf(out, "%s[%.0f,%.0f,\"0x%llx\"]", i ? "," : "", p->ranges[i].offset,
                            p->ranges[i].offset + (double)(p->ranges[i].to - p->ranges[i].from),
                            (unsigned long long)p->ranges[i].from);
    masu__buffer_printf(out, "],\"height\":%.0f", p->height);
}

static bool is_mark(const masu__recorded_event *e) {
    return (e->kind == MASU__RECORDED_MARK && e->other != MASU__MARK_PLAN) ||
           (e->kind == MASU__RECORDED_BEGIN && e->other != MASU__MARK_SCOPE) ||
           e->kind == MASU__RECORDED_REFUSED;
}

/* Of very many every second, third, … */
static void put_marks(masu__buffer *out, const report_facts *f) {
    const masu__recording *r = f->recording;
    size_t shown = 0, count = 0, met = 0;
    masu__buffer_puts(out, "\"marks\":[");
    for (size_t i = 0; i < r->event_count; i++)
        count += is_mark(&r->events[i]);
    for (size_t i = 0; i < r->event_count; i++) {
        const masu__recorded_event *e = &r->events[i];
        if (!is_mark(e) || (met++ % (1 + count / MOST_MARKS) != 0 && e->kind != MASU__RECORDED_REFUSED))
            continue;
        const char *kind = e->kind == MASU__RECORDED_REFUSED ? "refused" : masu__recorded_mark_name((unsigned)e->other);
        masu__buffer_printf(out, "%s[%zu,\"%s\",", shown++ ? "," : "", i, kind);
        masu__buffer_json_string(out, masu__recording_text(r, e->text), r->strings[e->text].length);
        masu__buffer_puts(out, "]");
    }
    masu__buffer_puts(out, "]");
}

/* JSON inside a page: no text of it may end the script. */
static void put_guarded(masu__buffer *out, const masu__buffer *json) {
    const char *text = masu__buffer_text(json);
    for (size_t i = 0; i < json->length; i++)
        if (text[i] == '<')
            masu__buffer_puts(out, "\\u003c");
        else
            masu__buffer_putc(out, text[i]);
    out->failed |= json->failed;
}

static void put_run(masu__buffer *out, const report_facts *f, int run) {
    page p = {.f = f};
    if (!lay_out(&p)) {
        out->failed = true;
        return;
    }
    masu__buffer json = {0};
    report_json(&json, f, NULL);
    masu__buffer_truncate(&json, json.length >= 2 ? json.length - 2 : 0); /* its bracket and the end of the line */
    masu__buffer_puts(&json, ",");
    put_ranges(&json, &p);
    masu__buffer_puts(&json, ",");
    put_marks(&json, f);
    masu__buffer_puts(&json, "}");
    masu__buffer_printf(out, "<script type=\"application/json\" id=\"facts%d\">", run);
    put_guarded(out, &json);
    masu__buffer_destroy(&json);
    masu__buffer_puts(out, "</script>\n");
    put_array(out, run, "begin", f->span_count, 4, span_begin, &p);
    put_array(out, run, "end", f->span_count, 4, span_end, &p);
    put_array(out, run, "bytes", f->span_count, 8, span_bytes, &p);
    put_array(out, run, "given", f->span_count, 8, span_given, &p);
    put_array(out, run, "offset", f->span_count, 8, span_offset, &p);
    put_array(out, run, "line", f->span_count, 4, span_line, &p);
    put_array(out, run, "pool", f->span_count, 2, span_pool, &p);
    put_array(out, run, "time", f->recording->event_count, 4, event_time, &p);
    put_array(out, run, "segment", 4 * f->segment_count, 8, segment_part, &p);
    masu__meta_free(p.ranges, p.range_room * sizeof *p.ranges);
}

void report_html(masu__buffer *out, const report_facts *f, const report_facts *other) {
    const char *middle = strstr(report_page, mark);
    if (!middle) {
        out->failed = true;
        return;
    }
    masu__buffer_append(out, report_page, (size_t)(middle - report_page));
    put_run(out, f, 0);
    if (other)
        put_run(out, other, 1);
    middle += sizeof mark - 1;
    masu__buffer_append(out, middle, (size_t)(report_page + report_page_bytes - middle));
}
