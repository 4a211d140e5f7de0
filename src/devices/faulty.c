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
    masu_status failure; /* what a failing call returns */
} faulty_device;

/* MASU_OK: this call goes on to the inner device. */
static masu_status faulty_now(masu_device *device) {
    faulty_device *faulty = (faulty_device *)device;
    masu__lock_take(&faulty->lock);
    bool fails = faulty->remaining == 1;
    if (faulty->remaining > 1 || (fails && !faulty->repeat))
        faulty->remaining--;
    masu_status status = fails ? faulty->failure : MASU_OK;
    masu__lock_release(&faulty->lock);
    return status;
}

static masu_device *inner_of(masu_device *device) {
    return ((faulty_device *)device)->inner;
}

static masu_status faulty_alloc(masu_device *device, size_t bytes, void **out) {
    masu_status status = faulty_now(device);
    size_t inner_bytes; /* the same, for both have one granularity */
    return status ? status : masu__device_alloc(inner_of(device), bytes, out, &inner_bytes);
}

static masu_status faulty_free(masu_device *device, void *ptr, size_t bytes) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_free(inner_of(device), ptr, bytes);
}

/* ---- virtual memory --------------------------------------------------------------------------------- */

static masu_status faulty_reserve(masu_device *device, size_t bytes, void **out) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_reserve(inner_of(device), bytes, out);
}

static masu_status faulty_unreserve(masu_device *device, void *address, size_t bytes) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_unreserve(inner_of(device), address, bytes);
}

static masu_status faulty_create(masu_device *device, size_t bytes, uint64_t *out) {
    masu_status status = faulty_now(device);
    masu__piece piece = {0};
    if (status == MASU_OK)
        status = masu__device_create(inner_of(device), bytes, &piece);
    *out = piece.handle;
    return status;
}

static masu_status faulty_release(masu_device *device, masu__piece piece) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_release(inner_of(device), piece);
}

static masu_status faulty_map(masu_device *device, void *address, masu__piece piece) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_map(inner_of(device), address, piece);
}

static masu_status faulty_access(masu_device *device, void *address, size_t bytes) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_access(inner_of(device), address, bytes);
}

static masu_status faulty_unmap(masu_device *device, void *address, const masu__piece *pieces, size_t count) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_unmap(inner_of(device), address, pieces, count);
}

static masu_status faulty_discard(masu_device *device, void *address, const masu__piece *pieces, size_t count) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_discard(inner_of(device), address, pieces, count);
}

static masu_status faulty_remap(masu_device *device, void *from, void *to, const masu__piece *pieces, size_t count) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_remap(inner_of(device), from, to, pieces, count);
}

static masu_status faulty_split(masu_device *device, masu__piece piece, size_t first_bytes, uint64_t *rest) {
    masu_status status = faulty_now(device);
    masu__piece second = {0};
    if (status == MASU_OK)
        status = masu__device_split(inner_of(device), &piece, first_bytes, &second);
    *rest = second.handle;
    return status;
}

static bool faulty_join(masu_device *device, masu__piece first, masu__piece rest) {
    return masu__device_join(inner_of(device), &first, rest);
}

static masu_status faulty_copy(masu_device *device, void *to, const void *from, size_t bytes) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_copy(inner_of(device), to, from, bytes);
}

static masu_status faulty_wait(masu_device *device) {
    masu_status status = faulty_now(device);
    return status ? status : masu__device_wait(inner_of(device));
}

static const masu__device_vm_ops faulty_vm_ops = {
    .reserve = faulty_reserve,
    .unreserve = faulty_unreserve,
    .create = faulty_create,
    .release = faulty_release,
    .map = faulty_map,
    .access = faulty_access,
    .unmap = faulty_unmap,
    .discard = faulty_discard,
    .remap = faulty_remap,
    .split = faulty_split,
    .join = faulty_join,
    .copy = faulty_copy,
    .wait = faulty_wait,
};

/* ---- streams ---------------------------------------------------------------------------------------- */

static masu_status faulty_record(masu_device *device, void *stream, void **event) {
    masu_status status = faulty_now(device);
    return status ? status : inner_of(device)->streams->record(inner_of(device), stream, event);
}

static masu_status faulty_is_done(masu_device *device, void *event, bool *done) {
    masu_status status = faulty_now(device);
    return status ? status : inner_of(device)->streams->is_done(inner_of(device), event, done);
}

static masu_status faulty_wait_event(masu_device *device, void *event) {
    masu_status status = faulty_now(device);
    return status ? status : inner_of(device)->streams->wait(inner_of(device), event);
}

static void faulty_drop(masu_device *device, void *event) {
    inner_of(device)->streams->drop(inner_of(device), event);
}

static uint64_t faulty_id(masu_device *device, void *stream) {
    return inner_of(device)->streams->id(inner_of(device), stream);
}

static const masu__device_stream_ops faulty_stream_ops = {
    .record = faulty_record,
    .is_done = faulty_is_done,
    .wait = faulty_wait_event,
    .drop = faulty_drop,
    .id = faulty_id,
};

static void faulty_destroy(masu_device *device) {
    faulty_device *faulty = (faulty_device *)device;
    masu__lock_destroy(&faulty->lock);
    masu__meta_free(faulty, sizeof *faulty);
}

/* It never fails. */
static void faulty_purge(masu_device *device, void *ptr, size_t bytes) {
    masu__device_purge(inner_of(device), ptr, bytes);
}

static masu_status faulty_carry(masu_device *device, const masu_device_carrying *what, void **out) {
    masu_status status = faulty_now(device);
    size_t inner_bytes;
    return status ? status : masu__device_carry(inner_of(device), what, out, &inner_bytes);
}

static const masu__device_ops faulty_ops = {faulty_alloc, faulty_free, faulty_destroy, faulty_purge, faulty_carry};

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
    faulty->head.vm = inner->vm ? &faulty_vm_ops : NULL;
    faulty->head.streams = inner->streams ? &faulty_stream_ops : NULL;
    faulty->head.carries = inner->carries;
    faulty->failure = MASU_ERR_DEVICE_FAILURE;
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

masu_status masu_device_fail_as(masu_device *device, masu_status status) {
    if (!device || device->ops != &faulty_ops || status == MASU_OK)
        return MASU_ERR_INVALID_ARGUMENT;
    faulty_device *faulty = (faulty_device *)device;
    masu__lock_take(&faulty->lock);
    faulty->failure = status;
    masu__lock_release(&faulty->lock);
    return MASU_OK;
}
