/* The column of passes and its driver: order, options, dumps, statuses, running out of memory at
 * every request. */
#include <string.h>

#include "base/meta.h"
#include "ir_support.h"

static const char program[] =
    "fn main(%1: bool) {b0: %2: i64 = const 2  %3: i64 = const 3  %4: bool = const 0  %5: i64 = add %2, %3"
    "    %6.a: tensor = tl_tensor_zeros %2, %5, %4    branch %1, b1, b2 "
    "b1: %7: tensor = call f(%6)  tl_print_tensor %7  keep %6  ret "
    "b2: %8: tensor = call f(%6)  tl_print_tensor %8  tl_print_tensor %6  ret }"
    "fn f(%1.x: tensor) -> (tensor) { b0: %2: tensor = tl_tensor_exp %1  keep %1  ret %2 }"
    "fn unused(%1.x: tensor) { b0: ret }";

static void the_table_is_complete(void **state) {
    (void)state;
    static const char *const names[] = {"fold",      "shapes",  "identity", "lastuse", "gradients",
                                        "ownership", "cancel",  "products", "reuse",   "destinations",
                                        "frames",    "growing", "slots"};
    static const bool optional[] = {true, false, true, true, false, false, true, true, true, true, true, true, true};
    size_t count, info_count;
    const pass *table = pass_table(&count);
    const masu_pass_info *infos = masu_passes(&info_count);
    assert_int_equal(count, 13);
    assert_int_equal(info_count, 13);
    for (size_t p = 0; p < count; p++) {
        assert_string_equal(table[p].info.name, names[p]);
        assert_string_equal(infos[p].name, names[p]);
        assert_int_equal(table[p].info.optional, optional[p]);
        assert_true(strlen(infos[p].summary) > 0 && strlen(infos[p].requires) > 0 && strlen(infos[p].establishes) > 0);
    }
}

static masu_status run(masu__arena *arena, const char *text, const pass_options *options, ir_module **m) {
    *m = support_parse(arena, text);
    return pass_run_all(*m, options);
}

static void dumps_are_what_was_asked(void **state) {
    (void)state;
    static const char *const dumps[] = {"after:shapes", "llvm", "after:slots"};
    masu__arena arena = {0};
    masu__buffer dump = {0}, faults = {0};
    pass_options o = {.dumps = dumps, .dump_count = 3, .dump = &dump, .verify = true, .faults = &faults};
    ir_module *m;
    assert_int_equal(run(&arena, program, &o, &m), MASU_OK);
    const char *text = masu__buffer_text(&dump);
    assert_non_null(strstr(text, "%6.a: tensor[2,5] = tl_tensor_zeros"));
    assert_non_null(strstr(text, "keep %6"));             /* after shapes, before lastuse */
    assert_non_null(strstr(text, "call f{o}(own %6.a)")); /* after slots */
    assert_non_null(strstr(text, "root %6.a, slot 0"));
    assert_null(strstr(strstr(text, "root"), "keep"));
    masu__buffer_destroy(&dump);
    masu__buffer_destroy(&faults);
    masu__arena_destroy(&arena);
}

static void optional_passes_can_be_left_out(void **state) {
    (void)state;
    static const char *const all[] = {"fold", "lastuse", "slots"};
    masu__arena arena = {0};
    masu__buffer faults = {0}, out = {0};
    ir_module *m;
    for (unsigned set = 0; set < 8; set++) {
        const char *disabled[3];
        size_t count = 0;
        for (unsigned p = 0; p < 3; p++)
            if (set >> p & 1)
                disabled[count++] = all[p];
        pass_options o = {.disabled = disabled, .disabled_count = count, .verify = true, .faults = &faults};
        assert_int_equal(run(&arena, program, &o, &m), MASU_OK);
        masu__buffer_truncate(&out, 0);
        ir_print_module(m, &out);
        const char *text = masu__buffer_text(&out);
        assert_int_equal(strstr(text, "const 5") != NULL, !(set & 1));
        assert_int_equal(strstr(text, "f{o}") != NULL, !(set & 2)); /* kept values are lent */
        assert_int_equal(strstr(text, "registry") != NULL, set & 4 ? 1 : 0);
        assert_null(strstr(text, "unused"));
    }
    masu__buffer_destroy(&faults);
    masu__buffer_destroy(&out);
    masu__arena_destroy(&arena);
}

static void wrong_options_change_nothing(void **state) {
    (void)state;
    static const char *const required[] = {"ownership"}, *const nothing[] = {"sheep"}, *const dump[] = {"after:sheep"};
    masu__arena arena = {0};
    masu__buffer before = {0}, after = {0};
    ir_module *m = support_parse(&arena, program);
    ir_print_module(m, &before);
    const pass_options wrong[] = {
        {.disabled = required, .disabled_count = 1},
        {.disabled = nothing, .disabled_count = 1},
        {.dumps = dump, .dump_count = 1, .dump = &after},
        {.verify = true},
    };
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++)
        assert_int_equal(pass_run_all(m, &wrong[w]), MASU_ERR_INVALID_ARGUMENT);
    ir_print_module(m, &after);
    assert_string_equal(masu__buffer_text(&before), masu__buffer_text(&after));
    masu__buffer_destroy(&before);
    masu__buffer_destroy(&after);
    masu__arena_destroy(&arena);
}

static void faults_stop_the_column(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__buffer faults = {0};
    ir_module *m;
    pass_options o = {.verify = true, .faults = &faults};
    assert_int_equal(run(&arena, "fn main(%1: tensor) { b0: release %1 ret }", &o, &m), MASU_ERR_INTERNAL);
    assert_non_null(strstr(masu__buffer_text(&faults), "the verifier found this after `lowering`"));
    masu__buffer_destroy(&faults);
    masu__arena_destroy(&arena);
}

static void errors_stop_the_column(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__buffer said = {0};
    ir_module *m;
    pass_options o = {.report = support_collect, .user = &said};
    assert_int_equal(run(&arena,
                         "fn main() { b0: %1: i64 = const 2 %2: i64 = const 3 %3.a: tensor = tl_tensor_eye %1"
                         " %4.b: tensor = tl_tensor_eye %2 %5: tensor = tl_tensor_add %3, %4 ret }",
                         &o, &m),
                     MASU_ERR_SHAPE_MISMATCH);
    assert_string_equal(masu__buffer_text(&said),
                        "shapes [2, 2] and [3, 3] cannot be broadcast in `tl_tensor_add` "
                        "[`a` has shape [2, 2]] [`b` has shape [3, 3]]\n");
    assert_null(m->main->ownership); /* no later pass has run */
    masu__buffer_destroy(&said);
    masu__arena_destroy(&arena);
}

/* Fails the n-th request for memory, for every n, over reading, all passes and verifying. */
static void out_of_memory_everywhere(void **state) {
    (void)state;
    uint64_t live = masu__meta_live_bytes();
    bool done = false;
    uint32_t failures = 0;
    for (uint64_t nth = 1; !done && nth < 100000; nth++) {
        static const char *const dumps[] = {"after:fold", "after:slots"};
        masu__arena arena = {.first_block_bytes = 64};
        masu__buffer faults = {0}, error = {0}, dump = {0};
        pass_options o = {.dumps = dumps, .dump_count = 2, .dump = &dump, .verify = true, .faults = &faults};
        masu__fault_arm(nth);
        ir_module *m = ir_parse_module(&arena, program, &error);
        masu_status status = m ? pass_run_all(m, &o) : MASU_ERR_OUT_OF_MEMORY;
        if (m && status == MASU_OK) {
            masu__buffer text = {0};
            pass_explain(m, NULL, &text);
            masu__buffer_destroy(&text);
        }
        done = !masu__fault_fired();
        masu__fault_arm(0);
        failures += !done;
        if (done)
            assert_int_equal(status, MASU_OK);
        else
            assert_true(status == MASU_OK || status == MASU_ERR_OUT_OF_MEMORY); /* OK: failed in the explanation */
        masu__buffer_destroy(&faults);
        masu__buffer_destroy(&error);
        masu__buffer_destroy(&dump);
        masu__arena_destroy(&arena);
        assert_int_equal(masu__meta_live_bytes(), live);
    }
    assert_true(done);
    assert_true(failures > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_complete),           cmocka_unit_test(dumps_are_what_was_asked),
        cmocka_unit_test(optional_passes_can_be_left_out), cmocka_unit_test(wrong_options_change_nothing),
        cmocka_unit_test(faults_stop_the_column),          cmocka_unit_test(errors_stop_the_column),
        cmocka_unit_test(out_of_memory_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
