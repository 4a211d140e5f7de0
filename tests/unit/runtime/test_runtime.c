/* test_runtime.c: making and destroying runtimes, the devices under them, several in several threads. */
#include "runtime_fixture.h"

#include <pthread.h>

static void create_gives_all_or_nothing(void **state) {
    (void)state;
    uint64_t blocks = masu__meta_live_blocks(), failures = 0;
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
        tl_runtime *rt = (tl_runtime *)&failures;
        masu__fault_arm(nth);
        masu_status status = tl_runtime_create(NULL, &rt);
        fired = masu__fault_fired();
        masu__fault_arm(0);
        if (status == MASU_OK) {
            assert_true(tl_runtime_valid(rt));
            tl_runtime_destroy(rt);
        } else {
            assert_true(fired);
            assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
            assert_null(rt);
            failures++;
        }
        assert_int_equal(masu__meta_live_blocks(), blocks);
    }
    assert_true(failures >= 4); /* the runtime, two heaps, the arena */
    tl_runtime_destroy(NULL);
}

static void bad_arguments_of_create(void **state) {
    (void)state;
    tl_runtime *rt = NULL;
    assert_int_equal(tl_runtime_create(NULL, NULL), MASU_ERR_INVALID_ARGUMENT);
    tl_runtime_config config = {.frame_arena_bytes = SIZE_MAX};
    assert_int_equal(tl_runtime_create(&config, &rt), MASU_ERR_OVERFLOW);
    assert_null(rt);
    config.frame_arena_bytes = SIZE_MAX / 2;
    assert_int_equal(tl_runtime_create(&config, &rt), MASU_ERR_OUT_OF_MEMORY);
    assert_null(rt);
}

static void a_device_that_cannot_be_reached_is_refused(void **state) {
    (void)state;
    masu_device *null_device = NULL;
    tl_runtime *rt = NULL;
    assert_int_equal(masu_device_create_null(0, &null_device), MASU_OK);
    tl_runtime_config config = {.device = null_device};
    assert_int_equal(tl_runtime_create(&config, &rt), MASU_ERR_UNSUPPORTED);
    assert_null(rt);
    assert_int_equal(masu_device_destroy(null_device), MASU_OK);
}

static void payloads_come_from_the_given_device(void **state) {
    (void)state;
    masu_device *host = NULL, *faulty = NULL;
    masu_device_stats stats;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    assert_int_equal(masu_device_create_faulty(host, &faulty), MASU_OK);
    tl_runtime *rt = open_runtime(&(tl_runtime_config){.device = faulty});
    tl_tensor *t = make_vector(3000000);
    masu_device_get_stats(host, &stats);
    assert_true(stats.live_bytes >= 12000000);
    tl_tensor *second = NULL;
    assert_int_equal(masu_device_fail_at(faulty, 1, true), MASU_OK);
    masu_status status = tl__tensor_new(TL_F32, 1, (int64_t[]){300000000}, &second);
    assert_int_not_equal(status, MASU_OK);
    tl__raise();
    assert_raised(rt, status, "tensor data needs 1200000000 bytes");
    assert_int_equal(masu_device_fail_at(faulty, 0, false), MASU_OK);
    tl__tensor_drop(t);
    close_runtime(rt);
    masu_device_get_stats(host, &stats);
    assert_int_equal(stats.live_bytes, 0);
    assert_int_equal(masu_device_destroy(faulty), MASU_OK);
    assert_int_equal(masu_device_destroy(host), MASU_OK);
}

static void entering_nests_and_restores(void **state) {
    (void)state;
    tl_runtime *first = NULL, *second = NULL;
    assert_int_equal(tl_runtime_create(NULL, &first), MASU_OK);
    assert_int_equal(tl_runtime_create(NULL, &second), MASU_OK);
    tl_runtime_enter(first);
    tl_runtime_enter(first);
    tl_tensor *mine = make_vector(1);
    tl_runtime_enter(second);
    assert_ptr_equal(tl__current, second);
    tl_tensor *other = make_vector(2);
    assert_int_equal(first->tensors.live, 1);
    assert_int_equal(second->tensors.live, 1);
    tl__tensor_drop(other);
    tl_runtime_leave(second);
    assert_ptr_equal(tl__current, first);
    tl_runtime_leave(first);
    assert_ptr_equal(tl__current, first);
    tl__tensor_drop(mine);
    tl_runtime_leave(first);
    assert_null(tl__current);
    tl_runtime_destroy(first);
    tl_runtime_destroy(second);
}

static void the_same_seed_gives_the_same_numbers(void **state) {
    (void)state;
    tl_runtime *a = NULL, *b = NULL, *c = NULL;
    tl_runtime_config config = {.seed = 42};
    assert_int_equal(tl_runtime_create(&config, &a), MASU_OK);
    assert_int_equal(tl_runtime_create(&config, &b), MASU_OK);
    config.seed = 43;
    assert_int_equal(tl_runtime_create(&config, &c), MASU_OK);
    uint64_t first = masu__rng_next(&a->rng);
    assert_true(first == masu__rng_next(&b->rng));
    assert_true(first != masu__rng_next(&c->rng));
    tl_runtime_destroy(a);
    tl_runtime_destroy(b);
    tl_runtime_destroy(c);
}

/* The arena of a small program touches a page or two of its 16 MiB. */
static void an_idle_runtime_costs_little(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__) /* up to eight bytes of shadow for a byte are resident, too */
    enum { MANY = 16, MOST = 9 * 512 * 1024 };
#else
    enum { MANY = 16, MOST = 512 * 1024 };
#endif
    tl_runtime *all[MANY];
    uint64_t before = tl__process_memory().rss_anon_bytes;
    for (int i = 0; i < MANY; i++) {
        all[i] = open_runtime(NULL);
        tl_mem_function_exit(tl_mem_function_enter(10));
        tl_tensor *t = make_vector(1);
        tl__tensor_drop(t);
    }
    uint64_t after = tl__process_memory().rss_anon_bytes;
    for (int i = MANY; i-- > 0;)
        close_runtime(all[i]);
    assert_true(after - before < (uint64_t)MANY * MOST);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { ROUNDS = DEEP / 50 };

static _Thread_local int rounds_done;

static void work(void) {
    tl_frame *frame = tl_mem_function_enter(2);
    for (int i = 0; i < ROUNDS; i++) {
        tl_ptr_release(frame->slots[0]);
        frame->slots[0] = NULL;
        frame->slots[0] = make_vector(1 + i % 100);
        tl_mem_enter_scope();
        tl_mem_register_struct(make_string("thread"));
        tl_mem_exit_scope();
    }
    if (++rounds_done % 2)
        tl_raise_divide();
    tl_mem_function_exit(frame);
}

static void *run_in_thread(void *passed) {
    bool *passed_here = passed;
    tl_runtime *rt = NULL;
    if (tl_runtime_create(NULL, &rt) != MASU_OK)
        return NULL;
    bool fine = true;
    for (int i = 0; i < 10; i++) {
        tl_error error;
        masu_status status = tl_runtime_run(rt, work, &error);
        fine = fine && status == (i % 2 ? MASU_OK : MASU_ERR_DIVISION_BY_ZERO) && rt->tensors.live == 0;
    }
    tl_report report;
    tl_runtime_get_report(rt, &report);
    fine = fine && report.allocations == 10 * ROUNDS && report.frees == 10 * ROUNDS && tl_runtime_valid(rt);
    tl_runtime_destroy(rt);
    *passed_here = fine;
    return NULL;
}

static void runtimes_of_several_threads_do_not_meet(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    bool passed[THREADS] = {false};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_in_thread, &passed[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(passed[i]);
    }
}

static tl_tensor *carried;

static void *take_over(void *runtime) {
    tl_runtime_enter(runtime);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool fine = ((tl_runtime *)runtime)->stack_limit < here && ((tl_runtime *)runtime)->stack_limit > here - (16 << 20);
    tl__tensor_drop(carried);
    carried = make_vector(20);
    tl_runtime_leave(runtime);
    return fine ? runtime : NULL;
}

/* Each thread has a stack of its own; everything else goes along. */
static void a_runtime_may_move_between_threads(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    carried = make_vector(10);
    tl_runtime_leave(rt);
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, take_over, rt), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, rt);
    tl_runtime_enter(rt);
    assert_int_equal(carried->elements, 20);
    tl__tensor_drop(carried);
    close_runtime(rt);
}

static void the_check_sees_wrong_totals(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = make_vector(1);
    tl_frame *frame = tl_mem_function_enter(1);
    assert_true(tl_runtime_valid(rt));
    rt->frame_depth++;
    assert_false(tl_runtime_valid(rt));
    rt->frame_depth--;
    rt->allocated_bytes += 4;
    rt->live_bytes += 4;
    assert_false(tl_runtime_valid(rt)); /* agrees with itself, but not with the heap */
    rt->allocated_bytes -= 4;
    rt->live_bytes -= 4;
    rt->metadata_live_bytes += 8;
    assert_false(tl_runtime_valid(rt));
    rt->metadata_live_bytes -= 8;
    frame->slot_count = 2;
    assert_false(tl_runtime_valid(rt));
    frame->slot_count = 1;
    tl_object dead = {.count = 0};
    frame->slots[0] = &dead;
    assert_false(tl_runtime_valid(rt));
    frame->slots[0] = NULL;
    assert_true(tl_runtime_valid(rt));
    tl_mem_function_exit(frame);
    tl__tensor_drop(t);
    close_runtime(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_gives_all_or_nothing),
        cmocka_unit_test(bad_arguments_of_create),
        cmocka_unit_test(a_device_that_cannot_be_reached_is_refused),
        cmocka_unit_test(payloads_come_from_the_given_device),
        cmocka_unit_test(entering_nests_and_restores),
        cmocka_unit_test(the_same_seed_gives_the_same_numbers),
        cmocka_unit_test(an_idle_runtime_costs_little),
        cmocka_unit_test(runtimes_of_several_threads_do_not_meet),
        cmocka_unit_test(a_runtime_may_move_between_threads),
        cmocka_unit_test(the_check_sees_wrong_totals),
    };
    return cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
}
