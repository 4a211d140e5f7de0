/* test_comprehend.c: comprehensions through hand-written kernels: what the runtime hands to
 * them, keeps for backward, and makes of their faults. */
#include "ops_fixture.h"

static const int64_t f32_type[] = {TL_F32, TL_F32, TL_F32, TL_F32, TL_F32, TL_F32};
static const int64_t f64_type[] = {TL_F64, TL_F64};
static const int64_t one_dimension[] = {1, 1, 1, 1, 1, 1}, two_dimensions[] = {2, 2};
static const int64_t needed[] = {1, 1, 1, 1, 1, 1}, not_needed[] = {0, 0};

static float f32_at(const tl_view *v, int64_t i, int64_t j) {
    return ((const float *)v->data)[i * v->stride[0] + j * v->stride[1]];
}

static bool out_of_range(tl_fault *fault, int64_t index, int64_t length) {
    *fault = (tl_fault){.kind = 1, .value = index, .bound = length, .site = 77};
    return false;
}

/* ---- [k | k <- 0..K, r, c, r + c == k { p[r, c] }]: needs no value of p ---------------------- */

static bool diagonals_forward(const tl_view *p, const int64_t *cells, void *out, tl_fault *fault) {
    float *sums = out;
    for (int64_t k = 0; k < cells[0]; k++)
        for (int64_t r = 0; r < cells[1]; r++) {
            int64_t c = k - r;
            if (c < 0 || c >= cells[1])
                continue;
            if (r >= p->shape[0] || c >= p->shape[1])
                return out_of_range(fault, r >= p->shape[0] ? r : c, r >= p->shape[0] ? p->shape[0] : p->shape[1]);
            sums[k] += f32_at(p, r, c);
        }
    return true;
}

static bool diagonals_backward(const tl_view *p, const int64_t *cells, const void *grad_out, void *const *grad_in,
                               tl_fault *fault) {
    (void)fault;
    if (p->data != NULL)
        return false; /* the value is not needed: it must not be kept */
    for (int64_t k = 0; k < cells[0] && grad_in[0]; k++)
        for (int64_t r = 0; r < cells[1]; r++)
            if (k - r >= 0 && k - r < cells[1])
                ((float *)grad_in[0])[r * p->shape[1] + k - r] += ((const float *)grad_out)[k];
    return true;
}

static const tl_kernel diagonals = {.forward = diagonals_forward,
                                    .backward = diagonals_backward,
                                    .rank = 1,
                                    .dtype = TL_F32,
                                    .cell_count = 2,
                                    .capture_count = 1,
                                    .capture_dtype = f32_type,
                                    .capture_rank = two_dimensions,
                                    .needs_value = not_needed};

static void *plan(const tl_kernel *kernel) {
    return (void *)(uintptr_t)kernel;
}

static tl_tensor *counting(int64_t n) {
    array a;
    array_shape(&a, 2, (const int64_t[]){n, n});
    for (int64_t i = 0; i < a.count; i++)
        a.v[i] = (double)i;
    return tensor_of(&a, TL_F32);
}

static void sums_along_diagonals(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *p = leaf_of(counting(3));
    int64_t cells[] = {5, 3};
    tl_tensor *sums = checked(tl_tensor_comprehend(plan(&diagonals), cells, 1, &p));
    array expected = {1, {5}, 5, {0, 4, 12, 12, 8}};
    assert_tensor(sums, &expected, 0, "diagonals");
    cells[0] = cells[1] = -1; /* the caller's cells may change: backward has its own */
    assert_null(tl__node_saved(sums->node)[0]);
    tl_tensor *squares = checked(tl_tensor_mul(sums, sums)), *loss = checked(tl_tensor_sum(squares));
    assert_true(tl__graph_valid(loss));
    tl_tensor_backward(loss, true);
    backward(loss);
    tl_tensor *g = checked(tl_tensor_grad(p));
    array gradient = {2, {3, 3}, 9, {0, 16, 48, 16, 48, 48, 48, 48, 32}};
    assert_result(g, TL_F32, &gradient, 0, "gradient");
    release(squares);
    release(loss);
    release(sums);
    release(p);
    close_ops(rt);
}

/* Views, other types, other leaves of the same graph: the kernel sees the right elements, the
 * gradient the right leaf. */
static void captures_are_shown_as_the_kernel_reads_them(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *leaf = leaf_of(checked(tl_tensor_literal_f64(2, 6, (const double[]){2, 2, 1, 2, 3, 4})));
    tl_tensor *p = checked(tl_tensor_transpose(leaf, 0, 1));
    int64_t cells[] = {3, 2};
    tl_tensor *sums = checked(tl_tensor_comprehend(plan(&diagonals), cells, 1, &p));
    array expected = {1, {3}, 3, {1, 5, 4}};
    assert_tensor(sums, &expected, 0, "diagonals");
    tl_tensor *first = checked(tl_tensor_slice(sums, 0, 1, 2)), *loss = checked(tl_tensor_sum(first));
    backward(loss);
    array gradient = {2, {2, 2}, 4, {0, 1, 1, 0}};
    assert_result(checked(tl_tensor_grad(leaf)), TL_F64, &gradient, 0, "gradient");
    release(first);
    release(loss);
    release(sums);
    release(p);
    release(leaf);
    close_ops(rt);
}

/* ---- [i | a[i] * b[i] / cell]: needs both values --------------------------------------------- */

static bool product_forward(const tl_view *v, const int64_t *cells, void *out, tl_fault *fault) {
    for (int64_t i = 0; i < cells[0]; i++) {
        if (i >= v[0].shape[0] || i >= v[1].shape[0])
            return out_of_range(fault, i, i >= v[0].shape[0] ? v[0].shape[0] : v[1].shape[0]);
        if (cells[1] == 0) {
            *fault = (tl_fault){.kind = 2};
            return false;
        }
        ((double *)out)[i] = ((const double *)v[0].data)[i * v[0].stride[0]] *
                             ((const double *)v[1].data)[i * v[1].stride[0]] / (double)cells[1];
    }
    return true;
}

static bool product_backward(const tl_view *v, const int64_t *cells, const void *grad_out, void *const *grad_in,
                             tl_fault *fault) {
    (void)fault;
    const double *g = grad_out;
    for (int64_t i = 0; i < cells[0]; i++)
        for (int k = 0; k < 2; k++)
            if (grad_in[k])
                ((double *)grad_in[k])[i] += g[i] * ((const double *)v[1 - k].data)[i * v[1 - k].stride[0]] /
                                             (double)cells[1];
    return true;
}

static const tl_kernel product = {.forward = product_forward,
                                  .backward = product_backward,
                                  .rank = 1,
                                  .dtype = TL_F64,
                                  .cell_count = 2,
                                  .capture_count = 2,
                                  .capture_dtype = f64_type,
                                  .capture_rank = one_dimension,
                                  .needs_value = needed};

static void saved_captures_are_the_old_values(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = leaf_of(checked(tl_tensor_literal_f64(1, 4, (const double[]){3, 1, 2, 3})));
    tl_tensor *b = checked(tl_tensor_literal_f64(1, 4, (const double[]){3, 4, 5, 6}));
    int64_t cells[] = {3, 2};
    tl_tensor *y = checked(tl_tensor_comprehend(plan(&product), cells, 2, (tl_tensor *[]){a, b}));
    array expected = {1, {3}, 3, {2, 5, 9}};
    assert_tensor(y, &expected, 0, "product");
    b = checked(tl_tensor_fill(b, 100));
    tl_tensor *loss = checked(tl_tensor_sum(y));
    backward(loss);
    array gradient = {1, {3}, 3, {2, 2.5, 3}};
    assert_result(checked(tl_tensor_grad(a)), TL_F64, &gradient, 0, "gradient");
    assert_null(b->node);
    release(loss);
    release(y);
    /* the same tensor twice */
    y = checked(tl_tensor_comprehend(plan(&product), cells, 2, (tl_tensor *[]){a, a}));
    loss = checked(tl_tensor_sum(y));
    backward(loss);
    array twice = {1, {3}, 3, {2 + 1, 2.5 + 2, 3 + 3}};
    assert_result(checked(tl_tensor_grad(a)), TL_F64, &twice, 0, "gradient");
    release(loss);
    release(y);
    release(b);
    release(a);
    close_ops(rt);
}

static void without_history_nothing_is_kept(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = ones(3), *b = ones(3);
    int64_t cells[] = {3, 1}, none[] = {0, 0};
    tl_tensor *y = checked(tl_tensor_comprehend(plan(&product), cells, 2, (tl_tensor *[]){a, b}));
    assert_null(y->node);
    assert_all(y, 1);
    release(y);
    y = checked(tl_tensor_comprehend(plan(&product), none, 2, (tl_tensor *[]){a, b}));
    assert_int_equal(y->elements, 0);
    release(y);
    release(a);
    release(b);
    close_ops(rt);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void faults_become_errors_at_their_place(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = tl_mem_function_enter(0);
    frame->site = 5;
    tl_tensor *a = leaf_of(ones(3)), *b = ones(2), *square = counting(2);
    int64_t cells[] = {3, 1}, by_zero[] = {2, 0};
    assert_null(tl_tensor_comprehend(plan(&product), cells, 2, (tl_tensor *[]){a, b}));
    assert_int_equal(tl_runtime_error(rt)->sites[0], 77);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index 2 is out of range for length 2");
    frame->site = 5;
    assert_null(tl_tensor_comprehend(plan(&product), by_zero, 2, (tl_tensor *[]){a, b}));
    assert_int_equal(tl_runtime_error(rt)->sites[0], 5);
    assert_raised(rt, MASU_ERR_DIVISION_BY_ZERO, "division by zero");
    assert_null(tl_tensor_comprehend(plan(&product), cells, 2, (tl_tensor *[]){a, square}));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "1 index given for a tensor of shape [2, 2]");
    assert_null(tl_tensor_comprehend(plan(&diagonals), cells, 1, &b));
    assert_raised(rt, MASU_ERR_SHAPE_MISMATCH, "2 indices given for a tensor of shape [2]");
    int64_t negative[] = {-1, 1};
    assert_null(tl_tensor_comprehend(plan(&product), negative, 2, (tl_tensor *[]){a, a}));
    assert_raised(rt, MASU_ERR_INVALID_ARGUMENT, "negative");
    release(square);
    release(a);
    release(b);
    tl_mem_function_exit(frame);
    close_ops(rt);
}

static bool faulty_backward(const tl_view *v, const int64_t *cells, const void *grad_out, void *const *grad_in,
                            tl_fault *fault) {
    (void)v;
    (void)cells;
    ((double *)grad_in[0])[0] += ((const double *)grad_out)[0];
    return out_of_range(fault, 9, 3);
}

static void a_fault_in_backward_leaves_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_kernel broken = product;
    broken.backward = faulty_backward;
    tl_tensor *a = leaf_of(ones(3)), *wide = checked(tl_tensor_to_dtype(a, TL_F64));
    int64_t cells[] = {3, 1};
    tl_tensor *y = checked(tl_tensor_comprehend(&broken, cells, 2, (tl_tensor *[]){wide, wide}));
    tl_tensor *loss = checked(tl_tensor_sum(y));
    tl_tensor_backward(loss, false);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index 9 is out of range for length 3");
    assert_true(tl__graph_valid(loss) && tl__graph_valid(wide));
    assert_gradient(a, 0);
    release(loss);
    release(y);
    release(wide);
    release(a);
    close_ops(rt);
}

/* No backward: fine for plain data and for results that carry no gradient, an error where one
 * would be lost. */
static void what_cannot_be_differentiated(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_kernel opaque = product;
    opaque.backward = NULL;
    tl_tensor *a = ones(3);
    int64_t cells[] = {3, 1};
    release(checked(tl_tensor_comprehend(&opaque, cells, 2, (tl_tensor *[]){a, a})));
    a = leaf_of(a);
    assert_null(tl_tensor_comprehend(&opaque, cells, 2, (tl_tensor *[]){a, a}));
    assert_raised(rt, MASU_ERR_NO_GRAPH, "this comprehension cannot be differentiated");
    release(a);
    close_ops(rt);
}

/* ---- many captures, no captures, failing memory ---------------------------------------------- */

static bool sum_of_firsts_forward(const tl_view *v, const int64_t *cells, void *out, tl_fault *fault) {
    (void)fault;
    for (int64_t i = 0; i < cells[1]; i++)
        *(float *)out += *(const float *)v[i].data;
    return true;
}

static bool sum_of_firsts_backward(const tl_view *v, const int64_t *cells, const void *grad_out, void *const *grad_in,
                                   tl_fault *fault) {
    (void)v;
    (void)fault;
    for (int64_t i = 0; i < cells[1]; i++)
        if (grad_in[i])
            *(float *)grad_in[i] += *(const float *)grad_out;
    return true;
}

static tl_kernel sum_of_firsts(int64_t count) {
    return (tl_kernel){.forward = sum_of_firsts_forward,
                       .backward = sum_of_firsts_backward,
                       .rank = 1,
                       .dtype = TL_F32,
                       .cell_count = 2,
                       .capture_count = count,
                       .capture_dtype = f32_type,
                       .capture_rank = one_dimension,
                       .needs_value = needed};
}

static void any_number_of_captures(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = leaf_of(ones(3)), *b = ones(2),
              *c = leaf_of(checked(tl_tensor_literal_f64(1, 2, (const double[]){1, 7})));
    tl_tensor *captured[] = {a, b, c, b, a, c};
    for (int64_t count = 0; count <= 6; count++) {
        tl_kernel kernel = sum_of_firsts(count);
        int64_t cells[] = {1, count};
        tl_tensor *y = checked(tl_tensor_comprehend(&kernel, cells, count, captured));
        const double sums[] = {0, 1, 2, 9, 10, 11, 18};
        assert_all(y, sums[count]);
        if (count > 0)
            backward(y);
        release(y);
    }
    tl_tensor *ga = checked(tl_tensor_grad(a)), *gc = checked(tl_tensor_grad(c));
    assert_true(read_number(ga, 0) == 6 + 2 && read_number(ga, 1) == 0);
    assert_true(read_number(gc, 0) == 4 + 1);
    assert_int_equal(gc->dtype, TL_F64);
    release(ga);
    release(gc);
    release(a);
    release(b);
    release(c);
    close_ops(rt);
}

static void comprehend_and_differentiate(void) {
    static tl_kernel kernel;
    kernel = sum_of_firsts(6);
    int64_t cells[] = {1, 6}, diagonal_cells[] = {5, 3};
    tl_frame *frame = tl_mem_function_enter(5);
    put(0, tl_tensor_ones(SHAPE(3), true));
    put(1, tl_tensor_literal_f64(1, 2, (const double[]){1, 7}));
    put(1, tl_tensor_enable_grad(take(1)));
    put(2,
        tl_tensor_comprehend(&kernel, cells, 6, (tl_tensor *[]){SLOT(0), SLOT(1), SLOT(0), SLOT(1), SLOT(1), SLOT(0)}));
    put(3, tl_tensor_ones(SHAPE(3, 3), true));
    put(3, tl_tensor_transpose(SLOT(3), 0, 1));
    put(4, tl_tensor_comprehend(plan(&diagonals), diagonal_cells, 1, (tl_tensor *[]){SLOT(3)}));
    put(4, tl_tensor_add(SLOT(4), SLOT(2)));
    put(4, tl_tensor_sum(SLOT(4)));
    tl_tensor_backward(SLOT(4), false);
    for (int i = 0; i < 5; i++)
        put(i, NULL);
    tl_mem_function_exit(frame);
}

static void nothing_is_left_when_memory_runs_out(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_true(sweep_ops(rt, comprehend_and_differentiate) > 15);
    close_ops(rt);
}

/* The loss of the N-Queens example, its diagonals as comprehensions: all counters alike from one
 * epoch to the next. */
static void queens_train_in_constant_memory(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *board = checked(tl_tensor_randn(SHAPE(8, 8), true));
    masu_heap_stats warm, end;
    double first = 0, last = 0;
    tl_grad_loop_enter();
    for (int epoch = 0; epoch < 300; epoch++) {
        int64_t cells[] = {15, 8};
        tl_tensor *probs = checked(tl_tensor_softmax(board, 1));
        tl_tensor *rising = checked(tl_tensor_comprehend(plan(&diagonals), cells, 1, &probs));
        tl_tensor *columns = checked(tl_tensor_sum_dim(probs, 0)), *off = checked(tl_tensor_sub_scalar(columns, 1));
        tl_tensor *over = checked(tl_tensor_sub_scalar(rising, 1)), *crowd = checked(tl_tensor_relu(over));
        tl_tensor *a = checked(tl_tensor_mul(off, off)), *b = checked(tl_tensor_mul(crowd, crowd));
        tl_tensor *sa = checked(tl_tensor_sum(a)), *sb = checked(tl_tensor_sum(b)),
                  *loss = checked(tl_tensor_add(sa, sb));
        tl_tensor *gone[] = {probs, rising, columns, off, over, crowd, a, b, sa, sb};
        for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
            release(gone[i]);
        last = tl_tensor_item(loss);
        first = epoch == 0 ? last : first;
        backward(loss);
        release(loss);
        tl_tensor *g = checked(tl_tensor_grad(board)), *next = checked(tl_tensor_sub(board, g));
        release(g);
        release(board);
        board = leaf_of(checked(tl_tensor_detach(next, false)));
        tl_clear_grads();
        assert_int_equal(rt->live_nodes, 0);
        assert_int_equal(rt->live_bytes, 256);
        if (epoch == 50)
            masu_heap_get_stats(rt->payload, &warm);
    }
    tl_grad_loop_exit();
    masu_heap_get_stats(rt->payload, &end);
    assert_int_equal(end.misses, warm.misses);
    assert_true(last < first / 2);
    release(board);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_along_diagonals),
        cmocka_unit_test(captures_are_shown_as_the_kernel_reads_them),
        cmocka_unit_test(saved_captures_are_the_old_values),
        cmocka_unit_test(without_history_nothing_is_kept),
        cmocka_unit_test(faults_become_errors_at_their_place),
        cmocka_unit_test(a_fault_in_backward_leaves_nothing),
        cmocka_unit_test(what_cannot_be_differentiated),
        cmocka_unit_test(any_number_of_captures),
        cmocka_unit_test(nothing_is_left_when_memory_runs_out),
        cmocka_unit_test(queens_train_in_constant_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
