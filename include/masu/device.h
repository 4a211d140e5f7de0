/* device.h: where memory comes from before any pool has touched it.
 *
 * A device hands out whole granules. Pools are in front of it, so that a device call is rare.
 * What a device can do is said by its capability flags, never by its name:
 *
 *     host    pages of this process (mmap, munmap)
 *     null    sizes only: addresses that may not be touched, for plans and gigantic tests
 *     cuda    the memory of a CUDA device, through the driver's library
 *     faulty  any other device with chosen calls failing, for tests
 *     range   a range of memory that the caller has already
 *     custom  a table of functions of your own
 *
 * A device with virtual memory (vm_granularity_bytes > 0) also keeps addresses and memory apart:
 * a range of addresses is reserved, physical memory is created in pieces, and pieces are mapped
 * into the range, unmapped, and mapped elsewhere with their contents. masu/vm.h is the pool that
 * uses this.
 *
 * Ownership: the creator of a device destroys it, after every pool on top of it is gone. A pool
 * borrows its device. Thread safety: alloc, free and the statistics of the devices above
 * may be called from any thread; create and destroy may not overlap other calls on the same
 * device.
 */
#ifndef MASU_DEVICE_H
#define MASU_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/export.h>
#include <masu/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct masu_device masu_device;

enum {
    MASU_DEVICE_HOST_ACCESS = 1u << 0, /* the processor may read and write the memory */
    MASU_DEVICE_ZEROED = 1u << 1,      /* fresh memory reads as zero */
    MASU_DEVICE_LAZY = 1u << 2,        /* memory never touched costs address space only */
    MASU_DEVICE_DIVISIBLE = 1u << 3,   /* a piece of physical memory can be cut in two */
    MASU_DEVICE_STREAMS = 1u << 4      /* work goes on behind the processor's back, in streams */
};

typedef struct masu_device_info {
    const char *name;         /* "host", "null", "faulty"; static text */
    uint32_t flags;           /* MASU_DEVICE_* */
    size_t alignment_bytes;   /* of every address handed out, a power of two */
    size_t granularity_bytes; /* sizes are rounded up to a multiple of it, a power of two */
    /* virtual memory: */
    size_t vm_granularity_bytes; /* of pieces and their addresses, a power of two; 0: none */
    size_t vm_large_bytes;       /* large blocks move faster between multiples of it; 0: no matter */
    uint64_t memory_bytes;       /* physical memory of the device; 0: not known */
} masu_device_info;

/* alloc_calls counts the successful ones; live_bytes = allocated_bytes - freed_bytes; all in
 * rounded bytes */
typedef struct masu_device_stats {
    uint64_t alloc_calls;
    uint64_t free_calls;
    uint64_t failed_calls; /* refused allocations and frees */
    uint64_t allocated_bytes;
    uint64_t freed_bytes;
    uint64_t live_bytes;
    uint64_t peak_bytes; /* of live_bytes */
    /* virtual memory; created - released = pieces held now */
    uint64_t reserve_calls, unreserve_calls;
    uint64_t created_pieces, released_pieces;
    uint64_t map_calls, unmap_calls, access_calls, remap_calls;
    uint64_t reserved_bytes; /* of addresses, now */
    uint64_t physical_bytes; /* in pieces, now */
    uint64_t peak_physical_bytes;
} masu_device_stats;

/* Pages of this process. One small metadata allocation. Fails with MASU_ERR_OUT_OF_MEMORY. */
MASU_API masu_status masu_device_create_host(masu_device **out);

/* Sizes only. Refuses with MASU_ERR_OUT_OF_MEMORY what exceeds capacity_bytes in all (0: no
 * limit). Addresses start at 2^40, follow each other without gaps, are never handed out twice,
 * and must never be read or written. */
MASU_API masu_status masu_device_create_null(uint64_t capacity_bytes, masu_device **out);

typedef struct masu_cuda_config {
    int ordinal;         /* which device: 0, 1, … */
    const char *library; /* the driver's, borrowed during the call; NULL: libcuda.so.1 */
} masu_cuda_config;

/* The memory of a CUDA device; the driver's library is opened here, and nothing of CUDA is needed
 * before. MASU_ERR_UNSUPPORTED: there is no driver, or no device at all;
 * MASU_ERR_INVALID_ARGUMENT: no such device; MASU_ERR_OUT_OF_MEMORY, MASU_ERR_DEVICE_FAILURE. */
MASU_API masu_status masu_device_create_cuda(const masu_cuda_config *config, masu_device **out);

/* Wraps inner (borrowed, outlives the wrapper) and fails on demand, see masu_device_fail_at. */
MASU_API masu_status masu_device_create_faulty(masu_device *inner, masu_device **out);

/* The device's nth call from now (1 = the next) fails, counting allocations, frees and the calls
 * of virtual memory alike; with repeat every later one fails too. nth 0 switches failing off. MASU_ERR_INVALID_ARGUMENT
 * unless the device is faulty. */
MASU_API masu_status masu_device_fail_at(masu_device *device, uint64_t nth, bool repeat);

/* How calls shall fail: MASU_ERR_DEVICE_FAILURE unless said otherwise. MASU_ERR_INVALID_ARGUMENT
 * unless the device is faulty and status is an error. */
MASU_API masu_status masu_device_fail_as(masu_device *device, masu_status status);

/* ---- memory that is there ---------------------------------------------------------------------------- */

typedef struct masu_range_config {
    size_t struct_bytes; /* sizeof(masu_range_config): set it, so that fields can be added */
    void *base;          /* borrowed, outlives the device; never NULL */
    size_t bytes;
    uint32_t flags;           /* HOST_ACCESS and LAZY where they hold; ZEROED does not, for memory is used again */
    size_t granularity_bytes; /* a power of two from 64 on; 0: 4096 */
} masu_range_config;

/* Blocks of the given range, whole granules, first fit; the range itself is neither read nor written, so that it may
 * be memory that the processor cannot see. What is not aligned at its ends is left out. alloc and free: O(blocks
 * out). MASU_ERR_INVALID_ARGUMENT (also when not one granule fits), MASU_ERR_UNSUPPORTED (struct_bytes of a later
 * version with a field set that is not known here), MASU_ERR_OUT_OF_MEMORY. */
MASU_API masu_status masu_device_create_range(const masu_range_config *config, masu_device **out);

/* ---- a device of your own ------------------------------------------------------------------------------ */

/* Physical memory as a device hands it out: one handle, so many bytes. */
typedef struct masu_device_piece {
    uint64_t handle;
    size_t bytes;
} masu_device_piece;

/* A block that shall be carried to a new one. */
typedef struct masu_device_carrying {
    void *from;
    size_t bytes; /* of them so many; whole granules */
    /* they are a block as alloc or carry gave it, which ends with this; else a part of one, which does not */
    bool whole;
    size_t new_bytes; /* of the new block, whole granules, more than bytes */
} masu_device_carrying;

/* A device as a table of functions. Every function gets the context, may be called from any thread, at the same time as
 * any other, must not call masu, and returns MASU_OK or says why not; then nothing has changed. MASU_ERR_OUT_OF_MEMORY:
 * there is no more (pools give back what is idle and ask again); MASU_ERR_LIMIT_REACHED: something else than memory is
 * at its end; MASU_ERR_ADDRESS_SPACE: of reserve; MASU_ERR_DEVICE_FAILURE: all else. Other statuses are taken as that
 * one. */
typedef struct masu_device_table {
    size_t struct_bytes;      /* sizeof(masu_device_table): set it, so that fields can be added */
    const char *name;         /* static text */
    uint32_t flags;           /* MASU_DEVICE_*, but for STREAMS: pools then wait for the device before they reuse */
    size_t alignment_bytes;   /* of every address from alloc, a power of two from 64 on */
    size_t granularity_bytes; /* of every size it is asked for, a power of two from 64 on */
    uint64_t memory_bytes;    /* in all; 0: not known. Default pools take it as a hint */

    /* bytes is a multiple of the granularity and not 0. *out: so many bytes of the caller alone, until free. */
    masu_status (*alloc)(void *context, size_t bytes, void **out);
    /* ptr and bytes as alloc gave and got them. */
    masu_status (*free)(void *context, void *ptr, size_t bytes);
    /* The last call. NULL: nothing to do. */
    void (*destroy)(void *context);

    /* Virtual memory: all up to copy, or none of it. Addresses and bytes are multiples of vm_granularity_bytes.
     *
     *     reserve ─► addresses without memory          create ─► a piece without an address
     *                         └────────── map, access ──────────┘
     *                                      unmap, remap
     *
     * A piece lies at one place at a time, always whole, and keeps its contents wherever it goes. Where map or remap
     * cannot leave the place they were to fill as it was, they say MASU_ERR_CORRUPT: the pieces are where they were,
     * that place is never used again. */
    size_t vm_granularity_bytes; /* a power of two from 4096 on; 0: no virtual memory */
    size_t vm_large_bytes;       /* large blocks move faster between multiples of it; 0: no matter */
    masu_status (*reserve)(void *context, size_t bytes, void **out);
    masu_status (*unreserve)(void *context, void *address, size_t bytes); /* nothing is mapped there */
    masu_status (*create)(void *context, size_t bytes, uint64_t *handle);
    masu_status (*release)(void *context, masu_device_piece piece); /* not mapped */
    masu_status (*map)(void *context, void *address, masu_device_piece piece);
    /* Lets the pages mapped there be read and written. */
    masu_status (*access)(void *context, void *address, size_t bytes);
    /* pieces: all that lie from address on, one behind the other. */
    masu_status (*unmap)(void *context, void *address, const masu_device_piece *pieces, size_t count);
    /* The pieces at `from` lie at `to` afterwards, accessible; the places do not overlap, `to` is empty. */
    masu_status (*remap)(void *context, void *from, void *to, const masu_device_piece *pieces, size_t count);
    /* Plain copy, finished on return; the ranges do not overlap. */
    masu_status (*copy)(void *context, void *to, const void *from, size_t bytes);

    /* Optional. */
    /* As unmap, of pieces whose contents are not wanted any more. NULL: as unmap. */
    masu_status (*discard)(void *context, void *address, const masu_device_piece *pieces, size_t count);
    /* All work given to the device so far is finished on return. NULL: there never is any. */
    masu_status (*wait)(void *context);
    /* Both with MASU_DEVICE_DIVISIBLE, and only then. Cuts a piece in two, wherever it lies: it keeps first_bytes,
     * *rest is what follows. join undoes it and ends rest, as long as neither half has moved since; else it says false,
     * and the two stay two. */
    masu_status (*split)(void *context, masu_device_piece piece, size_t first_bytes, uint64_t *rest);
    bool (*join)(void *context, masu_device_piece first, masu_device_piece rest);
    /* Whole granules inside a block, which the pool has no use for at present: their contents may go, and their memory
     * with them, until somebody writes there again. NULL: they stay. */
    void (*purge)(void *context, void *ptr, size_t bytes);
    /* The contents lie at the beginning of a new block, *out, without being copied: their memory goes there, or the
     * block grows where it is. What is only a part of a block stays the pool's, and holds anything. NULL: cannot; pools
     * copy then, as they do when it is refused. */
    masu_status (*carry)(void *context, const masu_device_carrying *what, void **out);
} masu_device_table;

/* A device that does what the table says. The table is copied; the context is the device's until destroy, and the
 * caller's when creation fails. An address that is NULL, not aligned, or runs over the end of all addresses is handed
 * back and counts as MASU_ERR_DEVICE_FAILURE. MASU_ERR_INVALID_ARGUMENT: a function or fact is missing or does not fit
 * the others; MASU_ERR_UNSUPPORTED: struct_bytes of a later version with a field set that is not known here;
 * MASU_ERR_OUT_OF_MEMORY. */
MASU_API masu_status masu_device_create_custom(const masu_device_table *table, void *context, masu_device **out);

typedef struct masu_conform_report {
    size_t struct_bytes; /* sizeof(masu_conform_report): set it, so that fields can be added */
    const char *what; /* the clause that does not hold, or the call that was refused; static text, "" when all holds */
    masu_status status; /* what the device said there */
    uint64_t checks;    /* clauses that held */
} masu_conform_report;

/* Tries whether a device keeps the contract above: facts, blocks of many sizes and orders, their contents where the
 * processor sees them, four threads at once, a request that cannot be fulfilled, and with virtual memory every function
 * in every state. Uses about 64 granules and 24 granules of virtual memory, and gives all of it back, also
 * when it fails. MASU_OK: it does. MASU_ERR_CORRUPT: it does not, report->what says where. Any other: the device
 * refused what was asked. The device must have nothing else to do meanwhile. report may be NULL.
 * MASU_ERR_INVALID_ARGUMENT: device is NULL or struct_bytes too small. */
MASU_API masu_status masu_device_conform(masu_device *device, masu_conform_report *report);

/* Destroys the device in any case; NULL is allowed. MASU_OK, or MASU_ERR_LEAK when memory was
 * still out: that memory stays what it is, for the device kept no list of it. */
MASU_API masu_status masu_device_destroy(masu_device *device);

/* Never fails. Any thread. */
MASU_API void masu_device_get_info(const masu_device *device, masu_device_info *out);
MASU_API void masu_device_get_stats(const masu_device *device, masu_device_stats *out);

#ifdef __cplusplus
}
#endif

#endif
