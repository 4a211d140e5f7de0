/* test_turned.c: views laid down row by row, running sums and gathered rows, beside loops that go element by element;
 * of lengths around the tiles, corners and bundles that the library works in. */
#include <stdlib.h>

#include "ops_fixture.h"

/* 0, 1, 2, …, cut down to 0 and 1 for bool. */
static tl_tensor *numbers(tl_dtype dtype, int rank, const int64_t *shape) {
    tl_tensor *t = tensor_new(dtype, rank, shape);
    for (int64_t i = 0; i < t->elements; i++)
        write_number(t, i, dtype == TL_BOOL ? i % 3 == 0 : (double)i);
    return t;
}

/* The copy has what the view shows: element by element through the strides. */
static void assert_copied(tl_tensor *view) {
    tl_tensor *copy;
    int64_t index[TL_MAX_RANK] = {0};
    assert_int_equal(tl__tensor_copied(view, &copy), MASU_OK);
    assert_true(copy->contiguous);
    for (int64_t i = 0; i < view->elements; i++) {
        assert_true(read_number(copy, i) == number_at(view, index));
        for (int d = view->rank - 1; d >= 0 && ++index[d] == view->shape[d]; d--)
            index[d] = 0;
    }
    release(copy);
}

static void matrices_are_turned(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 130};
    enum { COUNT = sizeof lengths / sizeof *lengths };
    for (int dtype = 0; dtype < TL_DTYPE_COUNT; dtype++)
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < COUNT; j++) {
                tl_tensor *t = numbers((tl_dtype)dtype, SHAPE(lengths[i], lengths[j]));
                tl_tensor *turned = tl_tensor_transpose(t, 0, 1);
                assert_copied(turned);
                release(turned);
                release(t);
            }
    close_ops(rt);
}

static void any_order_of_dimensions(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    static const int64_t orders[][4] = {{0, 1, 3, 2}, {0, 2, 1, 3}, {3, 2, 1, 0}, {1, 0, 3, 2}, {2, 3, 0, 1},
                                        {3, 0, 1, 2}, {1, 2, 3, 0}, {2, 0, 3, 1}, {0, 3, 1, 2}};
    for (int dtype = 0; dtype < TL_DTYPE_COUNT; dtype++)
        for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
            tl_tensor *t = numbers((tl_dtype)dtype, SHAPE(3, 5, 18, 7));
            tl_tensor *part = tl_tensor_slice(t, 2, 1, 18), *turned = tl_tensor_permute(part, 4, orders[k]);
            assert_copied(turned);
            tl_tensor *row = tl_tensor_row(turned, 1);
            assert_copied(row);
            release(row);
            release(turned);
            release(part);
            release(t);
        }
    close_ops(rt);
}

static void repeated_dimensions(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = numbers(TL_F32, SHAPE(1, 9)), *wide = tl_tensor_expand(t, SHAPE(20, 9));
    tl_tensor *turned = tl_tensor_transpose(wide, 0, 1), *single = tl_tensor_expand(t, SHAPE(4, 1, 9));
    tl_tensor *back = tl_tensor_permute(single, SHAPE(2, 1, 0));
    assert_copied(wide);
    assert_copied(turned);
    assert_copied(single);
    assert_copied(back);
    release(back);
    release(single);
    release(turned);
    release(wide);
    release(t);
    close_ops(rt);
}

static void running_sums(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    static const int64_t shapes[][3] = {{3, 5, 7}, {4, 1, 33}, {1, 9, 65}, {6, 4, 4}, {2, 31, 1}, {32, 3, 2}};
    for (int dtype = 0; dtype < TL_BOOL; dtype++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
            for (int dim = 0; dim < 3; dim++) {
                tl_tensor *t = numbers((tl_dtype)dtype, 3, shapes[k]), *sums = tl_tensor_cumsum(t, dim);
                int64_t step = 1;
                for (int d = dim + 1; d < 3; d++)
                    step *= shapes[k][d];
                for (int64_t i = 0; i < t->elements; i++) {
                    double before = i / step % shapes[k][dim] == 0 ? 0 : read_number(sums, i - step);
                    assert_true(read_number(sums, i) == before + read_number(t, i));
                }
                release(sums);
                release(t);
            }
    close_ops(rt);
}

/* A number out of range in any row is an error that names it, and nothing is left. */
static void gathered_rows(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = numbers(TL_F64, SHAPE(40, 30));
    for (int64_t wrong = 0; wrong < 40 * 30; wrong += 401) {
        tl_tensor *index = numbers(TL_I64, SHAPE(40, 30));
        for (int64_t i = 0; i < index->elements; i++)
            ((int64_t *)index->data)[i] = (i * 7) % 30;
        tl_tensor *out = tl_tensor_gather(t, 1, index);
        for (int64_t i = 0; i < out->elements; i++)
            assert_true(read_number(out, i) == (double)(i / 30 * 30 + (i * 7) % 30));
        release(out);
        ((int64_t *)index->data)[wrong] = wrong % 2 ? -1 : 30;
        assert_null(tl_tensor_gather(t, 1, index));
        assert_non_null(strstr(tl_runtime_error(rt)->text, wrong % 2 ? "index -1" : "index 30"));
        tl_runtime_clear_error(rt);
        release(index);
    }
    release(t);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_turned), cmocka_unit_test(any_order_of_dimensions),
        cmocka_unit_test(repeated_dimensions), cmocka_unit_test(running_sums),
        cmocka_unit_test(gathered_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
