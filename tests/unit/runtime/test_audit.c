/* The audit: what it finds when something is wrong, and that it says nothing when nothing is. */
#include "runtime_fixture.h"

#include "runtime/autograd.h"

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
        cmocka_unit_test(what_is_needed_is_alive),     cmocka_unit_test(garbage_is_found),
        cmocka_unit_test(a_string_left_over_is_found), cmocka_unit_test(a_count_too_many_is_found),
        cmocka_unit_test(a_count_too_few_is_found),    cmocka_unit_test(history_is_walked),
        cmocka_unit_test(lines_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
