/* test_tensor.c: headers, storages, views, copies, conversions, and what happens when memory runs out. */
#include "runtime_fixture.h"

#include <math.h>

static tl_tensor *make(tl_dtype dtype, int rank, const int64_t *shape) {
    tl_tensor *t = NULL;
    assert_int_equal(tl__tensor_new(dtype, rank, shape, &t), MASU_OK);
    assert_true(tl__tensor_valid(t));
    return t;
}

/* Two rows, three columns, elements 0 … 5, seen as three rows of two. */
static tl_tensor *make_transposed(void) {
    tl_tensor *t = make_vector(6), *view = NULL;
    assert_int_equal(tl__tensor_view(t, &view), MASU_OK);
    view->rank = 2;
    view->shape[0] = 3;
    view->shape[1] = 2;
    view->stride[0] = 1;
    view->stride[1] = 3;
    tl__tensor_refresh(view);
    assert_false(view->contiguous);
    assert_int_equal(view->elements, 6);
    assert_true(tl__tensor_valid(view));
    tl__tensor_drop(t);
    return view;
}

static void a_new_tensor_is_row_major(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const int64_t shape[] = {2, 3, 4};
    tl_tensor *t = make(TL_F64, 3, shape);
    assert_int_equal(t->head.count, 1);
    assert_int_equal(t->elements, 24);
    assert_int_equal(t->stride[0], 12);
    assert_int_equal(t->stride[1], 4);
    assert_int_equal(t->stride[2], 1);
    assert_true(t->contiguous);
    assert_null(t->node);
    assert_int_equal(t->storage->bytes, 192);
    assert_int_equal((uintptr_t)t->data % 64, 0);
    assert_int_equal(rt->live_bytes, 192);
    tl__tensor_drop(t);
    close_runtime(rt);
}

static void rank_zero_has_one_element(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    for (int dtype = 0; dtype < TL_DTYPE_COUNT; dtype++) {
        tl_tensor *t = make((tl_dtype)dtype, 0, NULL);
        assert_int_equal(t->elements, 1);
        assert_int_equal(t->storage->bytes, tl__dtype_size((tl_dtype)dtype));
        tl__tensor_drop(t);
    }
    close_runtime(rt);
}

static void without_elements_there_is_no_data(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const int64_t shapes[][3] = {{0, 0, 0}, {5, 0, 3}, {INT64_MAX, INT64_MAX, 0}, {0, INT64_MAX, INT64_MAX}};
    for (int i = 0; i < 4; i++) {
        tl_tensor *t = NULL, *copy = NULL;
        assert_int_equal(tl__tensor_new_zeroed(TL_F32, 3, shapes[i], &t), MASU_OK);
        assert_int_equal(t->elements, 0);
        assert_null(t->data);
        assert_true(t->contiguous);
        assert_true(tl__tensor_valid(t));
        assert_int_equal(tl__tensor_cast(t, TL_I64, &copy), MASU_OK);
        assert_int_equal(copy->elements, 0);
        tl__tensor_drop(copy);
        assert_int_equal(tl__tensor_view(t, &copy), MASU_OK);
        assert_int_equal(tl__tensor_make_writable(copy), MASU_OK);
        tl__tensor_drop(copy);
        tl__tensor_drop(t);
    }
    tl_report report;
    tl_runtime_get_report(rt, &report);
    assert_int_equal(report.allocations, 0);
    close_runtime(rt);
}

static void zeroed_is_zero_also_in_reused_memory(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const int64_t shape[] = {7, 9};
    tl_tensor *t = make(TL_F32, 2, shape);
    memset(t->data, 0x5A, t->storage->bytes);
    tl__tensor_drop(t);
    assert_int_equal(tl__tensor_new_zeroed(TL_F32, 2, shape, &t), MASU_OK);
    for (int i = 0; i < 63; i++)
        assert_true(((float *)t->data)[i] == 0.0f);
    tl__tensor_drop(t);
    close_runtime(rt);
}

static void impossible_shapes_are_refused(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const struct {
        int rank;
        int64_t shape[9];
        masu_status status;
        const char *text;
    } cases[] = {
        {2, {3, -1}, MASU_ERR_INVALID_ARGUMENT, "shape [3, -1]: a dimension is negative"},
        {2, {-1, 0}, MASU_ERR_INVALID_ARGUMENT, "negative"},
        {2, {INT64_MAX, 2}, MASU_ERR_OVERFLOW, "shape [9223372036854775807, 2]: too many elements"},
        {2, {INT64_MIN, INT64_MIN}, MASU_ERR_INVALID_ARGUMENT, "negative"},
        {1, {INT64_MAX / 4 + 1}, MASU_ERR_OVERFLOW, "too many elements"},
        {9, {1, 1, 1, 1, 1, 1, 1, 1, 1}, MASU_ERR_INVALID_ARGUMENT, "at most 8 dimensions, not 9"},
        {-1, {0}, MASU_ERR_INVALID_ARGUMENT, "not -1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_tensor *t = NULL;
        assert_int_equal(tl__tensor_new(TL_F32, cases[i].rank, cases[i].shape, &t), cases[i].status);
        assert_null(t);
        tl__raise();
        assert_raised(rt, cases[i].status, cases[i].text);
    }
    close_runtime(rt);
}

static void more_memory_than_there_is_is_an_error(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const int64_t shape[] = {INT64_MAX / 8};
    tl_tensor *t = NULL;
    assert_int_not_equal(tl__tensor_new(TL_F32, 1, shape, &t), MASU_OK);
    assert_null(t);
    close_runtime(rt);
}

static void headers_and_storages_are_reused(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *first = make_vector(6);
    tl_storage *storage = first->storage;
    void *data = first->data;
    tl__tensor_drop(first);
    uint64_t total = rt->tensors.total;
    for (int i = 0; i < 1000; i++) {
        tl_tensor *t = make_vector(6);
        assert_ptr_equal(t, first);
        assert_ptr_equal(t->storage, storage);
        assert_ptr_equal(t->data, data);
        tl__tensor_drop(t);
    }
    assert_int_equal(rt->tensors.total, total);
    assert_int_equal(tl_system_pool_count(), total);
    close_runtime(rt);
}

static void many_live_tensors_take_several_chunks(void **state) {
    (void)state;
    enum { MANY = 1000 };
    tl_runtime *rt = open_runtime(NULL);
    static tl_tensor *all[MANY];
    for (int i = 0; i < MANY; i++)
        all[i] = make_vector(1 + i % 7);
    assert_true(tl_runtime_valid(rt));
    assert_int_equal(rt->tensors.live, MANY);
    for (int i = 0; i < MANY; i++)
        tl__tensor_drop(all[(i * 7) % MANY]);
    close_runtime(rt);
}

/* ---- views ---------------------------------------------------------------------------------------------------- */

static void a_view_keeps_the_storage_alive(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *base = make_vector(10), *view = NULL, *inner = NULL;
    assert_int_equal(tl__tensor_view(base, &view), MASU_OK);
    assert_int_equal(base->storage->count, 2);
    view->data = (float *)view->data + 4;
    view->shape[0] = 3;
    tl__tensor_refresh(view);
    assert_true(view->contiguous);
    assert_int_equal(tl__tensor_view(view, &inner), MASU_OK);
    inner->data = (float *)inner->data + 2;
    inner->shape[0] = 1;
    tl__tensor_refresh(inner);
    tl__tensor_drop(base);
    tl__tensor_drop(view);
    assert_true(tl_runtime_valid(rt));
    assert_int_equal(rt->live_bytes, 40);
    assert_true(*(float *)inner->data == 6.0f);
    tl__tensor_drop(inner);
    close_runtime(rt);
}

static void contiguity_ignores_dimensions_of_one(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = make_vector(6), *view = NULL;
    assert_int_equal(tl__tensor_view(t, &view), MASU_OK);
    view->rank = 3;
    memcpy(view->shape, (int64_t[]){1, 6, 1}, 3 * sizeof(int64_t));
    memcpy(view->stride, (int64_t[]){77, 1, -5}, 3 * sizeof(int64_t));
    tl__tensor_refresh(view);
    assert_true(view->contiguous);
    assert_true(tl__tensor_valid(view));
    tl__tensor_drop(view);
    tl__tensor_drop(t);
    close_runtime(rt);
}

static void contiguous_gives_the_same_or_a_copy_in_order(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = make_transposed(), *copy = NULL, *again = NULL;
    assert_int_equal(tl__tensor_contiguous(t, &copy), MASU_OK);
    const float expected[] = {0, 3, 1, 4, 2, 5};
    assert_memory_equal(copy->data, expected, sizeof expected);
    assert_int_equal(tl__tensor_contiguous(copy, &again), MASU_OK);
    assert_ptr_equal(again, copy);
    assert_int_equal(copy->head.count, 2);
    tl__tensor_drop(again);
    tl__tensor_drop(copy);
    tl__tensor_drop(t);
    close_runtime(rt);
}

/* A walk over four dimensions with a broadcast, a reversed and a strided one, against the index arithmetic itself. */
static void strided_copies_follow_every_stride(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *base = make_vector(200), *view = NULL, *copy = NULL;
    assert_int_equal(tl__tensor_view(base, &view), MASU_OK);
    view->rank = 4;
    memcpy(view->shape, (int64_t[]){3, 4, 2, 5}, 4 * sizeof(int64_t));
    memcpy(view->stride, (int64_t[]){40, -10, 0, 2}, 4 * sizeof(int64_t));
    view->data = (float *)view->data + 30;
    tl__tensor_refresh(view);
    assert_true(tl__tensor_valid(view));
    assert_int_equal(tl__tensor_contiguous(view, &copy), MASU_OK);
    const float *at = copy->data;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 2; c++)
                for (int d = 0; d < 5; d++)
                    assert_true(*at++ == (float)(30 + 40 * a - 10 * b + 2 * d));
    tl__tensor_drop(copy);
    tl__tensor_drop(view);
    tl__tensor_drop(base);
    close_runtime(rt);
}

static void writing_copies_what_is_shared(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = make_vector(4), *view = NULL;
    void *data = t->data;
    assert_int_equal(tl__tensor_make_writable(t), MASU_OK);
    assert_ptr_equal(t->data, data);
    assert_int_equal(tl__tensor_view(t, &view), MASU_OK);
    assert_int_equal(tl__tensor_make_writable(view), MASU_OK);
    assert_ptr_not_equal(view->data, data);
    assert_ptr_equal(t->data, data);
    ((float *)view->data)[0] = 9.0f;
    assert_true(((float *)t->data)[0] == 0.0f);
    assert_true(((float *)view->data)[3] == 3.0f);
    assert_true(tl_runtime_valid(rt));
    tl__tensor_drop(view);
    tl__tensor_drop(t);
    tl_tensor *transposed = make_transposed();
    assert_int_equal(tl__tensor_make_writable(transposed), MASU_OK);
    assert_true(transposed->contiguous);
    assert_true(((float *)transposed->data)[1] == 3.0f);
    assert_true(tl_runtime_valid(rt));
    tl__tensor_drop(transposed);
    close_runtime(rt);
}

/* ---- conversions ------------------------------------------------------------------------------------------------- */

static void conversions_are_those_of_as(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const int64_t shape[] = {8};
    tl_tensor *from = make(TL_F64, 1, shape), *to = NULL;
    const double values[] = {0.0, -0.0, 1.9, -1.9, 1e300, -1e300, NAN, INFINITY};
    memcpy(from->data, values, sizeof values);
    const int64_t integers[] = {0, 0, 1, -1, INT64_MAX, INT64_MIN, 0, INT64_MAX};
    assert_int_equal(tl__tensor_cast(from, TL_I64, &to), MASU_OK);
    assert_memory_equal(to->data, integers, sizeof integers);
    tl__tensor_drop(to);
    const uint8_t truths[] = {0, 0, 1, 1, 1, 1, 1, 1};
    assert_int_equal(tl__tensor_cast(from, TL_BOOL, &to), MASU_OK);
    assert_memory_equal(to->data, truths, sizeof truths);
    tl__tensor_drop(to);
    assert_int_equal(tl__tensor_cast(from, TL_F32, &to), MASU_OK);
    assert_true(((float *)to->data)[2] == 1.9f && isinf(((float *)to->data)[4]) && isnan(((float *)to->data)[6]));
    tl__tensor_drop(to);
    assert_int_equal(tl__tensor_cast(from, TL_F64, &to), MASU_OK);
    assert_ptr_equal(to, from);
    tl__tensor_drop(to);
    tl__tensor_drop(from);
    close_runtime(rt);
}

static double read_as_double(const tl_tensor *t, int64_t i) {
    switch ((tl_dtype)t->dtype) {
    case TL_F32:
        return (double)((const float *)t->data)[i];
    case TL_F64:
        return ((const double *)t->data)[i];
    case TL_I64:
        return (double)((const int64_t *)t->data)[i];
    default:
        return ((const uint8_t *)t->data)[i];
    }
}

/* 0 and 1 survive every conversion, there and back, also out of a strided source. */
static void every_pair_of_types_converts(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const int64_t shape[] = {6};
    for (int a = 0; a < TL_DTYPE_COUNT; a++) {
        for (int b = 0; b < TL_DTYPE_COUNT; b++) {
            tl_tensor *bits = make(TL_I64, 1, shape), *first = NULL, *second = NULL;
            for (int i = 0; i < 6; i++)
                ((int64_t *)bits->data)[i] = i % 3 == 1;
            assert_int_equal(tl__tensor_cast(bits, (tl_dtype)a, &first), MASU_OK);
            tl_tensor *every_other = NULL;
            assert_int_equal(tl__tensor_view(first, &every_other), MASU_OK);
            every_other->shape[0] = 3;
            every_other->stride[0] = 2;
            tl__tensor_refresh(every_other);
            assert_int_equal(tl__tensor_cast(every_other, (tl_dtype)b, &second), MASU_OK);
            assert_true(tl__tensor_valid(second));
            for (int i = 0; i < 3; i++)
                assert_true(read_as_double(second, a == b ? 2 * i : i) == (i * 2 % 3 == 1));
            tl__tensor_drop(second);
            tl__tensor_drop(every_other);
            tl__tensor_drop(first);
            tl__tensor_drop(bits);
        }
    }
    close_runtime(rt);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void use_tensors(void) {
    const int64_t shape[] = {3, 5};
    tl_tensor *list[64] = {NULL}, *view = NULL, *cast = NULL;
    tl_frame *frame = tl_mem_function_enter(64 + 2);
    for (int i = 0; i < 64; i++) {
        if (tl__tensor_new(i % 2 ? TL_F32 : TL_I64, 2, shape, &list[i]) != MASU_OK)
            tl__raise();
        memset(list[i]->data, 0, list[i]->storage->bytes);
        frame->slots[i] = list[i];
    }
    if (tl__tensor_view(list[1], &view) != MASU_OK)
        tl__raise();
    frame->slots[64] = view;
    if (tl__tensor_make_writable(view) != MASU_OK)
        tl__raise();
    if (tl__tensor_cast(view, TL_BOOL, &cast) != MASU_OK)
        tl__raise();
    frame->slots[65] = cast;
    tl_mem_function_exit(frame);
}

static void every_failing_request_leaves_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_true(sweep_failures(rt, use_tensors) >= 66);
    close_runtime(rt);
}

/* Headers and storages at the moment their pools must grow: on a fresh runtime, request by request. */
static void a_pool_that_cannot_grow_rolls_back(void **state) {
    (void)state;
    uint64_t failures = 0;
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
        tl_runtime *rt = open_runtime(NULL);
        tl_tensor *t = NULL;
        const int64_t shape[] = {5};
        masu__fault_arm(nth);
        masu_status status = tl__tensor_new(TL_F32, 1, shape, &t);
        fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_true(fired || status == MASU_OK);
        assert_int_equal(t != NULL, status == MASU_OK);
        tl__tensor_drop(t);
        close_runtime(rt);
        failures += status != MASU_OK;
    }
    assert_true(failures >= 1);
}

/* ---- the check itself -------------------------------------------------------------------------------------------- */

static void the_check_sees_each_kind_of_damage(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const int64_t shape[] = {2, 3};
    tl_tensor *t = make(TL_F32, 2, shape);
#define DAMAGE(place, value)                 \
    do {                                     \
        __typeof__(place) kept_ = (place);   \
        (place) = (value);                   \
        assert_false(tl__tensors_valid(rt)); \
        (place) = kept_;                     \
        assert_true(tl__tensors_valid(rt));  \
    } while (0)
    DAMAGE(t->elements, 5);
    DAMAGE(t->contiguous, false);
    DAMAGE(t->dtype, TL_DTYPE_COUNT);
    DAMAGE(t->dtype, TL_F64); /* twice the bytes that there are */
    DAMAGE(t->rank, TL_MAX_RANK + 1);
    DAMAGE(t->shape[1], 4);
    DAMAGE(t->shape[0], -2);
    DAMAGE(t->stride[0], 1);
    DAMAGE(t->stride[0], -3);
    DAMAGE(t->data, (char *)t->data + 4);
    DAMAGE(t->head.kind, TL_STRING);
    DAMAGE(t->head.count, 0);
    DAMAGE(t->storage->count, 2);
    DAMAGE(t->storage->bytes, 20);
    DAMAGE(rt->live_bytes, 1);
    DAMAGE(rt->tensors.live, 2);
    DAMAGE(rt->storages.total, 3);
    DAMAGE(rt->tensors.free, NULL);
#undef DAMAGE
    tl__tensor_drop(t);
    close_runtime(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_tensor_is_row_major),
        cmocka_unit_test(rank_zero_has_one_element),
        cmocka_unit_test(without_elements_there_is_no_data),
        cmocka_unit_test(zeroed_is_zero_also_in_reused_memory),
        cmocka_unit_test(impossible_shapes_are_refused),
        cmocka_unit_test(more_memory_than_there_is_is_an_error),
        cmocka_unit_test(headers_and_storages_are_reused),
        cmocka_unit_test(many_live_tensors_take_several_chunks),
        cmocka_unit_test(a_view_keeps_the_storage_alive),
        cmocka_unit_test(contiguity_ignores_dimensions_of_one),
        cmocka_unit_test(contiguous_gives_the_same_or_a_copy_in_order),
        cmocka_unit_test(strided_copies_follow_every_stride),
        cmocka_unit_test(writing_copies_what_is_shared),
        cmocka_unit_test(conversions_are_those_of_as),
        cmocka_unit_test(every_pair_of_types_converts),
        cmocka_unit_test(every_failing_request_leaves_nothing),
        cmocka_unit_test(a_pool_that_cannot_grow_rolls_back),
        cmocka_unit_test(the_check_sees_each_kind_of_damage),
    };
    return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
