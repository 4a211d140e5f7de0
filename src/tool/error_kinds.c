/* error_kinds.c: see error_kinds.h. The first kind that fits is the one. */
#include "tool/error_kinds.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { MESSAGE_MAX = 1024 };

const error_kind error_kinds[] = {
    /* ---- text ---------------------------------------------------------------------------------------- */
    {"E0002",
     "is never closed\ncloses nothing\nnever closed: ", "brackets, texts and comments in pairs",
     "Every `(`, `[`, `{`, `\"` and `/*` has its partner. `masu fmt` shows by the indentation "
     "where one is "
     "missing.\n"
     "\n"
     "    fn main() { println(\"one\";          // error\n"},
    {"E0001",
     "expected a\nexpected symbol\nexpected the end\nis missing\ncomparisons cannot be "
     "chained\nneeds a value: "
     "``\nfirst parameter\nbelongs into an\nstatements stand inside functions\nmethods belong to a "
     "type\nan index is "
     "missing",
     "something else was expected here",
     "The text does not have the form of a program at this place. The caret stands on the first "
     "word that\n"
     "does not fit; what is missing often belongs at the end of the line before.\n\n"
     "    let x = 1 println(x);      // error: expected `;`\n"},
    {"E0003",
     "does not belong to the language\nare no text\nis no text\nescape is not known\nno suffix of "
     "a number\ndigits are "
     "missing\ndoes not fit 64 bits\nfraction or an exponent\nholds one character\nfile is too "
     "large",
     "characters and numbers that cannot be read",
     "A program is UTF-8. Numbers are 42, 0xFF, 0b101, 1_000, 2.5, 1e-3, with a suffix where "
     "another type is "
     "meant (1u8,\n"
     "2.5f64). Texts know \\n \\t \\r \\0 \\\\ \\\" \\' \\x41 \\u{2713}; a character stands "
     "between single "
     "quotes.\n"
     "\n"
     "    let c = 'ab';              // error\n"
     "    let c = 'a';\n"},
    {"E0004", "nested more than\nlevels high\nmore than 200 deep", "nesting without end",
     "Programs that people write nest a few levels deep. What is generated can be split into "
     "functions or `let`s.\n"},
    {"E0113", "masu does not accept", "a construct outside of the language",
     "docs/language.md ends with what there is not.\n"
     "\n"
     "    async fn load() -> i64 { 1 }          // error\n"},
    /* ---- shapes, before the messages about types: theirs begin alike ------------------------------------ */
    {"E0105", "cannot be multiplied", "shapes that do not fit a product",
     "In `a.matmul(b)` the last dimension of a and the last but one of b are equal: [.., n, k] x "
     "[.., k, m]. A\n"
     "`transpose` or `reshape` brings them together.\n\n"
     "    Tensor::ones([4, 2]).matmul(Tensor::ones([4, 3]));                  // error: 2 and 4\n"
     "    Tensor::ones([4, 2]).transpose(0, 1).matmul(Tensor::ones([4, 3]));  // [2, 3]\n"},
    {"E0106",
     "cannot be broadcast\ncannot be permuted\nno square matrix\nnot a single number\ncan be "
     "-1\nthe images have\ninto an image\nchannels are not divided\ncannot be reshaped\ncannot be "
     "expanded\ncannot be joined\ncannot be "
     "stacked\nout of range "
     "for\ncannot select an element\nlengths are not negative\ntensor has at most\nshapes \nshape "
     "[",
     "shapes that do not fit",
     "Operands broadcast: counted from the last dimension, lengths are equal or one of them is "
     "1.\n\n"
     "    Tensor::ones([3, 2]) + Tensor::ones([3]);      // error: 2 and 3\n"
     "    Tensor::ones([3, 2]) + Tensor::ones([3, 1]);   // [3, 2]\n\n"
     "`reshape` keeps the number of elements; `cat` and `stack` want all other dimensions equal. "
     "Dimensions are\n"
     "counted from 0, or backwards from -1.\n"},
    {"E0114",
     "rows and numbers\nthis row has\ntensor cannot hold\ntensor holds either\ntensor of rank\nhas "
     "one index\ncannot be "
     "indexed\nend of this range\nrange stands alone\nrank 0 has no rows",
     "tensor literals and indices",
     "A tensor literal is rectangular and holds numbers or bools. `t[i, j]` has one index a "
     "dimension; ranges (`t[1..3]`)\n"
     "take a part. A `Vec` has one index.\n\n"
     "    [[1.0, 2.0], [3.0]]        // error: the second row is shorter\n"},
    /* ---- names ---------------------------------------------------------------------------------------- */
    {"E0102",
     "there is no variable\nthere is no module or type\nthere is no function\nthere is no "
     "type\nthere is no struct\nthere is "
     "no variant\nthere is no "
     "``\nthere is no ``::``\nthere is no loop\nthere is no file\nthere is no ``.tl\nno `self` "
     "here\nthere is no `` here",
     "a name that nothing declares",
     "The name is misspelt, or declared later or in a block that has ended. A note names the "
     "nearest known one.\n\n"
     "    { let x = 1; }\n    println(x);                // error: x ended with its block\n"},
    {"E0108",
     "has no method\nhas no field\nhas no fields\nis a method of\nhas no variant\nis no "
     "tuple\ncounted from 0",
     "a method, field or variant that the type does not have",
     "The name is misspelt, or the value is of another type than you think: `masu lsp` shows types "
     "under the\n"
     "pointer. docs/operations.md lists the methods of tensors, vectors, Option and Result.\n"
     "\n"
     "    let n = \"abc\".lenght();    // error: `len` is meant\n"},
    {"E0115",
     "is declared twice\ngiven twice\nfield `` twice\nbound twice\ntwo ranges\nstands twice\nhave "
     "the same number\nis a variant of",
     "one name for two things",
     "Variables may be declared again (`let x = x + 1;` makes a new x); functions, types, fields, "
     "variants and the names of\n"
     "one pattern may not.\n"
     "\n"
     "    struct P { x: f32, x: f32 }          // error\n"},
    {"E0116",
     "is a type of the language\nnot a value\nnot a function\ncannot be called\na function is "
     "wanted\na function of\na "
     "function that yields\ntakes no `self`\ntakes no ``\nis written ``",
     "a name of another kind",
     "The name stands for a type, a function or a variable where one of the others is wanted. "
     "Functions are called with\n"
     "`f(x)`, static ones with `T::f(x)`, methods with `x.m()`; the names of built-in types cannot "
     "be taken.\n"
     "\n"
     "    let n = 3;\n"
     "    n(4);                      // error: n is a number\n"},
    /* ---- types ---------------------------------------------------------------------------------------- */
    {"E0103",
     "is not mutable\nof which the closure holds a copy\ncannot be referred to\nis a constant\ncan be assigned to\n"
     "cannot be assigned to\ncomprehension cannot write",
     "a write to what does not change",
     "Only `let mut` variables, parameters and `self` can be written to.\n\n"
     "    let total = 0;\n    total += 1;                // error\n    let mut total = 0;         "
     "// fine\n"},
    {"E0104", "does not cover every value\ndoes not match every value\nleaves fields",
     "a pattern that forgets values",
     "Every value of the matched type needs an arm; `let` takes patterns that always fit. The note "
     "names a value that has\n"
     "none.\n\n"
     "    let n = 3;\n    match n { 0 => \"none\", 1 => \"one\" }               // error\n"
     "    match n { 0 => \"none\", 1 => \"one\", _ => \"many\" }\n"},
    {"E0117",
     "this pattern\nparts, the value\nhave ranges\nstand between\n`else` of a `let`\n`` of a `` "
     "must not",
     "a pattern of another shape",
     "A pattern looks like the value that it takes apart: `(a, b)` for a pair, `Shape::Circle(r)` "
     "for a variant, `P { x, .. }`\n"
     "for a struct.\n"
     "\n"
     "    let (a, b) = (1, 2, 3);    // error\n"},
    {"E0118",
     "this has no value\nnever yields a value\nends without a value\nneeds a value\nyields a "
     "value\nhas no value\nreturns "
     "nothing\ncannot leave\noutside of a loop",
     "a value that is not there",
     "A block yields its last expression, when no semicolon stands behind it. Assignments, loops "
     "and functions without `->`\n"
     "yield nothing.\n\n"
     "    fn double(x: i64) -> i64 { x * 2; }      // error: the semicolon drops the value\n"
     "    fn double(x: i64) -> i64 { x * 2 }\n"},
    {"E0109", "nothing says what\nnothing says of\nis not known\nneeds a type\nis written out",
     "a type that nothing decides",
     "A `Vec::new()`, a `None`, a closure or a generic call whose types follow from no use; "
     "parameters and results of\n"
     "functions are always written out.\n\n"
     "    let v = Vec::new();        // error\n    let v: Vec<f32> = Vec::new();\n    let f = |x: "
     "f32| x + 1.0;\n"},
    {"E0107", "argument, \narguments, \ntakes no argument\ntype, \ntypes, \nneeds field",
     "a call with too many or too few arguments",
     "The note shows where the function is declared.\n"
     "\n"
     "    fn f(x: i64) -> i64 { x }\n"
     "    println(f(1, 2));          // error: one argument is wanted\n"},
    {"E0110",
     "does not implement\nhas no default\nthere is no trait\nneeds a method\nis declared otherwise",
     "a type without the trait that is asked for",
     "`fn f<T: Named>(t: T)` takes types with `impl Named for …`, and such an `impl` has every "
     "method of the trait, as the\n"
     "trait declares it.\n"
     "\n"
     "    trait Named { fn name(self) -> String; }\n"
     "    fn hello<T: Named>(t: T) { println(t.name()); }\n"
     "    hello(3);                  // error: i64 has no `name`\n"},
    {"E0111", "cannot be handed on\none place after another\nplaces of its own\nwhat place",
     "a closure that writes to a variable from outside",
     "A closure holds copies. One that writes to `total` can be called where `total` is; passed to "
     "another function it\n"
     "would write to its copy. Return the new value instead, or use `fold`:\n\n"
     "    let mut total = 0;\n    let f: Box<dyn FnMut(i64) -> i64> = Box::new(|d| { total += d; "
     "total });   // error\n"
     "    let total = vec![1, 2].fold(0, |a, x| a + x);\n\n"
     "A name for a place (`let r = &mut a;`) stands for that one place; a method that calls itself "
     "on the next part\n"
     "walks along a list.\n"},
    {"E0112",
     "contains itself\nis the program itself\nis not generic\nneeds itself\nof more than\nhas more "
     "than\nmore than",
     "something of endless size",
     "A struct or enum cannot hold a value of its own type; a `Vec` of them it can. A constant "
     "cannot need itself.\n\n"
     "    struct Node { next: Option<Node> }     // error\n    struct Node { next: Vec<Node> }\n"},
    {"E0119", "does not fit ``\nhas no negative numbers\nwhole number known",
     "a number outside of its type",
     "u8 holds 0 to 255, i8 -128 to 127, and so on. `as` cuts a number to size when that is "
     "meant.\n\n"
     "    let x: u8 = 300;           // error\n    let x = 300 as u8;         // 44\n"},
    {"E0120",
     "cannot be applied\ncannot be converted\ncannot run over\n`?` \n`` takes an\n`` leaves\nis "
     "not parsed",
     "an operator on values that it does not know",
     "Arithmetic takes numbers and tensors, `!` and `&&` take bools, `for` runs over ranges, "
     "tensors and Vecs, `?` takes an\n"
     "Option or a Result in a function that returns one.\n"
     "\n"
     "    let n = !\"text\";           // error\n"},
    {"E0121",
     "cannot be printed\nprinted twice\nhole is not\nwithout its\nto print\nneed a text\nthe text "
     "has",
     "a text with holes",
     "`println(\"{} of {}\", a, b)` has as many holes as values. `{{` prints a brace.\n"
     "\n"
     "    println(\"{} of {}\", 1);     // error: a value is missing\n"},
    {"E0122", "branches differ\narms differ\nis for ``", "branches of different types",
     "All branches of an `if` and all arms of a `match` yield values of one type when the result "
     "is used.\n"
     "\n"
     "    let x = if 1 < 2 { 1 } else { \"one\" };     // error\n"},
    {"E0123",
     "index ``\ndifferent free indices\ncomprehension\nconstant is made\nstands in\na range\na loop needs\n`` takes no "
     "parameters\nreturns nothing",
     "constants, ranges and comprehensions",
     "A constant is made of literals, operators and other constants. In `[i, j | i <- 0..n, j <- "
     "0..m { … }]` each index has\n"
     "one range, and ranges are computed before the loops.\n"
     "\n"
     "    const N: i64 = args_count();              // error\n"},
    {"E0101",
     "comes back all the same\nexpected ``, found ``\nexpected ``, but\n`` is wanted here, this is\nexpected integers\ncannot "
     "be `void`\ncannot be ``",
     "a value of another type",
     "A value stands where one of another type is wanted. Numbers widen by themselves (i32 to i64, "
     "i64 to f32, f32 to\n"
     "f64); everything else is written out with `as`.\n\n"
     "    let n: i64 = 2.5;          // error\n    let n: i64 = 2.5 as i64;   // 2\n"},
    {"E0900", "internal error", "a mistake of the compiler",
     "Nothing is wrong with the program; please report it with the message. `--no-PASS` may get "
     "around it.\n"},
    /* ---- warnings ------------------------------------------------------------------------------------- */
    {"W0101", "nothing writes to", "a `mut` that nothing needs",
     "The variable is never written to. Without `mut` a reader sees at once that it stays as it "
     "is.\n"
     "\n"
     "    let mut x = 1;             // warning\n"
     "    println(x);\n"},
    {"W0102", "tensor is not used", "a tensor that is computed and dropped",
     "Operations yield a new tensor; they do not change their operand.\n\n"
     "    let x = Tensor::ones([2]);\n    x.relu();                  // warning: x is as before\n  "
     "  let x = x.relu();\n"},
    {"W0103", "history of every iteration\nhistory into the next iteration",
     "a loop that never lets go of its history",
     "A sum of losses holds everything that `backward` would need of every iteration: memory grows "
     "with each. Add the\n"
     "number, or the tensor without its history.\n\n"
     "    let w = Tensor::ones([2], true);\n    let mut total = w.sum();\n"
     "    for step in 0..9 {\n        let loss = (w * 2.0).sum();\n"
     "        loss.backward();\n        total = total + loss;          // warning; with a number "
     "it is total += loss.item()\n"
     "    }\n"},
    {"W0104", "nothing reaches", "code that nothing reaches",
     "An arm below one that takes everything, or a statement behind `return`, `break`, `continue` "
     "or an endless `loop`.\n"
     "\n"
     "    loop { }\n"
     "    println(\"never\");           // warning\n"},
    {"W0105", "is never used", "a variable that nothing reads",
     "Leave it out, or give it a name that begins with `_` when its effects are what counts.\n"
     "\n"
     "    let x = 1;                 // warning\n"},
    {"W0106", "line ends without", "a semicolon or comma that the end of the line stands for",
     "A statement that is complete at the end of its line, or an arm of a `match`, ends there. The "
     "next line must not go on with it: a line that begins with `-`, `(` or `[` does.\n"
     "\n"
     "    let x = 1                  // warning\n    println(x);\n"},
};

const size_t error_kind_count = sizeof error_kinds / sizeof error_kinds[0];

/* `;` or `fn` where the parser wants one: types begin with a letter or are longer. */
static bool is_symbol(const char *quoted) {
    static const char *const words[] = {"fn`", "in`", "loop`", "else`"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
        if (strncmp(quoted, words[w], strlen(words[w])) == 0)
            return true;
    return !isalnum((unsigned char)*quoted) && *quoted != '_' && strcspn(quoted, "`") <= 2;
}

/* The message with nothing between its backquotes. */
static void strip(const char *message, char out[MESSAGE_MAX]) {
    static const char expected[] = "expected `";
    size_t length = 0;
    bool quoted = false;
    if (strncmp(message, expected, sizeof expected - 1) == 0 &&
        is_symbol(message + sizeof expected - 1)) {
        strcpy(out, "expected symbol");
        return;
    }
    for (; *message && length + 1 < MESSAGE_MAX; message++) {
        bool border = *message == '`';
        if (!quoted || border)
            out[length++] = *message;
        quoted ^= border;
    }
    out[length] = 0;
}

static bool has_mark(const char *stripped, const char *marks) {
    char mark[80];
    while (*marks) {
        size_t length = strcspn(marks, "\n");
        if (length < sizeof mark) {
            memcpy(mark, marks, length);
            mark[length] = 0;
            if (strstr(stripped, mark))
                return true;
        }
        marks += length + (marks[length] == '\n');
    }
    return false;
}

const error_kind *error_kind_of(const char *message) {
    char stripped[MESSAGE_MAX];
    strip(message, stripped);
    for (size_t k = 0; k < error_kind_count; k++)
        if (has_mark(stripped, error_kinds[k].marks))
            return &error_kinds[k];
    return NULL;
}

const error_kind *error_kind_by_code(const char *code) {
    for (size_t k = 0; k < error_kind_count; k++)
        if (strcmp(error_kinds[k].code, code) == 0)
            return &error_kinds[k];
    return NULL;
}
