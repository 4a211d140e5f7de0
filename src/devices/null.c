/* null.c: sizes only. Addresses that follow each other and that may not be touched.
 *
 * It has virtual memory too, of the same kind: pieces are numbers, mapping them is saying so. What is
 * mapped where is not judged here; the judge of that is the simulated driver of the tests.
 *
 * For planning, and for tests of pools larger than the machine. Blocks touch in address space on
 * purpose: a pool that merges across device blocks is found out here.
 */
#include "devices/devices.h"

#include "base/meta.h"

#define FIRST_ADDRESS  ((uintptr_t)1 << 40)
#define LAST_ADDRESS   ((uintptr_t)1 << 62)

#define FIRST_RESERVED ((uintptr_t)1 << 46)

enum { NULL_GRANULARITY = 4096, NULL_VM_GRANULARITY = 2 << 20 };

/* next_address = FIRST_ADDRESS + sum of all sizes ever handed out */
typedef struct null_device {
    masu_device head;
    masu__lock lock; /* guards all below */
    uint64_t capacity_bytes;
    uint64_t used_bytes;
    uintptr_t next_address;
    uintptr_t next_reserved;
    uint64_t next_handle;
} null_device;

static masu_status null_take(null_device *null, size_t bytes, void **out) {
    if (null->capacity_bytes && bytes > null->capacity_bytes - null->used_bytes)
        return MASU_ERR_OUT_OF_MEMORY;
    if (bytes > LAST_ADDRESS - null->next_address)
        return MASU_ERR_OUT_OF_MEMORY;
    *out = (void *)null->next_address;
    null->next_address += bytes;
    null->used_bytes += bytes;
    return MASU_OK;
}

static masu_status null_alloc(masu_device *device, size_t bytes, void **out) {
    null_device *null = (null_device *)device;
    if (masu__fault_hit())
        return MASU_ERR_OUT_OF_MEMORY;
    masu__lock_take(&null->lock);
    masu_status status = null_take(null, bytes, out);
    masu__lock_release(&null->lock);
    return status;
}

static masu_status null_free(masu_device *device, void *ptr, size_t bytes) {
    null_device *null = (null_device *)device;
    (void)ptr;
    masu__lock_take(&null->lock);
    null->used_bytes -= bytes;
    masu__lock_release(&null->lock);
    return MASU_OK;
}

/* ---- virtual memory --------------------------------------------------------------------------------- */

static masu_status null_reserve(masu_device *device, size_t bytes, void **out) {
    null_device *null = (null_device *)device;
    masu_status status = MASU_ERR_ADDRESS_SPACE;
    if (masu__fault_hit())
        return MASU_ERR_OUT_OF_MEMORY;
    masu__lock_take(&null->lock);
    if (bytes <= LAST_ADDRESS - null->next_reserved) {
        *out = (void *)null->next_reserved;
        null->next_reserved += bytes;
        status = MASU_OK;
    }
    masu__lock_release(&null->lock);
    return status;
}

static masu_status null_unreserve(masu_device *device, void *address, size_t bytes) {
    (void)device, (void)address, (void)bytes;
    return MASU_OK;
}

static masu_status null_create(masu_device *device, size_t bytes, uint64_t *out) {
    null_device *null = (null_device *)device;
    if (masu__fault_hit())
        return MASU_ERR_OUT_OF_MEMORY;
    masu__lock_take(&null->lock);
    bool fits = !null->capacity_bytes || bytes <= null->capacity_bytes - null->used_bytes;
    if (fits) {
        null->used_bytes += bytes;
        *out = ++null->next_handle;
    }
    masu__lock_release(&null->lock);
    return fits ? MASU_OK : MASU_ERR_OUT_OF_MEMORY;
}

static masu_status null_release(masu_device *device, masu__piece piece) {
    return null_free(device, NULL, piece.bytes);
}

static masu_status null_map(masu_device *device, void *address, masu__piece piece) {
    (void)device, (void)address, (void)piece;
    return MASU_OK;
}

static masu_status null_access(masu_device *device, void *address, size_t bytes) {
    (void)device, (void)address, (void)bytes;
    return MASU_OK;
}

static masu_status null_unmap(masu_device *device, void *address, const masu__piece *pieces, size_t count) {
    (void)device, (void)address, (void)pieces, (void)count;
    return MASU_OK;
}

static masu_status null_remap(masu_device *device, void *from, void *to, const masu__piece *pieces, size_t count) {
    (void)device, (void)from, (void)to, (void)pieces, (void)count;
    return MASU_OK;
}

static masu_status null_split(masu_device *device, masu__piece piece, size_t first_bytes, uint64_t *rest) {
    null_device *null = (null_device *)device;
    (void)piece, (void)first_bytes;
    masu__lock_take(&null->lock);
    *rest = ++null->next_handle;
    masu__lock_release(&null->lock);
    return MASU_OK;
}

static bool null_join(masu_device *device, masu__piece first, masu__piece rest) {
    (void)device, (void)first, (void)rest;
    return true;
}

static masu_status null_copy(masu_device *device, void *to, const void *from, size_t bytes) {
    (void)device, (void)to, (void)from, (void)bytes;
    return MASU_OK;
}

static const masu__device_vm_ops null_vm_ops = {
    .reserve = null_reserve,
    .unreserve = null_unreserve,
    .create = null_create,
    .release = null_release,
    .map = null_map,
    .access = null_access,
    .unmap = null_unmap,
    .remap = null_remap,
    .split = null_split,
    .join = null_join,
    .copy = null_copy,
};

static void null_destroy(masu_device *device) {
    null_device *null = (null_device *)device;
    masu__lock_destroy(&null->lock);
    masu__meta_free(null, sizeof *null);
}

static const masu__device_ops null_ops = {null_alloc, null_free, null_destroy, NULL, NULL};

masu_status masu_device_create_null(uint64_t capacity_bytes, masu_device **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    null_device *null = masu__meta_calloc(1, sizeof *null);
    if (!null)
        return MASU_ERR_OUT_OF_MEMORY;
    masu__lock_init(&null->lock, MASU__RANK_DEVICE);
    null->capacity_bytes = capacity_bytes;
    null->next_address = FIRST_ADDRESS;
    null->next_reserved = FIRST_RESERVED;
    masu__device_init(&null->head, &null_ops,
                      (masu_device_info){
                          .name = "null",
                          .flags = MASU_DEVICE_LAZY | MASU_DEVICE_DIVISIBLE,
                          .alignment_bytes = NULL_GRANULARITY,
                          .granularity_bytes = NULL_GRANULARITY,
                          .vm_granularity_bytes = NULL_VM_GRANULARITY,
                          .memory_bytes = capacity_bytes,
                      });
    null->head.vm = &null_vm_ops;
    *out = &null->head;
    return MASU_OK;
}
