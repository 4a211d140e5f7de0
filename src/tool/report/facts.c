/* facts.c: one walk through the events. See facts.h. */
#include "tool/report/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/meta.h"

enum { LINE_HEADS = 4096, MOST_LOOKED_AT = 1 << 14 };

typedef struct walk {
    report_facts *f;
    const masu__recording *r;
    masu__lives lives;
    uint32_t *span_of;               /* by ALLOC: while it is live its span, plus one */
    uint32_t *reset;                 /* by RESET: the first ALLOC that it ends, plus one; by ALLOC: the next */
    uint32_t *line_of;               /* by place, plus one */
    uint32_t *pool_line;             /* by pool, plus one */
    uint32_t line_heads[LINE_HEADS]; /* plus one */
    uint64_t live, given, reserved;
    uint64_t blocks;
    bool grew; /* memory was taken from a device since the last request */
    bool failed;
} walk;

static bool room(walk *w, void **items, size_t count, size_t *capacity, size_t bytes) {
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? 2 * *capacity : 256;
    void *grown = masu__meta_realloc(*items, *capacity * bytes, wanted * bytes);
    if (!grown) {
        w->failed = true;
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static bool is_library(const char *file) {
    return !*file || strcmp(file, "??") == 0 || strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
           strstr(file, "/torch/") || strncmp(file, "torch/", 6) == 0 || strncmp(file, "<frozen", 7) == 0;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The innermost place of the stack in the user's own source: in a Python program a line of Python, behind which lie all
 * the frames of the interpreter and of its libraries; where there is none, in a thread of autograd, the operation; else
 * the innermost with a line; else with a file; else the innermost. */
static uint32_t own_place(const masu__recording *r, uint32_t place) {
    uint32_t operation = 0, with_line = 0, with_file = 0;
    for (uint32_t p = place; p; p = r->places[p].caller) {
        const char *file = masu__recording_text(r, r->places[p].file);
        bool is_own = !is_library(file);
        if (is_own && ends_with(file, ".py"))
            return p;
        if (!operation && strncmp(masu__recording_text(r, r->places[p].function), "at::_ops::", 10) == 0)
            operation = p;
        if (is_own && r->places[p].line && !with_line)
            with_line = p;
        if (is_own && !with_file)
            with_file = p;
    }
    return operation ? operation : with_line ? with_line : with_file ? with_file : place;
}

static uint32_t add_line(walk *w, report_line line) {
    report_facts *f = w->f;
    if (!room(w, (void **)&f->lines, f->line_count, &f->line_capacity, sizeof *f->lines))
        return 0;
    f->lines[f->line_count] = line;
    return (uint32_t)f->line_count++;
}

/* Places of equal file, line and function are one line, whatever called them: the first place that has them is
 * asked. */
static uint32_t line_of_place(walk *w, uint32_t place) {
    const masu__recording *r = w->r;
    uint32_t own = own_place(r, place);
    if (!w->line_of[own]) {
        const masu__recorded_place *p = &r->places[own];
        uint32_t hash = (p->file * 0x9e3779b1u ^ p->function * 0x85ebca6bu ^ p->line * 0xc2b2ae35u) >> 8;
        uint32_t *head = &w->line_heads[hash % LINE_HEADS], at = *head;
        while (at && (w->f->lines[at - 1].file != p->file || w->f->lines[at - 1].line != p->line ||
                      w->f->lines[at - 1].function != p->function))
            at = w->f->lines[at - 1].chain;
        if (!at)
            *head = at = add_line(w, (report_line){.file = p->file,
                                                   .function = p->function,
                                                   .line = p->line,
                                                   .place = place,
                                                   .chain = *head}) +
                         1;
        w->line_of[own] = at;
    }
    return w->line_of[own] - 1;
}

static uint32_t line_for(walk *w, const masu__recorded_event *e) {
    if (e->place)
        return line_of_place(w, e->place);
    if (!w->pool_line[e->pool])
        w->pool_line[e->pool] = add_line(w, (report_line){.pool = e->pool ? e->pool : UINT32_MAX}) + 1;
    return w->pool_line[e->pool] - 1;
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

static void count_in(walk *w, const report_span *s) {
    report_pool *pool = &w->f->pools[s->pool];
    if (!pool->has_segments && w->r->pools[s->pool].below == 0)
        w->reserved += s->given_bytes; /* nothing is known below it */
    if (s->is_inner)
        return;
    report_line *line = &w->f->lines[s->line];
    w->live += s->bytes;
    w->given += s->given_bytes;
    w->blocks++;
    line->live_bytes += s->bytes;
    line->live_blocks++;
    if (line->live_bytes > line->most_bytes)
        line->most_bytes = line->live_bytes;
    pool->live_bytes += s->bytes;
    if (pool->live_bytes > pool->most_bytes)
        pool->most_bytes = pool->live_bytes;
}

static void count_out(walk *w, const report_span *s) {
    report_pool *pool = &w->f->pools[s->pool];
    if (!pool->has_segments && w->r->pools[s->pool].below == 0)
        w->reserved -= s->given_bytes;
    if (s->is_inner)
        return;
    w->live -= s->bytes;
    w->given -= s->given_bytes;
    w->blocks--;
    w->f->lines[s->line].live_bytes -= s->bytes;
    w->f->lines[s->line].live_blocks--;
    pool->live_bytes -= s->bytes;
}

static void begin_span(walk *w, report_span span) {
    report_facts *f = w->f;
    if (!room(w, (void **)&f->spans, f->span_count, &f->span_capacity, sizeof *f->spans))
        return;
    span.end = (uint32_t)w->r->event_count;
    f->spans[f->span_count++] = span;
    w->span_of[span.alloc] = (uint32_t)f->span_count;
    count_in(w, &span);
}

static void end_span(walk *w, uint32_t alloc, uint32_t now) {
    if (!w->span_of[alloc])
        return;
    report_span *span = &w->f->spans[w->span_of[alloc] - 1];
    span->end = now;
    w->span_of[alloc] = 0;
    count_out(w, span);
}

static unsigned size_class(uint64_t bytes) {
    return bytes ? (unsigned)(63 - __builtin_clzll(bytes)) : 0;
}

static void take_alloc(walk *w, uint32_t now) {
    report_facts *f = w->f;
    const masu__recorded_event *e = &w->r->events[now];
    bool is_inner = e->flags & MASU__RECORDED_INNER;
    report_span span = {.address = e->address,
                        .bytes = e->bytes,
                        .given_bytes = e->given_bytes,
                        .begin = now,
                        .alloc = now,
                        .pool = e->pool,
                        .device = e->device,
                        .is_inner = is_inner,
                        .line = line_for(w, e)};
    if (w->failed)
        return;
    begin_span(w, span);
    if (is_inner || now < w->r->standing_count)
        return;
    unsigned size = size_class(e->bytes);
    f->requests++;
    if (f->pools[e->pool].has_segments) {
        f->known++;
        f->hits += !w->grew;
        w->grew = false;
    }
    f->asked_bytes += e->bytes;
    f->given_bytes += e->given_bytes;
    f->size_requests[size]++;
    f->size_bytes[size] += e->bytes;
    f->size_given[size] += e->given_bytes;
    f->lines[span.line].allocations++;
    f->lines[span.line].total_bytes += e->bytes;
    f->pools[e->pool].requests++;
    f->pools[e->pool].asked_bytes += e->bytes;
    f->pools[e->pool].given_bytes += e->given_bytes;
}

/* A resize or a move: the same block, another stretch. */
static void take_change(walk *w, uint32_t now) {
    const masu__recorded_event *e = &w->r->events[now];
    uint32_t alloc = w->lives.of[now];
    if (alloc == MASU__LIVES_NONE || !w->span_of[alloc])
        return;
    report_span span = w->f->spans[w->span_of[alloc] - 1];
    end_span(w, alloc, now);
    span.begin = now;
    span.address = e->address;
    span.bytes = e->bytes;
    span.given_bytes = e->given_bytes;
    span.is_moved = e->kind == MASU__RECORDED_MOVE;
    begin_span(w, span);
    *(span.is_moved ? &w->f->moves : &w->f->resizes) += 1;
}

/* Every block whose end is this event. */
static void take_reset(walk *w, uint32_t now) {
    for (uint32_t at = w->reset[now]; at; at = w->reset[at - 1]) {
        w->f->frees += !(w->r->events[at - 1].flags & MASU__RECORDED_INNER);
        end_span(w, at - 1, now);
    }
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

static void begin_segment(walk *w, uint32_t now) {
    const masu__recorded_event *e = &w->r->events[now];
    report_facts *f = w->f;
    if (!room(w, (void **)&f->segments, f->segment_count, &f->segment_capacity, sizeof *f->segments))
        return;
    f->segments[f->segment_count++] = (report_segment){.address = e->address,
                                                       .bytes = e->given_bytes,
                                                       .begin = now,
                                                       .pool = e->pool,
                                                       .end = (uint32_t)w->r->event_count,
                                                       .device = e->device,
                                                       .is_mapping = e->kind == MASU__RECORDED_MAP};
}

/* Ends what lies in the range; what remains of a segment beside it goes on as one of its own. */
static void end_segments(walk *w, uint32_t now) {
    const masu__recorded_event *e = &w->r->events[now];
    report_facts *f = w->f;
    uint64_t from = e->address, to = e->address + e->given_bytes;
    size_t looked = 0;
    for (size_t i = f->segment_count; i-- > 0 && looked++ < MOST_LOOKED_AT;) { /* no square of a hostile file */
        report_segment s = f->segments[i];
        if (s.end != w->r->event_count || s.pool != e->pool || s.is_mapping != (e->kind == MASU__RECORDED_UNMAP))
            continue;
        if (s.address >= to || s.address + s.bytes <= from)
            continue;
        f->segments[i].end = now;
        report_segment rests[2] = {s, s};
        rests[0].bytes = s.address < from ? from - s.address : 0;
        rests[1].address = to;
        rests[1].bytes = s.address + s.bytes > to ? s.address + s.bytes - to : 0;
        for (int k = 0; k < 2; k++) {
            rests[k].begin = now;
            if (rests[k].bytes &&
                room(w, (void **)&f->segments, f->segment_count, &f->segment_capacity, sizeof *f->segments))
                f->segments[f->segment_count++] = rests[k];
        }
        if (s.address <= from && s.address + s.bytes >= to)
            return;
    }
}

/* Follows the memory that a pool holds from its device, whatever its events are called. */
static void take_memory(walk *w, uint32_t now) {
    const masu__recorded_event *e = &w->r->events[now];
    report_pool *pool = &w->f->pools[e->pool];
    bool adds = e->kind == MASU__RECORDED_SEGMENT_ADD || e->kind == MASU__RECORDED_MEMORY_ADD ||
                e->kind == MASU__RECORDED_MAP;
    bool is_range = e->kind == MASU__RECORDED_SEGMENT_ADD || e->kind == MASU__RECORDED_SEGMENT_DROP;
    bool is_map = e->kind == MASU__RECORDED_MAP || e->kind == MASU__RECORDED_UNMAP;
    if (is_range || is_map) {
        if (adds)
            begin_segment(w, now);
        else
            end_segments(w, now);
    }
    bool counts = w->r->pools[e->pool].below == 0 &&
                  (is_range ? !(e->flags & MASU__RECORDED_EXPANDABLE) : !is_map || !pool->has_memory_events);
    pool->segments += adds && is_range;
    if (!counts)
        return;
    uint64_t bytes = e->given_bytes;
    bytes = adds || bytes <= pool->reserved_bytes ? bytes : pool->reserved_bytes;
    pool->reserved_bytes += adds ? bytes : 0 - bytes;
    w->reserved += adds ? bytes : 0 - bytes;
    w->grew |= adds;
}

bool report_is_again(const masu__recording *recording, size_t now) {
    const masu__recorded_event *e = &recording->events[now];
    for (size_t i = now; i-- > 0 && now - i < 64;) {
        const masu__recorded_event *before = &recording->events[i];
        if (before->kind < MASU__RECORDED_REFUSED)
            return false;
        if (before->kind == MASU__RECORDED_REFUSED)
            return before->bytes == e->bytes && before->place == e->place && before->thread == e->thread;
    }
    return false;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static void take_event(walk *w, uint32_t now) {
    const masu__recorded_event *e = &w->r->events[now];
    report_facts *f = w->f;
    switch ((masu__recorded_kind)e->kind) {
    case MASU__RECORDED_ALLOC:
        take_alloc(w, now);
        break;
    case MASU__RECORDED_FREE:
        if (w->lives.of[now] != MASU__LIVES_NONE) {
            f->frees += !(w->r->events[w->lives.of[now]].flags & MASU__RECORDED_INNER);
            end_span(w, w->lives.of[now], now);
        }
        break;
    case MASU__RECORDED_RESIZE:
    case MASU__RECORDED_MOVE:
        take_change(w, now);
        break;
    case MASU__RECORDED_RESET:
        take_reset(w, now);
        break;
    case MASU__RECORDED_REFUSED:
        if (report_is_again(w->r, now))
            break;
        f->refused++;
        if (f->refusal_count < REPORT_REFUSALS)
            f->refusals[f->refusal_count++] = (report_refusal){.event = now, .line = line_for(w, e), .bytes = e->bytes};
        else
            f->refusals_left_out++;
        break;
    case MASU__RECORDED_MARK:
        f->steps += e->other == MASU__MARK_STEP;
        break;
    case MASU__RECORDED_BEGIN:
        f->steps += e->other == MASU__MARK_STEP;
        f->graphs += e->other == MASU__MARK_GRAPH;
        break;
    case MASU__RECORDED_SEGMENT_ADD:
    case MASU__RECORDED_SEGMENT_DROP:
    case MASU__RECORDED_MEMORY_ADD:
    case MASU__RECORDED_MEMORY_DROP:
    case MASU__RECORDED_MAP:
    case MASU__RECORDED_UNMAP:
        take_memory(w, now);
        break;
    default:
        break;
    }
}

static report_moment moment_of(const walk *w, uint32_t now) {
    return (report_moment){.event = now,
                           .time_ns = w->r->events[now].time_ns,
                           .live_bytes = w->live,
                           .given_bytes = w->given,
                           .reserved_bytes = w->reserved};
}

static void see_peak(walk *w, uint32_t now) {
    report_facts *f = w->f;
    if (w->live <= f->peak_bytes)
        return;
    f->peak_bytes = w->live;
    f->peak_given_bytes = w->given;
    f->peak_reserved_bytes = w->reserved;
    f->peak_event = now;
    f->peak_blocks = w->blocks;
    f->peak_step = (uint32_t)f->steps;
}

/* Moments lie evenly over the events; the peak is put in later. */
static bool is_moment(size_t now, size_t standing, size_t count) {
    if (now + 1 < standing)
        return false; /* what was there before came to be there in another order */
    size_t slots = count < REPORT_MOMENTS ? count : REPORT_MOMENTS;
    return now + 1 == count || (now + 1) * slots / count != now * slots / count;
}

static void see_quarter(walk *w, size_t now, size_t count) {
    size_t quarter = (now + 1) * REPORT_QUARTERS / count;
    if (quarter == now * REPORT_QUARTERS / count || quarter == 0)
        return;
    for (size_t i = 0; i < w->f->line_count; i++)
        w->f->lines[i].quarter_bytes[quarter - 1] = w->f->lines[i].live_bytes;
}

static void walk_events(walk *w) {
    report_facts *f = w->f;
    size_t count = w->r->event_count;
    for (size_t i = 0; i < count && !w->failed; i++) {
        take_event(w, (uint32_t)i);
        if (i + 1 >= w->r->standing_count)
            see_peak(w, (uint32_t)i);
        if (i + 1 == w->r->standing_count)
            w->grew = false;
        if (w->reserved > f->most_reserved_bytes)
            f->most_reserved_bytes = w->reserved;
        if (is_moment(i, w->r->standing_count, count))
            f->moments[f->moment_count++] = moment_of(w, (uint32_t)i);
        see_quarter(w, i, count);
        if (f->refusal_count && f->refusals[f->refusal_count - 1].event == i)
            f->refusals[f->refusal_count - 1].then = moment_of(w, (uint32_t)i);
    }
    f->live_bytes = w->live;
    f->live_blocks = w->blocks;
}

/* The blocks alive at the peak, by line and pool; and the peak among the moments. */
static void look_at_peak(report_facts *f) {
    for (size_t i = 0; i < f->span_count; i++) {
        const report_span *s = &f->spans[i];
        if (s->is_inner || s->begin > f->peak_event || s->end <= f->peak_event)
            continue;
        f->lines[s->line].peak_bytes += s->bytes;
        f->lines[s->line].peak_blocks++;
        f->pools[s->pool].peak_bytes += s->bytes;
    }
    size_t at = 0;
    while (at < f->moment_count && f->moments[at].event < f->peak_event)
        at++;
    if (at == f->moment_count || f->moments[at].event != f->peak_event) {
        memmove(f->moments + at + 1, f->moments + at, (f->moment_count - at) * sizeof *f->moments);
        f->moments[at] = (report_moment){f->peak_event,
                                         f->recording->event_count ? f->recording->events[f->peak_event].time_ns : 0,
                                         f->peak_bytes,
                                         f->peak_given_bytes,
                                         f->peak_reserved_bytes,
                                         0,
                                         0,
                                         0};
        f->moment_count++;
    }
    f->peak_moment = at;
}

static void look_at_end(report_facts *f) {
    for (size_t i = 0; i < f->line_count; i++) {
        report_line *l = &f->lines[i];
        l->end_bytes = l->live_bytes;
        l->end_blocks = l->live_blocks;
        l->grows = l->quarter_bytes[0] > 0 || l->quarter_bytes[1] > 0;
        for (int q = 1; q < REPORT_QUARTERS - 1; q++) /* at the very end programs give back */
            l->grows &= l->quarter_bytes[q] > l->quarter_bytes[q - 1];
        l->grows &= l->allocations >= 8;
    }
}

/* Whose blocks were alive when a request was refused. */
static void look_at_refusal(report_facts *f, report_refusal *refusal, uint64_t *of_line) {
    for (size_t i = 0; i < f->line_count; i++)
        of_line[i] = 0;
    for (size_t i = 0; i < f->span_count; i++) {
        const report_span *s = &f->spans[i];
        if (s->is_inner || s->begin > refusal->event || s->end <= refusal->event)
            continue;
        refusal->blocks++;
        if (++of_line[s->line] > refusal->most_blocks) {
            refusal->most_blocks = of_line[s->line];
            refusal->most_line = s->line;
        }
    }
}

static bool look_at_refusals(report_facts *f) {
    size_t bytes = (f->line_count + 1) * sizeof(uint64_t);
    uint64_t *of_line = f->refusal_count ? masu__meta_alloc(bytes) : NULL;
    if (f->refusal_count && !of_line)
        return false;
    for (size_t i = 0; i < f->refusal_count; i++)
        look_at_refusal(f, &f->refusals[i], of_line);
    masu__meta_free(of_line, bytes);
    return true;
}

static const report_facts *sorted; /* for qsort */

static int by_peak(const void *a, const void *b) {
    const report_line *x = &sorted->lines[*(const uint32_t *)a], *y = &sorted->lines[*(const uint32_t *)b];
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes < y->peak_bytes ? 1 : -1;
    if (x->most_bytes != y->most_bytes)
        return x->most_bytes < y->most_bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

static int by_end(const void *a, const void *b) {
    const report_line *x = &sorted->lines[*(const uint32_t *)a], *y = &sorted->lines[*(const uint32_t *)b];
    if (x->end_bytes != y->end_bytes)
        return x->end_bytes < y->end_bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

static bool sort_lines(report_facts *f) {
    size_t bytes = (f->line_count ? f->line_count : 1) * sizeof *f->by_peak;
    f->by_peak = masu__meta_alloc(bytes);
    f->by_end = masu__meta_alloc(bytes);
    if (!f->by_peak || !f->by_end)
        return false;
    for (size_t i = 0; i < f->line_count; i++)
        f->by_peak[i] = f->by_end[i] = (uint32_t)i;
    sorted = f;
    qsort(f->by_peak, f->line_count, sizeof *f->by_peak, by_peak);
    qsort(f->by_end, f->line_count, sizeof *f->by_end, by_end);
    return true;
}

static void look_ahead(walk *w) {
    report_facts *f = w->f;
    const masu__recording *r = f->recording;
    for (size_t i = 0; i < r->event_count; i++) {
        f->pools[r->events[i].pool].has_segments |= r->events[i].kind == MASU__RECORDED_SEGMENT_ADD ||
                                                    r->events[i].kind == MASU__RECORDED_MAP;
        f->pools[r->events[i].pool].has_memory_events |= r->events[i].kind == MASU__RECORDED_MEMORY_ADD;
        uint32_t end = r->events[i].kind == MASU__RECORDED_ALLOC ? w->lives.of[i] : MASU__LIVES_NONE;
        if (end != MASU__LIVES_NONE && r->events[end].kind == MASU__RECORDED_RESET) {
            w->reset[i] = w->reset[end];
            w->reset[end] = (uint32_t)i + 1;
        }
    }
}

masu_status report_find_facts(const masu__recording *recording, const char *path, report_facts *out) {
    *out = (report_facts){.recording = recording, .path = path};
    walk w = {.f = out, .r = recording};
    masu_status status = masu__lives_find(recording, &w.lives);
    out->pools = masu__meta_calloc(recording->pool_count, sizeof *out->pools);
    size_t events = recording->event_count + 1;
    w.span_of = masu__meta_calloc(events, sizeof *w.span_of);
    w.reset = masu__meta_calloc(events, sizeof *w.reset);
    w.line_of = masu__meta_calloc(recording->place_count, sizeof *w.line_of);
    w.pool_line = masu__meta_calloc(recording->pool_count, sizeof *w.pool_line);
    if (status == MASU_OK && out->pools && w.span_of && w.reset && w.line_of && w.pool_line) {
        look_ahead(&w);
        walk_events(&w);
        out->strays = w.lives.strays;
        out->doubled = w.lives.doubled;
        look_at_peak(out);
        look_at_end(out);
        w.failed |= !sort_lines(out) || !look_at_refusals(out);
    } else {
        w.failed = true;
    }
    masu__meta_free(w.span_of, events * sizeof *w.span_of);
    masu__meta_free(w.reset, events * sizeof *w.reset);
    masu__meta_free(w.line_of, recording->place_count * sizeof *w.line_of);
    masu__meta_free(w.pool_line, recording->pool_count * sizeof *w.pool_line);
    masu__lives_destroy(&w.lives);
    status = w.failed ? MASU_ERR_OUT_OF_MEMORY : report_find_holes(out);
    if (status != MASU_OK)
        report_destroy_facts(out);
    return status;
}

void report_destroy_facts(report_facts *f) {
    masu__meta_free(f->spans, f->span_capacity * sizeof *f->spans);
    masu__meta_free(f->segments, f->segment_capacity * sizeof *f->segments);
    masu__meta_free(f->pools, (f->pools ? f->recording->pool_count : 0) * sizeof *f->pools);
    size_t bytes = (f->line_count ? f->line_count : 1) * sizeof *f->by_peak;
    masu__meta_free(f->by_peak, bytes);
    masu__meta_free(f->by_end, bytes);
    masu__meta_free(f->lines, f->line_capacity * sizeof *f->lines);
    *f = (report_facts){0};
}
