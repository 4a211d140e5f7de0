/* trace.h: the one stream of memory events.
 *
 * Report, replay, leak origin and judge all read this stream. A pool that was given a trace emits
 * one event for each thing that happens to its memory, in the order in which it happens; switched
 * off it costs one branch.
 *
 * The model behind the events: a pool owns extents (taken from the pool or device below it) and
 * hands out blocks inside them. Pools have numbers; extents and blocks of one number belong
 * together.
 *
 *     EXTENT_ADD   [address, address+bytes) now belongs to the pool
 *     EXTENT_DROP  that part of an extent does not any more; no live block may lie in it
 *     ALLOC        a block of `bytes`, of which the pool really spent `block_bytes`, now live
 *     FREE         the block at `address` is free again; `bytes` as at its allocation
 *     FREE_PART    a part of the live block that begins at `owner` is free; what is left before and
 *                  behind it are live blocks of their own
 *     RESET        every block of the pool is free, the extents stay
 *     REFUSED      a request for `bytes` was not served; nothing changed
 *
 * Where addresses and memory are kept apart (masu/vm.h), the extent is a range of addresses, and
 * pieces of memory come and go in it:
 *
 *     PIECE_ADD    memory of `bytes`, piece number `owner`, now belongs to the pool, mapped nowhere
 *     PIECE_DROP   and does not any more
 *     PIECE_CUT    piece `owner` keeps its first `bytes`; what follows, `block_bytes`, is now a piece
 *                  of its own, number `address`, behind it if it is mapped
 *     PIECE_JOIN   the reverse: piece `owner` has `bytes` again, piece number `address` is gone
 *     MAP          that piece now lies at `address`
 *     UNMAP        and does not any more
 *     RESIZE       the live block at `address` is now of `bytes` and spends `block_bytes`; bytes
 *                  may be 0: an empty block
 *
 * And what the program was doing, so that it can be seen beside it (masu/record.h); owner says which mark:
 *
 *     BEGIN, END   something began, or ended: a function, a step of a loop
 *     MARK         something happened
 */
#ifndef MASU_TRACE_H
#define MASU_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/export.h>
#include <masu/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum masu_event_kind {
    MASU_EVENT_EXTENT_ADD,
    MASU_EVENT_EXTENT_DROP,
    MASU_EVENT_ALLOC,
    MASU_EVENT_FREE,
    MASU_EVENT_FREE_PART,
    MASU_EVENT_RESET,
    MASU_EVENT_REFUSED,
    MASU_EVENT_PIECE_ADD,
    MASU_EVENT_PIECE_DROP,
    MASU_EVENT_PIECE_CUT,
    MASU_EVENT_PIECE_JOIN,
    MASU_EVENT_MAP,
    MASU_EVENT_UNMAP,
    MASU_EVENT_RESIZE,
    MASU_EVENT_BEGIN,
    MASU_EVENT_END,
    MASU_EVENT_MARK,
    MASU_EVENT_KIND_COUNT
} masu_event_kind;

typedef struct masu_event {
    uint64_t sequence;        /* 0, 1, 2, … over the whole trace, without gaps while it is on */
    uint64_t address;         /* or offset, for memory that has no address */
    uint64_t bytes;           /* as requested */
    uint64_t block_bytes;     /* what the pool really spent, >= bytes */
    uint64_t alignment_bytes; /* as promised, a power of two; 0 where it has no meaning */
    uint64_t owner;           /* the caller's tag, 0 for none; the number of a piece, as said above */
    uint32_t pool;            /* number of the pool, unique in the process */
    uint32_t kind;            /* masu_event_kind */
} masu_event;

typedef struct masu_trace masu_trace;

/* A place in the caller's source. */
typedef struct masu_place {
    const char *file; /* static text; NULL: not known */
    int line;
} masu_place;

#ifdef __cplusplus
#define MASU_HERE                                            \
    ([]() -> const masu_place * {                            \
        static const masu_place here = {__FILE__, __LINE__}; \
        return &here;                                        \
    }())
#else
#define MASU_HERE (&(const masu_place){__FILE__, __LINE__})
#endif

/* Called for each event while the emitting pool holds its lock: must not call into any pool. */
typedef void (*masu_trace_sink)(void *context, const masu_event *event);

typedef struct masu_trace_config {
    size_t ring_events;   /* keep the last so many events, rounded up to a power of two; 0: no ring */
    masu_trace_sink sink; /* NULL: none */
    void *sink_context;   /* borrowed, handed to sink */
    bool start_on;
} masu_trace_config;

/* Creates a trace. config is borrowed. MASU_ERR_INVALID_ARGUMENT, MASU_ERR_OVERFLOW,
 * MASU_ERR_OUT_OF_MEMORY. */
MASU_API masu_status masu_trace_create(const masu_trace_config *config, masu_trace **out);

/* Every pool that uses the trace must be gone. Ends a recording (masu/record.h). NULL is allowed. */
MASU_API void masu_trace_destroy(masu_trace *trace);

/* Switches the stream at run time. Any thread. A judge that is to follow the stream must see it
 * from the creation of the pools on. */
MASU_API void masu_trace_set_on(masu_trace *trace, bool on);
MASU_API bool masu_trace_is_on(const masu_trace *trace);

/* Copies up to capacity of the kept events, oldest first, and returns how many. Any thread.
 * O(result). */
MASU_API size_t masu_trace_read(masu_trace *trace, masu_event *out, size_t capacity);

/* How many events were emitted, and how many of them the ring no longer holds. Any thread. */
MASU_API uint64_t masu_trace_emitted(masu_trace *trace);
MASU_API uint64_t masu_trace_dropped(masu_trace *trace);

/* One event as a line of text, without its end: the fields in the order of masu_event, separated by
 * commas, numbers in decimal and the kind by name:
 *     sequence,kind,pool,address,bytes,block_bytes,alignment_bytes,owner
 * Returns its length; capacity MASU_EVENT_TEXT_BYTES always suffices, less gives "" and 0. */
enum { MASU_EVENT_TEXT_BYTES = 192 };
MASU_API size_t masu_event_format(const masu_event *event, char *out, size_t capacity);

/* The reverse. False when the line is anything else; *out is then untouched. */
MASU_API bool masu_event_parse(const char *line, masu_event *out);

/* "alloc", "free", …: static text. "unknown" for anything else. */
MASU_API const char *masu_event_kind_name(masu_event_kind kind);

#ifdef __cplusplus
}
#endif

#endif
