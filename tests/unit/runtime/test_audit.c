/* The audit: what it finds when something is wrong, and that it says nothing when nothing is. */
#include "runtime_fixture.h"

#include "runtime/grad/autograd.h"

static void expect_fault(tl_runtime *rt, uint64_t faults, const char *text) {
    tl_audit_result result;
    assert_int_equal(tl_runtime_audit(rt, &result), faults == 0);
    assert_int_equal(result.faults, faults);
    if (faults > 0 && !strstr(result.text, text))
        fail_msg("\"%s\" does not say \"%s\"", result.text, text);
}

static void audit(uint32_t site, int64_t count, void *const *live) {
    tl_audit(site, count, live);
}

static void what_is_needed_is_alive(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = make_vector(3), *view = NULL;
    assert_int_equal(tl__tensor_view(a, &view), MASU_OK);
    tl_object *s = make_string("kept");
    void *live[] = {a, view, s};
    audit(1, 3, live);
    tl_audit_call(2, live); /* behind a call; the callee needs the string */
    audit(2, 1, &live[2]);
    tl_audit_return();
    audit(3, 3, live);
    expect_fault(rt, 0, "");
    tl__tensor_drop(a);
    tl__tensor_drop(view);
    tl__object_drop(s);
    audit(4, 0, NULL);
    expect_fault(rt, 0, "");
    close_runtime(rt);
}

static void garbage_is_found(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = make_vector(3), *b = make_vector(3);
    void *live[] = {a};
    audit(7, 1, live);
    expect_fault(rt, 1, "tensors: 2 alive before this operation, 1 needed");
    tl_audit_result result;
    tl_runtime_audit(rt, &result);
    assert_int_equal(result.site, 7);
    tl__tensor_drop(b);
    audit(8, 1, live); /* right again; the first fault stays */
    expect_fault(rt, 1, "tensors: 2 alive");
    tl__tensor_drop(a);
    close_runtime(rt);
}

static void a_string_left_over_is_found(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *s = make_string("left");
    audit(1, 0, NULL);
    expect_fault(rt, 1, "strings and vectors: 1 alive");
    tl__object_drop(s);
    close_runtime(rt);
}

static void a_count_too_many_is_found(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = make_vector(3);
    void *live[] = {a};
    tl_tensor_acquire(a);
    audit(1, 1, live);
    expect_fault(rt, 1, "counts of one tensor: 2 alive before this operation, 1 needed");
    tl_tensor_release_safe(a);
    tl_tensor_release_safe(a);
    close_runtime(rt);
}

static void a_count_too_few_is_found(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *a = make_vector(3);
    void *live[] = {a, a};
    audit(1, 2, live);
    expect_fault(rt, 1, "counts of one tensor: 1 alive before this operation, 2 needed");
    tl__tensor_drop(a);
    close_runtime(rt);
}

static void history_is_walked(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = tl_tensor_enable_grad(make_vector(3));
    tl_tensor *square = tl_tensor_mul(w, w);
    void *live[] = {w, square};
    audit(1, 2, live);
    expect_fault(rt, 0, "");
    tl_node *held = square->node;
    held->count++;
    tl__tensor_drop(square);
    audit(2, 1, live);
    expect_fault(rt, 1, "");
    tl__node_drop(held);
    tl__tensor_drop(w);
    close_runtime(rt);
}

/* As compiled code would say it: before each operation the values needed from there on. No point is left out, and
 * the cost of one does not depend on what is alive: with that, this would take minutes. */
static void large_histories_are_checked_at_every_point(void **state) {
    (void)state;
    enum { LINKS = 100000 };
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *w = tl_tensor_enable_grad(make_vector(1)), *y = tl_tensor_mul_scalar(w, 2.0), *extra;
    for (uint32_t i = 0; i < LINKS; i++) {
        void *live[] = {w, y};
        audit(i, 2, live);
        tl_tensor *next = tl_tensor_add(y, w);
        tl__tensor_drop(y);
        y = next;
    }
    expect_fault(rt, 0, "");
    assert_int_equal(rt->audit_points, LINKS);
    extra = tl_tensor_mul_scalar(w, 3.0);
    void *live[] = {w, y};
    audit(LINKS, 2, live);
    expect_fault(rt, 1, "tensors: 3 alive before this operation, 2 needed");
    tl__tensor_drop(extra);
    audit(LINKS + 1, 2, live);
    tl_tensor_backward(y, false); /* the model follows: nodes and saved values go, a gradient comes */
    audit(LINKS + 2, 2, live);
    tl_grad_loop_enter();
    tl__tensor_drop(tl_tensor_grad(w));
    audit(LINKS + 3, 2, live);
    tl_clear_grads();
    audit(LINKS + 4, 2, live);
    tl_grad_loop_exit();
    tl__tensor_drop(y);
    tl__tensor_drop(w);
    audit(LINKS + 5, 0, NULL);
    expect_fault(rt, 1, "tensors: 3 alive");
    close_runtime(rt);
}

static void long_vectors_are_checked_at_every_point(void **state) {
    (void)state;
    enum { ELEMENTS = 50000 };
    static const int64_t owned[] = {0};
    tl_record plan = {.word_count = 1, .owned_count = 1, .owned = owned};
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = tl_vec_new(&plan);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        void *live[] = {v};
        audit(i, 1, live);
        tl_tensor *element = make_vector(1);
        v = tl_vec_push(v, &element);
    }
    tl_tensor *other = make_vector(1);
    v = tl_vec_set(v, 7, &other);
    void *live[] = {v, NULL};
    audit(1, 1, live);
    tl_tensor *last = NULL;
    v = tl_vec_pop(v, &last);
    live[1] = last;
    audit(2, 2, live);
    expect_fault(rt, 0, "");
    audit(3, 1, live);
    expect_fault(rt, 1, "tensors: 50000 alive before this operation, 49999 needed");
    tl__tensor_drop(last);
    tl__object_drop(v);
    audit(4, 0, NULL);
    expect_fault(rt, 1, "tensors: 50000 alive");
    close_runtime(rt);
}

static void lines_are_counted(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    const tl_line_counts *lines;
    assert_int_equal(tl_runtime_lines(rt, &lines), 0);
    tl_count_line(5, 1 | 2 << 12);
    tl_tensor *a = make_vector(3);
    tl_count_line(9, (int64_t)3 << 24);
    assert_true(tl_runtime_lines(rt, &lines) > 9);
    assert_int_equal(lines[5].acquires, 1);
    assert_int_equal(lines[5].releases, 2);
    assert_int_equal(lines[5].allocations, 1);
    assert_int_equal(lines[9].moves, 3);
    assert_int_equal(lines[9].allocations, 0);
    assert_int_equal(lines[6].visits, 0);
    tl__tensor_drop(a);
    close_runtime(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_needed_is_alive),
        cmocka_unit_test(garbage_is_found),
        cmocka_unit_test(a_string_left_over_is_found),
        cmocka_unit_test(a_count_too_many_is_found),
        cmocka_unit_test(a_count_too_few_is_found),
        cmocka_unit_test(history_is_walked),
        cmocka_unit_test(large_histories_are_checked_at_every_point),
        cmocka_unit_test(long_vectors_are_checked_at_every_point),
        cmocka_unit_test(lines_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
