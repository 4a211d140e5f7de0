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
 * Thread safety: masu__device_alloc and masu__device_free, any thread; the table's functions must
 * be so as well.
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
} masu__device_ops;

/* The head of every device's own record. */
struct masu_device {
    const masu__device_ops *ops;
    masu_device_info info;
    masu__lock lock; /* guards stats */
    masu_device_stats stats;
};

/* Fills the head of a fresh record. */
void masu__device_init(masu_device *device, const masu__device_ops *ops, masu_device_info info);

/* Rounds bytes up to the granularity and takes so much: *out_bytes says how much it became and
 * must be given back. MASU_ERR_OVERFLOW, MASU_ERR_OUT_OF_MEMORY, MASU_ERR_DEVICE_FAILURE; *out
 * and *out_bytes are then untouched. */
masu_status masu__device_alloc(masu_device *device, size_t bytes, void **out, size_t *out_bytes);

/* bytes: as *out_bytes said. MASU_ERR_DEVICE_FAILURE: the memory is still the caller's. */
masu_status masu__device_free(masu_device *device, void *ptr, size_t bytes);

#endif
