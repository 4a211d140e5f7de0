/* over.c: the pool as a device, so that pools of small blocks can lie on it. */
#include "allocators/vm/vm_pool.h"

#include "base/meta.h"

typedef struct over_device {
    masu_device head;
    masu_vm *vm; /* borrowed */
} over_device;

static masu_status over_alloc(masu_device *device, size_t bytes, void **out) {
    return masu_vm_alloc(((over_device *)device)->vm, bytes, 0, 0, out);
}

static masu_status over_free(masu_device *device, void *ptr, size_t bytes) {
    (void)bytes;
    masu_status status = masu_vm_free(((over_device *)device)->vm, ptr);
    return status == MASU_OK ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

static void over_destroy(masu_device *device) {
    masu__meta_free(device, sizeof(over_device));
}

static const masu__device_ops over_ops = {over_alloc, over_free, over_destroy, NULL, NULL};

masu_status masu_device_create_over_vm(masu_vm *vm, masu_device **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!vm || vm->magic != MASU__VM_LIVE)
        return MASU_ERR_INVALID_ARGUMENT;
    over_device *over = masu__meta_calloc(1, sizeof *over);
    if (!over)
        return MASU_ERR_OUT_OF_MEMORY;
    const masu_device_info *below = &vm->device->info;
    over->vm = vm;
    masu__device_init(&over->head, &over_ops,
                      (masu_device_info){
                          .name = "over vm",
                          .flags = below->flags & (MASU_DEVICE_HOST_ACCESS | MASU_DEVICE_LAZY),
                          .alignment_bytes = vm->granule,
                          .granularity_bytes = vm->granule,
                          .memory_bytes = below->memory_bytes,
                      });
    *out = &over->head;
    return MASU_OK;
}
