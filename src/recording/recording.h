/* recording.h: what happened to memory in one run, however it was written down.
 *
 *     trace file ──┐                        ┌──► report
 *     PyTorch's    ├──►  masu__recording ───┼──► what if
 *     snapshot  ───┘                        └──► plan
 *
 * Readers fill it, answers read it, and neither knows the other. It is a list of events in the order in which they
 * happened, and tables that the events point into. Entry 0 of every table means "not known".
 *
 *     events   [ standing: live when it began | what happened ............. ]      at the end (if the source says)
 *                0            standing_count                      event_count      [ at_end_count ]
 *     places   a place in a source, and the place that called it: a stack is a chain of them; place p has caller < p
 *     pools    who served: an allocator, and the pool below it, from which it takes its segments
 *     devices, streams, threads, strings, settings
 *
 * What must stay true (masu__recording_valid): every index lies in its table; times never fall; an event gives at least
 * what it was asked for; callers and lower pools come before those who name them. It says nothing of what the events
 * mean together: a file may free what was never allocated. masu__lives finds out.
 *
 * Bounded memory: a recording has at most MASU__RECORDING_MOST_EVENTS events and as many entries in each table; more is
 * MASU_ERR_LIMIT_REACHED, and what was there stays.
 *
 * Ownership: everything belongs to the recording; masu__recording_destroy frees it. Filled by one thread; once filled,
 * any number of threads may read it.
 */
#ifndef MASU_RECORDING_RECORDING_H
#define MASU_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/status.h>

#include "base/arena.h"
#include "base/buffer.h"

enum { MASU__RECORDING_MOST_EVENTS = 1 << 28 };

/* ---- events --------------------------------------------------------------------------------------------------- */

/* bytes: as asked for. given_bytes: what was really spent, >= bytes. other: as said here, 0 where nothing is said. */
typedef enum masu__recorded_kind {
    /* blocks: what a program asks for */
    MASU__RECORDED_ALLOC,      /* a block at address, now live */
    MASU__RECORDED_FREE_ASKED, /* given back, but still in use by work that is queued: it stays until FREE */
    MASU__RECORDED_FREE,       /* free again; bytes as at its allocation, or 0 where the source does not say */
    MASU__RECORDED_RESIZE,     /* the live block at address now has bytes and given_bytes */
    MASU__RECORDED_MOVE,       /* the live block at other now lies at address, of bytes and given_bytes */
    MASU__RECORDED_RESET,      /* every block of the pool is free, its segments stay */
    MASU__RECORDED_REFUSED,    /* a request for bytes was not served; other: what the device had free, 0 unknown */
    /* segments: where blocks may lie */
    MASU__RECORDED_SEGMENT_ADD,  /* [address, address + given_bytes) now belongs to the pool */
    MASU__RECORDED_SEGMENT_DROP, /* and does not any more; may be a part of one that was added */
    MASU__RECORDED_MEMORY_ADD,   /* memory with the number other now belongs to the pool, mapped nowhere */
    MASU__RECORDED_MEMORY_DROP,  /* and does not any more */
    MASU__RECORDED_MAP,          /* memory (number other, 0 unknown) now lies at [address, address + given_bytes) */
    MASU__RECORDED_UNMAP,        /* and does not any more */
    /* marks: what the program was doing; text says which */
    MASU__RECORDED_BEGIN, /* other: masu__recorded_mark. Marks of one thread nest. */
    MASU__RECORDED_END,
    MASU__RECORDED_MARK,
    MASU__RECORDED_KIND_COUNT
} masu__recorded_kind;

typedef enum masu__recorded_mark {
    MASU__MARK_NOTE, /* whatever the program says */
    MASU__MARK_SCOPE,
    MASU__MARK_FRAME, /* a function's frame */
    MASU__MARK_GRAPH, /* a gradient graph, a captured graph */
    MASU__MARK_STEP,
    MASU__MARK_PLAN, /* a planned arena: bytes its height, given_bytes what it takes */
    MASU__MARK_COUNT
} masu__recorded_mark;

enum {
    /* The block is a segment of another pool (pools lie upon each other): not a request of the program. */
    MASU__RECORDED_INNER = 1,
    /* A segment that can grow: addresses are reserved, memory comes by MAP. */
    MASU__RECORDED_EXPANDABLE = 2,
};

/* 64 bytes; zero-initialise. */
typedef struct masu__recorded_event {
    uint64_t time_ns; /* since the recording began; never falls; 0 for what was there before */
    uint64_t address;
    uint64_t bytes;
    uint64_t given_bytes;
    uint64_t other;
    uint32_t pool;   /* index of pools */
    uint32_t place;  /* index of places: the innermost of the stack */
    uint32_t thread; /* index of threads */
    uint32_t text;   /* index of strings: the name of a mark, a message */
    uint16_t stream; /* index of streams */
    uint16_t device; /* index of devices */
    uint8_t kind;    /* masu__recorded_kind */
    uint8_t flags;
    uint8_t alignment_log2; /* as promised; 0: none */
    uint8_t unused;
} masu__recorded_event;

/* ---- tables ---------------------------------------------------------------------------------------------------- */

typedef struct masu__recorded_string {
    const char *text; /* valid UTF-8 is not promised; a zero ends it, none lies inside */
    uint32_t length;
} masu__recorded_string;

typedef struct masu__recorded_place {
    uint32_t file, function; /* strings */
    uint32_t line;           /* 0: unknown */
    uint32_t caller;         /* places; 0: outermost */
} masu__recorded_place;

typedef struct masu__recorded_pool {
    uint32_t name;  /* string: "payload", "large pool" */
    uint32_t layer; /* string, what kind of allocator: "bucket", "best fit", "vm", "heap", "small", "large" */
    uint32_t below; /* pools: whom it takes its segments from; 0: the device */
    uint16_t device;
    uint64_t number; /* as the source counts them */
} masu__recorded_pool;

typedef struct masu__recorded_device {
    uint32_t name;        /* string: "host", "cuda:0" */
    uint64_t number;      /* as the source counts them */
    uint64_t total_bytes; /* 0: unknown */
    uint64_t limit_bytes; /* what the allocator may take of it; 0: none or unknown */
} masu__recorded_device;

typedef struct masu__recorded_stream {
    uint64_t handle; /* as the source writes it: 0 is the default stream */
    uint16_t device;
} masu__recorded_stream;

typedef struct masu__recorded_thread {
    uint64_t number; /* as the source counts them */
    uint32_t name;   /* string */
} masu__recorded_thread;

typedef struct masu__recorded_setting {
    uint32_t name, value; /* strings: "program", "masu version", "expandable_segments" */
} masu__recorded_setting;

struct masu__recording_index; /* what interning looks up; private */

typedef struct masu__recording {
    masu__arena arena;
    masu__recorded_event *events;
    size_t event_count, event_capacity;
    size_t standing_count; /* the first so many events are ALLOC and SEGMENT_ADD of what was live before, time 0 */
    /* The memory at the end as the source itself says: ALLOC and SEGMENT_ADD. Not part of events: for checking. */
    masu__recorded_event *at_end;
    unsigned at_end_count, at_end_capacity;
    masu__recorded_string *strings;
    masu__recorded_place *places;
    masu__recorded_pool *pools;
    masu__recorded_device *devices;
    masu__recorded_stream *streams;
    masu__recorded_thread *threads;
    masu__recorded_setting *settings;
    unsigned string_count, string_capacity, place_count, place_capacity, pool_count, pool_capacity;
    unsigned device_count, device_capacity, stream_count, stream_capacity;
    unsigned thread_count, thread_capacity, setting_count, setting_capacity;
    uint64_t began_at_ns;      /* since 1970; 0: unknown */
    uint64_t lost_events;      /* the writer dropped so many for want of room; their places are not known */
    bool is_cut;               /* the file ends in the middle, or is damaged there: see cut_reason */
    const char *cut_reason;    /* static text, NULL: it is whole */
    uint64_t cut_at;           /* the byte of the file */
    bool has_times;            /* false: times are the numbers of events */
    const char *source_format; /* static text: "masu trace 1", "PyTorch snapshot" */
    struct masu__recording_index *index;
} masu__recording;

/* ---- lives ------------------------------------------------------------------------------------------------------ */

/* Which events belong to one block. A block is found by its pool and its address: those of all its events agree.
 *
 *     of[i]   ALLOC: the event that ended it (FREE, RESET), or NONE: live at the end
 *             FREE, FREE_ASKED, RESIZE, MOVE: its ALLOC, or NONE: no such block is known (stray)
 *             anything else: NONE */
#define MASU__LIVES_NONE UINT32_MAX
typedef struct masu__lives {
    uint32_t *of; /* event_count entries */
    size_t count;
    size_t live_at_end; /* blocks */
    size_t strays;      /* events on a block that is not there */
    size_t doubled;     /* an ALLOC where a block lay: the older one is taken to end there */
} masu__lives;

/* ---- building -------------------------------------------------------------------------------------------------- */

/* An empty recording with entry 0 in every table. MASU_ERR_OUT_OF_MEMORY: *out is empty and needs no destroy. */
masu_status masu__recording_init(masu__recording *out, const char *source_format);
void masu__recording_destroy(masu__recording *recording);

/* Each finds an equal entry or adds one, and says its index. O(1) expected. MASU_ERR_OUT_OF_MEMORY,
 * MASU_ERR_LIMIT_REACHED; MASU_ERR_INVALID_ARGUMENT when an index in what is given lies outside its table. On an error
 * nothing has changed. */
masu_status masu__recording_string(masu__recording *recording, const char *text, size_t length, uint32_t *index);
masu_status masu__recording_place(masu__recording *recording, masu__recorded_place place, uint32_t *index);
/* An entry is the same when its number is; what else is known of it is taken from the first. */
masu_status masu__recording_device(masu__recording *recording, masu__recorded_device device, uint16_t *index);
masu_status masu__recording_stream(masu__recording *recording, masu__recorded_stream stream, uint16_t *index);
masu_status masu__recording_pool(masu__recording *recording, masu__recorded_pool pool, uint32_t *index);
masu_status masu__recording_thread(masu__recording *recording, masu__recorded_thread thread, uint32_t *index);
masu_status masu__recording_setting(masu__recording *recording, const char *name, const char *value);

/* Appends. A standing event goes behind the other standing ones and before the first that happened. A time that would
 * fall is raised to that of the event before. MASU_ERR_INVALID_ARGUMENT: an index outside its table, a kind that does
 * not exist, given_bytes < bytes in ALLOC, RESIZE or MOVE, an address range that wraps. */
masu_status masu__recording_event(masu__recording *recording, const masu__recorded_event *event);
/* O(events that happened): call it before those. ALLOC, SEGMENT_ADD or MAP. */
masu_status masu__recording_standing(masu__recording *recording, const masu__recorded_event *event);
masu_status masu__recording_at_end(masu__recording *recording, const masu__recorded_event *event);

/* ---- readers ---------------------------------------------------------------------------------------------------- */

/* A fault of a file, and its byte. */
typedef struct masu__recording_fault {
    uint64_t offset;
    const char *text; /* static */
} masu__recording_fault;

/* Reads a file of masu (docs/trace-format.md). One that ends in the middle is read up to there: is_cut.
 * MASU_ERR_SYNTAX: not a trace, or of a version that is not known; *fault says more. MASU_ERR_OUT_OF_MEMORY,
 * MASU_ERR_LIMIT_REACHED. On an error *out is empty. Memory: at most 30 times the file. O(bytes). */
masu_status masu__trace_read(const void *bytes, size_t length, masu__recording *out, masu__recording_fault *fault);
bool masu__trace_is(const void *bytes, size_t length); /* by its first bytes */

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* Whether what the top of this file says holds. O(everything). */
bool masu__recording_valid(const masu__recording *recording);

/* Never NULL; "" for 0. */
const char *masu__recording_text(const masu__recording *recording, uint32_t string);

/* O(events) expected. MASU_ERR_OUT_OF_MEMORY: *out is empty. The caller destroys it. */
masu_status masu__lives_find(const masu__recording *recording, masu__lives *out);
void masu__lives_destroy(masu__lives *lives);

/* "alloc", "segment-add", …: static text. */
const char *masu__recorded_kind_name(unsigned kind);
const char *masu__recorded_mark_name(unsigned mark);

/* ---- snapshots of PyTorch (snapshot.c, standing.c) -------------------------------------------------------------- */

/* Reads the pickle that torch.cuda.memory._dump_snapshot writes; nothing in it is run. Pools are numbered private pool
 * * 2 + small; given_bytes of an ALLOC is what the block really spent as far as the model of the allocator follows,
 * else its rounded size. A place without a line has no file: it is compiled code. *why says what is wrong and where:
 * MASU_ERR_INVALID_ARGUMENT; MASU_ERR_OUT_OF_MEMORY, MASU_ERR_LIMIT_REACHED. *out needs no destroy then. */
masu_status masu__snapshot_read(const void *bytes, size_t length, masu__recording *out, masu__buffer *why);
/* Whether bytes begin as such a file does. */
bool masu__pickle_begins(const void *bytes, size_t length);

/* ---- tables of requests (request_table.c) ------------------------------------------------------------------------ */

/* "event,id,bytes" and rows. Statuses as above; *why names the line. */
masu_status masu__request_table_read(const void *bytes, size_t length, masu__recording *out, masu__buffer *why);
bool masu__request_table_begins(const void *bytes, size_t length);

#include "recording/torch_follow.h"

#endif
