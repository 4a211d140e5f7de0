/* test_check.c: types and resolutions of right programs, the exact words for wrong ones, and programs broken at random.
 *
 * front_good also asks the judge (check_tree_valid) whether the checked tree is as tree.h promises.
 */
#include "unit/language/front_testing.h"

static function_item *function_named(const front *f, const char *qualified) {
    for (uint32_t i = 0; i < f->tree->function_count; i++) {
        if (strcmp(f->tree->functions[i]->qualified, qualified) == 0) {
            return f->tree->functions[i];
        }
    }
    fail_msg("no function %s", qualified);
    return NULL;
}

static binding *binding_named(const function_item *f, const char *name) {
    for (uint32_t i = f->binding_count; i > 0; i--) {
        if (strcmp(f->bindings[i - 1]->name, name) == 0) {
            return f->bindings[i - 1];
        }
    }
    fail_msg("no binding %s", name);
    return NULL;
}

/* `let x = EXPRESSION;` in main gives x this type. Some things to speak of are declared around it. */
static void has_type(const char *expression, const char *expected) {
    static const char around[] = "struct P { x: f32, y: i64 }\n"
                                 "impl P { fn new() -> P { P(1.0, 2) } fn norm(self) -> f32 { self.x } fn step(self) { self.x = 2.0; } }\n"
                                 "fn pair() -> (i64, f32) { (1, 2.0) }\n"
                                 "fn unknown() -> Tensor { Tensor::ones([2]) }\n";
    masu__buffer program = {0};
    masu__buffer_puts(&program, around);
    masu__buffer_printf(&program,
                        "fn main() { let n = 3; let i: i32 = 1; let u: u8 = 1; let z: usize = 1; let f = 1.5; let d: f64 = 1.5;\n"
                        "let t = [[1.0, 2.0], [3.0, 4.0]]; let ti = [1, 2]; let tb = [true]; let td: Tensor<f64, 1> = [1.0]; let un = unknown();\n"
                        "let s = \"text\"; let c = true; let p = P::new(); let v: Vec<f32> = Vec::new();\nlet x = %s; }",
                        expression);
    front f;
    front_good(&f, masu__buffer_text(&program));
    assert_string_equal(type_name(&f.types, binding_named(f.tree->main, "x")->type), expected);
    front_end(&f);
    masu__buffer_destroy(&program);
}

/* ---- types ------------------------------------------------------------------------------------------------------------ */

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
    has_type("s.len()", "i64");
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
    front_good(&f, "fn main() { let a = I32::min_value(); let b = i64::sizeof(); let c = F32::max_value(); let d = u8::MAX; }");
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
    has_type("t == t", "Tensor<bool, 2>");
    has_type("t > 0.5", "Tensor<bool, 2>");
    has_type("t.sum() > 0.5", "bool");
    has_type("0.5 < un", "bool");
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
    has_type("Tensor::stack([t, t])", "Tensor<f32>");
    has_type("Tensor::mse_loss(t, t)", "Tensor<f32, 0>");
    has_type("t.grad()", "Tensor<f32, 2>");
    has_type("System::time()", "f64");
    has_type("System::memory_bytes()", "i64");
    has_type("System::metal_pool_mb()", "i64");
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
    has_type("v.len()", "i64");
    has_type("Vec::<(i64, P)>::new()", "Vec<(i64, P)>");
    has_type("p.clone()", "P");
}

static void open_types_are_decided(void **state) {
    (void)state;
    front f;
    front_good(&f, "fn make() -> Vec<(i64, Tensor)> { let mut v = Vec::new(); v.push((1, Tensor::ones([2]))); v }\n"
                   "fn main() { let mut a = Vec::new(); let b = Vec::new(); a.push(b); let mut c = a[0]; c.push(1.5);\n"
                   "            let d: Vec<_> = Vec::new(); let mut e = d; e.push(\"s\"); let g = (Vec::new(), 1); let mut h = g.0; h.push(true);\n"
                   "            for x in a { println(x.len()); } make(); }");
    assert_string_equal(type_name(&f.types, binding_named(f.tree->main, "a")->type), "Vec<Vec<f32>>");
    assert_string_equal(type_name(&f.types, binding_named(f.tree->main, "x")->type), "Vec<f32>");
    assert_string_equal(type_name(&f.types, binding_named(f.tree->main, "d")->type), "Vec<String>");
    assert_string_equal(type_name(&f.types, binding_named(f.tree->main, "g")->type), "(Vec<bool>, i64)");
    front_end(&f);
}

/* ---- resolutions and simplifications -------------------------------------------------------------------------------------- */

static expr *nth_value(const function_item *f, uint32_t n) {
    stmt *s = f->body->first;
    while (n-- > 0) {
        s = s->next;
    }
    return s->value;
}

static void table_operands(void **state) {
    (void)state;
    front f;
    front_good(&f, "fn main() { let t = Tensor::zeros([2, 3]); let a = 5 - t; let b = t.reshape(6, 1); let c = GradTensor::full([2], 1);\n"
                   "            let d = t < 1; let mut e = t; e.enable_grad(); t.sum().enable_grad(); let g = t.sum() < 1; e += 1; }");
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
    front_good(&f, "struct A { t: Tensor, n: i64 } struct B { a: A, v: Vec<i64> }\n"
                   "impl A { fn set(self) { self.n = 1; } fn look(self) -> i64 { self.n } fn twice(self) { self.set(); self.set(); }\n"
                   "         fn track(self) { self.t.enable_grad(); } fn element(self) { self.t[0] = 1.0; } fn other(self, b: A) { b.set(); }\n"
                   "         fn even(self, n: i64) { if n > 0 { self.odd(n - 1); } } fn odd(self, n: i64) { self.n -= 1; self.even(n - 1); } }\n"
                   "impl B { fn deep(self) { self.a.twice(); } fn push(self) { self.v.push(1); } fn copy(self) { let mut c = self.a; c.set(); } }\n"
                   "fn main() { let mut b = B(A(Tensor::ones([1]), 2), Vec::new()); b.deep(); b.a.look(); b.copy(); }");
    static const struct {
        const char *name;
        bool writes;
    } expected[] = {{"A::set", true},   {"A::look", false}, {"A::twice", true}, {"A::track", true}, {"A::element", true}, {"A::other", false},
                    {"A::even", true},  {"A::odd", true},   {"B::deep", true},  {"B::push", true},  {"B::copy", false}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(function_named(&f, expected[i].name)->writes_self, expected[i].writes);
    }
    assert_true(nth_value(f.tree->main, 1)->call.writes_receiver);
    assert_false(nth_value(f.tree->main, 2)->call.writes_receiver);
    assert_false(nth_value(f.tree->main, 3)->call.writes_receiver);
    front_end(&f);
}

static void captures(void **state) {
    (void)state;
    front f;
    front_good(&f, "fn main() { let n = 3; let t = [1.0, 2.0]; let s = 2.0;\n"
                   "let x = [i | i <- 0..n { let k = t[i] * s; k + [j | j <- 0..n { t[j] * i }].sum().item() + t[0] }]; }");
    const comprehension_expr *outer = nth_value(f.tree->main, 3)->comprehension;
    assert_int_equal(outer->capture_count, 3);
    assert_string_equal(outer->captures[0]->name, "n");
    assert_string_equal(outer->captures[1]->name, "t");
    assert_string_equal(outer->captures[2]->name, "s");
    const expr *sum = outer->body->block->result->binary.left->binary.right; /* tl_tensor_item(tl_tensor_sum(inner)), cast */
    const comprehension_expr *inner = sum->cast.operand->call.operands[0]->call.operands[0]->comprehension;
    assert_int_equal(inner->capture_count, 3);
    assert_string_equal(inner->captures[2]->name, "i");
    front_end(&f);
}

static void einstein_sums(void **state) {
    (void)state;
    front f;
    front_good(&f, "fn main() { let A = Tensor::ones([2, 3]); let B = Tensor::ones([3, 4]); let C[i, k] = A[i, j] * B[j, k]; println(C); }");
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
    front_good(&f, "fn g() -> Tensor { Tensor::ones([1]) } fn main() { if g().sum() > 0 { g() } if true { 1 } else { g() } match 1 { _ => g() } g() }");
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

/* ---- what must not pass ------------------------------------------------------------------------------------------------------- */

/* The body of main; messages without the lines that show the source. */
static void body_says(const char *body, const char *expected) {
    masu__buffer program = {0}, heads = {0};
    masu__buffer_printf(&program, "struct P { x: f32, y: i64 }\nimpl P { fn new() -> P { P(1.0, 2) } fn step(self) { self.x = 2.0; } fn look(self) -> f32 { self.x } }\n"
                                  "fn half(x: f32) -> f32 { x / 2.0 }\nfn main() {\n%s\n}\n",
                        body);
    front f;
    front_check(&f, masu__buffer_text(&program), program.length);
    assert_int_equal(f.status, MASU_OK);
    const char *line = front_rendered(&f);
    while (*line != 0) {
        const char *end = strchr(line, '\n');
        if (strncmp(line, "t.tl:", 5) == 0 || strncmp(line, "note: ", 6) == 0) {
            const char *start = strncmp(line, "t.tl:", 5) == 0 ? line + 5 : line;
            masu__buffer_append(&heads, start, (size_t)(end - start) + 1);
        }
        line = end + 1;
    }
    assert_string_equal(masu__buffer_text(&heads), expected);
    front_end(&f);
    masu__buffer_destroy(&program);
    masu__buffer_destroy(&heads);
}

static void names(void **state) {
    (void)state;
    body_says("let count = 1; println(cuont);", "5:24: error: there is no variable `cuont`\nnote: did you mean `count`?\n");
    body_says("half2(1.0);", "5:1: error: there is no function `half2`\nnote: did you mean `half`?\n");
    body_says("let t = [1.0]; t.softmix(0);", "5:18: error: `Tensor<f32, 1>` has no method `softmix`\nnote: did you mean `softmax`?\n");
    body_says("Tensor::zeroes([1]);", "5:1: error: there is no function `Tensor::zeroes`\nnote: did you mean `Tensor::zeros`?\n");
    body_says("let p = P::new(); p.z;", "5:21: error: struct `P` has no field `z`\n");
    body_says("let p = P::new(); p.lok();", "5:21: error: `P` has no method `lok`\nnote: did you mean `look`?\n");
    body_says("let p = P::new(); p.look;", "5:21: error: `look` is a method of `P`, not a field\nnote: call it: `look(\xE2\x80\xA6)`\n");
    body_says("let p = P::new(); p.x();", "5:21: error: `P` has no method `x`\n1:12: note: `x` is a field\n");
    body_says("let p = P::new(); p.new();", "5:21: error: `P::new` takes no `self`\nnote: call it as `P::new(\xE2\x80\xA6)`\n");
    body_says("P::nwe();", "5:1: error: there is no function `P::nwe`\nnote: did you mean `P::new`?\n");
    body_says("let x: f33 = 1;", "5:8: error: there is no type `f33`\nnote: did you mean `f32`?\n");
    body_says("Q { x: 1 };", "5:1: error: there is no struct `Q`\n");
    body_says("self.x;", "5:1: error: there is no `self` here\nnote: a method takes it as its first parameter: `fn m(self, \xE2\x80\xA6)`\n");
    body_says("let f = half;", "5:9: error: `half` is a function, not a value\n");
    body_says("let x = 1; x(2);", "5:12: error: `x` is a variable, not a function\n5:5: note: it is declared here\n");
    body_says("Env::get(\"x\");", "5:1: error: masu does not accept `Env`\n");
    body_says("{ let y = 1; } y;", "5:16: error: there is no variable `y`\n");
}

static void types(void **state) {
    (void)state;
    body_says("let n: i64 = 2.5;", "5:14: error: expected `i64`, found `f32`\nnote: `as i64` converts it\n5:8: note: the type is given here\n");
    body_says("let n: i32 = 1; let m: i64 = 2; let k: i32 = n + m;",
              "5:46: error: expected `i32`, found `i64`\nnote: `as i32` converts it\n5:40: note: the type is given here\n");
    body_says("half(\"s\");", "5:6: error: expected `f32`, found `String`\n3:9: note: the parameter is declared here\n");
    body_says("half(1.0, 2.0);", "5:1: error: `half` takes 1 argument, 2 given\n3:4: note: it is declared here\n");
    body_says("1 + true;", "5:5: error: `+` cannot be applied to `i64` and `bool`\n");
    body_says("true + false;", "5:6: error: `+` cannot be applied to `bool`\n");
    body_says("\"a\" < \"b\";", "5:5: error: `<` cannot be applied to `String`\n");
    body_says("-\"a\";", "5:1: error: `-` cannot be applied to `String`\n");
    body_says("-1u8;", "5:1: error: `u8` has no negative numbers\n");
    body_says("!1.5;", "5:1: error: `!` cannot be applied to `f32`\n");
    body_says("1.5 & 2;", "5:5: error: `&` cannot be applied to `f32`\n");
    body_says("let x: i8 = 128; let y: i8 = -128; let z: u8 = 256;",
              "5:13: error: 128 does not fit `i8`\nnote: the largest `i8` is 127\n5:48: error: 256 does not fit `u8`\nnote: the largest `u8` is 255\n");
    body_says("if 1 { }", "5:4: error: expected `bool`, found `i64`\nnote: compare with 0: `x != 0`\n");
    body_says("let x = if true { 1 } else { \"s\" };", "5:28: error: the branches differ: `String` here, `i64` before\n5:19: note: this is `i64`\n");
    body_says("let x: f32 = if true { 1.0 };",
              "5:14: error: expected `f32`, but this has no value\nnote: an `if` without `else` has no value\n5:8: note: the type is given here\n");
    body_says("let x = println(1);", "5:9: error: this has no value\n");
    body_says("println(\"{}\", println(1));", "5:15: error: this has no value to print\n");
    body_says("\"s\" as i64;", "5:1: error: `String` cannot be converted to `i64`\n");
    body_says("1.sqrt();", "5:3: error: `sqrt` needs an f32 or f64, this is `i64`\nnote: `(x as f32).sqrt(\xE2\x80\xA6)` converts first\n");
    body_says("let (a, b) = 1;", "5:5: error: this pattern has 2 parts, the value is `i64`\n");
    body_says("let (a, a) = (1, 2);", "5:9: error: `a` is bound twice in one pattern\n");
    body_says("let t = (1, 2); t.2;", "5:19: error: `(i64, i64)` has 2 parts, counted from 0\n");
    body_says("let s = \"x\"; s.0;", "5:16: error: `String` is no tuple\n");
    body_says("let v = Vec::new();", "5:9: error: nothing says what this `Vec` holds\nnote: write it out: `let v: Vec<f32> = Vec::new();`\n");
    body_says("let mut v = Vec::new(); v.push(1); v.push(\"s\");", "5:43: error: expected `i64`, found `String`\n");
    body_says("let mut v = Vec::new(); v.push(v);", "5:13: error: nothing says what this `Vec` holds\nnote: write it out: `let v: Vec<f32> = Vec::new();`\n"
                                                    "5:32: error: expected `_`, found `Vec<_>`\n");
    body_says("1 + panic(\"x\");", "5:5: error: this never yields a value\n");
}

static void tensors(void **state) {
    (void)state;
    body_says("[[1, 2], [3]];", "5:10: error: this row has 1 element, the first one has 2\n");
    body_says("[[1], 2];", "5:7: error: rows and numbers cannot stand side by side\n");
    body_says("[1, \"s\"];", "5:5: error: a tensor cannot hold `String`\nnote: a `Vec` can\n");
    body_says("[1, true];", "5:5: error: a tensor holds either numbers or bools\n");
    body_says("let t = [1.0]; t[0, 1];", "5:16: error: a tensor of rank 1 cannot have 2 indices\n");
    body_says("let t = [1.0]; t[0.5];", "5:18: error: expected `i64`, found `f32`\nnote: `as i64` converts it\n");
    body_says("let x = 1; x[0];", "5:12: error: `i64` cannot be indexed\n");
    body_says("let t: Tensor<f32, 2> = [1.0];", "5:25: error: expected `Tensor<f32, 2>`, found `Tensor<f32, 1>`\n5:8: note: the type is given here\n");
    body_says("let t: Tensor<i32, 2> = [1];", "5:15: error: a tensor cannot hold `i32`\nnote: tensors hold f32, f64, i64 or bool\n");
    body_says("let t: Tensor<f32, 9> = 1;", "5:20: error: a tensor has at most 8 dimensions\n");
    body_says("let t = [1.0]; half(t);",
              "5:21: error: expected `f32`, found `Tensor<f32, 1>`\nnote: only a tensor of rank 0 is a scalar; an element is read with `t[i]`\n"
              "3:9: note: the parameter is declared here\n");
    body_says("let t = [1.0]; t.sum(0, 1);", "5:18: error: `sum` takes 0 to 1 arguments, 2 given\n");
    body_says("let t = [1.0]; t.clamp(1);", "5:18: error: `clamp` takes 2 arguments, 1 given\n");
    body_says("let t = [1.0]; t.softmax(0.5);", "5:26: error: expected `i64`, found `f32`\nnote: `as i64` converts it\nnote: parameter `dim` of `softmax`\n");
    body_says("let t = [1.0]; t.reshape(t.shape());",
              "5:26: error: expected integers, found `Tensor<i64, 1>`\nnote: a shape is written out: `[t.dim(0), t.dim(1)]`\n");
    body_says("let t = [1.0]; t + \"s\";", "5:20: error: `+` cannot be applied to `Tensor<f32, 1>` and `String`\n");
    body_says("let t = [1.0]; 2.0 % t;", "5:20: error: `%` cannot be applied to `f64` and `Tensor<f32, 1>`\n5:16: note: this is `f64`\n5:22: note: this is `Tensor<f32, 1>`\n");
    body_says("[i | i <- 0..3, j <- 0..i { 1 }];", "5:25: error: index `i` cannot stand in a bound: bounds are computed before the loops\n");
    body_says("[i, j | i <- 0..3 { 1 }];", "5:5: error: index `j` has no range\nnote: give it one: `j <- 0..n`\n");
    body_says("[i, i | i <- 0..3 { 1 }];", "5:5: error: index `i` stands twice among the outputs\n");
    body_says("[i | i <- 0..3, i <- 0..4 { 1 }];", "5:17: error: index `i` has two ranges\n5:6: note: the first one is here\n");
    body_says("[i | i <- 0..3 { \"s\" }];", "5:16: error: the body of a comprehension is a number, this is `String`\nnote: it is computed once for each element\n");
    body_says("let mut n = 1; [i | i <- 0..3 { n = 2; 1 }];", "5:33: error: the body of a comprehension cannot write to `n`\n5:9: note: it is declared outside\n");
    body_says("let mut p = P::new(); [i | i <- 0..3 { p.step(); 1 }];",
              "5:42: error: the body of a comprehension cannot write to `p`\n5:9: note: it is declared outside\n");
    body_says("loop { [i | i <- 0..3 { break; 1 }]; }", "5:25: error: `break` cannot leave the body of a comprehension\n");
    body_says("[i | i <- 0..3 { return; 1 }];", "5:18: error: `return` cannot leave the body of a comprehension\n");
    body_says("let t = [1.0]; t[0..1] = 2.0;", "5:16: error: a slice cannot be assigned to\n");
}

static void mutability(void **state) {
    (void)state;
    body_says("let x = 1; x = 2;", "5:12: error: `x` is not mutable\n5:5: note: make it mutable: `let mut x`\n");
    body_says("let x = 1; x += 2;", "5:12: error: `x` is not mutable\n5:5: note: make it mutable: `let mut x`\n");
    body_says("let p = P::new(); p.x = 2.0;", "5:19: error: `p` is not mutable\n5:5: note: make it mutable: `let mut p`\n");
    body_says("let p = P::new(); p.step(); p.look();", "5:21: error: this writes to `p`, which is not mutable\n5:5: note: make it mutable: `let mut p`\n");
    body_says("let t = [1.0]; t[0] = 2.0;", "5:16: error: `t` is not mutable\n5:5: note: make it mutable: `let mut t`\n");
    body_says("for i in 0..3 { i = 2; }", "5:17: error: `i` is not mutable\n5:5: note: make it mutable: `mut i`\n");
    body_says("let v = Vec::<f32>::new(); v.push(1.0);", "5:28: error: this writes to `v`, which is not mutable\n5:5: note: make it mutable: `let mut v`\n");
    body_says("1 = 2;", "5:1: error: only variables, fields and elements can be assigned to\n");
    body_says("half(1.0) += 2.0;", "5:1: error: only variables, fields and elements can be assigned to\n");
    body_says("let t = [1.0]; t.enable_grad(); let d = t.detach();", ""); /* tensors' own operations replace any binding */
    body_says("let mut x = 1; x = \"s\";", "5:20: error: expected `i64`, found `String`\n5:9: note: it is declared here\n");
    body_says("let mut t = [1.0]; t = [[1.0]];", ""); /* a variable's rank may change */
}

static void control(void **state) {
    (void)state;
    body_says("break;", "5:1: error: `break` outside of a loop\n");
    body_says("continue;", "5:1: error: `continue` outside of a loop\n");
    body_says("loop { break 'a; }", "5:14: error: there is no loop `'a` here\n");
    body_says("while true { break 1; }", "5:20: error: only `loop` yields a value\n");
    body_says("let x = loop { if true { break 1; } break; };", "5:37: error: this loop yields `i64`: `break` needs a value\n");
    body_says("return 1;", "5:8: error: `main` returns nothing\n4:4: note: write `-> i64` behind its parameters\n");
    body_says("for x in 5 { }", "5:10: error: `for` cannot run over `i64`\nnote: it runs over `a..b`, a tensor or a `Vec`\n");
    body_says("for i in 0..2.5 { }", "5:13: error: expected `i64`, found `f32`\nnote: `as i64` converts it\n");
    body_says("let r = 0..3;", "5:9: error: a range stands in `for`, in a comprehension or in an index\n");
    body_says("match 1 { 1 => 2, 2 => 3 };", "5:1: error: this `match` does not cover every value\nnote: a last arm `_ => \xE2\x80\xA6` does\n");
    body_says("match true { true => 1, false => 2 };", "");
    body_says("match true { true => 1 };", "5:1: error: this `match` does not cover every value\nnote: a last arm `_ => \xE2\x80\xA6` does\n");
    body_says("match 1 { true => 1, _ => 2 };", "5:11: error: expected `i64`, found `bool`\n");
    body_says("let x = match 1 { 1 => 2, _ => \"s\" };", "5:32: error: the arms differ: `String` here, `i64` before\n");
    body_says("match \"s\" { _ => 1 };", "5:7: error: `String` cannot be matched\nnote: integers, bools, characters and tuples of them can\n");
    body_says("match (1, true) { (1, x) => 1, (_, _) => 2 };", "");
}

static void print_and_assert(void **state) {
    (void)state;
    body_says("println(\"{} {}\", 1);", "5:9: error: 2 placeholders `{}` in the text, 1 value given\n");
    body_says("println(\"{}\", 1, 2);", "5:9: error: 1 placeholder `{}` in the text, 2 values given\n");
    body_says("println(\"{:.2}\", 1.0);", "5:9: error: a placeholder is `{}`, without anything in it\nnote: `{{` prints a `{`\n");
    body_says("println(\"a } b\");", "5:9: error: a `}` without its `{`\nnote: `}}` prints a `}`\n");
    body_says("println(\"a { b\");", "5:9: error: a `{` without its `}`\nnote: `{{` prints a `{`\n");
    body_says("println(1, 2);", "5:9: error: several values need a text to stand in\nnote: for instance `println(\"{} {}\", a, b)`\n");
    body_says("println(P::new());", "5:9: error: `P` cannot be printed\nnote: numbers, bools, characters, strings and tensors can\n");
    body_says("assert(1);", "5:8: error: expected `bool`, found `i64`\nnote: compare with 0: `x != 0`\n");
    body_says("assert(true, 1);", "5:14: error: expected `String`, found `i64`\n");
    body_says("panic(1);", "5:7: error: expected `String`, found `i64`\n");
}

static void items(void **state) {
    (void)state;
    front_expect("fn f() {}\nfn f() {}\nfn main() {}\n",
                 "t.tl:2:4: error: `f` is declared twice\nfn f() {}\n   ^\nt.tl:1:4: note: the first one is here\nfn f() {}\n   ^\n");
    front_expect("struct P { x: f32, x: f32 }\nfn main() {}\n",
                 "t.tl:1:20: error: field `x` is declared twice\nstruct P { x: f32, x: f32 }\n                   ^\n"
                 "t.tl:1:12: note: the first one is here\nstruct P { x: f32, x: f32 }\n           ^\n");
    front_expect("struct A { b: B }\nstruct B { a: (i64, A) }\nfn main() {}\n",
                 "t.tl:2:12: error: struct `A` contains itself\nstruct B { a: (i64, A) }\n           ^\nnote: a `Vec` of it can be a field\n");
    front_expect("struct A { b: Vec<A> }\nfn main() {}\n", "");
    front_expect("struct Tensor {}\nfn main() {}\n", "t.tl:1:8: error: `Tensor` is a type of the language\nstruct Tensor {}\n       ^~~~~~\n");
    front_expect("impl Q { fn f(self) {} }\nfn main() {}\n", "t.tl:1:6: error: there is no struct `Q`\nimpl Q { fn f(self) {} }\n     ^\n");
    front_expect("fn f(a: i64, a: f32) {}\nfn main() {}\n",
                 "t.tl:1:14: error: `a` is declared twice\nfn f(a: i64, a: f32) {}\n             ^\n"
                 "t.tl:1:6: note: the first one is here\nfn f(a: i64, a: f32) {}\n     ^\n");
    front_expect("const A: i64 = B + 1;\nconst B: i64 = A;\nfn main() {}\n", "t.tl:2:16: error: constant `A` needs itself\nconst B: i64 = A;\n               ^\n");
    front_expect("fn f() -> i64 { 1 }\nconst A: i64 = f();\nfn main() {}\n",
                 "t.tl:2:16: error: a constant is made of literals, operators and other constants\nconst A: i64 = f();\n               ^~~\n");
    front_expect("const A: i64 = 1;\nfn main() { A = 2; }\n", "t.tl:2:13: error: `A` is a constant\nfn main() { A = 2; }\n            ^\n"
                                                            "t.tl:1:7: note: it is declared here\nconst A: i64 = 1;\n      ^\n");
    front_expect("fn f() {}\n", "t.tl:1:1: error: there is no function `main`\nfn f() {}\n^\nnote: a program starts at `fn main() { \xE2\x80\xA6 }`\n");
    front_expect("", "t.tl:1:1: error: there is no function `main`\n\n^\nnote: a program starts at `fn main() { \xE2\x80\xA6 }`\n");
    front_expect("fn main(x: i64) {}\n", "t.tl:1:9: error: `main` takes no parameters\nfn main(x: i64) {}\n        ^\n"
                                        "note: `args_get(i)` reads the program's arguments\n");
    front_expect("fn main() -> i64 { 1 }\n", "t.tl:1:14: error: `main` returns nothing\nfn main() -> i64 { 1 }\n             ^~~\n");
}

static void missing_results(void **state) {
    (void)state;
    front_expect("fn f() -> i64 {\n    let x = 1;\n    x + 1;\n}\nfn main() {}\n",
                 "t.tl:4:1: error: `f` ends without a value of type `i64`\n}\n^\n"
                 "t.tl:3:5: note: without its semicolon this is the result\n    x + 1;\n    ^~~~~~\n");
    front_expect("fn f(c: bool) -> i64 { if c { return 1; } }\nfn main() {}\n",
                 "t.tl:1:43: error: `f` ends without a value of type `i64`\nfn f(c: bool) -> i64 { if c { return 1; } }\n"
                 "                                          ^\n"
                 "t.tl:1:18: note: the result's type is given here\nfn f(c: bool) -> i64 { if c { return 1; } }\n                 ^~~\n");
    front_expect("fn f(c: bool) -> i64 { if c { return 1 } else { return 2 } }\nfn g() -> i64 { loop { } }\nfn h() -> i64 { panic(\"no\") }\n"
                 "fn i() -> i64 { while true { return 1; } }\nfn main() {}\n",
                 "");
    front_expect("fn f() -> i64 { return; }\nfn main() {}\n",
                 "t.tl:1:17: error: `return` needs a value of type `i64`\nfn f() -> i64 { return; }\n                ^~~~~~\n"
                 "t.tl:1:4: note: `f` is declared here\nfn f() -> i64 { return; }\n   ^\n");
}

/* Several mistakes in one file: each said once, in order, and nothing that only follows from them. */
static void several_mistakes(void **state) {
    (void)state;
    front_expect("enum Color { Red }\n"
                 "struct P {\n\tx: f32,\n}\n"
                 "fn f(c: Color) -> f32 {\n"
                 "\tlet p = P { x: 1.0, z: 2 };\n"
                 "\tlet a = missing + 1;\n"
                 "\tlet b = a * 2 + other(a);\n"
                 "\tp.x = a;\n"
                 "\tp.y\n"
                 "}\n"
                 "fn main() {\n"
                 "\tlet \xC3\xA9 = Color::Red; \xC3\xA9 +;\n"
                 "\tprintln(\"{}\", f(1, 2));\n"
                 "}\n",
                 "t.tl:1:1: error: masu does not accept enums\nenum Color { Red }\n^~~~~~~~~~\n"
                 "t.tl:6:22: error: struct `P` has no field `z`\n\tlet p = P { x: 1.0, z: 2 };\n\t                    ^\n"
                 "t.tl:7:10: error: there is no variable `missing`\n\tlet a = missing + 1;\n\t        ^~~~~~~\n"
                 "t.tl:8:18: error: there is no function `other`\n\tlet b = a * 2 + other(a);\n\t                ^~~~~\n"
                 "t.tl:9:2: error: `p` is not mutable\n\tp.x = a;\n\t^~~\nt.tl:6:6: note: make it mutable: `let mut p`\n\tlet p = P { x: 1.0, z: 2 };\n\t    ^\n"
                 "t.tl:10:4: error: struct `P` has no field `y`\n\tp.y\n\t  ^\n"
                 "t.tl:13:25: error: expected an expression, found `;`\n\tlet \xC3\xA9 = Color::Red; \xC3\xA9 +;\n\t                       ^\n"
                 "t.tl:14:16: error: `f` takes 1 argument, 2 given\n\tprintln(\"{}\", f(1, 2));\n\t              ^\n"
                 "t.tl:5:4: note: it is declared here\nfn f(c: Color) -> f32 {\n   ^\n");
}

/* ---- limits and hostile inputs -------------------------------------------------------------------------------------------------- */

static void types_are_bounded(void **state) {
    (void)state;
    masu__buffer program = {0};
    masu__buffer_puts(&program, "fn main() { let t0 = (1, 2);\n");
    for (int i = 1; i < 64; i++) {
        masu__buffer_printf(&program, "let t%d = (t%d, t%d);\n", i, i - 1, i - 1);
    }
    masu__buffer_puts(&program, "}\nstruct S0 { x: i64 }\n");
    for (int i = 1; i < 64; i++) {
        masu__buffer_printf(&program, "struct S%d { a: S%d, b: (S%d, S%d) }\n", i, i - 1, i - 1, i - 1);
    }
    front f;
    front_check(&f, masu__buffer_text(&program), program.length);
    assert_int_equal(f.status, MASU_OK);
    assert_non_null(strstr(front_rendered(&f), "error: a type of more than 4096 parts"));
    assert_non_null(strstr(front_rendered(&f), "has more than 4096 parts"));
    front_end(&f);
    masu__buffer_destroy(&program);
}

static void time_is_linear(void **state) {
    (void)state;
    /* Would take minutes with a quadratic step in it. */
    masu__buffer program = {0};
    masu__buffer_puts(&program, "struct P { x: i64 }\nimpl P { ");
    for (int i = 0; i < 5000; i++) {
        masu__buffer_printf(&program, "fn m%d(self) { self.m%d(); }\n", i, i + 1);
    }
    masu__buffer_puts(&program, "fn m5000(self) { self.x = 1; } }\nfn main() { let mut p = P(1); p.m0(); let t = [0.0];\n");
    for (int i = 0; i < 20000; i++) {
        masu__buffer_printf(&program, "let v%d = %d + t[0]; println(v%d);\n", i, i, i);
    }
    masu__buffer_puts(&program, "let y = [i | i <- 0..1 { 0.0");
    for (int i = 0; i < 900; i++) {
        masu__buffer_printf(&program, " + v%d", i);
    }
    masu__buffer_puts(&program, "}]; }");
    front f;
    front_good(&f, masu__buffer_text(&program));
    assert_true(function_named(&f, "P::m0")->writes_self);
    front_end(&f);
    masu__buffer_destroy(&program);
}

static void every_failing_allocation(void **state) {
    (void)state;
    size_t length;
    char *text = front_read(front_programs[0], &length);
    bool finished = false;
    uint64_t before = masu__meta_live_blocks();
    for (uint64_t nth = 1; !finished && nth < 1000; nth++) {
        front f;
        masu__fault_arm(nth);
        front_check(&f, text, length);
        finished = !masu__fault_fired();
        masu__fault_arm(0);
        if (finished) {
            assert_int_equal(f.status, MASU_OK);
            assert_int_equal(f.diagnostics.error_count, 0);
        } else {
            assert_int_equal(f.status, MASU_ERR_OUT_OF_MEMORY);
        }
        front_end(&f);
        assert_int_equal(masu__meta_live_blocks(), before);
    }
    assert_true(finished);
    free(text);
}

/* Drops, doubles, exchanges and replaces tokens of real programs. Whatever passes must also please the judge. */
static void mutated_programs(void **state) {
    (void)state;
    uint64_t seed = 0xBADC0DE;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 1500; round++) {
        size_t length;
        char *text = front_read(front_programs[round % FRONT_PROGRAMS], &length);
        front f;
        token_list list;
        front_begin(&f, text, length);
        assert_int_equal(lex_source(&f.file, &f.arena, &f.diagnostics, &list), MASU_OK);
        masu__buffer mutated = {0};
        uint64_t changes = 1 + front_random(&seed) % 4, at[4], how[4];
        for (uint64_t i = 0; i < changes; i++) {
            at[i] = front_random(&seed) % list.count;
            how[i] = front_random(&seed) % 4;
        }
        for (uint32_t i = 0; i + 1 < list.count; i++) {
            uint32_t copies = 1, from = i;
            for (uint64_t k = 0; k < changes; k++) {
                if (at[k] == i) {
                    copies = how[k] == 0 ? 0 : how[k] == 1 ? 2 : 1;
                    from = how[k] >= 2 ? (uint32_t)(front_random(&seed) % (list.count - 1)) : i;
                }
            }
            for (; copies > 0; copies--) {
                masu__buffer_append(&mutated, text + list.tokens[from].offset, list.tokens[from].length);
                masu__buffer_putc(&mutated, ' ');
            }
        }
        front_end(&f);
        front_check(&f, masu__buffer_text(&mutated), mutated.length);
        assert_int_equal(f.status, MASU_OK);
        front_rendered(&f);
        if (f.diagnostics.error_count == 0) {
            masu__buffer faults = {0};
            check_tree_valid(f.tree, &faults);
            if (faults.length > 0) {
                print_message("%s\n", masu__buffer_text(&mutated));
            }
            assert_string_equal(masu__buffer_text(&faults), "");
            masu__buffer_destroy(&faults);
        }
        front_end(&f);
        masu__buffer_destroy(&mutated);
        free(text);
    }
}

static void mutated_bytes(void **state) {
    (void)state;
    uint64_t seed = 0x5EED;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 1000; round++) {
        size_t length;
        char *text = front_read(front_programs[round % FRONT_PROGRAMS], &length);
        for (uint64_t changes = 1 + front_random(&seed) % 8; changes > 0; changes--) {
            text[front_random(&seed) % length] = (char)front_random(&seed);
        }
        front f;
        front_check(&f, text, front_random(&seed) % (length + 1));
        assert_int_equal(f.status, MASU_OK);
        front_rendered(&f);
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
        cmocka_unit_test(names),
        cmocka_unit_test(types),
        cmocka_unit_test(tensors),
        cmocka_unit_test(mutability),
        cmocka_unit_test(control),
        cmocka_unit_test(print_and_assert),
        cmocka_unit_test(items),
        cmocka_unit_test(missing_results),
        cmocka_unit_test(several_mistakes),
        cmocka_unit_test(types_are_bounded),
        cmocka_unit_test(time_is_linear),
        cmocka_unit_test(every_failing_allocation),
        cmocka_unit_test(mutated_programs),
        cmocka_unit_test(mutated_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
