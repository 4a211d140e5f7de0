/* device.c: what all devices share: rounding, counting, and distrust of what a device hands out. */
#include "devices/devices.h"

#include <string.h>

#include "base/assert.h"
#include "base/size.h"

void masu__device_init(masu_device *device, const masu__device_ops *ops, masu_device_info info) {
    MASU_ASSERT(masu__is_power_of_two(info.alignment_bytes) && masu__is_power_of_two(info.granularity_bytes));
    device->ops = ops;
    device->vm = NULL;
    device->streams = NULL;
    device->carries = false;
    device->info = info;
    device->stats = (masu_device_stats){0};
    masu__lock_init(&device->lock, MASU__RANK_DEVICE);
}

masu_status masu__struct_read(void *to, size_t known_bytes, size_t least, const void *from) {
    size_t bytes; /* the first member of each of them */
    memcpy(&bytes, from, sizeof bytes);
    if (bytes < least)
        return MASU_ERR_INVALID_ARGUMENT;
    for (size_t i = known_bytes; i < bytes; i++)
        if (((const unsigned char *)from)[i] != 0)
            return MASU_ERR_UNSUPPORTED;
    memset(to, 0, known_bytes);
    memcpy(to, from, bytes < known_bytes ? bytes : known_bytes);
    return MASU_OK;
}

static void count_alloc(masu_device *device, size_t bytes) {
    masu_device_stats *stats = &device->stats;
    masu__lock_take(&device->lock);
    stats->alloc_calls++;
    stats->allocated_bytes += bytes;
    stats->live_bytes += bytes;
    if (stats->live_bytes > stats->peak_bytes)
        stats->peak_bytes = stats->live_bytes;
    masu__lock_release(&device->lock);
}

static void count_free(masu_device *device, size_t bytes) {
    masu_device_stats *stats = &device->stats;
    masu__lock_take(&device->lock);
    MASU_ASSERT(stats->live_bytes >= bytes);
    stats->free_calls++;
    stats->freed_bytes += bytes;
    stats->live_bytes -= bytes;
    masu__lock_release(&device->lock);
}

static masu_status count_failure(masu_device *device, masu_status status) {
    masu__lock_take(&device->lock);
    device->stats.failed_calls++;
    masu__lock_release(&device->lock);
    return status;
}

masu_status masu__device_alloc(masu_device *device, size_t bytes, void **out, size_t *out_bytes) {
    MASU_DEBUG_ASSERT(bytes > 0);
    size_t rounded;
    if (!masu__align_up(bytes, device->info.granularity_bytes, &rounded))
        return count_failure(device, MASU_ERR_OVERFLOW);
    void *ptr = NULL;
    masu_status status = device->ops->alloc(device, rounded, &ptr);
    if (status != MASU_OK)
        return count_failure(device, status);
    MASU_ASSERT(ptr != NULL && masu__is_aligned((uintptr_t)ptr, device->info.alignment_bytes));
    count_alloc(device, rounded);
    *out = ptr;
    *out_bytes = rounded;
    return MASU_OK;
}

masu_status masu__device_free(masu_device *device, void *ptr, size_t bytes) {
    MASU_DEBUG_ASSERT(ptr != NULL && masu__is_aligned(bytes, device->info.granularity_bytes));
    masu_status status = device->ops->free(device, ptr, bytes);
    if (status != MASU_OK)
        return count_failure(device, status);
    count_free(device, bytes);
    return MASU_OK;
}

void masu__device_purge(masu_device *device, void *ptr, size_t bytes) {
    size_t granule = device->info.granularity_bytes;
    uintptr_t first = masu__align_up_small((uintptr_t)ptr, granule);
    uintptr_t end = masu__align_down((uintptr_t)ptr + bytes, granule);
    if (device->ops->purge && first < end)
        device->ops->purge(device, (void *)first, end - first);
}

masu_status masu__device_carry(masu_device *device, const masu_device_carrying *what, void **out, size_t *out_bytes) {
    MASU_DEBUG_ASSERT(device->carries && masu__is_aligned(what->bytes, device->info.granularity_bytes));
    masu_device_carrying rounded = *what;
    if (!masu__align_up(what->new_bytes, device->info.granularity_bytes, &rounded.new_bytes))
        return count_failure(device, MASU_ERR_OVERFLOW);
    void *ptr = NULL;
    masu_status status = device->ops->carry(device, &rounded, &ptr);
    if (status != MASU_OK)
        return count_failure(device, status);
    MASU_ASSERT(ptr != NULL && masu__is_aligned((uintptr_t)ptr, device->info.alignment_bytes));
    if (what->whole)
        count_free(device, what->bytes);
    count_alloc(device, rounded.new_bytes);
    *out = ptr;
    *out_bytes = rounded.new_bytes;
    return MASU_OK;
}

masu_status masu_device_destroy(masu_device *device) {
    if (!device)
        return MASU_OK;
    const masu_device_stats *stats = &device->stats;
    bool nothing_out = stats->live_bytes == 0 && stats->reserved_bytes == 0 && stats->physical_bytes == 0;
    masu_status status = nothing_out ? MASU_OK : MASU_ERR_LEAK;
    masu__lock_destroy(&device->lock);
    device->ops->destroy(device);
    return status;
}

void masu_device_get_info(const masu_device *device, masu_device_info *out) {
    *out = device->info;
}

void masu_device_get_stats(const masu_device *device, masu_device_stats *out) {
    masu_device *d = (masu_device *)device; /* the lock is the only thing that changes */
    masu__lock_take(&d->lock);
    *out = d->stats;
    masu__lock_release(&d->lock);
}
