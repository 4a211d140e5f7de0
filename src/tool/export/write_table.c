/* write_table.c: a recording as CSV. The first three columns are a table of requests, which `masu whatif` reads again:
 *
 *     event,id,bytes,given_bytes,time_ns,address,device,stream,pool,place
 *
 * `alloc` and `free` are those of blocks that are known; a free of an unknown block is `stray-free`. A block that
 * changes its size is freed and born again.
 */
#include "tool/export/export.h"

#include <string.h>

#include "base/meta.h"

enum { MOST_PLACES = 8 };

typedef struct writer {
    const export_input *in;
    masu__buffer line;
    uint64_t *ids;   /* of the block of each ALLOC, plus one; 0: not live */
    uint64_t *bytes; /* it has */
    uint32_t *ends, *chain;
    uint64_t next_id;
    FILE *out;
} writer;

void export_put_stack(masu__buffer *out, const masu__recording *r, uint32_t place, unsigned most) {
    bool first = true;
    for (uint32_t at = place; at && most > 0; at = r->places[at].caller) {
        const masu__recorded_place *p = &r->places[at];
        const char *file = masu__recording_text(r, p->file), *function = masu__recording_text(r, p->function);
        if (!*file && !*function)
            continue;
        masu__buffer_puts(out, first ? "" : " < ");
        if (*file && p->line)
            masu__buffer_printf(out, "%s:%u%s", file, p->line, *function ? " " : "");
        masu__buffer_puts(out, function);
        first = false;
        most--;
    }
}

/* In quotes; what could end a line is a space. */
static void put_text(masu__buffer *out, const char *text, size_t length) {
    masu__buffer_putc(out, '"');
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '"')
            masu__buffer_putc(out, '"');
        masu__buffer_putc(out, (unsigned char)c < ' ' ? ' ' : c);
    }
    masu__buffer_putc(out, '"');
}

/* id 0: none. */
static void put_line(writer *w, const char *name, const masu__recorded_event *e, uint64_t id, uint64_t bytes,
                     uint64_t given) {
    const masu__recording *r = w->in->recording;
    masu__buffer stack = {0};
    masu__buffer_truncate(&w->line, 0);
    masu__buffer_printf(&w->line, "%s,", name);
    if (id)
        masu__buffer_printf(&w->line, "%llu", (unsigned long long)(id - 1));
    masu__buffer_printf(&w->line, ",%llu,%llu,%llu,%llu,%s,%llu,%s,", (unsigned long long)bytes,
                        (unsigned long long)given, (unsigned long long)e->time_ns, (unsigned long long)e->address,
                        masu__recording_text(r, r->devices[e->device].name),
                        (unsigned long long)r->streams[e->stream].handle,
                        masu__recording_text(r, r->pools[e->pool].name));
    export_put_stack(&stack, r, e->place, MOST_PLACES);
    put_text(&w->line, masu__buffer_text(&stack), stack.length);
    masu__buffer_putc(&w->line, '\n');
    w->line.failed |= stack.failed;
    masu__buffer_destroy(&stack);
    fputs(masu__buffer_text(&w->line), w->out);
}

static void put_birth(writer *w, const masu__recorded_event *e, size_t alloc, uint64_t given) {
    w->ids[alloc] = ++w->next_id;
    w->bytes[alloc] = e->bytes;
    put_line(w, "alloc", e, w->ids[alloc], e->bytes, given);
}

static void put_death(writer *w, const masu__recorded_event *e, size_t alloc) {
    if (!w->ids[alloc])
        return;
    masu__recorded_event at = *e;
    at.address = w->in->recording->events[alloc].address;
    put_line(w, "free", &at, w->ids[alloc], w->bytes[alloc], 0);
    w->ids[alloc] = 0;
}

static void put_event(writer *w, size_t i) {
    const masu__recorded_event *e = &w->in->recording->events[i];
    uint32_t of = w->in->lives.of[i];
    for (uint32_t a = w->ends[i]; a; a = w->chain[a - 1])
        put_death(w, e, a - 1);
    if (e->flags & MASU__RECORDED_INNER && e->kind == MASU__RECORDED_ALLOC) {
        put_line(w, "inner-alloc", e, 0, e->bytes, e->given_bytes);
    } else if (e->kind == MASU__RECORDED_ALLOC) {
        put_birth(w, e, i, e->given_bytes);
    } else if ((e->kind == MASU__RECORDED_RESIZE || e->kind == MASU__RECORDED_MOVE) && of != MASU__LIVES_NONE &&
               w->ids[of]) {
        put_death(w, e, of);
        put_birth(w, e, of, e->given_bytes);
    } else if (e->kind == MASU__RECORDED_FREE) {
        if (of == MASU__LIVES_NONE)
            put_line(w, "stray-free", e, 0, e->bytes, 0);
    } else {
        uint64_t id = e->kind == MASU__RECORDED_FREE_ASKED && of != MASU__LIVES_NONE ? w->ids[of] : 0;
        put_line(w, masu__recorded_kind_name(e->kind), e, id, e->bytes, e->given_bytes);
    }
}

bool export_table(const export_input *in, FILE *out) {
    writer w = {.in = in, .out = out};
    size_t count = in->recording->event_count + 1;
    uint64_t *numbers = masu__meta_calloc(2 * count, sizeof *numbers);
    uint32_t *tables = masu__meta_calloc(2 * count, sizeof *tables);
    bool whole = numbers && tables;
    if (whole) {
        w.ids = numbers;
        w.bytes = numbers + count;
        w.ends = tables;
        w.chain = tables + count;
        for (size_t i = in->recording->event_count; i-- > 0;) {
            const masu__recorded_event *e = &in->recording->events[i];
            if (e->kind != MASU__RECORDED_ALLOC || in->lives.of[i] == MASU__LIVES_NONE ||
                e->flags & MASU__RECORDED_INNER)
                continue;
            w.chain[i] = w.ends[in->lives.of[i]];
            w.ends[in->lives.of[i]] = (uint32_t)i + 1;
        }
        fputs("event,id,bytes,given_bytes,time_ns,address,device,stream,pool,place\n", out);
        for (size_t i = 0; i < in->recording->event_count && !w.line.failed; i++)
            put_event(&w, i);
        whole = !w.line.failed;
    }
    masu__buffer_destroy(&w.line);
    masu__meta_free(numbers, 2 * count * sizeof *numbers);
    masu__meta_free(tables, 2 * count * sizeof *tables);
    return whole;
}
