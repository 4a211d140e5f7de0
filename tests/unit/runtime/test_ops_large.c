/* test_ops_large.c: large operands are cut into pieces that several threads share. Every operation of the table that
 * works by rows on small operands works by the same rows on large ones, at sizes around the first that is cut; and what
 * is searched for is found in each piece, at its first and its last element.
 */
#include "ops_called.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"

/* Slices are large enough for the kernels' wide loops and small enough to be done alone. */
enum { SLICES = 3 };

typedef struct shape {
    int64_t rows, columns;
} shape;

static tl_tensor *drawn(tl_dtype dtype, shape of) {
    tl_tensor *t = tensor_new(dtype, 2, (const int64_t[]){of.rows, of.columns});
    for (int64_t i = 0; i < t->elements; i++)
        write_number(t, i, dtype == TL_F32 || dtype == TL_F64 ? random_between(0.1, 0.9) : (double)random_below(9));
    return t;
}

/* Rows from … to of t, a copy; one with history where numbers are real. */
static tl_tensor *rows_of(tl_tensor *t, int64_t from, int64_t to) {
    tl_tensor *slice = tensor_new((tl_dtype)t->dtype, 2, (const int64_t[]){to - from, t->shape[1]});
    size_t row = (size_t)t->shape[1] * tl__dtype_size((tl_dtype)t->dtype);
    memcpy(slice->data, (const char *)t->data + (size_t)from * row, (size_t)(to - from) * row);
    return t->dtype == TL_F32 || t->dtype == TL_F64 ? leaf_of(slice) : slice;
}

static void differentiate(tl_tensor *result) {
    tl_tensor *sum = checked(tl_tensor_sum(result));
    tl_tensor_backward(sum, false);
    release(sum);
}

typedef struct outcome {
    tl_tensor *result, *gradient; /* the gradient of a; NULL where there is none */
} outcome;

/* Of rows from … to. Each time from operands of its own: leaves gather gradients. */
static outcome outcome_of(tl_runtime *rt, const tl_abi_function *f, const char *signature, tl_tensor *all_a,
                          tl_tensor *all_b, int64_t from, int64_t to) {
    outcome o = {0};
    tl_tensor *a = rows_of(all_a, from, to), *b = rows_of(all_b, from, to);
    call_by_signature(f, signature, a, b, 1, &o.result);
    if (o.result && o.result->node && !(o.result->node->flags & TL_NODE_LEAF)) {
        differentiate(o.result);
        o.gradient = tl_tensor_grad(a);
    }
    if (o.result) {
        tl_tensor *dense;
        assert_int_equal(tl__tensor_contiguous(o.result, &dense), MASU_OK);
        release(o.result);
        o.result = dense;
    }
    tl_runtime_clear_error(rt);
    release(a);
    release(b);
    return o;
}

static void outcome_release(outcome *o) {
    if (o->result)
        release(o->result);
    if (o->gradient)
        release(o->gradient);
}

/* Whether `part` is what the whole has from row `from` on. */
static bool is_part(const tl_tensor *whole, const tl_tensor *part, int64_t rows, int64_t from) {
    if (!whole || !part)
        return whole == part;
    if (whole->rank == 0 || whole->shape[0] != rows || whole->dtype != part->dtype || whole->rank != part->rank ||
        part->elements == 0)
        return false;
    int64_t each = whole->elements / rows;
    for (int64_t i = 0; i < part->elements; i++) {
        double x = read_number(whole, from * each + i), y = read_number(part, i);
        if (x != y && !(isnan(x) && isnan(y)) && !(fabs(x - y) <= 2e-6 * (1 + fabs(y))))
            return false;
    }
    return true;
}

/* Whether f on the whole is f on its rows, and its gradient likewise. *refused: f does not take this. */
static bool is_by_rows(tl_runtime *rt, const tl_abi_function *f, const char *signature, tl_tensor *a, tl_tensor *b,
                       bool *refused) {
    int64_t rows = a->shape[0];
    outcome whole = outcome_of(rt, f, signature, a, b, 0, rows);
    bool same = true;
    *refused = !whole.result;
    for (int64_t k = 0; k < SLICES && whole.result && same; k++) {
        int64_t from = rows * k / SLICES, to = rows * (k + 1) / SLICES;
        outcome part = outcome_of(rt, f, signature, a, b, from, to);
        same = is_part(whole.result, part.result, rows, from) && is_part(whole.gradient, part.gradient, rows, from);
        outcome_release(&part);
    }
    outcome_release(&whole);
    return same;
}

/* How many operations were demanded. */
static int all_operations(tl_runtime *rt, tl_dtype dtype, shape few, shape many) {
    bool refused;
    int demanded = 0;
    tl_tensor *a = drawn(dtype, few), *b = drawn(dtype, few);
    tl_tensor *large_a = drawn(dtype, many), *large_b = drawn(dtype, many);
    for (int index = 0; index < TL_FN_COUNT; index++) {
        const tl_abi_function *f = &tl_abi_functions[index];
        char signature[TL_ABI_MAX_PARAMETERS + 1];
        if (!signature_of(f, signature) || strstr(f->symbol, "_like") || strstr(f->symbol, "enable_grad") ||
            strstr(f->symbol, "take_grad") || strstr(f->symbol, "matmul"))
            continue;
        if (!is_by_rows(rt, f, signature, a, b, &refused) || refused)
            continue;
        demanded++;
        if (!is_by_rows(rt, f, signature, large_a, large_b, &refused) || refused)
            fail_msg("%s of %ld × %ld elements of type %d is not what it is by rows", f->symbol, (long)many.rows,
                     (long)many.columns, dtype);
    }
    release(a);
    release(b);
    release(large_a);
    release(large_b);
    return demanded;
}

static void large_operands_are_small_ones(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 11);
    static const shape around[] = {{TL_LARGE_LOOP - 1, 1},
                                   {TL_LARGE_LOOP, 1},
                                   {TL_LARGE_LOOP + 1, 1},
                                   {TL_LARGE_LOOP + 65, 1},
                                   {4099, 64},
                                   {3, 100003},
                                   {1031, 291}};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        shape few = {6, around[i].columns == 1 ? 1 : 7};
        assert_true(all_operations(rt, TL_F32, few, around[i]) > 60);
    }
    assert_true(all_operations(rt, TL_F64, (shape){6, 7}, (shape){1031, 291}) > 60);
    assert_true(all_operations(rt, TL_I64, (shape){6, 7}, (shape){1031, 291}) > 40);
    assert_true(all_operations(rt, TL_BOOL, (shape){6, 7}, (shape){1031, 291}) > 15);
    close_ops(rt);
}

/* ---- what is searched for -------------------------------------------------------------------- */

typedef tl_tensor *of_all(tl_tensor *);

/* Puts value there and asks where it is and what it is; then what was there comes back. */
static void look_for(tl_tensor *t, of_all *where, of_all *what, int64_t place, double value) {
    double old = read_number(t, place);
    write_number(t, place, value);
    tl_tensor *at = checked(where(t)), *found = checked(what(t));
    if (tl_tensor_item_i64(at) != place)
        fail_msg("found at %ld of %ld, not at %ld", (long)tl_tensor_item_i64(at), (long)t->elements, (long)place);
    double seen = read_number(found, 0);
    assert_true(seen == value || (isnan(seen) && isnan(value)));
    release(at);
    release(found);
    write_number(t, place, old);
}

static void extremes_are_found_in_each_piece(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    static const int64_t sizes[] = {TL_LARGE_LOOP - 1, TL_LARGE_LOOP, TL_LARGE_LOOP + 1, 300000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        tl_tensor *t = tensor_new(TL_F32, 1, &sizes[s]);
        for (int64_t i = 0; i < t->elements; i++)
            write_number(t, i, (double)(i * 7919 % 1000));
        int64_t each = (t->elements + 63) / 64;
        for (int64_t from = 0; from < t->elements; from += each) {
            int64_t last = (from + each < t->elements ? from + each : t->elements) - 1;
            look_for(t, tl_tensor_argmax, tl_tensor_max, from, 5000);
            look_for(t, tl_tensor_argmax, tl_tensor_max, last, 5000);
            look_for(t, tl_tensor_argmin, tl_tensor_min, from, -1);
            look_for(t, tl_tensor_argmin, tl_tensor_min, last, -1);
            look_for(t, tl_tensor_argmax, tl_tensor_max, last, NAN);
        }
        /* The first among equals, whatever piece finds one. */
        write_number(t, t->elements - 1, 5000);
        look_for(t, tl_tensor_argmax, tl_tensor_max, t->elements / 2, 5000);
        look_for(t, tl_tensor_argmax, tl_tensor_max, 0, 5000);
        release(t);
    }
    close_ops(rt);
}

/* The largest element decides whether a softmax stays finite: it is looked for in all of a line, wherever it lies. */
static void softmax_sees_each_element(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    static const int64_t lengths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int64_t place = 0; place < lengths[k]; place++)
            for (int turned = 0; turned < 2; turned++) {
                int64_t n = lengths[k];
                tl_tensor *t = turned ? tensor_new(TL_F32, 2, (const int64_t[]){n, 3}) : tensor_new(TL_F32, 1, &n);
                for (int64_t i = 0; i < t->elements; i++)
                    write_number(t, i, 0);
                int64_t width = turned ? 3 : 1;
                for (int64_t j = 0; j < width; j++)
                    write_number(t, place * width + j, 1000);
                tl_tensor *soft = checked(tl_tensor_softmax(t, 0)), *log_soft = checked(tl_tensor_log_softmax(t, 0));
                for (int64_t i = 0; i < t->elements; i++) {
                    bool here = i / width == place;
                    assert_close(read_number(soft, i), here ? 1 : 0, 1e-6, "softmax", i);
                    assert_close(read_number(log_soft, i), here ? 0 : -1000, 1e-6, "log_softmax", i);
                }
                release(soft);
                release(log_soft);
                release(t);
            }
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_operands_are_small_ones),
        cmocka_unit_test(extremes_are_found_in_each_piece),
        cmocka_unit_test(softmax_sees_each_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
