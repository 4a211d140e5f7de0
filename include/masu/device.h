/* device.h: where memory comes from before any pool has touched it.
 *
 * A device hands out whole granules. Pools stand in front of it, so that a device call is rare.
 * What a device can do is said by its capability flags, never by its name:
 *
 *     host    pages of this process (mmap, munmap)
 *     null    sizes only: addresses that nobody may touch, for plans and gigantic tests
 *     cuda    the memory of a CUDA device, through the driver's library
 *     faulty  any other device with chosen calls failing, for tests
 *
 * A device with virtual memory (vm_granularity_bytes > 0) also keeps addresses and memory apart:
 * a range of addresses is reserved, physical memory is created in pieces, and pieces are mapped
 * into the range, unmapped, and mapped elsewhere with their contents. masu/vm.h is the pool that
 * uses this.
 *
 * Ownership: whoever creates a device destroys it, after every pool on top of it is gone. A pool
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
    size_t vm_large_bytes; /* large blocks move faster between multiples of it; 0: no matter */
    uint64_t memory_bytes; /* physical memory of the device; 0: not known */
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
 * of virtual memory alike; with repeat every later one fails too. nth 0 switches failing off. MASU_ERR_INVALID_ARGUMENT unless
 * the device is faulty. */
MASU_API masu_status masu_device_fail_at(masu_device *device, uint64_t nth, bool repeat);

/* How calls shall fail: MASU_ERR_DEVICE_FAILURE unless said otherwise. MASU_ERR_INVALID_ARGUMENT
 * unless the device is faulty and status is an error. */
MASU_API masu_status masu_device_fail_as(masu_device *device, masu_status status);

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
