/* trace.c: the event stream. */
#include "base/trace.h"

#include "base/meta.h"
#include "base/record.h"
#include "base/size.h"

static _Atomic uint32_t pool_count;

uint32_t masu__trace_new_pool(void) {
    return atomic_fetch_add_explicit(&pool_count, 1, memory_order_relaxed) + 1;
}

static masu_status trace_make_ring(masu_trace *trace, size_t events) {
    if (events == 0)
        return MASU_OK;
    if (events > (SIZE_MAX >> 1) / sizeof(masu_event))
        return MASU_ERR_OVERFLOW;
    size_t size = (size_t)1 << masu__log2_ceil(events);
    trace->ring = masu__meta_calloc(size, sizeof(masu_event));
    if (!trace->ring)
        return MASU_ERR_OUT_OF_MEMORY;
    trace->ring_mask = size - 1;
    return MASU_OK;
}

masu_status masu_trace_create(const masu_trace_config *config, masu_trace **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!config)
        return MASU_ERR_INVALID_ARGUMENT;
    masu_trace *trace = masu__meta_calloc(1, sizeof *trace);
    if (!trace)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = trace_make_ring(trace, config->ring_events);
    if (status != MASU_OK) {
        masu__meta_free(trace, sizeof *trace);
        return status;
    }
    masu__lock_init(&trace->lock, MASU__RANK_TRACE);
    trace->sink = config->sink;
    trace->sink_context = config->sink_context;
    atomic_init(&trace->on, config->start_on);
    *out = trace;
    return MASU_OK;
}

void masu_trace_destroy(masu_trace *trace) {
    if (!trace)
        return;
    masu_trace_record_end(trace, NULL);
    masu__lock_destroy(&trace->lock);
    masu__meta_free(trace->pools, trace->pool_capacity * sizeof *trace->pools);
    masu__meta_free(trace->ring, (trace->ring_mask + 1) * sizeof(masu_event));
    masu__meta_free(trace, sizeof *trace);
}

void masu_trace_set_on(masu_trace *trace, bool on) {
    if (trace)
        atomic_store_explicit(&trace->on, on, memory_order_relaxed);
}

bool masu_trace_is_on(const masu_trace *trace) {
    return trace && atomic_load_explicit(&trace->on, memory_order_relaxed);
}

/* The place is asked for before the lock: who is asked may have a new one to say. A recording may end meanwhile: then
 * what is said goes nowhere. */
static inline void deliver(masu_trace *trace, masu_event *event, masu__event_more *more) {
    masu_record_here here = atomic_load_explicit(&trace->here, memory_order_acquire);
    if (here && masu__event_is_request(event->kind))
        more->place = here(atomic_load_explicit(&trace->here_context, memory_order_relaxed));
    masu__lock_take(&trace->lock);
    event->sequence = trace->emitted++;
    if (trace->ring)
        trace->ring[event->sequence & trace->ring_mask] = *event;
    if (trace->sink)
        trace->sink(trace->sink_context, event);
    if (trace->recorder)
        masu__record_event(trace->recorder, event, more);
    masu__lock_release(&trace->lock);
}

void masu__trace_emit(masu_trace *trace, masu_event event) {
    deliver(trace, &event, &(masu__event_more){0});
}

void masu__trace_emit_more(masu_trace *trace, masu_event event, masu__event_more more) {
    deliver(trace, &event, &more);
}

static uint64_t trace_kept(const masu_trace *trace) {
    if (!trace->ring)
        return 0;
    uint64_t size = (uint64_t)trace->ring_mask + 1;
    return trace->emitted < size ? trace->emitted : size;
}

size_t masu_trace_read(masu_trace *trace, masu_event *out, size_t capacity) {
    if (!trace)
        return 0;
    masu__lock_take(&trace->lock);
    uint64_t kept = trace_kept(trace);
    uint64_t first = trace->emitted - kept;
    size_t count = kept < capacity ? (size_t)kept : capacity;
    for (size_t i = 0; i < count; i++)
        out[i] = trace->ring[(first + i) & trace->ring_mask];
    masu__lock_release(&trace->lock);
    return count;
}

uint64_t masu_trace_emitted(masu_trace *trace) {
    if (!trace)
        return 0;
    masu__lock_take(&trace->lock);
    uint64_t emitted = trace->emitted;
    masu__lock_release(&trace->lock);
    return emitted;
}

uint64_t masu_trace_dropped(masu_trace *trace) {
    if (!trace)
        return 0;
    masu__lock_take(&trace->lock);
    uint64_t dropped = trace->emitted - trace_kept(trace);
    masu__lock_release(&trace->lock);
    return dropped;
}

const char *masu_event_kind_name(masu_event_kind kind) {
    static const char *const names[] = {
        [MASU_EVENT_EXTENT_ADD] = "extent-add",
        [MASU_EVENT_EXTENT_DROP] = "extent-drop",
        [MASU_EVENT_ALLOC] = "alloc",
        [MASU_EVENT_FREE] = "free",
        [MASU_EVENT_FREE_PART] = "free-part",
        [MASU_EVENT_RESET] = "reset",
        [MASU_EVENT_REFUSED] = "refused",
        [MASU_EVENT_PIECE_ADD] = "piece-add",
        [MASU_EVENT_PIECE_DROP] = "piece-drop",
        [MASU_EVENT_MAP] = "map",
        [MASU_EVENT_PIECE_CUT] = "piece-cut",
        [MASU_EVENT_PIECE_JOIN] = "piece-join",
        [MASU_EVENT_UNMAP] = "unmap",
        [MASU_EVENT_RESIZE] = "resize",
        [MASU_EVENT_BEGIN] = "begin",
        [MASU_EVENT_END] = "end",
        [MASU_EVENT_MARK] = "mark",
    };
    return (size_t)kind < MASU_EVENT_KIND_COUNT ? names[kind] : "unknown";
}
