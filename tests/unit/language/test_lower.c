/* From source text to IR and on to results: order of evaluation, places, methods that write self, scopes, the ways out
 * of loops, and comprehensions: as kernels with solved indices, as plain loops, and their gradients against finite
 * differences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "language/language.h"
#include "runtime/runtime.h"

/* ---- compiling and running --------------------------------------------------------------------------------------- */

static masu_program *compile(const char *text, masu_stage until, const char *dump) {
    masu_compile_options options = {
        .until = until, .generator = &masu_llvm, .dumps = &dump, .dump_count = dump ? 1 : 0, .verify = true};
    masu_program *p = NULL;
    masu_status status = masu_program_compile("test.tl", text, strlen(text), &options, &p);
    if (status != MASU_OK)
        fail_msg("%s", p ? masu_program_diagnostics(p) : "no program");
    return p;
}

/* The IR as it was lowered. */
static char *ir_of(const char *text) {
    masu_program *p = compile(text, MASU_STAGE_PASSES, "ir");
    char *copy = strdup(masu_program_dump(p));
    masu_program_destroy(p);
    return copy;
}

typedef struct outcome {
    char *output;
    char *error; /* as the command prints it, "" when there was none */
    tl_report report;
} outcome;

static outcome run(const char *text) {
    masu_program *p = compile(text, MASU_STAGE_CODE, NULL);
    outcome o = {0};
    size_t length;
    FILE *out = open_memstream(&o.output, &length);
    tl_runtime_config config = {.seed = 3, .out = out};
    tl_runtime *rt;
    tl_error error;
    assert_int_equal(tl_runtime_create(&config, &rt), MASU_OK);
    masu_status status = tl_runtime_run(rt, masu_program_entry(p), &error);
    masu_run_error shown = {.message = error.text, .sites = error.sites, .site_count = error.site_count};
    o.error = strdup(status == MASU_OK ? "" : masu_program_format_error(p, &shown));
    tl_runtime_get_report(rt, &o.report);
    tl_runtime_destroy(rt);
    masu_program_destroy(p);
    fclose(out);
    assert_int_equal(o.report.live_tensors, 0);
    assert_int_equal(o.report.live_objects, 0);
    assert_int_equal(o.report.live_nodes, 0);
    return o;
}

static void release(outcome *o) {
    free(o->output);
    free(o->error);
}

static void expect_output(const char *text, const char *expected) {
    outcome o = run(text);
    assert_string_equal(o.error, "");
    assert_string_equal(o.output, expected);
    release(&o);
}

static void expect_error(const char *text, const char *expected) {
    outcome o = run(text);
    if (!strstr(o.error, expected))
        fail_msg("expected: %s\nactual: %s", expected, o.error);
    release(&o);
}

static unsigned count(const char *text, const char *part) {
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

static void expect_in_ir(const char *text, const char *part, unsigned times) {
    char *ir = ir_of(text);
    if (count(ir, part) != times)
        fail_msg("`%s` stands %u times instead of %u in\n%s", part, count(ir, part), times, ir);
    free(ir);
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static void test_order_of_evaluation(void **state) {
    (void)state;
    expect_output(
        "fn say(n: i64) -> i64 { print(\"{} \", n); n }\n"
        "fn add(a: i64, b: i64, c: i64) -> i64 { a + b + c }\n"
        "fn main() {\n"
        "    println(\"{}\", say(1) - say(2) * say(3));\n"
        "    println(\"{}\", add(say(4), say(5), say(6)));\n"
        "    let t = (say(7), say(8));\n"
        "    println(\"{} {}\", t.1, t.0);\n"
        "}\n",
        "1 2 3 -5\n4 5 6 15\n7 8 8 7\n");
}

static void test_short_circuit(void **state) {
    (void)state;
    expect_output(
        "fn yes(n: i64) -> bool { print(\"{} \", n); true }\n"
        "fn no(n: i64) -> bool { print(\"{} \", n); false }\n"
        "fn main() {\n"
        "    let a = no(1) && yes(2);\n"
        "    let b = yes(3) || no(4);\n"
        "    let c = (no(5) || yes(6)) && !no(7);\n"
        "    if no(8) && yes(9) || yes(10) { print(\"in \"); }\n"
        "    println(\"{} {} {}\", a, b, c);\n"
        "}\n",
        "1 3 5 6 7 8 10 in false true true\n");
}

static void test_assignment_evaluates_its_value_first(void **state) {
    (void)state;
    expect_output(
        "fn at(n: i64) -> i64 { print(\"at{} \", n); n }\n"
        "fn value(n: i64) -> f32 { print(\"value \"); 5.0 }\n"
        "fn main() {\n"
        "    let mut t = [1.0, 2.0, 3.0];\n"
        "    t[at(1)] = value(0);\n"
        "    t[at(2)] += 1.0;\n"
        "    println(\"{}\", t);\n"
        "}\n",
        "value at1 at2 [1.0000, 5.0000, 4.0000]\n");
}

static void test_values_are_values(void **state) {
    (void)state;
    expect_output(
        "struct P { x: Tensor, n: i64 }\n"
        "struct Q { p: P, k: (i64, Tensor) }\n"
        "fn main() {\n"
        "    let mut q = Q { p: P { x: [1.0], n: 1 }, k: (2, [3.0]) };\n"
        "    let old = q;\n"
        "    q.p.x[0] = 9.0;\n"
        "    q.k.1 = q.p.x;\n"
        "    q.p.n += 4;\n"
        "    println(\"{} {} {} {}\", q.p.x, q.p.n, q.k.0, q.k.1);\n"
        "    println(\"{} {} {} {}\", old.p.x, old.p.n, old.k.0, old.k.1);\n"
        "}\n",
        "[9.0000] 5 2 [9.0000]\n[1.0000] 1 2 [3.0000]\n");
}

static void test_match(void **state) {
    (void)state;
    expect_output(
        "fn name(n: i64) -> i64 {\n"
        "    match n { 0 => 10, 1..4 => 20, 7 | 8 => 30, k if k < 0 => -k, _ => 40 }\n"
        "}\n"
        "fn main() {\n"
        "    for n in [-3, 0, 3, 8, 9] { print(\"{} \", name(n.item_i64())); }\n"
        "    let pair = (true, 3);\n"
        "    println(\"{}\", match pair { (false, _) => 1, (true, n) if n > 3 => 2, (_, n) => n + 1 });\n"
        "}\n",
        "3 10 20 30 40 4\n");
}

/* ---- places and methods ------------------------------------------------------------------------------------------ */

static void test_methods_that_write_self_return_it(void **state) {
    (void)state;
    const char *text =
        "struct C { n: i64, t: Tensor }\n"
        "impl C {\n"
        "    fn up(mut self, by: i64) -> i64 { self.n += by; self.n }\n"
        "    fn twice(mut self) { self.up(1); self.up(10); }\n"
        "    fn see(self) -> i64 { self.n }\n"
        "}\n"
        "struct D { c: C }\n"
        "fn main() {\n"
        "    let mut d = D { c: C { n: 0, t: [1.0] } };\n"
        "    let got = d.c.up(100);\n"
        "    d.c.twice();\n"
        "    println(\"{} {}\", got, d.c.see());\n"
        "}\n";
    expect_output(text, "100 111\n");
    expect_in_ir(text, "fn C::up(%1.self.n: i64, %2.self.t: tensor, %3.by: i64) -> (i64, i64, tensor)", 1);
    expect_in_ir(text, "fn C::see(%1.self.n: i64, %2.self.t: tensor) -> (i64)", 1);
}

static void test_vectors_of_records(void **state) {
    (void)state;
    expect_output(
        "struct P { t: Tensor, n: i64 }\n"
        "impl P { fn bump(mut self) { self.n += 1; } }\n"
        "fn main() {\n"
        "    let mut v = Vec::new();\n"
        "    for i in 0..3 { v.push(P { t: Tensor::full([2], i as f32), n: i }); }\n"
        "    let before = v;\n"
        "    v[1].n = 10;\n"
        "    v[1].t[0] = 7.0;\n"
        "    v[2].bump();\n"
        "    for p in v { print(\"{} {} \", p.t, p.n); }\n"
        "    println(\"\");\n"
        "    println(\"{} {} {}\", before[1].t, before[1].n, before[2].n);\n"
        "}\n",
        "[0.0000, 0.0000] 0 [7.0000, 1.0000] 10 [2.0000, 2.0000] 3 \n[1.0000, 1.0000] 1 2\n");
}

static void test_empty_structs_are_nothing(void **state) {
    (void)state;
    expect_in_ir(
        "struct E {}\n"
        "fn make() -> E { E {} }\n"
        "fn take(e: E, n: i64) -> i64 { n }\n"
        "fn main() { let e = make(); println(\"{}\", take(e, 3)); }\n",
        "fn take(%1.n: i64) -> (i64)", 1);
}

/* ---- scopes and loops -------------------------------------------------------------------------------------------- */

static void test_scopes_keep_their_bindings(void **state) {
    (void)state;
    /* Three ways out of the loop's body: continue, break, its end. */
    expect_in_ir(
        "fn main() {\n"
        "    for i in 0..9 {\n"
        "        let t = Tensor::ones([2]);\n"
        "        if i == 1 { continue; }\n"
        "        if i == 2 { break; }\n"
        "    }\n"
        "}\n",
        "keep", 3);
}

static void test_unreachable_code_is_not_written(void **state) {
    (void)state;
    expect_in_ir(
        "fn f(n: i64) -> i64 { if n > 0 { return 1; } else { return 2; } println(\"never\"); 3 }\n"
        "fn main() { println(\"{}\", f(1)); loop { return; println(\"never\"); } }\n",
        "never", 0);
}

static void test_only_loops_that_run_a_backward_count_iterations(void **state) {
    (void)state;
    const char *text =
        "fn step(w: Tensor) -> Tensor { (w * w).sum().backward(); w.grad() }\n"
        "fn train(w: Tensor) -> Tensor {\n"
        "    for i in 0..3 {\n"
        "        for j in 0..2 { println(\"{}\", j); }\n"
        "        if i == 1 { continue; }\n"
        "        if i == 2 { return step(w); }\n"
        "    }\n"
        "    w\n"
        "}\n"
        "fn main() { println(\"{}\", train(GradTensor::ones([1]))); }\n";
    expect_in_ir(text, "tl_grad_loop_enter", 1);
    expect_in_ir(text, "tl_grad_loop_exit", 2); /* the end, return */
    expect_in_ir(text, "tl_clear_grads", 2);    /* the latch, where continue leads too; return */
}

static void test_loop_values_and_labels(void **state) {
    (void)state;
    expect_output(
        "fn main() {\n"
        "    let mut n = 0;\n"
        "    let found = loop { n += 1; if n * n > 50 { break n; } };\n"
        "    let mut steps = 0;\n"
        "    'outer: for i in 0..5 {\n"
        "        for j in 0..5 { if j == 2 { continue 'outer; } if i == 3 { break 'outer; } steps += 1; }\n"
        "    }\n"
        "    let mut last: u8 = 0;\n"
        "    for k in (250 as u8)..=(255 as u8) { last = k; }\n"
        "    println(\"{} {} {}\", found, steps, last);\n"
        "}\n",
        "8 6 255\n");
}

/* ---- comprehensions ---------------------------------------------------------------------------------------------- */

static const char diagonals[] =
    "fn main() {\n"
    "    let p = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]];\n"
    "    let n = p.dim(0);\n"
    "    println(\"{}\", [k | k <- 0..(2 * n - 1), r <- 0..n, c <- 0..n, r + c == k { p[r, c] }]);\n"
    "    println(\"{}\", [k | k <- 0..(2 * n - 1), r <- 0..n, c <- 0..n, r - c + n - 1 == k { p[r, c] }]);\n"
    "}\n";

static void test_equations_are_solved(void **state) {
    (void)state;
    expect_output(diagonals,
                  "[1.0000, 6.0000, 15.0000, 14.0000, 9.0000]\n[3.0000, 8.0000, 15.0000, 12.0000, 7.0000]\n");
    char *ir = ir_of(diagonals);
    /* The fast nest has two loops instead of three and asks nothing inside: one comparison each. */
    char *from = strstr(ir, "kernel_fn main.k0.f("), *to = strstr(from, "\n}\n");
    *to = 0;
    assert_int_equal(count(from, "= eq "), 0);
    assert_non_null(strstr(from, "kernel_careful"));
    free(ir);
}

static void test_conditions_cut_ranges(void **state) {
    (void)state;
    /* b[i - 1] is only in range because of the conditions; were the careful twin asked, this would still be right. */
    expect_output(
        "fn main() {\n"
        "    let n = 5;\n"
        "    let b = [1.0, 2.0, 4.0, 8.0, 16.0];\n"
        "    println(\"{}\", [i | i <- 0..n, i > 0 && i < n - 1 { b[i - 1] + b[i + 1] }]);\n"
        "    println(\"{}\", [i | i <- 0..n, j <- 0..n, j <= i, j != 2 { b[j] }]);\n"
        "    println(\"{}\", [k | k <- 0..7, c <- 0..4, 2 * c == k { c }]);\n"
        "    println(\"{}\", [i | i <- 2..=4, j <- 0..3, i - j == 2, j >= 1 { i * 10 + j }]);\n"
        "}\n",
        "[0.0000, 5.0000, 10.0000, 20.0000, 0.0000]\n[1.0000, 3.0000, 3.0000, 11.0000, 27.0000]\n"
        "[0, 0, 1, 0, 2, 0, 3]\n[0, 31, 42]\n");
}

static void test_bounds_near_the_end_of_the_integers(void **state) {
    (void)state;
    expect_output(
        "fn main() {\n"
        "    let big = 9223372036854775807;\n"
        "    println(\"{}\", [i | i <- (big - 2)..big { i }]);\n"
        "    println(\"{}\", [i | i <- 0..2, j <- (big - 2)..big, j - i == big - 2 { j }]);\n"
        "    println(\"{}\", [i | i <- 5..2 { i }]);\n"
        "}\n",
        "[9223372036854775805, 9223372036854775806]\n[9223372036854775805, 9223372036854775806]\n[]\n");
}

static void test_kernels_check_their_reads(void **state) {
    (void)state;
    expect_error(
        "fn main() {\n"
        "    let x = [1.0, 2.0];\n"
        "    println(\"{}\", [i | i <- 0..3 { x[i] }]);\n"
        "}\n",
        "test.tl:3:36: error: index 2 is out of range for length 2\n");
    expect_error(
        "fn main() {\n"
        "    let n = 2;\n"
        "    println(\"{}\", [i | i <- 0..3 { n / (2 - i) }]);\n"
        "}\n",
        "test.tl:3:36: error: division by zero\n");
}

static void test_bodies_that_no_kernel_holds(void **state) {
    (void)state;
    expect_output(
        "fn square(x: f32) -> f32 { x * x }\n"
        "fn main() {\n"
        "    let x = [1.0, 2.0, 3.0];\n"
        "    println(\"{}\", [i | i <- 0..3 { square(x[i]) }]);\n"
        "    println(\"{}\", [i | i <- 1..3, j <- 0..4, j < i { square(x[i]) as i64 + j }]);\n"
        "    println(\"{}\", [i | i <- 0..2, j <- 0..2 { square(x[i]) > 2.0 && j == 1 }]);\n"
        "}\n",
        "[1.0000, 4.0000, 9.0000]\n[4, 19]\n[false, true]\n");
    expect_error(
        "fn square(x: f32) -> f32 { x * x }\n"
        "fn main() {\n"
        "    let x = GradTensor::ones([3]);\n"
        "    println(\"{}\", [i | i <- 0..3 { square(x[i]) }]);\n"
        "}\n",
        "error: this comprehension keeps no history");
}

static void test_needed_values_are_known(void **state) {
    (void)state;
    /* d(2 x)/dx needs no x; d(x * w) needs both. */
    expect_in_ir(
        "fn main() {\n"
        "    let x = GradTensor::ones([3]);\n"
        "    let w = GradTensor::ones([3]);\n"
        "    let a = [i | i <- 0..3 { let y = x[i] * 2.0; y - w[i] }];\n"
        "    let b = [i | i <- 0..3 { x[i] * w[i] }];\n"
        "    println(\"{} {}\", a, b);\n"
        "}\n",
        "captures (f32 rank 1 unread, f32 rank 1 unread)", 1);
}

/* The gradient of sum(y * y / 2 + y), y = the comprehension, against central differences in f64. */
static void expect_right_gradient(const char *comprehension, const char *type) {
    char text[4096];
    snprintf(text, sizeof text,
             "fn body(x: Tensor<f64, 1>, w: Tensor<f64, 2>) -> %s { %s }\n"
             "fn loss(x: Tensor<f64, 1>, w: Tensor<f64, 2>) -> Tensor<f64, 0> {\n"
             "    let y = body(x, w);\n"
             "    (y * y * 0.5 + y).sum()\n"
             "}\n"
             "fn check(name: String, got: f64, low: f64, high: f64, h: f64) {\n"
             "    let d = (high - low) / (2.0 * h);\n"
             "    if !((d - got).abs() < 0.0001) { println(\"{}: {} instead of {}\", name, got, d); }\n"
             "}\n"
             "fn main() {\n"
             "    let x0: Tensor<f64, 1> = [0.31, -0.72, 1.24, 0.55];\n"
             "    let w0: Tensor<f64, 2> = [[0.9, -0.4], [0.24, 1.1], [-1.3, 0.7], [0.45, 0.66]];\n"
             "    let h: f64 = 0.000001;\n"
             "    let mut x = x0 * 1.0;\n"
             "    let mut w = w0 * 1.0;\n"
             "    x.enable_grad();\n"
             "    w.enable_grad();\n"
             "    loss(x, w).backward();\n"
             "    let gx = x.grad();\n"
             "    let gw = w.grad();\n"
             "    for i in 0..4 {\n"
             "        let mut a = x0;\n"
             "        a[i] = a[i] - h;\n"
             "        let mut b = x0;\n"
             "        b[i] = b[i] + h;\n"
             "        check(\"x\", gx[i], loss(a, w0).item(), loss(b, w0).item(), h);\n"
             "        for j in 0..2 {\n"
             "            let mut c = w0;\n"
             "            c[i, j] = c[i, j] - h;\n"
             "            let mut d = w0;\n"
             "            d[i, j] = d[i, j] + h;\n"
             "            check(\"w\", gw[i, j], loss(x0, c).item(), loss(x0, d).item(), h);\n"
             "        }\n"
             "    }\n"
             "}\n",
             type, comprehension);
    outcome o = run(text);
    if (o.error[0] || o.output[0])
        fail_msg("%s\n%s%s", comprehension, o.output, o.error);
    release(&o);
}

static void test_gradients_of_bodies(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "x[i] * w[i, 0] - w[i, 1] / x[i]",
        "x[i].sin() * x[i].cos() + (x[i] * x[i] + 1.0).sqrt() + (x[i] * x[i] + 0.5).log()",
        "x[i].exp() + x[i].tanh() + x[i].abs()",
        "x[i].powf(3.0) + x[i].abs().powf(w[i, 0].abs()) + w[i, 1].powf(0.0)",
        "x[i].min(w[i, 0]) + x[i].max(w[i, 1]) * 2.0",
        "x[i] % 0.4 + 2.3 % w[i, 0].abs()",
        "if x[i] > 0.0 { x[i] * 3.0 } else { x[i] * x[i] * w[i, 1] }",
        ("let a = x[i] * 2.0; let b = { let c = a * a; c * w[i, 0] }; if b > 0.1 { b * a } else { -a }"),
        "x[(i + 1) % 4] * x[3 - i] + x[i].floor() * x[i]",
        "x[i] / (x.sum() + 5.0) - 2.0 * w.mean() * x[i]",
        "x.softmax(0)[i] * w.sum(1)[i]",
        "let s = x[i] * w.sum(); let t = -s + 1.0; if t > 0.0 { t } else { s - t / 2.0 }",
    };
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        char text[512];
        snprintf(text, sizeof text, "[i | i <- 0..4 { %s }]", bodies[k]);
        expect_right_gradient(text, "Tensor<f64, 1>");
    }
}

static void test_gradients_of_sums(void **state) {
    (void)state;
    expect_right_gradient("[k | k <- 0..5, i <- 0..4, j <- 0..2, i + j == k { x[i] * w[i, j] * (k as f64 + 1.0) }]",
                          "Tensor<f64, 1>");
    expect_right_gradient("[k | i <- 0..4, j <- 0..2, k <- 0..5, i + j == k { x[i] * w[i, j] * x[i] }]",
                          "Tensor<f64, 1>");
    expect_right_gradient("[i, j | i <- 0..4, j <- 0..2, x[i] > w[i, j] { x[i] * w[i, j] }]", "Tensor<f64, 2>");
    expect_right_gradient("[i | i <- 0..4, i > 0 { x[i] * x[i - 1] }]", "Tensor<f64, 1>");
    expect_right_gradient("[j | j <- 0..2, i <- 0..4, i > j { (x[i] - w[i, j]) * (x[i] - w[i, j]) }]",
                          "Tensor<f64, 1>");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void test_running_out_of_memory(void **state) {
    (void)state;
    masu_compile_options options = {.until = MASU_STAGE_PASSES};
    uint64_t before = masu__meta_live_bytes(), nth = 1, planned = 0;
    for (;; nth++) {
        masu_program *p = NULL;
        masu__fault_arm(nth);
        masu_status status = masu_program_compile("test.tl", diagonals, strlen(diagonals), &options, &p);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        masu_program_destroy(p);
        assert_int_equal(masu__meta_live_bytes(), before);
        if (!fired)
            break;
        if (status == MASU_OK)
            planned++; /* the planner goes on with the best plan that it has */
        else
            assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
    }
    assert_true(nth > 10 && planned < nth / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_evaluation),
        cmocka_unit_test(test_short_circuit),
        cmocka_unit_test(test_assignment_evaluates_its_value_first),
        cmocka_unit_test(test_values_are_values),
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_methods_that_write_self_return_it),
        cmocka_unit_test(test_vectors_of_records),
        cmocka_unit_test(test_empty_structs_are_nothing),
        cmocka_unit_test(test_scopes_keep_their_bindings),
        cmocka_unit_test(test_unreachable_code_is_not_written),
        cmocka_unit_test(test_only_loops_that_run_a_backward_count_iterations),
        cmocka_unit_test(test_loop_values_and_labels),
        cmocka_unit_test(test_equations_are_solved),
        cmocka_unit_test(test_conditions_cut_ranges),
        cmocka_unit_test(test_bounds_near_the_end_of_the_integers),
        cmocka_unit_test(test_kernels_check_their_reads),
        cmocka_unit_test(test_bodies_that_no_kernel_holds),
        cmocka_unit_test(test_needed_values_are_known),
        cmocka_unit_test(test_gradients_of_bodies),
        cmocka_unit_test(test_gradients_of_sums),
        cmocka_unit_test(test_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
