/* test_reference.c: places in vectors: who owns what is copied, moved out and put back; ranges; what a failure
 * leaves. */
#include "runtime_fixture.h"

static const int64_t second_word[] = {1};
static const int64_t first_word[] = {0};
static const tl_record number = {1, 0, NULL, 0};
static const tl_record pair = {2, 1, second_word, 0}; /* a number and something owned */
static const tl_record holder = {1, 1, first_word, 0};
static const tl_record nothing = {0, 0, NULL, 0};

typedef struct pair_element {
    int64_t number;
    void *owned;
} pair_element;

static tl_object *new_vector(const tl_record *plan) {
    return tl_vec_new((void *)(uintptr_t)plan);
}

static tl_object *numbers(int64_t count) {
    tl_object *v = new_vector(&number);
    for (int64_t i = 0; i < count; i++)
        v = tl_vec_push(v, &i);
    return v;
}

static tl_object *pairs(int64_t count) {
    tl_object *v = new_vector(&pair);
    for (int64_t i = 0; i < count; i++) {
        pair_element e = {i, make_string("own")};
        v = tl_vec_push(v, &e);
    }
    return v;
}

static int64_t number_at(tl_object *v, int64_t index) {
    int64_t x = -1;
    tl_vec_get(v, index, &x);
    return x;
}

static tl_object *owned_at(tl_object *v, int64_t index) { /* borrowed */
    pair_element e = {0, NULL};
    tl_vec_get(v, index, &e);
    tl_object *o = e.owned;
    tl_ptr_release(o);
    return o;
}

static void a_write_is_seen_by_every_holder(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = tl_vec_unshare(numbers(3)), *reference = tl_ref_view(v);
    assert_ptr_equal(tl_ref_view(v), reference); /* there is one */
    tl_ptr_release(reference);
    assert_int_equal(tl_ref_size(reference), 3);
    tl_ref_set(reference, 1, 1, &(int64_t){70});
    assert_int_equal(number_at(v, 1), 70);
    assert_int_equal(number_at(v, 0), 0);
    assert_int_equal(number_at(v, 2), 2);
    tl_ptr_release(v);
    int64_t x = 0;
    tl_ref_get(reference, 1, 1, &x); /* what the reference holds outlives the owner */
    assert_int_equal(x, 70);
    tl_ptr_release(reference);
    close_runtime(rt);
}

static void unsharing_copies_only_what_is_shared(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = pairs(2);
    assert_ptr_equal(tl_vec_unshare(v), v);
    tl_ptr_acquire(v);
    tl_object *own = tl_vec_unshare(v);
    assert_ptr_not_equal(own, v);
    assert_int_equal(own->count, 1);
    assert_int_equal(v->count, 1);
    assert_int_equal(owned_at(v, 0)->count, 2); /* both lists hold it */
    tl_ref_set(own, 0, 1, &(int64_t){9});
    pair_element e;
    tl_vec_get(v, 0, &e);
    assert_int_equal(e.number, 0);
    tl_ptr_release(e.owned);
    tl_ptr_release(own);
    tl_ptr_release(v);
    close_runtime(rt);
}

static void words_are_copied_moved_and_replaced(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = pairs(2), *held = owned_at(v, 1);
    void *got = NULL;
    tl_ref_get(v, 3, 1, &got); /* the owned word of the second pair */
    assert_ptr_equal(got, held);
    assert_int_equal(held->count, 2);
    tl_ptr_release(got);
    tl_ref_take(v, 3, 1, &got);
    assert_ptr_equal(got, held);
    assert_int_equal(held->count, 1);
    assert_null(owned_at(v, 1));
    void *fresh = make_string("new");
    tl_ref_set(v, 3, 1, &fresh); /* into the hole */
    assert_ptr_equal(owned_at(v, 1), fresh);
    tl_ref_set(v, 3, 1, &got); /* the other one is released */
    assert_ptr_equal(owned_at(v, 1), held);
    assert_int_equal(rt->live_objects, 3);
    pair_element whole = {0, NULL};
    tl_ref_take(v, 0, 2, &whole);
    assert_int_equal(whole.number, 0);
    assert_int_equal(((tl_object *)whole.owned)->count, 1);
    tl_ptr_release(v); /* with a hole */
    tl_ptr_release(whole.owned);
    close_runtime(rt);
}

static void a_number_inside_a_record_owns_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = pairs(2);
    int64_t x = -1;
    tl_ref_get(v, 2, 1, &x);
    assert_int_equal(x, 1);
    tl_ref_set(v, 2, 1, &(int64_t){12345});
    tl_ref_take(v, 2, 1, &x);
    assert_int_equal(x, 12345);
    assert_int_equal(owned_at(v, 1)->count, 1);
    assert_int_equal(owned_at(v, 0)->count, 1);
    tl_ptr_release(v);
    close_runtime(rt);
}

static void entering_unshares_the_inner_list_in_its_place(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *inner = numbers(2), *outer = new_vector(&holder);
    tl_ptr_acquire(inner); /* a copy that somebody keeps */
    outer = tl_vec_push(outer, &inner);
    tl_object *in = tl_ref_enter(outer, 0);
    assert_int_equal(inner->count, 1); /* the outer list has its own now */
    tl_ref_set(in, 0, 1, &(int64_t){40});
    assert_int_equal(number_at(inner, 0), 0);
    int64_t x = 0;
    tl_ref_get(in, 0, 1, &x);
    assert_int_equal(x, 40);
    tl_ptr_release(in);
    tl_ptr_release(outer);
    tl_ptr_release(inner);
    close_runtime(rt);
}

/* References are not values: they make no list shared, however many there are. */
static void references_and_owner_write_one_list(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *inner = numbers(2), *outer = new_vector(&holder);
    outer = tl_vec_push(outer, &inner);
    tl_object *a = tl_ref_enter(outer, 0), *b = tl_ref_enter(outer, 0);
    assert_ptr_equal(a, b);
    tl_ref_set(b, 1, 1, &(int64_t){8});
    tl_object *taken = NULL;
    outer = tl_vec_take(outer, 0, &taken);
    assert_ptr_equal(taken, inner);
    taken = tl_vec_push(taken, &(int64_t){9}); /* longer, in place */
    assert_ptr_equal(taken, inner);
    tl_ref_set(a, 0, 1, &(int64_t){7});
    assert_int_equal(number_at(taken, 0), 7);
    assert_int_equal(number_at(taken, 1), 8);
    assert_int_equal(tl_ref_size(b), 3);
    tl_ptr_release(a);
    tl_ptr_release(b);
    tl_ptr_acquire(taken); /* the references are dead: now it is shared by value */
    tl_object *copy = tl_vec_set(taken, 0, &(int64_t){1});
    assert_ptr_not_equal(copy, inner);
    assert_int_equal(number_at(inner, 0), 7);
    tl_ptr_release(copy);
    tl_ptr_release(inner);
    tl_ptr_release(outer);
    close_runtime(rt);
}

static void a_value_copied_off_stays(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = numbers(3), *view = tl_ref_view(v);
    tl_ptr_acquire(v);
    tl_object *kept = v;
    v = tl_vec_set(v, 0, &(int64_t){5});
    assert_ptr_not_equal(v, kept);
    assert_int_equal(number_at(kept, 0), 0);
    tl_ptr_release(v);
    tl_ptr_release(kept);
    int64_t x = 0;
    tl_ref_get(view, 2, 1, &x); /* the last holder is the view */
    assert_int_equal(x, 2);
    tl_ptr_release(view);
    close_runtime(rt);
}

static void a_part_goes_out_and_back(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = pairs(4), *copy = tl_ref_part(v, 2, 2);
    assert_int_equal(tl_vec_len(copy), 2);
    assert_int_equal(owned_at(v, 1)->count, 2);
    tl_ptr_release(copy);
    tl_object *part = tl_ref_part_take(v, 2, 2);
    assert_null(owned_at(v, 1));
    assert_null(owned_at(v, 2));
    assert_int_equal(owned_at(part, 0)->count, 1);
    part = tl_vec_set(part, 0, &(pair_element){77, make_string("put")});
    tl_ref_put(v, 2, 2, part);
    pair_element e;
    tl_vec_get(v, 1, &e);
    assert_int_equal(e.number, 77);
    tl_ptr_release(e.owned);
    assert_int_equal(owned_at(v, 3)->count, 1);
    tl_object *empty = tl_ref_part(v, 8, 0); /* behind the last */
    assert_int_equal(tl_vec_len(empty), 0);
    tl_ref_put(v, 8, 0, empty);
    tl_ptr_release(v);
    close_runtime(rt);
}

static void elements_without_bytes_have_parts(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = new_vector(&nothing);
    for (int i = 0; i < 5; i++)
        v = tl_vec_push(v, NULL);
    tl_object *part = tl_ref_part(v, 0, 3);
    assert_int_equal(tl_vec_len(part), 3);
    tl_ref_put(v, 0, 3, part);
    tl_ref_get(v, 0, 0, NULL);
    assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
    tl_ptr_release(v);
    close_runtime(rt);
}

static void what_a_stale_reference_reaches_is_an_error(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    static const char shorter[] = "a list that became shorter";
    tl_object *v = numbers(2), *kept = make_string("k");
    int64_t x = 5;
    tl_ref_get(v, 2, 1, &x);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, shorter);
    assert_int_equal(x, 5);
    tl_ref_take(v, -1, 1, &x);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, shorter);
    tl_ref_get(v, INT64_MAX, 2, &x);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, shorter);
    assert_null(tl_ref_part(v, 1, 2));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, shorter);
    assert_null(tl_ref_enter(v, 2));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, shorter);
    tl_ptr_release(v);
    v = new_vector(&holder);
    tl_ref_set(v, 0, 1, &kept); /* takes the string along */
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, shorter);
    assert_int_equal(rt->live_objects, 1);
    void *none = NULL;
    v = tl_vec_push(v, &none);
    assert_null(tl_ref_enter(v, 0));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "moved away");
    tl_ptr_release(v);
    close_runtime(rt);
}

static void a_part_of_another_length_is_refused(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = numbers(4);
    tl_ref_put(v, 1, 2, numbers(3));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "a slice of 2 elements cannot become one of 3");
    tl_ref_put(v, 3, 2, numbers(2));
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "became shorter");
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(number_at(v, i), i);
    tl_ptr_release(v);
    close_runtime(rt);
}

static void ranges_are_those_of_a_list(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_int_equal(tl_ref_index(2, 3, 5), 10);
    assert_int_equal(tl_ref_low(1, 3, 3, 4), 4);
    assert_int_equal(tl_ref_length(1, 3, 3), 2);
    assert_int_equal(tl_ref_length(3, 3, 3), 0);
    assert_int_equal(tl_ref_length(1, INT64_MAX, 3), 2); /* to the end */
    assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
    static const int64_t wrong[][3] = {{-1, 2, 3}, {2, 1, 3}, {0, 4, 3}, {4, INT64_MAX, 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tl_ref_length(wrong[i][0], wrong[i][1], wrong[i][2]);
        assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "is out of range for a list of length 3");
    }
    tl_ref_index(3, 3, 1);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index 3 is out of range for a slice of length 3");
    tl_ref_index(-1, 3, 1);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index -1");
    close_runtime(rt);
}

/* Lists in a list, shared, entered, cut and put back: all requests of it fail in turn. */
static void refer_and_write(void) {
    tl_frame *frame = tl_mem_function_enter(4);
    frame->slots[0] = new_vector(&holder);
    for (int i = 0; i < 3; i++) {
        frame->slots[1] = new_vector(&number);
        for (int64_t k = 0; k < 20; k++) {
            tl_object *v = frame->slots[1];
            frame->slots[1] = NULL;
            frame->slots[1] = tl_vec_push(v, &k);
        }
        tl_object *outer = frame->slots[0], *inner = frame->slots[1];
        frame->slots[0] = frame->slots[1] = NULL;
        frame->slots[0] = tl_vec_push(outer, &inner);
    }
    tl_ptr_acquire(frame->slots[0]);
    frame->slots[1] = frame->slots[0];
    tl_object *shared = frame->slots[0];
    frame->slots[0] = NULL;
    frame->slots[0] = tl_vec_unshare(shared);
    frame->slots[2] = tl_ref_enter(frame->slots[0], 1);
    frame->slots[3] = tl_ref_part(frame->slots[2], 5, 10);
    tl_object *part = frame->slots[3];
    frame->slots[3] = NULL;
    tl_ref_put(frame->slots[2], 0, 10, part);
    frame->slots[3] = tl_ref_part_take(frame->slots[0], 0, 2);
    tl_mem_function_exit(frame);
}

static void every_failing_request_leaves_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_true(sweep_failures(rt, refer_and_write) > 8);
    close_runtime(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_seen_by_every_holder),
        cmocka_unit_test(unsharing_copies_only_what_is_shared),
        cmocka_unit_test(words_are_copied_moved_and_replaced),
        cmocka_unit_test(a_number_inside_a_record_owns_nothing),
        cmocka_unit_test(entering_unshares_the_inner_list_in_its_place),
        cmocka_unit_test(references_and_owner_write_one_list),
        cmocka_unit_test(a_value_copied_off_stays),
        cmocka_unit_test(a_part_goes_out_and_back),
        cmocka_unit_test(elements_without_bytes_have_parts),
        cmocka_unit_test(what_a_stale_reference_reaches_is_an_error),
        cmocka_unit_test(a_part_of_another_length_is_refused),
        cmocka_unit_test(ranges_are_those_of_a_list),
        cmocka_unit_test(every_failing_request_leaves_nothing),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
