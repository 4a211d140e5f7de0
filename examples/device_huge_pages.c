/* A device of one's own: huge pages of one NUMA node. Build against the installed library:
 * cc device_huge_pages.c $(pkg-config --cflags --libs masu)
 *
 *     device_huge_pages [NODE]     0 by default
 *
 * Blocks are multiples of 2 MiB at multiples of 2 MiB; the kernel is asked to back them with huge pages, and to take
 * those from the node. Where it does not know nodes or huge pages the blocks are ordinary memory, and that is said. */
#define _GNU_SOURCE
#include <errno.h>
#include <masu/masu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HUGE = 2 << 20, BIND = 2 /* MPOL_BIND */, MOST_NODES = 1024 };

typedef struct node {
    int number;
    _Atomic int unbound, small; /* how often the kernel did not follow; any thread */
} node;

static masu_status bind_to(node *n, void *at, size_t bytes) {
    unsigned long mask[MOST_NODES / 64] = {0};
    mask[n->number / 64] = 1ul << n->number % 64;
    if (syscall(SYS_mbind, at, bytes, BIND, mask, (unsigned long)MOST_NODES + 1, 0) == 0)
        return MASU_OK;
    if (errno != ENOSYS && errno != EPERM)
        return MASU_ERR_DEVICE_FAILURE; /* there is no such node */
    n->unbound++;
    return MASU_OK;
}

static masu_status take(void *context, size_t bytes, void **out) {
    node *n = context;
    if (bytes > SIZE_MAX - HUGE)
        return MASU_ERR_OUT_OF_MEMORY;
    char *wide = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (wide == MAP_FAILED)
        return MASU_ERR_OUT_OF_MEMORY;
    size_t before = (size_t)(-(uintptr_t)wide & (HUGE - 1));
    if (before > 0)
        munmap(wide, before);
    munmap(wide + before + bytes, HUGE - before);
    masu_status status = bind_to(n, wide + before, bytes);
    if (status != MASU_OK) {
        munmap(wide + before, bytes);
        return status;
    }
    n->small += madvise(wide + before, bytes, MADV_HUGEPAGE) != 0;
    *out = wide + before;
    return MASU_OK;
}

static masu_status give(void *context, void *ptr, size_t bytes) {
    (void)context;
    return munmap(ptr, bytes) == 0 ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

/* Half a huge page would be torn into small ones: whole ones go back. */
static void purge(void *context, void *ptr, size_t bytes) {
    (void)context;
    uintptr_t first = ((uintptr_t)ptr + HUGE - 1) & ~(uintptr_t)(HUGE - 1);
    uintptr_t end = ((uintptr_t)ptr + bytes) & ~(uintptr_t)(HUGE - 1);
    if (first < end)
        madvise((void *)first, end - first, MADV_DONTNEED);
}

static int fail(const char *what, masu_status status) {
    fprintf(stderr, "%s: %s\n", what, masu_status_text(status));
    return 1;
}

/* A pool on it, as over any device: matrices of 300 KiB that share huge pages. */
static masu_status use(masu_device *device) {
    enum { COUNT = 100, BYTES = 300 << 10 };
    masu_bestfit *pool;
    void *matrix[COUNT];
    masu_bestfit_config config = masu_bestfit_config_default(device);
    config.pool_bytes = 8 * (size_t)HUGE;
    config.initial_bytes = 0;
    masu_status status = masu_bestfit_create(&config, &pool);
    int made = 0;
    while (status == MASU_OK && made < COUNT &&
           (status = masu_bestfit_alloc(pool, BYTES, 64, 0, &matrix[made])) == MASU_OK)
        memset(matrix[made++], 1, BYTES);
    masu_bestfit_stats stats;
    masu_bestfit_get_stats(pool, &stats);
    printf("%d matrices in %llu blocks of the device\n", made, (unsigned long long)stats.device_blocks);
    while (made > 0)
        masu_bestfit_free(pool, matrix[--made]);
    masu_status ended = masu_bestfit_destroy(pool);
    return status != MASU_OK ? status : ended;
}

int main(int argc, char **argv) {
    node n = {.number = argc > 1 ? atoi(argv[1]) : 0};
    if (n.number < 0 || n.number >= MOST_NODES) {
        fprintf(stderr, "usage: device_huge_pages [NODE]\n");
        return 2;
    }
    masu_device_table table = {
        .struct_bytes = sizeof table,
        .name = "huge pages",
        .flags = MASU_DEVICE_HOST_ACCESS | MASU_DEVICE_ZEROED | MASU_DEVICE_LAZY,
        .alignment_bytes = HUGE,
        .granularity_bytes = HUGE,
        .alloc = take,
        .free = give,
        .purge = purge,
    };
    masu_device *device;
    masu_conform_report report = {.struct_bytes = sizeof report};
    masu_status status = masu_device_create_custom(&table, &n, &device);
    if (status != MASU_OK)
        return fail("device", status);
    status = masu_device_conform(device, &report);
    if (status != MASU_OK)
        return fail(report.what, status);
    printf("%s of node %d: keeps the contract\n", table.name, n.number);
    status = use(device);
    if (status != MASU_OK)
        return fail("pool", status);
    if (n.unbound || n.small)
        printf("the kernel did not bind %d blocks, and promised %d no huge pages\n", n.unbound, n.small);
    status = masu_device_destroy(device);
    return status == MASU_OK ? 0 : fail("destroy", status);
}
