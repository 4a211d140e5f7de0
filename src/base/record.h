/* record.h: the recorder of a trace: a ring that pools fill under the trace's lock, and who empties it.
 *
 *     ring   [ …… written | tail …… full …… head | …… free …… ]      head - tail <= size; both only grow
 *
 * A record is one slot, and as many more as its text needs. Only who holds the trace's lock moves head; only the writer
 * moves tail.
 *
 * The writer is a thread, from the beginning. Only a program that began with `later` is its own writer until it can
 * make one, under the trace's lock, with a part of the ring that the nearest cache holds. Then the thread takes over
 * what is there:
 *
 *     HERE ─► THREAD        by the thread, under the trace's lock: the ring is empty then, and all of it is used
 *     NOBODY ─► THREAD      nothing but who waits for whom
 */
#ifndef MASU_BASE_RECORD_H
#define MASU_BASE_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/record.h>

#include "base/lock.h"
#include "base/thread.h"

/* 64 bytes. Fields as of trace_format.h. */
typedef struct masu__record {
    uint64_t time_ns, address, bytes, given_bytes, other, stream;
    uint32_t pool, place;
    uint32_t thread;
    uint16_t text_bytes;
    uint8_t kind, alignment_log2;
} masu__record;

typedef enum masu__record_mode {
    MASU__RECORD_THREAD, /* a writer of its own */
    MASU__RECORD_HERE,   /* who puts the event */
    MASU__RECORD_NOBODY  /* not yet: what does not fit is dropped */
} masu__record_mode;

/* The fields that each event touches lie in the first 64 bytes, one line of the cache: the program's own data has
 * driven it out between two events. */
typedef struct masu__recorder {
    masu__record *ring;
    size_t size; /* power of two; in use of ring_records */
    /* By who fills: the tail is at least there. It is asked for again only when the ring seems half full, for what the
     * writer writes must not lie beside what the program reads all the time. */
    uint64_t known_tail;
    _Atomic uint64_t head;
    uint64_t start_ns;
    uint64_t events;     /* under the trace's lock, as are the four below */
    uint64_t look_ns;    /* HERE: the first event from then on has all of them written; else never */
    uint32_t generation; /* tells threads that this recorder has not heard of them */
    _Atomic bool ends, failed, is_child;
    _Atomic uint8_t mode;                  /* masu__record_mode */
    uint64_t dropped, unsaid_drops, waits; /* what is dropped leaves known_tail far behind: unsaid ones are soon seen */
    struct masu__here_table *places;
    char apart[64];
    _Atomic uint64_t tail;
    _Atomic bool sleeps; /* the writer: wake it */
    char apart_too[64];
    pthread_t thread;
    bool has_thread;  /* under the list's lock */
    masu__lock *lock; /* the trace's */
    size_t ring_records;
    masu__bell bell; /* of the writer's sleep alone */
    masu_record_full when_full;
    /* the writer's */
    int file;
    _Atomic uint64_t written_bytes;
    uint64_t written_events;
    unsigned char *chunk;
    size_t chunk_bytes;
    uint32_t chunk_records;
    masu__record last; /* what the next record's fields are written against */
    struct masu__recorder *next;
} masu__recorder;

/* The lowest count bytes of value, the lowest first. */
static inline void masu__record_fixed(unsigned char *out, uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        out[i] = (unsigned char)(value >> 8 * i);
}

void *masu__record_writer(void *recorder); /* the thread */
/* For who writes HERE. Makes bytes of what lies in the ring; is_due: and writes them to the file. */
void masu__record_take(masu__recorder *recorder, bool is_due);
/* The last of a writer: writes what is left, and the end. */
void masu__record_close(masu__recorder *recorder);
/* Writes all bytes; false: it failed. */
bool masu__record_write(int file, const void *bytes, size_t count);

/* Under the trace's lock. */
struct masu__event_more;
void masu__record_event(masu__recorder *recorder, const masu_event *event, const struct masu__event_more *more);

#endif
