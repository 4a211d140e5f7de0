/* test_autograd_memory.c: how much memory histories and training steps take, in buffers. */
#include "ops_fixture.h"

enum { BUFFER = 4096 }; /* bytes of ones(1024) */

static uint64_t peak_bytes(tl_runtime *rt) {
    masu_heap_stats stats;
    masu_heap_get_stats(rt->payload, &stats);
    return stats.peak_bytes;
}

typedef enum chain { CHAIN_TANH, CHAIN_DOUBLE, CHAIN_INCREMENT, CHAIN_RELU } chain;

static tl_tensor *chain_step(chain kind, tl_tensor *t) {
    switch (kind) {
    case CHAIN_TANH:
        return then1(tl_tensor_tanh, t);
    case CHAIN_DOUBLE:
        return then_scalar(tl_tensor_mul_scalar, t, 2);
    case CHAIN_INCREMENT:
        return then_scalar(tl_tensor_add_scalar, t, 1);
    default:
        return then1(tl_tensor_relu, t);
    }
}

/* Peaks in buffers, from OWNERSHIP's table: forward needs as many; backward adds none. */
static void chains_of_eight_stay_within_their_bounds(void **state) {
    (void)state;
    const uint64_t most[] = {9, 3, 3, 9};
    for (int kind = 0; kind < 4; kind++) {
        tl_runtime *rt = open_runtime(NULL);
        tl_tensor *w = leaf_of(ones(1024)), *y = checked(tl_tensor_shallow_clone(w));
        for (int i = 0; i < 8; i++)
            y = chain_step((chain)kind, y);
        tl_tensor *loss = then1(tl_tensor_sum, y);
        uint64_t forward_peak = peak_bytes(rt);
        backward(loss);
        release(loss);
        assert_true(peak_bytes(rt) < most[kind] * BUFFER + 256);
        assert_true(peak_bytes(rt) <= forward_peak + 256);
        assert_int_equal(rt->live_bytes, 2 * BUFFER);
        assert_int_equal(rt->live_nodes, 0);
        assert_int_equal(rt->live_grads, 1);
        if (kind != CHAIN_TANH)
            assert_gradient(w, kind == CHAIN_DOUBLE ? 256 : 1);
        release(w);
        close_ops(rt);
    }
}

static void squares_of_squares(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(1024)), *y = checked(tl_tensor_mul(w, w)), *z = checked(tl_tensor_mul(y, y));
    release(y);
    tl_tensor *loss = then1(tl_tensor_sum, z);
    backward(loss);
    release(loss);
    assert_true(peak_bytes(rt) < 3 * BUFFER + 256);
    assert_gradient(w, 4);
    release(w);
    close_ops(rt);
}

/* Only the tracked side's needs are saved, and only tracked inputs get a gradient. */
static void nothing_needless_is_saved_or_computed(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(1024)), *x = ones(1024), *p = checked(tl_tensor_mul(w, x)),
              *s = checked(tl_tensor_add(w, x));
    assert_null(tl__node_saved(p->node)[0]);
    assert_ptr_equal(tl__node_saved(p->node)[1], x);
    assert_null(tl__node_inputs(p->node)[1]);
    assert_int_equal(s->node->saved_count, 0);
    tl_tensor *loss = square_sum(s);
    release(p);
    release(s);
    uint64_t bytes = rt->allocated_bytes;
    backward(loss);
    assert_int_equal(rt->allocated_bytes - bytes, 4); /* the seed: the gradient takes the saved sum's place */
    assert_null(x->node);
    release(loss);
    release(x);
    release(w);
    close_ops(rt);
}

/* for i { loss = (w*w).sum(); loss.backward(); w = w - w.grad()*lr; w = w.detach(false);
 * w.enable_grad() } */
static void training_steps_are_all_alike(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(1024));
    masu_heap_stats warm, now;
    tl_grad_loop_enter();
    for (int i = 0; i < 200; i++) {
        tl_tensor *loss = square_sum(w);
        backward(loss);
        release(loss);
        tl_tensor *step = then_scalar(tl_tensor_mul_scalar, checked(tl_tensor_grad(w)), 0.25);
        tl_tensor *next = checked(tl_tensor_sub(w, step));
        release(step);
        release(w);
        w = leaf_of(checked(tl_tensor_detach(next, false)));
        tl_clear_grads();
        assert_int_equal(rt->live_bytes, BUFFER);
        assert_int_equal(rt->live_nodes, 0);
        assert_int_equal(rt->live_grads, 0);
        if (i == 10)
            masu_heap_get_stats(rt->payload, &warm);
    }
    masu_heap_get_stats(rt->payload, &now);
    assert_int_equal(now.misses, warm.misses);
    assert_int_equal(now.device_allocations, warm.device_allocations);
    assert_true(now.peak_bytes < 4 * BUFFER + 256);
    tl_grad_loop_exit();
    assert_all(w, pow(0.5, 200));
    release(w);
    close_ops(rt);
}

/* total = total + loss: the history grows, and its length says so; detached, it does not. */
static void the_length_of_a_history_is_known(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4));
    for (int cut = 0; cut < 2; cut++) {
        tl_tensor *total = checked(tl_tensor_zeros(0, NULL, false));
        for (int i = 0; i < 100; i++) {
            tl_tensor *loss = square_sum(w);
            if (cut)
                loss = checked(tl_tensor_detach(loss, false));
            tl_tensor *sum = checked(tl_tensor_add(total, loss));
            release(loss);
            release(total);
            total = sum;
        }
        assert_int_equal(total->node ? total->node->depth : 0, cut ? 0 : 102);
        release(total);
    }
    release(w);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_of_eight_stay_within_their_bounds), cmocka_unit_test(squares_of_squares),
        cmocka_unit_test(nothing_needless_is_saved_or_computed),    cmocka_unit_test(training_steps_are_all_alike),
        cmocka_unit_test(the_length_of_a_history_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
