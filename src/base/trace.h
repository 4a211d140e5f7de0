/* trace.h: emitting events, from inside the pools.
 *
 * A pool keeps a masu_trace pointer that is never NULL: one that was given no trace points to
 * masu__trace_none, which can not be switched on. So the question "is anyone listening" is one
 * load and one branch.
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
    masu__lock lock;  /* guards all below */
    masu_event *ring; /* NULL: no ring */
    size_t ring_mask; /* ring size - 1, a power of two less one */
    uint64_t emitted;
    masu_trace_sink sink;
    void *sink_context;
    struct masu__recorder *recorder; /* NULL: nothing is written down */
    _Atomic masu_record_here here;   /* read without the lock, before it: of the recording, NULL: none */
    void *_Atomic here_context;
    masu__known_pool *pools; /* every pool that was given the trace, for a recording that begins later */
    uint32_t pool_count, pool_capacity;
};

extern masu_trace masu__trace_none;

static inline masu_trace *masu__trace_or_none(masu_trace *trace) {
    return trace ? trace : &masu__trace_none;
}

static inline bool masu__trace_wanted(const masu_trace *trace) {
    return MASU_UNLIKELY(atomic_load_explicit(&trace->on, memory_order_relaxed));
}

/* Gives the event its sequence number and delivers it. Call only when masu__trace_wanted. */
void masu__trace_emit(masu_trace *trace, masu_event event);
/* With a name for the recording; NULL: none. */
void masu__trace_emit_text(masu_trace *trace, masu_event event, const char *text);

/* What the pool is, for recordings. below: the number of the pool it takes its memory from, 0: a device. Without memory
 * it stays unknown. */
void masu__trace_know_pool(masu_trace *trace, uint32_t number, const char *layer, const char *name, uint32_t below);

/* Where this thread asks for memory, while a call that said so is under way; file NULL: not known. */
extern _Thread_local masu_place masu__trace_here __attribute__((tls_model("initial-exec")));

/* A new number for a pool, never 0, unique in the process. */
uint32_t masu__trace_new_pool(void);

#endif
