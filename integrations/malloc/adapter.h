/* adapter.h: masu behind the names of malloc.
 *
 *     malloc.c    C, POSIX, glibc            new.c       operators of C++
 *     settings.c  the environment            report.c    numbers: mallinfo, malloc_stats, the report at the end
 *     reserve.c   blocks for signal handlers that interrupt the library
 *     huge.c      pages of 2 MiB             idle.c      memory that goes back
 *     trace.c     MASU_TRACE                 publish.c   MASU_PUBLISH
 *
 *     malloc ─inline─► magazine of the thread
 *        └─► masu_malloc_slowly ─► masu_alloc_packed ─► NULL ─► masu_malloc_rarely: size 0, a handler, or ENOMEM
 *
 * Thin: whatever an allocator must do is done by the process-wide pool of <masu/alloc.h>; here are names, errno, and
 * what the standards say of sizes and alignments.
 */
#ifndef MASU_MALLOC_ADAPTER_H
#define MASU_MALLOC_ADAPTER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <masu/alloc.h>

#define SHOWN        __attribute__((visibility("default"), used))
#define RARELY       __attribute__((noinline, cold))
#define LIKELY(what) __builtin_expect(!!(what), 1)
#if defined(__x86_64__) && defined(__ELF__)
#define LARGE_TABLE __attribute__((section(".lbss.masu"))) /* behind all small variables, so that these share a page */
#else
#define LARGE_TABLE
#endif

/* ---- what is rare ---------------------------------------------------------------------------- */

/* The pool gave nothing: a block for size 0, one of the reserve inside of a handler, or NULL with ENOMEM. */
void *masu_malloc_rarely(size_t bytes);
/* The pool refused a block. */
void masu_malloc_refused(void *ptr, masu_status status);
/* How many were refused so far. */
uint64_t masu_malloc_refusals(void);

/* ---- the reserve ----------------------------------------------------------------------------- */

/* Lock-free. Zeroed, at a multiple of alignment, a power of two from 16 on. Blocks are never used again, and there are
 * few: NULL after some MiB. */
void *masu_malloc_reserve(size_t bytes, size_t alignment);
/* Of a block of the reserve; 0: it is none. */
size_t masu_malloc_reserve_bytes(const void *ptr);

/* ---- settings -------------------------------------------------------------------------------- */

typedef enum report_form { REPORT_NONE, REPORT_TEXT, REPORT_JSON } report_form;

typedef struct settings {
    report_form report;
    const char *report_file; /* NULL: standard error; of the environment */
    const char *trace_file;  /* NULL: nothing is recorded */
    const char *publish;     /* NULL: no page */
    size_t limit_bytes;      /* 0: none */
    size_t max_idle_bytes;   /* 0: no cap */
    uint64_t decay_ms;       /* 0: never */
    uint64_t fail_at;        /* 0: never */
    bool huge_pages, checked, decay_thread;
} settings;

/* Read from the environment when it is asked for first. */
const settings *masu_malloc_settings(void);

/* The name of a file: %p in the pattern stands for the number of the process; what does not fit is cut off. */
void masu_malloc_name_file(const char *pattern, char *out, size_t room);

/* The trace that the pool is made with, which is recorded from then on; NULL: none is asked for, or it cannot be
 * written. */
masu_trace *masu_malloc_trace(void);

/* A device of pages of 2 MiB where the system has them. */
masu_status masu_malloc_huge_device(masu_device **out);

/* ---- numbers --------------------------------------------------------------------------------- */

/* A line to standard error, whole. */
void masu_malloc_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- short paths ----------------------------------------------------------------------------- */

/* One call in tail position each, so that the way past it needs no frame. */
void *masu_malloc_slowly(size_t bytes, const void *caller);
void masu_malloc_free_slowly(void *ptr);

/* Of the name of this library that a program called. */
#define CALLER __builtin_return_address(0)

static inline __attribute__((always_inline)) void *take(size_t bytes) {
    void *block = masu_try_alloc_packed(bytes);
    return LIKELY(block) ? block : masu_malloc_slowly(bytes, CALLER);
}

/* The next call for that size is given this block: its line is fetched while the program goes on, for many programs
 * free what they have not looked at for long. A thread that only frees leaves it where it is, with the thread that will
 * write to it next. */
static inline void give(void *ptr) {
    masu_magazine *magazine = masu_magazine_of_block(ptr);
    if (!LIKELY(masu_magazine_give(magazine, ptr)))
        masu_malloc_free_slowly(ptr);
    else if (LIKELY(!magazine->frees_only))
        __builtin_prefetch(ptr, 1);
}

/* At a multiple of a power of two. NULL, ENOMEM. */
void *masu_malloc_aligned_for(size_t bytes, size_t alignment, const void *caller);
#define masu_malloc_aligned(bytes, alignment) masu_malloc_aligned_for(bytes, alignment, CALLER)

/* While calls are recorded, or it is not known yet: who asks for memory next in this thread. */
extern bool masu_malloc_traces;
extern _Thread_local const void *masu_malloc_caller __attribute__((tls_model("initial-exec")));
static inline void ask_for(const void *caller) {
    if (!LIKELY(!masu_malloc_traces))
        masu_malloc_caller = caller;
}

#endif
