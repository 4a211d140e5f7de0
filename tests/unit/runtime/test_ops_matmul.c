/* test_ops_matmul.c: products against three loops: every type, every layout, vectors, stacks of
 * matrices. */
#include "ops_fixture.h"

/* The judge: rank >= 2, leading dimensions broadcast. */
static void judge_matmul(const array *a, const array *b, array *out) {
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t shape[TL_MAX_RANK], index[TL_MAX_RANK], k = a->shape[a->rank - 1];
    for (int d = 0; d < rank - 2; d++) {
        int da = d - (rank - a->rank), db = d - (rank - b->rank);
        int64_t na = da < 0 ? 1 : a->shape[da], nb = db < 0 ? 1 : b->shape[db];
        shape[d] = na == 1 ? nb : na;
    }
    shape[rank - 2] = a->shape[a->rank - 2];
    shape[rank - 1] = b->shape[b->rank - 1];
    array_shape(out, rank, shape);
    for (int64_t i = 0; i < out->count; i++) {
        unravel(out, i, index);
        int64_t row = index[rank - 2], column = index[rank - 1];
        double sum = 0;
        for (int64_t l = 0; l < k; l++) {
            index[rank - 2] = row;
            index[rank - 1] = l;
            double x = array_at(a, rank, index);
            index[rank - 2] = l;
            index[rank - 1] = column;
            sum += x * array_at(b, rank, index);
        }
        out->v[i] = sum;
    }
}

static void random_matrices(array *a, array *b, tl_dtype dtype) {
    int64_t sa[4], sb[4];
    int lead = (int)random_below(3), cut = (int)random_below(lead + 1);
    for (int d = 0; d < lead; d++) {
        int64_t n = 1 + random_below(3);
        sa[d] = random_below(4) == 0 ? 1 : n;
        if (d >= cut)
            sb[d - cut] = random_below(4) == 0 ? 1 : n;
    }
    int64_t n = random_below(10) == 0 ? 0 : 1 + random_below(5), k = random_below(10) == 0 ? 0 : 1 + random_below(5);
    sa[lead] = n;
    sa[lead + 1] = k;
    sb[lead - cut] = k;
    sb[lead - cut + 1] = 1 + random_below(5);
    bool swap = random_below(2);
    array_random(a, lead + 2, sa, -2, 2);
    array_random(b, lead - cut + 2, sb, -2, 2);
    if (swap && cut > 0) { /* the stack on the right side: [n, k] x [.., k, m] */
        sb[0] = n;
        sb[1] = k;
        sa[lead] = k;
        sa[lead + 1] = 1 + random_below(5);
        array_random(a, 2, sb, -2, 2);
        array_random(b, lead + 2, sa, -2, 2);
    }
    for (int64_t i = 0; i < a->count && dtype == TL_I64; i++)
        a->v[i] = trunc(a->v[i] * 3);
    for (int64_t i = 0; i < b->count && dtype == TL_I64; i++)
        b->v[i] = trunc(b->v[i] * 3);
}

static void products_match_three_loops(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 31);
    for (int round = 0; round < 60; round++) {
        for (int dtype = 0; dtype < TL_BOOL; dtype++) {
            for (int how = 0; how < LIES_COUNT * LIES_COUNT; how++) {
                array a, b, expected;
                random_matrices(&a, &b, (tl_dtype)dtype);
                tl_tensor *x = tensor_lying(&a, (tl_dtype)dtype, (lies)(how % LIES_COUNT));
                tl_tensor *y = tensor_lying(&b, (tl_dtype)dtype, (lies)(how / LIES_COUNT));
                judge_matmul(&a, &b, &expected);
                assert_result(tl_tensor_matmul(x, y), (tl_dtype)dtype, &expected,
                              dtype == TL_F32   ? 1e-5
                              : dtype == TL_F64 ? 1e-13
                                                : 0,
                              "matmul");
                release(x);
                release(y);
            }
        }
    }
    close_ops(rt);
}

static void vectors_are_rows_on_the_left_and_columns_on_the_right(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *v = F32(SHAPE(2), 1, 2), *m = F32(SHAPE(2, 3), 1, 2, 3, 4, 5, 6), *w = F32(SHAPE(3), 1, 0, -1);
    tl_tensor *stack = checked(tl_tensor_stack(2, (tl_tensor *[]){m, m}));
    array dot = {0, {0}, 1, {5}}, row = {1, {3}, 3, {9, 12, 15}}, column = {1, {2}, 2, {-2, -2}},
          rows = {2, {2, 3}, 6, {9, 12, 15, 9, 12, 15}}, columns = {2, {2, 2}, 4, {-2, -2, -2, -2}};
    assert_result(tl_tensor_matmul(v, v), TL_F32, &dot, 0, "dot");
    assert_result(tl_tensor_matmul(v, m), TL_F32, &row, 0, "row");
    assert_result(tl_tensor_matmul(m, w), TL_F32, &column, 0, "column");
    assert_result(tl_tensor_matmul(v, stack), TL_F32, &rows, 0, "row by stack");
    assert_result(tl_tensor_matmul(stack, w), TL_F32, &columns, 0, "stack by column");
    release(stack);
    release(v);
    release(m);
    release(w);
    close_ops(rt);
}

static void types_widen(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *f = F32(SHAPE(1, 2), 0.5, 2);
    tl_tensor *i = checked(tl_tensor_literal_i64(2, 4, (const int64_t[]){2, 1, 3, 4}));
    tl_tensor *m = checked(tl_tensor_literal_bool(2, 4, (const int64_t[]){1, 2, 1, 1}));
    array expected = {2, {1, 1}, 1, {9.5}}, counted = {2, {1, 1}, 1, {7}};
    assert_result(tl_tensor_matmul(f, i), TL_F32, &expected, 0, "f32 by i64");
    assert_result(tl_tensor_matmul(m, i), TL_I64, &counted, 0, "bool by i64");
    release(f);
    release(i);
    release(m);
    close_ops(rt);
}

static void an_expanded_matrix(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *one = F32(SHAPE(1, 3), 1, 2, 3), *wide = checked(tl_tensor_expand(one, SHAPE(2, 3)));
    tl_tensor *turned = checked(tl_tensor_transpose(wide, 0, 1));
    array expected = {2, {2, 2}, 4, {14, 14, 14, 14}};
    assert_result(tl_tensor_matmul(wide, turned), TL_F32, &expected, 0, "expanded");
    release(turned);
    release(wide);
    release(one);
    close_ops(rt);
}

static void shapes_that_do_not_fit(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = checked(tl_tensor_ones(SHAPE(2, 3), false)), *b = checked(tl_tensor_ones(SHAPE(2, 3), false));
    tl_tensor *c = checked(tl_tensor_ones(SHAPE(2, 3, 1), false)), *d = checked(tl_tensor_ones(SHAPE(4, 2, 3), false));
    tl_tensor *scalar = checked(tl_tensor_ones(0, NULL, false));
    assert_null(tl_tensor_matmul(a, b));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "matmul: shapes [2, 3] and [2, 3] cannot be multiplied");
    assert_null(tl_tensor_matmul(d, c));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "[4, 2, 3] and [2, 3, 1]");
    assert_null(tl_tensor_matmul(a, scalar));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "[2, 3] and []");
    release(a);
    release(b);
    release(c);
    release(d);
    release(scalar);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_match_three_loops),
        cmocka_unit_test(vectors_are_rows_on_the_left_and_columns_on_the_right),
        cmocka_unit_test(types_widen),
        cmocka_unit_test(an_expanded_matrix),
        cmocka_unit_test(shapes_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
