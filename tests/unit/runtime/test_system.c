/* test_system.c: what programs may ask about process, runtime, arguments and the device pool. */
#include "runtime_fixture.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

static void memory_is_the_kernels(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    int64_t before = tl_system_memory_bytes();
    assert_true(before > 100 * 1024);
    tl_tensor *t = NULL;
    assert_int_equal(tl__tensor_new(TL_BOOL, 1, (int64_t[]){16 << 20}, &t), MASU_OK);
    memset(t->data, 1, 16 << 20);
    assert_true(tl_system_memory_bytes() > before + (8 << 20));
    double mb = (double)tl_system_memory_mb(), bytes = (double)tl_system_memory_bytes();
    assert_true(mb > 0.5 * bytes / 1048576 && mb < 2 * bytes / 1048576);
    tl__tensor_drop(t);
    close_runtime(rt);
}

static void counts_follow_the_runtime(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_int_equal(tl_system_pool_count(), 0);
    tl_tensor *t = make_vector(25);
    tl_object *s = make_string("counted");
    int64_t waiting = tl_system_pool_count();
    assert_true(waiting > 0);
    assert_int_equal(tl_system_live_tensors(), 1);
    assert_int_equal(tl_system_live_bytes(), 100);
    assert_int_equal(tl_system_refcount_count(), 2);
    tl_mem_enter_scope();
    assert_int_equal(tl_system_scope_depth(), 1);
    tl_mem_exit_scope();
    tl__tensor_drop(t);
    tl__object_drop(s);
    assert_int_equal(tl_system_pool_count(), waiting + 1);
    assert_int_equal(tl_system_refcount_count(), 0);
    assert_int_equal(tl_system_live_bytes(), 0);
    assert_int_equal(tl_system_scope_depth(), 0);
    close_runtime(rt);
}

static void time_passes_and_sleep_waits(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    double start = tl_system_time();
    assert_true(start > 1.5e9); /* since 1970 */
    assert_true(start - (double)time(NULL) < 2.0 && start - (double)time(NULL) > -2.0);
    tl_system_sleep(0.02);
    double after = tl_system_time();
    assert_true(after - start >= 0.02);
    tl_system_sleep(0.0);
    tl_system_sleep(-5.0);
    tl_system_sleep(NAN);
    assert_true(tl_system_time() - after < 1.0);
    close_runtime(rt);
}

static void sleeping_shows_what_was_printed(void **state) {
    (void)state;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    tl_runtime *rt = open_runtime(&(tl_runtime_config){.out = file});
    tl_print_bytes((void *)"soon", 4);
    tl_system_sleep(1e-6);
    assert_int_equal(length, 4);
    close_runtime(rt);
    fclose(file);
    free(text);
}

static void arguments_are_handed_out_as_strings(void **state) {
    (void)state;
    static const char *const arguments[] = {"20000", ""};
    tl_runtime *rt = open_runtime(&(tl_runtime_config){.argument_count = 2, .arguments = arguments});
    assert_int_equal(tl_args_count(), 2);
    tl_object *first = tl_args_get(0), *second = tl_args_get(1);
    assert_int_equal(tl_string_to_i64(first), 20000);
    assert_int_equal(tl_string_len(second), 0);
    tl_ptr_release(first);
    tl_ptr_release(second);
    assert_null(tl_args_get(2));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "argument 2 was asked for, the program has 2");
    assert_null(tl_args_get(-1));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "argument -1");
    masu__fault_arm(1);
    assert_null(tl_args_get(0));
    masu__fault_arm(0);
    assert_raised(rt, MASU_ERR_OUT_OF_MEMORY, "out of memory");
    close_runtime(rt);
}

static void without_arguments_there_are_none(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_int_equal(tl_args_count(), 0);
    assert_null(tl_args_get(0));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "the program has 0");
    close_runtime(rt);
}

static void pool_statistics_are_real(void **state) {
    (void)state;
    char *text = NULL;
    size_t length = 0;
    FILE *log = open_memstream(&text, &length);
    tl_runtime *rt = open_runtime(&(tl_runtime_config){.log = log});
    assert_true(tl_get_gpu_pool_hit_rate() == 0.0);
    assert_int_equal(tl_get_gpu_total_allocated_bytes(), 0);
    for (int i = 0; i < 100; i++) {
        tl_tensor *t = make_vector(i % 10 == 9 ? 50000 : 10);
        tl__tensor_drop(t);
    }
    tl_tensor *kept = make_vector(25);
    assert_int_equal(tl_get_gpu_total_allocated_bytes(), 90 * 40 + 10 * 200000 + 100);
    assert_int_equal(tl_get_gpu_free_count(), 100);
    assert_int_equal(tl_get_gpu_free_bytes(), 90 * 40 + 10 * 200000);
    tl_report report;
    tl_runtime_get_report(rt, &report);
    double rate = (double)report.pool_hits / (double)(report.pool_hits + report.pool_misses);
    assert_true(tl_get_gpu_pool_hit_rate() == rate);
    assert_true(rate > 0.9 && rate <= 1.0);
    tl_dump_gpu_pool_stats();
    fflush(log);
    assert_non_null(strstr(text, "allocated   101 buffers, "));
    assert_non_null(strstr(text, "freed       100 buffers, "));
    assert_non_null(strstr(text, "live        1 buffers, 100 B\n"));
    assert_non_null(strstr(text, "hit rate    "));
    tl__tensor_drop(kept);
    close_runtime(rt);
    fclose(log);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_the_kernels),
        cmocka_unit_test(counts_follow_the_runtime),
        cmocka_unit_test(time_passes_and_sleep_waits),
        cmocka_unit_test(sleeping_shows_what_was_printed),
        cmocka_unit_test(arguments_are_handed_out_as_strings),
        cmocka_unit_test(without_arguments_there_are_none),
        cmocka_unit_test(pool_statistics_are_real),
    };
    return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
