/* test_ops_reduce.c: reductions, softmax and losses against loops over plain numbers. */
#include "ops_fixture.h"

#include "runtime/ops/row_fold.h"

static const double tolerance[TL_DTYPE_COUNT] = {1e-6, 1e-12, 0, 0};

/* The judge: all lines of a along dim (all elements for dim -1), each given to `line`. */
typedef double line_judge(int64_t n, const double *x);

static void judge_lines(line_judge *line, const array *a, int dim, array *out) {
    int64_t shape[TL_MAX_RANK], index[TL_MAX_RANK] = {0};
    double x[ARRAY_MAX];
    int rank = 0;
    if (dim < 0) {
        array_shape(out, 0, NULL);
        out->v[0] = line(a->count, a->v);
        return;
    }
    for (int d = 0; d < a->rank; d++)
        if (d != dim)
            shape[rank++] = a->shape[d];
    array_shape(out, rank, shape);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t rest[TL_MAX_RANK];
        unravel(out, i, rest);
        for (int d = 0, r = 0; d < a->rank; d++)
            index[d] = d == dim ? 0 : rest[r++];
        for (int64_t k = 0; k < a->shape[dim]; k++) {
            index[dim] = k;
            x[k] = array_at(a, a->rank, index);
        }
        out->v[i] = line(a->shape[dim], x);
    }
}

static double line_sum(int64_t n, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}
static double line_mean(int64_t n, const double *x) {
    return line_sum(n, x) / (double)n;
}
static double line_prod(int64_t n, const double *x) {
    double product = 1;
    for (int64_t i = 0; i < n; i++)
        product *= x[i];
    return product;
}
static double line_argmax(int64_t n, const double *x) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return (double)best;
}
static double line_argmin(int64_t n, const double *x) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (x[i] < x[best])
            best = i;
    return (double)best;
}
static double line_max(int64_t n, const double *x) {
    return x[(int64_t)line_argmax(n, x)];
}
static double line_min(int64_t n, const double *x) {
    return x[(int64_t)line_argmin(n, x)];
}

typedef enum result_type { AS_OPERAND, AS_FLOAT, AS_I64 } result_type;

typedef struct reduction {
    const char *name;
    tl_tensor *(*all)(tl_tensor *);
    tl_tensor *(*one)(tl_tensor *, int64_t);
    line_judge *judge;
    result_type type;
    bool needs_elements;
} reduction;

static const reduction reductions[] = {
    {"sum", tl_tensor_sum, tl_tensor_sum_dim, line_sum, AS_OPERAND, false},
    {"mean", tl_tensor_mean, tl_tensor_mean_dim, line_mean, AS_FLOAT, false},
    {"prod", tl_tensor_prod, NULL, line_prod, AS_OPERAND, false},
    {"max", tl_tensor_max, tl_tensor_max_dim, line_max, AS_OPERAND, true},
    {"min", tl_tensor_min, tl_tensor_min_dim, line_min, AS_OPERAND, true},
    {"argmax", tl_tensor_argmax, tl_tensor_argmax_dim, line_argmax, AS_I64, true},
    {"argmin", tl_tensor_argmin, tl_tensor_argmin_dim, line_argmin, AS_I64, true},
};
enum { REDUCTIONS = sizeof reductions / sizeof reductions[0] };

static tl_dtype dtype_of(result_type type, tl_dtype dtype) {
    if (type == AS_I64)
        return TL_I64;
    return type == AS_FLOAT && dtype == TL_I64 ? TL_F32 : dtype;
}

static void random_numbers(array *a, tl_dtype dtype) {
    int64_t shape[4];
    int rank = (int)random_below(5);
    for (int d = 0; d < rank; d++)
        shape[d] = random_below(14) == 0 ? 0 : 1 + random_below(5);
    if (rank > 0 && random_below(4) == 0)
        shape[rank - 1] = 8 + random_below(12); /* long enough for lanes */
    array_shape(a, rank, shape);
    for (int64_t i = 0; i < a->count; i++)
        a->v[i] = dtype == TL_I64 ? (double)(random_below(5) - 2) : (double)(float)random_between(-1.5, 1.5);
}

static void check_reduction(const reduction *r, tl_dtype dtype, lies how) {
    array a, expected;
    random_numbers(&a, dtype);
    tl_tensor *x = tensor_lying(&a, dtype, how);
    tl_dtype result = dtype_of(r->type, dtype);
    if (a.count > 0 || !r->needs_elements) {
        judge_lines(r->judge, &a, -1, &expected);
        assert_result(r->all(x), result, &expected, tolerance[result], r->name);
    }
    for (int d = 0; d < a.rank && r->one; d++) {
        if (a.shape[d] == 0 && r->needs_elements)
            continue;
        judge_lines(r->judge, &a, d, &expected);
        assert_result(r->one(x, random_below(2) ? d : d - a.rank), result, &expected, tolerance[result], r->name);
    }
    release(x);
}

static void reductions_match_plain_loops(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 21);
    for (int round = 0; round < 40; round++)
        for (int i = 0; i < REDUCTIONS; i++)
            for (int dtype = 0; dtype < TL_BOOL; dtype++)
                for (lies how = 0; how < LIES_COUNT; how++)
                    check_reduction(&reductions[i], (tl_dtype)dtype, how);
    close_ops(rt);
}

/* A column of more than one block, and a row so long that sums in f32 would be off. */
static void long_sums_stay_exact(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = checked(tl_tensor_full(SHAPE(3, 150), 0.1, false));
    tl_tensor *columns = checked(tl_tensor_sum_dim(t, 0));
    assert_all(columns, 3 * (double)0.1f);
    release(columns);
    release(t);
    t = checked(tl_tensor_full(SHAPE(1 << 20), 0.1, false));
    assert_close(item(tl_tensor_sum(t)), 0.1f * (double)(1 << 20), 1e-7, "sum", 0);
    release(t);
    close_ops(rt);
}

/* The sum of n elements that lie `stride` apart may be far from the right one by a rounding of the result and two of
 * the elements' sizes. */
static void check_sum(float got, const float *x, int64_t n, int64_t stride) {
    double right = 0, sizes = 0;
    for (int64_t i = 0; i < n; i++) {
        right += (double)x[i * stride];
        sizes += fabs((double)x[i * stride]);
    }
    if (!(fabs((double)got - right) <= (fabs(right) + 2 * sizes) * 0x1p-24))
        fail_msg("%d elements, %d apart: %.9g, not %.17g", (int)n, (int)stride, (double)got, right);
}

/* What cancels must not leave more than four neighbours can: f32 alone would lose the small ones. */
static void sums_by_fours_are_near(void **state) {
    (void)state;
    enum { N = 997, COLUMNS = 67 };
    static float x[N * COLUMNS];
    uint32_t bits = 7;
    for (int i = 0; i < N * COLUMNS; i++) {
        bits = bits * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)bits * (i % 3 ? 0x1p-31f : i % 2 ? 0x1p-17f : -0x1p-17f);
    }
    for (int64_t n = 1; n < N; n = n < 90 ? n + 1 : n + 77) {
        tl_total total = {0};
        float columns[COLUMNS], one;
        tl__fold_sum[TL_F32].row(x, n, 1, &total);
        tl__fold_sum[TL_F32].store(&total, &one);
        check_sum(one, x, n, 1);
        tl__fold_sum[TL_F32].columns(x, n, COLUMNS, COLUMNS, columns);
        for (int j = 0; j < COLUMNS; j++) {
            total = (tl_total){0};
            check_sum(columns[j], x + j, n, COLUMNS);
            tl__fold_sum[TL_F32].row(x + j, n, COLUMNS, &total);
            tl__fold_sum[TL_F32].store(&total, &one);
            assert_true(one == columns[j]);
        }
    }
}

/* Four that are infinite together are not added together. */
static void sums_beyond_f32_come_back(void **state) {
    (void)state;
    enum { N = 128, COLUMNS = 5 };
    float x[N * COLUMNS], columns[COLUMNS];
    for (int i = 0; i < N * COLUMNS; i++)
        x[i] = i / COLUMNS % 64 < 32 ? 3e38f : -3e38f;
    tl__fold_sum[TL_F32].columns(x, N, COLUMNS, COLUMNS, columns);
    for (int j = 0; j < COLUMNS; j++)
        assert_true(columns[j] == 0);
    for (int i = 0; i < N; i++)
        x[i] = i < N / 2 ? 3e38f : -3e38f;
    x[N - 1] = -2e38f;
    tl_total total = {0};
    tl__fold_sum[TL_F32].row(x, N, 1, &total);
    assert_true(fabs(total.real - 1e38) < 1e32);
    x[5] = INFINITY;
    tl__fold_sum[TL_F32].row(x, N, 1, &total);
    assert_true(isinf(total.real) && total.real > 0);
    x[77] = NAN;
    tl__fold_sum[TL_F32].row(x, N, 1, &total);
    assert_true(isnan(total.real));
}

static void masks_are_counted(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *m = checked(tl_tensor_literal_bool(2, 6, (const int64_t[]){2, 2, 1, 1, 0, 1}));
    array three = {0, {0}, 1, {3}}, mean = {0, {0}, 1, {0.75}}, columns = {1, {2}, 2, {1, 2}}, all = {0, {0}, 1, {1}};
    assert_result(tl_tensor_sum(m), TL_I64, &three, 0, "sum");
    assert_result(tl_tensor_mean(m), TL_F32, &mean, 0, "mean");
    assert_result(tl_tensor_sum_dim(m, 0), TL_I64, &columns, 0, "columns");
    assert_result(tl_tensor_max(m), TL_BOOL, &all, 0, "any");
    release(m);
    close_ops(rt);
}

static void extremes_prefer_nan_and_the_first(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *ties = F32(SHAPE(2, 3), 1, 5, 5, 5, 0, 0), *nan = F32(SHAPE(4), 1, NAN, 7, NAN);
    array rows = {1, {2}, 2, {1, 0}}, lowest = {1, {2}, 2, {0, 1}};
    assert_result(tl_tensor_argmax_dim(ties, 1), TL_I64, &rows, 0, "argmax");
    assert_result(tl_tensor_argmin_dim(ties, 1), TL_I64, &lowest, 0, "argmin");
    assert_int_equal(item(tl_tensor_argmax(ties)), 1);
    assert_int_equal(item(tl_tensor_argmin(ties)), 4);
    assert_int_equal(item(tl_tensor_argmax(nan)), 1);
    assert_int_equal(item(tl_tensor_argmin(nan)), 1);
    assert_true(isnan(item(tl_tensor_max(nan))));
    release(ties);
    release(nan);
    close_ops(rt);
}

/* Lines above the length from which values alone are looked for in lanes: one number that differs, at each place. */
static void extremes_of_long_lines(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const int64_t lengths[] = {63, 64, 65, 95, 96, 97, 131};
    const double odd[] = {NAN, INFINITY, -INFINITY, 9, -9, 0};
    static array a, expected;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int64_t at = 0; at < lengths[l]; at++)
            for (size_t k = 0; k < 2 * sizeof odd / sizeof *odd; k++) {
                const double one = odd[k / 2];
                const tl_dtype dtype = k % 2 ? TL_F32 : TL_F64;
                array_shape(&a, SHAPE(1, lengths[l]));
                array_shape(&expected, SHAPE(1));
                for (int64_t i = 0; i < a.count; i++)
                    a.v[i] = -1 - (double)(i % 3) / 4;
                a.v[at] = one;
                tl_tensor *t = tensor_of(&a, dtype);
                expected.v[0] = isnan(one) || one >= 0 ? one : -1;
                assert_result(tl_tensor_max_dim(t, 1), dtype, &expected, 0, "max");
                expected.v[0] = isnan(one) || one < -2 ? one : -1.5;
                assert_result(tl_tensor_min_dim(t, 1), dtype, &expected, 0, "min");
                release(t);
            }
    close_ops(rt);
}

static void nothing_to_reduce(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *none = checked(tl_tensor_zeros(SHAPE(2, 0), false));
    assert_true(item(tl_tensor_sum(none)) == 0);
    assert_true(item(tl_tensor_prod(none)) == 1);
    assert_true(isnan(item(tl_tensor_mean(none))));
    assert_null(tl_tensor_max(none));
    assert_raised(rt, MASU_ERR_EMPTY, "max: nothing to choose from in a tensor of shape [2, 0]");
    assert_null(tl_tensor_argmin_dim(none, 1));
    assert_raised(rt, MASU_ERR_EMPTY, "argmin");
    array zeros = {1, {2}, 2, {0, 0}}, empty = {1, {0}, 0, {0}};
    assert_result(tl_tensor_sum_dim(none, 1), TL_F32, &zeros, 0, "sum of nothing");
    assert_result(tl_tensor_max_dim(none, 0), TL_F32, &empty, 0, "max of nothing");
    assert_null(tl_tensor_sum_dim(none, 2));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "sum: dimension 2 is out of range for a tensor of shape [2, 0]");
    release(none);
    close_ops(rt);
}

/* ---- softmax --------------------------------------------------------------------------------- */

static void judge_softmax(const array *a, int dim, bool logarithm, array *out) {
    int64_t index[TL_MAX_RANK] = {0};
    *out = *a;
    for (int64_t i = 0; i < a->count; i++) {
        double sum = 0, own = a->v[i];
        unravel(a, i, index);
        for (index[dim] = 0; index[dim] < a->shape[dim]; index[dim]++)
            sum += exp(array_at(a, a->rank, index) - own);
        out->v[i] = logarithm ? -log(sum) : 1 / sum;
    }
}

static void softmax_matches_its_definition(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 22);
    const int64_t shapes[][3] = {{2, 3, 4}, {5, 1, 2}, {1, 8, 8}, {2, 0, 3}, {3, 2, 0}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (int dim = 0; dim < 3; dim++) {
            for (lies how = 0; how < LIES_COUNT; how++) {
                array a, expected;
                array_random(&a, 3, shapes[s], -3, 3);
                tl_tensor *x = tensor_lying(&a, TL_F64, how);
                judge_softmax(&a, dim, false, &expected);
                assert_result(tl_tensor_softmax(x, dim), TL_F64, &expected, 1e-13, "softmax");
                judge_softmax(&a, dim, true, &expected);
                assert_result(tl_tensor_log_softmax(x, dim - 3), TL_F64, &expected, 1e-13, "log_softmax");
                release(x);
            }
        }
    }
    close_ops(rt);
}

static void softmax_of_large_numbers(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *x = F32(SHAPE(3), 1000, 1001, -1000);
    tl_tensor *whole = checked(tl_tensor_literal_i64(1, 3, (const int64_t[]){2, 7, 7}));
    array expected = {1, {3}, 3, {0.26894143, 0.7310586, 0}}, half = {1, {2}, 2, {0.5, 0.5}};
    assert_result(tl_tensor_softmax(x, 0), TL_F32, &expected, 1e-6, "softmax");
    assert_result(tl_tensor_softmax(whole, 0), TL_F32, &half, 1e-6, "softmax of whole numbers");
    tl_tensor *logs = checked(tl_tensor_log_softmax(x, 0));
    assert_close(read_number(logs, 2), -2001.3132, 1e-6, "log_softmax", 2);
    release(logs);
    assert_null(tl_tensor_softmax(x, 1));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "softmax");
    release(x);
    release(whole);
    close_ops(rt);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static void mean_of_squared_differences(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = F32(SHAPE(2, 2), 1, 2, 3, 4), *b = F32(SHAPE(2, 2), 1, 0, 1, 0);
    tl_tensor *whole = checked(tl_tensor_literal_i64(1, 3, (const int64_t[]){2, 1, 3}));
    tl_tensor *wrong = checked(tl_tensor_ones(SHAPE(2), false)); /* would spread */
    assert_close(item(tl_tensor_mse_loss(a, b)), (0 + 4 + 4 + 16) / 4.0, 1e-6, "mse", 0);
    assert_close(item(tl_tensor_mse_loss(whole, whole)), 0, 0, "mse", 0);
    assert_null(tl_tensor_mse_loss(a, wrong));
    tl_tensor *threes = checked(tl_tensor_full(SHAPE(300, 1001), 3.0, false)); /* cut in slices and tiles */
    tl_tensor *ones = checked(tl_tensor_ones(SHAPE(300, 1001), false)), *one = checked(tl_tensor_scalar(1.0));
    assert_close(item(tl_tensor_mse_loss(threes, ones)), 4, 0, "mse", 0);
    assert_close(item(tl_tensor_mse_loss(threes, one)), 4, 0, "mse", 0);
    release(threes);
    release(ones);
    release(one);
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "mse_loss");
    release(a);
    release(b);
    release(whole);
    release(wrong);
    close_ops(rt);
}

static void cross_entropy_by_class_and_by_weight(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    array logits, logs;
    masu__rng_seed(&test_rng, 23);
    const int64_t shape[] = {4, 3};
    array_random(&logits, 2, shape, -2, 2);
    judge_softmax(&logits, 1, true, &logs);
    const int64_t classes[] = {4, 0, 2, 1, 2};
    double expected = 0;
    for (int i = 0; i < 4; i++)
        expected -= logs.v[i * 3 + classes[i + 1]] / 4;
    tl_tensor *x = tensor_lying(&logits, TL_F64, LIES_TURNED);
    tl_tensor *t = checked(tl_tensor_literal_i64(1, 5, classes)), *f = checked(tl_tensor_to_dtype(t, TL_F32));
    assert_close(item(tl_tensor_cross_entropy(x, t)), expected, 1e-13, "classes", 0);
    assert_close(item(tl_tensor_cross_entropy(x, f)), expected, 1e-13, "classes as floats", 0);
    tl_tensor *hot = checked(tl_tensor_zeros(SHAPE(4, 3), false));
    for (int i = 0; i < 4; i++)
        hot = checked(tl_tensor_set_f64(hot, 1, 2, (const int64_t[]){i, classes[i + 1]}));
    assert_close(item(tl_tensor_cross_entropy(x, hot)), expected, 1e-13, "one-hot", 0);
    tl_tensor *row = checked(tl_tensor_row(x, 1)), *class = checked(tl_tensor_row(t, 1));
    assert_close(item(tl_tensor_cross_entropy(row, class)), -logs.v[3 + 2], 1e-13, "one row", 0);
    release(row);
    release(class);
    release(hot);
    release(f);
    t = checked(tl_tensor_set_i64(t, 3, 1, (const int64_t[]){0}));
    assert_null(tl_tensor_cross_entropy(x, t));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "class 3 is out of range for 3 classes");
    t = checked(tl_tensor_set_i64(t, -1, 1, (const int64_t[]){0}));
    assert_null(tl_tensor_cross_entropy(x, t));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "class -1");
    assert_null(tl_tensor_cross_entropy(t, x));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "logits of shape [4]");
    release(t);
    release(x);
    close_ops(rt);
}

/* Sums of products that no tensor holds: lines that lie side by side or one behind the other, shorter and longer than
 * the tile they are multiplied in, and an operand that is broadcast. */
static void sums_of_products(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    static const struct {
        int rank, dim;
        int64_t a[3], b[3];
    } cases[] = {
        {1, 0, {7}, {7}},
        {2, 0, {5, 3}, {5, 3}},
        {2, 1, {5, 3}, {1, 3}},
        {3, 1, {2, 3, 1300}, {2, 3, 1300}}, /* more columns than a tile has */
        {3, 1, {2, 3, 1300}, {1, 3, 1}},
        {3, 2, {3, 130, 4}, {3, 130, 4}}, /* many short lines */
        {2, 1, {2, 4000}, {2, 4000}},     /* a line above the tile */
        {2, 0, {9, 1}, {9, 1}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int t = 0; t < 2; t++) {
            tl_dtype dtype = t ? TL_F64 : TL_F32;
            static array a, b, product, wanted;
            array_random(&a, cases[c].rank, cases[c].a, -2, 2);
            array_random(&b, cases[c].rank, cases[c].b, -2, 2);
            product = a;
            for (int64_t i = 0; i < a.count; i++) {
                int64_t index[TL_MAX_RANK];
                unravel(&a, i, index);
                product.v[i] *= array_at(&b, b.rank, index);
            }
            judge_lines(line_sum, &product, cases[c].dim, &wanted);
            tl_tensor *x = tensor_of(&a, dtype), *y = tensor_of(&b, dtype);
            assert_result(tl_tensor_vecdot(x, y, cases[c].dim), dtype, &wanted, dtype == TL_F32 ? 1e-3 : 1e-10,
                          "vecdot");
            release(x);
            release(y);
        }
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_match_plain_loops),
        cmocka_unit_test(long_sums_stay_exact),
        cmocka_unit_test(sums_by_fours_are_near),
        cmocka_unit_test(sums_beyond_f32_come_back),
        cmocka_unit_test(masks_are_counted),
        cmocka_unit_test(extremes_prefer_nan_and_the_first),
        cmocka_unit_test(extremes_of_long_lines),
        cmocka_unit_test(nothing_to_reduce),
        cmocka_unit_test(softmax_matches_its_definition),
        cmocka_unit_test(sums_of_products),
        cmocka_unit_test(softmax_of_large_numbers),
        cmocka_unit_test(mean_of_squared_differences),
        cmocka_unit_test(cross_entropy_by_class_and_by_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
