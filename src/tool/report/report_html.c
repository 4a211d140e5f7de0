/* report_html.c: `masu report -o OUT.html`: page.html with the facts as JSON and the blocks as numbers in base64, which
 * a browser takes in faster than any text of the same.
 *
 *     page.html ─┬─ before the mark ─┬─ <script type=…> facts, arrays ─┬─ after the mark
 *
 * Addresses that were never used are left out, so that terabytes of reservation fit on a screen: what is written is the
 * offset among those that were. Where blocks are a small part of what was held, that which held none is left out, too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "tool/report/report.h"

static const char mark[] = "<!-- data -->";
enum { MOST_MARKS = 4000 };

/* ---- base64 ------------------------------------------------------------------------------------------------------ */

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

/* Numbers as LEB128: seven bits a byte, the lowest first. Most are small, for they are differences. */
static void put_number(masu__buffer *out, uint64_t value) {
    for (; value >= 128; value >>= 7)
        masu__buffer_putc(out, (char)(value | 128));
    masu__buffer_putc(out, (char)value);
}

static uint64_t zigzag(int64_t difference) {
    return (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63);
}

/* Takes the numbers and destroys them. */
static void put_numbers(masu__buffer *out, int run, const char *name, masu__buffer *numbers) {
    masu__buffer_printf(out, "<script type=\"text/plain\" id=\"%s%d\">", name, run);
    put_base64(out, masu__buffer_text(numbers), numbers->length);
    masu__buffer_puts(out, "</script>\n");
    out->failed |= numbers->failed;
    masu__buffer_destroy(numbers);
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

typedef struct range {
    uint64_t from, to;
    double offset;
    uint16_t device;
} range;

typedef struct page {
    const report_facts *f;
    range *ranges;
    size_t range_count, range_room;
    double height, shown_bytes; /* with and without what lies between ranges */
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

static range range_of(uint64_t address, uint64_t bytes, uint16_t device) {
    return (range){address, address + bytes, 0, device};
}

/* Blocks of the program, or with them all that was held; sorted, what touches joined. How many bytes that is. */
static double collect(page *p, bool all) {
    const report_facts *f = p->f;
    size_t count = 0, last = 0;
    for (size_t i = 0; i < f->span_count; i++)
        if (all || !f->spans[i].is_inner)
            p->ranges[count++] = range_of(f->spans[i].address, f->spans[i].given_bytes, f->spans[i].device);
    for (size_t i = 0; all && i < f->segment_count; i++)
        if (is_drawn(f, &f->segments[i]))
            p->ranges[count++] = range_of(f->segments[i].address, f->segments[i].bytes, f->segments[i].device);
    qsort(p->ranges, count, sizeof *p->ranges, by_address);
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
    return total;
}

/* Blocks that are a twentieth of what was held would be lines that are not seen. */
static bool lay_out(page *p) {
    enum { SMALL_PART = 20 };
    const report_facts *f = p->f;
    p->range_room = f->span_count + f->segment_count + 1;
    p->ranges = masu__meta_alloc(p->range_room * sizeof *p->ranges);
    if (!p->ranges)
        return false;
    double blocks = collect(p, false), total = collect(p, true);
    if (blocks > 0 && blocks * SMALL_PART < total)
        total = collect(p, false);
    p->shown_bytes = total;
    double gap = (double)(uint64_t)(p->range_count < 60 ? total / 150
                                                        : total / 6000); /* whole, so that every offset is */
    for (size_t i = 0; i < p->range_count; i++) {
        p->ranges[i].offset = p->height;
        p->height += (double)(p->ranges[i].to - p->ranges[i].from) + (i + 1 < p->range_count ? gap : 0);
    }
    return true;
}

/* Between two ranges it is the end of the lower one. */
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
    if (!p->range_count)
        return 0;
    const range *r = &p->ranges[low];
    bool is_below = r->device > device || (r->device == device && address < r->from);
    bool is_above = r->device < device || (r->device == device && address > r->to);
    return r->offset + (is_below ? 0 : (double)((is_above ? r->to : address) - r->from));
}

/* A file that lies has more addresses than 64 bits can add up. */
static uint64_t whole(double bytes) {
    const double most = 9e18; /* below 2^63: it is a difference's, too */
    return bytes < 0 ? 0 : (uint64_t)(bytes < most ? bytes : most);
}

/* How high it is on the map: what of it is there. */
static uint64_t height_of(const page *p, uint16_t device, uint64_t address, uint64_t bytes) {
    return whole(offset_of(p, device, address + bytes) - offset_of(p, device, address));
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Eight a block: begin and offset as differences to the block before, how long it lived, bytes, how much more was
 * given, by how much its height on the map differs from what was given, the line with two bits below it that say
 * whether it is inner and whether it was moved, the pool. */
static void put_spans(masu__buffer *out, int run, const page *p) {
    masu__buffer numbers = {0};
    uint32_t begin = 0;
    int64_t offset = 0;
    for (size_t i = 0; i < p->f->span_count; i++) {
        const report_span *s = &p->f->spans[i];
        int64_t at = (int64_t)whole(offset_of(p, s->device, s->address));
        put_number(&numbers, s->begin - begin);
        put_number(&numbers, s->end - s->begin);
        put_number(&numbers, s->bytes);
        put_number(&numbers, s->given_bytes - s->bytes);
        put_number(&numbers, zigzag(at - offset));
        put_number(&numbers, zigzag((int64_t)(height_of(p, s->device, s->address, s->given_bytes) - s->given_bytes)));
        put_number(&numbers, (uint64_t)s->line << 2 | (uint64_t)s->is_inner << 1 | s->is_moved);
        put_number(&numbers, s->pool < UINT16_MAX ? s->pool : UINT16_MAX);
        begin = s->begin;
        offset = at;
    }
    put_numbers(out, run, "spans", &numbers);
}

/* Each event's part of the whole time, of 2^32 - 1, as the difference to the one before. */
static void put_times(masu__buffer *out, int run, const page *p) {
    const masu__recording *r = p->f->recording;
    uint64_t last = r->event_count ? r->events[r->event_count - 1].time_ns : 0;
    uint32_t before = 0;
    masu__buffer numbers = {0};
    for (size_t i = 0; i < r->event_count; i++) {
        uint32_t part = last ? (uint32_t)((double)r->events[i].time_ns / (double)last * 4294967295.0) : 0;
        put_number(&numbers, part - before);
        before = part;
    }
    put_numbers(out, run, "times", &numbers);
}

/* Four a segment: begin, how long it was held, where it lies on the map and how high it is there. */
static void put_segments(masu__buffer *out, int run, const page *p) {
    masu__buffer numbers = {0};
    for (size_t i = 0; i < p->f->segment_count; i++) {
        const report_segment *s = &p->f->segments[i];
        bool drawn = is_drawn(p->f, s);
        put_number(&numbers, s->begin);
        put_number(&numbers, s->end - s->begin);
        put_number(&numbers, drawn ? whole(offset_of(p, s->device, s->address)) : 0);
        put_number(&numbers, drawn ? height_of(p, s->device, s->address, s->bytes) : 0);
    }
    put_numbers(out, run, "segments", &numbers);
}

/* Where the ranges begin and end on the map, and at which address. */
static void put_ranges(masu__buffer *out, const page *p) {
    masu__buffer_puts(out, "\"ranges\":[");
    for (size_t i = 0; i < p->range_count && i < 500; i++)
        masu__buffer_printf(out, "%s[%.0f,%.0f,\"0x%llx\"]", i ? "," : "", p->ranges[i].offset,
                            p->ranges[i].offset + (double)(p->ranges[i].to - p->ranges[i].from),
                            (unsigned long long)p->ranges[i].from);
    masu__buffer_printf(out, "],\"height\":%.0f,\"shown_bytes\":%.0f", p->height, p->shown_bytes);
}

static bool is_mark(const masu__recording *r, size_t at) {
    const masu__recorded_event *e = &r->events[at];
    return (e->kind == MASU__RECORDED_MARK && e->other != MASU__MARK_PLAN) ||
           (e->kind == MASU__RECORDED_BEGIN && e->other != MASU__MARK_SCOPE) ||
           (e->kind == MASU__RECORDED_REFUSED && !report_is_again(r, at));
}

/* Of very many every second, third, … */
static void put_marks(masu__buffer *out, const report_facts *f) {
    const masu__recording *r = f->recording;
    size_t shown = 0, count = 0, met = 0;
    masu__buffer_puts(out, "\"marks\":[");
    for (size_t i = 0; i < r->event_count; i++)
        count += is_mark(r, i);
    for (size_t i = 0; i < r->event_count; i++) {
        const masu__recorded_event *e = &r->events[i];
        if (!is_mark(r, i) || (met++ % (1 + count / MOST_MARKS) != 0 && e->kind != MASU__RECORDED_REFUSED))
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
    masu__buffer_printf(&json, ",\"span_count\":%zu,\"segment_count\":%zu", f->span_count, f->segment_count);
    masu__buffer_puts(&json, "}");
    masu__buffer_printf(out, "<script type=\"application/json\" id=\"facts%d\">", run);
    put_guarded(out, &json);
    masu__buffer_destroy(&json);
    masu__buffer_puts(out, "</script>\n");
    put_spans(out, run, &p);
    put_times(out, run, &p);
    put_segments(out, run, &p);
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
