/* host.c: pages of this process.
 *
 * Mapped private: a block costs address space only, until it is touched. Fresh pages read as zero. The kernel
 * is asked to account for what it promises (no MAP_NORESERVE): a request that the machine can never hold is refused
 * here, as a status, instead of killing the process when its pages are touched.
 */
#include "devices/host.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/meta.h"

static masu_status host_alloc(masu_device *device, size_t bytes, void **out) {
    (void)device;
    if (masu__fault_hit())
        return MASU_ERR_OUT_OF_MEMORY;
    void *ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ptr == MAP_FAILED)
        return errno == ENOMEM ? MASU_ERR_OUT_OF_MEMORY : MASU_ERR_DEVICE_FAILURE;
    *out = ptr;
    return MASU_OK;
}

static masu_status host_free(masu_device *device, void *ptr, size_t bytes) {
    (void)device;
    return munmap(ptr, bytes) == 0 ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

static void host_destroy(masu_device *device) {
    masu__meta_free(device, sizeof *device);
}

static const masu__device_ops host_ops = {host_alloc, host_free, host_destroy};

masu_status masu_device_create_host(masu_device **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    masu_device *device = masu__meta_alloc(sizeof *device);
    if (!device)
        return MASU_ERR_OUT_OF_MEMORY;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bool moves = masu__host_can_move();
    uint32_t flags = MASU_DEVICE_HOST_ACCESS | MASU_DEVICE_ZEROED | MASU_DEVICE_LAZY;
    masu__device_init(device, &host_ops,
                      (masu_device_info){
                          .name = "host",
                          .flags = flags | (moves ? MASU_DEVICE_DIVISIBLE : 0),
                          .alignment_bytes = page,
                          .granularity_bytes = page,
                          .vm_granularity_bytes = moves ? MASU__HOST_GRANULE : 0,
                          .vm_large_bytes = MASU__HOST_LARGE,
                          .memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * page,
                      });
    if (moves)
        device->vm = &masu__host_vm_ops;
    *out = device;
    return MASU_OK;
}
