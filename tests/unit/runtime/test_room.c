/* Tensors in a function's frame, and results over an operand: what compiled code says before an operation, and what
 * the runtime makes of it. */
#include "runtime_fixture.h"

static const int64_t four[] = {4};

static tl_frame *enter(int64_t slots, int64_t bytes) {
    return tl_mem_function_enter_room(slots, bytes, 0, NULL);
}

static tl_tensor *made_at(tl_frame *frame, size_t at, uint32_t bytes) {
    frame->place = (char *)frame->room + at;
    frame->place_bytes = bytes;
    tl_tensor *t = tl_tensor_ones(1, four, false);
    frame->place_bytes = 0;
    return t;
}

static void a_tensor_lies_where_it_was_told_to(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = enter(3, 192);
    assert_int_equal((uintptr_t)frame->room % 64, 0);
    tl_tensor *t = made_at(frame, 64, 16);
    assert_ptr_equal(t->data, (char *)frame->room + 64);
    assert_true(tl_runtime_valid(rt));
    tl_report report;
    tl_runtime_get_report(rt, &report);
    assert_int_equal(report.allocations, 0);
    assert_int_equal(report.live_bytes, 0);
    assert_int_equal(report.placed, 1);
    assert_int_equal(report.frame_bytes_peak, 192);
    tl_tensor_release_safe(t);
    tl_mem_function_exit(frame);
    tl_runtime_get_report(rt, &report);
    assert_int_equal(report.live_tensors, 0);
    close_runtime(rt);
}

static void another_size_goes_to_the_pool(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = enter(0, 64);
    tl_tensor *t = made_at(frame, 0, 32);
    assert_false(tl__in_frame(rt, t->data));
    tl_tensor_release_safe(t);
    tl_mem_function_exit(frame);
    close_runtime(rt);
}

static void a_room_has_a_limit(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_null(enter(1, TL_ROOM_BYTES_MAX + 1));
    assert_raised(rt, MASU_ERR_STACK_OVERFLOW, "stack overflow");
    assert_null(enter(1, -1));
    assert_raised(rt, MASU_ERR_STACK_OVERFLOW, "stack overflow");
    close_runtime(rt);
}

static tl_tensor *doubled_over(tl_frame *frame, tl_tensor *t) {
    frame->spent = t;
    tl_tensor *result = tl_tensor_mul_scalar(t, 2.0);
    frame->spent = NULL;
    return result;
}

static void a_result_takes_over_what_dies(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = tl_mem_function_enter(0);
    tl_tensor *t = tl_tensor_ones(1, four, false);
    void *data = t->data;
    tl_tensor *result = doubled_over(frame, t);
    assert_ptr_equal(result->data, data);
    assert_true(tl_runtime_valid(rt));
    tl_tensor_release_safe(t);
    assert_true(((float *)result->data)[3] == 2.0f);
    tl_tensor_release_safe(result);
    tl_mem_function_exit(frame);
    close_runtime(rt);
}

/* Another count, a view, another type, or a place in a frame: the operand stays as it was. */
static void what_others_hold_is_left_alone(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = enter(0, 64);
    tl_tensor *counted = tl_tensor_ones(1, four, false);
    tl_tensor_acquire(counted);
    tl_tensor *viewed = tl_tensor_ones(1, four, false), *view = tl_tensor_reshape(viewed, 1, four);
    tl_tensor *whole = tl_tensor_arange(0, 4, 1), *i64 = tl_tensor_to_dtype(whole, TL_I64);
    tl_tensor *framed = made_at(frame, 0, 16);
    tl_tensor *all[] = {counted, viewed, framed};
    for (int k = 0; k < 3; k++) {
        tl_tensor *result = doubled_over(frame, all[k]);
        assert_ptr_not_equal(result->data, all[k]->data);
        assert_true(((float *)all[k]->data)[0] == 1.0f);
        tl_tensor_release_safe(result);
    }
    frame->spent = i64;
    tl_tensor *real = tl_tensor_add_scalar(i64, 0.5); /* of another type than the operand */
    frame->spent = NULL;
    assert_ptr_not_equal(real->data, i64->data);
    tl_tensor *rest[] = {counted, counted, viewed, view, whole, i64, framed, real};
    for (size_t k = 0; k < sizeof rest / sizeof rest[0]; k++)
        tl_tensor_release_safe(rest[k]);
    tl_mem_function_exit(frame);
    close_runtime(rt);
}

/* What backward will read stays, what it will not may go. */
static void history_decides(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = tl_mem_function_enter(0);
    tl_tensor *w = tl_tensor_ones(1, four, true), *h = tl_tensor_add_scalar(w, 1.0);
    frame->spent = h;
    tl_tensor *logs = tl_tensor_log(h); /* keeps h for backward */
    frame->spent = NULL;
    assert_ptr_not_equal(logs->data, h->data);
    tl_tensor *g = tl_tensor_add_scalar(w, 1.0);
    void *data = g->data;
    frame->spent = g;
    tl_tensor *twice = tl_tensor_mul_scalar(g, 2.0);
    frame->spent = NULL;
    assert_ptr_equal(twice->data, data);
    tl_tensor *rest[] = {w, h, logs, g, twice};
    for (size_t k = 0; k < sizeof rest / sizeof rest[0]; k++)
        tl_tensor_release_safe(rest[k]);
    tl_mem_function_exit(frame);
    close_runtime(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tensor_lies_where_it_was_told_to),
        cmocka_unit_test(another_size_goes_to_the_pool),
        cmocka_unit_test(a_room_has_a_limit),
        cmocka_unit_test(a_result_takes_over_what_dies),
        cmocka_unit_test(what_others_hold_is_left_alone),
        cmocka_unit_test(history_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
