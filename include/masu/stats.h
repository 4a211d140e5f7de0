/* stats.h: what a service shows of its memory: one call fills a struct, one writes it as text for Prometheus.
 *
 *     masu_stats stats = {.struct_bytes = sizeof stats};
 *     masu_stats_get(NULL, &stats);                                  NULL: the process-wide pool
 *     masu_stats_source source = {.stats = &stats};
 *     masu_stats_text(&source, 1, buffer, sizeof buffer, &length);   the body of an answer to GET /metrics
 *
 * A heap has two levels: buckets for requests of up to 16 KiB, and best fit for larger ones and for the slabs of the
 * buckets. Each has the same numbers, and so has the heap as a whole. In each level
 *
 *     hits + misses = allocations          live + idle + slack = reserved
 *
 * as long as no counter was reset. In the process-wide pool this holds for the heap as a whole; its levels count as
 * live what the caches of threads hold, and do not see the requests that these serve.
 *
 * Nothing here asks for memory or changes anything. Thread safety: masu_stats_get any thread, as masu_heap_get_stats;
 * the others any thread, as long as the structs do not change meanwhile.
 */
#ifndef MASU_STATS_H
#define MASU_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/arena.h>
#include <masu/export.h>
#include <masu/heap.h>
#include <masu/status.h>
#include <masu/stream.h>
#include <masu/vm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counters since create or masu_heap_reset_stats. Never grows: later numbers take the place of spare ones. */
typedef struct masu_stats_level {
    uint64_t allocations; /* requests that were served; bytes 0 is not counted */
    uint64_t frees;
    uint64_t refusals;   /* requests that were not */
    uint64_t hits;       /* served without the level below: of best fit and the heap that is the device */
    uint64_t misses;     /* for which it was asked */
    uint64_t live_bytes; /* as requested */
    uint64_t live_blocks;
    uint64_t peak_live_bytes;     /* 0 of buckets, which do not know it */
    uint64_t reserved_bytes;      /* held from the level below */
    uint64_t peak_reserved_bytes; /* 0 of buckets, which do not know it */
    uint64_t idle_bytes;          /* held and free */
    uint64_t slack_bytes;         /* lost to rounding */
    uint64_t largest_free_bytes;  /* the largest request that needs nothing from below; 0 of buckets */
    uint64_t metadata_bytes;
    uint64_t spare[6]; /* 0 */
} masu_stats_level;

typedef struct masu_stats {
    size_t struct_bytes; /* sizeof(masu_stats): set it, so that fields can be added */
    masu_stats_level heap, buckets, bestfit;
    uint64_t thread_caches;                               /* of the process-wide pool: threads that have one */
    uint64_t thread_cached_bytes;                         /* in them; part of heap.idle_bytes */
    uint64_t device_blocks_taken, device_blocks_returned; /* by this heap */
    /* of the device, from all its callers: */
    uint64_t device_alloc_calls, device_free_calls; /* that succeeded */
    uint64_t device_refused_calls;
    uint64_t device_live_bytes, device_peak_bytes;
} masu_stats;

/* A snapshot that adds up, under one lock. heap NULL: the process-wide pool; all 0 while it does not exist. A struct
 * may be shorter or longer than this version's: what both know is filled, the rest is 0. MASU_ERR_INVALID_ARGUMENT: out
 * is NULL, or struct_bytes has no room for heap; MASU_ERR_STALE_POOL: the heap is destroyed (as far as that is seen);
 * MASU_ERR_UNSUPPORTED: of the process-wide pool, by a signal handler that interrupted the library. On an error nothing
 * is written. O(size classes + log n). */
MASU_API masu_status masu_stats_get(const masu_heap *heap, masu_stats *out);

/* The same of pools that are not heaps, out of their own numbers: the level `heap` is the pool as a whole, there are no
 * other levels, and struct_bytes is set so that nothing is written of what such a pool does not have. live + idle +
 * slack = reserved. What a pool does not count is 0: requests of arenas, peaks of streams and rings. For virtual memory
 * reserved is memory, not addresses; the hits of streams are requests that a freed block served. Both borrowed, not
 * NULL. O(1). */
MASU_API void masu_stats_of_vm(const masu_vm_stats *from, masu_stats *out);
MASU_API void masu_stats_of_streams(const masu_streams_stats *from, masu_stats *out);
MASU_API void masu_stats_of_arena(const masu_arena_stats *from, masu_stats *out);
MASU_API void masu_stats_of_ring(const masu_ring_stats *from, masu_stats *out);

/* ---- Prometheus ---------------------------------------------------------------------------------------- */

typedef struct masu_stats_label {
    const char *name;  /* [A-Za-z_][A-Za-z0-9_]*, not beginning with two underscores, not `level` */
    const char *value; /* UTF-8; escaped where it has to be */
} masu_stats_label;

/* One heap of the text. All borrowed during the call. */
typedef struct masu_stats_source {
    const masu_stats *stats;
    const masu_stats_label *labels; /* what tells it from others; NULL: none */
    size_t label_count;
} masu_stats_source;

/* Gets the text piece by piece, in order, without a 0 at the end. Returns false to stop. */
typedef bool (*masu_stats_writer)(void *context, const char *text, size_t length);

/* The text exposition format, version 0.0.4: of each metric HELP, TYPE, and a sample for each source (and level), so
 * that all heaps of a program go into one call. Names begin with masu_. MASU_ERR_INVALID_ARGUMENT, and nothing is
 * written: a pointer is NULL, a name or value is not as above, a name comes twice, two sources have the same labels;
 * MASU_ERR_IO: write said false. O(text + sources²). */
MASU_API masu_status masu_stats_write(const masu_stats_source *sources, size_t count, masu_stats_writer write,
                                      void *context);

/* The same into a buffer, with a 0 at the end. *length (not NULL) is that of the whole text without the 0, also when
 * the buffer is too short: MASU_ERR_LIMIT_REACHED, and it begins with a 0 if it has room for one. buffer NULL with
 * bytes 0: MASU_OK, to ask how long it is. The length changes with the numbers in it: take some room more. */
MASU_API masu_status masu_stats_text(const masu_stats_source *sources, size_t count, char *buffer, size_t bytes,
                                     size_t *length);

#ifdef __cplusplus
}
#endif

#endif
