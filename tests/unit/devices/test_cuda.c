/* The CUDA device, on the simulated driver (MASU_TEST_CUDA names another). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "devices/devices.h"
#include "fake_cuda/controls.h"

static masu_device *open_cuda(int ordinal) {
    masu_device *device;
    masu_cuda_config config = {.ordinal = ordinal, .library = fake_cuda()->path};
    assert_int_equal(masu_device_create_cuda(&config, &device), MASU_OK);
    return device;
}

static void close_cuda(masu_device *device) {
    fake_cuda_report report;
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
    if (!fake_cuda()->simulated)
        return;
    fake_cuda()->report(&report);
    if (report.misuses > 0)
        fail_msg("driver misused: %s", fake_cuda()->last_misuse());
    assert_int_equal(report.handles + report.mappings + report.reservations, 0);
    assert_int_equal(report.allocations + report.events, 0);
}

static void says_what_it_is(void **state) {
    (void)state;
    masu_device *device = open_cuda(0);
    assert_string_equal(device->info.name, "cuda");
    assert_int_equal(device->info.flags, MASU_DEVICE_STREAMS);
    assert_true(device->info.vm_granularity_bytes >= 4096);
    assert_true(device->info.memory_bytes > 0);
    close_cuda(device);
}

/* A driver may give the handle of a stream that is gone to the next one: its number tells them apart. */
static void streams_have_numbers(void **state) {
    (void)state;
    masu_device *device = open_cuda(0);
    uint64_t numbers[4];
    for (int i = 0; i < 4; i++) {
        void *stream;
        assert_int_equal(fake_cuda()->stream_create(&stream, 0), 0);
        numbers[i] = device->streams->id(device, stream);
        assert_int_equal(device->streams->id(device, stream), numbers[i]);
        assert_int_equal(fake_cuda()->stream_destroy(stream), 0);
        for (int k = 0; k < i; k++)
            assert_true(numbers[k] != numbers[i]);
    }
    close_cuda(device);
}

static void what_is_not_there(void **state) {
    (void)state;
    masu_device *device;
    masu_cuda_config config = {.library = "/nowhere/libcuda.so"};
    assert_int_equal(masu_device_create_cuda(&config, &device), MASU_ERR_UNSUPPORTED);
    config.library = "libm.so.6"; /* a library, but not that one */
    assert_int_equal(masu_device_create_cuda(&config, &device), MASU_ERR_UNSUPPORTED);
    config = (masu_cuda_config){.ordinal = 1000, .library = fake_cuda()->path};
    assert_int_equal(masu_device_create_cuda(&config, &device), MASU_ERR_INVALID_ARGUMENT);
    config.ordinal = -1;
    assert_int_equal(masu_device_create_cuda(&config, &device), MASU_ERR_INVALID_ARGUMENT);
    assert_null(device);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void put(masu_device *device, char *at, char value) {
    assert_int_equal(masu__device_copy(device, at, &value, 1), MASU_OK);
}

static char get(masu_device *device, const char *at) {
    char value = 0;
    assert_int_equal(masu__device_copy(device, &value, at, 1), MASU_OK);
    return value;
}

static void maps_moves_and_unmaps(void **state) {
    (void)state;
    masu_device *device = open_cuda(0);
    size_t g = device->info.vm_granularity_bytes;
    char *base;
    masu__piece pieces[3], rest;
    assert_int_equal(masu__device_reserve(device, 12 * g, (void **)&base), MASU_OK);
    size_t at = 0;
    for (size_t i = 0; i < 3; at += pieces[i++].bytes) {
        assert_int_equal(masu__device_create(device, (i + 1) * g, &pieces[i]), MASU_OK);
        assert_int_equal(masu__device_map(device, base + at, pieces[i]), MASU_OK);
    }
    assert_int_equal(masu__device_access(device, base, 6 * g), MASU_OK);
    for (size_t k = 0; k < 6; k++)
        put(device, base + k * g + k, (char)(k + 1));
    assert_int_equal(masu__device_split(device, &pieces[2], g, &rest), MASU_ERR_UNSUPPORTED);
    assert_int_equal(masu__device_remap(device, base, base + 6 * g, pieces, 3), MASU_OK);
    for (size_t k = 0; k < 6; k++)
        assert_int_equal(get(device, base + (6 + k) * g + k), k + 1);
    assert_int_equal(masu__device_wait(device), MASU_OK);
    assert_int_equal(masu__device_unmap(device, base + 6 * g, pieces, 3), MASU_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(masu__device_release(device, pieces[i]), MASU_OK);
    assert_int_equal(masu__device_unreserve(device, base, 12 * g), MASU_OK);
    void *plain;
    size_t bytes;
    assert_int_equal(masu__device_alloc(device, 1000, &plain, &bytes), MASU_OK);
    assert_int_equal(bytes, 1024);
    put(device, plain, 7);
    assert_int_equal(get(device, plain), 7);
    assert_int_equal(masu__device_free(device, plain, bytes), MASU_OK);
    close_cuda(device);
}

/* The thread's own choice of device is neither used nor changed. */
static void the_current_device_does_not_matter(void **state) {
    (void)state;
    if (!fake_cuda()->simulated) {
        print_message("skipped: needs two devices\n");
        skip();
    }
    masu_device *first = open_cuda(0), *second = open_cuda(1);
    void *a, *b;
    size_t bytes;
    fake_cuda()->set_context((void *)2);
    assert_int_equal(masu__device_alloc(first, 100, &a, &bytes), MASU_OK);
    assert_int_equal(masu__device_alloc(second, 100, &b, &bytes), MASU_OK);
    fake_cuda()->set_context((void *)0);
    assert_int_equal(masu__device_free(second, b, bytes), MASU_OK);
    assert_int_equal(masu__device_free(first, a, bytes), MASU_OK);
    assert_int_equal(masu_device_destroy(second), MASU_OK);
    close_cuda(first);
}

/* Work that is queued when a block is freed, moved or shrunk is done before its memory goes: also with
 * another device current. */
static void nothing_is_unmapped_under_work(void **state) {
    (void)state;
    if (!fake_cuda()->simulated) {
        print_message("skipped: only the simulated driver delays work on purpose\n");
        skip();
    }
    masu_device *device = open_cuda(0);
    size_t g = device->info.vm_granularity_bytes;
    char *base;
    void *stream;
    masu__piece piece;
    fake_cuda_report report;
    assert_int_equal(fake_cuda()->stream_create(&stream, 0), 0);
    assert_int_equal(masu__device_reserve(device, 2 * g, (void **)&base), MASU_OK);
    assert_int_equal(masu__device_create(device, g, &piece), MASU_OK);
    assert_int_equal(masu__device_map(device, base, piece), MASU_OK);
    assert_int_equal(masu__device_access(device, base, g), MASU_OK);
    assert_int_equal(fake_cuda()->fill((uintptr_t)base, 1, g, stream), 0);
    /* without waiting: the driver's double must notice, or the rest of this test says nothing */
    assert_int_equal(masu__device_remap(device, base, base + g, &piece, 1), MASU_OK);
    fake_cuda()->report(&report);
    assert_int_equal(report.unmapped_under_work, 1);
    assert_int_equal(masu__device_remap(device, base + g, base, &piece, 1), MASU_OK);
    fake_cuda()->forgive();
    fake_cuda()->set_context((void *)2);
    assert_int_equal(masu__device_wait(device), MASU_OK);
    assert_int_equal(masu__device_unmap(device, base, &piece, 1), MASU_OK);
    assert_int_equal(masu__device_release(device, piece), MASU_OK);
    assert_int_equal(masu__device_unreserve(device, base, 2 * g), MASU_OK);
    fake_cuda()->set_context((void *)0);
    fake_cuda()->stream_destroy(stream);
    close_cuda(device);
}

/* At the end of a process the driver is gone first: giving back succeeds. */
static void a_driver_that_is_gone_took_all_back(void **state) {
    (void)state;
    if (!fake_cuda()->simulated) {
        print_message("skipped: only the simulated driver leaves early\n");
        skip();
    }
    masu_device *device = open_cuda(0);
    masu__piece piece;
    assert_int_equal(masu__device_create(device, device->info.vm_granularity_bytes, &piece), MASU_OK);
    fake_cuda()->refuse(NULL, 1, 4, 1);
    assert_int_equal(masu__device_wait(device), MASU_OK);
    assert_int_equal(masu__device_release(device, piece), MASU_OK);
    fake_cuda()->refuse(NULL, 0, 0, 0);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_it_is),
        cmocka_unit_test(streams_have_numbers),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(maps_moves_and_unmaps),
        cmocka_unit_test(the_current_device_does_not_matter),
        cmocka_unit_test(nothing_is_unmapped_under_work),
        cmocka_unit_test(a_driver_that_is_gone_took_all_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
