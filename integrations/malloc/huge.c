/* huge.c: a device whose blocks begin at multiples of 2 MiB and ask the system for pages of that size. */
#include "adapter.h"

#include <sys/mman.h>

#define HUGE_BYTES ((size_t)2 << 20)

/* One page too many, so that an aligned part is among them; what stands over goes back at once. */
static masu_status huge_alloc(void *context, size_t bytes, void **out) {
    (void)context;
    if (bytes > PTRDIFF_MAX - HUGE_BYTES)
        return MASU_ERR_OUT_OF_MEMORY;
    char *all = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return MASU_ERR_OUT_OF_MEMORY;
    size_t before = -(uintptr_t)all & (HUGE_BYTES - 1);
    if (before > 0)
        munmap(all, before);
    munmap(all + before + bytes, HUGE_BYTES - before);
    madvise(all + before, bytes, MADV_HUGEPAGE); /* a wish */
    *out = all + before;
    return MASU_OK;
}

static masu_status huge_free(void *context, void *ptr, size_t bytes) {
    (void)context;
    return munmap(ptr, bytes) == 0 ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

static void huge_purge(void *context, void *ptr, size_t bytes) {
    (void)context;
    madvise(ptr, bytes, MADV_DONTNEED);
}

masu_status masu_malloc_huge_device(masu_device **out) {
    masu_device_table table = {
        .struct_bytes = sizeof table,
        .name = "huge pages",
        .flags = MASU_DEVICE_HOST_ACCESS | MASU_DEVICE_ZEROED | MASU_DEVICE_LAZY,
        .alignment_bytes = HUGE_BYTES,
        .granularity_bytes = HUGE_BYTES,
        .alloc = huge_alloc,
        .free = huge_free,
        .purge = huge_purge,
    };
    return masu_device_create_custom(&table, NULL, out);
}
