/* devices.h: the one border between pools and memory. The layer above includes this and nothing
 * else of devices/.
 *
 * A device is a table of functions and a few facts. This layer rounds sizes, counts, and checks
 * what a device hands out; the table's functions do the one thing that differs. To add a device:
 * fill the table and the facts.
 *
 *     live_bytes = allocated_bytes - freed_bytes;  peak_bytes >= live_bytes
 *     all are multiples of the granularity
 *
 * Thread safety: every masu__device_ call, any thread; the tables' functions must be so as well.
 */
#ifndef MASU_DEVICES_H
#define MASU_DEVICES_H

#include <masu/device.h>

#include "base/lock.h"

typedef struct masu__device_ops {
    /* bytes > 0 is a multiple of the granularity. On success *out is a multiple of the device's
     * alignment. */
    masu_status (*alloc)(masu_device *device, size_t bytes, void **out);
    /* ptr and bytes as alloc gave and got them. Refusing changes nothing. */
    masu_status (*free)(masu_device *device, void *ptr, size_t bytes);
    /* Releases the record itself. */
    void (*destroy)(masu_device *device);
    /* The bytes within a block are not wanted any more: their memory goes back as far as the device can do that, the
     * addresses stay. ptr and bytes are multiples of the granularity. NULL: cannot. */
    void (*purge)(masu_device *device, void *ptr, size_t bytes);
    /* As carry of masu_device_table; bytes and new_bytes are multiples of the granularity. NULL: cannot. */
    masu_status (*carry)(masu_device *device, const masu_device_carrying *what, void **out);
} masu__device_ops;

typedef masu_device_piece masu__piece;

/* Virtual memory. Addresses and bytes are multiples of vm_granularity_bytes. Every function
 * changes nothing when it does not return MASU_OK; with MASU_ERR_CORRUPT, which map and remap may
 * return, all pieces are where they were, but the place they were to go to must not be used again.
 *
 *     reserve ─► addresses without memory          create ─► a piece without an address
 *                         └────────── map, access ──────────┘
 *                                      unmap, remap
 *
 * A piece is mapped at one place at a time, always whole. */
typedef struct masu__device_vm_ops {
    masu_status (*reserve)(masu_device *device, size_t bytes, void **out);
    masu_status (*unreserve)(masu_device *device, void *address, size_t bytes);
    masu_status (*create)(masu_device *device, size_t bytes, uint64_t *out);
    masu_status (*release)(masu_device *device, masu__piece piece); /* not mapped */
    masu_status (*map)(masu_device *device, void *address, masu__piece piece);
    /* Lets the pages mapped there be read and written. */
    masu_status (*access)(masu_device *device, void *address, size_t bytes);
    /* pieces: all that lie from address on, one behind the other. */
    masu_status (*unmap)(masu_device *device, void *address, const masu__piece *pieces, size_t count);
    /* As unmap, of pieces whose contents are not wanted any more. NULL: as unmap. */
    masu_status (*discard)(masu_device *device, void *address, const masu__piece *pieces, size_t count);
    /* The pieces at `from` lie at `to` afterwards, with their contents and accessible. */
    masu_status (*remap)(masu_device *device, void *from, void *to, const masu__piece *pieces, size_t count);
    /* Cuts a piece in two, wherever it lies: it keeps first_bytes, *rest is what follows. With
     * MASU_DEVICE_DIVISIBLE only. join undoes it, as long as neither half has moved since: else it
     * says false, and the two stay two. */
    masu_status (*split)(masu_device *device, masu__piece piece, size_t first_bytes, uint64_t *rest);
    bool (*join)(masu_device *device, masu__piece first, masu__piece rest);
    /* Plain copy; the ranges do not overlap. Finished on return. */
    masu_status (*copy)(masu_device *device, void *to, const void *from, size_t bytes);
    /* All work given to the device so far is finished on return. NULL: there never is any. */
    masu_status (*wait)(masu_device *device);
} masu__device_vm_ops;

/* Streams: queues of work that goes on behind the processor's back. An event marks a point in one.
 * stream: the device's own handle, NULL for its default stream. */
typedef struct masu__device_stream_ops {
    /* Marks the present end of the stream. *event NULL on entry: a new one; else used again. */
    masu_status (*record)(masu_device *device, void *stream, void **event);
    /* Whether the stream has come to the mark. */
    masu_status (*is_done)(masu_device *device, void *event, bool *done);
    masu_status (*wait)(masu_device *device, void *event);
    void (*drop)(masu_device *device, void *event);
    /* A number that tells streams apart, also those whose handle is used again. */
    uint64_t (*id)(masu_device *device, void *stream);
} masu__device_stream_ops;

/* The head of every device's own record. */
struct masu_device {
    const masu__device_ops *ops;
    const masu__device_vm_ops *vm;          /* NULL: no virtual memory; set after masu__device_init */
    const masu__device_stream_ops *streams; /* NULL: no streams; set after masu__device_init */
    bool carries;                           /* blocks can be carried; set after masu__device_init */
    masu_device_info info;
    masu__lock lock; /* guards stats */
    masu_device_stats stats;
};

/* Fills the head of a fresh record. */
void masu__device_init(masu_device *device, const masu__device_ops *ops, masu_device_info info);

/* Copies a configuration that carries its size into one of the size known here: what the caller does not know is
 * zero. MASU_ERR_INVALID_ARGUMENT: it ends before `least`; MASU_ERR_UNSUPPORTED: it has more, and that is set. */
masu_status masu__struct_read(void *to, size_t known_bytes, size_t least, const void *from);

/* Rounds bytes up to the granularity and takes so much: *out_bytes says how much it became and
 * must be given back. MASU_ERR_OVERFLOW, MASU_ERR_OUT_OF_MEMORY, MASU_ERR_DEVICE_FAILURE; *out
 * and *out_bytes are then untouched. */
masu_status masu__device_alloc(masu_device *device, size_t bytes, void **out, size_t *out_bytes);

/* bytes: as *out_bytes said. MASU_ERR_DEVICE_FAILURE: the memory is still the caller's. */
masu_status masu__device_free(masu_device *device, void *ptr, size_t bytes);

/* The contents of all whole granules within the range are lost, and what they lay in goes back where the device can do
 * that. Not counted. Never fails. */
void masu__device_purge(masu_device *device, void *ptr, size_t bytes);

/* A device that carries. what: of whole granules, but for new_bytes, which is rounded up; *out_bytes says how much it
 * became. Counted as an allocation, and where a whole block is carried as a free too. Statuses of alloc; nothing has
 * changed then. */
masu_status masu__device_carry(masu_device *device, const masu_device_carrying *what, void **out, size_t *out_bytes);

/* ---- virtual memory: as the table says, counted ---------------------------------------------------- */

masu_status masu__device_reserve(masu_device *device, size_t bytes, void **out);
masu_status masu__device_unreserve(masu_device *device, void *address, size_t bytes);
/* MASU_ERR_OUT_OF_MEMORY: no physical memory; MASU_ERR_LIMIT_REACHED: too many mappings. */
masu_status masu__device_create(masu_device *device, size_t bytes, masu__piece *out);
masu_status masu__device_release(masu_device *device, masu__piece piece);
masu_status masu__device_map(masu_device *device, void *address, masu__piece piece);
masu_status masu__device_access(masu_device *device, void *address, size_t bytes);
masu_status masu__device_unmap(masu_device *device, void *address, const masu__piece *pieces, size_t count);
/* Unmaps and may lose the contents; a host never refuses it. */
masu_status masu__device_discard(masu_device *device, void *address, const masu__piece *pieces, size_t count);
masu_status masu__device_remap(masu_device *device, void *from, void *to, const masu__piece *pieces, size_t count);
masu_status masu__device_split(masu_device *device, masu__piece *piece, size_t first_bytes, masu__piece *rest);
bool masu__device_join(masu_device *device, masu__piece *first, masu__piece rest);
masu_status masu__device_copy(masu_device *device, void *to, const void *from, size_t bytes);
masu_status masu__device_wait(masu_device *device);

#endif
