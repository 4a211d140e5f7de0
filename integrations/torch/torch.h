/* torch.h: the parts of libmasu-torch.
 *
 *     masu_torch_malloc ─► device ─► pool (the common one, or a private one) ─► lane: small (up to 1 MiB) or large
 *                                                                                │
 *     heap    lane ─► streams ─► best fit ─► CUDA         small lanes take 2 MiB at a time, large ones 20 MiB and more
 *     vm      small ─► streams ─► best fit ─► device over ─► vm ─► CUDA
 *             large ─► streams ─────────────────────────────► vm
 *
 * What must stay true, of each device, under its lock:
 *   every block that a lane's streams gave and did not get back is in the table, as LIVE or OWED;
 *   one that they got back is there only while other streams may use it (WAITING), and the pool below has it as live;
 *   reserved_bytes = the extents of its lanes (heap), or the pieces of its vm: counted from their events alone.
 * Locks: devices in order of their numbers, then those of the library, then the history's; a thread holds one device or
 * all.
 */
#ifndef MASU_TORCH_PARTS_H
#define MASU_TORCH_PARTS_H

#define MASU_TORCH_API __attribute__((visibility("default")))
#include "masu_torch.h"

#include <pthread.h>
#include <stdio.h>

#include <masu/bestfit.h>
#include <masu/device.h>
#include <masu/stream.h>
#include <masu/trace.h>
#include <masu/vm.h>

enum { MOST_DEVICES = 32, BLOCK_ALIGNMENT = 512 };
#define SMALL_MOST ((size_t)1 << 20)
#define SMALL_POOL ((size_t)2 << 20)
#define LARGE_POOL ((size_t)20 << 20)

/* ---- settings.c ------------------------------------------------------------------------------------------------- */

typedef struct settings {
    bool vm, reports, checks;
    size_t history;
    const char *wrong; /* what MASU_TORCH says that is not known; NULL: nothing */
} settings;

const settings *masu_torch_settings(void);
/* One line to standard error, where MASU_TORCH_REPORT is set. */
void masu_torch_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- blocks.c ---------------------------------------------------------------------------------------------------- */

typedef enum block_state {
    BLOCK_LIVE,
    BLOCK_WAITING, /* freed; other streams may still use it */
    BLOCK_OWED     /* freed, but the driver refused the mark: tried again */
} block_state;

typedef struct block {
    uintptr_t address; /* 0: an empty place of the table */
    size_t bytes;      /* as requested */
    void *stream;      /* it was allocated for; OWED: it was freed on */
    struct lane *lane;
    uint8_t state;
    bool is_shared, is_crowded; /* other streams use it; more than the library keeps apart */
    bool is_kept;               /* of which one could not even be noted: it is never used again */
} block;

/* By address. Zero-initialise. */
typedef struct blocks {
    block *items;
    size_t count, capacity; /* a power of two */
} blocks;

bool masu_torch_blocks_room(blocks *table); /* for one more; false: no memory */
block *masu_torch_blocks_find(const blocks *table, const void *ptr);
block *masu_torch_blocks_put(blocks *table, block b); /* there is room */
void masu_torch_blocks_drop(blocks *table, block *b); /* other pointers into the table are stale then */

/* ---- devices.c --------------------------------------------------------------------------------------------------- */

typedef struct extent {
    uintptr_t address;
    size_t bytes;
} extent;

typedef struct lane {
    struct device_state *device;
    struct pool *pool;
    masu_bestfit *bestfit; /* NULL: straight over the vm */
    masu_streams *streams;
    bool is_small;
    extent *extents; /* of the best-fit pool, by address */
    size_t extent_count, extent_capacity, extent_bytes;
} lane;

typedef struct pool {
    struct pool *next;
    uint64_t first, second; /* 0 and 0: the common one */
    lane lanes[2];          /* small, large */
    size_t blocks;          /* LIVE and OWED */
    uint64_t opened;        /* when, 0: not open */
    masu_torch_filter filter;
    void *context;
    bool is_released;
} pool;

typedef struct device_state {
    pthread_mutex_t lock;
    int ordinal;
    masu_device *cuda, *over; /* NULL: not used yet */
    masu_vm *vm;
    pool *pools; /* the common one is the last */
    blocks blocks;
    void **crowd;                                      /* streams that use crowded blocks */
    size_t crowd_count, crowd_capacity, crowded, owed; /* crowded: blocks that are */
    uint64_t opened;                                   /* counts openings */
    uint64_t limit_bytes, memory_bytes;
    double fraction;
    masu_torch_stats stats;
} device_state;

/* With its lock taken; NULL: no such number. */
device_state *masu_torch_enter(int ordinal);
void masu_torch_leave(device_state *d);
/* Likewise, and its pools are there; NULL: *status says why not. */
device_state *masu_torch_enter_ready(int ordinal, masu_status *status);
bool masu_torch_is_forked(void);
/* The pool with these numbers, made when it is not there and make is set. */
pool *masu_torch_pool(device_state *d, uint64_t first, uint64_t second, bool make, masu_status *status);
/* The pool is wanted no more: it goes once no block of it is live and the driver has taken all back. */
void masu_torch_pool_end(device_state *d, pool *p);

/* ---- lanes.c ----------------------------------------------------------------------------------------------------- */

masu_status masu_torch_lane_open(lane *l, device_state *d, pool *p, bool is_small);
void masu_torch_lane_close(lane *l);
/* Gives back what is free; false: something is left. */
bool masu_torch_lane_empty(lane *l);
/* Within the limit; gives back what the device's lanes have free before the answer is no. */
masu_status masu_torch_lane_alloc(lane *l, size_t bytes, void *stream, void **out);
/* b, which is LIVE, is used by work on that stream too. */
void masu_torch_lane_share(device_state *d, block *b, void *stream);
/* b is LIVE or OWED. Not MASU_OK: it is OWED afterwards. */
masu_status masu_torch_lane_free(device_state *d, block *b, void *stream);
void masu_torch_free_owed(device_state *d);
/* Waits for freed blocks, and gives all free memory of the device back. */
void masu_torch_reclaim(device_state *d);
/* The lane that this thread calls into: whose events come. */
lane *masu_torch_work_on(lane *l);

/* ---- events.c ---------------------------------------------------------------------------------------------------- */

typedef enum entry_kind {
    ENTRY_ALLOC,
    ENTRY_FREE_REQUESTED,
    ENTRY_FREE_COMPLETED,
    ENTRY_SEGMENT_ALLOC,
    ENTRY_SEGMENT_FREE,
    ENTRY_OOM
} entry_kind;

typedef struct entry {
    uint64_t address; /* of a refusal: what the device had left */
    uint64_t bytes, stream, time_us, first, second;
    uint16_t device;
    uint8_t kind;
} entry;

/* The trace of all pools; made at the first call. NULL: there is no memory for it. */
masu_trace *masu_torch_trace(void);
/* Before a call that may add an extent: there is room for it. */
bool masu_torch_extent_room(lane *l);
void masu_torch_note(const lane *l, entry_kind kind, uint64_t address, uint64_t bytes, const void *stream);
/* A block that waited is free. */
void masu_torch_complete(device_state *d, block *b);
/* The kept events, oldest first; *count of them. Between hold and release nothing is added. */
void masu_torch_history_hold(void);
void masu_torch_history_release(void);
const entry *masu_torch_history(size_t index, size_t *count);

/* ---- refusal.c --------------------------------------------------------------------------------------------------- */

typedef struct refusal {
    size_t bytes;
    int device;
    void *stream;
    masu_status status;
} refusal;

/* Sets masu_torch_error. d NULL: the device has no pools. */
void masu_torch_refuse(device_state *d, const lane *l, refusal r);
void masu_torch_set_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- statistics.c ------------------------------------------------------------------------------------------------ */

/* Fills free_bytes and largest_free_bytes; lane NULL: of all. */
void masu_torch_holes(const device_state *d, const lane *only, uint64_t *free_bytes, uint64_t *largest);

#endif
