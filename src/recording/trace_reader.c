/* trace_reader.c: a trace file (base/trace_format.h) becomes a recording. No byte of it is trusted.
 *
 *     chunk ─► record ─► definition: a table        event: follow the blocks that are live, then append
 *
 * Two things are settled here, so that no answer has to. A block that is a segment of a pool above is marked INNER. And
 * a block of which a part is freed (a slab that goes back page by page) is cut: what is left before the part keeps the
 * block's life, what is left behind it begins one.
 */
#include "recording/recording.h"

#include <string.h>

#include <masu/trace.h>

#include "base/meta.h"
#include "base/trace_format.h"
#include "recording/live_table.h"

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

typedef struct cursor {
    const unsigned char *at, *end;
} cursor;

static uint64_t fixed(const unsigned char *at, unsigned count) {
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* False: it ends before, or is longer than 64 bits. */
static bool number(cursor *c, uint64_t *out) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        unsigned char byte = *c->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = value;
            return shift < 63 || byte <= 1;
        }
    }
    return false;
}

static uint32_t crc_of(const unsigned char *bytes, size_t count) {
    uint32_t table[256], crc = 0xffffffffu;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] & 1 ? 0xedb88320u ^ table[i] >> 1 : table[i] >> 1;
    }
    for (size_t i = 0; i < count; i++)
        crc = table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
    return ~crc;
}

typedef struct record {
    uint64_t time_ns, address, bytes, given_bytes, other, stream;
    uint64_t last_address; /* the last that was written, by this record or one before */
    uint32_t pool, place, thread;
    unsigned kind, alignment_log2;
    const char *text;
    size_t text_bytes;
} record;

static bool small_number(cursor *c, uint32_t *out) {
    uint64_t value;
    if (!number(c, &value) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* r: the record before. False: it does not end here, or is not one. */
static bool read_record(cursor *c, record *r) {
    uint64_t fields, step, value = 0;
    *r = (record){.time_ns = r->time_ns, .last_address = r->last_address, .pool = r->pool, .thread = r->thread};
    if (c->at == c->end)
        return false;
    r->kind = *c->at++;
    if (!number(c, &fields) || fields & ~(uint64_t)MASU__TRACE_FIELDS || !number(c, &step))
        return false;
    r->time_ns += step;
    if (fields & MASU__TRACE_HAS_ADDRESS && !number(c, &value))
        return false;
    if (fields & MASU__TRACE_HAS_ADDRESS)
        r->address = r->last_address += value >> 1 ^ (0 - (value & 1));
    if (fields & MASU__TRACE_HAS_BYTES && !number(c, &r->bytes))
        return false;
    if (fields & MASU__TRACE_HAS_GIVEN && !number(c, &r->given_bytes))
        return false;
    r->given_bytes += r->bytes;
    value = 0;
    if ((fields & MASU__TRACE_HAS_OTHER && !number(c, &r->other)) ||
        (fields & MASU__TRACE_HAS_POOL && !small_number(c, &r->pool)) ||
        (fields & MASU__TRACE_HAS_PLACE && !small_number(c, &r->place)) ||
        (fields & MASU__TRACE_HAS_THREAD && !small_number(c, &r->thread)) ||
        (fields & MASU__TRACE_HAS_STREAM && !number(c, &r->stream)) ||
        (fields & MASU__TRACE_HAS_ALIGNMENT && !number(c, &value)) || value > 63)
        return false;
    r->alignment_log2 = (unsigned)value;
    if (fields & MASU__TRACE_HAS_TEXT) {
        if (!number(c, &value) || value > (uint64_t)(c->end - c->at))
            return false;
        r->text = (const char *)c->at;
        r->text_bytes = (size_t)value;
        c->at += value;
    }
    return true;
}

/* ---- numbers of the file ----------------------------------------------------------------------------------------- */

/* number of a place ─► its index; open addressing, filled <= size / 2 */
typedef struct place_map {
    uint32_t *numbers, *places; /* number 0: empty */
    size_t size, filled;
} place_map;

static size_t place_slot(const place_map *m, uint32_t number) {
    size_t at = (size_t)((uint64_t)number * 0x9e3779b97f4a7c15u >> 32) & (m->size - 1);
    while (m->numbers[at] && m->numbers[at] != number)
        at = (at + 1) & (m->size - 1);
    return at;
}

static void place_map_destroy(place_map *m) {
    masu__meta_free(m->numbers, m->size * sizeof *m->numbers);
    masu__meta_free(m->places, m->size * sizeof *m->places);
    *m = (place_map){0};
}

static bool place_map_room(place_map *m) {
    if (m->filled < m->size / 2)
        return true;
    place_map larger = {.size = m->size ? 2 * m->size : 128, .filled = m->filled};
    larger.numbers = masu__meta_calloc(larger.size, sizeof *larger.numbers);
    larger.places = masu__meta_calloc(larger.size, sizeof *larger.places);
    if (!larger.numbers || !larger.places) {
        place_map_destroy(&larger);
        return false;
    }
    for (size_t i = 0; i < m->size; i++)
        if (m->numbers[i]) {
            size_t at = place_slot(&larger, m->numbers[i]);
            larger.numbers[at] = m->numbers[i];
            larger.places[at] = m->places[i];
        }
    place_map_destroy(m);
    *m = larger;
    return true;
}

static uint32_t place_find(const place_map *m, uint32_t number) {
    size_t at = m->size && number ? place_slot(m, number) : 0;
    return m->size && number && m->numbers[at] ? m->places[at] : 0;
}

typedef struct reader {
    masu__recording *out;
    masu__live_table live;
    place_map places;
    uint64_t whole_events; /* as the last record says; UINT64_MAX: there is none */
    uint32_t last_pool, last_pool_number, last_thread, last_thread_number;
} reader;

/* ---- definitions ------------------------------------------------------------------------------------------------- */

/* Two texts with a zero between them. */
static masu_status pair_of(reader *r, const record *from, uint32_t out[2]) {
    const char *zero = from->text_bytes ? memchr(from->text, 0, from->text_bytes) : NULL;
    size_t first = zero ? (size_t)(zero - from->text) : from->text_bytes;
    masu_status status = masu__recording_string(r->out, from->text, first, &out[0]);
    out[1] = 0;
    if (status == MASU_OK && zero)
        status = masu__recording_string(r->out, zero + 1, from->text_bytes - first - 1, &out[1]);
    return status;
}

static masu_status define_place(reader *r, const record *from) {
    uint32_t texts[2], index;
    masu_status status = pair_of(r, from, texts);
    masu__recorded_place place = {.file = texts[0],
                                  .function = texts[1],
                                  .line = (uint32_t)from->bytes,
                                  .caller = place_find(&r->places, (uint32_t)from->other)};
    if (status == MASU_OK)
        status = masu__recording_place(r->out, place, &index);
    if (status != MASU_OK || from->place == 0)
        return status;
    if (!place_map_room(&r->places))
        return MASU_ERR_OUT_OF_MEMORY;
    size_t at = place_slot(&r->places, from->place);
    r->places.filled += r->places.numbers[at] == 0;
    r->places.numbers[at] = from->place;
    r->places.places[at] = index;
    return MASU_OK;
}

static masu_status pool_of(reader *r, uint32_t number, uint32_t *index) {
    *index = r->last_pool;
    if (number == r->last_pool_number)
        return MASU_OK;
    masu_status status = number ? masu__recording_pool(r->out, (masu__recorded_pool){.number = number}, index)
                                : MASU_OK;
    r->last_pool = number ? *index : 0;
    r->last_pool_number = number;
    *index = r->last_pool;
    return status;
}

static masu_status define_pool(reader *r, const record *from) {
    uint32_t texts[2], index;
    masu__recorded_pool pool = {.number = from->pool};
    masu_status status = pair_of(r, from, texts);
    if (status == MASU_OK)
        status = pool_of(r, from->other == from->pool ? 0 : (uint32_t)from->other, &pool.below);
    pool.layer = texts[0];
    pool.name = texts[1];
    return status == MASU_OK && from->pool ? masu__recording_pool(r->out, pool, &index) : status;
}

static masu_status thread_of(reader *r, uint32_t number, uint32_t *index) {
    *index = r->last_thread;
    if (number == r->last_thread_number)
        return MASU_OK;
    masu_status status = number ? masu__recording_thread(r->out, (masu__recorded_thread){.number = number}, index)
                                : MASU_OK;
    r->last_thread = number ? *index : 0;
    r->last_thread_number = number;
    *index = r->last_thread;
    return status;
}

static masu_status define(reader *r, const record *from) {
    uint32_t texts[2];
    switch (from->kind) {
    case MASU__TRACE_PLACE:
        return define_place(r, from);
    case MASU__TRACE_POOL:
        return define_pool(r, from);
    case MASU__TRACE_THREAD: {
        masu__recorded_thread thread = {.number = from->thread};
        masu_status status = masu__recording_string(r->out, from->text, from->text_bytes, &thread.name);
        return status == MASU_OK && thread.number ? masu__recording_thread(r->out, thread, &(uint32_t){0}) : status;
    }
    case MASU__TRACE_SETTING: {
        masu_status status = pair_of(r, from, texts);
        return status == MASU_OK ? masu__recording_setting(r->out, masu__recording_text(r->out, texts[0]),
                                                           masu__recording_text(r->out, texts[1]))
                                 : status;
    }
    case MASU__TRACE_LOST:
        if (__builtin_add_overflow(r->out->lost_events, from->bytes, &r->out->lost_events))
            r->out->lost_events = UINT64_MAX;
        return MASU_OK;
    case MASU__TRACE_END:
        r->whole_events = from->bytes;
        return MASU_OK;
    default:
        return MASU_ERR_SYNTAX;
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static masu_status append(reader *r, masu__recorded_event event) {
    return masu__recording_event(r->out, &event);
}

static masu_status begin_block(reader *r, masu__recorded_event e) {
    masu__live_block *old = masu__live_find(&r->live, e.pool, e.address);
    if (old)
        masu__live_drop(&r->live, old);
    masu__live_block block = {.address = e.address,
                              .bytes = e.bytes,
                              .given_bytes = e.given_bytes,
                              .pool = e.pool,
                              .alloc = (uint32_t)r->out->event_count};
    masu_status status = append(r, e);
    if (status == MASU_OK && !masu__live_put(&r->live, block))
        status = MASU_ERR_OUT_OF_MEMORY;
    return status;
}

/* Cuts a part out: the rest before it keeps its life, the rest behind it begins one. */
static masu_status cut_block(reader *r, masu__recorded_event e) {
    masu__live_block *found = masu__live_find(&r->live, e.pool, e.other);
    if (!found || e.address < found->address || e.bytes > found->given_bytes ||
        e.address - found->address > found->given_bytes - e.bytes)
        return append(r, (masu__recorded_event){.kind = MASU__RECORDED_FREE,
                                                .time_ns = e.time_ns,
                                                .address = e.address,
                                                .pool = e.pool,
                                                .thread = e.thread});
    uint64_t before = e.address - found->address, behind = found->given_bytes - before - e.bytes;
    masu__recorded_event first = {.time_ns = e.time_ns,
                                  .pool = e.pool,
                                  .thread = e.thread,
                                  .address = found->address,
                                  .bytes = before,
                                  .given_bytes = before,
                                  .kind = before ? MASU__RECORDED_RESIZE : MASU__RECORDED_FREE};
    masu__recorded_event rest = r->out->events[found->alloc];
    if (before)
        found->bytes = found->given_bytes = before;
    else
        masu__live_drop(&r->live, found);
    masu_status status = append(r, first);
    rest.time_ns = e.time_ns;
    rest.address = e.address + e.bytes;
    rest.bytes = rest.given_bytes = behind;
    return status == MASU_OK && behind ? begin_block(r, rest) : status;
}

/* The block below that this segment lies in is not a request of the program. */
static void mark_segment(reader *r, masu__recorded_event *segment) {
    uint32_t below = r->out->pools[segment->pool].below;
    masu__live_block *block = NULL;
    for (; below && !block; below = r->out->pools[below].below) /* a heap's large blocks come from its lower pool */
        block = masu__live_find(&r->live, below, segment->address);
    const char *layer = masu__recording_text(r->out, r->out->pools[segment->pool].layer);
    if (strcmp(layer, "virtual memory") == 0) /* addresses; memory comes apart */
        segment->flags |= MASU__RECORDED_EXPANDABLE;
    if (block)
        r->out->events[block->alloc].flags |= MASU__RECORDED_INNER;
}

static masu_status end_blocks(reader *r, const masu__recorded_event *e) {
    masu__live_block *block;
    if (e->kind == MASU__RECORDED_RESET)
        while ((block = masu__live_any(&r->live, e->pool)) != NULL)
            masu__live_drop(&r->live, block);
    else if ((block = masu__live_find(&r->live, e->pool, e->address)) != NULL)
        masu__live_drop(&r->live, block);
    return append(r, *e);
}

static const unsigned char kind_of[MASU_EVENT_KIND_COUNT] = {
    [MASU_EVENT_EXTENT_ADD] = MASU__RECORDED_SEGMENT_ADD,
    [MASU_EVENT_EXTENT_DROP] = MASU__RECORDED_SEGMENT_DROP,
    [MASU_EVENT_ALLOC] = MASU__RECORDED_ALLOC,
    [MASU_EVENT_FREE] = MASU__RECORDED_FREE,
    [MASU_EVENT_FREE_PART] = MASU__RECORDED_FREE,
    [MASU_EVENT_RESET] = MASU__RECORDED_RESET,
    [MASU_EVENT_REFUSED] = MASU__RECORDED_REFUSED,
    [MASU_EVENT_PIECE_ADD] = MASU__RECORDED_MEMORY_ADD,
    [MASU_EVENT_PIECE_DROP] = MASU__RECORDED_MEMORY_DROP,
    [MASU_EVENT_MAP] = MASU__RECORDED_MAP,
    [MASU_EVENT_UNMAP] = MASU__RECORDED_UNMAP,
    [MASU_EVENT_RESIZE] = MASU__RECORDED_RESIZE,
    [MASU_EVENT_BEGIN] = MASU__RECORDED_BEGIN,
    [MASU_EVENT_END] = MASU__RECORDED_END,
    [MASU_EVENT_MARK] = MASU__RECORDED_MARK,
};

static masu_status put_event(reader *r, const record *from, masu__recorded_event e) {
    switch ((masu_event_kind)from->kind) {
    case MASU_EVENT_ALLOC:
        return begin_block(r, e);
    case MASU_EVENT_FREE_PART:
        return cut_block(r, e);
    case MASU_EVENT_FREE:
    case MASU_EVENT_RESET:
        return end_blocks(r, &e);
    case MASU_EVENT_EXTENT_ADD:
    case MASU_EVENT_EXTENT_DROP:
        mark_segment(r, &e);
        return append(r, e);
    case MASU_EVENT_RESIZE: {
        masu__live_block *block = masu__live_find(&r->live, e.pool, e.address);
        if (block) {
            block->bytes = e.bytes;
            block->given_bytes = e.given_bytes;
        }
        return append(r, e);
    }
    case MASU_EVENT_PIECE_CUT: /* numbers of pieces alone */
    case MASU_EVENT_PIECE_JOIN:
        return MASU_OK;
    default:
        return append(r, e);
    }
}

static masu_status take_event(reader *r, const record *from) {
    masu__recorded_event e = {.time_ns = from->time_ns,
                              .address = from->address,
                              .bytes = from->bytes,
                              .given_bytes = from->given_bytes,
                              .other = from->other,
                              .place = place_find(&r->places, from->place),
                              .kind = kind_of[from->kind],
                              .alignment_log2 = (uint8_t)from->alignment_log2};
    bool is_segment = e.kind >= MASU__RECORDED_SEGMENT_ADD && e.kind <= MASU__RECORDED_UNMAP;
    if (is_segment && e.given_bytes < e.bytes)
        e.given_bytes = e.bytes;
    if (e.kind == MASU__RECORDED_ALLOC || e.kind == MASU__RECORDED_FREE)
        e.other = from->kind == MASU_EVENT_FREE_PART ? from->other : 0;
    masu_status status = pool_of(r, from->pool, &e.pool);
    if (status == MASU_OK)
        status = thread_of(r, from->thread, &e.thread);
    if (status == MASU_OK && from->text_bytes)
        status = masu__recording_string(r->out, from->text, from->text_bytes, &e.text);
    if (status == MASU_OK && from->stream)
        status = masu__recording_stream(r->out, (masu__recorded_stream){.handle = from->stream}, &e.stream);
    return status == MASU_OK ? put_event(r, from, e) : status;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void cut(reader *r, uint64_t offset, const char *reason) {
    r->out->is_cut = true;
    r->out->cut_reason = reason;
    r->out->cut_at = offset;
}

/* MASU_ERR_SYNTAX, MASU_ERR_INVALID_ARGUMENT: a record is wrong, what came before it was taken. */
static masu_status read_records(reader *r, const unsigned char *head, cursor *c) {
    record one = {.time_ns = fixed(head + 16, 8)};
    for (uint64_t left = fixed(head + 12, 4); left > 0; left--) {
        cursor start = *c;
        if (!read_record(c, &one)) {
            *c = start;
            return MASU_ERR_SYNTAX;
        }
        bool known = one.kind < MASU_EVENT_KIND_COUNT || one.kind >= MASU__TRACE_DEFINED;
        masu_status status = !known                            ? MASU_ERR_SYNTAX
                             : one.kind >= MASU__TRACE_DEFINED ? define(r, &one)
                                                               : take_event(r, &one);
        if (status != MASU_OK) {
            *c = start;
            return status;
        }
    }
    return c->at == c->end ? MASU_OK : MASU_ERR_SYNTAX;
}

static bool is_wrong_record(masu_status status) {
    return status == MASU_ERR_SYNTAX || status == MASU_ERR_INVALID_ARGUMENT;
}

/* Reads what there is; a status is about memory alone. */
static masu_status read_chunks(reader *r, const unsigned char *start, size_t length, size_t at) {
    while (at < length) {
        const unsigned char *head = start + at;
        size_t left = length - at;
        if (memcmp(head, MASU__TRACE_CHUNK, left < 4 ? left : 4) != 0) {
            cut(r, at, "no part of a trace begins here");
            return MASU_OK;
        }
        if (left < MASU__TRACE_CHUNK_BYTES) {
            cut(r, at, "the file ends in the middle");
            return MASU_OK;
        }
        uint64_t payload = fixed(head + 4, 4);
        bool whole = payload <= left - MASU__TRACE_CHUNK_BYTES;
        size_t there = whole ? (size_t)payload : left - MASU__TRACE_CHUNK_BYTES;
        if (payload > MASU__TRACE_MOST_PAYLOAD ||
            (whole && crc_of(head + 12, MASU__TRACE_CHUNK_BYTES - 12 + there) != fixed(head + 8, 4))) {
            cut(r, at, "the file is damaged: a checksum does not fit");
            return MASU_OK;
        }
        const unsigned char *records = head + MASU__TRACE_CHUNK_BYTES;
        cursor c = {records, records + there};
        masu_status status = read_records(r, head, &c);
        if (status != MASU_OK && !is_wrong_record(status))
            return status;
        if (status != MASU_OK || !whole) {
            cut(r, (uint64_t)(c.at - start),
                whole ? "the file is damaged: a record is wrong" : "the file ends in the middle");
            return MASU_OK;
        }
        at += MASU__TRACE_CHUNK_BYTES + there;
    }
    if (r->whole_events == UINT64_MAX)
        cut(r, length, "the program ended before it closed its trace");
    return MASU_OK;
}

bool masu__trace_is(const void *bytes, size_t length) {
    return length >= 8 && memcmp(bytes, MASU__TRACE_MAGIC, 8) == 0;
}

static masu_status wrong(masu__recording_fault *fault, uint64_t offset, const char *text) {
    *fault = (masu__recording_fault){offset, text};
    return MASU_ERR_SYNTAX;
}

masu_status masu__trace_read(const void *bytes, size_t length, masu__recording *out, masu__recording_fault *fault) {
    const unsigned char *start = bytes;
    *out = (masu__recording){0};
    if (!masu__trace_is(bytes, length))
        return wrong(fault, 0, "not a trace of masu");
    if (length < MASU__TRACE_HEADER_BYTES)
        return wrong(fault, length, "the file ends in its head");
    if (fixed(start + 8, 2) != MASU__TRACE_VERSION)
        return wrong(fault, 8, "a version of the format that this masu does not know");
    size_t head_bytes = (size_t)fixed(start + 10, 2);
    if (head_bytes < MASU__TRACE_HEADER_BYTES || head_bytes > length)
        return wrong(fault, 10, "the length of the head is wrong");
    masu_status status = masu__recording_init(out, "masu trace 1");
    if (status != MASU_OK)
        return status;
    out->began_at_ns = fixed(start + 16, 8);
    reader r = {.out = out, .whole_events = UINT64_MAX};
    status = read_chunks(&r, start, length, head_bytes);
    masu__live_destroy(&r.live);
    place_map_destroy(&r.places);
    if (status != MASU_OK)
        masu__recording_destroy(out);
    return status;
}
