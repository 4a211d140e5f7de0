/* stream.h: blocks that belong to streams of work.
 *
 * On a device with streams, memory that is freed may still be in use by work that is queued. So a block
 * is given back on a stream: work queued there before is done with it, work queued there after may have
 * it. This is in front of a pool and keeps the order:
 *
 *     freed on a stream      ─► on the same stream at once       (the stream itself keeps the order)
 *                            ─► on another only after its event  (a mark in the stream, looked at, not
 *                               waited for)
 *     before the pool grows  ─► every freed block whose event has come goes back to the pool, where
 *                               neighbours merge
 *     when there is no more  ─► the remaining events are waited for, and it is tried once more
 *
 *     taken from the pool = live + cached;    a cached block has at least one event, or is idle
 *
 * Thread safety: with thread_safe any function may be called from any thread, except create and
 * destroy.
 */
#ifndef MASU_STREAM_H
#define MASU_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/bestfit.h>
#include <masu/device.h>
#include <masu/export.h>
#include <masu/status.h>
#include <masu/trace.h>
#include <masu/vm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct masu_streams masu_streams;

typedef struct masu_streams_config {
    masu_device *device;   /* borrowed; its streams and events */
    masu_vm *vm;           /* where blocks come from: one of these two, borrowed, */
    masu_bestfit *bestfit; /* thread-safe if other threads use it too */
    bool thread_safe;
    masu_trace
        *trace;       /* borrowed, NULL: none; of each block its life and its stream, which is also the event's owner */
    const char *name; /* borrowed during create, for the trace; NULL: none */
} masu_streams_config;

typedef struct masu_streams_stats {
    uint64_t allocations, frees, failures;
    uint64_t same_stream;  /* allocations served by a block freed on the same stream */
    uint64_t other_stream; /* by one freed on another, after its event */
    uint64_t fetched;      /* from the pool: the three sum to allocations */
    uint64_t returned;     /* blocks given back to the pool */
    uint64_t waits;        /* times the processor waited for events */
    uint64_t live_blocks, live_bytes;
    uint64_t cached_blocks, cached_bytes; /* freed, not given back */
    uint64_t streams;                     /* that have cached blocks or events */
} masu_streams_stats;

/* MASU_ERR_INVALID_ARGUMENT, MASU_ERR_UNSUPPORTED (a device without streams),
 * MASU_ERR_OUT_OF_MEMORY. */
MASU_API masu_status masu_streams_create(const masu_streams_config *config, masu_streams **out);

/* Waits for all events and gives everything back to the pool, in any case; NULL is allowed. MASU_OK, or
 * MASU_ERR_LEAK when blocks were live (they stay the pool's), or what the device or pool said. */
MASU_API masu_status masu_streams_destroy(masu_streams *streams);

/* A block of at least bytes for work on that stream (the device's handle, NULL: its default stream).
 * bytes 0: *out = NULL, MASU_OK. The caller owns it. Statuses of the pool. O(log n); looks at one
 * event a stream when its own has nothing. */
MASU_API masu_status masu_streams_alloc(masu_streams *streams, size_t bytes, void *stream, void **out);

/* The block is also used by work on another stream: it is then free only when that has come to the
 * point where the block is freed, too. At most 7 others for one block: MASU_ERR_LIMIT_REACHED.
 * MASU_ERR_FOREIGN_POINTER. */
MASU_API masu_status masu_streams_use(masu_streams *streams, void *ptr, void *stream);

/* Takes the block back as of the present end of that stream. Does not wait. NULL: MASU_OK.
 * MASU_ERR_FOREIGN_POINTER (also for a second free), or what the device said to the mark: the block is
 * then still live. */
MASU_API masu_status masu_streams_free(masu_streams *streams, void *ptr, void *stream);

/* Gives cached blocks whose events have come back to the pool; with wait, all of them. */
MASU_API masu_status masu_streams_trim(masu_streams *streams, bool wait);

MASU_API void masu_streams_get_stats(masu_streams *streams, masu_streams_stats *out);

/* Checks every equation, O(n log n). */
MASU_API bool masu_streams_valid(masu_streams *streams);

#ifdef __cplusplus
}
#endif

#endif
