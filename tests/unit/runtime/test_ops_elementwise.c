/* test_ops_elementwise.c: element-wise operations against loops over plain numbers: every type,
 * every layout, broadcasting, and what must be refused. */
#include "ops_fixture.h"

static const double tolerance[TL_DTYPE_COUNT] = {2e-6, 1e-12, 0, 0};

/* ---- two tensors ----------------------------------------------------------------------------- */

static double judge_add(double x, double y) {
    return x + y;
}
static double judge_sub(double x, double y) {
    return x - y;
}
static double judge_mul(double x, double y) {
    return x * y;
}
static double judge_div(double x, double y) {
    return x / y;
}
static double judge_rem(double x, double y) {
    return x - y * floor(x / y);
}
static double judge_less(double x, double y) {
    return x < y;
}
static double judge_equal(double x, double y) {
    return x == y;
}
static double judge_and(double x, double y) {
    return x != 0 && y != 0;
}
static double judge_or(double x, double y) {
    return x != 0 || y != 0;
}

static tl_tensor *less(tl_tensor *a, tl_tensor *b) {
    return tl_tensor_compare(a, b, 2);
}
static tl_tensor *equal(tl_tensor *a, tl_tensor *b) {
    return tl_tensor_compare(a, b, 0);
}

typedef struct binary_case {
    const char *name;
    tl_tensor *(*call)(tl_tensor *, tl_tensor *);
    double (*judge)(double, double);
    double (*whole_judge)(double, double); /* for i64 */
    double low;                            /* of the second operand's absolute value */
    bool to_bool, on_bool;
} binary_case;

static const binary_case binary_cases[] = {
    {"add", tl_tensor_add, judge_add, judge_add, 0, false, false},
    {"sub", tl_tensor_sub, judge_sub, judge_sub, 0, false, false},
    {"mul", tl_tensor_mul, judge_mul, judge_mul, 0, false, false},
    {"div", tl_tensor_div, judge_div, NULL, 1, false, false},
    {"rem", tl_tensor_rem, judge_rem, judge_rem, 1, false, false},
    {"less", less, judge_less, judge_less, 0, true, true},
    {"equal", equal, judge_equal, judge_equal, 0, true, true},
    {"and", tl_tensor_logical_and, judge_and, judge_and, 0, true, true},
    {"or", tl_tensor_logical_or, judge_or, judge_or, 0, true, true},
};
enum { BINARY_CASES = sizeof binary_cases / sizeof binary_cases[0] };

static void fill_operand(array *a, tl_dtype dtype, double low) {
    for (int64_t i = 0; i < a->count; i++) {
        double sign = random_below(2) ? 1 : -1;
        if (dtype == TL_BOOL)
            a->v[i] = (double)random_below(2);
        else if (dtype == TL_I64)
            a->v[i] = sign * (low + (double)random_below(5));
        else
            a->v[i] = (float)(sign * random_between(low, low + 3));
    }
}

/* a shape, and one that broadcasts with it: cut in front, 1 here and there */
static void random_shapes(array *a, array *b) {
    int64_t wide[TL_MAX_RANK], own[2][TL_MAX_RANK];
    int rank = (int)random_below(5), ranks[2];
    for (int d = 0; d < rank; d++)
        wide[d] = random_below(12) == 0 ? 0 : 1 + random_below(4);
    for (int k = 0; k < 2; k++) {
        int cut = k == 1 && random_below(2) ? (int)random_below(rank + 1) : 0;
        ranks[k] = rank - cut;
        for (int d = 0; d < ranks[k]; d++)
            own[k][d] = random_below(4) == 0 ? 1 : wide[d + cut];
    }
    array_shape(a, ranks[0], own[0]);
    array_shape(b, ranks[1], own[1]);
}

static void judge_binary(double (*judge)(double, double), const array *a, const array *b, array *out) {
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t shape[TL_MAX_RANK], index[TL_MAX_RANK] = {0};
    for (int d = 0; d < rank; d++) {
        int da = d - (rank - a->rank), db = d - (rank - b->rank);
        int64_t na = da < 0 ? 1 : a->shape[da], nb = db < 0 ? 1 : b->shape[db];
        shape[d] = na == 1 ? nb : na;
    }
    array_shape(out, rank, shape);
    for (int64_t i = 0; i < out->count; i++) {
        unravel(out, i, index);
        out->v[i] = judge(array_at(a, rank, index), array_at(b, rank, index));
    }
}

static const int width_of[TL_DTYPE_COUNT] = {[TL_BOOL] = 0, [TL_I64] = 1, [TL_F32] = 2, [TL_F64] = 3};

static void check_binary(const binary_case *c, tl_dtype da, tl_dtype db) {
    array a, b, expected;
    tl_dtype wide = width_of[da] >= width_of[db] ? da : db;
    if (!c->whole_judge && width_of[wide] < width_of[TL_F32])
        wide = TL_F32; /* a quotient of whole numbers is a real one */
    random_shapes(&a, &b);
    fill_operand(&a, da, 0);
    fill_operand(&b, db, da == TL_BOOL || db == TL_BOOL ? 0 : c->low);
    judge_binary(wide == TL_I64 ? c->whole_judge : c->judge, &a, &b, &expected);
    tl_tensor *x = tensor_lying(&a, da, (lies)random_below(LIES_COUNT));
    tl_tensor *y = tensor_lying(&b, db, (lies)random_below(LIES_COUNT));
    assert_result(c->call(x, y), c->to_bool ? TL_BOOL : wide, &expected, c->to_bool ? 0 : 2 * tolerance[wide], c->name);
    release(x);
    release(y);
}

static void two_tensors_match_plain_loops(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 7);
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < BINARY_CASES; i++) {
            for (int da = 0; da < TL_DTYPE_COUNT; da++) {
                for (int db = 0; db < TL_DTYPE_COUNT; db++) {
                    bool has_bool = da == TL_BOOL || db == TL_BOOL;
                    if (has_bool && !binary_cases[i].on_bool && (da == db || binary_cases[i].low > 0))
                        continue;
                    check_binary(&binary_cases[i], (tl_dtype)da, (tl_dtype)db);
                }
            }
        }
    }
    close_ops(rt);
}

static void same_shape_and_eight_dimensions(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    array a, b, expected;
    const int64_t shape[] = {2, 1, 3, 2, 1, 2, 3, 2}, other[] = {1, 2, 3, 1, 2, 1, 3, 2};
    array_random(&a, 8, shape, -2, 2);
    array_random(&b, 8, other, 1, 2);
    for (lies how = 0; how < LIES_COUNT; how++) {
        tl_tensor *x = tensor_of(&a, TL_F64), *y = tensor_lying(&b, TL_F64, how);
        judge_binary(judge_div, &a, &b, &expected);
        assert_result(tl_tensor_div(x, y), TL_F64, &expected, 1e-12, "div");
        judge_binary(judge_sub, &b, &b, &expected);
        assert_result(tl_tensor_sub(y, y), TL_F64, &expected, 0, "sub");
        release(x);
        release(y);
    }
    close_ops(rt);
}

static void powers(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = F32(SHAPE(2, 2), 2, 3, 0.5, 4), *b = F32(SHAPE(2), 2, -1);
    array expected = {2, {2, 2}, 4, {4, 1 / 3.0, 0.25, 0.25}};
    assert_result(tl_tensor_pow(a, b), TL_F32, &expected, 1e-6, "pow");
    release(b);
    tl_tensor *i = checked(tl_tensor_literal_i64(1, 4, (const int64_t[]){3, -2, 0, 7}));
    tl_tensor *e = checked(tl_tensor_literal_i64(1, 4, (const int64_t[]){3, 3, 0, 1}));
    array whole = {1, {3}, 3, {-8, 1, 7}};
    assert_result(tl_tensor_pow(i, e), TL_I64, &whole, 0, "pow");
    release(e);
    e = checked(tl_tensor_literal_i64(1, 4, (const int64_t[]){3, 1, -1, 1}));
    assert_null(tl_tensor_pow(i, e));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "negative exponent");
    release(e);
    array cubes = {1, {3}, 3, {-8, 0, 343}}, squares = {1, {3}, 3, {4, 0, 49}};
    assert_result(tl_tensor_pow_scalar(i, 3), TL_I64, &cubes, 0, "cubes");
    assert_result(tl_tensor_pow_scalar(i, 2), TL_I64, &squares, 0, "squares");
    array roots = {2, {2, 2}, 4, {1.4142135, 1.7320508, 0.70710678, 2}};
    assert_result(tl_tensor_pow_scalar(a, 0.5), TL_F32, &roots, 1e-6, "roots");
    release(a);
    release(i);
    close_ops(rt);
}

/* ---- a tensor and a scalar ------------------------------------------------------------------- */

typedef struct scalar_case {
    const char *name;
    tl_tensor *(*call)(tl_tensor *, double);
    double (*judge)(double, double);
    double (*whole_judge)(double, double);
    bool reversed;
} scalar_case;

static const scalar_case scalar_cases[] = {
    {"add_scalar", tl_tensor_add_scalar, judge_add, judge_add, false},
    {"sub_scalar", tl_tensor_sub_scalar, judge_sub, judge_sub, false},
    {"mul_scalar", tl_tensor_mul_scalar, judge_mul, judge_mul, false},
    {"div_scalar", tl_tensor_div_scalar, judge_div, NULL, false},
    {"rem_scalar", tl_tensor_rem_scalar, judge_rem, judge_rem, false},
    {"rsub_scalar", tl_tensor_rsub_scalar, judge_sub, judge_sub, true},
    {"rdiv_scalar", tl_tensor_rdiv_scalar, judge_div, NULL, true},
};
enum { SCALAR_CASES = sizeof scalar_cases / sizeof scalar_cases[0] };

static void check_scalar(const scalar_case *c, tl_dtype dtype, double scalar, lies how) {
    array a, expected;
    int64_t shape[] = {random_below(4), 3, 1 + random_below(3)};
    tl_dtype result = dtype == TL_F32 || dtype == TL_F64          ? dtype
                      : scalar == floor(scalar) && c->whole_judge ? TL_I64
                                                                  : TL_F32;
    array_shape(&a, 3, shape);
    for (int64_t i = 0; i < a.count; i++)
        a.v[i] = dtype == TL_BOOL ? 1 : (double)(1 + random_below(9)) * (random_below(2) ? 1 : -1);
    expected = a;
    for (int64_t i = 0; i < a.count; i++) {
        double (*judge)(double, double) = result == TL_I64 ? c->whole_judge : c->judge;
        expected.v[i] = c->reversed ? judge(scalar, a.v[i]) : judge(a.v[i], scalar);
    }
    tl_tensor *x = tensor_lying(&a, dtype, how);
    assert_result(c->call(x, scalar), result, &expected, tolerance[result], c->name);
    release(x);
}

static void scalars_match_plain_loops(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 8);
    const double scalars[] = {2, -3, 0.5, -2.25, 1e9};
    for (int i = 0; i < SCALAR_CASES; i++)
        for (int dtype = 0; dtype < TL_DTYPE_COUNT; dtype++)
            for (lies how = 0; how < LIES_COUNT; how++)
                for (size_t s = 0; s < sizeof scalars / sizeof scalars[0]; s++)
                    check_scalar(&scalar_cases[i], (tl_dtype)dtype, scalars[s], how);
    close_ops(rt);
}

static void whole_numbers_wrap_and_divide_as_told(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = checked(tl_tensor_literal_i64(1, 4, (const int64_t[]){3, INT64_MAX, INT64_MIN, -7}));
    tl_tensor *one = checked(tl_tensor_literal_i64(0, 1, (const int64_t[]){1}));
    tl_tensor *minus = checked(tl_tensor_literal_i64(0, 1, (const int64_t[]){-1}));
    tl_tensor *sum = checked(tl_tensor_add(t, one)), *quotient = checked(tl_tensor_div(t, minus));
    tl_tensor *rest = checked(tl_tensor_rem(t, minus)), *magnitude = checked(tl_tensor_abs(t));
    assert_true(((int64_t *)sum->data)[0] == INT64_MIN);
    assert_int_equal(quotient->dtype, TL_F32);
    assert_true(((float *)quotient->data)[2] == 7.0f);
    assert_true(((int64_t *)rest->data)[1] == 0);
    assert_true(((int64_t *)magnitude->data)[2] == 7);
    release(sum);
    release(quotient);
    release(rest);
    release(magnitude);
    release(minus);
    release(one);
    release(t);
    close_ops(rt);
}

static void division_of_whole_numbers_by_zero_is_refused(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = checked(tl_tensor_literal_i64(1, 4, (const int64_t[]){3, 5, 0, 7}));
    tl_tensor *f = F32(SHAPE(3), 1, 0, -1);
    assert_null(tl_tensor_rem(t, t));
    assert_raised(rt, MASU_ERR_DIVISION_BY_ZERO, "rem: division by zero");
    assert_null(tl_tensor_rem_scalar(t, 0));
    assert_raised(rt, MASU_ERR_DIVISION_BY_ZERO, "division by zero");
    array expected = {1, {3}, 3, {INFINITY, NAN, -INFINITY}};
    assert_result(tl_tensor_div_scalar(f, 0), TL_F32, &expected, 0, "float");
    release(t);
    release(f);
    close_ops(rt);
}

/* ---- one tensor ------------------------------------------------------------------------------ */

static double judge_neg(double x) {
    return -x;
}
static double judge_abs(double x) {
    return fabs(x);
}
static double judge_relu(double x) {
    return x > 0 ? x : 0;
}
static double judge_sigmoid(double x) {
    return 1 / (1 + exp(-x));
}
static double judge_gelu(double x) {
    return 0.5 * x * (1 + erf(x / sqrt(2.0)));
}
static double judge_silu(double x) {
    return x / (1 + exp(-x));
}

typedef struct unary_case {
    const char *name;
    tl_tensor *(*call)(tl_tensor *);
    double (*judge)(double);
    double low, high;
    bool keeps_whole; /* i64 stays i64 */
} unary_case;

static const unary_case unary_cases[] = {
    {"neg", tl_tensor_neg, judge_neg, -5, 5, true},     {"abs", tl_tensor_abs, judge_abs, -5, 5, true},
    {"relu", tl_tensor_relu, judge_relu, -5, 5, true},  {"exp", tl_tensor_exp, exp, -3, 3, false},
    {"log", tl_tensor_log, log, 1, 9, false},           {"sqrt", tl_tensor_sqrt, sqrt, 0, 9, false},
    {"sin", tl_tensor_sin, sin, -4, 4, false},          {"cos", tl_tensor_cos, cos, -4, 4, false},
    {"tanh", tl_tensor_tanh, tanh, -4, 4, false},       {"sigmoid", tl_tensor_sigmoid, judge_sigmoid, -90, 90, false},
    {"gelu", tl_tensor_gelu, judge_gelu, -4, 4, false}, {"silu", tl_tensor_silu, judge_silu, -90, 90, false},
};
enum { UNARY_CASES = sizeof unary_cases / sizeof unary_cases[0] };

static void check_unary(const unary_case *c, tl_dtype dtype, lies how) {
    array a, expected;
    int64_t shape[] = {random_below(5), 2, 7};
    array_random(&a, 3, shape, c->low, c->high);
    for (int64_t i = 0; i < a.count; i++)
        a.v[i] = dtype == TL_I64 ? trunc(a.v[i]) : (float)a.v[i];
    expected = a;
    for (int64_t i = 0; i < a.count; i++)
        expected.v[i] = c->judge(a.v[i]);
    tl_dtype result = dtype == TL_I64 && !c->keeps_whole ? TL_F32 : dtype;
    tl_tensor *x = tensor_lying(&a, dtype, how);
    assert_result(c->call(x), result, &expected, tolerance[result], c->name);
    release(x);
}

static void one_tensor_matches_plain_loops(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 9);
    for (int i = 0; i < UNARY_CASES; i++)
        for (int dtype = 0; dtype < TL_BOOL; dtype++)
            for (lies how = 0; how < LIES_COUNT; how++)
                check_unary(&unary_cases[i], (tl_dtype)dtype, how);
    close_ops(rt);
}

static void clamping(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *f = F32(SHAPE(4), -2, 0.25, 3, NAN);
    tl_tensor *i = checked(tl_tensor_literal_i64(1, 4, (const int64_t[]){3, INT64_MIN, 4, INT64_MAX}));
    array clamped = {1, {4}, 4, {-0.5, 0.25, 1, NAN}}, whole = {1, {3}, 3, {0, 4, 9}}, half = {1, {3}, 3, {0.5, 4, 9}};
    assert_result(tl_tensor_clamp(f, -0.5, 1), TL_F32, &clamped, 0, "clamp");
    assert_result(tl_tensor_clamp(i, 0, 9), TL_I64, &whole, 0, "whole clamp");
    assert_result(tl_tensor_clamp(i, 0.5, 9), TL_F32, &half, 0, "clamp to a fraction");
    tl_tensor *open = checked(tl_tensor_clamp(i, -INFINITY, 5));
    assert_int_equal(open->dtype, TL_I64);
    assert_true(((int64_t *)open->data)[0] == INT64_MIN && ((int64_t *)open->data)[2] == 5);
    release(open);
    release(i);
    release(f);
    close_ops(rt);
}

static void a_bool_tensor_is_a_mask(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *m = checked(tl_tensor_literal_bool(1, 4, (const int64_t[]){3, 1, 0, 1}));
    tl_tensor *n = checked(tl_tensor_literal_bool(1, 4, (const int64_t[]){3, 1, 1, 0}));
    tl_tensor *f = F32(SHAPE(3), 2, 3, 4);
    array either = {1, {3}, 3, {1, 1, 1}}, both = {1, {3}, 3, {1, 0, 0}}, not = {1, {3}, 3, {0, 1, 0}},
          masked = {1, {3}, 3, {2, 0, 4}}, halves = {1, {3}, 3, {0.5, 0, 0.5}};
    assert_result(tl_tensor_add(m, n), TL_BOOL, &either, 0, "or");
    assert_result(tl_tensor_mul(m, n), TL_BOOL, &both, 0, "and");
    assert_result(tl_tensor_logical_not(m), TL_BOOL, &not, 0, "not");
    assert_result(tl_tensor_mul(m, f), TL_F32, &masked, 0, "mask");
    assert_result(tl_tensor_mul_scalar(m, 0.5), TL_F32, &halves, 0, "scalar");
    assert_null(tl_tensor_sub(m, n));
    assert_raised(rt, MASU_ERR_DTYPE_MISMATCH, "sub is not defined for two bool tensors");
    assert_null(tl_tensor_neg(m));
    assert_raised(rt, MASU_ERR_DTYPE_MISMATCH, "neg is not defined for a bool tensor");
    release(m);
    release(n);
    release(f);
    close_ops(rt);
}

static void comparing_with_a_scalar(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *f = F32(SHAPE(2, 2), 0.1, 0.5, 0.7, NAN);
    tl_tensor *i = checked(tl_tensor_literal_i64(1, 4, (const int64_t[]){3, 1, 2, INT64_MAX}));
    const double expected[6][4] = {{0, 1, 0, 0}, {1, 0, 1, 1}, {1, 0, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {0, 1, 1, 0}};
    for (int relation = 0; relation < 6; relation++) {
        array judged = {2, {2, 2}, 4, {0}};
        memcpy(judged.v, expected[relation], sizeof expected[0]);
        assert_result(tl_tensor_compare_scalar(f, 0.5, relation), TL_BOOL, &judged, 0, "compare");
    }
    array above = {1, {3}, 3, {0, 1, 1}}, same = {1, {3}, 3, {0, 1, 0}}, f32_tenth = {2, {2, 2}, 4, {1, 0, 0, 0}};
    assert_result(tl_tensor_compare_scalar(i, 1.5, 4), TL_BOOL, &above, 0, "above a fraction");
    assert_result(tl_tensor_compare_scalar(i, 2, 0), TL_BOOL, &same, 0, "equal to a whole number");
    assert_result(tl_tensor_compare_scalar(f, 0.1, 0), TL_BOOL, &f32_tenth, 0, "the scalar does not widen");
    assert_null(tl_tensor_compare_scalar(f, 0.5, 6));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "6 is not a relation");
    release(f);
    release(i);
    close_ops(rt);
}

static void choosing_between_two_tensors(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *condition = checked(tl_tensor_literal_bool(2, 4, (const int64_t[]){2, 1, 1, 0}));
    tl_tensor *a = checked(tl_tensor_literal_i64(1, 4, (const int64_t[]){3, 1, 2, 3}));
    tl_tensor *b = F32(SHAPE(1), 0.5), *number = F32(SHAPE(2, 1), -4, 0);
    array expected = {2, {2, 3}, 6, {1, 2, 3, 0.5, 0.5, 0.5}}, whole = {2, {2, 3}, 6, {1, 2, 3, 1, 2, 3}};
    assert_result(tl_tensor_where(condition, a, b), TL_F32, &expected, 0, "where");
    assert_result(tl_tensor_where(number, a, b), TL_F32, &expected, 0, "anything but 0 holds");
    assert_result(tl_tensor_where(condition, a, a), TL_I64, &whole, 0, "where of one tensor");
    array chosen = {2, {2, 1}, 2, {1, 0}};
    assert_result(tl_tensor_where(condition, condition, condition), TL_BOOL, &chosen, 0, "where of masks");
    release(condition);
    release(number);
    release(a);
    release(b);
    close_ops(rt);
}

static void shapes_that_do_not_broadcast_are_named(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = checked(tl_tensor_ones(SHAPE(2, 3), false)), *b = checked(tl_tensor_ones(SHAPE(4), false));
    assert_null(tl_tensor_add(a, b));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "add: shapes [2, 3] and [4] cannot be broadcast");
    assert_null(tl_tensor_compare(b, a, 0));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "[4] and [2, 3]");
    assert_null(tl_tensor_where(a, b, a));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "where");
    assert_null(tl_tensor_logical_or(a, b));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "logical_or");
    release(a);
    release(b);
    close_ops(rt);
}

/* x = softmax(x), x = x - x.sum(0) and so on: an operand that is also the other operand, or a
 * view of it. */
static void operands_may_share_storage(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *x = F32(SHAPE(2, 2), 1, 2, 3, 4), *turned = checked(tl_tensor_transpose(x, 0, 1));
    array sum = {2, {2, 2}, 4, {2, 5, 5, 8}}, squares = {2, {2, 2}, 4, {1, 4, 9, 16}};
    assert_result(tl_tensor_add(x, turned), TL_F32, &sum, 0, "x + xT");
    assert_result(tl_tensor_mul(x, x), TL_F32, &squares, 0, "x * x");
    release(turned);
    release(x);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tensors_match_plain_loops),
        cmocka_unit_test(same_shape_and_eight_dimensions),
        cmocka_unit_test(powers),
        cmocka_unit_test(scalars_match_plain_loops),
        cmocka_unit_test(whole_numbers_wrap_and_divide_as_told),
        cmocka_unit_test(division_of_whole_numbers_by_zero_is_refused),
        cmocka_unit_test(one_tensor_matches_plain_loops),
        cmocka_unit_test(clamping),
        cmocka_unit_test(a_bool_tensor_is_a_mask),
        cmocka_unit_test(comparing_with_a_scalar),
        cmocka_unit_test(choosing_between_two_tensors),
        cmocka_unit_test(shapes_that_do_not_broadcast_are_named),
        cmocka_unit_test(operands_may_share_storage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
