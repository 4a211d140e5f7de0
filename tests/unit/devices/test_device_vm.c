/* Virtual memory of the devices: one contract, three kinds; and the host's pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/meta.h"
#include "devices/devices.h"

/* A reservation of ten granules, three pieces mapped in it, moved, cut, unmapped, mapped again. */
static void keeps_the_contract(masu_device *device, bool pages) {
    size_t g = device->info.vm_granularity_bytes;
    char *base;
    masu__piece pieces[3], rest;
    assert_true(g > 0);
    assert_int_equal(masu__device_reserve(device, 10 * g, (void **)&base), MASU_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(masu__device_create(device, (size_t)(i + 1) * g, &pieces[i]), MASU_OK);
        assert_int_equal(pieces[i].bytes, (size_t)(i + 1) * g);
    }
    char *at = base;
    for (int i = 0; i < 3; at += pieces[i++].bytes)
        assert_int_equal(masu__device_map(device, at, pieces[i]), MASU_OK);
    assert_int_equal(masu__device_access(device, base, 6 * g), MASU_OK);
    if (pages)
        for (size_t k = 0; k < 6; k++) {
            assert_int_equal(base[k * g], 0);
            base[k * g] = (char)(k + 1);
        }
    assert_int_equal(masu__device_unmap(device, base + 3 * g, &pieces[2], 1), MASU_OK);
    assert_int_equal(masu__device_remap(device, base, base + 6 * g, pieces, 2), MASU_OK);
    assert_int_equal(masu__device_map(device, base, pieces[2]), MASU_OK);
    assert_int_equal(masu__device_access(device, base, 3 * g), MASU_OK);
    if (pages) {
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(base[k * g], k + 4);
            assert_int_equal(base[(k + 6) * g], k + 1);
        }
        assert_int_equal(masu__device_copy(device, base + g, base + 6 * g, g), MASU_OK);
        assert_int_equal(base[g], 1);
    }
    if (device->info.flags & MASU_DEVICE_DIVISIBLE) {
        assert_int_equal(masu__device_split(device, &pieces[2], g, &rest), MASU_OK);
        assert_int_equal(pieces[2].bytes, g);
        assert_int_equal(rest.bytes, 2 * g);
        assert_true(masu__device_join(device, &pieces[2], rest));
        assert_int_equal(masu__device_split(device, &pieces[2], g, &rest), MASU_OK);
        assert_int_equal(masu__device_unmap(device, base + g, &rest, 1), MASU_OK);
        assert_int_equal(masu__device_release(device, rest), MASU_OK);
    }
    assert_int_equal(masu__device_unmap(device, base, &pieces[2], 1), MASU_OK);
    assert_int_equal(masu__device_unmap(device, base + 6 * g, pieces, 2), MASU_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(masu__device_release(device, pieces[i]), MASU_OK);
    assert_int_equal(masu__device_wait(device), MASU_OK);
    assert_int_equal(masu__device_unreserve(device, base, 10 * g), MASU_OK);
    masu_device_stats stats;
    masu_device_get_stats(device, &stats);
    assert_int_equal(stats.reserve_calls, 1);
    assert_int_equal(stats.reserved_bytes, 0);
    assert_int_equal(stats.physical_bytes, 0);
    assert_int_equal(stats.peak_physical_bytes, 6 * g);
    assert_int_equal(stats.created_pieces, stats.released_pieces);
    assert_int_equal(stats.map_calls, 4);
    assert_int_equal(stats.remap_calls, 1);
    assert_int_equal(stats.failed_calls, 0);
}

static void host(void **state) {
    (void)state;
    masu_device *device;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    keeps_the_contract(device, true);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void null(void **state) {
    (void)state;
    masu_device *device;
    masu__piece piece, more;
    assert_int_equal(masu_device_create_null((uint64_t)64 << 20, &device), MASU_OK);
    keeps_the_contract(device, false);
    assert_int_equal(masu__device_create(device, (size_t)62 << 20, &piece), MASU_OK);
    assert_int_equal(masu__device_create(device, (size_t)4 << 20, &more), MASU_ERR_OUT_OF_MEMORY);
    assert_int_equal(masu__device_create(device, (size_t)2 << 20, &more), MASU_OK);
    assert_true(more.handle != piece.handle);
    assert_int_equal(masu__device_release(device, more), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_ERR_LEAK);
}

static void faulty(void **state) {
    (void)state;
    masu_device *inner, *device;
    masu__piece piece;
    void *base;
    assert_int_equal(masu_device_create_host(&inner), MASU_OK);
    assert_int_equal(masu_device_create_faulty(inner, &device), MASU_OK);
    keeps_the_contract(device, true);
    size_t g = device->info.vm_granularity_bytes;
    masu_device_fail_at(device, 1, true);
    assert_int_equal(masu__device_reserve(device, g, &base), MASU_ERR_DEVICE_FAILURE);
    assert_int_equal(masu__device_create(device, g, &piece), MASU_ERR_DEVICE_FAILURE);
    assert_int_equal(masu_device_fail_as(device, MASU_ERR_OUT_OF_MEMORY), MASU_OK);
    assert_int_equal(masu__device_create(device, g, &piece), MASU_ERR_OUT_OF_MEMORY);
    assert_int_equal(masu_device_fail_as(device, MASU_OK), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_device_fail_as(inner, MASU_ERR_IO), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    assert_int_equal(masu_device_destroy(inner), MASU_OK);
}

/* What the host cannot hold is refused when it is created, and a half that was away is not joined. */
static void host_refuses_and_keeps_apart(void **state) {
    (void)state;
    masu_device *device;
    masu__piece piece, rest;
    char *base;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    size_t g = device->info.vm_granularity_bytes;
    assert_int_equal(masu__device_create(device, (size_t)1 << 46, &piece), MASU_ERR_OUT_OF_MEMORY);
    assert_int_equal(masu__device_reserve(device, 4 * g, (void **)&base), MASU_OK);
    assert_int_equal(masu__device_create(device, 2 * g, &piece), MASU_OK);
    assert_int_equal(masu__device_map(device, base, piece), MASU_OK);
    base[0] = 1, base[g] = 2;
    assert_int_equal(masu__device_split(device, &piece, g, &rest), MASU_OK);
    assert_int_equal(masu__device_unmap(device, base + g, &rest, 1), MASU_OK);
    assert_int_equal(masu__device_map(device, base + g, rest), MASU_OK);
    assert_false(masu__device_join(device, &piece, rest));
    masu__piece both[] = {piece, rest};
    assert_int_equal(masu__device_remap(device, base, base + 2 * g, both, 2), MASU_OK);
    assert_int_equal(base[2 * g], 1);
    assert_int_equal(base[3 * g], 2);
    assert_int_equal(masu__device_unmap(device, base + 2 * g, both, 2), MASU_OK);
    assert_int_equal(masu__device_release(device, piece), MASU_OK);
    assert_int_equal(masu__device_release(device, rest), MASU_OK);
    assert_int_equal(masu__device_unreserve(device, base, 4 * g), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

/* As many mappings as the process may have: told apart from a lack of memory, and survived. */
static void host_tells_the_limit_of_mappings(void **state) {
    (void)state;
    masu_device *device;
    masu__piece pieces[64];
    char *base;
#if defined(__SANITIZE_THREAD__)
    print_message("skipped: the thread sanitizer itself ends where no mapping can be made\n");
    skip();
#endif
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    long most = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &most), 1);
    fclose(file);
    if (most > 200000) {
        print_message("skipped: vm.max_map_count is %ld: too many mappings to fill\n", most);
        skip();
    }
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    size_t g = device->info.vm_granularity_bytes, page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(masu__device_reserve(device, 128 * g, (void **)&base), MASU_OK);
    for (int i = 0; i < 64; i++)
        assert_int_equal(masu__device_create(device, g, &pieces[i]), MASU_OK);
    size_t filler_bytes = (size_t)most * 2 * page;
    char *filler = mmap(NULL, filler_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(filler != MAP_FAILED);
    for (long i = 0; i < most; i++)
        if (mprotect(filler + 2 * (size_t)i * page, page, PROT_READ) != 0)
            break;
    masu_status status = MASU_OK;
    int mapped = 0;
    while (mapped < 64 && status == MASU_OK) /* every other place: they cannot merge */
        if ((status = masu__device_map(device, base + 2 * (size_t)mapped * g, pieces[mapped])) == MASU_OK)
            mapped++;
    munmap(filler, filler_bytes);
    assert_int_equal(status, MASU_ERR_LIMIT_REACHED);
    assert_int_equal(masu__device_map(device, base + 2 * (size_t)mapped * g, pieces[mapped]), MASU_OK);
    mapped++;
    for (int i = 0; i < 64; i++) {
        if (i < mapped)
            assert_int_equal(masu__device_unmap(device, base + 2 * (size_t)i * g, &pieces[i], 1), MASU_OK);
        assert_int_equal(masu__device_release(device, pieces[i]), MASU_OK);
    }
    assert_int_equal(masu__device_unreserve(device, base, 128 * g), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

/* Whether the kernel can read a byte there. */
static bool readable(const void *address) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    bool read = write(ends[1], address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return read;
}

/* The kth of several pieces cannot be moved, for its pages are gone: the others are back where they were with what was
 * in them, nothing is left where they were to go, and both places can be used again. */
static void host_moves_all_or_none(void **state) {
    (void)state;
    enum { PIECES = 4 };
    for (size_t gone = 0; gone < PIECES; gone++) {
        masu_device *device;
        masu__piece pieces[PIECES];
        char *base;
        assert_int_equal(masu_device_create_host(&device), MASU_OK);
        size_t g = device->info.vm_granularity_bytes;
        assert_int_equal(masu__device_reserve(device, 2 * PIECES * g, (void **)&base), MASU_OK);
        for (size_t i = 0; i < PIECES; i++) {
            assert_int_equal(masu__device_create(device, g, &pieces[i]), MASU_OK);
            assert_int_equal(masu__device_map(device, base + i * g, pieces[i]), MASU_OK);
            base[i * g] = base[i * g + g - 1] = (char)(i + 1);
        }
        char *to = base + PIECES * g;
        assert_int_equal(munmap(base + gone * g, g), 0);
        assert_int_equal(masu__device_remap(device, base, to, pieces, PIECES), MASU_ERR_DEVICE_FAILURE);
        assert_ptr_equal(
            mmap(base + gone * g, g, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            base + gone * g);
        for (size_t i = 0; i < PIECES; i++) {
            assert_int_equal(base[i * g], i == gone ? 0 : (int)i + 1);
            assert_int_equal(base[i * g + g - 1], i == gone ? 0 : (int)i + 1);
            assert_false(readable(to + i * g));
        }
        assert_int_equal(masu__device_remap(device, base, to, pieces, PIECES), MASU_OK);
        for (size_t i = 0; i < PIECES; i++) {
            assert_int_equal(to[i * g], i == gone ? 0 : (int)i + 1);
            assert_false(readable(base + i * g));
        }
        assert_int_equal(masu__device_unmap(device, to, pieces, PIECES), MASU_OK);
        for (size_t i = 0; i < PIECES; i++)
            assert_int_equal(masu__device_release(device, pieces[i]), MASU_OK);
        assert_int_equal(masu__device_unreserve(device, base, 2 * PIECES * g), MASU_OK);
        assert_int_equal(masu_device_destroy(device), MASU_OK);
    }
}

static size_t count_mappings(void) {
    FILE *file = fopen("/proc/self/maps", "r");
    size_t lines = 0;
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* Fresh pieces that lie side by side are one mapping of the kernel's. */
static void host_merges_neighbours(void **state) {
    (void)state;
    masu_device *device;
    masu__piece pieces[64];
    char *base;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    size_t g = device->info.vm_granularity_bytes;
    assert_int_equal(masu__device_reserve(device, 64 * g, (void **)&base), MASU_OK);
    size_t before = count_mappings();
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(masu__device_create(device, g, &pieces[i]), MASU_OK);
        assert_int_equal(masu__device_map(device, base + i * g, pieces[i]), MASU_OK);
    }
    assert_true(count_mappings() <= before + 4);
    assert_int_equal(masu__device_unmap(device, base, pieces, 64), MASU_OK);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(masu__device_release(device, pieces[i]), MASU_OK);
    assert_int_equal(masu__device_unreserve(device, base, 64 * g), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host),
        cmocka_unit_test(null),
        cmocka_unit_test(faulty),
        cmocka_unit_test(host_refuses_and_keeps_apart),
        cmocka_unit_test(host_tells_the_limit_of_mappings),
        cmocka_unit_test(host_moves_all_or_none),
        cmocka_unit_test(host_merges_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
