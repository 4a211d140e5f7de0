/* test_memory.c: function frames, their slots and buffers, the limits of recursion, unwinding. */
#include "runtime_fixture.h"

#include <pthread.h>

static void frames_nest_and_count(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *outer = tl_mem_function_enter(2);
    tl_frame *inner = tl_mem_function_enter(0);
    assert_ptr_equal(inner->parent, outer);
    assert_null(outer->parent);
    assert_int_equal(outer->slot_count, 2);
    assert_int_equal(outer->site, 0);
    assert_null(outer->slots[0]);
    assert_null(outer->slots[1]);
    assert_int_equal(rt->frame_depth, 2);
    assert_true(tl_runtime_valid(rt));
    tl_mem_function_exit(inner);
    tl_mem_function_exit(outer);
    assert_int_equal(rt->frame_depth, 0);
    assert_int_equal(rt->frame_depth_peak, 2);
    close_runtime(rt);
}

static void slots_are_clear_again_in_a_reused_frame(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *first = tl_mem_function_enter(3);
    first->slots[1] = make_vector(4);
    first->site = 7;
    tl_mem_function_exit(first);
    assert_nothing_left(rt);
    tl_frame *second = tl_mem_function_enter(3);
    assert_ptr_equal(first, second);
    for (int i = 0; i < 3; i++)
        assert_null(second->slots[i]);
    assert_int_equal(second->site, 0);
    tl_mem_function_exit(second);
    close_runtime(rt);
}

static void leaving_releases_slots_of_every_kind(void **state) {
    (void)state;
    static const tl_record plan = {1, 0, NULL, 0};
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = tl_mem_function_enter(3);
    frame->slots[0] = make_vector(8);
    frame->slots[1] = make_string("kept by a slot");
    frame->slots[2] = tl_vec_new((void *)&plan);
    assert_int_equal(rt->live_objects, 2);
    tl_mem_function_exit(frame);
    assert_int_equal(rt->release_ops, 0);
    close_runtime(rt);
}

static void leaving_an_outer_frame_leaves_the_inner_ones_too(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *outer = tl_mem_function_enter(1);
    tl_frame *inner = tl_mem_function_enter(1);
    outer->slots[0] = make_vector(1);
    inner->slots[0] = make_vector(1);
    tl_mem_function_exit(outer);
    close_runtime(rt);
}

static void leaving_nothing_does_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = tl_mem_function_enter(1);
    tl_mem_function_exit(NULL);
    assert_int_equal(rt->frame_depth, 1);
    tl_mem_function_exit(frame);
    close_runtime(rt);
}

static void impossible_slot_counts_are_refused(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_null(tl_mem_function_enter(-1));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "-1 slots");
    assert_null(tl_mem_function_enter(INT64_MAX));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "slots");
    close_runtime(rt);
}

/* ---- buffers ------------------------------------------------------------------------------------------------ */

static void a_buffer_stays_until_it_must_grow(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = tl_mem_function_enter(2);
    char *small = tl_mem_get_buffer(1, 100);
    assert_non_null(small);
    memset(small, 1, 100);
    assert_ptr_equal(tl_mem_get_buffer(1, 40), small);
    char *other = tl_mem_get_buffer(0, 100);
    assert_ptr_not_equal(other, small);
    char *large = tl_mem_get_buffer(1, 100000);
    memset(large, 2, 100000);
    assert_ptr_equal(tl_mem_get_buffer(1, 100), large);
    assert_ptr_equal(tl_mem_get_buffer(0, 100), other);
    assert_true(tl_runtime_valid(rt));
    tl_mem_function_exit(frame);
    close_runtime(rt);
}

static void a_buffer_of_nothing_is_null(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = tl_mem_function_enter(1);
    assert_null(tl_mem_get_buffer(0, 0));
    assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
    tl_mem_function_exit(frame);
    close_runtime(rt);
}

static void wrong_buffers_are_refused(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_null(tl_mem_get_buffer(0, 8));
    assert_raised(rt, MASU_ERR_NO_FRAME, "no function frame");
    tl_frame *frame = tl_mem_function_enter(2);
    assert_null(tl_mem_get_buffer(2, 8));
    assert_raised(rt, MASU_ERR_SLOT_OUT_OF_RANGE, "slot 2 is out of range: the frame has 2");
    assert_null(tl_mem_get_buffer(-1, 8));
    assert_raised(rt, MASU_ERR_SLOT_OUT_OF_RANGE, "slot -1");
    assert_null(tl_mem_get_buffer(0, -8));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "-8 bytes");
    assert_null(tl_mem_get_buffer(0, INT64_MAX));
    assert_int_not_equal(tl_runtime_error(rt)->status, MASU_OK);
    tl_runtime_clear_error(rt);
    tl_mem_function_exit(frame);
    close_runtime(rt);
}

static void a_buffer_that_cannot_grow_is_as_it_was(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = tl_mem_function_enter(1);
    char *buffer = tl_mem_get_buffer(0, 64);
    memset(buffer, 3, 64);
    masu__fault_arm(1);
    assert_null(tl_mem_get_buffer(0, 4096));
    masu__fault_arm(0);
    assert_raised(rt, MASU_ERR_OUT_OF_MEMORY, "4096 bytes");
    assert_ptr_equal(tl_mem_get_buffer(0, 64), buffer);
    assert_int_equal(buffer[63], 3);
    tl_mem_function_exit(frame);
    close_runtime(rt);
}

/* ---- recursion ------------------------------------------------------------------------------------------------ */

static void recurse_for_ever(void) {
    tl_frame *frame = tl_mem_function_enter(4);
    if (!frame)
        return;
    frame->site = 11;
    if (tl__current->frame_depth % 16 == 0)
        frame->slots[2] = make_vector(3);
    recurse_for_ever();
    tl_mem_function_exit(frame);
}

static int64_t wanted_depth;

static void recurse(int64_t depth) {
    tl_frame *frame = tl_mem_function_enter(1);
    frame->slots[0] = make_vector(2);
    if (depth > 1)
        recurse(depth - 1);
    tl_mem_function_exit(frame);
}

static void recurse_to_wanted_depth(void) {
    recurse(wanted_depth);
}

static void deep_recursion_with_a_tensor_a_frame_is_fine(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    wanted_depth = DEEP / 10;
    assert_int_equal(tl_runtime_run(rt, recurse_to_wanted_depth, NULL), MASU_OK);
    assert_int_equal(rt->frame_depth_peak, DEEP / 10);
    close_runtime(rt);
}

static void a_full_arena_is_an_error(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(&(tl_runtime_config){.frame_arena_bytes = 16384});
    tl_error error;
    assert_int_equal(tl_runtime_run(rt, recurse_for_ever, &error), MASU_ERR_STACK_OVERFLOW);
    assert_string_equal(error.text, "stack overflow: 136 frames deep"); /* 16384 / (88 + 4 * 8) */
    assert_int_equal(error.site_count, TL_ERROR_FRAMES);
    assert_int_equal(error.frames_omitted, 136 - TL_ERROR_FRAMES);
    assert_int_equal(error.sites[0], 11);
    close_runtime(rt);
}

static void *recurse_on_this_thread(void *out) {
    tl_runtime *rt = open_runtime(&(tl_runtime_config){.frame_arena_bytes = (size_t)1 << 30});
    tl_error *error = out;
    tl_runtime_run(rt, recurse_for_ever, error);
    close_runtime(rt);
    return NULL;
}

/* The arena has room for millions of frames; the thread's own stack ends first, whatever its size. */
static void a_native_stack_nearly_used_up_is_an_error(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__) /* its frames are several times as large */
    enum { STACK_FACTOR = 8 };
#else
    enum { STACK_FACTOR = 1 };
#endif
    static const size_t sizes[] = {STACK_FACTOR * 256 * 1024, STACK_FACTOR * 1024 * 1024};
    for (size_t i = 0; i < 2; i++) {
        pthread_attr_t attributes;
        pthread_t thread;
        tl_error error = {.status = MASU_OK};
        assert_int_equal(pthread_attr_init(&attributes), 0);
        assert_int_equal(pthread_attr_setstacksize(&attributes, sizes[i]), 0);
        assert_int_equal(pthread_create(&thread, &attributes, recurse_on_this_thread, &error), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        pthread_attr_destroy(&attributes);
        assert_int_equal(error.status, MASU_ERR_STACK_OVERFLOW);
        uint64_t deep = strtoull(error.text + strlen("stack overflow: "), NULL, 10);
        assert_true(deep > TL_ERROR_FRAMES);
        assert_int_equal(error.frames_omitted, deep - TL_ERROR_FRAMES);
    }
}

/* ---- unwinding ------------------------------------------------------------------------------------------------ */

static void raise_three_deep(void) {
    tl_frame *outer = tl_mem_function_enter(2);
    outer->slots[0] = make_vector(10);
    outer->site = 1;
    tl_mem_enter_scope();
    tl_mem_register_tensor(make_vector(20));
    tl_frame *middle = tl_mem_function_enter(1);
    middle->site = 2;
    tl_mem_get_buffer(0, 5000);
    tl_mem_register_struct(make_string("registered without a scope"));
    tl_frame *inner = tl_mem_function_enter(1);
    inner->slots[0] = make_string("inner");
    inner->site = 3;
    tl_grad_loop_enter();
    tl_grad_loop_enter();
    tl_mem_enter_scope();
    tl_mem_enter_scope();
    tl_raise_index(9, 5);
}

static void unwinding_restores_everything(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_mem_enter_scope();
    tl_frame *mine = tl_mem_function_enter(1);
    mine->slots[0] = make_vector(1);
    tl_error error;
    for (int round = 0; round < 50; round++) {
        assert_int_equal(tl_runtime_run(rt, raise_three_deep, &error), MASU_ERR_INDEX_OUT_OF_RANGE);
        assert_ptr_equal(rt->frame, mine);
        assert_int_equal(rt->frame_depth, 1);
        assert_int_equal(rt->scope_depth, 1);
        assert_int_equal(rt->registered, 0);
        assert_int_equal(rt->grad_depth, 0);
        assert_int_equal(rt->tensors.live, 1);
        assert_true(tl_runtime_valid(rt));
    }
    assert_int_equal(error.site_count, 3);
    assert_int_equal(error.sites[0], 3);
    assert_int_equal(error.sites[2], 1);
    assert_non_null(mine->slots[0]);
    tl_mem_function_exit(mine);
    tl_mem_exit_scope();
    close_runtime(rt);
}

static void return_with_everything_open(void) {
    tl_frame *frame = tl_mem_function_enter(1);
    frame->slots[0] = make_vector(3);
    tl_mem_enter_scope();
    tl_mem_register_tensor(make_vector(3));
    tl_grad_loop_enter();
}

static void a_run_that_returns_is_unwound_too(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_int_equal(tl_runtime_run(rt, return_with_everything_open, NULL), MASU_OK);
    assert_int_equal(rt->grad_depth, 0);
    close_runtime(rt);
}

static void raise_outside_any_function(void) {
    tl_mem_enter_scope();
    tl_mem_register_tensor(make_vector(2));
    tl_grad_loop_enter();
    tl_raise_divide();
}

static void unwinding_stops_at_what_was_open_before(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_mem_enter_scope();
    tl_mem_register_tensor(make_vector(1));
    tl_grad_loop_enter();
    tl_grad_loop_enter();
    assert_int_equal(tl_runtime_run(rt, raise_outside_any_function, NULL), MASU_ERR_DIVISION_BY_ZERO);
    assert_int_equal(rt->scope_depth, 1);
    assert_int_equal(rt->registered, 1);
    assert_int_equal(rt->tensors.live, 1);
    assert_int_equal(rt->grad_depth, 2);
    tl_grad_loop_exit();
    tl_grad_loop_exit();
    tl_mem_exit_scope();
    close_runtime(rt);
}

static void allocate_in_frames(void) {
    tl_frame *outer = tl_mem_function_enter(2);
    tl_mem_get_buffer(0, 100);
    tl_mem_get_buffer(0, 70000);
    tl_frame *inner = tl_mem_function_enter(1);
    tl_mem_get_buffer(0, 3000);
    inner->slots[0] = tl_string_literal((void *)"text", 4);
    for (int i = 0; i < 40; i++) {
        tl_mem_enter_scope();
        tl_object *s = tl_string_literal((void *)"text", 4);
        tl_mem_register_struct(s);
    }
    tl_mem_function_exit(inner);
    tl_mem_function_exit(outer);
}

static void every_failing_request_unwinds(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_true(sweep_failures(rt, allocate_in_frames) > 44);
    close_runtime(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_nest_and_count),
        cmocka_unit_test(slots_are_clear_again_in_a_reused_frame),
        cmocka_unit_test(leaving_releases_slots_of_every_kind),
        cmocka_unit_test(leaving_an_outer_frame_leaves_the_inner_ones_too),
        cmocka_unit_test(leaving_nothing_does_nothing),
        cmocka_unit_test(impossible_slot_counts_are_refused),
        cmocka_unit_test(a_buffer_stays_until_it_must_grow),
        cmocka_unit_test(a_buffer_of_nothing_is_null),
        cmocka_unit_test(wrong_buffers_are_refused),
        cmocka_unit_test(a_buffer_that_cannot_grow_is_as_it_was),
        cmocka_unit_test(deep_recursion_with_a_tensor_a_frame_is_fine),
        cmocka_unit_test(a_full_arena_is_an_error),
        cmocka_unit_test(a_native_stack_nearly_used_up_is_an_error),
        cmocka_unit_test(unwinding_restores_everything),
        cmocka_unit_test(a_run_that_returns_is_unwound_too),
        cmocka_unit_test(unwinding_stops_at_what_was_open_before),
        cmocka_unit_test(every_failing_request_unwinds),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
