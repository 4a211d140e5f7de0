/* A device over a range of memory that is there already: a mapped file. What is written into its blocks is in the file
 * when the program has ended. Build against the installed library:
 * cc device_mapped_file.c $(pkg-config --cflags --libs masu)
 *
 *     device_mapped_file PATH     writes a file of 16 MiB
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <masu/masu.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 16 << 20 };

static int fail(const char *what, masu_status status) {
    fprintf(stderr, "%s: %s\n", what, masu_status_text(status));
    return 1;
}

static char *map_file(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, BYTES) != 0)
        return NULL;
    char *base = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return base == MAP_FAILED ? NULL : base;
}

/* Where the block lies in the file is its distance from the base. */
static masu_status write_text(masu_device *device, const char *base) {
    static const char text[] = "kept by the file";
    masu_bestfit *pool;
    void *block;
    masu_bestfit_config config = masu_bestfit_config_default(device);
    config.pool_bytes = 1 << 20;
    config.initial_bytes = 0;
    masu_status status = masu_bestfit_create(&config, &pool);
    if (status != MASU_OK)
        return status;
    status = masu_bestfit_alloc(pool, 100000, 64, 0, &block);
    if (status == MASU_OK) {
        memcpy(block, text, sizeof text);
        printf("written at %zu\n", (size_t)((char *)block - base));
        status = masu_bestfit_free(pool, block);
    }
    masu_status ended = masu_bestfit_destroy(pool);
    return status != MASU_OK ? status : ended;
}

int main(int argc, char **argv) {
    char *base = argc == 2 ? map_file(argv[1]) : NULL;
    if (!base) {
        fprintf(stderr, argc == 2 ? "the file cannot be written\n" : "usage: device_mapped_file PATH\n");
        return 2;
    }
    masu_range_config range = {.struct_bytes = sizeof range,
                               .base = base,
                               .bytes = BYTES,
                               .flags = MASU_DEVICE_HOST_ACCESS | MASU_DEVICE_LAZY};
    masu_device *device;
    masu_conform_report report = {.struct_bytes = sizeof report};
    masu_status status = masu_device_create_range(&range, &device);
    if (status != MASU_OK)
        return fail("device", status);
    status = masu_device_conform(device, &report);
    if (status != MASU_OK)
        return fail(report.what, status);
    printf("mapped file: keeps the contract\n");
    status = write_text(device, base);
    if (status == MASU_OK)
        status = masu_device_destroy(device);
    munmap(base, BYTES);
    return status == MASU_OK ? 0 : fail("file", status);
}
