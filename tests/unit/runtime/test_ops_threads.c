/* test_ops_threads.c: a loop that several threads share gives bit by bit what one thread gives alone, whatever else
 * runs; results of large sums do not depend on how many threads there are.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "ops_fixture.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"

enum { ROWS = 1031, COLUMNS = 521 }; /* more than TL_LARGE_LOOP elements, nothing even about them */

/* ---- parts ----------------------------------------------------------------------------------- */

typedef struct cover {
    atomic_int times[10007];
    int64_t n, unit;
    atomic_int wrong;
} cover;

static void count_part(void *context, int64_t from, int64_t to) {
    cover *c = context;
    bool whole = from % c->unit == 0 && (to % c->unit == 0 || to == c->n);
    if (!whole || from >= to)
        atomic_fetch_add(&c->wrong, 1);
    for (int64_t i = from; i < to; i++)
        atomic_fetch_add(&c->times[i], 1);
}

static void parts_cover_everything_once(void **state) {
    (void)state;
    static cover c;
    const int64_t lengths[] = {1, 2, 63, 64, 65, 1000, 10007};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        for (c.unit = 1; c.unit <= 64; c.unit *= 8) {
            c.n = lengths[k];
            for (int64_t i = 0; i < c.n; i++)
                atomic_store(&c.times[i], 0);
            tl__in_parts(c.n, c.unit, TL_LARGE_LOOP, count_part, &c);
            for (int64_t i = 0; i < c.n; i++)
                assert_int_equal(atomic_load(&c.times[i]), 1);
        }
    }
    assert_int_equal(atomic_load(&c.wrong), 0);
}

/* ---- operations ------------------------------------------------------------------------------ */

static tl_tensor *large(tl_dtype dtype) {
    tl_tensor *t = tensor_new(dtype, 2, (const int64_t[]){ROWS, COLUMNS});
    for (int64_t i = 0; i < t->elements; i++)
        write_number(t, i, random_between(-2, 2));
    return t;
}

static void assert_same(tl_tensor *got, tl_tensor *want) {
    tl_tensor *a, *b;
    assert_int_equal(tl__tensor_contiguous(got, &a), MASU_OK);
    assert_int_equal(tl__tensor_contiguous(want, &b), MASU_OK);
    assert_int_equal(a->elements, b->elements);
    size_t bytes = (size_t)a->elements * tl__dtype_size((tl_dtype)a->dtype);
    assert_memory_equal(a->data, b->data, bytes);
    tl__tensor_drop(a);
    tl__tensor_drop(b);
    release(got);
    release(want);
}

/* The operation on each row by itself, which is a small loop. */
static tl_tensor *by_rows(tl_tensor *(*call)(tl_tensor *), tl_tensor *t) {
    tl_tensor *parts[ROWS];
    for (int64_t i = 0; i < ROWS; i++)
        parts[i] = then1(call, checked(tl_tensor_row(t, i)));
    tl_tensor *all = checked(tl_tensor_stack(ROWS, parts));
    for (int64_t i = 0; i < ROWS; i++)
        release(parts[i]);
    return all;
}

static tl_tensor *call_softmax(tl_tensor *t) {
    return tl_tensor_softmax(t, -1);
}

static tl_tensor *call_sum(tl_tensor *t) {
    return tl_tensor_sum_dim(t, -1);
}

static tl_tensor *call_square(tl_tensor *t) {
    return tl_tensor_mul(t, t);
}

static tl_tensor *turned(tl_tensor *t) {
    tl_tensor *v = checked(tl_tensor_transpose(t, 0, 1)), *dense = checked(tl_tensor_clone(v));
    release(v);
    v = checked(tl_tensor_transpose(dense, 0, 1));
    release(dense);
    return v;
}

static void large_loops_are_small_ones(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 3);
    for (int dtype = TL_F32; dtype <= TL_F64; dtype++) {
        tl_tensor *(*const calls[])(tl_tensor *) = {tl_tensor_exp, call_square, call_softmax, call_sum};
        tl_tensor *t = large((tl_dtype)dtype), *strided = turned(t);
        for (int k = 0; k < 4; k++) {
            assert_same(checked(calls[k](t)), by_rows(calls[k], t));
            assert_same(checked(calls[k](strided)), by_rows(calls[k], strided));
        }
        tl_tensor *columns = checked(tl_tensor_sum_dim(t, 0)), *rows = checked(tl_tensor_transpose(t, 0, 1));
        tl_tensor *again = checked(tl_tensor_sum_dim(rows, 1));
        for (int64_t j = 0; j < COLUMNS; j++)
            assert_close(read_number(columns, j), read_number(again, j), 1e-6, "columns", j);
        release(columns);
        release(again);
        release(rows);
        release(strided);
        release(t);
    }
    close_ops(rt);
}

static void large_sums(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = large(TL_F64);
    double sum = 0;
    for (int64_t i = 0; i < t->elements; i++)
        sum += read_number(t, i);
    double first = item(tl_tensor_sum(t));
    assert_close(first, sum, 1e-12, "sum", 0);
    for (int k = 0; k < 20; k++)
        assert_true(item(tl_tensor_sum(t)) == first);
    release(t);
    t = tensor_new(TL_I64, 1, (const int64_t[]){ROWS * COLUMNS});
    int64_t whole = 0;
    for (int64_t i = 0; i < t->elements; i++) {
        write_number(t, i, (double)(i % 1000));
        whole += i % 1000;
    }
    tl_tensor *total = checked(tl_tensor_sum(t));
    assert_int_equal(tl_tensor_item_i64(total), whole);
    release(total);
    release(t);
    close_ops(rt);
}

/* ---- several callers ------------------------------------------------------------------------- */

static void *count_often(void *context) {
    for (int k = 0; k < 200; k++)
        tl__in_parts(10007, 1, TL_LARGE_LOOP, count_part, context);
    return NULL;
}

static void callers_do_not_disturb_each_other(void **state) {
    (void)state;
    static cover each[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        each[i].n = 10007;
        each[i].unit = 1;
        assert_int_equal(pthread_create(&threads[i], NULL, count_often, &each[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&each[i].wrong), 0);
        for (int64_t k = 0; k < each[i].n; k++)
            assert_int_equal(atomic_load(&each[i].times[k]), 200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_cover_everything_once),
        cmocka_unit_test(large_loops_are_small_ones),
        cmocka_unit_test(large_sums),
        cmocka_unit_test(callers_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
