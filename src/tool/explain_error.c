/* explain_error.c: `masu explain-error`: what a kind of error means and how programs get rid of it.
 *
 * A kind is told by what its messages have in common, so that messages stay as short as they are: `masu check` names the
 * kinds it met behind the errors.
 */
#include <stdio.h>
#include <string.h>

#include "tool/tool.h"

static const char usage[] = "Usage: masu explain-error [CODE]\n"
                            "\n"
                            "Says what a kind of error means, with an example before and after. "
                            "Without CODE lists the kinds.\n"
                            "\n"
                            "  --help   this text\n"
                            "\n"
                            "Exit status: 0 fine, 2 there is no such code.\n";

static const struct {
    const char *code, *fragment, *title, *text;
} kinds[] = {
    {"E0101", "expected `", "a value of another type",
     "A value stands where one of another type is wanted. Numbers widen by themselves (i32 to i64, "
     "i64 to f32, f32 to\n"
     "f64); everything else is written out with `as`.\n\n"
     "    let n: i64 = 2.5;          // error\n"
     "    let n: i64 = 2.5 as i64;   // 2\n"},
    {"E0102", "there is no variable `", "a name that nothing declares",
     "The name is misspelt, or declared later or in a block that has ended.\n\n"
     "    { let x = 1; }\n    println(x);                // error: x ended with its block\n"},
    {"E0103", "is not mutable", "a write to what does not change",
     "Only `let mut` variables, parameters and `self` can be written to.\n\n"
     "    let total = 0;\n    total += 1;                // error\n    let mut total = 0;         "
     "// fine\n"},
    {"E0104", "does not cover every value", "a match that forgets values",
     "Every value of the matched type needs an arm. The note names one that has none.\n\n"
     "    match n { 0 => \"none\", 1 => \"one\" }               // error\n"
     "    match n { 0 => \"none\", 1 => \"one\", _ => \"many\" }\n"},
    {"E0105", "cannot be multiplied", "shapes that do not fit a product",
     "In `a.matmul(b)` the last dimension of a and the last but one of b are equal: [.., n, k] x "
     "[.., k, m]. A\n"
     "`transpose` or `reshape` brings them together.\n"},
    {"E0106", "shapes ", "shapes that do not fit",
     "Operands broadcast: counted from the last dimension, lengths are equal or one of them is "
     "1.\n\n"
     "    Tensor::ones([3, 2]) + Tensor::ones([3])       // error: 2 and 3\n"
     "    Tensor::ones([3, 2]) + Tensor::ones([3, 1])    // [3, 2]\n"},
    {"E0107", "arguments, ", "a call with too many or too few arguments",
     "The note shows where the function is declared.\n"},
    {"E0108", "has no method `", "a method that the type does not have",
     "The name is misspelt, or the value is of another type than you think: `masu lsp` shows types "
     "under the\n"
     "pointer. docs/operations.md lists the methods of tensors, vectors, Option and Result.\n"},
    {"E0109", "nothing says what ", "a type that nothing decides",
     "A `Vec::new()`, a `None`, a closure or a generic call whose types follow from no use. Write "
     "them out:\n\n"
     "    let v: Vec<f32> = Vec::new();\n    let f = |x: f32| x + 1.0;\n"},
    {"E0110", "does not implement `", "a type without the trait that is asked for",
     "`fn f<T: Named>(t: T)` takes types with `impl Named for …`.\n"},
    {"E0111", "cannot be handed on", "a closure that writes to a variable from outside",
     "A closure holds copies. One that writes to `total` can be called where `total` is; passed to "
     "another function it\n"
     "would write to its copy. Return the new value instead, or use `fold`:\n\n"
     "    v.for_each(|x| total += x);            // error\n"
     "    let total = v.fold(0, |a, x| a + x);\n"},
    {"E0112", "contains itself", "a type of endless size",
     "A struct or enum cannot hold a value of its own type; a `Vec` of them it can.\n\n"
     "    struct Node { next: Option<Node> }     // error\n    struct Node { next: Vec<Node> }\n"},
    {"E0113", "masu does not accept ", "a construct outside of the language",
     "docs/language.md ends with what there is not.\n"},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

void tool_name_error_kinds(const masu_program *program) {
    bool named[KINDS] = {false};
    masu_diagnostic_info info;
    for (size_t i = 0; masu_program_diagnostic(program, i, &info); i++) {
        for (size_t k = 0; info.is_error && k < KINDS; k++) {
            if (!strstr(info.message, kinds[k].fragment))
                continue;
            if (!named[k])
                fprintf(stderr, "note: `masu explain-error %s`: %s\n", kinds[k].code,
                        kinds[k].title);
            named[k] = true;
            break;
        }
    }
}

static int run(int argc, char **argv) {
    if (argc > 2)
        return tool_misuse("explain-error", "one code at a time");
    for (size_t k = 0; k < KINDS; k++) {
        if (argc == 1) {
            printf("%s  %s\n", kinds[k].code, kinds[k].title);
        } else if (strcmp(argv[1], kinds[k].code) == 0) {
            printf("%s: %s\n\n%s", kinds[k].code, kinds[k].title, kinds[k].text);
            return TOOL_OK;
        }
    }
    return argc == 1 ? TOOL_OK : tool_misuse("explain-error", "there is no error `%s`", argv[1]);
}

const tool_command tool_explain_error = {"explain-error", "say what a kind of error means", usage,
                                         run};
