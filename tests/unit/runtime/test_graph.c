/* test_graph.c: histories of any size and shape, on a small stack, in linear time; and what is
 * left when memory runs out half-way. */
#include "ops_fixture.h"

#include <pthread.h>
#include <time.h>

enum { SMALL_STACK = 256 * 1024 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* On a thread whose stack holds no recursion over a large graph. */
static void on_a_small_stack(void *(*body)(void *)) {
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, SMALL_STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, body, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

static tl_tensor *chain_of(tl_tensor *w, int64_t length) {
    tl_tensor *y = tl_tensor_shallow_clone(w);
    for (int64_t i = 0; i < length; i++) {
        tl_tensor *next = tl_tensor_add(y, w);
        release(y);
        y = next;
    }
    return y;
}

/* Assertions of cmocka belong to the main thread: the body says how many things were wrong. */
static int wrong;
static double bytes_a_node;
static uint64_t chain_length;

static void *long_chains(void *ignored) {
    (void)ignored;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = tl_tensor_ones(0, NULL, true);
    uint64_t before = rt->metadata_live_bytes;
    /* freed by backward */
    tl_tensor *y = chain_of(w, (int64_t)chain_length);
    wrong += rt->live_nodes != chain_length;
    bytes_a_node = (double)(rt->metadata_live_bytes - before) / (double)chain_length;
    tl_tensor_backward(y, false);
    wrong += rt->live_nodes != 1;
    tl_tensor *g = tl_tensor_grad(w);
    wrong += tl_tensor_item(g) != (double)(float)(chain_length + 1);
    release(g);
    release(y);
    /* freed by the end of its scope, without backward */
    y = chain_of(w, (int64_t)chain_length);
    release(y);
    wrong += rt->live_nodes != 0;
    /* freed as it is left behind: the name goes to the next one, detached */
    y = tl_tensor_detach(chain_of(w, (int64_t)chain_length), false);
    wrong += rt->live_nodes != 0;
    release(y);
    /* kept, checked, walked twice, freed */
    y = chain_of(w, (int64_t)chain_length);
    tl_tensor_backward(y, true);
    wrong += rt->live_nodes != chain_length || !tl__graph_valid(y);
    tl_tensor_backward(y, false);
    release(y);
    release(w);
    wrong += rt->live_nodes != 0 || rt->live_grads != 0 || rt->tensors.live != 0 || rt->metadata_live_bytes != 0;
    tl_runtime_leave(rt);
    tl_runtime_destroy(rt);
    return NULL;
}

static void a_chain_of_a_million_needs_no_stack(void **state) {
    (void)state;
#ifdef MASU_HEAVY
    chain_length = 100000; /* sanitizers keep what was freed */
#else
    chain_length = 1000000;
#endif
    wrong = 0;
    on_a_small_stack(long_chains);
    assert_int_equal(wrong, 0);
    print_message("%.0f bytes a node\n", bytes_a_node);
    assert_true(bytes_a_node <= 64);
}

/* Each level uses the one before twice: 2^levels paths, `levels` nodes. */
static tl_tensor *diamond_of(tl_tensor *w, int levels, bool by_views) {
    tl_tensor *y = tl_tensor_shallow_clone(w);
    for (int i = 0; i < levels; i++) {
        tl_tensor *other = by_views ? tl_tensor_clone(y) : tl_tensor_shallow_clone(y);
        tl_tensor *next = checked(tl_tensor_add(y, other));
        release(other);
        release(y);
        y = next;
    }
    return y;
}

static void diamonds_are_walked_once(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    for (int by_views = 0; by_views < 2; by_views++) {
        for (int keep = 0; keep < 2; keep++) {
            tl_tensor *w = leaf_of(checked(tl_tensor_ones(0, NULL, false))), *y = diamond_of(w, 40, by_views);
            assert_int_equal(rt->live_nodes, by_views ? 80 : 40);
            assert_true(tl__graph_valid(y));
            tl_tensor_backward(y, keep);
            assert_true(item(tl_tensor_grad(w)) == (double)(1LL << 40));
            release(y);
            release(w);
            no_history_left(rt);
        }
    }
    close_ops(rt);
}

static double time_of_chain(int64_t length) {
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(checked(tl_tensor_ones(0, NULL, false)));
    double best = 1e9;
    for (int round = 0; round < 2; round++) {
        double start = seconds();
        tl_tensor *y = chain_of(w, length);
        tl_tensor_backward(y, false);
        release(y);
        double took = seconds() - start;
        best = took < best ? took : best;
    }
    release(w);
    close_ops(rt);
    return best;
}

/* 32 times the length: 32 times the time, and some more since it leaves the caches; not 1024
 * times. */
static void time_is_linear(void **state) {
    (void)state;
    double few = time_of_chain(10000), many = time_of_chain(320000);
    if (many > few * 300)
        fail_msg("10000 links take %g s, 320000 take %g s", few, many);
}

/* One value with many consumers; many values with one consumer. */
static void wide_graphs(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    enum { WIDTH = 500 };
    tl_tensor *w = leaf_of(ones(3)), *parts[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        parts[i] = checked(tl_tensor_mul_scalar(w, i));
    tl_tensor *stack = checked(tl_tensor_stack(WIDTH, parts)), *loss = checked(tl_tensor_sum(stack));
    for (int i = 0; i < WIDTH; i++)
        release(parts[i]);
    release(stack);
    tl_tensor_backward(loss, false);
    assert_gradient(w, WIDTH * (WIDTH - 1) / 2);
    release(loss);
    /* rows of one tensor, each used once: linear, since all add into one buffer */
    tl_tensor *rows = leaf_of(checked(tl_tensor_ones(SHAPE(WIDTH, 3), false))),
              *total = checked(tl_tensor_zeros(SHAPE(3), false));
    for (int i = 0; i < WIDTH; i++) {
        tl_tensor *row = checked(tl_tensor_row(rows, i)), *next = checked(tl_tensor_add(total, row));
        release(row);
        release(total);
        total = next;
    }
    loss = checked(tl_tensor_sum(total));
    release(total);
    uint64_t bytes = rt->allocated_bytes;
    tl_tensor_backward(loss, false);
    assert_true(rt->allocated_bytes - bytes < WIDTH * 12 + 100);
    assert_gradient(rows, 1);
    release(loss);
    release(rows);
    release(w);
    close_ops(rt);
}

/* A broken graph is seen: each way by hand. */
static void validity_is_judged(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(2)), *h = checked(tl_tensor_exp(w)), *l = checked(tl_tensor_sum(h));
    assert_true(tl__graph_valid(l));
    h->node->pending = 1;
    assert_false(tl__graph_valid(l));
    h->node->pending = 0;
    h->node->buffer = w;
    assert_false(tl__graph_valid(l));
    h->node->buffer = NULL;
    h->node->depth = 0;
    assert_false(tl__graph_valid(l));
    h->node->depth = 1;
    tl_tensor *saved = tl__node_saved(h->node)[0];
    tl__node_saved(h->node)[0] = l;
    assert_false(tl__graph_valid(l));
    tl__node_saved(h->node)[0] = saved;
    h->node->flags = TL_NODE_FREED;
    assert_false(tl__graph_valid(l));
    h->node->flags = 0;
    tl__node_leaf(w->node)->gradient = l;
    assert_false(tl__graph_valid(l));
    tl__node_leaf(w->node)->gradient = NULL;
    assert_true(tl__graph_valid(l));
    release(l);
    release(h);
    release(w);
    close_ops(rt);
}

/* ---- memory runs out ------------------------------------------------------------------------- */

/* A network with most operations in it, as compiled code would run it: every value in a slot. */
static void train_a_step(void) {
    enum { X, W1, B1, W2, T, H, Y, L, P, COUNT };
    tl_frame *frame = tl_mem_function_enter(COUNT);
    put(X, tl_tensor_randn(SHAPE(5, 4), false));
    put(W1, tl_tensor_randn(SHAPE(4, 6), true));
    put(B1, tl_tensor_zeros(SHAPE(6), true));
    put(W2, tl_tensor_randn(SHAPE(6, 3), true));
    put(T, tl_tensor_literal_i64(1, 6, (const int64_t[]){5, 0, 1, 2, 1, 0}));
    put(H, tl_tensor_matmul(SLOT(X), SLOT(W1)));
    put(H, tl_tensor_add(SLOT(H), SLOT(B1)));
    put(P, tl_tensor_relu(SLOT(H)));
    put(H, tl_tensor_tanh(SLOT(H)));
    put(H, tl_tensor_mul(SLOT(H), SLOT(P)));
    put(Y, tl_tensor_matmul(SLOT(H), SLOT(W2)));
    put(L, tl_tensor_cross_entropy(SLOT(Y), SLOT(T)));
    put(P, tl_tensor_softmax(SLOT(Y), 1));
    put(P, tl_tensor_max_dim(SLOT(P), 1));
    put(P, tl_tensor_mean(SLOT(P)));
    put(L, tl_tensor_add(SLOT(L), SLOT(P)));
    put(P, tl_tensor_row(SLOT(W2), 2));
    put(P, tl_tensor_prod(SLOT(P)));
    put(L, tl_tensor_sub(SLOT(L), SLOT(P)));
    put(P, tl_tensor_sum_dim(SLOT(W1), 0));
    put(P, tl_tensor_mse_loss(SLOT(P), SLOT(B1)));
    put(P, tl_tensor_where(SLOT(P), SLOT(P), SLOT(L)));
    put(L, tl_tensor_div(SLOT(L), SLOT(P)));
    tl_grad_loop_enter();
    tl_tensor_backward(SLOT(L), true);
    tl_tensor_backward(SLOT(L), false);
    put(L, NULL);
    put(P, tl_tensor_grad(SLOT(W1)));
    put(P, tl_tensor_mul_scalar(SLOT(P), 0.1));
    put(W1, tl_tensor_sub(SLOT(W1), SLOT(P)));
    put(W1, tl_tensor_detach(take(W1), false));
    put(W1, tl_tensor_enable_grad(take(W1)));
    tl_clear_grads();
    tl_grad_loop_exit();
    for (int i = 0; i < COUNT; i++)
        put(i, NULL);
    tl_mem_function_exit(frame);
}

static void every_failing_allocation_of_a_step(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_true(sweep_ops(rt, train_a_step) > 80);
    close_ops(rt);
}

/* Only backward runs out of memory. Each leaf has all of its gradient or none; the graph can be
 * let go; what was reached counts as freed, the rest does not. */
static void backward_fails_half_way(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    uint64_t refused = 0;
    for (uint64_t nth = 1;; nth++) {
        tl_tensor *w = leaf_of(ones(4)), *v = leaf_of(ones(4));
        tl_tensor *first = checked(tl_tensor_mul(w, v)), *h = checked(tl_tensor_exp(first));
        tl_tensor *second = checked(tl_tensor_mul(h, v)), *third = checked(tl_tensor_add(second, w));
        tl_tensor *loss = checked(tl_tensor_sum(third));
        masu__fault_arm(nth);
        tl_tensor_backward(loss, false);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_true(tl__graph_valid(loss) && tl__graph_valid(h) && tl__graph_valid(first));
        if (fired)
            assert_raised(rt, MASU_ERR_OUT_OF_MEMORY, "out of memory");
        /* d/dw = 1 + e v v, d/dv = e + e w v */
        if (tl__node_leaf(w->node)->gradient)
            assert_gradient(w, 1 + exp(1));
        if (tl__node_leaf(v->node)->gradient)
            assert_gradient(v, 2 * exp(1));
        assert_true(fired || (tl__node_leaf(w->node)->gradient && tl__node_leaf(v->node)->gradient));
        tl_tensor *all[] = {loss, third, second, h, first, w, v};
        for (int i = 0; i < 7; i++)
            release(all[i]);
        no_history_left(rt);
        assert_nothing_left(rt);
        if (!fired)
            break;
        refused++;
    }
    assert_true(refused >= 3);
    close_ops(rt);
}

/* A sub-history that backward had not reached when it failed can still be used by others. */
static void what_was_not_reached_is_as_before(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = leaf_of(ones(4)), *h = checked(tl_tensor_exp(w)),
              *c = checked(tl_tensor_full(SHAPE(2, 4), 3, false));
    tl_tensor *p = checked(tl_tensor_mul(h, c)), *loss = checked(tl_tensor_sum(p));
    masu__fault_arm(2); /* the seed is made, the gradient of mul is not */
    tl_tensor_backward(loss, false);
    masu__fault_arm(0);
    assert_raised(rt, MASU_ERR_OUT_OF_MEMORY, "out of memory");
    assert_gradient(w, 0);
    tl_tensor_backward(loss, false);
    assert_raised(rt, MASU_ERR_GRAPH_FREED, "already freed");
    tl_tensor *other = checked(tl_tensor_sum(h));
    tl_tensor_backward(other, false);
    assert_gradient(w, exp(1));
    release(other);
    release(loss);
    release(p);
    release(c);
    release(h);
    release(w);
    close_ops(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_a_million_needs_no_stack),
        cmocka_unit_test(diamonds_are_walked_once),
        cmocka_unit_test(time_is_linear),
        cmocka_unit_test(wide_graphs),
        cmocka_unit_test(validity_is_judged),
        cmocka_unit_test(every_failing_allocation_of_a_step),
        cmocka_unit_test(backward_fails_half_way),
        cmocka_unit_test(what_was_not_reached_is_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
