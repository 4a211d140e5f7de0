/* test_growth.c: joined again and again, a tensor grows in its storage; and nobody can tell, but by the counters. */
#include "runtime_fixture.h"

#include <math.h>

#include "base/rng.h"
#include "runtime/grad/autograd.h"
#include "runtime/value/growth.h"

enum { ROW = 1 << 16, ROW_BYTES = 4 * ROW }; /* 256 KiB; four are enough to grow from */

static tl_runtime *open_growing(masu_device *device) {
    tl_runtime *rt = open_runtime(&(tl_runtime_config){.device = device});
    rt->growing_from = 4 * ROW_BYTES;
    return rt;
}

static tl_tensor *rows(int64_t count, float value) {
    tl_tensor *t;
    assert_int_equal(tl__tensor_new(TL_F32, 2, (int64_t[]){count, ROW}, &t), MASU_OK);
    for (int64_t i = 0; i < t->elements; i++)
        ((float *)t->data)[i] = value;
    return t;
}

static tl_tensor *cat(tl_tensor *a, tl_tensor *b) {
    tl_tensor *t = tl_tensor_cat(a, b, 0);
    assert_non_null(t);
    return t;
}

/* x = x.cat(rows of value, 0), where x dies. */
static void grow(tl_tensor **x, int64_t count, float value) {
    tl_tensor *more = rows(count, value), *longer = cat(*x, more);
    tl__tensor_drop(more);
    tl__tensor_drop(*x);
    *x = longer;
}

static void assert_row(const tl_tensor *t, int64_t row, float value) {
    const float *data = t->data;
    assert_true(t->contiguous);
    for (int64_t i = 0; i < ROW; i += 997)
        if (data[row * ROW + i] != value)
            fail_msg("row %d is %g, not %g", (int)row, (double)data[row * ROW + i], (double)value);
}

/* Row i holds i. */
static void assert_counting(const tl_tensor *t, int64_t count) {
    assert_int_equal(t->shape[0], count);
    for (int64_t i = 0; i < count; i++)
        assert_row(t, i, (float)i);
}

static tl_tensor *counting(int64_t count) {
    tl_tensor *x = rows(1, 0);
    for (int64_t i = 1; i < count; i++)
        grow(&x, 1, (float)i);
    return x;
}

static void rows_are_appended_in_place(void **state) {
    (void)state;
    tl_runtime *rt = open_growing(NULL);
    tl_tensor *x = counting(4);
    assert_int_equal(x->storage->growth, TL_GROWTH_ROOM);
    const void *place = x->data;
    for (int64_t i = 4; i < 50; i++)
        grow(&x, 1, (float)i);
    assert_ptr_equal(x->data, place);
    assert_counting(x, 50);
    assert_int_equal(rt->grown_tensors, 46);
    assert_int_equal(rt->kept_bytes, (49 * 50 / 2 - 3 * 4 / 2) * (uint64_t)ROW_BYTES);
    assert_int_equal(rt->live_bytes, 50 * (uint64_t)ROW_BYTES);
    assert_int_equal(rt->peak_bytes, 51 * (uint64_t)ROW_BYTES); /* the row beside it */
    assert_true(tl_runtime_valid(rt));
    tl__tensor_drop(x);
    close_runtime(rt);
}

static void every_value_stays_what_it_was(void **state) {
    (void)state;
    enum { KEPT = 12 };
    tl_runtime *rt = open_growing(NULL);
    tl_tensor *kept[KEPT] = {counting(4)};
    for (int i = 1; i < KEPT; i++) {
        tl_tensor *row = rows(1, (float)(i + 3));
        kept[i] = cat(kept[i - 1], row);
        tl__tensor_drop(row);
    }
    assert_int_equal(rt->live_bytes, (KEPT + 3) * (uint64_t)ROW_BYTES); /* all in one */
    for (int i = 0; i < KEPT; i++)
        assert_counting(kept[i], i + 4);
    assert_true(tl_runtime_valid(rt));
    for (int i = 0; i < KEPT; i++)
        tl__tensor_drop(kept[(i * 5) % KEPT]);
    close_runtime(rt);
}

static void an_end_that_is_taken_is_not_appended_to(void **state) {
    (void)state;
    tl_runtime *rt = open_growing(NULL);
    tl_tensor *x = counting(5), *seven = rows(1, 7), *nine = rows(1, 9);
    tl_tensor *first = cat(x, seven), *second = cat(x, nine);
    assert_ptr_equal(first->storage, x->storage);
    assert_ptr_not_equal(second->storage, x->storage);
    assert_row(first, 5, 7);
    assert_row(second, 5, 9);
    assert_row(second, 4, 4);
    tl_tensor *twice = cat(second, second);
    assert_ptr_equal(twice->storage, second->storage);
    assert_row(twice, 11, 9);
    assert_row(twice, 10, 4);
    assert_counting(x, 5);
    tl_tensor *all[] = {x, seven, nine, first, second, twice};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tl__tensor_drop(all[i]);
    close_runtime(rt);
}

static void what_no_one_reaches_is_free_again(void **state) {
    (void)state;
    tl_runtime *rt = open_growing(NULL);
    tl_tensor *x = counting(6), *more = rows(20, 3);
    for (int i = 0; i < 5; i++) { /* a prompt that is continued in several ways */
        tl_tensor *longer = cat(x, more);
        assert_ptr_equal(longer->storage, x->storage);
        tl_tensor *tail = tl_tensor_narrow(longer, 0, 10, 2);
        tl__tensor_drop(longer);
        assert_int_equal(rt->live_bytes, (12 + 20) * (uint64_t)ROW_BYTES); /* the tail's end */
        assert_row(tail, 1, 3);
        tl__tensor_drop(tail);
        assert_int_equal(rt->live_bytes, (6 + 20) * (uint64_t)ROW_BYTES);
        assert_true(tl_runtime_valid(rt));
    }
    masu_vm_stats stats;
    masu_vm_get_stats(rt->growing, &stats);
    assert_true(stats.mapped_bytes <= (uint64_t)16 * ROW_BYTES); /* of 29 it held */
    assert_counting(x, 6);
    tl__tensor_drop(x);
    tl__tensor_drop(more);
    close_runtime(rt);
}

/* The front of what slides would never come back. */
static void a_sliding_window_stays_small(void **state) {
    (void)state;
    tl_runtime *rt = open_growing(NULL);
    tl_tensor *x = counting(8);
    for (int i = 0; i < 40; i++) {
        tl_tensor *rest = tl_tensor_narrow(x, 0, 1, 7);
        tl__tensor_drop(x);
        x = rest;
        grow(&x, 1, (float)(8 + i));
    }
    for (int64_t i = 0; i < 8; i++)
        assert_row(x, i, (float)(40 + i));
    assert_int_equal(rt->live_bytes, 8 * (uint64_t)ROW_BYTES);
    assert_true(rt->peak_bytes <= (8 + 8 + 1) * (uint64_t)ROW_BYTES);
    tl__tensor_drop(x);
    close_runtime(rt);
}

static void who_writes_copies_what_is_shared(void **state) {
    (void)state;
    tl_runtime *rt = open_growing(NULL);
    tl_tensor *x = counting(5), *row = rows(1, 5), *longer = cat(x, row);
    tl_tensor *changed = tl_tensor_set_f64(x, 77, 2, (int64_t[]){2, 0});
    assert_true(((float *)changed->data)[2 * ROW] == 77.0F);
    assert_counting(longer, 6);
    tl_tensor *last = tl_tensor_set_f64(longer, 88, 2, (int64_t[]){5, 0}); /* the only holder now */
    assert_int_equal(last->storage->growth, TL_GROWTH_ROOM);
    assert_true(((float *)last->data)[5 * ROW] == 88.0F);
    assert_true(tl_runtime_valid(rt));
    tl__tensor_drop(changed);
    tl__tensor_drop(last);
    tl__tensor_drop(row);
    close_runtime(rt);
}

static void only_outermost_rows_of_one_type_grow(void **state) {
    (void)state;
    tl_runtime *rt = open_growing(NULL);
    tl_tensor *x = counting(5), *column, *doubles;
    assert_int_equal(tl__tensor_new_zeroed(TL_F32, 2, (int64_t[]){5, 3}, &column), MASU_OK);
    tl_tensor *wide = tl_tensor_cat(x, column, 1);
    assert_int_equal(wide->storage->growth, TL_GROWTH_NONE);
    assert_int_equal(tl__tensor_new_zeroed(TL_F64, 2, (int64_t[]){1, ROW}, &doubles), MASU_OK);
    tl_tensor *promoted = cat(x, doubles);
    assert_int_equal(promoted->dtype, TL_F64);
    assert_int_not_equal(promoted->storage->growth, TL_GROWTH_ROOM);
    /* the other way round the row is converted, and appended */
    tl_tensor *one = tl_tensor_reshape(x, 3, (int64_t[]){1, 5, ROW}), *row = rows(1, 5);
    tl_tensor *rank3 = tl_tensor_reshape(row, 3, (int64_t[]){1, 1, ROW});
    uint64_t before = rt->grown_tensors;
    tl_tensor *inner = tl_tensor_cat(one, rank3, 1); /* what stands before has length 1 */
    assert_int_equal(rt->grown_tensors, before + 1);
    assert_int_equal(inner->shape[1], 6);
    assert_row(inner, 5, 5);
    tl_tensor *all[] = {x, column, wide, doubles, promoted, one, row, rank3, inner};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tl__tensor_drop(all[i]);
    close_runtime(rt);
}

static void one_large_join_takes_no_room(void **state) {
    (void)state;
    tl_runtime *rt = open_growing(NULL);
    tl_tensor *a = rows(20, 1), *b = rows(20, 2), *both = cat(a, b);
    assert_int_equal(both->storage->growth, TL_GROWTH_JOINED);
    assert_null(rt->growing);
    tl__tensor_drop(a);
    tl__tensor_drop(b);
    tl__tensor_drop(both);
    close_runtime(rt);
}

static void beyond_its_addresses_it_is_copied_once(void **state) {
    (void)state;
    tl_runtime *rt = open_growing(NULL);
    rt->growing_reach = 0; /* 16 times the first size, and no more */
    tl_tensor *x = counting(4);
    const void *place = x->data;
    uint64_t moves = 0;
    for (int64_t i = 4; i < 80; i++) {
        grow(&x, 1, (float)i);
        moves += x->data != place;
        place = x->data;
    }
    assert_int_equal(moves, 1);
    assert_counting(x, 80);
    tl__tensor_drop(x);
    close_runtime(rt);
}

static void gradients_go_through(void **state) {
    (void)state;
    tl_runtime *rt = open_growing(NULL);
    tl_tensor *leaf = tl_tensor_enable_grad(rows(1, 2)), *x = tl_tensor_clone(leaf);
    for (int i = 0; i < 9; i++) {
        tl_tensor *longer = cat(x, leaf);
        tl__tensor_drop(x);
        x = longer;
    }
    assert_true(rt->grown_tensors >= 5);
    tl_tensor *square = tl_tensor_mul(x, x), *sum = tl_tensor_sum(square);
    tl_tensor_backward(sum, false);
    tl_tensor *gradient = tl_tensor_grad(leaf);
    assert_row(gradient, 0, 40); /* ten times 2 · 2 */
    tl_tensor *all[] = {leaf, x, square, sum, gradient};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tl__tensor_drop(all[i]);
    assert_int_equal(rt->live_nodes, 0);
    close_runtime(rt);
}

/* ---- when it cannot be ----------------------------------------------------------------------------------------- */

static void without_virtual_memory_it_is_copied(void **state) {
    (void)state;
    tl_runtime *rt = open_growing(NULL);
    rt->growing_refused = true;
    tl_tensor *x = counting(12);
    assert_counting(x, 12);
    tl__tensor_drop(x);
    assert_int_equal(rt->grown_tensors, 0);
    close_runtime(rt);
}

/* Each call of the device refused once: the row is appended, or all is copied. */
static void a_refusing_device_changes_nothing(void **state) {
    (void)state;
    for (uint64_t nth = 1; nth < 30; nth++) {
        masu_device *host, *faulty;
        assert_int_equal(masu_device_create_host(&host), MASU_OK);
        assert_int_equal(masu_device_create_faulty(host, &faulty), MASU_OK);
        tl_runtime *rt = open_growing(faulty);
        tl_tensor *x = counting(3); /* the payload heap has its memory */
        assert_int_equal(masu_device_fail_at(faulty, nth, false), MASU_OK);
        for (int64_t i = 3; i < 14; i++) {
            tl_tensor *row = rows(1, (float)i), *longer = tl_tensor_cat(x, row, 0);
            tl__tensor_drop(row);
            if (!longer) { /* refused to the payload heap: an error, and x is as it was */
                assert_raised(rt, MASU_ERR_OUT_OF_MEMORY, "tensor data");
                i--;
                continue;
            }
            tl__tensor_drop(x);
            x = longer;
        }
        assert_counting(x, 14);
        assert_true(tl_runtime_valid(rt));
        tl__tensor_drop(x);
        assert_int_equal(masu_device_fail_at(faulty, 0, false), MASU_OK);
        close_runtime(rt);
        assert_int_equal(masu_device_destroy(faulty), MASU_OK);
        assert_int_equal(masu_device_destroy(host), MASU_OK);
    }
}

/* A block that the device would not take back waits, and goes when the next one dies. */
static void what_was_refused_back_goes_later(void **state) {
    (void)state;
    masu_device *host, *faulty;
    assert_int_equal(masu_device_create_host(&host), MASU_OK);
    assert_int_equal(masu_device_create_faulty(host, &faulty), MASU_OK);
    tl_runtime *rt = open_growing(faulty);
    tl_tensor *x = counting(6), *y = counting(6);
    assert_int_equal(masu_device_fail_at(faulty, 1, false), MASU_OK);
    tl__tensor_drop(x);
    assert_int_equal(rt->growing_refused_count, 1);
    assert_int_equal(masu_device_fail_at(faulty, 0, false), MASU_OK);
    tl__tensor_drop(y);
    assert_int_equal(rt->growing_refused_count, 0);
    masu_vm_stats stats;
    masu_vm_get_stats(rt->growing, &stats);
    assert_int_equal(stats.live_blocks, 0);
    close_runtime(rt);
    assert_int_equal(masu_device_destroy(faulty), MASU_OK);
    assert_int_equal(masu_device_destroy(host), MASU_OK);
}

static void every_refused_request_leaves_nothing(void **state) {
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        tl_runtime *rt = open_growing(NULL);
        tl_tensor *x = counting(3);
        masu__fault_arm(nth);
        int64_t count = 3;
        for (int64_t i = 3; i < 14; i++) {
            tl_tensor *row = NULL, *longer = NULL;
            if (tl__tensor_new(TL_F32, 2, (int64_t[]){1, ROW}, &row) == MASU_OK) {
                for (int64_t k = 0; k < ROW; k++)
                    ((float *)row->data)[k] = (float)count;
                longer = tl_tensor_cat(x, row, 0);
            }
            tl__tensor_drop(row);
            if (!longer)
                continue;
            tl__tensor_drop(x);
            x = longer;
            count++;
        }
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        tl_runtime_clear_error(rt);
        assert_counting(x, count);
        tl__tensor_drop(x);
        close_runtime(rt);
        if (!fired)
            break;
        assert_true(nth < 1000);
    }
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* Joins, windows, kept values and deaths at random against plain arrays of row numbers. */
typedef struct model {
    tl_tensor *tensor;
    int64_t count;
    float row[64];
} model;

static void forget(model *m) {
    tl__tensor_drop(m->tensor);
    *m = (model){0};
}

static void random_step(masu__rng *rng, model *m, int count) {
    model *from = &m[masu__rng_below(rng, (uint64_t)count)], *to = &m[masu__rng_below(rng, (uint64_t)count)];
    unsigned what = (unsigned)masu__rng_below(rng, 20);
    if (!from->tensor || what == 0) {
        float value = (float)masu__rng_below(rng, 1000);
        forget(from);
        *from = (model){rows(1, value), 1, {value}};
    } else if (what == 1) {
        forget(from);
    } else if (what == 2 && from != to) {
        int64_t start = (int64_t)masu__rng_below(rng, (uint64_t)from->count);
        model window = {tl_tensor_narrow(from->tensor, 0, start, from->count - start), from->count - start, {0}};
        memcpy(window.row, from->row + start, sizeof(float) * (size_t)window.count);
        forget(to);
        *to = window;
    } else if (to->tensor && from->count + to->count <= 20) {
        model joined = *from;
        joined.tensor = cat(from->tensor, to->tensor);
        memcpy(joined.row + from->count, to->row, sizeof(float) * (size_t)to->count);
        joined.count += to->count;
        forget(from);
        if (from == to)
            *to = (model){0};
        *from = joined;
    }
}

static void random_joins_against_a_model(void **state) {
    (void)state;
    enum { MODELS = 6 };
    tl_runtime *rt = open_growing(NULL);
    masu__rng rng;
    masu__rng_seed(&rng, 4);
    model m[MODELS] = {0};
    for (int step = 0; step < 2000; step++) {
        random_step(&rng, m, MODELS);
        for (int k = 0; k < MODELS; k++)
            for (int64_t i = 0; i < m[k].count; i++)
                assert_row(m[k].tensor, i, m[k].row[i]);
        if (step % 100 == 0)
            assert_true(tl_runtime_valid(rt));
    }
    assert_true(rt->grown_tensors > 30);
    for (int k = 0; k < MODELS; k++)
        forget(&m[k]);
    close_runtime(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_appended_in_place),
        cmocka_unit_test(every_value_stays_what_it_was),
        cmocka_unit_test(an_end_that_is_taken_is_not_appended_to),
        cmocka_unit_test(what_no_one_reaches_is_free_again),
        cmocka_unit_test(a_sliding_window_stays_small),
        cmocka_unit_test(who_writes_copies_what_is_shared),
        cmocka_unit_test(only_outermost_rows_of_one_type_grow),
        cmocka_unit_test(one_large_join_takes_no_room),
        cmocka_unit_test(beyond_its_addresses_it_is_copied_once),
        cmocka_unit_test(gradients_go_through),
        cmocka_unit_test(without_virtual_memory_it_is_copied),
        cmocka_unit_test(a_refusing_device_changes_nothing),
        cmocka_unit_test(what_was_refused_back_goes_later),
        cmocka_unit_test(every_refused_request_leaves_nothing),
        cmocka_unit_test(random_joins_against_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
