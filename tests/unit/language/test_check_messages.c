/* test_check_messages.c: the exact words for programs that are wrong. */
#include "unit/language/front_testing.h"

/* The body of main; messages without the lines that show the source. */
static void body_says(const char *body, const char *expected) {
    masu__buffer program = {0}, heads = {0};
    masu__buffer_printf(&program,
                        "struct P { x: f32, y: i64 }\nimpl P { fn new() -> P { P(1.0, 2) } fn "
                        "step(self) { self.x = 2.0; } fn look(self) -> f32 { self.x } }\n"
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
    body_says("let count = 1; println(cuont);",
              "5:24: error: there is no variable `cuont`\nnote: did you mean `count`?\n");
    body_says("half2(1.0);", "5:1: error: there is no function `half2`\nnote: did you mean `half`?\n");
    body_says("let t = [1.0]; t.softmix(0);",
              "5:18: error: `Tensor<f32, 1>` has no method `softmix`\nnote: did you mean `softmax`?\n");
    body_says("Tensor::zeroes([1]);",
              "5:1: error: there is no function `Tensor::zeroes`\nnote: did you mean `Tensor::zeros`?\n");
    body_says("let p = P::new(); p.z;", "5:21: error: struct `P` has no field `z`\n");
    body_says("let p = P::new(); p.lok();", "5:21: error: `P` has no method `lok`\nnote: did you mean `look`?\n");
    body_says("let p = P::new(); p.look;",
              "5:21: error: `look` is a method of `P`, not a field\nnote: call it: `look(\xE2\x80\xA6)`\n");
    body_says("let p = P::new(); p.x();", "5:21: error: `P` has no method `x`\n1:12: note: `x` is a field\n");
    body_says("let p = P::new(); p.new();",
              "5:21: error: `P::new` takes no `self`\nnote: call it as `P::new(\xE2\x80\xA6)`\n");
    body_says("P::nwe();", "5:1: error: there is no function `P::nwe`\nnote: did you mean `P::new`?\n");
    body_says("let a: [i64; -1] = [1];", "5:8: error: an array has no negative length\n");
    body_says("let x: f33 = 1;", "5:8: error: there is no type `f33`\nnote: did you mean `f32`?\n");
    body_says("Q { x: 1 };", "5:1: error: there is no struct `Q`\n");
    body_says("self.x;",
              "5:1: error: there is no `self` here\nnote: a method takes it as its "
              "first parameter: `fn m(self, \xE2\x80\xA6)`\n");
    body_says("let f = half; f(1.0);", "");
    body_says("let f = half; f + 1;", "5:15: error: `+` cannot be applied to `a closure` and `i64`\n");
    body_says("let x = 1; x(2);", "5:12: error: `i64` cannot be called\n");
    body_says("Env::get(\"x\"); Env::set(\"x\"); let e: Env = 1;", /* said once */
              "5:1: error: masu does not accept `Env`\n"
              "note: variables of the environment are outside of what it compiles\n");
    body_says("Tensor::ones([2]).save_weights(\"x\"); Tensor::from_gguf(\"y\");",
              "5:19: error: masu does not accept `save_weights`\n"
              "note: files of models are outside of what it compiles\n");
    body_says("{ let y = 1; } y;", "5:16: error: there is no variable `y`\n");
}

static void types(void **state) {
    (void)state;
    body_says("let n: i64 = 2.5;",
              "5:14: error: expected `i64`, found `f32`\nnote: `as i64` "
              "converts it\n5:8: note: the type is given here\n");
    body_says("let n: i32 = 1; let m: i64 = 2; let k: i32 = n + m;",
              "5:46: error: expected `i32`, found `i64`\nnote: `as i32` converts it\n5:40: note: "
              "the type is given here\n");
    body_says("half(\"s\");",
              "5:6: error: expected `f32`, found `String`\nnote: `s.to_f32()` and "
              "`s.to_i64()` read the number in a text\n3:9: note: the parameter is declared here\n");
    body_says("half(1.0, 2.0);", "5:1: error: `half` takes 1 argument, 2 given\n3:4: note: it is declared here\n");
    body_says("1 + true;", "5:5: error: `+` cannot be applied to `i64` and `bool`\n");
    body_says("true + false;", "5:6: error: `+` cannot be applied to `bool`\n");
    body_says("assert(\"a\" < \"b\");", "");
    body_says("\"a\" - \"b\";", "5:5: error: `-` cannot be applied to `String`\n");
    body_says("-\"a\";", "5:1: error: `-` cannot be applied to `String`\n");
    body_says("-1u8;", "5:1: error: `u8` has no negative numbers\n");
    body_says("!1.5;", "5:1: error: `!` cannot be applied to `f32`\n");
    body_says("1.5 & 2;", "5:5: error: `&` cannot be applied to `f32`\n");
    body_says("let x: i8 = 128; let y: i8 = -128; let z: u8 = 256;",
              "5:13: error: 128 does not fit `i8`\nnote: the largest `i8` is 127\n5:48: error: 256 "
              "does not fit `u8`\nnote: the largest `u8` is 255\n");
    body_says("if 1 { }", "5:4: error: expected `bool`, found `i64`\nnote: compare with 0: `x != 0`\n");
    body_says("let x = if true { 1 } else { \"s\" };",
              "5:28: error: the branches differ: `String` here, `i64` before\n5:19: note: this is `i64`\n");
    body_says("let x: f32 = if true { 1.0 };",
              "5:14: error: expected `f32`, but this has no value\nnote: an `if` without `else` "
              "has no value\n5:8: note: the type is given here\n");
    body_says("let x = println(1);", "5:9: error: this has no value\n");
    body_says("println(\"{}\", println(1));", "5:15: error: this has no value to print\n");
    body_says("\"s\" as i64;", "5:1: error: `String` cannot be converted to `i64`\n");
    body_says("let x: i64 = 4.sqrt();",
              "5:14: error: expected `i64`, found `f32`\nnote: `as i64` converts it\n5:8: note: the "
              "type is given here\n");
    body_says("let (a, b) = 1;", "5:5: error: this pattern has 2 parts, the value is `i64`\n");
    body_says("let (a, a) = (1, 2);", "5:9: error: `a` is bound twice in one pattern\n");
    body_says("let t = (1, 2); t.2;", "5:19: error: `(i64, i64)` has 2 parts, counted from 0\n");
    body_says("let s = \"x\"; s.0;", "5:16: error: `String` is not a tuple\n");
    body_says("let v = Vec::new();",
              "5:9: error: nothing says what this `Vec` holds\nnote: write it out: `let v: Vec<f32> = Vec::new();`\n");
    body_says("let mut v = Vec::new(); v.push(1); v.push(\"s\");",
              "5:43: error: expected `i64`, found `String`\nnote: `s.to_f32()` and `s.to_i64()` "
              "read the number in a text\n");
    body_says("let mut v = Vec::new(); v.push(v);",
              "5:13: error: nothing says what this `Vec` holds\nnote: write it out: `let v: Vec<f32> = Vec::new();`\n"
              "5:32: error: expected `_`, found `Vec<_>`\n");
    body_says("1 + panic(\"x\");", "5:5: error: this never yields a value\n");
}

static void tensors(void **state) {
    (void)state;
    body_says("[[1, 2], [3]];", "5:10: error: this row has 1 element, the first one has 2\n");
    body_says("[[1], 2];", "5:7: error: rows and numbers cannot be side by side\n");
    body_says("[1, \"s\"];", "5:5: error: a tensor cannot hold `String`\nnote: a `Vec` can\n");
    body_says("[1, true];", "5:5: error: a tensor holds either numbers or bools\n");
    body_says("let t = [1.0]; t[0, 1];", "5:16: error: a tensor of rank 1 cannot have 2 indices\n");
    body_says("let t = [1.0]; t[0.5];", "5:18: error: expected `i64`, found `f32`\nnote: `as i64` converts it\n");
    body_says("let x = 1; x[0];", "5:12: error: `i64` cannot be indexed\n");
    body_says("let t: Tensor<f32, 2> = [1.0];",
              "5:25: error: expected `Tensor<f32, 2>`, found `Tensor<f32, 1>`\n5:8: note: the type is given here\n");
    body_says("let t: Tensor<char, 2> = [1];",
              "5:15: error: a tensor cannot hold `char`\nnote: tensors hold numbers or bool\n");
    body_says("let t: Tensor<f32, 9> = 1;", "5:20: error: a tensor has at most 8 dimensions\n");
    body_says("let t = [1.0]; half(t);",
              "5:21: error: expected `f32`, found `Tensor<f32, 1>`\nnote: only a tensor of rank 0 "
              "is a scalar; an element is read with `t[i]`\n"
              "3:9: note: the parameter is declared here\n");
    body_says("let t = [1.0]; t.sum(0, 1);",
              "5:18: error: `sum` takes 0 to 1 arguments, 2 given\n"
              "note: they are `sum(dim)`\n");
    body_says("let t = [1.0]; t.clamp(1);",
              "5:18: error: `clamp` takes 2 arguments, 1 given\nnote: they are `clamp(low, high)`\n");
    body_says("let t = [1.0]; t.softmax(0.5);",
              "5:26: error: expected `i64`, found `f32`\nnote: `as i64` converts it\nnote: "
              "parameter `dim` of `softmax`\n");
    body_says("let t = [1.0]; t - \"s\";", "5:20: error: `-` cannot be applied to `Tensor<f32, 1>` and `String`\n");
    body_says("let t = [1.0]; 2.0 % t;",
              "5:20: error: `%` cannot be applied to `f64` and `Tensor<f32, 1>`\n5:16: note: this "
              "is `f64`\n5:22: note: this is `Tensor<f32, 1>`\n");
    body_says("[i, j | i <- 0..3 { 1 }];", "5:5: error: index `j` has no range\nnote: give it one: `j <- 0..n`\n");
    body_says("[i, i | i <- 0..3 { 1 }];", "5:5: error: index `i` is twice among the outputs\n");
    body_says("[i | i <- 0..3, i <- 0..4 { 1 }];",
              "5:17: error: index `i` has two ranges\n5:6: note: the first one is here\n");
    body_says("[i | i <- 0..3 { \"s\" }];",
              "5:16: error: the body of a comprehension is a number, this is `String`\nnote: it is "
              "computed once for each element\n");
    body_says("let mut n = 1; [i | i <- 0..3 { n = 2; 1 }];",
              "5:33: error: the body of a comprehension cannot write to `n`\n5:9: note: it is declared outside\n");
    body_says("let mut p = P::new(); [i | i <- 0..3 { p.step(); 1 }];",
              "5:42: error: the body of a comprehension cannot write to `p`\n5:9: note: it is declared outside\n");
    body_says("loop { [i | i <- 0..3 { break; 1 }]; }",
              "5:25: error: `break` cannot leave the body of a comprehension\n");
    body_says("[i | i <- 0..3 { return; 1 }];", "5:18: error: `return` cannot leave the body of a comprehension\n");
    body_says("let t = [1.0]; t[0..1] = 2.0;",
              "5:16: error: `t` is not mutable\n5:5: note: make it mutable: `let mut t`\n");
}

static void mutability(void **state) {
    (void)state;
    body_says("let x = 1; x = 2;", "5:12: error: `x` is not mutable\n5:5: note: make it mutable: `let mut x`\n");
    body_says("let x = 1; x += 2;", "5:12: error: `x` is not mutable\n5:5: note: make it mutable: `let mut x`\n");
    body_says("let p = P::new(); p.x = 2.0;",
              "5:19: warning: `p` is not mutable\n5:5: note: make it mutable: `let mut p`\n");
    body_says("let p = P::new(); p.step(); p.look();",
              "5:21: warning: this writes to `p`, which is not mutable\n5:5: note: make it mutable: `let mut p`\n");
    body_says("let t = [1.0]; t[0] = 2.0;",
              "5:16: error: `t` is not mutable\n5:5: note: make it mutable: `let mut t`\n");
    body_says("for i in 0..3 { i = 2; }",
              "5:17: error: `i` is not mutable\n5:5: note: it is a copy, and `mut i` lets it change alone; "
              "loop over `&mut list`, match `&mut value` to write where it comes from\n");
    body_says("let v = Vec::<f32>::new(); v.push(1.0);",
              "5:28: warning: this writes to `v`, which is not mutable\n5:5: note: make it mutable: `let mut v`\n");
    body_says("1 = 2;", "5:1: error: only variables, fields and elements can be assigned to\n");
    body_says("half(1.0) += 2.0;", "5:1: error: only variables, fields and elements can be assigned to\n");
    body_says("let t = [1.0]; t.enable_grad(); let _d = t.detach();",
              ""); /* tensors' own operations replace any binding */
    body_says("let mut x = 1; x = \"s\";",
              "5:20: error: expected `i64`, found `String`\nnote: `s.to_f32()` and `s.to_i64()` "
              "read the number in a text\n5:9: note: it is declared here\n");
    body_says("let mut t = [1.0]; t = [[1.0]]; println(t);", ""); /* a variable's rank may change */
}

static void control(void **state) {
    (void)state;
    body_says("break;", "5:1: error: `break` outside of a loop\n");
    body_says("continue;", "5:1: error: `continue` outside of a loop\n");
    body_says("loop { break 'a; }", "5:14: error: there is no loop `'a` here\n");
    body_says("while true { break 1; }", "5:20: error: only `loop` yields a value\n");
    body_says("let x = loop { if true { break 1; } break; };",
              "5:37: error: this loop yields `i64`: `break` needs a value\n");
    body_says("return 1;", "5:8: error: `main` returns nothing\n4:4: note: write `-> i64` behind its parameters\n");
    body_says("for x in 5 { }",
              "5:10: error: `for` cannot run over `i64`\nnote: it runs over `a..b`, a tensor or a `Vec`\n");
    body_says("for i in 0..2.5 { }", "5:13: error: expected `i64`, found `f32`\nnote: `as i64` converts it\n");
    body_says("match 1 { 1 => 2, 2 => 3 };",
              "5:1: error: this `match` does not cover every "
              "value\nnote: `0` has no arm\nnote: a last arm `_ => \xE2\x80\xA6` does\n");
    body_says("match true { true => 1, false => 2 };", "");
    body_says("match true { true => 1 };",
              "5:1: error: this `match` does not cover every "
              "value\nnote: `false` has no arm\nnote: a last arm `_ => \xE2\x80\xA6` does\n");
    body_says("match 1 { true => 1, _ => 2 };", "5:11: error: expected `i64`, found `bool`\n");
    body_says("let x = match 1 { 1 => 2, _ => \"s\" };", "5:32: error: the arms differ: `String` here, `i64` before\n");
    body_says("match \"s\" { \"a\" => 1 };",
              "5:1: error: this `match` does not cover every value\nnote: a last arm `_ => \xE2\x80\xA6` does\n");
    body_says("match 3u8 { 0..=9 => 1, 10..=200 => 2 };",
              "5:1: error: this `match` does not cover every value\nnote: `201` has no arm\n"
              "note: a last arm `_ => \xE2\x80\xA6` does\n");
    body_says("match 3u8 { 0..=9 => 1, 10..=255 => 2 };", "");
    body_says("match (true, 3) { (true, _) => 1, (false, 1) => 2 };",
              "5:1: error: this `match` does not cover every value\nnote: `(false, 0)` has no "
              "arm\nnote: a last arm `_ => \xE2\x80\xA6` does\n");
    body_says("match 3 { 1 => 1, 1 => 2, _ => 3 };",
              "5:19: warning: nothing reaches this arm\nnote: the arms before it cover all that it matches\n");
    body_says("match (1, true) { (1, x) => 1, (_, _) => 2 };", "");
}

static void print_and_assert(void **state) {
    (void)state;
    body_says("println(\"{} {}\", 1);", "5:9: error: the text has 2 `{}`, 1 value is given\n");
    body_says("println(\"{}\", 1, 2);", "5:9: error: the text has 1 `{}`, 2 values are given\n");
    body_says("println(\"{:.2}\", 1.0);", "");
    body_says("println(\"{:z}\", 1.0);",
              "5:9: error: this hole is not understood\nnote: `{}`, `{name}`, `{:>8.2}`, `{:?}`; `{{` prints a `{`\n");
    body_says("println(\"a } b\");", "5:9: error: a `}` without its `{`\nnote: `}}` prints a `}`\n");
    body_says("println(\"a { b\");", "5:9: error: a `{` without its `}`\nnote: `{{` prints a `{`\n");
    body_says("println(1, 2);", "");
    body_says("println(P::new());", "");
    body_says("println(|x: i64| x);", "5:9: error: `a closure` cannot be printed\n");
    body_says("assert(1);", "5:8: error: expected `bool`, found `i64`\nnote: compare with 0: `x != 0`\n");
    body_says("assert(true, 1);", "");
    body_says("panic(1);", "");
}

/* What is handed to a call that was reported is not reported again. */
static void lost_calls(void **state) {
    (void)state;
    body_says("let v: Vec<f32> = vec![1.0];\n    v.flub(|x| x, Vec::new());",
              "6:7: error: `Vec<f32>` has no method `flub`\n");
    body_says("let t = Tensor::ones([2]);\n    let s: f32 = -t[0];\n    s.backward();",
              "7:7: error: `f32` has no method `backward`\nnote: a number has no history: leave the `f32` away where "
              "elements of tensors are added up, or begin with a tensor: `Tensor::scalar(0.0)`\n");
    body_says("flub(|x| x, Vec::new());", "5:1: error: there is no function `flub`\n");
    body_says("let t = Tensor::ones([2]);\n    t.exp(|x| x);", "6:7: error: `exp` takes 0 arguments, 1 given\n");
}

static void items(void **state) {
    (void)state;
    front_expect("fn f() {}\nfn f() {}\nfn main() {}\n",
                 "t.tl:2:4: error: `f` is declared twice\nfn f() {}\n   ^\nt.tl:1:4: note: the "
                 "first one is here\nfn f() {}\n   ^\n");
    front_expect("struct P { x: f32, x: f32 }\nfn main() {}\n",
                 "t.tl:1:20: error: field `x` is declared twice\nstruct P { x: f32, x: f32 }\n                   ^\n"
                 "t.tl:1:12: note: the first one is here\nstruct P { x: f32, x: f32 }\n           ^\n");
    front_expect("struct A { b: B }\nstruct B { a: (i64, A) }\nfn main() {}\n",
                 "t.tl:2:12: error: `A` contains itself\nstruct B { a: (i64, A) }\n         "
                 "  ^\nnote: a `Vec` of it can be a field\n");
    front_expect("struct A { b: Vec<A> }\nfn main() {}\n", "");
    front_expect("struct Tensor {}\nfn main() {}\n",
                 "t.tl:1:8: error: `Tensor` is a type of the language\nstruct Tensor {}\n       ^~~~~~\n");
    front_expect("impl Q { fn f(self) {} }\nfn main() {}\n",
                 "t.tl:1:6: error: there is no struct `Q`\nimpl Q { fn f(self) {} }\n     ^\n");
    front_expect("fn f(a: i64, a: f32) {}\nfn main() {}\n",
                 "t.tl:1:14: error: `a` is declared twice\nfn f(a: i64, a: f32) {}\n             ^\n"
                 "t.tl:1:6: note: the first one is here\nfn f(a: i64, a: f32) {}\n     ^\n");
    front_expect("const A: i64 = B + 1;\nconst B: i64 = A;\nfn main() {}\n",
                 "t.tl:2:16: error: constant `A` needs itself\nconst B: i64 = A;\n               ^\n");
    front_expect("fn f() -> i64 { 1 }\nconst A: i64 = f();\nfn main() {}\n",
                 "t.tl:2:16: error: a constant is made of literals, operators and other "
                 "constants\nconst A: i64 = f();\n               ^~~\n");
    front_expect("const A: i64 = 1;\nfn main() { A = 2; }\n",
                 "t.tl:2:13: error: `A` is a constant\nfn main() { A = 2; }\n            ^\n"
                 "t.tl:1:7: note: it is declared here\nconst A: i64 = 1;\n      ^\n");
    front_expect("fn f() {}\n",
                 "t.tl:1:1: error: there is no function `main`\nfn f() {}\n^\nnote: "
                 "a program starts at `fn main() { \xE2\x80\xA6 }`\n");
    front_expect("",
                 "t.tl:1:1: error: there is no function `main`\n\n^\nnote: a program starts at "
                 "`fn main() { \xE2\x80\xA6 }`\n");
    front_expect("fn main(x: i64) {}\n",
                 "t.tl:1:9: error: `main` takes no parameters\nfn main(x: i64) {}\n        ^\n"
                 "note: `args_get(i)` reads the program's arguments\n");
    front_expect("fn main() -> i64 { 1 }\n", "");
}

static void missing_results(void **state) {
    (void)state;
    front_expect("fn f() -> i64 {\n    let x = 1;\n    x + 1;\n}\nfn main() {}\n",
                 "t.tl:4:1: error: `f` ends without a value of type `i64`\n}\n^\n"
                 "t.tl:3:5: note: without its semicolon this is the result\n    x + 1;\n    ^~~~~~\n");
    front_expect("fn f(c: bool) -> i64 { if c { return 1; } }\nfn main() {}\n",
                 "t.tl:1:43: error: `f` ends without a value of type `i64`\nfn f(c: bool) -> i64 { "
                 "if c { return 1; } }\n"
                 "                                          ^\n"
                 "t.tl:1:18: note: the result's type is given here\nfn f(c: bool) -> i64 { if c { "
                 "return 1; } }\n                 ^~~\n");
    front_expect(
        "fn f(c: bool) -> i64 { if c { return 1 } else { return 2 } }\nfn g() -> i64 { "
        "loop { } }\nfn h() -> i64 { panic(\"no\") }\n"
        "fn i() -> i64 { while true { return 1; } }\nfn main() {}\n",
        "");
    front_expect("fn f() -> i64 { return; }\nfn main() {}\n",
                 "t.tl:1:17: error: `return` needs a value of type `i64`\nfn f() -> i64 { return; "
                 "}\n                ^~~~~~\n"
                 "t.tl:1:4: note: `f` is declared here\nfn f() -> i64 { return; }\n   ^\n");
}

/* Several mistakes in one file: each said once, in order, and nothing that only follows from them. */
static void several_mistakes(void **state) {
    (void)state;
    front_expect(
        "enum Color { Red }\n"
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
        "t.tl:6:22: error: struct `P` has no field `z`\n\tlet p = P { x: 1.0, z: 2 };\n\t                    ^\n"
        "t.tl:7:10: error: there is no variable `missing`\n\tlet a = missing + 1;\n\t        ^~~~~~~\n"
        "t.tl:8:18: error: there is no function `other`\n\tlet b = a * 2 + other(a);\n\t                ^~~~~\n"
        "t.tl:9:2: warning: `p` is not mutable\n\tp.x = a;\n\t^~~\nt.tl:6:6: note: make it "
        "mutable: `let mut p`\n\tlet p = P { x: 1.0, z: 2 };\n\t    ^\n"
        "t.tl:10:4: error: struct `P` has no field `y`\n\tp.y\n\t  ^\n"
        "t.tl:13:25: error: expected an expression, found `;`\n\tlet \xC3\xA9 = "
        "Color::Red; \xC3\xA9 +;\n\t                       ^\n"
        "t.tl:14:16: error: `f` takes 1 argument, 2 given\n\tprintln(\"{}\", f(1, 2));\n\t              ^\n"
        "t.tl:5:4: note: it is declared here\nfn f(c: Color) -> f32 {\n   ^\n"
        "t.tl:14:18: error: expected `Color`, found `i64`\n\tprintln(\"{}\", f(1, 2));\n\t                ^\n"
        "t.tl:5:6: note: the parameter is declared here\nfn f(c: Color) -> f32 {\n     ^\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(lost_calls),
        cmocka_unit_test(types),
        cmocka_unit_test(tensors),
        cmocka_unit_test(mutability),
        cmocka_unit_test(control),
        cmocka_unit_test(print_and_assert),
        cmocka_unit_test(items),
        cmocka_unit_test(missing_results),
        cmocka_unit_test(several_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
