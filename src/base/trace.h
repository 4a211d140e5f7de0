/* trace.h: emitting events, from inside the pools.
 *
 * A pool keeps a masu_trace pointer that is never NULL: one that was given no trace points to
 * masu__trace_none, which can not be switched on. So the question "is anyone listening" is one
 * load and one branch.
 */
#ifndef MASU_BASE_TRACE_H
#define MASU_BASE_TRACE_H

#include <stdatomic.h>

#include <masu/trace.h>

#include "base/assert.h"
#include "base/lock.h"

/* kept events = [max(0, emitted - ring size), emitted); event n lies in ring[n & ring_mask] */
struct masu_trace {
    _Atomic bool on;
    masu__lock lock;  /* guards all below */
    masu_event *ring; /* NULL: no ring */
    size_t ring_mask; /* ring size - 1, a power of two less one */
    uint64_t emitted;
    masu_trace_sink sink;
    void *sink_context;
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

/* A new number for a pool, never 0, unique in the process. */
uint32_t masu__trace_new_pool(void);

#endif
