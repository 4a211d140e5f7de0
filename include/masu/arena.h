/* arena.h: memory with one common end. Two shapes, each a pointer that moves, compiled into the caller:
 *
 *     linear   ┌ used ──────► at ─ ─ ─ ─ end ┐      freed at once: reset, or release to a mark
 *     ring     ┌ ─ ─ tail ── used ──► at ─ ─ ┐      freed in the order of allocation, up to a mark; full when
 *              └───────────────◄─────────────┘      what is oldest still lives
 *
 * The linear arena is for what a step, a request or a compilation needs; it takes pieces from a heap, and after a reset
 * one piece as large as all of them together. The ring is for what queued work reads in order: staging memory of a
 * device.
 *
 * Not one byte of the memory is read or written: an arena over a heap of a device that the processor cannot see, or
 * over a range of the caller's, works as well.
 *
 *     used_bytes <= reserved_bytes <= limit_bytes        used counts what alignment skipped too
 *
 * One that is given a trace (masu/trace.h) tells it of its pieces, of every block, and of those that a release or reset
 * ends. For that it remembers them, in memory of its own: 24 bytes for each block that lives. Without a trace it
 * neither remembers nor asks.
 *
 * Ownership: the caller owns an arena until destroy; blocks belong to the arena. Thread safety: one thread at a time
 * for each arena. Cost: alloc O(1), a few instructions, no lock; where a linear arena is full, one call of its heap.
 */
#ifndef MASU_ARENA_H
#define MASU_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include <masu/export.h>
#include <masu/heap.h>
#include <masu/status.h>
#include <masu/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

MASU_HEADER_BEGIN

enum { MASU_ARENA_ALIGNMENT_BYTES = 16 }; /* what alignment 0 means: enough for any scalar */

/* The range that is handed out without a call: [at, end). The library's to change. */
typedef struct masu_window {
    uintptr_t at, end;
} masu_window;

/* bytes > 0 at a multiple of alignment out of the window, or NULL, and nothing has changed. */
static inline void *masu_window_take(masu_window *window, size_t bytes, size_t alignment) {
    uintptr_t mask = (alignment ? alignment : (size_t)MASU_ARENA_ALIGNMENT_BYTES) - 1;
    uintptr_t start = (window->at + mask) & ~mask;
    if (__builtin_expect(start < window->at || start > window->end || bytes - 1 >= window->end - start ||
                             (mask & (mask + 1)) != 0,
                         0))
        return NULL;
    window->at = start + bytes;
    return (void *)start;
}

/* ---- linear -------------------------------------------------------------------------------------------- */

typedef struct masu_arena {
    masu_window window; /* the rest is the library's */
} masu_arena;

typedef struct masu_arena_config {
    size_t struct_bytes; /* sizeof(masu_arena_config): set it, so that fields can be added */
    masu_heap *heap;     /* borrowed, outlives the arena; NULL: the process-wide pool */
    void *memory;        /* borrowed: the arena lies in these memory_bytes and takes nothing else; NULL: none */
    size_t memory_bytes;
    size_t block_bytes; /* of each piece, at least; 0: 64 KiB */
    size_t limit_bytes; /* of all pieces; 0: no limit */
    masu_trace *trace;  /* borrowed; NULL: none. With one every request is a call, also while it is switched off */
    const char *name;   /* borrowed during create, for the trace; NULL: none */
} masu_arena_config;

typedef struct masu_arena_stats {
    uint64_t used_bytes, peak_used_bytes; /* with what alignment skipped; the peak since create, exact after each
                                           * reset, release and get_stats */
    uint64_t reserved_bytes;              /* in pieces, or the caller's memory */
    uint64_t pieces;
    uint64_t resets;
} masu_arena_stats;

/* A position in an arena: what was allocated before it. */
typedef struct masu_arena_mark {
    uint64_t piece;
    uintptr_t at;
} masu_arena_mark;

/* config NULL: defaults. Takes no memory before the first request. MASU_ERR_INVALID_ARGUMENT (also memory without
 * bytes), MASU_ERR_UNSUPPORTED (struct_bytes of a later version with a field set that is not known here),
 * MASU_ERR_OUT_OF_MEMORY. */
MASU_API masu_status masu_arena_create(const masu_arena_config *config, masu_arena **out);
/* Gives everything back; NULL is allowed. Statuses as of the heap's free. */
MASU_API masu_status masu_arena_destroy(masu_arena *arena);

/* As masu_arena_alloc, and says why not: MASU_ERR_INVALID_ARGUMENT, MASU_ERR_OVERFLOW, MASU_ERR_LIMIT_REACHED (of
 * the arena's limit, or of the caller's memory), MASU_ERR_OUT_OF_MEMORY or what the heap said. bytes 0: NULL,
 * MASU_OK. */
MASU_API masu_status masu_arena_try(masu_arena *arena, size_t bytes, size_t alignment, void **out);
MASU_API void *masu_arena_alloc_slow(masu_arena *arena, size_t bytes, size_t alignment) MASU_ALLOCATED(2);

/* bytes at a multiple of alignment (a power of two; 0: 16), uninitialised. NULL for bytes 0 and where there is no
 * memory; nothing has changed then. */
MASU_ALLOCATED(2) static inline void *masu_arena_alloc(masu_arena *arena, size_t bytes, size_t alignment) {
    void *block = masu_window_take(&arena->window, bytes, alignment);
    return __builtin_expect(block != NULL, 1) ? block : masu_arena_alloc_slow(arena, bytes, alignment);
}

MASU_API masu_arena_mark masu_arena_here(const masu_arena *arena);
/* Everything that was allocated since the mark is gone. MASU_ERR_INVALID_ARGUMENT, and nothing has changed, for a mark
 * behind what is there. O(pieces given up). */
MASU_API masu_status masu_arena_release(masu_arena *arena, masu_arena_mark mark);
/* Everything is gone; the memory is kept: one piece, or one as large as all of them at the next request. O(pieces). */
MASU_API void masu_arena_reset(masu_arena *arena);
/* Gives the memory back that holds nothing. */
MASU_API masu_status masu_arena_trim(masu_arena *arena);
MASU_API void masu_arena_get_stats(masu_arena *arena, masu_arena_stats *out);

/* ---- ring ------------------------------------------------------------------------------------------------ */

typedef struct masu_ring {
    masu_window window; /* the rest is the library's */
} masu_ring;

typedef struct masu_ring_config {
    size_t struct_bytes; /* sizeof(masu_ring_config) */
    size_t bytes;        /* how much lives in it at most; > 0 */
    masu_heap *heap;     /* borrowed: where that comes from, at create; NULL: the process-wide pool */
    void *memory;        /* borrowed: the ring lies in these bytes; NULL: none */
    size_t alignment;    /* of its first byte, a power of two; 0: 64 */
    masu_trace *trace;   /* as of an arena */
    const char *name;
} masu_ring_config;

typedef struct masu_ring_stats {
    uint64_t capacity_bytes;
    uint64_t used_bytes; /* from the oldest that lives to the newest, with what was skipped */
    uint64_t laps;       /* times that it began again at its first byte */
    uint64_t refusals;   /* requests for which there was no room */
} masu_ring_stats;

/* MASU_ERR_INVALID_ARGUMENT, MASU_ERR_UNSUPPORTED, MASU_ERR_OUT_OF_MEMORY, or what the heap said. */
MASU_API masu_status masu_ring_create(const masu_ring_config *config, masu_ring **out);
MASU_API masu_status masu_ring_destroy(masu_ring *ring);

MASU_API void *masu_ring_alloc_slow(masu_ring *ring, size_t bytes, size_t alignment) MASU_ALLOCATED(2);

/* As masu_arena_alloc. NULL also while there is no room: wait until something older may be released. A block never
 * wraps around, so one larger than the ring never fits, and what does not fit behind the newest waits for room at the
 * front. */
MASU_ALLOCATED(2) static inline void *masu_ring_alloc(masu_ring *ring, size_t bytes, size_t alignment) {
    void *block = masu_window_take(&ring->window, bytes, alignment);
    return __builtin_expect(block != NULL, 1) ? block : masu_ring_alloc_slow(ring, bytes, alignment);
}

/* A mark behind all that was allocated so far: to be released when the work that reads it is done. */
MASU_API uint64_t masu_ring_here(const masu_ring *ring);
/* Everything allocated before the mark is gone; a mark released before changes nothing. MASU_ERR_INVALID_ARGUMENT for
 * one that lies ahead. O(1). */
MASU_API masu_status masu_ring_release(masu_ring *ring, uint64_t mark);
MASU_API void masu_ring_reset(masu_ring *ring);
MASU_API void masu_ring_get_stats(const masu_ring *ring, masu_ring_stats *out);

MASU_HEADER_END

#ifdef __cplusplus
}
#endif

#endif
