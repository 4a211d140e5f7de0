/* test_autograd.c: what programs see of gradients and histories: when they live, when they are
 * cleared, what a second backward says. */
#include <math.h>

#include "ops_fixture.h"

enum { BUFFER = 4096 }; /* bytes of ones(1024) */

/* ---- reading gradients ----------------------------------------------------------------------- */

static void before_and_without_backward(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(3)), *plain = ones(3), *h = checked(tl_tensor_exp(w));
    assert_gradient(w, 0);
    assert_int_equal(rt->live_grads, 0);
    assert_null(tl_tensor_grad(plain));
    assert_raised(rt, MASU_ERR_NO_GRADIENT, "tensor does not track gradients; call enable_grad() first");
    assert_null(tl_tensor_grad(h));
    assert_raised(rt, MASU_ERR_NO_GRADIENT, "only leaves keep gradients, this tensor is the result of `exp`");
    release(h);
    release(plain);
    release(w);
    close_ops(rt);
}

static void backward_needs_a_number_with_a_history(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(checked(tl_tensor_ones(SHAPE(2, 3), false))), *h = checked(tl_tensor_exp(w));
    tl_tensor *loss = checked(tl_tensor_sum(h)), *cut = checked(tl_tensor_detach(loss, false));
    tl_tensor_backward(h, false);
    assert_raised(rt, MASU_ERR_NOT_SCALAR, "backward needs a scalar, this tensor has shape [2, 3]");
    tl_tensor_backward(cut, false);
    assert_raised(rt, MASU_ERR_NO_GRAPH, "backward needs a history, and this tensor has none");
    assert_gradient(w, 0);
    release(cut);
    release(h);
    /* one element is number enough, whatever its rank; a leaf is its own history */
    tl_tensor *one = leaf_of(checked(tl_tensor_ones(SHAPE(1, 1), false)));
    backward(one);
    assert_gradient(one, 1);
    release(one);
    release(w);
    close_ops(rt);
}

/* `let g = w.grad()`: a value of its own, whatever happens to w's gradient afterwards. */
static void a_read_gradient_is_independent(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(1024)), *loss = square_sum(w);
    tl_grad_loop_enter();
    backward(loss);
    release(loss);
    uint64_t bytes = rt->live_bytes;
    tl_tensor *g = checked(tl_tensor_grad(w));
    assert_int_equal(rt->live_bytes, bytes);
    loss = square_sum(w);
    backward(loss);
    release(loss);
    assert_gradient(w, 4);
    assert_all(g, 2);
    g = checked(tl_tensor_mul_assign(g, g));
    assert_gradient(w, 4);
    tl_clear_grads(); /* looking changes nothing */
    assert_gradient(w, 4);
    tl_tensor *last = checked(tl_tensor_grad(w));
    tl_grad_consume(last, false);
    release(last);
    assert_gradient(w, 4);
    tl_clear_grads();
    assert_gradient(w, 0);
    assert_all(g, 4);
    tl_clear_grads();
    tl_grad_loop_exit();
    release(w);
    assert_all(g, 4);
    release(g);
    close_ops(rt);
}

/* ---- clearing: D11 --------------------------------------------------------------------------- */

/* for e { for b in 0..3 { loss(b).backward() }  w = w - w.grad() * lr } */
static void what_an_inner_loop_gathered_ends_with_the_iteration_that_looks(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(1024));
    tl_grad_loop_enter();
    for (int epoch = 0; epoch < 3; epoch++) {
        tl_grad_loop_enter();
        const void *buffer = NULL;
        for (int batch = 0; batch < 3; batch++) {
            tl_tensor *loss = square_sum(w);
            backward(loss);
            release(loss);
            buffer = batch == 0 ? tl__node_leaf(w->node)->gradient->data : buffer;
            assert_ptr_equal(tl__node_leaf(w->node)->gradient->data, buffer);
            tl_clear_grads(); /* the latch of the inner loop: nothing was read in it */
        }
        tl_grad_loop_exit();
        assert_int_equal(rt->live_grads, 1);
        assert_gradient(w, 6);
        assert_gradient(w, 6);
        tl_clear_grads();
        assert_int_equal(rt->live_grads, 0);
    }
    tl_grad_loop_exit();
    release(w);
    close_ops(rt);
}

/* The first backward behind it replaces what was consumed, whichever loop it stands in; until then it can be read. */
static void what_was_consumed_is_replaced(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4));
    for (int round = 0; round < 3; round++) {
        for (int part = 0; part < 2; part++) {
            tl_tensor *loss = square_sum(w);
            backward(loss);
            release(loss);
            assert_gradient(w, 2 * (part + 1));
        }
        tl_tensor *g = checked(tl_tensor_grad(w));
        tl_grad_consume(g, round == 2);
        assert_int_equal(rt->live_grads, round == 2 ? 0 : 1);
        assert_all(g, 4);
        release(g);
    }
    release(w);
    close_ops(rt);
}

/* What a function makes of a gradient and hands out is consumed where its caller keeps it. */
static void the_caller_says_whether_it_is_kept(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4));
    for (int kept = 0; kept < 2; kept++) {
        tl_tensor *loss = square_sum(w);
        backward(loss);
        release(loss);
        assert_false(tl_grad_keeping(kept));
        tl_tensor *g = checked(tl_tensor_grad(w));
        tl_grad_hand_out(g);
        release(g);
        assert_int_equal(tl_grad_keeping(false), kept);
        assert_int_equal(tl__node_leaf(w->node)->consumed, kept);
    }
    release(w);
    close_ops(rt);
}

/* Leaves die in any order while they stand in the list; the end of a loop empties it. */
static void leaves_leave_the_list(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    enum { COUNT = 5 };
    const int order[COUNT] = {2, 0, 4, 1, 3};
    tl_tensor *w[COUNT];
    for (int i = 0; i < COUNT; i++)
        w[i] = leaf_of(ones(2));
    tl_tensor *outside = leaf_of(ones(2)), *loss = square_sum(outside);
    backward(loss);
    release(loss);
    assert_gradient(outside, 2);
    tl_grad_loop_enter();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++)
            assert_gradient(w[i], 0);
    for (int i = 0; i < COUNT; i++) {
        release(w[order[i]]);
        int length = 0;
        for (tl_node *node = rt->grad_read; node; node = tl__node_leaf(node)->read_after)
            length++;
        assert_int_equal(length, COUNT - i); /* and the one outside */
    }
    tl_clear_grads();
    assert_null(rt->grad_read);
    tl_grad_loop_exit();
    assert_gradient(outside, 2);
    release(outside);
    close_ops(rt);
}

/* `break` straight after backward, before anything is cleared. */
static void a_gradient_dies_with_its_leaf(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(1024)), *loss = square_sum(w);
    tl_grad_loop_enter();
    backward(loss);
    assert_gradient(w, 2);
    tl_grad_loop_exit();
    release(w);
    assert_int_equal(rt->live_grads, 0);
    assert_int_equal(rt->live_bytes, 4);
    release(loss);
    close_ops(rt);
}

/* ---- histories live and die: D8 – D10 -------------------------------------------------------- */

/* `probs` and `loss` are still named after backward: both are right; what nobody names is gone. */
static tl_tensor *loss_in_a_callee(tl_tensor *w, tl_tensor **probs) {
    tl_tensor *h = checked(tl_tensor_mul_scalar(w, 0));
    *probs = checked(tl_tensor_softmax(h, 0));
    release(h);
    return square_sum(*probs);
}

static void named_values_survive_backward(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(1024)), *probs, *loss = loss_in_a_callee(w, &probs);
    assert_int_equal(rt->live_nodes, 4);
    backward(loss);
    assert_int_equal(rt->live_nodes, 2); /* those of probs and loss, empty */
    assert_all(probs, 1.0 / 1024);
    assert_close(tl_tensor_item(loss), 1.0 / 1024, 1e-6, "loss", 0);
    assert_int_equal(rt->live_bytes, 3 * BUFFER + 4);
    release(probs);
    release(loss);
    assert_int_equal(rt->live_nodes, 0);
    assert_int_equal(rt->live_grads, 1);
    release(w);
    close_ops(rt);
}

/* The model dies before backward: its leaves live on in the history, and with it they go. */
static void leaves_live_as_long_as_the_history(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(1024)), *loss = square_sum(w);
    release(w);
    assert_int_equal(rt->live_bytes, BUFFER + 4);
    backward(loss);
    assert_int_equal(rt->live_bytes, 4);
    release(loss);
    close_ops(rt);
}

/* Forward only, whatever the loop: nothing stays behind. */
static void a_history_without_backward_dies_with_its_last_name(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(1024));
    for (int i = 0; i < 3; i++) {
        tl_tensor *h = checked(tl_tensor_tanh(w)), *y = checked(tl_tensor_add(h, w)), *loss = square_sum(y);
        release(h);
        assert_int_equal(rt->live_nodes, 4);
        assert_true(tl__graph_valid(loss));
        release(i == 1 ? loss : y);
        release(i == 1 ? y : loss);
        assert_int_equal(rt->live_nodes, 0);
        assert_int_equal(rt->live_bytes, BUFFER);
        assert_int_equal(w->node->count, 1);
    }
    release(w);
    close_ops(rt);
}

static void detaching(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(1024)), *h = checked(tl_tensor_mul(w, w));
    tl_tensor_acquire(h);
    tl_tensor *d = checked(tl_tensor_detach(h, false));
    assert_ptr_not_equal(d, h);
    assert_ptr_equal(d->data, h->data);
    assert_null(d->node);
    assert_non_null(h->node);
    tl_tensor *loss = checked(tl_tensor_sum(h));
    release(h);
    backward(loss);
    release(loss);
    assert_int_equal(rt->live_nodes, 0);
    assert_all(d, 1);
    assert_gradient(w, 2);
    /* of a plain tensor: itself; of a leaf that lives on: the value; of the last name: the same
     * header */
    assert_ptr_equal(tl_tensor_detach(d, false), d);
    tl_tensor_acquire(w);
    tl_tensor *value = checked(tl_tensor_detach(w, false));
    assert_null(value->node);
    assert_gradient(w, 2);
    assert_ptr_equal(tl_tensor_detach(w, false), w);
    assert_null(w->node);
    assert_int_equal(rt->live_grads, 0);
    /* track: a leaf of its own */
    tl_tensor *fresh = checked(tl_tensor_detach(w, true));
    assert_true(fresh->node->flags & TL_NODE_LEAF);
    assert_gradient(fresh, 0);
    release(fresh);
    release(value);
    release(d);
    close_ops(rt);
}

static void tracking_on_and_off(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = ones(4);
    assert_ptr_equal(tl_tensor_enable_grad(t), t);
    tl_node *node = t->node;
    assert_ptr_equal(tl_tensor_enable_grad(t), t);
    assert_ptr_equal(t->node, node);
    assert_ptr_equal(tl_tensor_freeze(t), t);
    assert_null(t->node);
    /* shared: the other keeps its state */
    tl_tensor_acquire(t);
    tl_tensor *leaf = leaf_of(t);
    assert_ptr_not_equal(leaf, t);
    assert_ptr_equal(leaf->data, t->data);
    assert_null(t->node);
    tl_tensor *h = checked(tl_tensor_exp(leaf));
    node = h->node;
    assert_ptr_equal(tl_tensor_enable_grad(h), h); /* tracks already: no effect */
    assert_ptr_equal(h->node, node);
    release(h);
    release(leaf);
    release(t);
    tl_tensor *whole = checked(tl_tensor_literal_i64(0, 1, (const int64_t[]){1}));
    assert_null(tl_tensor_enable_grad(whole));
    assert_raised(rt, MASU_ERR_DTYPE_MISMATCH, "only floating tensors track gradients, this one has element type i64");
    tl_tensor *mask = checked(tl_tensor_literal_bool(0, 1, (const int64_t[]){1}));
    assert_null(tl_tensor_detach(mask, true));
    assert_raised(rt, MASU_ERR_DTYPE_MISMATCH, "bool");
    close_ops(rt);
}

static void copies_with_a_history(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4)), *same = checked(tl_tensor_shallow_clone(w)), *copy = checked(tl_tensor_clone(w));
    assert_ptr_equal(same, w);
    assert_false(copy->node->flags & TL_NODE_LEAF);
    tl_tensor *sum = checked(tl_tensor_add(copy, same)), *loss = square_sum(sum);
    backward(loss);
    assert_gradient(w, 8);
    release(loss);
    release(sum);
    release(copy);
    release(same);
    release(w);
    close_ops(rt);
}

/* ---- backward twice, shared histories -------------------------------------------------------- */

static void a_second_backward_names_the_first(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = tl_mem_function_enter(0);
    tl_tensor *w = leaf_of(ones(4));
    tl_tensor *saves = square_sum(w), *saves_nothing = then1(tl_tensor_sum, checked(tl_tensor_add_scalar(w, 1)));
    tl_tensor *both[] = {saves, saves_nothing};
    for (int i = 0; i < 2; i++) {
        frame->site = (uint32_t)(5 + i);
        backward(both[i]);
        frame->site = 9;
        tl_tensor_backward(both[i], false);
        assert_int_equal(tl_runtime_error(rt)->related_site, 5 + i);
        assert_int_equal(tl_runtime_error(rt)->sites[0], 9);
        assert_raised(rt, MASU_ERR_GRAPH_FREED, "the graph was already freed by an earlier backward");
        release(both[i]);
    }
    assert_gradient(w, 3);
    release(w);
    tl_mem_function_exit(frame);
    close_ops(rt);
}

static void two_losses_share_a_part(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    for (int keep = 0; keep < 2; keep++) {
        tl_tensor *w = leaf_of(ones(4)), *h = checked(tl_tensor_mul(w, w)), *first = checked(tl_tensor_sum(h));
        tl_tensor *second = then1(tl_tensor_sum, checked(tl_tensor_mul_scalar(h, 3)));
        release(h);
        tl_tensor_backward(first, keep);
        assert_gradient(w, 2);
        tl_tensor_backward(second, false);
        if (keep) {
            assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
            assert_gradient(w, 2 + 6);
        } else {
            /* refused before anything was changed */
            assert_raised(rt, MASU_ERR_GRAPH_FREED, "already freed");
            assert_gradient(w, 2);
            assert_true(tl__graph_valid(second));
            assert_int_equal(second->node->pending, 0);
        }
        release(first);
        release(second);
        release(w);
        no_history_left(rt);
    }
    close_ops(rt);
}

static void gradients_of_two_losses_add_up(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4)), *v = leaf_of(ones(4));
    tl_tensor *first = square_sum(w), *product = checked(tl_tensor_mul(w, v)),
              *second = checked(tl_tensor_sum(product));
    backward(second);
    backward(first);
    assert_gradient(w, 3);
    assert_gradient(v, 1);
    release(product);
    release(first);
    release(second);
    release(w);
    release(v);
    close_ops(rt);
}

/* add hands the same gradient to both sides, which are leaves: neither sees what happens to the
 * other's. */
static void leaves_do_not_share_gradients_visibly(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4)), *v = leaf_of(ones(4)), *sum = checked(tl_tensor_add(w, v));
    tl_tensor *squares = checked(tl_tensor_mul(sum, sum)), *loss = checked(tl_tensor_sum(squares));
    backward(loss);
    release(loss);
    loss = square_sum(w);
    backward(loss);
    assert_gradient(w, 6);
    assert_gradient(v, 4);
    release(loss);
    release(squares);
    release(sum);
    release(w);
    release(v);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_and_without_backward),
        cmocka_unit_test(backward_needs_a_number_with_a_history),
        cmocka_unit_test(a_read_gradient_is_independent),
        cmocka_unit_test(what_an_inner_loop_gathered_ends_with_the_iteration_that_looks),
        cmocka_unit_test(what_was_consumed_is_replaced),
        cmocka_unit_test(the_caller_says_whether_it_is_kept),
        cmocka_unit_test(leaves_leave_the_list),
        cmocka_unit_test(a_gradient_dies_with_its_leaf),
        cmocka_unit_test(named_values_survive_backward),
        cmocka_unit_test(leaves_live_as_long_as_the_history),
        cmocka_unit_test(a_history_without_backward_dies_with_its_last_name),
        cmocka_unit_test(detaching),
        cmocka_unit_test(tracking_on_and_off),
        cmocka_unit_test(copies_with_a_history),
        cmocka_unit_test(a_second_backward_names_the_first),
        cmocka_unit_test(two_losses_share_a_part),
        cmocka_unit_test(gradients_of_two_losses_add_up),
        cmocka_unit_test(leaves_do_not_share_gradients_visibly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
