/* test_views.c: views show the right elements, hold the storage and nothing more, and are never
 * seen to share it. */
#include "ops_fixture.h"

/* 0, 1, 2, … in the given shape */
static tl_tensor *counting(int rank, const int64_t *shape) {
    array a;
    array_shape(&a, rank, shape);
    for (int64_t i = 0; i < a.count; i++)
        a.v[i] = (double)i;
    return tensor_of(&a, TL_F32);
}

static void views_show_the_right_elements(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = counting(SHAPE(2, 3));
    array same = {2, {3, 2}, 6, {0, 1, 2, 3, 4, 5}}, flat = {1, {6}, 6, {0, 1, 2, 3, 4, 5}},
          turned = {2, {3, 2}, 6, {0, 3, 1, 4, 2, 5}}, part = {2, {2, 2}, 4, {1, 2, 4, 5}},
          row = {1, {3}, 3, {3, 4, 5}}, wide = {3, {2, 2, 3}, 12, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}},
          column = {3, {2, 1, 3}, 6, {0, 1, 2, 3, 4, 5}}, none = {2, {0, 3}, 0, {0}};
    assert_result(tl_tensor_reshape(t, SHAPE(3, 2)), TL_F32, &same, 0, "reshape");
    assert_result(tl_tensor_reshape(t, SHAPE(-1, 2)), TL_F32, &same, 0, "reshape with -1");
    assert_result(tl_tensor_flatten(t), TL_F32, &flat, 0, "flatten");
    assert_result(tl_tensor_transpose(t, 0, 1), TL_F32, &turned, 0, "transpose");
    assert_result(tl_tensor_transpose(t, -1, -2), TL_F32, &turned, 0, "transpose");
    assert_result(tl_tensor_permute(t, SHAPE(1, 0)), TL_F32, &turned, 0, "permute");
    assert_result(tl_tensor_slice(t, 1, 1, 3), TL_F32, &part, 0, "slice");
    assert_result(tl_tensor_slice(t, 1, -2, 3), TL_F32, &part, 0, "slice from the end");
    assert_result(tl_tensor_narrow(t, -1, 1, 2), TL_F32, &part, 0, "narrow");
    assert_result(tl_tensor_row(t, 1), TL_F32, &row, 0, "row");
    assert_result(tl_tensor_expand(t, SHAPE(2, -1, 3)), TL_F32, &wide, 0, "expand");
    assert_result(tl_tensor_unsqueeze(t, 1), TL_F32, &column, 0, "unsqueeze");
    assert_result(tl_tensor_unsqueeze(t, -2), TL_F32, &column, 0, "unsqueeze");
    assert_result(tl_tensor_slice(t, 0, 1, 1), TL_F32, &none, 0, "empty slice");
    release(t);
    close_ops(rt);
}

static void views_cost_no_elements(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = counting(SHAPE(4, 3, 2));
    uint64_t bytes = rt->allocated_bytes;
    tl_tensor *views[] = {tl_tensor_reshape(t, SHAPE(2, 12)),
                          tl_tensor_flatten(t),
                          tl_tensor_transpose(t, 0, 2),
                          tl_tensor_permute(t, SHAPE(2, 0, 1)),
                          tl_tensor_slice(t, 0, 1, 3),
                          tl_tensor_narrow(t, 1, 0, 2),
                          tl_tensor_row(t, 2),
                          tl_tensor_unsqueeze(t, 3),
                          tl_tensor_expand(t, SHAPE(5, 4, 3, 2)),
                          tl_tensor_clone(t),
                          tl_tensor_contiguous(t),
                          tl_tensor_squeeze(t, 0)};
    enum { VIEWS = sizeof views / sizeof views[0] };
    assert_int_equal(rt->allocated_bytes, bytes);
    release(t);
    for (int i = 0; i < VIEWS; i++) {
        assert_true(tl__tensor_valid(checked(views[i])));
        assert_int_equal(rt->live_bytes, bytes);
        release(views[i]);
    }
    assert_int_equal(rt->live_bytes, 0);
    close_ops(rt);
}

static void what_cannot_be_a_view_is_copied(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = counting(SHAPE(2, 3)), *turned = checked(tl_tensor_transpose(t, 0, 1));
    array flat = {1, {6}, 6, {0, 3, 1, 4, 2, 5}}, dense = {2, {3, 2}, 6, {0, 3, 1, 4, 2, 5}};
    uint64_t bytes = rt->live_bytes;
    tl_tensor *copy = checked(tl_tensor_flatten(turned));
    assert_int_equal(rt->live_bytes, 2 * bytes);
    assert_result(copy, TL_F32, &flat, 0, "flatten");
    copy = checked(tl_tensor_contiguous(turned));
    assert_true(copy->contiguous);
    assert_result(copy, TL_F32, &dense, 0, "contiguous");
    tl_tensor *one = ones(1), *wide = checked(tl_tensor_expand(one, SHAPE(6, 4)));
    bytes = rt->live_bytes;
    tl_tensor *still = checked(tl_tensor_reshape(wide, SHAPE(2, 12)));
    assert_int_equal(rt->live_bytes, bytes);
    assert_all(still, 1);
    release(still);
    release(wide);
    release(one);
    release(turned);
    release(t);
    close_ops(rt);
}

static void squeeze_drops_only_length_one(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = counting(SHAPE(2, 1, 3)), *kept = checked(tl_tensor_squeeze(t, 0));
    array flat = {2, {2, 3}, 6, {0, 1, 2, 3, 4, 5}};
    assert_ptr_equal(kept, t);
    release(kept);
    assert_result(tl_tensor_squeeze(t, -2), TL_F32, &flat, 0, "squeeze");
    release(t);
    close_ops(rt);
}

static void rank_zero_and_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *scalar = checked(tl_tensor_ones(0, NULL, false)), *none = counting(SHAPE(0, 3));
    array one = {1, {1}, 1, {1}}, cube = {3, {1, 1, 1}, 1, {1}}, wide = {2, {2, 2}, 4, {1, 1, 1, 1}},
          turned = {2, {3, 0}, 0, {0}}, other = {2, {7, 0}, 0, {0}}, single = {0, {0}, 1, {1}};
    assert_result(tl_tensor_flatten(scalar), TL_F32, &one, 0, "flatten");
    assert_result(tl_tensor_reshape(scalar, SHAPE(1, 1, 1)), TL_F32, &cube, 0, "reshape");
    assert_result(tl_tensor_expand(scalar, SHAPE(2, 2)), TL_F32, &wide, 0, "expand");
    assert_result(tl_tensor_permute(scalar, 0, NULL), TL_F32, &single, 0, "permute");
    assert_result(tl_tensor_transpose(none, 0, 1), TL_F32, &turned, 0, "transpose");
    assert_result(tl_tensor_reshape(none, SHAPE(7, 0)), TL_F32, &other, 0, "reshape");
    assert_null(tl_tensor_row(scalar, 0));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "rank 0 has no rows");
    assert_null(tl_tensor_reshape(none, SHAPE(-1, 0)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "[0, 3] cannot be reshaped to [-1, 0]");
    release(scalar);
    release(none);
    close_ops(rt);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = counting(SHAPE(2, 3));
    assert_null(tl_tensor_reshape(t, SHAPE(4, 2)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "shape [2, 3] cannot be reshaped to [4, 2]");
    assert_null(tl_tensor_reshape(t, SHAPE(0, 4)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "[0, 4]: 6 elements are not 0");
    assert_null(tl_tensor_reshape(t, SHAPE(-1, 4)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "[-1, 4]: 6 elements are not a multiple of 4");
    assert_null(tl_tensor_reshape(t, SHAPE(-1, -1)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "reshape");
    assert_null(tl_tensor_reshape(t, SHAPE(-2, -3)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "reshape");
    assert_null(tl_tensor_reshape(t, SHAPE(INT64_MAX, 4)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "reshape");
    assert_null(tl_tensor_reshape(t, 9, (const int64_t[9]){0}));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "reshape");
    assert_null(tl_tensor_transpose(t, 0, 2));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "transpose: dimension 2");
    assert_null(tl_tensor_permute(t, SHAPE(0)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "permute");
    assert_null(tl_tensor_permute(t, SHAPE(0, -2)));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "dimension 0 is named twice");
    assert_null(tl_tensor_slice(t, 1, 2, 1));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "slice: 2 to 1 is out of range for length 3");
    assert_null(tl_tensor_slice(t, 1, 0, 4));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "slice: 0 to 4");
    assert_null(tl_tensor_narrow(t, 0, 1, 2));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "narrow");
    assert_null(tl_tensor_narrow(t, 0, INT64_MAX, INT64_MAX));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "narrow");
    assert_null(tl_tensor_row(t, 2));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index 2 is out of range for length 2");
    assert_null(tl_tensor_expand(t, SHAPE(4, 3)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "expand: shape [2, 3] cannot be expanded to [4, 3]");
    assert_null(tl_tensor_expand(t, SHAPE(3)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "expand");
    assert_null(tl_tensor_expand(t, SHAPE(-1, 2, 3)));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "expand");
    assert_null(tl_tensor_unsqueeze(t, 3));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "unsqueeze");
    tl_tensor *eight = counting(SHAPE(1, 1, 1, 1, 1, 1, 1, 1));
    assert_null(tl_tensor_unsqueeze(eight, 0));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "at most 8");
    assert_null(tl_tensor_stack(1, &eight));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "at most 8");
    release(eight);
    release(t);
    close_ops(rt);
}

/* An expanded tensor may have more elements than there is memory: summing works, copying is
 * refused. */
static void more_elements_than_memory(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *one = ones(1), *huge = checked(tl_tensor_expand(one, SHAPE(INT64_MAX / 512, 8)));
    assert_null(tl_tensor_expand(one, SHAPE(INT64_MAX, 8, INT64_MAX, 1)));
    assert_raised(rt, MASU_ERR_OVERFLOW, "too many elements");
    assert_null(tl_tensor_contiguous(huge));
    assert_raised(rt, MASU_ERR_OUT_OF_MEMORY, "");
    assert_null(tl_tensor_add(huge, huge));
    assert_raised(rt, MASU_ERR_OUT_OF_MEMORY, "");
    release(huge);
    release(one);
    close_ops(rt);
}

/* `let v = x.reshape(…); x = x + 1.0; use(v)`, in place or not, x dead or not, and a view that
 * leaves its function. */
static tl_tensor *first_half(tl_tensor *x) {
    tl_tensor *square = checked(tl_tensor_reshape(x, SHAPE(32, 32))),
              *half = checked(tl_tensor_slice(square, 0, 0, 16));
    release(square);
    release(x);
    return half;
}

static void a_view_keeps_the_old_value(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *x = ones(1024), *one = ones(1), *v = checked(tl_tensor_reshape(x, SHAPE(32, 32)));
    const uint64_t buffer = 4096;
    tl_tensor *sum = checked(tl_tensor_add_scalar(x, 1));
    release(x);
    assert_all(v, 1);
    assert_all(sum, 2);
    assert_int_equal(rt->live_bytes, 2 * buffer + 4);
    sum = checked(tl_tensor_add_assign(sum, one));
    assert_all(sum, 3);
    assert_int_equal(rt->live_bytes, 2 * buffer + 4);
    release(sum);
    /* x is dead: writing through the view needs no copy */
    v = checked(tl_tensor_add_assign(v, one));
    assert_all(v, 2);
    assert_int_equal(rt->live_bytes, buffer + 4);
    release(v);
    tl_tensor *half = first_half(ones(1024));
    assert_int_equal(rt->live_bytes, buffer + 4);
    assert_int_equal(half->elements, 512);
    assert_all(half, 1);
    release(half);
    release(one);
    close_ops(rt);
}

static void views_when_memory_runs_out_scenario(void) {
    tl_frame *frame = tl_mem_function_enter(3);
    put(0, tl_tensor_ones(SHAPE(6, 4), true));
    put(1, tl_tensor_transpose(SLOT(0), 0, 1));
    put(1, tl_tensor_flatten(SLOT(1)));
    put(1, tl_tensor_narrow(SLOT(1), 0, 2, 10));
    put(1, tl_tensor_unsqueeze(SLOT(1), 0));
    put(1, tl_tensor_expand(SLOT(1), SHAPE(3, 10)));
    put(1, tl_tensor_row(SLOT(1), 1));
    put(2, tl_tensor_sum(SLOT(1)));
    tl_tensor_backward(SLOT(2), false);
    for (int i = 0; i < 3; i++)
        put(i, NULL);
    tl_mem_function_exit(frame);
}

static void views_when_memory_runs_out(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_true(sweep_ops(rt, views_when_memory_runs_out_scenario) > 8);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_show_the_right_elements),   cmocka_unit_test(views_cost_no_elements),
        cmocka_unit_test(what_cannot_be_a_view_is_copied), cmocka_unit_test(squeeze_drops_only_length_one),
        cmocka_unit_test(rank_zero_and_nothing),           cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(more_elements_than_memory),       cmocka_unit_test(a_view_keeps_the_old_value),
        cmocka_unit_test(views_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
