/* record_writer.c: what turns the ring into chunks of a file, and the thread that does. It asks for no memory and
 * takes no lock but the trace's, once, when it takes over from a program that was its own writer.
 *
 * The thread looks at the ring every 50 ms, or when it is woken because the ring is half full. What could not be
 * written is thrown away, so that the program never waits for a disk that is full.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/record.h"
#include "base/trace_format.h"

enum { LOOK_NS = 50 * 1000 * 1000 };

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static MASU_LARGE_TABLE uint32_t crc_tables[8][256]; /* [k]: of a byte that k zero bytes follow */
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void make_crc_tables(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        crc_tables[0][i] = c;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t i = 0; i < 256; i++)
            crc_tables[k][i] = crc_tables[k - 1][i] >> 8 ^ crc_tables[0][crc_tables[k - 1][i] & 255];
}

/* Eight bytes at a time, the lowest first. */
static uint32_t crc_of(const unsigned char *bytes, size_t count) {
    uint32_t crc = 0xffffffffu;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint32_t low = crc ^ ((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                              (uint32_t)bytes[3] << 24);
        crc = crc_tables[7][low & 255] ^ crc_tables[6][low >> 8 & 255] ^ crc_tables[5][low >> 16 & 255] ^
              crc_tables[4][low >> 24] ^ crc_tables[3][bytes[4]] ^ crc_tables[2][bytes[5]] ^ crc_tables[1][bytes[6]] ^
              crc_tables[0][bytes[7]];
    }
    for (; count > 0; bytes++, count--)
        crc = crc_tables[0][(crc ^ *bytes) & 255] ^ crc >> 8;
    return ~crc;
}

static unsigned char *put_number(unsigned char *out, uint64_t value) {
    for (; value >= 128; value >>= 7)
        *out++ = (unsigned char)(value | 128);
    *out++ = (unsigned char)value;
    return out;
}

static uint64_t zigzag(uint64_t difference) {
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

bool masu__record_write(int file, const void *bytes, size_t count) {
    const char *from = bytes;
    while (count > 0) {
        ssize_t done = write(file, from, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        from += done;
        count -= (size_t)done;
    }
    return true;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static void end_chunk(masu__recorder *r) {
    if (r->chunk_records == 0)
        return;
    pthread_once(&crc_once, make_crc_tables);
    unsigned char *head = r->chunk;
    memcpy(head, MASU__TRACE_CHUNK, 4);
    masu__record_fixed(head + 4, r->chunk_bytes - MASU__TRACE_CHUNK_BYTES, 4);
    masu__record_fixed(head + 12, r->chunk_records, 4);
    masu__record_fixed(head + 8, crc_of(head + 12, r->chunk_bytes - 12), 4);
    bool failed = atomic_load_explicit(&r->failed, memory_order_relaxed);
    if (!failed && masu__record_write(r->file, r->chunk, r->chunk_bytes))
        atomic_fetch_add_explicit(&r->written_bytes, r->chunk_bytes, memory_order_relaxed);
    else
        atomic_store_explicit(&r->failed, true, memory_order_relaxed);
    r->chunk_records = 0;
}

static void begin_chunk(masu__recorder *r, uint64_t time_ns) {
    r->chunk_bytes = MASU__TRACE_CHUNK_BYTES;
    r->last = (masu__record){.time_ns = time_ns};
    masu__record_fixed(r->chunk + 16, time_ns, 8);
}

static unsigned fields_of(const masu__record *record, const masu__record *last) {
    return (record->address ? MASU__TRACE_HAS_ADDRESS : 0u) | (record->bytes ? MASU__TRACE_HAS_BYTES : 0u) |
           (record->given_bytes != record->bytes ? MASU__TRACE_HAS_GIVEN : 0u) |
           (record->other ? MASU__TRACE_HAS_OTHER : 0u) | (record->pool != last->pool ? MASU__TRACE_HAS_POOL : 0u) |
           (record->place ? MASU__TRACE_HAS_PLACE : 0u) |
           (record->thread != last->thread ? MASU__TRACE_HAS_THREAD : 0u) |
           (record->stream ? MASU__TRACE_HAS_STREAM : 0u) | (record->alignment_log2 ? MASU__TRACE_HAS_ALIGNMENT : 0u) |
           (record->text_bytes ? MASU__TRACE_HAS_TEXT : 0u);
}

static unsigned char *put_fields(unsigned char *out, unsigned fields, const masu__record *record, masu__record *last) {
    if (fields & MASU__TRACE_HAS_ADDRESS) {
        out = put_number(out, zigzag(record->address - last->address));
        last->address = record->address;
    }
    if (fields & MASU__TRACE_HAS_BYTES)
        out = put_number(out, record->bytes);
    if (fields & MASU__TRACE_HAS_GIVEN)
        out = put_number(out, record->given_bytes - record->bytes);
    if (fields & MASU__TRACE_HAS_OTHER)
        out = put_number(out, record->other);
    if (fields & MASU__TRACE_HAS_POOL)
        out = put_number(out, last->pool = record->pool);
    if (fields & MASU__TRACE_HAS_PLACE)
        out = put_number(out, record->place);
    if (fields & MASU__TRACE_HAS_THREAD)
        out = put_number(out, last->thread = record->thread);
    if (fields & MASU__TRACE_HAS_STREAM)
        out = put_number(out, record->stream);
    if (fields & MASU__TRACE_HAS_ALIGNMENT)
        out = put_number(out, record->alignment_log2);
    return out;
}

/* text_at: the position of the ring's slot where the text begins. */
static unsigned char *put_text(unsigned char *out, const masu__recorder *r, uint64_t text_at, size_t length) {
    out = put_number(out, length);
    for (size_t done = 0; done < length; text_at++) {
        size_t part = length - done < sizeof(masu__record) ? length - done : sizeof(masu__record);
        memcpy(out, &r->ring[text_at & (r->size - 1)], part);
        out += part;
        done += part;
    }
    return out;
}

static void write_record(masu__recorder *r, const masu__record *record, uint64_t text_at) {
    enum { FULL = MASU__TRACE_CHUNK_BYTES + MASU__TRACE_MOST_PAYLOAD / 4 };
    if (r->chunk_records > 0 && r->chunk_bytes + MASU__TRACE_MOST_RECORD > FULL)
        end_chunk(r);
    if (r->chunk_records == 0)
        begin_chunk(r, record->time_ns);
    unsigned char *start = r->chunk + r->chunk_bytes, *out = start;
    unsigned fields = fields_of(record, &r->last);
    *out++ = record->kind;
    out = put_number(out, fields);
    out = put_number(out, record->time_ns - r->last.time_ns);
    r->last.time_ns = record->time_ns;
    out = put_fields(out, fields, record, &r->last);
    if (record->text_bytes)
        out = put_text(out, r, text_at, record->text_bytes);
    r->chunk_bytes += (size_t)(out - start);
    r->chunk_records++;
    r->written_events += record->kind < MASU__TRACE_DEFINED;
}

/* ---- the ring ---------------------------------------------------------------------------------------------------- */

static void empty_ring(masu__recorder *r) {
    uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed), said = tail;
    while (tail != head) {
        masu__record record = r->ring[tail & (r->size - 1)];
        write_record(r, &record, tail + 1);
        tail += 1 + (record.text_bytes + sizeof record - 1) / sizeof record;
        if (tail - said >= r->size / 8)
            atomic_store_explicit(&r->tail, said = tail, memory_order_release);
    }
    atomic_store_explicit(&r->tail, tail, memory_order_release);
}

void masu__record_take(masu__recorder *r, bool is_due) {
    empty_ring(r);
    r->known_tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    if (is_due)
        end_chunk(r);
}

void masu__record_close(masu__recorder *r) {
    empty_ring(r);
    if (r->unsaid_drops) { /* the ring is not filled any more */
        masu__record lost = {.time_ns = r->last.time_ns,
                             .kind = MASU__TRACE_LOST,
                             .bytes = r->unsaid_drops,
                             .given_bytes = r->unsaid_drops};
        write_record(r, &lost, 0);
    }
    masu__record end = {.time_ns = r->last.time_ns,
                        .kind = MASU__TRACE_END,
                        .bytes = r->written_events,
                        .given_bytes = r->written_events};
    write_record(r, &end, 0);
    end_chunk(r);
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* From who writes HERE, which goes on until this thread has the lock. */
static void take_over(masu__recorder *r) {
    masu__lock_take(r->lock);
    masu__record_take(r, true); /* it is empty, so that positions may mean other slots */
    r->size = r->ring_records;
    r->look_ns = UINT64_MAX;
    atomic_store(&r->mode, MASU__RECORD_THREAD);
    masu__lock_release(r->lock);
}

static void empty_and_write(masu__recorder *r) {
    empty_ring(r);
    end_chunk(r);
}

static void sleep_a_while(masu__recorder *r) {
    pthread_mutex_lock(&r->bell.mutex);
    atomic_store(&r->sleeps, true);
    if (!atomic_load(&r->ends))
        masu__bell_wait(&r->bell, LOOK_NS);
    atomic_store(&r->sleeps, false);
    pthread_mutex_unlock(&r->bell.mutex);
}

void *masu__record_writer(void *recorder) {
    masu__recorder *r = recorder;
    if (atomic_load(&r->mode) == MASU__RECORD_HERE) /* else others may wait for this thread with the lock taken */
        take_over(r);
    for (; !atomic_load(&r->ends); sleep_a_while(r))
        empty_and_write(r);
    masu__record_close(r); /* what came before the end was said is in the ring */
    return NULL;
}
