/* test_preallocate.c: TL_GPU_PREALLOCATE_MB, the persistent policy behind it, and that the five
 * questions about the device pool are answered from its counters. */
#include "runtime_fixture.h"

#include <stdio.h>

enum { MIB = 1 << 20, KEPT = 48 };

static tl_runtime *open_with(const char *value, masu_device *device, FILE *log) {
    if (value)
        setenv("TL_GPU_PREALLOCATE_MB", value, 1);
    tl_runtime *rt = open_runtime(&(tl_runtime_config){.device = device, .log = log});
    unsetenv("TL_GPU_PREALLOCATE_MB");
    return rt;
}

static masu_device_stats calls_of(const masu_device *device) {
    masu_device_stats s;
    masu_device_get_stats(device, &s);
    return s;
}

static void train(int steps) {
    for (int i = 0; i < steps; i++) {
        tl_tensor *a = make_vector(5 * MIB / 4), *b = make_vector(300), *c = make_vector(MIB);
        tl__tensor_drop(a);
        tl__tensor_drop(c);
        tl__tensor_drop(b);
    }
}

static void so_much_is_taken_at_once_and_kept(void **state) {
    (void)state;
    masu_device *device;
    masu_heap_stats stats;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    tl_runtime *rt = open_with("48", device, NULL);
    assert_int_equal(calls_of(device).alloc_calls, 1);
    assert_int_equal(calls_of(device).live_bytes, (uint64_t)KEPT * MIB);
    train(100);
    assert_int_equal(calls_of(device).alloc_calls, 1); /* all of it was served from there */
    assert_true(tl_get_gpu_pool_hit_rate() == 1.0);
    assert_int_equal(masu_heap_trim(rt->payload, 0), MASU_OK);
    masu_heap_get_stats(rt->payload, &stats);
    assert_int_equal(stats.reserved_bytes, (uint64_t)KEPT * MIB);
    /* more than that comes from the device as ever, and stays too */
    tl_tensor *large = make_vector(20 * MIB);
    tl__tensor_drop(large);
    assert_int_equal(masu_heap_trim(rt->payload, 0), MASU_OK);
    assert_true(calls_of(device).live_bytes >= (uint64_t)(KEPT + 80) * MIB);
    assert_int_equal(calls_of(device).free_calls, 0);
    close_runtime(rt);
    assert_int_equal(calls_of(device).live_bytes, 0); /* the end of the runtime is the end of it */
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void without_it_the_device_is_asked_when_needed(void **state) {
    (void)state;
    static const char *const nothing[] = {NULL, "", "0"};
    for (size_t i = 0; i < 3; i++) {
        masu_device *device;
        assert_int_equal(masu_device_create_host(&device), MASU_OK);
        tl_runtime *rt = open_with(nothing[i], device, NULL);
        uint64_t calls = calls_of(device).alloc_calls;
        assert_true(calls_of(device).live_bytes < KEPT * MIB); /* a unit for small tensors */
        train(1);
        assert_true(calls_of(device).alloc_calls > calls);
        assert_int_equal(masu_heap_trim(rt->payload, 0), MASU_OK);
        assert_int_equal(calls_of(device).live_bytes, 0);
        close_runtime(rt);
        assert_int_equal(masu_device_destroy(device), MASU_OK);
    }
}

static void nonsense_is_told_once_and_passed_over(void **state) {
    (void)state;
    static const char *const nonsense[] = {"lots",          "-1", "12x", " 5", "1e3", "0x10", "99999999999999999999999",
                                           "17592186044416"};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        char *text = NULL;
        size_t length = 0;
        FILE *log = open_memstream(&text, &length);
        masu_device *device;
        assert_int_equal(masu_device_create_host(&device), MASU_OK);
        tl_runtime *rt = open_with(nonsense[i], device, log);
        train(3);
        fflush(log);
        const char *told = strstr(text, "TL_GPU_PREALLOCATE_MB");
        assert_non_null(told);
        assert_null(strstr(told + 1, "TL_GPU_PREALLOCATE_MB"));
        assert_int_equal(masu_heap_trim(rt->payload, 0), MASU_OK);
        assert_int_equal(calls_of(device).live_bytes, 0);
        close_runtime(rt);
        fclose(log);
        free(text);
        assert_int_equal(masu_device_destroy(device), MASU_OK);
    }
}

static void more_than_the_device_has_is_a_status(void **state) {
    (void)state;
    tl_runtime *rt = NULL;
    setenv("TL_GPU_PREALLOCATE_MB", "17592186044415", 1); /* the last number of MiB there is */
    masu_status status = tl_runtime_create(NULL, &rt);
    unsetenv("TL_GPU_PREALLOCATE_MB");
    assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
    assert_null(rt);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* Each answer moves with the heap's own counter, and by exactly as much as was done. */
static void the_five_questions_follow_the_counters(void **state) {
    (void)state;
    char *text = NULL;
    size_t length = 0;
    FILE *log = open_memstream(&text, &length);
    tl_runtime *rt = open_with("16", NULL, log);
    int64_t allocated = 0, freed = 0, frees = 0;
    tl_tensor *kept[20];
    for (int i = 0; i < 20; i++) {
        kept[i] = make_vector(1000 * (i + 1));
        allocated += 4000 * (i + 1);
        assert_int_equal(tl_get_gpu_total_allocated_bytes(), allocated);
    }
    for (int i = 0; i < 20; i += 2) {
        tl__tensor_drop(kept[i]);
        freed += 4000 * (i + 1);
        frees++;
        assert_int_equal(tl_get_gpu_free_bytes(), freed);
        assert_int_equal(tl_get_gpu_free_count(), frees);
    }
    masu_heap_stats s;
    masu_heap_get_stats(rt->payload, &s);
    assert_int_equal(s.frees, frees);
    assert_int_equal(s.live_bytes, allocated - freed);
    assert_true(tl_get_gpu_pool_hit_rate() == (double)s.hits / (double)(s.hits + s.misses));
    tl_tensor *beyond = make_vector(8 * MIB); /* 32 MiB are not there: a miss, so the rate falls */
    double before = (double)s.hits / (double)(s.hits + s.misses);
    assert_true(tl_get_gpu_pool_hit_rate() < before);
    tl_dump_gpu_pool_stats();
    fflush(log);
    char line[64];
    snprintf(line, sizeof line, "allocated   %d buffers, ", 21);
    assert_non_null(strstr(text, line));
    snprintf(line, sizeof line, "freed       %d buffers, ", (int)frees);
    assert_non_null(strstr(text, line));
    assert_non_null(strstr(text, "reserved    2 device blocks, "));
    tl__tensor_drop(beyond);
    for (int i = 1; i < 20; i += 2)
        tl__tensor_drop(kept[i]);
    close_runtime(rt);
    fclose(log);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_much_is_taken_at_once_and_kept),
        cmocka_unit_test(without_it_the_device_is_asked_when_needed),
        cmocka_unit_test(nonsense_is_told_once_and_passed_over),
        cmocka_unit_test(more_than_the_device_has_is_a_status),
        cmocka_unit_test(the_five_questions_follow_the_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
