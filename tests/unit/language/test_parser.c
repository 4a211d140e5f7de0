/* test_parser.c: the tree of every construct, messages and recovery, and any bytes at all.
 *
 * Trees are compared as text: (+ a (* b c)).
 */
#include "language/library/library.h"
#include "language/syntax/quote.h"
#include "unit/language/front_tree_text.h"

/* ---- what the tests say ------------------------------------------------------------------------------------------ */

/* The body of `fn f() { … }`. */
static void body_is(const char *body, const char *expected) {
    masu__buffer program = {0}, shown = {0};
    masu__buffer_printf(&program, "fn f() { %s }", body);
    front f;
    front_parse(&f, masu__buffer_text(&program), program.length);
    assert_int_equal(f.status, MASU_OK);
    assert_string_equal(front_rendered(&f), "");
    assert_int_equal(f.tree->function_count, 1);
    show_block(f.tree->functions[0]->body, &shown);
    assert_string_equal(masu__buffer_text(&shown), expected);
    masu__buffer_destroy(&program);
    masu__buffer_destroy(&shown);
    front_end(&f);
}

/* Messages of the parser alone. */
static void says(const char *program, const char *expected) {
    front f;
    front_parse(&f, program, strlen(program));
    assert_int_equal(f.status, MASU_OK);
    assert_string_equal(front_rendered(&f), expected);
    front_end(&f);
}

static void precedence(void **state) {
    (void)state;
    body_is("a + b * c", "{(+ a (* b c))}");
    body_is("a * b + c", "{(+ (* a b) c)}");
    body_is("a - b - c", "{(- (- a b) c)}");
    body_is("a || b && c == d | e ^ f & g << h + i * -j as i64",
            "{(|| a (&& b (== c (| d (^ e (& f (<< g (+ h (* i (as (neg j) i64))))))))))}");
    body_is("-x.abs()", "{(neg (.abs x))}");
    body_is("!a && b", "{(&& (! a) b)}");
    body_is("(a + b) * c", "{(* (+ a b) c)}");
    body_is("x = y = a..b + 1", "{(= x (= y (.. a (+ b 1))))}");
    body_is("a.b.c(d)[e, f].0.g", "{(at (.c a.b d) e f).0.g}");
    body_is("&mut a + *b + &&c", "{(+ (+ (& a) b) (& (& c)))}");
    body_is("1 as f32 as f64 * 2", "{(* (as (as 1 f32) f64) 2)}");
}

static void literals_and_names(void **state) {
    (void)state;
    body_is("f(1, 2.5, true, 'x', \"s\");", "{(call f 1 2.5 true 'x' \"s\");}");
    body_is("Tensor::zeros([2, 3])", "{(call Tensor::zeros (array 2 3))}");
    body_is("std::f32::consts::PI", "{std::f32::consts::PI}");
    body_is("Vec::<f32>::new()", "{(call Vec::new<f32>)}");
    body_is("Vec<Tensor<f32, 2>>::new()", "{(call Vec::new<Tensor<f32,2>>)}");
    body_is("a < b", "{(< a b)}");
    body_is("println!(\"{}\", self.x)", "{(call println \"{}\" self.x)}");
    body_is("()", "{(tuple)}");
    body_is("(a,)", "{(tuple a)}");
    body_is("(a, b,)", "{(tuple a b)}");
    body_is("[]", "{(array)}");
    body_is("[[1.0, 2.0], [3.0, 4.0],]", "{(array (array 1 2) (array 3 4))}");
}

static void struct_literals(void **state) {
    (void)state;
    body_is("P { x: 1, y }", "{(P x:1 y:y)}");
    body_is("P {}", "{(P)}");
    body_is("if a == P { x }", "{(if (== a P) {x})}");
    body_is("if (P { x: 1 }).ok() { y }", "{(if (.ok (P x:1)) {y})}");
    body_is("while x { P { y: 1 }; }", "{(while x {(P y:1);})}");
}

static void comprehensions(void **state) {
    (void)state;
    body_is("[i | i <- 0..n { i * 2 }]", "{(for i | i<-0..n {(* i 2)})}");
    body_is("[k | k <- 0..(2 * N - 1), r <- 0..N, r + 1 == k { p[r, k] }]",
            "{(for k | k<-0..(- (* 2 N) 1) r<-0..N ?(== (+ r 1) k) {(at p r k)})}");
    body_is("[i, j | i <- 0..=n, j <- a..b, i != j, i < 5 { if i > j { 1.0 } else { 0.0 } }].sum()",
            "{(.sum (for i j | i<-0..=n j<-a..b ?(!= i j) ?(< i 5) {(if (> i j) {1} {0})}))}");
    body_is("[i | { a[i] }]", "{(for i | {(at a i)})}");
    body_is("[i | i <- 0..5]", "{(for i | i<-0..5 i)}");
    body_is("[a | b]", "{(array (| a b))}");
    body_is("[a | b, c]", "{(array (| a b) c)}");
    body_is("let C[i, k] = A[i, j] * B[j, k];", "{let C=(einstein i k | (* (at A i j) (at B j k)));}");
}

static void statements(void **state) {
    (void)state;
    body_is("let x = 1; let mut y: f32 = 2; let (a, (_, mut c)) = t; x",
            "{let x=1;let mut y:f32=2;let (a,(_,mut c))=t;x}");
    body_is("x += 1; x -= 1; x *= 1; x /= 1; x %= 1; x &= 1; x |= 1; x ^= 1; x <<= 1; x >>= 1;",
            "{(+= x 1);(-= x 1);(*= x 1);(/= x 1);(%= x 1);(&= x 1);(|= x 1);(^= x 1);(<<= x 1);(>>= x 1);}");
    body_is("t[i, j] = v; p.x.y = 1; t.0 = 2", "{(= (at t i j) v);(= p.x.y 1);(= t.0 2)}");
    body_is("if a { b } else if c { d } else { e }", "{(if a {b} (if c {d} {e}))}");
    body_is("if a { b } -c", "{(if a {b});(neg c)}");
    body_is("if a { b }.f() + c", "{(+ (.f (if a {b})) c)}");
    body_is("{ let y = 1; y }; ;;", "{{let y=1;y};}");
    body_is("for i in 0..n { } for (a, b) in v { continue; } for x in range(0, n) { break }",
            "{(for i (.. 0 n) {});(for (a,b) v {(continue);});(for x (call range 0 n) {(break)})}");
    body_is("'out: loop { while true { break 'out 3; continue 'out } }",
            "{('out:loop {(while true {(break 'out 3);(continue 'out)})})}");
    body_is("return; return x + 1", "{(return);(return (+ x 1))}");
    body_is("match x { 1 => a, 2 | 3 => { b } -4..=5 => c, (y, _) if y > 1 => d, 'c'..'d' => e, true => f, _ => g }",
            "{(match x 1=>a 2|3=>{b} (neg 4)..=5=>c (y,_)?(> y 1)=>d 'c'..'d'=>e true=>f _=>g)}");
    body_is("x\n.y()\n.z", "{(.y x).z}");
}

static void items(void **state) {
    (void)state;
    const char *program =
        "pub struct P { pub x: f32, y: Vec<Tensor<f32, 2>>, }\n"
        "struct E; struct Q(i64, (f32, bool));\n"
        "#[derive(Clone)] impl P { pub fn new(x: f32) -> Self { x } fn m(&mut "
        "self, mut y: &Tensor) -> () {} fn n(self) {} }\n"
        "const N: i64 = 3;\n"
        "fn main() { fn inner() {} }";
    front f;
    front_parse(&f, program, strlen(program));
    assert_string_equal(front_rendered(&f), "");
    assert_int_equal(f.tree->struct_count, 3);
    assert_int_equal(f.tree->structs[0]->field_count, 2);
    assert_int_equal(f.tree->structs[1]->field_count, 0);
    assert_true(f.tree->structs[2]->positional);
    assert_string_equal(f.tree->structs[2]->fields[1].name, "1");
    assert_int_equal(f.tree->constant_count, 1);
    assert_int_equal(f.tree->function_count, 5);
    const function_item *method = f.tree->functions[1];
    assert_string_equal(method->qualified, "P::m");
    assert_true(method->has_self);
    assert_int_equal(method->parameter_count, 2);
    assert_true(method->parameters[0]->is_mutable);
    assert_true(method->parameters[1]->is_mutable);
    assert_false(f.tree->functions[0]->has_self);
    assert_false(f.tree->functions[2]->parameters[0]->is_mutable);
    assert_string_equal(f.tree->functions[3]->name, "inner"); /* an item belongs to the file wherever it stands */
    assert_string_equal(f.tree->functions[4]->name, "main");
    front_end(&f);
}

static void messages(void **state) {
    (void)state;
    says("fn f() { let x = ; }",
         "t.tl:1:18: error: expected an expression, found `;`\nfn f() { let x = ; }\n                 ^\n");
    says("fn f() { let x = 1\n  let y = 2; }",
         "t.tl:1:19: warning: the line ends without `;`\nfn f() { let x = 1\n                  ^\n");
    says("fn f() { let x = 1 let y = 2; }",
         "t.tl:1:20: error: expected `;`, found `let`\nfn f() { let x = 1 let y = 2; }\n                   ^~~\n");
    says("fn f() { match x { 1 => 2\n  _ => 3 } }",
         "t.tl:1:26: warning: the line ends without `,`\nfn f() { match x { 1 => 2\n                         ^\n");
    says("fn f() { g(1, 2; }", "t.tl:1:16: error: expected `)`, found `;`\nfn f() { g(1, 2; }\n               ^\n");
    says("fn f() { a < b < c }",
         "t.tl:1:16: error: comparisons cannot be chained\nfn f() { a < b < c }\n               ^\n"
         "note: write `a < b && b < c`\n");
    says("fn f() { let 1..=2; }",
         "t.tl:1:14: error: this pattern needs a value: `let \xE2\x80\xA6 = "
         "\xE2\x80\xA6;`\nfn f() { let 1..=2; }\n             ^~~~~\n");
    says("fn f(x) {}", "t.tl:1:6: error: parameter `x` needs a type: `x: T`\nfn f(x) {}\n     ^\n");
    says("fn f(self) {}", "t.tl:1:6: error: `self` belongs into an `impl` block\nfn f(self) {}\n     ^~~~\n");
    says("fn f() {", "t.tl:1:8: error: this `{` is never closed\nfn f() {\n       ^\n");
    says("fn f() { if a { b }", "t.tl:1:8: error: this `{` is never closed\nfn f() { if a { b }\n       ^\n");
    says("fn f() {} }", "t.tl:1:11: error: this `}` closes nothing\nfn f() {} }\n          ^\n");
    says("let (x, y) = 1;\nfn main() {}",
         "t.tl:1:1: error: statements belong inside functions\nlet (x, y) = 1;\n^~~\n"
         "note: a program starts at `fn main() { \xE2\x80\xA6 }`\n");
    says("fn f() { x[] }", "t.tl:1:11: error: an index is missing\nfn f() { x[] }\n          ^~\n");
}

static void constructs_that_are_not_accepted(void **state) {
    (void)state;
    static const struct {
        const char *program, *message;
    } cases[] = {
        {"async fn f() {}", ":1:7: error: masu does not accept asynchronous functions\n"},
        {"async fn f() {}\nfn g() { f().await; f().await }",
         ":1:7: error: masu does not accept asynchronous functions\n"},
        {"parent(a, b).\nfn f() {}", ":1:1: error: masu does not accept logic programs: facts, rules and queries\n"},
        {"parent(a, b).\nparent(b, c).\npath(x, y) :- parent(x, y).\nrule r(x) :- q(x);\nfn f() "
         "{ let a = ?path(x, y); }",
         ":1:1: error: masu does not accept logic programs: facts, rules and queries\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        front f;
        front_parse(&f, cases[i].program, strlen(cases[i].program));
        const char *rendered = front_rendered(&f);
        assert_int_equal(f.diagnostics.error_count, 1);
        assert_memory_equal(rendered, "t.tl", 4);
        masu__buffer start = {0};
        masu__buffer_append(&start, rendered + 4, strlen(cases[i].message));
        assert_string_equal(masu__buffer_text(&start), cases[i].message);
        masu__buffer_destroy(&start);
        front_end(&f);
    }
}

/* One message for each mistake, none that only follows from another. */
static void recovery(void **state) {
    (void)state;
    says(
        "fn a() { let = 1; let x = (2 + ; let y = 3; }\n"
        "fn b(x: i64, y) -> { g(1,, 2); }\n"
        "struct P { x: , y: f32 }\n"
        "impl P { fn m(self) { self. ; } fn n(self) { self.x = } }\n"
        "fn c() { let p = P { x: , y: 2 }; match x { 1 => , 2 => 3 } }\n",
        "t.tl:1:14: error: expected a pattern, found `=`\n"
        "fn a() { let = 1; let x = (2 + ; let y = 3; }\n"
        "             ^\n"
        "t.tl:1:32: error: expected an expression, found `;`\n"
        "fn a() { let = 1; let x = (2 + ; let y = 3; }\n"
        "                               ^\n"
        "t.tl:2:14: error: parameter `y` needs a type: `y: T`\n"
        "fn b(x: i64, y) -> { g(1,, 2); }\n"
        "             ^\n"
        "t.tl:2:20: error: expected a type, found `{`\n"
        "fn b(x: i64, y) -> { g(1,, 2); }\n"
        "                   ^\n"
        "t.tl:2:26: error: expected an expression, found `,`\n"
        "fn b(x: i64, y) -> { g(1,, 2); }\n"
        "                         ^\n"
        "t.tl:3:15: error: expected a type, found `,`\n"
        "struct P { x: , y: f32 }\n"
        "              ^\n"
        "t.tl:4:29: error: expected a name, found `;`\n"
        "impl P { fn m(self) { self. ; } fn n(self) { self.x = } }\n"
        "                            ^\n"
        "t.tl:4:55: error: expected an expression, found `}`\n"
        "impl P { fn m(self) { self. ; } fn n(self) { self.x = } }\n"
        "                                                      ^\n"
        "t.tl:5:25: error: expected an expression, found `,`\n"
        "fn c() { let p = P { x: , y: 2 }; match x { 1 => , 2 => 3 } }\n"
        "                        ^\n"
        "t.tl:5:50: error: expected an expression, found `,`\n"
        "fn c() { let p = P { x: , y: 2 }; match x { 1 => , 2 => 3 } }\n"
        "                                                 ^\n");
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static void repeat(masu__buffer *out, const char *text, int count) {
    for (int i = 0; i < count; i++)
        masu__buffer_puts(out, text);
}

static void nested_program_says(const char *open, const char *middle, const char *close, int count,
                                const char *message) {
    masu__buffer program = {0};
    masu__buffer_puts(&program, "fn f() { ");
    repeat(&program, open, count);
    masu__buffer_puts(&program, middle);
    repeat(&program, close, count);
    masu__buffer_puts(&program, " }");
    front f;
    front_check(&f, masu__buffer_text(&program), program.length); /* the checker recurses as deep as the tree is */
    assert_int_equal(f.status, MASU_OK);
    front_end(&f);
    front_parse(&f, masu__buffer_text(&program), program.length);
    const char *rendered = front_rendered(&f);
    if (message == NULL) {
        assert_null(strstr(rendered, "levels"));
    } else {
        assert_int_equal(f.diagnostics.error_count, 1);
        assert_non_null(strstr(rendered, message));
    }
    front_end(&f);
    masu__buffer_destroy(&program);
}

static void nesting_is_bounded(void **state) {
    (void)state;
    const char *deep = "this is nested more than 256 levels deep";
    nested_program_says("(", "1", ")", 100, NULL);
    nested_program_says("(", "1", ")", 100000, deep);
    nested_program_says("[", "1", "]", 100000, deep);
    nested_program_says("{", "", "}", 100000, deep);
    nested_program_says("-", "1", "", 100000, deep);
    nested_program_says("if x {", "", "}", 100000, deep);
    nested_program_says("if x {} else ", "{}", "", 100000, deep);
    nested_program_says("x = ", "1", "", 100000, deep);
    masu__buffer types = {0}, patterns = {0};
    masu__buffer_puts(&types, "let x: ");
    repeat(&types, "Vec<", 100000);
    nested_program_says(masu__buffer_text(&types), "i64", "", 1, deep);
    masu__buffer_puts(&patterns, "let ");
    repeat(&patterns, "(", 100000);
    nested_program_says(masu__buffer_text(&patterns), "x", "", 1, deep);
    masu__buffer_destroy(&types);
    masu__buffer_destroy(&patterns);
    nested_program_says("match x { _ => ", "1", "}", 100000, deep);
    nested_program_says("return ", "1", "", 100000, deep);
    nested_program_says("&", "1", "", 100000, deep);
    nested_program_says("loop {", "", "}", 100000, deep);
    const char *high = "this expression is more than 4000 levels high";
    nested_program_says("1 + ", "1", "", 3900, NULL);
    nested_program_says("1 + ", "1", "", 100000, high);
    nested_program_says("x", ".y()", "", 1, NULL);
    nested_program_says("1", " as i64 as i64", "", 1, NULL);
    masu__buffer chain = {0};
    repeat(&chain, ".f", 100000);
    nested_program_says("x", masu__buffer_text(&chain), "", 1, high);
    masu__buffer_destroy(&chain);
}

static void many_errors_are_counted_not_shown(void **state) {
    (void)state;
    masu__buffer program = {0};
    masu__buffer_puts(&program, "fn f() {\n");
    repeat(&program, "let = 1;\n", 1000);
    masu__buffer_puts(&program, "}");
    front f;
    front_parse(&f, masu__buffer_text(&program), program.length);
    const char *rendered = front_rendered(&f);
    assert_int_equal(f.diagnostics.error_count, 1000);
    assert_int_equal(f.diagnostics.count, DIAGNOSTICS_LIMIT);
    assert_non_null(strstr(rendered, "note: 800 more messages are not shown\n"));
    front_end(&f);
    masu__buffer_destroy(&program);
}

/* ---- any bytes --------------------------------------------------------------------------------------------------- */

static void random_tokens(void **state) {
    (void)state;
    uint64_t seed = 0xC0FFEE;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 3000; round++) {
        masu__buffer program = {0};
        uint64_t count = front_random(&seed) % 60;
        for (uint64_t i = 0; i < count; i++) {
            static const char *const words[] = {"x", "P", "1", "2.5", "\"s\"", "'c'", "'a", "Self", "Tensor", "\n"};
            uint64_t pick = front_random(&seed) % (TOKEN_KIND_COUNT + 10);
            const char *text = pick < TOKEN_KIND_COUNT ? token_text((token_kind)pick) : words[pick - TOKEN_KIND_COUNT];
            bool quoted = text[0] == '`';
            masu__buffer_append(&program, text + quoted, strlen(text) - 2 * quoted);
            masu__buffer_putc(&program, ' ');
        }
        front f;
        front_check(&f, masu__buffer_text(&program), program.length);
        assert_int_equal(f.status, MASU_OK);
        front_rendered(&f);
        front_end(&f);
        masu__buffer_destroy(&program);
    }
}

/* Of the language's own functions only the heads are read until somebody asks for a body; each can be asked for, and is
 * the whole of its braces. */
static void bodies_of_the_prelude(void **state) {
    (void)state;
    masu__buffer text = {0};
    front f;
    source_file prelude;
    front_begin(&f, "", 0);
    assert_int_equal(library_load(&f.file, LIBRARY_WHOLE, &text), MASU_OK);
    assert_int_equal(source_file_init(&prelude, &f.arena, "prelude", masu__buffer_text(&text), text.length), MASU_OK);
    assert_int_equal(parse_source(&f.file, &prelude, &f.arena, &f.diagnostics, NULL, &f.tree), MASU_OK);
    assert_true(f.tree->function_count > 500);
    for (uint32_t i = 0; i < f.tree->function_count; i++) {
        function_item *function = f.tree->functions[i];
        source_span unread = function->unread;
        assert_null(function->body);
        assert_int_equal(prelude.text[unread.offset], '{');
        assert_int_equal(prelude.text[unread.offset + unread.length - 1], '}');
        assert_int_equal(parse_unread(f.tree, function, &f.diagnostics), MASU_OK);
        assert_int_equal(function->body->span.offset, unread.offset);
        assert_int_equal(function->body->span.length, unread.length);
        assert_int_equal(function->unread.length, 0);
    }
    assert_string_equal(front_rendered(&f), "");
    front_end(&f);
    masu__buffer_destroy(&text);
}

/* ---- quotes -------------------------------------------------------------------------------------- */

static void quote_is(front *f, const char *text, uint32_t number, const char *expected) {
    const block *body = f->tree->functions[0]->body;
    expr *parts[] = {body->first->value, body->result};
    masu__buffer shown = {0};
    expr *e = quote_write(f->tree, text, body->span, number, parts, 2);
    assert_non_null(e);
    assert_int_equal(e->span.offset, body->span.offset);
    show(e, &shown);
    assert_string_equal(masu__buffer_text(&shown), expected);
    masu__buffer_destroy(&shown);
}

/* Its own names are other ones at each use, its parts lie in the holes: the first time themselves. */
static void quotes(void **state) {
    (void)state;
    static const char program[] = "fn f() { a.b(); m }", pair[] = "{ let mut $x = $0; $x.$1($$all, $0); $x }",
                      twice[] = "$0 + $0";
    front f;
    front_parse(&f, program, sizeof program - 1);
    quote_is(&f, pair, 3, "{let mut <x 3>=(.b a);(.m <x 3> <all> (.b a));<x 3>}");
    quote_is(&f, pair, 4, "{let mut <x 4>=(.b a);(.m <x 4> <all> (.b a));<x 4>}");
    expr *part = f.tree->functions[0]->body->first->value;
    const expr *sum = quote_write(f.tree, twice, part->span, 5, &part, 1);
    assert_ptr_equal(sum->binary.left, part);
    assert_ptr_not_equal(sum->binary.right, part);
    assert_int_equal(sum->binary.right->kind, EXPR_METHOD);
    front_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_of_the_prelude),
        cmocka_unit_test(precedence),
        cmocka_unit_test(literals_and_names),
        cmocka_unit_test(struct_literals),
        cmocka_unit_test(comprehensions),
        cmocka_unit_test(statements),
        cmocka_unit_test(items),
        cmocka_unit_test(messages),
        cmocka_unit_test(constructs_that_are_not_accepted),
        cmocka_unit_test(recovery),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(many_errors_are_counted_not_shown),
        cmocka_unit_test(random_tokens),
        cmocka_unit_test(quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
