/* test_error.c: describing, raising, where errors land and what they carry. */
#include "runtime_fixture.h"

static void an_error_in_entered_mode_is_kept(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
    tl_raise_divide();
    assert_int_equal(tl_runtime_error(rt)->status, MASU_ERR_DIVISION_BY_ZERO);
    tl_raise_index(7, 3); /* the last one counts */
    assert_raised(rt, MASU_ERR_INDEX_OUT_OF_RANGE, "index 7 is out of range for length 3");
    close_runtime(rt);
}

/* A function that fails without a description never lets the program end as if nothing had happened. */
static void a_raise_without_a_reason_is_an_error(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_error error;
    assert_int_equal(tl_runtime_run(rt, tl__raise, &error), MASU_ERR_INTERNAL);
    assert_string_equal(error.text, "an operation failed and did not say why");
    tl__raise();
    assert_raised(rt, MASU_ERR_INTERNAL, "an operation failed and did not say why");
    close_runtime(rt);
}

static void the_conditions_of_compiled_code(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_raise_divide();
    assert_raised(rt, MASU_ERR_DIVISION_BY_ZERO, "division by zero");
    tl_assert(true);
    assert_int_equal(tl_runtime_error(rt)->status, MASU_OK);
    tl_assert(false);
    assert_raised(rt, MASU_ERR_ASSERTION, "assertion failed");
    tl_object *message = make_string("the box is full");
    tl_panic(message);
    assert_raised(rt, MASU_ERR_PANIC, "panic: the box is full");
    assert_int_equal(message->count, 1);
    tl_panic(NULL);
    assert_raised(rt, MASU_ERR_PANIC, "panic: ");
    tl_ptr_release(message);
    close_runtime(rt);
}

static void a_message_longer_than_its_place_is_cut(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    char text[4 * TL_ERROR_TEXT];
    memset(text, 'm', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    tl_object *message = make_string(text);
    tl_panic(message);
    assert_int_equal(strlen(tl_runtime_error(rt)->text), TL_ERROR_TEXT - 1);
    tl_runtime_clear_error(rt);
    tl__error(TL_SAY(panic), (int)strlen(text), text);
    tl__error_related(5, text);
    tl__raise();
    assert_int_equal(tl_runtime_error(rt)->related_site, 5);
    assert_int_equal(strlen(tl_runtime_error(rt)->related_text), sizeof tl_runtime_error(rt)->related_text - 1);
    tl_runtime_clear_error(rt);
    tl_ptr_release(message);
    close_runtime(rt);
}

/* Where the row's shapes are in the text, however the name before them differs; none in a text that was cut before
 * them. */
static void a_row_says_where_its_shapes_are(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    char longer[2 * TL_ERROR_TEXT];
    for (int twice = 0; twice < 2; twice++) {
        tl__error(TL_SAY(shapes_cannot_be_broadcast), twice ? "multiply" : "add", "[2]", "[3, 14]");
        tl__raise();
        const tl_error *error = tl_runtime_error(rt);
        assert_int_equal(error->row, TL_ROW_shapes_cannot_be_broadcast);
        assert_int_equal(error->name_length, twice ? 10 : 5);
        assert_memory_equal(error->text + error->shapes[0].at, "[2]", error->shapes[0].length);
        assert_int_equal(error->shapes[0].length, 3);
        assert_memory_equal(error->text + error->shapes[1].at, "[3, 14]", error->shapes[1].length);
        assert_int_equal(error->shapes[1].length, 7);
    }
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    tl__error(TL_SAY(shapes_cannot_be_broadcast), longer, "[2]", "[3]");
    tl__raise();
    assert_int_equal(tl_runtime_error(rt)->shapes[0].length, 0);
    assert_int_equal(tl_runtime_error(rt)->name_length, 0);
    tl__error(TL_SAY(division_by_zero));
    tl__raise();
    assert_int_equal(tl_runtime_error(rt)->shapes[0].length, 0);
    for (unsigned row = 1; tl_error_kind_of(row); row++)
        assert_true(tl_error_kind_of(row)->format && tl_error_kind_of(row)->status != MASU_OK);
    assert_null(tl_error_kind_of(TL_ROW_NONE));
    tl_runtime_clear_error(rt);
    close_runtime(rt);
}

static void a_new_description_forgets_the_old_related_place(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_int_equal(tl__error(TL_SAY(graph_was_already_freed_by_earlier_backward)), MASU_ERR_GRAPH_FREED);
    tl__error_related(12, "first backward");
    tl__raise();
    assert_int_equal(tl_runtime_error(rt)->related_site, 12);
    assert_string_equal(tl_runtime_error(rt)->related_text, "first backward");
    tl__error(TL_SAY(det_singular_matrix_no_second_derivative_here));
    tl__raise();
    assert_int_equal(tl_runtime_error(rt)->related_site, 0);
    assert_string_equal(tl_runtime_error(rt)->related_text, "");
    tl_runtime_clear_error(rt);
    close_runtime(rt);
}

static void shapes_as_text(void **state) {
    (void)state;
    char text[TL_SHAPE_TEXT];
    assert_string_equal(tl__shape_text(0, NULL, text), "[]");
    const int64_t shape[] = {2, 0, -3};
    assert_string_equal(tl__shape_text(3, shape, text), "[2, 0, -3]");
    const int64_t lowest[TL_MAX_RANK] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN,
                                         INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    tl__shape_text(TL_MAX_RANK, lowest, text);
    assert_int_equal(strlen(text), 2 + 8 * 20 + 7 * 2);
    assert_int_equal(text[strlen(text) - 1], ']');
}

/* ---- the call stack of the program ---------------------------------------------------------------------------- */

static uint32_t depth_wanted;

static void raise_at_depth(uint32_t depth) {
    tl_frame *frame = tl_mem_function_enter(0);
    frame->site = depth;
    if (depth == depth_wanted)
        tl_raise_divide();
    else
        raise_at_depth(depth + 1);
}

static void raise_deep(void) {
    raise_at_depth(1);
}

static void sites_run_from_inside_out(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_error error;
    depth_wanted = 3;
    assert_int_equal(tl_runtime_run(rt, raise_deep, &error), MASU_ERR_DIVISION_BY_ZERO);
    assert_int_equal(error.site_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(error.sites[i], 3 - i);
    assert_int_equal(error.frames_omitted, 0);
    close_runtime(rt);
}

static void of_a_deep_stack_the_middle_is_left_out(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_error error;
    depth_wanted = 100;
    assert_int_equal(tl_runtime_run(rt, raise_deep, &error), MASU_ERR_DIVISION_BY_ZERO);
    assert_int_equal(error.site_count, TL_ERROR_FRAMES);
    assert_int_equal(error.frames_omitted, 36);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(error.sites[i], 100 - i);
    for (uint32_t i = 32; i < 64; i++)
        assert_int_equal(error.sites[i], 64 - i);
    close_runtime(rt);
}

static void raise_behind_a_frame_without_place(void) {
    tl_mem_function_enter(0)->site = 4;
    tl_mem_function_enter(0);
    tl_raise_divide();
}

static void frames_without_a_place_are_not_listed(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_error error;
    tl_runtime_run(rt, raise_behind_a_frame_without_place, &error);
    assert_int_equal(error.site_count, 1);
    assert_int_equal(error.sites[0], 4);
    close_runtime(rt);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static int reached;

static void raise_twice(void) {
    reached = 1;
    tl_raise_divide();
    reached = 2;
    tl_raise_divide();
}

static void a_raise_does_not_return_to_the_program(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_error error;
    assert_int_equal(tl_runtime_run(rt, raise_twice, &error), MASU_ERR_DIVISION_BY_ZERO);
    assert_int_equal(reached, 1);
    assert_int_equal(error.status, MASU_ERR_DIVISION_BY_ZERO);
    assert_int_equal(tl_runtime_error(rt)->status, MASU_OK); /* that one is for entered mode */
    close_runtime(rt);
}

static void do_nothing(void) {
    reached = 3;
}

static void after_an_error_the_next_run_is_clean(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_error error;
    tl_runtime_run(rt, raise_twice, &error);
    assert_int_equal(tl_runtime_run(rt, do_nothing, &error), MASU_OK);
    assert_int_equal(reached, 3);
    assert_int_equal(error.status, MASU_OK);
    assert_int_equal(error.site_count, 0);
    tl_raise_divide(); /* no program runs any more: this must return */
    assert_raised(rt, MASU_ERR_DIVISION_BY_ZERO, "division");
    close_runtime(rt);
}

static masu_status inner_status;

static void run_inside(void) {
    tl_frame *frame = tl_mem_function_enter(1);
    frame->slots[0] = make_vector(1);
    frame->site = 21;
    inner_status = tl_runtime_run(tl__current, raise_deep, NULL);
    assert_ptr_equal(tl__current->frame, frame);
    assert_non_null(frame->slots[0]);
    tl_raise_index(1, 1);
}

static void runs_nest(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    tl_error error;
    depth_wanted = 2;
    assert_int_equal(tl_runtime_run(rt, run_inside, &error), MASU_ERR_INDEX_OUT_OF_RANGE);
    assert_int_equal(inner_status, MASU_ERR_DIVISION_BY_ZERO);
    assert_int_equal(error.site_count, 1);
    assert_int_equal(error.sites[0], 21);
    close_runtime(rt);
}

static void bad_arguments_of_run(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    assert_int_equal(tl_runtime_run(NULL, do_nothing, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(tl_runtime_run(rt, NULL, NULL), MASU_ERR_INVALID_ARGUMENT);
    close_runtime(rt);
}

/* ---- output that cannot be written ------------------------------------------------------------------------------- */

static void print_something(void) {
    for (int i = 0; i < 3; i++)
        tl_print_bytes((void *)"something\n", 10);
}

static void print_and_raise(void) {
    print_something();
    tl_raise_divide();
}

static void a_failing_write_is_the_error_of_the_run(void **state) {
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    tl_runtime *rt = open_runtime(&(tl_runtime_config){.out = full});
    tl_error error;
    assert_int_equal(tl_runtime_run(rt, print_something, &error), MASU_ERR_IO);
    assert_non_null(strstr(error.text, "No space left on device"));
    assert_int_equal(error.status, MASU_ERR_IO);
    assert_int_equal(tl_runtime_run(rt, print_and_raise, &error), MASU_ERR_DIVISION_BY_ZERO);
    setvbuf(full, NULL, _IONBF, 0); /* now each write fails at once, none at the end */
    assert_int_equal(tl_runtime_run(rt, print_something, &error), MASU_ERR_IO);
    assert_int_equal(tl_runtime_run(rt, do_nothing, &error), MASU_OK);
    close_runtime(rt);
    fclose(full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_in_entered_mode_is_kept),
        cmocka_unit_test(a_raise_without_a_reason_is_an_error),
        cmocka_unit_test(the_conditions_of_compiled_code),
        cmocka_unit_test(a_message_longer_than_its_place_is_cut),
        cmocka_unit_test(a_new_description_forgets_the_old_related_place),
        cmocka_unit_test(a_row_says_where_its_shapes_are),
        cmocka_unit_test(shapes_as_text),
        cmocka_unit_test(sites_run_from_inside_out),
        cmocka_unit_test(of_a_deep_stack_the_middle_is_left_out),
        cmocka_unit_test(frames_without_a_place_are_not_listed),
        cmocka_unit_test(a_raise_does_not_return_to_the_program),
        cmocka_unit_test(after_an_error_the_next_run_is_clean),
        cmocka_unit_test(runs_nest),
        cmocka_unit_test(bad_arguments_of_run),
        cmocka_unit_test(a_failing_write_is_the_error_of_the_run),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
