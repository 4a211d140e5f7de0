/* test_autograd_in_place.c: writing into tensors that have a history, are leaves or were saved for backward. A gradient
 * is never wrong: it is right, or the write or the backward is refused. */
#include <math.h>

#include "ops_fixture.h"

/* The leaf that only one header holds stays what it is; written while somebody else holds it, it is a new leaf, and the
 * old one still gets its gradient. */
static void leaves_are_written_in_place(void **state) {
    (void)state;
    open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4)), *two = checked(tl_tensor_mul_scalar(w, 2)), *one = ones(4);
    tl_tensor *l = checked(tl_tensor_sum(two)), *old = w;
    tl_tensor_acquire(w);
    w = checked(tl_tensor_add_assign(w, one));
    assert_ptr_not_equal(w, old);
    assert_ptr_not_equal(w->node, old->node);
    backward(l);
    assert_gradient(old, 2);
    assert_gradient(w, 0);
    tl_node *leaf = w->node;
    w = checked(tl_tensor_set_f64(w, 5, 1, (const int64_t[]){0}));
    w = checked(tl_tensor_fill(w, 3));
    assert_ptr_equal(w->node, leaf);
    assert_float_equal(((float *)w->data)[3], 3, 0);
    assert_float_equal(((float *)old->data)[3], 1, 0);
    release(l);
    release(two);
    release(one);
    release(old);
    release(w);
    close_ops(tl__runtime());
}

static void writing_into_a_history_goes_on_with_it(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4)), *h = checked(tl_tensor_exp(w)), *one = ones(4), *l = checked(tl_tensor_sum(h));
    h = checked(tl_tensor_add_assign(h, one));
    h = checked(tl_tensor_set_f64(h, 1, 1, (const int64_t[]){0}));
    tl_tensor *written = checked(tl_tensor_sum(h));
    h = checked(tl_tensor_fill(h, 0));
    tl_tensor *filled = checked(tl_tensor_sum(h));
    tl_tensor_acquire(w);
    assert_null(tl_tensor_sub_assign(w, h));
    assert_raised(rt, MASU_ERR_MODIFIED_IN_PLACE, "this is a leaf");
    tl_tensor_backward(filled, true);
    assert_gradient(w, 0);
    tl_tensor_backward(l, true);
    assert_gradient(w, 2.7182818);
    backward(written);
    release(written);
    release(filled);
    release(h);
    h = checked(tl_tensor_grad(w));
    assert_true(fabs(tl_tensor_get_f64(h, 1, (const int64_t[]){0}) - 2.7182818) < 1e-5);
    assert_true(fabs(tl_tensor_get_f64(h, 1, (const int64_t[]){1}) - 5.4365637) < 1e-5);
    release(h);
    release(l);
    release(one);
    release(w);
    close_ops(rt);
}

/* A saved value is changed by the program in every way it can: backward has the old one. */
static void saved_values_cannot_be_changed(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4)), *c = checked(tl_tensor_full(SHAPE(4), 3, false)),
              *view = checked(tl_tensor_clone(c));
    tl_tensor *product = checked(tl_tensor_mul(w, c)), *h = checked(tl_tensor_exp(product)),
              *loss = checked(tl_tensor_sum(h));
    c = checked(tl_tensor_fill(c, 100));
    view = checked(tl_tensor_set_f64(view, 50, 1, (const int64_t[]){1}));
    /* the value of exp, detached, may be written: the node has its own hold of the bytes */
    tl_tensor *d = checked(tl_tensor_detach(h, false));
    d = checked(tl_tensor_fill(d, 0));
    backward(loss);
    assert_gradient(w, 3 * exp(3));
    release(d);
    release(product);
    release(loss);
    release(c);
    release(view);
    release(w);
    close_ops(rt);
}

/* As if a compiler's fault had hidden that the bytes are shared: the write goes through, backward refuses, names the
 * place of the write and has changed nothing. */
static void a_saved_value_written_all_the_same_is_an_error(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_frame *frame = tl_mem_function_enter(0);
    for (int kind = 0; kind < 2; kind++) {
        tl_tensor *w = leaf_of(ones(4)), *c = checked(tl_tensor_full(SHAPE(4), 3, false));
        tl_tensor *product = checked(tl_tensor_mul(w, c)), *loss = checked(tl_tensor_sum(product));
        tl_object *head = &c->head;
        uint32_t hidden = head->count - 1;
        head->count -= hidden;
        frame->site = 7;
        c = kind == 0 ? checked(tl_tensor_fill(c, 100)) : checked(tl_tensor_set_f64(c, 100, 1, (const int64_t[]){2}));
        head->count += hidden;
        frame->site = 9;
        tl_tensor_backward(loss, false);
        assert_int_equal(tl_runtime_error(rt)->sites[0], 9);
        assert_int_equal(tl_runtime_error(rt)->related_site, 7);
        assert_raised(rt, MASU_ERR_MODIFIED_IN_PLACE,
                      "a value that `*` saved for backward was changed in place afterwards");
        assert_gradient(w, 0);
        assert_true(tl__graph_valid(loss));
        assert_int_equal(product->node->pending, 0);
        release(loss);
        release(product);
        release(c);
        release(w);
        no_history_left(rt);
    }
    tl_mem_function_exit(frame);
    close_ops(rt);
}

/* w is bound anew between forward and backward: the old leaf gets the gradient, nobody else. */
static void rebinding_between_forward_and_backward(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4)), *loss = square_sum(w);
    tl_tensor_acquire(w);
    tl_tensor *moved = checked(tl_tensor_detach(w, false));
    moved = leaf_of(checked(tl_tensor_fill(moved, 7)));
    backward(loss);
    assert_gradient(w, 2);
    assert_gradient(moved, 0);
    release(loss);
    release(moved);
    release(w);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_are_written_in_place),
        cmocka_unit_test(writing_into_a_history_goes_on_with_it),
        cmocka_unit_test(saved_values_cannot_be_changed),
        cmocka_unit_test(a_saved_value_written_all_the_same_is_an_error),
        cmocka_unit_test(rebinding_between_forward_and_backward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
