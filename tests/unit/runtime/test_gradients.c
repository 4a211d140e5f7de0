/* test_gradients.c: the gradient of every operation against finite differences, in f64.
 *
 * For each case: random operands; each is a leaf, or a view of a leaf (turned, or inside a
 * larger one); the result is weighted with random numbers and summed; every element of every
 * leaf is moved a little to both sides.
 */
#include "ops_fixture.h"

enum { OPERANDS = 3, DIMS = 4 };

typedef tl_tensor *case_function(tl_tensor *const *x);

typedef struct gradient_case {
    const char *name;
    case_function *call;
    int operands;
    int rank[OPERANDS];
    int64_t shape[OPERANDS][DIMS];
    double low, high;
} gradient_case;

/* ---- the operations -------------------------------------------------------------------------- */

#define BINARY(name)                                     \
    static tl_tensor *call_##name(tl_tensor *const *x) { \
        return tl_tensor_##name(x[0], x[1]);             \
    }
#define UNARY(name)                                      \
    static tl_tensor *call_##name(tl_tensor *const *x) { \
        return tl_tensor_##name(x[0]);                   \
    }
#define WITH(id, call)                                 \
    static tl_tensor *call_##id(tl_tensor *const *x) { \
        return (call);                                 \
    }

BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)
BINARY(rem)
BINARY(pow)
BINARY(matmul)
BINARY(mse_loss)
BINARY(cross_entropy)
UNARY(neg)
UNARY(abs)
UNARY(exp)
UNARY(log)
UNARY(sqrt)
UNARY(sin)
UNARY(cos)
UNARY(tanh)
UNARY(sigmoid)
UNARY(relu)
UNARY(gelu)
UNARY(silu)
UNARY(sum)
UNARY(mean)
UNARY(prod)
UNARY(max)
UNARY(min)
UNARY(flatten)
UNARY(clone)
UNARY(contiguous)
WITH(add_scalar, tl_tensor_add_scalar(x[0], 1.5))
WITH(sub_scalar, tl_tensor_sub_scalar(x[0], 1.5))
WITH(mul_scalar, tl_tensor_mul_scalar(x[0], -2.5))
WITH(div_scalar, tl_tensor_div_scalar(x[0], -2.5))
WITH(rem_scalar, tl_tensor_rem_scalar(x[0], 7.3))
WITH(rsub_scalar, tl_tensor_rsub_scalar(x[0], 1.5))
WITH(rdiv_scalar, tl_tensor_rdiv_scalar(x[0], 1.5))
WITH(pow_scalar, tl_tensor_pow_scalar(x[0], 2.7))
WITH(pow_minus, tl_tensor_pow_scalar(x[0], -1))
WITH(pow_zero, tl_tensor_pow_scalar(x[0], 0))
WITH(square, tl_tensor_pow_scalar(x[0], 2))
WITH(self_mul, tl_tensor_mul(x[0], x[0]))
WITH(self_add, tl_tensor_add(x[0], x[0]))
WITH(self_sub, tl_tensor_sub(x[0], x[0]))
WITH(self_div, tl_tensor_div(x[0], x[0]))
WITH(self_matmul, tl_tensor_matmul(x[0], x[0]))
WITH(clamp, tl_tensor_clamp(x[0], -0.5, 0.8))
WITH(sum_first, tl_tensor_sum_dim(x[0], 0))
WITH(sum_last, tl_tensor_sum_dim(x[0], -1))
WITH(mean_first, tl_tensor_mean_dim(x[0], 0))
WITH(mean_last, tl_tensor_mean_dim(x[0], -1))
WITH(max_first, tl_tensor_max_dim(x[0], 0))
WITH(max_last, tl_tensor_max_dim(x[0], -1))
WITH(min_first, tl_tensor_min_dim(x[0], 0))
WITH(softmax_first, tl_tensor_softmax(x[0], 0))
WITH(softmax_last, tl_tensor_softmax(x[0], -1))
WITH(log_softmax_first, tl_tensor_log_softmax(x[0], 0))
WITH(log_softmax_last, tl_tensor_log_softmax(x[0], -1))
WITH(reshape, tl_tensor_reshape(x[0], SHAPE(-1, 3)))
WITH(transpose, tl_tensor_transpose(x[0], 0, -1))
WITH(permute, tl_tensor_permute(x[0], SHAPE(2, 0, 1)))
WITH(squeeze, tl_tensor_squeeze(x[0], 1))
WITH(unsqueeze, tl_tensor_unsqueeze(x[0], 1))
WITH(expand, tl_tensor_expand(x[0], SHAPE(2, 3, 4)))
WITH(slice, tl_tensor_slice(x[0], 1, 1, 3))
WITH(narrow, tl_tensor_narrow(x[0], 0, 1, 1))
WITH(row, tl_tensor_row(x[0], 1))
WITH(cat_first, tl_tensor_cat(x[0], x[1], 0))
WITH(cat_last, tl_tensor_cat(x[0], x[1], -1))
WITH(cat_self, tl_tensor_cat(x[0], x[0], 0))
WITH(stack, tl_tensor_stack(3, (tl_tensor *[]){x[0], x[1], x[0]}))
WITH(to_f32, tl_tensor_to_dtype(x[0], TL_F64))

static tl_tensor *call_where(tl_tensor *const *x) {
    tl_tensor *positive = tl_tensor_compare_scalar(x[2], 0, 4), *chosen = tl_tensor_where(positive, x[0], x[1]);
    release(positive);
    return chosen;
}

static tl_tensor *call_classes(tl_tensor *const *x) {
    tl_tensor *classes = tl_tensor_literal_i64(1, 4, (const int64_t[]){3, 1, 0, 3});
    tl_tensor *loss = tl_tensor_cross_entropy(x[0], classes);
    release(classes);
    return loss;
}

/* Windows that step by other lengths down than across, of images that are not square. */
static tl_tensor *call_convolve(tl_tensor *const *x) {
    return tl_tensor_convolve(x[0], x[1], 8, (const int64_t[]){3, 4, 2, 3, 1, 2, 1, 1});
}

static tl_tensor *call_convolve_apart(tl_tensor *const *x) {
    return tl_tensor_convolve(x[0], x[1], 8, (const int64_t[]){2, 2, 3, 1, 0, 1, 2, 3});
}

static tl_tensor *scattered(tl_tensor *function(tl_tensor *, int64_t, tl_tensor *, tl_tensor *), tl_tensor *const *x) {
    tl_tensor *index = tl_tensor_literal_i64(2, 8, (const int64_t[]){2, 3, 3, 0, 2, 1, 3, 0});
    tl_tensor *out = function(x[0], 1, index, x[1]);
    release(index);
    return out;
}

static tl_tensor *call_scatter(tl_tensor *const *x) {
    return scattered(tl_tensor_scatter, x);
}

static tl_tensor *call_scatter_add(tl_tensor *const *x) {
    return scattered(tl_tensor_scatter_add, x);
}

/* One value used along three paths, through views and broadcasting. */
static tl_tensor *call_woven(tl_tensor *const *x) {
    tl_tensor *h = tl_tensor_tanh(x[0]), *turned = tl_tensor_transpose(h, 0, 1), *p = tl_tensor_matmul(h, turned);
    tl_tensor *s = tl_tensor_sum_dim(h, 1), *q = tl_tensor_mul(p, s), *r = tl_tensor_row(h, 0);
    tl_tensor *total = tl_tensor_sum(r), *out = tl_tensor_div(q, total);
    tl_tensor *all[] = {h, turned, p, s, q, r, total};
    for (int i = 0; i < 7; i++)
        release(all[i]);
    return out;
}

#define ELEMENTWISE2(name, low, high)                                                 \
    {#name, call_##name, 2, {2, 2}, {{2, 3}, {2, 3}}, low, high},                     \
        {#name " broadcast", call_##name, 2, {3, 2}, {{2, 1, 3}, {4, 1}}, low, high}, \
        {#name " scalar", call_##name, 2, {0, 2}, {{0}, {3, 2}}, low, high}, {        \
#name " empty", call_##name, 2, {2, 1 }, {{0, 3 }, {3 } }, low, high          \
    }
#define ELEMENTWISE1(name, low, high)                                                                              \
    {#name, call_##name, 1, {2}, {{3, 4}}, low, high}, {#name " scalar", call_##name, 1, {0}, {{0}}, low, high}, { \
#name " empty", call_##name, 1, {2 }, {{2, 0 } }, low, high                                                \
    }

static const gradient_case cases[] = {
    ELEMENTWISE2(add, -2, 2),
    ELEMENTWISE2(sub, -2, 2),
    ELEMENTWISE2(mul, -2, 2),
    ELEMENTWISE2(div, 0.7, 2),
    ELEMENTWISE2(rem, 0.7, 2),
    ELEMENTWISE2(pow, 0.5, 2),
    ELEMENTWISE1(neg, -2, 2),
    ELEMENTWISE1(abs, -2, 2),
    ELEMENTWISE1(exp, -2, 2),
    ELEMENTWISE1(log, 0.5, 2),
    ELEMENTWISE1(sqrt, 0.5, 2),
    ELEMENTWISE1(sin, -2, 2),
    ELEMENTWISE1(cos, -2, 2),
    ELEMENTWISE1(tanh, -2, 2),
    ELEMENTWISE1(sigmoid, -2, 2),
    ELEMENTWISE1(relu, -2, 2),
    ELEMENTWISE1(gelu, -2, 2),
    ELEMENTWISE1(silu, -2, 2),
    ELEMENTWISE1(clamp, -2, 2),
    ELEMENTWISE1(add_scalar, -2, 2),
    ELEMENTWISE1(sub_scalar, -2, 2),
    ELEMENTWISE1(mul_scalar, -2, 2),
    ELEMENTWISE1(div_scalar, -2, 2),
    ELEMENTWISE1(rem_scalar, -2, 2),
    ELEMENTWISE1(rsub_scalar, -2, 2),
    ELEMENTWISE1(rdiv_scalar, 0.5, 2),
    ELEMENTWISE1(pow_scalar, 0.5, 2),
    ELEMENTWISE1(pow_minus, 0.5, 2),
    ELEMENTWISE1(pow_zero, -2, 2),
    ELEMENTWISE1(square, -2, 2),
    ELEMENTWISE1(self_mul, -2, 2),
    ELEMENTWISE1(self_add, -2, 2),
    ELEMENTWISE1(self_sub, -2, 2),
    ELEMENTWISE1(self_div, 0.5, 2),
    ELEMENTWISE1(clone, -2, 2),
    ELEMENTWISE1(contiguous, -2, 2),
    ELEMENTWISE1(to_f32, -2, 2),
    ELEMENTWISE1(flatten, -2, 2),
    ELEMENTWISE1(sum, -2, 2),
    {"mean", call_mean, 1, {3}, {{2, 3, 2}}, -2, 2},
    ELEMENTWISE1(prod, -2, 2),
    {"max", call_max, 1, {2}, {{3, 4}}, -2, 2},
    {"min", call_min, 1, {2}, {{3, 4}}, -2, 2},
    {"where", call_where, 3, {2, 2, 2}, {{2, 3}, {2, 3}, {2, 3}}, -2, 2},
    {"where broadcast", call_where, 3, {1, 2, 2}, {{3}, {2, 1}, {2, 3}}, -2, 2},
    {"sum_first", call_sum_first, 1, {3}, {{3, 2, 4}}, -2, 2},
    {"sum_last", call_sum_last, 1, {3}, {{3, 2, 4}}, -2, 2},
    {"sum empty", call_sum_first, 1, {2}, {{0, 4}}, -2, 2},
    {"mean_first", call_mean_first, 1, {3}, {{3, 2, 4}}, -2, 2},
    {"mean_last", call_mean_last, 1, {3}, {{3, 2, 4}}, -2, 2},
    {"max_first", call_max_first, 1, {3}, {{3, 2, 4}}, -2, 2},
    {"max_last", call_max_last, 1, {3}, {{3, 2, 4}}, -2, 2},
    {"min_first", call_min_first, 1, {3}, {{3, 2, 4}}, -2, 2},
    {"softmax_first", call_softmax_first, 1, {3}, {{3, 2, 2}}, -2, 2},
    {"softmax_last", call_softmax_last, 1, {2}, {{3, 4}}, -2, 2},
    {"softmax empty", call_softmax_last, 1, {2}, {{3, 0}}, -2, 2},
    {"log_softmax_first", call_log_softmax_first, 1, {3}, {{3, 2, 2}}, -2, 2},
    {"log_softmax_last", call_log_softmax_last, 1, {2}, {{3, 4}}, -2, 2},
    {"matmul", call_matmul, 2, {2, 2}, {{2, 3}, {3, 4}}, -2, 2},
    {"matmul dot", call_matmul, 2, {1, 1}, {{3}, {3}}, -2, 2},
    {"matmul row", call_matmul, 2, {1, 2}, {{3}, {3, 2}}, -2, 2},
    {"matmul column", call_matmul, 2, {2, 1}, {{2, 3}, {3}}, -2, 2},
    {"matmul stack by matrix", call_matmul, 2, {3, 2}, {{2, 3, 4}, {4, 2}}, -2, 2},
    {"matmul matrix by stack", call_matmul, 2, {2, 3}, {{2, 3}, {2, 3, 2}}, -2, 2},
    {"matmul stacks", call_matmul, 2, {4, 3}, {{2, 1, 2, 3}, {3, 3, 2}}, -2, 2},
    {"matmul stack by column", call_matmul, 2, {3, 1}, {{2, 2, 3}, {3}}, -2, 2},
    {"matmul row by stack", call_matmul, 2, {1, 3}, {{3}, {2, 3, 2}}, -2, 2},
    {"matmul nothing", call_matmul, 2, {2, 2}, {{2, 0}, {0, 3}}, -2, 2},
    {"matmul stack of nothing", call_matmul, 2, {3, 2}, {{2, 0, 3}, {3, 2}}, -2, 2},
    {"self_matmul", call_self_matmul, 1, {2}, {{3, 3}}, -2, 2},
    {"mse_loss", call_mse_loss, 2, {2, 2}, {{2, 3}, {2, 3}}, -2, 2},
    {"mse_loss of one number", call_mse_loss, 2, {0, 2}, {{0}, {2, 3}}, -2, 2},
    {"cross_entropy weights", call_cross_entropy, 2, {2, 2}, {{2, 3}, {2, 3}}, -2, 2},
    {"cross_entropy one row", call_cross_entropy, 2, {1, 1}, {{3}, {3}}, -2, 2},
    {"cross_entropy classes", call_classes, 1, {2}, {{3, 4}}, -2, 2},
    {"reshape", call_reshape, 1, {2}, {{3, 4}}, -2, 2},
    {"transpose", call_transpose, 1, {3}, {{2, 3, 4}}, -2, 2},
    {"permute", call_permute, 1, {3}, {{2, 3, 4}}, -2, 2},
    {"squeeze", call_squeeze, 1, {3}, {{2, 1, 3}}, -2, 2},
    {"unsqueeze", call_unsqueeze, 1, {2}, {{2, 3}}, -2, 2},
    {"expand", call_expand, 1, {2}, {{3, 1}}, -2, 2},
    {"slice", call_slice, 1, {2}, {{2, 4}}, -2, 2},
    {"narrow", call_narrow, 1, {3}, {{3, 2, 2}}, -2, 2},
    {"row", call_row, 1, {2}, {{3, 2}}, -2, 2},
    {"cat_first", call_cat_first, 2, {2, 2}, {{1, 3}, {2, 3}}, -2, 2},
    {"cat_last", call_cat_last, 2, {2, 2}, {{2, 3}, {2, 1}}, -2, 2},
    {"cat_self", call_cat_self, 1, {2}, {{2, 3}}, -2, 2},
    {"stack", call_stack, 2, {2, 2}, {{2, 3}, {2, 3}}, -2, 2},
    {"convolve", call_convolve, 2, {4, 4}, {{2, 2, 5, 7}, {3, 2, 3, 4}}, -2, 2},
    {"convolve apart", call_convolve_apart, 2, {4, 4}, {{1, 1, 8, 5}, {2, 1, 2, 2}}, -2, 2},
    {"scatter", call_scatter, 2, {2, 2}, {{2, 4}, {2, 3}}, -2, 2},
    {"scatter_add", call_scatter_add, 2, {2, 2}, {{2, 4}, {2, 3}}, -2, 2},
    {"woven", call_woven, 1, {2}, {{3, 4}}, 0.3, 2},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* ---- the checker ----------------------------------------------------------------------------- */

typedef struct trial {
    const gradient_case *c;
    lies how[OPERANDS];
    bool tracked[OPERANDS];
    bool through;         /* operands are results that nobody else holds: backward may write over them */
    array base[OPERANDS]; /* the leaves' numbers */
    array weights;        /* of the result */
} trial;

static trial now;

static tl_tensor *operand_of(tl_tensor *leaf, lies how) {
    tl_tensor_acquire(leaf);
    tl_tensor *view = view_as(how, leaf);
    if (!now.through)
        return view;
    tl_tensor *result = checked(tl_tensor_mul_scalar(view, 1));
    release(view);
    return result;
}

/* sum(weights * call(operands)) */
static tl_tensor *weighted(tl_tensor *const *leaves) {
    tl_tensor *x[OPERANDS] = {NULL};
    for (int i = 0; i < now.c->operands; i++)
        x[i] = operand_of(leaves[i], now.how[i]);
    tl_tensor *y = checked(now.c->call(x));
    if (now.weights.rank < 0)
        array_random(&now.weights, y->rank, y->shape, -1, 1);
    tl_tensor *w = tensor_of(&now.weights, TL_F64), *p = checked(tl_tensor_mul(y, w)),
              *loss = checked(tl_tensor_sum(p));
    release(w);
    release(p);
    release(y);
    for (int i = 0; i < now.c->operands; i++)
        release(x[i]);
    return loss;
}

static double value_of_trial(void) {
    tl_tensor *leaves[OPERANDS];
    for (int i = 0; i < now.c->operands; i++)
        leaves[i] = tensor_of(&now.base[i], TL_F64);
    double value = item(weighted(leaves));
    for (int i = 0; i < now.c->operands; i++)
        release(leaves[i]);
    return value;
}

static void check_leaf(tl_tensor *leaf, int operand) {
    const double step = 1e-6;
    array *base = &now.base[operand];
    tl_tensor *g = checked(tl_tensor_grad(leaf));
    assert_true(g->contiguous && !g->node && g->dtype == TL_F64);
    for (int64_t i = 0; i < base->count; i++) {
        double middle = base->v[i];
        base->v[i] = middle + step;
        double above = value_of_trial();
        base->v[i] = middle - step;
        double below = value_of_trial();
        base->v[i] = middle;
        assert_close(read_number(g, i), (above - below) / (2 * step), 2e-7, now.c->name, i);
    }
    release(g);
}

static void run_trial(bool keep_graph) {
    tl_tensor *leaves[OPERANDS];
    for (int i = 0; i < now.c->operands; i++) {
        int64_t shape[DIMS];
        base_shape(now.how[i], now.c->rank[i], now.c->shape[i], shape);
        array_random(&now.base[i], now.c->rank[i], shape, now.c->low, now.c->high);
        leaves[i] = tensor_of(&now.base[i], TL_F64);
        if (now.tracked[i])
            leaves[i] = leaf_of(leaves[i]);
    }
    now.weights.rank = -1;
    tl_tensor *loss = weighted(leaves);
    assert_true(tl__graph_valid(loss));
    if (loss->node) {
        tl_tensor_backward(loss, keep_graph);
        assert_int_equal(tl_runtime_error(tl__runtime())->status, MASU_OK);
        assert_true(tl__graph_valid(loss));
    }
    release(loss);
    for (int i = 0; i < now.c->operands; i++) {
        if (now.tracked[i])
            check_leaf(leaves[i], i);
        release(leaves[i]);
    }
}

/* Every operand in every layout; tracked all, and each alone; leaves, and results of something. */
static void gradients_match_finite_differences(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 41);
    for (int i = 0; i < CASES; i++) {
        now.c = &cases[i];
        for (int round = 0; round < LIES_COUNT * 3; round++) {
            now.through = round >= LIES_COUNT * 2;
            for (int k = 0; k < OPERANDS; k++) {
                now.how[k] = round < LIES_COUNT ? (lies)round : (lies)random_below(LIES_COUNT);
                now.tracked[k] = k < now.c->operands &&
                                 (round < LIES_COUNT || round == 2 * LIES_COUNT || k == round % now.c->operands);
            }
            run_trial(round % 2);
            no_history_left(rt);
        }
    }
    close_ops(rt);
}

/* Twice through a kept graph: twice the gradient, so nothing that backward needs was
 * overwritten. */
static void a_kept_graph_gives_the_same_again(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 42);
    for (int i = 0; i < CASES; i++) {
        now.c = &cases[i];
        tl_tensor *leaves[OPERANDS];
        for (int k = 0; k < now.c->operands; k++) {
            now.how[k] = LIES_DENSE;
            array_random(&now.base[k], now.c->rank[k], now.c->shape[k], now.c->low, now.c->high);
            leaves[k] = leaf_of(tensor_of(&now.base[k], TL_F64));
        }
        now.weights.rank = -1;
        tl_tensor *loss = weighted(leaves), *first[OPERANDS];
        tl_tensor_backward(loss, true);
        for (int k = 0; k < now.c->operands; k++)
            first[k] = checked(tl_tensor_grad(leaves[k]));
        tl_tensor_backward(loss, false);
        for (int k = 0; k < now.c->operands; k++) {
            tl_tensor *twice = checked(tl_tensor_grad(leaves[k]));
            for (int64_t e = 0; e < twice->elements; e++)
                assert_close(read_number(twice, e), 2 * read_number(first[k], e), 1e-14, now.c->name, e);
            release(twice);
            release(first[k]);
            release(leaves[k]);
        }
        release(loss);
        no_history_left(rt);
    }
    close_ops(rt);
}

/* An operation's formula and its kernel say the same of each operand. */
static void formulas_say_what_kernels_say(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 43);
    for (int i = 0; i < CASES; i++) {
        now.c = &cases[i];
        tl_tensor *leaves[OPERANDS];
        for (int k = 0; k < now.c->operands; k++) {
            now.how[k] = LIES_DENSE;
            array_random(&now.base[k], now.c->rank[k], now.c->shape[k], now.c->low, now.c->high);
            leaves[k] = leaf_of(tensor_of(&now.base[k], TL_F64));
        }
        now.weights.rank = -1;
        tl_tensor *loss = weighted(leaves);
        for (int k = 0; k < now.c->operands; k++) {
            tl_tensor *formula = checked(tl_tensor_gradient(loss, leaves[k], true));
            for (int64_t e = 0; e < formula->elements; e++)
                now.base[k].v[e] = read_number(formula, e);
            release(formula);
        }
        tl_tensor_backward(loss, false);
        for (int k = 0; k < now.c->operands; k++) {
            tl_tensor *kernel = checked(tl_tensor_grad(leaves[k]));
            for (int64_t e = 0; e < kernel->elements; e++)
                assert_close(now.base[k].v[e], read_number(kernel, e), 1e-12, now.c->name, e);
            release(kernel);
            release(leaves[k]);
        }
        release(loss);
        no_history_left(rt);
    }
    close_ops(rt);
}

/* Operands of f32 and f64, bool and i64 together: each leaf's gradient has the leaf's type. */
static void gradients_have_the_type_of_their_leaf(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = leaf_of(ones(3)), *whole = checked(tl_tensor_literal_i64(1, 4, (const int64_t[]){3, 2, 3, 4}));
    tl_tensor *wide = checked(tl_tensor_to_dtype(a, TL_F64)), *product = checked(tl_tensor_mul(wide, whole));
    tl_tensor *mixed = checked(tl_tensor_add(product, a)), *loss = checked(tl_tensor_sum(mixed));
    assert_int_equal(loss->dtype, TL_F64);
    tl_tensor_backward(loss, false);
    tl_tensor *g = checked(tl_tensor_grad(a));
    array expected = {1, {3}, 3, {3, 4, 5}};
    assert_result(g, TL_F32, &expected, 0, "gradient");
    release(loss);
    release(mixed);
    release(product);
    release(wide);
    release(whole);
    release(a);
    close_ops(rt);
}

/* What cannot carry gradients has no history. */
static void whole_numbers_have_no_history(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = leaf_of(ones(3));
    tl_tensor *results[] = {tl_tensor_argmax(a),      tl_tensor_compare(a, a, 0), tl_tensor_to_dtype(a, TL_I64),
                            tl_tensor_logical_not(a), tl_tensor_shape(a),         tl_tensor_ones_like(a)};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        assert_null(checked(results[i])->node);
        release(results[i]);
    }
    release(a);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_finite_differences), cmocka_unit_test(a_kept_graph_gives_the_same_again),
        cmocka_unit_test(formulas_say_what_kernels_say),      cmocka_unit_test(gradients_have_the_type_of_their_leaf),
        cmocka_unit_test(whole_numbers_have_no_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
