/* device_vm.c: what all devices with virtual memory share: counting, and distrust of arguments. */
#include "devices/devices.h"

#include "base/assert.h"
#include "base/size.h"

static bool whole_granules(const masu_device *device, uintptr_t value) {
    return masu__is_aligned(value, device->info.vm_granularity_bytes);
}

/* Counts the call at *counter, or as failed, and hands the status on. */
static masu_status count_call(masu_device *device, masu_status status, uint64_t *counter) {
    masu__lock_take(&device->lock);
    *(status == MASU_OK ? counter : &device->stats.failed_calls) += 1;
    masu__lock_release(&device->lock);
    return status;
}

masu_status masu__device_reserve(masu_device *device, size_t bytes, void **out) {
    MASU_DEBUG_ASSERT(bytes > 0 && whole_granules(device, bytes));
    void *address = NULL;
    masu_status status = device->vm->reserve(device, bytes, &address);
    if (status == MASU_OK) {
        MASU_ASSERT(address != NULL && whole_granules(device, (uintptr_t)address));
        *out = address;
        masu__lock_take(&device->lock);
        device->stats.reserved_bytes += bytes;
        masu__lock_release(&device->lock);
    }
    return count_call(device, status, &device->stats.reserve_calls);
}

masu_status masu__device_unreserve(masu_device *device, void *address, size_t bytes) {
    masu_status status = device->vm->unreserve(device, address, bytes);
    if (status == MASU_OK) {
        masu__lock_take(&device->lock);
        device->stats.reserved_bytes -= bytes;
        masu__lock_release(&device->lock);
    }
    return count_call(device, status, &device->stats.unreserve_calls);
}

masu_status masu__device_create(masu_device *device, size_t bytes, masu__piece *out) {
    MASU_DEBUG_ASSERT(bytes > 0 && whole_granules(device, bytes));
    masu_device_stats *stats = &device->stats;
    uint64_t handle = 0;
    masu_status status = device->vm->create(device, bytes, &handle);
    if (status == MASU_OK) {
        *out = (masu__piece){handle, bytes};
        masu__lock_take(&device->lock);
        stats->physical_bytes += bytes;
        if (stats->physical_bytes > stats->peak_physical_bytes)
            stats->peak_physical_bytes = stats->physical_bytes;
        masu__lock_release(&device->lock);
    }
    return count_call(device, status, &stats->created_pieces);
}

masu_status masu__device_release(masu_device *device, masu__piece piece) {
    masu_status status = device->vm->release(device, piece);
    if (status == MASU_OK) {
        masu__lock_take(&device->lock);
        MASU_ASSERT(device->stats.physical_bytes >= piece.bytes);
        device->stats.physical_bytes -= piece.bytes;
        masu__lock_release(&device->lock);
    }
    return count_call(device, status, &device->stats.released_pieces);
}

masu_status masu__device_map(masu_device *device, void *address, masu__piece piece) {
    MASU_DEBUG_ASSERT(whole_granules(device, (uintptr_t)address));
    return count_call(device, device->vm->map(device, address, piece), &device->stats.map_calls);
}

masu_status masu__device_access(masu_device *device, void *address, size_t bytes) {
    return count_call(device, device->vm->access(device, address, bytes), &device->stats.access_calls);
}

masu_status masu__device_unmap(masu_device *device, void *address, const masu__piece *pieces, size_t count) {
    MASU_DEBUG_ASSERT(count > 0);
    return count_call(device, device->vm->unmap(device, address, pieces, count), &device->stats.unmap_calls);
}

masu_status masu__device_discard(masu_device *device, void *address, const masu__piece *pieces, size_t count) {
    MASU_DEBUG_ASSERT(count > 0);
    const masu__device_vm_ops *vm = device->vm;
    return count_call(device, (vm->discard ? vm->discard : vm->unmap)(device, address, pieces, count),
                      &device->stats.unmap_calls);
}

masu_status masu__device_remap(masu_device *device, void *from, void *to, const masu__piece *pieces, size_t count) {
    MASU_DEBUG_ASSERT(count > 0 && from != to);
    return count_call(device, device->vm->remap(device, from, to, pieces, count), &device->stats.remap_calls);
}

masu_status masu__device_split(masu_device *device, masu__piece *piece, size_t first_bytes, masu__piece *rest) {
    MASU_DEBUG_ASSERT(first_bytes > 0 && first_bytes < piece->bytes);
    if (!(device->info.flags & MASU_DEVICE_DIVISIBLE))
        return MASU_ERR_UNSUPPORTED;
    uint64_t handle;
    masu_status status = device->vm->split(device, *piece, first_bytes, &handle);
    if (status == MASU_OK) {
        *rest = (masu__piece){handle, piece->bytes - first_bytes};
        piece->bytes = first_bytes;
    }
    return count_call(device, status, &device->stats.created_pieces);
}

bool masu__device_join(masu_device *device, masu__piece *first, masu__piece rest) {
    if (!device->vm->join(device, *first, rest))
        return false;
    first->bytes += rest.bytes;
    count_call(device, MASU_OK, &device->stats.released_pieces);
    return true;
}

masu_status masu__device_copy(masu_device *device, void *to, const void *from, size_t bytes) {
    return device->vm->copy(device, to, from, bytes);
}

masu_status masu__device_wait(masu_device *device) {
    return device->vm->wait ? device->vm->wait(device) : MASU_OK;
}
