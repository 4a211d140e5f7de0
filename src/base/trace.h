/* trace.h: emitting events, from inside the pools.
 *
 * A pool keeps a pointer to the trace that it was given, or NULL. So without one the question "is anyone listening" is
 * a comparison and a branch; with one that is switched off, two.
 */
#ifndef MASU_BASE_TRACE_H
#define MASU_BASE_TRACE_H

#include <stdatomic.h>

#include <masu/record.h>

#include "base/assert.h"
#include "base/lock.h"

typedef struct masu__known_pool {
    uint32_t number, below;
    char layer[16], name[32];
} masu__known_pool;

/* kept events = [max(0, emitted - ring size), emitted); event n lies in ring[n & ring_mask] */
struct masu_trace {
    _Atomic bool on;
    _Atomic masu_record_here here; /* read without the lock, before it: of the recording, NULL: none */
    void *_Atomic here_context;
    struct masu__recorder *recorder; /* NULL: nothing is written down. This and all below: under the lock */
    masu_event *ring;                /* NULL: no ring */
    size_t ring_mask;                /* ring size - 1, a power of two less one */
    uint64_t emitted;
    masu_trace_sink sink;
    masu__lock lock;
    void *sink_context;
    masu__known_pool *pools; /* every pool that was given the trace, for a recording that begins later */
    uint32_t pool_count, pool_capacity;
};

static inline bool masu__trace_wanted(const masu_trace *trace) {
    return MASU_UNLIKELY(trace != NULL) && atomic_load_explicit(&trace->on, memory_order_relaxed);
}

/* Gives the event its sequence number and delivers it. Call only when masu__trace_wanted. */
void masu__trace_emit(masu_trace *trace, masu_event event);
/* With what a recording knows beyond the event. */
typedef struct masu__event_more {
    uint64_t stream;  /* the device's number for it */
    const char *text; /* a name; NULL: none */
    uint32_t place;   /* 0: that of the thread, where something is asked for */
} masu__event_more;

/* Whether the program asks for something: then a recording says where. */
static inline bool masu__event_is_request(uint32_t kind) {
    return kind == MASU_EVENT_ALLOC || kind == MASU_EVENT_RESIZE || kind == MASU_EVENT_REFUSED;
}

void masu__trace_emit_more(masu_trace *trace, masu_event event, masu__event_more more);

/* Describes the pool to recordings. below: the number of the pool it takes its memory from, 0: a device. Without memory
 * it stays unknown. */
void masu__trace_know_pool(masu_trace *trace, uint32_t number, const char *layer, const char *name, uint32_t below);

/* Where this thread asks for memory, while a call that said so is under way; file NULL: not known. */
extern _Thread_local masu_place masu__trace_here __attribute__((tls_model("initial-exec")));

/* A new number for a pool, never 0, unique in the process. */
uint32_t masu__trace_new_pool(void);

#endif
