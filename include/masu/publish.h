/* publish.h: a page that a running program writes for `masu top`.
 *
 *     program: heaps ─► one thread, every 100 ms ─► a file of 20 KiB ─► masu top, which only reads it
 *
 *     masu_publisher *publisher;
 *     masu_publish_from_environment(NULL, &publisher);      MASU_PUBLISH=1 or MASU_PUBLISH=FILE, or nothing
 *     masu_publish_heap(publisher, heap, "server");         any number, any time; NULL: the process-wide pool
 *     …
 *     masu_publish_end(publisher);
 *
 * Pools are asked as masu_stats_get asks them: nothing is added to an allocation, and where nothing is published
 * nothing is done. The thread writes with plain calls, so a file that somebody cuts or removes meanwhile does no harm.
 * All who may read the file see the numbers: it is the user's own (mode 0600).
 *
 * All calls take a publisher that is NULL, and do nothing then. After a fork the parent goes on; the child publishes
 * nothing. Thread safety: any thread; masu_publish_end as the last.
 */
#ifndef MASU_PUBLISH_H
#define MASU_PUBLISH_H

#include <masu/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct masu_publisher masu_publisher;

typedef struct masu_publish_config {
    size_t struct_bytes; /* sizeof(masu_publish_config): set it, so that fields can be added */
    /* NULL: masu-PROCESS.page in $XDG_RUNTIME_DIR or, without it, in /dev/shm, which is removed at the end; a file of
     * the caller's is left with the last numbers in it */
    const char *path;
    const char *program; /* its name; borrowed during the call; NULL: not said */
    unsigned period_ms;  /* 0: 100; at least 10 */
} masu_publish_config;

/* Begins to publish, by a thread that gets no signals. config is borrowed, NULL: defaults. A file at path is replaced
 * when it is such a page, and left alone otherwise: MASU_ERR_INVALID_ARGUMENT, also for struct_bytes 0; MASU_ERR_IO:
 * the file cannot be written, or no thread can be started (errno says why); MASU_ERR_OUT_OF_MEMORY. On an error *out is
 * NULL. */
MASU_API masu_status masu_publish_begin(const masu_publish_config *config, masu_publisher **out);

/* The same as MASU_PUBLISH says: 1 is the usual place, anything else a path. MASU_OK with *out NULL where that is not
 * set, empty or 0. It reads XDG_RUNTIME_DIR, too; masu_publish_begin reads no environment and takes /dev/shm. */
MASU_API masu_status masu_publish_from_environment(const masu_publish_config *config, masu_publisher **out);

/* Fills *out, whose struct_bytes is set. Called in the publisher's thread, never two at a time. Anything but MASU_OK:
 * the numbers stay as they were. */
typedef masu_status (*masu_publish_fill)(void *context, masu_stats *out);

enum { MASU_PUBLISH_SOURCES = 32, MASU_PUBLISH_NAME_BYTES = 48 };

/* A further line of the page. name is copied, as much as fits. MASU_ERR_LIMIT_REACHED: there are 32;
 * MASU_ERR_INVALID_ARGUMENT: a NULL but of context. */
MASU_API masu_status masu_publish_source(masu_publisher *publisher, const char *name, masu_publish_fill fill,
                                         void *context);

/* A heap, which must be made for several threads. Borrowed until masu_publish_drop or masu_publish_end, one of which
 * comes before it is destroyed. As masu_publish_source; MASU_ERR_UNSUPPORTED: it is made for one thread;
 * MASU_ERR_STALE_POOL. */
MASU_API masu_status masu_publish_heap(masu_publisher *publisher, const masu_heap *heap, const char *name);

/* The sources of that context, or heap, are not asked any more once this is back. */
MASU_API void masu_publish_drop(masu_publisher *publisher, const void *context);

/* Writes the numbers at once, for a program that has something to show now. */
MASU_API void masu_publish_now(masu_publisher *publisher);

/* Where the page is; "" for NULL. Valid until the end. */
MASU_API const char *masu_publish_path(const masu_publisher *publisher);

/* The last numbers, and that this is the end. Waits for the thread. */
MASU_API void masu_publish_end(masu_publisher *publisher);

#ifdef __cplusplus
}
#endif

#endif
