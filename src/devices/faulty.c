/* faulty.c: another device, with chosen calls failing. It fails before it asks the inner device,
 * so a refused call has no effect there. */
#include "devices/devices.h"

#include "base/meta.h"

/* remaining 0: never fails; 1: the next call fails; repeat: stays at 1 */
typedef struct faulty_device {
    masu_device head;
    masu_device *inner; /* borrowed */
    masu__lock lock;    /* guards all below */
    uint64_t remaining;
    bool repeat;
} faulty_device;

static bool faulty_fails_now(faulty_device *faulty) {
    masu__lock_take(&faulty->lock);
    bool fails = faulty->remaining == 1;
    if (faulty->remaining > 1 || (fails && !faulty->repeat))
        faulty->remaining--;
    masu__lock_release(&faulty->lock);
    return fails;
}

static masu_status faulty_alloc(masu_device *device, size_t bytes, void **out) {
    faulty_device *faulty = (faulty_device *)device;
    if (faulty_fails_now(faulty))
        return MASU_ERR_DEVICE_FAILURE;
    size_t inner_bytes; /* the same, for both have one granularity */
    return masu__device_alloc(faulty->inner, bytes, out, &inner_bytes);
}

static masu_status faulty_free(masu_device *device, void *ptr, size_t bytes) {
    faulty_device *faulty = (faulty_device *)device;
    if (faulty_fails_now(faulty))
        return MASU_ERR_DEVICE_FAILURE;
    return masu__device_free(faulty->inner, ptr, bytes);
}

static void faulty_destroy(masu_device *device) {
    faulty_device *faulty = (faulty_device *)device;
    masu__lock_destroy(&faulty->lock);
    masu__meta_free(faulty, sizeof *faulty);
}

static const masu__device_ops faulty_ops = {faulty_alloc, faulty_free, faulty_destroy};

masu_status masu_device_create_faulty(masu_device *inner, masu_device **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!inner)
        return MASU_ERR_INVALID_ARGUMENT;
    faulty_device *faulty = masu__meta_calloc(1, sizeof *faulty);
    if (!faulty)
        return MASU_ERR_OUT_OF_MEMORY;
    masu__lock_init(&faulty->lock, MASU__RANK_DEVICE);
    faulty->inner = inner;
    masu_device_info info = inner->info;
    info.name = "faulty";
    masu__device_init(&faulty->head, &faulty_ops, info);
    *out = &faulty->head;
    return MASU_OK;
}

masu_status masu_device_fail_at(masu_device *device, uint64_t nth, bool repeat) {
    if (!device || device->ops != &faulty_ops)
        return MASU_ERR_INVALID_ARGUMENT;
    faulty_device *faulty = (faulty_device *)device;
    masu__lock_take(&faulty->lock);
    faulty->remaining = nth;
    faulty->repeat = repeat;
    masu__lock_release(&faulty->lock);
    return MASU_OK;
}
