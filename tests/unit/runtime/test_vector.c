/* test_vector.c: vectors of records: values, owned words, elements without bytes, deep release. */
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

static tl_object *push_number(tl_object *v, int64_t x) {
    return tl_vec_push(v, &x);
}

static tl_object *push_pair(tl_object *v, int64_t x, void *owned) {
    pair_element element = {x, owned};
    return tl_vec_push(v, &element);
}

static tl_object *push_owned(tl_object *v, void *owned) {
    return tl_vec_push(v, &owned);
}

static int64_t number_at(tl_object *v, int64_t index) {
    int64_t x = -1;
    tl_vec_get(v, index, &x);
    return x;
}

static void it_grows_and_keeps_its_elements(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = new_vector(&number);
    assert_int_equal(tl_vec_len(v), 0);
    for (int64_t i = 0; i < 5000; i++) {
        tl_object *same = push_number(v, i * i);
        assert_ptr_equal(same, v);
    }
    assert_int_equal(tl_vec_len(v), 5000);
    for (int64_t i = 0; i < 5000; i++)
        assert_int_equal(number_at(v, i), i * i);
    v = tl_vec_set(v, 17, &(int64_t){-4});
    assert_int_equal(number_at(v, 17), -4);
    assert_int_equal(number_at(v, 18), 18 * 18);
    tl_ptr_release(v);
    close_runtime(rt);
}

static void an_element_is_owned_once(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = new_vector(&pair);
    tl_tensor *t = make_vector(3);
    v = push_pair(v, 7, t);
    assert_int_equal(t->head.count, 1);
    pair_element got = {0, NULL};
    tl_vec_get(v, 0, &got);
    assert_int_equal(got.number, 7);
    assert_ptr_equal(got.owned, t);
    assert_int_equal(t->head.count, 2);
    assert_int_equal(rt->retain_ops, 1);
    pair_element other = {8, make_string("new")};
    v = tl_vec_set(v, 0, &other);
    assert_int_equal(t->head.count, 1);
    tl_ptr_release(got.owned);
    assert_int_equal(rt->tensors.live, 0);
    v = push_pair(v, 9, NULL); /* a value of no size */
    tl_vec_get(v, 1, &got);
    assert_null(got.owned);
    assert_int_equal(rt->retain_ops, 1);
    tl_vec_at(v, 0, &got); /* as a get, without the question */
    assert_int_equal(got.number, 8);
    assert_int_equal(rt->retain_ops, 2);
    tl_ptr_release(got.owned);
    tl_ptr_release(v);
    close_runtime(rt);
}

static void a_shared_vector_is_copied_before_it_is_written(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = new_vector(&pair);
    tl_tensor *t = make_vector(2);
    v = push_pair(v, 1, t);
    tl_ptr_acquire(v);
    tl_object *longer = push_pair(v, 2, NULL);
    assert_ptr_not_equal(longer, v);
    assert_int_equal(v->count, 1);
    assert_int_equal(tl_vec_len(v), 1);
    assert_int_equal(tl_vec_len(longer), 2);
    assert_int_equal(t->head.count, 2);
    tl_ptr_acquire(v);
    pair_element changed = {3, NULL};
    tl_object *set = tl_vec_set(v, 0, &changed);
    assert_ptr_not_equal(set, v);
    assert_int_equal(t->head.count, 2);
    pair_element got;
    tl_vec_get(v, 0, &got);
    assert_int_equal(got.number, 1);
    tl_ptr_release(got.owned);
    tl_ptr_release(set);
    tl_ptr_release(v);
    assert_int_equal(t->head.count, 1);
    tl_ptr_release(longer);
    close_runtime(rt);
}

static void setting_an_element_to_itself_keeps_it(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = push_owned(new_vector(&holder), make_string("same"));
    tl_object *s = NULL;
    tl_vec_get(v, 0, &s);
    v = tl_vec_set(v, 0, &s);
    assert_int_equal(s->count, 1);
    assert_string_equal(tl__string_bytes(s), "same");
    tl_ptr_release(v);
    close_runtime(rt);
}

static void a_taken_element_leaves_nothing_that_owns(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = make_vector(2);
    tl_object *v = push_pair(new_vector(&pair), 1, t);
    pair_element taken = {0, NULL}, left = {0, NULL};
    assert_ptr_equal(tl_vec_take(v, 0, &taken), v);
    assert_int_equal(taken.number, 1);
    assert_ptr_equal(taken.owned, t);
    assert_int_equal(t->head.count, 1); /* moved, not counted again */
    tl_vec_get(v, 0, &left);
    assert_null(left.owned);
    taken.number = 2;
    assert_ptr_equal(tl_vec_set(v, 0, &taken), v);
    tl_ptr_acquire(v);
    tl_object *copy = tl_vec_take(v, 0, &taken); /* another holds it: the copy is emptied */
    assert_ptr_not_equal(copy, v);
    assert_int_equal(t->head.count, 2);
    tl_vec_get(v, 0, &left);
    assert_ptr_equal(left.owned, t);
    tl_ptr_release(left.owned);
    tl_ptr_release(taken.owned);
    tl_ptr_release(copy); /* with the hole in it */
    tl_ptr_release(v);
    assert_int_equal(rt->tensors.live, 0);
    close_runtime(rt);
}

static void elements_without_bytes_are_only_counted(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = new_vector(&nothing);
    masu_heap_stats before, after;
    masu_heap_get_stats(rt->metadata, &before);
    for (int i = 0; i < 100000; i++)
        v = tl_vec_push(v, NULL);
    masu_heap_get_stats(rt->metadata, &after);
    assert_int_equal(before.allocations, after.allocations);
    assert_int_equal(tl_vec_len(v), 100000);
    tl_vec_get(v, 99999, NULL);
    v = tl_vec_set(v, 0, NULL);
    assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
    tl_ptr_acquire(v);
    tl_object *copy = tl_vec_push(v, NULL);
    assert_int_equal(tl_vec_len(copy), 100001);
    tl_vec_get(copy, 100001, NULL);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index 100001 is out of range for a vector of length 100001");
    tl_ptr_release(copy);
    tl_ptr_release(v);
    assert_int_equal(rt->retain_ops, 1);
    close_runtime(rt);
}

static void wrong_indices_are_errors_that_consume(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *v = push_owned(new_vector(&holder), make_vector(1));
    tl_object *untouched = make_string("u");
    tl_object *out = untouched;
    tl_vec_get(v, 1, &out);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index 1");
    assert_ptr_equal(out, untouched);
    tl_vec_get(v, -1, &out);
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index -1");
    tl_ptr_acquire(v);
    assert_null(tl_vec_set(v, 5, &untouched)); /* takes the string and one count of v with it */
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "length 1");
    assert_int_equal(rt->live_objects, 1);
    assert_int_equal(v->count, 1);
    tl_ptr_release(v);
    close_runtime(rt);
}

/* Vectors, each inside the next: release must not recurse. */
static void deep_nests_die_without_recursion(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *inner = push_owned(new_vector(&holder), make_vector(1));
    for (int i = 0; i < DEEP; i++)
        inner = push_owned(new_vector(&holder), inner);
    assert_int_equal(rt->live_objects, DEEP + 1);
    tl_ptr_release(inner);
    close_runtime(rt);
}

static void a_nest_with_shared_parts_dies_part_by_part(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *shared = push_owned(new_vector(&holder), make_string("deep"));
    tl_object *outer = new_vector(&holder);
    for (int i = 0; i < 3; i++) {
        tl_ptr_acquire(shared);
        outer = push_owned(outer, shared);
    }
    assert_int_equal(shared->count, 4);
    tl_ptr_release(outer);
    assert_int_equal(shared->count, 1);
    assert_int_equal(rt->live_objects, 2);
    tl_ptr_release(shared);
    close_runtime(rt);
}

static void fill_vectors(void) {
    tl_frame *frame = tl_mem_function_enter(2);
    frame->slots[0] = new_vector(&pair);
    for (int i = 0; i < 40; i++) {
        tl_object *s = tl_string_literal((void *)"element", 7);
        tl_object *v = frame->slots[0];
        frame->slots[0] = NULL; /* handed over */
        frame->slots[0] = push_pair(v, i, s);
        if (i % 8 == 0) {
            tl_ptr_release(frame->slots[1]);
            frame->slots[1] = frame->slots[0];
            tl_ptr_acquire(frame->slots[1]);
        }
    }
    pair_element got = {0, NULL};
    tl_vec_get(frame->slots[0], 39, &got);
    tl_ptr_release(got.owned);
    tl_object *v = frame->slots[0];
    tl_ptr_acquire(v);
    frame->slots[0] = NULL;
    tl_ptr_release(frame->slots[1]);
    frame->slots[1] = v;
    frame->slots[0] = tl_vec_set(v, 3, &(pair_element){5, NULL});
    tl_mem_function_exit(frame);
}

static void filling_repeats_the_last_element(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_record plan = {1, 1, first_word, 0};
    tl_object *inner = (tl_object *)(void *)make_vector(3), *v = new_vector(&plan);
    v = tl_vec_fill(v, 5);
    assert_int_equal(tl_vec_len(v), 0); /* there is nothing to repeat */
    inner->count++;
    v = tl_vec_fill(push_owned(v, inner), 1000);
    assert_int_equal(tl_vec_len(v), 1000);
    assert_int_equal(inner->count, 1001);
    v = tl_vec_fill(v, 7);
    assert_int_equal(tl_vec_len(v), 1000);
    v->count++;
    tl_object *copy = tl_vec_fill(v, 1001); /* v is shared: it keeps its length */
    assert_int_equal(tl_vec_len(v), 1000);
    assert_int_equal(tl_vec_len(copy), 1001);
    tl_ptr_release(v);
    tl_ptr_release(copy);
    assert_int_equal(inner->count, 1);
    tl_ptr_release(inner);
    close_runtime(rt);
}

static void reserved_room_is_there(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_record plan = {1, 1, first_word, 0};
    tl_object *v = tl_vec_reserve(new_vector(&plan), 12);
    assert_int_equal(tl_vec_capacity(v), 12);
    assert_int_equal(tl_vec_len(v), 0);
    v = push_owned(v, make_vector(1));
    assert_int_equal(tl_vec_capacity(v), 12);
    v = tl_vec_reserve(v, 5);
    assert_int_equal(tl_vec_capacity(v), 12);
    assert_null(tl_vec_reserve(v, -1));
    assert_raised(rt, MASU_ERR_OVERFLOW, "-1 more elements");
    close_runtime(rt);
}

static const tl_record first_kind = {1, 0, NULL, 1}, second_kind = {2, 1, second_word, 2};

static int64_t next_number(void) { /* of what waits for its destructor, which has run then; -1: nothing does */
    tl_object *o = tl_dying_next();
    if (!o)
        return -1;
    int64_t n[2] = {0};
    assert_int_equal(o->count, 1);
    tl_vec_get(o, 0, n);
    if (tl_dying_destructor(o) == 2)
        tl_ptr_release((void *)(uintptr_t)n[1]);
    tl_dying_done(o);
    return n[0];
}

/* A list of 1, [2 with 3 in it, 4], 5: what is in 2 waits until 2 is done, and goes before 4. */
static void destructors_wait_in_order(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *inner = push_owned(new_vector(&holder),
                                  push_pair(new_vector(&second_kind), 2, push_number(new_vector(&first_kind), 3)));
    inner = push_owned(inner, push_number(new_vector(&first_kind), 4));
    tl_object *all = push_owned(new_vector(&holder), push_number(new_vector(&first_kind), 1));
    all = push_owned(push_owned(all, inner), push_number(new_vector(&first_kind), 5));
    assert_int_equal(tl_dying_destructor(NULL), 0);
    assert_int_equal(next_number(), -1);
    tl_ptr_release(all);
    for (int64_t n = 1; n <= 5; n++)
        assert_int_equal(next_number(), n);
    assert_int_equal(next_number(), -1);
    close_runtime(rt);
}

/* What has a destructor is written where it lies, whoever else looks at it. */
static void a_value_with_a_destructor_is_one_thing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_object *o = push_number(new_vector(&first_kind), 7);
    o->count++;
    assert_ptr_equal(tl_vec_set(o, 0, &(int64_t){8}), o);
    assert_int_equal(number_at(o, 0), 8);
    tl_ptr_release(o);
    assert_int_equal(next_number(), -1);
    tl_ptr_release(o);
    assert_int_equal(next_number(), 8);
    close_runtime(rt);
}

static void every_failing_request_leaves_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_true(sweep_failures(rt, fill_vectors) > 50);
    close_runtime(rt);
}

static void destroying_takes_along_what_still_lives(void **state) {
    (void)state;
    uint64_t blocks = masu__meta_live_blocks();
    tl_runtime *rt = open_runtime(NULL);
    tl_record plan = {1, 1, first_word, 0};
    tl_object *v = push_owned(new_vector(&plan), make_vector(100));
    tl_mem_register_struct(push_owned(new_vector(&plan), v));
    tl_mem_function_enter(3)->slots[1] = make_string("left");
    memset(&plan, 0xFF, sizeof plan); /* the program, and its plans with it, is gone by then */
    tl_runtime_leave(rt);
    tl_runtime_destroy(rt);
    assert_int_equal(masu__meta_live_blocks(), blocks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_and_keeps_its_elements),
        cmocka_unit_test(an_element_is_owned_once),
        cmocka_unit_test(a_shared_vector_is_copied_before_it_is_written),
        cmocka_unit_test(setting_an_element_to_itself_keeps_it),
        cmocka_unit_test(a_taken_element_leaves_nothing_that_owns),
        cmocka_unit_test(elements_without_bytes_are_only_counted),
        cmocka_unit_test(wrong_indices_are_errors_that_consume),
        cmocka_unit_test(deep_nests_die_without_recursion),
        cmocka_unit_test(a_nest_with_shared_parts_dies_part_by_part),
        cmocka_unit_test(filling_repeats_the_last_element),
        cmocka_unit_test(reserved_room_is_there),
        cmocka_unit_test(destructors_wait_in_order),
        cmocka_unit_test(a_value_with_a_destructor_is_one_thing),
        cmocka_unit_test(every_failing_request_leaves_nothing),
        cmocka_unit_test(destroying_takes_along_what_still_lives),
    };
    return cmocka_run_group_tests_name("vector", tests, NULL, NULL);
}
