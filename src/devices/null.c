/* null.c: sizes only. Addresses that follow each other and that nobody may touch.
 *
 * For planning, and for tests of pools larger than the machine. Blocks touch in address space on
 * purpose: a pool that merges across device blocks is found out here.
 */
#include "devices/devices.h"

#include "base/meta.h"

#define FIRST_ADDRESS ((uintptr_t)1 << 40)
#define LAST_ADDRESS  ((uintptr_t)1 << 62)

enum { NULL_GRANULARITY = 4096 };

/* next_address = FIRST_ADDRESS + sum of all sizes ever handed out */
typedef struct null_device {
    masu_device head;
    masu__lock lock; /* guards all below */
    uint64_t capacity_bytes;
    uint64_t used_bytes;
    uintptr_t next_address;
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

static void null_destroy(masu_device *device) {
    null_device *null = (null_device *)device;
    masu__lock_destroy(&null->lock);
    masu__meta_free(null, sizeof *null);
}

static const masu__device_ops null_ops = {null_alloc, null_free, null_destroy};

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
    masu__device_init(&null->head, &null_ops,
                      (masu_device_info){
                          .name = "null",
                          .flags = MASU_DEVICE_LAZY,
                          .alignment_bytes = NULL_GRANULARITY,
                          .granularity_bytes = NULL_GRANULARITY,
                      });
    *out = &null->head;
    return MASU_OK;
}
