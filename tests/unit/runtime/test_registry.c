/* test_registry.c: scopes, registration, promotion, counts; and a long random sequence against a naive model. */
#include "runtime_fixture.h"

static uint32_t count_of(const tl_tensor *t) {
    return t->head.count;
}

static void nothing_is_a_value_that_does_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_mem_register_tensor(NULL);
    tl_mem_register_struct(NULL);
    tl_tensor_register(NULL);
    tl_mem_unregister(NULL);
    tl_tensor_promote(NULL);
    tl_ptr_acquire(NULL);
    tl_ptr_release(NULL);
    tl_tensor_acquire(NULL);
    tl_tensor_release_safe(NULL);
    assert_int_equal(rt->scope_count, 0);
    assert_int_equal(rt->retain_ops, 0);
    assert_int_equal(rt->release_ops, 0);
    assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
    close_runtime(rt);
}

static void a_scope_releases_what_was_registered_in_it(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_mem_enter_scope();
    tl_mem_register_tensor(make_vector(4));
    tl_mem_register_struct(make_string("s"));
    tl_mem_enter_scope();
    tl_tensor_register(make_vector(4));
    assert_int_equal(rt->scope_depth, 2);
    assert_int_equal(rt->registered, 3);
    tl_mem_exit_scope();
    assert_int_equal(rt->registered, 2);
    assert_int_equal(rt->tensors.live, 1);
    tl_mem_exit_scope();
    assert_int_equal(rt->release_ops, 3);
    close_runtime(rt);
}

static void promoting_floats_the_value_across_the_end_of_its_scope(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_mem_enter_scope();
    tl_frame *callee = tl_mem_function_enter(0);
    tl_tensor *t = make_vector(6);
    tl_tensor_register(t);
    tl_tensor_promote(t);
    assert_int_equal(t->head.registered, 0);
    assert_int_equal(count_of(t), 1);
    tl_mem_function_exit(callee);
    tl_tensor_register(t);
    assert_int_equal(count_of(t), 1);
    tl_mem_exit_scope();
    close_runtime(rt);
}

static void unregistering_what_is_not_registered_does_nothing(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = make_vector(1);
    tl_mem_unregister(t);
    tl_tensor_promote(t);
    assert_int_equal(count_of(t), 1);
    tl_ptr_release(t);
    close_runtime(rt);
}

static void scope_exit_without_enter_is_an_error(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_mem_exit_scope();
    assert_raised(rt, MASU_ERR_SCOPE_UNDERFLOW, "without a matching enter");
    tl_mem_enter_scope();
    tl_frame *callee = tl_mem_function_enter(0);
    tl_mem_exit_scope(); /* the open scope is the caller's */
    assert_raised(rt, MASU_ERR_SCOPE_UNDERFLOW, "scope depth 1");
    tl_tensor_register(make_vector(1)); /* opens the function's own, which exit may not close either */
    tl_mem_exit_scope();
    assert_raised(rt, MASU_ERR_SCOPE_UNDERFLOW, "scope depth 1");
    tl_mem_function_exit(callee);
    tl_mem_exit_scope();
    close_runtime(rt);
}

static void a_function_releases_what_it_registered_without_a_scope(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_mem_enter_scope();
    tl_tensor *outer = make_vector(2);
    tl_tensor_register(outer);
    tl_frame *callee = tl_mem_function_enter(0);
    tl_tensor_register(make_vector(2));
    assert_int_equal(rt->scope_depth, 1);
    assert_int_equal(tl_system_scope_depth(), 1);
    tl_mem_enter_scope();
    tl_tensor_register(make_vector(2));
    tl_mem_function_exit(callee);
    assert_int_equal(rt->scope_depth, 1);
    assert_int_equal(rt->registered, 1);
    assert_int_equal(count_of(outer), 1);
    tl_mem_exit_scope();
    close_runtime(rt);
}

static void the_same_value_may_be_registered_twice(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = make_vector(2);
    tl_mem_enter_scope();
    tl_tensor_register(t);
    tl_mem_enter_scope();
    tl_tensor_acquire(t);
    tl_tensor_register(t);
    tl_tensor_acquire(t);
    tl_tensor_register(t);
    assert_true(tl_runtime_valid(rt));
    assert_int_equal(rt->registered, 3);
    tl_tensor_promote(t);
    tl_ptr_release(t);
    assert_int_equal(count_of(t), 2);
    tl_mem_exit_scope();
    assert_int_equal(count_of(t), 1);
    assert_int_equal(t->head.registered, 1);
    tl_mem_exit_scope();
    close_runtime(rt);
}

/* The older registration stands behind the newer one in the array once an entry was reused. */
static void a_scope_closes_right_when_entries_were_reused(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_mem_enter_scope();
    tl_tensor *first = make_vector(1), *twice = make_vector(1);
    tl_tensor_register(first);
    tl_tensor_register(twice);
    tl_mem_unregister(first);
    tl_tensor_acquire(twice);
    tl_tensor_register(twice);
    assert_int_equal(twice->head.registered, 1);
    assert_int_equal(rt->entry_count, 2);
    assert_true(tl_runtime_valid(rt));
    tl_ptr_release(first);
    tl_mem_exit_scope();
    close_runtime(rt);
}

/* The carried value of a loop: registered anew each time round, while the old one is given up. */
static void a_loop_needs_no_more_entries_than_live_at_once(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_mem_enter_scope();
    tl_tensor *carried = make_vector(1);
    tl_tensor_register(carried);
    for (int i = 0; i < DEEP; i++) {
        tl_tensor *next = make_vector(1);
        tl_tensor_register(next);
        tl_mem_enter_scope();
        tl_mem_unregister(carried); /* from inside another scope */
        tl_mem_exit_scope();
        tl_tensor_release_safe(carried);
        carried = next;
    }
    assert_int_equal(rt->entry_count, 2);
    tl_mem_exit_scope();
    close_runtime(rt);
}

static void counts_are_counted(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_tensor *t = make_vector(1);
    tl_object *s = make_string("x");
    tl_ptr_acquire(t);
    tl_tensor_acquire(t);
    tl_ptr_acquire(s);
    assert_int_equal(count_of(t), 3);
    assert_int_equal(s->count, 2);
    assert_int_equal(rt->retain_ops, 3);
    tl__tensor_retain(t);
    tl__tensor_drop(t);
    tl__object_drop(s);
    tl_ptr_release(s);
    tl_ptr_release(t);
    tl_tensor_release_safe(t);
    tl_tensor_release_safe(t);
    assert_int_equal(rt->retain_ops, 3);
    assert_int_equal(rt->release_ops, 4);
    close_runtime(rt);
}

static void register_many(void) {
    tl_mem_enter_scope();
    for (int i = 0; i < 200; i++)
        tl_mem_register_struct(tl_string_literal((void *)"abc", 3));
    for (int i = 0; i < 100; i++)
        tl_mem_enter_scope();
    for (int i = 0; i < 101; i++)
        tl_mem_exit_scope();
    tl_mem_register_struct(tl_string_literal((void *)"abc", 3));
}

static void a_failing_registration_releases_its_value(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_true(sweep_failures(rt, register_many) > 201);
    close_runtime(rt);
}

/* ---- against a model ------------------------------------------------------------------------------------------- */

enum { OBJECTS = 12, MODEL_SCOPES = 24, STEPS = DEEP / 2 };

typedef struct model {
    tl_tensor *objects[OBJECTS];           /* each also held once by the test */
    int registered[MODEL_SCOPES][OBJECTS]; /* how often in each scope */
    bool explicit[MODEL_SCOPES];
    int scopes;
    tl_frame *frames[MODEL_SCOPES];
    int frame_scopes[MODEL_SCOPES]; /* scopes when it was entered */
    int frame_count;
} model;

static int first_own_scope(const model *m) {
    return m->frame_count ? m->frame_scopes[m->frame_count - 1] : 0;
}

static void model_register(model *m, int object) {
    if (m->scopes == first_own_scope(m)) {
        memset(m->registered[m->scopes], 0, sizeof m->registered[0]);
        m->explicit[m->scopes++] = false;
    }
    m->registered[m->scopes - 1][object]++;
    tl_tensor_acquire(m->objects[object]);
    tl_tensor_register(m->objects[object]);
}

static void model_unregister(model *m, int object) {
    for (int scope = m->scopes - 1; scope >= 0; scope--) {
        if (m->registered[scope][object] == 0)
            continue;
        m->registered[scope][object]--;
        tl_mem_unregister(m->objects[object]);
        tl_tensor_release_safe(m->objects[object]);
        return;
    }
    tl_mem_unregister(m->objects[object]);
}

static void model_enter_scope(model *m) {
    memset(m->registered[m->scopes], 0, sizeof m->registered[0]);
    m->explicit[m->scopes++] = true;
    tl_mem_enter_scope();
}

static void model_exit_scope(model *m, tl_runtime *rt) {
    bool allowed = m->scopes > first_own_scope(m) && m->explicit[m->scopes - 1];
    tl_mem_exit_scope();
    if (allowed)
        m->scopes--;
    else
        assert_raised(rt, MASU_ERR_SCOPE_UNDERFLOW, "scope exit");
}

static void model_enter_function(model *m) {
    m->frame_scopes[m->frame_count] = m->scopes;
    m->frames[m->frame_count++] = tl_mem_function_enter(1);
}

static void model_exit_function(model *m) {
    m->scopes = first_own_scope(m);
    tl_mem_function_exit(m->frames[--m->frame_count]);
}

static void assert_like_model(const model *m, const tl_runtime *rt) {
    uint64_t depth = 0, registered = 0;
    uint32_t counts[OBJECTS];
    for (int i = 0; i < OBJECTS; i++)
        counts[i] = 1;
    for (int scope = 0; scope < m->scopes; scope++) {
        depth += m->explicit[scope];
        for (int i = 0; i < OBJECTS; i++) {
            counts[i] += (uint32_t)m->registered[scope][i];
            registered += (uint64_t)m->registered[scope][i];
        }
    }
    for (int i = 0; i < OBJECTS; i++)
        assert_int_equal(count_of(m->objects[i]), counts[i]);
    assert_int_equal(rt->registered, registered);
    assert_int_equal(rt->scope_depth, depth);
    assert_int_equal(rt->frame_depth, m->frame_count);
}

static void random_sequences_agree_with_the_model(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    model m = {.scopes = 0};
    masu__rng rng;
    masu__rng_seed(&rng, 20240607);
    for (int i = 0; i < OBJECTS; i++)
        m.objects[i] = make_vector(1 + i);
    for (int step = 0; step < STEPS; step++) {
        uint64_t choice = masu__rng_below(&rng, 100);
        int object = (int)masu__rng_below(&rng, OBJECTS);
        bool room = m.scopes < MODEL_SCOPES - 2 && m.frame_count < MODEL_SCOPES - 1;
        if (choice < 40 && room)
            model_register(&m, object);
        else if (choice < 72)
            model_unregister(&m, object);
        else if (choice < 81 && room)
            model_enter_scope(&m);
        else if (choice < 90)
            model_exit_scope(&m, rt);
        else if (choice < 95 && room)
            model_enter_function(&m);
        else if (m.frame_count > 0)
            model_exit_function(&m);
        assert_like_model(&m, rt);
        if (step % 50 == 0)
            assert_true(tl_runtime_valid(rt));
    }
    while (m.frame_count > 0)
        model_exit_function(&m);
    tl__close_scopes(rt, 0);
    for (int i = 0; i < OBJECTS; i++)
        tl_ptr_release(m.objects[i]);
    close_runtime(rt);
}

/* ---- the check itself ------------------------------------------------------------------------------------------- */

static void the_check_sees_each_kind_of_damage(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_mem_enter_scope();
    tl_tensor *a = make_vector(1), *b = make_vector(1);
    tl_tensor_register(a);
    tl_tensor_register(b);
    tl_mem_unregister(a);
    assert_true(tl__registry_valid(rt));
#define DAMAGE(place, value)                  \
    do {                                      \
        __typeof__(place) kept_ = (place);    \
        (place) = (value);                    \
        assert_false(tl__registry_valid(rt)); \
        (place) = kept_;                      \
        assert_true(tl__registry_valid(rt));  \
    } while (0)
    DAMAGE(rt->registered, 2);
    DAMAGE(rt->scope_depth, 0);
    DAMAGE(rt->scopes[0].mark, 1);
    DAMAGE(rt->scopes[0].free, 0);
    DAMAGE(rt->scopes[0].free, 2);
    DAMAGE(rt->entries[0].object, &a->head);
    DAMAGE(rt->entries[1].scope, 1);
    DAMAGE(rt->entries[1].previous, 2);
    DAMAGE(b->head.registered, 0);
    DAMAGE(b->head.registered, 9);
#undef DAMAGE
    tl_ptr_release(a);
    tl_mem_exit_scope();
    close_runtime(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_a_value_that_does_nothing),
        cmocka_unit_test(a_scope_releases_what_was_registered_in_it),
        cmocka_unit_test(promoting_floats_the_value_across_the_end_of_its_scope),
        cmocka_unit_test(unregistering_what_is_not_registered_does_nothing),
        cmocka_unit_test(scope_exit_without_enter_is_an_error),
        cmocka_unit_test(a_function_releases_what_it_registered_without_a_scope),
        cmocka_unit_test(the_same_value_may_be_registered_twice),
        cmocka_unit_test(a_scope_closes_right_when_entries_were_reused),
        cmocka_unit_test(a_loop_needs_no_more_entries_than_live_at_once),
        cmocka_unit_test(counts_are_counted),
        cmocka_unit_test(a_failing_registration_releases_its_value),
        cmocka_unit_test(random_sequences_agree_with_the_model),
        cmocka_unit_test(the_check_sees_each_kind_of_damage),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
