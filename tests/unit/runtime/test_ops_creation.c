/* test_ops_creation.c: making tensors, reading and writing elements, and that writing is seen by
 * nobody else. */
#include "ops_fixture.h"

static void constants(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = checked(tl_tensor_full(SHAPE(2, 3), 2.5, false));
    assert_int_equal(t->dtype, TL_F32);
    assert_null(t->node);
    assert_all(t, 2.5);
    tl_tensor *like = checked(tl_tensor_ones_like(t)), *none = checked(tl_tensor_zeros(SHAPE(3, 0), false));
    assert_all(like, 1);
    assert_int_equal(none->elements, 0);
    tl_tensor *whole = checked(tl_tensor_literal_i64(0, 1, (const int64_t[]){7}));
    tl_tensor *zero = checked(tl_tensor_zeros_like(whole));
    assert_int_equal(zero->dtype, TL_I64);
    assert_int_equal(item(zero), 0);
    release(whole);
    release(none);
    release(like);
    release(t);
    close_ops(rt);
}

static void tracking_from_the_start(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = checked(tl_tensor_ones(SHAPE(2), true));
    assert_non_null(t->node);
    assert_true(t->node->flags & TL_NODE_LEAF);
    assert_int_equal(rt->live_nodes, 0);
    assert_gradient(t, 0);
    release(t);
    close_ops(rt);
}

static void regular_numbers(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    array eye = {2, {2, 2}, 4, {1, 0, 0, 1}}, up = {1, {4}, 4, {1, 1.5, 2, 2.5}}, down = {1, {3}, 3, {3, 2, 1}},
          even = {1, {5}, 5, {0, 0.25, 0.5, 0.75, 1}}, one = {1, {1}, 1, {4}}, none = {1, {0}, 0, {0}};
    assert_result(tl_tensor_eye(2), TL_F32, &eye, 0, "eye");
    assert_result(tl_tensor_arange(1, 3, 0.5), TL_F32, &up, 0, "arange");
    assert_result(tl_tensor_arange(3, 0.5, -1), TL_F32, &down, 0, "arange down");
    assert_result(tl_tensor_arange(3, 3, 1), TL_F32, &none, 0, "arange of nothing");
    assert_null(tl_tensor_arange(3, 5, -1));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "steps of -1 do not lead from 3 to 5");
    assert_result(tl_tensor_linspace(0, 1, 5), TL_F32, &even, 0, "linspace");
    assert_result(tl_tensor_linspace(4, 9, 1), TL_F32, &one, 0, "linspace of one");
    assert_result(tl_tensor_linspace(4, 9, 0), TL_F32, &none, 0, "linspace of none");
    assert_null(tl_tensor_arange(0, 1, 0));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "has no end");
    assert_null(tl_tensor_arange(0, INFINITY, 1));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "has no end");
    assert_null(tl_tensor_arange(0, 1e30, 1e-3));
    assert_raised(rt, MASU_ERR_OVERFLOW, "too large");
    assert_null(tl_tensor_linspace(0, 1, -1));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "-1");
    assert_null(tl_tensor_eye(-1));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "negative");
    close_ops(rt);
}

static void chance_follows_the_seed(void **state) {
    (void)state;
    float first[4];
    for (int round = 0; round < 2; round++) {
        const tl_runtime_config config = {.seed = 99};
        tl_runtime *rt = open_runtime(&config);
        tl_tensor *n = checked(tl_tensor_randn(SHAPE(1000), false)), *u = checked(tl_tensor_rand_like(n));
        const float *numbers = n->data, *uniform = u->data;
        double sum = 0, squares = 0;
        for (int i = 0; i < 1000; i++) {
            sum += (double)numbers[i];
            squares += (double)numbers[i] * (double)numbers[i];
            assert_true(uniform[i] >= 0 && uniform[i] < 1);
        }
        assert_true(fabs(sum / 1000) < 0.15 && fabs(squares / 1000 - 1) < 0.2);
        if (round == 0)
            memcpy(first, numbers, sizeof first);
        else
            assert_memory_equal(first, numbers, sizeof first);
        tl_tensor *whole = checked(tl_tensor_to_dtype(n, TL_I64)), *f64 = checked(tl_tensor_to_dtype(n, TL_F64));
        tl_tensor *wide = checked(tl_tensor_randn_like(f64));
        assert_int_equal(wide->dtype, TL_F64);
        assert_null(tl_tensor_randn_like(whole));
        assert_raised(rt, MASU_ERR_DTYPE_MISMATCH, "randn_like needs a floating tensor");
        release(wide);
        release(f64);
        release(whole);
        release(n);
        release(u);
        close_ops(rt);
    }
}

static void literals(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    array two = {2, {2, 2}, 4, {1, 2.5, -3, 4}}, whole = {2, {2, 2}, 4, {1, 2, -3, 4}}, mask = {1, {2}, 2, {1, 0}},
          empty = {2, {0, 3}, 0, {0}}, single = {0, {0}, 1, {8}};
    const double numbers[] = {2, 2, 1, 2.5, -3, 4};
    const int64_t integers[] = {2, 2, 1, 2, -3, 4};
    assert_result(tl_tensor_literal_f32(2, 6, numbers), TL_F32, &two, 0, "f32");
    assert_result(tl_tensor_literal_f64(2, 6, numbers), TL_F64, &two, 0, "f64");
    assert_result(tl_tensor_literal_i64(2, 6, integers), TL_I64, &whole, 0, "i64");
    assert_result(tl_tensor_literal_bool(1, 3, (const int64_t[]){2, 7, 0}), TL_BOOL, &mask, 0, "bool");
    assert_result(tl_tensor_literal_f32(2, 2, (const double[]){0, 3}), TL_F32, &empty, 0, "empty");
    assert_result(tl_tensor_literal_i64(0, 1, (const int64_t[]){8}), TL_I64, &single, 0, "rank 0");
    assert_null(tl_tensor_literal_f32(2, 5, numbers));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "a literal of shape [2, 2] has 3 elements");
    assert_null(tl_tensor_literal_i64(9, 9, (const int64_t[9]){0}));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "at most 8 dimensions, not 9");
    assert_null(tl_tensor_zeros(9, (const int64_t[9]){0}, false));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "at most 8 dimensions, not 9");
    close_ops(rt);
}

static void other_types(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = F32(SHAPE(4), 1.75, -0.5, 0, 3e9);
    array whole = {1, {4}, 4, {1, 0, 0, 3e9}}, mask = {1, {4}, 4, {1, 1, 0, 1}};
    assert_result(tl_tensor_to_dtype(t, TL_I64), TL_I64, &whole, 0, "to i64");
    assert_result(tl_tensor_to_dtype(t, TL_BOOL), TL_BOOL, &mask, 0, "to bool");
    tl_tensor *same = checked(tl_tensor_to_dtype(t, TL_F32));
    assert_ptr_equal(same, t);
    release(same);
    assert_null(tl_tensor_to_dtype(t, 4));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "4 is not an element type");
    release(t);
    close_ops(rt);
}

static void joining(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = F32(SHAPE(2, 2), 1, 2, 3, 4), *b = F32(SHAPE(2, 1), 5, 6);
    tl_tensor *turned = checked(tl_tensor_transpose(a, 0, 1));
    tl_tensor *whole = checked(tl_tensor_literal_i64(2, 6, (const int64_t[]){2, 2, 7, 8, 9, 10}));
    array cat = {2, {2, 3}, 6, {1, 2, 5, 3, 4, 6}}, rows = {2, {4, 2}, 8, {1, 3, 2, 4, 7, 8, 9, 10}},
          stack = {3, {2, 2, 2}, 8, {1, 2, 3, 4, 1, 3, 2, 4}};
    assert_result(tl_tensor_cat(a, b, 1), TL_F32, &cat, 0, "cat");
    assert_result(tl_tensor_cat(a, b, -1), TL_F32, &cat, 0, "cat");
    assert_result(tl_tensor_cat(turned, whole, 0), TL_F32, &rows, 0, "cat of types");
    assert_result(tl_tensor_stack(2, (tl_tensor *[]){a, turned}), TL_F32, &stack, 0, "stack");
    assert_null(tl_tensor_cat(a, b, 0));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "cat: shapes [2, 2] and [2, 1] cannot be joined");
    assert_null(tl_tensor_stack(2, (tl_tensor *[]){a, b}));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "stack");
    assert_null(tl_tensor_stack(0, NULL));
    assert_raised(rt, MASU_ERR_EMPTY, "nothing to stack");
    release(whole);
    release(turned);
    release(a);
    release(b);
    close_ops(rt);
}

/* ---- elements -------------------------------------------------------------------------------- */

static void reading_elements(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = F32(SHAPE(2, 3), 1, 2, 3, 4, 5.5, 6), *turned = checked(tl_tensor_transpose(t, 0, 1));
    const int64_t index[] = {1, 1}, outside[] = {2, 0}, negative[] = {0, -1};
    assert_true(tl_tensor_get_f64(t, 2, index) == 5.5);
    assert_true(tl_tensor_get_i64(t, 2, index) == 5);
    assert_true(tl_tensor_get_f64(turned, 2, outside) == 3);
    tl_tensor_get_f64(t, 2, outside);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index 2 is out of range for length 2");
    tl_tensor_get_i64(t, 2, negative);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index -1 is out of range for length 3");
    tl_tensor_get_f64(t, 1, index);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "1 index given for a tensor of 2 dimensions");
    tl_tensor_item(t);
    assert_raised(rt, MASU_ERR_NOT_SCALAR, "a tensor of shape [2, 3] is not a single number");
    tl_tensor *single = checked(tl_tensor_slice(t, 1, 2, 3)), *last = checked(tl_tensor_row(single, 1));
    assert_true(tl_tensor_item(last) == 6);
    assert_true(tl_tensor_item_i64(last) == 6);
    assert_true(tl_tensor_item_bool(last));
    release(last);
    release(single);
    assert_int_equal(tl_tensor_len(turned), 3);
    assert_int_equal(tl_tensor_rank(turned), 2);
    assert_int_equal(tl_tensor_dim(turned, -1), 2);
    tl_tensor_dim(turned, 2);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "dim");
    array shape = {1, {2}, 2, {3, 2}};
    assert_result(tl_tensor_shape(turned), TL_I64, &shape, 0, "shape");
    release(turned);
    release(t);
    close_ops(rt);
}

static void exact_whole_numbers(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const int64_t large = (1LL << 53) + 1, first[] = {0};
    tl_tensor *t = checked(tl_tensor_literal_i64(1, 2, (const int64_t[]){1, large}));
    assert_true(tl_tensor_get_i64(t, 1, first) == large);
    assert_true(tl_tensor_item_i64(t) == large);
    t = checked(tl_tensor_set_i64(t, large + 2, 1, first));
    assert_true(tl_tensor_item_i64(t) == large + 2);
    t = checked(tl_tensor_set_f64(t, 1e300, 1, first));
    assert_true(tl_tensor_item_i64(t) == INT64_MAX);
    release(t);
    close_ops(rt);
}

/* The receiver is consumed and given back: the same header when nobody else has it. */
static void writing_in_place(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = F32(SHAPE(2, 2), 1, 2, 3, 4), *b = F32(SHAPE(2), 10, 20);
    const void *data = t->data;
    uint64_t bytes = rt->allocated_bytes;
    tl_tensor *same = checked(tl_tensor_set_f64(t, 9, 2, (const int64_t[]){0, 1}));
    same = checked(tl_tensor_add_assign(same, b));
    same = checked(tl_tensor_sub_assign(same, b));
    same = checked(tl_tensor_mul_assign(same, b));
    same = checked(tl_tensor_div_assign(same, b));
    array expected = {2, {2, 2}, 4, {1, 9, 3, 4}};
    assert_tensor(same, &expected, 0, "in place");
    assert_ptr_equal(same, t);
    assert_ptr_equal(same->data, data);
    same = checked(tl_tensor_fill(same, 3));
    assert_all(same, 3);
    assert_ptr_equal(same->data, data);
    assert_int_equal(rt->allocated_bytes, bytes);
    release(same);
    release(b);
    close_ops(rt);
}

/* Each way of writing into each way of sharing: another count, a view, a view of a view. The
 * other sees nothing. */
typedef tl_tensor *write_function(tl_tensor *t);

static tl_tensor *write_set(tl_tensor *t) {
    return tl_tensor_set_f64(t, 9, 2, (const int64_t[]){0, 1});
}
static tl_tensor *write_set_i64(tl_tensor *t) {
    return tl_tensor_set_i64(t, 9, 2, (const int64_t[]){0, 1});
}
static tl_tensor *write_fill(tl_tensor *t) {
    return tl_tensor_fill(t, 9);
}
static tl_tensor *write_add(tl_tensor *t) {
    return tl_tensor_add_assign(t, t);
}

static tl_tensor *share_count(tl_tensor *t) {
    return tl_tensor_clone(t);
}
static tl_tensor *share_shallow(tl_tensor *t) {
    return tl_tensor_shallow_clone(t);
}
static tl_tensor *share_turned(tl_tensor *t) {
    return tl_tensor_transpose(t, 0, 1);
}
static tl_tensor *share_view_of_view(tl_tensor *t) {
    tl_tensor *part = checked(tl_tensor_slice(t, 0, 0, 2)), *view = tl_tensor_unsqueeze(part, 0);
    tl_tensor *back = checked(tl_tensor_squeeze(view, 0));
    release(part);
    release(view);
    return back;
}

static void sharing_is_never_seen(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    write_function *const writes[] = {write_set, write_set_i64, write_fill, write_add};
    write_function *const shares[] = {share_count, share_shallow, share_turned, share_view_of_view};
    const int64_t index[] = {0, 1}, turned[] = {1, 0};
    for (int w = 0; w < 4; w++) {
        for (int s = 0; s < 4; s++) {
            const int64_t *there = s == 2 ? turned : index;
            for (int which = 0; which < 2; which++) {
                tl_tensor *t = F32(SHAPE(2, 2), 1, 2, 3, 4), *other = checked(shares[s](t));
                tl_tensor **written = which ? &other : &t, **kept = which ? &t : &other;
                *written = checked(writes[w](*written));
                double old = s == 2 && which ? 3 : 2;
                assert_true(tl_tensor_get_f64(*written, 2, index) == (w == 3 ? 2 * old : 9));
                assert_true(tl_tensor_get_f64(*kept, 2, s == 2 && which ? index : there) == 2);
                release(t);
                release(other);
            }
        }
    }
    close_ops(rt);
}

static void assignments_that_are_refused(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *wide = checked(tl_tensor_ones(SHAPE(2, 2), false));
    tl_tensor *whole = checked(tl_tensor_literal_i64(1, 3, (const int64_t[]){2, 4, 0}));
    /* OWN: each refusal has consumed its receiver */
    assert_null(tl_tensor_add_assign(ones(2), wide));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "add_assign: a tensor of shape [2] cannot take up one of shape [2, 2]");
    assert_null(tl_tensor_add_assign(ones(3), whole));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "add_assign");
    assert_null(tl_tensor_mul_assign(checked(tl_tensor_zeros_like(whole)), wide));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "mul_assign");
    tl_tensor *one = ones(1);
    assert_null(tl_tensor_sub_assign(checked(tl_tensor_zeros_like(whole)), one));
    assert_raised(rt, MASU_ERR_DTYPE_MISMATCH, "elements of type i64 cannot take up those of type f32");
    assert_null(tl_tensor_div_assign(checked(tl_tensor_zeros_like(whole)), whole));
    assert_raised(rt, MASU_ERR_DIVISION_BY_ZERO, "div_assign");
    assert_null(tl_tensor_set_f64(ones(2), 1, 1, (const int64_t[]){2}));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index 2 is out of range for length 2");
    tl_tensor *f = checked(tl_tensor_add_assign(ones(2), whole));
    assert_int_equal(f->dtype, TL_F32);
    assert_true(read_number(f, 0) == 5);
    release(f);
    release(one);
    release(wide);
    release(whole);
    close_ops(rt);
}

/* ---- memory runs out ------------------------------------------------------------------------- */

static void make_and_write(void) {
    tl_frame *frame = tl_mem_function_enter(5);
    put(0, tl_tensor_full(SHAPE(40, 40), 2, true));
    put(1, tl_tensor_arange(0, 40, 1));
    put(0, tl_tensor_detach(take(0), false));
    put(2, tl_tensor_clone(SLOT(0)));
    put(0, tl_tensor_add_assign(take(0), SLOT(1)));
    put(3, tl_tensor_transpose(SLOT(0), 0, 1));
    put(3, tl_tensor_set_f64(take(3), 5, 2, (const int64_t[]){3, 4}));
    put(2, tl_tensor_fill(take(2), 1));
    put(4, tl_tensor_stack(2, (tl_tensor *[]){SLOT(0), SLOT(3)}));
    put(4, tl_tensor_cat(SLOT(4), SLOT(4), 2));
    put(4, tl_tensor_to_dtype(SLOT(4), TL_I64));
    put(4, tl_tensor_div(SLOT(4), SLOT(4)));
    for (int i = 0; i < 5; i++)
        put(i, NULL);
    tl_mem_function_exit(frame);
}

static void make_write_without_zero(void) {
    tl_frame *frame = tl_mem_function_enter(2);
    put(0, tl_tensor_full(SHAPE(9), 4, false));
    put(1, tl_tensor_to_dtype(SLOT(0), TL_I64));
    put(1, tl_tensor_pow(SLOT(1), SLOT(1)));
    put(1, tl_tensor_where(SLOT(0), SLOT(1), SLOT(0)));
    put(1, tl_tensor_compare_scalar(SLOT(1), 0.5, 4));
    put(1, tl_tensor_logical_and(SLOT(1), SLOT(0)));
    put(0, NULL);
    put(1, NULL);
    tl_mem_function_exit(frame);
}

static void nothing_is_left_when_memory_runs_out(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_true(sweep_ops(rt, make_and_write) >= 8);
    assert_true(sweep_ops(rt, make_write_without_zero) >= 5);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants),
        cmocka_unit_test(tracking_from_the_start),
        cmocka_unit_test(regular_numbers),
        cmocka_unit_test(chance_follows_the_seed),
        cmocka_unit_test(literals),
        cmocka_unit_test(other_types),
        cmocka_unit_test(joining),
        cmocka_unit_test(reading_elements),
        cmocka_unit_test(exact_whole_numbers),
        cmocka_unit_test(writing_in_place),
        cmocka_unit_test(sharing_is_never_seen),
        cmocka_unit_test(assignments_that_are_refused),
        cmocka_unit_test(nothing_is_left_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
