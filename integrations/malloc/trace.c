/* trace.c: every call into a file for `masu report`, when MASU_TRACE asks for it.
 *
 *     first block ─► pool and trace, events into the ring        the loader may want it: no thread can be made yet
 *     constructor ─► the thread that writes                       destructor ─► the rest, and the end
 *
 * A traced pool has no magazines: each call takes the pool's lock and is seen. Where a block was asked for is the
 * address that the call returns to, as the object it lies in and its offset there, which addr2line knows. It is looked
 * up without a lock (_dl_find_object), once for each address; a table of a fixed size holds those that are known.
 */
#include "adapter.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <masu/record.h>

bool masu_malloc_traces = true; /* until it is known: the first call is one too */
_Thread_local const void *masu_malloc_caller __attribute__((tls_model("initial-exec")));

static masu_trace *trace;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static LARGE_TABLE char program[PATH_MAX]; /* its file; the object that has no name of its own */

/* ---- who asked ------------------------------------------------------------------------------- */

/* Place number i + 1 is the address in entry i. Once it is full, further ones are not known. */
enum { PLACES = 1 << 16 };
static LARGE_TABLE _Atomic uintptr_t places[PLACES];
static _Atomic unsigned place_count;

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A text, a plus, hexadecimal digits. Without the streams of the C library, which might allocate. */
static void place_text(uintptr_t address, char *out, size_t room) {
    struct dl_find_object found;
    if (_dl_find_object((void *)address, &found) != 0) {
        snprintf(out, room, "0x%lx", (unsigned long)address);
        return;
    }
    const char *object = found.dlfo_link_map->l_name;
    snprintf(out, room, "%s+0x%lx", base_name(object && object[0] ? object : program),
             (unsigned long)(address - found.dlfo_link_map->l_addr));
}

/* The pool holds its lock: one thread at a time, but for pools of the library itself. */
static uint32_t here(void *unused) {
    uintptr_t address = (uintptr_t)masu_malloc_caller;
    size_t at = (size_t)((uint64_t)address * 0x9e3779b97f4a7c15u >> 48) % PLACES;
    char text[512];
    (void)unused;
    if (address == 0)
        return 0;
    for (;; at = (at + 1) % PLACES) {
        uintptr_t there = atomic_load(&places[at]);
        if (there == address)
            return (uint32_t)at + 1;
        if (there == 0 &&
            (atomic_load(&place_count) >= PLACES / 2 || atomic_compare_exchange_strong(&places[at], &there, address)))
            break;
        if (there == address)
            return (uint32_t)at + 1;
    }
    if (atomic_load(&places[at]) != address)
        return 0;
    atomic_fetch_add(&place_count, 1);
    place_text(address - 1, text, sizeof text); /* inside of the call, not behind it */
    masu_trace_place(trace, (uint32_t)at + 1, 0, text, "", 0);
    return (uint32_t)at + 1;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void say_why(const char *path) {
    if (errno == EWOULDBLOCK)
        masu_malloc_say("MASU_TRACE=%s is being written by another process; write %%p in the name for a file each",
                        path);
    else
        masu_malloc_say("MASU_TRACE=%s cannot be written%s%s; nothing is recorded", path, errno ? ": " : "",
                        errno ? strerror(errno) : "");
}

static void begin(void) {
    const settings *wanted = masu_malloc_settings();
    char path[PATH_MAX];
    int before = errno;
    if (!wanted->trace_file) {
        masu_malloc_traces = false;
        return;
    }
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    masu_malloc_name_file(wanted->trace_file, path, sizeof path);
    errno = 0;
    if (masu_trace_create(&(masu_trace_config){.start_on = true}, &trace) == MASU_OK &&
        masu_trace_record_to(trace, path, &(masu_record_config){.program = program, .here = here, .later = true}) ==
            MASU_OK) {
        errno = before;
        return;
    }
    say_why(path);
    masu_trace_destroy(trace);
    trace = NULL;
    masu_malloc_traces = false;
    errno = before;
}

masu_trace *masu_malloc_trace(void) {
    pthread_once(&once, begin);
    return trace;
}

/* Not before: the loader itself may have wanted the first block. */
static __attribute__((constructor)) void trace_begin(void) {
    if (masu_malloc_trace() && masu_trace_record_start(trace) != MASU_OK)
        masu_malloc_say("MASU_TRACE: no thread can be made that writes; the file will hold the beginning alone");
}

/* The last one here, so that it tells of the same calls as the report. Other threads may still be in calls: the trace
 * stays. */
static __attribute__((destructor(101))) void trace_end(void) {
    if (!trace)
        return;
    if (masu_trace_record_end(trace, NULL) != MASU_OK)
        masu_malloc_say("MASU_TRACE is not whole: writing failed");
    masu_trace_set_on(trace, false);
}
