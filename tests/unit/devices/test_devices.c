/* The devices: one contract, three kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/meta.h"
#include "devices/devices.h"

/* What every device must do, whatever it is. */
static void keeps_the_contract(masu_device *device) {
    masu_device_info info;
    masu_device_stats stats;
    masu_device_get_info(device, &info);
    void *blocks[5];
    size_t bytes[5], sum = 0;
    for (size_t i = 0; i < 5; i++) {
        size_t wanted = 1 + 100000 * i;
        assert_int_equal(masu__device_alloc(device, wanted, &blocks[i], &bytes[i]), MASU_OK);
        assert_true(bytes[i] >= wanted && bytes[i] - wanted < info.granularity_bytes);
        assert_int_equal(bytes[i] % info.granularity_bytes, 0);
        assert_int_equal((uintptr_t)blocks[i] % info.alignment_bytes, 0);
        for (size_t j = 0; j < i; j++)
            assert_true((uintptr_t)blocks[i] + bytes[i] <= (uintptr_t)blocks[j] ||
                        (uintptr_t)blocks[j] + bytes[j] <= (uintptr_t)blocks[i]);
        sum += bytes[i];
    }
    masu_device_get_stats(device, &stats);
    assert_int_equal(stats.alloc_calls, 5);
    assert_int_equal(stats.live_bytes, sum);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(masu__device_free(device, blocks[i], bytes[i]), MASU_OK);
    masu_device_get_stats(device, &stats);
    assert_int_equal(stats.free_calls, 5);
    assert_int_equal(stats.live_bytes, 0);
    assert_int_equal(stats.peak_bytes, sum);
    assert_int_equal(stats.allocated_bytes - stats.freed_bytes, stats.live_bytes);
    void *untouched = &stats;
    size_t none = 7;
    assert_int_equal(masu__device_alloc(device, SIZE_MAX, &untouched, &none), MASU_ERR_OVERFLOW);
    assert_ptr_equal(untouched, &stats);
    assert_int_equal(none, 7);
    masu_device_get_stats(device, &stats);
    assert_int_equal(stats.failed_calls, 1);
}

static void host(void **state) {
    (void)state;
    masu_device *device;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    keeps_the_contract(device);
    void *ptr;
    size_t bytes;
    assert_int_equal(masu__device_alloc(device, 10000, &ptr, &bytes), MASU_OK);
    unsigned char *memory = ptr;
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(memory[i], 0); /* MASU_DEVICE_ZEROED */
    memset(memory, 0xff, bytes);
    assert_int_equal(masu__device_free(device, ptr, bytes), MASU_OK);
    assert_int_equal(masu__device_alloc(device, SIZE_MAX / 2, &ptr, &bytes), MASU_ERR_OUT_OF_MEMORY);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void null(void **state) {
    (void)state;
    masu_device *device;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    assert_false(device->info.flags & MASU_DEVICE_HOST_ACCESS);
    keeps_the_contract(device);
    /* blocks follow each other, also terabytes of them */
    void *a, *b;
    size_t a_bytes, b_bytes;
    assert_int_equal(masu__device_alloc(device, (size_t)1 << 42, &a, &a_bytes), MASU_OK);
    assert_int_equal(masu__device_alloc(device, 1, &b, &b_bytes), MASU_OK);
    assert_true((uintptr_t)a + a_bytes == (uintptr_t)b);
    assert_int_equal(masu_device_destroy(device), MASU_ERR_LEAK);
}

static void null_respects_its_capacity(void **state) {
    (void)state;
    masu_device *device;
    void *a, *b;
    size_t bytes;
    assert_int_equal(masu_device_create_null(8192, &device), MASU_OK);
    assert_int_equal(masu__device_alloc(device, 8193, &a, &bytes), MASU_ERR_OUT_OF_MEMORY);
    assert_int_equal(masu__device_alloc(device, 4096, &a, &bytes), MASU_OK);
    assert_int_equal(masu__device_alloc(device, 4097, &b, &bytes), MASU_ERR_OUT_OF_MEMORY);
    assert_int_equal(masu__device_alloc(device, 4096, &b, &bytes), MASU_OK);
    assert_int_equal(masu__device_free(device, a, 4096), MASU_OK);
    assert_int_equal(masu__device_alloc(device, 4096, &a, &bytes), MASU_OK);
    assert_int_equal(masu__device_free(device, a, 4096), MASU_OK);
    assert_int_equal(masu__device_free(device, b, 4096), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void faulty(void **state) {
    (void)state;
    masu_device *inner, *device;
    void *ptr;
    size_t bytes;
    assert_int_equal(masu_device_create_host(&inner), MASU_OK);
    assert_int_equal(masu_device_create_faulty(inner, &device), MASU_OK);
    assert_int_equal(masu_device_fail_at(inner, 1, false), MASU_ERR_INVALID_ARGUMENT);
    assert_string_equal(device->info.name, "faulty");
    assert_int_equal(device->carries, inner->carries);
    keeps_the_contract(device);

    assert_int_equal(masu_device_fail_at(device, 2, false), MASU_OK);
    assert_int_equal(masu__device_alloc(device, 1, &ptr, &bytes), MASU_OK);
    assert_int_equal(masu__device_free(device, ptr, bytes), MASU_ERR_DEVICE_FAILURE);
    assert_int_equal(masu__device_free(device, ptr, bytes), MASU_OK);

    assert_int_equal(masu_device_fail_at(device, 1, true), MASU_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(masu__device_alloc(device, 1, &ptr, &bytes), MASU_ERR_DEVICE_FAILURE);
    assert_int_equal(masu_device_fail_at(device, 0, false), MASU_OK);
    assert_int_equal(masu__device_alloc(device, 1, &ptr, &bytes), MASU_OK);
    assert_int_equal(masu__device_free(device, ptr, bytes), MASU_OK);

    masu_device_stats seen, inside;
    masu_device_get_stats(device, &seen);
    masu_device_get_stats(inner, &inside);
    assert_int_equal(seen.alloc_calls, inside.alloc_calls);
    assert_int_equal(seen.free_calls, inside.free_calls);
    assert_int_equal(inside.failed_calls, 0); /* refused before the inner device was asked; an overflow too */
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    assert_int_equal(masu_device_destroy(inner), MASU_OK);
}

static void creation_fails_cleanly(void **state) {
    (void)state;
    masu_device *device = NULL, *host_device;
    assert_int_equal(masu_device_create_host(NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_device_create_faulty(NULL, &device), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_device_create_host(&host_device), MASU_OK);
    masu__fault_arm_repeat(1, true);
#define FAILS(call)                                  \
    device = host_device; /* or any other address */ \
    assert_int_equal(call, MASU_ERR_OUT_OF_MEMORY);  \
    assert_null(device)
    FAILS(masu_device_create_host(&device));
    FAILS(masu_device_create_null(0, &device));
    FAILS(masu_device_create_faulty(host_device, &device));
#undef FAILS
    masu__fault_arm(0);
    assert_int_equal(masu_device_destroy(host_device), MASU_OK);
    assert_int_equal(masu_device_destroy(NULL), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* Where a block goes back, the kernel may have to make two mappings of one, and may have no more: the device takes the
 * block all the same, without its pages, and unmaps it when it can. Without memory to note that it says so, and the
 * block stays. */
static void a_block_goes_back_without_a_mapping(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__)
    print_message("skipped: the thread sanitizer itself ends where no mapping can be made\n");
    skip();
#endif
    enum { BLOCK = 1 << 16, BLOCKS = 16 };
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    long most = 0;
    assert_true(file && fscanf(file, "%ld", &most) == 1);
    fclose(file);
    if (most > 200000) {
        print_message("skipped: vm.max_map_count is %ld: too many mappings to fill\n", most);
        skip();
    }
    masu_device *device;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    unsigned char *blocks[BLOCKS];
    size_t bytes, page = (size_t)sysconf(_SC_PAGESIZE), filler_bytes = (size_t)most * 2 * page;
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(masu__device_alloc(device, BLOCK, (void **)&blocks[i], &bytes), MASU_OK);
    int middle = -1; /* the kernel has put both neighbours into one mapping with it */
    for (int i = 1; i + 1 < BLOCKS; i++)
        if (blocks[i - 1] == blocks[i] + bytes && blocks[i + 1] + bytes == blocks[i])
            middle = i;
    memset(blocks[1], 1, bytes);
    char *filler = mmap(NULL, filler_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(filler != MAP_FAILED);
    for (long i = 0; i < most; i++)
        if (mprotect(filler + 2 * (size_t)i * page, page, PROT_READ) != 0)
            break;
    masu_status first = MASU_OK, second = MASU_OK;
    unsigned char there = 1, pages[BLOCK / 4096];
    if (middle > 0) {
        masu__fault_arm(1);
        first = masu__device_free(device, blocks[middle], bytes);
        masu__fault_arm(0);
        blocks[middle][0] = 1;
        second = masu__device_free(device, blocks[middle], bytes);
        if (second == MASU_OK)
            there = blocks[middle][0]; /* zero, or a fault if it were gone */
    }
    munmap(filler, filler_bytes);
    if (middle < 0) {
        print_message("skipped: no three blocks in one mapping\n");
        skip();
    }
    assert_int_equal(first, MASU_ERR_DEVICE_FAILURE);
    assert_int_equal(second, MASU_OK);
    assert_int_equal(there, 0);
    for (int i = 0; i < BLOCKS; i++)
        if (i != middle)
            assert_int_equal(masu__device_free(device, blocks[i], bytes), MASU_OK);
    assert_int_equal(mincore(blocks[middle], bytes, pages), -1); /* unmapped since */
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host),
        cmocka_unit_test(null),
        cmocka_unit_test(null_respects_its_capacity),
        cmocka_unit_test(faulty),
        cmocka_unit_test(creation_fails_cleanly),
        cmocka_unit_test(a_block_goes_back_without_a_mapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
