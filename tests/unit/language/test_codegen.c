/* Code made from IR text, run in a real runtime: what LLVM leaves undefined is defined, kernels fault instead of
 * reading out of range, errors carry their place, and the compiler keeps nothing of LLVM's but the code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "language/codegen/codegen.h"
#include "runtime/runtime.h"

typedef struct outcome {
    char *output; /* what the program printed */
    masu_status status;
    tl_error error;
    tl_report report;
} outcome;

static outcome run_ir(const char *text) {
    masu__arena arena = {0};
    masu__buffer error = {0};
    ir_module *m = ir_parse_module(&arena, text, &error);
    if (!m)
        fail_msg("%s", masu__buffer_text(&error));
    if (!ir_verify(m, IR_PHASE_ROOTED, &error))
        fail_msg("%s", masu__buffer_text(&error));
    codegen_options options = {.verify = true};
    codegen_code *code = NULL;
    masu_status compiled = codegen_compile(m, &options, &error, &code);
    if (compiled != MASU_OK)
        fail_msg("%s", masu__buffer_text(&error));
    masu__arena_destroy(&arena);
    masu__buffer_destroy(&error);

    outcome o = {0};
    size_t length;
    FILE *out = open_memstream(&o.output, &length);
    tl_runtime_config config = {.out = out};
    tl_runtime *rt;
    assert_int_equal(tl_runtime_create(&config, &rt), MASU_OK);
    o.status = tl_runtime_run(rt, codegen_entry(code), &o.error);
    tl_runtime_get_report(rt, &o.report);
    tl_runtime_destroy(rt);
    fclose(out);
    codegen_destroy(code);
    return o;
}

static void expect_output(const char *text, const char *expected) {
    outcome o = run_ir(text);
    if (o.status != MASU_OK)
        fail_msg("raised: %s", o.error.text);
    assert_string_equal(o.output, expected);
    assert_int_equal(o.report.live_tensors, 0);
    assert_int_equal(o.report.frame_depth, 0);
    free(o.output);
}

/* print(a op b) for i64 operands given as text. */
static void expect_i64(const char *op, const char *a, const char *b, const char *expected) {
    char text[512];
    snprintf(text, sizeof text,
             "fn take(%%1: i64, %%2: i64) -> (i64) {\nb0:\n    %%3: i64 = %s %%1, %%2\n    ret %%3\n}\n\n"
             "fn main() {\nb0:\n    %%1: i64 = const %s\n    %%2: i64 = const %s\n    %%3: i64 = call take(%%1, %%2)\n"
             "    tl_print_i64 %%3\n    ret\n}\n",
             op, a, b);
    expect_output(text, expected);
}

/* print(v as i64) after casting a float constant to `to`. */
static void expect_cast(const char *from, const char *value, const char *to, const char *expected) {
    char text[512];
    snprintf(text, sizeof text,
             "fn main() {\nb0:\n    %%1: %s = const %s\n    %%2: %s = cast %%1\n    %%3: i64 = cast %%2\n"
             "    tl_print_i64 %%3\n    ret\n}\n",
             from, value, to);
    expect_output(text, expected);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void test_division_is_defined(void **state) {
    (void)state;
    expect_i64("div", "7", "-2", "-3");
    expect_i64("rem", "-7", "2", "-1");
    expect_i64("div", "-9223372036854775808", "-1", "-9223372036854775808");
    expect_i64("rem", "-9223372036854775808", "-1", "0");
    expect_i64("div", "5", "-1", "-5");
}

static void test_integers_wrap(void **state) {
    (void)state;
    expect_i64("add", "9223372036854775807", "1", "-9223372036854775808");
    expect_i64("mul", "4611686018427387904", "4", "0");
    expect_i64("shl", "1", "65", "2");
    expect_i64("shr", "-8", "1", "-4");
}

static void test_float_to_integer_saturates(void **state) {
    (void)state;
    expect_cast("f32", "300.7", "u8", "255");
    expect_cast("f32", "-3.0", "u8", "0");
    expect_cast("f64", "nan", "i32", "0");
    expect_cast("f64", "1e300", "i64", "9223372036854775807");
    expect_cast("f64", "-2.9", "i8", "-2");
}

static void test_comparisons_with_nan(void **state) {
    (void)state;
    expect_output(
        "fn main() {\n"
        "b0:\n"
        "    %1: f32 = const nan\n"
        "    %2: bool = eq %1, %1\n"
        "    tl_print_bool %2\n"
        "    %3: bool = ne %1, %1\n"
        "    tl_print_bool %3\n"
        "    %4: bool = le %1, %1\n"
        "    tl_print_bool %4\n"
        "    ret\n"
        "}\n",
        "falsetruefalse");
}

static void test_unsigned_differs_from_signed(void **state) {
    (void)state;
    expect_output(
        "fn main() {\n"
        "b0:\n"
        "    %1: u8 = const 200\n"
        "    %2: u8 = const 3\n"
        "    %3: u8 = div %1, %2\n"
        "    %4: u64 = cast %3\n"
        "    tl_print_u64 %4\n"
        "    %5: bool = gt %1, %2\n"
        "    tl_print_bool %5\n"
        "    %6: u8 = shr %1, %2\n"
        "    %7: u64 = cast %6\n"
        "    tl_print_u64 %7\n"
        "    %8: i8 = cast %1\n"
        "    %9: i64 = cast %8\n"
        "    tl_print_i64 %9\n"
        "    ret\n"
        "}\n",
        "66true25-56");
}

static void test_math(void **state) {
    (void)state;
    expect_output(
        "fn main() {\n"
        "b0:\n"
        "    %1: f64 = const 2\n"
        "    %2: f64 = const 10\n"
        "    %3: f64 = math.pow %1, %2\n"
        "    tl_print_f64 %3\n"
        "    %4: f64 = const 0\n"
        "    %5: f64 = math.tanh %4\n"
        "    tl_print_f64 %5\n"
        "    %6: f64 = math.min %1, %2\n"
        "    tl_print_f64 %6\n"
        "    ret\n"
        "}\n",
        "102402");
}

/* ---- control and calls ------------------------------------------------------------------------------------------- */

static void test_loop_with_parameters(void **state) {
    (void)state;
    expect_output(
        "fn main() {\n"
        "b0:\n"
        "    %1: i64 = const 0\n"
        "    %2: i64 = const 1\n"
        "    %3: i64 = const 5\n"
        "    jump b1(%1, %2)\n"
        "b1(%4: i64, %5: i64):\n"
        "    %6: bool = lt %4, %3\n"
        "    branch %6, b2, b3\n"
        "b2:\n"
        "    %7: i64 = add %4, %2\n"
        "    %8: i64 = mul %5, %7\n"
        "    jump b1(%7, %8)\n"
        "b3:\n"
        "    tl_print_i64 %5\n"
        "    ret\n"
        "}\n",
        "120");
}

static void test_several_results(void **state) {
    (void)state;
    expect_output(
        "fn two(%1: i64) -> (i64, f32, bool) {\n"
        "b0:\n"
        "    %2: f32 = cast %1\n"
        "    %3: bool = const 1\n"
        "    ret %1, %2, %3\n"
        "}\n"
        "\n"
        "fn main() {\n"
        "b0:\n"
        "    %1: i64 = const 9\n"
        "    %2: i64, %3: f32, %4: bool = call two(%1)\n"
        "    tl_print_i64 %2\n"
        "    tl_print_f32 %3\n"
        "    tl_print_bool %4\n"
        "    ret\n"
        "}\n",
        "99true");
}

static void test_names_of_the_program_meet_no_others(void **state) {
    (void)state;
    expect_output(
        "fn memcpy(%1: i64) -> (i64) {\n"
        "b0:\n"
        "    ret %1\n"
        "}\n"
        "\n"
        "fn tl_print_i64(%1: i64) -> (i64) {\n"
        "b0:\n"
        "    %2: i64 = call memcpy(%1)\n"
        "    ret %2\n"
        "}\n"
        "\n"
        "fn main() {\n"
        "b0:\n"
        "    %1: i64 = const 3\n"
        "    %2: i64 = call tl_print_i64(%1)\n"
        "    tl_print_i64 %2\n"
        "    ret\n"
        "}\n",
        "3");
}

static void test_endless_recursion_is_an_error(void **state) {
    (void)state;
    outcome o = run_ir(
        "fn deep(%1: tensor own) slots 1 bound 1 {\n"
        "b0:\n"
        "    call deep(own %1)\n"
        "    ret\n"
        "}\n"
        "\n"
        "fn main() slots 1 bound 1 {\n"
        "b0:\n"
        "    %1: i64 = const 2\n"
        "    %2: bool = const 0\n"
        "    %3: tensor = tl_tensor_ones %1, %2\n"
        "    call deep(own %3)\n"
        "    ret\n"
        "}\n");
    assert_int_equal(o.status, MASU_ERR_STACK_OVERFLOW);
    assert_int_equal(o.report.live_tensors, 0);
    free(o.output);
}

static void test_division_by_zero_raises(void **state) {
    (void)state;
    outcome o = run_ir(
        "fn main() slots 1 bound 1 {\n"
        "b0:\n"
        "    %1: i64 = const 2\n"
        "    %2: bool = const 0\n"
        "    %3: tensor = tl_tensor_ones %1, %2\n"
        "    root %3, slot 0\n"
        "    %4: i64 = tl_tensor_len %3\n"
        "    %5: i64 = sub %4, %1\n"
        "    %6: i64 = div %1, %5\n"
        "    tl_print_i64 %6\n"
        "    unroot %3, slot 0\n"
        "    release %3\n"
        "    ret\n"
        "}\n");
    assert_int_equal(o.status, MASU_ERR_DIVISION_BY_ZERO);
    assert_int_equal(o.report.live_tensors, 0);
    assert_string_equal(o.output, "");
    free(o.output);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* [i | i <- 0..n { 2.0 * t[i] }], its loop without checks; out and gradient as the views say. */
static const char doubling[] =
    "kernel twice = f32 rank 1 cells (i64) captures (f32 rank 1 unread) forward twice.f backward twice.b\n"
    "\n"
    "kernel_fn twice.f() {\n"
    "b0:\n"
    "    %1: i64 = const 0\n"
    "    %2: i64 = const 1\n"
    "    %3: f32 = const 2\n"
    "    %4: i64 = kernel_cell 0\n"
    "    jump b1(%1)\n"
    "b1(%5: i64):\n"
    "    %6: bool = lt %5, %4\n"
    "    branch %6, b2, b3\n"
    "b2:\n"
    "    %7: f32 = kernel_load 0, %5\n"
    "    %8: f32 = mul %3, %7\n"
    "    kernel_out_add %8, %5\n"
    "    %9: i64 = add %5, %2\n"
    "    jump b1(%9)\n"
    "b3:\n"
    "    ret\n"
    "}\n"
    "\n"
    "kernel_fn twice.b() {\n"
    "b0:\n"
    "    %1: i64 = const 0\n"
    "    %2: i64 = const 1\n"
    "    %3: f32 = const 2\n"
    "    %4: i64 = kernel_cell 0\n"
    "    jump b1(%1)\n"
    "b1(%5: i64):\n"
    "    %6: bool = lt %5, %4\n"
    "    branch %6, b2, b3\n"
    "b2:\n"
    "    %7: f32 = kernel_grad_out %5\n"
    "    %8: f32 = mul %3, %7\n"
    "    kernel_grad_add 0, %8, %5\n"
    "    %9: i64 = add %5, %2\n"
    "    jump b1(%9)\n"
    "b3:\n"
    "    ret\n"
    "}\n";

static void test_kernel_forward_and_backward(void **state) {
    (void)state;
    char text[4096];
    snprintf(text, sizeof text,
             "%s\n"
             "fn main() slots 3 bound 3 {\n"
             "b0:\n"
             "    %%1: i64 = const 3\n"
             "    %%2: bool = const 1\n"
             "    %%3: tensor = tl_tensor_ones %%1, %%2\n"
             "    root %%3, slot 0\n"
             "    %%4: tensor = comprehend twice(%%1, %%3)\n"
             "    root %%4, slot 1\n"
             "    tl_print_tensor %%4\n"
             "    %%5: tensor = tl_tensor_sum %%4\n"
             "    root %%5, slot 2\n"
             "    %%6: bool = const 0\n"
             "    tl_tensor_backward %%5, %%6\n"
             "    unroot %%5, slot 2\n"
             "    release %%5\n"
             "    unroot %%4, slot 1\n"
             "    release %%4\n"
             "    %%7: tensor = tl_tensor_grad %%3\n"
             "    root %%7, slot 1\n"
             "    tl_print_tensor %%7\n"
             "    unroot %%7, slot 1\n"
             "    release %%7\n"
             "    unroot %%3, slot 0\n"
             "    release %%3\n"
             "    ret\n"
             "}\n",
             doubling);
    expect_output(text, "[2.0000, 2.0000, 2.0000][2.0000, 2.0000, 2.0000]");
}

/* ---- what stays -------------------------------------------------------------------------------------------------- */

static void test_everything_is_given_back(void **state) {
    (void)state;
    uint64_t before = masu__meta_live_bytes();
    expect_i64("add", "1", "2", "3");
    assert_int_equal(masu__meta_live_bytes(), before);
}

static void test_running_out_of_memory(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__buffer error = {0};
    ir_module *m = ir_parse_module(&arena, "fn main() {\nb0:\n    ret\n}\n", &error);
    assert_non_null(m);
    codegen_options options = {0};
    uint64_t before = masu__meta_live_bytes();
    masu_status status = MASU_ERR_OUT_OF_MEMORY;
    codegen_code *code = NULL;
    uint64_t nth = 1;
    for (; status != MASU_OK && nth < 100; nth++) {
        masu__fault_arm(nth);
        status = codegen_compile(m, &options, &error, &code);
        masu__fault_arm(0);
        if (status != MASU_OK) {
            assert_null(code);
            assert_int_equal(masu__meta_live_bytes(), before);
        }
    }
    assert_int_equal(status, MASU_OK);
    assert_true(nth > 2);
    codegen_destroy(code);
    masu__arena_destroy(&arena);
    masu__buffer_destroy(&error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_division_is_defined),
        cmocka_unit_test(test_integers_wrap),
        cmocka_unit_test(test_float_to_integer_saturates),
        cmocka_unit_test(test_comparisons_with_nan),
        cmocka_unit_test(test_unsigned_differs_from_signed),
        cmocka_unit_test(test_math),
        cmocka_unit_test(test_loop_with_parameters),
        cmocka_unit_test(test_several_results),
        cmocka_unit_test(test_names_of_the_program_meet_no_others),
        cmocka_unit_test(test_endless_recursion_is_an_error),
        cmocka_unit_test(test_division_by_zero_raises),
        cmocka_unit_test(test_kernel_forward_and_backward),
        cmocka_unit_test(test_everything_is_given_back),
        cmocka_unit_test(test_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
