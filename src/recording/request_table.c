/* request_table.c: requests as a table of three columns, the least that a program can write down:
 *
 *     event,id,bytes            alloc: block id is born            free: it dies, bytes may be left out
 *     alloc,0,4096              step, and anything else: a mark of that name
 *     free,0,                   an id may be born again after its death
 *
 * Columns may be in any order, and others are passed over: what `masu export` writes can be read again.
 */
#include "recording/recording.h"

#include <string.h>

#include "base/meta.h"

enum { EVENT, ID, BYTES, COLUMNS, MOST_COLUMNS = 64 };

typedef struct cell {
    const char *text;
    size_t length;
} cell;

typedef struct reader {
    const char *at, *end;
    size_t line;
    int column_of[COLUMNS]; /* -1: not there */
    masu__recording *out;
    masu__buffer *why;
    uint64_t *addresses; /* by id; 0: not live */
    size_t ids;
    uint64_t next_address;
    masu_status status;
} reader;

__attribute__((format(printf, 2, 3))) static bool wrong(reader *r, const char *format, ...) {
    if (r->status != MASU_OK)
        return false;
    r->status = MASU_ERR_INVALID_ARGUMENT;
    va_list arguments;
    va_start(arguments, format);
    masu__buffer_printf(r->why, "line %zu: ", r->line);
    masu__buffer_vprintf(r->why, format, arguments);
    va_end(arguments);
    return false;
}

/* The cells of the next line; false: there is none. No cell of this table needs quotes. */
static bool next_line(reader *r, cell cells[MOST_COLUMNS], int *count) {
    if (r->at >= r->end)
        return false;
    const char *line_end = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const char *end = line_end ? line_end : r->end, *from = r->at;
    r->at = line_end ? line_end + 1 : r->end;
    r->line++;
    if (end > from && end[-1] == '\r')
        end--;
    *count = 0;
    for (;;) {
        const char *comma = memchr(from, ',', (size_t)(end - from)), *to = comma ? comma : end;
        if (*count < MOST_COLUMNS)
            cells[(*count)++] = (cell){from, (size_t)(to - from)};
        if (!comma)
            return true;
        from = comma + 1;
    }
}

static bool is(cell c, const char *text) {
    return c.length == strlen(text) && memcmp(c.text, text, c.length) == 0;
}

static bool read_number(reader *r, cell c, const char *what, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < c.length; i++) {
        if (c.text[i] < '0' || c.text[i] > '9' || *out > ((uint64_t)1 << 60) / 10)
            return wrong(r, "%s: a number from 0 to 2^60 was expected, found `%.*s`", what,
                         (int)(c.length < 24 ? c.length : 24), c.text);
        *out = 10 * *out + (uint64_t)(c.text[i] - '0');
    }
    return c.length > 0 || wrong(r, "%s is missing", what);
}

static bool read_header(reader *r) {
    static const char *const names[] = {"event", "id", "bytes"};
    cell cells[MOST_COLUMNS];
    int count;
    if (!next_line(r, cells, &count))
        return wrong(r, "a line `event,id,bytes` was expected");
    for (int k = 0; k < COLUMNS; k++) {
        r->column_of[k] = -1;
        for (int i = 0; i < count; i++)
            if (is(cells[i], names[k]))
                r->column_of[k] = i;
        if (r->column_of[k] < 0)
            return wrong(r, "the column `%s` is missing: `event,id,bytes` was expected", names[k]);
    }
    return true;
}

static cell cell_of(const reader *r, const cell *cells, int count, int column) {
    int at = r->column_of[column];
    return at < count ? cells[at] : (cell){"", 0};
}

/* Ids are counted from 0 without large gaps: a number alone asks for no memory. */
static bool know_id(reader *r, uint64_t id) {
    if (id < r->ids)
        return true;
    if (id >= 2 * (uint64_t)r->line + 1024)
        return wrong(r, "id %llu: ids are counted from 0, without large gaps", (unsigned long long)id);
    size_t larger = 2 * (size_t)id + 64;
    uint64_t *grown = masu__meta_realloc(r->addresses, r->ids * sizeof *grown, larger * sizeof *grown);
    if (!grown) {
        r->status = MASU_ERR_OUT_OF_MEMORY;
        return false;
    }
    memset(grown + r->ids, 0, (larger - r->ids) * sizeof *grown);
    r->addresses = grown;
    r->ids = larger;
    return true;
}

static bool put(reader *r, masu__recorded_event event) {
    if (r->status == MASU_OK)
        r->status = masu__recording_event(r->out, &event);
    return r->status == MASU_OK;
}

static bool read_row(reader *r, const cell *cells, int count) {
    cell event = cell_of(r, cells, count, EVENT), bytes_text = cell_of(r, cells, count, BYTES);
    masu__recorded_event e = {.time_ns = r->out->event_count, .kind = MASU__RECORDED_MARK};
    uint64_t id, bytes = 0;
    bool is_alloc = is(event, "alloc"), is_free = is(event, "free");
    if (!is_alloc && !is_free) {
        r->status = masu__recording_string(r->out, event.text, event.length, &e.text);
        return put(r, e);
    }
    if (!read_number(r, cell_of(r, cells, count, ID), "id", &id) || !know_id(r, id) ||
        ((is_alloc || bytes_text.length) && !read_number(r, bytes_text, "bytes", &bytes)))
        return false;
    if (is_alloc == (r->addresses[id] != 0))
        return wrong(r, is_alloc ? "block %llu is live already" : "block %llu is not live", (unsigned long long)id);
    if (is_alloc) {
        r->addresses[id] = r->next_address;
        r->next_address += (bytes + 63) / 64 * 64 + 64 * (bytes == 0);
        if (r->next_address > (uint64_t)1 << 62)
            return wrong(r, "the blocks are together more than 2^62 bytes");
    }
    e.kind = is_alloc ? MASU__RECORDED_ALLOC : MASU__RECORDED_FREE;
    e.address = r->addresses[id];
    e.bytes = e.given_bytes = bytes;
    if (is_free)
        r->addresses[id] = 0;
    return put(r, e);
}

masu_status masu__request_table_read(const void *bytes, size_t length, masu__recording *out, masu__buffer *why) {
    masu_status status = masu__recording_init(out, "table of requests");
    if (status != MASU_OK)
        return status;
    reader r = {.at = bytes, .end = (const char *)bytes + length, .out = out, .why = why, .next_address = 4096};
    cell cells[MOST_COLUMNS];
    int count;
    out->has_times = false;
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) /* a byte-order mark */
        r.at += 3;
    if (read_header(&r))
        while (r.status == MASU_OK && next_line(&r, cells, &count))
            if (count > 1 || cells[0].length > 0)
                read_row(&r, cells, count);
    masu__meta_free(r.addresses, r.ids * sizeof *r.addresses);
    if (r.status != MASU_OK)
        masu__recording_destroy(out);
    return r.status;
}

bool masu__request_table_begins(const void *bytes, size_t length) {
    const char *text = bytes, *line_end = memchr(text, '\n', length);
    size_t first = line_end ? (size_t)(line_end - text) : length;
    return first < 4096 && memmem(text, first, "event", 5) && memmem(text, first, "id", 2) &&
           memmem(text, first, "bytes", 5) && memchr(text, ',', first);
}
