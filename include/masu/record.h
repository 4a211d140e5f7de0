/* record.h: a trace on disk, for `masu report` and `masu whatif`.
 *
 *     pools ─► trace ─► ring ─► one writer thread ─► FILE        docs/trace-format.md
 *
 * What happens to memory is put into a ring of a fixed size; a thread of its own writes it down. Nothing on that way
 * asks for memory, takes a pool's lock or waits for the disk, unless the ring is full: see when_full. The file is whole
 * up to at most 50 ms before the end, however the process ends.
 *
 *     masu_trace_create(&(masu_trace_config){.start_on = true}, &trace);
 *     masu_trace_record_from_environment(trace, NULL);     MASU_TRACE=FILE, or nothing
 *     config.trace = trace;                                of heaps and pools
 *     …
 *     masu_trace_record_end(trace, NULL);                  before the trace is destroyed, or by that
 *
 * Begin before the pools are made: what was live before is not known to the file, and is said there to be so.
 *
 * After a fork the parent goes on; the child records nothing, and its calls here change nothing. Thread safety: any
 * thread; record_to and record_end not at the same time for one trace.
 */
#ifndef MASU_RECORD_H
#define MASU_RECORD_H

#include <masu/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the program is: a number that masu_trace_place has said, 0 for nowhere. Called for each allocation, growth and
 * refusal, in its thread, while a pool holds its lock: must not call into any pool; may call masu_trace_place. */
typedef uint32_t (*masu_record_here)(void *context);

typedef enum masu_record_full {
    MASU_RECORD_WAITS, /* the program waits for the writer: nothing is lost */
    MASU_RECORD_DROPS  /* what does not fit is counted, and the file says where and how much is missing */
} masu_record_full;

typedef struct masu_record_config {
    size_t ring_records; /* of 64 bytes, rounded up to a power of two; 0: 16,384, which are 1 MiB; at least 64 */
    masu_record_full when_full;
    const char *program;   /* its name, for the report; borrowed during the call; NULL: not said */
    masu_record_here here; /* NULL: places come from masu_heap_alloc_at alone */
    void *here_context;    /* borrowed, handed to here */
    /* No thread before masu_trace_record_start: for a malloc that threads need, or the loader. Until then the program's
     * own calls write, at the first event after 50 ms; into a pipe nothing is written, and what does not fit into the
     * ring is dropped. */
    bool later;
} masu_record_config;

typedef struct masu_record_stats {
    uint64_t events;        /* written or in the ring */
    uint64_t dropped;       /* for want of room, or after writing had failed */
    uint64_t waits;         /* how often the program waited for the writer */
    uint64_t written_bytes; /* to the file */
} masu_record_stats;

/* Begins to record into path, which is created, or emptied if it is a file. config is borrowed, NULL: defaults.
 * Switches the trace on. MASU_ERR_INVALID_ARGUMENT: a trace or path that is NULL, or a trace that records already;
 * MASU_ERR_IO: the file cannot be created, another recording, of any process, writes it, or no thread can be started
 * where one is needed; MASU_ERR_OUT_OF_MEMORY; MASU_ERR_OVERFLOW. On an error nothing is recorded. */
MASU_API masu_status masu_trace_record_to(masu_trace *trace, const char *path, const masu_record_config *config);

/* Starts the thread of a recording that began with `later`. MASU_OK also where there is no such recording; MASU_ERR_IO:
 * no thread can be started, and nothing has changed. */
MASU_API masu_status masu_trace_record_start(masu_trace *trace);

/* As masu_trace_record_to, with the path in MASU_TRACE; MASU_OK and nothing happens where that is not set or empty. The
 * one call of the library that reads the environment. */
MASU_API masu_status masu_trace_record_from_environment(masu_trace *trace, const masu_record_config *config);

/* Writes what is left and closes the file. MASU_OK also when nothing was recorded; MASU_ERR_IO: something could not be
 * written, the file ends before. stats may be NULL. Blocks until the writer is done. */
MASU_API masu_status masu_trace_record_end(masu_trace *trace, masu_record_stats *stats);

/* How far it is; all 0 when nothing is recorded. */
MASU_API void masu_trace_record_get_stats(masu_trace *trace, masu_record_stats *out);

/* ---- what pools do not know ----------------------------------------------------------------------------------- */

/* All of these do nothing while nothing is recorded. Texts are borrowed during the call; only so much of them is kept
 * as fits into 1000 bytes. */

/* Place number `place` (not 0, chosen by the caller) is this, called from the place `caller` (0: from nowhere), which
 * was said before. */
MASU_API void masu_trace_place(masu_trace *trace, uint32_t place, uint32_t caller, const char *file,
                               const char *function, uint32_t line);

typedef enum masu_mark {
    MASU_MARK_NOTE,
    MASU_MARK_SCOPE,
    MASU_MARK_FRAME, /* of a function */
    MASU_MARK_GRAPH, /* a walk through a gradient graph, a captured graph */
    MASU_MARK_STEP,  /* of a training loop */
    MASU_MARK_PLAN   /* a planned arena: bytes its height, block_bytes what the plan takes */
} masu_mark;

/* Something begins and ends (they nest in a thread), or happens. name may be NULL. */
MASU_API void masu_trace_begin(masu_trace *trace, masu_mark mark, const char *name);
MASU_API void masu_trace_end(masu_trace *trace, masu_mark mark, const char *name);
MASU_API void masu_trace_mark(masu_trace *trace, masu_mark mark, const char *name, uint64_t bytes,
                              uint64_t block_bytes);

/* This thread's requests come from that place, until it names another (NULL: unknown): for pools, arenas and streams,
 * whose functions take none. masu_heap_alloc_at names its own for that call. Costs a store. */
MASU_API void masu_trace_set_here(const masu_place *place);

/* ---- allocators that are not masu's --------------------------------------------------------------------------- */

/* For a preloaded malloc, or any allocator of a program: a number for it, and its events. layer says what it is
 * ("malloc"), below is the number of the pool that it takes its memory from, 0: none. Any time, also before a recording
 * begins. Never 0. */
MASU_API uint32_t masu_trace_add_pool(masu_trace *trace, const char *layer, const char *name, uint32_t below);
/* Emits the event as a pool would; sequence is given here. event->pool comes from masu_trace_add_pool. Takes the
 * trace's lock and asks for no memory. */
MASU_API void masu_trace_put(masu_trace *trace, const masu_event *event);

#ifdef __cplusplus
}
#endif

#endif
