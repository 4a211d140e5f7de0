/* host.c: pages of this process.
 *
 * Mapped private: a block costs address space only, until it is touched. Fresh pages read as zero. The kernel
 * is asked to account for what it promises (no MAP_NORESERVE): a request that the machine can never hold is refused
 * here, as a status, instead of killing the process when its pages are touched.
 */
#include "devices/host.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
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

/* ---- giving back at the limit of mappings ------------------------------------------------------------ */

/* Places that are empty and still mapped. */
typedef struct debt {
    struct debt *next;
    void *address;
    size_t bytes;
} debt;

typedef struct host_device {
    masu_device head;
    masu__lock lock; /* guards debts */
    debt *debts;
} host_device;

/* As far as the kernel allows by now. */
static void pay_debts(host_device *host) {
    masu__lock_take(&host->lock);
    for (debt *owed; (owed = host->debts) && munmap(owed->address, owed->bytes) == 0;) {
        host->debts = owed->next;
        masu__meta_free(owed, sizeof *owed);
    }
    masu__lock_release(&host->lock);
}

bool masu__host_unmap(masu_device *device, void *address, size_t bytes) {
    host_device *host = (host_device *)device;
    if (munmap(address, bytes) == 0) {
        pay_debts(host);
        return true;
    }
    debt *owed = errno == ENOMEM ? masu__meta_alloc(sizeof *owed) : NULL;
    if (!owed)
        return false;
    madvise(address, bytes, MADV_DONTNEED);
    masu__lock_take(&host->lock);
    *owed = (debt){host->debts, address, bytes};
    host->debts = owed;
    masu__lock_release(&host->lock);
    return true;
}

static masu_status host_free(masu_device *device, void *ptr, size_t bytes) {
    return masu__host_unmap(device, ptr, bytes) ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

static void host_destroy(masu_device *device) {
    host_device *host = (host_device *)device;
    pay_debts(host);
    for (debt *owed = host->debts, *next; owed; owed = next) {
        next = owed->next;
        masu__meta_free(owed, sizeof *owed);
    }
    masu__lock_destroy(&host->lock);
    masu__meta_free(host, sizeof *host);
}

static void host_purge(masu_device *device, void *ptr, size_t bytes) {
    int error = errno;
    (void)device;
    madvise(ptr, bytes, MADV_DONTNEED);
    errno = error;
}

/* ---- blocks that are carried ------------------------------------------------------------------------- */

/* A part of a block leaves empty pages behind, so that no mapping of another thread can get in there. Then the new
 * mapping grows; where it cannot, the pages are written back into those: nothing that might be refused. */
static void *lift(const masu_device_carrying *what) {
    void *lifted = mremap(what->from, what->bytes, what->bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    if (lifted == MAP_FAILED)
        return MAP_FAILED;
    void *grown = mremap(lifted, what->bytes, what->new_bytes, MREMAP_MAYMOVE);
    if (grown != MAP_FAILED)
        return grown;
    memcpy(what->from, lifted, what->bytes);
    munmap(lifted, what->bytes);
    return MAP_FAILED;
}

static masu_status host_carry(masu_device *device, const masu_device_carrying *what, void **out) {
    int error = errno;
    (void)device;
    if (masu__fault_hit())
        return MASU_ERR_OUT_OF_MEMORY;
    void *ptr = what->whole ? mremap(what->from, what->bytes, what->new_bytes, MREMAP_MAYMOVE) : lift(what);
    if (ptr == MAP_FAILED) {
        masu_status status = errno == ENOMEM ? MASU_ERR_OUT_OF_MEMORY : MASU_ERR_DEVICE_FAILURE;
        errno = error; /* the pool copies then, and may well succeed */
        return status;
    }
    *out = ptr;
    return MASU_OK;
}

static const masu__device_ops host_ops = {host_alloc, host_free, host_destroy, host_purge, host_carry};

/* By the system's calls alone: sysconf has a table of its own, whose pages a small program would have for this. */
static uint64_t memory_bytes(void) {
    struct sysinfo info;
    return sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : 0;
}

masu_status masu_device_create_host(masu_device **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    host_device *host = masu__meta_calloc(1, sizeof *host);
    if (!host)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_device *device = &host->head;
    masu__lock_init(&host->lock, MASU__RANK_DEVICE);
    size_t page = (size_t)getpagesize();
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
                          .memory_bytes = memory_bytes(),
                      });
    if (moves)
        device->vm = &masu__host_vm_ops;
    device->carries = moves;
    *out = device;
    return MASU_OK;
}
