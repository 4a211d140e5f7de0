/* A device of one's own, with virtual memory: each piece is a memory object (memfd), which another process could map as
 * well. Build against the installed library:  cc device_memfd.c $(pkg-config --cflags --libs masu)
 *
 * The table below is all that a device is (masu/device.h says what each function promises). The conformance suite then
 * tries every promise, and a pool of virtual memory grows a block on it. */
#define _GNU_SOURCE
#include <masu/masu.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GRANULE = 2 << 20 };

static masu_status lack(void) {
    return MASU_ERR_OUT_OF_MEMORY;
}

/* Blocks for ordinary pools. */
static masu_status take(void *context, size_t bytes, void **out) {
    (void)context;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return lack();
    *out = at;
    return MASU_OK;
}

static masu_status give(void *context, void *ptr, size_t bytes) {
    (void)context;
    return munmap(ptr, bytes) == 0 ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

/* Addresses: reserved without access, at a multiple of the granule. */
static void *nothing_at(void *at, size_t bytes) {
    return mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
}

static masu_status reserve(void *context, size_t bytes, void **out) {
    (void)context;
    char *at = nothing_at(NULL, bytes + GRANULE);
    if (at == MAP_FAILED)
        return MASU_ERR_ADDRESS_SPACE;
    size_t before = (size_t)(-(uintptr_t)at & (GRANULE - 1));
    if (before > 0)
        munmap(at, before);
    munmap(at + before + bytes, GRANULE - before);
    *out = at + before;
    return MASU_OK;
}

/* Pieces: the handle is the file descriptor. */
static masu_status create(void *context, size_t bytes, uint64_t *handle) {
    (void)context;
    int file = memfd_create("masu piece", MFD_CLOEXEC);
    if (file < 0)
        return MASU_ERR_LIMIT_REACHED; /* of descriptors */
    if (ftruncate(file, (off_t)bytes) != 0) {
        close(file);
        return lack();
    }
    *handle = (uint64_t)file;
    return MASU_OK;
}

static masu_status release(void *context, masu_device_piece piece) {
    (void)context;
    return close((int)piece.handle) == 0 ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

static masu_status map(void *context, void *address, masu_device_piece piece) {
    (void)context;
    return mmap(address, piece.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, (int)piece.handle, 0) ==
                   MAP_FAILED
               ? MASU_ERR_LIMIT_REACHED /* of mappings */
               : MASU_OK;
}

/* map has given it already. */
static masu_status let_in(void *context, void *address, size_t bytes) {
    (void)context, (void)address, (void)bytes;
    return MASU_OK;
}

static size_t bytes_of(const masu_device_piece *pieces, size_t count) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += pieces[i].bytes;
    return bytes;
}

static masu_status unmap(void *context, void *address, const masu_device_piece *pieces, size_t count) {
    (void)context;
    return nothing_at(address, bytes_of(pieces, count)) == MAP_FAILED ? MASU_ERR_LIMIT_REACHED : MASU_OK;
}

/* First all of the new place, then one step for the old: a refusal in between leaves what was. */
static masu_status remap(void *context, void *from, void *to, const masu_device_piece *pieces, size_t count) {
    char *next = to;
    masu_status status = MASU_OK;
    for (size_t i = 0; i < count && status == MASU_OK; next += pieces[i++].bytes)
        status = map(context, next, pieces[i]);
    if (status == MASU_OK)
        status = unmap(context, from, pieces, count);
    if (status != MASU_OK && nothing_at(to, bytes_of(pieces, count)) == MAP_FAILED)
        return MASU_ERR_CORRUPT;
    return status;
}

static masu_status copy(void *context, void *to, const void *from, size_t bytes) {
    (void)context;
    memcpy(to, from, bytes);
    return MASU_OK;
}

static masu_status unreserve(void *context, void *address, size_t bytes) {
    return give(context, address, bytes);
}

static int fail(const char *what, masu_status status) {
    fprintf(stderr, "%s: %s\n", what, masu_status_text(status));
    return 1;
}

/* From 2 to 64 MiB, in place or not; what was written stays. */
static int grows(masu_device *device) {
    masu_vm *vm;
    masu_vm_config config = masu_vm_config_default(device);
    void *block;
    masu_status status = masu_vm_create(&config, &vm);
    if (status == MASU_OK)
        status = masu_vm_alloc(vm, GRANULE, 0, 0, &block);
    if (status != MASU_OK)
        return fail("pool", status);
    memset(block, 42, GRANULE);
    for (size_t bytes = 2 * (size_t)GRANULE; bytes <= 32 * (size_t)GRANULE; bytes *= 2)
        if ((status = masu_vm_resize(vm, block, bytes, &block)) != MASU_OK)
            return fail("resize", status);
    int kept = ((char *)block)[0] == 42 && ((char *)block)[GRANULE - 1] == 42;
    masu_vm_free(vm, block);
    status = masu_vm_destroy(vm);
    printf("grown to 64 MiB: contents %s, %s\n", kept ? "kept" : "lost", masu_status_name(status));
    return kept && status == MASU_OK ? 0 : 1;
}

int main(void) {
    masu_device_table table = {
        .struct_bytes = sizeof table,
        .name = "memfd",
        .flags = MASU_DEVICE_HOST_ACCESS | MASU_DEVICE_ZEROED | MASU_DEVICE_LAZY,
        .alignment_bytes = 4096,
        .granularity_bytes = 4096,
        .vm_granularity_bytes = GRANULE,
        .alloc = take,
        .free = give,
        .reserve = reserve,
        .unreserve = unreserve,
        .create = create,
        .release = release,
        .map = map,
        .access = let_in,
        .unmap = unmap,
        .remap = remap,
        .copy = copy,
    };
    masu_device *device;
    masu_conform_report report = {.struct_bytes = sizeof report};
    masu_status status = masu_device_create_custom(&table, NULL, &device);
    if (status != MASU_OK)
        return fail("device", status);
    status = masu_device_conform(device, &report);
    if (status != MASU_OK)
        return fail(report.what, status);
    printf("%s: keeps the contract\n", table.name);
    int result = grows(device);
    status = masu_device_destroy(device);
    return status == MASU_OK ? result : fail("destroy", status);
}
