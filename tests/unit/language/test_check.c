/* test_check.c: types and resolutions of right programs.
 *
 * front_good also asks the judge (check_tree_valid) whether the checked tree is as tree.h promises.
 */
#include "unit/language/front_testing.h"

static function_item *function_named(const front *f, const char *qualified) {
    for (uint32_t i = 0; i < f->tree->function_count; i++)
        if (strcmp(f->tree->functions[i]->qualified, qualified) == 0)
            return f->tree->functions[i];
    fail_msg("no function %s", qualified);
    return NULL;
}

static binding *binding_named(const function_item *f, const char *name) {
    for (uint32_t i = f->binding_count; i > 0; i--)
        if (strcmp(f->bindings[i - 1]->name, name) == 0)
            return f->bindings[i - 1];
    fail_msg("no binding %s", name);
    return NULL;
}

/* `let x = EXPRESSION;` in main gives x this type. Some things to speak of are declared around it. */
static void has_type(const char *expression, const char *expected) {
    static const char around[] =
        "struct P { x: f32, y: i64 }\n"
        "impl P { fn new() -> P { P(1.0, 2) } fn norm(self) -> f32 { self.x } fn step(self) { self.x = 2.0; } }\n"
        "fn pair() -> (i64, f32) { (1, 2.0) }\n"
        "fn unknown() -> Tensor { Tensor::ones([2]) }\n";
    masu__buffer program = {0};
    masu__buffer_puts(&program, around);
    masu__buffer_printf(&program,
                        "fn main() { let n: i64 = 3; let i: i32 = 1; let u: u8 = 1; let z: usize = 1; "
                        "let f: f32 = 1.5; let d: f64 = 1.5;\n"
                        "let t = [[1.0, 2.0], [3.0, 4.0]]; let ti = [1, 2]; let tb = [true]; let "
                        "td: Tensor<f64, 1> = [1.0]; let un = unknown();\n"
                        "let s = \"text\"; let c = true; let p = P::new(); let v: Vec<f32> = "
                        "Vec::new();\nlet x = %s; }",
                        expression);
    front f;
    front_good(&f, masu__buffer_text(&program));
    assert_string_equal(type_name(&f.types, binding_named(f.tree->main, "x")->type), expected);
    front_end(&f);
    masu__buffer_destroy(&program);
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static void literals(void **state) {
    (void)state;
    has_type("1", "i64");
    has_type("1.5", "f32");
    has_type("1u8", "u8");
    has_type("2f64", "f64");
    has_type("-5", "i64");
    has_type("'c'", "char");
    has_type("\"s\"", "String");
    has_type("(1, 2.0, (true, \"s\"))", "(i64, f32, (bool, String))");
    has_type("[1, 2]", "Tensor<i64, 1>");
    has_type("[1, 2.5]", "Tensor<f32, 1>");
    has_type("[[true], [false]]", "Tensor<bool, 2>");
    has_type("[d, 1.0]", "Tensor<f64, 1>");
    has_type("[]", "Tensor<f32, 1>");
    has_type("[[], []]", "Tensor<f32, 2>");
    has_type("[t, t]", "Tensor<f32, 3>");
}

static void numbers_widen(void **state) {
    (void)state;
    has_type("n + 1", "i64");
    has_type("i + 1", "i32");
    has_type("1 + i", "i32");
    has_type("{ let open = 3; i + open }", "i32");
    has_type("{ let open = 3; open + z }", "usize");
    has_type("i + n", "i64");
    has_type("u + i", "i32");
    has_type("u * u", "u8");
    has_type("z + n", "i64");
    has_type("n * f", "f32");
    has_type("f + d", "f64");
    has_type("d * 2", "f64");
    has_type("2.0 * d", "f64");
    has_type("n * 2.0", "f32");
    has_type("1 + 0.5", "f32");
    has_type("i << 2", "i32");
    has_type("n & 3 | 4 ^ 5", "i64");
    has_type("n < 2 && f >= n || !c", "bool");
    has_type("n as f64 / 2", "f64");
    has_type("c as i64 + 'a' as i64 + f as i64", "i64");
    has_type("65u8 as char", "char");
    has_type("if c { 1 } else { 2.5 }", "f32");
    has_type("if c { n } else { d }", "f64");
    has_type("match n { 0 => 1, 1 => 2.0, _ => d }", "f64");
    has_type("loop { break 1.5 }", "f32");
    has_type("{ let y = n; y * 2.0 }", "f32");
}

static void scalar_methods(void **state) {
    (void)state;
    has_type("f.sqrt()", "f32");
    has_type("d.exp().log().sin().cos().tanh().floor().ceil().abs().ln()", "f64");
    has_type("f.pow(2)", "f32");
    has_type("f.powf(2.0).powi(3)", "f32");
    has_type("d.powi(n)", "f64");
    has_type("f.max(d)", "f64");
    has_type("n.max(2).min(i)", "i64");
    has_type("i.abs()", "i32");
    has_type("f.max(t.sum())", "f32");
    has_type("n.to_f32()", "f32");
    has_type("f.item()", "f32");
    has_type("f.clone()", "f32");
    has_type("s.len()", "usize");
    has_type("s.to_i64()", "i64");
    has_type("s.to_f32()", "f32");
    has_type("s + \"x\" + s", "String");
    has_type("s == \"x\" || s != s", "bool");
    has_type("s.is_empty()", "bool");
    has_type("String::new().concat(s)", "String");
}

static void constants(void **state) {
    (void)state;
    has_type("F32::max_value()", "f32");
    has_type("F64::nan()", "f64");
    has_type("I32::min_value()", "i32");
    has_type("i64::MAX", "i64");
    has_type("f64::INFINITY", "f64");
    has_type("i64::sizeof()", "i64");
    has_type("std::f64::consts::PI", "f64");
    front f;
    front_good(&f,
               "fn main() { let a = I32::min_value(); let b = i64::sizeof(); let c = "
               "F32::max_value(); let d = u8::MAX; }");
    stmt *s = f.tree->main->body->first;
    assert_int_equal(s->value->kind, EXPR_INT);
    assert_int_equal((int32_t)s->value->integer.value, INT32_MIN);
    s = s->next;
    assert_int_equal(s->value->integer.value, 8);
    s = s->next;
    assert_int_equal(s->value->kind, EXPR_FLOAT);
    assert_true(s->value->floating.value > 3.4e38);
    assert_int_equal(s->next->value->integer.value, 255);
    front_end(&f);
}

static void tensor_types(void **state) {
    (void)state;
    has_type("t + t", "Tensor<f32, 2>");
    has_type("t * 2", "Tensor<f32, 2>");
    has_type("1.0 - t", "Tensor<f32, 2>");
    has_type("1 / t", "Tensor<f32, 2>");
    has_type("t + ti", "Tensor<f32, 2>");
    has_type("td * t", "Tensor<f64, 2>");
    has_type("-t", "Tensor<f32, 2>");
    has_type("!tb", "Tensor<bool, 1>");
    has_type("t.relu() == t", "Tensor<bool, 2>");
    has_type("t > 0.5", "Tensor<bool, 2>");
    has_type("t.sum() > 0.5", "bool");
    has_type("0.5 < un", "Tensor<bool>");
    has_type("un + t", "Tensor");
    has_type("t.sum()", "Tensor<f32, 0>");
    has_type("t.sum(0)", "Tensor<f32, 1>");
    has_type("t.softmax(1)", "Tensor<f32, 2>");
    has_type("t.softmax()", "Tensor<f32, 2>");
    has_type("t.argmax(1)", "Tensor<i64, 1>");
    has_type("t.matmul(t)", "Tensor<f32, 2>");
    has_type("t.transpose()", "Tensor<f32, 2>");
    has_type("t.reshape([4])", "Tensor<f32, 1>");
    has_type("t.reshape(1, n, -1)", "Tensor<f32, 3>");
    has_type("t.reshape((2, 2))", "Tensor<f32, 2>");
    has_type("ti.pow(2)", "Tensor<i64, 1>");
    has_type("t.pow(t)", "Tensor<f32, 2>");
    has_type("t.item()", "f32");
    has_type("td.sum().item()", "f64");
    has_type("ti.sum().item()", "i64");
    has_type("t.sum().to_f32()", "f32");
    has_type("t.len()", "i64");
    has_type("t.shape()", "Tensor<i64, 1>");
    has_type("t[0, 1]", "f32");
    has_type("t[0][1]", "f32");
    has_type("td[0]", "f64");
    has_type("ti[n]", "i64");
    has_type("tb[0]", "bool");
    has_type("un[0, 0, 0]", "f32");
    has_type("t[0..1]", "Tensor<f32, 2>");
    has_type("t[1..]", "Tensor<f32, 2>");
    has_type("t as Tensor<f64, 2>", "Tensor<f64, 2>");
    has_type("t.sum() as i64", "i64");
    has_type("t.clone()", "Tensor<f32, 2>");
    has_type("Tensor::zeros([2, 3])", "Tensor<f32, 2>");
    has_type("Tensor::zeros([n])", "Tensor<f32, 1>");
    has_type("Tensor::zeros(2, n, true)", "Tensor<f32, 2>");
    has_type("Tensor::full([2], 1)", "Tensor<f32, 1>");
    has_type("Tensor::full(2, 3, 1.0)", "Tensor<f32, 2>");
    has_type("Tensor::arange(0, 10)", "Tensor<f32, 1>");
    has_type("Tensor::eye(3)", "Tensor<f32, 2>");
    has_type("GradTensor::randn([2, 2])", "Tensor<f32, 2>");
    has_type("GradTensor::eye(3)", "Tensor<f32, 2>");
    has_type("Tensor::stack([t, t])", "Tensor<f32, 3>");
    has_type("Tensor::mse_loss(t, t)", "Tensor<f32, 0>");
    has_type("t.grad()", "Tensor<f32, 2>");
    has_type("System::time()", "f64");
    has_type("System::memory_bytes()", "i64");
    has_type("args_get(0)", "String");
    has_type("args_count()", "i64");
}

static void comprehension_types(void **state) {
    (void)state;
    has_type("[i | i <- 0..n { i }]", "Tensor<i64, 1>");
    has_type("[i | i <- 0..n { i * 0.5 }]", "Tensor<f32, 1>");
    has_type("[i | i <- 0..n { i > 1 }]", "Tensor<bool, 1>");
    has_type("[i, j | i <- 0..2, j <- 0..2, k <- 0..2, i != j { t[i, k] * t[k, j] }]", "Tensor<f32, 2>");
    has_type("[i | { ti[i] * 2 }]", "Tensor<i64, 1>");
    has_type("[i | i <- 0..5]", "Tensor<i64, 1>");
    has_type("[i | i <- 0..n { if t[i, 0] > 0.5 { 1.0 } else { 0.0 } }].sum().item()", "f32");
    has_type("[i | i <- 0..n { u }]", "Tensor<i64, 1>");
    has_type("[i | i <- 0..n { td.sum() }]", "Tensor<f64, 1>");
}

static void structs_and_vectors(void **state) {
    (void)state;
    has_type("p.x", "f32");
    has_type("P { y: 1, x: 2 }", "P");
    has_type("P(1, 2)", "P");
    has_type("p.norm() + P::norm(p)", "f32");
    has_type("pair()", "(i64, f32)");
    has_type("pair().1", "f32");
    has_type("v[0]", "f32");
    has_type("v.get(0)", "f32");
    has_type("v.len()", "usize");
    has_type("v.len() - 1", "usize");
    has_type("n - v.len()", "i64");
    has_type("Vec::<(i64, P)>::new()", "Vec<(i64, P)>");
    has_type("p.clone()", "P");
}

static void open_types_are_decided(void **state) {
    (void)state;
    front f;
    front_good(&f,
               "fn make() -> Vec<(i64, Tensor)> { let mut v = Vec::new(); v.push((1, Tensor::ones([2]))); v }\n"
               "fn main() { let mut a = Vec::new(); let b = Vec::new(); a.push(b); let mut c = a[0]; c.push(1.5);\n"
               "            let d: Vec<_> = Vec::new(); let mut e = d; e.push(\"s\"); let g = "
               "(Vec::new(), 1); let mut h = g.0; h.push(true);\n"
               "            for x in a { println(x.len()); } make(); }");
    assert_string_equal(type_name(&f.types, binding_named(f.tree->main, "a")->type), "Vec<Vec<f32>>");
    assert_string_equal(type_name(&f.types, binding_named(f.tree->main, "x")->type), "Vec<f32>");
    assert_string_equal(type_name(&f.types, binding_named(f.tree->main, "d")->type), "Vec<String>");
    assert_string_equal(type_name(&f.types, binding_named(f.tree->main, "g")->type), "(Vec<bool>, i64)");
    front_end(&f);
}

/* ---- resolutions and simplifications ----------------------------------------------------------------------------- */

static expr *nth_value(const function_item *f, uint32_t n) {
    stmt *s = f->body->first;
    while (n-- > 0)
        s = s->next;
    return s->value;
}

static void table_operands(void **state) {
    (void)state;
    front f;
    front_good(&f,
               "fn main() { let t = Tensor::zeros([2, 3]); let a = 5 - t; let b = t.reshape(6, "
               "1); let c = GradTensor::full([2], 1);\n"
               "            let d = t < 1; let mut e = t; e.enable_grad(); "
               "t.sum().enable_grad(); let g = t.sum() < 1; e += 1; }");
    const call_expr *zeros = &nth_value(f.tree->main, 0)->call;
    assert_int_equal(zeros->kind, CALL_ABI);
    assert_int_equal(zeros->abi, TL_FN_tl_tensor_zeros);
    assert_int_equal(zeros->operand_count, 3); /* 2, 3, grad */
    assert_int_equal(zeros->operands[1]->integer.value, 3);
    assert_int_equal(zeros->operands[2]->kind, EXPR_BOOL);
    assert_false(zeros->operands[2]->boolean);
    const call_expr *rsub = &nth_value(f.tree->main, 1)->call;
    assert_int_equal(rsub->abi, TL_FN_tl_tensor_rsub_scalar);
    assert_true(rsub->swapped);
    assert_int_equal(rsub->operands[1]->type->kind, TYPE_F64);
    const call_expr *reshape = &nth_value(f.tree->main, 2)->call;
    assert_int_equal(reshape->operand_count, 3);
    assert_int_equal(reshape->operands[0]->kind, EXPR_NAME);
    const call_expr *full = &nth_value(f.tree->main, 3)->call;
    assert_int_equal(full->operands[1]->type->kind, TYPE_F64);
    assert_true(full->operands[2]->boolean);
    const call_expr *less = &nth_value(f.tree->main, 4)->call;
    assert_int_equal(less->abi, TL_FN_tl_tensor_compare_scalar);
    assert_int_equal(less->operands[2]->integer.value, 2);
    assert_true(nth_value(f.tree->main, 6)->call.writes_receiver);
    assert_false(nth_value(f.tree->main, 7)->call.writes_receiver);
    const expr *scalars = nth_value(f.tree->main, 8);
    assert_int_equal(scalars->kind, EXPR_BINARY);
    assert_int_equal(scalars->binary.left->kind, EXPR_CAST); /* tl_tensor_item yields f64 */
    assert_int_equal(scalars->binary.left->cast.operand->call.abi, TL_FN_tl_tensor_item);
    const expr *assign = nth_value(f.tree->main, 9);
    assert_int_equal(assign->kind, EXPR_ASSIGN);
    assert_int_equal(assign->assign.op, BINARY_NONE);
    assert_int_equal(assign->assign.value->call.abi, TL_FN_tl_tensor_add_scalar);
    front_end(&f);
}

static void effects_of_an_index_happen_once(void **state) {
    (void)state;
    front f;
    front_good(&f, "fn next() -> i64 { 1 } fn main() { let mut t = [1.0]; t[next()] += 1.0; t[0] *= 2.0; }");
    const expr *hoisted = nth_value(f.tree->main, 1);
    assert_int_equal(hoisted->kind, EXPR_BLOCK);
    assert_int_equal(hoisted->block->first->kind, STMT_LET);
    assert_int_equal(hoisted->block->first->value->call.function->index, 0);
    assert_int_equal(hoisted->block->first->next->value->kind, EXPR_ASSIGN);
    assert_int_equal(nth_value(f.tree->main, 2)->kind, EXPR_ASSIGN);
    front_end(&f);
}

static void methods_that_write_to_self(void **state) {
    (void)state;
    front f;
    front_good(&f,
               "struct A { t: Tensor, n: i64 } struct B { a: A, v: Vec<i64> }\n"
               "impl A { fn set(self) { self.n = 1; } fn look(self) -> i64 { self.n } fn "
               "twice(self) { self.set(); self.set(); }\n"
               "         fn track(self) { self.t.enable_grad(); } fn element(self) { self.t[0] "
               "= 1.0; } fn other(self, b: A) { b.set(); }\n"
               "         fn even(self, n: i64) { if n > 0 { self.odd(n - 1); } } fn odd(self, "
               "n: i64) { self.n -= 1; self.even(n - 1); } }\n"
               "impl B { fn deep(self) { self.a.twice(); } fn push(self) { self.v.push(1); } "
               "fn copy(self) { let mut c = self.a; c.set(); } }\n"
               "fn main() { let mut b = B(A(Tensor::ones([1]), 2), Vec::new()); b.deep(); b.a.look(); b.copy(); }");
    static const struct {
        const char *name;
        bool writes;
    } expected[] = {{"A::set", true},     {"A::look", false},  {"A::twice", true}, {"A::track", true},
                    {"A::element", true}, {"A::other", false}, {"A::even", true},  {"A::odd", true},
                    {"B::deep", true},    {"B::push", true},   {"B::copy", false}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(function_named(&f, expected[i].name)->writes_self, expected[i].writes);
    assert_true(nth_value(f.tree->main, 1)->call.writes_receiver);
    assert_false(nth_value(f.tree->main, 2)->call.writes_receiver);
    assert_false(nth_value(f.tree->main, 3)->call.writes_receiver);
    front_end(&f);
}

static void captures(void **state) {
    (void)state;
    front f;
    front_good(&f,
               "fn main() { let n = 3; let t = [1.0, 2.0]; let s = 2.0;\n"
               "let x = [i | i <- 0..n { let k = t[i] * s; k + [j | j <- 0..n { t[j] * i }].sum().item() + t[0] }]; }");
    const comprehension_expr *outer = nth_value(f.tree->main, 3)->comprehension;
    assert_int_equal(outer->capture_count, 3);
    assert_string_equal(outer->captures[0]->name, "n");
    assert_string_equal(outer->captures[1]->name, "t");
    assert_string_equal(outer->captures[2]->name, "s");
    const expr *sum =
        outer->body->block->result->binary.left->binary.right; /* tl_tensor_item(tl_tensor_sum(inner)), cast */
    const comprehension_expr *inner = sum->cast.operand->call.operands[0]->call.operands[0]->comprehension;
    assert_int_equal(inner->capture_count, 3);
    assert_string_equal(inner->captures[2]->name, "i");
    front_end(&f);
}

static void einstein_sums(void **state) {
    (void)state;
    front f;
    front_good(&f,
               "fn main() { let A = Tensor::ones([2, 3]); let B = Tensor::ones([3, 4]); let "
               "C[i, k] = A[i, j] * B[j, k]; println(C); }");
    const comprehension_expr *e = nth_value(f.tree->main, 2)->comprehension;
    assert_int_equal(e->output_count, 2);
    assert_int_equal(e->clause_count, 3);
    assert_string_equal(e->clauses[0].index->name, "i");
    assert_string_equal(e->clauses[1].index->name, "j");
    assert_string_equal(e->clauses[2].index->name, "k");
    assert_int_equal(e->clauses[2].high->call.abi, TL_FN_tl_tensor_dim);
    assert_string_equal(e->clauses[2].high->call.operands[0]->name.name, "B");
    assert_int_equal(e->clauses[2].high->call.operands[1]->integer.value, 1);
    front_end(&f);
}

static void print_pieces(void **state) {
    (void)state;
    front f;
    front_good(&f, "fn main() { println(\"a{}b{{}}{}\", 1, \"lit\"); print(2.5); println(); }");
    const call_expr *call = &nth_value(f.tree->main, 0)->call;
    assert_int_equal(call->kind, CALL_PRINT);
    assert_true(call->newline);
    assert_int_equal(call->piece_count, 4);
    assert_int_equal(call->pieces[0].length, 1);
    assert_int_equal(call->pieces[1].value->integer.value, 1);
    assert_int_equal(call->pieces[2].length, 3);
    assert_memory_equal(call->pieces[2].text, "b{}", 3);
    assert_memory_equal(call->pieces[3].text, "lit", 3);
    assert_int_equal(nth_value(f.tree->main, 1)->call.piece_count, 1);
    assert_int_equal(nth_value(f.tree->main, 2)->call.piece_count, 0);
    front_end(&f);
}

static void statements_have_no_result(void **state) {
    (void)state;
    front f;
    front_good(&f,
               "fn g() -> Tensor { Tensor::ones([1]) } fn main() { if g().sum() > 0 { g() } if "
               "true { 1 } else { g() } match 1 { _ => g() } g() }");
    for (stmt *s = f.tree->main->body->first; s != NULL; s = s->next) {
        if (s->value->kind == EXPR_IF) {
            assert_int_equal(s->value->type->kind, TYPE_VOID);
            assert_null(s->value->branch.then->result);
        }
    }
    assert_null(f.tree->main->body->result);
    front_end(&f);
}

static void whole_programs(void **state) {
    (void)state;
    for (int i = 0; i < FRONT_PROGRAMS; i++) {
        size_t length;
        char *text = front_read(front_programs[i], &length);
        front f;
        front_good(&f, text);
        front_end(&f);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals),
        cmocka_unit_test(numbers_widen),
        cmocka_unit_test(scalar_methods),
        cmocka_unit_test(constants),
        cmocka_unit_test(tensor_types),
        cmocka_unit_test(comprehension_types),
        cmocka_unit_test(structs_and_vectors),
        cmocka_unit_test(open_types_are_decided),
        cmocka_unit_test(table_operands),
        cmocka_unit_test(effects_of_an_index_happen_once),
        cmocka_unit_test(methods_that_write_to_self),
        cmocka_unit_test(captures),
        cmocka_unit_test(einstein_sums),
        cmocka_unit_test(print_pieces),
        cmocka_unit_test(statements_have_no_result),
        cmocka_unit_test(whole_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
